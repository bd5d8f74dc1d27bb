"""Methods over runs: fronts, distances to the optimum and areas, as in Figures 3b to 5 of Han, Baldwin & Cohn 2023."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.compare import settings_chart
from evenhand.errors import UsageError, listed, nearest, shown, shown_name, unknown
from evenhand.measures.pareto import Curve
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import (
    Spec,
    chart,
    chosen_rows,
    coloured,
    inline,
    labels,
    ordered,
    quantitative,
    rows,
)
from evenhand.report.charts.plane import SIDE, Plane, plane
from evenhand.report.charts.registry import Kind

if TYPE_CHECKING:
    from evenhand.analyses.compare.compare import Comparison
    from evenhand.analyses.compare.ranking import Standing

MOST_DOTS, MOST_POINTS, FINE = 400, 100, 101
COLUMNS = 3
CONDITIONS = {"performance_from": "performance ≥", "fairness_from": "fairness ≥", "dto_to": "DTO ≤"}


@dataclass(frozen=True)
class Subject:
    """A comparison, and the methods that are drawn, the best first."""

    comparison: Comparison
    chosen: list[Standing]
    setting: str | None = None
    """What results are drawn against, if one was named."""


def subject(c: Comparison, method: Any = None, setting: Any = None) -> Subject:
    """One method, or as many as there are colours."""
    if method is not None and method not in c.methods:
        raise UsageError(
            f"there is no method {shown(method)} (there are: {listed(c.methods)}){nearest(method, c.methods)}"
        )
    if setting is not None and setting not in c.runs.settings:
        raise unknown("there is no settings column", setting, c.runs.settings)
    chosen = [s for s in c.standings if method in (None, c.runs.methods[s.method])]
    return Subject(c, chosen[: theme.MOST_COLOURED], setting)


def _names(c: Comparison, chosen: Sequence[Standing]) -> dict[int, str]:
    """What each method is called."""
    found = labels(c.runs.methods[s.method] for s in chosen)
    return {s.method: found[c.runs.methods[s.method]] for s in chosen}


def _colours(c: Comparison, chosen: Sequence[Standing]) -> tuple[list[str], list[str]]:
    """The same colour for a method in every chart: by its standing."""
    palette = dict(zip((s.method for s in c.standings), [*theme.GROUPS, theme.REFERENCE], strict=False))
    label = _names(c, chosen)
    return [label[s.method] for s in chosen], [palette[s.method] for s in chosen]


def _fewer(c: Comparison, chosen: Sequence[Standing]) -> str | None:
    return f"the best {len(chosen)} of {len(c.standings)} methods" if 1 < len(chosen) < len(c.standings) else None


def fronts(about: Subject) -> Chart:
    """Settings of all methods, their fronts, and the model that the least distance selects."""
    c, chosen = about.comparison, about.chosen
    label, (p, f) = _names(c, chosen), c.runs.means[:2]
    settings = [i for s in chosen for i in range(*c.runs.of(s.method).indices(len(c.runs.method)))]
    dots = settings[:: max(1, -(-len(settings) // MOST_DOTS))]
    axes = plane(*_axis_titles(c), p[settings].tolist(), f[settings].tolist(), c.terms.utopia)
    picked = [(s, s.places[0]) for s in chosen if s.places[0] >= 0]
    best = min(picked, key=lambda found: found[0].dtos[0], default=None)
    told = "" if best is None else f" The least is that of {label[best[0].method]}: {best[0].dtos[0]:.3f}."
    subtitle = f"Curves: fronts of test results. Large points: selected by distance to utopia (dotted).{told}"
    columns = {
        "method": [label[s.method] for s, _ in picked], "performance": [p[i] for _, i in picked],
        "fairness": [f[i] for _, i in picked], "distance": [s.dtos[0] for s, _ in picked],
    }  # fmt: skip
    note = f"{len(dots)} of {len(settings)} settings are drawn" if len(dots) < len(settings) else None
    body: Spec = {"width": SIDE, "height": SIDE, "layer": _front_layers(c, chosen, axes, dots, picked)}
    return chart(
        "tradeoff", "Performance against fairness", subtitle,
        f"{len(settings)} settings of {len(chosen)} methods and their fronts.{told}", body, columns,
        [note, _fewer(c, chosen)],
    )  # fmt: skip


def _front_layers(
    c: Comparison, chosen: Sequence[Standing], axes: Plane, dots: list[int], picked: list[tuple[Standing, int]]
) -> list[Spec]:
    label, (p, f), utopia = _names(c, chosen), c.runs.means[:2], c.terms.utopia

    def points(method: int, performance: Any, fairness: Any) -> list[dict[str, Any]]:
        return [{"group": label[method], **row} for row in rows(performance=performance, fairness=fairness)]

    every = [row for i in dots for row in points(int(c.runs.method[i]), [p[i]], [f[i]])]
    away = [row for s, i in picked for row in points(s.method, [p[i], utopia[0]], [f[i], utopia[1]])]
    selected = [row for s, i in picked for row in points(s.method, [p[i]], [f[i]])]
    curves = [
        row
        for s in chosen
        for row in points(s.method, *_line(c, s))
        if row["performance"] >= axes.x[0] and row["fairness"] >= axes.y[0]
    ]
    encoding = {**axes.axes, "color": coloured(*_colours(c, chosen))}
    dotted = {"type": "line", "strokeWidth": 1, "opacity": 0.6, "strokeDash": [2, 3]}
    return [
        *axes.utopia(utopia),
        {"data": inline(every), "mark": {"type": "circle", "size": 18, "opacity": 0.35}, "encoding": encoding},
        {"data": inline(away), "mark": dotted, "encoding": encoding},
        axes.path(curves, {"strokeWidth": 2}, color=encoding["color"]),
        {"data": inline(selected), "mark": {"type": "circle", "size": 100, "opacity": 1}, "encoding": encoding},
    ]


def _line(c: Comparison, s: Standing) -> Curve:
    """The curve of a method, at so many of its points that a drawing needs."""
    line = c.curve(c.runs.methods[s.method])
    keep = chosen_rows(len(line.performance), MOST_POINTS)
    return Curve(line.performance[keep], line.fairness[keep])


def _axis_titles(c: Comparison) -> tuple[str, str]:
    columns = c.question.columns
    minus = {role: "1 − " if role in columns.lower_is_better else "" for role in ("performance", "fairness")}
    return (
        f"performance: {minus['performance']}{shown_name(columns.performance)}",
        f"fairness: {minus['fairness']}{shown_name(columns.fairness)}",
    )


def distances(about: Subject) -> Chart:
    """The distance to the optimum of the model that each criterion selects, with intervals over seeds."""
    c, chosen = about.comparison, about.chosen
    label = _names(c, chosen)
    names, colours = _colours(c, chosen)
    values = []
    for s in chosen:
        for k, criterion in enumerate(c.terms.criteria):
            if s.places[k] < 0 or not np.isfinite(s.dtos[k]):
                continue
            ci = s.dto_cis[k] if k < len(s.dto_cis) else None
            ends = (s.dtos[k], s.dtos[k]) if ci is None or ci.ci is None else ci.ci
            values.append({"group": label[s.method], "criterion": criterion.id,
                           **rows(dto=s.dtos[k], low=float(ends[0]), high=float(ends[1]))[0]})  # fmt: skip
    criteria = [k.id for k in c.terms.criteria]
    most = max((v["high"] for v in values), default=1.0) * 1.05 or 1.0
    x = quantitative("dto", "distance to the utopia point (less is better)", [0, most], tickCount=8)
    y, offset = ordered("criterion", criteria, title="selected by"), ordered("group", names)
    colour = coloured(names, colours)
    colour["legend"] = {**colour["legend"], "symbolType": "circle"}
    places = {"y": y, "yOffset": offset, "color": colour}
    body: Spec = {
        "width": theme.WIDTH - 90,
        "height": {"step": max(9, 14 - len(names))},
        "data": inline(values),
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {**places, "x": {**x, "field": "low"}, "x2": {"field": "high"}}},
            {"mark": {"type": "circle", "size": 60, "opacity": 1, "tooltip": True},
             "encoding": {**places, "x": x}},
        ],
    }  # fmt: skip
    least = min((v for v in values if v["criterion"] == "dto"), key=lambda v: v["dto"], default=None)
    told = "" if least is None else f"Selected by distance, {least['group']} is the nearest: {least['dto']:.3f}."
    columns = {
        "method": [v["group"] for v in values], "selected by": [v["criterion"] for v in values],
        "distance": [v["dto"] for v in values], "low": [v["low"] for v in values], "high": [v["high"] for v in values],
    }  # fmt: skip
    subtitle = f"Of the model that each criterion selects, with intervals over seeds where there are any. {told}"
    description = f"Distances by method and criterion. {told}"
    return chart("dto", "Distance to the optimum", subtitle, description, body, columns, [_fewer(c, chosen)])


def areas(about: Subject) -> Chart:
    """The area under each method's curve, and what of it meets the conditions."""
    c, chosen = about.comparison, about.chosen
    label = _names(c, chosen)
    known = [one for one in chosen if np.isfinite(one.area)]
    lines = {s.method: _line(c, s) for s in known}
    side = SIDE if len(known) == 1 else 175
    axes = Plane(*_axis_titles(c), (0.0, 1.03), (0.0, 1.03), side)  # an area starts at 0
    _, colours = _colours(c, known)
    panels = [
        _area_panel(c, s, lines[s.method], axes, colour, label[s.method])
        for s, colour in zip(known, colours, strict=True)
    ]
    best = known[0]
    told = f"The largest is that of {label[best.method]}: {best.area:.4f}."
    if len(known) == 1:
        told = f"The area of {label[best.method]} is {best.area:.4f}."
    conditions = " and ".join(f"{CONDITIONS[word]} {value:g}" for word, value in c.terms.region.items())
    subtitle = f"Below the curve: its area (AUC-PFC). Between it and the utopia point: what is missing. {told}"
    if conditions:
        subtitle += f" Darker: where {conditions}."
    columns = {"method": [label[s.method] for s in known], "area": [s.area for s in known],
               "area to utopia": [s.polar for s in known],
               "partial area": [s.partial if np.isfinite(s.partial) else None for s in known]}  # fmt: skip
    body: Spec = {"concat": panels, "columns": COLUMNS, "spacing": 18}
    title = "Areas under the curves of performance and fairness"
    most = max(len(c.curve(c.runs.methods[s.method]).performance) for s in known)
    thin = f"curves of up to {most:,} points are drawn with {MOST_POINTS}" if most > MOST_POINTS else None
    return chart("area", title, subtitle, f"Areas by method. {told}", body, columns, [thin, _fewer(c, chosen)])


def _area_panel(c: Comparison, s: Standing, line: Curve, axes: Plane, colour: str, name: str) -> Spec:
    """One curve, the area below it, and the one between it and the utopia point."""
    values = rows(performance=line.performance, fairness=line.fairness, step=np.arange(len(line.fairness)))
    utopia = c.terms.utopia
    away = [*values, rows(performance=float(utopia[0]), fairness=float(utopia[1]))[0]]
    below = {**axes.axes, "y2": {"datum": 0}}
    layers: list[Spec] = [
        axes.path(away, {"filled": True, "color": theme.GROUPS[2], "opacity": 0.15, "strokeWidth": 0}),
        {"mark": {"type": "area", "color": colour, "opacity": 0.2}, "encoding": below},
    ]
    part = _inside(c, line)
    if part:
        mark = {"type": "area", "color": colour, "opacity": 0.35}
        layers.append({"data": inline(part), "mark": mark, "encoding": below})
    order = {"field": "step", "type": "quantitative"}
    layers.append({"mark": {"type": "line", "color": colour}, "encoding": {**axes.axes, "order": order}})
    area = f"{s.area:.4f}" + (f", partly {s.partial:.4f}" if np.isfinite(s.partial) else "")
    return {
        "width": axes.side,
        "height": axes.side,
        "data": inline(values),
        "title": {"text": [name, area], "fontSize": 12, "fontWeight": "normal", "limit": axes.side},
        "layer": [*layers, *axes.utopia(utopia)[:3]],
    }


def _inside(c: Comparison, line: Curve) -> list[dict[str, Any]]:
    """The stretches of a curve that meet the conditions; nothing is drawn between them."""
    if not c.terms.region:
        return []
    p = np.linspace(line.performance[0], line.performance[-1], FINE)
    f = np.interp(p, line.performance, line.fairness)
    keep = np.ones(len(p), np.bool_)
    if c.terms.performance_from is not None:
        keep &= p >= c.terms.performance_from
    if c.terms.fairness_from is not None:
        keep &= f >= c.terms.fairness_from
    if c.terms.dto_to is not None:
        keep &= c.terms.distance(p, f) <= c.terms.dto_to
    if not keep.any():
        return []
    first, last = np.flatnonzero(keep)[[0, -1]]
    return rows(performance=p[first : last + 1], fairness=np.where(keep, f, np.nan)[first : last + 1])


def _no_areas(about: Subject) -> str | None:
    if about.comparison.terms.start is None:
        return "needs the performance of a random guess: compare with random_performance="
    if not any(np.isfinite(one.area) for one in about.chosen):
        return "needs a method that is better than a random guess, and none is"
    return None


CHARTS = {
    "tradeoff": Kind(fronts),
    "dto": Kind(distances),
    "area": Kind(areas, _no_areas),
    "settings": Kind(settings_chart.settings, settings_chart.lacks),
}
