"""DuckDB relations → columns: the path of every file, and of relations the user holds.

Plain SQL rather than narwhals: the same counts, and files then need no dataframe library at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evenhand.errors import DataError, shown
from evenhand.ingest.columns import NEGATIVE, NOT_FINITE, OK, ZERO, Columns, counted
from evenhand.ingest.progress import followed
from evenhand.ingest.sources import Source, check_columns, problem
from evenhand.ingest.values import NO_VALUE, Encoded, encode

_CHUNK = 1_000_000
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "UTINYINT",
            "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", '"NULL"')  # fmt: skip


def count_relation(source: Source, names: Mapping[str, str], groups: list[str], by_day: str | None = None) -> Columns:
    """Let DuckDB count rows by every distinct combination of the columns; of `by_day`, only days are told apart."""
    import duckdb

    check_columns([*names.values(), *groups], source.columns, source.label)
    try:
        return _count(source, names, groups, by_day)
    except duckdb.Error as error:
        if source.connection is not None:
            raise  # whoever opened it knows which of the files it may be
        raise DataError(f"cannot read {source.label}: {problem(error)}") from error


def _count(source: Source, names: Mapping[str, str], groups: list[str], by_day: str | None) -> Columns:
    types: dict[str, str] = dict(zip(source.relation.columns, map(str, source.relation.types), strict=True))

    def type_of(name: str) -> str:
        return types[source.names.get(name, name)]

    scores = [role for role in names if role.startswith("score")]
    keys = {role: as_number(source, names[role], type_of(names[role]), "score") for role in scores}
    keys |= {r: as_name(source, names[r], type_of(names[r])) for r in ("label", "prediction") if r in names}
    spelt = {g: as_day if g == by_day else as_name for g in groups}
    keys |= {f"group_{i}": spelt[g](source, g, type_of(g)) for i, g in enumerate(groups)}
    chosen = [f"{sql} AS {key}" for key, sql in keys.items()]
    by, sums = list(keys), ["count(*) AS n"]
    if "weight" in names:
        w = as_number(source, names["weight"], type_of(names["weight"]), "weight")
        # Comparing x - x is the one finite test that the statistics of a Parquet file cannot fool.
        chosen.append(
            f"CASE WHEN ({w} - {w}) = 0 THEN CASE WHEN {w} > 0 THEN {OK} WHEN {w} = 0 THEN {ZERO} "
            f"ELSE {NEGATIVE} END ELSE {NOT_FINITE} END AS state, CASE WHEN ({w} - {w}) = 0 THEN {w} ELSE 0 END AS w"
        )
        by.append("state")
        sums += [
            "sum(w)::DOUBLE AS total",
            "sum(CASE WHEN abs(w) < 1e150 THEN w * w ELSE 'inf'::DOUBLE END)::DOUBLE AS squares",
            "count(*) FILTER (w <> floor(w)) AS fractional",
        ]
    cells = source.relation.project(", ".join(chosen)).aggregate(", ".join([*by, *sums]), ", ".join(by))
    columns = counted(dict(_fetched(cells, by, source)), names, groups, source.notes)
    for role, values in zip(scores, (columns.score, *columns.further), strict=False):
        if not np.isfinite(np.ma.filled(values, np.nan)).all():
            refuse_words(source, names[role])
    if columns.weights is not None and (columns.weights.state == NOT_FINITE).any():
        refuse_words(source, names["weight"])
    return columns


def _text(source: Source, name: str) -> str:
    column = source.column(name)
    return f"json_extract_string({column}, '$')" if source.values == "json" else column


def as_number(source: Source, name: str, type_: str, role: str) -> str:
    if source.values != "typed":
        # an underscore between digits is a habit of programmers, not of data: let it fail
        return f"try_cast(replace(trim({_text(source, name)}), '_', '?') AS DOUBLE)"
    if not type_.startswith(_NUMBERS) or type_.endswith("]"):
        raise DataError(f"{role} column {shown(name)} must hold numbers, but holds {type_}: convert or repair it")
    return f"CAST({source.column(name)} AS DOUBLE)"


def as_name(source: Source, name: str, type_: str) -> str:
    """SQL for a group or label, spelt as `values.name_of` spells it."""
    column = source.column(name)
    if source.values == "json":
        text = _text(source, name)
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


def as_day(source: Source, name: str, type_: str) -> str:
    """SQL for the day of a moment; text that is not plainly one stays as it is, for `periods` to read or refuse."""
    if type_.startswith("TIMESTAMP WITH"):
        day = f"CAST(make_timestamp(epoch_us({source.column(name)})) AS DATE)"
        return f"CAST({day} AS VARCHAR) || 'T00:00+00:00'"  # or nobody would know that there was a zone
    if type_.startswith("TIMESTAMP"):
        return f"CAST({source.column(name)} AS DATE)"
    if source.values == "typed" and type_ != "VARCHAR":
        return as_name(source, name, type_)
    text = f"trim({_text(source, name)})"
    moment = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?"
    plain = f"regexp_full_match({text}, '{moment}') AND try_cast({text} AS TIMESTAMP) IS NOT NULL"
    return f"CASE WHEN {plain} THEN {text}[:10] ELSE {text} END"


def refuse_words(source: Source, name: str) -> None:
    """Raise if a column of text holds something that is neither a number nor empty: it must not be dropped."""
    if source.values == "typed":
        return
    text, number = f"trim({_text(source, name)})", as_number(source, name, "", "")
    empty = ", ".join(f"'{word}'" for word in sorted(NO_VALUE))
    words = source.relation.filter(f"{text} NOT IN ({empty}) AND {number} IS NULL").project(text).limit(1)
    found = followed(source.connection, f"checking {name}", words.fetchall)
    if found:
        raise DataError(
            f"column {shown(name)} of {source.label} must hold numbers, but holds {shown(found[0][0])}: "
            "repair it (decimals need a point)"
        )


def _fetched(cells: Any, by: list[str], source: Source) -> Iterator[tuple[str, Any]]:
    if source.connection is None:
        yield from followed(None, "counting rows", cells.fetchnumpy).items()
        return
    # Millions of Python strings would not fit, so text is fetched piece by piece and kept as codes.
    # The engine sorts, because it can spill to disk while it does.
    followed(source.connection, "counting rows", lambda: cells.order(", ".join(by)).create("evenhand_cells"))
    run = source.connection.execute
    rows = run("SELECT count(*) FROM evenhand_cells").fetchall()[0][0]
    for name in cells.columns:
        pieces: list[Any] = []
        known: dict[Any, int] = {}
        for start in range(0, rows, _CHUNK):
            where = f"rowid >= {start} AND rowid < {start + _CHUNK}"
            values = run(f"SELECT {name} FROM evenhand_cells WHERE {where}").fetchnumpy()[name]
            if name in by and not name.startswith("score"):
                codes, found = encode(values)
                values = np.array([known.setdefault(v, len(known)) for v in found], np.int32)[codes]
            elif isinstance(values, np.ma.MaskedArray):
                values = values.filled(np.nan)
            pieces.append(values)
        joined = np.concatenate(pieces) if pieces else np.zeros(0)
        yield name, (Encoded(joined, list(known)) if known else joined)
    run("DROP TABLE evenhand_cells")
