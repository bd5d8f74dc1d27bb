"""The verdict, the groups and the key measures, as a terminal shows them; `full_text` has every measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.audit.brief import (
    MOST_GROUPS,
    MOST_NOTES,
    NOT_COMPARED,
    SHORT,
    percent_column,
    ranked,
    rates_behind,
)
from evenhand.analyses.audit.full_text import every_measure, possible
from evenhand.analyses.audit.strata.text import briefly
from evenhand.analyses.audit.verdict import WORDS, word_of
from evenhand.analyses.audit.wording import gap, measure_of, p_value, tolerances, tolerated
from evenhand.analyses.profiles.views import lines as rule_lines
from evenhand.errors import shown_name
from evenhand.measures.rates import RATES
from evenhand.report.console import headed, indented, left_out
from evenhand.report.format import interval, number

STYLES = dict(zip(WORDS, ("bold red", "red", "yellow", "yellow", "dim", "", "green"), strict=True))
MOST_ATTRIBUTES = 4
BAR = 8


def render(document: dict[str, Any], much: Literal["verdict", "key", "full"] = "key") -> RenderableType:
    """The report as rich renderables: the verdict alone, with groups and key measures, or with every measure."""
    if much == "verdict":
        return _verdict(document["verdict"])
    ruled = [*rule_lines(document["profile"]), Text()] if "profile" in document else []
    parts = [*_head(document), Text(), *ruled, _verdict(document["verdict"])]
    if much == "full":
        return Group(*parts, *every_measure(document))
    attributes = sorted(document["attributes"], key=lambda a: a["name"] != document["verdict"]["attribute"])
    if ruled:  # whose tables have the groups already
        return Group(*parts, *_notes(document["notes"]), Text(), Text(_more(document), style="dim"))
    for attribute in attributes[:MOST_ATTRIBUTES]:
        detail = attribute is attributes[0] or len(attribute["groups"]) == 2
        parts += _attribute(attribute, document["options"]["confidence"], detail)
    if len(attributes) > MOST_ATTRIBUTES:
        parts += [Text(), Text(f"{len(attributes) - MOST_ATTRIBUTES} more ways to divide people: --full")]
    return Group(*parts, *_notes(document["notes"]), Text(), Text(_more(document), style="dim"))


def _head(document: dict[str, Any]) -> Iterator[RenderableType]:
    """What was audited."""
    data = document["data"]
    facts = [f"{data['rows']:,} people"]
    if data["score"] is not None:
        lo, hi = data["score_range"]
        kind = "risk score" if data["risk"] else "score"
        facts.append(f"{kind} {shown_name(data['score'])}, {lo:.12g} to {hi:.12g}")
    if data["label"] is not None:
        facts.append(f"label {shown_name(data['label'])}, favourable {shown_name(data['favorable'])}")
    if data["cluster"] is not None:
        facts.append(f"{data['clusters']:,} clusters {shown_name(data['cluster'])}")
    yield Text(" · ".join(facts))
    yield Text(f"Favourable decision: {shown_name(data['decision_rule'], 70)}")
    if stated := tolerances(document["options"]):
        yield Text(f"Tolerances: {stated}; others as by default")
    yield from left_out(data)


def _verdict(found: dict[str, Any]) -> Text:
    """The word and the sentence."""
    return Text.assemble((found["word"].upper(), STYLES[found["word"]] or "bold"), ". ", found["sentence"])


def _attribute(attribute: dict[str, Any], confidence: float, detail: bool) -> Iterator[RenderableType]:
    yield from headed(attribute["name"])
    yield _groups(attribute, confidence)
    worst = attribute["verdict"]["worst"]
    if detail and worst is not None:
        yield Text()
        yield _comparison(attribute, worst["group"], confidence)
    yield from possible(attribute, None if worst is None or not detail else [worst["group"]], confidence, True)
    yield from briefly(attribute, confidence)


def _groups(attribute: dict[str, Any], confidence: float) -> Grid:
    """People, how many are selected, and the rates behind the key measures, of each group."""
    groups, more = _worst_groups(attribute)
    rates = rates_behind(attribute["verdict"]["key"])
    several = len(attribute["groups"]) > 2
    grid = _grid("group", "people", "selected", "ratio", *(RATES[r].short for r in rates), *(["verdict"] * several))
    by = {(m["group"], m["id"]): m for m in attribute["measures"]}
    selected = percent_column([g["rates"]["selection_rate"]["value"] for g in groups])
    columns = [percent_column([g["rates"][r]["value"] for g in groups]) for r in rates]
    for i, g in enumerate(groups):
        own = by.get((g["name"], "disparate_impact"))
        reference = g["name"] == attribute["reference"]
        ratio = number(own["value"], digits=2) if own else "1.00" if reference else "–"
        left = f" (−{g['left_out']:,})" if g["left_out"] else ""
        rate = g["rates"]["selection_rate"]["value"]
        cells = [f"{g['n']:,}{left}", f"{_bar(rate)} {selected[i]}", ratio, *(c[i] for c in columns)]
        grid.add_row(
            Text(shown_name(g["name"], 26) + ("*" if reference else "")), *cells,
            *([_of_group(attribute, g["name"])] * several),
        )  # fmt: skip
    grid.caption = Text(f"* reference{more}")
    grid.caption_justify = "left"
    return grid


def _worst_groups(attribute: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """The reference and the groups with the worst words in the order of the data, and how many more there are."""
    groups = attribute["groups"]
    if len(groups) <= MOST_GROUPS:
        return groups, ""
    kept = {g["name"] for g in ranked(attribute)[:MOST_GROUPS]}
    return [g for g in groups if g["name"] in kept], f"; {len(groups) - MOST_GROUPS:,} more groups: --full"


def _comparison(attribute: dict[str, Any], group: str, confidence: float) -> Grid:
    """The key measures of one group."""
    title = f"{shown_name(group, 30)} against {shown_name(attribute['reference'], 30)}"
    grid = _grid(title, "gap", f"{100 * confidence:g}% interval", "tolerance", "p", "verdict")
    for id_ in attribute["verdict"]["key"]:
        m = next(m for m in attribute["measures"] if (m["id"], m["group"]) == (id_, group))
        measure = measure_of(m)
        word = word_of(m, confidence)
        grid.add_row(
            Text(measure.titled(26)), gap(measure, m), interval(m["ci"], sign=measure.signed, join=", "),
            tolerated(measure, m["tolerance"], short=True), p_value(m), _short(word),
        )  # fmt: skip
    return grid


def _notes(notes: list[str]) -> Iterator[RenderableType]:
    if notes:
        yield Text()
        yield from (indented(f"• {shown_name(note, 240)}", 0) for note in notes[:MOST_NOTES])
        if len(notes) > MOST_NOTES:
            more = len(notes) - MOST_NOTES
            yield Text(f"{more} more note{'s' if more > 1 else ''}: --full")


def _more(document: Mapping[str, Any]) -> str:
    measures = len({m["id"] for a in document["attributes"] for m in a["measures"]})
    every = f"--full (all {measures} measures)" if measures > len(document["verdict"]["key"]) else "--full"
    return f"More: {every}, --html report.html, evenhand guide"


# ---- cells -----------------------------------------------------------------------------------------------------------


def _grid(first: str, *rest: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column(first, overflow="fold", min_width=12)
    for name in rest:
        left = name == "verdict"
        grid.add_column(name, justify="left" if left else "right", no_wrap=True, overflow="ellipsis")
    return grid


def _of_group(attribute: dict[str, Any], group: str) -> Text:
    excluded = group in attribute["excluded"]
    return Text(NOT_COMPARED, "dim") if excluded else _short(attribute["verdict"]["groups"].get(group))


def _short(word: str | None) -> Text:
    return Text("") if word is None else Text(SHORT[word], STYLES[word])


def _bar(rate: float | None) -> str:
    """A share as a bar of block characters."""
    if rate is None:
        return ""
    eighths = round(rate * BAR * 8)
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8] * (eighths % 8 > 0)).ljust(BAR)
