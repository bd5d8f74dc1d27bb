"""What reports for a terminal are made of, and what rich draws as text and for a notebook."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from evenhand.errors import harmless, shown_name
from evenhand.report.contents import Name, Number, Sheet

WIDTH = 80


def wrapped(text: str, indent: str = "") -> list[str]:
    """A text in lines that fit; those after the first begin with the indent."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent) or [""]


def indented(text: str | Text, left: int = 2, style: str = "") -> Padding:
    """A text that stands a little to the right."""
    return Padding(Text(text, style=style) if isinstance(text, str) else text, (0, 0, 0, left))


def points(title: str, lines: Sequence[str]) -> list[RenderableType]:
    """An empty line, a title, and a point for each line; nothing if there are no lines."""
    heading = [Text(), Text(title, style="bold")] if lines else []
    return [*heading, *(indented(f"• {shown_name(line, 600)}") for line in lines)]


def headed(name: str, limit: int = 40) -> list[RenderableType]:
    """An empty line, and the name of what follows on a rule."""
    return [Text(), Rule(Text(shown_name(name, limit), style="bold"), align="left", style="dim")]


def sheet_grids(sheet: Sheet) -> Iterator[RenderableType]:
    """A table of a report for a terminal; one that is too wide goes on below, under the same names."""
    cells = [[_cell(content) for content in row] for row in sheet.rows]
    left = [i == 0 or head in sheet.texts for i, head in enumerate(sheet.heads)]
    whole = [max([len(head), *(row[i].cell_len for row in cells)]) for i, head in enumerate(sheet.heads)]
    least = [_least(head, [row[i] for row in cells], left[i]) for i, head in enumerate(sheet.heads)]
    for columns in _fitting(least):
        if columns[1:2] > [1]:
            yield Text()
        widths = _widths([least[i] for i in columns], [whole[i] for i in columns])
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for i, width in zip(columns, widths, strict=True):
            grid.add_column(sheet.heads[i], justify="left" if left[i] else "right", overflow="fold", width=width)
        for row in cells:
            grid.add_row(*(row[i] for i in columns))
        yield grid


def _least(head: str, cells: Sequence[Text], left: bool) -> int:
    """The least width of a column: neither words of its head nor numbers are broken, and texts have some room."""
    words = max((len(word) for word in head.split()), default=0)
    return max([words, *(min(cell.cell_len, 20) if left else cell.cell_len for cell in cells)])


def _fitting(least: Sequence[int]) -> list[list[int]]:
    """The columns of each part that fits a line; the first one stands in all of them."""
    parts: list[list[int]] = [[0]]
    for i, width in enumerate(least[1:], start=1):
        if sum(least[k] + 2 for k in parts[-1]) + width + 2 > WIDTH and len(parts[-1]) > 1:
            parts.append([0])
        parts[-1].append(i)
    return parts


def _widths(least: Sequence[int], whole: Sequence[int]) -> list[int]:
    """The widths of the columns of a part: what room is left goes where most is wanted."""
    widths = list(least)
    for _ in range(WIDTH - sum(width + 2 for width in least)):
        wanted = [w - width for w, width in zip(whole, widths, strict=True)]
        if max(wanted) <= 0:
            break
        widths[wanted.index(max(wanted))] += 1
    return widths


def _cell(content: Any) -> Text:
    if isinstance(content, Number):
        return Text(content.text)
    return Text(shown_name(content, 60) if isinstance(content, Name) else str(content))


def left_out(data: dict[str, Any]) -> list[RenderableType]:
    """How many rows the data lack, by reason."""
    rows = data["left_out"].items()
    return [Text(f"Left out: {count:,} rows {shown_name(reason, 100)}", style="yellow") for reason, count in rows]


class Harmless:
    """What is drawn, without anything in it that a terminal or a pipeline obeys: names are not ours."""

    def __init__(self, drawn: RenderableType) -> None:
        self.drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, _ in console.render(self.drawn, options):
            yield Segment(harmless(text), style)


def _console(width: int, **how: Any) -> Console:
    """A console that writes into memory, in a notebook too: there rich would show what is printed instead."""
    return Console(file=io.StringIO(), width=width, legacy_windows=False, force_jupyter=False, **how)


def as_text(drawn: RenderableType, width: int = WIDTH) -> str:
    """Plain text, without spaces at the ends of lines."""
    console = _console(width, color_system=None)
    console.print(drawn)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def as_html(drawn: RenderableType, width: int = WIDTH + 20) -> str:
    """HTML in which all names are escaped."""
    console = _console(width, record=True, force_terminal=True, color_system="truecolor")
    console.print(drawn)
    pre = '<pre style="font-family:monospace;line-height:1.25;white-space:pre">{code}</pre>'
    return console.export_html(inline_styles=True, code_format=pre)
