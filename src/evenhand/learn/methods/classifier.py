"""What every method shares: people are checked once, and a score becomes probabilities and decisions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import (
    DataError,
    EvenhandError,
    MissingLibrary,
    UsageError,
    listed,
    nearest,
    number as real,
    shown,
)
from evenhand.ingest.values import encode

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.metrics import accuracy_score
    from sklearn.utils import _safe_indexing, check_random_state
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

    def names(self, groups: list[Any]) -> Any:
        """The group of each person, among these."""
        return np.array(groups, object)[self.group]


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
        """Learn from features, labels, the group of each person, and weights if there are any.

        People with a weight of 0 are left out. If it fails, the model stays what it was.
        """
        before = dict(vars(self))
        try:
            self.check_parameters()
            self._learn(self._people(X, y, sensitive_features, sample_weight))
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def predict_proba(self, X: Any, sensitive_features: Any = None) -> Floats:
        """Probabilities, people × classes, in the order of `classes_`."""
        check_is_fitted(self)
        number("strength", self.strength, 0, self.highest_strength)
        X = self._features(X)
        group = None
        if self.needs_groups_to_predict:
            group = self._places(sensitive_features, _num_samples(X), "predict")
        score = self._scores(X, group, sensitive_features)
        return np.stack([1 - score, score], axis=1)

    def predict(self, X: Any, sensitive_features: Any = None) -> NDArray[Any]:
        """The second class for people with a score of at least one half, as an audit counts them."""
        score = self.predict_proba(X, sensitive_features)[:, 1]
        return self.classes_[(score >= 0.5).astype(np.int64)]

    def score(self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None) -> float:
        """The share of right decisions. (Scorers of scikit-learn by name cannot pass groups on; this can.)"""
        return float(accuracy_score(y, self.predict(X, sensitive_features), sample_weight=sample_weight))

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense, whoever the people are; `fit` does so first."""
        number("strength", self.strength, 0, self.highest_strength)

    def _learn(self, people: People) -> None:
        raise NotImplementedError

    def _scores(self, X: Any, group: Ints | None, sensitive_features: Any) -> Floats:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # ---- what is refused ---------------------------------------------------------------------------------------------

    def _features(self, X: Any) -> Any:
        """Features as fitting saw them: a matrix of numbers, or left to the estimator inside."""
        if not self.reads_features:
            return X
        with refused_as_data():
            return validate_data(self, X, dtype=np.float32, reset=False)

    def _people(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> People:
        with refused_as_data():
            if y is None:
                raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None: pass labels")
            if self.reads_features:
                X, y = validate_data(self, X, y, dtype=np.float32)
            else:
                y = column_or_1d(y, warn=True)
            n = _num_samples(X)
            check_length("y", y, n)
            check_classification_targets(y)
        if n == 0:
            raise DataError("learning takes people, but X has 0 sample(s) (a minimum of 1 is required)")
        weight = weights(sample_weight, n)
        if weight is not None and not weight.all():
            there = np.flatnonzero(weight)
            X, y, weight = _safe_indexing(X, there), y[there], weight[there]
            if sensitive_features is not None:
                check_length("sensitive_features", sensitive_features, n)
                sensitive_features = as_column(sensitive_features)[there]
            n = len(there)
        if (kind := type_of_target(y)) == "multiclass":
            raise DataError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_, label = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(
                f"learning takes people of two classes, but all of y is one class, {listed(self.classes_.tolist())}"
            )
        group = self._places(sensitive_features, n, "fit") if self.needs_groups else None
        return People(X, y, label.astype(np.int64), group, weight)

    def _places(self, values: Any, n: int, step: str) -> Ints:
        """The place of each person's group in `groups_`, which fitting sets."""
        if values is None:
            raise UsageError(
                f"{type(self).__name__} needs everybody's group to {step}: pass sensitive_features, one per row of X"
            )
        values = as_column(values)
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


@contextmanager
def refused_as_data() -> Iterator[None]:
    """What scikit-learn refuses is refused as Evenhand does."""
    try:
        yield
    except EvenhandError:
        raise
    except ValueError as error:
        raise DataError(str(error)) from error


def seeded(random_state: Any) -> np.random.RandomState:
    """The generator that `random_state` stands for."""
    try:
        generator: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        raise UsageError(
            f"random_state is a whole number, a RandomState or None, but it is {shown(random_state)}"
        ) from None
    return generator


def as_column(values: Any) -> NDArray[Any]:
    """Groups as one array; of a list every member stays what it is, as numpy would make a text of a missing one."""
    column: NDArray[Any] = values if isinstance(values, np.ndarray) else np.asarray(values, object)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise DataError(
            f"sensitive_features is one column, but its shape is {column.shape}: join several into one, "
            "such as 'female, over 40'"
        )
    return column


def same_alone(score: Floats) -> Floats:
    """Scores without the digits that depend on who else is scored, so that no threshold falls between equal people."""
    return score.round(12)


def check_length(name: str, values: Any, n: int) -> None:
    """One value per person."""
    if len(values) != n:
        raise DataError(f"{name} has one value per row of X, but it has {len(values):,} and X has {n:,}")


def weights(values: Any, n: int) -> Floats | None:
    """Weights of people, checked."""
    if values is None:
        return None
    raw = np.asarray(values)
    try:
        if raw.dtype.kind == "c":
            raise TypeError
        weight = raw.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"weights are real numbers, but they are {shown(values)}") from None
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
    if (
        isinstance(value, bool)
        or not isinstance(value, kinds)
        or not (math.isfinite(real(value)) and low <= real(value) <= high)
    ):
        kind = "a whole number" if whole else "a number"
        until = f"from {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise UsageError(f"{name} is {kind} {until}, but it is {shown(value)}")
    return float(value)


def choice(name: str, value: object, values: Collection[str]) -> None:
    """A parameter that is one of several values."""
    if value not in values:
        raise UsageError(f"{name} is one of {listed(values)}, but it is {shown(value)}{nearest(value, values)}")


def _distinct(values: NDArray[Any]) -> tuple[list[Any], Ints]:
    """The groups in order, and the place of each person's own; a missing group is refused."""
    first, names = encode(values)
    missing = [i for i, name in enumerate(names) if _is_missing(name)]
    if missing:
        row = int(np.flatnonzero(np.isin(first, missing))[0])
        raise DataError(f"everybody belongs to a group, but row {row} of sensitive_features is {names[missing[0]]}")
    order = sorted(range(len(names)), key=lambda i: (type(names[i]).__name__, names[i]))
    return [names[i] for i in order], np.argsort(order)[first]


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT and the missing value of pandas, which is not even different from itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True
