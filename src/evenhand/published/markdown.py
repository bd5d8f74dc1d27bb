"""A reproduction as Markdown: a table of all items, then each that was run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.published.item import DOCUMENTS
from evenhand.published.text import claimed, commands, figure, largest, misses, outcome, short, summary
from evenhand.report.markdown import escaped, finished, table


def reproduction_markdown(document: dict[str, Any]) -> str:
    """The whole text."""
    return finished(_lines(document))


ABOUT = """# Published figures, run again

Every numbered definition, theorem, table and figure of the five documents that Evenhand [follows](../references.md):
where it is, the command, and the largest difference between ours and what is printed. *Agrees*: within half a unit of
the last printed digit, or within the spread that the document or the size of the simulation gives, and what the text
says holds. *Differs*: some of it does not: [what](#what-differs), and below the tables why. *Shown*: run, but no number
is printed. *Defined*: a test shows it. *Not run*: the reason stands there. This page is what this command writes (`DIR`
holds the data sets):
"""
HEADS = ["item", "about", "where", "command", "outcome", "largest difference"]


def _lines(document: dict[str, Any]) -> Iterator[str]:
    full = " --full" if document["options"]["full"] else ""
    yield f"{ABOUT}\n```\nevenhand reproduce all --data DIR{full} --markdown docs/reproduced/published.md\n```\n"
    yield f"{summary(document)}.\n"
    differing = [e for e in document["items"] if e["status"] == "differs"]
    if differing:
        yield "## What differs\n"
        yield from (f"- {escaped(short(e))}: {escaped(misses(e))}" for e in differing)
        yield ""
    for title in DOCUMENTS.values():
        entries = [e for e in document["items"] if e["document"] == title]
        if entries:
            yield f"## {title}\n"
            rows = [[escaped(e["label"]), escaped(e["says"]), *_found(e), largest(e)] for e in entries]
            yield from table(HEADS, rows, set(HEADS[:-1]))
            for entry in entries:
                yield from _item(entry)


def _found(entry: dict[str, Any]) -> Iterator[str]:
    """Where it is, its commands, and what came of it."""
    yield f"`{entry['place']}`" if entry["place"] else ""
    yield ", ".join(f"`{command}`" for command in commands(entry))
    shown_by = f", shown by `{entry['test'].rpartition('::')[2]}`" if entry["status"] == "defined" else ""
    yield f"{escaped(outcome(entry))}{shown_by}"


def _item(entry: dict[str, Any]) -> Iterator[str]:
    if not (entry["values"] or entry["claims"]):
        return
    yield f"### {entry['label']}: {escaped(entry['says'])}\n"
    if entry["values"]:
        rows = [
            [escaped(v["row"]), escaped(v["column"]), *map(figure, (v["published"], v["found"], v["difference"]))]
            for v in entry["values"]
        ]
        yield from table(["", "of", "published", "ours", "difference"], rows, {"of"})
    for claim in entry["claims"]:
        yield f"- {'Holds' if claim['holds'] else '**Does not hold**'}: {escaped(claimed(claim))}"
    for note in entry["notes"]:
        yield f"- {escaped(note)}"
    yield ""
