"""How a measure and its numbers are written: the same in the terminal, on the page and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evenhand.analyses.audit.document import least
from evenhand.measures.rates import MAIN_RATES, RATES
from evenhand.measures.registry import Measure, find
from evenhand.report import format as written


def measure_of(m: dict[str, Any]) -> Measure:
    """The entry of the registry about a comparison of the document."""
    measure = find(m["id"])
    assert measure is not None
    return measure


def titles(ids: Iterable[str]) -> list[str]:
    return [measure_of({"id": id_}).title for id_ in ids]


def rates_of(attribute: dict[str, Any], rates: Sequence[str] = MAIN_RATES) -> dict[str, str]:
    """The rates that its groups have, with the heads of their columns."""
    return {rate: RATES[rate].short for rate in rates if rate in attribute["groups"][0]["rates"]}


def size(measure: Measure, value: float | None) -> str:
    """A number of a measure without its sign."""
    return f"{'×' if measure.scale == 'ratio' and value is not None else ''}{written.number(value)}"


def gap(measure: Measure, m: dict[str, Any]) -> str:
    """The gap, with its sign if it has one."""
    signed = measure.signed and m["signed"] is not None
    return written.number(m["signed"], sign=True) if signed else size(measure, m["value"])


def tolerated(measure: Measure, tolerance: float, short: bool = False) -> str:
    """What is within the tolerance."""
    if measure.scale == "ratio":
        return f"×÷{tolerance:g}" if short else f"{tolerance:g} to {1 / tolerance:g}"
    return f"±{tolerance:.2g}" if measure.signed else f"{tolerance:.2g}"


def tolerances(options: dict[str, Any]) -> str:
    """The tolerances that were stated, by measure; nothing if none was."""
    stated = [(measure_of({"id": id_}), tolerance) for id_, tolerance in options["tolerance"].items()]
    return ", ".join(f"{m.title} {tolerated(m, tolerance)}" for m, tolerance in stated)


def p_value(m: dict[str, Any], which: str = "p_adjusted") -> str:
    """A p-value; where more permutations of group labels could make it smaller, with ≤."""
    return written.p_value(m[which], at_most=_at_most(m, which))


def p_words(m: dict[str, Any], which: str = "p_adjusted") -> str:
    """The same in a sentence."""
    return written.p_words(m[which], at_most=_at_most(m, which))


def _at_most(m: dict[str, Any], which: str) -> bool:
    return bool(m["p_adjusted_at_most"]) if which == "p_adjusted" else m["p_value"] is not None and least(m)


def share(m: dict[str, Any], measure: Measure) -> str:
    """How much of a distance is in favour of the group; a signed gap says so itself."""
    favours = m["positive_share"]
    return "" if favours is None or measure.signed else written.percent(favours, digits=0)
