"""Effects on scores as few numbers: mean changes and shares of people, with intervals that are valid at 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand.inference.interval import student, wilson
from evenhand.tables.arrays import Bools, Floats, Ints

MEAN, SIZE, MOVED, CHANGED, FAVOURED, DISFAVOURED = range(6)
"""Places of the figures: mean change, mean size of the change, and shares of people: who change by more than the
tolerance, are decided otherwise, then favourably, then unfavourably."""
FIGURES = ("mean", "size", "moved", "changed", "favoured", "disfavoured")


@dataclass(frozen=True)
class Rule:
    """When a decision is favourable, and from when a change counts."""

    threshold: float
    risk: bool
    tolerance: float

    def favourable(self, scores: Floats) -> Bools:
        return np.asarray(scores < self.threshold if self.risk else scores >= self.threshold)


def others_of(own: Ints, groups: int) -> Ints:
    """The other groups of each person: axes (other, person)."""
    return np.asarray((own + 1 + np.arange(groups - 1)[:, None]) % groups)


def tally(there: Floats, here: Floats, own: Ints, groups: int, rule: Rule) -> tuple[Floats, Floats]:
    """Sums of every figure, and numbers of people: by scenario and by pair of groups.

    `there` has axes (scenario, other, person, draw). The result has axes (scenario, pair, figure), a pair being
    own × groups + other; draws count as parts of a person.
    """
    scenarios, size = len(there), groups * groups
    change = there - here[:, None]
    now, then = rule.favourable(here)[:, None], rule.favourable(there)
    moved = np.abs(change)
    figures = (change, moved, moved > rule.tolerance, now != then, then & ~now, now & ~then)
    pair = (own * groups + others_of(own, groups)).ravel()
    place = (np.arange(scenarios)[:, None] * size + pair).ravel()
    sums = [np.bincount(place, f.mean(-1).ravel(), scenarios * size).reshape(scenarios, size) for f in figures]
    return np.stack(sums, -1), np.bincount(pair, minlength=size).astype(np.float64)


def average(sums: Floats, people: Floats) -> Floats:
    """Figures of each pair, and after all pairs those of everybody; NaN where there is nobody."""
    sums = np.concatenate([sums, sums.sum(-2, keepdims=True)], -2)
    people = np.append(people, people.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / people[:, None])


class Estimate(NamedTuple):
    """A figure and its interval."""

    value: float
    ci: tuple[float, float] | None = None
    floor: tuple[float, float] | None = None
    """What fitting alone would show if the attribute acted on nothing: on average, and in 95 of 100 cases at most."""


@dataclass(frozen=True)
class Spread:
    """What resamples tell about figures: their typical distance from the value, and what fitting alone shows."""

    away: Floats | None
    floor: tuple[Floats, Floats] | None
    confidence: float
    resamples: int

    def estimate(
        self, value: float, figure: int, place: tuple[int, int], people: float, share: float = 1.0
    ) -> Estimate:
        """A figure at a place (scenario, pair); `share` is how much of the fitted effects is in it."""
        floor = None
        if self.floor is not None and figure != MEAN:
            mean, high = (float(f[place[-1], figure]) * share for f in self.floor)
            floor = mean, high
        if self.away is None or not np.isfinite(value):
            return Estimate(value, None, floor)
        away = float(self.away[(*place, figure)])
        if figure == SIZE:  # where it has its kink it varies less than the mean, but is off by as much
            away = max(away, float(self.away[(*place, MEAN)]))
        ci = interval(value, away, figure, people, self.confidence, self.resamples)
        if ci is not None and floor is not None:
            ci = _beside(value, ci, floor[1], figure != SIZE)
        return Estimate(value, ci, floor)


def _beside(value: float, ci: tuple[float, float], floor: float, share: bool) -> tuple[float, float]:
    """Beside 0, and a share beside 1, a figure has a kink that resamples may not see: what fitting alone shows is no
    evidence against the end itself, nor against as much on this side of it."""
    if value <= floor:
        return 0.0, max(ci[1], floor)
    if share and 1 - value <= floor:
        return min(ci[0], 1 - floor), 1.0
    return ci


def interval(
    value: float, away: float, figure: int, people: float, confidence: float, resamples: int
) -> tuple[float, float] | None:
    """From the typical distance of resamples to the value; None for one person, of whom nothing more is known.

    A share gets Wilson's interval of as many people as would make it so uncertain, and never of more than there are: it
    stays in [0, 1], and 0 of 50 is not certain to be 0.
    """
    from scipy.special import stdtrit

    if people < 2 or not np.isfinite(away):
        return None
    wider = student(people, confidence)
    half = float(stdtrit(max(resamples - 1, 1), (1 + confidence) / 2)) * wider * away
    if figure in (MEAN, SIZE):
        return (value - half if figure == MEAN else max(value - half, 0.0)), value + half
    inside = away > 0 and 0 < value < 1
    as_many = value * (1 - value) / away**2 if inside else people
    lo, hi = wilson(value, min(as_many, people) / wider**2, confidence)
    if not inside:  # at 0 or 1 resamples may still go elsewhere
        lo, hi = np.minimum(lo, max(value - half, 0.0)), np.maximum(hi, min(value + half, 1.0))
    return float(lo), float(hi)


def p_value(value: float, away: float, people: float, resamples: int) -> float:
    """Of no change on average: two-sided, Student's. If resamples agree to the last digit, by the sign of everybody."""
    from scipy.special import stdtr

    least = 2.0 ** max(1 - people, -1000)
    if away <= 1e-12 * abs(value):
        return least if value else 1.0
    return float(max(2 * stdtr(max(resamples - 1, 1), -abs(value) / away), least))
