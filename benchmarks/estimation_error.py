"""How many people does it take to know a measure? Figure 3 of Han, Jiang et al. 2023, repeated.

    python benchmarks/estimation_error.py [replications] [--svg FILE] [--seed N]

Two groups of n/2 people have normal scores, mapped into (0, 1) by the logistic function. The population values come
from numerical integration; the relative error of a sample is |estimate − population value| / population value, averaged
over replications. Prints a Markdown table for each setting, and draws them with --svg.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import evenhand
from evenhand.report.charts import theme
from evenhand.report.charts.layers import Spec, chart, coloured, inline, quantitative, rows

IDS = {"abcc": "ABCC", "abpc": "ABPC", "mutual_information": "mutual information"}
SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
SETTINGS = {
    "N(0.3, 0.1) and N(0.4, 0.1)": ((0.3, 0.4), 0.1),
    "N(0.2, 0.1) and N(0.4, 0.1)": ((0.2, 0.4), 0.1),
    "variance 0.1: N(0.3, 0.1) and N(0.4, 0.1)": ((0.3, 0.4), 0.1**0.5),
    "variance 0.1: N(0.2, 0.1) and N(0.4, 0.1)": ((0.2, 0.4), 0.1**0.5),
}
"""The first two as captioned, 0.1 a standard deviation; the others with 0.1 read as a variance."""


def population(means: tuple[float, float], sd: float) -> dict[str, float]:
    """ABCC, ABPC and mutual information of the whole population, by integration over the score before it is mapped.

    The densities of mapped scores differ by the same factor, which cancels in ABPC and mutual information.
    """
    from scipy.stats import norm

    z = np.linspace(min(means) - 10 * sd, max(means) + 10 * sd, 200_001)
    score = 1 / (1 + np.exp(-z))
    a, b = (norm.pdf(z, m, sd) for m in means)
    cdf_a, cdf_b = (norm.cdf(z, m, sd) for m in means)
    mixed = (a + b) / 2
    return {
        "abcc": float(np.trapezoid(np.abs(cdf_a - cdf_b), score)),
        "abpc": float(np.trapezoid(np.abs(a - b), z)),
        "mutual_information": float(np.trapezoid((a * np.log(a / mixed) + b * np.log(b / mixed)) / 2, z)),
    }


def errors(means: tuple[float, float], sd: float, n: int, replications: int, rng: np.random.Generator) -> Any:
    """Signed relative errors, replications × measures."""
    goal = np.array(list(population(means, sd).values()))
    found = []
    for _ in range(replications):
        audit = evenhand.audit(
            evenhand.datasets.two_normals(n, means, sd, rng=rng), score="score", group="group", reference="a",
            score_range=(0, 1), measures=list(IDS), bootstrap=0, permutations=0,
        )  # fmt: skip
        assert isinstance(audit, evenhand.Audit)
        found.append([audit.measure(id_).value for id_ in IDS])
    return np.array(found) / goal - 1


def measured(replications: int, seed: int) -> dict[str, Any]:
    """By setting: mean relative error, sizes × measures."""
    return {
        name: np.stack(
            [np.abs(errors(*setting, n, replications, np.random.default_rng([seed, n]))).mean(0) for n in SIZES]
        )
        for name, setting in SETTINGS.items()
    }


def show(found: dict[str, Any]) -> None:
    for name, table in found.items():
        goal = population(*SETTINGS[name])
        print(f"\n| {name}: n | " + " | ".join(IDS.values()) + " |\n|--:|" + "--:|" * len(IDS))
        print("| population value | " + " | ".join(f"{goal[id_]:.4f}" for id_ in IDS) + " |")
        for n, line in zip(SIZES, table, strict=True):
            print(f"| {n:,} | ".replace(",", " ") + " | ".join(f"{100 * v:.1f} %" for v in line) + " |")
        slopes = np.polyfit(np.log(SIZES), np.log(table), 1)[0]
        print("| falls as n to the power | " + " | ".join(f"{s:.2f}".replace("-", "−") for s in slopes) + " |")


def drawn(found: dict[str, Any]) -> Any:
    """The two captioned settings beside each other, on logarithmic axes."""
    x = {**quantitative("n", "people", values=[100, 1000, 10_000], format=",~r"), "scale": _log(90, 22_000)}
    y = {
        **quantitative("error", "mean relative error", values=[0.01, 0.03, 0.1, 0.3], format="~%"),
        "scale": _log(0.005, 0.5),
    }
    colour = coloured(list(IDS.values()), theme.GROUPS[: len(IDS)])
    panels: list[Spec] = [
        {
            "width": 230, "height": 220, "title": {"text": name, "fontSize": 12, "fontWeight": "normal"},
            "data": inline([
                row for column, title in zip(found[name].T, IDS.values(), strict=True)
                for row in rows(n=list(SIZES), error=column, group=title)
            ]),
            "mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": y, "color": colour},
        }
        for name in list(SETTINGS)[:2]
    ]  # fmt: skip
    title = "Relative error of ABCC, ABPC and mutual information"
    return chart("estimation_error", title, "Mean over replications; both axes are logarithmic.", title,
                 {"hconcat": panels}, {})  # fmt: skip


def _log(low: float, high: float) -> Spec:
    return {"type": "log", "domain": [low, high]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("replications", type=int, nargs="?", default=1000)
    parser.add_argument("--svg")
    parser.add_argument("--seed", type=int, default=0)
    how = parser.parse_args()
    found = measured(how.replications, how.seed)
    show(found)
    if how.svg:
        drawn(found).save(how.svg)


if __name__ == "__main__":
    main()
