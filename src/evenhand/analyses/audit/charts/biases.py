"""The gap between two groups at every threshold, coloured by whom it favours (Becker et al. 2024, Figure 1)."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np

from evenhand.analyses.audit.charts.subject import Line, Subject
from evenhand.analyses.audit.gaps import ScoreGap
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import (
    Spec,
    bracketed,
    chart,
    chosen_rows,
    coloured,
    inline,
    layer,
    quantitative,
    rows,
    zero,
)
from evenhand.report.format import number, percent
from evenhand.tables.arrays import Floats

WHO = {
    "independence": "everyone", "equal_opportunity": "actual positives", "predictive_equality": "actual negatives",
}  # fmt: skip
HEIGHT = 120
LEAST_SPAN = 0.1


def c_bias(s: Subject) -> Chart:
    """The gap at every threshold over the score."""
    return _biases(s, "c_bias", "uniform")


def c_bias_ranks(s: Subject) -> Chart:
    """The gap at every threshold over the rank: every person counts alike."""
    return _biases(s, "c_bias_ranks", "standardized")


def _biases(s: Subject, name: str, weighting: str) -> Chart:
    ranked = weighting == "standardized"
    curves = {c: s.columns("c_bias", group=s.group, concept=c) for c in WHO}
    lines = {c: gaps(columns, s, ranked) for c, columns in curves.items() if len(columns["gap"])}
    a, b = s.pair
    over = "rank" if ranked else "score"
    title = f"Whom each threshold favours, by {over}"
    subtitle = (
        f"Share that receives the favourable decision at each threshold, {a} minus {b}. The coloured area is the bias."
    )
    told = {c: _told(s, c, weighting) for c in lines}
    body = _panels(s, lines, told, ranked)
    where, about = "rank" if ranked else "the threshold", "about " if s.thinned("c_bias") else ""
    where, widest = (f"around {where}", "widest gap between steps") if s.in_steps else (f"at {where}", "widest gap")
    description = " ".join(
        f"{told[c]}; the {widest} is {about}{number(gap, sign=True)} {where} {at:.{4 if ranked else 12}g}."
        for c in lines
        for at, gap in [_widest(curves[c], over)]
    )
    note = "ranks are among all people of both groups" if ranked else None
    return chart(
        name, title, subtitle, description, body, _table(curves, over), [note, s.thinned("c_bias")],
        None if ranked else s.marker(),
    )  # fmt: skip


def _widest(columns: Mapping[str, Any], over: str) -> tuple[float, float]:
    """Where the gap is largest, and how large it is there."""
    at = int(np.argmax(np.abs(columns["gap"])))
    return float(columns[over][at]), float(columns["gap"][at])


def gaps(columns: Mapping[str, Any], s: Subject, ranked: bool) -> Line:
    """The gap as a function of the threshold, from end to end of the axis.

    Between two neighbouring scores the gap is that of the upper one. Where every score is drawn that is a step, written
    as its two corners, because scores that fall with the rank would turn round what an interpolation means.
    """
    x, y = columns["rank" if ranked else "score"], columns["gap"]
    if s.few:
        x, y = np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]
    if ranked:
        return (x[::-1], y[::-1]) if s.table.meaning.risk else (x, y)
    lo, hi = s.range
    return np.concatenate([[lo, x[0]], x, [x[-1], hi]]), np.concatenate([[0.0, 0.0], y, [0.0, 0.0]])


def parts(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """A curve as its part above 0 and its part below, with the points where it crosses.

    >>> [side.tolist() for side in parts(np.array([0.0, 1.0]), np.array([-1.0, 1.0]))]
    [[0.0, 0.5, 1.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]
    """
    cross = np.flatnonzero(y[:-1] * y[1:] < 0)
    at = x[cross] + (x[cross + 1] - x[cross]) * y[cross] / (y[cross] - y[cross + 1])
    x, y = np.insert(x, cross + 1, at), np.insert(y, cross + 1, 0.0)
    return x, np.maximum(y, 0.0), np.minimum(y, 0.0)


def _told(s: Subject, concept: str, weighting: str) -> str:
    """The measure that a panel draws, and whom it favours."""
    text = f"{concept.replace('_', ' ').capitalize()} ({WHO[concept]})"
    gap = s.gap(f"{concept}_{weighting}")
    if gap is None:
        return text
    text += f": {number(gap.value)}{bracketed(gap.ci)}"
    if isinstance(gap, ScoreGap) and gap.positive_share is not None and gap.negative_share is not None:
        a, b = s.pair
        text += f"; {percent(gap.positive_share)} for {a}, {percent(gap.negative_share)} for {b}"
    return text


def _panels(s: Subject, lines: Mapping[str, Line], told: Mapping[str, str], ranked: bool) -> Spec:
    most = max(LEAST_SPAN, *(float(np.abs(y).max()) for _, y in lines.values())) * 1.05
    ends = [
        min(0.0, *(float(y.min()) for _, y in lines.values())),
        max(0.0, *(float(y.max()) for _, y in lines.values())),
    ]
    domain = [-most if ends[0] < -most / 20 else -most / 20, most if ends[1] > most / 20 else most / 20]
    last = list(lines)[-1]
    return {
        "vconcat": [_panel(s, line, told[c], domain, ranked, c == last) for c, line in lines.items()],
        "spacing": 14,
        "resolve": {"scale": {"color": "independent"}, "legend": {"color": "independent"}},
    }


def _panel(s: Subject, line: Line, title: str, domain: list[float], ranked: bool, last: bool) -> Spec:
    x, above, below = parts(*line)
    a, b = (f"in favour of {name}" for name in s.pair)
    x_axis = _rank_axis(last) if ranked else s.score_axis(shown=last)
    y_axis = quantitative("gap", "gap", domain, tickCount=5, format=".2~f")
    colours = [s.colour[s.group], theme.REFERENCE]

    def area(field: str, colour: str) -> Spec:
        mark = {"type": "area", "color": colour, "opacity": 0.75, "line": {"strokeWidth": 1, "color": colour}}
        return {"mark": mark, "encoding": {"x": x_axis, "y": {**y_axis, "field": field, "stack": None}}}

    return {
        "width": theme.WIDTH,
        "height": HEIGHT,
        "title": {
            "text": wrap(title, 100),
            "fontSize": 12,
            "fontWeight": "normal",
            "offset": 6,
            "limit": theme.WIDTH + 60,
        },
        "data": inline(rows(score=x, above=above, below=below)),
        "layer": [
            area("above", colours[0]),
            area("below", colours[1]),
            zero("y", y_axis),
            *([] if ranked else s.threshold_line(x_axis)),
            *([_legend([a, b], colours)] if last else []),
        ],
    }


def _legend(names: list[str], colours: list[str]) -> Spec:
    """What the colours of the areas mean: points that are not seen, so that the areas need no field of their own."""
    colour = coloured(names, colours, field="favours")
    colour["legend"]["orient"] = "bottom"
    return layer(rows(favours=names), "point", {"color": colour}, filled=True, size=0, opacity=0)


def _rank_axis(shown: bool) -> Spec:
    if not shown:
        return quantitative("score", None, [0, 1], labels=False, ticks=False)
    return quantitative("score", "rank, from the least to the most favourable score", [0, 1])


def _table(curves: Mapping[str, Mapping[str, Any]], over: str) -> dict[str, Any]:
    """The gaps of every concept at some thresholds."""
    columns = {c: f for c, f in curves.items() if len(f["gap"])}
    first = next(iter(columns.values()))
    keep = chosen_rows(len(first[over]))
    table = {over: first[over][keep]}
    for c, f in columns.items():
        order = np.argsort(f[over], kind="stable")
        table[c.replace("_", " ")] = np.interp(first[over][keep], f[over][order], f["gap"][order])
    return table
