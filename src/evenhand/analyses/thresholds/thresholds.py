"""One score → which threshold: performance against fairness at all of them, and the one that meets a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from evenhand.analyses.options import Options, checked, cuts_of, with_threshold
from evenhand.analyses.reference import grouping_named, reference_group
from evenhand.analyses.requirement import Requirement, required
from evenhand.analyses.thresholds.by_group import LEVELS, ByGroup, by_group as separate
from evenhand.analyses.thresholds.selection import (
    CHOICES,
    Cutoff as Cutoff,  # part of what the result is to those who use it
    Policy as Policy,
    best_of,
    choose as choose_best,
)
from evenhand.analyses.thresholds.sweep import Goal, Sweep, Swept, checked_goal, decided_measure, goal_of, sweep
from evenhand.errors import UsageError, is_whole, one_of, shown, shown_name, truth
from evenhand.inference.resample import generator
from evenhand.inference.settings import IntervalArgs
from evenhand.ingest.engines import library_of
from evenhand.ingest.resolve import as_table
from evenhand.ingest.roles import Roles, RolesArgs, check_known, picked
from evenhand.measures.measure import SLACK
from evenhand.measures.pareto import dto, pareto
from evenhand.measures.registry import RateMeasure
from evenhand.report.result import Result
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table, observed_range

FAIRNESS = "demographic_parity"


@dataclass(frozen=True, repr=False)
class Thresholds(Result):
    """What all thresholds of a score would do. Print it, or take `to_dict` (at most 1,000 thresholds), `to_frame`."""

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
    allowed: Bools
    """Which thresholds may be recommended at all."""
    meets: Bools
    """Which thresholds meet every requirement."""
    on_front: Bools
    """Which thresholds no other is better than in both performance and fairness."""
    dto: Floats
    """Distance to perfect performance and fairness."""
    choose: str = "interval"
    """What of the chosen threshold meets the policy: its whole interval, or its value."""
    policy: Policy | None = None
    by_group: ByGroup | None = None
    notes: tuple[str, ...] = ()
    library: str | None = None

    @property
    def swept(self) -> Swept:
        return self.sweep.measures[self.fairness.id]

    @property
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
        if stated is None:
            return None
        return replace(self.at(self.sweep.index(self.table.compared(stated))), threshold=stated)

    @property
    def chosen(self) -> Cutoff | None:
        """The threshold that meets the policy at the least cost."""
        return None if self.policy is None else self.policy.chosen

    def at(self, place: int) -> Cutoff:
        """The threshold at one place of the sweep."""
        s, swept = self.sweep, self.swept
        if not is_whole(place) or not -len(swept.group) <= place < len(swept.group):
            raise UsageError(
                f"place is that of one of {len(swept.group):,} thresholds, counted from 0, not {shown(place)}"
            )
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

    def to_frame(self, library: str | None = None) -> Any:
        """Every threshold, one row each."""
        from evenhand.analyses.thresholds.document import frame

        return frame(self, library)


class ThresholdsArgs(RolesArgs, IntervalArgs, total=False):
    """Columns and intervals, for signatures."""


def thresholds(
    data: Any = None,
    *,
    attribute: str | Sequence[str] | None = None,
    reference: str | Mapping[str, str] | None = None,
    performance: str = "accuracy",
    cost: tuple[float, float] | None = None,
    fairness: str | None = None,
    require: str | Sequence[str] = (),
    choose: str = "interval",
    threshold: float | str | None = None,
    allow_trivial: bool = False,
    by_group: bool = False,
    **options: Unpack[ThresholdsArgs],
) -> Thresholds:
    """Performance and fairness of a score at every threshold, and the threshold that meets a policy at the least cost.

    `data` is a `Table`, a path to a saved one, or rows with their columns, as in `evenhand.data`.

    Parameters
    ----------
    attribute, reference
        Which attribute, if there are several (a list of all their names means their intersection), and the group all
        others are compared with, by default the largest.
    performance, cost
        "accuracy" or "balanced_accuracy"; or the costs of a false favourable and of a false unfavourable decision,
        which become 1 − cost / worst possible cost.
    fairness
        The id of a measure of decisions; by default the first one required, else demographic parity. Of several groups
        the one furthest from parity with the reference counts.
    require
        The policy: texts such as "disparate_impact >= 0.8" and "equal_opportunity <= 0.05". A ratio is the lower
        rate over the higher, a difference its magnitude.
    choose
        "interval": the best threshold at which the whole interval of every gap meets the policy, at a level that allows
        for the search; or "value": the best at which the gaps of these people do, often by luck. Either way
        `policy.chance` says how likely such a choice keeps to the policy on new people.
    threshold
        The threshold in use, to compare with: a number, or a rule as in `evenhand.audit`.
    allow_trivial
        Whether a threshold that selects everybody or nobody may be recommended.
    by_group
        Also analyse what separate thresholds for each group could achieve. Using them treats people differently by
        group, which the law forbids in many places.
    confidence, bootstrap, rng
        Of the intervals at the chosen threshold: see `evenhand.Inference`.

    Examples
    --------
    >>> import evenhand
    >>> result = evenhand.thresholds(evenhand.compas(), reference="Caucasian", require="disparate_impact >= 0.8")
    >>> result.best.threshold, round(result.best.performance, 3), round(result.best.value, 3)
    (6.0, 0.656, 0.681)
    >>> result.chosen.threshold, round(result.chosen.value, 3), round(result.policy.lost, 3), result.policy.settled
    (9.0, 0.878, 0.059, True)
    """
    check_known(options, ThresholdsArgs.__optional_keys__, thresholds)
    intervals = {word: value for word, value in options.items() if word in IntervalArgs.__optional_keys__}
    asked = checked_options(
        performance, cost, fairness, require, threshold, allow_trivial, by_group, choose=choose, **intervals
    )
    table = as_table(data, picked(Roles, options), cuts_of(asked.options))
    _check_table(table, asked.measures)
    asked = replace(asked, options=with_threshold(asked.options, table)[0] if asked.options.cutoff else asked.options)
    if asked.options.threshold is not None:
        table.selected(asked.options.threshold)  # refuses one that goes through a range of scores
    table, grouping = table.among(grouping_named(table, attribute))
    ref, _, notes = reference_group(table, grouping, reference)
    goal = goal_of(table, asked.performance, asked.cost)
    swept = sweep(table, grouping, ref, goal, asked.measures)
    result = Thresholds(
        table, grouping, grouping.groups[ref], asked.options, goal, asked.cost, asked.fairness, swept,
        asked.requirements, bool(allow_trivial), *_weighed(swept, asked, allow_trivial), asked.choose,
        library=library_of(data),
    )  # fmt: skip
    if asked.requirements:
        result = replace(result, policy=choose_best(result, ref, asked.required, generator(options.get("rng"))))
    if by_group:
        limits = [r.limit for r in asked.requirements if r.measure.id == asked.fairness.id]
        result = replace(result, by_group=separate(table, grouping, ref, goal, asked.fairness, limits))
    observed = observed_range(table)
    about = () if observed is None else (observed,)
    return replace(result, notes=(*table.notes, *about, *notes, *_remarks(result)))


@dataclass(frozen=True)
class Asked:
    """What was asked for, once it is known to make sense."""

    options: Options
    performance: str
    cost: tuple[float, float] | None
    fairness: RateMeasure
    requirements: tuple[Requirement, ...]
    required: tuple[RateMeasure, ...]
    choose: str = "interval"

    @property
    def measures(self) -> list[RateMeasure]:
        return list({m.id: m for m in (self.fairness, *self.required)}.values())


def checked_options(
    performance: Any,
    cost: Any,
    fairness: Any,
    require: Any,
    threshold: Any,
    allow_trivial: Any,
    by_group: Any,
    choose: Any = "interval",
    **intervals: Any,
) -> Asked:
    """What was asked for, if it makes sense; better known before ten minutes of counting."""
    for word, value in (("allow_trivial", allow_trivial), ("by_group", by_group)):
        truth(word, value)
    one_of("choose", choose, CHOICES)
    options = checked(threshold, **intervals, permutations=0)
    kind, costs = checked_goal(performance, cost)
    requirements = required(require)
    measures = tuple(decided_measure(r.measure) for r in requirements)
    named = fairness if fairness is not None else measures[0] if measures else FAIRNESS
    return Asked(options, kind, costs, decided_measure(named), requirements, measures, choose)


def _weighed(s: Sweep, asked: Asked, allow_trivial: bool) -> tuple[Bools, Bools, Bools, Floats]:
    """Of every threshold: whether it is allowed, meets all requirements, is on the front; and its distance."""
    fairness = s.measures[asked.fairness.id].fairness
    allowed = np.ones(len(s.trivial), np.bool_) if allow_trivial else ~s.trivial
    meets = np.ones(len(s.thresholds), np.bool_)
    for r in asked.requirements:
        meets &= r.meets(s.measures[r.measure.id].size)
    performance = np.where(allowed, s.performance, np.nan)
    on_front = pareto(performance, fairness) & ~np.isnan(performance + fairness)
    return allowed, meets, on_front, dto(s.performance, fairness)


def _check_table(table: Table, measures: Sequence[RateMeasure]) -> None:
    if table.score is None:
        raise UsageError("thresholds are of a score, but there is none: name its column (--score)")
    if table.decision is not None:
        raise UsageError(
            f"the prediction {shown(table.meaning.prediction)} decides already, whatever the threshold: "
            "tabulate the data without it"
        )
    if table.noise is not None:
        raise UsageError(
            "the table is private: a search over thresholds would take its noise for people; audit it instead"
        )
    unlabelled = [m.id for m in measures if m.needs_label]
    if table.label is None and unlabelled:
        raise UsageError(f"{unlabelled[0]} needs true outcomes: name their column (--label), or take {FAIRNESS}")


def _remarks(result: Thresholds) -> list[str]:
    s, notes = result.sweep, []
    if result.goal.undefined:
        notes.append(f"{result.goal.title} is undefined {result.goal.undefined}: thresholds are not weighed against it")
    if s.trivial.all():
        only = f"the score is constant ({result.table.scores[0]:g})"
        if result.table.spans is not None and len(result.table.spans.low):
            only = "all scores are known in one range"
        notes.append(f"{only}: every threshold selects everybody or nobody")
    unknown = int((np.isnan(result.swept.size) & ~s.trivial).sum())
    if unknown:
        notes.append(
            f"{result.fairness.title} is undefined at {unknown:,} of {int((~s.trivial).sum()):,} thresholds, where a "
            "group has nobody to compare: they are on no front and meet no requirement"
        )
    notes += _about_trivial(result)
    if result.chosen is not None and result.choose == "value":
        notes.append(
            "the threshold was chosen on the same people that it is judged by, which flatters it: confirm it on a "
            "fresh sample, or choose by the interval (--choose interval)"
        )
    elif result.chosen is not None:
        notes.append(
            "the intervals allow for the search over thresholds; the performance does not, and was chosen on the same "
            "people: confirm it on a fresh sample"
        )
    if s.selection_rates is None:
        notes.append(f"{len(result.grouping.groups):,} groups and {len(s.thresholds):,} thresholds: selection rates by "
                     "group are left out")  # fmt: skip
    if result.by_group is not None:
        notes += _about_by_group(result, result.by_group)
    return notes


def _about_trivial(result: Thresholds) -> list[str]:
    s, best = result.sweep, result.best
    if best is None or result.allow_trivial:
        return []
    performance = np.where(s.trivial, s.performance, -np.inf)
    if performance.max() <= best.performance + SLACK:
        return []
    who = "everybody" if s.selection_rate[int(np.argmax(performance))] > 0.5 else "nobody"
    return [
        f"selecting {who} has {result.goal.title} {performance.max():.3f}, more than any other threshold "
        f"({best.performance:.3f}): by this performance the score is of no use"
    ]


def _about_by_group(result: Thresholds, own: ByGroup) -> list[str]:
    notes = [
        "thresholds by group are an analysis of what they would achieve: using them treats people differently by "
        "group, which the law forbids in many places (in the USA for credit and hiring)",
        "thresholds by group were searched on these people and no interval allows for that: on new people their gap "
        "may be beyond the limit, and their performance lower",
    ]
    if not own.exact:
        notes.append(
            f"a group has more than {LEVELS:,} different rates: of neighbouring ones the best was taken, so that "
            "thresholds by group may achieve more than is shown"
        )
    if own.at_limit is not None and len(result.requirements) > 1:
        notes.append(f"thresholds by group keep to the limit of {shown_name(result.fairness.id)} only")
    return notes
