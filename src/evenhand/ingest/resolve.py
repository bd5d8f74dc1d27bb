"""The table given, saved, or counted from data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenhand.errors import TableFileError, UsageError, listed, shown
from evenhand.ingest.confusion_counts import roles_of_counts
from evenhand.ingest.roles import Roles
from evenhand.ingest.tabulation import count_rows, is_several, tabulate_together
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table


def as_table(data: Any, roles: Roles, cuts: Any = ()) -> Table:
    """The table of scores or decisions given, saved, or counted from data in these roles."""
    table = as_counts(data, roles, cuts)
    if isinstance(table, JointTable):
        raise UsageError(f"this is about one score, not several ({listed(table.names)}): name one")
    if isinstance(table, Confusion):
        raise UsageError(
            f"this needs a label of two values, but {shown(table.meaning.label)} and {shown(table.meaning.prediction)} "
            f"have {len(table.classes)} classes ({listed(table.classes, 5)}): take one of them with "
            "Confusion.of_class(name), or audit all of them (evenhand audit)"
        )
    return table


def as_counts(data: Any, roles: Roles, cuts: Any = (), grid: Any = None) -> Table | Confusion | JointTable:
    """The table given, saved, or counted from data in these roles, exact at the cuts."""
    from evenhand.files.paths import as_path, is_file
    from evenhand.tables.storage import is_table_file, load

    table: Table | Confusion | JointTable
    depth = roles.depth
    if isinstance(getattr(data, "roles", None), Roles):
        raise UsageError("these data have their roles already: ask them, as in evenhand.data(…).audit()")
    if isinstance(data, Table | Confusion | JointTable):
        table = data
    elif isinstance(data, str | os.PathLike) and is_table_file(data):
        table = load(data)
    elif (counts := roles_of_counts(data, roles)) is not None:
        return count_rows(data, counts)
    elif roles.group is not None:
        if not is_several(roles.score, data):
            return count_rows(data, roles, grid=grid, cuts=cuts)
        if len(roles.score) == 1 and not isinstance(roles.score, Mapping):
            return count_rows(data, replace(roles, score=roles.score[0]), grid=grid, cuts=cuts)
        return tabulate_together(data, roles)
    elif isinstance(data, str | os.PathLike) and not roles.said() and is_file(as_path(data)):
        try:
            table = load(data)  # it fails, and says why
        except TableFileError as error:
            raise TableFileError(
                f"{error}; if it holds rows, name their columns, at least a group (--group): evenhand init (propose in "
                "Python) says which they may be"
            ) from error
    else:
        raise UsageError("name at least one group column (--group)")
    if grid is not None:
        raise UsageError("a table is counted already: leave grid out")
    if depth is not None:
        table = table.crossed(depth)
    if said := replace(roles, depth=None).said():
        raise UsageError(
            f"a table knows its columns already: leave out {listed(said)}, or audit the data it was made from"
        )
    return table
