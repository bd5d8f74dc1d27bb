"""Intersections of some of the group columns: every pair of three, wherever groups are crossed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import evenhand
from evenhand.analyses.audit.explorer import compared
from evenhand.analyses.audit.steps import safe_steps
from evenhand.cli import main
from evenhand.errors import DataError, UsageError
from evenhand.tables.groups import crossings

FEW = {"bootstrap": 0, "permutations": 0}
NAMES = ["a", "b", "c", "a × b", "a × c", "b × c"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    n = 1200
    return {
        "s": rng.random(n).round(2).tolist(), "y": rng.integers(0, 2, n).tolist(),
        "a": rng.choice(["f", "m"], n, p=[0.4, 0.6]).tolist(), "b": rng.choice(["x", "y", "z"], n).tolist(),
        "c": rng.choice(["o", "p"], n).tolist(), "day": rng.choice(["2024-01", "2024-02", "2024-03"], n).tolist(),
    }  # fmt: skip


@pytest.fixture(scope="module")
def table(people):
    return evenhand.tabulate(people, score="s", label="y", group=["a", "b", "c"], depth=2)


def test_every_combination_up_to_a_depth():
    assert crossings(3, 3) == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert crossings(3, 1) == crossings(3, 2)[:3]
    assert crossings(2) == crossings(2, 2) == crossings(2, 9)
    assert crossings(1) == crossings(1, 4) == [(0,)]


def test_a_pair_is_what_an_audit_of_these_two_columns_says(people, table):
    crossed = table.audit(reference={"a": "m", "c": "o"}, **FEW)
    assert [a.name for a in crossed.attributes] == NAMES
    alone = evenhand.audit(people, score="s", label="y", group=["a", "c"], reference={"a": "m", "c": "o"}, **FEW)
    ours, theirs = crossed.to_dict()["attributes"][4], alone.to_dict()["attributes"][2]
    gaps = [(g["id"], g["group"], pytest.approx(g["value"], abs=1e-12, nan_ok=True)) for g in theirs["measures"]
            if g["value"] is not None]  # fmt: skip
    assert [(g["id"], g["group"], g["value"]) for g in ours["measures"] if g["value"] is not None] == gaps
    assert (ours["columns"], ours["reference"]) == (["a", "c"], "m × o")


def test_a_reference_that_nobody_has_is_said_of_its_own_columns():
    data = {"d": [1, 0, 1, 1, 0], "a": list("fmmff"), "b": list("xxyxx"), "c": list("ooopp")}
    audit = evenhand.audit(data, prediction="d", group=["a", "b", "c"], depth=2, reference={"a": "f", "b": "y"}, **FEW)
    assert [n for n in audit.notes if "nobody" in n] == ["nobody is in 'f × y', so 'f × x' is the reference of 'a × b'"]


def test_a_saved_table_keeps_its_depth_and_can_be_looked_at_otherwise(table, tmp_path):
    table.save(tmp_path / "t.parquet")
    loaded = evenhand.load(tmp_path / "t.parquet")
    assert loaded == table
    assert loaded.digest() == table.digest() != table.crossed(None).digest()
    assert [g.name for g in loaded.groupings] == NAMES
    found = evenhand.audit(tmp_path / "t.parquet", depth=3, **FEW)
    assert [a.name for a in found.attributes] == [*NAMES, "a × b × c"]
    assert [a.name for a in evenhand.audit(table, depth=1, **FEW).attributes] == ["a", "b", "c"]


def test_tables_of_different_depth_do_not_add_up(table):
    with pytest.raises(UsageError, match="the depth of intersections is 2 in one and None in the other"):
        table + table.crossed(None)
    assert (table + table).depth == 2


@pytest.mark.parametrize("depth", [0, -1, 1.5, "2", True])
def test_a_depth_is_a_whole_number(people, depth):
    with pytest.raises(UsageError, match="depth must be a whole number from 1"):
        evenhand.audit(people, score="s", group=["a", "b", "c"], depth=depth)


def test_not_every_combination_of_many_columns(people):
    groups = {f"g{i}": people["a"] for i in range(30)}
    with pytest.raises(DataError, match=r"up to 3 of 30 group columns make 4,525"):
        evenhand.tabulate(score=people["s"], group=groups, depth=3)
    with pytest.raises(DataError, match="rename columns"):
        evenhand.tabulate(score=people["s"], group={k: people["a"] for k in ("a", "b", "a × b")}, depth=2)


def test_rows_left_out_are_known_by_pair(people):
    lacking = {**people, "s": [None, None, *people["s"][2:]]}
    audit = evenhand.audit(lacking, score="s", group=["a", "b", "c"], depth=2, missing="drop", **FEW)
    table = evenhand.tabulate(lacking, score="s", group=["a", "b"], missing="drop")
    wanted = table.left_out_of(table.groupings[-1])
    assert [g.left_out for g in audit.attributes[3].groups] == wanted
    assert sum(wanted) == 2


def test_a_gate_sees_a_pair_of_which_every_row_was_left_out():
    data = {"d": [1, 0, 1, 1, None], "a": list("fmmff"), "b": list("xxyxy"), "c": list("opopo")}
    verdict = evenhand.check(
        data, prediction="d", group=["a", "b", "c"], depth=2, missing="drop", bootstrap=0,
        require="demographic_parity <= 0.9 for a × b",
    )  # fmt: skip
    assert "because every row of this group was left out" in str(verdict.to_dict())


def test_rules_are_about_pairs_too(table, tmp_path):
    verdict = table.check(require=["demographic_parity <= 0.9 for b × c", "equalized_odds <= 0.9"], bootstrap=0)
    assert {f["attribute"] for f in verdict.to_dict()["findings"]} == set(NAMES)
    with pytest.raises(UsageError, match="'a × b × c' is not an attribute"):
        table.check(require="demographic_parity <= 0.9 for a × b × c", bootstrap=0)
    policy = tmp_path / "p.toml"
    policy.write_text('[audit]\ndepth = 2\n[[rule]]\nmeasure = "abcc"\nat_most = 0.9\nattribute = ["a × b", "c"]\n')
    found = table.crossed(None).check(policy=policy, bootstrap=0)
    assert {f["attribute"] for f in found.to_dict()["findings"]} == {"a × b", "c"}
    policy.write_text(policy.read_text().replace("depth = 2", 'depth = "two"'))
    with pytest.raises(UsageError, match=r"line 2: .*depth is a whole number of group columns"):
        table.check(policy=policy)


def test_suppression_says_of_pairs_that_they_lack_people(people, table):
    new = {"a": "q", "b": "x", "c": "o"}  # enough people to tell how many they are, but not with every label
    rare = {name: [*column, *(column[:12] if name not in new else [new[name]] * 12)] for name, column in people.items()}
    counted = evenhand.tabulate(rare, score="s", label="y", group=["a", "b", "c"], depth=2)
    shared = evenhand.suppressed(counted, below=10, ranges=1)
    assert shared.depth == 2
    assert shared.provenance.withheld
    assert shared.provenance.incomplete == (("b", "x"), ("b × c", "x × o"), ("c", "o"))
    audit = shared.audit(**FEW)
    pair = next(a for a in audit.attributes if a.name == "b × c")
    assert {g.group for g in pair.measures if "withheld" in (g.undefined or "")} == {"x × o"}
    with pytest.raises(DataError, match="do two groups have all of their people"):
        evenhand.suppressed(counted, below=13, ranges=1).audit(depth=1, **FEW)
    unknown = evenhand.suppressed(counted.crossed(None), below=10, ranges=1)
    with pytest.raises(UsageError, match="groups were withheld when the table was suppressed"):
        unknown.crossed(2)
    assert unknown.crossed(1).depth == 1  # nothing new is asked for
    assert evenhand.suppressed(table, below=5).crossed(3).depth == 3  # nobody was withheld


def test_all_that_is_asked_of_tables(people, table):
    assert table.thresholds(attribute=["a", "c"]).to_dict()["attribute"] == "a × c"
    assert table.curves(attribute=["b", "c"]).attribute == "b × c"
    watched = evenhand.monitor(
        people, time="day", baseline=1, score="s", group=["a", "b", "c"], depth=2, reference={"a": "m"},
        measures=["demographic_parity"], bootstrap=0, min_people=2,
    )  # fmt: skip
    assert {c["attribute"] for c in watched.to_dict()["periods"][0]["comparisons"]} == set(NAMES)
    models = evenhand.audit({**people, "t": people["s"][::-1]}, score=["s", "t"], label="y", group=["a", "b", "c"],
                            depth=2, measures=["demographic_parity"], **FEW)  # fmt: skip
    assert [a["name"] for a in models.to_dict()["candidates"][0]["audit"]["attributes"]] == NAMES
    classes = {**people, "job": people["b"], "guess": people["b"][::-1]}
    many = evenhand.audit(classes, label="job", prediction="guess", group=["a", "c", "day"], depth=2, **FEW)
    assert [a["name"] for a in many.to_dict()["attributes"]][3:] == ["a × c", "a × day", "c × day"]
    one = evenhand.aggregate(classes, label="job", prediction="guess", group=["a", "c", "day"], depth=2,
                             attribute="a × c", **FEW)  # fmt: skip
    assert len(one.groups) == 4
    with pytest.raises(UsageError, match="say which attribute"):
        evenhand.aggregate(classes, label="job", prediction="guess", group=["a", "c", "day"], depth=2, **FEW)


def test_the_page_draws_pairs_and_its_explorer_tells_nobody_apart(table):
    audit = table.audit(measures=["demographic_parity", "abcc"], **FEW)
    page = audit.to_html()
    assert all(group in page for group in ("x × o", "z × p"))
    references = {a.name: a.reference for a in audit.attributes}
    steps = safe_steps(table, compared(table, references), references, 4000, 0.5)
    # the numbers of all pairs tell those who are alike in all three: 1[a=b] + 1[b=c] + 1[a=c] is 1 or 3
    assert set(steps.known) <= {"a", "b", "c"}
    deep = audit.table.crossed(3).audit(measures=["demographic_parity"], **FEW)
    references = {a.name: a.reference for a in deep.attributes}
    steps = safe_steps(deep.table, compared(deep.table, references), references, 4000, 0.5)
    assert set(steps.known) in ({"a", "b", "c"}, {*NAMES, "a × b × c"}, {"a"})


def test_the_command(people, tmp_path, capsys):
    rows = tmp_path / "d.csv"
    rows.write_text("s,a,b,c\n" + "\n".join(map(",".join, zip(map(str, people["s"]), *(people[g] for g in "abc"),
                                                              strict=True))))  # fmt: skip
    options = ["audit", str(rows), "--score", "s", "--group", "a,b,c", "--bootstrap", "0", "--permutations", "0",
               "--measures", "abcc", "--json", "-"]  # fmt: skip
    main([*options, "--depth", "2"])
    assert [a["columns"] for a in json.loads(capsys.readouterr().out)["attributes"]][-1] == ["b", "c"]
    with pytest.raises(SystemExit, match="2"):
        main([*options, "--depth", "0"])
    assert capsys.readouterr().err == "evenhand: depth must be a whole number from 1, not 0\n"
