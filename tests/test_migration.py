"""Every name of other libraries has its equal on the page of migration, and the same value.

Fairlearn is asked itself; of the others, which are not installed here, the definitions are repeated as loops over rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from math import isclose, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.measures.registry import find

PAGE = (Path(__file__).parents[1] / "docs/reference/migration.md").read_text(encoding="utf-8")
QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
SELECTED = 0.5
WORDS = re.compile(r"\w+")


def people(groups: str, n: int = 400) -> dict[str, Any]:
    random = np.random.default_rng(7)
    g = np.array(list(groups))[random.integers(0, len(groups), n)]
    y = (random.random(n) < np.where(g == groups[0], 0.6, 0.45)).astype(int)
    s = np.clip(0.25 + 0.4 * y + 0.1 * (g == groups[0]) + random.normal(0, 0.25, n), 0, 1).round(2)
    return {"y": y, "s": s, "d": (s >= SELECTED).astype(int), "g": g}


PEOPLE = people("ab")


class Ours:
    """What an audit says of group b against group a."""

    def __init__(self, data: dict[str, Any], **columns: str) -> None:
        self.audit = evenhand.audit(data, group="g", reference="a", **columns, **QUICK)
        self.groups = {g.name: g for g in self.audit.attributes[0].groups}

    def signed(self, id_: str) -> float:
        found = self.audit.measure(id_, "b").signed
        assert found is not None
        return float(found)

    def value(self, id_: str) -> float:
        return float(self.audit.measure(id_, "b").value)

    def rate(self, name: str, group: str) -> float:
        return float(self.groups[group].rates[name].value)

    def n(self, group: str) -> int:
        return int(self.groups[group].n)

    def ratio(self, name: str) -> float:
        return self.rate(name, "b") / self.rate(name, "a")


DECIDED = Ours(PEOPLE, prediction="d", label="y")
LABELS = Ours(PEOPLE, prediction="y")
"""The outcome audited as if it were the decision: what the data hold before any model."""


class Loop:
    """The people of one group (or of all), counted one by one."""

    def __init__(self, group: str | None, data: dict[str, Any] = PEOPLE) -> None:
        self.n = self.tp = self.fp = self.fn = self.tn = 0
        self.positive_scores, self.negative_scores = 0.0, 0.0
        for y, s, d, g in zip(data["y"], data["s"], data["d"], data["g"], strict=True):
            if group in (None, g):
                self.n += 1
                self.tp += y == 1 and d == 1
                self.fp += y == 0 and d == 1
                self.fn += y == 1 and d == 0
                self.tn += y == 0 and d == 0
                self.positive_scores += s if y == 1 else 0.0
                self.negative_scores += s if y == 0 else 0.0
        self.p, self.q = self.tp + self.fn, self.fp + self.tn
        self.tpr, self.fpr, self.fnr, self.tnr = self.tp / self.p, self.fp / self.q, self.fn / self.p, self.tn / self.q
        self.pp, self.pn = self.tp + self.fp, self.fn + self.tn
        self.ppv, self.fdr = self.tp / self.pp, self.fp / self.pp
        self.npv, self.omission = self.tn / self.pn, self.fn / self.pn
        self.selection, self.base = self.pp / self.n, self.p / self.n
        self.accuracy, self.error = (self.tp + self.tn) / self.n, (self.fp + self.fn) / self.n
        self.gtpr, self.gfpr = self.positive_scores / self.p, self.negative_scores / self.q


A, B, ALL = Loop("a"), Loop("b"), Loop(None)


def section(name: str) -> str:
    return PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]


def check_named(where: str, names: Any) -> None:
    text = section(where)
    assert [name for name in names if not re.search(rf"`{re.escape(name)}[`(]", text)] == []


def check_equal(pairs: dict[str, tuple[float, float]]) -> None:
    assert {name: (a, b) for name, (a, b) in pairs.items() if not isclose(a, b, rel_tol=1e-10, abs_tol=1e-12)} == {}


# ---- SageMaker Clarify ---------------------------------------------------------------------------------------------


def divergence(p: float, q: float) -> float:
    return p * log(p / q) + (1 - p) * log((1 - p) / (1 - q))


def entropy(wrong: float, over: float) -> float:
    """The generalised entropy index with α = 2, from the shares of false negatives and of false positives."""
    mean = 1 + over - wrong
    return ((1 - over - wrong + 4 * over) / mean**2 - 1) / 2


def shares(o: Ours, groups: str = "ab") -> tuple[float, float]:
    """Shares of everybody who are false negatives, and false positives."""
    n = sum(o.n(g) for g in groups)
    wrong = sum(o.n(g) * o.rate("base_rate", g) * o.rate("fnr", g) for g in groups)
    over = sum(o.n(g) * (1 - o.rate("base_rate", g)) * o.rate("fpr", g) for g in groups)
    return wrong / n, over / n


def benefits() -> list[int]:
    return [1 + int(d) - int(y) for d, y in zip(PEOPLE["d"], PEOPLE["y"], strict=True)]


def index(benefit: list[float] | list[int], alpha: int) -> float:
    mean = sum(benefit) / len(benefit)
    if alpha == 1:
        return sum(b / mean * log(b / mean) for b in benefit if b > 0) / len(benefit)
    return sum((b / mean) ** alpha - 1 for b in benefit) / (len(benefit) * alpha * (alpha - 1))


def clarify() -> dict[str, tuple[float, float]]:
    o, base = DECIDED, {g: LABELS.rate("selection_rate", g) for g in "ab"}
    middle = (base["a"] + base["b"]) / 2
    distributions = [(side.p / side.n, side.q / side.n) for side in (A, B)]
    moved = [abs(x - y) for x, y in zip(*distributions, strict=True)]
    blend = [(x + y) / 2 for x, y in zip(*distributions, strict=True)]

    def kl(p: Any, q: Any) -> float:
        return sum(x * log(x / y) for x, y in zip(p, q, strict=True))

    def conditional(rate: str, other: Callable[[float], float] = lambda r: r) -> dict[str, float]:
        return {g: other(o.rate("base_rate", g)) / other(o.rate(rate, g)) for g in "ab"}

    accepted = conditional("selection_rate")
    rejected = conditional("selection_rate", lambda r: 1 - r)
    errors = {
        g: o.rate("fnr", g) * o.rate("base_rate", g) / (o.rate("fpr", g) * (1 - o.rate("base_rate", g))) for g in "ab"
    }
    return {
        "CI": ((LABELS.n("a") - LABELS.n("b")) / (LABELS.n("a") + LABELS.n("b")), (A.n - B.n) / (A.n + B.n)),
        "DPL": (-LABELS.signed("demographic_parity"), A.base - B.base),
        "KL": (divergence(base["a"], base["b"]), kl(*distributions)),
        "JS": (
            (divergence(base["a"], middle) + divergence(base["b"], middle)) / 2,
            (kl(distributions[0], blend) + kl(distributions[1], blend)) / 2,
        ),
        "LP": (sqrt(2) * LABELS.value("demographic_parity"), sqrt(sum(m**2 for m in moved))),
        "TVD": (LABELS.value("demographic_parity"), sum(moved) / 2),
        "KS": (LABELS.value("demographic_parity"), max(moved)),
        "DPPL": (-o.signed("demographic_parity"), A.selection - B.selection),
        "DI": (o.value("disparate_impact"), B.selection / A.selection),
        "DCAcc": (accepted["a"] - accepted["b"], A.p / A.pp - B.p / B.pp),
        "DCR": (rejected["b"] - rejected["a"], B.q / B.pn - A.q / A.pn),
        "RD": (-o.signed("equal_opportunity"), A.tpr - B.tpr),
        "DAR": (-o.signed("predictive_parity"), A.ppv - B.ppv),
        "DRR": (o.signed("negative_predictive_parity"), B.npv - A.npv),
        "SD": (-o.signed("predictive_equality"), B.tnr - A.tnr),
        "AD": (-o.signed("accuracy_parity"), A.accuracy - B.accuracy),
        "TE": (errors["b"] - errors["a"], B.fn / B.fp - A.fn / A.fp),
        "GE": (entropy(*shares(o)), index(benefits(), 2)),
    }


CLARIFY = WORDS.findall("CI DPL KL JS LP TVD KS CDDL DPPL DI DCAcc DCR RD AR DAR DRR SD AD TE CDDPL FT GE")


def test_clarify() -> None:
    check_named("SageMaker Clarify", CLARIFY)
    check_equal(clarify())
    assert set(CLARIFY) - set(clarify()) == {"CDDL", "CDDPL", "FT", "AR"}  # strata, another test, and an old name


# ---- Fairlearn -----------------------------------------------------------------------------------------------------

MANY = people("abc", 900)
RATE_OF = {
    "true_positive_rate": "tpr", "true_negative_rate": "tnr", "false_positive_rate": "fpr",
    "false_negative_rate": "fnr", "selection_rate": "selection_rate", "accuracy_score": "accuracy",
}  # fmt: skip
GAP_OF = {
    "true_positive_rate_difference": "equal_opportunity", "false_negative_rate_difference": "equal_opportunity",
    "false_positive_rate_difference": "predictive_equality", "true_negative_rate_difference": "predictive_equality",
    "selection_rate_difference": "demographic_parity", "demographic_parity_difference": "demographic_parity",
    "selection_rate_ratio": "disparate_impact", "demographic_parity_ratio": "disparate_impact",
    "equal_opportunity_difference": "equal_opportunity", "equalized_odds_difference": "equalized_odds",
    "accuracy_score_difference": "accuracy_parity", "zero_one_loss_difference": "accuracy_parity",
}  # fmt: skip
LEAST_OF = {
    "accuracy_score_group_min": "accuracy", "balanced_accuracy_score_group_min": "balanced_accuracy",
    "f1_score_group_min": "f1", "precision_score_group_min": "ppv", "recall_score_group_min": "tpr",
}  # fmt: skip


def fairlearn_values() -> dict[str, tuple[float, float]]:
    peer = pytest.importorskip("fairlearn.metrics")
    words = {"sensitive_features": MANY["g"]}
    there: tuple[Any, Any] = MANY["y"], MANY["d"]
    o = Ours(MANY, prediction="d", label="y")
    rates = {rate: {g: o.rate(rate, g) for g in "abc"} for rate in ("accuracy", *o.groups["a"].rates)}
    pairs: dict[str, tuple[float, float]] = {}

    def lowest_over_highest(values: dict[str, float]) -> float:
        return min(values.values()) / max(values.values())

    for name, id_ in GAP_OF.items():
        ours = getattr(evenhand.metrics, id_)(*there, **words, **QUICK)
        pairs[name] = (float(ours), getattr(peer, name)(*there, **words))
    for name, rate in LEAST_OF.items():
        pairs[name] = (min(rates[rate].values()), getattr(peer, name)(*there, **words))
    for name, rate in RATE_OF.items():
        ratio = getattr(peer, f"{name}_ratio")(*there, **words)
        pairs[f"{name}_ratio"] = (lowest_over_highest(rates[rate]), ratio)
        if name == "accuracy_score":
            continue
        frame = peer.MetricFrame(metrics=getattr(peer, name), y_true=there[0], y_pred=there[1], **words)
        pairs |= {f"{name} of {g}": (rates[rate][g], frame.by_group[g]) for g in "abc"}
        pairs["MetricFrame"] = (max(rates[rate].values()) - min(rates[rate].values()), frame.difference())
    wrong = {g: 1 - v for g, v in rates["accuracy"].items()}
    both = [lowest_over_highest(rates[rate]) for rate in ("tpr", "fpr")]
    counts = peer.MetricFrame(metrics=peer.count, y_true=there[0], y_pred=there[1], **words).by_group
    means = evenhand.metrics.delta_dp_c(MANY["y"], MANY["s"], **words, **QUICK).by_group
    scores = peer.MetricFrame(metrics=peer.mean_prediction, y_true=MANY["y"], y_pred=MANY["s"], **words).by_group
    areas = evenhand.metrics.auroc_difference(MANY["y"], MANY["s"], **words, **QUICK).by_group
    return pairs | {
        "zero_one_loss_group_max": (max(wrong.values()), peer.zero_one_loss_group_max(*there, **words)),
        "zero_one_loss_ratio": (lowest_over_highest(wrong), peer.zero_one_loss_ratio(*there, **words)),
        "equal_opportunity_ratio": (both[0], peer.equal_opportunity_ratio(*there, **words)),
        "equalized_odds_ratio": (min(both), peer.equalized_odds_ratio(*there, **words)),
        "count": (o.n("b"), counts["b"]),
        "mean_prediction": (means["c"].values["mean_score"].value, scores["c"]),
        "roc_auc_score_group_min": (
            min(g.values["auroc"].value for g in areas.values()),
            peer.roc_auc_score_group_min(MANY["y"], MANY["s"], **words),
        ),
    }


NOT_OF_FAIRLEARN = {
    "log_loss_group_max", "mean_absolute_error_group_max", "mean_squared_error_group_max", "r2_score_group_min",
    "make_derived_metric", "plot_model_comparison", "plot_roc_curve_by_group",
}  # fmt: skip


def test_fairlearn() -> None:
    peer = pytest.importorskip("fairlearn.metrics")
    check_named("Fairlearn", peer.__all__)
    pairs = fairlearn_values()
    check_equal(pairs)
    assert set(peer.__all__) - {name.split(" of ")[0] for name in pairs} == NOT_OF_FAIRLEARN


# ---- AIF360 --------------------------------------------------------------------------------------------------------


def between(o: Ours, alpha: int) -> float:
    """Between groups: everybody has the mean benefit of the own group."""
    n = {g: o.n(g) for g in "ab"}
    benefit = {g: 1 + o.rate("selection_rate", g) - o.rate("base_rate", g) for g in "ab"}
    mean = sum(n[g] * benefit[g] for g in "ab") / sum(n.values())
    if alpha == 1:
        return sum(n[g] * benefit[g] / mean * log(benefit[g] / mean) for g in "ab") / sum(n.values())
    return sum(n[g] * ((benefit[g] / mean) ** 2 - 1) for g in "ab") / sum(n.values()) / 2


def theil(o: Ours) -> float:
    wrong, over = shares(o)
    mean = 1 + over - wrong
    right = 1 - over - wrong
    return (right * log(1 / mean) + 2 * over * log(2 / mean)) / mean


def edf(rates: dict[str, float], n: dict[str, int]) -> float:
    """Of rates of groups, smoothed by one person who is half selected."""
    smooth = {g: (n[g] * rates[g] + 0.5) / (n[g] + 1) for g in n}
    a, b = smooth["a"], smooth["b"]
    return max(abs(log(a / b)), abs(log((1 - a) / (1 - b))))


def aif360() -> dict[str, tuple[float, float]]:
    o = DECIDED
    signed = {id_: o.signed(id_) for id_ in ("equal_opportunity", "predictive_equality", "predictive_parity",
              "negative_predictive_parity", "accuracy_parity", "demographic_parity")}  # fmt: skip
    odds = signed["equal_opportunity"], signed["predictive_equality"]
    counts = {"num_instances": o.n("b"), "num_positives": o.n("b") * o.rate("base_rate", "b")}
    scored = evenhand.metrics.auroc_difference(PEOPLE["y"], PEOPLE["s"], sensitive_features=PEOPLE["g"], **QUICK)
    means = {
        g: {k: scored.by_group[g].values[f"mean_score_of_actual_{k}"].value for k in ("positives", "negatives")}
        for g in "ab"
    }
    n, rates = {g: o.n(g) for g in "ab"}, {r: {g: o.rate(r, g) for g in "ab"} for r in ("selection_rate", "base_rate")}
    flat = [1 + (A if g == "a" else B).selection - (A if g == "a" else B).base for g in PEOPLE["g"]]

    def loops_edf(what: str) -> float:
        p = {k: (getattr(side, what) + 0.5) / (side.n + 1) for k, side in (("a", A), ("b", B))}
        return max(max(abs(log(p[i]) - log(p[j])), abs(log(1 - p[i]) - log(1 - p[j]))) for i, j in product("ab", "ab"))

    pairs: dict[str, tuple[float, float]] = {
        "statistical_parity_difference": (signed["demographic_parity"], B.selection - A.selection),
        "mean_difference": (LABELS.signed("demographic_parity"), B.base - A.base),
        "disparate_impact": (o.value("disparate_impact"), B.selection / A.selection),
        "true_positive_rate_difference": (odds[0], B.tpr - A.tpr),
        "equal_opportunity_difference": (odds[0], B.tpr - A.tpr),
        "false_positive_rate_difference": (odds[1], B.fpr - A.fpr),
        "false_negative_rate_difference": (-odds[0], B.fnr - A.fnr),
        "false_omission_rate_difference": (-signed["negative_predictive_parity"], B.omission - A.omission),
        "false_discovery_rate_difference": (-signed["predictive_parity"], B.fdr - A.fdr),
        "error_rate_difference": (-signed["accuracy_parity"], B.error - A.error),
        "false_positive_rate_ratio": (o.ratio("fpr"), B.fpr / A.fpr),
        "false_negative_rate_ratio": (o.ratio("fnr"), B.fnr / A.fnr),
        "false_omission_rate_ratio": (o.ratio("for"), B.omission / A.omission),
        "false_discovery_rate_ratio": (o.ratio("fdr"), B.fdr / A.fdr),
        "error_rate_ratio": ((1 - o.rate("accuracy", "b")) / (1 - o.rate("accuracy", "a")), B.error / A.error),
        "average_odds_difference": (sum(odds) / 2, ((B.fpr - A.fpr) + (B.tpr - A.tpr)) / 2),
        "average_abs_odds_difference": (
            sum(map(abs, odds)) / 2, (abs(B.fpr - A.fpr) + abs(B.tpr - A.tpr)) / 2),
        "average_predictive_value_difference": (
            (signed["predictive_parity"] - signed["negative_predictive_parity"]) / 2,
            ((B.ppv - A.ppv) + (B.omission - A.omission)) / 2),
        "equalized_odds_difference": (o.value("equalized_odds"), max(abs(B.fpr - A.fpr), abs(B.tpr - A.tpr))),
        "generalized_equalized_odds_difference": (
            max(abs(means["b"][k] - means["a"][k]) for k in ("positives", "negatives")),
            max(abs(B.gtpr - A.gtpr), abs(B.gfpr - A.gfpr))),
        "generalized_true_positive_rate": (means["b"]["positives"], B.gtpr),
        "generalized_false_positive_rate": (means["b"]["negatives"], B.gfpr),
        "generalized_false_negative_rate": (1 - means["b"]["positives"], 1 - B.gtpr),
        "generalized_true_negative_rate": (1 - means["b"]["negatives"], 1 - B.gfpr),
        "num_generalized_true_positives": (means["b"]["positives"] * counts["num_positives"], B.positive_scores),
        "generalized_entropy_index": (entropy(*shares(o)), index(benefits(), 2)),
        "theil_index": (theil(o), index(benefits(), 1)),
        "coefficient_of_variation": (sqrt(2 * entropy(*shares(o))), sqrt(2 * index(benefits(), 2))),
        "between_group_generalized_entropy_index": (between(o, 2), index(flat, 2)),
        "between_group_theil_index": (between(o, 1), index(flat, 1)),
        "between_group_coefficient_of_variation": (sqrt(2 * between(o, 2)), sqrt(2 * index(flat, 2))),
        "smoothed_empirical_differential_fairness": (edf(rates["base_rate"], n), loops_edf("p")),
        "differential_fairness_bias_amplification": (
            edf(rates["selection_rate"], n) - edf(rates["base_rate"], n), loops_edf("pp") - loops_edf("p")),
        "num_instances": (counts["num_instances"], B.n),
        "num_positives": (counts["num_positives"], B.p),
        "num_negatives": (counts["num_instances"] - counts["num_positives"], B.q),
        "num_true_positives": (counts["num_positives"] * o.rate("tpr", "b"), B.tp),
        "num_false_negatives": (counts["num_positives"] * o.rate("fnr", "b"), B.fn),
        "num_false_positives": ((o.n("b") - counts["num_positives"]) * o.rate("fpr", "b"), B.fp),
        "num_true_negatives": ((o.n("b") - counts["num_positives"]) * o.rate("tnr", "b"), B.tn),
        "num_pred_positives": (o.n("b") * o.rate("selection_rate", "b"), B.pp),
        "num_pred_negatives": (o.n("b") * (1 - o.rate("selection_rate", "b")), B.pn),
        "error_rate": (1 - o.rate("accuracy", "b"), B.error),
    }  # fmt: skip
    plain = {
        "true_positive_rate": "tpr", "false_positive_rate": "fpr", "false_negative_rate": "fnr",
        "true_negative_rate": "tnr", "positive_predictive_value": "ppv", "false_discovery_rate": "fdr",
        "negative_predictive_value": "npv", "accuracy": "accuracy",
    }  # fmt: skip
    pairs |= {name: (o.rate(rate, "b"), getattr(B, rate)) for name, rate in plain.items()}
    return pairs | {
        "false_omission_rate": (o.rate("for", "b"), B.omission),
        "selection_rate": (o.rate("selection_rate", "b"), B.selection),
        "base_rate": (o.rate("base_rate", "b"), B.base),
    }


AIF360 = WORDS.findall("""
accuracy average_abs_odds_difference average_odds_difference average_predictive_value_difference base_rate
between_all_groups_coefficient_of_variation between_all_groups_generalized_entropy_index
between_all_groups_theil_index between_group_coefficient_of_variation between_group_generalized_entropy_index
between_group_theil_index binary_confusion_matrix coefficient_of_variation consistency difference
differential_fairness_bias_amplification disparate_impact equal_opportunity_difference equalized_odds_difference
error_rate error_rate_difference error_rate_ratio false_discovery_rate false_discovery_rate_difference
false_discovery_rate_ratio false_negative_rate false_negative_rate_difference false_negative_rate_ratio
false_omission_rate false_omission_rate_difference false_omission_rate_ratio false_positive_rate
false_positive_rate_difference false_positive_rate_ratio generalized_binary_confusion_matrix generalized_entropy_index
generalized_equalized_odds_difference generalized_false_negative_rate generalized_false_positive_rate
generalized_true_negative_rate generalized_true_positive_rate mean_difference negative_predictive_value
num_false_negatives num_false_positives num_generalized_false_negatives num_generalized_false_positives
num_generalized_true_negatives num_generalized_true_positives num_instances num_negatives num_positives
num_pred_negatives num_pred_positives num_true_negatives num_true_positives performance_measures
positive_predictive_value power precision ratio recall rich_subgroup selection_rate sensitivity
smoothed_empirical_differential_fairness specificity statistical_parity_difference theil_index true_negative_rate
true_positive_rate true_positive_rate_difference
""")
"""Public methods of ClassificationMetric and BinaryLabelDatasetMetric, version 0.6.1."""


def test_aif360() -> None:
    check_named("AIF360", AIF360)
    check_equal(aif360())
    others = set(AIF360) - set(aif360())
    assert not {name for name in others if name.endswith(("_difference", "_rate", "_ratio"))}


# ---- Aequitas ------------------------------------------------------------------------------------------------------

AEQUITAS_RATES = {
    "pprev": ("selection_rate", "selection"), "precision": ("ppv", "ppv"), "fdr": ("fdr", "fdr"),
    "for": ("for", "omission"), "fpr": ("fpr", "fpr"), "fnr": ("fnr", "fnr"), "tpr": ("tpr", "tpr"),
    "tnr": ("tnr", "tnr"), "npv": ("npv", "npv"), "prev": ("base_rate", "base"), "accuracy": ("accuracy", "accuracy"),
}  # fmt: skip
AEQUITAS_COUNTS = WORDS.findall("k pp pn tp fp fn tn group_label_pos group_label_neg group_size total_entities")
NO_DISPARITY = ("prev", "accuracy")
PARITIES = ("Statistical", "Impact", "FDR", "FPR", "FOR", "FNR", "TPR", "TNR", "NPV", "Precision", "TypeI", "TypeII")


def aequitas() -> dict[str, tuple[float, float]]:
    o = DECIDED
    selected = {g: o.n(g) * o.rate("selection_rate", g) for g in "ab"}
    pairs = {
        "ppr": (selected["b"] / sum(selected.values()), B.pp / ALL.pp),
        "ppr_disparity": (selected["b"] / selected["a"], (B.pp / ALL.pp) / (A.pp / ALL.pp)),
        "group_size": (o.n("b"), B.n),
        "pp": (selected["b"], B.pp),
    }
    for name, (rate, own) in AEQUITAS_RATES.items():
        pairs[name] = (o.rate(rate, "b"), getattr(B, own))
        if name not in NO_DISPARITY:
            pairs[f"{name}_disparity"] = (o.ratio(rate), getattr(B, own) / getattr(A, own))
    return pairs | {"impact": (o.value("disparate_impact"), pairs["pprev_disparity"][1])}


def test_aequitas() -> None:
    check_named("Aequitas", [*AEQUITAS_COUNTS, *(name for name in aequitas() if name != "impact")])
    check_named("Aequitas", [f"{name} Parity" for name in PARITIES])
    for name in ("Equalized Odds", "Unsupervised Fairness", "Supervised Fairness", "Overall Fairness"):
        assert f"`{name}`" in section("Aequitas")
    check_equal(aequitas())


def test_rates_and_signed_measures_of_the_page_exist() -> None:
    for id_ in re.findall(r"`([a-z_]+)`, signed", PAGE):
        assert find(id_) is not None, id_
    for rate in re.findall(r"`rates\.([a-z_0-9]+)`", PAGE):
        assert rate in DECIDED.groups["a"].rates, rate
