"""Numbers by class and group for a terminal: names give way where room is short, numbers never do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.errors import shown_name
from evenhand.report.console import WIDTH, indented
from evenhand.report.format import number

MOST_CLASSES = 15
MOST_GROUPS = 6
LONGEST_CLASS, SHORTEST_CLASS = 22, 10
LONGEST_GROUP = 12
IMPUTED = "°"


def matrix_of(result: dict[str, Any], options: dict[str, Any]) -> Iterator[RenderableType]:
    """The rate by class and group, the overall one, and what the first step makes of it."""
    places = largest(result["groups"])
    shown, more = worst_off(result["classes"], options)
    columns = [
        _Column([f"{result['groups'][g]['n']:,}", *(rate(c["cells"][g]) for c in shown)], result["groups"][g]["name"])
        for g in places
    ]
    yield from _blocks(
        ["people", *(c["name"] for c in shown)],
        [_Column(["", *(f"{c['n']:,}" for c in shown)], "n"), _Column(["", *map(overall_rate, shown)], "overall")],
        columns,
        [_Column(["", *(number(c["value"]) for c in shown)], "step 1")],
    )
    yield from _not_shown(len(result["groups"]) - len(places), more)


def _not_shown(hidden: int, more: int) -> Iterator[RenderableType]:
    """How many groups and classes a table leaves out."""
    unseen = [_many(hidden, "smaller group", "smaller groups"), _many(more, "more class", "more classes")]
    if hidden or more:
        verb = "is" if hidden + more == 1 else "are"
        yield indented(f"{' and '.join(filter(None, unseen))} {verb} not shown (--json has them)", style="dim")


def joint_of(result: dict[str, Any], options: dict[str, Any]) -> Iterator[RenderableType]:
    """How many people there are of each class in each group, and what share of all they are."""
    yield Text("People by class and group (% of all)", style="bold")
    total = sum(c["n"] for c in result["classes"])
    (shown, more), places = worst_off(result["classes"], options), largest(result["groups"])

    def column(numbers: Sequence[float], name: str) -> _Column:
        return _Column([f"{n:,.15g} ({100 * n / total:.1f})" for n in numbers], name)

    columns = [column([c["cells"][g]["n"] for c in shown], result["groups"][g]["name"]) for g in places]
    yield from _blocks([c["name"] for c in shown], [column([c["n"] for c in shown], "all")], columns, [])
    yield from _not_shown(len(result["groups"]) - len(places), more)


def undefined_of(result: dict[str, Any], options: dict[str, Any]) -> Iterator[RenderableType]:
    """Which rates do not exist or are imputed, and which classes are left out, with the reasons."""
    yield from map(indented, undefined_lines(result, options))


def undefined_lines(result: dict[str, Any], options: dict[str, Any]) -> Iterator[str]:
    """The same as sentences."""
    cells = result["undefined_cells"]
    if cells and options["empty"] is not None:
        yield f"{IMPUTED} nobody to compute the rate of: counts as {options['empty']:g}, as asked"
    elif cells:
        yield f"– undefined: {_some([c['because'].removeprefix('because ') for c in cells], 90)}"
    gone = [f"{shown_name(c['name'])} ({shown_name(c['undefined'], 120)})" for c in result["classes"] if c["undefined"]]
    if gone:
        yield f"Left out of δ: {_some(gone, 170)}"


# ---- layout ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    cells: list[str]
    name: str

    @property
    def numbers(self) -> int:
        return max(map(cell_len, self.cells), default=0)

    def width(self, heading: str) -> int:
        return max(self.numbers, cell_len(heading)) + 1


def _blocks(
    classes: list[str], first: list[_Column], groups: list[_Column], last: list[_Column]
) -> Iterator[RenderableType]:
    """One table, or several if groups do not fit beside each other; letters stand for names that do not."""
    names = [shown_name(name, 30) for name in classes]
    longest = min(max(map(cell_len, names)), LONGEST_CLASS)
    room = WIDTH - sum(c.width(c.name) for c in (*first, *last)) - min(longest, SHORTEST_CLASS) - 1
    headings = [shown_name(g.name, 200) for g in groups]
    widths = [g.width(heading) for g, heading in zip(groups, headings, strict=True)]
    letters = max(map(cell_len, headings)) > LONGEST_GROUP or sum(widths) > room
    if letters:
        headings = [chr(ord("a") + i) for i in range(len(groups))]
        widths = [g.width(heading) for g, heading in zip(groups, headings, strict=True)]
    for start, end in _split(widths, room):
        spare = room - sum(widths[start:end]) + min(longest, SHORTEST_CLASS)
        grid = _grid(min(longest, spare))
        chosen = [*((c, c.name) for c in first), *zip(groups[start:end], headings[start:end], strict=True),
                  *((c, c.name) for c in last)]  # fmt: skip
        for c, heading in chosen:
            grid.add_column(Text(heading), justify="right", no_wrap=True, min_width=c.width(heading) - 1)
        for i, name in enumerate(names):
            style = "dim" if classes[i] == "people" and i == 0 and len(first) > 1 else ""
            grid.add_row(Text(name, style=style), *(c.cells[i] for c, _ in chosen))
        yield grid
    if letters:
        legend = ", ".join(f"{h} {shown_name(g.name, 60)}" for h, g in zip(headings, groups, strict=True))
        yield indented(legend, style="dim")


def _split(widths: list[int], room: int) -> Iterator[tuple[int, int]]:
    """Places from which to which groups stand in one table, at least one in each."""
    start, used = 0, 0
    for i, width in enumerate(widths):
        if i > start and used + width > room:
            yield start, i
            start, used = i, 0
        used += width
    yield start, len(widths)


def fitted(grid: Grid, texts: int) -> Grid:
    """A table whose first columns, of texts, give way to its numbers."""
    widths = [max(cell_len(str(cell)) for cell in (c.header, *c.cells)) for c in grid.columns]
    room = WIDTH - sum(widths[texts:]) - 2 * (len(widths) - 1)
    for i, column in enumerate(grid.columns):
        if i < texts:
            others = [min(widths[k], room // texts) for k in range(texts) if k != i]
            column.max_width = max(room - sum(others), 1)
        else:
            column.min_width = widths[i]
    return grid


def _grid(width: int) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column("class", overflow="ellipsis", no_wrap=True, max_width=max(width, len("class")))
    return grid


# ---- choices ---------------------------------------------------------------------------------------------------------


def largest(groups: list[dict[str, Any]], most: int = MOST_GROUPS) -> list[int]:
    """Places of the groups that are shown, in their order."""
    return sorted(sorted(range(len(groups)), key=lambda g: -groups[g]["n"])[:most])


def worst_off(
    classes: list[dict[str, Any]], options: dict[str, Any], most: int = MOST_CLASSES
) -> tuple[list[dict[str, Any]], int]:
    """All classes in their order, or those that are worst off."""
    if len(classes) <= 2 * MOST_CLASSES:
        return classes, 0
    low = options["unit"] == "score" and options["across_groups"]["power"] is not None
    low |= options["unit"] == "ratio" and options["across_groups"]["power"] == "-inf"
    low |= options["across_groups"]["gamma"] is not None
    ranked = sorted(classes, key=lambda c: (c["value"] is None, (1 if low else -1) * (c["value"] or 0.0)))
    return ranked[:most], max(len(classes) - most, 0)


def rate(cell: dict[str, Any]) -> str:
    """A rate, marked if it is one that an empty cell counts as."""
    imputed = cell["value"] is not None and cell["undefined"] is not None
    return number(cell["value"]) + (IMPUTED if imputed else "")


def overall_rate(c: dict[str, Any]) -> str:
    """What groups are compared with, marked if it is imputed."""
    imputed = c["overall"] is not None and all(cell["undefined"] is not None for cell in c["cells"])
    return number(c["overall"]) + (IMPUTED if imputed else "")


def _many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}" if count else ""


def _some(texts: list[str], limit: int) -> str:
    """The first four, and how many more there are."""
    more = f"; and {len(texts) - 4:,} more" if len(texts) > 4 else ""
    return "; ".join(shown_name(text, limit) for text in texts[:4]) + more
