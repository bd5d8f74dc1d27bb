"""Intervals and tests of aggregates over classes hold what they promise, in simulation; at full size with `-m full`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import evenhand
from conftest import WORDS, jobs
from evenhand.analyses.classes.intervals import Task
from evenhand.analyses.classes.matrix import matrix
from evenhand.analyses.classes.uncertainty import uncertainties
from evenhand.inference import class_resample as tables
from evenhand.inference.interval import exact
from evenhand.measures.aggregation import GROUPWISE, METRICS, Recipe, power_step
from evenhand.tables.confusion import ClassCounts, Sums


def counts_of(cells: np.ndarray) -> ClassCounts:
    """Counts from an array (group, true class, predicted class)."""
    g, t, p = np.nonzero(cells)
    mass = cells[g, t, p].astype(np.float64)
    names = [tuple(map(str, range(k))) for k in cells.shape[:2]]
    return ClassCounts(names[0], names[1], g, t, p, np.rint(mass).astype(np.int64), mass)


def population(classes: int, groups: int, gap: float, seed: int = 1) -> np.ndarray:
    """Chances by group, true and predicted class: small groups, rare classes, rates that differ by about `gap`."""
    rng = np.random.default_rng(seed)
    size = np.array([0.5, 0.3, 0.15, 0.05])[:groups]
    joint = (
        rng.dirichlet(np.full(classes, 2.0)) * (size / size.sum())[:, None] * rng.uniform(0.5, 1.5, (groups, classes))
    )
    rate = np.clip(rng.uniform(0.5, 0.95, classes) + gap * rng.normal(size=(groups, classes)), 0.05, 0.99)
    errors = rng.dirichlet(np.full(classes, 0.3), classes)
    np.fill_diagonal(errors, 0)
    errors /= errors.sum(1, keepdims=True)
    cells = (1 - rate)[..., None] * errors
    cells[:, range(classes), range(classes)] = rate
    cells *= (joint / joint.sum())[..., None]
    return cells


RECIPES = {
    "mean gap": Recipe("gap", power_step(1), power_step(2)),
    "quadratic gap": Recipe("gap", power_step(2), power_step(2)),
    "max gap": Recipe("gap", GROUPWISE["max gap"], power_step(np.inf)),
    "variance": Recipe("gap", GROUPWISE["variance"], power_step(1)),
    "max difference": Recipe("score", GROUPWISE["max difference"], power_step(2)),
    "mean score": Recipe("score", power_step(1), power_step(1)),
    "quadratic score": Recipe("score", power_step(2), power_step(2)),
    "mean ratio": Recipe("ratio", power_step(1), power_step(1)),
    "min score": Recipe("score", GROUPWISE["min score"], power_step(1)),
    "harmonic score": Recipe("score", power_step(-1), power_step(-1)),
    "min ratio": Recipe("ratio", GROUPWISE["min ratio"], power_step(-np.inf)),
    "threshold": Recipe("gap", GROUPWISE["difference threshold"], power_step(1), gamma=0.1),
}
MORE = [pytest.param(100, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full)]
SIZES = [pytest.param(40, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full)]


def weighted(counts: ClassCounts, rng: np.random.Generator, sigma: float) -> ClassCounts:
    """The same people with lognormal sampling weights."""
    own = [rng.lognormal(0, sigma, int(k)) for k in counts.n]
    return replace(counts, mass=np.array([w.sum() for w in own]), squares=np.array([(w * w).sum() for w in own]))


def simulated(
    cells: np.ndarray,
    people: int,
    metric: str,
    replications: int,
    permutations: int = 0,
    recipes: Any = RECIPES,
    sigma: float = 0.0,
) -> tuple[dict[str, int], dict[str, int], dict[str, list[float]]]:
    """How often intervals hold the truth, how often there is one, and p-values.

    The truth is the aggregate of the true rates over the cells that the sample has.
    """
    rng = np.random.default_rng(7)
    rate, whole = METRICS[metric], counts_of(cells * 1e12).sums()
    rates, base = rate.values(whole), rate.values(whole.overall())
    hits, seen = dict.fromkeys(recipes, 0), dict.fromkeys(recipes, 0)
    p_values: dict[str, list[float]] = {name: [] for name in recipes}
    for i in range(replications):
        counts = counts_of(rng.multinomial(people, cells.ravel()).reshape(cells.shape))
        counts = weighted(counts, rng, sigma) if sigma else counts
        m = matrix(rate, counts)
        true = np.where(np.isnan(m.values), np.nan, rates)
        tasks = [Task(m, recipe) for recipe in recipes.values()]
        found = uncertainties(tasks, counts, 0.95, 199, permutations, np.random.default_rng(i))
        for (name, recipe), u in zip(recipes.items(), found, strict=True):
            if u.chance is not None:
                p_values[name].append(u.chance.p_value)
            if u.ci is not None:
                seen[name] += 1
                hits[name] += u.ci[0] - 1e-9 <= float(recipe.value(true, base)) <= u.ci[1] + 1e-9
    return hits, seen, p_values


@pytest.mark.parametrize("replications", SIZES)
@pytest.mark.parametrize("people", [500, 5000])
@pytest.mark.parametrize(("classes", "groups"), [(3, 3), (28, 4)])
@pytest.mark.parametrize("gap", [0.0, 0.03, 0.15])
def test_intervals_cover(classes: int, groups: int, people: int, gap: float, replications: int) -> None:
    hits, seen, _ = simulated(population(classes, groups, gap), people, "tpr", replications)
    for name in RECIPES:
        # 93 % is what the documentation promises
        assert binom.cdf(hits[name], seen[name], 0.935) > 1e-3, (name, hits[name], seen[name])


@pytest.mark.parametrize("replications", SIZES)
@pytest.mark.parametrize("metric", ["ppv", "fpr", "f1", "selection_rate", "accuracy"])
def test_intervals_of_other_rates_cover(metric: str, replications: int) -> None:
    hits, seen, _ = simulated(population(8, 3, 0.1), 2000, metric, replications)
    for name in RECIPES:
        assert binom.cdf(hits[name], seen[name], 0.93) > 1e-3, (name, hits[name], seen[name])


@pytest.mark.parametrize(
    "replications", [pytest.param(100, id="reduced"), pytest.param(1000, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("metric", ["tpr", "fpr", "f1", "accuracy"])
@pytest.mark.parametrize("classes", [3, 28])
def test_groups_that_are_alike_are_rarely_called_different(metric: str, classes: int, replications: int) -> None:
    tested = {k: RECIPES[k] for k in ("mean gap", "max gap", "max difference", "threshold")}
    _, _, p_values = simulated(population(classes, 4, 0.0), 500, metric, replications, 99, tested)
    for name, p in p_values.items():
        far = int(np.count_nonzero(np.array(p) <= 0.05))
        assert binom.sf(far - 1, len(p), 0.05) > 1e-3, (name, far, len(p))


def parity(classes: int, right: float) -> np.ndarray:
    """Chances of groups of 50, 30, 15 and 5 % that are alike in everything; classes are ever rarer."""
    share = 1 / np.arange(1, classes + 1)
    errors = np.random.default_rng(77).dirichlet(np.full(classes, 0.5), classes)
    np.fill_diagonal(errors, 0)
    cells = (1 - right) * errors / errors.sum(1, keepdims=True) + right * np.eye(classes)
    return np.array([0.5, 0.3, 0.15, 0.05])[:, None, None] * (share / share.sum())[:, None] * cells


NORMS = {
    **{k: RECIPES[k] for k in ("mean gap", "max gap", "max difference")},
    "mean of quadratic gaps": Recipe("gap", power_step(2), power_step(1)),
}
MEANS = {k: RECIPES[k] for k in ("mean score", "quadratic score", "mean ratio")}


@pytest.mark.parametrize("replications", MORE)
@pytest.mark.parametrize(("metric", "right"), [("selection_rate", 0.9), ("npv", 0.7)])
def test_a_small_group_with_many_classes_is_not_taken_for_the_whole(
    metric: str, right: float, replications: int
) -> None:
    hits, seen, _ = simulated(parity(20, right), 500, metric, replications, recipes=NORMS | MEANS)
    for name in hits:
        assert binom.cdf(hits[name], seen[name], 0.93) > 0.01, (name, hits[name], seen[name])


@pytest.mark.parametrize(
    "replications", [pytest.param(150, id="reduced"), pytest.param(1000, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("people", [300, 1000])
def test_sampling_weights_that_vary(people: int, replications: int) -> None:
    cells = parity(3, 0.7)
    hits, seen, p_values = simulated(cells, people, "selection_rate", replications, 99, NORMS, sigma=1.0)
    for name, p in p_values.items():
        far = int(np.count_nonzero(np.array(p) <= 0.05))
        assert binom.sf(far - 1, len(p), 0.05) > 0.01, (name, far, len(p))
        assert binom.cdf(hits[name], seen[name], 0.95) > 0.01, (name, hits[name], seen[name])


@pytest.mark.parametrize("replications", SIZES)
@pytest.mark.parametrize("metric", ["npv", "accuracy", "tpr"])
def test_means_of_scores_with_sampling_weights(metric: str, replications: int) -> None:
    hits, seen, _ = simulated(parity(8, 0.8), 300, metric, replications, recipes=MEANS, sigma=1.0)
    for name in hits:
        assert binom.cdf(hits[name], seen[name], 0.93) > 1e-3, (name, hits[name], seen[name])


@pytest.mark.parametrize("replications", MORE)
def test_the_largest_gap_of_f1_rests_on_its_smallest_cell(replications: int) -> None:
    hits, seen, _ = simulated(parity(3, 0.7), 300, "f1", replications, recipes=NORMS)
    for name in hits:
        assert binom.cdf(hits[name], seen[name], 0.93) > 0.01, (name, hits[name], seen[name])


@pytest.mark.parametrize("replications", MORE)
def test_f1_of_a_class_that_hardly_anybody_of_a_group_has(replications: int) -> None:
    """Nobody of the class and somebody taken for it is an F1 of 0: samples that keep sizes of classes covered 87 %."""
    groups, classes = np.array([0.5, 0.3, 0.15, 0.05]), np.array([10, 5, 3, 1, 0.5]) / 19.5
    cells = np.full((5, 5), 0.05) + np.diag(np.full(5, 0.75))
    recipes = {name: RECIPES[name] for name in ("mean gap",)} | {"mean": Recipe("gap", power_step(1), power_step(1))}
    population = groups[:, None, None] * classes[:, None] * cells
    hits, seen, _ = simulated(population, 1000, "f1", replications, recipes=recipes)
    for name in recipes:
        assert binom.cdf(hits[name], seen[name], 0.945) > 1e-2, (name, hits[name], seen[name])


def test_a_fairness_is_no_lower_than_groups_can_be_apart() -> None:
    cells = np.zeros((3, 2, 2), int)
    cells[:, 0, 0], cells[2, 0] = 1, [0, 1]
    cells[:, 1, 1] = 1
    counts = counts_of(cells)
    task = Task(matrix(METRICS["tpr"], counts), Recipe("gap", GROUPWISE["fairlib"], power_step(2)))
    found = uncertainties([task], counts, 0.95, 99, 0, np.random.default_rng(0))[0]
    assert found.ci is not None
    assert -1 <= found.ci[0] < 0  # two of three groups may be a whole rate off
    assert found.ci[1] <= 1


@pytest.mark.parametrize("by_class", [False, True])
def test_a_population_of_groups_that_are_alike_has_their_sizes(by_class: bool) -> None:
    sums, whole = COUNTS.sums(), tables.alike(COUNTS, by_class).sums()
    np.testing.assert_allclose(whole.total, sums.total)
    np.testing.assert_allclose(whole.overall().predicted, sums.overall().predicted)
    if by_class:
        np.testing.assert_allclose(whole.true, sums.true)
        rates = whole.hits / whole.true
    else:
        rates = whole.predicted / whole.total
    np.testing.assert_allclose(rates, np.broadcast_to(rates[:, :1], rates.shape))


def test_rates_of_whole_groups_are_drawn_with_one_person_more() -> None:
    sums, drawn = COUNTS.sums(), joined(tables.redrawn_people(COUNTS, 4000, np.random.default_rng(0)))
    pooled = sums.overall().predicted / sums.total.sum()
    expected = sums.predicted + pooled
    np.testing.assert_allclose(drawn.total.mean(0), sums.total + 1, rtol=0.02)
    np.testing.assert_allclose(drawn.predicted.mean(0), expected, rtol=0.05, atol=0.1)
    np.testing.assert_allclose(drawn.predicted.var(0), expected, rtol=0.15, atol=0.1)  # as Gamma variables have
    np.testing.assert_allclose(drawn.predicted.sum(1), drawn.total[:, 0], rtol=1e-9)
    assert (drawn.hits <= np.minimum(drawn.true, drawn.predicted) * (1 + 1e-12)).all()


@pytest.mark.parametrize(("metric", "axis"), [("ppv", "predicted"), ("selection_rate", "all")])
def test_alike_given_the_prediction_or_altogether(metric: str, axis: str) -> None:
    rng = np.random.default_rng(0)
    confusion = rng.dirichlet(np.full(25, 0.5)).reshape(5, 5)
    size = np.array([0.6, 0.3, 0.1])
    cells = size[:, None, None] * confusion
    if axis == "predicted":  # groups are predicted to be other classes, but right equally often
        tilt = rng.uniform(0.5, 1.5, (3, 1, 5))
        cells = cells * tilt / (cells * tilt).sum()
    _, _, p_values = simulated(cells, 500, metric, 100, 99, {"mean gap": RECIPES["mean gap"]})
    far = int(np.count_nonzero(np.array(p_values["mean gap"]) <= 0.05))
    assert binom.sf(far - 1, 100, 0.05) > 1e-3


def test_gaps_are_found() -> None:
    _, _, p_values = simulated(population(3, 3, 0.15), 5000, "tpr", 5, 99, {"mean gap": RECIPES["mean gap"]})
    assert max(p_values["mean gap"]) <= 0.02


# ---- draws -----------------------------------------------------------------------------------------------------------


def joined(blocks: Any) -> Sums:
    parts = list(blocks)
    return Sums(*(np.concatenate([np.broadcast_to(getattr(b, f), (len(b.hits), *np.shape(getattr(b, f))[-2:]))
                                  for b in parts]) for f in ("hits", "true", "predicted", "total")))  # fmt: skip


COUNTS = counts_of(np.random.default_rng(2).integers(0, 9, (3, 4, 4)) * np.array([5, 2, 1])[:, None, None])


def test_redrawn_tables_keep_to_the_observed_one() -> None:
    sums, drawn = COUNTS.sums(), joined(tables.redrawn(COUNTS, 4000, np.random.default_rng(0)))
    assert drawn.hits.mean(0) == pytest.approx(sums.hits + 0.5, abs=0.5)
    assert drawn.true.mean(0) == pytest.approx(sums.true + 1, abs=0.7)
    assert drawn.total.mean(0) == pytest.approx(sums.total + 4, abs=1)
    np.testing.assert_allclose(drawn.predicted.sum(1), drawn.total[:, 0], rtol=1e-9)
    np.testing.assert_allclose(drawn.true.sum(1), drawn.total[:, 0], rtol=1e-9)
    assert (drawn.hits <= drawn.true * (1 + 1e-12)).all()
    assert (drawn.hits <= drawn.predicted * (1 + 1e-12)).all()
    few = joined(tables.redrawn_hits(COUNTS, 4000, np.random.default_rng(1), "true"))
    own, other = (s.hits / s.true for s in (drawn, few))
    np.testing.assert_allclose(own.mean(0), other.mean(0), atol=0.01)
    np.testing.assert_allclose(own.std(0), other.std(0), rtol=0.1, atol=1e-3)


def test_smoothed_population_keeps_the_size_of_rows() -> None:
    whole = tables.smoothed(COUNTS)
    np.testing.assert_allclose(whole.sums().true, COUNTS.sums().true)
    assert (whole.mass > 0).all()
    drawn = joined(tables.resampled(whole, 4000, np.random.default_rng(0)))
    assert drawn.predicted.mean(0) == pytest.approx(whole.sums().predicted, rel=0.05, abs=0.2)
    assert drawn.predicted.var(0) == pytest.approx(whole.sums().predicted, rel=0.2, abs=0.5)


@pytest.mark.parametrize("by", ["true", "predicted"])
@pytest.mark.parametrize("scale", [1, 10**9])
def test_exchanged_tables_keep_their_margins(by: str, scale: int) -> None:
    counts = counts_of(np.random.default_rng(2).integers(0, 5, (3, 4, 4)) * scale)
    sums, drawn = counts.sums(), joined(tables.permuted(counts, 60, np.random.default_rng(0), by))
    fixed, across = ("true", "predicted") if by == "true" else ("predicted", "true")
    np.testing.assert_allclose(getattr(drawn, fixed), np.broadcast_to(getattr(sums, fixed), drawn.true.shape))
    np.testing.assert_allclose(getattr(drawn, across).sum(-1), np.broadcast_to(getattr(sums, across).sum(-1), (60, 4)))
    np.testing.assert_allclose(drawn.hits.sum(-1), np.broadcast_to(sums.hits.sum(-1), (60, 4)))
    np.testing.assert_allclose(getattr(drawn, across).sum(1), np.broadcast_to(sums.total[0], (60, 3)))
    assert (drawn.hits >= 0).all()
    hits = joined(tables.permuted_hits(counts, 2000, np.random.default_rng(1), by)).hits
    expected = sums.hits.sum(-1, keepdims=True) * getattr(sums, fixed) / getattr(sums, fixed).sum(-1, keepdims=True)
    np.testing.assert_allclose(hits.mean(0), expected, rtol=0.1, atol=0.1 * scale)
    everybody = joined(tables.permuted_everybody(counts, 50, np.random.default_rng(0))).predicted
    np.testing.assert_allclose(everybody.sum(-1), np.broadcast_to(sums.predicted.sum(-1), (50, 4)))
    np.testing.assert_allclose(everybody.sum(1), np.broadcast_to(sums.total[0], (50, 3)), rtol=1e-3)


@pytest.mark.parametrize("by", ["true", "predicted"])
def test_shuffling_people_is_splitting_cells(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for few in (0, 10**9):
        monkeypatch.setattr(tables, "FEW_PER_CELL", few)
        drawn.append(joined(tables.permuted(COUNTS, 4000, np.random.default_rng(3), by)))
    across = "predicted" if by == "true" else "true"
    for name in ("hits", across):
        split, shuffled = (getattr(d, name) for d in drawn)
        np.testing.assert_allclose(split.mean(0), shuffled.mean(0), atol=0.4)
        np.testing.assert_allclose(split.std(0), shuffled.std(0), rtol=0.1, atol=0.05)
        np.testing.assert_array_equal(split.sum(-1), shuffled.sum(-1))
    np.testing.assert_array_equal(drawn[1].total, drawn[0].total)


def test_the_p_value_is_that_of_the_exact_distribution() -> None:
    cells = np.zeros((2, 2, 2), int)
    cells[0], cells[1] = [[9, 3], [0, 1]], [[4, 8], [0, 1]]
    counts = counts_of(cells)
    task = Task(matrix(METRICS["tpr"], counts), Recipe("gap", GROUPWISE["max gap"], power_step(np.inf)))
    found = uncertainties([task], counts, 0.95, 0, 9999, np.random.default_rng(0))[0]
    k = np.arange(13)
    law = hypergeom(24, 13, 12).pmf(k)
    gaps = np.maximum(abs(k / 12 - 13 / 24), abs((13 - k) / 12 - 13 / 24))
    assert found.value == pytest.approx(9 / 12 - 13 / 24)
    assert found.chance is not None
    assert found.chance.p_value == pytest.approx(law[gaps >= found.value - 1e-12].sum(), abs=0.01)
    assert found.chance.mean == pytest.approx((law * gaps).sum(), abs=0.003)


def test_weights_that_say_nothing_change_little_and_their_unit_nothing() -> None:
    columns = jobs(500)
    plain = evenhand.aggregate(columns, **WORDS)
    ones = evenhand.aggregate({**columns, "c": np.ones(500)}, **WORDS, weight="c", weight_kind="sampling")
    other = evenhand.aggregate({**columns, "c": np.full(500, 40.0)}, **WORDS, weight="c", weight_kind="sampling")
    assert ones.ci == pytest.approx(plain.ci, abs=1e-9)
    assert other.ci == pytest.approx(ones.ci, rel=1e-6)
    uneven = np.where(np.arange(500) % 10 == 0, 20.0, 1.0)
    heavy = evenhand.aggregate({**columns, "c": uneven}, **WORDS, weight="c", weight_kind="sampling")
    assert heavy.ci[1] - heavy.value > 1.3 * (plain.ci[1] - plain.value)


def test_seeds() -> None:
    t = evenhand.tabulate(jobs(), **WORDS)
    a, b, c = (evenhand.aggregate(t, metric="f1", rng=seed, permutations=99, bootstrap=99) for seed in (1, 1, 2))
    assert a.to_json() == b.to_json()
    assert a.ci != c.ci
    generator = evenhand.aggregate(t, rng=np.random.default_rng(1), permutations=99, bootstrap=99)
    assert generator.to_dict()["options"]["seed"] is None


def test_exact_intervals_of_shares() -> None:
    lo, hi = exact(np.array([0.0, 1.0, 0.3, np.nan]), np.array([5.0, 5.0, 10.0, 0.0]), 0.95)
    assert lo[:3] == pytest.approx([0, 0.4782, 0.0667], abs=1e-4)
    assert hi[:3] == pytest.approx([0.5218, 1, 0.6525], abs=1e-4)
    assert np.isnan([lo[3], hi[3]]).all()


def test_few_resamples_know_no_interval() -> None:
    t = evenhand.tabulate(jobs(), **WORDS)
    gap = evenhand.aggregate(t, bootstrap=10, permutations=0)
    assert gap.ci == (0.0, 1.0)
    assert any("10 resamples are too few" in n for n in gap.notes)
    score = evenhand.aggregate(t, unit="score", bootstrap=10, permutations=0)
    assert score.ci is None
    assert score.result.untested is not None
    assert "no disparity" in score.result.untested
