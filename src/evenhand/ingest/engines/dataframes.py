"""Dataframes → columns, counted through narwhals by the engine that holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import cached_property, reduce
from operator import or_
from typing import Any

import narwhals as nw
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
    further_roles,
    scales_of_weights,
    weigh,
)
from evenhand.ingest.engines.arrays import Rows, narrow_scores
from evenhand.ingest.engines.sources import ACCEPTED, check_columns, problem
from evenhand.ingest.values import encode, name_of
from evenhand.tables.decimals import FLOAT32, STAGES
from evenhand.tables.exact_sums import Scales
from evenhand.tables.grid import Grid

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]


def wrapped(data: Any) -> Frame:
    """Any dataframe as narwhals sees it."""
    try:
        frame: Frame = nw.from_native(data)
        return frame
    except nw.exceptions.DuplicateError as error:
        repeated = " ".join(str(error).split())
        raise DataError(f"column names must be unique: rename or drop the ones repeated ({repeated})") from None
    except TypeError:
        raise UsageError(f"data must be {ACCEPTED}, not {shown(type(data).__name__)}") from None


def names(data: Any) -> list[Any]:
    """What the columns are called."""
    return wrapped(data).collect_schema().names()


def columns(data: Any) -> dict[str, Any]:
    """The columns of a dataframe in memory."""
    frame = wrapped(data)
    if not isinstance(frame, nw.DataFrame):
        raise UsageError("arrays cannot stand beside a lazy frame: add them to it as columns, or collect it")
    return {str(name): frame[name].to_native() for name in frame.columns}


def values(data: Any, names: list[str]) -> dict[str, Any]:
    """Some columns of a dataframe, also of a lazy one, as plain values."""
    frame = wrapped(data)
    with _counted_by(frame):
        present = frame.collect_schema().names()
    check_columns(names, present, "the data")
    with _counted_by(frame):
        chosen: Any = frame.select(names)
        chosen = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
        return {name: as_values(chosen[name].to_native())[0] for name in names}


def in_memory(data: Any, names: list[str]) -> Any:
    """Some columns of a dataframe as a frame in memory, of the library that holds them or nearest to it."""
    frame = wrapped(data)
    check_columns(names, frame.collect_schema().names(), "the data")
    with _counted_by(frame):
        chosen: Any = frame.select(names)
        return (chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen).to_native()


def regathered(data: Any, rows: Any, picked: Mapping[str, Any], numbers: Mapping[str, Any]) -> Any:
    """The rows of a frame at these places, some columns taken from other places, some replaced by numbers.

    What is taken keeps its type, whichever library holds it.
    """
    frame = nw.from_native(data, eager_only=True)
    columns = []
    for name in frame.columns:
        if name in numbers:
            column = nw.new_series(name, numbers[name], nw.Float64(), backend=frame.implementation)
        else:  # pandas would put values back to the rows they were taken from
            column = nw.maybe_reset_index(frame[name][picked.get(name, rows)])
        columns.append(column.to_frame())
    return nw.concat(columns, how="horizontal").to_native()


def as_values(column: Any) -> tuple[Any, str | None]:
    """An array, list or series of any library as plain values, and its name if it has one."""
    try:
        series = nw.from_native(column, series_only=True)
    except TypeError:
        return column, None
    name = str(series.name) if series.name not in (None, "") else None
    if not (isinstance(series.dtype, nw.Categorical | nw.Enum) and _text_categories(series)):
        return _values(series), name
    gaps = series.is_null().to_list()
    return [None if gap else v for gap, v in zip(gaps, series.cast(nw.String).to_list(), strict=True)], name


@contextmanager
def counting(
    data: Any, names: Mapping[str, str], groups: list[str], by_day: str | None = None
) -> Iterator[FrameCounting | Rows]:
    """A dataframe as `Counting` has it; of `by_day`, only days are distinguished."""
    frame = wrapped(data)
    with _counted_by(frame):
        schema = frame.collect_schema()
    check_columns([*names.values(), *groups], schema.names(), "the data")
    for role, column in [*names.items(), *(("group", g) for g in groups)]:
        _check_type(schema[column], column, role)
    loose = nw.Object | nw.Unknown
    if isinstance(frame, nw.DataFrame) and any(
        isinstance(schema[c], loose)
        or (isinstance(schema[c], nw.Categorical | nw.Enum) and not _text_categories(frame[c]))
        for c in [*names.values(), *groups]
    ):
        yield Rows(_rows(frame, names, groups))  # Python objects: no engine groups or spells them reliably
    else:
        yield FrameCounting(frame, schema, names, groups, by_day)


class FrameCounting:
    """Rows that the engine of a dataframe counts, as `Counting` has them."""

    split = False

    def __init__(
        self, frame: Frame, schema: Any, names: Mapping[str, str], groups: list[str], by_day: str | None
    ) -> None:
        self.frame, self.schema, self.names, self.groups = frame, schema, names, groups
        self.keys = {role: name for role, name in names.items() if role != "weight"}
        self.keys |= {f"group_{i}": g for i, g in enumerate(groups)}
        numbers = {k: _number(frame, c, schema[c]) for k, c in names.items() if k.startswith(("score", "weight"))}
        instants = frame.implementation.is_spark_like()
        spelt = {k: (_day if c == by_day else _key)(c, schema[c], instants) for k, c in self.keys.items()}
        self.select = {**spelt, **numbers}
        self.weight = self.select.pop("weight", None)
        self.select |= _weight_columns(self.weight)
        self.by = [*self.keys, *(["state"] if "weight" in names else [])]
        self.narrow = [role for role in names if role.startswith("score") and schema[names[role]] == nw.Float32]

    def coarsen(self, edges: Mapping[str, Sequence[float]]) -> None:
        """From now on distinguish numbers of these groups by their band only: one of its numbers stands for all."""
        for i, g in enumerate(self.groups):
            wide = isinstance(self.schema[g], nw.UInt64 | nw.Int128 | nw.UInt128)
            if g in edges and ((self.schema[g].is_integer() and not wide) or self.schema[g] == nw.Float64):
                self.select[f"group_{i}"] = _coarse(nw.col(g).cast(nw.Float64), edges[g])

    @property
    def length(self) -> int | None:
        return len(self.frame) if isinstance(self.frame, nw.DataFrame) else None

    def size(self) -> int:
        if self.length is not None:
            return self.length
        with _counted_by(self.frame):
            return int(self.frame.lazy().select(nw.len()).collect().item())

    @cached_property
    def _scales(self) -> dict[str, Scales]:
        """What cuts weights into parts: none if there are no weights."""
        if self.weight is None:
            return {}
        w = nw.col("total")
        above = nw.when(w > 0).then(w).otherwise(nw.lit(TOO_MUCH))
        with _counted_by(self.frame):
            known: Any = self.frame.lazy().select(total=_weight_columns(self.weight)["total"])
            ends = known.select(rows=nw.len(), largest=w.max(), smallest=above.min()).collect()
            rows, largest, smallest = (_values(ends[name])[0] for name in ("rows", "largest", "smallest"))
        largest = max(float(largest or 0.0), 0.0) if rows else 0.0
        return scales_of_weights(min(float(smallest), largest) if rows else 0.0, largest, int(rows))

    def exact(self) -> Columns:
        return self._counted(lambda rows: rows, self.by, {}, self.names)

    def totals(self) -> Columns:
        score = nw.col("score")
        finite = _finite(score)

        def rows(frame: Any) -> Any:
            return frame.with_columns(
                finite=nw.when(finite).then(nw.lit(1)).otherwise(nw.lit(0)),
                score=nw.when(finite).then(score).otherwise(nw.lit(0.0)),
            )

        names = {**self.names, "score_1": self.names["score"]}
        by = [*(key for key in self.by if key != "score"), "finite"]
        ends = {"score": score.min().alias("score"), "score_1": score.max().alias("score_1")}
        return self._counted(rows, by, ends, names)

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        score = nw.col("score")
        inside = reduce(or_, ((score > low) & (score < high) for low, high in ranges))
        return self._counted(lambda rows: rows.filter(inside & _finite(score)), self.by, {}, self.names)

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        names, ends = dict(self.names), {}
        if extremes:
            names |= {"score_1": names["score"], "score_2": names["score"]}
            ends = {"score_1": nw.col("exact").min(), "score_2": nw.col("exact").max()}

        def rows(frame: Any) -> Any:
            return frame.with_columns(exact=nw.col("score"), score=key_of(grid, nw.col("score")))

        columns = self._counted(rows, self.by, ends, names)
        return replace(columns, score=np.where(np.isneginf(columns.score), np.nan, columns.score))

    def _counted(
        self, rows: Callable[[Any], Any], by: list[str], more: Mapping[str, nw.Expr], names: Mapping[str, str]
    ) -> Columns:
        parts = [f"{what}_{i}" for what, by in self._scales.items() for i in range(len(by))]
        sums = {c: nw.col(c).sum() for c in [*parts, *(["fractional"] if parts else [])]}
        with _counted_by(self.frame):
            selected = rows(self._selected())
            cells: Any = selected.group_by(by, drop_null_keys=False).agg(nw.len().alias("n"), **sums, **more)
            if isinstance(cells, nw.LazyFrame):
                cells = cells.collect()
            columns = {name: _values(cells[name]) for name in cells.columns}
        if "finite" in columns:
            outside = np.asarray(columns["finite"]) == 0
            for role in ("score", "score_1"):
                columns[role] = np.where(outside, np.nan, np.asarray(columns[role], np.float64))
        for key, column in self.keys.items():
            if key.startswith("score"):
                continue
            if isinstance(self.schema[column], nw.Boolean):
                columns[key] = _truth(columns[key])
            elif self.schema[column].is_decimal():
                columns[key] = [None if name_of(v) is None else Decimal(v) for v in columns[key]]
        return counted(columns, names, self.groups, precision=dict.fromkeys(self.narrow, FLOAT32.name))

    def _selected(self) -> Any:
        """The columns to count by; scores of 32 bits as their shortest decimals."""
        selected: Any = self.frame.select(**self.select)
        for what, by in self._scales.items():  # `exact_sums.parts_of`, operation by operation
            for i, scale in enumerate(by):
                part = (nw.col(what) * scale).floor() / scale
                selected = selected.with_columns(**{f"{what}_{i}": part})
                selected = selected.with_columns(**{what: nw.col(what) - nw.col(f"{what}_{i}")})
        if not self.narrow:
            return selected
        selected = selected.with_columns(**{f"scale_{role}": scale_of(nw.col(role)) for role in self.narrow})
        return selected.with_columns(**{role: shortest(nw.col(role), nw.col(f"scale_{role}")) for role in self.narrow})


def scale_of(x: nw.Expr) -> nw.Expr:
    """The scale of each 32-bit number as `Narrow.scales` has it."""
    found: nw.Expr = nw.lit(0.0)
    size = nw.when(x < 0.0).then(x * -1.0).otherwise(x)  # the lowest narwhals has no unary minus
    for start, scale in zip(FLOAT32.starts[::-1].tolist(), FLOAT32.scales[-2::-1].tolist(), strict=True):
        found = nw.when(size < start).then(nw.lit(scale)).otherwise(found)
    return found


def shortest(x: nw.Expr, scale: nw.Expr) -> nw.Expr:
    """The shortest decimal of each 32-bit number as `Narrow.shortest` has it."""
    found = x
    own = nw.when(scale > 0.0).then(x).otherwise(nw.lit(0.0))  # Spark fails where a floor is no 64-bit integer
    for stage in reversed(STAGES):
        up = nw.when(scale > 0.0).then(scale * stage).otherwise(nw.lit(1.0))
        decimal = (own * up + 0.5).floor() / up
        fits = (decimal.cast(nw.Float32).cast(nw.Float64) == x) & (scale > 0.0)
        found = nw.when(fits).then(decimal).otherwise(found)
    return found


def key_of(grid: Grid, x: nw.Expr) -> nw.Expr:
    """The key of a score as `Grid.keys` has it; −infinity where it is not finite: some engines mix up NaN and null."""

    def leaf(i: int) -> nw.Expr:
        piece = grid.pieces[i]
        # A column as divisor: by a number, Polars multiplies with its rounded inverse.
        up, down = x - x + piece.up, x - x + piece.down
        place = ((x / down if piece.down > 1 else x * piece.up) + 0.5).floor()
        nearest = place * piece.down if piece.down > 1 else place / up
        above = nw.when(x > nearest).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
        side = nw.when(x < nearest).then(nw.lit(-1.0)).otherwise(above)
        key = place * 2.0 + side + float(grid.shifts[i])
        if not grid.loose[i]:
            return key
        return nw.when(x == piece.start).then(nw.lit(float(grid.offsets[i]))).otherwise(key)

    def fork(start: float, below: nw.Expr, above: nw.Expr) -> nw.Expr:
        return nw.when(x < start).then(below).otherwise(above)

    tree: nw.Expr = grid.branches(leaf, fork)
    return nw.when(_finite(x)).then(tree).otherwise(nw.lit(float("-inf")))


@contextmanager
def _counted_by(frame: Frame) -> Iterator[None]:
    """Every engine fails in its own way."""
    try:
        yield
    except Exception as error:
        engine = type(nw.to_native(frame)).__module__.split(".")[0]
        raise DataError(f"{engine} cannot count these data: {problem(error)}") from error


def _values(series: Any) -> Any:
    numeric = series.dtype.is_numeric() and not series.dtype.is_decimal()
    # with gaps, whole numbers would become fractions, and large ones lose digits
    wide = isinstance(series.dtype, nw.Int128 | nw.UInt128)  # numpy has none
    if numeric and not wide and not (series.dtype.is_integer() and series.null_count()):
        return series.to_numpy()
    return series.to_list()


def _check_type(dtype: Any, column: str, role: str) -> None:
    if isinstance(dtype, nw.List | nw.Array | nw.Struct | nw.Duration):
        raise DataError(f"column {shown(column)} holds {dtype}; it must hold plain values such as text or numbers")
    number = dtype.is_numeric() or isinstance(dtype, nw.Boolean | nw.Object | nw.Unknown)
    if role.startswith(("score", "weight")) and not number:
        raise DataError(
            f"{role.split('_')[0]} column {shown(column)} must hold numbers, but holds {dtype}: convert or repair it"
        )


def _number(frame: Frame, column: str, dtype: Any) -> nw.Expr:
    """A score or weight. Arrow's own cast of decimals is off in the last digit, and it refuses large whole numbers."""
    x, wide = nw.col(column), isinstance(dtype, nw.Int64 | nw.UInt64)
    return (x.cast(nw.String) if dtype.is_decimal() or (wide and _in_arrow(frame, column)) else x).cast(nw.Float64)


def _in_arrow(frame: Frame, column: str) -> bool:
    """Whether Arrow holds a column, also one of pandas."""
    native: Any = frame.to_native()
    return frame.implementation.is_pyarrow() or (
        frame.implementation.is_pandas_like() and "pyarrow" in str(native.dtypes[column])
    )


def _key(column: str, dtype: Any, instants: bool) -> nw.Expr:
    """What is counted by; `instants` says that moments with a zone are told apart by when they are already."""
    key = nw.col(column)
    if dtype.is_decimal():
        return key.cast(nw.String)
    if isinstance(dtype, nw.Boolean):
        return key.cast(nw.Float64)  # engines spell truth values differently; whole numbers cannot have gaps in Dask
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None and not instants:
        return key.dt.convert_time_zone("UTC")  # the hour that comes twice is two hours
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return nw.when(~key.is_null()).then(key.cast(nw.String))  # pandas 2 makes the text 'nan' of a gap
    return key


def _coarse(x: nw.Expr, edges: Sequence[float]) -> nw.Expr:
    """A number of the band that a number is in; what is no number stays."""
    found: nw.Expr = nw.lit(edges[-1])
    for edge, value in zip(edges[::-1], [*edges[-2::-1], edges[0] - 1], strict=True):
        found = nw.when(x < edge).then(nw.lit(value)).otherwise(found)
    return nw.when(_finite(x)).then(found).otherwise(x)


def _day(column: str, dtype: Any, instants: bool) -> nw.Expr:
    """The day of a moment, in UTC if it knows its zone; other values as they are."""
    if not isinstance(dtype, nw.Datetime):
        return _key(column, dtype, instants)
    moment = nw.col(column)
    return (moment if dtype.time_zone is None else moment.dt.convert_time_zone("UTC")).dt.truncate("1d")


def _finite(x: nw.Expr) -> nw.Expr:
    """The test for a finite number on which all engines agree; not all of them take null for no."""
    return ~x.is_null() & ((x - x) == 0.0)


def _weight_columns(w: nw.Expr | None) -> dict[str, nw.Expr]:
    if w is None:
        return {}
    finite = _finite(w)
    sign = nw.when(w > 0).then(nw.lit(OK)).otherwise(nw.when(w == 0).then(nw.lit(ZERO)).otherwise(nw.lit(NEGATIVE)))
    return {
        "state": nw.when(finite).then(sign).otherwise(nw.lit(NOT_FINITE)),
        "total": nw.when(finite).then(w).otherwise(nw.lit(0.0)),
        "squares": nw.when(finite & (w < TOO_MUCH)).then(w * w).otherwise(nw.lit(0.0)),
        "fractional": nw.when(finite & (w.floor() != w)).then(nw.lit(1)).otherwise(nw.lit(0)),
    }


def _text_categories(series: Any) -> bool:
    """Whether the categories are text; pandas and Arrow have them of any type, and spell those differently."""
    native = series.to_native()
    if hasattr(getattr(native, "cat", None), "categories"):
        return all(isinstance(c, str) for c in native.cat.categories)
    kind = getattr(getattr(native, "type", None), "value_type", "string")
    return "string" in str(kind)


def _rows(frame: nw.DataFrame[Any], names: Mapping[str, str], groups: list[str]) -> Columns:
    columns = {c: as_values(frame[c].to_native())[0] for c in {*names.values(), *groups}}
    # copies: the table freezes its arrays, and must not freeze the user's
    columns = {c: v.copy() if isinstance(v, np.ndarray) else v for c, v in columns.items()}
    return Columns(
        names=names,
        groups={g: columns[g] for g in groups},
        n=np.ones(len(frame), np.int64),
        **{role: columns[names[role]] for role in ("score", "label", "prediction") if role in names},
        weights=weigh(columns[names["weight"]], names["weight"]) if "weight" in names else None,
        further=tuple(columns[names[role]] for role in further_roles(names)),
        precision={role: kind.name for role, kind in narrow_scores(columns, names).items()},
    )


def _truth(values: Any) -> list[bool | None]:
    codes, distinct = encode(values)
    names = [None if name_of(v) is None else bool(v) for v in distinct]
    return [names[c] for c in codes.tolist()]
