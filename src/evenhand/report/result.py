"""What every analysis gives back: plain values first, and every view made from them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.charts.chart import Chart
    from evenhand.report.charts.registry import Charts
    from evenhand.report.contents import Contents


Content = TypeVar("Content", str, bytes)


class Result:
    """Something found, as plain values (`to_dict`), JSON, text, charts and in a notebook. The views cannot disagree.

    Beside the module of a result stand `document`, with `document(result)`, `text`, with `render(document)`, and
    `contents`, with `contents(document)`, which its page and its Markdown show.
    """

    drawn_by: ClassVar[str | None] = None
    """The module that draws it, if one does: report/charts/registry.py says what is in there."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, in the form that docs/reference/json.md describes."""
        document: dict[str, Any] = self._view("document").document(self)
        return document

    def to_json(self, path: str | Path | None = None) -> str:
        """The result as JSON text, also written to a file if a path is given."""
        from evenhand.report.document import as_json

        return write(as_json(self.to_dict()), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """The result as one self-contained page, also written to a file if a path is given."""
        from evenhand.report.page.contents import contents_page

        document = self.to_dict()
        return write(contents_page(self._contents(document), document, self.plots(), self.plot), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The result as Markdown, for a pull request or a model card, also written to a file if a path is given."""
        from evenhand.report.contents_markdown import contents_markdown

        document = self.to_dict()
        return write(contents_markdown(self._contents(document), document), path)

    def charts(self, **about: Any) -> Charts:
        """Everything that can be drawn about a part of the result; `plot` draws one of them."""
        from evenhand.report.charts.registry import Charts, charts

        return Charts({}, self) if self.drawn_by is None else charts(self.drawn_by, self, **about)

    def plot(self, name: str | None = None) -> Chart:
        """A chart, to be shown in a notebook or saved; without a name the first of `plots()`."""
        return self.charts().draw(name)

    def plots(self) -> tuple[str, ...]:
        """The names of the charts that `plot` can draw; none of a result that has no charts."""
        return self.charts().names()

    def __rich__(self) -> Any:
        from evenhand.report.console import Harmless

        return Harmless(self._drawn())

    def _drawn(self) -> Any:
        return self._view("text").render(self.to_dict())

    def _contents(self, document: dict[str, Any]) -> Contents:
        contents: Contents = self._view("contents").contents(document)
        return contents

    def __repr__(self) -> str:
        from evenhand.report.console import as_text

        return as_text(self.__rich__())

    def _view(self, name: str) -> Any:
        """A module of the folder that this kind of result stands in, loaded when it is asked for."""
        home = next(kind.__module__ for kind in type(self).__mro__ if kind.__module__.startswith("evenhand."))
        return import_module(f"{home.rpartition('.')[0]}.{name}")

    def _repr_html_(self) -> str:
        from evenhand.report.console import as_html

        return as_html(self.__rich__())


def write(content: Content, path: str | Path | None) -> Content:
    """Write a text, or bytes, to a file if a path is given; either way, the same."""
    if path is not None:
        from evenhand.files.paths import write_bytes

        write_bytes(path, content.encode() if isinstance(content, str) else content)
    return content
