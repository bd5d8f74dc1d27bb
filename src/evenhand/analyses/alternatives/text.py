"""Alternatives as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.alternatives.sentences import gap_title, performance_title
from evenhand.errors import shown_name
from evenhand.report.console import indented, points
from evenhand.report.contents import several
from evenhand.report.format import number

MOST = 30
_NAME = 24
ORDER = ("alternative", "in use", "rejected")


def render(document: dict[str, Any]) -> RenderableType:
    """The search as rich renderables: the answer, the numbers, and the log."""
    shown = logged(document)
    parts: list[RenderableType] = [
        Text("Less discriminatory alternatives", style="bold"), Text(" · ".join(about(document))), Text(),
        Text(document["answer"], style="bold"), Text(document["sentence"]), Text(), _numbers(shown[:MOST]), Text(),
        Text("What was tried", style="bold"), *_log(shown[:MOST]),
    ]  # fmt: skip
    if len(shown) > MOST:
        parts.append(indented(f"{len(shown) - MOST:,} more candidates are in --json", style="dim"))
    return Group(*parts, *points("Notes", document["notes"]))


def about(document: dict[str, Any]) -> Iterator[str]:
    """Who was compared, and by what."""
    data, options = document["data"], document["options"]
    if document["kind"] == "scores":
        yield several(data["people"], "person", "people")
        yield f"{data['selecting']:,} to select on, {data['confirming']:,} to confirm with"
    else:
        yield several(data["runs"], "run")
    yield several(len(document["candidates"]) - 1, "candidate")
    yield f"{performance_title(document)} within {options['within_best']:g} of the best"
    yield f"gap: {gap_title(document)}"


def logged(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Alternatives first, then the model in use, then the others: those that came furthest first."""

    def place(c: dict[str, Any]) -> tuple[int, bool, int, float]:
        gap = c["selection"]["gap"]
        return ORDER.index(c["status"]), c["tested"] is None, c["tested"] or 0, 9.0 if gap is None else gap

    return sorted(document["candidates"], key=place)


def _numbers(candidates: list[dict[str, Any]]) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    heads = ("candidate", "selecting:\nperf.", "\ngap", "confirming:\nperf.", "\ngap", "smaller\nby", "at\nleast")
    for i, head in enumerate(heads):
        grid.add_column(head, justify="right" if i else "left", overflow="ellipsis", no_wrap=True)
    for c in candidates:
        held = c["confirmation"] or {}
        style = "bold" if c["status"] == "alternative" else ""
        grid.add_row(
            Text(shown_name(c["name"], _NAME), style=style),
            *(number(c["selection"][key]) for key in ("performance", "gap")),
            *(number(held.get(key)) for key in ("performance", "gap")),
            *(number(held.get(key), sign=True) for key in ("reduction", "reduction_at_least")),
        )
    return grid


def _log(candidates: list[dict[str, Any]]) -> Iterator[RenderableType]:
    for c in candidates:
        text = Text(f"{shown_name(c['name'], _NAME)}: ")
        text.append(c["status"], style="bold" if c["status"] == "alternative" else "")
        if c["status"] != "in use":
            text.append(f": {c['because']}")
        yield indented(text)
