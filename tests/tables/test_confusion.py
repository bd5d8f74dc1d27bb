"""The confusion table: every engine gives the same, files keep it, tables add up, bad input is refused."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given as for_all, settings, strategies as st

import evenhand
from conftest import WORDS, called as run, evenhand as process, jobs
from evenhand.tables.cells import Attribute


def test_counts_are_those_of_a_loop_over_rows() -> None:
    columns = jobs()
    t = evenhand.tabulate(columns, **{**WORDS, "group": ["g", "h"]})
    assert isinstance(t, evenhand.Confusion)
    expected: dict[tuple[str, ...], int] = {}
    for key in zip(columns["g"], columns["h"], columns["y"], columns["p"], strict=True):
        expected[tuple(map(str, key))] = expected.get(tuple(map(str, key)), 0) + 1
    found = {
        (t.attributes[0].groups[a], t.attributes[1].groups[b], t.classes[y], t.classes[p]): int(n)
        for a, b, y, p, n in zip(*t.codes, t.true, t.predicted, t.n, strict=True)
    }
    assert found == expected
    assert [g.name for g in t.groupings] == ["g", "h", "g × h"]
    sums = t.counts(t.groupings[2]).sums()
    for c, name in enumerate(t.classes):
        for g, (a, b) in enumerate(t.groupings[2].members):
            own = (columns["g"] == a) & (columns["h"] == b)
            assert sums.hits[c, g] == (own & (columns["y"] == name) & (columns["p"] == name)).sum()
            assert sums.true[c, g] == (own & (columns["y"] == name)).sum()
            assert sums.predicted[c, g] == (own & (columns["p"] == name)).sum()
            assert sums.total[0, g] == own.sum()


def test_two_values_are_a_table_of_decisions_as_ever() -> None:
    assert isinstance(evenhand.tabulate({"y": [0, 1], "p": [1, 1], "g": ["a", "b"]}, **WORDS), evenhand.Table)
    two = {"y": ["no", "yes"], "p": ["yes", "yes"], "g": ["a", "b"]}
    with pytest.raises(evenhand.DataError, match="favourable value 1 is not in label column"):
        evenhand.tabulate(two, **WORDS)
    t = evenhand.tabulate(two, **WORDS, classes=True)
    assert isinstance(t, evenhand.Confusion)
    assert t.classes == ("no", "yes")


@pytest.mark.parametrize("more", [{"favorable": 1}, {"favorable": "1"}, {"score": "s"}, {"classes": False}])
def test_three_labels_are_refused_where_two_are_meant(more: dict[str, Any]) -> None:
    columns = {"y": [0, 1, 2], "p": [0, 1, 1], "g": ["a", "b", "a"], "s": [0.1, 0.2, 0.3]}
    with pytest.raises(evenhand.DataError, match=r"label has two values, but column 'y' has 3"):
        evenhand.tabulate(columns, **WORDS, **more)


def test_classes_stand_in_the_order_of_numbers() -> None:
    t = evenhand.tabulate({"y": [10, 9, 2], "p": [2, 9, 10], "g": ["a", "b", "a"]}, **WORDS)
    assert t.classes == ("2", "9", "10")


ENGINES = ["pandas", "polars", "polars-lazy", "pyarrow", "duckdb", "dask", "csv", "parquet", "jsonl", "feather", "glob"]


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("weight", [None, "w", "k"])
def test_every_engine_gives_the_same(kind: str, weight: str | None, tmp_path: Path) -> None:
    engines = pytest.importorskip("test_engines")
    columns = jobs(300)
    columns["w"] = np.round(columns["w"] * 64) / 64  # sums in any order
    weights = {"weight": weight, "weight_kind": "frequency" if weight == "k" else "auto"}
    expected = evenhand.tabulate(columns, **WORDS, **weights)
    data = engines.given(kind, engines.pd.DataFrame(columns), tmp_path)
    assert evenhand.tabulate(data, **WORDS, **weights) == expected
    some = evenhand.tabulate(columns, **WORDS, **weights, where={"h": "x"})
    assert some.rows < expected.rows
    assert evenhand.tabulate(data, **WORDS, **weights, where={"h": "x"}) == some


def test_numbers_and_truth_values_are_classes_alike(tmp_path: Path) -> None:
    engines = pytest.importorskip("test_engines")
    frame = engines.pd.DataFrame({"y": [1, 2, 3, 1], "p": [1.0, 2.0, 2.0, 3.0], "g": ["a", "b", "a", "b"]})
    expected = evenhand.tabulate(frame, **WORDS)
    assert expected.classes == ("1", "2", "3")
    for kind in ("csv", "parquet", "jsonl", "polars", "pyarrow"):
        assert evenhand.tabulate(engines.given(kind, frame, tmp_path), **WORDS) == expected


# ---- adding, keeping ---------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@for_all(st.integers(1, 60), st.integers(0, 1000), st.integers(0, 60))
def test_adding_tables_is_concatenating_rows(n: int, seed: int, cut: int) -> None:
    columns = jobs(n, seed=seed)
    parts = [{k: v[:cut] for k, v in columns.items()}, {k: v[cut:] for k, v in columns.items()}]
    parts = [p for p in parts if len(p["y"])]
    strange = [(set(p["p"]), set(p["p"]) - set(p["y"])) for p in parts]
    assume(not any(2 * len(unknown) > len(guessed) > 1 for guessed, unknown in strange))  # refused as another code
    tables = [evenhand.tabulate(p, **WORDS, classes=True) for p in parts]
    whole = evenhand.tabulate(columns, **WORDS, classes=True)
    assert sum(tables) == whole
    assert sum(reversed(tables)).digest() == whole.digest()


def test_different_classes_are_united_and_different_meanings_refused() -> None:
    a = evenhand.tabulate({"y": list("abc"), "p": list("abb"), "g": list("xyx")}, **WORDS)
    b = evenhand.tabulate({"y": list("bde"), "p": list("bdd"), "g": list("xyz")}, **WORDS)
    assert (a + b).classes == ("a", "b", "c", "d", "e")
    assert (a + b) == (b + a)
    other = evenhand.tabulate(
        {"z": list("abc"), "p": list("abb"), "g": list("xyx")}, label="z", prediction="p", group="g"
    )
    with pytest.raises(evenhand.UsageError, match="the label is 'y' in one and 'z' in the other"):
        a + other
    with pytest.raises(TypeError):
        a + evenhand.compas()


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_file_keeps_everything(weight: str | None, tmp_path: Path) -> None:
    t = evenhand.tabulate(jobs(), **{**WORDS, "group": ["g", "h"]}, weight=weight)
    t.save(tmp_path / "t.table")
    assert evenhand.load(tmp_path / "t.table") == t
    for same in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert same == t
    with pytest.raises(ValueError, match="read-only"):
        t.n[0] = 5
    with pytest.raises(evenhand.UsageError, match="saved table already"):
        evenhand.tabulate(tmp_path / "t.table", **WORDS)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "t.table"
    evenhand.tabulate(jobs(), **WORDS).save(path)
    about = duckdb.sql(f"SELECT value FROM parquet_kv_metadata('{path}')").fetchall()[0][0].decode()

    def rewritten(change: str = "*", **edit: Any) -> Path:
        bad = tmp_path / "bad.table"
        meta = json.dumps({**json.loads(about), **edit}).replace("'", "''")
        duckdb.sql(
            f"COPY (SELECT {change} FROM read_parquet('{path}')) TO '{bad}' "
            f"(FORMAT parquet, KV_METADATA {{evenhand: '{meta}'}})"
        )
        return bad

    assert evenhand.load(rewritten()) == evenhand.load(path)
    for bad, message in (
        (lambda: rewritten("* REPLACE (n + 1 AS n)"), "do not match its digest"),
        (lambda: rewritten("* REPLACE (-n AS n)"), "must hold whole numbers, 1 to"),
        (lambda: rewritten("* REPLACE ('nobody' AS label)"), "damaged"),
        (lambda: rewritten("* EXCLUDE (prediction)"), "damaged"),
        (lambda: rewritten(classes=["class 0", "class 0"]), "damaged"),
        (lambda: rewritten(schema="evenhand/confusion/2"), "upgrade evenhand"),
        (lambda: rewritten(schema="evenhand/confusing/1"), "unknown table format"),
    ):
        with pytest.raises(evenhand.TableFileError, match=message):
            evenhand.load(bad())


def test_merge_on_the_command_line(tmp_path: Path) -> None:
    columns = jobs(200)
    whole = evenhand.tabulate(columns, **WORDS)
    for i in (0, 1):
        evenhand.tabulate({k: v[i::2] for k, v in columns.items()}, **WORDS).save(tmp_path / f"{i}.table")
    done = process("merge", tmp_path / "0.table", tmp_path / "1.table", "-o", tmp_path / "sum.table")
    assert done.returncode == 0, done.stderr
    assert evenhand.load(tmp_path / "sum.table") == whole
    evenhand.compas().save(tmp_path / "c.table")
    done = run("merge", tmp_path / "0.table", tmp_path / "c.table", "-o", tmp_path / "x.table")
    assert (done.returncode, done.stdout) == (2, "")
    assert "one of classes" in done.stderr


# ---- one class, two classes ------------------------------------------------------------------------------------------


def test_one_class_against_the_rest_is_a_table_of_decisions() -> None:
    columns = jobs()
    t = evenhand.tabulate(columns, **WORDS, weight="w")
    one = t.of_class("class 2")
    expected = evenhand.tabulate(
        {"y": columns["y"] == "class 2", "p": columns["p"] == "class 2", "g": columns["g"], "w": columns["w"]},
        **WORDS,
        weight="w",
    )
    np.testing.assert_array_equal(one.n, expected.n)
    np.testing.assert_allclose(one.weight, expected.weight)
    audit = evenhand.audit(one, bootstrap=0, permutations=0)
    sums = t.counts(t.groupings[0]).sums()
    tpr = {g.name: g.rates["tpr"].value for g in audit.attributes[0].groups}
    for g, name in enumerate(t.groupings[0].groups):
        assert tpr[name] == pytest.approx(sums.hits[2, g] / sums.true[2, g])
    with pytest.raises(evenhand.UsageError, match="did you mean 'class 2'"):
        t.of_class("clas 2")


def test_a_table_of_decisions_is_one_of_two_classes() -> None:
    table = evenhand.tabulate({"y": [0, 1, 1, 0], "p": [1, 1, 0, 0], "g": list("abab")}, **WORDS)
    t = evenhand.Confusion.of_table(table)
    assert t.classes == ("0", "1")
    assert t.rows == 4
    with pytest.raises(evenhand.UsageError, match="no prediction"):
        evenhand.Confusion.of_table(evenhand.compas())


# ---- bad input -------------------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {"y": list("abcabc"), "p": list("abbabc"), "g": list("xyxyxy")}
BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "null class": ({"y": ["a", None, "c", "a", "b", "c"]}, {}, r"1 rows without a label 'y' \(by g: y 1\)"),
    "nan prediction": ({"p": ["a", float("nan"), "c", "a", "b", "c"]}, {}, "1 rows without a prediction 'p'"),
    "no group": ({"g": ["x", None, "x", "y", "x", "y"]}, {}, "1 rows without a group 'g'"),
    "scores": ({"p": [0.1, 0.2, 0.7, 0.3, 0.9, 0.4]}, {}, "'p' holds '0.1': if it is a score"),
    "scores and two labels": (
        {"y": [0, 1, 0, 1, 0, 1], "p": [0.1, 0.2, 0.7, 0.3, 0.9, 0.4]}, {}, "prediction has two values.*score=",
    ),
    "other words": ({"p": list("uvwuvw")}, {}, "of the 3 values of 'p' only 0 occur in 'y'.*code predictions"),
    "negative weight": ({"w": [1, 1, -1, 1, 1, 1]}, {"weight": "w"}, "weights must not be negative"),
    "weights of zero": ({"w": [0] * 6}, {"weight": "w"}, "no rows are left"),
    "fractional frequencies": ({"w": [0.5] * 6}, {"weight": "w", "weight_kind": "frequency"}, "whole numbers"),
    "clusters": ({"c": list("112233")}, {"cluster": "c"}, "clusters are not known"),
    "unknown column": ({}, {"label": "Y"}, "no column 'Y'.*did you mean 'y'"),
    "lengths": ({"p": list("abc")}, {}, "same length"),
    "classes and a score": ({"s": [0.1] * 6}, {"score": "s", "classes": True}, "no use for 'score'"),
    "classes is odd": ({}, {"classes": "yes"}, "True, False or None"),
    "where is odd": ({}, {"where": "g=x"}, "where is a dict"),
    "where nothing": ({}, {"where": {"g": "q"}}, "no row has 'q' in 'g'"),
    "where nowhere": ({}, {"where": {"q": "x"}}, "no column 'q'"),
    "no rows": ({"y": [], "p": [], "g": []}, {"classes": True}, "no rows"),
    "lists": ({"y": [["a"], ["b"], ["c"], ["a"], ["b"], ["c"]]}, {}, "one-dimensional"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_makes_no_sense_is_refused(name: str) -> None:
    change, words, message = BAD[name]
    with pytest.raises((evenhand.DataError, evenhand.UsageError), match=message):
        evenhand.tabulate({**GOOD, **change}, **{**WORDS, **words})


def test_incomplete_rows_are_left_out_on_request() -> None:
    columns = {**GOOD, "y": ["a", None, "c", "a", "b", "c"], "p": ["a", "b", float("inf"), "a", "b", "c"]}
    t = evenhand.tabulate(columns, **WORDS, missing="drop")
    assert t.rows == 4
    assert dict(t.left_out) == {"without a label 'y'": 1, "without a prediction 'p'": 1}
    assert {a: dict(g) for a, g in t.left_out_groups.items()} == {"g": {"x": 1, "y": 1}}


def test_a_thousand_numbers_are_no_classes() -> None:
    n = 1500
    columns = {"y": np.arange(n), "p": np.arange(n), "g": np.array(["a", "b"])[np.arange(n) % 2]}
    with pytest.raises(evenhand.DataError, match="a class is one of few, but column 'y' has 1,500 different numbers"):
        evenhand.tabulate(columns, **WORDS)
    t = evenhand.tabulate({**columns, "y": columns["y"] % 900, "p": columns["p"] % 900}, **WORDS)
    assert len(t.classes) == 900


def test_a_group_that_repeats_everybody_is_found() -> None:
    long = {"group": [], "true": [], "pred": [], "count": []}
    for group, k in (("a", 2), ("b", 3), ("overall", 5)):
        for true in "xyz":
            for pred in "xyz":
                for name, value in zip(long, (group, true, pred, k + (group == "overall" and 0)), strict=True):
                    long[name].append(value)
    words = {"label": "true", "prediction": "pred", "group": "group", "weight": "count"}
    with pytest.raises(evenhand.DataError, match=r"'overall' in 'group' are exactly the sum.*--where group=a,b"):
        evenhand.tabulate(long, **words)
    assert evenhand.tabulate(long, **words, where={"group": ["a", "b"]}).rows == 45
    # two equal groups are no such thing, nor are three of single people
    alike = {"group": list("ab"), "true": list("xx"), "pred": list("xz"), "count": [3, 3]}
    assert evenhand.tabulate(alike, **words, classes=True).rows == 6


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    names = ["'); DROP TABLE x; --", "[bold red]", "\u202e", "a" * 5000, "×", "\ud800"]
    columns = {"y": names * 2, "p": names * 2, "g": [names[0]] * 6 + [names[1]] * 6}
    t = evenhand.tabulate(columns, **WORDS)
    t.save(tmp_path / "t.table")
    assert evenhand.load(tmp_path / "t.table") == t
    assert len(t.classes) == 6
    text = repr(evenhand.audit(t, bootstrap=50, permutations=50))
    assert max(map(len, text.splitlines())) <= 80
    assert "<script" not in evenhand.audit(t, bootstrap=0, permutations=0)._repr_html_()


def test_a_table_checks_itself() -> None:
    zero = np.zeros(1, np.int32)
    good: dict[str, Any] = {
        "attributes": (Attribute("g", ("a",)),), "codes": zero[None], "n": np.ones(1, np.int64), "true": zero,
        "predicted": zero, "classes": ("x",),
    }  # fmt: skip
    assert evenhand.Confusion(**good).rows == 1
    for change in (
        {"classes": ()}, {"classes": ("x", "x")}, {"true": zero + 1}, {"predicted": zero - 1}, {"n": zero},
        {"weight": np.ones(1)}, {"weight": np.ones(1), "weight2": np.array([np.nan])}, {"codes": zero},
        {"left_out": {"why": 0}}, {"attributes": ()}, {"true": np.zeros(2, np.int32)},
    ):  # fmt: skip
        with pytest.raises(evenhand.DataError, match="a confusion table needs"):
            evenhand.Confusion(**{**good, **change})


# ---- counts and where ------------------------------------------------------------------------------------------------

COUNTS = "group,true,pred,count\nf,a,a,5\nf,b,b,4\nf,a,b,2\nm,a,a,6\nm,b,a,3\nm,c,c,4\nf,c,a,3\n"
LONG = {"label": "true", "prediction": "pred", "group": "group"}


def test_counts_are_not_taken_for_rows(tmp_path: Path) -> None:
    file = tmp_path / "conf.csv"
    file.write_text(COUNTS, encoding="utf-8")
    for read in (evenhand.tabulate, evenhand.audit, evenhand.aggregate):
        with pytest.raises(evenhand.UsageError, match=r"say weight='count' \(--weight count\)"):
            read(file, **LONG)
    assert evenhand.tabulate(file, **LONG, weight="count").rows == 27
    lines = [line.split(",") for line in COUNTS.split()]
    columns: dict[str, Any] = dict(zip(lines[0], map(list, zip(*lines[1:], strict=True)), strict=True))
    numbers = {**columns, "count": [int(n) for n in columns["count"]]}
    with pytest.raises(evenhand.UsageError, match="drop that column"):
        evenhand.tabulate(numbers, **LONG)
    for name, values in (("count", columns["group"]), ("count", [0.5] * 7), ("n", [1] * 7), ("total", [9] * 7)):
        rest = {k: v for k, v in columns.items() if k != "count"}
        assert evenhand.tabulate({**rest, name: values}, **LONG).rows == 7
    twice = {k: v * 2 for k, v in numbers.items()}
    assert evenhand.tabulate(twice, **LONG).rows == 14
    with pytest.raises(evenhand.UsageError, match="--weight count"):
        evenhand.tabulate({**twice, "split": ["test"] * 7 + ["valid"] * 7}, **LONG)


def test_counts_need_no_words_anywhere(tmp_path: Path) -> None:
    file, table = tmp_path / "conf.csv", tmp_path / "c.table"
    file.write_text(COUNTS, encoding="utf-8")
    assert run("tabulate", file, "-o", table).returncode == 0
    assert evenhand.load(table) == evenhand.tabulate(file, **LONG, weight="count")
    quick = ("--bootstrap", "0", "--permutations", "0")
    for command in ("audit", "aggregate"):
        done = run(command, file, *quick)
        assert "27 people" in done.stdout, done.stderr
    done = run("aggregate", file, "--group", "group", *quick)
    assert "27 people" in done.stdout, done.stderr
    refused = run("aggregate", table, "--group", "group")
    assert "a table knows its columns already: leave out 'group'" in refused.stderr
    table.write_bytes(table.read_bytes()[:-20])
    assert "is damaged, its end is missing: copy it again" in run("aggregate", table).stderr
    assert "seed" in run("aggregate", file, "--seed", "-1").stderr


def test_chosen_rows_are_said(tmp_path: Path) -> None:
    columns = jobs(300)
    t = evenhand.tabulate(columns, **WORDS, where={"h": "x"})
    note = f"only rows with h = 'x' were counted ({t.rows} of 300)"
    assert note in t.notes
    t.save(tmp_path / "t.table")
    loaded = evenhand.load(tmp_path / "t.table")
    assert note in loaded.notes
    quick = {"bootstrap": 0, "permutations": 0}
    assert note in evenhand.audit(loaded, **quick).to_dict()["notes"]
    assert note in evenhand.aggregate(loaded, **quick).to_dict()["notes"]
    binary = {"s": [0.1, 0.9] * 20, "g": list("fm") * 20, "k": list("aabb") * 10}
    found = evenhand.audit(binary, score="s", group="g", where={"k": "a"}, **quick)
    assert "only rows with k = 'a' were counted (20 of 40)" in found.notes


def test_where_takes_whatever_holds_values() -> None:
    columns = {**jobs(300), "i": np.arange(300) % 5}
    expected = evenhand.tabulate(columns, **WORDS, where={"i": [1, 2]})
    assert "i = 1 or 2 were" in expected.notes[0]
    for values in (np.array([1, 2]), range(1, 3), (1, 2), {1, 2}, ["1", "2"], np.array([1.0, 2.0])):
        assert evenhand.tabulate(columns, **WORDS, where={"i": values}) == expected
    assert evenhand.tabulate(columns, **WORDS, where={}) == evenhand.tabulate(columns, **WORDS)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"h": ["x", "zzz"]}, r"no row has 'zzz' in 'h' \(it has: 'x', 'z'\)"),
        ({"g": ["g0", "g11"]}, r"no row has 'g11' in 'g' .*did you mean 'g1'"),
        ({"h": []}, "at least one value of 'h'"),
        ({"h": float("inf")}, "no row has inf in 'h'"),
        ({"h": {"x": 1}}, "no row has"),
        ([], "where is a dict"),
        ("h=x", "where is a dict"),
        ({"q": 1}, "no column 'q'"),
    ],
)
def test_where_that_makes_no_sense(where: Any, message: str) -> None:
    with pytest.raises((evenhand.UsageError, evenhand.DataError), match=message):
        evenhand.tabulate(jobs(60), **WORDS, where=where)


@pytest.mark.parametrize("flags", [("g=g0,,g1",), ("g=g0,",), ("g=",), ("g=g0", "g=g1")])
def test_where_on_the_command_line(flags: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("y,p,g\na,a,g0\nb,c,g1\nc,c,g0\na,b,g1\n", encoding="utf-8")
    words = ("--label", "y", "--prediction", "p", "--group", "g")
    done = run("aggregate", file, *words, *(word for flag in flags for word in ("--where", flag)))
    assert (done.returncode, done.stdout) == (2, "")
    assert "--where" in done.stderr
    assert "[" not in done.stderr
