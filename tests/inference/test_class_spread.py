"""What noise adds to aggregates over many classes is taken off, and intervals hold what is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, chi2, ncx2

import evenhand
from evenhand.analyses.classes.intervals import Task
from evenhand.analyses.classes.matrix import matrix
from evenhand.analyses.classes.spread import _joined
from evenhand.analyses.classes.uncertainty import Uncertainty, uncertainties
from evenhand.inference.inversion import Inverted, inverted
from evenhand.measures.aggregation import CLASSWISE, GROUPWISE, METRICS, Recipe, power_step
from evenhand.tables.confusion import ClassCounts

INVERTED = "test inverted by simulation"
RECIPES = {
    "mean gap": Recipe("gap", power_step(1), power_step(2)),
    "quadratic gap": Recipe("gap", power_step(2), power_step(2)),
    "variance": Recipe("gap", GROUPWISE["variance"], power_step(1)),
    "max difference": Recipe("score", GROUPWISE["max difference"], power_step(2)),
    "fairlib": Recipe("gap", GROUPWISE["fairlib"], power_step(2)),
}


QUADRATIC = {"quadratic gap": RECIPES["quadratic gap"]}


def counts_of(people: np.ndarray, right: np.ndarray) -> ClassCounts:
    """Counts from who is of a class and who is rightly predicted, axes (class, group); errors go to the next class."""
    cells = np.zeros((people.shape[1], len(people), len(people)), int)
    c = np.arange(len(people))
    cells[:, c, c], cells[:, c, (c + 1) % len(c)] = right.T, (people - right).T
    g, t, p = np.nonzero(cells)
    names = [tuple(map(str, range(k))) for k in cells.shape[:2]]
    mass = cells[g, t, p]
    return ClassCounts(names[0], names[1], g, t, p, mass, mass.astype(float))


def found(counts: ClassCounts, recipes: Any = RECIPES, metric: str = "tpr", draws: int = 299) -> dict[str, Uncertainty]:
    m = matrix(METRICS[metric], counts).comparing()
    tasks = [Task(m, recipe) for recipe in recipes.values()]
    results = uncertainties(tasks, counts, 0.95, draws, 0, np.random.default_rng(1))
    return dict(zip(recipes, results, strict=True))


@pytest.mark.parametrize("size", [3.5, 5.0, 9.0])
def test_the_length_of_a_normal_vector(size: float) -> None:
    """Of ten dimensions: its square is noncentral χ²."""
    rng, truths = np.random.default_rng(0), np.linspace(0, 15, 61)
    noise = rng.normal(size=(20_000, 10))
    samples = np.array([np.sqrt((noise[:, 0] + t) ** 2 + (noise[:, 1:] ** 2).sum(1)) for t in truths])

    def truth(level: float) -> float:
        return float(brentq(lambda t: ncx2.cdf(size**2, 10, t * t) - level, 0.05, 20))

    own = inverted(size, truths, samples, 0.95)
    assert own.high == pytest.approx(truth(0.025), abs=0.05)
    assert own.middle == pytest.approx(truth(0.5), abs=0.05)
    if size == 9.0:
        assert own.low == pytest.approx(truth(0.975), abs=0.05)
    elif size == 3.5:
        assert own.low == 0
    shorter = inverted(0.5, truths, samples, 0.95)  # than nearly all of no length
    assert (shorter.low, shorter.middle) == (0, 0)
    usual = inverted(float(np.median(samples[0])), truths, samples, 0.95)
    assert shorter.high == pytest.approx(usual.high, abs=1e-3)


def test_a_family_that_ends_too_early_has_no_upper_end() -> None:
    truths = np.linspace(0, 1, 5)
    samples = truths[:, None] + np.linspace(-0.1, 0.1, 101)
    assert np.isnan(inverted(2.0, truths, samples, 0.95).high)
    assert np.isnan(inverted(np.inf, truths, samples, 0.95).low)


def rates(classes: int, groups: int, gap: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """How many people, and their rates: groups of 50 to 5 %, classes of many sizes."""
    share = np.array([0.5, 0.3, 0.15, 0.05])[:groups] * rng.uniform(0.3, 2.0, (classes, 1))
    right = np.clip(rng.uniform(0.5, 0.9, (classes, 1)) + gap * rng.normal(size=(classes, groups)), 0.02, 0.99)
    return np.maximum(np.rint(100 * share), 2).astype(int), right


def test_quadratic_means_lose_the_variance_of_their_gaps() -> None:
    """E ĝ² = g² + v, and p(1 − p)/(n − 1) of a sample estimates the variance of p without bias."""
    rng = np.random.default_rng(3)
    away = []
    for _ in range(5):
        people, right = rates(60, 2, 0.1, rng)
        hits = rng.binomial(people, right)
        p, n = hits / people, people
        v = p * (1 - p) / (n - 1)
        gap, noise = p[:, 0] - p[:, 1], v.sum(1)
        other = n[:, ::-1] / n.sum(1, keepdims=True)  # a group is its share of the others away from everybody
        exact = np.sqrt(np.mean((other**2).mean(1) * (gap**2 - noise)))
        own = found(counts_of(people, hits), QUADRATIC)["quadratic gap"]
        away.append(own.corrected - exact)
        assert own.value > own.corrected
        assert own.ci[0] <= own.corrected <= own.ci[1]
    assert np.abs(away).max() < 0.02
    assert abs(np.mean(away)) < 0.01


@pytest.mark.parametrize(
    "replications", [pytest.param(8, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("gap", [0.0, 0.15])
def test_intervals_of_many_classes_cover_and_are_short(gap: float, replications: int) -> None:
    held = dict.fromkeys(RECIPES, 0)
    errors: dict[str, list[float]] = {name: [] for name in RECIPES}
    halves: dict[str, list[float]] = {name: [] for name in RECIPES}
    for i in range(replications):
        rng = np.random.default_rng(i)
        people, right = rates(20, 4, gap, rng)
        base = (people * right).sum(1, keepdims=True) / people.sum(1, keepdims=True)
        for name, own in found(counts_of(people, rng.binomial(people, right))).items():
            truth = float(RECIPES[name].value(right, base))
            assert own.method == INVERTED
            held[name] += own.ci[0] - 1e-9 <= truth <= own.ci[1] + 1e-9
            errors[name].append(own.corrected - truth)
            halves[name].append((own.ci[1] - own.ci[0]) / 2)
    for name in RECIPES:
        assert binom.cdf(held[name], replications, 0.93) > 1e-3, (name, held[name])
        # half the width of a normal interval is 1.96 errors; so few of them tell no more than an upper limit of theirs
        largest = np.sqrt(np.sum(np.square(errors[name])) / chi2.ppf(0.01, replications))
        assert np.mean(halves[name]) < 2.5 * largest, name


C, G = np.arange(12)[:, None], np.arange(6)


@pytest.mark.parametrize(
    "replications", [pytest.param(8, id="reduced"), pytest.param(200, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize(
    "gaps",
    [
        pytest.param(-0.15 * (G == 5) + 0 * C, id="one group"),
        pytest.param(np.where((C + G) % 2, 0.1, -0.1), id="turns"),
        pytest.param((C % 2) * np.where(G % 2, 0.15, -0.15), id="every other class"),
    ],
)
def test_intervals_cover_patterns_of_gaps_that_are_nothing_like_normal(gaps: np.ndarray, replications: int) -> None:
    """All as large, in all classes or in some: patterns drawn from normal gaps cover as little as a third of these."""
    recipes = {
        "max gap": Recipe("gap", GROUPWISE["max gap"], power_step(1)),
        "max difference": RECIPES["max difference"],
        "min ratio": Recipe("ratio", GROUPWISE["min ratio"], power_step(1)),
        "mean of means": Recipe("gap", power_step(1), power_step(1)),
    }
    held = dict.fromkeys(recipes, 0)
    people = np.full(gaps.shape, 83)
    for i in range(replications):
        rng = np.random.default_rng(i)
        right = np.clip(rng.uniform(0.5, 0.9, (12, 1)) + gaps, 0.02, 0.99)
        for name, own in found(counts_of(people, rng.binomial(people, right)), recipes).items():
            truth = float(recipes[name].value(right, right.mean(1, keepdims=True)))
            held[name] += own.ci[0] - 1e-9 <= truth <= own.ci[1] + 1e-9
    for name, n in held.items():
        assert binom.cdf(n, replications, 0.88) > 2e-3, (name, n)


def test_gaps_in_few_classes_that_do_not_reach_far_enough_leave_the_interval_to_gaps_in_all() -> None:
    everywhere, few = Inverted(0.1, 0.2, 0.3), Inverted(0.05, 0.1, np.nan)
    assert _joined([everywhere, few]) == Inverted(0.05, pytest.approx(0.15), 0.3)
    assert np.isnan(_joined([replace(everywhere, high=np.nan), few]).high)


@pytest.mark.parametrize("metric", ["fnr", "ppv", "fpr", "accuracy", "selection_rate"])
def test_other_rates_of_groups_that_are_alike(metric: str) -> None:
    rng = np.random.default_rng(0)
    classes = 12
    confusion = rng.dirichlet(np.full(classes, 0.4), classes) * 0.4 + 0.6 * np.eye(classes)
    cells = np.array([0.5, 0.3, 0.2])[:, None, None] * confusion / classes
    held = 0
    for i in range(5):
        drawn = np.random.default_rng(i).multinomial(3000, cells.ravel()).reshape(cells.shape)
        g, t, p = np.nonzero(drawn)
        names = [tuple(map(str, range(k))) for k in drawn.shape[:2]]
        counts = ClassCounts(names[0], names[1], g, t, p, drawn[g, t, p], drawn[g, t, p].astype(float))
        own = found(counts, QUADRATIC, metric)["quadratic gap"]
        assert own.method == INVERTED
        assert own.corrected < own.value
        held += own.ci[0] == 0
    assert binom.cdf(held, 5, 0.93) > 1e-3


def test_who_has_none() -> None:
    rng = np.random.default_rng(0)
    people, right = rates(6, 3, 0.1, rng)
    counts = counts_of(people, rng.binomial(people, right))
    recipes = {
        "threshold": Recipe("gap", GROUPWISE["difference threshold"], power_step(1), gamma=0.1),
        "score": Recipe("score", GROUPWISE["min score"], power_step(1)),
        "maximum": Recipe("gap", power_step(1), power_step(np.inf)),
        "geometric": Recipe("gap", power_step(0), power_step(1)),
    }
    for name, own in found(counts, recipes).items():
        assert own.corrected is None, name
        assert own.uncorrected.startswith("because "), name
        assert own.method != INVERTED
    f1 = found(counts, metric="f1")["mean gap"]
    assert (f1.corrected, f1.method == INVERTED) == (None, False)
    assert f1.uncorrected.startswith("because F1 is no share")
    one = found(counts, {"binary": Recipe("gap", power_step(2), CLASSWISE["binary"], positive=2)})["binary"]
    assert (one.method, one.uncorrected) == ("bootstrap of the norm", None)
    assert 0 <= one.corrected < one.value
    recipes = {
        name: Recipe("gap", GROUPWISE[name], CLASSWISE["binary"], positive=2) for name in ("sum of gaps", "fairlib")
    }
    disparity, fairness = found(counts, recipes).values()
    assert fairness.corrected == pytest.approx(1 - disparity.corrected)
    assert fairness.value < fairness.corrected <= 1
    assert found(counts, draws=0)["fairlib"].uncorrected == "because resamples were switched off"
    assert found(counts, draws=20)["fairlib"].method == "bootstrap of the norm"


def test_four_classes_are_too_few_for_a_pattern() -> None:
    rng = np.random.default_rng(0)
    for classes, method in ((4, "bootstrap of the norm"), (5, INVERTED)):
        people, right = rates(classes, 3, 0.1, rng)
        assert found(counts_of(people, rng.binomial(people, right)))["mean gap"].method == method


def test_rates_that_nobody_could_differ_in_have_no_family() -> None:
    people = np.full((6, 2), 5)
    own = found(counts_of(people, people))["mean gap"]
    assert (own.value, own.corrected, own.method) == (0, None, "bootstrap of the norm")
    assert own.ci[1] > 0.05


def test_sampling_weights_make_intervals_wider() -> None:
    rng = np.random.default_rng(0)
    people, right = rates(20, 3, 0.1, rng)
    plain = counts_of(people, rng.binomial(people, right))
    ones = replace(plain, squares=plain.mass)
    uneven = replace(plain, squares=plain.mass * 5)  # people worth a fifth of so many
    first, same, wider = (found(c, QUADRATIC)["quadratic gap"] for c in (plain, ones, uneven))
    assert same.ci == pytest.approx(first.ci, abs=1e-9)
    assert wider.ci[1] - wider.ci[0] > 1.3 * (first.ci[1] - first.ci[0])
    assert wider.corrected < first.corrected


def test_biographies(data_folder: Path) -> None:
    some = {"split": "valid", "group": ["0", "1", "2", "3"]}
    a = evenhand.aggregate(data_folder / "bios/epoch_9.00.csv", where=some, across_groups="fairlib")
    assert a.value == pytest.approx(0.509, abs=5e-4)
    assert a.corrected == pytest.approx(0.74, abs=0.03)
    assert a.ci[0] == pytest.approx(0.6, abs=0.05)
    assert a.ci[1] > 0.9
    document = a.to_dict()
    assert (document["corrected"], document["uncorrected"]) == (a.corrected, None)
    assert "corrected for what noise adds, 0.7" in document["interpretation"]
    assert "corrected 0.7" in repr(a)
