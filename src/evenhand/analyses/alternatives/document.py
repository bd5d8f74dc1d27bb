"""Alternatives → the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.alternatives.repeated import command
from evenhand.analyses.alternatives.sentences import answer, sentence
from evenhand.report.document import fields, header
from evenhand.report.frame import rows_frame

if TYPE_CHECKING:
    from evenhand.analyses.alternatives.alternatives import Alternatives
    from evenhand.analyses.alternatives.tried import Tried

_COLUMNS = {
    "name": "str", "status": "str", "reason": "str", "because": "str", "performance": "float", "gap": "float",
    "held_performance": "float", "held_gap": "float", "reduction": "float", "reduction_at_least": "float",
    "loss": "float", "loss_at_most": "float",
}  # fmt: skip


def document(found: Alternatives) -> dict[str, Any]:
    """The whole search as plain values."""
    whole: dict[str, Any] = {
        **header("alternatives"),
        **fields(found, "kind baseline best recommended"),
        "alternatives": list(found.alternatives),
        "data": dict(found.data),
        "options": dict(found.options),
        "candidates": [_candidate(c) for c in found.candidates],
        "notes": list(found.notes),
    }
    return {**whole, "answer": answer(whole), "sentence": sentence(whole), "command": command(whole, found.reading)}


def _candidate(c: Tried) -> dict[str, Any]:
    confirmation = None
    if c.confirmation is not None:
        confirmation = {
            **fields(c.confirmation, "performance gap group baseline_gap reduction reduction_at_least"),
            **fields(c.confirmation, "loss loss_at_most unknown"),
        }
    return {
        **fields(c, "name status reason because tested"),
        "settings": dict(c.settings),
        "selection": fields(c.selection, "performance gap group undefined"),
        "confirmation": confirmation,
    }


def frame(found: Alternatives, library: str | None) -> Any:
    """One row a candidate."""
    rows = []
    for c in found.to_dict()["candidates"]:
        held = c["confirmation"] or {}
        rows.append({
            **{key: c[key] for key in ("name", "status", "reason", "because")},
            "performance": c["selection"]["performance"], "gap": c["selection"]["gap"],
            "held_performance": held.get("performance"), "held_gap": held.get("gap"),
            **{key: held.get(key) for key in ("reduction", "reduction_at_least", "loss", "loss_at_most")},
        })  # fmt: skip
    return rows_frame(rows, _COLUMNS, library)
