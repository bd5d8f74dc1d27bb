"""Score-level measures on one grouping → every group against the reference, and the pair that differs most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.audit.gaps import Gap, ScoreGap
from evenhand.analyses.audit.largest_gap import LargestGap, largest_distance, with_nulls
from evenhand.analyses.audit.score_gaps import RESAMPLED_SCORES, Compared, compare, recentred_nulls, sentence
from evenhand.analyses.options import Options
from evenhand.inference.null import PERMUTED_SCORES, Null, score_nulls
from evenhand.inference.resample import spread_noise
from evenhand.measures.calibration import blur
from evenhand.measures.measure import SLACK
from evenhand.measures.registry import ScoreMeasure
from evenhand.tables.arrays import Floats
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreCounts, ScoreView
from evenhand.tables.table import Table

MANY_SCORED = 100
"""Above so many groups, comparisons of scores are not resampled."""

MOST_PAIRS = 300
"""Above so many pairs of groups, those without the reference are compared but not resampled."""

MOST_COMPARED = 5_000
"""Above so many pairs of groups, only distances of CDFs are known for all of them."""

MOST_GROUPS = 2_000
"""Above so many groups, not even these."""

CDF_CELLS = 4_000_000
"""Groups times scores at which CDFs are compared; more scores are put together, and the pairs that can be the most
different compared exactly."""


@dataclass(frozen=True)
class ScoreComparisons:
    """What score-level measures say about the groups of an attribute, and how exact that is."""

    gaps: Mapping[str, list[Gap]]
    largest: Mapping[str, LargestGap]
    resolution: float = 0.0
    calibration_resolution: float = 0.0


def compare_scores(
    table: Table,
    grouping: Grouping,
    reference: int,
    measures: Sequence[ScoreMeasure],
    options: Options,
    rng: tuple[np.random.Generator, np.random.Generator],
    tell: Callable[[float], None],
) -> ScoreComparisons:
    """Compare every group with the reference, and find the pair that differs most."""
    if not measures:
        return ScoreComparisons({}, {})
    count = len(grouping.groups)
    if count > MANY_SCORED:
        options = replace(options, bootstrap=0, permutations=0)
    pairs = [(g, reference) for g in range(count) if g != reference]
    asked = len(pairs)
    of_pairs = count > 2 and not options.brief
    everyone = of_pairs and count * (count - 1) // 2 <= MOST_PAIRS
    if everyone:
        pairs += [(a, b) for a in range(count) for b in range(a) if reference not in (a, b)]
    # Pairs that were not asked for only serve to find the largest: many of them share the work.
    enough = max(200, int(2 / (1 - options.confidence)), 15 * options.bootstrap // len(pairs))
    fewer = replace(options, bootstrap=min(options.bootstrap, enough))
    view = ScoreView(table, grouping, options.scores.calibration_bins)
    resolution, blurred = 0.0, 0.0
    ranked = any(m.view is not None and m.ranked for m in measures)
    compared: list[list[Compared]] = []
    nulls: list[dict[str, Null]] = []
    streams = rng[0].spawn(len(pairs)), rng[1].spawn(len(pairs) + 1)
    for i, (pair, draw, permute) in enumerate(zip(pairs, streams[0], streams[1][1:], strict=True)):
        tell(i / len(pairs))
        counts = view(pair)
        if table.noise is not None:
            counts = spread_noise(counts, counts.unit)
        resolution = max(resolution, counts.resolution)
        blurred = max(blurred, min(blur(counts, True, options.scores), 1.0) if ranked else 0.0)
        most = _most_scores(pairs, RESAMPLED_SCORES)
        compared.append(compare(measures, counts, options if i < asked else fewer, draw, most))
        if i < asked:
            defined = [m for m, c in zip(measures, compared[-1], strict=True) if not c.gap.undefined]
            nulls.append(_nulls(defined, counts, options, permute))
    gaps: dict[str, list[Gap]] = {m.id: [] for m in measures}
    for of_pair, null in zip(compared[:asked], nulls, strict=True):
        for gap in (c.gap for c in of_pair):
            known = null.get(gap.id)
            gaps[gap.id].append(gap if known is None else _tested(gap, known, options.confidence))
    largest: dict[str, LargestGap] = {}
    if everyone:
        largest = _largest(measures, compared, pairs, view, options, streams[1][0])
    elif of_pairs:
        largest = largest_of_many(measures, view, replace(options, bootstrap=0), draw)
    return ScoreComparisons(gaps, largest, resolution, blurred)


def _tested(gap: ScoreGap, null: Null, confidence: float) -> ScoreGap:
    """A gap with its null; of densities that may keep it from being held to its tolerance."""
    gap = replace(gap, null=null, detectable=null.detectable)
    m = gap.measure
    assert isinstance(m, ScoreMeasure)
    return replace(gap, interpretation=sentence(m, gap, confidence)) if m.smooth else gap


def _most_scores(pairs: Sequence[tuple[int, int]], most: int) -> int:
    """The more pairs, the fewer scores each of them is drawn on."""
    return int(np.clip(5_000 / len(pairs), 64, most))


def _nulls(
    measures: Sequence[ScoreMeasure], counts: ScoreCounts, options: Options, rng: np.random.Generator
) -> dict[str, Null]:
    draws = options.permutations
    if not draws or not measures:
        return {}
    if not counts.exchangeable:
        return recentred_nulls(measures, counts, options, draws, rng)
    return score_nulls(measures, counts, options.scores, options.null, draws, rng, options.confidence)


def _largest(
    measures: Sequence[ScoreMeasure],
    compared: Sequence[Sequence[Compared]],
    pairs: Sequence[tuple[int, int]],
    view: ScoreView,
    options: Options,
    rng: np.random.Generator,
) -> dict[str, LargestGap]:
    """The most different pair by each measure, from the comparison of all of them."""
    draws, confidence = options.permutations, options.confidence
    recentred = bool(draws) and not view.table.exchangeable
    largest = {}
    for m, own in zip(measures, zip(*compared, strict=True), strict=True):
        largest[m.id] = largest_distance(m, [c.gap for c in own], [c.distance for c in own], confidence, recentred)
    if not draws or recentred:
        return largest
    everybody = view(range(len(view.grouping.groups)), _most_scores(pairs, PERMUTED_SCORES))
    fewer = min(draws, max(200, 6 * draws // len(pairs)))
    return with_nulls(
        largest, score_nulls(measures, everybody, options.scores, options.null, fewer, rng, confidence, pairs)
    )


# ---- many groups -------------------------------------------------------------------------------------------------


def largest_of_many(
    measures: Sequence[ScoreMeasure], view: ScoreView, options: Options, rng: np.random.Generator
) -> dict[str, LargestGap]:
    """The most different pair of many groups by each measure: the value of every pair, and no interval."""
    count = len(view.grouping.groups)
    if count * (count - 1) // 2 <= MOST_COMPARED:
        every = [(a, b) for a in range(count) for b in range(a)]
        return _exactly(measures, every, view, options, rng)
    by_cdf = [m for m in measures if m.of_cdfs and count <= MOST_GROUPS]
    found = _by_cdf(by_cdf, view, options, rng) if by_cdf else {}
    return {m.id: found.get(m.id) or LargestGap(m.id, m.tolerance, undefined=_too_many(m, count)) for m in measures}


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


def _by_cdf(
    measures: Sequence[ScoreMeasure], view: ScoreView, options: Options, rng: np.random.Generator
) -> dict[str, LargestGap]:
    """By distances of CDFs: all of them at once, then exactly those of the pairs that can be the most different."""
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
            pairs = list(zip(there[first].tolist(), there[second].tolist(), strict=True))
            left_out = tuple(np.delete(np.array(groups, object), there))
            mean = None if width.any() else float(apart[np.tril_indices(len(there), -1)].mean())
            found[m.id] = replace(_exactly([m], pairs, view, options, rng)[m.id], left_out=left_out, mean=mean)
    return found


def _apart(f: Floats, weight: Floats, order: float) -> Floats:
    """Distances of CDFs (group, score) from each other."""
    from scipy.spatial.distance import cdist

    if order == np.inf:
        return np.asarray(cdist(f, f, "chebyshev"))
    return np.asarray(cdist(f * weight, f * weight, "cityblock") if order == 1 else
                      cdist(f, f, "minkowski", p=order, w=weight))  # fmt: skip
