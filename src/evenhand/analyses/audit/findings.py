"""The verdict in plain sentences: whom it affects, in which direction, how much, how sure, and what chance shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand.analyses.audit.wording import measure_of, p_words, titles
from evenhand.errors import shown_name
from evenhand.measures.registry import Measure, RateMeasure
from evenhand.report.document import least
from evenhand.report.format import interval, number

KEY = (
    "demographic_parity", "equal_opportunity", "predictive_equality", "predictive_parity", "abcc",
    "calibration_standardized",
)  # fmt: skip
"""One measure for each question, said in full; the others are counted."""
Pair = tuple[dict[str, Any], dict[str, Any]]
MOST_TOLD = 6
"""So many groups get paragraphs of their own."""


@dataclass(frozen=True)
class Point:
    """One measure in a sentence: who fares how, and how much, how sure."""

    lead: str
    rest: str
    shown: bool
    """Whether the gap is beyond its tolerance and more than chance would show."""


@dataclass(frozen=True)
class Finding:
    """What an audit says about one group."""

    group: str
    kind: str
    """bad: a key measure is beyond its tolerance with the whole interval; good: all are within; warn: anything else."""
    headline: str
    tally: str
    points: tuple[Point, ...]
    warnings: tuple[str, ...]
    beyond: int
    gap: float


def findings(attribute: dict[str, Any]) -> list[Finding]:
    """Every group but the reference, the most affected first."""
    by_group: dict[str, list[dict[str, Any]]] = {}
    for m in attribute["measures"]:
        by_group.setdefault(m["group"], []).append(m)
    about = [_finding(attribute, group, measures) for group, measures in by_group.items()]
    order = {"bad": 0, "warn": 1, "good": 2}
    return sorted(about, key=lambda f: (order[f.kind], -f.beyond, -f.gap))


def _finding(attribute: dict[str, Any], group: str, measures: list[dict[str, Any]]) -> Finding:
    known = [m for m in measures if m["passes"] is not None]
    parts = {
        "beyond the tolerance with the whole interval": [m for m in known if not m["passes"] and m["conclusive"]],
        "within the tolerance with the whole interval": [m for m in known if m["passes"] and m["conclusive"]],
        "not settled": [m for m in measures if m["unjudged"] or (m["passes"] is not None and not m["conclusive"])],
        "undefined": [m for m in measures if m["undefined"]],
    }
    beyond, within, open_, _ = parts.values()
    small = group in attribute["too_small"]
    groups = {g["name"]: g for g in attribute["groups"]}
    pair = groups[group], groups[attribute["reference"]]
    kind, headline = _headline(group, attribute["reference"], beyond, bool(within) and not open_, small)
    if kind == "good":
        kind, headline = _doubted(headline, measures, pair)
    who, reference = shown_name(group), shown_name(attribute["reference"])
    counts = [f"{len(p)} {'is' if len(p) == 1 else 'are'} {how}" for how, p in parts.items() if p]
    sizes = f"{who} ({pair[0]['n']:,} people) with {reference} ({pair[1]['n']:,})"
    of = f"Of {len(measures)} measures that compare" if len(measures) > 1 else "Of the one measure that compares"
    tally = f"{of} {sizes}, {listed_and(counts)}."
    warnings = [f"Not settled: {listed_and(_titles(open_))}."] if open_ else []
    if small:
        few = who if pair[0]["n"] <= pair[1]["n"] else f"{reference}, the reference,"
        tally += f" So few people of {few} prove little: even three times the tolerance could go unnoticed."
    points = tuple(_point(m, pair) for m in measures if m["id"] in KEY and not m["undefined"])
    gap = max((abs(m["signed"] or 0) for m in measures if m["id"] == "demographic_parity"), default=0.0)
    return Finding(group, kind, headline, tally, points, tuple(warnings), len(beyond), gap)


def _headline(group: str, reference: str, beyond: list[dict[str, Any]], settled: bool, small: bool) -> tuple[str, str]:
    pair = f"{shown_name(group)} and {shown_name(reference)}"
    sure = [m for m in beyond if not by_chance(m)]
    if any(m["id"] in KEY for m in sure) and not small:
        return "bad", f"{pair} are not treated alike"
    if sure:
        few = ", though there are few people" if small else ""
        return "warn", f"{pair} differ in {listed_and(_titles(sure[:3]))}{few}"
    if settled and not beyond and not small:
        return "good", f"{pair} are treated alike, within the tolerances"
    return "warn", f"{pair}: these data do not settle it"


def _doubted(headline: str, measures: list[dict[str, Any]], pair: Pair) -> tuple[str, str]:
    """Alike is no praise if the same happens to everybody, or if a question cannot be answered."""
    who = " and ".join(shown_name(g["name"]) for g in pair)
    rates = {g["rates"]["selection_rate"]["value"] for g in pair}
    if rates in ({0.0}, {1.0}):
        return "warn", f"{who}: the decision is the same for everybody, which says nothing"
    labels = "base_rate" in pair[0]["rates"]
    asked = [m for m in measures if isinstance(r := measure_of(m), RateMeasure) and (labels or not r.needs_label)]
    if any(m["id"] in KEY and m["passes"] is None for m in asked):
        return "warn", f"{who} are within the tolerances, as far as they can be compared"
    return "good", headline


def by_chance(m: dict[str, Any]) -> bool:
    """Whether chance alone, adjusted for all comparisons, may show as much.

    Where none of many permutations of group labels came near, their number decides how small an adjusted p-value can
    be: then the plain one is read.
    """
    if least(m) and m["p_value"] <= 0.01:
        return False
    p = m["p_value"] if m["p_adjusted"] is None else m["p_adjusted"]
    return p is not None and p > 0.05


def _apart(m: dict[str, Any], parity: float) -> bool:
    """Whether a gap is there at all: by its p-value, or if it was not tested by its interval."""
    if m["p_value"] is not None:
        return not by_chance(m)
    ci = m["ci"]
    return ci is not None and None not in ci and not ci[0] <= parity <= ci[1]


def _point(m: dict[str, Any], pair: Pair) -> Point:
    measure = measure_of(m)
    value = number(m["signed"], sign=True) if measure.signed and m["signed"] is not None else number(m["value"])
    ci = m["ci"]
    ends = "" if ci is None or None in ci else f" (interval {interval(ci)})"
    tolerance = f"the tolerance of {m['tolerance']:.2g}"
    how = "within" if m["passes"] else "beyond"
    judged = {
        True: f"; the whole interval is {how} {tolerance}",
        False: f"; {how} {tolerance}, but the interval reaches across it",
        None: f"; {how} {tolerance}, without interval",
    }[m["conclusive"]]
    if m["unjudged"]:
        judged = f"; not held to {tolerance}, {m['unjudged']}"
    rest = f": {_rates(measure, pair)}gap {value}{ends}{judged}. {_chance(m)}"
    there = _apart(m, 1.0 if measure.scale == "ratio" else 0.0)
    if m["p_value"] is None and ci is None:
        return Point(f"{measure.title[0].upper()}{measure.title[1:]} was neither tested nor has an interval",
                     rest.rstrip(), False)  # fmt: skip
    return Point(_lead(measure, m, there), rest.rstrip(), m["passes"] is False and there)


def _lead(measure: Measure, m: dict[str, Any], there: bool) -> str:
    """Who fares how, if that can be told."""
    who, reference = shown_name(m["group"]), shown_name(m["reference"])
    share = m["positive_share"]
    if not there:
        return f"{measure.title[0].upper()}{measure.title[1:]} shows no more than chance"
    if m["signed"] and (measure.signed or (share is not None and not 0.25 <= share <= 0.75)):
        return f"{who} {measure.more if m['signed'] > 0 else measure.less} than {reference}"
    return f"{who} and {reference} differ in {measure.title}"


def _rates(measure: Measure, pair: Pair) -> str:
    """The two rates that are compared, if it is two."""
    if not isinstance(measure, RateMeasure) or len(measure.components) != 1:
        return ""
    a, b = (g["rates"].get(measure.components[0], {"value": None})["value"] for g in pair)
    return "" if a is None or b is None else f"{number(a)} against {number(b)}, "


def _chance(m: dict[str, Any]) -> str:
    """What chance alone would show."""
    if m["null_95"] is None:
        return ""
    if least(m):
        how = f"in none of {m['null_method'].split(',')[0]} as much"
    elif m["p_adjusted"] is not None:
        how = f"{p_words(m, 'p_value')}, {p_words(m)} adjusted for all comparisons"
    else:
        how = p_words(m, "p_value")
    return f"Chance alone would show up to {number(m['null_95'])} ({how})."


def remaining(about: list[Finding]) -> list[str]:
    """What is said of the groups that have no paragraph of their own."""
    told = {
        "bad": "Also not treated like the reference",
        "warn": "Less clear",
        "good": "Treated like the reference, within the tolerances",
    }
    return [
        f"{text}: {listed_and([shown_name(f.group) for f in rest[:40]])}"
        + (f" and {len(rest) - 40:,} more." if len(rest) > 40 else ".")
        for kind, text in told.items()
        if (rest := [f for f in about[MOST_TOLD:] if f.kind == kind])
    ]


def summary(about: list[Finding], attribute: dict[str, Any]) -> str:
    """The attribute in a sentence."""
    told = {"bad": "not treated alike", "good": "within all tolerances", "warn": "less clear"}
    counts = {how: sum(f.kind == kind for f in about) for kind, how in told.items()}
    parts = [f"{n} {'is' if n == 1 else 'are'} {how}" for how, n in counts.items() if n]
    name, reference = shown_name(attribute["name"]), shown_name(attribute["reference"])
    groups = "group" if len(about) == 1 else "groups"
    return f"By {name}, {len(about):,} {groups} compared with {reference}: {listed_and(parts)}."


def _titles(measures: list[dict[str, Any]]) -> list[str]:
    return titles(m["id"] for m in measures)


def listed_and(parts: list[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + (parts[-1] if parts else "")
