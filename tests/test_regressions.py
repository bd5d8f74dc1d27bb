"""Mistakes that were made once: each gave a plausible wrong number, or an error nobody could read."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import evenhand
from conftest import evenhand as run, people
from evenhand.ingest.values import label_key, name_of

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def csv(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# ---- which file, which column, which type ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["p[1].csv", "q?.csv", "z*.csv"])
def test_a_path_is_not_a_pattern_when_it_exists(tmp_path: Path, name: str) -> None:
    csv(tmp_path / name, "s,g\n0.1,a\n0.2,b\n")
    for other in ("p1.csv", "qa.csv", "zz.csv"):
        csv(tmp_path / other, "s,g\n0.9,a\n0.9,b\n")
    t = evenhand.tabulate(tmp_path / name, score="s", group="g")
    assert t.scores.tolist() == [0.1, 0.2]


def test_tables_in_odd_places(tmp_path: Path) -> None:
    t, other = evenhand.compas(), evenhand.tabulate(score=[1.0], group=["a"])
    t.save(tmp_path / "t[1].table")
    other.save(tmp_path / "t1.table")
    assert evenhand.load(tmp_path / "t[1].table") == t


def test_shards_are_matched_by_name(tmp_path: Path) -> None:
    csv(tmp_path / "f" / "a.csv", "s,w,g\n0.1,5,a\n")
    csv(tmp_path / "f" / "b.csv", "w,s,g\n5,0.2,b\n")
    assert evenhand.tabulate(tmp_path / "f", score="s", group="g").scores.tolist() == [0.1, 0.2]
    csv(tmp_path / "f" / "c.csv", "p,h\n0.3,c\n")
    with pytest.raises(evenhand.UsageError, match=r"no column 's' in '.*c\.csv'"):
        evenhand.tabulate(tmp_path / "f", score="s", group="g")


def test_types_are_widened_over_shards(tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": [0, 1], "g": [7, 8]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"s": [0.7, 0.3], "g": ["007", "x"]}), tmp_path / "b.parquet")
    t = evenhand.tabulate(tmp_path, score="s", group="g")
    assert t.scores.tolist() == [0, 0.3, 0.7, 1]
    assert set(t.attributes[0].groups) == {"7", "8", "007", "x"}


def test_json_types_are_not_guessed_from_a_sample(tmp_path: Path) -> None:
    rows = [{"s": 0, "y": 0, "g": "10:00"}] * 30_000
    rows += [{"s": 0.4, "y": 1, "g": "10:00:00", "late": 1}, {"s": 0.7, "y": True, "g": True, "late": 2}]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    t = evenhand.tabulate(tmp_path / "d.jsonl", score="s", label="y", group="g")
    assert t.scores.tolist() == [0, 0.4, 0.7]
    assert set(t.attributes[0].groups) == {"10:00", "10:00:00", "True"}
    late = evenhand.tabulate(tmp_path / "d.jsonl", score="s", group="late", missing="drop")
    assert late.attributes[0].groups == ("1", "2")


def test_folders_do_not_rename_groups(tmp_path: Path) -> None:
    csv(tmp_path / "g=X" / "a.csv", "s,g\n0.1,a\n0.2,b\n")
    assert evenhand.tabulate(tmp_path, score="s", group="g").attributes[0].groups == ("a", "b")


def test_hidden_files_do_not_count(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", "s,g\n0.1,a\n0.2,b\n")
    csv(tmp_path / ".ipynb_checkpoints" / "a-checkpoint.csv", "s,g\n0.1,a\n0.2,b\n")
    csv(tmp_path / "._a.csv", "\x00")
    csv(tmp_path / "_SUCCESS.csv", "")
    assert evenhand.tabulate(tmp_path, score="s", group="g").rows == 2


def test_a_saved_table_is_not_counted_as_rows(tmp_path: Path) -> None:
    evenhand.compas().save(tmp_path / "t.parquet")
    with pytest.raises(evenhand.UsageError, match="saved table already"):
        evenhand.tabulate(tmp_path / "t.parquet", score="score", label="label", group="group_0")


def test_columns_that_differ_in_case(tmp_path: Path) -> None:
    csv(tmp_path / "d.csv", "s,G,g\n0.1,x,a\n0.2,x,b\n")
    assert evenhand.tabulate(tmp_path / "d.csv", score="s", group="g").attributes[0].groups == ("a", "b")


def test_a_quoted_header_may_hold_separators(tmp_path: Path) -> None:
    csv(tmp_path / "d.csv", 's;"a,b,c,d,e"\n0.1;x\n0.2;y\n')
    assert evenhand.tabulate(tmp_path / "d.csv", score="s", group="a,b,c,d,e").rows == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.csv.gz", b"no gzip", "cannot read"),
        ("d.csv.gz", gzip.compress(b"s,g\n0.1,a\n", mtime=0)[:-9], "cannot read"),
        ("d.csv", b"s," + b"x" * 200_000 + b"\n0.1,a\n", "cannot read"),
        ("d.csv", "s,g\n0.1,é\n0.2,b\n".encode("utf-16")[:-1], "utf-16"),
    ],
)
def test_broken_files_are_refused_kindly(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(evenhand.DataError, match=message):
        evenhand.tabulate(tmp_path / name, score="s", group="g")


def test_shards_of_every_layout(tmp_path: Path) -> None:
    csv(tmp_path / "a.csv", "s,g\n0.1,a\n0.2,b\n")
    csv(tmp_path / "b.csv", "S;s;g;G\n0.9;0.3;a;zz\n0.9;0.4;b;zz\n")
    csv(tmp_path / "c.csv", 's,"q\n1",g\n0.5,x,a\n')
    assert evenhand.tabulate(tmp_path, score="s", group="g").scores.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]
    csv(tmp_path / "d.csv", "s,g,s\n0.6,a,0.7\n")
    with pytest.raises(evenhand.DataError, match=r"d\.csv' has 2 columns called 's' that differ"):
        evenhand.tabulate(tmp_path, score="s", group="g")


def test_parquet_columns_that_differ_in_case(tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": [0.1, 0.2], "g": ["a", "b"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"S": [0.9], "g": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(evenhand.UsageError, match=r"no column 's' in '.*b\.parquet'"):
        evenhand.tabulate(tmp_path, score="s", group="g")
    pq.write_table(pa.table({"S": [0.9], "s": [0.3], "g": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(evenhand.DataError, match="'s' and 'S', which differ only in case"):
        evenhand.tabulate(tmp_path, score="s", group="g")


def test_partitioned_parquet(tmp_path: Path) -> None:
    for g in ("007", "y"):
        (tmp_path / f"g={g}").mkdir()
        pq.write_table(pa.table({"s": [0.1, 0.2]}), tmp_path / f"g={g}" / "part.parquet")
    assert evenhand.tabulate(tmp_path, score="s", group="g").attributes[0].groups == ("007", "y")


def test_long_decimals_stay_apart() -> None:
    long = [decimal.Decimal("9007199254740993"), decimal.Decimal("9007199254740992"), None]
    table = pa.table({"s": [0.1, 0.2, 0.3], "g": pa.array(long, pa.decimal128(18, 0))})
    short = pa.table({"s": [0.1, 0.2, 0.3], "g": pa.array([decimal.Decimal("1.50"), decimal.Decimal("100.00"), None])})
    for convert in (lambda t: t, pl.from_arrow, duckdb.from_arrow):
        t = evenhand.tabulate(convert(table), score="s", group="g", missing="drop")
        assert t.attributes[0].groups == ("9007199254740992", "9007199254740993")
        t = evenhand.tabulate(convert(short), score="s", group="g", missing="drop")
        assert t.attributes[0].groups == ("1.5", "100")


@pytest.mark.parametrize(
    ("prediction", "label", "message"),
    [
        ([1, 2, 2, 1], [0, 1, 1, 0], "'1', '2', but the label has '0', '1'"),
        ([1, 0.3, 0.3, 1], [0, 1, 1, 0], "holds 0.3: if it is a score"),
        ([1, 0.3, 0.3, 1], None, "holds 0.3: if it is a score"),
        (["good", "no", "good", "no"], ["good", "bad", "bad", "good"], "but the label has 'bad', 'good'"),
    ],
)
def test_predictions_answer_the_label(prediction: list[Any], label: list[Any] | None, message: str) -> None:
    favorable = "good" if "good" in prediction else 1
    with pytest.raises(evenhand.DataError, match=message):
        evenhand.audit(prediction=prediction, label=label, group=list("aabb"), favorable=favorable)


def test_left_out_rows_are_credited_to_their_own_group() -> None:
    a = evenhand.audit(
        score=[0.1, 0.2, 0.3, 0.4, 0.5], group=["(missing)", "a", None, "a", None], missing="drop", bootstrap=0
    )
    assert {g.name: g.left_out for g in a.attributes[0].groups} == {"(missing)": 0, "a": 0}
    r, x = ["a × b", "a", "a", "a"], ["c", "b × c", "b × c", "d"]
    a = evenhand.audit(
        score=[0.1, 0.2, np.nan, 0.4], group={"r": r, "x": x}, missing="drop", bootstrap=0, permutations=0
    )
    assert {g.members: g.left_out for g in a.attributes[2].groups} == {
        ("a × b", "c"): 0,
        ("a", "b × c"): 1,
        ("a", "d"): 0,
    }


def test_a_choice_of_measures_prints_with_many_groups() -> None:
    columns = people(300, groups=9)
    text = repr(
        evenhand.audit(
            columns, score="s", label="y", group="g", measures=["accuracy_parity"], bootstrap=0, permutations=0
        )
    )
    assert "accuracy parity" in text


def test_rules_and_levels_are_not_rounded() -> None:
    a = evenhand.audit(evenhand.compas(), threshold=4.1234567, confidence=0.975, bootstrap=0, permutations=0)
    assert a.to_dict()["data"]["decision_rule"] == "decile_score < 4.1234567"
    assert "97.5% interval" in repr(a)


def test_frames_of_duckdb() -> None:
    relation = duckdb.from_arrow(pa.table(people(50)))
    assert (
        "DuckDB"
        in type(evenhand.audit(relation, score="s", group="g", bootstrap=0, permutations=0).to_frame()).__name__
    )


# ---- which number, which name --------------------------------------------------------------------------------


def test_a_reflected_score_stays_in_its_bin() -> None:
    """1 − 0.7 is 0.30000000000000004 in a computer."""
    s = np.array([0.7] * 4 + [0.72] * 4)
    y, g = [1, 0, 1, 0, 1, 1, 1, 1], list("abababab")
    risk = evenhand.audit(score=s, label=y, group=g, risk=True, bootstrap=0, permutations=0)
    plain = evenhand.audit(score=np.round(1 - s, 2), label=y, group=g, bootstrap=0, permutations=0)
    assert risk.measure("calibration_gap").value == plain.measure("calibration_gap").value == 0.5
    grid = np.round(np.arange(11) / 10, 1)
    assert evenhand.tabulate(score=grid, group=list("ab") * 5 + ["a"], risk=True).bin_of_cells(10).tolist() == [
        9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0,
    ]  # fmt: skip


def test_a_gap_of_exactly_the_tolerance_passes() -> None:
    """0.4 − 0.3 is 0.10000000000000003 in a computer."""
    a = evenhand.audit(prediction=[1] * 4 + [0] * 6 + [1] * 3 + [0] * 7, group=["a"] * 10 + ["b"] * 10, reference="b")
    assert a.measure("demographic_parity").value > 0.1
    assert a.measure("demographic_parity").passes
    four_fifths = evenhand.audit(prediction=[1] * 4 + [0] * 6 + [1] * 5 + [0] * 5, group=["a"] * 10 + ["b"] * 10)
    assert four_fifths.measure("disparate_impact").passes


def test_decimals_are_exact() -> None:
    values = [decimal.Decimal(i) / 1000 for i in range(1001)]
    table = pa.table({"s": pa.array(values, pa.decimal128(10, 3)), "g": ["a"] * 1001})
    for data in (table, pl.from_arrow(table), duckdb.from_arrow(table)):
        assert evenhand.tabulate(data, score="s", group="g").scores.tolist() == [i / 1000 for i in range(1001)]


@pytest.mark.parametrize("weight", [[4e18] * 5 + [1], [1e300] * 6, [1e200] * 5 + [0.5]])
def test_weights_beyond_counting_are_refused(weight: list[float], tmp_path: Path) -> None:
    columns = {"s": [0.6] * 6, "g": list("aabbbb"), "w": weight}
    pd.DataFrame(columns).to_csv(tmp_path / "d.csv", index=False)
    for data in (columns, pd.DataFrame(columns), pl.DataFrame(columns), tmp_path / "d.csv"):
        with pytest.raises(evenhand.DataError, match="weights 'w' add up to more than can be counted"):
            evenhand.tabulate(data, score="s", group="g", weight="w")


def test_large_numbers_beside_gaps_stay_apart() -> None:
    groups = pd.array([9007199254740993, 9007199254740992, None], dtype="Int64")
    frame = pd.DataFrame({"s": [0.1, 0.2, 0.3], "g": groups})
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), {"s": frame.s, "g": frame.g}):
        t = evenhand.tabulate(data, score="s", group="g", missing="drop")
        assert t.attributes[0].groups == ("9007199254740992", "9007199254740993")


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.uint64, np.int64])
def test_narrow_and_wide_numbers_as_groups(dtype: Any) -> None:
    info = np.iinfo(dtype)
    groups = np.array([info.min, info.max, info.min], dtype)
    for data in ({"s": [0.1, 0.2, 0.3], "g": groups}, pd.DataFrame({"s": [0.1, 0.2, 0.3], "g": groups})):
        assert set(evenhand.tabulate(data, score="s", group="g").attributes[0].groups) == {str(info.min), str(info.max)}


def test_products_report_what_was_left_out() -> None:
    columns: dict[str, Any] = {"s": [0.1, np.nan, 0.3, 0.4], "r": list("aabb"), "x": list("uuvv")}
    a = evenhand.audit(columns, score="s", group=["r", "x"], missing="drop")
    assert {g.name: g.left_out for g in a.attributes[2].groups} == {"a × u": 1, "b × v": 0}


def test_a_product_reference_that_nobody_has_is_remarked() -> None:
    a = evenhand.audit(
        score=[0.1, 0.9, 0.8], group={"r": list("AAB"), "x": list("mmf")}, reference={"r": "A", "x": "f"}
    )
    assert any("nobody is in 'A × f', so 'A × m' is the reference of 'r × x'" in note for note in a.notes)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("1", "1"),
        ("01", "01"),
        ("1_0", "1_0"),
        ("1.0", "1"),
        ("10", "10"),
        ("-1", "-1"),
        ("None", None),
        ("none", "none"),
        ("1e1", "1e1"),
    ],
)
def test_words_are_not_read_as_numbers(value: str, key: str | None) -> None:
    assert label_key(value) == key


def test_underscores_are_no_digits(tmp_path: Path) -> None:
    with pytest.raises(evenhand.DataError, match="holds '1_0'"):
        evenhand.tabulate(csv(tmp_path / "d.csv", "s,g\n1_0,a\n2,b\n"), score="s", group="g")


def test_truth_values_and_numbers_do_not_mix() -> None:
    with pytest.raises(evenhand.DataError, match="both truth values and numbers"):
        evenhand.tabulate(score=[0.1, 0.2], group=[1, True])


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (dt.datetime(2024, 1, 1, 10), "2024-01-01 10:00:00"),
        (dt.datetime(2024, 1, 1, 10, 0, 0, 500_000), "2024-01-01 10:00:00.5"),
        (dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "2024-01-01 00:00:00+00:00"),
        (dt.datetime(2024, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))), "2024-01-01 00:00:00+00:00"),
        (decimal.Decimal("1.50"), "1.5"),
        (b"bytes", "bytes"),
        (decimal.Decimal("sNaN"), None),
        (float("inf"), None),
        ("\ud800", "\\ud800"),
    ],
)
def test_names_of_values(value: Any, name: str | None) -> None:
    assert name_of(value) == name


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_moments_have_one_name(unit: str, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"s": [0.1, 0.9], "g": np.array(["2024-01-01T10:00:00", "2024-01-02T00:00:00"], f"M8[{unit}]")}
    )
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "d.parquet")
    sources = (
        frame,
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
        {"s": frame.s.to_numpy(), "g": frame.g.to_numpy()},
        tmp_path / "d.parquet",
    )
    for data in sources:
        assert evenhand.tabulate(data, score="s", group="g").attributes[0].groups == (
            "2024-01-01 10:00:00",
            "2024-01-02",
        )
    zoned = frame.assign(g=frame.g.dt.tz_localize("UTC"))
    pq.write_table(pa.Table.from_pandas(zoned), tmp_path / "z.parquet")
    files = [tmp_path / "z.parquet"] if unit != "ns" else []  # DuckDB forgets the zone of nanoseconds
    for data in (zoned, pl.from_pandas(zoned), pa.Table.from_pandas(zoned), *files):
        assert evenhand.tabulate(data, score="s", group="g").attributes[0].groups == (
            "2024-01-01 10:00:00+00:00",
            "2024-01-02 00:00:00+00:00",
        )


@pytest.mark.parametrize("categories", [[1.0, 2.5], [True, False], [dt.date(2024, 1, 1), dt.date(2024, 1, 2)]])
def test_categories_of_any_type(categories: list[Any]) -> None:
    frame = pd.DataFrame({"s": [0.1, 0.2], "g": pd.Categorical(categories)})
    assert set(evenhand.tabulate(frame, score="s", group="g").attributes[0].groups) == {name_of(c) for c in categories}


# ---- errors that were not ours -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: evenhand.tabulate(pd.DataFrame({0: [0.1], 1: ["a"]}), score="0", group="1"),
        lambda: evenhand.tabulate({0: [0.1], 1: ["a"]}, score="0", group="1"),
        lambda: evenhand.tabulate(pd.DataFrame({"s": [0.1], "g": ["a"]}), score=0, group="g"),
        lambda: evenhand.tabulate(pl.LazyFrame({"s": [0.1]}), score="s", group=np.array(["a"])),
        lambda: evenhand.tabulate(duckdb.sql("SELECT 1 AS s"), score="s", group=np.array(["a"])),
        lambda: evenhand.tabulate(
            pl.LazyFrame({"s": [0.1], "g": ["a"]}).select(pl.col("s"), pl.col("zz").alias("g")), score="s", group="g"
        ),
        lambda: evenhand.tabulate(
            pd.DataFrame({"s": [0.1] * 200, "g": ["a"] * 150 + [["b"]] * 50}), score="s", group="g"
        ),
        lambda: evenhand.tabulate(score=[0.1, 0.2], group=[10**5000, 1]),
        lambda: evenhand.tabulate(score=[0.1, 0.2], group=[dt.timedelta(1), dt.timedelta(2)]),
        lambda: evenhand.tabulate(score=[0.1], group=["a"], risk="no"),  # type: ignore[arg-type]
        lambda: evenhand.tabulate(score=[0.1], group=["a"], score_range="01"),  # type: ignore[arg-type]
        lambda: evenhand.tabulate(score=[0.1], group=["a"], score_range=(0, 10**400)),
        lambda: evenhand.tabulate("a\0b.csv", score="s", group="g"),
        lambda: evenhand.tabulate("x" * 5000 + ".csv", score="s", group="g"),
        lambda: evenhand.audit(evenhand.compas(), threshold=10**400),
        lambda: evenhand.audit(evenhand.compas(), confidence=1 - 1e-16),
        lambda: evenhand.audit(evenhand.compas(), measures=5),  # type: ignore[arg-type]
        lambda: evenhand.audit(evenhand.compas(), measures=[[]]),  # type: ignore[list-item]
        lambda: evenhand.audit(evenhand.compas(), measures="abcc"),
        lambda: evenhand.guide(ground_truth=True, priority=[]),  # type: ignore[arg-type]
        lambda: evenhand.tabulate(pa.table({"s": [2**60 + 1], "g": ["a"]}), score="s", group="g", weight="s"),
        lambda: evenhand.metrics.demographic_parity(None, [dt.date(2024, 1, 1)] * 2, sensitive_features=["a", "b"]),
        lambda: evenhand.audit(evenhand.compas()).measure(5),  # type: ignore[arg-type]
        lambda: evenhand.compas().grouping(5),  # type: ignore[arg-type]
        lambda: evenhand.load(5),
        lambda: evenhand.load(b"x"),
        lambda: evenhand.load("x" * 5000),
        lambda: evenhand.compas().save(None),  # type: ignore[arg-type]
        lambda: evenhand.compas().save("a\0b"),
        lambda: evenhand.compas().save("x" * 5000),
    ],
)
def test_errors_are_ours(call: Any) -> None:
    with pytest.raises(evenhand.EvenhandError) as error:
        call()
    assert "\n" not in str(error.value)


def test_arrays_may_stand_beside_a_dataframe() -> None:
    columns = people(50)
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        t = evenhand.tabulate(
            frame,
            score="s",
            label=columns["y"],
            group=frame.select(["g", "h"]) if hasattr(frame, "select") else frame[["g", "h"]],
        )
        assert [a.name for a in t.attributes] == ["g", "h"]
        assert t.rows == 50


def test_tables_travel_between_processes() -> None:
    t = evenhand.tabulate({**people(50), "s": np.r_[np.nan, people(50)["s"][1:]]}, score="s", group="g", missing="drop")
    for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t), copy.copy(t)):
        assert again == t
        assert dict(again.left_out) == dict(t.left_out)
        with pytest.raises(ValueError, match="read-only"):
            again.n[0] = 7


def test_names_that_cannot_be_encoded_can_be_written(tmp_path: Path) -> None:
    a = evenhand.audit({"s\ud800": [0.1, 0.9], "g\ud800": ["\ud800", "b"]}, score="s\ud800", group="g\ud800")
    a.to_json(tmp_path / "a.json")
    a.table.save(tmp_path / "t")
    assert evenhand.load(tmp_path / "t") == a.table


def test_a_product_of_everybody_is_left_out() -> None:
    rng = np.random.default_rng(0)
    columns = {f"a{i}": rng.integers(0, 2, 12_000) for i in range(30)}
    a = evenhand.audit(score=rng.random(12_000), group=columns, bootstrap=0, permutations=0)
    assert len(a.attributes) == 30
    assert any("groups, too many to compare: name fewer group columns" in note for note in a.notes)


# ---- the command line ------------------------------------------------------------------------------------------


def test_output_goes_through_links_and_pipes(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    (tmp_path / "link.json").symlink_to(target)
    assert run("demo", "--json", tmp_path / "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads(target.read_text())["schema"] == "evenhand/audit/1"
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True)
    assert run("demo", "--json", tmp_path / "pipe").returncode == 0
    assert reader.communicate(timeout=30)[0] == target.read_text()
    assert (tmp_path / "pipe").is_fifo()


def test_a_broken_table_says_so(tmp_path: Path) -> None:
    evenhand.compas().save(tmp_path / "t.table")
    (tmp_path / "t.table").write_bytes((tmp_path / "t.table").read_bytes()[:300])
    result = run("audit", tmp_path / "t.table")
    assert result.returncode == 2
    assert "damaged" in result.stderr
    result = run("audit", csv(tmp_path / "d.csv", "s,g\n1,a\n"))
    assert "nothing was audited: name the columns" in result.stderr


def test_bare_command_shows_help() -> None:
    result = run()
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: evenhand")
    assert result.stdout == run("--help").stdout


def test_two_references_for_one_column() -> None:
    result = run("demo", "--reference", "race=Caucasian", "--reference", "race=African-American")
    assert result.returncode == 2
    assert "two references are given for 'race'" in result.stderr


def test_poor_outputs() -> None:
    command = f"{sys.executable} -m evenhand demo"
    ascii_only = subprocess.run(
        command, shell=True, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )
    assert ascii_only.returncode == 0
    assert b"African-American against Caucasian" in ascii_only.stdout
    if Path("/dev/full").exists():
        full = subprocess.run(f"{command} > /dev/full", shell=True, capture_output=True, text=True)
        assert (full.returncode, full.stderr.strip()) == (
            2,
            "evenhand: cannot write the result: No space left on device",
        )
    closed = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True)
    assert closed.returncode in (0, 2)
    assert "Traceback" not in closed.stderr


def test_thousands_of_groups_are_not_all_printed() -> None:
    rng = np.random.default_rng(0)
    group = [f"g{i}" for i in rng.integers(0, 800, 5000)]
    a = evenhand.audit(score=rng.random(5000), group=group, bootstrap=10, permutations=10)
    assert len(repr(a).splitlines()) < 40
    lines = a.summary(full=True).splitlines()
    assert len(lines) < 140
    assert any("smaller groups are not shown" in line for line in lines)
