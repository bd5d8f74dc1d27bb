"""People who are alike in everything that is compared: nothing divides them but what was left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.ingest.people import People
from evenhand.tables.arrays import Floats, Ints


@dataclass(frozen=True)
class Twins:
    """Pairs of people at distance 0."""

    people: int
    """Who have a twin."""
    pairs: int
    apart: int
    """Pairs whose scores differ by more than epsilon."""
    differ: int
    """Pairs whose scores differ at all."""
    largest: float | None
    """The largest difference of scores between twins; None if there are none."""


def kinds(people: People) -> Ints:
    """A number for each person, the same for those who are alike in every feature."""
    kind = np.zeros(people.n, np.int64)
    for feature in people.features:
        values = np.unique(feature.values, return_inverse=True)[1].reshape(-1)
        kind = np.unique(kind * (int(values.max()) + 1) + values, return_inverse=True)[1].reshape(-1)
    return kind


def twins(kind: Ints, score: Floats, epsilon: float) -> Twins:
    """Everybody of one kind is a twin of everybody else of it.

    >>> twins(np.array([0, 0, 0, 1, 2]), np.array([0.1, 0.1, 0.5, 0.7, 0.7]), 0.05)
    Twins(people=3, pairs=3, apart=2, differ=2, largest=0.4)
    """
    order = np.lexsort((score, kind))
    kind, score = kind[order], score[order]
    starts = np.flatnonzero(np.r_[True, kind[1:] != kind[:-1]])
    sizes = np.diff(np.r_[starts, len(kind)])
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if not pairs:
        return Twins(0, 0, 0, 0, None)
    spread = score[starts + sizes - 1] - score[starts]
    apart = differ = 0
    for place in np.flatnonzero(spread > 0).tolist():
        own = score[starts[place] : starts[place] + sizes[place]]
        differ += _further(own, 0.0)
        apart += _further(own, epsilon)
    return Twins(int(sizes[sizes > 1].sum()), pairs, apart, differ, float(spread.max()))


def _further(score: Floats, epsilon: float) -> int:
    """Pairs of ascending scores that are further apart than epsilon."""
    return int((len(score) - np.searchsorted(score, score + epsilon, side="right")).sum())
