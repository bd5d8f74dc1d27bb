"""A plan and a piece of advice in words, made from their documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def plan(document: dict[str, Any]) -> str:
    """What it takes, in a sentence."""
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


def advice(document: dict[str, Any]) -> Iterator[str]:
    """What to look at and why, line by line; a command is broken where it can be copied."""
    yield f"Look at: {', '.join(document['measures'])}"
    yield document["why"]
    if document["beware"]:
        yield document["beware"]
    if document["command"]:
        data, choices = document["command"].split(" --unit ")
        yield from (f"{data} \\", f"    --unit {choices}")
