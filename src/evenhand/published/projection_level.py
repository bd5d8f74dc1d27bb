"""How often the projection test rejects a fair score of few people: beyond Table 1 of Taskesen et al. 2021.

Scores of both groups have one distribution, so that every rejection is false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenhand.analyses.projection.projection_test import projection_test
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.tables.arrays import Floats

SIZES = ((10, 10), (20, 400), (30, 30), (40, 2000), (100, 2000))
"""People with the label in the group and in its reference; those with the other one do not change the p-value."""
RUNS, FEW_RUNS = 4000, 100
"""With `full` and without."""
Draw = Callable[[np.random.Generator, int], Floats]


def _logits_of(p: Any) -> Floats:
    """Where rounding does not make them infinite."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.asarray(np.log(p / (1 - p)))


FAIR: dict[str, Draw] = {
    "Beta(2, 2)": lambda rng, n: _logits_of(rng.beta(2, 2, n)),
    "Beta(0.5, 8)": lambda rng, n: _logits_of(rng.beta(0.5, 8, n)),
    "σ(−4 + 2x)": lambda rng, n: rng.normal(-4, 2, n),
    "Beta(0.3, 20)": lambda rng, n: _logits_of(rng.beta(0.3, 20, n)),
}
"""From symmetric to very skewed."""


def few_people(setting: Setting) -> Outcome:
    """How often the test, and its limit law alone, reject at 5 %."""
    runs, values, most = RUNS if setting.full else FEW_RUNS, [], 0.0
    for place, sizes in enumerate(SIZES):
        for number, (scores, draw) in enumerate(FAIR.items()):
            setting.progress((place + number / len(FAIR)) / len(SIZES), f"{sizes[0]} and {sizes[1]}, {scores}")
            rng, rejected = np.random.default_rng([setting.seed, *sizes, number]), np.zeros(2)
            group = np.arange(sum(sizes)) < sizes[0]
            for _ in range(runs):
                z = draw(rng, len(group))
                test = projection_test(logit=z, label=np.ones(len(z), int), group=group, reference=False)
                rejected += [test.rejects, test.p_limit <= 0.05]
            row = f"{sizes[0]} and {sizes[1]:,} people, {scores}"
            found, limit = (rejected / runs).tolist()
            most = max(most, found)
            values += [Value(row, "the test", None, found), Value(row, "its limit law alone", None, limit)]
    chance = float(0.05 + 4 * np.sqrt(0.05 * 0.95 / runs))
    claims = (
        Claim("a fair score is rejected in no more than 5 %, also where people are few and scores skewed",
              most <= chance, f"at most {most:.3f} of {runs:,} runs; chance alone makes it up to {chance:.3f}"),
    )  # fmt: skip
    return Outcome(tuple(values), claims, notes=("this goes beyond the paper",))
