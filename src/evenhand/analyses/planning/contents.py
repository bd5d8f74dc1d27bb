"""What the page and the Markdown of a plan, of advice and of a list of measures say."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.planning.catalogue_text import needs, tolerance
from evenhand.analyses.planning.text import broken, sentence
from evenhand.measures.measure import FAMILIES
from evenhand.measures.registry import find
from evenhand.report.contents import Cell, Code, Command, Contents, Section, Sheet, count, figure, joined, several
from evenhand.report.format import percent

HEADS = ("measure", "what it asks", "formula", "needs", "when to use it", "limits", "tolerance")
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """By what kind of document it is."""
    return {"measures": _measures, "guide": _advice, "power": _plan}[document["schema"].split("/")[1]](document)


def _plan(document: Document) -> Contents:
    enough = document["gap"] is not None
    asked = {
        "n": "How many people it takes",
        "gap": "Which gap these people show",
        "power": "How likely a gap is shown",
    }
    base, gap = document["base_rate"], document["gap"]
    rows: list[list[Cell]] = [
        ["people of the group", count(document["n"])],
        ["people of the reference", count(document["n_reference"])],
        ["rate of the reference", figure(base)],
        ["rate of the group", figure(base + gap if enough else None)],
        ["gap", figure(gap, sign=True)],
        ["power", percent(document["power"], digits=1)],
        ["level of the test", f"{document['level']:g}"],
    ]
    if document["asked"] == "gap":
        rows[5:5] = [["nearest lower rate that is told apart", figure(document["below"])],
                     ["nearest higher rate that is told apart", figure(document["above"])]]  # fmt: skip
    return Contents(
        title="Power of a comparison of two rates",
        about=[asked[document["asked"]]],
        answer=sentence(document),
        mood="plain" if enough else "warn",
        sections=[Section("plan", "The plan", [Sheet("People, rates and power", ("what", "value"), rows)])],
        options={k: v for k, v in document.items() if k in ("asked", "power", "level")},
    )


def _advice(document: Document) -> Contents:
    known = [m for id_ in document["measures"] if (m := find(id_)) is not None]
    rows: list[list[Cell]] = [[Code(m.id), f"{m.title}: {m.asks} {m.formula}", m.limits] for m in known]
    heads = ("measure", "what it asks", "limits")
    run = Section("command", "How to compute it", [Command("\n".join(broken(document["command"])))])
    asked = Section("measures", "What these measures ask", [Sheet("Measures recommended", heads, rows, heads)])
    return Contents(
        title="Which measures to look at",
        about=[f"for evenhand {document['analysis']}"],
        answer=f"Look at {joined(document['measures'], 10)}",
        said=[document["why"], *([document["beware"]] if document["beware"] else [])],
        sections=[run, *([asked] if rows else [])],
        options={"measures": document["measures"]},
    )


def _measures(document: Document) -> Contents:
    """Every measure below the question of its family."""
    rows: list[list[Cell]] = []
    for family, title in FAMILIES.items():
        members = [m for m in document["measures"] if m["family"] == family]
        rows += [[title.heading]] * bool(members)
        rows += [
            [Code(m["id"]), m["asks"], m["formula"], needs(m), m["use"], m["limits"], tolerance(m)] for m in members
        ]
    many = len(document["measures"])
    return Contents(
        title="Measures",
        about=["what they ask, how they are defined, when to use them and what they need"],
        answer=several(many, "measure"),
        sections=[Section("measures", "Every measure", [Sheet("Measures by question", HEADS, rows, HEADS[:-1])])],
    )
