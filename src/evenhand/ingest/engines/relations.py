"""DuckDB relations → columns: the path of every file, and of relations the user holds.

Plain SQL rather than narwhals: the same counts, and files then need no dataframe library at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, shown
from evenhand.ingest.columns import (
    NEGATIVE,
    NOT_FINITE,
    OK,
    TOO_MUCH,
    ZERO,
    Columns,
    counted,
    scales_of_weights,
)
from evenhand.ingest.engines.sources import Source, check_columns, column_names, opened, problem
from evenhand.ingest.number_text import way_out
from evenhand.ingest.progress import followed
from evenhand.ingest.values import Encoded, encode
from evenhand.tables.decimals import FLOAT32
from evenhand.tables.exact_sums import Scales
from evenhand.tables.grid import Grid, number
from evenhand.tables.storage import is_table_file

_CHUNK = 1_000_000
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "UTINYINT",
            "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", '"NULL"')  # fmt: skip
_PLAIN_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "DOUBLE")


def names(data: Any) -> list[Any]:
    """What the columns are called (of several files, those of the first)."""
    return column_names(data) if isinstance(data, str | os.PathLike) else list(data.columns)


def columns(data: Any) -> Any:
    """There are none in memory, so that arrays cannot stand beside them."""
    raise UsageError(
        "arrays cannot stand beside a file or a relation: each of score, label, group and the others must be the name "
        "of a column of the file or relation; add them to it, or pass all columns as arrays"
    )


@contextmanager
def counting(data: Any, names: Mapping[str, str], groups: list[str], by_day: str | None = None) -> Iterator[Relation]:
    """A file, or a relation, as `Counting` has it; of `by_day`, only days are distinguished."""
    if isinstance(data, str | os.PathLike) and is_table_file(data):
        raise UsageError(f"{shown(os.fspath(data))} is a saved table already: load it, or audit it as it is")
    with opened(data, [*names.values(), *groups]) as source:
        yield Relation(source, names, groups, by_day)


class Relation:
    """Rows that DuckDB counts, as `Counting` has them."""

    length = None
    split = False

    def __init__(self, source: Source, names: Mapping[str, str], groups: list[str], by_day: str | None = None) -> None:
        check_columns([*names.values(), *groups], source.columns, source.label)
        self.source, self.names, self.groups = source, names, groups
        self.scores = [role for role in names if role.startswith("score")]
        keys = {role: as_number(source, names[role], "score") for role in self.scores}
        keys |= {r: as_value(source, names[r]) for r in ("label", "prediction") if r in names}
        spelt = {g: as_day if g == by_day else as_value for g in groups}
        keys |= {f"group_{i}": spelt[g](source, g) for i, g in enumerate(groups)}
        days = [f"group_{i}" for i, g in enumerate(groups) if g == by_day]
        named = {r: names[r] for r in ("label", "prediction") if r in names}
        named |= {f"group_{i}": g for i, g in enumerate(groups) if f"group_{i}" not in days}
        self.json = named if source.values == "json" else {}
        chosen = [f"{sql} AS {key}" for key, sql in keys.items()]
        self.by = list(keys)
        if "weight" in names:
            w = as_number(source, names["weight"], "weight")
            chosen += [f"{_state(w)} AS state", f"CASE WHEN {_finite(w)} THEN {w} ELSE 0 END AS w"]
            self.by.append("state")
        self.rows = source.relation.project(", ".join(chosen))
        typed = self.scores if source.values == "typed" else []
        percentages = [names[role] for role in self.scores if source.holds_percentages(names[role])]
        labelled = [source.labels[name].note for name in named.values() if name in source.labels]
        self.notes = (*source.notes, *map(percent_note, percentages), *labelled)
        self.precision = {role: FLOAT32.name for role in typed if source.type_of(names[role]) == "FLOAT"}

    def coarsen(self, edges: Mapping[str, Sequence[float]]) -> None:
        """From now on distinguish numbers of these groups by their band only: one of its numbers stands for all."""
        found = {i: _coarse(self.source, g, f"group_{i}", edges[g]) for i, g in enumerate(self.groups) if g in edges}
        coarse = [f"{sql} AS group_{i}" for i, sql in found.items() if sql is not None]
        if coarse:
            self.rows = self.rows.project(f"* REPLACE ({', '.join(coarse)})")

    def size(self) -> int:
        count = self.source.relation.aggregate("count(*)")
        return int(followed(self.source.connection, "counting rows", count.fetchall)[0][0])

    @cached_property
    def _weights(self) -> list[str]:
        """Sums of weights, and of their squares, in parts."""
        if "weight" not in self.names:
            return []
        largest = "greatest(coalesce(max(w), 0), 0)"
        ends = self.rows.aggregate(f"coalesce(min(w) FILTER (w > 0), {largest}), {largest}, count(*)")
        by = scales_of_weights(*followed(self.source.connection, "looking at weights", ends.fetchall)[0])
        squares = f"(CASE WHEN w < {number(TOO_MUCH)} THEN w * w ELSE 0 END)"
        parts = [*_parts("total", "w", by["total"]), *_parts("squares", squares, by["squares"])]
        return [*parts, "count(*) FILTER (w <> floor(w)) AS fractional"]

    def exact(self) -> Columns:
        return self._counted(self.rows, self.by, [], self.names)

    def totals(self) -> Columns:
        names = {**self.names, "score_1": self.names["score"]}
        flagged = self.rows.project(f"*, coalesce({_finite('score')}, false) AS finite")
        sums = ["min(CASE WHEN finite THEN score END) AS score", "max(CASE WHEN finite THEN score END) AS score_1"]
        return self._counted(flagged, [*self._rest(), "finite"], sums, names)

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        inside = (f"(score > {number(low)} AND score < {number(high)})" for low, high in ranges)
        # NaN is the largest number to DuckDB, and null is neither
        return self._counted(self.rows.filter(" OR ".join(inside)), self.by, [], self.names)

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        names, sums = dict(self.names), []
        if extremes:
            names |= {"score_1": names["score"], "score_2": names["score"]}
            sums = ["min(exact) AS score_1", "max(exact) AS score_2"]
        carried = [*self._rest(), *(["w"] if "weight" in self.names else [])]
        rows = self.rows.project(", ".join(["score AS exact", f"{grid.sql('score')} AS score", *carried]))
        return self._counted(rows, self.by, sums, names)

    def _rest(self) -> list[str]:
        return [key for key in self.by if key not in self.scores]

    def _counted(self, rows: Any, by: list[str], more: list[str], names: Mapping[str, str]) -> Columns:
        import duckdb

        try:
            shown_by = ["CAST(score AS DOUBLE) AS score" if key == "score" else key for key in by]  # or a whole number
            cells = rows.aggregate(", ".join([*shown_by, "count(*) AS n", *self._weights, *more]), ", ".join(by))
            found = dict(_fetched(cells, by, self.source))
            found |= {key: self.source.renamed(name, read_json(found[key])) for key, name in self.json.items()}
            columns = counted(found, names, self.groups, self.notes, self.precision)
            for role, values in zip(self.scores, (columns.score, *columns.further), strict=False):
                if not np.isfinite(np.ma.filled(values, np.nan)).all():
                    refuse_words(self.source, names[role])
            if columns.weights is not None and (columns.weights.state == NOT_FINITE).any():
                refuse_words(self.source, names["weight"], "weight")
            return columns
        except duckdb.Error as error:
            if self.source.connection is not None:
                raise  # whoever opened it knows which of the files it may be
            raise DataError(f"cannot read {self.source.label}: {problem(error)}") from error


def _coarse(source: Source, name: str, key: str, edges: Sequence[float]) -> str | None:
    """SQL for a number of the band that a number is in; None where numbers are not plainly compared."""
    lowest = edges[0] - 1
    if source.values == "text":  # of so few digits that floats are as good
        plain = f"regexp_full_match(trim({key}), '-?(0|[1-9][0-9]{{0,8}})(\\.[0-9]{{1,6}})?')"
        cases = _steps(f"CAST(trim({key}) AS DOUBLE)", [f"'{x!r}'" for x in (lowest, *edges)], edges)
        return f"CASE WHEN {plain} THEN {cases} ELSE {key} END"
    if source.values == "typed" and source.type_of(name) in _PLAIN_NUMBERS:
        cases = _steps(key, [number(x) for x in (lowest, *edges)], edges)
        return f"CASE WHEN {_finite(key)} THEN {cases} ELSE {key} END"
    return None


def _steps(x: str, values: Sequence[str], edges: Sequence[float]) -> str:
    below = " ".join(f"WHEN {x} < {number(edge)} THEN {value}" for edge, value in zip(edges, values, strict=False))
    return f"CASE {below} ELSE {values[-1]} END"


def _finite(x: str) -> str:
    """Comparing x - x is the one finite test that the statistics of a Parquet file cannot fool."""
    return f"(({x} - {x}) = 0)"


def _parts(what: str, x: str, by: Scales) -> list[str]:
    """Sums of what `exact_sums.parts_of` gives: differences of a number cut off at one place and at the next."""
    cut = ["0::DOUBLE", *(f"floor({x} * {number(scale)}) / {number(scale)}" for scale in by)]
    return [f"sum({b} - {a}) AS {what}_{i}" for i, (a, b) in enumerate(pairwise(cut))]


def _state(w: str) -> str:
    sign = f"CASE WHEN {w} > 0 THEN {OK} WHEN {w} = 0 THEN {ZERO} ELSE {NEGATIVE} END"
    return f"CASE WHEN {_finite(w)} THEN {sign} ELSE {NOT_FINITE} END"


def takes_percentages(source: Source, name: str, role: str) -> bool:
    """Whether a column is read as percentages: a score is one, a weight never."""
    return role != "weight" and source.holds_percentages(name)


def percent_note(name: str) -> str:
    return f"{shown(name)} holds percentages: 45% is read as 0.45"


def as_number(source: Source, name: str, role: str) -> str:
    if source.values == "json":  # which has types of its own: text that spells a number is none
        kind, text = f"json_type({source.column(name)})", source.text(name)
        truth = f"WHEN 'BOOLEAN' THEN CAST({text} = 'true' AS DOUBLE)"
        return f"CASE {kind} {truth} WHEN 'VARCHAR' THEN NULL ELSE try_cast({text} AS DOUBLE) END"
    if source.values == "text":
        return source.spelling.sql(f"trim({source.column(name)})", takes_percentages(source, name, role))
    type_ = source.type_of(name)
    if not type_.startswith(_NUMBERS) or type_.endswith("]"):
        raise DataError(f"{role} column {shown(name)} must hold numbers, but holds {type_}: convert or repair it")
    column = source.column(name)
    return FLOAT32.sql(column) if role == "score" and type_ == "FLOAT" else f"CAST({column} AS DOUBLE)"


def as_name(source: Source, name: str) -> str:
    """SQL for a group or label, spelt as `values.name_of` spells it."""
    column, type_ = source.column(name), source.type_of(name)
    if source.values == "text":
        return source.spelling.name_sql(column)
    if source.values == "json":
        text = source.text(name)
        return (
            f"CASE json_type({column}) WHEN 'BOOLEAN' THEN upper({text}[1]) || {text}[2:] "
            f"WHEN 'DOUBLE' THEN regexp_replace({text}, '\\.0+$', '') ELSE {text} END"
        )
    if type_.endswith("]") or type_.startswith(("STRUCT", "MAP", "UNION", "INTERVAL")):
        raise DataError(f"column {shown(name)} holds {type_}; it must hold plain values such as text or numbers")
    if type_.startswith("DECIMAL"):
        text = f"CAST({column} AS VARCHAR)"  # a double would merge long numbers
        return f"CASE WHEN contains({text}, '.') THEN rtrim(rtrim({text}, '0'), '.') ELSE {text} END"
    if type_.startswith("TIMESTAMP WITH"):
        return f"CAST(make_timestamp(epoch_us({column})) AS VARCHAR) || '+00:00'"
    if type_.startswith(("ENUM", "UUID", "TIME")) and not type_.startswith("TIMESTAMP"):
        return f"CAST({column} AS VARCHAR)"
    return column


def as_value(source: Source, name: str) -> str:
    """SQL for a group or label: of JSON what is written there, as its types are not those of columns."""
    return f"{source.column(name)}::JSON::VARCHAR" if source.values == "json" else as_name(source, name)


def read_json(values: Any) -> Encoded:
    codes, distinct = encode(values)
    try:
        return Encoded(codes, [None if v is None else json.loads(v) for v in distinct])
    except ValueError as error:  # Python refuses to read numbers of thousands of digits
        raise DataError(f"a group or label cannot be named: {error}") from None


def as_day(source: Source, name: str) -> str:
    """SQL for the day of a moment; text that is not plainly one stays as it is, for `periods` to read or refuse."""
    type_ = source.type_of(name)
    if type_.startswith("TIMESTAMP WITH"):
        day = f"CAST(make_timestamp(epoch_us({source.column(name)})) AS DATE)"
        return f"CAST({day} AS VARCHAR) || 'T00:00+00:00'"  # or nobody would know that there was a zone
    if type_.startswith("TIMESTAMP"):
        return f"CAST({source.column(name)} AS DATE)"
    if source.values == "typed" and type_ != "VARCHAR":
        return as_name(source, name)
    text = f"trim({source.text(name)})"
    moment = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
    plain = f"regexp_full_match({text}, '{moment}') AND try_cast({text} AS TIMESTAMP) IS NOT NULL"
    return f"CASE WHEN {plain} THEN {text}[:10] ELSE {text} END"


def refuse_words(source: Source, name: str, role: str = "score") -> None:
    """Raise if a column of text holds something that is neither a number nor empty: it must not be dropped."""
    if source.values == "typed":
        return
    found = source.first(name, f"{as_number(source, name, role)} IS NULL")
    if found is None:
        return
    rule = f"column {shown(name)} of {source.label} must hold numbers, but holds {shown(found)}"
    if found == name:
        raise DataError(f"{rule}: a second header; remove it, or name the row of the right one (--header-row)")
    way = way_out(found, source.spelling) if source.values == "text" else "make all of its cells numbers"
    raise DataError(f"{rule}: {way}")


def _fetched(cells: Any, by: list[str], source: Source) -> Iterator[tuple[str, Any]]:
    if source.connection is None:
        yield from followed(None, "counting rows", cells.fetchnumpy).items()
        return
    # Millions of Python strings would not fit, so text is fetched piece by piece and kept as codes.
    # The engine sorts, because it can spill to disk while it does.
    followed(source.connection, "counting rows", lambda: cells.order(", ".join(by)).create("evenhand_cells"))
    run = source.connection.execute
    rows = run("SELECT count(*) FROM evenhand_cells").fetchall()[0][0]
    pieces: dict[str, list[Any]] = {name: [] for name in cells.columns}
    known: dict[str, dict[Any, int]] = {name: {} for name in by if not name.startswith("score")}
    for start in range(0, max(rows, 1), _CHUNK):
        # All columns at once, or the engine's threads might hand over each in an order of its own.
        where = f"rowid >= {start} AND rowid < {start + _CHUNK} ORDER BY rowid"
        for name, values in run(f"FROM evenhand_cells WHERE {where}").fetchnumpy().items():
            if name in known:
                codes, found = encode(values)
                place = known[name]
                values = np.array([place.setdefault(v, len(place)) for v in found], np.int32)[codes]
            elif isinstance(values, np.ma.MaskedArray):
                values = values.filled(np.nan)
            pieces[name].append(values)
    for name in cells.columns:
        joined = np.concatenate(pieces.pop(name))
        yield name, (Encoded(joined, list(known[name])) if name in known else joined)
    run("DROP TABLE evenhand_cells")
