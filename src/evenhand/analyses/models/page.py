"""The page of several models of the same people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from evenhand.analyses.audit.charts.subject import Subject
from evenhand.analyses.audit.explorer import steps_of
from evenhand.analyses.audit.group_tables import Drawings, estimate, groups_table, measures_tables
from evenhand.analyses.audit.measure_table import about
from evenhand.analyses.audit.method import facts, method
from evenhand.analyses.audit.overview import notes, verdict_line
from evenhand.analyses.audit.page import TOO_WIDE, in_steps
from evenhand.analyses.audit.steps import Steps
from evenhand.analyses.audit.wording import measure_of
from evenhand.analyses.models import panels
from evenhand.analyses.models.panels import Panels
from evenhand.errors import shown_name
from evenhand.measures.performance import PERFORMANCES
from evenhand.measures.registry import find
from evenhand.report.charts.registry import Charts
from evenhand.report.format import interval, number, p_values, percent
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, facts_of, grid, join, name, notes_of, tag
from evenhand.report.page.shell import fitted, page
from evenhand.tables.table import Table

MOST_DIFFERENCES = 60


def candidates_page(
    document: dict[str, Any], charts: Callable[..., Charts], drawn: Mapping[str, Drawings], tables: Mapping[str, Table]
) -> str:
    """Which model to choose, what differs, and every model by itself; `drawn` is what there is to draw of each.

    `tables` hold the people by the score of each model, of which the page tells steps.
    """
    return fitted(lambda room: _page(document, charts, drawn, tables, room))


def _page(
    document: dict[str, Any], charts: Callable[..., Charts], drawn: Mapping[str, Drawings],
    tables: Mapping[str, Table], room: Room,
) -> str:  # fmt: skip
    first = document["candidates"][0]["audit"]
    sections: list[tuple[str, str, Any]] = [
        ("choice", "Which model", join(_choice(document, charts, room))),
        ("scores", "How the models score each group", join(_scores(document, charts, tables, room))),
        ("differences", "What differs on the same people", join(_differences(document))),
    ]
    for i, c in enumerate(document["candidates"]):
        sections.append((f"model-{i}", f"Model {shown_name(c['name'])}", join(_model(c, drawn[c["name"]], room))))
    ids = list(dict.fromkeys(m["id"] for a in first["attributes"] for m in a["measures"]))
    sections += [
        ("measures", "What each measure asks", about(ids, first["options"]["tolerance"])),
        ("method", "How it was computed", join(method(first, room.remarks()))),
    ]
    names = ", ".join(shown_name(c["name"]) for c in document["candidates"])
    lead = facts_of((term, text) for term, text in facts(first) if term not in ("Score", "Favourable decision"))
    return page(f"Which of these models is fairer: {names}", lead, sections, document)


def _choice(document: dict[str, Any], charts: Callable[..., Charts], room: Room) -> Iterator[Markup | None]:
    for t in document["tradeoffs"]:
        best = t["recommended"]
        headline = "No model is recommended" if best is None else f"Recommended: {shown_name(best)}"
        because = tag("p", t["because"])
        yield tag("div", tag("h3", f"{headline}, by {shown_name(t['attribute'])}"), because, class_="finding")
        if any(p["dto"] is not None for p in t["places"]):
            yield room.figure(
                charts(attribute=t["attribute"]).draw("tradeoff"), f"tradeoff by {shown_name(t['attribute'])}"
            )
        yield _places(t)
    yield _performance(document)
    yield from notes_of(document)


def _scores(
    document: dict[str, Any], charts: Callable[..., Charts], tables: Mapping[str, Table], room: Room
) -> Iterator[Markup | None]:
    """Densities and CDFs of all models side by side, as far as people may be told: in steps of scores."""
    audits = {c["name"]: c["audit"] for c in document["candidates"]}
    references = {a["name"]: a["reference"] for a in document["candidates"][0]["audit"]["attributes"]}
    steps = {
        model: steps_of(table, references, audits[model]["data"]["threshold"], room, "coarse")[0]
        for model, table in tables.items()
    }
    for attribute in references:
        told = _in_steps(charts(attribute=attribute).subject.panels, tables, steps)
        for kind in ("pdf", "cdf") if told else ():
            if not panels.lacks(kind, told):
                yield room.figure(getattr(panels, kind)(told), f"plot({kind!r}, attribute={shown_name(attribute)!r})")
        if not told:
            yield tag("p", f"By {shown_name(attribute)}: {TOO_WIDE} Python draws them: plot('cdf')", class_="note")


def _in_steps(every: Panels, tables: Mapping[str, Table], steps: Mapping[str, Steps]) -> Panels:
    """The models of which the reference and another group are known well enough, of groups that all of them know."""
    _, first = every[0]
    knows = {}
    for model, _ in every:
        grouping = next(g for g in tables[model].groupings if g.name == first.attribute.name)
        known = steps[model].drawn(grouping)
        if first.reference in known and len(known) > 1:
            knows[model] = known
    both = frozenset.intersection(*knows.values()) if knows else frozenset()
    told: list[tuple[str, Subject]] = []
    for model, subject in every:
        same = subject if not told else replace(subject, group=told[0][1].group)
        counted = in_steps(same, tables[model], steps[model], both) if model in knows else None
        if counted is not None:
            told.append((model, counted))
    return told


def _places(t: dict[str, Any]) -> Markup:
    title = measure_of({"id": t["fairness"]}).title
    heads = ["model", t["performance"], "fairness", "distance to the optimum", "on the front", "nearest in resamples"]
    rows = [
        [
            name(p["model"]), *(_sorted(p[k], number(p[k])) for k in ("performance", "fairness", "dto")),
            "yes" if p["on_front"] else "no",
            _sorted(p["best_share"], percent(p["best_share"], digits=0)),
        ]
        for p in t["places"]
    ]  # fmt: skip
    caption = join("Performance and fairness (by ", title, "), groups of ", name(t["attribute"]))
    return grid(caption, heads, rows, class_="sortable")


def _performance(document: dict[str, Any]) -> Markup:
    ids = list(document["candidates"][0]["performance"])
    rows = [[name(c["name"]), *(estimate(c["performance"][id_]) for id_ in ids)] for c in document["candidates"]]
    heads = [PERFORMANCES[id_].title if id_ in PERFORMANCES else id_ for id_ in ids]
    return grid("Performance, with intervals", ["model", *heads], rows)


def _differences(document: dict[str, Any]) -> Iterator[Markup]:
    """The surest first; the rest is in the JSON."""
    against = shown_name(document["against"])
    known = [d for d in document["differences"] if d["difference"] is not None]
    known.sort(key=lambda d: (1.0 if d["p_adjusted"] is None else d["p_adjusted"], -abs(d["difference"])))
    gaps = [d for d in known if d["group"] is not None][:MOST_DIFFERENCES]
    others = [d for d in known if d["group"] is None][:MOST_DIFFERENCES]
    yield tag("p", f"Every model against {against}, paired: the same people are scored by both.")
    heads = ["what", "group", "model", f"of {against}", "of the model", "change", "interval", "p", "adjusted p",
             "better"]  # fmt: skip
    if others:
        yield grid("Performance, the surest difference first", heads, [_difference(d) for d in others])
    yield grid("Sizes of gaps, the surest difference first", heads, [_difference(d) for d in gaps])
    more = len(document["differences"]) - len(gaps) - len(others)
    if more:
        yield tag("p", f"{more:,} more comparisons are in the JSON.", class_="note")


def _difference(d: dict[str, Any]) -> list[Any]:
    measure = find(d["id"])
    title = measure.title if measure else PERFORMANCES[d["id"]].title if d["id"] in PERFORMANCES else d["id"]
    group = "" if d["group"] is None else join(name(d["group"]), " / ", name(d["reference"]))
    better = "not distinguished" if d["better"] is None else name(d["model"] if d["better"] else d["against"])
    return [title, cell(group, class_="words"), name(d["model"]), number(d["other"]), number(d["value"]),
            number(d["difference"], sign=True), interval(d["ci"], sign=True), *p_values(d),
            cell(better, class_="words")]  # fmt: skip


def _model(c: dict[str, Any], drawn: Drawings, room: Room) -> Iterator[Any]:
    document = c["audit"]
    yield tag("p", f"Favourable decision: {shown_name(document['data']['decision_rule'], 120)}")
    yield from (verdict_line(a, named=len(document["attributes"]) > 1) for a in document["attributes"])
    yield from notes(document)
    for attribute in document["attributes"]:
        yield groups_table(attribute, room.most(60), f", model {shown_name(c['name'])}")
        charts = drawn.charts(attribute=attribute["name"])
        if not charts.lacks("forest"):
            what = f"forest by {shown_name(attribute['name'])}, model {shown_name(c['name'])}"
            yield room.figure(charts.draw("forest"), what)
        tables = measures_tables(drawn, attribute, document["options"]["confidence"], room)
        yield tag("details", tag("summary", "Every measure, by ", name(attribute["name"])), *tables)


def _sorted(value: float | None, text: str) -> Markup:
    """A number in a table that sorts."""
    return cell(text, data_value="NaN" if value is None else value)
