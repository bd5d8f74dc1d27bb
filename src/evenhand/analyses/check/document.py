"""The verdict of a policy: its document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.document import data_of
from evenhand.analyses.audit.verdict import WORDS
from evenhand.analyses.audit.verdict_words import NOT_COMPUTED
from evenhand.analyses.check.finding import WITHOUT
from evenhand.errors import shown_name
from evenhand.report.document import fields, header

if TYPE_CHECKING:
    from evenhand.analyses.check.check import Verdict
    from evenhand.analyses.check.finding import Finding
    from evenhand.analyses.check.rule import Rule

UNSURE = "not for certain"
DOUBTS = (UNSURE, WITHOUT)
STATUSES = ("satisfied", "violated", "not shown", "undefined", "too small", "skipped")


def document(verdict: Verdict) -> dict[str, Any]:
    """The whole verdict as plain values."""
    book, options = verdict.book, verdict.options
    tally = {status: sum(f.status == status for f in verdict.findings) for status in STATUSES}
    places = {id(rule): i for i, rule in enumerate(book.rules)}
    by_rule: list[list[Finding]] = [[] for _ in book.rules]
    for f in verdict.findings:
        by_rule[places[id(f.rule)]].append(f)
    rules = [_rule(rule, found) for rule, found in zip(book.rules, by_rule, strict=True)]
    found = {
        **header("check"),
        "passed": verdict.passed,
        "exit_code": verdict.exit_code,
        "data": data_of(verdict.table, options.threshold),
        "options": {
            **fields(options, "bootstrap permutations seed"),
            **fields(options.scores, "ranks calibration_bins gap_bins bandwidth"),
            **fields(options, "null interval stratified"),
            "tolerance": dict(options.tolerance),
        },
        "policy": {
            "name": book.name,
            "file": book.places.file,
            **fields(book, "undefined min_group_size small_groups confidence"),
        },
        "counts": {"rules": len(rules), "failing": sum(r["passed"] is False for r in rules), "comparisons": tally},
        "rules": rules,
        "findings": [_finding(f, i) for i, members in enumerate(by_rule) for f in members],
        "notes": list(verdict.notes),
    }
    found["interpretation"] = _summary(found)
    return found | {"verdict": _verdict(found)}


def _rule(rule: Rule, found: list[Finding]) -> dict[str, Any]:
    judged = [f.passes for f in found if f.passes is not None]
    return {
        "rule": str(rule),
        "measure": rule.measure.id,
        "comparison": rule.requirement.comparison,
        "limit": rule.requirement.bound,
        **fields(rule, "judge confidence attributes groups pairs undefined reason line"),
        "passed": all(judged) if judged else None,
    }


def _finding(f: Finding, rule: int) -> dict[str, Any]:
    return {
        "rule": rule,
        **fields(f, "attribute group reference n n_reference status passes value signed ci confidence"),
        **fields(f, "null_mean judged by conclusive without_interval word"),
        "needed": None if f.needed is None else fields(f.needed, "n n_reference factor power"),
        **fields(f, "because interpretation"),
    }


def _summary(found: dict[str, Any]) -> str:
    """PASS or FAIL, and how many."""
    counts = found["counts"]
    tally, rules = counts["comparisons"], counts["rules"]
    total = sum(tally.values())
    judged = total - tally["skipped"]
    skipped = f"; {_several(tally['skipped'], 'comparison')} skipped" if tally["skipped"] else ""
    if not judged:
        return f"FAIL: nothing was judged, because every comparison was skipped ({total:,})."
    if found["passed"]:
        doubts = [doubt_of(f) for f in found["findings"]]
        counted = [(doubts.count(doubt), doubt) for doubt in DOUBTS]
        doubt = "".join(f", {unsure:,} of them {doubt}" for unsure, doubt in counted if unsure)
        kept = sum(r["passed"] is True for r in found["rules"])
        return f"PASS: {kept} of {rules} rules met in {_several(judged, 'comparison')}{doubt}{skipped}."
    kinds = ", ".join(f"{n:,} {status}" for status, n in tally.items() if n and status not in ("satisfied", "skipped"))
    failing = f"{counts['failing']} of {rules} rules not met"
    return f"FAIL: {failing}; of {_several(judged, 'comparison')} {kinds}{skipped}."


def _verdict(found: dict[str, Any]) -> dict[str, Any]:
    """What stands in the way of passing, or comes nearest to it: its word, and in words what would settle it."""
    ordered = by_urgency(found)
    worst = next((f for f in ordered if f["status"] != "skipped"), None)
    if worst is None:
        return {"word": NOT_COMPUTED, "sentence": found["interpretation"], "worst": None}
    rule = found["rules"][worst["rule"]]
    nearest = "" if worst["passes"] is False or len(ordered) == 1 else "Nearest to its limit: "
    sentence = f"{nearest}{shown_name(rule['rule'], 200)}, {who(worst)}: {worst['interpretation']}"
    places = ("rule", "attribute", "group", "reference")
    return {"word": worst["word"], "sentence": sentence, "worst": {k: worst[k] for k in places}}


def by_urgency(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The findings, what fails first and what is certainly kept to last."""
    return sorted(document["findings"], key=lambda f: _urgency(f, document["rules"][f["rule"]]))


def _urgency(f: dict[str, Any], rule: dict[str, Any]) -> tuple[float, ...]:
    """What fails, by how; what is skipped or doubtful; and among those that are alike how far from the limit."""
    order = STATUSES.index(f["status"]) if not f["passes"] else len(STATUSES) + (doubt_of(f) is None)
    known = f["judged"] is not None and math.isfinite(f["judged"])
    room = rule["limit"] - f["judged"] if known else 0.0
    return order, WORDS.index(f["word"]) if f["passes"] is False else 0, room if rule["comparison"][0] == "<" else -room


def who(f: dict[str, Any], limit: int = 40) -> str:
    """The comparison that a finding is about."""
    names = [shown_name(name, limit) for name in (f["group"], f["reference"]) if name is not None]
    return f"{shown_name(f['attribute'], limit)}: {' against '.join(names) or 'all groups'}"


def doubt_of(f: dict[str, Any]) -> str | None:
    """Why what is kept to is not kept to for certain."""
    if not f["passes"]:
        return None
    return WITHOUT if f["without_interval"] else UNSURE if f["conclusive"] is False else None


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
