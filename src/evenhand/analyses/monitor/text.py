"""A monitoring report in 80 columns, made from the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from evenhand.analyses.audit.wording import tolerances
from evenhand.analyses.monitor.new_groups import UNKNOWN, compared
from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.console import wrapped
from evenhand.report.format import interval, number

SHOWN = ("demographic_parity", "equal_opportunity", "predictive_equality", "calibration_gap", "independence_uniform")
"""Measures that the report shows of every period, where nothing has changed: two of them."""
MOST_PERIODS = 40
MOST_GROUPS = 4
MOST_CHANGES = 20


def render(document: dict[str, Any]) -> Text:
    """The document as text for a terminal."""
    return Text("\n".join(_lines(document)))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "Evenhand monitoring report"
    yield from wrapped(facts(document))
    yield ""
    yield from _alarms(document)
    shown = followed(document)
    for attribute, reference in document["baseline"]["references"].items():
        yield from _attribute(document, attribute, reference, shown)
    if document["notes"]:
        yield ""
        yield "Notes"
        for note in document["notes"]:
            yield from wrapped(f"• {shown_name(note, 600)}", "  ")


def facts(document: dict[str, Any]) -> str:
    """Of whom it is, and how often one looks."""
    data, options, base = document["data"], document["options"], document["baseline"]
    stated = tolerances(options)
    every = f" by {data['every']} of {shown_name(data['time'])}" if data["every"] else ""
    return (
        f"{data['rows']:,} rows in {_periods(document)}{every}. Baseline {shown_name(base['name'])} "
        f"({base['rows']:,} rows). {document['looks']:,} of {options['looks']:,} planned looks; chance of any false "
        f"alarm in all of them at most {100 * options['false_alarms']:g} %."
        + (f" Tolerances: {stated}; others as by default." if stated else "")
    )


def _periods(document: dict[str, Any]) -> str:
    count = len(document["periods"])
    return f"{count:,} period{'' if count == 1 else 's'}"


def _alarms(document: dict[str, Any]) -> Iterator[str]:
    alarms, changes = document["alarms"], document["changes"]
    if not alarms:
        tested = document["looks"]
        yield "No alarm: no gap is shown to be another than in the baseline." if tested else "No period was tested."
        return
    yield told(document)
    for c in changes[:MOST_CHANGES]:
        more = f" Last seen in {shown_name(c['last'])}." if c["last"] not in (None, c["alarm"]) else ""
        yield from wrapped(f"! {c['direction'].upper()} {c['interpretation']}{more}", "  ")
    if len(changes) > MOST_CHANGES:
        yield f"  and {len(changes) - MOST_CHANGES} more"


def told(document: dict[str, Any]) -> str:
    """How many changes, shown by how many alarms."""
    changes, alarms = len(document["changes"]), len(document["alarms"])
    return f"{changes} change{'' if changes == 1 else 's'}, by {alarms} alarm{'' if alarms == 1 else 's'}"


def followed(document: dict[str, Any]) -> list[str]:
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
        titles = "".join(f"{title(i)[:23]:>24}" for i in ids)
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
    yield "  ! alarm: changed since the baseline, x beyond tolerance, b baseline, … waits"


def title(id_: str) -> str:
    """What a measure is called."""
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
    ci = "" if c["ci"] is None or None in c["ci"] else f" {interval(c['ci'], sign=True, digits=2, join=' ')}"
    marks = ("!" if c.get("alarm") else " ") + ("x" if c["passes"] is False else " ")
    return f"{number(value, sign=True)}{ci} {marks}"
