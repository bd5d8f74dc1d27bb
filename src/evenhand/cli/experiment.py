"""The command that trains: methods over data sets, strengths, seeds and splits."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.files import READ, check_places
from evenhand.cli.options import WHOLE, command, given, option, under
from evenhand.cli.output import say, wanted, write, write_starter
from evenhand.errors import DataError, MissingLibrary, UsageError, listed
from evenhand.files.paths import as_path, shown_path

if TYPE_CHECKING:
    from evenhand.learn.experiments.experiment import Step

EVERY = 0.1
"""Seconds between two views of the live table."""
HEADS, GAP = ("data set", "method", "done", "failed", "latest"), 2
FRAME = 3
"""Lines of it that are no rows: the totals, the heads, and the one below."""


@command()
@click.argument("config", default="experiment.toml", type=READ)
@under(
    "Runs",
    option("--init", is_flag=True, help="Write a commented CONFIG to begin with, and run nothing."),
    option("--folder", metavar="DIR", help="Where runs are kept  [default: what CONFIG says]"),
    option("--jobs", metavar="N", type=WHOLE, help="Processes  [default: what CONFIG says, or one for each core]"),
    option("--device", type=click.Choice(["auto", "cpu", "cuda"]), help="Where methods compute  [default: auto]"),
    option("--retry", is_flag=True, help="Try runs again that failed."),
)
@under("Output")
def experiment(config: str, init: bool, folder: str | None, retry: bool, **options: Any) -> None:
    """Train methods as CONFIG says, a TOML file; keep every run; and compare them.

    Stopped or killed, it goes on where it was when it is started again.
    """
    if init:
        from evenhand.learn.experiments.config import STARTER

        write_starter(config, STARTER, f"edit it, then run evenhand experiment {config}")
        return
    paths = wanted(options)
    try:
        from evenhand.learn.experiments.config import own_methods, read_config
        from evenhand.learn.experiments.experiment import experiment as run
    except ModuleNotFoundError as error:
        raise MissingLibrary(f"experiment needs {error.name}: pip install 'evenhand[learn]'") from error
    home = as_path(config).parent.resolve()
    if own := own_methods(config):
        sys.path.append(os.fspath(home))  # after all that is installed
        say(f"importing {listed(own)}, from the folder of {shown_path(config)} if it is there, runs its code")
    asked = read_config(config)
    if folder is not None:
        asked["folder"] = folder
    if "folder" not in asked:
        raise UsageError(f'say where runs are kept: folder = "runs" under [experiment] in {config}, or --folder runs')
    asked |= given(options)
    check_places(click.get_current_context(), _read_in(asked, home))
    with result_apart(), watching() as progress:
        found = run(**asked, retry=retry, progress=progress)
    if not found.runs["run"]:
        raise DataError(
            f"none of the {len(found.plan):,} runs has finished; the first failed: "
            f"{next(iter(found.failed.values()))[:300]} (records in {shown_path(found.folder.path)} tell more; --retry "
            "tries again)"
        )
    write(found, paths)


def _read_in(asked: dict[str, Any], home: Path) -> list[Path]:
    """Files that an experiment reads beside its configuration: data sets, modules of methods, and runs it has kept."""
    from evenhand.learn.experiments.records import Folder

    modules = [method.maker.partition(":")[0].replace(".", "/") for method in asked["methods"] if ":" in method.maker]
    return [
        *(file for source in asked["datasets"] for file in source.files()),
        *(home / f"{module}{end}" for module in modules for end in (".py", "/__init__.py")),
        *Folder(as_path(asked["folder"])).files(),
    ]


@contextmanager
def result_apart() -> Iterator[None]:
    """Standard output is for the result: what libraries write there without asking Python goes to standard error."""
    try:
        before = os.dup(1)
    except OSError:  # closed by who started us
        yield
        return
    try:
        with suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)


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
    from evenhand.learn.experiments.document import run_name

    if step.run is not None and step.record is not None:
        kept = " (kept)" if step.repeated else ""
        say(f"{step.done}/{step.total} {run_name(step.run)}: {_outcome(step.record)}{kept}")


def _outcome(record: Any) -> str:
    from evenhand.learn.experiments.document import fairness_name, one_line

    if record["error"] is not None:
        return f"failed, {one_line(record['error'])}"
    part = record["parts"]["test"]
    found = {**part["performance"], **{fairness_name(id_): value for id_, value in part["fairness"].items()}}
    return ", ".join(f"{id_} {'–' if value is None else f'{value:.3f}'}" for id_, value in found.items())


@dataclass
class _Row:
    """Runs of a method on a data set."""

    all: int = 0
    done: int = 0
    failed: int = 0
    latest: str = ""
    told: int = 0
    """When it was heard of last: how many runs were done then."""

    @property
    def under_way(self) -> bool:
        return 0 < self.done < self.all


class _Board:
    """How far all is; then data sets and methods with their runs: done, failed, and the latest result.

    If there are more of these than lines, those under way are shown, and those heard of last.
    """

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], _Row] = {}
        self.done, self.total, self.start, self.new = 0, 0, time.monotonic(), 0

    def told(self, step: Step) -> None:
        self.done, self.total = step.done, step.total
        for run in step.runs if step.run is None else ():
            self.rows.setdefault((run.dataset, run.method), _Row()).all += 1
        if step.run is None or step.record is None:
            return
        row = self.rows[step.run.dataset, step.run.method]
        row.done += 1
        row.failed += step.record["error"] is not None
        row.latest, row.told = _outcome(step.record), step.done
        self.new += not step.repeated

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.text import Text

        spent = time.monotonic() - self.start
        left = f", about {_minutes(spent / self.new * (self.total - self.done))} left" if self.new else ""
        chosen = self._chosen(console.size.height - FRAME)
        yield Text(f"{self.done}/{self.total} runs in {_minutes(spent)}{left}", no_wrap=True, overflow="ellipsis")
        yield self._grid(chosen, options.max_width)
        if len(chosen) < len(self.rows):
            yield Text(f"… {len(self.rows) - len(chosen):,} more", style="dim")

    def _chosen(self, most: int) -> list[tuple[str, str]]:
        """The rows that there is room for, in the order of the plan."""
        ranked = sorted(self.rows, key=lambda key: (not self.rows[key].under_way, -self.rows[key].told))
        chosen = set(ranked[: max(most, 1)])
        return [key for key in self.rows if key in chosen]

    def _grid(self, chosen: list[tuple[str, str]], width: int) -> Any:
        """No wider than that: long names and results are cut, numbers never."""
        from rich.table import Table as Grid
        from rich.text import Text

        from evenhand.learn.experiments.document import one_line

        counts = [f"{self.rows[key].done}/{self.rows[key].all}" for key in chosen]
        numbers = max([len("done"), *map(len, counts)]), len("failed")
        room = max(width - sum(numbers) - 4 * GAP, 12)
        name = min(24, room // 3)
        grid = Grid(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim")
        for head, most in zip(HEADS, (name, name, *numbers, room - 2 * name), strict=True):
            side: Any = "right" if head in ("done", "failed") else "left"
            grid.add_column(head, justify=side, no_wrap=True, overflow="ellipsis", max_width=most)
        for key, count in zip(chosen, counts, strict=True):
            row = self.rows[key]
            grid.add_row(*(Text(one_line(part, 80)) for part in key), count, str(row.failed or ""), Text(row.latest))
        return grid


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
