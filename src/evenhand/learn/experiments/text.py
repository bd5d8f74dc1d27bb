"""An experiment as tables for a terminal, made from the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.compare.text import render as comparison
from evenhand.errors import shown_name
from evenhand.learn.experiments.document import fairness_name, one_line
from evenhand.report.console import indented, points
from evenhand.report.format import number

MOST_REASONS = 8
MOST_WARNINGS = 5
MOST_SETTINGS = 60
MOST_GROUPS = 8
NAME = 16


def render(document: dict[str, Any]) -> RenderableType:
    """The report as rich renderables: whom it is about, the runs by data set and method, then which method is best."""
    options, runs = document["options"], document["runs"]
    parts: list[RenderableType] = [
        Text("Experiment", style="bold"),
        Text(f"{len(runs):,} of {document['planned']:,} runs; the mean over seeds and splits, higher is better"),
        Text(f"performance: {options['performance']} · fairness: {fairness_name(options['fairness'])}"),
        Text(),
        Text("People", style="bold"),
        *(line for name, about in document["datasets"].items() for line in _people(name, about)),
        Text(),
        *_means(runs),
    ]
    parts += _failures(document["failed"])
    parts += _warnings(document["warnings"])
    parts += points("Notes", document["notes"])
    for name, compared in document["comparisons"].items():
        parts += [Text(), Text(f"On {shown_name(name)}", style="bold"), comparison(compared)]
    return Group(*parts)


def _people(name: str, about: dict[str, Any]) -> Iterator[RenderableType]:
    """Who trains, selects and tests, by group; and what the data set has to say."""
    train, dev, test = about["people"].values()
    yield indented(
        f"{shown_name(name)}, {train + dev + test:,} people by {shown_name(about['attribute'])}: {train:,} train, "
        f"{dev:,} select, {test:,} test"
    )
    groups = [
        f"{shown_name(g['name'])} {g['train']:,} + {g['dev']:,} + {g['test']:,}" for g in about["groups"][:MOST_GROUPS]
    ]
    more = len(about["groups"]) - len(groups)
    yield indented(" · ".join(groups) + (f" · {more:,} more groups are in --json" if more else ""), 4)
    missing = about["not_compared"]
    notes = [*about["notes"], *([] if missing is None else [f"methods are not compared: {missing}"])]
    yield from (indented(f"• {shown_name(note, 600)}", 4) for note in notes)


def _means(runs: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """Test results of every setting, the mean over seeds and splits."""
    settings: dict[tuple[Any, ...], list[Any]] = {}
    for run in runs:
        settings.setdefault((run["dataset"], run["method"], run["strength"]), []).append(run)
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in ("data set", "method"):
        grid.add_column(head, overflow="ellipsis", no_wrap=True, max_width=NAME)
    for head in ("strength", "runs", "performance", "fairness"):
        grid.add_column(head, justify="right", no_wrap=True)
    before: tuple[Any, ...] = (None, None)
    for (dataset, method, strength), some in list(settings.items())[:MOST_SETTINGS]:
        names = ["" if dataset == before[0] else dataset, "" if (dataset, method) == before else method]
        before = (dataset, method)
        values = [_mean([run[key] for run in some]) for key in ("performance", "fairness")]
        grid.add_row(*(Text(shown_name(name, NAME)) for name in names), f"{strength:g}", f"{len(some):,}", *values)
    more = len(settings) - MOST_SETTINGS
    if more > 0:
        grid.add_row(Text("…"), Text(f"{more:,} more"))
    yield grid
    if any(run[key] is None for run in runs for key in ("performance", "fairness")):
        yield indented("(n): the mean of n runs only; the others have no such number")


def _mean(values: list[float | None]) -> str:
    """With how many runs it rests on, if some have no such number."""
    known = [v for v in values if v is not None]
    some = f" ({len(known):,})" if 0 < len(known) < len(values) else ""
    return number(sum(known) / len(known) if known else None).removeprefix("0") + some


def _failures(failed: list[dict[str, Any]]) -> Iterator[RenderableType]:
    if not failed:
        return
    yield Text()
    yield Text(f"{len(failed):,} run{'s' if len(failed) > 1 else ''} failed", style="bold")
    reasons = Counter((one["method"], one["reason"]) for one in failed)
    for (method, reason), runs in list(reasons.items())[:MOST_REASONS]:
        yield indented(f"{shown_name(method)} ({runs:,}): {one_line(reason)}")
    if len(reasons) > MOST_REASONS:
        yield indented(f"{len(reasons) - MOST_REASONS:,} more reasons are in --json")


def _warnings(said: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """What libraries warned about while methods were fitted, the most frequent first."""
    if not said:
        return
    yield Text()
    yield Text("Warnings of methods", style="bold")
    often = sorted(said, key=lambda one: -one["runs"])
    for one in often[:MOST_WARNINGS]:
        yield indented(f"{one['runs']:,} {'run' if one['runs'] == 1 else 'runs'}: {one_line(one['text'])}")
    if len(often) > MOST_WARNINGS:
        yield indented(f"{len(often) - MOST_WARNINGS:,} more are in --json")
