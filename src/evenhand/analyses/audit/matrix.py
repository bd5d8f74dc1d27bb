"""Groups by key measures on a page: a word, a sign and a colour in every cell, the numbers behind it on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.analyses.audit.brief import SHORT, few_digits, worst_first
from evenhand.analyses.audit.marks import KINDS, badge, icon
from evenhand.analyses.audit.verdict import word_of
from evenhand.analyses.audit.wording import gap, measure_of, p_words, tolerated
from evenhand.errors import shown_name
from evenhand.report.format import interval
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag


def matrix(attribute: dict[str, Any], confidence: float, at_once: int, most: int, links: bool = True) -> Markup:
    """The worst groups, then the others, folded. Heads link to what a measure asks, if that is on the page."""
    groups = worst_first(attribute)
    first, rest = groups[:at_once], groups[at_once:most]
    parts: list[Any] = [_rows(attribute, first, confidence, links), _readout()]
    if rest:
        parts.append(
            tag("details", tag("summary", f"{len(rest):,} more groups"), _rows(attribute, rest, confidence, links))
        )
    if len(groups) > most:
        parts.append(tag("p", f"{len(groups) - most:,} further groups are in the JSON.", class_="note"))
    return join(parts)


def _readout() -> Markup:
    return tag("p", _SIGNS, tag("span", _HOW, class_="needs-script", hidden=True), class_="readout note")


_SIGNS = "pts: percentage points; ×: times as often."
_HOW = " Point at or touch a cell, or move between cells with the arrow keys, for its question, interval and tolerance."


def _rows(attribute: dict[str, Any], groups: Sequence[str], confidence: float, links: bool) -> Markup:
    key, words = attribute["verdict"]["key"], attribute["verdict"]["groups"]
    wanted = set(groups)
    by = {(m["group"], m["id"]): m for m in attribute["measures"] if m["group"] in wanted}
    heads = ["group", *(_head(id_, links) for id_ in key)]
    rows = [
        [join(name(g, 40), " ", badge(words[g])), *(_cell(by.get((g, id_)), confidence, id_) for id_ in key)]
        for g in groups
        if g in words
    ]
    caption = join("Each group against ", name(attribute["reference"]), ", by key measure")
    return grid(caption, heads, rows, class_="matrix")


def _head(id_: str, links: bool) -> Markup:
    measure = measure_of({"id": id_})
    return tag("a", measure.title, href=f"#about-{id_}") if links else tag("span", measure.title)


def _cell(m: dict[str, Any] | None, confidence: float, id_: str) -> Markup:
    """The value, its word, and for the ear and on request the rest."""
    measure = measure_of({"id": id_})
    if m is None:
        return cell("–", data_measure=measure.title)
    word = word_of(m, confidence)
    return cell(
        tag("span", icon(word), " ", few_digits(measure, m), class_="value"),
        tag("span", " ", SHORT[word], class_="short"),
        tag("span", _details(m, word, confidence), class_="rest"),
        class_=KINDS[word], data_measure=measure.title, data_asks=measure.asks,
    )  # fmt: skip


def _details(m: dict[str, Any], word: str, confidence: float) -> Markup:
    """The word in full, interval, tolerance and p-value, or why there are none."""
    measure = measure_of(m)
    if m["value"] is None:
        return join(tag("span", f": {word} ", class_="aloud"), shown_name(m["undefined"] or "", 200))
    ends = "" if m["ci"] is None else f"{100 * confidence:g}% interval {interval(m['ci'], sign=measure.signed)}, "
    p = "" if m["p_adjusted"] is None else f", {p_words(m)}"
    because = f"; {shown_name(m['unjudged'], 200)}" if m["unjudged"] else ""
    said = f"{gap(measure, m)}, {ends}tolerance {tolerated(measure, m['tolerance'])}{p}{because}"
    return join(tag("span", f": {word}. ", class_="aloud"), said)
