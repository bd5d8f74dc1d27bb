"""Tables on disk: a Parquet file with one row per cell, described in docs/reference/table-format.md.

Column names are fixed (`score`, `decision`, `label`, `prediction`, `group_0` …, `n`, `weight`, `weight2`), because the
user's own names could collide; what they stand for is JSON in the file's key-value metadata.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import DataError, TableFileError, UsageError, shown
from evenhand.files.data_file import stated_of
from evenhand.files.json_text import parsed
from evenhand.files.paths import as_path, is_file, literal, replacing, shown_path
from evenhand.files.secrets import is_address
from evenhand.tables.assembly import assembled
from evenhand.tables.confusion import Confusion, describe_confusion
from evenhand.tables.file_format import (
    CONFUSION,
    MOST_ABOUT,
    MOST_CELLS,
    NAME,
    PRIVATE,
    SCHEMA,
    WITH_SPANS,
    Column,
    check_about,
    check_columns,
)  # fmt: skip
from evenhand.tables.table import Table, describe

_KEY = "evenhand"
_ALONE: dict[str, Any] = {
    "threads": 1, "autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
}  # fmt: skip
"""How DuckDB is opened: nothing that a file says fetches or loads an extension."""
_READER = {**_ALONE, "memory_limit": "2GB"}
"""A small file can claim to hold pages of any size."""
MANY = 1_000_000
"""More cells than this are counted before they are fetched,"""
DIFFERENT = 0.5
"""and so many of them must look different: a count of hashes, a few per cent off."""


def save(table: Table | Confusion, path: Any) -> None:
    """Write a table; the file appears only when it is complete."""
    import duckdb

    if isinstance(table, Confusion):
        described = describe_confusion(table)
        names = np.array(table.classes, dtype=object)
        columns: dict[str, Any] = {"label": names[table.true], "prediction": names[table.predicted]}
    else:
        described = describe(table)
        columns = {name: getattr(table, name) for name in ("score", "decision", "label")}
        columns = {name: column for name, column in columns.items() if column is not None}
        if table.spans is not None and table.score is not None:
            columns["score_low"], columns["score_high"] = table.spans.ends(table.score)
    for i, (attribute, codes) in enumerate(zip(table.attributes, table.codes, strict=True)):
        columns[f"group_{i}"] = np.array(attribute.groups, dtype=object)[codes]
    rest = {name: getattr(table, name, None) for name in ("n", "weight", "weight2", "cluster")}
    columns |= {name: column for name, column in rest.items() if column is not None}
    if isinstance(table, Table) and table.spans is not None:
        described["extremes"] = list(table.extremes)
        if table.spans.grid is not None:
            described["grid"] = [[p.start, p.decimals] for p in table.spans.grid.pieces]
    if history := table.provenance.to_dict():
        described["provenance"] = history
    about = {"schema": format_of(table), **described, "notes": list(table.notes), "digest": table.digest()}
    said = json.dumps(about, sort_keys=True)
    _check_size(table, said)
    with replacing(path) as temporary, duckdb.connect(config=_ALONE) as connection:
        connection.register("cells", columns)
        try:
            connection.execute(
                f"COPY (SELECT * FROM cells) TO {_quoted(str(temporary))} (FORMAT parquet, COMPRESSION zstd, "
                f"USE_TMP_FILE false, KV_METADATA {{{_KEY}: {_quoted(said)}}})"
            )
        except duckdb.IOException as error:
            raise UsageError(f"cannot write {shown_path(path)}: {_cause(error)}") from error


def format_of(table: Table | Confusion) -> str:
    """The oldest format that can say what the table holds."""
    if isinstance(table, Confusion):
        return CONFUSION
    if table.noise is not None:
        return PRIVATE
    return SCHEMA if table.spans is None else WITH_SPANS


def load(path: Any) -> Table | Confusion:
    """Read a table that `Table.save` or `Confusion.save` wrote.

    >>> import evenhand, tempfile, pathlib
    >>> t = evenhand.compas()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "compas.table"
    ...     t.save(file)
    ...     evenhand.load(file) == t
    True
    """
    import duckdb

    given, path = path, as_path(path)
    stated_of(given).check_only((), path, "a saved table")
    if not is_file(path):
        far = " on this machine: copy it here first" if is_address(str(given)) else ""
        raise TableFileError(f"no table to load: {shown_path(given)} is not a file{far}")
    if not _is_parquet(path):
        raise TableFileError(
            f"{shown_path(path.name)} is not a table saved by evenhand (it is not a Parquet file); "
            "make one with `evenhand table make` or Table.save"
        )
    try:
        table = _read(path)
    except (duckdb.Error, DataError, ValueError, ArithmeticError, MemoryError) as error:
        if isinstance(error, TableFileError):
            raise TableFileError(f"{shown_path(path.name)} {error}") from error
        why = str(error) if isinstance(error, DataError) else _first_line(error)
        raise TableFileError(f"{shown_path(path.name)} is damaged, or was not written as a table: {why}") from error
    return table


def is_table_file(path: Any) -> bool:
    """Whether a file says that `Table.save` or `Confusion.save` (of any version) wrote it."""
    import duckdb

    path = as_path(path)
    if not is_file(path) or not _is_parquet(path):
        return False
    try:
        with duckdb.connect(config=_READER) as connection:
            return _metadata(connection, path) is not None
    except duckdb.Error:
        return False


def check_whole(path: Any) -> None:
    """Refuse a Parquet file that ends too early: nobody can read it."""
    path = as_path(path)
    if not is_file(path) or not _is_parquet(path):
        return
    with path.open("rb") as file:
        file.seek(-4, os.SEEK_END)
        whole = file.read() == b"PAR1"
    if not whole:
        raise TableFileError(
            f"{shown_path(path.name)} is damaged, its end is missing: copy it again, or make it again "
            "(evenhand table make)"
        )


# ---- reading -----------------------------------------------------------------------------------------------------


def _read(path: Path) -> Table | Confusion:
    """The table of a file; errors do not name it."""
    import duckdb

    _check_footer(path)
    with duckdb.connect(config=_READER) as connection:
        said = _metadata(connection, path)
        if said is None:
            raise TableFileError(
                "is a Parquet file, but not a table saved by evenhand; to count its rows use tabulate or audit with "
                "the names of its columns"
            )
        about = parsed(said)
        check_about(about)
        columns = _columns(connection, path, about)
    table = assembled(about, columns)
    rows = len(columns["n"])
    if table.cells < rows:
        raise DataError(
            f"it has {rows:,} rows for {table.cells:,} cells: write one row per cell, with the sum of its n"
        )
    if about.get("digest") not in (None, table.digest()):
        raise TableFileError("is damaged or was changed by hand: its counts do not match its digest")
    return table


def _columns(connection: Any, path: Path, about: dict[str, Any]) -> dict[str, Any]:
    """The columns of a file by their names, texts as places in the names that its JSON lists."""
    source = f"read_parquet({_quoted(literal(str(path)))}, hive_partitioning = false)"
    described = connection.execute(f"DESCRIBE FROM {source}").fetchall()
    kinds = check_columns({row[0]: row[1] for row in described}, about)
    _check_rows(connection, source, kinds)
    names = {f"group_{i}": a["groups"] for i, a in enumerate(about["attributes"])}
    names |= dict.fromkeys(("label", "prediction"), about.get("classes"))
    wanted = []
    for name, column in kinds.items():
        if column == NAME:
            _list_names(connection, name, names[name])
        wanted.append(f"enum_code(TRY_CAST({name} AS {name})) AS {name}" if column == NAME else name)
    found = connection.execute(f"SELECT {', '.join(wanted)} FROM {source}").fetchnumpy()
    return {name: column.checked(found[name], name) for name, column in kinds.items()}


def _list_names(connection: Any, column: str, names: list[str]) -> None:
    """Make a type of the names of a column, so that only their places are fetched."""
    connection.register("listed", {"name": np.array(names, dtype=object)})
    connection.execute(f"CREATE TYPE {column} AS ENUM (SELECT name FROM listed)")
    if connection.execute(f"SELECT enum_range(NULL::{column})").fetchall() != [(names,)]:
        raise DataError(f"the names of its column {shown(column)} are not all different")


def _check_rows(connection: Any, source: str, kinds: dict[str, Column]) -> None:
    """Refuse rows that are no cells before they take memory: a tiny file can repeat one of them a billion times."""
    [(rows,)] = connection.execute(f"SELECT count(*) FROM {source}").fetchall()
    if rows == 0:
        raise DataError("it has no cells")
    if rows > MOST_CELLS:
        raise DataError(f"it has {rows:,} rows, more than the {MOST_CELLS:,} cells that a table file may have")
    if rows > MANY:
        keys = ", ".join(name for name in kinds if name not in ("n", "weight", "weight2"))
        [(cells,)] = connection.execute(f"SELECT approx_count_distinct(hash({keys})) FROM {source}").fetchall()
        if cells < DIFFERENT * rows:
            raise DataError(f"it has {rows:,} rows for about {cells:,} cells: write one row per cell")


def _check_footer(path: Path) -> None:
    """Refuse a file that says more about itself than a table does, before it is read."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 8, 0))
        length = int.from_bytes(file.read(4), "little")
    if length > 2 * MOST_ABOUT:
        raise DataError(f"it says more about itself ({length:,} bytes) than about people")


def _check_size(table: Table | Confusion, said: str) -> None:
    if table.cells > MOST_CELLS:
        raise UsageError(
            f"a table file has at most {MOST_CELLS:,} cells, and this table has {table.cells:,}: count its scores on a "
            "grid (without --exact, grid=False)"
        )
    if len(said) > MOST_ABOUT:
        raise UsageError(
            f"the names of groups and the notes of this table take {len(said):,} bytes, and a table file has at most "
            f"{MOST_ABOUT:,}: take group columns of fewer values"
        )


def _metadata(connection: Any, path: Path) -> bytes | None:
    """What the file says about its columns, as bytes of JSON; None of other Parquet files."""
    found = connection.execute(
        f"SELECT value FROM parquet_kv_metadata({_quoted(literal(str(path)))}) WHERE key = {_quoted(_KEY)}::BLOB"
    ).fetchone()
    return None if found is None else bytes(found[0])


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _cause(error: BaseException) -> str:
    """Why nothing could be written, without the name of the temporary file."""
    found = re.findall(r'\.part\\?": ([\w ,]+)', str(error))
    return found[0] if found else _first_line(error)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
