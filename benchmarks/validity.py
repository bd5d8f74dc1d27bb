"""Are intervals and tests worth what they say? Coverage and rejection of every measure, as an audit reports them.

    python benchmarks/validity.py [replications] [--interval KIND]

Coverage: the share of 95 % intervals that contain the truth, for 500 and 5 000 people in several situations (3 % of 500
are 15 people; where rates are saturated, 78 and 97 % are selected). Rejection: the share of p-values at or below 1, 5
and 10 % when groups are alike, for continuous, tied, rare binary and constant scores. What a density measure estimates
is the area between smoothed densities: its truth is smoothed like a sample.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import evenhand
from evenhand.measures.registry import MEASURES, ScoreMeasure, ScoreOptions
from evenhand.tables.cells import Attribute
from evenhand.tables.scores import ScoreCounts
from evenhand.tables.table import Meaning

SCORES = (np.arange(200) + 0.5) / 200
IDS = list(MEASURES)


def beta(a: float, b: float) -> Any:
    p = SCORES ** (a - 1) * (1 - SCORES) ** (b - 1)
    return p / p.sum()


def population(*groups: tuple[Any, Any]) -> Any:
    """P(score, label | group), from score shares and favourable rates of each group."""
    return np.stack([np.stack([p * (1 - rate), p * rate], axis=-1) for p, rate in groups], axis=1)


SITUATIONS = {
    "parity": (population((beta(2, 3), SCORES), (beta(2, 3), SCORES)), (0.4, 0.6)),
    "tiny gap": (population((beta(2.1, 3), SCORES), (beta(2, 3), SCORES)), (0.4, 0.6)),
    "moderate gap": (population((beta(3, 2.5), SCORES * 0.85), (beta(2, 3), SCORES)), (0.4, 0.6)),
    "small, rare": (population((beta(2.5, 3), SCORES * 0.3), (beta(2, 3), SCORES)), (0.08, 0.92)),
    "empty bins": (population((beta(2, 8), SCORES), (beta(8, 2), SCORES * 0.7)), (0.4, 0.6)),
    "3 % of the people": (population((beta(2, 3), SCORES), (beta(2, 3), SCORES)), (0.03, 0.97)),
    "saturated": (population((beta(4, 2.2), SCORES), (beta(7, 1.8), SCORES)), (0.03, 0.97)),
}
KINDS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "continuous": lambda rng, n: rng.beta(2, 3, n),
    "three levels": lambda rng, n: rng.choice([0.2, 0.5, 0.9], n, p=[0.5, 0.3, 0.2]),
    "rare binary": lambda rng, n: (rng.random(n) < 0.06).astype(float),
    "constant": lambda rng, n: np.full(n, 0.4),
}


def table_of(counts: Any) -> evenhand.Table:
    """Counts (score, group, label) as a table."""
    level, g, y = np.nonzero(counts)
    return evenhand.Table.of_cells(
        attributes=(Attribute("g", ("a", "b")),),
        codes=g[None],
        n=counts[level, g, y].astype(np.int64),
        score=SCORES[level],
        label=y.astype(np.bool_),
        meaning=Meaning(score="s", label="y", favorable="1"),
    )


def truth(shares: Any, sizes: Any) -> dict[str, float]:
    """Every measure in the population."""
    whole = evenhand.audit(
        table_of(np.rint(shares * np.array(sizes)[:, None] * 1e9)), reference="b", bootstrap=0, permutations=0
    )
    assert isinstance(whole, evenhand.Audit)
    found = {}
    for id_, m in MEASURES.items():
        gap = whole.measure(id_)
        found[id_] = gap.signed if m.signed and gap.signed is not None else gap.value
        if isinstance(m, ScoreMeasure) and m.smooth:
            people = ScoreCounts(
                array=shares * np.array(sizes)[:, None], groups=("a", "b"), scores=SCORES, score_range=(0.0, 1.0)
            )
            found[id_] = float(m.value(m.of(people, ScoreOptions())))
    return found


def tally(a: evenhand.Audit, goal: dict[str, float], hits: dict[str, int], seen: dict[str, int]) -> None:
    """Count which intervals there are, and which of them contain the truth."""
    for id_ in IDS:
        ci = a.measure(id_).ci
        if ci is not None:
            seen[id_] += 1
            hits[id_] += ci[0] - 1e-12 <= goal[id_] <= ci[1] + 1e-12


def percent(hits: dict[str, int], seen: dict[str, int]) -> dict[str, float]:
    return {id_: 100 * hits[id_] / max(seen[id_], 1) for id_ in IDS}


def coverage(replications: int, interval: str, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for n in (500, 5000):
        for name, (shares, parts) in SITUATIONS.items():
            sizes = [round(n * p) for p in parts]
            goal = truth(shares, sizes)
            hits, seen = dict.fromkeys(IDS, 0), dict.fromkeys(IDS, 0)
            for i in range(replications):
                drawn = [rng.multinomial(size, shares[:, g].ravel()).reshape(-1, 2) for g, size in enumerate(sizes)]
                a = evenhand.audit(
                    table_of(np.stack(drawn, axis=1)), reference="b", bootstrap=199, permutations=0, rng=i,
                    interval=interval,
                )  # fmt: skip
                assert isinstance(a, evenhand.Audit)
                tally(a, goal, hits, seen)
            found[f"{name} {n}"] = percent(hits, seen)
    return found


def survey(replications: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """Coverage with whole survey weights: who has a low score, and half of all people, is drawn more rarely."""
    found: dict[str, dict[str, float]] = {}
    by_score = np.where(SCORES < 0.3, 60, np.where(SCORES < 0.6, 20, 5))
    for name in ("parity", "moderate gap"):
        shares, goal = SITUATIONS[name][0], truth(SITUATIONS[name][0], [400, 600])
        drawn = shares / by_score[:, None, None]
        hits, seen = dict.fromkeys(IDS, 0), dict.fromkeys(IDS, 0)
        for i in range(replications):
            cell = [rng.choice(400, n, p=drawn[:, g].ravel() / drawn[:, g].sum()) for g, n in enumerate((400, 600))]
            level, y = np.divmod(np.concatenate(cell), 2)
            a = evenhand.audit(
                score=SCORES[level], label=y, group=np.repeat(["a", "b"], [400, 600]), reference="b",
                score_range=(0, 1), weight=by_score[level] * rng.choice([1, 4], 1000, p=[0.8, 0.2]),
                weight_kind="sampling", bootstrap=199, permutations=0, rng=i,
            )  # fmt: skip
            assert isinstance(a, evenhand.Audit)
            tally(a, goal, hits, seen)
        found[f"{name}, whole survey weights"] = percent(hits, seen)
    return found


def rejection(replications: int, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for kind, draw in KINDS.items():
        seen: dict[str, list[float]] = {id_: [] for id_ in IDS}
        for i in range(replications):
            s = draw(rng, 300)
            a = evenhand.audit(
                score=s, label=(rng.random(300) < 0.2 + 0.6 * s).astype(int), group=np.repeat(["a", "b"], [120, 180]),
                score_range=(0, 1), bootstrap=0, permutations=199, rng=i, threshold=0.5, reference="b",
            )  # fmt: skip
            assert isinstance(a, evenhand.Audit)
            for id_ in IDS:
                p = a.measure(id_).p_value
                if p is not None:
                    seen[id_].append(p)
        for level in (0.01, 0.05, 0.1):
            found[f"{kind} {100 * level:g}%"] = {
                id_: 100 * float(np.mean(np.array(p) <= level + 1e-12)) if p else np.nan for id_, p in seen.items()
            }
    return found


def show(title: str, found: dict[str, dict[str, float]]) -> None:
    """As a Markdown table, a row for each measure."""
    print(f"\n| {title} | " + " | ".join(found) + " |")
    print("|---|" + "--:|" * len(found))
    for id_ in IDS:
        cells = (f"{column[id_]:.1f}" if np.isfinite(column[id_]) else "–" for column in found.values())
        print(f"| `{id_}` | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replications", type=int, nargs="?", default=400)
    parser.add_argument("--interval", default="auto")
    how = parser.parse_args()
    show("coverage in %", coverage(how.replications, how.interval, np.random.default_rng(0)))
    if how.interval == "auto":
        show("coverage in %", survey(how.replications, np.random.default_rng(2)))
        show("rejected in %, groups alike", rejection(how.replications, np.random.default_rng(1)))


if __name__ == "__main__":
    main()
