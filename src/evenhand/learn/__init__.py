"""Learning with the measures: optional, and the only place that trains. Needs `pip install 'evenhand[learn]'`.

| where | what |
|---|---|
| `losses` | measures of a batch as losses: `loss("abcc")(score, group)` |
| `strata` | a batch in strata, and who in it is compared with whom |
| `areas`, `densities` | the distances between two groups: from sorted scores, from smoothed ones |
| `methods` | debiasing methods by name: `method("reg", strength=2)`; the plain network and REG |
| `classifiers`, `networks`, `wrapping` | what methods share: checked people, training, another estimator inside |
| `adversaries`, `projections`, `reweighting` | ADV, DADV and AADV; INLP; Kamiran–Calders weights |
| `postprocessing`, `odds` | thresholds of groups, with equalized odds; the barycentre of scores |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.learn.adversaries import AADV, ADV, DADV
    from evenhand.learn.losses import LOSSES, Loss, loss
    from evenhand.learn.methods import METHODS, MLP, REG, method
    from evenhand.learn.postprocessing import Barycentre, GroupThresholds
    from evenhand.learn.projections import INLP
    from evenhand.learn.reweighting import Reweighting

__all__ = [
    "AADV", "ADV", "DADV", "INLP", "LOSSES", "METHODS", "MLP", "REG", "Barycentre", "GroupThresholds", "Loss",
    "Reweighting", "loss", "method",
]  # fmt: skip

_LOSSES = ("LOSSES", "Loss", "loss")


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f"evenhand.learn.{'losses' if name in _LOSSES else 'methods'}"), name)
    raise AttributeError(f"module 'evenhand.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
