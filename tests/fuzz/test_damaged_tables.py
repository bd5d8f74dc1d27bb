"""Saved tables that were damaged, or written by a hostile hand: refused in one sentence, or as good as any table."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from fuzzing import NAMES, NUMBERS, amount, generators

import evenhand
from evenhand.tables.noise import Noise
from evenhand.tables.storage import is_table_file
from evenhand.tables.table import Meaning, Table

Counted = evenhand.Table | evenhand.Confusion
QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
VALUES: list[Any] = [
    *NUMBERS, *NAMES, [], {}, [[]], [None], [0.1, 0.9], [0.9, 0.1], [[0.0, 1]], [[0.0, 10**9]], {"": 1}, {"a": -1},
    {"a": {"b": 1}}, {"a": {"b": 0.5}}, ["a", "a"], ["f", "m"], {"name": "g", "groups": []}, "x" * 200_000,
    "evenhand/table/1", "evenhand/table/2", "evenhand/table/3", "evenhand/confusion/1", "evenhand/table/" + "9" * 5000,
]  # fmt: skip
RAW = [
    b"", b"{", b"[]", b"null", b"NaN", b'{"schema": NaN}', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000,
    b'{"schema": "evenhand/table/1", "schema": "evenhand/table/1"}', b"1e400", b"9" * 10_000, b'"\\ud800"', b"\x00",
]  # fmt: skip
TYPES = [
    "VARCHAR", "TINYINT", "INTEGER", "UBIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL(18, 3)", "BOOLEAN", "BLOB",
    "DATE", "TIMESTAMP", "INTERVAL", "UUID", "JSON", "INTEGER[]",
]  # fmt: skip
CONSTANTS = [
    "NULL", "0", "-1", "1", "2", "0.5", "40.9", "'nan'::DOUBLE", "'inf'::DOUBLE", "-1e308", "1e308", "5e-324::DOUBLE",
    "9223372036854775807", "4611686018427387904", "18446744073709551615::UBIGINT", "'favorable'", "''", "'f'",
    "''::BLOB", "DATE '2024-01-01'", "[1, 2]", "{'a': 1}", "true", "'0.5'", "2::BIGINT", "9007199254740993",
]  # fmt: skip


def counted() -> dict[str, Counted]:
    """A table of every kind that a file can hold."""
    rng = np.random.default_rng(5)
    n = 300
    people = {
        "p": np.round(rng.random(n), 2), "y": rng.integers(0, 2, n), "d": rng.integers(0, 2, n),
        "g": rng.choice(["f", "m"], n), "h": rng.choice(["old", "young", "it's × 'so'"], n), "w": rng.random(n) + 0.5,
        "c": rng.integers(0, 100, n), "job": rng.choice(["dj", "nurse", "poet"], n),
        "guess": rng.choice(["dj", "nurse", "poet"], n),
    }  # fmt: skip
    roles: dict[str, Any] = {"score": "p", "label": "y", "group": "g"}
    plain = evenhand.tabulate(people, **roles)
    gaps = {**people, "y": np.where(rng.random(n) < 0.05, np.nan, people["y"])}
    jobs: dict[str, Any] = {"label": "job", "prediction": "guess", "group": ["g", "h"]}
    private = Table.of_cells(
        **{name: getattr(plain, name) for name in ("attributes", "codes", "n", "score", "label")},
        weight2=plain.n + 2.0, noise=Noise(1.0), meaning=Meaning("p", "y", favorable="1"),
    )  # fmt: skip
    return {
        "plain": plain,
        "gaps": evenhand.tabulate(gaps, **{**roles, "group": ["g", "h"]}, missing="drop"),
        "decisions": evenhand.tabulate(people, prediction="d", label="y", group="g"),
        "weights": evenhand.tabulate(people, **roles, weight="w", weight_kind="sampling"),
        "clusters": evenhand.tabulate(people, **roles, cluster="c"),
        "suppressed": evenhand.suppressed(plain, below=10),
        "private": private,
        "classes": evenhand.tabulate(people, **jobs),
        "weighted classes": evenhand.tabulate(people, **jobs, weight="w", weight_kind="sampling"),
    }


TABLES = counted()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("saved")
    for name, table in TABLES.items():
        table.save(folder / f"{name}.table")
    return {name: folder / f"{name}.table" for name in TABLES}


def about_of(path: Path) -> dict[str, Any]:
    [(text,)] = duckdb.sql(f"SELECT value FROM parquet_kv_metadata('{path}')").fetchall()
    return json.loads(text)  # type: ignore[no-any-return]


def rewritten(path: Path, to: Path, about: bytes, select: str = "FROM cells") -> None:
    """The same file with other cells, and other words about them."""
    blob = "".join(f"\\x{byte:02X}" for byte in about)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE VIEW cells AS FROM read_parquet('{path}')")
        connection.execute(f"COPY ({select}) TO '{to}' (FORMAT parquet, KV_METADATA {{evenhand: '{blob}'::BLOB}})")


def read(path: Path) -> Counted | None:
    """The table, if the file holds one. Anything but a refusal in one sentence that names the file fails."""
    is_table_file(path)
    try:
        return evenhand.load(path)
    except evenhand.TableFileError as error:
        said = str(error)
    assert path.name in said
    assert "\n" not in said
    return None


def use(table: Counted, folder: Path) -> None:
    """Whatever is asked of a table, as of any other."""
    repr(table)
    table.save(folder / "again.table")
    assert evenhand.load(folder / "again.table") == table
    questions = [lambda: table + table, lambda: evenhand.table_info(table).to_dict(), lambda: audited(table)]
    if isinstance(table, Table):
        questions.append(lambda: evenhand.suppressed(table, below=3))
    for question in questions:
        with suppress(evenhand.EvenhandError):
            question()


def audited(table: Counted) -> str:
    options = dict(QUICK)
    if isinstance(table, Table):
        options["measures"] = ["equal_opportunity", *(["abcc"] if table.score is not None else [])]
        if table.decision is None:
            options["threshold"] = float(table.cutoffs[-1])
    return json.dumps(evenhand.audit(table, **options).to_dict(), allow_nan=False)


# ---- bytes -------------------------------------------------------------------------------------------------------


def spoilt(good: bytes, rng: np.random.Generator) -> bytes:
    bad, at = bytearray(good), int(rng.integers(0, len(good)))
    many = int(rng.integers(1, 40))
    match rng.integers(6):
        case 0:
            return bytes(bad[:at])
        case 1:
            del bad[at : at + many]
        case 2:
            bad[at:at] = rng.bytes(many)
        case 3:
            bad[at : at + many] = bytes(len(bad[at : at + many]))
        case 4:
            bad[at] ^= 1 << int(rng.integers(8))
        case _:
            for place in rng.integers(0, len(bad), many):
                bad[place] = int(rng.integers(256))
    return bytes(bad)


@amount(45, 2000)
def test_spoilt_bytes_are_noticed(saved: dict[str, Path], tmp_path: Path, cases: int) -> None:
    for rng in generators(cases, 1):
        spoil_one(saved, tmp_path, rng)


def spoil_one(saved: dict[str, Path], folder: Path, rng: np.random.Generator) -> bool:
    name = str(rng.choice(list(TABLES)))
    (folder / "spoilt.table").write_bytes(spoilt(saved[name].read_bytes(), rng))
    found = read(folder / "spoilt.table")
    assert found is None or found == TABLES[name]
    return found is not None


# ---- words -------------------------------------------------------------------------------------------------------


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a document: what holds it, and under which key."""
    for key, one in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(one, dict | list):
            yield from places(one)


def reworded(about: dict[str, Any], rng: np.random.Generator) -> bytes:
    if rng.random() < 0.05:
        return RAW[rng.integers(len(RAW))]
    for _ in range(int(rng.integers(1, 3))):
        there = list(places(about))
        holder, key = there[rng.integers(len(there))]
        value = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
        match rng.integers(4):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[
                    str(rng.choice(["surprise", "notes", "noise", "grid", "extremes", "provenance", *NAMES[:9]]))
                ] = value
            case _:
                holder[key] = value
    return json.dumps(about).encode()


def altered(path: Path, rng: np.random.Generator) -> str:
    """SQL for cells with another value, type or column."""
    names = [row[0] for row in duckdb.sql(f"DESCRIBE FROM read_parquet('{path}')").fetchall()]
    name, other = str(rng.choice(names)), str(rng.choice(names))
    constant, kind = str(rng.choice(CONSTANTS)), str(rng.choice(TYPES))
    return str(
        rng.choice(
            [
                f"SELECT * REPLACE ({constant} AS {name}) FROM cells",
                f"SELECT * REPLACE (CASE WHEN random() < 0.1 THEN {constant} ELSE {name} END AS {name}) FROM cells",
                f"SELECT * REPLACE (TRY_CAST({name} AS {kind}) AS {name}) FROM cells",
                f"SELECT * REPLACE ({other} AS {name}) FROM cells",
                f"SELECT * REPLACE ({name} * {constant} AS {name}) FROM cells",
                f"SELECT * EXCLUDE ({name}) FROM cells",
                f"SELECT *, {constant} AS surprise FROM cells",
                f"SELECT *, {constant} AS {rng.choice(['cluster', 'weight', 'weight2', 'group_9'])} FROM cells",
                f"SELECT * RENAME ({name} AS {name.upper()}) FROM cells",
                "FROM cells UNION ALL FROM cells",
                "FROM cells LIMIT 1",
                "FROM cells WHERE n > 5",
                "FROM cells ORDER BY hash(n)",
            ]
        )
    )


@amount(55, 2000)
def test_rewritten_files_are_refused_or_hold_a_table(saved: dict[str, Path], tmp_path: Path, cases: int) -> None:
    for rng in generators(cases, 2):
        rewrite_one(saved, tmp_path, rng)


def rewrite_one(saved: dict[str, Path], folder: Path, rng: np.random.Generator) -> bool:
    name = str(rng.choice(list(TABLES)))
    file, about = folder / "rewritten.table", about_of(saved[name])
    digest = rng.choice(["kept", "none", "new"])
    if digest != "kept":
        del about["digest"]
    words, cells = rng.random(2) < 0.6
    said = reworded(about, rng) if words else json.dumps(about).encode()
    try:
        rewritten(saved[name], file, said, altered(saved[name], rng) if cells else "FROM cells")
    except duckdb.Error:  # no such file can be written
        return False
    found = read(file)
    if found is None:
        return False
    if digest == "new":  # by a hand that knows how
        rewritten(file, folder / "signed.table", json.dumps({**json.loads(said), "digest": found.digest()}).encode())
        assert read(folder / "signed.table") == found
    use(found, folder)
    return True
