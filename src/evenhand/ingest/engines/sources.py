"""Paths → a DuckDB relation that reads them, in bounded memory."""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from evenhand.errors import DataError, EvenhandError, MissingLibrary, shown
from evenhand.files.paths import identifier, literal, shown_path
from evenhand.files.secrets import is_address, masked
from evenhand.ingest.engines.addresses import extensions, missing_extension, table_of
from evenhand.ingest.engines.damage import (
    UNREADABLE,
    check_arrow,
    check_columns as check_columns,
    check_text,
    culprit,
    problem as problem,
)
from evenhand.ingest.engines.found import Found, find
from evenhand.ingest.engines.parquet import parquet, parquet_names
from evenhand.ingest.progress import followed, watchable

_MEGABYTES = 400
ACCEPTED = "a dataframe, a dict of columns, or the path of a file"


@dataclass(frozen=True)
class Source:
    """A relation, and what a reader of it has to know."""

    relation: Any
    connection: Any = None
    """The connection that belongs to the source; None for a relation of the user's."""
    label: str = "the data"
    values: Literal["typed", "text", "json"] = "typed"
    """How columns arrive. CSV is read as text and JSON as JSON, so that no type is guessed from a sample."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What columns are called in the relation, where that is something else (it does not tell G from g)."""
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        return list(self.names or self.relation.columns)

    def type_of(self, name: str) -> str:
        """What DuckDB says that a column holds."""
        types = dict(zip(self.relation.columns, self.relation.types, strict=True))
        return str(types[self.names.get(name, name)])

    def column(self, name: str) -> str:
        """A column, quoted for SQL."""
        return identifier(self.names.get(name, name))


@contextmanager
def opened(path: Any, needed: Sequence[str]) -> Iterator[Source]:
    """Open a file, a folder, a glob or an address that DuckDB understands; a relation is open already."""
    import duckdb

    if not isinstance(path, str | os.PathLike):
        yield Source(path)
        return
    found = find(path)
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
            source = _read(connection, found, label, needed)
            yield replace(source, notes=(*found.notes, *source.notes))
    except (duckdb.Error, *UNREADABLE, csv.Error) as error:
        if spill in str(error) or "failed to offload" in str(error):
            folder = shown(tempfile.gettempdir())
            raise DataError(
                f"counting {label} needs more room for temporary files than there is in {folder}: make room, or name a "
                "folder on a larger disk in the environment variable TMPDIR"
            ) from error
        refusal = _refusal(error, found, needed, label)
        raise refusal from (None if is_address(files[0]) else error)  # an engine's error may hold a secret
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def _scan(found: Found, needed: Sequence[str]) -> None:
    """Read all that is needed of some files."""
    import duckdb

    files = found.files
    with duckdb.connect(config=extensions(files)) as connection:
        source = _read(connection, found, shown_path(files[0]), needed)
        columns = ", ".join(source.column(name) for name in needed)
        everything = source.relation.aggregate(f"bit_xor(hash({columns}))")
        followed(connection, f"looking into {os.path.basename(files[0])}", everything.fetchall)


def _refusal(error: Exception, found: Found, needed: Sequence[str], label: str) -> EvenhandError:
    """Why the files cannot be read, naming the one that cannot."""
    files = found.files
    if is_address(files[0]):
        why = missing_extension(error) or problem(DataError(masked(str(error), files[0])))
        return DataError(f"cannot read {label}: {why}")
    file, own = files[0] if len(files) == 1 else None, error
    if file is None:
        file, own = culprit(files, error, lambda some: _scan(replace(found, files=list(some)), needed))
    if isinstance(own, EvenhandError):
        return own
    return DataError(f"cannot read {shown_path(file) if file else label}: {problem(own)}")


def _read(connection: Any, found: Found, label: str, needed: Sequence[str]) -> Source:
    files, kind = found.files, found.kind
    if kind in ("csv", "tsv"):
        return _read_csv(connection, files, kind, label, needed)
    if kind == "arrow":
        return Source(connection.from_arrow(_arrow(files, label, needed)), connection, label)
    if kind == "database":
        return Source(table_of(connection, files[0]), connection, label)
    if kind == "parquet":
        relation, names = parquet(connection, found, needed)
        return Source(relation, connection, label, names=names)
    for file in files:
        if not is_address(file):
            check_text(file)
    paths = [literal(f) for f in files]
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


@dataclass(frozen=True)
class _Layout:
    """How a CSV file is laid out."""

    header: tuple[str, ...]
    delimiter: str


def _read_csv(connection: Any, files: list[str], kind: str, label: str, needed: Sequence[str]) -> Source:
    """Files of one layout are read together, each column by its place; then all of them one after the other."""
    layouts: dict[_Layout | None, list[str]] = {}
    for file in files:
        if not is_address(file):
            check_text(file)
        layouts.setdefault(_layout(file, kind), []).append(file)
    columns = list(dict.fromkeys(needed))
    whole, notes = None, []
    for layout, members in layouts.items():
        where = shown_path(members[0])
        if layout is not None:
            check_columns(needed, layout.header, where, members[0])
        # Everything is text: no type is guessed from the first rows, and '007' stays '007'.
        relation = connection.read_csv(
            [literal(f) for f in members],
            header=True,
            all_varchar=True,
            delimiter=layout.delimiter if layout else ("\t" if kind == "tsv" else ","),
            quotechar='"',
            escapechar='"',
            skiprows=0,
            hive_partitioning=False,
        )
        header = layout.header if layout else tuple(relation.columns)
        if len(header) != len(relation.columns):
            raise DataError(f"cannot read {where}: its first line names {len(header)} columns, its rows have others")
        check_columns(needed, header, where, members[0])
        notes += _repeated(connection, relation, header, columns, where)
        places = [relation.columns[header.index(c)] for c in columns]
        part = relation.project(", ".join(f"{identifier(p)} AS column_{i}" for i, p in enumerate(places)))
        whole = part if whole is None else whole.union(part)
    names = {c: f"column_{i}" for i, c in enumerate(columns)}
    return Source(whole, connection, label, "text", names, tuple(dict.fromkeys(notes)))


def _layout(file: str, kind: str) -> _Layout | None:
    """The names in the first line and what separates them; None where Python cannot look into the file."""
    if is_address(file) or file.lower().endswith(".zst"):
        return None
    opener: Any = gzip.open if file.lower().endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
        start = stream.read(1 << 16)
        # a quoted name may hold separators and line ends
        first = re.split(r"[\r\n]", re.sub(r'"[^"]*"', "", start), maxsplit=1)[0]
        delimiter = "\t" if kind == "tsv" else max(",;\t|", key=first.count)
        stream.seek(0)
        header = tuple(next(csv.reader(stream, delimiter=delimiter), []))
    if not header:
        raise DataError(f"{shown_path(file)} is empty: a file needs a header and at least one row")
    return _Layout(header, delimiter)


def _repeated(connection: Any, relation: Any, header: tuple[str, ...], needed: Sequence[str], where: str) -> list[str]:
    """A needed column may stand twice in a header only if both say the same."""
    notes = []
    for name in needed:
        places = [identifier(relation.columns[i]) for i, found in enumerate(header) if found == name]
        if len(places) < 2:
            continue
        differ = " OR ".join(f"{places[0]} IS DISTINCT FROM {p}" for p in places[1:])
        if followed(connection, f"comparing columns {name}", relation.filter(differ).limit(1).fetchall):
            raise DataError(f"{where} has {len(places)} columns called {shown(name)} that differ: rename one of them")
        notes.append(f"the file has {len(places)} columns called {shown(name)}; they are identical")
    return notes


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """What the columns of a file are called (of several files, those of the first)."""
    import duckdb

    found = find(path)
    files, kind = found.files[:1], found.kind
    try:
        if kind in ("csv", "tsv"):
            layout = _layout(files[0], kind)
            return list(layout.header) if layout else []
        if kind == "arrow":
            return list(_arrow(files, shown_path(files[0])).schema.names)
        with duckdb.connect(config=extensions(files)) as connection:
            if kind == "database":
                return list(table_of(connection, files[0]).columns)
            if kind == "parquet":
                return parquet_names(connection, replace(found, files=files))
            return list(connection.read_json(literal(files[0]), hive_partitioning=False).columns)
    except (duckdb.Error, *UNREADABLE, csv.Error) as error:
        refusal = _refusal(error, replace(found, files=files), [], shown_path(files[0]))
        raise refusal from (None if is_address(files[0]) else error)
