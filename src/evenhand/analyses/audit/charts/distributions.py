"""How the scores of groups are spread: CDFs, densities, and who would have to move where."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.analyses.audit.charts.subject import (
    DENSITY_BINS,
    Line,
    Subject,
    at_most,
    group_colour,
    group_lines,
    marker,
    measured,
    score_axis,
    threshold,
)
from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import (
    Spec,
    beside,
    chart,
    chosen_rows,
    coloured,
    inline,
    quantitative,
    rows,
    sentence,
)
from evenhand.report.format import percent
from evenhand.tables.arrays import Floats

HEIGHT, SIDE = 260, 380


def cdf(s: Subject) -> Chart:
    """Which share of each group scores at most so much, with the area between two of them."""
    lo, hi = s.range
    lines = {}
    for group, (x, y) in s.lines("cdf", "score", "share", given="everyone").items():
        start = [lo] if s.few else [lo, x[0]]
        lines[group] = np.concatenate([start, x, [hi]]), np.concatenate([np.zeros(len(start)), y, [1.0]])
    a, b = s.pair
    title = f"Share scoring at most so much, by {shown_name(s.attribute.name)}"
    subtitle = _shaded(s, "abcc")
    middle = lo + (hi - lo) / 2 if s.threshold is None else s.threshold
    there = [percent(float(_at(lines[g], np.array([middle]), s.few)[0])) for g in (s.group, s.reference)]
    description = (
        f"The share of each group with at most a given score. At {middle:.12g} it is {there[0]} of {a} and {there[1]} "
        f"of {b}. {subtitle}"
    )
    share = quantitative("share", "share of the group", [0, 1], format="%")
    return chart(
        "cdf", title, subtitle, description.strip(), _curves(s, lines, "share", share, s.few),
        _table(s, lines, s.few), [s.thinned("cdf"), s.left_out], marker(s),
    )  # fmt: skip


def pdf(s: Subject) -> Chart:
    """How many of each group have which score, smoothed, with the area between two groups."""
    lines = s.lines("pdf", "score", "density")
    title = f"How scores are spread, by {shown_name(s.attribute.name)}"
    subtitle = _shaded(s, "abpc")
    top = {g: float(x[np.argmax(y)]) for g, (x, y) in lines.items()}
    where = [f"{s.label[g]} at {top[g]:.3g}" for g in (s.group, s.reference) if g in top]
    description = f"Smoothed densities of the score. The highest point of {' and of '.join(where)}. {subtitle}"
    density = quantitative("density", "density", format="~g")
    density["scale"] = {"zero": True, "nice": True}
    return chart(
        "pdf", title, subtitle, description.strip(), _curves(s, lines, "density", density, False),
        _table(s, lines, False), ["smoothed as ABPC is", _off(s), s.left_out], marker(s),
    )  # fmt: skip


def _off(s: Subject) -> str | None:
    error = s.curves.max_error.get("pdf", 0.0)
    return f"no curve is off by more than {at_most(error)}" if error > 0 else None


def bias_density(s: Subject) -> Chart:
    """Who would have to move where for both groups to be scored alike (Han, Jiang et al. 2023, Figure 4)."""
    found = s.columns("bias_density", group=s.group)
    mass, same = found["coupling"], found["score_low"] == found["reference_low"]
    higher = (found["score_low"] > found["reference_low"]) != s.table.meaning.risk
    a, b = s.pair
    kinds = [f"{a} is favoured", f"{b} is favoured", "alike"]
    kind = [kinds[2] if alike else kinds[0] if up else kinds[1] for alike, up in zip(same, higher, strict=True)]
    shares = [float(mass[[k == name for k in kind]].sum()) for name in kinds]
    title = f"Who is matched with whom: {a} and {b}"
    equal = f"one of {b} in the same of {min(s.scores, DENSITY_BINS)} score bins"
    subtitle = (
        f"Both groups in order of score: {percent(shares[2])} of {a} meet {equal}, {percent(shares[1])} "
        f"score less well than their match, {percent(shares[0])} better. {sentence(measured(s.gap('abcc')))}"
    )
    cells = rows(
        x=found["reference_low"], x2=found["reference_high"], y=found["score_low"], y2=found["score_high"],
        share=mass, kind=kind,
    )  # fmt: skip
    body = _heat_map(s, cells, coloured(kinds, [s.colour[s.group], theme.REFERENCE, theme.AXIS], field="kind"))
    order = np.argsort(-found["density"])[:20]
    columns = {
        "score of the group": _spans(found["score_low"][order], found["score_high"][order]),
        "score of the reference": _spans(found["reference_low"][order], found["reference_high"][order]),
        "share of people": mass[order],
        "part of ABCC": found["density"][order],
    }
    note = "darker cells hold more people; the table lists the cells that add most to ABCC"
    return chart("bias_density", title, subtitle.strip(), subtitle.strip(), body, columns, [note])


def _heat_map(s: Subject, cells: list[dict[str, Any]], colour: Spec) -> Spec:
    """Cells of two scores, darker where more people are, and the line of equal scores."""
    a, b = s.pair
    axes = {"x": quantitative("x", f"{s.score} of {b}", s.range), "y": quantitative("y", f"{s.score} of {a}", s.range)}
    scale = {"type": "sqrt", "range": [0.12, 1]}
    opacity: Spec = {"field": "share", "type": "quantitative", "scale": scale, "legend": None}
    alike = rows(x=np.array(s.range), y=np.array(s.range))
    mark = {"type": "line", "color": theme.AXIS, "strokeDash": [4, 4], "strokeWidth": 1}
    layers: list[Spec] = [
        {"data": inline(alike), "mark": mark},
        {
            "data": inline(cells),
            "mark": {"type": "rect", "tooltip": True},
            "encoding": {"x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": colour, "opacity": opacity},
        },
    ]
    return {"width": SIDE, "height": SIDE, "layer": layers, "encoding": axes}


def _spans(low: Floats, high: Floats) -> list[str]:
    return [f"{x:.4g} to {y:.4g}" for x, y in zip(low, high, strict=True)]


def _shaded(s: Subject, id: str) -> str:
    """What the shaded area is, in a sentence."""
    a, b = s.pair
    gap = s.gap(id)
    between = f"between {a} and {b}"
    return f"Shaded: {between}." if gap is None else f"Shaded: {between}, {measured(gap)}."


def _curves(s: Subject, lines: dict[str, Line], field: str, y: Spec, steps: bool) -> Spec:
    """Curves over the score, the area between two of them, and the threshold."""
    shape = {"interpolate": "step-after"} if steps else {}
    x_axis = score_axis(s)
    layers: list[Spec] = []
    if s.group in lines and s.reference in lines:
        grid, first, second = between(lines[s.group], lines[s.reference], steps)
        layers.append(
            {
                "data": inline(rows(score=grid, a=first, b=second)),
                "mark": {"type": "area", "color": theme.BAND, "opacity": 0.8, **shape},
                "encoding": {"x": x_axis, "y": {**y, "field": "a"}, "y2": {"field": "b"}},
            }
        )
    values = [row for g, (x, v) in lines.items() for row in rows(group=s.label[g], score=x, **{field: v})]
    layers += group_lines(s, values, {"x": x_axis, "y": y, "color": group_colour(s, lines)}, **shape)
    return {"width": theme.WIDTH, "height": HEIGHT, "layer": [*layers, *threshold(s, x_axis)]}


def between(one: Line, other: Line, steps: bool) -> tuple[Floats, Floats, Floats]:
    """Two curves over the scores of both.

    >>> x = np.array([0.0, 1.0])
    >>> [side.tolist() for side in between((x, x), (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.2, 1.0])), False)]
    [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.0, 0.2, 1.0]]
    """
    grid = np.union1d(one[0], other[0])
    return grid, _at(one, grid, steps), _at(other, grid, steps)


def _at(line: Line, grid: Floats, steps: bool) -> Floats:
    x, y = line
    if not steps:
        return np.asarray(np.interp(grid, x, y))
    return np.asarray(y[np.maximum(np.searchsorted(x, grid, side="right") - 1, 0)])


def _table(s: Subject, lines: dict[str, Line], steps: bool) -> dict[str, Any]:
    """The curves at some scores."""
    every = np.unique(np.concatenate([x for x, _ in lines.values()]))
    grid = every[chosen_rows(len(every))]
    return beside(s.score, grid, {s.label[g]: _at(line, grid, steps) for g, line in lines.items()})
