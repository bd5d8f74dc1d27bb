"""A gap as a curve: how far two groups are apart at each threshold, and how much each threshold weighs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.tables.arrays import Floats

RANKS = ("published", "mid")
BANDWIDTHS = ("scott", "silverman", "common")


@dataclass(frozen=True)
class ScoreOptions:
    """The conventions that score-level measures leave open."""

    ranks: str = "published"
    """How scores become ranks: mid-ranks with the ends pinned to 0 and 1 (as published), or plain mid-ranks."""
    calibration_bins: int = 50
    """Of calibration bias."""
    bandwidth: str | float = "scott"
    """Of the density estimate: "scott", "silverman", "common" to both groups, or a share of the score range."""
    gap_bins: int = 10
    """Of the calibration gap, ECE and MCE."""


@dataclass(frozen=True)
class Curve:
    """A signed gap at some points and the weight of each point, axes (…, point); leading axes are resamples.

    Positive gaps favour the group. The measure is the norm Σ |gap|·weight of the curve, or its p-th relative.
    """

    at: Floats
    """Where the points lie: a rank, a share, a position on the score range or a bin."""
    gap: Floats
    weight: Floats
    people: Floats | float = np.nan
    """What share of the people the curve rests on, where some had to be left out."""
    rest: Floats | float = 0.0
    """What the points that were left out would weigh, of 1 together with the others."""

    def norm(self, p: float = 1.0) -> Floats:
        """(Σ |gap|^p · weight)^(1/p)."""
        return norm(self.gap, self.weight, p)

    def favouring(self, group: bool, p: float = 1.0) -> Floats:
        """The part of the norm that favours the group (Becker et al. 2024, eq. 11), or its reference (eq. 12)."""
        return norm(np.maximum(self.gap if group else -self.gap, 0.0), self.weight, p)

    @property
    def signed(self) -> Floats:
        """Σ gap·weight: a difference of means, mean ranks or areas, and never larger than the norm."""
        return np.asarray(np.where(self.weight > 0, self.gap * self.weight, 0.0).sum(-1))


def norm(gap: Floats, weight: Floats, p: float = 1.0) -> Floats:
    """(Σ |gap|^p · weight)^(1/p) over the last axis; for p = ∞ the largest gap, whatever it weighs.

    >>> import numpy as np
    >>> float(norm(np.array([0.5, -1.0]), np.array([0.5, 0.25]))), float(norm(np.array([3.0, 4.0]), np.ones(2), 2))
    (0.5, 5.0)
    """
    if p == np.inf:
        return np.asarray(np.abs(gap).max(-1, initial=0.0))
    size = np.where(weight > 0, np.abs(gap), 0.0)
    if p == 1:
        return np.asarray((size * weight).sum(-1))
    # the largest gap is taken out first, so that no power vanishes or overflows
    most = size.max(-1, initial=0.0)
    scale = np.where(most > 0, most, 1.0)
    return np.asarray(scale * ((size / scale[..., None]) ** p * weight).sum(-1) ** (1 / p))


def even_points(count: int = 512) -> Curve:
    """Evenly spread rates, or shares of people, to compare resampled curves at."""
    return Curve((np.arange(count) + 0.5) / count, np.zeros(count), np.full(count, 1 / count))


def rowwise(function: Any, *arrays: Floats, pieces: int = 0) -> tuple[Floats, ...]:
    """Apply a function of one row to arrays (…, point) and stack what it returns, padded with zeros.

    Where rows differ in length, `pieces` is the most that a point can become: then a sum over a row is the same to the
    last digit whatever other rows there are.
    """
    lead = arrays[0].shape[:-1]
    least = pieces * arrays[0].shape[-1] if lead else 0
    rows = [function(*row) for row in zip(*(a.reshape(-1, a.shape[-1]) for a in arrays), strict=True)]
    stacked = []
    for column in zip(*rows, strict=True):
        padded = np.zeros((len(column), max(least, *map(len, column))))
        for i, values in enumerate(column):
            padded[i, : len(values)] = values
        stacked.append(padded.reshape(*lead, -1))
    return tuple(stacked)
