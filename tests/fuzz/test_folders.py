"""Random trees of folders, partitions and links: what is counted is what a walk in plain Python finds."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import NAMES, amount, generators

import evenhand
from evenhand.ingest.values import name_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links and names of Unix")

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
GROUPS = [name for name in NAMES if name_of(name) == name and len(name) < 60]
# next to a name with a bracket, DuckDB takes a backslash that a name begins with for a folder, and refuses the data
PLACES = [name for name in NAMES if name and "/" not in name and name[0] not in "._\\" and len(name) < 60]
FORMATS = ("parquet", "csv", "jsonl")


# ---- a tree ---------------------------------------------------------------------------------------------------------


def grow(root: Path, rng: np.random.Generator, kind: str) -> None:
    """Folders, files and links; a file may lack its group, and a folder may tell it, rightly or wrongly."""
    groups = list(rng.choice(GROUPS, 3, replace=False))
    folders, files = [root], []
    for _ in range(rng.integers(1, 7)):
        folder = folders[rng.integers(len(folders))] / _name(rng, groups)
        folder.mkdir(exist_ok=True)
        folders.append(folder)
    for i in range(rng.integers(1, 8)):
        folder = folders[rng.integers(len(folders))]
        files.append(folder / f"{'' if rng.random() < 0.9 else '._'[i % 2]}{rng.choice(PLACES)}{i}.{kind}")
        _write(files[-1], rng, _stated(files[-1], root), groups)
    for i in range(rng.integers(0, 5)):
        target, folder = files[rng.integers(len(files))], folders[rng.integers(len(folders))]
        match rng.integers(3):
            case 0:
                (folder / f"link{i}.{kind}").symlink_to(target)
            case 1:
                os.link(target, folder / f"hard{i}.{kind}")
            case 2:
                (folder / f"{rng.choice(['way', 'g=w'])}{i}").symlink_to(folders[rng.integers(len(folders))])


def _name(rng: np.random.Generator, groups: list[str]) -> str:
    """Of a folder."""
    told = str(rng.choice([*groups, NO_VALUE]))
    encoded = told if "/" not in told and rng.random() < 0.3 and unquote(told) == told else quote(told, safe="")
    return str(
        rng.choice(
            [f"g={encoded}", f"g={encoded}", f"other={encoded}", str(rng.choice(PLACES)), ".hidden", "_temporary"]
        )
    )


def _write(path: Path, rng: np.random.Generator, stated: set[str | None], groups: list[str]) -> None:
    rows = int(rng.integers(1, 5))
    scores = rng.integers(0, 100, rows) / 100
    columns: dict[str, list[Any]] = {"s": scores.tolist()}
    wrong = rng.random() < 0.1
    if not stated or wrong or rng.random() < 0.3:
        told = list(stated) * rows if stated else [str(g) for g in rng.choice(groups, rows)]
        columns["g"] = [str(g) for g in rng.choice(groups, rows)] if wrong else told[:rows]
    if rng.random() < 0.03:
        columns.pop("g", None)
    if path.suffix == ".parquet":
        types = {"s": pa.float64(), "g": pa.string()}
        pq.write_table(pa.table({name: pa.array(column, types[name]) for name, column in columns.items()}), path)
        return
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
        writer.writerows([list(columns), *zip(*columns.values(), strict=True)])


# ---- what should be counted -----------------------------------------------------------------------------------------


def _walk(folder: Path, above: tuple[str, ...] = ()) -> Iterator[Path]:
    real = os.path.realpath(folder)
    if real in above:
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, (*above, real))
        else:
            yield entry


def _stated(path: Path, root: Path) -> set[str | None]:
    """What folders tell of g."""
    told = [part[2:] for part in path.relative_to(root).parts[:-1] if part.startswith("g=")]
    return {None if value == NO_VALUE else unquote(value) for value in told}


def _rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.ParquetFile(path).read().to_pylist()
        return found
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def expected(root: Path, kind: str, hidden: str) -> Counter[str | None] | None:
    """People by group; None where the tree must be refused."""
    names = [p for p in _walk(root) if not any(part[0] in hidden for part in p.relative_to(root).parts)]
    files: dict[tuple[int, int], list[Path]] = {}
    for path in sorted((p for p in names if p.suffix == f".{kind}"), key=str):
        files.setdefault((path.stat().st_dev, path.stat().st_ino), []).append(path)
    counts: Counter[str | None] = Counter()
    for paths in files.values():
        stated = [_stated(path, root) for path in paths] if kind == "parquet" else [set()]
        if any(told != stated[0] or len(told) > 1 for told in stated):
            return None
        for row in _rows(paths[0]):
            absent = None if kind == "jsonl" else NO_VALUE  # a key that is not there has no value
            value = row.get("g", *stated[0]) if "g" in row or stated[0] else absent
            if value == NO_VALUE or (stated[0] and value not in stated[0]):
                return None
            counts[value] += 1
    return counts


def counted(data: str) -> Counter[str | None] | None:
    try:
        table = evenhand.tabulate(data, score="s", group="g", missing="drop")
    except evenhand.EvenhandError:
        return None
    sizes = table.sizes(table.groupings[0]).tolist()
    found = Counter(dict(zip(table.attributes[0].groups, sizes, strict=True)))
    return found + Counter({None: sum(table.left_out.values())})


@amount(reduced=8, full=300)
def test_trees(cases: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: Counter[str] = Counter()
    for case, rng in enumerate(generators(cases, 11)):
        kind = str(rng.choice(FORMATS, p=[0.7, 0.15, 0.15]))
        root = tmp_path / str(case)
        root.mkdir()
        grow(root, rng, kind)
        monkeypatch.chdir(tmp_path)
        for data, hidden in ((str(root), "._"), (str(case), "._"), (f"{case}/**/*.{kind}", ".")):
            want = expected(root, kind, hidden)
            found = counted(data)
            nobody = not want or list(want) == [None]
            assert (found is None) if nobody else (found == +want), (case, data, want, found)
            outcomes["refused" if nobody else "counted"] += 1
    assert min(outcomes["counted"], outcomes["refused"]) >= cases // 8, outcomes
