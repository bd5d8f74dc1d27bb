"""Any data → people with their features, each a column of numbers or of categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, nearest, one_of, shown
from evenhand.ingest.column_types import holds_dates, numbers_of, refuse_mixed
from evenhand.ingest.engines import engine_of
from evenhand.ingest.engines.sources import ACCEPTED
from evenhand.ingest.roles import MISSING
from evenhand.ingest.rows import read_rows
from evenhand.ingest.values import Encoded, encode, name_of, to_floats
from evenhand.tables.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class Feature:
    """One column: numbers, or codes into categories."""

    name: str
    values: Floats | Ints
    categories: tuple[Any, ...] | None = None
    """The distinct values in order of appearance; None for numbers."""

    @property
    def numeric(self) -> bool:
        return self.categories is None

    @property
    def constant(self) -> bool:
        return bool((self.values == self.values[:1]).all())

    def plain(self, rows: Any = slice(None)) -> list[Any]:
        """The values as a person would read them."""
        chosen = self.values[rows].tolist()
        if self.categories is None:
            return [None if v != v else int(v) if v == int(v) else v for v in chosen]
        return [None if name_of(self.categories[code]) is None else self.categories[code] for code in chosen]

    def taken(self, rows: Any) -> Feature:
        return replace(self, values=self.values[rows])


@dataclass(frozen=True)
class Types:
    """What a user says columns are; of the others their values tell."""

    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    """Names as a file has them: digits do not become numbers."""

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.categories, *self.text)

    def checked(self, data: Any) -> Types:
        """Refuse what contradicts itself, and text of data that have types of their own."""
        twice = [name for name in self.numbers if name in self.names]
        if twice:
            raise UsageError(
                f"column {shown(twice[0])} cannot be both numbers and names: leave it out of numbers= (--numbers), or "
                "of categories= (--categories) and text= (--text)"
            )
        if self.text and engine_of(data).in_memory:
            raise UsageError(
                f"text= says that digits in a file are text, but these data have types of their own: make column "
                f"{shown(self.text[0])} text where they are held"
            )
        return self


@dataclass(frozen=True)
class People:
    """Rows of features, none of them missing."""

    features: tuple[Feature, ...]
    left_out: dict[str, int]
    """Rows left out because a column has no value, by column; a row may count in several."""
    kept: Ints
    """The places of these people in the data."""
    rows: int
    """Rows of the data."""
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.kept)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.features)

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.names.index(name)]

    def only(self, names: Iterable[str]) -> People:
        """The same people, known by fewer features."""
        return replace(self, features=tuple(self[name] for name in names))

    def taken(self, rows: Ints) -> People:
        """Some of the people, or all in another order."""
        return replace(self, features=tuple(f.taken(rows) for f in self.features), kept=self.kept[rows])


def as_array(data: Any) -> Any:
    """Lists of rows as a matrix in which 1 beside "a" stays a number; anything else as it is."""
    if not isinstance(data, list | tuple):
        return data
    rule = "a list of people needs rows of equal length: pass a dataframe or a dict of columns"
    try:
        plain = np.asarray(data)
    except ValueError:
        raise DataError(rule) from None
    if plain.dtype.kind in "biuf":
        return plain
    mixed = np.array(data, object)
    if mixed.ndim == 1 and any(isinstance(row, list | tuple) for row in mixed):
        raise DataError(rule)
    return mixed


def as_columns(data: Any) -> Any:
    """A matrix (rows × features, also as lists) as a dict of columns x0, x1, …; anything else as it is."""
    data = as_array(data)
    if data is None:
        raise UsageError(f"data must be {ACCEPTED}, not None")
    if isinstance(data, np.ndarray) and not data.dtype.names:
        if data.ndim != 2 or data.shape[1] == 0:
            raise DataError(f"a matrix of people has two dimensions, rows × features, but this one has {data.shape}")
        return {f"x{i}": data[:, i] for i in range(data.shape[1])}
    return data


def joined(data: Any, arrays: Mapping[str, Any]) -> tuple[Any, dict[str, str]]:
    """Data with arrays as further columns, and the names of these; a name that is taken gets a stroke."""
    if not arrays:
        return data, {}
    engine = engine_of(data)
    if not engine.in_memory:
        raise UsageError(f"{next(iter(arrays))} must be the name of a column of these data, as they are not in memory")
    from evenhand.ingest.engines.dataframes import as_values

    columns = dict(engine.code.columns(data))
    names: dict[str, str] = {}
    for role, array in arrays.items():
        values, name = as_values(array)
        name = name or role
        while name in columns:
            name += "′"
        if not hasattr(values, "__len__") or isinstance(values, str | bytes | Mapping):
            raise UsageError(f"{role} must be the name of a column or one value per person, not {shown(array)}")
        columns[name], names[role] = values, name
    return columns, names


def read_people(
    data: Any,
    columns: Sequence[str],
    *,
    numbers: Sequence[str] = (),
    categories: Sequence[str] = (),
    text: Sequence[str] = (),
    beside: Sequence[str] = (),
    missing: str = "refuse",
) -> People:
    """These columns of any data. `numbers` must be numbers, `categories` are taken as names even if they are numbers.

    Columns of `text` are names as a file has them: digits do not become numbers. Columns `beside` the others may have
    gaps: they are shown, and nothing is computed from them.

    >>> people = read_people({"age": [30, 41], "job": ["cook", "smith"]}, ["age", "job"])
    >>> people["age"].values.tolist(), people["job"].categories
    ([30.0, 41.0], ('cook', 'smith'))
    """
    one_of("missing", missing, MISSING)
    data = as_columns(data)
    every = [*columns, *beside]
    rows = read_rows(data, {}, [c for c in every if c in text], [c for c in every if c not in text])
    names = {*categories, *text}
    undeclared = {name for name in columns if name not in names}
    read = [_feature(name, rows.values[name], name in numbers, name in names, name in undeclared) for name in every]
    if not read:
        raise DataError("people need at least one column that tells them apart")
    gone = np.zeros(len(read[0][1]), np.bool_)
    left_out: dict[str, int] = {}
    for feature, absent in read:
        if feature.name not in beside and absent.any():
            left_out[feature.name] = int(absent.sum())
            gone |= absent
    if left_out and missing == "refuse":
        raise DataError(_incomplete(left_out, len(gone)))
    kept = np.flatnonzero(~gone)
    if not len(kept):
        raise DataError("there is nobody in the data" + (" without a missing value" if len(gone) else ""))
    features = tuple(_compact(f.taken(kept)) for f, _ in read)
    dates = [f.name for f in features if f.name in undeclared and f.categories and holds_dates(f.categories)]
    note = f"{listed(dates)}: dates, taken as names of which any two are equally different; make them numbers, or name "
    said = (f"{note}them in categories=",) if dates else ()
    return People(features, left_out, kept, len(gone), (*rows.notes, *said))


def _incomplete(left_out: dict[str, int], n: int) -> str:
    name, count = next(iter(left_out.items()))
    more = f" (and {len(left_out) - 1} more columns)" if len(left_out) > 1 else ""
    return (
        f"every person needs a value in every column, but {count:,} of {n:,} rows have none in {shown(name)}{more}: "
        "complete them, leave the column out, or leave these rows out with missing='drop' (--missing drop)"
    )


def _feature(name: str, values: Any, number: bool, category: bool, strict: bool) -> tuple[Feature, Bools]:
    """A column and where it has no value; a `strict` one must not mix numbers with others."""
    if number or (not category and _all_numbers(values)):
        plain = numbers_of(name, values) if isinstance(values, Encoded) else values
        floats = to_floats(plain, name, "feature")
        if _infinite(floats, plain):
            raise DataError(f"column {shown(name)} holds an infinite number: repair it or leave those rows out")
        return Feature(name, floats), np.isnan(floats)
    if strict:
        refuse_mixed(name, values)
    codes, distinct = encode(values)
    absent = np.array([name_of(v) is None for v in distinct] or [True], np.bool_)
    return Feature(name, codes, tuple(distinct)), absent[codes]


def _absent(value: Any) -> bool:
    """Whether there is no value; infinite numbers are values, if bad ones."""
    return name_of(value) is None and not (isinstance(value, float) and np.isinf(value))


def _infinite(floats: Floats, plain: Any) -> bool:
    """Whether a number is infinite; `to_floats` takes infinite Python numbers for missing ones."""
    if getattr(getattr(plain, "dtype", None), "kind", "O") != "O":
        return bool(np.isinf(floats).any())
    return any(isinstance(plain[i], float) and np.isinf(plain[i]) for i in np.flatnonzero(np.isnan(floats)))


def _all_numbers(values: Any) -> bool:
    """Whether a column holds numbers; truth values are categories."""
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind != "O":
        return kind in "iuf"
    some = False
    for value in getattr(values, "distinct", values):
        if isinstance(value, bool | np.bool_ | str | bytes) and name_of(value) is not None:
            return False
        if not _absent(value):
            some = True
            if not hasattr(value, "__float__"):
                return False
    return some


def _compact(feature: Feature) -> Feature:
    """Only the categories that occur, each once."""
    if feature.categories is None:
        return feature
    place: dict[Any, int] = {}
    present = np.unique(feature.values).tolist()
    new = np.zeros(len(feature.categories), np.int64)
    for code in present:
        new[code] = place.setdefault(feature.categories[code], len(place))
    return replace(feature, values=new[feature.values], categories=tuple(place))


def chosen_columns(
    present: Sequence[str], columns: Sequence[str] | None, exclude: Sequence[str], role: str = "exclude"
) -> list[str]:
    """The columns to use: those named, or all; without those to be left out, which must exist."""
    for name in (*(columns or ()), *exclude):
        if name not in present:
            raise DataError(
                f"the data have no column {shown(name)} (they have: {listed(present)}){nearest(name, present)}"
            )
    both = [name for name in exclude if columns is not None and name in columns]
    if both:
        raise UsageError(f"column {shown(both[0])} is named in columns= and in {role}=: say which is meant")
    return [name for name in (present if columns is None else columns) if name not in exclude]
