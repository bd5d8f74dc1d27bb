"""An experiment as a JSON document, as tables for a terminal, and as a dataframe of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.compare.text import render as comparison
from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.document import header
from evenhand.report.frame import plain_frame

MOST_REASONS = 8
MOST_WARNINGS = 5
MOST_SETTINGS = 60
MOST_GROUPS = 8
NAME = 16
_TYPES = {
    "dataset": "str", "method": "str", "strength": "float", "seed": "int", "split": "int", "dev_performance": "float",
    "dev_fairness": "float", "performance": "float", "fairness": "float", "run": "str",
}  # fmt: skip


def document(
    planned: int,
    measured: Mapping[str, str],
    datasets: Mapping[str, Any],
    runs: Mapping[str, list[Any]],
    failed: Sequence[Mapping[str, Any]],
    warnings: Mapping[str, int],
    comparisons: Mapping[str, Any],
    notes: Sequence[str],
) -> dict[str, Any]:
    """The whole experiment as plain values."""
    return {
        **header("experiment"),
        "planned": planned,
        "options": dict(measured),
        "datasets": dict(datasets),
        "runs": [dict(zip(runs, row, strict=True)) for row in zip(*runs.values(), strict=True)],
        "failed": [dict(one) for one in failed],
        "warnings": [{"text": text, "runs": n} for text, n in warnings.items()],
        "comparisons": dict(comparisons),
        "notes": list(notes),
    }


def runs_frame(runs: dict[str, list[Any]], library: str | None) -> Any:
    return plain_frame(runs, _TYPES, library)


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
    if document["notes"]:
        parts += [Text(), Text("Notes", style="bold"), *map(_remark, document["notes"])]
    for name, found in document["comparisons"].items():
        parts += [Text(), Text(f"On {shown_name(name)}", style="bold"), comparison(found)]
    return Group(*parts)


def run_name(run: Any) -> str:
    """A run in one short line, whatever its data set and method are called."""
    names = f"{one_line(run.dataset, 40)} {one_line(run.method, 40)}"
    return f"{names} {run.strength:g} seed {run.seed} split {run.split}"


def one_line(text: str, limit: int = 300) -> str:
    """What a method says or is called, in one short line that does nothing to a terminal."""
    return shown_name(" ".join(text.split()), limit)


def fairness_name(id_: str) -> str:
    """How 1 − the distance from parity is called: of a ratio it is the ratio itself, the lower over the higher.

    >>> fairness_name("abcc"), fairness_name("disparate_impact")
    ('1 − abcc', 'disparate_impact')
    """
    measure = find(id_)
    return id_ if measure is not None and measure.scale == "ratio" else f"1 − {id_}"


def _people(name: str, about: dict[str, Any]) -> Iterator[RenderableType]:
    """Who trains, selects and tests, by group; and what the data set has to say."""
    train, dev, test = about["people"].values()
    yield _indented(
        f"{shown_name(name)}, {train + dev + test:,} people by {shown_name(about['attribute'])}: {train:,} train, "
        f"{dev:,} select, {test:,} test"
    )
    groups = [
        f"{shown_name(g['name'])} {g['train']:,} + {g['dev']:,} + {g['test']:,}" for g in about["groups"][:MOST_GROUPS]
    ]
    more = len(about["groups"]) - len(groups)
    yield _indented(" · ".join(groups) + (f" · {more:,} more groups are in --json" if more else ""), 4)
    yield from (_remark(note, 4) for note in about["notes"])
    if about["not_compared"] is not None:
        yield _remark(f"methods are not compared: {about['not_compared']}", 4)


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
        yield _indented("(n): the mean of n runs only; the others have no such number")


def _mean(values: list[float | None]) -> str:
    """With how many runs it rests on, if some have no such number."""
    known = [v for v in values if v is not None]
    if not known:
        return "–"
    some = f" ({len(known):,})" if len(known) < len(values) else ""
    return f"{sum(known) / len(known):.3f}".removeprefix("0") + some


def _failures(failed: list[dict[str, Any]]) -> Iterator[RenderableType]:
    if not failed:
        return
    yield Text()
    yield Text(f"{len(failed):,} run{'s' if len(failed) > 1 else ''} failed", style="bold")
    reasons = Counter((one["method"], one["reason"]) for one in failed)
    for (method, reason), runs in list(reasons.items())[:MOST_REASONS]:
        yield _indented(f"{shown_name(method)} ({runs:,}): {one_line(reason)}")
    if len(reasons) > MOST_REASONS:
        yield _indented(f"{len(reasons) - MOST_REASONS:,} more reasons are in --json")


def _warnings(said: list[dict[str, Any]]) -> Iterator[RenderableType]:
    """What libraries warned about while methods were fitted, the most frequent first."""
    if not said:
        return
    yield Text()
    yield Text("Warnings of methods", style="bold")
    often = sorted(said, key=lambda one: -one["runs"])
    for one in often[:MOST_WARNINGS]:
        yield _indented(f"{one['runs']:,} {'run' if one['runs'] == 1 else 'runs'}: {one_line(one['text'])}")
    if len(often) > MOST_WARNINGS:
        yield _indented(f"{len(often) - MOST_WARNINGS:,} more are in --json")


def _remark(text: str, left: int = 2) -> Padding:
    return _indented(f"• {shown_name(text, 600)}", left)


def _indented(text: str, left: int = 2) -> Padding:
    return Padding(Text(text), (0, 0, 0, left))
