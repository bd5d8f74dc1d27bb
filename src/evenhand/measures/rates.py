"""Rates of a decision: what share of which people. Every rate is one set of confusion cells over another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.cells import Floats
from evenhand.table import Counts

# A confusion cell is (decision, label): 1 is the favourable one.
TP, FP, FN, TN = (1, 1), (1, 0), (0, 1), (0, 0)
_ALL = (TP, FP, FN, TN)


@dataclass(frozen=True)
class Rate:
    """A share of people: those in `part` among those in `whole`."""

    id: str
    title: str
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
        Rate("base_rate", "base rate", (TP, FN), _ALL, _NOBODY),
        Rate("selection_rate", "selection rate", (TP, FP), _ALL, _NOBODY),
        Rate("tpr", "true positive rate", (TP,), (TP, FN), _NO_FAVOURABLE),
        Rate("fpr", "false positive rate", (FP,), (FP, TN), _NO_UNFAVOURABLE),
        Rate("tnr", "true negative rate", (TN,), (FP, TN), _NO_UNFAVOURABLE),
        Rate("fnr", "false negative rate", (FN,), (TP, FN), _NO_FAVOURABLE),
        Rate("ppv", "positive predictive value", (TP,), (TP, FP), _NONE_SELECTED),
        Rate("npv", "negative predictive value", (TN,), (TN, FN), _NONE_REJECTED),
        Rate("fdr", "false discovery rate", (FP,), (TP, FP), _NONE_SELECTED),
        Rate("for", "false omission rate", (FN,), (TN, FN), _NONE_REJECTED),
        Rate("accuracy", "accuracy", (TP, TN), _ALL, _NOBODY),
    )
}


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


def trials(counts: Counts, rate: str) -> Floats:
    """How many people a rate rests on; with sampling weights, Kish's effective number (Σw)²/Σw²."""
    whole = np.asarray(total(counts.array, RATES[rate].whole), np.float64)
    if counts.squares is None:
        return whole
    return whole * np.nan_to_num(ratio(whole, total(counts.squares, RATES[rate].whole)))


def jaccard(counts: Counts) -> tuple[Floats, Floats]:
    """TP / (TP + FP + FN) and its number of people; F1 = 2J / (1 + J) grows with it."""
    cells = (TP, FP, FN)
    whole = np.asarray(total(counts.array, cells), np.float64)
    n = whole if counts.squares is None else whole * np.nan_to_num(ratio(whole, total(counts.squares, cells)))
    return ratio(total(counts.array, (TP,)), whole), n
