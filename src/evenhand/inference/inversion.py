"""Intervals by inverting a simulated test: which truths of a family could have given the value that was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.tables.arrays import Floats, Ints


@dataclass(frozen=True)
class Inverted:
    """The truths that are not rejected, and the one in their middle; NaN where the family does not reach far enough."""

    low: float
    middle: float
    """Of samples from this truth, as many show more than was seen as show less."""
    high: float


def inverted(value: float, truths: Floats, samples: Floats, confidence: float) -> Inverted:
    """Which truths of a family are not rejected by `value`, larger values speaking for larger truths.

    `truths` (step) grow from the least that is possible, and `samples` (step, draw) are values of samples from each. A
    value that is smaller than half of the samples from the least truth speaks for that truth, however small it is, so
    truths that could give such a value are rejected on the upper side alone (as Feldman and Cousins 1998 order values
    near a bound): the interval is never empty, and leaves out the least truth if a one-sided test rejects it.

    >>> rng, truths = np.random.default_rng(0), np.linspace(0, 8, 161)
    >>> samples = np.abs(truths[:, None] + rng.normal(size=(161, 4000)))  # |x| of a normal variable with unit variance
    >>> found = inverted(3.0, truths, samples, 0.95)
    >>> [round(end, 1) for end in (found.low, found.middle, found.high)]
    [1.3, 3.0, 5.0]
    >>> inverted(0.3, truths, samples, 0.95).low
    0.0
    """
    tail = (1 - confidence) / 2
    samples = np.where(np.isnan(samples), np.inf, samples)
    levels = np.quantile(samples, [tail, 0.5, confidence, 1 - tail], axis=1, method="closest_observation")
    least, middle, one_sided, most = np.maximum.accumulate(levels, axis=1)
    usual = middle[0]
    most = np.where(least <= usual, one_sided, most)
    seen = max(value, usual)
    grown = np.maximum.accumulate(truths)
    ends = (_reached(most, value), _reached(middle, seen), _passed(least, seen))
    low, centre, high = (float(np.interp(end, np.arange(len(grown)), grown)) if end >= 0 else np.nan for end in ends)
    return Inverted(low, centre, high)


def _reached(curve: Floats, level: float) -> float:
    """Where a growing curve first reaches a level, in steps; -1 if it never does."""
    return _between(curve, level, np.flatnonzero(curve >= level))


def _passed(curve: Floats, level: float) -> float:
    """Where it is above the level for the first time."""
    return _between(curve, level, np.flatnonzero(curve > level))


def _between(curve: Floats, level: float, after: Ints) -> float:
    if not len(after):
        return -1.0
    i = int(after[0])
    if i == 0:
        return 0.0
    step = curve[i] - curve[i - 1]
    return i - 1 + float((level - curve[i - 1]) / step) if np.isfinite(step) and step > 0 else float(i)
