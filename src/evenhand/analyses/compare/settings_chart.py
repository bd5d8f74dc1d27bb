"""Performance and fairness against a setting, such as the strength of a penalty (Han, Baldwin & Cohn 2023, Fig. 3a)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, chosen_rows, coloured, inline, labels, quantitative, rows
from evenhand.report.format import number
from evenhand.tables.arrays import Floats, Ints

if TYPE_CHECKING:
    from evenhand.analyses.compare.charts import Subject
    from evenhand.analyses.compare.compare import Comparison
    from evenhand.analyses.compare.ranking import Standing

WIDTH, HEIGHT, COLUMNS = 240, 170, 2
MOST_POINTS, MOST_ROWS = 60, 60
LOGARITHMIC = 50
"""An axis of positive values whose largest is so many times the least is logarithmic."""
SIDES = ("performance", "fairness")


class Line(NamedTuple):
    """What is drawn of a method."""

    standing: Standing
    name: str
    column: str
    places: Ints
    """Settings, in order of the column."""
    x: Floats
    left_out: int
    """Settings that differ in other columns."""


def settings(about: Subject) -> Chart:
    """Each method by the setting with most values; other settings are those of the model selected by distance."""
    c, lines = about.comparison, _lines(about)
    each = max(2, MOST_ROWS // len(lines))
    table: dict[str, list[Any]] = {word: [] for word in ("method", "setting", "value", *SIDES)}
    for line in lines:
        keep = chosen_rows(len(line.places), each)
        p, f = c.runs.means[:2, line.places[keep]]
        columns = ([line.name] * len(keep), [line.column] * len(keep), list(map(_exactly, line.x[keep])), p, f)
        for column, values in zip(table.values(), columns, strict=True):
            column += list(values)
    told = " ".join(_change(c, lines[0], side) for side in (0, 1))
    subtitle = f"Test results, ± one standard deviation over seeds. Dashed: the model selected by distance. {told}"
    notes = [
        f"of {line.name}, {line.left_out:,} settings that differ in another column are not drawn"
        for line in lines
        if line.left_out
    ]
    missing = len(about.chosen) - len(lines)
    if missing:
        notes.append(f"methods without a setting that is a number and varies are not drawn: {missing}")
    body: Spec = {"concat": [_panel(c, line) for line in lines], "columns": COLUMNS, "spacing": 18}
    body["resolve"] = {"legend": {"color": "shared"}}
    return chart("settings", "Performance and fairness by setting", subtitle, told, body, table, notes)


def lacks(about: Subject) -> str | None:
    """Why there is no such chart."""
    if _lines(about):
        return None
    which = "a settings column" if about.setting is None else f"{shown_name(about.setting)} to be one"
    return f"needs {which} that holds numbers and varies: name it with settings= (--settings)"


def _lines(about: Subject) -> list[Line]:
    c = about.comparison
    names = labels(c.runs.methods[s.method] for s in about.chosen)
    found = (_line(c, s, names[c.runs.methods[s.method]], about.setting) for s in about.chosen)
    return [line for line in found if line is not None]


def _line(c: Comparison, s: Standing, name: str, setting: str | None) -> Line | None:
    """A method along a setting, by default the one with most values."""
    own = range(*c.runs.of(s.method).indices(len(c.runs.method)))
    columns = c.runs.settings if setting is None else {setting: c.runs.settings[setting]}
    there = {word: [i for i in own if _numeric(values[i])] for word, values in columns.items()}
    many = {word: len({columns[word][i] for i in places}) for word, places in there.items()}
    column = max(many, key=lambda word: many[word], default=None)
    if column is None or many[column] < 2:
        return None
    at = s.places[0] if s.places[0] in there[column] else there[column][0]
    others = [values for word, values in c.runs.settings.items() if word != column]
    values = columns[column]
    line = sorted((i for i in there[column] if all(v[i] == v[at] for v in others)), key=lambda i: float(values[i]))
    x = np.array([values[i] for i in line], np.float64)
    return Line(s, name, column, np.array(line, np.int64), x, len(own) - len(line))


def _numeric(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _change(c: Comparison, line: Line, side: int) -> str:
    """What a side is at both ends."""
    ends = " to ".join(number(float(c.runs.means[side, line.places[i]]), digits=2) for i in (0, -1))
    at = f"{line.x[0]:g} to {line.x[-1]:g}"
    return f"{SIDES[side].capitalize()} of {line.name}: {ends} as {shown_name(line.column)} goes from {at}."


def _exactly(x: float) -> str:
    """A setting, however small beside the others."""
    return f"{x:.6g}"


def _axis(column: str, x: Floats) -> Spec:
    """Of powers of ten where values span so much; with 0 or less among them, linear below the smallest."""
    sizes = np.abs(x[x != 0])
    axis = quantitative("x", shown_name(column, 40), format="~r", tickCount=5, grid=False, labelOverlap=True)
    scale: Spec = {"type": "linear", "zero": False, "nice": False}
    if len(sizes) > 1 and sizes.max() >= LOGARITHMIC * sizes.min():
        scale["type"] = "log"
        if x.min() <= 0:
            scale |= {"type": "symlog", "constant": float(sizes.min())}
            powers = 10.0 ** np.arange(np.floor(np.log10(sizes.min())), np.ceil(np.log10(sizes.max())) + 1)
            ticks = np.concatenate([-powers[::-1], [0.0], powers])
            inside = ticks[(ticks >= x.min()) & (ticks <= x.max())]
            axis["axis"]["values"] = [float(_exactly(v)) for v in inside]
    axis["scale"] = scale
    return axis


def _panel(c: Comparison, line: Line) -> Spec:
    keep = chosen_rows(len(line.places), MOST_POINTS)
    kept, x, best = line.places[keep], line.x[keep], line.standing.places[0]
    values = []
    for side, word in enumerate(SIDES):
        mean, sd = c.runs.means[side, kept], np.nan_to_num(c.runs.deviations[side, kept])
        drawn = rows(y=mean, low=mean - sd, high=mean + sd, group=[word] * len(x))
        values += [
            {"x": float(at), **row} for at, row in zip(x, drawn, strict=True)
        ]  # as exact as a logarithm asks for
    axis = _axis(line.column, x)
    y = quantitative("y", None, [0, 1], tickCount=5)
    colour = coloured(list(SIDES), theme.GROUPS[:2])
    layers: list[Spec] = [
        {"mark": {"type": "area", "opacity": 0.2, "clip": True},
         "encoding": {"x": axis, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}},
        {"mark": {"type": "line", "clip": True}, "encoding": {"x": axis, "y": y, "color": colour}},
    ]  # fmt: skip
    if best in line.places:
        at = {"x": float(c.runs.settings[line.column][best])}
        rule = {"type": "rule", "strokeDash": [4, 4], "color": theme.AXIS}
        layers.append({"data": inline([at]), "mark": rule, "encoding": {"x": axis}})
    title = {"text": line.name, "fontSize": 12, "fontWeight": "normal"}
    return {"title": title, "width": WIDTH, "height": HEIGHT, "data": inline(values), "layer": layers}
