"""What the Markdown of several models says: which to choose, the verdict on each, and what differs between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit.wording import measure_of
from evenhand.analyses.models.text import rule
from evenhand.errors import shown_name
from evenhand.measures.performance import PERFORMANCES
from evenhand.measures.registry import find
from evenhand.report.contents import Cell, Contents, Mood, Name, Section, Sheet, Word, figure, joined, left_out, share
from evenhand.report.format import interval, p_values

MOST_ATTRIBUTES = 5
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """Models of the same people."""
    first = document["candidates"][0]["audit"]
    chosen = list(dict.fromkeys(t["recommended"] for t in document["tradeoffs"]))
    answer = "No model is recommended" if chosen == [None] else f"Recommended: {joined(c for c in chosen if c)}"
    if len(chosen) > 1:
        told = (
            f"{shown_name(t['recommended'] or 'none')} by {shown_name(t['attribute'])}" for t in document["tradeoffs"]
        )
        answer = f"Recommended: {joined(told, limit=90)}"
    return Contents(
        title=f"Which of these models is fairer: {joined(c['name'] for c in document['candidates'])}",
        about=[f"{first['data']['rows']:,} people, the same for every model", *left_out(first["data"])],
        answer=answer,
        said=[t["because"] for t in document["tradeoffs"][:MOST_ATTRIBUTES]],
        sections=[
            Section("verdicts", "The verdict on each model", [_verdicts(document)]),
            Section("choice", "Performance and fairness", list(_choice(document))),
            Section("differences", "What differs on the same people", [_differences(document)]),
        ],
        notes=document["notes"],
        options={"table": first["data"]["table"], **first["options"]},
    )


def _verdicts(document: Document) -> Sheet:
    rows: list[list[Cell]] = []
    for c in document["candidates"]:
        verdict = c["audit"]["verdict"]
        mood: Mood = "bad" if verdict["word"].startswith("unequal") else "plain"
        rows.append([Name(c["name"]), Word(verdict["word"], mood), rule(c), verdict["sentence"]])
    heads = ("model", "verdict", "favourable at", "in words")
    return Sheet("The verdict on each model", heads, rows, heads)


def _choice(document: Document) -> Iterator[Sheet]:
    for t in document["tradeoffs"]:
        heads = (
            "model",
            PERFORMANCES[t["performance"]].title,
            "fairness",
            "distance",
            "on the front",
            "best in resamples",
        )
        rows: list[list[Cell]] = [
            [
                Name(p["model"]), *(figure(p[key]) for key in ("performance", "fairness", "dto")),
                "yes" if p["on_front"] else "no", share(p["best_share"], digits=0),
            ]
            for p in sorted(t["places"], key=lambda p: (p["dto"] is None, p["dto"]))
        ]  # fmt: skip
        title = measure_of({"id": t["fairness"]}).title
        yield Sheet(f"By {shown_name(t['attribute'])}, fairness by {title}", heads, rows, ("on the front",))
    ids = list(document["candidates"][0]["performance"])
    rows = [[Name(c["name"]), *(figure(c["performance"][id_]["value"]) for id_ in ids)] for c in document["candidates"]]
    yield Sheet("Performance", ["model", *(PERFORMANCES[id_].title for id_ in ids)], rows)


def _differences(document: Document) -> Sheet:
    """The surest first."""
    known = [d for d in document["differences"] if d["difference"] is not None]
    known.sort(key=lambda d: (1.0 if d["p_adjusted"] is None else d["p_adjusted"], -abs(d["difference"])))
    rows: list[list[Cell]] = []
    for d in known:
        measure = find(d["id"])
        groups = "" if d["group"] is None else f"{shown_name(d['group'])} / {shown_name(d['reference'])}"
        better: Cell = "not distinguished" if d["better"] is None else Name(d["model"] if d["better"] else d["against"])
        rows.append([
            measure.title if measure else PERFORMANCES[d["id"]].title, groups, Name(d["model"]), figure(d["other"]),
            figure(d["value"]), figure(d["difference"], sign=True), interval(d["ci"], sign=True), *p_values(d), better,
        ])  # fmt: skip
    heads = ("what", "groups", "model", f"of {shown_name(document['against'])}", "of the model", "change", "interval",
             "p", "adjusted p", "better")  # fmt: skip
    return Sheet(
        "Every model against the first, the surest difference first", heads, rows, ("groups", "model", "better")
    )
