"""Intervals of score-level measures cover what they claim to, at parity and away from it.

Judged by a binomial test, as in test_uncertainty.py; at a reduced size unless `-m full` is given. What a density
measure estimates is the area between *smoothed* densities: the truth is smoothed as a sample of that size is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from evenhand.analyses.audit.largest_gap import largest_distance
from evenhand.analyses.audit.score_gaps import compare
from evenhand.analyses.options import Options
from evenhand.measures.registry import MEASURES, ScoreMeasure, ScoreOptions, find
from evenhand.tables.scores import ScoreCounts, ScoreView

IDS = [m.id for m in MEASURES.values() if isinstance(m, ScoreMeasure)]
VARIANTS = (
    "equal_opportunity_uniform_w2", "independence_uniform_linf", "equalized_odds_uniform_w2",
    "equalized_odds_standardized_linf", "roc_l2", "xroc_linf", "calibration_standardized_l2",
    "calibration_uniform_linf",
)  # fmt: skip
CHOSEN = [m for id_ in (*IDS, *VARIANTS) if isinstance(m := find(id_), ScoreMeasure)]
SCORES = (np.arange(200) + 0.5) / 200


def beta(a: float, b: float) -> Any:
    p = SCORES ** (a - 1) * (1 - SCORES) ** (b - 1)
    return p / p.sum()


def population(*groups: tuple[Any, Any]) -> Any:
    """P(score, label | group), axes (score, group, label), from score shares and favourable rates of each group."""
    return np.stack([np.stack([p * (1 - rate), p * rate], axis=-1) for p, rate in groups], axis=1)


SITUATIONS = {
    "parity": population((beta(2, 3), SCORES), (beta(2, 3), SCORES)),
    "small gap": population((beta(2.2, 3), SCORES), (beta(2, 3), SCORES)),
    "other spread": population((beta(6, 9), SCORES), (beta(2, 3), SCORES * 0.9 + 0.05)),
    "large gap": population((beta(4, 2.5), SCORES * 0.8), (beta(2, 3), SCORES)),
}
PEOPLE = {"300/200": (300, 200), "3000/2000": (3000, 2000), "60/25": (60, 25)}
CASES = [pytest.param(s, "300/200", 50, id=f"{s}, 300/200, reduced") for s in SITUATIONS] + [
    pytest.param(s, p, 200, id=f"{s}, {p}, full", marks=pytest.mark.full) for s in SITUATIONS for p in PEOPLE
]


def counts_of(array: Any) -> ScoreCounts:
    present = array.sum((1, 2)) > 0
    return ScoreCounts(
        array=array[present].astype(float), groups=("a", "b"), scores=SCORES[present], score_range=(0.0, 1.0)
    )


def sample(shares: Any, sizes: Any, rng: np.random.Generator) -> Any:
    drawn = [rng.multinomial(n, shares[:, g].ravel()).reshape(-1, 2) for g, n in enumerate(sizes)]
    return np.stack(drawn, axis=1)


def truths(shares: Any, sizes: Any) -> dict[str, tuple[float, float]]:
    """Value and signed sum of every measure in the population."""
    people = shares * np.array(sizes)[:, None]
    found = {}
    for m in CHOSEN:
        curve = m.of(counts_of(people if m.smooth else people * 1e7), ScoreOptions())
        found[m.id] = float(m.value(curve)), float(curve.signed)
    return found


def resampled(draws: int) -> Options:
    return Options(bootstrap=draws, seed=None)


def covered(hits: int, trials: int, level: float) -> bool:
    return stats.binomtest(hits, trials, level, alternative="less").pvalue > 1e-3


@pytest.mark.parametrize(("situation", "people", "replications"), CASES)
def test_intervals_cover(situation: str, people: str, replications: int) -> None:
    rng = np.random.default_rng(1)
    shares, sizes = SITUATIONS[situation], PEOPLE[people]
    true = truths(shares, sizes)
    hits, seen, signed = ({m.id: 0 for m in CHOSEN} for _ in range(3))
    for _ in range(replications):
        counts = counts_of(sample(shares, sizes, rng))
        for c in compare(CHOSEN, counts, resampled(150), rng.spawn(1)[0]):
            gap, (value, sign) = c.gap, true[c.gap.id]
            if gap.undefined:
                continue
            assert gap.ci is not None
            seen[gap.id] += 1
            goal = sign if gap.id in ("delta_dp_c", "auroc_difference") else value
            hits[gap.id] += gap.ci[0] - 1e-12 <= goal <= gap.ci[1] + 1e-12
            if gap.ci_signed is not None:
                signed[gap.id] += gap.ci_signed[0] - 1e-12 <= sign <= gap.ci_signed[1] + 1e-12
    few = people == "60/25"
    for m in CHOSEN:
        assert seen[m.id] > 0.9 * replications
        assert covered(hits[m.id], seen[m.id], 0.92 if few else 0.94), (m.id, hits[m.id] / seen[m.id])
        assert signed[m.id] == 0 or covered(signed[m.id], seen[m.id], 0.89 if few else 0.92), (m.id, "signed")
    if situation == "parity" and replications > 100 and not few:  # nor are they needlessly wide where it matters
        for id_ in ("abcc", "equal_opportunity_standardized", "roc"):
            assert hits[id_] / seen[id_] < 0.99, id_


@pytest.mark.parametrize(
    "replications", [pytest.param(40, id="reduced"), pytest.param(200, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("shapes", [[2, 2, 2, 2], [2, 2.3, 2.6, 3]], ids=["parity", "gaps"])
def test_intervals_of_the_largest_and_the_mean_pair_cover(shapes: list[float], replications: int) -> None:
    rng = np.random.default_rng(2)
    measures = [m for m in CHOSEN if m.id in ("abcc", "equal_opportunity_standardized")]
    sizes = [200, 150, 100, 80]
    shares = population(*((beta(a, 3), SCORES) for a in shapes))
    pairs = [(i, k) for i in range(4) for k in range(i)]
    hits = {(m.id, what): 0 for m in measures for what in ("largest", "mean")}
    true = {}
    for m in measures:
        people = shares * np.array(sizes)[:, None] * 1e7
        values = [float(m.value(m.of(counts_of(people[:, list(p)]), ScoreOptions()))) for p in pairs]
        true[m.id] = max(values), float(np.mean(values))
    for _ in range(replications):
        array = sample(shares, sizes, rng)
        compared = [compare(measures, counts_of(array[:, list(p)]), resampled(150), rng.spawn(1)[0]) for p in pairs]
        for i, m in enumerate(measures):
            found = largest_distance(m, [c[i].gap for c in compared], [c[i].distance for c in compared], 0.95)
            assert found.ci is not None
            assert found.ci_mean is not None
            hits[m.id, "largest"] += found.ci[0] <= true[m.id][0] + 1e-12 and true[m.id][0] <= found.ci[1]
            hits[m.id, "mean"] += found.ci_mean[0] <= true[m.id][1] + 1e-12 and true[m.id][1] <= found.ci_mean[1]
    for key, n in hits.items():
        assert covered(n, replications, 0.94), (key, n / replications)


def test_the_mean_impact_ratio_covers_at_parity() -> None:
    """Without a least number of selected people it covered 84 %."""
    rng = np.random.default_rng(3)
    m = find("independence_uniform_ratio")
    assert isinstance(m, ScoreMeasure)
    hits = 0
    for _ in range(150):
        counts = counts_of(sample(SITUATIONS["parity"], (300, 200), rng))
        gap = compare([m], counts, resampled(150), rng.spawn(1)[0])[0].gap
        assert gap.ci is not None
        hits += gap.ci[1] == 1
    assert covered(hits, 150, 0.94), hits


@pytest.mark.parametrize(
    "replications", [pytest.param(25, id="reduced"), pytest.param(150, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("sizes", [(300, 200), (60, 1000), (500, 5000)], ids=str)
@pytest.mark.parametrize("weights", ["none", "equal", "with the score"])
def test_intervals_cover_with_uneven_groups_and_weights(
    sizes: tuple[int, int], weights: str, replications: int
) -> None:
    """Bins of one or two people, whose rates are 0 or 1, once made calibration intervals cover 1 to 60 %."""
    rng = np.random.default_rng(5)
    ids = ["calibration_uniform", "calibration_standardized", "equal_opportunity_standardized", "roc", "abcc"]
    hits = dict.fromkeys(ids, 0)
    for _ in range(replications):
        n = sum(sizes)
        s = rng.beta(2, 3, n)
        y = (rng.random(n) < 0.2 + 0.6 * s).astype(int)
        weight = {"none": None, "equal": np.full(n, 2.5), "with the score": 0.3 + 2 * s + rng.random(n)}[weights]
        words = {} if weight is None else {"weight": weight, "weight_kind": "sampling"}
        a = evenhand.audit(
            score=s, label=y, group=np.repeat([1, 0], sizes), measures=ids, bootstrap=150, permutations=150, **words
        )
        for id_ in ids:
            ci = a.measure(id_).ci
            assert ci is not None
            hits[id_] += ci[0] == 0
    for id_, n in hits.items():
        assert covered(n, replications, 0.92), (id_, n / replications)


def test_intervals_of_a_coarse_table_are_those_of_the_exact_one() -> None:
    rng = np.random.default_rng(4)
    g = rng.integers(0, 2, 3000)
    s, y = rng.beta(2 + g, 3), rng.integers(0, 2, 3000)
    table = evenhand.tabulate(score=s, group=g, label=y)
    pair = ScoreView(table, table.groupings[0])([1, 0])
    fine, coarse = (compare(CHOSEN, pair, resampled(300), np.random.default_rng(0), most) for most in (5000, 256))
    for a, b in zip(fine, coarse, strict=True):
        assert a.gap.value == b.gap.value
        assert a.gap.ci is not None
        assert b.gap.ci is not None
        width = a.gap.ci[1] - a.gap.ci[0]
        assert np.abs(np.subtract(a.gap.ci, b.gap.ci)).max() < 0.15 * width, a.gap.id


def test_a_measure_alone_has_the_interval_it_has_among_others() -> None:
    everything = evenhand.audit(evenhand.compas(), bootstrap=100, permutations=100)
    for id_ in IDS:
        alone = evenhand.audit(evenhand.compas(), bootstrap=100, permutations=100, measures=[id_])
        both = (
            replace(a.measure(id_), p_adjusted=None, p_adjusted_bh=None, exploratory=False) for a in (alone, everything)
        )
        assert next(both) == next(both)
