"""Many classes for a terminal: an audit of them, and a single aggregate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.classes.checklist import lacking
from evenhand.analyses.classes.rate_grid import fitted, joint_of, matrix_of, undefined_of
from evenhand.errors import shown_name
from evenhand.inference.significance import at_floor
from evenhand.measures.aggregation import METRICS
from evenhand.report.console import headed, indented, left_out, points
from evenhand.report.format import interval, number, p_value, p_values, p_words

MOST_GROUPS = 30


def render(document: dict[str, Any]) -> RenderableType:
    """The audit as rich renderables."""
    parts: list[RenderableType] = [Text("Evenhand audit of classes", style="bold"), *_facts(document["data"])]
    for attribute in document["attributes"]:
        parts += _shown(attribute, document["options"])
    return Group(*parts, *points("Notes", document["notes"]))


def _shown(attribute: dict[str, Any], options: dict[str, Any]) -> Iterator[RenderableType]:
    yield from headed(attribute["name"])
    yield _groups(attribute, options)
    yield from _about_groups(attribute)
    yield Text()
    yield from _headline(attribute["aggregate"], options, attribute["name"])
    yield Text()
    yield from matrix_of(attribute, options)
    yield from undefined_of(attribute, options)
    yield Text()
    yield Text("The same of other rates", style="bold")
    yield _others(attribute, options)
    if attribute["worst"]:
        yield Text()
        yield Text("Groups farthest from everybody of their class", style="bold")
        yield _worst(attribute)
        yield indented("p: adjusted for all classes and groups (Holm, exact tests)", style="dim")
    yield Text()
    yield from _checklist(attribute["checklist"])
    yield from joint_of(attribute, options)


def _grid(*names: str, text: int = 1) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i, name in enumerate(names):
        grid.add_column(name, justify="left" if i < text else "right", no_wrap=True, overflow="ellipsis")
    return grid


def _groups(attribute: dict[str, Any], options: dict[str, Any]) -> Grid:
    level = f"{100 * options['confidence']:g}%"
    grid = _grid("group", "n", "accuracy", level, "macro-F1", level)
    shown = sorted(attribute["groups"], key=lambda g: -g["n"])[:MOST_GROUPS]
    for g in attribute["groups"]:
        if g not in shown:
            continue
        left = f" (−{g['left_out']:,})" if g["left_out"] else ""
        grid.add_row(
            Text(shown_name(g["name"], 26)), f"{g['n']:,}{left}", _number(g["accuracy"]["value"]),
            _interval(g["accuracy"]["ci"]), _number(g["macro_f1"]["value"]), _interval(g["macro_f1"]["ci"]),
        )  # fmt: skip
    return fitted(grid, 1)


def _about_groups(attribute: dict[str, Any]) -> Iterator[RenderableType]:
    macro, more = attribute["groups"][0]["macro_f1"], len(attribute["groups"]) - MOST_GROUPS
    if macro["undefined"]:
        yield indented(f"macro-F1 is undefined {macro['undefined']}", style="dim")
    else:
        many = "1 class that has" if macro["classes"] == 1 else f"{macro['classes']:,} classes that have"
        yield indented(f"macro-F1 of the {many} people in every group", style="dim")
    if more > 0:
        what = "1 smaller group is" if more == 1 else f"{more:,} smaller groups are"
        yield indented(f"{what} not shown (--json has them)", style="dim")


def _others(attribute: dict[str, Any], options: dict[str, Any]) -> Grid:
    grid = _grid("rate", "δ", "corrected", f"{100 * options['confidence']:g}% interval", "null 95%", "p")
    for m in attribute["other_metrics"]:
        grid.add_row(
            METRICS[m["metric"]].title, _number(m["value"]), _number(m["corrected"]), _interval(m["ci"]),
            _number(m["null_95"]),
            p_value(m["p_value"], at_most=at_floor(m["p_value"], m["null_method"])),
        )  # fmt: skip
    grid.caption = Text("null 95%: alike groups stay within it 95 times of 100")
    grid.caption_justify = "left"
    return grid


def _worst(attribute: dict[str, Any]) -> Grid:
    grid = _grid("class", "group", "n", "rate", "overall", "difference", "p", "adjusted", text=2)
    cells = {(c["name"], cell["group"]): (c, cell) for c in attribute["classes"] for cell in c["cells"]}
    for d in attribute["worst"]:
        c, cell = cells[d["class"], d["group"]]
        grid.add_row(
            Text(shown_name(d["class"], 20)), Text(shown_name(d["group"], 20)), f"{cell['n']:,}",
            _number(cell["value"]), _number(c["overall"]), number(d["difference"], sign=True), *p_values(d),
        )  # fmt: skip
    return fitted(grid, 2)


def render_aggregate(document: dict[str, Any]) -> RenderableType:
    """An aggregate as rich renderables."""
    parts: list[RenderableType] = [Text("Evenhand aggregate", style="bold"), *_facts(document["data"])]
    parts += [Text(), *_headline(document, document["options"], document["attribute"]), *_second(document), Text()]
    parts += matrix_of(document, document["options"])
    parts += undefined_of(document, document["options"])
    parts += [Text(), *_checklist(document["checklist"]), Text(), *joint_of(document, document["options"])]
    return Group(*parts, *points("Notes", document["notes"]))


def _facts(data: dict[str, Any]) -> Iterator[RenderableType]:
    label, guess = shown_name(data["label"]), shown_name(data["prediction"])
    text = f"{data['rows']:,} people · {data['classes']:,} classes · label {label} · prediction {guess}"
    if data["weight"] is not None:
        text += f" · weight {shown_name(data['weight'])}"
    yield Text(text)
    yield from left_out(data)


def _headline(aggregate: dict[str, Any], options: dict[str, Any], attribute: str) -> Iterator[RenderableType]:
    """The number, and how sure it is."""
    rate = METRICS[options["metric"]].title
    steps = ", ".join(
        f"{'weighted ' if step['weights'] else ''}{step['name']} over {what}"
        for what, step in (("groups", options["across_groups"]), ("classes", options["across_classes"]))
    )
    yield Text(f"{rate}, unit {options['unit']}: {steps} ({shown_name(attribute)})", style="bold")
    if aggregate["undefined"]:
        yield indented(f"undefined {shown_name(aggregate['undefined'], 300)}")
        return
    second = aggregate.get("against")
    own = "" if second is None else f"{shown_name(second['own'], 40)}: "
    yield indented(own + _delta(aggregate, options))
    if aggregate["p_value"] is not None:
        mean, high = (_number(aggregate[k], 4) for k in ("null_mean", "null_95"))
        p = p_words(aggregate["p_value"], at_most=at_floor(aggregate["p_value"], aggregate["null_method"]))
        yield indented(f"null: {mean} on average, {high} at 95%; {p}")
    elif aggregate["untested"] and aggregate["untested"] != "tests were switched off":
        yield indented(f"not tested: {aggregate['untested']}")


def _delta(found: dict[str, Any], options: dict[str, Any]) -> str:
    text = f"δ = {_number(found['value'], 4)}"
    if found["corrected"] is not None:
        text += f"   corrected {_number(found['corrected'], 4)}"
    if found["ci"] is not None:
        text += f"   {100 * options['confidence']:g}% interval {_interval(found['ci'], 4)}"
    return text


def _second(document: dict[str, Any]) -> Iterator[RenderableType]:
    """The second model: no interval of the difference, as nobody knows who was judged by both."""
    second = document["against"]
    if second is None:
        return
    name = shown_name(second["name"], 40)
    if second["undefined"]:
        yield indented(f"{name}: undefined {shown_name(second['undefined'], 300)}")
        return
    yield indented(f"{name}: {_delta(second, document['options'])}")
    if second["difference"] is not None:
        change = number(second["difference"], sign=True, digits=4)
        yield indented(f"{shown_name(second['own'], 40)} minus {name}: {change}, without an interval")


def _checklist(items: list[dict[str, Any]]) -> Iterator[RenderableType]:
    yield Text("Checklist", style="bold")
    for entry in items:
        about = "; ".join(filter(None, (lacking(entry), shown_name(entry["why"], 300))))
        tick = "☑" if entry["ticked"] else "☐"
        yield indented(f"{tick} {entry['item']}: {shown_name(entry['answer'], 300)} ({about})")


def _number(value: float | None, digits: int = 3) -> str:
    return number(value, digits=digits, tiny=True)


def _interval(ends: Sequence[float | None] | None, digits: int = 3) -> str:
    return interval(ends, digits=digits, tiny=True, join=", ", unbounded="∞")
