"""A category that follows from its causes by Gumbel-max: a mechanism in the convention of gcm, which has none like it.

Every category has a utility, its log-probability given the causes, and each person adds noise of their own to every
one; the largest sum is what happens. The noise given what happened is drawn from the top down (Maddison, Tarlow & Minka
2014), and what it makes of other causes is monotone: making a category likelier never takes it from anybody (Oberst &
Sontag 2019).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from evenhand.tables.arrays import Floats, Ints

LEAST = 1e-12
"""Probabilities below it are taken for it, so that every utility is finite."""


class GumbelMax:
    """A category of `size`, by codes. `make` makes gcm's classifier, which learns the probabilities.

    `counts` says that people who are alike may be counted instead of repeated: it learns the same from them.
    """

    def __init__(self, size: int, make: Callable[[], Any], counts: bool = False) -> None:
        self.size, self.make, self.counts = size, make, counts
        self.classifier: Any = None
        self.classes: Ints = np.zeros(0, np.int64)

    def refit(self, causes: Floats, values: Ints) -> GumbelMax:
        """Fitted to others; where the same categories occur, starting from what was learnt before, which is faster."""
        new = GumbelMax(self.size, self.make, self.counts)
        new.classes = np.unique(values)
        if len(new.classes) > 1:
            same = self.classifier is not None and np.array_equal(new.classes, self.classes)
            new.classifier = deepcopy(self.classifier) if same else self.make()
            new._learn(causes, values)
        return new

    def _learn(self, causes: Floats, values: Ints) -> None:
        if self.counts:
            people, n = np.unique(np.column_stack([causes, values]), axis=0, return_counts=True)
            if 2 * len(n) <= len(values):
                self.classifier.sklearn_model.fit(people[:, :-1], people[:, -1].astype(np.int64), sample_weight=n)
                return
        self.classifier.fit(X=causes, Y=values)

    def utilities(self, causes: Floats) -> Floats:
        """The log-probability of every category."""
        p = np.full((len(causes), self.size), LEAST)
        p[:, self.classes] = 1.0 if self.classifier is None else self.classifier.predict_probabilities(causes)
        return np.asarray(np.log(np.maximum(p, LEAST)))

    def estimate_noise(self, values: Ints, causes: Floats, rng: np.random.Generator) -> Floats:
        """A draw of the noise of every category, given that this value came out."""
        utilities = self.utilities(causes)
        places = np.arange(len(values)), values
        free = utilities + rng.gumbel(size=utilities.shape)
        top = rng.gumbel(size=len(values)) + np.logaddexp.reduce(utilities, axis=1)
        below = -np.logaddexp(-top[:, None], -free)  # the others, none above the top
        below[places] = top
        return np.asarray(below - utilities)

    def chosen(self, here: Floats, away: Floats, weight: Floats, noise: Floats) -> Ints:
        """What comes out when utilities have gone so far from those of `here` to those of `away`."""
        utilities = self.utilities(here)
        if away is not here:
            utilities = utilities + weight[:, None] * (self.utilities(away) - utilities)
        return np.asarray((utilities + noise).argmax(axis=1))
