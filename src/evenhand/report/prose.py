"""A note in Markdown, as headings, paragraphs and points: nothing in it is HTML, a link or a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

READ = ["heading", "list", "emphasis", "backticks", "escape", "entity", "newline"]
"""What is understood of Markdown besides paragraphs; all else stays the text that it is."""


@dataclass(frozen=True)
class Span:
    """Text in one style."""

    text: str
    style: frozenset[str] = frozenset()
    """Some of strong, em, code."""


@dataclass(frozen=True)
class Block:
    """A heading, a paragraph, or a point of a list."""

    kind: Literal["heading", "paragraph", "point"]
    spans: tuple[Span, ...]
    level: int = 1
    """Of a heading, or how deep a point is."""
    number: int | None = None
    """Of a point in a numbered list."""

    @property
    def text(self) -> str:
        """Without styles."""
        return "".join(span.text for span in self.spans)


def blocks(text: str) -> list[Block]:
    """The parts of a Markdown text.

    >>> [(b.kind, b.text) for b in blocks("# Scope\\n\\nFor *hiring* only.\\n\\n1. <b>no</b>\\n")]
    [('heading', 'Scope'), ('paragraph', 'For hiring only.'), ('point', '<b>no</b>')]
    """
    from markdown_it import MarkdownIt

    return list(_blocks(MarkdownIt("zero", {"maxNesting": 100}).enable(READ).parse(text)))


def _blocks(tokens: list[Any]) -> Iterator[Block]:
    lists: list[int | None] = []  # the next number of each list that is open; None of one without numbers
    heading, first = 0, False
    for token in tokens:
        match token.type:
            case "bullet_list_open":
                lists.append(None)
            case "ordered_list_open":
                lists.append(int(token.attrGet("start") or 1))
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                first = True
            case "heading_open":
                heading = int(token.tag[1:])
            case "inline":
                spans = tuple(_spans(token.children or []))
                if heading:
                    yield Block("heading", spans, heading)
                elif lists and first:
                    number = lists[-1]
                    lists[-1] = None if number is None else number + 1
                    yield Block("point", spans, len(lists), number)
                else:
                    yield Block("paragraph", spans)
                heading, first = 0, False


def _spans(tokens: list[Any]) -> Iterator[Span]:
    styles: list[str] = []
    for token in tokens:
        if token.type.endswith("_open"):
            styles.append(token.tag)
        elif token.type.endswith("_close"):
            styles.remove(token.tag)
        elif token.type in ("softbreak", "hardbreak"):
            yield Span(" ", frozenset(styles))
        elif token.content:
            code = {"code"} if token.type == "code_inline" else set()
            yield Span(token.content, frozenset(styles) | code)
