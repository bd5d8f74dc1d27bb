"""People who are near to each other: how far apart their scores are, and which group fares worse beside others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, inline, labels, quantitative, rows, zero
from evenhand.report.charts.registry import Kind
from evenhand.report.format import percent, sentence

if TYPE_CHECKING:
    from evenhand.analyses.individual.individual import IndividualFairness

HEIGHT = 300
MOST_GROUPS = 20
Document = dict[str, Any]


def subject(result: IndividualFairness) -> Document:
    """Charts are made from the document alone."""
    return result.to_dict()


def pairs(document: Document) -> Chart:
    """How many near pairs there are at each distance and difference of scores."""
    sketch, options, alike = document["sketch"], document["options"], document["overall"]["alike"]
    x, y, number = sketch["distance"], sketch["difference"], np.array(sketch["pairs"])
    cells = [
        {"x": x[i], "x2": x[i + 1], "y": y[j], "y2": y[j + 1], "pairs": int(number[i, j]),
         "shade": float(np.log10(number[i, j]))}
        for i, j in np.argwhere(number).tolist()
    ]  # fmt: skip
    across, up = (quantitative(f, t, [0, e[-1]], format="~g") for f, t, e in (
        ("x", f"distance ({shown_name(options['metric'])})", x), ("y", "difference of scores", y)))  # fmt: skip
    scale = {"range": [theme.BAND, theme.GROUPS[0]]}
    shade = {"field": "shade", "type": "quantitative", "scale": scale, "legend": None}
    layers: list[Spec] = [
        {"data": inline(cells), "mark": {"type": "rect", "tooltip": True},
         "encoding": {"x": across, "x2": {"field": "x2"}, "y": up, "y2": {"field": "y2"}, "color": shade}},
    ]  # fmt: skip
    told = f"Of near pairs, {percent(alike['value'])} are scored within {options['epsilon']:.3g} of each other."
    said = ["Darker: more pairs.", *_limits(layers, document, across, up, x[-1], y[-1]), told]
    by_row = number.sum(axis=0)
    columns = {"difference from": y[:-1], "to": y[1:], "near pairs": by_row.tolist()}
    title = "Near pairs by distance and by difference of scores"
    body = {"width": theme.WIDTH, "height": HEIGHT, "layer": layers}
    return chart("pairs", title, " ".join(said), f"{told} {_constant(document)}", body, columns)


def _limits(layers: list[Spec], document: Document, x: Spec, y: Spec, right: float, top: float) -> list[str]:
    """The lines that divide alike from not alike, and what they mean."""
    options, said = document["options"], []
    line = {"type": "line", "color": theme.LIMIT, "strokeWidth": 2}
    if options["epsilon"] <= top:
        mark = {"type": "rule", "color": theme.LIMIT, "strokeDash": [5, 4]}
        layers.append({"data": inline([{"y": options["epsilon"]}]), "mark": mark, "encoding": {"y": y}})
        said.append("Dashed: what counts as alike.")
    if options["lipschitz"]:
        end = min(right, top / options["lipschitz"])
        points = rows(x=[0.0, end], y=[0.0, options["lipschitz"] * end])
        layers.append({"data": inline(points), "mark": line, "encoding": {"x": x, "y": y}})
        said.append("Line: lipschitz × distance, violated above it.")
    return said


def _constant(document: Document) -> str:
    c = document["overall"]["constant"]
    return sentence(c["undefined"] or f"the Lipschitz constant of near pairs is {c['value']:.4g}")


def _compared(document: Document) -> list[dict[str, Any]]:
    return [g for g in document["groups"] if g["across"] is not None and g["across"]["ci"] is not None]


def groups(document: Document) -> Chart:
    """The mean difference of scores of near pairs across groups."""
    there = sorted(_compared(document), key=lambda g: -g["people"])[:MOST_GROUPS]
    label = labels(g["name"] for g in there)
    reference = shown_name(document["data"]["reference"])
    points = [
        {"group": label[g["name"]], "value": g["across"]["value"], "low": g["across"]["ci"][0],
         "high": g["across"]["ci"][1], "pairs": g["across_pairs"],
         "what": "fares better" if g["across"]["value"] > 0 else "fares worse"}
        for g in there
    ]  # fmt: skip
    ends = [0.0, *(p[k] for p in points for k in ("low", "high"))]
    margin = 0.04 * (max(ends) - min(ends)) or 0.01
    x = quantitative("value", f"score minus that of {reference}", [min(ends) - margin, max(ends) + margin], format="~g")
    y = {"field": "group", "type": "nominal", "title": None, "sort": None}
    colour = coloured(["fares better", "fares worse"], [theme.GROUPS[0], theme.GROUPS[1]], field="what")
    whiskers = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": colour}
    data = inline(points)
    layers = [
        zero("x", x),
        {"data": data, "mark": {"type": "rule", "strokeWidth": 2}, "encoding": whiskers},
        {"data": data, "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1, "tooltip": True},
         "encoding": {"x": x, "y": y, "color": colour}},
    ]  # fmt: skip
    level = f"{100 * document['options']['confidence']:g}%"
    under = f"Mean over near pairs of one person of the group and one of {reference}. Lines: {level} intervals."
    told = "; ".join(f"{p['group']} {p['value']:+.3f} [{p['low']:+.3f}, {p['high']:+.3f}]" for p in points[:4])
    columns = {k: [p[k] for p in points] for k in ("group", "value", "low", "high", "pairs")}
    body = {"width": theme.WIDTH, "height": {"step": 34}, "layer": layers}
    title = f"How each group fares beside near people of {reference}"
    fewer = f"the {len(there)} largest groups" if len(there) < len(_compared(document)) else None
    return chart("groups", title, under, f"{under} {told}.", body, columns, [fewer])


CHARTS = {
    "pairs": Kind(pairs, lambda d: None if d["sketch"]["pairs"] else "needs people who are near to each other"),
    "groups": Kind(groups, lambda d: None if _compared(d) else "needs pairs of two groups that are near"),
}
