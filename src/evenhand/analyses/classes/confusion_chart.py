"""Confusion matrices by group, as Figure 7 of Han, Baldwin & Cohn 2023."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import shown_name
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, beside, chart, inline, labels, ordered
from evenhand.report.format import percent
from evenhand.tables.arrays import Floats

if TYPE_CHECKING:
    from evenhand.analyses.classes.result import Aggregate

MOST_CLASSES, MOST_GROUPS, MOST_CELLS = 30, 6, 1200
SIDE, COLUMNS = 250, 2
WITH_NUMBERS = 8
"""Up to so many classes, the people are written into the cells."""
LETTER = 7
"""As wide a letter may be."""
MOST_NUMBERS = 100_000


def matrices(a: Aggregate) -> NDArray[Any] | None:
    """People by group, true and predicted class; None if these are too many numbers to be of use."""
    counts = a.table.counts(a.grouping)
    classes, groups = counts.shape
    if groups * classes**2 > MOST_NUMBERS:
        return None
    masses = counts.n if a.table.weight is None else counts.mass
    found = np.zeros((groups, classes, classes), masses.dtype)
    found[counts.group, counts.true, counts.predicted] = masses
    return found


def confusion(a: Aggregate) -> Chart:
    """How many people of each class are taken for which, by group."""
    return _drawn(a, "confusion", None if a.against is None else a.against.own)


def confusion_against(a: Aggregate) -> Chart:
    """The same of the second model."""
    assert a.against is not None
    return _drawn(a.against.aggregate, "confusion_against", a.against.name)


def _drawn(a: Aggregate, name: str, model: str | None) -> Chart:
    counts = a.table.counts(a.grouping)
    sizes = np.bincount(counts.group, counts.mass, len(a.groups))
    of_class = np.bincount(counts.true, counts.mass, len(a.classes))
    of_class += np.bincount(counts.predicted, counts.mass, len(a.classes))
    chosen = np.sort(np.argsort(-sizes, kind="stable")[:MOST_GROUPS])
    keep = np.sort(np.argsort(-of_class, kind="stable")[:MOST_CLASSES])
    place = np.full(len(a.classes), -1)
    place[keep] = np.arange(len(keep))
    classes = list(labels((a.classes[c] for c in keep.tolist()), 20).values())
    groups = labels((a.groups[g] for g in chosen.tolist()), 26)
    dense = np.zeros((len(a.groups), len(keep), len(keep)))
    inside = (place[counts.true] >= 0) & (place[counts.predicted] >= 0)
    cells = counts.group[inside], place[counts.true[inside]], place[counts.predicted[inside]]
    np.add.at(dense, cells, counts.mass[inside])
    true = counts.sums().true[keep].T
    share = dense / np.where(true > 0, true, 1.0)[..., None]
    least = _least(dense[chosen])
    panels = [
        _panel(dense[g], share[g], classes, groups[a.groups[g]], sizes[g], least, i % COLUMNS == 0)
        for i, g in enumerate(chosen.tolist())
    ]
    wrong = [(float(share[g, i, j]), float(dense[g, i, j]), g, i, j) for g in chosen.tolist()
             for i, j in np.argwhere(dense[g] > 0).tolist() if i != j]  # fmt: skip
    told = "Nobody of these classes is taken for another."
    if wrong:
        most, many, g, i, j = max(wrong, key=lambda found: found[:2])
        told = (
            f"The largest share that is wrong: {percent(most, digits=0)} of class {classes[i]} in group "
            f"{groups[a.groups[g]]} are taken for {classes[j]} ({_people(many)} of {_people(true[g, i])})."
        )
    numbers: dict[str, Any] = {}
    for g in chosen.tolist():
        numbers[f"{groups[a.groups[g]]}: people"] = true[g]
        numbers[f"{groups[a.groups[g]]}: right"] = np.diagonal(dense[g])
    notes = [
        f"the {len(keep)} of {len(a.classes):,} classes with most people" if len(keep) < len(a.classes) else None,
        f"the {len(chosen)} of {len(a.groups):,} groups with most people" if len(chosen) < len(a.groups) else None,
        f"cells of up to {_people(least)} {'person' if least == 1 else 'people'} are not drawn" if least > 0 else None,
    ]
    subtitle = f"Rows: true class. Columns: predicted class. Darker: a larger share of the true class. {told}"
    body: Spec = {"concat": panels, "columns": COLUMNS, "spacing": 16}
    title = f"Who is taken for what, by {shown_name(a.grouping.name)}"
    if model is not None:
        title += f": {shown_name(model, 40)}"
    return chart(name, title, subtitle, told, body, beside("class", classes, numbers), notes)


def _people(mass: float) -> str:
    """People, or sums of weights."""
    return f"{mass:,.0f}" if float(mass).is_integer() else f"{mass:,.1f}"


def _least(dense: Floats) -> float:
    """Cells of so many people or fewer are not drawn, so that a drawing stays small: 0 if all are."""
    filled = np.sort(dense[dense > 0])[::-1]
    left_out = float(filled[MOST_CELLS]) if len(filled) > MOST_CELLS else 0.0
    return left_out if left_out < filled.max(initial=0.0) else 0.0  # where all have as many, all are drawn


def _panel(
    people: Floats, share: Floats, classes: list[str], group: str, size: float, least: float, first: bool
) -> Spec:
    step = min(50, max(8, SIDE // len(classes)))
    small = {"labelFontSize": min(11, step), "domain": False, "ticks": False, "labelLimit": 110, "labelOverlap": False}
    angle = 0 if max(map(len, classes)) * LETTER <= step else -90
    x = ordered("predicted", classes, title=None, axis={**small, "orient": "top", "labelAngle": angle})
    y = ordered("true", classes, title=None, axis=small if first else None)
    values = [
        {"true": classes[i], "predicted": classes[j], "share": round(float(share[i, j]), 4),
         "text": _people(people[i, j])}
        for i, j in np.argwhere(people > least).tolist()
    ]  # fmt: skip
    scale = {"domain": [0, 1], "range": [0.06, 0.6 if len(classes) <= WITH_NUMBERS else 1]}
    opacity: Spec = {"field": "share", "type": "quantitative", "legend": None, "scale": scale}
    layers: list[Spec] = [
        {"mark": {"type": "rect", "tooltip": True, "color": theme.GROUPS[0]},
         "encoding": {"x": x, "y": y, "opacity": opacity}},
    ]  # fmt: skip
    if len(classes) <= WITH_NUMBERS:
        layers.append({"mark": {"type": "text", "fontSize": 11},
                       "encoding": {"x": x, "y": y, "text": {"field": "text"}}})  # fmt: skip
    return {
        "title": {"text": f"{group} ({_people(size)})", "fontSize": 12, "fontWeight": "normal"},
        "width": {"step": step},
        "height": {"step": step},
        "view": {"stroke": theme.GRID},
        "data": inline(values),
        "layer": layers,
    }
