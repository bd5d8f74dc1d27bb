"""What the page and the Markdown of a proposal say, made from its document."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.proposal.text import CALLED, command_lines, looked_at, option
from evenhand.report.contents import Cell, Command, Contents, Name, Section, Sheet


def contents(document: dict[str, Any]) -> Contents:
    """What each column may be and why, what is unclear, and the command."""
    command = document["command"]
    rows: list[list[Cell]] = [
        [
            Name(c["column"]),
            f"{CALLED.get(c['role'], c['role'] or 'not needed')}{'' if c['clear'] else '?'}",
            c["reason"],
        ]
        for c in sorted(document["columns"], key=lambda c: c["role"] is None)
    ]
    meant: list[list[Cell]] = [[option(name), why] for name, why in document["reasons"].items()]
    sections = [Section("columns", "Columns", [Sheet("What each column may be", _HEADS, rows, _HEADS)])]
    if meant:
        heads = ("what", "why")
        sections.append(Section("values", "What values mean", [Sheet("What values mean", heads, meant, heads)]))
    if command is not None:
        sections.append(Section("command", "To audit these data", [Command("\n".join(command_lines(command)))]))
    lacking = f"There is nothing to run yet: {document['lacking']}. Name it, or add it to the data."
    return Contents(
        title="What the columns of a file may be",
        about=[Name(document["source"])],
        answer="A command to read before it is run" if command is not None else lacking,
        mood="plain" if command is not None else "warn",
        said=[f"A guess from their names and from {looked_at(document)}."],
        sections=sections,
        notes=document["unclear"],
    )


_HEADS = ("column", "role", "why")
