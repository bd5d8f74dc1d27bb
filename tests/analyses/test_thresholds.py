"""All thresholds of a score: against brute force and against audits, policies, separate thresholds, bad input."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from conftest import called as run, check_schema, evenhand as process, people
from evenhand.analyses.requirement import required
from evenhand.analyses.thresholds import sweep as sweeping
from evenhand.analyses.thresholds.thresholds import Thresholds
from evenhand.errors import DataError, UsageError
from evenhand.measures.measure import sized
from evenhand.measures.registry import MEASURES, RateMeasure

DECISIONS = [m.id for m in MEASURES.values() if isinstance(m, RateMeasure) and m.levels == "decision"]
WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}


def some(seed: int, n: int = 40, groups: int = 2, levels: int = 6, **words: Any) -> evenhand.Table:
    return evenhand.tabulate(people(n, groups, seed, levels), **{**WORDS, **words})


def found(table: evenhand.Table, **how: Any) -> Thresholds:
    return evenhand.thresholds(table, **{"bootstrap": 0, **how})


def same(a: float | None, b: float | None) -> bool:
    if a is None or b is None or math.isnan(a) or math.isnan(b):
        return (a is None or math.isnan(a)) and (b is None or math.isnan(b))
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def audited(table: evenhand.Table, id_: str, threshold: float) -> float:
    """The gap furthest from parity by an audit at one threshold; NaN if any is undefined."""
    audit = evenhand.audit(table, threshold=threshold, measures=[id_], bootstrap=0, permutations=0)
    gaps = audit.attributes[0].measures
    if any(g.undefined for g in gaps):
        return math.nan
    sizes = [float(sized(MEASURES[id_], g.value)) for g in gaps]
    return min(sizes) if MEASURES[id_].scale == "ratio" else max(sizes)


# ---- the curve --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id_", DECISIONS)
@pytest.mark.parametrize("words", [{}, {"risk": True}, {"weight": "w"}], ids=["plain", "risk", "weights"])
def test_every_threshold_is_the_audit_at_that_threshold(id_: str, words: dict[str, Any]) -> None:
    for groups in (2, 3):
        table = some(3, 60, groups, **words)
        sweep = found(table, fairness=id_).sweep
        assert len(sweep.thresholds) == len(table.scores) + 1
        for t, value in zip(sweep.thresholds.tolist(), sweep.measures[id_].size.tolist(), strict=True):
            assert same(value, audited(table, id_, t)), (t, value)


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_the_curve_is_what_counting_rows_gives(seed: int, risk: bool, weighted: bool, chunk: int) -> None:
    data = people(30, 3, seed, 5)
    w = data["w"] if weighted else np.ones(30)
    table = evenhand.tabulate(data, **WORDS, risk=risk, **({"weight": "w"} if weighted else {}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "CHUNK", chunk)  # pieces join without a seam
        got = found(table, cost=(1, 3))
    y = data["y"].astype(bool)
    for k, t in enumerate(got.sweep.thresholds):
        picked = (data["s"] < t) if risk else (data["s"] >= t)
        assert same(got.sweep.selection_rate[k], w[picked].sum() / w.sum())
        assert got.sweep.trivial[k] == (picked.all() or not picked.any())
        cost = w[picked & ~y].sum() + 3 * w[~picked & y].sum()
        assert same(got.sweep.performance[k], 1 - cost / (w[~y].sum() + 3 * w[y].sum()))
        for g, name in enumerate(table.attributes[0].groups):
            own = data["g"] == name
            assert got.sweep.selection_rates is not None
            assert same(got.sweep.selection_rates[k, g], w[picked & own].sum() / w[own].sum())


@pytest.mark.parametrize("performance", ["accuracy", "balanced_accuracy"])
def test_performance_is_that_of_the_decisions(performance: str) -> None:
    from evenhand.measures.performance import PERFORMANCES

    table = some(1, 80, risk=True)
    got = found(table, performance=performance)
    for t, value in zip(got.sweep.thresholds, got.sweep.performance, strict=True):
        counts = table.decisions(table.groupings[0], float(t))
        assert same(value, float(PERFORMANCES[performance].of(counts)))  # type: ignore[arg-type]


def test_the_front_holds_what_nothing_dominates() -> None:
    got = found(some(5, 200, levels=40))
    p, f, ok = got.sweep.performance, got.swept.fairness, ~got.sweep.trivial
    for k in np.flatnonzero(ok):
        over = ok & (p >= p[k]) & (f >= f[k]) & ((p > p[k]) | (f > f[k]))
        assert got.on_front[k] == (not over.any())
    assert not got.on_front[got.sweep.trivial].any()
    assert got.nearest is not None
    assert same(got.nearest.dto, float(np.nanmin(got.dto[ok])))


def test_nobody_selected_is_undefined_not_a_number() -> None:
    """Sampling weights leave no crumbs where nobody is."""
    data = {"s": [0.1, 0.2, 0.3, 0.9], "y": [0, 1, 1, 1], "g": list("aabb"), "w": [0.1, 0.7, 0.3, 0.2]}
    got = found(evenhand.tabulate(data, **WORDS, weight="w"), fairness="predictive_parity", reference="b")
    assert [same(v, e) for v, e in zip(got.swept.size, [0.125, 0, *[math.nan] * 3], strict=True)] == [True] * 5
    assert got.to_dict()["thresholds"]["undefined"] == 2
    assert any("undefined at 2 of 3 thresholds" in note for note in got.notes)
    assert got.to_dict()["curve"][2]["value"] is None


def test_a_stated_threshold_is_one_of_the_others() -> None:
    table = some(2)
    for t in (-1.0, 0.33, 0.5, 2.0):
        got = found(table, threshold=t)
        assert got.current is not None
        assert got.current.threshold == t
        assert same(got.current.value, audited(table, "demographic_parity", t))


def test_many_distinct_scores() -> None:
    data = people(100_000, 3, 0, None)
    got = found(evenhand.tabulate(data, **WORDS), require="disparate_impact >= 0.9")
    document = got.to_dict()
    check_schema(document, evenhand.schema("thresholds"))
    assert document["thresholds"]["count"] == len(np.unique(data["s"])) + 1
    assert len(document["curve"]) <= 1000
    assert got.chosen is not None
    assert got.chosen.threshold in {p["threshold"] for p in document["curve"]}
    assert len(got.to_frame("polars")) == document["thresholds"]["count"]
    t = float(got.sweep.thresholds[50_000])
    assert same(got.swept.size[50_000], audited(got.table, "disparate_impact", t))


# ---- policies ---------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.3]), st.sampled_from([0.5, 0.8, 0.95]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_choice_is_what_trying_all_gives(seed: int, most: float, least: float, trivial: bool) -> None:
    table = some(seed, 50, 3, 8)
    rules = [f"demographic_parity <= {most}", f"disparate_impact >= {least}"]
    got = found(table, require=rules, allow_trivial=trivial, choose="value")
    assert got.policy is not None
    s = got.sweep
    good = [
        k for k in range(len(s.thresholds))
        if (trivial or not s.trivial[k])
        and s.measures["demographic_parity"].size[k] <= most + 1e-12
        and s.measures["disparate_impact"].size[k] >= least - 1e-12
    ]  # fmt: skip
    assert got.policy.feasible == len(good)
    assert sum(r.thresholds for r in got.policy.ranges) == len(good)
    inside = [t for t in s.thresholds for r in got.policy.ranges if r.start <= t <= r.end]
    assert inside == [s.thresholds[k] for k in good]
    if good:
        assert got.chosen is not None
        assert got.best is not None
        assert got.policy.lost is not None
        assert same(got.chosen.performance, max(s.performance[k] for k in good))
        tied = [s.thresholds[k] for k in good if same(s.performance[k], got.chosen.performance)]
        assert abs(got.chosen.threshold - got.best.threshold) == min(abs(t - got.best.threshold) for t in tied)
        assert same(got.policy.lost, got.best.performance - got.chosen.performance)
    elif got.policy.nearest is not None:
        gap, ratio = (s.measures[id_].size[~s.trivial] for id_ in ("demographic_parity", "disparate_impact"))
        worst = np.maximum(gap - most, least - ratio)
        assert got.policy.missed_by is not None
        assert same(max(got.policy.missed_by.values()), float(np.nanmin(worst)))
        assert "No threshold meets the policy" in got.to_dict()["interpretation"]


def compas(**how: Any) -> Thresholds:
    return evenhand.thresholds(evenhand.compas(), reference="Caucasian", **how)


def test_compas_and_its_interval() -> None:
    got = compas(require="disparate_impact >= 0.8", threshold=5, choose="value")
    assert got.policy is not None
    assert got.policy.level is not None
    assert got.chosen is not None
    assert got.chosen.threshold == 8
    (check,) = got.policy.checks
    audit = evenhand.audit(
        evenhand.compas(), reference="Caucasian", threshold=8, measures=["disparate_impact"],
        confidence=got.policy.level,
    )  # fmt: skip
    assert got.policy.level > 0.98  # for all thresholds together
    assert check.gap.ci == audit.measure("disparate_impact").ci
    assert got.policy.settled is False
    assert got.policy.lost_to_current == pytest.approx(0.6507 - 0.6267, abs=1e-3)
    assert got.policy.trivial == (np.nextafter(10, 11),)
    assert got.policy.chance is not None
    assert 0.5 < got.policy.chance < 0.98
    assert any("fresh sample" in note for note in got.notes)


def test_the_choice_is_by_the_interval_unless_told_otherwise() -> None:
    got = compas(require="disparate_impact >= 0.8")
    assert got.policy is not None
    assert got.chosen is not None
    assert (got.choose, got.chosen.threshold, got.policy.settled) == ("interval", 9, True)
    assert got.policy.chance is not None
    assert got.policy.chance > 0.95
    assert "keeps to the policy on new people more than 99 times of 100" in got.to_dict()["interpretation"]
    looser = compas(require="disparate_impact >= 0.75")
    assert looser.chosen is not None
    assert looser.chosen.threshold == 8
    with pytest.raises(UsageError, match="choose"):
        compas(require="disparate_impact >= 0.8", choose="luck")


def test_what_no_interval_shows_is_not_chosen() -> None:
    got = found(some(0, 60), require="demographic_parity <= 0.2")
    assert got.policy is not None
    assert got.chosen is None
    assert got.policy.feasible > 0
    assert got.policy.undefined == "because no threshold is shown to meet the policy"
    assert got.policy.nearest is not None
    assert got.policy.missed_by is not None
    assert 0 < got.policy.missed_by["demographic_parity <= 0.2"] < 1
    assert got.policy.settled is False
    assert "is shown to meet the policy" in repr(got).replace("\n", " ")
    check_schema(got.to_dict(), evenhand.schema("thresholds"))
    assert found(some(0, 60), require="demographic_parity <= 0.2", choose="value").chosen is not None


def test_weights_and_clusters_are_chosen_by_the_interval_too() -> None:
    data = people(600)
    data["who"] = np.arange(600) // 2
    each: list[dict[str, Any]] = [{"weight": "w"}, {"cluster": "who"}]
    for words in each:
        got = evenhand.thresholds(data, **WORDS, **words, require="demographic_parity <= 0.9", bootstrap=99)
        assert got.policy is not None
        assert got.policy.settled
        assert got.policy.level is not None
        assert got.policy.level > 0.95


def drawn(seed: int, n: int) -> tuple[evenhand.Table, Any]:
    """People of two groups with the score as their chance of a favourable outcome, and the true shares at a score."""
    rng = np.random.default_rng(seed)
    scores = (np.arange(100) + 0.5) / 100
    chances = [scores ** (a - 1) * (1 - scores) ** (b - 1) for a, b in ((2.2, 2.6), (2.8, 2.2))]
    chances = [c / c.sum() for c in chances]
    s = np.concatenate([rng.choice(scores, n, p=c) for c in chances])
    data = {"s": s, "y": (rng.random(2 * n) < s).astype(int), "g": ["a"] * n + ["b"] * n}
    return evenhand.tabulate(data, **WORDS), lambda t: [float(c[scores >= t].sum()) for c in chances]


@pytest.mark.parametrize("size", [24, pytest.param(400, marks=pytest.mark.full)])
def test_the_choice_holds_on_new_people_as_often_as_it_says(size: int) -> None:
    held: dict[str, list[bool]] = {"interval": [], "value": []}
    said: dict[str, list[float]] = {"interval": [], "value": []}
    covered = []
    for seed in range(size):
        table, rates = drawn(seed, 1000)
        for choose in held:
            got = evenhand.thresholds(
                table, reference="b", require="demographic_parity <= 0.1", choose=choose, bootstrap=99, rng=seed
            )
            assert got.policy is not None
            assert got.policy.chance is not None
            assert got.chosen is not None
            ci = got.policy.checks[0].gap.ci
            assert ci is not None
            a, b = rates(got.chosen.threshold)
            held[choose].append(abs(a - b) <= 0.1)
            said[choose].append(got.policy.chance)
            covered.append(ci[0] <= a - b <= ci[1])
    assert np.mean(held["interval"]) >= 0.95
    assert np.mean(covered) >= 0.94
    assert np.mean(held["value"]) < 0.8  # the old choice: hardly better than a coin
    for choose in held:
        noise = 3 * np.sqrt(0.25 / size)
        assert abs(np.mean(said[choose]) - np.mean(held[choose])) < 0.1 + (noise if size < 100 else 0)


def test_trivial_thresholds_are_never_recommended_unasked() -> None:
    rule = {"require": "demographic_parity <= 0.0001", "reference": "Caucasian"}
    got = found(evenhand.compas(), **rule)
    assert got.policy is not None
    assert got.chosen is None
    assert len(got.policy.trivial) == 2
    assert "except by selecting everybody or nobody" in got.to_dict()["interpretation"]
    allowed = found(evenhand.compas(), **rule, allow_trivial=True)
    assert allowed.chosen is not None
    assert allowed.chosen.trivial


def test_a_group_that_cannot_be_judged() -> None:
    data = {"s": [0.1, 0.5, 0.6, 0.9], "y": [0, 0, 0, 1], "g": list("aabb")}
    got = found(evenhand.tabulate(data, **WORDS), require="equal_opportunity <= 0.1")
    assert got.policy is not None
    assert got.chosen is None
    assert got.policy.undefined == "because group a has no row with the favourable label"
    assert "undefined because group a" in got.to_dict()["interpretation"]
    check_schema(got.to_dict(), evenhand.schema("thresholds"))


def test_without_labels() -> None:
    data = people(200)
    table = evenhand.tabulate(data, score="s", group="g")
    got = found(table, require="disparate_impact >= 0.5", by_group=True)
    assert got.policy is not None
    assert got.chosen is None
    assert got.best is None
    assert got.policy.feasible > 0
    assert "undefined because there are no labels" in got.to_dict()["interpretation"]
    assert got.by_group is not None
    assert got.by_group.undefined == "because there are no labels"
    labelled = found(evenhand.tabulate(data, **WORDS), require="disparate_impact >= 0.5")
    assert labelled.policy is not None
    assert labelled.policy.ranges == got.policy.ranges
    check_schema(got.to_dict(), evenhand.schema("thresholds"))
    assert "No threshold can be recommended because there are no labels" in found(table).to_dict()["interpretation"]
    with pytest.raises(UsageError, match="equal_opportunity needs true outcomes"):
        found(table, fairness="equal_opportunity")


def test_one_label_one_group_one_score() -> None:
    data = {"s": [0.1, 0.5, 0.6, 0.9], "y": [1, 1, 1, 1], "g": list("aabb")}
    only = found(evenhand.tabulate(data, **WORDS), performance="balanced_accuracy", require="disparate_impact >= 0.1")
    assert only.goal.undefined == "because only one label occurs"
    constant = found(evenhand.tabulate({**data, "s": [0.5] * 4, "y": [0, 1, 0, 1]}, **WORDS), by_group=True)
    assert constant.best is None
    assert "because every threshold selects everybody or nobody" in constant.to_dict()["interpretation"]
    assert "constant" in repr(constant)
    strict = found(constant.table, require="disparate_impact >= 0.9")
    assert strict.policy is not None
    assert strict.policy.undefined == "because every threshold selects everybody or nobody"
    with pytest.raises(UsageError, match="two or more groups"):
        found(evenhand.tabulate({**data, "g": ["a"] * 4}, **WORDS))


# ---- requirements as words --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("disparate_impact >= 80%", "0.8 rather than 80%"),
        ("disparate_impact <= 0.8", "'disparate_impact >= 0.8'"),
        ("demographic_parity >= 0.1", "'demographic_parity <= 0.1'"),
        ("disparate_impact => 0.8", "did you mean '>='"),
        ("demographic_parity =< 0.8", "did you mean '<='"),
        ("demographic_parity == 0.8", "by >= or <="),
        ("disparate_impct >= 0.8", "did you mean 'disparate_impact'"),
        ("disparate_impact >= 1.25", "between 0 and 1"),
        ("disparate_impact > 1", "between 0 and 1"),
        ("demographic_parity <= -0.1", "not below 0"),
        ("demographic_parity < 0", "not below 0"),
        ("demographic_parity <= nan", "is a number"),
        ("demographic_parity <= 1e999", "is a number"),
        ("demographic_parity <= 0_1", "is a number"),
        ("demographic_parity <= x", "is a number"),
        ("demographic_parity <=", "names a measure"),
        ("demographic_parity", "names a measure"),
        ("", "names a measure"),
        ("a <= 1 <= 2", "names a measure"),
        (0.8, "list of requirements"),
        ([0.8], "names a measure"),
        (None, "list of requirements"),
        ("abcc <= 0.1", "does not depend on a threshold"),
        ("shortfall <= 5", "is not what thresholds are chosen by"),
        ("calibration_gap <= 0.1", "does not depend on a threshold"),
    ],
)
def test_requirements_that_make_no_sense(text: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        found(evenhand.compas(), require=text)


def test_requirements_are_read_kindly() -> None:
    texts = ["disparate_impact>=.8", " disparate_impact  ≥\t0.8 ", "demographic_parity<0.1", "abcc <= 1e-1"]
    assert [str(r) for r in required(texts)] == [
        "disparate_impact >= 0.8", "demographic_parity < 0.1", "abcc <= 0.1"]  # fmt: skip
    assert required("demographic_parity < 0.1")[0].meets([0.1, 0.09]).tolist() == [False, True]
    assert required("disparate_impact > 0.8")[0].shortfall([0.7, 0.9, math.nan]).tolist() == [
        pytest.approx(0.1), 0.0, math.inf]  # fmt: skip


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"performance": "auroc"}, "does not depend on a threshold"),
        ({"performance": "accurracy"}, "did you mean 'accuracy'"),
        ({"performance": "cost"}, "needs the costs"),
        ({"cost": (1, 2), "performance": "balanced_accuracy"}, "performance of its own"),
        ({"cost": (0, 0)}, "not both 0"),
        ({"cost": (1, -1)}, "not both 0"),
        ({"cost": (1, math.nan)}, "not both 0"),
        ({"cost": (1, math.inf)}, "not both 0"),
        ({"cost": 3}, "two numbers"),
        ({"cost": ("1", "2")}, "two numbers"),
        ({"fairness": "abcc"}, "does not depend on a threshold"),
        ({"fairness": "equal_oportunity"}, "did you mean 'equal_opportunity'"),
        ({"fairness": 3}, "must be a measure of decisions"),
        ({"threshold": math.nan}, "finite"),
        ({"allow_trivial": 1}, "True or False"),
        ({"by_group": "yes"}, "True or False"),
        ({"reference": "Caucasain"}, "did you mean 'Caucasian'"),
        ({"attribute": "sex"}, "not an attribute"),
        ({"confidence": 1}, "confidence"),
        ({"bootstrap": -1}, "bootstrap"),
        ({"score": "s"}, "knows its columns already"),
    ],
)
def test_words_that_make_no_sense(how: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        found(evenhand.compas(), **how)


def test_tables_that_make_no_sense() -> None:
    data = people(50)
    with pytest.raises(UsageError, match="decides already"):
        found(evenhand.tabulate(data, **WORDS, prediction="d"))
    with pytest.raises(UsageError, match="of a score"):
        found(evenhand.tabulate(data, prediction="d", label="y", group="g"))
    with pytest.raises(UsageError, match="say which attribute"):
        found(evenhand.tabulate(data, score="s", label="y", group=["g", "h"]))
    with pytest.raises(UsageError, match="no number is above"):
        found(evenhand.tabulate({**data, "s": [0.0] + [np.finfo(float).max] * 49}, **WORDS))
    with pytest.raises(DataError):
        evenhand.thresholds({**data, "s": [math.nan] * 50}, **WORDS)
    product = found(evenhand.tabulate(data, score="s", label="y", group=["g", "h"]), attribute=["g", "h"])
    assert product.to_dict()["attribute"] == "g × h"


# ---- thresholds by group ----------------------------------------------------------------------------------------


def every_combination(table: evenhand.Table, got: Thresholds, rate: str) -> list[tuple[float, float]]:
    """(size of the gap, performance) of every combination of thresholds, one for each group, by counting cells."""
    assert table.score is not None
    assert table.label is not None
    names, found_ = table.attributes[0].groups, []
    ref, c, mass = names.index(got.reference), table.codes[0], np.asarray(table.mass, float)
    within = {"selection_rate": np.ones(len(c), bool), "tpr": table.label, "fpr": ~table.label}[rate]
    for own in itertools.product(got.sweep.thresholds, repeat=len(names)):
        above = table.score >= np.array(own)[c]
        picked = ~above if table.meaning.risk else above
        rates = [mass[picked & within & (c == g)].sum() / mass[within & (c == g)].sum() for g in range(len(names))]
        others = [r for g, r in enumerate(rates) if g != ref]
        if got.fairness.scale == "ratio":
            size = min(min(r / rates[ref], rates[ref] / r) if r else 0.0 for r in others) if rates[ref] else math.nan
        else:
            size = max(abs(r - rates[ref]) for r in others)
        right = (got.goal.weights[1] * mass[picked & table.label].sum()
                 + got.goal.weights[0] * mass[~picked & ~table.label].sum())  # fmt: skip
        found_.append((size, right / got.goal.scale))
    return found_


@pytest.mark.parametrize(
    ("id_", "rate"),
    [
        ("demographic_parity", "selection_rate"),
        ("disparate_impact", "selection_rate"),
        ("equal_opportunity", "tpr"),
        ("predictive_equality", "fpr"),
    ],
)
@pytest.mark.parametrize("words", [{}, {"risk": True}, {"weight": "w"}], ids=["plain", "risk", "weights"])
def test_separate_thresholds_are_the_best_of_all_combinations(id_: str, rate: str, words: dict[str, Any]) -> None:
    ratio = id_ == "disparate_impact"
    for seed, groups, performance in ((0, 2, "accuracy"), (1, 3, "balanced_accuracy"), (2, 3, "cost")):
        table = some(seed, 40, groups, 4, **words)
        how = {"cost": (2, 1)} if performance == "cost" else {"performance": performance}
        limit = 0.7 if ratio else 0.15
        got = found(table, fairness=id_, require=f"{id_} {'>=' if ratio else '<='} {limit}", by_group=True, **how)
        assert got.by_group is not None
        assert got.by_group.exact
        assert got.by_group.at_limit is not None
        every = every_combination(table, got, rate)
        for step in (*got.by_group.curve, got.by_group.at_limit):
            keeps = [p for size, p in every
                     if (size >= step.limit - 1e-9 if ratio else size <= step.limit + 1e-9)]  # fmt: skip
            assert same(step.performance, max(keeps)), (seed, step)
            assert step.value >= step.limit - 1e-9 if ratio else step.value <= step.limit + 1e-9
        assert same(got.by_group.curve[-1].performance, max(p for size, p in every if size == size))


def test_many_levels_are_thinned_and_said() -> None:
    from evenhand.analyses.thresholds import by_group as separating

    table = evenhand.tabulate(people(600, 2, 0, None), **WORDS)
    exact = found(table, by_group=True, require="demographic_parity <= 0.05")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(separating, "LEVELS", 50)
        coarse = found(table, by_group=True, require="demographic_parity <= 0.05")
    assert exact.by_group is not None
    assert coarse.by_group is not None
    assert exact.by_group.at_limit is not None
    assert coarse.by_group.at_limit is not None
    assert (exact.by_group.exact, coarse.by_group.exact) == (True, False)
    lost = exact.by_group.at_limit.performance - coarse.by_group.at_limit.performance
    assert 0 <= lost < 0.02
    assert any("different rates" in note for note in coarse.notes)


def test_separate_thresholds_are_called_an_analysis_everywhere() -> None:
    got = found(evenhand.compas(), by_group=True)
    assert "an analysis of what separate thresholds would achieve" in got.to_dict()["by_group"]["what"]
    assert "Thresholds by group: an analysis" in repr(got)
    assert any("the law forbids" in note for note in got.notes)
    two = found(evenhand.compas(), by_group=True, fairness="equalized_odds")
    assert two.by_group is not None
    assert two.by_group.undefined == "because equalized odds compares two rates"
    assert "undefined because equalized odds" in repr(two)
    nobody = {"s": [0.1, 0.5, 0.6, 0.9], "y": [0, 0, 0, 1], "g": list("aabb")}
    none = found(evenhand.tabulate(nobody, **WORDS), by_group=True, fairness="equal_opportunity")
    assert none.by_group is not None
    assert none.by_group.undefined == "because group a has no row with the favourable label"


# ---- documents and the command line -------------------------------------------------------------------------------


def test_hostile_names_and_the_document() -> None:
    names = ["[bold]x[/bold]\n\x1b[31m", "<b>" + "n" * 5000, "\u202eb"]
    data = people(200)
    data["g"] = np.array(names, object)[np.arange(200) % 3]
    got = evenhand.thresholds(data, **WORDS, require="disparate_impact >= 0.8", by_group=True, bootstrap=50)
    check_schema(json.loads(got.to_json()), evenhand.schema("thresholds"))
    assert "\x1b" not in repr(got)
    assert "<b>" not in got._repr_html_()
    assert max(map(len, repr(got).splitlines())) <= 80
    assert len(got.to_frame("pandas").columns) == 13


def test_the_same_bytes() -> None:
    table = some(4, 300, 3, 20)
    a, b = (evenhand.thresholds(table, require="disparate_impact >= 0.6", bootstrap=99, rng=1) for _ in range(2))
    assert a.to_json() == b.to_json()


def test_the_command_line(tmp_path: Path) -> None:
    columns = people(300)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path, out = tmp_path / "scores.csv", tmp_path / "out.json"
    path.write_text("\n".join(lines) + "\n")
    words = ["thresholds", path, "--score", "s", "--label", "y", "--group", "g", "--bootstrap", 50]
    rules = ["--require", "disparate_impact >= 0.6", "--require", "equal_opportunity <= 0.5", "--threshold", 0.5]
    shown = process(*words, *rules, "--by-group", "--cost", "1,2", "--reference", "g1", "--json", out)
    assert (shown.returncode, shown.stderr) == (0, f"wrote {out}\n")
    assert "Evenhand thresholds" in shown.stdout
    document = json.loads(out.read_text())
    check_schema(document, evenhand.schema("thresholds"))
    assert document["options"]["cost"] == [1, 2]
    assert document["reference"] == "g1"
    called = evenhand.thresholds(
        columns, **WORDS, require=[rules[1], rules[3]], threshold=0.5, by_group=True, cost=(1, 2), reference="g1",
        bootstrap=50,
    )  # fmt: skip
    assert document == called.to_dict()
    printed = run(*words, "--json", "-")
    assert json.loads(printed.stdout)["policy"] is None
    for wrong in (["--require", "nonsense"], ["--cost", "1"], ["--cost", "a,b"], ["--prediction", "d"],
                  ["--fairness", "abcc"], ["--performance", "auroc"], ["--score", "s,w"], ["--reference", "zz"],
                  ["--json", tmp_path], ["--attribute", "q"]):  # fmt: skip
        refused = run(*words, *wrong)
        assert refused.returncode == 2, wrong
        assert refused.stdout == ""
        assert refused.stderr.startswith("evenhand: ")
        assert refused.stderr.count("\n") == 1


def test_the_rule_is_printed_as_it_is() -> None:
    data = {"s": [100000.1, 100000.2, 100000.3, 100000.4] * 5, "y": [0, 0, 1, 1] * 5, "g": ["a"] * 12 + ["b"] * 8}
    got = found(evenhand.tabulate(data, **WORDS), require="demographic_parity <= 0.1", choose="value")
    assert "s ≥ 100000.3 meets the policy" in got.to_dict()["interpretation"]
    assert str(required("disparate_impact >= 0.9999999")[0]) == "disparate_impact >= 0.9999999"


def test_a_strict_limit_is_strict_for_groups_too() -> None:
    data = {"s": [1, 2, 3, 4, 5] * 2, "y": [0, 1, 1, 1, 1, 0, 0, 1, 1, 1], "g": ["a"] * 5 + ["b"] * 5}
    words: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "reference": "a", "bootstrap": 0}
    for rule, best in (("disparate_impact > 0.75", 0.9), ("disparate_impact >= 0.75", 1.0)):
        got = evenhand.thresholds(data, **words, require=rule, by_group=True)
        assert got.by_group is not None
        assert got.by_group.at_limit is not None
        assert got.by_group.at_limit.performance == pytest.approx(best)
