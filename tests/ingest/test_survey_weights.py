"""Whole weights that look like survey weights are refused until somebody says what they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called as run
from evenhand import metrics
from evenhand.errors import DataError
from evenhand.ingest import score_cells

ALIKE = {"s": [0.2, 0.2, 0.8, 0.8], "y": [1, 1, 0, 1], "g": [*"aabb"], "w": [3, 7, 5, 5]}
WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "weight": "w"}
ASKS = r"weight_kind='sampling' \(--weight-kind sampling\)"


def survey(n: int = 400, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    s, g = rng.random(n), rng.choice(["a", "b"], n)
    return {"s": s, "y": (rng.random(n) < s).astype(int), "g": g, "w": rng.integers(1, 300, n)}


def test_what_is_found_is_said() -> None:
    with pytest.raises(DataError, match="one combination stands in several rows with different weights") as caught:
        evenhand.tabulate(ALIKE, **WORDS)
    assert "(g = a, y = 1, score 0.2: 2 rows, 10 in all)" in str(caught.value)
    with pytest.raises(DataError, match=r"score of its own \(400 scores in 400 rows\)"):
        evenhand.tabulate(survey(), **WORDS)
    constant = {**survey(), "s": np.repeat([0.2, 0.7], 200), "w": np.full(400, 7)}  # one in seven was asked
    with pytest.raises(DataError, match="8 combinations stand in several rows"):
        evenhand.tabulate(constant, **WORDS)


@pytest.mark.parametrize(
    "weight",
    [np.ones(400, int), np.arange(400) % 2, 1 + (np.arange(400) % 50 == 0)],
    ids=["all one", "zero or one", "hardly any"],
)
def test_weights_near_one_count_people(weight: Any) -> None:
    assert evenhand.tabulate({**survey(), "w": weight}, **WORDS).n.sum() == weight.sum()


def test_a_table_of_counts_stays_what_it_is() -> None:
    rng = np.random.default_rng(1)
    level, g, y = (a.ravel() for a in np.meshgrid(np.arange(1, 11), [*"ab"], [0, 1], indexing="ij"))
    counts = {"s": level, "g": g, "y": y, "w": rng.integers(1, 400, 40)}
    assert evenhand.tabulate(counts, **WORDS).rows == counts["w"].sum()
    again = {name: np.concatenate([column, column]) for name, column in counts.items()}
    again["w"] = np.concatenate([counts["w"], counts["w"] + 1])
    with pytest.raises(DataError, match="40 combinations stand in several rows"):  # of two quarters, say
        evenhand.tabulate(again, **WORDS)
    again["w"][::3] = 0  # nobody
    assert evenhand.tabulate({**again, "w": np.r_[counts["w"], np.zeros(40, int)]}, **WORDS).rows == counts["w"].sum()


def test_counts_of_a_day_are_counts(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    days = [f"2024-{m:02d}-{d:02d}" for m in (1, 2, 3, 4) for d in (1, 2)]
    rows = [(day, g, y, d) for day in days for g in "ab" for y in (0, 1) for d in (0, 1)]
    frame = pd.DataFrame(rows, columns=["day", "g", "y", "d"])
    frame["w"] = np.random.default_rng(0).integers(20, 90, len(frame))
    words: dict[str, Any] = {"prediction": "d", "label": "y", "group": "g", "weight": "w", "time": "day"}
    asked: dict[str, Any] = {**words, "baseline": 2, "every": "month", "bootstrap": 19}
    frame.to_csv(tmp_path / "days.csv", index=False)
    frame["moment"] = frame["day"] + " 10:00"
    for data in (frame, frame.to_dict("list"), tmp_path / "days.csv"):
        assert evenhand.monitor(data, **asked).to_dict()["data"]["weight"] is None
    twice = pd.concat([frame, frame.assign(w=frame["w"] + 1)])
    with pytest.raises(DataError, match=ASKS):
        evenhand.monitor(twice, **asked)
    assert evenhand.monitor(twice, **asked, weight_kind="sampling")


def test_more_scores_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_cells, "EXACT", 200)
    columns = survey(2000)
    for scores in (columns["s"], columns["s"].round(1)):
        with pytest.raises(DataError, match=ASKS):
            evenhand.tabulate({**columns, "s": scores}, **WORDS)
    rng = np.random.default_rng(3)
    s = np.repeat(rng.random(500), 4)
    counts = {"s": s, "g": np.tile([*"aabb"], 500), "y": np.tile([0, 1], 1000), "w": rng.integers(1, 9, 2000)}
    assert evenhand.tabulate(counts, **WORDS).rows == counts["w"].sum()


def test_classes_and_several_scores_ask_too() -> None:
    rng = np.random.default_rng(0)
    jobs = {"y": rng.choice([*"abc"], 200), "p": rng.choice([*"abc"], 200), "g": rng.choice([*"fm"], 200)}
    jobs["w"] = rng.integers(1, 50, 200)
    with pytest.raises(DataError, match=r"several rows with different weights \(g = ., y = ., p = .:"):
        evenhand.tabulate(jobs, label="y", prediction="p", group="g", weight="w")
    both = {**survey(), "t": survey(seed=1)["s"]}
    with pytest.raises(DataError, match="score of its own"):
        evenhand.audit(both, **{**WORDS, "score": ["s", "t"]})
    with pytest.raises(DataError, match=ASKS):
        metrics.abcc(None, both["s"], sensitive_features=both["g"], sample_weight=both["w"], bootstrap=0)
    value = metrics.abcc(None, both["s"], sensitive_features=both["g"], sample_weight=both["w"], bootstrap=0,
                         weight_kind="sampling")  # fmt: skip
    assert float(value) > 0


def test_every_command_with_weights_asks_and_takes_the_answer(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pd.DataFrame(survey(200)).to_csv(tmp_path / "people.csv", index=False)
    policy = tmp_path / "policy.toml"
    columns = 'score = "s"\nlabel = "y"\ngroup = ["g"]\nweight = "w"\nbootstrap = 19\n'
    for kind, code in (("", 2), ('weight_kind = "sampling"\n', 0)):
        policy.write_text(f'[audit]\n{columns}{kind}\n[[rule]]\nmeasure = "demographic_parity"\nat_most = 0.9\n')
        assert run("check", str(tmp_path / "people.csv"), "--policy", str(policy)).returncode == code
    how = ["--score", "s", "--label", "y", "--group", "g", "--weight", "w"]
    for command, *more in (["projection-test"], ["tabulate", "--output", str(tmp_path / "people.table")]):
        asked = run(command, str(tmp_path / "people.csv"), *how, *more)
        assert asked.returncode == 2
        assert "--weight-kind sampling" in asked.stderr
        assert len(asked.stderr.strip().splitlines()) == 1
        assert run(command, str(tmp_path / "people.csv"), *how, *more, "--weight-kind", "sampling").returncode == 0


@pytest.mark.parametrize("replications", [60, pytest.param(1000, marks=pytest.mark.full)])
def test_survey_weights_said_to_be_such_have_valid_intervals(replications: int) -> None:
    rng = np.random.default_rng(5)
    covered = {"demographic_parity": 0, "abcc": 0}
    for i in range(replications):
        s, g = rng.beta(2, 3, 400), np.repeat([*"ab"], 200)
        data = {"s": s, "g": g, "w": np.ceil(rng.lognormal(4, 1, 400)).astype(int)}
        a = evenhand.audit(
            data, score="s", group="g", weight="w", weight_kind="sampling", score_range=(0, 1),
            measures=list(covered), bootstrap=199, permutations=0, rng=i,
        )  # fmt: skip
        assert isinstance(a, evenhand.Audit)
        for measure in covered:
            ci = a.measure(measure).ci
            assert ci is not None
            covered[measure] += ci[0] <= 0 <= ci[1]
    allowed = 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / replications)
    assert min(covered.values()) >= allowed * replications, json.dumps(covered)
