"""How rows are counted by score: exactly if scores are few, else on a grid that follows where people are.

Whatever holds the rows answers four questions (`Counting`); what is asked next is decided here, from checked counts
alone, so that every engine ends with the same cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError
from evenhand.ingest.columns import Columns, checked, count
from evenhand.ingest.engines.counting import Counting, check_same_total
from evenhand.ingest.reading import Reading
from evenhand.ingest.roles import Missing, WeightKind
from evenhand.ingest.values import encode, label_key, to_floats
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.cells import combined
from evenhand.tables.decimals import NARROW
from evenhand.tables.exact_sums import sums_by
from evenhand.tables.grid import Change, Grid, are_ranges, base_grid, decimals_for
from evenhand.tables.groups import sum_by
from evenhand.tables.ranges import Spans, middle, possible_range, rounded_range
from evenhand.tables.table import Table, bin_edges

EXACT = 100_000
"""So many distinct scores of people who share group and label are kept exactly."""
MOST_EXACT = 10_000_000
"""But not more rows than this, all together."""
STEP = 2e-5
"""How wide a cell may be, as a share of the range,"""
LIGHT = 2.5e-5
"""and which share of the people of one group and label it should hold, unless there are few of them:"""
HEAVY = 8e-5
"""at most this; and at most this is"""
DEAR = 4e-5
"""the sum of squares of these shares, without people's own. All bounds stay below 1e-4 then."""
MOST_CELLS = 20_000_000
MOST_PIECES = 64
PASSES = 8
MOST_RANGES = 16
MAGNITUDES = 24
DIGITS = 4
"""Next to zero each of so many magnitudes gets so many digits at once."""
PEEKED = 3
"""At so many places cells are looked into, to learn how many distinct scores a cell holds."""


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

    @cached_property
    def strata(self) -> tuple[Ints, Ints]:
        """Who shares group, label and decision: the number of the stratum of each cell, and people per stratum."""
        stratum = _stratum(self.cells)
        return stratum, np.bincount(stratum, weights=self.n)


def _stratum(cells: dict[str, Any]) -> Ints:
    key = combined(cells["attributes"], cells["codes"], cells["decision"], cells["label"])
    return np.asarray(np.unique(key, return_inverse=True)[1].reshape(-1))


def count_scores(counting: Counting, roles: Reading) -> Table:
    """The table of one score."""
    if roles.grid is False or (roles.grid is None and counting.length is not None and counting.length <= EXACT):
        return _exact(counting, roles)
    totals = counting.totals()
    rows = int(totals.n.sum())
    cells, ends = checked(totals, roles, alike=False)
    if counting.split:
        cells, ends = _gathered(cells, ends, np.zeros(len(cells["n"])))
    lowest, highest = float(cells["score"].min()) + 0.0, float(ends[0].max()) + 0.0
    if roles.grid is None and _small(cells):
        return _exact(counting, roles)
    if not np.isfinite(highest - lowest):
        raise DataError("a table needs scores whose range is a finite number: rescale them")
    grid = roles.grid or _first_grid(lowest, highest, cells, roles)
    if not grid.reaches(lowest, highest):
        raise UsageError(
            f"scores from {lowest:g} to {highest:g} lie too far from those the grid was made for: leave it out"
        )
    found = _keyed(counting, grid, roles, rows)
    if cells["provenance"].tallied and roles.weight_kind == "auto":
        _look_at_weights(counting, found, replace(_settled(roles, totals, found), weight_kind="auto"), rows)
    if roles.grid is None:
        if _few_scores(counting, found, roles):
            return _exact(counting, roles)
        found = _refined(counting, found, roles, rows, _cuts(lowest, highest, roles, totals))
        return _with_neighbours(counting, found, _settled(roles, totals, found), (lowest, highest))
    return _table(found, roles, (lowest, highest))


def _exact(counting: Counting, roles: Reading) -> Table:
    return count(counting.exact(), roles)


def _keyed(counting: Counting, grid: Grid, roles: Reading, rows: int, extremes: bool = False) -> _Cells:
    columns = counting.keyed(grid, extremes)
    check_same_total(int(columns.n.sum()), rows)
    cells, ends = checked(columns, roles, alike=False)
    if counting.split:
        cells, ends = _gathered(cells, ends, cells["score"])
    return _Cells(cells, grid, (ends[0], ends[1]) if extremes else None)


def _gathered(cells: dict[str, Any], ends: list[Floats], key: Floats) -> tuple[dict[str, Any], list[Floats]]:
    """Entries that are alike as one: of the last of their ends the highest, of others the lowest."""
    pairs = np.stack([key, _stratum(cells).astype(np.float64)])
    _, first, place = np.unique(pairs, axis=1, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    sums = {name: sums_by(place, cells[name], len(first)) for name in ("weight", "weight2") if cells[name] is not None}
    sums["n"] = sum_by(place, cells["n"], len(first))
    found = {name: array[..., first] if isinstance(array, np.ndarray) else array for name, array in cells.items()}
    gathered = []
    for i, end in enumerate(ends):
        best = np.full(len(first), -np.inf if i + 1 == len(ends) else np.inf)
        (np.maximum if i + 1 == len(ends) else np.minimum).at(best, place, end)
        gathered.append(best)
    if key is not cells["score"]:  # totals: the lowest score of each
        found["score"] = np.full(len(first), np.inf)
        np.minimum.at(found["score"], place, cells["score"])
    return {**found, **sums}, gathered


def _small(totals: dict[str, Any]) -> bool:
    """Whether exact counts are few, however many distinct scores there are."""
    n = totals["n"]
    return bool(n.max() <= EXACT and n.sum() <= MOST_EXACT)


def _first_grid(lowest: float, highest: float, totals: dict[str, Any], roles: Reading) -> Grid:
    """One number of decimals for all scores; fewer if there are so many groups that the table would get too large."""
    lo, hi = possible_range(lowest, highest, roles.score_range)
    decimals = decimals_for(STEP * ((hi - lo) or 1.0), max(abs(lowest), abs(highest)))
    while np.minimum(totals["n"], 2 * (hi - lo) * 10.0**decimals).sum() > MOST_CELLS:
        decimals -= 1
    return base_grid(lowest, decimals)


# ---- few distinct scores? -------------------------------------------------------------------------------------


def _few_scores(counting: Counting, found: _Cells, roles: Reading) -> bool:
    """Whether scores that are not of few decimals are few all the same, such as those of a tree."""
    ranges = are_ranges(found.keys)
    if not ranges.any():
        return False  # exact as it is
    stratum, sizes = found.strata
    inside = np.bincount(stratum[ranges], weights=found.n[ranges], minlength=len(sizes))
    if inside.max() <= EXACT and inside.sum() <= MOST_EXACT:
        return True
    keys, place = np.unique(found.keys[ranges], return_inverse=True)
    people = np.bincount(place.reshape(-1), weights=found.n[ranges])
    if _smooth(keys, people.astype(np.float64)):
        return False
    low, high = found.grid.ends(keys)
    peeks, cells, rows = [], 0, 0.0
    for looked in _places_to_peek(people.astype(np.float64)):
        cells, rows = cells + len(keys[looked]), rows + float(people[looked].sum())
        peeks.append((float(low[looked][0]), float(high[looked][-1])))
    scores = np.unique(to_floats(counting.within(peeks).score, "score", "score"))
    distinct = int(are_ranges(found.grid.keys(scores)).sum())
    return distinct <= rows / 2 and distinct / cells * len(keys) <= EXACT


def _places_to_peek(people: Floats) -> list[slice]:
    """Neighbouring cells at a few places, each of some people."""
    starts = np.linspace(0, len(people), PEEKED + 2)[1:-1].astype(np.int64).tolist()
    ends = [start + max(int(np.searchsorted(np.cumsum(people[start:]), EXACT / 10)), 1) for start in starts]
    return [slice(start, end) for start, end in zip(starts, ends, strict=True)]


def _look_at_weights(counting: Counting, found: _Cells, roles: Reading, rows: int) -> None:
    """Refuse survey weights that nobody called so, by the single scores of a few places."""
    keys, place = np.unique(found.keys, return_inverse=True)
    low, high = found.grid.ends(keys)
    people = np.asarray(np.bincount(place.reshape(-1), weights=found.n), np.float64)
    looked = _places_to_peek(people * (rows / people.sum()))  # enough rows, however heavy they are
    ends = [(np.nextafter(low[some][0], -np.inf), np.nextafter(high[some][-1], np.inf)) for some in looked]
    checked(counting.within([(float(a), float(b)) for a, b in ends]), roles)


def _smooth(keys: Floats, people: Floats) -> bool:
    """Whether neighbouring cells hold as many people but for chance: then scores are no few distinct ones."""
    near = np.flatnonzero(keys[1:] - keys[:-1] == 2)
    if len(near) < len(keys) / 2:
        return False
    a, b = people[near], people[near + 1]
    return bool(((a - b) ** 2 / (a + b)).mean() < 2 and (a + b).mean() > 4)


# ---- more decimals where people crowd -----------------------------------------------------------------------


def _refined(counting: Counting, found: _Cells, roles: Reading, rows: int, cuts: Floats) -> _Cells:
    for _ in range(PASSES):
        crowds = _crowds(found)
        singles = np.unique(crowds.lowest[crowds.single]).tolist()  # scores that many people have
        points = [*singles, *_borders(found, crowds, cuts)]  # each to become a cell of its own
        changes = _finer(crowds) if len(found.keys) + crowds.new_cells <= MOST_CELLS else []
        finer = found.grid.refined(changes).cut(points[:MOST_PIECES])
        if finer == found.grid or len(finer.pieces) > 4 * MOST_PIECES:
            break
        found = _keyed(counting, finer, roles, rows, extremes=True)
    return found


def _cuts(lowest: float, highest: float, roles: Reading, columns: Columns) -> Floats:
    """Scores that people must be distinguished at: thresholds, and the borders of score bins."""
    narrow = NARROW.get(columns.precision.get("score", ""))
    cuts = roles.cuts if narrow is None else [narrow.compared(cut) for cut in roles.cuts]
    ends = possible_range(lowest, highest, roles.score_range)
    usual = [] if ends == (0.0, 1.0) else [float(middle(*ends))]  # the threshold of those who name none
    edges = [bin_edges(ends, bins)[1:-1] for bins in roles.bins if ends[0] < ends[1]]
    return np.unique(np.concatenate([np.array([*cuts, *usual], np.float64), *edges]))


@dataclass(frozen=True)
class _Crowds:
    """Cells that hold too many people of a stratum, in their order."""

    keys: Floats
    excess: Floats
    """By how much, as a factor."""
    low: Floats
    high: Floats
    decimals: Ints
    """By how many decimals they are distinguished now,"""
    most: Ints
    """and by how many floats can be."""
    piece: Ints
    people: Floats
    lowest: Floats
    """The lowest score in them, NaN if nobody knows,"""
    highest: Floats
    """and the highest."""
    strata: int

    @property
    def more(self) -> Ints:
        """How many more decimals they should have."""
        return np.clip(np.ceil(np.log10(np.maximum(self.excess, 1.0))), 1, 4).astype(np.int64)

    @property
    def new_cells(self) -> float:
        """How many cells more there may be then."""
        return float(np.minimum(self.people, self.strata * 10.0**self.more).sum())

    @property
    def single(self) -> Bools:
        """Whether all their people have one score."""
        return np.asarray(self.lowest == self.highest)


def _crowds(found: _Cells) -> _Crowds:
    stratum, sizes = found.strata
    allowed = LIGHT * sizes
    by_chance = 4 * np.sqrt(allowed) + 4
    ranges = are_ranges(found.keys)
    share = np.where(ranges, found.n / sizes[stratum], 0.0)
    cost = np.bincount(stratum, weights=share * np.maximum(found.n - 1, 0) / sizes[stratum])
    heavy = ranges & (found.n > (allowed + by_chance)[stratum]) & ((cost > DEAR)[stratum] | (share > HEAVY))
    keys, place = np.unique(found.keys[heavy], return_inverse=True)
    place = place.reshape(-1)
    excess = np.zeros(len(keys))
    np.maximum.at(excess, place, found.n[heavy] / allowed[stratum[heavy]])
    lowest, highest = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    if found.ends is None:
        lowest[:], highest[:] = np.nan, np.nan
    else:
        np.minimum.at(lowest, place, found.ends[0][heavy])
        np.maximum.at(highest, place, found.ends[1][heavy])
    low, high = found.grid.ends(keys)
    piece = found.grid.piece_of(keys)
    decimals = np.array([p.decimals for p in found.grid.pieces])[piece]
    furthest = np.maximum(np.abs(low), np.abs(high))
    most = np.array([decimals_for(1e-300, x) for x in furthest.tolist()], np.int64)
    people = np.asarray(np.bincount(place, weights=found.n[heavy], minlength=len(keys)), np.float64)
    return _Crowds(keys, excess, low, high, decimals, most, piece, people, lowest, highest, len(sizes))


def _borders(found: _Cells, crowds: _Crowds, cuts: Floats) -> list[float]:
    """Thresholds and borders of bins that go through a cell with people."""
    keys = found.grid.keys(cuts)
    inside = are_ranges(keys) & np.isin(keys, found.keys) & ~np.isin(keys, crowds.keys)
    return [float(x) for x in cuts[inside]]


def _finer(crowds: _Crowds) -> list[Change]:
    """More decimals for cells of many scores; neighbours are joined to as few pieces as a query can bear."""
    c = crowds
    decimals = np.minimum(c.decimals + c.more, c.most)
    wanted = ~c.single & (decimals > c.decimals)
    near, far = np.minimum(np.abs(c.lowest), np.abs(c.highest)), np.maximum(np.abs(c.lowest), np.abs(c.highest))
    at_zero = wanted & ((c.low == 0) | (c.high == 0)) & ((c.excess > 100) | (near < far / 10**DIGITS))
    changes = [step for k in np.flatnonzero(at_zero).tolist() for step in _ladder(c, k)]
    wanted &= ~at_zero
    keys, low, high, piece, decimals = (a[wanted] for a in (c.keys, c.low, c.high, c.piece, decimals))
    reach = 4
    while len(keys):
        smooth = _smoothed(keys, piece, decimals, reach)
        near = (keys[1:] - keys[:-1] <= 2 * reach) & (piece[1:] == piece[:-1])
        starts = np.flatnonzero(np.r_[True, ~near | (smooth[1:] != smooth[:-1])])
        if len(starts) <= MOST_PIECES:
            lasts = np.append(starts[1:], len(keys)) - 1
            changes += [
                Change(float(low[a]), float(high[b]), int(smooth[a])) for a, b in zip(starts, lasts, strict=True)
            ]
            break
        reach *= 4
    return changes


def _ladder(crowds: _Crowds, k: int) -> list[Change]:
    """Next to zero scores may differ by magnitudes: as many digits for each of them, down to the lowest."""
    sign = 1.0 if crowds.high[k] > 0 else -1.0
    first = int(crowds.decimals[k])
    smallest = np.abs(crowds.lowest[k] if sign > 0 else crowds.highest[k])
    last = first + MAGNITUDES
    if smallest > 0:
        last = min(last, max(first + 1, int(np.ceil(-np.log10(smallest)))))
    steps = [(10.0 ** -(m + 1), 10.0**-m, m + 1 + DIGITS) for m in range(first, last)]
    changes = [Change(low, high, d) if sign > 0 else Change(-high, -low, d) for low, high, d in steps]
    rest = 10.0**-last
    changes.append(Change(0.0, rest, last + DIGITS) if sign > 0 else Change(-rest, 0.0, last + DIGITS))
    return sorted(changes)


def _smoothed(keys: Floats, piece: Ints, decimals: Ints, reach: int) -> Ints:
    """The most decimals of any crowded cell near by, so that pieces are few."""
    block = np.floor(keys / (2 * reach))
    starts = np.flatnonzero(np.r_[True, (block[1:] != block[:-1]) | (piece[1:] != piece[:-1])])
    return np.repeat(np.maximum.reduceat(decimals, starts), np.diff(np.append(starts, len(keys))))


def _with_neighbours(counting: Counting, found: _Cells, roles: Reading, extremes: tuple[float, float]) -> Table:
    """The table, with every score apart where people crowd on neighbouring floats, which no decimals tell apart."""
    crowds = _crowds(found)
    stuck = np.flatnonzero((crowds.decimals >= crowds.most) & ~crowds.single)
    if not len(stuck):
        return _table(found, roles, extremes)
    keys = crowds.keys[stuck]
    gaps = np.sort(np.diff(keys))
    far = max(64.0, gaps[-MOST_RANGES + 1] if len(gaps) >= MOST_RANGES else 0.0)
    starts = np.flatnonzero(np.r_[True, np.diff(keys) > far])
    firsts, lasts = stuck[starts], stuck[np.append(starts[1:], len(stuck)) - 1]
    ranges = list(zip(crowds.low[firsts].tolist(), crowds.high[lasts].tolist(), strict=True))
    low, high = found.grid.ends(found.keys)
    inside = np.zeros(len(low), np.bool_)
    for start, end in ranges:
        inside |= (low >= start) & (high <= end) & ~((low == high) & ((low == start) | (low == end)))
    cells = checked(counting.within(ranges), roles)[0]
    limits, _ = rounded_range(*extremes, roles.score_range)
    if limits is not None:
        cells["score"] = np.clip(cells["score"], *limits)
    apart = Table.of_cells(**{**cells, "left_out": {}, "left_out_groups": {}, "notes": ()})
    check_same_total(apart.rows, int(found.n[inside].sum()))
    if inside.all():
        return apart
    cells = {name: a[..., ~inside] if isinstance(a, np.ndarray) else a for name, a in found.cells.items()}
    return apart.added(_table(replace(found, cells=cells), roles, extremes))


def _settled(roles: Reading, totals: Columns, found: _Cells) -> Reading:
    """Roles for a part of the rows, which must not be asked what only all of them can tell."""
    columns = [c for c in (totals.label, totals.prediction) if c is not None]
    outcomes = frozenset(key for c in columns for value in encode(c)[1] if (key := label_key(value)) is not None)
    kind: WeightKind = "frequency" if found.cells["weight"] is None else "sampling"
    missing: Missing = "drop" if roles.missing == "refuse" else roles.missing
    return replace(roles, outcomes=outcomes, weight_kind=kind, missing=missing)


# ---- the table ------------------------------------------------------------------------------------------------


def _table(found: _Cells, roles: Reading, extremes: tuple[float, float]) -> Table:
    low, high = found.grid.ends(found.keys)
    limits, notes = rounded_range(*extremes, roles.score_range)
    if limits is not None:
        low, high = np.clip(low, *limits), np.clip(high, *limits)
        extremes = max(extremes[0], limits[0]), min(extremes[1], limits[1])
    ranges = low < high
    score = np.where(ranges, middle(low, high), low)
    spans = None
    if ranges.any():
        starts, stops = np.unique(np.stack([low, high])[:, ranges], axis=1)
        spans = Spans(starts, stops, *extremes, found.grid)
    cells = {**found.cells, "score": score, "notes": (*found.cells["notes"], *notes)}
    return Table.of_cells(**cells, spans=spans)
