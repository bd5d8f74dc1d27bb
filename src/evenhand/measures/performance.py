"""How good a model is for everybody together: the other side of every trade-off with fairness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.measures.rates import ratio
from evenhand.tables.arrays import Floats
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts


@dataclass(frozen=True)
class Performance:
    """A measure of performance, from counts by decision or by score, with leading axes for resamples."""

    id: str
    title: str
    of: Callable[[Counts], Floats] | Callable[[ScoreCounts], Floats]
    rests_on: Literal["decision", "scores", "probabilities"]
    lower_is_better: bool = False

    def goodness(self, value: Floats) -> Floats:
        """On a scale from 0 to 1 where 1 is best.

        A log loss becomes the (geometric) mean probability that was given to what happened.
        """
        if self.id == "log_loss":
            return np.asarray(np.exp(-value))
        return np.asarray(1 - value) if self.lower_is_better else value


def _outcomes(counts: Counts) -> Floats:
    """Counts of all groups together, axes (…, level, label)."""
    return np.asarray(counts.array.sum(-2), np.float64)


def accuracy(decisions: Counts) -> Floats:
    """Share of people whose decision agrees with their label."""
    people = _outcomes(decisions)
    return ratio(people[..., 0, 0] + people[..., 1, 1], people.sum((-2, -1)))


def balanced_accuracy(decisions: Counts) -> Floats:
    """The mean of the true positive and the true negative rate."""
    people = _outcomes(decisions)
    return (
        ratio(people[..., 1, 1], people[..., :, 1].sum(-1)) + ratio(people[..., 0, 0], people[..., :, 0].sum(-1))
    ) / 2


def auroc(scores: ScoreCounts) -> Floats:
    """How often a person with the favourable label scores higher than one without; ties count half."""
    bad, good = np.moveaxis(_outcomes(scores), -1, 0)
    below = np.cumsum(bad, axis=-1) - bad / 2
    return ratio((good * below).sum(-1), good.sum(-1) * bad.sum(-1))


def average_precision(scores: ScoreCounts) -> Floats:
    """Precision averaged over the people with the favourable label, from the highest score down."""
    people = _outcomes(scores)[..., ::-1, :]
    good = people[..., 1]
    precision = np.nan_to_num(ratio(np.cumsum(good, axis=-1), np.cumsum(people.sum(-1), axis=-1)))
    return ratio((good * precision).sum(-1), good.sum(-1))


def brier(scores: ScoreCounts) -> Floats:
    """Mean squared distance between score and outcome."""
    people, p = _outcomes(scores), scores.unit
    return ratio((people[..., 0] * p**2 + people[..., 1] * (1 - p) ** 2).sum(-1), people.sum((-2, -1)))


def log_loss(scores: ScoreCounts) -> Floats:
    """Mean surprise at the outcome; NaN if something happened that the model had excluded."""
    people, p = _outcomes(scores), scores.unit
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = [np.where(n > 0, -np.log(q) * n, 0.0) for n, q in ((people[..., 0], 1 - p), (people[..., 1], p))]
    loss = ratio((surprise[0] + surprise[1]).sum(-1), people.sum((-2, -1)))
    return np.where(np.isfinite(loss), loss, np.nan)


PERFORMANCES = {
    p.id: p
    for p in (
        Performance("accuracy", "accuracy", accuracy, "decision"),
        Performance("balanced_accuracy", "balanced accuracy", balanced_accuracy, "decision"),
        Performance("auroc", "AUROC", auroc, "scores"),
        Performance("average_precision", "average precision", average_precision, "scores"),
        Performance("log_loss", "log loss", log_loss, "probabilities", lower_is_better=True),
        Performance("brier", "Brier score", brier, "probabilities", lower_is_better=True),
    )
}


def why_not(performance: Performance, scores: ScoreCounts | None, value: float) -> str | None:
    """Why there is no such number, or None."""
    if scores is None or not scores.has_label:
        return "because there are no labels"
    if performance.rests_on == "probabilities" and scores.score_range != (0.0, 1.0):
        lo, hi = scores.score_range
        return f"because scores from {lo:g} to {hi:g} are no probabilities"
    if np.isfinite(value):
        return None
    if performance.id == "log_loss":
        return "because a person was given probability 0 of what happened"
    return "because only one label occurs"
