"""Results → Markdown that fits a pull request or a model card."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from html import escape
from typing import Any

from evenhand.analyses.audit.findings import MOST_TOLD, findings, remaining
from evenhand.analyses.audit.measure_table import interval, limit, measure_of, p_short, plain, value
from evenhand.analyses.audit.page import facts, title_of
from evenhand.analyses.check.document import STATUSES, who
from evenhand.tables.groups import shown_name

MOST_TABLES = 6
MOST_COMPARISONS = 100
"""GitHub takes comments of 65,536 characters."""
_RATES = {"base_rate": "base rate", "selection_rate": "selected", "tpr": "TPR", "fpr": "FPR", "ppv": "PPV"}


def escaped(text: object) -> str:
    """Text that Markdown and HTML take as it is: names are not ours.

    >>> escaped("a|b <img> *x* [l](u)")
    'a\\\\|b &lt;img&gt; \\\\*x\\\\* \\\\[l\\\\](u)'
    """
    plain_text = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain_text = re.sub(r"([\\`*_\[\]|~#!@$])", r"\\\1", plain_text)
    return re.sub(r"(https?|ftp|mailto|www)(?=[:.])", r"\1&#8203;", plain_text, flags=re.IGNORECASE)  # and no link


def table(heads: list[str], rows: list[list[str]], words: Collection[str] = ()) -> Iterator[str]:
    """A table, the first column and those of `words` to the left and numbers to the right."""
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{''.join('---|' if head in words else '---:|' for head in heads[1:])}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def audit_markdown(document: dict[str, Any]) -> str:
    """The audit: what was audited, the verdict in sentences, rates by group, and every measure."""
    return "\n".join(_lines(document)).rstrip() + "\n"


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"## {escaped(title_of(document))}"
    yield ""
    yield from (f"- **{escaped(term)}:** {escaped(text)}" for term, text in facts(document))
    yield ""
    for attribute in document["attributes"]:
        yield f"### By {escaped(shown_name(attribute['name']))}"
        yield ""
        found = findings(attribute)
        for f in found[:MOST_TOLD]:
            yield f"**{escaped(f.headline)}.** {escaped(f.tally)}"
            yield ""
            yield from (f"- **{escaped(point.lead)}**{escaped(point.rest)}" for point in f.points if point.shown)
            yield ""
        yield from (f"{escaped(sentence)}\n" for sentence in remaining(found))
        yield from _groups(attribute)
        for f in found[:MOST_TABLES]:
            yield from _measures(attribute, f.group, document["options"]["confidence"])
    for note in document["notes"]:
        yield f"> {escaped(shown_name(note, 600))}"
        yield ">"
    options = document["options"]
    yield ""
    yield (
        f"<sub>Evenhand {document['version']}, table `{document['data']['table'][:16]}`, seed {options['seed']}, "
        f"{options['bootstrap']:,} resamples, {options['permutations']:,} exchanges.</sub>"
    )


def _groups(attribute: dict[str, Any]) -> Iterator[str]:
    columns = {r: title for r, title in _RATES.items() if r in attribute["groups"][0]["rates"]}
    shown = sorted(attribute["groups"], key=lambda g: -g["n"])[:30]
    rows = [
        [
            escaped(shown_name(g["name"])) + (" (reference)" if g["name"] == attribute["reference"] else ""),
            f"{g['n']:,}",
            *("–" if (v := g["rates"][r]["value"]) is None else f"{v:.3f}" for r in columns),
        ]
        for g in shown
    ]
    yield from table(["group", "people", *columns.values()], rows)
    if len(attribute["groups"]) > len(shown):
        yield f"{len(attribute['groups']) - len(shown):,} smaller groups are not shown.\n"


def _measures(attribute: dict[str, Any], group: str, confidence: float) -> Iterator[str]:
    found = [m for m in attribute["measures"] if m["group"] == group]
    title = escape(f"{shown_name(group)} against {shown_name(attribute['reference'])}: every measure")
    yield f"<details><summary>{title}</summary>"
    yield ""
    heads = ["measure", "gap", f"{100 * confidence:g}% interval", "chance, 95%", "p adjusted", "limit", "verdict"]
    yield from table(heads, [_row(m) for m in found])
    yield "</details>"
    yield ""


def _row(m: dict[str, Any]) -> list[str]:
    measure = measure_of(m)
    word = {True: "within", False: "**beyond**", None: "undefined"}[m["passes"]]
    open_ = ", not settled" if m["conclusive"] is False and m["passes"] is not None else ""
    return [
        measure.title, value(measure, m), interval(measure, m["ci"]), plain(measure, m["null_95"]),
        p_short(m["p_adjusted"]), limit(measure, m["tolerance"]), word + open_,
    ]  # fmt: skip


# ---- a verdict ----------------------------------------------------------------------------------------------------


def verdict_markdown(document: dict[str, Any]) -> str:
    """The verdict of a policy: one line for each rule and comparison, what fails first."""
    return "\n".join(_verdict_lines(document)).rstrip() + "\n"


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
    return len(STATUSES) + (f["conclusive"] is not False)


def _comparison(f: dict[str, Any], rule: dict[str, Any]) -> list[str]:
    span = "–" if f["ci"] is None else " to ".join("∞" if end is None else f"{end:.3f}" for end in f["ci"])
    status = f["status"] + (", not for certain" if f["passes"] and f["conclusive"] is False else "")
    return [
        escaped(shown_name(rule["rule"], 200)), escaped(who(f)),
        "–" if f["value"] is None else f"{f['value']:.3f}", span,
        f"{escaped(rule['comparison'])} {rule['limit']:.6g}", f"**{status}**" if f["passes"] is False else status,
        escaped(shown_name(f["interpretation"], 600)),
    ]  # fmt: skip


def fenced(result: Any) -> str:
    """What a terminal shows, as it is."""
    text = repr(result)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}\n"
