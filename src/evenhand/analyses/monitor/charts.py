"""One gap over time: every period with its interval, the band of the baseline, the limit, and where it has changed."""

from __future__ import annotations

import json
from typing import Any

from evenhand.analyses.monitor.new_groups import compared
from evenhand.errors import UsageError, listed, nearest, shown, shown_name
from evenhand.measures.registry import Measure, find
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, bracketed, chart, coloured, inline, quantitative, rows, zero

HEIGHT = 240
MOST_NAMES = 8
WHAT = {"baseline": theme.AXIS, "no change shown": theme.GROUPS[0], "not tested": theme.BAND, "changed": theme.LIMIT}


SHAPE = {"condition": {"test": "datum.what == 'changed'", "value": "diamond"}, "value": "circle"}


def plot(document: dict[str, Any], measure: Any = None, group: Any = None, attribute: Any = None) -> Chart:
    """A measure of one group over all periods; by default the first that has changed, else the first there is."""
    base = _chosen(document, measure, group, attribute)
    m = find(base["id"])
    assert m is not None
    points = list(_points(document, base, m))
    if not points:
        raise UsageError(f"no period has a value of {m.id} for {shown(base['group'])}")
    pair = f"{shown_name(base['group'])} against {shown_name(base['reference'])}"
    title = f"{m.title[0].upper()}{m.title[1:]} over time: {pair}"
    changed = [p for p in points if p["what"] == "changed"]
    told = "No change since the baseline is shown."
    if changed:
        first = shown_name(changed[0]["period"])
        told = f"It has changed since the baseline in {len(changed)} of {len(points)} periods, first in {first}."
    level = f"{100 * document['options']['confidence']:g}%"
    old = _figure(base, m)
    was = "undefined" if old is None else f"{old:.3f}{bracketed(base['ci'])}"
    subtitle = (
        f"Lines: {level} intervals. Band: the baseline, {shown_name(document['baseline']['name'])}, {was}. {told}"
    )
    columns = {name: [p[name] for p in points] for name in ("period", "value", "low", "high", "what")}
    return chart("watch", title, subtitle, f"{subtitle} {_range(points)}", _body(points, base, m), columns)


def _chosen(document: dict[str, Any], measure: Any, group: Any, attribute: Any) -> dict[str, Any]:
    """The comparison of the baseline that is meant."""
    there = compared(document)
    wanted = {"attribute": attribute, "id": measure, "group": group}
    found = [c for c in there if all(v is None or c[k] == v for k, v in wanted.items())]
    if not found:
        for key, value in wanted.items():
            known = list(dict.fromkeys(c[key] for c in there))
            if value is not None and value not in known:
                what = "measure" if key == "id" else key
                raise UsageError(
                    f"this watch has no {what} {shown(value)} (it has: {listed(known, 40)}){nearest(str(value), known)}"
                )
        raise UsageError(f"this watch does not compare {shown(group)} by {shown(attribute)} and {shown(measure)}")
    alarmed = {(a["attribute"], a["id"], a["group"]) for a in document["alarms"]}
    first: list[dict[str, Any]] = [c for c in found if (c["attribute"], c["id"], c["group"]) in alarmed]
    defined = [c for c in found if c["undefined"] is None]
    return (first or defined or found)[0]


def _figure(c: dict[str, Any], m: Measure) -> float | None:
    found: float | None = c["signed"] if m.signed else c["value"]
    return found


def _points(document: dict[str, Any], base: dict[str, Any], m: Measure) -> Any:
    """A row for every period that has a value; its place counts from 1."""
    same = ("attribute", "id", "group")
    for place, period in enumerate(document["periods"], 1):
        for c in period["comparisons"]:
            value = _figure(c, m)
            if value is None or any(c[k] != base[k] for k in same):
                continue
            low, high = c["ci"] or (None, None)
            what = "baseline" if period["status"] == "baseline" else "changed" if c["alarm"] else "no change shown"
            if period["status"] in ("before", "waiting") or (what == "no change shown" and c["p_adjusted"] is None):
                what = "not tested"
            yield {"place": place, "period": period["name"], "value": value, "low": low, "high": high, "what": what}


def _range(points: list[dict[str, Any]]) -> str:
    least, most = (f(points, key=lambda p: float(p["value"])) for f in (min, max))
    return f"Least {least['value']:.3f} in {least['period']}, most {most['value']:.3f} in {most['period']}."


def _body(points: list[dict[str, Any]], base: dict[str, Any], m: Measure) -> Spec:
    parity = 1.0 if m.scale == "ratio" else 0.0
    limits = _limits(base, m)
    known = [v for p in points for v in (p["value"], p["low"], p["high"]) if v is not None]
    ends = [*known, *(v for v in base["ci"] or () if v is not None), *limits, parity]
    margin = 0.04 * (max(ends) - min(ends)) or 0.01
    y = quantitative("value", m.title, [min(ends) - margin, max(ends) + margin], format=".2~f")
    last = points[-1]["place"]
    x = {**quantitative("place", None, [points[0]["place"] - 0.6, last + 0.6]), "axis": _names(points)}
    used = [w for w in WHAT if any(p["what"] == w for p in points)]
    colour = coloured(used, [WHAT[w] for w in used], field="what")
    colour["legend"] = {**colour["legend"], "symbolType": "circle"}
    data = inline([{**p, "period": shown_name(p["period"]), **_rounded(p)} for p in points])
    whiskers = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
    layers: list[Spec] = [*_band(base, x, y), zero("y", y, parity)]
    layers += [
        {"data": inline([{"value": v}]), "mark": {"type": "rule", "color": theme.LIMIT, "strokeDash": [5, 4]},
         "encoding": {"y": y}} for v in limits
    ]  # fmt: skip
    layers += [
        {"data": data, "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6}, "encoding": whiskers},
        {"data": data, "mark": {"type": "line", "strokeWidth": 1, "color": theme.AXIS}, "encoding": {"x": x, "y": y}},
        {"data": data, "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1, "tooltip": True},
         "encoding": {"x": x, "y": y, "color": colour, "shape": SHAPE}},
    ]  # fmt: skip
    return {"width": theme.WIDTH, "height": HEIGHT, "layer": layers}


def _rounded(p: dict[str, Any]) -> dict[str, Any]:
    return rows(**{k: p[k] for k in ("value", "low", "high")})[0]


def _limits(base: dict[str, Any], m: Measure) -> list[float]:
    limit = base["tolerance"]
    if limit is None:
        return []
    if m.scale == "ratio":
        return [limit, 1 / limit]
    return [-limit, limit] if m.signed else [limit]


def _band(base: dict[str, Any], x: Spec, y: Spec) -> list[Spec]:
    if base["ci"] is None or None in base["ci"]:
        return []
    low, high = base["ci"]
    return [
        {
            "data": inline(rows(value=[float(low)], high=[float(high)])),
            "mark": {"type": "rect", "color": theme.BAND, "opacity": 0.5},
            "encoding": {"y": y, "y2": {"field": "high"}},
        }
    ]


def _names(points: list[dict[str, Any]]) -> Spec:
    """Some periods by name, under the axis."""
    step = -(-len(points) // MOST_NAMES)
    some = points[::step]
    # names are looked up by place: what a period is called can then be anything
    texts = " : ".join(f"datum.value == {p['place']} ? {_quoted(shown_name(p['period'], 18))}" for p in some)
    return {"values": [p["place"] for p in some], "labelExpr": f"{texts} : ''", "labelAngle": -25, "grid": False}


def _quoted(text: str) -> str:
    """A text inside an expression of Vega."""
    return json.dumps(text)
