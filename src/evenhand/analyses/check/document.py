"""The verdict of a policy: its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit.document import data_of
from evenhand.report.document import header, number, pair

if TYPE_CHECKING:
    from evenhand.analyses.check.check import Verdict
    from evenhand.analyses.check.finding import Finding
    from evenhand.analyses.check.rule import Rule
    from evenhand.analyses.check.sample_size import Sample

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
            "bootstrap": options.bootstrap,
            "permutations": options.permutations,
            "seed": options.seed,
            "ranks": options.scores.ranks,
            "calibration_bins": options.scores.calibration_bins,
            "bandwidth": options.scores.bandwidth,
            "null": options.null,
            "interval": options.interval,
            "stratified": options.stratified,
        },
        "policy": {
            "name": book.name,
            "file": book.places.file,
            "undefined": book.undefined,
            "min_group_size": book.min_group_size,
            "small_groups": book.small_groups,
            "confidence": book.confidence,
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
        "judge": rule.judge,
        "confidence": rule.confidence,
        "attributes": None if rule.attributes is None else list(rule.attributes),
        "groups": None if rule.groups is None else list(rule.groups),
        "pairs": rule.pairs,
        "undefined": rule.undefined,
        "reason": rule.reason,
        "line": rule.line,
        "passed": all(judged) if judged else None,
    }


def _finding(f: Finding, rule: int) -> dict[str, Any]:
    return {
        "rule": rule,
        "attribute": f.attribute,
        "group": f.group,
        "reference": f.reference,
        "n": f.n,
        "n_reference": f.n_reference,
        "status": f.status,
        "passes": f.passes,
        "value": number(f.value),
        "signed": number(f.signed),
        "ci": pair(f.ci),
        "confidence": f.confidence,
        "null_mean": number(f.chance),
        "judged": number(f.judged),
        "by": number(f.by),
        "conclusive": f.conclusive,
        "needed": None if f.needed is None else _sample(f.needed),
        "because": f.because,
        "interpretation": f.interpretation,
    }


def _sample(s: Sample) -> dict[str, Any]:
    return {"n": s.n, "n_reference": s.n_reference, "factor": s.factor, "power": s.power}


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
        unsure = sum(f["passes"] is True and f["conclusive"] is False for f in found["findings"])
        doubt = f", {unsure:,} of them not for certain" if unsure else ""
        kept = sum(r["passed"] is True for r in found["rules"])
        return f"PASS: {kept} of {rules} rules met in {_several(judged, 'comparison')}{doubt}{skipped}."
    kinds = ", ".join(f"{n:,} {status}" for status, n in tally.items() if n and status not in ("satisfied", "skipped"))
    failing = f"{counts['failing']} of {rules} rules not met"
    return f"FAIL: {failing}; of {_several(judged, 'comparison')} {kinds}{skipped}."


def _several(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
