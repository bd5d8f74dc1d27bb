"""Calibration: whether the same score means the same for every group (ExFairness §5; Becker et al. 2024, eq. 4)."""

from __future__ import annotations

import numpy as np

from evenhand.measures.curve import Curve, ScoreOptions
from evenhand.measures.rates import effective, effective_units, ratio
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreCounts, moved
from evenhand.tables.table import Table


def observed(bins: Counts) -> tuple[Floats, Floats]:
    """Favourable rate per score bin and group, axes (…, bin, group), and the people it rests on."""
    whole = bins.array.sum(-1).astype(np.float64)
    rate = ratio(bins.array[..., 1], whole)
    if bins.units is not None:
        kind = bins.units.place // 2
        people = effective_units(bins.units, kind, bins.units.place % 2 == 1, rate.ravel(), whole.ravel())
        return rate, people.reshape(rate.shape)
    if bins.squares is None:
        return rate, whole
    return rate, effective(bins.array[..., 1], whole, bins.squares[..., 1], bins.squares.sum(-1))


def people_if_alike(bins: Counts, rate: Floats) -> Floats:
    """How many people would know each rate as well, if both groups of a bin have the rate and the weights of both.

    Eight people who all have one outcome may weigh the same and not show that the other outcome, of which they happen
    to have none, weighs ten times as much. So the weights of either outcome are those of both groups together, and
    where all have one outcome they count as so many that this is no less likely than it was.
    """
    assert bins.squares is not None
    squares = np.where(bins.squares > 0, bins.squares, 1.0)
    people = (bins.array**2 / squares).sum(-1)  # of weights that differ for another reason than the outcome
    mass, squares = bins.array.sum(1), bins.squares.sum(1)
    drawn = np.divide(mass**2, squares, out=np.zeros_like(squares), where=squares > 0)
    both, there = ratio(mass[:, 1], mass.sum(-1)), ratio(drawn[:, 1], drawn.sum(-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (squares[:, 1] * (1 - both) ** 2 + squares[:, 0] * both**2) / mass.sum(-1) ** 2
        worth = people * (both * (1 - both) / variance / drawn.sum(-1))[:, None]
        likely = np.where(rate == 1, (np.log(there) / np.log(both))[:, None], 1.0)
        likely = np.where(rate == 0, (np.log1p(-there) / np.log1p(-both))[:, None], likely)
    return np.asarray(np.where(((both > 0) & (both < 1))[:, None], np.fmin(worth, people * likely), people))


def errors(table: Table, grouping: Grouping, bins: Counts) -> tuple[Floats, Floats, Floats]:
    """Expected and maximal calibration error of each group, for scores that are probabilities.

    ECE weighs the gap between mean score and favourable rate of each bin by the people in it; MCE is the largest
    such gap. Third come the gaps themselves, favourable rate minus mean score, axes (bin, group).
    """
    counts = bins.array
    levels, groups, _ = counts.shape
    inside = grouping.inside
    key = table.bin_of_cells(levels)[inside] * groups + grouping.codes[inside]
    mass = (table.oriented() * table.mass)[inside]
    score_sum = np.bincount(key, weights=mass, minlength=levels * groups).reshape(levels, groups)
    people = counts.sum(-1)
    gap = ratio(counts[..., 1], people) - ratio(score_sum, people)
    size = np.nan_to_num(np.abs(gap))  # an empty bin weighs nothing
    return (size * people).sum(0) / people.sum(0), size.max(0), gap


def range_errors(table: Table, grouping: Grouping, levels: int) -> tuple[Floats, Floats]:
    """How far ECE and MCE of each group may be off because scores inside a bin are known in ranges."""
    groups = len(grouping.groups)
    if table.spans is None or table.score is None:
        return np.zeros(groups), np.zeros(groups)
    inside = grouping.inside
    key = table.bin_of_cells(levels)[inside] * groups + grouping.codes[inside]
    off = table.spans.width(table.score) / 2 * table.mass
    people, moved = (np.bincount(key, w[inside], levels * groups).reshape(levels, groups) for w in (table.mass, off))
    return moved.sum(0) / people.sum(0), np.nan_to_num(ratio(moved, people)).max(0)


def bins_of(counts: ScoreCounts, standardized: bool, options: ScoreOptions) -> Ints:
    """The calibration bin of each score, axes (…, score): equal widths by rank or by score, closed on the right.

    With no more distinct scores than bins every score is a bin of its own.
    """
    if len(counts.scores) <= options.calibration_bins:
        return np.arange(len(counts.scores))
    if not standardized:
        return counts.bin_of_scores(options.calibration_bins)
    inner = np.arange(1, options.calibration_bins) / options.calibration_bins
    # Rounded, because sums of weights put a rank of 0.02 just beside it.
    return np.searchsorted(np.round(inner, 12), np.round(counts.ranks(options.ranks), 12), side="left")


def blur(counts: ScoreCounts, standardized: bool, options: ScoreOptions, p: float = 1.0) -> float:
    """How much calibration bias may be off because people of one cell may belong to several bins; ∞ if nobody can tell.

    Each bin surely has the people of some cells, and perhaps those of cells across its borders: its rates, and its
    weight, can be wrong by no more than these. Where every score is a bin of its own, a range may be any number of
    bins. Gaps of at most 1 that are off by d have p-th powers off by p·d, and the mean of these has a p-th root.
    """
    bins, wide = options.calibration_bins, counts.wide
    if wide is None or not wide.any() or not counts.has_label:
        return 0.0
    if len(counts.scores) <= bins:
        return np.inf
    if not standardized:
        return 0.0  # ranges across the borders of its bins are refused
    own = bins_of(counts, True, options)
    first, last = (
        np.where(wide, np.clip(np.ceil(np.round(r * bins, 10)) - 1, 0, bins - 1).astype(np.int64), own)
        for r in counts.rank_ends(options.ranks)
    )
    unsure = first != last
    people = counts.array.sum(-1)
    sure, perhaps = np.zeros((bins, 2)), np.zeros((bins, 2))
    np.add.at(sure, own[~unsure], people[~unsure])
    for k in np.flatnonzero(unsure).tolist():
        perhaps[first[k] : last[k] + 1] += people[k]
    wrong = np.divide(perhaps, sure + perhaps, out=np.zeros_like(sure), where=perhaps > 0).sum(-1)
    open_ = ((sure == 0) & (perhaps > 0)).any(-1)  # whether it holds both groups, so whether it counts at all
    if p == np.inf:
        return float(np.where(open_, 1.0, np.minimum(wrong, 1.0)).max())
    most = np.where((sure + perhaps > 0).all(-1), (sure + perhaps).sum(-1), 0.0)
    weight = np.where(open_, most, np.where(most > 0, perhaps.sum(-1), 0.0))
    off = np.minimum(most, p * most * wrong + weight) + weight
    counted = _sum_bins(counts.array, own, bins).sum(-1)
    return float((off.sum() / max(float(counted[(counted > 0).all(-1)].sum()), 1e-300)) ** (1 / p))


def binned(counts: ScoreCounts, standardized: bool, options: ScoreOptions) -> Counts:
    """Counts by calibration bin, group and label."""
    bin_of = bins_of(counts, standardized, options)
    bins = min(options.calibration_bins, len(counts.scores))
    array = _sum_bins(counts.array, bin_of, bins)
    squares = None if counts.squares is None else _sum_bins(counts.squares, bin_of, bins)
    return Counts(array, counts.groups, squares, moved(counts, bin_of))


def _sum_bins(array: Floats, bin_of: Ints, bins: int) -> Floats:
    """Sums per bin; bins never fall from one score to the next, so each is a run of scores."""
    lead, shape = array.shape[:-3], array.shape[-3:]
    sums = np.zeros((int(np.prod(lead)), bins, *shape[1:]))
    rows = zip(array.reshape(-1, *shape), np.broadcast_to(bin_of, (*lead, shape[0])).reshape(-1, shape[0]), strict=True)
    for total, (row, own) in zip(sums, rows, strict=True):
        starts = np.flatnonzero(np.r_[True, own[1:] != own[:-1]])
        total[own[starts]] = np.add.reduceat(row, starts, axis=0)
    return sums.reshape(*lead, bins, *shape[1:])


def bias(bins: Counts, standardized: bool) -> Curve:
    """Favourable rate of the reference minus that of the group in each bin, weighted by its people or evenly.

    Positive where the group turns out worse than the reference at the same score, so is scored too well: the sign of
    Becker et al.'s tables, not of its equation (4). Bins that hold nobody of one group weigh nothing.
    """
    people = bins.array.sum(-1)
    rate = ratio(bins.array[..., 1], people)
    gap = rate[..., 1] - rate[..., 0]
    both = ~np.isnan(gap)
    pooled = people.sum(-1).astype(np.float64)
    everybody = pooled if standardized else (pooled > 0).astype(np.float64)
    weight = np.where(both, everybody, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(both, pooled, 0.0).sum(-1) / pooled.sum(-1)
        rest = 1 - weight.sum(-1) / everybody.sum(-1)
        weight = weight / weight.sum(-1, keepdims=True)
    return Curve(np.arange(1.0, gap.shape[-1] + 1), np.where(both, gap, 0.0), weight, share, rest)
