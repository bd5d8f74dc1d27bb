"""A reproduction as a page: a table of all items, then each that was run, with its charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.published.item import DOCUMENTS
from evenhand.published.text import claimed, commands, figure, largest, misses, outcome, short, summary
from evenhand.report.charts.chart import Chart
from evenhand.report.format import sentence
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, grid, join, tag
from evenhand.report.page.shell import fitted, page


def reproduction_page(document: dict[str, Any], drawings: Mapping[str, Chart]) -> str:
    """The whole page; `drawings` are the charts of items, by their ids."""
    return fitted(lambda room: _page(document, drawings, room))


def _page(document: dict[str, Any], drawings: Mapping[str, Chart], room: Room) -> str:
    overview = grid("All items", ["item", "where, and the command", "outcome", "largest difference"], _rows(document))
    differing = [
        tag("li", tag("a", short(e), href=f"#{e['id']}"), f": {misses(e)}")
        for e in document["items"]
        if e["status"] == "differs"
    ]
    listed = join(tag("p", "What differs:"), tag("ul", *differing)) if differing else None
    summed = join(tag("p", summary(document)), listed, overview)
    parts: list[tuple[str, str, Any]] = [("items", "What was repeated", summed)]
    for entry in document["items"]:
        if _is_shown(entry):
            parts.append((entry["id"], short(entry), _item(entry, drawings, room)))
    remarks = [tag("p", remark, class_="note") for remark in room.remarks()]
    if remarks:
        parts.append(("charts-left-out", "Charts", join(remarks)))
    return page("Published figures, repeated", None, parts, document)


def _rows(document: dict[str, Any]) -> list[list[Any]]:
    """The items of each document below its name."""
    rows: list[list[Any]] = []
    for title in DOCUMENTS.values():
        entries = [entry for entry in document["items"] if entry["document"] == title]
        rows += [[title]] * bool(entries) + [_row(entry) for entry in entries]
    return rows


def _row(entry: dict[str, Any]) -> list[Any]:
    label = tag("a", entry["label"], href=f"#{entry['id']}") if _is_shown(entry) else entry["label"]
    where = join([tag("div", tag("code", line)) for line in (entry["place"], *commands(entry)) if line])
    shown_by = join(", shown by ", tag("code", entry["test"])) if entry["status"] == "defined" else None
    said = cell(outcome(entry), shown_by, class_="words")
    return [join(label, f": {entry['says']}"), cell(where, class_="words"), said, largest(entry)]


def _is_shown(entry: dict[str, Any]) -> bool:
    """Whether there is more to say of an item than its row does."""
    return bool(entry["values"] or entry["claims"] or entry["notes"])


def _item(entry: dict[str, Any], drawings: Mapping[str, Chart], room: Room) -> Markup:
    rows = [
        [v["row"], v["column"], *map(figure, (v["published"], v["found"], v["difference"])),
         "" if v["agrees"] is None else "yes" if v["agrees"] else "no"]
        for v in entry["values"]
    ]  # fmt: skip
    numbers = grid("Theirs and ours", ["", "of", "published", "ours", "difference", "agrees"], rows) if rows else None
    claims = [
        tag("li", tag("strong", "Holds: " if c["holds"] else "Does not hold: "), claimed(c))
        for c in entry["claims"]
    ]  # fmt: skip
    charts = [room.figure(chart, f"plot({name!r})") for name, chart in drawings.items() if name in entry["charts"]]
    notes = [tag("p", note, class_="note") for note in entry["notes"]]
    said = tag("p", sentence(f"{entry['says']}: {outcome(entry)}"))
    return join(
        said, numbers, tag("ul", *claims) if claims else None,
        tag("div", charts, class_="charts") if charts else None, notes,
    )  # fmt: skip
