"""Probable groups: the gap over how much more often members are selected than others alike to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, inline, labels, layer, quantitative, rows, zero
from evenhand.report.charts.registry import Kind
from evenhand.report.format import number

if TYPE_CHECKING:
    from evenhand.analyses.unknown_groups.probable import ProbableAudit

HEIGHT = 300
MOST_GROUPS = 6
MEASURE = "demographic_parity"
Document = dict[str, Any]


def subject(result: ProbableAudit) -> Document:
    """Charts are made from the document alone."""
    return result.to_dict()


def _gaps(document: Document) -> list[Document]:
    return [m for m in document["measures"] if m["id"] == MEASURE and m["sensitivity"] is not None]


def sensitivity(document: Document) -> Chart:
    """The difference of selection rates over δ."""
    there = _gaps(document)[:MOST_GROUPS]
    label = labels(m["group"] for m in there)
    curves = {label[m["group"]]: m["sensitivity"]["curve"] for m in there}
    points = [
        row
        for name, curve in curves.items()
        for row in rows(
            delta=[p["delta"] for p in curve], gap=[p["value"] for p in curve], group=name,
            low=[p["ci"][0] for p in curve], high=[p["ci"][1] for p in curve],
        )
    ]  # fmt: skip
    reference = shown_name(document["reference"])
    x = quantitative(
        "delta", "δ: members are selected so much more often than others alike", format="+.2~f", tickCount=9
    )
    y = quantitative("gap", f"selection rate minus that of {reference}", format="+.2~f", tickCount=7)
    colour = coloured(list(curves), theme.GROUPS[: len(curves)])
    band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
    tolerance = there[0]["tolerance"]
    limits = [{"gap": tolerance}, {"gap": -tolerance}]
    layers: list[Spec] = [
        layer(points, "area", band, opacity=0.18),
        zero("y", y),
        zero("x", x),
        layer(limits, "rule", {"y": y}, color=theme.LIMIT, strokeDash=[5, 4]),
        {"data": inline(points), "mark": {"type": "line", "strokeWidth": 2},
         "encoding": {"x": x, "y": y, "color": colour}},
    ]  # fmt: skip
    ends = [f"{name} vanishes at δ = {number(m['sensitivity']['vanishes'], sign=True)}" for name, m in
            zip(curves, there, strict=True)]  # fmt: skip
    told = f"The gap of {'; of '.join(ends)}."
    under = f"At δ = 0 the gap by weighting. Bands: intervals. Dashed: the tolerance. {told}"
    columns = {key: [p[key] for p in points] for key in ("group", "delta", "gap", "low", "high")}
    body = {"width": theme.WIDTH, "height": HEIGHT, "layer": layers}
    more = len(_gaps(document)) - len(there)
    fewer = [f"{more:,} more groups are in the JSON"] if more else []
    return chart("sensitivity", "What would make the gap another", under, told, body, columns, fewer)


def _lacks(document: Document) -> str | None:
    return None if _gaps(document) else f"needs the measure {MEASURE}: it was not asked for"


CHARTS = {"sensitivity": Kind(sensitivity, _lacks)}
