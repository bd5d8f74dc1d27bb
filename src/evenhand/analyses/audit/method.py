"""How an audit was computed and how to repeat it, on its page and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit.wording import tolerances
from evenhand.errors import shown_name
from evenhand.report.format import percent
from evenhand.report.page.markup import Markup, cell, facts_of, grid, tag

Document = dict[str, Any]

_REPEATED = (
    "The same table, version and options give the same numbers to the last digit. Every number comes from counts of "
    "people by score, group and outcome; no row of the data is in this page."
)
_COMMAND = (
    "DATA is the file, which a report does not know, nor what it takes to read it (--sheet, --encoding, …). Of a saved "
    "table leave the columns out."
)


def method(document: Document, remarks: list[str]) -> Iterator[Markup]:
    """What was audited, and what it takes to repeat it."""
    options = {k: v for k, v in document["options"].items() if v is not None and k != "tolerance"}
    yield facts_of(facts(document))
    yield tag("p", _REPEATED)
    yield tag("pre", tag("code", document["command"]), class_="command", tabindex="0", role="region",
              aria_label="The command that repeats this audit")  # fmt: skip
    yield tag("p", _COMMAND, class_="note")
    rows = [["version", f"Evenhand {document['version']}"],
            ["digest of the table (SHA-256)", tag("code", document["data"]["table"])],
            *([k.replace("_", " "), str(v)] for k, v in options.items())]  # fmt: skip
    yield grid("What it takes to repeat this audit", ["what", "value"], [[k, cell(v, class_="words")] for k, v in rows])
    yield from (tag("p", remark, class_="note") for remark in remarks)
    yield tag("p", "What a report of fairness should state (after Han, Baldwin and Cohn 2023, section 3.4).")
    items = [[k, cell(v, class_="words"), cell(w, class_="words")] for k, v, w in checklist(document)]
    yield grid("Checklist", ["item", "answer", "why"], items)


def facts(document: Document) -> Iterator[tuple[str, str]]:
    """What was audited."""
    data = document["data"]
    yield "People", f"{data['rows']:,}"
    left = [f"{count:,} rows {shown_name(reason, 100)}" for reason, count in data["left_out"].items()]
    yield "Left out", "; ".join(left) or "nobody"
    if data["score"] is not None:
        lo, hi = data["score_range"]
        kind = "high is bad for the person" if data["risk"] else "high is good for the person"
        yield "Score", f"{shown_name(data['score'])}, from {lo:.12g} to {hi:.12g}, {kind}"
    if data["label"] is not None:
        yield "Outcome", f"{shown_name(data['label'])}, favourable: {shown_name(data['favorable'])}"
    yield "Favourable decision", shown_name(data["decision_rule"], 120)
    if stated := tolerances(document["options"]):
        yield "Tolerances", stated
    for a in document["attributes"]:
        yield f"Groups of {shown_name(a['name'])}", _sizes(a)
    if data["weight"] is not None:
        yield "Weights", shown_name(data["weight"])
    if data["cluster"] is not None:
        yield "Clusters", f"{data['clusters']:,} of {shown_name(data['cluster'])}"


def _sizes(attribute: dict[str, Any]) -> str:
    """The largest groups, with the share that has the favourable outcome."""
    groups = sorted(attribute["groups"], key=lambda g: -g["n"])
    told = []
    for g in groups[:8]:
        base = g["rates"].get("base_rate", {"value": None})["value"]
        outcome = "" if base is None else f" ({percent(base)} with the favourable outcome)"
        told.append(f"{shown_name(g['name'])} {g['n']:,}{outcome}")
    more = f" and {len(groups) - 8:,} more" if len(groups) > 8 else ""
    return ", ".join(told) + more


def checklist(document: Document) -> Iterator[tuple[str, str, str]]:
    """The choices behind the numbers, said aloud."""
    data, options = document["data"], document["options"]
    for a in document["attributes"]:
        smallest = min(a["groups"], key=lambda g: g["n"])
        yield (
            f"data, by {shown_name(a['name'])}",
            f"{len(a['groups']):,} groups, the smallest {shown_name(smallest['name'])} with {smallest['n']:,} people",
            f"compared with {shown_name(a['reference'])}; whom one compares with decides the sign",
        )
    ids = {m["id"] for a in document["attributes"] for m in a["measures"]}
    key = len(document["verdict"]["key"])
    yield ("metric", f"{len(ids)} measures, one by one; {key} of them key measures, which the verdict is about",
           "no single number: they answer different questions and can exclude each other")  # fmt: skip
    yield ("unit", "differences between a group and the reference; ratios where the measure is one",
           "tolerances of 0.1 and 0.8 are conventions: state your own with --tolerance")  # fmt: skip
    yield ("aggregation over groups", "none; of more than two also the most different pair and the mean over pairs",
           "an average would hide the group that fares worst")  # fmt: skip
    drawn = f"{options['bootstrap']:,} resamples, {options['permutations']:,} permutations"
    adjusted = "p-values adjusted (Holm) for all comparisons by key measures, those of others for all comparisons"
    yield ("uncertainty", f"{100 * options['confidence']:g}% intervals, {drawn}, {adjusted}",
           "samples never show parity exactly")  # fmt: skip
    others = "no score is known, so no other threshold can be tried"
    if data["score"] is not None:
        others = "other thresholds: see the explorer and the charts over scores"
    yield "decision", shown_name(data["decision_rule"], 120), others
