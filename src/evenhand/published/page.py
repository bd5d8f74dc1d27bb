"""A reproduction as a page: a table of all items, then each that was run, with its charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.published.text import commands, figure, heading, largest, outcome, summary
from evenhand.report.charts.chart import Chart
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, grid, join, tag
from evenhand.report.page.shell import fitted, page


def reproduction_page(document: dict[str, Any], drawings: Mapping[str, Chart]) -> str:
    """The whole page; `drawings` are the charts of items, by their ids."""
    return fitted(lambda room: _page(document, drawings, room))


def _page(document: dict[str, Any], drawings: Mapping[str, Chart], room: Room) -> str:
    rows = [
        [heading(e), e["place"] or "", join([tag("code", c) for c in commands(e)]), outcome(e), largest(e)]
        for e in document["items"]
    ]
    overview = grid("All items", ["item", "where", "command", "outcome", "largest difference"], rows)
    parts: list[tuple[str, str, Any]] = [("items", "What was repeated", join(tag("p", summary(document)), overview))]
    for entry in document["items"]:
        if entry["values"] or entry["claims"] or entry["notes"]:
            parts.append((entry["id"], heading(entry), _item(entry, drawings, room)))
    remarks = [tag("p", remark, class_="note") for remark in room.remarks()]
    if remarks:
        parts.append(("charts-left-out", "Charts", join(remarks)))
    return page("Published figures, repeated", None, parts, document)


def _item(entry: dict[str, Any], drawings: Mapping[str, Chart], room: Room) -> Markup:
    rows = [
        [v["row"], v["column"], *map(figure, (v["published"], v["found"], v["difference"])),
         "" if v["agrees"] is None else "yes" if v["agrees"] else "no"]
        for v in entry["values"]
    ]  # fmt: skip
    numbers = grid("Theirs and ours", ["", "of", "published", "found", "difference", "agrees"], rows) if rows else None
    claims = [
        tag("li", tag("strong", "Holds: " if c["holds"] else "Does not hold: "), c["says"],
            f" ({c['seen']})" if c["seen"] else None)
        for c in entry["claims"]
    ]  # fmt: skip
    charts = [room.figure(chart, f"plot({name!r})") for name, chart in drawings.items() if name in entry["charts"]]
    notes = [tag("p", note, class_="note") for note in entry["notes"]]
    return join(
        tag("p", outcome(entry)), numbers, tag("ul", *claims) if claims else None,
        tag("div", charts, class_="charts") if charts else None, notes,
    )  # fmt: skip
