"""Paths → a DuckDB relation that reads them, in bounded memory."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.errors import DataError, EvenhandError, MissingLibrary, shown
from evenhand.files.data_file import FileFormat, stated_of
from evenhand.files.paths import literal, shown_path
from evenhand.files.secrets import is_address, masked
from evenhand.ingest.engines import csv_files, r_files, statistical_files, workbooks
from evenhand.ingest.engines.addresses import extensions, missing_extension, table_of
from evenhand.ingest.engines.contents import check_contents
from evenhand.ingest.engines.damage import (
    UNREADABLE,
    check_arrow,
    check_columns as check_columns,
    check_text,
    culprit,
    problem as problem,
)
from evenhand.ingest.engines.encodings import in_utf8, misfit
from evenhand.ingest.engines.found import Found, find
from evenhand.ingest.engines.parquet import parquet, parquet_names
from evenhand.ingest.engines.sheets import Reader, copied
from evenhand.ingest.engines.source import Source as Source
from evenhand.ingest.progress import followed, watchable

_MEGABYTES = 400
COPIED: dict[str, tuple[Reader, Callable[[str, FileFormat], list[str]]]] = {
    "workbook": (workbooks.read_workbook, workbooks.names_in),
    "R": (r_files.read_r, r_files.names_in),
    "statistical": (statistical_files.read_statistical, statistical_files.names_in),
}
"""What libraries read, from disk only: the reader of rows, and that of names."""
_TEXT = ("csv", "tsv", "json")
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "csv": ("CSV", csv_files.OPTIONS),
    "tsv": ("CSV", csv_files.OPTIONS),
    "json": ("JSON", ("encoding",)),
    "workbook": ("a workbook", workbooks.OPTIONS),
    "R": ("a file of R", r_files.OPTIONS),
    "statistical": ("a file of SAS, SPSS or Stata", statistical_files.OPTIONS),
    "arrow": ("an Arrow file", ()),
    "parquet": ("a Parquet file", ()),
    "database": ("a database", ()),
}
"""What each kind of file is called, and what may be stated about it."""
ACCEPTED = "a dataframe, a dict of columns, or the path of a file"


@contextmanager
def opened(path: Any, needed: Sequence[str]) -> Iterator[Source]:
    """Open a file, a folder, a glob or an address that DuckDB understands; a relation is open already."""
    import duckdb

    if not isinstance(path, str | os.PathLike):
        yield Source(path)
        return
    found, format = find(path), stated_of(path)
    files = found.files
    label = shown_path(files[0] if len(files) == 1 else os.fspath(path))
    spill = tempfile.mkdtemp(prefix="evenhand-")
    limit = max(_MEGABYTES, 125 * (os.cpu_count() or 1))
    config: dict[str, Any] = {
        "memory_limit": f"{limit}MB",
        "temp_directory": spill,
        "preserve_insertion_order": "false",
        **extensions(files),
    }
    try:
        with duckdb.connect(config=config) as connection:
            watchable(connection)
            source = _read(connection, found, label, needed, format, spill)
            yield replace(source, notes=(*found.notes, *source.notes))
    except (duckdb.Error, *UNREADABLE, csv.Error) as error:
        if spill in str(error) or "failed to offload" in str(error):
            folder = shown(tempfile.gettempdir())
            raise DataError(
                f"counting {label} needs more room for temporary files than there is in {folder}: make room, or name a "
                "folder on a larger disk in the environment variable TMPDIR"
            ) from error
        refusal = _refusal(error, found, needed, label, format)
        raise refusal from (None if is_address(files[0]) else error)  # an engine's error may hold a secret
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def _scan(found: Found, needed: Sequence[str], format: FileFormat) -> None:
    """Read all that is needed of some files."""
    import duckdb

    files = found.files
    with (
        tempfile.TemporaryDirectory(prefix="evenhand-") as folder,
        duckdb.connect(config=extensions(files)) as connection,
    ):
        source = _read(connection, found, shown_path(files[0]), needed, format, folder)
        columns = ", ".join(source.column(name) for name in needed)
        everything = source.relation.aggregate(f"bit_xor(hash({columns}))")
        followed(connection, f"looking into {os.path.basename(files[0])}", everything.fetchall)


def _refusal(error: Exception, found: Found, needed: Sequence[str], label: str, format: FileFormat) -> EvenhandError:
    """Why the files cannot be read, naming the one that cannot."""
    files = found.files
    if is_address(files[0]):
        why = missing_extension(error) or problem(DataError(masked(str(error), files[0])))
        return DataError(f"cannot read {label}: {why}")
    file, own = files[0] if len(files) == 1 else None, error
    if file is None:
        file, own = culprit(files, error, lambda some: _scan(replace(found, files=list(some)), needed, format))
    if isinstance(own, EvenhandError):
        return own
    if file and found.kind in _TEXT and _about_encoding(own) and (refusal := misfit(file)):
        return refusal
    return DataError(f"cannot read {shown_path(file) if file else label}: {problem(own)}")


def _about_encoding(error: Exception) -> bool:
    said = str(error).lower()
    return isinstance(error, UnicodeDecodeError) or "unicode" in said or "utf-8" in said or "utf8" in said


def _read(connection: Any, found: Found, label: str, needed: Sequence[str], format: FileFormat, folder: str) -> Source:
    """What files hold; copies that can be read go into the folder."""
    files, kind = found.files, found.kind
    name, options = KINDS[kind]
    format.check_only(options, files[0], name)
    for file in files:
        check_contents(file, kind)
    if kind in ("csv", "tsv"):
        return csv_files.read_csv(connection, files, kind, label, needed, format, folder)
    if kind == "arrow":
        return Source(connection.from_arrow(_arrow(files, label, needed)), connection, label)
    if kind == "database":
        return Source(table_of(connection, files[0]), connection, label)
    if kind == "parquet":
        relation, names = parquet(connection, found, needed)
        return Source(relation, connection, label, names=names)
    if kind in COPIED:
        return copied(connection, files, label, needed, COPIED[kind][0], format, folder)
    for file in files:
        if not is_address(file):
            check_text(file)
    paths = [literal(in_utf8(f, format.encoding, folder)) for f in files]
    present = connection.read_json(paths, hive_partitioning=False).columns
    if not set(needed) <= set(present):  # a key may turn up late
        read_all = partial(connection.read_json, paths, sample_size=-1, hive_partitioning=False)
        present = followed(connection, "looking for columns", read_all).columns
    check_columns(needed, present, label, files[0])
    as_json = dict.fromkeys(needed, "JSON")
    relation = connection.read_json(paths, columns=as_json, hive_partitioning=False)
    return Source(relation, connection, label, values="json")


def _arrow(files: list[str], label: str, needed: Sequence[str] = ()) -> Any:
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError:
        raise MissingLibrary(
            f"{label} is an Arrow file, which needs pyarrow: pip install 'evenhand[arrow]', or save it as Parquet"
        ) from None
    for file in files:
        try:
            check_arrow(file, needed)
        except (OSError, pyarrow.ArrowException) as error:
            raise DataError(f"cannot read {shown_path(file)}: {problem(error)}") from error
    return pyarrow.dataset.dataset(files, format="ipc")


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """What the columns of a file are called (of several files, those of the first)."""
    found, format = find(path), stated_of(path)
    files, kind = found.files[:1], found.kind
    name, options = KINDS[kind]
    format.check_only(options, files[0], name)
    with tempfile.TemporaryDirectory(prefix="evenhand-") as folder:
        return _names(replace(found, files=files), format, folder)


def _names(found: Found, format: FileFormat, folder: str) -> list[str]:
    import duckdb

    files, kind = found.files, found.kind
    try:
        check_contents(files[0], kind)
        if kind in ("csv", "tsv"):
            layout = csv_files.layout_of(in_utf8(files[0], format.encoding, folder), kind, format, files[0])
            return list(layout.header) if layout else []
        if kind in COPIED:
            return COPIED[kind][1](files[0], format)
        if kind == "arrow":
            return list(_arrow(files, shown_path(files[0])).schema.names)
        with duckdb.connect(config=extensions(files)) as connection:
            if kind == "database":
                return list(table_of(connection, files[0]).columns)
            if kind == "parquet":
                return parquet_names(connection, found)
            readable = literal(in_utf8(files[0], format.encoding, folder))
            return list(connection.read_json(readable, hive_partitioning=False).columns)
    except (duckdb.Error, *UNREADABLE, csv.Error) as error:
        refusal = _refusal(error, found, [], shown_path(files[0]), format)
        raise refusal from (None if is_address(files[0]) else error)
