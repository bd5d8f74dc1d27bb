"""Two groups' rates in many strata → one pooled difference, odds ratio and test, for few large strata and many sparse.

Mantel & Haenszel (1959); Sato, Greenland & Robins (1989); Klingenberg (2014); Robins, Breslow & Greenland (1986);
Breslow & Day (1980); Tarone (1985).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenhand.inference.interval import difference, wilson, z_value
from evenhand.inference.significance import LEAST_P, TestResult, splits
from evenhand.measures.rates import FEW, ratio
from evenhand.tables.arrays import Floats, Ints, Pair

MOST_EXACT = 20_000
"""So many values at most of the sum over strata are told exactly."""
EXPECTED = 5.0
"""Below so many expected people in most cells a χ² of homogeneity over strata is not one."""


@dataclass(frozen=True)
class Pooled:
    """One number for all strata together."""

    value: float
    ci: Pair | None
    method: str


@dataclass(frozen=True)
class Homogeneity:
    """Whether the odds ratio is the same in all strata."""

    test: TestResult
    tarone: TestResult
    df: int
    sparse: bool
    """Whether so few are expected in most cells that the test is not to be believed."""


@dataclass(frozen=True)
class Strata:
    """Of two groups in each stratum: how many people a rate is about, and how many of them it counts.

    Strata in which either group has nobody contribute nothing to what is pooled.
    """

    a: Floats
    """Of the group: those counted,"""
    n: Floats
    """among so many."""
    c: Floats
    """Of the reference."""
    m: Floats

    @property
    def there(self) -> Ints:
        """The strata that have both groups."""
        return np.flatnonzero((self.n > 0) & (self.m > 0))

    @cached_property
    def both(self) -> Strata:
        """Those strata alone."""
        i = self.there
        return Strata(self.a[i], self.n[i], self.c[i], self.m[i])

    @property
    def differences(self) -> Floats:
        """In each stratum, NaN where it lacks a group."""
        return ratio(self.a, self.n) - ratio(self.c, self.m)

    @property
    def weights(self) -> Floats:
        """Of Mantel and Haenszel."""
        return self.n * self.m / (self.n + self.m)


def risk_difference(strata: Strata, confidence: float) -> Pooled:
    """The Mantel–Haenszel difference of rates.

    Its interval holds every difference that is no further off than its own standard error by Sato allows (Klingenberg).

    >>> counts = [np.array(x, float) for x in ([89, 17], [108, 25], [512, 353], [825, 560])]
    >>> found = risk_difference(Strata(*counts), 0.95)
    >>> round(found.value, 3), [round(end, 3) for end in found.ci]
    (0.173, [0.094, 0.243])
    """
    s = strata.both
    size, w = s.n + s.m, s.weights
    value = float((s.a * s.m - s.c * s.n) @ (1 / size) / w.sum())
    if not 0 < s.a.sum() + s.c.sum() < size.sum():
        return Pooled(value, _of_shares((float(s.a[0] > 0),) * 2, _kish(s, w), confidence), "Newcombe")
    p = ((s.n**2 * s.c - s.m**2 * s.a + s.n * s.m * (s.m - s.n) / 2) / size**2).sum() / w.sum() ** 2
    q = ((s.a * (s.m - s.c) + s.c * (s.n - s.a)) / (2 * size)).sum() / w.sum() ** 2
    z2 = float(z_value(confidence)) ** 2
    middle = value + z2 * p / 2
    half = float(np.sqrt(max(middle**2 - value**2 + z2 * q, 0.0)))
    return Pooled(
        value, (float(max(middle - half, -1.0)), float(min(middle + half, 1.0))), "Klingenberg, variance by Sato"
    )


def odds_ratio(strata: Strata, confidence: float) -> Pooled | None:
    """The Mantel–Haenszel odds ratio; None if it is 0/0. Without one of its sums the limits are exact ones."""
    s = strata.both
    size = s.n + s.m
    ad, bc = s.a * (s.m - s.c) / size, (s.n - s.a) * s.c / size
    r, t = ad.sum(), bc.sum()
    if r == 0 and t == 0:
        return None
    value = float(r / t) if t else np.inf
    if r == 0 or t == 0:
        return Pooled(value, _exact_limits(s, confidence), "exact conditional")
    p, q = (s.a + s.m - s.c) / size, (s.n - s.a + s.c) / size
    variance = (p @ ad) / (2 * r * r) + (p @ bc + q @ ad) / (2 * r * t) + (q @ bc) / (2 * t * t)
    half = float(z_value(confidence) * np.sqrt(variance))
    return Pooled(value, (float(value * np.exp(-half)), float(value * np.exp(half))), "Robins–Breslow–Greenland")


def association(strata: Strata) -> tuple[TestResult, TestResult | None]:
    """Whether the groups' rates differ in any stratum: Cochran–Mantel–Haenszel, and exactly if that can be listed."""
    from scipy.special import chdtrc

    s = strata.both
    size, part = s.n + s.m, s.a + s.c
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(size > 1, s.n * s.m * part * (size - part) / (size**2 * (size - 1)), 0.0).sum()
    name = "Cochran–Mantel–Haenszel"
    if spread == 0:
        return TestResult(name, 0.0, 1.0), None
    statistic = float((s.a - s.n * part / size).sum() ** 2 / spread)
    found = TestResult(name, statistic, max(float(chdtrc(1, statistic)), LEAST_P))
    listed = _sums(s)
    if listed is None:
        return found, None
    first, chance = listed
    here = chance[int(np.rint(s.a.sum())) - first]
    p = float(chance[chance <= here * (1 + 1e-7)].sum())
    return found, TestResult("exact conditional", float(s.a.sum()), min(max(p, LEAST_P), 1.0))


def homogeneity(strata: Strata) -> Homogeneity | None:
    """Breslow and Day's test that the odds ratio is the same in all strata; None where nothing can tell."""
    from scipy.special import chdtrc

    s = strata.both
    size, part = s.n + s.m, s.a + s.c
    told = (part > 0) & (part < size)
    common = odds_ratio(strata, 0.95)
    if told.sum() < 2 or common is None or not 0 < common.value < np.inf:
        return None
    a, n, m, part = s.a[told], s.n[told], s.m[told], part[told]
    expected = _expected(common.value, n, m, part)
    cells = np.array([expected, n - expected, part - expected, m - part + expected])
    variance = 1 / (1 / cells).sum(0)
    statistic = float(((a - expected) ** 2 / variance).sum())
    corrected = statistic - float((a - expected).sum() ** 2 / variance.sum())
    df = int(told.sum()) - 1
    plain, tarone = (
        TestResult(name, value, max(float(chdtrc(df, max(value, 0.0))), LEAST_P))
        for name, value in (("Breslow–Day", statistic), ("Breslow–Day, Tarone's correction", corrected))
    )
    return Homogeneity(plain, tarone, df, bool(np.mean(cells < EXPECTED) > 0.2))


def standardised(strata: Strata, people: Floats, confidence: float) -> Pooled:
    """Σ share × difference, over the strata that have both groups; shares are those of the `people` in them.

    Variances of shares in strata are added up, with n − 1 for n, which is right on average however sparse they are;
    together they are those of so many people as know a share as well, by Wilson's and Newcombe's intervals.
    """
    s, share = strata.both, people[strata.there]
    share = share / share.sum()
    rates, known = [], []
    for part, whole in ((s.a, s.n), (s.c, s.m)):
        p, kish = part / whole, 1 / float((share**2 / whole).sum())
        rate = float(share @ p)
        plain = rate * (1 - rate)
        own = np.where(whole > 1, p * (1 - p) / np.maximum(whole - 1, 1.0), plain)
        few = kish * min(rate, 1 - rate)
        spread = (few * float(share**2 @ own) + FEW * plain / kish) / (few + FEW)
        rates.append(rate)
        known.append(plain / spread if spread > 0 else kish)
    return Pooled(
        float(rates[0] - rates[1]), _of_shares(tuple(rates), known, confidence), "direct standardisation, Newcombe"
    )


# ---- parts -----------------------------------------------------------------------------------------------------------


def _kish(s: Strata, weights: Floats) -> list[float]:
    """How many people of each group in one stratum would know a rate as well as all strata with these weights."""
    share = weights / weights.sum()
    return [1 / float((share**2 / people).sum()) for people in (s.n, s.m)]


def _of_shares(rates: tuple[float, ...], people: list[float], confidence: float) -> Pair:
    """Newcombe's interval for a difference."""
    limits = [wilson(p, n, confidence) for p, n in zip(rates, people, strict=True)]
    low, high = difference(rates[0], limits[0], rates[1], limits[1])
    return max(float(low), -1.0), min(float(high), 1.0)


def _expected(odds: float, n: Floats, m: Floats, part: Floats) -> Floats:
    """How many of the group are counted in each stratum, if it has these margins and this odds ratio."""
    if odds == 1:
        return n * part / (n + m)
    b = odds * (n + part) + m - part
    return np.asarray(2 * odds * n * part / (b + np.sqrt(b * b - 4 * odds * (odds - 1) * n * part)))


def _sums(s: Strata) -> tuple[int, Floats] | None:
    """The chance of every number that the group's parts may add up to, from the least; None if they are too many."""
    rows = [np.rint(x).astype(np.int64).tolist() for x in (s.a + s.c, s.n, s.n + s.m)]
    reach = sum(min(part, n) - max(0, part + n - size) for part, n, size in zip(*rows, strict=True))
    if reach > MOST_EXACT:
        return None
    first, chance = 0, np.ones(1)
    for part, n, size in zip(*rows, strict=True):
        k, log_p = splits(part, n, size)
        if len(k) != k[-1] - k[0] + 1:
            return None
        first += int(k[0])
        chance = np.convolve(chance, np.exp(log_p))
    return first, chance / chance.sum()


def _exact_limits(s: Strata, confidence: float) -> Pair | None:
    """Of an odds ratio of 0 or ∞: the other end, at which so extreme a sum has half of what the level leaves."""
    listed = _sums(s)
    if listed is None:
        return None
    _, chance = listed
    least = (s.a * (s.m - s.c)).sum() == 0
    chance = chance if least else chance[::-1]
    if chance[0] <= 0:
        return None
    with np.errstate(divide="ignore"):
        log_p, k = np.log(chance), np.arange(len(chance))
    near, far, tail = -50.0, 50.0, np.log((1 - confidence) / 2)
    for _ in range(60):
        middle = (near + far) / 2
        terms = log_p + k * middle
        of_it = log_p[0] - (terms.max() + np.log(np.exp(terms - terms.max()).sum()))
        near, far = (middle, far) if of_it > tail else (near, middle)
    return (0.0, float(np.exp(middle))) if least else (float(np.exp(-middle)), np.inf)
