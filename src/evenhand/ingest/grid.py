"""Where scores are put together when there are too many to keep: decimals, more of them where people crowd.

A grid is a row of pieces. On most of them scores are told apart by a number of decimals: a score of just so many
decimals is a cell of its own, and those between two such scores are another. So every threshold of few decimals stays
exact, and grids of different numbers of decimals nest. A piece may instead be cut at one score that is no such decimal.

Every cell has a number, its key, which numpy, SQL and narwhals compute alike: with one rounded multiplication, a floor,
one correctly rounded division and comparisons, so that no engine can disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from evenhand.cells import Bools, Floats

FINEST = 2.0**50
"""Scores times their scale stay below this, or a float could not hold their place."""
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Piece:
    """From `start` to the start of the next piece: told apart by so many decimals, or only at `cut`."""

    start: float
    decimals: int
    cut: float | None = None

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
            size = 4.0
            if piece.cut is None:
                size = 2 * float(piece.place(following.start) - piece.place(piece.start))
            found.append(found[-1] + size)
        return np.array(found)

    @cached_property
    def shifts(self) -> Floats:
        """What twice the number of a decimal lacks to its key."""
        first = [0.0 if p.cut is not None else float(p.place(p.start)) for p in self.pieces]
        return np.asarray(self.offsets - 2 * np.array(first))

    # ---- scores to keys ------------------------------------------------------------------------------------

    def keys(self, scores: Floats) -> Floats:
        """The key of each score, as a float; NaN where the score is not finite."""
        found = np.empty(len(scores))
        for start in range(0, len(scores), _CHUNK):
            part = slice(start, start + _CHUNK)
            with np.errstate(invalid="ignore"):
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
        cut = np.array([np.nan if p.cut is None else p.cut for p in self.pieces])[own]
        side = np.where(x == self.starts[own], 0.0, 2 + np.sign(x - cut))
        return np.asarray(np.where(np.isnan(cut), found, side + self.shifts[own]))

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
            piece, shift = self.pieces[i], number(self.shifts[i])
            if piece.cut is not None:
                cut, start = number(piece.cut), number(piece.start)
                return f"CASE WHEN {x} = {start} THEN 0 ELSE 2 + {_side(x, cut)} END + {shift}"
            scale = (f" * {number(piece.up)}" if piece.up > 1 else "") + (
                f" / {number(piece.down)}" if piece.down > 1 else ""
            )
            back = (f" * {number(piece.down)}" if piece.down > 1 else "") + (
                f" / {number(piece.up)}" if piece.up > 1 else ""
            )
            place = f"floor({x}{scale} + 0.5::DOUBLE)"
            return f"2 * {place} + {_side(x, f'({place}{back})')} + {shift}"

        def fork(start: float, below: str, above: str) -> str:
            return f"CASE WHEN {x} < {number(start)} THEN {below} ELSE {above} END"

        # Comparing x - x is the one finite test that the statistics of a Parquet file cannot fool.
        return f"CASE WHEN ({x} - {x}) = 0 THEN {self.branches(leaf, fork)} END"

    def expression(self, x: Any) -> Any:
        """The same for narwhals; −infinity where the score is not finite (some engines mix up NaN and null)."""
        import narwhals as nw

        def side(value: Any) -> Any:
            return (
                nw.when(x < value)
                .then(nw.lit(-1.0))
                .otherwise(nw.when(x > value).then(nw.lit(1.0)).otherwise(nw.lit(0.0)))
            )

        def leaf(i: int) -> Any:
            piece, shift = self.pieces[i], float(self.shifts[i])
            if piece.cut is not None:
                inside = side(piece.cut) + 2.0
                return nw.when(x == piece.start).then(nw.lit(0.0)).otherwise(inside) + shift
            # A column as divisor: by a number, Polars multiplies with its rounded inverse.
            up, down = (x - x + piece.up, x - x + piece.down)
            place = ((x / down if piece.down > 1 else x * piece.up) + 0.5).floor()
            return place * 2.0 + side(place * piece.down if piece.down > 1 else place / up) + shift

        def fork(start: float, below: Any, above: Any) -> Any:
            return nw.when(x < start).then(below).otherwise(above)

        return nw.when((x - x) == 0.0).then(self.branches(leaf, fork)).otherwise(nw.lit(NOWHERE))

    # ---- keys to scores ------------------------------------------------------------------------------------

    def ends(self, keys: Floats) -> tuple[Floats, Floats]:
        """Between which scores the people of a cell lie: twice the same for a cell of one score."""
        own = np.clip(np.searchsorted(self.offsets, keys, side="right") - 1, 0, None)
        low, high = np.empty(len(keys)), np.empty(len(keys))
        for i in np.unique(own):
            piece, mine = self.pieces[i], own == i
            if piece.cut is None:
                double = keys[mine] - self.shifts[i]
                low[mine], high[mine] = piece.score(np.floor(double / 2)), piece.score(np.ceil(double / 2))
            else:
                step = (keys[mine] - self.offsets[i]).astype(np.int64)
                start, cut, end = piece.start, piece.cut, self.pieces[i + 1].start
                low[mine] = np.array([start, start, cut, cut])[step]
                high[mine] = np.array([start, cut, cut, end])[step]
        return low, high

    # ---- finer grids -------------------------------------------------------------------------------------

    def refined(self, changes: Sequence[Change]) -> Grid:
        """The same grid with other pieces between some scores that it tells apart."""
        pieces = list(self.pieces)
        for change in changes:
            after = next((p for p in reversed(pieces) if p.start <= change.high), pieces[0])
            kept = [p for p in pieces if not change.low <= p.start < change.high]
            if not any(p.start == change.high for p in kept):
                kept.append(replace(after, start=change.high))
            kept.append(Piece(change.low, change.decimals, change.cut))
            pieces = sorted(kept, key=lambda p: p.start)
        if pieces[0].start > self.pieces[0].start:
            pieces.insert(0, self.pieces[0])
        return Grid(tuple(pieces))


class Change(NamedTuple):
    """A piece between two scores."""

    low: float
    high: float
    decimals: int
    cut: float | None = None


NOWHERE = float("-inf")


def number(value: float) -> str:
    """A float as SQL reads it back to the last bit."""
    return f"'{float(value)!r}'::DOUBLE"


def _side(x: str, value: str) -> str:
    return f"CASE WHEN {x} < {value} THEN -1 WHEN {x} > {value} THEN 1 ELSE 0 END"


def base_grid(lowest: float, highest: float, decimals: int) -> Grid:
    """One number of decimals for all scores."""
    piece = Piece(0.0, decimals)
    start = float(piece.score(np.floor(lowest * piece.up / piece.down)))
    return Grid((Piece(start, decimals),))


def decimals_for(step: float, largest: float) -> int:
    """So many decimals that neighbours are no further apart than `step`, and places of `largest` fit in a float."""
    wanted = int(np.ceil(-np.log10(step) - 1e-9))
    while wanted > -300 and largest * 10.0**wanted > FINEST:
        wanted -= 1
    return wanted


def are_ranges(keys: Floats) -> Bools:
    """Whether each cell stands for a range of scores: those have the odd keys."""
    return np.asarray(np.mod(keys, 2) == 1)
