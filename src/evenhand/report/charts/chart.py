"""A chart: one specification for the page, the notebook and files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.errors import MissingLibrary, UsageError, listed, nearest
from evenhand.files.paths import as_path, check_target, replacing, shown_path
from evenhand.report.charts import render as drawing
from evenhand.report.charts.sizes import changed

SUFFIXES = (".svg", ".png", ".pdf", ".json")
NOTEBOOK = "application/vnd.vegalite.v5+json"


@dataclass(frozen=True)
class Chart:
    """A chart of an audit. It shows itself in a notebook; `save` writes it as SVG, PNG, PDF, or as its specification.

    >>> import evenhand
    >>> chart = evenhand.audit(evenhand.compas(), reference="Caucasian").plot("cdf")
    >>> chart.name, sorted(chart.columns)
    ('cdf', ['African-American', 'Caucasian', 'decile_score'])
    """

    name: str
    title: str
    description: str
    """What it shows in these data, for a reader who cannot see it."""
    spec: dict[str, Any] = field(repr=False)
    """The complete Vega-Lite specification, its data included."""
    columns: dict[str, list[Any]] = field(default_factory=dict, repr=False)
    """The numbers a person reads, as a table beside the chart."""
    note: str | None = None
    """What was left out or simplified to draw it."""
    marker: dict[str, Any] | None = field(default=None, repr=False)
    """Of charts over scores: `lo`, `hi` and `width` of the axis and the threshold drawn (`at`), so that a page can
    move the line of class `threshold` to (t - lo) / (hi - lo) * width."""

    def to_svg(self, prefix: str = "", *, heading: bool = True) -> str:
        """The chart as SVG, with its title or without.

        Ids begin with the prefix, so that several drawings fit on one page.
        """
        spec = self.spec if heading else {k: v for k, v in self.spec.items() if k != "title"}
        return drawing.svg(spec, self.title, prefix)

    def to_png(self, ppi: float) -> bytes:
        """The chart as PNG without its title, with so many pixels per inch."""
        return drawing.png({k: v for k, v in self.spec.items() if k != "title"}, ppi)

    def to_json(self) -> str:
        """The specification as JSON text, which every Vega-Lite tool opens."""
        return json.dumps(self.spec, ensure_ascii=True, allow_nan=False, separators=(",", ":"))

    def save(
        self, path: str | Path, *, width: int | None = None, height: int | None = None, title: str | None = None
    ) -> None:
        """Write the chart; the ending of the name says how (.svg, .png, .pdf, .json).

        `width` and `height` are those of every panel in pixels, without axes; `title` stands instead of its own, and
        an empty one removes it.
        """
        if (width, height, title) != (None, None, None):
            spec = changed(self.spec, width, height, title)
            replace(self, spec=spec, title=title or self.title).save(path)
            return
        write = {
            ".svg": lambda: self.to_svg().encode(),
            ".png": lambda: drawing.png(self.spec),
            ".pdf": lambda: drawing.pdf(self.spec),
            ".json": lambda: self.to_json().encode(),
        }
        suffix = as_path(path).suffix.lower()
        if suffix not in write:
            raise UsageError(
                f"a chart is saved as one of {listed(SUFFIXES)}, not as {shown_path(as_path(path).name)}"
                f"{nearest(suffix, SUFFIXES)}"
            )
        check_target(path)
        content = write[suffix]()
        with replacing(path) as temporary:
            temporary.write_bytes(content)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What a notebook shows: the drawing, or how to get one."""
        try:
            picture = self.to_svg()
        except MissingLibrary as error:
            return {"text/plain": f"{self!r}\n{error}"}
        return {"text/plain": repr(self), "image/svg+xml": picture, NOTEBOOK: self.spec}

    def __repr__(self) -> str:
        note = f"\n({self.note})" if self.note else ""
        return f"{self.title}\n{self.description}{note}"
