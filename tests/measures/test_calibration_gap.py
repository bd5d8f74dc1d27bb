"""The calibration gap: its bins, whom they leave out, and a test that bins of one person do not decide."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.audit.rate_gaps import gaps
from evenhand.inference.null import apart_by, rate_null
from evenhand.inference.permutation import permuted
from evenhand.measures.registry import MEASURES, RateMeasure
from evenhand.tables.dense import Counts
from evenhand.tables.table import score_bins

QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0, "reference": "a", "score_range": (0, 1)}
GAP = MEASURES["calibration_gap"]
assert isinstance(GAP, RateMeasure)
BINS = score_bins((0.0, 1.0), 10, False)
MIDDLE = (np.arange(10) + 0.5) / 10
HILL = np.array([2, 6, 12, 16, 18, 17, 14, 9, 5, 1]) / 100


def people(lonely: int, both: int = 60) -> dict[str, Any]:
    """Groups alike in two bins; so many people of a alone in a third."""
    score = np.r_[np.tile([0.35, 0.65], both), np.full(lonely, 0.95)]
    return {
        "score": score,
        "label": np.r_[np.tile([0, 0, 1, 1], both // 2), np.ones(lonely, int)],
        "group": np.r_[np.repeat(["a", "b"], both), np.full(lonely, "a")],
    }


def drawn(rng: np.random.Generator, rates: Any, sizes: tuple[int, int], shares: Any = (HILL, HILL)) -> Counts:
    n = np.stack([rng.multinomial(size, share) for size, share in zip(sizes, shares, strict=True)], axis=1)
    k = rng.binomial(n, np.stack(rates, axis=1))
    return Counts(np.stack([n - k, k], axis=-1), ("a", "b"), bins=BINS)


def p_value(counts: Counts) -> float:
    assert isinstance(GAP, RateMeasure)
    return rate_null(GAP, counts, "concept", 0, np.random.default_rng(0), 0.95).p_value


@pytest.mark.parametrize("rate", [0.002, 0.005, 0.02, 0.5])
def test_a_rare_outcome_of_a_handful_is_no_gap_that_is_shown(rate: float) -> None:
    """With Wilson's limits the lower end was above 0 in up to 38 % of samples of groups that are alike."""
    rng = np.random.default_rng(9)
    even, alike = np.full(10, 0.1), np.full(10, rate)
    found = (gaps(GAP, drawn(rng, (alike, alike), (200, 30_000), (even, even)), 1, 0.95, None) for _ in range(200))
    assert np.mean([gap.ci is not None and gap.ci[0] > 0 for (gap,) in found]) <= 0.06


# ---- bins -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", [False, True])
def test_every_score_is_inside_the_bin_that_is_named(risk: bool) -> None:
    score = np.r_[np.arange(11) / 10, 0.05 + np.arange(10) / 10]
    t = evenhand.tabulate(score=score, label=[0, 1] * 10 + [1], group=["a", "b", "a"] * 7, risk=risk)
    for s, k in zip(t.score.tolist(), t.bin_of_cells(10).tolist(), strict=True):  # type: ignore[union-attr]
        name = score_bins((0.0, 1.0), 10, risk)[k].name
        low, high = map(float, name[1:-1].split(", "))
        assert low <= s if name[0] == "[" else low < s
        assert s <= high if name[-1] == "]" else s < high


def test_borders_in_the_units_of_the_data() -> None:
    first, second, *_ = score_bins((300.0, 850.0), 5, False)
    assert (first.name, first.low, first.high) == ("[300, 410]", 300, 410)
    assert (second.name, second.low, second.high) == ("(410, 520]", 410, 520)
    assert len({b.name for b in score_bins((1e9, 1e9 + 1), 4, True)}) == 4
    assert [(b.low, b.high) for b in score_bins((0.0, 100.0), 4, True)] == [(75, 100), (50, 75), (25, 50), (0, 25)]


@pytest.mark.parametrize(
    ("scores", "words", "said"),
    [
        ([0.35, 0.62], {"score_range": (0, 1)}, "at the score 0.35: favourable rates of 0.000 against 0.833"),
        ([0.31, 0.35, 0.62], {"score_range": (0, 1)}, "in the score bin 0.3 to 0.4: favourable rates of 0.000"),
        (
            [0.31, 0.35, 0.62],
            {"score_range": (0, 1), "calibration_bins": 4},
            "in the score bin 0.25 to 0.5: favourable rates of 0.000",
        ),
        ([35, 62], {"score_range": (0, 100), "risk": True}, "at the score 35: favourable rates of 0.000 against 0.833"),
        ([31, 35, 62], {"score_range": (0, 100), "risk": True}, "in the score bin 30 to 40: favourable rates of 0.000"),
        ([310, 350, 850], {"calibration_bins": 3}, "in the score bin 310 to 490: favourable rates of 0.000"),
    ],
)
def test_the_sentence_and_the_json_name_the_worst_bin_as_a_user_would(
    scores: list[float], words: dict[str, Any], said: str
) -> None:
    low, high = scores[:-1], scores[-1]
    rows = [(s, int(g == "a" and i > 0), g) for g in "ab" for i in range(6) for s in low]
    rows += [(high, i % 2, g) for g in "ab" for i in range(6)]
    score, label, group = zip(*rows, strict=True)
    audit = evenhand.audit(score=score, label=label, group=group, **{**QUICK, "score_range": None, **words})
    gap = audit.measure("calibration_gap")
    assert said in gap.interpretation
    measures = audit.to_dict()["attributes"][0]["measures"]
    parts = next(m for m in measures if m["id"] == "calibration_gap")["parts"]
    worst = max(parts, key=lambda p: abs(p["difference"]))
    assert worst["bin"]["score"] == (low[0] if len(low) == 1 else None)
    assert worst["bin"]["low"] <= low[0] <= low[-1] <= worst["bin"]["high"]
    assert {p.bin for p in audit.measure("equalized_odds").parts} == {None}
    lone = [p["bin"]["score"] for p in parts if p is not worst]
    assert lone == [high]


def test_a_score_of_a_handful_is_not_told() -> None:
    audit = evenhand.audit(score=[0.1, 0.1, 0.9, 0.9], label=[0, 1, 0, 1], group=list("abab"), **QUICK)
    assert [p.bin.score for p in audit.measure("calibration_gap").parts] == [None, None]


def test_calibration_bins_reach_the_gap_and_the_errors() -> None:
    data = people(0)
    for given, bins, gap_bins in ((None, 50, 10), (4, 4, 4)):
        a = evenhand.audit(**data, **QUICK, calibration_bins=given)
        assert (a.options.scores.calibration_bins, a.options.scores.gap_bins) == (bins, gap_bins)
        names = [p.name for p in a.measure("calibration_gap").parts]
        assert names == [b.name for b in score_bins((0.0, 1.0), gap_bins, False) if b.name in names]
        assert len(names) == 2
        assert a.to_dict()["options"]["gap_bins"] == gap_bins
    rng = np.random.default_rng(0)
    s = rng.random(400)
    y, g = (rng.random(400) < s).astype(int), ["a", "b"] * 200
    errors = [
        evenhand.audit(score=s, label=y, group=g, calibration_bins=n, **QUICK)
        .attributes[0]
        .groups[0]
        .rates["ece"]
        .value
        for n in (None, 10, 3)
    ]
    assert errors[0] == errors[1] != errors[2]


# ---- who is left out -------------------------------------------------------------------------------------------------


def test_a_value_is_not_judged_where_many_cannot_be_compared() -> None:
    a = evenhand.audit(**people(12), **QUICK)
    gap = a.measure("calibration_gap")
    assert (gap.value, gap.passes, gap.conclusive, gap.bounds) == (0, None, False, (0, 1))
    assert gap.left_out_bins == ("(0.9, 1]",)  # type: ignore[attr-defined]
    assert gap.left_out_share == pytest.approx(12 / 72)
    assert gap.ci is not None
    assert gap.ci[1] == 1
    for told in (gap.interpretation, gap.unjudged, " ".join(a.notes), " ".join(str(a).split()), a.to_html()):
        assert "(0.9, 1]" in str(told)
    measures = json.loads(a.to_json())["attributes"][0]["measures"]
    told = next(m for m in measures if m["id"] == "calibration_gap")
    assert (told["passes"], told["left_out_bins"]) == (None, ["(0.9, 1]"])


def test_few_people_left_out_are_named_and_nothing_certain_is_said() -> None:
    gap = evenhand.audit(**people(2, 120), **QUICK).measure("calibration_gap")
    assert gap.passes
    assert gap.conclusive is False
    assert "Left out, because 1.6% of a have scores that nobody of b has" in gap.interpretation


def test_a_gap_beyond_the_tolerance_stays_beyond() -> None:
    data = people(12)
    data["label"][:20] = 1
    gap = evenhand.audit(**data, **QUICK).measure("calibration_gap")
    assert gap.value > 0.1
    assert gap.passes is False


@pytest.mark.parametrize(
    ("rule", "status"),
    [("calibration_gap <= 0.1", "undefined"), ("calibration_gap <= 0.1 at 95%", "undefined"),
     ("calibration_uniform <= 0.1", "undefined"), ("calibration_standardized <= 0.05", "undefined"),
     ("calibration_uniform <= 0.5", "satisfied")],
)  # fmt: skip
def test_the_gate_does_not_pass_over_them(rule: str, status: str) -> None:
    how = {**QUICK, "bootstrap": 200}
    del how["permutations"]
    verdict = evenhand.check(**people(12), require=rule, **how)
    assert [f.status for f in verdict.findings] == [status]
    assert verdict.passed == (status == "satisfied")
    if rule.startswith("calibration_gap"):
        assert "(0.9, 1]" in verdict.findings[0].interpretation


def test_the_most_different_pair_is_not_judged_either() -> None:
    data = people(12)
    data = {name: np.r_[column, column[:60]] for name, column in data.items()}
    data["group"] = np.r_[data["group"][:-60], np.full(60, "c")]
    a = evenhand.audit(**data, **QUICK)
    for id_ in ("calibration_gap", "calibration_uniform"):
        largest: LargestGap = next(g for g in a.attributes[0].largest if g.id == id_)
        assert largest.passes is None
        assert largest.lacking
    policy = {"rule": [{"measure": "calibration_gap", "at_most": 0.1, "pairs": "all"}]}
    how = {name: value for name, value in QUICK.items() if name != "permutations"}
    assert [f.status for f in evenhand.check(**data, policy=policy, **how).findings] == ["undefined"]


def test_what_calibration_bias_leaves_out_is_part_of_its_interval() -> None:
    gap = evenhand.audit(**people(12), **{**QUICK, "bootstrap": 200}).measure("calibration_uniform")
    assert gap.bounds == pytest.approx((0, 1 / 3))  # one of three scores
    assert gap.ci is not None
    assert gap.ci[1] >= 1 / 3
    assert gap.passes is None


def test_a_large_gap_in_a_bin_that_is_mostly_empty_is_rarely_passed() -> None:
    """A true gap of 0.7 where a tenth of a and hardly anybody of b is: such bins were skipped, and rules passed."""
    assert isinstance(GAP, RateMeasure)
    rng = np.random.default_rng(1)
    rare = HILL.copy()
    rare[9] = 0.002
    many = np.r_[HILL[:9], 0.1]
    rates = np.r_[MIDDLE[:9], 0.25], MIDDLE
    passed = covered = 0
    for _ in range(200):
        counts = drawn(rng, rates, (1500, 600), (many / many.sum(), rare / rare.sum()))
        (gap,) = gaps(GAP, counts, 1, 0.95, None)
        assert gap.ci is not None
        passed += gap.value <= 0.4 and gap.bounds is None
        covered += gap.ci[0] <= 0.7 <= gap.ci[1]
    assert covered >= 0.95 * 200
    assert passed <= 0.25 * 200  # those with a person of b there who happens to look alike


# ---- the test -----------------------------------------------------------------------------------------------------


def test_the_p_value_is_that_of_permuted_tables() -> None:
    assert isinstance(GAP, RateMeasure)
    rng = np.random.default_rng(2)
    for _ in range(3):
        counts = drawn(rng, (MIDDLE - 0.04, MIDDLE), (150, 90))
        observed = float(apart_by(GAP, GAP.profile(counts)))
        sizes = np.concatenate([apart_by(GAP, GAP.profile(c)) for c in permuted(counts, 4000, rng, "level")])
        share = float((sizes >= observed - 1e-9).mean())
        assert share - 0.03 <= p_value(counts) <= share + 0.03


@pytest.mark.parametrize("sizes", [(300, 200), (60, 15), (20, 20)])
def test_alike_groups_are_rarely_called_different(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    rejected = sum(p_value(drawn(rng, (MIDDLE, MIDDLE), sizes)) <= 0.05 for _ in range(250))
    assert rejected <= 0.05 * 250 + 3 * np.sqrt(250 * 0.05 * 0.95)


def weighted(rng: np.random.Generator, rates: Any, sizes: tuple[int, int]) -> Counts:
    """People who weigh 1, 7 or 30, whatever their outcome."""
    weight = np.array([1.0, 7.0, 30.0])
    people = np.stack([drawn(rng, rates, sizes).array for _ in weight], axis=-1)
    return Counts(people @ weight, ("a", "b"), squares=people @ weight**2, bins=BINS)


@pytest.mark.parametrize("sizes", [(10, 10), (20, 130)])
def test_alike_groups_with_survey_weights_are_rarely_called_different(sizes: tuple[int, int]) -> None:
    """Bins of a few people, rounded to whole ones, rejected 10 to 20 % where 5 was asked."""
    rng = np.random.default_rng(6)
    found = [p_value(weighted(rng, (MIDDLE, MIDDLE), sizes)) <= 0.05 for _ in range(300)]
    assert np.mean(found) < 0.085


@pytest.mark.parametrize("weights", [(10, 2), (1, 10)])
@pytest.mark.parametrize("sizes", [(80, 500), (200, 200)])
def test_weights_that_go_with_the_outcome_reject_no_more(weights: tuple[int, int], sizes: tuple[int, int]) -> None:
    """Cases drawn more often than controls: groups that are alike were called different in 36 to 88 % of samples."""
    rng = np.random.default_rng(8)
    drawn_share = np.stack([1 - MIDDLE, MIDDLE], axis=-1) / weights
    drawn_share /= drawn_share.sum()
    found = []
    for _ in range(100):
        people = np.stack([rng.multinomial(n, drawn_share.ravel()).reshape(-1, 2) for n in sizes], axis=1)
        counts = Counts(people * weights, ("a", "b"), squares=people * np.square(weights, dtype=float), bins=BINS)
        found.append(p_value(counts) <= 0.05)
    assert np.mean(found) <= 0.1


def test_a_gap_in_all_bins_is_found_with_survey_weights() -> None:
    rng = np.random.default_rng(7)
    off = np.clip(MIDDLE - 0.25, 0.02, 1)
    assert np.mean([p_value(weighted(rng, (off, MIDDLE), (100, 150))) <= 0.05 for _ in range(60)]) > 0.7


def test_a_gap_in_all_bins_is_found() -> None:
    """By the largest gap itself it was found 8 times of 100: bins of one person decided."""
    rng = np.random.default_rng(4)
    found = [p_value(drawn(rng, (np.clip(MIDDLE - 0.1, 0, 1), MIDDLE), (500, 500))) <= 0.05 for _ in range(100)]
    assert sum(found) >= 55


def test_the_gate_names_the_worst_bin_too() -> None:
    data = people(0)
    data["label"][:20] = 1
    how = {**QUICK, "bootstrap": 0}
    del how["permutations"]
    verdict = evenhand.check(**data, require=["calibration_gap <= 0.05", "equalized_odds <= 0.05"], **how)
    told = {f.rule.measure.id: f.interpretation for f in verdict.findings}
    assert " Most at the score " in told["calibration_gap"]
    assert " Most in TPR: " in told["equalized_odds"] or " Most in FPR: " in told["equalized_odds"]
