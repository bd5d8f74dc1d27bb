"""A proposal → its JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.document import fields, header

if TYPE_CHECKING:
    from evenhand.analyses.proposal.proposal import Proposal


def document(result: Proposal) -> dict[str, Any]:
    """A proposal as plain values."""
    return {
        **header("proposal"),
        **fields(result, "source rows all_rows"),
        "columns": [fields(g, "column role reason clear") for g in result.guesses],
        "roles": result.columns,
        "reasons": dict(result.found.reasons),
        "unclear": list(result.found.unclear),
        "lacking": result.lacking,
        "command": result.command,
    }
