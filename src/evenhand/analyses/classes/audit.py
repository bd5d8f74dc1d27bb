"""The audit of many classes: rates by class and group, their aggregates, and which of them stand out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.classes.aggregate import streams_of
from evenhand.analyses.classes.intervals import ENOUGH_ON_AVERAGE, Task, both_ways
from evenhand.analyses.classes.matrix import Matrix, matrix
from evenhand.analyses.classes.result import TYPES, Aggregate, Choices, assembled
from evenhand.analyses.classes.uncertainty import doubts, uncertainties
from evenhand.analyses.options import Options, Progress
from evenhand.errors import UsageError, listed, same, shown, shown_name, unknown
from evenhand.inference import class_resample as tables
from evenhand.inference.interval import exact, wilson
from evenhand.inference.significance import counted_once, fisher, holm
from evenhand.measures.aggregation import METRICS, power_mean
from evenhand.measures.rates import effective, ratio
from evenhand.report.result import Result
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.confusion import ClassCounts, Confusion
from evenhand.tables.groups import Grouping

if TYPE_CHECKING:
    from evenhand.report.charts.chart import Chart

SHOWN = ("tpr", "fpr", "ppv", "npv", "selection_rate", "accuracy", "f1")
"""The rates that every audit aggregates."""
MOST_CELLS = 200_000
"""Rates of more classes × groups are not compared."""
USUAL = {
    "threshold": None, "reference": None, "measures": None, "ranks": "published", "calibration_bins": None,
    "bandwidth": "scott", "null": "concept", "interval": "auto", "stratified": False, "tolerance": None,
    "exclude_below": None, "top": None,
}  # fmt: skip


@dataclass(frozen=True)
class Performance:
    """How well the people of one group are predicted."""

    group: str
    accuracy: float
    accuracy_ci: Pair
    macro_f1: float
    """The mean of F1 over the classes that have people in every group; NaN if there are none."""
    macro_f1_ci: Pair | None
    macro_f1_classes: int
    """How many classes these are."""


@dataclass(frozen=True)
class Deviation:
    """A class and group whose rate is compared with that of everybody else of the class."""

    name: str
    group: str
    difference: float
    p_value: float
    p_adjusted: float
    """By Holm, for all classes and groups."""


@dataclass(frozen=True)
class AttributeClasses:
    """What was found for one division into groups."""

    aggregate: Aggregate
    others: tuple[Aggregate, ...]
    """The same aggregate of other rates."""
    performance: tuple[Performance, ...]
    deviations: tuple[Deviation, ...]
    """Least p-values first."""

    @property
    def name(self) -> str:
        return self.aggregate.grouping.name


@dataclass(frozen=True, repr=False)
class ClassAudit(Result):
    """What an audit of many classes found. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    drawn_by = "evenhand.analyses.classes.charts"

    table: Confusion
    options: Options
    attributes: tuple[AttributeClasses, ...]
    notes: tuple[str, ...]
    library: str | None = None
    """The dataframe library of the data, for `to_frame`."""

    def to_frame(self, library: str | None = None) -> Any:
        """Every rate by attribute, class and group as a dataframe, with its gap, ratio and p-values."""
        from evenhand.report.frame import plain_frame

        types = {"attribute": "str", **TYPES, "p_value": "float", "p_adjusted": "float"}
        columns: dict[str, list[Any]] = {name: [] for name in types}
        for a in self.attributes:
            own = a.aggregate.columns()
            tested = {(d.name, d.group): d for d in a.deviations}
            deviations = [tested.get(key) for key in zip(own["class"], own["group"], strict=True)]
            own["attribute"] = [a.name] * len(deviations)
            own["p_value"] = [None if d is None else d.p_value for d in deviations]
            own["p_adjusted"] = [None if d is None else d.p_adjusted for d in deviations]
            for name, column in columns.items():
                column += own[name]
        return plain_frame(columns, types, self.library if library is None else library)

    def aggregate(self, metric: str | None = None, attribute: str | None = None) -> Aggregate:
        """One aggregate: of the rate that was asked for or of another one, by one attribute (else the first).

        >>> import evenhand
        >>> jobs = {"job": list("nnnnppppdd"), "guess": list("nnnnppnndd"), "sex": list("ffmmffmmfm")}
        >>> audit = evenhand.audit(jobs, label="job", prediction="guess", group="sex")
        >>> round(audit.aggregate("ppv").value, 3)
        0.177
        """
        names = [a.name for a in self.attributes]
        if attribute is not None and attribute not in names:
            raise unknown("this audit has no attribute", attribute, names)
        own = self.attributes[0 if attribute is None else names.index(attribute)]
        known = {a.choices.rate.id: a for a in (own.aggregate, *own.others)}
        if metric is not None and metric not in known:
            raise unknown("this audit has no metric", metric, known)
        return own.aggregate if metric is None else known[metric]

    def plot(self, name: str | None = None, *, attribute: str | None = None, measure: str | None = None) -> Chart:
        """A chart: where rates of groups differ from those of their class ("matrix"), by one attribute and rate."""
        return self.charts(attribute=attribute, measure=measure).draw(name)


def audit_classes(
    table: Confusion,
    options: Options,
    choices: Choices,
    said: Mapping[str, Any],
    rng: np.random.Generator,
    progress: Progress | None,
    library: str | None,
) -> ClassAudit:
    """Compare how groups fare, class by class and together. Options of other audits are not to be `said`."""
    strange = [word for word, usual in USUAL.items() if not same(said.get(word, usual), usual)]
    if strange:
        raise UsageError(
            f"{listed(strange)} {'does' if len(strange) == 1 else 'do'} not apply to {len(table.classes)} classes: "
            "leave that out, or audit one class against the rest (Confusion.of_class, or a label of two values)"
        )
    if choices.recipe.classes.kind == "binary":
        raise UsageError(
            f"'binary' is about one class, but an audit compares {len(table.classes)} ({listed(table.classes, 40)}): "
            "use evenhand.aggregate with positive= (evenhand aggregate --positive), or audit its of_class(…)"
        )
    groupings, notes = _comparable(table)
    attributes = []
    streams = dict(zip((g.name for g in table.groupings), streams_of(table, rng), strict=True))
    for i, grouping in enumerate(groupings):
        if progress:
            progress(i / len(groupings), f"comparing the groups of {shown_name(grouping.name)}")
        attributes.append(_attribute(table, grouping, choices, options, streams[grouping.name]))
    own = (f"{shown_name(a.name)}: {note}" for a in attributes for note in a.aggregate.notes)
    return ClassAudit(table, options, tuple(attributes), (*table.notes, *notes, *_remarks(table), *own), library)


def _comparable(table: Confusion) -> tuple[list[Grouping], list[str]]:
    """What is compared: each attribute, and their intersection unless it has too many groups."""
    for grouping in table.groupings:
        if len(grouping.groups) < 2:
            raise UsageError(
                f"a comparison needs two or more groups, but {shown(grouping.name)} has only {listed(grouping.groups)}"
            )
    few = [g for g in table.groupings if len(g.groups) * len(table.classes) <= MOST_CELLS]
    notes = [
        f"{shown(g.name)} has {len(g.groups):,} groups, too many to compare for {len(table.classes):,} classes"
        for g in table.groupings
        if g not in few
    ]
    if not few:
        raise UsageError(f"{notes[0]}: name other group columns, or put groups together")
    return few, notes


def _attribute(
    table: Confusion, grouping: Grouping, choices: Choices, options: Options, rng: np.random.Generator
) -> AttributeClasses:
    counts = table.counts(grouping)
    ids = [choices.rate.id, *(m for m in SHOWN if m != choices.rate.id)]
    rates = [matrix(METRICS[m], counts, choices.baseline, choices.empty) for m in ids]
    tasks = [Task(m.comparing() if choices.recipe.compares else m, choices.recipe) for m in rates]
    streams = rng.spawn(2)
    results = uncertainties(tasks, counts, options.confidence, options.bootstrap, options.permutations, streams[0])
    made = [
        assembled(table, grouping, replace(choices, rate=m.rate), m, own, options)
        for m, own in zip(rates, results, strict=True)
    ]
    performance = _performance(counts, options, streams[1])
    return AttributeClasses(made[0], tuple(made[1:]), performance, _deviations(made[0], counts, options))


def _performance(counts: ClassCounts, options: Options, rng: np.random.Generator) -> tuple[Performance, ...]:
    """Accuracy with Wilson's interval, and macro-F1 with that of a bootstrap."""
    sums = counts.sums()
    right, total = sums.hits.sum(0), sums.total[0]
    people = total
    if counts.squares is not None:
        squares = counts.sums(counts.squares)
        people = effective(right, total, squares.hits.sum(0), squares.total[0])
    accuracy = ratio(right, total)
    lo, hi = wilson(accuracy, people, options.confidence)
    m = matrix(METRICS["f1"], counts)
    lacking = ~(sums.true > 0).all(-1, keepdims=True)  # one stray prediction would make the means incomparable
    m = replace(m, values=np.where(lacking, np.nan, m.values), vacant=m.vacant | lacking)
    macro = power_mean(m.values.T, 1.0)
    drawn = []
    if options.bootstrap:
        population = tables.smoothed(counts)
        centre, further = m.of(population.sums())[0], doubts(counts, options.confidence)["basic"]
        for block in tables.resampled(population, options.bootstrap, rng):
            away = m.of(block)[0] - centre
            moved = m.values + np.where(np.isnan(away), 0.0, further * away)
            drawn.append(power_mean(np.swapaxes(moved, -1, -2), 1.0))
    resamples = np.concatenate(drawn) if drawn else np.zeros((0, len(macro)))
    return tuple(
        Performance(name, float(accuracy[g]), (float(lo[g]), float(hi[g])), float(macro[g]),
                    _macro_interval(m, g, float(macro[g]), resamples[:, g], options.confidence), int((~lacking).sum()))
        for g, name in enumerate(counts.groups)
    )  # fmt: skip


def _macro_interval(m: Matrix, g: int, value: float, drawn: Floats, confidence: float) -> Pair | None:
    """A bootstrap; where classes have few people, what exact intervals of all of them allow."""
    used = ~m.vacant[:, g]
    share, people = m.values[used, g] / (2 - m.values[used, g]), m.people[used, g]
    if used.any() and people.mean() < ENOUGH_ON_AVERAGE:
        ends = exact(share, people, 1 - (1 - confidence) / int(used.sum()))
        low, high = (float((2 * end / (1 + end)).mean()) for end in ends)
        return low, high
    return both_ways(value, [drawn], confidence, 1.0)


def _deviations(a: Aggregate, counts: ClassCounts, options: Options) -> tuple[Deviation, ...]:
    """Each group against everybody else of the class, by Fisher's exact test."""
    if not options.permutations:
        return ()
    rate, sums = a.choices.rate, counts.sums()
    squares = None if counts.squares is None else counts.sums(counts.squares)
    part = sums.hits if rate.trials is not None else rate.part(sums)
    whole = (rate.trials or rate.whole)(sums)
    rest = [x.sum(-1, keepdims=True) - x for x in (part, whole)]
    n_own, n_rest = np.rint(rate.people(sums, squares)), np.rint(rest[1])
    if squares is not None:
        scale = rate.people(sums.overall(), squares.overall()) / np.maximum(whole.sum(-1, keepdims=True), 1e-300)
        n_rest = np.rint(rest[1] * scale)
    own, other = ratio(part, whole), ratio(rest[0], rest[1])
    places = [(c, g) for c, g in np.argwhere((n_own >= 1) & (n_rest >= 1)).tolist()]
    tested = [
        (c, g, fisher(round(own[c, g] * n_own[c, g]), int(n_own[c, g]), round(other[c, g] * n_rest[c, g]),
                      int(n_rest[c, g])).p_value)
        for c, g in places
    ]  # fmt: skip
    # of two groups, each is all the others of the other: one test
    about = [(c, g if len(a.groups) > 2 else 0) for c, g, _ in tested]
    adjusted = counted_once(holm, [p for _, _, p in tested], about)
    gaps = a.matrix - a.overall[:, None]
    made = [
        Deviation(a.classes[c], a.groups[g], float(gaps[c, g]), p, q)
        for (c, g, p), q in zip(tested, adjusted, strict=True)
    ]
    return tuple(sorted(made, key=lambda d: (round(d.p_value, 12), -abs(d.difference))))


def _remarks(table: Confusion) -> list[str]:
    """Warnings about these data and options."""
    notes = []
    counts = table.counts(table.groupings[0])
    sums = counts.sums()
    for masses, what in (
        (sums.true, "occur only in predictions, so nobody is of them: their TPR is undefined everywhere"),
        (sums.predicted, "are never predicted: their PPV is undefined everywhere"),
    ):
        gone = [table.classes[c] for c in np.flatnonzero(masses.sum(-1) == 0).tolist()]
        if gone:
            notes.append(f"some classes {what} ({listed(gone)})")
    return notes
