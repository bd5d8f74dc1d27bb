"""The same bytes from every engine, every run and every order of rows: sums of weights, times, values of one name."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand.ingest.rows import read_rows
from evenhand.tables.exact_sums import ends_of, parts_of, rounded, scales

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "weight": "w"}


def weighted(n: int = 3000, wide: bool = False) -> Any:
    columns = people(n)
    rng = np.random.default_rng(5)
    columns["w"] = 10.0 ** rng.uniform(-20, 12, n) if wide else rng.lognormal(0, 0.5, n)
    return pd.DataFrame(columns)


@pytest.mark.parametrize("low", [-200, -20, 0])
@pytest.mark.parametrize("high", [0, 1, 12])
def test_sums_are_rounded_once(low: int, high: int) -> None:
    rng = np.random.default_rng(high)
    values = 10.0 ** rng.uniform(low, high, 500) if low < high else np.full(500, 0.1)
    values[::7] = 0.0
    parts = parts_of(values, scales(*ends_of(values), len(values)))
    assert (rounded(parts) == values).all()
    assert rounded(parts.sum(1, keepdims=True))[0] == math.fsum(values)
    assert (parts[:, ::-1].cumsum(1)[:, -1] == parts.cumsum(1)[:, -1]).all()


def _parquet(frame: Any, folder: Path) -> Path:
    frame.to_parquet(folder / "d.parquet", row_group_size=500)
    return folder / "d.parquet"


def _csv(frame: Any, folder: Path) -> Path:
    frame.to_csv(folder / "d.csv", index=False)
    return folder / "d.csv"


FORMS: dict[str, Callable[[Any, Path], Any]] = {
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "lazy": lambda frame, folder: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame, folder: pa.Table.from_pandas(frame),
    "duckdb": lambda frame, folder: duckdb.from_df(frame),
    "parquet": _parquet,
    "csv": _csv,
    "dask": lambda frame, folder: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("few", [True, False])
def test_every_engine_gives_the_same_table(
    form: str, few: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly and on a grid, with weights of 32 magnitudes, rows that are left out and a choice of rows."""
    if not few:
        monkeypatch.setattr("evenhand.ingest.score_cells.EXACT", 500)
    frame = weighted(wide=True)
    frame["s"] = frame["s"] if few else np.random.default_rng(1).random(len(frame))
    frame.loc[:2, "w"] = [0.0, np.nan, np.inf]
    columns = {name: frame[name].to_numpy() for name in frame}
    data = FORMS[form](frame.sample(frac=1, random_state=2), tmp_path)
    for more in ({}, {"where": {"h": "x"}}):
        expected = evenhand.tabulate(columns, **WORDS, missing="drop", **more)
        found = evenhand.tabulate(data, **WORDS, missing="drop", **more)
        assert (found, found.digest()) == (expected, expected.digest())
    w = columns["w"][np.isfinite(columns["w"])]
    assert math.fsum(evenhand.tabulate(columns, **WORDS, missing="drop").weight) == pytest.approx(math.fsum(w))


def test_many_threads_give_the_same_bytes(tmp_path: Path) -> None:
    """Twenty runs of eight threads over rows in another order each time."""
    frame, saved = weighted(20_000), set()
    for run in range(20):
        file = tmp_path / "mixed.parquet"
        frame.sample(frac=1, random_state=run).to_parquet(file, row_group_size=2048)
        with duckdb.connect(config={"threads": 8, "preserve_insertion_order": False}) as connection:
            table = evenhand.tabulate(connection.sql(f"FROM '{file}'"), **WORDS)
            table.save(tmp_path / "saved.table")
            audit = evenhand.audit(table, bootstrap=0, permutations=0)
        saved.add(((tmp_path / "saved.table").read_bytes(), audit.to_json()))
    assert len(saved) == 1


def test_tables_add_up_in_any_order() -> None:
    frame = weighted()
    parts = [evenhand.tabulate(frame.iloc[i::3], **WORDS) for i in range(3)]
    assert parts[0] + parts[1] == parts[1] + parts[0]
    whole = evenhand.tabulate(frame, **WORDS)
    for order in ((0, 1, 2), (2, 0, 1)):
        merged = evenhand.merge([parts[i] for i in order])
        np.testing.assert_allclose(merged.weight, whole.weight, rtol=5e-16)
        np.testing.assert_allclose(merged.weight2, whole.weight2, rtol=5e-16)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_of_files_keep_their_order(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many threads read them: people are known by their places."""
    connect = duckdb.connect
    monkeypatch.setattr("duckdb.connect", lambda config=None: connect(config={**(config or {}), "threads": 8}))
    frame = pd.DataFrame({"i": np.arange(400_000), "x": np.arange(400_000) % 7})
    file = tmp_path / f"d.{kind}"
    frame.to_parquet(file, row_group_size=4000) if kind == "parquet" else frame.to_csv(file, index=False)
    found = read_rows(file, {"score": "i"}, [], ["x"])
    assert (found.numbers["i"] == frame["i"]).all()


def test_the_hour_that_comes_twice_is_two_hours() -> None:
    """Two moments of a zone that look the same are two groups; Python's own times would be taken for one."""
    moments = pd.to_datetime(["2024-10-27 00:30", "2024-10-27 01:30"], utc=True).tz_convert("Europe/Berlin")
    frame = pd.DataFrame({"s": [0.1, 0.2], "g": moments})
    names = ("2024-10-27 00:30:00+00:00", "2024-10-27 01:30:00+00:00")
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), {"s": [0.1, 0.2], "g": list(moments)}):
        assert evenhand.tabulate(data, score="s", group="g").attributes[0].groups == names
    plain = {"s": [0.1, 0.2], "g": [moment.to_pydatetime() for moment in moments]}
    assert evenhand.tabulate(plain, score="s", group="g").attributes[0].groups == names


@pytest.mark.parametrize("values", [[1, True], [1, "1"], [True, "True"], [[1], [2]], [{"a": 1}, None]])
def test_values_of_one_name_are_refused_alike(values: list[Any], tmp_path: Path) -> None:
    """In lists, arrays of objects, pandas and JSON lines."""
    rows = [{"s": i / 10, "g": value} for i, value in enumerate(values)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = {"s": [0.0, 0.1], "g": values}
    arrays = {"s": [0.0, 0.1], "g": np.array([*values, None], object)[:-1]}
    for data in (columns, arrays, pd.DataFrame(columns), tmp_path / "d.jsonl"):
        with pytest.raises(evenhand.DataError, match=r"both|plain value|one-dimensional"):
            evenhand.tabulate(data, score="s", group="g", missing="drop")
