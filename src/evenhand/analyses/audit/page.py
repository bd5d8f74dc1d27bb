"""The page of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.analyses.audit import explorer
from evenhand.analyses.audit.attachments import documents, sections as other_sections
from evenhand.analyses.audit.charts.subject import Subject, furthest
from evenhand.analyses.audit.findings import MOST_TOLD, Finding, findings, remaining, summary
from evenhand.analyses.audit.measure_table import about, comparison, roc_sources
from evenhand.analyses.audit.steps import LEAST, Steps
from evenhand.analyses.audit.wording import (
    chance_shows,
    impossibility,
    measure_of,
    rates_of,
    sentence,
    size,
    tolerances,
)
from evenhand.errors import one_of, shown_name
from evenhand.inference.null import Null
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.registry import Charts, Kind
from evenhand.report.format import interval, number
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, facts_of, grid, join, name, notes_of, tag
from evenhand.report.page.shell import fitted, page
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from evenhand.analyses.audit.audit import Audit

MOST_TABLES = 12
"""Groups of one attribute whose measures are shown one by one."""
MOST_ROWS = 200
EMBED = ("coarse", "exact", "none")
"""What a page holds of scores: steps of a few people, every score, or steps and no explorer."""
FEWEST_STOPS = 3
WITHOUT_SCORES = ("forest", "groups", "null")


class Drawings(NamedTuple):
    """What pages draw of an audit besides its document."""

    charts: Callable[..., Charts]
    """Of an attribute, and of a group."""
    nulls: Mapping[tuple[str, str, str], Null | None]
    """The distribution behind each p-value, by attribute, measure and group."""


def drawings(audit: Audit) -> Drawings:
    """What there is to draw of an audit."""
    return Drawings(audit.charts, {(a.name, g.id, g.group): g.null for a in audit.attributes for g in a.measures})


def audit_page(document: dict[str, Any], drawn: Drawings, table: Table, also: Any = (), embed: str = EMBED[0]) -> str:
    """The whole audit as one page, with the sections of other results; the table is what the explorer counts."""
    one_of("embed (--embed)", embed, EMBED)
    others = documents(also)
    return fitted(lambda room: _page(document, drawn, table, others, embed, room))


def _page(
    document: dict[str, Any], drawn: Drawings, table: Table, others: list[dict[str, Any]], embed: str, room: Room
) -> str:
    many = len(document["attributes"]) > 1
    sections: list[tuple[str, str, Any]] = [("verdict", "What was found", verdict(document))]
    references = {a["name"]: a["reference"] for a in document["attributes"]}
    counts, data = None, document["data"]
    if data["score_range"] is not None:
        steps, counts = explorer.steps_of(table, references, data["threshold"], room, embed)
        explored = explorer.section(table, references, steps, counts, data["decision_rule"], room)
        drawn = drawn if steps.least == 1 else drawn._replace(charts=partial(_stepped, drawn.charts, table, steps))
        if steps.least > 1 and not steps.stops.exact and len(steps.stops.scores) < FEWEST_STOPS:
            counts, explored = None, tag("p", _TOO_FEW, class_="note")
        if embed == "none":
            counts = None
        else:
            sections.append(("explorer", "Try another threshold", explored))
    for i, attribute in enumerate(document["attributes"]):
        heading = f"By {shown_name(attribute['name'])}" if many else f"Groups of {shown_name(attribute['name'])}"
        sections.append((f"by-{i}", heading, join(_attribute(drawn, attribute, document, room))))
    ids = list(dict.fromkeys(m["id"] for a in document["attributes"] for m in a["measures"]))
    sections += [
        *other_sections(others, room),
        ("measures", "What each measure asks", about(ids, document["options"]["tolerance"])),
        ("method", "How it was computed", join(method(document, room.remarks()))),
    ]
    document = {**document, "also": others} if others else document
    return page(title_of(document), facts_of(facts(document)), sections, document, counts=counts)


_TOO_FEW = (
    f"No other threshold can be shown: between two of them there would be fewer than {LEAST} people of a group and "
    "outcome. --embed exact shows every score."
)


def _stepped(charts: Callable[..., Charts], table: Table, steps: Steps, **about: Any) -> Charts:
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


def title_of(document: dict[str, Any]) -> str:
    """What was audited, in a line."""
    data = document["data"]
    groups = ", ".join(shown_name(a["name"]) for a in document["attributes"][:3])
    return f"Fairness of {shown_name(data['score'] or data['prediction'])} by {groups}"


def facts(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What was audited."""
    data = document["data"]
    yield "People", f"{data['rows']:,}"
    left = [f"{count:,} rows {shown_name(reason, 100)}" for reason, count in data["left_out"].items()]
    yield "Left out", "; ".join(left) or "nobody"
    if data["score"] is not None:
        lo, hi = data["score_range"]
        kind = "high is bad for the person" if data["risk"] else "high is good for the person"
        yield "Score", f"{shown_name(data['score'])}, from {lo:.12g} to {hi:.12g}, {kind}"
    if data["label"] is not None:
        yield "Outcome", f"{shown_name(data['label'])}, favourable: {shown_name(data['favorable'])}"
    yield "Favourable decision", shown_name(data["decision_rule"], 120)
    if stated := tolerances(document["options"]):
        yield "Tolerances", stated
    for a in document["attributes"]:
        yield f"Groups of {shown_name(a['name'])}", _sizes(a)
    if data["weight"] is not None:
        yield "Weights", shown_name(data["weight"])
    if data["cluster"] is not None:
        yield "Clusters", f"{data['clusters']:,} of {shown_name(data['cluster'])}"


def _sizes(attribute: dict[str, Any]) -> str:
    """The largest groups, with their base rates."""
    groups = sorted(attribute["groups"], key=lambda g: -g["n"])
    told = []
    for g in groups[:8]:
        base = g["rates"].get("base_rate", {"value": None})["value"]
        told.append(f"{shown_name(g['name'])} {g['n']:,}" + ("" if base is None else f" (base rate {number(base)})"))
    more = f" and {len(groups) - 8:,} more" if len(groups) > 8 else ""
    return ", ".join(told) + more


def verdict(document: dict[str, Any]) -> Iterator[Markup]:
    """What was found, in sentences."""
    many = len(document["attributes"]) > 1
    for attribute in document["attributes"]:
        told = findings(attribute)
        if many:
            yield tag("h3", summary(told, attribute))
        yield from (_finding(f, "h4" if many else "h3") for f in told[:MOST_TOLD])
        yield from (tag("p", sentence) for sentence in remaining(told))
    yield from notes_of(document)


def _finding(f: Finding, heading: str) -> Markup:
    """What is beyond its tolerance and the null is said at once, the rest on request."""
    told = [tag("li", tag("strong", p.lead), p.rest) for p in f.points if p.shown]
    rest = [tag("li", tag("strong", p.lead), p.rest) for p in f.points if not p.shown]
    more = [tag("ul", *rest) if rest else None, [tag("p", w) for w in f.warnings]]
    return tag(
        "div",
        tag(heading, f.headline),
        tag("p", f.tally),
        tag("ul", *told) if told else None,
        tag("details", tag("summary", "What is within, not settled or explained by chance"), *more)
        if rest or f.warnings
        else None,
        class_=f"finding {f.kind}",
    )


def _attribute(
    drawn: Drawings, attribute: dict[str, Any], document: dict[str, Any], room: Room
) -> Iterator[Markup | None]:
    yield groups_table(attribute, room.most(MOST_ROWS) // len(document["attributes"]))
    yield from _impossibility(attribute)
    told = findings(attribute)
    if told:
        yield tag("div", *_charts(drawn, attribute["name"], told[0].group, room), class_="charts")
    yield from measures_tables(drawn, attribute, document["options"]["confidence"], room)
    if attribute["largest"]:
        yield _largest(attribute)
    if told := attribute["information"]:
        yield tag("h3", "All groups at once")
        chance = None if told["p_value"] is None else f" {sentence(chance_shows(told))}"
        yield tag("p", sentence(told["interpretation"].rstrip(".")), chance)


def measures_tables(drawn: Drawings, attribute: dict[str, Any], confidence: float, room: Room) -> Iterator[Markup]:
    """Every measure of every group: the most affected first, others on request."""
    told = findings(attribute)
    shown = [f for f in told[:MOST_TABLES] if room.table()]
    for place, f in enumerate(shown):
        measures = [m for m in attribute["measures"] if m["group"] == f.group]
        nulls = [drawn.nulls.get((attribute["name"], m["id"], f.group)) for m in measures]
        table = join(comparison(measures, nulls, confidence, room), roc_sources(measures))
        heading = join(name(f.group), " against ", name(attribute["reference"]))
        if place == 0 or len(told) <= 3:
            yield join(tag("h3", heading), table)
        else:
            yield tag("details", tag("summary", "All measures: ", heading), table)
    if len(told) > len(shown):
        yield tag("p", f"The measures of {len(told) - len(shown):,} more groups are in the JSON.", class_="note")


def groups_table(attribute: dict[str, Any], most: int = MOST_ROWS, whose: str = "") -> Markup:
    """Sizes and rates of the groups, to sort."""
    columns = rates_of(attribute)
    shown = sorted(attribute["groups"], key=lambda g: -g["n"])[:most]
    rows, kinds = [], []
    least = next(g["n"] for g in attribute["groups"] if g["name"] == attribute["reference"])
    for g in shown:
        mark = " (reference)" if g["name"] == attribute["reference"] else ""
        left = f" ({g['left_out']:,} left out)" if g["left_out"] else ""
        rates = [estimate(g["rates"][r]) for r in columns]
        rows.append([join(name(g["name"]), mark), cell(f"{g['n']:,}", left, data_value=g["n"]), *rates])
        kinds.append("small" if g["name"] in attribute["too_small"] and g["n"] <= least else None)
    more = len(attribute["groups"]) - len(shown)
    caption = f"Groups of {shown_name(attribute['name'])}{whose}, with the interval of each rate"
    caption += "; too small to conclude anything: in italics" if any(kinds) else ""
    caption += f"; {more:,} smaller groups are not shown" if more else ""
    return grid(caption, ["group", "people", *columns.values()], rows, kinds=kinds, class_="sortable")


def estimate(e: dict[str, Any]) -> Markup:
    """A number above its interval, in a table that sorts."""
    value, ci = e["value"], e["ci"]
    bounds = None if ci is None or None in ci else tag("div", interval(ci), class_="muted")
    return cell(number(value), bounds, title=e["undefined"], data_value="NaN" if value is None else value)


def _charts(drawn: Drawings, attribute: str, group: str, room: Room) -> Iterator[Markup | None]:
    pair, everyone = drawn.charts(attribute=attribute, group=group), drawn.charts(attribute=attribute)
    for chart in pair.kinds:
        about = everyone if chart == "groups" else pair
        if chart != "null" and not about.lacks(chart):  # null distributions are in the tables
            yield room.figure(about.draw(chart), f"plot({chart!r}, attribute={shown_name(attribute)!r})")
    if "cdf" not in pair.kinds:
        yield tag("p", f"{TOO_WIDE} --embed exact draws them.", class_="note")


TOO_WIDE = (
    f"Charts over scores are not drawn: so that every point stands for at least {LEAST} people of each group and "
    "outcome, they would have too few points."
)


def _impossibility(attribute: dict[str, Any]) -> Iterator[Markup]:
    if attribute["impossibility"]["undefined"]:
        return
    lead, lines = impossibility(attribute)
    yield tag("p", lead)
    if lines:
        yield tag("ul", *(tag("li", line) for line in lines))


def _largest(attribute: dict[str, Any]) -> Markup:
    rows = []
    for m in attribute["largest"]:
        measure = measure_of(m)
        pair = "–" if m["pair"] is None else join(name(m["pair"][0]), " and ", name(m["pair"][1]))
        numbers = [size(measure, m["value"]), interval(m["ci"]), size(measure, m["null_95"])]
        means = [size(measure, m["mean"]), interval(m["ci_mean"])]
        rows.append([measure.title, *numbers, cell(pair, class_="words"), *means])
    heads = ["measure", "gap", "interval", "null 95%", "pair", "mean over all pairs", "interval"]
    table = grid("The most different pair of groups and the mean over all pairs, by measure", heads, rows)
    return tag("details", tag("summary", "The most different pair of groups, and the mean over all pairs"), table)


_REPEATED = (
    "The same table, version and options give the same numbers to the last digit. Every number comes from counts of "
    "people by score, group and outcome; no row of the data is in this page."
)


def method(document: dict[str, Any], remarks: list[str]) -> Iterator[Markup]:
    """What it takes to repeat an audit."""
    options = {k: v for k, v in document["options"].items() if v is not None and k != "tolerance"}
    yield tag("p", _REPEATED)
    rows = [["version", document["version"]], ["hash of the table", tag("code", document["data"]["table"])],
            *([k.replace("_", " "), str(v)] for k, v in options.items())]  # fmt: skip
    yield grid("What it takes to repeat this audit", ["what", "value"], [[k, cell(v, class_="words")] for k, v in rows])
    yield tag("h3", "Checklist")
    yield tag("p", "What a report of fairness should state (after Han, Baldwin and Cohn 2023, section 3.4).")
    items = [[k, cell(v, class_="words"), cell(w, class_="words")] for k, v, w in checklist(document)]
    yield grid("Checklist", ["item", "answer", "why"], items)
    yield from (tag("p", remark, class_="note") for remark in remarks)


def checklist(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The choices behind the numbers, said aloud."""
    data, options = document["data"], document["options"]
    for a in document["attributes"]:
        smallest = min(a["groups"], key=lambda g: g["n"])
        yield (
            f"data, by {shown_name(a['name'])}",
            f"{len(a['groups']):,} groups, the smallest {shown_name(smallest['name'])} with {smallest['n']:,} people",
            f"compared with {shown_name(a['reference'])}; whom one compares with decides the sign",
        )
    ids = {m["id"] for a in document["attributes"] for m in a["measures"]}
    yield ("metric", f"{len(ids)} measures, one by one",
           "no single number: they answer different questions and can exclude each other")  # fmt: skip
    yield ("unit", "differences between a group and the reference; ratios where the measure is one",
           "tolerances of 0.1 and 0.8 are conventions: state your own with --tolerance")  # fmt: skip
    yield ("aggregation over groups", "none; of more than two also the most different pair and the mean over pairs",
           "an average would hide the group that fares worst")  # fmt: skip
    drawn = f"{options['bootstrap']:,} resamples, {options['permutations']:,} permutations"
    yield ("uncertainty",
           f"{100 * options['confidence']:g}% intervals, {drawn}, p-values adjusted for all comparisons (Holm)",
           "samples never show parity exactly")  # fmt: skip
    others = "no score is known, so no other threshold can be tried"
    if data["score"] is not None:
        others = "other thresholds: see the explorer and the charts over scores"
    yield "decision", shown_name(data["decision_rule"], 120), others
