"""The verdict of a policy as a terminal shows it, made from the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from evenhand.analyses.check.document import STATUSES, doubt_of, who
from evenhand.errors import shown_name
from evenhand.report.console import indented, points

LONG = 600
SHOWN = 20
"""So many comparisons of a rule are shown in words; all are in the document."""
_STYLE = {
    "violated": "bold red", "not shown": "bold yellow", "undefined": "bold red", "too small": "bold red",
    "skipped": "yellow", "satisfied": "green",
}  # fmt: skip


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
    return Group(*parts, *points("Notes", document["notes"]))


def _facts(document: dict[str, Any]) -> Iterator[RenderableType]:
    policy, data = document["policy"], document["data"]
    facts = [f"{data['rows']:,} people", f"favourable decision: {shown_name(data['decision_rule'], 70)}"]
    if policy["file"] or policy["name"]:
        named = [shown_name(text, 60) for text in (policy["name"], policy["file"]) if text]
        facts.append(f"policy {', '.join(named)}")
    yield Text(" · ".join(facts))
    for reason, count in data["left_out"].items():
        yield Text(f"Left out: {count:,} rows {shown_name(reason, 100)}", style="yellow")


def _of_rule(document: dict[str, Any], rule: dict[str, Any], found: list[dict[str, Any]]) -> Iterator[RenderableType]:
    word, style = {True: ("met", "green"), False: ("NOT MET", "bold red"), None: ("skipped", "yellow")}[rule["passed"]]
    line = f" (line {rule['line']})" if rule["line"] else ""
    yield Text.assemble((f"{word:<9}", style), (shown_name(rule["rule"], LONG), "bold"), line)
    if rule["reason"] and not rule["passed"]:
        yield indented(shown_name(f"Reason for the rule: {rule['reason']}", LONG))
    ordered = sorted(found, key=lambda f: STATUSES.index(f["status"]) if f["status"] != "satisfied" else 99)
    told = [f for f in ordered if not f["passes"] or doubt_of(f)]
    for f in told[:SHOWN]:
        aside = f["status"] in ("undefined", "too small", "skipped")
        head = who(f) + (f": {shown_name(f['because'], LONG)}" if aside else f" ({f['word']})")
        yield indented(Text.assemble((f"{f['status']} ", _STYLE[f["status"]]), head))
        if not aside:
            yield indented(shown_name(f["interpretation"], LONG), 4)
    if len(told) > SHOWN:
        yield indented(f"and {len(told) - SHOWN:,} more (--json has them)")
    sure = [f for f in found if f["passes"] and not doubt_of(f)]
    if sure:
        yield indented(_nearest(rule, sure))


def _nearest(rule: dict[str, Any], kept: list[dict[str, Any]]) -> str:
    """Those that are kept to, by the one nearest to its limit."""
    sign = -1 if rule["comparison"][0] == ">" else 1
    worst = max(kept, key=lambda f: sign * (f["judged"] if f["judged"] is not None else 0.0))
    many = "" if len(kept) == 1 else f"{len(kept):,} comparisons keep to it, the nearest: "
    return f"{many}{who(worst)}: {shown_name(worst['interpretation'], LONG)}"
