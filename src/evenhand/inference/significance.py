"""Tests of hypotheses on counts, and what many of them are worth together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenhand.tables.arrays import Floats, Ints

FINE = 1000

LEAST_P = float(np.finfo(np.float64).tiny)
"""No p-value is 0: this is the smallest that is told."""


@dataclass(frozen=True)
class TestResult:
    """What a test says."""

    __test__ = False  # not one of pytest's

    name: str
    statistic: float
    p_value: float


def two_proportion_z(part_a: float, n_a: float, part_b: float, n_b: float) -> TestResult:
    """The two-sided z test that two shares are equal, with the pooled variance.

    >>> two_proportion_z(56, 70, 48, 80).p_value.__round__(4)
    0.008
    """
    from scipy.special import ndtr

    if min(n_a, n_b) <= 0:
        return TestResult("two-proportion z", np.nan, np.nan)
    pooled = (part_a + part_b) / (n_a + n_b)
    if not 0 < pooled < 1:
        return TestResult("two-proportion z", 0.0, 1.0)
    z = (part_a / n_a - part_b / n_b) / np.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    return TestResult("two-proportion z", float(z), max(float(2 * ndtr(-abs(z))), LEAST_P))


def fisher(part_a: int, n_a: int, part_b: int, n_b: int) -> TestResult:
    """Fisher's exact test that two shares are equal, two-sided: tables no more likely than the one observed.

    The statistic is the odds ratio.

    >>> fisher(8, 10, 1, 6).p_value.__round__(4)
    0.035
    """
    if min(n_a, n_b) <= 0:
        return TestResult("Fisher exact", np.nan, np.nan)
    k, log_p = splits(part_a + part_b, n_a, n_a + n_b)
    here = np.searchsorted(k, part_a)
    inside = here < len(k) and k[0] <= part_a
    p = float(np.exp(log_p[log_p <= log_p[here] + 1e-7]).sum()) if inside else LEAST_P
    odds_b = part_b * (n_a - part_a)
    odds = part_a * (n_b - part_b) / odds_b if odds_b else (np.inf if part_a * (n_b - part_b) else np.nan)
    return TestResult("Fisher exact", float(odds), min(max(p, LEAST_P), 1.0))


def cohens_h(a: ArrayLike, b: ArrayLike) -> Floats:
    """Cohen's h: how far two shares are apart once each is as noisy as any other; 0.2 is small, 0.8 large.

    >>> float(cohens_h(0.6, 0.5).round(3))
    0.201
    """
    return np.asarray(2 * (np.arcsin(np.sqrt(np.asarray(a))) - np.arcsin(np.sqrt(np.asarray(b)))))


def chi_squared(p: Floats, n: Floats) -> TestResult:
    """Pearson's χ² test that several shares are equal; undefined if there are fewer than two.

    >>> import numpy as np
    >>> chi_squared(np.array([0.5, 0.7]), np.array([100.0, 100.0])).p_value.__round__(4)
    0.0039
    """
    return _several("Pearson chi-squared", p, n, lambda seen, expected: (seen - expected) ** 2 / expected)


def g_test(p: Floats, n: Floats) -> TestResult:
    """The likelihood-ratio (G) test that several shares are equal.

    >>> import numpy as np
    >>> g_test(np.array([0.5, 0.7]), np.array([100.0, 100.0])).statistic.__round__(3)
    8.402
    """

    def term(seen: Floats, expected: Floats) -> Floats:
        return np.asarray(2 * seen * np.log(np.where(seen > 0, seen, expected) / expected))

    return _several("likelihood ratio (G)", p, n, term)


def _several(name: str, p: Floats, n: Floats, term: Callable[[Floats, Floats], Floats]) -> TestResult:
    from scipy.special import chdtrc

    known = (n > 0) & np.isfinite(p)
    p, n = p[known], n[known]
    if len(p) < 2:
        return TestResult(name, np.nan, np.nan)
    pooled = float((p * n).sum() / n.sum())
    if not 0 < pooled < 1:
        return TestResult(name, 0.0, 1.0)
    statistic = float((term(p * n, pooled * n) + term((1 - p) * n, (1 - pooled) * n)).sum())
    return TestResult(name, statistic, max(float(chdtrc(len(p) - 1, max(statistic, 0.0))), LEAST_P))


def splits(part: int, n_a: int, n: int) -> tuple[Ints, Floats]:
    """How many of `part` people fall among the first n_a of n, and the logarithm of each chance: hypergeometric.

    From ratios of neighbours, which lose no digits when counts are large. Chances below about 1e-300 are left out. Of
    many millions of people only every so many numbers are told, a thousand within a standard deviation.

    >>> k, log_p = splits(3, 2, 5)
    >>> k.tolist(), np.exp(log_p).round(2).tolist()
    ([0, 1, 2], [0.1, 0.6, 0.3])
    """
    low, high = max(0, part + n_a - n), min(n_a, part)
    mean = n_a * (part / n)
    spread = np.sqrt(mean * (1 - part / n) * (1 - n_a / n) * n / max(n - 1, 1))
    reach = 40 * spread + 50
    low, high = max(low, int(mean - reach)), min(high, int(mean + reach) + 1)
    stride = max(int(spread / FINE), 1)
    k = np.arange(low, high + 1, stride, dtype=np.int64)
    x = k[:-1] + (stride - 1) / 2
    steps = stride * (np.log(part - x) + np.log(n_a - x) - np.log(x + 1) - np.log(n - part - n_a + x + 1))
    log_p = np.concatenate([[0.0], np.cumsum(steps)])
    log_p -= log_p.max()
    return k, np.asarray(log_p - np.log(np.exp(log_p).sum()))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: all that are below 5 % hold together with 95 % certainty.

    >>> [round(x, 3) for x in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order, ordered = _in_order(p)
    adjusted = np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    return _back(order, adjusted)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p-values: of those below 5 %, no more than 5 % are expected to be false.

    >>> [round(x, 3) for x in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    order, ordered = _in_order(p)
    scaled = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    return _back(order, np.minimum.accumulate(scaled[::-1])[::-1])


def at_floor(p_value: float | None, method: str | None) -> bool:
    """Whether none of the tables drawn, whose number a method begins with, showed as much: p may be smaller.

    >>> at_floor(0.01, "99 permutations"), at_floor(0.02, "99 permutations"), at_floor(1e-9, "exact")
    (True, False, False)
    >>> at_floor(0.01, "exact; 99 resamples, recentred")
    True
    """
    draws = [part.partition(" ")[0] for part in (method or "").split("; ")]
    return p_value is not None and any(n.isdigit() and p_value <= 1 / (int(n) + 1) for n in draws)


def counted_once(
    rule: Callable[[Sequence[float]], list[float]], p: Sequence[float], about: Sequence[Hashable]
) -> list[float]:
    """Adjusted p-values where those about the same thing count once, by the largest of them.

    >>> [round(x, 3) for x in counted_once(holm, [0.01, 0.01, 0.04], ["rate", "rate", "score"])]
    [0.02, 0.02, 0.04]
    """
    largest: dict[Hashable, float] = {}
    for one, thing in zip(p, about, strict=True):
        largest[thing] = max(one, largest.get(thing, 0.0))
    adjusted = dict(zip(largest, rule(list(largest.values())), strict=True))
    return [adjusted[thing] for thing in about]


def holm_of_bounds(p: Sequence[float], at_most: Sequence[bool], about: Sequence[Hashable]) -> list[tuple[float, bool]]:
    """Holm's p-values where some are upper bounds, and whether the adjusted one is a bound by that too.

    >>> holm_of_bounds([0.01, 0.02, 0.5], [True, False, False], ["rate", "score", "label"])
    [(0.03, True), (0.04, False), (0.5, False)]
    """
    least = [0.0 if bound else one for one, bound in zip(p, at_most, strict=True)]
    found = zip(counted_once(holm, p, about), counted_once(holm, least, about), strict=True)
    return [(adjusted, low < adjusted) for adjusted, low in found]


def _in_order(p: Sequence[float]) -> tuple[Ints, Floats]:
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    return order, values[order]


def _back(order: Ints, adjusted: Floats) -> list[float]:
    out = np.empty(len(order))
    out[order] = np.minimum(adjusted, 1.0)
    return [float(x) for x in out]
