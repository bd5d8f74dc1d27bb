"""How often 95 % intervals of gaps and of the largest gap contain the truth.

python benchmarks/coverage.py [replications]
"""

from __future__ import annotations

import argparse

import numpy as np

from evenhand.extremes import largest_gap, resampled_ranges
from evenhand.gaps import gaps
from evenhand.measures import MEASURES, RateMeasure
from evenhand.table import Counts

EVEN = np.array([[0.35, 0.15], [0.15, 0.35]])  # P(decision, label)
SITUATIONS = {
    "parity, 300/200": ([EVEN, EVEN], [300, 200]),
    "tiny gap, 300/200": ([EVEN, np.array([[0.36, 0.16], [0.14, 0.34]])], [300, 200]),
    "moderate gap, 300/200": ([EVEN, np.array([[0.45, 0.2], [0.1, 0.25]])], [300, 200]),
    "tiny gap, 3000/2000": ([EVEN, np.array([[0.36, 0.16], [0.14, 0.34]])], [3000, 2000]),
    "rare label, 400/60": ([EVEN, np.array([[0.7, 0.06], [0.15, 0.09]])], [400, 60]),
}
RATES = {
    "parity": [0.5] * 4,
    "small gap": [0.5, 0.5, 0.45, 0.4],
    "large gap": [0.1, 0.3, 0.5, 0.6],
}
SIZES = {"200/200/150/100": [200, 200, 150, 100], "500/300/30/12": [500, 300, 30, 12]}


def single_gaps(replications: int, rng: np.random.Generator) -> None:
    decisions = [m for m in MEASURES.values() if isinstance(m, RateMeasure) and m.levels == "decision"]
    print(f"{'coverage in %':<24}" + "".join(f"{m.id[:13]:>15}" for m in decisions))
    for name, (shares, sizes) in SITUATIONS.items():
        truth = Counts(np.stack(shares, axis=1) * 1e9, ("a", "b"))
        goal = {m.id: gaps(m, truth, 0, 0.95, None)[0] for m in decisions}
        hits, seen = dict.fromkeys(goal, 0), dict.fromkeys(goal, 0)
        for _ in range(replications):
            drawn = [rng.multinomial(n, p.ravel()).reshape(2, 2) for p, n in zip(shares, sizes, strict=True)]
            counts = Counts(np.stack(drawn, axis=1), ("a", "b"))
            for m in decisions:
                gap = gaps(m, counts, 0, 0.95, None)[0]
                if gap.ci is not None:
                    target = goal[m.id].value if gap.signed is None else goal[m.id].signed
                    assert target is not None
                    seen[m.id] += 1
                    hits[m.id] += gap.ci[0] <= target <= gap.ci[1]
        print(f"{name:<24}" + "".join(f"{100 * hits[m.id] / seen[m.id]:>15.1f}" for m in decisions))


def largest_gaps(replications: int, rng: np.random.Generator) -> None:
    ids = ("demographic_parity", "disparate_impact")
    chosen = [m for m in MEASURES.values() if isinstance(m, RateMeasure) and m.id in ids]
    print(f"\n{'largest pair of four':<24}{'sizes':>18}" + "".join(f"{m.id:>20}" for m in chosen))
    for name, rates in RATES.items():
        goal = {"demographic_parity": max(rates) - min(rates), "disparate_impact": min(rates) / max(rates)}
        for label, sizes in SIZES.items():
            hits = dict.fromkeys(goal, 0)
            for _ in range(replications):
                selected = rng.binomial(sizes, rates)
                counts = Counts(np.stack([np.array(sizes) - selected, selected])[:, :, None], ("a", "b", "c", "d"))
                ranges = resampled_ranges(chosen, counts, 300, rng)
                for m in chosen:
                    found = largest_gap(m, counts, 0.95, ranges[m.id])
                    hits[m.id] += found.ci is not None and found.ci[0] <= goal[m.id] <= found.ci[1]
            print(f"{name:<24}{label:>18}" + "".join(f"{100 * hits[m.id] / replications:>20.1f}" for m in chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replications", type=int, nargs="?", default=4000)
    replications = parser.parse_args().replications
    single_gaps(replications, np.random.default_rng(0))
    largest_gaps(replications, np.random.default_rng(1))


if __name__ == "__main__":
    main()
