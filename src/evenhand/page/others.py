"""Pages of results that are no audit of one score: their charts, what a terminal shows, and the JSON."""

from __future__ import annotations

from typing import Any

from evenhand.page.figures import Figures
from evenhand.page.markup import join, tag
from evenhand.page.shell import page


def plain_page(result: Any) -> str:
    """A page of any result."""
    document = result.to_dict()
    figures = Figures()
    charts = [figures(result.plot(chart), f"plot({chart!r})") for chart in getattr(result, "plots", tuple)()]
    title = f"Evenhand: {document['schema'].split('/')[1]}" if "schema" in document else "Evenhand"
    text = tag("div", tag("pre", repr(result)), class_="wide", role="region", tabindex="0", aria_label="Report")
    sections: list[tuple[str, str, Any]] = [("report", "What was found", text)]
    if charts:
        sections.append(("charts", "Charts", join(charts, [tag("p", r, class_="note") for r in figures.remarks()])))
    return page(title, None, sections, document)
