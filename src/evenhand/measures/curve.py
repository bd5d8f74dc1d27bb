"""A gap as a curve: how far two groups are apart at each threshold, and how much each threshold weighs."""

from __future__ import annotations

from collections.abc import Sequence
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
    slant: Floats | None = None
    """Where each point is a straight piece and its gap the mean there: by how much either end differs from that."""

    def norm(self, p: float = 1.0) -> Floats:
        """(Σ |gap|^p · weight)^(1/p), and of straight pieces the integral."""
        return norm(self._means(p), self.weight, p)

    def favouring(self, group: bool, p: float = 1.0) -> Floats:
        """The part of the norm that favours the group (Becker et al. 2024, eq. 11), or its reference (eq. 12)."""
        return norm(np.maximum(self._means(p) if group else -self._means(p), 0.0), self.weight, p)

    @property
    def signed(self) -> Floats:
        """Σ gap·weight: a difference of means, mean ranks or areas, and never larger than the norm."""
        return np.asarray(np.where(self.weight > 0, self.gap * self.weight, 0.0).sum(-1))

    def _means(self, p: float) -> Floats:
        """The gap of each point, of a straight piece (which never crosses 0) its mean of order p."""
        if self.slant is None or p == 1:
            return self.gap
        near, far = (np.maximum(np.abs(self.gap) + side * self.slant, 0.0) for side in (-1, 1))
        return np.asarray(np.copysign(_mean_between(near, far, p), self.gap))


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


def _mean_between(low: Floats, high: Floats, p: float) -> Floats:
    """(∫ x^p dx / (high − low))^(1/p) between two numbers from 0."""
    if p == np.inf:
        return high
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(high > 0, low / high, 1.0)
        mean = (1 - t ** (p + 1)) / ((p + 1) * (1 - t))
        # of ends that are nearly one the quotient is rounding, and they differ little from their middle
        return np.asarray(np.where(t > 1 - 1e-5, (low + high) / 2, high * mean ** (1 / p)))


def joined(curves: Sequence[Curve]) -> Curve:
    """Curves of several classes of people as one, whose norm is that of all their gaps together.

    >>> import numpy as np
    >>> curves = [Curve(np.zeros(1), np.array([gap]), np.ones(1)) for gap in (0.3, -0.4)]
    >>> float(joined(curves).norm()), float(joined(curves).norm(2)), round(float(joined(curves).signed), 1)
    (0.7, 0.5, -0.1)
    """
    if len(curves) == 1:
        return curves[0]
    return Curve(*(np.concatenate([getattr(c, part) for c in curves], axis=-1) for part in ("at", "gap", "weight")))


def parted(curve: Curve | None, parts: int) -> list[Curve | None]:
    """The curves of equal length that one is joined of."""
    if curve is None or parts == 1:
        return [curve] * parts
    pieces = (np.split(a, parts, axis=-1) for a in (curve.at, curve.gap, curve.weight))
    return [Curve(*piece) for piece in zip(*pieces, strict=True)]


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
