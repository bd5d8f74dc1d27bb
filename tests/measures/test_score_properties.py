"""What must hold for every score-level measure, and the theorems of the papers, with ties and without."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.analyses.audit.gaps import ScoreGap
from evenhand.analyses.audit.score_gaps import compare
from evenhand.analyses.options import Options
from evenhand.measures import roc
from evenhand.measures.curve import norm
from evenhand.measures.registry import MEASURES, ScoreMeasure, ScoreOptions, find
from evenhand.tables.scores import ScoreCounts

VARIANTS = (
    "independence_uniform_w2", "equal_opportunity_standardized_l2", "predictive_equality_uniform_ratio",
    "equalized_odds_uniform_w2", "equalized_odds_standardized_l3", "roc_l2", "xroc_l3", "calibration_standardized_l2",
)  # fmt: skip
SCORE_MEASURES = [m for m in MEASURES.values() if isinstance(m, ScoreMeasure)]
EVERY = SCORE_MEASURES + [m for id_ in VARIANTS if isinstance(m := find(id_), ScoreMeasure)]
BIASES = [m for m in SCORE_MEASURES if m.directed]
RANKED = [m for m in SCORE_MEASURES if m.ranked]
every = settings(max_examples=100, deadline=None)


def of_counts(array: Any, scores: Any = None, **words: Any) -> ScoreCounts:
    """Counts (score, group, label) at even scores of [0, 1], or at the scores given."""
    array = np.asarray(array, np.float64)
    scores = np.linspace(0, 1, len(array)) if scores is None else np.asarray(scores, np.float64)
    return ScoreCounts(array=array, groups=("a", "b"), scores=scores, score_range=(0.0, 1.0), **words)


def of_people(parts: dict[tuple[int, int], Any]) -> ScoreCounts:
    """From the scores of people by (group, label)."""
    scores = np.unique(np.concatenate(list(parts.values())))
    array = np.zeros((len(scores), 2, 2))
    for (g, y), s in parts.items():
        np.add.at(array[:, g, y], np.searchsorted(scores, s), 1)
    return of_counts(array, scores)


tied = arrays(np.int64, st.tuples(st.integers(2, 12), st.just(2), st.just(2)), elements=st.integers(0, 5)).map(
    of_counts
)
"""Few scores, many people at each; some scores and some classes empty."""


@st.composite
def untied(draw: Any, least: int = 1, most: int = 40) -> ScoreCounts:
    """All scores distinct."""
    sizes = draw(st.tuples(*[st.integers(least, most)] * 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    shapes = rng.uniform(0.5, 5, (4, 2))
    keys = [(0, 0), (0, 1), (1, 0), (1, 1)]
    return of_people({k: rng.beta(*shape, n) for k, shape, n in zip(keys, shapes, sizes, strict=True)})


some_people = st.one_of(tied, untied())


def value(m: ScoreMeasure | str, counts: ScoreCounts, options: ScoreOptions = ScoreOptions()) -> float:  # noqa: B008
    found = find(m) if isinstance(m, str) else m
    assert isinstance(found, ScoreMeasure)
    return float(found.value(found.of(counts, options)))


def everyone(counts: ScoreCounts) -> None:
    """Every class has people."""
    assume((counts.array.sum(0) > 0).all())


def gap(m: ScoreMeasure, counts: ScoreCounts, draws: int = 0) -> ScoreGap:
    options = Options(bootstrap=draws, seed=None)
    return compare([m], counts, options, np.random.default_rng(0))[0].gap


def same(a: Any, b: Any, within: float = 1e-12) -> bool:
    return bool(np.allclose(a, b, rtol=within, atol=within, equal_nan=True))


# ---- every measure -------------------------------------------------------------------------------------------


@every
@given(st.sampled_from(EVERY), some_people)
def test_a_gap_is_a_number_with_parts_or_has_a_reason(m: ScoreMeasure, counts: ScoreCounts) -> None:
    assume((counts.sizes() > 0).all())
    found = gap(m, counts, draws=20)
    if found.undefined:
        assert found.undefined.startswith("because ")
        assert np.isnan(found.value)
        assert (found.ci, found.positive, found.signed, found.passes) == (None,) * 4
        return
    assert 0 <= found.value <= (2 if m.id == "abpc" else m.classes) + 1e-9
    if found.ci is not None:
        centre = found.signed if m.signed else found.value
        assert centre is not None
        assert found.ci[0] - 1e-9 <= centre <= found.ci[1] + 1e-9
    if m.directed:
        assert found.positive is not None
        assert found.negative is not None
        assert found.signed is not None
        size = m.inward(found.value)
        assert same((found.positive**m.order + found.negative**m.order) ** (1 / m.order), size, 1e-9)
        # Becker et al. 2024, (7), Theorem 3.4: a lower bound; the norm of two norms is less than their sum
        assert abs(found.signed) <= size * m.classes ** (1 - 1 / m.order) + 1e-12
        if size > 0:
            assert same(found.positive_share + found.negative_share, 1)  # type: ignore[operator]
        else:
            assert found.positive_share is None
    assert found.interpretation.endswith(".")


@every
@given(st.sampled_from(EVERY), some_people)
def test_swapping_group_and_reference_turns_the_sign(m: ScoreMeasure, counts: ScoreCounts) -> None:
    everyone(counts)
    forth = gap(m, counts)
    back = gap(m, replace(counts, array=counts.array[:, ::-1], groups=("b", "a")))
    assert same(forth.value, back.value, 1e-9)
    if m.directed and not forth.undefined:
        assert same((forth.positive, forth.negative), (back.negative, back.positive), 1e-9)
        assert same(forth.signed, -back.signed, 1e-9)  # type: ignore[operator]


@every
@given(st.sampled_from(EVERY), tied, st.integers(2, 4))
def test_identical_groups_are_fair(m: ScoreMeasure, counts: ScoreCounts, times: int) -> None:
    """A group and several copies of it are alike in everything but their number."""
    assume((counts.array[:, 0].sum(0) > 0).all())
    copies = 1 if m.smooth else times  # a density depends on the number of people
    alike = replace(counts, array=np.stack([counts.array[:, 0], copies * counts.array[:, 0]], axis=1))
    found = gap(m, alike)
    assert found.undefined or same(m.inward(found.value), 0)


@every
@given(st.sampled_from(EVERY), st.integers(1, 3), st.integers(0, 1000), st.sampled_from([6, 60]))
def test_leading_axes_pass_through(m: ScoreMeasure, n: int, seed: int, levels: int) -> None:
    many = np.random.default_rng(seed).integers(0, 5, (n, 2, levels, 2, 2))
    many[..., 0, :, :] += 1
    many[..., -1, :, :] += 1
    if m.id.endswith("ratio"):
        many *= 10
    options = ScoreOptions()
    stacked = m.value(m.of(of_counts_stacked(many), options))
    assert stacked.shape == (n, 2)
    for i in np.ndindex(n, 2):
        assert same(stacked[i], value(m, of_counts(many[i])), 1e-9)
    if m.grid is not None:  # on a common grid: what resampling does
        grid = m.grid(of_counts(many[0, 0]), options)
        together = m.curve(of_counts_stacked(many), options, grid)
        for i in np.ndindex(n, 2):
            assert same(together.gap[i], m.curve(of_counts(many[i]), options, grid).gap, 1e-9)


def of_counts_stacked(array: Any) -> ScoreCounts:
    return ScoreCounts(
        array=array.astype(float), groups=("a", "b"), scores=np.linspace(0, 1, array.shape[-3]), score_range=(0.0, 1.0)
    )


@every
@given(st.sampled_from(RANKED), some_people, st.sampled_from([np.exp, np.cbrt, lambda x: x**3, lambda x: 5 * x - 2]))
def test_ranked_measures_ignore_monotone_transforms(m: ScoreMeasure, counts: ScoreCounts, transform: Any) -> None:
    everyone(counts)
    scores = transform(counts.scores)
    assume(len(np.unique(scores)) == len(scores))
    moved = replace(counts, scores=scores, score_range=(float(scores[0]), float(scores[-1])))
    assert value(m, moved) == value(m, counts) or (np.isnan(value(m, moved)) and np.isnan(value(m, counts)))


@every
@given(st.sampled_from([m for m in EVERY if not m.smooth]), some_people, st.integers(2, 30))
def test_copying_everyone_changes_no_value(m: ScoreMeasure, counts: ScoreCounts, times: int) -> None:
    """Published ranks divide by n − 1 and so depend a little on n; plain mid-ranks do not."""
    everyone(counts)
    assume(not m.id.endswith("ratio"))  # ten people have to be selected: copies may be
    plain = ScoreOptions(ranks="mid")
    copied = replace(counts, array=counts.array * times)
    assert same(value(m, copied, plain), value(m, counts, plain), 1e-9)


@every
@given(st.sampled_from(EVERY), some_people)
def test_scores_without_people_change_nothing(m: ScoreMeasure, counts: ScoreCounts) -> None:
    """Resamples hold scores that nobody has."""
    everyone(counts)
    assume(m.view is None and len(counts.scores) > 1)
    between = (counts.scores[1:] + counts.scores[:-1]) / 2
    order = np.argsort(np.concatenate([counts.scores, between]))
    array = np.concatenate([counts.array, np.zeros((len(between), 2, 2))])[order]
    padded = of_counts(array, np.sort(np.concatenate([counts.scores, between])))
    assert same(value(m, padded), value(m, counts), 1e-9)


@settings(max_examples=30, deadline=None)
@given(untied(least=100, most=300), st.sampled_from([m for m in EVERY if m.view is None]))
def test_a_coarse_table_is_close(counts: ScoreCounts, m: ScoreMeasure) -> None:
    coarse = counts.coarse(200)
    assert len(coarse.scores) <= 200
    assert coarse.array.sum() == counts.array.sum()
    pooled = [float(c.pooled @ c.scores) for c in (coarse, counts)]
    assert same(*pooled, 1e-9)  # the mean of everyone is kept
    assert value(m, coarse) == pytest.approx(value(m, counts), abs=0.02)


@settings(max_examples=40, deadline=None)
@given(untied(least=60, most=200), st.sampled_from([m for m in EVERY if m.grid is not None]))
def test_a_curve_on_a_common_grid_is_close_to_the_exact_one(counts: ScoreCounts, m: ScoreMeasure) -> None:
    assert m.grid is not None
    options = ScoreOptions()
    curve = m.curve(counts, options, m.grid(counts, options))
    assert float(m.value(curve)) == pytest.approx(value(m, counts), abs=0.005)
    assert float(curve.signed) == pytest.approx(float(m.of(counts, options).signed), abs=0.005)


# ---- theorems ------------------------------------------------------------------------------------------------


@every
@given(some_people)
def test_theorem_2_1(counts: ScoreCounts) -> None:
    """ΔDP_c is at most the mean of ΔDP_b over thresholds, which is ABCC, and lies between its extremes."""
    everyone(counts)
    f = counts.cdf()
    gaps = (f[1] - f[0])[:-1]
    steps = np.diff(counts.unit)
    whole = np.append(gaps, 0.0)  # thresholds outside the scores select all or nobody
    mean = abs(float((gaps * steps).sum()))
    assert same(value("delta_dp_c", counts), mean)
    assert value("delta_dp_c", counts) <= value("abcc", counts) + 1e-12
    assert value("abcc", counts) == pytest.approx(float((np.abs(gaps) * steps).sum()))
    assert np.abs(whole).min() <= mean <= np.abs(whole).max() + 1e-12


@every
@given(untied(least=5))
def test_abpc_is_at_least_the_mean_difference(counts: ScoreCounts) -> None:
    assert value("abpc", counts) >= value("delta_dp_c", counts)
    assert value("mutual_information", counts) >= 0


@every
@given(some_people)
def test_becker_theorem_3_2(counts: ScoreCounts) -> None:
    """Uniform biases are Wasserstein distances, and at least the difference of means."""
    from scipy.stats import wasserstein_distance

    everyone(counts)
    for id_, y in (("equal_opportunity_uniform", 1), ("predictive_equality_uniform", 0)):
        a, b = counts.array[:, 0, y], counts.array[:, 1, y]
        assert same(value(id_, counts), wasserstein_distance(counts.scores, counts.scores, a, b))
        means = [np.average(counts.scores, weights=w) for w in (a, b)]
        assert value(id_, counts) >= abs(means[0] - means[1]) - 1e-12
    assert same(value("independence_uniform", counts), value("abcc", counts))


@every
@given(some_people, st.sampled_from(["published", "mid"]))
def test_becker_theorem_3_4(counts: ScoreCounts, ranks: str) -> None:
    """Standardised biases are Wasserstein distances of ranks, and at least the difference of mean ranks."""
    from scipy.stats import wasserstein_distance

    everyone(counts)
    place = counts.ranks(ranks)
    for id_, y in (("equal_opportunity_standardized", 1), ("predictive_equality_standardized", 0)):
        a, b = counts.array[:, 0, y], counts.array[:, 1, y]
        found = value(id_, counts, ScoreOptions(ranks=ranks))
        assert same(found, wasserstein_distance(place, place, a, b))
        assert found >= abs(np.average(place, weights=a) - np.average(place, weights=b)) - 1e-12


def roc_of(x: Any, y: Any, at: Any) -> Any:
    """ROC of two samples without ties, straight between its corners: the share of x above quantiles of y."""
    order = np.sort(y)[::-1]
    corners = np.concatenate([[0], np.arange(1, len(y) + 1)]) / len(y)
    heights = np.concatenate([[0.0], [(x >= s).mean() for s in order]])
    heights[-1] = 1.0
    return np.interp(at, corners, heights)


def parts_of(counts: ScoreCounts) -> dict[tuple[int, int], Any]:
    return {(g, y): np.repeat(counts.scores, counts.array[:, g, y].astype(int)) for g in (0, 1) for y in (0, 1)}


@settings(max_examples=20, deadline=None)
@given(untied(least=150, most=400))
def test_becker_theorems_4_4_and_4_8(counts: ScoreCounts) -> None:
    """A separation bias is a mixture of four areas between ROC curves; scores must be continuous."""
    part = parts_of(counts)
    n = sum(map(len, part.values()))
    at = (np.arange(4000) + 0.5) / 4000
    for id_, y in (("equal_opportunity_standardized", 1), ("predictive_equality_standardized", 0)):
        a, b = part[0, y], part[1, y]
        mixture = 0.0
        for z in part.values():  # Theorem 4.4 for each class, Theorem 4.8 for their mixture
            area = np.abs(roc_of(a, z, at) - roc_of(b, z, at)).mean()
            quantiles = np.sort(z)
            direct = np.mean([abs((a <= q).mean() - (b <= q).mean()) for q in quantiles])
            assert area == pytest.approx(direct, abs=0.02)
            mixture += len(z) / n * area
        assert value(id_, counts) == pytest.approx(mixture, abs=0.01)


@every
@given(untied(least=2))
def test_becker_corollary_4_9(counts: ScoreCounts) -> None:
    """Upper bounds of the separation biases, for continuous scores: 1/n apart in a sample."""
    share = counts.array.sum((0, 1)) / counts.array.sum()
    slack = 1 / counts.array.sum((0, 1)).min() + 1 / counts.array.sum()
    eo, pe = (value(f"{c}_standardized", counts) for c in ("equal_opportunity", "predictive_equality"))
    assert eo <= 1 - share[1] / 2 + slack
    assert pe <= 1 - share[0] / 2 + slack
    assert eo + pe <= 1.5 + 2 * slack


@every
@given(tied, st.tuples(*[st.integers(1, 4)] * 2))
def test_becker_corollary_4_11(counts: ScoreCounts, times: tuple[int, int]) -> None:
    """No separation bias, no ROC bias."""
    assume((counts.array[:, 0].sum(0) > 0).all())
    alike = replace(counts, array=np.stack([counts.array[:, 0], counts.array[:, 0] * np.array(times)], axis=1))
    for id_ in ("equal_opportunity_standardized", "predictive_equality_standardized", "roc", "xroc"):
        assert same(value(id_, alike), 0)


@every
@given(some_people, st.sampled_from([0, 1]), st.integers(1, 4))
def test_becker_theorem_4_12(counts: ScoreCounts, label: int, times: int) -> None:
    """If one separation bias is nothing, ROC and cross-ROC bias are equal."""
    everyone(counts)
    array = counts.array.copy()
    array[:, 1, label] = times * array[:, 0, label]
    one_alike = replace(counts, array=array)
    assert same(value("roc", one_alike), value("xroc", one_alike), 1e-9)


@every
@given(some_people)
def test_areas_are_lower_bounds_of_roc_biases(counts: ScoreCounts) -> None:
    everyone(counts)
    for id_, which in (("roc", roc.WITHIN), ("xroc", roc.ACROSS)):
        a, b = (float(roc.auroc(counts, *curve)) for curve in which)
        assert value(id_, counts) >= abs(a - b) - 1e-12
        found = find(id_)
        assert isinstance(found, ScoreMeasure)
        assert same(found.of(counts, ScoreOptions()).signed, a - b, 1e-9)


@every
@given(arrays(np.float64, 7, elements=st.floats(-1, 1)), arrays(np.float64, 7, elements=st.floats(0, 1)))
def test_norms_grow_with_their_order(gaps: Any, weights: Any) -> None:
    assume(weights.sum() > 0)
    weights = weights / weights.sum()
    sizes = [float(norm(gaps, weights, p)) for p in (1, 1.5, 2, 5, np.inf)]
    assert all(a <= b + 1e-9 for a, b in pairwise(sizes))
