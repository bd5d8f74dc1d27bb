"""Items of Becker, Dumitrasc & Broelemann 2024: biases of scores, and what ROC curves tell of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import evenhand
from evenhand.published.item import Item, Outcome, Setting, Value

ROWS = {
    "equal_opportunity_standardized": "EO, standardised", "predictive_equality_standardized": "PE, standardised",
    "calibration_standardized": "calibration, standardised", "roc": "ROC", "xroc": "cross-ROC",
    "equal_opportunity_uniform": "EO, uniform", "predictive_equality_uniform": "PE, uniform",
    "calibration_uniform": "calibration, uniform",
}  # fmt: skip
"""The rows of Tables 1 to 3, by the measure."""


def biases(audit: Any, column: str, printed: dict[str, tuple[float, float]], roc: float = 0.0005) -> list[Value]:
    """The biases of an audit beside the printed total and share of its positive part.

    The paper interpolates ROC curves, here they are exact: `roc` is how far these may be apart.
    """
    values = []
    for id_, (total, positive) in printed.items():
        gap = audit.measure(id_)
        tolerance = roc if "roc" in id_ else 0.0005
        values.append(Value(ROWS[id_], column, total, gap.value, tolerance))
        values.append(Value(f"{ROWS[id_]}: positive part", column, positive, gap.positive_share, 0.01))
    return values


COMPAS = {
    "equal_opportunity_standardized": (0.161, 0.0), "predictive_equality_standardized": (0.154, 0.0),
    "calibration_standardized": (0.034, 0.79), "roc": (0.016, 0.46), "xroc": (0.273, 0.0),
    "equal_opportunity_uniform": (0.152, 0.0), "predictive_equality_uniform": (0.163, 0.0),
    "calibration_uniform": (0.037, 0.78),
}  # fmt: skip


def compas(setting: Setting, printed: dict[str, tuple[float, float]]) -> Outcome:
    """The COMPAS decile score: from the counts that come with Evenhand, so no file is needed."""
    audit = evenhand.audit(
        evenhand.compas(), reference="Caucasian", measures=list(printed), bootstrap=0, permutations=0
    )
    return Outcome(tuple(biases(audit, "COMPAS", printed)))


ITEMS = (
    Item("becker-table-1", "Table 1", "bias of the COMPAS score, African-American against Caucasian",
         "measures.score_bias", "evenhand demo", partial(compas, printed=COMPAS)),
    Item("becker-table-2", "Table 2", "bias of two models of German credit, women against men",
         "measures.score_bias", data=("german_logr_predictions.csv",), lacks="not there yet"),
)  # fmt: skip
