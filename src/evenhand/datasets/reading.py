"""Files as they were published → columns, or an error that says what the file should have been."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import DataError, listed, nearest, shown
from evenhand.files.paths import as_path, is_file, shown_path
from evenhand.ingest.engines.damage import UNREADABLE
from evenhand.tables.arrays import Floats

BATCH = 1_000  # rows that fit into the cache of a processor: larger batches take twice as long
PARTS = ("train", "test")
MISSING = ("", "NA", None)
"""What stands for a number that is not known."""


@dataclass(frozen=True)
class Layout:
    """How a published file is laid out, and where it can be had."""

    source: str
    """Where the file can be had."""
    columns: tuple[str, ...]
    """All columns of a file without a header, in order; of one with a header those that are needed."""
    numbers: frozenset[str]
    delimiter: str = ","
    header: bool = False
    remarks: bool = False
    """Whether lines that begin with | are remarks."""


def one_file(path: Any, names: Sequence[str], source: str) -> Path:
    """The file that a path means: itself, or one of these names in a folder."""
    place, wanted = as_path(path), " or ".join(map(repr, names))
    if os.path.isdir(place):
        files = [place / name for name in names if is_file(place / name)]
        if not files:
            raise DataError(f"the folder {shown_path(path)} holds no file {wanted}: get it from {source}")
        return files[0]
    if not is_file(place):
        raise DataError(f"there is no file {shown_path(path)}: name the file {wanted} from {source}")
    return place


def parts(path: Any, pairs: Sequence[tuple[str, str]], source: str) -> dict[Path, str | None]:
    """The files for training and for tests in a folder, or one file; which of the two, as far as its name tells."""
    place = as_path(path)
    if not os.path.isdir(place):
        file = one_file(path, [name for pair in pairs for name in pair], source)
        known = {name: part for pair in pairs for name, part in zip(pair, PARTS, strict=True)}
        return {file: known.get(file.name)}
    for pair in pairs:
        there = [name for name in pair if is_file(place / name)]
        if len(there) == 2:
            return {place / name: part for name, part in zip(pair, PARTS, strict=True)}
        if there:
            other = pair[1 - pair.index(there[0])]
            raise DataError(
                f"the folder {shown_path(path)} holds {there[0]!r} without {other!r}: get the other from {source}, or "
                "name the one file to read it alone"
            )
    raise DataError(f"the folder {shown_path(path)} does not hold {' and '.join(pairs[0])}: get both from {source}")


def read_parts(files: Mapping[Path, str | None], layout: Layout) -> tuple[dict[str, NDArray[Any]], Any]:
    """The columns of files one after the other, and which part each row is of; None if that is not known."""
    pieces = [read(file, layout) for file in files]
    if len(pieces) == 2 and all(_same(pieces[0][name], pieces[1][name]) for name in layout.columns):
        one, other = map(shown_path, files)
        raise DataError(f"{one} and {other} hold the same people: one is a copy, get the other from {layout.source}")
    columns = {name: np.concatenate([piece[name] for piece in pieces]) for name in layout.columns}
    if None in files.values():
        return columns, None
    sizes = [len(piece[layout.columns[0]]) for piece in pieces]
    return columns, np.repeat(np.array(list(files.values()), object), sizes)


def read(file: Path, layout: Layout) -> dict[str, NDArray[Any]]:
    """Columns of one file: numbers as floats with NaN for what is missing, text without the blanks around it."""
    with opened(file, layout.source) as stream:
        return _columns(stream, shown_path(file), layout)


@contextmanager
def opened(file: Path, source: str) -> Iterator[TextIO]:
    """The text of a file, packed or not, or why it cannot be read."""
    try:
        opener: Any = gzip.open if file.suffix == ".gz" else open
        with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
            yield stream
    except (*UNREADABLE, csv.Error) as error:
        raise DataError(f"cannot read {shown_path(file)}: {error}; get it again from {source}") from error


def line_of(file: Path, layout: Layout, place: int) -> int:
    """Where in a file with a header the row at that place ends: values may hold line breaks, and lines be empty."""
    with opened(file, layout.source) as stream:
        reader = csv.reader(stream, delimiter=layout.delimiter, skipinitialspace=True)
        rows = _rows(reader, len(next(reader)), shown_path(file), layout)
        next(islice(rows, place, None))
        return int(reader.line_num)


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if len(one) != len(other):
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())  # NaN does not equal itself


class _Spelling(dict[str, str]):
    """Text without the blanks around it; the same text is kept once."""

    def __missing__(self, text: str) -> str:
        return self.setdefault(text, text.strip())


def _columns(stream: TextIO, label: str, layout: Layout) -> dict[str, NDArray[Any]]:
    # lines that are divided by blanks may end with one
    lines = map(str.strip, stream) if layout.delimiter == " " else stream
    reader = csv.reader(lines, delimiter=layout.delimiter, skipinitialspace=True)
    header = tuple(name.strip() for name in next(reader, ())) if layout.header else layout.columns
    for name in layout.columns:
        if name not in header:
            raise DataError(
                f"{label} has no column {shown(name)} (it has: {listed(header)}){nearest(name, header)}; "
                f"the right file comes from {layout.source}"
            )
    places = {name: header.index(name) for name in layout.columns}
    numbers: dict[str, list[Floats]] = {name: [] for name in layout.columns if name in layout.numbers}
    texts: dict[str, list[str]] = {name: [] for name in layout.columns if name not in layout.numbers}
    spelling = {name: _Spelling() for name in texts}
    rows = _rows(reader, len(header), label, layout)
    seen = 0
    while batch := list(islice(rows, BATCH)):
        seen += len(batch)
        columns = list(zip(*batch, strict=True))
        for name, place in places.items():
            if name in texts:
                texts[name].extend(map(spelling[name].__getitem__, columns[place]))
            else:
                numbers[name].append(as_numbers(columns[place], name, label))
    if not seen:
        raise DataError(f"{label} is empty: get it again from {layout.source}")
    done = {name: whole(np.concatenate(pieces)) for name, pieces in numbers.items()}
    return {name: done[name] if name in done else np.array(texts[name], object) for name in layout.columns}


def _rows(reader: Any, width: int, label: str, layout: Layout) -> Iterator[list[str]]:
    """The rows of a file without empty lines and remarks; all of them must be complete."""
    for row in reader:
        if len(row) == width:
            yield row
        elif row and not (layout.remarks and row[0].startswith("|")):
            raise DataError(
                f"every line of {label} needs {width} values, but line {reader.line_num:,} has {len(row)}: "
                f"get it again from {layout.source}"
            )


def as_numbers(values: Sequence[Any], name: str, label: str) -> Floats:
    """Numbers from text; an empty one is missing."""
    plain = [np.nan if v in MISSING else v for v in values]
    try:
        numbers = np.array(plain, np.float64)
    except (ValueError, TypeError):
        bad = next(v for v in plain if not is_number(v))
        raise DataError(f"column {shown(name)} of {label} must hold numbers, but holds {shown(bad)}") from None
    if np.isinf(numbers).any():
        raise DataError(f"column {shown(name)} of {label} holds an infinite number: repair it")
    return numbers


def is_number(value: Any) -> bool:
    try:
        float(value)
    except (ValueError, TypeError):
        return False
    return True


def whole(values: Floats) -> NDArray[Any]:
    """Numbers that are whole throughout, as whole numbers."""
    if np.isnan(values).any() or (np.abs(values) > 2**53).any() or (values % 1 != 0).any():
        return values
    return values.astype(np.int64)
