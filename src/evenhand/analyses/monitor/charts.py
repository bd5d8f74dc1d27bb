"""One gap over time: every period with its interval, the band of the baseline, the tolerance, and its changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from evenhand.analyses.monitor.new_groups import compared
from evenhand.errors import UsageError, listed, nearest, shown, shown_name
from evenhand.measures.registry import Measure, find
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, bracketed, chart, coloured, inline, quantitative, rows, zero
from evenhand.report.charts.registry import Charts, Kind

HEIGHT = 240
MOST_NAMES = 8
WHAT = {"baseline": theme.AXIS, "no change shown": theme.GROUPS[0], "not tested": theme.BAND, "changed": theme.LIMIT}
SHAPE = {"condition": {"test": "datum.what == 'changed'", "value": "diamond"}, "value": "circle"}


def charts(document: dict[str, Any], group: Any = None, attribute: Any = None) -> Charts:
    """A chart over time for each measure, of one group: what has changed comes first, then what is defined."""
    there, wanted = compared(document), {"attribute": attribute, "group": group}
    found = [c for c in there if all(v is None or c[k] == v for k, v in wanted.items())]
    for key, value in wanted.items():
        known = list(dict.fromkeys(c[key] for c in there))
        if value is not None and value not in known:
            raise UsageError(
                f"this report has no {key} {shown(value)} (it has: {listed(known, 40)}){nearest(value, known)}"
            )
    if not found:
        raise UsageError(f"this report does not compare {shown(group)} by {shown(attribute)}")
    alarmed = {(a["attribute"], a["id"], a["group"]) for a in document["alarms"]}
    kinds: dict[str, Kind] = {}
    for c in sorted(found, key=lambda c: ((c["attribute"], c["id"], c["group"]) not in alarmed, bool(c["undefined"]))):
        kinds.setdefault(c["id"], Kind(partial(_over_time, c), partial(_lacks, c)))
    return Charts(kinds, document)


def _lacks(base: dict[str, Any], document: dict[str, Any]) -> str | None:
    return None if any(_points(document, base)) else f"has no period with a value for {shown(base['group'])}"


def _over_time(base: dict[str, Any], document: dict[str, Any]) -> Chart:
    """A comparison of the baseline, in all periods."""
    points, m = list(_points(document, base)), _measure(base)
    pair = f"{shown_name(base['group'])} against {shown_name(base['reference'])}"
    title = f"{m.title[0].upper()}{m.title[1:]} over time: {pair}"
    changed = [p for p in points if p["what"] == "changed"]
    told = "No change since the baseline is shown."
    if changed:
        first = shown_name(changed[0]["period"])
        told = f"It has changed since the baseline in {len(changed)} of {len(points)} periods, first in {first}."
    level = f"{100 * document['options']['confidence']:g}%"
    old = _figure(base)
    was = "undefined" if old is None else f"{old:.3f}{bracketed(base['ci'])}"
    subtitle = (
        f"Lines: {level} intervals. Band: the baseline, {shown_name(document['baseline']['name'])}, {was}. {told}"
    )
    columns = {name: [p[name] for p in points] for name in ("period", "value", "low", "high", "what")}
    return chart("watch", title, subtitle, f"{subtitle} {_range(points)}", _body(points, base, m), columns)


def _measure(c: dict[str, Any]) -> Measure:
    found = find(c["id"])
    assert found is not None
    return found


def _figure(c: dict[str, Any]) -> float | None:
    found: float | None = c["signed"] if _measure(c).signed else c["value"]
    return found


def _points(document: dict[str, Any], base: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for every period that has a value; its place counts from 1."""
    same = ("attribute", "id", "group")
    for place, period in enumerate(document["periods"], 1):
        for c in period["comparisons"]:
            if any(c[k] != base[k] for k in same) or (value := _figure(c)) is None:
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
    tolerances = _tolerances(base, m)
    known = [v for p in points for v in (p["value"], p["low"], p["high"]) if v is not None]
    ends = [*known, *(v for v in base["ci"] or () if v is not None), *tolerances, parity]
    margin = 0.04 * (max(ends) - min(ends)) or 0.01
    y = quantitative("value", m.title, [min(ends) - margin, max(ends) + margin], format=".2~f")
    last = points[-1]["place"]
    x = {**quantitative("place", None, [points[0]["place"] - 0.6, last + 0.6]), "axis": _names(points)}
    used = [w for w in WHAT if any(p["what"] == w for p in points)]
    colour = coloured(used, [WHAT[w] for w in used], field="what")
    colour["legend"] = {**colour["legend"], "symbolType": "circle"}
    data = inline(
        [
            {**p, "period": shown_name(p["period"]), **rows(**{k: p[k] for k in ("value", "low", "high")})[0]}
            for p in points
        ]
    )
    whiskers = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
    layers: list[Spec] = [*_band(base, x, y), zero("y", y, parity)]
    layers += [
        {"data": inline([{"value": v}]), "mark": {"type": "rule", "color": theme.LIMIT, "strokeDash": [5, 4]},
         "encoding": {"y": y}} for v in tolerances
    ]  # fmt: skip
    layers += [
        {"data": data, "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6}, "encoding": whiskers},
        {"data": data, "mark": {"type": "line", "strokeWidth": 1, "color": theme.AXIS}, "encoding": {"x": x, "y": y}},
        {"data": data, "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1, "tooltip": True},
         "encoding": {"x": x, "y": y, "color": colour, "shape": SHAPE}},
    ]  # fmt: skip
    return {"width": theme.WIDTH, "height": HEIGHT, "layer": layers}


def _tolerances(base: dict[str, Any], m: Measure) -> list[float]:
    tolerance = base["tolerance"]
    if tolerance is None:
        return []
    if m.scale == "ratio":
        return [tolerance, 1 / tolerance]
    return [-tolerance, tolerance] if m.signed else [tolerance]


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
    texts = " : ".join(f"datum.value == {p['place']} ? {json.dumps(shown_name(p['period'], 18))}" for p in some)
    return {"values": [p["place"] for p in some], "labelExpr": f"{texts} : ''", "labelAngle": -25, "grid": False}
