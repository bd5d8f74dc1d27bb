"""One attribute → everything about its groups: rates, gaps, distances, the most different pairs."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.audit.evidence import too_small, with_null, with_rate_tests
from evenhand.analyses.audit.gaps import Gap, gaps, recentred_rate, resampled_gaps, undefined_gap
from evenhand.analyses.audit.groups import GroupSummary, summarise
from evenhand.analyses.audit.largest_gap import (
    LargestGap,
    largest_distance,
    largest_gap,
    range_nulls,
    recentred_range,
    resampled_ranges,
)
from evenhand.analyses.audit.score_gaps import RESAMPLED_SCORES, Compared, compare, recentred_nulls
from evenhand.analyses.options import Options
from evenhand.inference.bootstrap_interval import Ordinary, ordinary_intervals, rate_statistic
from evenhand.inference.null import EXCHANGED_SCORES, Null, joint_nulls, rate_null, score_nulls, widened
from evenhand.inference.resample import spread_noise
from evenhand.inference.significance import TestResult, chi_squared, g_test
from evenhand.measures.calibration import blur
from evenhand.measures.impossibility import CONFLICTS, ForcedError, forced_errors
from evenhand.measures.rates import share, trials
from evenhand.measures.registry import BINS, MEASURES, Measure, RateMeasure, ScoreMeasure
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreCounts, ScoreView
from evenhand.tables.table import Table, bin_edges

MANY_GROUPS = 500
"""Above so many groups only the largest gap between decisions is resampled; the rest keeps closed forms."""

TESTED_RATES = ("base_rate", "selection_rate", "tpr", "fpr", "ppv", "npv", "accuracy")

MANY_SCORED = 100
"""Above so many groups, comparisons of whole scores are not resampled."""

MOST_PAIRS = 300
"""Above so many pairs of groups, whole scores are compared with the reference only."""

STREAMS = 11
"""Independent random numbers that an attribute takes."""


@dataclass(frozen=True)
class Impossibility:
    """Which criteria exclude each other on these data, and by how much they must fail."""

    base_rates_differ: bool
    p_value: float
    conflicts: tuple[tuple[str, ...], ...]
    forced: tuple[ForcedError, ...]
    undefined: str | None


@dataclass(frozen=True)
class RateTest:
    """Tests that all groups have the same rate."""

    rate: str
    df: int
    chi_squared: TestResult
    g: TestResult


@dataclass(frozen=True)
class AttributeAudit:
    """Everything about one attribute, or about the product of several."""

    name: str
    reference: str
    groups: tuple[GroupSummary, ...]
    measures: tuple[Gap, ...]
    largest: tuple[LargestGap, ...]
    """The most different pair by each measure, when there are more than two groups."""
    impossibility: Impossibility
    tests: tuple[RateTest, ...] = ()
    """Whether the rates of all groups are equal."""
    too_small: tuple[str, ...] = ()
    """Groups of so few people that a gap of three times the tolerance could go unnoticed."""
    resolution: float = 0.0
    """How far measures of whole scores may be from their exact values, because there were too many scores."""
    calibration_resolution: float = 0.0
    """The same of calibration bias by rank, whose bins may end inside a range of scores."""


def audit_attribute(
    table: Table,
    grouping: Grouping,
    reference: int,
    chosen: list[Measure],
    options: Options,
    rng: np.random.Generator,
    tell: Callable[[float], None],
) -> AttributeAudit:
    """Compare the groups of one attribute by every measure that these data can give."""
    decisions = table.decisions(grouping, options.threshold)
    has_bins = table.score is not None and table.label is not None and not _blurred(table, BINS)
    bins = table.binned(grouping, BINS) if has_bins else None
    blurred = {m.id for m in chosen if _blurred(table, _bins_of(m, options))}
    noisy = {m.id for m in chosen if table.noise is not None and not _bears_noise(m)}
    unfit = blurred | noisy
    possible = [m for m in chosen if (table.label is not None or not m.needs_label) and m.id not in unfit]
    found: dict[str, list[Gap]] = {}
    largest: dict[str, LargestGap] = {}
    many = len(grouping.groups) > MANY_GROUPS
    spanning = _spanning(decisions)
    random = rng.spawn(STREAMS)  # always, so that a measure asked for alone has the interval it has among others
    for counts, levels, (draw_gaps, draw_ranges), (exchange, exchange_all) in (
        (decisions, "decision", random[0:2], random[6:8]),
        (bins, "bins", random[2:4], random[8:10]),
    ):
        measures = [m for m in possible if isinstance(m, RateMeasure) and m.levels == levels]
        if counts is None or not measures:
            continue
        resampled: dict[str, Any] = {}
        ranges: dict[str, Any] = {}
        if options.bootstrap and not many:
            resampled = resampled_gaps(measures, counts, reference, options.bootstrap, draw_gaps, options.stratified)
        extremes = len(grouping.groups) > 2 and not options.brief
        if options.bootstrap and extremes and (levels == "decision" or not many):
            ranges = resampled_ranges(measures, counts, options.bootstrap, draw_ranges, options.stratified)
        pairs = {} if many else {name: counts.only([g, reference]) for g, name in enumerate(counts.groups)}
        ordinary = {} if many else _ordinary(measures, pairs, spanning, options, draw_gaps)
        for m in measures:
            found[m.id] = gaps(m, counts, reference, options.confidence, resampled.get(m.id), ordinary.get(m.id))
            if not many:
                found[m.id] = [_tested(m, gap, pairs[gap.group], spanning, options, exchange) for gap in found[m.id]]
            if extremes:
                largest[m.id] = largest_gap(m, counts, options.confidence, ranges.get(m.id))
        if options.permutations and extremes and not many:
            nulls = _range_nulls(measures, counts, options, exchange_all)
            largest |= {m.id: replace(largest[m.id], null=nulls[m.id]) for m in measures if not largest[m.id].undefined}
    groups = summarise(
        table,
        grouping,
        decisions,
        bins,
        options.confidence,
        0 if many else options.bootstrap,
        random[4],
        options.stratified,
    )
    resolution, blurred_ranks = 0.0, 0.0
    scored = [m for m in possible if isinstance(m, ScoreMeasure)]
    if table.score is not None and scored:
        gaps_of, largest_of, resolution, blurred_ranks = _compare_scores(
            table, grouping, reference, scored, options, (random[5], random[10]), tell
        )
        found |= gaps_of
        largest |= largest_of
    reasons = dict.fromkeys(blurred, "because the scores are known in ranges that go across the borders of its bins")
    reasons |= dict.fromkeys(noisy, "because the counts hold noise, which this would take for people")
    everything = [
        g for m in chosen for g in found.get(m.id) or _without(m, table, grouping, reference, reasons.get(m.id))
    ]
    return AttributeAudit(
        grouping.name,
        grouping.groups[reference],
        groups,
        tuple(everything),
        tuple(largest[m.id] for m in chosen if m.id in largest),
        _impossibility(decisions, reference, options.confidence),
        () if spanning else _rate_tests(decisions),
        too_small(everything),
        resolution,
        blurred_ranks,
    )


def _tested(m: RateMeasure, gap: Gap, pair: Counts, spanning: bool, options: Options, rng: np.random.Generator) -> Gap:
    """A gap between rates with what tells it from chance."""
    if gap.undefined:
        return gap
    if options.permutations:
        null = rate_null(m, pair, options.null, options.permutations, deepcopy(rng), options.confidence)
        if spanning:
            null = widened(null, recentred_rate(m, pair, options.permutations, deepcopy(rng), options.confidence))
        gap = with_null(m, gap, null)
    if spanning or options.brief:
        return gap  # the classical tests take groups for independent
    return with_rate_tests(m, gap, m.profile(pair), pair.exchangeable, options.confidence)


def _ordinary(
    measures: list[RateMeasure],
    pairs: dict[str, Counts],
    spanning: bool,
    options: Options,
    rng: np.random.Generator,
) -> dict[str, dict[str, Ordinary]]:
    """Ordinary bootstrap intervals by measure and group, if they were asked for."""
    kind, hull = options.interval, False
    if kind == "auto" and options.bootstrap and spanning:
        # closed forms take groups for independent, which they are not then
        kind, hull = "percentile", True
    if kind == "auto":
        return {}
    found: dict[str, dict[str, Ordinary]] = {m.id: {} for m in measures}
    statistics = {m.id: rate_statistic(m) for m in measures}
    for (group, pair), random in zip(pairs.items(), rng.spawn(len(pairs)), strict=True):
        intervals = ordinary_intervals(
            kind, statistics, pair, options.confidence, options.bootstrap, random, options.stratified
        )
        for m in measures:
            one = replace(intervals[m.id], hull=hull)
            # a largest gap has an interval of its own kind
            found[m.id][group] = replace(one, ci=None) if hull and not (m.signed or m.scale == "ratio") else one
    return found


def _spanning(counts: Counts) -> bool:
    """Whether some cluster has people of several groups."""
    if counts.units is None:
        return False
    groups, labels = counts.array.shape[-2:]
    kinds = np.unique(counts.units.cluster * groups + counts.units.place // labels % groups)
    return len(kinds) > counts.units.count


def _range_nulls(
    measures: list[RateMeasure], counts: Counts, options: Options, rng: np.random.Generator
) -> dict[str, Null]:
    if counts.exchangeable:
        return range_nulls(measures, counts, options.null, options.permutations, rng, options.confidence)

    def nulls(chosen: list[RateMeasure]) -> dict[str, Null]:
        if not chosen:
            return {}
        ranges = resampled_ranges(chosen, counts, options.permutations, deepcopy(rng))
        return {m.id: recentred_range(m, counts, ranges[m.id][:, 0], options.confidence) for m in chosen}

    found = nulls(measures)
    # p-values of ratios are those of differences
    plain = nulls([replace(m, scale="difference") for m in measures if m.scale == "ratio"])
    return found | {id_: replace(found[id_], p_value=null.p_value) for id_, null in plain.items()}


def _rate_tests(decisions: Counts) -> tuple[RateTest, ...]:
    """For each rate of the report, whether it is the same in all groups."""
    found = []
    for rate in TESTED_RATES if decisions.has_label else ("selection_rate",):
        p, n = share(decisions, rate), trials(decisions, rate)
        df = int(np.isfinite(p).sum()) - 1
        found.append(RateTest(rate, df, chi_squared(p, n), g_test(p, n)))
    return tuple(found)


def _compare_scores(
    table: Table,
    grouping: Grouping,
    reference: int,
    measures: list[ScoreMeasure],
    options: Options,
    rng: tuple[np.random.Generator, np.random.Generator],
    tell: Callable[[float], None],
) -> tuple[dict[str, list[Gap]], dict[str, LargestGap], float, float]:
    """Every group against the reference by whole scores and, of few groups, every pair; and how exact that is."""
    count = len(grouping.groups)
    pairs = [(g, reference) for g in range(count) if g != reference]
    asked = len(pairs)
    everyone = count > 2 and count * (count - 1) // 2 <= MOST_PAIRS and not options.brief
    if everyone:
        pairs += [(a, b) for a in range(count) for b in range(a) if reference not in (a, b)]
    draws = options.bootstrap if count <= MANY_SCORED else 0
    exchanges = options.permutations if count <= MANY_SCORED else 0
    # Pairs that were not asked for only serve to find the largest: many of them share the work.
    fewer = min(draws, max(200, int(2 / (1 - options.confidence)), 15 * draws // len(pairs)))
    most_scores = int(np.clip(5_000 / len(pairs), 64, RESAMPLED_SCORES))
    view = ScoreView(table, grouping, options.scores.calibration_bins)
    compared: list[list[Compared]] = []
    resolution, blurred = 0.0, 0.0
    ranked = any(m.view is not None and m.ranked for m in measures)
    streams = rng[0].spawn(len(pairs)), rng[1].spawn(len(pairs) + 1)
    nulls: list[dict[str, Null]] = []
    for i, (pair, random, exchange) in enumerate(zip(pairs, streams[0], streams[1][1:], strict=True)):
        tell(i / len(pairs))
        counts = view(pair)
        if table.noise is not None:
            counts = spread_noise(counts, counts.unit)
        resolution = max(resolution, counts.resolution)
        blurred = max(blurred, blur(counts, options.scores) if ranked else 0.0)
        resamples = draws if i < asked else fewer
        compared.append(
            compare(
                measures,
                counts,
                options.scores,
                options.confidence,
                resamples,
                random,
                most_scores,
                options.stratified,
                options.interval if resamples else "auto",
            )
        )
        if i < asked:
            defined = [m for m, c in zip(measures, compared[-1], strict=True) if not c.gap.undefined]
            nulls.append(_score_nulls(defined, counts, options, exchanges, exchange))
    found, largest = {}, {}
    for k, m in enumerate(measures):
        all_gaps = [c[k].gap for c in compared]
        found[m.id] = [
            with_null(m, gap, null[m.id]) if m.id in null else gap
            for gap, null in zip(all_gaps[:asked], nulls, strict=True)
        ]
        if everyone:
            largest[m.id] = largest_distance(
                m, all_gaps, [c[k].distance for c in compared], options.confidence,
                recentred=bool(exchanges) and not table.exchangeable,
            )  # fmt: skip
    if everyone and exchanges and table.exchangeable:
        fewer = min(exchanges, max(200, 6 * exchanges // len(pairs)))
        joint = joint_nulls(
            measures, view(range(count), int(np.clip(5_000 / len(pairs), 64, EXCHANGED_SCORES))), pairs,
            options.scores, options.null, fewer, streams[1][0], options.confidence,
        )  # fmt: skip
        largest |= {
            id_: found_one if found_one.undefined else replace(found_one, null=joint[id_])
            for id_, found_one in largest.items()
        }
    return found, largest, resolution, blurred


def _score_nulls(
    measures: list[ScoreMeasure], counts: ScoreCounts, options: Options, draws: int, rng: np.random.Generator
) -> dict[str, Null]:
    if not draws or not measures:
        return {}
    if not counts.exchangeable:
        return recentred_nulls(measures, counts, options.scores, options.confidence, draws, rng)
    return score_nulls(measures, counts, options.scores, options.null, draws, rng, options.confidence)


def _without(m: Measure, table: Table, grouping: Grouping, reference: int, reason: str | None) -> list[Gap]:
    """A measure that these data cannot give."""
    no_labels = table.label is None and m.needs_label
    because = "because there are no labels" if no_labels else "because there is no score"
    if reason and not no_labels and table.score is not None:
        because = reason
    ref = grouping.groups[reference]
    return [undefined_gap(m, g, ref, because) for g in grouping.groups if g != ref]


def _bins_of(m: Measure, options: Options) -> int | None:
    """How many bins of equal width a measure compares people in, if it does."""
    if isinstance(m, RateMeasure):
        return BINS if m.levels == "bins" else None
    return options.scores.calibration_bins if isinstance(m, ScoreMeasure) and m.view and not m.ranked else None


def _bears_noise(m: Measure) -> bool:
    """Whether intervals and tests were seen to hold on private tables: not of densities, calibration, nor variants."""
    if isinstance(m, ScoreMeasure):
        return m.id in MEASURES and not m.smooth and m.view is None
    return not (isinstance(m, RateMeasure) and m.levels == "bins")


def _blurred(table: Table, bins: int | None) -> bool:
    """Whether it is not known which people are in which bin."""
    if bins is None or table.spans is None:
        return False
    return table.spans.across(bin_edges(table.score_range, bins)[1:-1])


def _impossibility(decisions: Counts, reference: int, confidence: float) -> Impossibility:
    if not decisions.has_label:
        return Impossibility(False, np.nan, (), (), "because there are no labels")
    p = chi_squared(share(decisions, "base_rate"), trials(decisions, "base_rate")).p_value
    differ = bool(p < 1 - confidence)
    return Impossibility(differ, p, CONFLICTS if differ else (), tuple(forced_errors(decisions, reference)), None)
