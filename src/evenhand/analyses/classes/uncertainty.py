"""How sure aggregates over classes and groups are: draws of the counts, and what chance alone would show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.analyses.classes.intervals import Moves, Task, interval, norms_by_class
from evenhand.analyses.classes.spread import inversions
from evenhand.inference import class_resample as tables
from evenhand.inference.interval import student, upper_quantile
from evenhand.inference.inversion import Inverted
from evenhand.inference.significance import at_floor
from evenhand.measures.rates import ratio
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.confusion import ClassCounts, Sums

FEWEST = 5
"""Of fewer people, Student's quantile is that of so many: shares cannot be just anything."""
_NO_VARIATION = 1e-9
"""Rounding errors of weights that are all the same."""


@dataclass(frozen=True)
class Chance:
    """What an aggregate is when groups are alike."""

    p_value: float
    mean: float
    high: float
    """The point that chance stays below 95 times of 100; above, if a smaller number is worse."""
    method: str
    sample: Floats = field(compare=False, repr=False)

    @property
    def at_most(self) -> bool:
        """Whether no permutation of group labels showed so much: the p-value may be smaller than it is."""
        return at_floor(self.p_value, self.method)


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
    corrected: float | None = None
    """The value without what noise adds to it: of samples from such a truth as many show more as show less."""
    uncorrected: str | None = None
    """Why there is no such value."""


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
    streams = rng.spawn(14)
    further = doubts(counts, confidence)
    moves = _moved(tasks, counts, draws, streams[:5], further)
    _alike(tasks, moves, counts, draws, streams[10:13], further)
    nulls = _permuted(tasks, counts, permutations, streams[5:10])
    truths = inversions(tasks, counts, confidence, draws, streams[13], further["norm"])
    results = []
    for task, moved, null, truth in zip(tasks, moves, nulls, truths, strict=True):
        value = float(task.recipe.value(task.matrix.values, task.matrix.base))
        beta = task.by_class.beta(task.matrix.values, task.matrix.base)
        ci, beta_ci, method = None, tuple[Pair | None, ...]([None] * len(beta)), None
        if np.isfinite(value) and (task.method == "band" or draws):
            ci, beta_ci, method = interval(task, value, beta, moved, confidence)
        chance, untested = _chance(task, counts, value, moved, null, permutations)
        if truth is not None and task.many and ci is not None:
            ci, method = _of_truths(truth, ci), "test inverted by simulation"
        middle = truth.middle if truth is not None and np.isfinite(truth.middle) else None
        why = None if middle is not None else task.uncorrected or _unknown(value, draws)
        results.append(Uncertainty(value, beta, ci, beta_ci, method, chance, untested, middle, why))
    return results


def _of_truths(truth: Inverted, other: Pair) -> Pair:
    """Where the family does not reach far enough, an end is that of the other interval."""
    low, high = (own if np.isfinite(own) else end for own, end in zip((truth.low, truth.high), other, strict=True))
    return low, high


def _unknown(value: float, draws: int) -> str:
    if not np.isfinite(value):
        return "because the aggregate is undefined"
    if not draws:
        return "because resamples were switched off"
    return "because there are too few resamples, or nobody's rate could be another in another sample"


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
) -> list[Moves]:
    moved = [Moves() for _ in tasks]
    if not draws:
        return moved
    own = [task.source if task.method != "band" else "" for task in tasks]
    population = tables.smoothed(counts) if "samples" in own else counts
    redraws: dict[str, Callable[[], Iterator[Sums]]] = {
        "true": lambda: tables.redrawn_hits(counts, draws, streams[0], "true"),
        "predicted": lambda: tables.redrawn_hits(counts, draws, streams[1], "predicted"),
        "people": lambda: tables.redrawn_people(counts, draws, streams[2]),
        "rows": lambda: tables.redrawn(counts, draws, streams[4]),
        "samples": lambda: tables.resampled(population, draws, streams[3]),
    }
    for source, draw in redraws.items():
        mine = [(task, moves) for task, moves, needs in zip(tasks, moved, own, strict=True) if needs == source]
        centres: dict[int, tuple[Floats, Floats]] = {}
        if source == "samples":
            centres = {k: task.drawn(population.sums()) for k, (task, _) in enumerate(mine)}
        for sums in draw() if mine else ():
            for k, (task, moves) in enumerate(mine):
                drawn = task.drawn(sums)
                centre = centres.setdefault(k, (drawn[0].mean(0), drawn[1].mean(0)))
                # Drawn from n people and one more, a share varies less than one of n people does: here, as much.
                stretch = further[task.method] * (task.matrix.stretch if source != "samples" else 1.0)
                _record(task, moves, drawn[0] - centre[0], drawn[1] - centre[1], stretch)
    return moved


def _alike(
    tasks: Sequence[Task],
    moves: Sequence[Moves],
    counts: ClassCounts,
    draws: int,
    streams: Sequence[np.random.Generator],
    further: Mapping[str, Floats],
) -> None:
    """What samples show in which groups are alike, for rates that a class hardly counts in.

    A class that nobody of a group is taken for does not move in draws, yet may be there in another sample. So may one
    that nobody of a group has: its F1 is 0 in all samples of groups that keep the sizes of their classes.
    """
    ways = (("people", False), ("rows", True), ("rows", False))
    for (source, by_class), random in zip(ways, streams, strict=True):
        own = [k for k, task in enumerate(tasks) if task.method != "band" and task.source == source]
        if not own or not draws:
            continue
        population = tables.alike(counts, by_class)
        whole = population.sums()
        for sums in tables.resampled(population, draws, random):
            for k in own:
                values, base = tasks[k].drawn(sums)
                centre = tasks[k].drawn(whole)
                away = np.where(np.isnan(values), 0.0, values - centre[0])
                alike = moves[k].alike.setdefault(by_class, Moves())
                _record(tasks[k], alike, away, base - centre[1], further[tasks[k].method])


def _record(task: Task, moves: Moves, away: Floats, base_away: Floats, stretch: Floats) -> None:
    recipe, m = task.recipe, task.matrix
    more = (stretch - 1) * away
    if task.method == "norm":
        gaps = away + more - base_away - m.base_of(more)
        gaps = np.where(np.isnan(task.gaps), np.nan, gaps)
        moves.total.append(recipe.norm(gaps))
        moves.beta.append(norms_by_class(task.by_class, gaps))
    else:
        moved = np.where(np.isnan(away), 0.0, away + more)  # a sample that lacks a cell says nothing about it
        beta = recipe.of_units(recipe.units(m.values, m.base) + moved)
        moves.total.append(recipe.over_classes(beta))
        moves.beta.append(beta)


# ---- tests ---------------------------------------------------------------------------------------------------------


def _permuted(
    tasks: Sequence[Task], counts: ClassCounts, draws: int, streams: Sequence[np.random.Generator]
) -> list[Floats | None]:
    """Aggregates of tables whose group labels are permuted; None where that says nothing."""
    by_task: list[list[Floats]] = [[] for _ in tasks]
    if draws and counts.squares is None and len(counts.groups) > 1:
        permuted: dict[tuple[str, str], Callable[[], Iterator[Sums]]] = {
            ("true", "hits"): lambda: tables.permuted_hits(counts, draws, streams[0], "true"),
            ("predicted", "hits"): lambda: tables.permuted_hits(counts, draws, streams[1], "predicted"),
            ("true", "sums"): lambda: tables.permuted(counts, draws, streams[2], "true"),
            ("predicted", "sums"): lambda: tables.permuted(counts, draws, streams[3], "predicted"),
            ("all", "sums"): lambda: tables.permuted_everybody(counts, draws, streams[4]),
        }
        for (by, needs), draw in permuted.items():
            own = [
                (task, sizes)
                for task, sizes in zip(tasks, by_task, strict=True)
                if (task.matrix.rate.permuted_within, task.matrix.rate.needs) == (by, needs) and task.recipe.worse
            ]
            for sums in draw() if own else ():
                for task, sizes in own:
                    sizes.append(task.recipe.value(*task.matrix.of(sums, same_cells=False)))
    return [np.concatenate(sizes) if sizes else None for sizes in by_task]


_NO_DISPARITY = "a mean of {0} is no disparity: it is not 0, nor anything else that is known, when groups are alike"


def _chance(
    task: Task, counts: ClassCounts, value: float, moves: Moves, null: Floats | None, permutations: int
) -> tuple[Chance | None, str | None]:
    recipe = task.recipe
    if not recipe.worse:
        return None, _NO_DISPARITY.format("scores" if recipe.unit == "score" else "ratios")
    if not permutations:
        return None, "tests were switched off"
    if not np.isfinite(value):
        return None, "the aggregate is undefined"
    if null is not None:
        return _compared(value, null, recipe.worse, f"{len(null)} permutations"), None
    if counts.squares is None:
        return None, "there is only one group"
    if task.method != "norm" or not moves.total:
        why = "resamples were switched off" if task.method == "norm" else "this aggregate is not followed by resamples"
        return None, f"group labels of people with sampling weights cannot be permuted, and {why}"
    compared = []
    for sizes, _ in moves.samples():
        drawn = np.array([recipe.from_norm(float(size)) for size in sizes])
        compared.append(_compared(value, drawn, recipe.worse, f"{len(drawn)} resamples, recentred"))
    return max(compared, key=lambda chance: chance.p_value), None


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
