"""One attribute → everything about its groups: rates, gaps, distances, the most different pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.distances import RESAMPLED_SCORES, Compared, compare
from evenhand.extremes import LargestGap, largest_distance, largest_gap, resampled_ranges
from evenhand.gaps import Gap, gaps, resampled_gaps, undefined_gap
from evenhand.inference.significance import equal_shares
from evenhand.measures import BINS, Measure, RateMeasure, ScoreMeasure
from evenhand.measures.impossibility import CONFLICTS, ForcedError, forced_errors
from evenhand.measures.rates import share, trials
from evenhand.options import Options
from evenhand.scores import ScoreView
from evenhand.summaries import GroupSummary, summarise
from evenhand.table import Counts, Grouping, Table

MANY_GROUPS = 500
"""Above so many groups only the largest gap between decisions is resampled; the rest keeps closed forms."""

MANY_SCORED = 100
"""Above so many groups, comparisons of whole scores are not resampled."""

MOST_PAIRS = 300
"""Above so many pairs of groups, whole scores are compared with the reference only."""


@dataclass(frozen=True)
class Impossibility:
    """Which criteria exclude each other on these data, and by how much they must fail."""

    base_rates_differ: bool
    p_value: float
    conflicts: tuple[tuple[str, ...], ...]
    forced: tuple[ForcedError, ...]
    undefined: str | None


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
    resolution: float = 0.0
    """How far measures of whole scores may be from their exact values, because there were too many scores."""


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
    bins = table.binned(grouping, BINS) if table.score is not None and table.label is not None else None
    possible = [m for m in chosen if table.label is not None or not m.needs_label]
    found: dict[str, list[Gap]] = {}
    largest: dict[str, LargestGap] = {}
    many = len(grouping.groups) > MANY_GROUPS
    random = rng.spawn(6)  # always, so that a measure asked for alone has the interval it has among others
    for counts, levels, (draw_gaps, draw_ranges) in (
        (decisions, "decision", random[0:2]),
        (bins, "bins", random[2:4]),
    ):
        measures = [m for m in possible if isinstance(m, RateMeasure) and m.levels == levels]
        if counts is None or not measures:
            continue
        resampled: dict[str, Any] = {}
        ranges: dict[str, Any] = {}
        if options.bootstrap and not many:
            resampled = resampled_gaps(measures, counts, reference, options.bootstrap, draw_gaps)
        if options.bootstrap and len(grouping.groups) > 2 and (levels == "decision" or not many):
            ranges = resampled_ranges(measures, counts, options.bootstrap, draw_ranges)
        for m in measures:
            found[m.id] = gaps(m, counts, reference, options.confidence, resampled.get(m.id))
            if len(grouping.groups) > 2:
                largest[m.id] = largest_gap(m, counts, options.confidence, ranges.get(m.id))
    groups = summarise(
        table, grouping, decisions, bins, options.confidence, 0 if many else options.bootstrap, random[4]
    )
    resolution = 0.0
    scored = [m for m in possible if isinstance(m, ScoreMeasure)]
    if table.score is not None and scored:
        gaps_of, largest_of, resolution = _compare_scores(table, grouping, reference, scored, options, random[5], tell)
        found |= gaps_of
        largest |= largest_of
    everything = [g for m in chosen for g in found.get(m.id) or _without(m, table, grouping, reference)]
    return AttributeAudit(
        grouping.name,
        grouping.groups[reference],
        groups,
        tuple(everything),
        tuple(largest[m.id] for m in chosen if m.id in largest),
        _impossibility(decisions, reference, options.confidence),
        resolution,
    )


def _compare_scores(
    table: Table,
    grouping: Grouping,
    reference: int,
    measures: list[ScoreMeasure],
    options: Options,
    rng: np.random.Generator,
    tell: Callable[[float], None],
) -> tuple[dict[str, list[Gap]], dict[str, LargestGap], float]:
    """Every group against the reference by whole scores and, of few groups, every pair; and how exact that is."""
    count = len(grouping.groups)
    pairs = [(g, reference) for g in range(count) if g != reference]
    asked = len(pairs)
    everyone = count > 2 and count * (count - 1) // 2 <= MOST_PAIRS
    if everyone:
        pairs += [(a, b) for a in range(count) for b in range(a) if reference not in (a, b)]
    draws = options.bootstrap if count <= MANY_SCORED else 0
    # Pairs that were not asked for only serve to find the largest: many of them share the work.
    fewer = min(draws, max(200, int(2 / (1 - options.confidence)), 15 * draws // len(pairs)))
    most_scores = int(np.clip(5_000 / len(pairs), 64, RESAMPLED_SCORES))
    view = ScoreView(table, grouping, options.scores.calibration_bins)
    compared: list[list[Compared]] = []
    resolution = 0.0
    for i, (pair, random) in enumerate(zip(pairs, rng.spawn(len(pairs)), strict=True)):
        tell(i / len(pairs))
        counts = view(pair)
        resolution = max(resolution, counts.resolution)
        resamples = draws if i < asked else fewer
        compared.append(compare(measures, counts, options.scores, options.confidence, resamples, random, most_scores))
    found, largest = {}, {}
    for k, m in enumerate(measures):
        all_gaps = [c[k].gap for c in compared]
        found[m.id] = all_gaps[: count - 1]
        if everyone:
            largest[m.id] = largest_distance(m, all_gaps, [c[k].distance for c in compared], options.confidence)
    return found, largest, resolution


def _without(m: Measure, table: Table, grouping: Grouping, reference: int) -> list[Gap]:
    """A measure that these data cannot give."""
    no_labels = table.label is None and m.needs_label
    because = "because there are no labels" if no_labels else "because there is no score"
    ref = grouping.groups[reference]
    return [undefined_gap(m, g, ref, because) for g in grouping.groups if g != ref]


def _impossibility(decisions: Counts, reference: int, confidence: float) -> Impossibility:
    if not decisions.has_label:
        return Impossibility(False, np.nan, (), (), "because there are no labels")
    p = equal_shares(share(decisions, "base_rate"), trials(decisions, "base_rate"))
    differ = bool(p < 1 - confidence)
    return Impossibility(differ, p, CONFLICTS if differ else (), tuple(forced_errors(decisions, reference)), None)
