"""Bars of the selection rates on a page, with people, ratio and verdict of each group and the four-fifths line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit.brief import MOST_GROUPS, NOT_COMPARED, SHORT, percent_column, ranked
from evenhand.analyses.audit.marks import KINDS, badge
from evenhand.analyses.audit.verdict import word_of
from evenhand.analyses.audit.verdict_words import FOUR_FIFTHS, percents
from evenhand.errors import shown_name
from evenhand.report.format import number
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag

WIDTH, HEIGHT = 1000, 32
TOPS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Where bars may end, so that small rates are seen too."""

Group = dict[str, Any]


def bars(attribute: dict[str, Any], confidence: float, most: int = MOST_GROUPS) -> Markup:
    """The reference and the groups with the worst verdicts; the others are in the matrix."""
    shown = ranked(attribute)[:most]
    ratios = {m["group"]: m for m in attribute["measures"] if m["id"] == "disparate_impact"}
    known = [g["rates"]["selection_rate"] for g in shown if g["rates"]["selection_rate"]["value"] is not None]
    top = _top(max((max(e["value"], *_ends(e)) for e in known), default=1.0))
    lines = _limits(attribute, ratios, top)
    selected = percent_column([g["rates"]["selection_rate"]["value"] for g in shown])
    rows = []
    for g, rate in zip(shown, selected, strict=True):
        ratio = ratios.get(g["name"])
        word = None if ratio is None else word_of(ratio, confidence)
        rows.append(
            [
                join(name(g["name"], 40), tag("span", _people(g), class_="people")),
                cell(_bar(g, top, lines, word), class_="bar"),
                cell(rate, class_="rate"),
                cell(_times(attribute, g, ratio), class_="ratio"),
                cell(_word(attribute, g), class_="verdict"),
            ]
        )
    heads = ["group", tag("span", "bar", class_="hidden"), "selected", "ratio", "verdict"]
    table = grid(_caption(attribute, lines, top), heads, rows, class_="bars")
    left = len(attribute["groups"]) - len(shown)
    more = tag("p", f"{left:,} more groups are in the tables below.", class_="note") if left else None
    return tag("div", table, more)


def _people(g: Group) -> str:
    left = f", {g['left_out']:,} left out" if g["left_out"] else ""
    return f"{g['n']:,} {'person' if g['n'] == 1 else 'people'}{left}"


def _times(attribute: dict[str, Any], g: Group, ratio: dict[str, Any] | None) -> str:
    if g["name"] == attribute["reference"]:
        return "1.00"
    return "–" if ratio is None else number(ratio["value"], digits=2)


def _word(attribute: dict[str, Any], g: Group) -> Markup | None:
    if g["name"] == attribute["reference"]:
        return tag("span", "reference", class_="people")
    if g["name"] in attribute["excluded"]:
        return tag("span", NOT_COMPARED, class_="people")
    word = attribute["verdict"]["groups"].get(g["name"])
    return None if word is None else badge(word, tag("span", SHORT[word]))


# ---- drawing ---------------------------------------------------------------------------------------------------------


def _bar(g: Group, top: float, lines: list[float], word: str | None) -> Markup:
    """A bar, its interval, and the lines of the tolerance, which run through all rows."""
    rate = g["rates"]["selection_rate"]
    return tag("svg", *_marks(rate, top, lines, KINDS[word] if word else "own"), viewBox=f"0 0 {WIDTH} {HEIGHT}",
               preserveAspectRatio="none", aria_hidden="true")  # fmt: skip


def _marks(rate: dict[str, Any], top: float, lines: list[float], kind: str) -> Iterator[Markup]:
    yield tag("rect", class_="back", y=8, width=WIDTH, height=16)
    if rate["value"] is not None:
        yield tag("rect", class_=f"of {kind}", y=8, width=_x(rate["value"], top), height=16)
    if _ends(rate):
        low, high = (_x(end, top) for end in _ends(rate))
        yield tag("path", class_="interval", d=f"M{low},16H{high}M{low},11V21M{high},11V21")
    yield from (tag("line", class_="limit", x1=_x(at, top), x2=_x(at, top), y1=0, y2=HEIGHT) for at in lines)


def _x(share: float, top: float) -> str:
    return f"{WIDTH * min(share / top, 1.0):.1f}"


def _ends(rate: dict[str, Any]) -> list[float]:
    ci = rate["ci"]
    return [] if ci is None or None in ci else list(ci)


def _top(most: float) -> float:
    return next((top for top in TOPS if most <= top), 1.0)


def _limits(attribute: dict[str, Any], ratios: dict[str, dict[str, Any]], top: float) -> list[float]:
    """The rates at which a group would be at the tolerance of the ratio to the reference."""
    base = next(g for g in attribute["groups"] if g["name"] == attribute["reference"])["rates"]["selection_rate"]
    if not ratios or not base["value"]:
        return []
    tolerance = next(iter(ratios.values()))["tolerance"]
    higher = any(m["value"] is not None and m["value"] > 1 for m in ratios.values())
    wanted = [tolerance * base["value"], *([base["value"] / tolerance] if higher else [])]
    return [at for at in wanted if 0 < at <= top and math.isfinite(at)]


def _caption(attribute: dict[str, Any], lines: list[float], top: float) -> Markup:
    """What the bars are, and where the lines stand."""
    said = f"Who gets the favourable decision, by {shown_name(attribute['name'])}. Bars end at {100 * top:g}% and are "
    said += "coloured by the ratio; thin lines are intervals"
    if not lines:
        return join(said, ".")
    share = _share(next(m["tolerance"] for m in attribute["measures"] if m["id"] == "disparate_impact"))
    whose = name(attribute["reference"], 30)
    second = f", and where theirs would be {share} ({percents(lines[1])[0]})" if len(lines) > 1 else None
    return join(said, f". Dashed: {share} of the rate of ", whose, f" ({percents(lines[0])[0]})", second, ".")


def _share(tolerance: float) -> str:
    return "four fifths" if tolerance == FOUR_FIFTHS else f"{tolerance:g} times"
