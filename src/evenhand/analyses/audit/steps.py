"""Scores put together into steps, so that a page counts nobody alone: what an explorer and charts may tell apart.

A page goes to somebody else's desk. Thresholds are told so far apart that between two of them there is nobody, or at
least `LEAST` people, of each group and outcome; that holds for every difference of groups too. What the tables of a
report say stays as it is: the people on either side of the audited threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.groups import Grouping, sum_by
from evenhand.tables.range_starts import joined
from evenhand.tables.steps import between, usable
from evenhand.tables.table import Table

LEAST = 5
"""People of one group and outcome between two thresholds, unless there is nobody."""
WANTED, ENOUGH = 20, 10
"""Small groups are known at fewer thresholds than others if all had fewer than `WANTED`; several attributes are shown
if that leaves `ENOUGH`."""
MOST_STOPS = 20_000


@dataclass(frozen=True)
class Stops:
    """The thresholds that can be chosen: every score, or so many of them that the page stays small."""

    scores: Floats
    of_cell: Ints
    """The last stop at or below the score of each cell."""
    exact: bool

    def ends(self, table: Table) -> tuple[Floats, Floats]:
        """Of each stop: from where, and to below where, are the scores of its people."""
        cutoff = table.cutoff_of_cells
        last = np.flatnonzero(np.diff(self.of_cell, append=len(self.scores)))
        high = np.nextafter(self.scores, np.inf)
        high[self.of_cell[last]] = np.nextafter(cutoff[last], np.inf)
        return self.scores, high


@dataclass(frozen=True)
class Steps:
    """Thresholds, and for each grouping that can be shown: at which of them each of its groups is known."""

    stops: Stops
    known: dict[str, Bools]
    """By the name of a grouping: axes (group, stop)."""
    least: int = 1
    """Between two of these thresholds there is nobody of a group and outcome, or at least so many people."""

    def start(self, grouping: Grouping) -> Ints:
        """Of each cell: the last threshold at or below it at which its group is known."""
        known = self.known[grouping.name]
        last = np.maximum.accumulate(np.where(known, np.arange(known.shape[1]), 0), axis=1)
        return np.asarray(last[grouping.codes, self.stops.of_cell])

    def drawn(self, grouping: Grouping) -> frozenset[str]:
        """The groups that are known at enough thresholds to draw a curve, and at those of the others."""
        if grouping.name not in self.known:
            return frozenset()
        there = self.known[grouping.name].sum(1)
        stops = self.known[grouping.name].shape[1]
        fewest = (stops + 1) // 2 if self.stops.exact else max(stops, ENOUGH)
        return frozenset(g for g, own in zip(grouping.groups, there.tolist(), strict=True) if own >= fewest)

    def counts(self, table: Table, grouping: Grouping) -> Table:
        """The table as charts of a grouping may know it: people of a step stand in its middle."""
        known, first = self.known[grouping.name], self.start(grouping)
        stops = known.shape[1]
        after = np.where(np.c_[known, np.ones(len(known), np.bool_)], np.arange(stops + 1), stops)
        end = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1][grouping.codes, first + 1]
        lo, hi = table.score_range
        ends = np.clip(np.append(self.stops.scores, hi), lo, hi)
        score = (ends[first] + ends[end]) / 2
        own = _one_score(table, self.stops)[first]
        alone = (end == first + 1) & ~np.isnan(own)
        return Table.of_cells(
            attributes=table.attributes, codes=table.codes, n=table.n, score=np.where(alone, own, score),
            label=table.label, weight=table.weight, weight2=table.weight2, cluster=table.cluster,
            meaning=replace(table.meaning, score_range=table.score_range), provenance=table.provenance,
            depth=table.depth,
        )  # fmt: skip


def _one_score(table: Table, stops: Stops) -> Floats:
    """The score that everybody of a step has; NaN if there are several."""
    assert table.score is not None
    ends = np.flatnonzero(np.diff(stops.of_cell, append=len(stops.scores)))
    first = np.append(0, ends[:-1] + 1)
    found = np.full(len(stops.scores), np.nan)
    found[stops.of_cell[ends]] = np.where(table.score[first] == table.score[ends], table.score[ends], np.nan)
    return found


def every_score(table: Table, most: int, policy: float | None) -> Stops:
    """Every score if there are few; else scores with equally many people between them, and that of the policy."""
    cutoff = table.cutoff_of_cells  # cells are sorted by score
    new = np.r_[True, cutoff[1:] != cutoff[:-1]]
    scores, of_cell = cutoff[new], np.cumsum(new) - 1
    if len(scores) <= most:
        return Stops(scores, of_cell, True)
    people = np.cumsum(sum_by(of_cell, np.asarray(table.mass, np.float64), len(scores)))
    keep = np.searchsorted(people, np.linspace(0, people[-1], most), side="left")
    extra = [0] if policy is None else [0, min(int(np.searchsorted(scores, policy)), len(scores) - 1)]
    keep = np.unique(np.r_[np.minimum(keep, len(scores) - 1), extra])
    return Stops(scores[keep], np.searchsorted(keep, of_cell, side="right") - 1, False)


def every_step(table: Table, groupings: list[Grouping], most: int, policy: float | None) -> Steps:
    """Every score, for every group."""
    stops = every_score(table, most, policy)
    return Steps(stops, {g.name: np.ones((len(g.groups), len(stops.scores)), np.bool_) for g in groupings})


# ---- steps in which nobody is alone -----------------------------------------------------------------------------


def safe_steps(
    table: Table, groupings: list[Grouping], references: dict[str, str], most: int, policy: float | None
) -> Steps:
    """Thresholds between which nobody is alone: of all groupings if that leaves enough, else of some of them."""
    fine = every_score(table, most, policy)
    plans = [_Plan.of(table, g, references[g.name], fine, policy) for g in groupings]
    alone = _few_hidden([plans[0]], WANTED)
    enough = min(len(alone.starts), ENOUGH)
    single = [p for p in plans if len(p.grouping.attributes) == 1]
    several = [plans, single] if len(plans) > 1 else []
    for some in several:
        chosen = _few_hidden(some, WANTED)
        if len(chosen.starts) >= enough and _only_sums(table, chosen):
            return _steps(table, fine, chosen, policy)
    return _steps(table, fine, alone, policy)


@dataclass(frozen=True)
class _Plan:
    """The people of one grouping by stratum (group and label) and level of the score."""

    grouping: Grouping
    level: Ints
    stratum: Ints
    people: Floats
    segment: Ints
    """Of each level: whether it reaches the audited threshold."""
    unit: Ints
    """Levels between two borders that may be used, because there are enough people on both sides, have one number."""
    least: Floats
    """Of each group: the people of its smallest stratum on one side of the audited threshold."""
    main: Bools
    """The reference and the group that could be told best: they are known at every threshold."""

    @classmethod
    def of(cls, table: Table, grouping: Grouping, reference: str, fine: Stops, policy: float | None) -> _Plan:
        stratum = 2 * grouping.codes.astype(np.int64) + (0 if table.label is None else table.label)
        size = 2 * len(grouping.groups)
        key, place = np.unique(fine.of_cell * size + stratum, return_inverse=True)
        people = sum_by(place.reshape(-1), _people(table, stratum), len(key))
        segment = (fine.scores >= (-np.inf if policy is None else policy)).astype(np.int64)
        level, stratum = key // size, key % size
        sides = sum_by(2 * stratum + segment[level], people, 2 * size).reshape(-1, 4)
        least = np.where(sides > 0, sides, np.inf).min(1)
        ranked = least.copy()
        ranked[at := grouping.groups.index(reference)] = -1
        main = np.zeros(len(grouping.groups), np.bool_)
        main[[at, int(ranked.argmax())]] = True
        unit = np.arange(len(fine.scores))  # borders of ranges are nobody's score already
        if table.spans is None:
            there = sum_by(level, people, len(fine.scores))
            unit = np.append(0, np.cumsum(usable(*fine.ends(table), there, LEAST)))
        return cls(grouping, level, stratum, people, segment, unit, least, main)

    def cut(self, level: Ints, stratum: Ints, people: Floats) -> Ints:
        """Where steps of these people start, apart on both sides of the audited threshold."""
        ends = np.flatnonzero(np.diff(self.segment[level])) + 1
        parts = zip(*(np.split(a, ends) for a in (level, stratum, people)), strict=True)
        return np.concatenate([self._starts(where, who, n) for where, who, n in parts])

    def _starts(self, level: Ints, stratum: Ints, people: Floats) -> Ints:
        """Where steps start, be it at a level of other groups: the first one at its side of the audited threshold."""
        side = int(np.searchsorted(self.segment, self.segment[level[0]]))
        return np.maximum(np.searchsorted(self.unit, joined(self.unit[level], stratum, people, LEAST)), side)


def _people(table: Table, stratum: Ints) -> Floats:
    """How many people each cell adds to a stratum; the rows of a person together are at most one."""
    if not table.clustered:
        return np.asarray(table.n, np.float64)
    assert table.cluster is not None
    _, place, cells = np.unique(np.c_[stratum, table.cluster], axis=0, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / cells[place.reshape(-1)])


@dataclass(frozen=True)
class _Chosen:
    plans: list[_Plan]
    kept: list[Bools]
    starts: Ints


def _tried(plans: list[_Plan], size: float) -> _Chosen:
    """Steps in which no group of at least that size has few people, nor all the others together."""
    kept = [p.main | (p.least >= size) for p in plans]
    parts, first = [], 0
    for p, own in zip(plans, kept, strict=True):
        there = own[p.stratum // 2]
        if len(plans) > 1:  # whoever subtracts the groups of one attribute from those of another finds the others
            rest = 2 * len(own) + p.stratum % 2
            stratum, there = np.where(there, p.stratum, rest), np.ones_like(there)
        else:
            stratum = p.stratum
        parts.append((p.level[there], first + stratum[there], p.people[there]))
        first += 2 * len(own) + 2
    level, stratum, people = (np.concatenate(a) for a in zip(*parts, strict=True))
    order = np.argsort(level, kind="stable")
    return _Chosen(plans, kept, plans[0].cut(level[order], stratum[order], people[order]))


def _few_hidden(plans: list[_Plan], wanted: int) -> _Chosen:
    """As many groups as leave so many steps, or as many as there can be."""
    sizes = np.unique(np.concatenate([p.least for p in plans]))
    found = _tried(plans, sizes[0])
    if len(found.starts) >= wanted:
        return found
    fewest = _tried(plans, np.inf)
    wanted = min(wanted, len(fewest.starts))
    if len(found.starts) >= wanted:
        return found
    lo, hi, found = 0, len(sizes), fewest
    while hi - lo > 1:
        now = (lo + hi) // 2
        other = _tried(plans, sizes[now])
        lo, hi, found = (lo, now, other) if len(other.starts) >= wanted else (now, hi, found)
    return found


def _only_sums(table: Table, chosen: _Chosen) -> bool:
    """Whether differences of groups tell nothing but groups, and the others together.

    That is so if all groups by all attributes are shown, or if no intersection is and people are in every combination:
    whatever adds groups of several attributes up to 0 or 1 for everybody then adds up those of one. Of intersections of
    some attributes it is not so: those of two of three tell how many people are alike in all.
    """
    crossed = len(chosen.plans[-1].grouping.attributes)
    if crossed > 1:
        return crossed == len(table.attributes) and bool(chosen.kept[-1].all())
    place = [
        np.where(own, np.arange(len(own)), -1)[p.grouping.codes]
        for p, own in zip(chosen.plans, chosen.kept, strict=True)
    ]
    there = len(np.unique(np.stack(place), axis=1).T)
    return there == int(np.prod([len(np.unique(codes)) for codes in place]))


def _steps(table: Table, fine: Stops, chosen: _Chosen, policy: float | None) -> Steps:
    """The thresholds where steps start, and at which of them each group is known."""
    level = np.arange(len(fine.scores))
    step = np.searchsorted(chosen.starts, level, side="right") - 1
    known = {}
    for p, own in zip(chosen.plans, chosen.kept, strict=True):
        known[p.grouping.name] = at = np.repeat(own[:, None], len(chosen.starts), axis=1)
        at[:, 0] = True
        if policy is not None and len(audited := np.flatnonzero(p.segment[chosen.starts])):
            at[:, audited[0]] = True
        if len(chosen.plans) == 1:
            _known_at_fewer(p, own, step, at)
    stops = Stops(_borders(table, fine, chosen.starts, policy), step[fine.of_cell],
                  fine.exact and len(chosen.starts) == len(fine.scores))  # fmt: skip
    return Steps(stops, known, LEAST)


def _known_at_fewer(p: _Plan, kept: Bools, step: Ints, known: Bools) -> None:
    """Small groups are known at those thresholds where they have enough people on either side."""
    by_group = np.argsort(p.stratum // 2, kind="stable")
    group = p.stratum[by_group] // 2
    edges = np.r_[0, np.flatnonzero(np.diff(group)) + 1, len(group)]
    starts = np.r_[0, np.flatnonzero(np.diff(step)) + 1]  # the first level of each step
    for first, last in pairwise(edges.tolist()):
        if not kept[group[first]]:
            cells = np.sort(by_group[first:last])
            key, place = np.unique(step[p.level[cells]] * 2 + p.stratum[cells] % 2, return_inverse=True)
            people = sum_by(place.reshape(-1), p.people[cells], len(key))
            known[group[first], step[p.cut(starts[key // 2], key % 2, people)]] = True


def _borders(table: Table, fine: Stops, starts: Ints, policy: float | None) -> Floats:
    """Thresholds with few digits, not anybody's score; the lowest selects everybody."""
    (low, high), to = fine.ends(table), fine.scores[starts]
    borders = to.copy()
    if table.spans is None and len(to) > 1:
        above = high[starts[1:] - 1]
        short = between(low[starts], np.append(above, high[-1]))
        held = np.array([table.compared(b) for b in short.tolist()])
        borders[1:] = np.where((held >= above) & (held <= to[1:]), short, to[1:])
    borders[0] = min(table.score_range[0], to[0])
    if policy is not None and (at := int(np.searchsorted(to, policy))) < len(to):
        borders[at] = policy
    return borders
