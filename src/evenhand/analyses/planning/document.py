"""A plan and a piece of advice → their JSON documents."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evenhand.analyses.planning.advice import Advice
from evenhand.report.document import fields, header

if TYPE_CHECKING:
    from evenhand.analyses.planning.power import Plan


def document(result: Plan | Advice) -> dict[str, Any]:
    """A plan or a piece of advice as plain values."""
    if isinstance(result, Advice):
        return {**header("guide"), **fields(result, "measures why beware analysis command")}
    return {**header("power"), **asdict(result)}
