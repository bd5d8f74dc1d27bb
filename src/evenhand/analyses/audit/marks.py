"""How a verdict looks on a page: a shape and a colour for each word, so that neither is needed to read the other."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.audit.verdict import WORDS
from evenhand.report.page.markup import Markup, tag

_KINDS = ("unequal", "uncertain", "exceeds", "unknown", "nothing", "slight", "even")
KINDS = dict(zip(WORDS, _KINDS, strict=True))
"""The class of what is coloured by a word."""
_DISC = "M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0Z"
_RING = "M8 .9a7.1 7.1 0 1 0 0 14.2A7.1 7.1 0 0 0 8 .9Z"
_DIAMOND = "M8 .9 15.1 8 8 15.1.9 8Z"
_TILE = "M3.5 0h9A3.5 3.5 0 0 1 16 3.5v9a3.5 3.5 0 0 1-3.5 3.5h-9A3.5 3.5 0 0 1 0 12.5v-9A3.5 3.5 0 0 1 3.5 0Z"
_NOT_EQUAL = "M4 6.2h8M4 9.8h8M10.4 3.4 5.6 12.6"
_SHAPES: dict[str, tuple[tuple[str, str], ...]] = {
    "unequal": (("full", _DISC), ("cut", _NOT_EQUAL)),
    "uncertain": (("ring", _RING), ("line", _NOT_EQUAL)),
    "exceeds": (("full", "M8 .8 15.8 15H.2Z"), ("cut", "M8 5.6v4.6M8 12.1v1.1")),
    "unknown": (("ring", _DIAMOND), ("line", "M6 6.4c0-2.8 4.1-2.6 4.1-.1 0 1.6-2.1 1.5-2.1 3.2M8 11v1.1")),
    "nothing": (("ring", "M1.2 1.2h13.6v13.6H1.2Z"), ("line", "M5 8h6")),
    "slight": (("ring", _RING), ("line", "M4 6.6c2-2 4 1.6 8-.4M4 10.4c2-2 4 1.6 8-.4")),
    "even": (("full", _TILE), ("cut", "M4 8.4l2.8 2.8L12 5.4")),
}  # fmt: skip


def icon(word: str) -> Markup:
    """The shape of a word; the word itself stands beside it."""
    paths = (tag("path", class_=how, d=d) for how, d in _SHAPES[KINDS[word]])
    return tag("svg", *paths, class_="icon", viewBox="0 0 16 16", aria_hidden="true")


def badge(word: str, *said: Any) -> Markup:
    """A word with its shape, in its colour; `said` is shown instead of the word, which then is read aloud."""
    return tag("span", icon(word), " ", *(said or (word,)), class_=f"word {KINDS[word]}")
