"""Two models of the same people: what comparing them costs beside auditing each, and beside resampling rows.

python benchmarks/candidates.py [rows]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

import evenhand
from stopwatch import seconds


def people(n: int) -> dict[str, Any]:
    """Two models that share most of their errors."""
    rng = np.random.default_rng(0)
    group, label = rng.integers(0, 4, n), rng.integers(0, 2, n)
    shared = label + rng.normal(size=n)
    scores = {m: 1 / (1 + np.exp(-(shared + 0.3 * rng.normal(size=n) + 0.2 * k * group))) for k, m in enumerate("ab")}
    return {**scores, "label": label, "group": np.array(list("wxyz"))[group]}


def row_bootstrap(data: dict[str, Any], draws: int) -> list[float]:
    """One paired difference, of selection gaps, by a loop over resampled rows."""
    rng, n = np.random.default_rng(0), len(data["label"])
    group = data["group"]
    found = []
    for _ in range(draws):
        rows = rng.integers(0, n, n)
        x, w = group[rows] == "x", group[rows] == "w"
        gaps = [abs((s >= 0.5)[x].mean() - (s >= 0.5)[w].mean()) for s in (data["a"][rows], data["b"][rows])]
        found.append(gaps[1] - gaps[0])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--draws", type=int, default=1000)
    how = parser.parse_args()
    data = people(how.rows)
    words: dict[str, Any] = {"label": "label", "group": "group", "reference": "w", "bootstrap": how.draws}

    def audit(score: Any) -> object:
        return evenhand.audit(data, score=score, **words)

    each = [seconds(partial(audit, m), repeat=1) for m in "ab"]
    both = seconds(partial(audit, ["a", "b"]), repeat=1)
    some = max(2, how.draws // 50)
    rows = seconds(partial(row_bootstrap, data, some), repeat=1) * how.draws / some
    found = audit(["a", "b"])
    assert isinstance(found, evenhand.CandidateAudit)
    count = len(found.differences)
    extra = both - sum(each)
    print(f"{how.rows:,} rows, four groups, all measures, {how.draws:,} resamples and 1,000 permutations")
    print(f"each model alone, added up                          {sum(each):8.2f} s")
    print(f"both, with {count} paired differences                    {both:8.2f} s   {both / sum(each):6.2f} ×")
    print(f"one selection gap by resampling rows (scaled)       {rows:8.2f} s")
    print(f"that for every difference, to what they cost here   {rows * count:8.0f} s   {rows * count / extra:6.1f} ×")


if __name__ == "__main__":
    main()
