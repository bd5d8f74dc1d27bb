"""Columns are said once, and questions asked of data and tables are those of the public functions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.ingest.roles import Roles

QUICK = {"bootstrap": 0, "permutations": 0}


def rows(n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    s, q = rng.uniform(0.1, 0.9, n), rng.random(n)
    return {
        "s": s.round(2), "q": q.round(2), "y": (rng.random(n) < s).astype(int), "d": (s > 0.5).astype(int),
        "g": rng.choice(["f", "m"], n), "t": np.arange(n) // 100, "c": rng.choice(list("xyz"), n),
        "k": rng.choice(list("xyz"), n),
    }  # fmt: skip


COLUMNS = {"score": "s", "label": "y", "group": "g"}


def test_data_answer_as_the_public_functions_do() -> None:
    data, people = rows(), evenhand.data(rows(), **COLUMNS)
    assert people.table() == evenhand.tabulate(data, **COLUMNS)
    assert people.table(cuts=[0.123]) == people.table()
    audited = people.audit(threshold=0.3, **QUICK)
    assert audited.to_json() == evenhand.audit(data, **COLUMNS, threshold=0.3, **QUICK).to_json()
    policy = {"require": "abcc <= 0.2", "threshold": 0.3}
    assert people.check(**policy).to_json() == evenhand.check(data, **COLUMNS, **policy).to_json()
    assert people.thresholds(bootstrap=0).to_json() == evenhand.thresholds(data, **COLUMNS, bootstrap=0).to_json()
    how = {"time": "t", "every": "value", "baseline": 2, "bootstrap": 0}
    assert people.monitor(**how).to_json() == evenhand.monitor(data, **COLUMNS, **how).to_json()
    tested = evenhand.projection_test(data, **COLUMNS)
    assert people.projection_test().to_json() == tested.to_json()
    assert people.curves().names == evenhand.curves(people.table()).names
    several = evenhand.data(data, score=["s", "q"], label="y", group="g")
    assert type(several.audit(**QUICK)).__name__ == "CandidateAudit"
    assert several.table().names == ("s", "q")
    jobs = evenhand.data(data, label="c", prediction="k", group="g")
    assert type(jobs.audit(**QUICK)).__name__ == "ClassAudit"
    assert jobs.aggregate(**QUICK).to_json() == evenhand.aggregate(jobs.table(), **QUICK).to_json()
    assert repr(people) == "Data (dict): score 's', label 'y', group 'g'"


def test_tables_have_the_same_verbs() -> None:
    table = evenhand.tabulate(rows(), **COLUMNS)
    assert table.audit(**QUICK).to_json() == evenhand.audit(table, **QUICK).to_json()
    assert table.check(require="abcc <= 0.9").passed
    assert table.thresholds(bootstrap=0).best is not None
    assert table.curves("g").attribute == "g"
    assert table.projection_test().n == 400
    decided = evenhand.tabulate(rows(), prediction="d", label="y", group="g")
    assert decided.aggregate(**QUICK).classes == ("0", "1")
    timed = evenhand.tabulate(rows(), score="s", group=["g", "t"])
    assert timed.monitor(time="t", baseline=2, bootstrap=0).baseline_name
    jobs = evenhand.tabulate(rows(), label="c", prediction="k", group="g")
    assert isinstance(jobs.audit(**QUICK), evenhand.ClassAudit)
    assert isinstance(jobs.aggregate(**QUICK), evenhand.Aggregate)
    joint = evenhand.data(rows(), score={"a": rows()["s"], "b": rows()["q"]}, group=rows()["g"]).table()
    assert isinstance(joint.audit(**QUICK), evenhand.CandidateAudit)
    assert table.audit.__doc__ == "`evenhand.audit` of this table, with its other options."


def test_nothing_is_counted_before_it_is_asked() -> None:
    people = evenhand.data("nowhere.csv", **COLUMNS)
    with pytest.raises(evenhand.DataError, match=r"nowhere\.csv"):
        people.audit()


@pytest.mark.parametrize("ask", ["audit", "check", "data", "monitor", "tabulate", "thresholds", "projection_test"])
def test_what_nobody_knows_is_refused_with_the_nearest(ask: str) -> None:
    with pytest.raises(evenhand.UsageError, match=f"{ask} has no option 'wieght' .*did you mean 'weight'"):
        getattr(evenhand, ask)(rows(), wieght="w")


def test_columns_are_said_once() -> None:
    with pytest.raises(evenhand.UsageError, match="have their columns already: leave out 'label'"):
        evenhand.data(rows(), **COLUMNS).check(label="d", require="abcc <= 0.1")
    with pytest.raises(evenhand.UsageError, match="'refuse', 'drop'"):
        evenhand.data(rows(), **COLUMNS, missing="ignore")


def test_the_favourable_value_is_one_unless_said() -> None:
    assert Roles().favorable == 1
    assert "favorable" not in Roles().said()
    assert Roles(favorable=1).said() == {"favorable": 1}


def test_old_names_still_work() -> None:
    table = evenhand.tabulate(rows(), label="c", prediction="k", group="g")
    with pytest.warns(DeprecationWarning, match="baseline= is now called average="):
        old = evenhand.aggregate(table, baseline="mean", **QUICK)
    assert old.value == evenhand.aggregate(table, average="mean", **QUICK).value
    with pytest.warns(DeprecationWarning, match="baseline= is now called average="):
        evenhand.audit(table, baseline="mean", **QUICK)
    with pytest.warns(DeprecationWarning, match="group= is now called across_groups="):
        old = evenhand.aggregate(table, group="max gap", **QUICK)
    assert old.value == evenhand.aggregate(table, across_groups="max gap", **QUICK).value
    with pytest.warns(DeprecationWarning, match="classes= is now called across_classes="):
        evenhand.aggregate(table, classes=1, **QUICK)
    with pytest.warns(DeprecationWarning, match="group= is now called groups="):
        old = evenhand.curves(evenhand.compas(), group="Caucasian")
    assert old.names == evenhand.curves(evenhand.compas(), groups="Caucasian").names


def test_counts_take_group_for_a_column() -> None:
    counts = {"sex": list("ffmm"), "true": list("abab"), "pred": list("abba"), "count": [5, 4, 3, 2]}
    assert evenhand.aggregate(counts, group="sex", **QUICK).grouping.name == "sex"


ROWS = {"s": [0.1, 0.9, 0.4, 0.8, 0.3, 0.7], "y": [0, 1, 0, 1, 1, 0], "g": list("aabbab")}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (lambda d: evenhand.data(ROWS, scor="s"), "no option 'scor'.*did you mean 'score'"),
        (lambda d: d.audit(treshold=1), "no option 'treshold'.*did you mean 'threshold'"),
        (lambda d: evenhand.check(d.table(), requir="x"), "no option 'requir'.*did you mean 'require'"),
        (lambda d: d.aggregate(), "an aggregate is about classes: .* no score"),
        (lambda d: d.table().check("abcc <= 0.1", score_range=5), "score_range is two numbers"),
        (lambda d: evenhand.audit(d), "have their roles already: ask them"),
        (lambda d: evenhand.data(d.table()).table(grid=False), "counted already: leave grid out"),
        (
            lambda d: evenhand.data(ROWS, score="s", group="g", missing=[1, 2]),
            "missing must be one of 'refuse', 'drop'",
        ),
    ],
)
def test_a_question_that_makes_no_sense_gets_the_way_out(question: Any, answer: str) -> None:
    with pytest.raises(evenhand.UsageError, match=answer):
        question(evenhand.data(ROWS, score="s", label="y", group="g"))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_a_copy_was_told_what_the_original_was_told(again: Any) -> None:
    people = evenhand.data(ROWS, score="s", label="y", group="g")
    assert again(people).roles.said() == people.roles.said() == {"score": "s", "label": "y", "group": "g"}


def test_every_kind_of_table_has_the_same_verbs() -> None:
    jobs = evenhand.tabulate({"job": list("abcab"), "guess": list("abcba"), "sex": list("fmfmf")},
                             label="job", prediction="guess", group="sex")  # fmt: skip
    for verb in ("aggregate", "audit", "check", "curves", "monitor", "projection_test", "thresholds"):
        assert callable(getattr(jobs, verb))
        assert callable(getattr(evenhand.compas(), verb))
    with pytest.raises(evenhand.UsageError, match="needs a label of two values"):
        jobs.check("abcc <= 0.1")
    assert evenhand.compas().check("abcc <= 0.9", bootstrap=0, permutations=0).passed
