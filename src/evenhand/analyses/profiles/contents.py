"""What the page and the Markdown of a list of profiles say."""

from __future__ import annotations

from typing import Any

from evenhand.report.contents import Cell, Code, Contents, Section, Sheet, several

HEADS = ("profile", "date", "what it states", "source", "what it does not cover")


def contents(document: dict[str, Any]) -> Contents:
    """A row for each profile."""
    found = document["profiles"]
    rows: list[list[Cell]] = [
        [Code(p["name"]), p["date"], p["states"], "; ".join(p["source"]), "; ".join(p["not_covered"])] for p in found
    ]
    return Contents(
        title="Profiles",
        about=["what rules ask for, and what a profile of them does not cover"],
        answer=several(len(found), "profile"),
        sections=[Section("profiles", "Every profile", [Sheet("Profiles", HEADS, rows, HEADS[1:])])],
    )
