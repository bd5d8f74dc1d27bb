"""A projection test as a report of 80 columns, made from the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.cells import set_cell_size
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.console import wrapped
from evenhand.report.format import number, p_value


def render(document: dict[str, Any]) -> Text:
    """The document as text for a terminal."""
    lines = (part for line in _lines(document) for part in wrapped(line, "  " if line[:1] in "• " else ""))
    return Text("\n".join(lines))


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
    yield text[0].upper() + text[1:]
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
