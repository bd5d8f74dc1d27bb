"""Probable groups as tables for a terminal, made from the document."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.unknown_groups import contents
from evenhand.report.console import indented, points
from evenhand.report.contents import Number, Sheet, Word

STYLES = {"good": "green", "bad": "bold red", "warn": "yellow", "plain": "bold"}


def render(document: dict[str, Any]) -> RenderableType:
    """The result as rich renderables."""
    answer, mood = contents.answered(document)
    parts: list[RenderableType] = [
        Text(" · ".join(contents.about(document))), Text(), Text(answer, STYLES[mood]), Text(contents.said(document)),
    ]  # fmt: skip
    before, after = (contents.groups(document), contents.rates(document)), contents.deltas(document)
    for sheet in (*before, *contents.gaps(document), after):
        parts += [Text(), Text(sheet.caption, style="bold"), _grid(sheet)]
        if sheet.legend:
            parts.append(indented(Text(sheet.legend, style="dim")))
    return Group(*parts, *points("Notes", document["notes"]))


def _grid(sheet: Sheet) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for i, head in enumerate(sheet.heads):
        grid.add_column(
            head, justify="left" if i == 0 or head in sheet.texts else "right", overflow="fold", no_wrap=i > 0
        )
    for row in sheet.rows:
        grid.add_row(*(_cell(cell) for cell in row))
    return grid


def _cell(cell: Any) -> Text:
    if isinstance(cell, Word):
        return Text(cell.text, STYLES[cell.mood])
    return Text(cell.text if isinstance(cell, Number) else str(cell))
