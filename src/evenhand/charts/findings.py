"""What was found: every measure with its interval and what chance alone shows, and the chance behind a p-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.cells import Floats
from evenhand.charts import theme
from evenhand.charts.chart import Chart
from evenhand.charts.layers import Spec, chart, coloured, inline, quantitative, rows, zero
from evenhand.charts.subject import Subject
from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.gaps import Gap
from evenhand.measures import Measure, find
from evenhand.nulls import Null

FAMILIES = {
    "independence": "Independence: all alike?", "separation": "Separation: same outcome?",
    "sufficiency": "Sufficiency: one meaning?", "accuracy": "Accuracy",
}  # fmt: skip
VERDICTS = ("within the limit", "beyond the limit", "not settled")
WIDTH, NAMES, STEP = 270, 190, 20
MOST = 1.0
"""An axis ends here: what is further gets an arrow."""
BARS = 40
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
        return float(self.gap.signed) if self.signed and self.gap.signed is not None else self.gap.value

    @property
    def floor(self) -> tuple[float, float] | None:
        """What chance alone shows 95 times of 100."""
        if self.gap.null is None or not np.isfinite(self.gap.null.high):
            return None
        high = self.gap.null.high
        if self.gap.scale == "ratio":
            return high, 1 / high if high > 0 else np.inf
        return (-high if self.signed else 0.0), high

    @property
    def limits(self) -> list[float]:
        limit = self.gap.tolerance
        if self.gap.scale == "ratio":
            return [limit, 1 / limit]
        return [-limit, limit] if self.signed else [limit]

    @property
    def verdict(self) -> str:
        if self.gap.conclusive is False:
            return VERDICTS[2]
        return VERDICTS[0 if self.gap.passes else 1]

    @property
    def number(self) -> str:
        if self.gap.undefined:
            return "undefined"
        sign = "+" if self.signed else ""
        text = f"{self.value:{sign}.3f}"
        return text if self.gap.ci is None else f"{text} [{self.gap.ci[0]:{sign}.3f}, {self.gap.ci[1]:{sign}.3f}]"

    @property
    def reach(self) -> list[float]:
        """All that should be on the axis."""
        return [*self.limits, *(self.floor or ()), self.value, *(self.gap.ci or ())]


def forest(s: Subject) -> Chart:
    """All measures of a group against its reference."""
    a, b = s.pair
    found = [Row(g, m) for g in s.attribute.measures if g.group == s.group and (m := find(g.id)) is not None]
    undefined = [r for r in found if r.gap.undefined]
    known = [r for r in found if not r.gap.undefined]
    drawn = known if known and len(undefined) > MOST_UNDEFINED else found
    panels = []
    for scale in ("difference", "ratio"):
        own = [r for r in drawn if r.gap.scale == scale]
        if own:
            panels += _families(own, scale)
    for layer in panels[-1]["layer"]:
        if "color" in layer["encoding"]:
            layer["encoding"]["color"]["legend"] = LEGEND
    arrows = any(row["shape"].startswith("further") for p in panels for row in p["layer"][-1]["data"]["values"])
    beyond = [r for r in found if r.gap.passes is False]
    title = f"All measures: {a} against {b}"
    subtitle = (
        f"Points with {100 * s.audit.options.confidence:g}% intervals. Grey: what chance alone shows 95 times of 100. "
        "Red ticks: the limit. Diamonds are distances, which have no sign."
    )
    description = (
        f"{len(beyond)} of {len(known)} measures of {a} against {b} are beyond their limit"
        + (f": {', '.join(f'{r.measure.title} {r.value:.3f}' for r in beyond[:6])}" if beyond else "")
        + (f" and {len(beyond) - 6} more" if len(beyond) > 6 else "")
        + "."
    )
    arrow = "an arrow at the edge stands for a value beyond the axis" if arrows else None
    body: Spec = {"vconcat": panels, "spacing": 6, "resolve": {"scale": {"color": "independent"}}}
    return chart("forest", title, subtitle, description, body, _forest_table(found), [_undefined(undefined), arrow])


def _undefined(found: list[Row]) -> str | None:
    """Measures without a value, by reason."""
    by: dict[str, list[str]] = {}
    for r in found:
        by.setdefault(str(r.gap.undefined), []).append(r.measure.title)
    return "; ".join(f"undefined {because}: {', '.join(titles)}" for because, titles in by.items()) or None


def _forest_table(found: list[Row]) -> dict[str, list[Any]]:
    return {
        "measure": [r.measure.title for r in found],
        "value": [None if r.gap.undefined else r.value for r in found],
        "low": [None if r.gap.ci is None else r.gap.ci[0] for r in found],
        "high": [None if r.gap.ci is None else r.gap.ci[1] for r in found],
        "chance 95%": [None if r.gap.null is None else r.gap.null.high for r in found],
        "limit": [r.gap.tolerance for r in found],
        "verdict": [f"undefined {r.gap.undefined}" if r.gap.undefined else r.verdict for r in found],
    }


def _families(found: list[Row], scale: str) -> list[Spec]:
    """One panel per family; a ratio has an axis of its own."""
    domain = _domain(found, scale)
    by = {f: [r for r in found if r.measure.family == f] for f in FAMILIES}
    by = {f: own for f, own in by.items() if own}
    last = list(by)[-1]
    suffix = ": ratios" if scale == "ratio" else ""
    return [_panel(own, FAMILIES[f].split(":")[0] + suffix if suffix else FAMILIES[f], domain, scale, f == last)
            for f, own in by.items()]  # fmt: skip


def _domain(found: list[Row], scale: str) -> list[float]:
    """From the least to the most that is drawn, the point of no difference inside."""
    bounded = [r for r in found if np.isfinite(r.measure.highest) or scale == "ratio"] or found
    reach = [x for r in bounded if not r.gap.undefined for x in r.reach if np.isfinite(x)]
    if scale == "ratio":
        furthest = max([1.5, *(max(x, 1 / x) for x in reach if x > 0)])
        furthest = min(furthest * 1.05, 10.0)
        return [1 / furthest, furthest]
    low, high = min([-0.02, *reach]), max([0.02, *reach])
    return [max(low * 1.05, -MOST), min(high * 1.05, MOST)]


def _panel(found: list[Row], title: str, domain: list[float], scale: str, last: bool) -> Spec:
    names = [r.measure.title for r in found]
    known = [r for r in found if not r.gap.undefined]
    lo, hi = domain

    def inside(x: float) -> float:
        return float(np.clip(x, lo, hi)) if np.isfinite(x) else hi

    y: Spec = {"field": "measure", "type": "nominal", "sort": names, "title": None, "scale": {"domain": names}}
    y["axis"] = {
        "minExtent": NAMES,
        "maxExtent": NAMES,
        "labelLimit": NAMES - 10,
        "labelPadding": 8,
        "ticks": False,
        "domain": False,
    }
    words = {"difference": "group minus reference, or distance", "ratio": "group over reference"}
    x = quantitative("value", words[scale] if last else None, domain, labels=last, ticks=last)
    if scale == "ratio":
        x["scale"]["type"] = "log"
        x["axis"] = {"values": [v for v in (0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10) if lo <= v <= hi], "format": "~g"}
    floors = [(r, r.floor) for r in known if r.floor is not None]
    band = [rows(measure=r.measure.title, value=inside(f[0]), end=inside(f[1]))[0] for r, f in floors]
    limit = [rows(measure=r.measure.title, value=v)[0] for r in known for v in r.limits if lo <= v <= hi]
    spans = [rows(measure=r.measure.title, verdict=r.verdict, value=inside(r.gap.ci[0]), end=inside(r.gap.ci[1]))[0]
             for r in known if r.gap.ci is not None]  # fmt: skip
    points = [
        rows(measure=r.measure.title, verdict=r.verdict, value=inside(r.value), shape=_shape(r, lo, hi))[0]
        for r in known
    ]
    shapes = ["difference", "distance", "further right", "further left"]
    shape = {"field": "shape", "type": "nominal", "legend": None, "scale": {
        "domain": shapes, "range": ["circle", "diamond", "triangle-right", "triangle-left"]}}  # fmt: skip
    numbers = rows(measure=names, number=[r.number for r in found])
    text = {"type": "text", "align": "left", "fontSize": 11, "x": WIDTH + 10}
    plot: Spec = {
        "width": WIDTH,
        "height": {"step": STEP},
        "layer": [
            {"data": inline(band), "mark": {"type": "bar", "color": theme.BAND, "height": {"band": 0.7}},
             "encoding": {"y": y, "x": x, "x2": {"field": "end"}}},
            zero("x", x, 1 if scale == "ratio" else 0),
            {"data": inline(limit), "mark": {"type": "tick", "color": theme.LIMIT, "thickness": 1.5, "height": 14},
             "encoding": {"y": y, "x": x}},
            {"data": inline(spans), "mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"y": y, "x": x, "x2": {"field": "end"}, "color": _colour()}},
            {"data": inline(numbers), "mark": text, "encoding": {"y": y, "text": {"field": "number"}}},
            {"data": inline(points), "mark": {"type": "point", "filled": True, "opacity": 1, "size": 55},
             "encoding": {"y": y, "x": x, "color": _colour(), "shape": shape}},
        ],
    }  # fmt: skip
    return {**plot, "title": {"text": title, "fontSize": 12, "anchor": "start", "frame": "bounds", "offset": 4}}


def _shape(r: Row, lo: float, hi: float) -> str:
    if not lo <= r.value <= hi:
        return "further left" if r.value < lo else "further right"
    return "difference" if r.signed or r.gap.scale == "ratio" else "distance"


def _colour() -> Spec:
    return coloured(VERDICTS, [theme.GROUPS[0], theme.LIMIT, theme.MUTED], False, "verdict")


LEGEND = {"title": None, "orient": "bottom", "columns": 3, "symbolType": "circle"}


# ---- chance -------------------------------------------------------------------------------------------------


def null(s: Subject, measure: str | None) -> Chart:
    """The distribution of a measure when groups are alike, and where the observed value lies."""
    gap, m = _tested(s, measure)
    chance = gap.null
    assert chance is not None
    a, b = s.pair
    ratio = gap.scale == "ratio"
    observed = min(gap.value, 1 / gap.value) if ratio and gap.value > 0 else abs(gap.value)
    share, edges = _histogram(chance)
    ends = [e for e in (observed, chance.high, edges[0], edges[-1]) if np.isfinite(e)] + [1.0 if ratio else 0.0]
    low, high = min(ends), max(ends)
    margin = 0.02 * (high - low) or 0.01
    domain = [low - margin if ratio else 0.0, 1.0 if ratio else high + margin]
    x = quantitative("value", f"{m.title}{', the lower over the higher' if ratio else ''}", domain)
    y = quantitative(
        "share", "how often chance alone shows it", [0, float(share.max(initial=0.01)) * 1.05], format="~%"
    )
    marks = [
        (f"observed: {observed:.3f}", observed),
        (f"chance stays {'above' if ratio else 'below'} this 95 times of 100: {chance.high:.3f}", chance.high),
    ]
    marks = [(text, at) for text, at in marks if np.isfinite(at)]
    colour = coloured([text for text, _ in marks], [theme.LIMIT, theme.INK], True, "what")
    colour["legend"] = {**colour["legend"], "symbolType": "stroke", "columns": 1}
    body: Spec = {
        "width": theme.WIDTH,
        "height": 220,
        "layer": [
            {"data": inline(rows(value=edges[:-1], end=edges[1:], share=share)),
             "mark": {"type": "rect", "color": theme.AXIS, "opacity": 0.8},
             "encoding": {"x": x, "x2": {"field": "end"}, "y": y, "y2": {"datum": 0}}},
            {"data": inline([rows(what=text, value=at)[0] for text, at in marks]),
             "mark": {"type": "rule", "strokeWidth": 2}, "encoding": {"x": x, "color": colour}},
        ],
    }  # fmt: skip
    adjusted = "" if gap.p_adjusted is None else f" ({_p(gap.p_adjusted)} adjusted for all comparisons)"
    how = "its exact distribution" if chance.method == "exact" else chance.method
    subtitle = f"{a} and {b} if they were alike: {how}. Observed {observed:.3f}, {_p(chance.p_value)}{adjusted}."
    middle = (edges[:-1] + edges[1:]) / 2
    columns = {m.title: middle, "share": share}
    note = (
        f"{100 * chance.undefined:.2g}% of the tables have no value; they count as the largest"
        if chance.undefined
        else None
    )
    return chart("null", f"What chance alone shows: {m.title}", subtitle, subtitle, body, columns, [note])


def _histogram(chance: Null) -> tuple[Floats, Floats]:
    """Shares of the distribution and where they start and end; what is rarer than one in 100,000 is not drawn."""
    sample, weight = chance.sample, chance.chance
    if weight is not None:
        keep = np.cumsum(weight) - weight <= (1 - 1e-5) * weight.sum()
        sample, weight = sample[keep], weight[keep]
    low, high = (float(sample.min()), float(sample.max())) if len(sample) else (0.0, 1.0)
    span = (low, high) if high > low else (low - 0.005, high + 0.005)
    found, edges = np.histogram(sample, BARS, span, weights=weight)
    return found / max(found.sum(), 1e-300) * (1 - chance.undefined), edges


def _p(value: float) -> str:
    return f"p = {value:.2g}" if value >= 1e-4 else "p < 0.0001"


def tested(s: Subject) -> list[str]:
    """The measures of the pair that have a p-value."""
    return [g.id for g in s.attribute.measures if g.group == s.group and g.null is not None]


def _tested(s: Subject, measure: Any) -> tuple[Gap, Measure]:
    known = tested(s)
    if not known:
        raise UsageError(
            "there is no p-value to explain: audit with permutations=1000, or choose measures that are defined"
        )
    id_ = known[0] if measure is None else measure
    m = find(id_) if isinstance(id_, str) else None
    gap = None if m is None else s.gap(m.id)
    if m is None or gap is None or gap.null is None:
        raise UsageError(
            f"there is no p-value of {shown(id_)} for {shown(s.group)} (there are: {listed(known, 40)})"
            f"{nearest(str(id_), known)}"
        )
    return gap, m
