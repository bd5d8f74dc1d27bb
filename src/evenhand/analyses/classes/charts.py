"""Many classes: where a group's rate differs from everybody's, as a table of colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, beside, chart, coloured, inline, labels, ordered, rows
from evenhand.report.charts.registry import Kind
from evenhand.report.format import number

if TYPE_CHECKING:
    from evenhand.analyses.classes.audit import ClassAudit
    from evenhand.analyses.classes.result import Aggregate

MOST_CLASSES, MOST_GROUPS = 40, 12
ABOVE, BELOW = "above", "below"


def subject(audit: ClassAudit, attribute: Any = None, measure: Any = None) -> Aggregate:
    """What was asked for, if the audit has it; by default the first attribute and the rate that is aggregated."""
    return audit.aggregate(measure, attribute)


def matrix(a: Aggregate) -> Chart:
    """The gap of every class and group to the rate of the class."""
    gaps = a.matrix - a.overall[:, None]
    widest = np.nanmax(np.where(np.isnan(gaps), -1.0, np.abs(gaps)), axis=1)
    keep = np.sort(np.argsort(-widest, kind="stable")[:MOST_CLASSES])
    by_group = np.nanmax(np.where(np.isnan(gaps), -1.0, np.abs(gaps)), axis=0)
    columns = np.sort(np.argsort(-by_group, kind="stable")[:MOST_GROUPS])
    classes = labels(a.classes[c] for c in keep.tolist())
    groups = labels((a.groups[g] for g in columns.tolist()), 20)
    cells = [
        {"class": classes[a.classes[c]], "group": groups[a.groups[g]], **_cell(float(gaps[c, g]))}
        for c in keep.tolist()
        for g in columns.tolist()
    ]
    most = float(np.nanmax(np.abs(gaps))) if np.isfinite(gaps).any() else 0.0
    rate = a.choices.rate.id.upper() if len(a.choices.rate.id) <= 3 else a.choices.rate.id.replace("_", " ")
    title = f"{rate} of each class by {shown_name(a.grouping.name)}, minus that of the class"
    worst = max((x for x in cells if x["gap"] is not None), key=lambda x: abs(x["gap"]), default=None)
    told = (
        f"The widest gap is {number(worst['gap'], sign=True)}: {worst['class']}, {worst['group']}."
        if worst
        else "No rate is defined."
    )
    body = _body(cells, list(classes.values()), list(groups.values()), most)
    table = beside("class", list(classes), {groups[a.groups[g]]: gaps[keep, g] for g in columns.tolist()})
    fewer = [
        f"the {len(kept)} of {len(there):,} {what} with the widest gaps" if len(kept) < len(there) else None
        for kept, there, what in ((keep, a.classes, "classes"), (columns, a.groups, "groups"))
    ]
    empty = sum(x["gap"] is None for x in cells)
    note = f"rates without people are left empty: {empty}" if empty else None
    subtitle = f"Darker cells are further from the rate of everybody in the class. {told}"
    return chart("matrix", title, subtitle, told, body, table, [*fewer, note])


def _cell(gap: float) -> dict[str, Any]:
    if not np.isfinite(gap):
        return {"gap": None, "size": 0, "side": ABOVE, "text": "–"}
    return {
        **rows(gap=gap, size=abs(gap))[0],
        "side": BELOW if gap < 0 else ABOVE,
        "text": number(gap, sign=abs(gap) >= 0.005, digits=2),
    }


def _body(cells: list[dict[str, Any]], classes: list[str], groups: list[str], most: float) -> Spec:
    x = ordered("group", groups, title=None)
    x["axis"] = {
        "orient": "top",
        "labelAngle": 0 if len(groups) <= 5 else -40,
        "labelLimit": 120,
        "domain": False,
        "ticks": False,
    }
    y = ordered("class", classes, title=None)
    y["axis"] = {"labelLimit": 200, "domain": False, "ticks": False}
    colour = coloured([ABOVE, BELOW], theme.GROUPS[:2], field="side")
    colour["legend"] = {**colour["legend"], "title": "than the class", "orient": "bottom"}
    scale = {"domain": [0, most or 1], "range": [0, 0.85]}
    opacity: Spec = {"field": "size", "type": "quantitative", "legend": None, "scale": scale}
    wide = min(90, 420 // max(len(groups), 1))
    layers: list[Spec] = [
        {"mark": {"type": "rect", "tooltip": True, "stroke": theme.GRID},
         "encoding": {"x": x, "y": y, "color": colour, "opacity": opacity}},
    ]  # fmt: skip
    if wide >= 34:
        layers.append(
            {"mark": {"type": "text", "fontSize": 11}, "encoding": {"x": x, "y": y, "text": {"field": "text"}}}
        )
    return {"width": {"step": wide}, "height": {"step": 18}, "data": inline(cells), "layer": layers}


CHARTS = {"matrix": Kind(matrix)}
