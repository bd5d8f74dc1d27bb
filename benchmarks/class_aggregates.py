"""Aggregates over many classes: how large the plug-in value is, what is left when noise is taken off, and how often and
how closely 95 % intervals hold the truth.

    python benchmarks/class_aggregates.py [replications] [--only "28 × 4"] [--metric tpr]

The tables of docs/analyses/classes.md. The sampling error is the root mean square error of the corrected value.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from classes import counts_of
from evenhand.analyses.classes.intervals import Task
from evenhand.analyses.classes.matrix import matrix
from evenhand.analyses.classes.uncertainty import Uncertainty, uncertainties
from evenhand.measures.aggregation import GROUPWISE, METRICS, Recipe, power_step

RECIPES = {
    "mean gap, quadratic mean": Recipe("gap", power_step(1), power_step(2)),
    "mean gap, mean": Recipe("gap", power_step(1), power_step(1)),
    "quadratic mean of gaps, twice": Recipe("gap", power_step(2), power_step(2)),
    "variance, mean": Recipe("gap", GROUPWISE["variance"], power_step(1)),
    "max gap, mean": Recipe("gap", GROUPWISE["max gap"], power_step(1)),
    "max difference, quadratic mean": Recipe("score", GROUPWISE["max difference"], power_step(2)),
    "min ratio, mean": Recipe("ratio", GROUPWISE["min ratio"], power_step(1)),
    "fairlib": Recipe("gap", GROUPWISE["fairlib"], power_step(2)),
}
# How many people of 10 956 biographies are of each of 28 professions, in four groups (Han, Baldwin & Cohn 2023).
BIOS = (
    "17 76 4 48,36 187 15 63,74 452 54 288,10 52 2 20,10 59 2 14,14 105 4 18,39 199 24 115,1 11 15 104,"
    "4 30 0 8,15 124 12 61,1 6 8 31,44 228 54 261,9 34 29 145,4 30 72 402,21 106 16 85,2 9 5 30,8 44 2 10,"
    "4 19 1 21,64 357 41 185,106 450 77 490,18 75 10 72,308 1495 249 1220,24 170 60 250,7 25 0 2,30 138 6 24,"
    "44 284 8 52,28 149 42 229,2 7 3 28"
)


@dataclass(frozen=True)
class Situation:
    """Classes, groups and people, how large cells are, rates, and how far and where groups are apart."""

    classes: int
    groups: int
    people: int
    sizes: str
    rates: tuple[float, float]
    gap: float
    where: str = "all"

    def __str__(self) -> str:
        gap = f"gap {self.gap:g}" + ("" if self.where == "all" or not self.gap else f" in {self.where}")
        rates = f"rates {self.rates[0]:g}–{self.rates[1]:g}"
        return f"{self.classes} × {self.groups}, {self.people:,} people, {self.sizes}, {rates}, {gap}"


MIDDLE, LOW, HIGH, HALF = (0.5, 0.95), (0.02, 0.1), (0.9, 0.98), (0.35, 0.65)

PATTERNS: dict[str, Callable[[Any, Any], Any]] = {
    "one group": lambda c, g: np.where(g == g.max(), -1.0, 0.0) + 0 * c,
    "turns": lambda c, g: np.where((c + g) % 2, 1.0, -1.0),
    "every other class": lambda c, g: (c % 2) * np.where(g % 2, 1.0, -1.0),
    "one class": lambda c, g: (c == c.max()) * np.where(g % 2, 1.0, -1.0),
}
"""Gaps that are nothing like normal, by class and group: all as large, in all classes or in few."""


def situations() -> Iterator[Situation]:
    """Those of the documentation first."""
    for gap in (0.0, 0.03, 0.15):
        yield Situation(28, 4, 10_956, "bios", MIDDLE, gap)
    yield Situation(28, 4, 10_956, "bios", MIDDLE, 0.15, "few classes")
    yield Situation(5, 4, 1500, "skew", MIDDLE, 0.0)
    yield Situation(5, 4, 1500, "skew", MIDDLE, 0.15)
    yield Situation(28, 2, 2000, "balanced", HALF, 0.1)
    yield Situation(28, 4, 10_956, "bios", HIGH, 0.03)
    yield Situation(28, 4, 10_956, "bios", LOW, 0.03)
    yield Situation(100, 4, 20_000, "skew", MIDDLE, 0.1)
    yield Situation(28, 4, 500, "balanced", MIDDLE, 0.15)
    yield Situation(2, 2, 500, "balanced", MIDDLE, 0.1)
    yield Situation(28, 4, 100_000, "bios", MIDDLE, 0.03)
    yield Situation(28, 4, 10_956, "bios", MIDDLE, 0.15, "small cells")
    yield Situation(28, 4, 10_956, "bios", MIDDLE, 0.15, "large cells")
    yield Situation(28, 4, 10_000, "balanced", MIDDLE, 0.15, "one group")
    yield Situation(12, 6, 6000, "balanced", MIDDLE, 0.1, "turns")
    yield Situation(28, 4, 10_000, "balanced", MIDDLE, 0.15, "every other class")
    yield Situation(5, 4, 1500, "balanced", MIDDLE, 0.2, "one class")


def population(s: Situation, rng: np.random.Generator) -> Any:
    """Chances by group, true class and predicted class."""
    if s.sizes == "bios":
        joint = np.array([row.split() for row in BIOS.split(",")], np.float64)
    elif s.sizes == "balanced":
        joint = np.ones((s.classes, s.groups))
    else:
        groups = np.array([0.5, 0.3, 0.15, 0.05])[: s.groups]
        joint = groups / np.arange(1, s.classes + 1)[:, None] * rng.uniform(0.5, 1.5, (s.classes, s.groups))
    away = rng.normal(size=joint.shape)
    some = {
        "few classes": np.broadcast_to(rng.random((s.classes, 1)) < 0.15, joint.shape),
        "small cells": joint < np.median(joint),
        "large cells": joint >= np.median(joint),
    }.get(s.where, np.ones(joint.shape, np.bool_))
    away = away * some / np.sqrt(max(some.mean(), 1 / s.classes))
    if s.where in PATTERNS:
        away = PATTERNS[s.where](np.arange(s.classes)[:, None], np.arange(s.groups))
    rate = np.clip(rng.uniform(*s.rates, s.classes)[:, None] + s.gap * away, 0.01, 0.99)
    errors = rng.dirichlet(np.full(s.classes, 0.3), s.classes) + 1e-9
    np.fill_diagonal(errors, 0)
    cells = (1 - rate)[..., None] * (errors / errors.sum(1, keepdims=True))[:, None]
    cells[range(s.classes), :, range(s.classes)] = rate
    return (cells * (joint / joint.sum())[..., None]).swapaxes(0, 1)


@dataclass
class Found:
    truth: list[float]
    seen: list[Uncertainty]

    def row(self) -> tuple[float, ...]:
        """Coverage, the truth, the value, the value corrected, its error, and half the width of intervals."""
        known = [(t, u) for t, u in zip(self.truth, self.seen, strict=True) if u.ci is not None]
        truth = np.array([t for t, _ in known])
        ends = np.array([u.ci for _, u in known])
        held = (ends[:, 0] - 1e-9 <= truth) & (truth <= ends[:, 1] + 1e-9)
        corrected = np.array([np.nan if u.corrected is None else u.corrected for _, u in known])
        error = np.sqrt(np.nanmean((corrected - truth) ** 2))
        values = np.mean([u.value for _, u in known])
        half = np.mean(ends[:, 1] - ends[:, 0]) / 2
        return 100 * float(held.mean()), float(truth.mean()), float(values), float(np.nanmean(corrected)), error, half


def simulated(s: Situation, metric: str, replications: int, draws: int, seed: int = 0) -> dict[str, Found]:
    """Samples from several populations; the truth is the aggregate of the true rates of the cells that a sample has."""
    found = {name: Found([], []) for name in RECIPES}
    rate = METRICS[metric]
    for i in range(replications):
        rng = np.random.default_rng([seed, i])
        cells = population(s, np.random.default_rng([seed, i % 10]))
        whole = counts_of(cells * 1e12).sums()
        counts = counts_of(rng.multinomial(s.people, cells.ravel()).reshape(cells.shape))
        m = matrix(rate, counts)
        compared = m.comparing()
        true = np.where(np.isnan(compared.values), np.nan, rate.values(whole))
        tasks = [Task(compared, recipe) for recipe in RECIPES.values()]
        for recipe, u, own in zip(
            RECIPES.values(), uncertainties(tasks, counts, 0.95, draws, 0, rng), found.values(), strict=True
        ):
            own.truth.append(float(recipe.value(true, rate.values(whole.overall()))))
            own.seen.append(u)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replications", type=int, nargs="?", default=400)
    parser.add_argument("--draws", type=int, default=399)
    parser.add_argument("--metric", default="tpr")
    parser.add_argument("--only", default="", help="situations whose description begins so")
    how = parser.parse_args()
    for s in situations():
        if not str(s).startswith(how.only):
            continue
        print(f"\n{s}: {how.metric}, {how.replications} samples of 10 populations")
        print("| aggregate | coverage in % | truth | value | corrected | sampling error | half-width | ratio |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|")
        for name, found in simulated(s, how.metric, how.replications, how.draws).items():
            coverage, *numbers = found.row()
            cells = " | ".join(f"{x:.4f}" for x in numbers)
            print(f"| {name} | {coverage:.1f} | {cells} | {numbers[-1] / numbers[-2]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
