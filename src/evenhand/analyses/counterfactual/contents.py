"""What the Markdown of counterfactual fairness says: what would change for whom, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.counterfactual.document import FLIP
from evenhand.analyses.counterfactual.sentences import causal_model, share
from evenhand.analyses.counterfactual.text import facts
from evenhand.errors import shown_name
from evenhand.report.contents import Cell, Contents, Part, Points, Section, Sheet, capital, count, figure
from evenhand.report.format import interval, p_values

Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """By every causal model, then by the plain flip of the attribute."""
    worlds, flip = document["worlds"], document["flip"]
    answers = [w["answer"] for w in worlds if w["answer"] is not None] or [
        a for a in (flip["answer"],) if a is not None
    ]
    answer = answers[0]["overall"]["interpretation"] if answers else "Nothing changes, or nothing can be told"
    sections = [
        Section(f"world-{i}", f"By {causal_model(world['name'])}", list(_world(world)))
        for i, world in enumerate(worlds)
    ]
    if document["ranges"]:
        lines = [r["interpretation"] for r in document["ranges"]]
        sections.append(Section("worlds", "Over all causal models", [Points(lines)]))
    return Contents(
        title=f"Counterfactual fairness of {shown_name(document['data']['model'])}",
        about=[facts(document)],
        answer=answer,
        said=[max(a["changes"], key=lambda c: c["size"]["value"])["interpretation"] for a in answers[:1]],
        sections=[*sections, Section("flip", "The plain attribute flip", list(_flip(flip)))],
        notes=document["notes"],
        options=document["options"],
    )


def _world(world: Document) -> Iterator[Part]:
    if world["because"]:
        yield f"Nothing changes: {world['because']}."
    else:
        yield _changes(world["answer"])
    yield "This rests on:"
    yield Points(world["assumptions"])


def _flip(flip: Document) -> Iterator[Part]:
    yield f"{capital(FLIP)}."
    yield f"Undefined: {flip['undefined']}." if flip["answer"] is None else _changes(flip["answer"])


def _changes(answer: Document) -> Sheet:
    """The largest change first."""
    rows: list[list[Cell]] = []
    for c in [*sorted(answer["changes"], key=lambda c: -c["size"]["value"]), answer["overall"]]:
        who = "everybody" if c["group"] is None else f"{shown_name(c['group'], 30)} as {shown_name(c['other'], 30)}"
        rows.append([
            who, count(c["people"]), figure(c["mean"]["value"], sign=True), interval(c["mean"]["ci"], sign=True),
            figure(c["size"]["value"]), share(c["changed"]["value"]), *p_values(c),
        ])  # fmt: skip
    heads = ("had been", "people", "mean change", "interval", "mean size", "decided otherwise", "p", "adjusted p")
    return Sheet("Changes, the largest first", heads, rows)
