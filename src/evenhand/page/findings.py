"""The verdict in plain sentences: whom it affects, in which direction, how much, how sure, and what chance shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand.groupings import shown_name
from evenhand.measures import find

KEY = (
    "demographic_parity", "equal_opportunity", "predictive_equality", "predictive_parity", "abcc",
    "calibration_standardized",
)  # fmt: skip
"""One measure for each question, said in full; the others are counted."""
MOST_TOLD = 6
"""So many groups get paragraphs of their own."""


@dataclass(frozen=True)
class Finding:
    """What an audit says about one group."""

    group: str
    kind: str
    """bad: some gap is certainly beyond its limit; warn: not settled; good: all are certainly within."""
    headline: str
    sentences: tuple[str, ...]
    beyond: int
    gap: float


def findings(attribute: dict[str, Any]) -> list[Finding]:
    """Every group but the reference, the most affected first."""
    by_group: dict[str, list[dict[str, Any]]] = {}
    for m in attribute["measures"]:
        by_group.setdefault(m["group"], []).append(m)
    found = [_finding(attribute, group, measures) for group, measures in by_group.items()]
    order = {"bad": 0, "warn": 1, "good": 2}
    return sorted(found, key=lambda f: (order[f.kind], -f.beyond, -f.gap))


def _finding(attribute: dict[str, Any], group: str, measures: list[dict[str, Any]]) -> Finding:
    known = [m for m in measures if m["passes"] is not None]
    beyond = [m for m in known if not m["passes"] and m["conclusive"]]
    within = [m for m in known if m["passes"] and m["conclusive"]]
    open_ = [m for m in known if not m["conclusive"]]
    small = group in attribute["too_small"]
    kind = "bad" if beyond else "warn" if open_ or small or not known else "good"
    who, reference = shown_name(group), shown_name(attribute["reference"])
    sizes = {g["name"]: g["n"] for g in attribute["groups"]}
    pair = f"{who} ({sizes[group]:,} people) and {reference} ({sizes[attribute['reference']]:,})"
    headline = {
        "bad": f"{who} and {reference} are not treated alike",
        "warn": f"{who} and {reference}: these data do not settle it",
        "good": f"{who} and {reference} are treated alike, within the limits",
    }[kind]
    tally = [
        f"{len(part)} {'is' if len(part) == 1 else 'are'} {words}"
        for part, words in (
            (beyond, "beyond the limit with all of the interval"), (within, "within it with all of the interval"),
            (open_, "not settled"), ([m for m in measures if m["passes"] is None], "undefined"),
        )
        if part
    ]  # fmt: skip
    told = [_told(m) for m in measures if m["id"] in KEY and m["passes"] is not None]
    first = f"Of {len(measures)} comparisons between {pair}, {_listed(tally)}."
    rest = [f"Not settled: {_listed([_title(m) for m in open_])}."] if open_ and kind != "good" else []
    if small:
        rest.append(f"{who} is too small to conclude anything: even three times the limit could go unnoticed.")
    gap = max((abs(m["signed"] or 0) for m in measures if m["id"] == "demographic_parity"), default=0.0)
    return Finding(group, kind, headline, (first, *told, *rest), len(beyond), gap)


def _told(m: dict[str, Any]) -> str:
    """The finding, and what chance alone would show."""
    text = str(m["interpretation"])
    if m["null_95"] is None:
        return text
    p = m["p_adjusted"] if m["p_adjusted"] is not None else m["p_value"]
    ratio = _scale(m) == "ratio"
    chance = f"Chance alone would {'stay above' if ratio else 'show at most'} {m['null_95']:.3f}, 95 times of 100"
    return f"{text} {chance} ({p_words(p)}{', adjusted' if m['p_adjusted'] is not None else ''})."


def p_words(p: float | None) -> str:
    """A p-value in words."""
    if p is None:
        return "no p-value"
    return "p < 0.001" if p < 0.0005 else f"p = {p:.3f}"


def remaining(found: list[Finding]) -> list[str]:
    """What is said of the groups that have no paragraph of their own."""
    words = {
        "bad": "Also not treated like the reference",
        "warn": "Not settled",
        "good": "Treated like the reference, within the limits",
    }
    return [
        f"{text}: {_listed([shown_name(f.group) for f in rest[:40]])}"
        + (f" and {len(rest) - 40:,} more." if len(rest) > 40 else ".")
        for kind, text in words.items()
        if (rest := [f for f in found[MOST_TOLD:] if f.kind == kind])
    ]


def summary(found: list[Finding], attribute: dict[str, Any]) -> str:
    """The attribute in a sentence."""
    count = {kind: sum(f.kind == kind for f in found) for kind in ("bad", "warn", "good")}
    name, reference = shown_name(attribute["name"]), shown_name(attribute["reference"])
    parts = [
        f"{n} {'differs' if n == 1 else 'differ'} for sure" * (kind == "bad")
        + f"{n} {'is' if n == 1 else 'are'} not settled" * (kind == "warn")
        + f"{n} {'is' if n == 1 else 'are'} within all limits" * (kind == "good")
        for kind, n in count.items()
        if n
    ]
    groups = "group" if len(found) == 1 else "groups"
    return f"By {name}, {len(found):,} {groups} compared with {reference}: {_listed(parts)}."


def _title(m: dict[str, Any]) -> str:
    measure = find(m["id"])
    return m["id"] if measure is None else measure.title


def _scale(m: dict[str, Any]) -> str:
    measure = find(m["id"])
    return "difference" if measure is None else measure.scale


def _listed(parts: list[str]) -> str:
    return ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + (parts[-1] if parts else "")
