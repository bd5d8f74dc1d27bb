"""A matrix of rates by class and group, how sure its aggregates are, and what chance alone would show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.inference import class_resample as tables
from evenhand.inference.interval import enough, norm, percentile, student, upper_quantile
from evenhand.measures.aggregation import CLASSWISE, GROUPWISE, ClassRate, Recipe, baseline, within_reach
from evenhand.measures.rates import ratio
from evenhand.tables.arrays import Bools, Floats, Pair
from evenhand.tables.confusion import ClassCounts, Sums

ENOUGH = 10
"""So many people on the counted side of every rate make a bootstrap of ratios valid."""
ENOUGH_ON_AVERAGE = 20
"""So many people per class and group make one of F1 valid."""
FEWEST = 5
"""Of fewer people, Student's quantile is that of so many: shares cannot be just anything."""
_NO_VARIATION = 1e-9
"""Rounding errors of weights that are all the same."""


@dataclass(frozen=True)
class Matrix:
    """A rate of every class and group, and what it is compared with."""

    rate: ClassRate
    values: Floats
    """Axes (class, group); NaN where undefined, unless empty cells count as a value."""
    base: Floats
    """Axes (class, 1)."""
    people: Floats
    """How many people each rate rests on; with sampling weights, as many as would know it as well."""
    base_people: Floats
    shares: Floats
    """Of all people that a class's rate rests on, how many are of each group."""
    which: str
    """The baseline: "overall" or "mean"."""
    empty: float | None
    vacant: Bools
    """Cells without rows."""
    apart: Bools | None = None
    """Classes that are not compared, axes (class, 1)."""

    def comparing(self) -> Matrix:
        """Without the classes that only one group has a rate of: its gap to itself would pass for parity."""
        if self.empty is not None:  # what counts as a rate is there in every group
            return self
        apart = (~self.vacant).sum(-1, keepdims=True) < 2
        values = np.where(apart, np.nan, self.values)
        return replace(self, values=values, vacant=self.vacant | apart, apart=apart)

    def of(self, sums: Sums, same_cells: bool = True) -> tuple[Floats, Floats]:
        """The same of other sums, with a leading axis: values and base. `same_cells`: what was undefined stays so."""
        values = self.rate.values(sums)
        values = np.where(self.vacant, np.nan, values) if same_cells else values
        values = values if self.apart is None else np.where(self.apart, np.nan, values)
        base = baseline(self.rate, sums, values if self.empty is None else self._filled(values), self.which)
        return self._filled(values), self._filled(base)

    @property
    def stretch(self) -> Floats:
        """By how much the spread of a share of n people exceeds that of draws from them and Jeffreys' prior.

        The variance p(1 − p)/n of the one over the mean of the other's, where p is ½ (elsewhere it exceeds it by less).
        """
        n = np.where(self.vacant | (self.people <= 0), 1.0, self.people)
        return np.asarray(np.sqrt((n + 2) / n * (n + 1) ** 2 / (n * n + n + 1)))

    def base_of(self, values: Floats) -> Floats:
        """How the base moves with values: by their shares, or alike."""
        known = np.where(np.isnan(values), 0.0, values)
        if self.which == "overall":
            return np.asarray((self.shares * known).sum(-1, keepdims=True))
        count = (~np.isnan(self.values)).sum(-1, keepdims=True)
        return np.asarray(known.sum(-1, keepdims=True) / np.maximum(count, 1))

    def _filled(self, values: Floats) -> Floats:
        return values if self.empty is None else np.where(np.isnan(values), self.empty, values)


def matrix(rate: ClassRate, counts: ClassCounts, which: str = "overall", empty: float | None = None) -> Matrix:
    """The rate of every class and group of these counts."""
    sums = counts.sums()
    squares = None if counts.squares is None else counts.sums(counts.squares)
    whole = rate.whole(sums)
    total = whole.sum(-1, keepdims=True)
    plain = Matrix(
        rate=rate,
        values=rate.values(sums),
        base=np.zeros((len(whole), 1)),
        people=rate.people(sums, squares),
        base_people=rate.people(sums.overall(), None if squares is None else squares.overall()),
        shares=whole / np.where(total > 0, total, 1.0),
        which=which,
        empty=empty,
        vacant=whole <= 0,
    )
    values, base = plain.of(sums)
    return replace(plain, values=values, base=base)


@dataclass(frozen=True)
class Chance:
    """What an aggregate is when groups are alike."""

    p_value: float
    mean: float
    high: float
    """The point that chance stays below 95 times of 100; above, if a smaller number is worse."""
    method: str
    sample: Floats = field(compare=False, repr=False)


@dataclass(frozen=True)
class Uncertainty:
    """How sure an aggregate is."""

    value: float
    beta: Floats
    ci: Pair | None = None
    beta_ci: tuple[Pair | None, ...] = ()
    method: str | None = None
    chance: Chance | None = None
    untested: str | None = None
    """Why there is no test."""


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
        return rate.exchanges if rate.needs == "hits" else "people"

    def drawn(self, sums: Sums) -> tuple[Floats, Floats]:
        """What is followed through draws: values and base of a norm, units of anything else."""
        values, base = self.matrix.of(sums)
        return (values, base) if self.method == "norm" else (self.recipe.units(values, base), base)

    @property
    def by_class(self) -> Recipe:
        """The first step alone: what is done to one class."""
        step = GROUPWISE["sum of gaps"] if self.recipe.complement else self.recipe.group
        return replace(self.recipe, group=step, classes=CLASSWISE["binary"], positive=0, class_weights=None)


def _extreme(recipe: Recipe) -> bool:
    """Whether one cell may count for more than the others of its class, or be the aggregate alone."""
    step, power = recipe.group, recipe.group.power
    return (
        step.kind in ("difference", "variance") or (power is not None and power > 1) or recipe.classes.power == np.inf
    )


def uncertainties(
    tasks: Sequence[Task],
    counts: ClassCounts,
    confidence: float,
    draws: int,
    permutations: int,
    rng: np.random.Generator,
) -> list[Uncertainty]:
    """Intervals and tests of several aggregates of the same counts, which share their draws.

    An aggregate alone has the interval and the p-value that it has among others.
    """
    streams = rng.spawn(12)
    further = doubts(counts, confidence)
    moves = _moved(tasks, counts, draws, streams[:5], further)
    _alike(tasks, moves, counts, draws, streams[10:], further)
    nulls = _exchanged(tasks, counts, permutations, streams[5:10])
    found = []
    for task, moved, null in zip(tasks, moves, nulls, strict=True):
        value = float(task.recipe.value(task.matrix.values, task.matrix.base))
        beta = task.by_class.beta(task.matrix.values, task.matrix.base)
        ci, beta_ci, method = None, tuple[Pair | None, ...]([None] * len(beta)), None
        if np.isfinite(value) and (task.method == "band" or draws):
            ci, beta_ci, method = _interval(task, value, beta, moved, confidence)
        chance, untested = _chance(task, counts, value, moved, null, permutations)
        found.append(Uncertainty(value, beta, ci, beta_ci, method, chance, untested))
    return found


# ---- draws -----------------------------------------------------------------------------------------------------------


@dataclass
class _Moves:
    """How far an aggregate and those of single classes moved: norms, or values themselves."""

    total: list[Floats] = field(default_factory=list)
    beta: list[Floats] = field(default_factory=list)
    alike: _Moves | None = None
    """The same if groups were alike."""

    def joined(self) -> tuple[Floats, Floats]:
        return np.concatenate(self.total), np.concatenate(self.beta)

    def ways(self) -> list[tuple[Floats, Floats]]:
        """As drawn, and if groups were alike."""
        return [each.joined() for each in (self, self.alike) if each is not None]


def doubts(counts: ClassCounts, confidence: float) -> dict[str, Floats]:
    """By how much further than drawn the rates of each group may move, by method, which Student's quantile says.

    A mean of scores rests on how much the people of a small group differ, which is only known from themselves. A norm
    compares groups, and most is known from all; there it is how much sampling weights vary that is known from few.
    They say nothing of that if all weigh alike.
    """
    total, people = counts.sums().total[0], counts.people.sums().total[0]
    n = people if counts.squares is None else ratio(total**2, counts.sums(counts.squares).total[0])
    vary = np.nan_to_num(np.maximum(1 - ratio(n, people), 0.0))
    known = np.fmax(n, FEWEST)
    of_people = [student(float(k), confidence) for k in known]
    of_weights = [
        student(float(k / v), confidence) if v > _NO_VARIATION else 1.0 for k, v in zip(known, vary, strict=True)
    ]
    return {"basic": np.array(of_people), "norm": np.array(of_weights)}


def _moved(
    tasks: Sequence[Task],
    counts: ClassCounts,
    draws: int,
    streams: Sequence[np.random.Generator],
    further: Mapping[str, Floats],
) -> list[_Moves]:
    found = [_Moves() for _ in tasks]
    if not draws:
        return found
    own = [task.source if task.method != "band" else "" for task in tasks]
    population = tables.smoothed(counts) if "samples" in own else counts
    ways: dict[str, Callable[[], Iterator[Sums]]] = {
        "true": lambda: tables.redrawn_hits(counts, draws, streams[0], "true"),
        "predicted": lambda: tables.redrawn_hits(counts, draws, streams[1], "predicted"),
        "people": lambda: tables.redrawn_people(counts, draws, streams[2]),
        "rows": lambda: tables.redrawn(counts, draws, streams[4]),
        "samples": lambda: tables.resampled(population, draws, streams[3]),
    }
    for source, way in ways.items():
        mine = [(task, moves) for task, moves, needs in zip(tasks, found, own, strict=True) if needs == source]
        centres: dict[int, tuple[Floats, Floats]] = {}
        if source == "samples":
            centres = {k: task.drawn(population.sums()) for k, (task, _) in enumerate(mine)}
        for sums in way() if mine else ():
            for k, (task, moves) in enumerate(mine):
                drawn = task.drawn(sums)
                centre = centres.setdefault(k, (drawn[0].mean(0), drawn[1].mean(0)))
                # Drawn from n people and one more, a share varies less than one of n people does: here, as much.
                stretch = further[task.method] * (task.matrix.stretch if source != "samples" else 1.0)
                _record(task, moves, drawn[0] - centre[0], drawn[1] - centre[1], stretch)
    return found


def _alike(
    tasks: Sequence[Task],
    moves: Sequence[_Moves],
    counts: ClassCounts,
    draws: int,
    streams: Sequence[np.random.Generator],
    further: Mapping[str, Floats],
) -> None:
    """What samples show in which groups are alike, for rates that a class hardly counts in.

    A class that nobody of a group is taken for does not move in draws, yet may be there in another sample.
    """
    for source, random in zip(("people", "rows"), streams, strict=True):
        own = [k for k, task in enumerate(tasks) if task.method != "band" and task.source == source]
        if not own or not draws:
            continue
        population = tables.alike(counts, by_class=source == "rows")
        whole = population.sums()
        for sums in tables.resampled(population, draws, random):
            for k in own:
                values, base = tasks[k].drawn(sums)
                centre = tasks[k].drawn(whole)
                away = np.where(np.isnan(values), 0.0, values - centre[0])
                if (found := moves[k].alike) is None:
                    found = moves[k].alike = _Moves()
                _record(tasks[k], found, away, base - centre[1], further[tasks[k].method])


def _record(task: Task, moves: _Moves, away: Floats, base_away: Floats, stretch: Floats) -> None:
    recipe, m = task.recipe, task.matrix
    more = (stretch - 1) * away
    if task.method == "norm":
        gaps = away + more - base_away - m.base_of(more)
        gaps = np.where(np.isnan(task.gaps), np.nan, gaps)
        moves.total.append(recipe.norm(gaps))
        moves.beta.append(_each(task.by_class, gaps))
    else:
        moved = np.where(np.isnan(away), 0.0, away + more)  # a sample that lacks a cell says nothing about it
        beta = recipe.of_units(recipe.units(m.values, m.base) + moved)
        moves.total.append(recipe.over_classes(beta))
        moves.beta.append(beta)


def _each(recipe: Recipe, gaps: Floats) -> Floats:
    """The norm of the gaps of each class."""
    beta = recipe.beta(gaps, np.zeros((*gaps.shape[:-1], 1)))
    return np.sqrt(beta) if recipe.group.kind == "variance" else beta


# ---- intervals -----------------------------------------------------------------------------------------------------


def _interval(
    task: Task, value: float, beta: Floats, moves: _Moves, confidence: float
) -> tuple[Pair | None, tuple[Pair | None, ...], str | None]:
    recipe = task.recipe
    if task.method == "band":
        return _band(task, confidence)
    if task.method == "norm":
        return _norms(task, moves, confidence)
    ways = moves.ways()
    highest = 1.0 if recipe.unit == "score" else np.inf
    ci = both_ways(value, [total for total, _ in ways], confidence, highest)
    by_class = [
        both_ways(float(b), [single[:, c] for _, single in ways], confidence, highest) for c, b in enumerate(beta)
    ]
    return ci, tuple(by_class), "basic and percentile bootstrap"


def _norms(task: Task, moves: _Moves, confidence: float) -> tuple[Pair | None, tuple[Pair | None, ...], str]:
    """Whatever moves a norm more, draws or samples in which groups are alike."""
    recipe, each = task.recipe, task.by_class
    ways = moves.ways()
    ci = _from_norm(task, recipe, float(recipe.norm(task.gaps)), [total for total, _ in ways], confidence)
    by_class = [
        _from_norm(task, each, float(b), [single[:, c] for _, single in ways], confidence) if np.isfinite(b) else None
        for c, b in enumerate(_each(each, task.gaps))
    ]
    return ci, tuple(by_class), "bootstrap of the norm"


def _from_norm(task: Task, recipe: Recipe, size: float, ways: Sequence[Floats], confidence: float) -> Pair:
    highest = _highest(task, recipe.group.kind)
    ends = [recipe.from_norm(end) for moves in ways for end in norm(size, moves, confidence, highest)]
    return min(ends), max(ends)


def _highest(task: Task, kind: str) -> float:
    """What a norm can be at most. Groups cannot all be far from what they have on average, unless `empty` is."""
    groups = task.matrix.values.shape[-1]
    apart = max(groups - 1, 1) if task.matrix.empty is None else groups
    if kind == "variance":
        return float(np.sqrt(apart / max(groups - 1, 1)))
    return float(apart) if kind == "sum" else 1.0


def both_ways(value: float, ways: Sequence[Floats], confidence: float, highest: float = np.inf) -> Pair | None:
    """A basic and a percentile bootstrap interval in one: the one corrects bias, the other suits what is skew."""
    if not np.isfinite(value) or not all(enough(drawn, confidence) for drawn in ways):
        return None
    ends = [float(end) for drawn in ways for end in percentile(drawn, confidence)]
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


def exact(share: Floats, people: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's interval of a share of people; NaN where there are none.

    >>> lo, hi = exact(np.array([0.5]), np.array([10.0]), 0.95)
    >>> lo.round(4).tolist(), hi.round(4).tolist()
    ([0.1871], [0.8129])
    """
    from scipy.special import betaincinv

    known = (people > 0) & ~np.isnan(share)
    n = np.where(known, people, 1.0)
    k = np.where(known, share, 0.0) * n
    tail = (1 - confidence) / 2
    lo = np.where(k > 0, betaincinv(np.maximum(k, 1e-12), n - k + 1, tail), 0.0)
    hi = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1e-12), 1 - tail), 1.0)
    return np.where(known, lo, np.nan), np.where(known, hi, np.nan)


# ---- tests ---------------------------------------------------------------------------------------------------------


def _exchanged(
    tasks: Sequence[Task], counts: ClassCounts, draws: int, streams: Sequence[np.random.Generator]
) -> list[Floats | None]:
    """Aggregates of tables in which people have exchanged groups; None where that says nothing."""
    found: list[list[Floats]] = [[] for _ in tasks]
    if draws and counts.squares is None and len(counts.groups) > 1:
        ways: dict[tuple[str, str], Callable[[], Iterator[Sums]]] = {
            ("true", "hits"): lambda: tables.exchanged_hits(counts, draws, streams[0], "true"),
            ("predicted", "hits"): lambda: tables.exchanged_hits(counts, draws, streams[1], "predicted"),
            ("true", "sums"): lambda: tables.exchanged(counts, draws, streams[2], "true"),
            ("predicted", "sums"): lambda: tables.exchanged(counts, draws, streams[3], "predicted"),
            ("all", "sums"): lambda: tables.exchanged_everybody(counts, draws, streams[4]),
        }
        for (by, needs), way in ways.items():
            own = [
                (task, sizes)
                for task, sizes in zip(tasks, found, strict=True)
                if (task.matrix.rate.exchanges, task.matrix.rate.needs) == (by, needs) and task.recipe.worse
            ]
            for sums in way() if own else ():
                for task, sizes in own:
                    sizes.append(task.recipe.value(*task.matrix.of(sums, same_cells=False)))
    return [np.concatenate(sizes) if sizes else None for sizes in found]


_NO_DISPARITY = "a mean of {0} is no disparity: it is not 0, nor anything else that is known, when groups are alike"


def _chance(
    task: Task, counts: ClassCounts, value: float, moves: _Moves, null: Floats | None, permutations: int
) -> tuple[Chance | None, str | None]:
    recipe = task.recipe
    if not recipe.worse:
        return None, _NO_DISPARITY.format("scores" if recipe.unit == "score" else "ratios")
    if not permutations:
        return None, "tests were switched off"
    if not np.isfinite(value):
        return None, "the aggregate is undefined"
    if null is not None:
        return _compared(value, null, recipe.worse, f"{len(null)} exchanges"), None
    if counts.squares is None:
        return None, "there is only one group"
    if task.method != "norm" or not moves.total:
        why = "resamples were switched off" if task.method == "norm" else "this aggregate is not followed by resamples"
        return None, f"people with sampling weights cannot exchange groups, and {why}"
    found = []
    for sizes, _ in moves.ways():
        drawn = np.array([recipe.from_norm(float(size)) for size in sizes])
        found.append(_compared(value, drawn, recipe.worse, f"{len(drawn)} resamples, recentred"))
    return max(found, key=lambda chance: chance.p_value), None


def _compared(value: float, null: Floats, worse: int, method: str) -> Chance:
    """How often chance shows at least as much; a table without a value does."""
    sizes = worse * null
    sizes = np.where(np.isnan(sizes), np.inf, sizes)
    reach = worse * value
    far = int(np.count_nonzero(sizes >= reach - 1e-9 * abs(reach) - 1e-12))
    known = null[np.isfinite(null)]
    high = worse * upper_quantile(sizes, 0.95)
    mean = float(known.mean()) if len(known) == len(null) else np.nan
    return Chance((1 + far) / (1 + len(null)), mean, float(high), method, np.sort(known))
