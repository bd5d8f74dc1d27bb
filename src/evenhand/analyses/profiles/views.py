"""The tables of a profile for terminal, page and Markdown, made from the document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.console import headed, indented, sheet_grids
from evenhand.report.contents import Cell, Name, Number, Sheet, count
from evenhand.report.contents_markdown import part_lines
from evenhand.report.format import interval, number, p_value, percent
from evenhand.report.markdown import escaped, folded
from evenhand.report.page.contents import part_markup
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, facts_of, join, tag

Shown = Mapping[str, Any]
NOT_STATED = "not stated"
MOST_TEXT = 400
FEW_COLUMNS = 5
MOST_ROWS = 30
"""Of a table in Markdown."""


def sheet(table: Shown) -> Sheet:
    """A table of a rule, as reports are made of them."""
    kinds = [column["kind"] for column in table["columns"]]
    rows = [[cell(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in table["rows"]]
    texts = {c["head"] for c in table["columns"] if c["kind"] == "text"}
    legend = " ".join(table["notes"]) or None
    return Sheet(table["title"], [c["head"] for c in table["columns"]], rows, texts, legend)


def plain(table: Shown) -> tuple[list[str], list[list[str]]]:
    """Its heads and its rows as texts alone."""
    made = sheet(table)
    return list(made.heads), [
        [c.text if isinstance(c, Number) else shown_name(c, MOST_TEXT) for c in r] for r in made.rows
    ]


def cell(value: Any, kind: str) -> Cell:
    """What stands in a cell: a number in the way of its kind, both ends, or a text that says why there is none.

    >>> cell(0.1234, "share").text, cell([0.5, 1.2], "ratio"), cell("left out (1.3%)", "ratio"), cell(None, "count")
    ('12.3%', '0.50 to 1.20', 'left out (1.3%)', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return Name(value) if kind == "name" else shown_name(value, MOST_TEXT)
    if isinstance(value, list | tuple):
        ends = [None if end is None else 100 * end if kind in ("points", "share") else end for end in value]
        text = interval(ends, digits=2 if kind == "ratio" else 1, sign=kind not in ("ratio", "share"))
        return f"{text}%" if kind == "share" else text
    return {
        "count": lambda: count(value),
        "share": lambda: Number(percent(value, digits=1), value),
        "ratio": lambda: Number(number(value, digits=2), value),
        "points": lambda: Number(number(100 * value, digits=1, sign=True), value),
        "p": lambda: Number(p_value(value), value),
    }.get(kind, lambda: Number(number(value, digits=1, sign=True), value))()


def told(profile: Shown) -> list[tuple[str, str]]:
    """The facts that a rule wants stated, and what was stated instead of options of the profile."""
    facts = [(f["title"], shown_name(f["text"] or NOT_STATED, MOST_TEXT)) for f in profile["facts"]]
    return facts + [
        ("Stated otherwise", f"{o['option'].replace('_', ' ')} is {shown_name(o['stated'])}, not {o['profile']}")
        for o in profile["otherwise"]
    ]


def about(profile: Shown) -> str:
    """Whose numbers these are, in a sentence."""
    return f"{profile['title']} (profile {shown_name(profile['name'])}, version of {profile['date']})"


# ---- terminal --------------------------------------------------------------------------------------------------------


def lines(profile: Shown) -> Iterator[RenderableType]:
    """The tables of the rule, without its annex."""
    yield Text(about(profile), style="bold")
    for term, text in told(profile):
        yield Text(f"{term}: {text}")
    for table in profile["tables"]:
        if not table["annex"]:
            made = sheet(table)
            yield from headed(made.caption, 70)
            yield from sheet_grids(made)
            yield from (indented(note) for note in table["notes"])
    if any(table["annex"] for table in profile["tables"]):
        yield Text()
        yield Text("The annex (intervals, tests, what the unknown could change): --html, --markdown, --json", "dim")


# ---- page ------------------------------------------------------------------------------------------------------------


def sections(profile: Shown, room: Room) -> Iterator[tuple[str, str, Any]]:
    """The rule's own page, and its annex."""
    public, annex = ([t for t in profile["tables"] if t["annex"] is side] for side in (False, True))
    facts = facts_of(told(profile))
    yield "rule", profile["title"], join(facts, tag("div", *(_shown(t, room) for t in public), class_=_beside(public)))
    if annex:
        yield "annex", "Annex: how sure these numbers are", join(_shown(t, room) for t in annex)
    yield "covered", "What these numbers are, and what they are not", join(*_covered(profile))


def _beside(tables: Sequence[Shown]) -> str | None:
    """Tables of few columns stand beside one another."""
    narrow = all(len(t["columns"]) <= FEW_COLUMNS and t["attribute"] is not None for t in tables)
    return "tables" if narrow and len(tables) > 1 else None


def _shown(table: Shown, room: Room) -> Markup:
    return tag("div", part_markup(sheet(table), room))


def _covered(profile: Shown) -> Iterator[Markup]:
    yield tag("p", f"Stated are {profile['states']}.")
    yield facts_of(
        [
            ("Profile", f"{profile['name']}, version of {profile['date']}"),
            ("Source", "; ".join(profile["source"]) or "not stated"),
        ]
    )
    for title, texts in (("Not covered", profile["not_covered"]), ("Where the rule left a choice", profile["unsure"])):
        if texts:
            yield tag("h3", title)
            yield tag("ul", *(tag("li", text) for text in texts))


# ---- Markdown --------------------------------------------------------------------------------------------------------


def markdown(profile: Shown) -> Iterator[str]:
    """The tables of the rule; its annex, and what it does not cover, folded."""
    yield f"### {escaped(profile['title'])}"
    yield ""
    yield from (f"- **{escaped(term)}:** {escaped(text)}" for term, text in told(profile))
    yield ""
    for table in profile["tables"]:
        if not table["annex"]:
            yield from _table(table)
    annex = [line for table in profile["tables"] if table["annex"] for line in _table(table)]
    if annex:
        yield from folded("Annex: how sure these numbers are", annex)
    yield from folded("What these numbers are, and what they are not", _said(profile))


def _table(table: Shown) -> Iterator[str]:
    made = sheet(table)
    yield f"**{escaped(made.caption)}**"
    yield ""
    yield from part_lines(made, MOST_ROWS)


def _said(profile: Shown) -> Iterator[str]:
    yield f"Stated are {escaped(profile['states'])}."
    yield ""
    yield f"Profile {escaped(profile['name'])}, version of {profile['date']}."
    yield f"Source: {escaped('; '.join(profile['source']) or 'not stated')}."
    yield ""
    yield from (f"- Not covered: {escaped(text)}" for text in profile["not_covered"])
    yield from (f"- A choice of the profile: {escaped(text)}" for text in profile["unsure"])
    yield ""
