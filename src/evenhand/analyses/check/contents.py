"""What the page and the Markdown of a verdict say: whether it passed, what fails for whom, and every comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.check.document import by_urgency, doubt_of, who
from evenhand.analyses.check.finding import WITHOUT
from evenhand.errors import shown_name
from evenhand.report.contents import (
    Box,
    Cell,
    Contents,
    Mood,
    Name,
    Number,
    Points,
    Section,
    Sheet,
    Word,
    figure,
    left_out,
)
from evenhand.report.format import interval

RULE = 200
COMPARISONS = ("rule", "comparison", "status", "value", "limit", "interval", "verdict")
MOST_TOLD = 20
"""So many comparisons are told in words; the table has all."""
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """The verdict of a policy, what fails first."""
    policy = document["policy"]
    passed, found = document["passed"], by_urgency(document)
    doubts = any(doubt_of(f) for f in found) or document["counts"]["comparisons"]["skipped"]
    return Contents(
        title=f"Fairness check{': ' + shown_name(policy['name'], 80) if policy['name'] else ''}",
        about=list(_about(document)),
        answer=document["interpretation"],
        said=[document["verdict"]["sentence"]] if document["verdict"]["worst"] else [],
        mood="bad" if not passed else "warn" if doubts else "good",
        sections=[
            Section("comparisons", "Every comparison", [_comparisons(document, found)]),
            *_told(document, found),
            Section("rules", "Every rule", [_rules(document, found)], minor=True),
        ],
        notes=document["notes"],
        options={
            "table": document["data"]["table"],
            **{k: v for k, v in policy.items() if k != "name"},
            **document["options"],
        },
    )


def _about(document: Document) -> Iterator[str]:
    data, file = document["data"], document["policy"]["file"]
    yield f"{data['rows']:,} people"
    yield f"favourable decision: {shown_name(data['decision_rule'], 120)}"
    if file:
        yield f"policy {shown_name(file, 60)}"
    yield from left_out(data)


def _told(document: Document, found: list[Document]) -> Iterator[Section]:
    """What is not met, skipped or doubtful, in words; and why there are the rules that are not met."""
    told = [f for f in found if not f["passes"] or doubt_of(f)]
    boxes = [_box(f, document["rules"][f["rule"]]) for f in told[:MOST_TOLD]]
    more = [f"{len(told) - MOST_TOLD:,} more are in the table."] if len(told) > MOST_TOLD else []
    if boxes:
        heading = "What does not keep to its rule" if not document["passed"] else "What is not certain"
        yield Section("told", heading, [*boxes, *more, *_reasons(document)])


def _box(f: Document, rule: Document) -> Box:
    mood: Mood = "bad" if f["passes"] is False else "warn"
    return Box(f"{shown_name(rule['rule'], RULE)}, {who(f)}", shown_name(f["interpretation"], 600), mood)


def _comparisons(document: Document, found: list[Document]) -> Sheet:
    rows = [_comparison(f, document["rules"][f["rule"]]) for f in found]
    words = ("comparison", "status")
    legend = (
        "Verdict: whether there is a gap, and whether it matters, as an audit says it, with the limit of the rule as "
        "the tolerance."
    )
    return Sheet("Comparisons, what fails first", COMPARISONS, rows, words, legend)


def _comparison(f: Document, rule: Document) -> list[Cell]:
    doubt = doubt_of(f) or (WITHOUT if f["without_interval"] else None)
    status = f["status"] + (f", {doubt}" if doubt else "")
    mood: Mood = "bad" if f["passes"] is False else "warn" if doubt or f["passes"] is None else "good"
    return [
        Name(shown_name(rule["rule"], RULE)), who(f), Word(status, mood), figure(f["value"]),
        Number(f"{rule['comparison']} {rule['limit']:.6g}", rule["limit"]), interval(f["ci"]), f["word"],
    ]  # fmt: skip


def _reasons(document: Document) -> Iterator[Points]:
    """Why there are the rules that are not met, as those who made them say."""
    reasons = [
        f"Reason for {shown_name(rule['rule'], RULE)}: {shown_name(rule['reason'], 300)}"
        for rule in document["rules"]
        if rule["reason"] and not rule["passed"]
    ]
    if reasons:
        yield Points(reasons)


def _rules(document: Document, found: list[Document]) -> Sheet:
    order = {False: 0, None: 1, True: 2}
    rules = sorted(enumerate(document["rules"]), key=lambda item: order[item[1]["passed"]])
    counted: dict[int, list[Document]] = {}
    for f in found:
        counted.setdefault(f["rule"], []).append(f)
    rows = [_rule(rule, counted.get(i, [])) for i, rule in rules]
    heads = ("rule", "outcome", "comparisons", "not met", "line of the policy")
    return Sheet("Rules, those that are not met first", heads, rows, ("outcome",))


def _rule(rule: Document, found: list[Document]) -> list[Cell]:
    word = {True: Word("met", "good"), False: Word("not met", "bad"), None: Word("skipped", "warn")}[rule["passed"]]
    failing = sum(f["passes"] is False for f in found)
    return [
        Name(shown_name(rule["rule"], RULE)), word, Number(f"{len(found):,}", len(found)),
        Number(f"{failing:,}", failing), Number("–" if rule["line"] is None else f"{rule['line']}", rule["line"]),
    ]  # fmt: skip
