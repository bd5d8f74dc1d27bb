"""Many classes: rates of every class and group, of one model or two, as tables of colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.classes import confusion_chart
from evenhand.analyses.classes.rate_grid import IMPUTED
from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, beside, chart, coloured, inline, labels, ordered, rows
from evenhand.report.charts.registry import Kind
from evenhand.report.format import number
from evenhand.tables.arrays import Floats, Ints

if TYPE_CHECKING:
    from evenhand.analyses.classes.audit import ClassAudit
    from evenhand.analyses.classes.result import Aggregate

MOST_CLASSES, MOST_GROUPS = 40, 12
WIDE, LEAST_WIDE = 420, 34
"""How wide all cells of a row are together, and a cell that has room for its number."""
ABOVE, BELOW = "above", "below"
LETTER = 7
"""As wide a letter may be."""
DARKEST = 0.6
"""Of the colour of a cell, so that its number can be read."""


@dataclass(frozen=True)
class Unit:
    """What the cells of a chart show, and from where on they are coloured."""

    of: Callable[[Aggregate], Floats]
    title: str
    legend: str
    read: str
    """How to read it."""
    told: str
    """What is said of the cell that is furthest from `even`."""
    even: float = 0.0
    signed: bool = True

    def away(self, values: Floats) -> Floats:
        """How far each value is from even: of ratios, half as much is as far as twice as much."""
        if self.even == 1:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(values))
        return np.asarray(values - self.even)


def _compared(a: Aggregate, values: Floats) -> Floats:
    """A class that only one group has a rate of is not compared: its gap to itself would pass for parity."""
    alone = (~np.isnan(a.matrix)).sum(1, keepdims=True) < 2
    return np.where(alone, np.nan, values)


def _gaps(a: Aggregate) -> Floats:
    return _compared(a, a.matrix - a.overall[:, None])


def _ratios(a: Aggregate) -> Floats:
    base = a.overall[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return _compared(a, np.where(base > 0, a.matrix / base, np.nan))


SCORES = Unit(
    lambda a: a.matrix, "{rate} of each class by {groups}", "", "Darker cells are higher rates.", "The lowest is",
    signed=False,
)  # fmt: skip
GAPS = Unit(
    _gaps, "{rate} of each class by {groups}, minus that of the class",
    "than the class", "Darker cells are further from the rate of everybody in the class.", "The widest gap is",
)  # fmt: skip
RATIOS = Unit(
    _ratios, "{rate} of each class by {groups}, divided by that of the class", "than the class",
    "Darker cells are further from 1: half as often is as dark as twice as often.", "Furthest from 1 is", even=1.0,
)  # fmt: skip


def subject(result: Aggregate | ClassAudit, attribute: Any = None, measure: Any = None) -> Aggregate:
    """An aggregate, or that of an audit: by default of the first attribute and the rate that is aggregated."""
    from evenhand.analyses.classes.audit import ClassAudit

    return result.aggregate(measure, attribute) if isinstance(result, ClassAudit) else result


def _models(a: Aggregate) -> dict[str, Aggregate]:
    """The model, or both, by their names."""
    return {"": a} if a.against is None else {a.against.own: a, a.against.name: a.against.aggregate}


def heatmap(a: Aggregate, name: str, unit: Unit) -> Chart:
    """A number of every class and group, of each model a table."""
    return _drawn(a, name, unit, {m: (unit.of(one), one) for m, one in _models(a).items()})


def difference(a: Aggregate) -> Chart:
    """The rates of one model minus those of the other."""
    assert a.against is not None
    unit = Unit(
        lambda _: np.zeros(0), f"{{rate}} of each class by {{groups}}: {a.against.own} minus {a.against.name}",
        f"with {a.against.own}", "Darker cells differ more between the two models.", "The largest difference is",
    )  # fmt: skip
    return _drawn(a, "difference", unit, {"": (a.matrix - a.against.aggregate.matrix, a)})


def _drawn(a: Aggregate, name: str, unit: Unit, models: dict[str, tuple[Floats, Aggregate]]) -> Chart:
    """Of each model what is drawn, and the aggregate with the people that it rests on."""
    keep, columns = _chosen(a)
    classes = labels(a.classes[c] for c in keep.tolist())
    groups = labels((a.groups[g] for g in columns.tolist()), 20)
    chosen = np.ix_(keep, columns)
    shown = {m: values[chosen] for m, (values, _) in models.items()}
    most = max((float(np.nanmax(np.abs(_finite(unit.away(v))), initial=0.0)) for v in shown.values()), default=0.0)
    most = most if unit.signed else 1.0
    cells = {
        m: _cells(unit, values, own.people[chosen], list(classes.values()), list(groups.values()))
        for (m, values), (_, own) in zip(shown.items(), models.values(), strict=True)
    }
    told = _told(unit, cells)
    wide = min(90, WIDE // (len(groups) * len(cells)))
    panels = [
        _panel(own, list(classes.values()), list(groups.values()), most, wide, unit, m, place == 0)
        for place, (m, own) in enumerate(cells.items())
    ]
    body = panels[0] if len(panels) == 1 else {"hconcat": panels, "spacing": 14}
    by_group = {
        f"{groups[a.groups[g]]}{f', {m}' if m else ''}": values[:, place]
        for m, values in shown.items()
        for place, g in enumerate(columns.tolist())
    }
    fewer = [
        f"the {len(kept)} of {len(there):,} {what} with the widest gaps" if len(kept) < len(there) else None
        for kept, there, what in ((keep, a.classes, "classes"), (columns, a.groups, "groups"))
    ]
    empty = sum(x["value"] is None for own in cells.values() for x in own)
    notes = [f"cells marked – have no people, or nobody to compare with: {empty}"] if empty else []
    if any(x["text"].endswith(IMPUTED) for own in cells.values() for x in own):
        notes.append(f"{IMPUTED} nobody to compute the rate of: counts as {a.choices.empty:g}, as asked")
    rate = a.choices.rate.id.upper() if len(a.choices.rate.id) <= 3 else a.choices.rate.id.replace("_", " ")
    title = unit.title.format(rate=rate, groups=shown_name(a.grouping.name))
    return chart(
        name, title, f"{unit.read} {told}", told, body, beside("class", list(classes), by_group), [*fewer, *notes]
    )


def _chosen(a: Aggregate) -> tuple[Ints, Ints]:
    """The classes and groups that there is room for: those with the widest gaps."""
    gaps = np.max([np.nan_to_num(np.abs(GAPS.of(one)), nan=-1.0) for one in _models(a).values()], axis=0)
    classes = np.argsort(-gaps.max(1), kind="stable")[:MOST_CLASSES]
    groups = np.argsort(-gaps.max(0), kind="stable")[:MOST_GROUPS]
    return np.sort(classes), np.sort(groups)


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


def _told(unit: Unit, cells: dict[str, list[dict[str, Any]]]) -> str:
    every = [(m, x) for m, own in cells.items() for x in own if x["value"] is not None and x["people"] > 0]
    if not every:
        return "No rate is defined."
    m, worst = max(every, key=lambda x: (x[1]["size"] if unit.signed else -x[1]["value"], x[1]["people"]))
    signed = unit.signed and unit.even == 0
    n = worst["people"]
    where = f"class {worst['class']} in group {worst['group']}{f' with {m}' if m else ''}"
    of = "1 person" if n == 1 else f"{n:,.6g} people"
    return f"{unit.told} {number(worst['value'], sign=signed)}: {where}, of {of}."


def _cells(unit: Unit, values: Floats, people: Floats, classes: list[str], groups: list[str]) -> list[dict[str, Any]]:
    away = unit.away(values)
    return [
        {"class": name, "group": group, **_cell(unit, *(float(v[c, g]) for v in (values, away, people)))}
        for c, name in enumerate(classes)
        for g, group in enumerate(groups)
    ]


def _cell(unit: Unit, value: float, away: float, people: float) -> dict[str, Any]:
    of = {"people": round(people, 2)}
    if not np.isfinite(value):
        return {"value": None, "size": 0, "side": ABOVE, "text": "–", **of}
    away = away if np.isfinite(away) else -10.0  # nobody: ten times as dark as one in e
    return {
        **rows(value=value, size=abs(away))[0],
        "side": BELOW if away < 0 else ABOVE,
        "text": number(value, sign=unit.signed and unit.even == 0 and abs(value) >= 0.005, digits=2)
        + (IMPUTED if people <= 0 else ""),
        **of,
    }


def _panel(
    cells: list[dict[str, Any]], classes: list[str], groups: list[str], most: float, wide: int, unit: Unit, model: str,
    first: bool,
) -> Spec:  # fmt: skip
    x = ordered("group", groups, title=None)
    x["axis"] = {
        "orient": "top",
        "labelAngle": 0 if max(map(len, groups)) * LETTER <= wide else -40 if wide >= 3 * LETTER else -90,
        "labelLimit": 120,
        "domain": False,
        "ticks": False,
    }
    y = ordered("class", classes, title=None)
    y["axis"] = {"labelLimit": 200, "domain": False, "ticks": False} if first else None
    colour = coloured([ABOVE, BELOW], theme.GROUPS[:2], field="side")
    colour["legend"] = {**colour["legend"], "title": unit.legend, "orient": "bottom"} if unit.signed and first else None
    scale = {"domain": [0, most or 1], "range": [0, DARKEST], "clamp": True}
    opacity: Spec = {"field": "size", "type": "quantitative", "legend": None, "scale": scale}
    layers: list[Spec] = [
        {"mark": {"type": "rect", "tooltip": True, "stroke": theme.GRID},
         "encoding": {"x": x, "y": y, "color": colour, "opacity": opacity}},
    ]  # fmt: skip
    said = cells if wide >= LEAST_WIDE else [x for x in cells if x["value"] is None]  # which is not white for 0
    if said:
        text = {"mark": {"type": "text", "fontSize": 11}, "encoding": {"x": x, "y": y, "text": {"field": "text"}}}
        layers.append(text if said is cells else {"data": inline(said), **text})
    title: Spec = {"title": {"text": shown_name(model, 40), "fontSize": 12, "fontWeight": "normal"}} if model else {}
    return {**title, "width": {"step": wide}, "height": {"step": 18}, "data": inline(cells), "layer": layers}


def _one_model(a: Aggregate) -> str | None:
    return "needs a second model: aggregate with against=" if a.against is None else None


CHARTS = {
    "matrix": Kind(partial(heatmap, name="matrix", unit=GAPS)),
    "scores": Kind(partial(heatmap, name="scores", unit=SCORES)),
    "ratios": Kind(partial(heatmap, name="ratios", unit=RATIOS)),
    "difference": Kind(difference, _one_model),
    "confusion": Kind(confusion_chart.confusion),
    "confusion_against": Kind(confusion_chart.confusion_against, _one_model),
}
