"""Fairness between individuals → its JSON document, and a dataframe of the worst pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.individual.sentences import interpretation
from evenhand.ingest.values import name_of
from evenhand.report.document import header, number, pair
from evenhand.report.frame import plain_frame

if TYPE_CHECKING:
    from evenhand.analyses.individual.estimates import Contrast, Estimated
    from evenhand.analyses.individual.individual import IndividualFairness
    from evenhand.analyses.individual.treatment import GroupTreatment, Treatment
    from evenhand.analyses.individual.worst_pairs import Person, WorstPair


def document(found: IndividualFairness) -> dict[str, Any]:
    """Everything as plain values."""
    data = {k: list(v) if isinstance(v, tuple) else v for k, v in found.data.items()}
    about = {
        **header("individual"),
        "data": {"people": found.n, **data, "left_out": dict(found.data["left_out"])},
        "options": dict(found.options),
        "overall": _treatment(found.overall),
        "chance": {k: number(v) for k, v in found.chance.items()},
        "groups": [_group(g) for g in found.groups],
        "twins": vars(found.twins),
        "worst": [_worst(w) for w in found.worst],
        "sketch": dict(found.sketch),
        "notes": list(found.notes),
    }
    return {**about, "interpretation": list(interpretation(about))}


def _estimate(e: Estimated | None) -> dict[str, Any] | None:
    return None if e is None else {"value": number(e.value), "ci": pair(e.ci), "undefined": e.undefined}


def _contrast(c: Contrast | None) -> dict[str, Any] | None:
    if c is None:
        return None
    return {
        "value": number(c.value),
        "ci": pair(c.ci),
        "p_value": number(c.p_value),
        "p_adjusted": number(c.p_adjusted),
        "undefined": c.undefined,
    }


def _treatment(t: Treatment) -> dict[str, Any]:
    return {
        "people": t.people,
        "pairs": t.pairs,
        **{name: _estimate(getattr(t, name)) for name in ("alike", "consistency", "constant", "violations")},
    }


def _group(g: GroupTreatment) -> dict[str, Any]:
    return {
        "name": g.name,
        **_treatment(g.treatment),
        "alike_gap": _contrast(g.alike_gap),
        "violations_gap": _contrast(g.violations_gap),
        "across": _contrast(g.across),
        "across_pairs": g.across_pairs,
    }


def _worst(w: WorstPair) -> dict[str, Any]:
    return {
        "distance": w.distance,
        "difference": w.difference,
        "slope": w.slope,
        "beyond": w.beyond,
        "people": [_person(p) for p in w.people],
    }


def _person(p: Person) -> dict[str, Any]:
    plain = {k: v if isinstance(v, int | float | bool | str | None) else name_of(v) for k, v in p.values.items()}
    return {"row": p.row, "score": p.score, "group": p.group, "values": plain}


_TYPES = {
    "pair": "int", "distance": "float", "difference": "float", "row": "int", "score": "float", "group": "str",
}  # fmt: skip


def frame(found: IndividualFairness, library: str | None) -> Any:
    """Two rows for each of the worst pairs, with all their columns as text."""
    rows = [(place, w, p) for place, w in enumerate(document(found)["worst"], 1) for p in w["people"]]
    columns: dict[str, list[Any]] = {
        "pair": [place for place, _, _ in rows],
        "distance": [w["distance"] for _, w, _ in rows],
        "difference": [w["difference"] for _, w, _ in rows],
        "row": [p["row"] for _, _, p in rows],
        "score": [p["score"] for _, _, p in rows],
        "group": [p["group"] for _, _, p in rows],
    }
    names = [*found.data["columns"], *found.data["beside"]]
    types = dict(_TYPES)
    for name in names:
        key = name if name not in columns else f"{name}′"
        columns[key] = [name_of(p["values"][name]) for _, _, p in rows]
        types[key] = "str"
    return plain_frame(columns, types, library)
