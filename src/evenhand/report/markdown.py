"""What Markdown of any result is made of: escaped names, tables, and text as a terminal shows it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from evenhand.errors import harmless
from evenhand.report.cover import read_from, said_by
from evenhand.report.prose import blocks

NOBODY = dict.fromkeys(("author", "organisation", "date", "source", "file", "note"))
"""A cover that says nothing."""
_STYLES = {"strong": "**", "em": "*"}


def escaped(text: object) -> str:
    """Text that Markdown and HTML take as it is: names are not ours.

    >>> escaped("a|b <img> *x* [l](u)")
    'a\\\\|b &lt;img&gt; \\\\*x\\\\* \\\\[l\\\\](u)'
    """
    plain_text = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain_text = re.sub(r"([\\`*_\[\]|~#!@$])", r"\\\1", plain_text)
    return re.sub(r"(https?|ftp|mailto|www)(?=[:.])", r"\1&#8203;", plain_text, flags=re.IGNORECASE)  # and no link


def finished(lines: Iterable[str]) -> str:
    """The whole text, of which nothing is a command to what it may run through."""
    return harmless("\n".join(lines).rstrip()) + "\n"


def table(heads: list[str], rows: list[list[str]], texts: Collection[str] = ()) -> Iterator[str]:
    """A table, the first column and those of `texts` to the left and numbers to the right."""
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{''.join('---|' if head in texts else '---:|' for head in heads[1:])}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines that are shown on request."""
    yield f"<details><summary>{_coded(title)}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def preformatted(text: str) -> str:
    """A line as it is, of which Markdown and HTML take no character for theirs.

    >>> preformatted("a 'b<c>'")
    '<pre>a &#39;b&#60;c&#62;&#39;</pre>'
    """
    return f"<pre>{_coded(text)}</pre>"


def _coded(text: str) -> str:
    """Text inside of HTML, in which neither HTML nor Markdown finds anything of its own."""
    return "".join(c if c.isalnum() or c in " -_.,:=/×" else f"&#{ord(c)};" for c in harmless(text))


def cover_lines(document: dict[str, Any]) -> Iterator[str]:
    """Who answers for a report, as points; nothing where no cover was stated. A logo is not shown."""
    cover = document.get("cover") or NOBODY
    yield from (f"- **{term}:** {escaped(text)}" for term, text in (*said_by(cover), *read_from(cover)))


def note_lines(document: dict[str, Any]) -> Iterator[str]:
    """The note of a cover, whose headings are below those of the report."""
    for block in blocks((document.get("cover") or NOBODY)["note"] or ""):
        text = "".join(_styled(span.text, span.style) for span in block.spans)
        if block.kind == "point":
            mark = "-" if block.number is None else f"{block.number}."
            yield f"{'   ' * (block.level - 1)}{mark} {text}"
        else:
            yield f"\n{'#' * min(block.level + 2, 6)} {text}\n" if block.kind == "heading" else f"\n{text}\n"


def _styled(text: str, style: Collection[str]) -> str:
    """Text between the marks of its style, which stand beside letters and never beside blanks."""
    inner = text.strip()
    if not inner or not style:
        return escaped(text)
    before, _, after = text.partition(inner)
    marks = "".join(mark for name, mark in _STYLES.items() if name in style)
    told = f"<code>{escaped(inner)}</code>" if "code" in style else escaped(inner)
    return f"{before}{marks}{told}{marks[::-1]}{after}"


def fenced(text: str) -> str:
    """What a terminal shows, as it is."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}\n"
