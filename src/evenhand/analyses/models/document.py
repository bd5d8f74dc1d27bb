"""Several models of the same people → the JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.document import document as audit_document
from evenhand.report.document import fields, header
from evenhand.report.frame import rows_frame

if TYPE_CHECKING:
    from evenhand.analyses.models.differences import Difference
    from evenhand.analyses.models.models import CandidateAudit, Tradeoff

_PLACES = {
    "attribute": "str", "model": "str", "performance": "float", "fairness": "float", "dto": "float", "group": "str",
    "on_front": "bool", "recommended": "bool", "best_share": "float", "undefined": "str",
}  # fmt: skip


def document(audit: CandidateAudit) -> dict[str, Any]:
    """The whole comparison as plain values."""
    first = audit.candidates[0]
    return {
        **header("candidates"),
        "against": first.name,
        "candidates": [
            {
                "name": c.name,
                "performance": {id_: fields(e, "value ci undefined") for id_, e in c.performance.items()},
                "audit": audit_document(c.audit),
            }
            for c in audit.candidates
        ],
        "differences": [_difference(d) for d in audit.differences],
        "tradeoffs": [_tradeoff(t) for t in audit.tradeoffs],
        "notes": list(audit.notes),
    }


def _difference(d: Difference) -> dict[str, Any]:
    return {
        **fields(d, "id model against attribute group reference value other difference ci ci_bootstrap"),
        **fields(d, "signed_difference ci_signed p_signed p_signed_adjusted p_value p_adjusted better undefined"),
        **fields(d, "p_signed_at_most p_signed_adjusted_at_most p_value_at_most p_adjusted_at_most"),
    }


def _tradeoff(t: Tradeoff) -> dict[str, Any]:
    place = "model performance fairness group dto on_front dominated_by best_share undefined"
    return {
        **fields(t, "attribute performance fairness"),
        "utopia": [1.0, 1.0],
        "places": [fields(p, place) for p in t.places],
        **fields(t, "left_out recommended because"),
    }


def frame(audit: CandidateAudit, library: str | None) -> Any:
    """One row per attribute and model: what a plot of performance against fairness needs."""
    rows = [
        {**place, "attribute": t["attribute"], "recommended": place["model"] == t["recommended"]}
        for t in audit.to_dict()["tradeoffs"]
        for place in t["places"]
    ]
    return rows_frame(rows, _PLACES, audit.candidates[0].audit.library if library is None else library)
