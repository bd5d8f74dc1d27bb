"""Metric functions: scikit-learn's order of arguments, the audit's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand import metrics
from evenhand.measures.registry import MEASURES


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
