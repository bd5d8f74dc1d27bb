"""Resamples of people whom several models score: one draw serves every model, so that differences stay paired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.cells import Floats, Ints
from evenhand.inference.resample import CELLS_AT_ONCE
from evenhand.table import Table

ROWS_PER_CELL = 8
"""With fewer people than this in a cell on average, people are drawn one by one: it is faster than a multinomial."""


@dataclass(frozen=True)
class Layout:
    """A dense array that cells of a table are counted into."""

    place: Ints
    """Where each cell goes in the flat array."""
    shape: tuple[int, ...]


def resampled(
    table: Table, layouts: Sequence[Layout], draws: int, rng: np.random.Generator
) -> Iterator[list[NDArray[Any]]]:
    """Batches of the dense arrays, each with a leading axis: people (or clusters) drawn with replacement."""
    from scipy.sparse import csr_array

    places, unit, mass, units = _units(table, layouts)
    holds = [
        csr_array((mass, (place, unit)), shape=(int(np.prod(layout.shape)), len(units)))
        for place, layout in zip(places, layouts, strict=True)
    ]
    at_once = max(1, CELLS_AT_ONCE // max(len(units), *(int(np.prod(layout.shape)) for layout in layouts)))
    for start in range(0, draws, at_once):
        batch = min(at_once, draws - start)
        times = _times(table, units, batch, rng)
        yield [
            np.ascontiguousarray((hold @ times).T).reshape(batch, *layout.shape)
            for hold, layout in zip(holds, layouts, strict=True)
        ]


def _units(table: Table, layouts: Sequence[Layout]) -> tuple[list[Ints], Ints, Floats, Floats]:
    """What is drawn: places of its entries in every layout, their unit, their mass, and how many people units hold.

    Cells that go to the same places everywhere are one unit. With sampling weights an entry is what one person of its
    unit weighs, and units hold so many people of equal weight as count as much.
    """
    places = np.stack([layout.place for layout in layouts])
    if table.clustered:
        assert table.cluster is not None
        unit = np.unique(table.cluster, return_inverse=True)[1].reshape(-1)
        return list(places), unit, table.mass.astype(np.float64), np.ones(int(unit.max()) + 1)
    order = np.lexsort(places)
    ordered = places[:, order]
    new = np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(0)]
    starts = np.flatnonzero(new)
    mass = np.add.reduceat(table.mass[order].astype(np.float64), starts)
    person = np.ones(len(starts))
    if table.weight2 is not None:
        person = np.add.reduceat(table.weight2[order], starts) / mass
    return list(ordered[:, starts]), np.arange(len(starts)), person, mass / person


def _times(table: Table, people: Floats, batch: int, rng: np.random.Generator) -> Floats:
    """How often people of each unit are drawn, axes (unit, draw)."""
    if table.weight is not None and not table.clustered:
        return np.asarray(rng.poisson(people, size=(batch, len(people))).T, np.float64)
    total = int(np.rint(people.sum()))
    if total > ROWS_PER_CELL * len(people):
        drawn: Any = rng.multinomial(total, people / people.sum(), size=batch)
        return np.ascontiguousarray(drawn.T, np.float64)
    of_person = np.repeat(np.arange(len(people)), np.rint(people).astype(np.int64))
    times = [np.bincount(of_person[rng.integers(0, total, size=total)], minlength=len(people)) for _ in range(batch)]
    return np.ascontiguousarray(np.stack(times, axis=1), np.float64)
