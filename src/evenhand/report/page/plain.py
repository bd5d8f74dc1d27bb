"""Pages of results that are no audit of one score: their charts, what a terminal shows, and the JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evenhand.report.charts.chart import Chart
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, join, tag
from evenhand.report.page.shell import fitted, page

MOST_TEXT = 400_000


def plain_page(document: dict[str, Any], said: str, plots: Sequence[str], plot: Callable[[str], Chart]) -> str:
    """A page of any result: its document, what a terminal says, and its charts."""

    def build(room: Room) -> str:
        return _page(document, said, [room.figure(plot(name), f"plot({name!r})") for name in plots], room)

    return fitted(build)


def _page(document: dict[str, Any], said: str, figures: list[Markup | None], room: Room) -> str:
    title = f"Evenhand: {document['schema'].split('/')[1]}" if "schema" in document else "Evenhand"
    if len(said) > room.most(MOST_TEXT):
        said = f"{said[: room.most(MOST_TEXT)]}\n… the rest does not fit into this page"
    text = tag("pre", said, role="region", tabindex="0", aria_label="Report")
    sections: list[tuple[str, str, Any]] = [("report", "What was found", text)]
    if figures:
        sections.append(("charts", "Charts", join(figures, [tag("p", r, class_="note") for r in room.remarks()])))
    return page(title, None, sections, document)
