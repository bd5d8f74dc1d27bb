"""What a command shows: results on standard output, progress on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.options import Progress


def deliver(document: dict[str, Any], text: str, json_path: str | None) -> None:
    """JSON to standard output, or to a file beside the text."""
    from evenhand.files import write_text
    from evenhand.report.document import as_json

    if json_path == "-":
        sys.stdout.write(as_json(document))
        return
    if json_path is not None:
        write_text(json_path, as_json(document))
    sys.stdout.write(text + "\n")


def show(result: Any) -> None:
    from rich.console import Console

    if not sys.stdout.isatty():
        sys.stdout.write(f"{result!r}\n")
        return
    console = Console(highlight=False, emoji=False, markup=False)
    console.width = min(console.width, 100)
    console.print(result)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on standard error while a person is watching."""
    if not sys.stderr.isatty():
        yield lambda fraction, text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda fraction, text: bar.update(task, completed=fraction, description=text[:40])


@contextmanager
def reader_gone() -> Iterator[None]:
    """Let output end early when its reader has gone (`| head`)."""
    try:
        yield
    except BrokenPipeError:
        silence()


def silence() -> None:
    """Let Python flush what is left of standard output into nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
