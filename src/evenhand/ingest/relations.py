"""DuckDB relations → columns: the path of every file, and of relations the user holds.

Plain SQL rather than narwhals: the same counts, and files then need no dataframe library at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evenhand.errors import DataError, shown
from evenhand.ingest.columns import NEGATIVE, NOT_FINITE, OK, ZERO, Columns, counted
from evenhand.ingest.sources import Source, check_columns, identifier
from evenhand.ingest.values import Encoded, encode

_CHUNK = 1_000_000
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "UTINYINT",
            "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")  # fmt: skip


def count_relation(source: Source, names: Mapping[str, str], groups: list[str]) -> Columns:
    """Let DuckDB count rows by every distinct combination of the columns."""
    relation = source.relation
    check_columns([*names.values(), *groups], relation.columns, source.label)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    keys = {
        role: _number(names[role], types[names[role]], role, source.is_text)
        if role == "score"
        else _name(names[role], types[names[role]])
        for role in ("score", "label", "prediction")
        if role in names
    }
    keys |= {f"group_{i}": _name(g, types[g]) for i, g in enumerate(groups)}
    sums = ["count(*) AS n"]
    chosen = [f"{sql} AS {key}" for key, sql in keys.items()]
    by = list(keys)
    if "weight" in names:
        weight = _number(names["weight"], types[names["weight"]], "weight", source.is_text)
        # A comparison of x - x is the one finite test that statistics in a Parquet file cannot fool.
        chosen.append(
            f"CASE WHEN ({weight} - {weight}) = 0 THEN CASE WHEN {weight} > 0 THEN {OK} WHEN {weight} = 0 THEN {ZERO} "
            f"ELSE {NEGATIVE} END ELSE {NOT_FINITE} END AS state, "
            f"CASE WHEN ({weight} - {weight}) = 0 THEN {weight} ELSE 0 END AS w"
        )
        by.append("state")
        sums += [
            "sum(w)::DOUBLE AS total",
            "sum(w * w)::DOUBLE AS squares",
            "count(*) FILTER (w <> floor(w)) AS fractional",
        ]
    cells = relation.project(", ".join(chosen)).aggregate(", ".join([*by, *sums]), ", ".join(by))
    return counted(dict(_fetched(cells, by, source)), names, groups, source.notes)


def _number(column: str, type_: str, role: str, is_text: bool) -> str:
    if is_text:
        return f"try_cast(trim({identifier(column)}) AS DOUBLE)"
    if not type_.startswith(_NUMBERS) or type_.endswith("]"):
        raise DataError(f"{role} column {shown(column)} must hold numbers, but holds {type_}: convert or repair it")
    return f"CAST({identifier(column)} AS DOUBLE)"


def _name(column: str, type_: str) -> str:
    if type_.endswith("]") or type_.startswith(("STRUCT", "MAP", "UNION")):
        raise DataError(f"column {shown(column)} holds lists or records ({type_}); it must hold plain values")
    if type_ == "JSON":  # values of several types: text comes with its quotes
        return f"json_extract_string({identifier(column)}, '$')"
    if type_.startswith("DECIMAL"):
        return f"CAST({identifier(column)} AS DOUBLE)"
    if type_.startswith(("ENUM", "UUID", "INTERVAL", "TIME ", "TIMESTAMP WITH")) or type_ == "TIME":
        return f"CAST({identifier(column)} AS VARCHAR)"
    return identifier(column)


def _fetched(cells: Any, by: list[str], source: Source) -> Iterator[tuple[str, Any]]:
    if source.connection is None:
        yield from cells.fetchnumpy().items()
        return
    # Millions of Python strings would not fit, so text is fetched piece by piece and kept as codes.
    # The engine sorts, because it can spill to disk while it does.
    cells.order(", ".join(by)).create("evenhand_cells")
    run = source.connection.execute
    rows = run("SELECT count(*) FROM evenhand_cells").fetchall()[0][0]
    for name in cells.columns:
        pieces: list[Any] = []
        known: dict[Any, int] = {}
        for start in range(0, rows, _CHUNK):
            where = f"rowid >= {start} AND rowid < {start + _CHUNK}"
            values = run(f"SELECT {name} FROM evenhand_cells WHERE {where}").fetchnumpy()[name]
            if name in by and name != "score":
                codes, found = encode(values)
                values = np.array([known.setdefault(v, len(known)) for v in found], np.int32)[codes]
            elif isinstance(values, np.ma.MaskedArray):
                values = values.filled(np.nan)
            pieces.append(values)
        joined = np.concatenate(pieces) if pieces else np.zeros(0)
        yield name, (Encoded(joined, list(known)) if known else joined)
    run("DROP TABLE evenhand_cells")
