"""A line that says how far the work is, in a notebook or a terminal; nowhere else."""

from __future__ import annotations

import builtins
import sys
import time
from typing import Any

from evenhand.errors import harmless

PATIENCE, PAUSE = 1.0, 0.2
"""Seconds of work before the line appears, and between two lines."""
WIDTH = 70


class Line:
    """Writes over itself, and is wiped out when all is done."""

    def __init__(self, stream: Any = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        self.due = time.monotonic() + PATIENCE
        self.shown = False

    def __call__(self, fraction: float | None, text: str) -> None:
        if fraction is not None and fraction >= 1:
            self._write("")
        elif time.monotonic() >= self.due:
            share = " …" if fraction is None else f"{100 * fraction:3.0f}%"
            self._write(f"{share} {harmless(text)}"[:WIDTH])
            self.due = time.monotonic() + PAUSE

    def _write(self, text: str) -> None:
        if text or self.shown:
            self.stream.write(f"\r{text:<{WIDTH}}" + ("" if text else "\r"))
            self.stream.flush()
        self.shown = bool(text)


def line(asked: bool) -> Line | None:
    """A line where somebody sees it: in a notebook, and in a terminal if it was asked for."""
    if in_notebook():
        return Line()
    return Line(sys.stderr) if asked and sys.stderr is not None and sys.stderr.isatty() else None


def in_notebook() -> bool:
    """Whether this runs in a cell of a notebook."""
    shell = getattr(builtins, "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell" or "google.colab" in str(type(shell))
