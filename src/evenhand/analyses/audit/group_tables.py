"""Tables of an attribute on a page: the rates of its groups, every measure of each, and the most different pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from evenhand.analyses.audit.brief import worst_first
from evenhand.analyses.audit.measure_table import comparison, roc_sources
from evenhand.analyses.audit.wording import measure_of, rates_of, size
from evenhand.errors import shown_name
from evenhand.inference.null import Null
from evenhand.report.charts.registry import Charts
from evenhand.report.format import interval, number, percent
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag

MOST_TABLES = 12
"""Groups of one attribute whose measures are shown one by one."""
MOST_ROWS = 200


class Drawings(NamedTuple):
    """What pages draw of an audit besides its document."""

    charts: Callable[..., Charts]
    """Of an attribute, and of a group."""
    nulls: Mapping[tuple[str, str, str], Null | None]
    """The distribution behind each p-value, by attribute, measure and group."""


def measures_tables(drawn: Drawings, attribute: dict[str, Any], confidence: float, room: Room) -> Iterator[Markup]:
    """Every measure of every group: the worst first, others on request."""
    groups = worst_first(attribute)
    shown = [g for g in groups[:MOST_TABLES] if room.table()]
    for place, group in enumerate(shown):
        measures = [m for m in attribute["measures"] if m["group"] == group]
        nulls = [drawn.nulls.get((attribute["name"], m["id"], group)) for m in measures]
        table = join(comparison(measures, nulls, confidence, room), roc_sources(measures))
        if place == 0 or len(groups) <= 3:
            yield table
        else:
            heading = join(name(group), " against ", name(attribute["reference"]))
            yield tag("details", tag("summary", "All measures: ", heading), table)
    if len(groups) > len(shown):
        yield tag("p", f"The measures of {len(groups) - len(shown):,} more groups are in the JSON.", class_="note")


def groups_table(attribute: dict[str, Any], most: int = MOST_ROWS, whose: str = "") -> Markup:
    """Sizes and rates of the groups, to sort."""
    columns = rates_of(attribute)
    shown = sorted(attribute["groups"], key=lambda g: -g["n"])[:most]
    rows, kinds = [], []
    least = next(g["n"] for g in attribute["groups"] if g["name"] == attribute["reference"])
    for g in shown:
        mark = " (reference)" if g["name"] == attribute["reference"] else ""
        left = f" ({g['left_out']:,} left out)" if g["left_out"] else ""
        rates = [_rate(g["rates"][r]) for r in columns]
        rows.append([join(name(g["name"]), mark), cell(f"{g['n']:,}", left, data_value=g["n"]), *rates])
        kinds.append("small" if g["name"] in attribute["too_small"] and g["n"] <= least else None)
    more = len(attribute["groups"]) - len(shown)
    caption = f"Groups of {shown_name(attribute['name'])}{whose}, with the interval of each rate"
    caption += "; too small to conclude anything: in italics" if any(kinds) else ""
    caption += f"; {more:,} smaller groups are not shown" if more else ""
    return grid(caption, ["group", "people", *columns.values()], rows, kinds=kinds, class_="sortable")


def _rate(e: dict[str, Any]) -> Markup:
    ci = e["ci"]
    ends = None if ci is None or None in ci else " to ".join(f"{100 * end:.1f}" for end in ci)
    return _above(percent(e["value"], digits=1), ends, e)


def estimate(e: dict[str, Any]) -> Markup:
    """A number above its interval, in a table that sorts."""
    ci = e["ci"]
    return _above(number(e["value"]), None if ci is None or None in ci else interval(ci), e)


def _above(text: str, ends: str | None, e: dict[str, Any]) -> Markup:
    bounds = None if ends is None else tag("div", ends, class_="muted")
    return cell(text, bounds, title=e["undefined"], data_value="NaN" if e["value"] is None else e["value"])


def largest_table(attribute: dict[str, Any]) -> Markup:
    """The most different pair of groups and the mean over all pairs, by measure."""
    rows = []
    for m in attribute["largest"]:
        measure = measure_of(m)
        pair = "–" if m["pair"] is None else join(name(m["pair"][0]), " and ", name(m["pair"][1]))
        numbers = [size(measure, m["value"]), interval(m["ci"]), size(measure, m["null_95"])]
        means = [size(measure, m["mean"]), interval(m["ci_mean"])]
        rows.append([measure.title, *numbers, cell(pair, class_="words"), *means])
    heads = ["measure", "gap", "interval", "null 95%", "pair", "mean over all pairs", "interval"]
    return grid("The most different pair of groups and the mean over all pairs, by measure", heads, rows)
