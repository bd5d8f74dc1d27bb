"""Columns → a dataframe of the user's own library."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any
from uuid import uuid4

import numpy as np

from evenhand.errors import MissingLibrary, UsageError, listed, shown

LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb")


def plain_frame(columns: dict[str, list[Any]], types: dict[str, str], library: str | None) -> Any:
    """Columns as a dataframe of the library named, else of the first that is installed.

    DuckDB comes with evenhand, so there is always an answer; the others have to be installed.
    """
    if library is None:
        library = next(name for name in LIBRARIES if find_spec(name))
    if library not in LIBRARIES:
        raise UsageError(f"library must be one of {listed(LIBRARIES)}, not {shown(library)}")
    if not find_spec(library):
        raise MissingLibrary(f"to_frame({library!r}) needs {library}: pip install {library}")
    if library == "duckdb":
        return _relation(columns, types)
    import narwhals as nw

    kinds = {"str": nw.String, "float": nw.Float64, "int": nw.Int64, "bool": nw.Boolean}
    data = nw.from_dict(columns, {c: kinds[t]() for c, t in types.items()}, backend=import_module(library))
    return data.to_native()


def rows_frame(rows: list[dict[str, Any]], types: dict[str, str], library: str | None) -> Any:
    """Rows as a dataframe of the columns that have a type."""
    return plain_frame({name: [row[name] for row in rows] for name in types}, types, library)


def _relation(columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
    import duckdb

    from evenhand.files.paths import identifier

    kinds = {"str": "VARCHAR", "float": "DOUBLE", "int": "BIGINT", "bool": "BOOLEAN"}
    # The default connection: a relation of DuckDB 1 does not keep its own one alive.
    connection = duckdb.connect(":default:")
    name = f"evenhand_{uuid4().hex}"
    arrays = {c: np.array(v, np.float64 if types[c] == "float" else object) for c, v in columns.items()}
    selected = ", ".join(f"CAST({identifier(c)} AS {kinds[t]}) AS {identifier(c)}" for c, t in types.items())
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {selected} FROM arrays")
    del arrays  # it is read by its name, as DuckDB does with variables
    return connection.table(name)
