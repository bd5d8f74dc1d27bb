"""Metrics 1 to 5 of the ExFairness metric specification and its 80% rule: the printed code beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import evenhand
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.registry import MEASURES
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.tables.arrays import Bools

PEOPLE, THRESHOLD, TOLERANCE, BINS, FOUR_FIFTHS = 4000, 0.5, 0.1, 10, 0.8
EXACT = 1e-12
QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
Rows = dict[str, Any]


def people(setting: Setting) -> Rows:
    """People of two groups with scores, outcomes and decisions."""
    rng = np.random.default_rng(setting.seed)
    group = np.where(rng.random(PEOPLE) < 0.6, "a", "b")
    score = rng.beta(np.where(group == "a", 3.0, 2.0), 3).round(3)
    label = (rng.random(PEOPLE) < np.where(group == "a", score, 0.8 * score)).astype(int)
    return {"score": score, "label": label, "group": group, "decision": (score >= THRESHOLD).astype(int)}


def confused(**groups: tuple[int, int, int, int]) -> Rows:
    """People of groups with so many true positives, false positives, false negatives and true negatives."""
    kinds = ((1, 1), (1, 0), (0, 1), (0, 0))
    rows = [(d, y, g) for g, sizes in groups.items() for (d, y), n in zip(kinds, sizes, strict=True) for _ in range(n)]
    decision, label, group = zip(*rows, strict=True)
    return {"decision": decision, "label": label, "group": group}


def audited(rows: Mapping[str, Any], *ids: str, **options: Any) -> evenhand.Audit:
    """The audit of rows, whose second group is compared with the first."""
    columns = {"score": "score"} if "score" in rows and "decision" not in rows else {"prediction": "decision"}
    options = {**QUICK, **columns, **options}
    found = evenhand.audit(rows, label="label", group="group", reference="a", measures=list(ids), **options)
    assert isinstance(found, evenhand.Audit)
    return found


def measured(rows: Mapping[str, Any], *ids: str) -> dict[str, float]:
    found = audited(rows, *ids)
    return {id_: found.measure(id_).value for id_ in ids}


def decided(rows: Rows) -> Rows:
    return {name: rows[name] for name in ("decision", "label", "group")}


# ---- the printed code -----------------------------------------------------------------------------------------------


def positive_rate(decision: Any, mask: Bools) -> float:
    return float(np.asarray(decision)[mask].mean())


def rates(rows: Rows, among: str, is_: int, of: str) -> list[float]:
    """The share of 1 in column `of` among the people of each group whose column `among` is this."""
    return [positive_rate(rows[of], (rows["group"] == g) & (rows[among] == is_)) for g in "ab"]


def _against(row: str, by_code: float, id_: str, rows: Rows) -> tuple[Value, Value]:
    """The disparity by the printed code, and the default tolerance."""
    tolerance = Value(row, "tolerance", TOLERANCE, MEASURES[id_].tolerance)
    return Value(row, "disparity", by_code, measured(rows, id_)[id_], EXACT), tolerance


def demographic_parity(setting: Setting) -> Outcome:
    rows = decided(people(setting))
    a, b = (positive_rate(rows["decision"], rows["group"] == g) for g in "ab")
    drawn = {**rows, "decision": np.random.default_rng(setting.seed).integers(0, 2, PEOPLE)}
    perfect = {**rows, "decision": rows["label"]}
    random, fits = (measured(r, "demographic_parity")["demographic_parity"] for r in (drawn, perfect))
    base = abs(np.subtract(*(rows["label"][rows["group"] == g].mean() for g in "ab")))
    return Outcome(
        _against("demographic parity", abs(a - b), "demographic_parity", rows),
        (Claim("decisions drawn at random satisfy it", random <= TOLERANCE, f"{random:.3f}"),
         Claim("it ignores base rates: perfect decisions are as far apart as these", abs(fits - base) < EXACT,
               f"{fits:.3f}")),
    )  # fmt: skip


def equalized_odds(setting: Setting) -> Outcome:
    rows = decided(people(setting))
    tpr, fpr = rates(rows, "label", 1, "decision"), rates(rows, "label", 0, "decision")
    parts = {p.name: abs(p.difference) for p in audited(rows, "equalized_odds").measure("equalized_odds").parts}
    both = measured(confused(a=(40, 10, 10, 40), b=(16, 16, 4, 64)), "equalized_odds", "demographic_parity")
    return Outcome(
        (Value("equalized odds", "Δ TPR", abs(tpr[0] - tpr[1]), parts["tpr"], EXACT),
         Value("equalized odds", "Δ FPR", abs(fpr[0] - fpr[1]), parts["fpr"], EXACT),
         *_against("equalized odds", max(abs(tpr[0] - tpr[1]), abs(fpr[0] - fpr[1])), "equalized_odds", rows)),
        (Claim("where base rates differ, equal rates of errors mean unequal selection",
               both["equalized_odds"] < EXACT < both["demographic_parity"],
               f"selection differs by {both['demographic_parity']:.2f}"),),
        notes=("the printed formulas lack the bar of P(Ŷ=1 | Y=1, A=0); the printed code holds both gaps to the "
               "tolerance, which is to hold the larger to it",),
    )  # fmt: skip


def equal_opportunity(setting: Setting) -> Outcome:
    rows = decided(people(setting))
    tpr = rates(rows, "label", 1, "decision")
    open_ = measured(confused(a=(8, 8, 2, 2), b=(8, 1, 2, 9)), "equal_opportunity", "predictive_equality")
    return Outcome(
        _against("equal opportunity", abs(tpr[0] - tpr[1]), "equal_opportunity", rows),
        (Claim("it allows different false positive rates",
               open_["equal_opportunity"] < EXACT and open_["predictive_equality"] > 0.5,
               f"TPR alike, FPR {open_['predictive_equality']:.1f} apart"),),
    )  # fmt: skip


def predictive_parity(setting: Setting) -> Outcome:
    rows = decided(people(setting))
    ppv = rates(rows, "decision", 1, "label")
    open_ = measured(confused(a=(8, 2, 2, 8), b=(4, 1, 6, 9)), "predictive_parity", "demographic_parity")
    return Outcome(
        _against("predictive parity", abs(ppv[0] - ppv[1]), "predictive_parity", rows),
        (Claim("it allows different selection rates",
               open_["predictive_parity"] < EXACT and open_["demographic_parity"] > 0.2,
               f"PPV alike, selection {open_['demographic_parity']:.2f} apart"),),
    )  # fmt: skip


def calibration(setting: Setting) -> Outcome:
    """Bins by a loop over people: closed on the right, the first on both sides."""
    rows = people(setting)
    del rows["decision"]
    bins = [max(0, next(k for k in range(BINS) if s <= (k + 1) / BINS)) for s in rows["score"].tolist()]
    curves = [[float(rows["label"][(rows["group"] == g) & (np.array(bins) == b)].mean()) for b in range(BINS)]
              for g in "ab"]  # fmt: skip
    gap = audited(rows, "calibration_gap", score_range=(0, 1)).measure("calibration_gap")
    per_bin = [Value(p.name, "disparity", abs(x - y), abs(p.difference), EXACT)
               for p, x, y in zip(gap.parts, *curves, strict=True)]  # fmt: skip
    most = max(abs(x - y) for x, y in zip(*curves, strict=True))
    return Outcome(
        (*per_bin, Value("calibration", "largest disparity", most, gap.value, EXACT),
         Value("calibration", "bins", BINS, ScoreOptions().gap_bins),
         Value("calibration", "tolerance", TOLERANCE, gap.tolerance)),
        notes=("which end of a bin belongs to it is not printed: the right one, so that a score of 1 has a bin",
               "a bin that is empty for one group has no disparity: it is named and makes the interval reach up to 1"),
    )  # fmt: skip


def four_fifths(setting: Setting) -> Outcome:
    rows = decided(people(setting))
    a, b = (positive_rate(rows["decision"], rows["group"] == g) for g in "ab")
    sizes = {selected: audited(confused(a=(50, 0, 50, 0), b=(selected, 0, 100 - selected, 0)), "disparate_impact")
             for selected in (39, 40, 75)}  # fmt: skip
    judged = {selected: found.measure("disparate_impact").passes for selected, found in sizes.items()}
    return Outcome(
        (Value("disparate impact", "ratio", b / a, measured(rows, "disparate_impact")["disparate_impact"], EXACT),
         Value("disparate impact", "least ratio", FOUR_FIFTHS, MEASURES["disparate_impact"].tolerance)),
        (Claim("39 against 50 of a hundred breaks the rule, 40 keeps to it", (judged[39], judged[40]) == (False, True)),
         Claim("75 against 50 breaks it too: the other group is below four fifths", judged[75] is False)),
        notes=("the printed code passes any ratio above 0.8, also 1.5; ours holds the lower rate over the higher to it",
               "a reference of whom nobody is selected has no ratio: undefined, with the reason"),
    )  # fmt: skip
