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
from dataclasses import dataclass, field
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import DataError, EvenhandError, MissingLibrary, UsageError, listed, nearest, shown
from evenhand.files.paths import as_path, identifier, is_file, literal, shown_path, whole_files
from evenhand.files.secrets import is_address, masked
from evenhand.ingest.engines.addresses import extensions, is_database, missing_extension, table_of, without_query
from evenhand.ingest.engines.damage import UNREADABLE, check_arrow, check_text, culprit, problem as problem
from evenhand.ingest.progress import followed, watchable

_KINDS = {
    "csv": "csv", "tsv": "tsv", "txt": "csv", "tab": "tsv",
    "parquet": "parquet", "pq": "parquet",
    "arrow": "arrow", "feather": "arrow", "ipc": "arrow",
    "jsonl": "json", "ndjson": "json", "json": "json",
}  # fmt: skip
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
    files, kind = _find(path)
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
            yield _read(connection, files, kind, label, needed)
    except (duckdb.Error, *UNREADABLE, csv.Error) as error:
        if spill in str(error) or "failed to offload" in str(error):
            folder = shown(tempfile.gettempdir())
            raise DataError(
                f"counting {label} needs more room for temporary files than there is in {folder}: make room, or name a "
                "folder on a larger disk in the environment variable TMPDIR"
            ) from error
        refusal = _refusal(error, files, kind, needed, label)
        raise refusal from (None if is_address(files[0]) else error)  # an engine's error may hold a secret
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def _scan(files: Sequence[str], kind: str, needed: Sequence[str]) -> None:
    """Read all that is needed of some files."""
    import duckdb

    with duckdb.connect(config=extensions(files)) as connection:
        source = _read(connection, list(files), kind, shown_path(files[0]), needed)
        columns = ", ".join(source.column(name) for name in needed)
        everything = source.relation.aggregate(f"bit_xor(hash({columns}))")
        followed(connection, f"looking into {os.path.basename(files[0])}", everything.fetchall)


def _refusal(error: Exception, files: list[str], kind: str, needed: Sequence[str], label: str) -> EvenhandError:
    """Why the files cannot be read, naming the one that cannot."""
    if is_address(files[0]):
        why = missing_extension(error) or problem(DataError(masked(str(error), files[0])))
        return DataError(f"cannot read {label}: {why}")
    file, own = files[0] if len(files) == 1 else None, error
    if file is None:
        file, own = culprit(files, error, lambda some: _scan(some, kind, needed))
    if isinstance(own, EvenhandError):
        return own
    return DataError(f"cannot read {shown_path(file) if file else label}: {problem(own)}")


def files_of(given: str | os.PathLike[str]) -> list[str]:
    """The files on disk that would be read; none if they cannot be."""
    if is_address(os.fspath(given)):
        return []
    path = as_path(given)
    if is_file(path):
        return [str(path)]
    try:
        return _find(given)[0]
    except EvenhandError:
        return []


def _find(given: str | os.PathLike[str]) -> tuple[list[str], str]:
    """The files that a path, folder or pattern means, and their kind."""
    if not os.fspath(given):
        raise UsageError("a path cannot be empty: name a file, a folder or a pattern such as '*.csv'")
    if is_address(os.fspath(given)):
        return [os.fspath(given)], _kind_far_away(os.fspath(given))
    path = as_path(given)
    try:
        if path.is_dir():
            files = sorted(whole_files(str(p) for p in path.rglob("*") if _counts(p, path)))
            if not files:
                raise DataError(f"folder {shown_path(path)} holds no file evenhand can read ({listed(_KINDS, 20)})")
        elif path.is_file():
            files = [str(path)]
        else:
            files = sorted(whole_files(glob(str(path), recursive=True)))
    except OSError as error:
        raise DataError(f"cannot read {shown_path(path)}: {error.strerror or error}") from error
    if not files:
        if has_magic(str(path)):
            raise DataError(f"no file matches {shown_path(path)}")
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"there is no file {shown_path(path)}{nearest(path.name, siblings)}")
    kinds = sorted({_kind(f) for f in files})
    if len(kinds) > 1:
        raise DataError(f"{shown_path(path)} mixes {listed(kinds)} files: name one kind, as in '*.csv'")
    return files, kinds[0]


def _counts(file: Path, folder: Path) -> bool:
    """Whether a file belongs to the data of a folder: those of editors and engines start with . or _"""
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    return not hidden and _suffix(file.name) in _KINDS


def _suffix(name: str) -> str:
    parts = name.lower().split(".")
    if parts[-1] in ("gz", "zst") and len(parts) > 2:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def _kind(path: str) -> str:
    if is_database(path):
        return "database"
    kind = _KINDS.get(_suffix(os.path.basename(without_query(path))))
    if kind is None and os.path.isfile(path):
        with open(path, "rb") as file:
            kind = {b"PAR1": "parquet", b"ARRO": "arrow"}.get(file.read(4))
    if kind is None:
        raise DataError(
            f"cannot tell what {shown_path(path)} holds: its name should end in one of {listed(_KINDS, 20)}"
        )
    return kind


def _kind_far_away(address: str) -> str:
    kind = _kind(address)
    if kind == "arrow":
        raise UsageError(
            f"Arrow files are read from disk only, not from {shown_path(address)}: copy it, or make it Parquet"
        )
    return kind


def _read(connection: Any, files: list[str], kind: str, label: str, needed: Sequence[str]) -> Source:
    if kind in ("csv", "tsv"):
        return _read_csv(connection, files, kind, label, needed)
    if kind == "arrow":
        return Source(connection.from_arrow(_arrow(files, label, needed)), connection, label)
    if kind == "database":
        return Source(table_of(connection, files[0]), connection, label)
    paths = [literal(f) for f in files]
    if kind == "parquet":
        return Source(_parquet(connection, paths, needed), connection, label)
    for file in files:
        if not is_address(file):
            check_text(file)
    present = connection.read_json(paths).columns
    if not set(needed) <= set(present):  # a key may turn up late
        read_all = partial(connection.read_json, paths, sample_size=-1)
        present = followed(connection, "looking for columns", read_all).columns
    check_columns(needed, present, label)
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


def _parquet(connection: Any, paths: list[str], needed: Sequence[str]) -> Any:
    """Parquet files, matched by name, so that types are widened over all files instead of cast to the first's.

    DuckDB does not tell S from s: a file that has both, or a shard with the other, must not be misread.
    """
    columns: dict[str, list[str]] = {}
    if not is_address(paths[0]):
        for file, name in connection.execute("SELECT file_name, name FROM parquet_schema(?)", [paths]).fetchall():
            columns.setdefault(file, []).append(name)
    in_folders = False
    for file, (_, *names) in columns.items():
        folders = re.findall(r"([^/\\=]+)=[^/\\]*[/\\]", file)  # g=x/part.parquet names a column too
        check_columns(needed, [*names, *folders], shown_path(file))
        in_folders |= not set(needed) <= set(names)
        for twin in names:
            same = [w for w in needed if w in names and w != twin and w.lower() == twin.lower()]
            if same:
                raise DataError(
                    f"{shown_path(file)} has columns {shown(same[0])} and {shown(twin)}, which differ only in case: "
                    "rename one of them"
                )
    quoted = ", ".join("'" + p.replace("'", "''") + "'" for p in paths)
    folders_too = ", hive_partitioning = true, hive_types_autocast = false" if in_folders else ""
    return connection.sql(f"FROM read_parquet([{quoted}], union_by_name = true{folders_too})")


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
            check_columns(needed, layout.header, where)
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
        check_columns(needed, header, where)
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


def check_columns(wanted: Sequence[str], present: Sequence[Any], where: str) -> None:
    """Every column must exist; the message lists what does and suggests the nearest."""
    for column in wanted:
        if column in present:
            continue
        if column in map(str, present):
            raise UsageError(f"column {shown(column)} of {where} has a name that is no text: rename it to text")
        raise UsageError(
            f"there is no column {shown(column)} in {where} (it has: {listed(present, 12)})"
            f"{nearest(column, [str(p) for p in present])}"
        )


def column_names(path: str | os.PathLike[str]) -> list[str]:
    """What the columns of a file are called (of several files, those of the first)."""
    import duckdb

    files, kind = _find(path)
    try:
        if kind in ("csv", "tsv"):
            layout = _layout(files[0], kind)
            return list(layout.header) if layout else []
        if kind == "arrow":
            return list(_arrow(files[:1], shown_path(files[0])).schema.names)
        with duckdb.connect(config=extensions(files)) as connection:
            if kind == "database":
                return list(table_of(connection, files[0]).columns)
            read = connection.read_parquet if kind == "parquet" else connection.read_json
            return list(read(literal(files[0])).columns)
    except (duckdb.Error, *UNREADABLE, csv.Error) as error:
        refusal = _refusal(error, files[:1], kind, [], shown_path(files[0]))
        raise refusal from (None if is_address(files[0]) else error)
