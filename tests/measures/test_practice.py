"""Measures of practice against other libraries and loops over rows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import people
from evenhand.analyses.audit.audit import Audit
from evenhand.measures.registry import MEASURES, PRACTICE

ROLES: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "reference": "g0"}
QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 99}


def audited(columns: dict[str, np.ndarray], *ids: str, **words: Any) -> Audit:
    return evenhand.audit(columns, **{**ROLES, **QUICK, "measures": list(ids or PRACTICE), **words})


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    return people(600, groups=2, seed=3)


def of(columns: dict[str, np.ndarray], name: str, group: str) -> np.ndarray:
    return np.asarray(columns[name][columns["g"] == group], np.float64)


def test_the_odds_ratio_is_that_of_statsmodels(columns: dict[str, np.ndarray]) -> None:
    table2x2 = pytest.importorskip("statsmodels.stats.contingency_tables").Table2x2
    d = [of(columns, "s", g) >= 0.5 for g in ("g1", "g0")]
    counts = np.array([[x.sum(), (~x).sum()] for x in d], np.float64)
    gap = audited(columns, "odds_ratio").measure("odds_ratio")
    assert gap.value == pytest.approx(table2x2(counts, shift_zeros=False).oddsratio, rel=1e-12)
    assert gap.ci == pytest.approx(table2x2(counts + 0.5).oddsratio_confint(0.05), rel=1e-9)
    plain = audited(columns, "demographic_parity").measure("demographic_parity")
    assert gap.p_value == plain.p_value
    z = pytest.importorskip("statsmodels.stats.proportion").proportions_ztest(counts[:, 0], counts.sum(1))[0]
    for id_ in ("odds_ratio", "shortfall"):
        assert audited(columns, id_).measure(id_).standard_deviations == pytest.approx(z, rel=1e-9)
    assert plain.standard_deviations == pytest.approx(z, rel=1e-9)


def test_the_shortfall_is_expected_minus_actual(columns: dict[str, np.ndarray]) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    a, b = (of(columns, "s", g) >= 0.5 for g in ("g1", "g0"))
    gap = audited(columns, "shortfall").measure("shortfall")
    assert gap.signed == pytest.approx(len(a) * np.r_[a, b].mean() - a.sum(), rel=1e-9)
    low, high = proportion.confint_proportions_2indep(a.sum(), len(a), b.sum(), len(b), method="newcomb")
    size = len(a) * len(b) / (len(a) + len(b))
    assert gap.ci == pytest.approx((-high * size, -low * size), rel=1e-6)


def test_the_standardised_mean_difference_is_that_of_the_rows(columns: dict[str, np.ndarray]) -> None:
    a, b = of(columns, "s", "g1"), of(columns, "s", "g0")
    spread = columns["s"].std()
    gap = audited(columns, "standardized_mean_difference").measure("standardized_mean_difference")
    assert gap.signed == pytest.approx(100 * (a.mean() - b.mean()) / spread, rel=1e-9)
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert gap.ci == pytest.approx((100 * welch.low / spread, 100 * welch.high / spread), abs=0.3)
    turned = audited({**columns, "s": 1 - columns["s"]}, gap.id, risk=True, threshold=0.5).measure(gap.id)
    assert turned.signed == pytest.approx(gap.signed, rel=1e-9)
    stretched = audited({**columns, "s": 7 + 3 * columns["s"]}, gap.id).measure(gap.id)
    assert stretched.signed == pytest.approx(gap.signed, rel=1e-9)


def test_its_standard_deviation_is_that_of_everybody(columns: dict[str, np.ndarray]) -> None:
    three = people(600, groups=3, seed=3)
    pair = {k: v[three["g"] != "g2"] for k, v in three.items()}
    id_ = "standardized_mean_difference"
    ours, alone = audited(three, id_).measure(id_, "g1"), audited(pair, id_).measure(id_, "g1")
    assert ours.signed == pytest.approx(alone.signed * pair["s"].std() / three["s"].std(), rel=1e-9)
    assert ours.signed != pytest.approx(alone.signed, rel=1e-6)


def test_the_residual_smd_is_welchs_t_of_score_minus_outcome(columns: dict[str, np.ndarray]) -> None:
    a, b = (of(columns, "s", g) - of(columns, "y", g) for g in ("g1", "g0"))
    spread = (columns["s"] - columns["y"]).std()
    gap = audited(columns, "residual_smd").measure("residual_smd")
    theirs = stats.ttest_ind(a, b, equal_var=False)
    ends = theirs.confidence_interval()
    assert gap.signed == pytest.approx(100 * (a.mean() - b.mean()) / spread, rel=1e-9)
    assert gap.ci == pytest.approx((100 * ends.low / spread, 100 * ends.high / spread), rel=1e-9)
    assert gap.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    turned = {**columns, "s": 1 - columns["s"]}
    assert audited(turned, gap.id, risk=True).measure(gap.id).signed == pytest.approx(gap.signed, rel=1e-9)


@pytest.mark.parametrize("draws", [60, pytest.param(1000, id="full", marks=pytest.mark.full)])
def test_of_rare_outcomes_a_small_group_without_any_tells_little(draws: int) -> None:
    """Scores are right in both: with Welch's own variance 66 % of intervals held, the others were alarms."""
    rng, held = np.random.default_rng(4), 0
    for _ in range(draws):
        s = rng.beta(0.3, 8, 1015)
        rows = {"s": s, "y": (rng.random(1015) < s).astype(int), "g": np.repeat(["g0", "g1"], [1000, 15])}
        if rows["y"].any():
            gap = audited(rows, "residual_smd", score_range=(0, 1)).measure("residual_smd")
            assert gap.ci is not None
            assert (gap.ci[0] <= 0 <= gap.ci[1]) == (gap.p_value > 0.05)
            held += gap.ci[0] <= 0 <= gap.ci[1]
    assert held / draws >= 0.92


def test_the_ratio_by_decile_is_that_of_a_loop(columns: dict[str, np.ndarray]) -> None:
    gap = audited(columns, "selection_ratio_by_quantile").measure("selection_ratio_by_quantile")
    ratios = []
    for k in range(1, 10):
        at = np.quantile(columns["s"], k / 10)
        ratios.append((of(columns, "s", "g1") > at).mean() / (of(columns, "s", "g0") > at).mean())
    worst = max(ratios, key=lambda r: abs(np.log(r)))
    assert [p.group / p.reference for p in gap.parts] == pytest.approx(ratios, rel=1e-12)
    assert gap.value == pytest.approx(worst, rel=1e-12)
    assert gap.ci is not None
    assert gap.ci[0] <= gap.value <= gap.ci[1]


def test_weights_count_people_and_clusters_of_one_row_are_none(columns: dict[str, np.ndarray]) -> None:
    weights = np.random.default_rng(0).integers(1, 4, len(columns["s"]))
    repeated = {k: np.repeat(v, weights) for k, v in columns.items()}
    counted, plain = audited({**columns, "n": weights}, weight="n", weight_kind="frequency"), audited(repeated)
    single = audited({**columns, "c": np.arange(len(weights))}, cluster="c")
    for id_ in PRACTICE:
        assert counted.measure(id_).value == pytest.approx(plain.measure(id_).value, rel=1e-9)
        assert counted.measure(id_).ci == pytest.approx(plain.measure(id_).ci, rel=1e-9)
        assert single.measure(id_).value == pytest.approx(audited(columns).measure(id_).value, rel=1e-12)


def test_everybody_twice_as_clusters_knows_no_more(columns: dict[str, np.ndarray]) -> None:
    twice = {k: np.repeat(v, 2) for k, v in columns.items()} | {"c": np.repeat(np.arange(len(columns["s"])), 2)}
    ours, plain = (audited(c, "residual_smd", **w) for c, w in ((twice, {"cluster": "c"}), (columns, {})))
    a, b = ours.measure("residual_smd"), plain.measure("residual_smd")
    assert a.value == pytest.approx(b.value, rel=1e-9)
    assert a.ci == pytest.approx(b.ci, abs=0.3)


def test_a_shortfall_passes_only_with_a_tolerance_of_the_user(columns: dict[str, np.ndarray]) -> None:
    result = audited(columns, "shortfall")
    gap = result.measure("shortfall")
    assert gap.passes is None
    assert gap.unjudged == "because no number is tolerable by itself: state one (--tolerance shortfall=5)"
    assert result.to_dict()["verdict"]["word"] == "cannot be computed"
    assert audited(columns, "shortfall", tolerance={"shortfall": 1000}).measure("shortfall").passes is True
    document = audited(columns, "shortfall", "demographic_parity").to_dict()
    assert document["verdict"]["key"] == ["demographic_parity"]
    verdict = evenhand.check(columns, f"shortfall <= {gap.value + 1}", **ROLES, bootstrap=0)
    assert verdict.passed


def test_what_does_not_exist_has_a_reason() -> None:
    base = {"g": np.repeat(["f", "m"], 4), "y": np.tile([0, 1], 4)}
    ids = list(PRACTICE)
    flat = evenhand.audit({**base, "s": np.full(8, 0.5)}, score="s", label="y", group="g", measures=ids, **QUICK)
    assert all(flat.measure(id_).undefined for id_ in ("standardized_mean_difference", "selection_ratio_by_quantile"))
    assert flat.measure("odds_ratio").undefined == "because everybody of f is selected"
    tens = {**base, "s": np.arange(8) + 1}
    marks = evenhand.audit(tens, score="s", label="y", group="g", measures=ids, **QUICK)
    assert marks.measure("residual_smd").undefined == "because the score runs from 1 to 8 and is no probability"
    assert marks.measure("selection_ratio_by_quantile").undefined == "because nobody of f is above the 0.5 quantile"
    alone = evenhand.audit(tens, score="s", group="g", measures=["residual_smd"], **QUICK)
    assert alone.measure("residual_smd").undefined == "because there are no labels"


def test_they_are_in_documents_metrics_and_no_audit_that_did_not_ask(columns: dict[str, np.ndarray]) -> None:
    result = audited(columns, *PRACTICE, "disparate_impact")
    pytest.importorskip("jsonschema").validate(json.loads(result.to_json()), evenhand.schema("audit"))
    for view in (result.to_html(), result.to_markdown(), result.summary(full=True)):
        assert "residual SMD" in view
    assert "standard deviations apart" in result.summary(full=True)
    for id_ in PRACTICE:
        metric = getattr(evenhand.metrics, id_)(
            columns["y"], columns["s"], sensitive_features=columns["g"], reference="g0", **QUICK
        )
        assert float(metric) == result.measure(id_).value
        assert id_ in dir(evenhand.metrics)
    assert {m["id"] for m in audited(columns, *MEASURES).to_dict()["attributes"][0]["measures"]} == set(MEASURES)


def test_with_the_highest_as_reference_intervals_allow_for_that() -> None:
    columns = people(900, groups=4, seed=1)
    chosen = audited(columns, "shortfall", "odds_ratio", reference="highest")
    ref = chosen.attributes[0].reference
    named = audited(columns, "shortfall", "odds_ratio", reference=ref)
    for gap in chosen.attributes[0].measures:
        plain = named.measure(gap.id, gap.group)
        assert gap.value == plain.value
        assert gap.ci_plain == plain.ci
        assert gap.ci is not None
        assert plain.ci is not None
        assert gap.ci[0] <= plain.ci[0] + 1e-12
        assert gap.ci[1] >= plain.ci[1] - 1e-12


DRAWS = [pytest.param(60, id="reduced"), pytest.param(1000, id="full", marks=pytest.mark.full)]


@pytest.mark.parametrize("draws", DRAWS)
def test_intervals_cover(draws: int) -> None:
    rng = np.random.default_rng(11)
    big, truths = sample(rng, 200_000), {}
    for gap in evenhand.audit(big, **{**ROLES, **QUICK}, measures=[*PRACTICE]).attributes[0].measures:
        truths[gap.id] = gap.estimate
    held = {id_: 0 for id_ in PRACTICE}
    for _ in range(draws):
        columns = sample(rng, 300)
        for gap in audited(columns, permutations=0).attributes[0].measures:
            truth = truths[gap.id]
            if gap.id == "shortfall":  # of people like these
                truth *= _harmonic(columns) / _harmonic(big)
            assert gap.ci is not None
            held[gap.id] += gap.ci[0] <= truth <= gap.ci[1]
    error = 3 * np.sqrt(0.95 * 0.05 / draws)
    for id_, count in held.items():
        assert count / draws >= 0.94 - error, (id_, count / draws)


def _harmonic(columns: dict[str, np.ndarray]) -> float:
    a, b = (float((columns["g"] == g).sum()) for g in ("g1", "g0"))
    return a * b / (a + b)


def sample(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """People of whom the smaller group scores lower, and whose scores are right on average but for 0.03."""
    group = rng.choice(["g0", "g1"], n, p=[0.65, 0.35])
    score = rng.beta(2 + 0.4 * (group == "g0"), 2, n)
    outcome = (rng.random(n) < np.clip(score + 0.03 * (group == "g1"), 0, 1)).astype(int)
    return {"s": score, "y": outcome, "g": group}


def test_scores_in_ranges_say_how_far_off_it_may_be_and_withheld_people_are_missed() -> None:
    columns = people(4000, groups=2, seed=3)
    columns["s"] = np.random.default_rng(1).beta(2 + (columns["g"] == "g1"), 2, 4000)
    exact = evenhand.tabulate(columns, score="s", label="y", group="g")
    id_ = "standardized_mean_difference"
    coarse = evenhand.suppressed(exact, below=5, ranges=20)
    ours, plain = (t.audit(measures=[*PRACTICE], reference="g0", **QUICK) for t in (coarse, exact))
    gap, known = ours.measure(id_), plain.measure(id_)
    assert gap.resolution > 0
    assert abs(gap.value - known.value) <= gap.resolution
    assert ours.measure("residual_smd").undefined == "because scores are known in ranges"
    few = people(2000, groups=3, seed=3)
    few["g"][:7] = "g9"
    withheld = evenhand.suppressed(evenhand.tabulate(few, score="s", label="y", group="g"), below=20)
    told = withheld.audit(measures=[id_], **QUICK).measure(id_)
    assert told.undefined
    assert "withheld" in told.undefined


def test_policies_hold_decisions_to_measures_of_practice():
    people = {"d": [1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0], "g": ["f"] * 6 + ["m"] * 6}
    verdict = evenhand.check(people, prediction="d", group="g", require="shortfall <= 1", bootstrap=0)
    assert not verdict.passed
    everybody = {**people, "d": [1] * 12}
    nothing = evenhand.check(everybody, prediction="d", group="g", require="shortfall <= 1", bootstrap=0)
    assert "everybody receives the favourable decision" in str(nothing)


def test_the_decile_that_is_named_is_the_one_of_the_value():
    rng = np.random.default_rng(1)
    g = np.repeat(["f", "m"], 1000)
    score = np.clip(rng.normal(0.4, 0.15, 2000) + np.where(g == "m", 0.08, 0.0), 0, 1)
    verdict = evenhand.check(
        {"s": score, "g": g},
        score="s",
        group="g",
        reference="m",
        bootstrap=0,
        require="selection_ratio_by_quantile >= 0.8",
    )
    by = {q: [(score[g == one] > np.quantile(score, q)).mean() for one in "fm"] for q in (0.5, 0.6, 0.7, 0.8, 0.9)}
    q, (f, m) = min(by.items(), key=lambda one: one[1][0] / one[1][1])
    assert max(by, key=lambda one: by[one][1] - by[one][0]) != q
    assert f"Most above the {q:g} quantile: {f:.3f} against {m:.3f}." in " ".join(str(verdict).split())
