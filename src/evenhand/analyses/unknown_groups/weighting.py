"""Rates of probable groups by weighting: everybody counts in every group, as much as they probably belong to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.inference.interval import z_value
from evenhand.tables.arrays import Floats, Pair


@dataclass(frozen=True)
class Weighted:
    """Rates Σ p y / Σ p of all groups, and how much each person moves them (person, group)."""

    rates: Floats
    moves: Floats

    def covariance(self) -> Floats:
        """Of the rates, linearised: people are the units, and each is in all groups, so rates vary together."""
        n = len(self.moves)
        return np.asarray(self.moves.T @ self.moves * (n / (n - 1)))


def weighted(p: Floats, hit: Floats, among: Floats | None = None) -> Weighted:
    """Share of hits among some people (everybody), by group.

    >>> import numpy as np
    >>> found = weighted(np.array([[1, 0], [.5, .5], [0, 1]]), np.array([1., 1, 0]))
    >>> found.rates.round(3).tolist()
    [1.0, 0.333]
    """
    counted = p if among is None else p * among[:, None]
    mass = counted.sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(mass > 0, (counted * hit[:, None]).sum(0) / np.where(mass > 0, mass, 1), np.nan)
        moves = counted * (hit[:, None] - rates) / np.where(mass > 0, mass, np.nan)
    return Weighted(rates, moves)


def error(moves: Floats) -> float:
    """The standard error of a sum over people, each of whom moves it so much."""
    n = len(moves)
    return float(np.sqrt((moves**2).sum() * n / (n - 1)))


def around(value: float, moves: Floats, confidence: float, low: float = -1.0, high: float = 1.0) -> Pair:
    """A normal interval, clipped to where the value can be."""
    reach = float(z_value(confidence)) * error(moves)
    return max(value - reach, low), min(value + reach, high)


def around_ratio(a: float, b: float, moves: tuple[Floats, Floats], confidence: float) -> Pair | None:
    """A normal interval of the logarithm of a / b; none where a or b is 0."""
    if not (a > 0 and b > 0):
        return None
    reach = float(z_value(confidence)) * error(moves[0] / a - moves[1] / b)
    return float(a / b * np.exp(-reach)), float(a / b * np.exp(reach))
