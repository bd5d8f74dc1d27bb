"""How long the page of an audit takes once the table exists, and how large it is: python benchmarks/page.py [ROWS …]

The ratio is to the default audit of the same table in the same run.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

import evenhand
from stopwatch import seconds


def table(rows: int) -> Any:
    """Three groups, all scores distinct."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, rows)
    score = rng.beta(2 + group, 3, rows)
    label = (rng.random(rows) < score).astype(int)
    data = {"score": score, "label": label, "group": np.array(["a", "b", "c"])[group]}
    return evenhand.tabulate(data, score="score", label="label", group="group")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("rows", nargs="*", type=int, default=[10_000, 1_000_000, 10_000_000])
    counted = {"COMPAS (6,150)": evenhand.compas(), **{f"{n:,}": table(n) for n in words.parse_args().rows}}
    evenhand.audit(evenhand.compas(), bootstrap=0, permutations=0).to_html()  # the first chart starts the library
    print(f"{'people':>16}  {'audit s':>8}  {'page s':>7}  {'ratio':>6}  {'kB':>6}")
    for name, counts in counted.items():
        took = seconds(partial(evenhand.audit, counts), repeat=1)
        audit = evenhand.audit(counts)
        drawn = seconds(audit.to_html, repeat=1)
        size = len(audit.to_html().encode()) / 1000
        print(f"{name:>16}  {took:8.2f}  {drawn:7.2f}  {drawn / took:6.2f}  {size:6.0f}")


if __name__ == "__main__":
    main()
