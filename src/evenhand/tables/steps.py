"""Borders of ranges of scores that nobody's score chooses: numbers of few digits, with enough people on both sides.

Steps are 1, 0.5, 0.1, 0.05, 0.01 and so on wide, each a part of the one before. Between two scores the border is the
start of a step, of the widest for which there is one. It may be used only if the two steps of that width in which the
scores lie hold enough people. So there is nobody between two such borders, or enough people, whatever their groups are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.grid import EXACT_POWER, FINEST, Piece

DIGITS = 18
"""So many powers of ten are tried, from one above the largest score on."""


@dataclass(frozen=True)
class Steps:
    """Steps of a width: so many decimals, or five of their last digit.

    >>> Steps(Piece(0.0, 1), 1).first(np.array([0.3, 0.29])).tolist(), Steps(Piece(0.0, 2), 5).start(np.array([7.0]))
    ([3.0, 2.0], array([0.35]))
    """

    piece: Piece
    units: int

    def first(self, low: Floats) -> Floats:
        """The number of the step in which these scores lie: it holds its start, and not its end."""
        place = self.piece.place(low)
        return np.asarray(np.floor((place - (self.piece.score(place) > low)) / self.units))

    def last(self, high: Floats) -> Floats:
        """The number of the step in which the scores just below these lie."""
        place = self.piece.place(high)
        return np.asarray(np.floor((place - (self.piece.score(place) >= high)) / self.units))

    def start(self, step: Floats) -> Floats:
        """The number at which a step starts."""
        return np.asarray(self.piece.score(step * self.units))


def widths(largest: float) -> Iterator[Steps]:
    """All steps for scores up to this size, from the widest to those that a float can just tell apart."""
    top = int(np.floor(np.log10(max(largest, 1e-280)))) + 1
    for decimals in range(-top, DIGITS - top):
        piece = Piece(0.0, decimals)
        if abs(decimals) > EXACT_POWER or largest * piece.up / piece.down > FINEST:
            return
        yield from (Steps(piece, 5), Steps(piece, 1))


def between(low: Floats, high: Floats) -> Floats:
    """The border between neighbouring cells of scores, each from `low` to below `high`.

    >>> between(np.array([0.1, 0.31234, 0.56789]), np.array([0.2, 0.52345, 0.6])).tolist()
    [0.3, 0.55]
    """
    found, told = low[1:].copy(), np.zeros(len(low) - 1, np.bool_)
    for apart, border in _by_width(low, high):
        found, told = np.where(apart & ~told, border, found), told | apart
        if told.all():
            break
    return found


def usable(low: Floats, high: Floats, n: Ints, below: int) -> Bools:
    """Whether the border between neighbouring cells may be used: both steps beside it hold so many people at least.

    >>> low = np.array([0.1, 0.31234, 0.34, 0.56789])
    >>> usable(low, np.nextafter(low, 1), np.array([10, 9, 1, 10]), below=10).tolist()
    [True, False, True]
    """
    found, told = (np.zeros(len(low) - 1, np.bool_) for _ in range(2))
    for apart, _ in _by_width(low, high):
        place = np.cumsum(np.append(False, apart))
        enough = np.bincount(place, weights=n) >= below
        found |= ~told & apart & enough[place[:-1]] & enough[place[1:]]
        told |= apart
        if told.all() or not enough.any():
            break
    return found


def _by_width(low: Floats, high: Floats) -> Iterator[tuple[Bools, Floats]]:
    """From wide to narrow: which neighbouring cells lie in different steps, and where the step of the second starts."""
    for steps in widths(float(max(abs(low[0]), abs(low[-1])))):
        to = steps.first(low[1:])
        yield steps.last(high[:-1]) < to, steps.start(to)
    yield np.ones(len(low) - 1, np.bool_), low[1:]  # too near for a number between them, or ranges that touch
