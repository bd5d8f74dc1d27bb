"""What the page and the Markdown of many classes say: whether groups differ, in which class, then every rate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.analyses.classes.checklist import lacking
from evenhand.analyses.classes.rate_grid import largest, overall_rate, rate, undefined_lines, worst_off
from evenhand.errors import shown_name
from evenhand.inference.significance import at_floor
from evenhand.measures.aggregation import METRICS
from evenhand.report.contents import (
    Cell,
    Contents,
    Mood,
    Name,
    Number,
    Part,
    Points,
    Section,
    Sheet,
    capital,
    count,
    figure,
    left_out,
    several,
)
from evenhand.report.format import interval, number, p_value, p_values, p_words

MOST_GROUPS = 12
"""So many groups side by side."""
MOST_CLASSES = 300
LEAST = 10
"""Without tests, a group of fewer people is not called the farthest: one person may be anywhere."""
MOST_ATTRIBUTES = 5
"""So many attributes are told in the answer."""
Document = dict[str, Any]


def contents(document: Document) -> Contents:
    """The audit of many classes, attribute by attribute."""
    options, attributes = document["options"], document["attributes"]
    names = [shown_name(a["name"]) for a in attributes]
    first = min(attributes, key=lambda a: _chance(a["aggregate"]))
    answer, mood = _answer(first["aggregate"], options, len(attributes))
    by = f", by {shown_name(first['name'])}" if len(attributes) > 1 and mood == "bad" else ""
    said = [text for a in attributes[:MOST_ATTRIBUTES] for text in _said(a, options, len(attributes) > 1)]
    return Contents(
        title=f"Fairness of {shown_name(document['data']['prediction'])} by {', '.join(names[:3])}",
        about=list(_about(document["data"])),
        answer=answer + by,
        said=said,
        mood=mood,
        sections=[section for i, a in enumerate(attributes) for section in _sections(a, options, i)],
        notes=document["notes"],
        options=_repeated(document),
    )


def aggregate_contents(document: Document) -> Contents:
    """One number of many classes and groups, and what it is made of."""
    options = document["options"]
    answer, mood = _answer(document, options)
    attribute = shown_name(document["attribute"])
    rates = Section("rates", "Rates by class and group", [*_rates(document, options), *_people(document, options)])
    return Contents(
        title=f"{_rate(options)} of {shown_name(document['data']['prediction'])} by {attribute}",
        about=list(_about(document["data"])),
        answer=answer,
        said=[capital(document["interpretation"]), *_furthest(document), *_second(document)],
        mood=mood,
        sections=[rates, Section("checklist", "Checklist", [_checklist(document["checklist"], "")])],
        notes=document["notes"],
        options=_repeated(document),
    )


# ---- the answer ------------------------------------------------------------------------------------------------------


def _chance(aggregate: Document) -> float:
    return 2.0 if aggregate["p_value"] is None else float(aggregate["p_value"])


def _rate(options: Document) -> str:
    return capital(METRICS[options["metric"]].title)


def _answer(aggregate: Document, options: Document, attributes: int = 1) -> tuple[str, Mood]:
    """Whether groups differ more than by chance, by the attribute whose p-value is the smallest of so many."""
    what = METRICS[options["metric"]].title
    if aggregate["value"] is None:
        return f"The {what} of groups cannot be compared", "warn"
    if aggregate["p_value"] is None:
        return f"The {what} was compared and not tested", "warn"
    adjusted = min(attributes * aggregate["p_value"], 1.0)
    p = p_words(adjusted, at_most=at_floor(aggregate["p_value"], aggregate["null_method"]))
    p += f", adjusted for {attributes:,} attributes" if attributes > 1 else ""
    if adjusted <= 1 - options["confidence"]:
        return f"Groups differ in the {what}, and not by chance ({p})", "bad"
    return f"No difference in the {what} is shown between groups ({p})", "plain"


def _said(a: Document, options: Document, several_: bool) -> Iterator[str]:
    by = f"By {shown_name(a['name'])}: " if several_ else ""
    yield by + (a["interpretation"] if several_ else capital(a["interpretation"]))
    yield from _furthest(a)


def _furthest(a: Document) -> Iterator[str]:
    """The class and group farthest from everybody of the class, in numbers of people."""
    cells = [(c, cell) for c in a["classes"] for cell in c["cells"] if cell["difference"] is not None]
    tested = [(c, cell) for c, cell in cells if cell.get("p_value") is not None]
    enough = [(c, cell) for c, cell in cells if cell["n"] >= LEAST]
    if tested:
        c, cell = min(tested, key=lambda pair: (pair[1]["p_value"], -abs(pair[1]["difference"])))
    elif enough:
        c, cell = max(enough, key=lambda pair: abs(pair[1]["difference"]))
    else:
        return
    adjusted = cell.get("p_adjusted")
    sure = "" if adjusted is None else f" ({p_words(adjusted)}, adjusted for all classes and groups)"
    where = f"{shown_name(cell['group'])} in {shown_name(c['name'])}"
    own = f"{number(cell['value'])} ({several(cell['n'], 'person', 'people')})"
    yield f"Farthest from its class is {where}: {own} against {number(c['overall'])} overall{sure}."


def _second(document: Document) -> Iterator[str]:
    """The second model: no interval of the difference, as nobody knows who was judged by both."""
    second = document["against"]
    if second is None:
        return
    name = shown_name(second["name"])
    if second["undefined"]:
        yield f"{name}: undefined {shown_name(second['undefined'], 300)}."
        return
    ends = "" if second["ci"] is None else f" (interval {_interval(second['ci'])})"
    middle = "" if second["corrected"] is None else f", corrected {_figure(second['corrected']).text}"
    yield f"{name}: {_figure(second['value']).text}{middle}{ends}."
    if second["difference"] is not None:
        change = number(second["difference"], sign=True, digits=4)
        yield f"{shown_name(second['own'])} minus {name}: {change}, without an interval."


def _about(data: Document) -> Iterator[str]:
    yield f"{data['rows']:,} people"
    yield several(data["classes"], "class", "classes")
    yield f"outcome {shown_name(data['label'])}"
    yield f"prediction {shown_name(data['prediction'])}"
    if data["weight"] is not None:
        yield f"weight {shown_name(data['weight'])}"
    yield from left_out(data)


def _repeated(document: Document) -> Document:
    steps = {
        key: {k: v for k, v in document["options"][key].items() if v is not None}
        for key in ("across_groups", "across_classes")
    }
    return {"table": document["data"]["table"], **document["options"], **steps}


# ---- tables ----------------------------------------------------------------------------------------------------------


def _sections(a: Document, options: Document, i: int) -> Iterator[Section]:
    """An attribute: groups, rates, other rates, who is farthest, and the choices behind it."""
    by = shown_name(a["name"])
    yield Section(f"groups-{i}", f"Groups of {by}", [_groups(a, options)])
    yield Section(f"rates-{i}", f"Rates by class and {by}", [*_rates(a, options), *_people(a, options)])
    about = [*([_worst(a)] if a["worst"] else []), _others(a, options)]
    yield Section(f"others-{i}", f"Who is farthest, and other rates, by {by}", about)
    yield Section(f"checklist-{i}", f"Checklist, by {by}", [_checklist(a["checklist"], f", by {by}")], minor=i > 0)


def _groups(a: Document, options: Document) -> Sheet:
    level = f"{100 * options['confidence']:g}% interval"
    rows: list[list[Cell]] = [
        [
            Name(g["name"]), count(g["n"]), count(g["left_out"]), figure(g["accuracy"]["value"]),
            interval(g["accuracy"]["ci"]), figure(g["macro_f1"]["value"]), interval(g["macro_f1"]["ci"]),
        ]
        for g in sorted(a["groups"], key=lambda g: -g["n"])
    ]  # fmt: skip
    macro = a["groups"][0]["macro_f1"]
    legend = (
        f"Macro-F1 is undefined {macro['undefined']}." if macro["undefined"]
        else f"Macro-F1 of {several(macro['classes'], 'class', 'classes')} that have people in every group."
    )  # fmt: skip
    heads = ("group", "people", "left out", "accuracy", f"accuracy, {level}", "macro-F1", f"macro-F1, {level}")
    return Sheet(f"Groups of {shown_name(a['name'])}, the largest first", heads, rows, (), legend, True)


def _rates(a: Document, options: Document) -> Iterator[Part]:
    """The rate by class and group, the overall one, and what the first step makes of it."""
    places, (shown, _) = largest(a["groups"], MOST_GROUPS), worst_off(a["classes"], options, MOST_CLASSES)
    groups = (shown_name(a["groups"][g]["name"], 30) for g in places)
    heads = ["class", "people", "overall", *groups, "step over groups"]
    rows: list[list[Cell]] = [
        [
            Name(c["name"]), count(c["n"]), Number(overall_rate(c), c["overall"]),
            *(Number(rate(c["cells"][g]), c["cells"][g]["value"]) for g in places), figure(c["value"]),
        ]
        for c in shown
    ]  # fmt: skip
    yield Sheet(
        f"{_rate(options)} by class and {_attribute(a)}", heads, rows, (), _hidden(a, len(places), len(shown)), True
    )
    if lines := list(undefined_lines(a, options)):
        yield Points(lines)


def _people(a: Document, options: Document) -> Iterator[Part]:
    """How many people there are of each class in each group, and what share of all they are."""
    places, (shown, _) = largest(a["groups"], MOST_GROUPS), worst_off(a["classes"], options, MOST_CLASSES)
    total = sum(c["n"] for c in a["classes"]) or 1
    heads = ["class", "all", *(shown_name(a["groups"][g]["name"], 30) for g in places)]
    rows: list[list[Cell]] = [
        [Name(c["name"]), _share(c["n"], total), *(_share(c["cells"][g]["n"], total) for g in places)] for c in shown
    ]
    yield Sheet(f"People by class and {_attribute(a)} (% of all)", heads, rows)


def _attribute(a: Document) -> str:
    """The attribute of an aggregate, or of a part of an audit."""
    return shown_name(a["name"] if "name" in a else a["attribute"])


def _share(n: float, total: float) -> Number:
    return Number(f"{n:,.15g} ({100 * n / total:.1f})", n)


def _hidden(a: Document, groups: int, classes: int) -> str | None:
    more = [
        several(n, one, many)
        for n, one, many in (
            (len(a["groups"]) - groups, "smaller group", None),
            (len(a["classes"]) - classes, "more class", "more classes"),
        )
        if n
    ]
    return f"{' and '.join(more)} are in the JSON." if more else None


def _worst(a: Document) -> Sheet:
    cells = {(c["name"], cell["group"]): (c, cell) for c in a["classes"] for cell in c["cells"]}
    rows: list[list[Cell]] = []
    for d in a["worst"]:
        c, cell = cells[d["class"], d["group"]]
        rows.append([
            Name(d["class"]), Name(d["group"]), count(cell["n"]), figure(cell["value"]), figure(c["overall"]),
            figure(d["difference"], sign=True), *p_values(d),
        ])  # fmt: skip
    heads = ("class", "group", "people", "rate", "overall", "difference", "p", "adjusted p")
    legend = "Adjusted for all classes and groups (Holm, exact tests)."
    return Sheet(f"Groups of {shown_name(a['name'])} farthest from their class", heads, rows, ("group",), legend)


def _others(a: Document, options: Document) -> Sheet:
    rows: list[list[Cell]] = [
        [
            METRICS[m["metric"]].title, _figure(m["value"]), _figure(m["corrected"]), _interval(m["ci"]),
            _figure(m["null_95"]),
            p_value(m["p_value"], at_most=at_floor(m["p_value"], m["null_method"])),
        ]
        for m in a["other_metrics"]
    ]  # fmt: skip
    heads = ("rate", "δ", "corrected", f"{100 * options['confidence']:g}% interval", "null 95%", "p")
    legend = "Corrected: without what noise adds. Null 95%: groups that are alike stay within it 95 times of 100."
    return Sheet(f"The same of other rates, by {shown_name(a['name'])}", heads, rows, (), legend)


def _checklist(items: list[Document], by: str) -> Sheet:
    rows: list[list[Cell]] = [
        [
            f"{'☑' if entry['ticked'] else '☐'} {entry['item']}", shown_name(entry["answer"], 300),
            "; ".join(filter(None, (lacking(entry), shown_name(entry["why"], 300)))),
        ]
        for entry in items
    ]  # fmt: skip
    caption = f"What a report should state{by} (after Han, Baldwin and Cohn 2023, section 3.4)"
    return Sheet(caption, ("item", "answer", "why"), rows, ("answer", "why"))


def _figure(value: float | None) -> Number:
    return figure(value, tiny=True)


def _interval(ends: Any) -> str:
    return interval(ends, tiny=True, unbounded="∞")
