"""Comparing methods over runs: how often 95 % intervals contain what endless seeds would show, and the time it takes.

python benchmarks/comparison.py [replications]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import evenhand
from evenhand.measures.pareto import area, curve, dto, pareto, select
from evenhand.tables.arrays import Floats
from stopwatch import seconds

START = (0.3, 1.0)
SHAPES = {
    "5 settings along a front": (5, "front"),
    "40 settings along a front": (40, "front"),
    "40 settings, most dominated": (40, "cloud"),
    "40 settings, five alike each": (40, "alike"),
}
WORDS: dict[str, Any] = {
    "method": "m", "performance": "p", "fairness": "f", "dev_performance": "dp", "dev_fairness": "df", "settings": "s",
    "random_performance": 0.3,
}  # fmt: skip


def truth(count: int, shape: str) -> tuple[Floats, Floats]:
    """True means of settings."""
    t = np.linspace(0, 1, count // 5).repeat(5) if shape == "alike" else np.linspace(0, 1, count)
    p, f = 0.35 + 0.45 * t, 1 - 0.45 * t**2.5
    if shape == "cloud":
        away = np.random.default_rng(5).exponential(0.05, (2, count))
        return p - away[0], f - away[1]
    return p, f


def drawn(p: Floats, f: Floats, seeds: int, noise: float, rng: np.random.Generator) -> dict[str, Any]:
    """Runs whose development and test results share most of their noise, which trades performance for fairness."""
    s = np.repeat(np.arange(len(p)), seeds)
    a, b, c = rng.normal(0, noise, (3, len(s)))
    moved, own = (0.8 * a + 0.6 * b, -0.8 * a + 0.6 * c), rng.normal(0, 0.3 * noise, (4, len(s)))
    sides = [np.clip((p, f)[j % 2][s] + moved[j % 2] + own[j], 0, 1) for j in range(4)]
    return dict(zip(("m", "s", "p", "f", "dp", "df"), (np.full(len(s), "a"), s, *sides), strict=True))


def coverage(replications: int) -> None:
    print(f"{'coverage in % of area / DTO':<32}{'noise':>7}" + "".join(f"{k:>9} seeds" for k in (2, 3, 5, 10)))
    for name, (count, shape) in SHAPES.items():
        p, f = truth(count, shape)
        on = pareto(p, f)
        goal = float(area(curve(p[on], f[on], START))), float(dto(p, f)[select(p, f)])
        for noise in (0.01, 0.05):
            cells = []
            for k in (2, 3, 5, 10):
                rng, hits = np.random.default_rng(k), np.zeros(2)
                for i in range(replications):
                    found = evenhand.compare(drawn(p, f, k, noise, rng), **WORDS, bootstrap=200, rng=i).to_dict()
                    m = found["methods"][0]
                    cis = m["ci"], m["selected"]["dto"]["ci"]
                    hits += [lo <= value <= hi for value, (lo, hi) in zip(goal, cis, strict=True)]
                cells.append(" / ".join(f"{100 * h / replications:.0f}" for h in hits))
            print(f"{name:<32}{noise:>7}" + "".join(f"{cell:>15}" for cell in cells), flush=True)


def time() -> None:
    rng = np.random.default_rng(0)
    centres = rng.random((20, 2, 1000))
    methods = [drawn(p, f, 5, 0.02, rng) | {"m": np.full(5000, f"m{i}")} for i, (p, f) in enumerate(centres)]
    runs = {key: np.concatenate([m[key] for m in methods]) for key in methods[0]}
    taken = seconds(lambda: evenhand.compare(runs, **WORDS))
    print(f"\n100,000 runs (20 methods × 1,000 settings × 5 seeds): {taken:.2f} s, resampling included")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("replications", type=int, nargs="?", default=400)
    coverage(parser.parse_args().replications)
    time()
