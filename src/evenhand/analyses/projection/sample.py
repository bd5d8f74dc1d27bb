"""The people of both groups as the projection sees them, and what is to be said of their scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.analyses.projection.inputs import logits_of, scores_of
from evenhand.analyses.projection.shifts import sigma
from evenhand.inference.chi2_mixture import tail
from evenhand.inference.permuted_means import PermutedGap, permuted_means, permuted_p_value
from evenhand.inference.wasserstein_projection import Projection, project
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.table import Table

FEW = 100
"""With fewer people of a label in a group, the limit law is not relied on."""
COCHRAN = 25
MANY = 1000
"""With so many it is."""
PERMUTATIONS = 1999
FURTHEST = 36.0
"""A score of 0 or 1 has no logit; this one is as near as a float can tell."""


@dataclass(frozen=True)
class Sample:
    """Cells of the group and its reference."""

    z: Floats
    """Logits, higher = more favourable."""
    n: Floats
    """People; of survey weights, their sums, scaled so that all of them add up to the number of rows,"""
    squares: Floats | None
    """and the sums of their squares."""
    label: Bools | None
    """None if the data have none."""
    in_group: Bools

    @classmethod
    def of(cls, table: Table, pair: Ints, z: Floats, label: Bools | None, in_group: Bools) -> Sample:
        n = table.n[pair].astype(np.float64)
        if table.weight is None or table.weight2 is None:
            return cls(z, n, None, label, in_group)
        scale = n.sum() / table.weight[pair].sum()
        weight, squares = table.weight[pair] * scale, table.weight2[pair] * scale * scale
        if np.allclose(weight, n, 1e-12) and np.allclose(squares, n, 1e-12):  # everybody weighs the same
            return cls(z, n, None, label, in_group)
        return cls(z, weight, squares, label, in_group)

    def own(self, y: int | None) -> Ints:
        """The cells of people with one label, or of all."""
        return np.arange(len(self.z)) if y is None else np.flatnonzero(self.label == y)

    def projected(self, y: int | None, beta_norm: float, margin: float = 0.0) -> Projection:
        """The projection among people with one label, or among all. Of a margin few people do not know the variance."""
        own, bounded = self.own(y), margin > 0 and not self.are_normal(y)
        squares, people = None if self.squares is None else self.squares[own], float(self.n.sum())
        return project(self.z[own], self.n[own], self.in_group[own], people, beta_norm, squares, margin, bounded)

    def effective(self, y: int | None) -> tuple[float, float]:
        """How many people of the group and of its reference know as much (Kish 1965)."""
        own = self.own(y)
        n, squares = self.n, self.n if self.squares is None else self.squares
        sides = [own[self.in_group[own]], own[~self.in_group[own]]]
        group, reference = (float(n[side].sum() ** 2 / squares[side].sum()) for side in sides)
        return group, reference

    def few(self, y: int | None) -> float:
        """With fewer people the limit law is not relied on for a difference."""
        return min(max(FEW, self.normal(y)), MANY)

    def normal(self, y: int | None) -> float:
        """With fewer people a mean is not normal enough: 25 times the squared skewness of scores (Cochran 1977)."""
        own = self.own(y)
        h, w = sigma(self.z[own]), self.n[own] / self.n[own].sum()
        deviation = h - (w * h).sum()
        spread = float((w * deviation**2).sum())
        skewness = float((w * deviation**3).sum()) / spread**1.5 if spread > 1e-200 else 0.0
        return min(COCHRAN * max(1.0, skewness**2), MANY)

    def are_normal(self, y: int | None) -> bool:
        """Whether people are so many, and scores so little skewed, that both means are normal enough."""
        return min(self.effective(y)) >= self.normal(y)

    def permuted(self, labels: Sequence[int | None]) -> float | None:
        """The p-value by permuting group labels among those who are compared.

        Of few people these are all ways there are, so that it is exact. None of survey weights, and where all groups
        are so large that it says what the limit law says.
        """
        large = [min(self.effective(y)) >= MANY for y in labels]
        if self.squares is not None or all(large):
            return None
        rng = np.random.default_rng(0)
        gaps = [self._permuted(y, rng) for y, enough in zip(labels, large, strict=True) if not enough]
        rest = [self.projected(y, 1.0).wald for y, enough in zip(labels, large, strict=True) if enough]
        return permuted_p_value(gaps, rest[0] if rest else None, PERMUTATIONS, rng)

    def _permuted(self, y: int | None, rng: np.random.Generator) -> PermutedGap:
        own = self.own(y)
        n = np.rint(self.n[own]).astype(np.int64)
        return permuted_means(sigma(self.z[own]), n, self.in_group[own], PERMUTATIONS, rng)

    def accuracy(self) -> float | None:
        """Share of people whose label their score tells at one half."""
        if self.label is None:
            return None
        return float(self.n[(self.z >= 0) == self.label].sum() / self.n.sum())

    def mean(self, y: int) -> float:
        """Mean score of everybody with a label."""
        own = self.own(y)
        return float((self.n[own] * sigma(self.z[own])).sum() / self.n[own].sum())


def mistaken_risk(sample: Sample, risk: bool) -> Iterator[str]:
    """As the audit does: a score that is higher for people with the unfavourable label may be a risk."""
    if sample.label is None or sample.label.all() or not sample.label.any():
        return
    good, bad = sample.mean(1), sample.mean(0)
    if bad <= good:
        return
    if risk:
        yield (
            f"people with the unfavourable label have a lower mean risk ({1 - bad:.3f}) than those with the favourable "
            f"one ({1 - good:.3f}): check which value is favourable, and if this is a risk score"
        )
    else:
        yield (
            f"people with the unfavourable label have a higher mean score ({bad:.3f}) than those with the favourable "
            f"one ({good:.3f}): check which value is favourable, and if this is a risk score (--risk)"
        )


@dataclass(frozen=True)
class Ranges:
    """What scores that are known in ranges leave open."""

    means: float
    """How far a mean score may be from the exact one, at most."""
    p_values: tuple[float, float]
    """The lowest and highest p-value, with scores at those ends of their ranges that part the groups or join them."""


def within_ranges(
    table: Table,
    pair: Ints,
    sample: Sample,
    logits: bool,
    labels: Sequence[int | None],
    beta_norm: float,
    margin: float,
) -> Ranges | None:
    """What is left open where scores are known in ranges."""
    if table.spans is None or not len(table.spans.low):
        return None
    ends = [logits_of(table, end, logits)[pair] for end in table.spans.ends(scores_of(table))]
    low, high = (np.clip(f(*ends), -FURTHEST, FURTHEST) for f in (np.minimum, np.maximum))
    low, high = np.where(low < high, low, sample.z), np.where(low < high, high, sample.z)
    least: list[Projection] = []
    most: list[Projection] = []
    far = 0.0
    for y in labels:
        a, b = (
            replace(sample, z=np.where(sample.in_group, up, down)).projected(y, beta_norm, margin)
            for up, down in ((high, low), (low, high))
        )
        middle = sample.projected(y, beta_norm, margin)
        found = sorted((a, b, middle), key=lambda p: p.statistic / (p.theta or 1.0))
        crossing = (a.means[0] - a.means[1]) * (b.means[0] - b.means[1]) <= 0
        least.append(replace(middle, statistic=0.0) if crossing else found[0])
        most.append(found[-1])
        moved = zip((*a.means, *b.means), middle.means * 2, strict=True)
        far = max(far, *(abs(end - mean) for end, mean in moved))
    return Ranges(far, (exceeding(most, margin), exceeding(least, margin)))


def exceeding(plans: Sequence[Projection], margin: float) -> float:
    """The p-value by the limit law: were the gaps as large as the margin allows, or none without one."""
    return tail(sum(p.statistic for p in plans), *law(plans, margin))


def law(plans: Sequence[Projection], margin: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Weights and margins, in standard errors, of the limit law's terms."""
    slack = [margin / p.error if p.error > 0 else 0.0 for p in plans]
    return tuple(p.theta for p in plans), tuple(slack)


def within(plans: Sequence[Projection], margin: float) -> float | None:
    """The p-value of gaps as large as the margin, or larger, all of which it takes to be within; None without margin.

    None also where a score is constant, so that nothing is known of how it varies.
    """
    if not margin or any(p.theta <= 0 for p in plans):
        return None
    outside = [1 if abs(p.means[0] - p.means[1]) > margin else -1 for p in plans]
    return max(
        0.5 * math.erfc(-side * math.sqrt(p.border / p.theta / 2)) for side, p in zip(outside, plans, strict=True)
    )


def in_ranges(ranges: Ranges | None, level: float) -> Iterator[str]:
    """How far the test may be off where scores are known in ranges."""
    if ranges is None:
        return
    low, high = ranges.p_values
    yield (
        f"scores are known in ranges: mean scores are within {ranges.means:.1g} of the exact ones, and the p-value is "
        f"between {low:.2g} and {high:.2g}"
        + (f", so that the ranges decide whether the test rejects at {100 * level:g} %" if low < level <= high else "")
    )
