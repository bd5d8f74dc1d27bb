"""Parquet files → a relation; what a file does not tell, the names of its folders may, as in `g=x/part.parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.errors import DataError, shown
from evenhand.files.paths import identifier, literal, shown_path
from evenhand.ingest.engines.damage import check_columns
from evenhand.ingest.engines.folders import statements, told_by_folders
from evenhand.ingest.engines.found import Found
from evenhand.ingest.progress import followed

_FOLDERS = "evenhand_folders"
_FILE = "evenhand_file"


def parquet_names(connection: Any, found: Found) -> list[str]:
    """The columns of the first file, and those that its folders tell."""
    own, *_ = _columns(connection, found).values()
    return list(dict.fromkeys([*own, *(name for name, _ in statements(found.files[0], found.root))]))


def parquet(connection: Any, found: Found, needed: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """A relation of files, and what needed columns are called in it, if not as in the files.

    Files are matched by name, so that types are widened over all of them instead of cast to the first's. A column of a
    file is never replaced by the name of a folder: DuckDB would do so. Nor does DuckDB tell S from s: a file that has
    both, or a shard with the other, must not be misread.
    """
    columns = _columns(connection, found)
    told = {file: told_by_folders(file, found.root, needed) for file in columns}
    for file, names in columns.items():
        there = [*names, *told[file]]
        check_columns(needed, there, shown_path(file))
        _refuse_twins(file, names, [name for name in needed if name in there])
    _refuse_two_places(found, needed)
    both = {file: {n: v for n, v in told[file].items() if n in names} for file, names in columns.items()}
    _check_same(connection, {file: values for file, values in both.items() if values})
    lacking = {file: {n: v for n, v in told[file].items() if n not in names} for file, names in columns.items()}
    if not any(lacking.values()):
        return connection.sql(f"FROM {_reading(found.files, named=False)}"), {}
    return _joined(connection, found, columns, lacking, needed)


def _columns(connection: Any, found: Found) -> dict[str, list[str]]:
    """The columns of every file; an address may be a pattern, so that there are several."""
    paths = [literal(file) for file in found.files]
    columns: dict[str, list[str]] = {}
    for file, name in connection.execute("SELECT file_name, name FROM parquet_schema(?)", [paths]).fetchall():
        columns.setdefault(file, []).append(name)
    return {file: names for file, (_, *names) in columns.items()}


def _refuse_twins(file: str, names: Sequence[str], needed: Sequence[str]) -> None:
    for twin in names:
        same = [w for w in needed if w != twin and w.lower() == twin.lower()]
        if same and same[0] in names:
            raise DataError(
                f"{shown_path(file)} has columns {shown(same[0])} and {shown(twin)}, which differ only in case: "
                "rename one of them"
            )
        if same:
            raise DataError(
                f"{shown_path(file)} has a column {shown(twin)}, and lies in a folder that tells {shown(same[0])}, "
                "which differ only in case: rename one of them"
            )


def _refuse_two_places(found: Found, needed: Sequence[str]) -> None:
    """A file is read once, so its names must not tell different things."""
    for name, kept in found.again:
        one, other = (told_by_folders(file, found.root, needed) for file in (kept, name))
        if one != other:
            raise DataError(
                f"{shown_path(kept)} and {shown_path(name)} are one file, but their folders tell different things: "
                "make them two files, or remove one name"
            )


# ---- in SQL ---------------------------------------------------------------------------------------------------------


def _reading(files: Iterable[str], named: bool = True) -> str:
    quoted = ", ".join(_quoted(literal(file)) for file in files)
    which = f", filename = {_quoted(_FILE)}" if named else ""
    return f"read_parquet([{quoted}], union_by_name = true, hive_partitioning = false{which})"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _tell(connection: Any, told: Mapping[str, Mapping[str, str | None]], names: Sequence[str]) -> None:
    """A table of what folders tell, one row for each file; a `has_` column says whether they tell it at all."""
    columns: list[Any] = [list(told)]
    chosen = ["unnest(?::VARCHAR[]) AS file"]
    for i, name in enumerate(names):
        columns += [[values.get(name) for values in told.values()], [name in values for values in told.values()]]
        chosen += [f"unnest(?::VARCHAR[]) AS told_{i}", f"unnest(?::BOOLEAN[]) AS has_{i}"]
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_FOLDERS} AS SELECT {', '.join(chosen)}", columns)


def _types(connection: Any, files: str) -> dict[str, str]:
    relation = connection.sql(f"FROM {files}")
    return {name.lower(): str(type_) for name, type_ in zip(relation.columns, relation.types, strict=True)}


def _check_same(connection: Any, told: Mapping[str, Mapping[str, str | None]]) -> None:
    """Refuse files with a column that says something else than their folder."""
    if not told:
        return
    names = list(dict.fromkeys(name for values in told.values() for name in values))
    _tell(connection, told, names)
    files = _reading(told)
    types = _types(connection, files)
    for i, name in enumerate(names):
        held, stated = f"d.{identifier(name)}", f"told_{i}"
        text = f"CAST({held} AS VARCHAR)"
        same = (
            f"CASE WHEN {stated} IS NULL THEN {held} IS NULL OR {text} = '' "
            f"ELSE {text} = {stated} OR {held} = try_cast({stated} AS {types[name.lower()]}) END"
        )
        clashes = connection.sql(
            f"SELECT file, any_value({stated}), min({text}) FROM {files} d JOIN {_FOLDERS} ON file = {_FILE} "
            f"WHERE has_{i} AND NOT coalesce({same}, false) GROUP BY file ORDER BY file LIMIT 1"
        )
        if clash := followed(connection, f"comparing folders with {name}", clashes.fetchall):
            file, folder, value = clash[0]
            raise DataError(
                f"{shown_path(file)} lies in a folder that tells {shown(name)} is {_said(folder)}, but in its column "
                f"{shown(name)} it is {_said(value)}: rename the folder, or the column"
            )


def _said(value: str | None) -> str:
    return "missing" if value is None else shown(value)


def _joined(
    connection: Any, found: Found, columns: Mapping[str, list[str]], told: Mapping[str, Mapping[str, str | None]],
    needed: Sequence[str],
) -> tuple[Any, dict[str, str]]:  # fmt: skip
    """Every needed column from the files that have it, and from the folders of those that do not."""
    names = list(dict.fromkeys(name for values in told.values() for name in values))
    _tell(connection, told, names)
    files = _reading(found.files)
    types = _types(connection, files)
    chosen = []
    for place, name in enumerate(needed):
        sql = f"d.{identifier(name)}"
        if name in names:
            i = names.index(name)
            sql = f"told_{i}"
            if any(name in own for own in columns.values()):
                _check_type(connection, i, name, types[name.lower()])
                sql = f"CASE WHEN has_{i} THEN CAST({sql} AS {types[name.lower()]}) ELSE d.{identifier(name)} END"
        chosen.append(f"{sql} AS column_{place}")
    joined = connection.sql(f"SELECT {', '.join(chosen)} FROM {files} d JOIN {_FOLDERS} ON file = {_FILE}")
    return joined, {name: f"column_{place}" for place, name in enumerate(needed)}


def _check_type(connection: Any, i: int, name: str, type_: str) -> None:
    """Refuse what a folder tells if it is none of the values that other files hold in such a column."""
    odd = connection.execute(
        f"SELECT file, told_{i} FROM {_FOLDERS} WHERE told_{i} IS NOT NULL AND try_cast(told_{i} AS {type_}) IS NULL "
        "ORDER BY file LIMIT 1"
    ).fetchall()
    if odd:
        raise DataError(
            f"{shown_path(odd[0][0])} lies in a folder that tells {shown(name)} is {shown(odd[0][1])}, but other files "
            f"hold {type_} in a column {shown(name)}: rename the folder, or make that column text"
        )
