"""Contents → a page: the answer in its colour, then charts, tables and what it takes to repeat it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evenhand.errors import shown_name
from evenhand.report.charts.chart import Chart
from evenhand.report.contents import Box, Code, Command, Contents, Name, Number, Part, Points, Section, Sheet, Word
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, grid, join, name, tag
from evenhand.report.page.shell import fitted, page

MOST_ROWS = 150
MOST_NOTES = 20
LONG = 600


def contents_page(
    contents: Contents, document: dict[str, Any], plots: Sequence[str], plot: Callable[[str], Chart]
) -> str:
    """The whole page; charts stand below the first section."""

    def build(room: Room) -> str:
        figures = [room.figure(plot(one), f"plot({one!r})") for one in plots]
        return page(contents.title, _about(contents), list(_sections(contents, document, figures, room)), document)

    return fitted(build)


def _about(contents: Contents) -> Markup:
    return tag("p", " · ".join(contents.about), class_="lead")


def _sections(
    contents: Contents, document: dict[str, Any], figures: list[Markup | None], room: Room
) -> Iterator[tuple[str, str, Any]]:
    yield "answer", contents.answer, _answer(contents)
    sections = [_section(s, room) for s in contents.sections]
    yield from sections[:1]
    remarks = [tag("p", remark, class_="note") for remark in room.remarks()]
    if any(figures) or remarks:
        yield "charts", "Charts", join(tag("div", figures, class_="charts"), remarks)
    yield from sections[1:]
    repeat = [["version", cell(f"Evenhand {document['version']}", class_="words")]]
    for key, value in contents.options.items():
        said = tag("code", value) if key == "table" else _plain(value)
        repeat.append([key.replace("_", " "), cell(said, class_="words")])
    table = grid("The same of these gives the same numbers", ["what", "value"], repeat)
    yield "method", "How to repeat it", join(None if contents.command is None else _typed(contents.command), table)


def _answer(contents: Contents) -> Markup:
    said = [tag("p", text) for text in contents.said]
    box = tag("div", *said, class_=f"finding {contents.mood}") if said else None
    notes = [tag("li", shown_name(note, LONG)) for note in contents.notes[:MOST_NOTES]]
    more = len(contents.notes) - len(notes)
    notes += [tag("li", f"{more:,} more are in the JSON.")] if more else []
    return join(box, tag("ul", *notes, class_="notes") if notes else None)


def _section(s: Section, room: Room) -> tuple[str, str, Any]:
    content = join([part_markup(part, room) for part in s.parts])
    return s.id, s.heading, tag("details", tag("summary", "Show"), content) if s.minor else content


def part_markup(part: Part, room: Room) -> Markup:
    """A part of a report on a page."""
    if isinstance(part, Sheet):
        return _sheet(part, room.most(MOST_ROWS))
    if isinstance(part, Box):
        return tag("div", tag("h3", part.heading), tag("p", part.text), class_=f"finding {part.mood}")
    if isinstance(part, Points):
        return tag("ul", *(tag("li", shown_name(line, LONG)) for line in part.lines[: room.most(MOST_ROWS)]))
    if isinstance(part, Command):
        return _typed(part.text)
    return tag("p", part)


def _typed(text: str) -> Markup:
    return tag("pre", tag("code", text), class_="command", tabindex="0", role="region", aria_label="Command")


def _sheet(sheet: Sheet, most: int) -> Markup:
    words = [head in sheet.texts for head in sheet.heads]
    rows = [
        [_child(row[0]), *(_cell(c, w) for c, w in zip(row[1:], words[1:], strict=False))] for row in sheet.rows[:most]
    ]
    table = grid(sheet.caption, list(sheet.heads), rows, class_="sortable" if sheet.sortable else None)
    legend = tag("p", sheet.legend, class_="note") if sheet.legend else None
    hidden = len(sheet.rows) - len(rows)
    more = tag("p", f"{hidden:,} more {'is' if hidden == 1 else 'are'} in the JSON.", class_="note")
    return join(table, legend, more if hidden else None)


def _cell(content: Any, words: bool) -> Markup:
    value = content.value if isinstance(content, Number) else None
    known = "NaN" if value is None else value
    return cell(_child(content), class_="words" if words else None,
                data_value=known if isinstance(content, Number) else None)  # fmt: skip


def _child(content: Any) -> Any:
    if isinstance(content, tuple):
        return join(*map(_child, content))
    if isinstance(content, Number):
        return content.text
    if isinstance(content, Word):
        return tag("span", content.text, class_=None if content.mood == "plain" else content.mood)
    if isinstance(content, Name):
        return name(content)
    return tag("code", content) if isinstance(content, Code) else content


def _plain(value: Any) -> str:
    """An option as a person writes it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{shown_name(key)}: {_plain(one)}" for key, one in value.items()) or "none"
    return shown_name(f"{value:.12g}" if isinstance(value, float) else value, 200)
