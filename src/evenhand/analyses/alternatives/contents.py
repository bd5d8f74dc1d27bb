"""What page and Markdown of a search for alternatives say: what was found, the numbers, and the log."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.alternatives.sentences import gap_title, performance_title
from evenhand.analyses.alternatives.text import about, logged
from evenhand.report.contents import Cell, Contents, Mood, Name, Section, Sheet, Word, figure, left_out
from evenhand.report.format import number

Document = dict[str, Any]
MOOD: dict[str, Mood] = {"alternative": "good", "in use": "plain", "rejected": "plain"}


def contents(document: Document) -> Contents:
    """Alternatives first."""
    return Contents(
        title="Less discriminatory alternatives",
        about=[*about(document), *left_out(document["data"])],
        answer=document["answer"],
        said=[document["sentence"]],
        mood="good" if document["alternatives"] else "warn",
        sections=[
            Section("numbers", "Candidates", [_numbers(document)]),
            Section("log", "What was tried, and what became of it", [_log(document)]),
        ],
        notes=document["notes"],
        command=document["command"],
        options=document["options"],
    )


def _numbers(document: Document) -> Sheet:
    """Every candidate where it was selected and where it was confirmed."""
    title, gap = performance_title(document), gap_title(document)
    heads = ("candidate", f"{title}, selecting", "gap, selecting", f"{title}, confirming",
             "gap, confirming", "smaller by", "at least", "worse by at most")  # fmt: skip
    rows: list[list[Cell]] = []
    for c in logged(document):
        held = c["confirmation"] or {}
        rows.append([
            Name(c["name"]),
            *(figure(c["selection"][key]) for key in ("performance", "gap")),
            *(figure(held.get(key)) for key in ("performance", "gap")),
            *(figure(held.get(key), sign=True) for key in ("reduction", "reduction_at_least")),
            figure(held.get("loss_at_most"), tiny=True),
        ])  # fmt: skip
    level = number(100 * document["options"]["confidence"], digits=0)
    legend = (
        f"Gap: {gap}, of the group that fares worst. At least, at most: ends of one-sided {level}% intervals, on data "
        "that did not select."
    )
    return Sheet("Candidates, alternatives first", heads, rows, legend=legend)


def _log(document: Document) -> Sheet:
    rows: list[list[Cell]] = [
        [Name(c["name"]), Word(c["status"], MOOD[c["status"]]), c["because"]] for c in logged(document)
    ]
    return Sheet("Every candidate and the reason", ("candidate", "what it is", "why"), rows, ("what it is", "why"))
