"""A fitted model → its scores; of a logistic regression, logits with their coefficients and features.

A logistic regression may be wrapped: at the end of a pipeline, found by a search, with a threshold of its own, frozen,
or calibrated by a sigmoid, which gives another logistic regression with coefficients as many times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.ingest.model_scores import scorer_of
from evenhand.ingest.values import label_key
from evenhand.tables.arrays import Floats

LARGEST = 1e100
"""Beyond this, numbers cannot be computed with."""
WRAPPERS = {
    "sklearn.BaseSearchCV": "best_estimator_", "sklearn.BaseThresholdClassifier": "estimator_",
    "sklearn.FrozenEstimator": "estimator",
}  # fmt: skip
"""What holds a classifier, and where."""
PIPELINE = "distances are in the features that the pipeline hands to its classifier, not in those of X"


@dataclass(frozen=True)
class Linear:
    """Logits of the favourable class, a linear function of features."""

    z: Floats
    beta: Floats
    """The coefficients, one for each column of the features; 0 for a constant."""
    features: Any
    """What the classifier is given: after the other steps of a pipeline."""
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    group: Any = None
    """Of each person, as it was given;"""
    label: Any = None
    """None if there is none."""

    @property
    def norm(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.linalg.norm(self.beta))

    def times(self, slope: float, intercept: float) -> Linear:
        """A linear function of these logits."""
        return replace(self, z=slope * self.z + intercept, beta=slope * self.beta)


@dataclass(frozen=True)
class Probabilities:
    """Those of the favourable class, by a model that is no logistic regression."""

    p: Floats
    notes: tuple[str, ...]


def scored_by(
    model: Any, X: Any, favorable: Any, trust: Sequence[str] = (), unsafe_pickle: bool = False
) -> Linear | Probabilities:
    """The scores of X, by a model or the path of one."""
    scorer = None
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        scorer = scorer_of(model, favorable=favorable, trust=trust, unsafe_pickle=unsafe_pickle)
        model = scorer.model
    found = _part(model, X)
    if found is not None:
        return _turned(*found, favorable)
    if not callable(getattr(model, "predict_proba", None)) and (not callable(model) or isinstance(model, type)):
        raise UsageError(
            f"from_model reads logistic regressions of scikit-learn (fitted, two classes) and of statsmodels (fitted "
            f"results), and models with predict_proba, not {shown(type(model).__name__)}: pass its probabilities as "
            "score= to projection_test, which measures in score space"
        )
    scorer = scorer or scorer_of(model, favorable=favorable)
    return Probabilities(
        scorer(X, len(X) if hasattr(X, "__len__") else X.shape[0], "these X"),
        (
            f"{scorer.name} gives probabilities, but no coefficients of a logistic regression, so that distances are "
            "in the logits of these probabilities (score space): the p-value is about them, and it is not said which "
            "features would have to change",
        ),
    )


def _turned(found: Linear, classes: Sequence[Any], favorable: Any) -> Linear:
    """With the favourable class up."""
    norm = found.norm
    if not np.isfinite(found.beta).all() or not (norm == 0 or 1 / LARGEST <= norm <= LARGEST):
        raise DataError(f"the coefficients of the model must be finite numbers, but their length is {norm:g}")
    keys = [label_key(c.item() if isinstance(c, np.generic) else c) for c in classes]
    wanted = label_key(favorable)
    if wanted not in keys:
        raise UsageError(
            f"favorable must be one of the two classes of the model ({listed(keys)}), not {shown(favorable)}: name the "
            "one that is good for the person, and code y as in the fit"
        )
    return found if wanted == keys[1] else found.times(-1.0, 0.0)


def _part(model: Any, X: Any, any_linear: bool = False) -> tuple[Linear, Sequence[Any]] | None:
    """The linear function in a model, and its classes; None if there is none. `any_linear` needs not be logistic."""
    kinds = _kinds(model)
    if "sklearn.Pipeline" in kinds:
        inner = X if len(model.steps) == 1 else _scored(lambda: model[:-1].transform(X))
        found = _part(model.steps[-1][1], inner, any_linear)
        if found is None:
            return None
        linear, classes = found
        return replace(linear, names=_handed_on(model, linear), notes=(PIPELINE,)), classes
    for kind, attribute in WRAPPERS.items():
        if kind in kinds:
            return _part(_fitted(model, attribute), X, any_linear)
    if "sklearn.CalibratedClassifierCV" in kinds:
        return _calibrated(_fitted(model, "calibrated_classifiers_"), X)
    if (
        "sklearn.LogisticRegression" in kinds
        or ("sklearn.SGDClassifier" in kinds and getattr(model, "loss", None) in ("log_loss", "log"))
        or (any_linear and hasattr(model, "coef_") and hasattr(model, "decision_function"))
    ):
        return _of_sklearn(model, X)
    return _of_statsmodels(model, X) if _is_statsmodels(model) else None


def _handed_on(pipeline: Any, found: Linear) -> tuple[str, ...]:
    """What a pipeline calls the features that it hands to its classifier; not all steps say so."""
    try:
        names = tuple(map(str, pipeline[:-1].get_feature_names_out()))
    except Exception:  # every step fails in its own way
        return found.names
    return names if len(names) == len(found.beta) else found.names


def _calibrated(calibrated: Any, X: Any) -> tuple[Linear, Sequence[Any]] | None:
    """A sigmoid over one linear function: 1 / (1 + exp(a·z + b))."""
    if len(calibrated) != 1 or calibrated[0].method != "sigmoid" or len(calibrated[0].calibrators) != 1:
        return None
    found, sigmoid = _part(calibrated[0].estimator, X, any_linear=True), calibrated[0].calibrators[0]
    return None if found is None else (found[0].times(-float(sigmoid.a_), -float(sigmoid.b_)), found[1])


def _kinds(thing: Any) -> set[str]:
    """Library and name of the classes of an object: asking by name imports no library."""
    return {f"{c.__module__.split('.')[0]}.{c.__name__}" for c in type(thing).__mro__}


def _fitted(model: Any, attribute: str) -> Any:
    if not hasattr(model, attribute):
        raise UsageError(f"the {type(model).__name__} is not fitted: fit it first")
    return getattr(model, attribute)


def _floats(values: Any, what: str) -> Floats:
    try:
        return np.asarray(values, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise DataError(f"the {what} of the model are no numbers") from None


def _of_sklearn(model: Any, X: Any) -> tuple[Linear, list[Any]]:
    coefficients, classes = _fitted(model, "coef_"), list(model.classes_)
    if len(classes) != 2:
        raise UsageError(f"the projection test is for two classes, but the model has {len(classes)}")
    beta = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients  # after .sparsify()
    return _linear(_scored(lambda: model.decision_function(X)), beta, X, model), classes


def _linear(z: Any, beta: Any, X: Any, model: Any = None) -> Linear:
    beta = _floats(beta, "coefficients")
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = getattr(X, "columns", None)
    named = [f"x{i}" for i in range(len(beta))] if names is None or len(names) != len(beta) else names
    return Linear(_floats(z, "logits"), beta, X, tuple(map(str, named)))


def _is_statsmodels(results: Any) -> bool:
    inner = getattr(results, "model", None)
    if inner is None or not hasattr(results, "params"):
        return False
    if "statsmodels.GLM" in _kinds(inner):
        family = inner.family
        # by its own name: statsmodels derives the other links from this one
        return "statsmodels.Binomial" in _kinds(family) and type(family.link).__name__.lower() == "logit"
    return "statsmodels.Logit" in _kinds(inner)


def _of_statsmodels(results: Any, X: Any) -> tuple[Linear, list[Any]]:
    inner = results.model
    if any(np.any(getattr(inner, name, None)) for name in ("offset", "exposure")):
        raise UsageError("a model with an offset or exposure is no function of its features alone: fit it without")
    beta = _floats(results.params, "coefficients").copy()
    constant = getattr(inner.data, "const_idx", None)
    if constant is not None:
        beta[int(constant)] = 0.0
    found = _linear(_scored(lambda: results.predict(X, which="linear")), beta, X)
    return replace(found, names=tuple(map(str, inner.exog_names))), [0, 1]


def _scored(score: Any) -> Any:
    try:
        return score()
    except Exception as error:  # every library fails in its own way
        first = (str(error) or type(error).__name__).strip().splitlines()[0][:200]
        raise DataError(f"the model cannot score these X: {first}") from error
