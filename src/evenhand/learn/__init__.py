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
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.learn.experiments import experiment
    from evenhand.learn.findings import Experiment
    from evenhand.learn.losses import LOSSES, Loss, loss
    from evenhand.learn.plans import Method
    from evenhand.learn.sources import Source

_HOME = {
    "Experiment": "findings",
    "LOSSES": "losses",
    "Loss": "losses",
    "Method": "plans",
    "Source": "sources",
    "experiment": "experiments",
    "loss": "losses",
}

__all__ = ["LOSSES", "Experiment", "Loss", "Method", "Source", "experiment", "loss"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"evenhand.learn.{_HOME[name]}"), name)
    raise AttributeError(f"module 'evenhand.learn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
