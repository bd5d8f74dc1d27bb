"""Tolerances of the user's own: the same in Python, on the command line and in a policy, and shown in every report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import called, check_schema, jobs, people
from evenhand import metrics

ROWS = people(400, 2)
SCORED: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
FAST: dict[str, Any] = {"bootstrap": 50, "permutations": 0}
RULES = [{"measure": "abcc", "at_most": 0.1}]
STATED = {"abcc": 0.02, "disparate_impact": 0.95, "independence_uniform_w2": 0.3}


def test_an_audit_judges_by_the_tolerances_stated() -> None:
    asked = ["abcc", "disparate_impact", "independence_uniform_w2", "roc"]
    usual = evenhand.audit(ROWS, **SCORED, **FAST, measures=asked)
    own = evenhand.audit(ROWS, **SCORED, **FAST, measures=asked, tolerance=STATED)
    for id_ in asked:
        a, b = usual.measure(id_), own.measure(id_)
        assert (a.value, a.ci) == (b.value, b.ci)
        assert b.tolerance == STATED.get(id_, a.tolerance)
    gap = own.measure("abcc")
    assert gap.passes is (gap.value <= 0.02)
    assert gap.passes is not evenhand.audit(ROWS, **SCORED, **FAST, tolerance={"abcc": 0.9}).measure("abcc").passes
    assert "tolerance of 0.95 to 1.05263" in own.measure("disparate_impact").interpretation


def test_every_report_prints_them() -> None:
    a = evenhand.data(ROWS, **SCORED).audit(**FAST, tolerance=STATED)
    document = a.to_dict()
    check_schema(document, evenhand.schema("audit"))
    assert document["options"]["tolerance"] == STATED
    line = "Tolerances: area between CDFs (ABCC) 0.02, disparate impact 0.95 to 1.05263"
    assert line in " ".join(str(a).split())
    assert "From 0.95 to 1.05263 is within the tolerance." in a.to_html()
    assert "area between CDFs (ABCC) 0.02, disparate impact 0.95" in a.to_markdown()
    assert "Tolerances" not in str(evenhand.audit(ROWS, **SCORED, **FAST))


def test_the_most_different_pair_several_models_and_periods_too() -> None:
    three = people(400, 3)
    a = evenhand.audit(three, **SCORED, **FAST, tolerance={"abcc": 0.9, "demographic_parity": 0.9})
    assert {one.id: one.passes for one in a.attributes[0].largest if one.tolerance == 0.9} == {
        "abcc": True, "independence_uniform": True, "demographic_parity": True, "delta_dp_b": True,  # one number each
    }  # fmt: skip
    both = evenhand.audit(
        score={"a": ROWS["s"], "b": ROWS["d"]}, label=ROWS["y"], group=ROWS["g"], measures=["abcc"], **FAST,
        tolerance={"abcc": 0.01},
    )  # fmt: skip
    assert [c.audit.measure("abcc").tolerance for c in both.candidates] == [0.01, 0.01]
    months = dict.fromkeys(("2024-01", "2024-02"), evenhand.compas())
    watch = evenhand.monitor(months, measures=["demographic_parity"], baseline=1, tolerance={"demographic_parity": 0.3})
    check_schema(watch.to_dict(), evenhand.schema("monitor"))
    assert watch.to_dict()["baseline"]["comparisons"][0]["passes"] is True
    assert "Tolerances: demographic parity ±0.3" in " ".join(str(watch).split())
    verdict = evenhand.check(ROWS, "abcc <= 0.1", **SCORED, tolerance={"abcc": 0.1})
    check_schema(verdict.to_dict(), evenhand.schema("check"))
    policy = {"audit": {"tolerance": {"abcc": 0.2}}, "rule": RULES}
    assert evenhand.check(ROWS, policy=policy, **SCORED).to_dict()["options"]["tolerance"] == {"abcc": 0.2}


@pytest.mark.parametrize(
    ("tolerance", "message"),
    [
        (0.05, "say of which, as in tolerance={'abcc': 0.05}"),
        ({"abcd": 0.1}, "no measure 'abcd'.*did you mean"),
        ({1: 0.1}, "no measure 1"),
        ({"abcc": np.nan}, "tolerance of abcc is a number from 0 to 1 .by default 0.1., not nan"),
        ({"abcc": -0.1}, "not -0.1"),
        ({"abcc": 1.5}, "not 1.5"),
        ({"abcc": "x"}, "not 'x'"),
        ({"abcc": True}, "not True"),
        ({"abpc": 2.5}, "from 0 to 2"),
        ({"mutual_information": 0.7}, "from 0 to 0.693"),
        ({"treatment_equality": np.inf}, "a finite number from 0"),
        ({"disparate_impact": 0}, "above 0 and up to 1 .by default 0.8., not 0"),
        ({"disparate_impact": 1.25}, "not 1.25"),
        ({"independence_uniform_ratio": 2}, "not 2"),
    ],
)
def test_what_makes_no_sense_is_refused(tolerance: Any, message: str) -> None:
    with pytest.raises(evenhand.UsageError, match=message):
        evenhand.audit(ROWS, **SCORED, tolerance=tolerance)
    with pytest.raises(evenhand.UsageError):
        evenhand.check(ROWS, policy={"audit": {"tolerance": tolerance}, "rule": RULES}, **SCORED)


def test_classes_have_none() -> None:
    with pytest.raises(evenhand.UsageError, match="'tolerance' does not apply"):
        evenhand.audit(jobs(100), label="y", prediction="p", group="g", tolerance={"abcc": 0.1})


def test_a_tolerance_that_nothing_is_held_to_is_said() -> None:
    a = evenhand.audit(ROWS, **SCORED, **FAST, measures=["abcc"], tolerance={"abcc": 0.1, "roc": 0.1})
    assert [note for note in a.notes if "nothing is held to the tolerance of 'roc'" in note]
    assert not [note for note in evenhand.audit(ROWS, **SCORED, **FAST, tolerance={"roc": 0.1}).notes if "held" in note]
    with pytest.raises(evenhand.UsageError, match="the tolerance of abcc is a number"):
        metrics.abcc(ROWS["y"], ROWS["s"], sensitive_features=ROWS["g"], tolerance={"roc": 0.1})


def test_metrics_take_the_tolerance_of_their_measure() -> None:
    ask: dict[str, Any] = {"sensitive_features": ROWS["g"], "bootstrap": 0}
    value = float(metrics.demographic_parity(ROWS["y"], ROWS["d"], **ask))
    assert metrics.demographic_parity(ROWS["y"], ROWS["d"], **ask, tolerance=value + 1e-6).passes is True
    assert metrics.demographic_parity(ROWS["y"], ROWS["d"], **ask, tolerance=value - 1e-6).passes is False
    assert metrics.disparate_impact(ROWS["y"], ROWS["d"], **ask, tolerance={"disparate_impact": 0.1}).passes is True
    with pytest.raises(evenhand.UsageError, match="tolerance of disparate_impact"):
        metrics.disparate_impact(ROWS["y"], ROWS["d"], **ask, tolerance=1.5)


@pytest.mark.parametrize("decisions", [ROWS["d"], ROWS["d"].astype(bool), ROWS["d"].astype(float), list(ROWS["d"])])
def test_a_tolerance_called_threshold_is_not_one_of_scores(decisions: Any) -> None:
    ask: dict[str, Any] = {"sensitive_features": ROWS["g"], "bootstrap": 0, "threshold": 0.1}
    with pytest.raises(evenhand.UsageError, match=r"only 0 and 1, which are decisions already.*say tolerance=0\.1"):
        metrics.demographic_parity(ROWS["y"], decisions, **ask)
    with pytest.raises(evenhand.UsageError, match=r"whatever the threshold.*tolerance=0\.1"):
        metrics.abcc(ROWS["y"], ROWS["s"], **ask)
    assert metrics.demographic_parity(ROWS["y"], ROWS["s"], **ask).value >= 0  # scores have a threshold


def test_the_command_line_takes_them(tmp_path: Path) -> None:
    run = called("demo", "--tolerance", "abcc=0.5", "--tolerance", "roc=0.01", "--measures", "abcc,roc", "--bootstrap",
                 "0", "--permutations", "0", "--json", "-")  # fmt: skip
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    assert {m["id"]: m["tolerance"] for m in document["attributes"][0]["measures"]} == {"abcc": 0.5, "roc": 0.01}
    for said, message in (
        (["abcc"], "--tolerance takes ID=T such as abcc=0.05, not 'abcc'"),
        (["abcc=x"], "--tolerance takes ID=T"),
        (["abcc=nan"], "tolerance of abcc is a number from 0 to 1"),
        (["abcd=0.1"], "no measure 'abcd'"),
        (["abcc=0.1", "abcc=0.2"], "names 'abcc' twice"),
    ):
        run = called("demo", *(part for one in said for part in ("--tolerance", one)))
        assert run.returncode == 2
        assert message in run.stderr
        assert run.stderr.count("\n") == 1
