"""What the page and the Markdown of a table say: what it tells about people, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.disclosure.document import counted, people
from evenhand.analyses.disclosure.text import score_lines
from evenhand.errors import shown_name
from evenhand.report.contents import Cell, Contents, Mood, Name, Points, Section, Sheet, capital, count, figure

ROLES = ("score", "label", "prediction", "weight", "cluster", "favorable")
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """A table of counts, and who can be found in it."""
    answer, mood = _answer(document)
    said = [capital(line) for line in document["interpretation"]]
    sections = [Section("disclosure", "What it tells about people", [Points(said), *_small(document)])]
    sections.append(Section("columns", "Columns", [_columns(document), *score_lines(document)]))
    sections.append(Section("groups", "Groups", [_groups(a) for a in document["attributes"]]))
    return Contents(
        title="Evenhand table",
        about=[
            people(document["rows"]),
            counted(document["cells"], "cell"),
            f"format {document['format']}",
            *(f"left out: {counted(n, 'row')} {shown_name(why, 100)}" for why, n in document["left_out"].items()),
        ],
        answer=answer,
        mood=mood,
        sections=sections,
        notes=document["notes"],
        options={"table": document["digest"], "format": document["format"]},
    )


def _answer(document: Document) -> tuple[str, Mood]:
    """Whether anybody can be found in it."""
    if document["privacy"] is not None:
        return f"The counts have {document['privacy']['guarantee']}", "good"
    d = document["disclosure"]
    if d is None:
        return f"{people(document['rows'])} in {counted(document['cells'], 'cell')}", "plain"
    if d["alone"]:
        return f"{people(d['alone'])} {'stands' if d['alone'] == 1 else 'stand'} alone in the table", "bad"
    return f"The smallest cell holds {people(d['smallest'])}", "plain"


def _small(document: Document) -> Iterator[Sheet]:
    d = document["disclosure"]
    if d is None:
        return
    rows: list[list[Cell]] = [[f"fewer than {b['size']:,}", count(b["cells"]), count(b["people"])] for b in d["below"]]
    yield Sheet("Small cells", ("people in a cell", "cells", "people in them"), rows)
    if d["one_label"]:
        rows = [[Name(one["group"]), count(one["n"])] for one in d["one_label"]]
        yield Sheet("Groups in which everybody has the same label", ("group", "people"), rows)


def _columns(document: Document) -> Sheet:
    columns = document["columns"]
    rows: list[list[Cell]] = [
        ["risk score" if role == "score" and columns["risk"] else role.replace("favorable", "favourable value"),
         Name(columns[role])]
        for role in ROLES
        if columns[role] is not None
    ]  # fmt: skip
    if columns["classes"] is not None:
        rows.append(["classes", count(len(columns["classes"]))])
    return Sheet("Columns it was counted from", ("role", "column"), rows, ("column",))


def _groups(a: Document) -> Sheet:
    total = sum(g["n"] for g in a["groups"]) or 1
    rows: list[list[Cell]] = [
        [Name(g["name"]), count(g["n"]), figure(100 * g["n"] / total, digits=1)]
        for g in sorted(a["groups"], key=lambda g: -g["n"])
    ]
    return Sheet(f"Groups of {shown_name(a['name'])}, the largest first", ("group", "people", "%"), rows, sortable=True)
