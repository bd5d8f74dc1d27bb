"""Some rows only: those whose columns have one of the values asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.ingest.columns import Columns, Weights
from evenhand.ingest.values import Encoded, encode, name_of
from evenhand.tables.arrays import Bools
from evenhand.tables.provenance import where_note


def only(columns: Columns, where: Mapping[str, Any], keep: list[str], part: bool = False) -> Columns:
    """These rows, with a note that says so; columns that were read for this alone are forgotten.

    Of a part of the data nothing is said: it may hold none of these rows.
    """
    chosen, what = rows_with(columns.groups, where, len(columns.n), part)
    kept = {name: values for name, values in columns.groups.items() if name in keep}
    if part:
        return taken(replace(columns, groups=kept), chosen)
    note = where_note(what, int(columns.n[chosen].sum()), int(columns.n.sum()))
    return taken(replace(columns, groups=kept, notes=(*columns.notes, note)), chosen)


def rows_with(columns: Mapping[str, Any], where: Mapping[str, Any], rows: int, part: bool = False) -> tuple[Bools, str]:
    """Which rows have these values, at least one unless it is a part of the data; and what was asked for, as text."""
    chosen = np.ones(rows, np.bool_)
    said = []
    for name, wanted in where.items():
        values = _values(name, wanted)
        chosen &= _having(columns[name], name, values, part)
        said.append(f"{_plain(name)} = {_either(values)}")
    what = " and ".join(said)
    if not part and not chosen.any():
        raise DataError(f"no row has all that where asks for: {what}")
    return chosen, what


def taken(columns: Columns, chosen: Bools) -> Columns:
    """Some of the entries."""
    w = columns.weights
    return replace(
        columns,
        n=columns.n[chosen],
        groups={name: taken_values(values, chosen) for name, values in columns.groups.items()},
        weights=None if w is None else Weights(*(array[..., chosen] for array in vars(w).values())),
        **{role: taken_values(getattr(columns, role), chosen) for role in ("score", "label", "prediction", "cluster")},
        further=tuple(taken_values(values, chosen) for values in columns.further),
    )


def _either(values: list[Any]) -> str:
    more = [f"{len(values) - 8} more"] if len(values) > 8 else []
    return " or ".join([*map(shown, values[:8]), *more])


def _plain(name: str) -> str:
    """A name without quotes, if it is printable and short."""
    return name if name.isprintable() and len(name) <= 60 else shown(name)


def _values(name: str, wanted: Any) -> list[Any]:
    """One value, or each of several."""
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes | Mapping)
    values = list(wanted) if several else [wanted]
    values = sorted(values, key=str) if isinstance(wanted, set | frozenset) else values
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    if not values:
        raise UsageError(f"where: name at least one value of {shown(name)}")
    return values


def _having(column: Any, name: str, values: list[Any], part: bool) -> Bools:
    codes, distinct = encode(column)
    names = [name_of(v) for v in distinct]
    present = sorted({v for v in names if v is not None})
    asked = [_name(v) for v in values]
    for value, own in zip(values, asked, strict=True):
        if own not in names and not part:
            raise UsageError(
                f"where: no row has {shown(value)} in {shown(name)} (it has: {listed(present)})"
                f"{nearest(value, present)}"
            )
    return np.array([v in asked for v in names] or [False], np.bool_)[codes]


def _name(value: Any) -> str | None:
    try:
        return name_of(value)
    except (TypeError, ValueError, OverflowError):  # infinite, or no value of a column at all
        return str(value)


def taken_values(values: Any, chosen: Bools) -> Any:
    if values is None:
        return None
    if isinstance(values, Encoded):
        found, codes = np.unique(values.codes[chosen], return_inverse=True)
        return Encoded(codes.reshape(-1), [values.distinct[k] for k in found.tolist()])
    return values[chosen] if isinstance(values, np.ndarray) else list(compress(values, chosen.tolist()))
