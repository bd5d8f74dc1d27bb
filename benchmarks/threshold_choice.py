"""Does a chosen threshold keep to its rule on new people, and as often as the result says?

    python benchmarks/threshold_choice.py [--runs N] [--bootstrap N]

Every run draws people of two groups whose true gaps are known, and chooses a threshold by the interval and by the
value. The population tells whether the choice keeps to its rule.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import evenhand
from evenhand import Table
from evenhand.analyses.requirement import required
from evenhand.measures.measure import sized
from evenhand.tables.cells import Attribute
from evenhand.tables.table import Meaning

SCORES = (np.arange(100) + 0.5) / 100
SITUATIONS = [
    ("demographic_parity <= 0.1", (1000, 1000)),
    ("demographic_parity <= 0.1", (5000, 5000)),
    ("equal_opportunity <= 0.1", (1000, 1000)),
    ("disparate_impact >= 0.8", (1000, 1000)),
    ("disparate_impact >= 0.8", (300, 1700)),
]


def group(a: float, b: float) -> Any:
    """P(score, label) of a group whose scores are calibrated."""
    p = SCORES ** (a - 1) * (1 - SCORES) ** (b - 1)
    p = p / p.sum()
    return np.stack([p * (1 - SCORES), p * SCORES], axis=-1)


PEOPLE = group(2.2, 2.6), group(2.8, 2.2)


def drawn(rng: np.random.Generator, sizes: tuple[int, int]) -> Table:
    counts = np.stack([rng.multinomial(n, p.ravel()).reshape(p.shape) for n, p in zip(sizes, PEOPLE, strict=True)], 1)
    level, g, y = np.nonzero(counts)
    return Table.of_cells(
        attributes=(Attribute("g", ("a", "b")),),
        codes=g[None],
        n=counts[level, g, y].astype(np.int64),
        score=SCORES[level],
        label=y.astype(np.bool_),
        meaning=Meaning(score="s", label="y", favorable="1"),
    )


def true_gap(id_: str, threshold: float) -> float:
    """In the population."""
    labels = slice(1, 2) if id_ == "equal_opportunity" else slice(None)
    rates = [p[threshold <= SCORES, labels].sum() / p[:, labels].sum() for p in PEOPLE]
    return float(rates[0] / rates[1] if id_ == "disparate_impact" else rates[0] - rates[1])


def report(rule: str, sizes: tuple[int, int], choose: str, runs: int, draws: int) -> str:
    (requirement,) = required(rule)
    holds: list[float] = []
    said: list[float] = []
    covers: list[float] = []
    lost: list[float] = []
    for seed in range(runs):
        table = drawn(np.random.default_rng(seed), sizes)
        policy = evenhand.thresholds(
            table, reference="b", require=rule, choose=choose, bootstrap=draws, rng=seed
        ).policy  # fmt: skip
        assert policy is not None
        if policy.chosen is None:
            continue
        gap = true_gap(requirement.measure.id, policy.chosen.threshold)
        holds.append(bool(requirement.meets(sized(requirement.measure, gap))))
        said.append(policy.chance or 0.0)
        ci = policy.checks[0].gap.ci
        assert ci is not None
        covers.append(ci[0] <= gap <= ci[1])
        lost.append(policy.lost or 0.0)
    shown = [f"{100 * np.mean(x):.1f} %" for x in (holds, said, covers)]
    return (
        f"| `{rule}` | {sizes[0]:,} + {sizes[1]:,} | {choose} | {len(holds)} | "
        + " | ".join(shown)
        + (f" | {np.mean(lost):.3f} |")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--bootstrap", type=int, default=199)
    how = parser.parse_args()
    print("| rule | people | choose | chosen in | holds | said | covers | lost |")
    print("|---|---|---|--:|--:|--:|--:|--:|")
    for rule, sizes in SITUATIONS:
        for choose in ("value", "interval"):
            print(report(rule, sizes, choose, how.runs, how.bootstrap), flush=True)


if __name__ == "__main__":
    main()
