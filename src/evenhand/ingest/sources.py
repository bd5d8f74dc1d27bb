"""Paths → a DuckDB relation that reads them, in bounded memory."""

from __future__ import annotations

import csv
import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from evenhand.errors import DataError, MissingLibrary, UsageError, listed, nearest, shown
from evenhand.ingest.values import NO_VALUE

_KINDS = {
    "csv": "csv", "tsv": "tsv", "txt": "csv", "tab": "tsv",
    "parquet": "parquet", "pq": "parquet",
    "arrow": "arrow", "feather": "arrow", "ipc": "arrow",
    "jsonl": "json", "ndjson": "json", "json": "json",
}  # fmt: skip
_MEGABYTES = 400


@dataclass(frozen=True)
class Source:
    """A relation, and what a reader of the report should know about it."""

    relation: Any
    connection: Any = None
    """The connection that belongs to the source; None for a relation of the user's."""
    label: str = "the data"
    is_text: bool = False
    """Whether every column is text, as in CSV: numbers are then parsed here, names kept as written."""
    notes: tuple[str, ...] = ()

    def refuse_words(self, name: str) -> None:
        """Raise if a text column holds something that is neither a number nor empty."""
        if not self.is_text:
            return
        empty = ", ".join("'" + word + "'" for word in sorted(NO_VALUE))
        column = f"trim({identifier(name)})"
        no_number = f"{column} NOT IN ({empty}) AND try_cast({column} AS DOUBLE) IS NULL"
        found = self.relation.filter(no_number).project(column).limit(1).fetchall()
        if found:
            raise DataError(
                f"column {shown(name)} of {self.label} must hold numbers, but holds {shown(found[0][0])}: "
                "repair it (decimals need a point)"
            )


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def opened(path: str | os.PathLike[str], needed: Sequence[str]) -> Iterator[Source]:
    """Open a file, a folder, a glob or an address that DuckDB understands."""
    import duckdb

    files, kind = _find(os.fspath(path))
    label = shown(files[0] if len(files) == 1 else os.fspath(path), 120)
    spill = tempfile.mkdtemp(prefix="evenhand-")
    limit = max(_MEGABYTES, 125 * (os.cpu_count() or 1))
    config = {
        "memory_limit": f"{limit}MB",
        "temp_directory": spill,
        "preserve_insertion_order": "false",
    }
    try:
        with duckdb.connect(config=config) as connection:  # type: ignore[arg-type]
            yield _read(connection, files, kind, label, needed)
    except (duckdb.Error, UnicodeDecodeError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"cannot read {label}: {first}") from error
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def _find(path: str) -> tuple[list[str], str]:
    if "://" in path:
        return [path], _kind(path)
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        files = sorted(str(p) for p in Path(path).rglob("*") if p.is_file() and _suffix(p.name) in _KINDS)
        what = "folder"
    elif os.path.isfile(path):
        files, what = [path], "file"
    else:
        files = sorted(f for f in glob(path, recursive=True) if os.path.isfile(f))
        what = "pattern"
    if not files:
        if what == "folder":
            raise DataError(f"folder {shown(path, 120)} holds no file evenhand can read ({listed(_KINDS, 20)})")
        if has_magic(path):
            raise DataError(f"no file matches {shown(path, 120)}")
        siblings = os.listdir(os.path.dirname(path) or ".") if os.path.isdir(os.path.dirname(path) or ".") else []
        raise DataError(f"there is no file {shown(path, 120)}{nearest(os.path.basename(path), siblings)}")
    kinds = {_kind(f) for f in files}
    if len(kinds) > 1:
        raise DataError(f"{what} {shown(path, 120)} mixes {listed(sorted(kinds))} files: name one kind, as in '*.csv'")
    return files, kinds.pop()


def _suffix(name: str) -> str:
    parts = name.lower().split(".")
    if parts[-1] in ("gz", "zst") and len(parts) > 2:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def _kind(path: str) -> str:
    kind = _KINDS.get(_suffix(os.path.basename(path)))
    if kind is None and os.path.isfile(path):
        with open(path, "rb") as file:
            start = file.read(6)
        kind = {b"PAR1": "parquet", b"ARRO": "arrow"}.get(start[:4])
    if kind is None:
        raise DataError(
            f"cannot tell what {shown(path, 120)} holds: its name should end in one of {listed(_KINDS, 20)}"
        )
    return kind


def _read(connection: Any, files: list[str], kind: str, label: str, needed: Sequence[str]) -> Source:
    if kind in ("csv", "tsv"):
        return _read_csv(connection, files, kind, label, needed)
    if kind == "parquet":
        return Source(connection.read_parquet(files), connection, label)
    if kind == "arrow":
        try:
            import pyarrow.dataset
        except ImportError:
            raise MissingLibrary(
                f"{label} is an Arrow file, which needs pyarrow: pip install 'evenhand[arrow]', or save it as Parquet"
            ) from None
        try:
            dataset = pyarrow.dataset.dataset(files, format="ipc")
            return Source(connection.from_arrow(dataset), connection, label)
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise DataError(f"cannot read {label}: {str(error).splitlines()[0]}") from error
    return Source(connection.read_json(files), connection, label)


def _read_csv(connection: Any, files: list[str], kind: str, label: str, needed: Sequence[str]) -> Source:
    local = "://" not in files[0]
    header, delimiter = _header(files[0], kind) if local else ([], "\t" if kind == "tsv" else ",")
    if local and not header:
        raise DataError(f"{label} is empty: a file needs a header and at least one row")
    # Everything is read as text: no type is guessed from the first rows, and '007' stays '007'.
    relation = connection.read_csv(
        files, header=True, all_varchar=True, delimiter=delimiter, quotechar='"', escapechar='"'
    )
    source = Source(relation, connection, label, is_text=True)
    return replace(source, notes=_repeated(source, header, needed))


def _header(file: str, kind: str) -> tuple[list[str], str]:
    """The names in the first line and what separates them."""
    opener: Any = gzip.open if file.lower().endswith(".gz") else open
    if file.lower().endswith(".zst"):
        return [""], "\t" if kind == "tsv" else ","
    with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
        line = stream.readline()
    delimiter = "\t" if kind == "tsv" else max(",;\t|", key=line.count)
    return next(csv.reader([line], delimiter=delimiter), []), delimiter


def _repeated(source: Source, header: list[str], needed: Sequence[str]) -> tuple[str, ...]:
    """A needed column may stand twice in a header only if both say the same."""
    notes = []
    names = source.relation.columns
    for column in dict.fromkeys(needed):
        places = [i for i, name in enumerate(header) if name.strip() == column]
        if len(places) < 2:
            continue
        differ = " OR ".join(
            f"{identifier(names[places[0]])} IS DISTINCT FROM {identifier(names[i])}" for i in places[1:]
        )
        if source.relation.filter(differ).limit(1).fetchall():
            raise DataError(
                f"{source.label} has {len(places)} columns called {shown(column)} that differ: rename one of them"
            )
        notes.append(f"the file has {len(places)} columns called {shown(column)}; they are identical")
    return tuple(notes)


def check_columns(wanted: Sequence[str], present: Sequence[str], where: str) -> None:
    """Every column must exist; the message lists what does and suggests the nearest."""
    for column in wanted:
        if column not in present:
            raise UsageError(
                f"there is no column {shown(column)} in {where} (it has: {listed(present, 12)})"
                f"{nearest(column, present)}"
            )
