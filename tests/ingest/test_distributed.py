"""Nasty data give the same table and the same JSON from every engine, also from clusters, and when workers die.

Dask runs on two worker processes, Spark on two threads. Both start once.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from awkward_data import CASES, arrow, many, plain
from conftest import people

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning:distributed"
)
Make = Callable[[Any, Path], Any]


def _parquet(table: Any, folder: Path) -> Path:
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(table, folder / "nasty.parquet", row_group_size=100)
    return folder / "nasty.parquet"


def _polars(table: Any, folder: Path) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def _duckdb(table: Any, folder: Path) -> Any:
    import duckdb

    return duckdb.from_arrow(table)


LOCAL: dict[str, Make] = {
    "pandas": lambda table, folder: table.to_pandas(),
    "pandas-arrow": lambda table, folder: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": _polars,
    "polars-lazy": lambda table, folder: _polars(table, folder).lazy(),
    "pyarrow": lambda table, folder: table,
    "duckdb": _duckdb,
    "parquet": _parquet,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.dataframe")
    calm = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 65536,
        "distributed.comm.timeouts.connect": "30s",
    }
    with (
        dask.config.set(calm),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("PySpark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # else workers run whatever python3 is on the path
    session = (
        sql.SparkSession.builder.master("local[2,2]")  # two threads; a task may fail once
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.sql.codegen.wholeStage", "false")  # compiling takes longer than counting so little
        .config("spark.sql.adaptive.enabled", "false")  # nor is there anything to plan anew
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "America/New_York")  # so that a zone that is forgotten is noticed
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def in_dask(frame: Any) -> Any:
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def in_spark(session: Any, table: Any) -> Any:
    """As Spark can hold it, without unsigned numbers and dictionaries; a moment without zone has a type of its own."""
    for name, kind in {"u8": pa.int16(), "gone": pa.string()}.items():
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    frame = session.createDataFrame(table)
    if "moment" in frame.columns:
        frame = frame.withColumn("moment", frame["moment"].cast("timestamp_ntz"))
    return frame


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    columns = plain()
    return {case: evenhand.tabulate(columns, **words, missing="drop") for case, words in CASES.items()}


def same(data: Any, case: str, expected: dict[str, Any]) -> None:
    found = evenhand.tabulate(data, **CASES[case], missing="drop")
    assert found == expected[case]
    assert found.digest() == expected[case].digest()
    assert dict(found.left_out) == dict(expected[case].left_out)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("engine", LOCAL)
def test_nasty_data_in_one_process(engine: str, case: str, expected: dict[str, Any], tmp_path: Path) -> None:
    same(LOCAL[engine](arrow(), tmp_path), case, expected)


@pytest.mark.parametrize("case", CASES)
def test_nasty_data_in_dask(cluster: Any, case: str, expected: dict[str, Any]) -> None:
    same(in_dask(arrow().to_pandas(types_mapper=pd.ArrowDtype)), case, expected)
    # Dask turns columns of Python objects into text: decimals, and truth values with gaps, are no scores then.
    if case not in ("decimals", "truth as a score"):
        same(in_dask(arrow().to_pandas()), case, expected)


@pytest.mark.parametrize("case", CASES)
def test_nasty_data_in_spark(spark: Any, case: str, expected: dict[str, Any]) -> None:
    same(in_spark(spark, arrow()), case, expected)


def test_the_cases_are_nasty(expected: dict[str, Any]) -> None:
    """Nothing above would mean much if the values had been lost on the way here."""
    scores = expected["fractions"].score
    assert {0.0, 5e-324, 1e-310, 0.9999999999999999} <= set(scores.tolist())
    assert not np.signbit(scores).any()
    assert expected["fractions"].left_out["without a finite score 's'"] > 50
    assert 0.33333334 in expected["single precision"].score
    assert "1969-12-31" in expected["times"].attributes[0].groups
    assert "2024-10-27 01:30:00+00:00" in expected["times"].attributes[2].groups
    assert set(expected["decimals"].attributes[0].groups) == {"1.5", "2", "0.001", "-3.25"}


def everywhere(table: Any, folder: Path, session: Any) -> dict[str, Any]:
    made = {engine: make(table, folder) for engine, make in LOCAL.items()}
    return {**made, "dask": in_dask(table.to_pandas()), "spark": in_spark(session, table)}


def test_the_same_json_to_the_byte(cluster: Any, spark: Any, tmp_path: Path) -> None:
    words: dict[str, Any] = {
        **CASES["single precision"], "missing": "drop", "bootstrap": 20, "permutations": 20, "rng": 7, "threshold": 0.3,
        "measures": ["disparate_impact", "abcc"],
    }  # fmt: skip
    wanted = evenhand.audit(plain(), **words).to_json()
    for engine, data in everywhere(arrow(), tmp_path, spark).items():
        assert evenhand.audit(data, **words).to_json() == wanted, engine


def test_continuous_scores_on_a_grid(cluster: Any, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several passes over the data, the later ones over pieces of different decimals; only cells come back."""
    from evenhand.ingest import score_cells as counting

    rng = np.random.default_rng(0)
    rows = 5_000
    score = np.where(rng.random(rows) < 0.3, 1 / 3, rng.beta(0.4, 30, rows))
    columns: dict[str, Any] = {
        "s": score,
        "y": rng.integers(0, 2, rows),
        "g": np.array(["a", "b"])[np.arange(rows) % 2],
    }
    columns["s"][:3] = np.nan, np.inf, -0.0
    for name, value in {"EXACT": 500, "STEP": 1.6e-3, "LIGHT": 2e-3, "HEAVY": 6.4e-3, "DEAR": 3.2e-3}.items():
        monkeypatch.setattr(counting, name, value)
    words: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "missing": "drop"}
    expected = evenhand.tabulate(columns, **words)
    assert isinstance(expected, evenhand.Table)
    assert expected.spans is not None
    assert len(expected.spans.grid.pieces) > 5  # type: ignore[union-attr]
    frame = pd.DataFrame(columns)
    for data in (in_dask(frame), in_spark(spark, pa.Table.from_pandas(frame, preserve_index=False))):
        found = evenhand.tabulate(data, **words)
        assert found == expected, type(data)
        assert found.digest() == expected.digest()


def test_ten_thousand_groups(cluster: Any, spark: Any, tmp_path: Path) -> None:
    columns = many()
    wanted = evenhand.tabulate(columns, score="s", label="y", group="g", bands="none")
    assert len(wanted.attributes[0].groups) == 10_000
    for engine, data in everywhere(pa.table(columns), tmp_path, spark).items():
        found = evenhand.tabulate(data, score="s", label="y", group="g", bands="none")
        assert found == wanted, engine
        assert found.digest() == wanted.digest(), engine


WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": ["g", "h"]}


def deadly(marker: Path, times: int) -> Callable[[Any], Any]:
    """A step of the work that ends its own process, so many times; the marker tells how often it did."""
    file = str(marker)

    def step(frame: Any) -> Any:  # made here, because workers cannot import the tests
        time.sleep(0.2)  # the other worker has begun
        with open(file, "ab+") as died:
            if len(frame) and died.tell() < times:  # Dask tries it on an empty frame, too
                died.write(b"x")
                died.flush()
                os.kill(os.getpid(), signal.SIGKILL)
        return frame

    return step


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    (tmp_path / "died").write_bytes(b"")
    return tmp_path / "died"


def test_a_dask_worker_killed_while_counting(cluster: Any, marker: Path) -> None:
    """The first time its work is done again by another; if every worker dies of it, there is an error and no table."""
    frame = pd.DataFrame(people(300))
    wanted = evenhand.tabulate(people(300), **WORDS)
    data = in_dask(frame).map_partitions(deadly(marker, 1), meta=frame)
    assert evenhand.tabulate(data, **WORDS) == wanted
    assert marker.read_bytes() == b"x"
    data = in_dask(frame).map_partitions(deadly(marker, 1000), meta=frame)
    with pytest.raises(evenhand.DataError, match=r"dask cannot count these data: .*workers died") as caught:
        evenhand.tabulate(data, **WORDS)
    assert "\n" not in str(caught.value)
    assert len(marker.read_bytes()) > 2
    assert evenhand.tabulate(in_dask(frame), **WORDS) == wanted


def test_a_spark_task_that_fails(spark: Any, marker: Path) -> None:
    columns = people(300)
    frame = in_spark(spark, pa.table(columns)).repartition(2)
    wanted = evenhand.tabulate(columns, **WORDS)

    def failing(times: int) -> Any:
        step = deadly(marker, times)
        return frame.mapInPandas(lambda parts: map(step, parts), frame.schema)

    assert evenhand.tabulate(failing(1), **WORDS) == wanted
    assert marker.read_bytes() == b"x"
    with pytest.raises(evenhand.DataError, match=r"pyspark cannot count these data: .*failed 2 times") as caught:
        evenhand.tabulate(failing(1000), **WORDS)
    assert "\n" not in str(caught.value)
    assert len(marker.read_bytes()) > 2
    assert evenhand.tabulate(frame, **WORDS) == wanted


def test_scores_of_32_bits(cluster: Any, spark: Any) -> None:
    rng = np.random.default_rng(4)
    s = np.r_[rng.random(300), rng.random(300).round(2), 0.7, 0.1].astype(np.float32)
    columns = {
        "s": s,
        "g": rng.choice(["f", "m"], len(s)),
        "part": (rng.integers(1, 4, len(s)) / 10).astype(np.float32),
    }
    expected = evenhand.tabulate(columns, score="s", group=["g", "part"])
    table = pa.table(columns)
    for data in (in_dask(table.to_pandas()), in_spark(spark, table)):
        found = evenhand.tabulate(data, score="s", group=["g", "part"])
        assert found == expected
        assert found.attributes[1].groups == ("0.1", "0.2", "0.3")
        assert found.n[found.selected(float(s[3]))].sum() == (s >= s[3]).sum()


def test_spark_counts_by_bands_gaps_and_own_codes(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.ingest import score_cells

    monkeypatch.setattr(score_cells, "EXACT", 50)  # so that it counts by bands once these are settled
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(people(400, levels=None))
    frame["age"] = rng.integers(17, 91, 400)
    frame["own"] = np.where(frame["d"] == 1, "approve", "deny")
    frame["h"] = frame["h"].astype(object).where(frame.index % 9 > 0, None)
    words: dict[str, Any] = {
        "score": "s", "label": "y", "prediction": "own", "favorable_prediction": "approve", "group": ["age", "h"],
        "bands": {"age": "quantiles:3"}, "missing": "drop",
    }  # fmt: skip
    expected = evenhand.tabulate(frame.to_dict("list"), **words)
    found = evenhand.tabulate(spark.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False)), **words)
    assert found == expected
    assert found.digest() == expected.digest()
    assert len(found.attributes[0].groups) == 3
