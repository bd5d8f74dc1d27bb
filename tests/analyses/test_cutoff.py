"""Thresholds that follow from the scores of everybody."""

from dataclasses import replace

import numpy as np
import pytest

import evenhand
from evenhand.analyses.cutoff import cutoff, quantile_rule, top_rule
from evenhand.errors import UsageError

QUICK = {"bootstrap": 0, "permutations": 0, "measures": ["disparate_impact"]}


def table(scores, **roles):
    rng = np.random.default_rng(0)
    return evenhand.tabulate({"s": scores, "g": rng.choice(["f", "m"], len(scores))}, score="s", group="g", **roles)


def selected(counts, rule):
    return counts.selected(cutoff(rule, counts).threshold)


@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("n", [2, 7, 10, 101])
@pytest.mark.parametrize("digits", [1, 6])
def test_strictly_above_a_quantile_as_numpy_has_it(q, n, digits):
    scores = np.random.default_rng(n).random(n).round(digits)
    rule = quantile_rule(f"quantile:{q}")
    at = np.quantile(scores, q)
    counts = table(scores)
    np.testing.assert_array_equal(selected(counts, rule), counts.score > at + 1e-12)
    risk = table(scores, risk=True)
    np.testing.assert_array_equal(selected(risk, rule), risk.score < at - 1e-12)


@pytest.mark.parametrize("risk", [False, True])
@pytest.mark.parametrize(("top", "k"), [(1, 1), (13, 13), ("10%", 11), ("50%", 53)])
def test_the_best_and_everybody_tied_with_the_last(risk, top, k):
    scores = np.random.default_rng(1).integers(0, 40, 105) / 40
    counts = table(scores, risk=risk)
    worth = -scores if risk else scores
    last = np.sort(worth)[-k]
    chosen = selected(counts, top_rule(top))
    assert counts.n[chosen].sum() == (worth >= last).sum() >= k
    np.testing.assert_array_equal(chosen, (-counts.score if risk else counts.score) >= last)


def test_ties_at_the_median_are_told():
    found = cutoff(quantile_rule("median"), table([1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0]))
    assert found.threshold == 9.0
    assert "5: 14.3% are strictly above it and selected, since 71.4% have exactly this score" in found.note


def test_nobody_above_the_median_is_undefined_not_wrong():
    people = {"s": [0.2, 0.9, 0.9, 0.9], "g": ["f", "f", "m", "m"]}
    result = evenhand.audit(people, score="s", group="g", threshold="median", **QUICK)
    assert result.measure("disparate_impact").undefined


def test_people_of_unknown_group_count():
    people = {"s": [0.1, 0.2, 0.3, 0.8, 0.9, 0.95, 0.97], "g": ["f", "m", "f", "m", None, None, None]}
    result = evenhand.audit(people, score="s", group="g", missing="group", threshold="median", **QUICK)
    assert result.to_dict()["data"]["threshold"] == 0.9
    assert {g.name: g.rates["selection_rate"].value for g in result.attributes[0].groups}["m"] == 0


def test_sampling_weights_decide_by_weight():
    people = {"s": [1.0, 2.0, 3.0, 4.0], "g": ["f", "m", "f", "m"], "w": [0.5, 0.5, 0.5, 4.5]}
    counts = evenhand.tabulate(people, score="s", group="g", weight="w", weight_kind="sampling")
    assert cutoff(quantile_rule("quantile:0.2"), counts).threshold == 4.0
    assert cutoff(top_rule("80%"), counts).threshold == 3.0
    with pytest.raises(UsageError, match="counts people, and sampling weights do not"):
        cutoff(top_rule(2), counts)


def test_a_table_in_ranges_is_cut_between_them_only():
    scores = np.random.default_rng(3).random(4000)
    exact = table(scores)
    coarse = evenhand.suppressed(exact, below=5, ranges=20)
    with pytest.raises(UsageError, match=r"apart, and quantile:0.33 lies there"):
        cutoff(quantile_rule("quantile:0.33"), coarse)
    upto = np.cumsum(coarse.n)
    k = int(upto[-1] - upto[len(upto) // 2])
    assert coarse.n[selected(coarse, top_rule(k))].sum() == k


def test_what_is_not_known_is_refused():
    people = table(np.random.default_rng(3).random(4000).round(2))
    withheld = replace(people, provenance=replace(people.provenance, withheld=True))
    with pytest.raises(UsageError, match="some people were withheld"):
        cutoff(quantile_rule("median"), withheld)
    decided = {"d": [1, 0, 1, 0], "g": ["f", "f", "m", "m"]}
    for said in ({"threshold": "median"}, {"top": 1}):
        with pytest.raises(UsageError, match="the prediction column decides already"):
            evenhand.audit(decided, prediction="d", group="g", **said, **QUICK)


@pytest.mark.parametrize(
    "said",
    [{"threshold": "mean"}, {"threshold": "quantile:1"}, {"threshold": "quantile:x"}, {"top": "100%"}, {"top": 0},
     {"top": True}, {"top": 1.5}, {"top": "x"}, {"top": 4000}, {"top": 5, "threshold": 0.5}],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(said):
    with pytest.raises(UsageError):
        evenhand.audit({"s": [0.1, 0.9], "g": ["f", "m"]}, score="s", group="g", **said)


def test_policies_and_monitoring_know_them():
    people = table(np.random.default_rng(3).random(400).round(2))
    verdict = evenhand.check(
        people, policy={"audit": {"top": "10%"}, "rule": [{"measure": "disparate_impact", "at_least": 0.1}]}
    )
    assert verdict.options.threshold == cutoff(top_rule("10%"), people).threshold
    assert any("10% of 400 people" in note for note in verdict.notes)
    report = evenhand.monitor({"1": people, "2": people}, threshold="median", baseline=1, bootstrap=0)
    assert report.options.threshold == cutoff(quantile_rule("median"), people).threshold


def test_of_several_models_each_has_its_own():
    rng = np.random.default_rng(2)
    people = {"a": rng.random(60).round(2), "b": 2 * rng.random(60).round(2), "g": rng.choice(["f", "m"], 60)}
    result = evenhand.audit(people, score=["a", "b"], group="g", threshold="median", **QUICK)
    assert [c.audit.options.threshold > np.median(people[c.name]) for c in result.candidates] == [True, True]
    assert result.candidates[0].audit.options.threshold != result.candidates[1].audit.options.threshold


def test_the_counts_of_a_private_table_hold_noise():
    pytest.importorskip("opendp")
    noisy = evenhand.privatized(table(np.random.default_rng(3).random(400).round(1), score_range=(0, 1)), epsilon=5.0)
    with pytest.raises(UsageError, match="private table hold noise"):
        cutoff(quantile_rule("median"), noisy)


def test_a_threshold_above_everybody_is_not_told_as_one_that_they_reach():
    people = {"s": [0.2, 0.9, 0.9, 0.9], "g": ["f", "f", "m", "m"]}
    for data, rule in (({"s": [0.2, 0.9, 0.9, 0.9]}, "s > 0.9"), ({"s": [0.2, 0.8, 0.9, 0.9]}, "s ≥ 0.9")):
        result = evenhand.audit({**people, **data}, score="s", group="g", threshold="median", **QUICK)
        assert result.to_dict()["data"]["decision_rule"] == rule
