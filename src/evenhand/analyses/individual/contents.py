"""What the Markdown of fairness between individuals says. Nobody stands in it alone: pairs are on the page only."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.individual.text import facts
from evenhand.errors import shown_name
from evenhand.report.contents import Cell, Contents, Name, Part, Section, Sheet, capital, count, figure
from evenhand.report.format import interval

Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """Whether similar people are treated alike."""
    first, *others = [f"{capital(said)}." for said in document["interpretation"]]
    parts: list[Part] = [_treatments(document)]
    if document["worst"]:
        parts.append(f"{len(document['worst']):,} pairs of people who differ most are on the page and in the JSON.")
    return Contents(
        title=f"Are similar people treated alike by {shown_name(document['data']['score'])}?",
        about=facts(document),
        answer=first,
        said=others,
        sections=[Section("groups", "Who is treated alike", parts)],
        notes=document["notes"],
        options=document["options"],
    )


def _treatments(document: Document) -> Sheet:
    level = f"{100 * document['options']['confidence']:g}% interval"
    bound = document["options"]["lipschitz"] is not None
    rows: list[list[Cell]] = [["everybody", *_numbers(document["overall"], bound)]]
    for g in document["groups"]:
        mark = " (reference)" if g["alike_gap"] is None else ""
        rows.append([(Name(g["name"]), mark), *_numbers(g, bound)])
    null = document["chance"]
    blank = [""] * bound
    rows.append(["any two people", "", figure(null["alike"]), "", figure(null["consistency"]), "", *blank])
    heads = ["near pairs of", "people", "alike", level, "consistency", "Lipschitz constant", *["beyond"] * bound]
    return Sheet("Near pairs", heads, rows)


def _numbers(t: Document, bound: bool) -> list[Cell]:
    slope = t["constant"]["value"]
    return [
        count(t["people"]), figure(t["alike"]["value"]), interval(t["alike"]["ci"]), figure(t["consistency"]["value"]),
        "–" if slope is None else f"{slope:.4g}", *([figure(t["violations"]["value"])] if bound else []),
    ]  # fmt: skip
