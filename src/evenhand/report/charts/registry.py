"""The charts of a result by name: a registry of kinds, and what they are about.

The module of an analysis that draws has a literal `CHARTS` (name → `Kind`) and a function `subject` that makes of a
result, and of the options of `plot`, what its charts are about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from evenhand.errors import UsageError, shown, unknown
from evenhand.report.charts.chart import Chart


def _nothing(subject: Any) -> None:
    """Of charts that every subject has."""


@dataclass(frozen=True)
class Kind:
    """One chart: the function that draws it of a subject, and the one that says why there is none, if there is none.

    The reason ends the sentence "the chart 'cdf' …".
    """

    draw: Callable[[Any], Chart]
    lacks: Callable[[Any], str | None] = _nothing


@dataclass(frozen=True)
class Charts:
    """The charts of one subject."""

    kinds: Mapping[str, Kind]
    subject: Any

    def lacks(self, name: str) -> str | None:
        """Why there is no such chart, if there is none."""
        return self.kinds[name].lacks(self.subject)

    def names(self) -> tuple[str, ...]:
        """The charts that can be drawn.

        >>> Charts({"bars": Kind(len), "lines": Kind(len, lambda subject: "needs two people")}, [1]).names()
        ('bars',)
        """
        return tuple(name for name in self.kinds if not self.lacks(name))

    def draw(self, name: Any = None) -> Chart:
        """The chart of that name; without a name the first there is."""
        if not self.kinds:
            raise UsageError("this result has no charts: its numbers are in to_dict() and to_json()")
        if name is None:
            name = next(iter(self.names() or self.kinds))
        if not isinstance(name, str) or name not in self.kinds:
            raise unknown("there is no chart", name, self.names() or self.kinds)
        because = self.lacks(name)
        if because:
            raise UsageError(f"the chart {shown(name)} {because}")
        return self.kinds[name].draw(self.subject)


def charts(module: str, result: Any, **about: Any) -> Charts:
    """The charts that a module draws of a result, loaded when they are asked for."""
    drawing = import_module(module)
    return Charts(drawing.CHARTS, drawing.subject(result, **about))
