"""How several models spread the scores of groups: one panel a model, one line a group, on shared axes.

As Figures 1, 2, 5 and 7 of Han, Jiang et al. 2023 show models beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.analyses.audit.charts import CHARTS as OF_ONE
from evenhand.analyses.audit.charts.distributions import cdf_lines, curve_layers
from evenhand.analyses.audit.charts.subject import Line, Subject
from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, bracketed, chart, quantitative
from evenhand.report.format import number

MOST_PANELS, COLUMNS = 6, 3
HEIGHT = 150
HIGHEST = 2.0
"""A density that rises to more than so many times what the median one rises to would flatten all others."""
WRITTEN = {"abpc": "ABPC", "abcc": "ABCC"}
BESIDE = {"delta_dp_c": "ΔDP_c", "delta_dp_b": "ΔDP_b"}
TITLES = {"pdf": "How every model spreads scores", "cdf": "Share scoring at most so much, by model"}

Panels = Sequence[tuple[str, Subject]]


def lacks(kind: str, every: Panels) -> str | None:
    """Why no model can be drawn, if none can."""
    reasons = [OF_ONE[kind].lacks(s) for _, s in every]
    return reasons[0] if reasons and all(reasons) else None


def pdf(every: Panels) -> Chart:
    """The density of every group, by model."""
    density = quantitative("density", "density", format=",~r", tickCount=4)
    return _side_by_side("pdf", every, lambda s: s.lines("pdf", "score", "density"), "density", density)


def cdf(every: Panels) -> Chart:
    """The CDF of every group, by model."""
    share = quantitative("share", "share of the group", [0, 1], format="%", tickCount=4)
    return _side_by_side("cdf", every, cdf_lines, "share", share)


def _side_by_side(kind: str, every: Panels, lines_of: Any, field: str, y: Spec) -> Chart:
    there = [(name, s) for name, s in every if OF_ONE[kind].lacks(s) is None]
    shown, first = there[:MOST_PANELS], there[0][1]
    drawn = [(name, s, lines_of(s)) for name, s in shown]
    lo, hi = min(s.range[0] for _, s in shown), max(s.range[1] for _, s in shown)
    cut, top = None, 1.0
    if kind == "pdf":
        tops = [max(float(v.max()) for _, v in lines.values()) for _, _, lines in drawn]
        usual = np.median([float(v.max()) for _, _, lines in drawn for _, v in lines.values()])
        top = min(max(tops), HIGHEST * float(usual))
        y = {**y, "scale": {"domain": [0, float(f"{1.05 * top:.3g}")], "nice": False}}
        if beyond := [shown_name(name) for (name, *_), own in zip(drawn, tops, strict=True) if own > top]:
            cut = f"densities above {top:.3g} are cut off: {', '.join(beyond)}"
    columns = min(len(drawn), COLUMNS)
    width = (theme.WIDTH - 40 - 24 * (columns - 1)) // columns
    panels = []
    for place, (name, s, lines) in enumerate(drawn):
        x = quantitative("score", "risk score" if s.table.meaning.risk else "score", [lo, hi], tickCount=4)
        own = y if place % columns == 0 else {**y, "title": None}
        panels.append({
            "width": width, "height": HEIGHT, "layer": curve_layers(
                s, _below(lines, top), field, own, kind == "cdf" and s.few, x),
            "title": {"text": shown_name(name, 24), "subtitle": _numbers(s), "fontSize": 13, "subtitleFontSize": 11,
                      "offset": 6},
        })  # fmt: skip
    a, b = first.pair
    title = f"{TITLES[kind]}: groups of {shown_name(first.attribute.name)}"
    subtitle = f"Shaded: between {a} and {b}, whose gaps are written above." + (
        " Dashed: the threshold." if any(s.threshold is not None for _, s in shown) else ""
    )
    said = "; ".join(f"{shown_name(name)}: {', '.join(_numbers(s))}" for name, s in shown)
    left = [name for name, s in every if OF_ONE[kind].lacks(s) is not None]
    notes = [
        f"of {len(there)} models the first {len(shown)} are drawn" if len(there) > len(shown) else None,
        f"not drawn, for lack of a curve: {', '.join(shown_name(name) for name in left)}" if left else None,
        cut,
        first.left_out,
        first.in_steps,
    ]
    body = {"concat": panels, "columns": columns, "spacing": 24}
    return chart(kind, title, subtitle, f"{subtitle} {said}.", body, _table(kind, drawn), notes)


def _below(lines: dict[str, Line], top: float) -> dict[str, Line]:
    return {group: (x, np.minimum(v, top)) for group, (x, v) in lines.items()}


def _numbers(s: Subject) -> list[str]:
    """What each panel says of the pair, and of more than two groups the means over all pairs."""
    lines = []
    for id_, name in WRITTEN.items():
        if (gap := s.gap(id_)) is not None:
            lines.append(f"{name} {number(gap.value)}{bracketed(gap.ci)}")
        elif any(g.id == id_ for g in s.attribute.measures):
            lines.append(f"{name} undefined")
    beside = [f"{name} {number(gap.value)}" for id_, name in BESIDE.items() if (gap := s.gap(id_)) is not None]
    means = [f"{WRITTEN[g.id]} {number(g.mean)}" for g in s.attribute.largest if g.id in WRITTEN and g.mean is not None]
    told = [*lines, ", ".join(beside), f"all pairs: {', '.join(means)}" if means else ""]
    return [line for line in told if line]


def _table(kind: str, drawn: Sequence[tuple[str, Subject, dict[str, Line]]]) -> dict[str, list[Any]]:
    """Every group by model: quartiles, or where its density is highest; and its gaps."""
    heads = ("lower quartile", "median", "upper quartile") if kind == "cdf" else ("highest at", "density there")
    table: dict[str, list[Any]] = {head: [] for head in ("model", "group", *heads, *WRITTEN.values())}
    for name, s, lines in drawn:
        gaps = {(g.id, g.group): g.value for g in s.attribute.measures if not g.undefined}
        for group, (x, y) in lines.items():
            places = np.searchsorted(y, [0.25, 0.5, 0.75]) if kind == "cdf" else np.array([int(np.argmax(y))])
            found = x[np.minimum(places, len(x) - 1)].tolist() + ([] if kind == "cdf" else [float(y.max())])
            known = [gaps.get((id_, group)) for id_ in WRITTEN]
            for head, value in zip(table, [name, s.label[group], *found, *known], strict=True):
                table[head].append(value)
    return table
