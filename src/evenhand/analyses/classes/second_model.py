"""The second of two models that are aggregated alike: where its predictions are, and what both are called."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from evenhand.errors import UsageError, shown
from evenhand.files.paths import as_path
from evenhand.ingest.engines import names_of
from evenhand.ingest.roles import Roles


def second(data: Any, roles: Roles, against: Any) -> tuple[tuple[Any, Roles], tuple[str, str]]:
    """The data and roles of the second model, and the names of both.

    >>> rows = {"job": ["a"], "one": ["a"], "two": ["b"], "sex": ["f"]}
    >>> (_, roles), names = second(rows, Roles(label="job", prediction="one", group="sex"), "two")
    >>> roles.prediction, names
    ('two', ('one', 'two'))
    """
    if isinstance(roles.prediction, str) and isinstance(against, str) and _is_column(data, against):
        if against == roles.prediction:
            raise UsageError(f"the second model is the first one: both are column {shown(against)}")
        return (data, replace(roles, prediction=against)), (roles.prediction, against)
    names = tuple(as_path(one).stem if isinstance(one, str | os.PathLike) else "" for one in (data, against))
    own, theirs = names if all(names) and names[0] != names[1] else ("model 1", "model 2")
    return (against, roles), (own, theirs)


def _is_column(data: Any, name: str) -> bool:
    from evenhand.analyses.classes.aggregate import _is_table

    return not _is_table(data) and name in names_of(data)
