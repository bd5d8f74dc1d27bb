"""Score bias (Becker et al. 2024): how far two groups are apart over all thresholds, weighted evenly or by people.

For independence all people count, for equal opportunity those with the favourable label, for predictive equality the
others. The curve is always PR_group − PR_reference = F_reference − F_group.
"""

from __future__ import annotations

import numpy as np

from evenhand.measures.curve import Curve, ScoreOptions, rowwise
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.scores import ScoreCounts

LABELS = {"independence": None, "equal_opportunity": 1, "predictive_equality": 0}
"""Which people each concept compares, by label. Equalized odds adds up the last two."""

LEAST_EXPECTED = 5


def thresholds(counts: ScoreCounts, standardized: bool, options: ScoreOptions) -> Floats:
    """Where scores lie: on the score range from 0 to 1, or by rank."""
    return counts.ranks(options.ranks) if standardized else counts.unit


def bias(counts: ScoreCounts, label: int | None, standardized: bool, options: ScoreOptions) -> Curve:
    """The gap between positive rates at every threshold between two neighbouring scores.

    >>> import evenhand
    >>> from evenhand.tables.scores import ScoreView
    >>> table = evenhand.compas()
    >>> pair = ScoreView(table, table.grouping("race"))([0, 1])
    >>> round(float(bias(pair, 1, True, ScoreOptions()).norm()), 3)
    0.161
    """
    f = counts.cdf(label)
    at = thresholds(counts, standardized, options)
    gap = f[..., 1, :-1] - f[..., 0, :-1]
    return Curve(at[..., :-1], gap, np.diff(at, axis=-1))


def shortfall(
    counts: ScoreCounts, label: int | None, standardized: bool, options: ScoreOptions, like: Curve | None = None
) -> Curve:
    """By how much the lower positive rate falls short of the higher, as a share of it: 1 − min/max of the two rates.

    Its norm is 1 minus the mean impact ratio. Thresholds at which fewer than five people of a group would be selected
    at the rate of both together weigh nothing: a ratio of two or three people is noise that no interval can describe.
    Below the lowest score everybody is selected and the ratio is 1. Resamples keep the weights of `like`.
    """
    people, total = counts.up_to(label), counts.sizes(label)
    above = (total[..., None] - people)[..., :-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = above / total[..., None]
        gap = (rate[..., 0, :] - rate[..., 1, :]) / np.maximum(rate[..., 0, :], rate[..., 1, :])
    at = thresholds(counts, standardized, options)
    if like is not None:
        return Curve(like.at, np.where(like.weight > 0, gap, 0.0), like.weight)
    enough = select_enough(counts, label)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(enough, np.diff(at, axis=-1), 0.0)
        known = weight.sum(-1) + at[..., 0]
        kept = known / at[..., -1]
        known = np.where(enough.any(-1), known, np.nan)
        return Curve(at[..., :-1], np.where(enough, gap, 0.0), weight / known[..., None], kept)


def select_enough(counts: ScoreCounts, label: int | None) -> Bools:
    """Above which scores, but for the last, five people of each group are expected at the rate of both together."""
    people, total = counts.up_to(label), counts.sizes(label)
    above = (total[..., None] - people)[..., :-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = above.sum(-2) / total.sum(-1)[..., None]
        fewest = (total / counts.weight_of_a_person).min(-1)
        return np.asarray(rate * fewest[..., None] >= LEAST_EXPECTED * (1 - 1e-9))


def quantile_gap(
    counts: ScoreCounts, label: int | None, standardized: bool, options: ScoreOptions, like: Curve | None = None
) -> Curve:
    """Q_group − Q_reference over shares of people: its L_p norm is the Wasserstein-p distance.

    `like` asks for the gap at the points of another curve, so that resamples can be compared with it.
    """
    f = counts.cdf(label)
    at = np.broadcast_to(thresholds(counts, standardized, options), f[..., 0, :].shape)
    if like is not None:
        u = like.at
        (gap,) = rowwise(lambda x, a, b: [_quantiles(x, a, u) - _quantiles(x, b, u)], at, f[..., 0, :], f[..., 1, :])
        return Curve(u, gap, like.weight)

    def exact(x: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        if np.isnan(a[-1] + b[-1]):
            return np.zeros(1), np.full(1, np.nan), np.ones(1)
        shares = np.unique(np.concatenate([a, b]))
        middle = shares - np.diff(shares, prepend=0.0) / 2
        return middle, _quantiles(x, a, middle) - _quantiles(x, b, middle), np.diff(shares, prepend=0.0)

    return Curve(*rowwise(exact, at, f[..., 0, :], f[..., 1, :], pieces=2))


def _quantiles(x: Floats, cdf: Floats, share: Floats) -> Floats:
    if np.isnan(cdf[-1]):
        return np.full(len(share), np.nan)
    return x[np.minimum(np.searchsorted(cdf, share, side="left"), len(x) - 1)]


def means(counts: ScoreCounts, label: int | None, standardized: bool, options: ScoreOptions) -> Floats:
    """Mean position or mean rank of each group, axes (…, group)."""
    at = thresholds(counts, standardized, options)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.einsum("...gs,...s->...g", counts.of(label), at) / counts.sizes(label))
