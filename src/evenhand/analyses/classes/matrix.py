"""A matrix of rates by class and group."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.measures.aggregation import ClassRate, baseline
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.confusion import ClassCounts, Sums


@dataclass(frozen=True)
class Matrix:
    """A rate of every class and group, and what it is compared with."""

    rate: ClassRate
    values: Floats
    """Axes (class, group); NaN where undefined, unless empty cells count as a value."""
    base: Floats
    """Axes (class, 1)."""
    people: Floats
    """How many people each rate rests on; with sampling weights, as many as would know it as well."""
    base_people: Floats
    shares: Floats
    """Of all people that a class's rate rests on, how many are of each group."""
    which: str
    """The baseline: "overall" or "mean"."""
    empty: float | None
    vacant: Bools
    """Cells without rows."""
    apart: Bools | None = None
    """Classes that are not compared, axes (class, 1)."""

    def comparing(self) -> Matrix:
        """Without the classes that only one group has a rate of: its gap to itself would pass for parity."""
        if self.empty is not None:  # what counts as a rate is there in every group
            return self
        apart = (~self.vacant).sum(-1, keepdims=True) < 2
        values = np.where(apart, np.nan, self.values)
        return replace(self, values=values, vacant=self.vacant | apart, apart=apart)

    def of(self, sums: Sums, same_cells: bool = True) -> tuple[Floats, Floats]:
        """The same of other sums, with a leading axis: values and base. `same_cells`: what was undefined stays so."""
        values = self.rate.values(sums)
        values = np.where(self.vacant, np.nan, values) if same_cells else values
        values = values if self.apart is None else np.where(self.apart, np.nan, values)
        base = baseline(self.rate, sums, values if self.empty is None else self._filled(values), self.which)
        return self._filled(values), self._filled(base)

    @property
    def stretch(self) -> Floats:
        """By how much the spread of a share of n people exceeds that of draws from them and Jeffreys' prior.

        The variance p(1 − p)/n of the one over the mean of the other's, where p is ½ (elsewhere it exceeds it by less).
        """
        n = np.where(self.vacant | (self.people <= 0), 1.0, self.people)
        return np.asarray(np.sqrt((n + 2) / n * (n + 1) ** 2 / (n * n + n + 1)))

    def base_of(self, values: Floats) -> Floats:
        """How the base moves with values: by their shares, or alike."""
        known = np.where(np.isnan(values), 0.0, values)
        if self.which == "overall":
            return np.asarray(np.einsum("...cg,cg->...c", known, self.shares)[..., None])
        count = (~np.isnan(self.values)).sum(-1, keepdims=True)
        return np.asarray(known.sum(-1, keepdims=True) / np.maximum(count, 1))

    def gaps_of(self, values: Floats) -> Floats:
        """How far values are from the base that moves with them."""
        return np.asarray(values - self.base_of(values))

    def of_classes(self, chosen: slice) -> Matrix:
        """The rows of these classes."""
        apart = None if self.apart is None else self.apart[chosen]
        return replace(
            self, values=self.values[chosen], base=self.base[chosen], people=self.people[chosen], apart=apart,
            base_people=self.base_people[chosen], shares=self.shares[chosen], vacant=self.vacant[chosen],
        )  # fmt: skip

    def _filled(self, values: Floats) -> Floats:
        return values if self.empty is None else np.where(np.isnan(values), self.empty, values)


def matrix(rate: ClassRate, counts: ClassCounts, which: str = "overall", empty: float | None = None) -> Matrix:
    """The rate of every class and group of these counts."""
    sums = counts.sums()
    squares = None if counts.squares is None else counts.sums(counts.squares)
    whole = rate.whole(sums)
    total = whole.sum(-1, keepdims=True)
    plain = Matrix(
        rate=rate,
        values=rate.values(sums),
        base=np.zeros((len(whole), 1)),
        people=rate.people(sums, squares),
        base_people=rate.people(sums.overall(), None if squares is None else squares.overall()),
        shares=whole / np.where(total > 0, total, 1.0),
        which=which,
        empty=empty,
        vacant=whole <= 0,
    )
    values, base = plain.of(sums)
    return replace(plain, values=values, base=base)
