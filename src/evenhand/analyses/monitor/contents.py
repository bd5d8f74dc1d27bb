"""What the Markdown of a monitoring report says: what has changed since when, then every period."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.monitor.new_groups import compared
from evenhand.analyses.monitor.text import facts, followed, title, told
from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.contents import Cell, Contents, Name, Section, Sheet, Word, count
from evenhand.report.format import interval, number

ACROSS = 6
"""So many comparisons side by side."""
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """Alarms, and gaps over time."""
    data, changes = document["data"], document["changes"]
    answer = "No alarm: no gap is shown to be another than in the baseline."
    if document["alarms"]:
        answer = told(document)
    elif not document["looks"]:
        answer = "No period was tested."
    sections = [Section("changes", "What has changed", [_changes(changes)])] if changes else []
    worse = any(c["direction"] == "worse" for c in changes)
    return Contents(
        title=f"Fairness of {shown_name(data['score'] or data['prediction'])} over time",
        about=[facts(document)],
        answer=answer,
        mood="bad" if worse else "warn" if changes or not document["looks"] else "good",
        sections=[*sections, Section("periods", "Every period", [_periods(document)])],
        notes=document["notes"],
        options=document["options"],
    )


def _changes(changes: list[Document]) -> Sheet:
    rows: list[list[Cell]] = [
        [Name(c["since"]), Word(c["direction"], "bad" if c["direction"] == "worse" else "plain"), c["interpretation"]]
        for c in changes
    ]
    heads = ("since", "direction", "what has changed")
    return Sheet("Changes since the baseline", heads, rows, heads)


def _periods(document: Document) -> Sheet:
    """The last first."""
    ids = followed(document)
    shown = [(c["attribute"], c["id"], c["group"]) for c in compared(document) if c["id"] in ids][:ACROSS]
    heads = ["period", "people", "status", *(f"{title(id_)}, {shown_name(group, 24)}" for _, id_, group in shown)]
    rows: list[list[Cell]] = []
    for p in reversed(document["periods"]):
        own = {(c["attribute"], c["id"], c["group"]): c for c in p["comparisons"]}
        rows.append([Name(p["name"]), count(p["rows"]), p["status"], *(_gap(own.get(key)) for key in shown)])
    legend = "Changed since the baseline: in bold." if document["alarms"] else None
    return Sheet("Gaps with their intervals, the last period first", heads, rows, ("status",), legend)


def _gap(c: Document | None) -> Cell:
    measure = None if c is None else find(c["id"])
    if c is None or measure is None or c["value"] is None:
        return number(None)
    signed = measure.signed and c["signed"] is not None
    text = number(c["signed"], sign=True) if signed else number(c["value"])
    text += "" if c["ci"] is None or None in c["ci"] else f" ({interval(c['ci'], sign=signed)})"
    return Word(text, "bad" if c["alarm"] else "plain")
