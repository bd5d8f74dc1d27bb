"""A plan and a piece of advice → their JSON documents."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evenhand.report.document import fields, header

if TYPE_CHECKING:
    from evenhand.analyses.planning.guide import Advice
    from evenhand.analyses.planning.power import Plan


def plan(found: Plan) -> dict[str, Any]:
    """The plan as plain values."""
    return {**header("power"), **asdict(found)}


def advice(found: Advice) -> dict[str, Any]:
    """The advice as plain values."""
    return {**header("guide"), **fields(found, "measures why beware command")}
