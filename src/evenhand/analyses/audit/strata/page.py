"""Groups compared within strata, as a section of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evenhand.analyses.audit.key_tables import Rows
from evenhand.analyses.audit.strata import tables as told
from evenhand.errors import shown_name
from evenhand.measures.rates import RATES
from evenhand.report.page.markup import Markup, grid, tag

MOST_STRATA, MOST_GROUPS = 200, 12


def within_section(
    attribute: dict[str, Any], confidence: float, figure: Callable[[str, str], Any] | None
) -> Iterator[Markup]:
    """The sentence, the chart and the numbers of the group that the verdict names; others on request."""
    groups = told.groups_of(attribute)
    for place, group in enumerate(groups[:MOST_GROUPS]):
        parts = [*_of(attribute, group, confidence)]
        if place == 0:
            yield from parts[:1]
            if figure is not None:
                yield tag("div", figure(attribute["name"], group), class_="charts")
            yield from parts[1:]
        else:
            yield tag("details", tag("summary", told.title(attribute, group)), *parts)
    if len(groups) > MOST_GROUPS:
        yield tag("p", f"{len(groups) - MOST_GROUPS:,} more groups are in the JSON.", class_="note")


def _of(attribute: dict[str, Any], group: str, confidence: float) -> Iterator[Markup]:
    if (one := told.shown_rate(attribute, group)) is not None:
        title = RATES[one["rate"]].title
        yield tag("p", one["interpretation"], class_="said")
        yield from _table(f"Difference in {title}, in percentage points", told.first(attribute, group, confidence))
        rows = told.strata(attribute, group, MOST_STRATA)
        yield from _table(f"Strata of {shown_name(attribute['within']['name'])}: people, {title}, difference", rows)
        if rest := told.more(attribute, rows, "in the JSON"):
            yield tag("p", rest, class_="note")
    yield from _table("Rates pooled over strata (Mantel–Haenszel)", told.pooled(attribute, group, confidence))
    yield from _table("Scores of groups with the same mix of strata", told.scores(attribute, group, confidence))
    yield from (tag("p", line, class_="note") for line in told.undefined(attribute, group))


def _table(caption: str, rows: Rows) -> Iterator[Markup]:
    if rows.rows:
        yield grid(caption, rows.heads, rows.rows)
