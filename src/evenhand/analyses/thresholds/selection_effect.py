"""What a search over thresholds does to certainty: the level its intervals need, and the chance that its choice holds.

The best of many thresholds that just meet a rule owes some of that to luck. Two things are known from resampled sweeps:
how far the gap strays at the threshold where it strays most, which gives intervals that hold at all thresholds
together; and how often a threshold that is chosen in a resample keeps to the rule in the people it was drawn from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.analyses.requirement import Requirement
from evenhand.analyses.thresholds.sweep import Goal, worst
from evenhand.inference.interval import together, upper_quantile
from evenhand.inference.resample import bootstrap
from evenhand.measures.registry import RateMeasure
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreView
from evenhand.tables.table import Table

CUTS = 128
"""So many thresholds of a resample at most: how far a sweep strays is known well enough from these."""
MANY_GROUPS = 50
FEW = 5
"""A rate that fewer people have, or lack, is left to its interval: noise of a handful is not like other noise."""
AT_ONCE = 400_000


@dataclass(frozen=True)
class Searched:
    """What resampled sweeps say about a search."""

    level: float
    """Of each interval, so that those at all thresholds hold together."""
    holds: Mapping[str, float] = field(default_factory=dict)
    """How often a choice by interval, or by value, in a resample keeps to the rules in the people it was drawn from."""
    kept: Floats | None = None
    """How often each threshold keeps to the rules in resamples."""
    place: Callable[[float], int] = lambda threshold: 0
    """Which of these a threshold is, or is next to."""

    def chance(self, choice: str, threshold: float) -> float | None:
        """That such a choice keeps to the rules on new people: the less of what is known of the way of choosing and of
        the threshold chosen. The former knows that the best of many is lucky, the latter by how little it is within.
        """
        if self.kept is None or choice not in self.holds:
            return None
        return min(self.holds[choice], float(self.kept[self.place(threshold)]))


def searched(
    table: Table,
    grouping: Grouping,
    reference: int,
    goal: Goal,
    requirements: Sequence[Requirement],
    measures: Sequence[RateMeasure],
    confidence: float,
    draws: int,
    rng: np.random.Generator,
) -> Searched:
    """What a search over all thresholds is worth; without resamples, only what holds in any case."""
    groups = len(grouping.groups)
    unique = list({m.id: m for m in measures}.values())
    safe = together(confidence, max(len(table.cutoffs) - 1, 1) * (groups - 1) * len(unique))
    if not draws or groups > MANY_GROUPS:
        return Searched(safe)
    sweeps = _Sweeps(table, grouping, reference, unique)
    if sweeps.cuts < 1:
        return Searched(safe)
    moves, sizes, points = sweeps.resampled(goal, draws, rng)
    spread = {id_: np.sqrt((own**2).mean(0)) for id_, own in moves.items()}
    strays = np.zeros(draws)
    for id_, own in moves.items():
        known = sweeps.known[id_] & (spread[id_] > 0)
        if known.any():
            strays = np.maximum(strays, (np.abs(own[:, known]) / spread[id_][known]).max(-1))
    furthest = upper_quantile(strays, confidence)
    level = float(np.clip(_level(furthest), confidence, safe)) if np.isfinite(furthest) else safe
    if goal.undefined:
        return Searched(level)
    within = _all_met(requirements, sweeps.sizes)
    reach = {id_: (furthest * spread[id_]).max((-2, -1)) for id_ in spread}
    met = {
        "value": _all_met(requirements, sizes),
        "interval": _all_met(requirements, {m.id: _further(m, sizes[m.id], reach[m.id]) for m in unique}),
    }
    known = {choice: _holds(own, points, within) for choice, own in met.items() if own.any()}
    return Searched(level, known, met["value"].mean(0), sweeps.place)


def _level(z: float) -> float:
    from scipy.special import ndtr

    return float(1 - 2 * ndtr(-z))


def _all_met(requirements: Sequence[Requirement], sizes: dict[str, Floats]) -> Bools:
    return np.asarray(np.logical_and.reduce([r.meets(sizes[r.measure.id]) for r in requirements]))


def _further(m: RateMeasure, size: Floats, reach: Floats) -> Floats:
    """The far end of an interval of a size."""
    return size * np.exp(-reach) if m.scale == "ratio" else size + reach


def _holds(meets: Bools, points: Floats, within: Bools) -> float:
    """How often the best threshold of a resample keeps to the rules in the people it was drawn from."""
    chosen = np.where(meets, points, -np.inf).argmax(-1)[meets.any(-1)]
    return float(within[chosen].mean())


class _Sweeps:
    """The sweep of a table at not too many thresholds, and resamples of it."""

    def __init__(self, table: Table, grouping: Grouping, reference: int, measures: Sequence[RateMeasure]) -> None:
        groups = len(grouping.groups)
        self.reference, self.measures = reference, measures
        view = ScoreView(table, grouping, 2)
        self.counts = view(range(groups), int(np.clip(10 * CUTS // groups, 32, CUTS)))
        self.cuts = len(self.counts.scores) - 1
        own = self._decided(self.counts.array[None])
        self.gaps = {m.id: self._gaps(m, own)[0] for m in measures}
        self.known = {m.id: self._many(m, own)[0] for m in measures}
        self.sizes = {m.id: worst(m, _only(own, 0), reference)[0] for m in measures}

    def place(self, threshold: float) -> int:
        """The threshold of the sweep that decides like this one, or nearly."""
        below = self.counts.scores >= threshold if self.counts.risk else self.counts.scores < threshold
        return int(np.clip(below.sum() - 1, 0, self.cuts - 1))

    def resampled(
        self, goal: Goal, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, Floats], dict[str, Floats], Floats]:
        """By measure how far every gap moves and the size of the worst, in each draw at each threshold; and goals."""
        moves: dict[str, list[Floats]] = {m.id: [] for m in self.measures}
        sizes: dict[str, list[Floats]] = {m.id: [] for m in self.measures}
        points = []
        for batch in self._batches(draws, rng):
            for m in self.measures:
                with np.errstate(invalid="ignore"):
                    moved = self._gaps(m, batch) - self.gaps[m.id]
                moves[m.id].append(np.where(np.isfinite(moved), moved, 0.0))
                flat = Counts(batch.array.reshape(-1, *batch.array.shape[2:]), batch.groups)
                sizes[m.id].append(worst(m, flat, self.reference)[0].reshape(len(batch.array), -1))
            points.append(goal.points(batch.array).sum(-1))
        return (
            {id_: np.concatenate(own) for id_, own in moves.items()},
            {id_: np.concatenate(own) for id_, own in sizes.items()},
            np.concatenate(points),
        )

    def _batches(self, draws: int, rng: np.random.Generator) -> Iterator[Counts]:
        at_once = max(1, AT_ONCE // self.counts.array.size)
        for start in range(0, draws, at_once):
            for batch in bootstrap(self.counts, min(at_once, draws - start), rng):
                yield self._decided(batch.array)

    def _decided(self, array: Floats) -> Counts:
        """Counts at every threshold: axes (draw, threshold, decision, group, label)."""
        above = np.cumsum(np.asarray(array, np.float64)[:, ::-1], axis=1)[:, ::-1]
        selected = above[:, 1:]
        return Counts(np.stack([above[:, :1] - selected, selected], axis=2), self.counts.groups)

    def _gaps(self, m: RateMeasure, counts: Counts) -> Floats:
        """Gaps to the reference, of a ratio their logarithms: axes (draw, threshold, component, other group)."""
        values = m.profile(counts).values
        base = values[..., [self.reference]]
        others = np.delete(values, self.reference, -1)
        if m.scale != "ratio":
            return np.asarray(others - base)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(others) - np.log(base))

    def _many(self, m: RateMeasure, counts: Counts) -> Bools:
        """Which gaps rest on enough people with and without what is counted."""
        profile = m.profile(counts)
        finite = np.isfinite(self._gaps(m, counts))
        for part in (profile,) if profile.quotient is None else profile.quotient:
            if part.trials is not None:
                rarer = part.trials * np.minimum(part.values, 1 - part.values)
                finite &= np.delete(np.minimum(rarer, rarer[..., [self.reference]]), self.reference, -1) >= FEW
        return np.asarray(finite)


def _only(counts: Counts, draw: int) -> Counts:
    return replace(counts, array=counts.array[draw])
