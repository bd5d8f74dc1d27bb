"""Iterative null-space projection: remove, one by one, the directions from which a linear model predicts groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from evenhand.learn.methods.classifier import Floats, Ints, People, choice, number
from evenhand.learn.methods.network import Network

SPACES = ("representation", "features")


@dataclass(kw_only=True, eq=False, repr=False)
class INLP(Network):
    """Iterative null-space projection (Ravfogel et al. 2020).

    Of the hidden representation of a plain network, or of the features, what a logistic regression uses to predict the
    group is projected out, again and again; then a logistic regression learns the label from the rest.

    Parameters
    ----------
    strength
        How many times at most; it ends when groups are predicted no better than at random. 0 is the plain network, or
        the plain logistic regression of the features. A representation often takes dozens of rounds.
    space
        "representation" (the last hidden layer) or "features".
    others
        As of `MLP`.
    """

    needs_groups = True

    strength: int = 10
    space: str = "representation"

    def check_parameters(self) -> None:
        super().check_parameters()
        choice("space", self.space, SPACES)
        if float(self.strength) != int(self.strength):
            number("strength, a number of projections,", self.strength, 0, whole=True)

    def _learn(self, people: People) -> None:
        if self.space == "representation":
            super()._learn(people)
        else:
            self.history_, self.n_iter_ = [], 1
        z, weight = self._represented(people.X), people.weights
        if (weight != weight.round()).any():  # only whole weights count people, whose number matters to regressions
            weight = weight / weight.mean()
        self.mean_ = np.average(z, axis=0, weights=weight)
        assert people.group is not None
        self.projection_ = null_space(z - self.mean_, people.group, weight, int(self.strength))
        self.head_ = None
        if self.strength > 0 or self.space == "features":
            self.head_ = _logistic((z - self.mean_) @ self.projection_, people.label, weight)

    def project(self, X: Any) -> Floats:
        """What is left of people after the projections, in the centred space that was chosen."""
        check_is_fitted(self)
        return self._projected(self._features(X))

    def _scores(self, X: Any, group: Ints | None, sensitive_features: Any) -> Floats:
        if self.head_ is None:
            return super()._scores(X, group, sensitive_features)
        return np.asarray(self.head_.predict_proba(self._projected(X))[:, 1])

    def _projected(self, X: Any) -> Floats:
        return (self._represented(X) - self.mean_) @ self.projection_

    def _represented(self, X: Any) -> Floats:
        if self.space == "features":
            return np.asarray(X, np.float64)
        return np.asarray(self._outputs(np.asarray(X, np.float32))[1].double())


def null_space(z: Floats, group: Ints, weight: Floats, times: int) -> Floats:
    """The projection that is left after some rounds; it stops when groups cannot be predicted better than at random."""
    basis = np.zeros((z.shape[1], 0))
    projection = np.eye(z.shape[1])
    for _ in range(times):
        probe = _logistic(z @ projection, group, weight)
        if not _tells(probe, z @ projection, group, weight):
            break
        # directions of all rounds together, orthonormal: multiplied projections would collect rounding errors
        directions, size, _ = np.linalg.svd((probe.coef_ @ projection).T, full_matrices=False)
        left = len(basis) - basis.shape[1] - 1  # one direction stays, from which the label is learned
        new = directions[:, size > 1e-6 * size.max()][:, : max(left, 0)]
        if not new.shape[1]:
            break
        basis = np.linalg.qr(np.hstack([basis, new]))[0]
        projection = np.eye(len(basis)) - basis @ basis.T
    return projection


def _tells(probe: LogisticRegression, z: Floats, group: Ints, weight: Floats) -> bool:
    """Whether a probe predicts groups better than their shares alone: a likelihood-ratio test at 5%."""
    shares = np.bincount(group, weight) / weight.sum()
    # not from probabilities: one that underflows to 0 would make the sum minus infinity
    logit = probe.decision_function(z)
    logit = np.stack([np.zeros_like(logit), logit], 1) if logit.ndim == 1 else logit
    own = log_softmax(logit, axis=1)[np.arange(len(group)), group] - np.log(shares)[group]
    freedom = np.linalg.matrix_rank(z) * (len(shares) - 1)
    return bool(freedom > 0 and 2 * weight @ own > chi2.ppf(0.95, freedom))


def _logistic(z: Floats, target: Ints, weight: Floats) -> LogisticRegression:
    return LogisticRegression(max_iter=1000).fit(z, target, sample_weight=weight)
