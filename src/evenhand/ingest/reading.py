"""How data are read: the roles of columns, and in which cells scores are counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from evenhand.errors import UsageError, shown
from evenhand.ingest.roles import Roles
from evenhand.tables.grid import Grid
from evenhand.tables.table import Table


@dataclass(frozen=True)
class Reading(Roles):
    """How the caller said the data are to be read."""

    cuts: tuple[float, ...] = ()
    """Scores at which people must be distinguished exactly, such as thresholds,"""
    bins: tuple[int, ...] = (10, 50)
    """and numbers of bins of equal width, at whose borders too."""
    grid: Grid | Literal[False] | None = None
    """The cells to count in; False for exact scores, None for whatever the data need."""
    outcomes: frozenset[str] = frozenset()
    """Labels and predictions there are among all rows, when only some of these are looked at."""


class Cuts(NamedTuple):
    """Where people must be distinguished: at thresholds, and at the borders of so many bins of equal width."""

    scores: tuple[float, ...] = ()
    bins: tuple[int, ...] = (10, 50)


def reading(roles: Roles, grid: Any = None, cuts: Any = ()) -> Reading:
    """How the data are to be read: roles, and in which cells scores are counted."""
    if not isinstance(cuts, Cuts):
        cuts = Cuts(_numbers(cuts))
    if grid is not None and not isinstance(grid, Grid | bool):
        grid = _grid_of(grid)
    if grid is True:
        grid = None
    return Reading(**vars(roles), cuts=cuts.scores, bins=cuts.bins, grid=grid)


def _numbers(cuts: Any) -> tuple[float, ...]:
    try:
        if isinstance(cuts, str):
            raise TypeError
        found = tuple(float(c) for c in cuts)
    except (TypeError, ValueError):
        raise UsageError(f"cuts are thresholds, a list of numbers, not {shown(cuts)}") from None
    if not np.isfinite(found).all():
        raise UsageError(f"cuts are finite numbers, not {shown(cuts)}")
    return found


def _grid_of(given: Any) -> Grid | None:
    """The grid of a table, or of a saved one; an exact table has none."""
    from evenhand.files.paths import naming
    from evenhand.tables.storage import load

    table = given if isinstance(given, Table) else load(given)
    with naming(given):
        if not isinstance(table, Table) or table.score is None:
            raise UsageError("grid is a table of scores, or the path of one: its cells are to be used again")
    if table.spans is None:
        return None
    if not isinstance(table.spans.grid, Grid):
        raise UsageError(
            "the cells of this table are not those of one grid (it is a sum of tables with different ones, or was made "
            "coarser): take one of the tables it was made of"
        )
    return table.spans.grid
