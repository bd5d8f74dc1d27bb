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


def errors(table: Table, grouping: Grouping, bins: Counts) -> tuple[Floats, Floats, Floats]:
    """Expected and maximal calibration error of each group, for scores that are probabilities.

    ECE weighs the gap between mean score and favourable rate of each bin by the people in it; MCE is the largest
    such gap. Third come the gaps themselves, favourable rate minus mean score, axes (bin, group).
    """
    counts = bins.array
    levels, groups, _ = counts.shape
    key = table.bin_of_cells(levels) * groups + grouping.codes
    mass = table.oriented() * table.mass
    score_sum = np.bincount(key, weights=mass, minlength=levels * groups).reshape(levels, groups)
    people = counts.sum(-1)
    gap = ratio(counts[..., 1], people) - ratio(score_sum, people)
    size = np.nan_to_num(np.abs(gap))  # an empty bin weighs nothing
    return (size * people).sum(0) / people.sum(0), size.max(0), gap
