"""An aggregate over classes and groups → its JSON document, and its sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.measures.aggregation import Recipe, Step
from evenhand.measures.aggregation_spec import describe_step
from evenhand.report import format as written
from evenhand.report.document import fields, header, null_fields, number, pair

if TYPE_CHECKING:
    from evenhand.analyses.classes.result import Aggregate

_WHY_METRIC = {
    "tpr": "equal opportunity: people of a class should be recognised equally often",
    "fnr": "equal opportunity: people of a class should be missed equally often",
    "fpr": "predictive equality: other people should be taken for the class equally often",
    "tnr": "predictive equality: other people should be distinguished from the class equally often",
    "ppv": "predictive parity: a prediction should mean the same",
    "fdr": "predictive parity: a prediction should be wrong equally often",
    "npv": "predictive parity: not to be predicted should mean the same",
    "for": "predictive parity: not to be predicted should be wrong equally often",
    "selection_rate": "demographic parity: a class should be predicted equally often",
    "accuracy": "decisions for or against a class should be right equally often",
    "f1": "both kinds of error of a class, misses and false alarms, in one rate",
}
_WHY_UNIT = {
    "gap": "differences between groups, on the scale of the rate itself",
    "score": "how each group fares, on the scale of the rate itself",
    "ratio": "differences between groups in relative terms, as in the four-fifths rule",
}


def document(a: Aggregate) -> dict[str, Any]:
    """The whole result as plain values."""
    return {
        **header("aggregate"),
        "data": data_of(a.table),
        "options": {**options_of(a), **choices_of(a)},
        "attribute": a.grouping.name,
        **finding(a),
        **body(a),
        "checklist": checklist(a),
        "interpretation": a.interpretation,
        "notes": list(a.notes),
    }


def data_of(table: Any) -> dict[str, Any]:
    return {
        "rows": table.rows,
        "left_out": dict(table.left_out),
        **fields(table.meaning, "label prediction weight"),
        "classes": len(table.classes),
        "table": table.digest(),
    }


def options_of(a: Aggregate) -> dict[str, Any]:
    return fields(a.options, "confidence bootstrap permutations seed")


def choices_of(a: Aggregate) -> dict[str, Any]:
    c = a.choices
    return {
        "metric": c.rate.id,
        "unit": c.recipe.unit,
        "across_groups": _step(c.recipe.group, c.recipe.gamma, c.recipe.group_weights, a.groups),
        "across_classes": {
            **_step(c.recipe.classes, 0.0, c.recipe.class_weights, a.classes),
            "positive": a.classes[c.recipe.positive] if c.recipe.classes.kind == "binary" else None,
        },
        "baseline": c.baseline,
        "empty": c.empty,
    }


def _step(step: Step, gamma: float, weights: Any, names: Sequence[str]) -> dict[str, Any]:
    power: Any = step.power
    if power is not None and math.isinf(power):
        power = "inf" if power > 0 else "-inf"
    return {
        "name": step.name,
        "power": power,
        "gamma": gamma if step.kind == "threshold" else None,
        "formula": step.formula,
        "weights": None if weights is None else [number(float(w)) for w in weights],
    }


def finding(a: Aggregate) -> dict[str, Any]:
    """The number, and how sure it is."""
    return {
        "value": number(a.value),
        "ci": pair(a.ci),
        "method": a.result.method if a.ci is not None else None,
        "undefined": a.undefined,
        **null_fields(a.chance, a.excess),
        "untested": a.result.untested,
    }


def body(a: Aggregate) -> dict[str, Any]:
    """Groups, classes with the rate of every group, and what is undefined."""
    from evenhand.analyses.classes.result import left_out_of

    columns = a.columns()
    width = len(a.groups)
    keys = [k for k in columns if k not in ("class", "overall", "share")]
    cells = [{k: columns[k][i] for k in keys} for i in range(len(columns["class"]))]
    for cell in cells:
        cell["n"] = int(cell["n"])
        cell["ci"] = None if cell["ci_low"] is None else [cell.pop("ci_low"), cell.pop("ci_high")]
        cell.pop("ci_low", None), cell.pop("ci_high", None)
    sizes, left = a.table.sizes(a.grouping).tolist(), left_out_of(a.table, a.grouping)
    return {
        "groups": [
            {"name": g, "members": list(m), "n": n, "left_out": out}
            for g, m, n, out in zip(a.groups, a.grouping.members, sizes, left, strict=True)
        ],
        "classes": [
            {
                "name": name,
                "n": int(a.joint[c].sum()),
                "overall": number(float(a.overall[c])),
                "value": number(float(a.beta[c])),
                "ci": pair(a.result.beta_ci[c]),
                "undefined": a.undefined_class(c),
                "cells": cells[c * width : (c + 1) * width],
            }
            for c, name in enumerate(a.classes)
        ],
        "undefined_cells": [{"class": c, "group": g, "because": why} for c, g, why in a.undefined_cells()],
    }


def checklist(a: Aggregate) -> list[dict[str, Any]]:
    """What Han, Baldwin and Cohn 2023, §3.4, ask every report to state."""
    c, total = a.choices, a.table.rows
    recipe, why = c.recipe, c.why
    smallest = a.joint[a.joint > 0].min()
    sizes = (
        f"{total:,} people, {len(a.classes):,} classes × {len(a.groups):,} groups of {shown_name(a.grouping.name)}; "
        f"the smallest non-empty of {a.joint.size:,} cells has {smallest:,}, {int((a.joint == 0).sum()):,} are empty"
    )
    with_weights = {True: ", weighted", False: ""}
    return [
        {"item": "data", "answer": sizes, "why": "the joint distribution of class and group is in classes[].cells[].n"},
        {"item": "metric", "answer": f"{c.rate.id} ({c.rate.title})", "why": why.get("metric", _WHY_METRIC[c.rate.id])},
        {"item": "unit", "answer": recipe.unit, "why": why.get("unit", _WHY_UNIT[recipe.unit])},
        {
            "item": "groups",
            "answer": describe_step(recipe.group, recipe.gamma) + with_weights[recipe.group_weights is not None],
            "why": why.get("groups", _why_step(recipe.group, "group", recipe.unit)),
        },
        {
            "item": "classes",
            "answer": describe_step(recipe.classes, 0.0)
            + (f": {shown_name(a.classes[recipe.positive])}" if recipe.classes.kind == "binary" else "")
            + with_weights[recipe.class_weights is not None],
            "why": why.get("classes", _why_step(recipe.classes, "class", recipe.unit)),
        },
    ]


def _why_step(step: Step, what: str, unit: str) -> str:
    few = {"variance": "groups with larger gaps count more", "difference": "the two groups farthest apart decide",
           "quotient": "the two groups farthest apart decide", "sum": "every group counts the same",
           "threshold": "how many groups keep to a limit",
           "binary": "one class is the outcome that matters"}  # fmt: skip
    if step.kind != "power":
        return few[step.kind]
    assert step.power is not None
    large = "gaps" if unit == "gap" else f"{unit}s"
    if math.isinf(step.power):
        return f"the {what} with the {'largest' if step.power > 0 else 'smallest'} value decides"
    if step.power == 1:
        return f"every {what} counts the same"
    plural = "classes" if what == "class" else "groups"
    return f"{plural} with {'larger' if step.power > 1 else 'smaller'} {large} count more"


def sentence(a: Aggregate) -> str:
    """The finding in a sentence."""
    recipe = a.choices.recipe
    what = f"{_what(recipe)} of the {a.choices.rate.title}"
    if not np.isfinite(a.value):
        return f"{what} is undefined {a.undefined}."
    gone = sum(a.undefined_class(c) is not None for c in range(len(a.classes)))
    text = f"{what} is {written.number(a.value, tiny=True)}"
    if gone and recipe.classes.kind != "binary":
        text += f", with {gone:,} of {len(a.classes):,} classes left out because they have no value"
    if a.ci is not None:
        ends = written.interval(pair(a.ci), tiny=True, unbounded="∞")
        text += f" ({100 * a.options.confidence:g}% interval {ends})"
    if a.chance is None or not math.isfinite(a.chance.mean):
        return text + "."
    if a.chance.p_value <= 0.05:
        how = "chance alone does not explain that"
    else:
        how = "chance alone could explain that, which does not show that groups are alike"
    mean, p = written.number(a.chance.mean, tiny=True), written.p_words(a.chance.p_value, at_most=a.chance.at_most)
    return f"{text}. If groups were alike, it would be {mean} on average: {how} ({p})."


def _what(recipe: Recipe) -> str:
    if recipe.complement:
        return "1 − the quadratic mean over classes of the sum of gaps over groups"
    inner = recipe.group.name
    if recipe.group.unit is None:
        inner += f" of {recipe.unit}s"
    outer = "of the positive class" if recipe.classes.kind == "binary" else f"over classes ({recipe.classes.name})"
    return f"the {inner} over groups, {outer},"
