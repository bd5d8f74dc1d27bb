"""The checklist of Han, Baldwin and Cohn 2023, §3.4: what every report has to state, and what of it the user said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.measures.aggregation import Step
from evenhand.measures.aggregation_spec import describe_step
from evenhand.tables.arrays import Floats

if TYPE_CHECKING:
    from evenhand.analyses.classes.result import Aggregate, Choices

MOST_WEIGHTS = 4
MOTIVATED = ("groups", "classes")
"""What the checklist asks a reason for."""
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


def checklist(a: Aggregate) -> list[dict[str, Any]]:
    """The five items; ticked is what the user said, with a reason where the checklist asks for one."""
    recipe, choices = a.choices.recipe, a.choices
    outer = describe_step(recipe.classes, 0.0) + _weighted(recipe.class_weights, a.classes)
    if recipe.classes.kind == "binary":
        outer += f": {shown_name(a.classes[recipe.positive])}"
    # a mean of ratios, a difference of scores and a share of groups are none of these
    values = "gaps" if recipe.unit == "gap" and recipe.group.kind != "threshold" else "values"
    told = {
        "metric": (f"{choices.rate.id} ({choices.rate.title})", _WHY_METRIC[choices.rate.id]),
        "unit": (recipe.unit, _WHY_UNIT[recipe.unit]),
        "groups": (
            describe_step(recipe.group, recipe.gamma) + _weighted(recipe.group_weights, a.groups),
            _why_step(recipe.group, "group", f"{recipe.unit}s", recipe.group_weights is not None),
        ),
        "classes": (outer, _why_step(recipe.classes, "class", values, recipe.class_weights is not None)),
    }
    where = "how many people there are of each class and group is part of the report"
    data = {"item": "data", "answer": _sizes(a), "stated": True, "why": where, "why_stated": True, "ticked": True}
    return [data, *(_item(word, *about, choices) for word, about in told.items())]


def _item(word: str, answer: str, meaning: str, choices: Choices) -> dict[str, Any]:
    stated, reason = word in choices.stated, choices.why.get(word)
    return {
        "item": word,
        "answer": answer,
        "stated": stated,
        "why": meaning if reason is None else reason,
        "why_stated": reason is not None,
        "ticked": stated and (reason is not None or word not in MOTIVATED),
    }


def lacking(item: dict[str, Any]) -> str | None:
    """What the user did not say of an item that is not ticked."""
    if item["ticked"]:
        return None
    if item["stated"]:
        return "stated without a reason"
    what = "the function is the default" if item["item"] in MOTIVATED else "default"  # its weights may be stated
    return f"{what}, not stated by the user"


def _weighted(weights: Floats | None, names: Sequence[str]) -> str:
    """Weights of a few names, in the order of weights."""
    if weights is None:
        return ""
    heaviest = np.argsort(-weights, kind="stable")[:MOST_WEIGHTS].tolist()
    said = [f"{shown_name(names[i], 30)} {weights[i]:,.6g}" for i in heaviest]
    more = len(names) - len(said)
    return f", weighted ({', '.join(said)}{f' and {more:,} more' if more else ''})"


def _sizes(a: Aggregate) -> str:
    return (
        f"{int(a.table.sizes(a.grouping).sum()):,} people, {len(a.classes):,} classes × {len(a.groups):,} groups of "
        f"{shown_name(a.grouping.name)}; the smallest non-empty of {a.joint.size:,} cells has "
        f"{a.joint[a.joint > 0].min():,}, {int((a.joint == 0).sum()):,} are empty"
    )


def _why_step(step: Step, what: str, values: str, weighted: bool) -> str:
    if weighted and step.power == 1:
        return f"every {what} counts by its weight"
    return _why(step, what, values) + (", and by their weights" if weighted and not _extreme(step) else "")


def _extreme(step: Step) -> bool:
    return step.power is not None and math.isinf(step.power)


def _why(step: Step, what: str, values: str) -> str:
    few = {"variance": "groups with larger gaps count more", "difference": "the two groups farthest apart decide",
           "quotient": "the two groups farthest apart decide", "sum": "every group counts the same",
           "threshold": "how many groups keep to a limit",
           "binary": "one class is the outcome that matters"}  # fmt: skip
    if step.kind != "power":
        return few[step.kind]
    assert step.power is not None
    if _extreme(step):
        return f"the {what} with the {'largest' if step.power > 0 else 'smallest'} value decides"
    if step.power == 1:
        return f"every {what} counts the same"
    plural = "classes" if what == "class" else "groups"
    return f"{plural} with {'larger' if step.power > 1 else 'smaller'} {values} count more"
