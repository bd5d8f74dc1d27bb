"""Resamples of people whom several models score: one draw serves every model, so that differences stay paired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.inference.resample import CELLS_AT_ONCE
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.table import Table

ROWS_PER_CELL = 8
"""With fewer people than this in a cell on average, people are drawn one by one: it is faster than a multinomial."""

MOST_DRAWN = 50_000
"""So many people at most are drawn one by one; what resamples say is then scaled to the number of people there are."""


@dataclass(frozen=True)
class Layout:
    """A dense array that cells of a table are counted into."""

    place: Ints
    """Where each cell goes in the flat array."""
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


class Together:
    """People, or clusters, drawn with replacement and counted into several dense arrays.

    `scale` is by how much less than these resamples a resample of everybody would vary.
    """

    def __init__(self, table: Table, layouts: Sequence[Layout]) -> None:
        self.table, self.layouts = table, layouts
        self.clusters = table.clustered
        if self.clusters:
            assert table.cluster is not None
            self.unit = np.unique(table.cluster, return_inverse=True)[1].reshape(-1)
            self.places: Any = [layout.place for layout in layouts]
            self.mass = table.mass.astype(np.float64)
            self.people = np.ones(int(self.unit.max()) + 1)
        else:
            self._merge()
        self.drawn = int(np.rint(self.people.sum()))
        few = len(self.people) > MOST_DRAWN and not self.clusters
        self.scale = 1.0
        if few and self.drawn > MOST_DRAWN:
            self.scale = float(np.sqrt(MOST_DRAWN / self.drawn))

    def _merge(self) -> None:
        """Cells that go to the same places everywhere are one unit.

        With sampling weights a unit holds so many people of equal weight as count as much.
        """
        table = self.table
        places = np.stack([layout.place for layout in self.layouts])
        order = np.lexsort(places)
        ordered = places[:, order]
        starts = np.flatnonzero(np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(0)])
        total = np.add.reduceat(table.mass[order].astype(np.float64), starts)
        self.mass = np.ones(len(starts))
        if table.weight2 is not None:
            self.mass = np.add.reduceat(table.weight2[order], starts) / total
        self.places, self.unit, self.people = list(ordered[:, starts]), np.arange(len(starts)), total / self.mass

    def draws(self, count: int, rng: np.random.Generator) -> Iterator[list[NDArray[Any]]]:
        """Batches of the dense arrays, each with a leading axis, `count` in all."""
        largest = max(sum(layout.size for layout in self.layouts), len(self.people) if self.scale == 1 else MOST_DRAWN)
        at_once = max(1, CELLS_AT_ONCE // largest)
        for start in range(0, count, at_once):
            batch = min(at_once, count - start)
            flat = self._some(batch, rng) if self.scale < 1 else self._everybody(batch, rng)
            yield [a.reshape(batch, *layout.shape) for a, layout in zip(flat, self.layouts, strict=True)]

    def _some(self, batch: int, rng: np.random.Generator) -> list[Floats]:
        """A sample of the people, counted one by one."""
        upto = np.cumsum(self.people)
        arrays = [np.empty((batch, layout.size)) for layout in self.layouts]
        for i in range(batch):
            who = np.searchsorted(upto, rng.random(MOST_DRAWN) * upto[-1], side="right").clip(max=len(upto) - 1)
            weight = None if self.table.weight2 is None else self.mass[who]
            for array, place in zip(arrays, self.places, strict=True):
                array[i] = np.bincount(place[who], weights=weight, minlength=array.shape[1])
        return arrays

    def _everybody(self, batch: int, rng: np.random.Generator) -> list[Floats]:
        from scipy.sparse import csr_array

        times = self._times(batch, rng)
        return [
            np.ascontiguousarray(
                (csr_array((self.mass, (place, self.unit)), shape=(layout.size, len(self.people))) @ times).T
            )
            for place, layout in zip(self.places, self.layouts, strict=True)
        ]

    def _times(self, batch: int, rng: np.random.Generator) -> Floats:
        """How often people of each unit are drawn, axes (unit, draw)."""
        people = self.people
        if self.table.weight2 is not None and not self.clusters:
            return np.asarray(rng.poisson(people, size=(batch, len(people))).T, np.float64)
        if self.drawn > ROWS_PER_CELL * len(people):
            drawn: Any = rng.multinomial(self.drawn, people / people.sum(), size=batch)
            return np.ascontiguousarray(drawn.T, np.float64)
        of_person = np.repeat(np.arange(len(people)), np.rint(people).astype(np.int64))
        times = [
            np.bincount(of_person[rng.integers(0, self.drawn, size=self.drawn)], minlength=len(people))
            for _ in range(batch)
        ]
        return np.ascontiguousarray(np.stack(times, axis=1), np.float64)
