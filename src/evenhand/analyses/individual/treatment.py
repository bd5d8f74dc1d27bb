"""How people who are near to each other are treated: everybody, each group, and across groups."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.individual.estimates import (
    Contrast,
    Estimated,
    Sums,
    contrast,
    inconsistency,
    mean,
    pair_sums,
    share,
    two_sided,
    variance,
)
from evenhand.analyses.individual.lipschitz import LEAST, STEEPEST, disjoint, upper_end
from evenhand.analyses.individual.neighbours import Near
from evenhand.inference.significance import holm
from evenhand.tables.arrays import Bools, Floats, Ints

SLACK = 1e-9
"""Differences of scores that are rounding: 0.3 − 0.25 is more than 0.05."""


@dataclass(frozen=True)
class Limits:
    """What counts as being treated alike."""

    epsilon: float
    lipschitz: float | None
    span: float
    """The range of scores, in units of which consistency is told."""
    confidence: float
    sign: int = 1
    """−1 for a risk score, so that positive differences are in favour of a group."""


@dataclass(frozen=True)
class Scored:
    """Near pairs and how far their scores are apart."""

    near: Near
    score: Floats
    gap: Floats
    """Of each pair, the score of the other minus that of the one."""
    spare_gap: Floats
    """The same for the next nearest person of everybody."""

    @classmethod
    def of(cls, near: Near, score: Floats) -> Scored:
        spare = np.zeros(near.n) if near.spare is None else score[near.spare] - score
        return cls(near, score, score[near.other] - score[near.one], spare)

    def sums(self, holds: Bools | Floats, spare: Bools | Floats, member: Bools, spare_member: Bools) -> Sums:
        return pair_sums(self.near, holds.astype(np.float64), spare.astype(np.float64), member, spare_member)

    def apart(self, lipschitz: float) -> Floats:
        """By how much each pair is further apart than its distance allows."""
        return np.asarray(np.abs(self.gap) - lipschitz * self.near.distance)


@dataclass(frozen=True)
class Treatment:
    """How the near people of some people are treated beside them."""

    people: int
    pairs: int
    """Pairs of these people and those near to them."""
    alike: Estimated
    """The share of pairs whose scores differ by at most epsilon."""
    consistency: Estimated
    """1 minus the mean distance of a score to the mean score of those near, in units of the score range."""
    constant: Estimated
    """The Lipschitz constant: the largest slope seen, and how large it might be."""
    violations: Estimated | None
    """The share of pairs further apart in score than lipschitz × distance; None if lipschitz was not given."""


@dataclass(frozen=True)
class GroupTreatment:
    """One group: how its people are treated beside those near to them, and compared with the reference."""

    name: str
    treatment: Treatment
    alike_gap: Contrast | None
    """The share of pairs alike minus that of the reference; None for the reference itself."""
    violations_gap: Contrast | None
    across: Contrast | None
    """Near pairs of one person of the group and one of the reference: mean score of the group's person minus that of
    the reference's, positive in favour of the group."""
    across_pairs: int = 0


def treatment(scored: Scored, member: Bools, limits: Limits) -> Treatment:
    """Of the people who are members, beside whoever is near to them."""
    near, one = scored.near, scored.near.one
    inside = member[one]
    people, pairs = int(member.sum()), int(inside.sum())
    nobody = f"nobody is near to any of these {people:,} people"
    spare_score = scored.score + scored.spare_gap
    far = inconsistency(near, scored.score, spare_score, member)
    consistent = replace(far, total=far.number - far.total / limits.span, totals=far.numbers - far.totals / limits.span)
    close, spare_close = (np.abs(gap) <= limits.epsilon + SLACK for gap in (scored.gap, scored.spare_gap))
    return Treatment(
        people,
        pairs,
        share(scored.sums(close, spare_close, inside, member), people, limits.confidence, nobody),
        share(consistent, people, limits.confidence, nobody),
        constant(scored, inside, limits.confidence),
        None if limits.lipschitz is None else _violations(scored, inside, member, limits, nobody),
    )


def _violations(scored: Scored, inside: Bools, member: Bools, limits: Limits, nobody: str) -> Estimated:
    assert limits.lipschitz is not None
    further = np.zeros(scored.near.n) if scored.near.spare_distance is None else scored.near.spare_distance
    beyond = scored.apart(limits.lipschitz) > SLACK
    spare = np.abs(scored.spare_gap) - limits.lipschitz * further > SLACK
    return share(scored.sums(beyond, spare, inside, member), int(member.sum()), limits.confidence, nobody)


def constant(scored: Scored, inside: Bools, confidence: float) -> Estimated:
    """The largest slope of pairs that are not at distance 0, and an upper bound of what it might be.

    What was seen is a lower bound for certain.
    """
    usable = np.flatnonzero(inside & (scored.near.distance > 0))
    if not len(usable):
        return Estimated(np.nan, None, "no two people near to each other differ in what is compared")
    slope = np.abs(scored.gap[usable]) / scored.near.distance[usable]
    one, other = scored.near.one[usable], scored.near.other[usable]
    people = len(np.unique(one))
    steepest = disjoint(one, other, slope, int(min(STEEPEST, max(np.sqrt(people), LEAST + 1))))
    end = upper_end(steepest, confidence)
    return Estimated(float(slope.max()), (float(slope.max()), max(end, float(slope.max()))))


def by_group(
    scored: Scored, codes: Ints, names: tuple[str, ...], reference: int, limits: Limits
) -> tuple[GroupTreatment, ...]:
    """Every group, the reference first."""
    treated = [treatment(scored, codes == g, limits) for g in range(len(names))]
    base = treated[reference]
    groups = [GroupTreatment(names[reference], base, None, None, None)]
    for g in (g for g in range(len(names)) if g != reference):
        own, violations = treated[g], None
        if own.violations is not None and base.violations is not None:
            violations = contrast(own.violations, base.violations, limits.confidence)
        gap = contrast(own.alike, base.alike, limits.confidence)
        groups.append(GroupTreatment(names[g], own, gap, violations, *_across(scored, codes, g, reference, limits)))
    return _adjusted(groups)


def _across(scored: Scored, codes: Ints, group: int, reference: int, limits: Limits) -> tuple[Contrast, int]:
    near = scored.near
    others, spares = codes[near.other], codes if near.spare is None else codes[near.spare]

    def favour(one: Ints, other: Ints, gap: Floats) -> tuple[Floats, Bools]:
        """The score of the group's person minus that of the reference's, and whether the pair has one of each."""
        mine, theirs = (one == group) & (other == reference), (one == reference) & (other == group)
        return np.where(mine, -gap, gap) * limits.sign, mine | theirs

    values, counted = favour(codes[near.one], others, scored.gap)
    spare_values, spare_counted = favour(codes, spares, scored.spare_gap)
    sums = scored.sums(values, spare_values, counted, spare_counted & (near.spare is not None))
    across = mean(sums, limits.confidence, "no person of the group is near to one of the reference")
    p = two_sided(across.value, variance(sums.means, limits.confidence)) if sums.number else np.nan
    return Contrast(across.value, across.ci, p, across.undefined), int(counted.sum())


_COMPARED = ("alike_gap", "violations_gap", "across")


def _adjusted(groups: list[GroupTreatment]) -> tuple[GroupTreatment, ...]:
    """Holm's adjustment over all groups and questions."""
    there = [(g, name, getattr(group, name)) for g, group in enumerate(groups) for name in _COMPARED]
    known = [(g, name, c) for g, name, c in there if c is not None and np.isfinite(c.p_value)]
    for (g, name, c), p in zip(known, holm([c.p_value for _, _, c in known]), strict=True):
        groups[g] = replace(groups[g], **{name: replace(c, p_adjusted=p)})
    return tuple(groups)
