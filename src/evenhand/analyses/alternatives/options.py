"""How alternatives were asked for, and whether that makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import UsageError, number, shown, values_in
from evenhand.inference.settings import Inference
from evenhand.ingest.values import name_of

WITHIN, SHARE = 0.01, 0.5
FEWEST_RESAMPLES = 200
LEAST, MOST = 0.05, 0.95
"""Of the people, to select on."""
LOWEST = 0.75
"""A claim that holds less often is none."""


@dataclass(frozen=True)
class Asked:
    """What both kinds of candidates have in common."""

    within: float
    share: float
    split: tuple[str, str, str] | None
    """A column, its value of those to select on, and of those to confirm with."""
    inference: Inference
    seed: int | None


def asked(within_best: Any, selection_share: Any, split: Any, confidence: Any, bootstrap: Any, rng: Any) -> Asked:
    """What was asked for, if it makes sense."""
    if not (0 <= number(within_best) < np.inf):
        raise UsageError(
            "within_best is how much lower than the best a performance may be, a number from 0 in the units of the "
            f"performance, not {shown(within_best)}"
        )
    if selection_share is not None and split is not None:
        raise UsageError("selection_share and split both say who is to select on: say one of them")
    share = SHARE if selection_share is None else selection_share
    if not LEAST <= number(share) <= MOST:
        raise UsageError(
            f"selection_share is the share of the people to select on, from {LEAST:g} to {MOST:g}, not {shown(share)}"
        )
    inference = Inference(confidence=confidence, bootstrap=bootstrap)
    if inference.confidence < LOWEST:
        raise UsageError(f"confidence in a claim must be at least {LOWEST:g}, not {shown(confidence)}")
    seed = None if isinstance(rng, np.random.Generator) else int(rng or 0)
    return Asked(float(within_best), float(share), _split(split), inference, seed)


def enough_resamples(inference: Inference) -> None:
    """A claim about people rests on resamples of them."""
    if inference.bootstrap < FEWEST_RESAMPLES:
        raise UsageError(
            f"a gain is confirmed by resamples, of which {FEWEST_RESAMPLES} are the least (bootstrap=, --bootstrap), "
            f"not {inference.bootstrap}"
        )


def _split(stated: Any) -> tuple[str, str, str] | None:
    if stated is None:
        return None
    wrong = UsageError(
        "split is a column with the value of those to select on and that of those to confirm with, as in "
        f"{{'part': ['select', 'confirm']}} (--split part=select,confirm), not {shown(stated)}"
    )
    if not isinstance(stated, Mapping) or len(stated) != 1:
        raise wrong
    ((column, values),) = stated.items()
    names = [name_of(v) for v in values_in(values) or ()]
    if not isinstance(column, str) or len(names) != 2 or None in names or names[0] == names[1]:
        raise wrong
    return column, str(names[0]), str(names[1])
