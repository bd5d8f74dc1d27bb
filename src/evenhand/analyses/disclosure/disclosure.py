"""What a table holds, and what somebody who has it could learn about single people."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import UsageError, shown
from evenhand.report.result import Result
from evenhand.tables.arrays import Bools, Ints
from evenhand.tables.confusion import Confusion
from evenhand.tables.groups import Grouping
from evenhand.tables.merging import resolution_of
from evenhand.tables.storage import format_of, load
from evenhand.tables.table import Table

SMALL = (5, 10)


@dataclass(frozen=True)
class Disclosure:
    """What somebody who has the table could learn about people, from true counts."""

    smallest: int
    """People in the smallest cell."""
    alone: int
    """People who stand alone with their groups, label, decision and score: known of them all, if any is."""
    below: dict[int, tuple[int, int]]
    """For some sizes, how many cells are smaller, and how many people they hold."""
    one_label: tuple[tuple[str, int], ...]
    """Groups of two or more attributes together in which everybody has one label, and their people."""
    label_told: int
    """People whose label is certain to whoever knows their groups, decision and score."""


@dataclass(frozen=True, repr=False)
class TableInfo(Result):
    """What a table holds and tells. Print it, or take `to_dict`."""

    table: Table | Confusion
    format: str
    disclosure: Disclosure | None
    """None of a private table: its counts are noised, so a cell of one need not be a person."""
    resolution: float | None
    """How far score-level measures may be from exact ones, in the first attribute; 0 if all scores are exact."""


def table_info(data: Any) -> TableInfo:
    """What a table, or a saved one, holds, and what it tells about single people.

    >>> import evenhand
    >>> people = {"s": [0.2, 0.7, 0.7], "y": [0, 1, 1], "g": ["f", "m", "m"]}
    >>> found = evenhand.table_info(evenhand.tabulate(people, score="s", label="y", group="g"))
    >>> found.disclosure.alone, found.disclosure.one_label
    (1, (('f', 1), ('m', 2)))
    """
    if isinstance(data, str | os.PathLike):
        data = load(data)
    if not isinstance(data, Table | Confusion):
        raise UsageError(f"this takes a table or the name of a saved one, not {shown(data)}")
    private = isinstance(data, Table) and data.noise is not None
    resolution = resolution_of(data) if isinstance(data, Table) else None
    return TableInfo(data, format_of(data), None if private else _disclosure(data), resolution)


def _disclosure(table: Table | Confusion) -> Disclosure:
    n, grouping = table.n, table.finest
    label, rest = _label(table)
    certain = _alone(rest, label) if label is not None else np.zeros(len(n), np.bool_)
    return Disclosure(
        smallest=int(n.min()),
        alone=int(n[n == 1].sum()),
        below={k: (int((n < k).sum()), int(n[n < k].sum())) for k in SMALL},
        one_label=_uniform(table, grouping, label),
        label_told=int(n[certain].sum()),
    )


def _label(table: Table | Confusion) -> tuple[Ints | None, Ints]:
    """The label of each cell, and a number for all else that is told of its people."""
    others: list[Any] = [*table.codes]
    if isinstance(table, Confusion):
        others.append(table.predicted)
        label: Any = table.true
    else:
        others += [a for a in (table.score, table.decision) if a is not None]
        label = table.label
    rest = np.zeros(len(table.n), np.int64)
    for other in others:
        place = np.unique(other, return_inverse=True)[1].reshape(-1)
        rest = np.unique(rest * (int(place.max()) + 1) + place, return_inverse=True)[1].reshape(-1)
    return None if label is None else label.astype(np.int64), rest


def _alone(rest: Ints, label: Ints) -> Bools:
    """Cells whose people all others of the same kind share the label with."""
    low, high = np.full(int(rest.max()) + 1, np.iinfo(np.int64).max), np.full(int(rest.max()) + 1, -1)
    np.minimum.at(low, rest, label)
    np.maximum.at(high, rest, label)
    return np.asarray((low == high)[rest])


def _uniform(table: Table | Confusion, grouping: Grouping, label: Ints | None) -> tuple[tuple[str, int], ...]:
    if label is None:
        return ()
    own = grouping.codes[grouping.inside].astype(np.int64)
    groups = np.unique(own[_alone(own, label[grouping.inside])]).tolist() if len(own) else []
    sizes = table.sizes(grouping)
    return tuple((grouping.groups[g], int(sizes[g])) for g in groups)
