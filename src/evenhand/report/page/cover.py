"""The cover of a report on its page: who answers for it, a note, and a box to sign."""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from typing import Any

from evenhand.errors import shown_name
from evenhand.report.cover import LIMITS, MOST_CHARACTERS, read_from, said_by, signed_lines
from evenhand.report.page.markup import Markup, facts_of, join, tag
from evenhand.report.prose import Block, Span, blocks


def cover_block(document: dict[str, Any]) -> Markup | None:
    """Logo, names, date and source of the data, to stand under the title; nothing where no cover was stated."""
    cover = document.get("cover")
    if cover is None:
        return None
    owner = shown_name(cover["organisation"] or "", MOST_CHARACTERS)
    logo = cover["logo"] and tag("img", src=cover["logo"], alt=f"Logo of {owner}" if owner else "Logo", class_="logo")
    terms = [tag("div", tag("dt", term), tag("dd", text)) for term, text in said_by(cover)]
    return tag("div", logo, tag("dl", *terms) if terms else None, class_="cover")


def signing(document: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """The sections to end a page with: the note, and the box for limits and signature, which a rule may want too."""
    cover = document.get("cover")
    if cover is None and document.get("profile", {}).get("signing"):
        cover = dict.fromkeys(("author", "organisation", "date", "note", "file"))
    if cover is None:
        return []
    note = [("note", "Note", prose(cover["note"]))] if cover["note"] else []
    lines = [tag("div", tag("dt", line), tag("dd", text)) for line, text in signed_lines(cover)]
    box = tag("div", tag("h3", LIMITS), tag("div", class_="room"), tag("dl", *lines), class_="sign")
    about = facts_of([*read_from(cover), ("Digest of the table", document["data"]["table"])])
    return [*note, ("sign", "Limits and signature", join(about, box))]


def prose(text: str) -> Markup:
    """A Markdown note as HTML, its headings below those of a section."""
    parts = (
        [_list(list(run))] if kind == "point" else map(_alone, run)
        for kind, run in groupby(blocks(text), lambda block: block.kind)
    )
    return tag("div", *(join(part) for part in parts), class_="prose")


def _alone(block: Block) -> Markup:
    return tag(f"h{min(block.level, 4) + 2}" if block.kind == "heading" else "p", *map(_span, block.spans))


def _list(points: list[Block]) -> Markup:
    """One list, in which deeper points stand further right and keep their own numbers."""
    items = []
    for point in points:
        kind = f"deep-{min(point.level, 4)}{'' if point.number is None else ' numbered'}"
        mark = None if point.number is None else f"{point.number}. "
        items.append(tag("li", mark, *map(_span, point.spans), class_=kind))
    return tag("ul", *items)


def _span(span: Span) -> Markup:
    styles = [style for style in ("code", "em", "strong") if style in span.style]
    return reduce(lambda inner, style: tag(style, inner), styles, join(span.text))
