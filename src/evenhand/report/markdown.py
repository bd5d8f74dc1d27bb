"""What Markdown of any result is made of: escaped names, tables, and text as a terminal shows it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from evenhand.errors import harmless


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


def fenced(text: str) -> str:
    """What a terminal shows, as it is."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}\n"
