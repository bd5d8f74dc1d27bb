"""HTML from Python calls, in which every text is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape, unescape
from typing import Any

from evenhand.errors import harmless, shown_name

VOID = {"meta", "input", "br", "img", "path", "rect", "line"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


class Cell(Markup):
    """A whole cell of a table, made by `cell`."""

    __slots__ = ()


def tag(_name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. A trailing underscore frees a keyword of Python, others are hyphens; None and False are left out.

    >>> tag("p", "1 < 2 & ", tag("b", "so on"), class_="note", aria_label='"', hidden=True, title=None)
    '<p class="note" aria-label="&quot;" hidden>1 &lt; 2 &amp; <b>so on</b></p>'
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(harmless(str(value)))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if _name in VOID:
        return Markup(f"<{_name}{written}>" if _name in ("meta", "input", "br", "img") else f"<{_name}{written}/>")
    return Markup(f"<{_name}{written}>{join(*children)}</{_name}>")


def join(*children: Any) -> Markup:
    """One after another; None is nothing, a text is escaped."""
    return Markup("".join(_one(child) for child in children))


def _one(child: Any) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int | float):
        return escape(harmless(str(child)))
    return join(*child)


def name(text: object, limit: int = 60) -> Markup:
    """A name from the data: whichever way it is written, it does not turn the text around it."""
    return tag("bdi", shown_name(text, limit))


def data_block(id_: str, values: Any) -> Markup:
    """Values for a script to read: no `<` of theirs can end it."""
    text = json.dumps(values, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("##", "\\u0023#")):
        text = text.replace(character, code)
    return Markup(f'<script type="application/json" id="{escape(id_)}">{text}</script>')


def facts_of(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Terms and what they are, as a list."""
    return tag("dl", *(join(tag("dt", term), tag("dd", text)) for term, text in pairs), class_="facts")


def notes_of(document: dict[str, Any]) -> list[Markup]:
    """What a reader should know."""
    return [tag("p", tag("strong", "Note: "), shown_name(note, 600)) for note in document["notes"]]


def cell(*children: Any, **attributes: Any) -> Cell:
    """A cell of a table with attributes of its own."""
    return Cell(tag("td", *children, **attributes))


_WORDS = '<td class="words"'


def grid(
    caption: Any, heads: list[Any], rows: list[list[Any]], *, kinds: list[str | None] | None = None, **attributes: Any
) -> Markup:
    """A table with a caption. The first cell of each row is its head; a row of one cell is a heading of those below it.

    `kinds` are classes of rows.
    """
    texts = {i for row in rows for i, c in enumerate(row) if isinstance(c, Cell) and c.startswith(_WORDS)}
    head = tag("tr", *(tag("th", h, scope="col", class_="words" if i in texts else None) for i, h in enumerate(heads)))
    kinds = kinds or [None] * len(rows)
    body = [_row(row, len(heads), kind) for row, kind in zip(rows, kinds, strict=True)]
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body), **attributes)
    return tag("div", table, class_="wide", role="region", tabindex="0", aria_label=_plain(caption))


def repeated(document: dict[str, Any], *more: tuple[str, str]) -> Markup:
    """What it takes to repeat a result: the version and the options, and more."""
    said = [("version", document["version"]), *document["options"].items(), *more]
    rows = [[k.replace("_", " "), cell(str(v), class_="words")] for k, v in said]
    return grid("What it takes to repeat this", ["what", "value"], rows)


def _row(row: list[Any], width: int, kind: str | None) -> Markup:
    first, *rest = row
    if not rest and width > 1:
        return tag("tr", tag("th", first, scope="rowgroup", colspan=width), class_="family")
    cells = (c if isinstance(c, Cell) else cell(c) for c in rest)
    return tag("tr", tag("th", first, scope="row"), *cells, class_=kind)


def _plain(caption: Any) -> str:
    """A caption as the name of its region."""
    return unescape(re.sub(r"<[^>]*>", "", join(caption)))
