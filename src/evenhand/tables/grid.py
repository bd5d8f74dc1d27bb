"""Where scores are put together when there are too many to keep: decimals, more of them where people crowd.

A grid is a row of pieces. On each of them scores are distinguished by a number of decimals: a score of just so many
decimals is a cell of its own, and those between two such scores are another. So every threshold of few decimals stays
exact, and grids of different numbers of decimals nest. The start of a piece, which need not be such a decimal, is a
cell of its own too.

Every cell has a number, its key, which numpy, SQL and narwhals compute alike: with one rounded multiplication, a floor,
one correctly rounded division and comparisons, so that no engine can disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from evenhand.tables.arrays import Bools, Floats

FINEST = 2.0**50
"""Scores times their scale stay below this, or a float could not hold their place."""
EXACT_POWER = 22
"""Higher powers of ten are no floats."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Piece:
    """From `start` to the start of the next piece: distinguished by so many decimals."""

    start: float
    decimals: int

    @property
    def up(self) -> float:
        return float(10**self.decimals) if self.decimals > 0 else 1.0

    @property
    def down(self) -> float:
        return float(10**-self.decimals) if self.decimals < 0 else 1.0

    def place(self, scores: Any) -> Any:
        """The number of the nearest decimal."""
        return np.floor(scores * self.up / self.down + 0.5)

    def score(self, place: Any) -> Any:
        """The decimal of a number: the float nearest to it, as if one had typed it."""
        return place * self.down / self.up

    @property
    def aligned(self) -> bool:
        """Whether the start is itself such a decimal."""
        return abs(self.decimals) <= EXACT_POWER and bool(self.score(self.place(self.start)) == self.start)

    @property
    def first(self) -> float:
        """The place that key 0 of the piece has: that of its start, or one surely below it."""
        return float(self.place(self.start)) - (0 if self.aligned else 2)


class Change(NamedTuple):
    """So many decimals between two scores."""

    low: float
    high: float
    decimals: int


@dataclass(frozen=True)
class Grid:
    """Pieces in their order; the first one reaches down to every lower score, the last one up to every higher.

    >>> grid = Grid((Piece(0.0, 1), Piece(0.5, 3), Piece(0.6, 1)))
    >>> grid.keys(np.array([0.0, 0.05, 0.1, 0.5, 0.5005, 0.501, 0.6, 0.99])).tolist()
    [0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 210.0, 217.0]
    >>> [end.tolist() for end in grid.ends(np.array([2.0, 11.0]))]
    [[0.1, 0.5], [0.1, 0.501]]
    """

    pieces: tuple[Piece, ...]

    @cached_property
    def starts(self) -> Floats:
        return np.array([p.start for p in self.pieces])

    @cached_property
    def offsets(self) -> Floats:
        """The key of the start of each piece."""
        found = [0.0]
        for piece, following in zip(self.pieces, self.pieces[1:], strict=False):
            end = float(piece.place(following.start))
            if abs(piece.decimals) > EXACT_POWER or piece.score(end) != following.start:
                end += 2  # the last cell ends at the next piece, before its next decimal
            found.append(found[-1] + 2 * (end - piece.first))
        return np.array(found)

    @cached_property
    def shifts(self) -> Floats:
        """What twice the number of a decimal lacks to its key."""
        return np.asarray(self.offsets - 2 * np.array([p.first for p in self.pieces]))

    @cached_property
    def loose(self) -> Bools:
        """Which pieces start beside a decimal; the first one's start matters to nobody."""
        return np.array([i > 0 and not p.aligned for i, p in enumerate(self.pieces)])

    def reaches(self, lowest: float, highest: float) -> bool:
        """Whether scores in this range have keys."""
        ends = ((lowest, self.pieces[0]), (highest, self.pieces[-1]))
        return all(abs(score) * piece.up / piece.down <= FINEST for score, piece in ends)

    # ---- scores to keys ------------------------------------------------------------------------------------

    def keys(self, scores: Floats) -> Floats:
        """The key of each score, as a float; NaN where the score is not finite."""
        found = np.empty(len(scores))
        with np.errstate(invalid="ignore", over="ignore"):
            for start in range(0, len(scores), _CHUNK):
                part = slice(start, start + _CHUNK)
                found[part] = self._keys(scores[part])
        found[~np.isfinite(scores)] = np.nan
        return found

    def _keys(self, x: Floats) -> Floats:
        if len(self.pieces) == 1:
            piece, shift = self.pieces[0], self.shifts[0]
            place = piece.place(x)
            return np.asarray(2 * place + np.sign(x - piece.score(place)) + shift)
        own = np.searchsorted(self.starts[1:], x, side="right")
        up, down = (np.array([getattr(p, name) for p in self.pieces])[own] for name in ("up", "down"))
        place = np.floor(x * up / down + 0.5)
        found = 2 * place + np.sign(x - place * down / up) + self.shifts[own]
        return np.where(self.loose[own] & (x == self.starts[own]), self.offsets[own], found)

    def branches(self, leaf: Callable[[int], Any], fork: Callable[[float, Any, Any], Any]) -> Any:
        """A tree of comparisons with the starts of pieces: `fork(start, below, from there on)`."""

        def tree(first: int, last: int) -> Any:
            if first == last:
                return leaf(first)
            middle = (first + last + 1) // 2
            return fork(self.pieces[middle].start, tree(first, middle - 1), tree(middle, last))

        return tree(0, len(self.pieces) - 1)

    def sql(self, x: str) -> str:
        """SQL for the key of a score; NULL where it is not finite."""

        def leaf(i: int) -> str:
            piece = self.pieces[i]
            times, over = (f" * {number(piece.up)}", f" / {number(piece.up)}") if piece.up > 1 else ("", "")
            if piece.down > 1:
                times, over = f" / {number(piece.down)}", f" * {number(piece.down)}"
            place = f"floor({x}{times} + 0.5::DOUBLE)"
            nearest = f"({place}{over})"
            side = f"CASE WHEN {x} < {nearest} THEN -1 WHEN {x} > {nearest} THEN 1 ELSE 0 END"
            key = f"2 * {place} + {side} + {number(self.shifts[i])}"
            if not self.loose[i]:
                return key
            return f"CASE WHEN {x} = {number(piece.start)} THEN {number(self.offsets[i])} ELSE {key} END"

        def fork(start: float, below: str, above: str) -> str:
            return f"CASE WHEN {x} < {number(start)} THEN {below} ELSE {above} END"

        # Comparing x - x is the one finite test that the statistics of a Parquet file cannot fool.
        return f"CASE WHEN ({x} - {x}) = 0 THEN CAST({self.branches(leaf, fork)} AS BIGINT) END"

    # ---- keys to scores ------------------------------------------------------------------------------------

    def ends(self, keys: Floats) -> tuple[Floats, Floats]:
        """Between which scores the people of a cell lie: twice the same for a cell of one score."""
        own = self.piece_of(keys)
        low, high = np.empty(len(keys)), np.empty(len(keys))
        for i in np.unique(own).tolist():
            piece, mine = self.pieces[i], own == i
            double = keys[mine] - self.shifts[i]
            below = -np.inf if i == 0 else piece.start
            above = self.pieces[i + 1].start if i + 1 < len(self.pieces) else np.inf
            low[mine] = np.clip(piece.score(np.floor(double / 2)), below, above)
            high[mine] = np.clip(piece.score(np.ceil(double / 2)), below, above)
            if self.loose[i]:
                at_start = mine & (keys == self.offsets[i])
                low[at_start] = high[at_start] = piece.start
        return low, high

    def piece_of(self, keys: Floats) -> Any:
        """Which piece each key belongs to."""
        return np.clip(np.searchsorted(self.offsets, keys, side="right") - 1, 0, None)

    # ---- finer grids -------------------------------------------------------------------------------------

    def refined(self, changes: Sequence[Change]) -> Grid:
        """The same grid with more decimals between some scores, which it must tell apart already."""
        pieces = list(self.pieces)
        for change in changes:
            after = next((p for p in reversed(pieces) if p.start <= change.high), pieces[0])
            kept = [p for p in pieces if not change.low <= p.start < change.high]
            if not any(p.start == change.high for p in kept):
                kept.append(replace(after, start=change.high))
            kept.append(Piece(change.low, change.decimals))
            pieces = sorted(kept, key=lambda p: p.start)
        return Grid(tuple(pieces))

    def cut(self, scores: Sequence[float]) -> Grid:
        """The same grid, these scores being cells of their own."""
        pieces = {p.start: p for p in self.pieces}
        for score in scores:
            own = next((p for p in reversed(self.pieces) if p.start <= score), self.pieces[0])
            pieces.setdefault(score, replace(own, start=score))
        return Grid(tuple(pieces[start] for start in sorted(pieces)))


def number(value: float) -> str:
    """A float as SQL reads it back to the last bit."""
    return f"'{float(value)!r}'::DOUBLE"


def base_grid(lowest: float, decimals: int) -> Grid:
    """One number of decimals for all scores. It starts below them, so that the first piece is never changed."""
    piece = Piece(0.0, decimals)
    return Grid((Piece(float(piece.score(np.floor(lowest * piece.up / piece.down) - 1)), decimals),))


def decimals_for(step: float, largest: float) -> int:
    """So many decimals that neighbours are no further apart than `step`, and places of `largest` fit in a float."""
    wanted = int(np.ceil(-np.log10(step) - 1e-9))
    if largest > 0:
        wanted = min(wanted, int(np.floor(np.log10(FINEST) - np.log10(largest))))
    return max(min(wanted, 300), -300)


def are_ranges(keys: Floats) -> Bools:
    """Whether each cell stands for a range of scores: those have the odd keys."""
    return np.asarray(np.mod(keys, 2) == 1)
