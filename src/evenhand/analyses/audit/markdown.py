"""Results → Markdown that fits a pull request or a model card."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from evenhand.analyses.audit.findings import MOST_TOLD, findings, remaining
from evenhand.analyses.audit.page import facts, title_of
from evenhand.analyses.audit.roc_parts import telling
from evenhand.analyses.audit.wording import (
    chance_shows,
    gap,
    measure_of,
    p_value,
    rates_of,
    size,
    tolerated,
)
from evenhand.errors import shown_name
from evenhand.measures.rates import MAIN_RATES
from evenhand.report.format import interval, number, sentence
from evenhand.report.markdown import escaped, finished, table

MOST_TABLES = 6


def audit_markdown(document: dict[str, Any]) -> str:
    """The audit: what was audited, the verdict in sentences, rates by group, and every measure."""
    return finished(_lines(document))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"## {escaped(title_of(document))}"
    yield ""
    yield from (f"- **{escaped(term)}:** {escaped(text)}" for term, text in facts(document))
    yield ""
    for attribute in document["attributes"]:
        yield f"### By {escaped(shown_name(attribute['name']))}"
        yield ""
        told = findings(attribute)
        for f in told[:MOST_TOLD]:
            yield f"**{escaped(f.headline)}.** {escaped(f.tally)}"
            yield ""
            yield from (f"- **{escaped(point.lead)}**{escaped(point.rest)}" for point in f.points if point.shown)
            yield ""
        yield from (f"{escaped(sentence)}\n" for sentence in remaining(told))
        yield from _groups(attribute)
        for f in told[:MOST_TABLES]:
            yield from _measures(attribute, f.group, document["options"]["confidence"])
        if attribute["largest"]:
            yield from _all_pairs(attribute, document["options"]["confidence"])
        if told := attribute["information"]:
            chance = "" if told["p_value"] is None else f" {sentence(chance_shows(told))}"
            yield escaped(sentence(told["interpretation"]) + chance)
            yield ""
    for note in document["notes"]:
        yield f"> {escaped(shown_name(note, 600))}"
        yield ">"
    options = document["options"]
    yield ""
    yield (
        f"<sub>Evenhand {document['version']}, table `{document['data']['table'][:16]}`, seed {options['seed']}, "
        f"{options['bootstrap']:,} resamples, {options['permutations']:,} permutations.</sub>"
    )


def _groups(attribute: dict[str, Any]) -> Iterator[str]:
    columns = rates_of(attribute, MAIN_RATES[:5])
    shown = sorted(attribute["groups"], key=lambda g: -g["n"])[:30]
    rows = [
        [
            escaped(shown_name(g["name"])) + (" (reference)" if g["name"] == attribute["reference"] else ""),
            f"{g['n']:,}",
            *(number(g["rates"][r]["value"]) for r in columns),
        ]
        for g in shown
    ]
    yield from table(["group", "people", *columns.values()], rows)
    if len(attribute["groups"]) > len(shown):
        yield f"{len(attribute['groups']) - len(shown):,} smaller groups are not shown.\n"


def _measures(attribute: dict[str, Any], group: str, confidence: float) -> Iterator[str]:
    measures = [m for m in attribute["measures"] if m["group"] == group]
    title = escape(f"{shown_name(group)} against {shown_name(attribute['reference'])}: every measure")
    yield f"<details><summary>{title}</summary>"
    yield ""
    heads = ["measure", "gap", f"{100 * confidence:g}% interval", "null 95%", "p", "p adjusted", "tolerance", "verdict"]
    yield from table(heads, [_row(m) for m in measures])
    told = [f"- {escaped(sentence)}" for sentence in telling(measures)]
    yield from (*told, "") if told else ()
    yield "</details>"
    yield ""


def _all_pairs(attribute: dict[str, Any], confidence: float) -> Iterator[str]:
    """The most different pair, and the mean over all pairs."""
    yield "<details><summary>The most different pair of groups, and the mean over all pairs</summary>"
    yield ""
    level = f"{100 * confidence:g}% interval"
    heads = ["measure", "gap", level, "null 95%", "pair", "mean over all pairs", level]
    rows = []
    for m in attribute["largest"]:
        measure = measure_of(m)
        pair = "–" if m["pair"] is None else escaped(" and ".join(shown_name(g) for g in m["pair"]))
        rows.append([
            measure.title, size(measure, m["value"]), interval(m["ci"]), size(measure, m["null_95"]), pair,
            size(measure, m["mean"]), interval(m["ci_mean"]),
        ])  # fmt: skip
    yield from table(heads, rows)
    yield "</details>"
    yield ""


def _row(m: dict[str, Any]) -> list[str]:
    measure = measure_of(m)
    sure = "**beyond**" if m["conclusive"] else "beyond"
    word = {True: "within", False: sure, None: "not settled" if m["unjudged"] else "undefined"}[m["passes"]]
    known = m["passes"] is not None
    open_ = {True: "", False: ", not settled", None: ", without interval"}[m["conclusive"]] if known else ""
    return [
        measure.title, gap(measure, m), interval(m["ci"], sign=measure.signed), size(measure, m["null_95"]),
        p_value(m, "p_value"), p_value(m), tolerated(measure, m["tolerance"]), word + open_,
    ]  # fmt: skip
