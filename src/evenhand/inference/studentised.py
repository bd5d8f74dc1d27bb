"""Gaps of single numbers over their standard errors: so that groups of other spread, but the same number, are alike."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.measures.registry import ScoreMeasure, ScoreOptions
from evenhand.tables.arrays import Floats
from evenhand.tables.scores import ScoreCounts


def studentised(m: ScoreMeasure) -> Callable[[ScoreCounts], Floats]:
    """The size of a gap of single numbers over its standard error: groups of other spread are alike too."""
    of = m.variances
    if of is None:
        return _of_means

    def size(counts: ScoreCounts) -> Floats:
        gap = np.abs(m.curve(counts, ScoreOptions(), None).gap[..., 0])
        error = np.sqrt(of(counts)[0].sum(-1))
        return np.asarray(np.divide(gap, error, out=np.zeros_like(gap), where=gap > 1e-12))

    return size


def _of_means(counts: ScoreCounts) -> Floats:
    """|difference of means| over its standard error.

    One of everybody is added to each group for its spread, as in Welch's interval: two people with one score are not
    certain.
    """
    people, sizes = counts.of(), counts.sizes()
    mean = (people * counts.unit).sum(-1) / sizes
    more = people + (counts.pooled / counts.pooled.sum(-1, keepdims=True))[..., None, :]
    middle = (more * counts.unit).sum(-1) / (sizes + 1)
    away = (more * (counts.unit - middle[..., None]) ** 2).sum(-1) / (sizes + 1)
    error = np.sqrt((away / np.maximum(sizes - 1, 0.5)).sum(-1))
    apart = np.abs(mean[..., 0] - mean[..., 1])
    return np.asarray(np.divide(apart, error, out=np.zeros_like(apart), where=apart > 1e-12))
