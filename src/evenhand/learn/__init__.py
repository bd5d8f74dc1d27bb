"""Learning with the measures: optional, and the only place that trains. Needs `pip install 'evenhand[learn]'`.

| where | what |
|---|---|
| `losses/` | measures of a batch as losses: `loss("abcc")(score, group)` |
| `losses/batch` | a batch in strata, and who in it is compared with whom |
| `losses/areas`, `losses/densities` | the distances between two groups: from sorted scores, from smoothed ones |
| `methods/` | debiasing methods by name: `method("reg", strength=2)`; the plain network and REG |
| `methods/classifier`, `network`, `wrapper` | what methods share: checked people, training, another estimator inside |
| `methods/adversarial`, `inlp`, `reweighting` | ADV, DADV and AADV; INLP; Kamiran–Calders weights |
| `methods/postprocessing`, `equalized_odds` | thresholds of groups, with equalized odds; the barycentre of scores |
| `experiments/` | data sets × methods × strengths × seeds × splits → a table of runs: `experiment(...)` |
| `experiments/plan`, `sources`, `splits`, `config` | what is to be run, on whom, in which parts; from a TOML file |
| `experiments/run`, `workers`, `records` | one run; several at a time; what is written of them |
| `experiments/result`, `document`, `text` | the table of runs: in Python, as JSON and CSV, in a terminal |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.files.names import lazy

if TYPE_CHECKING:
    from evenhand.learn.experiments.experiment import experiment as experiment
    from evenhand.learn.experiments.plan import Method as Method
    from evenhand.learn.experiments.result import Experiment as Experiment
    from evenhand.learn.experiments.sources import Source as Source
    from evenhand.learn.losses.losses import LOSSES as LOSSES, Loss as Loss, loss as loss
    from evenhand.learn.methods.adversarial import AADV as AADV, ADV as ADV, DADV as DADV
    from evenhand.learn.methods.inlp import INLP as INLP
    from evenhand.learn.methods.methods import METHODS as METHODS, MLP as MLP, REG as REG, method as method
    from evenhand.learn.methods.postprocessing import Barycentre as Barycentre, GroupThresholds as GroupThresholds
    from evenhand.learn.methods.reweighting import Reweighting as Reweighting

# No module is called like a public function: importing the module would replace the function.
if not TYPE_CHECKING:  # for whom an unknown name is an error
    __getattr__, __dir__, __all__ = lazy(
        __name__,
        {
            "experiments.experiment": "experiment",
            "experiments.plan": "Method",
            "experiments.result": "Experiment",
            "experiments.sources": "Source",
            "losses.losses": "LOSSES Loss loss",
            "methods.adversarial": "AADV ADV DADV",
            "methods.inlp": "INLP",
            "methods.methods": "METHODS MLP REG method",
            "methods.postprocessing": "Barycentre GroupThresholds",
            "methods.reweighting": "Reweighting",
        },
    )
