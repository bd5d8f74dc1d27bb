"""A reproduction in a terminal, made from its document: item by item, ours beside theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.published.item import DOCUMENTS, SHORT, Item
from evenhand.report.console import as_text
from evenhand.report.format import MISSING

MOST_VALUES = 40
"""Of an item in a terminal; JSON, Markdown and the page have all."""
MOST_ITEMS = 4
"""Shown with their numbers; of more, a line each."""


def render(document: dict[str, Any]) -> RenderableType:
    """What came of every item in a line; of few items, all of their numbers."""
    entries = document["items"]
    parts: list[RenderableType] = [Text(summary(document), style="bold")]
    if len(entries) > MOST_ITEMS:
        return Group(*parts, Text(), *_overview(entries), Text("Numbers: name an item, or --html, --markdown, --json"))
    for entry in entries:
        parts += [Text(), *_item(entry)]
    return Group(*parts)


def _overview(entries: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Document by document, an item and what came of it in a line."""
    for title in DOCUMENTS.values():
        grid = Grid(box=None, pad_edge=False, show_edge=False, show_header=False)
        for entry in entries:
            if entry["document"] == title:
                grid.add_row(Text(entry["id"], overflow="fold"), Text(_line(entry), overflow="fold"))
        if grid.row_count:
            yield from (Text(title, style="bold"), grid, Text())


def _line(entry: dict[str, Any]) -> str:
    difference = largest(entry)
    return outcome(entry) + (f", largest difference {difference}" if difference else "")


def summary(document: dict[str, Any]) -> str:
    """How many items, and what came of them.

    >>> summary({"items": [{}], "counts": {"agrees": 1, "differs": 0}})
    '1 published item (agrees: 1)'
    """
    counts = [f"{status}: {n}" for status, n in document["counts"].items() if n]
    number = len(document["items"])
    return f"{number} published item{'' if number == 1 else 's'} ({', '.join(counts)})"


def heading(entry: dict[str, Any]) -> str:
    """The document, the label and what it is about."""
    return f"{entry['document']}, {entry['label']}: {entry['says']}"


def short(entry: dict[str, Any]) -> str:
    """An item in as few words as tell it from all others.

    >>> short({"id": "becker-figure-c1", "label": "Figure C1"})
    'Becker et al. 2024, Figure C1'
    """
    return f"{next(name for key, name in SHORT.items() if entry['id'].startswith(f'{key}-'))}, {entry['label']}"


def outcome(entry: dict[str, Any]) -> str:
    """What came of an item, in a few words.

    >>> outcome({"status": "not run", "why_not": "needs adult.data: say --data FOLDER"})
    'not run: needs adult.data: say --data FOLDER'
    """
    return f"{entry['status']}: {entry['why_not']}" if entry["why_not"] else str(entry["status"])


def largest(entry: dict[str, Any]) -> str:
    """The largest difference of an item's numbers; nothing if none is printed, or one is undefined.

    >>> largest({"largest_difference": 0.00036}), largest({"largest_difference": 12145.0})
    ('0.00036', '12,145')
    """
    return "" if entry["largest_difference"] is None else _rounded(entry["largest_difference"], 2)


def misses(entry: dict[str, Any]) -> str:
    """What of an item does not come out: how many of its printed numbers, and which statements.

    >>> values = [{"agrees": True}, {"agrees": False}, {"agrees": None}]
    >>> claims = [{"says": "it grows", "holds": False, "seen": "0.2, 0.1"}, {"says": "it ends", "holds": True}]
    >>> misses({"values": values, "claims": claims})
    '1 of 2 numbers; not so: it grows (0.2, 0.1)'
    """
    judged = [v["agrees"] for v in entry["values"] if v["agrees"] is not None]
    off = judged.count(False)
    parts = [f"{off} of {len(judged)} numbers"] if off else []
    return "; ".join([*parts, *(f"not so: {claimed(c)}" for c in entry["claims"] if not c["holds"])])


def claimed(claim: dict[str, Any]) -> str:
    """What a document says without a number, and the numbers it was judged by."""
    return f"{claim['says']} ({claim['seen']})" if claim["seen"] else str(claim["says"])


def commands(entry: dict[str, Any]) -> list[str]:
    """What runs an item again, and what a user gives for people of their own.

    >>> commands({"id": "becker-table-1", "status": "agrees", "command": "evenhand demo"})
    ['evenhand reproduce becker-table-1', 'evenhand demo']
    """
    own = [entry["command"]] if entry["command"] else []
    return own if entry["status"] == "defined" else [f"evenhand reproduce {entry['id']}", *own]


def figure(value: float | None) -> str:
    """A number as precisely as documents print them."""
    return MISSING if value is None else _rounded(value, 4)


def _rounded(value: float, digits: int) -> str:
    """So many digits; of larger numbers all before the point."""
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def _item(entry: dict[str, Any]) -> Iterator[RenderableType]:
    yield Text(heading(entry), style="bold")
    yield Text(_line(entry))
    if entry["place"]:
        yield Text(f"In {entry['place']}" + (f", shown by {entry['test']}" if entry["test"] else ""))
    yield from (Text(command) for command in commands(entry))
    if entry["values"]:
        grid = Grid(box=None, pad_edge=False, show_edge=False)
        for head in ("", "", "published", "ours", "difference", ""):
            grid.add_column(head, justify="left" if not head else "right", overflow="fold")
        for v in entry["values"][:MOST_VALUES]:
            mark = "" if v["agrees"] is not False else "differs"
            grid.add_row(
                Text(v["row"]), Text(v["column"]), *map(figure, (v["published"], v["found"], v["difference"])), mark
            )
        yield grid
    if len(entry["values"]) > MOST_VALUES:
        yield Text(f"… and {len(entry['values']) - MOST_VALUES} more: --json or --html has all")
    for claim in entry["claims"]:
        yield Text(f"{'✓' if claim['holds'] else '✗'} {claimed(claim)}")
    for note in entry["notes"]:
        yield Text(f"Note: {note}")


def listing(items: list[tuple[Item, str]]) -> str:
    """All items by name, with what is missing to run each."""
    parts: list[RenderableType] = []
    for key, title in DOCUMENTS.items():
        grid = Grid(box=None, pad_edge=False, show_edge=False, show_header=False)
        for item, why_not in items:
            if item.document == key:
                how = why_not or ("takes minutes" if item.slow else "a definition" if item.run is None else "")
                grid.add_row(item.id, Text(f"{item.says}{f' ({how})' if how else ''}", overflow="fold"))
        if grid.row_count:
            parts += [Text(title, style="bold"), grid, Text()]
    return as_text(Group(*parts)).rstrip()
