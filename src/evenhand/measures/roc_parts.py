"""A separation bias by whose scores the thresholds are: Theorem 4.8 of Becker et al. 2024.

The standardised bias of people with one label weighs a threshold by the people there, who are of four kinds: of the
group or its reference, with this label or the other. At the scores of one kind the gap is that between two ROC curves.
"""

from __future__ import annotations

import numpy as np

from evenhand.measures import roc, score_bias
from evenhand.measures.curve import Curve, ScoreOptions
from evenhand.tables.arrays import Floats
from evenhand.tables.scores import ScoreCounts


def kinds(label: int) -> tuple[tuple[int, int], ...]:
    """Whose scores the thresholds are, as (group, label): first those of the people who are compared.

    >>> kinds(1)
    ((0, 1), (1, 1), (0, 0), (1, 0))
    """
    return tuple((group, y) for y in (label, 1 - label) for group in (0, 1))


def split(counts: ScoreCounts, label: int, options: ScoreOptions) -> Curve:
    """The gap at every threshold, weighted for each kind by its own people: axes (…, kind, point).

    The weights of all kinds add up to those of the bias, whatever the ranks, so the norms add up to the bias.

    >>> import evenhand
    >>> from evenhand.tables.scores import ScoreView
    >>> table = evenhand.compas()
    >>> pair = ScoreView(table, table.grouping("race"))([0, 1])
    >>> amounts = split(pair, 1, ScoreOptions()).norm()
    >>> amounts.round(3).tolist(), round(float(amounts.sum()), 3)
    ([0.05, 0.045, 0.041, 0.026], 0.161)
    """
    whole = score_bias.bias(counts, label, True, options)
    people = _people(counts, label)
    above, below = _sides(counts, options)
    own = people[..., :-1] * above[..., None, :-1] + people[..., 1:] * below[..., None, 1:]
    all_ = own.sum(-2, keepdims=True)
    share = np.divide(own, all_, out=np.zeros_like(own), where=all_ > 0)
    return Curve(whole.at, whole.gap[..., None, :], whole.weight[..., None, :] * share)


def areas(counts: ScoreCounts, label: int) -> tuple[Floats, Floats]:
    """Between the ROC curves of the group and of its reference over each kind: the area, and that with its sign.

    Exact areas of piecewise linear curves, as in `roc.bias`: at a score that several people of the kind share, the gap
    goes straight from the one below to the one above it, and may cross 0 on its way.
    """
    f = counts.cdf(label)
    after = f[..., 1, :] - f[..., 0, :]
    before = np.concatenate([np.zeros_like(after[..., :1]), after[..., :-1]], axis=-1)
    size = np.abs(before) + np.abs(after)
    mean = np.divide(before**2 + after**2, size, out=np.zeros_like(size), where=before * after < 0) / 2
    mean = np.where(before * after < 0, mean, size / 2)
    people = _people(counts, label)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = people / people.sum(-1, keepdims=True)
    signed = (before + after) / 2
    return (share * mean[..., None, :]).sum(-1), (share * signed[..., None, :]).sum(-1)


def sources(counts: ScoreCounts) -> tuple[float, float]:
    """What actual positives and actual negatives add to the difference of AUROC; its difference is that of cross-AUROC.

    Going from the curve of the reference to that of the group one can change either first: the mean of both ways.

    >>> import evenhand
    >>> from evenhand.tables.scores import ScoreView
    >>> table = evenhand.compas()
    >>> pair = ScoreView(table, table.grouping("race"))([0, 1])
    >>> [round(part, 3) for part in sources(pair)]
    [-0.137, 0.136]
    """
    area = [[float(roc.auroc(counts, favourable, other)) for other in (0, 1)] for favourable in (0, 1)]
    within, across = area[0][0] - area[1][1], area[0][1] - area[1][0]
    return (within + across) / 2, (within - across) / 2


def _people(counts: ScoreCounts, label: int) -> Floats:
    """People of each kind at every score, axes (…, kind, score)."""
    return np.stack([counts.classes[..., group, y, :] for group, y in kinds(label)], axis=-2)


def _sides(counts: ScoreCounts, options: ScoreOptions) -> tuple[Floats, Floats]:
    """Which share of the people of each score weighs at the threshold above it, and which at the one below.

    Half and half; of the lowest and of the highest score nearly all, where their ranks are pinned to 0 and 1.
    """
    pooled = counts.pooled
    above, below = np.full_like(pooled, 0.5), np.full_like(pooled, 0.5)
    if options.ranks == "mid":
        return above, below
    upto = np.cumsum(pooled, axis=-1)
    pinned = 1 - np.divide(counts.person / 2, pooled, out=np.zeros_like(pooled), where=pooled > 0)
    above = np.where((upto - pooled <= 0) & (pooled > 0), pinned, above)
    return above, np.where((upto >= upto[..., -1:]) & (pooled > 0), pinned, below)
