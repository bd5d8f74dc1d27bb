"""The gap in each stratum beside the pooled one and that of everybody together."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.analyses.audit.charts.subject import Subject
from evenhand.analyses.audit.strata.compared import Within
from evenhand.analyses.audit.strata.rates import PooledRate
from evenhand.errors import shown_name
from evenhand.inference.interval import difference, wilson
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import (
    Spec,
    bracketed,
    chart,
    coloured,
    inline,
    labels,
    ordered,
    quantitative,
    rows,
    zero,
)
from evenhand.report.format import number

KINDS = ("one stratum", "all strata, pooled", "everybody together")
MOST_STRATA = 30
WIDTH, NAMES, STEP = 300, 170, 20


def told(s: Subject) -> PooledRate | None:
    """What there is to draw: the selection rate of the group within strata."""
    within = s.attribute.within
    own = [] if within is None else [one for one in within.rates if one.group == s.group]
    return next((one for one in own if one.rate == "selection_rate" and one.risk_difference is not None), None)


def strata(s: Subject) -> Chart:
    """A point for each stratum with the interval of its own people, one for all of them, and the crude one."""
    within, one = s.attribute.within, told(s)
    assert within is not None
    assert one is not None
    assert one.risk_difference is not None
    drawn, left = _strata(within, s, one)
    pooled, confidence = one.risk_difference, s.audit.options.confidence
    names, values, ends = [n for n, _, _ in drawn], [v for _, v, _ in drawn], [e for _, _, e in drawn]
    last = [KINDS[1], KINDS[2]] if one.crude is not None else [KINDS[1]]
    values += [pooled.value] + ([] if one.crude is None else [one.crude])
    crude = next((g.ci for g in s.attribute.measures if (g.id, g.group) == ("demographic_parity", s.group)), None)
    ends += [pooled.ci] + ([] if one.crude is None else [crude])
    kinds = [KINDS[0]] * len(names) + last
    names += [_unlike(kind, names) for kind in last]
    a, b = (shown_name(g, 30) for g in (s.group, s.reference))
    description = (
        f"The selection rate of {a} minus that of {b} is {number(pooled.value, sign=True)}"
        f"{bracketed(pooled.ci, True)} pooled over strata of {shown_name(within.name)}"
        + ("." if one.crude is None else f", and {number(one.crude, sign=True)} for everybody together.")
    )
    return chart(
        "strata", f"Within {shown_name(within.name, 40)}: {a} against {b}",
        f"Difference in selection rates, with {100 * confidence:g}% intervals.",
        description, _body(names, values, ends, kinds),
        {"stratum": names, "difference": values, "low": [None if e is None else e[0] for e in ends],
         "high": [None if e is None else e[1] for e in ends]},
        [left],
    )  # fmt: skip


def _unlike(kind: str, names: list[str]) -> str:
    """A name that no stratum has."""
    return kind if kind not in names else _unlike(f"{kind} *", names)


def _strata(
    within: Within, s: Subject, one: PooledRate
) -> tuple[list[tuple[str, float, tuple[float, float] | None]], str | None]:
    """The largest strata that have both groups: name, gap, interval; and how many are not drawn."""
    g, r = within.groups.index(s.group), within.groups.index(s.reference)
    there = [k for k, d in enumerate(one.differences) if np.isfinite(d)]
    most = sorted(there, key=lambda k: -(within.strata[k].people[g] + within.strata[k].people[r]))[:MOST_STRATA]
    shown = labels([within.strata[k].name for k in sorted(most)])
    found: list[tuple[str, float, tuple[float, float] | None]] = []
    for k in sorted(most):
        stratum = within.strata[k]
        p, q = (stratum.rates["selection_rate"][i] for i in (g, r))
        limits = [wilson(x, stratum.people[i], s.audit.options.confidence) for x, i in ((p, g), (q, r))]
        low, high = difference(p, limits[0], q, limits[1])
        found.append((shown[stratum.name], one.differences[k], (float(low), float(high))))
    rest = len(within.strata) - len(found)
    return found, f"{rest:,} strata, smaller or without one of the groups, are not drawn" if rest else None


def _body(names: list[str], values: list[float], ends: list[Any], kinds: list[str]) -> Spec:
    reach = [abs(x) for e, v in zip(ends, values, strict=True) for x in (v, *(e or ()))]
    most = min(max([0.02, *reach]) * 1.05, 1.0)
    y = ordered("stratum", names, title=None)
    y["axis"] = {
        "minExtent": NAMES, "maxExtent": NAMES, "labelLimit": NAMES - 10, "labelPadding": 8, "ticks": False,
        "domain": False,
    }  # fmt: skip
    x = quantitative("difference", "group minus reference", [-most, most])
    spans = [(n, e, k) for n, e, k in zip(names, ends, kinds, strict=True) if e is not None]
    colour = coloured(KINDS, [theme.MUTED, theme.GROUPS[0], theme.LIMIT], False, "kind")
    lines = rows(
        stratum=[n for n, _, _ in spans], difference=[max(e[0], -most) for _, e, _ in spans],
        end=[min(e[1], most) for _, e, _ in spans], kind=[k for _, _, k in spans],
    )  # fmt: skip
    points = rows(stratum=names, difference=values, kind=kinds)
    return {
        "width": WIDTH,
        "height": {"step": STEP},
        "layer": [
            zero("x", x),
            {"data": inline(lines), "mark": {"type": "rule", "strokeWidth": 2},
             "encoding": {"y": y, "x": x, "x2": {"field": "end"}, "color": colour}},
            {"data": inline(points), "mark": {"type": "point", "filled": True, "opacity": 1, "size": 55},
             "encoding": {"y": y, "x": x, "color": colour}},
        ],
    }  # fmt: skip
