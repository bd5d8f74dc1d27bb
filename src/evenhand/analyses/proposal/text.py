"""A proposal for a terminal, made from its document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.console import points

ORDER = ("score", "prediction", "label", "group", "weight", "time", "id")
CALLED = {"label": "outcome", "prediction": "decision"}
MOST_UNUSED = 8


def render(document: dict[str, Any]) -> Group:
    """The columns with a role and why, what is unclear, and the command."""
    source = shown_name(document["source"], 60)
    parts: list[RenderableType] = [
        Text(f"What the columns of {source} may be", style="bold"),
        Text(f"A guess from their names and from {looked_at(document)}: read it before you run it."),
        Text(),
        _columns(document["columns"]),
    ]
    unused = [c for c in document["columns"] if c["role"] is None]
    if unused:
        names = ", ".join(shown_name(c["column"], 30) for c in unused[:MOST_UNUSED])
        more = f" and {len(unused) - MOST_UNUSED} more" if len(unused) > MOST_UNUSED else ""
        parts.append(Text(f"Not needed: {names}{more}", style="dim"))
    parts += points("What values mean", [f"{option(o)}: {why}" for o, why in document["reasons"].items()])
    parts += points("Unclear", document["unclear"])
    parts += [Text(), *map(Text, _command(document))]
    return Group(*parts)


def looked_at(document: dict[str, Any]) -> str:
    """How many rows a guess rests on."""
    return f"{'' if document['all_rows'] else 'the first '}{document['rows']:,} rows"


def _columns(columns: list[dict[str, Any]]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for column in sorted((c for c in columns if c["role"] not in (None, "id")), key=lambda c: ORDER.index(c["role"])):
        role = CALLED.get(column["role"], column["role"])
        table.add_row(f"{role}{'' if column['clear'] else '?'}", shown_name(column["column"], 24), column["reason"])
    ids = [c for c in columns if c["role"] == "id"]
    if ids:
        more = f"; so are {', '.join(shown_name(c['column'], 24) for c in ids[1:])}" if len(ids) > 1 else ""
        table.add_row("id", shown_name(ids[0]["column"], 24), f"{ids[0]['reason']}{more}")
    return table


def option(name: str) -> str:
    """What an option is about."""
    return {
        "favorable": "good outcome", "favorable_prediction": "good decision", "risk": "high scores",
        "weight_kind": "weights", "missing": "incomplete rows",
    }[name]  # fmt: skip


def _command(document: dict[str, Any]) -> Iterator[str]:
    """What to run, broken where a shell allows it, or why there is nothing to run."""
    if document["command"] is None:
        yield f"There is nothing to run yet: {document['lacking']}. Name it, or add it to the data."
        return
    yield "To audit these data:"
    yield ""
    yield from (f"    {line}" for line in command_lines(document["command"]))


def command_lines(command: str) -> list[str]:
    """A command, broken where a shell allows it."""
    lines, line = [], ""
    for word in _words(command):
        if line and len(line) + len(word) > 72:
            lines.append(f"{line} \\")
            line = "   "
        line += f" {word}" if line else word
    return [*lines, line]


def _words(command: str) -> list[str]:
    """The words of a command, each option with its value, quoted as they are."""
    import shlex

    words = [shlex.quote(w) for w in shlex.split(command)]
    found = [" ".join(words[:2])]
    for word in words[2:]:
        if found[-1].startswith("--") and " " not in found[-1] and not word.startswith("--"):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found
