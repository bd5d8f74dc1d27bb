"""A reproduction → its JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.published.item import DOCUMENTS, Item, Value
from evenhand.report.document import header, number

if TYPE_CHECKING:
    from evenhand.published.reproduce import Reproduction, Run
    from evenhand.report.charts.chart import Chart

STATUS = ("agrees", "differs", "shown", "defined", "not run")
"""All printed numbers and claims agree; some do not; run, but nothing is printed to compare with; a definition, which a
test shows; not run, and why."""


def document(result: Reproduction) -> dict[str, Any]:
    """A reproduction as plain values."""
    entries = [_entry(run) for run in result.runs]
    counts = {status: sum(e["status"] == status for e in entries) for status in STATUS}
    return {
        **header("reproduction"), "options": {"full": result.full, "seed": result.seed},
        "counts": counts, "items": entries,
    }  # fmt: skip


def drawings(run: Run) -> dict[str, Chart]:
    """The charts of an item by name: its id, and with -2, -3, … those after the first."""
    charts = () if run.outcome is None else run.outcome.charts
    return {run.item.id + (f"-{place}" if place > 1 else ""): chart for place, chart in enumerate(charts, 1)}


def described(item: Item) -> dict[str, Any]:
    """An item before it is run."""
    return {
        "id": item.id, "document": DOCUMENTS[item.document], "label": item.label, "says": item.says,
        "place": f"evenhand.{item.place}" if item.place else None, "command": item.command or None,
        "test": item.test or None, "data": list(item.data), "libraries": list(item.libraries), "slow": item.slow,
    }  # fmt: skip


def _entry(run: Run) -> dict[str, Any]:
    outcome = run.outcome
    values = () if outcome is None else outcome.values
    found = [abs(v.difference) for v in values if v.difference is not None]
    return {
        **described(run.item),
        "status": _status(run),
        "why_not": run.why_not or None,
        # NaN stands for an undefined one, which no other is larger than
        "largest_difference": number(max(found, key=lambda d: (d != d, d))) if found else None,
        "values": [_value(v) for v in values],
        "claims": [
            {"says": c.says, "holds": bool(c.holds), "seen": c.seen or None}
            for c in (() if outcome is None else outcome.claims)
        ],
        "charts": list(drawings(run)),
        "notes": [] if outcome is None else list(outcome.notes),
    }  # fmt: skip


def _status(run: Run) -> str:
    if run.outcome is None:
        return "defined" if run.item.run is None and not run.why_not else "not run"
    judged = [v.agrees for v in run.outcome.values if v.agrees is not None] + [c.holds for c in run.outcome.claims]
    return "shown" if not judged else "agrees" if all(judged) else "differs"


def _value(value: Value) -> dict[str, Any]:
    return {
        "row": value.row, "column": value.column, "published": number(value.published), "found": number(value.found),
        "difference": number(value.difference), "tolerance": value.tolerance, "agrees": value.agrees,
    }  # fmt: skip
