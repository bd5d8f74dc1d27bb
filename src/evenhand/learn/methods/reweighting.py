"""Reweighting: people count so that group and label become independent (Kamiran & Calders 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from evenhand.errors import UsageError
from evenhand.learn.methods.classifier import Floats, Ints, People
from evenhand.learn.methods.wrapper import Wrapper


class Reweighting(Wrapper):
    """Any classifier, trained on people weighed by (P(group) P(label) / P(group, label)) ^ strength.

    Parameters
    ----------
    estimator
        What is trained; it takes `sample_weight`. By default `MLP(random_state=random_state)`.
    strength
        0 leaves weights as they are, 1 makes group and label independent.

    Attributes
    ----------
    weights_
        Of each group and class: rows as `groups_`, columns as `classes_`. Nobody stands for a group without people of
        a class; then group and label cannot become independent.
    """

    def _learn(self, people: People) -> None:
        if isinstance(self.estimator, FrozenEstimator):
            raise UsageError("reweighting changes how an estimator learns, but a frozen one does not learn any more")
        assert people.group is not None
        weight = people.weights
        ratio = independence_weights(people.group, people.label, weight, len(self.groups_))
        with np.errstate(over="ignore"):
            self.weights_ = ratio**self.strength
        if not np.isfinite(self.weights_).all():
            raise UsageError(f"strength {self.strength:g} makes weights of {ratio.max():.3g} infinite: lower it")
        plain = people.weight is None and self.strength == 0
        self._train(people, None if plain else weight * self.weights_[people.group, people.label])

    def _scores(self, X: Any, group: Ints | None, sensitive_features: Any) -> Floats:
        return self._inner(X, sensitive_features)


def independence_weights(group: Ints, label: Ints, weight: Floats, n_groups: int) -> Floats:
    """P(group) P(label) / P(group, label), axes (group, label); 0 where there is nobody to weigh."""
    share = np.bincount(2 * group + label, weight, minlength=2 * n_groups).reshape(n_groups, 2) / weight.sum()
    expected = share.sum(1, keepdims=True) * share.sum(0)
    ratio: Floats = np.divide(expected, share, out=np.zeros_like(share), where=share > 0)
    return ratio
