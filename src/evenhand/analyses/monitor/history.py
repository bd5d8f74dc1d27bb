"""What happened in every period: its audit, its change against the baseline, and the alarms that this raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from evenhand.analyses.audit.audit import Audit, audit_table
from evenhand.analyses.audit.gaps import Gap, undefined_gap
from evenhand.analyses.audit.unreliable import excluded
from evenhand.analyses.monitor.sequential import Finding, Key, Rule, Yardstick, findings
from evenhand.analyses.monitor.stream import Baseline, Span
from evenhand.analyses.options import Options, Progress
from evenhand.analyses.reference import HIGHEST, Pinned, comparable, reference_group
from evenhand.errors import shown_name
from evenhand.inference import interval
from evenhand.measures.registry import Measure
from evenhand.tables.arrays import Pair
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table


@dataclass(frozen=True)
class Comparison:
    """One measure of one group in one period, beside the baseline."""

    attribute: str
    gap: Gap
    change: float | None = None
    """From the baseline to this period, of the gap with its sign where it has one."""
    ci_change: Pair | None = None
    finding: Finding | None = None
    """What the look at this period says; None if nothing was tested."""
    alarm: bool = False


@dataclass(frozen=True)
class Period:
    """What happened in one period."""

    name: str
    members: tuple[str, ...]
    """The periods that were put together, if it was too small alone."""
    rows: int
    left_out: int
    status: str
    """before, baseline, tested; or waiting, if it is too small or has not all its rows."""
    look: int | None
    """The how many-th look this was."""
    comparisons: tuple[Comparison, ...]
    too_small: tuple[str, ...] = ()
    """Groups of fewer people than are looked at."""
    missing: tuple[str, ...] = ()
    """Groups of the baseline that nobody belongs to."""
    new: tuple[str, ...] = ()
    """Groups that nobody of the baseline belongs to."""
    undefined: str | None = None
    """Why there is nothing to compare."""


@dataclass(frozen=True)
class Alarm:
    """A gap that is another one than in the baseline."""

    attribute: str
    id: str
    group: str
    reference: str
    period: str
    """When it was raised."""
    since: str
    """The most likely first period of the change."""
    window: int
    """So many periods up to that one show it together."""
    direction: str
    """worse or better: further from parity, or nearer to it."""
    before: float | None
    after: float | None
    change: float | None
    ci_change: Pair | None
    p_value: float
    p_adjusted: float
    last: str
    """The last period at which it was (still) seen."""
    looks: int
    """At how many looks."""
    window_start: str
    """The first period of the window that shows it."""


REGRESSES = (
    "the reference is the group that was selected most often in the baseline, which was partly luck if others were "
    "close: gaps of later periods may be a little smaller for that alone"
)


class History:
    """The audits and looks of a monitoring report."""

    def __init__(
        self,
        spans: Sequence[Span],
        start: Baseline,
        options: Options,
        chosen: list[Measure],
        reference: Any,
        rule: Rule,
        rng: np.random.Generator,
        progress: Progress,
    ) -> None:
        self.spans, self.start, self.options, self.chosen = spans, start, options, chosen
        self.rule, self.progress = rule, progress
        self.audits, self.testing, own = rng.spawn(3)
        groupings, self.notes = comparable(start.table)
        excluded_of = {g.name: excluded(start.table, g, options.exclude_below) for g in groupings}
        self.references, chosen_highest = _references(start.table, groupings, reference, options.threshold, excluded_of)
        if chosen_highest:
            self.notes.append(REGRESSES)
        names = {g.name: [g.groups[place] for place in excluded_of[g.name]] for g in groupings}
        self.pinned = Pinned(self.references, names)
        self.yardsticks = [
            Yardstick(
                start.table, g, g.groups.index(self.references[g.name]), chosen, options, random, self._parts(),
                names[g.name],
            )
            for g, random in zip(groupings, own.spawn(len(groupings)), strict=True)
        ]  # fmt: skip

    def done(self) -> tuple[tuple[Period, ...], tuple[Alarm, ...], Audit]:
        self.progress(0.0, "auditing the baseline")
        (random,) = self.audits.spawn(1)
        first = audit_table(self.start.table, self.options, self.chosen, self.pinned, random)
        before = dict(gaps_of(first))
        looked = [s for s in self.spans[self.start.stop :] if s.finished]
        found = findings(self.yardsticks, [s.table for s in looked], self.rule, self.testing)
        periods = []
        alarms: dict[tuple[Key, str], Alarm] = {}
        look = 0
        for i, span in enumerate(self.spans):
            self.progress(i / len(self.spans), f"looking at {shown_name(span.name)}")
            status = self._status(i, span)
            finding: dict[Key, Finding] = {}
            if status == "tested":
                look += 1
                finding = next(found)
            (random,) = self.audits.spawn(1)
            raised = self._raise(alarms, i, finding, before)
            period = self._period(span, status, look if status == "tested" else None, finding, raised, before, random)
            periods.append(period)
        return tuple(periods), tuple(alarms.values()), first

    def _parts(self) -> list[Table]:
        """The periods of the baseline."""
        inside = [s.table for s in self.spans if s.finished][self.start.first : self.start.stop]
        return inside if len(inside) > 1 else []

    def _status(self, place: int, span: Span) -> str:
        if not span.finished:
            return "waiting"
        return "before" if place < self.start.first else "baseline" if place < self.start.stop else "tested"

    def _gaps(
        self, table: Table, rng: np.random.Generator, chosen: list[Measure] | None = None
    ) -> Iterator[tuple[Key, Gap]]:
        """Every comparison of a table; those with a reference that nobody belongs to are undefined."""
        measures = chosen or self.chosen
        reasons = {y.name: self._undefined(table, y) for y in self.yardsticks}
        defined = {name: measures for name, because in reasons.items() if because is None}
        yield from gaps_of(audit_table(table, self.options, defined, self.pinned, rng))
        for name, because in reasons.items():
            reference = self.references[name]
            for m in measures if because is not None else ():
                for group in table.grouping(name).groups:
                    if group != reference:
                        yield (name, m.id, group), undefined_gap(m, group, reference, because or "")

    def _period(
        self,
        span: Span,
        status: str,
        look: int | None,
        finding: dict[Key, Finding],
        raised: set[Key],
        before: dict[Key, Gap],
        rng: np.random.Generator,
    ) -> Period:
        table = span.table
        reasons = [self._undefined(table, y) for y in self.yardsticks]
        undefined = reasons[0] if all(reasons) else None
        comparisons: tuple[Comparison, ...] = ()
        if undefined is None:
            later = status in ("tested", "before", "waiting")
            comparisons = tuple(
                Comparison(
                    key[0], gap, *changed(before.get(key) if later else None, gap), finding.get(key), key in raised
                )
                for key, gap in self._gaps(table, rng)
            )
        few, missing, new = self._sizes(table)
        return Period(
            span.name, span.members if len(span.members) > 1 else (), table.rows, span.left_out, status, look,
            comparisons, few, missing, new, undefined,
        )  # fmt: skip

    def _undefined(self, table: Table, yardstick: Yardstick) -> str | None:
        """Why the groups of a period cannot be compared."""
        groups, reference = table.grouping(yardstick.name).groups, self.references[yardstick.name]
        if reference not in groups:
            return f"because nobody is in {shown_name(reference)}, the reference of {shown_name(yardstick.name)}"
        if len(groups) < 2:
            return f"because {shown_name(yardstick.name)} has only {shown_name(reference)}"
        return None

    def _sizes(self, table: Table) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Groups of few people, those of the baseline that are missing, and those that the baseline does not have."""
        few, missing, new = [], [], []
        for grouping in table.groupings[: len(table.attributes)]:
            sizes = dict(zip(grouping.groups, table.sizes(grouping).tolist(), strict=True))
            few += [g for g, n in sizes.items() if n < self.rule.min_people]
            known = next(y.groups for y in self.yardsticks if y.name == grouping.name)
            missing += [g for g in known if g not in sizes]
            new += [g for g in sizes if g not in known]
        return tuple(few), tuple(missing), (*new, *self._combined(table, new))

    def _combined(self, table: Table, new: Sequence[str]) -> list[str]:
        """Intersectional groups that the baseline does not have, though it has all their parts."""
        found = []
        for yardstick in self.yardsticks:
            grouping = table.grouping(yardstick.name)
            named = zip(grouping.groups, grouping.members, strict=True) if len(grouping.attributes) > 1 else ()
            found += [g for g, parts in named if g not in yardstick.groups and not set(parts) & set(new)]
        return found

    def _raise(
        self, alarms: dict[tuple[Key, str], Alarm], place: int, finding: dict[Key, Finding], before: dict[Key, Gap]
    ) -> set[Key]:
        """New alarms of a look, and old ones that are seen again; by which comparisons."""
        small = {k: f for k, f in finding.items() if f.p_adjusted <= self.rule.false_alarms and k in before}
        raised = set()
        name = self.spans[place].name
        for window in sorted({f.window for f in small.values()}):
            keys = [k for k, f in small.items() if f.window == window]
            spans = [s for s in self.spans[self.start.stop : place + 1] if s.finished][-window:]
            now = self._now(spans, keys)
            for key in keys:
                old, new = before[key], now.get(key)
                change, ci = changed(old, new)
                if new is None or change is None or (ci is not None and ci[0] <= 0 <= ci[1]):
                    continue  # nobody should hear of a change whose interval holds none
                raised.add(key)
                direction = _direction(old, new)
                known = alarms.get((key, direction))
                if known is not None:
                    alarms[key, direction] = replace(known, last=name, looks=known.looks + 1)
                    continue
                alarms[key, direction] = Alarm(
                    *key, new.reference, name, spans[0].name, window, direction, old.estimate, new.estimate, change, ci,
                    small[key].p_value, small[key].p_adjusted, name, 1, spans[0].name,
                )  # fmt: skip
        return raised

    def _now(self, spans: Sequence[Span], keys: Sequence[Key]) -> dict[Key, Gap]:
        """The exact gaps of a window."""
        table = reduce(lambda a, b: a + b, (s.table for s in spans))
        measures = [m for m in self.chosen if m.id in {k[1] for k in keys}]
        return dict(self._gaps(table, np.random.default_rng(0), measures))


def _references(
    table: Table,
    groupings: Sequence[Grouping],
    stated: Any,
    threshold: float | None,
    excluded_of: Mapping[str, Mapping[int, str]],
) -> tuple[dict[str, str], bool]:
    """Whom all periods are compared with: first of the single attributes, then of their intersections.

    And whether one of them was chosen as the highest.
    """
    found: dict[str, str] = {}
    highest = False
    alone: dict[str, str] = {}
    for grouping in groupings:
        asked = stated if len(grouping.attributes) == 1 else alone
        ref = reference_group(table, grouping, asked, threshold, excluded_of[grouping.name])
        found[grouping.name], highest = grouping.groups[ref.place], highest or ref.rule == HIGHEST
        if len(grouping.attributes) == 1:
            alone[grouping.name] = found[grouping.name]
    return found, highest


def gaps_of(audit: Audit) -> Iterator[tuple[Key, Gap]]:
    """Every comparison of an audit."""
    for a in audit.attributes:
        for gap in a.measures:
            yield (a.name, gap.id, gap.group), gap


def changed(old: Gap | None, new: Gap | None) -> tuple[float | None, Pair | None]:
    """From one gap to another, with an interval by square-and-add of both."""
    if old is None or new is None or new.undefined or old.undefined or old.reference != new.reference:
        return None, None
    a, b = new.estimate, old.estimate
    if new.ci is None or old.ci is None:
        return a - b, None
    # what no sample would change does not cancel out: only the rest is squared and added
    fixed = new.systematic, old.systematic
    of_new, of_old = (
        (np.asarray(min(ci[0] + off, x)), np.asarray(max(ci[1] - off, x)))
        for ci, x, off in zip((new.ci, old.ci), (a, b), fixed, strict=True)
    )
    lo, hi = interval.difference(a, of_new, b, of_old)
    return a - b, (float(lo) - sum(fixed), float(hi) + sum(fixed))


def _direction(old: Gap, new: Gap) -> str:
    further = new.size < old.size if new.scale == "ratio" else new.size > old.size
    return "worse" if further else "better"
