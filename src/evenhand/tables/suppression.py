"""Table → a table in which nobody stands in a small cell, so that it can be handed to somebody else.

Scores are put together into ranges, the same for everybody, until each cell (joint group × label × decision × range)
is empty or holds enough people. Groups for which that cannot be done are withheld as a whole: a group without some of
its labels or decisions would have rates that look real and are wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, is_whole, shown, whole_number
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.confusion import Confusion
from evenhand.tables.edges import fixed_borders
from evenhand.tables.groups import added, added_groups, sum_by, tally_key
from evenhand.tables.provenance import Provenance, shareable
from evenhand.tables.range_starts import halved, joined
from evenhand.tables.ranges import Spans, middle
from evenhand.tables.steps import between, usable
from evenhand.tables.storage import load
from evenhand.tables.table import Table

WITHHELD = "of groups too small to share"
OTHERS = "for reasons with few rows each"
RANGES = 5
LEAST = 3
"""In a cell of two people each knows all about the other."""
MOST = 10**9


def suppressed(
    table: Table,
    *,
    below: int | None = None,
    keep_thresholds: Iterable[float] = (),
    ranges: int = RANGES,
    like: Any = None,
    edges: Iterable[float] | None = None,
) -> Table:
    """The table with no cell of fewer than `below` people.

    Parameters
    ----------
    below
        Every cell of joint group × label × decision × score is empty or holds at least so many people. With `like`
        it may be left out, and is that of the other table. At least 3: in a cell of two each knows the other.
    keep_thresholds
        Scores at which decisions must still be possible exactly: no range goes across them.
    ranges
        Groups are withheld, the smallest first, until scores are known in so many ranges at least (between two
        thresholds that are kept: together), or in as many as the two largest groups allow.
    like
        A suppressed table, or the path of one, whose ranges of scores are used, so that both add up.
        Where a range would have a small cell it is joined with its neighbour, both with theirs, and so on.
    edges
        The borders of ranges instead, rising, in the units of the data.

    Examples
    --------
    >>> import evenhand
    >>> shared = evenhand.suppressed(evenhand.compas(), below=50, keep_thresholds=[5])
    >>> shared.scores.tolist(), int(shared.n.min()), shared.rows
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0], 55, 6150)
    """
    like = load(like) if isinstance(like, str | os.PathLike) else like
    below = below_like(like) if below is None and like is not None else below
    thresholds = check_numbers(below, ranges, keep_thresholds)
    assert below is not None  # it is a whole number
    _check_table(table, thresholds)
    table = table.complete()
    thresholds = np.unique([table.compared(t) for t in thresholds.tolist()]) if len(thresholds) else thresholds
    borders = fixed_borders(table, like, edges, thresholds)
    plan = _Plan.of(table, thresholds, below, borders)
    kept, cut = _chosen(table, plan, ranges)
    cells = kept[plan.group]
    tallies = _Tallies.of(table, ~cells, below)
    provenance = _provenance(table, cells, tallies, below)
    score, spans = (None, None) if table.score is None else _ranged(table, plan, cut, cells, thresholds)
    return Table.of_cells(
        attributes=table.attributes,
        codes=table.codes[:, cells],
        n=table.n[cells],
        score=score,
        decision=None if table.decision is None else table.decision[cells],
        label=None if table.label is None else table.label[cells],
        spans=spans,
        meaning=table.meaning,
        provenance=provenance,
        left_out=tallies.by_reason,
        left_out_groups=tallies.by_group,
        depth=table.depth,
        notes=(*shareable(table.notes), *provenance.notes),
    )


def below_like(like: Any) -> int:
    """The least number of people of the cells of a suppressed table."""
    below = like.provenance.below if isinstance(like, Table) else None
    if below is None:
        raise UsageError("say how many people a cell must hold at least: below= (--suppress-below)")
    return int(below)


def check_numbers(below: Any, ranges: Any, keep_thresholds: Any) -> Floats:
    """The thresholds to keep, if all numbers make sense; better known before the data are counted."""
    whole_number("ranges (--ranges)", ranges, 1, MOST)
    if is_whole(below) and 1 <= below < LEAST:
        raise UsageError(
            f"below (--suppress-below) must be a whole number from {LEAST}, not {below}: a cell of one is a person, "
            "and of two people in a cell each knows the other"
        )
    whole_number("below (--suppress-below)", below, LEAST, MOST)
    try:
        found = np.unique(np.array(list(keep_thresholds), np.float64))
    except (TypeError, ValueError):
        raise UsageError(f"keep_thresholds is a list of numbers, not {shown(keep_thresholds)}") from None
    if not np.isfinite(found).all():
        raise UsageError(f"thresholds to keep (--keep-threshold) must be finite numbers, not {shown(keep_thresholds)}")
    return found


def _check_table(table: Any, thresholds: Floats) -> None:
    if isinstance(table, Confusion):
        raise UsageError(
            "a table of classes has no scores that could be put together: share one class against the rest, "
            "table.of_class(name)"
        )
    if not isinstance(table, Table):
        raise UsageError(f"this takes a table (evenhand.tabulate makes one), not {shown(table)}")
    if table.weight is not None:
        raise UsageError(
            f"sums of sampling weights ({shown(table.meaning.weight)}) can tell who is in a cell, however many people "
            "it holds: count the data without weights to share them"
        )
    if table.cluster is not None:
        raise UsageError(
            f"clusters ({shown(table.meaning.cluster)}) tell which rows belong to one person, so nearly every cell is "
            "one of few people: count the data without them to share them"
        )
    if table.noise is not None:
        raise UsageError("the table is private already: putting scores together would protect nobody further")
    if len(thresholds) and table.score is None:
        raise UsageError("there are no scores, so there is no threshold to keep: leave --keep-threshold out")
    if len(thresholds) and table.spans is not None and (inside := table.spans.holding(thresholds)).any():
        raise UsageError(
            f"the table does not tell scores around {thresholds[inside][0]:.15g} apart, so it cannot keep that "
            "threshold: count the data again with it as one of cuts= (tabulate)"
        )


@dataclass(frozen=True)
class _Plan:
    """The cells as what matters here: which joint group, which stratum of it, and which level of the score."""

    group: Ints
    stratum: Ints
    """Group, label and decision of each cell."""
    level: Ints
    """Place of the score of each cell among the scores."""
    segment: Ints
    """Of each level: how many of the kept thresholds it reaches."""
    low: Floats
    """Of each level: its scores lie from here"""
    high: Floats
    """to below this."""
    n: Ints
    below: int
    least: Ints
    """Of each group, the people of its smallest stratum between two thresholds."""
    borders: Floats | None = None
    """Of ranges that were fixed beforehand: they are the levels then."""

    @classmethod
    def of(cls, table: Table, thresholds: Floats, below: int, borders: Floats | None = None) -> _Plan:
        grouping = table.finest
        stratum = grouping.codes.astype(np.int64)
        for flag in (table.label, table.decision):
            if flag is not None:
                stratum = stratum * 2 + flag
        stratum = np.unique(stratum, return_inverse=True)[1].reshape(-1)
        if table.score is None:
            level, segment = np.zeros(table.cells, np.int64), np.zeros(1, np.int64)
        elif borders is not None:
            level = np.searchsorted(borders[1:-1], table.cutoff_of_cells, side="right")
            segment = np.searchsorted(thresholds, borders[:-1], side="right")
        else:
            level = np.cumsum(np.diff(table.score, prepend=table.score[0]) > 0)
            segment = np.searchsorted(thresholds, table.cutoffs, side="right")
        low, high = (np.zeros(1), np.ones(1)) if table.score is None else _ends(table, table.scores)
        high = np.where(low == high, np.nextafter(high, np.inf), high)
        segments = int(segment[-1]) + 1
        part, place = np.unique(stratum * segments + segment[level], return_inverse=True)
        people = sum_by(place.reshape(-1), table.n, len(part))
        least = np.full(len(grouping.groups), MOST)
        owner = np.empty(int(stratum.max()) + 1, np.int64)
        owner[stratum] = grouping.codes
        np.minimum.at(least, owner[part // segments], people)
        return cls(grouping.codes, stratum, level, segment, low, high, table.n, below, least, borders)

    def cut(self, kept: Bools) -> Ints:
        """At which levels ranges start when these groups are kept."""
        own = kept[self.group]
        level, stratum, n = self.level[own], self.stratum[own], self.n[own]
        if self.borders is not None:
            return halved(level, stratum, n, self.segment, self._allowed(self.borders, level, n), self.below)
        ends = np.flatnonzero(np.diff(self.segment[level])) + 1
        parts = zip(*(np.split(a, ends) for a in (level, stratum, n)), strict=True)
        return np.concatenate([self._starts(where, who, people) for where, who, people in parts])

    def _allowed(self, borders: Floats, level: Ints, n: Ints) -> Bools:
        """Which ranges fixed beforehand may be parted from the one before: the steps beside the border hold enough."""
        people, found = sum_by(level, n, len(self.segment)), np.zeros(len(self.segment), np.bool_)
        held = np.flatnonzero(people)
        for own in np.split(held, np.flatnonzero(np.diff(self.segment[held])) + 1):
            cells = borders[own], borders[own + 1]
            chosen = between(*cells)[usable(*cells, people[own], self.below)]
            found[np.searchsorted(borders, chosen)] = True  # of several before people, the one that tells least of them
        return found

    def _starts(self, level: Ints, stratum: Ints, n: Ints) -> Ints:
        """At which levels ranges start between two thresholds: only where the steps of their border hold enough."""
        present, place = np.unique(level, return_inverse=True)
        people = sum_by(place, n, len(present))
        step = np.append(0, np.cumsum(usable(self.low[present], self.high[present], people, self.below)))
        return np.asarray(present[np.searchsorted(step, joined(step[place], stratum, n, self.below))])


def _largest(table: Table, plan: _Plan) -> int:
    """Groups of that size are not withheld: two of every attribute stay, if there are two."""
    found = []
    for attribute, row in zip(table.attributes, table.codes, strict=True):
        best = np.zeros(len(attribute.groups), np.int64)
        np.maximum.at(best, row, plan.least[plan.group])
        found.append(int(np.sort(best)[-2:][0]))
    return min(found)


def _chosen(table: Table, plan: _Plan, ranges: int) -> tuple[Bools, Ints]:
    """Which groups are kept, and where ranges start then: as many groups as leave enough ranges."""
    sizes = np.unique(plan.least[plan.least >= plan.below])
    if not len(sizes):
        raise DataError(
            f"no group has {plan.below:,} people with every label and decision that it has"
            f"{' on each side of the thresholds' if plan.segment[-1] else ''}, so nothing could be shared: choose a "
            "smaller number (--suppress-below), fewer group columns, or leave out label or prediction"
        )
    last = int(np.searchsorted(sizes, _largest(table, plan), side="right")) - 1

    def tried(i: int) -> tuple[Bools, Ints]:
        kept = plan.least >= sizes[i]
        return kept, plan.cut(kept)

    everybody = tried(0)
    if last <= 0 or len(everybody[1]) >= ranges:
        return everybody
    lo, hi, found = 0, last, tried(last)
    wanted = min(ranges, len(found[1]))
    if len(everybody[1]) >= wanted:  # to withhold groups would not make more ranges
        return everybody
    while hi - lo > 1:
        now = (lo + hi) // 2
        other = tried(now)
        lo, hi, found = (lo, now, other) if len(other[1]) >= wanted else (now, hi, found)
    return found


# ---- the ranges of scores ------------------------------------------------------------------------------------


def _ranged(table: Table, plan: _Plan, starts: Ints, cells: Bools, thresholds: Floats) -> tuple[Floats, Spans | None]:
    """The score of each kept cell, and the ranges: those of one score stay exact."""
    assert table.score is not None
    if plan.borders is not None:
        return _fixed(table, plan, starts, cells)
    level = plan.level[cells]
    present = np.unique(level)
    first = np.searchsorted(present, starts)
    last = np.append(first[1:], len(present)) - 1
    scores = table.scores[present]
    ends = _ends(table, scores)
    lowest, highest = _extremes(table, plan, cells)
    low, high = _borders(ends, first, last, thresholds, (lowest, highest))
    single = first == last
    low, high = np.where(single, ends[0][first], low), np.where(single, ends[1][last], high)
    wide = low < high
    stands = np.where(wide, middle(low, high), low)[np.searchsorted(starts, level, side="right") - 1]
    return stands, Spans(low[wide], high[wide], lowest, highest) if wide.any() else None


def _ends(table: Table, scores: Floats) -> tuple[Floats, Floats]:
    """Between which scores the people of cells lie: twice the same for exact ones."""
    return (scores, scores) if table.spans is None else table.spans.ends(scores)


def _fixed(table: Table, plan: _Plan, starts: Ints, cells: Bools) -> tuple[Floats, Spans | None]:
    """The same for ranges fixed beforehand, some of them joined; one in which everybody has one score stays exact."""
    assert table.score is not None
    assert plan.borders is not None
    lowest, highest = float(plan.borders[0]), float(plan.borders[-1])
    own = np.searchsorted(starts, plan.level[cells], side="right") - 1
    stop = np.searchsorted(plan.segment, plan.segment[starts], side="right")  # not where the last people are
    stop = np.minimum(stop, np.append(starts[1:], len(plan.segment)))
    closed = np.append(plan.borders[:-1], np.nextafter(highest, np.inf))  # the highest score belongs to the last
    low, high = plan.borders[starts], closed[stop]
    first_score, last_score = np.full(len(starts), np.inf), np.full(len(starts), -np.inf)
    ends = _ends(table, table.score)
    np.minimum.at(first_score, own, ends[0][cells])
    np.maximum.at(last_score, own, ends[1][cells])
    exact = first_score == last_score
    low, high = np.where(exact, first_score, low), np.where(exact, first_score, high)
    wide = low < high
    stands = np.where(wide, middle(low, high), low)[own]
    return stands, Spans(low[wide], high[wide], lowest, highest) if wide.any() else None


def _borders(
    ends: tuple[Floats, Floats], first: Ints, last: Ints, thresholds: Floats, extremes: tuple[float, float]
) -> tuple[Floats, Floats]:
    """From where to where each range goes: to kept thresholds, else to a border that it shares with the next."""
    below, above = ends[1][last], ends[0][first]
    exact = ends[0][last] == below  # people have that score itself
    next_one = np.where(exact, *(np.searchsorted(thresholds, below, side=side) for side in ("right", "left")))
    last_one = np.searchsorted(thresholds, above, side="right") - 1
    shared = between(above, np.where(exact, np.nextafter(below, np.inf), below))
    low, high = np.append(extremes[0], shared), np.append(shared, np.nextafter(extremes[1], np.inf))
    own = np.append(thresholds, np.nan)
    stop, start = own[next_one], own[last_one]  # place −1, and one after the last: there is none
    with np.errstate(invalid="ignore"):
        reached = (stop <= np.append(above[1:], np.inf)) & (stop < np.append(np.full(len(shared), np.inf), high[-1]))
        before = np.append(low[0], below[:-1])
        free = (start > before) | (~np.append(True, exact[:-1]) & (start == before))
    return np.where(free, start, low), np.where(reached, stop, high)


def _extremes(table: Table, plan: _Plan, cells: Bools) -> tuple[float, float]:
    """The lowest and the highest score to tell: those that are possible, or that enough people have."""
    if table.meaning.score_range is not None or table.score_range == (0.0, 1.0):
        return table.score_range
    if table.provenance.below is not None:
        return table.extremes
    level = plan.level[cells]
    ends = [(table.scores[at], plan.n[cells][level == at].sum()) for at in (level[0], level[-1])]
    blurred = table.spans is not None and table.spans.holding(np.array([score for score, _ in ends])).any()
    if blurred or any(people < plan.below for _, people in ends):
        raise UsageError(
            "the lowest or the highest score is that of few people, so it cannot be told, and measures depend on the "
            "range of scores: state the one that is possible (score_range=, --score-range 300,850)"
        )
    return float(ends[0][0]), float(ends[1][0])


# ---- who is left out -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tallies:
    """Rows left out and withheld, as far as they can be told."""

    by_reason: dict[str, int]
    by_group: dict[str, dict[str, int]]
    untold: bool
    """Whether some are not told at all."""
    untold_groups: bool
    withheld: dict[str, dict[str, int]]
    """Who is withheld, by attribute and group; told or not."""

    @classmethod
    def of(cls, table: Table, gone: Bools, below: int) -> _Tallies:
        withheld = _sizes(table, gone)
        people = int(table.n[gone].sum())
        left_out = added(table.left_out, {WITHHELD: people} if people else {})
        told = {reason: n for reason, n in left_out.items() if n >= below}
        rest = sum(left_out.values()) - sum(told.values())
        if rest >= below:
            told[OTHERS] = rest
        # One count too small could be found from all the others, and a sum of told and untold ones from either.
        earlier = _enough(table.left_out_groups, below) and not 0 < rest < below
        now = _enough(withheld, below)
        by_group: dict[str, dict[str, int]] = {}
        if earlier and now:
            by_group = added_groups(table.left_out_groups, withheld)
        elif now and WITHHELD not in table.left_out:
            by_group = withheld
        whole = added_groups(table.left_out_groups, withheld)
        return cls(told, by_group, 0 < rest < below, by_group != whole, withheld)


def _sizes(table: Table, gone: Bools) -> dict[str, dict[str, int]]:
    """How many people of which groups these cells hold."""
    found = {}
    for grouping in table.tallied if gone.any() else ():
        sizes = sum_by(grouping.codes[gone], table.n[gone], len(grouping.groups))
        found[grouping.name] = {tally_key(grouping.members[g]): int(sizes[g]) for g in np.flatnonzero(sizes).tolist()}
    return found


def _enough(tallies: Mapping[str, Mapping[str, int]], below: int) -> bool:
    return all(n >= below for tally in tallies.values() for n in tally.values())


def _provenance(table: Table, kept: Bools, tallies: _Tallies, below: int) -> Provenance:
    """What the table must say of itself; groups that lack people are named only where their number is told."""
    incomplete: set[tuple[str, str]] = set()
    if tallies.withheld and len(table.attributes) > 1:
        for grouping in table.groupings:
            held, gone = (set(np.unique(grouping.codes[cells]).tolist()) for cells in (kept, ~kept))
            incomplete |= {(grouping.name, grouping.groups[g]) for g in held if not tallies.by_group or g in gone}
    was = table.provenance
    return replace(
        was,
        below=max(below, was.below or 1),
        withheld=was.withheld or bool(tallies.withheld),
        untold=was.untold or tallies.untold,
        untold_groups=was.untold_groups or tallies.untold_groups,
        incomplete=tuple(sorted({*was.incomplete, *incomplete})),
    )
