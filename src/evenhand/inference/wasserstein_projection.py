"""How far people must move until a criterion holds: the Wasserstein projection of Taskesen et al. 2021, on arrays.

A person with logit z moves by u along the coefficients at the cost (u/‖β‖)². For a multiplier γ each person minimises
that cost + γλσ(z + u), with λ = 1/p̂ for the group and −1/p̂ for its reference: `cheapest_move` says where that leads.
What is searched here is the γ at which the gap of means is closed.

‖β‖ enters through c = |γ|‖β‖²/p̂ only: moves in logits, and p-values, do not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.errors import DataError
from evenhand.inference.cheapest_move import descend, slope_of
from evenhand.tables.arrays import Bools, Floats, Ints

MANY = 50_000
BINS = 4096
ROUNDING = 1e-13
"""A relative gap of means no larger than this is none: sums of many numbers are not more exact."""
SAME = 1e-5
"""Two places of a person no further apart than this are one: their middle is off by 1e-12 at most."""


@dataclass(frozen=True)
class Projection:
    """What it takes to make the means of two groups equal, or to bring their gap within a margin."""

    gamma: float
    theta: float
    statistic: float
    """N·R: the squared distances of all people moved, added up."""
    border: float
    """The same to the nearer border of the margin, from within too: there the gap is as large as the margin allows."""
    error: float
    """Standard error of the gap of means, were it at the border."""
    means: tuple[float, float]
    """Mean score of the group and of its reference."""
    wald: float
    """The squared difference of these means over its estimated variance; 0 if both are 0."""
    cell: Ints
    """The cells moved. A cell of which a part goes to one place and the rest to another stands twice."""
    n: Floats
    """How many of its people go there."""
    shifted: Floats
    """To which logit."""
    k: Floats


def project(
    z: Floats,
    n: Floats,
    group: Bools,
    people: float,
    beta_norm: float,
    squares: Floats | None = None,
    margin: float = 0.0,
    bounded: bool = False,
) -> Projection:
    """Project cells of n people with logits z, in the group or its reference, until their means differ by the margin.

    `people` are all people, also those who are not compared. Of survey weights, `n` are those of each cell, scaled so
    that everybody's add up to `people`, and `squares` the sums of their squares: by these the means vary. A logit may
    be infinite (a score of 0 or 1): at this limit a score no longer responds, so that these people stay. `bounded` is
    for few people, who do not show their variance: at the margin it is then the largest that scores can have.

    >>> import numpy as np
    >>> p = project(np.array([1.0, -1.0]), np.ones(2), np.array([True, False]), 2, 1.0)
    >>> np.abs(p.shifted).round(9).tolist(), round(p.statistic, 9), round(p.gamma, 9)
    ([0.0, 0.0], 2.0, 4.0)
    """
    sides = [_Side.of(z, n, n if squares is None else squares, which, people) for which in (group, ~group)]
    order: Any = np.concatenate([s.cell for s in sides])
    still = Projection(0.0, 0.0, 0.0, 0.0, 0.0, (0.0, 0.0), 0.0, order, n[order], z[order], np.zeros(len(z)))
    pooled = sum(s.p * s.mean(s.t) for s in sides) / sum(s.p for s in sides)
    if z.min() == z.max():
        return replace(still, means=(pooled, pooled))
    # Near 1, what is missing to 1 has more digits than the score.
    values = [_value(s.t, pooled > 0.5) for s in sides]
    means = [_sum(s.w, v) for s, v in zip(sides, values, strict=True)]
    gap = means[0] - means[1]
    target = math.copysign(margin, gap)
    borders = (means[1] + target, means[0] - target)  # of each group, with the gap at the border
    about = [_sum(s.w2, (v - m) ** 2) for s, v, m in zip(sides, values, borders, strict=True)]
    if bounded:
        about = [max(v, s.at_most(o.mean(o.t), margin)) for v, s, o in zip(about, sides, sides[::-1], strict=True)]
    variance = [_sum(s.w2, (v - m) ** 2) for s, v, m in zip(sides, values, means, strict=True)]
    steep = sum(_sum(s.w, slope_of(s.t) ** 2) / s.p for s in sides)  # T/‖β‖² of Taskesen et al.
    spread = sum(v / s.p for v, s in zip(about, sides, strict=True))
    theta = (math.inf if steep < 1e-280 else spread / steep) / beta_norm / beta_norm
    noise = sum(v / s.p for v, s in zip(variance, sides, strict=True)) / people
    still = replace(
        still,
        theta=theta,
        error=math.sqrt(spread / people),
        means=(float(sides[0].mean(sides[0].t)), float(sides[1].mean(sides[1].t))),
        wald=gap * gap / noise if noise > 0 else (math.inf if gap else 0.0),
    )
    scale = max(abs(m) for m in means)
    excess = gap - target
    if not math.isfinite(theta) or abs(excess) <= ROUNDING * scale:
        return still  # no limit law, which the caller refuses; or no gap but rounding
    pair = _Pair.of(sides, excess > 0, pooled > 0.5, target)
    if not pair.reachable:
        if abs(gap) <= margin:
            return replace(still, border=math.inf)
        raise DataError(PINNED)
    start = 2 * abs(excess) / steep  # exact for small gaps
    found = _solved(pair, start)
    gamma = math.copysign(found.c / beta_norm / beta_norm, excess)
    if not math.isfinite(gamma):
        raise DataError(TOO_NEAR)
    plan = _plan(pair, found, n, beta_norm)
    if abs(gap) <= margin:
        return replace(still, border=plan["statistic"])  # nobody has to move
    return replace(still, gamma=gamma, border=plan["statistic"], **plan)


TOO_NEAR = (
    "the scores are so near 0 or 1 that floating-point numbers cannot tell how they respond to a change, and the "
    "limit law of the projection test needs that: the test does not exist for these scores"
)

PINNED = (
    "so many people have a score of exactly 0 or 1, where a score no longer responds to features, that nobody can "
    "close the gap: the projection test does not exist for these scores; pass the model's logits (logit=)"
)


# ---- both sides, and the multiplier that balances them ----------------------------------------------------


@dataclass(frozen=True)
class _Side:
    """The people of one group: where they are, in the direction of the move, rising."""

    t: Floats
    w: Floats
    """Their weights, which add up to 1,"""
    w2: Floats
    """and their squares, scaled so that they are the same where everybody counts once."""
    p: float
    """Share of all people, p̂."""
    cell: Ints

    @classmethod
    def of(cls, z: Floats, n: Floats, squares: Floats, which: Bools, people: float) -> _Side:
        cell = np.flatnonzero(which)
        if (z[cell][1:] < z[cell][:-1]).any():
            cell = cell[np.argsort(z[cell], kind="stable")]
        w = n[cell].astype(np.float64)
        total = float(w.sum())
        return cls(z[cell], w / total, squares[cell] / total, total / people, cell)

    def mean(self, z: Floats) -> float:
        return _sum(self.w, _value(z, False))

    def at_most(self, other: float, margin: float) -> float:
        """The largest variance of scores whose mean is the margin away from another: that of scores of 0 and 1."""
        ends = (min(max(other + away, 0.0), 1.0) for away in (margin, -margin))
        return float(self.w2.sum()) * max(mean * (1 - mean) for mean in ends)

    def mirrored(self) -> _Side:
        # copies: sums over reversed views are slow
        return _Side(-self.t[::-1], self.w[::-1].copy(), self.w2[::-1].copy(), self.p, self.cell[::-1].copy())

    def coarse(self) -> _Side:
        """Neighbours put together, for a good guess at little cost."""
        lo, hi = float(self.t[0]), float(self.t[-1])
        if len(self.t) <= BINS or not hi > lo:
            return self
        # the middle of the scores finely, whatever the outliers
        lo, hi = max(lo, -50.0), min(hi, 50.0)
        place = np.clip((self.t - lo) * (BINS / max(hi - lo, 1e-300)), -1, BINS).astype(np.int64) + 1
        w: Floats = np.bincount(place, self.w).astype(np.float64)
        some = w > 0
        return _Side(np.bincount(place, self.w * self.t)[some] / w[some], w[some], self.w2[:0], self.p, self.cell[:0])


@dataclass(frozen=True)
class _Pair:
    """The side that moves down (has the higher mean), and the other, mirrored, which does so in its mirror."""

    high: _Side
    low: _Side
    near_one: bool
    target: float
    """The mean of the first minus that of the other that is to be reached."""

    @classmethod
    def of(cls, sides: list[_Side], group_moves_down: bool, near_one: bool, target: float) -> _Pair:
        high, low = sides if group_moves_down else sides[::-1]
        return cls(high, low.mirrored(), near_one, target if group_moves_down else -target)

    @property
    def reachable(self) -> bool:
        """Whether those who can move can bring the gap to the target: at infinity nobody moves."""
        fixed = float(self.high.w[self.high.t == math.inf].sum() + self.low.w[self.low.t == math.inf].sum())
        return fixed - 1 < self.target

    def at(self, c: float, start: _Move | None = None) -> _Move:
        """Everybody's best move for |γ|‖β‖² = c, and the gap that is left."""
        high = descend(self.high.t, c / self.high.p, None if start is None else start.high)
        low = descend(self.low.t, c / self.low.p, None if start is None else start.low)
        gap = _sum(self.high.w, _value(high, self.near_one)) - _sum(self.low.w, _value(-low, self.near_one))
        return _Move(c, high, low, gap - self.target)


@dataclass(frozen=True)
class _Move:
    c: float
    high: Floats
    low: Floats
    gap: float


@dataclass(frozen=True)
class _Found:
    """Two moves next to each other, one of which closes the gap too little and the other too much."""

    less: _Move
    more: _Move

    @property
    def part(self) -> float:
        """The share of `more` that closes the gap exactly."""
        spread = self.less.gap - self.more.gap
        return self.less.gap / spread if spread > 0 else 0.0

    @property
    def c(self) -> float:
        return self.less.c + self.part * (self.more.c - self.less.c)


def _solved(pair: _Pair, start: float) -> _Found:
    """The multiplier at which the gap is closed. The gap falls with it; it can jump where somebody switches."""
    ratio = 2.0
    if len(pair.high.t) + len(pair.low.t) > MANY:
        rough = replace(pair, high=pair.high.coarse(), low=pair.low.coarse())
        start, ratio = _search(rough.at, start, 2.0, 1e-9).c, 1 + 1e-5
    heaviest = max(float(pair.high.w.max()), float(pair.low.w.max()))
    return _search(pair.at, start, ratio, min(1e-9, 2e-15 / heaviest))


def _search(at: Callable[[float, _Move | None], _Move], start: float, ratio: float, tolerance: float) -> _Found:
    """Bracket by growing steps, then shrink the bracket to a relative width."""
    here = at(start, None)
    if here.gap == 0:
        return _Found(here, here)
    rising = here.gap > 0
    while True:
        c = here.c * ratio if rising else here.c / ratio
        if not 0 < c < math.inf:
            raise DataError(TOO_NEAR)
        there = at(c, here)
        if (there.gap > 0) != rising:
            break
        here, ratio = there, ratio * ratio
    less, more = (here, there) if rising else (there, here)
    while more.c > 4 * less.c:
        mid = at(math.sqrt(less.c) * math.sqrt(more.c), None)
        less, more = (mid, more) if mid.gap > 0 else (less, mid)
    return _shrunk(at, less, more, tolerance)


def _shrunk(at: Callable[[float, _Move | None], _Move], less: _Move, more: _Move, tolerance: float) -> _Found:
    """Chandrupatla's root search: inverse quadratic steps where the gap is smooth, halving where it is not."""
    a, b = less, more
    share = 0.5
    for _ in range(200):
        x = at(a.c + share * (b.c - a.c), a if abs(a.gap) < abs(b.gap) else b)
        if (x.gap > 0) == (a.gap > 0):
            c, a = a, x
        else:
            c, b, a = b, a, x
        best = a if abs(a.gap) < abs(b.gap) else b
        width = abs(b.c - a.c)
        least = tolerance * best.c / (2 * width) if width else 1.0
        if least > 0.5 or best.gap == 0:
            break
        x_i, f_i = (a.c - b.c) / (c.c - b.c), (a.gap - b.gap) / (c.gap - b.gap)
        share = 0.5
        if f_i * f_i < x_i and (1 - f_i) * (1 - f_i) < 1 - x_i:
            share = a.gap / (b.gap - a.gap) * c.gap / (b.gap - c.gap) + (c.c - a.c) / (b.c - a.c) * a.gap / (
                c.gap - a.gap
            ) * b.gap / (c.gap - b.gap)
        share = min(max(share, least), 1 - least)
    if best.gap == 0:
        return _Found(best, best)
    return _Found(a, b) if a.gap > 0 else _Found(b, a)


def _plan(pair: _Pair, found: _Found, n: Floats, beta_norm: float) -> dict[str, Any]:
    """Where people go. Most cells go to one place; one at its switch is split, or the criterion would not hold."""
    part = found.part
    pieces = []
    for side, less, more, down in (
        (pair.high, found.less.high, found.more.high, True),
        (pair.low, found.less.low, found.more.low, False),
    ):
        between = np.zeros(len(less))
        np.subtract(more, less, out=between, where=np.isfinite(less))
        split = np.flatnonzero(np.abs(between) > SAME)
        x = less + part * between
        x[split] = less[split]
        cell, share = np.concatenate([side.cell, side.cell[split]]), np.ones(len(x) + len(split))
        share[split], share[len(x) :] = 1 - part, part
        x = np.concatenate([x, more[split]])
        k = 0.5 * slope_of(x)
        cost = (found.c / side.p * k) ** 2
        pieces.append((cell, share * n[cell], x if down else -x, k, _sum(share * n[cell], cost)))
    cell, count, shifted, k = (np.concatenate([p[i] for p in pieces]) for i in range(4))
    kept = count > 0
    return {
        "statistic": sum(p[4] for p in pieces) / beta_norm / beta_norm,
        "cell": cell[kept], "n": count[kept], "shifted": shifted[kept], "k": k[kept],
    }  # fmt: skip


def _sum(weights: Floats, values: Floats) -> float:
    """Σ wv, by numpy's own sum: a product of vectors depends on the number of threads in its last digits."""
    return float((weights * values).sum())


def _value(z: Floats, near_one: bool) -> Floats:
    """The score σ(z), or minus what is missing to 1."""
    with np.errstate(over="ignore"):
        return np.asarray(-1 / (1 + np.exp(z)) if near_one else 1 / (1 + np.exp(-z)))
