"""What holds data and counts them: one line per engine.

A new engine is a line here and a module beside, which has

| function | what |
|---|---|
| `names(data)` | what the columns are called |
| `columns(data)` | the columns by name, so that arrays can stand beside them |
| `values(data, names)` | some columns as plain values, one entry per row |
| `counting(data, names, groups, by_day)` | a context: rows as `Counting` has them, `names` being columns by role |

`arrays` count what other engines cannot: columns picked one by one, among them tensors, which stay on their device.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np


class Engine(NamedTuple):
    """What holds some kind of data."""

    name: str
    holds: Callable[[Any], bool]
    module: str
    """Loaded when such data are met, because of the libraries it needs."""
    library: str | None = None
    """The dataframe library in which answers about such data are given."""

    @property
    def code(self) -> Any:
        return import_module(f"evenhand.ingest.engines.{self.module}")

    @property
    def in_memory(self) -> bool:
        """Whether columns are there to be picked."""
        return self.module != "relations"


def _of(*packages: str) -> Callable[[Any], bool]:
    return lambda data: type(data).__module__.split(".")[0] in packages


# fmt: off
ENGINES = (
    Engine("arrays", lambda data: data is None or isinstance(data, Mapping | np.ndarray | list | tuple), "arrays"),
    Engine("files", lambda data: isinstance(data, str | os.PathLike), "relations"),
    Engine("DuckDB", lambda data: type(data).__name__ == "DuckDBPyRelation", "relations", "duckdb"),
    Engine("pandas, Dask, Modin", _of("pandas", "dask", "modin"), "dataframes", "pandas"),
    Engine("Polars", _of("polars"), "dataframes", "polars"),
    Engine("Arrow", _of("pyarrow"), "dataframes", "pyarrow"),
    Engine("Spark and whatever else narwhals knows", lambda data: True, "dataframes"),
)
# fmt: on


def engine_of(data: Any) -> Engine:
    """The engine that holds data.

    >>> engine_of("people.csv").name, engine_of({"sex": ["f", "m"]}).name
    ('files', 'arrays')
    """
    return next(engine for engine in ENGINES if engine.holds(data))


def names_of(data: Any) -> list[str]:
    """What the columns of data are called; none of arrays."""
    return [str(name) for name in engine_of(data).code.names(data)]


def library_of(data: Any) -> str | None:
    """The dataframe library in which answers about data are given, if they came in one."""
    return engine_of(data).library
