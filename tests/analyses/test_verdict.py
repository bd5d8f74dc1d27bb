"""The verdict of an audit: its words, its sentence, and that both say what is in the data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.analyses.audit.key_measures import key_measures
from evenhand.analyses.audit.verdict import WORDS, word_of
from evenhand.measures.registry import MEASURES

NAMES = (
    ("Women", "Men"),
    ("{x}", "{}"),
    ("female", "male"),
    ("a", "b"),
    ("1", "2"),
    ("über 60", "unter 60"),
    ("<b>x</b>", "y z"),
)
TABLE = {
    # is there a gap, is the value within the tolerance, is the interval on its side of it
    (True, False, True): "unequal",
    (True, False, False): "unequal, size uncertain",
    (True, True, True): "small but real difference",
    (True, True, False): "difference, may exceed the tolerance",
    (False, True, True): "no relevant gap",
    (False, True, False): "cannot tell: too few people",
    (False, False, False): "cannot tell: too few people",
    (False, False, True): "cannot tell: too few people",
}


def situation(seed: int) -> tuple[evenhand.Audit, dict[str, float]]:
    """Two groups of decisions with random sizes and rates, as a decision or a score; and their rates."""
    rng = np.random.default_rng(seed)
    names = NAMES[seed % len(NAMES)]
    n = rng.integers(8, [60, 600, 20_000][seed % 3], 2)
    selected = rng.binomial(n, rng.beta(2, 3, 2) if seed % 5 else np.full(2, rng.beta(2, 3)))
    if seed % 11 == 0:
        selected[0] = [0, n[0]][seed % 2]
    group = np.repeat(names, n)
    favourable = np.concatenate([np.arange(size) < k for size, k in zip(n, selected, strict=True)])
    measures = ["disparate_impact", "demographic_parity"]
    said: dict[str, Any] = {"group": "g", "reference": names[seed % 2], "measures": measures}
    kind = seed % 4
    if kind == 0:
        data, role = np.where(favourable, "yes", "no"), {"prediction": "d", "favorable": "yes"}
    elif kind == 1:
        data, role = np.where(favourable, 0, 1), {"prediction": "d", "favorable": 0}
    elif kind == 2:
        data, role = np.where(favourable, 0.75, 0.25), {"score": "d", "score_range": (0, 1)}
    else:
        risky = {"score": "d", "risk": True, "threshold": 5, "score_range": (1, 10)}
        data, role = np.where(favourable, 2.0, 9.0), risky
    audit = evenhand.audit({"d": data, "g": group}, **said, **role, bootstrap=0, permutations=50)
    assert isinstance(audit, evenhand.Audit)
    return audit, dict(zip(names, (selected / n).tolist(), strict=True))


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_words_and_sentences_of_200_situations_are_true(start: int) -> None:
    for seed in range(start, start + 20):
        audit, rates = situation(seed)
        document = audit.to_dict()
        verdict, (attribute,) = document["verdict"], document["attributes"]
        words = []
        for m in attribute["measures"]:
            if m["undefined"]:
                words.append("cannot be computed")
                continue
            low, high = (0.8, 1.25) if m["id"] == "disparate_impact" else (-0.1, 0.1)
            value = m["value"] if m["id"] == "disparate_impact" else m["signed"]
            within = low - 1e-9 <= value <= high + 1e-9
            ends = [low - 1e-9 <= end <= high + 1e-9 if end is not None else False for end in m["ci"]]
            whole = all(ends) if within else not any(ends) and (m["ci"][1] or np.inf) * 1.0 < low
            whole = whole or (not within and m["ci"][0] is not None and m["ci"][0] > high)
            words.append(TABLE[m["p_adjusted"] <= 0.05, within, whole])
        assert verdict["word"] == min(words, key=WORDS.index), seed
        sentence, (less, more) = verdict["sentence"], sorted(rates, key=lambda g: rates[g])
        told = re.findall(r"(\d+(?:\.\d+)?)%", sentence.partition(" get the favourable decision")[0])
        if rates[less] == rates[more]:
            assert "equally many" in sentence
            assert verdict["fares_worst"] is verdict["fares_best"] is None
        else:
            assert (verdict["fares_worst"], verdict["fares_best"]) == (less, more)
            for text, group in zip(told, (less, more), strict=True):
                assert abs(float(text) / 100 - rates[group]) <= 0.5 / 10 ** len(text.partition(".")[2]) / 100 + 1e-12
            names = {"1": "g 1", "2": "g 2"}  # a number alone says nothing
            assert sentence.index(f"of {names.get(less, less)} ") < sentence.index(f"of {names.get(more, more)} ")
            if rates[less] > 0:
                ratio = rates[less] / rates[more]
                said = re.search(r"(\d\.\d\d) times as often", sentence)
                assert said is not None
                assert float(said[1]) == pytest.approx(ratio, abs=0.005001)
                assert ("below four fifths" in sentence) == (ratio < 0.8)
        assert "equally qualified" in sentence or "how people turn out" in sentence
        assert verdict["sentence"] in " ".join(audit.summary().split())


def test_the_four_fifths_case_is_unequal_everywhere() -> None:
    invited = {"invited": ["yes"] * 800 + ["no"] * 9200 + ["yes"] * 350 + ["no"] * 9650,
               "gender": ["Men"] * 10_000 + ["Women"] * 10_000}  # fmt: skip
    audit = evenhand.audit(invited, prediction="invited", favorable="yes", group="gender")
    verdict = audit.to_dict()["verdict"]
    assert verdict["word"] == "unequal"
    assert verdict["worst"] == {"group": "Women", "measure": "disparate_impact"}
    assert verdict["key"] == ["disparate_impact", "demographic_parity"]
    assert verdict["sentence"] == (
        "3.5% of Women and 8.0% of Men get the favourable decision (invited is yes): 0.44 times as often, below four "
        "fifths. This is not chance (p < 0.001); the ratio is between 0.39 and 0.49. Compared were decisions only: "
        "whether people were equally qualified is not in the data."
    )
    text = audit.summary()
    assert "undefined" not in text
    assert len(text.splitlines()) <= 20


def test_of_several_unequal_groups_the_most_unequal_is_told() -> None:
    selected = {"a": 400, "b": 50, "c": 300, "m": 600}  # of 1 000 each; ratios to m: 0.67, 0.08, 0.5
    rows = {"d": [i < k for k in selected.values() for i in range(1000)], "g": np.repeat(list(selected), 1000)}
    verdict = evenhand.audit(rows, prediction="d", group="g", reference="m", bootstrap=0).to_dict()["verdict"]
    assert verdict["worst"] == {"group": "b", "measure": "disparate_impact"}
    assert verdict["sentence"].startswith("5.0% of b and 60.0% of m get the favourable decision (d is 1): 0.08 times")


def test_where_people_are_too_few_the_least_likely_gap_is_told_and_not_the_smallest_group() -> None:
    rows = {"d": [1, 0] * 10 + [1] + [0] * 11 + [1] * 14 + [0] * 6, "g": ["a"] * 20 + ["b"] * 12 + ["m"] * 20}
    one = evenhand.audit(rows, prediction="d", group="g", reference="m", tolerance={"disparate_impact": 0.99})
    two = {
        m["group"]: m["p_value"] for m in one.to_dict()["attributes"][0]["measures"] if m["id"] == "disparate_impact"
    }
    verdict = one.to_dict()["verdict"]
    assert verdict["worst"]["group"] == min(two, key=lambda g: two[g])


def test_the_reference_does_not_change_who_fares_worst() -> None:
    table = evenhand.compas()
    for reference in table.attributes[0].groups:
        verdict = table.audit(threshold=5, reference=reference, bootstrap=50, permutations=50).to_dict()["verdict"]
        assert (verdict["fares_worst"], verdict["fares_best"]) == ("African-American", "Caucasian")
        assert verdict["sentence"].startswith("41% of African-American and 65% of Caucasian get the favourable")


@pytest.mark.parametrize(
    ("held", "key"),
    [
        ((False, False), {"disparate_impact", "demographic_parity"}),
        ((True, False), {"disparate_impact", "delta_dp_c", "abcc"}),
    ],
)
def test_key_measures_follow_the_data(held: tuple[bool, bool], key: set[str]) -> None:
    assert set(key_measures(MEASURES.values(), *held)) == key


def test_what_is_not_key_is_exploratory_and_adjusted_over_everything() -> None:
    (attribute,) = evenhand.compas().audit(threshold=5, bootstrap=0, permutations=99).to_dict()["attributes"]
    measures, key = attribute["measures"], attribute["verdict"]["key"]
    assert [m["id"] for m in measures if not m["exploratory"]] != []
    assert {m["id"] for m in measures if not m["exploratory"]} == set(key)
    score = {m["id"]: m for m in measures if m["p_value"] == 0.01}
    tested = len({m["p_value"] for m in measures if not m["exploratory"]})
    assert score["abcc"]["p_adjusted"] <= 0.01 * len(key)
    assert score["abpc"]["p_adjusted"] > score["abcc"]["p_adjusted"]
    assert tested > 1


def test_what_is_not_known_precisely_enough_is_never_a_pass() -> None:
    m = {"id": "abcc", "undefined": None, "unjudged": "because scores are known in ranges", "passes": None,
         "conclusive": None, "p_adjusted": 0.5, "ci": [0, 0.2]}  # fmt: skip
    assert word_of(m, 0.95) == "cannot be computed"


def test_a_verdict_without_intervals_is_not_settled() -> None:
    verdict = evenhand.compas().audit(threshold=5, bootstrap=0, permutations=0, measures=["abcc"]).to_dict()["verdict"]
    assert verdict["word"] == "cannot be computed"
    assert "cannot be judged without an interval or a test" in verdict["sentence"]


def audited(*data: Any, **options: Any) -> evenhand.Audit:
    audit = evenhand.audit(*data, **options)
    assert isinstance(audit, evenhand.Audit)
    return audit


def test_too_few_permutations_are_not_too_few_people_nor_a_pass() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b", "c", "d", "e"], 400)
    score = rng.random(2000)
    near = np.where(score >= 0.5, 0.5 + 0.02 * (score - 0.5), 0.2 * score)  # the same decisions, other scores
    rows = {"s": np.where(group == "a", score, near), "g": group}
    found = {}
    for permutations in (30, 400):
        audit = audited(
            rows, score="s", group="g", reference="a", tolerance={"abcc": 0.9}, measures=["abcc"], bootstrap=60,
            permutations=permutations,
        )  # fmt: skip
        (attribute,) = audit.to_dict()["attributes"]
        found[permutations] = attribute["verdict"], audit.caveats
    verdict, caveats = found[30]
    assert verdict["word"] == "cannot be computed"
    assert "cannot be judged by so few permutations for so many comparisons (p \u2264 0.129)" in verdict["sentence"]
    assert any("30 permutations and 4 comparisons" in note for note in caveats)
    verdict, caveats = found[400]
    assert verdict["word"] == "small but real difference"
    assert not any("permutations" in note for note in caveats)


def test_a_few_people_who_show_a_gap_are_not_called_too_few() -> None:
    groups = ["big"] * 400 + ["mid"] * 200 + ["tiny"] * 8 + ["few"] * 8
    decisions = [1] * 300 + [0] * 100 + [1] * 140 + [0] * 60 + [0] * 8 + [1] * 6 + [0] * 2
    audit = audited({"d": decisions, "g": groups}, prediction="d", group="g", measures=["demographic_parity"])
    (attribute,) = audit.to_dict()["attributes"]
    assert attribute["verdict"]["groups"]["tiny"] == "unequal"
    assert attribute["verdict"]["groups"]["few"] == "cannot tell: too few people"
    assert attribute["too_small"] == ["few"]
    assert audit.caveats == ("too small to conclude anything, by 'g': 'few'",)
    assert (attribute["verdict"]["fares_worst"], attribute["verdict"]["fares_best"]) == ("tiny", "big")


def test_without_tests_the_verdict_says_what_it_rests_on() -> None:
    rows = {"d": [1, 0] * 100 + [1, 1, 1, 0] * 50 + [1, 0] * 100, "g": ["a"] * 200 + ["b"] * 200 + ["c"] * 200}
    audit = audited(rows, prediction="d", group="g", permutations=0, measures=["demographic_parity"])
    assert "not chance (by its interval alone, untested)" in audit.to_dict()["verdict"]["sentence"]
    assert any("nothing is tested" in note and "2 comparisons alone" in note for note in audit.caveats)
    tested = audited(rows, prediction="d", group="g", measures=["demographic_parity"])
    assert "untested" not in tested.to_dict()["verdict"]["sentence"]
    assert tested.caveats == ()
