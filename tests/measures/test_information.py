"""Mutual information of a score and all groups of an attribute at once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import check_schema
from evenhand.analyses.audit.information import Information, of_all_groups
from evenhand.analyses.options import Options
from evenhand.measures.curve import ScoreOptions, norm
from evenhand.measures.density import Density
from evenhand.measures.distribution import information, information_by_group, mutual_information
from evenhand.measures.measure import ScoreMeasure
from evenhand.measures.registry import MEASURES
from evenhand.tables.ranges import Spans
from evenhand.tables.scores import ScoreView
from evenhand.tables.table import Table

ALONE: Any = {"measures": ["mutual_information"], "bootstrap": 0, "permutations": 0}
FEW: Any = {"bootstrap": 200, "permutations": 199}
SIZES = (300, 200, 100, 60)


def scored(sizes: Any = SIZES, shift: float = 0.5, seed: int = 0, levels: int | None = None) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    s = np.concatenate([rng.beta(2 + shift * g, 3, n) for g, n in enumerate(sizes)])
    s = s if levels is None else np.round(s * levels) / levels
    return s, np.repeat([f"g{g}" for g in range(len(sizes))], sizes)


def told(s: Any, g: Any, **options: Any) -> Information:
    audit = evenhand.audit(score=s, group=g, **{"score_range": (0, 1), **ALONE, **options})
    assert isinstance(audit, evenhand.Audit)
    (attribute,) = audit.attributes
    assert attribute.information is not None
    return attribute.information


def directly(s: Any, g: Any, bandwidth: Any = "scott") -> float:
    """H(score) − Σ P(g) H(score | g) by quadrature over [0, 1], from densities of scipy."""
    x = np.linspace(0, 1, 20_001)
    names, n = np.unique(g, return_counts=True)
    f = np.array([stats.gaussian_kde(s[g == one], bandwidth)(x) for one in names])
    share = (n / n.sum())[:, None]
    mixed = (share * f).sum(0)

    def entropy(h: Any) -> float:
        return float(-np.trapezoid(np.where(h > 0, h * np.log(np.maximum(h, 1e-300)), 0), x))

    return entropy(mixed) - sum(p * entropy(h) for p, h in zip(share[:, 0], f, strict=True))


@pytest.mark.parametrize("bandwidth", ["scott", "silverman"])
@pytest.mark.parametrize("levels", [None, 20])
def test_it_is_what_quadrature_gives(bandwidth: str, levels: int | None) -> None:
    s, g = scored(levels=levels)
    assert told(s, g, bandwidth=bandwidth).value == pytest.approx(directly(s, g, bandwidth), abs=1e-4)


def test_the_common_bandwidth_is_one_for_all() -> None:
    s, g = scored((200, 200, 200), 0.3)
    within = np.sqrt(np.mean([s[g == one].var(ddof=1) for one in np.unique(g)]))
    width = within * 200**-0.2
    x = np.linspace(0, 1, 4001)
    f = np.array([stats.norm.pdf((x[:, None] - s[g == one]) / width).mean(1) / width for one in np.unique(g)])
    integrand = (f * np.log(f / f.mean(0))).mean(0)
    assert told(s, g, bandwidth="common").value == pytest.approx(float(np.trapezoid(integrand, x)), abs=1e-5)


def test_of_two_groups_it_is_the_measure_of_the_pair() -> None:
    s, g = scored((150, 90))
    table = evenhand.tabulate(score=s, group=g, score_range=(0, 1))
    pair = ScoreView(table, table.groupings[0])([0, 1])
    m = MEASURES["mutual_information"]
    assert isinstance(m, ScoreMeasure)
    found = of_all_groups(m, ScoreView(table, table.groupings[0]), Options(bootstrap=0, permutations=0),
                          (np.random.default_rng(0), np.random.default_rng(1)))  # fmt: skip
    assert found.value == pytest.approx(float(m.value(m.of(pair, ScoreOptions()))), abs=1e-9)
    assert found.tolerance == pytest.approx(m.tolerance_for(pair))


def test_parts_by_group_have_the_same_norm_and_vanish_where_groups_are_alike() -> None:
    s, g = scored()
    table = evenhand.tabulate(score=s, group=g, score_range=(0, 1))
    counts = ScoreView(table, table.groupings[0])(range(4))
    whole, parts = (of(counts, ScoreOptions()) for of in (information, information_by_group))
    assert norm(parts.gap, parts.weight, 2) == pytest.approx(norm(whole.gap, whole.weight, 2))
    same = [Density(np.linspace(0, 1, 9), np.ones(9), 0.1)] * 3
    assert mutual_information(same, np.array([5.0, 3.0, 2.0])) == pytest.approx(0, abs=1e-12)


def test_names_and_copies_change_nothing() -> None:
    s, g = scored()
    other = np.array([f"z{name}" for name in g])[::-1]
    assert told(s[::-1], other).value == pytest.approx(told(s, g).value, abs=1e-12)
    fixed = {"bandwidth": 0.05}  # Scott's follows the number of people
    assert told(np.r_[s, s], np.r_[g, g], **fixed).value == pytest.approx(told(s, g, **fixed).value, abs=1e-12)


def test_groups_apart_tell_everything_and_no_more() -> None:
    rng = np.random.default_rng(0)
    s = np.concatenate([rng.normal(at, 0.005, 100) for at in (0.1, 0.5, 0.9)])
    g = np.repeat(["a", "b", "c"], 100)
    found = told(s, g, bootstrap=100, permutations=19)
    assert found.value == pytest.approx(np.log(3), abs=1e-6)
    assert found.ci is not None
    assert found.ci[1] <= np.log(3) + 1e-12
    assert found.passes is False


@pytest.mark.parametrize("odd", [[0.5], [0.5] * 20])
def test_a_group_without_a_density_leaves_it_undefined(odd: list[float]) -> None:
    s, g = scored((80, 60, 40))
    found = told(np.r_[s, odd], np.r_[g, ["odd"] * len(odd)], bootstrap=50, permutations=19)
    assert np.isnan(found.value)
    assert (found.ci, found.null, found.passes) == (None, None, None)
    assert "'odd' has no density" in (found.undefined or "")


def test_only_more_than_two_groups_have_it() -> None:
    s, g = scored((80, 60))
    audit = evenhand.audit(score=s, group=g, **ALONE)
    assert audit.to_dict()["attributes"][0]["information"] is None
    s, g = scored((80, 60, 50))
    without = evenhand.audit(score=s, group=g, **{**ALONE, "measures": ["abcc"]})
    assert without.to_dict()["attributes"][0]["information"] is None


def test_every_report_says_the_same() -> None:
    s, g = scored((120, 90, 60))
    options: Any = {"score_range": (0, 1), "bootstrap": 100, "permutations": 99, "rng": 1}
    audit = evenhand.audit(score=s, group=g, **options, measures=["mutual_information", "abcc"])
    document = audit.to_dict()
    check_schema(document, evenhand.schema("audit"))
    told_ = document["attributes"][0]["information"]
    assert told_["groups"] == 3
    assert told_["ci"][0] <= told_["value"] <= told_["ci"][1]
    assert told_["excess"] == pytest.approx(told_["value"] - told_["null_mean"])
    said = told_["interpretation"]
    assert f"{told_['value']:.3f}" in said
    for text in (" ".join(audit.summary(full=True).split()), audit.to_markdown(), audit.to_html()):
        assert said[1:-1] in text
        assert "ean over all" in text
        for m in document["attributes"][0]["largest"]:
            assert f"{m['mean']:.3f}" in text
    alone = evenhand.audit(score=s, group=g, **options, measures=["mutual_information"])
    assert json.dumps(alone.to_dict()["attributes"][0]["information"]) == json.dumps(told_)


def test_scores_known_in_ranges_are_off_by_no_more_than_the_resolution() -> None:
    s, g = scored((900, 700, 500))
    table = evenhand.tabulate(score=s, group=g, score_range=(0, 1))
    assert isinstance(table, Table)
    exact = told(s, g)
    assert exact.resolution == 0
    for pieces in (50, 400):
        edges = np.linspace(0, 1, pieces + 1)
        spans = Spans(edges[:-1], np.r_[edges[1:-1], 1.0 + 1e-9], 0.0, 1.0)
        middle = np.minimum(np.floor(table.score * pieces), pieces - 1) / pieces + 0.5 / pieces
        ranged = Table.of_cells(
            spans=spans, attributes=table.attributes, codes=table.codes, n=table.n, score=middle, meaning=table.meaning
        )
        found = evenhand.audit(ranged, **{**ALONE, "bootstrap": 100}).attributes[0].information
        assert found is not None
        assert found.ci is not None
        assert 0 < found.resolution < 0.5
        assert abs(found.value - exact.value) <= found.resolution
        assert found.ci[0] <= max(found.value - found.resolution, 0)


# ---- how sure --------------------------------------------------------------------------------------------------------

CASES = {
    "alike": ((150, 100, 50), 0.0, {}),
    "alike, unequal sizes": ((600, 100, 30, 20), 0.0, {}),
    "alike, few scores": ((150, 100, 50), 0.0, {"levels": 10}),
    "alike, weights": ((150, 100, 50), 0.0, {"weights": True}),
    "apart": ((150, 100, 50), 0.3, {}),
}


def smoothed_truth(sizes: tuple[int, ...], shift: float) -> float:
    """What is estimated: information of the densities, smoothed as samples of these sizes are."""
    middle, x = (np.arange(1000) + 0.5) / 1000, np.linspace(0, 1, 1001)
    f = []
    for g, n in enumerate(sizes):
        d = stats.beta(2 + shift * g, 3)
        width = d.std() * n**-0.2
        f.append(stats.norm.pdf((x[:, None] - middle) / width) @ d.pdf(middle) / width / 1000)
    return mutual_information([Density(x, y, 0.1) for y in f], np.array(sizes, float))


@pytest.mark.parametrize(
    "replications", [pytest.param(10, id="reduced"), pytest.param(200, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_and_the_test_keeps_its_level(case: str, replications: int) -> None:
    sizes, shift, how = CASES[case]
    true, covered, rejected = smoothed_truth(sizes, shift), 0, 0
    m = MEASURES["mutual_information"]
    assert isinstance(m, ScoreMeasure)
    for seed in range(replications):
        s, g = scored(sizes, shift, seed, how.get("levels"))
        weight = {"weight": np.random.default_rng(seed).uniform(0.5, 2, len(s))} if "weights" in how else {}
        table = evenhand.tabulate(score=s, group=g, score_range=(0, 1), **weight)
        assert isinstance(table, Table)
        found = of_all_groups(m, ScoreView(table, table.groupings[0]), Options(bootstrap=100, permutations=99),
                              (np.random.default_rng(seed), np.random.default_rng(seed + 10**6)))  # fmt: skip
        assert found.ci is not None
        assert found.null is not None
        covered += found.ci[0] - 1e-12 <= true <= found.ci[1]
        rejected += found.null.p_value <= 0.05
    assert stats.binomtest(covered, replications, 0.95, alternative="less").pvalue > 1e-3
    if not shift:
        assert stats.binomtest(rejected, replications, 0.05, alternative="greater").pvalue > 1e-3


def test_a_policy_may_limit_it() -> None:
    s, g = scored((300, 200, 100))
    rule = {"measure": "mutual_information", "pairs": "together"}
    rules = [{**rule, "at_most": 0.001}, {**rule, "at_most": 0.5, "judge": "interval"},
             {**rule, "at_most": 0.3, "judge": "excess"}]  # fmt: skip
    found = evenhand.check(score=s, group=g, policy={"rule": rules}, score_range=(0, 1), **FEW)
    assert [f.status for f in found.findings] == ["violated", "satisfied", "satisfied"]
    assert found.findings[0].value == pytest.approx(told(s, g).value)
    assert found.findings[0].pair == "all groups"
    assert "all groups together" in str(found.findings[0].rule)
    assert not found.passed
    check_schema(found.to_dict(), evenhand.schema("check"))
    assert found.to_markdown()
    assert str(found)
    with pytest.raises(evenhand.UsageError, match="only mutual_information"):
        evenhand.check(score=s, group=g, policy={"rule": [{"measure": "abcc", "at_most": 0.1, "pairs": "together"}]})


def test_a_policy_about_two_groups_or_an_odd_one() -> None:
    policy = {"rule": [{"measure": "mutual_information", "at_most": 0.5, "pairs": "together"}]}
    s, g = scored((300, 200))
    found = evenhand.check(score=s, group=g, policy=policy, score_range=(0, 1), **FEW).findings
    assert [(f.status, f.group is None) for f in found] == [("satisfied", False)]
    s, g = scored((80, 60, 40))
    found = evenhand.check(
        score=np.r_[s, 0.5], group=np.r_[g, ["odd"]], policy=policy, score_range=(0, 1), **FEW
    ).findings
    assert [f.status for f in found] == ["undefined"]
    assert "has no density" in (found[0].because or "")


def test_the_sentence_says_whether_its_verdict_is_settled() -> None:
    s, g = scored((120, 90, 60))
    for options, said in (
        ({}, "beyond the tolerance of 1.68e-05, without interval"),
        ({"bootstrap": 100, "tolerance": {"mutual_information": 0.1}}, "and so is the whole interval"),
        ({"bootstrap": 100, "tolerance": {"mutual_information": 0.02}}, "but the interval reaches across it"),
    ):
        found = told(s, g, **{"tolerance": {"mutual_information": 1e-5}, **options})
        assert found.interpretation("region", 0.95).endswith(f"{said}.")


def test_several_groups_without_a_density_are_named() -> None:
    found = told(np.full(30, 0.5), np.repeat(["a", "b", "c"], 10))
    assert found.undefined == (
        "because groups 'a', 'b', 'c' have no density: each is one person or has (nearly) one score"
    )
