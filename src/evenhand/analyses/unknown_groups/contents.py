"""What the page and the Markdown of probable groups say: rates by both estimators, gaps, and over δ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.errors import shown_name
from evenhand.measures.rates import RATES
from evenhand.measures.registry import MEASURES
from evenhand.report.contents import Cell, Contents, Mood, Name, Section, Sheet, Word, count, figure, left_out, share
from evenhand.report.format import interval, percent

Document = dict[str, Any]
TITLE = 14
"""So long a title leaves room for numbers."""
SHOWN = ("weighted", "corrected")
UNLIKE = "Within the tolerance: by weighting / corrected."
DELTA = (
    "δ: by how much more often members of the group are selected than others with the same probabilities. The gap is "
    "0 at the first δ, and within the tolerance between the other two; a dash where no δ from −1 to 1 does that."
)


def contents(document: Document) -> Contents:
    """The whole report."""
    answer, mood = answered(document)
    decided = shown_name(document["data"]["score"] or document["data"]["prediction"])
    return Contents(
        title=f"Fairness of {decided} by probable groups",
        about=list(about(document)),
        answer=answer,
        said=[said(document)],
        mood=mood,
        sections=[
            Section("groups", "How often groups are selected", [groups(document), rates(document)]),
            Section("gaps", "Gaps", list(gaps(document))),
            Section("sensitivity", "What would make the gap another", [deltas(document)]),
        ],
        notes=document["notes"],
        command=document["command"],
        options=document["options"],
    )


def about(document: Document) -> Iterator[str]:
    """Who was audited."""
    data = document["data"]
    yield f"{data['people']:,} people"
    if data["label"] is not None:
        yield f"outcome {shown_name(data['label'])}, favourable: {shown_name(data['favorable'])}"
    yield f"favourable decision: {shown_name(data['decision_rule'], 70)}"
    yield f"groups as probabilities, compared with {shown_name(document['reference'])}"
    if data["cell"] is not None:
        yield f"corrected within {data['cells']:,} cells of {shown_name(data['cell'])}"
    yield from left_out(data)


def answered(document: Document) -> tuple[str, Mood]:
    """Whether both estimators agree."""
    passes = {one: {m[one]["passes"] for m in document["measures"]} for one in SHOWN}
    if None in passes["corrected"] | passes["weighted"]:
        return "What is within the tolerance cannot be told by both estimators", "warn"
    if passes["weighted"] == passes["corrected"] == {True}:
        return "Every gap is within its tolerance, by weighting and corrected", "good"
    if all(m["weighted"]["passes"] == m["corrected"]["passes"] for m in document["measures"]):
        return "A gap is beyond its tolerance, by weighting and corrected", "bad"
    return "Weighting and correction do not agree on what is within the tolerance", "warn"


def said(document: Document) -> str:
    """The selection rates of the group that fares worst by weighting, and of the reference."""
    rates = {g["name"]: g["rates"]["selection_rate"] for g in document["groups"]}
    reference = document["reference"]
    others = [g for g in rates if g != reference and rates[g]["weighted"]["value"] is not None]
    worst = min(others, key=lambda g: rates[g]["weighted"]["value"])
    told = []
    for one, how in zip(SHOWN, ("by weighting", "corrected"), strict=True):
        a, b = rates[worst][one]["value"], rates[reference][one]["value"]
        if a is not None and b is not None:
            told.append(f"{percent(a, digits=1)} of {shown_name(worst)} and {percent(b, digits=1)} of "
                        f"{shown_name(reference)} {how}")  # fmt: skip
    return f"Favourable decisions: {'; '.join(told)}."


def groups(document: Document) -> Sheet:
    """How many people each group probably has."""
    rows: list[list[Cell]] = [
        [Name(g["name"]), count(round(g["expected"], 1)), share(g["membership"])] for g in document["groups"]
    ]
    legend = "People: the sum of probabilities. Certainty: how probably somebody counted in a group belongs to it."
    return Sheet("Groups", ["group", "people", "certainty"], rows, legend=legend)


def rates(document: Document) -> Sheet:
    """Rates of every group by both estimators, with intervals."""
    level = f"{100 * document['options']['confidence']:g}% interval"
    rows: list[list[Cell]] = []
    for g in document["groups"]:
        for rate, both in g["rates"].items():
            numbers: list[Cell] = []
            for one in SHOWN:
                numbers += [figure(both[one]["value"]), interval(both[one]["ci"], join=", ")]
            rows.append([Name(g["name"]), RATES[rate].short, *numbers])
    return Sheet("Rates", ["group", "rate", "weighted", level, "corrected", level], rows, ("rate",))


def gaps(document: Document) -> Iterator[Sheet]:
    """Every gap by both estimators, with intervals: of each group."""
    level = f"{100 * document['options']['confidence']:g}% interval"
    heads = ["measure", "weighted", level, "corrected", level, "tolerance", "within?"]
    for group in dict.fromkeys(m["group"] for m in document["measures"]):
        rows: list[list[Cell]] = []
        for m in (m for m in document["measures"] if m["group"] == group):
            signed = MEASURES[m["id"]].signed
            numbers: list[Cell] = []
            for one in SHOWN:
                numbers += [figure(m[one]["value"], sign=signed), interval(m[one]["ci"], sign=signed, join=", ")]
            rows.append([MEASURES[m["id"]].titled(TITLE), *numbers, f"{m['tolerance']:g}", _within(m)])
        unlike = any(len({m[one]["passes"] for one in SHOWN}) > 1 for m in document["measures"] if m["group"] == group)
        title = f"{shown_name(group)} against {shown_name(document['reference'])}"
        yield Sheet(title, heads, rows, ("within?",), legend=UNLIKE if unlike else None)


def _within(m: Document) -> Word:
    """Whether the gap is within its tolerance, by weighting and corrected."""
    both = [m[one]["passes"] for one in SHOWN]
    words = ["undefined" if p is None else "yes" if p else "no" for p in both]
    if both[0] != both[1]:
        return Word(" / ".join(words), "warn")
    return Word(words[0], "warn" if both[0] is None else "good" if both[0] else "bad")


def deltas(document: Document) -> Sheet:
    """Where gaps vanish and cross the tolerance."""
    rows: list[list[Cell]] = []
    for m in document["measures"]:
        if (s := m["sensitivity"]) is not None:
            ends = [figure(d, sign=True) for d in (s["vanishes"], *s["tolerated"])]
            rows.append([MEASURES[m["id"]].titled(TITLE), Name(m["group"]), *ends])
    return Sheet("Sensitivity", ["measure", "group", "no gap at δ", "within from δ", "to δ"], rows, ("group",), DELTA)
