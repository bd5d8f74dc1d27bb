"""What noise does to a curve of gaps and to its norm, and how far out in the tail of that a change lies.

Noise makes a norm larger, the more so the fewer people there are; but by the triangle inequality by no more than the
norm of the noise, and it makes a norm smaller by no more than one weighting of the noise. So the rise of a norm is
compared with the norm of the noise of the larger curve and a weighting of the noise of the smaller one.

Resamples tell what noise does. A p-value of one in a million would take many million resamples, so their tail is
continued by a theorem: the norm of Gaussian noise exceeds its 90th percentile by t with no larger chance than that of a
standard normal to exceed 1.28 + t/σ, where σ is the largest standard deviation of any weighting of the curve that the
norm allows (the isoperimetric inequality of Borell, Tsirelson, Ibragimov and Sudakov). Student's tail instead of the
normal one allows for few people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.measures.curve import Curve, norm
from evenhand.tables.arrays import Floats

Norm = tuple[float, Floats]
"""The norm of a curve, and by how much it moves in resamples."""
QUANTILE = 0.9
ROUNDS = 4
STARTS = 4


@dataclass(frozen=True)
class Drawn:
    """A curve of gaps, and what noise does to it and to its norm."""

    order: float
    """p of the norm."""
    curve: Curve
    noise: Floats
    """Of the gaps, axes (draw, point)."""
    moves: Floats
    """Of the norm, by draw."""

    @staticmethod
    def of(order: float, seen: Curve, centre: Curve, drawn: Curve) -> Drawn:
        moves = _norm(_points(order, drawn), order) - _norm(_points(order, centre), order)
        return Drawn(order, seen, np.asarray(drawn.gap - centre.gap), np.asarray(moves))

    @cached_property
    def size(self) -> float:
        """The norm of the curve."""
        return float(_norm(self.points, self.order))

    @cached_property
    def points(self) -> Floats:
        """The curve, so that its norm needs no weights."""
        return _points(self.order, self.curve)

    @cached_property
    def own_noise(self) -> Floats:
        """The noise, weighed like the curve."""
        return np.nan_to_num(self.noise * _factor(self.order, self.curve.weight))

    @cached_property
    def spread(self) -> float:
        """The largest standard deviation that its noise can give to a norm."""
        return max(largest_spread(self.own_noise, self.points, self.order), float(self.moves.std()))


def _factor(order: float, weight: Floats) -> Floats:
    """What a point of a curve is multiplied by, so that its norm has no more weights."""
    return np.asarray((weight > 0) * 1.0 if order == np.inf else np.maximum(weight, 0.0) ** (1 / order))


def _points(order: float, curve: Curve) -> Floats:
    return np.nan_to_num(curve.gap * _factor(order, curve.weight))


def curve_tail(order: float, new: Drawn, old: Drawn, people: float) -> float:
    """The chance that two samples of one curve differ as much as these, at most. Both must have the same points."""
    weights = new.curve.weight, old.curve.weight
    factor = _factor(order, np.where((weights[0] > 0) & (weights[1] > 0), (weights[0] + weights[1]) / 2, 0.0))
    change, noise = new.curve.gap - old.curve.gap, new.noise - old.noise
    return tail(np.nan_to_num(change * factor), np.nan_to_num(noise * factor), order, people)


def norm_tail(order: float, new: Drawn, old: Drawn, people: float) -> float:
    """The chance that curves of one norm seem to have norms as different as these, at most."""
    high, low = (new, old) if new.size > old.size else (old, new)
    rise = np.maximum(_norm(high.own_noise, order), high.moves)
    fall = np.maximum((low.own_noise * _dual(low.points, order)).sum(-1), -low.moves)
    p = beyond(high.size - low.size, rise + fall, lambda: float(np.sqrt(high.spread**2 + low.spread**2)), people)
    return min(2 * p, 1.0)


def apart(new: Sequence[Norm], old: Sequence[Norm], more: bool, people: float) -> float:
    """The chance that the mean norm of some curves is so much more (or less) than that of others.

    What noise adds to each norm is taken off, as far as resamples know it.
    """
    (size, moves), (old_size, old_moves) = (_mean(curves) for curves in (new, old))
    change = (size - old_size) * (1 if more else -1)
    noise = moves - old_moves
    return min(2 * beyond(change, noise, lambda: float(noise.std()), people), 1.0)


def _mean(norms: Sequence[Norm]) -> tuple[float, Floats]:
    centred = [moves - moves.mean() for _, moves in norms]
    return float(np.mean([size - moves.mean() for size, moves in norms])), np.asarray(np.mean(centred, axis=0))


def tail(change: Floats, noise: Floats, order: float, people: float) -> float:
    """The chance that noise like that of the rows has a norm as large as that of the change, at most.

    >>> import numpy as np
    >>> noise = np.random.default_rng(0).normal(size=(999, 1))
    >>> [float(f"{tail(np.array([t]), noise, 1.0, 1e6):.1g}") for t in (0.0, 5.0)]  # the truth: 1 and 6e-07
    [1.0, 8e-07]
    """
    sizes = _norm(noise, order)
    return beyond(float(_norm(change, order)), sizes, lambda: largest_spread(noise, change, order), people)


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
