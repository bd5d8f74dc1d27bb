"""Learning with the measures: optional, and the only place that trains. Needs `pip install 'evenhand[learn]'`.

| where | what |
|---|---|
| `losses` | measures of a batch as losses: `loss("abcc")(score, group)` |
| `strata` | a batch in strata, and who in it is compared with whom |
| `experiments`, `findings` | data sets × methods × strengths × seeds × splits → a table of runs: `experiment(...)` |
| `plans`, `sources`, `people` | what is to be run, and on whom |
| `running`, `workers`, `records` | one run; several at a time; what is kept of them |
| `config` | an experiment from a TOML file |
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
    from evenhand.learn.experiments import experiment
    from evenhand.learn.findings import Experiment
    from evenhand.learn.losses import LOSSES, Loss, loss
    from evenhand.learn.methods import METHODS, MLP, REG, method
    from evenhand.learn.plans import Method
    from evenhand.learn.postprocessing import Barycentre, GroupThresholds
    from evenhand.learn.projections import INLP
    from evenhand.learn.reweighting import Reweighting
    from evenhand.learn.sources import Source

_HOME = {
    "AADV": "adversaries",
    "ADV": "adversaries",
    "Barycentre": "postprocessing",
    "DADV": "adversaries",
    "Experiment": "findings",
    "GroupThresholds": "postprocessing",
    "INLP": "projections",
    "LOSSES": "losses",
    "Loss": "losses",
    "METHODS": "methods",
    "MLP": "methods",
    "Method": "plans",
    "REG": "methods",
    "Reweighting": "reweighting",
    "Source": "sources",
    "experiment": "experiments",
    "loss": "losses",
    "method": "methods",
}

__all__ = [
    "AADV", "ADV", "DADV", "INLP", "LOSSES", "METHODS", "MLP", "REG", "Barycentre", "Experiment", "GroupThresholds",
    "Loss", "Method", "Reweighting", "Source", "experiment", "loss", "method",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"evenhand.learn.{_HOME[name]}"), name)
    raise AttributeError(f"module 'evenhand.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
