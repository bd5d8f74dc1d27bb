"""A verdict → Markdown that fits a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.check.document import STATUSES, doubt_of
from evenhand.analyses.check.finding import WITHOUT
from evenhand.analyses.check.text import who
from evenhand.errors import shown_name
from evenhand.report.format import interval, number
from evenhand.report.markdown import escaped, finished, table

MOST_COMPARISONS = 100
"""GitHub takes comments of 65,536 characters."""


def verdict_markdown(document: dict[str, Any]) -> str:
    """The verdict of a policy: one line for each rule and comparison, what fails first."""
    return finished(_verdict_lines(document))


def _verdict_lines(document: dict[str, Any]) -> Iterator[str]:
    policy, data = document["policy"], document["data"]
    yield f"## Fairness check{': ' + escaped(shown_name(policy['name'], 80)) if policy['name'] else ''}"
    yield ""
    yield f"**{escaped(document['interpretation'])}**"
    yield ""
    yield f"{data['rows']:,} people; favourable decision: {escaped(shown_name(data['decision_rule'], 120))}."
    yield from (f"Left out: {count:,} rows {escaped(shown_name(why, 100))}." for why, count in data["left_out"].items())
    yield ""
    found = sorted(document["findings"], key=_urgency)
    rows = [_comparison(f, document["rules"][f["rule"]]) for f in found[:MOST_COMPARISONS]]
    words = ("comparison", "status", "in words")
    yield from table(["rule", "comparison", "value", "interval", "limit", "status", "in words"], rows, words)
    if len(found) > MOST_COMPARISONS:
        yield f"{len(found) - MOST_COMPARISONS:,} more comparisons are not shown.\n"
    for i, rule in enumerate(document["rules"]):
        if rule["reason"] and any(f["rule"] == i and not f["passes"] for f in found):
            yield f"- Reason for {escaped(shown_name(rule['rule'], 200))}: {escaped(shown_name(rule['reason'], 300))}"
    yield from (f"- {escaped(shown_name(note, 600))}" for note in document["notes"])
    yield ""
    options = document["options"]
    yield f"<sub>Evenhand {document['version']}, table `{data['table'][:16]}`, seed {options['seed']}.</sub>"


def _urgency(f: dict[str, Any]) -> int:
    """What fails comes first, and what is certainly kept to last."""
    if not f["passes"]:
        return STATUSES.index(f["status"])
    return len(STATUSES) + (doubt_of(f) is None)


def _comparison(f: dict[str, Any], rule: dict[str, Any]) -> list[str]:
    doubt = doubt_of(f) or (WITHOUT if f["without_interval"] else None)
    status = f["status"] + (f", {doubt}" if doubt else "")
    return [
        escaped(shown_name(rule["rule"], 200)), escaped(who(f)),
        number(f["value"]), interval(f["ci"]),
        f"{escaped(rule['comparison'])} {rule['limit']:.6g}", f"**{status}**" if f["passes"] is False else status,
        escaped(shown_name(f["interpretation"], 600)),
    ]  # fmt: skip
