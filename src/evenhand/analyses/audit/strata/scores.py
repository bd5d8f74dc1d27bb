"""Scores of a group and its reference, both with everybody's mix of strata → the ordinary measures of these counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.audit.gaps import Part, ScoreGap
from evenhand.analyses.audit.score_gaps import Moves, joined_moves, moves_of
from evenhand.analyses.audit.systematic import with_resolution
from evenhand.analyses.options import Options
from evenhand.inference import interval
from evenhand.inference.null import null_of
from evenhand.inference.stratified_scores import Layers
from evenhand.measures.calibration import bins_of
from evenhand.measures.registry import ScoreMeasure
from evenhand.tables.arrays import Floats, Ints, Pair
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import CELLS, MOST_SCORES, ScoreCounts, ScoreView
from evenhand.tables.table import Table

DRAWN_SCORES, FEWEST_SCORES = 256, 32
MOST_ENTRIES = 200_000
"""Resampled are up to so many scores; of many strata fewer, so that all together they are no more than this."""
SMOOTH = "because a density depends on how many people a stratum has: compare densities stratum by stratum"


@dataclass(frozen=True)
class PooledScore:
    """One score-level measure of two groups with the same mix of strata."""

    gap: ScoreGap
    crude: float | None
    people: float | None
    """What share of both groups' people are in strata that have both."""

    @property
    def reversed(self) -> bool:
        """Whether the signed gap has the other sign than the crude one."""
        return self.crude is not None and self.gap.signed is not None and self.crude * self.gap.signed < 0


@dataclass(frozen=True)
class TwoGroups:
    """The people of a group and its reference, all of whom are in a stratum."""

    table: Table
    grouping: Grouping
    pair: tuple[int, int]
    strata: Ints
    """Of each cell."""
    everybody: Floats
    """People of all groups by stratum and label."""

    def counts(self, cells: int) -> tuple[ScoreCounts, Ints]:
        """Of the pair in about so many cells, and the level of each cell of the table."""
        assert self.table.score is not None
        view = ScoreView(self.table, self.grouping)
        found = view(self.pair, cells)
        level = np.searchsorted(view.lowest(cells), self.table.score, side="right") - 1
        return found, len(found.scores) - 1 - level if found.risk else level

    def layers(self, level: Ints, levels: int, by: str) -> Layers:
        """By stratum alone (`by` "all"), by stratum and label, or by stratum and level."""
        t, group = self.table, np.where(self.grouping.codes == self.pair[0], 0, 1)
        label = np.zeros(len(group), np.int64) if t.label is None else t.label.astype(np.int64)
        n, count = t.n.astype(np.float64), len(self.everybody)
        if by == "all":
            kinds, people = np.zeros(count, np.int64), self.everybody.sum(1)
            return Layers.of(self.strata, level, group, n, kinds, people, (levels, 1))
        labels = self.everybody.shape[1]
        place = level * labels + label
        if by == "label":
            kinds = np.tile(np.arange(labels), count)
            return Layers.of(
                self.strata * labels + label, place, group, n, kinds, self.everybody.ravel(), (levels, labels)
            )
        layer = self.strata * levels + level
        people = np.bincount(layer, n, count * levels).astype(np.float64)
        kinds = np.tile(np.arange(levels), count)
        return Layers.of(layer, place, group, n, kinds, people, (levels, labels))


def pooled_scores(
    measures: Sequence[ScoreMeasure],
    two: TwoGroups,
    crude: Callable[[str], float | None],
    options: Options,
    rng: np.random.Generator,
) -> list[PooledScore]:
    """Every score-level measure of one pair of groups, standardised over strata."""
    names = two.grouping.groups[two.pair[0]], two.grouping.groups[two.pair[1]]
    found: dict[str, PooledScore] = {}
    streams = rng.spawn(4)
    for (by, members), random in zip(_kinds(measures), streams, strict=True):
        if members:
            found |= _of_kind(by, members, two, names, crude, options, random)
    for m in measures:
        if m.smooth:
            found[m.id] = PooledScore(ScoreGap.without_value(m, *names, SMOOTH), crude(m.id), None)
    return [found[m.id] for m in measures]


def _kinds(measures: Sequence[ScoreMeasure]) -> Iterator[tuple[str, list[ScoreMeasure]]]:
    """Measures that share layers, four kinds of them."""
    plain = [m for m in measures if m.view is None and not m.smooth]
    for by in ("all", "label"):
        yield by, [m for m in plain if m.within == by]
    for ranked in (False, True):
        yield "ranks" if ranked else "bins", [m for m in measures if m.view is not None and m.ranked is ranked]


def _of_kind(
    by: str,
    measures: Sequence[ScoreMeasure],
    two: TwoGroups,
    names: tuple[str, str],
    crude: Callable[[str], float | None],
    options: Options,
    rng: np.random.Generator,
) -> dict[str, PooledScore]:
    """Measures of one kind of layers: exact values, and draws that they share."""
    exact, level = two.counts(MOST_SCORES if two.table.cells <= MOST_SCORES else CELLS)
    if by in ("all", "label"):
        few = int(np.clip(MOST_ENTRIES // max(len(two.everybody), 1), FEWEST_SCORES, DRAWN_SCORES))
        coarse, own = two.counts(few)
        whole, drawn = two.layers(level, len(exact.scores), by), two.layers(own, len(coarse.scores), by)
        told, made = _scored(exact), _scored(coarse)
    else:
        bin_of = bins_of(exact, by == "ranks", options.scores)
        levels = min(options.scores.calibration_bins, len(exact.scores))
        whole = drawn = two.layers(bin_of[level], levels, "level")
        told = made = _binned(names)
    lacking = {m.id: because for m in measures if (because := _lacks(m, whole, by, exact)) is not None}
    defined = [m for m in measures if m.id not in lacking]
    found = {
        id_: PooledScore(ScoreGap.without_value(m, *names, lacking[id_]), crude(id_), 0.0)
        for m in measures if (id_ := m.id) in lacking
    }  # fmt: skip
    if not defined:
        return found
    moved = _moves(defined, drawn, made, options, rng.spawn(1)[0])
    nulls = _nulls(defined, drawn, made, options, rng.spawn(1)[0])
    counts = told(whole.standardised())
    for m in defined:
        curve = m.curve(counts, options.scores, None)
        size = min(float(curve.norm(m.order)), m.highest)
        if not np.isfinite(size):
            gap = ScoreGap.without_value(m, *names, "because too few people of both groups are in one stratum")
            found[m.id] = PooledScore(gap, crude(m.id), 0.0)
            continue
        signed = float(curve.signed) if m.directed else None
        gap = ScoreGap(
            m.id, *names, m.tolerance, float(m.outward(np.asarray(size))), signed,
            _interval(m, size, signed, moved.get(m.id), options.confidence),
            None if m.id not in moved else "stratified bootstrap" + ("" if m.single else " of the norm"),
            parts=_parts(m, counts, options), null=nulls.get(m.id),
        )  # fmt: skip
        if by in ("all", "label"):
            gap = with_resolution(m, gap, m.off(counts, options.scores), m.signed_off(counts, options.scores))
        found[m.id] = PooledScore(gap, crude(m.id), _people(m, whole, two, by))
    return found


Made = Callable[[Floats], Any]


def _scored(template: ScoreCounts) -> Made:
    return lambda array: replace(template, array=array, squares=None, units=None)


def _binned(names: tuple[str, str]) -> Made:
    return lambda array: Counts(array, names)


def _lacks(m: ScoreMeasure, layers: Layers, by: str, exact: ScoreCounts) -> str | None:
    """Why a measure has no value, or None."""
    if not len(layers.kind):
        return "because no stratum has people of both groups" + (" in one score bin" if by in ("bins", "ranks") else "")
    if m.view is None and not m.ranked and not exact.has_length:
        return f"because the score is constant ({exact.scores[0]:g}) and no score range is stated"
    for label in m.labels if by == "label" else ():
        if not (layers.kind == label).any():
            word = "favourable" if label else "unfavourable"
            return f"because no stratum has people of both groups with the {word} label"
    return None


def _people(m: ScoreMeasure, layers: Layers, two: TwoGroups, by: str) -> float:
    """What share of the people whom a measure is about are in layers of both groups."""
    t, wanted = two.table, set(m.labels) if by == "label" else set()
    some = slice(None) if not wanted or t.label is None else np.isin(t.label, list(wanted))
    inside = np.isin(layers.kind, list(wanted)) if wanted else slice(None)
    return float(layers.sizes[inside].sum() / t.n[some].sum())


def _parts(m: ScoreMeasure, counts: Any, options: Options) -> tuple[Part, ...]:
    return tuple(Part(*s, None) for s in m.summaries(counts, options.scores)) if m.summaries else ()


def _moves(
    measures: Sequence[ScoreMeasure], layers: Layers, made: Made, options: Options, rng: np.random.Generator
) -> dict[str, Moves]:
    """How far curves move when people of each stratum and group are drawn anew."""
    if not options.bootstrap:
        return {}
    centre, scores = made(layers.centre), options.scores
    grids = {m.id: None if m.grid is None else m.grid(centre, scores) for m in measures}
    centres = {m.id: m.curve(centre, scores, grids[m.id]) for m in measures}
    pieces: dict[str, list[Moves]] = {m.id: [] for m in measures}
    for array in layers.resampled(options.bootstrap, rng):
        batch = made(array)
        for m in measures:
            pieces[m.id].append(moves_of(m, m.curve(batch, scores, grids[m.id]), centres[m.id]))
    known = layers.known.min() if measures[0].view is None else layers.known[np.unique(layers.kind)].sum(0).min()
    factor = layers.narrow * interval.student(float(known), options.confidence)
    return {m.id: joined_moves(pieces[m.id]).wider(factor) for m in measures}


def _interval(
    m: ScoreMeasure, size: float, signed: float | None, moves: Moves | None, confidence: float
) -> Pair | None:
    if moves is None:
        return None
    if m.single:
        assert signed is not None
        reach = interval.upper_quantile(np.abs(moves.signed - moves.centre), confidence)
        return max(signed - reach, -m.highest), min(signed + reach, m.highest)
    return m.outward_interval(*interval.norm(size, moves.distance, confidence, m.highest))


def _nulls(
    measures: Sequence[ScoreMeasure], layers: Layers, made: Made, options: Options, rng: np.random.Generator
) -> dict[str, Any]:
    """What chance alone shows: group labels permuted within layers."""
    draws, scores = options.permutations, options.scores
    if not draws:
        return {}
    sizes: dict[str, list[Floats]] = {m.id: [] for m in measures}
    for array in layers.permuted(draws, rng):
        batch = made(array)
        for m in measures:
            sizes[m.id].append(m.curve(batch, scores, None).norm(m.order))
    observed = made(layers.standardised())
    return {
        m.id: null_of(
            float(m.curve(observed, scores, None).norm(m.order)), np.concatenate(sizes[m.id]),
            f"{draws} permutations within strata", options.confidence, outward=m.outward, highest=m.highest,
        )
        for m in measures
    }  # fmt: skip
