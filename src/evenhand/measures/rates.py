"""Rates of a decision: what share of which people. Every rate is one set of confusion cells over another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.dense import Counts, Units

# A confusion cell is (decision, label): 1 is the favourable one.
TP, FP, FN, TN = (1, 1), (1, 0), (0, 1), (0, 0)
_ALL = (TP, FP, FN, TN)

FEW = 5
"""So many people's worth of doubt about what the people on one side of a share weigh."""


@dataclass(frozen=True)
class Rate:
    """A share of people: those in `part` among those in `whole`."""

    id: str
    title: str
    short: str
    """The title at the head of a column."""
    part: tuple[tuple[int, int], ...]
    whole: tuple[tuple[int, int], ...]
    empty: str
    """Why there is no such rate when `whole` is empty."""

    @property
    def needs_label(self) -> bool:
        return self.id != "selection_rate"


_NO_FAVOURABLE = "has no row with the favourable label"
_NO_UNFAVOURABLE = "has no row with the unfavourable label"
_NONE_SELECTED = "has nobody with the favourable decision"
_NONE_REJECTED = "has nobody with the unfavourable decision"
_NOBODY = "has no rows"

RATES = {
    r.id: r
    for r in (
        Rate("base_rate", "base rate", "base rate", (TP, FN), _ALL, _NOBODY),
        Rate("selection_rate", "selection rate", "selected", (TP, FP), _ALL, _NOBODY),
        Rate("tpr", "true positive rate", "TPR", (TP,), (TP, FN), _NO_FAVOURABLE),
        Rate("fpr", "false positive rate", "FPR", (FP,), (FP, TN), _NO_UNFAVOURABLE),
        Rate("tnr", "true negative rate", "TNR", (TN,), (FP, TN), _NO_UNFAVOURABLE),
        Rate("fnr", "false negative rate", "FNR", (FN,), (TP, FN), _NO_FAVOURABLE),
        Rate("ppv", "positive predictive value", "PPV", (TP,), (TP, FP), _NONE_SELECTED),
        Rate("npv", "negative predictive value", "NPV", (TN,), (TN, FN), _NONE_REJECTED),
        Rate("fdr", "false discovery rate", "FDR", (FP,), (TP, FP), _NONE_SELECTED),
        Rate("for", "false omission rate", "FOR", (FN,), (TN, FN), _NONE_REJECTED),
        Rate("accuracy", "accuracy", "accuracy", (TP, TN), _ALL, _NOBODY),
    )
}
MAIN_RATES = ("base_rate", "selection_rate", "tpr", "fpr", "ppv", "npv", "accuracy")
"""What tables of groups show, in this order."""


def total(decisions: NDArray[Any], cells: tuple[tuple[int, int], ...]) -> NDArray[Any]:
    """People of each group in some confusion cells, from counts (…, decision, group, label)."""
    if decisions.shape[-1] == 1:  # without labels the two cells of a decision are one
        chosen = sorted({decision for decision, _ in cells})
        return np.asarray(decisions[..., chosen, :, :].sum((-3, -1)))
    return np.asarray(sum(decisions[..., d, :, y] for d, y in cells))


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """part / whole, NaN where the whole is nothing."""
    whole = np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


def share(counts: Counts, rate: str) -> Floats:
    """A rate of every group, axes (…, group).

    >>> import numpy as np
    >>> decisions = np.array([[[3, 1], [4, 4]], [[1, 5], [0, 2]]])  # decision × group × label
    >>> share(Counts(decisions, ("a", "b")), "tpr").round(3).tolist()
    [0.833, 0.333]
    """
    r = RATES[rate]
    return ratio(total(counts.array, r.part), total(counts.array, r.whole))


def effective(part: NDArray[Any], whole: NDArray[Any], part2: NDArray[Any], whole2: NDArray[Any]) -> Floats:
    """How many equally weighted people would know a weighted share p as well.

    The variance of p is Σw²(y − p)²/(Σw)² (linearised), and n people have p(1 − p)/n; at 0 and 1, where that says
    nothing, Kish's (Σw)²/Σw². `part2` and `whole2` are sums of squared weights.
    """
    p, whole = ratio(part, whole), np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (part2 * (1 - p) ** 2 + (whole2 - part2) * p**2) / whole**2
        kish = np.where(whole > 0, whole**2 / np.where(whole2 > 0, whole2, 1), 0.0)
        known = (p > 0) & (p < 1) & (variance > 0)
        # of few people on one side the variance is hardly known: it is drawn to Kish's, unless it is larger
        sides = [
            np.where(w2 > 0, w**2 / np.where(w2 > 0, w2, 1), 0.0)
            for w, w2 in ((np.asarray(part, np.float64), part2), (whole - part, whole2 - part2))
        ]
        few = np.minimum(*sides)
        plain = p * (1 - p) / kish
        variance = np.maximum(variance, (few * variance + FEW * plain) / (few + FEW))
        return np.where(known, p * (1 - p) / variance, kish)


def effective_units(units: Units, kind: Ints, part: Bools, p: Floats, whole: Floats) -> Floats:
    """How many independent people would know shares as well as these clusters do, by kind of entry.

    The variance of a share p is Σ over clusters of (Σ w(y − p))², over (Σw)², and no less than rows on their own would
    have. Of k clusters it is known with k − 1 degrees of freedom, which Student's quantile makes up for, but not beyond
    what k people would know.
    """
    from scipy.special import ndtri, stdtrit

    away = units.mass * (part - np.nan_to_num(p)[kind])
    clusters, rows = (
        np.where(whole > 0, whole**2 / np.maximum(squares, 1e-300), 0.0)
        for squares in (
            units.squares(kind, len(p), units.mass),
            np.bincount(kind[kind >= 0], weights=units.mass[kind >= 0] ** 2 / units.rows[kind >= 0], minlength=len(p)),
        )
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        free = np.maximum(clusters - 1, 0.5)
        seen = units.squares(kind, len(p), away) / whole**2 * clusters / free
        people = np.minimum(p * (1 - p) / seen, rows)
        doubted = np.maximum(people * (ndtri(0.975) / stdtrit(free, 0.975)) ** 2, clusters)
        return np.where((p > 0) & (p < 1), np.minimum(people, doubted), clusters)


def trials(counts: Counts, rate: str) -> Floats:
    """How many people a rate rests on; with sampling weights, the effective number."""
    return _people(counts, RATES[rate].part, RATES[rate].whole)


def _people(counts: Counts, part: tuple[tuple[int, int], ...], whole: tuple[tuple[int, int], ...]) -> Floats:
    people = np.asarray(total(counts.array, whole), np.float64)
    if counts.units is not None:
        labels = counts.array.shape[-1]
        decision, group, label = np.unravel_index(counts.units.place, counts.array.shape)
        chosen = [np.zeros((2, labels), np.bool_) for _ in (part, whole)]
        for mask, cells in zip(chosen, (part, whole), strict=True):
            for d, y in cells:
                mask[d, min(y, labels - 1)] = True
        kind = np.where(chosen[1][decision, label], group, -1)
        p = ratio(total(counts.array, part), people)
        return effective_units(counts.units, kind, chosen[0][decision, label], p, people)
    if counts.squares is None:
        return people
    return effective(total(counts.array, part), people, total(counts.squares, part), total(counts.squares, whole))


def jaccard(counts: Counts) -> tuple[Floats, Floats]:
    """TP / (TP + FP + FN) and the people it rests on; F1 = 2J / (1 + J) grows with it."""
    part, whole = (TP,), (TP, FP, FN)
    return ratio(total(counts.array, part), total(counts.array, whole)), _people(counts, part, whole)
