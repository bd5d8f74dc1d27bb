"""The second of two models that are aggregated alike: where its predictions are, and what both are called."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import UsageError, listed, shown, shown_name, unknown
from evenhand.files.paths import as_path, shown_path
from evenhand.ingest.engines import names_of
from evenhand.ingest.roles import Roles
from evenhand.tables.cells import natural
from evenhand.tables.confusion import Confusion
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.analyses.classes.result import Aggregate


OF_FILES = frozenset("/\\*?[.-")
"""What a name of a file, a pattern or an address has, and few names of columns."""


def second(data: Any, roles: Roles, against: Any) -> tuple[tuple[Any, Roles], tuple[str, str]]:
    """The data and roles of the second model, and the names of both.

    >>> rows = {"job": ["a"], "one": ["a"], "two": ["b"], "sex": ["f"]}
    >>> (_, roles), names = second(rows, Roles(label="job", prediction="one", group="sex"), "two")
    >>> roles.prediction, names
    ('two', ('one', 'two'))
    """
    if isinstance(roles.prediction, str) and isinstance(against, str) and not is_table(data):
        columns = names_of(data)
        if against == roles.prediction:
            raise UsageError(f"the second model is the first one: both are column {shown(against)}")
        if against in columns:
            return (data, replace(roles, prediction=against)), (roles.prediction, against)
        if not OF_FILES & {*against} and not os.path.lexists(against):
            raise unknown("against= (--against) names neither a column nor a file:", against, columns)
    files = [as_path(one) if isinstance(one, str | os.PathLike) else None for one in (data, against)]
    if files[0] is not None and files[0] == files[1]:
        raise UsageError(f"the second model is the first one: both are {shown_path(files[0])}")
    names = tuple("" if file is None else file.stem for file in files)
    own, theirs = names if all(names) and names[0] != names[1] else ("model 1", "model 2")
    return (against, Roles() if is_table(against) else roles), (own, theirs)


def with_the_same_classes(
    own: Confusion, theirs: Confusion, names: tuple[str, str]
) -> tuple[Confusion, Confusion, list[str]]:
    """Both tables with the classes of both: one model may predict a class that the other never does."""
    classes = tuple(sorted({*own.classes, *theirs.classes}, key=natural))
    notes = []
    for table, other, name in ((own, theirs, names[0]), (theirs, own, names[1])):
        more = [c for c in table.classes if c not in other.classes]
        real = [c for c in more if (table.true == table.classes.index(c)).any()]
        if real:
            raise UsageError(f"two models are compared over the same classes, but only one of them has {listed(real)}")
        if more:
            notes.append(
                f"only {shown_name(name)} predicts {listed(more)}: both models are aggregated over the classes of both"
            )
    return _with_classes(own, classes), _with_classes(theirs, classes), notes


def _with_classes(table: Confusion, classes: tuple[str, ...]) -> Confusion:
    places = {name: k for k, name in enumerate(classes)}
    place = np.array([places[c] for c in table.classes], np.int32)
    return replace(table, classes=classes, true=place[table.true], predicted=place[table.predicted])


def other_people(own: Aggregate, theirs: Aggregate) -> list[str]:
    """Whether both models were applied to the same people, as far as their counts tell."""
    differ = int((own.joint != theirs.joint).sum())
    if not differ:
        return []
    return [
        f"both models were not applied to the same people: their numbers differ in {differ:,} of {own.joint.size:,} "
        "classes and groups, so a difference may be one of people"
    ]


def is_table(data: Any) -> bool:
    """Whether data are counted already: a table, or the file of one."""
    from evenhand.tables.storage import is_table_file

    return isinstance(data, Table | Confusion) or (isinstance(data, str | os.PathLike) and is_table_file(data))
