"""Pages of results that are no audit of one score: their charts, what a terminal shows, and the JSON."""

from __future__ import annotations

from typing import Any

from evenhand.report.page.figures import Room
from evenhand.report.page.markup import join, tag
from evenhand.report.page.shell import fitted, page

MOST_TEXT = 400_000


def plain_page(result: Any) -> str:
    """A page of any result."""
    document = result.to_dict()
    return fitted(lambda room: _page(result, document, room))


def _page(result: Any, document: dict[str, Any], room: Room) -> str:
    charts = [room.figure(result.plot(chart), f"plot({chart!r})") for chart in getattr(result, "plots", tuple)()]
    title = f"Evenhand: {document['schema'].split('/')[1]}" if "schema" in document else "Evenhand"
    said = repr(result)
    if len(said) > room.most(MOST_TEXT):
        said = f"{said[: room.most(MOST_TEXT)]}\n… the rest does not fit into this page"
    text = tag("pre", said, role="region", tabindex="0", aria_label="Report")
    sections: list[tuple[str, str, Any]] = [("report", "What was found", text)]
    if charts:
        sections.append(("charts", "Charts", join(charts, [tag("p", r, class_="note") for r in room.remarks()])))
    return page(title, None, sections, document)
