"""How large a gap a sample can show: exact power of a test of two shares, for large samples the arcsine method."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from evenhand.cells import Bools, Floats, Ints
from evenhand.inference.significance import cohens_h

MOST_TABLES = 100_000
"""Up to so many pairs of counts, power is summed over all of them."""
AS_GOOD_AS_KNOWN = 20
"""A reference of so many times the people is hardly worth more than a still larger one."""


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
    (0.213, 0.813)
    """
    sizes = max(round(n), 1), max(round(n_reference), 1)
    few = min(sizes)
    if few * few * AS_GOOD_AS_KNOWN <= MOST_TABLES:
        sizes = min(sizes[0], MOST_TABLES // few), min(sizes[1], MOST_TABLES // few)
    if sizes[0] * sizes[1] <= MOST_TABLES:
        a, b = (_binomial(size, p) for size, p in zip(sizes, (share, base), strict=True))
        return float((a[:, None] * b)[_rejected(*sizes, level)].sum())
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
    while n * n * ratio < MOST_TABLES and power_of(share, base, np.ceil(n), np.ceil(n * ratio), level) < power:
        n = max(np.ceil(n) + 1, n * 1.01)
    return n


@lru_cache(maxsize=64)
def _rejected(n: int, n_reference: int, level: float) -> Bools:
    """For which counts of both groups the exact test of their difference rejects: axes (group, reference)."""
    x, y = np.indices((n + 1, n_reference + 1), np.int64)
    both = x + y
    log_p = _log_choose(n, x) + _log_choose(n_reference, y) - _log_choose(n + n_reference, both)
    apart = np.round(np.abs(x / n - y / n_reference), 12)
    # within each total, from the largest gap down; tables with the same gap go together
    order = np.lexsort([-apart.ravel(), both.ravel()])
    p, total, size = np.exp(log_p).ravel()[order], both.ravel()[order], apart.ravel()[order]
    upto = np.cumsum(p)
    first = np.searchsorted(total, total)
    upto -= np.concatenate([[0.0], upto])[first]
    last = np.flatnonzero(np.r_[(size[1:] != size[:-1]) | (total[1:] != total[:-1]), True])
    p_value = upto[last[np.searchsorted(last, np.arange(len(p)))]]
    found = np.empty(len(p), np.bool_)
    found[order] = p_value <= level + 1e-12
    return found.reshape(both.shape)


def _log_choose(n: int, k: Ints) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _binomial(n: int, p: float) -> Floats:
    from scipy.special import xlog1py, xlogy

    k = np.arange(n + 1)
    return np.asarray(np.exp(_log_choose(n, k) + xlogy(k, p) + xlog1py(n - k, -p)))
