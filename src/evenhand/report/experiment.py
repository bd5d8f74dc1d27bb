"""An experiment as a JSON document, as tables for a terminal, and as a dataframe of its runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from evenhand import __version__
from evenhand.measures import find
from evenhand.report.comparison import render as comparison
from evenhand.report.frame import plain_frame
from evenhand.table import shown_name

SCHEMA = "evenhand/experiment/1"
MOST_REASONS = 8
MOST_SETTINGS = 60
NAME = 16
_TYPES = {
    "dataset": "str", "method": "str", "strength": "float", "seed": "int", "split": "int", "dev_performance": "float",
    "dev_fairness": "float", "performance": "float", "fairness": "float", "run": "str",
}  # fmt: skip


def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    text = files("evenhand.report").joinpath("experiment.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


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
        "schema": SCHEMA,
        "version": __version__,
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
    """The report as rich renderables: the runs by data set and method, then which method is best."""
    options, runs = document["options"], document["runs"]
    parts: list[RenderableType] = [
        Text("Experiment", style="bold"),
        Text(f"{len(runs):,} of {document['planned']:,} runs; the mean over seeds and splits, higher is better"),
        Text(f"performance: {options['performance']} · fairness: {fairness_name(options['fairness'])}"),
        Text(),
        _means(document),
    ]
    parts += _failures(document["failed"])
    if document["notes"]:
        parts += [Text(), Text("Notes", style="bold")]
        parts += [Padding(Text(f"• {shown_name(note, 600)}"), (0, 0, 0, 2)) for note in document["notes"]]
    for name, found in document["comparisons"].items():
        parts += [Text(), Text(f"On {shown_name(name)}", style="bold"), comparison(found)]
    return Group(*parts)


def fairness_name(id_: str) -> str:
    """How 1 − the distance from parity is called: of a ratio it is the ratio itself, the lower over the higher.

    >>> fairness_name("abcc"), fairness_name("disparate_impact")
    ('1 − abcc', 'disparate_impact')
    """
    measure = find(id_)
    return id_ if measure is not None and measure.scale == "ratio" else f"1 − {id_}"


def _means(document: dict[str, Any]) -> Grid:
    """Test results of every setting, the mean over seeds and splits."""
    settings: dict[tuple[Any, ...], list[Any]] = {}
    for run in document["runs"]:
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
        grid.add_row(*(Text(shown_name(name)) for name in names), f"{strength:g}", f"{len(some):,}", *values)
    more = len(settings) - MOST_SETTINGS
    if more > 0:
        grid.add_row(Text("…"), Text(f"{more:,} more"))
    return grid


def _mean(values: list[float | None]) -> str:
    known = [v for v in values if v is not None]
    return f"{sum(known) / len(known):.3f}".removeprefix("0") if known else "–"


def _failures(failed: list[dict[str, Any]]) -> Iterator[RenderableType]:
    if not failed:
        return
    yield Text()
    yield Text(f"{len(failed):,} runs failed", style="bold")
    reasons: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in failed:
        reasons.setdefault((one["method"], one["reason"]), []).append(one)
    for (method, reason), some in list(reasons.items())[:MOST_REASONS]:
        yield Padding(Text(f"{shown_name(method)} ({len(some):,}): {shown_name(reason, 300)}"), (0, 0, 0, 2))
    if len(reasons) > MOST_REASONS:
        yield Padding(Text(f"{len(reasons) - MOST_REASONS:,} more reasons are in --json"), (0, 0, 0, 2))
