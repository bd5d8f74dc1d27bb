"""Folders: their names tell columns that files lack, and replace none; one file is one file, by whatever names."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenhand
from evenhand.cli import main

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="needs links of Unix")
SOURCE = Path(evenhand.__file__).parent


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def parquet(place: str, **columns: Any) -> None:
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def groups(data: Any, group: Any = "g", **more: Any) -> dict[str, int]:
    table = evenhand.tabulate(data, score="s", group=group, missing="drop", **more)
    return dict(zip(table.attributes[0].groups, table.sizes(table.groupings[0]).tolist(), strict=True))


# ---- names of folders -----------------------------------------------------------------------------------------------


def test_a_folder_replaces_no_column() -> None:
    parquet("sweeps/d=1/preds.parquet", d=[1, 1, 0, 0], y=[1, 0, 1, 0], g=list("aabb"))
    for data in ("sweeps", "sweeps/d=1", "sweeps/d=1/preds.parquet", "sweeps/*/*.parquet", "sweeps/d=*/preds.parquet"):
        with pytest.raises(evenhand.DataError, match="tells 'd' is '1', but in its column 'd' it is '0'"):
            evenhand.tabulate(data, prediction="d", label="y", group="g")
    parquet("plain.parquet", d=[1, 1, 0, 0], y=[1, 0, 1, 0], g=list("aabb"))
    assert evenhand.audit("plain.parquet", prediction="d", group="g").measure("demographic_parity").value == 1


def test_another_column_from_a_folder_leaves_those_of_the_file() -> None:
    parquet("sweeps/day=5/d=1/preds.parquet", d=[1, 1], s=[0.1, 0.2], g=list("ab"))
    assert groups("sweeps", ["g", "day"]) == {"a": 1, "b": 1}
    assert groups("sweeps", ["g", "day", "d"]) == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("folder", "held"),
    [
        ("1", [1, 1]), ("01", [1, 1]), ("1.0", [1.0, 1.0]), ("true", [True, True]), ("a%20b", ["a b", "a b"]),
        ("__HIVE_DEFAULT_PARTITION__", [None, None]), ("__HIVE_DEFAULT_PARTITION__", ["", ""]), ("100%", ["100%"] * 2),
    ],
)  # fmt: skip
def test_a_column_of_the_file_may_say_the_same(folder: str, held: list[Any]) -> None:
    parquet(f"d/g={folder}/p.parquet", s=[0.1, 0.2], g=held, h=["a", "b"])
    assert sum(groups("d", "h", where={"g": [held[0]]}).values()) == 2 if held[0] not in (None, "") else True
    assert groups("d", "h") == {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("folder", "held", "said"),
    [
        ("1", [1, None], "missing"), ("a", ["a", "A"], "'A'"), ("__HIVE_DEFAULT_PARTITION__", [None, 3], "'3'"),
        ("New%20York", ["New%20York"] * 2, "'New%20York'"), ("x", [1, 2], "'1'"),
    ],
)  # fmt: skip
def test_a_clash_is_refused_with_both_values(folder: str, held: list[Any], said: str) -> None:
    parquet(f"d/g={folder}/p.parquet", s=[0.1, 0.2], g=held)
    with pytest.raises(evenhand.DataError, match=re.escape(f"in its column 'g' it is {said}: rename")):
        groups("d")


def test_some_files_have_the_column_and_others_its_folder() -> None:
    parquet("d/g=1/p.parquet", s=[0.1, 0.2], g=[1, 1])
    parquet("d/g=2/p.parquet", s=[0.1, 0.2, 0.3])
    parquet("d/rest.parquet", s=[0.5], g=[3])
    assert groups("d") == {"2": 3, "1": 2, "3": 1}
    parquet("d/g=x/p.parquet", s=[0.5])
    with pytest.raises(evenhand.DataError, match="tells 'g' is 'x', but other files hold BIGINT in a column 'g'"):
        groups("d")
    parquet("d/none.parquet", s=[0.5])
    with pytest.raises(evenhand.UsageError, match=r"no column 'g' in 'd/none\.parquet'"):
        groups("d")


def test_folders_may_hold_any_text() -> None:
    for name in ("007", "New%20York", "a%2Fb", "=", "__HIVE_DEFAULT_PARTITION__", "%FF"):
        parquet(f"d/g={name}/p.parquet", s=[0.1])
    assert groups("d") == {"%FF": 1, "007": 1, "=": 1, "New York": 1, "a/b": 1}


def test_only_folders_below_what_was_named_count() -> None:
    parquet("g=home/project/data.parquet", s=[0.1], g=["a"])
    parquet("g=home/project/more/g=b/data.parquet", s=[0.1])
    assert groups("g=home/project") == groups(Path("g=home/project").absolute()) == {"a": 1, "b": 1}
    assert groups("g=home/project/data.parquet") == {"a": 1}
    os.chdir("g=home/project/more/g=b")
    for data in (
        "data.parquet",
        ".",
        Path("data.parquet").absolute(),
        "*.parquet",
        "../g=b",
        f"file://{os.getcwd()}/data.parquet",
    ):
        assert groups(data) == {"b": 1}, data


def test_addresses_have_folders_too(here: Path) -> None:
    parquet("d/g=a/h=1/p.parquet", s=[0.1, 0.2])
    parquet("d/g=b/h=1/p.parquet", s=[0.1], g=["b"])
    assert groups(f"file://{here}/d/*/*/p.parquet") == {"a": 2, "b": 1}
    parquet("d/g=c/h=1/p.parquet", s=[0.1], g=["b"])
    with pytest.raises(evenhand.DataError, match="tells 'g' is 'c', but in its column 'g' it is 'b'"):
        groups(f"file://{here}/d/*/*/p.parquet")


def test_folders_that_differ_in_case() -> None:
    parquet("d/g=x/p.parquet", s=[0.1], G=["a"])
    with pytest.raises(evenhand.DataError, match="has a column 'G', and lies in a folder that tells 'g'"):
        groups("d")
    assert groups("d", "G") == {"a": 1}
    parquet("e/g=1/g=2/p.parquet", s=[0.1], h=["a"])
    assert groups("e", "h") == {"a": 1}
    with pytest.raises(evenhand.DataError, match="contradict each other about 'g'"):
        groups("e")


@pytest.mark.parametrize(("kind", "text"), [("csv", "s\n0.1\n"), ("jsonl", '{"s": 0.1}\n')])
def test_other_files_do_not_take_columns_from_folders(kind: str, text: str) -> None:
    Path("d/g=x").mkdir(parents=True)
    Path(f"d/g=x/p.{kind}").write_text(text)
    with pytest.raises(evenhand.UsageError, match="names of folders are read as columns above Parquet files only"):
        groups("d")


@pytest.mark.parametrize("folder", ["label=1", "n=3", "score=x", "group_0=z", "weight=2"])
def test_saved_tables_lie_in_any_folder(folder: str) -> None:
    Path(folder).mkdir()
    table = evenhand.compas()
    table.save(f"{folder}/c.table")
    assert evenhand.load(f"{folder}/c.table") == table
    confusion = evenhand.tabulate(
        {"y": list("abc"), "p": list("abb"), "g": list("xyx")}, label="y", prediction="p", group="g"
    )
    confusion.save(f"{folder}/k.table")
    assert evenhand.load(f"{folder}/k.table") == confusion


def test_no_engine_is_left_to_guess_about_folders() -> None:
    """DuckDB replaces columns by names of folders unless it is told not to."""
    calls = 0
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for call in re.finditer(r"(?:connection\.|FROM |f\")read_\w+", text):
            calls += 1
            assert re.search(r"hive_partitioning ?= ?(false|False)", text[call.end() : call.end() + 450]), (file, call)
    assert calls >= 5


# ---- one file by several names --------------------------------------------------------------------------------------


def csv(place: str, *people: str) -> None:
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("s,g\n" + "".join(f"0.5,{g}\n" for g in people))


@UNIX
def test_a_file_of_several_names_is_read_once() -> None:
    csv("d/2024-04.csv", "a")
    csv("d/2024-05.csv", "b", "b")
    Path("d/latest.csv").symlink_to("2024-05.csv")
    os.link("d/2024-04.csv", "d/0.csv")
    for data in ("d", "d/*.csv", "./d/../d", "d/**/*.csv"):
        table = evenhand.tabulate(data, score="s", group="g")
        assert table.rows == 3
        assert table.notes == (
            "a file of several names is read once: '2024-04.csv' is '0.csv', 'latest.csv' is '2024-05.csv'",
        )
    audit = evenhand.audit("d", score="s", group="g", bootstrap=0, permutations=0)
    assert any("'latest.csv' is '2024-05.csv'" in note for note in audit.notes)


@UNIX
def test_links_in_a_circle() -> None:
    csv("d/sub/a.csv", "a", "b")
    Path("d/self").symlink_to(".")
    Path("d/sub/up").symlink_to("..")
    Path("d/other").symlink_to("sub")
    for data in ("d", "d/**/*.csv", "d/**"):
        table = evenhand.tabulate(data, score="s", group="g")
        assert table.rows == 2, data
        assert "'sub/a.csv' is 'other/a.csv'" in table.notes[0]


def test_patterns_of_any_depth(tmp_path: Path) -> None:
    import glob

    for name in ("a.csv", "x/a.csv", "x/y/a.csv", "x/.h/a.csv", ".h/x/a.csv", "x/y/b.csv"):
        csv(name, "a")
    from evenhand.files.finding import matching

    for pattern in (
        "**",
        "**/*.csv",
        "x/**/a.csv",
        "**/y/*.csv",
        "**/.h/*.csv",
        "*/**/*.csv",
        "**/x/**/a.csv",
        "no/**",
    ):
        files = {os.path.normpath(name) for name in matching(Path(pattern)) if os.path.isfile(name)}
        assert files == {os.path.normpath(n) for n in glob.glob(pattern, recursive=True) if os.path.isfile(n)}, pattern


@UNIX
def test_one_file_in_folders_that_tell_different_things() -> None:
    parquet("d/g=a/p.parquet", s=[0.1, 0.2], h=["x", "y"])
    Path("d/g=b").mkdir()
    os.link("d/g=a/p.parquet", "d/g=b/p.parquet")
    with pytest.raises(evenhand.DataError, match=r"'d/g=a/p\.parquet' and 'd/g=b/p\.parquet' are one file"):
        groups("d")
    assert groups("d", "h") == {"x": 1, "y": 1}


@UNIX
def test_runs_and_people_are_read_once() -> None:
    Path("runs").mkdir()
    Path("runs/1.csv").write_text("m,p,f\na,0.5,0.5\nb,0.6,0.4\n")
    Path("runs/last.csv").symlink_to("1.csv")
    said = "a file of several names is read once: 'last.csv' is '1.csv'"
    found = evenhand.compare("runs", method="m", performance="p", fairness="f", bootstrap=0)
    assert said in found.notes
    Path("people").mkdir()
    Path("people/1.csv").write_text("s,g,x\n" + "".join(f"0.{i},{'ab'[i % 2]},{i}\n" for i in range(1, 9)))
    os.link("people/1.csv", "people/last.csv")
    people = evenhand.individual_fairness("people", "s", group="g", k=2)
    assert said in people.notes
    assert people.n == 8


@UNIX
def test_a_period_is_one_table() -> None:
    Path("months").mkdir()
    for month in (1, 2, 3):
        rows = {
            "s": [i / 100 for i in range(100)],
            "y": [i % 2 for i in range(100)],
            "g": ["ab"[i % 3 > month] for i in range(100)],
        }
        evenhand.tabulate(rows, score="s", label="y", group="g").save(f"months/2024-0{month}.table")
    plain = evenhand.monitor("months", bootstrap=0)
    Path("months/latest.table").symlink_to("2024-03.table")
    names = ["months/2024-01.table", "months/2024-02.table", "months/./2024-02.table", "months/2024-03.table"]
    for data, said in (
        ("months", "'latest.table' is '2024-03.table'"),
        ("months/*.table", "'latest.table'"),
        (names, "'2024-02.table' is named again"),
    ):
        report = evenhand.monitor(data, bootstrap=0)
        assert any(said in note for note in report.notes), data
        assert [p.name for p in report.periods] == [p.name for p in plain.periods]


@UNIX
def test_a_table_that_is_named_twice_is_added_once(capsys: pytest.CaptureFixture[str]) -> None:
    evenhand.compas().save("a.table")
    Path("link.table").symlink_to("a.table")
    main(["table", "merge", "a.table", "./a.table", "link.table", "-o", "sum.table"])
    whole = evenhand.load("sum.table")
    assert whole.rows == evenhand.compas().rows
    assert "a file of several names is read once: 'a.table' is named again, 'link.table' is 'a.table'" in whole.notes
    assert "'link.table' is 'a.table'" in capsys.readouterr().err
    Path("copy.table").write_bytes(Path("a.table").read_bytes())
    main(["table", "merge", "a.table", "copy.table", "-o", "sum.table"])
    assert evenhand.load("sum.table").rows == 2 * evenhand.compas().rows
    assert "'copy.table' holds the same counts as 'a.table': if it is a copy" in capsys.readouterr().err


def test_relations_of_ones_own_are_not_touched() -> None:
    parquet("d/g=a/p.parquet", s=[0.1, 0.2])
    assert groups(duckdb.sql("FROM read_parquet('d/*/*.parquet', hive_partitioning = true)")) == {"a": 2}
