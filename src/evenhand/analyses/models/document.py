"""Several models of the same people → the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.document import document as audit_document
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.models.differences import Difference
    from evenhand.analyses.models.models import CandidateAudit, Tradeoff

_PLACES = {
    "attribute": "str", "model": "str", "performance": "float", "fairness": "float", "dto": "float", "group": "str",
    "on_front": "bool", "recommended": "bool", "best_share": "float", "undefined": "str",
}  # fmt: skip


def document(found: CandidateAudit) -> dict[str, Any]:
    """The whole comparison as plain values."""
    first = found.candidates[0]
    return {
        **header("candidates"),
        "against": first.name,
        "candidates": [
            {
                "name": c.name,
                "performance": {
                    id_: {"value": number(e.value), "ci": pair(e.ci), "undefined": e.undefined}
                    for id_, e in c.performance.items()
                },
                "audit": audit_document(c.audit),
            }
            for c in found.candidates
        ],
        "differences": [_difference(d) for d in found.differences],
        "tradeoffs": [_tradeoff(t) for t in found.tradeoffs],
        "notes": list(found.notes),
    }


def _difference(d: Difference) -> dict[str, Any]:
    return {
        "id": d.id,
        "model": d.model,
        "against": d.against,
        "attribute": d.attribute,
        "group": d.group,
        "reference": d.reference,
        "value": number(d.value),
        "other": number(d.other),
        "difference": number(d.difference),
        "ci": pair(d.ci),
        "ci_bootstrap": pair(d.ci_bootstrap),
        "signed_difference": number(d.signed_difference),
        "ci_signed": pair(d.ci_signed),
        "p_signed": number(d.p_signed),
        "p_signed_adjusted": number(d.p_signed_adjusted),
        "p_value": number(d.p_value),
        "p_adjusted": number(d.p_adjusted),
        "better": d.better,
        "undefined": d.undefined,
    }


def _tradeoff(t: Tradeoff) -> dict[str, Any]:
    return {
        "attribute": t.attribute,
        "performance": t.performance,
        "fairness": t.fairness,
        "utopia": [1.0, 1.0],
        "places": [
            {
                "model": p.model,
                "performance": number(p.performance),
                "fairness": number(p.fairness),
                "group": p.group,
                "dto": number(p.dto),
                "on_front": p.on_front,
                "dominated_by": list(p.dominated_by),
                "best_share": number(p.best_share),
                "undefined": p.undefined,
            }
            for p in t.places
        ],
        "left_out": list(t.left_out),
        "recommended": t.recommended,
        "because": t.because,
    }


def frame(found: CandidateAudit, library: str | None) -> Any:
    """One row per attribute and model: what a plot of performance against fairness needs."""
    columns: dict[str, list[Any]] = {name: [] for name in _PLACES}
    for t in found.to_dict()["tradeoffs"]:
        for place in t["places"]:
            row = {**place, "attribute": t["attribute"], "recommended": place["model"] == t["recommended"]}
            for name, column in columns.items():
                column.append(row[name])
    return plain_frame(columns, _PLACES, library or found.candidates[0].audit.library)
