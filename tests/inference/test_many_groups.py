"""Intervals of the most different pair, and of the mean over all pairs, of more than 25 groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import pdist

import evenhand
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.audit.many_groups import _with_intervals
from evenhand.analyses.options import Options
from evenhand.measures.measure import ScoreMeasure
from evenhand.measures.registry import MEASURES
from evenhand.tables.scores import ScoreView

X, MIDDLE = np.linspace(0, 1, 501), (np.arange(400) + 0.5) / 400


def cdfs_of(kind: str, scores: list[Any]) -> Any:
    """What the measure compares, from samples of scores or distributions, as curves of groups."""
    if kind == "delta_dp_c":
        return np.array([[s.mean()] for s in scores])
    if kind == "abcc":
        ours = [
            s.cdf(X) if hasattr(s, "cdf") else np.searchsorted(np.sort(s), X, side="right") / len(s) for s in scores
        ]
        return np.array(ours) / 500
    return np.array([stats.gaussian_kde(s)(X) for s in scores]) / 500


def smoothed(d: Any, n: int) -> Any:
    width = d.std() * n**-0.2
    return stats.norm.pdf((X[:, None] - MIDDLE) / width) @ d.pdf(MIDDLE) / width / 400 / 500


@pytest.mark.parametrize(
    ("replications", "draws"),
    [pytest.param(4, 80, id="reduced"), pytest.param(100, 200, id="full", marks=pytest.mark.full)],
)
@pytest.mark.parametrize("shift", [0.0, 1.0], ids=["parity", "gaps"])
def test_intervals_cover_the_largest_and_the_mean(shift: float, replications: int, draws: int) -> None:
    sizes = [200] * 10 + [20] * 20
    population = [stats.beta(2 + shift * g / 30, 3) for g in range(30)]
    true = {id_: pdist(cdfs_of(id_, population), "cityblock") for id_ in ("abcc", "delta_dp_c")}
    true["abpc"] = pdist(np.array([smoothed(d, n) for d, n in zip(population, sizes, strict=True)]), "cityblock")
    hits = dict.fromkeys([(id_, what) for id_ in true for what in ("largest", "mean")], 0)
    for seed in range(replications):
        rng = np.random.default_rng(seed)
        own = [d.rvs(n, random_state=rng) for d, n in zip(population, sizes, strict=True)]
        names = np.repeat([f"{g:02}" for g in range(30)], sizes)
        table = evenhand.tabulate(score=np.concatenate(own), group=names, score_range=(0, 1))
        view = ScoreView(table, table.groupings[0])
        for id_, truth in true.items():
            m, seen = MEASURES[id_], pdist(cdfs_of(id_, own), "cityblock")
            assert isinstance(m, ScoreMeasure)
            gap = LargestGap(id_, m.tolerance, ("00", "01"), float(seen.max()), mean=float(seen.mean()))
            found = _with_intervals(m, gap, view, Options(bootstrap=draws), np.random.default_rng(seed))
            assert found.ci is not None
            assert found.ci_mean is not None
            hits[id_, "largest"] += found.ci[0] - 1e-9 <= truth.max() <= found.ci[1] + 1e-9
            hits[id_, "mean"] += found.ci_mean[0] - 1e-9 <= truth.mean() <= found.ci_mean[1] + 1e-9
    for key, n in hits.items():
        assert stats.binomtest(n, replications, 0.95, alternative="less").pvalue > 1e-3, (key, n / replications)
