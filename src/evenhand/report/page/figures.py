"""Charts on a page: the drawing, what it shows in a sentence, and its numbers as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from evenhand.errors import MissingLibrary, shown_name
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.theme import themed
from evenhand.report.page.markup import Markup, grid, join, tag

MOST_DRAWN, MOST_NULLS, MOST_TABLES = 550_000, 150_000, 40
"""What a page holds at most: characters of drawings, of null distributions, and tables of all measures."""


class Room:
    """What still fits on a page, and what was left out because it did not.

    `share` shrinks everything, for a page that turned out too large.
    """

    def __init__(self, share: float = 1.0) -> None:
        self.share = share
        self.drawn, self.nulls, self.tables = 0, 0, 0
        self.missing: str | None = None
        self.left_out: list[str] = []

    def most(self, number: int) -> int:
        """The most of something that this page holds."""
        return max(1, int(number * self.share))

    def figure(self, chart: Chart, what: str) -> Markup | None:
        """The chart as a figure, or nothing; `what` names it where it is left out."""
        if self.drawn > self.most(MOST_DRAWN):
            self.left_out.append(what)
            return None
        try:
            svg = themed(chart.to_svg(f"c{self.drawn}-", heading=False))
        except MissingLibrary as error:
            self.missing = str(error)
            plain = _figure(chart, None)
            self.drawn += len(plain)
            return plain
        self.drawn += len(svg)
        return _figure(chart, svg)

    def null(self, null: Any, observed: float) -> Markup | None:
        """The distribution behind a p-value, if there is room for it."""
        drawn = histogram(null, observed) if self.nulls <= self.most(MOST_NULLS) else None
        self.nulls += 0 if drawn is None else len(drawn)
        return drawn

    def table(self) -> bool:
        """Whether another table of all measures fits."""
        self.tables += 1
        return self.tables <= self.most(MOST_TABLES)

    def remarks(self) -> list[str]:
        """What a reader should know about charts that are not there."""
        lines = [f"Charts are not drawn: {self.missing}"] if self.missing else []
        if self.left_out:
            lines.append(f"To keep the page small these charts were left out: {', '.join(self.left_out)}")
        return lines


def _figure(chart: Chart, svg: str | None) -> Markup:
    numbers = columns_table(chart)
    marker = chart.marker or {}
    return tag(
        "figure",
        tag("h3", chart.title),
        None if svg is None else tag("div", Markup(svg), class_="drawing"),
        tag("figcaption", *_told(chart)),
        numbers if svg is None else tag("details", tag("summary", "Numbers of this chart"), numbers, class_="table-of"),
        data_chart=chart.name,
        data_lo=marker.get("lo"),
        data_hi=marker.get("hi"),
        data_width=marker.get("width"),
    )


def _told(chart: Chart) -> Iterator[str]:
    """How to read the chart, what it shows, and what was left out."""
    under = " ".join(chart.spec.get("title", {}).get("subtitle", ())).replace("- ", "-")
    for sentence in re.split(r"(?<=\.) (?=[A-Z])", under):
        if sentence.rstrip(".") not in chart.description:
            yield f"{sentence} "
    yield chart.description
    if chart.note:
        yield f" Note: {chart.note}."


def columns_table(chart: Chart) -> Markup:
    """The numbers beside a chart."""
    heads = [shown_name(head, 60) for head in chart.columns]
    rows = [[_value(v) for v in row] for row in zip(*chart.columns.values(), strict=True)]
    return grid(f"Numbers: {chart.title}", heads, rows)


def _value(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else shown_name(value, 80)


def histogram(null: Any, observed: float) -> Markup | None:
    """The null distribution, in small: that behind a p-value, the observed gap, and the 95 % point."""
    values, weights = np.asarray(null.sample, np.float64), null.chance
    if not len(values):
        return None
    lo, hi = min(values.min(), observed), max(values.max(), observed)
    span = hi - lo if hi - lo > 1e-12 * max(abs(lo), abs(hi)) else 1.0  # bars have a width in numbers of 64 bits
    heights, _ = np.histogram(values, bins=30, range=(lo, lo + span), weights=weights)
    scale = 44 / heights.max()
    bars = "".join(f"M{6.6 * i:.4g},46v{-h * scale:.1f}h6V46" for i, h in enumerate(heights) if h > 0)

    def rule(at: float, **attributes: Any) -> Markup:
        x = f"{198 * (at - lo) / span:.1f}"
        return tag("line", x1=x, x2=x, y1=0, y2=46, **attributes)

    lines = rule(null.high, class_="limit") if np.isfinite(null.high) and lo <= null.high <= lo + span else None
    label = f"Parity alone shows {values.min():.3g} to {values.max():.3g}; observed {observed:.3g}"
    parts = tag("path", d=bars), lines, rule(observed)
    drawing = tag("svg", *parts, viewBox="-1 0 202 46", width=202, height=46, class_="null", role="img",
                  aria_label=label)  # fmt: skip
    return join(drawing, tag("div", label, class_="muted"))
