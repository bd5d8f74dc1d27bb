"""Any data → table. Rows are seen once, here; only counts travel on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError, listed, same, shown
from evenhand.files.data_file import FileArgs, with_format
from evenhand.ingest.band_rules import checked_bands
from evenhand.ingest.bands import Banding
from evenhand.ingest.classes import are_classes, count_classes, stray_classes
from evenhand.ingest.columns import Columns, checked, count, count_together
from evenhand.ingest.confusion_counts import as_list, refuse_counts_as_rows
from evenhand.ingest.engines import arrays, engine_of
from evenhand.ingest.engines.counting import Adjusted, Counting
from evenhand.ingest.periods import CALENDAR, Every, InTime, by_period, told_apart
from evenhand.ingest.reading import reading
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked
from evenhand.ingest.score_cells import count_scores
from evenhand.ingest.where import only
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

Score = str | NDArray[Any] | Sequence[float]
"""The score of one model: a column, or its values."""
Scores = list[str] | tuple[str, ...] | Mapping[str, Any]
"""Scores of several models: columns, or values by the name of the model."""


class RowsArgs(ColumnArgs, FileArgs, total=False):
    """All options of rows but the score: the roles of columns, and what is known about a file."""


_ROLES = ("score", "label", "prediction", "weight")


@overload
def tabulate(
    data: Any = None, *, classes: Literal[True], grid: Any = None, cuts: Any = (), **roles: Unpack[RowsArgs]
) -> Confusion: ...


@overload
def tabulate(
    data: Any = None, *, score: Score, classes: Literal[False] | None = None, grid: Any = None, cuts: Any = (),
    **roles: Unpack[RowsArgs],
) -> Table: ...  # fmt: skip


@overload
def tabulate(
    data: Any = None, *, score: Any = None, classes: bool | None = None, grid: Any = None, cuts: Any = (),
    **roles: Unpack[RowsArgs],
) -> Table | Confusion: ...  # fmt: skip


def tabulate(
    data: Any = None,
    *,
    score: Any = None,
    classes: bool | None = None,
    grid: Any = None,
    cuts: Any = (),
    **roles: Unpack[RowsArgs],
) -> Table | Confusion:
    """Count people by score, group and label; or by group, true class and predicted class.

    Parameters
    ----------
    data
        A dataframe (pandas, Polars, Arrow, DuckDB, Dask, Spark, …), a dict of columns, the path of a file
        (CSV, Parquet, Arrow, JSON lines, Excel, SAS, SPSS, Stata, R), a folder or a glob; or None, with arrays for
        the columns.
    score and the other columns
        Names of columns, or arrays, as in `evenhand.data`. At least a group and a score or a prediction are needed;
        without labels only some measures exist.
    sheet, header_row, encoding, delimiter, decimal, thousands
        What is known about a file: see `evenhand.file`.
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
    check_known(roles, RowsArgs.__optional_keys__, tabulate)
    said: dict[str, Any] = {**roles, "score": score}
    return count_rows(with_format(data, said), picked(Roles, said), classes, grid, cuts)


def count_rows(
    data: Any, roles: Roles, classes: bool | None = None, grid: Any = None, cuts: Any = ()
) -> Table | Confusion:
    """What `tabulate` does."""
    return _counted(data, roles, classes, grid, cuts).crossed(roles.depth)


def _counted(data: Any, roles: Roles, classes: bool | None, grid: Any, cuts: Any) -> Table | Confusion:
    read = reading(roles, grid, cuts)
    _check_classes(classes, roles)
    if is_several(roles.score, data):
        raise UsageError("a table holds one score: tabulate one at a time, or audit several with score= (--score)")
    given = _checked(data, roles)
    with _counting(data, given, roles, roles.group) as rows:
        if roles.score is not None and roles.cluster is None:
            return count_scores(rows, read)
        columns = rows.exact()
    if not (are_classes(columns, roles) if classes is None else classes):
        return count(columns, read)
    found = count_classes(columns, roles)
    if roles.weight is None and data is not None:
        refuse_counts_as_rows(found, data, given, roles.group, roles.where)
    return found if classes else replace(found, notes=(*found.notes, *stray_classes(found)))


def tabulate_together(data: Any, roles: Roles) -> JointTable:
    """Count people by several scores, group and label: what `tabulate` does, with a list of names or a dict of arrays.

    >>> data = {"a": [0.1, 0.8, 0.8], "b": [0.3, 0.9, 0.4], "sex": ["f", "m", "m"]}
    >>> together = tabulate_together(data, Roles(score=["a", "b"], group="sex"))
    >>> together.of(0).cells, together.of(1).cells
    (2, 3)
    """
    if roles.prediction is not None:
        raise UsageError("a prediction belongs to one model: leave it out, or audit one score at a time")
    names, scores = _score_items(roles.score)
    places = ["score", *(f"score_{i}" for i in range(1, len(names)))]
    given = dict(zip(places, scores, strict=True)) | _checked(data, replace(roles, score=None), "label", "weight")
    with _counting(data, given, roles, roles.group) as rows:
        found = rows.exact()
    names_ = {**found.names, **dict(zip(places, names, strict=True))}
    return count_together(replace(found, names=names_), reading(roles)).crossed(roles.depth)


def tabulate_in_time(data: Any, time: Any, every: Every, roles: Roles) -> InTime:
    """Count people by period too: what `tabulate` does, with the period as the last attribute.

    >>> from evenhand.ingest.periods import Every
    >>> data = {"s": [0.1, 0.8, 0.8], "sex": ["f", "m", "m"], "day": ["2024-01-30", "2024-01-31", "2024-02-01"]}
    >>> found = tabulate_in_time(data, "day", Every("month"), Roles(score="s", group="sex"))
    >>> found.names, found.table.attributes[-1].groups
    (('2024-01', '2024-02'), ('2024-01', '2024-02'))
    """
    if is_several(roles.score, data):
        raise UsageError("this is about one score, not several: name one (--score)")
    given = _checked(data, roles)
    name, groups = _time_and_groups(data, time, roles.group)
    for role, column in {**given, "cluster": roles.cluster}.items():
        if isinstance(column, str) and same(column, time):
            raise UsageError(f"{shown(time)} cannot be both the time and the {role}: name another column")
    by_day = name if every.unit in CALENDAR else None
    with _counting(data, given, roles, groups, name, by_day) as rows:
        columns = rows.exact()
    if roles.prediction is not None and are_classes(columns, roles):
        raise UsageError(f"a monitored prediction has two values, but {shown(columns.names['prediction'])} has classes")
    read = reading(roles)
    if columns.weights is not None:  # counts are often those of a day, and a period has many
        checked(told_apart(columns, name, every), read)
    columns, names, remarks, unfinished = by_period(columns, name, every)
    return InTime(count(columns, read, alike=False).crossed(roles.depth), names, remarks, unfinished)


def _time_and_groups(data: Any, time: Any, group: Any) -> tuple[str, Any]:
    """The name of the time column, and all columns to count by, the time last."""
    if isinstance(time, str) and data is not None and all(isinstance(g, str) for g in as_list(group)):
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


def _checked(data: Any, roles: Roles, *which: str) -> dict[str, Any]:
    """The columns to count by role, if these are columns at all."""
    given = {role: column for role in which or _ROLES if (column := getattr(roles, role)) is not None}
    if not which and "score" not in given and "prediction" not in given:
        raise UsageError("nothing to audit: name a score (--score) or a prediction (--prediction)")
    if roles.group is None:
        raise UsageError("name at least one group column (--group)")
    if isinstance(data, Table | Confusion):
        raise UsageError("this is a table already: audit it, or add it to another")
    if roles.favorable_prediction is not None and "prediction" not in given:
        raise UsageError(
            "favorable_prediction (--favorable-prediction) is a value of the prediction column: name that "
            "(prediction=, --prediction), or leave it out"
        )
    cluster = roles.cluster
    if not (cluster is None or isinstance(cluster, str) or hasattr(cluster, "__len__")):
        raise UsageError(f"cluster must be a column: a name (a text) or an array, not {shown(cluster)}")
    return given


def _check_classes(classes: Any, roles: Roles) -> None:
    if not (classes is None or isinstance(classes, bool | np.bool_)):
        raise UsageError(f"classes is True, False or None, not {shown(classes)}")
    if not classes:
        return
    if roles.label is None or roles.prediction is None:
        raise UsageError("classes are compared by what is true and what is predicted: name both (label=, prediction=)")
    binary = ("score", "favorable", "favorable_prediction", "score_range", "risk")
    extra = [role for role in binary if role in roles.said()]
    if extra:
        raise UsageError(f"a table of classes has no use for {listed(extra)}: leave them out")


@contextmanager
def _counting(
    data: Any, given: Mapping[str, Any], roles: Roles, group: Any, time: str | None = None, by_day: str | None = None
) -> Iterator[Counting]:
    """The rows, or some of them, ready to be counted by whichever way fits, with numbers in bands.

    Engines count by what decides which rows these are, too. The `time` is among the groups, and in no bands.
    """
    where, cluster = roles.where, roles.cluster
    banding = Banding(checked_bands(roles.bands), roles.weight_kind, time)
    if all(isinstance(g, str) for g in as_list(group)):
        banding.check(as_list(group))

    def banded(columns: Columns, part: bool, rows: Counting) -> Columns:
        found = banding(columns, part)
        banding.tell(rows, found)
        return found

    if not where:
        with _rows_of(data, given, group, cluster, by_day) as rows:
            yield Adjusted(
                rows,
                lambda columns, part: banded(_without_cluster(columns, cluster), part, rows),
                rows.length,
                joins=lambda: banding.changes,
            )
        return
    if data is None or not all(isinstance(g, str) for g in as_list(group)):
        raise UsageError("where chooses rows by columns of the data: name the group columns instead of passing arrays")
    groups = _group_names(group)
    more = [name for name in where if name not in groups]
    by_day = None if by_day in where else by_day  # its values are asked for as they are
    with _rows_of(data, given, [*groups, *more], cluster, by_day) as rows:
        yield Adjusted(
            rows,
            lambda columns, part: banded(only(_without_cluster(columns, cluster), where, groups, part), part, rows),
            joins=lambda: True,
        )


@contextmanager
def _rows_of(
    data: Any, given: Mapping[str, Any], group: Any, cluster: Any, by_day: str | None = None
) -> Iterator[Counting]:
    """What counts the rows; the cluster is one of the groups. Of the column `by_day`, only days matter."""
    engine = engine_of(data)
    named = all(isinstance(c, str) for c in [*given.values(), *as_list(group), "" if cluster is None else cluster])
    if engine.module != "arrays" and named:
        with engine.code.counting(data, given, _with_cluster(group, cluster), by_day) as rows:
            yield rows
        return
    columns = engine.code.columns(data)
    asked = given if cluster is None else {**given, "cluster": cluster}
    roles = {role: arrays.picked(columns, value, role) for role, value in asked.items()}
    groups = []
    for name, value in _group_items(group, data is not None):
        own, values = arrays.picked(columns, value, "group")
        groups.append((name or own, values))
    _with_cluster([name for name, _ in groups], cluster if isinstance(cluster, str) else None)
    yield arrays.rows_in(roles, dict(groups), arrays.narrow_scores(columns, given))


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


def _group_items(group: Any, has_data: bool) -> list[tuple[str | None, Any]]:
    """Group columns with the names they were given: a dict or dataframe of columns, names, or one array."""
    if isinstance(group, Mapping):
        return [(str(name), values) for name, values in group.items()]
    if hasattr(group, "columns") and not isinstance(group, np.ndarray):
        from evenhand.ingest.engines.dataframes import columns as columns_of

        return list(columns_of(group).items())
    if has_data and all(isinstance(g, str) for g in as_list(group)):
        return [(None, name) for name in as_list(group)]
    return [(None, group)]


def _group_names(group: Any) -> list[str]:
    names = as_list(group)
    if not names or not all(isinstance(g, str) for g in names):
        raise UsageError(f"group must be the name of a column or a list of names, not {shown(group)}")
    if len(set(names)) < len(names):
        raise UsageError(f"every group column needs a name of its own, but {listed(names)} repeats one")
    return names
