"""A bias that grows while ROC curves see ever less of it: Figure 2 of Becker, Dumitrasc & Broelemann 2024.

    python benchmarks/what_roc_misses.py [people] [--svg FILE] [--seed N]

Scores of two groups and two outcomes are normal; with the factor r people with the favourable outcome move apart, and
away from all others. Prints a Markdown table of biases with 95 % intervals and p-values as an audit reports them,
beside the population values from numerical integration, and draws it with --svg.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import evenhand
from evenhand.datasets.synthetic import normals_of
from evenhand.report.charts import theme
from evenhand.report.charts.layers import Spec, chart, coloured, inline, quantitative, rows

IDS = {"equal_opportunity_standardized": "EO bias (ranks)", "roc": "ROC bias", "xroc": "cross-ROC bias"}
FACTORS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)


def population(r: float) -> dict[str, float]:
    """The three biases of the whole population."""
    from scipy.stats import norm

    f = {key: norm(mean, variance**0.5) for key, (mean, variance) in normals_of(r).items()}
    ends = [d.ppf(p) for d in f.values() for p in (1e-12, 1 - 1e-12)]
    s = np.linspace(min(ends), max(ends), 400_001)
    cdf = {key: d.cdf(s) for key, d in f.items()}
    ranks = np.mean(list(cdf.values()), axis=0)  # among all people, as Becker et al. have it

    def area(first: tuple[str, str], second: tuple[str, str]) -> float:
        """∫ |ROC − ROC′|, each of the favourable of one group over the unfavourable of one, named in this order."""
        rate = np.linspace(0, 1, 200_001)
        curves = [np.interp(rate, 1 - cdf[no, 0][::-1], 1 - cdf[yes, 1][::-1]) for yes, no in (first, second)]
        return float(np.trapezoid(np.abs(curves[0] - curves[1]), rate))

    return {
        "equal_opportunity_standardized": float(np.trapezoid(np.abs(cdf["a", 1] - cdf["b", 1]), ranks)),
        "roc": area(("b", "b"), ("a", "a")),
        "xroc": area(("b", "a"), ("a", "b")),
    }


def audited(r: float, n: int, seed: int) -> evenhand.Audit:
    """The audit of n people, group b against a."""
    people = evenhand.datasets.four_normals(n, r, rng=seed)
    audit = evenhand.audit(
        people, score="score", label="label", group="group", reference="a", measures=list(IDS), rng=seed
    )
    assert isinstance(audit, evenhand.Audit)
    return audit


def show(audits: dict[float, evenhand.Audit]) -> None:
    """As a Markdown table: value, interval, p-value, and in brackets the population value."""
    print("\n| r | " + " | ".join(IDS.values()) + " |\n|--:|" + "---|" * len(IDS))
    for r, audit in audits.items():
        goal, cells = population(r), []
        for id_ in IDS:
            gap = audit.measure(id_)
            assert gap.ci is not None
            assert gap.p_value is not None
            ci = f"{gap.ci[0]:.4f} to {gap.ci[1]:.4f}"
            cells.append(f"{gap.value:.4f} ({ci}), p {gap.p_value:.3f} [{goal[id_]:.4f}]")
        print(f"| {r:g} | " + " | ".join(cells) + " |")


def drawn(audits: dict[float, evenhand.Audit]) -> Any:
    """The biases over r, with their intervals."""
    values: list[dict[str, Any]] = []
    for id_, title in IDS.items():
        gaps = [audit.measure(id_) for audit in audits.values()]
        low, high = np.array([gap.ci or (np.nan, np.nan) for gap in gaps]).T
        values += rows(r=list(audits), bias=[gap.value for gap in gaps], low=low, high=high, group=title)
    x = {
        **quantitative("r", "scaling factor r", values=list(FACTORS), format="~r"),
        "scale": {"type": "log", "base": 2},
    }
    y = quantitative("bias", "bias", (0, 0.16))
    colour = coloured(list(IDS.values()), theme.GROUPS[: len(IDS)])
    ends: Spec = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
    band: Spec = {"mark": {"type": "area", "opacity": 0.2}, "encoding": ends}
    lines: Spec = {"mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": y, "color": colour}}
    title = "Equal opportunity bias grows while ROC biases vanish"
    body: Spec = {"width": 500, "height": 260, "data": inline(values), "layer": [band, lines]}
    return chart("what_roc_misses", title, "Group b against group a, with 95 % intervals.", title, body, {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("people", type=int, nargs="?", default=20_000)
    parser.add_argument("--svg")
    parser.add_argument("--seed", type=int, default=0)
    how = parser.parse_args()
    audits = {r: audited(r, how.people, how.seed) for r in FACTORS}
    show(audits)
    if how.svg:
        drawn(audits).save(how.svg)


if __name__ == "__main__":
    main()
