"""Results → Markdown that fits a pull request or a model card: the verdict first, every measure folded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit import unknown_tables
from evenhand.analyses.audit.brief import (
    MOST_NOTES,
    NOT_COMPARED,
    RATES_TOLD,
    SHORT,
    few_digits,
    percent_column,
    ranked,
    worst_first,
)
from evenhand.analyses.audit.key_tables import Rows
from evenhand.analyses.audit.method import facts
from evenhand.analyses.audit.overview import first_attribute, title_of
from evenhand.analyses.audit.roc_parts import telling
from evenhand.analyses.audit.strata import tables as within_tables
from evenhand.analyses.audit.verdict import word_of
from evenhand.analyses.audit.wording import (
    chance_shows,
    gap,
    measure_of,
    not_computed,
    p_value,
    rates_of,
    size,
    tolerated,
)
from evenhand.analyses.profiles.views import markdown as rule_markdown
from evenhand.errors import shown_name
from evenhand.report.format import interval, number, sentence
from evenhand.report.markdown import cover_lines, escaped, finished, folded, note_lines, preformatted, table

MOST_TABLES = 6
MOST_ROWS = 30


def audit_markdown(document: dict[str, Any]) -> str:
    """The verdict, the groups and the key measures; folded, every measure and how to repeat it."""
    return finished(_lines(document))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"## {escaped(title_of(document))}"
    yield ""
    if document.get("cover"):
        yield from cover_lines(document)
        yield ""
    if "profile" in document:
        yield from rule_markdown(document["profile"])
    verdict, first = document["verdict"], first_attribute(document)
    yield f"**{escaped(verdict['word'].upper())}.** {escaped(verdict['sentence'])}"
    yield ""
    yield from (f"> {escaped(shown_name(note, 600))}\n" for note in document["caveats"][:MOST_NOTES])
    for attribute in [first, *(a for a in document["attributes"] if a is not first)]:
        yield from _attribute(attribute, document["options"]["confidence"], attribute is not first)
    for attribute in document["attributes"]:
        for group in worst_first(attribute)[:MOST_TABLES]:
            title = f"{shown_name(group)} against {shown_name(attribute['reference'])}: every measure"
            yield from folded(title, _measures(attribute, group, document["options"]["confidence"]))
        if attribute["largest"]:
            title = f"All pairs of groups by {shown_name(attribute['name'])}"
            yield from folded(title, _all_pairs(attribute, document["options"]["confidence"]))
    yield from note_lines(document)
    yield from folded("What was audited, and how to repeat it", _repeated(document))


def _attribute(attribute: dict[str, Any], confidence: float, told: bool) -> Iterator[str]:
    yield f"### By {escaped(shown_name(attribute['name']))}"
    yield ""
    verdict = attribute["verdict"]
    if told:
        yield f"**{escaped(verdict['word'].upper())}.** {escaped(verdict['sentence'])}"
        yield ""
    yield from _groups(attribute)
    if verdict["worst"] is not None:
        yield from _key(attribute, verdict["worst"]["group"], confidence)
    yield from _possible(attribute, confidence)
    if len(attribute["groups"]) > 2:
        yield from _matrix(attribute, confidence)
    if "within" in attribute:
        yield from _within(attribute, confidence)


def _within(attribute: dict[str, Any], confidence: float) -> Iterator[str]:
    """The strata of the group that the verdict names, and what is pooled over them."""
    group = within_tables.shown_group(attribute)
    rows = within_tables.strata(attribute, group, within_tables.FEW_STRATA)
    yield f"{escaped(within_tables.title(attribute, group))}:"
    yield ""
    if rows.rows:
        yield from _escaped(rows)
    if (rest := within_tables.more(attribute, rows, "in the JSON")) is not None:
        yield f"{rest}\n"
    for found in (
        within_tables.first(attribute, group, confidence),
        within_tables.scores(attribute, group, confidence),
    ):
        if found.rows:
            yield from _escaped(found)


def _escaped(rows: Rows) -> Iterator[str]:
    yield from table([escaped(head) for head in rows.heads], [[escaped(cell) for cell in row] for row in rows.rows])


def _groups(attribute: dict[str, Any]) -> Iterator[str]:
    """People, how many are selected, the ratio, the rates behind key measures, and the word of each group."""
    shown, verdict = ranked(attribute)[:MOST_ROWS], attribute["verdict"]
    ratios = {m["group"]: m["value"] for m in attribute["measures"] if m["id"] == "disparate_impact"}
    ratios[attribute["reference"]] = 1.0
    rates = rates_of(attribute, ("selection_rate", *RATES_TOLD))
    columns = [percent_column([g["rates"][r]["value"] for g in shown]) for r in rates]
    rows = [
        [
            _group(g["name"], attribute), f"{g['n']:,}",
            column[0], number(ratios.get(g["name"]), digits=2), *column[1:],
            NOT_COMPARED if g["name"] in attribute["excluded"] else verdict["groups"].get(g["name"], ""),
        ]
        for g, column in zip(shown, zip(*columns, strict=True), strict=True)
    ]  # fmt: skip
    selected, *others = rates.values()
    yield from table(["group", "people", selected, "ratio", *others, "verdict"], rows, ("verdict",))
    if len(attribute["groups"]) > len(shown):
        yield f"{len(attribute['groups']) - len(shown):,} more groups are not shown.\n"


def _group(group: str, attribute: dict[str, Any]) -> str:
    return escaped(shown_name(group)) + (" (reference)" if group == attribute["reference"] else "")


def _key(attribute: dict[str, Any], group: str, confidence: float) -> Iterator[str]:
    """The key measures of the group that the verdict names."""
    by = {m["id"]: m for m in attribute["measures"] if m["group"] == group}
    yield f"{escaped(shown_name(group))} against {escaped(shown_name(attribute['reference']))}:"
    yield ""
    rows = []
    for id_ in attribute["verdict"]["key"]:
        m, measure = by[id_], measure_of({"id": id_})
        numbers = [
            gap(measure, m),
            interval(m["ci"], sign=measure.signed),
            tolerated(measure, m["tolerance"]),
            p_value(m),
        ]
        rows.append([measure.title, *numbers, word_of(m, confidence)])
    heads = ["key measure", "gap", f"{100 * confidence:g}% interval", "tolerance", "p", "verdict"]
    yield from table(heads, rows, ("verdict",))


def _possible(attribute: dict[str, Any], confidence: float) -> Iterator[str]:
    """How many people have no group, and what they could change about the group that the verdict names."""
    told, worst = unknown_tables.counted(attribute), attribute["verdict"]["worst"]
    if told is None:
        return
    yield f"{escaped(told)}."
    yield ""
    key = attribute["verdict"]["key"]
    if worst is not None and (rows := unknown_tables.measures(attribute, worst["group"], confidence, key)):
        yield from table(*rows)
        yield f"{unknown_tables.HOW}\n"


def _matrix(attribute: dict[str, Any], confidence: float) -> Iterator[str]:
    """Groups by key measures."""
    key, groups = attribute["verdict"]["key"], worst_first(attribute)[:MOST_ROWS]
    by = {(m["group"], m["id"]): m for m in attribute["measures"]}
    heads = ["group", *(measure_of({"id": id_}).title for id_ in key)]
    rows = [[escaped(shown_name(g)), *(_cell(by[g, id_], confidence) for id_ in key)] for g in groups]
    yield from table(heads, rows, heads)


def _cell(m: dict[str, Any], confidence: float) -> str:
    return f"{few_digits(measure_of(m), m)} {SHORT[word_of(m, confidence)]}"


def _measures(attribute: dict[str, Any], group: str, confidence: float) -> Iterator[str]:
    measures = [m for m in attribute["measures"] if m["group"] == group]
    heads = ["measure", "gap", f"{100 * confidence:g}% interval", "null 95%", "p", "p adjusted", "tolerance", "verdict"]
    yield from table(heads, [_row(m) for m in measures if not m["undefined"]])
    told = [f"- {escaped(one)}" for one in telling(measures)]
    told += [f"- Undefined: {escaped(one)}" for one in not_computed(measures)]
    yield from (*told, "") if told else ()


def _all_pairs(attribute: dict[str, Any], confidence: float) -> Iterator[str]:
    """The most different pair, the mean over all pairs, and what a score tells about all groups at once."""
    level = f"{100 * confidence:g}% interval"
    heads = ["measure", "gap", level, "null 95%", "pair", "mean over all pairs", level]
    rows = []
    for m in attribute["largest"]:
        measure = measure_of(m)
        pair = "–" if m["pair"] is None else escaped(" and ".join(shown_name(g) for g in m["pair"]))
        rows.append([
            measure.title, size(measure, m["value"]), interval(m["ci"]), size(measure, m["null_95"]), pair,
            size(measure, m["mean"]), interval(m["ci_mean"]),
        ])  # fmt: skip
    yield from table(heads, rows)
    if told := attribute["information"]:
        chance = "" if told["p_value"] is None else f" {sentence(chance_shows(told))}"
        yield escaped(sentence(told["interpretation"]) + chance)
        yield ""


def _row(m: dict[str, Any]) -> list[str]:
    measure = measure_of(m)
    sure = "**beyond**" if m["conclusive"] else "beyond"
    word = {True: "within", False: sure, None: "not settled" if m["unjudged"] else "undefined"}[m["passes"]]
    known = m["passes"] is not None
    open_ = {True: "", False: ", not settled", None: ", without interval"}[m["conclusive"]] if known else ""
    return [
        measure.title, gap(measure, m), interval(m["ci"], sign=measure.signed), size(measure, m["null_95"]),
        p_value(m, "p_value"), p_value(m), tolerated(measure, m["tolerance"]), word + open_,
    ]  # fmt: skip


def _repeated(document: dict[str, Any]) -> Iterator[str]:
    """What was audited, the other notes, and the command with what it rests on."""
    yield from (f"- **{escaped(term)}:** {escaped(text)}" for term, text in facts(document))
    yield from (f"- {escaped(shown_name(note, 600))}" for note in document["notes"] if note not in document["caveats"])
    yield ""
    yield preformatted(document["command"])
    yield ""
    options = document["options"]
    yield (
        f"<sub>Evenhand {document['version']}, table `{document['data']['table'][:16]}`, seed {options['seed']}, "
        f"{options['bootstrap']:,} resamples, {options['permutations']:,} permutations. DATA is the file.</sub>"
    )
    yield ""
