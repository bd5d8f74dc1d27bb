"""What a table holds and tells, as lines for a terminal, made from the document."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from evenhand.analyses.disclosure.document import counted, people
from evenhand.errors import shown_name
from evenhand.report.console import points

MOST_GROUPS = 12


def render(document: dict[str, Any]) -> RenderableType:
    """The document as lines."""
    lines = [
        f"{people(document['rows'])} in {counted(document['cells'], 'cell')} · format {document['format']}",
        f"digest {document['digest']}",
        *_column_lines(document["columns"]),
        *_group_lines(document["attributes"]),
        *score_lines(document),
        *(f"left out: {counted(n, 'row')} {shown_name(reason, 100)}" for reason, n in document["left_out"].items()),
    ]
    parts: list[RenderableType] = [Text("Evenhand table", style="bold"), *map(Text, lines)]
    parts += points("What it tells about people", document["interpretation"])
    return Group(*parts, *points("Notes", document["notes"]))


def _column_lines(columns: dict[str, Any]) -> list[str]:
    kinds = ("score", "label", "prediction", "weight", "cluster")
    named = [f"{kind} {shown_name(columns[kind])}" for kind in kinds if columns[kind] is not None]
    if columns["risk"]:
        named[0] = f"risk {named[0]}"
    if columns["favorable"] is not None:
        own = columns["favorable_prediction"]
        of_prediction = "" if own is None else f" (prediction {shown_name(own)})"
        named.append(f"favourable {shown_name(columns['favorable'])}{of_prediction}")
    if columns["classes"] is not None:
        named.append(f"{len(columns['classes']):,} classes")
    return [" · ".join(named)]


def _group_lines(attributes: list[dict[str, Any]]) -> list[str]:
    lines = []
    for a in attributes:
        largest = sorted(a["groups"], key=lambda g: -g["n"])
        named = ", ".join(f"{shown_name(g['name'])} {g['n']:,}" for g in largest[:MOST_GROUPS])
        more = len(largest) - MOST_GROUPS
        lines.append(f"{shown_name(a['name'])}: {named}{f' and {more:,} more' if more > 0 else ''}")
    return lines


def score_lines(document: dict[str, Any]) -> list[str]:
    """What is known of scores, and how exactly."""
    scores, private = document["scores"], document["privacy"] is not None
    if scores is None:
        return []
    text = f"scores {scores['lowest']:.12g} to {scores['highest']:.12g}: {scores['exact']:,} exact values"
    if not scores["ranges"]:
        return [text]
    text += f", {scores['ranges']:,} ranges (the widest {scores['widest']:.3g})"
    if scores["resolution"] is not None:
        text += f"; score biases are within {min(scores['resolution'], 1.0):.2g} of exact ones"
        text += ", because of the ranges alone: noise comes on top" if private else ""
    return [text]
