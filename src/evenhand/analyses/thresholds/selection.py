"""Which thresholds meet a policy, which of them is the best, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evenhand.analyses.audit.attribute import audit_attribute
from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.reference import Reference
from evenhand.analyses.requirement import Requirement
from evenhand.analyses.thresholds.selection_effect import Searched, searched
from evenhand.measures.measure import SLACK, worst_of_interval
from evenhand.measures.registry import RateMeasure
from evenhand.tables.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from evenhand.analyses.thresholds.thresholds import Thresholds

CHOICES = ("interval", "value")
"""What of a threshold must meet the rules: the whole interval of every gap, or the gaps of these people."""
TRIED = 300
"""So many thresholds at most are judged by their intervals, evenly over those whose values meet the rules."""


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

    @property
    def shortfall(self) -> float:
        """By how much the far end of the interval misses the limit, of the value where there is none."""
        far = self.gap.size if self.gap.ci is None else worst_of_interval(self.requirement.measure, self.gap.ci)
        return float(self.requirement.shortfall(far))


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
    level: float | None = None
    """Of the intervals: so high that those of all thresholds hold together, whichever is chosen."""
    chance: float | None = None
    """That a threshold chosen like this keeps to the policy on new people, by resamples."""

    @property
    def settled(self) -> bool | None:
        """Whether the intervals at the chosen threshold leave no doubt about any requirement."""
        known = [c.settled for c in self.checks]
        return None if not known or None in known else all(known)


def best_of(performance: Floats, among: Bools) -> Ints:
    """The places of the highest performance, rounding aside."""
    known = among & ~np.isnan(performance)
    if not known.any():
        return np.zeros(0, np.int64)
    return np.flatnonzero(known & (performance >= performance[known].max() - SLACK))


def choose(result: Thresholds, reference: int, measures: Sequence[RateMeasure], rng: np.random.Generator) -> Policy:
    """The best threshold that is shown to meet every requirement, or the one that misses by the least."""
    search = searched(
        result.table, result.grouping, reference, result.goal, result.requirements, measures,
        result.options.confidence, result.options.bootstrap, rng.spawn(1)[0],
    )  # fmt: skip
    gaps = partial(_gaps, result, reference, measures, search.level, rng)
    feasible = result.meets & result.allowed
    trivial = result.meets & result.sweep.trivial
    policy = Policy(
        result.requirements, int(feasible.sum()), _ranges(result.sweep.thresholds, feasible),
        tuple(result.sweep.thresholds[trivial].tolist()), level=search.level,
    )  # fmt: skip
    if not feasible.any():
        return _infeasible(result, policy, gaps)
    if result.goal.undefined:
        return replace(policy, undefined=result.goal.undefined)
    if result.choose == "value":
        return _chosen(result, policy, _cheapest(result, feasible), gaps, search)
    short: dict[int, float] = {}
    for place in _in_order(result, feasible).tolist():
        trivial = result.sweep.trivial[place]  # who selects everybody or nobody on purpose treats all groups alike
        checks = () if trivial else _checks(result, gaps(float(result.sweep.thresholds[place]), quick=True))
        if all(c.settled for c in checks):
            return _chosen(result, policy, place, gaps, search)
        short[place] = max(c.shortfall for c in checks)
    return _unshown(result, policy, min(short, key=short.__getitem__), gaps)


def _gaps(
    result: Thresholds, reference: int, measures: Sequence[RateMeasure], level: float, rng: np.random.Generator,
    threshold: float, quick: bool = False,
) -> tuple[Gap, ...]:  # fmt: skip
    """Of every measure and group, with intervals; quickly, with those that need no resamples where these will do."""
    unique = list({m.id: m for m in measures}.values())
    draws = 0 if quick and not result.table.clustered else result.options.bootstrap
    options = replace(result.options, threshold=threshold, confidence=level, bootstrap=draws)
    options = replace(options, brief=quick)
    audit = audit_attribute(
        result.table, result.grouping, Reference(reference, "named", []), list(unique), options, rng, lambda done: None
    )
    return audit.measures


def _checks(result: Thresholds, own: Sequence[Gap]) -> tuple[Check, ...]:
    return tuple(Check(r, g, r.settled(g)) for r in result.requirements for g in own if g.id == r.measure.id)


Gaps = Callable[..., tuple[Gap, ...]]


def _chosen(result: Thresholds, policy: Policy, place: int, gaps: Gaps, search: Searched) -> Policy:
    chosen, best, current = result.at(place), result.best, result.current
    assert best is not None
    return replace(
        policy,
        chosen=chosen,
        chance=search.chance(result.choose, chosen.threshold),
        lost=max(best.performance - chosen.performance, 0.0),
        lost_to_current=None if current is None else current.performance - chosen.performance,
        checks=_checks(result, gaps(chosen.threshold)),
    )


def _in_order(result: Thresholds, feasible: Bools) -> Ints:
    """Thresholds to try: the best performance first; of equals the one nearest to the best without a policy."""
    assert result.best_place is not None
    places = spread(feasible & ~np.isnan(result.sweep.performance), TRIED)
    s = result.sweep
    away = np.abs(s.thresholds[places] / 2 - s.thresholds[result.best_place] / 2)
    return places[np.lexsort((away, -np.round(s.performance[places], 12)))]


def _unshown(result: Thresholds, policy: Policy, place: int, gaps: Gaps) -> Policy:
    """Values meet the rules, but no interval does: the threshold whose intervals miss by the least."""
    checks = _checks(result, gaps(float(result.sweep.thresholds[place])))
    missed = {str(r): max(c.shortfall for c in checks if c.requirement == r) for r in result.requirements}
    why = "because no threshold is shown to meet the policy"
    return replace(policy, undefined=why, nearest=result.at(place), missed_by=missed, checks=checks)


def _cheapest(result: Thresholds, feasible: Bools) -> int:
    """The best performance; of equals the one nearest to the best threshold without a policy."""
    assert result.best_place is not None
    tied = best_of(result.sweep.performance, feasible)
    away = np.abs(result.sweep.thresholds[tied] / 2 - result.sweep.thresholds[result.best_place] / 2)
    return int(tied[np.argmin(away)])


def _ranges(at: Floats, feasible: Bools) -> tuple[Stretch, ...]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], feasible, [False]]).astype(np.int8)))
    return tuple(Stretch(float(at[a]), float(at[b - 1]), int(b - a)) for a, b in edges.reshape(-1, 2))


def _infeasible(result: Thresholds, policy: Policy, gaps: Gaps) -> Policy:
    """The threshold that misses by the least, or the reason why none can be judged."""
    sizes = {str(r): result.sweep.measures[r.measure.id].size for r in result.requirements}
    short = {str(r): r.shortfall(sizes[str(r)]) for r in result.requirements}
    most = np.where(result.allowed, np.maximum.reduce(list(short.values())), np.inf)
    if not result.allowed.any():
        return replace(policy, undefined="because every threshold selects everybody or nobody")
    if np.isinf(most).all():
        some = float(result.sweep.thresholds[np.flatnonzero(result.allowed)[0]])
        why = next((g.undefined for g in gaps(some) if g.undefined), None)
        return replace(policy, undefined=why or "because no threshold has a value of every measure required")
    tied = np.flatnonzero(most <= most.min() + SLACK)
    performance = np.nan_to_num(result.sweep.performance[tied], nan=-np.inf)
    place = int(tied[np.argmax(performance)])
    return replace(
        policy,
        undefined="because no threshold meets the policy",
        nearest=result.at(place),
        missed_by={text: float(by[place]) for text, by in short.items()},
    )


def spread(among: Bools, most: int) -> Ints:
    """At most so many of the places that are true, evenly, with both ends.

    >>> spread(np.array([True, False, True, True, True, True]), 3).tolist()
    [0, 3, 5]
    """
    places = np.flatnonzero(among)
    if len(places) <= most:
        return places
    return np.asarray(places[np.unique(np.linspace(0, len(places) - 1, most).round().astype(np.int64))])
