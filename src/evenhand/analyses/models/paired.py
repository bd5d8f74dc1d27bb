"""Several models on the same people: what each measure says of every model in the same resamples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.inference import interval
from evenhand.inference.paired_resample import Layout, Together
from evenhand.inference.significance import LEAST_P
from evenhand.measures.curve import norm
from evenhand.measures.performance import PERFORMANCES
from evenhand.measures.registry import Measure, RateMeasure, ScoreMeasure, ScoreOptions
from evenhand.tables.arrays import Floats
from evenhand.tables.dense import Counts
from evenhand.tables.joint import JointTable
from evenhand.tables.scores import ScoreCounts, ScoreView
from evenhand.tables.table import Table, equal_bins

TRUTHS = 24
"""So many resamples serve as what the gaps of all models may truly be."""

ASIDE = 1
"""So many of them, the most extreme on each side, are not counted: what remains depends less on the seed."""

LEAST_PEOPLE = 10
"""With fewer people in a class that a difference rests on, there is neither an interval nor a test."""

ENOUGH_PEOPLE = 50
"""With at least as many, a tail beyond what resamples can count is that of a normal distribution."""

RESAMPLED_SCORES = 256
LEAST_SCORES = 64
FARTHEST = 50.0
"""The logarithm of a ratio of nothing to something."""
FEW = 10
"""With fewer resamples than this beyond an observation, their number says little."""
PAIRS_AT_FULL = 5_000

About = tuple[str | None, str, str | None]
"""An attribute, a measure and a group that is compared with the reference; of a performance only its name."""


@dataclass(frozen=True)
class Question:
    """Which groups are compared by what: the same for every model."""

    place: int
    """Of the grouping, among those of a table: its codes are of the cells of one table, its groups the same of all."""
    name: str
    groups: tuple[str, ...]
    reference: int
    measures: Sequence[Measure]

    @property
    def others(self) -> list[int]:
        return [g for g in range(len(self.groups)) if g != self.reference]


def distance(m: Measure, value: Any) -> Any:
    """How far from parity a measure is: 0 is fair, and of ratios it does not matter which is over which.

    >>> from evenhand.measures.registry import MEASURES
    >>> float(distance(MEASURES["demographic_parity"], -0.25)), float(distance(MEASURES["disparate_impact"], 2.0))
    (0.25, 0.5)
    """
    value = np.asarray(value, np.float64)
    if m.scale != "ratio":
        return np.abs(value)
    with np.errstate(divide="ignore"):
        return np.where(np.isnan(value), np.nan, 1 - np.minimum(value, 1 / np.maximum(value, 0.0)))


def resample(
    joint: JointTable,
    tables: Sequence[Table],
    thresholds: Sequence[float],
    questions: Sequence[Question],
    options: ScoreOptions,
    draws: int,
    rng: np.random.Generator,
    tell: Callable[[float], None],
) -> dict[About, Floats]:
    """Draw people again and again, and ask of every model what the audit asks: arrays (model, answer, draw).

    Of a measure the answers are the signed gap (of a curve, its sum), the distance from parity, and by how much the
    distance overstates the truth: if that is what was observed, and if it is as far off as some resamples are, the same
    ones for all models. Of a performance there is one answer.
    """
    pairs = sum(len(q.others) for q in questions) * len(tables)
    cells = int(np.clip(PAIRS_AT_FULL // max(pairs, 1), LEAST_SCORES, RESAMPLED_SCORES))
    views = [
        _View(joint, k, table, threshold, question, options, cells)
        for k, (table, threshold) in enumerate(zip(tables, thresholds, strict=True))
        for question in questions
    ]
    layouts = [layout for view in views for layout in view.layouts]
    pilot, main = rng.spawn(2)
    together = Together(joint.index, layouts)
    for view in views:
        view.scale = together.scale
    for batch in together.draws(TRUTHS, pilot):
        for view, counts in _by_view(views, batch):
            view.look(counts)
    answers: dict[About, list[list[Floats]]] = {}
    done = 0
    for batch in together.draws(draws, main):
        tell(done / draws)
        done += len(batch[0])
        for view, counts in _by_view(views, batch):
            for about, values in view.answers(counts, performance=view.question is questions[0]):
                answers.setdefault(about, [[] for _ in tables])[view.model].append(values)
    return {
        about: np.stack([np.concatenate(of_model, axis=1) for of_model in models]) for about, models in answers.items()
    }


def _by_view(views: Sequence[_View], batch: Sequence[Any]) -> Iterator[tuple[_View, Sequence[Any]]]:
    each = len(batch) // len(views)
    for i, view in enumerate(views):
        yield view, batch[i * each : (i + 1) * each]


class _View:
    """One model and one question: where cells go, and what is computed from the arrays they make."""

    scale = 1.0
    """By how much resamples vary too much."""

    def __init__(
        self,
        joint: JointTable,
        model: int,
        table: Table,
        threshold: float,
        question: Question,
        options: ScoreOptions,
        cells: int,
    ) -> None:
        self.model, self.question = model, question
        grouping, own = (t.groupings[question.place] for t in (joint.index, table))
        score = joint.score_of_cells(model)
        risk = table.meaning.risk
        labels = 1 if table.label is None else 2
        # whoever is in no group stands aside, behind the last one
        count = len(grouping.groups) + (not grouping.whole)
        inside = np.where(grouping.codes < 0, len(grouping.groups), grouping.codes).astype(np.int64) * labels
        if joint.index.label is not None:
            inside = inside + joint.index.label
        size = count * labels

        def layout(level: Any, levels: int) -> Layout:
            return Layout(level.astype(np.int64) * size + inside, (levels, count, labels))

        view = ScoreView(table, own, options.calibration_bins)
        self.coarse = view(range(len(grouping.groups)), cells)
        lowest = view.lowest(cells)
        level = np.maximum(np.searchsorted(lowest, score, side="right") - 1, 0)  # below are people of no group only
        self.layouts = [
            layout(score < table.compared(threshold) if risk else score >= table.compared(threshold), 2),
            layout(equal_bins(score, table.score_range, options.gap_bins, risk), options.gap_bins),
            layout(len(lowest) - 1 - level if risk else level, len(lowest)),
        ]
        self.observed = {
            "decision": table.decisions(own, threshold),
            "bins": table.binned(own, options.gap_bins),
            "scores": self.coarse,
        }
        self._gaps = [
            (g, _gap(m, self._pair(self.observed[_levels(m)], g), options))
            for g in question.others
            for m in question.measures
        ]

    def _pair(self, counts: Any, group: int) -> Any:
        return replace(
            counts,
            array=counts.array[..., [group, self.question.reference], :],
            groups=(counts.groups[group], counts.groups[self.question.reference]),
            squares=None,
            units=None,
        )

    def _counts(self, arrays: Sequence[Any]) -> dict[str, Any]:
        groups = self.coarse.groups
        arrays = [array[..., : len(groups), :] for array in arrays]
        scores = replace(self.coarse, array=arrays[2], squares=None, units=None)
        return {"decision": Counts(arrays[0], groups), "bins": Counts(arrays[1], groups), "scores": scores}

    def look(self, arrays: Sequence[Any]) -> None:
        """Learn from some resamples how far gaps move."""
        counts = self._counts(arrays)
        for g, gap in self._gaps:
            gap.look(self._pair(counts[_levels(gap.measure)], g), self.scale)

    def answers(self, arrays: Sequence[Any], performance: bool) -> Iterator[tuple[About, Floats]]:
        """Every measure and, if asked, every performance, by what it is about."""
        counts = self._counts(arrays)
        for g, gap in self._gaps:
            about = (self.question.name, gap.measure.id, self.question.groups[g])
            yield about, gap.answers(self._pair(counts[_levels(gap.measure)], g), self.scale)
        for p in PERFORMANCES.values() if performance and self.coarse.has_label else ():
            of: Any = p.of
            level = "decision" if p.rests_on == "decision" else "scores"
            here = of(self.observed[level])
            yield (None, p.id, None), (here + self.scale * (of(counts[level]) - here))[None]


def _levels(m: Measure) -> str:
    return m.levels if isinstance(m, RateMeasure) else "scores"


# ---- one gap ------------------------------------------------------------------------------------------------


class _Gap:
    """One measure of one model on one pair of groups: a vector of gaps with a norm."""

    def __init__(self, measure: Measure, of: Callable[[Any], tuple[Floats, Floats]], pair: Any, order: float) -> None:
        self.measure, self.of, self.order = measure, of, order
        self.here, self.weight = of(pair)
        self.errors: list[Floats] = [np.zeros_like(self.here)]

    def look(self, counts: Any, scale: float) -> None:
        """Keep how far off some resamples are."""
        errors = scale * (self.of(counts)[0] - self.here)
        self.errors += [np.nan_to_num(error, posinf=0.0, neginf=0.0) for error in errors]

    def answers(self, counts: Any, scale: float) -> Floats:
        """What resamples say: see `resample`."""
        gap, weight = self.of(counts)
        known = (weight > 0).any(-1)
        if scale < 1:
            gap, weight = (here + scale * (now - here) for here, now in ((self.here, gap), (self.weight, weight)))
        signed = np.where(known, np.where(weight > 0, gap * weight, 0.0).sum(-1), np.nan)
        rows = [signed, self.outward(norm(gap, weight, self.order))]
        for error in self.errors:
            truth = norm(self.here - error, self.weight, self.order)
            rows.append(self.outward(norm(gap - error, weight, self.order)) - self.outward(truth))
        return np.stack(rows)

    def outward(self, size: Any) -> Any:
        """From the norm to the distance from parity."""
        m = self.measure
        if isinstance(m, RateMeasure):
            return -np.expm1(-size) if m.scale == "ratio" else size
        return size * size if isinstance(m, ScoreMeasure) and m.information else size


def _gap(m: Measure, pair: Any, options: ScoreOptions) -> _Gap:
    if isinstance(m, RateMeasure):
        return _Gap(m, _of_rates(m), pair, np.inf)
    assert isinstance(m, ScoreMeasure)
    return _Gap(m, _of_scores(m, pair, options), pair, m.order)


def _of_rates(m: RateMeasure) -> Callable[[Counts], tuple[Floats, Floats]]:
    """Differences between rates, of ratios logarithms; where there is none, 0 without weight, or NaN if all are so."""

    def of(counts: Counts) -> tuple[Floats, Floats]:
        rates = m.profile(counts).values
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = rates[..., 0] - rates[..., 1]
            if m.scale == "ratio":
                gap = np.clip(np.log(rates[..., 0] / rates[..., 1]), -FARTHEST, FARTHEST)
        known = ~np.isnan(gap)
        return np.where(known | ~known.any(-1, keepdims=True), gap, 0.0), known.astype(np.float64)

    return of


def _of_scores(m: ScoreMeasure, pair: ScoreCounts, options: ScoreOptions) -> Callable[[Any], tuple[Floats, Floats]]:
    grid = None if m.grid is None else m.grid(pair, options)

    def of(counts: Any) -> tuple[Floats, Floats]:
        curve = m.curve(counts if m.view is None else m.view(counts, options), options, grid)
        return curve.gap, curve.weight

    return of


# ---- differences between models ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paired:
    """The difference between two models, with what resamples of the same people say about it."""

    difference: float
    ci: tuple[float, float] | None = None
    p_value: float | None = None
    at_most: bool | None = None
    """Whether no resample showed so large an error: the p-value may be smaller than it is."""


def paired(
    observed: float, errors: Floats, confidence: float, people: float, highest: float = np.inf, off: float = 0.0
) -> Paired:
    """A difference with its interval and test, from its errors in resamples: axes (possible truth, draw).

    The interval reaches about as far as under any truth that is still likely, and the p-value is about the largest.
    `people` is the size of the smallest class that it rests on, `highest` the most the difference can be, and `off` how
    far it may be from the exact one because scores are known in ranges: only what is beyond that is tested.
    """
    if not np.isfinite(observed) or people < LEAST_PEOPLE:
        return Paired(observed)
    if not all(interval.enough(e, confidence) for e in errors):
        return Paired(observed)
    if float(np.nanmax(np.abs(errors))) == 0:
        return Paired(observed)  # resamples that never vary know nothing
    middle = np.nanmean(errors, axis=1, keepdims=True)
    errors = middle + (errors - middle) * interval.student(people, confidence)
    tail = (1 - confidence) / 2
    lo, hi = np.nanquantile(errors, [tail, 1 - tail], axis=1)
    low, high = observed - _almost_largest(hi) - off, observed + _almost_largest(-lo) + off
    beyond = float(np.copysign(max(abs(observed) - off, 0.0), observed))
    p = _almost_largest(np.array([_two_sided(beyond, e[np.isfinite(e)], people) for e in errors]))
    least = 2 / (1 + np.isfinite(errors).sum(1))
    return Paired(observed, (max(low, -highest), min(high, highest)), p, bool((p == least).any()))


def _almost_largest(values: Floats) -> float:
    """The largest of what holds under possible truths, the most extreme set aside, and of what comes last."""
    truths = np.sort(values[:-1])
    aside = ASIDE if len(truths) > TRUTHS else 0
    return float(max([values[-1], *truths[: len(truths) - aside]]))


def _two_sided(observed: float, errors: Floats, people: float) -> float:
    """How often an error is as large as what was observed; where resamples are too few to tell, by a normal tail."""
    from scipy.special import ndtr

    near = 1e-12
    beyond = min(int((errors >= observed - near).sum()), int((errors <= observed + near).sum()))
    counted = min(1.0, 2 * (1 + beyond) / (1 + len(errors)))
    spread = float(errors.std())
    if beyond >= FEW or spread == 0 or people < ENOUGH_PEOPLE:
        return counted
    return max(min(counted, float(2 * ndtr(-abs(observed - errors.mean()) / spread))), LEAST_P)


def gap_errors(observed: float, values: Floats, model: int, other: int) -> Floats:
    """Errors of a difference of distances from parity, under every possible truth; of `resample`'s arrays.

    Mirrored resamples are one truth more: with them goes the percentile interval.
    """
    mirrored = observed - (values[model, 1] - values[other, 1])
    return np.concatenate([values[model, 2:] - values[other, 2:], [mirrored]])


def plain_errors(values: Floats, row: int, model: int, other: int) -> Floats:
    """Errors of a difference that is as precise wherever the truth is: those of resamples around their mean."""
    draws = values[model, row] - values[other, row]
    return np.asarray(draws - np.nanmean(draws))[None]
