"""The Lipschitz constant: how fast a score changes at most, estimated from the pairs with the largest slopes."""

from __future__ import annotations

import numpy as np

from evenhand.tables.arrays import Floats, Ints

STEEPEST, LEAST = 100, 10
"""Pairs from which the end of the distribution of slopes is told, at most (the root of fewer people) and at least."""
EQUAL = 1e-6


def disjoint(one: Ints, other: Ints, slope: Floats, most: int) -> Floats:
    """The largest slopes, no person in two of them, largest first."""
    seen: set[int] = set()
    largest: list[float] = []
    many = min(len(slope), 60 * most)
    candidates = np.argpartition(-slope, many - 1)[:many] if many < len(slope) else np.arange(len(slope))
    for place in candidates[np.argsort(-slope[candidates], kind="stable")].tolist():
        pair = {int(one[place]), int(other[place])}
        if not pair & seen:
            largest.append(float(slope[place]))
            seen |= pair
            if len(largest) == most:
                break
    return np.array(largest)


def upper_end(slopes: Floats, confidence: float) -> float:
    """A bound that the largest possible slope does not exceed, with this confidence; inf where none can be told.

    Near a finite end θ of a distribution, P(slope > x) is about C (θ − x)^a. Then −log((θ − x) / (θ − u)), over the
    smallest of the slopes u, are exponential numbers of unknown scale. If θ is taken too large, the largest of them is
    too small for their mean. The bound is the θ at which that has a probability of 1 − confidence; if even the law
    without an end allows it, there is none.
    """
    from scipy.optimize import brentq

    top, u = slopes[:-1], slopes[-1]
    if len(top) < LEAST:
        return float("inf")
    if top[0] - u <= EQUAL * top[0]:  # the same slope again and again is an end that has been reached
        return float(top[0])
    above = (top - u) / (top[0] - u)  # the sample's largest is 1
    # the limit law of the largest: of so few it asks for less than it might, which makes up for tails that are still
    # on their way to their law
    least = np.log(len(top)) - np.log(-np.log(1 - confidence))

    def excess(log_gap: float) -> float:
        """How much the largest is above what it must be, with an end at 1 + gap."""
        drops = -np.log1p(-above / (1 + np.exp(log_gap)))
        return float(drops[0] / drops.mean() - least)

    if 1 / above.mean() >= least:
        return float("inf")
    end = 1 + np.exp(brentq(excess, -35.0, 35.0)) if excess(-35.0) > 0 else 1.0
    return float(u + end * (slopes[0] - u))
