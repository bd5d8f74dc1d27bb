"""How often 95 % intervals contain the truth: gaps, the largest gap, and (a quarter as often) score-level measures.

python benchmarks/coverage.py [replications]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from evenhand.analyses.audit.largest_gap import largest_gap, resampled_ranges
from evenhand.analyses.audit.rate_gaps import gaps
from evenhand.analyses.audit.score_gaps import compare
from evenhand.analyses.options import Options
from evenhand.measures.registry import MEASURES, RateMeasure, ScoreMeasure
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts

EVEN = np.array([[0.35, 0.15], [0.15, 0.35]])  # P(decision, label)
SITUATIONS = {
    "parity, 300/200": ([EVEN, EVEN], [300, 200]),
    "tiny gap, 300/200": ([EVEN, np.array([[0.36, 0.16], [0.14, 0.34]])], [300, 200]),
    "moderate gap, 300/200": ([EVEN, np.array([[0.45, 0.2], [0.1, 0.25]])], [300, 200]),
    "tiny gap, 3000/2000": ([EVEN, np.array([[0.36, 0.16], [0.14, 0.34]])], [3000, 2000]),
    "rare label, 400/60": ([EVEN, np.array([[0.7, 0.06], [0.15, 0.09]])], [400, 60]),
    "saturated, 2000/40": (
        [np.array([[0.02, 0.01], [0.1, 0.87]]), np.array([[0.15, 0.074], [0.1, 0.676]])],
        [2000, 40],
    ),
    "parity, 500/15": ([EVEN, EVEN], [500, 15]),
}
RATES = {
    "parity": [0.5] * 4,
    "small gap": [0.5, 0.5, 0.45, 0.4],
    "large gap": [0.1, 0.3, 0.5, 0.6],
    "saturated": [0.97] * 4,
}
SIZES = {
    "200/200/150/100": [200, 200, 150, 100],
    "500/300/30/12": [500, 300, 30, 12],
    "150/90/30/5": [150, 90, 30, 5],
}


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


LEVELS = (np.arange(200) + 0.5) / 200


def _beta(a: float, b: float) -> Any:
    p = LEVELS ** (a - 1) * (1 - LEVELS) ** (b - 1)
    return p / p.sum()


def _population(*groups: tuple[Any, Any]) -> Any:
    """P(score, label | group), from score shares and favourable rates of each group."""
    return np.stack([np.stack([p * (1 - rate), p * rate], axis=-1) for p, rate in groups], axis=1)


POPULATIONS = {
    "parity": _population((_beta(2, 3), LEVELS), (_beta(2, 3), LEVELS)),
    "small gap": _population((_beta(2.2, 3), LEVELS), (_beta(2, 3), LEVELS)),
    "other spread": _population((_beta(6, 9), LEVELS), (_beta(2, 3), LEVELS * 0.9 + 0.05)),
    "large gap": _population((_beta(4, 2.5), LEVELS * 0.8), (_beta(2, 3), LEVELS)),
}


def _counts(array: Any) -> ScoreCounts:
    some = array.sum((1, 2)) > 0
    return ScoreCounts(array=array[some].astype(float), groups=("a", "b"), scores=LEVELS[some], score_range=(0.0, 1.0))


def whole_scores(replications: int, rng: np.random.Generator) -> None:
    """Score-level measures; the truth of a density measure is smoothed as a sample of that size is."""
    measures = [m for m in MEASURES.values() if isinstance(m, ScoreMeasure) and m.id != "abcc"]
    options = Options(bootstrap=200)
    short = [f"{m.id[:4]}…{m.id[-4:]}" if len(m.id) > 10 else m.id for m in measures]
    print(f"\n{'score level':<26}" + "".join(f"{name[:13]:>14}" for name in short))
    for name, shares in POPULATIONS.items():
        for sizes in ((300, 200), (3000, 2000), (60, 25)):
            people = shares * np.array(sizes)[:, None]
            goal = {}
            for m in measures:
                curve = m.of(_counts(people if m.smooth else people * 1e7), options.scores)
                goal[m.id] = float(curve.signed) if m.signed else float(m.value(curve))
            hits, seen = dict.fromkeys(goal, 0), dict.fromkeys(goal, 0)
            for _ in range(replications):
                drawn = [rng.multinomial(n, shares[:, g].ravel()).reshape(-1, 2) for g, n in enumerate(sizes)]
                for c in compare(measures, _counts(np.stack(drawn, axis=1)), options, rng.spawn(1)[0]):
                    if c.gap.ci is not None:
                        seen[c.gap.id] += 1
                        hits[c.gap.id] += c.gap.ci[0] - 1e-12 <= goal[c.gap.id] <= c.gap.ci[1] + 1e-12
            found = "".join(f"{100 * hits[m.id] / max(seen[m.id], 1):>14.1f}" for m in measures)
            print(f"{name:<14}{sizes[0]:>6}/{sizes[1]:<5}{found}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replications", type=int, nargs="?", default=4000)
    replications = parser.parse_args().replications
    single_gaps(replications, np.random.default_rng(0))
    largest_gaps(replications, np.random.default_rng(1))
    whole_scores(max(replications // 4, 1), np.random.default_rng(2))


if __name__ == "__main__":
    main()
