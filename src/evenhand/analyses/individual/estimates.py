"""How near people are treated: shares and means over near pairs, and how sure they are.

People, not pairs, are the sample: a person stands in many pairs. So every estimate is computed again without each
person, exactly: pairs with that person vanish, and where one of somebody's k nearest is gone, the next one steps in.
The variance from that (the jackknife) is, on average, not too small for any statistic (Efron & Stein 1981).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.analyses.individual.neighbours import Near
from evenhand.inference.interval import difference, wilson, z_value
from evenhand.inference.significance import LEAST_P
from evenhand.tables.arrays import Bools, Floats, Pair


@dataclass(frozen=True)
class Estimated:
    """A number over near pairs with its interval, or the reason why there is none."""

    value: float
    ci: Pair | None
    undefined: str | None = None
    without: Floats | None = None
    """The same number without each person."""


@dataclass(frozen=True)
class Sums:
    """A sum over near pairs and their number, of everybody and without each person."""

    total: float
    number: float
    totals: Floats
    numbers: Floats

    @property
    def mean(self) -> float:
        return self.total / self.number if self.number else np.nan

    @property
    def means(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.totals / self.numbers


def pair_sums(near: Near, values: Floats, spare: Floats, counted: Bools, spare_counted: Bools) -> Sums:
    """Of a value of each pair that counts; `spare` is that of each person with the next nearest one."""
    total, totals = _summed(near, values * counted, spare * spare_counted)
    number, numbers = _summed(near, counted.astype(np.float64), spare_counted.astype(np.float64))
    return Sums(total, number, totals, np.rint(numbers))


def _summed(near: Near, values: Floats, spare: Floats) -> tuple[float, Floats]:
    one, n = near.one, near.n
    own = np.bincount(one, values, n)
    into = np.bincount(near.other, values, n)
    total = float(own.sum())
    if near.spare is None:
        return total, np.asarray(total - own - into)
    return total, np.asarray(total - own - into + np.bincount(near.other, spare[one], n))


def inconsistency(near: Near, score: Floats, spare: Floats, member: Bools) -> Sums:
    """How far people are from the mean score of those near to them; `spare` is the score of the next nearest one."""
    one, n, sizes = near.one, near.n, near.sizes
    around = np.bincount(one, score[near.other], n)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.abs(score - around / sizes)
        # without one of the near people: the next steps in, or there is one fewer
        rest = around[one] - score[near.other] + (0.0 if near.spare is None else spare[one])
        left = sizes[one] - (near.spare is None)
        moved = np.abs(score[one] - rest / left)
    counts = member & (sizes > 0)
    far = np.where(counts, far, 0.0)
    stays = counts[one] & (left > 0)
    moved = np.where(stays, moved, 0.0)
    total, number = float(far.sum()), float(counts.sum())
    totals = total - far + np.bincount(near.other, moved - np.where(counts[one], far[one], 0.0), n)
    numbers = number - counts - np.bincount(near.other, (counts[one] & ~stays).astype(np.float64), n)
    return Sums(total, number, totals, np.rint(numbers))


def variance(without: Floats, confidence: float) -> float:
    """The jackknife's variance, enlarged by how few people it comes from (Student's quantile for the normal one).

    A handful of odd people can make up all of it; then it is known about as badly as from a sample of so few.
    """
    from scipy.special import stdtrit

    known = without[np.isfinite(without)]  # without some people nothing may be left
    if len(known) < 2:
        return np.nan
    squares = np.square(known - known.mean())
    total = squares.sum()
    noise = np.square(squares).sum() - total**2 / len(known)
    freedom = min(2 * total**2 / noise, len(known) - 1) if noise > 0 else len(known) - 1
    wider = stdtrit(max(freedom, 1.0), (1 + confidence) / 2) / float(z_value(confidence))
    return float((len(known) - 1) / len(known) * total * wider**2)


def share(sums: Sums, people: int, confidence: float, undefined: str) -> Estimated:
    """A share of near pairs, or a mean between 0 and 1, with Wilson's interval for as many people as it varies like.

    Where all pairs are alike nothing varies: then as if each of two people of a pair could have been the odd one.
    """
    if not sums.number:
        return Estimated(np.nan, None, undefined)
    p, spread = min(max(sums.mean, 0.0), 1.0), variance(sums.means, confidence)
    n = p * (1 - p) / spread if spread > 0 and 0 < p < 1 else people / 2
    low, high = wilson(p, n, confidence)
    return Estimated(p, (float(low), float(high)), None, sums.means)


def mean(sums: Sums, confidence: float, undefined: str) -> Estimated:
    """A mean over near pairs of anything, with a normal interval."""
    if not sums.number:
        return Estimated(np.nan, None, undefined)
    spread = variance(sums.means, confidence)
    if not spread >= 0:
        return Estimated(sums.mean, None, None, sums.means)
    half = float(z_value(confidence) * np.sqrt(spread))
    return Estimated(sums.mean, (sums.mean - half, sums.mean + half), None, sums.means)


@dataclass(frozen=True)
class Contrast:
    """How an estimate of a group differs from that of its reference."""

    value: float
    ci: Pair | None
    p_value: float
    undefined: str | None = None
    p_adjusted: float = np.nan
    """Holm's, over everything that is compared."""


def contrast(group: Estimated, reference: Estimated, confidence: float) -> Contrast:
    """Group minus reference, with the jackknife of the difference: people stand in pairs of both."""
    why = group.undefined or reference.undefined
    if why or group.ci is None or reference.ci is None or group.without is None or reference.without is None:
        return Contrast(np.nan, None, np.nan, why)
    gap = group.value - reference.value
    spread = variance(group.without - reference.without, confidence)
    if not spread > 0:
        limits = [(np.asarray(low), np.asarray(high)) for low, high in (group.ci, reference.ci)]
        low, high = difference(group.value, limits[0], reference.value, limits[1])
        return Contrast(gap, (float(low), float(high)), 1.0)
    half = float(z_value(confidence) * np.sqrt(spread))
    return Contrast(gap, (gap - half, gap + half), two_sided(gap, spread))


def two_sided(value: float, spread: float) -> float:
    """The p-value of a number that should be 0, from its variance."""
    from scipy.special import ndtr

    if not spread > 0:
        return 1.0 if value == 0 else np.nan
    return max(float(2 * ndtr(-abs(value) / np.sqrt(spread))), LEAST_P)
