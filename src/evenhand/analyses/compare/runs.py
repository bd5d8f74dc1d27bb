"""A table of runs → the mean over seeds of every setting of every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.files.paths import naming
from evenhand.ingest.roles import check_where
from evenhand.ingest.rows import Rows, read_rows
from evenhand.ingest.values import encode, name_of
from evenhand.ingest.where import rows_with, taken_values
from evenhand.tables.arrays import Bools, Floats, Ints

ROLES = ("performance", "fairness", "dev_performance", "dev_fairness")
SLACK = 1e-9
"""Values this little outside [0, 1] are rounding."""


@dataclass(frozen=True)
class Columns:
    """Which columns mean what."""

    method: str
    performance: str
    fairness: str
    dev_performance: str | None = None
    dev_fairness: str | None = None
    settings: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    loss: str | None = None

    @property
    def numbers(self) -> dict[str, str]:
        """The columns of results by role, those that are named; the loss is the last."""
        return {role: name for role in (*ROLES, "loss") if (name := getattr(self, role)) is not None}


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs by setting; settings in the order of methods, then of their values, whatever the order of rows was."""

    methods: tuple[str, ...]
    method: Ints
    """Of each setting, its method."""
    settings: dict[str, list[Any]]
    seeds: Ints
    means: Floats
    """Axes (role, setting); the development results repeat the others where there are none. A loss is a fifth role."""
    values: Floats
    """Axes (role, run), runs of one setting together and sorted."""
    starts: Ints
    """Where the runs of each setting start."""
    has_dev: bool
    left_out: int
    notes: tuple[str, ...]

    @property
    def deviations(self) -> Floats:
        """Standard deviation over seeds (n − 1), axes (role, setting); NaN where there is one run."""
        away = self.values - np.repeat(self.means, self.seeds, axis=1)
        squares = np.add.reduceat(away * away, self.starts, axis=1)
        return np.sqrt(squares / np.where(self.seeds > 1, self.seeds - 1, np.nan))

    def of(self, method: int) -> slice:
        """The settings of a method."""
        lo, hi = np.searchsorted(self.method, [method, method + 1])
        return slice(int(lo), int(hi))


def read_runs(data: Any, columns: Columns, missing: str, where: Mapping[str, Any] | None = None) -> Runs:
    """Read runs, those that have the values of `where`, check them, and average over seeds."""
    with naming(data):
        return _read_runs(data, columns, missing, where)


def _read_runs(data: Any, columns: Columns, missing: str, where: Mapping[str, Any] | None) -> Runs:
    check_where(where)
    rows = read_rows(data, columns.numbers, [columns.method], [*columns.settings, *(where or ())])
    if where:
        rows = _only(rows, where)
    numbers = np.array([rows.numbers[name] for name in columns.numbers.values()])
    method, names = _methods(rows.values[columns.method], columns.method)
    complete = _complete(numbers, columns, missing)
    if not complete.any():
        why = "none of the rows has all its results" if len(complete) else "the data hold no row"
        raise DataError(f"there are no runs to compare: {why}")
    numbers = _checked(numbers[:, complete], columns)
    setting, settings = _settings(rows, columns, method, complete, numbers)
    if columns.dev_performance is None:
        numbers = np.concatenate([numbers[:2], numbers])
    order = np.lexsort((*numbers[::-1], setting))
    numbers, setting = numbers[:, order], setting[order]
    starts = np.flatnonzero(np.diff(setting, prepend=-1))
    seeds = np.diff(starts, append=len(setting))
    present, of_setting = np.unique(method[complete][order][starts], return_inverse=True)
    first = np.flatnonzero(complete)[order][starts]
    return Runs(
        methods=tuple(names[m] for m in present),
        method=of_setting.reshape(-1),
        settings={c: [distinct[i] for i in codes[first].tolist()] for c, (codes, distinct) in settings.items()},
        seeds=seeds,
        means=_means(numbers, starts, seeds),
        values=numbers,
        starts=starts,
        has_dev=columns.dev_performance is not None,
        left_out=int((~complete).sum()),
        notes=rows.notes,
    )


def _only(rows: Rows, where: Mapping[str, Any]) -> Rows:
    everybody = len(next(iter(rows.numbers.values())))
    chosen, what = rows_with(rows.values, where, everybody)
    return Rows(
        {name: column[chosen] for name, column in rows.numbers.items()},
        {name: taken_values(values, chosen) for name, values in rows.values.items()},
        (*rows.notes, f"only runs with {what} are compared ({int(chosen.sum()):,} of {everybody:,})"),
    )


def _means(numbers: Floats, starts: Ints, seeds: Ints) -> Floats:
    """From the smallest on, so that equal runs have exactly their value as mean."""
    least = np.minimum.reduceat(numbers, starts, axis=1)
    more = np.add.reduceat(numbers - np.repeat(least, seeds, axis=1), starts, axis=1)
    return np.asarray(least + more / seeds)


def _methods(values: Any, column: str) -> tuple[Ints, list[str]]:
    """Codes into the sorted names of methods."""
    codes, distinct = encode(values)
    named = [name_of(v) for v in distinct]
    empty = np.array([n is None for n in named], np.bool_)
    if len(named) and empty[codes].any():
        raise DataError(
            f"every run needs the name of its method, but column {shown(column)} is empty in "
            f"{int(empty[codes].sum()):,} of {len(codes):,} rows: fill it in, or leave these rows out"
        )
    names = sorted({n for n in named if n is not None})
    place = {n: i for i, n in enumerate(names)}
    return np.array([place[n] for n in named if n is not None], np.int64)[codes], names


def _settings(
    rows: Rows, columns: Columns, method: Ints, complete: Bools, numbers: Floats
) -> tuple[Ints, dict[str, tuple[Ints, list[Any]]]]:
    """The setting of each complete row, numbered in order; and each settings column as codes into its values."""
    found = {c: _ranked(rows.values[c], c) for c in columns.settings}
    key = method[complete]
    if not found:  # every row for itself, in an order that does not depend on that of rows
        setting = np.empty(len(key), np.int64)
        setting[np.lexsort((*numbers[::-1], key))] = np.arange(len(key))
        return setting, {}
    for codes, distinct in found.values():
        key = np.unique(key * max(len(distinct), 1) + codes[complete], return_inverse=True)[1].reshape(-1)
    return key, found


def _ranked(values: Any, column: str) -> tuple[Ints, list[Any]]:
    """Codes into the distinct values of a setting: numbers, then words, then nothing."""
    try:
        codes, distinct = encode(values)
    except DataError:
        raise DataError(f"settings column {shown(column)} must hold plain values such as text or numbers") from None
    plain = [_plain(v) for v in distinct]
    ranked = sorted(dict.fromkeys(plain), key=_rank)
    place = {v: i for i, v in enumerate(ranked)}
    return np.array([place[v] for v in plain], np.int64)[codes], ranked


def _plain(value: Any) -> Any:
    """A setting as JSON can hold it: a number, a truth value, a text or nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal) and value.is_finite():
        value = float(value)
    if isinstance(value, bool | int) and abs(value) < 2**53:
        return value
    if isinstance(value, float) and value == value:
        return value if abs(value) < np.inf else str(value)
    return name_of(value)


def _rank(value: Any) -> tuple[int, float, str]:
    if value is None:
        return 2, 0.0, ""
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def _complete(numbers: Floats, columns: Columns, missing: str) -> Bools:
    """Rows with all their results."""
    finite = np.isfinite(numbers)
    if missing == "refuse" and not finite.all():
        role = int(np.argmin(finite.all(1)))
        name = list(columns.numbers.values())[role]
        gaps = ~finite[role]
        raise DataError(
            f"every run needs its results, but {shown(name)} is missing or infinite in {int(gaps.sum()):,} of "
            f"{len(gaps):,} rows: repair them, or leave such runs out with missing='drop' (--missing drop)"
        )
    return np.asarray(finite.all(0))


def _checked(numbers: Floats, columns: Columns) -> Floats:
    """Results in [0, 1], higher = better."""
    checked = numbers.copy()
    for i, (role, name) in enumerate(columns.numbers.items()):
        if role == "loss":
            continue
        values = numbers[i]
        beyond = (values < -SLACK) | (values > 1 + SLACK)
        if beyond.any():
            raise DataError(
                f"{role.replace('_', ' ')} must lie in [0, 1], but {int(beyond.sum()):,} of {len(values):,} values of "
                f"{shown(name)} do not, such as {values[beyond][0]:g}: {_way_out(values)}"
            )
        checked[i] = values.clip(0.0, 1.0)
        if role.removeprefix("dev_") in columns.lower_is_better:
            checked[i] = 1.0 - checked[i]
    return checked


def _way_out(values: Floats) -> str:
    if values.min() >= 0 and values.max() <= 100 and 2 * (values > 1).sum() > len(values):
        return "if these are percent, divide them by 100"
    return (
        "bring them onto [0, 1], with 1 for the best, as by (value - worst) / (best - worst); a gap in [0, 1] is "
        "turned round by lower_is_better (--lower-is-better)"
    )


def method_named(runs: Runs, name: Any) -> int:
    """The number of a method."""
    wanted = name_of(name)
    if wanted not in runs.methods:
        raise UsageError(
            f"there is no method {shown(name)} in the runs (there are: {listed(runs.methods)})"
            f"{nearest(name, runs.methods)}"
        )
    return runs.methods.index(wanted)
