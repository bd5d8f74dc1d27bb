"""A plan and a piece of advice → their JSON documents."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.key_measures import key_of
from evenhand.analyses.planning.advice import Advice
from evenhand.analyses.planning.catalogue import Catalogue
from evenhand.measures.registry import Measure, of_decisions
from evenhand.report.document import fields, header

if TYPE_CHECKING:
    from evenhand.analyses.planning.power import Plan


def document(result: Plan | Advice | Catalogue) -> dict[str, Any]:
    """A plan, a piece of advice or a list of measures as plain values."""
    if isinstance(result, Catalogue):
        return {**header("measures"), "measures": [_measure(m) for m in result.measures]}
    if isinstance(result, Advice):
        return {**header("guide"), **fields(result, "measures why beware analysis command")}
    return {**header("power"), **asdict(result)}


def _measure(m: Measure) -> dict[str, Any]:
    return {
        **fields(m, "id title family asks formula use limits scale tolerance"),
        "needs": _needs(m),
        "key_of": list(key_of(m.id)),
        "page": m.documentation,
    }


def _needs(m: Measure) -> list[str]:
    return ["decision" if of_decisions(m) else "score", *(["outcome"] if m.needs_label else [])]
