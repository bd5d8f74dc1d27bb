"""A projection test as a report of 80 columns, made from the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.cells import set_cell_size
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.console import wrapped
from evenhand.report.format import number, p_value, sentence


def render(document: dict[str, Any]) -> Text:
    """The document as text for a terminal."""
    lines = (part for line in _lines(document) for part in wrapped(line, "  " if line[:1] in "• " else ""))
    return Text("\n".join(lines))


def render_all(document: dict[str, Any]) -> Text:
    """Tests of several groups or scores as text for a terminal."""
    return Text("\n".join(part for line in _all_lines(document) for part in wrapped(line, "  " * (line[:1] in "• "))))


def _all_lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"Projection tests: {document['criterion'].replace('_', ' ')}"
    yield f"{shown_name(document['attribute'])}: each group against {shown_name(document['reference'])}"
    yield ""
    told = told_apart(document)
    first = f"{set_cell_size(told[0], 11)} {'group':<16}" if told else f"{'group':<28}"
    yield f"  {first}{'people':>9}{'gap':>9}{'distance':>10}{'p':>9}{'adjusted':>10}"
    for place, test in enumerate(document["tests"]):
        name = shown_name(test["group"], 15 if told else 27)
        name = set_cell_size(told[1][place], 12) + set_cell_size(name, 16) if told else name
        gap = max((part["gap"] for part in test["labels"]), key=abs) * (-1 if test["data"]["risk"] else 1)
        yield (
            f"  {set_cell_size(name, 28)}{_people(test):>9,}{number(gap, sign=True):>9}{test['distance']:>10.3g}"
            f"{p_value(test['p_value']):>9}{p_value(test['p_adjusted']):>10}{' *' if test['rejects_adjusted'] else ''}"
        )
    yield ""
    yield sentence(document["interpretation"])
    who = [shown_name(test["group"]) for test in document["tests"]]
    if told:
        who = [f"{group}, {told[0]} {one}" for group, one in zip(who, told[1], strict=True)]
    tests = list(zip(who, document["tests"], strict=True))
    yield from (f"• {name}: {test['interpretation']}" for name, test in tests)
    own = [
        f"• {name}: {shown_name(note, 600)}"
        for name, test in tests
        for note in test["notes"]
        if note not in document["notes"]
    ]
    if document["notes"] or own:
        yield from ("", "Notes", *(f"• {shown_name(note, 600)}" for note in document["notes"]), *own)


def told_apart(document: dict[str, Any]) -> tuple[str, list[str]] | None:
    """What tells the scores apart, and its value for each test: a number, or the name of the score."""
    if document["along"]:
        return shown_name(document["along"]["name"], 11), [f"{v:.6g}" for v in document["along"]["values"]]
    scores = [test["data"]["score"] for test in document["tests"]]
    return ("score", [shown_name(score, 11) for score in scores]) if len(set(scores)) > 1 else None


def _people(test: dict[str, Any]) -> int:
    """People of the group who are compared."""
    return sum(part["groups"][0]["n"] for part in test["labels"])


def _lines(document: dict[str, Any]) -> Iterator[str]:
    data, text = document["data"], document["interpretation"]
    yield f"Projection test: {document['criterion'].replace('_', ' ')}"
    yield (
        f"{shown_name(document['attribute'])}: {shown_name(document['group'])} against "
        f"{shown_name(document['reference'])}"
    )
    kind = f"{'risk ' if data['risk'] else ''}{'logit' if data['logits'] else 'score'}"
    yield (
        f"{document['n']:,} people · {kind} {shown_name(data['score'])}"
        + (f" · label {shown_name(data['label'])}, favourable {shown_name(data['favorable'])}" if data["label"] else "")
    )
    yield from (f"Left out: {n:,} rows {shown_name(reason, 100)}" for reason, n in data["left_out"].items())
    yield ""
    yield from _table(document["labels"])
    yield ""
    yield (
        f"  statistic {document['statistic']:.4g} · critical value {document['critical_value']:.4g} "
        f"({100 * document['level']:g} %) · p-value {p_value(document['p_value'])}"
    )
    if document["p_permuted"] is not None:
        limit, permuted = p_value(document["p_limit"]), p_value(document["p_permuted"])
        yield f"  p-value by the limit law {limit} · by permuting group labels {permuted}"
    if document["p_within"] is not None:
        yield f"  p-value of a gap of {document['margin']:g} or more {p_value(document['p_within'])}"
    features = document["space"] == "features"
    where = f"in features, ‖β‖ = {document['beta_norm']:.4g}" if features else "in logits (score space)"
    yield f"  distance to the nearest fair distribution {document['distance']:.4g} {where}"
    yield ""
    yield sentence(text)
    if document["notes"]:
        yield from ("", "Notes", *(f"• {shown_name(note, 600)}" for note in document["notes"]))


def _table(labels: list[dict[str, Any]]) -> Iterator[str]:
    yield f"  {'label':<13}{'group':<21}{'people':>10}{'mean':>8}{'if fair':>9}{'move in logits':>16}"
    for part in labels:
        label = "all" if part["label"] == "any" else part["label"]
        for g in part["groups"]:
            moved = number(g["move"], sign=True) if abs(g["move"]) < 1e4 else f"{g['move']:+.3g}"
            numbers = f"{g['n']:>10,}{number(g['mean']):>8}{number(g['mean_after']):>9}{moved:>16}"
            yield f"  {label:<13}{set_cell_size(shown_name(g['name'], 20), 20)} {numbers}"
            label = ""
