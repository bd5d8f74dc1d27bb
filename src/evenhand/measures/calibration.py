"""Calibration: whether the same score means the same for every group (001 §5)."""

from __future__ import annotations

import numpy as np

from evenhand.cells import Floats
from evenhand.measures.rates import effective, ratio
from evenhand.table import Counts, Grouping, Table


def observed(bins: Counts) -> tuple[Floats, Floats]:
    """Favourable rate per score bin and group, axes (…, bin, group), and the people it rests on."""
    whole = bins.array.sum(-1).astype(np.float64)
    rate = ratio(bins.array[..., 1], whole)
    if bins.squares is None:
        return rate, whole
    return rate, effective(bins.array[..., 1], whole, bins.squares[..., 1], bins.squares.sum(-1))


def errors(table: Table, grouping: Grouping, bins: int) -> tuple[Floats, Floats, Floats]:
    """Expected and maximal calibration error of each group, for scores that are probabilities.

    Also favourable rate minus mean score, axes (bin, group).
    ECE weighs the gap between mean score and favourable rate of each bin by the people in it; MCE is the
    largest such gap.
    """
    counts = table.binned(grouping, bins).array
    groups = len(grouping.groups)
    key = table.bin_of_cells(bins) * groups + grouping.codes
    mass = table.oriented() * table.mass
    score_sum = np.bincount(key, weights=mass, minlength=bins * groups).reshape(bins, groups)
    people = counts.sum(-1)
    gap = ratio(counts[..., 1], people) - ratio(score_sum, people)
    size = np.abs(gap)
    empty = people.sum(0) == 0
    ece = np.where(empty, np.nan, np.nansum(size * people, axis=0) / np.where(empty, 1, people.sum(0)))
    mce = np.where(empty, np.nan, np.nan_to_num(size).max(0))
    return ece, mce, gap


def edges(table: Table, bins: int) -> Floats:
    """The borders of the score bins."""
    lo, hi = table.score_range
    return lo + (hi - lo) * (np.arange(bins + 1) / bins)
