"""What if a hidden common cause, and not the attribute, accounts for part of what was fitted? A curve, no promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.analyses.counterfactual.effects import Estimate
from evenhand.analyses.counterfactual.structural_model import StructuralModel
from evenhand.tables.arrays import Floats, Ints

GRID = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the association between the attribute and what it acts on that a hidden cause may account for; a negative
one hides part of an effect that is larger."""


@dataclass(frozen=True)
class Point:
    """What follows if a hidden cause accounts for this share."""

    share: float
    correlation: float | None
    """What it must have with the attribute and with a number that the attribute acts on; None if there is none."""
    mean: Estimate
    size: Estimate
    changed: Estimate


@dataclass(frozen=True)
class Confounding:
    """The curve of one pair of groups."""

    group: str
    other: str
    points: tuple[Point, ...]
    tips: float | None
    """From which share on a mean change of 0 is compatible with the data; None if it never is."""
    within: float | None
    """From which share on the mean size of the change is within the tolerance; None if it never is."""


def correlation(bias: float) -> float:
    """How strongly a hidden cause correlates with both, if it is as strong with either, to cause such a bias.

    The bias is in standard deviations of what is left open of the effect, per standard deviation of the attribute:
    |bias| = ρ² / √(1 − ρ²) (Cinelli & Hazlett 2020, equation 12, both partial R² equal to ρ²).

    >>> round(correlation(0.5 ** 2 / (1 - 0.5 ** 2) ** 0.5), 6)
    0.5
    """
    square = bias * bias
    return float(np.sqrt((np.sqrt(square * square + 4 * square) - square) / 2))


def biases(structure: StructuralModel, own: Ints, groups: int) -> Floats:
    """How far the fitted effect moves a number, as `correlation` takes it: by group and other, the largest number's.

    NaN where the attribute acts on no number.
    """
    largest = np.full((groups, groups), np.nan)
    numbers = [m for m in structure.mechanisms if m.node in structure.part.first and m.kind == "number"]
    if not numbers:
        return largest
    seen = structure.seen(np.arange(len(own)))
    noise = structure.abduct(seen, np.random.default_rng(0))
    spread = {m.node: float(noise[m.node][0].std()) or np.inf for m in numbers}
    sizes = np.bincount(own, minlength=groups)
    for b in range(groups):
        only_first = {m.node: np.ones(len(own)) for m in numbers}
        there = structure.act(seen, noise, np.full(len(own), b), only_first)
        for a in range(groups):
            if a == b or not sizes[a] or not sizes[b]:
                continue
            p = sizes[a] / (sizes[a] + sizes[b])
            shifts = [
                float(np.abs((there[m.node] - seen[m.node])[own == a]).mean()) / spread[m.node] for m in numbers
            ]  # fmt: skip
            largest[a, b] = max(shifts) * np.sqrt(p * (1 - p))
    return largest


def tipping(points: Sequence[Point]) -> float | None:
    """The least share at which the interval of the mean change holds 0."""
    return _crossed([(p.share, None if p.mean.ci is None else max(p.mean.ci[0], -p.mean.ci[1])) for p in points])


def within(points: Sequence[Point], tolerance: float) -> float | None:
    """The least share at which the mean size of the change is within the tolerance."""
    return _crossed([(p.share, p.size.value - tolerance) for p in points])


def _crossed(margins: Sequence[tuple[float, float | None]]) -> float | None:
    """Where a margin is first used up, from share 0 on, between points in a straight line."""
    known = [(share, margin) for share, margin in margins if share >= 0 and margin is not None]
    if len(known) < sum(share >= 0 for share, _ in margins):
        return None
    before = known[0]
    if before[1] <= 0:
        return before[0]
    for share, margin in known[1:]:
        if margin <= 0:
            return float(before[0] + (share - before[0]) * before[1] / (before[1] - margin))
        before = share, margin
    return None
