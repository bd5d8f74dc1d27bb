"""Charts of counterfactual fairness, made from its document: changes, paths, confounding, causal models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analyses.counterfactual.document import chosen
from evenhand.analyses.counterfactual.sentences import causal_model, via
from evenhand.errors import shown, shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, inline, ordered, quantitative, rows, zero
from evenhand.report.charts.registry import Kind
from evenhand.report.format import number

if TYPE_CHECKING:
    from evenhand.analyses.counterfactual.counterfactual import CounterfactualFairness

HEIGHT, ROW = 220, 26
MOST_PAIRS = len(theme.GROUPS)
Document = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """A document, and one of its causal models: a graph, or the flip."""

    document: Document
    world: dict[str, Any]

    @property
    def where(self) -> str:
        name = self.world["name"]
        return "if only the attribute is flipped" if name == "flip" else f"by {causal_model(name)}"

    @property
    def level(self) -> str:
        return f"{100 * self.document['options']['confidence']:g}%"


def subject(result: CounterfactualFairness, world: Any = None) -> Subject:
    """A causal model by its name; without a name the first, or the flip if there is none."""
    return in_world(result.to_dict(), world)


def in_world(document: Document, world: Any) -> Subject:
    """The same of a document."""
    there = {w["name"]: w for w in document["worlds"]}
    there["flip"] = {"name": "flip", **document["flip"], "paths": [], "confounding": []}
    return Subject(document, there[chosen(world, list(there))])


def _pair(c: dict[str, Any]) -> str:
    return f"{shown_name(c['group'], 24)} as {shown_name(c['other'], 24)}"


def _pairs(changes: list[dict[str, Any]]) -> tuple[list[str], str | None]:
    """The pairs that are drawn, and what is said of the others."""
    names = list(dict.fromkeys(_pair(c) for c in changes))
    more = len(names) - MOST_PAIRS
    return names[:MOST_PAIRS], f"{more} more pairs of groups are in the JSON" if more > 0 else None


def changes(s: Subject) -> Chart:
    """How the scores of people change."""
    answer = s.world["answer"]
    changes = answer["changes"]
    names, more = _pairs(changes)
    edges = answer["bins"]
    values = []
    for c in changes[: len(names)]:
        total = sum(c["histogram"]) or 1
        values += rows(
            pair=_pair(c), low=edges[:-1], high=edges[1:], share=[count / total for count in c["histogram"]], zero=0.0
        )
    x = quantitative("low", "change of the score", [edges[0], edges[-1]], format=".2~f", tickCount=8)
    bars: Spec = {
        "mark": {"type": "bar", "stroke": theme.PAPER, "strokeWidth": 0.5, "tooltip": True},
        "encoding": {
            "x": {**x, "bin": {"binned": True}},
            "x2": {"field": "high"},
            "y": quantitative("share", "share of people", format="%"),
            "color": coloured(names, theme.GROUPS[: len(names)], legend=False, field="pair"),
        },
    }
    nothing = {"mark": {"type": "rule", "color": theme.AXIS}, "encoding": {"x": {**x, "field": "zero"}}}
    body: Spec = {
        "data": inline(values),
        "facet": {"row": {"field": "pair", "title": None, "sort": None,
                          "header": {"labelAlign": "left", "labelOrient": "top", "labelAnchor": "start"}}},
        "spec": {"width": theme.WIDTH, "height": max(50, HEIGHT // len(names)), "layer": [bars, nothing]},
    }  # fmt: skip
    title = f"Counterfactual change of scores, {s.where}"
    told = " ".join(c["interpretation"] for c in changes[: len(names)])
    columns = {
        "pair": [_pair(c) for c in changes],
        "mean": [c["mean"]["value"] for c in changes],
        **{q: [c["quantiles"][q] for c in changes] for q in ("q05", "q25", "q50", "q75", "q95")},
    }
    return chart("changes", title, "Line: no change.", f"Line: no change. {told}", body, columns, [more])


def paths(s: Subject) -> Chart:
    """The part of the mean change that takes each path."""
    names, more = _pairs(s.world["paths"])
    total = {_pair(c): c["mean"] for c in s.world["answer"]["changes"]}
    lines = [{"pair": pair, "path": "total", **_estimate(total[pair])} for pair in names]
    lines += [
        {"pair": _pair(p), "path": via(p["via"], 24), **_estimate(p["mean"])}
        for p in s.world["paths"]
        if _pair(p) in names
    ]
    ends = [v for line in lines for v in (line["value"], line["low"], line["high"], 0.0) if v is not None]
    margin = 0.05 * (max(ends) - min(ends)) or 0.01
    x = quantitative(
        "value", "mean change of the score", [min(ends) - margin, max(ends) + margin], format=".2~f", tickCount=7
    )
    subtitle = f"Lines: {s.level} intervals."
    known = [line for line in lines if line["value"] is not None]
    told = "; ".join(f"{line['pair']}, {line['path']}: {number(line['value'], sign=True)}" for line in known)
    columns = _columns(lines, "pair", "path", *_ENDS)
    title = f"Paths of the change, {s.where}"
    return chart("paths", title, subtitle, f"{subtitle} {told}.", _dots(lines, "path", names, x), columns, [more])


_ENDS = ("value", "low", "high")


def _columns(lines: list[dict[str, Any]], *keys: str) -> dict[str, list[Any]]:
    return {key: [line[key] for line in lines] for key in keys}


def _dots(lines: list[dict[str, Any]], field: str, names: list[str], x: Spec) -> Spec:
    """Estimates with their intervals, one below the other by this field, in the colours of pairs of groups."""
    places = list(dict.fromkeys(line[field] for line in lines))
    y = ordered(field, places, title=None, axis=_room(places))
    colour = coloured(names, theme.GROUPS[: len(names)], field="pair")
    colour["legend"] = {**colour["legend"], "symbolType": "circle"}
    beside = {"y": y, "yOffset": ordered("pair", names), "color": colour}
    data = inline(rows(**_columns(lines, "pair", field, *_ENDS)))
    return {"width": theme.WIDTH - 150, "height": ROW * len(places) * max(1, len(names) // 2), "layer": [
        zero("x", x),
        {"data": data, "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
         "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, **beside}},
        {"data": data, "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "tooltip": True},
         "encoding": {"x": x, **beside}},
    ]}  # fmt: skip


def _room(names: list[str]) -> Spec:
    """Room for names beside the axis: a browser's letters may be wider than those it was drawn with."""
    return {"labelLimit": 260, "minExtent": 8 * max(map(len, names)) + 10}


def _estimate(e: dict[str, Any]) -> dict[str, Any]:
    low, high = e["ci"] or (None, None)
    return {"value": e["value"], "low": low, "high": high}


def confounding(s: Subject) -> Chart:
    """What is left of the mean change if a hidden cause accounts for part of it."""
    names, more = _pairs(s.world["confounding"])
    curves = [c for c in s.world["confounding"] if _pair(c) in names]
    lines = [
        {"pair": _pair(c), "share": p["share"], "correlation": p["correlation"], **_estimate(p["mean"])}
        for c in curves
        for p in c["points"]
    ]
    data = inline(rows(**_columns(lines, "pair", "share", *_ENDS)))
    shares = [line["share"] for line in lines]
    what = "share of the fitted effects that a hidden cause accounts for"
    x = quantitative("share", what, [min(shares), max(shares)], format="%", tickCount=7)
    y = quantitative("value", "mean change of the score", format=".2~f")
    colour = coloured(names, theme.GROUPS[: len(names)], field="pair")
    colour["legend"] = {**colour["legend"], "symbolType": "stroke"}
    band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": {**colour, "legend": None}}
    body: Spec = {"width": theme.WIDTH, "height": HEIGHT, "layer": [
        {"data": data, "mark": {"type": "area", "opacity": 0.2}, "encoding": band},
        zero("y", y),
        {"data": data, "mark": {"type": "line", "point": True, "tooltip": True},
         "encoding": {"x": x, "y": y, "color": colour}},
    ]}  # fmt: skip
    subtitle = f"Bands: {s.level} intervals. At 0% there is no hidden cause; below it one hides part of the effect."
    told = " ".join(c["interpretation"] for c in curves)
    columns = _columns(lines, "pair", "share", "correlation", *_ENDS)
    title = f"If there is a hidden cause, {s.where}"
    return chart("confounding", title, subtitle, f"{subtitle} {told}", body, columns, [more])


def worlds(s: Subject) -> Chart:
    """The mean change by every causal model."""
    names, more = _pairs(s.document["worlds"][0]["answer"]["changes"])
    lines = [
        {"pair": _pair(c), "causal model": shown_name(w["name"], 30), **_estimate(c["mean"])}
        for w in s.document["worlds"]
        for c in w["answer"]["changes"]
        if _pair(c) in names
    ]
    told = " ".join(
        r["interpretation"] for r in s.document["ranges"] if r["figure"] == "mean" and r["group"] is not None
    )
    subtitle = f"Lines: {s.level} intervals."
    body = _dots(lines, "causal model", names, quantitative("value", "mean change of the score", format=".2~f"))
    columns = _columns(lines, "causal model", "pair", *_ENDS)
    title = "The mean change by every causal model"
    return chart("worlds", title, subtitle, f"{subtitle} {told}", body, columns, [more])


def _has(part: str) -> Callable[[Subject], str | None]:
    return lambda s: None if s.world[part] else f"is not of {shown(s.world['name'])}: name another causal model"


CHARTS = {
    "changes": Kind(changes, _has("answer")),
    "paths": Kind(paths, _has("paths")),
    "confounding": Kind(confounding, _has("confounding")),
    "worlds": Kind(worlds, lambda s: None if s.document["ranges"] else "needs several graphs"),
}
