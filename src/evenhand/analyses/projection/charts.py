"""The statistic against its limit law, and where people would have to move: Taskesen et al. 2021, Figures 2 and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.projection.document import points
from evenhand.errors import shown_name
from evenhand.inference.chi2_mixture import tail
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, labels, layer, quantitative, rows
from evenhand.report.charts.registry import Kind
from evenhand.report.format import p_words

if TYPE_CHECKING:
    from evenhand.analyses.projection.results import ProjectionTest

BARS, HEIGHT, PANEL = 60, 220, 120
Document = dict[str, Any]


def subject(result: ProjectionTest) -> Document:
    """Charts are made from the document alone."""
    return result.to_dict()


def law(document: Document) -> Chart:
    """What the statistic would be by chance alone, and what it is."""
    theta = tuple(part["theta"] for part in document["labels"])
    slack = tuple(part["slack"] for part in document["labels"])
    critical, observed = document["critical_value"], document["statistic"]
    end = 1.1 * max(critical, min(observed, 6 * critical))
    edges = np.linspace(0, end, BARS + 1)
    beyond = np.array([tail(at, theta, slack) for at in edges])
    share = beyond[:-1] - beyond[1:]
    level = f"{100 * document['level']:g}%"
    at = min(observed, end)
    further = " (further right)" if observed > end else ""
    marks = {f"critical value at {level}: {critical:.4g}": critical, f"observed: {observed:.4g}{further}": at}
    x = quantitative("value", "statistic: squared distances of all moves, added up", [0, end], format=",~r")
    y = quantitative("share", "how often chance alone shows it", [0, float(share.max()) * 1.05], format="~%")
    colour = coloured(list(marks), [theme.INK, theme.LIMIT], field="what")
    colour["legend"] = {**colour["legend"], "symbolType": "stroke", "columns": 1}
    bars = layer(
        rows(value=edges[:-1], end=edges[1:], share=share), "rect",
        {"x": x, "x2": {"field": "end"}, "y": y, "y2": {"datum": 0}}, color=theme.AXIS, opacity=0.8,
    )  # fmt: skip
    lines = layer([{"what": w, "value": v} for w, v in marks.items()], "rule", {"x": x, "color": colour}, strokeWidth=2)
    said = f"Beyond the critical value the test rejects. Observed {observed:.4g}, {p_words(document['p_limit'])}."
    note = None
    if document["p_method"] == "permutation":
        note = f"people are few, so that the p-value reported is by permuting groups: {p_words(document['p_value'])}"
    columns = {"statistic from": edges[:-1], "to": edges[1:], "share": share}
    body = {"width": theme.WIDTH, "height": HEIGHT, "layer": [bars, lines]}
    return chart("law", "What chance alone shows: the limit law", said, said, body, columns, [note])


def moves(document: Document) -> Chart:
    """The scores of each group before, and in the nearest fair distribution."""
    names = labels((document["group"], document["reference"]))
    panels = [(part, g) for part in document["labels"] for g in part["groups"] if g["steps"]]
    most = max(_height(g, s, k) for _, g in panels for s in g["steps"] for k in ("before", "after"))
    what = "risk" if document["data"]["risk"] else "score"
    last = len(panels) - 1
    body = {
        "vconcat": [_panel(part, g, names[g["name"]], most, what, i == last) for i, (part, g) in enumerate(panels)],
        "spacing": 14,
        "resolve": {"scale": {"color": "independent"}, "legend": {"color": "independent"}},
    }
    told = " ".join(f"{_told(part, g, names[g['name']])}." for part, g in panels)
    columns: dict[str, list[Any]] = {k: [] for k in ("group", "label", "from", "to", "before", "after")}
    for part, g in panels:
        for s in g["steps"]:
            step = (names[g["name"]], part["label"], s["low"], s["high"], s["before"], s["after"])
            for column, value in zip(columns.values(), step, strict=True):
                column.append(value)
    said = "Grey: now. Line: the nearest distribution in which the criterion holds. Steps hold at least 5 people."
    return chart("moves", "Where everybody would have to move", said, told, body, columns)


def _height(group: Document, step: Document, when: str) -> float:
    """Share of the group in a step, per width."""
    total = sum(s[when] for s in group["steps"])
    return float(step[when] / total / (step["high"] - step["low"]))


def _told(part: Document, g: Document, name: str) -> str:
    label = "" if part["label"] == "any" else f", {part['label']} label"
    return (
        f"{name}{label}: mean {g['mean']:.3f}, if fair {g['mean_after']:.3f}; the largest move is "
        f"{points(g['largest_move'])} percentage points"
    )


def _panel(part: Document, g: Document, name: str, most: float, what: str, last: bool) -> Spec:
    x = quantitative("score", what if last else None, [0, 1], labels=last, ticks=last)
    y = quantitative("density", "density", [0, most * 1.05], tickCount=3, format="~g")
    steps = g["steps"]
    now = rows(
        score=[s["low"] for s in steps], end=[s["high"] for s in steps],
        density=[_height(g, s, "before") for s in steps],
    )  # fmt: skip
    ends, heights = [s["low"] for s in steps], [_height(g, s, "after") for s in steps]
    then = rows(score=[*ends, 1.0], density=[*heights, heights[-1]])
    where = {"x": x, "x2": {"field": "end"}, "y": y, "y2": {"datum": 0}}
    line = layer(then, "line", {"x": x, "y": y}, color=theme.GROUPS[0], strokeWidth=2, interpolate="step-after")
    title = {"text": _told(part, g, name), "fontSize": 12, "fontWeight": "normal", "offset": 6}
    return {
        "width": theme.WIDTH, "height": PANEL, "title": {**title, "limit": theme.WIDTH + 60},
        "layer": [layer(now, "rect", where, color=theme.BAND), line],
    }  # fmt: skip


def arrows(document: Document) -> Chart:
    """Where people with similar scores go, on the two features with the largest coefficients."""
    found = document["arrows"]
    first, second = (shown_name(f) for f in found["features"])
    names = labels((document["group"], document["reference"]))
    steps = found["steps"]
    drawn = rows(
        x=[s["from"][0] for s in steps], y=[s["from"][1] for s in steps], x2=[s["to"][0] for s in steps],
        y2=[s["to"][1] for s in steps], group=[names[s["group"]] for s in steps], people=[s["n"] for s in steps],
    )  # fmt: skip
    colour = coloured(list(names.values()), [theme.GROUPS[0], theme.GROUPS[1]])
    x, y = (quantitative(f, t, _around([s[e][i] for s in steps for e in ("from", "to")]), format="~g")
            for i, (f, t) in enumerate((("x", first), ("y", second))))  # fmt: skip
    body = {
        "width": theme.WIDTH, "height": HEIGHT + 60,
        "layer": [
            layer(drawn, "rule", {"x": x, "y": y, "x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": colour},
                  strokeWidth=2),
            layer(drawn, "point", {"x": {**x, "field": "x2"}, "y": {**y, "field": "y2"}, "color": colour},
                  filled=True, size=60, opacity=1, tooltip=True),
        ],
    }  # fmt: skip
    said = f"Means of at least 5 people with similar scores, by {first} and {second}; the point is where they would go."
    columns = {
        "group": [names[s["group"]] for s in steps], "label": [s["label"] for s in steps],
        "people": [s["n"] for s in steps], first: [s["from"][0] for s in steps], second: [s["from"][1] for s in steps],
        f"{first}, if fair": [s["to"][0] for s in steps], f"{second}, if fair": [s["to"][1] for s in steps],
    }  # fmt: skip
    return chart("arrows", "In which direction people would have to move", said, said, body, columns)


def _around(values: list[float]) -> list[float]:
    margin = 0.05 * (max(values) - min(values)) or 0.5
    return [min(values) - margin, max(values) + margin]


def _no_law(document: Document) -> str | None:
    return None if document["critical_value"] > 0 else "needs scores that differ"


def _no_moves(document: Document) -> str | None:
    there = any(g["steps"] for part in document["labels"] for g in part["groups"])
    return None if there else "needs at least 5 people of a group"


def _no_arrows(document: Document) -> str | None:
    if document["arrows"] is None:
        return "needs a logistic regression of two or more features (from_model)"
    return None if document["arrows"]["steps"] else "needs at least 5 people of a group"


CHARTS = {"law": Kind(law, _no_law), "moves": Kind(moves, _no_moves), "arrows": Kind(arrows, _no_arrows)}
