"""What a command shows: results on standard output, progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from evenhand.errors import UsageError, harmless, shown, shown_name
from evenhand.files.paths import as_path, write_bytes, write_text

if TYPE_CHECKING:
    from evenhand.analyses.options import Progress
    from evenhand.report.result import Result

FORMS = ("html", "markdown", "json")
PATIENCE = 0.5
"""Seconds of work after which a bar appears."""


def wanted(options: dict[str, Any]) -> dict[str, str]:
    """The forms asked for, and where, taken out of the options."""
    return {form: path for form in (*FORMS, "junit", "docx") if (path := options.pop(form, None)) is not None}


def write(result: Result, paths: dict[str, str], drawn: Any = None, **page: Any) -> None:
    """Every form that was asked for; the terminal's too, unless one goes to standard output instead.

    `drawn` is what a terminal shows, where that is not the result itself; `page` are further options of the page.
    """
    texts = {form: getattr(result, f"to_{form}")(**(page if form == "html" else {})) for form in paths}
    for form, path in sorted(paths.items(), key=lambda place: place[1] == "-"):  # files first: they can be refused
        put(texts[form], path)
        if path != "-":
            say(f"wrote {shown_name(path, 120)}")
    if "-" not in paths.values():
        show(result if drawn is None else drawn)


def put(text: str | bytes, path: str) -> None:
    """A document into a file, or onto standard output (-): the same bytes, whatever the locale says."""
    if isinstance(text, bytes):
        write_bytes(path, text)
        return
    if path != "-":
        write_text(path, text)
        return
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)  # there is none where output is kept as text
    if stream is None:
        sys.stdout.write(text)
    else:
        stream.write(text.encode())


def write_starter(file: str, text: str, then: str, force: bool = False, choices: str = "") -> None:
    """A file to begin with, where there is none yet; then say what to do with it, or which other choices there are."""
    if not file:
        raise UsageError("the file to begin with needs a name, and it is empty")
    if file != "-" and not force and as_path(file).exists():
        raise UsageError(f"{shown(file)} is there already: choose another name{choices}")
    put(text, file)
    if file != "-":
        say(f"wrote {shown_name(file, 120)}: {then}")


def show(drawn: Any) -> None:
    """A result, or anything that rich draws, on standard output."""
    from rich.console import Console

    from evenhand.report.console import as_text

    if not sys.stdout.isatty():
        sys.stdout.write(f"{as_text(drawn)}\n")
        return
    console = Console(highlight=False, emoji=False, markup=False)
    console.width = min(console.width, 100)
    console.print(drawn)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on standard error while a person is watching and there is something to wait for."""
    if not sys.stderr.isatty():
        yield lambda fraction, text: None
        return
    from evenhand.ingest.progress import telling

    bar = _Bar()
    try:
        with telling(bar.show):
            yield bar.show
    finally:
        bar.stop()


class _Bar:
    """Appears when work has taken a while, and is wiped out at the end."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

        text = TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), text, BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.measured = self.bar.add_task("", total=1.0)
        self.unknown = self.bar.add_task("", total=None, visible=False)
        self.due = time.monotonic() + PATIENCE

    def show(self, fraction: float | None, text: str) -> None:
        """A share that nobody knows is shown by a bar that moves to and fro."""
        known = fraction is not None
        text = harmless(text)[:40]
        self.bar.update(self.measured, completed=fraction, description=text, visible=known)
        self.bar.update(self.unknown, description=text, visible=not known)
        if time.monotonic() > self.due and not self.bar.live.is_started:
            self.bar.start()

    def stop(self) -> None:
        if self.bar.live.is_started:
            self.bar.stop()


@contextmanager
def reader_gone() -> Iterator[None]:
    """Let output end early when its reader has gone (`| head`)."""
    try:
        yield
    except BrokenPipeError:
        silence()


def silence(stream: Any = None) -> None:
    """Let Python flush what is left of standard output, or of another stream, into nothing."""
    with suppress(OSError, ValueError):  # it may have no file, or be closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def say(sentence: str) -> None:
    """A sentence on standard error, if anything can be written there: that must not change the exit code."""
    try:
        click.echo(harmless(sentence), err=True)
    except (OSError, ValueError):
        silence(sys.stderr)
