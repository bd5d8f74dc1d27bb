"""The null distribution behind a p-value: what a measure would show if groups were alike."""

from __future__ import annotations

import numpy as np

from evenhand.analyses.audit.charts.subject import Subject
from evenhand.analyses.audit.gaps import Gap
from evenhand.errors import shown, unknown
from evenhand.inference.null import Null
from evenhand.measures.registry import Measure, find
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, layer, quantitative, rows
from evenhand.report.format import number, p_words
from evenhand.tables.arrays import Floats

BARS, HEIGHT = 40, 220


def null(s: Subject) -> Chart:
    """The distribution of a measure when groups are alike, and where the observed value lies."""
    gap, m, null_ = _tested(s)
    ratio = gap.scale == "ratio"
    observed = gap.size
    share, edges = _histogram(null_)
    stays = f"null 95%: {number(null_.high)}"
    marks = {f"observed: {number(observed)}": observed, stays: null_.high}
    title = f"{m.title}, the lower over the higher" if ratio else m.title
    body = _bars(share, edges, {text: at for text, at in marks.items() if np.isfinite(at)}, title, ratio)
    a, b = s.pair
    how = "its exact distribution" if null_.method == "exact" else null_.method
    p, q = p_words(null_.p_value, at_most=null_.at_most), gap.p_adjusted
    bound = bool(gap.p_adjusted_at_most)
    adjusted = "" if q is None else f" ({p_words(q, at_most=bound)} adjusted for all comparisons)"
    subtitle = f"{a} and {b} if they were alike: {how}. Observed {number(observed)}, {p}{adjusted}."
    lost = f"{100 * null_.undefined:.2g}% of the tables have no value; they count as the largest"
    return chart(
        "null", f"What chance alone shows: {m.title}", subtitle, subtitle, body,
        {m.title: (edges[:-1] + edges[1:]) / 2, "share": share}, [lost if null_.undefined else None],
    )  # fmt: skip


def _bars(share: Floats, edges: Floats, marks: dict[str, float], title: str, ratio: bool) -> Spec:
    """A histogram with lines at some values, the value of no gap on the axis."""
    ends = [*marks.values(), float(edges[0]), float(edges[-1]), 1.0 if ratio else 0.0]
    margin = 0.02 * (max(ends) - min(ends)) or 0.01
    x = quantitative("value", title, [min(ends) - margin, 1.0] if ratio else [0.0, max(ends) + margin])
    most = float(share.max(initial=0.01)) * 1.05
    y = quantitative("share", "how often chance alone shows it", [0, most], format="~%")
    colour = coloured(list(marks), [theme.LIMIT, theme.INK], field="what")
    colour["legend"] = {**colour["legend"], "symbolType": "stroke", "columns": 1}
    values = rows(value=edges[:-1], end=edges[1:], share=share)
    where = {"x": x, "x2": {"field": "end"}, "y": y, "y2": {"datum": 0}}
    bars = layer(values, "rect", where, color=theme.AXIS, opacity=0.8)
    observed = [rows(what=text, value=at)[0] for text, at in marks.items()]
    lines = layer(observed, "rule", {"x": x, "color": colour}, strokeWidth=2)
    return {"width": theme.WIDTH, "height": HEIGHT, "layer": [bars, lines]}


def _histogram(null_: Null) -> tuple[Floats, Floats]:
    """Shares of the distribution and where they start and end; what is rarer than one in 100,000 is not drawn."""
    sample, weight = null_.sample, null_.chance
    if weight is not None:
        keep = np.cumsum(weight) - weight <= (1 - 1e-5) * weight.sum()
        sample, weight = sample[keep], weight[keep]
    low, high = (float(sample.min()), float(sample.max())) if len(sample) else (0.0, 1.0)
    span = (low, high) if high - low > 1e-12 * max(abs(low), abs(high)) else (low - 0.005, high + 0.005)
    heights, edges = np.histogram(sample, BARS, span, weights=weight)
    return heights / max(heights.sum(), 1e-300) * (1 - null_.undefined), edges


def tested(s: Subject) -> list[str]:
    """The measures of the pair whose null distribution is known."""
    own = [g for g in s.attribute.measures if g.group == s.group]
    return [g.id for g in own if g.null is not None and len(g.null.sample)]


def _tested(s: Subject) -> tuple[Gap, Measure, Null]:
    known = tested(s)
    id_ = known[0] if s.measure is None else s.measure
    m = find(id_) if isinstance(id_, str) else None
    gap = None if m is None else s.gap(m.id)
    if m is None or gap is None or gap.null is None or not len(gap.null.sample):
        raise unknown(f"for {shown(s.group)} there is no p-value of", id_, known, 40)
    return gap, m, gap.null
