"""Fairness over time: every measure in every period, its change against a baseline, and an alarm to be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from evenhand.analyses.audit.audit import Audit
from evenhand.analyses.monitor.change_points import Change, dated, unsteady
from evenhand.analyses.monitor.history import Alarm, History, Period, gaps_of
from evenhand.analyses.monitor.sequential import Rule, Yardstick
from evenhand.analyses.monitor.stream import Baseline, baseline_of, baseline_table, check_alike, merged, one_range, read
from evenhand.analyses.options import (
    MeasureArgs,
    Options,
    Watched,
    chosen_measures,
    options_of,
    watching,
    with_threshold,
)
from evenhand.errors import UsageError, is_whole, listed, number, one_of, shown
from evenhand.inference.resample import generator
from evenhand.inference.settings import IntervalArgs
from evenhand.ingest.engines import library_of
from evenhand.ingest.periods import every_of
from evenhand.ingest.roles import Roles, RolesArgs, check_known, picked
from evenhand.measures.registry import Measure, PracticeMeasure, find
from evenhand.report.result import Result, write
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.charts.chart import Chart
    from evenhand.report.charts.registry import Charts

SMALL = ("merge", "keep")
POWER = 0.8
"""How surely a change is found that a note calls possible to find."""


@dataclass(frozen=True)
class Settings:
    """How monitoring was asked for."""

    time: str | None
    every: str | None
    small: str
    rule: Rule


@dataclass(frozen=True, repr=False)
class Watch(Result):
    """A monitoring report. Print it, or take `to_dict`, `to_json`, `to_frame`, `plot`."""

    baseline: Audit
    baseline_name: str
    periods: tuple[Period, ...]
    alarms: tuple[Alarm, ...]
    options: Options
    settings: Settings
    left_out: Mapping[str, int]
    notes: tuple[str, ...]
    library: str | None = None
    changes: tuple[Change, ...] = ()
    """What the alarms are about: every change once, with its date."""

    def to_html(self, path: str | Path | None = None) -> str:
        """The report as one self-contained page, also written to a file if a path is given."""
        from evenhand.analyses.monitor.page import monitoring_page

        return write(monitoring_page(self.to_dict()), path)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per period, attribute, measure and group."""
        from evenhand.analyses.monitor.document import frame

        return frame(self, library)

    def plot(self, measure: str | None = None, group: str | None = None, *, attribute: str | None = None) -> Chart:
        """A measure of one group over all periods; by default the first that has changed, else the first there is.

        >>> import evenhand
        >>> months = {name: evenhand.compas() for name in ("2024-01", "2024-02")}
        >>> evenhand.monitor(months, measures=["demographic_parity"], baseline=1).plot().title
        'Demographic parity over time: Caucasian against African-American'
        """
        return self.charts(group=group, attribute=attribute).draw(measure)

    def charts(self, **about: Any) -> Charts:
        """One for each measure, by its id."""
        from evenhand.analyses.monitor.charts import charts

        return charts(self.to_dict(), **about)


class MonitorArgs(RolesArgs, IntervalArgs, MeasureArgs, total=False):
    """Columns, intervals and conventions of scores, for signatures."""


def monitor(
    data: Any,
    *,
    time: Any = None,
    every: str | int | None = None,
    baseline: Any = None,
    threshold: float | str | None = None,
    reference: str | Mapping[str, str] | None = None,
    measures: Sequence[str] | None = None,
    looks: int = 200,
    false_alarms: float = 0.05,
    small: str = "merge",
    min_people: int = 30,
    progress: Watched = None,
    **options: Unpack[MonitorArgs],
) -> Watch:
    """Monitor fairness over time: every measure in every period, and an alarm when a gap is no longer what it was.

    Parameters
    ----------
    data
        Rows with their columns, as in `evenhand.data`, and `time`; or one saved table for each period: a
        folder, a pattern, a list of files, or a dict from the name of a period to its `Table`.
    time, every
        The column that tells when, and how long a period is: "day", "week", "month" (the default), "quarter", "year",
        a number of rows in order of time ("1000-rows"), or "value" if each value of the column is a period.
    baseline
        What periods are compared with: a number of first periods, the name of a period, ("first", "last") or
        "first..last", or a `Table` (or the file of one). By default as many first periods as hold 5,000 people of every
        group, at most 12.
    looks, false_alarms
        How many periods will be looked at in all, and the chance of a false alarm in all of them together.
    small, min_people
        Periods in which an attribute has fewer than two groups of so many people are put together with the next
        ("merge"), or left as they are ("keep"). Smaller groups are not tested, but those of several periods are.
    threshold, top, reference, exclude_below, measures, ranks, calibration_bins, bandwidth, tolerance
        As in `evenhand.audit`. The baseline decides who is the largest group, or the highest, which groups are
        excluded, and what threshold the median, a quantile or the best so many mean.
    confidence, bootstrap, rng
        Intervals and tests: see `evenhand.Inference`. There are 199 resamples by default.

    Examples
    --------
    >>> import evenhand, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> n, month = 24_000, np.arange(24_000) // 1000
    >>> sex = rng.choice(["f", "m"], n)
    >>> falls = 0.15 * ((month >= 16) & (sex == "f"))
    >>> data = {"hired": (rng.random(n) < 0.5 - falls).astype(int), "sex": sex, "month": month}
    >>> report = evenhand.monitor(data, time="month", every="value", prediction="hired", group="sex", reference="m",
    ...                           measures=["demographic_parity"], baseline=8)
    >>> [(a.id, a.period, a.direction) for a in report.alarms]
    [('demographic_parity', '16', 'worse')]
    >>> [(c.since, c.interval, c.direction) for c in report.changes]
    [('16', ('16', '16'), 'worse')]
    """
    check_known(options, MonitorArgs.__optional_keys__, monitor)
    settings = options_of({"bootstrap": 199, **options}, threshold, permutations=0)
    chosen = chosen_measures(measures)
    rule = checked_rule(looks, false_alarms, small, min_people)
    if time is None and every is not None:
        raise UsageError(f"every={shown(every)} needs to know when: name the time column (--time)")
    length = every_of("month" if every is None else every)
    roles = picked(Roles, options)
    elsewhere = baseline_table(baseline)
    if elsewhere is not None and roles.depth is not None:
        elsewhere = elsewhere.crossed(roles.depth)
    stream = read(data, time, length, roles)
    spans, elsewhere, remarks = one_range(stream.spans, elsewhere)
    spans = merged(spans, rule.min_people) if small == "merge" else list(spans)
    start = baseline_of(spans, baseline) if elsewhere is None else Baseline(elsewhere, "the table given", 0, 0)
    if elsewhere is not None and spans:
        check_alike(start.table, spans[0].table, "the baseline and the periods")
    settings, more = with_threshold(replace(settings, brief=True), start.table)
    how = Settings(
        None if time is None else time if isinstance(time, str) else "time",
        None if time is None or isinstance(data, Table) else str(length), small, rule,
    )  # fmt: skip
    with watching(progress) as tell:
        work = History(spans, start, settings, chosen, reference, rule, generator(options.get("rng")), tell)
        periods, alarms, first = work.done()
    before = dict(gaps_of(first))
    early = unsteady(periods, alarms, before, rule.false_alarms, settings.confidence)
    alarms, changes = dated(periods, alarms, before, rule.false_alarms, settings.confidence)
    more += _untested(chosen)
    told = _remarks(periods, start, how, first, work.yardsticks)
    notes = (*stream.notes, *remarks, *more, *work.notes, *filter(None, [early]), *told)
    return Watch(
        first, start.name, periods, alarms, settings, how, dict(stream.left_out or {}),
        tuple(dict.fromkeys(notes)), library_of(data), changes,
    )  # fmt: skip


def _untested(chosen: Sequence[Measure]) -> list[str]:
    """Measures that are shown and not tested."""
    names = [m.id for m in chosen if isinstance(m, PracticeMeasure)]
    return [f"shown in every period, but not tested for changes: {listed(names)}"] if names else []


def _blind(first: Audit, rule: Rule) -> Iterator[str]:
    """The change that a baseline hides because it is small, where that is more than a gap may be at all."""
    from scipy.special import ndtri

    gaps = [g for a in first.attributes for g in a.measures if g.undefined is None]
    tests = len(gaps) * len(rule.windows) * rule.looks
    needed = float(ndtri(1 - rule.false_alarms / (2 * max(tests, 1))) + ndtri(POWER))
    hidden = {}
    for g in gaps:
        measure = find(g.id)
        if g.ci is not None and measure is not None and measure.signed and None not in g.ci:
            noise = (g.ci[1] - g.ci[0]) / (2 * float(ndtri((1 + first.options.confidence) / 2)))
            hidden[g] = needed * noise - g.tolerance
    if hidden and max(hidden.values()) > 0:
        worst = max(hidden, key=lambda g: hidden[g])
        change = hidden[worst] + worst.tolerance
        yield (
            f"with this baseline, changes of {worst.id} of {shown(worst.group)} smaller than about {change:.2f} may "
            "never be found: take a larger one (--baseline), or fewer measures"
        )


def checked_rule(looks: Any, false_alarms: Any, small: Any, min_people: Any) -> Rule:
    """When to raise an alarm, if that makes sense."""
    if not is_whole(looks) or not 1 <= looks <= 1_000_000:
        raise UsageError(f"looks must be a whole number from 1 to a million, not {shown(looks)}")
    if not 0 < number(false_alarms) <= 0.5:
        raise UsageError(f"false_alarms is a chance above 0 and at most 0.5, such as 0.05, not {shown(false_alarms)}")
    one_of("small", small, SMALL)
    if not is_whole(min_people) or not 2 <= min_people <= 10**9:
        raise UsageError(f"min_people must be a whole number from 2, not {shown(min_people)}")
    return Rule(int(looks), float(false_alarms), int(min_people))


def _remarks(
    periods: Sequence[Period], start: Baseline, settings: Settings, first: Audit, yardsticks: Sequence[Yardstick]
) -> Iterator[str]:
    """Warnings."""
    rule = settings.rule
    tested = [p for p in periods if p.status == "tested"]
    together = [p for p in periods if p.members]
    waiting = [p for p in periods if p.status == "waiting"]
    if not tested:
        yield (
            f"every period belongs to the baseline ({start.name}), so no change was looked for: name a shorter one "
            f"(baseline=1, --baseline FIRST..LAST), or wait for more periods"
        )
    yield from _blind(first, rule)
    if together:
        yield f"too small alone, and put together: {listed([p.name for p in together])}"
    if waiting:
        yield f"waits for more rows and was not looked at yet: {listed([p.name for p in waiting])}"
    if settings.small == "keep":
        small = [p.name for p in periods if len(p.too_small) and p.status != "waiting"]
        if small:
            yield f"groups of fewer than {rule.min_people} people, in: {listed(small)}"
    if len(tested) > rule.looks:
        yield (
            f"{len(tested):,} periods were looked at, more than the {rule.looks:,} planned, so false alarms are no "
            "longer kept to what was promised: go on with a newer baseline, or plan more looks (--looks)"
        )
    new = list(dict.fromkeys(g for p in periods for g in p.new))
    if new:
        yield (
            f"not in the baseline, so shown but not tested: {listed(new)}; take a newer baseline that has them "
            "(--baseline)"
        )
    undefined = [p.name for p in periods if p.undefined]
    if undefined:
        yield f"nothing could be compared in: {listed(undefined)}"
    if start.table.clustered:
        yield "rows of one cluster in several periods are taken for different ones"
    for y in yardsticks:
        if y.untested_scores:
            why = "there are no resamples" if not first.options.bootstrap else f"it has {len(y.groups):,} groups"
            yield f"changes at score level were not tested by {shown(y.name)}: {why}"
