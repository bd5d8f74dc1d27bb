"""What every method shares: people are checked once, and a score becomes probabilities and decisions."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import DataError, MissingLibrary, UsageError, listed, nearest, shown

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise MissingLibrary("methods follow scikit-learn (1.6 or newer): pip install 'evenhand[learn]'") from error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class People:
    """Whom a method learns from."""

    X: Any
    """Features: float32, people × features; as given for a method that leaves them to another estimator."""
    y: NDArray[Any]
    """Labels as given."""
    label: Ints
    """1 for the second of `classes_`, the favourable outcome, else 0."""
    group: Ints | None
    """Places in `groups_`."""
    weight: Floats | None

    @property
    def weights(self) -> Floats:
        """Weights, 1 where none were given."""
        return np.ones(len(self.label)) if self.weight is None else self.weight


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier of two classes, the second of them favourable, that may look at groups while it learns.

    A method says how to `_learn` from people and how to give `_scores` (the probability of the favourable class).
    """

    needs_groups: ClassVar[bool] = True
    needs_groups_to_predict: ClassVar[bool] = False
    reads_features: ClassVar[bool] = True
    """Whether X is a matrix of numbers that this method uses itself."""
    highest_strength: ClassVar[float] = math.inf

    strength: float
    classes_: NDArray[Any]
    groups_: list[Any]

    def fit(self, X: Any, y: Any, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Learn from features, labels, the group of each person, and weights if there are any."""
        number("strength", self.strength, 0, self.highest_strength)
        self._learn(self._people(X, y, sensitive_features, sample_weight))
        return self

    def predict_proba(self, X: Any, sensitive_features: Any = None) -> Floats:
        """Probabilities, people × classes, in the order of `classes_`."""
        check_is_fitted(self)
        if self.reads_features:
            X = validate_data(self, X, dtype=np.float32, reset=False)
        group = None
        if self.needs_groups_to_predict:
            group = self._places(sensitive_features, _num_samples(X), "predict")
        score = self._scores(X, group, sensitive_features)
        return np.stack([1 - score, score], axis=1)

    def predict(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """The second class for people with a score of at least one half, as an audit counts them."""
        score = self.predict_proba(X, sensitive_features)[:, 1]
        return self.classes_[(score >= 0.5).astype(np.int64)]

    def _learn(self, people: People) -> None:
        raise NotImplementedError

    def _scores(self, X: Any, group: Ints | None, sensitive_features: Any) -> Floats:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # ---- what is refused ---------------------------------------------------------------------------------------------

    def _people(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> People:
        if self.reads_features:
            X, y = validate_data(self, X, y, dtype=np.float32)
        elif y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None: pass labels")
        else:
            y = column_or_1d(y, warn=True)
        n = _num_samples(X)
        check_length("y", y, n)
        check_classification_targets(y)
        if n == 0:
            raise DataError("learning takes people, but X has 0 sample(s) (a minimum of 1 is required)")
        if (kind := type_of_target(y)) == "multiclass":
            raise DataError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_, label = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"learning takes people of two classes, but all of y is one class, {listed(self.classes_.tolist())}"
            )
        group = None
        if self.needs_groups:
            group = self._places(sensitive_features, n, "fit")
        return People(X, y, label.astype(np.int64), group, weights(sample_weight, n))

    def _places(self, values: Any, n: int, step: str) -> Ints:
        """The place of each person's group in `groups_`, which fitting sets."""
        if values is None:
            raise UsageError(
                f"{type(self).__name__} needs everybody's group to {step}: pass sensitive_features, one per row of X"
            )
        values = np.asarray(values)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise DataError(
                f"sensitive_features is one column, but its shape is {values.shape}: join several into one, "
                "such as 'female, over 40'"
            )
        check_length("sensitive_features", values, n)
        distinct, place = _distinct(values)
        if step == "fit":
            if len(distinct) < 2:
                raise DataError(f"it takes two groups to compare, but everybody is in {listed(distinct)}")
            self.groups_ = distinct
        known = {group: i for i, group in enumerate(self.groups_)}
        for group in distinct:
            if group not in known:
                close = nearest(group, [g for g in known if isinstance(g, str)]) if isinstance(group, str) else ""
                raise DataError(
                    f"group {shown(group)} was not there when {type(self).__name__} learned "
                    f"(there were: {listed(known)}){close}"
                )
        return np.array([known[group] for group in distinct], np.int64)[place]


def check_length(name: str, values: Any, n: int) -> None:
    """One value per person."""
    if len(values) != n:
        raise DataError(f"{name} has one value per row of X, but it has {len(values):,} and X has {n:,}")


def weights(values: Any, n: int) -> Floats | None:
    """Weights of people, checked."""
    if values is None:
        return None
    weight = np.asarray(values, np.float64)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, but their shape is {weight.shape}")
    check_length("sample_weight", weight, n)
    bad = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if len(bad):
        raise DataError(f"weights are finite and not negative, but row {bad[0]} has {weight[bad[0]]:g}")
    if not weight.any():
        raise DataError("somebody has to count, but every weight is zero")
    return weight


def number(name: str, value: object, low: float, high: float = math.inf, whole: bool = False) -> float:
    """A parameter that is a number between two others."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not (math.isfinite(value) and low <= value <= high):
        kind = "a whole number" if whole else "a number"
        until = f"from {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise UsageError(f"{name} is {kind} {until}, but it is {shown(value)}")
    return float(value)


def choice(name: str, value: object, values: Collection[str]) -> None:
    """A parameter that is one of several words."""
    if value not in values:
        raise UsageError(f"{name} is one of {listed(values)}, but it is {shown(value)}{nearest(str(value), values)}")


def _distinct(values: NDArray[Any]) -> tuple[list[Any], Ints]:
    """The groups in order, and the place of each person's own; a missing group is refused."""
    if values.dtype.kind == "O":  # numpy cannot sort a mixture
        found = {value: i for i, value in enumerate(dict.fromkeys(values.tolist()))}
        first = np.array([found[value] for value in values.tolist()], np.int64)
        names = list(found)
    else:
        unique, first = np.unique(values, return_inverse=True)
        names = unique.tolist()
    missing = [i for i, name in enumerate(names) if name is None or name != name]
    if missing:
        row = int(np.flatnonzero(np.isin(first, missing))[0])
        raise DataError(f"everybody belongs to a group, but row {row} of sensitive_features is {names[missing[0]]}")
    order = sorted(range(len(names)), key=lambda i: (type(names[i]).__name__, names[i]))
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return [names[i] for i in order], place[first]
