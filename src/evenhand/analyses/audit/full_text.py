"""Every measure of every group, as tables for a terminal: 80 columns, colour only where it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.audit import unknown_tables
from evenhand.analyses.audit.roc_parts import telling
from evenhand.analyses.audit.strata.text import fully
from evenhand.analyses.audit.wording import (
    apart,
    chance_shows,
    gap,
    impossibility,
    measure_of,
    not_computed,
    p_value,
    rates_of,
    share,
    size,
    tolerated,
)
from evenhand.errors import listed, shown_name
from evenhand.measures.measure import FAMILIES
from evenhand.measures.registry import Measure, ScoreMeasure
from evenhand.report.console import headed, indented, points
from evenhand.report.format import interval, number, sentence

MANY_ROWS = 30
FEW_GROUPS = 6
"""Up to so many groups, every comparison gets a table of its own."""
NARROW = {"base_rate": "base", "accuracy": "acc."}
"""Heads of columns that are narrower than those of a page."""
TELLING = (
    "demographic_parity", "disparate_impact", "equalized_odds", "abcc", "equal_opportunity", "predictive_equality",
    "xroc", "roc", "abpc",
)  # fmt: skip
"""The first of these are shown where there is no room for every measure."""
MOST_COLUMNS = 5
TITLE = 24
"""So long a title leaves room for numbers."""


def every_measure(document: dict[str, Any]) -> Iterator[RenderableType]:
    """All groups by all measures, and all notes."""
    for attribute in document["attributes"]:
        yield from _attribute(attribute, document["options"]["confidence"])
    yield from points("Notes", document["notes"])


def _attribute(attribute: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    yield from headed(attribute["name"])
    yield _groups(attribute)
    aside = {attribute["reference"], *attribute["excluded"]}
    others = [g["name"] for g in attribute["groups"] if g["name"] not in aside]
    if len(attribute["groups"]) <= FEW_GROUPS:
        for group in others:
            yield Text()
            yield from _comparison(attribute, group, confidence)
    else:
        yield Text()
        yield from _matrix(attribute, others, confidence)
    yield from possible(attribute, others[:FEW_GROUPS], confidence)
    yield from fully(attribute, confidence)
    if attribute["largest"]:
        yield Text()
        yield from _largest(attribute, confidence)
        yield from _means(attribute, confidence)
    if attribute["information"]:
        yield Text()
        yield from _information(attribute["information"])
    yield from _impossibility(attribute)


def possible(
    attribute: dict[str, Any], groups: Sequence[str] | None, confidence: float, key: bool = False
) -> Iterator[RenderableType]:
    """How many people have no group, and what they could change about some groups."""
    told = unknown_tables.counted(attribute)
    if told is None:
        return
    yield Text()
    yield Text(told)
    tables = [
        (group, found)
        for group in groups or ()
        if (
            found := unknown_tables.measures(attribute, group, confidence, attribute["verdict"]["key"] if key else None)
        )
    ]
    for group, found in tables:
        title = f"{shown_name(group, 30)} against {shown_name(attribute['reference'], 30)}"
        grid = _grid(title, *found.heads[1:], tight=True)
        for row in found.rows:
            grid.add_row(*map(Text, row))
        yield grid
    if tables:
        yield indented(Text(unknown_tables.HOW, style="dim"))


def _groups(attribute: dict[str, Any]) -> Grid:
    columns = {rate: NARROW.get(rate, title) for rate, title in rates_of(attribute).items()}
    grid = _grid("group", "n", *columns.values())
    shown, more = _most_people(attribute["groups"])
    for g in shown:
        mark = "*" if g["name"] == attribute["reference"] else ""
        rates = (g["rates"][r]["value"] for r in columns)
        left = f" (−{g['left_out']:,})" if g["left_out"] else ""
        grid.add_row(Text(shown_name(g["name"], 30) + mark), f"{g['n']:,}{left}", *map(number, rates))
    gone = "; (−n) rows left out" if any(g["left_out"] for g in attribute["groups"]) else ""
    grid.caption = Text(f"* reference{gone}{more}")
    grid.caption_justify = "left"
    return grid


def _most_people(groups: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], str]:
    """The largest groups in their order, and how many more there are."""
    if len(groups) <= MANY_ROWS:
        return groups, ""
    least = sorted((g["n"] for g in groups), reverse=True)[MANY_ROWS - 1]
    shown = [g for g in groups if g["n"] >= least][:MANY_ROWS]
    return shown, f"; {len(groups) - len(shown):,} smaller groups are not shown (--json has them)"


def _comparison(attribute: dict[str, Any], group: str, confidence: float) -> Iterator[RenderableType]:
    measures = [m for m in attribute["measures"] if m["group"] == group]
    title = Text(f"{shown_name(group)} against {shown_name(attribute['reference'])}", style="bold")
    yield title
    tested = any(m["p_value"] is not None for m in measures)
    tests = ("null", "p") if tested else ()
    grid = _grid("measure", "gap", _level(confidence), *tests, "for", "tol.", "verdict", tight=True)
    for family, heading in FAMILIES.items():
        members = [m for m in measures if m["family"] == family and not m["undefined"]]
        if members:
            grid.add_row(Text(heading.short, style="italic"))
        for m in members:
            measure = measure_of(m)
            grid.add_row(
                Text(" " + measure.titled(TITLE)),
                gap(measure, m),
                interval(m["ci"], sign=measure.signed, join=", "),
                *((number(m["null_95"]), p_value(m)) if tested else ()),
                share(m, measure),
                tolerated(measure, m["tolerance"], short=True),
                _verdict(m),
            )
    yield grid
    if tested:
        yield indented(Text("null: its 95% point if groups are alike; p: adjusted for all comparisons", style="dim"))
        yield indented(_unadjusted(measures), style="dim")
    if any(m["positive_share"] is not None for m in measures):
        yield indented(f"for: how much of the gap favours {shown_name(group)}", style="dim")
    for m in measures:
        if m["left_out_share"]:
            bins = f" ({', '.join(m['left_out_bins'])})" if m["left_out_bins"] else ""
            why = "no people of both groups" if measure_of(m).scale == "difference" else "too few people selected"
            yield indented(f"{measure_of(m).title}: {100 * m['left_out_share']:.2g}% left out, {why} there{bins}")
    yield from (indented(sentence) for sentence in telling(measures))
    yield from (indented(f"Undefined: {said}") for said in not_computed(measures))
    yield from (indented(f"Not held to the tolerance: {said}") for said in not_computed(measures, "unjudged"))
    if any(m["passes"] is not None for m in measures):
        yield indented(_summary(measures, group))
    if group in attribute["too_small"]:
        yield indented(Text(f"{shown_name(group)} is too small to conclude anything: even a gap of three times the "
                             "tolerance could go unnoticed.", style="yellow"))  # fmt: skip
    for m in measures:
        if m["id"] == "demographic_parity" and m["detectable"] is not None:
            least = number(m["detectable"])
            yield indented(f"A gap in selection of {least} would be found 80 times of 100 with these people.")
    if (deviations := apart(measures)) is not None:
        yield indented(deviations)


def _unadjusted(measures: list[dict[str, Any]]) -> str:
    """Every p-value as it was before it was adjusted, those of one size together."""
    by_size: dict[str, list[str]] = {}
    for m in measures:
        if m["p_value"] is not None:
            by_size.setdefault(p_value(m, "p_value"), []).append(measure_of(m).short)
    most = max(by_size, key=lambda size: len(by_size[size]))
    told = [f"{', '.join(names)} {size}" for size, names in by_size.items() if size != most]
    return f"p before that: {'; '.join([*told, f'all others {most}' if told else most])}"


def _summary(measures: list[dict[str, Any]], group: str) -> str:
    """Which gaps are certain, in words."""
    name = shown_name(group)
    sure = [m for m in measures if m["passes"] is False and m["conclusive"]]
    unsure = [m for m in measures if m["conclusive"] is False]
    told = _directions([m for m in sure if measure_of(m).signed]) or _directions(sure)
    text = ""
    if told:
        text = f"{name} {', '.join(told[:-1])}{' and ' if told[:-1] else ''}{told[-1]}. "
    elif not sure and any(m["conclusive"] is not None for m in measures):
        text = f"No gap of {name} is certainly beyond its tolerance. "
    if unsure:
        text += f"These data cannot settle: {', '.join(measure_of(m).title for m in unsure)} (marked ?). "
    if any(m["passes"] is not None and m["conclusive"] is None for m in measures):
        text += "What is marked – is without interval: only its value is compared with the tolerance."
    return text.strip()


def _directions(sure: list[dict[str, Any]]) -> list[str]:
    """In whose favour gaps go, where they mostly go one way."""
    told = []
    for m in sure:
        measure, share = measure_of(m), m["positive_share"]
        up = bool(m["signed"] and m["signed"] > 0)
        if m["signed"] and (measure.signed or (share is not None and not 0.25 <= share <= 0.75)):
            told.append(measure.more if up else measure.less)
    return list(dict.fromkeys(told))


def _matrix(attribute: dict[str, Any], others: list[str], confidence: float) -> Iterator[RenderableType]:
    yield Text(f"Every group against {shown_name(attribute['reference'])}", style="bold")
    ids = list(dict.fromkeys(m["id"] for m in attribute["measures"]))
    shown_ids = [id_ for id_ in (*TELLING, *ids) if id_ in ids] if len(ids) > MOST_COLUMNS else ids
    shown_ids = shown_ids[:MOST_COLUMNS]
    grid = _grid("group", "n", *(measure_of({"id": id_}).short for id_ in shown_ids))
    shown, more = _most_people([g for g in attribute["groups"] if g["name"] in set(others)])
    sizes = {g["name"]: g["n"] for g in shown}
    by_group: dict[str, dict[str, Any]] = {}
    for m in attribute["measures"]:
        if m["group"] in sizes:
            by_group.setdefault(m["group"], {})[m["id"]] = m
    for group in sizes:
        own = by_group[group]
        cells = [_mark(gap(measure_of(own[id_]), own[id_]), own[id_]) for id_ in shown_ids]
        grid.add_row(Text(shown_name(group, 26)), f"{sizes[group]:,}", *cells)
    yield grid
    legend = f"! all of its {_level(confidence)} is beyond the tolerance, ? not settled, – without interval"
    left = f"; {len(ids) - len(shown_ids)} more measures are in --json" if len(ids) > len(shown_ids) else ""
    yield indented(legend + left + more)


def _largest(attribute: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    yield Text("The most different pair of groups", style="bold")
    tested = any(m["p_value"] is not None for m in attribute["largest"])
    tests = ("null", "p") if tested else ()
    grid = _grid("measure", "gap", _level(confidence), *tests, "pair", text_from=3 + len(tests), tight=True)
    for m in attribute["largest"]:
        measure = measure_of(m)
        cells = (number(m["null_95"]), p_value(m, "p_value")) if tested else ()
        grid.add_row(
            Text(measure.titled(TITLE)), size(measure, m["value"]), interval(m["ci"], join=", "), *cells,
            Text(_pair(measure, m)),
        )  # fmt: skip
    yield grid
    yield indented("> has the higher rate, or is favoured over all scores; – without direction")


def _means(attribute: dict[str, Any], confidence: float) -> Iterator[RenderableType]:
    """The mean over all pairs, where a gap is one number."""
    known = [m for m in attribute["largest"] if m["mean"] is not None]
    if not known:
        return
    count = len(attribute["groups"]) - len(attribute["excluded"])
    yield Text()
    yield Text(f"The mean over all {count * (count - 1) // 2:,} pairs of groups", style="bold")
    grid = _grid("measure", "mean gap", _level(confidence), tight=True)
    for m in known:
        measure = measure_of(m)
        grid.add_row(Text(measure.titled(TITLE)), size(measure, m["mean"]), interval(m["ci_mean"], join=", "))
    yield grid
    if gone := list(dict.fromkeys(g for m in known for g in m["left_out"])):
        yield indented(f"pairs with groups that lack a measure are left out: {shown_name(listed(gone), 200)}")


def _information(told: dict[str, Any]) -> Iterator[RenderableType]:
    """What the score tells about all groups at once."""
    yield Text("All groups at once", style="bold")
    yield Text(sentence(told["interpretation"]))
    if told["p_value"] is not None:
        yield indented(Text(chance_shows(told), style="dim"))


def _pair(measure: Measure, m: dict[str, Any]) -> str:
    if m["pair"] is None:
        return "–"
    alike = m["value"] == (1.0 if measure.scale == "ratio" else 0.0)
    sign = "–" if alike or (isinstance(measure, ScoreMeasure) and not measure.directed) else ">"
    return f" {sign} ".join(shown_name(g, 24) for g in m["pair"])


def _impossibility(attribute: dict[str, Any]) -> Iterator[RenderableType]:
    if attribute["impossibility"]["undefined"]:
        return
    yield Text()
    lead, lines = impossibility(attribute)
    yield Text(lead)
    yield from (indented(f"• {line}") for line in lines)


def _level(confidence: float) -> str:
    return f"{100 * confidence:g}% interval"


# ---- cells -----------------------------------------------------------------------------------------------


def _grid(first: str, *rest: str, text_from: int = 99, tight: bool = False) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0) if tight else (0, 1), header_style="dim")
    grid.add_column(first, overflow="fold", min_width=12)
    for i, name in enumerate(rest, start=1):
        left = i >= text_from or name == "verdict"
        grid.add_column(name, justify="left" if left else "right", no_wrap=not left, overflow="ellipsis")
    return grid


def _verdict(m: dict[str, Any]) -> Text:
    if m["unjudged"]:
        return Text("unclear ?", style="yellow")
    if m["passes"] is None:
        return Text("undefined", style="dim")
    word = "within" if m["passes"] else "beyond"
    if not m["conclusive"]:
        return Text(word + (" –" if m["conclusive"] is None else " ?"), style="yellow")
    return Text(word, style="green" if m["passes"] else "bold red")


def _mark(text: str, m: dict[str, Any]) -> Text:
    if m["passes"] is None and not m["unjudged"]:
        return Text("–", style="dim")
    if not m["conclusive"]:
        return Text(text + ("–" if m["conclusive"] is None else "?"), style="yellow")
    if m["passes"]:
        return Text(text + " ", style="green")
    return Text(text + "!", style="bold red")
