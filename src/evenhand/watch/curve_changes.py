"""Whether gaps over whole scores have changed: the curve of gaps now against the curve before.

Two things are tested, and the larger p-value counts. First that the curve of gaps is what it was: T is the norm of its
change. Second that the measure, the norm of the curve, is what it was: when the scores of everybody rise, the curve
moves along the scores but the measure does not change. Noise makes a norm larger, the more so the fewer people there
are; but by the triangle inequality by no more than the norm of the noise, and it makes a norm smaller by no more than
one weighting of the noise. So the rise of a norm is compared with the norm of the noise of the larger curve and a
weighting of the noise of the smaller one.

Resamples of both samples tell what noise does. A p-value of one in a million would take many million resamples, so
their tail is continued by a theorem: the norm of Gaussian noise exceeds its 90th percentile by t with no larger chance
than that of a standard normal to exceed 1.28 + t/σ, where σ is the largest standard deviation of any weighting of the
curve that the norm allows (the isoperimetric inequality of Borell, Tsirelson, Ibragimov and Sudakov). Student's tail
instead of the normal one allows for few people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenhand.cells import Floats, Ints
from evenhand.distances import borrowed_rates, one_of_everybody, resampled_bins
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.measures import ScoreMeasure, ScoreOptions
from evenhand.measures.calibration import bins_of
from evenhand.measures.curve import Curve, norm
from evenhand.scores import ScoreCounts
from evenhand.table import Counts

FIRST = 19
"""So many resamples show whether it is worth to look at all of them."""
UNLIKELY = 0.01
QUANTILE = 0.9
ROUNDS = 4
STARTS = 4


@dataclass(frozen=True)
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
    _known: dict[Any, Any] = field(default_factory=dict)

    def p_values(self, now: Sample, pair: tuple[int, int], rng: np.random.Generator) -> dict[str, float]:
        """By measure, that the curve of a group and its reference is what it was; NaN if there is none."""
        found = {}
        for m, random in zip(self.measures, rng.spawn(len(self.measures)), strict=True):
            smallest = min(s.smallest(pair, m.labels) for s in (now, self.before))
            found[m.id] = np.nan if smallest < 2 else self._p_value(m, now, pair, smallest, random)
        return found

    def _p_value(
        self, m: ScoreMeasure, now: Sample, pair: tuple[int, int], smallest: float, rng: np.random.Generator
    ) -> float:
        draws = len(now.draws)
        p = 1.0
        for count, random in zip(dict.fromkeys((min(FIRST, draws), draws)), rng.spawn(2), strict=False):
            new, old = (self._whole if m.view is None else self._binned)(m, now, pair, count, random)
            p = tail(*_weighed(m.order, new, old), m.order, smallest)
            if p < UNLIKELY and not m.single:  # of a single point the sign counts too
                p = max(p, risen(m.order, new, old, smallest))
            if not p < UNLIKELY:  # only few of many looks get further
                break
        return p

    def _whole(
        self, m: ScoreMeasure, now: Sample, pair: tuple[int, int], draws: int, _: np.random.Generator
    ) -> tuple[Drawn, Drawn]:
        """The curve now and before."""
        if (m.id, pair) not in self._known:
            grid = None if m.grid is None else m.grid(self._pair(self.before.population, pair), self.options)
            self._known[m.id, pair] = grid, self._drawn(m, self.before, pair, grid, len(self.before.draws))
        grid, old = self._known[m.id, pair]
        return self._drawn(m, now, pair, grid, draws), old.first(draws)

    def _drawn(self, m: ScoreMeasure, sample: Sample, pair: Any, grid: Curve | None, draws: int) -> Drawn:
        seen, centre, drawn = (
            self._curve(m, array, pair, grid) for array in (sample.array, sample.population, sample.draws[:draws])
        )
        return Drawn.of(m.order, seen, centre, drawn)

    def _curve(self, m: ScoreMeasure, array: Floats, pair: tuple[int, int], grid: Curve | None) -> Curve:
        return m.curve(self._pair(array, pair), self.options, grid)

    def _pair(self, array: Floats, pair: tuple[int, int]) -> ScoreCounts:
        """A group and its reference, each as large as before: how large groups are is no matter of fairness."""
        chosen = array[..., list(pair), :]
        size = chosen.sum((-3, -1), keepdims=True)
        wanted = self.before.array[:, list(pair)].sum((-3, -1), keepdims=True)
        scaled = chosen * np.divide(wanted, size, out=np.ones_like(size), where=size > 0)
        names = tuple(self.cells.groups[g] for g in pair)
        return replace(self.cells, array=scaled, groups=names, squares=None, units=None)

    def _binned(
        self, m: ScoreMeasure, now: Sample, pair: tuple[int, int], draws: int, rng: np.random.Generator
    ) -> tuple[Drawn, Drawn]:
        """The same for calibration, in the bins of the baseline."""
        if (m.id, pair) not in self._known:
            few = (self.before.array.sum((1, 2)) > 0).sum() <= self.options.calibration_bins  # a bin for every score
            counts = self._pair(self.before.array, pair)
            bins = np.arange(len(counts.scores)) if few else bins_of(counts, m.ranked, self.options)
            before = self._bins(m, self.before, pair, bins, len(self.before.draws), np.random.default_rng(0))
            self._known[m.id, pair] = bins, before
        bins, old = self._known[m.id, pair]
        return self._bins(m, now, pair, bins, draws, rng), old.first(draws)

    def _bins(
        self, m: ScoreMeasure, sample: Sample, pair: tuple[int, int], bins: Ints, draws: int, rng: np.random.Generator
    ) -> Drawn:
        starts = np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]])
        weights = sample.array.sum((0, 2))
        effective = np.divide(sample.people.sum(-1), weights, out=np.ones_like(weights), where=weights > 0)
        array = np.add.reduceat((sample.array * effective[:, None])[:, list(pair)], starts, axis=0)
        counts = Counts(array, ("group", "reference"))
        rates, people = borrowed_rates(counts), array.sum(-1)
        expected = np.stack([people * (1 - rates), people * rates], axis=-1)
        centre = m.curve(Counts(expected, counts.groups), self.options, None)
        batches = [m.curve(b, self.options, None) for b in resampled_bins(counts, rates, draws, rng)]
        drawn = Curve(centre.at, *(np.concatenate([getattr(b, n) for b in batches]) for n in ("gap", "weight")))
        return Drawn.of(m.order, m.curve(counts, self.options, None), centre, drawn)


@dataclass(frozen=True)
class Drawn:
    """A curve of gaps, and what noise does to it and to its norm."""

    curve: Curve
    noise: Floats
    """Of the gaps, axes (draw, point)."""
    moves: Floats
    """Of the norm, by draw."""

    @staticmethod
    def of(order: float, seen: Curve, centre: Curve, drawn: Curve) -> Drawn:
        moves = _norm(_points(order, drawn), order) - _norm(_points(order, centre), order)
        return Drawn(seen, np.asarray(drawn.gap - centre.gap), np.asarray(moves))

    def first(self, draws: int) -> Drawn:
        return Drawn(self.curve, self.noise[:draws], self.moves[:draws])

    def own_noise(self, order: float) -> Floats:
        return np.nan_to_num(self.noise * _factor(order, self.curve.weight))


def _factor(order: float, weight: Floats) -> Floats:
    """What a point of a curve is multiplied by, so that its norm has no more weights."""
    return np.asarray((weight > 0) * 1.0 if order == np.inf else np.maximum(weight, 0.0) ** (1 / order))


def _points(order: float, curve: Curve) -> Floats:
    return np.nan_to_num(curve.gap * _factor(order, curve.weight))


def _weighed(order: float, new: Drawn, old: Drawn) -> tuple[Floats, Floats]:
    """The change of the curve, and what changes by chance: points that weigh something, times their weight."""
    weights = new.curve.weight, old.curve.weight
    factor = _factor(order, np.where((weights[0] > 0) & (weights[1] > 0), (weights[0] + weights[1]) / 2, 0.0))
    change, noise = new.curve.gap - old.curve.gap, new.noise - old.noise
    return np.nan_to_num(change * factor), np.nan_to_num(noise * factor)


def risen(order: float, new: Drawn, old: Drawn, people: float) -> float:
    """The chance that two curves of one norm seem to have norms as different as these, at most."""
    points = [_points(order, d.curve) for d in (new, old)]
    sizes = [float(_norm(p, order)) for p in points]
    high, low = (new, old) if sizes[0] > sizes[1] else (old, new)
    noises = high.own_noise(order), low.own_noise(order)
    fall = (noises[1] * _dual(points[1 if high is new else 0], order)).sum(-1)
    draws = np.maximum(_norm(noises[0], order), high.moves) + np.maximum(fall, -low.moves)

    def spread() -> float:
        own = (max(largest_spread(n, p, order), float(d.moves.std())) for n, p, d in
               zip(noises, points if high is new else points[::-1], (high, low), strict=True))  # fmt: skip
        return float(np.sqrt(sum(o**2 for o in own)))

    return min(2 * beyond(abs(sizes[0] - sizes[1]), draws, spread, people), 1.0)


def tail(change: Floats, noise: Floats, order: float, people: float) -> float:
    """The chance that noise like that of the rows has a norm as large as that of the change, at most.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(999, 1))
    >>> [float(f"{tail(np.array([t]), noise, 1.0, 1e6):.1g}") for t in (0.0, 5.0)]  # the truth: 1 and 6e-07
    [1.0, 8e-07]
    """
    return beyond(
        float(_norm(change, order)), _norm(noise, order), lambda: largest_spread(noise, change, order), people
    )


def beyond(size: float, draws: Floats, spread: Callable[[], float], people: float) -> float:
    """The chance of at least such a size, from draws and, beyond most of them, from the spread of the noise."""
    from scipy.special import ndtri, stdtr

    if size < 1e-12:
        return 1.0
    wider = float(np.sqrt(people / (people - 1)))
    sizes = np.sort(draws) * wider
    place = min(int(np.ceil(QUANTILE * (len(sizes) + 1) - 1e-9)), len(sizes)) - 1
    if size <= sizes[place]:
        return float((1 + (sizes >= size).sum()) / (1 + len(sizes)))
    most = spread() * wider
    if most < 1e-12:
        return 1.0  # resamples cannot tell
    return float(stdtr(people - 1, -(ndtri(QUANTILE) + (size - sizes[place]) / most)))


def _norm(points: Floats, order: float) -> Floats:
    return norm(points, np.ones(points.shape[-1]), order)


def largest_spread(noise: Floats, change: Floats, order: float) -> float:
    """The largest standard deviation of a weighting of the points whose dual norm is at most 1.

    By the power method: from a weighting to the one that its covariances with all points call for.
    """
    most = 0.0
    wildest = noise[np.argsort(-_norm(noise, order), kind="stable")[:STARTS]]  # the method may end on a lower hill
    for start in (change, np.ones_like(change), *wildest):
        weighting = _dual(start, order)
        for _ in range(ROUNDS):
            own = (noise * weighting).sum(-1)
            most = max(most, float(np.sqrt((own**2).mean())))
            weighting = _dual((noise * own[:, None]).sum(0), order)
    return most


def _dual(direction: Floats, order: float) -> Floats:
    """The weighting of dual norm 1 that makes the most of a direction."""
    size = np.abs(direction)
    if order == np.inf:
        return np.asarray(np.sign(direction) * (np.arange(len(size)) == size.argmax()))
    whole = _norm(direction, order)
    return np.asarray(np.sign(direction) * (size / whole) ** (order - 1) if whole > 0 else direction)
