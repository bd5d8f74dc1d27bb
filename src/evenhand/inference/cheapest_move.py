"""Where one person goes at the least cost: the inner problem of the Wasserstein projection (Taskesen et al. 2021).

Seen in the direction of its move, a point t goes down to the x that minimises (t − x)²/c + σ(x), with c = |γ|‖β‖²/p̂.
All people of a group have the same c, so this is one function of t:

- stationary points are t = x + c/2 · σ'(x), and k = (t − x)/c = σ'(x)/2, which lies in [0, 1/8];
- for c ≤ 12√3 there is one for every t. Beyond, there can be two minima; the lower one is best up to one t, the
  `switch`, where both are equally good, and the upper one after it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from evenhand.tables.arrays import Floats

FOLD = 12 * math.sqrt(3)
"""c at which a second minimum appears: −1/min σ'' = 6√3, and the half of c counts."""
KNEE = math.log(2 + math.sqrt(3))
"""σ' is convex beyond ±KNEE and concave between them; σ'(KNEE) = 1/6."""
CHUNK = 1 << 15


def descend(t: Floats, c: float, start: Floats | None = None) -> Floats:
    """The x that minimises (t − x)²/c + σ(x), for rising t; `start` is a guess at it.

    >>> import numpy as np
    >>> descend(np.array([0.0, 3.0, 12.0]), 100.0).round(4)
    array([-2.7713, -2.0505, 11.9997])
    """
    knee = c / 12
    ends = [knee - KNEE, knee + KNEE if c <= FOLD else switch(c)]
    lower, upper = np.searchsorted(t, [min(ends), ends[1]], side="right")
    begin, end = int(np.searchsorted(t, -math.inf, side="right")), int(np.searchsorted(t, math.inf))
    x = t.copy()  # who is infinitely far stays
    # On each piece x + c/2·σ'(x) rises and is convex (or concave), so that Newton's steps, kept on the piece, cannot
    # miss: the first lands on one side of the solution, and the others come nearer from there.
    for lo in range(0, len(t), CHUNK):
        for first, last, newton in ((begin, lower, _bottom), (lower, upper, _middle), (upper, end, _top)):
            some = slice(max(lo, int(first)), min(lo + CHUNK, int(last)))
            if some.start < some.stop:
                x[some] = newton(t[some], c, None if start is None else start[some])
    return x


def _bottom(t: Floats, c: float, start: Floats | None) -> Floats:
    """x ≤ −KNEE, convex. Without the denominator of σ' it is a Lambert function, which makes a good start."""
    most = np.minimum(t, -KNEE)
    if start is None:
        w = np.logaddexp(0, t + math.log(c / 2))
        w *= 1 - np.log1p(w) / (2 + w)
        start = t - w
        far = t > 30  # where the difference would have no digits left
        if far.any():
            start[far] = np.log(w[far]) - math.log(c / 2)
    return _newton(t, c, np.minimum(start, most), most, 1)


def _middle(t: Floats, c: float, start: Floats | None) -> Floats:
    """−KNEE < x < KNEE, concave, from a chord."""
    most = KNEE if c <= FOLD else _folds(c)[0]
    if start is None:
        start = t - c / 12
    return _newton(t, c, np.clip(start, -KNEE, most), -KNEE, -1)


def _top(t: Floats, c: float, start: Floats | None) -> Floats:
    """x > KNEE, convex."""
    least = KNEE if c <= FOLD else _folds(c)[1]
    return _newton(t, c, t if start is None else np.clip(start, least, t), t, -1)


def _newton(t: Floats, c: float, x: Floats, end: Any, sign: int) -> Floats:
    """Solve x + c/2·σ'(x) = t. `end` bounds x above where that is convex and below where it is concave."""
    half = c / 2
    bound = np.maximum if np.isscalar(end) else np.minimum
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(400):
            e = np.exp(x if sign > 0 else -x)
            q = 1 / (1 + e)
            s = (half * e) * q * q
            slope = 1 + sign * (1 - e) * q * s
            new = np.where(slope > 0, bound(x - (x + s - t) / slope, end), end)
            change = np.abs(new - x)
            x = new
            if (change <= 1e-8 * (1 + np.abs(x))).all():
                break
    return x


@lru_cache(maxsize=256)
def switch(c: float) -> float:
    """The t at which both minima are equally good, for c > 12√3.

    >>> round(switch(100.0), 6)
    7.563726
    """
    lo, hi = (x + c / 2 * _slope_at(x) for x in reversed(_folds(c)))
    t = min(KNEE + c / 12, math.sqrt(c))
    for _ in range(200):
        t = t if lo < t < hi else lo + (hi - lo) / 2
        low, up = _minima(t, c)
        # the first minimum less the second, and its derivative
        excess = (t - low) * (t - low) / c - (t - up) * (t - up) / c + (_sigma(low) - _sigma(up))
        lo, hi = (lo, t) if excess > 0 else (t, hi)
        step = excess * c / 2 / (up - low) if up > low else 0.0
        t -= step
        if abs(step) <= 1e-15 * t or hi - lo <= 1e-15 * hi:
            break
    return t


def _folds(c: float) -> tuple[float, float]:
    """Where x + c/2·σ'(x) turns down and up again: σ'' = −2/c, a cubic in σ'."""
    angle = math.acos(max(1 - 864 / c / c, -1.0)) / 3
    down = 1 / 12 + math.cos(angle) / 6
    up = 1 / 12 + math.cos(angle - 2 * math.pi / 3) / 6
    if c > 1e4:  # the cosine cancels; the fixed point converges
        up = 2 / c
        for _ in range(4):
            up = 2 / c / math.sqrt(1 - 4 * up)
    return _place(down), _place(up)


def _place(slope: float) -> float:
    """The x ≥ 0 with σ'(x) = slope ≤ 1/4."""
    return 2 * math.acosh(max(0.5 / math.sqrt(slope), 1.0))


def _minima(t: float, c: float) -> tuple[float, float]:
    low = float(_bottom(np.array([t]), c, None)[0]) if t <= c / 12 - KNEE else _climb(t, c, -KNEE)
    return low, _climb(t, c, t)


def _climb(t: float, c: float, x: float) -> float:
    """Newton's steps for one number, from a side that they do not leave."""
    for _ in range(200):
        s = c / 2 * _slope_at(x)
        slope = 1 - math.tanh(x / 2) * s
        step = (x + s - t) / slope if slope > 0 else 0.0
        x -= step
        if abs(step) <= 1e-15 * (1 + abs(x)):
            break
    return x


def _sigma(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def _slope_at(x: float) -> float:
    e = math.exp(-abs(x))
    return e / (1 + e) / (1 + e)


def slope_of(x: Floats) -> Floats:
    """σ'(x)."""
    e = np.exp(-np.abs(x))
    return np.asarray(e / ((1 + e) * (1 + e)))
