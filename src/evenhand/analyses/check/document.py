"""The verdict of a policy: its document, and what a terminal shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from evenhand.analyses.audit.document import data_of
from evenhand.errors import shown_name
from evenhand.report.document import header, number, pair

if TYPE_CHECKING:
    from evenhand.analyses.check.check import Verdict
    from evenhand.analyses.check.finding import Finding
    from evenhand.analyses.check.rule import Rule
    from evenhand.analyses.check.sample_size import Sample

STATUSES = ("satisfied", "violated", "not shown", "undefined", "too small", "skipped")
SHOWN = 20
"""So many comparisons of a rule are shown in words; all are in the document."""
_STYLE = {
    "violated": "bold red", "not shown": "bold yellow", "undefined": "bold red", "too small": "bold red",
    "skipped": "yellow", "satisfied": "green",
}  # fmt: skip


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


# ---- for the eye ------------------------------------------------------------------------------------------------


def plain(text: object, limit: int = 600) -> str:
    """A text that no terminal and no pipeline takes for a command: GitHub obeys lines that begin with two colons."""
    return shown_name(text, limit).replace("::", ": :").replace("##[", "# #[")


def who(f: dict[str, Any], limit: int = 40) -> str:
    """The comparison that a finding is about."""
    names = [shown_name(name, limit) for name in (f["group"], f["reference"]) if name is not None]
    return plain(f"{shown_name(f['attribute'], limit)}: {' against '.join(names) or 'all groups'}", 4 * limit)


def render(document: dict[str, Any]) -> RenderableType:
    """The verdict as rich renderables: what fails first."""
    style = "bold green" if document["passed"] else "bold red"
    parts: list[RenderableType] = [Text(document["interpretation"], style=style), *_facts(document)]
    by_rule: dict[int, list[dict[str, Any]]] = {i: [] for i in range(len(document["rules"]))}
    for f in document["findings"]:
        by_rule[f["rule"]].append(f)
    order = {False: 0, None: 1, True: 2}
    for i in sorted(by_rule, key=lambda i: order[document["rules"][i]["passed"]]):
        parts += [Text(), *_of_rule(document, document["rules"][i], by_rule[i])]
    if document["notes"]:
        parts += [Text(), Text("Notes", style="bold")]
        parts += [_indented(Text(f"• {plain(note)}")) for note in document["notes"]]
    return Group(*parts)


def _facts(document: dict[str, Any]) -> Iterator[RenderableType]:
    policy, data = document["policy"], document["data"]
    facts = [f"{data['rows']:,} people", f"favourable decision: {shown_name(data['decision_rule'], 70)}"]
    if policy["file"] or policy["name"]:
        named = [shown_name(text, 60) for text in (policy["name"], policy["file"]) if text]
        facts.append(f"policy {', '.join(named)}")
    yield Text(plain(" · ".join(facts)))
    for reason, count in data["left_out"].items():
        yield Text(plain(f"Left out: {count:,} rows {shown_name(reason, 100)}"), style="yellow")


def _of_rule(document: dict[str, Any], rule: dict[str, Any], found: list[dict[str, Any]]) -> Iterator[RenderableType]:
    word, style = {True: ("met", "green"), False: ("NOT MET", "bold red"), None: ("skipped", "yellow")}[rule["passed"]]
    line = f" (line {rule['line']})" if rule["line"] else ""
    yield Text.assemble((f"{word:<9}", style), (plain(rule["rule"]), "bold"), line)
    if rule["reason"] and not rule["passed"]:
        yield _indented(Text(plain(f"Reason for the rule: {rule['reason']}")))
    ordered = sorted(found, key=lambda f: STATUSES.index(f["status"]) if f["status"] != "satisfied" else 99)
    told = [f for f in ordered if not f["passes"] or f["conclusive"] is False]
    for f in told[:SHOWN]:
        aside = f["status"] in ("undefined", "too small", "skipped")
        head = who(f) + (f": {plain(f['because'])}" if aside else "")
        yield _indented(Text.assemble((f"{f['status']} ", _STYLE[f["status"]]), head))
        if not aside:
            yield Padding(Text(plain(f["interpretation"])), (0, 0, 0, 4))
    if len(told) > SHOWN:
        yield _indented(Text(f"and {len(told) - SHOWN:,} more (--json has them)"))
    sure = [f for f in found if f["passes"] and f["conclusive"] is not False]
    if sure:
        yield _indented(Text(_nearest(rule, sure)))


def _nearest(rule: dict[str, Any], kept: list[dict[str, Any]]) -> str:
    """Those that are kept to, by the one nearest to its limit."""
    sign = -1 if rule["comparison"][0] == ">" else 1
    worst = max(kept, key=lambda f: sign * (f["judged"] if f["judged"] is not None else 0.0))
    many = "" if len(kept) == 1 else f"{len(kept):,} comparisons keep to it, the nearest: "
    return f"{many}{who(worst)}: {plain(worst['interpretation'])}"


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2))
