"""Fairness between individuals as a report of 80 columns, made from the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.cells import set_cell_size
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.console import wrapped
from evenhand.report.format import interval, number

MOST_SHOWN, MOST_ROWS = 3, 12
"""Pairs of people that the terminal shows side by side, and columns in which they differ."""


def render(document: dict[str, Any]) -> Text:
    """The document as a report of 80 columns."""
    return Text("\n".join(_lines(document)))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield "Individual fairness"
    yield from wrapped(" · ".join(facts(document)))
    yield ""
    yield from _table(document)
    yield ""
    for sentence in document["interpretation"]:
        yield from wrapped(f"• {sentence}", "  ")
    for place, w in enumerate(document["worst"][:MOST_SHOWN], 1):
        yield ""
        yield from _side_by_side(document, w, place)
    if len(document["worst"]) > MOST_SHOWN:
        yield ""
        yield f"{len(document['worst']) - MOST_SHOWN} more pairs are in the JSON and on the page."
    if document["notes"]:
        yield ""
        for note in document["notes"]:
            yield from wrapped(f"Note: {shown_name(note, 600)}", "  ")


def facts(document: dict[str, Any]) -> list[str]:
    """Who is compared with whom."""
    data, options = document["data"], document["options"]
    left = data["rows"] - data["people"]
    compared = [shown_name(name) for name in data["columns"]]
    few = ", ".join(compared[:8]) + (f" and {len(compared) - 8} more" if len(compared) > 8 else "")
    how = "exact" if options["exact"] else f"approximate, recall {options['recall']:.3f}"
    near = f"the {options['k']} nearest people" if options["k"] else f"people within {options['radius']:g}"
    kind = "risk score" if data["risk"] else "score"
    return [
        f"{data['people']:,} people" + (f" ({left:,} left out)" if left else ""),
        f"{kind} {shown_name(data['score'])}",
        f"distance: {options['metric']}" + (f" over {few}" if few else ""),
        f"near: {near} ({how})",
        f"alike: scores within {options['epsilon']:.3g}",
    ]


def _table(document: dict[str, Any]) -> Iterator[str]:
    bound = document["options"]["lipschitz"]
    level = f"{100 * document['options']['confidence']:g}% interval"
    last = f"{'beyond':>9}" if bound is not None else ""
    yield f"{'near pairs of':<22}{'people':>9}{'alike':>7}{level:>15}{'consist.':>9}{'Lipsch.':>9}{last}"
    yield _row("everybody", document["overall"], bound)
    null = document["chance"]
    yield f"{'any two people':<22}{'':>9}{number(null['alike']):>7}{'':>15}{number(null['consistency']):>9}"
    for g in document["groups"]:
        name = shown_name(g["name"], 21)
        yield _row(f"{name}*" if g["alike_gap"] is None else name, g, bound)
    if document["groups"]:
        yield f"* reference of {shown_name(document['data']['group'])}"


def _row(name: str, t: dict[str, Any], bound: float | None) -> str:
    ends = "" if t["alike"]["ci"] is None else interval(t["alike"]["ci"], join=", ")
    last = "" if bound is None else f"{number(t['violations']['value']):>9}"
    slope = t["constant"]["value"]
    return (
        f"{set_cell_size(name, 22)}{t['people']:>9,}{number(t['alike']['value']):>7}{ends:>15}"
        f"{number(t['consistency']['value']):>9}{'–' if slope is None else f'{slope:.4g}':>9}{last}"
    )


def _side_by_side(document: dict[str, Any], w: dict[str, Any], place: int) -> Iterator[str]:
    """Two people, in what they differ."""
    one, other = w["people"]
    yield f"{place}. {told(w)}"
    rows = [("row", one["row"], other["row"]), ("score", f"{one['score']:.4g}", f"{other['score']:.4g}")]
    if document["data"]["group"] is not None:
        rows.append((shown_name(document["data"]["group"], 30), one["group"], other["group"]))
    differ, same = differing(document, w)
    for name, compared in differ[:MOST_ROWS]:
        label = shown_name(name, 30) + ("" if compared else " (not compared)")
        rows.append((label, one["values"][name], other["values"][name]))
    for label, a, b in rows:
        yield f"   {set_cell_size(label, 36)} {_cell(a)} {_cell(b)}".rstrip()
    rest = [f"{len(differ) - MOST_ROWS} more columns differ"] if len(differ) > MOST_ROWS else []
    if same:
        rest.append(f"the same in {same} of {len(document['data']['columns'])} columns compared")
    if rest:
        yield f"   {'; '.join(rest)}"


def told(w: dict[str, Any]) -> str:
    """A pair in a line."""
    where = "at distance 0" if not w["distance"] else f"at distance {w['distance']:.3g}"
    beyond = "" if w["beyond"] is None else f", {w['beyond']:.3g} more than allowed"
    return f"{w['difference']:.3g} apart {where}{beyond}"


def differing(document: dict[str, Any], w: dict[str, Any]) -> tuple[list[tuple[str, bool]], int]:
    """The columns in which two people differ and whether they were compared, and in how many compared ones not."""
    one, other = (p["values"] for p in w["people"])
    data = document["data"]
    differ = [(name, True) for name in data["columns"] if one[name] != other[name]]
    beside = [(name, False) for name in data["beside"] if one[name] != other[name]]
    return [*differ, *beside], len(data["columns"]) - len(differ)


def _cell(value: Any) -> str:
    plain = "–" if value is None else f"{value:.6g}" if isinstance(value, float) else shown_name(value, 18)
    return set_cell_size(plain, 19)
