"""The page of a monitoring report: what has changed, and every measure over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.audit.key_measures import key_measures
from evenhand.analyses.audit.measure_table import about
from evenhand.analyses.audit.wording import gap
from evenhand.analyses.monitor.charts import charts
from evenhand.analyses.monitor.new_groups import compared
from evenhand.analyses.monitor.text import title
from evenhand.errors import shown_name
from evenhand.measures.registry import find
from evenhand.report.format import interval
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, facts_of, grid, join, name, notes_of, repeated, tag
from evenhand.report.page.shell import fitted, page

MOST_CHARTS = 12
MOST_ALARMS = 30
MOST_CHANGES = 30
MOST_PERIODS = 400

Comparison = tuple[str, str, str]
"""Attribute, measure and group."""


def monitoring_page(document: dict[str, Any]) -> str:
    """Alarms, charts over time, and a table of periods."""
    return fitted(lambda room: _page(document, room))


def _page(document: dict[str, Any], room: Room) -> str:
    shown = _shown(document)
    figures = [
        room.figure(charts(document, group, attribute).draw(id_), f"plot({id_!r}, {shown_name(group)!r})")
        for attribute, id_, group in shown[:MOST_CHARTS]
    ]
    remarks = [tag("p", remark, class_="note") for remark in room.remarks()]
    sections: list[tuple[str, str, Any]] = [
        ("alarms", "What has changed", join(_alarms(document))),
        ("charts", "Over time", tag("div", figures, class_="charts")),
        ("periods", "Every period", _periods(document, shown, room)),
        (
            "measures",
            "What each measure asks",
            about(list(dict.fromkeys(id_ for _, id_, _ in shown)), document["options"]["tolerance"]),
        ),
        ("method", "How it was computed", join(tag("p", _RULE), repeated(document), remarks)),
    ]
    what = document["data"]["score"] or document["data"]["prediction"]
    return page(f"Fairness of {shown_name(what)} over time", facts_of(_facts(document)), sections, document)


def _shown(document: dict[str, Any]) -> list[Comparison]:
    """What has changed first, then one measure for each question."""
    known = {(c["attribute"], c["id"], c["group"]) for p in document["periods"] for c in p["comparisons"]
             if c["value"] is not None}  # fmt: skip
    there = [(c["attribute"], c["id"], c["group"]) for c in compared(document)]
    there = [c for c in there if c in known]
    alarmed = [(a["attribute"], a["id"], a["group"]) for a in document["alarms"]]
    measures = [m for id_ in dict.fromkeys(id_ for _, id_, _ in there) if (m := find(id_)) is not None]
    data = document["data"]
    ids = key_measures(measures, data["score"] is not None, data["label"] is not None)
    key = [c for c in there if c[1] in ids]
    return list(dict.fromkeys([*(c for c in alarmed if c in there), *key]))


def _facts(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    data, periods = document["data"], document["periods"]
    yield "People", f"{data['rows']:,} in {len(periods):,} periods"
    left = [f"{count:,} rows {shown_name(reason, 100)}" for reason, count in data["left_out"].items()]
    yield "Left out", "; ".join(left) or "nobody"
    if data["time"] is not None:
        yield "Time", f"{shown_name(data['time'])}, every {shown_name(data['every'])}"
    baseline = document["baseline"]
    yield "Baseline", f"{shown_name(baseline['name'], 100)}, {baseline['rows']:,} people"
    for attribute, reference in baseline["references"].items():
        yield f"Groups of {shown_name(attribute)}", f"compared with {shown_name(reference)}"
    yield "Looks", f"{document['looks']:,} of {document['options']['looks']:,} planned"


def _alarms(document: dict[str, Any]) -> Iterator[Markup]:
    chance = f"{100 * document['options']['false_alarms']:g}%"
    if not document["alarms"]:
        text = f"No gap is shown to have changed since the baseline, in {document['looks']:,} looks."
        yield tag("div", tag("h3", "No alarm"), tag("p", text), class_="finding good")
    for c in document["changes"][:MOST_CHANGES]:
        first = c["comparisons"][0]
        what = title(first["id"])
        far = "further from parity" if first["direction"] == "worse" else "nearer to parity"
        head = f"{what[0].upper()}{what[1:]} of {shown_name(first['group'])} is {far} since "
        kind = "good" if c["direction"] == "better" else "bad"
        own = [document["alarms"][i] for i in c["alarms"]]
        yield tag(
            "div", tag("h3", head, name(c["since"])), tag("p", c["interpretation"], _now(first)), *_folded(own),
            class_=f"finding {kind}",
        )  # fmt: skip
    if len(document["changes"]) > MOST_CHANGES:
        yield tag("p", f"{len(document['changes']) - MOST_CHANGES:,} more changes are in the JSON.")
    yield tag("p", f"If nothing changes, the chance of any false alarm over all planned looks is at most {chance}.",
              class_="note")  # fmt: skip
    yield from notes_of(document)


def _folded(alarms: list[dict[str, Any]]) -> Iterator[Markup]:
    """The alarms of a change."""
    if alarms:
        many = f"{len(alarms)} alarm{'' if len(alarms) == 1 else 's'}"
        texts = [tag("li", a["interpretation"], _lasted(a)) for a in alarms[:MOST_ALARMS]]
        more = [tag("li", f"{len(alarms) - MOST_ALARMS:,} more are in the JSON")] if len(alarms) > MOST_ALARMS else []
        yield tag("details", tag("summary", many), tag("ul", [*texts, *more]))


def _lasted(a: dict[str, Any]) -> str:
    return f" Seen at {a['looks']:,} looks, the last {shown_name(a['last'])}." if a["looks"] > 1 else ""


def _now(a: dict[str, Any]) -> str:
    """Who fares how since the change, where a gap has a direction."""
    measure = find(a["id"])
    if measure is None or not (measure.signed or measure.scale == "ratio") or a["after"] is None:
        return ""
    gap = a["after"] - (1 if measure.scale == "ratio" else 0)
    how = measure.more if gap > 0 else measure.less
    return f" Since then {shown_name(a['group'])} {how} than {shown_name(a['reference'])}." if gap else ""


def _periods(document: dict[str, Any], shown: list[Comparison], room: Room) -> Markup:
    few = shown[:6]
    heads: list[Any] = ["period", "people", "status"]
    heads += [join(title(id_), ", ", name(group, 24)) for _, id_, group in few]
    periods = document["periods"][-room.most(MOST_PERIODS) :]
    rows, kinds = [], []
    for p in periods:
        found = {(c["attribute"], c["id"], c["group"]): c for c in p["comparisons"]}
        rows.append([name(p["name"]), cell(f"{p['rows']:,}", data_value=p["rows"]), p["status"],
                     *(_gap(found.get(key)) for key in few)])  # fmt: skip
        kinds.append("small" if p["undefined"] or p["status"] not in ("tested", "baseline") else None)
    more = len(document["periods"]) - len(periods)
    caption = "Gaps with their intervals; changed since the baseline: in bold"
    return grid(f"{caption}; {more:,} earlier periods are in the JSON" if more else caption, heads, rows, kinds=kinds,
                class_="sortable")  # fmt: skip


def _gap(c: dict[str, Any] | None) -> Markup:
    measure = None if c is None else find(c["id"])
    if c is None or measure is None or c["value"] is None:
        return cell("–", data_value="NaN", title=None if c is None else c["undefined"])
    ci = c["ci"]
    bounds = None if ci is None or None in ci else tag("div", interval(ci), class_="muted")
    number = c["signed"] if measure.signed else c["value"]
    text = gap(measure, c)
    return cell(tag("strong", text, " changed") if c["alarm"] else text, bounds, data_value=number)


_RULE = (
    "Each look compares the last period, the last 4 and the last 16 together with the baseline. All tests of a look "
    "are adjusted by Holm's rule, and every planned look has an equal share of the chance of a false alarm, so that "
    "nothing that comes later changes an earlier verdict. See docs/analyses/monitor.md."
)
