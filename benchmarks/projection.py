"""The projection test, against one numpy.sort of the same logits, in one run.

    python benchmarks/projection.py [rows]

All logits are distinct, so there are as many cells as rows: the worst case. In `far` the groups are so far apart that
many people have two ways to go that are nearly as good.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import evenhand
from evenhand.analyses.projection.projection_test import projection_test
from evenhand.analyses.projection.results import ProjectionTest
from stopwatch import seconds


def people(rows: int, shift: float) -> dict[str, Any]:
    """Logits of two groups, and outcomes that follow them."""
    rng = np.random.default_rng(0)
    g = rng.integers(0, 2, rows)
    z = rng.normal(shift * g, 1.5)
    return {"z": z, "y": (rng.random(rows) < 1 / (1 + np.exp(-z))).astype(np.int64), "g": g}


def measured(columns: dict[str, Any]) -> dict[str, float]:
    table = evenhand.tabulate(columns, score="z", label="y", group="g")

    def opportunity() -> object:
        return projection_test(table, logit=True)

    def odds() -> object:
        return projection_test(table, logit=True, criterion="equalized_odds")

    def odds_of_rows() -> ProjectionTest:
        return projection_test(columns, logit="z", label="y", group="g", criterion="equalized_odds")

    return {
        "numpy.sort of the logits": seconds(lambda: np.sort(columns["z"])),
        "equal opportunity, from the table": seconds(opportunity),
        "equalized odds, from the table": seconds(odds),
        "equalized odds, from rows": seconds(odds_of_rows),
        "the same, and where everybody goes": seconds(lambda: odds_of_rows().shifts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    how = parser.parse_args()
    print(f"{how.rows:,} rows, all logits distinct, two groups")
    for name, shift in (("near", 0.05), ("far", 4.0)):
        found = measured(people(how.rows, shift))
        print(f"\n{name}: groups {shift} logits apart")
        for what, took in found.items():
            print(f"{what:<40} {took:9.4f} s {took / found['numpy.sort of the logits']:8.1f} ×")


if __name__ == "__main__":
    main()
