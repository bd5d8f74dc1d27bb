"""Aggregates over classes: how often 95 % intervals hold the truth, and how often groups that are alike are called
different; with --speed, how long many classes take.

    python benchmarks/classes.py

The tables of docs/analyses/classes.md, the second with --overview. Samples are from several populations, none of which
the methods were tuned on (seed 1). The truth is the aggregate of the true rates over the cells that a sample has.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

import evenhand
from evenhand.analyses.classes.intervals import Task
from evenhand.analyses.classes.matrix import matrix
from evenhand.analyses.classes.uncertainty import uncertainties
from evenhand.measures.aggregation import GROUPWISE, METRICS, Recipe, power_step
from evenhand.tables.confusion import ClassCounts
from stopwatch import seconds

RECIPES = {
    "mean gap, quadratic mean": Recipe("gap", power_step(1), power_step(2)),
    "quadratic mean of gaps, mean": Recipe("gap", power_step(2), power_step(1)),
    "max gap, maximum": Recipe("gap", GROUPWISE["max gap"], power_step(np.inf)),
    "variance, mean": Recipe("gap", GROUPWISE["variance"], power_step(1)),
    "max difference, quadratic mean": Recipe("score", GROUPWISE["max difference"], power_step(2)),
    "mean score, mean": Recipe("score", power_step(1), power_step(1)),
    "quadratic mean of scores, twice": Recipe("score", power_step(2), power_step(2)),
    "mean ratio, mean": Recipe("ratio", power_step(1), power_step(1)),
    "min score, mean": Recipe("score", GROUPWISE["min score"], power_step(1)),
    "min ratio, minimum": Recipe("ratio", GROUPWISE["min ratio"], power_step(-np.inf)),
    "difference threshold, mean": Recipe("gap", GROUPWISE["difference threshold"], power_step(1), gamma=0.1),
}


def population(classes: int, groups: int, gap: float, seed: int = 1) -> Any:
    """Chances by group, true class and predicted class: small groups, rare classes."""
    rng = np.random.default_rng(seed)
    size = np.array([0.5, 0.3, 0.15, 0.05])[:groups]
    joint = rng.dirichlet(np.full(classes, 2.0)) * (size / size.sum())[:, None]
    joint = joint * rng.uniform(0.5, 1.5, (groups, classes))
    rate = np.clip(rng.uniform(0.5, 0.95, classes) + gap * rng.normal(size=(groups, classes)), 0.05, 0.99)
    errors = rng.dirichlet(np.full(classes, 0.3), classes)
    np.fill_diagonal(errors, 0)
    cells = (1 - rate)[..., None] * errors / errors.sum(1, keepdims=True)
    cells[:, range(classes), range(classes)] = rate
    return cells * (joint / joint.sum())[..., None]


def counts_of(cells: Any) -> ClassCounts:
    g, t, p = np.nonzero(cells)
    mass = cells[g, t, p].astype(np.float64)
    groups, classes = (tuple(map(str, range(k))) for k in cells.shape[:2])
    return ClassCounts(groups, classes, g, t, p, np.rint(mass).astype(np.int64), mass)


POPULATIONS = range(201, 207)


def pooled(classes: int, groups: int, people: int, gap: float, metric: str, replications: int) -> tuple[Any, Any]:
    """The same over all populations, with so many replications each."""
    hits: dict[str, list[bool]] = {name: [] for name in RECIPES}
    small: dict[str, list[bool]] = {name: [] for name in RECIPES}
    for seed in POPULATIONS:
        cells = population(classes, groups, gap, seed)
        more = simulated(cells, people, metric, replications, 0 if gap else 99)
        for name in RECIPES:
            hits[name] += more[0][name]
            small[name] += more[1][name]
    return hits, small


def weighted(counts: ClassCounts, rng: np.random.Generator) -> ClassCounts:
    """The same people with lognormal sampling weights, σ = 1."""
    own = [rng.lognormal(0, 1, int(k)) for k in counts.n]
    return replace(counts, mass=np.array([w.sum() for w in own]), squares=np.array([(w * w).sum() for w in own]))


def simulated(
    cells: Any,
    people: int,
    metric: str,
    replications: int,
    permutations: int,
    weights: bool = False,
    draws: int = 399,
) -> tuple[Any, Any]:
    """Whether intervals hold the truth, and whether p-values are up to 5 %, by recipe."""
    rng = np.random.default_rng(7)
    rate, whole = METRICS[metric], counts_of(cells * 1e12).sums()
    rates, base = rate.values(whole), rate.values(whole.overall())
    hits: dict[str, list[bool]] = {name: [] for name in RECIPES}
    small: dict[str, list[bool]] = {name: [] for name in RECIPES}
    for i in range(replications):
        counts = counts_of(rng.multinomial(people, cells.ravel()).reshape(cells.shape))
        counts = weighted(counts, rng) if weights else counts
        m = matrix(rate, counts)
        true = np.where(np.isnan(m.values), np.nan, rates)
        tasks = [Task(m, recipe) for recipe in RECIPES.values()]
        found = uncertainties(tasks, counts, 0.95, draws, permutations, np.random.default_rng(i))
        for (name, recipe), u in zip(RECIPES.items(), found, strict=True):
            if u.ci is not None:
                hits[name].append(bool(u.ci[0] - 1e-9 <= float(recipe.value(true, base)) <= u.ci[1] + 1e-9))
            if u.chance is not None:
                small[name].append(u.chance.p_value <= 0.05)
    return hits, small


def show(metric: str, replications: int) -> None:
    situations = [(c, g, n, gap) for c, g in ((3, 3), (28, 4)) for n in (500, 5000) for gap in (0.0, 0.03, 0.15)]
    print(f"\n{metric}, {len(POPULATIONS)} populations × {replications}:")
    print("coverage of 95 % intervals in %, and rejections at 5 % at parity")
    print("| aggregate | " + " | ".join(f"{c} classes, {n}, gap {gap:g}" for c, _, n, gap in situations) + " |")
    found = [pooled(c, g, n, gap, metric, replications) for c, g, n, gap in situations]
    for name in RECIPES:
        cells = []
        for hits, small in found:
            rejected = f" ({100 * np.mean(small[name]):.1f})" if small[name] else ""
            cells.append((f"{100 * np.mean(hits[name]):.1f}" if hits[name] else "–") + rejected)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def alike(cells: Any) -> Any:
    """The same people, groups alike in everything: rates that shares of classes change are the same only then."""
    return cells.sum((1, 2), keepdims=True) * cells.sum(0)


def overview(metrics: list[str], replications: int) -> None:
    """Every rate, people few: the least coverage of each kind of aggregate, and the most rejections at parity."""
    names = list(RECIPES)
    kinds = {"norms": names[:5], "means of scores": names[5:7], "ratios and extremes": names[7:]}
    print(f"\nleast coverage in %, 3 populations × {replications}; most rejections of norms at parity")
    print(f"| rate | weights | classes, people, gap | {' | '.join(kinds)} | rejected |\n|---|---|---|--:|--:|--:|--:|")
    for metric in metrics:
        for weights in (False, True):
            for classes, people, gap in ((3, 300, 0.0), (20, 500, 0.0), (20, 500, 0.15)):
                hits, small = few(metric, classes, people, gap, weights, replications)
                least = [min(100 * np.mean(hits[n]) for n in own if hits[n]) for own in kinds.values()]
                rejected = [100 * np.mean(small[n]) for n in kinds["norms"] if small[n]]
                most = f"{max(rejected):.1f}" if rejected else "–"
                print(f"| {metric} | {'yes' if weights else 'no'} | {classes}, {people}, {gap:g} | ", end="")
                print(f"{' | '.join(f'{x:.1f}' for x in least)} | {most} |", flush=True)


def few(metric: str, classes: int, people: int, gap: float, weights: bool, replications: int) -> tuple[Any, Any]:
    hits: dict[str, list[bool]] = {name: [] for name in RECIPES}
    small: dict[str, list[bool]] = {name: [] for name in RECIPES}
    for seed in POPULATIONS[:3]:
        cells = population(classes, 4, gap, seed)
        more = simulated(cells if gap else alike(cells), people, metric, replications, 0 if gap else 99, weights, 199)
        for name in RECIPES:
            hits[name] += more[0][name]
            small[name] += more[1][name]
    return hits, small


def speed() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 400, 100_000)
    p = np.where(rng.random(100_000) < 0.6, y, rng.integers(0, 400, 100_000))
    table = evenhand.tabulate(label=y, prediction=p, group=rng.integers(0, 5, 100_000))
    print(f"400 classes × 5 groups: aggregate {seconds(lambda: evenhand.aggregate(table), repeat=2):.2f} s, ", end="")
    print(f"audit {seconds(lambda: evenhand.audit(table), repeat=1):.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=80, help="per population")
    parser.add_argument("--metrics", default="tpr")
    parser.add_argument("--overview", action="store_true", help="every rate, with and without sampling weights")
    parser.add_argument("--speed", action="store_true")
    how = parser.parse_args()
    if how.speed:
        speed()
    elif how.overview:
        overview(how.metrics.split(","), how.replications)
    else:
        for metric in how.metrics.split(","):
            show(metric, how.replications)
