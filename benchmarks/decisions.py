"""All decision measures with 1 000 bootstrap intervals, against Fairlearn's MetricFrame, in one run.

    python benchmarks/decisions.py [rows]

Fairlearn cannot bear 1 000 resamples of a million rows, so it runs as many as asked for with --peer-resamples
and its time per resample is scaled up; the table says so.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import evenhand
from stopwatch import seconds


def people(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, rows)
    score = rng.beta(2 + 0.2 * group, 3)
    return {
        "decision": (score >= 0.5).astype(int),
        "label": (rng.random(rows) < score).astype(int),
        "group": np.array(["a", "b", "c", "d"])[group],
    }


def fairlearn_resamples(columns: dict[str, Any], resamples: int) -> None:
    from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
    from sklearn.metrics import accuracy_score, precision_score

    metrics = {
        "selection rate": selection_rate,
        "true positive rate": true_positive_rate,
        "false positive rate": false_positive_rate,
        "precision": precision_score,
        "accuracy": accuracy_score,
    }
    MetricFrame(
        metrics=metrics,
        y_true=columns["label"],
        y_pred=columns["decision"],
        sensitive_features=columns["group"],
        n_boot=resamples,
        ci_quantiles=[0.025, 0.975],
        random_state=0,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--peer-resamples", type=int, default=3)
    how = parser.parse_args()
    columns = people(how.rows)

    def audit() -> object:
        return evenhand.audit(columns, prediction="decision", label="label", group="group", bootstrap=how.resamples)

    audit()
    ours = seconds(audit, repeat=3)
    table = evenhand.tabulate(columns, prediction="decision", label="label", group="group")
    counted = seconds(lambda: evenhand.audit(table, bootstrap=how.resamples), repeat=3)
    fairlearn_resamples(columns, 1)  # its imports are not its time
    one = seconds(lambda: fairlearn_resamples(columns, 1), repeat=1)
    few = seconds(lambda: fairlearn_resamples(columns, 1 + how.peer_resamples), repeat=1)
    each = (few - one) / how.peer_resamples
    theirs = one + (how.resamples - 1) * each
    print(f"{how.rows:,} rows, 4 groups, {how.resamples:,} resamples")
    print(f"{'evenhand, 10 measures and 13 rates per group, from rows':<58} {ours:10.2f} s")
    print(f"{'evenhand, the same from the saved table':<58} {counted:10.2f} s")
    measured = f"fairlearn, 5 metrics ({each:.2f} s a resample, scaled from {how.peer_resamples})"
    print(f"{measured:<58} {theirs:10.2f} s")
    print(f"{'ratio':<58} {theirs / ours:10.0f} ×")


if __name__ == "__main__":
    main()
