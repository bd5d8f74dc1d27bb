"""Groups that the baseline does not have: no change of theirs can be told, but their gaps are there to be seen."""

from __future__ import annotations

from typing import Any

UNKNOWN = "because nobody of the baseline is in this group"
_NOTHING = ("value", "signed", "ci", "passes", "conclusive")


def compared(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Every comparison of a monitoring report: those of the baseline, and undefined ones for groups that came later."""
    found: list[dict[str, Any]] = list(document["baseline"]["comparisons"])
    known = {_key(c) for c in found}
    for period in document["periods"]:
        for c in period["comparisons"]:
            if _key(c) not in known:
                known.add(_key(c))
                like = {k: c[k] for k in ("attribute", "id", "group", "reference", "tolerance")}
                found.append({**like, **dict.fromkeys(_NOTHING), "undefined": UNKNOWN})
    return found


def _key(c: dict[str, Any]) -> tuple[str, str, str]:
    return c["attribute"], c["id"], c["group"]
