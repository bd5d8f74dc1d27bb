"""Values against scikit-learn, Fairlearn, statsmodels and published figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import people
from evenhand.analyses.audit.audit import Audit
from evenhand.inference import interval
from evenhand.measures.registry import MEASURES

sklearn = pytest.importorskip("sklearn.metrics")
fairlearn = pytest.importorskip("fairlearn.metrics")
proportion = pytest.importorskip("statsmodels.stats.proportion")


def audited(columns: dict[str, np.ndarray], **words: Any) -> Audit:
    return evenhand.audit(
        columns, **{"score": "s", "label": "y", "group": "g", "bootstrap": 0, "permutations": 0, **words}
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("seed", range(3))
def test_rates_equal_scikit_learn(seed: int, weight: str | None) -> None:
    columns = people(700, groups=4, seed=seed)
    for group in audited(columns, weight=weight).attributes[0].groups:
        mine = {rate: e.value for rate, e in group.rates.items()}
        rows = columns["g"] == group.name
        y, d = columns["y"][rows], (columns["s"][rows] >= 0.5).astype(int)
        w = columns["w"][rows] if weight else None
        (tn, fp), (fn, tp) = sklearn.confusion_matrix(y, d, sample_weight=w)
        expected = {
            "base_rate": (tp + fn) / (tp + fn + fp + tn),
            "selection_rate": np.average(d, weights=w),
            "tpr": sklearn.recall_score(y, d, sample_weight=w),
            "tnr": sklearn.recall_score(y, d, pos_label=0, sample_weight=w),
            "fpr": fp / (fp + tn),
            "fnr": fn / (fn + tp),
            "ppv": sklearn.precision_score(y, d, sample_weight=w),
            "npv": sklearn.precision_score(y, d, pos_label=0, sample_weight=w),
            "fdr": fp / (fp + tp),
            "for": fn / (fn + tn),
            "accuracy": sklearn.accuracy_score(y, d, sample_weight=w),
            "balanced_accuracy": sklearn.balanced_accuracy_score(y, d, sample_weight=w),
            "f1": sklearn.f1_score(y, d, sample_weight=w),
        }
        assert group.n == rows.sum()
        for rate, value in expected.items():
            assert mine[rate] == pytest.approx(value, abs=1e-12), rate


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("seed", range(3))
def test_largest_gaps_equal_fairlearn(seed: int, weight: str | None) -> None:
    columns = people(700, groups=4, seed=seed)
    found = {g.id: g for g in audited(columns, weight=weight).attributes[0].largest}
    y, d = columns["y"], (columns["s"] >= 0.5).astype(int)
    words = {"sensitive_features": columns["g"], "sample_weight": columns["w"] if weight else None}
    expected = {
        "demographic_parity": fairlearn.demographic_parity_difference(y, d, **words),
        "disparate_impact": fairlearn.demographic_parity_ratio(y, d, **words),
        "equalized_odds": fairlearn.equalized_odds_difference(y, d, **words),
        "equal_opportunity": fairlearn.equal_opportunity_difference(y, d, **words),
    }
    params = {"sample_params": {"sample_weight": columns["w"]}} if weight else {}
    for id_, metric in (
        ("predictive_equality", fairlearn.false_positive_rate),
        ("predictive_parity", sklearn.precision_score),
        ("accuracy_parity", sklearn.accuracy_score),
    ):
        frame = fairlearn.MetricFrame(metrics=metric, y_true=y, y_pred=d, sensitive_features=columns["g"], **params)
        expected[id_] = frame.difference()
    for id_, value in expected.items():
        assert found[id_].value == pytest.approx(value, abs=1e-12), id_


def test_metric_functions_equal_fairlearn_for_two_groups() -> None:
    columns = people(500, groups=2, seed=5)
    y, d, g = columns["y"], (columns["s"] >= 0.5).astype(int), columns["g"]
    for mine, theirs in (
        (evenhand.metrics.demographic_parity, fairlearn.demographic_parity_difference),
        (evenhand.metrics.equalized_odds, fairlearn.equalized_odds_difference),
        (evenhand.metrics.equal_opportunity, fairlearn.equal_opportunity_difference),
    ):
        expected = theirs(y, d, sensitive_features=g)
        assert float(mine(y, d, sensitive_features=g)) == pytest.approx(expected, abs=1e-12)
        assert float(mine(y, columns["s"], sensitive_features=g)) == pytest.approx(expected, abs=1e-12)
    low, high = sorted([d[g == "g0"].mean(), d[g == "g1"].mean()])
    ratio = float(evenhand.metrics.disparate_impact(None, d, sensitive_features=g))
    assert min(ratio, 1 / ratio) == pytest.approx(low / high, abs=1e-12)


def test_calibration_against_plain_loops() -> None:
    columns = people(900, groups=2, seed=8, levels=20)
    audit = audited(columns, reference="g0")
    gap = audit.measure("calibration_gap")
    edges = [k / 10 for k in range(11)]
    by_bin: dict[int, list[float]] = {}
    ece = {"g0": 0.0, "g1": 0.0}
    mce = {"g0": 0.0, "g1": 0.0}
    for b in range(10):
        rates = []
        for g in ("g0", "g1"):
            inside = (columns["g"] == g) & (columns["s"] <= edges[b + 1]) & ((columns["s"] > edges[b]) | (b == 0))
            if not inside.any():
                continue
            rate, mean = columns["y"][inside].mean(), columns["s"][inside].mean()
            ece[g] += abs(rate - mean) * inside.sum() / (columns["g"] == g).sum()
            mce[g] = max(mce[g], abs(rate - mean))
            rates.append(rate)
        if len(rates) == 2:
            by_bin[b] = rates
    assert gap.value == pytest.approx(max(abs(a - b) for a, b in by_bin.values()), abs=1e-12)
    names = [f"{'(' if b else '['}{edges[b]:g}, {edges[b + 1]:g}]" for b in range(10)]
    assert {p.name: (p.reference, p.group) for p in gap.parts} == {
        names[b]: pytest.approx(tuple(rates)) for b, rates in by_bin.items()
    }
    assert gap.empty_bins == tuple(names[b] for b in range(10) if b not in by_bin)
    for group in audit.attributes[0].groups:
        assert group.rates["ece"].value == pytest.approx(ece[group.name], abs=1e-12)
        assert group.rates["mce"].value == pytest.approx(mce[group.name], abs=1e-12)


def test_edge_scores_fall_into_the_bin_they_close() -> None:
    scores = np.round(np.arange(0, 11) / 10, 1)
    t = evenhand.tabulate(score=scores, group=["a"] * 11)
    assert t.bin_of_cells(10).tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


# ---- intervals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (10, 10), (250, 1000)])
def test_wilson_equals_statsmodels(k: int, n: int, confidence: float) -> None:
    expected = proportion.proportion_confint(k, n, alpha=1 - confidence, method="wilson")
    assert [float(b) for b in interval.wilson(k / n, n, confidence)] == pytest.approx(list(expected), abs=1e-12)


@pytest.mark.parametrize(("a", "n", "b", "m"), [(3, 10, 8, 12), (56, 70, 48, 80), (0, 10, 0, 20), (9, 9, 4, 30)])
def test_newcombe_equals_statsmodels(a: int, n: int, b: int, m: int) -> None:
    expected = proportion.confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff")
    p, q = a / n, b / m
    found = interval.difference(p, interval.wilson(p, n), q, interval.wilson(q, m))
    assert [float(x) for x in found] == pytest.approx(list(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("a", "n", "b", "m"), [(3000, 10000, 8000, 12000), (560, 700, 480, 800), (9700, 10000, 4000, 9000)]
)
def test_ratio_of_many_people_equals_the_score_interval_of_statsmodels(a: int, n: int, b: int, m: int) -> None:
    expected = proportion.confint_proportions_2indep(a, n, b, m, method="score", compare="ratio", correction=False)
    assert [float(x) for x in interval.ratio_of_shares(a / n, n, b / m, m)] == pytest.approx(list(expected), rel=0.01)


@pytest.mark.parametrize(
    ("p", "q"),
    [(0.776, 0.97), (0.97, 0.776), (0.9, 0.998), (0.5, 0.5), (0.05, 0.05), (0.01, 0.05), (0.02, 0.003), (0.97, 0.97)],
)
def test_each_end_of_a_ratio_fails_at_most_3_percent(p: float, q: float) -> None:
    """All tables of two groups, by their chances: a normal interval of the logarithm failed up to 14 %."""
    for n, m in ((15, 15), (15, 400), (400, 15), (40, 2000), (2000, 40), (30, 5000), (100, 100)):
        ends = (stats.binom.ppf([1e-9, 1 - 1e-9], k, r) for k, r in ((n, p), (m, q)))
        x, y = (np.arange(low, high + 1) for low, high in ends)
        y = y[y > 0]  # where the ratio exists
        chance = stats.binom.pmf(x, n, p)[:, None] * stats.binom.pmf(y, m, q)
        lo, hi = interval.ratio_of_shares(x[:, None] / n, n, y / m, m)
        failed = chance[lo > p / q].sum(), chance[hi < p / q].sum()
        assert max(failed) < 0.0305, (n, m, failed)


def test_a_ratio_turned_round_has_its_interval_turned_round() -> None:
    a, n, b, m = np.array([0.3, 1.0, 0.02, 1.0]), np.array([10, 20.5, 300, 1]), np.array([0.8, 1.0, 0.97, 1.0]), 41.7
    lo, hi = interval.ratio_of_shares(a, n, b, m)
    back = interval.ratio_of_shares(b, m, a, n)
    assert np.allclose(back, [1 / hi, 1 / lo], rtol=1e-8)


def test_all_pairs_hold_together_by_tukeys_range() -> None:
    for groups in (2, 3, 10, 100):
        z = stats.norm.ppf((1 + interval.of_all_pairs(groups, 0.95)) / 2)
        assert stats.studentized_range.cdf(z * np.sqrt(2), groups, np.inf) == pytest.approx(0.95, abs=1e-5)


def test_the_largest_pair_is_searched_among_all_pairs() -> None:
    """The same for any number of groups, in blocks of rows; −∞ (the log of a rate of 0) has no end."""
    rng = np.random.default_rng(0)
    p, n = rng.uniform(0.1, 0.9, 1500), rng.uniform(5, 500, 1500)
    lo, hi = interval.wilson(p, n)
    differences = [interval.difference(p[g], (lo[g], hi[g]), p, (lo, hi)) for g in range(len(p))]
    least, most = (np.stack(ends) for ends in zip(*differences, strict=True))
    np.fill_diagonal(most, 0)
    assert interval.largest_pair(p, lo, hi) == (pytest.approx(max(least.max(), 0)), pytest.approx(most.max()))
    with np.errstate(divide="ignore"):
        logs = [np.log(x) for x in (np.array([0.0, 0.5]), *interval.exact(np.array([0.0, 0.5]), 20))]
    least_, most_ = interval.largest_pair(*logs)
    assert 0 < least_ < most_ == np.inf


@pytest.mark.parametrize(("a", "n", "b", "m"), [(0, 10, 8, 12), (10, 10, 12, 12), (10, 10, 1, 12), (3, 10, 12, 12)])
def test_ratio_at_the_edges_is_neither_empty_nor_certain(a: int, n: int, b: int, m: int) -> None:
    lo, hi = (float(x) for x in interval.ratio_of_shares(a / n, n, b / m, m))
    ratio = (a / n) / (b / m)
    assert 0 <= lo <= ratio <= hi < np.inf
    assert hi - lo > 0.05


def test_a_ratio_that_may_be_anything_has_no_end() -> None:
    lo, hi = interval.ratio_of_shares([0.5, 0.5], [10, 2], [0.1, 0.5], [10, 2], 0.99)
    assert 0.5 < lo[0] < 1
    assert lo[1] == 0
    assert (hi == np.inf).all()
    told = {"y": [1] * 13 + [0] * 37 + [1] + [0] * 9, "g": ["a"] * 50 + ["b"] * 10}
    audit = evenhand.audit(told, prediction="y", group="g", reference="b", confidence=0.99, bootstrap=0)
    assert "0.382 to ∞" in audit.measure("disparate_impact").interpretation
    ratio = next(m for m in audit.to_dict()["attributes"][0]["measures"] if m["id"] == "disparate_impact")
    assert ratio["ci"] == [pytest.approx(0.382, abs=1e-3), None]
    assert "the ratio is between 0.00 and 2.62" in audit.to_dict()["verdict"]["sentence"]


def test_gaps_carry_these_intervals() -> None:
    columns = people(500, groups=2, seed=2)
    audit = audited(columns, reference="g0", confidence=0.9)
    d = columns["s"] >= 0.5
    for id_, rows, hit in (
        ("demographic_parity", d | True, d),
        ("equal_opportunity", columns["y"] == 1, d),
        ("predictive_equality", columns["y"] == 0, d),
        ("predictive_parity", d, columns["y"] == 1),
        ("negative_predictive_parity", ~d, columns["y"] == 0),
        ("accuracy_parity", d | True, d == (columns["y"] == 1)),
    ):
        counts = [((hit & rows & (columns["g"] == g)).sum(), (rows & (columns["g"] == g)).sum()) for g in ("g1", "g0")]
        (a, n), (b, m) = counts
        expected = proportion.confint_proportions_2indep(a, n, b, m, method="newcomb", alpha=0.1)
        gap = audit.measure(id_)
        assert gap.ci == pytest.approx(expected, abs=1e-12), id_
        assert gap.signed == pytest.approx(a / n - b / m, abs=1e-12)
        assert gap.ratio == pytest.approx((a / n) / (b / m), abs=1e-12)
        assert gap.value == abs(gap.signed)  # type: ignore[arg-type]
    impact = audit.measure("disparate_impact")
    (a, n), (b, m) = (((d & (columns["g"] == g)).sum(), (columns["g"] == g).sum()) for g in ("g1", "g0"))
    assert impact.ci == pytest.approx([float(x) for x in interval.ratio_of_shares(a / n, n, b / m, m, 0.9)], abs=1e-12)


# ---- published figures -----------------------------------------------------------------------------------------


def test_propublicas_error_rates() -> None:
    """Higher risk but did not reoffend: 44.85 % and 23.45 %. Lower risk but did: 27.99 % and 47.72 %."""
    rates = {g.name: g.rates for g in evenhand.audit(evenhand.compas(), threshold=5).attributes[0].groups}
    black, white = rates["African-American"], rates["Caucasian"]
    assert [round(100 * r["fnr"].value, 2) for r in (black, white)] == [44.85, 23.45]
    assert [round(100 * r["fpr"].value, 2) for r in (black, white)] == [27.99, 47.72]


def test_compas_file_gives_the_built_in_counts(data_folder: Path) -> None:
    t = evenhand.tabulate(
        data_folder / "compas-scores-two-years.csv",
        score="decile_score",
        label="two_year_recid",
        group="race",
        favorable=0,
        risk=True,
    )
    assert t.rows == 7214
    mine = evenhand.audit(t, threshold=5, reference="Caucasian")
    built_in = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    for m in MEASURES:
        a, b = mine.measure(m, "African-American"), built_in.measure(m)
        assert (a.value, a.signed, a.ci) == (b.value, b.signed, b.ci)


def test_german_credit(data_folder: Path) -> None:
    audit = evenhand.audit(
        data_folder / "german_logr_predictions.csv", score="logr", label="label", favorable="good", group="sex"
    )
    assert audit.attributes[0].reference == "male"
    assert sum(g.n for g in audit.attributes[0].groups) == 330
    assert audit.to_dict()["data"]["decision_rule"] == "logr ≥ 0.5"


@pytest.mark.parametrize("seed", range(2))
def test_signed_gaps_by_the_definitions_of_aif360(seed: int) -> None:
    """Unprivileged minus (or over) privileged, from counts of each group alone: the sign of AIF360, and ours."""
    columns = people(600, groups=2, seed=seed)
    d = (columns["s"] >= 0.5).astype(int)

    def counts(group: str) -> tuple[float, float, float, float]:
        own = [(int(y), int(p)) for y, p, g in zip(columns["y"], d, columns["g"], strict=True) if g == group]
        tp, fp, fn, tn = (float(own.count(kind)) for kind in ((1, 1), (0, 1), (1, 0), (0, 0)))
        return tp, fp, fn, tn

    def rates(tp: float, fp: float, fn: float, tn: float) -> dict[str, float]:
        return {
            "demographic_parity": (tp + fp) / (tp + fp + fn + tn), "equal_opportunity": tp / (tp + fn),
            "predictive_equality": fp / (fp + tn), "predictive_parity": tp / (tp + fp),
            "negative_predictive_parity": tn / (tn + fn), "accuracy_parity": (tp + tn) / (tp + fp + fn + tn),
            "treatment_equality": (fn / (tp + fn)) / (fp / (fp + tn)),
        }  # fmt: skip

    unprivileged, privileged = rates(*counts("g0")), rates(*counts("g1"))
    audit = audited(columns, reference="g1")
    for id_, value in unprivileged.items():
        assert audit.measure(id_).signed == pytest.approx(value - privileged[id_], abs=1e-12), id_
    ratio = unprivileged["demographic_parity"] / privileged["demographic_parity"]
    assert audit.measure("disparate_impact").value == pytest.approx(ratio, abs=1e-12)
    odds = {p.name: p.difference for p in audit.measure("equalized_odds").parts}
    average = (odds["tpr"] + odds["fpr"]) / 2
    pairs = [unprivileged[k] - privileged[k] for k in ("equal_opportunity", "predictive_equality")]
    assert average == pytest.approx(sum(pairs) / 2, abs=1e-12)


def test_the_gap_of_areas_and_its_variance_by_loops() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    n = 900
    y, g = rng.integers(0, 2, n), np.where(np.arange(n) < 300, "a", "b")
    s = np.round(rng.normal(size=n) + y * np.where(g == "a", 0.5, 1.5), 1)
    gap = evenhand.audit(score=s, label=y, group=g, reference="b", measures=["auroc_difference"]).measure(
        "auroc_difference"
    )
    areas, variance = [], 0.0
    for name in "ab":
        good, bad = (s[(g == name) & (y == label)] for label in (1, 0))
        wins = (good[:, None] > bad) + 0.5 * (good[:, None] == bad)
        variance += wins.mean(1).var(ddof=1) / len(good) + wins.mean(0).var(ddof=1) / len(bad)
        areas.append(metrics.roc_auc_score(y[g == name], s[g == name]))
    assert gap.signed == pytest.approx(areas[0] - areas[1], abs=1e-12)
    assert gap.ci is not None
    assert gap.method == "DeLong"
    # one of everybody in each class makes it a little wider
    assert gap.ci[1] - gap.ci[0] == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.03)
    assert gap.p_value is not None
    assert gap.p_value < 0.01
