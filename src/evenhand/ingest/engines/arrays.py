"""Columns in memory, counted by numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, shown
from evenhand.ingest.columns import Columns, Weights, further_roles, weigh
from evenhand.ingest.engines.counting import Counting
from evenhand.ingest.engines.sources import ACCEPTED, check_columns
from evenhand.ingest.engines.tensor_codes import Resident, brought, on_device, settled
from evenhand.ingest.engines.tensors import SMALL, Tensors
from evenhand.ingest.values import Encoded, encode, to_floats
from evenhand.ingest.where import taken
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.decimals import Narrow, narrow_of
from evenhand.tables.exact_sums import sums_by
from evenhand.tables.grid import Grid
from evenhand.tables.groups import sum_by


def names(data: Any) -> list[str]:
    """What the columns are called; none of arrays on their own."""
    if isinstance(data, np.ndarray):
        return list(data.dtype.names or ())
    return list(data) if isinstance(data, Mapping) else []


def columns(data: Any) -> Mapping[str, Any] | None:
    """The columns by name; None of no data."""
    if data is None or isinstance(data, Mapping):
        return data
    if isinstance(data, np.ndarray) and data.dtype.names:
        return {name: data[name] for name in data.dtype.names}
    raise UsageError(
        "an array or list has no column names: pass a dict of columns, or arrays as score=, label=, group="
    )


def values(data: Any, wanted: list[str]) -> dict[str, Any]:
    """Some columns as plain values."""
    from evenhand.ingest.engines.dataframes import as_values

    if not (names(data) or isinstance(data, Mapping)):
        raise UsageError(f"data must be {ACCEPTED}, not {shown(type(data).__name__)}")
    found = columns(data) or {}
    check_columns(wanted, list(found), "the data")
    return {name: as_values(found[name])[0] for name in wanted}


def picked(columns: Mapping[str, Any] | None, value: Any, role: str) -> tuple[str, Any]:
    """The name and the values of a column that was given by name or as an array."""
    from evenhand.ingest.engines.dataframes import as_values

    if not isinstance(value, str):
        values, name = as_values(value)
        return name or role, _flat(values, name or role)
    if columns is None:
        raise UsageError(f"{role} {shown(value)} names a column, but there are no data: pass them first")
    check_columns([value], list(columns), "the data")
    return value, _flat(as_values(columns[value])[0], value)


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


def narrow_scores(columns: Mapping[str, Any] | None, given: Mapping[str, Any]) -> dict[str, Narrow]:
    """Which scores, given by name or as arrays, have fewer than 64 bits."""
    found = {
        role: narrow_of((columns or {}).get(value) if isinstance(value, str) else value)
        for role, value in given.items()
        if role.startswith("score")
    }
    return {role: narrow for role, narrow in found.items() if narrow is not None}


def rows_in(
    named: Mapping[str, tuple[str, Any]], groups: Mapping[str, Any], narrow: Mapping[str, Narrow] | None = None
) -> Counting:
    """Columns by role, with their names, and groups, ready to be counted where they are."""
    resident = {role: values.array for role, (_, values) in named.items() if isinstance(values, Resident)}
    narrow = {**(narrow or {}), **narrow_scores(None, resident)}
    every = [*named.values(), *groups.items()]
    lengths = [(name, len(values)) for name, values in every]
    if len({length for _, length in lengths}) > 1:
        found = ", ".join(f"{shown(name)} {length}" for name, length in lengths)
        raise DataError(f"all columns need the same length, but they have: {found}")
    rows = lengths[0][1]
    if on_device([values for _, values in every]):
        if rows > SMALL and "cluster" not in named and not further_roles(named):
            return Tensors(named, groups, narrow.get("score"))
        named = {role: (name, brought(values)) for role, (name, values) in named.items()}
        groups = {name: brought(values) for name, values in groups.items()}
    named = {
        role: (name, narrow[role].shortest(to_floats(values, name, "")) if role in narrow else values)
        for role, (name, values) in named.items()
    }
    return Rows(
        Columns(
            names={role: name for role, (name, _) in named.items()},
            groups=groups,
            n=np.ones(rows, np.int64),
            weights=weigh(named["weight"][1], named["weight"][0]) if "weight" in named else None,
            **{role: named[role][1] for role in ("score", "label", "prediction", "cluster") if role in named},
            further=tuple(named[role][1] for role in further_roles(named)),
            precision={role: kind.name for role, kind in narrow.items()},
        )
    )


class Rows:
    """Entries of columns, each a row (or a cell of rows), as `Counting` has them."""

    split = False

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    @property
    def length(self) -> int:
        return len(self.columns.n)

    def size(self) -> int:
        """How many rows there are: as many as entries."""
        return int(self.columns.n.sum())

    @cached_property
    def score(self) -> Floats:
        return to_floats(self.columns.score, self.columns.names["score"], "score")

    @cached_property
    def _strata(self) -> tuple[Ints, Columns]:
        """Entries that differ in nothing but their score: the number of each, and one of each (`n` tells which)."""
        c = self.columns
        groups = {name: Encoded(*encode(values)) for name, values in c.groups.items()}
        label, prediction = (None if v is None else Encoded(*encode(v)) for v in (c.label, c.prediction))
        encoded = [e for e in (*groups.values(), label, prediction) if e is not None]
        parts: list[tuple[int, Ints]] = [(max(len(e.distinct), 1), e.codes) for e in encoded]
        if c.weights is not None:
            parts.append((4, c.weights.state))
        stratum, size = np.zeros(len(c.n), np.int64), 1
        for span, codes in parts:
            found, stratum = _compact(stratum * span + codes, size * span)
            size = len(found)
        first = np.zeros(size, np.int64)
        first[stratum[::-1]] = np.arange(len(stratum) - 1, -1, -1)
        one = replace(c, groups=groups, score=None, label=label, prediction=prediction, n=first)
        return stratum, _picked(one, first)

    def totals(self) -> Columns:
        stratum, one = self._strata
        found, place = _compact(2 * stratum + np.isfinite(self.score), 2 * len(one.n))
        lowest, highest = _extremes(place, len(found), self.score)
        names = {**self.columns.names, "score_1": self.columns.names["score"]}
        return replace(self._entries(place, found // 2), names=names, score=lowest, further=(highest,))

    def exact(self) -> Columns:
        """Rows by score: as they are."""
        return self.columns

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        chosen = np.zeros(len(self.score), np.bool_)
        for low, high in ranges:
            chosen |= (self.score > low) & (self.score < high)
        return taken(self.columns, chosen)

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        stratum, _ = self._strata
        known, key = _places(grid.keys(self.score))
        found, place = _compact(stratum * len(known) + key, len(self._strata[1].n) * len(known))
        columns = replace(self._entries(place, found // len(known)), score=known[found % len(known)])
        if not extremes:
            return columns
        score = self.columns.names["score"]
        names = {**columns.names, "score_1": score, "score_2": score}
        return replace(columns, names=names, further=_extremes(place, len(found), self.score))

    def _entries(self, place: Ints, stratum: Ints) -> Columns:
        """Rows by place; the stratum of each place is given."""
        c, (_, one) = self.columns, self._strata

        size, w = len(stratum), c.weights
        if w is not None:
            fractional = sum_by(place, w.fractional, size)
            total, squares = sums_by(place, w.total, size), sums_by(place, w.squares, size)
            w = Weights(total, squares, w.state[one.n[stratum]], fractional)
        return replace(_picked(one, stratum), n=sum_by(place, c.n, size), weights=w)


def _extremes(place: Ints, size: int, score: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest score at each place; NaN where one is not finite."""
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    score = np.where(np.isfinite(score), score, np.nan)
    with np.errstate(invalid="ignore"):
        np.minimum.at(lowest, place, score)
        np.maximum.at(highest, place, score)
    return lowest, highest


def _places(keys: Floats) -> tuple[Floats, Ints]:
    """The keys there may be, of which the last is NaN, and the place of each key among them."""
    finite = np.isfinite(keys)
    low, high = (float(keys[finite].min()), float(keys[finite].max())) if finite.any() else (0.0, 0.0)
    if high - low > _dense(len(keys)):
        known, place = np.unique(keys, return_inverse=True)  # NaN comes last
        return np.append(known[~np.isnan(known)], np.nan), place.reshape(-1)
    size = int(high - low) + 1
    return np.append(low + np.arange(size), np.nan), np.where(finite, keys - low, size).astype(np.int64)


def _compact(key: Ints, size: int) -> tuple[Ints, Ints]:
    """Of numbers below `size`: those that occur, and the place of each among them."""
    if size > _dense(len(key)):
        found, place = np.unique(key, return_inverse=True)
        return found, place.reshape(-1)
    seen = np.zeros(size, np.bool_)
    seen[key] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[key]


def _dense(rows: int) -> int:
    """Arrays up to this size are faster than sorting the rows."""
    return 4 * rows + 1_000_000


def _picked(columns: Columns, places: Ints) -> Columns:
    """Groups, label and prediction, all encoded, of these entries."""

    def of(e: Encoded | None) -> Encoded | None:
        return None if e is None else Encoded(e.codes[places], e.distinct)

    groups = {name: of(e) for name, e in columns.groups.items()}
    return replace(columns, groups=groups, label=of(columns.label), prediction=of(columns.prediction))
