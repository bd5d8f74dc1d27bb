"""What other seeds could have shown: runs redrawn within every setting, and intervals of what their means make."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenhand.tables.arrays import Bools, Floats, Ints

UNSEEN = 1 + math.sqrt(2)
"""Where settings tie, resamples show √2 − 1 of the bias that choosing the best of noisy means has."""
LUCKY = 0.2
"""In how many cases, as a share, a variance may be larger than what is made of its estimate."""
AT_ONCE = 100_000
"""Runs drawn at a time."""


class Resampled(NamedTuple):
    """An interval, and by how much resamples are above the value on average."""

    ci: tuple[float, float]
    bias: float


def resampled_means(values: Floats, starts: Ints, seeds: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Means of runs drawn with replacement within each setting: axes (role, draw, setting).

    A mean of k redrawn runs varies by (k − 1)/k of what it should, so deviations are made larger by √(k/(k − 1)).
    """
    means = np.empty((len(values), draws, len(starts)))
    for k in np.unique(seeds).tolist():
        own = np.flatnonzero(seeds == k)
        runs = values[:, starts[own][:, None] + np.arange(k)]
        mean = runs.mean(-1)
        moved = np.zeros((len(values), draws, len(own)))
        if k > 1:
            away = ((runs - mean[..., None]) / np.sqrt(k * (k - 1))).reshape(len(values), -1)
            at_once = max(1, min(k, AT_ONCE // (draws * len(own))))
            for start in range(0, k, at_once):
                shape = draws, len(own), min(at_once, k - start)
                which = np.arange(len(own))[:, None] * k + rng.integers(0, k, shape, np.uint32)
                for role in range(len(values)):
                    moved[role] += away[role].take(which).sum(-1)
        means[..., own] = mean[:, None] + moved
    return means


def could_matter(least: Floats, most: Floats) -> Bools:
    """Which settings could be on a front: the others are, at best, worse than another one at worst.

    Axes (coordinate, setting).
    """
    order = np.argsort(-least[0], kind="stable")
    fairest = np.maximum.accumulate(least[1][order])
    better = np.searchsorted(-least[0][order], -most[0], side="left")  # how many have a higher least performance
    return np.asarray((better == 0) | (fairest[better - 1] <= most[1]))


def extremes(values: Floats, starts: Ints, seeds: Ints) -> tuple[Floats, Floats]:
    """The least and the most that resampled means can be."""
    means = np.add.reduceat(values, starts, axis=1) / seeds
    wider = np.sqrt(seeds / np.maximum(seeds - 1, 1))
    least, most = (f.reduceat(values, starts, axis=1) for f in (np.minimum, np.maximum))
    return means - wider * (means - least), means + wider * (most - means)


def freedom(variances: Floats, seeds: Ints) -> float:
    """Degrees of freedom of a sum of means of so many runs with these estimated variances (Satterthwaite); 0 for none.

    Two runs may agree by chance: to weigh settings, each variance is what it could well be. And there are at most as
    many degrees of freedom as settings have on average, though two.
    """
    from scipy.special import chdtri

    several = seeds > 1
    if not several.any():
        return 0.0
    df = seeds[several] - 1
    could_be = variances[several] * df / chdtri(df, 1 - LUCKY)
    squares = float((could_be * could_be / df).sum())
    most = max(float(df.mean()), 2.0)
    return min(float(could_be.sum()) ** 2 / squares, most) if squares > 0 else most


def interval(value: float, draws: Floats, df: float, confidence: float) -> Resampled | None:
    """Student's interval with the standard error of resamples, wider on the side to which the value is biased.

    A front, or a model chosen for being best, is the best of noisy means: the value flatters. Resamples, which choose
    once more, show by how much, or by less. Nothing is known without degrees of freedom, nor if too many resamples
    have no value.
    """
    from scipy.special import stdtrit

    known = draws[np.isfinite(draws)]
    if df <= 0 or not np.isfinite(value) or len(known) < max(2, len(draws) * (1 + confidence) / 2):
        return None
    bias = float(known.mean()) - value
    reach = float(stdtrit(df, (1 + confidence) / 2) * known.std(ddof=1))
    return Resampled((value - reach - UNSEEN * max(bias, 0.0), value + reach + UNSEEN * max(-bias, 0.0)), bias)
