"""Counts at every score: the dense view that score-level measures work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.dense import Counts, Units
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table, equal_bins

MOST_SCORES = 2_000_000
CELLS = 200_000


@dataclass(frozen=True, kw_only=True)
class ScoreCounts(Counts):
    """Counts of some groups at every score they hold, axes (…, score, group, label).

    Scores run from the least favourable to the most; for a risk score they fall. A measure of two groups takes the
    first for the group and the second for its reference.
    """

    scores: Floats
    """As they were given."""
    score_range: tuple[float, float]
    risk: bool = False
    person: float = 1.0
    """What a person of all groups together weighs, for ranks."""
    resolution: float = 0.0
    """How much measures may be off because scores were put together; 0 if none were."""
    ends: tuple[Floats, Floats] | None = None
    """Between which places of the score range (see `unit`) the people of each score lie; None if all are exact."""

    @property
    def wide(self) -> Bools | None:
        """Which scores stand for several; None if none do."""
        return None if self.ends is None else np.asarray(self.ends[1] > self.ends[0])

    @cached_property
    def unit(self) -> Floats:
        """Where each score lies between the least (0) and the most favourable (1) possible one."""
        return position(self.scores, self.score_range, self.risk)

    @property
    def has_length(self) -> bool:
        """Whether the score range is more than one point."""
        return self.score_range[0] < self.score_range[1]

    # The score comes last in what follows: numpy is several times faster along the last axis.

    @cached_property
    def classes(self) -> Floats:
        """The counts by axes (…, group, label, score)."""
        return np.ascontiguousarray(np.moveaxis(self.array, -3, -1), np.float64)

    @cached_property
    def cumulative(self) -> Floats:
        """People at or below each score, axes (…, group, label, score)."""
        return np.cumsum(self.classes, axis=-1)

    def of(self, label: int | None = None) -> Floats:
        """People of each group at each score, of one label or of both: axes (…, group, score)."""
        return _labels(self.classes, label)

    def up_to(self, label: int | None = None) -> Floats:
        """People of each group at or below each score."""
        return _labels(self.cumulative, label)

    def sizes(self, label: int | None = None) -> Floats:
        """People of each group."""
        return self.up_to(label)[..., -1]

    def cdf(self, label: int | None = None) -> Floats:
        """Share of each group at or below each score; NaN for a group without such people."""
        people = self.up_to(label)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(people / people[..., -1:])

    @cached_property
    def pooled(self) -> Floats:
        """People of all groups at each score: axes (…, score)."""
        return np.asarray(self.classes.sum((-3, -2)))

    def ranks(self, how: str = "published") -> Floats:
        """Rank of each score among all people of the counts, as a share, axes (…, score).

        Published: the mean of the places 0 … n−1 of the people who share a score, over n − 1, with the lowest score
        pinned to 0 and the highest to 1. Mid: people below plus half of those with this score, over n.
        """
        return self._mid_ranks if how == "mid" else self._published_ranks

    @cached_property
    def _below(self) -> tuple[Floats, Floats]:
        """People of all groups below each score, and at or below it."""
        upto = np.cumsum(self.pooled, axis=-1)
        return upto - self.pooled, upto

    @cached_property
    def _mid_ranks(self) -> Floats:
        below, upto = self._below
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((below + upto) / (2 * upto[..., -1:]))

    @cached_property
    def _published_ranks(self) -> Floats:
        below, upto = self._below
        total = upto[..., -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = np.clip((below + upto - self.person) / (2 * (total - self.person)), 0.0, 1.0)
        return np.where(below <= 0, 0.0, np.where(upto >= total, 1.0, middle))

    def rank_ends(self, how: str = "published") -> tuple[Floats, Floats]:
        """The lowest and the highest rank that people of each score may have, if scores that stand for several do not
        tell whose is higher: axes (score,)."""
        rank, wide = self.ranks(how), self.wide
        if wide is None:
            return rank, rank
        below, upto = self._below
        # whoever weighs less than a person on average may stand half of that aside
        aside = 0.0 if self.exchangeable else self.person / 2
        first, last = below - aside, upto - self.person + aside
        places = upto[-1] if how == "mid" else max(upto[-1] - self.person, 1e-300)
        half = self.person / 2 if how == "mid" else 0.0
        low, high = (np.clip((end + half) / places, 0.0, 1.0) for end in (first, last))
        return np.where(wide, np.minimum(low, rank), rank), np.where(wide, np.maximum(high, rank), rank)

    def bin_of_scores(self, bins: int) -> Ints:
        """Equal-width bins over the score range, as in `Table.bin_of_cells`."""
        return equal_bins(self.scores, self.score_range, bins, self.risk)

    def merged(self, cell: Ints) -> ScoreCounts:
        """Fewer scores: those with the same number in `cell` (which must not fall) become one, at their mean."""
        starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
        array = np.add.reduceat(self.array, starts, axis=-3)
        mass = self.pooled
        share = mass / np.repeat(np.add.reduceat(mass, starts), np.diff(np.r_[starts, len(mass)]))
        return replace(
            self,
            array=array,
            squares=None if self.squares is None else np.add.reduceat(self.squares, starts, axis=-3),
            units=moved(self, np.cumsum(np.r_[0, cell[1:] != cell[:-1]])),
            ends=None,
            scores=np.clip(np.add.reduceat(self.scores * share, starts), self.scores.min(), self.scores.max()),
        )

    def coarse(self, most: int) -> ScoreCounts:
        """At most so many scores, each standing for few people and for a short piece of the range.

        Only for resampling: how far a curve moves is known well enough from some hundred of its points.
        """
        if len(self.scores) <= most:
            return self
        half = most // 2
        below, upto = self._below
        by_mass = np.floor((below + upto) / (2 * upto[-1]) * half)
        by_width = np.floor(self.unit * (half - 1))
        changed = (np.diff(by_mass) > 0) | (np.diff(by_width) > 0)
        return self.merged(np.r_[0, np.cumsum(changed)])


def moved(counts: Counts, level: Ints) -> Units | None:
    """The clusters of counts whose levels become others."""
    if counts.units is None:
        return None
    inside = counts.array.shape[-2] * counts.array.shape[-1]
    place = level[counts.units.place // inside] * inside + counts.units.place % inside
    return replace(counts.units, place=place)


def _person(array: Floats, squares: Floats | None, units: Units | None) -> float:
    """What a person of all groups together weighs."""
    if units is not None:
        return float(units.squares(np.zeros(len(units.place), np.int64), 1, units.mass)[0] / array.sum())
    return 1.0 if squares is None else float(squares.sum() / array.sum())


def _labels(classes: Floats, label: int | None) -> Floats:
    """One label, or both together."""
    if label is not None:
        return classes[..., label, :]
    return classes[..., 0, :] if classes.shape[-2] == 1 else classes[..., 0, :] + classes[..., 1, :]


def position(scores: Floats, score_range: tuple[float, float], risk: bool) -> Floats:
    """Scores as shares of the way from the least favourable to the most favourable possible one."""
    lo, hi = score_range
    if lo == hi:
        return np.zeros_like(scores)
    return (hi - scores) / (hi - lo) if risk else (scores - lo) / (hi - lo)


class ScoreView:
    """The people of a grouping by score: makes the dense counts of any of its groups, quickly for many pairs.

    More than `MOST_SCORES` distinct scores are put together to `CELLS` cells, none of them wide or heavy or across the
    border of a calibration bin, and `ScoreCounts.resolution` tells how much that can change a measure.
    """

    def __init__(self, table: Table, grouping: Grouping, calibration_bins: int = 50) -> None:
        if table.score is None:
            raise UsageError("this needs scores, but the table has none: pass score= when you tabulate the data")
        self.table, self.grouping, self.bins = table, grouping, calibration_bins
        self._cells: list[Ints] | None = None

    def __call__(self, groups: Sequence[int], cells: int | None = None) -> ScoreCounts:
        """Dense counts of these groups at every score that one of them holds, or in about as many cells as asked."""
        t = self.table
        assert t.score is not None
        own = self._of(groups)
        score, mass = t.score[own], t.mass[own]
        new, level, many = self._level(score, mass, cells)
        levels, labels = int(level[-1]) + 1, 1 if t.label is None else 2
        place = np.zeros(len(self.grouping.groups), np.int64)
        place[list(groups)] = np.arange(len(groups)) * labels * levels
        key = level + place[self.grouping.codes[own]]
        if t.label is not None:
            key += levels * t.label[own]

        def dense(weights: NDArray[Any]) -> Floats:
            sums: Any = np.bincount(key, weights=weights, minlength=len(groups) * labels * levels)
            return np.moveaxis(np.asarray(sums, np.float64).reshape(len(groups), labels, levels), -1, 0)

        array = dense(mass)
        squares = None if t.weight2 is None else dense(t.weight2[own])
        first = np.flatnonzero(np.diff(level, prepend=-1) if many else new)
        scores, resolution, ends = score[first], 0.0, None
        where = level if not t.meaning.risk else levels - 1 - level
        place = place // levels  # group and label
        inside = place[self.grouping.codes[own]] + (0 if t.label is None else t.label[own])
        units = t.units(where * (len(groups) * labels) + inside, own)
        person = _person(array, squares, units)
        if many or t.spans is not None:
            last = score[np.append(first[1:], len(score)) - 1]
            low, high = (scores, last) if t.spans is None else (t.spans.ends(scores)[0], t.spans.ends(last)[1])
            width = position(high, t.score_range, False) - position(low, t.score_range, False)
            resolution = _resolution(array, np.minimum(width, 1.0), person)
            low, high = (np.clip(position(x, t.score_range, t.meaning.risk), 0.0, 1.0) for x in (low, high))
            ends = low, high
        if many:
            mean = np.bincount(level, weights=score * mass) / np.bincount(level, weights=mass)
            scores = np.clip(mean, scores, last)  # a cell of one score keeps it to the last digit
        if t.meaning.risk:
            array, scores = array[::-1], scores[::-1]
            ends = None if ends is None else (ends[1][::-1], ends[0][::-1])
            squares = None if squares is None else squares[::-1]
        return ScoreCounts(
            array=array,
            groups=tuple(self.grouping.groups[g] for g in groups),
            squares=squares,
            units=units,
            scores=scores,
            score_range=t.score_range,
            risk=t.meaning.risk,
            person=person,
            resolution=resolution,
            ends=ends,
        )

    def lowest(self, cells: int) -> Floats:
        """The lowest score of each level of the counts of all groups in about so many cells."""
        score, level = self._levels(cells)
        return score[np.flatnonzero(np.diff(level, prepend=-1))]

    def widths(self, cells: int) -> Floats:
        """At most how wide each level of the counts of all groups in about so many cells is, as a share."""
        t = self.table
        score, level = self._levels(cells)
        first = np.flatnonzero(np.diff(level, prepend=-1))
        low, high = score[first], score[np.append(first[1:], len(level)) - 1]
        if t.spans is not None:
            low, high = t.spans.ends(low)[0], t.spans.ends(high)[1]
        width = position(high, t.score_range, False) - position(low, t.score_range, False)
        return width[::-1] if t.meaning.risk else width

    def _levels(self, cells: int) -> tuple[Floats, Ints]:
        """The score and the level of each cell whose people are in a group."""
        t, inside = self.table, self.grouping.inside
        assert t.score is not None
        return t.score[inside], self._level(t.score[inside], t.mass[inside], cells)[1]

    def _level(self, score: Floats, mass: NDArray[Any], cells: int | None) -> tuple[Bools, Ints, bool]:
        """Of sorted scores: which are new, the level of each, and whether levels put scores together."""
        new = np.concatenate([[True], score[1:] != score[:-1]])
        many = bool(np.count_nonzero(new) > (cells or MOST_SCORES))
        return new, self._merged(score, mass, new, cells or CELLS) if many else np.cumsum(new) - 1, many

    def _of(self, groups: Sequence[int]) -> Any:
        """What picks the cells of some groups, in the order of scores."""
        codes, total = self.grouping.codes, len(self.grouping.groups)
        if len(groups) == total:
            return self.grouping.inside
        if len(codes) > MOST_SCORES:  # indices would take more memory than the scores
            return np.isin(codes, groups)
        if self._cells is None:
            ends = np.cumsum(np.bincount(codes + 1, minlength=total + 1))  # those of no group come first
            self._cells = np.split(np.argsort(codes, kind="stable"), ends[:-1])[1:]
        return np.sort(np.concatenate([self._cells[g] for g in groups]))

    def _merged(self, score: Floats, mass: NDArray[Any], new: NDArray[Any], cells: int) -> Ints:
        """For each cell of the table, which of at most so many (and a few more) cells it belongs to."""
        starts = np.flatnonzero(new)
        upto = np.cumsum(mass, dtype=np.float64)[np.append(starts[1:], len(mass)) - 1]
        middle = upto - np.diff(upto, prepend=0.0) / 2
        middle /= upto[-1]
        changed = np.zeros(len(starts), np.bool_)

        def split(place: NDArray[Any]) -> None:
            changed[1:] |= place[1:] != place[:-1]

        split(np.floor(middle * (cells // 2)))
        # Published ranks lie within a person of the middle: scores so near to the border of a bin stand alone.
        t = self.table
        person = 1.0 if t.weight2 is None else float(t.weight2.sum() / t.mass.sum())
        middle *= self.bins
        near = np.abs(middle - np.round(middle)) <= self.bins * person / upto[-1]
        changed |= near
        changed[1:] |= near[:-1]
        split(np.floor(middle))
        levels = score[starts]
        del middle, upto
        split(np.floor(position(levels, t.score_range, False) * (cells // 2)))
        split(equal_bins(levels, t.score_range, self.bins, t.meaning.risk))
        changed[0] = False
        return np.repeat(np.cumsum(changed), np.diff(np.append(starts, len(mass))))


def _resolution(array: Floats, width: Floats, person: float) -> float:
    """How much a measure of two groups can change by putting scores together: Σ size · (ΔF_group + ΔF_reference).

    Size is the width of a cell for uniform measures, its share of all people for standardised ones (a person keeps
    their rank among themselves); F is of all people or of those with one label. The largest difference of two curves
    is off by no more than the smaller of their steps. What adds up both labels may change twice as much.
    """
    pooled = array.sum((-2, -1))
    wide = width > 0  # a cell of one score is exact
    heaviness = np.where(wide, np.maximum(pooled - person, 0.0) / pooled.sum(), 0.0)
    bounds = []
    for people in (array.sum(-1), *np.moveaxis(array, -1, 0)):
        steps = people / np.maximum(people.sum(0), 1e-300)
        shares = steps.sum(-1)
        bounds += [(width * shares).sum(), (heaviness * shares).sum()]
        bounds.append(np.where(wide, np.sort(steps, axis=-1)[:, -2:].min(-1), 0.0).max())
    if array.shape[-2:] == (2, 2):  # a ROC curve may take any way through the rectangle of a cell
        steps = np.where(wide, (array / np.maximum(array.sum(0), 1e-300)).T, 0.0)  # label, group, cell
        bounds += [np.einsum("gc,gc", steps[0], steps[1]), np.einsum("gc,gc", steps[0], steps[1, ::-1])]
    return float(max(bounds))
