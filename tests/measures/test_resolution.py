"""Scores known in ranges: the exact value is never farther from what is shown than the resolution told."""

from __future__ import annotations

import numpy as np
import pytest

import evenhand
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.measure import ScoreMeasure
from evenhand.measures.registry import MEASURES, find
from evenhand.tables.ranges import Spans
from evenhand.tables.scores import ScoreCounts, ScoreView
from evenhand.tables.table import Table, bin_edges

VARIANTS = [
    f"{concept}_{weighting}_{variant}"
    for concept in ("independence", "equal_opportunity", "predictive_equality", "equalized_odds")
    for weighting in ("uniform", "standardized")
    for variant in ("w1", "w2", "w5", "l2", "linf", "ratio")
    if (concept, variant) != ("equalized_odds", "ratio")
] + [f"{plain}_{p}" for plain in ("roc", "xroc", "calibration_uniform") for p in ("l2", "l5", "linf")]
VARIANTS += ["calibration_standardized_l2"]
SCORED = [m for id_ in (*MEASURES, *VARIANTS) if isinstance(m := find(id_), ScoreMeasure)]
ROUNDING = 1e-9
DRAWN = 2e-4
"""Densities are drawn on a grid of their own."""


def exact(rng: np.random.Generator) -> Table:
    """Some hundred people of two groups, with few or many scores, perhaps of risk."""
    n = int(rng.integers(60, 500))
    group = rng.choice(["a", "b"], n, p=rng.dirichlet([4, 4]))
    label = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-rng.normal(0.7 * label - rng.uniform(0, 2) * (group == "a"), rng.uniform(0.3, 2))))
    return evenhand.tabulate(
        score=np.round(score, int(rng.integers(1, 5))), label=label, group=group, risk=bool(rng.integers(2)),
        score_range=(0, 1),
    )  # fmt: skip


def coarse(table: Table, rng: np.random.Generator, aligned: bool) -> Table:
    """The same people, some of whose scores are known in ranges: anyhow, or within the bins of calibration."""
    if aligned:
        ends = bin_edges((0.0, 1.0), int(rng.choice([50, 100])))
    else:
        ends = np.unique(np.round(rng.uniform(-0.01, 1.01, 2 * int(rng.integers(1, 15))), 3))
    low, high = ends[:-1], ends[1:]
    kept = rng.random(len(low)) < rng.uniform(0.2, 1)
    lowest, highest = table.extremes
    spans = Spans(low[kept], high[kept], lowest, highest)
    return Table.of_cells(
        attributes=table.attributes, codes=table.codes, n=table.n, score=table.score, label=table.label,
        decision=None, meaning=table.meaning, spans=spans,
    )  # fmt: skip


def pair(table: Table) -> ScoreCounts:
    return ScoreView(table, table.grouping("group"))([0, 1])


def known(m: ScoreMeasure, counts: ScoreCounts, options: ScoreOptions) -> float:
    return float(m.value(m.of(counts, options)))


@pytest.mark.parametrize("m", SCORED, ids=lambda m: m.id)
def test_the_exact_value_is_within_the_resolution(m: ScoreMeasure) -> None:
    rng = np.random.default_rng(1)
    told = 0
    for trial in range(24):
        options = ScoreOptions(
            ranks=("published", "mid")[trial % 2], calibration_bins=(5, 50)[trial // 2 % 2],
            bandwidth=("scott", "silverman", "common", 0.05)[trial % 4],
        )  # fmt: skip
        table = exact(rng)
        ranges = coarse(table, rng, aligned=m.view is not None and not m.ranked)
        true, shown = (known(m, pair(t), options) for t in (table, ranges))
        off = m.off(pair(ranges), options)
        if np.isnan(true) or np.isnan(shown) or off == np.inf:
            continue
        told += off < 1
        assert abs(true - shown) <= off + (DRAWN if m.smooth else ROUNDING), (trial, true, shown, off)
    assert told >= 3  # a bound that says nothing is no bound


@pytest.mark.parametrize("m", [m for m in SCORED if m.directed], ids=lambda m: m.id)
def test_the_signed_sum_and_both_parts_are_within_it_too(m: ScoreMeasure) -> None:
    """The largest gap over thresholds hardly grows inside a range, and the sum of all of them does."""
    rng = np.random.default_rng(2)
    for trial in range(24):
        options = ScoreOptions(ranks=("published", "mid")[trial % 2], calibration_bins=(5, 50)[trial // 2 % 2])
        table = exact(rng)
        ranges = pair(coarse(table, rng, aligned=m.view is not None and not m.ranked))
        true, shown = (m.of(counts, options) for counts in (pair(table), ranges))
        off, signed_off = m.off(ranges, options), m.signed_off(ranges, options)
        if np.isnan(true.norm(m.order)) or np.isnan(shown.norm(m.order)) or np.inf in (off, signed_off):
            continue
        assert abs(float(true.signed - shown.signed)) <= signed_off + ROUNDING, trial
        for group in (True, False):
            parts = (float(curve.favouring(group, m.order)) for curve in (true, shown))
            assert abs(np.subtract(*parts)) <= off + ROUNDING, (trial, group)
