"""Files of R (.rds, .RData) → the rows of a data frame."""

from __future__ import annotations

import datetime as dt
import lzma
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.files.data_file import FileFormat
from evenhand.files.paths import shown_path
from evenhand.ingest.engines.damage import check_columns
from evenhand.ingest.engines.r_format import Item, Unreadable, objects_in, plain
from evenhand.ingest.engines.sheets import Sheet

OPTIONS = ("sheet",)
SUFFIXES = ("rds", "rdata", "rda")


def read_r(file: str, needed: Sequence[str], format: FileFormat) -> Sheet:
    """The needed columns of a data frame; factors are what their levels are."""
    frame, note = _frame(file, format)
    columns = _columns(frame)
    check_columns(needed, list(columns), shown_path(file))
    values = [_values(columns[name], name, file) for name in needed]
    if len(set(map(len, values))) > 1:
        raise DataError(f"cannot read {shown_path(file)}: its columns are not of one length; it is damaged")
    labels = {name: _labels(columns[name]) for name in needed}
    return Sheet(zip(*values, strict=True), (note,) if note else (), {name: of for name, of in labels.items() if of})


def names_in(file: str, format: FileFormat) -> list[str]:
    return list(_columns(_frame(file, format)[0]))


def _frame(file: str, format: FileFormat) -> tuple[Item, str | None]:
    """The data frame that was named, or the first with a note of the others."""
    try:
        found = objects_in(file)
    except (Unreadable, OSError, EOFError, zlib.error, lzma.LZMAError, ValueError, OverflowError) as error:
        raise DataError(f"cannot read {shown_path(file)}: {error}; it is damaged, or no file of R data") from error
    frames = {name: item for name, item in found.items() if "data.frame" in item.texts("class")}
    if not frames:
        raise DataError(f"{shown_path(file)} holds no data frame: save one, with saveRDS()")
    name = next(iter(frames)) if format.sheet is None else str(format.sheet)
    if name not in frames:
        raise UsageError(
            f"{shown_path(file)} has no data frame {shown(name)} (it has: {listed(filter(None, frames), 10)})"
            f"{nearest(name, frames)}"
        )
    others = [other for other in frames if other != name]
    note = f"data frame {shown(name)} was read; the file also has {listed(others, 5)} (--sheet)"
    return frames[name], note if others and format.sheet is None else None


def _columns(frame: Item) -> dict[str, Item]:
    return dict(zip(map(str, frame.texts("names")), frame.value or (), strict=False))


def _values(column: Item, name: str, file: str) -> list[Any]:
    kinds = set(column.texts("class"))
    if column.value is None or "dim" in column.attributes or any(isinstance(v, Item) for v in column.value[:1]):
        raise DataError(f"column {shown(name)} of {shown_path(file)} is a list or table: it must hold plain values")
    if "difftime" in kinds:
        raise DataError(f"column {shown(name)} of {shown_path(file)} holds durations: make them numbers or text")
    if "integer64" in kinds:
        whole = column.value.astype(">f8").view(">i8").tolist()
        return [None if v == -(2**63) else v for v in whole]
    values = plain(column)
    if "factor" in kinds:
        levels = column.texts("levels")
        return [levels[int(v) - 1] if v is not None and 1 <= v <= len(levels) else None for v in values]
    if "Date" in kinds:
        return [None if v is None else dt.date(1970, 1, 1) + dt.timedelta(int(v // 1)) for v in values]
    if "POSIXct" in kinds:
        start = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return [None if v is None else start + dt.timedelta(seconds=v) for v in values]
    return values


def _labels(column: Item) -> Mapping[Any, str]:
    """Labels of values, as the package haven keeps those of SPSS and Stata."""
    labels = column.attributes.get("labels")
    if labels is None or "haven_labelled" not in column.texts("class"):
        return {}
    return {value: str(text) for value, text in zip(plain(labels), labels.texts("names"), strict=False)}
