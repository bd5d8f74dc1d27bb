"""Dataframes → columns, counted through narwhals by the engine that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from evenhand.errors import DataError, UsageError, shown
from evenhand.ingest.columns import NEGATIVE, NOT_FINITE, OK, ZERO, Columns, counted, weigh
from evenhand.ingest.sources import check_columns
from evenhand.ingest.values import encode

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
        raise UsageError(
            "data must be a dataframe, a dict of columns, a path, or None with arrays for the columns, "
            f"not {shown(type(data).__name__)}"
        ) from None


def as_values(column: Any) -> tuple[Any, str | None]:
    """An array, list or series of any library as plain values, and its name if it has one."""
    try:
        series = nw.from_native(column, series_only=True)
    except TypeError:
        return column, None
    if isinstance(series.dtype, nw.Categorical | nw.Enum):
        series = series.cast(nw.String)
    return _values(series), (str(series.name) if series.name not in (None, "") else None)


def count_frame(frame: Frame, names: Mapping[str, str], groups: list[str]) -> Columns:
    """Let the engine count rows by every distinct combination of the columns."""
    schema = frame.collect_schema()
    check_columns([*names.values(), *groups], schema.names(), "the data")
    keys = {role: names[role] for role in ("score", "label", "prediction") if role in names}
    keys |= {f"group_{i}": g for i, g in enumerate(groups)}
    for role, column in {**keys, **({"weight": names["weight"]} if "weight" in names else {})}.items():
        _check_type(schema[column], column, role)
    loose = nw.Object | nw.Unknown
    if isinstance(frame, nw.DataFrame) and any(isinstance(schema[c], loose) for c in [*names.values(), *groups]):
        return _rows(frame, names, groups)  # Python objects: no engine groups them reliably
    selected = frame.select(**{k: _key(k, c, schema[c]) for k, c in keys.items()}, **_weight_columns(names))
    by = [*keys, *(["state"] if "weight" in names else [])]
    sums = {c: nw.col(c).sum() for c in ("total", "squares", "fractional") if "weight" in names}
    # mypy cannot see that the two kinds of frame take the same words
    cells: Any = selected.group_by(by, drop_null_keys=False).agg(nw.len().alias("n"), **sums)  # type: ignore[union-attr]
    if isinstance(cells, nw.LazyFrame):
        cells = cells.collect()
    columns = {name: _values(cells[name]) for name in cells.columns}
    for key, column in keys.items():
        if isinstance(schema[column], nw.Boolean) and key != "score":
            columns[key] = _truth(columns[key])
    return counted(columns, names, groups)


def _values(series: Any) -> Any:
    if series.dtype.is_numeric() and not series.dtype.is_decimal():
        return series.to_numpy()
    return series.to_list()


def _check_type(dtype: Any, column: str, role: str) -> None:
    if isinstance(dtype, nw.List | nw.Array | nw.Struct):
        raise DataError(f"column {shown(column)} holds lists or records ({dtype}); it must hold plain values")
    number = dtype.is_numeric() or isinstance(dtype, nw.Boolean | nw.Object | nw.Unknown)
    if role in ("score", "weight") and not number:
        raise DataError(f"{role} column {shown(column)} must hold numbers, but holds {dtype}: convert or repair it")


def _key(role: str, column: str, dtype: Any) -> nw.Expr:
    key = nw.col(column)
    if role == "score" or dtype.is_decimal():
        return key.cast(nw.Float64)
    if isinstance(dtype, nw.Boolean):
        return key.cast(nw.Int64)  # engines spell truth values differently
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return key.cast(nw.String)
    return key


def _weight_columns(names: Mapping[str, str]) -> dict[str, nw.Expr]:
    if "weight" not in names:
        return {}
    w = nw.col(names["weight"]).cast(nw.Float64)
    finite = (w - w) == 0.0  # the test for a finite number on which all engines agree
    sign = nw.when(w > 0).then(nw.lit(OK)).otherwise(nw.when(w == 0).then(nw.lit(ZERO)).otherwise(nw.lit(NEGATIVE)))
    return {
        "state": nw.when(finite).then(sign).otherwise(nw.lit(NOT_FINITE)),
        "total": nw.when(finite).then(w).otherwise(nw.lit(0.0)),
        "squares": nw.when(finite).then(w * w).otherwise(nw.lit(0.0)),
        "fractional": nw.when(finite & (w.floor() != w)).then(nw.lit(1)).otherwise(nw.lit(0)),
    }


def _rows(frame: nw.DataFrame[Any], names: Mapping[str, str], groups: list[str]) -> Columns:
    columns = {c: as_values(frame[c].to_native())[0] for c in {*names.values(), *groups}}
    return Columns(
        names=names,
        groups={g: columns[g] for g in groups},
        n=np.ones(len(frame), np.int64),
        **{role: columns[names[role]] for role in ("score", "label", "prediction") if role in names},
        weights=weigh(columns[names["weight"]], names["weight"]) if "weight" in names else None,
    )


def _truth(values: Any) -> list[bool | None]:
    codes, distinct = encode(values)
    names = [None if v is None or v != v else bool(v) for v in distinct]
    return [names[c] for c in codes.tolist()]
