"""The page of an audit: the verdict, the groups by key measures, other thresholds; everything else is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.analyses.audit import explorer, unknown_tables
from evenhand.analyses.audit.attachments import documents, sections as other_sections
from evenhand.analyses.audit.brief import MOST_GROUPS, worst_first
from evenhand.analyses.audit.charts.subject import Subject, furthest
from evenhand.analyses.audit.group_tables import MOST_ROWS, Drawings, groups_table, largest_table, measures_tables
from evenhand.analyses.audit.matrix import matrix
from evenhand.analyses.audit.measure_table import about
from evenhand.analyses.audit.method import method
from evenhand.analyses.audit.overview import first_attribute, heading, lead, overview, title_of, verdict_line
from evenhand.analyses.audit.rate_bars import bars
from evenhand.analyses.audit.steps import LEAST, Steps
from evenhand.analyses.audit.strata.page import within_section
from evenhand.analyses.audit.wording import chance_shows, impossibility
from evenhand.analyses.profiles.views import sections as rule_sections
from evenhand.errors import one_of, shown_name
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.registry import Charts, Kind
from evenhand.report.format import sentence
from evenhand.report.page.cover import cover_block, signing
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, grid, join, name, tag
from evenhand.report.page.shell import fitted, page
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.analyses.audit.audit import Audit

EMBED = ("coarse", "exact", "none")
"""What a page holds of scores: steps of a few people, every score, or steps and no explorer."""
FEWEST_STOPS = 3
WITHOUT_SCORES = ("forest", "groups", "strata", "null")
MOST_AT_A_GLANCE = 4
"""Attributes whose groups a notebook shows."""
MOST_OF_OTHERS = 5
"""Groups shown at once of attributes that the verdict is not about."""

Section = tuple[str, Any, Any]


def drawings(audit: Audit) -> Drawings:
    """What there is to draw of an audit."""
    return Drawings(audit.charts, {(a.name, g.id, g.group): g.null for a in audit.attributes for g in a.measures})


def audit_page(document: dict[str, Any], drawn: Drawings, table: Table, also: Any = (), embed: str = EMBED[0]) -> str:
    """The whole audit as one page, with the sections of other results; the table is what the explorer counts."""
    one_of("embed (--embed)", embed, EMBED)
    others = documents(also)
    return fitted(lambda room: _page(document, drawn, table, others, embed, room))


def glance(document: dict[str, Any]) -> str:
    """The verdict, the bars and the key measures alone: what a notebook shows."""
    few = {**document, "attributes": _first_few(document)}
    more = len(document["attributes"]) - len(few["attributes"])
    rest = (
        tag("p", f"{more:,} more ways to divide people are in the report (to_html).", class_="note") if more else None
    )
    sections = [("verdict", heading(few), join(overview(few), rest)), *_attributes(few, MOST_GROUPS, links=False)]
    return page(title_of(document), lead(document), sections, None)


def _first_few(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The attribute of the verdict, and some others in their order."""
    first = first_attribute(document)
    others = [a for a in document["attributes"] if a is not first]
    return [first, *others[: MOST_AT_A_GLANCE - 1]]


def _page(
    document: dict[str, Any], drawn: Drawings, table: Table, others: list[dict[str, Any]], embed: str, room: Room
) -> str:
    most = room.most(MOST_ROWS) // len(document["attributes"])

    def strata(attribute: str, group: str) -> Any:
        charts = drawn.charts(attribute=attribute, group=group)
        return (
            None if charts.lacks("strata") else room.figure(charts.draw("strata"), f"strata by {shown_name(attribute)}")
        )

    sections: list[Section] = [
        *(rule_sections(document["profile"], room) if "profile" in document else ()),
        ("verdict", heading(document), join(overview(document))),
        *_attributes(document, max(most, MOST_GROUPS), figure=strata),
    ]
    references = {a["name"]: a["reference"] for a in document["attributes"]}
    counts, data = None, document["data"]
    if data["score_range"] is not None:
        steps, counts = explorer.steps_of(table, references, data["threshold"], room, embed)
        aside = {a["name"]: a["excluded"] for a in document["attributes"]}
        explored = explorer.section(table, references, steps, counts, data["decision_rule"], room, aside)
        drawn = drawn if steps.least == 1 else drawn._replace(charts=partial(stepped, drawn.charts, table, steps))
        if steps.least > 1 and not steps.stops.exact and len(steps.stops.scores) < FEWEST_STOPS:
            counts, explored = None, tag("p", _TOO_FEW, class_="note")
        if embed == "none":
            counts = None
        else:
            sections.append(("explorer", "Try another threshold", explored))
    sections += other_sections(others, room)
    sections += [("everything", "Everything else", join(_everything(document, drawn, room))), *signing(document)]
    document = {**document, "also": others} if others else document
    return page(title_of(document), join(cover_block(document), lead(document)), sections, document, counts=counts)


def _attributes(
    document: dict[str, Any], most: int, links: bool = True, figure: Callable[[str, str], Any] | None = None
) -> Iterator[Section]:
    """The groups of each attribute by key measure; the bars of the first stand beside the verdict."""
    first, confidence = first_attribute(document), document["options"]["confidence"]
    for i, a in enumerate(document["attributes"]):
        at_once = MOST_GROUPS if a is first else MOST_OF_OTHERS
        before = [] if a is first else [verdict_line(a), bars(a, confidence, at_once + 1)]
        table = matrix(a, confidence, at_once, most, links)
        yield f"by-{i}", f"Key measures by {shown_name(a['name'])}", join(before, table)
        if "within" in a:
            heading = f"By {shown_name(a['name'])}, within {shown_name(a['within']['name'])}"
            yield f"within-{i}", heading, join(within_section(a, confidence, figure))


_TOO_FEW = (
    f"No other threshold can be shown: between two of them there would be fewer than {LEAST} people of a group and "
    "outcome. --embed exact shows every score."
)


def stepped(charts: Callable[..., Charts], table: Table, steps: Steps, **about: Any) -> Charts:
    """The charts of an attribute; those over scores know what the explorer knows, and groups that it knows well."""
    there = charts(**about)
    kinds, grouping = there.kinds, _grouping(there.subject, table)
    counted = in_steps(there.subject, table, steps, steps.drawn(grouping))
    if counted is None:
        return Charts({chart: kinds[chart] for chart in WITHOUT_SCORES}, there.subject)
    return Charts({c: k if c in WITHOUT_SCORES else _about(k, counted) for c, k in kinds.items()}, there.subject)


def _grouping(subject: Subject, table: Table) -> Grouping:
    return next(g for g in table.groupings if g.name == subject.attribute.name)


def in_steps(subject: Subject, table: Table, steps: Steps, known: frozenset[str]) -> Subject | None:
    """The same subject as far as its people may be told: in steps of scores, of groups that are known well enough."""
    told = [g for g in (subject.group, *furthest(subject.attribute)) if g in known]
    if not told or subject.reference not in known:
        return None
    return replace(subject, counts=steps.counts(table, _grouping(subject, table)), group=told[0], known=known)


def _about(kind: Kind, subject: Any) -> Kind:
    """A kind of chart of what is known of another subject, which says so."""

    def drawn(_: Any) -> Chart:
        chart = kind.draw(subject)
        return replace(chart, note="; ".join(filter(None, (chart.note, subject.in_steps))) or None)

    return Kind(drawn, lambda _: kind.lacks(subject))


# ---- what is folded --------------------------------------------------------------------------------------------------


def _everything(document: dict[str, Any], drawn: Drawings, room: Room) -> Iterator[Markup]:
    """All numbers, all charts, and how they were found."""
    confidence = document["options"]["confidence"]
    most = room.most(MOST_ROWS) // len(document["attributes"])
    parts: list[tuple[str, str, Callable[[dict[str, Any]], Any]]] = [
        ("rates", "Rates of every group", lambda a: groups_table(a, most)),
        ("all", "Every measure", lambda a: measures_tables(drawn, a, confidence, room)),
        ("unknown", "People without a group", lambda a: _unknown(a, confidence, most)),
        ("charts", "Charts", lambda a: _charts(drawn, a, room)),
        ("pairs", "All pairs of groups", _all_pairs),
        ("exclusion", "What cannot hold together", _impossibility),
    ]
    for id_, title, of in parts:
        if content := join(_by_attribute(document, of)):
            yield _folded(id_, title, content, on_paper=id_ == "rates")
    ids = list(dict.fromkeys(m["id"] for a in document["attributes"] for m in a["measures"]))
    yield _folded("measures", "What each measure asks", about(ids, document["options"]["tolerance"], level=4))
    told = join(method(document, room.remarks()))
    yield _folded("method", "How it was computed, and how to repeat it", told, on_paper=True)


def _by_attribute(document: dict[str, Any], of: Callable[[dict[str, Any]], Any]) -> Iterator[Markup]:
    """Something of every attribute, under its name if there are several."""
    for attribute in document["attributes"]:
        content = join(of(attribute))
        if content:
            yield join(tag("h4", "By ", name(attribute["name"])) if len(document["attributes"]) > 1 else None, content)


def _folded(id_: str, title: str, content: Any, on_paper: bool = False) -> Markup:
    """Something to open; what belongs on paper is printed in any case."""
    return tag("details", tag("summary", tag("h3", title)), content, id=id_,
               class_="fold paper" if on_paper else "fold")  # fmt: skip


def _charts(drawn: Drawings, attribute: dict[str, Any], room: Room) -> Iterator[Markup]:
    title, group = attribute["name"], next(iter(worst_first(attribute)), None)
    if group is None:
        return
    pair, everyone = drawn.charts(attribute=title, group=group), drawn.charts(attribute=title)
    figures = []
    for chart in pair.kinds:
        about = everyone if chart == "groups" else pair
        if chart not in ("null", "strata") and not about.lacks(chart):  # these have their places
            figures.append(room.figure(about.draw(chart), f"{chart} by {shown_name(title)}"))
    if any(figures):
        yield tag("div", *figures, class_="charts")
    if "cdf" not in pair.kinds:
        yield tag("p", f"{TOO_WIDE} --embed exact draws them.", class_="note")


TOO_WIDE = (
    f"Charts over scores are not drawn: so that every point stands for at least {LEAST} people of each group and "
    "outcome, they would have too few points."
)


def _unknown(attribute: dict[str, Any], confidence: float, most: int) -> Iterator[Markup]:
    """How many people have no group, and what they could change."""
    told = unknown_tables.counted(attribute)
    if told is None:
        return
    yield tag("p", told, ". ", unknown_tables.HOW)
    if found := unknown_tables.rates(attribute, most):
        yield grid("Between what the rates of each group lie", *found)
    for group in worst_first(attribute)[:MOST_GROUPS]:
        if found := unknown_tables.measures(attribute, group, confidence):
            yield grid(join(name(group), " against ", name(attribute["reference"])), *found)
    if attribute["unknown"]["undefined"]:
        yield tag("p", "What they could change is not known ", attribute["unknown"]["undefined"], ".", class_="note")


def _all_pairs(attribute: dict[str, Any]) -> Iterator[Markup]:
    """The most different pair, the mean over all pairs, and what a score tells about all groups at once."""
    if attribute["largest"]:
        yield largest_table(attribute)
    if told := attribute["information"]:
        chance = None if told["p_value"] is None else f" {sentence(chance_shows(told))}"
        yield tag("p", sentence(told["interpretation"]), chance)


def _impossibility(attribute: dict[str, Any]) -> Iterator[Markup]:
    if attribute["impossibility"]["undefined"]:
        return
    told, lines = impossibility(attribute)
    yield tag("p", told)
    if lines:
        yield tag("ul", *(tag("li", line) for line in lines))
