"""The command in a report gives the same report again, and what stands first is chosen by the verdict."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called as run, people
from evenhand.analyses.audit.brief import ranked, worst_first
from evenhand.analyses.audit.verdict import WORDS

ROWS = people(240, 3)
ODD = 'a, "b" $c'
CASES: dict[str, dict[str, Any]] = {
    "scores": {"score": "s", "label": "y", "group": "g"},
    "risk": {
        "score": "s",
        "label": "y",
        "group": "g",
        "risk": True,
        "favorable": 0,
        "threshold": 0.4,
        "reference": "g1",
    },
    "decisions": {"prediction": "d", "group": "g", "confidence": 0.9, "tolerance": {"disparate_impact": 0.9}},
    "two attributes": {
        "score": "s",
        "group": ["g", "h"],
        "reference": {"h": "x"},
        "score_range": (0, 2),
        "threshold": 0.4,
    },
    "both references": {"prediction": "d", "group": ["g", "h"], "reference": {"g": "g0", "h": "x"}},
    "alone": {"score": "s", "group": ["g", "h"], "depth": 1, "ranks": "mid", "calibration_bins": 50},
    "weights": {"score": "s", "label": "y", "group": "g", "weight": "w", "interval": "basic", "stratified": True},
    "measures": {"prediction": "d", "label": "y", "group": "g", "measures": ["disparate_impact", "equalized_odds"]},
    "codes of the prediction": {"prediction": "k", "label": "y", "group": "g", "favorable_prediction": "approve"},
    "bands and rows": {
        "prediction": "d",
        "group": ["g", "w"],
        "bands": {"w": [0.75, 1.125]},
        "where": {"g": ["g0", "g1"], ODD: ["g0", "g1"]},
    },
    "a group of those without one": {"prediction": "d", "group": ["g", "lacking"], "missing": "group"},
    "without those": {"prediction": "d", "group": ["g", "lacking"], "missing": "drop"},
    "no bands": {"prediction": "d", "group": ["many"], "bands": "none"},
    "odd names": {"prediction": "d", "label": "y", "group": [ODD, "h"], "reference": {ODD: "g2", "h": "x"}},
}


@pytest.mark.parametrize("words", CASES.values(), ids=CASES)
def test_the_command_gives_the_same_document(words: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    rows = {**ROWS, ODD: ROWS["g"], "lacking": ["", *ROWS["h"][1:]], "many": [i % 20 for i in range(240)],
            "k": np.where(np.asarray(ROWS["d"]) == 1, "approve", "deny")}  # fmt: skip
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    document = evenhand.audit(str(file), **words, bootstrap=50, permutations=40, rng=7).to_dict()
    first, second, data, *options = shlex.split(document["command"])
    assert (first, second, data) == ("evenhand", "audit", "DATA")
    done = run("audit", file, *options, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(document))


def test_left_out_rows_are_left_out_again() -> None:
    data = {"d": [1, 0, None, 1] * 20, "g": ["a", "a", "b", "b"] * 20}
    words = {"prediction": "d", "group": "g", "missing": "drop"}
    assert "--missing drop" in evenhand.audit(data, **words, bootstrap=0).to_dict()["command"]


def test_the_worst_groups_come_first() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 12, 6000)
    data = {"d": (rng.random(6000) < 0.2 + 0.05 * group).astype(int), "g": group.astype(str)}
    attribute = evenhand.audit(data, prediction="d", group="g", reference="3").to_dict()["attributes"][0]
    names = [g["name"] for g in ranked(attribute)]
    assert names[0] == "3"
    assert names[1:] == worst_first(attribute)
    assert names[1] == attribute["verdict"]["worst"]["group"]
    places = [WORDS.index(attribute["verdict"]["groups"][name]) for name in names[1:]]
    assert places == sorted(places)
    rates = {g["name"]: g["rates"]["selection_rate"]["value"] for g in attribute["groups"]}
    unequal = [abs(rates[n] - rates["3"]) for n, place in zip(names[2:], places[1:], strict=True) if place == 0]
    assert len(unequal) > 3
    assert unequal == sorted(unequal, reverse=True)


def test_what_changes_the_reading_comes_before_other_notes() -> None:
    data = {"s": [3.0, 9.0] * 20 + [5.0], "g": ["a", "b"] * 20 + ["c"]}
    audit = evenhand.audit(data, score="s", group="g", bootstrap=0)
    assert audit.notes[: len(audit.caveats)] == audit.caveats
    assert any("no threshold was given" in note for note in audit.caveats)
    assert any("too small to conclude anything" in note for note in audit.caveats)
    assert any("scores leave [0, 1]" in note for note in audit.notes)
    assert not any("scores leave [0, 1]" in note for note in audit.caveats)
