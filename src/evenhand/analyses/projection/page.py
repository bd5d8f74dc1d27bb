"""The page of a projection test, or of several: what was found, who would have to move how far, and charts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.projection.charts import CHARTS
from evenhand.analyses.projection.document import points
from evenhand.analyses.projection.landscape import CHARTS as LANDSCAPE
from evenhand.errors import shown_name
from evenhand.report.charts.registry import Charts
from evenhand.report.format import number, p_value, sentence
from evenhand.report.page.figures import Room
from evenhand.report.page.markup import Markup, facts_of, grid, join, name, notes_of, repeated, tag
from evenhand.report.page.shell import fitted, page

Document = dict[str, Any]
Section = tuple[str, str, Any]


def projection_page(document: Document) -> str:
    """The whole result as one page."""
    return fitted(lambda room: _page(document, room))


def _page(document: Document, room: Room) -> str:
    first = _tests(document)[0]
    parts = sections(document, room)
    remarks = [tag("p", remark, class_="note") for remark in room.remarks()]
    options = {k: first[k] for k in ("criterion", "margin", "level", "beta_norm")}
    how = repeated({"version": document["version"], "options": options})
    method = ("projection-method", "How it was computed", join(tag("p", _HOW), how, remarks))
    scores = len(_scores(document))
    title = f"Are {scores} scores" if scores > 1 else f"Is {shown_name(first['data']['score'])}"
    title += " fair, and who would have to move?"
    return page(title, facts_of(_facts(document)), [*parts, method], document)


def sections(document: Document, room: Room) -> list[Section]:
    """What a page says of it, from the document alone."""
    tests = _tests(document)
    if "tests" not in document:
        return _one(document, room, "projection", "Projection test")
    found = [tag("div", tag("p", sentence(document["interpretation"])), class_="finding")]
    there = Charts(LANDSCAPE, document)
    charts = [room.figure(there.draw(chart), f"plot({chart!r})") for chart in there.names()]
    drawn = tag("div", charts, class_="charts") if charts else None
    together = ("projection", "Projection tests", join(found, _all(document), notes_of(document), drawn))
    parts = [
        part
        for place, test in enumerate(tests, 1)
        for part in _one(test, room, f"projection-of-{place}", f"{_scored(document, place)}{shown_name(test['group'])}")
    ]
    return [together, *parts]


def _tests(document: Document) -> list[Document]:
    tests: list[Document] = document.get("tests", [document])
    return tests


def _scores(document: Document) -> list[str]:
    """What was tested: columns, or models by their numbers."""
    tests, along = _tests(document), document.get("along")
    names = list(dict.fromkeys(shown_name(test["data"]["score"]) for test in tests))
    if len(names) > 1 or not along:
        return names
    return [f"{shown_name(along['name'])} {value:g}" for value in dict.fromkeys(along["values"])]


def _scored(document: Document, place: int) -> str:
    """Which score, in the heading of a test."""
    along = document["along"]
    if along:
        return f"{shown_name(along['name'])} {along['values'][place - 1]:g}: "
    return f"{shown_name(document['tests'][place - 1]['data']['score'])}: "


def _one(document: Document, room: Room, id_: str, heading: str) -> list[Section]:
    there = Charts(CHARTS, document)
    charts = [room.figure(there.draw(chart), f"plot({chart!r})") for chart in there.names()]
    finding = tag("div", tag("p", sentence(document["interpretation"])), class_="finding")
    content = join(finding, _numbers(document), _moves(document), notes_of(document))
    return [(id_, heading, join(content, tag("div", charts, class_="charts")))]


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    first = _tests(document)[0]
    data = first["data"]
    yield "Criterion", first["criterion"].replace("_", " ")
    yield "People", f"{first['n']:,}" if "tests" not in document else f"{len(document['tests'])} comparisons"
    kind = f"{'risk ' if data['risk'] else ''}{'logit' if data['logits'] else 'score'}"
    yield "Score", f"{kind} {', '.join(_scores(document))}"
    yield "Compared", f"{shown_name(first['attribute'])}, with {shown_name(first['reference'])}"
    if data["label"]:
        yield "Label", f"{shown_name(data['label'])}, favourable {shown_name(data['favorable'])}"
    for reason, n in data["left_out"].items():
        yield "Left out", f"{n:,} rows {shown_name(reason, 100)}"
    if first["margin"]:
        yield "Margin", f"a gap of mean scores up to {first['margin']:g} is none"


def _numbers(document: Document) -> Markup:
    space = "features" if document["space"] == "features" else "logits (score space)"
    rows: list[list[Any]] = [
        ["statistic", f"{document['statistic']:.4g}"],
        [f"critical value at {100 * document['level']:g} %", f"{document['critical_value']:.4g}"],
        [f"p-value ({document['p_method']})", p_value(document["p_value"])],
    ]
    if document["p_method"] == "permutation":
        rows.append(["p-value by the limit law", p_value(document["p_limit"])])
    elif document["p_permuted"] is not None:
        rows.append(["p-value by permuting groups", p_value(document["p_permuted"])])
    if document["p_within"] is not None:
        rows.append([f"p-value of a gap of {document['margin']:g} or more", p_value(document["p_within"])])
    rows.append([f"distance to the nearest fair distribution, in {space}", f"{document['distance']:.4g}"])
    return grid("The test", ["", "value"], rows)


def _moves(document: Document) -> Markup:
    rows: list[list[Any]] = [
        [
            name(g["name"]), "all" if part["label"] == "any" else part["label"], f"{g['n']:,}", number(g["mean"]),
            number(g["mean_after"]), points(g["mean_after"] - g["mean"], sign=True), points(g["largest_move"]),
        ]
        for part in document["labels"]
        for g in part["groups"]
    ]  # fmt: skip
    heads = ["group", "label", "people", "mean", "if fair", "mean move (points)", "largest move (points)"]
    return grid("Who would have to move, in percentage points of the score", heads, rows)


def _all(document: Document) -> Markup:
    along = document["along"]
    told = along["values"] if along else [test["data"]["score"] for test in document["tests"]]
    rows: list[list[Any]] = [
        [
            name(test["group"]), f"{one:.6g}" if along else name(one), f"{test['n']:,}", f"{test['distance']:.3g}",
            p_value(test["p_value"]), p_value(test["p_adjusted"]), "rejected" if test["rejects_adjusted"] else "",
        ]
        for test, one in zip(document["tests"], told, strict=True)
    ]  # fmt: skip
    heads = ["group", name(along["name"]) if along else "score", "people of both", "distance", "p", "adjusted", ""]
    return grid(f"Against {shown_name(document['reference'])}, adjusted by Holm", heads, rows)


_HOW = (
    "The statistic is the sum of the squared distances everybody would have to move, on the cheapest way to make the "
    "criterion hold (Taskesen, Blanchet, Kuhn & Nguyen 2021). See docs/analyses/projection.md."
)
