"""Data that engines like to disagree on, as an Arrow table and as plain columns of numpy."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import numpy as np

INF, NAN = float("inf"), float("nan")
ROWS = 480

# Lengths without common divisors, so that values meet in many combinations.
VALUES: dict[str, list[Any]] = {
    "s": [0.1, 1 / 3, NAN, 0.0, INF, -0.0, 5e-324, None, 1e-310, -INF, 0.9999999999999999, 1.0, 0.1 + 0.2],
    "s32": [0.1, NAN, -0.0, 0.0, INF, None, 1e-45, 0.7, 1.0, -INF, 1 / 3],
    "u8": [0, 255, 7, 128, None, 1, 200],
    "i64": [0, -3, None, 2**53 - 1, 12, 5, -(2**40)],
    "dec": [decimal.Decimal(x) if x else None for x in ("0.1000", "0.3333", "", "0.0000", "-2.5000", "99999.9999")],
    "y": [True, False, False, True, True],
    "gaps": [1, 0, None, 1, 0, 1, 1, 0, 1],
    "kind": ["ash", "beech", "nan", "ash", "", "elm", "Ä", "ash "],
    "gone": ["a", None, "b", "a", "c", "b", "b"],
    "price": [decimal.Decimal(x) if x else None for x in ("1.500", "2.000", "", "0.001", "1.500", "-3.250", "2.000")],
    "flag": [True, None, False, False, True, True, True],
    "day": [dt.date(2024, 2, 29), dt.date(1969, 12, 31), None, dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    "moment": [
        dt.datetime(2024, 3, 31, 2, 30, 0, 250000),
        dt.datetime(2024, 1, 1),
        dt.datetime(1960, 5, 5, 5, 5),
        None,
    ],
    "instant": [dt.datetime(2024, 10, 27, h, 30, tzinfo=dt.UTC) for h in (0, 1, 2)] + [None],
    "odd32": [0.5, 2.0, NAN, 0.1, None, -7.0],
    "tiny": [-1, 0, 127, -128, None],
}
PLAIN: dict[str, Any] = {
    "s": np.float64, "s32": np.float32, "u8": np.uint8, "i64": np.int64, "y": np.bool_, "gaps": np.int64,
    "odd32": np.float32, "tiny": np.int8,
}  # fmt: skip


def _column(name: str) -> list[Any]:
    values = VALUES[name]
    return [values[(i + i // len(values) % 3) % len(values)] for i in range(ROWS)]


def plain() -> dict[str, Any]:
    """Columns of numpy: gaps are NaN in fractions, masked in whole numbers, None in objects."""
    out: dict[str, Any] = {}
    for name in VALUES:
        values = _column(name)
        kind = PLAIN.get(name)
        if kind is None:
            out[name] = np.array(values, dtype=object)
        elif np.issubdtype(kind, np.floating):
            out[name] = np.array([NAN if v is None else v for v in values], kind)
        else:
            gaps = [v is None for v in values]
            filled = np.array([0 if v is None else v for v in values], kind)
            out[name] = np.ma.masked_array(filled, gaps) if any(gaps) else filled
    return out


def arrow() -> Any:
    import pyarrow as pa

    types = {
        "s": pa.float64(), "s32": pa.float32(), "u8": pa.uint8(), "i64": pa.int64(), "dec": pa.decimal128(9, 4),
        "y": pa.bool_(), "gaps": pa.int32(), "gone": pa.dictionary(pa.int8(), pa.string()), "kind": pa.string(),
        "price": pa.decimal128(12, 3), "flag": pa.bool_(), "day": pa.date32(), "moment": pa.timestamp("us"),
        "instant": pa.timestamp("us", "UTC"), "odd32": pa.float32(), "tiny": pa.int8(),
    }  # fmt: skip
    return pa.table({name: pa.array(_column(name), types[name], from_pandas=False) for name in VALUES})


CASES: dict[str, dict[str, Any]] = {
    "fractions": {"score": "s", "label": "y", "group": "kind"},
    "single precision": {"score": "s32", "label": "gaps", "group": "gone"},
    "bytes": {"score": "u8", "label": "y", "group": ["flag", "gone"]},
    "whole": {"score": "i64", "label": "gaps", "group": "tiny"},
    "decimals": {"score": "dec", "label": "y", "group": "price"},
    "times": {"score": "u8", "label": "y", "group": ["day", "moment", "instant"]},
    "weights and fractions as groups": {"score": "s", "label": "y", "group": ["odd32", "flag"], "weight": "gaps"},
    "decisions": {"prediction": "flag", "label": "y", "group": ["gone", "kind"]},
    "truth as a score": {"score": "flag", "label": "y", "group": "gone"},
}


def many(groups: int = 10_000) -> dict[str, Any]:
    """As many groups as may be compared, each of two people."""
    g = np.arange(2 * groups) % groups
    return {"s": (g % 7) / 8 + (np.arange(2 * groups) >= groups) / 16, "y": g % 3 == 0, "g": g * 7 - 5}
