"""How the scores of groups are spread: CDFs, densities, and who would have to move where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.analyses.audit.charts.subject import DENSITY_BINS, Line, Subject, measured
from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import (
    Spec,
    beside,
    chart,
    chosen_rows,
    coloured,
    guide,
    layer,
    quantitative,
    rows,
)
from evenhand.report.format import number, percent, sentence
from evenhand.tables.arrays import Floats

HEIGHT, SIDE, MARGIN = 260, 380, 80


def cdf(s: Subject) -> Chart:
    """Which share of each group scores at most so much, with the area between two of them."""
    lo, hi = s.range
    lines = cdf_lines(s)
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
        _table(s, lines, s.few), [s.thinned("cdf"), s.left_out], s.marker(),
    )  # fmt: skip


def cdf_lines(s: Subject) -> dict[str, Line]:
    """The CDF of every group drawn, from end to end of the score range."""
    lo, hi = s.range
    lines = {}
    for group, (x, y) in s.lines("cdf", "score", "share", given="everyone").items():
        start = [lo] if s.few else [lo, x[0]]
        lines[group] = np.concatenate([start, x, [hi]]), np.concatenate([np.zeros(len(start)), y, [1.0]])
    return lines


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
        _table(s, lines, False), ["smoothed as ABPC is", s.off("pdf"), s.left_out], s.marker(),
    )  # fmt: skip


OUTCOMES = {
    "favourable": ("actual positives", "equal_opportunity_uniform"),
    "unfavourable": ("actual negatives", "predictive_equality_uniform"),
}
"""What people with each label are called, and the measure that compares them."""


def pdf_by_outcome(s: Subject) -> Chart:
    """How many actual positives and negatives of each group have which score (Becker et al. 2024, Figures C1 to C3)."""
    lines = {given: s.lines("pdf_by_outcome", "score", "density", given=given) for given in OUTCOMES}
    lines = {given: own for given, own in lines.items() if own}
    told = {given: _told(s, given) for given in lines}
    panels = []
    for given, own in lines.items():
        most = 1.05 * max(float(y.max()) for _, y in own.values())
        density = quantitative("density", "density", [0, most], format=",~r" if 1e-3 < most < 1e6 else "~g")
        panel = _curves(s, own, "density", density, False)
        heading: Spec = {"text": told[given], "fontSize": 12, "fontWeight": "normal", "limit": theme.WIDTH + 60}
        panels.append({**panel, "height": HEIGHT // 2, "title": heading})
    title = f"How scores are spread by outcome, by {shown_name(s.attribute.name)}"
    description = f"Smoothed densities of the score, and where they are highest. {' '.join(_top(s, told, lines))}"
    columns = {
        f"{column}, {given}" if column != s.score else column: values
        for given, own in lines.items()
        for column, values in _table(s, _everywhere(own, lines), False).items()
    }
    notes = ["smoothed as ABPC is, each outcome of a group on its own", s.off("pdf_by_outcome"), s.left_out]
    body: Spec = {"vconcat": panels, "spacing": 14}
    return chart("pdf_by_outcome", title, "Shaded: between the two groups compared.", description, body, columns, notes,
                 s.marker())  # fmt: skip


def _told(s: Subject, given: str) -> str:
    """Who a panel is about, and how far apart the two groups are."""
    who, id_ = OUTCOMES[given]
    measure = measured(s.gap(id_))
    return sentence(who)[:-1] + (f", {measure}" if measure else "")


def _top(s: Subject, told: dict[str, str], lines: dict[str, dict[str, Line]]) -> Iterator[str]:
    """Of each outcome, at which score the density of both groups is highest."""
    for given, own in lines.items():
        top = {g: float(own[g][0][np.argmax(own[g][1])]) for g in (s.group, s.reference) if g in own}
        yield f"{told[given]}: {', '.join(f'{s.label[g]} at {x:.3g}' for g, x in top.items())}."


def _everywhere(own: dict[str, Line], lines: dict[str, dict[str, Line]]) -> dict[str, Line]:
    """The curves of one outcome at the points of all."""
    grid = np.unique(np.concatenate([x for every in lines.values() for x, _ in every.values()]))
    return {group: (grid, _at(line, grid, False)) for group, line in own.items()}


def bias_density(s: Subject) -> Chart:
    """Who would have to move how far for both groups to be scored alike (Han, Jiang et al. 2023, Figure 4)."""
    matched = s.columns("bias_density", group=s.group)
    mass, rho, same = matched["coupling"], matched["density"], matched["score_low"] == matched["reference_low"]
    higher = (matched["score_low"] > matched["reference_low"]) != s.table.meaning.risk
    a, b = s.pair
    kinds = [f"{a} is favoured", f"{b} is favoured", "alike"]
    kind = [kinds[2] if alike else kinds[0] if up else kinds[1] for alike, up in zip(same, higher, strict=True)]
    shares = [float(mass[[k == name for k in kind]].sum()) for name in kinds]
    title = f"Where ABCC comes from: {a} and {b}"
    equal = f"one of {b} in the same of {min(s.scores, DENSITY_BINS)} score bins"
    subtitle = (
        f"Both groups in order of score: {percent(shares[2])} of {a} meet {equal}, {percent(shares[1])} "
        f"score less well than their match, {percent(shares[0])} better. Colour: ρ, how far times how many; its sum "
        f"is ABCC, Σρ = {number(float(rho.sum()))}. {sentence(measured(s.gap('abcc')))}"
    )
    cells = rows(
        x=matched["reference_low"], x2=matched["reference_high"], y=matched["score_low"], y2=matched["score_high"],
        share=mass, density=rho, kind=kind,
    )  # fmt: skip
    colours = coloured(kinds[:2], [s.colour[s.group], theme.REFERENCE], field="kind")
    own, other = _marginal(matched, "score"), _marginal(matched, "reference")
    body = _with_marginals(s, _heat_map(s, cells, colours), own, other)
    order = np.argsort(-rho)[:20]
    columns = {
        "score of the group": _spans(matched["score_low"][order], matched["score_high"][order]),
        "score of the reference": _spans(matched["reference_low"][order], matched["reference_high"][order]),
        "share of people": mass[order],
        "part of ABCC": rho[order],
    }
    note = "grey cells hold people who need not move out of their bin, or hardly; the table lists the largest ρ"
    return chart("bias_density", title, subtitle.strip(), subtitle.strip(), body, columns, [note])


def _heat_map(s: Subject, cells: list[dict[str, Any]], colour: Spec) -> Spec:
    """Cells of two scores, darker where more of ABCC is, grey where there are people, and the line of equal scores."""
    a, b = s.pair
    axes = {"x": quantitative("x", f"{s.score} of {b}", s.range), "y": quantitative("y", f"{s.score} of {a}", s.range)}
    most = max(row["density"] for row in cells) or 1.0
    opacity: Spec = {
        "field": "density", "type": "quantitative", "scale": {"domain": [0, most], "range": [0, 1]},
        "legend": {"title": "ρ", "format": ".2~g", "values": [most / 4, most / 2, most], "symbolType": "square",
                   "symbolFillColor": theme.REFERENCE, "orient": "bottom"},
    }  # fmt: skip
    alike = rows(x=np.array(s.range), y=np.array(s.range))
    where = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    some = [row for row in cells if row["density"] > 0]
    moved = [row for row in some if row["kind"] in colour["scale"]["domain"]]
    layers = [
        layer(cells, "rect", where, color=theme.GRID),
        guide(alike, {}),
        layer(moved, "rect", {**where, "color": colour, "opacity": opacity}, tooltip=True),
        layer([row for row in some if row not in moved], "rect", {**where, "opacity": opacity}, color=theme.REFERENCE),
    ]
    return {"width": SIDE, "height": SIDE, "layer": layers, "encoding": axes}


def _marginal(matched: dict[str, Any], whose: str) -> dict[str, Floats]:
    """The share of a group in each score bin: what its row or column of the coupling adds up to."""
    low, place = np.unique(matched[f"{whose}_low"], return_inverse=True)
    high = low.copy()
    high[place] = matched[f"{whose}_high"]
    return {"low": low, "high": high, "share": np.bincount(place, matched["coupling"])}


def _with_marginals(s: Subject, body: Spec, own: dict[str, Floats], other: dict[str, Floats]) -> Spec:
    """The heat map with the scores of the reference above and those of the group at its side."""
    most = float(max(own["share"].max(), other["share"].max()))
    share = quantitative("share", None, [0, most * 1.05], format="%", tickCount=2)
    low = quantitative("low", None, s.range, labels=False, ticks=False)
    above = layer(
        rows(**other), "rect", {"x": low, "x2": {"field": "high"}, "y": share, "y2": {"datum": 0}},
        color=theme.REFERENCE, opacity=0.8,
    )  # fmt: skip
    beside_it = layer(
        rows(**own), "rect", {"y": low, "y2": {"field": "high"}, "x": share, "x2": {"datum": 0}},
        color=s.colour[s.group], opacity=0.8,
    )  # fmt: skip
    a, b = s.pair
    top = {"width": SIDE, "height": MARGIN, "layer": [above], **_small(f"scores of {b}")}
    side = {"width": MARGIN, "height": SIDE, "layer": [beside_it], **_small(f"scores of {a}")}
    return {"vconcat": [top, {"hconcat": [body, side], "spacing": 8}], "spacing": 8}


def _small(title: str) -> Spec:
    return {"title": {"text": title, "fontSize": 12, "fontWeight": "normal", "offset": 4}}


def _spans(low: Floats, high: Floats) -> list[str]:
    return [f"{x:.4g} to {y:.4g}" for x, y in zip(low, high, strict=True)]


def _shaded(s: Subject, id: str) -> str:
    """What the shaded area is, in a sentence."""
    a, b = s.pair
    gap = s.gap(id)
    between = f"between {a} and {b}"
    return f"Shaded: {between}." if gap is None else f"Shaded: {between}, {measured(gap)}."


def _curves(s: Subject, lines: dict[str, Line], field: str, y: Spec, steps: bool) -> Spec:
    """Curves over the score as one chart."""
    return {"width": theme.WIDTH, "height": HEIGHT, "layer": curve_layers(s, lines, field, y, steps, s.score_axis())}


def curve_layers(s: Subject, lines: dict[str, Line], field: str, y: Spec, steps: bool, x_axis: Spec) -> list[Spec]:
    """Curves over the score, the area between two of them, and the threshold."""
    shape = {"interpolate": "step-after"} if steps else {}
    layers: list[Spec] = []
    if s.group in lines and s.reference in lines:
        grid, first, second = between(lines[s.group], lines[s.reference], steps)
        area = {"x": x_axis, "y": {**y, "field": "a"}, "y2": {"field": "b"}}
        layers.append(layer(rows(score=grid, a=first, b=second), "area", area, color=theme.BAND, opacity=0.8, **shape))
    values = [row for g, (x, v) in lines.items() for row in rows(group=s.label[g], score=x, **{field: v})]
    layers += s.group_lines(values, {"x": x_axis, "y": y, "color": s.group_colour(lines)}, **shape)
    return [*layers, *s.threshold_line(x_axis)]


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
