"""The command that gives a search for alternatives again, as far as its document knows it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.report.command import listed, numbers

DATA, RUNS = "DATA", "RUNS"
"""Stand for the file."""
Document = dict[str, Any]


def command(document: Document, reading: Sequence[str]) -> str:
    """What to type; `reading` is what was said of rows alone."""
    of = {"scores": (DATA, _people), "runs": (RUNS, _runs)}
    what, columns = of[document["kind"]]
    options = document["options"]
    words = ["evenhand", "alternatives", what, *columns(document), *reading]
    if options["within_best"] != 0.01:
        words += ["--within-best", numbers(options["within_best"])]
    if options["confidence"] != 0.95:
        words += ["--confidence", numbers(options["confidence"])]
    if options.get("bootstrap", 1000) != 1000:
        words += ["--bootstrap", f"{options['bootstrap']}"]
    if options["seed"] is not None and document["kind"] == "scores":
        words += ["--seed", f"{options['seed']}"]
    return shlex.join(words)


def _people(document: Document) -> Iterator[str]:
    data, options = document["data"], document["options"]
    names = [c["name"] for c in document["candidates"]]
    yield from ("--score", listed(names), "--label", data["label"], "--group", listed(data["group"]))
    if data["favorable"] is not None:
        yield from ("--favorable", data["favorable"])
    if data["risk"]:
        yield "--risk"
    if data["score_range"] is not None:
        yield from ("--score-range", numbers(*data["score_range"]))
    for column in ("weight", "cluster"):
        if data[column] is not None:
            yield from (f"--{column}", data[column])
    if document["baseline"] != names[0]:
        yield from ("--baseline", document["baseline"])
    cuts = [options["cutoffs"].get(name) or numbers(options["thresholds"][name]) for name in names]
    if cuts[0].startswith("top "):  # which is one for all scores
        yield from ("--top", cuts[0].removeprefix("top "))
    else:
        yield from ("--threshold", ",".join(cuts if len(set(cuts)) > 1 else cuts[:1]))
    yield from ("--performance", options["performance"], "--fairness", options["fairness"])
    if len(data["group"]) > 1:
        yield from ("--attribute", listed(options["columns"]))
        members = options["reference_members"]
        yield from (word for name, group in members.items() for word in ("--reference", f"{name}={group}"))
    else:
        yield from ("--reference", options["reference"])
    if options["exclude_below"]:
        yield from ("--exclude-below", numbers(options["exclude_below"]))
    if options["split"] is not None:
        column, *values = options["split"]
        yield from ("--split", f"{column}={listed(values)}")
    elif options["selection_share"] != 0.5:
        yield from ("--selection-share", numbers(options["selection_share"]))


def _runs(document: Document) -> Iterator[str]:
    data, options = document["data"], document["options"]
    for role, column in data["columns"].items():
        if role != "settings":
            yield from (f"--{role.replace('_', '-')}", column)
    for column in data["columns"]["settings"]:
        yield from ("--settings", listed([column]))
    for role, up in data["higher_is_better"].items():
        if not up:
            yield from ("--lower-is-better", role)
    yield from ("--baseline", options["baseline"])
