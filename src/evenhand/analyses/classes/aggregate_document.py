"""An aggregate over classes and groups → its JSON document, and its sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.classes.checklist import checklist
from evenhand.analyses.classes.confusion_chart import matrices
from evenhand.measures.aggregation import Recipe, Step
from evenhand.report import format as written
from evenhand.report.document import fields, header, null_fields, number, pair

if TYPE_CHECKING:
    from evenhand.analyses.classes.result import Aggregate


def document(a: Aggregate) -> dict[str, Any]:
    """The whole result as plain values."""
    return {
        **header("aggregate"),
        "data": data_of(a.table),
        "options": {**options_of(a), **choices_of(a)},
        "attribute": a.grouping.name,
        **finding(a),
        **body(a),
        "against": _against(a),
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
        "corrected": number(a.corrected),
        "uncorrected": a.result.uncorrected,
        "ci": pair(a.ci),
        "method": a.result.method if a.ci is not None else None,
        "undefined": a.undefined,
        **null_fields(a.chance, a.excess),
        "untested": a.result.untested,
    }


def _against(a: Aggregate) -> dict[str, Any] | None:
    """What the second model comes to, if there is one."""
    if a.against is None:
        return None
    second = a.against.aggregate
    return {
        **fields(a.against, "own name"),
        "data": data_of(second.table),
        **{k: v for k, v in finding(second).items() if k in ("value", "corrected", "ci", "undefined")},
        "difference": number(a.value - second.value),
        **body(second),
        "notes": list(second.notes),
    }


def body(a: Aggregate) -> dict[str, Any]:
    """Groups with their confusion matrices, classes with the rate of every group, and what is undefined."""

    columns = a.columns()
    width = len(a.groups)
    keys = [k for k in columns if k not in ("class", "overall", "share")]
    cells = [{k: columns[k][i] for k in keys} for i in range(len(columns["class"]))]
    for cell in cells:
        cell["n"] = int(cell["n"])
        cell["ci"] = None if cell["ci_low"] is None else [cell.pop("ci_low"), cell.pop("ci_high")]
        cell.pop("ci_low", None), cell.pop("ci_high", None)
    confused = matrices(a)
    sizes, left = a.table.sizes(a.grouping).tolist(), a.table.left_out_of(a.grouping)
    return {
        "groups": [
            {
                "name": name,
                "members": list(m),
                "n": n,
                "left_out": out,
                "confusion": None if confused is None else confused[g].tolist(),
            }
            for g, (name, m, n, out) in enumerate(zip(a.groups, a.grouping.members, sizes, left, strict=True))
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
    if a.corrected is not None:
        text += f"; corrected for what noise adds, {written.number(a.corrected, tiny=True)}"
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
    inner = ("weighted " if recipe.group_weights is not None else "") + recipe.group.name
    if recipe.group.unit is None:
        inner += f" of {recipe.unit}s"
    weighted = "weighted " if recipe.class_weights is not None else ""
    outer = (
        "of the positive class"
        if recipe.classes.kind == "binary"
        else f"over classes ({weighted}{recipe.classes.name})"
    )
    return f"the {inner} over groups, {outer},"
