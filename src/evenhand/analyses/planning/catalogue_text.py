"""The catalogue of measures in words, made from its document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from evenhand.measures.measure import FAMILIES
from evenhand.report.console import indented

NEEDS = {"decision": "a decision, or a score with a threshold", "score": "a score", "outcome": "outcomes"}


def listing(document: dict[str, Any]) -> RenderableType:
    """Question by question, each measure in a few lines."""
    parts: list[RenderableType] = []
    for family, title in FAMILIES.items():
        members = [m for m in document["measures"] if m["family"] == family]
        if members:
            parts += [*([Text()] if parts else []), Text(title.heading, style="bold")]
        for m in members:
            parts += [Text(), *_measure(m)]
    return Group(*parts)


def _measure(m: dict[str, Any]) -> Iterator[RenderableType]:
    yield Text.assemble((m["id"], "bold"), f" · {m['title']}")
    yield indented(m["asks"])
    yield indented(f"{m['formula']}; tolerance {tolerance(m)}")
    yield indented(f"needs {needs(m)}{'; key of ' if m['key_of'] else ''}{', '.join(m['key_of'])}")


def needs(m: dict[str, Any]) -> str:
    """What the data must hold."""
    return " and ".join(NEEDS[need] for need in m["needs"])


def tolerance(m: dict[str, Any]) -> str:
    """What is within it."""
    if m["tolerance"] is None:
        return "none"
    return f"{m['tolerance']:g} to {1 / m['tolerance']:g}" if m["scale"] == "ratio" else f"{m['tolerance']:g}"
