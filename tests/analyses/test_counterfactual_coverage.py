"""Intervals of counterfactual fairness hold the truth as often as they say, also where nothing changes at all."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import evenhand

if not find_spec("dowhy"):
    pytest.skip("DoWhy is not installed", allow_module_level=True)

CHANCES = np.array([[0.2, 0.3, 0.5], [0.45, 0.3, 0.25]])
"""Of three jobs, by sex."""
FIGURES = ("mean", "size", "moved", "changed", "favoured", "disfavoured")
MOVED: dict[str, Any] = {
    "number": np.ones_like, "bent": lambda age: age**2 - 1, "step": lambda age: (age > 0.5) - 0.3,
    "slope": lambda age: age,
}  # fmt: skip
"""What sex does to a number at each age: the same everywhere, or something that no linear mechanism knows."""
Draw = dict[str, Any]


def drawn(kind: str, shift: float, n: int, rng: np.random.Generator) -> tuple[Draw, Draw]:
    """People, and the same people had each been of the other sex: the truth, by the mechanism that made them."""
    sex = rng.integers(0, 2, n)
    age = rng.normal(size=n)
    if kind in MOVED:
        noise = rng.normal(size=n) + 0.5 * age
        here, there = (noise + shift * s * MOVED[kind](age) for s in (sex, 1 - sex))
    elif kind == "bent category":
        noise = rng.gumbel(size=(n, 2))
        utility = shift * (age**2 - 1)
        here, there = (np.column_stack([(2 * s - 1) * utility, 0 * age]) for s in (sex, 1 - sex))
        here, there = ((u + noise).argmax(1) for u in (here, there))
    else:
        mixed = shift * CHANCES + (1 - shift) * CHANCES.mean(0)
        noise = rng.gumbel(size=(n, 3))
        here, there = ((np.log(mixed[s]) + noise).argmax(1) for s in (sex, 1 - sex))
    names = np.array(["f", "m"])
    return {"sex": names[sex], "age": age, "x": here}, {"sex": names[1 - sex], "age": age, "x": there}


def model(direct: float, kind: str) -> Any:
    def score(people: Any) -> Any:
        part = 0.12 * people["x"] if kind in MOVED else 0.15 * people["x"]
        part = part + 0.05 * people["x"] ** 2 if kind in ("bent", "step", "slope") else part
        return 0.3 + part + 0.08 * people["age"] + direct * (people["sex"] == "m")

    return score


def truth(kind: str, shift: float, direct: float) -> dict[str, float]:
    """Of women who had been men, from very many of them."""
    here, there = drawn(kind, shift, 1_000_000, np.random.default_rng(99))
    own = here["sex"] == "f"
    score = model(direct, kind)
    a, b = score({k: v[own] for k, v in here.items()}), score({k: v[own] for k, v in there.items()})
    change, now, then = b - a, a >= 0.5, b >= 0.5
    parts = (change, abs(change), abs(change) > 0.05, now != then, then & ~now, now & ~then)
    return dict(zip(FIGURES, (float(p.mean()) for p in parts), strict=True))


def coverage(kind: str, shift: float, direct: float, n: int, times: int, bootstrap: int = 60) -> dict[str, float]:
    true = truth(kind, shift, direct)
    held = dict.fromkeys(FIGURES, 0)
    for seed in range(times):
        people, _ = drawn(kind, shift, n, np.random.default_rng(seed))
        found = evenhand.counterfactual_fairness(
            model(direct, kind), people, attribute="sex", graph="sex -> x; age -> x", bootstrap=bootstrap,
            confounding=(), categories=["x"] if "category" in kind else [], rng=seed,
        ).worlds[0].answer.changes[0]  # fmt: skip
        for name in FIGURES:
            lo, hi = getattr(found, name).ci
            held[name] += bool(lo - 1e-9 <= true[name] <= hi + 1e-9)
    return {name: count / times for name, count in held.items()}


CASES = [
    ("number", 0.5, 0.15), ("number", 0.0, 0.0), ("number", 0.1, 0.0), ("category", 1.0, 0.0), ("category", 0.0, 0.0),
    ("category", 0.2, 0.15), ("bent", 0.6, 0.0), ("bent", 0.2, 0.0), ("step", 1.0, 0.0), ("slope", 0.3, 0.0),
    ("bent category", 1.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "shift", "direct"), [*CASES[:2], CASES[3], CASES[6], CASES[8]])
def test_coverage(kind: str, shift: float, direct: float) -> None:
    found = coverage(kind, shift, direct, n=300, times=20, bootstrap=30)
    assert min(found.values()) >= 0.75, found  # 20 sets hold at least 15 unless intervals are far too narrow


@pytest.mark.full
@pytest.mark.parametrize("n", [300, 2000])
@pytest.mark.parametrize(("kind", "shift", "direct"), CASES)
def test_coverage_at_full_size(kind: str, shift: float, direct: float, n: int) -> None:
    found = coverage(kind, shift, direct, n, times=200)
    assert min(found.values()) >= 0.9, found  # 95 % of 200 is 95 ± 3 %, and the least of six is asked for
