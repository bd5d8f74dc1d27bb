"""Intervals and tests: the default audit, its cost at a hundred times the people, and fair-scoring's permutation tests.

    python benchmarks/inference.py [rows] [--peer-permutations N] [--peer PYTHON]

fair-scoring permutes rows, so that its time is proportional to the permutations: it makes --peer-permutations of them
and is scaled to 1 000; the table says so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import evenhand
from evenhand.tables.cells import Attribute
from scores import BIASES, PEER, peer_python, people
from stopwatch import seconds

GROUPS = 4


def table_of(rows: int) -> evenhand.Table:
    """So many people with scores of four decimals: counts drawn as counts, because rows would not fit."""
    rng = np.random.default_rng(0)
    score = np.arange(1, 10_000) / 10_000
    columns: dict[str, list[Any]] = {"score": [], "label": [], "codes": [], "n": []}
    for g in range(GROUPS):
        density = score ** (1 + 0.05 * g) * (1 - score) ** 2
        for y, share in ((0, 1 - score), (1, score)):
            n = rng.poisson(rows / GROUPS * density * share / density.sum())
            some = n > 0
            columns["score"].append(score[some])
            columns["n"].append(n[some])
            columns["label"].append(np.full(some.sum(), y, np.bool_))
            columns["codes"].append(np.full(some.sum(), g))
    joined = {k: np.concatenate(v) for k, v in columns.items()}
    names = tuple(f"g{i}" for i in range(GROUPS))
    meaning = evenhand.compas().meaning
    return evenhand.Table.of_cells(
        attributes=(Attribute("g", names),),
        codes=joined["codes"][None],
        n=joined["n"],
        score=joined["score"],
        label=joined["label"],
        meaning=type(meaning)(score="s", label="y", favorable="1"),
    )


def default_audit(rows: int) -> None:
    rng = np.random.default_rng(0)
    g = rng.integers(0, GROUPS, rows)
    s = rng.beta(2 + 0.05 * g, 3)
    y = (rng.random(rows) < s).astype(np.int64)
    took = seconds(lambda: evenhand.audit(score=s, label=y, group=g), repeat=1)
    print(f"{f'default audit of {rows:,} rows, four groups, all scores distinct':<66} {took:8.2f} s")
    few, many = table_of(rows), table_of(100 * rows)
    one, hundred = (seconds(lambda t=t: evenhand.audit(t), repeat=2) for t in (few, many))  # type: ignore[misc]
    print(f"{f'the same from the table, scores of four decimals, {few.rows:,} people':<66} {one:8.2f} s")
    print(f"{f'the same, {many.rows:,} people':<66} {hundred:8.2f} s {hundred / one:6.2f} ×")


def permutation_tests(rows: int, permutations: int, python: str) -> None:
    columns = people(rows)
    program = PEER.replace('max_score=float(data["hi"])', f'max_score=float(data["hi"]), n_permute={permutations}')
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.npz"
        np.savez(data, **columns)
        done = subprocess.run([python, "-c", program, str(data)], capture_output=True, text=True, check=True)
    theirs = sum(took for _, took in json.loads(done.stdout).values()) * 1001 / (1 + permutations)
    words = {"score": columns["s"], "label": columns["y"], "group": columns["g"], "bootstrap": 0, "measures": BIASES}
    ours = seconds(lambda: evenhand.audit(**words, reference="0", null="published"), repeat=2)
    print(f"{f'evenhand, ten measures with 1 000 permutations, from {rows:,} rows':<66} {ours:8.2f} s")
    print(f"{f'fair-scoring, eight measures (scaled from {permutations})':<66} {theirs:8.0f} s {theirs / ours:6.0f} ×")


def demo() -> None:
    command = [sys.executable, "-m", "evenhand", "demo"]
    took = seconds(lambda: subprocess.run(command, capture_output=True, check=True), repeat=3)
    bare = seconds(lambda: subprocess.run([sys.executable, "-c", "import numpy"], check=True), repeat=3)
    print(f"{'evenhand demo, everything on, start-up included':<66} {took:8.2f} s {took / bare:6.1f} × import numpy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--peer-permutations", type=int, default=3)
    parser.add_argument("--peer", help="a Python that has fair-scoring")
    how = parser.parse_args()
    default_audit(how.rows)
    demo()
    with tempfile.TemporaryDirectory() as folder:
        permutation_tests(how.rows, how.peer_permutations, how.peer or peer_python(folder))


if __name__ == "__main__":
    main()
