"""The projection test, against one numpy.sort of the same logits, in one run; and how often it rejects a fair score.

    python benchmarks/projection.py [rows]
    python benchmarks/projection.py --rejections RUNS [--permuted RUNS] [--seed N]

All logits are distinct, so there are as many cells as rows: the worst case. In `far` the groups are so far apart that
many people have two ways to go that are nearly as good. With --rejections, scores of both groups have one distribution,
so that every rejection is false; so many runs of the test itself, and of its p-value by permutation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import evenhand
from evenhand.analyses.projection.projection_test import projection_test
from evenhand.analyses.projection.results import ProjectionTest
from evenhand.analyses.projection.sample import Sample
from evenhand.inference.chi2_mixture import tail
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


SIZES = ((10, 10), (20, 400), (40, 2000), (100, 2000))
"""People with the label in the group and in its reference; those with the other one do not change the p-value."""


def logits_of(p: Any) -> Any:
    """Where rounding does not make them infinite."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.log(p / (1 - p))


FAIR = {
    "Beta(2, 2)": lambda rng, n: logits_of(rng.beta(2, 2, n)),
    "Beta(0.5, 8)": lambda rng, n: logits_of(rng.beta(0.5, 8, n)),
    "σ(−4 + 2x)": lambda rng, n: rng.normal(-4, 2, n),
    "Beta(0.3, 20)": lambda rng, n: logits_of(rng.beta(0.3, 20, n)),
}


def fair(rng: np.random.Generator, scores: str, sizes: tuple[int, int]) -> Sample:
    n = sum(sizes)
    return Sample(FAIR[scores](rng, n), np.ones(n), None, np.ones(n, bool), np.arange(n) < sizes[0])


def by_limit(sample: Sample) -> float:
    found = sample.projected(1, 1.0)
    return float(tail(found.statistic, (found.theta,)))


def by_permutation(sample: Sample) -> float:
    return sample.permuted([1]) or 0.0


def rejections(kind: Callable[[Sample], float], runs: int, seed: int) -> None:
    """A row for each pair of sizes: the share of p-values at or below 5 %, for each distribution of scores."""
    print(f"| {kind.__name__}, {runs:,} runs | {' | '.join(FAIR)} |\n|---|{'--:|' * len(FAIR)}")
    for sizes in SIZES:
        shares = []
        for place, scores in enumerate(FAIR):
            rng = np.random.default_rng([seed, *sizes, place])
            shares.append(np.mean([kind(fair(rng, scores, sizes)) <= 0.05 for _ in range(runs)]))
        cells = " | ".join(f"{share:.3f}" for share in shares)
        print(f"| {sizes[0]:,} and {sizes[1]:,} | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--rejections", type=int)
    parser.add_argument("--permuted", type=int)
    parser.add_argument("--seed", type=int, default=0)
    how = parser.parse_args()
    for kind, runs in ((by_limit, how.rejections), (by_permutation, how.permuted)):
        if runs:
            rejections(kind, runs, how.seed)
    if how.rejections or how.permuted:
        return
    print(f"{how.rows:,} rows, all logits distinct, two groups")
    for name, shift in (("near", 0.05), ("far", 4.0)):
        found = measured(people(how.rows, shift))
        print(f"\n{name}: groups {shift} logits apart")
        for what, took in found.items():
            print(f"{what:<40} {took:9.4f} s {took / found['numpy.sort of the logits']:8.1f} ×")


if __name__ == "__main__":
    main()
