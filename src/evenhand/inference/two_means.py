"""A difference of two means of any number per person: its variance, its interval, and what chance alone shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.inference.null import Null, null_of
from evenhand.tables.arrays import Bools, Floats, Pair
from evenhand.tables.table import Table

_EVENLY = (np.arange(999) + 0.5) / 999
_ENOUGH = 20.0
"""So many people on either side tell how much a number varies that is mostly on which side they are."""


@dataclass(frozen=True)
class MeanDifference:
    """Of two means, by Welch."""

    means: Pair
    error: float
    """The standard error of their difference; NaN if a group of one shows no spread."""
    free: float
    """Degrees of freedom."""

    @property
    def value(self) -> float:
        return self.means[0] - self.means[1]

    def ci(self, confidence: float) -> Pair:
        """Student's interval.

        >>> low, high = MeanDifference((0.5, 0.25), 0.125, 10.0).ci(0.95)
        >>> round(low, 3), round(high, 3)
        (-0.029, 0.529)
        """
        from scipy.special import stdtrit

        half = float(stdtrit(self.free, (1 + confidence) / 2)) * self.error
        return self.value - half, self.value + half

    def null(self, confidence: float) -> Null:
        """What chance alone shows if the means are equal."""
        from scipy.special import stdtr, stdtrit

        sizes = self.error * np.asarray(stdtrit(self.free, (1 + _EVENLY) / 2))
        size = abs(self.value)
        p = float(2 * stdtr(self.free, -size / self.error)) if self.error > 0 else float(size == 0)
        return null_of(size, sizes, "Welch's t", confidence, p_value=p)


def mean_difference(
    table: Table, groups: tuple[Bools, Bools], value: Floats, side: Bools | None = None
) -> MeanDifference:
    """Of a number that each cell of a table has, between the people of two groups.

    Linearised: with sampling weights Σw²(x − mean)²/(Σw)²; of clusters the squares of what each adds to the difference.
    Where the number is mostly on which `side` people are (their outcome), and few or none of a group are on one of the
    two, they do not tell how much it varies: it is drawn up to the variance among all people of both.
    """
    mass = np.asarray(table.mass, np.float64)
    means = tuple(float(np.average(value[own], weights=mass[own])) for own in groups)
    away = [mass[own] * (value[own] - mean) / mass[own].sum() for own, mean in zip(groups, means, strict=True)]
    variance, free = _by_row(table, groups, away, value, side)
    if table.clustered:
        single, (variance, free) = variance, _by_cluster(table, groups, away)
        variance = variance if side is None else np.fmax(variance, single)
    return MeanDifference((means[0], means[1]), float(np.sqrt(variance)), float(free))


def _by_row(
    table: Table, groups: tuple[Bools, Bools], away: list[Floats], value: Floats, side: Bools | None
) -> tuple[float, float]:
    mass = np.asarray(table.mass, np.float64)
    squares = np.asarray(table.n if table.weight2 is None else table.weight2, np.float64)
    both = groups[0] | groups[1]
    overall = np.average((value[both] - np.average(value[both], weights=mass[both])) ** 2, weights=mass[both])
    parts = []
    for own, each in zip(groups, away, strict=True):
        n = mass[own].sum() ** 2 / squares[own].sum()
        if n <= 1 + 1e-9:
            return np.nan, 0.0
        own_variance = (squares[own] * (each / mass[own]) ** 2).sum() * n / (n - 1)
        if side is not None:
            share = mass[own & side].sum() / mass[own].sum()
            doubt = max(1 - n * min(share, 1 - share) / _ENOUGH, 0.0)
            own_variance += doubt * max(overall / n - own_variance, 0.0)
        parts.append((n, own_variance))
    n, variance = np.array(parts).T
    whole = float(variance.sum())
    return whole, whole**2 / float((variance**2 / (n - 1)).sum()) if whole > 0 else float(n.sum() - 2)


def _by_cluster(table: Table, groups: tuple[Bools, Bools], away: list[Floats]) -> tuple[float, float]:
    assert table.cluster is not None
    adds = np.zeros(len(table.cluster))
    for sign, own, each in zip((1, -1), groups, away, strict=True):
        adds[own] += sign * each
    clusters = [np.unique(table.cluster[own]) for own in groups]
    count, fewest = len(np.unique(np.concatenate(clusters))), min(map(len, clusters))
    if fewest < 2:
        return np.nan, 0.0
    sums = np.bincount(table.cluster, adds)
    return float((sums**2).sum()) * count / (count - 1), fewest - 1.0
