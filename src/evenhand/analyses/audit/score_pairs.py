"""Score-level measures on one grouping → every group against the reference, and the pair that differs most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.audit.gaps import Gap, ScoreGap
from evenhand.analyses.audit.information import Information, of_all_groups
from evenhand.analyses.audit.largest_gap import LargestGap, largest_distance, with_nulls
from evenhand.analyses.audit.many_groups import largest_of_many
from evenhand.analyses.audit.score_gaps import RESAMPLED_SCORES, Compared, compare, recentred_nulls, sentence
from evenhand.analyses.options import Options
from evenhand.inference.null import PERMUTED_SCORES, Null, score_nulls
from evenhand.inference.resample import spread_noise
from evenhand.measures.calibration import blur
from evenhand.measures.registry import ScoreMeasure
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreCounts, ScoreView
from evenhand.tables.table import Table

MANY_SCORED = 100
"""Above so many groups, comparisons of scores are not resampled."""

MOST_PAIRS = 300
"""Above so many pairs of groups, those without the reference are compared but not resampled."""


@dataclass(frozen=True)
class ScoreComparisons:
    """What score-level measures say about the groups of an attribute, and how exact that is."""

    gaps: Mapping[str, list[Gap]]
    largest: Mapping[str, LargestGap]
    resolution: float = 0.0
    calibration_resolution: float = 0.0
    information: Information | None = None
    """What the score tells about all groups at once, of more than two."""


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
        largest = largest_of_many(measures, view, options, draw)
    told = next((m for m in measures if m.information), None)
    together = None
    if told is not None and of_pairs:
        together = of_all_groups(told, view, options, (rng[0].spawn(1)[0], rng[1].spawn(1)[0]))
    return ScoreComparisons(gaps, largest, resolution, blurred, together)


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
