"""An analysis: what separate thresholds for each group could achieve, exactly, for every allowed gap.

Performance is a sum over groups, so once the reference has its rate, every other group takes on its own the best of its
thresholds whose rate is near enough. All rates of the reference are tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.analyses.thresholds.sweep import Goal, counted, listed_thresholds
from evenhand.errors import shown_name
from evenhand.measures.measure import SLACK, sized
from evenhand.measures.rates import share
from evenhand.measures.registry import RATES, RateMeasure
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

RATES_ALONE = ("selection_rate", "tpr", "fpr")
LEVELS = 50_000
"""Up to so many different rates of a group the result is exact."""
STEPS = 21


@dataclass(frozen=True)
class Level:
    """The threshold of one group, and its rate there."""

    threshold: float
    rate: float


@dataclass(frozen=True)
class Separate:
    """The best thresholds by group that keep the gap to a limit."""

    limit: float
    """The largest gap allowed; of a ratio, the lowest."""
    performance: float
    value: float
    """The gap they have."""
    trivial: bool
    """Everybody or nobody is selected, in every group."""
    levels: Mapping[str, Level]


@dataclass(frozen=True)
class ByGroup:
    """What separate thresholds could achieve. An analysis: using them treats people differently by group."""

    measure: str
    curve: tuple[Separate, ...] = ()
    """By limit, from parity to where more freedom gains nothing."""
    at_limit: Separate | None = None
    """At the limit that was required of the measure."""
    exact: bool = True
    undefined: str | None = None


@dataclass(frozen=True)
class _Levels:
    """One group: its different rates, increasing, what it gains at most at each, and at which threshold."""

    rate: Floats
    gain: Floats
    place: Ints


def by_group(
    table: Table, grouping: Grouping, reference: int, goal: Goal, measure: RateMeasure, limits: Sequence[float]
) -> ByGroup:
    """The best performance for every allowed gap, and at the strictest of these limits."""
    why = _why_not(table, grouping, goal, measure)
    if why:
        return ByGroup(measure.id, undefined=why)
    levels, exact = _levels(table, grouping, goal, measure.components[0])

    at = listed_thresholds(table)

    def best(limit: float) -> Separate | None:
        chosen = _best(levels, reference, measure, limit)
        if chosen is None:
            return None
        rates, named = _rates(levels, chosen), [float(at[lv.place[i]]) for lv, i in zip(levels, chosen, strict=True)]
        gain = sum(float(lv.gain[i]) for lv, i in zip(levels, chosen, strict=True))
        value, trivial = _size(measure, rates, reference), _same_for_all(table, grouping, named)
        by_name = {g: Level(t, float(r)) for g, t, r in zip(grouping.groups, named, rates, strict=True)}
        return Separate(limit, gain / goal.scale, value, trivial, by_name)

    furthest = _size(measure, _rates(levels, _free(levels, reference, measure)), reference)
    parity = 1.0 if measure.scale == "ratio" else 0.0
    steps = [parity] if furthest == parity else np.linspace(parity, furthest, STEPS).tolist()
    curve = tuple(found for limit in steps if (found := best(limit)) is not None)
    strictest = (max if measure.scale == "ratio" else min)(limits) if limits else None
    return ByGroup(measure.id, curve, None if strictest is None else best(strictest), exact)


def _why_not(table: Table, grouping: Grouping, goal: Goal, m: RateMeasure) -> str | None:
    if len(m.components) > 1:
        return f"because {m.title} compares two rates"
    if m.components[0] not in RATES_ALONE:
        return f"because {m.title} compares a rate that does not rise with the number selected"
    if goal.undefined:
        return goal.undefined
    rate = RATES[m.components[0]]
    empty = np.isnan(share(table.decisions(grouping, float(table.cutoffs[0])), rate.id))
    for g in np.flatnonzero(empty):
        return f"because group {shown_name(grouping.groups[g])} {rate.empty}"
    return None


def _levels(table: Table, grouping: Grouping, goal: Goal, rate: str) -> tuple[list[_Levels], bool]:
    rates: list[list[Floats]] = [[] for _ in grouping.groups]
    gains: list[list[Floats]] = [[] for _ in grouping.groups]
    places: list[list[Ints]] = [[] for _ in grouping.groups]
    start = 0
    for counts in counted(table, grouping):
        moved = _changes(counts)
        values, points = share(counts, rate), goal.points(counts.array)
        for g in range(len(grouping.groups)):
            some = np.flatnonzero(moved[:, g])
            rates[g].append(values[some, g])
            gains[g].append(points[some, g])
            places[g].append(some + start)
        start += len(values)
    found = [
        _of_group(np.concatenate(r), np.concatenate(g), np.concatenate(p))
        for r, g, p in zip(rates, gains, places, strict=True)
    ]
    return [_thinned(lv) for lv in found], all(len(lv.rate) <= LEVELS for lv in found)


def _changes(counts: Counts) -> Bools:
    """At which thresholds a group is decided differently from the one before."""
    selected = counts.array[:, 1]
    changed = np.ones(selected.shape[:2], np.bool_)
    changed[1:] = (selected[1:] != selected[:-1]).any(-1)
    return changed


def _of_group(rate: Floats, gain: Floats, place: Ints) -> _Levels:
    """Of thresholds with the same rate, the best."""
    order = np.lexsort((place, -gain, rate))
    rate, gain, place = rate[order], gain[order], place[order]
    first = np.concatenate([[True], rate[1:] != rate[:-1]])
    return _Levels(rate[first], gain[first], place[first])


def _thinned(levels: _Levels) -> _Levels:
    """Not too many: the best of each stretch of neighbouring rates, and both ends."""
    count = len(levels.rate)
    if count <= LEVELS:
        return levels
    stretch = np.arange(count) * LEVELS // count
    order = np.lexsort((-levels.gain, stretch))
    best = order[np.searchsorted(stretch, np.arange(LEVELS))]
    keep = np.unique(np.concatenate([[0], best, [count - 1]]))
    return _Levels(levels.rate[keep], levels.gain[keep], levels.place[keep])


def _free(levels: Sequence[_Levels], reference: int, m: RateMeasure) -> list[int]:
    """Everybody's best, near to the reference where there are several."""
    own = levels[reference]
    at = int(np.argmax(np.where((own.rate > 0) | (m.scale != "ratio"), own.gain, -np.inf)))
    chosen = []
    for g, lv in enumerate(levels):
        tied = np.flatnonzero(lv.gain == lv.gain.max())
        nearest_ = tied[np.argmin(np.abs(lv.rate[tied] - own.rate[at]))]
        chosen.append(at if g == reference else int(nearest_))
    return chosen


def _best(levels: Sequence[_Levels], reference: int, m: RateMeasure, limit: float) -> list[int] | None:
    """The best level of each group, if there is any way to keep the gap to the limit."""
    own = levels[reference]
    total = own.gain.copy()
    others = [g for g in range(len(levels)) if g != reference]
    for g in others:
        start, end = _window(levels[g].rate, own.rate, m, limit)
        total += _highest(levels[g].gain, start, end)
    if m.scale == "ratio":
        total[own.rate == 0] = -np.inf  # no ratio to nothing
    at = int(np.argmax(total))
    if total[at] == -np.inf:
        return None
    chosen = [at] * len(levels)
    for g in others:
        start, end = _window(levels[g].rate, own.rate[[at]], m, limit)
        chosen[g] = int(start[0] + np.argmax(levels[g].gain[start[0] : end[0]]))
    return chosen


def _window(rates: Floats, base: Floats, m: RateMeasure, limit: float) -> tuple[Ints, Ints]:
    """Which rates are near enough to those of the reference: from, and up to before."""
    if m.scale == "ratio":
        low, high = base * limit, base / limit if limit > 0 else np.full(len(base), np.inf)
    else:
        low, high = base - limit, base + limit
    return np.searchsorted(rates, low - SLACK, "left"), np.searchsorted(rates, high + SLACK, "right")


def _highest(values: Floats, start: Ints, end: Ints) -> Floats:
    """The highest of values[start:end] for many windows: each is covered by two whose length is a power of two."""
    length = end - start
    power = np.where(length > 0, np.frexp(np.maximum(length, 1))[1] - 1, -1)
    found = np.full(len(start), -np.inf)
    table = values
    for k in range(int(power.max()) + 1):
        if k:
            half = 2 ** (k - 1)
            table = np.maximum(table[:-half], table[half:])
        own = np.flatnonzero(power == k)
        found[own] = np.maximum(table[start[own]], table[end[own] - 2**k])
    return found


def _rates(levels: Sequence[_Levels], chosen: Sequence[int]) -> Floats:
    return np.array([lv.rate[i] for lv, i in zip(levels, chosen, strict=True)])


def _size(m: RateMeasure, rates: Floats, reference: int) -> float:
    others = np.delete(rates, reference)
    if m.scale != "ratio":
        return float(np.abs(others - rates[reference]).max())
    return float(sized(m, others / rates[reference]).min()) if rates[reference] > 0 else float("nan")


def _same_for_all(table: Table, grouping: Grouping, thresholds: Sequence[float]) -> bool:
    """Whether separate thresholds still select everybody, or nobody."""
    own = np.array(thresholds)[grouping.codes]
    assert table.score is not None
    above = (table.cutoff_of_cells >= own)[(table.mass > 0) & (grouping.codes >= 0)]
    return bool(above.all() or not above.any())
