"""What the page and the Markdown of thresholds say: which one, at what cost, for whom; then the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.thresholds.document import ANALYSIS
from evenhand.analyses.thresholds.text import at, chosen_rows, gap_of, levels, percents, stretches, whom
from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.contents import (
    Cell,
    Contents,
    Mood,
    Name,
    Part,
    Points,
    Section,
    Sheet,
    Word,
    capital,
    figure,
    left_out,
    several,
    share,
)
from evenhand.report.format import interval, number

FRONT = 40
"""So many thresholds of the front stand in the table."""
LEVELS = 20
"""So many steps of an analysis by group."""
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """All thresholds of a score, and the one that meets the policy."""
    answer, mood = _answer(document)
    sections = [Section("thresholds", "Thresholds to choose from", [_thresholds(document)])]
    if _told(document):
        sections.append(Section("groups", "Who is selected", [_groups(document)]))
    if document["policy"] is not None:
        sections.append(Section("policy", "The policy", list(_policy(document))))
    if document["by_group"] is not None:
        sections.append(Section("by-group", "Thresholds by group: an analysis", list(_by_group(document))))
    return Contents(
        title=f"Thresholds of {shown_name(document['data']['score'])} by {shown_name(document['attribute'])}",
        about=list(_about(document)),
        answer=answer,
        said=[document["interpretation"]],
        mood=mood,
        sections=sections,
        notes=document["notes"],
        options={"table": document["data"]["table"], **document["options"]},
    )


def _answer(document: Document) -> tuple[str, Mood]:
    """Which threshold it is, or that it is none."""
    policy, goal = document["policy"], document["options"]["performance"].replace("_", " ")
    if policy is None:
        best = document["best"]
        if best is None:
            return "No threshold can be recommended", "warn"
        return f"{_rule(document, best)} has the best {goal}", "plain"
    if policy["chosen"] is not None:
        sure = policy["settled"]
        doubt = "" if sure else ", but not for certain" if sure is False else ", without interval"
        return f"{_rule(document, policy['chosen'])} meets the policy{doubt}", "good" if sure else "warn"
    if policy["nearest"] is None:
        return "Which threshold meets the policy is undefined", "warn"
    if policy["feasible"]:
        return "No threshold is shown to meet the policy", "warn"
    return "No threshold meets the policy", "bad"


def _rule(document: Document, cutoff: Document) -> str:
    data = document["data"]
    return f"{shown_name(data['score'])} {'<' if data['risk'] else '≥'} {at(cutoff['threshold'], document)}"


def _about(document: Document) -> Iterator[str]:
    data = document["data"]
    yield f"{data['rows']:,} people"
    yield f"{'risk score' if data['risk'] else 'score'} {shown_name(data['score'])}"
    if data["label"] is not None:
        yield f"outcome {shown_name(data['label'])}, favourable: {shown_name(data['favorable'])}"
    yield f"groups of {shown_name(document['attribute'])}, compared with {shown_name(document['reference'])}"
    yield from left_out(data)


def _thresholds(document: Document) -> Sheet:
    """Those that have a name, and some of the front."""
    measure = find(document["options"]["fairness"])
    assert measure is not None
    several_groups = len(document["groups"]) > 2
    heads = [
        f"favourable {'<' if document['data']['risk'] else '≥'}", "what", "selected",
        document["options"]["performance"].replace("_", " "), measure.title,
        *(["furthest group"] if several_groups else []), "distance",
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            at(p["threshold"], document), Word(", ".join(marks), "good" if "chosen" in marks else "plain"),
            share(p["selection_rate"], digits=1), figure(p["performance"]), figure(p["value"]),
            *([Name(p["group"] or "–")] if several_groups else []), figure(p["dto"]),
        ]
        for p, marks in chosen_rows(document, FRONT)
    ]  # fmt: skip
    t = document["thresholds"]
    legend = (
        f"{several(t['count'], 'threshold')}, {t['front']:,} on the front (no other is better in both performance and "
    )
    legend += "fairness). Distance: to the optimum, 1 in both."
    return Sheet("Performance and fairness", heads, rows, ("what", "furthest group"), legend)


def _named(document: Document) -> list[tuple[str, Document]]:
    policy = document["policy"] or {}
    named = {
        "current": document["current"], "chosen": policy.get("chosen"), "misses least": policy.get("nearest"),
        "best": document["best"], "nearest to the optimum": document["nearest"],
    }  # fmt: skip
    return [(mark, cutoff) for mark, cutoff in named.items() if cutoff is not None]


def _told(document: Document) -> list[tuple[str, Document]]:
    """Named thresholds of which it is known whom they select."""
    return [(mark, cutoff) for mark, cutoff in _named(document) if cutoff["selection_rates"] is not None]


def _groups(document: Document) -> Sheet:
    """Selection rates of every group at the named thresholds, the lowest first."""
    told = _told(document)
    heads = ["group", *(f"{mark}: {_rule(document, cutoff)}" for mark, cutoff in told)]
    rates = [cutoff["selection_rates"] for _, cutoff in told]
    groups = sorted(document["groups"], key=lambda g: rates[0][g] if rates[0][g] is not None else 2.0)
    rows: list[list[Cell]] = [[Name(g), *(share(own[g], digits=1) for own in rates)] for g in groups]
    return Sheet("Share of each group that is selected", heads, rows, sortable=True)


def _policy(document: Document) -> Iterator[Part]:
    policy, options = document["policy"], document["options"]
    meet = f"{several(policy['feasible'], 'threshold')} {'meets' if policy['feasible'] == 1 else 'meet'} it"
    yield f"{' and '.join(options['require'])}. {meet}{stretches(policy)}."
    lines = []
    if policy["trivial"] and not options["allow_trivial"]:
        met = [whom(p) for p in document["trivial"] if p["threshold"] in policy["trivial"]]
        lines.append(f"Selecting {' or '.join(met) or 'everybody or nobody'} meets it too, and says nothing.")
    if policy["lost_to_current"] is not None:
        gained = number(-policy["lost_to_current"], sign=True)
        lines.append(f"Against the current threshold: {gained} {options['performance'].replace('_', ' ')}.")
    if policy["missed_by"]:
        missed = [f"{text} by {by:.2g}" for text, by in policy["missed_by"].items() if by is not None and by > 0]
        lines += [f"The nearest threshold misses {' and '.join(missed)}."] if missed else []
    if lines:
        yield Points(lines)
    if policy["checks"]:
        yield _checks(policy, options["confidence"])


def _checks(policy: Document, confidence: float) -> Sheet:
    moods: dict[bool | None, Word] = {
        True: Word("settled", "good"), False: Word("not settled", "warn"), None: Word("not known how sure", "warn"),
    }  # fmt: skip
    heads = ("requirement", "group", "is it met", "gap", "interval")
    rows: list[list[Cell]] = [
        [c["requirement"], Name(c["group"]), moods[c["settled"]], figure(gap_of(c)), interval(c["ci"])]
        for c in policy["checks"]
    ]
    level = policy["level"]
    legend = None if level is None else (
        f"Intervals at {percents(level)}, so that those of all thresholds hold together at {100 * confidence:g}%."
    )  # fmt: skip
    return Sheet("Every requirement at that threshold, by group", heads, rows, ("group", "is it met"), legend)


def _by_group(document: Document) -> Iterator[Part]:
    b = document["by_group"]
    yield f"{capital(ANALYSIS)}."
    if b["undefined"]:
        yield f"It is undefined {b['undefined']}."
        return
    goal, measure = document["options"]["performance"].replace("_", " "), b["measure"].replace("_", " ")
    steps = [*_changes(b["curve"])[:LEVELS], *([b["at_limit"]] if b["at_limit"] else [])]
    rows: list[list[Cell]] = [
        [
            number(step["limit"]), levels(step, document),
            " ".join(["required"] * (step is b["at_limit"]) + ["trivial"] * bool(step["trivial"])),
            figure(step["performance"]),
        ]
        for step in sorted(steps, key=lambda step: step["limit"])
    ]  # fmt: skip
    heads = (f"{measure} allowed", "thresholds", "what", goal)
    yield Sheet("What a threshold for each group would achieve", heads, rows, ("thresholds", "what"))


def _changes(curve: list[Document]) -> list[Document]:
    """Evenly many steps, without those at which nothing changes."""
    steps = curve[:: max(1, len(curve) // LEVELS)]
    before = [None, *(step["thresholds"] for step in steps)]
    return [step for step, same in zip(steps, before, strict=False) if step["thresholds"] != same]
