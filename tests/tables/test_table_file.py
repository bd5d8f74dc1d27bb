"""What a file of a table may hold: column types, ranges and words are checked before anything is believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import evenhand
from evenhand.tables.noise import Noise
from evenhand.tables.table import Meaning, Table

ABOUT: dict[str, Any] = {
    "schema": "evenhand/table/1",
    "attributes": [{"name": "sex", "groups": ["f", "m"]}],
    "meaning": {"score": "p", "label": "repaid", "favorable": "1", "score_range": [0, 1]},
    "left_out": {},
    "left_out_groups": {},
}
CELLS = """SELECT * FROM (VALUES (0.2::DOUBLE, false, 'f', 40::BIGINT), (0.8, true, 'f', 60), (0.2, false, 'm', 30),
                                 (0.8, true, 'm', 70)) AS cells(score, label, group_0, n)"""


def written(folder: Path, select: str = CELLS, **edit: Any) -> Path:
    """A table written by hand."""
    file = folder / "hand.table"
    about = {k: v for k, v in {**ABOUT, **edit}.items() if v != "gone"}
    quoted = json.dumps(about).replace("'", "''")
    duckdb.sql(f"COPY ({select}) TO '{file}' (FORMAT parquet, KV_METADATA {{evenhand: '{quoted}'}})")
    return file


def refused(file: Path, reason: str) -> None:
    with pytest.raises(evenhand.TableFileError, match=reason) as found:
        evenhand.load(file)
    assert file.name in str(found.value)


def replaced(**columns: str) -> str:
    return f"SELECT * REPLACE ({', '.join(f'{value} AS {name}' for name, value in columns.items())}) FROM ({CELLS})"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"label": "'favorable'"}, "'label' is of type 'VARCHAR', not BOOLEAN"),
        ({"label": "1 + label::INT"}, "'label' is of type 'INTEGER', not BOOLEAN"),
        ({"label": "'nan'::DOUBLE"}, "not BOOLEAN"),
        ({"label": "'x'::BLOB"}, "not BOOLEAN"),
        ({"label": "CASE WHEN n > 30 THEN label END"}, "'label' has gaps"),
        ({"n": "40.9::DOUBLE"}, "'n' is of type 'DOUBLE', not BIGINT"),
        ({"n": "DATE '2024-01-01'"}, "'n' is of type 'DATE'"),
        ({"n": "0::BIGINT"}, "must hold whole numbers, 1 to 9,007,199,254,740,992, not 0 to 0"),
        ({"n": "9223372036854775807"}, "must hold whole numbers, 1 to"),
        ({"n": "18446744073709551615::UBIGINT"}, "must hold whole numbers, 1 to"),
        ({"n": "4611686018427387904"}, "must hold whole numbers, 1 to"),
        ({"n": "9007199254740991"}, "fewer than 2\\*\\*53 people"),
        ({"score": "'nan'::DOUBLE"}, "'score' must hold finite numbers"),
        ({"score": "'inf'::DOUBLE"}, "'score' must hold finite numbers"),
        ({"score": "0.2::FLOAT"}, "not DOUBLE: cast it"),
        ({"score": "7::DOUBLE"}, "scores inside the stated range"),
        ({"group_0": "'x'"}, "'group_0' has gaps, or names beside those that are listed"),
        ({"group_0": "1"}, "not VARCHAR"),
        ({"group_0": "[group_0]"}, "not VARCHAR"),
    ],
)
def test_values_are_not_made_to_fit(tmp_path: Path, columns: dict[str, str], reason: str) -> None:
    refused(written(tmp_path, replaced(**columns)), reason)


@pytest.mark.parametrize("kind", ["UTINYINT", "SMALLINT", "INTEGER", "UBIGINT"])
def test_counts_may_be_of_any_whole_type(tmp_path: Path, kind: str) -> None:
    found = evenhand.load(written(tmp_path, replaced(n=f"n::{kind}")))
    assert found == evenhand.load(written(tmp_path))
    assert found.n.dtype == np.int64


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        (f"{CELLS} UNION ALL {CELLS}", "8 rows for 4 cells: write one row per cell"),
        (f"{CELLS} LIMIT 0", "it has no cells"),
        (f"SELECT * EXCLUDE (n) FROM ({CELLS})", "no column 'n'"),
        (f"SELECT * EXCLUDE (group_0) FROM ({CELLS})", "no column 'group_0'"),
        (f"SELECT * RENAME (n AS N) FROM ({CELLS})", "no column 'n'"),
        (f"SELECT *, 1 AS wieght FROM ({CELLS})", "the column 'wieght', which means nothing there"),
        (f"SELECT *, score AS score_low, score AS score_high FROM ({CELLS})", "means nothing there"),
        (f"SELECT *, 1.5::DOUBLE AS weight, 1.0::DOUBLE AS weight2 FROM ({CELLS})", "meaning.weight must be the name"),
        (f"SELECT *, 0::BIGINT AS cluster FROM ({CELLS})", "a name for its clusters"),
        (f"SELECT * EXCLUDE (score) FROM ({CELLS})", "needs a score or a prediction"),
        (
            "SELECT 0.5::DOUBLE AS score, true AS label, 'f' AS group_0, 1::BIGINT AS n FROM range(2000000)",
            "about 1 cells",
        ),
    ],
)
def test_columns_are_those_of_the_format(tmp_path: Path, select: str, reason: str) -> None:
    refused(written(tmp_path, select), reason)


@pytest.mark.parametrize("rows", [60_000_000])
def test_rows_are_counted_before_they_are_fetched(tmp_path: Path, rows: int) -> None:
    """A few hundred kilobytes, and gigabytes in memory."""
    one = f"SELECT 0.5::DOUBLE AS score, true AS label, 'f' AS group_0, 1::UTINYINT AS n FROM range({rows})"
    refused(written(tmp_path, one), "60,000,000 rows, more than the 50,000,000 cells")


@pytest.mark.parametrize(
    ("weight", "weight2", "reason"),
    [
        ("n * 1.5", "n * 2.25", None),
        ("n * 1.5", "n * 2.0", "sums of squared weights that belong"),  # less than of equal weights
        ("n * 1.5", "n * n * 2.3", "sums of squared weights that belong"),  # more than of a single one
        ("n * 1e300", "n * 1e300", "less than 2"),
        ("n * 1e-300", "n * 1e300", "sums of squared weights"),
        ("-n", "n", "finite, positive"),
        ("n * 0.0", "n", "finite, positive"),
        ("'nan'", "n", "finite, positive"),
        ("n", "'inf'", "finite, positive"),
    ],
)
def test_weights_belong_to_their_squares(tmp_path: Path, weight: str, weight2: str, reason: str | None) -> None:
    select = f"SELECT *, ({weight})::DOUBLE AS weight, ({weight2})::DOUBLE AS weight2 FROM ({CELLS})"
    file = written(tmp_path, select, meaning={**ABOUT["meaning"], "weight": "w"})
    if reason is None:
        assert evenhand.load(file).weight is not None
    else:
        refused(file, reason)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"surprise": 1}, "unknown key 'surprise'"),
        ({"left_out": "gone"}, "lacks the key 'left_out'"),
        ({"left_out": []}, "left_out must be a dictionary"),
        ({"left_out": {"why": 1.0}}, "left_out.'why' must be a whole number"),
        ({"left_out": {"why": True}}, "must be a whole number"),
        ({"left_out": {"why": 10**400}}, "is no number of JSON"),
        ({"left_out": {"why": 2**60}}, "must be a whole number"),
        ({"left_out": {"x" * 2_000_000: 1}}, "a text of at most 1,000,000 characters"),
        ({"left_out_groups": {"age": {"old": 1}}}, "its own attributes"),
        ({"notes": "a note"}, "notes must be a list"),
        ({"notes": [1]}, "notes\\[0\\] must be a text"),
        ({"notes": ["x" * 2_000_000]}, "notes\\[0\\] must be a text of at most"),
        ({"notes": ["\ud800"]}, "must be a text"),
        ({"attributes": []}, "attributes must be a list"),
        ({"attributes": [{"name": "sex"}]}, "lacks the key 'groups'"),
        ({"attributes": [{"name": "sex", "groups": ["f", "f", "m"]}]}, "not all different"),
        ({"meaning": {"risk": "no"}}, "meaning.risk must be true or false"),
        ({"meaning": {"score": ["p"]}}, "meaning.score must be a text"),
        ({"meaning": {**ABOUT["meaning"], "score_range": [1, 0]}}, "the lower one first"),
        ({"meaning": {**ABOUT["meaning"], "score_range": [float("nan"), 1]}}, "NaN is no number"),
        ({"meaning": {**ABOUT["meaning"], "score_range": [0, float("inf")]}}, "Infinity is no number"),
        ({"meaning": {**ABOUT["meaning"], "favorable": None}}, "a favourable value"),
        ({"provenance": {"below": 0}}, "provenance.below must be a whole number"),
        ({"provenance": {"below": 50}}, "no cell of fewer people than it says, 50"),
        ({"provenance": {"precision": ["float32"]}}, "provenance.precision must be one of"),
        ({"provenance": {"incomplete": [["age", "old"]]}}, "incomplete groups of its own attributes"),
        ({"provenance": {"tallied": 1}}, "provenance.tallied must be true or false"),
        ({"noise": {"epsilon": 1.0, "total": 1.0, "tables": 1}}, "unknown key 'noise'"),
        ({"extremes": [0, 1]}, "unknown key 'extremes'"),
        ({"digest": 5}, "digest must be a text"),
        ({"schema": "evenhand/table/" + "9" * 5000}, "unknown table format"),
        ({"schema": ["evenhand/table/1"]}, "unknown table format"),
    ],
)
def test_words_are_of_the_format(tmp_path: Path, edit: dict[str, Any], reason: str) -> None:
    refused(written(tmp_path, **edit), reason)


def test_long_names_of_groups_left_out_are_looked_at_once(tmp_path: Path) -> None:
    two = [{"name": name, "groups": ["f", "m"]} for name in ("sex", "other")]
    select = f"SELECT *, group_0 AS group_1 FROM ({CELLS})"
    for name in ("\\'", '\\"', "'"):
        left_out = {"sex × other": {name * (90_000 // len(name)) + str(i): 1 for i in range(20)}}
        refused(written(tmp_path, select, attributes=two, left_out_groups=left_out), "a name in each column")


def test_a_file_says_what_it_is_in_a_few_megabytes(tmp_path: Path) -> None:
    refused(written(tmp_path, notes=["x" * 90_000] * 1000), "says more about itself")
    names = [f"{i:05}{'x' * 90_000}" for i in range(400)]
    wide = evenhand.tabulate(score=np.linspace(0, 1, 400), group={"g": names}, bands="none")
    with pytest.raises(evenhand.UsageError, match="take group columns of fewer values"):
        wide.save(tmp_path / "wide.table")


@pytest.mark.parametrize(
    ("low", "high", "edit", "reason"),
    [
        ("score - 0.1", "score + 0.1", {}, None),
        ("score", "score", {"grid": [[0, 1]]}, None),
        ("score - 0.1", "score + 0.1", {"extremes": "gone"}, "lacks the key 'extremes'"),
        ("score - 0.1", "score + 0.1", {"extremes": [0.9, 0.1]}, "the lower one first"),
        ("score - 0.1", "score + 0.1", {"extremes": [0.4, 0.5]}, "scores between its extremes"),
        ("score + 0.1", "score + 0.2", {}, "outside of their ranges"),
        ("score + 0.1", "score - 0.1", {}, "outside of their ranges"),
        ("score - 0.7", "score + 0.7", {}, "overlap"),
        ("CASE WHEN label THEN 0.1 ELSE score END", "CASE WHEN label THEN 0.9 ELSE score END", {}, "inside of ranges"),
        ("score", "score", {"grid": []}, "grid must be a list"),
        ("score", "score", {"grid": [[0, 1], [0, 2]]}, "one after the other"),
        ("score", "score", {"grid": [[0, 10**9]]}, "grid\\[0\\]\\[1\\] must be a whole number, -300 to 300"),
        ("score", "score", {"grid": [[0, 1.0]]}, "must be a whole number"),
    ],
)
def test_ranges_are_where_the_scores_are(tmp_path: Path, low: str, high: str, edit: Any, reason: str | None) -> None:
    select = f"SELECT *, ({low})::DOUBLE AS score_low, ({high})::DOUBLE AS score_high FROM ({CELLS})"
    file = written(tmp_path, select, **{"schema": "evenhand/table/2", "extremes": [0, 1], **edit})
    if reason is None:
        assert isinstance(evenhand.load(file), Table)
    else:
        refused(file, reason)


@pytest.mark.parametrize(
    ("noise", "variance", "reason"),
    [
        ({"epsilon": 1, "total": 2, "tables": 2, "stated": True}, "n + 1", None),
        ({"epsilon": 1e-320, "total": 1, "tables": 1}, "n + 1", "ε from 0.001 to 20"),
        ({"epsilon": 1, "total": 0.5, "tables": 1}, "n + 1", "a finite sum of the ε"),
        ({"epsilon": 1, "total": 1, "tables": 0}, "n + 1", "noise.tables must be"),
        ({"epsilon": True, "total": 1, "tables": 1}, "n + 1", "noise.epsilon must be a finite number"),
        ({"epsilon": 1, "total": 1, "tables": 1, "seed": 5}, "n + 1", "unknown key 'seed'"),
        ({"epsilon": 1, "total": 1, "tables": 1}, "n / 2", "counts that vary by chance at least"),
    ],
)
def test_noise_is_what_can_have_been_added(tmp_path: Path, noise: Any, variance: str, reason: str | None) -> None:
    file = written(
        tmp_path, f"SELECT *, ({variance})::DOUBLE AS weight2 FROM ({CELLS})", schema="evenhand/table/3", noise=noise
    )
    if reason is None:
        assert evenhand.load(file).noise == Noise(1, 2, 2, True)  # type: ignore[union-attr]
    else:
        refused(file, reason)


def test_a_private_table_survives_a_file(tmp_path: Path) -> None:
    plain = evenhand.load(written(tmp_path))
    assert isinstance(plain, Table)
    cells = {name: getattr(plain, name) for name in ("attributes", "codes", "n", "score", "label")}
    t = Table.of_cells(**cells, weight2=plain.n + 1.5, noise=Noise(0.5), meaning=Meaning("p", "repaid", favorable="1"))
    t.save(tmp_path / "private.table")
    assert evenhand.load(tmp_path / "private.table") == t


def test_names_of_folders_are_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / "cluster=3" / "label=true"
    folder.mkdir(parents=True)
    assert evenhand.load(written(folder)) == evenhand.load(written(tmp_path))


def test_a_file_with_broken_words_is_a_table_file_that_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "broken.table"
    duckdb.sql(f"COPY ({CELLS}) TO '{file}' (FORMAT parquet, KV_METADATA {{evenhand: '{'[' * 100_000}'}})")
    refused(file, "nested in more than 40 levels")
    with pytest.raises(evenhand.EvenhandError, match="saved table already"):
        evenhand.tabulate(file, score="score", label="label", group="group_0")
