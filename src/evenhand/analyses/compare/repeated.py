"""The command that gives a comparison again, as far as its document knows it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from evenhand.report.command import listed, numbers

RUNS = "RUNS"
"""Stands for the file, which a comparison does not know."""
Document = dict[str, Any]


def command(document: Document) -> str:
    """What to type.

    >>> import evenhand
    >>> runs = {"method": ["a", "b"], "acc": [0.8, 0.7], "fair": [0.6, 0.9]}
    >>> found = evenhand.compare(runs, method="method", performance="acc", fairness="fair", bootstrap=0)
    >>> command(found.to_dict())
    'evenhand compare RUNS --method method --performance acc --fairness fair --bootstrap 0 --seed 0'
    """
    return shlex.join(["evenhand", "compare", RUNS, *_columns(document["data"]), *_terms(document), *_rest(document)])


def _columns(data: Document) -> Iterator[str]:
    for role, column in data["columns"].items():
        if column is not None:
            yield from (f"--{role.replace('_', '-')}", column)
    for column in data["setting_columns"]:
        yield from ("--settings", listed([column]))
    for role, up in data["higher_is_better"].items():
        if not up:
            yield from ("--lower-is-better", role)


def _terms(document: Document) -> Iterator[str]:
    """The front, the axes, and what else is selected."""
    options = document["options"]
    if options["front"] != "dev" and document["data"]["columns"]["dev_performance"] is not None:
        yield from ("--front", options["front"])
    if options["utopia"] != [1.0, 1.0]:
        yield from ("--utopia", numbers(*options["utopia"]))
    if options["normalize"] is not None:
        own = options["normalize"]
        yield from ("--normalize", own if isinstance(own, str) else numbers(*own))
    for key in ("random_performance", "performance_from", "fairness_from", "dto_to"):
        if options[key] is not None:
            yield from (f"--{key.replace('_', '-')}", numbers(options[key]))
    for k in document["criteria"]:
        if k["floor"] is not None and ">=" in k["id"]:  # others are relative to the baseline
            other = "fairness" if k["best"] == "performance" else "performance"
            yield from (f"--{other}-floor", numbers(k["floor"]))
    if options["baseline"] is not None:
        yield from ("--baseline", options["baseline"], "--margins", numbers(*options["margins"]))


def _rest(document: Document) -> Iterator[str]:
    options = document["options"]
    if options["missing"] != "refuse":
        yield from ("--missing", options["missing"])
    if options["confidence"] != 0.95:
        yield from ("--confidence", numbers(options["confidence"]))
    yield from ("--bootstrap", f"{options['bootstrap']}")
    if options["seed"] is not None:
        yield from ("--seed", f"{options['seed']}")
