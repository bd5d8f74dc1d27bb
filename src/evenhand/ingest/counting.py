"""How rows are counted by score: exactly if scores are few, else on a grid that follows where people are.

Whatever holds the rows answers four questions (`Counting`); what is asked next is decided here, from checked counts
alone, so that every engine ends with the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from evenhand.cells import Bools, Floats, Ints, combined
from evenhand.errors import DataError, UsageError, shown
from evenhand.ingest.columns import Columns, Words, checked
from evenhand.ingest.grid import Change, Grid, are_ranges, base_grid, decimals_for
from evenhand.spans import Spans, middle
from evenhand.table import Table, bin_edges

EXACT = 100_000
"""So many distinct scores of people who share group and label are kept exactly."""
MOST_EXACT = 10_000_000
"""But not more rows than this, all together."""
STEP = 2e-5
"""How wide a cell may be, as a share of the range,"""
LIGHT = 2.5e-5
"""and which share of the people of one group and label it may hold. Both sums of SPEC's bound stay below 1e-4 then."""
MOST_CELLS = 20_000_000
MOST_PIECES = 200
PASSES = 8
PEEKED = 16
"""So many cells are looked into, to learn how many distinct scores a cell holds."""


class Counting(Protocol):
    """Rows that can be counted, all of them with the same columns."""

    @property
    def length(self) -> int | None:
        """How many rows there are, if that costs nothing to know."""

    def totals(self) -> Columns:
        """Rows by everything but the score; their lowest score is `score`, their highest `further[0]`."""

    def exact(self) -> Columns:
        """Rows by score."""

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        """The same of those rows whose score lies strictly inside one of the ranges."""

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        """Rows by the cell of a grid: `score` is its key. With extremes, `further` has its lowest and highest score."""


@dataclass(frozen=True)
class Adjusted:
    """Counts that are changed before anybody sees them, such as to those of some rows only."""

    rows: Counting
    change: Callable[[Columns], Columns]
    length: int | None = None

    def totals(self) -> Columns:
        return self.change(self.rows.totals())

    def exact(self) -> Columns:
        return self.change(self.rows.exact())

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        return self.change(self.rows.within(ranges))

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        return self.change(self.rows.keyed(grid, extremes))


class Cuts(NamedTuple):
    """Where people must be told apart: at thresholds, and at the borders of so many bins of equal width."""

    scores: tuple[float, ...] = ()
    bins: tuple[int, ...] = (10, 50)


def with_cells(words: Words, grid: Any, cuts: Any) -> Words:
    """Words that also say in which cells scores are counted."""
    if not isinstance(cuts, Cuts):
        cuts = Cuts(_numbers(cuts))
    if grid is not None and not isinstance(grid, Grid | bool):
        grid = _grid_of(grid)
    if grid is True:
        grid = None
    return replace(words, cuts=cuts.scores, bins=cuts.bins, grid=grid)


def _numbers(cuts: Any) -> tuple[float, ...]:
    try:
        if isinstance(cuts, str):
            raise TypeError
        found = tuple(float(c) for c in cuts)
    except (TypeError, ValueError):
        raise UsageError(f"cuts are thresholds, a list of numbers, not {shown(cuts)}") from None
    if not np.isfinite(found).all():
        raise UsageError(f"cuts are finite numbers, not {shown(cuts)}")
    return found


def _grid_of(given: Any) -> Grid | None:
    """The grid of a table, or of a saved one; an exact table has none."""
    from evenhand.storage import load

    table = given if isinstance(given, Table) else load(given)
    if not isinstance(table, Table) or table.score is None:
        raise UsageError("grid is a table of scores, or the path of one: its cells are to be used again")
    if table.spans is None:
        return None
    if not isinstance(table.spans.grid, Grid):
        raise UsageError(
            "the cells of this table are not those of one grid (it is a sum of tables with different ones, or was made "
            "coarser): take one of the tables it was made of"
        )
    return table.spans.grid


def whole(rows: Counting) -> Columns:
    """All rows by everything, exactly."""
    columns = rows.exact()
    _same_total(columns, rows.length)
    return columns


@dataclass(frozen=True)
class _Cells:
    """Checked counts by key."""

    cells: dict[str, Any]
    grid: Grid
    ends: tuple[Floats, Floats] | None
    """The lowest and the highest score of each cell, if asked for."""

    @property
    def keys(self) -> Floats:
        return np.asarray(self.cells["score"])

    @property
    def n(self) -> Ints:
        return np.asarray(self.cells["n"])

    def strata(self) -> tuple[Ints, Ints]:
        """Who shares group, label and decision: the number of the stratum of each cell, and people per stratum."""
        c = self.cells
        key = combined(c["attributes"], c["codes"], c["decision"], c["label"])
        stratum = np.unique(key, return_inverse=True)[1].reshape(-1)
        return stratum, np.bincount(stratum, weights=self.n)


def count_scores(counting: Counting, words: Words) -> Table:
    """The table of one score."""
    if words.grid is False or (words.grid is None and counting.length is not None and counting.length <= EXACT):
        return _exact(counting, words, counting.length)
    totals = counting.totals()
    rows = int(totals.n.sum())
    cells, ends = checked(totals, words)
    lowest, highest = float(cells["score"].min()) + 0.0, float(ends[0].max()) + 0.0
    if words.grid is None and _small(cells):
        return _exact(counting, words, rows)
    grid = words.grid or _first_grid(lowest, highest, cells, words)
    found = _keyed(counting, grid, words, rows)
    if words.grid is None:
        if _few_scores(counting, found, words):
            return _exact(counting, words, rows)
        found = _refined(counting, found, words, rows, _cuts(lowest, highest, words))
    return _table(found, lowest, highest)


def _exact(counting: Counting, words: Words, rows: int | None) -> Table:
    columns = counting.exact()
    _same_total(columns, rows)
    return Table.of_cells(**checked(columns, words)[0])


def _keyed(counting: Counting, grid: Grid, words: Words, rows: int, extremes: bool = False) -> _Cells:
    columns = counting.keyed(grid, extremes)
    _same_total(columns, rows)
    cells, ends = checked(columns, words)
    return _Cells(cells, grid, (ends[0], ends[1]) if extremes else None)


def _same_total(columns: Columns, rows: int | None) -> None:
    """No row may get lost on the way, or be counted twice."""
    if rows is not None and int(columns.n.sum()) != rows:
        raise DataError(
            f"the data changed while they were counted, or were counted wrongly: {int(columns.n.sum()):,} rows in "
            f"cells, but {rows:,} in all; count them again"
        )


def _small(totals: dict[str, Any]) -> bool:
    """Whether exact counts are few, however many distinct scores there are."""
    n = totals["n"]
    return bool(n.max() <= EXACT and n.sum() <= MOST_EXACT)


def _range(lowest: float, highest: float, words: Words) -> tuple[float, float]:
    if words.score_range is not None:
        return words.score_range
    return (0.0, 1.0) if lowest >= 0 and highest <= 1 else (lowest, highest)


def _first_grid(lowest: float, highest: float, totals: dict[str, Any], words: Words) -> Grid:
    """One number of decimals for all scores; fewer if there are so many groups that the table would get too large."""
    lo, hi = _range(lowest, highest, words)
    decimals = decimals_for(STEP * ((hi - lo) or 1.0), max(abs(lowest), abs(highest)))
    while np.minimum(totals["n"], 2 * (hi - lo) * 10.0**decimals).sum() > MOST_CELLS:
        decimals -= 1
    return base_grid(lowest, highest, decimals)


# ---- few distinct scores? -------------------------------------------------------------------------------------


def _few_scores(counting: Counting, found: _Cells, words: Words) -> bool:
    """Whether scores that are not of few decimals are few all the same, such as those of a tree."""
    ranges = are_ranges(found.keys)
    if not ranges.any():
        return False  # exact as it is
    stratum, sizes = found.strata()
    inside = np.bincount(stratum[ranges], weights=found.n[ranges], minlength=len(sizes))
    if inside.max() <= EXACT and inside.sum() <= MOST_EXACT:
        return True
    keys, place = np.unique(found.keys[ranges], return_inverse=True)
    people = np.bincount(place.reshape(-1), weights=found.n[ranges])
    light = np.flatnonzero(people <= EXACT / PEEKED)
    if not len(light):
        light = np.array([int(people.argmin())])
    picked = light[np.unique(np.linspace(0, len(light) - 1, PEEKED).round().astype(np.int64))]
    low, high = found.grid.ends(keys[picked])
    columns = counting.within(list(zip(low.tolist(), high.tolist(), strict=True)))
    distinct = len(np.unique(checked(columns, words)[0]["score"]))
    return bool(distinct / len(picked) * len(keys) <= EXACT)


# ---- more decimals where people crowd -----------------------------------------------------------------------


def _refined(counting: Counting, found: _Cells, words: Words, rows: int, cuts: Floats) -> _Cells:
    for _ in range(PASSES):
        changes = list(_changes(found, cuts))
        if not changes or len(found.grid.pieces) + 2 * len(changes) > 4 * MOST_PIECES:
            break
        finer = found.grid.refined(changes)
        if finer == found.grid:
            break
        found = _keyed(counting, finer, words, rows, extremes=True)
    return found


def _cuts(lowest: float, highest: float, words: Words) -> Floats:
    """Scores that people must be told apart at: thresholds, and the borders of score bins."""
    ends = _range(lowest, highest, words)
    middle_score = [] if ends == (0.0, 1.0) else [(ends[0] + ends[1]) / 2]  # the threshold of those who name none
    edges = [bin_edges(ends, bins)[1:-1] for bins in words.bins if ends[0] < ends[1]]
    return np.unique(np.concatenate([np.array([*words.cuts, *middle_score], np.float64), *edges]))


def _changes(found: _Cells, cuts: Floats) -> Iterator[Change]:
    """Which pieces of the grid have to be finer."""
    stratum, sizes = found.strata()
    ranges = are_ranges(found.keys)
    allowed = LIGHT * sizes
    allowed = allowed + 4 * np.sqrt(allowed) + 4  # so many are there by chance
    crowd = found.n / allowed[stratum]
    heavy = ranges & (crowd > 1)
    keys, place = np.unique(found.keys[heavy], return_inverse=True)
    excess = np.zeros(len(keys))
    np.maximum.at(excess, place.reshape(-1), found.n[heavy] / (LIGHT * sizes[stratum[heavy]]))
    low, high = found.grid.ends(keys)
    single = _singles(found, heavy, place.reshape(-1), len(keys))
    for k in np.flatnonzero(~np.isnan(single))[:MOST_PIECES].tolist():
        yield Change(float(low[k]), float(high[k]), 0, float(single[k]))
    crowded = np.isnan(single)
    yield from _finer(found.grid, keys[crowded], np.ceil(np.log10(excess[crowded])).astype(np.int64))
    yield from _cut(found, ranges, cuts, keys)


def _singles(found: _Cells, heavy: Bools, place: Ints, count: int) -> Floats:
    """The one score that all people of a heavy cell have; NaN if they have several, or nobody knows."""
    if found.ends is None:
        return np.full(count, np.nan)
    lowest, highest = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(lowest, place, found.ends[0][heavy])
    np.maximum.at(highest, place, found.ends[1][heavy])
    return np.where(lowest == highest, lowest, np.nan)


def _finer(grid: Grid, keys: Floats, more: Ints) -> Iterator[Change]:
    """So many more decimals for each heavy cell; neighbours are joined to as few pieces as a query can bear."""
    if not len(keys):
        return
    low, high = grid.ends(keys)
    own = np.clip(np.searchsorted(grid.starts, low, side="right") - 1, 0, None)
    decimals = np.array([p.decimals for p in grid.pieces])[own] + np.clip(more, 1, 4)
    most = np.array([decimals_for(1e-300, float(x)) for x in np.maximum(np.abs(low), np.abs(high))])
    decimals = np.minimum(decimals, most)
    useful = decimals > np.array([p.decimals for p in grid.pieces])[own]
    keys, low, high, own, decimals = (a[useful] for a in (keys, low, high, own, decimals))
    reach = 4
    while len(keys):
        smooth = _smoothed(keys, own, decimals, reach)
        new = np.ones(len(keys), np.bool_)
        near = (keys[1:] - keys[:-1] <= 2 * reach) & (own[1:] == own[:-1])
        new[1:] = ~near | (smooth[1:] != smooth[:-1])
        starts = np.flatnonzero(new)
        if len(starts) <= MOST_PIECES:
            for a, b in zip(starts, np.append(starts[1:], len(keys)) - 1, strict=True):
                yield Change(float(low[a]), float(high[b]), int(smooth[a]))
            return
        reach *= 4


def _smoothed(keys: Floats, own: Ints, decimals: Ints, reach: int) -> Ints:
    """The most decimals of any heavy cell near by, so that pieces are few."""
    block = np.floor(keys / (2 * reach)).astype(np.int64)
    new = np.r_[True, (block[1:] != block[:-1]) | (own[1:] != own[:-1])]
    starts = np.flatnonzero(new)
    return np.repeat(np.maximum.reduceat(decimals, starts), np.diff(np.append(starts, len(keys))))


def _cut(found: _Cells, ranges: Bools, cuts: Floats, heavy: Floats) -> Iterator[Change]:
    """Cells that a threshold or the border of a bin goes through are cut there."""
    if not len(cuts):
        return
    keys = found.grid.keys(cuts)
    occupied = np.isin(keys, found.keys[ranges]) & are_ranges(keys) & ~np.isin(keys, heavy)
    keys, cuts = keys[occupied], cuts[occupied]
    low, high = found.grid.ends(keys)
    for k in np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)]).tolist():
        piece = found.grid.pieces[max(int(np.searchsorted(found.grid.starts, low[k], side="right")) - 1, 0)]
        if (keys == keys[k]).sum() > 1 and piece.cut is None:
            yield Change(float(low[k]), float(high[k]), piece.decimals + 1)
        elif piece.cut is None:
            yield Change(float(low[k]), float(high[k]), piece.decimals, float(cuts[k]))


# ---- the table ------------------------------------------------------------------------------------------------


def _table(found: _Cells, lowest: float, highest: float) -> Table:
    low, high = found.grid.ends(found.keys)
    ranges = low < high
    score = np.where(ranges, middle(low, high), low)
    spans = None
    if ranges.any():
        ends = np.unique(np.stack([low[ranges], high[ranges]]), axis=1)
        spans = Spans(ends[0], ends[1], lowest, highest, found.grid)
    return Table.of_cells(**{**found.cells, "score": score}, spans=spans)
