"""The law of a sum of squared standard normals with weights: the limit of the projection test.

With a margin, a term is θ·max(|Z + a| − a, 0)², a being the margin in standard errors of the gap: what lies beyond the
margin of a gap that is as large as the margin allows. Without one it is θχ²₁.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from evenhand.tables.arrays import Floats

STEPS = np.arange(-800, 801) / 20
NODES, WEIGHTS = np.polynomial.legendre.leggauss(600)


def tail(statistic: float, theta: tuple[float, ...], slack: tuple[float, ...] = ()) -> float:
    """The chance that the sum of one or two independent terms is at least so large; never 0.

    In polar coordinates two terms are an integral over the angle φ of exp(−s / (2 (θ₁cos²φ + θ₀sin²φ))), all of it
    positive. Over w = log tan φ the trapezoidal rule converges exponentially, for any weights and far into the tail.

    >>> round(tail(3.841458820694124, (1.0,)), 12), round(tail(5.991464547107979, (1.0, 1.0)), 12)
    (0.05, 0.05)
    >>> round(tail(1.0, (1.0,), (30.0,)), 6)  # a gap beyond the far border is out of reach: one side of a normal
    0.158655
    """
    large, small = max(theta), min(theta) if len(theta) > 1 else 0.0
    if statistic <= 0:
        return 1.0
    if large <= 0:
        return sys.float_info.min
    if any(slack):
        return min(max(_beyond(statistic, theta, slack), sys.float_info.min), 1.0)
    if small <= 0:
        return max(math.erfc(math.sqrt(statistic / large / 2)), sys.float_info.min)
    far, ratio = statistic / large / 2, small / large
    square = np.exp(2 * STEPS)
    inner = np.exp(-far * (1 - ratio) * square / (1 + ratio * square)) / np.cosh(STEPS)
    return min(max(math.exp(-far) * float(inner.sum()) / 20 / math.pi, sys.float_info.min), 1.0)


def _beyond(statistic: float, theta: tuple[float, ...], slack: tuple[float, ...]) -> float:
    """The tail with margins: of two terms, an integral over the root x = √(s/θ₁)·sin φ of the first."""
    terms = sorted(((t, a) for t, a in zip(theta, slack, strict=True) if t > 0), reverse=True)
    (first, a), *others = terms
    root = math.sqrt(statistic / first)
    if not others:
        return float(_root_tail(np.array(root), a))
    second, b = others[0]
    angle = math.pi / 4 * (NODES + 1)
    x = root * np.sin(angle)
    density = (np.exp(-(x**2) / 2) + np.exp(-((x + 2 * a) ** 2) / 2)) / math.sqrt(2 * math.pi)
    rest = _root_tail(math.sqrt(statistic / second) * np.cos(angle), b)
    both = float((WEIGHTS * density * rest * np.cos(angle)).sum()) * math.pi / 4 * root
    alone = float(_root_tail(np.array(math.sqrt(statistic / second)), b))
    return float(_root_tail(np.array(root), a)) + both + (1 - float(_root_tail(np.array(0.0), a))) * alone


def _root_tail(x: Floats, a: float) -> Floats:
    """The chance that max(|Z + a| − a, 0) is at least x, or above it where x is 0."""
    from scipy.special import ndtr

    return np.asarray(ndtr(-x) + ndtr(-x - 2 * a))


def critical(level: float, theta: tuple[float, ...], slack: tuple[float, ...] = ()) -> float:
    """The statistic whose tail is the level.

    >>> round(critical(0.05, (1.0,)), 9), round(critical(0.05, (0.5, 2.0)), 9)
    (3.841458821, 8.289441458)
    """
    from scipy.special import erfcinv

    large, small = max(theta), min(theta) if len(theta) > 1 else 0.0
    lo = 2 * large * float(erfcinv(level)) ** 2
    if small <= 0 and not any(slack):
        return lo
    hi = max(-2 * large * math.log(level), lo)  # as if both weights were the larger one
    lo = 0.0 if any(slack) else lo
    for _ in range(200):
        mid = lo + (hi - lo) / 2
        if not lo < mid < hi:
            break
        lo, hi = (mid, hi) if tail(mid, theta, slack) > level else (lo, mid)
    return hi
