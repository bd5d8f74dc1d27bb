"""What a chart is about: an attribute of an audit, the groups that are drawn, and the pair that is compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.audit.curves import Curves, curves
from evenhand.errors import UsageError, listed, nearest, same, shown, shown_name, unknown
from evenhand.ingest.values import name_of
from evenhand.report.charts import theme
from evenhand.report.charts.layers import Spec, bracketed, coloured, labels, layer, quantitative
from evenhand.report.format import number
from evenhand.tables.arrays import Floats

if TYPE_CHECKING:
    from evenhand.analyses.audit.attribute import AttributeAudit
    from evenhand.analyses.audit.audit import Audit
    from evenhand.analyses.audit.gaps import Gap
    from evenhand.tables.table import Table

FEWEST_POINTS, MOST_POINTS, ALL_POINTS = 60, 200, 640
"""Of one curve, and of all curves of a chart together: a specification stays small enough for a page."""
CALIBRATION_BINS = 10
DENSITY_BINS = 40
DENSITIES = ("pdf", "pdf_by_outcome")
MOST_OFF = 0.2
"""Densities of people in steps are drawn if they are nowhere off by more than this share of the highest point."""
VALLEY = 0.8
"""A valley is lower than this share of the peaks beside it."""
FURTHEST_BY = ("abcc", "independence_uniform", "demographic_parity", "delta_dp_b")
MOST_LISTED = 40
MOST_TICKS = 20

Line = tuple[Floats, Floats]


@dataclass(frozen=True)
class Subject:
    """One attribute of an audit, and the group that is compared with its reference."""

    audit: Audit
    attribute: AttributeAudit
    group: str
    given: bool
    """Whether the user named the group."""
    measure: str | None = None
    """The one whose null distribution is drawn."""
    counts: Table | None = None
    """What may be told of scores, where that is not all that the audit knows,"""
    known: frozenset[str] | None = None
    """and of which groups; None of all."""

    @property
    def reference(self) -> str:
        return self.attribute.reference

    @property
    def _reference(self) -> dict[str, str]:
        """The reference by attribute, as an intersection of attributes needs it."""
        grouping = self.table.grouping(self.attribute.name)
        return dict(zip(grouping.attributes, grouping.members[grouping.groups.index(self.reference)], strict=True))

    @property
    def table(self) -> Table:
        return self.audit.table if self.counts is None else self.counts

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """The groups that get a colour: the reference, the group of the pair, and those furthest from the reference."""
        others = [self.group, *(g for g in furthest(self.attribute) if g != self.group)]
        others = [g for g in others if self.known is None or g in self.known]
        kept = set(others[: theme.MOST_COLOURED - 1])
        return self.reference, *(g.name for g in self.attribute.groups if g.name in kept)

    @cached_property
    def label(self) -> dict[str, str]:
        """What each group that may be drawn is called."""
        return labels(dict.fromkeys([*self.drawn, *self.listed]))

    @cached_property
    def listed(self) -> list[str]:
        """The reference and those furthest from it, as many as a list can hold."""
        return [self.reference, *furthest(self.attribute)][:MOST_LISTED]

    @cached_property
    def colour(self) -> dict[str, str]:
        return dict(zip(self.drawn, (theme.REFERENCE, *theme.GROUPS), strict=False))

    @property
    def pair(self) -> tuple[str, str]:
        """How the group and its reference are called."""
        return self.label[self.group], self.label[self.reference]

    @property
    def crowded(self) -> bool:
        """Whether there are so many groups that the pair has to stand out from the others."""
        return len(self.drawn) > 4

    @property
    def left_out(self) -> str | None:
        """The remark that not every group is drawn."""
        count = len(self.attribute.groups)
        if count == len(self.drawn):
            return None
        if self.known is not None and len(self.known) == len(self.drawn):
            few = count - len(self.drawn)
            return f"{few:,} {'group has' if few == 1 else 'groups have'} too few people to be drawn here"
        return f"of {count:,} groups the reference and the {len(self.drawn) - 1} furthest from it are drawn"

    @cached_property
    def in_steps(self) -> str | None:
        """The remark that a page tells scores in steps only."""
        own, told = self.audit.table.score, self.table.score
        if own is None or told is None or np.array_equal(np.unique(own), np.unique(told)):
            return None
        return "this page tells scores in steps: people are drawn in the middle of theirs"

    # ---- the score ------------------------------------------------------------------------------------------

    @property
    def range(self) -> tuple[float, float]:
        return self.table.score_range

    @property
    def score(self) -> str:
        return shown_name(self.table.meaning.score or "score")

    @property
    def threshold(self) -> float | None:
        """Where decisions are made, if it is on the axis."""
        t = self.audit.options.threshold
        return t if t is not None and self.range[0] <= t <= self.range[1] else None

    @cached_property
    def few(self) -> bool:
        """Whether there are so few scores that every one of them is drawn, as a step."""
        return self.scores <= self.points

    @cached_property
    def scores(self) -> int:
        """How many different scores there are."""
        score = self.table.score
        return 0 if score is None else int(np.count_nonzero(np.diff(score))) + 1  # they are sorted

    @property
    def points(self) -> int:
        return max(FEWEST_POINTS, min(MOST_POINTS, ALL_POINTS // len(self.drawn)))

    # ---- what is known --------------------------------------------------------------------------------------

    def gap(self, id: str) -> Gap | None:
        """The pair by one measure, if the audit has it and it is defined."""
        gaps = (g for g in self.attribute.measures if g.id == id and g.group == self.group)
        return next((g for g in gaps if not g.undefined), None)

    @cached_property
    def curves(self) -> Curves:
        """The curves of the groups drawn. All charts of a subject share them."""
        return self._curves(self.table)

    @cached_property
    def _exact(self) -> Curves:
        """The same of the scores themselves, where people are drawn in steps."""
        return self._curves(self.audit.table)

    def _curves(self, table: Table) -> Curves:
        scores = self.audit.options.scores
        return curves(
            table, self.attribute.name, groups=list(self.drawn[1:]), reference=self._reference,
            points=self.points, ranks=scores.ranks, calibration_bins=CALIBRATION_BINS, bandwidth=scores.bandwidth,
            density_bins=min(self.scores, DENSITY_BINS),
        )  # fmt: skip

    def columns(self, name: str, **where: str) -> dict[str, Any]:
        """A curve as columns, only the rows that agree."""
        curve = self.curves.columns(name)
        keep = np.ones(len(curve["group"]), np.bool_)
        for column, value in where.items():
            keep &= curve[column] == value
        return {column: values[keep] for column, values in curve.items()}

    def lines(self, name: str, x: str, y: str, **where: str) -> dict[str, Line]:
        """A curve of every group drawn that has one."""
        curves = {g: self.columns(name, group=g, **where) for g in self.drawn}
        return {g: (c[x], c[y]) for g, c in curves.items() if len(c[x])}

    def off(self, name: str) -> str | None:
        """The remark that a curve is drawn with fewer points than it has, or of people in steps of scores."""
        error = self.curves.max_error.get(name, 0.0)
        if self.in_steps and name in DENSITIES:
            return f"off by up to {at_most(self._off_by_steps(name))} from the densities of the scores themselves"
        if error < 1e-6:
            return None
        return f"drawn with at most {self.points} points per curve, none off by more than {at_most(error)}"

    def _off_by_steps(self, name: str) -> float:
        """How far densities of people in steps are from those of their scores, at the points drawn."""
        exact, error = self._exact.columns(name), 0.0
        for group in self.drawn:
            for given in {*self.columns(name).get("given", ())} or {None}:
                where = {"group": group} if given is None else {"group": group, "given": given}
                drawn = self.columns(name, **where)
                here = np.all([exact[column] == value for column, value in where.items()], axis=0)
                if len(drawn["score"]) and here.any():
                    there = np.interp(drawn["score"], exact["score"][here], exact["density"][here])
                    error = max(error, float(np.abs(there - drawn["density"]).max()))
        return error

    def misleading(self, name: str) -> str | None:
        """Why densities would show peaks that are none, if they would."""
        if self.in_steps:
            exact = self._exact.columns(name)["density"]
            if self._off_by_steps(name) > MOST_OFF * float(exact.max(initial=0.0)):
                return "cannot be drawn on this page: it tells scores in steps, too wide for densities"
        elif self.few and any(self._apart(x, y) for x, y in self._densities(name)):
            return (
                "would have a peak at every score and valleys where nobody can be: these scores are too few to smooth"
            )
        return None

    def _densities(self, name: str) -> Iterator[Line]:
        for group in self.drawn:
            for given in {*self.columns(name).get("given", ())} or {None}:
                drawn = self.columns(name, group=group, **({} if given is None else {"given": given}))
                if len(drawn["score"]):
                    yield drawn["score"], drawn["density"]

    def _apart(self, x: Floats, y: Floats) -> bool:
        """Whether a density falls between most neighbouring scores, where it is not small."""
        score = np.unique(self.table.score) if self.table.score is not None else np.empty(0)
        at, middle = np.interp(score, x, y), np.interp((score[1:] + score[:-1]) / 2, x, y)
        lower, weight = np.minimum(at[1:], at[:-1]), at[1:] + at[:-1]
        return bool(weight[middle < VALLEY * lower].sum() > weight.sum() / 2)

    def thinned(self, name: str) -> str | None:
        """The remark that a curve has more points than are drawn."""
        error = self.curves.max_error.get(name, 0.0)
        if self.few or not error:
            return None
        most = at_most(error)
        return f"drawn at {self.points} of {self.scores:,} scores at most; no curve is off by more than {most} there"

    # ---- layers of charts over the score ---------------------------------------------------------------------

    def group_lines(self, values: list[dict[str, Any]], encoding: Spec, **mark: Any) -> list[Spec]:
        """A line for each group; among many groups the two that are compared stand out."""
        if not self.crowded:
            return [layer(values, "line", encoding, **mark)]
        others = [row for row in values if row["group"] not in self.pair]
        pair = [row for row in values if row["group"] in self.pair]
        return [layer(v, "line", encoding, **{**mark, "strokeWidth": w}) for v, w in ((others, 1.2), (pair, 3))]

    def group_colour(self, groups: Iterable[str], legend: bool = True) -> Spec:
        chosen = list(groups)
        return coloured([self.label[g] for g in chosen], [self.colour[g] for g in chosen], legend)

    def score_axis(self, field: str = "score", shown: bool = True) -> Spec:
        """The score from end to end of its range."""
        if not shown:
            return quantitative(field, None, self.range, labels=False, ticks=False, **self._ticks())
        remarks = ["a risk: lower is better"] if self.table.meaning.risk else []
        remarks += [] if self.threshold is None else ["dashed: the threshold"]
        title = f"{self.score} ({'; '.join(remarks)})" if remarks else self.score
        return quantitative(field, title, self.range, **self._ticks())

    def _ticks(self) -> Spec:
        """Numbers in full unless they are very long; integer scores at integers."""
        lo, hi = self.range
        plain = max(abs(lo), abs(hi)) < 1e7 and hi - lo > 1e-5
        ticks: Spec = {"format": ",~r" if plain else "~g"}
        score = self.table.score
        if self.scores <= MOST_TICKS and score is not None and bool((np.mod(score, 1) == 0).all()):
            ticks["values"] = sorted(set(score.tolist()))
        return ticks

    def threshold_line(self, x: Spec) -> list[Spec]:
        """The line at the threshold, which a page may move: it is of class threshold."""
        if self.threshold is None:
            return []
        here = [{"score": self.threshold}]
        line = layer(here, "rule", {"x": x}, strokeDash=[5, 4], color=theme.INK, opacity=0.7)
        return [{"name": "threshold", **line}]

    def marker(self, width: int = theme.WIDTH) -> dict[str, Any] | None:
        """What a page has to know to move the line."""
        if self.threshold is None:
            return None
        return {"lo": self.range[0], "hi": self.range[1], "width": width, "at": self.threshold}


def at_most(error: float) -> str:
    """A bound with one digit, never less than it is.

    >>> at_most(0.00204), at_most(0.3), at_most(1e-9)
    ('0.003', '0.3', '0.000001')
    """
    if error < 1e-6:
        return "0.000001"
    digits = -math.floor(math.log10(error))
    return f"{math.ceil(error * 10**digits - 1e-9) / 10**digits:g}"


def subject(audit: Audit, attribute: Any = None, group: Any = None, measure: Any = None) -> Subject:
    """What was asked for, if the audit has it; by default the first attribute and the furthest group."""
    names = [a.name for a in audit.attributes]
    if attribute is not None and not any(same(attribute, one) for one in names):
        raise unknown("this audit has no attribute", attribute, names)
    about = audit.attributes[0 if attribute is None else names.index(attribute)]
    groups = [g.name for g in about.groups]
    name = furthest(about)[0] if group is None else name_of(group)
    if name is None or name not in groups:
        raise UsageError(
            f"{shown(group)} is not a group of {shown(about.name)} (there are: {listed(groups)}){nearest(name, groups)}"
        )
    if group is not None and name == about.reference:
        raise UsageError(f"{shown(group)} is the reference, with which others are compared: name another group")
    return Subject(audit, about, name, group is not None, measure)


def furthest(attribute: AttributeAudit) -> list[str]:
    """The groups other than the reference, the furthest from it first; those too small to tell come last."""
    there = {g.id for g in attribute.measures}
    by = next((id_ for id_ in FURTHEST_BY if id_ in there), None)
    away = {g.group: g.value for g in attribute.measures if g.id == by and not g.undefined}
    others = [g.name for g in attribute.groups if g.name != attribute.reference]
    return sorted(others, key=lambda name: (name in attribute.too_small, -away.get(name, -1.0)))


def measured(gap: Gap | None) -> str:
    """A measure with its interval and its null 95 %."""
    if gap is None:
        return ""
    text = f"{gap.measure.title} {number(gap.estimate)}{bracketed(gap.ci)}"
    if gap.null is not None and np.isfinite(gap.null.high):
        text += f"; null 95% {number(gap.null.high)}"
    return text
