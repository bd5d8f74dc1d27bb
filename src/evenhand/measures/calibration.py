"""Calibration: whether the same score means the same for every group (001 §5, 002 eq. 4)."""

from __future__ import annotations

import numpy as np

from evenhand.cells import Floats, Ints
from evenhand.measures.curve import Curve, ScoreOptions
from evenhand.measures.rates import effective, ratio
from evenhand.scores import ScoreCounts
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


def bins_of(counts: ScoreCounts, standardized: bool, options: ScoreOptions) -> Ints:
    """The calibration bin of each score, axes (…, score): equal widths by rank or by score, closed on the right.

    With no more distinct scores than bins every score is a bin of its own.
    """
    if len(counts.scores) <= options.calibration_bins:
        return np.arange(len(counts.scores))
    if not standardized:
        return counts.bin_of_scores(options.calibration_bins)
    inner = np.arange(1, options.calibration_bins) / options.calibration_bins
    return np.searchsorted(inner, counts.ranks(options.ranks), side="left")


def binned(counts: ScoreCounts, standardized: bool, options: ScoreOptions) -> Counts:
    """Counts by calibration bin, group and label."""
    bin_of = bins_of(counts, standardized, options)
    bins = min(options.calibration_bins, len(counts.scores))
    array = _sum_bins(counts.cumulative, bin_of, bins)
    squares = None if counts.squares is None else _sum_bins(np.cumsum(counts.squares, axis=-3), bin_of, bins)
    return Counts(array, counts.groups, squares)


def _sum_bins(cumulative: Floats, bin_of: Ints, bins: int) -> Floats:
    """Sums per bin: bins never fall from one score to the next, so each is a difference of cumulated counts."""
    lead, shape = cumulative.shape[:-3], cumulative.shape[-3:]
    rows = cumulative.reshape(-1, *shape)
    each = np.broadcast_to(bin_of, (*lead, shape[0])).reshape(-1, shape[0])
    ends = np.stack([np.searchsorted(row, np.arange(bins), side="right") for row in each])
    upto = np.stack([row[end - 1] for row, end in zip(rows, ends, strict=True)])
    upto[ends == 0] = 0.0  # nobody yet
    return np.diff(upto, axis=1, prepend=0.0).reshape(*lead, bins, *shape[1:])


def bias(bins: Counts, standardized: bool) -> Curve:
    """Favourable rate of the reference minus that of the group in each bin, weighted by its people or evenly.

    Positive where the group turns out worse than the reference at the same score, so is scored too well: the sign of
    002's tables, not of its equation (4). Bins that hold nobody of one group weigh nothing.
    """
    people = bins.array.sum(-1)
    rate = ratio(bins.array[..., 1], people)
    gap = rate[..., 1] - rate[..., 0]
    both = ~np.isnan(gap)
    pooled = people.sum(-1).astype(np.float64)
    weight = np.where(both, pooled if standardized else 1.0, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(both, pooled, 0.0).sum(-1) / pooled.sum(-1)
        weight = weight / weight.sum(-1, keepdims=True)
    return Curve(np.arange(1.0, gap.shape[-1] + 1), np.where(both, gap, 0.0), weight, share)
