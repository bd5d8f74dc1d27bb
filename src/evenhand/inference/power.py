"""How large a gap a sample can show: exact power of a test of two shares, for large samples the arcsine method."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evenhand.inference.significance import cohens_h
from evenhand.tables.arrays import Floats, Ints

MOST_TABLES = 50_000
"""Up to so many likely pairs of counts, power is summed over all of them."""
AS_GOOD_AS_KNOWN = 100
"""A group of so many times the other's people is hardly worth more than a still larger one."""
MANY = 1_000
CHUNK = 256


class Reach(NamedTuple):
    """The nearest shares, below and above one, that a sample tells from it; NaN where even the last one is too near."""

    below: float
    above: float

    def gap(self, share: float) -> float:
        """A difference that is found in either direction: the larger of both, where there are two."""
        gaps = [abs(end - share) for end in self if not np.isnan(end)]
        return max(gaps, default=float("nan"))

    def ratio(self, share: float) -> float:
        """The same as a lower share over a higher one."""
        if not np.isnan(self.below):
            return self.below / share
        return share / self.above


@lru_cache(maxsize=4096)
def detectable(share: float, n: float, n_reference: float, level: float = 0.05, power: float = 0.8) -> Reach:
    """Which shares of n people would be told from a share of the reference, with this power at this level.

    >>> reach = detectable(0.5, 1000, 1000)
    >>> round(reach.below, 3), round(reach.above, 3)
    (0.438, 0.562)
    """

    def nearest(end: float) -> float:
        if power_of(end, share, n, n_reference, level) < power:
            return float("nan")
        near, far = share, end
        for _ in range(40):
            middle = (near + far) / 2
            found = power_of(middle, share, n, n_reference, level) >= power
            near, far = (near, middle) if found else (middle, far)
        return far

    return Reach(nearest(0.0), nearest(1.0))


def power_of(share: float, base: float, n: float, n_reference: float, level: float = 0.05) -> float:
    """How likely a two-sided test finds that two shares differ.

    >>> round(power_of(0.35, 0.5, 40, 40), 3), round(power_of(0.4, 0.5, 400, 400), 3)
    (0.213, 0.794)
    """
    few = max(min(round(n), round(n_reference)), 1)
    sizes = [min(max(round(size), 1), AS_GOOD_AS_KNOWN * few) for size in (n, n_reference)]
    x, y = (_likely(size, p) for size, p in zip(sizes, (share, base), strict=True))
    if few <= MANY and len(x) * len(y) <= MOST_TABLES:
        chances = _binomial(sizes[0], share)[:, None] * _binomial(sizes[1], base)
        low, high = _bounds(sizes[0], sizes[1], level, int(x[0] + y[0]), int(x[-1] + y[-1]))
        total = x[:, None] + y - x[0] - y[0]
        return float(chances[(x[:, None] <= low[total]) | (x[:, None] >= high[total])].sum())
    from scipy.special import ndtr, ndtri

    z = ndtri(1 - level / 2)
    shift = abs(float(cohens_h(share, base))) / np.sqrt(1 / n + 1 / n_reference)
    return float(ndtr(shift - z) + ndtr(-shift - z))


def people_needed(share: float, base: float, ratio: float = 1.0, level: float = 0.05, power: float = 0.8) -> float:
    """How many people of the group are needed to tell two shares, with `ratio` times as many of the reference."""
    from scipy.special import ndtri

    effect = abs(float(cohens_h(share, base)))
    if effect < 1e-9:
        return float("inf")
    n = float((1 + 1 / ratio) * ((ndtri(1 - level / 2) + ndtri(power)) / effect) ** 2)
    for _ in range(200):
        if power_of(share, base, np.ceil(n), np.ceil(n * ratio), level) >= power:
            break
        n = max(np.ceil(n) + 1, n * 1.01)
    return n


def _bounds(n: int, n_reference: int, level: float, first: int, last: int) -> tuple[Ints, Ints]:
    """For totals from first to last: the exact test rejects counts of the group up to the one, and from the other."""
    chunks = [_chunk(n, n_reference, level, k) for k in range(first // CHUNK, last // CHUNK + 1)]
    start = first % CHUNK
    low, high = (np.concatenate(part)[start : start + last - first + 1] for part in zip(*chunks, strict=True))
    return low, high


@lru_cache(maxsize=4096)
def _chunk(n: int, n_reference: int, level: float, chunk: int) -> tuple[Ints, Ints]:
    people = n + n_reference
    total = np.minimum(np.arange(chunk * CHUNK, (chunk + 1) * CHUNK), people)[:, None]
    middle = n * (total / people)
    reach = 12 * np.sqrt((middle * (1 - total / people) * (n_reference / people)).max()) + 20
    x = np.arange(max(int(middle.min() - reach), 0), min(int(middle.max() + reach), n) + 1)
    y = np.clip(total - x, 0, n_reference)
    possible = (total - x >= 0) & (total - x <= n_reference)
    log_p = _log_choose(n, x) + _log_choose(n_reference, y) - _log_choose(people, total)
    p = np.exp(np.where(possible, log_p, -np.inf))
    apart = np.where(possible, np.round(np.abs(x / n - y / n_reference), 12), -1.0)
    # from the largest gap down; tables with the same gap go together
    order = np.argsort(-apart, axis=1, kind="stable")
    size, upto = np.take_along_axis(apart, order, 1), np.cumsum(np.take_along_axis(p, order, 1), axis=1)
    ends = np.concatenate([size[:, 1:] != size[:, :-1], np.ones((len(size), 1), np.bool_)], axis=1)
    p_sorted = np.minimum.accumulate(np.where(ends, upto, np.inf)[:, ::-1], axis=1)[:, ::-1]
    rejected = np.empty(p.shape, np.bool_)
    np.put_along_axis(rejected, order, p_sorted <= level + 1e-12, 1)
    rejected &= possible
    low = np.where(rejected & (x < middle), x, x[0] - 1).max(1)
    high = np.where(rejected & (x > middle), x, x[-1] + 1).min(1)
    return low, high


def _log_choose(n: int, k: Ints) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _likely(n: int, p: float) -> Ints:
    """Counts of a binomial variable within eight standard deviations."""
    reach = 8 * np.sqrt(n * p * (1 - p)) + 20
    return np.arange(max(int(n * p - reach), 0), min(int(n * p + reach), n) + 1)


@lru_cache(maxsize=64)  # the base stays while a share is looked for
def _binomial(n: int, p: float) -> Floats:
    """The chances of the likely counts."""
    from scipy.special import xlog1py, xlogy

    k = _likely(n, p)
    return np.asarray(np.exp(_log_choose(n, k) + xlogy(k, p) + xlog1py(n - k, -p)))
