"""The verdict of a policy: its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.document import data_of
from evenhand.analyses.check.finding import WITHOUT
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
    return found | {"interpretation": _summary(found)}


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
        **fields(f, "null_mean judged by conclusive without_interval"),
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


def doubt_of(f: dict[str, Any]) -> str | None:
    """Why what is kept to is not kept to for certain."""
    if not f["passes"]:
        return None
    return WITHOUT if f["without_interval"] else UNSURE if f["conclusive"] is False else None


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
