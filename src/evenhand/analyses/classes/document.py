"""The audit of many classes: its document, and its tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from evenhand.analyses.classes.aggregate_document import (
    body,
    checklist,
    checklist_of,
    choices_of,
    data_of,
    facts,
    finding,
    headline,
    notes_of,
    number,
    options_of,
    pair,
)
from evenhand.analyses.classes.text import brief, fitted, indented, interval, joint_of, matrix_of, undefined_of
from evenhand.errors import shown_name
from evenhand.measures.aggregation import METRICS
from evenhand.report.document import header

if TYPE_CHECKING:
    from evenhand.analyses.classes.audit import AttributeClasses, ClassAudit, Deviation

MOST_SHOWN = 10
MOST_GROUPS = 30


def document(audit: ClassAudit) -> dict[str, Any]:
    """The whole audit as plain values."""
    first = audit.attributes[0].aggregate
    return {
        **header("classes"),
        "data": data_of(audit.table),
        "options": {**options_of(first), **choices_of(first)},
        "attributes": [_attribute(a) for a in audit.attributes],
        "notes": list(audit.notes),
    }


def _attribute(a: AttributeClasses) -> dict[str, Any]:
    inside = body(a.aggregate)
    for group, own in zip(inside["groups"], a.performance, strict=True):
        group["accuracy"] = {"value": number(own.accuracy), "ci": pair(own.accuracy_ci)}
        group["macro_f1"] = {
            "value": number(own.macro_f1),
            "ci": pair(own.macro_f1_ci),
            "classes": own.macro_f1_classes,
            "undefined": None if own.macro_f1_classes else "because no class has people in every group",
        }
    tested = {(d.name, d.group): d for d in a.deviations}
    for c in inside["classes"]:
        for cell in c["cells"]:
            d = tested.get((c["name"], cell["group"]))
            cell["p_value"] = None if d is None else d.p_value
            cell["p_adjusted"] = None if d is None else d.p_adjusted
    return {
        "name": a.name,
        "aggregate": finding(a.aggregate),
        "interpretation": a.aggregate.interpretation,
        "other_metrics": [{"metric": o.choices.rate.id, **finding(o)} for o in a.others],
        **inside,
        "worst": [_deviation(d) for d in a.deviations[:MOST_SHOWN]],
        "checklist": checklist(a.aggregate),
    }


def _deviation(d: Deviation) -> dict[str, Any]:
    return {
        "class": d.name,
        "group": d.group,
        "difference": number(d.difference),
        "p_value": d.p_value,
        "p_adjusted": d.p_adjusted,
    }


# ---- terminal ------------------------------------------------------------------------------------------------------


def render(document: dict[str, Any]) -> RenderableType:
    """The document as rich renderables."""
    parts: list[RenderableType] = [Text("Evenhand audit of classes", style="bold"), *facts(document["data"])]
    for attribute in document["attributes"]:
        parts += _shown(attribute, document["options"])
    parts += notes_of(document["notes"])
    return Group(*parts)


def _shown(attribute: dict[str, Any], options: dict[str, Any]) -> Iterator[RenderableType]:
    yield Text()
    yield Rule(Text(shown_name(attribute["name"]), style="bold"), align="left", style="dim")
    yield _groups(attribute, options)
    yield from _about_groups(attribute)
    yield Text()
    yield from headline(attribute["aggregate"], options, attribute["name"])
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
        yield indented("p: adjusted for all classes and groups (Holm, exact tests)", dim=True)
    yield Text()
    yield from checklist_of(attribute["checklist"])
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
            Text(shown_name(g["name"], 26)), f"{g['n']:,}{left}", brief(g["accuracy"]["value"]),
            interval(g["accuracy"]["ci"]), brief(g["macro_f1"]["value"]), interval(g["macro_f1"]["ci"]),
        )  # fmt: skip
    return fitted(grid, 1)


def _about_groups(attribute: dict[str, Any]) -> Iterator[RenderableType]:
    macro, more = attribute["groups"][0]["macro_f1"], len(attribute["groups"]) - MOST_GROUPS
    if macro["undefined"]:
        yield indented(f"macro-F1 is undefined {macro['undefined']}", dim=True)
    else:
        many = "1 class that has" if macro["classes"] == 1 else f"{macro['classes']:,} classes that have"
        yield indented(f"macro-F1 of the {many} people in every group", dim=True)
    if more > 0:
        what = "1 smaller group is" if more == 1 else f"{more:,} smaller groups are"
        yield indented(f"{what} not shown (--json has them)", dim=True)


def _others(attribute: dict[str, Any], options: dict[str, Any]) -> Grid:
    grid = _grid("rate", "δ", f"{100 * options['confidence']:g}% interval", "chance", "p")
    for m in attribute["other_metrics"]:
        p = "–" if m["p_value"] is None else _p(m["p_value"])
        grid.add_row(
            METRICS[m["metric"]].title, brief(m["value"]), interval(m["ci"]), brief(m["null_95"]), p
        )  # fmt: skip
    grid.caption = Text("chance: alone it stays within this, 95 of 100 times")
    grid.caption_justify = "left"
    return grid


def _worst(attribute: dict[str, Any]) -> Grid:
    grid = _grid("class", "group", "n", "rate", "overall", "difference", "p", text=2)
    cells = {(c["name"], cell["group"]): (c, cell) for c in attribute["classes"] for cell in c["cells"]}
    for d in attribute["worst"]:
        c, cell = cells[d["class"], d["group"]]
        grid.add_row(
            Text(shown_name(d["class"], 20)), Text(shown_name(d["group"], 20)), f"{cell['n']:,}",
            brief(cell["value"]), brief(c["overall"]),
            "–" if d["difference"] is None else f"{d['difference']:+.3f}", _p(d["p_adjusted"]),
        )  # fmt: skip
    return fitted(grid, 2)


def _p(value: float) -> str:
    return "<.001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")
