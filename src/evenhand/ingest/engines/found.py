"""Paths → the files that they mean, and their kind."""

from __future__ import annotations

import os
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path

from evenhand.errors import DataError, EvenhandError, UsageError, listed, nearest
from evenhand.files.finding import Again, beginning, below, matching, once, said_of, whole_files
from evenhand.files.paths import as_path, is_file, shown_path
from evenhand.files.secrets import is_address
from evenhand.ingest.engines.addresses import is_database, without_query

_KINDS = {
    "csv": "csv", "tsv": "tsv", "txt": "csv", "tab": "tsv",
    "parquet": "parquet", "pq": "parquet",
    "arrow": "arrow", "feather": "arrow", "ipc": "arrow",
    "xlsx": "workbook", "xlsm": "workbook", "xls": "workbook", "ods": "workbook",
    "rds": "R", "rdata": "R", "rda": "R",
    **dict.fromkeys(("sas7bdat", "xpt", "sav", "zsav", "dta"), "statistical"),
    "jsonl": "json", "ndjson": "json", "json": "json",
}  # fmt: skip


@dataclass(frozen=True)
class Found:
    """Files of one kind, or an address."""

    files: list[str]
    kind: str
    root: str
    """The folder that was named, or the one above the file or pattern that was."""
    again: Again = ()
    """Further names of these files, which are not read again."""

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(said_of(self.again, lambda name: os.path.relpath(name, self.root)))


def files_of(given: str | os.PathLike[str]) -> list[str]:
    """The files on disk that would be read; none if they cannot be."""
    if is_address(os.fspath(given)):
        return []
    try:
        path = as_path(given)
        return [str(path)] if is_file(path) else find(given).files
    except EvenhandError:
        return []


def find(given: str | os.PathLike[str]) -> Found:
    """The files that a path, folder, pattern or address means."""
    text = os.fspath(given)
    if not text:
        raise UsageError("a path cannot be empty: name a file, a folder or a pattern such as '*.csv'")
    if is_address(text):
        return Found([text], _kind_far_away(text), str(_above(Path(without_query(text)))))
    path = as_path(given)
    root = _above(path)
    try:
        if path.is_dir():
            root = path
            names = [str(path.joinpath(*parts)) for parts in below(path, _is_data) if _suffix(parts[-1]) in _KINDS]
            files = sorted(whole_files(names))
            if not files:
                raise DataError(f"folder {shown_path(path)} holds no file evenhand can read ({listed(_KINDS, 30)})")
        elif path.is_file():
            files = [str(path)]
        else:
            files = sorted(whole_files(matching(path)))
    except OSError as error:
        raise DataError(f"cannot read {shown_path(error.filename or path)}: {error.strerror or error}") from error
    if not files:
        if has_magic(str(path)):
            raise DataError(f"no file matches {shown_path(path)}")
        siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"there is no file {shown_path(path)}{nearest(path.name, siblings)}")
    kinds = sorted({_kind(f) for f in files})
    if len(kinds) > 1:
        raise DataError(f"{shown_path(path)} mixes {listed(kinds)} files: name one kind, as in '*.csv'")
    files, again = once(files)
    return Found(files, kinds[0], str(root), again)


def _above(path: Path) -> Path:
    """The folder that a file lies in, or that a pattern names outright."""
    return beginning(path) if has_magic(str(path)) else path.parent


def _is_data(name: str) -> bool:
    """Whether a file or folder belongs to the data of a folder: those of editors and engines start with . or _"""
    return not name.startswith((".", "_"))


def _suffix(name: str) -> str:
    parts = name.lower().split(".")
    if parts[-1] in ("gz", "zst") and len(parts) > 2:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def kind_by_name(path: str) -> str | None:
    """What kind of data the ending of a name promises."""
    return _KINDS.get(_suffix(os.path.basename(without_query(path))))


def _kind(path: str) -> str:
    if is_database(path):
        return "database"
    kind = kind_by_name(path)
    if kind is None and os.path.isfile(path):
        with open(path, "rb") as file:
            kind = {b"PAR1": "parquet", b"ARRO": "arrow"}.get(file.read(4))
    if kind is None:
        raise DataError(
            f"cannot tell what {shown_path(path)} holds: its name should end in one of {listed(_KINDS, 30)}"
        )
    return kind


def _kind_far_away(address: str) -> str:
    kind = _kind(address)
    if kind in ("arrow", "workbook", "statistical", "R"):
        raise UsageError(
            f"{kind.capitalize()} files are read from disk only, not from {shown_path(address)}: copy it, or make it "
            "Parquet"
        )
    return kind
