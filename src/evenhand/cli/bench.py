"""The command that trains: methods over data sets, strengths, seeds and splits."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.output import say, views, wanted, write
from evenhand.cli.words import WHOLE
from evenhand.errors import MissingLibrary, UsageError, shown
from evenhand.files import as_path, write_text

if TYPE_CHECKING:
    from evenhand.learn.experiments import Step

EVERY = 0.1
"""Seconds between two views of the live table."""


@click.command()
@click.argument("config", default="experiment.toml")
@click.option("--init", is_flag=True, help="Write a commented CONFIG to begin with, and run nothing.")
@click.option("--folder", metavar="DIR", help="Where runs are kept  [default: what CONFIG says]")
@click.option("--jobs", metavar="N", type=WHOLE, help="Processes  [default: what CONFIG says, or one for each core]")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), help="Where methods compute  [default: auto]")
@click.option("--retry", is_flag=True, help="Try runs again that failed.")
@views
def bench(config: str, init: bool, folder: str | None, retry: bool, **words: Any) -> None:
    """Train methods as CONFIG says, a TOML file; keep every run; and compare them.

    Stopped or killed, it goes on where it was when it is started again.
    """
    if init:
        _init(config)
        return
    paths = wanted(words, config)
    try:
        from evenhand.learn.config import read_config
        from evenhand.learn.experiments import experiment
    except ModuleNotFoundError as error:
        raise MissingLibrary(f"bench needs {error.name}: pip install 'evenhand[learn]'") from error
    sys.path.append(os.fspath(as_path(config).parent.resolve()))  # a method of yours lies beside the file
    asked = read_config(config)
    if folder is not None:
        asked["folder"] = folder
    if "folder" not in asked:
        raise UsageError(f'say where runs are kept: folder = "runs" under [experiment] in {config}, or --folder runs')
    asked |= {word: value for word, value in words.items() if value is not None}
    with watching() as progress:
        found = experiment(**asked, retry=retry, progress=progress)
    write(found, paths)


def _init(config: str) -> None:
    from evenhand.learn.config import STARTER

    if as_path(config).exists():
        raise UsageError(f"{shown(config)} is there already: choose another name")
    write_text(config, STARTER)
    click.echo(f"wrote {config}: edit it, then run evenhand bench {config}", err=True)


# ---- how far it is ----------------------------------------------------------------------------------------------


@contextmanager
def watching() -> Iterator[Callable[[Step], None]]:
    """A live table on standard error while a person is watching, else a line for every run."""
    if not sys.stderr.isatty():
        yield _line
        return
    from rich.console import Console
    from rich.live import Live

    board = _Board()
    with Live(board, console=Console(stderr=True), refresh_per_second=1 / EVERY, transient=True):
        yield board.told


def _line(step: Step) -> None:
    if step.run is None or step.record is None:
        return
    how = "failed, " + " ".join(step.record["error"].split()) if step.record["error"] else _outcome(step.record)
    say(f"{step.done}/{step.total} {step.run}: {how}{' (kept)' if step.repeated else ''}")


def _outcome(record: Any) -> str:
    from evenhand.report.experiment import fairness_name

    part = record["parts"]["test"]
    found = {**part["performance"], **{fairness_name(id_): value for id_, value in part["fairness"].items()}}
    return ", ".join(f"{id_} {'–' if value is None else f'{value:.3f}'}" for id_, value in found.items())


class _Board:
    """Data sets and methods with their runs: done, failed, how long one takes, and the latest result."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        self.done, self.total, self.start, self.new = 0, 0, time.monotonic(), 0

    def told(self, step: Step) -> None:
        self.done, self.total = step.done, step.total
        for run in step.runs if step.run is None else ():
            row = self.rows.setdefault((run.dataset, run.method), {"all": 0, "done": 0, "failed": 0, "latest": ""})
            row["all"] += 1
        if step.run is None or step.record is None:
            return
        row = self.rows[step.run.dataset, step.run.method]
        row["done"] += 1
        row["failed"] += step.record["error"] is not None
        row["latest"] = "failed" if step.record["error"] else _outcome(step.record)
        self.new += not step.repeated

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for head, side in (("data set", "left"), ("method", "left"), ("done", "right"), ("failed", "right"),
                           ("latest", "left")):  # fmt: skip
            grid.add_column(head, justify=side, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
        for (dataset, method), row in self.rows.items():
            failed = str(row["failed"] or "")
            grid.add_row(Text(dataset), Text(method), f"{row['done']}/{row['all']}", failed, Text(row["latest"]))
        spent = time.monotonic() - self.start
        left = f", about {_minutes(spent / self.new * (self.total - self.done))} left" if self.new else ""
        return Group(grid, Text(f"{self.done}/{self.total} runs in {_minutes(spent)}{left}"))


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
