"""What a table holds and tells: the document, and its lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.document import header, number
from evenhand.tables.confusion import Confusion
from evenhand.tables.table import Table, far_off

if TYPE_CHECKING:
    from evenhand.analyses.disclosure.disclosure import Disclosure, TableInfo

MOST_GROUPS = 12


def document(found: TableInfo) -> dict[str, Any]:
    """Everything as plain values."""
    t = found.table
    about = {
        **header("table_info"),
        "format": found.format,
        "digest": t.digest(),
        "rows": t.rows,
        "cells": t.cells,
        "columns": _columns(t),
        "attributes": [
            {
                "name": g.name,
                "groups": [{"name": name, "n": int(n)} for name, n in zip(g.groups, t.sizes(g), strict=True)],
            }
            for g in t.groupings[: len(t.attributes)]
        ],
        "scores": _scores(found),
        "left_out": dict(t.left_out),
        "privacy": _privacy(t),
        "disclosure": None if found.disclosure is None else _disclosure(found.disclosure),
        "notes": list(t.notes),
    }
    doubt = far_off(t) if isinstance(t, Table) else None
    return {**about, "interpretation": _said(about, doubt)}


def _columns(t: Table | Confusion) -> dict[str, Any]:
    m = t.meaning
    columns = {k: getattr(m, k) for k in ("score", "label", "prediction", "weight", "cluster", "favorable", "risk")}
    stated = None if m.score_range is None else list(m.score_range)
    return {**columns, "score_range": stated, "classes": list(t.classes) if isinstance(t, Confusion) else None}


def _scores(found: TableInfo) -> dict[str, Any] | None:
    t = found.table
    if isinstance(t, Confusion) or t.score is None:
        return None
    ranges = 0 if t.spans is None else len(t.spans.low)
    return {
        "exact": len(t.scores) - ranges,
        "ranges": ranges,
        "widest": 0.0 if t.spans is None or not ranges else float((t.spans.high - t.spans.low).max()),
        "lowest": t.extremes[0],
        "highest": t.extremes[1],
        "resolution": number(found.resolution),
    }


def _privacy(t: Table | Confusion) -> dict[str, Any] | None:
    if isinstance(t, Confusion) or t.noise is None:
        return None
    return {**vars(t.noise), "guarantee": t.noise.guarantee}


def _disclosure(d: Disclosure) -> dict[str, Any]:
    return {
        "smallest": d.smallest,
        "alone": d.alone,
        "below": [{"size": k, "cells": cells, "people": people} for k, (cells, people) in d.below.items()],
        "one_label": [{"group": group, "n": n} for group, n in d.one_label],
        "label_told": d.label_told,
    }


def _said(about: dict[str, Any], doubt: str | None) -> list[str]:
    """What that means for somebody in the data."""
    if about["privacy"] is not None:
        return [
            f"the counts have {about['privacy']['guarantee']}",
            "names of columns and the grid of scores are not protected"
            + ("" if about["privacy"]["stated"] else ", nor those of groups that occur"),
            *([] if doubt is None else [doubt]),
        ]
    d, has_label = about["disclosure"], about["columns"]["label"] is not None
    said = [f"the smallest cell holds {people(d['smallest'])}"]
    if d["alone"]:
        stand = "stands" if d["alone"] == 1 else "stand"
        said.append(
            f"{people(d['alone'])} {stand} alone: whoever knows enough about one to find the cell reads the rest"
        )
    few = d["below"][0]
    if few["cells"]:
        are = "is" if few["people"] == 1 else "are"
        said.append(f"{people(few['people'])} {are} in {counted(few['cells'], 'cell')} of fewer than {few['size']}")
    if has_label:
        said.append(
            f"the label of {people(d['label_told'])} is certain to whoever knows the group"
            f"{' and score' if about['scores'] else ''}{' and decision' if about['columns']['prediction'] else ''}"
        )
    if d["one_label"]:
        said.append(f"in {counted(len(d['one_label']), 'group')} everybody has the same label: to be in one tells it")
    if about["columns"]["cluster"] is not None:
        said.append("clusters tell which rows belong to one person, so that cells of more people can be told apart")
    if about["columns"]["weight"] is not None:
        said.append("sums of weights may tell who is in a cell, if weights are known from elsewhere")
    return said


def counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def people(n: int) -> str:
    return f"{n:,} {'person' if n == 1 else 'people'}"


# ---- the terminal ------------------------------------------------------------------------------------------------


def render(document: dict[str, Any]) -> RenderableType:
    """The document as lines."""
    lines = [
        f"{people(document['rows'])} in {counted(document['cells'], 'cell')} · format {document['format']}",
        *_column_lines(document["columns"]),
        *_group_lines(document["attributes"]),
        *_score_lines(document["scores"], document["privacy"] is not None),
        *(f"left out: {counted(n, 'row')} {shown_name(reason, 100)}" for reason, n in document["left_out"].items()),
    ]
    parts: list[RenderableType] = [Text("Evenhand table", style="bold"), *map(Text, lines)]
    parts += _listed("What it tells about people", document["interpretation"])
    return Group(*parts, *_listed("Notes", document["notes"]))


def _listed(title: str, lines: list[str]) -> list[RenderableType]:
    if not lines:
        return []
    bullets = [Padding(Text(f"• {shown_name(line, 600)}"), (0, 0, 0, 2)) for line in lines]
    return [Text(), Text(title, style="bold"), *bullets]


def _column_lines(columns: dict[str, Any]) -> list[str]:
    kinds = ("score", "label", "prediction", "weight", "cluster")
    named = [f"{kind} {shown_name(columns[kind])}" for kind in kinds if columns[kind] is not None]
    if columns["risk"]:
        named[0] = f"risk {named[0]}"
    if columns["favorable"] is not None:
        named.append(f"favourable {shown_name(columns['favorable'])}")
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


def _score_lines(scores: dict[str, Any] | None, private: bool) -> list[str]:
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
