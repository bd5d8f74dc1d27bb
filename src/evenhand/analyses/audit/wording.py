"""How a measure and its numbers are written: the same in the terminal, on the page and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evenhand.errors import shown_name
from evenhand.inference.significance import at_floor
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


MOST_FORCED = 6
"""So many groups are told what they would have to have."""


def impossibility(attribute: dict[str, Any]) -> tuple[str, list[str]]:
    """Whether criteria exclude each other, and a line for each set that does, with what would have to give."""
    criteria = attribute["impossibility"]
    p = written.p_words(criteria["p_value"])
    if not criteria["base_rates_differ"]:
        return f"Base rates are not shown to differ ({p}), so criteria are not shown to exclude each other either.", []
    if not criteria["statements"]:
        return f"Base rates differ ({p}), but nothing else that would make criteria exclude each other is shown.", []
    lines = [_excluded(one, criteria["equalised_to"]) for one in criteria["statements"]]
    return f"Base rates differ ({p}), so the criteria of a line cannot all be met:", lines


def _excluded(one: dict[str, Any], reference: str) -> str:
    line = f"{' + '.join(titles(one['criteria']))}, unless {one['unless']} ({one['theorem']})."
    own = next((f["forced"] for f in one["forced"] if f["group"] == reference), None)
    changes = [
        f"{shown_name(f['group'], 24)} {written.number(f['forced'])}" + (" (impossible)" if f["forced"] > 1 else "")
        for f in one["forced"]
        if f["group"] != reference and f["forced"] is not None
    ]
    if not changes or own is None or len(changes) > MOST_FORCED:
        return line
    whom = shown_name(reference, 24)
    given = f"With the {one['equalised']} of {whom}, the {one['gives']} would have to be"
    return f"{line} {given}: {whom} {written.number(own)}, {', '.join(changes)}."


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


def not_computed(measures: Iterable[dict[str, Any]], which: str = "undefined") -> list[str]:
    """The measures that are undefined, those of one reason together: no table lists them row by row.

    >>> lacking = "because there are no labels"
    >>> not_computed([{"id": id_, "undefined": lacking} for id_ in ("equal_opportunity", "roc")])
    ['equal opportunity, ROC bias: because there are no labels']
    """
    reasons: dict[str, list[str]] = {}
    for m in measures:
        if m[which]:
            reasons.setdefault(m[which], []).append(measure_of(m).title)
    return [f"{', '.join(titles)}: {shown_name(because, 200)}" for because, titles in reasons.items()]


def tolerated(measure: Measure, tolerance: float | None, short: bool = False) -> str:
    """What is within the tolerance."""
    if tolerance is None:
        return "none"
    if measure.scale == "ratio":
        return f"×÷{tolerance:g}" if short else f"{tolerance:g} to {1 / tolerance:g}"
    return f"±{tolerance:.2g}" if measure.signed else f"{tolerance:.2g}"


def tolerances(options: dict[str, Any]) -> str:
    """The tolerances that were stated, by measure; nothing if none was."""
    stated = [(measure_of({"id": id_}), tolerance) for id_, tolerance in options["tolerance"].items()]
    return ", ".join(f"{m.title} {tolerated(m, tolerance)}" for m, tolerance in stated)


def apart(measures: list[dict[str, Any]]) -> str | None:
    """By how many standard deviations selection rates of a group are apart, as US employment practice counts."""
    known = [m["standard_deviations"] for m in measures if m["standard_deviations"] is not None]
    if not known:
        return None
    away = f"{known[0]:+.1f} standard deviations"
    return f"Selection rates are {away} apart; US practice takes 2 or 3 for more than chance."


def p_value(m: dict[str, Any], which: str = "p_adjusted") -> str:
    """A p-value; where more permutations of group labels could make it smaller, with ≤."""
    return written.p_value(m[which], at_most=_at_most(m, which))


def p_words(m: dict[str, Any], which: str = "p_adjusted") -> str:
    """The same in a sentence."""
    return written.p_words(m[which], at_most=_at_most(m, which))


def _at_most(m: dict[str, Any], which: str) -> bool:
    return bool(m["p_adjusted_at_most"]) if which == "p_adjusted" else at_floor(m["p_value"], m["null_method"])


def share(m: dict[str, Any], measure: Measure) -> str:
    """How much of a distance is in favour of the group; a signed gap says so itself."""
    favours = m["positive_share"]
    return "" if favours is None or measure.signed else written.percent(favours, digits=0)


def chance_shows(m: dict[str, Any]) -> str:
    """What groups that are alike show, and how often they show as much."""
    mean, high = written.number(m["null_mean"]), written.number(m["null_95"])
    return f"groups that are alike show {mean} on average, up to {high} 95 times of 100; {p_words(m, 'p_value')}"
