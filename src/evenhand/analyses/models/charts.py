"""Several models of the same people: performance against fairness, the front, and how far from ideal each is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.audit.charts.subject import subject as of_one
from evenhand.analyses.models import panels
from evenhand.analyses.models.paired import distance
from evenhand.analyses.models.panels import Panels
from evenhand.errors import shown_name, unknown
from evenhand.measures.performance import PERFORMANCES
from evenhand.measures.registry import find
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, inline, labels, rows
from evenhand.report.charts.plane import SIDE, plane
from evenhand.report.charts.registry import Kind

if TYPE_CHECKING:
    from evenhand.analyses.models.models import CandidateAudit, Place, Tradeoff


@dataclass(frozen=True)
class Subject:
    """All models by one attribute."""

    audit: CandidateAudit
    tradeoff: Tradeoff
    panels: Panels
    """What the audit of each model draws, of the same groups."""

    @property
    def places(self) -> list[Place]:
        return [p for p in self.tradeoff.places if not p.undefined]


def subject(audit: CandidateAudit, attribute: Any = None, group: Any = None) -> Subject:
    """What was asked for, if the audit has it; by default the first attribute, and the group furthest by the first
    model."""
    names = [t.attribute for t in audit.tradeoffs]
    if attribute is not None and attribute not in names:
        raise unknown("this audit has no attribute", attribute, names)
    first = of_one(audit.candidates[0].audit, attribute, group)
    every = [(audit.candidates[0].name, first)]
    for c in audit.candidates[1:]:
        own = of_one(c.audit, attribute, first.group)
        every.append((c.name, replace(own, known=frozenset(first.drawn))))
    return Subject(audit, audit.tradeoffs[0 if attribute is None else names.index(attribute)], every)


def _lacks(s: Subject) -> str | None:
    return None if s.places else f"cannot place any model: {s.tradeoff.places[0].undefined}"


def tradeoff(s: Subject) -> Chart:
    """Where every model stands, the front, and how far from ideal each is."""
    audit, t, places = s.audit, s.tradeoff, s.places
    label = labels(p.model for p in t.places)
    spans = [_spans(audit, t, p) for p in places]
    axes = plane(
        f"{PERFORMANCES[t.performance].title} (higher is better)", f"fairness: 1 − {_title(t.fairness)}",
        [x for p, (own, _) in zip(places, spans, strict=True) for x in (p.performance, *own)],
        [x for p, (_, own) in zip(places, spans, strict=True) for x in (p.fairness, *own)], (1.0, 1.0),
    )  # fmt: skip
    shown_models = places[: len(theme.GROUPS) + 1]
    names = [label[p.model] for p in shown_models]
    colour = coloured(names, [theme.REFERENCE, *theme.GROUPS][: len(names)])
    colour["legend"] = {**colour["legend"], "symbolType": "circle"}
    points = [
        {"group": label[p.model], **rows(performance=p.performance, fairness=p.fairness, dto=p.dto)[0],
         **rows(low=own[0], high=own[1], worst=other[0], best=other[1])[0]}
        for p, (own, other) in zip(places, spans, strict=True)
    ]  # fmt: skip
    front = sorted((p for p in places if p.on_front), key=lambda p: p.performance)
    steps = rows(performance=[p.performance for p in front], fairness=[p.fairness for p in front])
    away = [
        {**row, "group": label[p.model]}
        for p in places
        for row in rows(performance=[p.performance, 1.0], fairness=[p.fairness, 1.0])
    ]
    ax = axes.axes
    layers: list[Spec] = [
        *axes.utopia((1.0, 1.0)),
        {"data": inline(away), "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.5, "strokeDash": [2, 3]},
         "encoding": {**ax, "color": colour}},
        axes.path(steps, {"color": theme.AXIS, "strokeWidth": 2}),
        {"data": inline(points), "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.7},
         "encoding": {"x": {**ax["x"], "field": "low"}, "x2": {"field": "high"}, "y": ax["y"], "color": colour}},
        {"data": inline(points), "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.7},
         "encoding": {"y": {**ax["y"], "field": "worst"}, "y2": {"field": "best"}, "x": ax["x"], "color": colour}},
        {"data": inline(points), "mark": {"type": "circle", "size": 110, "opacity": 1, "tooltip": True},
         "encoding": {**ax, "color": colour}},
    ]  # fmt: skip
    title = f"Performance against fairness, by {shown_name(t.attribute)}"
    level = f"{100 * audit.candidates[0].audit.options.confidence:g}%"
    subtitle = f"Grey: the front. Dotted: the distance to the utopia point. Lines through points: {level} intervals."
    columns = {
        "model": [p.model for p in t.places], "performance": [p.performance for p in t.places],
        "fairness": [p.fairness for p in t.places], "distance": [p.dto for p in t.places],
        "on the front": ["yes" if p.on_front else "no" for p in t.places],
    }  # fmt: skip
    note = f"{len(places)} models are drawn, {len(names)} of them coloured" if len(places) > len(names) else None
    body: Spec = {"width": SIDE, "height": SIDE, "layer": layers}
    return chart("tradeoff", title, subtitle, t.because, body, columns, [note])


def _title(id: str) -> str:
    m = find(id)
    return id if m is None else m.title


def _spans(audit: CandidateAudit, t: Tradeoff, place: Place) -> tuple[list[float], list[float]]:
    """Intervals of performance and of fairness (of the group that fares worst), as both are drawn."""
    candidate = next(c for c in audit.candidates if c.name == place.model)
    performance, m = PERFORMANCES[t.performance], find(t.fairness)
    ci = candidate.performance[t.performance].ci
    own = [place.performance] * 2 if ci is None else sorted(float(performance.goodness(np.asarray(e))) for e in ci)
    attribute = next(a for a in candidate.audit.attributes if a.name == t.attribute)
    gap = next((g for g in attribute.measures if g.id == t.fairness and g.group == place.group), None)
    if m is None or gap is None or gap.ci is None:
        return own, [place.fairness] * 2
    parity = 1.0 if m.scale == "ratio" else 0.0
    ends = [float(distance(m, e)) for e in gap.ci] + ([0.0] if gap.ci[0] <= parity <= gap.ci[1] else [])
    return own, [1 - max(ends), 1 - min(ends)]


CHARTS = {
    "tradeoff": Kind(tradeoff, _lacks),
    "pdf": Kind(lambda s: panels.pdf(s.panels), lambda s: panels.lacks("pdf", s.panels)),
    "cdf": Kind(lambda s: panels.cdf(s.panels), lambda s: panels.lacks("cdf", s.panels)),
}
