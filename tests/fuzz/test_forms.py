"""Columns of odd types: whoever holds them, the same table comes out with the same notes, or all refuse."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from fuzzing import NAMES, amount, generators

import evenhand
from evenhand.errors import EvenhandError

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

Rng = np.random.Generator
REFUSED = "refused"
UNKNOWN = (
    pa.ArrowException, pl.exceptions.PolarsError, duckdb.Error,
    OverflowError, ValueError, NotImplementedError, TypeError,
)  # fmt: skip
"""What libraries say of types that they do not have."""
NAN, INF = float("nan"), float("inf")


class Kind(NamedTuple):
    """Values of one type, and the type."""

    type: Any
    values: list[Any]
    text: bool = False
    """Whether a text file of these values means the same as the values."""
    json: bool = False
    """Whether JSON knows them."""


def _moments(zone: Any = None) -> list[dt.datetime]:
    days = [(2024, 1, 1), (2024, 10, 27, 0, 30), (2024, 10, 27, 1, 30), (1969, 12, 31, 23, 59, 59), (2024, 3, 31, 2)]
    return [dt.datetime(*day, tzinfo=zone) for day in days]  # type: ignore[misc,arg-type]


def _decimals(*texts: str) -> list[decimal.Decimal]:
    return [decimal.Decimal(text) for text in texts]


FINE = [name for name in NAMES if name == name.strip() and name and "\r" not in name and "\ufeff" not in name]
SCORES = {
    "float64": Kind(pa.float64(), [0.25, 1 / 3, 0.0, -0.0, 1.0, 5e-324, 0.1 + 0.2], True, True),
    "odd float64": Kind(pa.float64(), [0.25, NAN, INF, -INF, 1e308, 1e-320, 2.5]),
    "float32": Kind(pa.float32(), [0.1, 0.7, 1 / 3, 0.0, 1.0]),
    "int8": Kind(pa.int8(), [-128, 0, 3, 127], True, True),
    "int64": Kind(pa.int64(), [0, 1, 5, -3, 2**53 - 1], True, True),
    "uint64": Kind(pa.uint64(), [0, 1, 2**53, 2**62], True, True),
    "truth": Kind(pa.bool_(), [True, False], False, True),
    "decimal": Kind(pa.decimal128(9, 4), _decimals("0.1000", "0.3333", "-2.5000", "99999.9999"), True),
    "whole decimal": Kind(pa.decimal128(20, 0), _decimals("1", "2", "-3"), True),
    "text": Kind(pa.string(), ["0.5", "0.25", "1"], False, True),
    "date": Kind(pa.date32(), [dt.date(2024, 1, 1), dt.date(2024, 5, 1)]),
    "moment": Kind(pa.timestamp("us"), _moments()),
    "duration": Kind(pa.duration("us"), [dt.timedelta(1), dt.timedelta(0, 3)]),
    "list": Kind(pa.list_(pa.float64()), [[0.5], [0.25, 1.0]]),
    "nothing": Kind(pa.null(), [None]),
}
GROUPS = {
    "names": Kind(pa.string(), FINE, True, True),
    "blanks": Kind(pa.string(), ["a", "a ", " a", "b", " ", "", "A"], True, True),
    "text of numbers": Kind(pa.string(), ["1", "1.0", "01", "-0", "1e3", "True", "true", "nan"], True, True),
    "large text": Kind(pa.large_string(), ["a", "b", "ä"], True, True),
    "categories": Kind(pa.dictionary(pa.int8(), pa.string()), ["x", "y", "z z"], True, True),
    "int8": Kind(pa.int8(), [-1, 0, 1, 127], True, True),
    "int64": Kind(pa.int64(), [1, 2, 2**53 + 1, -(2**63)], True, True),
    "uint64": Kind(pa.uint64(), [0, 1, 2**63, 2**64 - 1], True, True),
    "float64": Kind(pa.float64(), [1.0, -0.0, 0.0, 0.5, NAN, 1e16, 1e-7, 1e22, INF]),
    "float32": Kind(pa.float32(), [0.1, 0.5, 2.0, NAN, -0.0]),
    "truth": Kind(pa.bool_(), [True, False], False, True),
    "date": Kind(pa.date32(), [dt.date(2024, 2, 29), dt.date(1969, 12, 31), dt.date(9999, 12, 31)], True, True),
    "seconds": Kind(pa.timestamp("s"), _moments()),
    "milliseconds": Kind(pa.timestamp("ms"), _moments()),
    "microseconds": Kind(pa.timestamp("us"), [*_moments(), dt.datetime(2024, 1, 1, 0, 0, 0, 120)]),
    "nanoseconds": Kind(pa.timestamp("ns"), _moments()),
    "within a microsecond": Kind(pa.timestamp("ns"), [1, 2, 1_000, 1_704_067_200_000_000_001]),
    "instants": Kind(pa.timestamp("us", "UTC"), _moments(dt.UTC)),
    "instants of a zone": Kind(pa.timestamp("us", "Europe/Berlin"), _moments(dt.UTC)),
    "time of day": Kind(pa.time64("us"), [dt.time(1, 2, 3), dt.time(0), dt.time(1, 2, 3, 50)]),
    "duration": Kind(pa.duration("us"), [dt.timedelta(1), dt.timedelta(0, 3)]),
    "bytes": Kind(pa.binary(), [b"a", b"b", b"\xff\x00", b""]),
    "decimal": Kind(pa.decimal128(12, 3), _decimals("1.500", "2.000", "0.001", "-3.250", "0.000", "100.000")),
    "long decimal": Kind(pa.decimal128(38, 0), _decimals("1", "99999999999999999999999999", "-5"), True),
    "list": Kind(pa.list_(pa.int64()), [[1], [2, 3]]),
    "struct": Kind(pa.struct([("a", pa.int64())]), [{"a": 1}, {"a": 2}]),
    "nothing": Kind(pa.null(), [None]),
}
LABELS = {
    "truth": Kind(pa.bool_(), [True, False], True, True),
    "int": Kind(pa.int64(), [0, 1], True, True),
    "float": Kind(pa.float64(), [0.0, 1.0], True, True),
    "odd float": Kind(pa.float64(), [0.0, 1.0, NAN, -0.0]),
    "text": Kind(pa.string(), ["0", "1"], True, True),
    "words": Kind(pa.string(), ["true", "false", "NA", ""], True, True),
    "categories": Kind(pa.dictionary(pa.int8(), pa.string()), ["1", "0"], True, True),
    "decimal": Kind(pa.decimal128(3, 1), _decimals("0.0", "1.0"), True),
    "three": Kind(pa.int64(), [0, 1, 2], True, True),
    "date": Kind(pa.date32(), [dt.date(2024, 2, 29), dt.date(2024, 3, 1)], True, True),
}
WEIGHTS = {
    "int": Kind(pa.int32(), [1, 2, 3, 0], True, True),
    "float": Kind(pa.float64(), [0.1, 0.7, 1 / 3, 2.5, 1e-9], True, True),
    "wide": Kind(pa.float64(), [1e-9, 1e9, 0.3, 1.1], True, True),
    "odd": Kind(pa.float64(), [0.5, NAN, INF, 0.0, -1.0]),
    "decimal": Kind(pa.decimal128(9, 4), _decimals("0.1000", "0.3333", "2.5000"), True),
    "truth": Kind(pa.bool_(), [True, False], False, True),
    "text": Kind(pa.string(), ["1", "2"], False, True),
}
ROLES = {"score": SCORES, "group": GROUPS, "label": LABELS, "weight": WEIGHTS}


def table_of(rng: Rng) -> tuple[Any, dict[str, Kind]]:
    """A random table: some roles, each a column of one kind, with or without gaps."""
    roles = ["score", "group", "label"] + (["weight"] if rng.random() < 0.5 else [])
    names = [str(name) for name in rng.permutation([n for n in FINE if '"' not in n and "\n" not in n])[: len(roles)]]
    if len({name.lower() for name in names}) < len(names):
        names = roles
    kinds, columns = {}, {}
    rows = int(rng.choice([0, 1, 2, 9, 40]))
    for role, name in zip(roles, names, strict=True):
        usual = {"score": "float64", "group": "names", "label": "int", "weight": "float"}[role]
        kinds[role] = ROLES[role][str(rng.choice(list(ROLES[role]))) if rng.random() < 0.5 else usual]
        values = [kinds[role].values[i] for i in rng.integers(0, min(len(kinds[role].values), 9), rows)]
        if rng.random() < 0.2:
            values = [None if gap else v for v, gap in zip(values, rng.random(rows) < 0.2, strict=True)]
        columns[name] = pa.array(values, kinds[role].type, from_pandas=False)
    return pa.table(columns), dict(zip(names, kinds.values(), strict=True))


def _chunked(table: Any) -> Any:
    """In three pieces, each a slice of something larger."""
    third = len(table) // 3
    cuts = [0, third, 2 * third, len(table)]
    whole = pa.concat_tables([table.slice(a, b - a) for a, b in pairwise(cuts)])
    return pa.concat_tables([table, whole, table]).slice(len(table), len(table))


def _csv(table: Any, folder: Path) -> Path:
    frame = pd.DataFrame({name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names})
    frame.to_csv(folder / "d.csv", index=False)
    return folder / "d.csv"


def _jsonl(table: Any, folder: Path) -> Path:
    lines = [json.dumps(row, default=str) + "\n" for row in table.to_pylist()]
    (folder / "d.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder / "d.jsonl"


def _parquet(table: Any, folder: Path) -> Path:
    pq.write_table(table, folder / "d.parquet", row_group_size=7)
    return folder / "d.parquet"


def _feather(table: Any, folder: Path) -> Path:
    feather.write_feather(table, folder / "d.feather")
    return folder / "d.feather"


def _list(column: Any) -> list[Any]:
    """Python's own values, but for numbers of 32 bits, which it does not have."""
    narrow = column.type == pa.float32()
    return [np.float32(v) if narrow and v is not None else v for v in column.to_pylist()]


def _numpy(column: Any) -> Any:
    if column.null_count or column.type in (pa.string(), pa.binary()) or pa.types.is_nested(column.type):
        return np.array([*column.to_pylist(), None], object)[:-1]
    return column.to_numpy()


FORMS: dict[str, Callable[[Any, Path], Any]] = {
    "arrow": lambda table, folder: table,
    "chunked": lambda table, folder: _chunked(table),
    "lists": lambda table, folder: {name: _list(table[name]) for name in table.column_names},
    "numpy": lambda table, folder: {name: _numpy(table[name]) for name in table.column_names},
    "pandas": lambda table, folder: table.to_pandas(),
    "indexed": lambda table, folder: table.to_pandas().set_index(np.arange(len(table)) // 2),
    "pandas-arrow": lambda table, folder: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, folder: pl.from_arrow(table),
    "lazy": lambda table, folder: pl.from_arrow(table).lazy(),
    "duckdb": lambda table, folder: duckdb.from_arrow(table),
    "parquet": _parquet,
    "feather": _feather,
    "csv": _csv,
    "jsonl": _jsonl,
}


def holds(form: str, kinds: dict[str, Kind]) -> bool:
    """Whether a form can hold these values at all."""
    if form in ("csv", "jsonl"):  # text has no types but its own, and JSON few
        return all(kind.text if form == "csv" else kind.json for kind in kinds.values())
    if form == "parquet":  # writes durations as whole numbers
        return not any(pa.types.is_duration(kind.type) for kind in kinds.values())
    if form == "numpy":  # knows no zones
        return not any(getattr(kind.type, "tz", None) for kind in kinds.values())
    return True


def outcome(data: Any, **roles: Any) -> Any:
    """What counting gives: the table and its notes in their order, or that it was refused."""
    try:
        table = evenhand.tabulate(data, **roles)
    except EvenhandError as error:
        return REFUSED, str(error)
    return table.digest(), list(table.notes), dict(table.left_out)


def differences(rng: Rng, folder: Path) -> dict[str, Any]:
    """What forms give, if they do not agree."""
    table, kinds = table_of(rng)
    said = dict(zip(ROLES, table.column_names, strict=False))
    said |= {"missing": str(rng.choice(["drop", "refuse"]))}
    said |= {"weight_kind": "sampling"} if "weight" in said and rng.random() < 0.3 else {}
    found = {}
    for form, make in FORMS.items():
        if holds(form, kinds):
            try:
                data = make(table, folder)
            except UNKNOWN:
                continue
            found[form] = outcome(data, **said)
    kept = {str(value) if value[0] != REFUSED else REFUSED for value in found.values()}
    return {"types": list(map(str, table.schema.types)), **said, **found} if len(kept) > 1 else {}


@amount(reduced=12, full=500)
def test_every_form_gives_the_same_table(cases: int, tmp_path: Path) -> None:
    for rng in generators(cases, 1):
        found = differences(rng, tmp_path)
        assert not found, found
