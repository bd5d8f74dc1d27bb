"""A plan and a piece of advice in words, made from their documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from evenhand.analyses.planning.catalogue_text import listing

WIDTH = 76
"""Of a line of a command."""


def render(document: dict[str, Any]) -> RenderableType:
    """What it takes in a sentence, what to look at and why, or a list of measures."""
    if document["schema"] == "evenhand/measures/1":
        return listing(document)
    return Text("\n".join(_advice(document)) if "measures" in document else sentence(document))


def sentence(document: dict[str, Any]) -> str:
    """How many people show which gap."""
    base, gap = document["base_rate"], document["gap"]
    people = f"{document['n']:,} people of the group and {document['n_reference']:,} of the reference"
    how = f"{100 * document['power']:.3g}% power at level {document['level']:g}"
    if gap is None:
        return f"{people} cannot show any gap from a rate of {base:g} with {how}: too few people."
    if document["asked"] == "gap":
        ends = {"at most": document["below"], "at least": document["above"]}
        said = " or ".join(f"{word} {end:.3f}" for word, end in ends.items() if end is not None)
        return f"{people} tell rates of {said} from {base:g} with {how}."
    rates = f"{base + gap:g} against {base:g}"
    if document["asked"] == "n":
        return f"To tell {rates} with {how}, it takes {people}."
    return f"{people} tell {rates} with {how}."


def _advice(document: dict[str, Any]) -> Iterator[str]:
    """Line by line; a command is broken where it can be copied."""
    yield f"Look at: {', '.join(document['measures'])}"
    yield document["why"]
    if document["beware"]:
        yield document["beware"]
    yield from broken(document["command"])


def broken(command: str) -> Iterator[str]:
    """A command in lines that can be copied."""
    line = ""
    for part in re.split(" (?=--)", command):
        if line and len(line) + len(part) > WIDTH:
            yield f"{line} \\"
            line = "   "
        line = f"{line} {part}" if line else part
    yield line
