"""A reproduction as Markdown: a table of all items, then each that was run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.published.item import DOCUMENTS
from evenhand.published.text import figure, outcome, summary
from evenhand.report.markdown import escaped, finished, table


def reproduction_markdown(document: dict[str, Any]) -> str:
    """The whole text."""
    return finished(_lines(document))


ABOUT = """# Published figures, run again

Every numbered definition, theorem, table and figure of the five documents that Evenhand [follows](../references.md):
where it is, how to run it, and how far ours is from what is printed. *Agrees*: within half a unit of the last printed
digit, or within the spread that the document or the size of the simulation gives, and what the text says holds.
*Differs*: some of it does not, and a note says why. *Shown*: run, but no number is printed. *Defined*: a test shows it.
*Not run*: the reason stands there. This page is what this command writes (`DIR` holds the data sets):
"""


def _lines(document: dict[str, Any]) -> Iterator[str]:
    full = " --full" if document["options"]["full"] else ""
    yield f"{ABOUT}\n```\nevenhand reproduce all --data DIR{full} --markdown published.md\n```\n"
    yield f"{summary(document)}.\n"
    for title in DOCUMENTS.values():
        entries = [e for e in document["items"] if e["document"] == title]
        if entries:
            yield f"## {title}\n"
            rows = [[e["label"], escaped(e["says"]), _where(e), _how(e), escaped(outcome(e))] for e in entries]
            yield from table(["item", "about", "where", "how", "outcome"], rows, {"about", "where", "how", "outcome"})
            for entry in entries:
                yield from _item(entry)


def _where(entry: dict[str, Any]) -> str:
    return f"`{entry['place']}`" if entry["place"] else ""


def _how(entry: dict[str, Any]) -> str:
    if entry["status"] == "defined":
        return f"`{entry['test']}`"
    return f"`{entry['command'] or 'evenhand reproduce ' + entry['id']}`"


def _item(entry: dict[str, Any]) -> Iterator[str]:
    if not (entry["values"] or entry["claims"]):
        return
    yield f"### {entry['label']}: {escaped(entry['says'])}\n"
    if entry["values"]:
        rows = [
            [escaped(v["row"]), escaped(v["column"]), *map(figure, (v["published"], v["found"], v["difference"]))]
            for v in entry["values"]
        ]
        yield from table(["", "of", "published", "found", "difference"], rows, {"of"})
    for claim in entry["claims"]:
        seen = f" ({escaped(claim['seen'])})" if claim["seen"] else ""
        yield f"- {'Holds' if claim['holds'] else '**Does not hold**'}: {escaped(claim['says'])}{seen}"
    for note in entry["notes"]:
        yield f"- {escaped(note)}"
    yield ""
