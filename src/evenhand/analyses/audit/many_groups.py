"""Score-level measures of many groups → the pair that differs most, and the mean over all pairs.

Pairs of many groups share the work: where a measure is the distance of two curves that each group has by itself, every
group is resampled once, and all pairs are compared in every resample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.audit.largest_gap import NORM, LargestGap, largest_distance, mean_gap
from evenhand.analyses.audit.score_gaps import compare, one_of_everybody
from evenhand.analyses.options import Options
from evenhand.inference import interval
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.density import Density
from evenhand.measures.distribution import Densities, alike, densities_at, densities_of, sparse_grid
from evenhand.measures.measure import SLACK
from evenhand.measures.registry import ScoreMeasure
from evenhand.measures.score_bias import means
from evenhand.tables.arrays import Floats, Ints, Pair
from evenhand.tables.scores import ScoreCounts, ScoreView

MOST_COMPARED = 5_000
"""Above so many pairs of groups, only differences of means and distances of CDFs and of densities are known for all."""

MOST_GROUPS, MOST_DENSITIES = 2_000, 1_000
"""Above so many groups, no distances of CDFs, and none of densities."""

CDF_CELLS = 4_000_000
"""Groups times scores at which CDFs are compared; more scores are put together, and the pairs that can be the most
different compared exactly."""

DENSITY_POINTS, NEARLY, CANDIDATES = 1_024, 0.01, 50
"""Points at which many densities are compared. Of the pairs that are there so nearly the most different, so many are
compared exactly."""

RESAMPLED_SCORES, RESAMPLES = 128, 200
"""So many scores and resamples are enough for many pairs together."""


def largest_of_many(
    measures: Sequence[ScoreMeasure], view: ScoreView, options: Options, rng: np.random.Generator
) -> dict[str, LargestGap]:
    """The most different pair of many groups by each measure, and the mean over all pairs.

    Both have intervals where groups are few enough to be resampled and the measure compares curves of single groups.
    """
    count, values = len(view.grouping.groups), replace(options, bootstrap=0)
    if count * (count - 1) // 2 > MOST_COMPARED:
        found = _by_mean([m for m in measures if m.single], view, values, rng)
        found |= _by_cdf([m for m in measures if m.of_cdfs and count <= MOST_GROUPS], view, values, rng)
        if count <= MOST_DENSITIES:
            found |= _by_density([m for m in measures if _is_area(m)], view, values, rng)
        return {m.id: found.get(m.id) or LargestGap(m.id, m.tolerance, undefined=_too_many(m, count)) for m in measures}
    every = [(a, b) for a in range(count) for b in range(a)]
    found = _exactly(measures, every, view, values, rng)
    if options.bootstrap and view.table.noise is None:  # intervals of pairs were seen to hold with noise, not these
        for m in measures:
            if (m.of_cdfs or m.single or _is_area(m)) and not found[m.id].undefined:
                found[m.id] = _with_intervals(m, found[m.id], view, options, rng.spawn(1)[0])
    return found


def _is_area(m: ScoreMeasure) -> bool:
    """Whether it is the area between two densities."""
    return m.smooth and not m.information


def _too_many(m: ScoreMeasure, count: int) -> str:
    return (
        f"because its {count * (count - 1) // 2:,} pairs of {count:,} groups are too many to compare by {m.id}: name "
        "fewer group columns, or put small groups together"
    )


def _exactly(
    measures: Sequence[ScoreMeasure],
    pairs: Sequence[tuple[int, int]],
    view: ScoreView,
    options: Options,
    rng: np.random.Generator,
) -> dict[str, LargestGap]:
    """The most different of these pairs."""
    compared = [compare(measures, view(pair), options, rng) for pair in pairs]
    nothing = [None] * len(pairs)
    return {
        m.id: largest_distance(m, [c.gap for c in own], nothing, options.confidence)
        for m, own in zip(measures, zip(*compared, strict=True), strict=True)
    }


# ---- too many pairs to compare one by one --------------------------------------------------------------------------


def _by_cdf(
    measures: Sequence[ScoreMeasure], view: ScoreView, options: Options, rng: np.random.Generator
) -> dict[str, LargestGap]:
    """By distances of CDFs: all of them at once, then exactly those of the pairs that can be the most different."""
    if not measures:
        return {}
    groups = view.grouping.groups
    cells = CDF_CELLS // len(groups)
    counts, width = view(range(len(groups)), cells), view.widths(cells)
    found = {}
    for m in measures:
        f = np.stack([counts.cdf(label) for label in m.labels or (None,)], axis=-1)
        there = np.flatnonzero(~np.isnan(f[:, -1]).any(-1))
        if len(there) < 2 or not counts.has_length or (m.order > 1 and width.any()):
            continue
        steps = np.repeat(np.diff(counts.unit), m.classes)
        apart = _apart(f[there, :-1].reshape(len(there), -1), steps, m.order)
        rise = width @ np.diff(f[there], axis=1, prepend=0.0).sum(-1).T  # in a cell of several a CDF rises anywhere
        off = rise[:, None] + rise
        first, second = np.nonzero(np.tril(apart + off >= (apart - off).max() - SLACK, -1))
        if len(first) <= MOST_COMPARED:
            mean = None if width.any() else float(apart[np.tril_indices(len(there), -1)].mean())
            found[m.id] = _among(m, there, (first, second), mean, view, options, rng)
    return found


def _by_mean(
    measures: Sequence[ScoreMeasure], view: ScoreView, options: Options, rng: np.random.Generator
) -> dict[str, LargestGap]:
    """By means, of any number of groups: the highest and the lowest are the most different."""
    if not measures:
        return {}
    each = np.array([means(view([g]), None, False, options.scores)[0] for g in range(len(view.grouping.groups))])
    pair = np.array([each.argmax()]), np.array([each.argmin()])
    mean = float(mean_gap(each))
    return {m.id: _among(m, np.arange(len(each)), pair, mean, view, options, rng) for m in measures}


def _by_density(
    measures: Sequence[ScoreMeasure], view: ScoreView, options: Options, rng: np.random.Generator
) -> dict[str, LargestGap]:
    """By areas between densities: all of them at some points, then exactly those of the most different pairs."""
    if not measures:
        return {}
    every = densities_of([view([g]) for g in range(len(view.grouping.groups))], options.scores)
    there = np.flatnonzero(~np.isnan([f.bandwidth for f in every]))
    if len(there) < 2:
        return {}
    x = _points([every[g] for g in there])
    weight = np.gradient(x)
    apart = _apart(np.stack([every[g](x) for g in there]), weight, 1.0)
    first, second = np.nonzero(np.tril(apart >= apart.max() - NEARLY, -1))
    most = np.argsort(-apart[first, second], kind="stable")[:CANDIDATES]
    mean = float(apart[np.tril_indices(len(there), -1)].mean())
    pairs = first[most], second[most]
    return {m.id: _among(m, there, pairs, mean, view, options, rng) for m in measures}


def _points(every: Sequence[Density]) -> Floats:
    """Points of [0, 1], half of them spread evenly and half where densities are."""
    even = np.linspace(0, 1, DENSITY_POINTS // 2)
    height = np.array([f(even) for f in every]).sum(0)
    place = np.cumsum(height)
    dense = np.interp(np.linspace(0, place[-1], DENSITY_POINTS // 2), place, even)
    return np.unique(np.concatenate([even, dense]))


def _among(
    m: ScoreMeasure, there: Ints, pairs: tuple[Ints, Ints], mean: float | None, view: ScoreView, options: Options,
    rng: np.random.Generator,
) -> LargestGap:  # fmt: skip
    """The most different of some pairs of those groups that have the measure, and the mean over all of theirs."""
    chosen = list(zip(*(there[one].tolist() for one in pairs), strict=True))
    left_out = tuple(np.delete(np.array(view.grouping.groups, object), there))
    return replace(_exactly([m], chosen, view, options, rng)[m.id], left_out=left_out, mean=mean)


def _apart(f: Floats, weight: Floats, order: float) -> Floats:
    """Distances of curves (group, point) from each other."""
    from scipy.spatial.distance import squareform

    return np.asarray(squareform(_all_pairs(f, weight, order)))


def _all_pairs(f: Floats, weight: Floats, order: float) -> Floats:
    """The same, of each pair once."""
    from scipy.spatial.distance import pdist

    if order == np.inf:
        return np.asarray(pdist(f, "chebyshev"))
    return np.asarray(pdist(f * weight, "cityblock") if order == 1 else pdist(f, "minkowski", p=order, w=weight))


# ---- intervals -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Curves:
    """A curve of every group, axes (…, group, point), whose distances are a measure."""

    f: Floats
    weight: Floats


def _with_intervals(
    m: ScoreMeasure, found: LargestGap, view: ScoreView, options: Options, rng: np.random.Generator
) -> LargestGap:
    """The largest gap and the mean with what all pairs together move by in resamples.

    A maximum of norms changes by no more than the largest change of one, a mean by no more than the mean change.
    """
    groups = [g for g, name in enumerate(view.grouping.groups) if name not in found.left_out]
    counts = view(groups, RESAMPLED_SCORES)
    everybody = replace(counts, array=smoothed(counts, one_of_everybody(counts), within=(-3, -1)))
    grid = sparse_grid(everybody, options.scores) if m.smooth else None
    centre = _curves(m, everybody, options.scores, grid)
    own = _systematic(m, counts, options.scores, grid)
    people = counts.people(by_label=True)[:, list(m.labels)].min(-1) if m.labels else counts.people()
    wider = np.array([[interval.student(float(n), options.confidence)] for n in people])
    draws = min(options.bootstrap, max(RESAMPLES, int(2 / (1 - options.confidence))))
    largest, mean = [], []
    for batch in bootstrap(counts, draws, rng, everybody.array, options.stratified):
        for f in _curves(m, batch, options.scores, grid).f:
            moved = np.nan_to_num((f - centre.f) * wider, nan=m.highest)
            pairs = np.minimum(_all_pairs(moved, centre.weight, m.order) + own, m.highest)
            largest.append(float(pairs.max()))
            mean.append(float(pairs.mean()))
    assert found.mean is not None
    return replace(
        found,
        ci=_interval(found.value, np.array(largest), found.resolution, m, options),
        ci_mean=_interval(found.mean, np.array(mean), found.resolution, m, options),
        method=NORM,
    )


def _interval(value: float, moves: Floats, off: float, m: ScoreMeasure, options: Options) -> Pair | None:
    return interval.widened(interval.norm(value, moves, options.confidence, m.highest), off, 0.0, m.highest)


def _curves(m: ScoreMeasure, counts: ScoreCounts, options: ScoreOptions, grid: Densities | None) -> _Curves:
    """What the measure compares, of every group."""
    if grid is not None:
        f = np.stack([*densities_at(counts, grid)], axis=-2)
        return _Curves(f, grid.weight)
    if m.single:
        return _Curves(means(counts, None, False, options)[..., None], np.ones(1))
    f = np.stack([counts.cdf(label)[..., :-1] for label in m.labels or (None,)], axis=-1)
    return _Curves(f.reshape(*f.shape[:-2], -1), np.repeat(np.diff(counts.unit), m.classes))


def _systematic(m: ScoreMeasure, counts: ScoreCounts, options: ScoreOptions, grid: Densities | None) -> Floats | float:
    """How far apart two bandwidths alone put groups that are alike, of each pair."""
    if grid is None:
        return 0.0
    same = _curves(m, alike(counts), options, grid)
    return _all_pairs(same.f, same.weight, m.order)
