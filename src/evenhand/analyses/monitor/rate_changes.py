"""Whether gaps between rates have changed: closed forms that hold far out in the tails, where an alarm has to look.

The change of a gap is a sum and difference of four rates (the group and its reference, now and before). Its interval
comes from an exact interval of each (Clopper and Pearson) by the square-and-add rule (Newcombe; Donner & Zou), and
the p-value is the level at which that interval begins to hold 0. Wilson's intervals, which are better at 95 %, are much
too short at the levels used here when a rate is near 0 or 1.

Square-and-add fails where all four rates rest on a handful of people, so a small p-value must also stand an exact test:
the two periods are permuted among the people of each group, which makes the change a difference of two hypergeometric
variables. The larger p-value counts. The former is right when both groups drift alike, the latter when people are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenhand.inference.significance import splits
from evenhand.measures.registry import Profile, RateMeasure
from evenhand.tables.arrays import Bools, Floats

FURTHEST = 12.0
"""In standard deviations: smaller p-values than there are not distinguished."""
ROUNDS = 18
NEAR = 2.3
UNLIKELY = 0.01
"""Larger p-values than this are of no consequence."""

_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])[:, None, None]
"""How the rate of the group now, of its reference now, and of both before enter the change."""

LEAST_CHANCE = 1e-16
MOST_TABLES = 1_000_000

Exact = Callable[[Floats, Floats], float]
Distance = Callable[[Floats, Bools, Bools], Floats]
"""From the tail to be left out, from which side, and for which components and groups: how far the limits of their four
rates lie from these."""


def rate_changes(
    measures: Sequence[RateMeasure], now: Sequence[Profile], before: Sequence[Profile], reference: int
) -> list[Floats]:
    """For every measure and group the p-value that the gap to the reference is what it was; NaN where there is none.

    Of several components (two rates, many bins) the one that changed most, times how many there are, and the largest
    gap of all must be another one too.
    """
    pairs = list(zip(now, before, strict=True))
    plain = [(a, b) if a.quotient is None or b.quotient is None else None for a, b in pairs]
    fours = [None if pair is None else _four(*pair, reference) for pair in plain]
    shares = np.concatenate([f[0] for f in fours if f is not None], axis=1) if any(plain) else np.zeros((4, 0, 0))
    people = np.concatenate([f[1] for f in fours if f is not None], axis=1) if any(plain) else shares
    together = iter(_p_values(shares, lambda tail, lower, at: _of_share(shares[:, at], people[:, at], tail, lower)))
    found = []
    for m, pair, four in zip(measures, pairs, fours, strict=True):
        if four is None:
            found.append(_worst(_of_quotients(*pair, reference)))
            continue
        own = np.stack([next(together) for _ in range(four[0].shape[1])])
        if m.scale == "ratio":
            found.append(_worst(_standing(_of_ratio(*four, own), four, exact=_permuted_ratios)))
        else:
            found.append(_of_largest(_worst(_standing(own, four)), *four))
    return found


def _of_largest(p: Floats, shares: Floats, people: Floats) -> Floats:
    """The p-values, those that matter no smaller than that of the largest gap of several: it is what the measure is."""
    p = p.copy()
    for g in np.flatnonzero(p < UNLIKELY) if shares.shape[1] > 1 else ():
        p[g] = max(p[g], _largest(shares[..., g], people[..., g]))
    return p


def _largest(shares: Floats, people: Floats) -> float:
    """The p-value that the largest gap of two rates is what it was: that no gap is larger than all of the others were.

    Every gap of the time with the larger ones against every gap of the other time, each without its sign.
    """
    sides = [_without_signs(shares[k : k + 2], people[k : k + 2]) for k in (0, 2)]
    more, less = sorted(sides, key=lambda side: -float((side[0][0] - side[0][1]).max()))
    shape = more[0].shape[1], less[0].shape[1]
    values, counts = (
        np.stack([*(np.broadcast_to(x[:, None], shape) for x in a), *(np.broadcast_to(x, shape) for x in b)])
        for a, b in zip(more, less, strict=True)
    )
    found = _p_values(values, lambda tail, lower, at: _of_share(values[:, at], counts[:, at], tail, lower))
    found = np.where((_SIGNS * values).sum(0) > 0, found, 1.0)
    return float(min(shape[0] * found.max(1).min(), 1.0))


def _without_signs(shares: Floats, people: Floats) -> tuple[Floats, Floats]:
    """The higher and the lower rate of every component that has both."""
    known = ~np.isnan(shares).any(0)
    shares, people = shares[:, known], people[:, known]
    order = np.argsort(-shares, axis=0, kind="stable")
    return np.take_along_axis(shares, order, 0), np.take_along_axis(people, order, 0)


def _worst(p: Floats) -> Floats:
    """The smallest p-value of components, times how many there are."""
    known = ~np.isnan(p)
    least = np.where(known, p, 1.0).min(0) * known.sum(0)
    return np.where(known.any(0), np.minimum(least, 1.0), np.nan)


def _of_ratio(shares: Floats, people: Floats, plain: Floats) -> Floats:
    # a rate of 0 is infinitely far from any other on the scale of ratios, however few people show it
    logs = np.log(np.where(shares > 0, shares, 1.0))
    ratios = _p_values(logs, lambda tail, lower, at: _of_log(shares[:, at], people[:, at], tail, lower))
    return np.where((shares > 0).all(0), ratios, plain)


def _of_quotients(now: Profile, before: Profile, reference: int) -> Floats:
    assert now.quotient is not None
    assert before.quotient is not None
    part, whole = (_four(now.quotient[i], before.quotient[i], reference) for i in (0, 1))
    values = np.divide(part[0], whole[0], out=np.full_like(part[0], np.nan), where=whole[0] > 0)

    def distance(tail: Floats, lower: Bools, at: Bools) -> Floats:
        return _of_quotient((part[0][:, at], part[1][:, at]), (whole[0][:, at], whole[1][:, at]), tail, lower)

    p = _p_values(values, distance)
    return _standing(p, part, whole)


def _standing(p: Floats, *fours: tuple[Floats, Floats], exact: Exact | None = None) -> Floats:
    """The p-values, those that matter no smaller than by permutation; of a ratio of two shares, of either of them."""
    p = p.copy()
    for place in zip(*np.nonzero(p < UNLIKELY), strict=True):
        by_permutation = min(len(fours) * (exact or _permuted)(f[0][:, *place], f[1][:, *place]) for f in fours)
        p[place] = max(p[place], min(by_permutation, 1.0))
    return p


def _permutations(shares: Floats, people: Floats, now: int, before: int) -> tuple[Floats, Floats, Floats]:
    """The rates of a group now and before when the periods of its people are permuted, and the chance of each pair."""
    n = np.maximum(np.rint(people), 1).astype(np.int64)
    k = np.rint(shares * n).astype(np.int64)
    have = int(k[now] + k[before])
    inside, log_p = splits(have, int(n[now]), int(n[now] + n[before]))
    return inside / int(n[now]), (have - inside) / int(n[before]), np.exp(log_p)


def _permuted(shares: Floats, people: Floats) -> float:
    """The chance of such a change of a difference when the periods of the people of each group are permuted."""
    (now, before, chance), (now_ref, before_ref, chance_ref) = (_permutations(shares, people, i, i + 2) for i in (0, 1))
    moves, moves_ref = now - before, now_ref - before_ref
    size = abs(float((_SIGNS[:, 0, 0] * shares).sum())) * (1 - 1e-9) - 1e-12
    upto = np.concatenate([[0.0], np.cumsum(chance_ref)])
    onward = np.concatenate([np.cumsum(chance_ref[::-1])[::-1], [0.0]])
    above = onward[np.searchsorted(moves_ref, moves + size, side="left")]
    below = upto[np.searchsorted(moves_ref, moves - size, side="right")]
    return float((chance * (above + below)).sum())


def _permuted_ratios(shares: Floats, people: Floats) -> float:
    """The same of a ratio; 0 where there are so many people that no exact test is needed."""
    groups = [[x[kept] for x in g] for g in (_permutations(shares, people, i, i + 2) for i in (0, 1))
              for kept in [g[2] > LEAST_CHANCE]]  # fmt: skip
    (now, before, chance), (now_ref, before_ref, chance_ref) = groups
    if len(now) * len(now_ref) > MOST_TABLES:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = abs(float((_SIGNS[:, 0, 0] * np.log(shares)).sum()))
        moves = np.log(now / before)[:, None] - np.log(now_ref / before_ref)
    far = ~(np.abs(moves) < seen * (1 - 1e-9) - 1e-12)  # without a value it counts as far
    return float((chance[:, None] * chance_ref * far).sum())


def _four(now: Profile, before: Profile, reference: int) -> tuple[Floats, Floats]:
    """Rates and people by axes (which of the four, component, group)."""
    assert now.trials is not None
    assert before.trials is not None

    def stacked(*sides: Floats) -> Floats:
        own = [np.asarray(x, np.float64) for x in sides]
        return np.stack([part for x in own for part in (x, np.broadcast_to(x[:, [reference]], x.shape))])

    return stacked(now.values, before.values), stacked(now.trials, before.trials)


def _p_values(values: Floats, distance: Distance) -> Floats:
    """The level at which the interval of the change begins to hold 0: by bisection, and roughly if it is not small."""
    from scipy.special import ndtr

    with np.errstate(invalid="ignore"):
        change = np.nan_to_num(np.abs((_SIGNS * values).sum(0)), posinf=0.0)
        lower = (_SIGNS * np.where((_SIGNS * values).sum(0) > 0, 1.0, -1.0)) > 0
    everywhere = np.ones(change.shape, np.bool_)
    near = np.full(change.shape, NEAR)
    reach = _reach(distance, near, lower, everywhere)
    beyond = change > reach
    p = 2 * ndtr(-NEAR * np.minimum(change / np.maximum(reach, 1e-300), 1.0))
    if beyond.any():
        z, far = near[beyond], np.full(int(beyond.sum()), FURTHEST)
        for _ in range(ROUNDS):
            middle = (z + far) / 2
            out = _reach(distance, middle, lower, beyond) < change[beyond]
            z, far = np.where(out, middle, z), np.where(out, far, middle)
        p[beyond] = 2 * ndtr(-z)
    return np.where(np.isnan(values).any(0), np.nan, np.where(change == 0, 1.0, p))


def _reach(distance: Distance, z: Floats, lower: Bools, where: Bools) -> Floats:
    """How far from 0 a change may be at a level, for the components and groups asked for."""
    from scipy.special import ndtr

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        sizes = distance(ndtr(-z.ravel() if z.ndim > 1 else -z), lower[:, where], where)
    return np.asarray(np.sqrt((sizes**2).sum(0)).reshape(z.shape))


def lower_limit(share: Floats, people: Floats, tail: Floats) -> Floats:
    """Clopper and Pearson's lower limit of a share; the upper one is that of those without it, from 1.

    >>> import numpy as np
    >>> float(lower_limit(np.array(0.3), np.array(50.0), np.array(0.025)).round(4))
    0.1786
    """
    from scipy.special import betaincinv

    having = np.clip(share, 0.0, 1.0) * people
    found = betaincinv(np.maximum(having, 1e-9), people - having + 1, tail)
    return np.asarray(np.where(having > 1e-9, found, 0.0), np.float64)


def _limit(share: Floats, people: Floats, tail: Floats, lower: Bools) -> Floats:
    found = lower_limit(np.where(lower, share, 1 - share), people, tail)
    return np.where(lower, found, 1 - found)


def _of_share(share: Floats, people: Floats, tail: Floats, lower: Bools) -> Floats:
    return np.asarray(np.abs(share - _limit(share, people, tail, lower)))


def _of_log(share: Floats, people: Floats, tail: Floats, lower: Bools) -> Floats:
    return np.asarray(np.abs(np.log(share) - np.log(_limit(share, people, tail, lower))))


def _of_quotient(part: tuple[Floats, Floats], whole: tuple[Floats, Floats], tail: Floats, lower: Bools) -> Floats:
    """Of a ratio of two independent shares: square-and-add of logarithms."""
    ratio = part[0] / whole[0]
    spread = np.hypot(_of_log(*part, tail, lower), _of_log(*whole, tail, ~lower))
    factor = np.exp(np.where(lower, -spread, spread))
    edge = np.where(lower, 0.0, _limit(*part, tail, lower) / _limit(*whole, tail, ~lower))
    return np.asarray(np.abs(ratio - np.where(part[0] > 0, ratio * factor, edge)))
