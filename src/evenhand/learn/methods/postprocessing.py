"""Post-processing: the scores of any classifier, changed group by group. Groups are needed to predict, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.errors import DataError
from evenhand.learn.methods.classifier import Floats, Ints, People, check_length, choice, same_alone, seeded
from evenhand.learn.methods.equalized_odds import Mixture, equalized_odds
from evenhand.learn.methods.wrapper import Wrapper

CRITERIA = ("demographic_parity", "equal_opportunity", "equalized_odds")


class GroupThresholds(Wrapper):
    """A threshold for each group, so that groups are selected alike (Hardt et al. 2016).

    With "demographic_parity" every group gets the threshold at which its share of selected people comes nearest to the
    share of everybody with a score of at least one half; with "equal_opportunity" the same among people with the
    favourable label. Thresholds go from one half to those of groups as strength goes from 0 to 1, and `predict_proba`
    bends the scores of each group so that its threshold comes to lie at one half.

    "equalized_odds" cannot be met by one threshold per group. Selection is random there, as Hardt et al. have it:
    `predict_proba` gives the probability of being selected, and `predict` draws with `random_state` (see there before
    you decide about people one by one). With a strength below 1 it is a mixture with the plain decision, whose gaps
    shrink in proportion.

    Parameters
    ----------
    estimator
        Whose scores. By default `MLP(random_state=random_state)`; a fitted one goes into scikit-learn's
        `FrozenEstimator`, so that thresholds can be chosen on people it has not seen.
    criterion
        "demographic_parity", "equal_opportunity" or "equalized_odds".
    strength
        Between 0, the plain classifier, and 1.
    """

    needs_groups_to_predict = True
    highest_strength = 1.0

    def __init__(
        self, estimator: Any = None, *, criterion: str = "demographic_parity", strength: float = 1.0,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(estimator, strength=strength, random_state=random_state)
        self.criterion = criterion

    def check_parameters(self) -> None:
        super().check_parameters()
        choice("criterion", self.criterion, CRITERIA)

    def _learn(self, people: People) -> None:
        self.criterion_ = self.criterion
        assert people.group is not None
        self._train(people, people.weight)
        score, weight = same_alone(self._inner(people.X, people.names(self.groups_))), people.weights
        if self.criterion == "equalized_odds":
            self.mixtures_: list[Mixture] = equalized_odds(score, people.label, people.group, weight, len(self.groups_))
            return
        counted = weight * people.label if self.criterion == "equal_opportunity" else weight
        target = np.average(score >= 0.5, weights=counted)
        fair = np.empty(len(self.groups_))
        for i, name in enumerate(self.groups_):
            own = (people.group == i) & (counted > 0)
            if not own.any():
                raise DataError(f"{self.criterion} is about people with the favourable label: group {name!r} has none")
            fair[i] = threshold_at(score[own], counted[own], target)
        self.thresholds_ = 0.5 + self.strength * (fair - 0.5)

    def _scores(self, X: Any, group: Ints | None, sensitive_features: Any) -> Floats:
        score = same_alone(self._inner(X, sensitive_features))
        assert group is not None
        if self.criterion_ != "equalized_odds":
            return _bent(score, self.thresholds_[group])
        if self.strength == 0:
            return score
        favourable = np.empty(len(score))
        for i, mixture in enumerate(self.mixtures_):
            favourable[group == i] = mixture(score[group == i])
        return (1 - self.strength) * (score >= 0.5) + self.strength * favourable

    def predict(self, X: Any, sensitive_features: Any = None) -> Any:
        """Decisions; for equalized odds they are drawn.

        If `random_state` is a number, each call draws the same: the first person of every call has the same luck. Odds
        are then equal among people of one call, not over many calls with one person each; give None for those.
        """
        probability = self.predict_proba(X, sensitive_features)[:, 1]
        if self.criterion_ != "equalized_odds" or self.strength == 0:
            return self.classes_[(probability >= 0.5).astype(np.int64)]
        drawn = seeded(self.random_state).uniform(size=len(probability))
        return self.classes_[(drawn < probability).astype(np.int64)]


class Barycentre(Wrapper):
    """Scores moved towards the Wasserstein barycentre of the groups' distributions: alike at every threshold.

    A score goes to the mean of groups' quantiles at its rank in its own group (Chzhen et al. 2020). People who share a
    score share a range of ranks and go to the mean over that range, so nothing is random and the mean of all scores
    stays as it is. Between scores that were seen the map is linear, beyond them it is constant.

    Parameters
    ----------
    estimator
        As of `GroupThresholds`.
    strength
        How far along the geodesic: 0 leaves scores as they are, at 1 all groups have one distribution.
    """

    needs_groups_to_predict = True
    highest_strength = 1.0

    def _learn(self, people: People) -> None:
        assert people.group is not None
        self._train(people, people.weight)
        score = same_alone(self._inner(people.X, people.names(self.groups_)))
        self.maps_ = barycentre_maps(score, people.group, people.weights, len(self.groups_))

    def _scores(self, X: Any, group: Ints | None, sensitive_features: Any) -> Floats:
        score = same_alone(self._inner(X, sensitive_features))
        check_length("sensitive_features", group, len(score))
        fair = np.empty(len(score))
        for i, (seen, moved) in enumerate(self.maps_):
            fair[group == i] = np.interp(score[group == i], seen, moved)
        return np.clip((1 - self.strength) * score + self.strength * fair, 0.0, 1.0)


def barycentre_maps(score: Floats, group: Ints, weight: Floats, n_groups: int) -> list[tuple[Floats, Floats]]:
    """Of each group its distinct scores and where they go at strength 1."""
    values, ranks, areas, shares = [], [], [], []
    for i in range(n_groups):
        own = (group == i) & (weight > 0)
        if not own.any():
            raise DataError(f"everybody of group number {i} has weight 0: leave that group out")
        seen, place = np.unique(score[own], return_inverse=True)
        mass = np.bincount(place, weight[own])
        rank = np.append(0.0, np.cumsum(mass / mass.sum()))
        rank[-1] = 1.0
        weighty = np.diff(rank) > 0  # the lightest among the heaviest have no rank of their own
        seen, rank = seen[weighty], np.append(0.0, rank[1:][weighty])
        values.append(seen)
        ranks.append(rank)
        areas.append(np.append(0.0, np.cumsum(seen * np.diff(rank))))  # ∫₀ᵘ Q, linear between ranks
        shares.append(mass.sum() / weight.sum())
    maps = []
    for seen, rank in zip(values, ranks, strict=True):
        area = sum(s * np.interp(rank, r, a) for s, r, a in zip(shares, ranks, areas, strict=True))
        moved = np.diff(area) / np.diff(rank)
        maps.append((seen, np.maximum.accumulate(moved)))  # it rises but for rounding
    return maps


def threshold_at(score: Floats, weight: Floats, rate: float) -> float:
    """The threshold with a selected share nearest to `rate`, midway between two scores."""
    seen, place = np.unique(score, return_inverse=True)
    mass = np.bincount(place, weight)
    selected = np.append(1.0, 1 - np.cumsum(mass) / mass.sum())  # at or above each score, and above all
    cut = int(np.argmin(np.abs(selected - rate)))
    ends = np.concatenate([[min(0.0, seen[0])], seen, [np.nextafter(1.0, 2.0)]])
    # nobody has a score in between; a score of 0 or 1 itself lies on its side of the end
    return float((ends[cut] + ends[cut + 1]) / 2) if ends[cut] < 1.0 else float(ends[-1])


def _bent(score: Floats, threshold: Floats) -> Floats:
    """Scores on two straight lines, so that the threshold becomes one half."""
    below = 0.5 * score / np.where(threshold > 0, threshold, 1.0)
    above = 1 - 0.5 * (1 - score) / np.where(threshold < 1, 1 - threshold, 1.0)
    plain = threshold == 0.5  # not a digit is changed
    return np.where(plain, score, np.where(score >= threshold, np.maximum(above, 0.5), np.minimum(below, _BELOW_HALF)))


_BELOW_HALF = float(np.nextafter(0.5, 0.0))
