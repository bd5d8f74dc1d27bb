"""Equalized odds by random selection: a mixture of two thresholds and a coin for each group (Hardt et al. 2016, §4)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evenhand.errors import DataError
from evenhand.learn.methods.classifier import Floats, Ints


@dataclass(frozen=True)
class Mixture:
    """How a group is selected: by one of two thresholds, or by a coin that does not look at the score."""

    thresholds: tuple[float, float]
    share: float
    """Of the second threshold."""
    coin: float
    """How often the coin decides."""
    rate: float
    """How often it says yes."""

    def __call__(self, score: Floats) -> Floats:
        """The probability of being selected."""
        first, second = (score >= t for t in self.thresholds)
        return (1 - self.coin) * ((1 - self.share) * first + self.share * second) + self.coin * self.rate


def equalized_odds(score: Floats, label: Ints, group: Ints, weight: Floats, n_groups: int) -> list[Mixture]:
    """Mixtures that give all groups the same rates of right and wrong selections, with the fewest errors overall."""
    hulls = []
    for i in range(n_groups):
        own = group == i
        good, bad = weight * (own & (label == 1)), weight * (own & (label == 0))
        if not (good.sum() > 0 and bad.sum() > 0):
            raise DataError("equalized odds takes people of both classes in every group, but one group lacks a class")
        hulls.append(_hull(*_roc(score[own], good[own], bad[own])))
    wrong = _turns(hulls)
    right = np.min([np.interp(wrong, fpr, tpr) for fpr, tpr, _ in hulls], axis=0)  # within reach of every group
    positives = float(weight[label == 1].sum())
    best = int(np.argmax(right * positives - wrong * (weight.sum() - positives)))
    return [_mixture(hull, float(wrong[best]), float(right[best])) for hull in hulls]


def _turns(hulls: list[tuple[Floats, Floats, Floats]]) -> Floats:
    """Where the lowest of all hulls may turn, so that errors are fewest at one of these: corners, and crossings."""
    corners = np.unique(np.concatenate([hull[0] for hull in hulls]))
    turns = [corners]
    for (a, high_a, _), (b, high_b, _) in combinations(hulls, 2):
        gap = np.interp(corners, a, high_a) - np.interp(corners, b, high_b)  # straight between corners
        i = np.flatnonzero(gap[:-1] * gap[1:] < 0)
        turns.append(corners[i] + (corners[i + 1] - corners[i]) * gap[i] / (gap[i] - gap[i + 1]))
    return np.unique(np.concatenate(turns))


def _roc(score: Floats, good: Floats, bad: Floats) -> tuple[Floats, Floats, Floats]:
    """Rates of wrong and of right selections at each threshold, from nobody to everybody, and the thresholds."""
    seen, place = np.unique(-score, return_inverse=True)
    fpr, tpr = (np.append(0.0, np.cumsum(np.bincount(place, w)) / w.sum()) for w in (bad, good))
    # midway to the next score, so that no decision hangs on a last digit
    return fpr, tpr, np.concatenate([[np.inf], -(seen[:-1] + seen[1:]) / 2, [0.0]])


def _hull(fpr: Floats, tpr: Floats, threshold: Floats) -> tuple[Floats, Floats, Floats]:
    """The corners of the concave hull of a ROC curve."""
    hull: list[int] = []
    for i in range(len(fpr)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (fpr[b] - fpr[a]) * (tpr[i] - tpr[a]) < (tpr[b] - tpr[a]) * (fpr[i] - fpr[a]):
                break
            hull.pop()
        if hull and fpr[hull[-1]] == fpr[i]:  # straight up: the higher one
            hull.pop()
        hull.append(i)
    return fpr[hull], tpr[hull], threshold[hull]


def _mixture(hull: tuple[Floats, Floats, Floats], wrong: float, right: float) -> Mixture:
    """How a group with this hull gets to this point, which lies on the hull or below it."""
    fpr, tpr, threshold = hull
    if len(fpr) == 1:  # everybody right: one corner
        return Mixture((float(threshold[0]),) * 2, 0.0, 0.0, 0.0)
    i = int(np.clip(np.searchsorted(fpr, wrong, side="right") - 1, 0, len(fpr) - 2))
    share = (wrong - fpr[i]) / (fpr[i + 1] - fpr[i])
    own = tpr[i] + share * (tpr[i + 1] - tpr[i])
    coin = (own - right) / (own - wrong) if own > wrong else 0.0
    return Mixture((float(threshold[i]), float(threshold[i + 1])), float(share), float(coin), wrong)
