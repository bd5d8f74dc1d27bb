"""How a gap between probable groups changes if members of a group are decided otherwise than others alike to them.

Weighting is off by the mean covariance, given what the probabilities were made from, of membership and decision, over
the share of the group (Chen, Kallus, Mao, Svacha & Udell 2019). If members of a group are selected more often by δ than
all others with the same probabilities, that is δ Σ p (1 − p) / Σ p for the group, and −δ Σ p q / Σ q for another of
probabilities q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.analyses.unknown_groups.weighting import Weighted, around, around_ratio
from evenhand.tables.arrays import Floats, Pair

POINTS = 21
LEAST_REACH = 0.2


@dataclass(frozen=True)
class Point:
    """A gap at one δ."""

    delta: float
    value: float
    ci: Pair | None


@dataclass(frozen=True)
class Sensitivity:
    """A gap over δ, and where it vanishes and crosses the tolerance; None where no δ from −1 to 1 does that."""

    group: float
    """How much the rate of the group grows with δ,"""
    reference: float
    """and that of its reference falls."""
    vanishes: float | None
    tolerated: tuple[float | None, float | None]
    """From where on, and until where, the gap is within the tolerance."""
    curve: tuple[Point, ...]


@dataclass(frozen=True)
class Shifted:
    """Two rates that depend on δ: their values, how much each person moves them, and the same of how they change."""

    rates: Pair
    moves: tuple[Floats, Floats]
    slopes: Pair
    slope_moves: tuple[Floats, Floats]

    def at(self, delta: float, ratio: bool, confidence: float) -> Point:
        a, b = self.rates[0] + delta * self.slopes[0], self.rates[1] - delta * self.slopes[1]
        moves = self.moves[0] + delta * self.slope_moves[0], self.moves[1] - delta * self.slope_moves[1]
        if not ratio:
            return Point(delta, a - b, around(a - b, moves[0] - moves[1], confidence))
        if not (a >= 0 and b > 0):
            return Point(delta, np.nan, None)
        return Point(delta, a / b, around_ratio(a, b, moves, confidence))

    def where(self, value: float, ratio: bool) -> float | None:
        """The δ at which the gap has this value."""
        (a, b), (up, down) = self.rates, self.slopes
        missing, speed = (value * b - a, up + value * down) if ratio else (value - (a - b), up + down)
        found = missing / speed if speed > 0 else np.nan
        return found if -1 <= found <= 1 else None


def shifted(p: Floats, found: Weighted, group: int, reference: int, among: Floats | None = None) -> Shifted:
    """How the rates of a group and its reference depend on δ."""
    own, other = p[:, group], p[:, reference]
    counted = np.ones(len(p)) if among is None else among
    slopes, moves = [], []
    for who, share in ((own, 1 - own), (other, own)):
        mass = (counted * who).sum()
        slope = float((counted * who * share).sum() / mass)
        slopes.append(slope)
        moves.append(counted * who * (share - slope) / mass)
    rates = float(found.rates[group]), float(found.rates[reference])
    return Shifted(
        rates, (found.moves[:, group], found.moves[:, reference]), (slopes[0], slopes[1]), (moves[0], moves[1])
    )


def sensitivity(shifts: Shifted, tolerance: float, ratio: bool, confidence: float) -> Sensitivity:
    """The gap over δ."""
    vanishes = shifts.where(1.0 if ratio else 0.0, ratio)
    ends = (tolerance, 1 / tolerance) if ratio else (-tolerance, tolerance)
    tolerated = shifts.where(ends[0], ratio), shifts.where(ends[1], ratio)
    reach = max([LEAST_REACH, *(1.25 * abs(d) for d in (vanishes, *tolerated) if d is not None)])
    reach = min(np.ceil(10 * reach - 1e-9) / 10, 1.0)
    deltas = np.linspace(-reach, reach, POINTS).round(12)
    curve = tuple(shifts.at(float(d), ratio, confidence) for d in deltas)
    return Sensitivity(*shifts.slopes, vanishes, tolerated, curve)
