"""What stands first on the page of an audit: the verdict, the rates behind it, and what changes how to read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit.brief import MOST_NOTES, percent_column
from evenhand.analyses.audit.marks import KINDS, badge
from evenhand.analyses.audit.rate_bars import bars
from evenhand.errors import shown_name
from evenhand.report.contents import capital
from evenhand.report.cover import MOST_CHARACTERS
from evenhand.report.page.markup import Markup, join, name, tag

MOST_LISTED = 20
"""Attributes that are listed beside the first."""
Document = dict[str, Any]


def title_of(document: Document) -> str:
    """What was audited, in a line."""
    data, cover = document["data"], document.get("cover")
    if cover is not None and cover["title"] is not None:
        return shown_name(cover["title"], MOST_CHARACTERS)
    groups = ", ".join(shown_name(a["name"]) for a in document["attributes"][:3])
    return f"Fairness of {shown_name(data['score'] or data['prediction'])} by {groups}"


def lead(document: Document) -> Markup:
    """What was audited, below the title."""
    return tag("p", *(tag("span", fact) for fact in _lead(document["data"])), class_="lead")


def _lead(data: dict[str, Any]) -> Iterator[str]:
    yield f"{data['rows']:,} people"
    if data["score"] is not None:
        lo, hi = data["score_range"]
        yield f"{'risk score' if data['risk'] else 'score'} {shown_name(data['score'])}, {lo:.12g} to {hi:.12g}"
    if data["label"] is not None:
        yield f"outcome {shown_name(data['label'])}, favourable: {shown_name(data['favorable'])}"
    yield f"favourable decision: {shown_name(data['decision_rule'], 120)}"
    yield from (f"left out: {count:,} rows {shown_name(why, 100)}" for why, count in data["left_out"].items())


def first_attribute(document: Document) -> dict[str, Any]:
    """The attribute that the verdict of the audit is about."""
    return next(a for a in document["attributes"] if a["name"] == document["verdict"]["attribute"])


def heading(document: Document) -> Markup:
    """The word of the audit."""
    word = badge(document["verdict"]["word"], capital(document["verdict"]["word"]))
    return join(word, _by(first_attribute(document))) if len(document["attributes"]) > 1 else word


def _by(attribute: dict[str, Any]) -> Markup:
    return tag("span", " by ", name(attribute["name"]), class_="by")


def overview(document: Document) -> Iterator[Markup]:
    """The sentence beside the bars, the words of other attributes, and notes."""
    first, confidence = first_attribute(document), document["options"]["confidence"]
    told = tag("p", first["verdict"]["sentence"], class_="sentence")
    yield tag("div", told, bars(first, confidence), class_=f"verdict {KINDS[first['verdict']['word']]}")
    others = [(i, a) for i, a in enumerate(document["attributes"]) if a is not first]
    if others:
        yield tag("ul", *(_line(i, a) for i, a in others[:MOST_LISTED]), class_="others")
    if len(others) > MOST_LISTED:
        yield tag("p", f"{len(others) - MOST_LISTED:,} more ways to divide people follow below.", class_="note")
    yield from notes(document)


def _line(place: int, attribute: dict[str, Any]) -> Markup:
    """Another attribute in a line, which leads to it."""
    verdict = attribute["verdict"]
    rates = {g["name"]: g["rates"]["selection_rate"]["value"] for g in attribute["groups"]}
    ends = [g for g in (verdict["fares_worst"], verdict["fares_best"]) if g is not None]
    said = percent_column([rates[g] for g in ends])
    between: list[Any] = []
    for group, rate in zip(ends, said, strict=True):
        between += [" and " if between else ": ", f"{rate} of ", name(group, 30)]
    link = tag("a", "By ", name(attribute["name"]), href=f"#by-{place}")
    return tag("li", badge(verdict["word"], capital(verdict["word"])), " ", link, *between)


def verdict_line(attribute: dict[str, Any], named: bool = False) -> Markup:
    """The word and the sentence of an attribute."""
    verdict = attribute["verdict"]
    word = badge(verdict["word"], capital(verdict["word"]))
    return tag("p", word, _by(attribute) if named else None, ". ", verdict["sentence"], class_="said")


def notes(document: Document) -> Iterator[Markup]:
    """What changes the reading of the verdict, and on request the other notes."""
    first = document["caveats"][:MOST_NOTES]
    rest = [note for note in document["notes"] if note not in first]
    if first:
        yield tag("ul", *(tag("li", shown_name(note, 600)) for note in first), class_="notes")
    if rest:
        texts = tag("ul", *(tag("li", shown_name(note, 600)) for note in rest), class_="notes")
        more = "more note" if first else "note"
        yield tag("details", tag("summary", f"{len(rest):,} {more}{'' if len(rest) == 1 else 's'}"), texts)
