"""One engine, one file: what bare counts and the audit cost, in a process of its own. `scaling.py` starts it.

    python benchmarks/engines.py ENGINE FILE

prints JSON: by task, seconds and processor seconds (those of workers included).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from processes import family_cpu

Task = Callable[[], Any]
WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
CELLS = 100_000
"""So many score cells the second bare count has."""


@contextmanager
def duckdb_file(file: str) -> Iterator[dict[str, Task]]:
    """Bare counts only: the audit is the command line itself."""
    import duckdb

    with duckdb.connect() as connection:

        def count(by: str) -> Task:
            return lambda: connection.execute(f"SELECT {by}, count(*) FROM '{file}' GROUP BY ALL").fetchnumpy()

        yield {"bare": count("g, y"), "by cell": count(f"floor(s * {CELLS}) AS cell, g, y")}


@contextmanager
def pandas_frame(file: str) -> Iterator[dict[str, Task]]:
    import pandas as pd

    frame = pd.read_parquet(file)
    cell = (frame["s"] * CELLS).floordiv(1)
    yield {
        "bare": lambda: frame.groupby(["g", "y"]).size(),
        "by cell": lambda: frame.groupby([cell, "g", "y"]).size(),
        "audit": lambda: _audit(frame),
    }


@contextmanager
def polars_lazy(file: str) -> Iterator[dict[str, Task]]:
    import polars as pl

    frame = pl.scan_parquet(file)
    cell = (pl.col("s") * CELLS).floor().alias("cell")
    yield {
        "bare": lambda: frame.group_by("g", "y").len().collect(),
        "by cell": lambda: frame.group_by(cell, "g", "y").len().collect(),
        "audit": lambda: _audit(frame),
    }


@contextmanager
def arrow_table(file: str) -> Iterator[dict[str, Task]]:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(file)

    def by_cell() -> Any:
        cells = table.append_column("cell", pc.floor(pc.multiply(table["s"], CELLS)))
        return cells.group_by(["cell", "g", "y"]).aggregate([([], "count_all")])

    yield {
        "bare": lambda: table.group_by(["g", "y"]).aggregate([([], "count_all")]),
        "by cell": by_cell,
        "audit": lambda: _audit(table),
    }


@contextmanager
def numpy_arrays(file: str) -> Iterator[dict[str, Task]]:
    """Groups as small whole numbers: as text, numpy would have to sort them first."""
    import duckdb
    import numpy as np

    with duckdb.connect() as connection:
        asked = f"SELECT s, y::TINYINT AS y, right(g, 1)::TINYINT AS g FROM '{file}'"
        columns = {name: np.asarray(values) for name, values in connection.execute(asked).fetchnumpy().items()}
    s, y, g = columns["s"], columns["y"], columns["g"]
    yield {
        "bare": lambda: np.bincount(2 * g + y),
        "by cell": lambda: np.bincount(((s * CELLS).astype(np.int64) * 8 + 2 * g) + y),
        "audit": lambda: _audit(columns),
    }


@contextmanager
def dask_workers(file: str) -> Iterator[dict[str, Task]]:
    """Two worker processes of one thread each; they stand ready when the clock starts."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60)  # type: ignore[no-untyped-call,unused-ignore]
    with cluster, Client(cluster):  # type: ignore[no-untyped-call,unused-ignore]
        frame = dd.read_parquet(file, split_row_groups=10)
        cells = frame.assign(cell=(frame["s"] * CELLS).floordiv(1))
        yield {
            "bare": lambda: frame.groupby(["g", "y"]).size().compute(),
            "by cell": lambda: cells.groupby(["cell", "g", "y"]).size().compute(),
            "audit": lambda: _audit(frame),
        }


@contextmanager
def spark_local(file: str) -> Iterator[dict[str, Task]]:
    """Two threads of one JVM, which stands ready when the clock starts."""
    from pyspark.sql import SparkSession, functions

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = (
        SparkSession.builder.master("local[2]")  # type: ignore[attr-defined,unused-ignore]
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    frame = session.read.parquet(file)
    cells = frame.withColumn("cell", functions.floor(frame["s"] * CELLS))
    try:
        yield {
            "bare": lambda: frame.groupBy("g", "y").count().collect(),
            "by cell": lambda: cells.groupBy("cell", "g", "y").count().toPandas(),
            "audit": lambda: _audit(frame),
        }
    finally:
        session.stop()


@contextmanager
def saved_table(file: str) -> Iterator[dict[str, Task]]:
    import evenhand

    yield {"audit": lambda: evenhand.audit(evenhand.load(file))}


ENGINES = {
    "parquet": duckdb_file,
    "csv": duckdb_file,
    "pandas": pandas_frame,
    "polars": polars_lazy,
    "arrow": arrow_table,
    "numpy": numpy_arrays,
    "dask": dask_workers,
    "spark": spark_local,
    "table": saved_table,
}


def _audit(data: Any) -> Any:
    import evenhand

    return evenhand.audit(data, **WORDS)


def _warm() -> None:
    """What a session pays once: imports, and the first use of each part."""
    import evenhand

    evenhand.audit(evenhand.compas(), threshold=5)


def timed(task: Task, repeat: int) -> dict[str, float]:
    """The best of several runs."""
    runs = []
    for _ in range(repeat):
        spent, start = family_cpu(), time.perf_counter()
        task()
        runs.append((time.perf_counter() - start, family_cpu() - spent))
    seconds, cpu = min(runs)
    return {"seconds": seconds, "cpu": cpu}


def main() -> None:
    engine, file = sys.argv[1:]
    sys.path.insert(0, str(Path(__file__).parent))
    with ENGINES[engine](file) as tasks:
        if "audit" in tasks:
            _warm()
        # bare counts twice, so that the first reading of the file is not theirs
        found = {name: timed(task, 1 if name == "audit" else 2) for name, task in tasks.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
