"""The two tables of a short report as rows of text, for views that have no cells of their own: LaTeX and Word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from evenhand.analyses.audit.brief import rates_behind
from evenhand.analyses.audit.verdict import WORDS, word_of
from evenhand.analyses.audit.wording import gap, measure_of, p_value, tolerated
from evenhand.errors import shown_name
from evenhand.measures.rates import RATES
from evenhand.report.format import interval, number, percent

MOST_GROUPS = 60


class Rows(NamedTuple):
    """A table of texts."""

    heads: list[str]
    rows: list[list[str]]


def groups(attribute: dict[str, Any]) -> Rows:
    """People, how many are selected, the ratio, and the rates behind the key measures of each group."""
    rates = rates_behind(attribute["verdict"]["key"])
    ratios = {m["group"]: m["value"] for m in attribute["measures"] if m["id"] == "disparate_impact"}
    rows = []
    for g in _shown(attribute):
        reference = g["name"] == attribute["reference"]
        ratio = 1.0 if reference else ratios.get(g["name"])
        told = [percent(g["rates"][rate]["value"], digits=1) for rate in ("selection_rate", *rates)]
        name = shown_name(g["name"]) + (" (reference)" if reference else "")
        rows.append([name, f"{g['n']:,}", told[0], number(ratio, digits=2), *told[1:]])
    return Rows(["group", "people", "selected", "ratio", *(RATES[r].short for r in rates)], rows)


def comparisons(attribute: dict[str, Any], confidence: float) -> Iterator[tuple[str, Rows]]:
    """Of each group that is compared: its title, and the key measures with the word of each."""
    by = {(m["group"], m["id"]): m for m in attribute["measures"]}
    heads = ["measure", "gap", f"{100 * confidence:g}% interval", "tolerance", "p (adjusted)", "verdict"]
    for g in _shown(attribute):
        own = [m for id_ in attribute["verdict"]["key"] if (m := by.get((g["name"], id_))) is not None]
        if own:
            title = f"{shown_name(g['name'])} against {shown_name(attribute['reference'])}"
            yield title, Rows(heads, [_row(m, confidence) for m in own])


def left_out(attribute: dict[str, Any]) -> str | None:
    """How many groups the tables do not show, if there are such."""
    more = len(attribute["groups"]) - MOST_GROUPS
    return f"{more:,} more groups are in the JSON." if more > 0 else None


def _shown(attribute: dict[str, Any]) -> list[dict[str, Any]]:
    """The reference and the groups with the worst words, in the order of the data."""
    words = attribute["verdict"]["groups"]

    def rank(g: dict[str, Any]) -> tuple[int, int]:
        word = words.get(g["name"])
        return -1 if g["name"] == attribute["reference"] else len(WORDS) if word is None else WORDS.index(word), -g["n"]

    kept = {g["name"] for g in sorted(attribute["groups"], key=rank)[:MOST_GROUPS]}
    return [g for g in attribute["groups"] if g["name"] in kept]


def _row(m: dict[str, Any], confidence: float) -> list[str]:
    measure = measure_of(m)
    ends = interval(m["ci"], sign=measure.signed)
    return [measure.title, gap(measure, m), ends, tolerated(measure, m["tolerance"]), p_value(m),
            word_of(m, confidence)]  # fmt: skip
