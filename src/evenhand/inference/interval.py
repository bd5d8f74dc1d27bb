"""Closed-form intervals, and the interval of a norm from resamples. All take arrays and broadcast."""

from __future__ import annotations

import numpy as np

from evenhand.tables.arrays import Floats

Interval = tuple[Floats, Floats]
Number = Floats | float


def z_value(confidence: Number) -> Floats:
    """The two-sided standard normal quantile."""
    from scipy.special import ndtri

    return np.asarray(ndtri((1 + np.asarray(confidence, np.float64)) / 2))


def student(n: float, confidence: float) -> float:
    """By how much resamples of n people move too little: Student's quantile over the normal one, times √(n/(n − 1)).

    >>> round(student(10, 0.95), 3), round(student(30, 0.95), 3)
    (1.217, 1.061)
    """
    from scipy.special import ndtri, stdtrit

    if n <= 1 + 1e-9:
        return 1e6  # nothing is known
    tail = (1 + confidence) / 2
    return float(min(stdtrit(n - 1, tail) / ndtri(tail) * np.sqrt(n / (n - 1)), 1e6))


def wilson(p: Number, n: Number, confidence: Number = 0.95) -> Interval:
    """Wilson's score interval of a share p of n people; NaN where n is 0.

    >>> lo, hi = wilson(0.3, 50)
    >>> round(float(lo), 4), round(float(hi), 4)
    (0.191, 0.4375)
    """
    p, n, z2 = np.asarray(p, np.float64), np.asarray(n, np.float64), z_value(confidence) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
        lo = np.where(p == 0, 0.0, np.maximum(centre - half, 0.0))
        hi = np.where(p == 1, 1.0, np.minimum(centre + half, 1.0))
        known = (n > 0) & np.isfinite(p)
    return np.where(known, lo, np.nan), np.where(known, hi, np.nan)


def difference(a: Number, a_limits: Interval, b: Number, b_limits: Interval) -> Interval:
    """Interval of a − b from an interval of each: the square-and-add rule.

    With Wilson intervals this is Newcombe's interval for a difference of shares (1998, method 10). His example:

    >>> lo, hi = difference(56 / 70, wilson(56 / 70, 70), 48 / 80, wilson(48 / 80, 80))
    >>> round(float(lo), 4), round(float(hi), 4)
    (0.0524, 0.3339)
    """
    d = np.asarray(a - b, np.float64)
    lo = d - np.hypot(a - a_limits[0], b_limits[1] - b)
    hi = d + np.hypot(a_limits[1] - a, b - b_limits[0])
    return lo, hi


def ratio_of_shares(a: Number, n_a: Number, b: Number, n_b: Number, confidence: Number = 0.95) -> Interval:
    """Interval of a / b: normal on the log scale (Katz), which needs both shares to lie inside (0, 1).

    At 0 or 1 its standard error is infinite or zero; there the interval comes from Wilson's limits
    (Donner & Zou 2012), which stay honest. Undefined where b is 0.
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    n_a, n_b = np.asarray(n_a, np.float64), np.asarray(n_b, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = z_value(confidence) * np.sqrt((1 - a) / (n_a * a) + (1 - b) / (n_b * b))
        katz = a / b * np.exp(-half), a / b * np.exp(half)
    inside = (a > 0) & (a < 1) & (b > 0) & (b < 1)
    edge = _donner_zou(a, wilson(a, n_a, confidence), b, wilson(b, n_b, confidence))
    known = np.isfinite(a) & (b > 0)
    lo, hi = (np.where(known, np.where(inside, k, e), np.nan) for k, e in zip(katz, edge, strict=True))
    return lo, hi


def _donner_zou(a: Floats, a_limits: Interval, b: Floats, b_limits: Interval) -> Interval:
    (la, ua), (lb, ub) = a_limits, b_limits
    with np.errstate(divide="ignore", invalid="ignore"):
        lo = (a * b - np.sqrt(np.maximum((a * b) ** 2 - la * ub * (2 * a - la) * (2 * b - ub), 0))) / (
            ub * (2 * b - ub)
        )
        hi = (a * b + np.sqrt(np.maximum((a * b) ** 2 - ua * lb * (2 * a - ua) * (2 * b - lb), 0))) / (
            lb * (2 * b - lb)
        )
    return np.maximum(lo, 0.0), hi


def largest_difference(lo: Floats, hi: Floats) -> Interval:
    """Interval of max |d| over the last axis from simultaneous intervals of every d; NaN components are skipped.

    The maximum cannot be below what every interval allows at least, nor above what any allows at most. It is
    valid at parity too, where a percentile interval of a maximum never contains 0.
    """
    at_least = np.where((lo <= 0) & (hi >= 0), 0.0, np.minimum(np.abs(lo), np.abs(hi)))
    at_most = np.maximum(np.abs(lo), np.abs(hi))
    defined = np.isfinite(lo)
    return (np.where(defined, at_least, -np.inf).max(-1), np.where(defined, at_most, -np.inf).max(-1))


def enough(resamples: Floats, confidence: float) -> bool:
    """Whether percentiles of resamples are known: there are enough of them, and few without a value."""
    tail = (1 - confidence) / 2
    return bool(len(resamples) >= 1 / tail - 1 - 1e-9 and np.isnan(resamples).mean() <= tail)


def percentile(resamples: Floats, confidence: float) -> Interval:
    """Percentile interval over the first axis, undefined resamples left aside."""
    tail = (1 - confidence) / 2
    lo, hi = np.nanquantile(resamples, [tail, 1 - tail], axis=0)
    return lo, hi


def bca(observed: float, resamples: Floats, left_out: Floats, people: Floats, confidence: float) -> tuple[float, float]:
    """Efron's bias-corrected and accelerated interval.

    `left_out` are the values without one of some people, and `people` how many of them there are of each kind.
    """
    from scipy.special import ndtr, ndtri

    below = (np.count_nonzero(resamples < observed) + np.count_nonzero(resamples == observed) / 2) / len(resamples)
    shift = float(ndtri(np.clip(below, 1 / (2 * len(resamples)), 1 - 1 / (2 * len(resamples)))))
    known = np.isfinite(left_out)
    left_out, people = left_out[known], people[known]
    away = np.average(left_out, weights=people) - left_out
    squares = float((people * away**2).sum())
    skew = float((people * away**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    z = ndtri((1 - confidence) / 2)
    ends = (shift + side for side in (z, -z))
    levels = [float(ndtr(shift + end / max(1 - skew * end, 1e-9))) for end in ends]
    lo, hi = np.quantile(resamples, levels)
    return float(lo), float(hi)


def norm(value: float, deviations: Floats, confidence: float, highest: float = np.inf) -> tuple[float, float]:
    """Interval of a norm ‖G‖ from the norms ‖G* − Ĝ‖ of resampled deviations.

    By the reverse triangle inequality |‖Ĝ‖ − ‖G‖| ≤ ‖Ĝ − G‖, so it is valid at parity and away from it.
    """
    q = upper_quantile(deviations, confidence)
    return max(value - q, 0.0), min(value + q, highest)


def widened(ci: tuple[float, float] | None, by: float, least: float, most: float) -> tuple[float, float] | None:
    """An interval made wider at both ends, within what is possible.

    >>> widened((0.25, 0.75), 0.5, 0.0, 2.0)
    (0.0, 1.25)
    """
    return None if ci is None else (max(ci[0] - by, least), min(ci[1] + by, most))


def upper_quantile(deviations: Floats, confidence: float) -> float:
    """An order statistic, never interpolated; a resample without a value counts as infinitely far.

    Infinite if there are too few resamples to know it.
    """
    worst_last = np.sort(np.where(np.isnan(deviations), np.inf, deviations))
    place = int(np.ceil(confidence * (len(worst_last) + 1) - 1e-9))
    return float(worst_last[place - 1]) if place <= len(worst_last) else float("inf")
