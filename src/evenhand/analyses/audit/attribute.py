"""One attribute → everything about its groups: rates, gaps, distances, the most different pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.analyses.audit.evidence import with_choice, with_rate_tests
from evenhand.analyses.audit.gaps import Gap, RateGap, undefined_gap
from evenhand.analyses.audit.groups import GroupSummary, summarise
from evenhand.analyses.audit.information import Information
from evenhand.analyses.audit.largest_gap import (
    LargestGap,
    largest_gap,
    range_nulls,
    recentred_range,
    resampled_ranges,
    with_nulls,
)
from evenhand.analyses.audit.practice_gaps import Compared, bases, practice_gaps
from evenhand.analyses.audit.rate_gaps import gaps, recentred_rate, resampled_gaps
from evenhand.analyses.audit.score_pairs import compare_scores
from evenhand.analyses.audit.unknown import Unknown
from evenhand.analyses.options import Options
from evenhand.analyses.reference import HIGHEST, Reference, Rule
from evenhand.inference.bootstrap_interval import Ordinary, ordinary_intervals, rate_statistic
from evenhand.inference.null import Null, rate_null, widened
from evenhand.inference.significance import TestResult, chi_squared, g_test
from evenhand.measures.impossibility import (
    Conflict,
    ForcedError,
    chouldechova,
    forced_errors,
    kleinberg,
    with_parity,
)
from evenhand.measures.rates import share, trials
from evenhand.measures.registry import MEASURES, Measure, PracticeMeasure, RateMeasure, ScoreMeasure, of_decisions
from evenhand.tables.arrays import Floats
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table, bin_edges

if TYPE_CHECKING:
    from evenhand.analyses.audit.strata.compared import Within

MANY_GROUPS = 500
"""Above so many groups only the largest gap between decisions is resampled; the rest keeps closed forms."""

NOISY = "because the counts hold noise, which this would take for people"

TESTED_RATES = ("base_rate", "selection_rate", "tpr", "fpr", "ppv", "npv", "accuracy")

STREAMS = 11
"""Independent random numbers that an attribute takes."""


@dataclass(frozen=True)
class Impossibility:
    """Which criteria exclude each other on these data, and by how much they must fail."""

    base_rates_differ: bool
    p_value: float
    statements: tuple[Conflict, ...]
    """Those whose premises hold in the data."""
    forced: tuple[ForcedError, ...]
    undefined: str | None

    @property
    def conflicts(self) -> tuple[tuple[str, ...], ...]:
        """Sets of criteria that exclude each other."""
        return tuple(one.criteria for one in self.statements)


@dataclass(frozen=True)
class RateTest:
    """Tests that all groups have the same rate."""

    rate: str
    df: int
    chi_squared: TestResult
    g: TestResult


@dataclass(frozen=True)
class AttributeAudit:
    """Everything about one attribute, or about the intersection of several."""

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
    """Groups of so few people that a gap of three times the tolerance could go unnoticed, where none was found."""
    resolution: float = 0.0
    """How far score-level measures may be from their exact values, because there were too many scores."""
    calibration_resolution: float = 0.0
    """The same of calibration bias by rank, whose bins may end inside a range of scores."""
    information: Information | None = None
    """What the score tells about all groups at once, when there are more than two."""
    key: tuple[str, ...] = ()
    """The measures that its verdict is about."""
    excluded: tuple[str, ...] = ()
    """Groups that are too small a share of the people to be compared: they are shown."""
    rule: Rule = "named"
    """Why the reference is that: it was named, is the largest group, or the one that is selected most often."""
    unknown: Unknown | None = None
    """What people without a group could change, if the table has kept them."""
    within: Within | None = None
    """Its groups compared within strata, if that was asked for."""


def audit_attribute(
    table: Table,
    grouping: Grouping,
    compared_with: Reference,
    chosen: list[Measure],
    options: Options,
    rng: np.random.Generator,
    tell: Callable[[float], None],
    everybody: Table | None = None,
) -> AttributeAudit:
    """Compare the groups of one attribute by every measure that these data can give.

    `everybody` is the table with people who are not compared, if there are such.
    """
    reference, rule, _ = compared_with
    decisions = table.decisions(grouping, options.threshold)
    has_bins = table.score is not None and table.label is not None and not _blurred(table, options.scores.gap_bins)
    bins = table.binned(grouping, options.scores.gap_bins) if has_bins else None
    helping = [MEASURES[id_] for id_ in bases(chosen)]
    reasons = {m.id: because for m in (*chosen, *helping) if (because := _reason(m, table, options)) is not None}
    possible = [m for m in (*chosen, *helping) if m.id not in reasons]
    spanning = is_spanning(decisions)
    random = rng.spawn(STREAMS)  # always, so that a measure asked for alone has the interval it has among others
    by_measure: dict[str, Sequence[Gap]] = {}
    largest: dict[str, LargestGap] = {}
    for counts, levels, streams in (
        (decisions, "decision", [*random[0:2], *random[6:8]]),
        (bins, "bins", [*random[2:4], *random[8:10]]),
    ):
        measures = [m for m in possible if isinstance(m, RateMeasure) and m.levels == levels]
        if counts is not None and measures:
            by_rate, extremes = _compare_rates(measures, counts, compared_with, options, spanning, streams)
            by_measure |= by_rate
            largest |= extremes
    many = len(grouping.groups) > MANY_GROUPS
    groups = summarise(table, grouping, decisions, bins, replace(options, bootstrap=0) if many else options, random[4])
    scored = [m for m in possible if isinstance(m, ScoreMeasure)]
    scores = compare_scores(table, grouping, reference, scored, options, (random[5], random[10]), tell)
    by_measure |= scores.gaps
    largest |= scores.largest
    ref = grouping.groups[reference]
    for m in chosen:
        if m.id in reasons:
            by_measure[m.id] = [undefined_gap(m, g, ref, reasons[m.id]) for g in grouping.groups if g != ref]
    about = Compared(table, everybody or table, grouping, reference, decisions, options, rule == HIGHEST)
    for m in possible:
        if isinstance(m, PracticeMeasure):
            base = {} if m.base is None else {gap.group: gap for gap in by_measure[m.base]}
            by_measure[m.id] = practice_gaps(m, about, base, spanning)
    everything = tuple(gap for m in chosen for gap in by_measure[m.id])
    if rule == HIGHEST:
        everything = tuple(with_choice(gap, len(grouping.groups)) for gap in everything)
    return AttributeAudit(
        grouping.name,
        ref,
        groups,
        everything,
        tuple(largest[m.id] for m in chosen if m.id in largest),
        _impossibility(table, grouping, decisions, bins, reference, options.confidence),
        () if spanning else _rate_tests(decisions),
        resolution=scores.resolution,
        calibration_resolution=scores.calibration_resolution,
        information=scores.information,
        rule=rule,
    )


def _compare_rates(
    measures: list[RateMeasure],
    counts: Counts,
    compared_with: Reference,
    options: Options,
    spanning: bool,
    streams: Sequence[np.random.Generator],
) -> tuple[dict[str, list[RateGap]], dict[str, LargestGap]]:
    """Every group against the reference and, of more than two groups, the pair that differs most."""
    draw_gaps, draw_ranges, permute, permute_all = streams
    confidence, draws, reference = options.confidence, options.bootstrap, compared_with.place
    many = len(counts.groups) > MANY_GROUPS
    extremes = len(counts.groups) > 2 and not options.brief
    resampled: dict[str, Floats] = {}
    ranges: dict[str, Floats] = {}
    if draws and not many:
        resampled = resampled_gaps(measures, counts, reference, draws, draw_gaps, options.stratified)
    if draws and extremes and (measures[0].levels == "decision" or not many):
        ranges = resampled_ranges(measures, counts, draws, draw_ranges, options.stratified)
    pairs = {} if many else {name: counts.only([g, reference]) for g, name in enumerate(counts.groups)}
    ordinary = {} if many else ordinary_of(measures, pairs, spanning, options, draw_gaps)
    chosen = compared_with.rule == HIGHEST
    compared = {
        m.id: gaps(m, counts, reference, confidence, resampled.get(m.id), ordinary.get(m.id), chosen) for m in measures
    }
    if not many:
        compared = {
            m.id: [_tested(m, gap, pairs[gap.group], spanning, options, permute) for gap in compared[m.id]]
            for m in measures
        }
    if not extremes:
        return compared, {}
    largest = {m.id: largest_gap(m, counts, confidence, ranges.get(m.id), spanning) for m in measures}
    if options.permutations and not many:
        largest = with_nulls(largest, _range_nulls(measures, counts, options, permute_all))
    return compared, largest


def _tested(
    m: RateMeasure, gap: RateGap, pair: Counts, spanning: bool, options: Options, rng: np.random.Generator
) -> RateGap:
    """A gap between rates with its null and its tests."""
    if gap.undefined:
        return gap
    if options.permutations:
        null = rate_null(m, pair, options.null, options.permutations, deepcopy(rng), options.confidence)
        if spanning:
            null = widened(null, recentred_rate(m, pair, options.permutations, deepcopy(rng), options.confidence))
        gap = replace(gap, null=null, detectable=null.detectable)
    if spanning or options.brief:
        return gap  # the classical tests take groups for independent
    return with_rate_tests(m, gap, m.profile(pair), pair.exchangeable, options.confidence)


def ordinary_of(
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
    by_measure: dict[str, dict[str, Ordinary]] = {m.id: {} for m in measures}
    statistics = {m.id: rate_statistic(m) for m in measures}
    for (group, pair), random in zip(pairs.items(), rng.spawn(len(pairs)), strict=True):
        intervals = ordinary_intervals(
            kind, statistics, pair, options.confidence, options.bootstrap, random, options.stratified
        )
        for m in measures:
            one = replace(intervals[m.id], hull=hull)
            # a largest gap has an interval of its own kind
            by_measure[m.id][group] = replace(one, ci=None) if hull and not (m.signed or m.scale == "ratio") else one
    return by_measure


def is_spanning(counts: Counts) -> bool:
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

    by_measure = nulls(measures)
    # p-values of ratios are those of differences
    plain = nulls([replace(m, scale="difference") for m in measures if m.scale == "ratio"])
    return by_measure | {id_: replace(by_measure[id_], p_value=null.p_value) for id_, null in plain.items()}


def _rate_tests(decisions: Counts) -> tuple[RateTest, ...]:
    """For each rate of the report, whether it is the same in all groups."""
    tests = []
    for rate in TESTED_RATES if decisions.has_label else ("selection_rate",):
        p, n = share(decisions, rate), trials(decisions, rate)
        df = int(np.isfinite(p).sum()) - 1
        tests.append(RateTest(rate, df, chi_squared(p, n), g_test(p, n)))
    return tuple(tests)


def _reason(m: Measure, table: Table, options: Options) -> str | None:
    """Why these data cannot give a measure, or None."""
    if m.needs_label and table.label is None:
        return "because there are no labels"
    if of_decisions(m):
        return None
    if table.score is None:
        return "because there is no score"
    if isinstance(m, PracticeMeasure):
        return None
    scored = m if isinstance(m, ScoreMeasure) else None
    # intervals and tests were seen to hold on private tables: not of densities, calibration, nor variants
    holds = scored is not None and scored.id in MEASURES and not (scored.smooth or scored.view or scored.variances)
    if table.noise is not None and not holds:
        return NOISY
    uses = options.scores
    bins = uses.gap_bins if scored is None else uses.calibration_bins if scored.view and not scored.ranked else None
    if _blurred(table, bins):
        return "because the scores are known in ranges that go across the borders of its bins"
    return None


def _blurred(table: Table, bins: int | None) -> bool:
    """Whether it is not known which people are in which bin."""
    if bins is None or table.spans is None:
        return False
    return table.spans.across(bin_edges(table.score_range, bins)[1:-1])


def _impossibility(
    table: Table, grouping: Grouping, decisions: Counts, bins: Counts | None, reference: int, confidence: float
) -> Impossibility:
    if not decisions.has_label:
        return Impossibility(False, np.nan, (), (), "because there are no labels")
    p = chi_squared(share(decisions, "base_rate"), trials(decisions, "base_rate")).p_value
    differ = bool(p < 1 - confidence)
    possible: list[Conflict | None] = []
    if differ:
        rates, people = (np.array([of(decisions, r)[reference] for r in ("tpr", "fpr")]) for of in (share, trials))
        telling = chi_squared(rates, people).p_value < 1 - confidence  # or TPR and FPR may be equal
        probable = bins is not None and table.noise is None and table.score_range == (0.0, 1.0)
        possible = [
            chouldechova(decisions, reference),
            kleinberg(table, grouping, decisions, bins, reference) if bins is not None and probable else None,
            with_parity(decisions, reference) if telling else None,
        ]
    stated = tuple(one for one in possible if one is not None)
    return Impossibility(differ, p, stated, tuple(forced_errors(decisions, reference)), None)
