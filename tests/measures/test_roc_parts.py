"""By whose scores a separation bias is weighted (Becker et al. 2024, Theorem 4.8), against loops over people."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import roc_auc_score
from test_score_properties import (
    ScoreCounts,
    ScoreOptions,
    everyone,
    gap,
    parts_of,
    same,
    some_people,
    tied,
    untied,
    value,
)

import evenhand
from evenhand.analyses.audit.gaps import ScoreGap
from evenhand.measures import roc_parts
from evenhand.measures.registry import MEASURES, ScoreMeasure, find

some = settings(max_examples=30, deadline=None)
CONCEPTS = (("equal_opportunity", 1), ("predictive_equality", 0))


def loop(counts: ScoreCounts, label: int, ranks: str) -> list[float]:
    """Each part by a loop over people: the gap just above a person's score and just below, half each."""
    people, place = parts_of(counts), dict(zip(counts.scores.tolist(), counts.ranks(ranks).tolist(), strict=True))
    a, b = people[0, label], people[1, label]
    everybody = np.concatenate(list(people.values()))
    held = sorted(set(everybody.tolist()))
    found = []
    for kind in roc_parts.kinds(label):
        total = 0.0
        for low, high in pairwise(held):
            apart = abs((a > low).mean() - (b > low).mean())
            weights = []
            for score, up in ((low, True), (high, False)):
                n = (everybody == score).sum()
                pinned = ranks == "published" and score == (held[0] if up else held[-1])
                weights.append(((1 - 1 / (2 * n)) if pinned else 0.5, score))
            own = sum(w * (people[kind] == s).sum() for w, s in weights)
            all_ = sum(w * (everybody == s).sum() for w, s in weights)
            total += apart * (place[high] - place[low]) * own / all_
        found.append(float(total))
    return found


@some
@given(some_people, st.sampled_from(["published", "mid"]), st.sampled_from(CONCEPTS))
def test_parts_equal_loops_over_people_and_add_up(counts: ScoreCounts, ranks: str, concept: tuple[str, int]) -> None:
    everyone(counts)
    options = ScoreOptions(ranks=ranks)
    amounts = roc_parts.split(counts, concept[1], options).norm()
    assert same(amounts, loop(counts, concept[1], ranks), 1e-9)
    assert same(amounts.sum(), value(f"{concept[0]}_standardized", counts, options), 1e-9)


@some
@given(some_people, st.sampled_from(CONCEPTS))
def test_becker_theorem_4_8_with_ties(counts: ScoreCounts, concept: tuple[str, int]) -> None:
    """With mid-ranks each part is a share of people times an area between ROC curves; less where that crosses 0."""
    everyone(counts)
    amounts = roc_parts.split(counts, concept[1], ScoreOptions(ranks="mid")).norm()
    area, signed = roc_parts.areas(counts, concept[1])
    weight = np.array([counts.array[:, g, y].sum() for g, y in roc_parts.kinds(concept[1])]) / counts.array.sum()
    assert (amounts >= weight * area - 1e-12).all()
    gaps = np.diff(counts.cdf(concept[1]), axis=-2)[0]
    if (gaps >= -1e-12).all() or (gaps <= 1e-12).all():  # no gap changes its sign
        assert same(amounts, weight * area, 1e-9)
    assert (area >= np.abs(signed) - 1e-12).all()  # Lemma 4.7


@some
@given(some_people, st.sampled_from(CONCEPTS))
def test_areas_equal_those_of_roc_curves(counts: ScoreCounts, concept: tuple[str, int]) -> None:
    """Lemma 4.6 and Theorem 4.4: curves of both groups over each kind, drawn corner by corner."""
    everyone(counts)
    people = parts_of(counts)
    area, signed = roc_parts.areas(counts, concept[1])
    for k, kind in enumerate(roc_parts.kinds(concept[1])):
        curves = [corners(people[g, concept[1]], people[kind], counts.scores) for g in (0, 1)]
        assert area[k] == pytest.approx(between(*curves), abs=1e-9)
        aurocs = [auroc(people[g, concept[1]], people[kind]) for g in (0, 1)]
        assert signed[k] == pytest.approx(aurocs[0] - aurocs[1], abs=1e-9)


def corners(x: Any, z: Any, scores: Any) -> tuple[Any, Any]:
    """False and true positive rates of x over z, from the highest score down."""
    cuts = [np.inf, *scores[::-1].tolist()]
    return np.array([(z >= c).mean() for c in cuts]), np.array([(x >= c).mean() for c in cuts])


def between(one: tuple[Any, Any], other: tuple[Any, Any]) -> float:
    """Over every step of the common unfavourable people the gap is straight: its area on a fine grid of the step."""
    assert same(one[0], other[0])
    area = 0.0
    for k in range(len(one[0]) - 1):
        left, right = one[1][k] - other[1][k], one[1][k + 1] - other[1][k + 1]
        t = abs(left) / (abs(left) + abs(right)) if left * right < 0 else 0.0
        mean = abs(left) * t / 2 + abs(right) * (1 - t) / 2 if left * right < 0 else (abs(left) + abs(right)) / 2
        area += float(one[0][k + 1] - one[0][k]) * float(mean)
    return area


def auroc(x: Any, z: Any) -> float:
    return float(roc_auc_score(np.r_[np.ones(len(x)), np.zeros(len(z))], np.r_[x, z]))


@some
@given(some_people)
def test_sources_add_up_to_both_differences_of_auroc(counts: ScoreCounts) -> None:
    everyone(counts)
    people = parts_of(counts)
    positives, negatives = roc_parts.sources(counts)
    area = {(f, u): auroc(people[f, 1], people[u, 0]) for f in (0, 1) for u in (0, 1)}
    assert positives == pytest.approx((area[0, 0] - area[1, 0] + area[0, 1] - area[1, 1]) / 2, abs=1e-9)
    assert positives + negatives == pytest.approx(area[0, 0] - area[1, 1], abs=1e-9)
    assert positives - negatives == pytest.approx(area[0, 1] - area[1, 0], abs=1e-9)
    for id_ in ("roc", "xroc"):
        found = gap(find(id_), counts)  # type: ignore[arg-type]
        assert found.parts[0].difference == pytest.approx(sum(p.difference for p in found.parts[1:]), abs=1e-9)


@some
@given(some_people, st.sampled_from(["published", "mid"]))
def test_becker_theorem_4_10(counts: ScoreCounts, ranks: str) -> None:
    """Both separation biases together bound both ROC biases and both Ginis between the groups."""
    everyone(counts)
    options = ScoreOptions(ranks=ranks)
    eo, pe = (value(f"{concept}_standardized", counts, options) for concept, _ in CONCEPTS)
    weight = counts.array.sum(0) / counts.array.sum()
    people = parts_of(counts)
    gini = [abs(2 * auroc(people[0, y], people[1, y]) - 1) for y in (0, 1)]
    both = value("roc", counts), value("xroc", counts)
    assert eo + pe >= weight.min() / 2 * (sum(both) + sum(gini)) - 1e-12
    for one in both:  # the two bounds of its proof
        among = sum(weight[:, y].sum() / 2 * gini[y] for y in (0, 1))
        assert eo + pe >= among + 2 * weight.min() * one - 1e-12


@some
@given(st.one_of(tied, untied(least=3)), st.sampled_from(CONCEPTS))
def test_parts_of_an_audit_have_intervals_and_a_reason_if_there_are_none(
    counts: ScoreCounts, concept: tuple[str, int]
) -> None:
    m = MEASURES[f"{concept[0]}_standardized"]
    assert isinstance(m, ScoreMeasure)
    found = gap(m, counts, draws=20)
    if found.undefined:
        assert found.roc_parts == ()
        return
    assert sum(p.value for p in found.roc_parts) == pytest.approx(found.value, abs=1e-9)
    assert sum(p.weight for p in found.roc_parts) == pytest.approx(1)
    for p in found.roc_parts:
        assert p.ci is not None
        assert 0 <= p.ci[0] <= p.value <= p.ci[1] <= 1
        assert (p.share is None) == (found.value == 0)


def test_a_kind_of_people_that_is_not_there_adds_nothing() -> None:
    """Nobody of f has the favourable label: predictive equality is known all the same."""
    audit = evenhand.audit(
        score=[0.1, 0.2, 0.3, 0.4, 0.2, 0.9], label=[0, 0, 0, 1, 0, 1], group=["f"] * 3 + ["m"] * 3, reference="m",
        bootstrap=99, permutations=0,
    )  # fmt: skip
    assert isinstance(audit, evenhand.Audit)
    nobody = audit.measure("predictive_equality_standardized").roc_parts[2]  # type: ignore[union-attr]
    assert (nobody.people, nobody.label, nobody.weight, nobody.value) == ("f", "favourable", 0, 0)
    assert np.isnan(nobody.area)
    document = audit.to_dict()
    jsonschema.validate(document, evenhand.schema("audit"))
    (found,) = (m for m in document["attributes"][0]["measures"] if m["id"] == "predictive_equality_standardized")
    assert (found["roc_parts"][2]["area"], found["roc_parts"][2]["signed_area"]) == (None, None)
    assert "by whose scores" in audit.to_html()


def test_only_separation_biases_by_rank_have_them() -> None:
    audit = evenhand.audit(evenhand.compas(), reference="Caucasian", bootstrap=0, permutations=0)
    assert isinstance(audit, evenhand.Audit)
    gaps = [g for a in audit.attributes for g in a.measures if getattr(g, "roc_parts", ())]
    assert [g.id for g in gaps] == ["equal_opportunity_standardized", "predictive_equality_standardized"]
    for variant in ("equal_opportunity_standardized_l2", "equal_opportunity_standardized_ratio"):
        m = find(variant)
        assert isinstance(m, ScoreMeasure)
        assert m.split is None
    jsonschema.validate(audit.to_dict(), evenhand.schema("audit"))


def test_both_parts_of_compas_cancel_within_groups_and_add_up_across() -> None:
    audit = evenhand.audit(evenhand.compas(), reference="Caucasian", bootstrap=0, permutations=0)
    assert isinstance(audit, evenhand.Audit)
    within, across = ([round(p.difference, 3) for p in audit.measure(id_).parts] for id_ in ("roc", "xroc"))
    assert within == [-0.001, -0.137, 0.136]
    assert across == [-0.273, -0.137, -0.136]
    said = "equal opportunity (ranks): 59% between actual positives, 41% between ROC curves over actual negatives"
    assert said in " ".join(audit.summary(full=True).split())
    assert said in audit.to_markdown()
    page = audit.to_html()
    assert said in page
    assert "by whose scores the thresholds are" in page
    assert "0.136 from actual negatives" in audit.plot("roc").description


@pytest.mark.parametrize(
    "replications", [pytest.param(40, id="reduced"), pytest.param(1000, id="full", marks=pytest.mark.full)]
)
def test_intervals_of_parts_cover(replications: int) -> None:
    """Two groups of normal scores; the truth by a very large sample."""
    rng = np.random.default_rng(0)

    def people(size: int) -> dict[str, Any]:
        group, label = rng.integers(0, 2, size), rng.integers(0, 2, size)
        return {
            "score": rng.normal(label + 0.4 * group * label, 1),
            "label": label,
            "group": np.array(["b", "a"])[group],
        }

    def found(size: int, draws: int) -> ScoreGap:
        audit = evenhand.audit(
            **people(size), reference="b", measures=["equal_opportunity_standardized"], bootstrap=draws, permutations=0,
            ranks="mid", rng=int(rng.integers(1 << 30)),
        )  # fmt: skip
        assert isinstance(audit, evenhand.Audit)
        one = audit.measure("equal_opportunity_standardized")
        assert isinstance(one, ScoreGap)
        return one

    truth = [p.value for p in found(200_000, 0).roc_parts]
    inside = np.zeros(4)
    for _ in range(replications):
        cis = [p.ci for p in found(300, 199).roc_parts]
        inside += [ci is not None and ci[0] <= t <= ci[1] for ci, t in zip(cis, truth, strict=True)]
    assert (inside / replications > 0.93).all()
