"""Less discriminatory alternatives: who is selected, who is confirmed, and that claims hold on fresh people."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import called
from evenhand.errors import DataError, EvenhandError, UsageError
from evenhand.inference.held_out import divided
from evenhand.ingest.roles import Roles
from evenhand.ingest.tabulation import tabulate_together

COLUMNS: dict[str, Any] = {"label": "y", "group": "g", "threshold": 0.5, "reference": "0", "score_range": (-3, 4)}
SPREAD, SHARED = 0.2, 0.8


def people(n: int, shifts: Any, seed: Any = 0, groups: int = 2) -> dict[str, Any]:
    """Scores that put the last group down by so much; those of one person resemble each other."""
    random = np.random.default_rng(seed)
    g, y = random.integers(0, groups, n), random.integers(0, 2, n)
    common = SHARED * random.normal(0, SPREAD, n)
    scores = {
        f"s{j}": 0.5 + 0.3 * (y - 0.5) - shift * g / (groups - 1) + common + random.normal(0, 0.12, n)
        for j, shift in enumerate(shifts)
    }
    return {**scores, "y": y, "g": g}


def true_gap(shift: float) -> float:
    """Of demographic parity, of the group that is put down most."""
    spread = np.hypot(SHARED * SPREAD, 0.12)
    middle = 0.5 + 0.3 * (np.array([0, 1]) - 0.5)
    return float((stats.norm.sf(0.5, middle, spread) - stats.norm.sf(0.5, middle - shift, spread)).mean())


def searched(data: dict[str, Any], **how: Any) -> evenhand.Alternatives:
    scores = [name for name in data if name.startswith("s")]
    usual = {"fairness": "demographic_parity", "bootstrap": 200, "within_best": 0.05}
    return evenhand.alternatives(data, score=scores, **{**COLUMNS, **usual, **how})


def reasons(found: evenhand.Alternatives) -> dict[str, Any]:
    return {c.name: c.reason or c.status for c in found.candidates}


# ---- people are divided by their counts ------------------------------------------------------------------------


def joint_of(data: dict[str, Any], **how: Any) -> Any:
    return tabulate_together(data, Roles(score=["a", "b"], label="y", group="g", **how))


def test_parts_add_up_to_everybody_cell_by_cell() -> None:
    random = np.random.default_rng(1)
    data = {"a": random.integers(0, 3, 500) / 2, "b": random.integers(0, 3, 500) / 2, "y": random.integers(0, 2, 500),
            "g": random.integers(0, 2, 500)}  # fmt: skip
    joint = joint_of(data)
    first, second = divided(joint, 0.3, np.random.default_rng(2))
    assert (first.index.rows, second.index.rows) == (150, 350)
    for model in (0, 1):
        whole, parts = joint.of(model), first.of(model) + second.of(model)
        assert (whole.n == parts.n).all()
        assert (whole.score == parts.score).all()


def test_parts_are_drawn_as_rows_would_be() -> None:
    """One cell of 30 among 100 people: how many of it are drawn is hypergeometric."""
    data = {"a": [0.0] * 30 + [1.0] * 70, "b": [0.0] * 100, "y": [0, 1] * 50, "g": ["x"] * 100}
    joint, random = joint_of(data), np.random.default_rng(3)
    drawn = [int(divided(joint, 0.4, random)[0].of(0).n[:2].sum()) for _ in range(400)]
    expected = stats.hypergeom(100, 30, 40)
    assert np.mean(drawn) == pytest.approx(expected.mean(), abs=4 * expected.std() / 20)
    assert np.var(drawn) == pytest.approx(expected.var(), rel=0.3)


def test_rows_of_a_person_stay_together() -> None:
    random = np.random.default_rng(4)
    data = {"a": random.random(300), "b": random.random(300), "y": random.integers(0, 2, 300),
            "g": np.repeat(random.integers(0, 2, 100), 3), "who": np.repeat(np.arange(100), 3)}  # fmt: skip
    first, second = divided(joint_of(data, cluster="who"), 0.5, np.random.default_rng(5))
    assert (first.index.people, second.index.people) == (50, 50)
    assert (first.index.rows, second.index.rows) == (150, 150)


# ---- what is found ---------------------------------------------------------------------------------------------


def test_a_fairer_score_is_confirmed_and_others_are_rejected_with_their_reason() -> None:
    data = people(6000, [0.15, 0.02, 0.15, 0.22])
    data["s4"] = np.full(6000, 0.7)
    data["s5"] = np.random.default_rng(9).random(6000)
    found = searched(data)
    assert found.alternatives == ("s1",)
    assert found.recommended == "s1"
    kinds = reasons(found)
    assert (kinds["s0"], kinds["s3"], kinds["s4"], kinds["s5"]) == ("in use", "gap", "constant", "performance")
    assert kinds["s2"] in ("gap", "not_confirmed")
    held = found.candidates[1].confirmation
    assert held is not None
    assert held.reduction_at_least is not None
    assert 0 < held.reduction_at_least < held.reduction == pytest.approx(held.baseline_gap - held.gap)


def test_numbers_are_those_of_audits_of_the_parts() -> None:
    """With a column that divides people, each part can be audited by itself."""
    data = people(3000, [0.15, 0.05])
    data["part"] = np.where(np.arange(3000) % 3 == 0, "select", "confirm")
    found = searched(data, split={"part": ["select", "confirm"]})
    for part in ("select", "confirm"):
        audit = evenhand.audit(
            data, score=["s0", "s1"], **COLUMNS, where={"part": part}, bootstrap=0, permutations=0
        )  # fmt: skip
        for c, own in zip(found.candidates, audit.candidates, strict=True):
            at = c.selection if part == "select" else c.confirmation
            assert at is not None
            assert at.gap == pytest.approx(own.audit.measure("demographic_parity").value, abs=1e-12)
            assert at.performance == pytest.approx(own.performance["accuracy"].value, abs=1e-12)
    assert (found.data["selecting"], found.data["confirming"]) == (1000, 2000)


def test_the_largest_gap_of_several_groups_must_become_smaller() -> None:
    """A score that helps the group that fared worst and harms another is none."""
    data = people(6000, [0.2, 0.05], groups=3)
    found = searched(data)
    assert found.alternatives == ("s1",)
    harmed = dict(data)
    harmed["s1"] = data["s1"] - np.where(data["g"] == 1, 0.25, 0.0)
    assert reasons(searched(harmed, within_best=0.2))["s1"] in ("gap", "not_confirmed")


def test_the_same_seed_gives_the_same_document_and_the_command_repeats_it(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    data = people(2000, [0.15, 0.02, 0.1])
    file = tmp_path / "people.csv"
    pd.DataFrame(data).to_csv(file, index=False)
    for how in (
        {},
        {"baseline": "s1", "attribute": "g", "selection_share": 0.4, "rng": 3},
        {"threshold": [0.4, "median", 0.6]},
        {"threshold": None, "top": "10%"},
    ):
        found = evenhand.alternatives(
            str(file), score=["s0", "s1", "s2"], **{**COLUMNS, "fairness": "disparate_impact", "bootstrap": 200, **how}
        )
        document = found.to_dict()
        pytest.importorskip("jsonschema").validate(document, evenhand.schema("alternatives"))
        words = [str(file) if w == "DATA" else w for w in shlex.split(document["command"])][1:]
        again = called(*words, "--json", "-")
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout) == json.loads(found.to_json())


def test_views_show_the_log() -> None:
    found = searched(people(2000, [0.15, 0.02, 0.3]))
    text, markdown, page = repr(found), found.to_markdown(), found.to_html()
    for view in (text, markdown, page):
        assert "Less discriminatory than s0: s1" in view
    for c in found.candidates:
        assert c.because in markdown
    pytest.importorskip("pandas")
    frame = found.to_frame("pandas")
    assert frame["status"].tolist() == ["in use", "alternative", "rejected"]


def test_the_performance_may_be_a_loss() -> None:
    data = people(3000, [0.15, 0.02])
    for name in ("s0", "s1"):
        data[name] = np.clip(data[name], 0.01, 0.99)
    found = searched(data, performance="brier", score_range=(0, 1))
    best = min(found.candidates, key=lambda c: c.selection.performance)
    assert found.best == best.name
    narrow = searched(data, performance="brier", score_range=(0, 1), within_best=0.0)
    assert [c.name for c in narrow.candidates if c.status == "alternative"] in ([], [found.best])


def test_a_worse_performance_on_people_held_out_is_no_alternative() -> None:
    """Selected by a part in which it is as good; on the others it is not."""
    data = people(4000, [0.2, 0.0])
    part = np.arange(4000) % 2
    data["s1"] = np.where(
        (part == 1) & (np.random.default_rng(3).random(4000) < 0.3), 1 - data["s1"], data["s1"]
    )  # fmt: skip
    data["part"] = part
    found = searched(data, split={"part": [0, 1]})
    assert reasons(found)["s1"] == "performance_not_held"
    assert found.recommended is None


# ---- claims hold -----------------------------------------------------------------------------------------------


def claims(shifts: Any, replications: int, n: int, **how: Any) -> tuple[float, float]:
    """How often a gain was claimed where there is none, and a bound that is too high."""
    none, beyond = 0, 0
    for seed in range(replications):
        found = searched(people(n, shifts, seed=[7, seed]), rng=seed, **how)
        gains = {f"s{j}": true_gap(shifts[0]) - true_gap(shift) for j, shift in enumerate(shifts)}
        none += any(gains[name] <= 1e-9 for name in found.alternatives)
        tested = [c for c in found.candidates if c.tested == 1 and c.confirmation is not None]
        beyond += any(
            c.confirmation.reduction_at_least is not None and gains[c.name] < c.confirmation.reduction_at_least
            for c in tested
            if c.confirmation is not None
        )
    return none / replications, beyond / replications


@pytest.mark.parametrize("count", [2, 10])
def test_no_gain_is_claimed_where_all_candidates_are_equal(count: int) -> None:
    replications = 25
    none, beyond = claims(np.full(count, 0.1), replications, 600)
    most = stats.binom.ppf(0.999, replications, 0.05) / replications
    assert none <= most
    assert beyond <= most


@pytest.mark.full
@pytest.mark.parametrize("count", [2, 10, 50])
@pytest.mark.parametrize("kind", ["equal", "fair", "unequal"])
def test_claims_hold_on_fresh_people(count: int, kind: str) -> None:
    replications = 400
    shifts = {"equal": np.full(count, 0.1), "fair": np.zeros(count)}.get(
        kind, np.r_[0.1, np.linspace(0.05, 0.15, count - 1)]
    )
    none, beyond = claims(shifts, replications, 1000)
    most = stats.binom.ppf(0.999, replications, 0.05) / replications
    assert none <= most
    assert beyond <= most


# ---- runs ------------------------------------------------------------------------------------------------------


def runs(seeds: int = 5, noise: float = 0.005, gains: Any = (0.1, 0.0, 0.2), costs: Any = (0.0, 0.0, 0.1)) -> Any:
    random = np.random.default_rng(0)
    rows: dict[str, list[Any]] = {k: [] for k in ("method", "strength", "p", "f", "dp", "df")}
    for j, (gain, cost) in enumerate(zip((0.0, *gains), (0.0, *costs), strict=True)):
        for _ in range(seeds):
            luck = random.normal(0, noise, 2)
            rows["method"].append("plain" if j == 0 else f"m{j}")
            rows["strength"].append(j)
            for key, value, own in (("p", 0.8 - cost, luck[0]), ("f", 0.6 + gain, luck[1])):
                rows[key].append(value + own + random.normal(0, noise / 3))
                rows[f"d{key}"].append(value + own + random.normal(0, noise / 3))
    return rows


RUNS = {"method": "method", "performance": "p", "fairness": "f", "settings": "strength", "baseline": "plain"}
DEV = {"dev_performance": "dp", "dev_fairness": "df"}


def test_runs_are_selected_by_development_results_and_confirmed_on_test_results() -> None:
    rows = runs()
    found = evenhand.alternatives(rows, **RUNS, **DEV, within_best=0.02)
    assert reasons(found)["m1"] == "alternative"
    assert reasons(found)["m3"] == "performance"
    assert found.recommended == "m1"
    held = next(c.confirmation for c in found.candidates if c.name == "m1")
    test = {m: np.array([v for v, k in zip(rows["f"], rows["method"], strict=True) if k == m]) for m in ("plain", "m1")}
    reach = stats.t.ppf(1 - 0.05 / 3, 4) * np.sqrt(sum(v.var(ddof=1) / 5 for v in test.values()))
    assert held is not None
    assert held.reduction_at_least == pytest.approx(test["m1"].mean() - test["plain"].mean() - reach)
    pytest.importorskip("jsonschema").validate(found.to_dict(), evenhand.schema("alternatives"))


@pytest.mark.parametrize(
    ("how", "rows", "message"),
    [
        ({}, runs(), "the same results would select and confirm"),
        ({"dev_performance": "dp", "dev_fairness": "df"}, runs(seeds=1), "one run cannot tell"),
    ],
)
def test_runs_that_cannot_confirm_say_so(how: Any, rows: Any, message: str) -> None:
    found = evenhand.alternatives(rows, **RUNS, **how, within_best=0.02)
    assert found.recommended is None
    assert message in next(c.because for c in found.candidates if c.name == "m1")


def test_luck_that_development_and_test_share_is_no_gain() -> None:
    """Twenty methods alike, dev and test results of a run nearly the same: the level is divided among them."""
    wrong = 0
    for seed in range(200):
        random = np.random.default_rng([11, seed])
        f = 0.7 + random.normal(0, 0.02, (21, 4))
        rows = {
            "method": np.repeat([f"m{j:02}" for j in range(21)], 4), "p": np.full(84, 0.8), "dp": np.full(84, 0.8),
            "f": f.ravel(), "df": f.ravel() + random.normal(0, 0.001, 84), "strength": np.zeros(84),
        }  # fmt: skip
        found = evenhand.alternatives(rows, **{**RUNS, "baseline": "m00"}, **DEV)
        wrong += found.recommended is not None
    assert wrong / 200 <= stats.binom.ppf(0.999, 200, 0.05) / 200


# ---- bad input -------------------------------------------------------------------------------------------------

FEW = people(300, [0.1, 0.0])
BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "one score": (FEW, {"score": ["s0"]}, "needs another model: name two or more scores"),
    "unknown baseline": (FEW, {"baseline": "s9"}, "baseline must be one of the scores, not 's9'"),
    "constant score in use": (FEW | {"s0": np.full(300, 0.7)}, {}, "gives everybody the same score: it has no gap"),
    "no labels": (FEW, {"label": None}, "needs true outcomes"),
    "negative margin": (FEW, {"within_best": -0.1}, "within_best is how much lower"),
    "share of all": (FEW, {"selection_share": 1}, "selection_share is the share"),
    "both ways to divide": (FEW, {"selection_share": 0.5, "split": {"y": [0, 1]}}, "say one of them"),
    "split without values": (FEW, {"split": {"part": ["select"]}}, "split is a column with the value"),
    "split by a group": (FEW, {"split": {"g": [0, 1]}}, "cannot both divide people and be a group"),
    "nobody to confirm with": (FEW | {"part": np.zeros(300)}, {"split": {"part": [0, 1]}}, "nobody has in 'part'"),
    "no resamples": (FEW, {"bootstrap": 0}, "confirmed by resamples, of which 200 are the least"),
    "calibration": (FEW, {"fairness": "calibration_uniform"}, "cannot be confirmed"),
    "practice": (FEW, {"fairness": "shortfall"}, "fairness must be a measure"),
    "low confidence": (FEW, {"confidence": 0.6}, "at least 0.75"),
    "columns of runs": (FEW, {"dev_performance": "p"}, "is for runs"),
    "survey weights": (
        FEW | {"w": np.linspace(0.5, 1.5, 300)}, {"weight": "w"}, "survey weights cannot be divided"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case: str) -> None:
    data, how, message = BAD[case]
    with pytest.raises(EvenhandError, match=message):
        evenhand.alternatives(data, **{"score": ["s0", "s1"], **COLUMNS, "bootstrap": 200, **how})


def test_too_few_people_to_confirm_are_said_so() -> None:
    data = people(60, [0.3, 0.0], seed=2)
    data["g"] = np.where(np.arange(60) < 12, 1, 0)
    data["s0"] = np.where(data["g"] == 1, 0.2, 0.8) + np.arange(60) / 1000
    data["s1"] = data["y"] * 0.6 + 0.2 + np.arange(60) / 1000
    found = searched(data, within_best=1.0)
    (rejected,) = [c for c in found.candidates if c.name == "s1"]
    assert rejected.reason == "not_confirmed"
    assert "people, fewer than 10" in rejected.because


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"baseline": None}, "say which method is in use"),
        ({"baseline": "none"}, "there is no method 'none'"),
        ({"fairness": None}, "name the columns of performance and fairness"),
        ({"group": "g"}, "'group' is for people, and these are runs"),
    ],
)
def test_bad_runs_are_one_sentence(how: Any, message: str) -> None:
    with pytest.raises((UsageError, DataError), match=message):
        evenhand.alternatives(runs(), **{**RUNS, **how})


def test_the_command_line_refuses_with_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("method,p,f\na,0.5,0.5\nb,0.5,0.6\n")
    bad = called("alternatives", str(file), "--method", "method", "--performance", "p", "--fairness", "f")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "say which method is in use" in bad.stderr
    good = called(
        "alternatives", str(file), "--method", "method", "--performance", "p", "--fairness", "f", "--baseline", "a"
    )
    assert good.returncode == 0
    assert "No alternative to a was confirmed" in good.stdout
