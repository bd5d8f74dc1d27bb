"""When rows happened → the period each belongs to: a calendar's, so many rows, or a value of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, is_whole, listed, nearest, shown
from evenhand.ingest.columns import Columns
from evenhand.ingest.values import NO_VALUE, Encoded, encode, in_utc, name_of
from evenhand.tables.arrays import Ints
from evenhand.tables.cells import natural
from evenhand.tables.table import Table

CALENDAR: dict[str, Callable[[datetime], str]] = {
    "day": lambda t: f"{t:%Y-%m-%d}".zfill(10),
    "week": lambda t: "{:04d}-W{:02d}".format(*t.isocalendar()[:2]),
    "month": lambda t: f"{t.year:04d}-{t.month:02d}",
    "quarter": lambda t: f"{t.year:04d}-Q{(t.month + 2) // 3}",
    "year": lambda t: f"{t.year:04d}",
}
MOST_ROWS = 10**15


@dataclass(frozen=True)
class Every:
    """How long a period is."""

    unit: str
    """day, week, month, quarter, year; rows; or value, when each value of the column is a period."""
    rows: int = 0

    def __str__(self) -> str:
        return f"{self.rows}-rows" if self.unit == "rows" else self.unit


@dataclass(frozen=True)
class InTime:
    """A table whose last attribute is the period."""

    table: Table
    names: tuple[str, ...]
    """The periods in their order."""
    notes: tuple[str, ...] = ()
    unfinished: bool = False
    """Whether the last period still waits for rows."""


def every_of(stated: Any) -> Every:
    """What the user said a period is.

    >>> str(every_of("month")), every_of("1000-rows"), every_of(1000) == every_of("1000")
    ('month', Every(unit='rows', rows=1000), True)
    """
    units = [*CALENDAR, "value"]
    if is_whole(stated):
        rows = int(stated)
    elif isinstance(stated, str) and stated.strip().lower() in units:
        return Every(stated.strip().lower())
    else:
        match = re.fullmatch(r"\s*(\d{1,16})(?:[- ]?rows?)?\s*", stated, re.ASCII) if isinstance(stated, str) else None
        if match is None:
            close = nearest(stated, units) if isinstance(stated, str) else ""
            raise UsageError(
                f"every is one of {listed(units)}, or a number of rows such as '1000-rows', not {shown(stated)}{close}"
            )
        rows = int(match[1])
    if not 1 <= rows <= MOST_ROWS:
        raise UsageError(f"a period has at least one row, not {shown(stated)}")
    return Every("rows", rows)


def by_period(columns: Columns, time: str, every: Every) -> tuple[Columns, tuple[str, ...], tuple[str, ...], bool]:
    """The columns with periods instead of times, the periods in order, remarks, and whether the last is unfinished."""
    codes, distinct = encode(columns.groups[time])
    rows = np.bincount(codes, weights=columns.n, minlength=max(len(distinct), 1))
    unfinished = False
    remarks: tuple[str, ...] = ()
    if every.unit == "rows":
        names, order, unfinished = _blocks(_ordered(distinct, time), rows, every.rows)
    elif every.unit == "value":
        names = [name_of(v) for v in distinct]
        order = in_order({n for n in names if n is not None})
    else:
        moments = _moments(distinct, time)
        names = [None if t is None else CALENDAR[every.unit](t) for t in moments]
        order = sorted({n for n in names if n is not None})
        aware = any(t is not None and t.tzinfo is not None for t in (_stated(v, time) for v in distinct))
        for value, name in zip(distinct, names, strict=True):
            _check_length(value, name, time, every.unit)
        remarks = (f"times {shown(time)} are counted in UTC" if aware else
                   f"times {shown(time)} know no zone and are counted as they are written",)  # fmt: skip
    groups = {**columns.groups, time: Encoded(np.asarray(codes), names)}
    return replace(columns, groups=groups, time=time), tuple(order), remarks, unfinished


def told_apart(columns: Columns, time: str, every: Every) -> Columns:
    """The columns with times as every engine tells them apart: days where periods are those of a calendar."""
    if every.unit not in CALENDAR:
        return columns
    codes, distinct = encode(columns.groups[time])
    days = [None if t is None else CALENDAR["day"](t) for t in _moments(distinct, time)]
    return replace(columns, groups={**columns.groups, time: Encoded(np.asarray(codes), days)}, time=time)


def in_order(names: Any) -> list[str]:
    """Numbers by size, other names with the numbers in them by size.

    >>> in_order({"week 10", "week 9"}), in_order({"10", "9", "-1"})
    (['week 9', 'week 10'], ['-1', '9', '10'])
    """
    if all(natural(n)[0] == 0 for n in names):
        return sorted(names, key=natural)
    return sorted(names, key=lambda n: ([(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in _pieces(n)], n))


def _pieces(name: str) -> list[str]:
    return [p for p in re.split(r"(\d{1,4000})", name, flags=re.ASCII) if p]


def moment(value: Any, column: str) -> datetime | None:
    """A date or time without its zone, in UTC if it had one; None if it is missing.

    >>> moment("2024-01-31T23:30:00-05:00", "when"), moment("2024-02", "when")
    (datetime.datetime(2024, 2, 1, 4, 30), datetime.datetime(2024, 2, 1, 0, 0))
    """
    found = _stated(value, column)
    return found if found is None or found.tzinfo is None else in_utc(found)


def _stated(value: Any, column: str) -> datetime | None:
    """A date or time as it is written, with its zone if it has one; None if it is missing."""
    if name_of(value) is None or (isinstance(value, str) and value.strip() in NO_VALUE):
        return None
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, str):
        return _parsed(value, column)
    if _is_period(value):
        start: datetime = value.to_timestamp().to_pydatetime()
        return start
    raise DataError(
        f"a calendar needs dates, but time column {shown(column)} holds {shown(value)}: convert it to dates, or say "
        "every='value' (each value is a period) or a number of rows ('1000-rows')"
    )


def _is_period(value: Any) -> bool:
    """Whether it is a period of pandas, which need not be installed."""
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_timestamp")


def _check_length(value: Any, name: str | None, column: str, unit: str) -> None:
    if _is_period(value) and name != CALENDAR[unit](value.to_timestamp(how="end")):
        raise DataError(
            f"time column {shown(column)} holds periods such as {shown(str(value))}, which are longer than a {unit}: "
            "say a longer one, or every='value'"
        )


def _parsed(text: str, column: str) -> datetime:
    plain = text.strip()
    try:
        if "-" not in plain[1:]:  # 20240131 may be a date, a number of rows or of seconds
            raise ValueError
        return datetime.fromisoformat(f"{plain}-01" if re.fullmatch(r"\d{4}-\d{2}", plain, re.ASCII) else plain)
    except ValueError:
        raise DataError(
            f"dates are written like 2024-01-31 or 2024-01-31 17:45:00, but time column {shown(column)} holds "
            f"{shown(text)}: repair it, or say every='value' or a number of rows ('1000-rows')"
        ) from None


def _moments(distinct: Sequence[Any], column: str) -> list[datetime | None]:
    stated = [_stated(v, column) for v in distinct]
    kinds = {t.tzinfo is not None: v for v, t in zip(distinct, stated, strict=True) if t is not None}
    if len(kinds) > 1:
        raise DataError(
            f"time column {shown(column)} mixes times with a zone ({shown(str(kinds[True]))}) and without "
            f"({shown(str(kinds[False]))}): give all of them a zone, or none"
        )
    return [moment(v, column) for v in distinct]


def _ordered(distinct: Sequence[Any], column: str) -> list[Any]:
    """Something to sort times by; None where a time is missing."""
    numbers = [_number(v) for v in distinct]
    if all(n is not False for n in numbers):
        return numbers
    return _moments(distinct, column)


def _number(value: Any) -> float | Decimal | int | bool | None:
    """A number, None if it is missing, False if it is something else."""
    if isinstance(value, str):
        plain = value.strip()
        if plain in NO_VALUE:
            return None
        return Decimal(plain) if re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", plain, re.ASCII) else False
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float | Decimal):
        return value if name_of(value) is not None else None
    return None if name_of(value) is None else False


def _blocks(times: Sequence[Any], rows: Any, wanted: int) -> tuple[list[str | None], list[str], bool]:
    """Blocks of at least so many rows, in order of time. Rows of one time stay together, or no two engines agreed."""
    known = sorted((k for k, t in enumerate(times) if t is not None), key=lambda k: times[k])
    names: list[str | None] = [None] * len(times)
    order: list[str] = []
    block: list[int] = []
    first = inside = 0
    for i, k in enumerate(known):
        block.append(k)
        inside += int(rows[k])
        more = i + 1 < len(known)
        if more and (inside < wanted or times[known[i + 1]] == times[k]):
            continue
        order.append(f"rows {first + 1}-{first + inside}")
        for member in block:
            names[member] = order[-1]
        unfinished = inside < wanted
        first, inside, block = first + inside, 0, []
    return names, order, bool(order) and unfinished


def apart(table: Table, attribute: str) -> dict[str, Table]:
    """A table as one for each group of an attribute, which itself is forgotten."""
    place = next(i for i, a in enumerate(table.attributes) if a.name == attribute)
    rest = [i for i in range(len(table.attributes)) if i != place]
    if not rest:
        raise UsageError(f"monitoring compares groups, but {shown(attribute)} is the only attribute: name a group")
    codes = table.codes[place]
    names = table.attributes[place].groups
    return {name: _some(table, np.flatnonzero(codes == k), rest) for k, name in enumerate(names)}


def _some(table: Table, cells: Ints, attributes: list[int]) -> Table:
    arrays = {
        name: getattr(table, name) for name in ("n", "score", "decision", "label", "weight", "weight2", "cluster")
    }
    return Table.of_cells(
        attributes=tuple(table.attributes[i] for i in attributes),
        codes=table.codes[attributes][:, cells],
        meaning=table.meaning,
        spans=table.spans,
        depth=table.depth,
        **{name: None if array is None else array[cells] for name, array in arrays.items()},
    )
