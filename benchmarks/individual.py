"""Fairness between individuals: the whole call, against scikit-learn's neighbours alone, in one run.

    python benchmarks/individual.py [people …] [--features 20] [--peer-most 50000]

Features are independent (12 numbers, 8 categories of 8 values for 20), the hardest case for an index: real people keep
together. The peer finds neighbours on one-hot columns by brute force with Manhattan distances, which is Gower's.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np

import evenhand


def people(rows: int, features: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    named = features * 2 // 5
    numbers = {f"x{i}": rng.normal(size=rows) for i in range(features - named)}
    names = {f"c{i}": np.array(list("abcdefgh"))[rng.integers(0, 8, rows)] for i in range(named)}
    score = 1 / (1 + np.exp(-numbers["x0"]))
    return {**numbers, **names, "p": score, "g": np.array(["f", "m"])[rng.integers(0, 2, rows)]}


def peer(columns: dict[str, Any]) -> float:
    from sklearn.neighbors import NearestNeighbors

    parts = []
    for name, values in columns.items():
        if name[0] == "x":
            parts.append((values / np.ptp(values))[:, None])
        elif name[0] == "c":
            parts.append((values[:, None] == np.unique(values)) * 0.5)
    points = np.hstack(parts)
    start = time.perf_counter()
    NearestNeighbors(n_neighbors=11, algorithm="brute", metric="manhattan", n_jobs=-1).fit(points).kneighbors(points)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("people", type=int, nargs="*", default=[20_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--peer-most", type=int, default=20_000)
    how = parser.parse_args()
    for rows in how.people:
        print(measured(people(rows, how.features), rows, rows <= how.peer_most), flush=True)


def measured(columns: dict[str, Any], rows: int, with_peer: bool) -> str:
    start = time.perf_counter()
    found = evenhand.individual_fairness(columns, "p", group="g")
    took = time.perf_counter() - start
    recall = found.options["recall"]
    how = "exact" if recall is None else f"recall {recall:.3f}"
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = f"{rows:>10,} people: {took:8.1f} s, {how}, peak {memory:.2f} GB"
    return line + (f", {took / peer(columns):.2f} × scikit-learn's neighbours alone" if with_peer else "")


if __name__ == "__main__":
    main()
