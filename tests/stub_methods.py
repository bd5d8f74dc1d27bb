"""Methods that need nothing but scikit-learn, for tests of experiments; processes find them by import."""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

import numpy as np

FITS = "EVENHAND_TEST_FITS"
"""Names the file to which every fit adds a line."""


class Shrunk:
    """Moves scores towards 0.5, the more the stronger; with its seed it forgets some people."""

    needs_groups_to_predict = False

    def __init__(self, strength: float = 0.0, random_state: int = 0, slow: float = 0.0, c: float = 1.0) -> None:
        self.strength, self.random_state, self.slow, self.c = strength, random_state, slow, c

    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Shrunk:
        if os.environ.get(FITS):
            with open(os.environ[FITS], "a") as file:
                file.write(f"{self.strength} {self.random_state}\n")
        from sklearn.linear_model import LogisticRegression

        time.sleep(self.slow)
        kept = np.random.default_rng(self.random_state).random(len(y)) < 0.8
        self.model = LogisticRegression(C=self.c).fit(X[kept], y[kept])
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: Any, sensitive_features: Any = None) -> Any:
        return 0.5 + (self.model.predict_proba(X) - 0.5) * (1 - self.strength)


class ByGroup(Shrunk):
    """Needs to know the groups of those it scores."""

    needs_groups_to_predict = True

    def predict_proba(self, X: Any, sensitive_features: Any = None) -> Any:
        assert sensitive_features is not None
        return super().predict_proba(X)


class Dies(Shrunk):
    """Takes its process with it."""

    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Shrunk:
        if self.strength > 0:
            os._exit(9)
        return super().fit(X, y, sensitive_features=sensitive_features)


class Fails(Shrunk):
    """Cannot be stronger than 0."""

    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Shrunk:
        if self.strength > 0 and not os.environ.get("EVENHAND_TEST_REPAIRED"):
            raise ZeroDivisionError("nothing left")
        return super().fit(X, y, sensitive_features=sensitive_features)


class Quits(Shrunk):
    """Thinks it is a script."""

    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Shrunk:
        if self.strength > 0:
            raise SystemExit
        return super().fit(X, y, sensitive_features=sensitive_features)


class Chatty(Shrunk):
    """Prints and warns, with what no file can hold, and fails with it if it is strong."""

    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Shrunk:
        print("fitting", flush=True)
        os.system("echo from another process")
        warnings.warn("a name \udc80", stacklevel=1)
        if self.strength > 0:
            raise ValueError("half \ud800 of a pair\nand \x1b[31mred")
        return super().fit(X, y, sensitive_features=sensitive_features)


class Certain(Shrunk):
    """Rules everything out but one label."""

    def predict_proba(self, X: Any, sensitive_features: Any = None) -> Any:
        return np.tile([1.0, 0.0], (len(X), 1)) if self.random_state else super().predict_proba(X)


class OneThread(Shrunk):
    """Fails unless what it imports now would use one thread."""

    def fit(self, X: Any, y: Any, *, sensitive_features: Any, sample_weight: Any = None) -> Shrunk:
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"
        return super().fit(X, y, sensitive_features=sensitive_features)
