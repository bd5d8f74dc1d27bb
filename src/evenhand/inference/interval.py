"""Closed-form intervals, and the interval of a norm from resamples. All take arrays and broadcast."""

from __future__ import annotations

from functools import cache

import numpy as np

from evenhand.tables.arrays import Floats, Ints

Interval = tuple[Floats, Floats]
Number = Floats | float

_QUARTER = 0.25
"""Of a person: by so much a count may be off by being whole, without an end failing more than 3 % of the time."""
_FARTHEST, _HALVINGS = 35.0, 36
"""The logarithm of a ratio is looked for between ± the one, and is known to 1e-9 after the other."""
_AT_THE_END = 1e-6
"""Found so near to where it was looked for, it is further away: no ratio is too large, or too small, to be possible."""


def z_value(confidence: Number) -> Floats:
    """The two-sided standard normal quantile."""
    from scipy.special import ndtri

    return np.asarray(ndtri((1 + np.asarray(confidence, np.float64)) / 2))


def together(confidence: float, comparisons: int) -> float:
    """The level of each of many intervals, so that all hold together whatever they have to do with each other.

    >>> round(together(0.95, 100), 4)
    0.9995
    """
    return 1 - (1 - confidence) / max(comparisons, 1)


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


def exact(share: Number, people: Number, confidence: Number = 0.95) -> Interval:
    """Clopper and Pearson's interval of a share of people; NaN where there are none.

    >>> lo, hi = exact(0.5, 10)
    >>> round(float(lo), 4), round(float(hi), 4)
    (0.1871, 0.8129)
    """
    from scipy.special import betaincinv

    share, people = np.asarray(share, np.float64), np.asarray(people, np.float64)
    known = (people > 0) & ~np.isnan(share)
    n = np.where(known, people, 1.0)
    k = np.where(known, share, 0.0) * n
    tail = (1 - np.asarray(confidence, np.float64)) / 2
    lo = np.where(k > 0, betaincinv(np.maximum(k, 1e-12), n - k + 1, tail), 0.0)
    hi = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1e-12), 1 - tail), 1.0)
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
    """Interval of a / b: the ratios that a score test, corrected for skewness, does not reject (Gart & Nam 1988).

    The plain score interval (Koopman 1984) misses on one side more often than on the other where groups differ in size
    and rates are near 0 or 1. The correction evens that out, and a quarter of a person keeps what is left of it by
    counts being whole (Laud 2017). Undefined where b is 0; without an upper end where so few people allow any ratio.

    >>> lo, hi = ratio_of_shares(0.775, 40, 0.97, 2000)
    >>> round(float(lo), 3), round(float(hi), 3)
    (0.64, 0.916)
    """
    a, b, n_a, n_b = (np.asarray(x, np.float64) for x in (a, b, n_a, n_b))
    z = z_value(confidence)
    ends = _log_ratio_at(np.stack(np.broadcast_arrays(z, -z, a, b, n_a, n_b)[:2]), a, n_a, b, n_b)
    lo, hi = np.where(np.abs(ends) < _FARTHEST - _AT_THE_END, np.exp(ends), np.where(ends > 0, np.inf, 0.0))
    known = np.isfinite(a) & (b > 0)
    return np.where(known, np.where(a > 0, lo, 0.0), np.nan), np.where(known, hi, np.nan)


def _log_ratio_at(score: Floats, a: Floats, n_a: Floats, b: Floats, n_b: Floats) -> Floats:
    """The logarithm of the ratio that has this score, by halving: the score falls as the ratio grows."""
    near, far = np.full(score.shape, -_FARTHEST), np.full(score.shape, _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        too_small = _ratio_score(np.exp(middle), a, n_a, b, n_b) > score
        near, far = np.where(too_small, middle, near), np.where(too_small, far, middle)
    return np.asarray((near + far) / 2)


def _ratio_score(ratio: Floats, a: Floats, n_a: Floats, b: Floats, n_b: Floats) -> Floats:
    """How many standard errors a is above ratio · b, if that were its rate, on a scale without skewness."""
    with np.errstate(divide="ignore", invalid="ignore"):
        both = n_a * a + n_b * b
        half = (ratio * (n_a + n_b * b) + n_a * a + n_b) / 2
        q = both / (half + np.sqrt(np.maximum(half**2 - (n_a + n_b) * ratio * both, 0)))
        q = np.minimum(q, np.minimum(1, 1 / ratio))
        p = ratio * q  # the likeliest rates that have this ratio
        own, other = p * (1 - p) / n_a, ratio**2 * q * (1 - q) / n_b
        error = np.sqrt(own + other)
        away = a - ratio * b
        z = np.sign(away) * np.maximum(np.abs(away) - _QUARTER * (1 / n_a + ratio / n_b), 0) / error
        skew = (own * (1 - 2 * p) / n_a - ratio * other * (1 - 2 * q) / n_b) / (6 * error**3)
        # the root of x + skew · (x² − 1) = z; where all people of both groups are selected, a ratio of 1 has no error
        root = 2 * (z + skew) / (1 + np.sqrt(np.maximum(1 + 4 * skew * (z + skew), 0)))
    return np.where(error > 0, root, 0.0)


def largest_difference(lo: Floats, hi: Floats) -> Interval:
    """Least and most that max |d| over the last axis can be, given intervals of every d; NaN components are skipped.

    The least holds if the intervals hold together (simultaneous ones). The most already holds if each holds alone: the
    maximum is one of the d, and only the interval of that one has to reach it (Berger 1982, intersection–union). It
    is valid at parity too, where a percentile interval of a maximum never contains 0.
    """
    at_least = np.where((lo <= 0) & (hi >= 0), 0.0, np.minimum(np.abs(lo), np.abs(hi)))
    at_most = np.maximum(np.abs(lo), np.abs(hi))
    defined = np.isfinite(lo)
    return (np.where(defined, at_least, -np.inf).max(-1), np.where(defined, at_most, -np.inf).max(-1))


def largest_pair(values: Floats, lo: Floats, hi: Floats) -> tuple[float, float]:
    """Least and most that the largest difference between two groups can be, given intervals of each group's value.

    Every pair has its difference by square-and-add. As for `largest_difference` the least needs all pairs to hold
    together (`of_all_pairs`), the most only each alone. NaN groups stand aside; values may be −∞, the log of 0.

    >>> values = np.array([0.5, 0.4, 0.2])
    >>> least, most = largest_pair(values, *wilson(values, 100))
    >>> round(least, 3), round(most, 3)
    (0.169, 0.417)
    """
    known = ~np.isnan(values)
    v, low, high = values[known], lo[known], hi[known]
    # either end of an interval grows with the value and that end of the first, and falls with the second's
    least, _ = _of_pairs(v, low, high, foremost(v, low), foremost(-v, -high))
    _, most = _of_pairs(v, low, high, foremost(v, high), foremost(-v, -low))
    return least, most


def _of_pairs(v: Floats, low: Floats, high: Floats, first: Ints, second: Ints) -> tuple[float, float]:
    """The largest lower and the largest upper end of the differences of these pairs, 0 at least."""
    i, j = first[:, None], second
    with np.errstate(invalid="ignore"):
        near, far = difference(v[i], (low[i], high[i]), v[j], (low[j], high[j]))
        near, far = np.where(np.isnan(near), low[i] - high[j], near), np.where(np.isnan(far), high[i] - low[j], far)
    least, most = (float(end.max(where=(i != j) & ~np.isnan(end), initial=0.0)) for end in (near, far))
    return least, most


def foremost(a: Floats, b: Floats) -> Ints:
    """Which are not exceeded in both by two others: of thousands of groups, the few that the largest pair is among."""
    found = []
    for some in (np.flatnonzero(np.isfinite(a)), np.flatnonzero(~np.isfinite(a))):
        for _ in range(2):
            ordered = some[np.lexsort((-b[some], -a[some]))]
            ahead = b[ordered][1:] > np.maximum.accumulate(b[ordered])[:-1]
            front = ordered[:1] if len(ordered) < 2 else ordered[np.append(True, ahead)]
            found.append(front)
            some = np.setdiff1d(some, front)
    return np.concatenate(found)


@cache
def of_all_pairs(groups: int, confidence: float) -> float:
    """The confidence of one difference with which those of all pairs of groups hold together (Tukey; Hayter 1984).

    The largest standardised difference is the range of as many standard normal variables, over √2.

    >>> round(of_all_pairs(2, 0.95), 4), round(of_all_pairs(4, 0.95), 4)
    (0.95, 0.9898)
    """
    from scipy.special import ndtr

    x = np.linspace(-9, 9, 2001)
    density = groups * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    near, far = 0.0, 20.0
    for _ in range(_HALVINGS):
        width = (near + far) / 2
        held = float(np.sum(density * (ndtr(x) - ndtr(x - width)) ** (groups - 1)) * (x[1] - x[0]))
        near, far = (width, far) if held < confidence else (near, width)
    return float(2 * ndtr(width / np.sqrt(2)) - 1)


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
