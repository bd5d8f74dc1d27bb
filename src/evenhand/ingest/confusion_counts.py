"""Confusion counts: data whose rows are not people but cells, with how many people these hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.errors import EvenhandError, UsageError, listed, shown
from evenhand.ingest.engines import names_of
from evenhand.ingest.roles import Roles
from evenhand.tables.confusion import Confusion

LONG = {"group": "group", "label": "true", "prediction": "pred", "weight": "count"}
"""The columns of confusion counts that need not be named."""
COUNTS = ("count", "counts", "n")
"""What columns with numbers of people are called."""


def lacking(data: Any, roles: Roles) -> list[str]:
    """Which columns of confusion counts there are not; group columns may have been named."""
    names = names_of(data)
    return [column for role, column in LONG.items() if column not in names and getattr(roles, role) is None]


def counts_roles(data: Any, roles: Roles) -> Roles:
    """The roles of confusion counts, whose columns are called as usual.

    >>> counts_roles({"group": ["f"], "true": ["a"], "pred": ["b"], "count": [3]}, Roles()).said()
    {'label': 'true', 'group': 'group', 'prediction': 'pred', 'weight': 'count'}
    """
    from evenhand.ingest.tabulation import count_rows

    usual = Roles(**{**LONG, **roles.said()})
    if "split" in names_of(data) and "split" not in [*(roles.where or {}), *as_list(usual.group)]:
        # what the counts are is not the question here, and without groups the same classes stand in several rows
        told = replace(usual, group="split", weight_kind="sampling")
        splits = count_rows(data, told, classes=True).attributes[0].groups
        if len(splits) > 1:
            raise UsageError(
                f"the counts are of several splits ({listed(splits)}): choose one with where={{'split': "
                f"{shown(splits[0])}}} (--where split={splits[0]})"
            )
    return usual


def roles_of_counts(data: Any, roles: Roles) -> Roles | None:
    """The roles of data that are such counts and whose columns nobody named."""
    if data is None or any(getattr(roles, role) is not None for role in (*LONG, "score")):
        return None
    try:
        missing = lacking(data, Roles())
    except EvenhandError:  # no data at all: others say so
        return None
    return None if missing else counts_roles(data, roles)


def refuse_counts_as_rows(
    table: Confusion, data: Any, given: Mapping[str, Any], group: Any, where: Mapping[str, Any] | None
) -> None:
    """Rows that differ in group or class, with a column of whole numbers called `count`, are cells, not people."""
    from evenhand.ingest.tabulation import tabulate

    said = [*given.values(), *as_list(group), *(where or {})]
    if not all(isinstance(column, str) for column in said):
        return
    names = [name for name in names_of(data) if name not in said]
    if table.n.max() > 1 and "split" not in names:
        return
    groups = [*as_list(group), *(name for name in names if name == "split")]
    for column in (name for name in names if name in COUNTS):
        columns = {**given, "weight": column, "group": groups, "where": where}
        try:
            cells = tabulate(data, **columns, missing="drop", weight_kind="sampling", classes=True)
        except EvenhandError:  # no numbers, so no counts
            continue
        weight = cells.weight
        assert weight is not None
        if cells.n.max() == 1 and weight.max() > 1 and (np.floor(weight) == weight).all():
            raise UsageError(
                f"every row has its own group, true and predicted class, and {shown(column)} holds whole numbers: if "
                f"these count people, say weight={column!r} (--weight {column}); if every row is one person, drop that "
                "column"
            )


def as_list(group: Any) -> list[Any]:
    """One column, or several, as a list."""
    return list(group) if isinstance(group, list | tuple) else [group]
