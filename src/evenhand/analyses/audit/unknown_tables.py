"""What people without a group could change, as rows of text for every view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.analyses.audit.key_tables import Rows
from evenhand.analyses.audit.wording import measure_of
from evenhand.errors import shown_name
from evenhand.measures.rates import MAIN_RATES, RATES
from evenhand.report.format import interval, number, percent

HOW = (
    "Possible: between what the number lies, whoever the people without a group are. The interval says the same of the "
    "people they were drawn from."
)


def counted(attribute: dict[str, Any]) -> str | None:
    """How many have no group, and how they were decided; nothing if that was not asked."""
    unknown = attribute["unknown"]
    if unknown is None:
        return None
    who = "person has" if unknown["n"] == 1 else "people have"
    text = f"{unknown['n']:,} {who} no {shown_name(attribute['name'])} ({percent(unknown['share'], digits=1)})"
    return f"{text}: {unknown['selected']:,} selected, {unknown['rejected']:,} not" if unknown["n"] else text


def measures(attribute: dict[str, Any], group: str, confidence: float, ids: Sequence[str] | None = None) -> Rows | None:
    """Bounds of the measures of a group, or of some of them; nothing if there are none, or nobody is unknown."""
    unknown = attribute["unknown"]
    if unknown is None or unknown["undefined"] or not unknown["n"]:
        return None
    own = [m for m in unknown["measures"] if m["group"] == group and m["bounds"] is not None]
    own = own if ids is None else [m for id_ in ids for m in own if m["id"] == id_]
    if not own:
        return None
    heads = ["measure", "if like others", "possible", f"{100 * confidence:g}% interval", "across?"]
    return Rows(heads, [_measure(m) for m in own])


def _measure(m: dict[str, Any]) -> list[str]:
    measure = measure_of(m)
    sign = measure.signed
    ends = [interval(m[key], sign=sign, join=", ") for key in ("bounds", "ci")]
    return [measure.title, number(m["value"], sign=sign), *ends, "yes" if m["crosses"] else "no"]


def rates(attribute: dict[str, Any], most: int) -> Rows | None:
    """Bounds of the rates of every group."""
    unknown = attribute["unknown"]
    if unknown is None or unknown["undefined"] or not unknown["n"]:
        return None
    shown = unknown["groups"][:most]
    ids = [r for r in MAIN_RATES if any(r in g["rates"] for g in shown)]
    rows = [[shown_name(g["group"]), *(_possible(g["rates"].get(r)) for r in ids)] for g in shown]
    return Rows(["group", *(RATES[r].short for r in ids)], rows)


def _possible(rate: dict[str, Any] | None) -> str:
    return "–" if rate is None else interval(rate["bounds"])
