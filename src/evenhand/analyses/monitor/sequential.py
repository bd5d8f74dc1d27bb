"""One look after the other: is any gap another one than in the baseline? And how sure is that after so many looks?

At every look the gaps of the last period and of the last few together are compared with the baseline: sudden changes
show in the former, small ones in the latter. All p-values of a look are adjusted for each other (Holm) and for how many
looks are planned, so that one false alarm or more in all of them has a chance of at most `false_alarms`. What a look
spends depends on nothing that comes later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from evenhand.analyses.monitor.curve_changes import CurveChanges, Sample, sampled
from evenhand.analyses.monitor.rate_changes import rate_changes
from evenhand.analyses.options import Options
from evenhand.inference.significance import holm
from evenhand.measures.registry import Measure, Profile, RateMeasure, ScoreMeasure
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.dense import Counts, Units
from evenhand.tables.groups import Grouping
from evenhand.tables.scores import ScoreCounts, ScoreView
from evenhand.tables.table import Table, bin_edges

WINDOWS = (1, 4, 16)
CELLS = 128
"""So many cells of scores at most: enough to see whether a curve of gaps has changed."""
EVEN = 64
"""So many more at most, of equal width, for scores that nobody in the baseline has."""
SOME = 4
"""So many people of the other sample help to tell what a weighted one knows."""
MANY = 30
"""Above so many groups, score-level changes are not tested."""

Key = tuple[str, str, str]
"""Attribute, measure and group."""


@dataclass(frozen=True)
class Finding:
    """What a look says about one comparison: the window that shows the most."""

    window: int
    p_value: float
    p_adjusted: float
    """For all that was tested in this look, and for all planned looks."""


@dataclass(frozen=True)
class Slice:
    """The counts of some people that tests need; slices add up."""

    decisions: Counts
    bins: Counts | None
    sample: Sample | None

    def __add__(self, other: Slice) -> Slice:
        bins = None if self.bins is None or other.bins is None else together(self.bins, other.bins)
        sample = None if self.sample is None or other.sample is None else self.sample + other.sample
        return Slice(together(self.decisions, other.decisions), bins, sample)


def together(a: Counts, b: Counts) -> Counts:
    """The counts of two samples of the same groups."""
    squares = None if a.squares is None or b.squares is None else a.squares + b.squares
    return replace(a, array=a.array + b.array, squares=squares, units=_units(a, b))


def _units(a: Counts, b: Counts) -> Units | None:
    if a.units is None and b.units is None:
        return None
    one, other = (c.units or _each_alone(c) for c in (a, b))
    place, mass, rows = (np.concatenate([getattr(one, n), getattr(other, n)]) for n in ("place", "mass", "rows"))
    cluster = np.concatenate([one.cluster, one.count + other.cluster])
    return Units(cluster, place, mass, rows, one.count + other.count)


def _each_alone(counts: Counts) -> Units:
    """Clusters of one row each."""
    n = np.rint(counts.array).astype(np.int64).ravel()
    place = np.repeat(np.arange(n.size), n)
    return Units(np.arange(len(place)), place, np.ones(len(place)), np.ones(len(place)), len(place))


class Yardstick:
    """The baseline of one attribute: makes slices of periods and tells how far they are from it."""

    def __init__(
        self,
        table: Table,
        grouping: Grouping,
        reference: int,
        measures: Sequence[Measure],
        options: Options,
        rng: np.random.Generator,
        parts: Sequence[Table] = (),
        excluded: Collection[str] = (),
    ) -> None:
        """`parts` are the tables of the baseline's periods, if it has several; `excluded` groups are not tested."""
        self.name, self.groups, self.reference = grouping.name, grouping.groups, reference
        self.options, self.excluded = options, excluded
        possible = [m for m in measures if table.label is not None or not m.needs_label]
        binned = _binned(table, options.scores.gap_bins)
        self.rates = [m for m in possible if isinstance(m, RateMeasure) and (m.levels == "decision" or binned)]
        scored = [m for m in possible if isinstance(m, ScoreMeasure)]
        few = len(self.groups) <= MANY and options.bootstrap > 0
        self.scored = scored if table.score is not None and few else []
        self.untested_scores = bool(scored) and table.score is not None and not few
        self.lowest: Floats | None = None
        self.cells: ScoreCounts | None = None
        if self.scored:
            self._cut(table, grouping)
        self.before = self.slice(table, rng)
        self.curves: CurveChanges | None = None
        if self.cells is not None and self.before.sample is not None:
            each = [self.slice(t, own).sample for t, own in zip(parts, rng.spawn(len(parts)), strict=True)]
            samples = [s for s in each if s is not None]
            self.curves = CurveChanges(self.cells, self.before.sample, self.scored, options.scores, samples)

    def _cut(self, table: Table, grouping: Grouping) -> None:
        """Cells of scores by the baseline: later scores fall into one of them."""
        most = int(np.clip(10 * CELLS // len(self.groups), 32, CELLS))
        view = ScoreView(table, grouping, self.options.scores.calibration_bins)
        self.lowest = view.lowest(most)
        self.cells = view(range(len(self.groups)), most)
        self.lowest = np.unique(np.append(self.lowest, np.linspace(*table.score_range, EVEN, endpoint=False)))
        scores = _middles(table, self.lowest)
        self.cells = replace(self.cells, scores=scores[::-1] if table.meaning.risk else scores)

    def slice(self, table: Table, rng: np.random.Generator) -> Slice:
        """The people of a table who are in one of the groups."""
        grouping = self._aligned(table)
        inside = range(len(self.groups))
        decisions = table.decisions(grouping, self.options.threshold).only(inside)
        count = self.options.scores.gap_bins
        bins = table.binned(grouping, count).only(inside) if _binned(table, count) else None
        sample = None
        if self.cells is not None and self.lowest is not None:
            counts = table.dense(self._level(table), len(self.lowest), grouping).only(inside)
            placed = replace(self.cells, array=counts.array, squares=counts.squares, units=counts.units)
            sample = sampled(placed, self.options.bootstrap, rng)
        return Slice(decisions, bins, sample)

    def _level(self, table: Table) -> Ints:
        assert self.lowest is not None
        assert table.score is not None
        level = np.maximum(np.searchsorted(self.lowest, table.score, side="right") - 1, 0)
        return len(self.lowest) - 1 - level if table.meaning.risk else level

    def _aligned(self, table: Table) -> Grouping:
        """The grouping of a table in the order of the baseline's groups; those it does not have come last."""
        own = table.grouping(self.name)
        place = {g: i for i, g in enumerate(self.groups)}
        codes = np.array([*(place.get(g, len(place)) for g in own.groups), len(place)], np.int64)[own.codes]
        names = (*self.groups, "")
        return Grouping(self.name, own.attributes, names, tuple((g,) for g in names), codes)

    def tests(
        self, periods: Sequence[Slice], min_people: int, rng: np.random.Generator
    ) -> dict[tuple[str, str], float]:
        """By measure and group the p-value that the gap in some periods together is what it was in the baseline."""
        now = reduce(lambda a, b: a + b, periods)
        parts = [s.sample for s in periods if s.sample is not None]
        people = np.minimum(now.decisions.people(), self.before.decisions.people())
        others = [g for g in range(len(self.groups)) if g != self.reference]
        compared = [g for g in others if self.groups[g] not in self.excluded]
        large = [g for g in compared if min(people[g], people[self.reference]) >= min_people]
        found: dict[tuple[str, str], float] = {}
        rates = [m for m in self.rates if m.levels == "decision" or now.bins is not None]
        for m, p in zip(rates, self._rate_changes(rates, now), strict=True):
            found |= {(m.id, self.groups[g]): float(p[g]) for g in large}
        for g, random in zip(others, rng.spawn(len(others)), strict=True):
            if self.curves is not None and now.sample is not None and g in large:
                of_scores = self.curves.p_values(now.sample, parts, (g, self.reference), random)
                found |= {(id_, self.groups[g]): p for id_, p in of_scores.items()}
        return {key: p for key, p in found.items() if not np.isnan(p)}

    def _rate_changes(self, rates: Sequence[RateMeasure], now: Slice) -> list[Floats]:
        if not rates:
            return []
        new = [self._profile(m, now, self.before) for m in rates]
        old = [self._profile(m, self.before, now) for m in rates]
        return rate_changes(rates, new, old, self.reference)

    @staticmethod
    def _profile(m: RateMeasure, people: Slice, others: Slice) -> Profile:
        counts, more = (s.decisions if m.levels == "decision" else s.bins for s in (people, others))
        assert counts is not None
        assert more is not None
        own = m.profile(counts)
        if counts.squares is None or more.squares is None:
            return own
        return _no_more_people(own, m.profile(_with_some(counts, more)))


def _with_some(counts: Counts, others: Counts) -> Counts:
    """Weighted counts and a few people of another sample.

    Where those with the rarer outcome weigh the most, a sample that happens to have none of them does not know how
    little it knows: all its weights are alike. The other sample knows.
    """
    assert counts.squares is not None
    assert others.squares is not None
    part = np.minimum(1.0, SOME / np.maximum(others.people(), 1e-9))[:, None]
    return replace(counts, array=counts.array + part * others.array, squares=counts.squares + part * others.squares)


def _no_more_people(own: Profile, other: Profile) -> Profile:
    """A profile that rests on no more people than another one does."""
    trials = own.trials
    if trials is not None and other.trials is not None:
        trials = np.fmin(trials, other.trials)
    quotient = own.quotient
    if quotient is not None and other.quotient is not None:
        pairs = [_no_more_people(a, b) for a, b in zip(quotient, other.quotient, strict=True)]
        quotient = pairs[0], pairs[1]
    return replace(own, trials=trials, quotient=quotient)


def _middles(table: Table, lowest: Floats) -> Floats:
    """The mean score of each cell, or its middle where there is nobody."""
    assert table.score is not None
    level = np.maximum(np.searchsorted(lowest, table.score, side="right") - 1, 0)
    mass, sums = (np.bincount(level, w, len(lowest)) for w in (table.mass, table.mass * table.score))
    ends = np.append(lowest[1:], table.score_range[1])
    mean = np.divide(sums, mass, out=(lowest + ends) / 2, where=mass > 0)
    return np.asarray(np.clip(mean, lowest, ends))


def _binned(table: Table, bins: int) -> bool:
    if table.score is None or table.label is None:
        return False
    return table.spans is None or not table.spans.across(bin_edges(table.score_range, bins)[1:-1])


@dataclass(frozen=True)
class Rule:
    """When to raise an alarm."""

    looks: int = 200
    false_alarms: float = 0.05
    min_people: int = 30
    windows: tuple[int, ...] = WINDOWS


def findings(
    yardsticks: Sequence[Yardstick], tables: Iterable[Table], rule: Rule, rng: np.random.Generator
) -> Iterator[dict[Key, Finding]]:
    """Look after look, what is known about every comparison that could be tested."""
    kept: list[deque[Slice]] = [deque(maxlen=max(rule.windows)) for _ in yardsticks]
    for table in tables:
        (random,) = rng.spawn(1)  # of its own, so that later periods change nothing
        p_values: dict[tuple[Key, int], float] = {}
        for yardstick, slices, own in zip(yardsticks, kept, random.spawn(len(yardsticks)), strict=True):
            sampling, *testing = own.spawn(1 + len(rule.windows))
            slices.append(yardstick.slice(table, sampling))
            for window, stream in zip(rule.windows, testing, strict=True):
                if window <= len(slices):
                    tested = yardstick.tests(list(slices)[-window:], rule.min_people, stream)
                    p_values |= {((yardstick.name, *key), window): p for key, p in tested.items()}
        yield _adjusted(p_values, rule)


def _adjusted(p_values: dict[tuple[Key, int], float], rule: Rule) -> dict[Key, Finding]:
    found: dict[Key, Finding] = {}
    for ((key, window), raw), p in zip(p_values.items(), holm(list(p_values.values())), strict=True):
        p = min(rule.looks * p, 1.0)
        if key not in found or p < found[key].p_adjusted:
            found[key] = Finding(window, raw, p)
    return found
