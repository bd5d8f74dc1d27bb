"""What a table holds and tells: the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.document import fields, header, number
from evenhand.tables.confusion import Confusion
from evenhand.tables.table import Table, far_off

if TYPE_CHECKING:
    from evenhand.analyses.disclosure.disclosure import Disclosure, TableInfo


def document(info: TableInfo) -> dict[str, Any]:
    """Everything as plain values."""
    t = info.table
    about = {
        **header("table_info"),
        "format": info.format,
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
        "scores": _scores(info),
        "left_out": dict(t.left_out),
        "privacy": _privacy(t),
        "disclosure": None if info.disclosure is None else _disclosure(info.disclosure),
        "notes": list(t.notes),
    }
    doubt = far_off(t) if isinstance(t, Table) else None
    return {**about, "interpretation": [*_said(about, doubt), *_of_borders(t)]}


def _columns(t: Table | Confusion) -> dict[str, Any]:
    m = t.meaning
    columns = fields(m, "score label prediction weight cluster favorable favorable_prediction risk score_range")
    return {**columns, "classes": list(t.classes) if isinstance(t, Confusion) else None}


def _scores(info: TableInfo) -> dict[str, Any] | None:
    t = info.table
    if isinstance(t, Confusion) or t.score is None:
        return None
    ranges = 0 if t.spans is None else len(t.spans.low)
    return {
        "exact": len(t.scores) - ranges,
        "ranges": ranges,
        "widest": 0.0 if t.spans is None or not ranges else float((t.spans.high - t.spans.low).max()),
        "lowest": t.extremes[0],
        "highest": t.extremes[1],
        "resolution": number(info.resolution),
    }


def _privacy(t: Table | Confusion) -> dict[str, Any] | None:
    if isinstance(t, Confusion) or t.noise is None:
        return None
    return {**vars(t.noise), "guarantee": t.noise.guarantee}


def _disclosure(d: Disclosure) -> dict[str, Any]:
    return {
        **fields(d, "smallest alone"),
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


def _of_borders(t: Table | Confusion) -> list[str]:
    """What the ranges of a suppressed table tell by where they end."""
    below = t.provenance.below
    if isinstance(t, Confusion) or t.spans is None or below is None or below < 2:
        return []
    return [
        f"where a range of scores ends tells that some group has fewer than {below:,} people in part of it, and "
        "perhaps that one of them is near its end"
    ]


def counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def people(n: int) -> str:
    return f"{n:,} {'person' if n == 1 else 'people'}"
