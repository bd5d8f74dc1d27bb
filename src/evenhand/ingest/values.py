"""What single values mean: group names, labels, numbers. Every engine's values end here and come out alike."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import DataError, listed, nearest, shown
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.decimals import narrow_of

# Spellings of "nothing" that programs write into text columns of numbers and labels.
NO_VALUE = frozenset({"", "nan", "NaN", "NAN", "NA", "N/A", "null", "NULL", "<NA>", "None"})
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.0*)?")


_PLAIN = "a group or label must be a plain value such as a text, number or date"


class Encoded(NamedTuple):
    """A column as codes into its distinct values."""

    codes: NDArray[Any]
    distinct: list[Any]


def name_of(value: Any) -> str | None:
    """The name of a group, the same from every engine; None if the value is missing.

    >>> [name_of(v) for v in ("01", 1, 1.0, True, date(2024, 5, 1), float("nan"), "")]
    ['01', '1', '1', 'True', '2024-05-01', None, None]
    """
    if isinstance(value, np.generic):
        value = value.item() if narrow_of(value) is None else float(decimals(np.array([value]))[0])
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, list | tuple | dict | set | np.ndarray):
        raise DataError(f"{_PLAIN}, not a list or table ({shown(value)})")
    if value is None or _is_nan(value):
        return None
    if isinstance(value, str):
        return writable(value) if value.strip() else None
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, Decimal | float) and value == int(value):
        return str(int(value))
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat().rstrip("0") if value.microsecond else value.isoformat()
    if isinstance(value, timedelta):
        raise DataError(f"a group or label cannot be a duration ({shown(value)}): convert it to a number or text")
    try:
        return writable(str(value))
    except Exception as error:  # Python refuses to print numbers of thousands of digits, and a class may fail
        raise DataError(f"a group or label cannot be named: {error}") from None


def writable(text: str) -> str:
    """Text that any file can hold: a lone surrogate cannot be encoded, and is spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def in_utc(value: datetime) -> datetime:
    """A moment with a zone, in UTC and without one."""
    try:
        return value.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise DataError(f"{shown(str(value))} is no time in UTC (years 1 to 9999): repair it") from None


def _moment(value: datetime) -> str:
    """A moment in UTC if it knows its zone; a date alone if it is midnight of no particular zone."""
    if value.tzinfo is not None:
        zone, value = "+00:00", in_utc(value)
    elif (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0):
        return value.date().isoformat()
    else:
        zone = ""
    text = value.isoformat(sep=" ")
    return (text.rstrip("0") if value.microsecond else text) + zone


def _is_nan(value: Any) -> bool:
    """NaN, NaT and pandas.NA are the values that do not equal themselves, or will not say."""
    try:
        return not bool(value == value) or value in (float("inf"), float("-inf"))
    except Exception:  # values may be of anybody's class
        return True


def label_key(value: Any) -> str | None:
    """Labels that mean the same have one key: 1, 1.0, True, '1' and 'true' do.

    >>> [label_key(v) for v in (1, 1.0, True, "1.0", "true", "good", "NA")]
    ['1', '1', '1', '1', '1', 'good', None]
    """
    name = name_of(value)
    if name is None or name in NO_VALUE:
        return None
    name = name.strip()
    if name.lower() in ("true", "false"):
        return str(int(name.lower() == "true"))
    whole = _WHOLE.fullmatch(name)  # not float(): '01' and '1_0' are other values than '1' and '10'
    return whole[1] if whole and whole[1] != "-0" else name


def encode(values: Any) -> tuple[Ints, list[Any]]:
    """Codes into the list of distinct values; masked entries appear as None, and True is another value than 1."""
    if isinstance(values, Encoded):
        return values.codes, values.distinct
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(np.ma.MaskedArray(decimals(values.data), values.mask))
    if isinstance(values, np.ndarray) and values.dtype.kind in "biu" and len(values):
        return _encode_whole(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.reshape(-1), decimals(distinct).tolist()
    if isinstance(values, np.ndarray):
        # nanoseconds would become whole numbers
        values = values.astype("M8[us]").astype(object) if values.dtype.kind == "M" else values
        values = values.tolist()
    keys = _told_apart(values)
    try:
        place: dict[Any, int] = {}
        codes = np.fromiter((place.setdefault(k, len(place)) for k in keys), np.int64, len(values))
    except TypeError as error:
        raise DataError(f"{_PLAIN}, not a list or table ({error})") from error
    first = np.unique(codes, return_index=True)[1].tolist()
    return codes, [bytes(v) if isinstance(v := values[i], bytearray) else v for i in first]


def _told_apart(values: Any) -> Any:
    """Keys that differ where values do: True equals 1 to Python, and two moments of one zone may look the same."""
    kinds = set(map(type, values))
    if not any(issubclass(k, bool | np.bool_ | datetime | bytearray) for k in kinds):
        return values
    return [_key(v) for v in values]


def _key(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool, bool(value)
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, datetime) and value.tzinfo is not None and not _is_nan(value):
        return value.utcoffset(), value
    return value


def _unmasked(values: Any) -> NDArray[Any]:
    """Masked entries as None. Not `filled(None)`: that puts in numpy's default, the text '?'."""
    if not np.ma.is_masked(values):
        return np.asarray(values.data)
    plain = values.data.astype(object)
    plain[np.ma.getmaskarray(values)] = None
    return np.asarray(plain)


def _encode_whole(values: NDArray[Any]) -> tuple[Ints, list[Any]]:
    low = values.min()
    span = int(values.max()) - int(low)
    if span > 1_000_000:
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.reshape(-1), distinct.tolist()
    # unsigned numbers cannot become negative here, and signed ones must not wrap around in a narrow type
    shifted = (values - low).astype(np.int64) if values.dtype.kind == "u" else values.astype(np.int64) - int(low)
    present = np.flatnonzero(np.bincount(shifted, minlength=span + 1))
    new = np.zeros(span + 1, np.int64)
    new[present] = np.arange(len(present))
    if values.dtype.kind == "b":
        return new[shifted], [bool(int(low) + p) for p in present.tolist()]
    return new[shifted], [int(low) + p for p in present.tolist()]


def group_codes(values: Any, column: str, role: str = "group") -> tuple[Ints, tuple[str, ...]]:
    """Codes into group names; −1 where the group is missing."""
    codes, distinct = encode(values)
    if len({_kind(v) for v in distinct if name_of(v) is not None} & {"truth value", "number"}) > 1:
        raise DataError(f"{role} column {shown(column)} holds both truth values and numbers: make the column one type")
    place: dict[str, int] = {}
    first: dict[str, Any] = {}
    new = np.full(max(len(distinct), 1), -1, np.int32)
    for i, value in enumerate(distinct):
        name = name_of(value)
        if name is None:
            continue
        if name in first and _kind(value) != _kind(first[name]):
            raise DataError(
                f"{role} column {shown(column)} holds both {shown(first[name])} and {shown(value)}, which have the "
                "same name: make the column one type"
            )
        first.setdefault(name, value)
        new[i] = place.setdefault(name, len(place))
    return new[codes], tuple(place)


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "truth value"
    if isinstance(value, int | float | Decimal | np.number):
        return "number"
    return "text" if isinstance(value, str | bytes) else "other"


OWN_CODES = (
    "if the prediction has codes of its own, name its good value too (favorable_prediction=, --favorable-prediction)"
)


class Outcomes(NamedTuple):
    """A label or prediction column, read."""

    favourable: Bools
    missing: Bools
    wanted: str
    """The key of the favourable value."""
    present: set[str]
    """The keys that occur."""


def outcomes(values: Any, favorable: Any, column: str, role: str, known: Set[str] = frozenset()) -> Outcomes:
    """Which entries have the favourable value. `known` are further values the column could have had."""
    codes, distinct = encode(values)
    keys = [label_key(v) for v in distinct]
    present = {k for k in keys if k is not None}
    wanted = label_key(favorable)
    if len(present) > 2:
        raise DataError(_too_many(column, role, sorted(present)))
    if wanted is None:
        raise DataError(f"the favourable value must be a value of {shown(column)}, not {shown(favorable)}")
    absent_but_possible = present <= known or {wanted, *present} <= {"0", "1"}
    if wanted not in present and not absent_but_possible:
        spelt = [v for v, k in zip(distinct, keys, strict=True) if k is not None]
        way_out = "name one of them as favorable= (--favorable)"
        if role == "prediction":
            way_out = OWN_CODES
        raise DataError(
            f"favourable value {shown(favorable)} is not in {role} column {shown(column)} (it has: {listed(spelt)})"
            f"{nearest(wanted, present) or f'; {way_out}'}"
        )
    if role == "prediction":
        _check_decisions(distinct, present, wanted, known, column)
    hit = np.array([k == wanted for k in keys] or [False], np.bool_)
    missing = np.array([k is None for k in keys] or [True], np.bool_)
    return Outcomes(hit[codes], missing[codes], wanted, present)


def _check_decisions(distinct: list[Any], present: set[str], wanted: str, known: Set[str], column: str) -> None:
    """Two values alone do not make a decision: 0.3 and 1 are scores, and 2 is no answer to a label of 0 and 1."""
    for value in distinct:
        if isinstance(value, float | Decimal) and not _is_nan(value) and value != int(value):
            raise DataError(f"prediction column {shown(column)} holds {shown(value)}: {_AS_SCORE}")
    values = known | {wanted}
    if len(values) == 2 and not present <= values | {"0", "1"}:
        raise DataError(
            f"prediction column {shown(column)} has the values {listed(sorted(present))}, but the label has "
            f"{listed(sorted(values))}; {OWN_CODES}"
        )


_AS_SCORE = "if it is a score, pass it as score= (--score) with a threshold"


def _too_many(column: str, role: str, present: Sequence[str]) -> str:
    way_out = (
        _AS_SCORE
        if role == "prediction"
        else "recode it to the favourable outcome and the other one, or leave rows with other values out"
    )
    return f"a {role} has two values, but column {shown(column)} has {len(present)} ({listed(present, 5)}): {way_out}"


def decimals(values: Any) -> Any:
    """Numbers of fewer bits than 64 as the shortest decimals that stand for them; anything else as it is."""
    narrow = narrow_of(values)
    return values if narrow is None else narrow.shortest(values)


AS_WRITTEN = ("score", "feature")
"""Roles whose numbers are compared with others: of few bits, they are the decimals they stand for."""


def to_floats(values: Any, column: str, role: str) -> Floats:
    """Numbers as float64; NaN where a value is missing. Text is refused: it would have to be guessed."""
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind in "biuf":
            return np.where(np.ma.getmaskarray(values), np.nan, to_floats(values.data, column, role))
        values = _unmasked(values)
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if array.dtype.kind in "biuf":
        return (decimals(array) if role in AS_WRITTEN else array).astype(np.float64, copy=False)
    if array.dtype.kind in "mMcSUV":
        raise DataError(_not_number(array[0] if len(array) else array.dtype, column, role))
    return np.fromiter((_to_float(v, column, role) for v in array.tolist()), np.float64, len(array))


def _to_float(value: Any, column: str, role: str) -> float:
    if value is None or (not isinstance(value, str | bytes) and _is_nan(value)):
        return float("nan")
    if isinstance(value, str | bytes | date | complex):
        raise DataError(_not_number(value, column, role))
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise DataError(_not_number(value, column, role)) from None


def _not_number(value: Any, column: str, role: str) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    return f"{role} column {shown(column)} must hold numbers, but holds {shown(value)}: convert or repair it"
