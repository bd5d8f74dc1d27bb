"""Fairness between individuals → its JSON document, and a dataframe of the worst pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.individual.sentences import interpretation
from evenhand.ingest.values import name_of
from evenhand.report.document import fields, header, number
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.individual.estimates import Contrast, Estimated
    from evenhand.analyses.individual.individual import IndividualFairness
    from evenhand.analyses.individual.treatment import GroupTreatment, Treatment
    from evenhand.analyses.individual.worst_pairs import Person, WorstPair


def document(result: IndividualFairness) -> dict[str, Any]:
    """Everything as plain values."""
    data = {k: list(v) if isinstance(v, tuple) else v for k, v in result.data.items()}
    about = {
        **header("individual"),
        "data": {"people": result.n, **data, "left_out": dict(result.data["left_out"])},
        "options": dict(result.options),
        "overall": _treatment(result.overall),
        "chance": {k: number(v) for k, v in result.chance.items()},
        "groups": [_group(g) for g in result.groups],
        "twins": vars(result.twins),
        "worst": [_worst(w) for w in result.worst],
        "sketch": dict(result.sketch),
        "notes": list(result.notes),
    }
    return {**about, "interpretation": list(interpretation(about))}


def _optional(estimate: Estimated | Contrast | None, names: str) -> dict[str, Any] | None:
    return None if estimate is None else fields(estimate, names)


def _treatment(t: Treatment) -> dict[str, Any]:
    parts = ("alike", "consistency", "constant", "violations")
    estimates = {name: _optional(getattr(t, name), "value ci undefined") for name in parts}
    return {**fields(t, "people pairs"), **estimates}


def _group(g: GroupTreatment) -> dict[str, Any]:
    gaps = ("alike_gap", "violations_gap", "across")
    contrasts = {name: _optional(getattr(g, name), "value ci p_value p_adjusted undefined") for name in gaps}
    return {"name": g.name, **_treatment(g.treatment), **contrasts, "across_pairs": g.across_pairs}


def _worst(w: WorstPair) -> dict[str, Any]:
    return {**fields(w, "distance difference slope beyond"), "people": [_person(p) for p in w.people]}


def _person(p: Person) -> dict[str, Any]:
    plain = {k: v if isinstance(v, int | float | bool | str | None) else name_of(v) for k, v in p.values.items()}
    return {**fields(p, "row score group"), "values": plain}


_TYPES = {
    "pair": "int", "distance": "float", "difference": "float", "row": "int", "score": "float", "group": "str",
}  # fmt: skip


def frame(result: IndividualFairness, library: str | None) -> Any:
    """Two rows for each of the worst pairs, with all their columns as text."""
    rows = [(place, w, p) for place, w in enumerate(document(result)["worst"], 1) for p in w["people"]]
    columns: dict[str, list[Any]] = {
        "pair": [place for place, _, _ in rows],
        **{key: [w[key] for _, w, _ in rows] for key in ("distance", "difference")},
        **{key: [p[key] for _, _, p in rows] for key in ("row", "score", "group")},
    }
    names = [*result.data["columns"], *result.data["beside"]]
    types = dict(_TYPES)
    for name in names:
        key = name if name not in columns else f"{name}′"
        columns[key] = [name_of(p["values"][name]) for _, _, p in rows]
        types[key] = "str"
    return plain_frame(columns, types, library)
