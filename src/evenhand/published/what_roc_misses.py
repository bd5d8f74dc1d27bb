"""A bias that grows while ROC curves see ever less of it: Figure 2 of Becker et al. 2024.

Scores of two groups and two outcomes are normal; with the factor r people with the favourable outcome move apart, and
away from all others. docs/reproduced/what-roc-misses.md tells about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import evenhand
from evenhand.datasets.synthetic import normals_of
from evenhand.published.item import Claim, Outcome, Setting, Value
from evenhand.report.charts import theme
from evenhand.report.charts.chart import Chart
from evenhand.report.charts.layers import Spec, chart, coloured, inline, quantitative, rows

IDS = {"equal_opportunity_standardized": "EO bias (ranks)", "roc": "ROC bias", "xroc": "cross-ROC bias"}
FACTORS = (0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
PEOPLE = 4_000, 20_000
"""For every r, without `full` and with it."""
BLIND = 0.001
"""Less than this hardly shows in a ROC curve."""


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


def figure_2(setting: Setting) -> Outcome:
    """The three biases over r, with their intervals, beside those of the population."""
    n = PEOPLE[setting.full]
    audits, truth = {}, {}
    for place, r in enumerate(FACTORS):
        setting.progress(place / len(FACTORS), f"r = {r:g}")
        audits[r], truth[r] = audited(r, n, setting.seed), population(r)
    values = [
        Value(f"r = {r:g}", title, None, found)
        for r, audit in audits.items()
        for id_, name in IDS.items()
        for title, found in ((name, audit.measure(id_).value), (f"{name}, population", truth[r][id_]))
    ]
    notes = [
        "no numbers are printed for this figure, so shapes are compared",
        "N(1·r, 0.6²·r) and N(−1, 0.5) are read as variances: with standard deviations EO bias would hardly change",
    ]
    notes += [] if setting.full else [f"{n:,} people for every r; with --full {PEOPLE[1]:,}"]
    return Outcome(tuple(values), tuple(_claims(audits, truth)), (drawn(audits),), tuple(notes))


def _claims(audits: Mapping[float, evenhand.Audit], truth: Mapping[float, Mapping[str, float]]) -> list[Claim]:
    opportunity, *rocs = ([t[id_] for t in truth.values()] for id_ in IDS)
    outside = [
        f"r = {r:g}, {name}"
        for r, audit in audits.items()
        for id_, name in IDS.items()
        if not _inside(audit.measure(id_).ci, truth[r][id_])
    ]
    missed = [r for r in FACTORS if max(truth[r]["roc"], truth[r]["xroc"]) < BLIND]
    return [
        Claim("EO bias grows with r", opportunity == sorted(opportunity), _from_to(opportunity)),
        Claim("both ROC biases fall with r", all(np.diff(biases).max() < 1e-6 for biases in rocs),
              ", ".join(map(_from_to, rocs))),
        Claim("ROC and cross-ROC cannot detect the disparity: where it is large they are nearly 0", bool(missed),
              f"below {BLIND:g} from r = {min(missed, default=np.nan):g} on"),
        Claim("intervals hold the biases of the population", not outside, ", ".join(outside)),
    ]  # fmt: skip


def _from_to(biases: list[float]) -> str:
    return f"{biases[0]:.3f} to {biases[-1]:.3f}"


def _inside(ci: Any, value: float) -> bool:
    return ci is not None and ci[0] - 1e-4 <= value <= ci[1] + 1e-4


def drawn(audits: Mapping[float, evenhand.Audit]) -> Chart:
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
