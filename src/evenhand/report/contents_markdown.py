"""Contents → Markdown for a pull request or a model card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.errors import shown_name
from evenhand.report.contents import Box, Code, Command, Contents, Name, Number, Part, Points, Sheet, Word
from evenhand.report.markdown import escaped, fenced, finished, table

MOST_ROWS = (100, 30, 10, 3)
MOST_TEXT = 60_000
"""GitHub takes comments of 65,536 characters."""


def contents_markdown(contents: Contents, document: dict[str, Any]) -> str:
    """A report with its answer first, short enough for a comment on a pull request."""
    text = ""
    for most in MOST_ROWS:
        text = finished(_lines(contents, document, most))
        if len(text) <= MOST_TEXT:
            break
    return text


def _lines(contents: Contents, document: dict[str, Any], most: int) -> Iterator[str]:
    yield f"## {escaped(contents.title)}\n"
    yield f"**{escaped(contents.answer)}**\n"
    yield from (f"{escaped(text)}\n" for text in contents.said)
    yield f"{escaped(' · '.join(contents.about))}\n"
    for section in contents.sections:
        if not section.minor:
            yield f"### {escaped(section.heading)}\n"
            several = sum(isinstance(part, Sheet) for part in section.parts) > 1
            for part in section.parts:
                yield from (f"{escaped(part.caption)}:\n",) if several and isinstance(part, Sheet) else ()
                yield from part_lines(part, most)
    yield from (f"- {escaped(shown_name(note, 600))}" for note in contents.notes[:most])
    yield from _more(len(contents.notes) - most)
    yield ""
    digest, seed = contents.options.get("table"), contents.options.get("seed")
    known = [f"table `{digest[:16]}`"] if digest else []
    known += [] if seed is None else [f"seed {seed}"]
    yield f"<sub>{', '.join(('Evenhand ' + document['version'], *known))}.</sub>"


def part_lines(part: Part, most: int) -> Iterator[str]:
    """A part of a report, as lines."""
    if isinstance(part, Sheet):
        rows = [_row(row, len(part.heads)) for row in part.rows[:most]]
        yield from table([escaped(head) for head in part.heads], rows, {escaped(head) for head in part.texts})
        yield from _more(len(part.rows) - len(rows))
        yield from (f"{escaped(part.legend)}\n",) if part.legend else ()
    elif isinstance(part, Box):
        yield f"- **{escaped(part.heading)}**: {escaped(part.text)}\n"
    elif isinstance(part, Points):
        yield from (f"- {escaped(shown_name(line, 600))}" for line in part.lines[:most])
        yield from _more(len(part.lines) - most)
        yield ""
    elif isinstance(part, Command):
        yield fenced(part.text)
    else:
        yield f"{escaped(part)}\n"


def _row(row: Sequence[Any], width: int) -> list[str]:
    """A heading fills the row."""
    cells = [_cell(c) for c in row]
    return cells if len(cells) == width else [f"*{cells[0]}*", *[""] * (width - 1)]


def _more(hidden: int) -> Iterator[str]:
    if hidden > 0:
        yield f"{hidden:,} more {'is' if hidden == 1 else 'are'} not shown (the JSON has them).\n"


def _cell(content: Any) -> str:
    if isinstance(content, tuple):
        return "".join(map(_cell, content))
    if isinstance(content, Word):
        return f"**{escaped(content.text)}**" if content.mood == "bad" else escaped(content.text)
    if isinstance(content, Number):
        return escaped(content.text)
    if isinstance(content, Code):
        return code(content)
    return escaped(shown_name(content, 60 if isinstance(content, Name) else 600))


def code(text: str) -> str:
    """What is typed, in a line of its own text.

    >>> code("a"), code("a `b`")
    ('`a`', '`` a `b` ``')
    """
    if "`" not in text and "|" not in text:
        return f"`{shown_name(text, 200)}`"
    return f"`` {shown_name(text, 200)} ``" if "|" not in text else escaped(text)
