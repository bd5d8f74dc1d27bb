"""Figures 1 to 5 of Taskesen, Blanchet, Kuhn & Nguyen 2021, drawn from what was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import chi2

from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, layer, quantitative, rows
from evenhand.tables.arrays import Bools, Floats

PANEL = 150
HALF = theme.WIDTH // 2 - 30


def law_charts(found: Mapping[int, Floats], theta: float) -> tuple[Chart, Chart]:
    """The statistic of replications against θχ²₁: densities and CDFs."""
    end = float(chi2.isf(0.01, 1) * theta)
    edges = np.linspace(0, end, 31)
    law = "limit law"
    density = []
    for people, values in found.items():
        share = np.histogram(values, edges)[0] / len(values) / np.diff(edges)
        middle = (edges[1:] + edges[:-1]) / 2
        limit = np.diff(chi2.cdf(edges / theta, 1)) / np.diff(edges)
        top = float(max(share.max(), limit.max())) * 1.05
        x, y = quantitative("value", "N·R", [0, end]), quantitative("density", "density", [0, top])
        where = {"x": x, "x2": {"field": "end"}, "y": y, "y2": {"datum": 0}}
        bars = layer(rows(value=edges[:-1], end=edges[1:], density=share), "rect", where, color=theme.BAND)
        line = layer(rows(value=middle, density=limit), "line", {"x": x, "y": y}, color=theme.GROUPS[0])
        density.append(_titled(f"N = {people}", [bars, line]))
    at = np.linspace(0, end, 121)
    names = [*(f"N = {people}" for people in found), law]
    curves = [*(np.searchsorted(v, at, side="right") / len(v) for v in found.values()), chi2.cdf(at / theta, 1)]
    points = [row for name, curve in zip(names, curves, strict=True) for row in rows(value=at, share=curve, what=name)]
    colour = coloured(names, [theme.GROUPS[1], theme.GROUPS[2], theme.GROUPS[0]], field="what")
    encoding = {"x": quantitative("value", "N·R", [0, end]), "y": quantitative("share", "CDF", [0, 1]), "color": colour}
    said = "Grey: the statistic of replications. Line: θχ²₁ with θ of a large sample."
    table = {"N·R": at[::6], **{name: curve[::6] for name, curve in zip(names, curves, strict=True)}}
    title = "The statistic against its limit law"
    body = {"width": theme.WIDTH, "height": 220, "layer": [layer(points, "line", encoding)]}
    return (
        chart("law", f"{title}: densities", said, said, {"hconcat": density}, table),
        chart("law-cdf", f"{title}: CDFs", "", "CDFs of the statistic and of θχ²₁.", body, table),
    )


def _titled(title: str, layers: list[Spec], width: int = HALF, height: int = PANEL) -> Spec:
    return {"width": width, "height": height, "title": {"text": title, "fontSize": 12}, "layer": layers}


def heatmaps(at: Floats, panels: Mapping[str, Floats]) -> Chart:
    """Numbers over two coefficients: one panel each."""
    step = float(at[1] - at[0])
    b2, b1 = (grid.ravel() for grid in np.meshgrid(at, at, indexing="ij"))
    side = theme.WIDTH // len(panels) - 34
    ends = [float(at[0] - step / 2), float(at[-1] + step / 2)]
    drawn: list[Spec] = []
    for title, values in panels.items():
        colours = [theme.GROUPS[0], theme.PAPER][:: -1 if title.startswith("p") else 1]
        cells = rows(x=b1 - step / 2, x2=b1 + step / 2, y=b2 - step / 2, y2=b2 + step / 2, value=values)
        encoding = {
            "x": quantitative("x", "β₁", ends, tickCount=3), "x2": {"field": "x2"},
            "y": quantitative("y", "β₂" if not drawn else None, ends, tickCount=3), "y2": {"field": "y2"},
            "color": {
                "field": "value", "type": "quantitative", "title": None,
                "scale": {"domain": [0, float(np.round(values.max(), 2))], "range": colours, "interpolate": "rgb"},
                "legend": {"orient": "bottom", "gradientLength": side - 20, "tickCount": 3},
            },
        }  # fmt: skip
        drawn.append(_titled(title, [layer(cells, "rect", encoding)], side, side))
    body = {"hconcat": drawn, "spacing": 12, "resolve": {"scale": {"color": "independent"}}}
    corners = [0, len(at) // 2, len(at) - 1]
    chosen = [i * len(at) + j for i in corners for j in corners]
    table: dict[str, Any] = {"β₁": b1[chosen], "β₂": b2[chosen], **{t: v[chosen] for t, v in panels.items()}}
    said = "The darker, the fairer: a small gap, or a large p-value."
    return chart("landscape", "Unfairness over the coefficients", said, said, body, table)


def perturbed(x: Floats, after: Floats, a: Bools, y: Bools, beta: Floats) -> Chart:
    """28 people before and after, and β."""
    label = np.where(y, "favourable", "unfavourable")
    group = np.where(a, "A = 1", "A = 0")
    points = rows(x=x[:, 0], y=x[:, 1], x2=after[:, 0], y2=after[:, 1], label=label.tolist(), group=group.tolist())
    both = np.concatenate([x, after])
    low, high = both.min(0) - 0.7, both.max(0) + 0.7
    axes = {"x": quantitative("x", "x₁", [low[0], high[0]]), "y": quantitative("y", "x₂", [low[1], high[1]])}
    colour = coloured(["favourable", "unfavourable"], [theme.GROUPS[0], theme.LIMIT], field="label")
    shape = {"field": "group", "type": "nominal", "scale": {"domain": ["A = 1", "A = 0"], "range": ["circle", "cross"]},
             "legend": {"title": None, "symbolFillColor": theme.INK, "symbolStrokeColor": theme.INK}}  # fmt: skip
    moved = [row for row, y_ in zip(points, y, strict=True) if y_]
    ends = {"x": axes["x"], "y": axes["y"], "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    then = {"x": {**axes["x"], "field": "x2"}, "y": {**axes["y"], "field": "y2"}, "color": colour, "shape": shape}
    tip = low + 0.4 + 1.5 * beta / np.linalg.norm(beta)
    arrow = rows(x=float(low[0] + 0.4), y=float(low[1] + 0.4), x2=float(tip[0]), y2=float(tip[1]), what="β")
    body = {
        "width": theme.WIDTH, "height": 320,
        "layer": [
            layer(moved, "rule", ends, color=theme.GROUPS[2], strokeWidth=2),
            layer(moved, "point", {**axes, "color": colour, "shape": shape}, filled=True, size=90, opacity=0.3),
            layer(points, "point", then, filled=True, size=90, opacity=1),
            layer(arrow, "rule", ends, color=theme.INK, strokeWidth=2),
            layer(arrow, "text", {"x": then["x"], "y": then["y"], "text": {"field": "what"}}, dx=10, dy=-6),
        ],
    }  # fmt: skip
    said = "Pale: now. Full: in the nearest fair distribution. The black line is the direction of β."
    table = {
        "group": group.tolist(), "label": label.tolist(), "x₁": x[:, 0], "x₂": x[:, 1],
        "x₁, if fair": after[:, 0], "x₂, if fair": after[:, 1],
    }  # fmt: skip
    return chart("most-favourable", "Where 28 people would have to move", said, said, body, table)


def paths(penalties: Floats, exact: Floats, short: Floats, critical: Floats, accuracy: Floats) -> Chart:
    """The statistic, the critical value and the accuracy over the penalty."""
    lines = {"statistic": exact, "statistic with |γ| ≤ 5": short, "critical value at 5%": critical}
    colours = [theme.GROUPS[0], theme.GROUPS[1], theme.LIMIT]
    points = [row for name, v in lines.items() for row in rows(penalty=penalties, value=v, what=name)]
    x = quantitative("penalty", None, [0, 100])
    colour = coloured(list(lines), colours, field="what")
    colour["legend"] = {**colour["legend"], "symbolType": "stroke", "columns": 3}
    top = layer(points, "line", {"x": x, "y": quantitative("value", "statistic"), "color": colour})
    below = layer(rows(penalty=penalties, accuracy=accuracy), "line",
                  {"x": {**x, "title": "penalty λ"},
                   "y": quantitative("accuracy", "accuracy", [0.4, 0.7], format="~%", tickCount=4)},
                  color=theme.INK)  # fmt: skip
    body = {
        "vconcat": [
            {"width": theme.WIDTH, "height": 200, "layer": [top]},
            {"width": theme.WIDTH, "height": 90, "layer": [below]},
        ]
    }
    table = {"penalty": penalties, **lines, "accuracy": accuracy}
    said = "The test rejects where the statistic is above the critical value."
    return chart("penalty", "The test and the accuracy over the penalty, COMPAS", said, said, body, table)


def plots_of_l(
    k: Floats, curves: Mapping[str, Floats], told: Mapping[str, Any], minima: Mapping[str, Mapping[float, float]]
) -> Chart:
    """L(k) in four settings, with its minima."""
    panels = []
    for name, values in curves.items():
        beta, x, omega = told[name]
        some = slice(None, None, 20)
        span = [float(values.min()), float(values.max())]
        margin = 0.08 * (span[1] - span[0])
        axes = {
            "x": quantitative("k", "k", [0, 0.125], format="~g", tickCount=5),
            "y": quantitative("value", "L(k)", [span[0] - margin, span[1] + margin], tickCount=4),
        }
        dots = rows(k=list(minima[name]), value=list(minima[name].values()))
        title = f"{name}: β = {_vector(beta)}, x̂ = {_vector(x)}, ω = {omega:g}"
        line = layer(rows(k=k[some], value=values[some]), "line", axes, color=theme.GROUPS[0])
        panels.append(_titled(title, [line, layer(dots, "point", axes, filled=True, size=70, color=theme.LIMIT)]))
    body = {"vconcat": [{"hconcat": panels[:2]}, {"hconcat": panels[2:]}]}
    table = {"k": k[::200], **{name: values[::200] for name, values in curves.items()}}
    said = "Points are minima. In d both are equally good: where such a person goes is not unique."
    return chart("inner-problem", "The cost of moving one person, by k", said, said, body, table)


def _vector(values: Any) -> str:
    return f"({', '.join(f'{v:g}'.replace('-', '−') for v in values)})"
