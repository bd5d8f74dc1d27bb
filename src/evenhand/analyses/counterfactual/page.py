"""The page of counterfactual fairness, made from its document alone, so that its sections fit into other pages too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.counterfactual.charts import CHARTS, changes, in_world, worlds
from evenhand.analyses.counterfactual.sentences import (
    FIGURE,
    alternative_words,
    causal_model,
    explained,
    misfit_words,
    other_forms,
    share,
)
from evenhand.errors import shown_name
from evenhand.report.charts.registry import Charts
from evenhand.report.format import interval, number, p_values
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, cell, facts_of, grid, join, name, notes_of, repeated, tag
from evenhand.report.page.shell import fitted, page

MOST_ROWS = 200
Document = dict[str, Any]


def counterfactual_page(document: Document) -> str:
    """What would change for whom, by which paths, and what that rests on."""
    title = f"Counterfactual fairness of {shown_name(document['data']['model'])}"
    return fitted(lambda room: page(title, facts_of(_facts(document)), sections(document, room), document))


def sections(document: Document, room: Room) -> list[tuple[str, str, Any]]:
    """Sections as (id, heading, content)."""
    parts: list[tuple[str, str, Any]] = []
    for place, world in enumerate(document["worlds"]):
        one = len(document["worlds"]) == 1
        heading = "Had they been of another group" if one else f"By {causal_model(world['name'])}"
        parts.append((f"cf-world-{place}", heading, join(_world(document, world, room))))
    if document["ranges"]:
        parts.append(("cf-worlds", "Over all causal models", join(_ranges(document, room))))
    parts.append(("cf-flip", "The plain attribute flip", join(_flip(document, room))))
    parts.append(("cf-method", "How it was computed", join(_method(document, room.remarks()))))
    return parts


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    data = document["data"]
    yield "People", f"{data['rows']:,}"
    left = [f"{count:,} rows without {shown_name(column)}" for column, count in data["left_out"].items()]
    yield "Left out", "; ".join(left) or "nobody"
    groups = ", ".join(f"{shown_name(g['name'])} ({g['n']:,})" for g in data["groups"])
    yield f"Groups of {shown_name(data['attribute'])}", groups
    yield "Model", shown_name(data["model"], 80)
    sign = "below" if data["risk"] else "at or above"
    yield "Favourable decision", f"score {sign} {data['threshold']:g}"


def _world(document: Document, world: dict[str, Any], room: Room) -> Iterator[Any]:
    if world["because"]:
        yield tag("div", tag("h3", "Nothing changes"), tag("p", f"{world['because']}."), class_="finding good")
    else:
        yield _findings(world["answer"], document)
        there = Charts(CHARTS, in_world(document, world["name"]))
        for chart in there.names():
            if chart != "worlds":
                yield room.figure(there.draw(chart), f"plot({chart!r}, {world['name']!r})")
        yield _changes(world["answer"], room)
    yield tag("h3", "What this rests on")
    yield tag("ul", *(tag("li", sentence) for sentence in world["assumptions"]))
    if world["mechanisms"]:
        rows = [
            [name(m["node"]), m["kind"], m["form"], cell(explained(m)), other_forms(m) or "–", misfit_words(m) or "–"]
            for m in world["mechanisms"]
        ]
        caption = "How much of each variable its causes explain, in people its mechanism was not fitted to"
        yield grid(caption, ["variable", "kind", "form", "explained", "other forms", "misfit"], rows)
    for form in dict.fromkeys(a["form"] for a in world["alternatives"]):
        yield tag("p", alternative_words(world, form), class_="note")


def _findings(answer: dict[str, Any], document: Document) -> Markup:
    largest = max(answer["changes"], key=lambda c: c["size"]["value"])
    size = answer["overall"]["size"]
    small = size["ci"] is not None and size["ci"][1] <= document["options"]["tolerance"]
    null = size["floor_95"] is not None and size["value"] <= size["floor_95"]
    kind, head = ("good", "Little or nothing changes") if small or null else ("bad", "Scores depend on the group")
    return tag(
        "div", tag("h3", head), tag("p", largest["interpretation"]), tag("p", answer["overall"]["interpretation"]),
        class_=f"finding {kind}",
    )  # fmt: skip


def _changes(answer: dict[str, Any], room: Room) -> Markup:
    heads = ["had been", "people", "mean change", "mean size", "beyond the tolerance", "decided otherwise",
             "then favourably", "then unfavourably", "p", "adjusted p"]  # fmt: skip
    changes = [*answer["changes"][: room.most(MOST_ROWS)], answer["overall"]]
    rows = []
    for c in changes:
        who = "everybody" if c["group"] is None else join(name(c["group"], 30), " as ", name(c["other"], 30))
        rows.append([
            who, cell(f"{c['people']:,}", data_value=c["people"]), _number(c["mean"], sign=True), _number(c["size"]),
            *(_share(c[figure]) for figure in ("moved", "changed", "favoured", "disfavoured")),
            *(cell(p, title=c["undefined"]) for p in p_values(c)),
        ])  # fmt: skip
    more = len(answer["changes"]) - len(changes) + 1
    caption = "Changes with their intervals; p: of no mean change; adjusted: for all pairs"
    caption += f"; {more:,} more pairs are in the JSON" if more > 0 else ""
    return grid(caption, heads, rows, class_="sortable")


def _number(e: dict[str, Any], sign: bool = False) -> Markup:
    if e["value"] is None:
        return cell("–", data_value="NaN")
    bounds = None if e["ci"] is None else tag("div", interval(e["ci"], sign=sign), class_="muted")
    floor = None if e["floor_95"] is None else tag("div", f"null 95 % {number(e['floor_95'])}", class_="muted")
    return cell(number(e["value"], sign=sign), bounds, floor, data_value=e["value"])


def _share(e: dict[str, Any]) -> Markup:
    if e["value"] is None:
        return cell("–", data_value="NaN")
    ci = e["ci"]
    bounds = None if ci is None else tag("div", f"{share(ci[0])} to {share(ci[1])}", class_="muted")
    return cell(share(e["value"]), bounds, data_value=e["value"])


def _ranges(document: Document, room: Room) -> Iterator[Any]:
    yield room.figure(worlds(in_world(document, None)), "plot('worlds')")
    rows = []
    for r in document["ranges"][: room.most(MOST_ROWS)]:
        who = "everybody" if r["group"] is None else join(name(r["group"], 30), " as ", name(r["other"], 30))
        ends, agree = interval((r["lowest"], r["highest"])), "yes" if r["agree"] else "no"
        rows.append([who, FIGURE[r["figure"]], ends, interval(r["ci"]), agree])
    heads = ["had been", "what", "lowest to highest", "intervals together", "same conclusion"]
    yield grid("The range of answers over all graphs", heads, rows)


def _flip(document: Document, room: Room) -> Iterator[Any]:
    flip = document["flip"]
    yield tag("p", flip["label"][0].upper(), flip["label"][1:], ".", class_="note")
    if flip["answer"] is None:
        yield tag("p", tag("strong", "Undefined: "), flip["undefined"], ".")
        return
    yield tag("p", max(flip["answer"]["changes"], key=lambda c: c["size"]["value"])["interpretation"])
    yield room.figure(changes(in_world(document, "flip")), "plot('changes', 'flip')")
    yield _changes(flip["answer"], room)


_HOW = (
    "Each person's own noise is found from what is observed, the attribute is set to every other group, and all that "
    "depends on it is computed anew. Intervals rest on resampled people with mechanisms fitted to them anew. See "
    "docs/analyses/counterfactual.md."
)


def _method(document: Document, remarks: list[str]) -> Iterator[Any]:
    yield tag("p", _HOW)
    features = ", ".join(shown_name(f) for f in document["data"]["features"])
    yield repeated(document, ("columns of the model", features))
    yield notes_of(document)
    yield from (tag("p", remark, class_="note") for remark in remarks)
