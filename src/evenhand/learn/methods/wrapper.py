"""Methods around any classifier: they change its weights or its scores."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.learn.methods.classifier import Classifier, Floats, People


class Wrapper(Classifier):
    """A method around another estimator, which reads the features; the fitted one is `estimator_`."""

    reads_features = False

    def __init__(self, estimator: Any = None, *, strength: float = 1.0, random_state: Any = None) -> None:
        self.estimator = estimator
        self.strength = strength
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        if isinstance(self.estimator, type) or not (self.estimator is None or hasattr(self.estimator, "fit")):
            raise UsageError(
                f"estimator is a classifier, such as LogisticRegression(), or None, but it is {shown(self.estimator)}"
            )
        if isinstance(self.estimator, Classifier):
            self.estimator.check_parameters()

    def _train(self, people: People, weight: Floats | None) -> None:
        """Fit a copy of the estimator."""
        if self.estimator is None:
            from evenhand.learn.methods.methods import MLP  # where the registry is, which knows this class

            self.estimator_ = MLP(random_state=self.random_state)
        else:
            self.estimator_ = clone(self.estimator)
        if not hasattr(self.estimator_, "predict_proba"):
            raise UsageError(f"{type(self).__name__} needs scores, but {self.estimator_} has no predict_proba")
        more: dict[str, Any] = {}
        prefix, last = _last(self.estimator_)
        if weight is not None and not isinstance(last, FrozenEstimator):
            if not _takes(last, "fit", "sample_weight"):
                raise UsageError(f"{type(last).__name__} cannot weigh people: its fit takes no sample_weight")
            more[f"{prefix}sample_weight"] = weight
        if _takes(last, "fit", "sensitive_features"):
            more[f"{prefix}sensitive_features"] = people.names(self.groups_)
        with config_context(enable_metadata_routing=False):  # what belongs to whom is known here
            self.estimator_.fit(people.X, people.y, **more)
        known = list(getattr(self.estimator_, "classes_", self.classes_))
        if known != list(self.classes_):
            raise DataError(
                f"the estimator inside knows classes {listed(known)}, but y has {listed(self.classes_.tolist())}"
            )
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def _inner(self, X: Any, sensitive_features: Any) -> Floats:
        """Scores of the estimator inside."""
        more = {}
        last = _last(self.estimator_)[1]
        while isinstance(last, FrozenEstimator):
            last = _last(last.estimator)[1]
        if sensitive_features is not None and _takes(last, "predict_proba", "sensitive_features"):
            more["sensitive_features"] = sensitive_features
        with config_context(enable_metadata_routing=False):
            score = np.asarray(self.estimator_.predict_proba(X, **more)[:, 1], np.float64)
        bad = ~((score >= -1e-9) & (score <= 1 + 1e-9))
        if bad.any():
            raise DataError(
                f"scores are probabilities, but the estimator inside gives {score[bad][0]:g} ({int(bad.sum()):,} such "
                "rows): train it on features of one scale, or with a lower learning rate"
            )
        return np.clip(score, 0.0, 1.0)


def _last(estimator: Any) -> tuple[str, Any]:
    """What learns, at the end of pipelines, and the prefix of its parameters there."""
    prefix = ""
    while isinstance(estimator, Pipeline):
        step, estimator = estimator.steps[-1]
        prefix += f"{step}__"
    return prefix, estimator


def _takes(estimator: Any, step: str, name: str) -> bool:
    return name in signature(getattr(estimator, step)).parameters
