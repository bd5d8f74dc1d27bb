"""A watch over time → its JSON document, a dataframe, and a report of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.analyses.monitor.new_groups import UNKNOWN, compared
from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.monitor.history import Alarm, Comparison, Period
    from evenhand.analyses.monitor.monitor import Watch

WIDTH = 80
SHOWN = ("demographic_parity", "equal_opportunity", "predictive_equality", "calibration_gap", "independence_uniform")
"""Measures that the report shows of every period, where nothing has changed: two of them."""
MEANING = ("score", "label", "prediction", "weight", "cluster", "favorable", "risk")
MOST_PERIODS = 40
MOST_GROUPS = 4


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
    where = f"in {shown_name(a.period)}"
    if a.window > 1:
        where = f"from {shown_name(a.since)} to {shown_name(a.period)}"
    return (
        f"{measure.title} of {shown_name(a.group)} against {shown_name(a.reference)} was {_number(a.before)} in the "
        f"baseline and {_number(a.after)} {where}: {far} (p = {a.p_adjusted:.1g} over all looks)."
    )


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


# ---- dataframe ----------------------------------------------------------------------------------------------

_TYPES = {
    "period": "str", "status": "str", "rows": "float", "attribute": "str", "id": "str", "group": "str",
    "reference": "str", "value": "float", "signed": "float", "ci_low": "float", "ci_high": "float",
    "tolerance": "float", "passes": "bool", "conclusive": "bool", "change": "float", "change_low": "float",
    "change_high": "float", "window": "float", "p_adjusted": "float", "alarm": "bool", "undefined": "str",
}  # fmt: skip


def frame(watch: Watch, library: str | None = None) -> Any:
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


# ---- terminal -----------------------------------------------------------------------------------------------


def render(document: dict[str, Any]) -> Any:
    """The document as text for a terminal."""
    from rich.text import Text

    return Text("\n".join(_lines(document)))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "Evenhand watch"
    yield from _wrapped(_facts(document))
    yield ""
    yield from _alarms(document)
    shown = _shown(document)
    for attribute, reference in document["baseline"]["references"].items():
        yield from _attribute(document, attribute, reference, shown)
    if document["notes"]:
        yield ""
        yield "Notes"
        for note in document["notes"]:
            yield from _wrapped(f"• {shown_name(note, 600)}", "  ")


def _facts(document: dict[str, Any]) -> str:
    data, options, base = document["data"], document["options"], document["baseline"]
    every = f" by {data['every']} of {shown_name(data['time'])}" if data["every"] else ""
    return (
        f"{data['rows']:,} rows in {_periods(document)}{every}. Baseline {shown_name(base['name'])} "
        f"({base['rows']:,} rows). {document['looks']:,} of {options['looks']:,} planned looks; chance of any false "
        f"alarm in all of them at most {100 * options['false_alarms']:g} %."
    )


def _periods(document: dict[str, Any]) -> str:
    count = len(document["periods"])
    return f"{count:,} period{'' if count == 1 else 's'}"


def _alarms(document: dict[str, Any]) -> Iterator[str]:
    alarms = document["alarms"]
    if not alarms:
        tested = document["looks"]
        yield "No alarm: no gap is shown to be another than in the baseline." if tested else "No period was tested."
        return
    yield f"{len(alarms)} {'alarm' if len(alarms) == 1 else 'alarms'}"
    for a in alarms[:20]:
        more = f" Seen at {a['looks']} looks, last in {shown_name(a['last'])}." if a["looks"] > 1 else ""
        text = a["interpretation"]
        yield from _wrapped(f"! {a['direction'].upper()} {shown_name(a['attribute'])}: {text}{more}", "  ")
    if len(alarms) > 20:
        yield f"  and {len(alarms) - 20} more"


def _shown(document: dict[str, Any]) -> list[str]:
    """Two measures to follow: those of alarms first."""
    there = list(dict.fromkeys(c["id"] for c in document["baseline"]["comparisons"] if c["undefined"] is None))
    alarmed = [a["id"] for a in document["alarms"]]
    wanted = [*(i for i in SHOWN if i in alarmed), *alarmed, *(i for i in SHOWN if i in there), *there]
    return list(dict.fromkeys(wanted))[:2]


def _attribute(document: dict[str, Any], attribute: str, reference: str, ids: list[str]) -> Iterator[str]:
    own_ones = [c for c in compared(document) if c["attribute"] == attribute]
    groups = list(dict.fromkeys(c["group"] for c in own_ones))
    new = list(dict.fromkeys(c["group"] for c in own_ones if c["undefined"] == UNKNOWN))
    shown = groups if len(groups) <= MOST_GROUPS else [*new, *(g for g in groups if g not in new)]
    for group in shown[:MOST_GROUPS]:
        yield ""
        yield f"{shown_name(attribute)}: {shown_name(group, 25)} against {shown_name(reference, 25)}"
        if group in new:
            yield "  not in the baseline, so no change of it is looked for"
        titles = "".join(f"{_title(i)[:23]:>24}" for i in ids)
        yield f"  {'period':<20}{'rows':>10}{titles}"
        base = {c["id"]: c for c in own_ones if c["group"] == group}
        yield _line("baseline", document["baseline"]["rows"], {} if group in new else base, ids)
        periods = document["periods"]
        if len(periods) > MOST_PERIODS:
            yield f"  … {len(periods) - MOST_PERIODS:,} earlier periods (all of them are in the JSON)"
        for p in periods[-MOST_PERIODS:]:
            own = {c["id"]: c for c in p["comparisons"] if (c["attribute"], c["group"]) == (attribute, group)}
            mark = {"baseline": "b", "waiting": "…", "before": "-"}.get(p["status"], " ")
            yield _line(p["name"], p["rows"], own, ids, mark)
    if len(groups) > MOST_GROUPS:
        yield f"  and {len(groups) - MOST_GROUPS:,} more groups (in the JSON)"
    yield "  ! alarm: changed since the baseline, x beyond the limit, b baseline, … waits"


def _title(id_: str) -> str:
    measure = find(id_)
    return id_ if measure is None else measure.title


def _line(name: str, rows: int, own: dict[str, Any], ids: list[str], mark: str = " ") -> str:
    cells = "".join(f"{_cell(own.get(i)):>24}" for i in ids)
    return f"{mark} {shown_name(name, 20):<20}{rows:>10,}{cells}".rstrip()


def _cell(c: dict[str, Any] | None) -> str:
    if c is None:
        return "nobody  "
    measure = find(c["id"])
    value = c["signed"] if measure is not None and measure.signed else c["value"]
    if value is None:
        return "undefined  "
    ci = "" if c["ci"] is None or None in c["ci"] else f" {c['ci'][0]:+.2f} {c['ci'][1]:+.2f}"
    marks = ("!" if c.get("alarm") else " ") + ("x" if c["passes"] is False else " ")
    return f"{value:+.3f}{ci} {marks}"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent) or [""]
