"""Groups compared within strata, as a terminal shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.audit.key_tables import Rows
from evenhand.analyses.audit.strata import tables as told
from evenhand.report.console import WIDTH, indented

MOST_GROUPS = 6
NAME, LEAST = 18, 12
"""So many characters of a name stay in one line if heads can wrap, and anyhow."""


def briefly(attribute: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    """The strata of one group, the largest if there are many, and what is pooled of this rate, or scores."""
    if "within" not in attribute:
        return
    group = told.shown_group(attribute)
    yield from _strata(attribute, group, told.FEW_STRATA)
    pooled = told.first(attribute, group, confidence)
    yield from _spaced(pooled if pooled.rows else told.scores(attribute, group, confidence))


def fully(attribute: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    """All strata, and everything that is pooled, of the groups that are furthest from the reference."""
    if "within" not in attribute:
        return
    groups = told.groups_of(attribute)
    for group in groups[:MOST_GROUPS]:
        yield from _strata(attribute, group, None)
        for rows in (
            told.first(attribute, group, confidence),
            told.pooled(attribute, group, confidence),
            told.scores(attribute, group, confidence),
        ):
            yield from _spaced(rows)
        yield from (indented(line, style="dim") for line in told.undefined(attribute, group))
    if len(groups) > MOST_GROUPS:
        yield indented(f"{len(groups) - MOST_GROUPS:,} more groups: --json has them")


def _strata(attribute: dict[str, Any], group: str, most: int | None) -> Iterator[RenderableType]:
    rows = told.strata(attribute, group, most)
    yield Text()
    yield Text(told.title(attribute, group), style="bold")
    if rows.rows:
        yield _grid(rows)
    if (rest := told.more(attribute, rows, "--full")) is not None:
        yield indented(rest)


def _spaced(rows: Rows) -> Iterator[RenderableType]:
    if rows.rows:
        yield Text()
        yield _grid(rows)


def _grid(rows: Rows) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for i, (head, width) in enumerate(zip(rows.heads, _widths(rows), strict=True)):
        grid.add_column(head, justify="right" if i else "left", overflow="fold", width=width)
    for row in rows.rows:
        grid.add_row(*map(Text, row))
    return grid


def _widths(rows: Rows) -> list[int]:
    """As wide as their content, or names have what numbers leave; if that is too little, heads wrap."""
    columns = list(zip(rows.heads, *rows.rows, strict=True))
    wide = [max(map(cell_len, column)) for column in columns]
    room = WIDTH - len(wide)
    if room - sum(wide[1:]) < min(wide[0], NAME):
        wide[1:] = [max(map(cell_len, [*head.split(), *cells])) for head, *cells in columns[1:]]
    return [min(wide[0], max(room - sum(wide[1:]), LEAST)), *wide[1:]]
