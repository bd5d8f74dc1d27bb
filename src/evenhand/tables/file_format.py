"""What the file of a table may say: its columns with their types and ranges, and the JSON beside them.

docs/reference/table-format.md describes it. Whatever is not described is refused, with a digest or without: whoever
changes a file can compute one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import DataError, TableFileError, listed, shown
from evenhand.files.shapes import (
    THE_WHOLE,
    Shape,
    by_name,
    flag,
    items,
    maybe,
    one_of,
    real,
    record,
    rising,
    text,
    tuple_of,
    whole,
)  # fmt: skip
from evenhand.tables.decimals import NARROW
from evenhand.tables.invariants import MOST_CLASSES, MOST_PEOPLE

SCHEMA = "evenhand/table/1"
WITH_SPANS = "evenhand/table/2"
"""Scores may be ranges: a reader of version 1 would take those for exact."""
PRIVATE = "evenhand/table/3"
"""Counts hold noise: a reader of version 2 would take them for true."""
CONFUSION = "evenhand/confusion/1"
NEWEST = {"evenhand/table": 3, "evenhand/confusion": 1}

MOST_CELLS = 50_000_000
"""Cells of a file: they take about two gigabytes of memory."""
MOST_ABOUT = 32_000_000
"""Bytes of JSON: the names of a million groups."""


# ---- columns -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """What a column may hold. The first type is the one that is written."""

    types: tuple[str, ...]
    memory: Any
    least: float = -np.inf
    most: float = np.inf
    above: bool = False
    """Whether the least value is no value itself."""

    def checked(self, values: Any, name: str) -> Any:
        """The values in the type of memory, if all are there and in range."""
        if np.ma.is_masked(values):
            beside = ", or names beside those that are listed" if self == NAME else ""
            raise DataError(f"its column {shown(name)} has gaps{beside}")
        values = np.asarray(values)
        if self.memory in (np.int64, np.float64):
            worst = [float(end) for end in (values.min(), values.max())]
            if not all((self.least < v if self.above else self.least <= v) and v <= self.most for v in worst):
                raise DataError(f"its column {shown(name)} must hold {self}, not {worst[0]:g} to {worst[1]:g}")
        return values.astype(self.memory)

    def __str__(self) -> str:
        if self.memory is np.int64:
            return f"whole numbers, {self.least:,} to {self.most:,}"
        return "finite, positive numbers" if self.above else "finite numbers"


_LARGEST = float(np.finfo(np.float64).max)
_WHOLE = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT")
_REAL = Column(("DOUBLE",), np.float64, -_LARGEST, _LARGEST)
_SUM = Column(("DOUBLE",), np.float64, 0.0, _LARGEST, above=True)
_FLAG = Column(("BOOLEAN",), np.bool_)
NAME = Column(("VARCHAR",), np.int32)
"""A text of the file, which is its place in a list of names in memory."""
_COLUMNS = {
    "n": Column(_WHOLE, np.int64, 1, MOST_PEOPLE),
    "score": _REAL, "score_low": _REAL, "score_high": _REAL,
    "decision": _FLAG, "label": _FLAG,
    "weight": _SUM, "weight2": _SUM,
    "cluster": Column(_WHOLE, np.int64, 0, MOST_PEOPLE),
}  # fmt: skip


# ---- JSON --------------------------------------------------------------------------------------------------------

_PEOPLE = whole(1, MOST_PEOPLE)
_COMMON: dict[str, Shape] = {
    "schema": text,
    "attributes": items(record({"name": text, "groups": items(text, 1)}), 1),
    "left_out": by_name(_PEOPLE),
    "left_out_groups": by_name(by_name(_PEOPLE)),
}
_SAID: dict[str, Shape] = {
    "notes": items(text),
    "digest": maybe(text),
    "depth": whole(1, MOST_PEOPLE),
    "provenance": record(
        {},
        {
            "tallied": flag, "below": maybe(_PEOPLE), "withheld": flag, "untold": flag, "untold_groups": flag,
            "unknown": flag, "incomplete": items(tuple_of(text, text)), "precision": maybe(one_of(*NARROW)),
        },
    ),
}  # fmt: skip
_NAMES = dict.fromkeys(("label", "prediction", "weight", "favorable"), maybe(text))
_MEANING = record({}, {**_NAMES, "favorable_prediction": text, "score": maybe(text), "cluster": maybe(text),
                       "risk": flag, "score_range": maybe(rising)})  # fmt: skip
_GRID = items(tuple_of(real(), whole(-300, 300)), 1)
_NOISE = record({"epsilon": real(), "total": real(), "tables": _PEOPLE}, {"stated": flag})


@dataclass(frozen=True)
class Format:
    """A version: the columns it must have and may have beside those of groups, and its JSON."""

    needed: tuple[str, ...]
    optional: tuple[str, ...]
    about: Shape
    columns: Mapping[str, Column]


def _format(needed: str, optional: str, keys: Mapping[str, Shape], more: Mapping[str, Shape] | None = None) -> Format:
    names = {"label": NAME, "prediction": NAME} if "prediction" in needed else {}
    about = record({**_COMMON, **keys}, {**_SAID, **(more or {})})
    return Format(tuple(needed.split()), tuple(optional.split()), about, {**_COLUMNS, **names})


FORMATS = {
    SCHEMA: _format("n", "score decision label weight weight2 cluster", {"meaning": _MEANING}),
    WITH_SPANS: _format(
        "n score score_low score_high", "decision label weight weight2 cluster",
        {"meaning": _MEANING, "extremes": rising}, {"grid": _GRID},
    ),
    PRIVATE: _format(
        "n weight2", "score score_low score_high decision label",
        {"meaning": _MEANING, "noise": _NOISE}, {"extremes": rising, "grid": _GRID},
    ),
    CONFUSION: _format(
        "n label prediction", "weight weight2", {"meaning": record({}, _NAMES), "classes": items(text, 1, MOST_CLASSES)}
    ),
}  # fmt: skip


def check_about(about: Any) -> None:
    """Refuse JSON that is not what the format has which it names."""
    schema = about.get("schema") if isinstance(about, dict) else None
    if not isinstance(schema, str) or schema not in FORMATS:
        raise _unknown(schema)
    FORMATS[schema].about(about, THE_WHOLE)


def check_columns(types: Mapping[str, str], about: Mapping[str, Any]) -> dict[str, Column]:
    """What each column of a file may hold, if there are those that its format has, of their types."""
    kind = FORMATS[about["schema"]]
    groups = [f"group_{i}" for i in range(len(about["attributes"]))]
    if missing := [name for name in (*kind.needed, *groups) if name not in types]:
        raise DataError(f"it has no column {shown(missing[0])}")
    known = (*kind.needed, *kind.optional, *groups)
    if stray := [name for name in types if name not in known]:
        raise DataError(
            f"it has the column {shown(stray[0])}, which means nothing there (there may be {listed(known)})"
        )
    found = {name: NAME if name in groups else kind.columns[name] for name in types}
    for name, column in found.items():
        if types[name] not in column.types:
            raise DataError(f"its column {shown(name)} is of type {shown(types[name])}, not {column.types[0]}: cast it")
    return found


def _unknown(schema: Any) -> TableFileError:
    family, _, version = str(schema).rpartition("/")
    newest = NEWEST.get(family)
    if newest is not None and re.fullmatch("[0-9]{1,9}", version) and int(version) > newest:
        return TableFileError(
            f"has table format {version}, newer than this evenhand reads ({newest}): upgrade evenhand"
        )
    return TableFileError(f"has the unknown table format {shown(schema)}")
