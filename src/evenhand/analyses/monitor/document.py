"""A monitoring report → its JSON document, and a dataframe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.errors import listed, shown_name
from evenhand.measures.registry import find
from evenhand.report.document import fields, header
from evenhand.report.format import p_words
from evenhand.report.frame import rows_frame

if TYPE_CHECKING:
    from evenhand.analyses.monitor.change_points import Change, Shift
    from evenhand.analyses.monitor.history import Alarm, Comparison, Period
    from evenhand.analyses.monitor.monitor import Watch


MOST_GROUPS = 4


def document(report: Watch) -> dict[str, Any]:
    """The whole report as plain values."""
    rule, options, table = report.settings.rule, report.options, report.baseline.table
    return {
        **header("monitor"),
        "data": {
            "rows": sum(p.rows for p in report.periods),
            "left_out": dict(report.left_out),
            "time": report.settings.time,
            "every": report.settings.every,
            **fields(table.meaning, "score label prediction weight cluster favorable favorable_prediction risk"),
            "threshold": options.threshold,
            "score_range": list(table.score_range) if table.score is not None else None,
        },
        "options": {
            **fields(rule, "looks false_alarms windows"),
            "small": report.settings.small,
            "min_people": rule.min_people,
            **fields(options, "confidence bootstrap seed"),
            "tolerance": dict(options.tolerance),
        },
        "baseline": {
            "name": report.baseline_name,
            "rows": table.rows,
            "references": {a.name: a.reference for a in report.baseline.attributes},
            "comparisons": [_gap(a.name, g) for a in report.baseline.attributes for g in a.measures],
        },
        "looks": sum(p.status == "tested" for p in report.periods),
        "changes": [_change(c, report.alarms) for c in report.changes],
        "alarms": [_alarm(a) for a in report.alarms],
        "periods": [_period(p) for p in report.periods],
        "notes": list(report.notes),
    }  # fmt: skip


def _gap(attribute: str, g: Any) -> dict[str, Any]:
    shown = "id group reference value signed ci tolerance passes conclusive undefined"
    return {"attribute": attribute, **fields(g, shown)}


def _comparison(c: Comparison) -> dict[str, Any]:
    change = {**fields(c, "change ci_change"), **fields(c.finding, "window p_value p_adjusted"), "alarm": c.alarm}
    return {**_gap(c.attribute, c.gap), **change}


def _period(p: Period) -> dict[str, Any]:
    shown = fields(p, "name members rows left_out status look too_small missing new undefined")
    return {**shown, "comparisons": [_comparison(c) for c in p.comparisons]}


def _alarm(a: Alarm) -> dict[str, Any]:
    shown = fields(a, "attribute id group reference period since window direction before after change ci_change")
    return {**shown, **fields(a, "p_value p_adjusted last looks window_start"), "interpretation": sentence(a)}


def _change(c: Change, alarms: Sequence[Alarm]) -> dict[str, Any]:
    keys = {(s.attribute, s.id, s.group) for s in c.shifts}
    own = [i for i, a in enumerate(alarms) if (a.attribute, a.id, a.group) in keys and a.since == c.since]
    shown = "attribute id group reference direction before after"
    return {
        "since": c.since,
        "interval": list(c.interval),
        **fields(c, "direction alarm last"),
        "comparisons": [fields(s, shown) for s in c.shifts],
        "alarms": own,
        "interpretation": change_sentence(c),
    }


def change_sentence(c: Change) -> str:
    """A change in words: when, by what, and who else shows it."""
    first = c.shifts[0]
    measure = find(first.id)
    assert measure is not None
    when = f"Since {shown_name(c.since)}"
    if c.interval[0] != c.interval[1]:
        when += f" (begun between {shown_name(c.interval[0])} and {shown_name(c.interval[1])})"
    far = "further from parity" if first.direction == "worse" else "nearer to parity"
    seen = "" if c.alarm is None else f" First alarm in {shown_name(c.alarm)}."
    return (
        f"{when} {measure.title} of {shown_name(first.group)} against {shown_name(first.reference)} is {far}: "
        f"{first.before:.3f} before, {first.after:.3f} since.{_also(c.shifts)}{seen}"
    )


def _also(shifts: Sequence[Shift]) -> str:
    """The other comparisons that show a change, by group."""
    by_group: dict[tuple[str, str], list[str]] = {}
    for s in shifts[1:]:
        by_group.setdefault((s.attribute, s.group), []).append(s.id)
    if not by_group:
        return ""
    named = [f"{listed(ids)} of {shown_name(group)}" for (_, group), ids in list(by_group.items())[:MOST_GROUPS]]
    more = len(by_group) - len(named)
    return f" Also by {'; '.join(named)}{f' and {more} more groups' if more else ''}."


def sentence(a: Alarm) -> str:
    """An alarm in words."""
    measure = find(a.id)
    assert measure is not None
    far = "further from parity" if a.direction == "worse" else "nearer to parity"
    before, after = ("undefined" if value is None else f"{value:.3f}" for value in (a.before, a.after))
    where = f"in {shown_name(a.period)}"
    if a.window > 1:
        where = f"from {shown_name(a.window_start)} to {shown_name(a.period)}"
    return (
        f"{measure.title} of {shown_name(a.group)} against {shown_name(a.reference)} was {before} in the "
        f"baseline and {after} {where}: {far} ({p_words(a.p_value)}, over all looks {p_words(a.p_adjusted)})."
    )


_TYPES = {
    "period": "str", "status": "str", "rows": "float", "attribute": "str", "id": "str", "group": "str",
    "reference": "str", "value": "float", "signed": "float", "ci_low": "float", "ci_high": "float",
    "tolerance": "float", "passes": "bool", "conclusive": "bool", "change": "float", "change_low": "float",
    "change_high": "float", "window": "float", "p_value": "float", "p_adjusted": "float", "alarm": "bool",
    "undefined": "str",
}  # fmt: skip


def frame(report: Watch, library: str | None) -> Any:
    """One row per period, attribute, measure and group."""
    rows = []
    for period in report.to_dict()["periods"]:
        for c in period["comparisons"]:
            low, high = c["ci"] or (None, None)
            change_low, change_high = c["ci_change"] or (None, None)
            rows.append({
                **c, "period": period["name"], "status": period["status"], "rows": period["rows"], "ci_low": low,
                "ci_high": high, "change_low": change_low, "change_high": change_high,
            })  # fmt: skip
    return rows_frame(rows, _TYPES, report.library if library is None else library)
