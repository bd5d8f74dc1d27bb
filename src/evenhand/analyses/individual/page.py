"""The page of fairness between individuals: findings, charts, and people side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.individual.charts import CHARTS
from evenhand.analyses.individual.text import differing, told
from evenhand.errors import shown_name
from evenhand.report.charts.registry import Charts
from evenhand.report.format import number, p_values
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Cell, Markup, cell, facts_of, grid, join, name, notes_of, repeated, tag
from evenhand.report.page.shell import fitted, page

MOST_PAIRS = 20
MOST_ROWS = 15
Document = dict[str, Any]
Section = tuple[str, str, Any]


def individual_page(document: Document) -> str:
    """The whole result as one page."""
    return fitted(lambda room: _page(document, room))


def _page(document: Document, room: Room) -> str:
    what = shown_name(document["data"]["score"])
    parts = sections(document, room)
    remarks = [tag("p", remark, class_="note") for remark in room.remarks()]
    method = ("individual-method", "How it was computed", join(tag("p", _HOW), repeated(document), remarks))
    return page(f"Are similar people treated alike by {what}?", facts_of(_facts(document)), [*parts, method], document)


def sections(document: Document, room: Room) -> list[Section]:
    """What a page says of it, from the document alone."""
    there = Charts(CHARTS, document)
    charts = [room.figure(there.draw(chart), f"plot({chart!r})") for chart in there.names()]
    return [
        ("individual", "Similar people", join(_findings(document))),
        ("individual-groups", "Who is treated alike", join(_treatments(document), tag("div", charts, class_="charts"))),
        ("individual-pairs", "Side by side", join(_pairs(document, room))),
    ]


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    data, options = document["data"], document["options"]
    yield "People", f"{data['people']:,}"
    left = ", ".join(f"{count:,} without {shown_name(column)}" for column, count in data["left_out"].items())
    yield "Left out", f"{data['rows'] - data['people']:,} rows ({left})" if left else "nobody"
    yield "Score", f"{shown_name(data['score'])}, high is {'bad' if data['risk'] else 'good'} for the person"
    near = f"the {options['k']} nearest people" if options["k"] else f"everybody within {options['radius']:g}"
    how = "exact" if options["exact"] else f"from an index, recall {options['recall']:.3f}"
    yield "Near", f"{near} ({how}), by {shown_name(options['metric'])} distance"
    if data["columns"]:
        yield "Compared", ", ".join(shown_name(c) for c in data["columns"])
    if data["beside"]:
        yield "Not compared", ", ".join(shown_name(c) for c in data["beside"])
    yield "Alike", f"scores within {options['epsilon']:.3g}"
    if options["lipschitz"] is not None:
        yield "Lipschitz constant allowed", f"scores may differ by {options['lipschitz']:g} × distance"


def _findings(document: Document) -> Iterator[Markup]:
    points = [tag("li", f"{said[0].upper()}{said[1:]}.") for said in document["interpretation"]]
    yield tag("div", tag("ul", *points), class_="finding")
    yield from notes_of(document)


def _treatments(document: Document) -> Iterator[Markup]:
    bound = document["options"]["lipschitz"] is not None
    heads: list[Any] = ["near pairs of", "people", "pairs", "alike", "consistency", "Lipschitz constant"]
    heads += ["beyond lipschitz × distance"] if bound else []
    heads += ["alike, minus reference", "score beside the reference"] if document["groups"] else []
    rows = [["everybody", *_numbers(document["overall"], bound), *(["", ""] if document["groups"] else [])]]
    for g in document["groups"]:
        mark = " (reference)" if g["alike_gap"] is None else ""
        gaps = [_contrast(g["alike_gap"]), _contrast(g["across"])]
        rows.append([join(name(g["name"]), mark), *_numbers(g, bound), *gaps])
    null = document["chance"]
    empty = [""] * (len(heads) - 5)
    rows.append(["any two people", "", "", number(null["alike"]), number(null["consistency"]), *empty])
    level = f"{100 * document['options']['confidence']:g}%"
    yield grid(f"Near pairs, with {level} intervals", heads, rows)


def _numbers(t: dict[str, Any], bound: bool) -> list[Any]:
    shown = [_estimate(t["alike"]), _estimate(t["consistency"]), _estimate(t["constant"], "{:.4g}")]
    return [f"{t['people']:,}", f"{t['pairs']:,}", *shown, *([_estimate(t["violations"])] if bound else [])]


def _estimate(e: dict[str, Any], form: str = "{:.3f}") -> Cell:
    if e["value"] is None:
        return cell("–", title=e["undefined"])
    return cell(form.format(e["value"]), _bounds(e["ci"], form))


def _bounds(ci: list[float | None] | None, form: str) -> Markup | None:
    if ci is None or ci[0] is None:
        return None
    end = "no upper bound" if ci[1] is None else form.format(ci[1])
    return tag("div", f"{form.format(ci[0])} to {end}", class_="muted")


def _contrast(c: dict[str, Any] | None) -> Any:
    if c is None:
        return ""
    if c["value"] is None:
        return cell("–", title=c["undefined"])
    raw, adjusted = p_values(c)
    p = "" if c["p_adjusted"] is None else f", p {raw}, adjusted {adjusted}"
    return cell(f"{number(c['value'], sign=True)}{p}", _bounds(c["ci"], "{:+.3f}"))


def _pairs(document: Document, room: Room) -> Iterator[Markup]:
    if not document["worst"]:
        yield tag("p", "No two near people stand out.")
        return
    kind = (
        "Scores exceed lipschitz × distance most in"
        if document["options"]["lipschitz"] is not None
        else "Scores differ most per distance in"
    )
    yield tag("p", f"{kind} these pairs. They are people: mind who may read this page.")
    for place, w in enumerate(document["worst"][: room.most(MOST_PAIRS)], 1):
        table = _beside(document, w, place)
        yield table if place <= 3 else tag("details", tag("summary", f"{place}. {told(w)}"), table)
    more = len(document["worst"]) - room.most(MOST_PAIRS)
    if more > 0:
        yield tag("p", f"{more:,} more pairs are in the JSON.", class_="note")


def _beside(document: Document, w: dict[str, Any], place: int) -> Markup:
    one, other = w["people"]
    rows: list[list[Any]] = [["score", f"{one['score']:.4g}", f"{other['score']:.4g}"]]
    if document["data"]["group"] is not None:
        rows.append([name(document["data"]["group"]), name(one["group"]), name(other["group"])])
    differ, same = differing(document, w)
    for column, compared in differ[:MOST_ROWS]:
        label = join(name(column), "" if compared else " (not compared)")
        rows.append([label, name(one["values"][column]), name(other["values"][column])])
    rest = f"; the same in {same} of {len(document['data']['columns'])} columns compared" if same else ""
    return grid(f"{place}. {told(w)}{rest}", ["", f"row {one['row']:,}", f"row {other['row']:,}"], rows)


_HOW = (
    "Intervals come from leaving out each person in turn, the next nearest stepping in. People at distance 0 whose "
    "scores differ are counted, not divided by. See docs/analyses/individual.md."
)
