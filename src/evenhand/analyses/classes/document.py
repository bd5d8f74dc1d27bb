"""The audit of many classes → its JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.classes.aggregate_document import body, choices_of, data_of, finding, options_of
from evenhand.analyses.classes.checklist import checklist
from evenhand.report.document import fields, header, number, pair

if TYPE_CHECKING:
    from evenhand.analyses.classes.audit import AttributeClasses, ClassAudit

MOST_SHOWN = 10


def document(audit: ClassAudit) -> dict[str, Any]:
    """The whole audit as plain values."""
    first = audit.attributes[0].aggregate
    return {
        **header("classes"),
        "data": data_of(audit.table),
        "options": {**options_of(first), **choices_of(first)},
        "attributes": [_attribute(a) for a in audit.attributes],
        "notes": list(audit.notes),
    }


def _attribute(a: AttributeClasses) -> dict[str, Any]:
    inside = body(a.aggregate)
    for group, own in zip(inside["groups"], a.performance, strict=True):
        group["accuracy"] = {"value": number(own.accuracy), "ci": pair(own.accuracy_ci)}
        group["macro_f1"] = {
            "value": number(own.macro_f1),
            "ci": pair(own.macro_f1_ci),
            "classes": own.macro_f1_classes,
            "undefined": None if own.macro_f1_classes else "because no class has people in every group",
        }
    tested = {(d.name, d.group): d for d in a.deviations}
    for c in inside["classes"]:
        for cell in c["cells"]:
            d = tested.get((c["name"], cell["group"]))
            cell["p_value"] = None if d is None else d.p_value
            cell["p_adjusted"] = None if d is None else d.p_adjusted
    return {
        "name": a.name,
        "aggregate": finding(a.aggregate),
        "interpretation": a.aggregate.interpretation,
        "other_metrics": [{"metric": o.choices.rate.id, **finding(o)} for o in a.others],
        **inside,
        "worst": [
            {"class": d.name, **fields(d, "group difference p_value p_adjusted")} for d in a.deviations[:MOST_SHOWN]
        ],
        "checklist": checklist(a.aggregate),
    }
