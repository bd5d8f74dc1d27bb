"""What became of people: ROC and cross-ROC curves, calibration, and the rates of every group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.analyses.audit.charts.subject import CALIBRATION_BINS, Line, Subject, measured
from evenhand.errors import shown_name
from evenhand.measures.rates import RATES
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import (
    Spec,
    beside,
    chart,
    coloured,
    guide,
    inline,
    layer,
    ordered,
    quantitative,
    rows,
)
from evenhand.report.format import number, percent, sentence

SIDE, HEIGHT = 400, 280
DRAWN = ("selection_rate", "tpr", "fpr", "ppv")


def roc(s: Subject) -> Chart:
    """How well the score ranks people of each group, with the area between two curves."""
    lines = s.lines("roc", "fpr", "tpr")
    a, b = s.pair
    told = _areas(s, "roc", "AUROC")
    title = f"ROC curves by {shown_name(s.attribute.name)}"
    colour = s.group_colour(lines)
    named = {s.label[g]: line for g, line in lines.items()}
    description = f"True against false positive rates at every threshold. {told}"
    return chart("roc", title, told, description, _square(s, named, colour, (a, b)), _rates(named),
                 [s.off("roc"), s.left_out])  # fmt: skip


def cross_roc(s: Subject) -> Chart:
    """How well the score ranks actual positives of one group above actual negatives of the other."""
    a, b = s.pair
    names = {
        f"positives of {a}, negatives of {b}": "group over reference",
        f"positives of {b}, negatives of {a}": "reference over group",
    }
    curves = {name: s.columns("cross_roc", group=s.group, curve=curve) for name, curve in names.items()}
    lines = {name: (c["fpr"], c["tpr"]) for name, c in curves.items()}
    told = _areas(s, "xroc", "cross-AUROC")
    colour = coloured(list(lines), [s.colour[s.group], theme.REFERENCE])
    first, second = lines
    description = f"True positive rates of one group against false positive rates of the other. {told}"
    return chart("cross_roc", f"ROC curves across groups: {a} and {b}", told, description,
                 _square(s, lines, colour, (first, second)), _rates(lines), [s.off("cross_roc")])  # fmt: skip


def _areas(s: Subject, id: str, part: str) -> str:
    """The bias, and the areas under both curves."""
    gap = s.gap(id)
    if gap is None:
        return f"Shaded: between {s.pair[0]} and {s.pair[1]}."
    text = f"Shaded: {measured(gap)}."
    area = next((p for p in gap.parts if p.name == part), None)
    if area is None:
        return text
    text += f" {sentence(part)[:-1]} {number(area.group)} for {s.pair[0]}, {number(area.reference)} for {s.pair[1]}"
    sources = [number(p.difference, sign=True) for p in gap.parts if p.name.startswith(f"{part}, from ")]
    return f"{text}; {sources[0]} from actual positives, {sources[1]} from actual negatives."


def _square(s: Subject, lines: Mapping[str, Line], colour: Spec, pair: tuple[str, str]) -> Spec:
    """ROC curves; the area between two of them is the inside of going along one and back along the other."""
    axes = {
        "x": quantitative("fpr", "false positive rate", [0, 1]),
        "y": quantitative("tpr", "true positive rate", [0, 1]),
    }
    layers: list[Spec] = []
    if all(name in lines for name in pair):
        (x, y), (back_x, back_y) = (lines[name] for name in pair)
        path = rows(fpr=np.concatenate([x, back_x[::-1]]), tpr=np.concatenate([y, back_y[::-1]]))
        steps = [{**row, "step": i} for i, row in enumerate(path)]
        order = {**axes, "order": {"field": "step", "type": "quantitative"}}
        layers.append(layer(steps, "line", order, filled=True, color=theme.BAND, opacity=0.9, strokeWidth=0))
    layers.append(guide([{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}], axes))
    values = [row for name, (x, y) in lines.items() for row in rows(group=name, fpr=x, tpr=y)]
    encoding = {**axes, "color": colour}
    layers += s.group_lines(values, encoding) if s.pair == pair else [layer(values, "line", encoding)]
    return {"width": SIDE, "height": SIDE, "layer": layers}


def _rates(lines: Mapping[str, Line]) -> dict[str, Any]:
    """True positive rates at some false positive rates."""
    grid = np.linspace(0, 1, 11)
    return beside("false positive rate", grid, {name: np.interp(grid, x, y) for name, (x, y) in lines.items()})


def calibration(s: Subject) -> Chart:
    """What a score means in each group: the favourable rate by score, with intervals."""
    shown = [s.reference, s.group] if s.given else list(s.drawn)
    curves = {g: c for g in shown if len((c := s.columns("calibration", group=g))["rate"])}
    fields = {"score": "mean_score", "rate": "rate", "low": "ci_low", "high": "ci_high", "people": "people"}
    values = [
        row for g, c in curves.items() for row in rows(group=s.label[g], **{k: c[name] for k, name in fields.items()})
    ]
    main = [row for row in values if row["group"] in s.pair] if s.crowded else values
    layers = _calibrated(s, values, s.group_colour(curves))
    told = sentence(measured(s.gap("calibration_uniform")))
    subtitle = f"Share with the favourable label among people of similar score, with 95% intervals. {told}".strip()
    ends = [
        f"{s.label[g]} from {percent(c['rate'][0])} at {c['mean_score'][0]:.3g} to {percent(c['rate'][-1])} at "
        f"{c['mean_score'][-1]:.3g}"
        for g, c in list(curves.items())[:4]
    ]
    hidden = f"intervals of {s.pair[0]} and {s.pair[1]} only" if len(main) < len(values) else None
    bins = "every score" if s.scores <= CALIBRATION_BINS else f"{CALIBRATION_BINS} bins of equal width"
    return chart(
        "calibration", f"What a score means, by {shown_name(s.attribute.name)}", subtitle,
        f"The favourable rate by score: {', '.join(ends)}. {told}".strip(),
        {"width": theme.WIDTH, "height": HEIGHT, "data": inline(main), "layer": layers},
        {k: [row[k] for row in main] for k in main[0]},
        [f"{bins}; larger points stand for more people", hidden, s.left_out], s.marker(),
    )  # fmt: skip


def _calibrated(s: Subject, values: list[dict[str, Any]], colour: Spec) -> list[Spec]:
    """Lines, intervals, and points as large as there are people."""
    x, y = s.score_axis(), quantitative("rate", "favourable label", [0, 1], format="%")
    scale = {"type": "sqrt", "range": [12, 160]}
    size: Spec = {"field": "people", "type": "quantitative", "legend": None, "scale": scale}
    return [
        *_ideal(s, x, y),
        *s.group_lines(values, {"x": x, "y": y, "color": colour}, strokeWidth=1.5),
        {
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.7},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "circle", "opacity": 1, "tooltip": True},
            "encoding": {"x": x, "y": y, "color": colour, "size": size},
        },
        *s.threshold_line(x),
    ]


def _ideal(s: Subject, x_axis: Spec, y_axis: Spec) -> list[Spec]:
    """Where a score that is a probability should lie."""
    if s.range != (0.0, 1.0):
        return []
    ends = [{"score": x, "rate": 1 - x if s.table.meaning.risk else x} for x in (0, 1)]
    return [guide(ends, {"x": x_axis, "y": y_axis})]


def groups(s: Subject) -> Chart:
    """Every group's rates side by side."""
    everyone = s.attribute.groups
    by_name = {g.name: g for g in everyone}
    shown = [by_name[name] for name in s.listed]
    small = set(s.attribute.too_small)
    rates = [r for r in DRAWN if any(r in g.rates and not g.rates[r].undefined for g in shown)]
    kinds = ["reference", "group", "too small to conclude"]
    kind = [kinds[0 if g.name == s.reference else 2 if g.name in small else 1] for g in shown]
    names = [f"{s.label[g.name]} ({g.n:,})" for g in shown]
    panels = [_rate_panel(shown, names, kind, kinds, rate, rate == rates[0], len(rates)) for rate in rates]
    columns: dict[str, list[Any]] = {"group": [g.name for g in shown], "people": [g.n for g in shown]}
    for rate in rates:
        columns[RATES[rate].short] = [g.rates[rate].value for g in shown]
    first = shown[0].rates[rates[0]]
    spread = [(g.rates[rates[0]].value, s.label[g.name]) for g in shown if not g.rates[rates[0]].undefined]
    title = f"Rates of every group, by {shown_name(s.attribute.name)}"
    level = f"{100 * s.audit.options.confidence:g}%"
    subtitle = f"With {level} intervals; the dashed line is the reference. Number of people in brackets."
    description = (
        f"Selection rates run from {percent(min(spread)[0])} ({min(spread)[1]}) to {percent(max(spread)[0])} "
        f"({max(spread)[1]}); the reference {s.label[s.reference]} has {percent(first.value)}."
    )
    fewer = f"{len(shown)} of {len(everyone):,} groups: the reference and the furthest from it"
    note = fewer if len(shown) < len(everyone) else None
    body: Spec = {
        "hconcat": panels, "spacing": 18,
        "resolve": {"scale": {"color": "shared", "y": "shared"}, "legend": {"color": "shared"}},
    }  # fmt: skip
    return chart("groups", title, subtitle, description, body, columns, [note])


def _rate_panel(
    groups: list[Any], names: list[str], kind: list[str], kinds: list[str], rate: str, first: bool, panels: int
) -> Spec:
    """One rate of every group."""
    values = [
        rows(group=name, kind=k, rate=e.value, low=e.ci[0] if e.ci else e.value, high=e.ci[1] if e.ci else e.value)[0]
        for name, k, g in zip(names, kind, groups, strict=True)
        if not (e := g.rates[rate]).undefined
    ]
    y_axis = ordered("group", names, title=None)
    y_axis["axis"] = {"labelLimit": 210, "ticks": False, "domain": False} if first else None
    x_axis = quantitative("rate", RATES[rate].short, [0, 1], values=[0, 0.5, 1], format="~g")
    shown = [k for k in kinds if k in kind]
    palette = dict(zip(kinds, (theme.REFERENCE, theme.GROUPS[0], theme.AXIS), strict=True))
    colour = coloured(shown, [palette[k] for k in shown], first, "kind")
    base = next((row["rate"] for row in values if row["kind"] == kinds[0]), None)
    layers: list[Spec] = []
    if base is not None:
        layers.append(layer([{"rate": base}], "rule", {"x": x_axis}, strokeDash=[4, 3], color=theme.AXIS))
    layers += [
        {
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"x": {**x_axis, "field": "low"}, "x2": {"field": "high"}, "y": y_axis, "color": colour},
        },
        {
            "mark": {"type": "circle", "size": 60, "opacity": 1, "tooltip": True},
            "encoding": {"x": x_axis, "y": y_axis, "color": colour},
        },
    ]
    label = min(210, 7 * max(map(len, names)) + 10)
    width = max(70, min(280, (theme.WIDTH + 40 - label) // panels - 18))
    return {"width": width, "height": {"step": 22}, "data": inline(values), "layer": layers}
