"""Any data → table. Rows are seen once, here; only counts travel on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.ingest.classes import are_classes, count_classes, stray_classes
from evenhand.ingest.columns import (
    UNSAID,
    Columns,
    WeightKind,
    Words,
    check_words,
    count,
    count_together,
    further_roles,
    weigh,
)
from evenhand.ingest.confusion_counts import refuse_counts_as_rows
from evenhand.ingest.engines.arrays import Rows
from evenhand.ingest.engines.tensor_codes import Resident, brought, on_device, settled
from evenhand.ingest.engines.tensors import SMALL, Tensors
from evenhand.ingest.periods import CALENDAR, Every, InTime, by_period
from evenhand.ingest.score_cells import Adjusted, Counting, count_scores, with_cells
from evenhand.ingest.where import check_where, only
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

_ROLES = ("score", "label", "prediction", "weight")


def tabulate(
    data: Any = None,
    *,
    score: Any = None,
    label: Any = None,
    group: Any,
    prediction: Any = None,
    weight: Any = None,
    favorable: Any = UNSAID,
    risk: bool = False,
    score_range: tuple[float, float] | None = None,
    missing: str = "refuse",
    weight_kind: WeightKind = "auto",
    cluster: Any = None,
    where: Mapping[str, Any] | None = None,
    classes: bool | None = None,
    grid: Any = None,
    cuts: Any = (),
) -> Table | Confusion:
    """Count people by score, group and label; or by group, true class and predicted class.

    Parameters
    ----------
    data
        A dataframe (pandas, Polars, Arrow, DuckDB, Dask, Spark, …), a dict of columns, the path of a file
        (CSV, TSV, Parquet, Arrow, JSON lines), a folder or a glob; or None, with arrays for the columns.
    score, label, group, prediction, weight
        Names of columns, or arrays; tensors on a GPU are counted there. Several group columns (a list of names, or a
        dict of arrays) are counted jointly. At least a score or a prediction is needed; without labels only some
        measures exist.
    favorable
        The value of label and prediction that is good for the person, by default 1.
    risk
        Whether a high score is bad for the person.
    score_range
        The lowest and the highest possible score; by default [0, 1], or what is observed if scores leave it.
    missing
        "refuse" rows with a missing or infinite value, or "drop" and report them.
    weight_kind
        "frequency": a row stands for that many people. "sampling": a survey weight. "auto" takes whole
        numbers for the former.
    cluster
        A column, or an array, that tells which rows belong together, such as several rows of one person. Intervals and
        tests then take the cluster for the unit.
    where
        Count only rows with these values: {"split": "valid"}, or {"region": ["north", "south"]}.
    classes
        True counts a `Confusion` of true and predicted classes, False a `Table`. By default it is a `Confusion` if
        label and prediction together have more than two values and no score nor favourable value is named.
    grid
        Scores are kept exactly unless a group and label have more than 100 000 distinct ones. Then those between two
        neighbouring decimals are counted together, and no measure moves by more than 1e-4 (docs/reference/scaling.md).
        False keeps every score, whatever it costs; a table counts in the cells of that table, so that both add up.
    cuts
        Thresholds of many decimals that must stay exact nevertheless.

    Examples
    --------
    >>> import evenhand
    >>> evenhand.tabulate({"s": [0.1, 0.8, 0.8], "sex": ["f", "m", "m"]}, score="s", group="sex")
    Table: 3 rows in 2 cells; score 's' (2 values, 0.1 to 0.8); sex: m 2, f 1
    >>> evenhand.tabulate(score=[0.1, 0.8], label=[0, 1], group=["f", "m"]).rows
    2
    """
    words = check_words(Words(favorable, risk, score_range, missing, weight_kind))
    words = with_cells(words, grid, cuts)
    _check_classes(classes, score, label, prediction, words)
    if is_several(score, data):
        raise UsageError("a table holds one score: tabulate one at a time, or audit several with score= (--score)")
    given = _given(dict(zip(_ROLES, (score, label, prediction, weight), strict=True)))
    if "score" not in given and "prediction" not in given:
        raise UsageError("nothing to audit: name a score (--score) or a prediction (--prediction)")
    _check_rest(data, group, cluster)
    with _counting(data, given, group, cluster, where) as rows:
        if score is not None and cluster is None:
            return count_scores(rows, words)
        columns = rows.exact()
    if not (are_classes(columns, words) if classes is None else classes):
        return count(columns, words)
    found = count_classes(columns, words)
    if weight is None and data is not None:
        refuse_counts_as_rows(found, data, given, group, where)
    return found if classes else replace(found, notes=(*found.notes, *stray_classes(found)))


def tabulate_together(
    data: Any = None,
    *,
    score: Any,
    label: Any = None,
    group: Any = None,
    prediction: Any = None,
    weight: Any = None,
    favorable: Any = UNSAID,
    risk: bool = False,
    score_range: tuple[float, float] | None = None,
    missing: str = "refuse",
    weight_kind: WeightKind = "auto",
    cluster: Any = None,
    where: Mapping[str, Any] | None = None,
) -> JointTable:
    """Count people by several scores, group and label: what `tabulate` does, with a list of names or a dict of arrays.

    >>> data = {"a": [0.1, 0.8, 0.8], "b": [0.3, 0.9, 0.4], "sex": ["f", "m", "m"]}
    >>> together = tabulate_together(data, score=["a", "b"], group="sex")
    >>> together.of(0).cells, together.of(1).cells
    (2, 3)
    """
    words = check_words(Words(favorable, risk, score_range, missing, weight_kind))
    if prediction is not None:
        raise UsageError("a prediction belongs to one model: leave it out, or audit one score at a time")
    names, columns = _score_items(score)
    roles = ["score", *(f"score_{i}" for i in range(1, len(names)))]
    given = _given({**dict(zip(roles, columns, strict=True)), "label": label, "weight": weight})
    _check_rest(data, group, cluster)
    with _counting(data, given, group, cluster, where) as rows:
        counted = rows.exact()
    return count_together(replace(counted, names={**counted.names, **dict(zip(roles, names, strict=True))}), words)


def tabulate_in_time(
    data: Any = None,
    *,
    time: Any,
    every: Every,
    score: Any = None,
    label: Any = None,
    group: Any = None,
    prediction: Any = None,
    weight: Any = None,
    favorable: Any = UNSAID,
    risk: bool = False,
    score_range: tuple[float, float] | None = None,
    missing: str = "refuse",
    weight_kind: WeightKind = "auto",
    cluster: Any = None,
    where: Mapping[str, Any] | None = None,
) -> InTime:
    """Count people by period too: what `tabulate` does, with the period as the last attribute.

    >>> from evenhand.ingest.periods import Every
    >>> data = {"s": [0.1, 0.8, 0.8], "sex": ["f", "m", "m"], "day": ["2024-01-30", "2024-01-31", "2024-02-01"]}
    >>> found = tabulate_in_time(data, time="day", every=Every("month"), score="s", group="sex")
    >>> found.names, found.table.attributes[-1].groups
    (('2024-01', '2024-02'), ('2024-01', '2024-02'))
    """
    words = check_words(Words(favorable, risk, score_range, missing, weight_kind))
    if is_several(score, data):
        raise UsageError("this is about one score, not several: name one (--score)")
    given = _given(dict(zip(_ROLES, (score, label, prediction, weight), strict=True)))
    if "score" not in given and "prediction" not in given:
        raise UsageError("nothing to audit: name a score (--score) or a prediction (--prediction)")
    _check_rest(data, group, cluster)
    name, groups = _time_and_groups(data, time, group)
    used = {role: column for role, column in {**given, "cluster": cluster}.items() if column is not None}
    for role, column in used.items():
        if isinstance(column, str) and column == time:
            raise UsageError(f"{shown(time)} cannot be both the time and the {role}: name another column")
    with _counting(data, given, groups, cluster, where, name if every.unit in CALENDAR else None) as rows:
        columns = rows.exact()
    if prediction is not None and are_classes(columns, words):
        raise UsageError(f"a prediction to watch has two values, but {shown(columns.names['prediction'])} has classes")
    columns, names, remarks, unfinished = by_period(columns, name, every)
    return InTime(count(columns, words), names, remarks, unfinished)


def _time_and_groups(data: Any, time: Any, group: Any) -> tuple[str, Any]:
    """The name of the time column, and all columns to count by, the time last."""
    if isinstance(time, str) and data is not None and all(isinstance(g, str) for g in _as_list(group)):
        groups = _group_names(group)
        if time in groups:
            raise UsageError(f"{shown(time)} cannot be both the time and a group: name another column (--time)")
        return time, [*groups, time]
    if isinstance(time, str) and data is None:
        raise UsageError(f"time {shown(time)} names a column, but there are no data: pass them first")
    items = {name or (g if isinstance(g, str) else "group"): g for name, g in _group_items(group, data is not None)}
    name = time if isinstance(time, str) else "time"
    if name in items:
        raise UsageError(f"{shown(name)} cannot be both the time and a group: name another column")
    return name, {**items, name: time}


def is_several(score: Any, data: Any) -> bool:
    """Whether scores of several models were given: names in a list, or arrays by name."""
    if isinstance(score, Mapping):
        return True
    return (
        data is not None and isinstance(score, list | tuple) and (not score or any(isinstance(s, str) for s in score))
    )


def _score_items(score: Any) -> tuple[list[str], list[Any]]:
    """The names and the columns of several scores."""
    items = list(score.items()) if isinstance(score, Mapping) else [(name, name) for name in score]
    names = [str(name) for name, _ in items]
    if not names:
        raise UsageError("name at least one score, or leave score out")
    if not all(isinstance(name, str) and name for name, _ in items):
        raise UsageError(f"scores are names of columns, or arrays by the name of their model, not {shown(score)}")
    if len(set(names)) < len(names):
        raise UsageError(f"every model needs a score of its own, but {listed(names)} repeats one")
    return names, [column for _, column in items]


def _given(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {role: column for role, column in columns.items() if column is not None}


def _check_rest(data: Any, group: Any, cluster: Any) -> None:
    if group is None:
        raise UsageError("name at least one group column (--group)")
    if isinstance(data, Table | Confusion):
        raise UsageError("this is a table already: audit it, or add it to another")
    if not (cluster is None or isinstance(cluster, str) or hasattr(cluster, "__len__")):
        raise UsageError(f"cluster must be a column: a name (a text) or an array, not {shown(cluster)}")


def _check_classes(classes: Any, score: Any, label: Any, prediction: Any, words: Words) -> None:
    if not (classes is None or isinstance(classes, bool | np.bool_)):
        raise UsageError(f"classes is True, False or None, not {shown(classes)}")
    if not classes:
        return
    if label is None or prediction is None:
        raise UsageError("classes are compared by what is true and what is predicted: name both (label=, prediction=)")
    favorable = None if words.favorable is UNSAID else words.favorable
    said = {"score": score, "favorable": favorable, "score_range": words.score_range, "risk": words.risk or None}
    extra = [word for word, value in said.items() if value is not None]
    if extra:
        raise UsageError(f"a table of classes has no use for {listed(extra)}: leave them out")


@contextmanager
def _counting(
    data: Any, given: Mapping[str, Any], group: Any, cluster: Any, where: Any, by_day: str | None = None
) -> Iterator[Counting]:
    """The rows, or some of them, ready to be counted by whichever way fits: engines count by what decides, too."""
    check_where(where)
    if not where:
        with _rows_of(data, given, group, cluster, by_day) as rows:
            yield Adjusted(rows, lambda columns, part: _without_cluster(columns, cluster), rows.length)
        return
    if data is None or not all(isinstance(g, str) for g in _as_list(group)):
        raise UsageError("where chooses rows by columns of the data: name the group columns instead of passing arrays")
    groups = _group_names(group)
    more = [name for name in where if name not in groups]
    by_day = None if by_day in where else by_day  # its values are asked for as they are
    with _rows_of(data, given, [*groups, *more], cluster, by_day) as rows:
        yield Adjusted(
            rows, lambda columns, part: only(_without_cluster(columns, cluster), where, groups, part), split=True
        )


@contextmanager
def _rows_of(
    data: Any, given: Mapping[str, Any], group: Any, cluster: Any, by_day: str | None = None
) -> Iterator[Counting]:
    """What counts the rows; the cluster is one of the groups. Of the column `by_day`, only days matter."""
    if isinstance(data, str | os.PathLike):
        with _opened(data, given, group, cluster, by_day) as rows:
            yield rows
        return
    if data is None or isinstance(data, Mapping) or _is_structured(data):
        yield _from_arrays(data, given, group, cluster)
        return
    if isinstance(data, np.ndarray | list | tuple):
        raise UsageError(
            "an array or list has no column names: pass a dict of columns, or arrays as score=, label=, group="
        )
    named = all(isinstance(c, str) for c in [*given.values(), *_as_list(group), "" if cluster is None else cluster])
    if type(data).__name__ == "DuckDBPyRelation" and named:
        from evenhand.ingest.engines.relations import Relation
        from evenhand.ingest.engines.sources import Source

        yield Relation(Source(data), given, _with_cluster(group, cluster), by_day)
        return
    from evenhand.ingest.engines.dataframes import columns_of, counting_of, wrapped

    if named:
        yield counting_of(wrapped(data), given, _with_cluster(group, cluster), by_day)
    else:
        yield _from_arrays(columns_of(data), given, group, cluster)  # arrays beside a dataframe


def names_of(data: Any) -> list[str]:
    """What the columns of data are called; none of arrays."""
    if isinstance(data, str | os.PathLike):
        from evenhand.ingest.engines.sources import column_names

        return column_names(data)
    if isinstance(data, Mapping):
        return [str(name) for name in data]
    if isinstance(data, np.ndarray):
        return list(data.dtype.names or ())
    if data is None or isinstance(data, list | tuple):
        return []
    if type(data).__name__ == "DuckDBPyRelation":
        return [str(name) for name in data.columns]
    from evenhand.ingest.engines.dataframes import wrapped

    return [str(name) for name in wrapped(data).collect_schema().names()]


def _with_cluster(group: Any, cluster: str | None) -> list[str]:
    """An engine counts by cluster as it counts by group."""
    groups = _group_names(group)
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


@contextmanager
def _opened(
    path: str | os.PathLike[str], given: Mapping[str, Any], group: Any, cluster: Any, by_day: str | None
) -> Iterator[Counting]:
    from evenhand.ingest.engines.relations import Relation
    from evenhand.ingest.engines.sources import opened
    from evenhand.tables.storage import is_table_file

    groups = _with_cluster(group, cluster)
    for role, column in given.items():
        if not isinstance(column, str):
            raise UsageError(f"{role} must be the name of a column of the file, not {shown(type(column).__name__)}")
    if is_table_file(path):
        raise UsageError(f"{shown(os.fspath(path))} is a saved table already: load it, or audit it as it is")
    with opened(path, [*given.values(), *groups]) as source:
        yield Relation(source, given, groups, by_day)


def _from_arrays(data: Any, given: Mapping[str, Any], group: Any, cluster: Any) -> Counting:
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

    asked = given if cluster is None else {**given, "cluster": cluster}
    named = {role: column(value, role) for role, value in asked.items()}
    groups = []
    for name, value in _group_items(group, data is not None):
        own, values = column(value, "group")
        groups.append((name or own, values))
    if isinstance(cluster, str):
        _with_cluster([name for name, _ in groups], cluster)
    _group_names([name for name, _ in groups])
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


def _group_items(group: Any, has_data: bool) -> list[tuple[str | None, Any]]:
    """Group columns with the names they were given: a dict or dataframe of columns, names, or one array."""
    if isinstance(group, Mapping):
        return [(str(name), values) for name, values in group.items()]
    if hasattr(group, "columns") and not isinstance(group, np.ndarray):
        from evenhand.ingest.engines.dataframes import columns_of

        return list(columns_of(group).items())
    if has_data and all(isinstance(g, str) for g in _as_list(group)):
        return [(None, name) for name in _as_list(group)]
    return [(None, group)]


def _as_list(group: Any) -> list[Any]:
    return list(group) if isinstance(group, list | tuple) else [group]


def _group_names(group: Any) -> list[str]:
    names = _as_list(group)
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


def _is_structured(data: Any) -> bool:
    return isinstance(data, np.ndarray) and data.dtype.names is not None


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
