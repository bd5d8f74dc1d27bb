"""What a first look shows, in a terminal, on a page and in Markdown: short words, the worst groups, few digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.analyses.audit.verdict import WORDS
from evenhand.analyses.audit.verdict_words import NOT_COMPUTED, in_points, percents
from evenhand.analyses.audit.wording import measure_of
from evenhand.measures.registry import Measure
from evenhand.report.format import number, percent

_SHORT = ("unequal", "unequal ?", "may exceed", "cannot tell", "not known", "small", "no gap")
SHORT = dict(zip(WORDS, _SHORT, strict=True))
"""A word in a column."""
MOST_GROUPS = 8
"""Rows of a table of groups; the worst ones are shown."""
MOST_NOTES = 4
RATES_TOLD = ("tpr", "fpr", "ppv")
"""Rates that stand beside the selection rate."""


def rates_behind(key: Sequence[str]) -> list[str]:
    """Those of them that some key measure compares.

    >>> rates_behind(["disparate_impact", "equal_opportunity"])
    ['tpr']
    """
    return [r for r in RATES_TOLD if any(r in getattr(measure_of({"id": k}), "components", ()) for k in key)]


NOT_COMPARED = "not compared"
"""In place of a verdict, of groups that are excluded from comparison."""


def ranked(attribute: dict[str, Any]) -> list[dict[str, Any]]:
    """The groups of an attribute: the reference, then the worst verdicts, and of these the selection furthest from it.

    The group that the verdict names comes before others of its word.
    """
    verdict, reference = attribute["verdict"], attribute["reference"]
    rates = {g["name"]: g["rates"]["selection_rate"]["value"] for g in attribute["groups"]}
    named = (verdict["worst"] or {}).get("group")

    def place(g: dict[str, Any]) -> tuple[int, bool, float]:
        name, word = g["name"], verdict["groups"].get(g["name"], NOT_COMPUTED)
        apart = 0.0 if None in (rates[name], rates[reference]) else abs(rates[name] - rates[reference])
        last = len(WORDS) if name in attribute["excluded"] else WORDS.index(word)
        return -1 if name == reference else last, name != named, -apart

    return sorted(attribute["groups"], key=place)


def worst_first(attribute: dict[str, Any]) -> list[str]:
    """The names of the groups that are compared with the reference, in that order."""
    aside = {attribute["reference"], *attribute["excluded"]}
    return [g["name"] for g in ranked(attribute) if g["name"] not in aside]


def percent_column(rates: Sequence[float | None]) -> list[str]:
    """Rates of a column, with as many decimals for all of them: one where some are small, or two would look alike.

    >>> percent_column([0.41, 0.65, None]), percent_column([0.035, 0.5]), percent_column([0.501, 0.502])
    (['41%', '65%', '–'], ['3.5%', '50.0%'], ['50.1%', '50.2%'])
    """
    known = [r for r in rates if r is not None]
    digits = int(any(0 < r < 0.0995 or 0.9005 < r < 1 for r in known))
    if len(known) == len(rates) == 2 and len(set(known)) == 2:
        return percents(known[0], known[1])
    return [percent(r, digits=digits) for r in rates]


def few_digits(measure: Measure, m: dict[str, Any]) -> str:
    """The gap as people say it: a ratio, percentage points, or a distance."""
    if m["value"] is None:
        return "–"
    if measure.scale == "ratio":
        return f"{number(m['value'], digits=2)}×"
    signed = m["signed"] if measure.signed and m["signed"] is not None else m["value"]
    if in_points(measure):
        return f"{100 * signed:+.1f} pts".replace("-", "−") if measure.signed else f"{100 * signed:.1f} pts"
    return number(signed, sign=measure.signed).replace("-", "−")
