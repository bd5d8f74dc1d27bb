"""Whether gaps over whole scores have changed: the curve of gaps now against the curve before.

Three things are tested, and the largest p-value counts.

First that the curve of gaps is what it was: its change has a norm.

Second that the measure, the norm of the curve, is what it was: when the scores of everybody rise, the curve moves along
the scores but the measure does not change.

Third that it is what it was within single periods. Where scores of everybody rise and fall with a season, several
periods together are a mixture, in which groups overlap more than in any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from evenhand.analyses.audit.score_gaps import borrowed_rates, one_of_everybody, resampled_bins, with_rates
from evenhand.analyses.monitor.tail_bounds import Drawn, Norm, apart, curve_tail, norm_tail
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.measures.calibration import bins_of
from evenhand.measures.curve import Curve
from evenhand.measures.registry import ScoreMeasure, ScoreOptions
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts

FIRST = 19
"""So many resamples show whether it is worth to look at all of them."""
UNLIKELY = 0.01
ALONE = 30
"""Periods with so many people of the smallest class show what the measure is within them."""


@dataclass(frozen=True, eq=False)
class Sample:
    """People by cell of the score, group and label, with resamples of them; samples add up."""

    people: Floats
    """As many of each group and label as know as much: axes (group, label)."""
    array: Floats
    population: Floats
    """What resamples vary around."""
    draws: Floats
    """Resampled arrays."""

    def __add__(self, other: Sample) -> Sample:
        return Sample(
            self.people + other.people,
            self.array + other.array,
            self.population + other.population,
            self.draws + other.draws,
        )

    def smallest(self, pair: Sequence[int], labels: Sequence[int]) -> float:
        """People of the smallest class that a comparison rests on."""
        own = self.people[list(pair)]
        return float((own[:, list(labels)] if labels else own.sum(-1)).min())


def sampled(counts: ScoreCounts, draws: int, rng: np.random.Generator) -> Sample:
    """A sample with its resamples, in which every group is as large as it is."""
    population = smoothed(counts, one_of_everybody(counts), within=(-3, -1))
    batches = [b.array for b in bootstrap(counts, draws, rng, population, stratified=True)]
    drawn = np.concatenate(batches).astype(np.float64)
    return Sample(counts.people(by_label=True), np.asarray(counts.array, np.float64), population, drawn)


@dataclass
class CurveChanges:
    """What was before: the baseline of one attribute, ready to compare samples with."""

    cells: ScoreCounts
    """Which scores the cells hold, by the baseline."""
    before: Sample
    measures: Sequence[ScoreMeasure]
    options: ScoreOptions
    parts: Sequence[Sample] = ()
    """The periods of the baseline, if there are several."""
    _known: dict[Any, Any] = field(default_factory=dict)
    _norms: WeakKeyDictionary[Sample, dict[Any, Norm]] = field(default_factory=WeakKeyDictionary)

    def p_values(
        self, now: Sample, parts: Sequence[Sample], pair: tuple[int, int], rng: np.random.Generator
    ) -> dict[str, float]:
        """By measure, that the gap of a group and its reference is what it was; NaN if there is none.

        `parts` are the periods that make up what is now.
        """
        found = {}
        for m, random in zip(self.measures, rng.spawn(len(self.measures)), strict=True):
            smallest = min(s.smallest(pair, m.labels) for s in (now, self.before))
            found[m.id] = np.nan if smallest < 2 else self._p_value(m, now, parts, pair, smallest, random)
        return found

    def _p_value(
        self,
        m: ScoreMeasure,
        now: Sample,
        parts: Sequence[Sample],
        pair: tuple[int, int],
        smallest: float,
        rng: np.random.Generator,
    ) -> float:
        draws = len(now.draws)
        p = 1.0
        for count, random in zip(dict.fromkeys((min(FIRST, draws), draws)), rng.spawn(2), strict=False):
            streams = random.spawn(3)
            new, old = self._drawn(m, now, pair, count, streams[0], self.before), self._before(m, pair, count)
            p = curve_tail(m.order, new, old, smallest)
            if p < UNLIKELY and not m.single:  # of a single point the sign counts too
                own = self._drawn(m, now, pair, count, streams[1], now)
                p = max(p, norm_tail(m.order, own, old, smallest))
                if p < UNLIKELY:
                    p = max(p, self._within(m, parts, pair, count, smallest, own.size > old.size, streams[2]))
            if not p < UNLIKELY:  # only few of many looks get further
                break
        return p

    def _before(self, m: ScoreMeasure, pair: tuple[int, int], draws: int) -> Drawn:
        if (m.id, pair, draws) not in self._known:
            random = np.random.default_rng(0)
            self._known[m.id, pair, draws] = self._drawn(m, self.before, pair, draws, random, self.before)
        known: Drawn = self._known[m.id, pair, draws]
        return known

    def _within(
        self,
        m: ScoreMeasure,
        parts: Sequence[Sample],
        pair: tuple[int, int],
        draws: int,
        smallest: float,
        more: bool,
        rng: np.random.Generator,
    ) -> float:
        """That the measure is what it was within single periods; 0 if there is but one of each."""
        new, old = self._alone(m, parts, pair), self._alone(m, self.parts, pair)
        if len(new) <= 1 and len(old) <= 1:
            return 0.0
        before = self._each(m, old or [self.before], pair, draws, np.random.default_rng(1))
        return apart(self._each(m, new, pair, draws, rng), before, more, smallest)

    def _each(
        self, m: ScoreMeasure, parts: Sequence[Sample], pair: tuple[int, int], draws: int, rng: np.random.Generator
    ) -> list[Norm]:
        found = []
        for part, random in zip(parts, rng.spawn(len(parts)), strict=True):
            known = self._norms.setdefault(part, {})  # a period is part of many windows
            if (m.id, pair, draws) not in known:
                drawn = self._drawn(m, part, pair, draws, random, part)
                known[m.id, pair, draws] = drawn.size, drawn.moves
            found.append(known[m.id, pair, draws])
        return found

    @staticmethod
    def _alone(m: ScoreMeasure, parts: Sequence[Sample], pair: tuple[int, int]) -> list[Sample]:
        """Periods one by one, or as few together as are enough."""
        found: list[Sample] = []
        for part in parts:
            if found and found[-1].smallest(pair, m.labels) < ALONE:
                found[-1] = found[-1] + part
            else:
                found.append(part)
        if len(found) > 1 and found[-1].smallest(pair, m.labels) < ALONE:
            last = found.pop()
            found[-1] = found[-1] + last
        return found

    def _drawn(
        self,
        m: ScoreMeasure,
        sample: Sample,
        pair: tuple[int, int],
        draws: int,
        rng: np.random.Generator,
        like: Sample,
    ) -> Drawn:
        """The curve of a sample and its noise, at the points or in the bins of another sample."""
        if m.view is not None:
            return self._binned(m, sample, pair, draws, rng, like)
        grid = None if m.grid is None else m.grid(self._pair(like.population, pair), self.options)
        seen, centre, drawn = (
            m.curve(self._pair(array, pair), self.options, grid)
            for array in (sample.array, sample.population, sample.draws[:draws])
        )
        return Drawn.of(m.order, seen, centre, drawn)

    def _pair(self, array: Floats, pair: tuple[int, int]) -> ScoreCounts:
        """A group and its reference, each as large as before: how large groups are is no matter of fairness."""
        chosen = array[..., list(pair), :]
        size = chosen.sum((-3, -1), keepdims=True)
        wanted = self.before.array[:, list(pair)].sum((-3, -1), keepdims=True)
        scaled = chosen * np.divide(wanted, size, out=np.ones_like(size), where=size > 0)
        names = tuple(self.cells.groups[g] for g in pair)
        return replace(self.cells, array=scaled, groups=names, squares=None, units=None)

    def _bins(self, m: ScoreMeasure, like: Sample, pair: tuple[int, int]) -> Ints:
        counts = self._pair(like.array, pair)
        if (self.before.array.sum((1, 2)) > 0).sum() <= self.options.calibration_bins:  # a bin for every score
            return np.arange(len(counts.scores))
        return bins_of(counts, m.ranked, self.options)

    def _binned(
        self,
        m: ScoreMeasure,
        sample: Sample,
        pair: tuple[int, int],
        draws: int,
        rng: np.random.Generator,
        like: Sample,
    ) -> Drawn:
        bins = self._bins(m, like, pair)
        starts = np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]])
        weights = sample.array.sum((0, 2))
        effective = np.divide(sample.people.sum(-1), weights, out=np.ones_like(weights), where=weights > 0)
        array = np.add.reduceat((sample.array * effective[:, None])[:, list(pair)], starts, axis=0)
        counts = Counts(array, ("group", "reference"))
        rates = borrowed_rates(counts)
        centre = m.curve(with_rates(counts, rates), self.options, None)
        batches = [m.curve(b, self.options, None) for b in resampled_bins(counts, rates, draws, rng)]
        drawn = Curve(centre.at, *(np.concatenate([getattr(b, n) for b in batches]) for n in ("gap", "weight")))
        return Drawn.of(m.order, m.curve(counts, self.options, None), centre, drawn)
