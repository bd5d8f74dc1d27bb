"""Dense counts of one grouping: level × group × label, leading axes passing through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.tables.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Units:
    """Rows that belong together, such as several of one person: what each cluster holds of dense counts."""

    cluster: Ints
    """Of each entry, from 0."""
    place: Ints
    """Where it stands in the flat array of counts."""
    mass: Floats
    rows: Floats
    """How many rows it stands for."""
    count: int
    """How many clusters there are."""

    def squares(self, kind: Ints, kinds: int, value: Floats) -> Floats:
        """Σ over clusters of the square of each cluster's sum, by kind of entry; a kind of −1 stands aside."""
        used = kind >= 0
        key = self.cluster[used] * kinds + kind[used]
        if self.count * kinds > 10 * len(key) + 10**6:  # a dense array would be nearly empty
            keys, key = np.unique(key, return_inverse=True)
            sums = np.bincount(key.reshape(-1), weights=value[used])
            return np.asarray(np.bincount(keys % kinds, weights=sums**2, minlength=kinds), np.float64)
        sums = np.bincount(key, weights=value[used], minlength=self.count * kinds)
        return np.asarray((sums.reshape(self.count, kinds) ** 2).sum(0), np.float64)

    def only(self, chosen: Bools, place: Ints) -> Units:
        """Some of the entries, in new places; the clusters that are left count from 0."""
        found, cluster = np.unique(self.cluster[chosen], return_inverse=True)
        return Units(cluster.reshape(-1), place[chosen], self.mass[chosen], self.rows[chosen], len(found))


@dataclass(frozen=True)
class ScoreBin:
    """A range of scores, in the units of the data.

    >>> str(ScoreBin("(0.3, 0.4]", 0.3, 0.4)), str(ScoreBin("(4.6, 5.5]", 4.6, 5.5, score=5.0))
    ('in the score bin 0.3 to 0.4', 'at the score 5')
    """

    name: str
    """Its borders, and which of them belong to it."""
    low: float
    high: float
    score: float | None = None
    """The score of everybody in it, if all have the same and there are enough of them to tell it."""

    def __str__(self) -> str:
        if self.score is not None:
            return f"at the score {self.score:.12g}"
        low, high = self.name[1:-1].split(", ")
        return f"in the score bin {low} to {high}"


@dataclass(frozen=True)
class Counts:
    """Dense counts of one grouping, axes (…, level, group, label).

    A level is a decision (rejected, selected) or a score bin. The label axis is (unfavourable,
    favourable), or has length one when there are no labels. Leading axes are resamples.
    """

    array: NDArray[Any]
    groups: tuple[str, ...]
    squares: Floats | None = None
    """Sums of squared weights, in the shape of `array`: present only for sampling weights."""
    units: Units | None = None
    """Which rows belong together, if not every row is a person."""
    noisy: bool = False
    """Whether noise was added to the counts, so that `squares` are their variances."""
    bins: tuple[ScoreBin, ...] = ()
    """The levels, if they are score bins."""

    @property
    def exchangeable(self) -> bool:
        """Whether every row is one person like any other, so that group labels may be permuted."""
        return self.squares is None and self.units is None

    @property
    def has_label(self) -> bool:
        return bool(self.array.shape[-1] == 2)

    @property
    def weight_of_a_person(self) -> Floats:
        """In each group: 1, or Σw²/Σw, so that nothing depends on the unit of the weights."""
        weights = np.asarray(self.array.sum((-3, -1)), np.float64)
        people = self.people()
        return np.asarray(np.divide(weights, people, out=np.ones_like(weights), where=people > 0))

    def people(self, by_label: bool = False) -> Floats:
        """How many people, or clusters, of equal weight would count as much, by group or by (group, label).

        With sampling weights Kish's (Σw)²/Σw².
        """
        axes: Any = -3 if by_label else (-3, -1)
        weights = np.asarray(self.array.sum(axes), np.float64)
        if self.units is not None:
            groups, labels = self.array.shape[-2:]
            kind = self.units.place % (groups * labels) // (1 if by_label else labels)
            squares = self.units.squares(kind, weights.size, self.units.mass).reshape(weights.shape)
        elif self.squares is not None:
            squares = np.asarray(self.squares.sum(axes))
        else:
            return weights
        return np.asarray(np.divide(weights**2, squares, out=np.zeros_like(weights), where=weights > 0))

    def regrouped(self, to: Ints, groups: tuple[str, ...]) -> Self:
        """The same people in other groups: `to` (level, group, label) says in which; −1 leaves them out."""
        level, _, label = np.indices(to.shape)
        kept = to >= 0
        shape = (to.shape[0], len(groups), to.shape[2])
        place = np.where(kept, (level * shape[1] + to) * shape[2] + label, -1)

        def added(array: NDArray[Any]) -> NDArray[Any]:
            sums = np.zeros(shape, array.dtype)
            np.add.at(sums.reshape(-1), place[kept], array[kept])
            return sums

        units = self.units
        if units is not None:
            new = place.reshape(-1)[units.place]
            units = units.only(new >= 0, new)
        squares = None if self.squares is None else added(self.squares)
        return replace(self, array=added(self.array), groups=groups, squares=squares, units=units)

    def only(self, groups: Sequence[int]) -> Self:
        """The counts of some of the groups, in this order."""
        chosen = list(groups)
        units = self.units
        if units is not None:
            level, group, label = np.unravel_index(units.place, self.array.shape[-3:])
            new = np.full(len(self.groups), -1)
            new[chosen] = np.arange(len(chosen))
            labels = self.array.shape[-1]
            units = units.only(new[group] >= 0, (level * len(chosen) + new[group]) * labels + label)
        return replace(
            self,
            array=self.array[..., chosen, :],
            groups=tuple(self.groups[g] for g in chosen),
            squares=None if self.squares is None else self.squares[..., chosen, :],
            units=units,
        )
