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
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Literal

from evenhand.errors import DataError, MissingLibrary, UsageError, listed, nearest, shown
from evenhand.files import as_path, literal

_KINDS = {
    "csv": "csv", "tsv": "tsv", "txt": "csv", "tab": "tsv",
    "parquet": "parquet", "pq": "parquet",
    "arrow": "arrow", "feather": "arrow", "ipc": "arrow",
    "jsonl": "json", "ndjson": "json", "json": "json",
}  # fmt: skip
_MEGABYTES = 400


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
    """Columns that are called otherwise in the relation (whose names do not tell G from g)."""
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        return list(self.names or self.relation.columns)

    def column(self, name: str) -> str:
        """A column, quoted for SQL."""
        return identifier(self.names.get(name, name))


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def opened(path: str | os.PathLike[str], needed: Sequence[str]) -> Iterator[Source]:
    """Open a file, a folder, a glob or an address that DuckDB understands."""
    import duckdb

    files, kind = _find(path)
    label = shown(files[0] if len(files) == 1 else os.fspath(path), 120)
    spill = tempfile.mkdtemp(prefix="evenhand-")
    limit = max(_MEGABYTES, 125 * (os.cpu_count() or 1))
    config: dict[str, Any] = {
        "memory_limit": f"{limit}MB",
        "temp_directory": spill,
        "preserve_insertion_order": "false",
    }
    try:
        with duckdb.connect(config=config) as connection:
            yield _read(connection, files, kind, label, needed)
    except (duckdb.Error, OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"cannot read {label}: {problem(error)}") from error
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def problem(error: BaseException) -> str:
    """What an engine complained about, in one line."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text: convert it first"
    lines = [line.strip() for line in (str(error) or type(error).__name__).splitlines() if line.strip()]
    text = "; ".join(lines[:3])
    return text if len(text) <= 300 else text[:299] + "…"


def _find(given: str | os.PathLike[str]) -> tuple[list[str], str]:
    """The files that a path, folder or pattern means, and their kind."""
    if "://" in os.fspath(given):
        return [os.fspath(given)], _kind(os.fspath(given))
    path = as_path(given)
    try:
        if path.is_dir():
            files = sorted(str(p) for p in path.rglob("*") if _counts(p, path))
            if not files:
                raise DataError(
                    f"folder {shown(str(path), 120)} holds no file evenhand can read ({listed(_KINDS, 20)})"
                )
        elif path.is_file():
            files = [str(path)]
        else:
            files = sorted(f for f in glob(str(path), recursive=True) if os.path.isfile(f))
    except OSError as error:
        raise DataError(f"cannot read {shown(str(path), 120)}: {error.strerror or error}") from error
    if not files:
        if has_magic(str(path)):
            raise DataError(f"no file matches {shown(str(path), 120)}")
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"there is no file {shown(str(path), 120)}{nearest(path.name, siblings)}")
    kinds = sorted({_kind(f) for f in files})
    if len(kinds) > 1:
        raise DataError(f"{shown(str(path), 120)} mixes {listed(kinds)} files: name one kind, as in '*.csv'")
    return files, kinds[0]


def _counts(file: Path, folder: Path) -> bool:
    """Whether a file belongs to the data of a folder: those of editors and engines start with . or _"""
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    return not hidden and _suffix(file.name) in _KINDS and file.is_file()


def _suffix(name: str) -> str:
    parts = name.lower().split(".")
    if parts[-1] in ("gz", "zst") and len(parts) > 2:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def _kind(path: str) -> str:
    kind = _KINDS.get(_suffix(os.path.basename(path)))
    if kind is None and os.path.isfile(path):
        with open(path, "rb") as file:
            kind = {b"PAR1": "parquet", b"ARRO": "arrow"}.get(file.read(4))
    if kind is None:
        raise DataError(
            f"cannot tell what {shown(path, 120)} holds: its name should end in one of {listed(_KINDS, 20)}"
        )
    return kind


def _read(connection: Any, files: list[str], kind: str, label: str, needed: Sequence[str]) -> Source:
    if kind in ("csv", "tsv"):
        return _read_csv(connection, files, kind, label, needed)
    if kind == "arrow":
        return Source(connection.from_arrow(_arrow(files, label)), connection, label)
    paths = [literal(f) for f in files]
    if kind == "parquet":
        # by name, so that types are widened over all files instead of cast to those of the first
        return Source(connection.read_parquet(paths, union_by_name=True), connection, label)
    present = connection.read_json(paths).columns
    if not set(needed) <= set(present):  # a key may turn up late
        present = connection.read_json(paths, sample_size=-1).columns
    check_columns(needed, present, label)
    as_json = dict.fromkeys(needed, "JSON")
    relation = connection.read_json(paths, columns=as_json, hive_partitioning=False)
    return Source(relation, connection, label, values="json")


def _arrow(files: list[str], label: str) -> Any:
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError:
        raise MissingLibrary(
            f"{label} is an Arrow file, which needs pyarrow: pip install 'evenhand[arrow]', or save it as Parquet"
        ) from None
    try:
        return pyarrow.dataset.dataset(files, format="ipc")
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise DataError(f"cannot read {label}: {problem(error)}") from error


def _read_csv(connection: Any, files: list[str], kind: str, label: str, needed: Sequence[str]) -> Source:
    readable = [f for f in files if "://" not in f and not f.lower().endswith(".zst")]
    headers = {f: _header(f, kind) for f in readable}
    for file in readable:
        if file.lower().endswith(".gz") and connection.execute("SELECT version()").fetchall()[0][0] < "v2":
            _check_gzip(file)
    for file, (header, _) in headers.items():
        if not header:
            raise DataError(f"{shown(file, 120)} is empty: a file needs a header and at least one row")
        check_columns(needed, header, shown(file, 120))
    first = headers.get(files[0])
    delimiter = first[1] if first else ("\t" if kind == "tsv" else ",")
    # Everything is text: no type is guessed from the first rows, and '007' stays '007'.
    relation = connection.read_csv(
        [literal(f) for f in files],
        header=True,
        all_varchar=True,
        delimiter=delimiter,
        quotechar='"',
        escapechar='"',
        skiprows=0,
        union_by_name=len(files) > 1,
        hive_partitioning=False,
    )
    if first is None or any(h != first for h in headers.values()) or len(first[0]) != len(relation.columns):
        return Source(relation, connection, label, values="text")
    names: dict[str, str] = {}
    for name, column in zip(first[0], relation.columns, strict=True):
        names.setdefault(name, column)
    source = Source(relation, connection, label, values="text", names=names)
    return Source(relation, connection, label, "text", names, _repeated(source, first[0], needed))


def _check_gzip(file: str) -> None:
    """DuckDB 1 takes the readable beginning of a truncated file for the whole of it."""
    with gzip.open(file) as stream:
        while stream.read(1 << 20):
            pass


def _header(file: str, kind: str) -> tuple[list[str], str]:
    """The names in the first line and what separates them."""
    opener: Any = gzip.open if file.lower().endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
        line = stream.readline()
    bare = re.sub(r'"[^"]*"', "", line)  # a quoted name may hold any separator
    delimiter = "\t" if kind == "tsv" else max(",;\t|", key=bare.count)
    return next(csv.reader([line], delimiter=delimiter), []), delimiter


def _repeated(source: Source, header: list[str], needed: Sequence[str]) -> tuple[str, ...]:
    """A needed column may stand twice in a header only if both say the same."""
    notes = []
    columns = source.relation.columns
    for name in dict.fromkeys(needed):
        places = [columns[i] for i, found in enumerate(header) if found == name]
        if len(places) < 2:
            continue
        differ = " OR ".join(f"{identifier(places[0])} IS DISTINCT FROM {identifier(p)}" for p in places[1:])
        if source.relation.filter(differ).limit(1).fetchall():
            raise DataError(
                f"{source.label} has {len(places)} columns called {shown(name)} that differ: rename one of them"
            )
        notes.append(f"the file has {len(places)} columns called {shown(name)}; they are identical")
    return tuple(notes)


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
