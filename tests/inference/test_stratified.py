"""Rates and scores pooled over strata: equal to statsmodels, to loops over people, and right as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from evenhand.inference.stratified_rates import (
    Strata,
    association,
    homogeneity,
    odds_ratio,
    risk_difference,
    standardised,
)
from evenhand.inference.stratified_scores import Layers

SIMULATED = [pytest.param(60, id="reduced"), pytest.param(2000, id="full", marks=pytest.mark.full)]
FEW_LARGE, MANY_SPARSE = (5, 500), (200, 20)


def drawn(rng, kind, base=0.4, effect=0.0, share=0.3, spread=0.8):
    """Counts of strata whose rates and shares of the group go up together, and the true rates."""
    count, size = kind
    u = np.linspace(-1, 1, count)
    p0 = expit(logit(base) + spread * u)
    p1 = expit(logit(base) + spread * u + effect)
    n = rng.binomial(size, np.clip(share * (1 + 0.6 * u), 0.01, 0.95))
    a, c = rng.binomial(n, p1), rng.binomial(size - n, p0)
    return Strata(*(x.astype(float) for x in (a, n, c, size - n))), p1 - p0


@pytest.mark.parametrize("kind", [FEW_LARGE, MANY_SPARSE])
@pytest.mark.parametrize("effect", [0.0, 0.9])
def test_what_is_pooled_is_that_of_statsmodels(kind, effect):
    from statsmodels.stats.contingency_tables import StratifiedTable

    s, _ = drawn(np.random.default_rng(4), kind, effect=effect)
    b = s.both
    known = StratifiedTable([np.array([[a, n - a], [c, m - c]]) for a, n, c, m in zip(b.a, b.n, b.c, b.m, strict=True)])
    found = odds_ratio(s, 0.95)
    assert found is not None
    assert found.value == pytest.approx(known.oddsratio_pooled, rel=1e-10)
    assert found.ci == pytest.approx(known.oddsratio_pooled_confint(), rel=1e-10)
    test, exact = association(s)
    assert (test.statistic, test.p_value) == pytest.approx(
        (known.test_null_odds().statistic, known.test_null_odds().pvalue), rel=1e-10
    )
    assert exact is not None
    assert exact.p_value == pytest.approx(test.p_value, rel=0.25, abs=0.02)
    h = homogeneity(s)
    assert h is not None
    if kind is FEW_LARGE:  # of strata in which all have one outcome statsmodels makes NaN
        for own, adjust in ((h.test, False), (h.tarone, True)):
            other = known.test_equal_odds(adjust=adjust)
            assert (own.statistic, own.p_value) == pytest.approx((other.statistic, other.pvalue), rel=1e-10)
    assert h.sparse is (kind is MANY_SPARSE)


def test_the_pooled_difference_is_that_of_its_formula_and_the_exact_test_that_of_all_tables():
    s = Strata(*(np.array(x, float) for x in ([3, 1, 0], [5, 2, 4], [1, 2, 3], [6, 3, 4])))
    weights = [5 * 6 / 11, 2 * 3 / 5, 4 * 4 / 8]
    value = sum(w * (a / n - c / m) for w, a, n, c, m in zip(weights, s.a, s.n, s.c, s.m, strict=True)) / sum(weights)
    assert risk_difference(s, 0.95).value == pytest.approx(value, abs=1e-12)
    from scipy.stats import hypergeom

    margins = [(11, 4, 5), (5, 3, 2), (8, 3, 4)]
    chance: dict[int, float] = {}
    for i in range(5):
        for j in range(3):
            for k in range(4):
                p = np.prod([hypergeom.pmf(x, *m) for x, m in zip((i, j, k), margins, strict=True)])
                chance[i + j + k] = chance.get(i + j + k, 0.0) + float(p)
    exact = association(s)[1]
    assert exact is not None
    assert exact.p_value == pytest.approx(sum(p for p in chance.values() if p <= chance[4] * (1 + 1e-9)), abs=1e-12)


def test_one_stratum_is_an_ordinary_table():
    from evenhand.inference.interval import difference, wilson
    from evenhand.inference.significance import fisher

    s = Strata(*(np.array([x], float) for x in (8, 10, 1, 6)))
    assert risk_difference(s, 0.95).value == pytest.approx(8 / 10 - 1 / 6)
    assert association(s)[1].p_value == pytest.approx(fisher(8, 10, 1, 6).p_value)
    assert homogeneity(s) is None
    found = standardised(s, np.ones(1), 0.95)
    plain = difference(0.8, wilson(0.8, 10), 1 / 6, wilson(1 / 6, 6))
    assert found.ci == pytest.approx([float(end) for end in plain], abs=0.03)


def test_strata_that_lack_a_group_contribute_nothing_and_extremes_have_limits():
    s = Strata(*(np.array(x, float) for x in ([3, 5, 0], [5, 9, 0], [1, 0, 4], [6, 0, 7])))
    alone = Strata(*(np.array(x, float) for x in ([3], [5], [1], [6])))
    for pooled in (risk_difference, odds_ratio):
        assert pooled(s, 0.95) == pooled(alone, 0.95)
    nobody = Strata(*(np.array(x, float) for x in ([0, 0], [10, 20], [0, 0], [12, 20])))
    low, high = risk_difference(nobody, 0.95).ci
    assert -0.2 < low < 0 < high < 0.2
    assert odds_ratio(nobody, 0.95) is None
    assert association(nobody)[0].p_value == 1.0
    none = Strata(*(np.array(x, float) for x in ([0, 0], [10, 20], [3, 5], [12, 20])))
    found = odds_ratio(none, 0.95)
    assert found.value == 0 and found.ci[0] == 0 and 0 < found.ci[1] < 1  # noqa: PT018
    turned = odds_ratio(Strata(none.c, none.m, none.a, none.n), 0.95)
    assert turned.value == np.inf
    assert turned.ci[0] == pytest.approx(1 / found.ci[1])


@pytest.mark.parametrize("replications", SIMULATED)
@pytest.mark.parametrize("kind", [FEW_LARGE, MANY_SPARSE], ids=["5 x 500", "200 x 20"])
@pytest.mark.parametrize(("base", "share"), [(0.4, 0.5), (0.4, 0.1), (0.02, 0.3)])
def test_pooled_intervals_hold_and_tests_have_their_size(replications, kind, base, share):
    rng = np.random.default_rng(17)
    held, false = {"rd": 0, "or": 0, "std": 0}, 0
    for _ in range(replications):
        s, true = drawn(rng, kind, base, 0.6, share)
        w = s.both.weights
        low, high = risk_difference(s, 0.95).ci
        held["rd"] += low <= (w * true[s.there]).sum() / w.sum() <= high
        low, high = odds_ratio(s, 0.95).ci
        held["or"] += low <= np.exp(0.6) <= high
        people = s.n + s.m
        low, high = standardised(s, people, 0.95).ci
        held["std"] += low <= (people * true)[s.there].sum() / people[s.there].sum() <= high
        none, _ = drawn(rng, kind, base, 0.0, share)
        test, exact = association(none)
        false += (exact or test).p_value <= 0.05
    slack = 3 * np.sqrt(0.95 * 0.05 / replications)
    assert all(count / replications >= 0.93 - slack + 0.01 for count in held.values()), held
    assert false / replications <= 0.05 + slack


@pytest.mark.parametrize("replications", SIMULATED)
@pytest.mark.parametrize("turned", [False, True])
def test_the_mix_of_a_group_where_the_reference_is_rare(replications, turned):
    """Nearly all that is known of one rate are five people, whatever hundreds of others say elsewhere."""
    rng, held = np.random.default_rng(5), 0
    own, other, p = (np.array(x, float) for x in ([1, 2, 3, 50], [500, 400, 300, 5], [0.1, 0.3, 0.5, 0.7]))
    for _ in range(replications):
        counts = rng.binomial(own.astype(int), p).astype(float), own, rng.binomial(other.astype(int), p) * 1.0, other
        low, high = standardised(Strata(*counts[2:], *counts[:2]) if turned else Strata(*counts), own, 0.95).ci
        held += low <= 0 <= high
    assert held / replications >= 0.93 - 3 * np.sqrt(0.95 * 0.05 / replications)


# ---- scores ----------------------------------------------------------------------------------------------------------


def people(rng, kind, share=0.3):
    count, size = kind
    stratum = np.repeat(np.arange(count), size)
    group = (rng.random(count * size) >= share).astype(np.int64)
    score = np.clip(rng.integers(0, 40, count * size) + (20 * stratum) // count, 0, 59)
    return stratum, group, score


def layers(stratum, group, score):
    sizes = np.bincount(stratum).astype(float)
    return Layers.of(stratum, score, group, np.ones(len(group)), np.zeros(len(sizes), np.int64), sizes, (60, 1))


@pytest.mark.parametrize("kind", [FEW_LARGE, MANY_SPARSE])
def test_standardised_counts_are_people_weighted_one_by_one(kind):
    stratum, group, score = people(np.random.default_rng(1), kind)
    found = layers(stratum, group, score).standardised()[..., 0]
    both = [k for k in np.unique(stratum) if len(set(group[stratum == k])) == 2]
    everybody = sum((stratum == k).sum() for k in both)
    for g in (0, 1):
        mean, total = 0.0, 0
        for k in both:
            own = score[(stratum == k) & (group == g)]
            mean += (stratum == k).sum() / everybody * own.mean()
            total += len(own)
        assert found[:, g].sum() == pytest.approx(total)
        assert (found[:, g] * np.arange(60)).sum() / total == pytest.approx(mean)


def test_without_strata_counts_are_as_they_were():
    _, group, score = people(np.random.default_rng(1), FEW_LARGE)
    found = layers(np.zeros(len(group), np.int64), group, score).standardised()[..., 0]
    assert np.allclose(found, np.histogram2d(score, group, [np.arange(61), [-0.5, 0.5, 1.5]])[0])


@pytest.mark.parametrize("kind", [FEW_LARGE, MANY_SPARSE])
def test_resamples_and_permutations_keep_sizes_and_move_as_far_as_they_should(kind):
    stratum, group, score = people(np.random.default_rng(2), kind)
    own, rng = layers(stratum, group, score), np.random.default_rng(3)
    plain, position = own.standardised(), np.arange(60)[:, None, None]

    def gap(array):
        mean = (array * position).sum((-3, -1)) / array.sum((-3, -1))
        return mean[..., 0] - mean[..., 1]

    variance = np.mean([score[stratum == k].var(ddof=1) for k in np.unique(stratum)])
    expected = np.sqrt(variance * (1 / own.known).sum())
    for draws, centre, wider in (
        (np.concatenate(list(own.permuted(400, rng))), 0.0, 1.0),
        (np.concatenate(list(own.resampled(400, rng))), gap(own.centre), own.narrow),
    ):
        assert np.allclose(draws.sum((1, 3)), plain.sum((0, 2)))
        assert gap(draws).mean() == pytest.approx(centre, abs=4 * expected / 20)
        assert gap(draws).std() * wider == pytest.approx(expected, rel=0.15)
    assert 1 <= own.narrow < 1.16
    permuted = next(own.permuted(1, np.random.default_rng(0)))[0]
    assert np.array_equal(permuted, next(own.permuted(1, np.random.default_rng(0)))[0])
