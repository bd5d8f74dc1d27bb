"""The projection test: against brute force, Taskesen et al. 2021's tables, and what must be true of any people."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import evenhand
from conftest import called as run, check_schema, evenhand as process
from evenhand.analyses.projection.projection_test import projection_test
from evenhand.analyses.projection.results import ProjectionTest
from evenhand.analyses.projection.several import ProjectionTests
from evenhand.errors import DataError, EvenhandError, UsageError
from evenhand.inference.cheapest_move import FOLD, descend, switch
from evenhand.inference.chi2_mixture import critical, tail
from evenhand.inference.permuted_means import PermutedGap, permuted_means, permuted_p_value
from evenhand.inference.wasserstein_projection import project
from evenhand.tables.ranges import Spans

Array = np.ndarray[Any, Any]

# Taskesen et al. 2021, Table 1: rejection rates under the null, by number of people and level
LEVELS = (0.5, 0.3, 0.1, 0.05, 0.01)
TABLE_1 = {
    100: (0.511, 0.282, 0.048, 0.007, 0.0),
    500: (0.4905, 0.2895, 0.0895, 0.0425, 0.0065),
    1000: (0.5, 0.299, 0.093, 0.0405, 0.005),
}


def sigma(z: Any) -> Any:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-np.asarray(z, float)))


def some_people(n: int = 400, seed: int = 0, shift: float = 0.4) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    g = rng.random(n) < 0.4
    z = rng.normal(shift * g, 1.5, n)
    return {"z": z, "p": sigma(z), "y": (rng.random(n) < sigma(z)).astype(int), "g": np.where(g, "f", "m")}


def random_cells(rng: np.random.Generator, most: int = 12) -> tuple[Array, Array, Array, float]:
    """Cells of one label: logits, people, group, and all people with either label."""
    m = int(rng.integers(2, most + 1))
    group = rng.random(m) < rng.uniform(0.1, 0.9)
    group[:2] = True, False
    width = 10 ** rng.uniform(-1, 0.8)
    z = rng.normal(rng.normal(0, 1), width, m) + group * rng.normal(0, width)
    n = rng.integers(1, 6, m).astype(float)
    return z, n, group, float(n.sum() + rng.integers(0, 20))


# ---- against brute force --------------------------------------------------------------------------------


def dual(gamma: float, z: Array, n: Array, group: Array, people: float, beta_norm: float) -> float:
    """N times eq. (6) of Taskesen et al. (2021) at one γ, by a grid over k, refined around its two lowest minima."""
    omega = gamma * np.where(group, people / n[group].sum(), -people / n[~group].sum())

    def cost(k: Array) -> Array:
        return np.asarray(omega**2 * beta_norm**2 * k**2 + omega * sigma(z - omega * beta_norm**2 * k))

    k = np.broadcast_to(np.linspace(0, 1 / 8, 1001)[:, None], (1001, len(z)))
    coarse = np.pad(cost(k), ((1, 1), (0, 0)), constant_values=np.inf)
    lowest = (coarse[1:-1] <= coarse[2:]) & (coarse[1:-1] <= coarse[:-2])
    two = np.where(lowest, coarse[1:-1], np.inf).argsort(0)[:2]
    best = np.inf
    for at in np.take_along_axis(k, two, 0):
        step = 1 / 8000
        for _ in range(5):
            fine = np.clip(at + step * np.linspace(-1, 1, 21)[:, None], 0, 1 / 8)
            at = fine[cost(fine).argmin(0), np.arange(len(z))]
            step /= 10
        best = np.minimum(best, cost(at))
    return float((n * best).sum())


def brute_force(z: Array, n: Array, group: Array, people: float, beta_norm: float) -> tuple[float, float]:
    """γ and N·R by a scalar search over γ."""

    def of(gamma: float) -> float:
        return -dual(gamma, z, n, group, people, beta_norm)

    gap = float(np.average(sigma(z[group]), weights=n[group]) - np.average(sigma(z[~group]), weights=n[~group]))
    far = math.copysign(1e-3 / beta_norm**2, gap)
    while of(2 * far) < of(far):
        far *= 2
    found = optimize.minimize_scalar(
        of, bounds=sorted((0, 2 * far)), method="bounded", options={"xatol": abs(far) / 1e9}
    )
    return float(found.x), -float(found.fun)


def test_statistic_equals_brute_force_on_200_random_tables() -> None:
    rng = np.random.default_rng(4)
    folded = split = 0
    for _ in range(200):
        z, n, group, people = random_cells(rng)
        beta_norm = 10 ** rng.uniform(-1, 1)
        found = project(z, n, group, people, beta_norm)
        gamma, statistic = brute_force(z, n, group, people, beta_norm)
        assert found.statistic == pytest.approx(statistic, rel=1e-6, abs=1e-6)
        assert found.gamma == pytest.approx(gamma, rel=1e-3, abs=1e-6 / beta_norm**2)
        folded += abs(found.gamma) * beta_norm**2 * people / min(n[group].sum(), n[~group].sum()) > FOLD
        split += len(found.cell) > len(z)
    assert folded > 20  # tables with two minima are among them
    assert split > 5


def test_the_cheapest_transport_by_linear_programming_costs_the_same() -> None:
    """Where each cell may go anywhere on a fine grid, in parts: the primal problem, with nothing of the dual."""
    rng = np.random.default_rng(8)
    for _ in range(6):
        z, n, group, people = random_cells(rng, most=5)
        found = project(z, n, group, people, 1.0)
        to = np.unique(np.concatenate([np.linspace(z.min() - 3, z.max() + 3, 1500), z, found.shifted]))
        cost = (to - z[:, None]) ** 2
        side = np.where(group, 1 / n[group].sum(), -1 / n[~group].sum())[:, None] * sigma(to)
        each = np.repeat(np.eye(len(z)), len(to), axis=1)
        done = optimize.linprog(cost.ravel(), A_eq=np.vstack([each, side.ravel()]), b_eq=[*n, 0.0])
        assert found.statistic == pytest.approx(done.fun, rel=1e-6)


@pytest.mark.parametrize("c", [1e-6, 1.0, FOLD, FOLD + 1e-9, 21.0, 40.0, 1e3, 1e6])
def test_the_inner_minimum_is_the_least_of_all(c: float) -> None:
    t = np.linspace(-40 - c**0.5, 40 + 2 * c**0.5, 501)

    def cost(x: Array) -> Array:
        return np.asarray((t - x) ** 2 / c + sigma(x))

    x = descend(t, c)
    grid = t - c * np.linspace(0, 1 / 8, 4001)[:, None]
    assert (cost(x) <= cost(grid).min(0) + 1e-14).all()
    assert (np.abs(x + c / 2 * sigma(x) * sigma(-x) - t) <= 1e-12 * (1 + np.abs(t))).all()
    assert (np.diff(x) > 0).all()


def test_at_the_switch_both_minima_are_equally_good() -> None:
    for c in (FOLD + 1e-6, 25.0, 100.0, 1e5, 1e12):
        t = switch(c)
        below, above = descend(np.array([t * (1 - 1e-12), t * (1 + 1e-12)]), c)
        assert above - below > 1e-3
        assert (t - below) ** 2 / c + sigma(below) == pytest.approx((t - above) ** 2 / c + sigma(above), abs=1e-12)


# ---- the most favourable distribution -----------------------------------------------------------------------


def criterion_gap(test: ProjectionTest, label: str) -> float:
    s = test.shifts
    means = []
    for g in (test.group, test.reference):
        some = (s["group"] == g) & (s["label"] == label)
        means.append(np.average(s["shifted_score"][some], weights=s["n"][some]))
    return float(means[0] - means[1])


HARD = {
    "one row per class": ([2.0, -1.0], [1, 1], "fm"),
    "far apart": ([30.0, 25.0, -30.0, -28.0], [1, 1, 1, 1], "ffmm"),
    "saturated": ([36.0, 40.0, 35.0, 39.0, 0.0], [5, 1, 3, 2, 1], "fmfmf"),
    "tiny group": ([-8.0, 1.0, 2.0, 3.0], [1, 9999, 100000, 5], "fmmm"),
    "at the switch, mirrored": ([4.0, -4.0, 4.0, -4.0], [1, 1, 1, 1], "fmfm"),
    "huge logits": ([1e50, -1e50, 0.3], [1, 1, 1], "fmf"),
    "all the same, and one": ([0.0, 0.0, 0.0, 1e-9], [10, 10, 1, 1], "fmfm"),
}


@pytest.mark.parametrize("name", HARD)
def test_the_criterion_holds_after_the_shift_on_hard_tables(name: str) -> None:
    z, n, g = HARD[name]
    t = projection_test(
        logit=z, weight=n, weight_kind="frequency", group=list(g), label=[1] * len(z), reference="m", beta_norm=3.0
    )
    assert abs(criterion_gap(t, "favourable")) < 1e-8
    assert t.statistic >= 0
    assert 0 < t.p_value <= 1
    json.loads(t.to_json())


def test_the_criterion_holds_after_the_shift_on_random_tables() -> None:
    rng = np.random.default_rng(2)
    split = 0
    for _ in range(200):
        m = int(rng.integers(4, 30))
        width = 10 ** rng.uniform(-3, 2)
        z = rng.normal(rng.normal(0, 3), width, m)
        z = np.round(z, 1) if rng.random() < 0.3 else z
        g, y = rng.integers(0, 2, m), rng.integers(0, 2, m)
        g[:4], y[:4] = (0, 0, 1, 1), (0, 1, 0, 1)
        n = rng.integers(1, 1000 if rng.random() < 0.3 else 4, m)
        t = projection_test(
            logit=z + g * rng.normal(0, width), group=g, label=y, weight=n, weight_kind="frequency",
            criterion="equalized_odds", beta_norm=10 ** rng.uniform(-4, 4), reference=0,
        )  # fmt: skip
        s = t.shifts
        assert max(abs(criterion_gap(t, label)) for label in ("favourable", "unfavourable")) < 1e-8
        assert [abs(p.means_after[0] - p.means_after[1]) for p in t.labels] == pytest.approx([0, 0], abs=1e-8)
        assert ((s["k"] >= 0) & (s["k"] <= 1 / 8)).all()
        assert s["n"].sum() == pytest.approx(n.sum())
        cost = (s["n"] @ (s["shifted_logit"] - s["logit"]) ** 2) / t.beta_norm**2
        assert cost == pytest.approx(t.statistic, rel=1e-6, abs=1e-12 / t.beta_norm**2)
        split += len(s["n"]) > len(t._plan.score)
    assert split > 20


def test_only_the_label_of_the_criterion_moves_and_in_opposite_directions() -> None:
    t = projection_test(some_people(), logit="z", label="y", group="g", beta_norm=1.0)
    s = t.shifts
    moved = s["shifted_logit"] - s["logit"]
    assert (moved[s["label"] == "unfavourable"] == 0).all()
    sign = np.where(s["group"] == t.group, -1, 1) * np.sign(t.gamma[0])
    assert (moved * sign >= 0).all()
    assert (s["k"][s["label"] == "favourable"] > 0).all()


def test_a_multiplier_far_outside_five_is_found() -> None:
    z = np.concatenate([np.full(40, 9.0), np.full(60, -9.0)])
    t = projection_test(logit=z, label=np.ones(100), group=z > 0, reference=False, beta_norm=0.1)
    assert t.gamma[0] > 1000
    assert t.statistic == pytest.approx(brute_force(z, np.ones(100), z > 0, 100.0, 0.1)[1], rel=1e-6)


# ---- properties -------------------------------------------------------------------------------------------


def numbers(t: ProjectionTest) -> list[float]:
    return [t.statistic, t.p_value, t.critical_value, *t.theta, *t.gamma]


@pytest.mark.parametrize("criterion", ["equal_opportunity", "equalized_odds"])
def test_rows_and_counts_say_the_same_and_doubling_doubles(criterion: str) -> None:
    people = some_people()
    people["p"] = np.round(people["p"], 2).clip(0.01, 0.99)
    words = {"score": "p", "label": "y", "group": "g"}
    rows = projection_test(people, **words, criterion=criterion)
    table = evenhand.tabulate(people, **words)
    assert numbers(projection_test(table, criterion=criterion)) == numbers(rows)
    z = np.log(people["p"]) - np.log1p(-people["p"])
    for y, part in zip((1, 0), rows.labels, strict=False):
        some = people["y"] == y
        each = project(z[some], np.ones(some.sum()), people["g"][some] == rows.group, 400.0, 1.0)  # nothing merged
        assert [each.statistic, each.theta, each.gamma] == pytest.approx([part.statistic, part.theta, part.gamma])
    twice = projection_test(table + table, criterion=criterion)
    assert twice.statistic == pytest.approx(2 * rows.statistic)
    assert [*twice.theta, *twice.gamma] == pytest.approx([*rows.theta, *rows.gamma])


def test_swapping_group_and_reference_turns_the_multiplier_only() -> None:
    people = some_people()
    words = {"logit": "z", "label": "y", "group": "g", "criterion": "equalized_odds"}
    a, b = (projection_test(people, **words, reference=r) for r in "fm")
    assert (a.group, b.group) == ("m", "f")
    assert b.gamma == pytest.approx([-g for g in a.gamma])
    assert [b.statistic, b.p_value, *b.theta] == pytest.approx([a.statistic, a.p_value, *a.theta])
    assert projection_test(people, **words, compare="m").reference == "f"


def test_the_length_of_beta_scales_distances_and_nothing_else() -> None:
    people = some_people(1200)
    words = {"logit": "z", "label": "y", "group": "g", "criterion": "equalized_odds"}
    a, b = projection_test(people, **words), projection_test(people, **words, beta_norm=50.0)
    assert (a.space, b.space) == ("score", "features")
    assert b.p_value == pytest.approx(a.p_value)
    assert b.statistic * 2500 == pytest.approx(a.statistic)
    assert b.distance * 50 == pytest.approx(a.distance)
    np.testing.assert_allclose(b.shifts["shifted_logit"], a.shifts["shifted_logit"])
    assert any("not the distance in the model's feature space" in note for note in a.notes)
    assert not b.notes


def test_probabilities_and_logits_say_the_same() -> None:
    people = some_people()
    p, z = (projection_test(people, **{c: v}, label="y", group="g") for c, v in (("score", "p"), ("logit", "z")))
    assert numbers(p) == pytest.approx(numbers(z))
    np.testing.assert_allclose(p.shifts["score"], z.shifts["score"])


def test_a_risk_score_is_reflected() -> None:
    people = some_people()
    good = projection_test(people, score="p", label="y", group="g")
    people["risk"] = 1 - people["p"]
    risk = projection_test(people, score="risk", label="y", group="g", risk=True)
    assert numbers(risk) == pytest.approx(numbers(good))
    assert risk.labels[0].means == pytest.approx(good.labels[0].means)
    assert np.sort(1 - risk.shifts["shifted_score"]) == pytest.approx(np.sort(good.shifts["shifted_score"]))


def test_the_sign_says_who_is_favoured() -> None:
    t = projection_test(some_people(2000, shift=1.0), logit="z", label="y", group="g", reference="m")
    part = t.labels[0]
    assert part.gap > 0
    assert part.gamma > 0
    assert part.moves[0] < 0 < part.moves[1]
    assert t.rejects
    assert "higher than m" in t.interpretation


def test_constant_scores_are_fair() -> None:
    t = projection_test(
        score=[0.3] * 8, label=[1, 0] * 4, group=[*"ffffmmmm"], beta_norm=2.0, criterion="equalized_odds"
    )
    assert (t.statistic, t.p_value, t.critical_value, t.rejects) == (0, 1, 0, False)
    assert t.theta == t.gamma == (0, 0)
    np.testing.assert_array_equal(t.shifts["logit"], t.shifts["shifted_logit"])


@pytest.mark.parametrize("times", [1, 3, 7])
def test_groups_with_the_same_scores_are_fair_whatever_the_rounding(times: int) -> None:
    z = np.random.default_rng(times).normal(1, 2, 3000)
    t = projection_test(
        logit=np.tile(z, 2), label=np.ones(6000), group=np.repeat([0, 1], 3000), weight=np.repeat([1, times], 3000)
    )
    assert t.statistic < 1e-12
    assert t.p_value > 0.999


def test_where_scores_are_near_0_or_1_the_result_says_that_it_has_no_power() -> None:
    z = np.repeat([12.0, -12.0], 1000)
    t = projection_test(logit=z, label=np.ones(2000), group=z > 0, beta_norm=1.0)
    assert not t.rejects
    assert any("little power" in note for note in t.notes)
    z = np.repeat([12.0, -12.0], 200)
    t = projection_test(logit=z, label=np.ones(400), group=z > 0, beta_norm=1.0)
    assert (t.rejects, t.p_method) == (True, "permutation")
    assert t.p_limit > 0.9
    assert any("permuting group labels decides otherwise" in note for note in t.notes)
    with pytest.raises(DataError, match="so near 0 or 1"):
        projection_test(logit=100 * z, label=np.ones(400), group=z > 0, beta_norm=1.0)


# ---- the limit law ----------------------------------------------------------------------------------------


def by_quadrature(s: float, a: float, b: float) -> float:
    """P(aX² + bY² > s), over Y."""

    def inner(y: float) -> float:
        return 2 * math.exp(-y * y / 2) / math.sqrt(2 * math.pi) * math.erfc(math.sqrt((s - b * y * y) / a / 2))

    edge = math.sqrt(s / b)
    value, _ = integrate.quad(inner, 0, min(edge, 40), epsrel=1e-12, epsabs=0, limit=500)
    return float(value + math.erfc(edge / math.sqrt(2)))


@pytest.mark.parametrize("s", [1e-6, 0.1, 1.0, 5.0, 40.0, 300.0, 1200.0])
@pytest.mark.parametrize("theta", [1e-9, 1e-3, 0.2, 0.9, 1.0])
def test_the_tail_of_two_terms(s: float, theta: float) -> None:
    assert tail(s, (1.0, theta)) == pytest.approx(by_quadrature(s, 1.0, theta), rel=1e-9)
    assert tail(7 * s, (7 * theta, 7.0)) == pytest.approx(tail(s, (1.0, theta)), rel=1e-11)


@pytest.mark.parametrize("s", [1e-300, 1e-8, 0.5, 3.0, 100.0, 1300.0])
def test_the_tail_of_equal_or_single_terms_is_chi_squared(s: float) -> None:
    assert tail(s, (2.0, 2.0)) == pytest.approx(stats.chi2.sf(s / 2, 2), rel=1e-12)
    for theta in ((2.0,), (2.0, 0.0), (0.0, 2.0), (2.0, 1e-200)):
        assert tail(s, theta) == pytest.approx(stats.chi2.sf(s / 2, 1), rel=1e-12)


def test_the_tail_is_never_zero_and_the_critical_value_inverts_it() -> None:
    assert tail(1e9, (1.0,)) > 0
    assert tail(1e9, (1.0, 0.5)) > 0
    assert tail(0.0, (0.0, 0.0)) == 1
    for theta in ((3.0,), (3.0, 0.0), (0.1, 2.0), (1.0, 1.0), (1.0, 1e-12)):
        for level in (1e-12, 0.01, 0.05, 0.5, 0.99):
            assert tail(critical(level, theta), theta) == pytest.approx(level, rel=1e-10)


# ---- the experiments of Taskesen et al. (2021) ----------------------------------------------------------------------


def rejection_rates(people: int, replications: int, seed: int) -> Array:
    """Taskesen et al. 2021 §6.1: β = (0, 1), so the logit is N(0, 5) in every group. Rejection rates by level."""
    rng = np.random.default_rng(seed)
    rejected = np.zeros(len(LEVELS))
    for _ in range(replications):
        cell = rng.choice(4, people, p=[0.2, 0.1, 0.3, 0.4])  # (A, Y) = (1, 1), (0, 1), (1, 0), (0, 0)
        z, group = rng.normal(0, math.sqrt(5), people)[cell < 2], cell[cell < 2] == 0
        if group.all() or not group.any():
            continue  # no test, no rejection
        found = project(z, np.ones(len(z)), group, people, 1.0)
        rejected += tail(found.statistic, (found.theta,)) < np.array(LEVELS)
    return rejected / replications


@pytest.mark.parametrize("people", TABLE_1)
def test_table_1_at_reduced_size(people: int) -> None:
    printed, replications = np.array(TABLE_1[people]), 200
    sd = np.sqrt(printed * (1 - printed) * (1 / replications + 1 / 2000))
    assert (np.abs(rejection_rates(people, replications, 1) - printed) <= 4 * sd + 0.01).all()


@pytest.mark.full
@pytest.mark.parametrize("people", TABLE_1)
def test_table_1(people: int) -> None:
    assert np.abs(rejection_rates(people, 2000, 0) - TABLE_1[people]).max() <= 0.02


def odds_p_values(people: int, replications: int, shift: float, seed: int) -> Array:
    """p-values of equalized odds where both labels have scores of their own and the group a shift."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(replications):
        y, g = rng.random(people) < 0.4, rng.random(people) < 0.3
        z = rng.normal(np.where(y, 0.5, -0.7) + shift * g, np.where(y, 1.0, 1.5))
        found.append(projection_test(logit=z, label=y, group=g, criterion="equalized_odds", reference=False).p_value)
    return np.array(found)


def check_uniform(p: Array) -> None:
    for level in (0.01, 0.05, 0.1):
        assert stats.binomtest(int((p < level).sum()), len(p), level).pvalue > 1e-3
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_equalized_odds_p_values_are_uniform_under_the_null() -> None:
    check_uniform(odds_p_values(1500, 200, 0.0, seed=3))


@pytest.mark.full
def test_equalized_odds_p_values_are_uniform_under_the_null_at_full_size() -> None:
    check_uniform(odds_p_values(4000, 4000, 0.0, seed=5))


def test_power_rises_with_people() -> None:
    power = [(odds_p_values(n, 60, 0.3, seed=n) < 0.05).mean() for n in (100, 500, 2500)]
    assert power[0] < power[1] < power[2]
    assert power[2] > 0.9


def defendants(folder: Path) -> tuple[Array, Array, Array]:
    pandas = pytest.importorskip("pandas")
    d = pandas.read_csv(folder / "compas-scores-two-years.csv")
    d = d[(d.days_b_screening_arrest.abs() <= 30) & (d.is_recid != -1) & (d.c_charge_degree != "O")]
    assert len(d) == 6172
    d = d[d.race.isin(["African-American", "Caucasian"])]
    features = [
        d.age / 10,
        d.sex == "Male",
        d.priors_count,
        d.juv_fel_count,
        d.juv_misd_count,
        d.c_charge_degree == "F",
    ]
    return np.column_stack(features).astype(float), d.two_year_recid.to_numpy(), d.race.to_numpy()


def test_figure_4_on_compas(data_folder: Path) -> None:
    """Taskesen et al. 2021's Figure 4: the statistic falls with the penalty until the test does not reject.

    Found only with the limit |γ| ≤ 5 of the published code. As ‖β‖ shrinks, the gap shrinks with it, and so does the
    cost of closing it: the statistic keeps its size, γ grows as 1/‖β‖, and the test goes on rejecting.
    """
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y, race = defendants(data_folder)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = np.split(order, [int(0.7 * len(y))])
    exact, limited, limits = [], [], []
    for penalty in (0.01, 1.0, 10.0, 100.0):
        model = linear_model.LogisticRegression(C=1 / (len(train) * penalty), max_iter=2000).fit(X[train], y[train])
        t = projection_test.from_model(model, X[test], y[test], race[test], reference="Caucasian")
        some = y[test] == 1
        z, group = model.decision_function(X[test])[some], race[test][some] != "Caucasian"
        grid = np.linspace(0, 5, 6) if t.gamma[0] < 5 else [5.0]
        limited.append(max(dual(g, z, np.ones(len(z)), group, float(t.n), t.beta_norm) for g in grid))
        exact.append(t)
        limits.append(t.critical_value)
    assert [abs(t.gamma[0]) > 5 for t in exact] == [False, True, True, True]
    assert limited[1] > limited[2] > limited[3]
    assert [a > b for a, b in zip(limited, limits, strict=True)] == [True, True, True, False]
    assert all(t.rejects for t in exact)
    assert exact[3].statistic == pytest.approx(exact[2].statistic, rel=0.05)
    assert exact[0].p_value < exact[1].p_value < exact[2].p_value  # the evidence does weaken


# ---- models -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    g = np.where(rng.random(500) < sigma(X[:, 0]), "f", "m")
    return X, (rng.random(500) < sigma(X @ [0.8, -1.0, 0.3] + 0.4)).astype(int), g


def test_scikit_learn_and_statsmodels_agree_with_a_call_by_hand(rows: tuple[Array, Array, Array]) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    sm = pytest.importorskip("statsmodels.api")
    X, y, g = rows
    design = sm.add_constant(X)
    logit = sm.Logit(y, design).fit(disp=0)
    beta = logit.params[1:]
    hand = projection_test(
        logit=design @ logit.params, label=y, group=g, beta_norm=float(np.linalg.norm(beta)), criterion="equalized_odds"
    )
    model = linear_model.LogisticRegression()
    model.classes_, model.coef_, model.intercept_ = np.array([0, 1]), beta[None, :], logit.params[:1]
    glm = sm.GLM(y, design, family=sm.families.Binomial()).fit()
    for fitted, features in ((logit, design), (glm, design), (model, X)):
        t = projection_test.from_model(fitted, features, y, g, criterion="equalized_odds")
        assert t.space == "features"
        assert t.beta_norm == pytest.approx(hand.beta_norm, rel=1e-6)
        assert numbers(t) == pytest.approx(numbers(hand), rel=1e-5)


def test_a_formula_finds_its_intercept() -> None:
    pandas, smf = pytest.importorskip("pandas"), pytest.importorskip("statsmodels.formula.api")
    people = some_people()
    frame = pandas.DataFrame({**people, "h": np.arange(400) % 3})
    fitted = smf.logit("y ~ z + C(h)", frame).fit(disp=0)
    t = projection_test.from_model(fitted, frame, frame.y, frame.g)
    assert t.beta_norm == pytest.approx(np.linalg.norm(fitted.params.drop("Intercept")))
    assert t.attribute == "g"


def test_the_favourable_class_turns_the_score(rows: tuple[Array, Array, Array]) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y, g = rows
    words = np.where(y, "good", "bad")
    model = linear_model.LogisticRegression().fit(X, words)
    assert list(model.classes_) == ["bad", "good"]
    z, norm = model.decision_function(X), float(np.linalg.norm(model.coef_))
    for favorable, sign in (("good", 1), ("bad", -1)):
        t = projection_test.from_model(model, X, words, g, favorable=favorable)
        hand = projection_test(logit=sign * z, label=words, group=g, favorable=favorable, beta_norm=norm)
        assert numbers(t) == pytest.approx(numbers(hand))
    with pytest.raises(UsageError, match="one of the two classes"):
        projection_test.from_model(model, X, words, g)


@pytest.mark.filterwarnings("ignore")
def test_models_that_are_read(rows: tuple[Array, Array, Array]) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, g = rows
    for model in (
        linear_model.LogisticRegressionCV(Cs=3),
        linear_model.SGDClassifier(loss="log_loss", random_state=0),
        make_pipeline(StandardScaler(), linear_model.LogisticRegression()),
    ):
        model.fit(X, y)
        t = projection_test.from_model(model, X, y, g)
        p = projection_test(score=model.predict_proba(X)[:, 1], label=y, group=g)
        assert t.p_value == pytest.approx(p.p_value, rel=1e-6)
        last = model[-1] if hasattr(model, "steps") else model
        assert t.beta_norm == pytest.approx(np.linalg.norm(last.coef_))
        assert any("pipeline" in note for note in t.notes) == hasattr(model, "steps")
    nothing = linear_model.LogisticRegression().fit(X, y)
    nothing.coef_ = 0 * nothing.coef_
    assert projection_test.from_model(nothing, X, y, g).p_value == 1


def test_models_that_are_refused(rows: tuple[Array, Array, Array]) -> None:
    linear_model, sm = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("statsmodels.api")
    X, y, g = rows
    probit = sm.GLM(y, X, family=sm.families.Binomial(sm.families.links.Probit())).fit()
    offset = sm.GLM(y, X, family=sm.families.Binomial(), offset=X[:, 0]).fit()
    fitted = linear_model.LogisticRegression().fit(X, y)
    broken = linear_model.LogisticRegression().fit(X, y)
    broken.coef_ = np.full_like(broken.coef_, np.nan)
    for model, features, message in (
        (linear_model.SGDClassifier().fit(X, y), X, "pass its probabilities as score="),
        (linear_model.LinearRegression().fit(X, y), X, "pass its probabilities as score="),
        (probit, X, "pass its probabilities as score="),
        (sm.Logit(y, X), X, "pass its probabilities as score="),
        (None, X, "pass its probabilities as score="),
        (offset, X, "offset"),
        (linear_model.LogisticRegression(), X, "fit it first"),
        (linear_model.LogisticRegression().fit(X, np.arange(500) % 3), X, "two classes"),
        (fitted, X[:, :2], "cannot score these X"),
        (fitted, np.where(X > 2, np.nan, X), "cannot score these X"),
        (fitted, "X", "cannot score these X"),
        (broken, X, "finite|cannot score"),
    ):
        with pytest.raises(EvenhandError, match=message):
            projection_test.from_model(model, features, y, g)
    with pytest.raises(DataError, match="same length"):
        projection_test.from_model(fitted, X, y[1:], g)
    with pytest.raises(UsageError, match="y, the outcomes"):
        projection_test.from_model(fitted, X, None, g)


def test_wrapped_logistic_regressions_are_read(rows: tuple[Array, Array, Array]) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    X, y, g = rows
    X = 3 * X
    logistic = linear_model.LogisticRegression
    piped = make_pipeline(StandardScaler(), logistic())
    fitted = make_pipeline(StandardScaler(), logistic()).fit(X, y)
    for model in (
        GridSearchCV(logistic(), {"C": [0.1, 1.0]}, cv=2),
        GridSearchCV(piped, {"logisticregression__C": [0.1, 1.0]}, cv=2),
        make_pipeline(StandardScaler(), GridSearchCV(logistic(), {"C": [1.0]}, cv=2)),
        FixedThresholdClassifier(logistic(), threshold=0.3),
        TunedThresholdClassifierCV(piped, cv=2),
        CalibratedClassifierCV(logistic(), ensemble=False, cv=3),
        CalibratedClassifierCV(FrozenEstimator(fitted), cv=3),
        CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3),
    ):
        model.fit(X, y)
        t = projection_test.from_model(model, X, y, g, reference="m")
        p = model.predict_proba(X)[:, 1]
        by_hand = projection_test(score=p, label=y, group=g, reference="m")
        assert t.space == "features"
        assert numbers(t)[:2] == pytest.approx([by_hand.statistic / t.beta_norm**2, by_hand.p_value], rel=1e-6)
        # The coefficients: what a step along them does to the logit.
        there = t.shifted_features(X)
        steps = np.linalg.norm(there - np.asarray(t._model.features), axis=1)
        assert (steps**2).sum() == pytest.approx(t.statistic, rel=1e-6)
        if there.shape == X.shape and not t.notes:
            moved = model.predict_proba(there)[:, 1]
            assert moved == pytest.approx(t.shifted_probabilities(t._model.z, g, y), abs=1e-9)
    with pytest.raises(UsageError, match="fit it first"):
        projection_test.from_model(GridSearchCV(logistic(), {}), X, y, g)


def test_other_models_are_tested_in_score_space(rows: tuple[Array, Array, Array]) -> None:
    pytest.importorskip("sklearn")
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    X, y, g = rows
    for model in (
        GradientBoostingClassifier(n_estimators=5).fit(X, y),
        GaussianNB().fit(X, y),
        CalibratedClassifierCV(LogisticRegression()).fit(X, y),
        CalibratedClassifierCV(LogisticRegression(), method="isotonic", ensemble=False).fit(X, y),
    ):
        t = projection_test.from_model(model, X, y, g)
        same = projection_test(score=model.predict_proba(X)[:, 1], label=y, group=g)
        assert numbers(t) == numbers(same)
        assert t.space == "score"
        assert any(f"{type(model).__name__} gives probabilities, but no coefficients" in note for note in t.notes)
        with pytest.raises(UsageError, match="without a model's features"):
            t.shifted_features(X)
    function = projection_test.from_model(lambda X: sigma(X[:, 0]), X, y, g)
    assert numbers(function) == numbers(projection_test(score=sigma(X[:, 0]), label=y, group=g))
    unlabelled = projection_test.from_model(model, X, None, g, criterion="demographic_parity")
    assert unlabelled.criterion == "demographic_parity"


def test_shifted_features_make_the_means_equal(rows: tuple[Array, Array, Array]) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y, g = rows
    g = np.where(np.arange(len(g)) % 10, g, "x")
    model = linear_model.LogisticRegression().fit(X, y)
    t = projection_test.from_model(model, X, y, g, reference="m", compare="f", criterion="equalized_odds")
    there = t.shifted_features(X)
    assert np.isnan(there[g == "x"]).all()
    for label in (0, 1):
        means = [model.predict_proba(there[(g == name) & (y == label)])[:, 1].mean() for name in "fm"]
        assert means[0] == pytest.approx(means[1], abs=1e-4)
    with pytest.raises(DataError, match="500 people were tested"):
        t.shifted_features(X[:3])
    with pytest.raises(UsageError, match="without a model's features"):
        projection_test(COLUMNS, **GOOD).shifted_features()


def test_rows_that_are_not_tested_go_nowhere(rows: tuple[Array, Array, Array]) -> None:
    pandas, linear_model = pytest.importorskip("pandas"), pytest.importorskip("sklearn.linear_model")
    X, y, g = rows
    model = linear_model.LogisticRegression().fit(X, y)
    label, group = y.astype(object), g.astype(object)
    label[:5], group[5:9] = None, None
    t = projection_test.from_model(model, X, label, group, missing="drop")
    assert t.n == 491
    assert np.isnan(t.shifted_features(X)).all(1).tolist() == [i < 9 for i in range(500)]
    assert sum(step["n"] for step in t.to_dict()["arrows"]["steps"]) == (y[9:] == 1).sum()
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, g=g, half=np.arange(500) % 2)
    some = projection_test(frame, model=model, features=["a", "b", "c"], label="y", group="g", where={"half": 1})
    half = frame[frame.half == 1]
    same = projection_test.from_model(model, half[["a", "b", "c"]].to_numpy(), half.y, half.g)
    assert numbers(some) == pytest.approx(numbers(same))
    assert "arrows" not in some.plots()
    with pytest.raises(UsageError, match="leave out risk="):
        projection_test(frame, model=model, features=["a", "b", "c"], label="y", group="g", risk=True)


def test_a_model_and_its_people_are_given_by_name(rows: tuple[Array, Array, Array], tmp_path: Path) -> None:
    pandas, io = pytest.importorskip("pandas"), pytest.importorskip("skops.io")
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y, g = rows
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, g=g, w=1)
    model = linear_model.LogisticRegression().fit(frame[["a", "b", "c"]], y)
    by_hand = projection_test.from_model(model, frame[["a", "b", "c"]], y, g, reference="m")
    io.dump(model, tmp_path / "m.skops")
    frame.to_csv(tmp_path / "people.csv", index=False)
    words: dict[str, Any] = {"label": "y", "group": "g", "reference": "m"}
    for data in (frame, tmp_path / "people.csv"):
        for one in (model, tmp_path / "m.skops"):
            t = projection_test(data, model=one, **words)
            assert numbers(t) == pytest.approx(numbers(by_hand))
            np.testing.assert_allclose(t.shifted_features(), by_hand.shifted_features())
    plain = linear_model.LogisticRegression().fit(X, y)
    io.dump(plain, tmp_path / "plain.skops")
    flags = ("--label", "y", "--group", "g", "--reference", "m", "--json", "-")
    for model_file, more in (("m.skops", ()), ("plain.skops", ("--features", "a,b,c"))):
        done = run("projection-test", tmp_path / "people.csv", "--model", tmp_path / model_file, *flags, *more)
        assert json.loads(done.stdout)["statistic"] == pytest.approx(by_hand.statistic)
    for bad, message in (
        (("--model", tmp_path / "m.skops", "--score", "a"), "leave out score="),
        (("--model", tmp_path / "plain.skops"), "cannot score"),
        (("--model", tmp_path / "m.pkl"), "pickle"),
        (("--model", tmp_path / "none.skops"), "there is no model"),
        (("--score", "a", "--features", "a"), "about a model"),
        (("--model", tmp_path / "m.skops", "--features", "a,b,d"), "'d'"),
    ):
        done = run("projection-test", tmp_path / "people.csv", *bad, *flags)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), bad
        assert message in done.stderr
    done = run("projection-test", tmp_path / "people.csv", "--model", tmp_path / "m.skops", *flags,
               "--shifts", tmp_path / "m.skops")  # fmt: skip
    assert done.returncode == 2


def test_shifts_are_saved(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    t = projection_test(some_people(), score="p", label="y", group="g", criterion="equalized_odds")
    for name in ("shifts.csv", "shifts.parquet"):
        t.save_shifts(tmp_path / name)
        found = duckdb.sql(f"SELECT * FROM '{tmp_path / name}'").fetchnumpy()
        assert list(found) == ["score", "group", "label", "n", "logit", "shifted_logit", "shifted_score", "k"]
        for column, values in t.shifts.items():
            np.testing.assert_array_equal(found[column], values)
    before = (tmp_path / "shifts.csv").read_bytes()
    t.save_shifts(tmp_path / "shifts.csv")
    assert (tmp_path / "shifts.csv").read_bytes() == before
    with pytest.raises(UsageError, match=r"as .csv or .parquet, not '.json'"):
        t.save_shifts(tmp_path / "shifts.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shifts.csv", "shifts.parquet"]


def test_the_command_saves_shifts(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    people = some_people(60)
    file.write_text("p,y,g\n" + "\n".join(f"{p},{y},{g}" for p, y, g in zip(*(people[c] for c in "pyg"), strict=True)))
    flags = (file, "--score", "p", "--label", "y", "--group", "g")
    done = run("projection-test", *flags, "--shifts", tmp_path / "s.csv", "--json", "-")
    assert json.loads(done.stdout)["n"] == 60
    assert (tmp_path / "s.csv").read_text().startswith("score,group,label,n,logit,shifted_logit,shifted_score,k\n")
    for bad in ("s.txt", "-", "people.csv", "", "no/where.csv"):
        done = run("projection-test", *flags, "--shifts", tmp_path / bad if bad not in ("-", "") else bad)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), bad
    assert file.read_text().startswith("p,y,g")


# ---- bad input, and what comes out ------------------------------------------------------------------------

COLUMNS: dict[str, Any] = {"p": [0.2, 0.6, 0.7, 0.4], "y": [1, 1, 1, 0], "g": ["f", "m", "f", "m"]}
GOOD: dict[str, Any] = {"score": "p", "label": "y", "group": "g", "beta_norm": 1.0}


@pytest.mark.parametrize(
    ("columns", "words", "message"),
    [
        ({"p": [0.2, float("nan"), 0.7, 0.4]}, {}, "without a finite score"),
        ({"p": [0.2, None, 0.7, 0.4]}, {}, "without a finite score"),
        ({"p": [0.2, float("inf"), 0.7, 0.4]}, {}, "without a finite score"),
        ({"p": ["a", "b", "c", "d"]}, {}, "must hold numbers"),
        ({"p": [0.2, 1.0, 0.7, 0.0]}, {}, "score of exactly 0 or 1, where .* nobody can close the gap"),
        ({"p": [0.2, 1.5, 0.7, 0.4]}, {}, "must be a probability"),
        ({"p": [0.2, 0.5]}, {}, "same length"),
        ({"p": [], "y": [], "g": []}, {}, "no rows"),
        ({"y": [1, 0, 1, 0]}, {}, "'m' has none"),
        ({"y": [0, 1, 0, 0]}, {}, "'f' has none"),
        ({}, {"criterion": "equalized_odds"}, "unfavourable label .* 'f' has none"),
        ({"y": [1, 2, 3, 1]}, {}, "has two values"),
        ({"g": ["f"] * 4}, {}, "two or more groups"),
        ({}, {"score": ["p", "y"]}, "one by one"),
        ({}, {"score": ["p", "y"], "logit": "p"}, "not both"),
        ({"g": ["f", None, "f", "m"]}, {}, "without a group"),
        ({}, {"compare": "x"}, "'x' is not a group"),
        ({}, {"compare": "f", "reference": "f"}, "is the reference"),
        ({}, {"reference": "F"}, "did you mean 'f'"),
        ({}, {"group": ["g", "y"]}, "one column"),
        ({}, {"group": None}, "group column"),
        ({}, {"label": None}, "same label"),
        ({}, {"score": None}, "name the column"),
        ({}, {"score": True}, "is for tables"),
        ({}, {"logit": "p"}, "not both"),
        ({}, {"score": "q"}, "no column 'q'"),
        ({}, {"beta_norm": 0}, "beta_norm must be"),
        ({}, {"beta_norm": -1.0}, "beta_norm must be"),
        ({}, {"beta_norm": float("nan")}, "beta_norm must be"),
        ({}, {"beta_norm": float("inf")}, "beta_norm must be"),
        ({}, {"beta_norm": "2"}, "beta_norm must be"),
        ({}, {"beta_norm": True}, "beta_norm must be"),
        ({}, {"level": 0}, "level must be"),
        ({}, {"level": 1.0}, "level must be"),
        ({}, {"level": "5%"}, "level must be"),
        ({}, {"level": None}, "level must be"),
        ({}, {"criterion": "equal_oportunity"}, "did you mean 'equal_opportunity'"),
        ({}, {"criterion": None}, "criterion must be"),
        ({}, {"risk": "no"}, "risk is True or False"),
        ({}, {"missing": "skip"}, "'refuse', 'drop'"),
        ({"p": [1e200, 0.0, 1.0, 1.0]}, {"score": None, "logit": "p"}, "check that they are logits"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(columns: dict[str, Any], words: dict[str, Any], message: str) -> None:
    with pytest.raises(EvenhandError, match=message) as caught:
        projection_test({**COLUMNS, **columns}, **{**GOOD, **words})
    assert "\n" not in str(caught.value)


def test_what_a_table_must_be(tmp_path: Path) -> None:
    people = some_people()
    logits = evenhand.tabulate(people, score="z", label="y", group="g")
    with pytest.raises(DataError, match="logit=True"):
        projection_test(logits)
    t = projection_test(logits, logit=True, beta_norm=2.0)
    logits.save(tmp_path / "t.parquet")
    for data in (logits, tmp_path / "t.parquet", str(tmp_path / "t.parquet")):
        assert numbers(projection_test(data, logit="z", beta_norm=2.0)) == numbers(t)
    with pytest.raises(UsageError, match="the score of the table is 'z'"):
        projection_test(logits, logit="q")
    with pytest.raises(UsageError, match="leave out 'label'"):
        projection_test(logits, logit=True, label="y")
    with pytest.raises(UsageError, match="same label"):
        projection_test(evenhand.tabulate(people, score="p", group="g"))
    with pytest.raises(UsageError, match="needs scores"):
        projection_test(evenhand.tabulate(people, prediction="y", label="y", group="g"))
    with pytest.raises(DataError, match="probability"):
        projection_test(evenhand.compas())


def test_missing_rows_are_left_out_on_request() -> None:
    people = some_people()
    people["z"][:5] = np.nan
    t = projection_test(people, logit="z", label="y", group="g", missing="drop")
    assert t.n == 395
    assert sum(t.data["left_out"].values()) == 5
    assert "Left out: 5 rows" in repr(t)


def test_other_groups_are_left_out_before_anything_is_pooled() -> None:
    people = some_people()
    more = {k: np.concatenate([v, v[:50]]) for k, v in people.items()}
    more["g"][400:] = "x"
    a = projection_test(people, logit="z", label="y", group="g")
    b = projection_test(more, logit="z", label="y", group="g", compare="f")
    assert numbers(a) == numbers(b)
    assert a.n == b.n == 400


def test_the_document_and_the_report(tmp_path: Path) -> None:
    t = projection_test(some_people(), logit="z", label="y", group="g", criterion="equalized_odds", beta_norm=2.0)
    document = json.loads(t.to_json(tmp_path / "t.json"))
    assert document == json.loads((tmp_path / "t.json").read_text(encoding="utf-8")) == t.to_dict()
    check_schema(document, evenhand.schema("projection"))
    assert document["schema"] == "evenhand/projection/1"
    assert document["theta"] == list(t.theta)
    assert document["gamma"] == list(t.gamma)
    assert [part["label"] for part in document["labels"]] == ["favourable", "unfavourable"]
    assert sum(part["statistic"] for part in document["labels"]) == pytest.approx(document["statistic"])
    assert sum(g["n"] for part in document["labels"] for g in part["groups"]) == document["n"] == 400
    text = repr(t)
    assert max(map(len, text.splitlines())) <= 80
    assert "equalized odds" in text
    assert t.interpretation.split(":")[0].capitalize() in text
    assert "**Equalized odds is" in t.to_markdown()
    assert "Projection test" in t.to_html()
    assert t.plots() == ("law", "moves")
    assert t == projection_test(some_people(), logit="z", label="y", group="g", criterion="equalized_odds", beta_norm=2)


# ---- what a reader is shown -----------------------------------------------------------------------------------------


def test_steps_hold_five_people_or_more_and_everybody() -> None:
    rng = np.random.default_rng(3)
    for n in (5, 6, 40, 900):
        z = rng.normal(0, 2, 2 * n)
        t = projection_test(logit=z, group=np.repeat([0, 1], n), criterion="demographic_parity", reference=0)
        for g in t.to_dict()["labels"][0]["groups"]:
            assert min(min(s["before"], s["after"]) for s in g["steps"]) >= 5
            assert g["steps"][0]["low"] == 0
            assert g["steps"][-1]["high"] == 1
            assert [s["low"] for s in g["steps"][1:]] == [s["high"] for s in g["steps"][:-1]]
            assert sum(s["before"] for s in g["steps"]) == n
            assert sum(s["after"] for s in g["steps"]) == pytest.approx(n, abs=1)
    heavy = projection_test(
        logit=rng.normal(0, 1, 80), group=np.repeat([0, 1], 40), criterion="demographic_parity", reference=0,
        weight=np.tile([40, 1, 3, 1], 20), weight_kind="sampling",
    )  # fmt: skip
    for g in heavy.to_dict()["labels"][0]["groups"]:  # people are counted, not what they weigh
        assert sum(s["before"] for s in g["steps"]) == 40
    few = projection_test(COLUMNS, **GOOD)
    assert [g["steps"] for g in few.to_dict()["labels"][0]["groups"]] == [[], []]
    assert few.plots() == ("law",)


def test_steps_of_a_risk_are_those_of_the_risk() -> None:
    people = some_people()
    people["pd"] = 1 - people["p"]
    risk = projection_test(people, score="pd", label="y", group="g", risk=True).to_dict()["labels"][0]["groups"][0]
    good = people["y"] == 1
    own = people["pd"][good & (people["g"] == risk["name"])]
    for step in risk["steps"]:
        assert step["before"] == ((own >= step["low"]) & (own <= step["high"])).sum()


def test_who_would_have_to_move_how_far_is_said_in_percentage_points() -> None:
    people = some_people(900, shift=1.0)
    t = projection_test(people, score="p", label="y", group="g", reference="m")
    moved = t.shifted_probabilities(people["p"], people["g"], people["y"]) - people["p"]
    good = people["y"] == 1
    for name, way in (("f", "less"), ("m", "more")):
        own = good & (people["g"] == name)
        points, most = 100 * abs(moved[own].mean()), 100 * np.abs(moved[own]).max()
        assert f"{own.sum()}" in t.interpretation
        assert f"{points:.1f}" in t.interpretation
        assert f"{most:.1f}" in t.interpretation
        assert way in t.interpretation
    people["risk"] = 1 - people["p"]
    risk = projection_test(people, score="risk", label="y", group="g", reference="m", risk=True)
    assert "percentage points higher" in risk.interpretation
    assert "would need a risk on average" in risk.interpretation
    assert risk.labels[0].largest == pytest.approx(t.labels[0].largest)
    fair = projection_test(score=[0.3] * 12, group=["f", "m"] * 6, criterion="demographic_parity")
    assert "Nobody's score would have to change." in fair.interpretation


def test_the_limit_law_is_drawn_with_its_critical_value() -> None:
    t = projection_test(some_people(), score="p", label="y", group="g", criterion="equalized_odds", margin=0.01)
    chart = t.plot("law")
    assert f"{t.critical_value:.4g}" in json.dumps(chart.spec)
    edges, share = np.array(chart.columns["statistic from"]), np.array(chart.columns["share"])
    slack = tuple(part["slack"] for part in t.to_dict()["labels"])
    assert share.sum() == pytest.approx(1 - tail(chart.columns["to"][-1], t.theta, slack), abs=1e-3)
    assert share[edges >= t.critical_value].sum() < 0.05


def test_arrows_are_means_of_people_with_similar_scores(rows: tuple[Array, Array, Array]) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y, g = rows
    model = linear_model.LogisticRegression().fit(X, y)
    t = projection_test.from_model(model, X, y, g, reference="m")
    assert t.plots() == ("law", "moves", "arrows")
    arrows = t.to_dict()["arrows"]
    assert arrows["features"] == ["x1", "x0"]  # the largest coefficients
    for step in arrows["steps"]:
        assert step["n"] >= 5
        way = np.subtract(step["to"], step["from"])
        assert way[0] / way[1] == pytest.approx(model.coef_[0, 1] / model.coef_[0, 0])
    assert sum(step["n"] for step in arrows["steps"]) == (y == 1).sum()
    assert projection_test(some_people(), score="p", label="y", group="g").to_dict()["arrows"] is None
    check_schema(t.to_dict(), evenhand.schema("projection"))


def test_the_page_is_made_from_the_document_and_stands_in_that_of_an_audit(
    rows: tuple[Array, Array, Array], tmp_path: Path
) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    from evenhand.analyses.projection.page import projection_page

    X, y, g = rows
    g = np.where(g == "f", "<script>f", "m")
    t = projection_test.from_model(linear_model.LogisticRegression().fit(X, y), X, y, g, reference="m")
    page = t.to_html(tmp_path / "page.html")
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8") == projection_page(json.loads(t.to_json()))
    assert "<script>f" not in page
    for said in ("percentage points", "What chance alone shows", "Where everybody would have to move", "direction"):
        assert said in page
    people = three_groups()
    several = projection_test(people, score="p", label="y", group="g")
    assert "adjusted by Holm" in several.to_html()
    audit = evenhand.audit(people, score="p", label="y", group="g", bootstrap=0, permutations=0)
    page = audit.to_html(also=[t, json.loads(several.to_json())])
    assert page.count('id="projection') >= 4
    (tmp_path / "t.json").write_text(json.dumps({**t.to_dict(), "labels": 3}))
    with pytest.raises(DataError, match="not complete"):
        audit.to_html(also=[json.loads((tmp_path / "t.json").read_text())])


# ---- several groups, several scores ----------------------------------------------------------------------------------


def three_groups(n: int = 900) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    g = rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
    z = rng.normal(np.where(g == "c", 1.0, 0.0), 1.2)
    return {"p": sigma(z), "q": sigma(rng.normal(0, 1, n)), "y": (rng.random(n) < sigma(z)).astype(int), "g": g}


def test_every_group_is_compared_with_the_reference() -> None:
    people = three_groups()
    found = projection_test(people, score="p", label="y", group="g", criterion="equalized_odds")
    assert isinstance(found, ProjectionTests)
    assert [(t.group, t.reference) for t in found] == [("b", "a"), ("c", "a")]
    for t in found:
        assert t == projection_test(
            people, score="p", label="y", group="g", criterion="equalized_odds", compare=t.group
        )
    p = sorted(t.p_value for t in found)
    assert sorted(found.p_adjusted) == pytest.approx([min(2 * p[0], 1), max(2 * p[0], p[1])])
    assert found.rejects == tuple(p <= 0.05 for p in found.p_adjusted)
    assert found["c"] is found[1]
    assert found.rejects == (False, True)
    assert "rejected in 1 of 2 comparisons with a" in found.interpretation
    assert max(map(len, repr(found).splitlines())) <= 80
    for part in ("p_adjusted", "adjusted"):
        assert part in found.to_json() + repr(found)
    document = json.loads(found.to_json())
    check_schema(document, evenhand.schema("projections"))
    for one in document["tests"]:
        assert one.pop("p_adjusted") >= one["p_value"]
        del one["rejects_adjusted"]
        check_schema(one, evenhand.schema("projection"))
    assert "Projection tests" in found.to_html()


def test_several_scores_are_tested_together() -> None:
    people = three_groups()
    found = projection_test(people, score=["p", "q"], label="y", group="g", reference="a")
    assert [(t.data["score"], t.group) for t in found] == [("p", "b"), ("p", "c"), ("q", "b"), ("q", "c")]
    assert found.rejects == (False, True, False, False)
    assert "for c by p" in found.interpretation
    one = projection_test(people, score=["p", "q"], label="y", group="g", reference="a", compare="c")
    assert [t.p_value for t in one] == [found[1].p_value, found[3].p_value]
    assert isinstance(projection_test(people, score=["p"], label="y", group="g", compare="c"), ProjectionTest)
    logits = {**people, "z": np.log(people["p"] / (1 - people["p"]))}
    assert len(projection_test(logits, logit=["z", "z"], label="y", group="g")) == 4


def test_groups_without_the_label_are_named_and_left_out() -> None:
    people = three_groups()
    people["y"][people["g"] == "b"] = 0
    found = projection_test(people, score="p", label="y", group="g", reference="a")
    assert (found.group, found.p_value) == ("c", projection_test(
        people, score="p", label="y", group="g", reference="a", compare="c").p_value)  # fmt: skip
    assert any("'b' is not compared" in note for note in found.notes)


def test_the_command_tests_several_groups_and_scores(tmp_path: Path) -> None:
    people = three_groups(300)
    file = tmp_path / "people.csv"
    rows = zip(*people.values(), strict=True)
    file.write_text("\n".join([",".join(people), *(",".join(map(str, row)) for row in rows)]))
    words = ("--label", "y", "--group", "g", "--reference", "a")
    done = run("projection-test", file, "--score", "p,q", *words, "--json", "-")
    found = json.loads(done.stdout)
    assert found == projection_test(file, score=["p", "q"], label="y", group="g", reference="a").to_dict()
    assert found["schema"] == "evenhand/projections/1"
    assert len(found["tests"]) == 4
    assert "Projection tests" in run("projection-test", file, "--score", "p", *words).stdout


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb"])
def test_shifts_as_a_frame(library: str) -> None:
    pytest.importorskip(library)
    t = projection_test(COLUMNS, **GOOD)
    frame = t.to_frame(library)
    names = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert names == list(t.shifts)
    assert len(t.shifts["n"]) == 4


def test_help_shows_how_to_call_it() -> None:
    assert "projection_test(data, …)" in (projection_test.__doc__ or "")
    assert "from_model" in repr(projection_test)
    assert ">>> " in (projection_test.__doc__ or "")


def test_every_row_is_told_where_it_goes() -> None:
    """Means of the rows, once moved, are equal, but for a cell whose people had to be divided."""
    rng = np.random.default_rng(3)
    n = 400
    columns: dict[str, Any] = {
        "z": np.round(rng.normal(0, 1.5, n), 2), "y": rng.integers(0, 2, n), "g": rng.choice(["a", "b", "c"], n),
    }  # fmt: skip
    t = projection_test(
        columns, logit="z", label="y", group="g", compare="a", reference="b", criterion="equalized_odds"
    )
    moved = t.shifted_logits(columns["z"], columns["g"], columns["y"])
    assert np.isnan(moved[columns["g"] == "c"]).all()
    for y in (0, 1):
        means = [(1 / (1 + np.exp(-moved[(columns["g"] == g) & (columns["y"] == y)]))).mean() for g in ("a", "b")]
        assert means[0] == pytest.approx(means[1], abs=0.01)
    order = rng.permutation(n)
    again = t.shifted_logits(columns["z"][order], columns["g"][order], columns["y"][order])
    assert np.nanmean(again) == pytest.approx(np.nanmean(moved))
    with pytest.raises(DataError, match="were not among those tested"):
        t.shifted_logits(columns["z"] + 0.001, columns["g"], columns["y"])
    with pytest.raises(DataError, match="same length"):
        t.shifted_logits(columns["z"][:3], columns["g"], columns["y"])


def test_clusters_are_refused() -> None:
    columns = {"p": [0.2, 0.4, 0.6, 0.8], "y": [1, 1, 1, 1], "g": list("aabb"), "who": [1, 1, 2, 2]}
    table = evenhand.tabulate(columns, score="p", label="y", group="g", cluster="who")
    with pytest.raises(DataError, match="not for clusters"):
        projection_test(table)


def test_the_command_tests(tmp_path: Path) -> None:
    lines = ["p,y,g", *(f"{0.1 + 0.05 * (i % 15):.2f},{'good' if i % 3 else 'bad'},{'fm'[i % 2]}" for i in range(90))]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(lines))
    words = ["--label", "y", "--favorable", "good", "--group", "g", "--reference", "m"]
    done = process("test", file, "--score", "p", "--beta-norm", "2", *words, "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["schema"] == "evenhand/projection/1"
    python = projection_test(file, score="p", beta_norm=2.0, label="y", favorable="good", group="g", reference="m")
    assert found == python.to_dict()
    done = run("test", file, "--score", "p", *words, "--json", tmp_path / "out.json")
    assert done.stdout.startswith("Projection test: equal opportunity")
    assert json.loads((tmp_path / "out.json").read_text())["space"] == "score"
    evenhand.tabulate(file, score="p", label="y", favorable="good", group="g").save(tmp_path / "t.table")
    assert run("test", tmp_path / "t.table", "--reference", "m", "--json", "-").stdout.count("p_value") == 1
    for bad in (["--score", "q"], ["--score", "p", "--logit", "p"], [], ["--score", "p", "--beta-norm", "-1"]):
        done = run("test", file, *bad, *words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), bad
    assert run("test", file, "--score", "p", "--criterion", "parity", *words).returncode == 2


# ---- risk scores, survey weights, few people, ranges ----------------------------------------------------------------


def test_a_risk_score_is_shown_as_it_was_given() -> None:
    people = some_people()
    people["pd"] = 1 - people["p"]
    t = projection_test(people, score="pd", label="y", group="g", risk=True)
    groups, good = t.to_dict()["labels"][0]["groups"], people["y"] == 1
    for g in groups:
        own = people["pd"][good & (np.array(people["g"]).astype(str) == g["name"])]
        assert g["mean"] == pytest.approx(own.mean())
        assert (g["move"] > 0) == (g["mean_after"] > g["mean"])
    higher = groups[0]["mean"] > groups[1]["mean"]
    assert f"{'higher (less' if higher else 'lower (more'} favourable)" in t.interpretation
    assert (t.labels[0].gap < 0) == higher


def test_a_forgotten_risk_is_pointed_out() -> None:
    people = some_people()
    people["pd"] = 1 - people["p"]
    assert not any("risk" in note for note in projection_test(people, score="p", label="y", group="g").notes)
    assert any("--risk" in note for note in projection_test(people, score="pd", label="y", group="g").notes)
    wrong = projection_test(people, score="p", label="y", group="g", risk=True)
    assert any("lower mean risk" in note for note in wrong.notes)


def test_survey_weights_of_one_size_change_nothing() -> None:
    people = some_people()
    words: dict[str, Any] = {"score": "p", "label": "y", "group": "g", "criterion": "equalized_odds"}
    plain = projection_test(people, **words)
    people["w"] = np.full(len(people["y"]), 70)
    heavy = projection_test(people, **words, weight="w", weight_kind="sampling")
    assert numbers(heavy) == pytest.approx(numbers(plain))
    assert heavy.n == plain.n
    with pytest.raises(EvenhandError, match="--weight-kind sampling"):
        projection_test(people, **words, weight="w")


@pytest.mark.parametrize("replications", [150, pytest.param(2000, marks=pytest.mark.full)])
def test_survey_weights_keep_the_level(replications: int) -> None:
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(replications):
        w = np.ceil(rng.lognormal(3, 1, 400))
        t = projection_test(
            logit=rng.normal(0, 1.2, 400), label=np.ones(400, int), group=rng.integers(0, 2, 400), weight=w,
            weight_kind="sampling",
        )  # fmt: skip
        rejected += t.rejects
    assert rejected / replications <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / replications)


def skewed(seed: int = 0, members: int = 20) -> dict[str, Any]:
    p = np.clip(np.random.default_rng(seed).beta(0.5, 8, 200 + members), 1e-6, 1)
    return {"score": p, "label": np.ones(200 + members, int), "group": np.repeat([1, 0], [members, 200])}


def test_few_people_are_permuted() -> None:
    t = projection_test(**skewed(), reference=0)
    assert (t.p_value, t.p_method) == (t.p_permuted, "permutation")
    assert t.p_limit != t.p_value
    assert any("(20)" in note and "the p-value comes from permuting group labels" in note for note in t.notes)
    assert "by permuting group labels" in str(t)
    margin = projection_test(**skewed(), reference=0, margin=0.01)
    assert (margin.p_permuted, margin.p_method) == (None, "limit law")
    assert any("too few to show how much a mean" in note for note in margin.notes)
    many = projection_test(some_people(6000), score="p", label="y", group="g")
    assert (many.p_permuted, many.p_method, many.p_value) == (None, "limit law", many.p_limit)
    some = projection_test(some_people(1200), score="p", label="y", group="g")
    assert (some.p_method, some.p_value) == ("limit law", some.p_limit)
    assert some.p_permuted == pytest.approx(some.p_limit, abs=0.03)


def every_split(values: Array, group: Array) -> float:
    """The permutation p-value by going through all ways to choose the group."""
    here, size, total = 0.0, int(group.sum()), []
    for chosen in itertools.combinations(range(len(values)), size):
        some = np.isin(np.arange(len(values)), chosen)
        a, b = values[some], values[~some]
        gap2 = (a.mean() - b.mean()) ** 2
        noise = (a.var() + gap2) / len(a) + (b.var() + gap2) / len(b)
        total.append(gap2 / noise if noise > 0 else 0.0)
        here = total[-1] if (some == group).all() else here
    return float(np.mean(np.array(total) >= here * (1 - 1e-9)))


def test_the_p_value_of_few_people_is_exact() -> None:
    rng = np.random.default_rng(5)
    for size, digits in ((3, 3), (5, 1), (7, 0)):
        p = np.clip(np.round(rng.beta(2, 2, 12), digits) + 0.001, 0.001, 0.999)
        g = np.arange(12) < size
        t = projection_test(score=p, label=np.ones(12, int), group=g, reference=False)
        assert t.p_value == t.p_permuted == pytest.approx(every_split(p, g), rel=1e-9)


def test_the_p_value_of_both_labels_is_exact() -> None:
    rng = np.random.default_rng(6)
    gaps = [permuted_means(rng.random(8), np.ones(8, int), np.arange(8) < k, 99, rng) for k in (3, 4)]
    assert all(g.chance is not None for g in gaps)
    both = np.add.outer(gaps[0].null, gaps[1].null) >= (gaps[0].here + gaps[1].here) * (1 - 1e-9)
    chance = np.multiply.outer(gaps[0].chance, gaps[1].chance)
    assert permuted_p_value(gaps, None, 99, rng) == pytest.approx(chance[both].sum(), rel=1e-9)


def test_few_people_of_one_label_and_many_of_the_other() -> None:
    """The label with many people has the law of a large sample, the other one is permuted."""
    rng = np.random.default_rng(7)
    n = np.repeat([10, 10, 1500, 1500], [1, 1, 1, 1])
    y, g = np.repeat([1, 1, 0, 0], n), np.repeat([1, 0, 1, 0], n)
    z = rng.normal(0, 1, n.sum())
    t = projection_test(logit=z, label=y, group=g, reference=0, criterion="equalized_odds")
    one = projection_test(logit=z[y == 1], label=y[y == 1], group=g[y == 1], reference=0)
    other = projection_test(logit=z[y == 0], label=y[y == 0], group=g[y == 0], reference=0,
                            criterion="predictive_equality")  # fmt: skip
    gap = permuted_means(sigma(z[:20]), np.ones(20, int), g[:20] == 1, 1999, np.random.default_rng(0))
    large = stats.chi2.isf(other.p_limit, 1)
    assert one.p_method == t.p_method == "permutation"
    assert t.p_value == pytest.approx(permuted_p_value([gap], float(large), 1999, rng), abs=0.02)


def test_permuted_gaps_that_were_drawn_are_added() -> None:
    rng = np.random.default_rng(0)
    drawn = PermutedGap(4.0, rng.chisquare(1, 3999), None)
    listed = PermutedGap(1.0, np.array([0.0, 5.0]), np.array([0.5, 0.5]))
    p = permuted_p_value([drawn, listed], None, 3999, rng)
    assert p == pytest.approx(0.5 * stats.chi2.sf(5, 1) + 0.5, abs=0.02)
    assert permuted_p_value([drawn], 1.0, 3999, rng) == pytest.approx(stats.chi2.sf(5, 2), abs=0.02)


def test_permuting_does_not_depend_on_the_order_of_rows() -> None:
    people = some_people()
    order = np.random.default_rng(1).permutation(400)
    words: dict[str, Any] = {"score": "p", "label": "y", "group": "g"}
    a, b = (projection_test({k: v[o] for k, v in people.items()}, **words) for o in (np.arange(400), order))
    assert a.p_method == "permutation"
    assert a.to_json() == b.to_json()


def test_permuting_keeps_the_level_where_the_limit_law_does_not() -> None:
    rng = np.random.default_rng(2)
    group, ones = np.arange(220) < 20, np.ones(220, np.int64)
    rejected = 0
    for _ in range(400):
        gap = permuted_means(1 / (1 + np.exp(4 - 2 * rng.normal(size=220))), ones, group, 99, rng)
        rejected += permuted_p_value([gap], None, 99, rng) <= 0.05
    assert rejected / 400 <= 0.08


# ---- criteria, margins, and scores of 0 and 1 ------------------------------------------------------------------------


def test_predictive_equality_is_equal_opportunity_of_the_other_label() -> None:
    people = some_people(1500)
    a = projection_test(people, score="p", label="y", group="g", criterion="predictive_equality")
    people["not"] = 1 - people["y"]
    b = projection_test(people, score="p", label="not", group="g")
    assert numbers(a) == pytest.approx(numbers(b))
    assert [part.label for part in a.labels] == ["unfavourable"]


def test_demographic_parity_needs_no_label_and_ignores_one() -> None:
    people = some_people(1500)
    a = projection_test(people, score="p", group="g", criterion="demographic_parity")
    b = projection_test(people, score="p", label="y", group="g", criterion="demographic_parity")
    plain = project(people["z"], np.ones(1500), people["g"] == a.group, 1500.0, 1.0)
    assert numbers(a) == pytest.approx(numbers(b))
    assert (a.statistic, a.theta[0]) == pytest.approx((plain.statistic, plain.theta))
    assert "label" not in a.shifts
    assert a.to_dict()["data"]["label"] is None
    assert a.to_dict()["labels"][0]["label"] == "any"
    moved = a.shifted_probabilities(people["p"], people["g"])
    means = [moved[people["g"] == g].mean() for g in "fm"]
    assert means[0] == pytest.approx(means[1], abs=1e-6)
    with pytest.raises(UsageError, match="same label"):
        projection_test(people, score="p", group="g")


def test_a_margin_costs_what_the_cheapest_transport_costs() -> None:
    """Linear programming over a fine grid, where the gap may be as large as the margin."""
    rng = np.random.default_rng(9)
    for _ in range(6):
        z, n, group, people = random_cells(rng, most=5)
        side = np.where(group, 1 / n[group].sum(), -1 / n[~group].sum())
        gap = float((side * n) @ sigma(z))
        for margin in (abs(gap) / 3, 0.9 * abs(gap)):
            found = project(z, n, group, people, 1.0, margin=margin)
            to = np.unique(np.concatenate([np.linspace(z.min() - 3, z.max() + 3, 1500), z, found.shifted]))
            each = np.repeat(np.eye(len(z)), len(to), axis=1)
            parity = (side[:, None] * sigma(to)).ravel()
            done = optimize.linprog(
                ((to - z[:, None]) ** 2).ravel(), A_eq=each, b_eq=n, A_ub=[parity, -parity], b_ub=[margin, margin]
            )
            assert found.statistic == found.border == pytest.approx(done.fun, rel=1e-6, abs=1e-12)
            assert abs(_gap(found, group)) == pytest.approx(margin, abs=1e-8)
        inside = project(z, n, group, people, 1.0, margin=1.2 * abs(gap))
        assert (inside.statistic, inside.gamma) == (0, 0)
        assert inside.border > 0
        np.testing.assert_array_equal(inside.shifted, z[inside.cell])


def _gap(found: Any, group: Array) -> float:
    side = group[found.cell]
    means = [np.average(sigma(found.shifted[which]), weights=found.n[which]) for which in (side, ~side)]
    return float(means[0] - means[1])


@pytest.mark.parametrize(("theta", "slack"), [((2.0,), (0.7,)), ((2.0, 0.5), (0.3, 1.5)), ((1.0, 1.0), (0.0, 2.0))])
def test_the_tail_with_margins(theta: tuple[float, ...], slack: tuple[float, ...]) -> None:
    z = np.random.default_rng(0).normal(size=(len(theta), 400_000))
    beyond = np.maximum(np.abs(z + np.array(slack)[:, None]) - np.array(slack)[:, None], 0) ** 2
    drawn = np.array(theta) @ beyond
    for s in (0.1, 1.0, 4.0, 10.0):
        p = tail(s, theta, slack)
        assert p == pytest.approx((drawn >= s).mean(), abs=4 * math.sqrt(p / 400_000) + 1e-5)
    for level in (0.01, 0.05, 0.3):
        assert tail(critical(level, theta, slack), theta, slack) == pytest.approx(level, rel=1e-9)
    small = tuple(1e-9 for _ in slack)
    assert tail(3.0, theta, small) == pytest.approx(tail(3.0, theta), rel=1e-6)


@pytest.mark.parametrize("replications", [200, pytest.param(2000, marks=pytest.mark.full)])
def test_both_hypotheses_of_a_margin_keep_the_level(replications: int) -> None:
    """At a gap as large as the margin, neither "larger" nor "smaller" is claimed more often than the level says."""
    rng = np.random.default_rng(3)
    population = sigma(np.random.default_rng(0).normal([[0.4], [0.0]], 1.0, (2, 200_000))).mean(1)
    margin = float(population[0] - population[1])
    exceeds = within = 0
    for _ in range(replications):
        g = np.repeat([1, 0], 400)
        t = projection_test(
            logit=rng.normal(0.4 * g, 1.0), group=g, reference=0, criterion="demographic_parity", margin=margin
        )
        exceeds, within = exceeds + t.rejects, within + t.is_within
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / replications)
    assert exceeds / replications <= most
    assert 0.01 <= within / replications <= most


def test_a_margin_says_which_of_three_it_is() -> None:
    def tested(shift: float, people: int) -> ProjectionTest:
        g = np.repeat([1, 0], people)
        z = np.random.default_rng(1).normal(shift * g, 1.0)
        return projection_test(logit=z, group=g, reference=0, criterion="demographic_parity", margin=0.05)

    far, near, unknown = tested(1.0, 1000), tested(0.0, 3000), tested(0.2, 50)
    assert (far.rejects, far.is_within) == (True, False)
    assert "is rejected" in far.interpretation
    assert abs(far.labels[0].means_after[0] - far.labels[0].means_after[1]) == pytest.approx(0.05, abs=1e-8)
    assert (near.rejects, near.is_within, near.statistic) == (False, True, 0)
    assert "within 0.05 holds" in near.interpretation
    assert (unknown.rejects, unknown.is_within) == (False, False)
    assert "cannot be told" in unknown.interpretation
    for t in (far, near, unknown):
        check_schema(t.to_dict(), evenhand.schema("projection"))
    for bad in (-0.1, 1, "0.1", float("nan"), None, True):
        with pytest.raises(UsageError, match="margin must be"):
            projection_test(logit=[1, 2], group=[1, 2], criterion="demographic_parity", margin=bad)


@pytest.mark.parametrize("end", [1.0, -1.0])
def test_a_score_of_1_or_0_is_the_limit_of_scores_nearer_and_nearer(end: float) -> None:
    rng = np.random.default_rng(11)
    z, group = rng.normal(0, 1, 60), np.arange(60) < 25
    far = np.isin(np.arange(60), (3, 10, 40))
    limit = project(np.where(far, end * np.inf, z), np.ones(60), group, 80.0, 1.0)
    found = [project(np.where(far, end * at, z), np.ones(60), group, 80.0, 1.0) for at in (10.0, 20.0, 32.0)]
    errors = [abs(f.statistic - limit.statistic) + abs(f.theta - limit.theta) for f in found]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-10
    assert np.isinf(limit.shifted).sum() == 3
    assert (limit.k[np.isinf(limit.shifted)] == 0).all()
    assert _gap(limit, group) == pytest.approx(0, abs=1e-9)


def test_people_scoring_0_and_1_count_and_stay() -> None:
    people = some_people(1200)
    people["p"][:7] = 1.0
    people["p"][7:12] = 0.0
    t = projection_test(people, score="p", label="y", group="g", criterion="equalized_odds")
    json.loads(t.to_json())
    assert any("12 people have a score of exactly 0 or 1" in note for note in t.notes)
    moved = t.shifted_probabilities(people["p"], people["g"], people["y"])
    np.testing.assert_array_equal(moved[:12], people["p"][:12])
    for y in (0, 1):
        means = [moved[(people["y"] == y) & (people["g"] == g)].mean() for g in "fm"]
        assert means[0] == pytest.approx(means[1], abs=1e-6)
    within = projection_test(score=[1.0, 1.0, 0.0, 0.0, 0.5], group=list("ababa"), criterion="demographic_parity",
                             margin=0.9)  # fmt: skip
    assert within.statistic == 0


def test_ranges_state_their_bound() -> None:
    rng = np.random.default_rng(1)
    g, z = rng.integers(0, 2, 4000), rng.normal(0, 1, 4000)
    p = sigma(z + 0.03 * g)
    people = {"p": p, "y": (rng.random(4000) < p).astype(int), "g": g}
    words: dict[str, Any] = {"score": "p", "label": "y", "group": "g"}
    exact = projection_test(people, **words)
    assert exact.ranges is None
    for step in (0.002, 0.1):
        edges = np.arange(0, 1 + step / 2, step)
        table = evenhand.tabulate(people, **words)
        spans = Spans(edges[:-1], edges[1:], float(p.min()), float(p.max()))
        cells = {name: getattr(table, name) for name in ("attributes", "codes", "n", "score", "label", "meaning")}
        t = projection_test(evenhand.Table.of_cells(spans=spans, **cells))
        assert t.ranges is not None
        low, high = t.ranges.p_values
        assert low <= exact.p_value <= high
        assert low <= t.p_value <= high
        moved = np.abs(np.subtract(t.labels[0].means, exact.labels[0].means))
        assert moved.max() <= t.ranges.means <= step
        assert any("known in ranges" in note for note in t.notes)
        check_schema(t.to_dict(), evenhand.schema("projection"))
    assert "cannot be told" in t.interpretation


def test_a_label_whose_gap_is_within_the_margin_moves_nobody() -> None:
    people = {
        "p": [0.5, 0.6] * 60 + [0.5, 0.6] * 60 + [0.2, 0.3] * 60 + [0.6, 0.7] * 60,
        "y": [1] * 240 + [0] * 240,
        "g": (["a"] * 120 + ["b"] * 120) * 2,
    }
    found = projection_test(people, score="p", label="y", group="g", criterion="equalized_odds", margin=0.05)
    assert "Nobody with the favourable label would have to move." in found.interpretation
    assert "people of b with the unfavourable label would need" in found.interpretation


def test_one_person_is_no_people() -> None:
    data = {"p": [0.9, 0.2, 0.4, 0.3], "y": [1, 1, 1, 1], "sex": ["f", "m", "m", "m"]}
    test = projection_test(data, score="p", label="y", group="sex", compare="f", reference="m")
    assert isinstance(test, ProjectionTest)
    assert "To be fair, 1 person of f with the favourable label would need" in test.to_dict()["interpretation"]
