"""P-values, the noise floor, ordinary bootstrap intervals: exact where they can be, valid by simulation elsewhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import people
from evenhand.analyses.audit import score_gaps as distances
from evenhand.analyses.audit.largest_gap import range_nulls
from evenhand.analyses.audit.score_gaps import recentred_nulls
from evenhand.analyses.options import Options
from evenhand.errors import UsageError
from evenhand.inference import bootstrap_interval as ordinary, interval, permutation, resample
from evenhand.inference.bootstrap_interval import ordinary_intervals, rate_statistic
from evenhand.inference.null import apart_by, null_of, rate_null, rate_size, score_nulls
from evenhand.inference.permutation import all_permuted, permuted
from evenhand.inference.settings import NULLS
from evenhand.inference.significance import (
    LEAST_P,
    benjamini_hochberg,
    chi_squared,
    cohens_h,
    fisher,
    g_test,
    holm,
    splits,
    two_proportion_z,
)
from evenhand.measures.registry import MEASURES, RateMeasure, ScoreMeasure, ScoreOptions, find
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreView

SCORED = [m for m in MEASURES.values() if isinstance(m, ScoreMeasure)]
RATED = [m for m in MEASURES.values() if isinstance(m, RateMeasure)]
OPTIONS = ScoreOptions()


def pair_of(table: evenhand.Table) -> Any:
    return ScoreView(table, table.groupings[0])([0, 1])


# ---- classical tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "n", "b", "m"), [(8, 10, 1, 6), (3, 50, 9, 40), (0, 5, 0, 7), (5, 5, 0, 6), (40, 90, 1, 3)]
)
def test_fisher_and_z_equal_scipy(a: int, n: int, b: int, m: int) -> None:
    expected = stats.fisher_exact([[a, n - a], [b, m - b]])
    found = fisher(a, n, b, m)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    if 0 < a + b < n + m:
        z = two_proportion_z(a, n, b, m)
        chi2 = stats.chi2_contingency([[a, n - a], [b, m - b]], correction=False)
        assert z.statistic**2 == pytest.approx(chi2.statistic)
        assert z.p_value == pytest.approx(chi2.pvalue)


def test_chi_squared_g_and_h_equal_their_definitions() -> None:
    k, n = np.array([30, 50, 20]), np.array([100.0, 120.0, 90.0])
    observed = np.stack([k, n - k])
    for test, kind in ((chi_squared, "pearson"), (g_test, "log-likelihood")):
        expected = stats.chi2_contingency(observed, correction=False, lambda_=kind)
        found = test(k / n, n)
        assert found.statistic == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)
    assert g_test(np.array([0.0, 0.5]), np.array([10.0, 10.0])).p_value == pytest.approx(
        stats.chi2_contingency([[0, 5], [10, 5]], correction=False, lambda_="log-likelihood").pvalue
    )
    sm = pytest.importorskip("statsmodels.stats.proportion")
    assert float(cohens_h(0.3, 0.12)) == pytest.approx(sm.proportion_effectsize(0.3, 0.12))


def test_p_values_are_never_0() -> None:
    assert two_proportion_z(0, 10**8, 10**8, 10**8).p_value == LEAST_P
    assert fisher(0, 10**7, 10**7, 10**7).p_value == LEAST_P
    assert chi_squared(np.array([0.0, 1.0]), np.array([1e8, 1e8])).p_value == LEAST_P


@pytest.mark.parametrize(("part", "n_a", "n"), [(3, 2, 5), (500, 300, 2000), (10, 990, 1000), (5, 5, 5), (0, 4, 9)])
def test_splits_are_hypergeometric(part: int, n_a: int, n: int) -> None:
    k, log_p = splits(part, n_a, n)
    np.testing.assert_allclose(log_p, stats.hypergeom(n, part, n_a).logpmf(k), rtol=1e-8, atol=1e-9)
    assert np.exp(log_p).sum() == pytest.approx(1)


def test_splits_of_a_billion_keep_their_mean_and_spread() -> None:
    part, n_a, n = 3 * 10**8, 4 * 10**8, 10**9
    k, log_p = splits(part, n_a, n)
    p = np.exp(log_p)
    mean = n_a * part / n
    assert (p * (k - mean)).sum() == pytest.approx(0, abs=1)
    assert np.sqrt((p * (k - mean) ** 2).sum()) == pytest.approx(stats.hypergeom(n, part, n_a).std(), rel=1e-6)


def test_adjusted_p_values_equal_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).random(40) ** 3
    p[5] = p[6]
    np.testing.assert_allclose(holm(p), multitest.multipletests(p, method="holm")[1])
    np.testing.assert_allclose(benjamini_hochberg(p), multitest.multipletests(p, method="fdr_bh")[1])
    assert holm([]) == benjamini_hochberg([]) == []


# ---- permuted tables -------------------------------------------------------------------------------------


def small(seed: int, levels: int = 3, groups: int = 2) -> Counts:
    array = np.random.default_rng(seed).integers(0, 4, (levels, groups, 2))
    array[0] += 1
    return Counts(array, tuple("abcd"[:groups]))


AXES: dict[Any, tuple[int, ...]] = {"all": (1, 3), "label": (1,), "level": (3,)}


@pytest.mark.parametrize("within", AXES)
@pytest.mark.parametrize("groups", [2, 3])
def test_exchanged_tables_keep_their_margins(within: Any, groups: int) -> None:
    counts = small(1, groups=groups)
    drawn = np.concatenate([c.array for c in permuted(counts, 700, np.random.default_rng(0), within)])
    assert drawn.shape == (700, *counts.array.shape)
    assert drawn.min() >= 0
    # who is where, and how large each group is within its stratum
    assert (drawn.sum(2) == counts.array.sum(1)).all()
    axes = AXES[within]
    assert (drawn.sum(axes) == counts.array.sum(tuple(a - 1 for a in axes))).all()


@pytest.mark.parametrize("within", AXES)
def test_all_tables_are_those_of_all_permutations(within: Any) -> None:
    """Every assignment of people to groups within their strata, one by one."""
    counts = Counts(np.array([[[1, 1], [0, 1]], [[1, 0], [1, 2]]]), ("a", "b"))
    rows = [(lv, g, y) for lv, g, y in np.ndindex(2, 2, 2) for _ in range(counts.array[lv, g, y])]
    stratum = {"all": lambda r: 0, "label": lambda r: r[2], "level": lambda r: r[0]}[within]
    seen: dict[bytes, int] = {}
    for order in itertools.permutations(range(len(rows))):
        table = np.zeros((2, 2, 2), int)
        if any(stratum(rows[i]) != stratum(rows[j]) for i, j in enumerate(order)):
            continue
        for i, j in enumerate(order):
            table[rows[i][0], rows[j][1], rows[i][2]] += 1
        seen[table.tobytes()] = seen.get(table.tobytes(), 0) + 1
    found = all_permuted(counts, within)
    assert found is not None
    tables, probability = found
    total = sum(seen.values())
    assert len(tables.array) == len(seen)
    for table, p in zip(tables.array, probability, strict=True):
        assert p == pytest.approx(seen[np.ascontiguousarray(table, int).tobytes()] / total)


@pytest.mark.parametrize("within", AXES)
def test_drawn_tables_have_the_means_and_spreads_of_all_tables(within: Any) -> None:
    counts = small(3)
    drawn = np.concatenate([c.array for c in permuted(counts, 4000, np.random.default_rng(1), within)])
    listed = all_permuted(counts, within)
    assert listed is not None
    mean = np.average(listed[0].array, weights=listed[1], axis=0)
    spread = np.sqrt(np.average((listed[0].array - mean) ** 2, weights=listed[1], axis=0))
    np.testing.assert_allclose(drawn.mean(0), mean, atol=5 * spread.max() / np.sqrt(4000) + 0.02)
    np.testing.assert_allclose(drawn.std(0), spread, rtol=0.08, atol=0.02)


def test_more_than_a_billion_people_are_exchanged_too() -> None:
    counts = Counts(np.full((3, 2, 2), 10**9), ("a", "b"))
    drawn = np.concatenate([c.array for c in permuted(counts, 50, np.random.default_rng(0), "label")])
    assert (drawn.sum(1) == counts.array.sum(0)).all()
    assert np.abs(drawn / 1e9 - 1).max() < 1e-3
    pair = replace(pair_of(evenhand.compas()), array=pair_of(evenhand.compas()).array * 10**7)
    found = score_nulls(SCORED[:4], pair, OPTIONS, "concept", 99, np.random.default_rng(0), 0.95)
    assert found["abcc"].p_value == 0.01
    assert found["abcc"].mean < 1e-4


# ---- nulls -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("m", RATED, ids=lambda m: m.id)
def test_exact_p_values_of_rates_equal_those_of_all_tables(m: RateMeasure, seed: int) -> None:
    counts = small(seed, levels=2) if m.levels == "decision" else small(seed, levels=3)
    values = m.profile(counts).values
    if np.isnan(values).any() or (m.scale == "ratio" and 0 in values):
        pytest.skip("the measure is undefined on this table")
    listed = all_permuted(counts, m.within)
    assert listed is not None
    sizes = rate_size(m, m.profile(listed[0]).values)
    sizes = np.where(np.isnan(sizes), np.inf if m.id == "treatment_equality" else 0.0, sizes)
    found = rate_null(m, counts, "concept", 100, np.random.default_rng(0), 0.95)
    # of score bins, the test counts each gap by how well it is known
    tested = apart_by(m, m.profile(listed[0])) if m.levels == "bins" else sizes
    observed = float(apart_by(m, m.profile(counts)))
    assert found.p_value == pytest.approx(min(listed[1][tested >= observed - 1e-9].sum(), 1), abs=1e-12)
    assert found.method == "exact"
    if m.scale == "difference" and np.isfinite(sizes).all():
        assert found.mean == pytest.approx((sizes * listed[1]).sum())


def test_few_people_get_an_exact_p_value_by_hand() -> None:
    """Scores .1 .2 | .8 .9: of the six ways to choose two people of four, two show a gap as large."""
    a = evenhand.audit(score=[0.1, 0.2, 0.8, 0.9], group=list("aabb"), bootstrap=0)
    gap = a.measure("abcc")
    assert gap.null is not None
    assert (gap.null.method, gap.p_value) == ("exact", pytest.approx(1 / 3))
    areas = [np.abs(np.sort(x) - np.sort(y)).mean() for x, y in _halves([0.1, 0.2, 0.8, 0.9])]
    assert gap.null.mean == pytest.approx(np.mean(areas))
    assert gap.excess == pytest.approx(0.7 - np.mean(areas))


def _halves(people_: list[float]) -> list[tuple[list[float], list[float]]]:
    return [
        ([people_[i] for i in chosen], [people_[i] for i in range(4) if i not in chosen])
        for chosen in itertools.combinations(range(4), 2)
    ]


def test_drawn_p_values_are_near_the_exact_ones(monkeypatch: Any) -> None:
    table = evenhand.tabulate(people(14, 2, seed=5, levels=4), score="s", label="y", group="g")
    pair = pair_of(table)
    exact = score_nulls(SCORED, pair, OPTIONS, "concept", 99, np.random.default_rng(0), 0.95)
    monkeypatch.setattr(permutation, "MOST_TABLES", 0)
    drawn = score_nulls(SCORED, pair, OPTIONS, "concept", 3000, np.random.default_rng(0), 0.95)
    assert {e.method for e in exact.values()} == {"exact"}
    for id_, e in exact.items():
        assert drawn[id_].method == "3000 permutations"
        assert drawn[id_].p_value == pytest.approx(e.p_value, abs=0.04)
        assert drawn[id_].mean == pytest.approx(e.mean, abs=0.02)


def test_an_undefined_table_counts_as_the_largest_gap() -> None:
    found = null_of(1.0, np.array([0.5, 2.0, np.nan, 0.1]), "test", 0.95)
    assert found.p_value == (1 + 2) / 5
    assert found.undefined == 0.25
    assert found.mean == pytest.approx((0.5 + 2.0 + 0.1) / 3)
    assert found.sample.tolist() == [0.1, 0.5, 2.0]


@pytest.mark.parametrize("null", NULLS)
def test_a_constant_score_has_a_p_value_of_1(null: str) -> None:
    columns = {**people(60, 2), "s": np.full(60, 0.5)}
    a = evenhand.audit(columns, score="s", label="y", group="g", null=null, permutations=99, score_range=(0, 1))
    for gap in a.attributes[0].measures:
        if gap.undefined or MEASURES[gap.id].family in ("sufficiency", "accuracy"):
            continue  # these are about labels
        assert gap.p_value == 1, gap.id
        assert (gap.p_adjusted, gap.p_adjusted_bh) == (1, 1)


def test_a_measure_alone_has_the_p_value_it_has_among_others() -> None:
    table = evenhand.tabulate(people(300, 3), score="s", label="y", group="g")
    for null in NULLS:
        among = evenhand.audit(table, null=null, bootstrap=0, permutations=99)
        for id_ in ("abcc", "roc", "calibration_standardized", "equalized_odds", "treatment_equality"):
            alone = evenhand.audit(table, null=null, bootstrap=0, permutations=99, measures=[id_])
            assert alone.measure(id_).null == among.measure(id_).null
            assert alone.attributes[0].largest[0].null == next(
                g.null for g in among.attributes[0].largest if g.id == id_
            )


def test_published_p_values_of_compas() -> None:
    """Becker et al. 2024's Table C1, permuted over all rows: 0.30, 0.31, 0.23, and the rest below 0.01."""
    a = evenhand.audit(evenhand.compas(), reference="Caucasian", null="published", bootstrap=0, permutations=4000)
    printed = {"calibration_standardized": 0.30, "roc": 0.31, "calibration_uniform": 0.23}
    for id_ in (
        "equal_opportunity_standardized", "predictive_equality_standardized", "xroc", "equal_opportunity_uniform",
        "predictive_equality_uniform",
    ):  # fmt: skip
        assert a.measure(id_).p_value == pytest.approx(1 / 4001)
    for id_, p in printed.items():
        error = np.sqrt(p * (1 - p) / 1000) + 0.005
        assert abs(a.measure(id_).p_value - p) < 3 * error, id_  # type: ignore[operator]


GERMAN = {  # Becker et al. 2024's Table C2: of the model, and of the one without sex
    "equal_opportunity_standardized": (0.04, 0.32), "predictive_equality_standardized": (0.09, 0.99),
    "calibration_standardized": (0.35, 0.26), "roc": (0.80, 0.69), "xroc": (0.02, 0.54),
    "equal_opportunity_uniform": (0.13, 0.23), "predictive_equality_uniform": (0.10, 0.98),
    "calibration_uniform": (0.57, 0.84),
}  # fmt: skip


@pytest.mark.parametrize("model", ["logr", "logr_debiased"])
def test_published_p_values_of_german_credit(model: str, data_folder: Path) -> None:
    a = evenhand.audit(
        data_folder / "german_logr_predictions.csv", score=model, label="label", favorable="good", group="sex",
        reference="male", null="published", bootstrap=0, permutations=2000,
    )  # fmt: skip
    for id_, printed in GERMAN.items():
        p, found = printed[model == "logr_debiased"], a.measure(id_).p_value
        assert found is not None
        assert abs(found - p) < 3.5 * np.sqrt(p * (1 - p) * (1 / 1000 + 1 / 2000)) + 0.006, id_
        assert (found < 0.05) == (p < 0.05)


# ---- validity, by simulation -------------------------------------------------------------------------------


def continuous(rng: np.random.Generator, n: int) -> Any:
    return rng.beta(2, 3, n)


KINDS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "continuous": continuous,
    "three levels": lambda rng, n: rng.choice([0.2, 0.5, 0.9], n, p=[0.5, 0.3, 0.2]),
    "rare and binary": lambda rng, n: (rng.random(n) < 0.06).astype(float),
    "constant": lambda rng, n: np.full(n, 0.4),
}
REPLICATIONS = [pytest.param(100, id="reduced"), pytest.param(1000, id="full", marks=pytest.mark.full)]


def p_values(
    kind: str, sizes: tuple[int, int], rng: np.random.Generator, null: Any, shift: float = 0.0
) -> dict[str, float]:
    """P-values of every measure on people of two groups that differ by a shift in scores."""
    n = sum(sizes)
    g = np.repeat([0, 1], sizes)
    s = np.clip(KINDS[kind](rng, n) + shift * g, 0, 1)
    y = (rng.random(n) < 0.2 + 0.6 * s).astype(int)
    table = evenhand.tabulate(score=s, label=y, group=g, score_range=(0, 1))
    seed = np.random.default_rng(int(rng.integers(2**31)))
    pair = pair_of(table)
    if not pair.array.sum((0,)).all():
        return {}
    found = score_nulls(
        [m for m in SCORED if not (m.smooth and kind == "constant")], pair, OPTIONS, null, 99, seed, 0.95
    )
    p = {id_: one.p_value for id_, one in found.items()}
    for m in RATED:
        counts = (
            table.decisions(table.groupings[0], 0.5)
            if m.levels == "decision"
            else table.binned(table.groupings[0], ScoreOptions().gap_bins)
        )
        values = m.profile(counts).values
        known = ~np.isnan(values)
        if (known.all() if m.levels == "decision" else known.all(-1).any()) and not (
            m.scale == "ratio" and 0 in values
        ):
            p[m.id] = rate_null(m, counts, null, 99, seed, 0.95).p_value
    return p


@pytest.mark.parametrize("replications", REPLICATIONS)
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("kind", KINDS)
def test_p_values_reject_as_often_as_they_say(kind: str, null: str, replications: int) -> None:
    """When groups are alike. No more often for discrete statistics; exactly as often where ties are rare."""
    rng = np.random.default_rng(4)
    seen: dict[str, list[float]] = {}
    for _ in range(replications):
        for id_, p in p_values(kind, (70, 50), rng, null).items():
            seen.setdefault(id_, []).append(p)
    continuous_ones = {m.id for m in SCORED if kind == "continuous" and m.view is None}
    for id_, values in seen.items():
        assert min(values) > 0
        for level in (0.01, 0.05, 0.1):
            rejected = int(np.sum(np.array(values) <= level + 1e-12))
            side = "two-sided" if id_ in continuous_ones else "greater"
            assert stats.binomtest(rejected, len(values), level, alternative=side).pvalue > 2e-4, (id_, level)
        if kind == "constant" and MEASURES[id_].family in ("independence", "separation"):
            assert min(values) == 1, id_


def test_power_rises_with_people() -> None:
    rng = np.random.default_rng(0)
    rejected = {}
    for n in (40, 160, 640):
        runs = [p_values("continuous", (n, n // 2), rng, "concept", shift=0.08) for _ in range(40)]
        rejected[n] = {
            id_: np.mean([r[id_] <= 0.05 for r in runs]) for id_ in ("abcc", "delta_dp_c", "demographic_parity")
        }
    for id_ in rejected[40]:
        assert rejected[40][id_] < rejected[160][id_] < rejected[640][id_]
        assert rejected[640][id_] > 0.85


@pytest.mark.parametrize(
    "replications", [pytest.param(60, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full)]
)
def test_the_largest_of_four_groups_rejects_as_often_as_it_says(replications: int) -> None:
    rng = np.random.default_rng(2)
    scored = [
        m for m in SCORED if m.id in ("abcc", "equal_opportunity_standardized", "roc", "calibration_standardized")
    ]
    rated = [m for m in RATED if m.levels == "decision" and m.id != "treatment_equality"]
    pairs = [(a, b) for a in range(4) for b in range(a)]
    seen: dict[str, list[float]] = {}
    for _ in range(replications):
        g = np.repeat(np.arange(4), (80, 60, 40, 20))
        s = rng.beta(2, 3, 200)
        table = evenhand.tabulate(score=s, label=(rng.random(200) < s).astype(int), group=g)
        grouping = table.groupings[0]
        seed = np.random.default_rng(int(rng.integers(2**31)))
        found = score_nulls(scored, ScoreView(table, grouping)(range(4)), OPTIONS, "concept", 59, seed, 0.95, pairs)
        found |= range_nulls(rated, table.decisions(grouping, 0.4), "concept", 59, seed, 0.95)
        for id_, null in found.items():
            seen.setdefault(id_, []).append(null.p_value)
    for id_, values in seen.items():
        for level in (0.05, 0.1, 0.5):
            rejected = int(np.sum(np.array(values) <= level + 1e-12))
            assert stats.binomtest(rejected, replications, level, alternative="greater").pvalue > 1e-3, (id_, level)


@pytest.mark.parametrize(
    "replications", [pytest.param(60, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full)]
)
def test_sampling_weights_reject_no_more_often_than_they_say(replications: int) -> None:
    """Weights that go with the outcome, and differ between groups."""
    rng = np.random.default_rng(7)
    seen: dict[str, list[float]] = {}
    ids = [m.id for m in MEASURES.values() if m.id != "treatment_equality"]
    for i in range(replications):
        n = 400
        g = (rng.random(n) < 0.35).astype(int)
        s = np.round(rng.beta(2, 3, n), 2)
        y = (rng.random(n) < s).astype(int)
        w = (0.5 + rng.random(n) + y) * np.where(g, 2.0, 0.7)
        kept = rng.random(n) < 1 / (1 + y)  # they are there so much less often
        a = evenhand.audit(
            score=s[kept], label=y[kept], group=g[kept], weight=w[kept], permutations=99, bootstrap=0, rng=i,
            measures=ids, threshold=0.4,
        )  # fmt: skip
        for gap in a.attributes[0].measures:
            if gap.p_value is not None:
                seen.setdefault(gap.id, []).append(gap.p_value)
    for id_, values in seen.items():
        for level in (0.05, 0.1):
            rejected = int(np.sum(np.array(values) <= level + 1e-12))
            # the limit of what such small weighted samples keep: half as often again
            assert stats.binomtest(rejected, len(values), 1.5 * level, alternative="greater").pvalue > 1e-3, (
                id_,
                level,
            )


def test_recentred_nulls_agree_with_exchanged_ones_where_both_exist() -> None:
    pair = pair_of(evenhand.tabulate(people(3000, 2, levels=None), score="s", label="y", group="g"))
    measures = [m for m in SCORED if m.view is None]
    a = score_nulls(measures, pair, OPTIONS, "concept", 400, np.random.default_rng(0), 0.95)
    b = recentred_nulls(measures, pair, Options(bootstrap=0, seed=None, scores=OPTIONS), 400, np.random.default_rng(0))
    for m in measures:
        assert b[m.id].high == pytest.approx(a[m.id].high, rel=0.35), m.id


# ---- what can be detected ---------------------------------------------------------------------------------


def test_a_detectable_gap_is_detected_four_times_of_five() -> None:
    """A shift of scores as large as the noise floor says is found at least so often."""
    rng = np.random.default_rng(3)
    found, runs = 0, 60
    m = find("abcc")
    assert isinstance(m, ScoreMeasure)
    for _ in range(runs):
        s = rng.normal(0, 0.1, (2, 150)).clip(-0.4, 0.4) + 0.5
        alike = evenhand.tabulate(score=s.ravel(), group=np.repeat([0, 1], 150), score_range=(0, 1))
        size = score_nulls([m], pair_of(alike), OPTIONS, "concept", 99, rng, 0.95)["abcc"].detectable
        moved = evenhand.tabulate(score=np.r_[s[0], s[1] + size], group=np.repeat([0, 1], 150), score_range=(-1, 2))
        found += score_nulls([m], pair_of(moved), OPTIONS, "concept", 99, rng, 0.95)["abcc"].p_value <= 0.05
    assert stats.binomtest(found, runs, 0.8, alternative="less").pvalue > 1e-3
    assert found / runs < 1 or runs < 100


def test_small_groups_are_called_too_small() -> None:
    columns: dict[str, Any] = people(400, 2, seed=1)
    columns["g"] = np.r_[["tiny"] * 5, columns["g"][5:]]
    a = evenhand.audit(columns, score="s", label="y", group="g", bootstrap=0, permutations=99)
    told = [n for n in a.notes if n.startswith("too small to conclude anything")]
    assert len(told) == 1
    assert "'tiny'" in told[0]
    assert "g0" not in told[0]
    assert a.attributes[0].too_small == ("tiny",)
    assert a.measure("demographic_parity", "tiny").underpowered is True
    assert a.measure("demographic_parity", "g0").underpowered is False
    assert "too small to conclude anything" in repr(a)


# ---- ordinary bootstrap intervals --------------------------------------------------------------------------


def test_bca_percentile_and_basic_equal_scipy() -> None:
    """On a difference of two rates, resampled as people are."""
    rng = np.random.default_rng(0)
    sizes = (60, 40)
    rows = [rng.random(n) < p for n, p in zip(sizes, (0.35, 0.6), strict=True)]
    array = np.zeros((2, 2, 1), int)
    for g, k in enumerate(rows):
        array[1, g, 0], array[0, g, 0] = k.sum(), (~k).sum()
    m = find("demographic_parity")
    assert isinstance(m, RateMeasure)
    for kind, method in (("percentile", "percentile"), ("basic", "basic"), ("bca", "BCa")):
        expected = stats.bootstrap(
            rows, lambda a, b, axis: a.mean(axis) - b.mean(axis), n_resamples=20_000, method=method, vectorized=True,
            random_state=1,
        ).confidence_interval  # fmt: skip
        found = ordinary_intervals(
            kind, {m.id: rate_statistic(m)}, Counts(array, ("a", "b")), 0.95, 20_000, np.random.default_rng(1), True
        )[m.id]
        assert found.ci == pytest.approx(tuple(expected), abs=0.012)
        assert found.undefined == 0


def test_the_bca_interval_of_a_skewed_number_is_the_textbook_one() -> None:
    rng = np.random.default_rng(5)
    x = rng.exponential(size=40)
    draws = rng.choice(x, (20_000, 40)).var(1)
    left_out = np.array([np.delete(x, i).var() for i in range(40)])
    found = interval.bca(float(x.var()), draws, left_out, np.ones(40), 0.9)
    expected = stats.bootstrap(
        (x,), np.var, n_resamples=20_000, method="BCa", confidence_level=0.9, random_state=2
    ).confidence_interval
    assert found == pytest.approx(tuple(expected), rel=0.05)


@pytest.mark.parametrize("kind", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("stratified", [False, True])
def test_every_measure_has_an_ordinary_interval_on_request(kind: str, stratified: bool) -> None:
    a = evenhand.audit(evenhand.compas(), interval=kind, stratified=stratified, bootstrap=200, permutations=0)
    for gap in a.attributes[0].measures:
        assert gap.method == f"{'BCa' if kind == 'bca' else kind} bootstrap"
        assert gap.ci is not None
        assert gap.ci == gap.ci_bootstrap
        assert gap.ci[0] <= gap.ci[1]
        if gap.signed is None:
            assert gap.ci[0] >= 0
        assert f"{gap.ci[0]:.3f} to {gap.ci[1]:.3f}" in gap.interpretation
    large = a.measure("demographic_parity").ci
    assert large == pytest.approx((0.215, 0.265), abs=0.01)


def test_stratified_resamples_keep_the_size_of_every_group() -> None:
    table = evenhand.tabulate(people(300, 3), score="s", label="y", group="g")
    counts = table.decisions(table.groupings[0], 0.5)
    for batch in resample.bootstrap(counts, 20, np.random.default_rng(0), stratified=True):
        assert (batch.array.sum((1, 3)) == counts.array.sum((0, 2))).all()
    weighted = evenhand.tabulate(people(300, 3), score="s", label="y", group="g", weight="w")
    counts = weighted.decisions(weighted.groupings[0], 0.5)
    for batch in resample.bootstrap(counts, 20, np.random.default_rng(0), stratified=True):
        np.testing.assert_allclose(batch.array.sum((1, 3)), np.broadcast_to(counts.array.sum((0, 2)), (20, 3)))


def test_resamples_without_a_value_are_counted() -> None:
    """A group with one favourable label loses it in about a third of the resamples."""
    s, y = np.linspace(0, 1, 60), np.r_[np.zeros(19), 1, np.tile([0, 1], 20)].astype(int)
    a = evenhand.audit(score=s, label=y, group=np.repeat(["a", "b"], [20, 40]), bootstrap=500, permutations=0)
    gap = a.measure("equal_opportunity")
    assert gap.resamples_undefined is not None
    assert 120 < gap.resamples_undefined < 250
    assert gap.ci_bootstrap is None
    assert gap.ci is not None
    assert a.to_dict()["attributes"][0]["measures"][0]["resamples_undefined"] == 0
    bca = evenhand.audit(
        score=s, label=y, group=np.repeat(["a", "b"], [20, 40]), bootstrap=500, permutations=0, interval="bca"
    ).measure("equal_opportunity")
    assert bca.ci is None
    assert bca.resamples_undefined is not None
    assert bca.resamples_undefined > 120
    assert (bca.passes, bca.conclusive) == (gap.passes, None)


@pytest.mark.parametrize(
    "words", [{}, {"interval": "bca", "stratified": True}, {"weight": "w"}, {"cluster": "c"}], ids=str
)
def test_the_same_seed_gives_the_same_bytes_whatever_the_batches(words: dict[str, Any], monkeypatch: Any) -> None:
    columns: dict[str, Any] = {**people(500, 3, levels=None), "c": np.arange(500) // 3}

    def run() -> str:
        return evenhand.audit(
            columns, score="s", label="y", group="g", rng=3, bootstrap=60, permutations=60, **words
        ).to_json()

    whole = run()
    for module in (resample, distances, ordinary):
        monkeypatch.setattr(module, "CELLS_AT_ONCE", 3000)
    assert run() == whole


# ---- words ------------------------------------------------------------------------------------------------


def test_0_switches_a_part_off() -> None:
    a = evenhand.audit(evenhand.compas(), permutations=0, bootstrap=0)
    gap = a.measure("abcc")
    assert (gap.p_value, gap.excess, gap.p_adjusted, gap.null, gap.ci) == (None,) * 5
    assert a.measure("demographic_parity").tests  # closed forms need no draws
    assert "null" not in repr(a)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"permutations": -1}, "permutations must be a whole number"),
        ({"permutations": 1.5}, "permutations must be a whole number"),
        ({"permutations": True}, "permutations must be a whole number"),
        ({"null": "concepts"}, "did you mean 'concept'"),
        ({"null": None}, "null must be one of"),
        ({"interval": "BCA"}, "interval must be one of"),
        ({"interval": "bca", "bootstrap": 0}, "rests on resamples"),
        ({"stratified": "yes"}, "stratified is True or False"),
    ],
)
def test_words_that_make_no_sense_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evenhand.audit(evenhand.compas(), **words)


def test_published_nulls_are_refused_where_rows_cannot_be_permuted() -> None:
    columns: dict[str, Any] = {**people(60, 2), "c": np.arange(60) // 2}
    for words, what in (({"weight": "w"}, "sampling weights"), ({"cluster": "c"}, "clusters")):
        with pytest.raises(UsageError, match=what):
            evenhand.audit(columns, score="s", label="y", group="g", null="published", **words)


def test_a_result_keeps_its_null_distribution() -> None:
    a = evenhand.audit(evenhand.compas(), permutations=500, bootstrap=0)
    null = a.measure("abcc").null
    assert null is not None
    assert len(null.sample) == 500
    assert (np.diff(null.sample) >= 0).all()
    assert null.mean == pytest.approx(null.sample.mean())
    assert null.high == pytest.approx(np.quantile(null.sample, 0.95), rel=0.05)
    exact = a.measure("demographic_parity").null
    assert exact is not None
    assert exact.chance is not None
    assert exact.chance.sum() == pytest.approx(1, abs=1e-9)


def test_too_few_permutations_for_so_many_comparisons_are_pointed_out() -> None:
    a = evenhand.audit(people(200, 4), score="s", label="y", group="g", permutations=200, bootstrap=0)
    assert any("take 2,000 permutations" in note for note in a.notes)
    b = evenhand.audit(evenhand.compas(), bootstrap=0)
    assert not any("permutations" in note for note in b.notes)


# ---- what reviewers found ------------------------------------------------------------------------------------


def test_a_ratio_of_nobody_is_no_certainty() -> None:
    """|log 0| is infinite, and minus an infinite rounding error it was nothing: p was 2e-308."""
    a = evenhand.audit(prediction=[0, 1, 0, 0], group=list("abbb"))
    gap = a.measure("disparate_impact")
    assert (gap.value, gap.p_value) == (0, 1)
    words: dict[str, Any] = {"prediction": [0] * 5 + [1] * 3 + [0] * 27, "group": ["a"] * 5 + ["b"] * 30}
    for null in NULLS:
        b = evenhand.audit(**words, null=null, permutations=199)
        assert b.measure("disparate_impact").p_value == b.measure("demographic_parity").p_value
        assert b.measure("disparate_impact").p_value > 0.5  # type: ignore[operator]
    three = evenhand.audit(prediction=[0, 0, 0, 1, 0, 0, 1, 1, 0], group=list("aaabbbccc"), permutations=199)
    p = {g.id: g.null.p_value for g in three.attributes[0].largest if g.null}
    assert p["disparate_impact"] == p["demographic_parity"] > 0.1


def test_a_ratio_is_tested_as_its_difference_is() -> None:
    """Tables in which nobody is selected are infinitely far by ratio: p was 0.09 where Fisher's is 6e-5."""
    p, g = [1] * 9 + [0] * 21 + [1] * 15 + [0] * 285, ["a"] * 30 + ["b"] * 300
    a = evenhand.audit(prediction=p, group=g, reference="b")
    assert a.measure("disparate_impact").p_value == a.measure("demographic_parity").p_value < 1e-4  # type: ignore[operator]


def test_effective_numbers_round_what_is_observed_too() -> None:
    """A gap beyond every gap of rounded numbers had p = 2e-308."""
    d = {"p": [1] * 45 + [0] * 55 + [1] * 5 + [0] * 95, "g": ["a"] * 100 + ["b"] * 100, "c": [1] * 100 + [2] * 100}
    a = evenhand.audit(d, prediction="p", group="g", cluster="c", bootstrap=99)
    assert a.measure("demographic_parity").p_value > 0.3  # type: ignore[operator]
    rng = np.random.default_rng(0)
    for seed in range(40):
        n = int(rng.integers(8, 20))
        s, y, g = rng.random(n).round(1), rng.integers(0, 2, n), np.r_[0, 1, rng.integers(0, 2, n - 2)]
        a = evenhand.audit(
            score=s, label=y, group=g, weight=rng.lognormal(0, 1, n), bootstrap=0, permutations=19, rng=seed
        )
        assert min((x.p_value for x in a.attributes[0].measures if x.p_value is not None), default=1) > 1e-6


@pytest.mark.parametrize("kind", ["uneven", "selected weigh less"])
def test_rare_events_with_uneven_weights_keep_their_level(kind: str) -> None:
    rng = np.random.default_rng(1)
    rejected, covered, runs = 0, 0, 150
    for i in range(runs):
        p = (rng.random(200) < (0.05 if kind == "uneven" else 0.8)).astype(int)
        w = rng.lognormal(0, 1.5, 200) if kind == "uneven" else np.where(p, 1.0, 10.0) + rng.random(200) / 10
        a = evenhand.audit(
            prediction=p, group=np.repeat(["a", "b"], 100), weight=w, bootstrap=0, permutations=9, rng=i,
            measures=["demographic_parity"],
        )  # fmt: skip
        gap = a.measure("demographic_parity")
        assert gap.ci is not None
        covered += gap.ci[0] <= 0 <= gap.ci[1]
        rejected += gap.p_value <= 0.05  # type: ignore[operator]
    assert stats.binomtest(rejected, runs, 0.05, alternative="greater").pvalue > 1e-3
    assert stats.binomtest(covered, runs, 0.94, alternative="less").pvalue > 1e-3


def test_an_undefined_largest_pair_has_no_p_value() -> None:
    a = evenhand.audit(
        score=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        label=[1, 1, 1, 1, 1, 1],
        group=list("aabbcc"),
        bootstrap=0,
        permutations=19,
    )
    for g in a.to_dict()["attributes"][0]["largest"]:
        assert (g["p_value"] is None) == (g["value"] is None), g["id"]


@pytest.mark.parametrize("words", [{"weight": "w"}, {"cluster": "c"}])
def test_the_largest_pair_has_a_p_value_where_labels_cannot_be_permuted(words: dict[str, str]) -> None:
    columns: dict[str, Any] = {**people(90, 3), "c": np.arange(90) // 3}
    a = evenhand.audit(columns, score="s", label="y", group="g", bootstrap=99, permutations=99, **words)
    for g in a.attributes[0].largest:
        m = MEASURES[g.id]
        if g.undefined:
            continue
        assert g.null is not None, g.id
        assert m.scale == "ratio" or g.null.high <= m.highest
        assert np.isnan(g.null.detectable) or m.scale == "ratio" or g.null.detectable <= m.highest
    for gap in a.attributes[0].measures:
        assert gap.null is None or MEASURES[gap.id].scale == "ratio" or gap.null.high <= MEASURES[gap.id].highest


def test_few_resamples_give_no_ordinary_interval() -> None:
    for kind in ("percentile", "basic", "bca"):
        a = evenhand.audit(evenhand.compas(), interval=kind, bootstrap=38, permutations=0)
        assert all(g.ci is None for g in a.attributes[0].measures)
        b = evenhand.audit(evenhand.compas(), interval=kind, bootstrap=39, permutations=0)
        assert all(g.ci is not None for g in b.attributes[0].measures)


def test_basic_intervals_stay_on_the_scale() -> None:
    a = evenhand.audit(
        score=[0.1, 0.9, 0.2, 0.8, 0.9, 0.95],
        label=[0, 1, 1, 0, 1, 1],
        group=list("ababab"),
        interval="basic",
        bootstrap=99,
    )
    for gap in a.attributes[0].measures:
        if gap.ci is not None and MEASURES[gap.id].highest < np.inf:
            assert -MEASURES[gap.id].highest <= gap.ci[0] <= gap.ci[1] <= MEASURES[gap.id].highest
    one = evenhand.audit(score=[0.1, 0.9, 0.2, 0.8], group=list("abab"), bootstrap=1)
    gap = one.measure("delta_dp_c")
    assert (gap.ci_bootstrap, one.measure("abcc").ci_signed) == (None, None)  # one resample knows no interval


def test_bca_of_people_who_cannot_be_left_out_is_no_interval() -> None:
    a = evenhand.audit(score=[0.2, 0.7], group=["a", "b"], interval="bca", stratified=True)
    assert a.measure("abcc").ci is None
    columns = {"s": [0.2, 0.7, 0.1, 0.9], "y": [0, 1, 1, 0], "g": list("abba"), "c": [1] * 4}
    assert evenhand.audit(columns, score="s", label="y", group="g", cluster="c", interval="bca").notes is not None


def test_equal_means_are_alike_whatever_the_spread() -> None:
    """Exchanged differences of means reject half of the time when the small group is five times as wide."""
    rng = np.random.default_rng(0)
    rejected = 0
    m = find("delta_dp_c")
    assert isinstance(m, ScoreMeasure)
    for _ in range(100):
        s = np.r_[rng.normal(0.5, 0.15, 30), rng.normal(0.5, 0.03, 500)].clip(0, 1)
        table = evenhand.tabulate(score=s, group=np.repeat([0, 1], [30, 500]), score_range=(0, 1))
        rejected += score_nulls([m], pair_of(table), OPTIONS, "concept", 99, rng, 0.95)[m.id].p_value <= 0.05
    assert stats.binomtest(rejected, 100, 0.05, alternative="greater").pvalue > 1e-3


def test_calibration_is_not_called_underpowered_out_of_hand() -> None:
    """Noise that adds up in quadrature hides less than its own size."""
    a = evenhand.audit(people(500, 2, levels=None), score="s", label="y", group="g", bootstrap=0, permutations=199)
    gap = a.measure("calibration_standardized")
    assert gap.null is not None
    assert gap.detectable is not None
    assert gap.null.high * 0.5 < gap.detectable < gap.null.high * 1.5


def test_two_people_with_one_score_are_no_certainty() -> None:
    """Their mean has no spread: over its standard error a gap within the noise had p = 0.016."""
    s = np.r_[0.6, 0.6, np.zeros(5), np.full(40, 0.5), np.ones(5)]
    a = evenhand.audit(score=s, group=["b"] * 2 + ["a"] * 50, score_range=(0, 1), permutations=999, bootstrap=0)
    gap = a.measure("delta_dp_c")
    assert gap.null is not None
    assert gap.value < gap.null.high
    assert gap.p_value is not None
    assert gap.p_value > 0.2


def test_ratios_of_weighted_groups_are_tested_as_differences_too() -> None:
    rng = np.random.default_rng(0)
    p = np.r_[0, 0, rng.integers(0, 2, 40)]
    a = evenhand.audit(
        prediction=p,
        group=["a"] * 2 + ["b"] * 20 + ["c"] * 20,
        weight=rng.random(42) + 0.5,
        bootstrap=0,
        permutations=199,
    )
    found = {g.id: g.null.p_value for g in a.attributes[0].largest if g.null}
    assert found["disparate_impact"] == found["demographic_parity"]
