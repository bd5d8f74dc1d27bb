"""How many people does it take to know a measure? Figure 3 of Han, Jiang et al. 2023, and its Lemma 5.4.

Two groups of n/2 people have normal scores, mapped into (0, 1) by the logistic function. The population values come
from numerical integration; the relative error of a sample is |estimate − population value| / population value, averaged
over replications.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

import evenhand
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
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
CAPTIONED = 2
REPLICATIONS, FEW = 1000, 20
"""In full, and by default. The paper does not say how many it averages."""
SPEEDS = {"abcc": -0.5, "abpc": -0.4}
"""Lemma 5.4: mean squared errors of 1/n and n^(−4/5)."""

Errors = NDArray[np.float64]


def population(means: tuple[float, float], sd: float) -> dict[str, float]:
    """ABCC, ABPC and mutual information of the whole population, by integration over the score before it is mapped.

    The densities of mapped scores differ by the same factor, which cancels in ABPC and mutual information.
    """
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


def errors(means: tuple[float, float], sd: float, n: int, replications: int, rng: np.random.Generator) -> Errors:
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
    return np.asarray(np.array(found) / goal - 1)


def slopes(error: Errors) -> dict[str, float]:
    """The power of n with which each error (sizes × measures) falls."""
    return dict(zip(IDS, np.polyfit(np.log(SIZES), np.log(error), 1)[0].tolist(), strict=True))


def figure_3(setting: Setting) -> Outcome:
    """Mean relative errors by number of people, which of the measures is the nearest, and how fast errors fall."""
    replications = REPLICATIONS if setting.full else FEW
    found: dict[str, Errors] = {}
    for place, (name, how) in enumerate(list(SETTINGS.items())[: None if setting.full else CAPTIONED]):
        setting.progress(place / len(SETTINGS), name)
        every = [errors(*how, n, replications, np.random.default_rng([setting.seed, n])) for n in SIZES]
        found[name] = np.stack([np.abs(one).mean(0) for one in every])
    values = [
        Value(f"{name}: {n:,} people", title, None, error)
        for name, table in found.items()
        for n, line in zip(SIZES, table.tolist(), strict=True)
        for title, error in zip(IDS.values(), line, strict=True)
    ]
    more = f"{replications} replications; with --full {REPLICATIONS:,}, and also with 0.1 as a variance"
    return Outcome(tuple(values), _claims(found), (drawn(found),), () if setting.full else (more,))


def _claims(found: Mapping[str, Errors]) -> tuple[Claim, ...]:
    captioned = [found[name] for name in list(found)[:CAPTIONED]]
    near, last = np.array([t.argmin(1) for t in captioned]), np.array([t.argmax(1) for t in captioned])
    falls = [slopes(t) for t in captioned]

    def sizes(places: NDArray[np.int64], measure: int) -> str:
        others = sorted({SIZES[i] for i in np.argwhere(places != measure)[:, 1]})
        return "" if not others else f"not at {', '.join(f'{n:,}' for n in others)} people"

    return (
        Claim("mutual information is the farthest off, whatever the number of people", bool((last == 2).all()),
              sizes(last, 2)),
        Claim("ABCC is the nearest, whatever the number of people", bool((near == 0).all()), sizes(near, 0)),
        *(
            Claim(f"Lemma 5.4: the error of {IDS[id_]} falls as n to the power {speed}, or faster",
                  all(fall[id_] < speed + 0.05 for fall in falls), ", ".join(f"{fall[id_]:.2f}" for fall in falls))
            for id_, speed in SPEEDS.items()
        ),
    )  # fmt: skip


def drawn(found: Mapping[str, Errors]) -> Chart:
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
        for name in list(SETTINGS)[:CAPTIONED]
    ]  # fmt: skip
    title = "Relative error of ABCC, ABPC and mutual information"
    return chart("estimation_error", title, "Mean over replications; both axes are logarithmic.", title,
                 {"hconcat": panels}, {})  # fmt: skip


def _log(low: float, high: float) -> Spec:
    return {"type": "log", "domain": [low, high]}
