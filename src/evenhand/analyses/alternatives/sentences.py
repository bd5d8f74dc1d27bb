"""What was found, in words; from the document alone."""

from __future__ import annotations

from typing import Any

from evenhand.analyses.alternatives.tried import level
from evenhand.errors import shown_name
from evenhand.measures.performance import PERFORMANCES
from evenhand.measures.registry import find
from evenhand.report.contents import joined
from evenhand.report.format import number

Document = dict[str, Any]


def answer(document: Document) -> str:
    """In a line."""
    found = document["alternatives"]
    if not found:
        return f"No alternative to {shown_name(document['baseline'])} was confirmed"
    return f"Less discriminatory than {shown_name(document['baseline'])}: {joined(found)}"


def sentence(document: Document) -> str:
    """What is claimed of the one that is recommended, or how far the search came."""
    if document["recommended"] is None:
        return _nothing(document)
    c = next(c for c in document["candidates"] if c["name"] == document["recommended"])
    held, options = c["confirmation"], document["options"]
    text = (
        f"{shown_name(c['name'])} has a gap of {number(held['gap'])} ({gap_title(document)}) where "
        f"{shown_name(document['baseline'])} has {number(held['baseline_gap'])}: it is smaller by "
        f"{number(held['reduction'])}, at least {number(held['reduction_at_least'])} "
        f"({level(options['confidence'])}). Its {performance_title(document)} is {number(held['performance'])}, "
    )
    rivals = dict.fromkeys(n for n in (document["best"], document["baseline"]) if n != c["name"])
    text += f"{_beside(held['loss'])} {_than(list(rivals))}"
    if held["loss_at_most"] is not None:
        text += f" (at worst {_beside(held['loss_at_most'])} it)"
    where = "people who" if document["kind"] == "scores" else "results that"
    return f"{text}. These are {where} did not select it."


def _beside(loss: float) -> str:
    return f"{number(abs(loss))} {'below' if loss >= 0 else 'above'}"


def _than(rivals: list[str]) -> str:
    names = joined(rivals)
    return f"that of {names}" if len(rivals) == 1 else f"that of the better of {names}"


def _nothing(document: Document) -> str:
    others = [c for c in document["candidates"] if c["status"] != "in use"]
    by = {r: sum(c["reason"] == r for c in others) for r in WORDS}
    counted = [f"{n:,} {WORDS[r]}" for r, n in by.items() if n]
    return f"Of {len(others):,} candidate{'s' if len(others) != 1 else ''}: {'; '.join(counted)}."


WORDS = {
    "undefined": "without a gap or a performance",
    "constant": "that told nobody apart",
    "performance": "with a lower performance than was asked for",
    "gap": "without a smaller gap",
    "not_confirmed": "with a smaller gap in the data that select, which was not confirmed",
    "performance_not_held": "with a lower performance than was asked for in the data that confirm",
    "not_tested": "not tested, as the one before was not confirmed",
}
"""What became of one or several candidates."""


def performance_title(document: Document) -> str:
    name = document["options"]["performance"]
    return PERFORMANCES[name].title if document["kind"] == "scores" else shown_name(name)


def gap_title(document: Document) -> str:
    name = document["options"]["fairness"]
    measure = find(name) if document["kind"] == "scores" else None
    return f"1 − {shown_name(name)}" if measure is None else measure.title
