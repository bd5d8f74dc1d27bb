"""Score-level measures: against numpy.sort, the density algorithm of Han, Jiang et al. 2023, and fair-scoring.

    python benchmarks/scores.py [rows] [--kde-rows N] [--peer PYTHON]

That algorithm evaluates `scipy.stats.gaussian_kde` at 5 000 points: its time is proportional to the rows,
so it runs on --kde-rows of them and is scaled up; the table says so. fair-scoring needs numpy 1 and so an environment
of its own, which is made here unless --peer names the Python of one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np

import evenhand
from evenhand.measures.registry import MEASURES, ScoreMeasure, ScoreOptions
from evenhand.tables.scores import ScoreView
from stopwatch import seconds

BIASES = [
    f"{concept}_{weighting}"
    for concept in ("independence", "equal_opportunity", "predictive_equality", "calibration")
    for weighting in ("uniform", "standardized")
] + ["roc", "xroc"]

PEER = """
import json, sys, time
import numpy as np
from fairscoring.metrics.calibration import CalibrationMetric
from fairscoring.metrics.integral import WassersteinMetric
from fairscoring.metrics.roc import ROCBiasMetric
data = np.load(sys.argv[1])
metrics = {
    "equal_opportunity_standardized": WassersteinMetric("EO", "", "quantile"),
    "predictive_equality_standardized": WassersteinMetric("PE", "", "quantile"),
    "calibration_standardized": CalibrationMetric(name="", score_transform="quantile"),
    "equal_opportunity_uniform": WassersteinMetric("EO", "", "rescale"),
    "predictive_equality_uniform": WassersteinMetric("PE", "", "rescale"),
    "calibration_uniform": CalibrationMetric("scores", name="", score_transform="rescale"),
    "roc": ROCBiasMetric("", "roc"),
    "xroc": ROCBiasMetric("", "xroc"),
}
found = {}
for name, metric in metrics.items():
    start = time.perf_counter()
    bias = metric.bias(data["s"], data["y"], data["g"], groups=[1, 0], favorable_target=1,
                       min_score=float(data["lo"]), max_score=float(data["hi"])).bias
    found[name] = [float(bias), time.perf_counter() - start]
print(json.dumps(found))
"""


def people(rows: int) -> dict[str, Any]:
    """Continuous scores, all distinct; two groups; outcomes that follow the score."""
    rng = np.random.default_rng(0)
    g = rng.integers(0, 2, rows)
    s = rng.beta(2 + 0.3 * g, 3)
    return {"s": s, "y": (rng.random(rows) < s).astype(np.int64), "g": g, "lo": 0.0, "hi": 1.0}


def compas() -> dict[str, Any]:
    """COMPAS as rows, higher = better."""
    table = evenhand.compas()
    assert table.score is not None
    assert table.label is not None
    columns = {"s": 11 - table.score, "y": table.label.astype(np.int64), "g": 1 - table.codes[0].astype(np.int64)}
    return {**{k: np.repeat(v, table.n) for k, v in columns.items()}, "lo": 1.0, "hi": 10.0}


def biases(table: Any) -> dict[str, float]:
    """All ten score-bias measures of group 1 against group 0, from the table."""
    pair = ScoreView(table, table.groupings[0])([1, 0])
    found = {}
    for id_ in BIASES:
        m = MEASURES[id_]
        assert isinstance(m, ScoreMeasure)
        found[id_] = float(m.value(m.of(pair, ScoreOptions())))
    return found


def abpc(table: Any) -> float:
    m = MEASURES["abpc"]
    assert isinstance(m, ScoreMeasure)
    return float(m.value(m.of(ScoreView(table, table.groupings[0])([1, 0]), ScoreOptions())))


def kde_area(s: Any, g: Any) -> float:
    """ABPC by the algorithm of Han, Jiang et al. 2023."""
    from scipy.stats import gaussian_kde

    x = np.linspace(0, 1, 5000)
    return float(np.trapezoid(np.abs(gaussian_kde(s[g == 1])(x) - gaussian_kde(s[g == 0])(x)), x))


def against_sort(columns: dict[str, Any]) -> None:
    s, y, g = columns["s"], columns["y"], columns["g"]
    sort = seconds(lambda: np.sort(s))
    two = seconds(lambda: evenhand.tabulate(score=s, group=g))
    three = seconds(lambda: evenhand.tabulate(score=s, group=g, label=y))
    table = evenhand.tabulate(score=s, group=g, label=y)
    ten = seconds(lambda: biases(table))
    print(f"\n{'numpy.sort of the scores':<58} {sort:9.4f} s {1:8.1f} ×")
    for what, took in (
        ("table from score and group", two),
        ("table from score, group and label", three),
        ("ten score-bias measures, from the table", ten),
    ):
        print(f"{what:<58} {took:9.4f} s {took / sort:8.1f} ×")


def against_kde(columns: dict[str, Any], rows: int) -> None:
    s, g = columns["s"], columns["g"]
    table = evenhand.tabulate(score=s, group=g)
    ours = seconds(lambda: abpc(table))
    all_of_it = seconds(lambda: abpc(evenhand.tabulate(score=s, group=g)))
    few = min(rows, len(s))
    theirs = seconds(lambda: kde_area(s[:few], g[:few]), repeat=1) * len(s) / few
    apart = abs(abpc(evenhand.tabulate(score=s[:few], group=g[:few])) - kde_area(s[:few], g[:few]))
    print(f"\n{'ABPC from the table':<58} {ours:9.4f} s")
    print(f"{'ABPC from rows':<58} {all_of_it:9.4f} s")
    print(f"{f'published: gaussian_kde at 5 000 points (scaled from {few:,} rows)':<58} {theirs:9.1f} s")
    print(f"{'ratio, from the table / from rows':<58} {theirs / ours:9.0f} × {theirs / all_of_it:8.0f} ×")
    print(f"{f'difference of the two results at {few:,} rows':<58} {apart:9.1e}")


def against_fair_scoring(name: str, columns: dict[str, Any], python: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "rows.npz"
        np.savez(data, **columns)
        done = subprocess.run([python, "-c", PEER, str(data)], capture_output=True, text=True, check=True)
    peer = json.loads(done.stdout)
    words = {k: columns[v] for k, v in (("score", "s"), ("group", "g"), ("label", "y"))}
    words["score_range"] = (columns["lo"], columns["hi"])
    rows = seconds(lambda: biases(evenhand.tabulate(**words)), repeat=3)
    table = evenhand.tabulate(**words)
    counted = seconds(lambda: biases(table), repeat=3)
    ours = biases(table)
    theirs = sum(took for _, took in peer.values())
    apart = {id_: abs(ours[id_] - value) for id_, (value, _) in peer.items()}
    worst = max(apart, key=lambda id_: apart[id_])
    print(f"\n{name}, {len(columns['s']):,} rows")
    print(f"{'evenhand, ten measures from rows / from the table':<58} {rows:9.4f} s {counted:8.4f} s")
    print(f"{'fair-scoring, eight measures from rows':<58} {theirs:9.4f} s")
    print(f"{'ratio, from rows / from the table':<58} {theirs / rows:9.1f} × {theirs / counted:8.1f} ×")
    print(f"{'largest difference of a value':<58} {apart[worst]:9.1e}  ({worst})")


def peer_python(folder: str) -> str:
    """An environment with fair-scoring."""
    venv.create(folder, with_pip=True)
    python = str(Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "fair-scoring"], check=True, stderr=subprocess.DEVNULL)
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--kde-rows", type=int, default=20_000)
    parser.add_argument("--peer", help="a Python that has fair-scoring")
    how = parser.parse_args()
    columns = people(how.rows)
    print(f"{how.rows:,} rows, all scores distinct, two groups")
    against_sort(columns)
    against_kde(columns, how.kde_rows)
    with tempfile.TemporaryDirectory() as folder:
        python = how.peer or peer_python(folder)
        against_fair_scoring("COMPAS", compas(), python)
        against_fair_scoring("continuous scores", columns, python)


if __name__ == "__main__":
    main()
