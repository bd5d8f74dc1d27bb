"""What other libraries take for what they can do of it, each run by its own Python. `scaling.py` calls it.

Every peer is compared with what Evenhand takes for the same kind of answer: its point estimates with point estimates of
the same name, its bootstrap with ours. Their imports and the making of their data structures from a pandas frame in
memory are not in their time; our counting of the rows is in ours.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

_DATA = """
import json, sys, time
import numpy as np
rows, resamples = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
g = (rng.random(rows) < 0.4).astype(int)
s = rng.beta(2 + 0.3 * g, 3)
y = (rng.random(rows) < s).astype(int)
d = (s >= 0.5).astype(int)
def best(call):
    found = []
    for _ in range(2):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)
"""

_FAIRLEARN = """
import fairlearn
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from sklearn.metrics import accuracy_score, precision_score
metrics = dict(selection=selection_rate, tpr=true_positive_rate, fpr=false_positive_rate, precision=precision_score,
               accuracy=accuracy_score)
def run(n):
    start = time.perf_counter()
    MetricFrame(metrics=metrics, y_true=y, y_pred=d, sensitive_features=g, n_boot=n, ci_quantiles=[0.025, 0.975],
                random_state=0)
    return time.perf_counter() - start
run(1)
one, few = run(1), run(1 + resamples)
print(json.dumps(dict(seconds=one + 999 * (few - one) / resamples, version=fairlearn.__version__)))
"""

_AIF360 = """
import warnings; warnings.filterwarnings("ignore")
import logging; logging.disable(logging.CRITICAL)
import importlib.metadata, pandas as pd
from aif360.datasets import BinaryLabelDataset
from aif360.metrics import ClassificationMetric
def dataset(labels):
    frame = pd.DataFrame(dict(g=g, y=labels)).astype(float)
    return BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["g"])
true, decided = dataset(y), dataset(d)
def run():
    m = ClassificationMetric(true, decided, unprivileged_groups=[{"g": 1}], privileged_groups=[{"g": 0}])
    return [m.statistical_parity_difference(), m.disparate_impact(), m.equal_opportunity_difference(),
            m.false_positive_rate_difference(), m.average_odds_difference()]
print(json.dumps(dict(seconds=best(run), version=importlib.metadata.version("aif360"))))
"""

_AEQUITAS = """
import warnings; warnings.filterwarnings("ignore")
import contextlib, importlib.metadata, os, pandas as pd
with contextlib.redirect_stdout(open(os.devnull, "w")):
    from aequitas.bias import Bias
    from aequitas.group import Group
    frame = pd.DataFrame(dict(score=d, label_value=y, g=np.array(["a", "b"])[g]))
    def run():
        table, _ = Group().get_crosstabs(frame, attr_cols=["g"])
        Bias().get_disparity_predefined_groups(table, original_df=frame, ref_groups_dict={"g": "a"},
                                               check_significance=False)
    took = best(run)
print(json.dumps(dict(seconds=took, version=importlib.metadata.version("aequitas"))))
"""

_FAIR_SCORING = """
import importlib.metadata
from fairscoring.metrics.calibration import CalibrationMetric
from fairscoring.metrics.integral import WassersteinMetric
from fairscoring.metrics.roc import ROCBiasMetric
metrics = [WassersteinMetric(c, "", t) for c in ("EO", "PE") for t in ("quantile", "rescale")]
metrics += [CalibrationMetric(name="", score_transform="quantile"),
            CalibrationMetric("scores", name="", score_transform="rescale"),
            ROCBiasMetric("", "roc"), ROCBiasMetric("", "xroc")]
def run():
    for m in metrics:
        m.bias(s, y, g, groups=[1, 0], favorable_target=1, min_score=0.0, max_score=1.0)
print(json.dumps(dict(seconds=best(run), version=importlib.metadata.version("fair-scoring"))))
"""

_OURS = """
import evenhand
decided = dict(prediction=d, label=y, group=g)
points = dict(bootstrap=0, permutations=0)
rates = ["demographic_parity", "disparate_impact", "equal_opportunity", "predictive_equality", "equalized_odds"]
biases = [f"{c}_{w}" for c in ("equal_opportunity", "predictive_equality", "calibration")
          for w in ("uniform", "standardized")] + ["roc", "xroc"]
evenhand.audit(evenhand.compas(), threshold=5)
found = {
    "fairlearn": best(lambda: evenhand.audit(**decided, bootstrap=1000, permutations=0)),
    "aif360": best(lambda: evenhand.audit(**decided, measures=rates, **points)),
    "aequitas": best(lambda: evenhand.audit(**decided, **points)),
    "fair-scoring": best(lambda: evenhand.audit(score=s, label=y, group=g, measures=biases, **points)),
}
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Peer:
    script: str
    module: str
    what: str
    """What is compared, in words."""


PEERS = {
    "fairlearn": Peer(
        _FAIRLEARN,
        "fairlearn",
        "5 metrics per group, 1 000 bootstraps scaled from {resamples}; ours: 10 measures, 1 000",
    ),
    "aif360": Peer(_AIF360, "aif360", "5 gaps, point estimates; ours: the same 5, with their closed-form intervals"),
    "aequitas": Peer(
        _AEQUITAS, "aequitas", "crosstabs and disparities, point estimates; ours: 10 measures, closed-form intervals"
    ),
    "fair-scoring": Peer(_FAIR_SCORING, "fairscoring", "8 score biases, point estimates; ours: the same 8"),
}


def has(python: str, peer: Peer) -> bool:
    found = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({peer.module!r}) is None)"
    try:
        return subprocess.run([python, "-c", found], capture_output=True).returncode == 0
    except OSError:
        return False


def run(python: str, script: str, rows: int, resamples: int) -> Mapping[str, float | str]:
    done = subprocess.run([python, "-c", _DATA + script, str(rows), str(resamples)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: Mapping[str, float | str] = json.loads(done.stdout.splitlines()[-1])
    return found


def ours(python: str, rows: int) -> Mapping[str, float | str]:
    return run(python, _OURS, rows, 0)
