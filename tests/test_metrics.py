"""Metric functions: scikit-learn's order of arguments, the audit's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand import metrics
from evenhand.measures.registry import MEASURES, RateMeasure


def test_there_is_a_function_for_every_measure() -> None:
    for id_ in MEASURES:
        assert getattr(metrics, id_).__name__ == id_
        assert id_ in metrics.__all__


@pytest.mark.parametrize("id_", MEASURES)
@pytest.mark.parametrize("groups", [2, 4])
def test_same_numbers_as_the_audit(id_: str, groups: int) -> None:
    columns = people(400, groups=groups)
    result = getattr(metrics, id_)(
        columns["y"], columns["s"], sensitive_features=columns["g"], bootstrap=30, permutations=30, rng=3
    )
    a = evenhand.audit(score=columns["s"], label=columns["y"], group=columns["g"], bootstrap=30, permutations=30, rng=3)
    assert [g.value for g in result.gaps] == [g.value for g in a.attributes[0].measures if g.id == id_]
    if groups == 2:
        gap = a.measure(id_)
        assert (float(result), result.signed, result.ci, result.pair) == (
            gap.value,
            gap.signed,
            gap.ci,
            (gap.group, gap.reference),
        )
    else:
        largest = next(g for g in a.attributes[0].largest if g.id == id_)
        assert (float(result), result.pair) == (largest.value, largest.pair)


@pytest.mark.parametrize("labels", [[0, 1], [False, True], ["no", "yes"], [-1, 1]])
def test_decisions_speak_the_language_of_the_labels(labels: list[Any]) -> None:
    columns = people(200, groups=2)
    y, d = np.array(labels)[columns["y"]], np.array(labels)[columns["d"]]
    expected = float(metrics.equal_opportunity(columns["y"], columns["d"], sensitive_features=columns["g"]))
    assert float(metrics.equal_opportunity(y, d, sensitive_features=columns["g"], favorable=labels[1])) == expected
    turned = metrics.predictive_equality(
        1 - columns["y"], 1 - columns["d"], sensitive_features=columns["g"], favorable=0
    )
    assert float(turned) == float(
        metrics.predictive_equality(columns["y"], columns["d"], sensitive_features=columns["g"])
    )


@pytest.mark.parametrize(
    ("y_true", "y_pred", "words", "signed"),
    [
        (None, [1, 1, 1, 2], {}, 0.5),  # 1 is favourable, 2 is not
        (None, [-1, -1, -1, 1], {"favorable": -1}, 0.5),
        (None, ["good", "good", "good", "bad"], {"favorable": "good"}, 0.5),
        ([1, 2, 1, 2], [2, 2, 2, 2], {}, 0.0),  # nobody is selected
        (None, [0.7, 0.6, 1.0, 0.3], {}, 0.5),  # scores
        (None, [5, 5, 5, 1], {"threshold": 3}, 0.5),  # said to be scores
        (None, [1, 1, 1, 5], {"threshold": 3, "risk": True}, 0.5),
    ],
)
def test_decisions_and_scores_are_told_apart(y_true: Any, y_pred: Any, words: dict[str, Any], signed: float) -> None:
    result = metrics.demographic_parity(y_true, y_pred, sensitive_features=list("ffmm"), reference="m", **words)
    assert result.signed == signed


def test_labels_are_only_asked_for_where_needed() -> None:
    g = ["a", "a", "b", "b"]
    assert float(metrics.demographic_parity(None, [1, 0, 1, 1], sensitive_features=g)) == 0.5
    assert float(metrics.disparate_impact(None, [0.9, 0.1, 0.7, 0.8], sensitive_features=g, reference="b")) == 0.5
    with pytest.raises(evenhand.UsageError, match="equal_opportunity needs outcomes: pass y_true"):
        metrics.equal_opportunity(None, [1, 0, 1, 1], sensitive_features=g)


def test_weights_and_thresholds() -> None:
    g = ["a", "a", "b", "b"]
    weighted = metrics.demographic_parity(None, [1, 0, 1, 0], sensitive_features=g, sample_weight=[3, 1, 1, 1])
    assert float(weighted) == 0.25
    at = metrics.demographic_parity(None, [0.3, 0.2, 0.3, 0.4], sensitive_features=g, threshold=0.3)
    assert float(at) == 0.5


def test_undefined_is_nan_with_a_reason() -> None:
    r = metrics.equal_opportunity([0, 0, 1, 1], [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"])
    assert np.isnan(float(r))
    assert r.undefined == "because group a has no row with the favourable label"


@pytest.mark.parametrize(
    ("y_true", "y_pred", "words", "message"),
    [
        ([0, 1], [0, 1, 1], {}, "same length"),
        ([0, 1, 2], [0, 1, 1], {}, "label has two values"),
        ([0, 1, 1], [0, np.nan, 1], {}, "1 rows without a prediction"),
        ([0, 1, 1], [0.2, np.nan, 0.7], {}, "1 rows without a finite score"),
        ([0, 1, 1], ["a", "b", "c"], {}, "prediction has two values, but column 'prediction' has 3"),
        ([0, 1, 1], 3, {}, "one-dimensional"),
        ([0, 1, 1], [0, 1, 1], {"sensitive_features": ["a", "a", "a"]}, "two or more groups"),
        ([0, 1, 1], [0, 1, 1], {"sample_weight": [1, -1, 1]}, "must not be negative"),
        ([0, 1, 1], [0, 1, 1], {"sensitive_features": {"a": [1, 2, 2], "b": [1, 2, 2]}}, "compares one attribute"),
        ([0, 1, 1], [0, 1, 1], {"reference": "c"}, "reference 'c' is not a group"),
    ],
)
def test_bad_input(y_true: Any, y_pred: Any, words: dict[str, Any], message: str) -> None:
    with pytest.raises(evenhand.EvenhandError, match=message):
        metrics.equalized_odds(y_true, y_pred, **{"sensitive_features": ["a", "b", "b"], **words})


def test_variants_are_metrics_too() -> None:
    s, g = [0.1, 0.4, 0.6, 0.9], ["f", "f", "m", "m"]
    found = evenhand.metrics.independence_uniform_w2(
        None, s, sensitive_features=g, reference="m", bootstrap=0, permutations=0
    )
    assert float(found) == pytest.approx(0.5)
    with pytest.raises(AttributeError, match="no measure 'independence_uniform_x2'"):
        evenhand.metrics.independence_uniform_x2  # noqa: B018


def test_whole_score_metrics_take_0_and_1_for_scores() -> None:
    found = evenhand.metrics.abcc(
        None, [0, 1, 1, 1], sensitive_features=["f", "f", "m", "m"], reference="m", bootstrap=0
    )
    assert (float(found), found.positive, found.negative) == (0.5, 0.0, 0.5)
    assert found.pair == ("f", "m")


# ---- groups by themselves -------------------------------------------------------------------------------------------


def test_the_rates_behind_a_gap_are_those_of_fairlearn() -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    columns = people(500, groups=3)
    words = {"y_true": columns["y"], "y_pred": columns["d"], "sensitive_features": columns["g"]}
    rates = {
        "selection_rate": fairlearn.selection_rate, "tpr": fairlearn.true_positive_rate,
        "fpr": fairlearn.false_positive_rate, "n": fairlearn.count,
    }  # fmt: skip
    frame = fairlearn.MetricFrame(metrics=rates, **words).by_group
    names = {"demographic_parity": ["selection_rate"], "equal_opportunity": ["tpr"], "equalized_odds": ["tpr", "fpr"]}
    for id_, compared in names.items():
        result = getattr(metrics, id_)(columns["y"], columns["d"], sensitive_features=columns["g"], bootstrap=0)
        assert list(result.by_group) == sorted(frame.index)
        for name, group in result.by_group.items():
            assert group.n == frame.loc[name, "n"]
            assert list(group.values) == compared
            for rate, estimate in group.values.items():
                assert estimate.value == pytest.approx(frame.loc[name, rate])
                assert estimate.ci is not None
                assert estimate.ci[0] <= estimate.value <= estimate.ci[1]


@pytest.mark.parametrize("id_", [m.id for m in MEASURES.values() if isinstance(m, RateMeasure)])
def test_a_gap_is_between_the_values_of_the_groups(id_: str) -> None:
    columns = people(400, groups=2)
    result = getattr(metrics, id_)(columns["y"], columns["s"], sensitive_features=columns["g"], bootstrap=0)
    group, reference = (result.by_group[name].values for name in result.pair)
    shared = MEASURES[id_].components or tuple(group)  # type: ignore[attr-defined]
    apart = [abs(group[name].value - reference[name].value) for name in shared]
    value = group[shared[0]].value / reference[shared[0]].value if MEASURES[id_].scale == "ratio" else np.nanmax(apart)
    assert abs(float(result)) == pytest.approx(value)
    assert sum(g.n for g in result.by_group.values()) == 400


@pytest.mark.parametrize("risk", [False, True])
def test_means_and_areas_of_groups_in_the_units_of_the_data(risk: bool) -> None:
    roc_auc_score = pytest.importorskip("sklearn.metrics").roc_auc_score
    columns = people(300, groups=3)
    s, y, g = 100 * np.asarray(columns["s"]), np.asarray(columns["y"]), np.asarray(columns["g"])
    w = np.random.default_rng(0).integers(1, 4, 300)
    words: dict[str, Any] = {"sensitive_features": g, "score_range": (0, 100), "risk": risk, "bootstrap": 0,
                             "permutations": 0, "sample_weight": w, "weight_kind": "frequency"}  # fmt: skip
    everybody, positives = np.ones(300, bool), y == 1
    for id_, name, of in (
        ("abcc", "mean_score", everybody),
        ("equal_opportunity_uniform", "mean_score_of_actual_positives", positives),
        ("calibration_uniform", "mean_score", everybody),
    ):
        result = getattr(metrics, id_)(y, s, **words)
        for group, own in result.by_group.items():
            there = (g == group) & of
            assert own.values[name].value == pytest.approx(np.average(s[there], weights=w[there]))
    ranked = metrics.roc(y, s, **words)
    for group, own in ranked.by_group.items():
        there = g == group
        area = roc_auc_score(y[there], -s[there] if risk else s[there], sample_weight=w[there])
        assert own.values["auroc"].value == pytest.approx(area)
    bases = metrics.calibration_standardized(y, s, **words).by_group
    assert {k: v.values["base_rate"].value for k, v in bases.items()} == pytest.approx(
        {k: np.average(y[g == k], weights=w[g == k]) for k in bases}
    )


def test_what_a_group_lacks_is_undefined_by_itself_too() -> None:
    y, d, g = [0, 0, 1, 1], [1, 0, 1, 0], ["a", "a", "b", "b"]
    groups = metrics.equalized_odds(y, d, sensitive_features=g).by_group
    assert groups["a"].values["tpr"].undefined == "because the group has no row with the favourable label"
    assert groups["b"].values["tpr"].value == 0.5
    told = metrics.calibration_gap(y, [0.05, 0.5, 0.5, 0.95], sensitive_features=g).by_group["a"].values
    assert told["(0.9, 1]"].undefined == "because nobody of a has such a score"
    lacking = metrics.roc(y, [0.1, 0.2, 0.3, 0.4], sensitive_features=g, bootstrap=0).by_group["a"].values
    assert lacking["auroc"].undefined
    assert (
        lacking["mean_score_of_actual_positives"].undefined == "because the group has no row with the favourable label"
    )
    assert lacking["mean_score_of_actual_negatives"].value == pytest.approx(0.15)
