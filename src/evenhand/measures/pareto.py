"""Performance against fairness: which models nothing dominates, how far from ideal they are, what a front is worth.

Points lie along the last axis and leading axes pass through, so what is written for one front works on a thousand
resampled ones. NaN stands for no point. Of both coordinates, higher is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tables.arrays import Bools, Floats, Ints

Point = tuple[float, float]
By = Literal["dto", "performance", "fairness"]

UTOPIA: Point = (1.0, 1.0)
PLAIN: Point = (1.0, 1.0)
"""Scales that change nothing."""
SAME = 1e-12
"""Curves no further apart than this are at one height."""
NOTHING = -1e300
DIGITS = 12
"""To so many digits points are compared."""
SLACK = 1e-9
"""A floor missed by no more than this is met: 0.55 + 0.05 is more than 0.6, and 1 − 0.9 less than 0.1."""
STEP = 1e-6
"""How far points are moved to see what an area does."""


def pareto(performance: ArrayLike, fairness: ArrayLike) -> Bools:
    """Which points no other dominates, by being at least as good in both coordinates and better in one.

    Points that are equal in both coordinates do not dominate each other.

    >>> pareto([0.9, 0.8, 0.8, 0.7, 0.9], [0.5, 0.6, 0.7, 0.7, 0.5]).tolist()
    [True, False, True, False, True]
    """
    p, f = _points(performance, fairness)
    # a point that is better in its last digits only is no better, and one that is worse in them is no better either
    return _front(p, f) & _front(np.round(p, DIGITS), np.round(f, DIGITS))


def _front(p: Floats, f: Floats) -> Bools:
    order = _ordered(-p, -f)
    on = _undominated(np.take_along_axis(p, order, -1), np.take_along_axis(f, order, -1))
    found = np.empty(p.shape, np.bool_)
    np.put_along_axis(found, order, on, -1)
    return found


def _undominated(p: Floats, f: Floats) -> Bools:
    """The same of points in order: by falling performance, then by falling fairness, NaN last."""
    fairest = np.maximum.accumulate(np.where(np.isnan(f), -np.inf, f), -1)
    new = np.ones(p.shape, np.bool_)
    new[..., 1:] = f[..., 1:] > fairest[..., :-1]
    new &= ~np.isnan(f)
    setter = np.maximum.accumulate(np.where(new, np.arange(p.shape[-1]), 0), -1)
    return np.asarray(new | ((f == fairest) & (p == np.take_along_axis(p, setter, -1))))


def dto(performance: ArrayLike, fairness: ArrayLike, utopia: Point = UTOPIA, scale: Point = PLAIN) -> Floats:
    """Distance to the optimum: Euclidean, to the utopia point, after each axis is divided by its scale.

    >>> dto([0.4, 1.0], [0.2, 1.0]).tolist()
    [1.0, 0.0]
    """
    a, b = _away(*_points(performance, fairness), utopia, scale)
    return np.sqrt(a * a + b * b)


def select(
    performance: ArrayLike,
    fairness: ArrayLike,
    by: By = "dto",
    *,
    performance_floor: float = -np.inf,
    fairness_floor: float = -np.inf,
    among: Bools | None = None,
    utopia: Point = UTOPIA,
    scale: Point = PLAIN,
) -> Ints:
    """The place of the best point that meets both floors and is among those allowed; −1 where there is none.

    A floor is met by what falls short of it by rounding alone (1e-9). Ties go to the higher performance, then to the
    higher fairness, then to the first.

    >>> p, f = [0.9, 0.8, 0.6], [0.5, 0.7, 0.9]
    >>> [int(select(p, f, by)) for by in ("dto", "performance", "fairness")]
    [1, 0, 2]
    >>> int(select(p, f, "performance", fairness_floor=0.6)), int(select(p, f, "performance", fairness_floor=0.95))
    (1, -1)
    """
    p, f = _points(performance, fairness)
    left = ~np.isnan(p) & (p >= performance_floor - SLACK) & (f >= fairness_floor - SLACK)
    if among is not None:
        left &= among
    keys = {"dto": (-dto(p, f, utopia, scale), p, f), "performance": (p, f), "fairness": (f, p)}[by]
    some = left.any(-1)
    for key in keys:
        highest = np.where(left, key, -np.inf).max(-1, keepdims=True, initial=-np.inf)
        left &= key == highest
    return np.where(some, left.argmax(-1) if p.shape[-1] else 0, -1)


# ---- curves and their areas --------------------------------------------------------------------------------


class Curve(NamedTuple):
    """Points by rising performance, at equal performance by falling fairness; straight lines join them, NaN is last."""

    performance: Floats
    fairness: Floats


def curve(performance: ArrayLike, fairness: ArrayLike, start: Point | None = None) -> Curve:
    """The curve through points, and through `start`: the performance of a random guess, at fairness 1.

    >>> [side.tolist() for side in curve([0.9, 0.6], [0.5, 0.8], start=(0.3, 1.0))]
    [[0.3, 0.6, 0.9], [1.0, 0.8, 0.5]]
    """
    p, f = _points(performance, fairness)
    if start is not None:
        one = np.ones((*p.shape[:-1], 1))
        p, f = np.concatenate([p, start[0] * one], -1), np.concatenate([f, start[1] * one], -1)
    order = _ordered(p, -f)
    return Curve(np.take_along_axis(p, order, -1), np.take_along_axis(f, order, -1))


def area(line: Curve) -> Floats:
    """AUC-PFC: the area under the curve, fairness over performance.

    >>> round(float(area(curve([0.5, 0.8], [0.9, 0.6], start=(0.3, 1.0)))), 3)
    0.415
    """
    p, f = line
    return np.asarray(np.nansum(np.diff(p) * (f[..., 1:] + f[..., :-1]) / 2, -1))


def polar_area(line: Curve, utopia: Point = UTOPIA) -> Floats:
    """The area between the curve and the utopia point: half the integral of squared DTO over the angle.

    It is what `area` leaves of the rectangle between the ends of the curve and under utopia, plus the triangle between
    the last point and utopia (minus that of the first point, which has none at fairness 1).

    >>> round(float(polar_area(curve([0.5, 0.8], [0.9, 0.6], start=(0.3, 1.0)))), 3)  # 0.5 − 0.415 + 0.2 × 0.4 / 2
    0.125
    """
    a, b = _away(*line, utopia, PLAIN)
    return np.asarray(np.nansum(a[..., :-1] * b[..., 1:] - a[..., 1:] * b[..., :-1], -1) / 2)


def partial_area(
    line: Curve,
    *,
    performance_from: float = -np.inf,
    fairness_from: float = -np.inf,
    dto_to: float = np.inf,
    utopia: Point = UTOPIA,
    scale: Point = PLAIN,
) -> Floats:
    """The area under those stretches of the curve that meet every condition; they end exactly where it is met.

    >>> line = curve([0.5, 0.8], [0.9, 0.6], start=(0.3, 1.0))
    >>> parts = {"performance_from": 0.6}, {"fairness_from": 0.9}, {"dto_to": 0.5}
    >>> [round(float(partial_area(line, **part)), 3) for part in parts]  # the last from (0.513, 0.887) on
    [0.14, 0.19, 0.213]
    """
    p, f = line
    starts, ends = (p[..., :-1], f[..., :-1]), (p[..., 1:], f[..., 1:])
    parts = [
        _above(starts[0], ends[0], performance_from),
        _above(starts[1], ends[1], fairness_from),
        _within(_away(*starts, utopia, scale), _away(*ends, utopia, scale), dto_to),
    ]
    enter = np.maximum.reduce([part[0] for part in parts])
    leave = np.minimum.reduce([part[1] for part in parts])
    span, rise = np.maximum(leave - enter, 0.0), ends[1] - starts[1]
    height = starts[1] + rise * (enter + leave) / 2
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(np.where(span > 0, span * np.diff(p) * height, 0.0), -1))


def slopes(line: Curve, size: Callable[[Curve], Floats] = area) -> Floats:
    """By how much an area grows with the performance and the fairness of each point: axes (coordinate, point).

    >>> slopes(curve([0.5, 0.8], [0.9, 0.6], start=(0.3, 1.0))).round(3).tolist()
    [[-0.95, 0.2, 0.75], [0.1, 0.25, 0.15]]
    """
    # a point shapes the two pieces beside it and no others, so three points tell
    near = np.lib.stride_tricks.sliding_window_view(
        np.pad(np.stack(line), ((0, 0), (1, 1)), constant_values=np.nan), 3, 1
    )
    found = np.empty((2, len(line.performance)))
    for axis in (0, 1):
        up, down = near.copy(), near.copy()
        up[axis, :, 1] += STEP
        down[axis, :, 1] -= STEP
        found[axis] = (size(Curve(up[0], up[1])) - size(Curve(down[0], down[1]))) / (2 * STEP)
    return found


def _points(performance: ArrayLike, fairness: ArrayLike) -> tuple[Floats, Floats]:
    """Both coordinates, or neither."""
    p, f = np.broadcast_arrays(np.asarray(performance, np.float64), np.asarray(fairness, np.float64))
    none = np.isnan(p) | np.isnan(f)
    if none.any():
        p, f = np.where(none, np.nan, p), np.where(none, np.nan, f)
    return p, f


def _ordered(first: Floats, then: Floats) -> Ints:
    """The order by one coordinate, and where that is equal by the other; NaN last."""
    order = np.argsort(first, axis=-1)
    sorted_ = np.take_along_axis(first, order, -1)
    if (sorted_[..., 1:] == sorted_[..., :-1]).any():  # rare, and sorting by both takes five times as long
        order = np.lexsort((then, first), axis=-1)
    return order


def _away(p: Floats, f: Floats, utopia: Point, scale: Point) -> tuple[Floats, Floats]:
    return (utopia[0] - p) / scale[0], (utopia[1] - f) / scale[1]


def _above(v0: Floats, v1: Floats, floor: float) -> tuple[Floats, Floats]:
    """From where to where, in shares of the way from v0 to v1, a value is at least the floor."""
    rise = v1 - v0
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = (floor - v0) / rise
    enter = np.where(rise > 0, np.maximum(cross, 0.0), 0.0)
    leave = np.where(rise < 0, np.minimum(cross, 1.0), 1.0)
    return np.where((rise == 0) & (v0 < floor), 1.0, enter), leave


def _within(start: tuple[Floats, Floats], end: tuple[Floats, Floats], most: float) -> tuple[Floats, Floats]:
    """From where to where, in shares of the way, a point is no further than `most` from the origin."""
    (a, b), (da, db) = start, (end[0] - start[0], end[1] - start[1])
    if not np.isfinite(most):
        return np.zeros(a.shape), np.ones(a.shape)
    square = da * da + db * db
    half = a * da + b * db
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(half * half - square * (a * a + b * b - most * most))
        enter, leave = np.maximum((-half - root) / square, 0.0), np.minimum((-half + root) / square, 1.0)
    missed = np.isnan(enter) | np.isnan(leave)
    return np.where(missed, 1.0, enter), np.where(missed, 0.0, leave)


# ---- whose curve is highest ---------------------------------------------------------------------------------


class Stretch(NamedTuple):
    """Over these performances, the curves with these numbers are the highest."""

    start: float
    end: float
    highest: tuple[int, ...]


class _Envelope(NamedTuple):
    """Straight pieces by rising performance, none over another; `owner` says whose each is."""

    x0: Floats
    x1: Floats
    y0: Floats
    y1: Floats
    owner: Ints


def winners(curves: Sequence[Curve]) -> list[Stretch]:
    """Over which performances which curve is highest; where curves run together, all of them.

    >>> a, b = curve([0.2, 0.8], [0.9, 0.3]), curve([0.2, 0.6], [0.7, 0.7])
    >>> [(round(s.start, 3), round(s.end, 3), s.highest) for s in winners([a, b])]
    [(0.2, 0.4, (0,)), (0.4, 0.6, (1,)), (0.6, 0.8, (0,))]
    """
    owners: list[tuple[int, ...]] = [(i,) for i in range(len(curves))]
    layers = [_pieces(line, i) for i, line in enumerate(curves)]
    while len(layers) > 1:
        pairs = [layers[i : i + 2] for i in range(0, len(layers), 2)]
        layers = [_higher(pair[0], pair[1], owners) if len(pair) == 2 else pair[0] for pair in pairs]
    return _stretches(layers[0], owners) if layers else []


def _pieces(line: Curve, owner: int) -> _Envelope:
    x, y = line
    wide = np.diff(x) > 0
    x0 = x[:-1][wide]
    return _Envelope(x0, x[1:][wide], y[:-1][wide], y[1:][wide], np.full(len(x0), owner, np.int64))


def _higher(a: _Envelope, b: _Envelope, owners: list[tuple[int, ...]]) -> _Envelope:
    """The higher of two envelopes; `owners` grows by those that share a piece."""
    cuts = np.unique(np.concatenate([a.x0, a.x1, b.x0, b.x1]))
    cuts = np.union1d(cuts, _crossings(a, b, cuts))
    (a0, a1, own_a), (b0, b1, own_b) = _over(a, cuts), _over(b, cuts)
    of_a = a0 + a1 >= b0 + b1
    owner = np.where(of_a, own_a, own_b)
    both = (own_a >= 0) & (own_b >= 0)
    together = np.flatnonzero(both & _same(a0, b0) & _same(a1, b1))
    for i, j in sorted(set(zip(own_a[together].tolist(), own_b[together].tolist(), strict=True))):
        owner[together[(own_a[together] == i) & (own_b[together] == j)]] = len(owners)
        owners.append(tuple(sorted({*owners[i], *owners[j]})))
    y0, y1, some = np.where(of_a, a0, b0), np.where(of_a, a1, b1), owner >= 0
    return _Envelope(cuts[:-1][some], cuts[1:][some], y0[some], y1[some], owner[some])


def _crossings(a: _Envelope, b: _Envelope, cuts: Floats) -> Floats:
    (a0, a1, own_a), (b0, b1, own_b) = _over(a, cuts), _over(b, cuts)
    both = (own_a >= 0) & (own_b >= 0)
    d0, d1 = (a0 - b0)[both], (a1 - b1)[both]
    cross = (np.minimum(d0, d1) < -SAME) & (np.maximum(d0, d1) > SAME)
    return np.asarray((cuts[:-1][both] + d0 / np.where(cross, d0 - d1, 1.0) * np.diff(cuts)[both])[cross])


def _same(a: Floats, b: Floats) -> Bools:
    return np.asarray(np.abs(a - b) <= SAME)


def _over(of: _Envelope, cuts: Floats) -> tuple[Floats, Floats, Ints]:
    """Heights at both ends of each interval between cuts, and the owner; below everything where there is none (−1)."""
    x0, x1 = cuts[:-1], cuts[1:]
    if not len(of.x0):
        return np.full(len(x0), NOTHING), np.full(len(x0), NOTHING), np.full(len(x0), -1)
    i = np.maximum(np.searchsorted(of.x0, x0, side="right") - 1, 0)
    there = (of.x0[i] <= x0) & (x1 <= of.x1[i])
    slope = (of.y1[i] - of.y0[i]) / (of.x1[i] - of.x0[i])
    y0 = of.y0[i] + slope * (x0 - of.x0[i])
    y1 = np.where(x1 == of.x1[i], of.y1[i], of.y0[i] + slope * (x1 - of.x0[i]))
    return np.where(there, y0, NOTHING), np.where(there, y1, NOTHING), np.where(there, of.owner[i], -1)


def _stretches(of: _Envelope, owners: list[tuple[int, ...]]) -> list[Stretch]:
    found: list[Stretch] = []
    for start, end, owner in zip(of.x0.tolist(), of.x1.tolist(), of.owner.tolist(), strict=True):
        adjoins = found and start - found[-1].end <= SAME
        if adjoins and (found[-1].highest == owners[owner] or end - start <= SAME):
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(Stretch(start, end, owners[owner]))
    return found
