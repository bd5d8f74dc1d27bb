"""Intervals of aggregates over classes and groups: from draws of the counts, or from exact intervals of all rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.analyses.classes.matrix import Matrix
from evenhand.inference.interval import enough, exact, norm, percentile
from evenhand.measures.aggregation import CLASSWISE, GROUPWISE, ClassRate, Recipe, within_reach
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.confusion import Sums

ENOUGH = 10
"""So many people on the counted side of every rate make a bootstrap of ratios valid."""
ENOUGH_ON_AVERAGE = 20
"""So many people per class and group make one of F1 valid."""

MANY = 5
"""Of so many classes on an aggregate has the interval of an inverted test: the gaps of fewer do not tell a pattern."""


@dataclass(frozen=True)
class Task:
    """An aggregate whose uncertainty is asked for."""

    matrix: Matrix
    recipe: Recipe

    @property
    def gaps(self) -> Floats:
        return np.asarray(self.matrix.values - self.matrix.base)

    @property
    def method(self) -> str:
        """Which is valid. Ratios, and F1, of few people are too skew for a bootstrap (docs/analyses/classes.md)."""
        m, how = self.matrix, self.recipe.method
        people = m.people[~m.vacant]
        if m.rate.trials is not None:
            # what is large rests on the smallest cell
            enough_people = people.min(initial=np.inf) if _extreme(self.recipe) else people.mean()
            if enough_people < ENOUGH_ON_AVERAGE:
                return "band"
        if how == "basic" and self.recipe.unit == "ratio":
            return how if (m.values[~m.vacant] * people).min(initial=np.inf) >= ENOUGH else "band"
        return how

    @property
    def source(self) -> str:
        """Which tables are drawn for it. F1 is biased among few people, which only samples show."""
        rate = self.matrix.rate
        if rate.trials is not None:
            return "samples" if self.method == "basic" else "rows"
        return rate.permuted_within if rate.needs == "hits" else "people"

    def drawn(self, sums: Sums) -> tuple[Floats, Floats]:
        """What is followed through draws: values and base of a norm, units of anything else."""
        values, base = self.matrix.of(sums)
        return (values, base) if self.method == "norm" else (self.recipe.units(values, base), base)

    @property
    def uncorrected(self) -> str | None:
        """Why there is no value corrected for what noise adds; None if there may be one."""
        return _REASONS["f1"] if self.matrix.rate.trials is not None else _uncorrected(self.recipe)

    @property
    def only(self) -> int:
        """The place of the only class it is about; -1 if all are."""
        return self.recipe.positive if self.recipe.classes.kind == "binary" else -1

    @property
    def many(self) -> bool:
        """Whether so many classes are aggregated that their gaps tell how large gaps are."""
        several = int((~self.matrix.vacant).any(-1).sum())
        return self.only < 0 and several >= MANY

    @property
    def by_class(self) -> Recipe:
        """The first step alone: what is done to one class."""
        step = GROUPWISE["sum of gaps"] if self.recipe.complement else self.recipe.group
        return replace(self.recipe, group=step, classes=CLASSWISE["binary"], positive=0, class_weights=None)


_REASONS = {
    "f1": "because F1 is no share of people: it depends on how many groups have of each class, and is biased among few",
    "threshold": "because many cells do not tell better than few whether a gap keeps to a threshold",
    "mean": "because noise does not make a mean of {0} larger in the way it does gaps",
    "low": "because with exponents below 1 the smallest gaps decide, which are mostly noise",
    "extreme": "because the most extreme of all classes rests on a single cell",
}


def _uncorrected(recipe: Recipe) -> str | None:
    """Why no truth can be said to lie in the middle of those that could have given an aggregate."""
    step, q = recipe.group, recipe.classes.power
    if step.kind == "threshold":
        return _REASONS["threshold"]
    if not recipe.worse:
        return _REASONS["mean"].format(f"{recipe.unit}s")
    low = step.kind == "power" and recipe.unit == "gap" and (step.power or 0.0) < 1
    if low or (q is not None and q < (0.5 if step.kind == "variance" else 1)):
        return _REASONS["low"]
    return _REASONS["extreme"] if q is not None and np.isinf(q) else None


def _extreme(recipe: Recipe) -> bool:
    """Whether one cell may count for more than the others of its class, or be the aggregate alone."""
    step, power = recipe.group, recipe.group.power
    return (
        step.kind in ("difference", "variance") or (power is not None and power > 1) or recipe.classes.power == np.inf
    )


@dataclass
class Moves:
    """How far an aggregate and those of single classes moved: norms, or values themselves."""

    total: list[Floats] = field(default_factory=list)
    beta: list[Floats] = field(default_factory=list)
    alike: dict[bool, Moves] = field(default_factory=dict)
    """The same if groups were alike: people of the same true class (True), or all (False)."""

    def joined(self) -> tuple[Floats, Floats]:
        return np.concatenate(self.total), np.concatenate(self.beta)

    def samples(self) -> list[tuple[Floats, Floats]]:
        """As drawn, and if groups were alike."""
        return [each.joined() for each in (self, *self.alike.values())]


def norms_by_class(recipe: Recipe, gaps: Floats) -> Floats:
    """The norm of the gaps of each class."""
    beta = recipe.beta(gaps, np.zeros((*gaps.shape[:-1], 1)))
    return np.sqrt(beta) if recipe.group.kind == "variance" else beta


def interval(
    task: Task, value: float, beta: Floats, moves: Moves, confidence: float
) -> tuple[Pair | None, tuple[Pair | None, ...], str | None]:
    recipe = task.recipe
    if task.method == "band":
        whole, each, how = _band(task, confidence)
        return _possible(task, whole), tuple(_possible(task, one) for one in each), how
    if task.method == "norm":
        return _norms(task, moves, confidence)
    samples = moves.samples()
    highest = 1.0 if recipe.unit == "score" else np.inf
    ci = both_ways(value, [total for total, _ in samples], confidence, highest)
    by_class = [
        both_ways(float(b), [single[:, c] for _, single in samples], confidence, highest) for c, b in enumerate(beta)
    ]
    return _possible(task, ci), tuple(_possible(task, one) for one in by_class), "basic and percentile bootstrap"


def _possible(task: Task, ci: Pair | None) -> Pair | None:
    """An interval without what cannot be: the least of several ratios to what groups have on average is at most 1."""
    least = task.recipe.unit == "ratio" and task.recipe.group.power == -np.inf and task.matrix.empty is None
    return (min(ci[0], 1.0), min(ci[1], 1.0)) if least and ci is not None else ci


def _norms(task: Task, moves: Moves, confidence: float) -> tuple[Pair | None, tuple[Pair | None, ...], str]:
    """Whatever moves a norm more, draws or samples in which groups are alike."""
    recipe, each = task.recipe, task.by_class
    samples = moves.samples()
    ci = _from_norm(task, recipe, float(recipe.norm(task.gaps)), [total for total, _ in samples], confidence)
    by_class = [
        _from_norm(task, each, float(b), [single[:, c] for _, single in samples], confidence)
        if np.isfinite(b)
        else None
        for c, b in enumerate(norms_by_class(each, task.gaps))
    ]
    return ci, tuple(by_class), "bootstrap of the norm"


def _from_norm(task: Task, recipe: Recipe, size: float, drawn: Sequence[Floats], confidence: float) -> Pair:
    highest = _highest(task, recipe.group.kind)
    ends = [recipe.from_norm(end) for moves in drawn for end in norm(size, moves, confidence, highest)]
    return min(ends), max(ends)


def _highest(task: Task, kind: str) -> float:
    """What a norm can be at most. Groups cannot all be far from what they have on average, unless `empty` is."""
    groups = task.matrix.values.shape[-1]
    apart = max(groups - 1, 1) if task.matrix.empty is None else groups
    if kind == "variance":
        return float(np.sqrt(apart / max(groups - 1, 1)))
    return float(apart) if kind == "sum" else 1.0


def both_ways(value: float, samples: Sequence[Floats], confidence: float, highest: float = np.inf) -> Pair | None:
    """A basic and a percentile bootstrap interval in one: the one corrects bias, the other suits what is skew."""
    if not np.isfinite(value) or not all(enough(drawn, confidence) for drawn in samples):
        return None
    ends = [float(end) for drawn in samples for end in percentile(drawn, confidence)]
    ends += [2 * value - end for end in ends]
    return min(max(min(ends), 0.0), highest), min(max(ends), highest)


def _band(task: Task, confidence: float) -> tuple[Pair | None, tuple[Pair | None, ...], str]:
    """From exact intervals of all rates that hold together (Clopper and Pearson, Bonferroni)."""
    recipe = task.recipe
    by_class = [_reach(task, task.by_class, slice(c, c + 1), confidence) for c in range(len(task.matrix.values))]
    if recipe.classes.kind == "binary":
        return by_class[recipe.positive], tuple(by_class), "simultaneous exact intervals"
    return _reach(task, recipe, slice(None), confidence), tuple(by_class), "simultaneous exact intervals"


def _reach(task: Task, recipe: Recipe, chosen: slice, confidence: float) -> Pair | None:
    m = task.matrix
    values, base = m.values[chosen], m.base[chosen]
    fixed = m.vacant[chosen]
    several = int((~fixed & ~np.isnan(values)).sum()) + (len(base) if recipe.unit != "score" else 0)
    level = 1 - (1 - confidence) / max(several, 1)
    lo, hi = exact(_share(m.rate, values), m.people[chosen], level)
    lo, hi = (np.where(fixed, values, _back(m.rate, end)) for end in (lo, hi))
    if m.which == "overall":
        ends = exact(_share(m.rate, base), m.base_people[chosen], level)
        base_lo, base_hi = (np.where(np.isnan(end), base, _back(m.rate, end)) for end in ends)
    else:
        base_lo, base_hi = (_mean(end) for end in (lo, hi))
    ends = within_reach(recipe, lo, hi, base_lo, base_hi)
    if np.isnan(ends[0]) or np.isnan(ends[1]):
        return None
    return float(ends[0]), float(ends[1])


def _mean(values: Floats) -> Floats:
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(-1, keepdims=True)
    count = known.sum(-1, keepdims=True)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _share(rate: ClassRate, values: Floats) -> Floats:
    """F1 = 2J / (1 + J) grows with J, which is a share of people."""
    return values / (2 - values) if rate.trials is not None else values


def _back(rate: ClassRate, share: Floats) -> Floats:
    return 2 * share / (1 + share) if rate.trials is not None else share
