"""Ranges of scores that are fixed before people are counted, so that tables shared at different times add up."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.errors import UsageError, shown
from evenhand.tables.arrays import Floats
from evenhand.tables.table import Table


def check_edges(edges: Any) -> Floats:
    """Edges of ranges as numbers, if they are some."""
    try:
        if isinstance(edges, str):
            raise TypeError
        found = np.array([float(edge) for edge in edges])
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"edges (--edges) are the borders of ranges, a list of numbers, not {shown(edges)}") from None
    if len(found) < 2:
        raise UsageError(
            f"a range has two edges, but edges (--edges) names {len(found)}: name all, from lowest to highest"
        )
    if not np.isfinite(found).all():
        raise UsageError(f"edges (--edges) must be finite numbers, not {shown(list(edges))}")
    if (np.diff(found) <= 0).any():
        raise UsageError(f"edges (--edges) must rise, each above the one before, not {shown(list(edges))}")
    return found


def edges_of(like: Any) -> Floats:
    """The borders of the ranges of a table, or of a saved one: where each starts and ends, and every exact score."""
    from evenhand.tables.storage import load

    table = like if isinstance(like, Table) else load(like)
    if not isinstance(table, Table) or table.score is None:
        raise UsageError("like (--like) is a table with a score, whose ranges are taken: this one has none")
    if table.spans is None and table.provenance.below is None:
        raise UsageError(
            "like (--like) is a table whose scores are known in ranges, but this one keeps every score: suppress it "
            "first (--suppress-below), or name the ranges (--edges)"
        )
    ends = [] if table.spans is None else [table.spans.low, table.spans.high]
    exact = table.scores if table.spans is None else table.scores[~table.spans.holding(table.scores)]
    return np.unique(np.clip(np.concatenate([*ends, exact, table.extremes]), *table.extremes))


def fixed_borders(table: Table, like: Any, edges: Any, thresholds: Floats) -> Floats | None:
    """The borders that scores of a table are put between, from the lowest possible score to the highest."""
    if like is None and edges is None:
        return None
    if like is not None and edges is not None:
        raise UsageError("like (--like) and edges (--edges) both say which ranges to use: choose one")
    if table.score is None:
        raise UsageError("there are no scores to put into ranges: leave like and edges (--like, --edges) out")
    if isinstance(like, Table) and like.score is not None and _units(like) != _units(table):
        raise UsageError(
            f"like (--like) is a table of {_said(like)}, but this one has {_said(table)}: count both with the same "
            "options (--risk, --score-range)"
        )
    named = edges_of(like) if like is not None else check_edges(edges)
    named = np.unique([table.compared(edge) for edge in named.tolist()])
    lowest, highest = _possible(table, named)
    if named[0] < lowest or named[-1] > highest:
        raise UsageError(
            f"ranges lie inside the score range [{lowest:g}, {highest:g}], but these go from {named[0]:g} to "
            f"{named[-1]:g}: state the range that scores can have (--score-range), or name other edges"
        )
    borders = np.unique(np.concatenate([[lowest], named, [highest]]))
    _check_borders(table, borders, thresholds)
    return borders


def _units(table: Table) -> tuple[bool, tuple[float, float] | None]:
    return table.meaning.risk, table.meaning.score_range


def _said(table: Table) -> str:
    stated = table.meaning.score_range
    kind = "risk scores" if table.meaning.risk else "scores"
    return f"{kind} with no stated range" if stated is None else f"{kind} in [{stated[0]:g}, {stated[1]:g}]"


def _possible(table: Table, named: Floats) -> tuple[float, float]:
    """The range of scores that is known to everybody; else the edges must hold all scores, and are it."""
    if table.meaning.score_range is not None or table.score_range == (0.0, 1.0):
        return table.score_range
    lowest, highest = table.extremes
    if lowest < named[0] or highest > named[-1]:
        raise UsageError(
            f"ranges from {named[0]:g} to {named[-1]:g} do not hold all scores: name edges that do, or state the range "
            "that scores can have (--score-range)"
        )
    return float(named[0]), float(named[-1])


def _check_borders(table: Table, borders: Floats, thresholds: Floats) -> None:
    stray = thresholds[~np.isin(thresholds, borders)]
    if len(stray):
        raise UsageError(
            f"the threshold {stray[0]:.15g} lies inside a fixed range, so it cannot be kept: make it one of the edges "
            "(--edges), or keep it in the table that like (--like) names"
        )
    if table.spans is not None and (inside := table.spans.holding(borders)).any():
        raise UsageError(
            f"the table does not tell scores around {borders[inside][0]:.15g} apart, so no range can start there: "
            "count the data again with all edges as cuts= (tabulate)"
        )
