"""The columns within whose values groups are compared: counted as further group columns, compared as none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.ingest.confusion_counts import as_list
from evenhand.ingest.roles import Roles
from evenhand.tables.table import Table

Within = str | Sequence[str] | Mapping[str, Any] | None
"""Columns by name, or arrays by the names they get."""


def strata_names(within: Within) -> tuple[str, ...]:
    """The names of the columns, if they make sense.

    >>> strata_names("dept"), strata_names(["dept", "job"]), strata_names(None)
    (('dept',), ('dept', 'job'), ())
    """
    if within is None:
        return ()
    names = tuple(within) if isinstance(within, Mapping) else tuple(as_list(within))
    if not names or not all(isinstance(name, str) and name for name in names):
        raise UsageError(
            f"within (--within) is the name of a column or a list of names, such as ['dept'], not {shown(within)}"
        )
    if len({*names}) < len(names):
        raise UsageError(f"every column of within (--within) is named once, but {listed(names)} repeats one")
    return names


def with_strata(roles: Roles, within: Within) -> Roles:
    """The same roles, people counted by the strata too; of a table, which has its columns, they are as they were."""
    names = strata_names(within)
    if not names or roles.group is None:
        return roles
    group, given = roles.group, within if isinstance(within, Mapping) else None
    if isinstance(group, Mapping) or given is not None:
        own = dict(group) if isinstance(group, Mapping) else _named(group)
        columns: Any = {**own, **(given or {name: name for name in names})}
        before = [*own]
    else:
        before = [g for g in as_list(group) if isinstance(g, str)]
        if len(before) < len(as_list(group)):
            raise UsageError("groups are arrays, so pass those of within too: within={'dept': array}")
        columns = [*before, *names]
    if twice := [name for name in names if name in before]:
        raise UsageError(
            f"{shown(twice[0])} cannot be both compared (group, --group) and what people are compared within (within, "
            "--within): name it once"
        )
    if isinstance(roles.prediction, str) and roles.prediction in names:
        raise UsageError(
            f"within (--within) {shown(roles.prediction)} everybody is decided alike, since that is the decision: name "
            "another column"
        )
    return replace(roles, group=columns)


def _named(group: Any) -> dict[str, Any]:
    if all(isinstance(g, str) for g in as_list(group)):
        return {g: g for g in as_list(group)}
    return {"group": group}


def compared_names(table: Table, within: Sequence[str]) -> list[str]:
    """The attributes of a table that are compared, the others being those of the strata."""
    names = [a.name for a in table.attributes]
    for name in within:
        if name not in names:
            raise UsageError(
                f"within (--within) {shown(name)} is not an attribute of the table (it has: {listed(names)})"
                f"{nearest(name, names)}"
            )
    compared = [name for name in names if name not in within]
    if not compared:
        raise UsageError(
            f"within (--within) names every attribute of the table ({listed(names)}), so nothing is left to compare: "
            "leave one out"
        )
    return compared
