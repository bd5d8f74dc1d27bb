"""The law of a sum of squared standard normals with weights: the limit of the projection test."""

from __future__ import annotations

import math
import sys

import numpy as np

STEPS = np.arange(-800, 801) / 20


def tail(statistic: float, theta: tuple[float, ...]) -> float:
    """The chance that Σ θχ²₁, of one or two independent terms, is at least so large; never 0.

    In polar coordinates two terms are an integral over the angle φ of exp(−s / (2 (θ₁cos²φ + θ₀sin²φ))), all of it
    positive. Over w = log tan φ the trapezoidal rule converges exponentially, for any weights and far into the tail.

    >>> round(tail(3.841458820694124, (1.0,)), 12), round(tail(5.991464547107979, (1.0, 1.0)), 12)
    (0.05, 0.05)
    """
    large, small = max(theta), min(theta) if len(theta) > 1 else 0.0
    if statistic <= 0:
        return 1.0
    if large <= 0:
        return sys.float_info.min
    if small <= 0:
        return max(math.erfc(math.sqrt(statistic / large / 2)), sys.float_info.min)
    far, ratio = statistic / large / 2, small / large
    square = np.exp(2 * STEPS)
    inner = np.exp(-far * (1 - ratio) * square / (1 + ratio * square)) / np.cosh(STEPS)
    return min(max(math.exp(-far) * float(inner.sum()) / 20 / math.pi, sys.float_info.min), 1.0)


def critical(level: float, theta: tuple[float, ...]) -> float:
    """The statistic whose tail is the level.

    >>> round(critical(0.05, (1.0,)), 9), round(critical(0.05, (0.5, 2.0)), 9)
    (3.841458821, 8.289441458)
    """
    from scipy.special import erfcinv

    large, small = max(theta), min(theta) if len(theta) > 1 else 0.0
    lo = 2 * large * float(erfcinv(level)) ** 2
    if small <= 0:
        return lo
    hi = max(-2 * large * math.log(level), lo)  # as if both weights were the larger one
    for _ in range(200):
        mid = lo + (hi - lo) / 2
        if not lo < mid < hi:
            break
        lo, hi = (mid, hi) if tail(mid, theta) > level else (lo, mid)
    return hi
