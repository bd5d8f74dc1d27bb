"""Scores of the same people: selected on some of them, confirmed on the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.analyses.alternatives.options import Asked
from evenhand.analyses.alternatives.tried import (
    NOT_TESTED,
    Confirmation,
    Standing,
    Tried,
    bar,
    in_use_there,
    sifted,
    weighed,
)
from evenhand.analyses.audit.audit import Audit, audit_table
from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.audit.groups import Estimate
from evenhand.analyses.models.differences import people_of, performances
from evenhand.analyses.models.paired import LEAST_PEOPLE, Question, distance, paired, plain_errors, resample
from evenhand.analyses.options import Axes, Options
from evenhand.analyses.reference import Pinned
from evenhand.errors import DataError, shown, shown_name
from evenhand.measures.registry import Measure
from evenhand.tables.groups import Grouping
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

HELD_OUT = "on people held out"


@dataclass(frozen=True)
class Setting:
    """What is compared: the same for every candidate and for both parts of the people."""

    names: tuple[str, ...]
    baseline: int
    axes: Axes
    grouping: Grouping
    reference: str
    groups: tuple[str, ...]
    """Those that are compared with the reference."""
    options: tuple[Options, ...]
    """Of each candidate, with its threshold."""
    ranges: tuple[tuple[float, float], ...]
    """Of the scores of each candidate, by all people."""

    @property
    def reference_members(self) -> dict[str, str]:
        """The group of the reference by each of the columns that are crossed."""
        members = self.grouping.members[self.grouping.groups.index(self.reference)]
        return dict(zip(self.grouping.attributes, members, strict=True))

    @property
    def sign(self) -> float:
        return -1.0 if self.axes.performance.lower_is_better else 1.0


@dataclass(frozen=True)
class Part:
    """Some of the people, and what an audit says of every candidate among them."""

    joint: JointTable
    setting: Setting

    @property
    def people(self) -> int:
        return self.joint.index.people

    @cached_property
    def tables(self) -> list[Table]:
        return [self._table(k) for k in range(len(self.setting.names))]

    def _table(self, k: int) -> Table:
        """The scores of a candidate keep the range that those of all people have."""
        table = self.joint.of(k)
        return replace(table, meaning=replace(table.meaning, score_range=self.setting.ranges[k]))

    @cached_property
    def audits(self) -> dict[int, Audit]:
        return {}

    def audit(self, k: int) -> Audit:
        """The gaps of one candidate, without intervals."""
        if k not in self.audits:
            s = self.setting
            options = replace(s.options[k], bootstrap=0, permutations=0, brief=True)
            pinned, chosen = Pinned({s.grouping.name: s.reference}), {s.grouping.name: [s.axes.fairness]}
            self.audits[k] = audit_table(self.tables[k], options, chosen, pinned, np.random.default_rng(0))
        return self.audits[k]

    def gaps(self, k: int) -> dict[str, Gap]:
        """Of each group that is compared."""
        found = {g.group: g for g in self.audit(k).attributes[0].measures}
        return {name: found[name] for name in self.setting.groups if name in found}

    def performance(self, k: int) -> Estimate:
        return performances(self.audit(k), {}, k)[self.setting.axes.performance.id]

    def standing(self, k: int, groups: Sequence[str]) -> Standing:
        """The performance of a candidate, and the largest of its gaps."""
        performance, gaps = self.performance(k), self.gaps(k)
        unknown = next((f"because nobody is in {shown(name)}" for name in groups if name not in gaps), None)
        unknown = unknown or next((gaps[name].undefined for name in groups if gaps[name].undefined), None)
        if unknown or performance.undefined:
            return Standing(performance.value, np.nan, None, performance.undefined or unknown)
        size, group = max((self.size(gaps[name]), name) for name in groups)
        return Standing(performance.value, size, group)

    def size(self, gap: Gap) -> float:
        return float(distance(self.setting.axes.fairness, gap.value))


@dataclass(frozen=True)
class FromScores:
    """What was found, and on whom."""

    tried: tuple[Tried, ...]
    best: str
    """The candidate that performed best where they were selected."""
    recommended: str | None
    people: tuple[int, int]
    groups: tuple[str, ...]
    left_out: tuple[str, ...]
    """Groups for which the gap of the model in use does not exist."""


def from_scores(
    selecting: Part, confirming: Part, said: Asked, rng: np.random.Generator, tell: Callable[[float, str], None]
) -> FromScores:
    """Select on some people, then confirm on the others: the most promising first, until one is not confirmed."""
    s = selecting.setting
    groups, left_out = _known(selecting)
    found = []
    for k, name in enumerate(s.names):
        tell(k / (2 * len(s.names)), "selecting")
        found.append(_constant(Tried(name, selecting.standing(k, groups)), selecting, k))
    base = found[s.baseline]
    if base.selection.undefined:
        raise DataError(f"the model in use, {shown(base.name)}, cannot be compared {base.selection.undefined}")
    held = bar(found, said.within, s.sign)
    tried, order = sifted(found, s.baseline, held)
    worst = base.selection.group
    assert worst is not None
    theirs = confirming.standing(s.baseline, (worst,))
    in_use = in_use_there(theirs, s.sign * (confirming.performance(held.best).value - theirs.performance))
    tried[s.baseline] = replace(base, status="in use", because="the model in use", confirmation=in_use)
    stopped = False
    for turn, k in enumerate(order, 1):
        if stopped:
            tried[k] = tried[k].rejected("not_tested", NOT_TESTED)
            continue
        tell(0.5 + turn / (2 * len(order) + 2), f"confirming {shown_name(s.names[k])}")
        result = confirm(confirming, k, held.best, groups, worst, said, rng)
        tried[k] = replace(weighed(tried[k], result, said.within, said.inference.confidence, HELD_OUT), tested=turn)
        stopped = tried[k].reason == "not_confirmed"
    chosen = next((tried[k].name for k in order if tried[k].status == "alternative"), None)
    return FromScores(tuple(tried), s.names[held.best], chosen, (selecting.people, confirming.people), groups, left_out)


def _known(part: Part) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The groups whose gap by the model in use is known, and the others."""
    s, gaps = part.setting, part.gaps(part.setting.baseline)
    left = tuple(name for name in s.groups if name not in gaps or gaps[name].undefined)
    known = tuple(name for name in s.groups if name not in left)
    if not known:
        because = next((gaps[name].undefined for name in s.groups if name in gaps), "because nobody is in its groups")
        raise DataError(
            f"{s.axes.fairness.title} of the model in use, {shown(s.names[s.baseline])}, is undefined {because}"
        )
    return known, left


def _constant(c: Tried, part: Part, k: int) -> Tried:
    """A score that tells nobody apart has no gap, and is no alternative."""
    table = part.tables[k]
    what = "gives everybody the same score" if len(table.scores) == 1 else None
    if what is None and "decision" in (part.setting.axes.performance.rests_on, _levels(part.setting.axes.fairness)):
        selected = table.selected(part.audit(k).options.threshold)
        what = "selects everybody" if selected.all() else None if selected.any() else "selects nobody"
    if what is None:
        return c
    if k == part.setting.baseline:
        raise DataError(f"the model in use, {shown(c.name)}, {what}: it has no gap that could be smaller")
    return c.rejected("constant", f"it {what}, so that its gap says nothing")


def _levels(m: Measure) -> str:
    return str(getattr(m, "levels", "scores"))


# ---- confirming ---------------------------------------------------------------------------------------------


def confirm(
    part: Part, k: int, best: int, groups: Sequence[str], worst: str, said: Asked, rng: np.random.Generator
) -> Confirmation:
    """A candidate against the model in use, on people who had no part in its selection.

    That the largest gap is smaller by an amount is claimed where every group's gap is smaller by it than the gap of
    the group that fared worst by the model in use. Each is tested at the full level: all must hold.
    """
    s, base = part.setting, part.setting.baseline
    own, other = part.standing(k, groups), part.standing(base, (worst,))
    rivals = list(dict.fromkeys(rival for rival in (best, base) if rival != k))
    losses = [s.sign * (part.performance(rival).value - own.performance) for rival in rivals]
    because = own.undefined or other.undefined
    known = Confirmation(
        own.performance, own.gap, own.group, other.gap, other.gap - own.gap, None, max(losses), None, because
    )
    if because:
        return known
    draws = _resampled(part, [base, k, best], said, rng)
    confidence = 2 * said.inference.confidence - 1  # the one-sided interval is half of this one
    at_least = [_reduction(part, k, group, worst, draws, confidence) for group in groups]
    people = _fewest(part, k, groups, worst)
    if any(end is None for end in at_least):
        few = f"because a rate rests on {people:.0f} people, fewer than {LEAST_PEOPLE}"
        return replace(known, unknown=few if people < LEAST_PEOPLE else "because resamples do not vary enough")
    places = [0 if rival == base else 2 for rival in rivals]
    at_most = [_loss(part, loss, place, draws, confidence) for loss, place in zip(losses, places, strict=True)]
    return replace(
        known,
        reduction_at_least=min(end for end in at_least if end is not None),
        loss_at_most=None if None in at_most else max(end for end in at_most if end is not None),
    )


def _fewest(part: Part, k: int, groups: Sequence[str], worst: str) -> float:
    m, base = part.setting.axes.fairness, part.setting.baseline
    theirs = people_of(part.audit(base), 0, m, part.gaps(base)[worst])
    return min(theirs, *(people_of(part.audit(k), 0, m, part.gaps(k)[group]) for group in groups))


def _resampled(part: Part, models: Sequence[int], said: Asked, rng: np.random.Generator) -> Mapping[Any, Any]:
    """The same resamples of the model in use, the candidate and the best: answers of each in this order."""
    s = part.setting
    some = replace(
        part.joint,
        names=tuple(s.names[k] for k in models),
        scores=part.joint.scores[:, models],
        precision=tuple(part.joint.precision[k] for k in models),
    )
    tables = [part.tables[k] for k in models]
    place = [g.name for g in tables[0].groupings].index(s.grouping.name)
    names = tables[0].groupings[place].groups
    question = Question(place, s.grouping.name, names, names.index(s.reference), [s.axes.fairness])
    thresholds = [part.audit(k).options.threshold or 0.0 for k in models]
    return resample(
        some, tables, thresholds, [question], s.options[0].scores, said.inference.bootstrap, rng.spawn(1)[0],
        lambda done: None,
    )  # fmt: skip


def _reduction(part: Part, k: int, group: str, worst: str, draws: Mapping[Any, Any], confidence: float) -> float | None:
    """By how much at least the gap of a group is smaller than that of the worst one by the model in use."""
    s = part.setting
    m, base = s.axes.fairness, s.baseline
    own, other = part.gaps(k)[group], part.gaps(base)[worst]
    mine, theirs = draws[s.grouping.name, m.id, group][1], draws[s.grouping.name, m.id, worst][0]
    observed = part.size(own) - part.size(other)
    mirrored = observed - (mine[1] - theirs[1])
    errors = np.concatenate([mine[2:] - theirs[2:], [mirrored]])
    people = min(people_of(part.audit(base), 0, m, other), people_of(part.audit(k), 0, m, own))
    found = paired(observed, errors, confidence, people, m.highest, own.resolution + other.resolution)
    return None if found.ci is None else -found.ci[1]


def _loss(part: Part, loss: float, rival: int, draws: Mapping[Any, Any], confidence: float) -> float | None:
    """By how much at most the performance is lower than that of a rival, by its place among those resampled."""
    performance = part.setting.axes.performance
    errors = part.setting.sign * plain_errors(draws[None, performance.id, None], 0, rival, 1)
    found = paired(loss, errors, confidence, float(part.people))
    return None if found.ci is None else found.ci[1]
