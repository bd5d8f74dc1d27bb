"""What Han, Jiang et al. 2023 left open: paying for ABCC against paying for ΔDP_c, at equal accuracy.

    python benchmarks/fronts.py DATA [--splits 10] [--strengths 0,0.1,…] [--folder runs] [--svg FILE]

DATA is the folder with adult.data and adult.test. On every split, for every loss and for each accuracy one is ready to
give up, the strength with the least ABCC among those that keep the accuracy is chosen on the people who select, and
reported on the people who test. Prints Markdown tables, and draws both fronts with --svg.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand import datasets
from evenhand.learn import Method, experiment
from evenhand.learn.experiments.result import Experiment
from evenhand.report.charts import theme
from evenhand.report.charts.layers import Spec, chart, coloured, inline, quantitative, rows
from table_one import ALONE, SHARES, said

LOSSES = {"REG with ΔDP_c": "mean_gap", "REG with ABCC": "abcc"}
STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
GIVEN_UP = (0.005, 0.01, 0.015, 0.02, 0.03)
DRAWN = (0.81, 0.86)
"""Accuracies; below are networks that decide the same for nearly everybody."""
ATTRIBUTES = {"sex": "sex", "race": "race_white"}

Runs = dict[str, Any]
"""By method: splits × strengths × (dev accuracy, dev fairness, accuracy, fairness)."""


def table(found: Experiment, strengths: tuple[float, ...], splits: int) -> Runs:
    columns = ("dev_performance", "dev_fairness", "performance", "fairness")
    by: Runs = {name: np.empty((splits, len(strengths), 4)) for name in LOSSES}
    places = zip(*(found.runs[key] for key in ("method", "split", "strength", *columns)), strict=True)
    for method, split, strength, *values in places:
        by[method][split, strengths.index(strength)] = values
    return by


def chosen(runs: Any, given_up: float) -> Any:
    """Accuracy and ABCC on the people who test, by split: strengths are chosen on the people who select."""
    kept = runs[:, :, 0] >= runs[:, :1, 0] - given_up
    best = np.where(kept, runs[:, :, 1], -1).argmax(1)
    each = np.arange(len(runs))
    return np.stack([runs[each, best, 2], 1 - runs[each, best, 3]], axis=1)


def show(attribute: str, by: Runs, strengths: tuple[float, ...]) -> None:
    one, other = LOSSES
    print(
        f"\n### {attribute}\n\n| given up | {one}: accuracy | ABCC | {other}: accuracy | ABCC | lower on |\n|--:|"
        + "--:|" * 5
    )
    for share in GIVEN_UP:
        a, b = (100 * chosen(by[name], share) for name in LOSSES)
        cells = [f"{v:.2f}" for v in (*a.mean(0), *b.mean(0))]
        print(f"| {100 * share:g} | {' | '.join(cells)} | {(b[:, 1] < a[:, 1]).sum()} of {len(a)} |")
    print(f"\n| strength | {one}: accuracy | ABCC | {other}: accuracy | ABCC |\n|--:|" + "--:|" * 4)
    for i, strength in enumerate(strengths):
        means = [100 * (by[name][:, i, 2:].mean(0) * [1, -1] + [0, 1]) for name in LOSSES]
        print(f"| {strength:g} | " + " | ".join(f"{v:.2f}" for v in np.concatenate(means)) + " |")


def drawn(found: dict[str, Runs], strengths: tuple[float, ...]) -> Any:
    """Mean accuracy and ABCC at every strength, a panel for each attribute."""
    encoding = {
        "x": quantitative("abcc", "ABCC", format="~%"),
        "y": {**quantitative("accuracy", "accuracy", format="~%"), "scale": {"domain": DRAWN}},
        "color": coloured(list(LOSSES), theme.GROUPS[: len(LOSSES)]),
        "order": {"field": "strength", "type": "quantitative"},
    }
    panels: list[Spec] = [
        {
            "width": 260, "height": 240, "title": {"text": attribute, "fontSize": 12, "fontWeight": "normal"},
            "data": inline([
                row for name in LOSSES
                for row in rows(accuracy=by[name][:, :, 2].mean(0), abcc=1 - by[name][:, :, 3].mean(0),
                                strength=list(strengths), group=name)
            ]),
            "mark": {"type": "line", "point": True, "clip": True}, "encoding": encoding,
        }
        for attribute, by in found.items()
    ]  # fmt: skip
    title = "What a lower ABCC costs in accuracy, by what a network pays for"
    return chart(
        "fronts", title, "Adult, means over splits; a point for each strength.", title, {"hconcat": panels}, {}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--strengths", default=",".join(f"{s:g}" for s in STRENGTHS))
    parser.add_argument("--folder", type=Path, default=Path("runs-fronts"))
    parser.add_argument("--svg")
    how = parser.parse_args()
    people, found = datasets.adult(how.data), {}
    strengths = tuple(float(s) for s in how.strengths.split(","))
    for attribute, group in ATTRIBUTES.items():
        ended = experiment(
            replace(people, name=attribute),
            [Method(name, "reg", {**ALONE, "loss": loss}, strengths) for name, loss in LOSSES.items()],
            splits=how.splits, group=group, exclude=("sex",), fractions=SHARES, own_split=False,
            folder=how.folder / attribute, progress=said,
        )  # fmt: skip
        found[attribute] = table(ended, strengths, how.splits)
        show(attribute, found[attribute], strengths)
    if how.svg:
        drawn(found, strengths).save(how.svg)


if __name__ == "__main__":
    main()
