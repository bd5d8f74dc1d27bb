"""Cells that stand for a range of scores instead of one: which they are, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.grid import Grid


@dataclass(frozen=True, eq=False)
class Spans:
    """Intervals, apart and increasing: people of one have a score from `low` to below `high`, or strictly between them.

    In a table they stand at the middle of the interval. All other scores of the table are exact.

    >>> s = Spans(np.array([0.0, 0.5]), np.array([0.5, 1.0]), 0.1, 0.9)
    >>> s.score.tolist(), s.holding(np.array([0.25, 0.5])).tolist()
    ([0.25, 0.75], [True, False])
    """

    low: Floats
    high: Floats
    lowest: float
    """The lowest score that anybody has,"""
    highest: float
    """and the highest. Exact unless that would tell about single people (`evenhand.suppressed`)."""
    grid: Grid | None = None
    """The grid whose cells they are, so that more rows can be counted in the same cells."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spans):
            return NotImplemented
        return (
            (self.lowest, self.highest) == (other.lowest, other.highest)
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def score(self) -> Floats:
        """Where the people of each interval stand."""
        return np.asarray(middle(self.low, self.high))

    def place(self, scores: Floats) -> Ints:
        """Which interval each score lies in, −1 for none."""
        found = np.searchsorted(self.low, scores, side="left") - 1
        inside = (found >= 0) & (scores < self.high[np.maximum(found, 0)]) if len(self.low) else found >= 0
        return np.where(inside, found, -1)

    def holding(self, values: Floats) -> Bools:
        """Whether each value lies inside an interval."""
        return np.asarray(self.place(values) >= 0)

    def width(self, scores: Floats) -> Floats:
        """How wide the cell of each score is; 0 for an exact one."""
        place = self.place(scores)
        if not len(self.low):
            return np.zeros(len(scores))
        return np.where(place >= 0, (self.high - self.low)[np.maximum(place, 0)], 0.0)

    def ends(self, scores: Floats) -> tuple[Floats, Floats]:
        """Between which scores the people of each cell lie: twice the same for an exact one."""
        place = self.place(scores)
        if not len(self.low):
            return scores, scores
        inside, place = place >= 0, np.maximum(place, 0)
        return np.where(inside, self.low[place], scores), np.where(inside, self.high[place], scores)

    def across(self, borders: Floats) -> bool:
        """Whether an interval goes across one of the borders."""
        inside = np.searchsorted(borders, self.low, side="right") < np.searchsorted(borders, self.high, side="left")
        return bool(inside.any())

    def of(self, scores: Floats) -> Spans:
        """Those intervals in which one of the scores lies."""
        used = np.unique(self.place(scores))
        used = used[used >= 0]
        return replace(self, low=self.low[used], high=self.high[used])

    def moved(self, scores: Floats) -> Floats:
        """Scores inside an interval, moved to its middle."""
        place = self.place(scores)
        return np.where(place >= 0, self.score[np.maximum(place, 0)], scores) if len(self.low) else scores


ROUNDING = 1e-6
"""Scores that leave their range by less than this share of it do so by rounding."""


def possible_range(lowest: float, highest: float, stated: tuple[float, float] | None) -> tuple[float, float]:
    """The stated range of scores; else [0, 1] if they leave it by rounding at most; else the observed one."""
    if stated is not None:
        return stated
    return (0.0, 1.0) if lowest > -ROUNDING and highest < 1 + ROUNDING else (lowest, highest)


def rounded_range(
    lowest: float, highest: float, stated: tuple[float, float] | None
) -> tuple[tuple[float, float] | None, tuple[str, ...]]:
    """The range into which scores are to be clipped, and the note that says so; None if they lie in it, or far beyond.

    >>> rounded_range(-1e-12, 0.9, None)[0], rounded_range(0.1, 1.1, None)[0]
    ((0.0, 1.0), None)
    """
    lo, hi = stated or (0.0, 1.0)
    slack = ROUNDING * (hi - lo)
    inside = lo <= lowest and highest <= hi
    if inside or not (lo - slack < lowest and highest < hi + slack):
        return None, ()
    note = (
        f"scores that leave [{lo:g}, {hi:g}] by less than {slack:g} are rounding: they are taken as {lo:g} and {hi:g}"
    )
    return (lo, hi), (note,)


def middle(low: Any, high: Any) -> Any:
    """The middle of intervals, which lies inside them if any number does."""
    return low + (high - low) / 2


def united(a: Spans | None, b: Spans | None, extremes: tuple[float, float]) -> Spans | None:
    """The intervals of two tables; those that overlap become one."""
    if a is None and b is None:
        return None
    present = [s for s in (a, b) if s is not None]
    low, high = (np.concatenate([getattr(s, end) for s in present]) for end in ("low", "high"))
    order = np.lexsort([high, low])
    low, high = low[order], high[order]
    reach = np.maximum.accumulate(high) if len(high) else high
    starts = np.flatnonzero(np.r_[True, low[1:] >= reach[:-1]]) if len(low) else np.zeros(0, np.int64)
    ends = np.maximum.reduceat(high, starts) if len(starts) else high
    grids = [s.grid for s in present]
    return Spans(low[starts], ends, *extremes, grids[0] if grids.count(grids[0]) == len(grids) else None)
