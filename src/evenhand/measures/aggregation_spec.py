"""Options → recipe: which unit, which function over groups, which over classes, and whether that makes sense."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from evenhand.errors import UsageError, listed, nearest, number, one_of, shown
from evenhand.measures.aggregation import (
    CLASSWISE,
    GROUPWISE,
    METRICS,
    UNITS,
    ClassRate,
    Recipe,
    Step,
    Unit,
    power_step,
)
from evenhand.tables.arrays import Floats

BASELINES = ("overall", "mean")
GAMMA = {"difference threshold": 0.1, "ratio threshold": 0.2}
"""Tolerances as in an audit: 0.1 for differences, the four-fifths rule for ratios."""


def metric_named(metric: Any) -> ClassRate:
    """The rate of that name."""
    name = metric.lower() if isinstance(metric, str) else metric
    one_of("metric", name, METRICS)
    return METRICS[name]


def checked_baseline(baseline: Any, empty: Any) -> tuple[str, float | None]:
    """What groups are compared with, and what a cell without rows counts as."""
    one_of("average", baseline, BASELINES)
    if empty is not None and not 0 <= number(empty) <= 1:
        raise UsageError(
            f"empty is a rate from 0 to 1 that a cell without rows counts as, or None to leave it out, not "
            f"{shown(empty)}"
        )
    return baseline, None if empty is None else float(empty)


def recipe(unit: Any = None, across_groups: Any = None, across_classes: Any = None, gamma: Any = None) -> Recipe:
    """The recipe that these options mean; weights and the positive class are settled when the data are known."""
    group = _step(1 if across_groups is None else across_groups, GROUPWISE, "across_groups")
    classes = _step(2 if across_classes is None else across_classes, CLASSWISE, "across_classes")
    if unit is not None:
        one_of("unit", unit, UNITS)
    if unit is not None and group.unit not in (None, unit):
        raise UsageError(
            f"{shown(group.name)} is made of {group.unit}s, not of {unit}s: leave the unit out, or name an exponent"
        )
    if group.name == "fairlib" and classes.power != 2:
        raise UsageError(f"'fairlib' has a quadratic mean over classes, not {shown(classes.name)}: leave that out")
    if gamma is not None and group.kind != "threshold":
        raise UsageError(f"gamma is for {listed(GAMMA)}, not for {shown(group.name)}: leave it out")
    if gamma is not None and not 0 <= number(gamma) < np.inf:
        raise UsageError(f"gamma must be a number from 0, such as 0.1, not {shown(gamma)}")
    chosen: Unit = group.unit or cast(Unit, unit or "gap")
    return Recipe(chosen, group, classes, GAMMA.get(group.name, 0.0) if gamma is None else float(gamma))


def _step(value: Any, known: Mapping[str, Step], word: str) -> Step:
    """A function by its name, or a generalised mean by its exponent."""
    if isinstance(value, str):
        name = " ".join(value.lower().replace("_", " ").replace("-", " ").split())
        if name in known:
            return known[name]
        try:
            value = float(value)
        except ValueError:
            names = ", ".join(known)
            raise UsageError(
                f"{word} must be an exponent such as 2, inf or -inf, or one of: {names}; not {shown(value)}"
                f"{nearest(name, known)}"
            ) from None
    power = number(value)
    if math.isnan(power):
        raise UsageError(f"{word} must be an exponent (any number, inf or -inf) or a name, not {shown(value)}")
    named = {1.0: "mean", 2.0: "quadratic mean", 0.0: "geometric mean", -1.0: "harmonic mean", math.inf: "maximum",
             -math.inf: "minimum"}.get(power)  # fmt: skip
    return known[named] if named else power_step(power)


def weights_of(weights: Any, names: Sequence[str], sizes: Floats, word: str, step: Step) -> Floats | None:
    """Weights of a mean, in the order of names: by people, or as stated for every name."""
    if weights is None:
        return None
    if step.kind not in ("power", "threshold"):
        raise UsageError(f"{word} is for generalised means and thresholds, not for {shown(step.name)}: leave it out")
    if isinstance(weights, str):
        if weights != "size":
            raise UsageError(f"{word} is 'size' (people count), or a dict with a number for every name, not "
                             f"{shown(weights)}")  # fmt: skip
        return np.asarray(sizes, np.float64)
    if not isinstance(weights, Mapping):
        raise UsageError(f"{word} is 'size' or a dict from name to number, not {shown(weights)}")
    stated = {str(name): number(value) for name, value in weights.items()}
    for missing in [name for name in names if name not in stated]:
        raise UsageError(f"{word} needs a number for every name, but {shown(missing)} has none")
    for strange in [name for name in stated if name not in names]:
        raise UsageError(f"{word}: there is no {shown(strange)} (there are: {listed(names)}){nearest(strange, names)}")
    found = np.array([stated[name] for name in names])
    if not (np.isfinite(found).all() and (found >= 0).all() and found.max() > 0):
        raise UsageError(f"{word} must be numbers from 0, not all 0, not {shown(list(stated.values()))}")
    return found


def describe_step(step: Step, gamma: float) -> str:
    """A function by name, with its exponent or tolerance."""
    if step.kind == "threshold":
        return f"{step.name} (γ = {gamma:g})"
    if step.kind == "power" and step.power is not None and not step.name.startswith("generalised"):
        return f"{step.name} (power {step.power:g})"
    return step.name
