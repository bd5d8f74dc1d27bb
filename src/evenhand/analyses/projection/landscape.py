"""Tests of several models over a number that tells them apart, such as a penalty: Taskesen et al. 2021, Figure 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, beside, chart, coloured, labels, layer, quantitative, rows
from evenhand.report.charts.registry import Kind

if TYPE_CHECKING:
    from evenhand.analyses.projection.several import ProjectionTests

HALF, HEIGHT = theme.WIDTH // 2 - 40, 130
LEAST = 1e-12
"""A p-value below is drawn here."""
LOG = 30
"""Numbers above 0 of which one is so many times another stand on a logarithmic axis."""
Document = dict[str, Any]
Row = dict[str, Any]


def subject(result: ProjectionTests) -> Document:
    """Charts are made from the document alone."""
    return result.to_dict()


def landscape(document: Document) -> Chart:
    """p-value, statistic, gap of means and accuracy over the number."""
    along, tests = document["along"], document["tests"]
    where, short = along["values"], shown_name(along["name"])
    names = labels(dict.fromkeys(t["group"] for t in tests))
    colours = [theme.GROUPS[i % len(theme.GROUPS)] for i in range(len(names))]
    group = [names[t["group"]] for t in tests]
    colour = coloured(list(names.values()), colours, legend=len(names) > 1)
    level = document["level"]

    def panel(values: list[Any], y: Spec, last: bool, dashed: float | None = None) -> Spec:
        points = rows(x=where, y=values, group=group)
        axes = {"x": _axis(where, short if last else None), "y": {"field": "y", "type": "quantitative", **y}}
        drawn = [
            layer(points, "line", {**axes, "color": colour}),
            layer(points, "point", {**axes, "color": colour}, filled=True, size=25, opacity=1),
        ]
        if dashed is not None:
            drawn.append(layer(rows(y=dashed), "rule", {"y": {**axes["y"]}}, color=theme.LIMIT, strokeDash=[4, 4]))
        return {"width": HALF, "height": HEIGHT, "layer": drawn}

    p = [t["p_value"] for t in tests]
    times = [t["statistic"] / t["critical_value"] if t["critical_value"] else None for t in tests]
    gap = [max((part["gap"] for part in t["labels"]), key=abs) for t in tests]
    accuracy = [t["accuracy"] for t in tests]
    known = None not in accuracy
    least = max(min(*p, level / 10), LEAST)
    of_p = {"title": "p-value", "scale": {"type": "log", "domain": [least, 1], "clamp": True},
            "axis": {"format": "~g", "tickCount": 4, "titlePadding": 12}}  # fmt: skip
    top = [panel(p, of_p, False, level), panel(times, {"title": "statistic ÷ critical value"}, False, 1.0)]
    below = [panel(gap, {"title": "gap of mean scores"}, True, 0.0)]
    if known:
        of_accuracy = {"title": "accuracy at ½", "scale": {"zero": False}, "axis": {"format": "~%"}}
        below.append(panel(accuracy, of_accuracy, True))
    said = f"The test rejects where the p-value is below {100 * level:g} %: the dashed line"
    alone, together = (sum(t[key] for t in tests) for key in ("rejects", "rejects_adjusted"))
    told = f"{said}. It rejects in {alone} of {len(tests)} tests, adjusted by Holm in {together}."
    columns = {"group": group, "p-value": p, "statistic ÷ critical value": times, "gap": gap}
    columns = beside(short, where, {**columns, "accuracy": accuracy} if known else columns)
    body = {"vconcat": [{"hconcat": top, "spacing": 24}, {"hconcat": below, "spacing": 24}]}
    note = f"p-values below {LEAST:g} are drawn there" if min(p) < LEAST else None
    return chart("landscape", f"The test over {short}", f"{said}.", told, body, columns, [note])


def _axis(values: list[float], title: str | None) -> Spec:
    far = min(values) > 0 and max(values) >= LOG * min(values)
    x = quantitative("x", title, [min(values), max(values)], format="~g", tickCount=5)
    return {**x, "scale": {**x["scale"], "type": "log"}} if far else x


def _no_number(document: Document) -> str | None:
    return None if document["along"] else "needs a number for each of the scores (along)"


CHARTS = {"landscape": Kind(landscape, _no_number)}
