"""The audit of probable groups → its JSON document."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.report.command import listed
from evenhand.report.document import fields, header

if TYPE_CHECKING:
    from evenhand.analyses.unknown_groups.probable import Estimate, ProbableAudit, ProbableGap, ProbableGroup
    from evenhand.analyses.unknown_groups.sensitivity import Sensitivity


def document(audit: ProbableAudit) -> dict[str, Any]:
    """Everything as plain values."""
    people, roles = audit.people, audit.roles
    return {
        **header("probable"),
        "data": {
            "people": len(people.p),
            "left_out": dict(people.left_out),
            "probabilities": list(people.groups),
            **fields(roles, "score label prediction risk"),
            "favorable": people.favorable,
            "cell": audit.cell,
            "cells": None if audit.cell is None else people.cells,
            "threshold": people.threshold,
            "decision_rule": people.rule,
        },
        "options": {**audit.options, "tolerance": {g.measure.id: g.tolerance for g in audit.measures}},
        "command": shlex.join(_command(audit)),
        "reference": audit.reference,
        "groups": [_group(g) for g in audit.groups],
        "measures": [_gap(g) for g in audit.measures],
        "notes": list(audit.notes),
    }


def _group(g: ProbableGroup) -> dict[str, Any]:
    rates = {
        rate: {"weighted": fields(plain, "value ci undefined"), "corrected": fields(better, "value ci undefined")}
        for rate, (plain, better) in g.rates.items()
    }
    return {**fields(g, "name expected membership"), "rates": rates}


def _gap(g: ProbableGap) -> dict[str, Any]:
    return {
        "id": g.measure.id,
        **fields(g, "group reference tolerance"),
        "weighted": _estimate(g.weighted),
        "corrected": _estimate(g.corrected),
        "sensitivity": None if g.sensitivity is None else _sensitivity(g.sensitivity),
    }


def _estimate(e: Estimate) -> dict[str, Any]:
    return fields(e, "value ci passes undefined")


def _sensitivity(s: Sensitivity) -> dict[str, Any]:
    return {**fields(s, "group reference vanishes tolerated"), "curve": [fields(p, "delta value ci") for p in s.curve]}


def _command(audit: ProbableAudit) -> Iterator[str]:
    """What to type to get the document again."""
    people, roles = audit.people, audit.roles
    yield from ("evenhand", "audit", "DATA", "--group-probability", listed(people.groups))
    for flag in ("score", "label", "prediction", "favorable_prediction"):
        if (value := getattr(roles, flag)) is not None:
            yield from (f"--{flag.replace('_', '-')}", listed([value]) if flag == "score" else f"{value}")
    if people.favorable is not None:
        yield from ("--favorable", people.favorable)
    elif roles.prediction is not None and roles.favorable_prediction is None:
        yield from ("--favorable", people.rule.removeprefix(f"{roles.prediction} is "))
    if roles.risk:
        yield "--risk"
    if roles.score_range is not None:
        yield from ("--score-range", ",".join(map(repr, roles.score_range)))
    if people.left_out:
        yield from ("--missing", "drop")
    if audit.cell is not None:
        yield from ("--proxy-cell", audit.cell)
    if people.threshold is not None:
        yield from ("--threshold", repr(people.threshold))
    yield from ("--reference", audit.reference)
    for flag, value in audit.stated.items():
        for one in value if isinstance(value, list) else [value]:
            yield from (f"--{flag}", f"{one}")
    if audit.options["seed"] is not None:
        yield from ("--seed", f"{audit.options['seed']}")
