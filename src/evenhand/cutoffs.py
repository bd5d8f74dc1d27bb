"""One score → which threshold: performance against fairness at all of them, and the one that meets a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.attributes import audit_attribute
from evenhand.auditing import as_table
from evenhand.cells import Bools, Floats, Ints
from evenhand.errors import UsageError, shown
from evenhand.gaps import Gap
from evenhand.inference.resample import generator
from evenhand.ingest import library_of
from evenhand.ingest.columns import WeightKind
from evenhand.measures import RateMeasure
from evenhand.options import Options, checked
from evenhand.policy import SLACK, Requirement, required
from evenhand.references import grouping_named, reference_group
from evenhand.separate import LEVELS, ByGroup, by_group
from evenhand.sweep import Goal, Sweep, Swept, checked_goal, decided_measure, goal_of, sweep
from evenhand.table import Grouping, Table, shown_name
from evenhand.tradeoff import dto, pareto

FAIRNESS = "demographic_parity"


@dataclass(frozen=True)
class Cutoff:
    """One threshold: who is selected, how good that is, how far apart groups are."""

    threshold: float
    selection_rate: float
    performance: float
    """NaN without labels."""
    value: float
    """Of the fairness measure, for the group furthest from parity; NaN if it is undefined for any."""
    group: str | None
    fairness: float
    """1 − the distance from parity."""
    dto: float
    on_front: bool
    trivial: bool
    """Everybody or nobody is selected, which says nothing."""
    meets: bool | None
    """Whether it meets every requirement; None if there are none."""
    values: Mapping[str, float]
    """Of the measures required."""
    selection_rates: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Check:
    """One requirement at the chosen threshold, for one group."""

    requirement: Requirement
    gap: Gap
    settled: bool | None
    """Whether the whole interval meets it."""


@dataclass(frozen=True)
class Stretch:
    """Thresholds that meet the policy, without a gap between them."""

    start: float
    end: float
    thresholds: int


@dataclass(frozen=True)
class Policy:
    """Which thresholds meet all requirements, and which of them is the best."""

    requirements: tuple[Requirement, ...]
    feasible: int
    """How many thresholds meet them, trivial ones aside."""
    ranges: tuple[Stretch, ...]
    trivial: tuple[float, ...]
    """Thresholds that meet them by selecting everybody or nobody."""
    chosen: Cutoff | None = None
    undefined: str | None = None
    """Why none was chosen."""
    lost: float | None = None
    """Performance of the best threshold without the policy, minus that of the chosen one."""
    lost_to_current: float | None = None
    checks: tuple[Check, ...] = ()
    nearest: Cutoff | None = None
    """If none is feasible: the threshold that misses by the least."""
    missed_by: Mapping[str, float] | None = None

    @property
    def settled(self) -> bool | None:
        """Whether the intervals at the chosen threshold leave no doubt about any requirement."""
        known = [c.settled for c in self.checks]
        return None if not known or None in known else all(known)


@dataclass(frozen=True, repr=False)
class Thresholds:
    """What all thresholds of a score would do. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    table: Table
    grouping: Grouping
    reference: str
    options: Options
    goal: Goal
    cost: tuple[float, float] | None
    fairness: RateMeasure
    sweep: Sweep
    requirements: tuple[Requirement, ...]
    allow_trivial: bool
    policy: Policy | None = None
    by_group: ByGroup | None = None
    notes: tuple[str, ...] = ()
    library: str | None = None

    @property
    def swept(self) -> Swept:
        return self.sweep.measures[self.fairness.id]

    @cached_property
    def allowed(self) -> Bools:
        """Which thresholds may be recommended at all."""
        return np.ones(len(self.sweep.trivial), np.bool_) if self.allow_trivial else ~self.sweep.trivial

    @cached_property
    def meets(self) -> Bools:
        """Which thresholds meet every requirement."""
        found = np.ones(len(self.sweep.thresholds), np.bool_)
        for r in self.requirements:
            found &= r.meets(self.sweep.measures[r.measure.id].size)
        return found

    @cached_property
    def on_front(self) -> Bools:
        """Which thresholds no other is better than in both performance and fairness."""
        performance = np.where(self.allowed, self.sweep.performance, np.nan)
        return pareto(performance, self.swept.fairness) & ~np.isnan(performance + self.swept.fairness)

    @cached_property
    def dto(self) -> Floats:
        """Distance to perfect performance and fairness."""
        return dto(self.sweep.performance, self.swept.fairness)

    @cached_property
    def best_place(self) -> int | None:
        """Of the best performance without any requirement; the fairest of several."""
        tied = best_of(self.sweep.performance, self.allowed)
        if not len(tied):
            return None
        fairness = np.nan_to_num(self.swept.fairness[tied], nan=-np.inf)
        return int(tied[np.argmax(fairness)])

    @property
    def best(self) -> Cutoff | None:
        """The threshold with the best performance, whatever the gap."""
        return None if self.best_place is None else self.at(self.best_place)

    @property
    def nearest(self) -> Cutoff | None:
        """The threshold nearest to perfect performance and fairness."""
        away = np.where(self.allowed & ~np.isnan(self.dto), self.dto, np.inf)
        place = int(np.argmin(away))
        return self.at(place) if np.isfinite(away[place]) else None

    @property
    def current(self) -> Cutoff | None:
        """The threshold in use, if it was told."""
        stated = self.options.threshold
        return None if stated is None else replace(self.at(self.sweep.index(stated)), threshold=stated)

    @property
    def chosen(self) -> Cutoff | None:
        """The threshold that meets the policy at the least cost."""
        return None if self.policy is None else self.policy.chosen

    def at(self, place: int) -> Cutoff:
        """The threshold at one place of the sweep."""
        s, swept = self.sweep, self.swept
        group = int(swept.group[place])
        rates = None
        if s.selection_rates is not None:
            rates = dict(zip(self.grouping.groups, s.selection_rates[place].tolist(), strict=True))
        return Cutoff(
            float(s.thresholds[place]), float(s.selection_rate[place]), float(s.performance[place]),
            float(swept.size[place]), None if group < 0 else self.grouping.groups[group],
            float(swept.fairness[place]), float(self.dto[place]), bool(self.on_front[place]), bool(s.trivial[place]),
            bool(self.meets[place]) if self.requirements else None,
            {r.measure.id: float(s.measures[r.measure.id].size[place]) for r in self.requirements}, rates,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, in the form that docs/json.md describes; the curve has at most 1,000 points."""
        from evenhand.report.cutoffs import document

        return document(self)

    def to_json(self, path: str | Path | None = None) -> str:
        """The same as JSON text, also written to a file if a path is given."""
        from evenhand.files import write_text
        from evenhand.report.document import as_json

        text = as_json(self.to_dict())
        if path is not None:
            write_text(path, text)
        return text

    def to_frame(self, library: str | None = None) -> Any:
        """Every threshold, one row each."""
        from evenhand.report.cutoffs import frame

        return frame(self, library)

    def __rich__(self) -> Any:
        from evenhand.report.cutoffs import render

        return render(self.to_dict())

    def __repr__(self) -> str:
        from evenhand.report.rendered import as_text

        return as_text(self.__rich__())

    def _repr_html_(self) -> str:
        from evenhand.report.rendered import as_html

        return as_html(self.__rich__())


def best_of(performance: Floats, among: Bools) -> Ints:
    """The places of the highest performance, rounding aside."""
    known = among & ~np.isnan(performance)
    if not known.any():
        return np.zeros(0, np.int64)
    return np.flatnonzero(known & (performance >= performance[known].max() - SLACK))


def thresholds(
    data: Any = None,
    *,
    score: Any = None,
    label: Any = None,
    group: Any = None,
    weight: Any = None,
    favorable: Any = None,
    risk: bool = False,
    score_range: tuple[float, float] | None = None,
    missing: str = "refuse",
    weight_kind: WeightKind = "auto",
    cluster: Any = None,
    where: Mapping[str, Any] | None = None,
    attribute: Any = None,
    reference: str | Mapping[str, str] | None = None,
    performance: str = "accuracy",
    cost: tuple[float, float] | None = None,
    fairness: str | None = None,
    require: str | Sequence[str] = (),
    threshold: float | None = None,
    allow_trivial: bool = False,
    by_group: bool = False,
    confidence: float = 0.95,
    bootstrap: int = 1000,
    rng: int | np.random.Generator | None = None,
) -> Thresholds:
    """Performance and fairness of a score at every threshold, and the threshold that meets a policy at the least cost.

    `data` is a `Table`, a path to a saved one, or whatever `evenhand.tabulate` takes, with the same words.

    Parameters
    ----------
    attribute, reference
        Which attribute, if there are several (a list of all their names means their product), and the group all others
        are compared with, by default the largest.
    performance, cost
        "accuracy" or "balanced_accuracy"; or the costs of a false favourable and of a false unfavourable decision,
        which become 1 − cost / worst possible cost.
    fairness
        The id of a measure of decisions; by default the first one required, else demographic parity. Of several groups
        the one furthest from parity with the reference counts.
    require
        The policy: texts such as "disparate_impact >= 0.8" and "equal_opportunity <= 0.05". A ratio is the lower
        rate over the higher, a difference its magnitude.
    threshold
        The threshold in use, to compare with.
    allow_trivial
        Whether a threshold that selects everybody or nobody may be recommended.
    by_group
        Also analyse what separate thresholds for each group could achieve. Using them treats people differently by
        group, which the law forbids in many places.
    confidence, bootstrap, rng
        Of the intervals at the chosen threshold, as in `evenhand.audit`.

    Examples
    --------
    >>> import evenhand
    >>> found = evenhand.thresholds(evenhand.compas(), reference="Caucasian", require="disparate_impact >= 0.8")
    >>> found.best.threshold, round(found.best.performance, 3), round(found.best.value, 3)
    (6.0, 0.658, 0.702)
    >>> found.chosen.threshold, round(found.chosen.value, 3), round(found.policy.lost, 3), found.policy.settled
    (8.0, 0.828, 0.017, True)
    """
    asked = checked_words(
        performance, cost, fairness, require, threshold, allow_trivial, by_group, confidence, bootstrap, rng
    )
    words = {
        "score": score, "label": label, "group": group, "weight": weight, "favorable": favorable, "risk": risk,
        "score_range": score_range, "missing": missing, "weight_kind": weight_kind, "cluster": cluster, "where": where,
    }  # fmt: skip
    defaults = {"risk": False, "missing": "refuse", "weight_kind": "auto"}
    table = as_table(data, {k: v for k, v in words.items() if v is not defaults.get(k)})
    _check_table(table, asked.measures)
    grouping = grouping_named(table, attribute)
    ref, notes = reference_group(table, grouping, reference)
    goal = goal_of(table, asked.performance, asked.cost)
    found = Thresholds(
        table, grouping, grouping.groups[ref], asked.options, goal, asked.cost, asked.fairness,
        sweep(table, grouping, ref, goal, asked.measures), asked.requirements, bool(allow_trivial),
        library=library_of(data),
    )  # fmt: skip
    if asked.requirements:
        found = replace(found, policy=_policy(found, ref, asked.required, generator(rng)))
    if by_group:
        found = replace(found, by_group=_separate(found, ref))
    return replace(found, notes=(*table.notes, *notes, *_remarks(found)))


@dataclass(frozen=True)
class Asked:
    """What was asked for, once it is known to make sense."""

    options: Options
    performance: str
    cost: tuple[float, float] | None
    fairness: RateMeasure
    requirements: tuple[Requirement, ...]
    required: tuple[RateMeasure, ...]

    @property
    def measures(self) -> list[RateMeasure]:
        return list({m.id: m for m in (self.fairness, *self.required)}.values())


def checked_words(
    performance: Any,
    cost: Any,
    fairness: Any,
    require: Any,
    threshold: Any,
    allow_trivial: Any,
    by_group: Any,
    confidence: Any,
    bootstrap: Any,
    rng: Any,
) -> Asked:
    """What was asked for, if it makes sense; better known before ten minutes of counting."""
    for word, value in (("allow_trivial", allow_trivial), ("by_group", by_group)):
        if not isinstance(value, bool | np.bool_):
            raise UsageError(f"{word} is True or False, not {shown(value)}")
    options = replace(checked(threshold, confidence, bootstrap, rng), permutations=0)
    kind, costs = checked_goal(performance, cost)
    requirements = required(require)
    measures = tuple(decided_measure(r.measure) for r in requirements)
    named = fairness if fairness is not None else measures[0] if measures else FAIRNESS
    return Asked(options, kind, costs, decided_measure(named), requirements, measures)


def _check_table(table: Table, measures: Sequence[RateMeasure]) -> None:
    if table.score is None:
        raise UsageError("thresholds are of a score, but there is none: name its column (--score)")
    if table.decision is not None:
        raise UsageError(
            f"the prediction {shown(table.meaning.prediction)} decides already, whatever the threshold: "
            "tabulate the data without it"
        )
    unlabelled = [m.id for m in measures if m.needs_label]
    if table.label is None and unlabelled:
        raise UsageError(f"{unlabelled[0]} needs true outcomes: name their column (--label), or take {FAIRNESS}")


# ---- the policy -------------------------------------------------------------------------------------------------


def _policy(found: Thresholds, reference: int, measures: Sequence[RateMeasure], rng: np.random.Generator) -> Policy:
    feasible = found.meets & found.allowed
    trivial = found.meets & found.sweep.trivial
    policy = Policy(
        found.requirements, int(feasible.sum()), _ranges(found.sweep.thresholds, feasible),
        tuple(found.sweep.thresholds[trivial].tolist()),
    )  # fmt: skip
    if not feasible.any():
        return _infeasible(found, policy, reference, measures, rng)
    if found.goal.undefined:
        return replace(policy, undefined=found.goal.undefined)
    place = _cheapest(found, feasible)
    chosen, best, current = found.at(place), found.best, found.current
    assert best is not None
    return replace(
        policy,
        chosen=chosen,
        lost=max(best.performance - chosen.performance, 0.0),
        lost_to_current=None if current is None else current.performance - chosen.performance,
        checks=_checks(found, chosen.threshold, reference, measures, rng),
    )


def _cheapest(found: Thresholds, feasible: Bools) -> int:
    """The best performance; of equals the one nearest to the best threshold without a policy."""
    assert found.best_place is not None
    tied = best_of(found.sweep.performance, feasible)
    away = np.abs(found.sweep.thresholds[tied] / 2 - found.sweep.thresholds[found.best_place] / 2)
    return int(tied[np.argmin(away)])


def _ranges(at: Floats, feasible: Bools) -> tuple[Stretch, ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], feasible, [False]]).astype(np.int8)))
    return tuple(Stretch(float(at[a]), float(at[b - 1]), int(b - a)) for a, b in edges.reshape(-1, 2))


def _infeasible(
    found: Thresholds, policy: Policy, reference: int, measures: Sequence[RateMeasure], rng: np.random.Generator
) -> Policy:
    """The threshold that misses by the least, or the reason why none can be judged."""
    sizes = {str(r): found.sweep.measures[r.measure.id].size for r in found.requirements}
    short = {str(r): r.shortfall(sizes[str(r)]) for r in found.requirements}
    most = np.where(found.allowed, np.maximum.reduce(list(short.values())), np.inf)
    if not found.allowed.any():
        return replace(policy, undefined="because every threshold selects everybody or nobody")
    if np.isinf(most).all():
        some = float(found.sweep.thresholds[np.flatnonzero(found.allowed)[0]])
        gaps = _gaps(found, some, reference, measures, rng)
        why = next((g.undefined for g in gaps if g.undefined), None)
        return replace(policy, undefined=why or "because no threshold has a value of every measure required")
    tied = np.flatnonzero(most <= most.min() + SLACK)
    performance = np.nan_to_num(found.sweep.performance[tied], nan=-np.inf)
    place = int(tied[np.argmax(performance)])
    return replace(
        policy,
        undefined="because no threshold meets the policy",
        nearest=found.at(place),
        missed_by={text: float(by[place]) for text, by in short.items()},
    )


def _gaps(
    found: Thresholds, threshold: float, reference: int, measures: Sequence[RateMeasure], rng: np.random.Generator
) -> tuple[Gap, ...]:
    unique = list({m.id: m for m in measures}.values())
    options = replace(found.options, threshold=threshold)
    audit = audit_attribute(found.table, found.grouping, reference, list(unique), options, rng, lambda done: None)
    return audit.measures


def _checks(
    found: Thresholds, threshold: float, reference: int, measures: Sequence[RateMeasure], rng: np.random.Generator
) -> tuple[Check, ...]:
    gaps = _gaps(found, threshold, reference, measures, rng)
    return tuple(Check(r, g, r.settled(g)) for r in found.requirements for g in gaps if g.id == r.measure.id)


def _separate(found: Thresholds, reference: int) -> ByGroup:
    limits = [r.bound for r in found.requirements if r.measure.id == found.fairness.id]
    return by_group(found.table, found.grouping, reference, found.goal, found.fairness, limits)


# ---- remarks ----------------------------------------------------------------------------------------------------


def _remarks(found: Thresholds) -> list[str]:
    s, notes = found.sweep, []
    if found.goal.undefined:
        notes.append(f"{found.goal.title} is undefined {found.goal.undefined}: thresholds are not weighed against it")
    if s.trivial.all():
        notes.append(f"the score is constant ({found.table.scores[0]:g}): every threshold selects everybody or nobody")
    unknown = int((np.isnan(found.swept.size) & ~s.trivial).sum())
    if unknown:
        notes.append(
            f"{found.fairness.title} is undefined at {unknown:,} of {int((~s.trivial).sum()):,} thresholds, where a "
            "group has nobody to compare: they are on no front and meet no requirement"
        )
    notes += _about_trivial(found)
    if found.chosen is not None:
        notes.append(
            "the threshold was chosen on the same people that it is judged by, which flatters it: confirm it on a "
            "fresh sample"
        )
    if s.selection_rates is None:
        notes.append(f"{len(found.grouping.groups):,} groups and {len(s.thresholds):,} thresholds: selection rates by "
                     "group are left out")  # fmt: skip
    if found.by_group is not None:
        notes += _about_separate(found, found.by_group)
    return notes


def _about_trivial(found: Thresholds) -> list[str]:
    s, best = found.sweep, found.best
    if best is None or found.allow_trivial:
        return []
    performance = np.where(s.trivial, s.performance, -np.inf)
    if performance.max() <= best.performance + SLACK:
        return []
    who = "everybody" if s.selection_rate[int(np.argmax(performance))] > 0.5 else "nobody"
    return [
        f"selecting {who} has {found.goal.title} {performance.max():.3f}, more than any other threshold "
        f"({best.performance:.3f}): by this performance the score is of no use"
    ]


def _about_separate(found: Thresholds, separate: ByGroup) -> list[str]:
    notes = [
        "thresholds by group are an analysis of what they would achieve: using them treats people differently by "
        "group, which the law forbids in many places (in the USA for credit and hiring)"
    ]
    if not separate.exact:
        notes.append(
            f"a group has more than {LEVELS:,} different rates: of neighbouring ones the best was taken, so that "
            "thresholds by group may achieve a little more than is shown"
        )
    if separate.at_limit is not None and len(found.requirements) > 1:
        notes.append(f"thresholds by group keep to the limit of {shown_name(found.fairness.id)} only")
    return notes
