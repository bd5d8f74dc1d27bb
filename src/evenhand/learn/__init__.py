"""Learning with the measures: optional, and the only place that trains. Needs `pip install 'evenhand[learn]'`.

| where | what |
|---|---|
| `losses` | measures of a batch as losses: `loss("abcc")(score, group)` |
| `strata` | a batch in strata, and who in it is compared with whom |
| `areas`, `densities` | the distances between two groups: from sorted scores, from smoothed ones |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.learn.losses import LOSSES, Loss, loss

__all__ = ["LOSSES", "Loss", "loss"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("evenhand.learn.losses"), name)
    raise AttributeError(f"module 'evenhand.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
