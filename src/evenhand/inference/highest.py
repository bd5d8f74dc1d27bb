"""Intervals against the group with the highest rate, which the same people chose: the choice flatters that group.

Two things are unknown: which group is truly the highest, and how much of the rate of the one that seems so is luck.
The lower end is the lowest that any group as comparison gives: the truly highest one is among them, and only its
interval has to reach the truth (Berger 1982, intersection–union). The upper end is that against the group chosen, at
a level at which the ends against all groups that could have been chosen hold together (Dunnett 1955).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.inference.interval import Interval, Number, foremost
from evenhand.tables.arrays import Floats, Ints

Limits = Callable[[Ints, Ints, Number], Interval]
"""Intervals of groups against others, by their places, at a level."""

OUT_OF_REACH = 4.0
"""A group that is so many standard errors below the highest could hardly have been chosen."""
MOST_EXACT = 50
"""Of more groups that could have been chosen, what comparisons have in common is left aside: a little wider."""
_POINTS = np.linspace(-8, 8, 321)
_DENSITY = np.exp(-(_POINTS**2) / 2) / np.sqrt(2 * np.pi) * (_POINTS[1] - _POINTS[0])


def against_highest(limits: Limits, rates: Floats, people: Floats, highest: int, confidence: float) -> Interval:
    """The interval of every group's ratio (or difference) to the highest group; nothing for that group itself.

    It holds for the group that is truly the highest and for the one that was chosen as such.
    """
    groups = np.arange(len(rates))
    able = _able(rates, people, highest)
    rivals = foremost(rates, -people)
    low, _ = limits(groups[:, None], rivals[None, :], confidence)
    low = np.where(np.isnan(low) | (groups[:, None] == rivals), np.inf, low).min(1)
    rivals_of = (people[able[able != g]] for g in groups)
    levels = np.array([_together(own, others, confidence) for own, others in zip(people, rivals_of, strict=True)])
    _, high = limits(groups, np.full(len(groups), highest), levels)
    chosen = groups == highest
    return np.where(chosen, np.nan, low), np.where(chosen, np.nan, high)


def times(groups: int) -> float:
    """What a p-value against a chosen reference is multiplied by: every pair of groups might have been the one.

    Holm's rule counts the comparisons made, one for each other group; this makes them as many as there are pairs.

    >>> times(2), times(5)
    (1.0, 2.5)
    """
    return groups / 2


def _able(rates: Floats, people: Floats, highest: int) -> Ints:
    """The groups that could have been chosen."""
    rate = (rates * people + 0.5) / (people + 1)
    variance = rate * (1 - rate) / people
    return np.flatnonzero(rates[highest] - rates <= OUT_OF_REACH * np.sqrt(variance + variance[highest]))


def _together(own: float, others: Floats, confidence: float) -> float:
    """The level of one comparison of a group of so many people with which those with all others hold together."""
    from scipy.special import ndtr, ndtri

    if len(others) < 2:
        return confidence
    held = (1 + confidence) / 2
    if len(others) > MOST_EXACT:
        return float(2 * held ** (1 / len(others)) - 1)
    common = (others / (own + others))[:, None]  # of the variance of a difference, what is the group's own
    near, far = 0.0, float(ndtri(held ** (1 / len(others))))
    for _ in range(30):
        middle = (near + far) / 2
        alone = ndtr((middle - np.sqrt(common) * _POINTS) / np.sqrt(1 - common))
        near, far = (middle, far) if float(_DENSITY @ alone.prod(0)) < held else (near, middle)
    return float(2 * ndtr(far) - 1)
