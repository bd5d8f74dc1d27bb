"""Rows that a library hands over, such as those of a workbook → a relation of DuckDB.

They are copied into a file of JSON lines, needed columns only, which DuckDB counts in bounded memory: each value keeps
its own type, and nothing is guessed.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.errors import DataError, shown
from evenhand.files.data_file import FileFormat
from evenhand.files.paths import literal, shown_path
from evenhand.ingest.engines.source import Labels, Source
from evenhand.ingest.values import name_of

Row = Sequence[Any]


@dataclass(frozen=True)
class Sheet:
    """What a library found in a file: the needed columns, row by row."""

    rows: Iterable[Row]
    notes: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    """Names of the values of columns, where the file has them for all."""


Reader = Callable[[str, Sequence[str], FileFormat], Sheet]
"""Opens a file and finds the needed columns."""


def copied(
    connection: Any,
    files: Sequence[str],
    label: str,
    needed: Sequence[str],
    read: Reader,
    format: FileFormat,
    folder: str,
) -> Source:
    """The needed columns of some files, as a relation that reads copies in a folder."""
    columns = list(dict.fromkeys(needed))
    notes: list[str] = []
    labelled: dict[str, Mapping[Any, str]] = {}
    unnamed: set[str] = set()
    copies = []
    for i, file in enumerate(files):
        sheet = read(file, columns, format)
        notes += sheet.notes
        for name in columns if i else ():
            if labelled.get(name, {}) != sheet.labels.get(name, {}):
                raise DataError(
                    f"{shown_path(file)} has other labels of values of {shown(name)} than {shown_path(files[0])}"
                )
        labelled |= {name: labels for name, labels in sheet.labels.items() if labels}
        places = {columns.index(name): labels for name, labels in labelled.items() if name not in unnamed}
        copies.append(os.path.join(folder, f"{i}.jsonl"))
        rows, bare = _write(copies[-1], sheet, columns, places)
        unnamed |= {columns[place] for place in bare}
        if not rows:
            raise DataError(f"{shown_path(file)} has no rows: a file needs a header and at least one row")
    names = {name: f"column_{i}" for i, name in enumerate(columns)}
    relation = connection.read_json(
        [literal(copy) for copy in copies],
        columns=dict.fromkeys(names.values(), "JSON"),
        format="newline_delimited",
        hive_partitioning=False,
    )
    said = tuple(dict.fromkeys(notes))
    labels = {name: _labels(name, of, name in unnamed) for name, of in labelled.items()}
    return Source(relation, connection, label, "json", names, said, labels=labels)


def _labels(name: str, labels: Mapping[Any, str], unnamed: bool) -> Labels:
    """Labels are names if they tell all values of a column apart."""
    if unnamed or len(set(labels.values())) < len(labels):
        why = "some of its values have none" if unnamed else "several values have the same one"
        return Labels({}, f"{shown(name)} keeps its values as names, and not the labels that the file has: {why}")
    names = {name_of(value) or "": text for value, text in labels.items()}
    said = ", ".join(f"{value} is {shown(text)}" for value, text in list(names.items())[:3])
    return Labels(names, f"{shown(name)} is named by the labels that the file has: {said}" + ", …" * (len(names) > 3))


def _write(
    path: str, sheet: Sheet, columns: Sequence[str], labels: Mapping[int, Mapping[Any, str]]
) -> tuple[int, set[int]]:
    """How many rows were written, and the places of columns in which some value has no label."""
    rows = 0
    left, bare = dict(labels), set()
    with open(path, "w", encoding="utf-8") as target:
        for values in sheet.rows:
            for place in [p for p, names in left.items() if values[p] not in names and name_of(values[p]) is not None]:
                bare.add(place)
                del left[place]
            pairs = (f'"column_{i}":{_json(v, columns[i])}' for i, v in enumerate(values))
            target.write("{" + ",".join(pairs) + "}\n")
            rows += 1
    return rows, bare


def _json(value: Any, column: str) -> str:
    """A value as JSON: whole numbers without a fraction, dates as they are named, null for what is missing."""
    if type(value) is str:
        return json.dumps(value)
    if value is None:
        return "null"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        number = float(value)
        if not math.isfinite(number):
            return "null"
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, dt.timedelta):
        raise DataError(f"column {shown(column)} holds durations, such as {value}: make them numbers or text")
    return json.dumps(name_of(value))


def named(cells: Iterable[Any]) -> Iterator[str]:
    """Names of columns from the cells of a header; empty where there is none."""
    yield from (name_of(cell) or "" for cell in cells)
