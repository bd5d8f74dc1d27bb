"""A fitted logistic regression → its logits and the length of its coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.ingest.values import label_key
from evenhand.tables.arrays import Floats

LARGEST = 1e100
"""Beyond this, numbers cannot be computed with."""


@dataclass(frozen=True)
class Linear:
    """Logits of the favourable class, and the length of the coefficients."""

    z: Floats
    norm: float
    notes: tuple[str, ...] = ()


def linear_part(model: Any, X: Any, favorable: Any) -> Linear:
    notes: tuple[str, ...] = ()
    last = model
    while "sklearn.Pipeline" in _kinds(last):
        notes = ("distances are in the features that the pipeline hands to its classifier, not in those of X",)
        last = last.steps[-1][1]
    found = _kinds(last)
    if "sklearn.LogisticRegression" in found or (
        "sklearn.SGDClassifier" in found and getattr(last, "loss", None) in ("log_loss", "log")
    ):
        z, beta, classes = _of_sklearn(model, last, X)
    elif _is_statsmodels(last):
        z, beta = _of_statsmodels(last, X)
        classes = [0, 1]
    else:
        raise UsageError(
            f"from_model reads logistic regressions of scikit-learn (fitted, two classes) and of statsmodels (fitted "
            f"results), not {shown(type(last).__name__)}: pass its probabilities as score= to projection_test, which "
            "measures in score space"
        )
    z, beta = _floats(z, "logits"), _floats(beta, "coefficients")
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(beta))
    if not np.isfinite(beta).all() or not (norm == 0 or 1 / LARGEST <= norm <= LARGEST):
        raise DataError(f"the coefficients of the model must be finite numbers, but their length is {norm:g}")
    keys = [label_key(c.item() if isinstance(c, np.generic) else c) for c in classes]
    wanted = label_key(favorable)
    if wanted not in keys:
        raise UsageError(
            f"favorable must be one of the two classes of the model ({listed(keys)}), not {shown(favorable)}: name the "
            "one that is good for the person, and code y as in the fit"
        )
    return Linear(z if wanted == keys[1] else -z, norm, notes)


def _kinds(thing: Any) -> set[str]:
    """Library and name of the classes of an object: asking by name imports no library."""
    return {f"{c.__module__.split('.')[0]}.{c.__name__}" for c in type(thing).__mro__}


def _floats(values: Any, what: str) -> Floats:
    try:
        return np.asarray(values, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise DataError(f"the {what} of the model are no numbers") from None


def _of_sklearn(model: Any, last: Any, X: Any) -> tuple[Any, Any, list[Any]]:
    if not hasattr(last, "coef_"):
        raise UsageError(f"the {type(last).__name__} is not fitted: fit it first")
    classes = list(last.classes_)
    if len(classes) != 2:
        raise UsageError(f"the projection test is for two classes, but the model has {len(classes)}")
    beta = last.coef_.toarray() if hasattr(last.coef_, "toarray") else last.coef_  # after .sparsify()
    return _scored(lambda: model.decision_function(X)), beta, classes


def _is_statsmodels(results: Any) -> bool:
    inner = getattr(results, "model", None)
    if inner is None or not hasattr(results, "params"):
        return False
    if "statsmodels.GLM" in _kinds(inner):
        family = inner.family
        # by its own name: statsmodels derives the other links from this one
        return "statsmodels.Binomial" in _kinds(family) and type(family.link).__name__.lower() == "logit"
    return "statsmodels.Logit" in _kinds(inner)


def _of_statsmodels(results: Any, X: Any) -> tuple[Any, Any]:
    inner = results.model
    if any(np.any(getattr(inner, name, None)) for name in ("offset", "exposure")):
        raise UsageError("a model with an offset or exposure is no function of its features alone: fit it without")
    beta = _floats(results.params, "coefficients")
    constant = getattr(inner.data, "const_idx", None)
    if constant is not None:
        beta = np.delete(beta, int(constant))
    return _scored(lambda: results.predict(X, which="linear")), beta


def _scored(score: Any) -> Any:
    try:
        return score()
    except Exception as error:  # every library fails in its own way
        first = (str(error) or type(error).__name__).strip().splitlines()[0][:200]
        raise DataError(f"the model cannot score these X: {first}") from error
