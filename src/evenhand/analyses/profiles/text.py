"""The list of profiles, or one of them, as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.console import indented, points


def render(document: dict[str, Any]) -> RenderableType:
    """Name, title, source, date and what is not covered; of one profile its options and tables too."""
    found = document["profiles"]
    parts: list[RenderableType] = []
    for p in found:
        parts += [*([Text()] if parts else []), *_profile(p)]
        if len(found) == 1:
            parts += _details(p)
    return Group(*parts)


def _profile(p: dict[str, Any]) -> Iterator[RenderableType]:
    yield Text.assemble((shown_name(p["name"]), "bold"), f" · {p['date']} · {p['title']}")
    yield indented(f"States {p['states']}.")
    yield indented(f"Source: {'; '.join(p['source']) or 'not stated'}")
    yield indented(f"Does not cover: {'; '.join(p['not_covered'])}")


def _details(p: dict[str, Any]) -> Iterator[RenderableType]:
    yield from points("Where the rule left a choice", p["unsure"])
    said = [f"{name.replace('_', '-')}: {_value(value)}" for name, value in p["options"].items()]
    said += [f"{n.replace('_', '-')}: {_value(v)} (where a score decides)" for n, v in p["options_of_scores"].items()]
    yield from points("Options", said)
    yield from points("Tables", [f"{t['title']}{' (annex)' if t['annex'] else ''}" for t in p["tables"]])
    needs = [f"{n['role']}, for {n['for']}" for n in p["needs"]]
    needs += [f"{c['name']}{_groups(c)}" for c in p["categories"]]
    yield from points("Needs", needs)
    yield from points("To state", [f"{_how(f)}: {f['title']}" for f in p["facts"]])


def _groups(category: dict[str, Any]) -> str:
    known = ", ".join(category["groups"])
    return f": {known}{'' if category['closed'] else ', or others'}" if known else ""


def _how(fact: dict[str, Any]) -> str:
    own = f"--fact {fact['id']}=TEXT"
    return f"--{fact['cover']} or {own}" if fact["cover"] else own


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
