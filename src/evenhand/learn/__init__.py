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
    from evenhand.learn.experiments.experiment import experiment
    from evenhand.learn.experiments.plan import Method
    from evenhand.learn.experiments.result import Experiment
    from evenhand.learn.experiments.sources import Source
    from evenhand.learn.losses.losses import LOSSES, Loss, loss
    from evenhand.learn.methods.adversarial import AADV, ADV, DADV
    from evenhand.learn.methods.inlp import INLP
    from evenhand.learn.methods.methods import METHODS, MLP, REG, method
    from evenhand.learn.methods.postprocessing import Barycentre, GroupThresholds
    from evenhand.learn.methods.reweighting import Reweighting

_HOME = {
    "AADV": "methods.adversarial",
    "ADV": "methods.adversarial",
    "Barycentre": "methods.postprocessing",
    "DADV": "methods.adversarial",
    "Experiment": "experiments.result",
    "GroupThresholds": "methods.postprocessing",
    "INLP": "methods.inlp",
    "LOSSES": "losses.losses",
    "Loss": "losses.losses",
    "METHODS": "methods.methods",
    "MLP": "methods.methods",
    "Method": "experiments.plan",
    "REG": "methods.methods",
    "Reweighting": "methods.reweighting",
    "Source": "experiments.sources",
    "experiment": "experiments.experiment",
    "loss": "losses.losses",
    "method": "methods.methods",
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
