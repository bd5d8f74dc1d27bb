"""Every measure of a group against its reference, with its interval and its null 95 %."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.audit.charts.subject import Subject
from evenhand.analyses.audit.gaps import Gap
from evenhand.measures.measure import FAMILIES
from evenhand.measures.registry import Measure
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, bracketed, chart, coloured, inline, ordered, quantitative, rows, zero
from evenhand.report.format import number

VERDICTS = ("within tolerance", "beyond tolerance", "not settled")
WIDTH, NAMES, STEP = 270, 190, 20
MOST = 1.0
"""An axis ends here: what is further gets an arrow."""
SHAPES = {"difference": "circle", "distance": "diamond", "further right": "triangle-right",
          "further left": "triangle-left"}  # fmt: skip
LEGEND = {"title": None, "orient": "bottom", "columns": 3, "symbolType": "circle"}
MOST_UNDEFINED = 6
"""More measures without a value are named below the chart instead."""


@dataclass(frozen=True)
class Row:
    """One measure as it is drawn."""

    gap: Gap
    measure: Measure

    @property
    def signed(self) -> bool:
        return self.measure.signed and self.gap.signed is not None

    @property
    def value(self) -> float:
        return self.gap.estimate

    @property
    def floor(self) -> tuple[float, float] | None:
        """The null 95 %."""
        if self.gap.null is None or not np.isfinite(self.gap.null.high):
            return None
        high = self.gap.null.high
        if self.gap.scale == "ratio":
            return high, 1 / high if high > 0 else np.inf
        return (-high if self.signed else 0.0), high

    @property
    def tolerances(self) -> list[float]:
        most = self.gap.tolerance
        if self.gap.scale == "ratio":
            return [most, 1 / most]
        return [-most, most] if self.signed else [most]

    @property
    def verdict(self) -> str:
        if not self.gap.conclusive:  # without interval nothing is settled
            return VERDICTS[2]
        return VERDICTS[0 if self.gap.passes else 1]

    @property
    def number(self) -> str:
        if self.gap.undefined:
            return "undefined"
        return number(self.value, sign=self.signed) + bracketed(self.gap.ci, self.signed)

    @property
    def reach(self) -> list[float]:
        """All that should be on the axis."""
        return [*self.tolerances, *(self.floor or ()), self.value, *(self.gap.ci or ())]


def forest(s: Subject) -> Chart:
    """All measures of a group against its reference."""
    a, b = s.pair
    measures = [Row(g, g.measure) for g in s.attribute.measures if g.group == s.group]
    undefined = [r for r in measures if r.gap.undefined]
    known = [r for r in measures if not r.gap.undefined]
    drawn = known if known and len(undefined) > MOST_UNDEFINED else measures
    panels = [*_families(drawn, "difference"), *_families(drawn, "ratio")]
    for layer in panels[-1]["layer"]:
        if "color" in layer["encoding"]:
            layer["encoding"]["color"]["legend"] = LEGEND
    further = any(row["shape"].startswith("further") for p in panels for row in p["layer"][-1]["data"]["values"])
    arrow = "an arrow at the edge stands for a value beyond the axis" if further else None
    subtitle = (
        f"Points with {100 * s.audit.options.confidence:g}% intervals. Grey: the null 95%. "
        "Red ticks: the tolerance. Diamonds are distances, which have no sign."
    )
    body: Spec = {"vconcat": panels, "spacing": 6, "resolve": {"scale": {"color": "independent"}}}
    return chart(
        "forest", f"All measures: {a} against {b}", subtitle, _told(s, known), body, _table(measures),
        [_undefined(undefined), arrow],
    )  # fmt: skip


def _told(s: Subject, known: list[Row]) -> str:
    a, b = s.pair
    beyond = [r for r in known if r.gap.passes is False]
    sure = sum(bool(r.gap.conclusive) for r in beyond)
    verb = "is" if len(beyond) == 1 else "are"
    text = f"{len(beyond)} of {len(known)} measures of {a} against {b} {verb} beyond tolerance, {sure} with certainty"
    if beyond:
        text += ": " + ", ".join(f"{r.measure.title} {number(r.value)}" for r in beyond[:6])
    return text + (f" and {len(beyond) - 6} more." if len(beyond) > 6 else ".")


def _undefined(measures: list[Row]) -> str | None:
    """Measures without a value, by reason."""
    by: dict[str, list[str]] = {}
    for r in measures:
        by.setdefault(str(r.gap.undefined), []).append(r.measure.title)
    return "; ".join(f"undefined {because}: {', '.join(titles)}" for because, titles in by.items()) or None


def _table(measures: list[Row]) -> dict[str, list[Any]]:
    return {
        "measure": [r.measure.title for r in measures],
        "value": [None if r.gap.undefined else r.value for r in measures],
        "low": [None if r.gap.ci is None else r.gap.ci[0] for r in measures],
        "high": [None if r.gap.ci is None else r.gap.ci[1] for r in measures],
        "null 95%": [None if r.gap.null is None else r.gap.null.high for r in measures],
        "tolerance": [r.gap.tolerance for r in measures],
        "verdict": [f"undefined {r.gap.undefined}" if r.gap.undefined else r.verdict for r in measures],
    }


def _families(drawn: list[Row], scale: str) -> list[Spec]:
    """One panel per family; a ratio has an axis of its own."""
    measures = [r for r in drawn if r.gap.scale == scale]
    domain = _domain(measures, scale)
    by = {f: [r for r in measures if r.measure.family == f] for f in FAMILIES}
    by = {f: own for f, own in by.items() if own}
    title = {f: f"{FAMILIES[f].name}: ratios" if scale == "ratio" else FAMILIES[f].short for f in by}
    return [_panel(own, title[f], domain, scale, f == list(by)[-1]) for f, own in by.items()]


def _domain(measures: list[Row], scale: str) -> list[float]:
    """From the least to the most that is drawn, the point of no difference inside."""
    bounded = [r for r in measures if np.isfinite(r.measure.highest) or scale == "ratio"] or measures
    reach = [x for r in bounded if not r.gap.undefined for x in r.reach if np.isfinite(x)]
    if scale == "ratio":
        furthest = max([1.5, *(max(x, 1 / x) for x in reach if x > 0)])
        furthest = min(furthest * 1.05, 10.0)
        return [1 / furthest, furthest]
    low, high = min([-0.02, *reach]), max([0.02, *reach])
    return [max(low * 1.05, -MOST), min(high * 1.05, MOST)]


def _panel(measures: list[Row], title: str, domain: list[float], scale: str, last: bool) -> Spec:
    """The measures of one family, one row each."""
    names = [r.measure.title for r in measures]
    y = ordered("measure", names, title=None)
    y["axis"] = {
        "minExtent": NAMES, "maxExtent": NAMES, "labelLimit": NAMES - 10, "labelPadding": 8, "ticks": False,
        "domain": False,
    }  # fmt: skip
    return {
        "width": WIDTH,
        "height": {"step": STEP},
        "layer": _marks(measures, _axis(domain, scale, last), y, domain, 1 if scale == "ratio" else 0),
        "title": {"text": title, "fontSize": 12, "anchor": "start", "frame": "bounds", "offset": 4},
    }


def _axis(domain: list[float], scale: str, last: bool) -> Spec:
    titles = {"difference": "group minus reference, or distance", "ratio": "group over reference"}
    x = quantitative("value", titles[scale] if last else None, domain, labels=last, ticks=last)
    if scale == "ratio":
        x["scale"]["type"] = "log"
        x["axis"] |= {"values": [v for v in (0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10) if domain[0] <= v <= domain[1]]}
        x["axis"] |= {"format": "~g"}
    return x


def _marks(measures: list[Row], x: Spec, y: Spec, domain: list[float], alike: float) -> list[Spec]:
    """The noise floor, the tolerances, intervals, numbers and points, as far as they are on the axis."""
    known, (lo, hi) = [r for r in measures if not r.gap.undefined], domain

    def inside(at: float) -> float:
        return float(np.clip(at, lo, hi)) if np.isfinite(at) else hi

    def ends(r: Row, pair: tuple[float, float], **more: str) -> dict[str, Any]:
        return rows(measure=r.measure.title, value=inside(pair[0]), end=inside(pair[1]), **more)[0]

    band = [ends(r, r.floor) for r in known if r.floor is not None]
    spans = [ends(r, r.gap.ci, verdict=r.verdict) for r in known if r.gap.ci is not None]
    tolerances = [rows(measure=r.measure.title, value=v)[0] for r in known for v in r.tolerances if lo <= v <= hi]
    points = [
        rows(measure=r.measure.title, verdict=r.verdict, value=inside(r.value), shape=_shape(r, lo, hi))[0]
        for r in known
    ]
    numbers = rows(measure=[r.measure.title for r in measures], number=[r.number for r in measures])
    shape: Spec = {"field": "shape", "type": "nominal", "legend": None}
    shape["scale"] = {"domain": list(SHAPES), "range": list(SHAPES.values())}
    return [
        {"data": inline(band), "mark": {"type": "bar", "color": theme.BAND, "height": {"band": 0.7}},
         "encoding": {"y": y, "x": x, "x2": {"field": "end"}}},
        zero("x", x, alike),
        {"data": inline(tolerances), "mark": {"type": "tick", "color": theme.LIMIT, "thickness": 1.5, "height": 14},
         "encoding": {"y": y, "x": x}},
        {"data": inline(spans), "mark": {"type": "rule", "strokeWidth": 2},
         "encoding": {"y": y, "x": x, "x2": {"field": "end"}, "color": _colour()}},
        {"data": inline(numbers), "mark": {"type": "text", "align": "left", "fontSize": 11, "x": WIDTH + 10},
         "encoding": {"y": y, "text": {"field": "number"}}},
        {"data": inline(points), "mark": {"type": "point", "filled": True, "opacity": 1, "size": 55},
         "encoding": {"y": y, "x": x, "color": _colour(), "shape": shape}},
    ]  # fmt: skip


def _shape(r: Row, lo: float, hi: float) -> str:
    if not lo <= r.value <= hi:
        return "further left" if r.value < lo else "further right"
    return "difference" if r.signed or r.gap.scale == "ratio" else "distance"


def _colour() -> Spec:
    return coloured(VERDICTS, [theme.GROUPS[0], theme.LIMIT, theme.MUTED], False, "verdict")
