"""Intervals cover what they claim to, at parity and away from it; resampling is reproducible.

Simulations are judged by a binomial test: coverage may not be shown to be below the stated level minus
what docs/measures/decisions.md admits. They run at a reduced size unless `-m full` is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import people
from evenhand.analyses.audit.largest_gap import largest_gap, recentred_range, resampled_ranges, smoothed_rates
from evenhand.analyses.audit.rate_gaps import gaps, resampled_gaps
from evenhand.inference import interval
from evenhand.inference.resample import bootstrap, generator
from evenhand.inference.significance import chi_squared
from evenhand.measures.registry import MEASURES, RateMeasure
from evenhand.tables.dense import Counts

SIZES = [pytest.param(400, id="reduced"), pytest.param(4000, id="full", marks=pytest.mark.full)]

# P(decision, label) of each group, rows (rejected, selected), columns (unfavourable, favourable)
PARITY = np.array([[0.35, 0.15], [0.15, 0.35]])
SITUATIONS = {
    "parity": ([PARITY, PARITY], [300, 200]),
    "tiny gap": ([PARITY, [[0.36, 0.16], [0.14, 0.34]]], [300, 200]),
    "moderate gap": ([PARITY, [[0.45, 0.2], [0.1, 0.25]]], [300, 200]),
    "large sample": ([PARITY, [[0.36, 0.16], [0.14, 0.34]]], [3000, 2000]),
    "small group, rare label": ([PARITY, [[0.7, 0.06], [0.15, 0.09]]], [400, 60]),
}


def draw(situation: str, rng: np.random.Generator) -> Counts:
    p, n = SITUATIONS[situation]
    groups = [rng.multinomial(size, np.ravel(q)).reshape(2, 2) for q, size in zip(p, n, strict=True)]
    return Counts(np.stack(groups, axis=1), tuple(f"g{i}" for i in range(len(n))))


def truth(situation: str) -> Counts:
    p, _ = SITUATIONS[situation]
    return Counts(np.stack([np.asarray(q) * 1e9 for q in p], axis=1), tuple(f"g{i}" for i in range(len(p))))


def covered(hits: int, trials: int, level: float) -> bool:
    """Whether so many hits are compatible with a coverage of at least `level`."""
    return stats.binomtest(hits, trials, level, alternative="less").pvalue > 1e-3


@pytest.mark.parametrize("replications", SIZES)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_intervals_of_gaps_cover(situation: str, replications: int) -> None:
    rng = np.random.default_rng(1)
    decisions = [m for m in MEASURES.values() if isinstance(m, RateMeasure) and m.levels == "decision"]
    true = {m.id: gaps(m, truth(situation), 0, 0.95, None)[0] for m in decisions}
    hits = {m.id: 0 for m in decisions}
    seen = dict(hits)
    for _ in range(replications):
        counts = draw(situation, rng)
        for m in decisions:
            gap = gaps(m, counts, 0, 0.95, None)[0]
            if gap.ci is None:
                continue
            goal = true[m.id].value if gap.signed is None else true[m.id].signed
            seen[m.id] += 1
            hits[m.id] += gap.ci[0] <= goal <= gap.ci[1]  # type: ignore[operator]
    for id_, trials in seen.items():
        assert trials > 0.9 * replications
        assert covered(hits[id_], trials, 0.94), (id_, hits[id_] / trials)
        assert hits[id_] / trials < 0.999 or id_ == "equalized_odds", (id_, hits[id_] / trials)


@pytest.mark.parametrize(
    "replications", [pytest.param(200, id="reduced"), pytest.param(2000, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize(
    "rates", [[0.5] * 4, [0.5, 0.5, 0.45, 0.4], [0.1, 0.3, 0.5, 0.6]], ids=["parity", "small", "large"]
)
@pytest.mark.parametrize("sizes", [[200, 200, 150, 100], [500, 300, 30, 12]], ids=["even", "uneven"])
def test_intervals_of_the_largest_gap_cover(rates: list[float], sizes: list[int], replications: int) -> None:
    rng = np.random.default_rng(2)
    chosen = [MEASURES["demographic_parity"], MEASURES["disparate_impact"]]
    hits = dict.fromkeys((m.id for m in chosen), 0)
    truths = {"demographic_parity": max(rates) - min(rates), "disparate_impact": min(rates) / max(rates)}
    for _ in range(replications):
        selected = rng.binomial(sizes, rates)
        array = np.stack([np.array(sizes) - selected, selected])[:, :, None]
        counts = Counts(array, ("a", "b", "c", "d"))
        ranges = resampled_ranges(chosen, counts, 200, rng)
        for m in chosen:
            found = largest_gap(m, counts, 0.95, ranges[m.id])
            if found.undefined:  # nobody at all was selected
                continue
            assert found.ci is not None
            hits[m.id] += found.ci[0] <= truths[m.id] <= found.ci[1]
    for id_, n in hits.items():
        assert covered(n, replications, 0.93), (id_, n / replications)


@pytest.mark.parametrize(
    "replications", [pytest.param(300, id="reduced"), pytest.param(3000, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize(
    ("negatives", "rates"),
    [(0.3, [0.3] * 4), (0.3, [0.1] * 4), (0.2, [0.9] * 4), (0.5, [0.97] * 4), (0.4, [0.1, 0.1, 0.15, 0.4])],
    ids=["common", "rare", "few", "saturated", "tiny group apart"],
)
def test_the_largest_gap_covers_with_a_group_of_fifteen(
    negatives: float, rates: list[float], replications: int
) -> None:
    """A false positive rate then rests on three to eight people; resamples of them covered 90 to 94 %."""
    rng = np.random.default_rng(2)
    m = MEASURES["predictive_equality"]
    sizes = np.array([500, 300, 100, 15])
    hits = means = 0
    for _ in range(replications):
        people = rng.binomial(sizes, negatives)
        selected = rng.binomial(people, rates)
        array = np.zeros((2, 4, 2), np.int64)
        array[..., 0] = people - selected, selected
        array[0, :, 1] = sizes - people
        counts = Counts(array, tuple("abcd"))
        found = largest_gap(m, counts, 0.95, resampled_ranges([m], counts, 100, rng)[m.id])
        assert found.ci is not None
        assert found.ci_mean is not None
        true = np.where(people > 0, rates, np.nan)
        apart = np.abs(true[:, None] - true)[np.triu_indices(4, 1)]
        hits += found.ci[0] <= np.nanmax(apart) <= found.ci[1]
        means += found.ci_mean[0] <= np.nanmean(apart) <= found.ci_mean[1]
    assert covered(hits, replications, 0.955), hits / replications
    assert covered(means, replications, 0.94), means / replications


@pytest.mark.parametrize(
    ("rates", "least"),
    [(([0.7, 0.3], [0.7, 0.3]), 0.65), (([0.8, 0.3], [0.7, 0.3]), 0.0), (([0.8, 0.4], [0.7, 0.3]), 0.0)],
    ids=["parity", "one on the limit", "both on the limit"],
)
def test_the_larger_of_two_gaps_is_shown_to_be_small_where_both_are(
    rates: tuple[list[float], list[float]], least: float
) -> None:
    """Showing that both are within 0.1 takes no more than showing it of each: with joint limits 56 % at parity."""
    rng = np.random.default_rng(4)
    m, sizes = MEASURES["equalized_odds"], (800, 1200)
    shown = covers = 0
    true = max(abs(a - b) for a, b in zip(*rates, strict=True))
    for _ in range(600):
        groups = []
        for (tpr, fpr), n in zip(rates, sizes, strict=True):
            positives = rng.binomial(n, 0.5)
            tp, fp = rng.binomial(positives, tpr), rng.binomial(n - positives, fpr)
            groups.append([[n - positives - fp, positives - tp], [fp, tp]])
        ci = gaps(m, Counts(np.stack(groups, axis=1), ("a", "b")), 1, 0.95, None)[0].ci
        assert ci is not None
        shown += ci[1] <= 0.1
        covers += ci[0] <= true <= ci[1]
    assert covered(covers, 600, 0.95)
    if least:
        assert shown / 600 > least
    else:
        assert stats.binomtest(shown, 600, 0.025, alternative="greater").pvalue > 1e-3


def test_the_largest_gap_of_equal_groups_may_be_nothing() -> None:
    """A percentile interval of max − min never contains 0: ours does, about as often as it claims."""
    rng = np.random.default_rng(3)
    m = MEASURES["demographic_parity"]
    contains = 0
    for _ in range(400):
        selected = rng.binomial(100, [0.4] * 5)
        counts = Counts(np.stack([100 - selected, selected])[:, :, None], tuple("abcde"))
        found = largest_gap(m, counts, 0.95, resampled_ranges([m], counts, 200, rng)[m.id])
        assert found.ci is not None
        contains += found.ci[0] == 0
    assert stats.binomtest(contains, 400, 0.945).pvalue > 1e-3  # neither too seldom nor always


def test_a_group_of_one_is_not_certain() -> None:
    array = np.array([[100, 0, 50], [100, 1, 50]])[:, :, None]
    counts = Counts(array, ("a", "one", "c"))
    m = MEASURES["demographic_parity"]
    found = largest_gap(m, counts, 0.95, resampled_ranges([m], counts, 500, np.random.default_rng(0))[m.id])
    assert found.value == 0.5
    assert found.ci is not None
    assert found.ci[0] < 0.1


def test_a_ratio_to_hardly_anything_has_a_wide_interval() -> None:
    """FNR/FPR of a group with a single false positive: its FPR may be next to nothing."""
    array = np.array([[[40, 20], [40, 20], [9, 5]], [[20, 40], [25, 45], [1, 5]]])
    counts = Counts(array, ("a", "b", "small"))
    m = MEASURES["treatment_equality"]
    found = largest_gap(m, counts, 0.95, resampled_ranges([m], counts, 500, np.random.default_rng(0))[m.id])
    assert found.ci is not None
    assert found.ci[0] == 0
    assert 30 * found.value < found.ci[1] < np.inf
    a = evenhand.audit(
        prediction=[0, 1] * 8, label=[0, 0, 1, 1] * 4, group=list("aaaabbbbccccdddd"), bootstrap=100, permutations=100
    )
    largest = {g["id"]: g for g in a.to_dict()["attributes"][0]["largest"]}
    assert largest["treatment_equality"]["ci"][0] == 0
    assert largest["treatment_equality"]["ci"][1] > 20


@pytest.mark.parametrize(
    "replications", [pytest.param(400, id="reduced"), pytest.param(3000, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize(("share", "heavy"), [(0.05, 4.5), (0.95, 0.25), (0.1, 3.5), (0.5, 2.5)])
def test_intervals_cover_with_weights_that_go_with_the_outcome(share: float, heavy: float, replications: int) -> None:
    rng = np.random.default_rng(5)
    m, n = MEASURES["demographic_parity"], 400
    hits = 0
    for _ in range(replications):
        selected = rng.binomial(n, [share, share])
        ones = np.stack([n - selected, selected])[:, :, None]
        w = np.array([1.0, heavy])[:, None, None]
        gap = gaps(m, Counts(ones * w, ("a", "b"), ones * w * w), 0, 0.95, None)[0]
        assert gap.ci is not None
        hits += gap.ci[0] <= 0 <= gap.ci[1]
    assert covered(hits, replications, 0.93), hits / replications
    assert hits / replications < 0.99


@pytest.mark.parametrize("p_high", [0.2, 0.5])
def test_calibration_error_of_an_overconfident_score_is_covered(p_high: float) -> None:
    """Two scores far from their rates: the share of people with each is uncertain too."""
    rng = np.random.default_rng(6)
    n, hits, replications = 500, 0, 150
    rate = np.array([0.002, 0.05])
    truth = (1 - p_high) * abs(0.05 - rate[0]) + p_high * abs(0.9 - rate[1])
    for _ in range(replications):
        high = rng.random(2 * n) < p_high
        y = rng.random(2 * n) < rate[high.astype(int)]
        a = evenhand.audit(
            score=np.where(high, 0.9, 0.05),
            label=y,
            group=["a", "b"] * n,
            bootstrap=200,
            permutations=200,
            measures=["calibration_gap"],
        )
        ci = a.attributes[0].groups[0].rates["ece"].ci
        assert ci is not None
        hits += ci[0] <= truth <= ci[1]
    assert covered(hits, replications, 0.93), hits / replications


def test_intervals_do_not_depend_on_the_unit_of_the_weights() -> None:
    columns = people(900, groups=3)
    words: dict[str, Any] = {
        "score": "s",
        "label": "y",
        "group": "g",
        "weight": "w",
        "bootstrap": 200,
        "permutations": 200,
    }
    plain = evenhand.audit(columns, **words).to_dict()["attributes"][0]
    scaled = evenhand.audit({**columns, "w": columns["w"] * 1e-3}, **words).to_dict()["attributes"][0]
    for a, b in zip(plain["largest"] + plain["measures"], scaled["largest"] + scaled["measures"], strict=True):
        assert a["value"] == pytest.approx(b["value"])
        assert a["ci"] == pytest.approx(b["ci"])
    for a, b in zip(plain["groups"], scaled["groups"], strict=True):
        assert a["rates"]["ece"]["ci"] == pytest.approx(b["rates"]["ece"]["ci"])


# ---- resampling ---------------------------------------------------------------------------------------------------


def test_bootstrap_has_the_moments_of_drawing_rows() -> None:
    counts = draw("moderate gap", np.random.default_rng(0))
    rows = int(counts.array.sum())
    p = counts.array / rows
    drawn = np.concatenate([b.array for b in bootstrap(counts, 4000, np.random.default_rng(1))])
    assert drawn.shape == (4000, *counts.array.shape)
    assert (drawn.sum((1, 2, 3)) == rows).all()
    np.testing.assert_allclose(drawn.mean(0), counts.array, atol=5 * np.sqrt(rows * p * (1 - p) / 4000).max())
    np.testing.assert_allclose(drawn.var(0), rows * p * (1 - p), rtol=0.15)


def test_bootstrap_of_weights_has_the_moments_of_weighing_rows() -> None:
    rng = np.random.default_rng(0)
    w = rng.lognormal(0, 1, (2, 2, 2, 200))
    counts = Counts(w.sum(-1), ("a", "b"), (w * w).sum(-1))
    drawn = np.concatenate([b.array for b in bootstrap(counts, 4000, np.random.default_rng(1))])
    np.testing.assert_allclose(drawn.mean(0), counts.array, rtol=0.02)
    np.testing.assert_allclose(drawn.var(0), counts.squares, rtol=0.15)


def test_resamples_do_not_depend_on_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = draw("moderate gap", np.random.default_rng(0))
    weighted = Counts(counts.array * 1.5, counts.groups, counts.array * 2.5)
    for c in (counts, weighted):
        whole = np.concatenate([b.array for b in bootstrap(c, 50, np.random.default_rng(1))])
        monkeypatch.setattr("evenhand.inference.resample.CELLS_AT_ONCE", 24)
        pieces = np.concatenate([b.array for b in bootstrap(c, 50, np.random.default_rng(1))])
        monkeypatch.undo()
        assert (whole == pieces).all()


def test_bootstrap_intervals_agree_with_closed_forms_on_large_samples() -> None:
    counts = Counts(draw("moderate gap", np.random.default_rng(0)).array * 20, ("a", "b"))
    decisions = [m for m in MEASURES.values() if isinstance(m, RateMeasure) and m.levels == "decision"]
    resampled = resampled_gaps(decisions, counts, 0, 4000, np.random.default_rng(1))
    for m in decisions:
        gap = gaps(m, counts, 0, 0.95, resampled[m.id])[0]
        assert gap.ci is not None
        assert gap.ci_bootstrap is not None
        width = gap.ci[1] - gap.ci[0]
        # a maximum is shown to be small by each of its parts alone, which the bootstrap of the norm does not know
        near = 0.25 if m.id == "equalized_odds" else 0.15
        assert gap.ci_bootstrap == pytest.approx(gap.ci, abs=near * width), m.id


def test_smoothing_invents_nobody() -> None:
    """Half a person in each cell once made a small group half as large again in its resamples."""
    counts = Counts(np.array([[[3, 0], [0, 0]], [[0, 2], [0, 0]]]), ("a", "nobody"))
    by_group = smoothed_rates("decision", counts)
    assert by_group[:, 0].ravel() == pytest.approx(np.array([3.5, 0.5, 0.5, 2.5]) * 5 / 7)
    by_bin = smoothed_rates("bins", counts)
    assert by_bin[:, 0].ravel() == pytest.approx([3.5 * 3 / 4, 0.5 * 3 / 4, 0.5 * 2 / 3, 2.5 * 2 / 3])
    assert not by_group[:, 1].any()
    assert not by_bin[:, 1].any()


def test_too_many_undefined_resamples_give_no_interval() -> None:
    counts = Counts(np.array([[[5, 1], [50, 20]], [[5, 0], [30, 40]]]), ("tiny", "big"))
    m = MEASURES["equal_opportunity"]
    resampled = resampled_gaps([m], counts, 1, 500, np.random.default_rng(0))
    assert np.isnan(resampled[m.id][:, 0]).mean() > 0.2  # the one actual positive is often not drawn
    gap = gaps(m, counts, 1, 0.95, resampled[m.id])[0]
    assert gap.ci_bootstrap is None
    assert gap.ci is not None


def test_upper_quantile_counts_the_undefined_as_far_away() -> None:
    values = np.array([0.1] * 96 + [np.nan] * 4)
    assert interval.upper_quantile(values, 0.95) == 0.1
    assert interval.upper_quantile(np.array([0.1] * 90 + [np.nan] * 10), 0.95) == np.inf
    assert interval.norm(0.2, values, 0.95) == pytest.approx((0.1, 0.3))


def test_same_seed_same_bytes() -> None:
    columns = people(300, groups=4)
    words: dict[str, Any] = {"score": "s", "label": "y", "group": ["g", "h"], "bootstrap": 100, "permutations": 100}
    first = evenhand.audit(columns, **words, rng=7).to_json()
    assert evenhand.audit(columns, **words, rng=7).to_json() == first
    assert evenhand.audit(columns, **words, rng=8).to_json() != first
    assert evenhand.audit(columns, **words).to_json() == evenhand.audit(columns, **words, rng=0).to_json()
    ours = evenhand.audit(columns, **words, rng=np.random.default_rng(7)).to_dict()
    assert ours["attributes"] == evenhand.audit(columns, **words, rng=7).to_dict()["attributes"]


@pytest.mark.parametrize("bad", [-1, 1.5, "a", True, [1]])
def test_bad_seeds_are_refused(bad: Any) -> None:
    with pytest.raises(evenhand.UsageError, match="whole number from 0"):
        generator(bad)


def test_chi_squared_equals_scipy() -> None:
    k, n = np.array([30, 50, 20]), np.array([100, 120, 90])
    expected = stats.chi2_contingency(np.stack([k, n - k]), correction=False).pvalue
    assert chi_squared(k / n, n.astype(float)).p_value == pytest.approx(expected, abs=1e-12)
    assert chi_squared(np.array([1.0, 1.0]), np.array([5.0, 5.0])).p_value == 1.0
    assert np.isnan(chi_squared(np.array([0.5, np.nan]), np.array([5.0, 0.0])).p_value)


def test_chi_squared_rejects_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    n = np.array([200, 300, 150])
    p = [chi_squared(rng.binomial(n, 0.3) / n, n.astype(float)).p_value for _ in range(2000)]
    for level in (0.01, 0.05, 0.1):
        assert stats.binomtest(int(np.sum(np.array(p) < level)), 2000, level).pvalue > 1e-3


# ---- what is said about p-values and intervals -------------------------------------------------------------------


def test_measures_that_are_one_number_count_once() -> None:
    from conftest import people
    from evenhand.inference.significance import holm
    from evenhand.measures.registry import hypothesis

    columns = people(300, 3)
    a = evenhand.audit(columns, score="s", label="y", group="g", bootstrap=0, permutations=200)
    gaps = [g for g in a.attributes[0].measures if g.null is not None]
    tests: dict[tuple[str, str], float] = {}
    for g in gaps:
        p = tests.setdefault((g.group, hypothesis(g.measure)), g.p_value or np.nan)
        assert p == g.p_value, g.id  # one number, one p-value: so nothing is lost by counting it once
    for among_all in (True, False):  # exploratory ones among all, key ones among themselves
        mine = [g for g in gaps if g.exploratory == among_all]
        about = [(g.group, hypothesis(g.measure)) for g in gaps if among_all or not g.exploratory]
        family = {test: p for test, p in tests.items() if test in about}
        once = dict(zip(family, holm(list(family.values())), strict=True))
        assert {(g.id, g.group): g.p_adjusted for g in mine} == {
            (g.id, g.group): once[g.group, hypothesis(g.measure)] for g in mine
        }
    same = ({"demographic_parity", "disparate_impact", "delta_dp_b"}, {"abcc", "independence_uniform"})
    assert len(tests) == len(gaps) - 2 * sum(len(ids) - 1 for ids in same)
    alone = evenhand.audit(columns, score="s", group="g", measures=["abcc"], bootstrap=0, permutations=200)
    variants = ["abcc", "independence_uniform", "independence_uniform_l1", "independence_uniform_w1"]
    among = evenhand.audit(columns, score="s", group="g", measures=variants, bootstrap=0, permutations=200)
    for id_ in variants:
        assert among.measure(id_).p_adjusted == alone.measure("abcc").p_adjusted, id_


def test_bounds_of_p_values_keep_their_sign_everywhere() -> None:
    """Few permutations: whatever stands behind a bound in Holm's order is one too."""
    rng = np.random.default_rng(0)
    g = np.repeat(["a", "b"], 200)
    s = np.clip(rng.normal(0.4 + 0.2 * (g == "b"), 0.2), 0, 1)
    y = (rng.random(400) < s).astype(int)
    a = evenhand.audit(score=s, label=y, group=g, bootstrap=50, permutations=99)
    gaps = [m for m in a.to_dict()["attributes"][0]["measures"] if m["p_value"] is not None]
    assert {m["p_adjusted_at_most"] for m in gaps} == {True, False}
    many = evenhand.audit(score=s, label=y, group=g, bootstrap=50, permutations=4999)
    for m in gaps:
        later = many.measure(m["id"]).p_adjusted
        assert later is not None
        if m["p_adjusted"] > 2 * later + 0.02:  # it could be smaller
            assert m["p_adjusted_at_most"] or m["p_value"] > 0.02, m["id"]
    bound = next(m for m in gaps if m["id"] == "abcc")
    written = f"≤{bound['p_adjusted']:.3f}".replace("0.", ".")
    assert bound["p_adjusted_at_most"]
    for report in (a.summary(full=True), a.to_html(), a.to_markdown()):
        assert written in report
        assert f"= {written[1:]}" not in report
    assert f"p ≤ {written[1:]} adjusted" in a.plot("null", measure="abcc").description
    assert "p ≤ .010" in a.plot("null", measure="abcc").description
    assert "p before that: " in a.summary(full=True)
    assert "| p | p adjusted |" in a.to_markdown()


def test_without_resamples_no_verdict_looks_settled() -> None:
    a = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian", bootstrap=0, permutations=0)
    gap = a.measure("abcc")
    assert (gap.ci, gap.conclusive, gap.passes) == (None, None, False)
    assert gap.interpretation.endswith("beyond the tolerance of 0.1, without interval.")
    line = next(line for line in a.summary(full=True).splitlines() if line.startswith(" area between CDFs"))
    assert line.endswith("beyond –")
    assert "is without interval" in " ".join(a.summary(full=True).split())
    assert "beyond, without interval" in a.to_html()
    rows = [line for line in a.to_markdown().splitlines() if line.startswith("| area between CDFs")]
    assert rows[-1].endswith("| beyond, without interval |")
    assert a.to_dict()["verdict"]["word"] != "no relevant gap"
    sure = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian", permutations=0)
    assert "without interval" not in str(sure) + sure.to_html() + sure.to_markdown()


def test_the_largest_pair_of_a_rate_knows_how_few_people_it_rests_on() -> None:
    """Three groups alike, with survey weights: predictive values rest on the selected, and were rejected 8.6 %."""
    rng = np.random.default_rng(1)
    ppv, weight = MEASURES["predictive_parity"], np.array([1.0, 7.0, 30.0])
    assert isinstance(ppv, RateMeasure)
    cells = np.array([[0.5, 0.19], [0.11, 0.2]])  # decision × label
    rejected = 0
    for _ in range(1000):
        drawn = [rng.multinomial(n, np.multiply.outer(cells, np.ones(3) / 3).ravel()) for n in (60, 200, 400)]
        everybody = np.stack([one.reshape(2, 2, 3) for one in drawn], axis=1)
        counts = Counts(everybody @ weight, ("a", "b", "c"), squares=everybody @ weight**2)
        moved = resampled_ranges([ppv], counts, 99, rng)[ppv.id][:, 0]
        rejected += recentred_range(ppv, counts, moved, 0.95).p_value <= 0.05
    assert rejected <= 70
