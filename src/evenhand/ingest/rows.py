"""Any data → the rows of a few columns, for small tables in which every row matters, such as runs of models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from evenhand.errors import DataError, shown
from evenhand.ingest.engines import engine_of
from evenhand.ingest.engines.relations import (
    as_name,
    as_number,
    as_value,
    percent_note,
    read_json,
    refuse_words,
    takes_percentages,
)
from evenhand.ingest.engines.sources import Source, check_columns, opened, problem
from evenhand.ingest.number_text import Spelling, is_percentage
from evenhand.ingest.values import NO_VALUE, Encoded, encode, to_floats
from evenhand.tables.arrays import Floats

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Rows:
    """Columns of one length: numbers as floats with NaN for what is missing, values as `values.encode` takes them."""

    numbers: dict[str, Floats]
    values: dict[str, Any]
    notes: tuple[str, ...] = ()


def read_rows(
    data: Any, numbers: Mapping[str, str], names: Sequence[str], values: Sequence[str], most: int | None = None
) -> Rows:
    """The columns of a dataframe, a dict of columns, a DuckDB relation, or a path.

    `numbers` are columns by role; `names` stay text where a file holds text; `values` become numbers if all of a column
    are. Of what DuckDB reads, so many rows at most.
    """
    needed = list(dict.fromkeys([*numbers.values(), *names, *values]))
    engine = engine_of(data)
    if engine.in_memory:
        return _of_columns(engine.code.values(data, needed), numbers, [*names, *values])
    with opened(data, needed) as source:
        if source.connection is not None:  # counts need no order of rows, but here each is known by its place
            source.connection.execute("SET preserve_insertion_order = true")
        if most is not None:
            source = replace(source, relation=source.relation.limit(most))
        return _of_source(source, numbers, names, values)


def _refuse_truth(column: str, role: str) -> NoReturn:
    raise DataError(f"{role} column {shown(column)} must hold numbers, but holds truth values: make them 0 and 1")


def _of_columns(columns: dict[str, Any], numbers: Mapping[str, str], values: Sequence[str]) -> Rows:
    for name, column in columns.items():
        if not hasattr(column, "__len__") or isinstance(column, str | bytes) or getattr(column, "ndim", 1) > 1:
            raise DataError(f"column {shown(name)} must hold one value per row, not {shown(column)}")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{shown(name)} {length}" for name, length in lengths.items())
        raise DataError(f"all columns need the same length, but they have: {found}")
    for role, name in numbers.items():
        column = columns[name]
        kind = getattr(getattr(column, "dtype", None), "kind", "O")
        if kind == "b" or (kind == "O" and any(isinstance(v, bool | np.bool_) for v in column)):
            _refuse_truth(name, role)
    return Rows(
        {name: to_floats(columns[name], name, role) for role, name in numbers.items()},
        {name: columns[name] for name in values},
    )


def _of_source(source: Source, numbers: Mapping[str, str], names: Sequence[str], values: Sequence[str]) -> Rows:
    import duckdb

    others = list(dict.fromkeys([*names, *values]))
    check_columns([*numbers.values(), *others], source.columns, source.label)
    for role, c in numbers.items():
        truth = f"json_type({source.column(c)}) = 'BOOLEAN'"
        if source.type_of(c) == "BOOLEAN" or (
            source.values == "json" and source.relation.filter(truth).limit(1).fetchall()
        ):
            _refuse_truth(c, role)
    chosen = {f"n{i}": as_number(source, c, role) for i, (role, c) in enumerate(numbers.items())}
    for i, c in enumerate(others):
        decimal = source.values == "typed" and source.type_of(c).startswith("DECIMAL") and c not in names
        spelt = as_name if c in names else as_value
        chosen[f"v{i}"] = f"CAST({source.column(c)} AS DOUBLE)" if decimal else spelt(source, c)
    try:
        found = source.relation.project(", ".join(f"{sql} AS {key}" for key, sql in chosen.items())).fetchnumpy()
        for i, (role, c) in enumerate(numbers.items()):
            if np.ma.is_masked(found[f"n{i}"]):
                refuse_words(source, c, role)
    except duckdb.Error as error:
        if source.connection is not None:
            raise
        raise DataError(f"cannot read {source.label}: {problem(error)}") from error
    columns = {c: found[f"v{i}"] for i, c in enumerate(others)}
    percent = [c for role, c in numbers.items() if takes_percentages(source, c, role)]
    percent += [c for c in others if c not in names and source.values == "text" and _all_percentages(columns[c])]
    return Rows(
        {c: np.ma.filled(found[f"n{i}"].astype(np.float64), np.nan) for i, c in enumerate(numbers.values())},
        {
            c: v if c in names and c not in source.labels else _read(v, c, source, c in percent)
            for c, v in columns.items()
        },
        (*source.notes, *map(percent_note, percent), *(source.labels[c].note for c in others if c in source.labels)),
    )


def _read_values(values: Any) -> Encoded:
    """Values of JSON, which have types of their own; words for nothing beside numbers are none."""
    codes, distinct = read_json(values)
    plain = [None if isinstance(v, str) and v.strip() in NO_VALUE else v for v in distinct]
    kinds = {type(v) for v in plain if v is not None}
    return Encoded(codes, plain if kinds and kinds <= {int, float} else distinct)


def _all_percentages(values: Any) -> bool:
    said = [v.strip() for v in encode(values)[1] if v is not None]
    return any(map(is_percentage, said)) and all(v in NO_VALUE or is_percentage(v) for v in said)


def _read_text(values: Any, spelling: Spelling, percent: bool) -> Encoded:
    """Text that is a number throughout, as numbers; '007' and other text stay what they are."""
    codes, distinct = encode(values)
    there = [None if v is None or v.strip() in NO_VALUE else v.strip() for v in distinct]
    plain = there
    if percent or not spelling.usual:
        plain = [v if v is None else spelling.plain(v, percent) or v for v in there]
    present = [v for v in plain if v is not None]
    for pattern, kind in ((_WHOLE, int), (_NUMBER, float)):
        if present and all(pattern.fullmatch(v) for v in present):
            return Encoded(codes, [None if v is None else kind(v) for v in plain])
    return Encoded(codes, [v or None for v in distinct])


def _read(values: Any, name: str, source: Source, percent: bool) -> Any:
    """The values of a column, by what those of its source are."""
    if source.values == "typed":
        return values
    if source.values == "text":
        return _read_text(values, source.spelling, percent)
    return source.renamed(name, _read_values(values))
