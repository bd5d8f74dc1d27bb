"""A watch over time → its JSON document, and a dataframe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.monitor.history import Alarm, Comparison, Period
    from evenhand.analyses.monitor.monitor import Watch

MEANING = ("score", "label", "prediction", "weight", "cluster", "favorable", "risk")


def document(watch: Watch) -> dict[str, Any]:
    """The whole watch as plain values."""
    rule, options, table = watch.settings.rule, watch.options, watch.baseline.table
    meaning = table.meaning
    return {
        **header("monitor"),
        "data": {
            "rows": sum(p.rows for p in watch.periods),
            "left_out": dict(watch.left_out),
            "time": watch.settings.time,
            "every": watch.settings.every,
            **{k: getattr(meaning, k) for k in MEANING},
            "threshold": options.threshold,
            "score_range": list(table.score_range) if table.score is not None else None,
        },
        "options": {
            "looks": rule.looks,
            "false_alarms": rule.false_alarms,
            "windows": list(rule.windows),
            "small": watch.settings.small,
            "min_people": rule.min_people,
            "confidence": options.confidence,
            "bootstrap": options.bootstrap,
            "seed": options.seed,
        },
        "baseline": {
            "name": watch.baseline_name,
            "rows": table.rows,
            "references": {a.name: a.reference for a in watch.baseline.attributes},
            "comparisons": [_gap(a.name, g) for a in watch.baseline.attributes for g in a.measures],
        },
        "looks": sum(p.status == "tested" for p in watch.periods),
        "alarms": [_alarm(a) for a in watch.alarms],
        "periods": [_period(p) for p in watch.periods],
        "notes": list(watch.notes),
    }  # fmt: skip


def _gap(attribute: str, g: Any) -> dict[str, Any]:
    return {
        "attribute": attribute,
        "id": g.id,
        "group": g.group,
        "reference": g.reference,
        "value": number(g.value),
        "signed": number(g.signed),
        "ci": pair(g.ci),
        "tolerance": number(g.tolerance),
        "passes": g.passes,
        "conclusive": g.conclusive,
        "undefined": g.undefined,
    }


def _comparison(c: Comparison) -> dict[str, Any]:
    return {
        **_gap(c.attribute, c.gap),
        "change": number(c.change),
        "ci_change": pair(c.ci_change),
        "window": None if c.finding is None else c.finding.window,
        "p_adjusted": None if c.finding is None else number(c.finding.p_adjusted),
        "alarm": c.alarm,
    }


def _period(p: Period) -> dict[str, Any]:
    return {
        "name": p.name,
        "members": list(p.members),
        "rows": p.rows,
        "left_out": p.left_out,
        "status": p.status,
        "look": p.look,
        "too_small": list(p.too_small),
        "missing": list(p.missing),
        "new": list(p.new),
        "undefined": p.undefined,
        "comparisons": [_comparison(c) for c in p.comparisons],
    }


def _alarm(a: Alarm) -> dict[str, Any]:
    return {
        "attribute": a.attribute,
        "id": a.id,
        "group": a.group,
        "reference": a.reference,
        "period": a.period,
        "since": a.since,
        "window": a.window,
        "direction": a.direction,
        "before": number(a.before),
        "after": number(a.after),
        "change": number(a.change),
        "ci_change": pair(a.ci_change),
        "p_adjusted": number(a.p_adjusted),
        "last": a.last,
        "looks": a.looks,
        "interpretation": sentence(a),
    }


def sentence(a: Alarm) -> str:
    """An alarm in words."""
    measure = find(a.id)
    assert measure is not None
    far = "further from parity" if a.direction == "worse" else "nearer to parity"
    before, after = ("undefined" if value is None else f"{value:.3f}" for value in (a.before, a.after))
    where = f"in {shown_name(a.period)}"
    if a.window > 1:
        where = f"from {shown_name(a.since)} to {shown_name(a.period)}"
    return (
        f"{measure.title} of {shown_name(a.group)} against {shown_name(a.reference)} was {before} in the "
        f"baseline and {after} {where}: {far} (p = {a.p_adjusted:.1g} over all looks)."
    )


# ---- dataframe ----------------------------------------------------------------------------------------------

_TYPES = {
    "period": "str", "status": "str", "rows": "float", "attribute": "str", "id": "str", "group": "str",
    "reference": "str", "value": "float", "signed": "float", "ci_low": "float", "ci_high": "float",
    "tolerance": "float", "passes": "bool", "conclusive": "bool", "change": "float", "change_low": "float",
    "change_high": "float", "window": "float", "p_adjusted": "float", "alarm": "bool", "undefined": "str",
}  # fmt: skip


def frame(watch: Watch, library: str | None) -> Any:
    """One row per period, attribute, measure and group."""
    columns: dict[str, list[Any]] = {name: [] for name in _TYPES}
    for period in watch.to_dict()["periods"]:
        for c in period["comparisons"]:
            low, high = c["ci"] or (None, None)
            change_low, change_high = c["ci_change"] or (None, None)
            row = {
                **c, "period": period["name"], "status": period["status"], "rows": period["rows"], "ci_low": low,
                "ci_high": high, "change_low": change_low, "change_high": change_high,
            }  # fmt: skip
            for name, column in columns.items():
                column.append(row[name])
    return plain_frame(columns, _TYPES, library or watch.library)
