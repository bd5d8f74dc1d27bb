"""Scores known in ranges, and densities of groups of unequal size: what an audit and a gate may say about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.analyses.audit.gaps import ScoreGap
from evenhand.analyses.monitor.history import changed
from evenhand.measures.measure import ScoreMeasure
from evenhand.measures.registry import MEASURES, find
from evenhand.tables.ranges import Spans
from evenhand.tables.table import Table

FEW: dict[str, Any] = {"bootstrap": 99, "permutations": 0}
SCORED = [m.id for m in MEASURES.values() if isinstance(m, ScoreMeasure)]
VARIANTS = [f"independence_{w}_{v}" for w in ("uniform", "standardized") for v in ("w2", "l2", "linf", "ratio")]


def people(rng: np.random.Generator, n: int = 300, shift: float = 0.5) -> Table:
    group = rng.choice(["f", "m"], n)
    label = rng.integers(0, 2, n)
    z = rng.normal(label - shift * (group == "f"))
    table = evenhand.tabulate(score=np.round(1 / (1 + np.exp(-z)), 4), label=label, group=group)
    assert isinstance(table, Table)
    return table


def ranged(table: Table, edges: list[float]) -> Table:
    """The same people, whose scores are known in ranges between these edges."""
    spans = Spans(np.array(edges[:-1]), np.array(edges[1:]), 0.0, 1.0)
    names = ("attributes", "codes", "n", "score", "label", "meaning")
    return Table.of_cells(spans=spans, **{name: getattr(table, name) for name in names})


def gap_of(table: Table, id_: str, **options: Any) -> ScoreGap:
    gap = evenhand.audit(table, measures=[id_], **FEW | options).attributes[0].measures[0]
    assert isinstance(gap, ScoreGap)
    return gap


# ---- resolution -------------------------------------------------------------------------------------------------


def test_quarters_that_were_merged_pass_no_rule_about_scores() -> None:
    rng = np.random.default_rng(0)
    quarters = [people(rng, 1500) for _ in range(4)]
    merged = quarters[0] + quarters[1] + quarters[2] + quarters[3]
    true = gap_of(merged, "abcc").value
    assert true > 0.08
    shared = [evenhand.suppressed(q, below=10) for q in quarters]
    table = evenhand.merge(shared, force=True)
    assert isinstance(table, Table)
    gap = gap_of(table, "abcc")
    assert gap.resolution > 0.05
    assert gap.ci is not None
    assert gap.ci[0] <= true <= gap.ci[1]
    assert gap.passes is None
    assert gap.conclusive is False
    assert "known in ranges: the value may be off by" in gap.interpretation
    for rule in ("abcc <= 0.05 at 95%", "abcc <= 0.05", "abcc <= 0.05 above chance"):
        for undefined in ("fail", "skip"):
            verdict = evenhand.check(table, require=rule, undefined=undefined, bootstrap=99, permutations=99)
            assert verdict.exit_code == 1
            assert verdict.findings[0].status == "undefined"
            assert "known in ranges" in verdict.findings[0].interpretation


def test_ranges_and_people_left_out_count_together() -> None:
    id_, because = "calibration_standardized", "because nobody of b is there"
    gap = ScoreGap(id_, "a", "b", 0.1, value=0.06, resolution=0.03, bounds=(0.05, 0.08), lacking=because)
    assert gap.passes is None
    assert gap.unjudged == f"{because}, and because the scores are known in ranges: the value may be off by 0.03"
    assert replace(gap, resolution=0.0).passes is True
    assert replace(gap, bounds=None).passes is True
    assert replace(gap, bounds=(0.05, 0.3), resolution=0.0).unjudged == because


@pytest.mark.parametrize(("id_", "tolerance"), [("abcc", 0.1), ("independence_uniform_ratio", 0.8)])
def test_what_may_be_anything_is_not_called_beyond(id_: str, tolerance: float) -> None:
    gap = ScoreGap(id_, "a", "b", tolerance, value=0.5, resolution=0.9)
    assert gap.possible() == (0, 1)
    assert gap.passes is None


@pytest.mark.parametrize("seed", range(4))
def test_no_gate_passes_ranges_whose_people_violate_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = people(rng, 250, float(rng.uniform(0, 1)))
    edges = sorted({0.0, 1.0, *np.round(rng.uniform(0, 1, int(rng.integers(1, 60))), 2).tolist()})
    coarse = ranged(table, edges)
    ids = SCORED + VARIANTS
    exact = {g.id: g for g in evenhand.audit(table, measures=ids, bootstrap=0, permutations=0).attributes[0].measures}
    judged = {"satisfied": 0, "violated": 0, "undefined": 0, "not shown": 0}
    for id_ in ids:
        m, true = find(id_), exact[id_].value
        if np.isnan(true) or m is None:
            continue
        for factor in (0.5, 0.9, 1.1, 3.0):
            limit = round(1 - factor * (1 - true) if m.scale == "ratio" else factor * true, 6)
            rule = f"{id_} {'>=' if m.scale == 'ratio' else '<='} {limit}"
            if not 0 < limit < 1:
                continue
            (finding,) = evenhand.check(coarse, require=rule, bootstrap=0, permutations=0).findings
            judged[finding.status] += 1
            kept = true >= limit if m.scale == "ratio" else true <= limit
            assert finding.status in ("undefined", "satisfied" if kept else "violated"), (rule, true)
    assert judged["undefined"]
    assert judged["satisfied"] or len(edges) < 20


def test_every_interval_holds_what_it_would_without_resolution() -> None:
    table = people(np.random.default_rng(2), 600)
    coarse = ranged(table, np.linspace(0, 1, 51).round(2).tolist())
    for id_ in (*SCORED, *VARIANTS):
        for interval in ("auto", "percentile"):
            gap = gap_of(coarse, id_, interval=interval)
            if gap.undefined:
                assert id_.startswith("calibration")  # no more ranges than bins
                assert "ranges too wide for it" in gap.undefined
                continue
            assert gap.resolution > 0, id_
            true = gap_of(table, id_)
            assert gap.ci is not None
            if interval == "auto":
                assert gap.ci[0] <= true.estimate <= gap.ci[1]
            for ci, value in ((gap.ci_signed, true.signed), (gap.ci_positive, true.positive)):
                assert ci is None or value is None or ci[0] <= value <= ci[1]


def test_the_largest_pair_knows_its_resolution() -> None:
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b", "c"], 600)
    score = np.round(rng.beta(2, 2 + (group == "c")), 3)
    table = evenhand.tabulate(score=score, group=group)
    assert isinstance(table, Table)
    coarse = ranged(table, np.linspace(0, 1, 11).round(1).tolist())
    audit = evenhand.audit(coarse, measures=["abcc"], bootstrap=99, permutations=99)
    exact = evenhand.audit(table, measures=["abcc"], bootstrap=99, permutations=99)
    (largest,), (true,) = audit.attributes[0].largest, exact.attributes[0].largest
    assert abs(largest.value - true.value) <= largest.resolution == pytest.approx(0.1, abs=2e-3)
    assert largest.passes is None
    assert largest.unjudged is not None
    assert largest.ci is not None
    assert largest.ci[1] >= largest.value + largest.resolution
    assert largest.ci_mean is not None
    assert largest.mean is not None
    assert largest.ci_mean[1] >= largest.mean + 0.09
    assert evenhand.check(coarse, require="abcc <= 0.12", bootstrap=0).exit_code == 1
    assert (true.resolution, true.unjudged) == (0.0, None)


def test_a_change_may_be_one_of_ranges() -> None:
    """Two periods of the same people, one of them in ranges: no change whose interval leaves 0 out."""
    table = people(np.random.default_rng(4), 3000, 0.7)
    before, now = gap_of(table, "abcc"), gap_of(ranged(table, [0.0, 0.3, 1.0]), "abcc")
    change, ci = changed(before, now)
    assert change is not None
    assert abs(change) > 0.02
    assert ci is not None
    assert ci[0] <= 0 <= ci[1]


def test_group_calibration_errors_know_the_ranges_inside_bins() -> None:
    table = people(np.random.default_rng(5), 400)
    coarse = ranged(table, np.linspace(0, 1, 11).round(1).tolist())
    exact, known = (
        evenhand.audit(t, measures=["abcc"], **FEW, threshold=0.5).attributes[0].groups for t in (table, coarse)
    )
    for one, other in zip(exact, known, strict=True):
        for rate in ("ece", "mce"):
            ci, own = other.rates[rate].ci, one.rates[rate].ci
            assert ci is not None
            assert own is not None
            assert ci[0] <= one.rates[rate].value <= ci[1]
            assert ci[1] - ci[0] > 0.04
    assert all(group.rates["ece"].ci != other.rates["ece"].ci for group, other in zip(exact, known, strict=True))


def test_thresholds_are_ends_of_ranges() -> None:
    coarse = ranged(people(np.random.default_rng(6)), [0.0, 0.25, 0.5, 0.75, 1.0])
    result = evenhand.thresholds(coarse, require="demographic_parity <= 0.5", bootstrap=99)
    assert set(result.sweep.thresholds[:-1]) <= {0.0, 0.25, 0.5, 0.75}
    with pytest.raises(evenhand.UsageError, match="cannot be cut at"):
        evenhand.thresholds(coarse, threshold=0.6)


# ---- densities of groups of unequal size ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unequal() -> dict[str, Any]:
    """100 against 10,000 people with the same shares of each score."""
    score = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], [10, 20, 40, 20, 10])
    return {"score": np.concatenate([score, np.tile(score, 100)]), "group": ["few"] * 100 + ["many"] * 10_000}


@pytest.mark.parametrize("id_", ["abpc", "mutual_information"])
def test_bandwidths_that_differ_by_chance_call_nobody_different(id_: str) -> None:
    """A few high scores of many low ones decide the bandwidth: 45 of 100 such samples were called different."""
    rng = np.random.default_rng(3)
    called = 0
    for seed in range(40):
        data = {"score": rng.beta(0.2, 6, 50), "group": np.repeat(["a", "b"], 25), "score_range": (0, 1)}
        gap = evenhand.audit(**data, measures=[id_], bootstrap=0, permutations=99, rng=seed).attributes[0].measures[0]
        assert gap.null is not None
        assert gap.passes is not False or gap.null.p_value <= 0.05
        called += gap.passes is False
    assert called <= 6


@pytest.mark.parametrize("id_", ["abpc", "mutual_information"])
def test_groups_that_are_alike_are_not_called_different(unequal: dict[str, Any], id_: str) -> None:
    options = {"measures": [id_], "bootstrap": 199, "reference": "many"}
    for permutations in (0, 199):
        gap = evenhand.audit(**unequal, **options, permutations=permutations).attributes[0].measures[0]
        assert isinstance(gap, ScoreGap)
        assert gap.value > gap.tolerance  # as published
        assert gap.ci is not None
        assert gap.ci[0] == 0
        assert gap.smoothing == pytest.approx(gap.value, rel=0.05)
        assert gap.passes is None
        assert gap.conclusive is False
        assert "groups of these sizes that are alike show up to" in gap.interpretation
        limit = gap.value / 2
        for rule in (f"{id_} <= {limit}", f"{id_} <= {limit} at 95%"):
            (f,) = evenhand.check(**unequal, require=rule, bootstrap=199, permutations=permutations).findings
            assert f.status == "not shown"
            assert "groups of these sizes" in f.interpretation
    common = evenhand.audit(**unequal, **options, permutations=199, bandwidth="common").attributes[0].measures[0]
    assert isinstance(common, ScoreGap)
    assert common.value == pytest.approx(0, abs=1e-6)
    assert common.smoothing == 0
    assert common.passes


def test_a_common_bandwidth_is_scotts_for_groups_alike_in_size_and_spread() -> None:
    score = np.random.default_rng(7).beta(2, 2, 200).round(3)
    both = {"score": np.concatenate([score, 1 - score]), "group": ["a"] * 200 + ["b"] * 200}
    values = [
        evenhand.metrics.abpc(None, both["score"], sensitive_features=both["group"], bandwidth=b, **FEW).value
        for b in ("scott", "common")
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_a_rule_that_is_met_is_not_said_to_be_unjudged() -> None:
    table = ranged(people(np.random.default_rng(0)), [0, 0.25, 0.5, 0.75, 1])
    assert gap_of(table, "abcc").unjudged
    verdict = evenhand.check(table, "abcc <= 0.9 at 95%", bootstrap=99)
    assert verdict.passed
    assert not [note for note in verdict.notes if "not judged" in note]


def test_several_measures_are_not_judged_in_one_note_that_is_a_sentence() -> None:
    audit = evenhand.audit(ranged(people(np.random.default_rng(0)), [0.3, 0.7]), bootstrap=0, permutations=0)
    said = [note.partition(" not judged")[0] for note in audit.notes if " not judged because" in note]
    assert said
    for titles in said:
        assert titles.endswith(" are" if "," in titles else " is")
