"""A model as a function from people to scores, whatever it is made of; and what it returns, checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, nearest, shown, shown_name
from evenhand.ingest.values import decimals, name_of
from evenhand.tables.arrays import Floats

SAID = 400
"""So many characters of what a model says are kept in a message."""


@dataclass(frozen=True)
class Scorer:
    """Gives people scores. `how` says which method of the model is called."""

    model: Any
    name: str
    how: str
    favorable: Any = 1
    risk: bool = False

    @property
    def expects(self) -> list[str] | None:
        """The columns the model was fitted on, if it knows them."""
        names = getattr(self.model, "feature_names_in_", None)
        return None if names is None else [str(n) for n in names]

    @property
    def matrix(self) -> bool:
        """Whether the model was fitted on columns without names, so that it wants none."""
        return hasattr(self.model, "n_features_in_") and self.expects is None

    def __call__(self, rows: Any, count: int, where: str) -> Floats:
        """A score for each of so many rows; `where` says in a message which rows they are."""
        try:
            scores = self._raw(rows)
        except Exception as error:
            told = " ".join(str(error).split()) or "without a message"
            raise DataError(
                f"the model cannot score {where}; it says: {type(error).__name__}: {told[:SAID]}"
            ) from error
        return _checked(scores, count, where)

    def _raw(self, rows: Any) -> Any:
        if self.how == "call":
            return self.model(rows)
        answer = getattr(self.model, self.how)(rows)
        classes = getattr(self.model, "classes_", None)
        if classes is None:
            return answer
        favorable = _place(classes, self.favorable)
        if self.how == "predict_proba":
            good = np.asarray(answer)[:, favorable]
        else:
            name = name_of(self.favorable)
            good = np.array([name_of(v) == name for v in np.asarray(answer).ravel().tolist()], np.float64)
        return 1 - good if self.risk else good


def scorer_of(
    model: Any, *, favorable: Any = 1, risk: bool = False, trust: Sequence[str] = (), unsafe_pickle: bool = False
) -> Scorer:
    """A model with predict_proba or predict, a function of people, or the path of one."""
    name = type(model).__name__
    if isinstance(model, str | os.PathLike):
        from evenhand.ingest.model_files import load_model

        name = os.path.basename(os.fspath(model))
        model = load_model(model, trust=trust, unsafe_pickle=unsafe_pickle)
    elif hasattr(model, "__name__"):
        name = str(model.__name__)
    if isinstance(model, type):
        raise UsageError(f"{shown(name)} is a class, not a model: pass one that is fitted")
    for how in ("predict_proba", "predict"):
        if callable(getattr(model, how, None)):
            if how == "predict_proba" and getattr(model, "classes_", None) is not None:
                _place(model.classes_, favorable)
            return Scorer(model, shown_name(name), how, favorable, risk)
    if callable(model):
        return Scorer(model, shown_name(name), "call", favorable, risk)
    raise UsageError(
        "a model has predict_proba or predict, or is a function that takes people and returns scores, or a path or "
        f"'package.module:name' of one, but this is {shown(model)}"
    )


def _place(classes: Any, favorable: Any) -> int:
    names = [name_of(c) for c in np.asarray(classes).tolist()]
    wanted = name_of(favorable)
    if wanted not in names:
        raise UsageError(
            f"favorable (--favorable) must be a class of the model, which has {listed(np.asarray(classes).tolist())}, "
            f"not {shown(favorable)}{nearest(wanted, [n for n in names if n])}"
        )
    return names.index(wanted)


def _checked(returned: Any, count: int, where: str) -> Floats:
    rule = "a model must return one number for every person"
    try:
        scores = np.asarray(returned)
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        if scores.dtype.kind in "US" or (scores.dtype.kind == "O" and any(isinstance(s, str) for s in scores.ravel())):
            raise TypeError
        scores = np.asarray(decimals(scores)).astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{rule}, but for {where} it returned {shown(returned)}: name the value that is good for a person "
            "(favorable=) of a classifier, or pass a function that returns scores"
        ) from None
    if scores.shape != (count,):
        raise DataError(
            f"{rule}, but for {where}, {count:,} rows, it returned numbers of shape {scores.shape}: pass a function "
            "that returns the score you mean, e.g. lambda people: model.predict_proba(people)[:, 1]"
        )
    bad = ~np.isfinite(scores)
    if bad.any():
        raise DataError(f"{rule}, but for {where} {int(bad.sum()):,} of {count:,} are missing or infinite")
    return scores
