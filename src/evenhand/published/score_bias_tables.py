"""Tables 1 to 3, C1 and C2 of Becker et al. 2024 as printed, and ours beside them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import evenhand
from evenhand.measures.roc import ACROSS, WITHIN
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.published.score_bias_code import first_bin_lighter, interpolated_area
from evenhand.tables.scores import ScoreView

ROWS = {
    "equal_opportunity_standardized": "EO, standardised", "predictive_equality_standardized": "PE, standardised",
    "calibration_standardized": "calibration, standardised", "roc": "ROC", "xroc": "cross-ROC",
    "equal_opportunity_uniform": "EO, uniform", "predictive_equality_uniform": "PE, uniform",
    "calibration_uniform": "calibration, uniform",
}  # fmt: skip
"""The rows of the tables, by the measure."""
Printed = dict[str, tuple[float, float]]
"""Total and share of its positive part, by the measure."""
Values = dict[str, float]


def _table(totals: str, shares: str) -> Printed:
    """Rows of totals and of positive parts in percent."""
    pairs = zip(totals.split(), shares.split(), strict=True)
    return {id_: (float(total), float(share) / 100) for id_, (total, share) in zip(ROWS, pairs, strict=True)}


COMPAS = _table("0.161 0.154 0.034 0.016 0.273 0.152 0.163 0.037", "0 0 79 46 0 0 0 78")
GERMAN = {
    "LogR": _table("0.083 0.092 0.291 0.044 0.133 0.041 0.078 0.246", "1 0 46 98 0 3 1 40"),
    "LogR (debiased)": _table("0.048 0.025 0.299 0.050 0.057 0.036 0.024 0.225", "93 62 58 98 93 97 74 75"),
}
ADULT = {
    "LogR": _table("0.107 0.164 0.052 0.050 0.205 0.161 0.118 0.105", "0 0 22 98 0 0 0 20"),
    "LogR (debiased)": _table("0.069 0.121 0.045 0.051 0.151 0.104 0.098 0.102", "0 0 55 98 0 0 0 50"),
    "XGB": _table("0.057 0.143 0.050 0.033 0.129 0.087 0.101 0.138", "1 0 52 98 0 0 0 62"),
}
# p-values; 0 where "<0.01" is printed
COMPAS_P = dict(zip(ROWS, (0, 0, 0.30, 0.31, 0, 0, 0, 0.23), strict=True))
GERMAN_P = {
    "LogR": dict(zip(ROWS, (0.04, 0.09, 0.35, 0.80, 0.02, 0.13, 0.10, 0.57), strict=True)),
    "LogR (debiased)": dict(zip(ROWS, (0.32, 0.99, 0.26, 0.69, 0.54, 0.23, 0.98, 0.84), strict=True)),
}
EVERY, MAIN, FIRST = tuple(ROWS), tuple(ROWS)[:5], tuple(ROWS)[:3]
"""The rows of Tables C1, C2 and 3, of Table 1 and of Table 2."""
DIGITS = 0.0005, 0.01
"""Half of the last printed digit of a total, and what shares are rounded to."""
INTERPOLATED = 0.003, 0.015
"""How far the published interpolation may be from an exact area, and from its share."""
PERMUTATIONS = 1000
"""As published, with rows permuted over all people."""


def audited(people: dict[str, Any], permutations: int = 0) -> evenhand.Audit:
    """The eight biases, tested as the paper does it."""
    audit = evenhand.audit(**people, measures=list(ROWS), bootstrap=0, permutations=permutations, null="published")
    assert isinstance(audit, evenhand.Audit)
    return audit


def rows_of(audit: evenhand.Audit, column: str, printed: Printed, within: Printed) -> list[Value]:
    """The biases beside the printed totals and shares; `within` has other tolerances.

    ROC areas and uniform calibration stand there twice: as defined, and as the published code finds them.
    """
    a = audit.attributes[0]
    compared = next(g.name for g in a.groups if g.name != a.reference)
    grouping = audit.table.grouping(a.name)
    pair = ScoreView(audit.table, grouping)([grouping.groups.index(name) for name in (compared, a.reference)])
    code = {
        "roc": partial(interpolated_area, pair, WITHIN), "xroc": partial(interpolated_area, pair, ACROSS),
        "calibration_uniform": partial(first_bin_lighter, pair),
    }  # fmt: skip
    values = []
    for id_, of in printed.items():
        gap = audit.measure(id_)
        near = within.get(id_, INTERPOLATED if "roc" in id_ else DIGITS)
        values += _pair(ROWS[id_], column, of, (gap.value, getattr(gap, "positive_share", None)), near)
        if id_ in code:
            values += _pair(f"{ROWS[id_]}, as the published code", column, of, code[id_](), within.get(id_, DIGITS))
    return values


def _pair(
    row: str, column: str, printed: tuple[float, float], found: tuple[float, float | None], within: tuple[float, float]
) -> list[Value]:
    share = np.nan if found[1] is None else found[1]
    return [Value(row, column, printed[0], found[0], within[0]),
            Value(f"{row}: positive part", column, printed[1], share, within[1])]  # fmt: skip


def _p_values(audit: evenhand.Audit, column: str, printed: Values) -> tuple[list[Value], list[Claim]]:
    """p-values, three standard errors of two times 1 000 permutations apart at most."""
    values, claims = [], []
    for id_, p in printed.items():
        found = audit.measure(id_).p_value
        assert found is not None
        if p == 0:
            claims.append(Claim(f"{ROWS[id_]}: p < 0.01 ({column})", found < 0.01, f"{found:.3g}"))
        else:
            error = np.sqrt(2 * p * (1 - p) / PERMUTATIONS)
            values.append(Value(f"{ROWS[id_]}: p-value", column, p, found, float(3 * error + 0.005)))
    return values, claims


def compas(setting: Setting, rows: tuple[str, ...]) -> Outcome:
    """The COMPAS decile score: from the counts that come with Evenhand, so no file is needed."""
    audit = audited({"data": evenhand.compas(), "reference": "Caucasian", "rng": setting.seed}, PERMUTATIONS)
    values, claims = _p_values(audit, "COMPAS", {id_: COMPAS_P[id_] for id_ in rows})
    values = [*rows_of(audit, "COMPAS", {id_: COMPAS[id_] for id_ in rows}, {}), *values]
    note = "the text says violent recidivism; the data are two_year_recid of 7 214 people, 6 150 of these in the groups"
    return Outcome(tuple(values), tuple(claims), notes=(note,))


def german(setting: Setting, rows: tuple[str, ...]) -> Outcome:
    """Two logistic regressions of German credit, by the predictions of the published models."""
    values, claims = [], []
    for score, column in (("logr", "LogR"), ("logr_debiased", "LogR (debiased)")):
        audit = audited({
            "data": setting.file("german_logr_predictions.csv"), "score": score, "label": "label", "favorable": "good",
            "group": "sex", "reference": "male", "score_range": (0, 1), "rng": setting.seed,
        }, PERMUTATIONS)  # fmt: skip
        tested, held = _p_values(audit, column, {id_: GERMAN_P[column][id_] for id_ in rows})
        values += [*rows_of(audit, column, {id_: GERMAN[column][id_] for id_ in rows}, {}), *tested]
        claims += held
    notes = ("ROC areas are exact; the published code interpolates, which gives the printed digits",) * ("roc" in rows)
    return Outcome(tuple(values), tuple(claims), notes=notes)
