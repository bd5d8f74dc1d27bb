"""CSV and TSV → a relation of text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from evenhand.errors import DataError, UsageError, shown
from evenhand.files.data_file import FileFormat
from evenhand.files.paths import identifier, literal, shown_path
from evenhand.files.secrets import is_address
from evenhand.ingest.engines.damage import check_columns, check_text
from evenhand.ingest.engines.encodings import in_utf8, opened_text
from evenhand.ingest.engines.source import Source
from evenhand.ingest.number_text import spelling_of
from evenhand.ingest.progress import followed

OPTIONS = ("encoding", "delimiter", "decimal", "thousands", "header_row")
_LOOK = 20
"""Rows in which a header is looked for."""


@dataclass(frozen=True)
class Layout:
    """How a CSV file is laid out."""

    header: tuple[str, ...]
    delimiter: str


def read_csv(
    connection: Any, files: list[str], kind: str, label: str, needed: Sequence[str], format: FileFormat, folder: str
) -> Source:
    """Files of one layout are read together, each column by its place; then all of them one after the other.

    Copies in UTF-8, if some are not, go into the folder.
    """
    layouts: dict[Layout | None, list[tuple[str, str]]] = {}
    for file in files:
        if not is_address(file):
            check_text(file)
        readable = in_utf8(file, format.encoding, folder)
        layouts.setdefault(layout_of(readable, kind, format, file), []).append((file, readable))
    columns = list(dict.fromkeys(needed))
    whole, notes = None, []
    for layout, members in layouts.items():
        named, readable = members[0]
        where = shown_path(named)
        if layout is not None:
            _check_header(layout, needed, named, readable, kind, format)
        # Everything is text: no type is guessed from the first rows, and '007' stays '007'.
        relation = connection.read_csv(
            [literal(readable) for _, readable in members],
            header=True,
            all_varchar=True,
            delimiter=layout.delimiter if layout else (format.delimiter or ("\t" if kind == "tsv" else ",")),
            quotechar='"',
            escapechar='"',
            skiprows=(format.header_row or 1) - 1,
            hive_partitioning=False,
        )
        header = layout.header if layout else tuple(relation.columns)
        if len(header) != len(relation.columns):
            raise DataError(
                f"cannot read {where}: its line {format.header_row or 1} names {len(header)} columns, its rows have "
                "others"
            )
        check_columns(needed, header, where, named)
        notes += _repeated(connection, relation, header, columns, where)
        places = [relation.columns[header.index(c)] for c in columns]
        part = relation.project(", ".join(f"{identifier(p)} AS column_{i}" for i, p in enumerate(places)))
        whole = part if whole is None else whole.union(part)
    names = {c: f"column_{i}" for i, c in enumerate(columns)}
    return Source(whole, connection, label, "text", names, tuple(dict.fromkeys(notes)), spelling_of(format))


def layout_of(file: str, kind: str, format: FileFormat, named: str = "") -> Layout | None:
    """The names in the header and what separates them; None where Python cannot look into the file."""
    if is_address(file) or file.lower().endswith(".zst"):
        return None
    with _from_header(file, format) as (stream, _):
        start = stream.read(1 << 16)
    # a quoted name may hold separators and line ends
    first = re.split(r"[\r\n]", re.sub(r'"[^"]*"', "", start), maxsplit=1)[0]
    delimiter = format.delimiter or ("\t" if kind == "tsv" else max(",;\t|", key=first.count))
    with _from_header(file, format) as (stream, skipped):
        header = tuple(next(csv.reader(stream, delimiter=delimiter), []))
    if not header and skipped + 1 < (format.header_row or 1):
        raise DataError(
            f"{shown_path(named or file)} has {skipped} lines, so that line {format.header_row} names nothing"
        )
    if not header:
        raise DataError(f"{shown_path(named or file)} is empty: a file needs a header and at least one row")
    return Layout(header, delimiter)


@contextmanager
def _from_header(file: str, format: FileFormat) -> Iterator[tuple[Any, int]]:
    """The text of a file from its header on, and how many lines are above."""
    with io.TextIOWrapper(opened_text(file), encoding="utf-8-sig", newline="") as stream:
        skipped = 0
        while skipped + 1 < (format.header_row or 1) and stream.readline():
            skipped += 1
        yield stream, skipped


def _check_header(
    layout: Layout, needed: Sequence[str], named: str, readable: str, kind: str, format: FileFormat
) -> None:
    """Every column must be named; if another of the first lines names them all, that is said."""
    if set(needed) <= set(layout.header):
        return
    for line in range(1, _LOOK + 1):
        with suppress(DataError):
            other = layout_of(readable, kind, replace(format, header_row=line))
            if other and set(needed) <= set(other.header):
                raise UsageError(header_elsewhere(named, "line", format.header_row or 1, line))
    check_columns(needed, layout.header, shown_path(named), named)


def header_elsewhere(file: str, unit: str, header_row: int, found: int) -> str:
    """That the columns are named further down (or up)."""
    return (
        f"{unit} {header_row} of {shown_path(file)} does not name the columns, but {unit} {found} does: say "
        f"--header-row {found} (header_row={found})"
    )


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
