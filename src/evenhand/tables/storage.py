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
from evenhand.files.paths import as_path, is_file, literal, replacing, shown_path
from evenhand.files.secrets import is_address
from evenhand.tables.cells import Attribute
from evenhand.tables.confusion import Confusion, describe_confusion
from evenhand.tables.grid import Grid, Piece
from evenhand.tables.noise import Noise
from evenhand.tables.provenance import Provenance
from evenhand.tables.ranges import Spans
from evenhand.tables.table import Meaning, Table, describe

SCHEMA = "evenhand/table/1"
WITH_SPANS = "evenhand/table/2"
"""Scores may be ranges: a reader of version 1 would take those for exact."""
PRIVATE = "evenhand/table/3"
"""Counts hold noise: a reader of version 2 would take them for true."""
CONFUSION = "evenhand/confusion/1"
_KEY = "evenhand"
_TYPES: dict[str, Any] = {
    "n": np.int64, "score": np.float64, "decision": np.bool_, "label": np.bool_, "weight": np.float64,
    "weight2": np.float64, "cluster": np.int64,
}  # fmt: skip
_ALONE: Any = {"threads": 1, "autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""How DuckDB is opened: nothing that a file says fetches or loads an extension."""


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
    if said := table.provenance.to_dict():
        described["provenance"] = said
    about = {"schema": format_of(table), **described, "notes": list(table.notes), "digest": table.digest()}
    with replacing(path) as temporary, duckdb.connect(config=_ALONE) as connection:
        connection.register("cells", columns)
        try:
            connection.execute(
                f"COPY (SELECT * FROM cells) TO {_quoted(str(temporary))} (FORMAT parquet, COMPRESSION zstd, "
                f"USE_TMP_FILE false, KV_METADATA {{{_KEY}: {_quoted(json.dumps(about, sort_keys=True))}}})"
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
    if not is_file(path):
        far = " on this machine: copy it here first" if is_address(str(given)) else ""
        raise TableFileError(f"no table to load: {shown_path(given)} is not a file{far}")
    if not _is_parquet(path):
        raise TableFileError(
            f"{shown_path(path.name)} is not a table saved by evenhand (it is not a Parquet file); "
            "make one with `evenhand table make` or Table.save"
        )
    try:
        with duckdb.connect(config=_ALONE) as connection:
            about = _metadata(connection, path)
            if about is None:
                raise TableFileError(
                    f"{shown_path(path.name)} is a Parquet file, but not a table saved by evenhand; "
                    "to count its rows use tabulate or audit with the names of its columns"
                )
            _check_schema(about, path)
            cells = f"FROM read_parquet({_quoted(literal(str(path)))}, hive_partitioning = false)"
            columns = connection.execute(cells).fetchnumpy()
        table = (_confusion if about["schema"] == CONFUSION else _assembled)(about, columns)
    except TableFileError:
        raise
    except (duckdb.Error, DataError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise TableFileError(f"{shown_path(path.name)} is damaged: {_first_line(error)}") from error
    if about.get("digest") not in (None, table.digest()):
        raise TableFileError(
            f"{shown_path(path.name)} is damaged or was changed by hand: its counts do not match its digest"
        )
    return table


def is_table_file(path: Any) -> bool:
    """Whether a file was saved by `Table.save` or `Confusion.save` (of any version)."""
    import duckdb

    path = as_path(path)
    if not is_file(path) or not _is_parquet(path):
        return False
    try:
        with duckdb.connect(config=_ALONE) as connection:
            return _metadata(connection, path) is not None
    except (duckdb.Error, ValueError):
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


def _assembled(about: dict[str, Any], columns: dict[str, Any]) -> Table:
    attributes, codes = _groups(about, columns)
    meaning = dict(about["meaning"])
    if meaning["score_range"] is not None:
        lo, hi = map(float, meaning["score_range"])
        meaning["score_range"] = (lo, hi)
    return Table.of_cells(
        attributes=attributes,
        codes=codes,
        spans=_spans(about, columns) if "score_low" in columns or "extremes" in about else None,
        noise=Noise(**about["noise"]) if about["schema"] == PRIVATE else None,
        **{name: _column(columns, name) for name in _TYPES},
        meaning=Meaning(**meaning),
        **_tallies(about),
    )


def _spans(about: dict[str, Any], columns: dict[str, Any]) -> Spans:
    low, high = (_column(columns, name) for name in ("score_low", "score_high"))
    if low is None or high is None:
        raise TableFileError("it has no ranges of scores")
    ranges = np.unique(np.stack([low, high])[:, low < high], axis=1)
    if (ranges[0][1:] < ranges[1][:-1]).any():
        raise TableFileError("its ranges of scores overlap")
    lowest, highest = map(float, about["extremes"])
    pieces = tuple(Piece(float(start), int(decimals)) for start, decimals in about.get("grid", ()))
    starts = np.array([p.start for p in pieces])
    if not (np.isfinite(starts).all() and (np.diff(starts) > 0).all() and all(abs(p.decimals) <= 300 for p in pieces)):
        raise TableFileError("its grid is none")
    return Spans(ranges[0], ranges[1], lowest, highest, Grid(pieces) if pieces else None)


def _confusion(about: dict[str, Any], columns: dict[str, Any]) -> Confusion:
    attributes, codes = _groups(about, columns)
    classes = tuple(about["classes"])
    return Confusion.of_cells(
        attributes=attributes,
        codes=codes,
        true=_places(classes, columns["label"]),
        predicted=_places(classes, columns["prediction"]),
        classes=classes,
        **{name: _column(columns, name) for name in ("n", "weight", "weight2")},
        meaning=Meaning(**about["meaning"]),
        **_tallies(about),
    )


def _groups(about: dict[str, Any], columns: dict[str, Any]) -> tuple[tuple[Attribute, ...], Any]:
    attributes = tuple(Attribute(a["name"], tuple(a["groups"])) for a in about["attributes"])
    codes = [_places(a.groups, columns[f"group_{i}"]) for i, a in enumerate(attributes)]
    return attributes, np.array(codes, np.int64).reshape(len(attributes), -1)


def _places(names: tuple[str, ...], column: Any) -> Any:
    place = {name: k for k, name in enumerate(names)}
    return np.array([place[value] for value in column.tolist()], np.int64)


def _column(columns: dict[str, Any], name: str) -> Any:
    if name not in columns:
        return None
    if np.ma.is_masked(columns[name]):
        raise TableFileError(f"its column {name!r} has gaps")
    return np.asarray(columns[name]).astype(_TYPES.get(name, np.float64))


def _tallies(about: dict[str, Any]) -> dict[str, Any]:
    return {
        "left_out": {str(k): int(v) for k, v in about["left_out"].items()},
        "left_out_groups": about["left_out_groups"],
        "notes": tuple(map(str, about.get("notes", ()))),
        "provenance": Provenance.of_dict(about.get("provenance", {})),
    }


def _metadata(connection: Any, path: Path) -> dict[str, Any] | None:
    rows = connection.execute(f"SELECT key, value FROM parquet_kv_metadata({_quoted(literal(str(path)))})").fetchall()
    for key, value in rows:
        if bytes(key) == _KEY.encode():
            about = json.loads(bytes(value).decode())
            return about if isinstance(about, dict) else None
    return None


def _check_schema(about: dict[str, Any], path: Path) -> None:
    schema = str(about.get("schema"))
    if schema in (SCHEMA, WITH_SPANS, PRIVATE, CONFUSION):
        return
    family, _, version = schema.rpartition("/")
    newest = {"evenhand/table": 3, "evenhand/confusion": 1}.get(family)
    if newest is not None and version.isdigit() and int(version) > newest:
        raise TableFileError(
            f"{shown_path(path.name)} has table format {version}, newer than this evenhand reads ({newest}): "
            "upgrade evenhand"
        )
    raise TableFileError(f"{shown_path(path.name)} has the unknown table format {shown(schema)}")


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
