"""Passes over the rows of arrays that may live on a device: what `Space` offers, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from evenhand.ingest.engines.array_api import Space
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.decimals import STAGES, Narrow
from evenhand.tables.exact_sums import Scales
from evenhand.tables.grid import Grid

DENSE = 1 << 27
"""So many counters are kept at a time, whether or not they are needed."""
SPAN = 1 << 16
"""Whole numbers that lie no further apart are codes as they are."""
Piecewise = Callable[[slice], Any]


def pieces(space: Space, rows: int) -> Iterator[slice]:
    for start in range(0, max(rows, 1), space.chunk):
        yield slice(start, min(start + space.chunk, rows))


def made(space: Space, rows: int, part: Piecewise) -> Any:
    """A whole array of what `part` makes for each piece of it."""
    out = None
    for piece in pieces(space, rows):
        found = part(piece)
        out = space.empty(found, rows) if out is None else out
        out[piece] = found
    return out


def distinct(space: Space, rows: int, part: Piecewise) -> Any:
    """All values that occur, in order."""
    found: list[Any] = []
    for piece in pieces(space, rows):
        found.append(space.distinct(part(piece)))
        if sum(map(len, found[1:])) > len(found[0]):
            found = [space.distinct(space.join(found))]
    return space.distinct(space.join(found)) if len(found) > 1 else found[0]


def extents(space: Space, score: Any, stratum: Any, strata: int) -> tuple[Ints, Floats, Floats]:
    """By stratum and whether the score is finite: how many rows, the lowest and the highest score."""
    fused = space.kernels(score)
    if fused is not None:
        n, lowest, highest = fused.extents(score, stratum, strata)
        lowest, highest = (space.down(e).astype(np.float64) for e in (lowest, highest))
        return space.down(n).astype(np.int64), lowest, highest
    n = np.zeros(2 * strata, np.int64)
    lowest, highest = space.full(2 * strata, np.inf), space.full(2 * strata, -np.inf)
    for piece in pieces(space, len(score)):
        x = space.floats(score[piece])
        finite = space.finite(x)
        key = 2 * space.ints(stratum[piece]) + space.ints(finite)
        n += space.down(space.counts(key, 2 * strata))
        space.lower(lowest, key, space.where(finite, x, np.inf))
        space.higher(highest, key, space.where(finite, x, -np.inf))
    return n, space.down(lowest), space.down(highest)


def joined(space: Space, columns: Sequence[tuple[Any, int, int]], size: int) -> Any:
    """Codes that count from some number on, each with how many there are, as one number below `size`."""
    rows = len(columns[0][0])
    fused = space.kernels(columns[0][0])
    if fused is not None and size <= SPAN:
        return fused.joined(columns, size)
    return made(space, rows, lambda piece: space.narrow(numbered(space, columns, piece), size))


def numbered(space: Space, columns: Sequence[tuple[Any, int, int]], piece: slice) -> Any:
    total: Any = 0
    for codes, low, span in columns:
        total = total * span + (space.ints(codes[piece]) - low)
    return total


def keys(space: Space, grid: Grid, x: Any) -> Any:
    """`Grid.keys` of finite scores, operation by operation."""
    starts, ups, downs, shifts, pins, offsets = map(space.up, tables(grid))
    own = space.places(starts[1:], x, right=True)
    up, down = ups[own], downs[own]
    place = space.floor(x * up / down + 0.5)
    found = 2 * place + _side(space, x, place * down / up) + shifts[own]
    return space.where(x == pins[own], offsets[own], found)


def shortest(space: Space, score: Any, narrow: Narrow) -> Any:
    """`Narrow.shortest` of scores of few bits, operation by operation."""
    starts, scales = map(space.up, (narrow.starts, narrow.scales))
    kind = score.dtype

    def part(piece: slice) -> Any:
        x = space.floats(score[piece])
        scale = scales[space.places(starts, space.where(x < 0, -x, x), right=True)]
        found = x
        for stage in reversed(STAGES):
            up = space.where(scale > 0, scale * stage, 1.0)
            decimal = space.floor(x * up + 0.5) / up
            fits = (space.floats(space.cast(decimal, kind)) == x) & (scale > 0)
            found = space.where(fits, decimal, found)
        return found

    return made(space, len(score), part)


def tables(grid: Grid) -> list[Floats]:
    """What the arithmetic of a grid needs to know of each piece."""
    return [
        grid.starts,
        np.array([p.up for p in grid.pieces]),
        np.array([p.down for p in grid.pieces]),
        grid.shifts,
        np.where(grid.loose, grid.starts, np.nan),
        grid.offsets,
    ]


def _side(space: Space, x: Any, value: Any) -> Any:
    return space.floats(x > value) - space.floats(x < value)


def places(space: Space, grid: Grid, x: Any, low: float, width: int) -> Any:
    """The keys of scores from `low` on; the last place is for scores that are not finite."""
    finite = space.finite(x)
    found = keys(space, grid, space.where(finite, x, 0.0)) - low
    return space.ints(space.where(finite, found, float(width - 1)))


def counted(space: Space, rows: int, key: Piecewise, size: int, weights: Sequence[Piecewise] = ()) -> Any:
    """The keys that occur, how many rows each has, and sums of weights; keys are below `size`."""
    if size > DENSE:
        found = distinct(space, rows, key)
        n, sums = _counted(space, rows, lambda piece: space.places(found, key(piece)), len(found), weights)
        return space.down(found), space.down(n), [space.down(s) for s in sums]
    n, sums = _counted(space, rows, key, size, weights)
    found = space.found(n)
    return space.down(found), space.down(n[found]), [space.down(s[found]) for s in sums]


def _counted(space: Space, rows: int, key: Piecewise, size: int, weights: Sequence[Piecewise]) -> tuple[Any, list[Any]]:
    n: Any = 0
    sums: list[Any] = [0] * len(weights)
    for piece in pieces(space, rows):
        own = key(piece)
        n = n + space.counts(own, size)
        sums = [total + space.counts(own, size, w(piece)) for total, w in zip(sums, weights, strict=True)]
    return n, sums


def ends_of(space: Space, rows: int, key: Piecewise, found: Ints, score: Any) -> tuple[Floats, Floats]:
    """The lowest and the highest score of the rows of each key."""
    ordered = space.up(found)
    lowest, highest = space.full(len(found), np.inf), space.full(len(found), -np.inf)
    for piece in pieces(space, rows):
        own, x = space.places(ordered, key(piece)), space.floats(score[piece])
        finite = space.finite(x)
        space.lower(lowest, own, space.where(finite, x, np.inf))
        space.higher(highest, own, space.where(finite, x, -np.inf))
    return space.down(lowest), space.down(highest)


def inside(space: Space, score: Any, ranges: Sequence[tuple[float, float]]) -> Any:
    """The numbers of those rows whose score lies strictly inside one of the ranges."""
    fused = space.kernels(score)
    if fused is not None:
        return fused.inside(score, ranges)
    found = []
    for piece in pieces(space, len(score)):
        x = space.floats(score[piece])
        chosen = x != x
        for low, high in ranges:
            chosen |= (x > low) & (x < high)
        found.append(space.found(chosen & space.finite(x)) + piece.start)
    return space.join(found)


def exact_sums(space: Space, rows: int, key: Piecewise, size: int, values: Piecewise, by: Scales) -> Floats:
    """By key that occurs, the sums of the parts of numbers: `exact_sums.parts_of`, operation by operation."""

    def part(which: int) -> Piecewise:
        def cut(piece: slice) -> Any:
            rest = values(piece)
            for scale in by[:which]:
                rest = rest - space.floor(rest * scale) / scale
            return space.floor(rest * by[which]) / by[which]

        return cut

    return np.array(counted(space, rows, key, size, [part(k) for k in range(len(by))])[2])
