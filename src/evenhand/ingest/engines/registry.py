"""Which engine counts which data: one line each in `ENGINES`. Nothing is imported before its data are met."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.ingest.columns import Columns, further_roles, weigh
from evenhand.ingest.engines.arrays import Rows
from evenhand.ingest.engines.counting import Adjusted, Counting
from evenhand.ingest.engines.tensor_codes import Resident, brought, on_device, settled
from evenhand.ingest.engines.tensors import SMALL, Tensors
from evenhand.ingest.where import only


@dataclass(frozen=True)
class Asked:
    """What an engine is to count by."""

    given: Mapping[str, Any]
    """Columns by role."""
    group: Any
    cluster: Any
    by_day: str | None = None
    """The column of times of which only days matter."""

    @property
    def names(self) -> list[str]:
        """The group columns and the cluster: an engine counts by cluster as it counts by group."""
        return _with_cluster(group_names(self.group), self.cluster)

    @property
    def named(self) -> bool:
        """Whether all columns are names."""
        columns = [*self.given.values(), *as_list(self.group), "" if self.cluster is None else self.cluster]
        return all(isinstance(column, str) for column in columns)


class Engine(NamedTuple):
    """Data of one kind: how they are known, what their columns are called, and what counts their rows."""

    takes: Callable[[Any], bool]
    names: Callable[[Any], list[str]]
    counting: Callable[[Any, Asked], AbstractContextManager[Counting]]


def names_of(data: Any) -> list[str]:
    """What the columns of data are called; none of arrays."""
    return _engine_of(data).names(data)


@contextmanager
def counting(
    data: Any, given: Mapping[str, Any], group: Any, cluster: Any, where: Any, by_day: str | None = None
) -> Iterator[Counting]:
    """The rows, or some of them, ready to be counted by whichever way fits: engines count by what decides, too."""
    engine = _engine_of(data)
    if not where:
        with engine.counting(data, Asked(given, group, cluster, by_day)) as rows:
            yield Adjusted(rows, lambda columns, part: _without_cluster(columns, cluster), rows.length)
        return
    if data is None or not all(isinstance(g, str) for g in as_list(group)):
        raise UsageError("where chooses rows by columns of the data: name the group columns instead of passing arrays")
    groups = group_names(group)
    more = [name for name in where if name not in groups]
    by_day = None if by_day in where else by_day  # its values are asked for as they are
    with engine.counting(data, Asked(given, [*groups, *more], cluster, by_day)) as rows:
        yield Adjusted(
            rows, lambda columns, part: only(_without_cluster(columns, cluster), where, groups, part), split=True
        )


def _with_cluster(groups: list[str], cluster: Any) -> list[str]:
    if cluster is None:
        return groups
    if not isinstance(cluster, str):
        raise UsageError(f"cluster must be the name of a column, not {shown(cluster)}")
    if cluster in groups:
        raise UsageError(f"{shown(cluster)} cannot be both a group and the cluster: a cluster is a person, or the like")
    return [*groups, cluster]


def _without_cluster(columns: Columns, cluster: str | None) -> Columns:
    if cluster is None or columns.cluster is not None:
        return columns
    groups = {name: values for name, values in columns.groups.items() if name != cluster}
    names = {**columns.names, "cluster": cluster}
    return replace(columns, groups=groups, cluster=columns.groups[cluster], names=names)


# ---- files ------------------------------------------------------------------------------------------------------


def _file_names(path: Any) -> list[str]:
    from evenhand.ingest.engines.sources import column_names

    return column_names(path)


@contextmanager
def _file(path: Any, asked: Asked) -> Iterator[Counting]:
    from evenhand.ingest.engines.relations import Relation
    from evenhand.ingest.engines.sources import opened
    from evenhand.tables.storage import is_table_file

    groups = asked.names
    for role, column in asked.given.items():
        if not isinstance(column, str):
            raise UsageError(f"{role} must be the name of a column of the file, not {shown(type(column).__name__)}")
    if is_table_file(path):
        raise UsageError(f"{shown(os.fspath(path))} is a saved table already: load it, or audit it as it is")
    with opened(path, [*asked.given.values(), *groups]) as source:
        yield Relation(source, asked.given, groups, asked.by_day)


# ---- DuckDB -----------------------------------------------------------------------------------------------------


def _relation(data: Any, asked: Asked) -> AbstractContextManager[Counting]:
    from evenhand.ingest.engines.relations import Relation
    from evenhand.ingest.engines.sources import Source

    if not asked.named:
        return _frame(data, asked)
    return nullcontext(Relation(Source(data), asked.given, asked.names, asked.by_day))


# ---- dataframes -------------------------------------------------------------------------------------------------


def _frame_names(data: Any) -> list[str]:
    from evenhand.ingest.engines.dataframes import wrapped

    return [str(name) for name in wrapped(data).collect_schema().names()]


def _frame(data: Any, asked: Asked) -> AbstractContextManager[Counting]:
    from evenhand.ingest.engines.dataframes import columns_of, counting_of, wrapped

    if not asked.named:
        return nullcontext(_of_arrays(columns_of(data), asked))  # arrays beside a dataframe
    return nullcontext(counting_of(wrapped(data), asked.given, asked.names, asked.by_day))


# ---- arrays -----------------------------------------------------------------------------------------------------


def _is_structured(data: Any) -> bool:
    return isinstance(data, np.ndarray) and data.dtype.names is not None


def _array_names(data: Any) -> list[str]:
    if data is None:
        return []
    return [str(name) for name in (data.dtype.names if _is_structured(data) else data)]


def _unnamed(data: Any, asked: Asked) -> AbstractContextManager[Counting]:
    raise UsageError(
        "an array or list has no column names: pass a dict of columns, or arrays as score=, label=, group="
    )


def _of_arrays(data: Any, asked: Asked) -> Counting:
    from evenhand.ingest.engines.dataframes import as_values
    from evenhand.ingest.engines.sources import check_columns

    def column(value: Any, role: str) -> tuple[str, Any]:
        """The name and the values of a column that was given by name or as an array."""
        if not isinstance(value, str):
            values, name = as_values(value)
            return name or role, _flat(values, name or role)
        if data is None:
            raise UsageError(f"{role} {shown(value)} names a column, but there are no data: pass them first")
        check_columns([value], list(data.dtype.names if _is_structured(data) else data), "the data")
        return value, _flat(as_values(data[value])[0], value)

    cluster = {} if asked.cluster is None else {"cluster": asked.cluster}
    named = {role: column(value, role) for role, value in {**asked.given, **cluster}.items()}
    groups = []
    for name, value in group_items(asked.group, data is not None):
        own, values = column(value, "group")
        groups.append((name or own, values))
    if isinstance(asked.cluster, str):
        _with_cluster([name for name, _ in groups], asked.cluster)
    group_names([name for name, _ in groups])
    lengths = [(name, len(values)) for name, values in [*named.values(), *groups]]
    if len({length for _, length in lengths}) > 1:
        found = ", ".join(f"{shown(name)} {length}" for name, length in lengths)
        raise DataError(f"all columns need the same length, but they have: {found}")
    every = [values for _, values in [*named.values(), *groups]]
    if on_device(every):
        if lengths[0][1] > SMALL and "cluster" not in named and not further_roles(named):
            return Tensors(named, dict(groups))
        named = {role: (name, brought(values)) for role, (name, values) in named.items()}
        groups = [(name, brought(values)) for name, values in groups]
    return Rows(_columns(named, dict(groups), lengths[0][1]))


def _columns(named: Mapping[str, tuple[str, Any]], groups: Mapping[str, Any], rows: int) -> Columns:
    return Columns(
        names={role: name for role, (name, _) in named.items()},
        groups=groups,
        n=np.ones(rows, np.int64),
        weights=weigh(named["weight"][1], named["weight"][0]) if "weight" in named else None,
        **{role: named[role][1] for role in ("score", "label", "prediction", "cluster") if role in named},
        further=tuple(named[role][1] for role in further_roles(named)),
    )


def group_items(group: Any, has_data: bool) -> list[tuple[str | None, Any]]:
    """Group columns with the names they were given: a dict or dataframe of columns, names, or one array."""
    if isinstance(group, Mapping):
        return [(str(name), values) for name, values in group.items()]
    if hasattr(group, "columns") and not isinstance(group, np.ndarray):
        from evenhand.ingest.engines.dataframes import columns_of

        return list(columns_of(group).items())
    if has_data and all(isinstance(g, str) for g in as_list(group)):
        return [(None, name) for name in as_list(group)]
    return [(None, group)]


def as_list(group: Any) -> list[Any]:
    return list(group) if isinstance(group, list | tuple) else [group]


def group_names(group: Any) -> list[str]:
    names = as_list(group)
    if not names or not all(isinstance(g, str) for g in names):
        raise UsageError(f"group must be the name of a column or a list of names, not {shown(group)}")
    if len(set(names)) < len(names):
        raise UsageError(f"every group column needs a name of its own, but {listed(names)} repeats one")
    return names


def _flat(values: Any, name: str) -> Any:
    """One-dimensional values; numpy reads whatever is array-like, but for tensors on a device."""
    values = settled(values, name)
    if isinstance(values, Resident):
        return values
    if isinstance(values, list | tuple):
        if any(isinstance(v, list | tuple | np.ndarray) for v in values[:1]):
            raise DataError(f"column {shown(name)} must be one-dimensional")
        return list(values)
    try:
        # a copy: the table freezes its arrays, and must not freeze the user's
        array = values.copy() if isinstance(values, np.ndarray) else np.asarray(values)
    except (TypeError, ValueError) as error:
        raise DataError(f"column {shown(name)} cannot be read as an array: {error}") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 0:
        raise UsageError(f"{shown(name)} must be a column: a name (a text) or an array, not {shown(values)}")
    if array.ndim != 1:
        raise DataError(f"column {shown(name)} must be one-dimensional, but has {array.ndim} dimensions")
    return array


# ---- all of them ------------------------------------------------------------------------------------------------

ENGINES = {
    "files": Engine(lambda data: isinstance(data, str | os.PathLike), _file_names, _file),
    "arrays": Engine(
        lambda data: data is None or isinstance(data, Mapping) or _is_structured(data),
        _array_names,
        lambda data, asked: nullcontext(_of_arrays(data, asked)),
    ),
    "unnamed arrays": Engine(lambda data: isinstance(data, np.ndarray | list | tuple), lambda data: [], _unnamed),
    "duckdb": Engine(
        lambda data: type(data).__name__ == "DuckDBPyRelation", lambda data: [*map(str, data.columns)], _relation
    ),
    "dataframes": Engine(lambda data: True, _frame_names, _frame),
}
"""By kind of data; the first that takes them counts them."""


def _engine_of(data: Any) -> Engine:
    return next(engine for engine in ENGINES.values() if engine.takes(data))


def library_of(data: Any) -> str | None:
    """The dataframe library an object belongs to."""
    root = type(data).__module__.split(".")[0]
    return {
        "pandas": "pandas",
        "polars": "polars",
        "pyarrow": "pyarrow",
        "dask": "pandas",
        "modin": "pandas",
        "duckdb": "duckdb",
        "_duckdb": "duckdb",
    }.get(root)
