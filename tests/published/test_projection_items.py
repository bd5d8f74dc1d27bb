"""The items of Taskesen et al. 2021: they are all there, those without data run, and what no other test shows."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import evenhand
from evenhand.analyses.projection.projection_test import projection_test
from evenhand.published import projection_level
from evenhand.published.item import Setting
from evenhand.published.projection import ITEMS
from evenhand.published.projection_experiments import FIGURE_5, cost_of
from evenhand.published.projection_penalty import fitted, limited

NUMBERED = {
    "Definition": ("2.1", "2.2", "3.1", "4.1", "5.1"), "Theorem": ("4.4", "5.4"), "Proposition": ("4.2", "5.2"),
    "Lemma": ("3.2", "4.3", "4.5", "5.3", "5.5", "A.1", "A.2", "B.1"), "Table": ("1",), "Figure": tuple("12345"),
}  # fmt: skip


def test_every_number_of_the_paper_has_an_item() -> None:
    labels = {item.label for item in ITEMS}
    assert {f"{kind} {n}" for kind, numbers in NUMBERED.items() for n in numbers} <= labels


RUN = {"figure-1": "agrees", "figure-3": "agrees", "figure-5": "agrees", "section-7-metric": "differs"}
"""What needs no data and no simulation, and what comes out."""


def test_what_can_be_run_at_once() -> None:
    found = evenhand.reproduce([f"taskesen-{name}" for name in RUN])
    assert {e["id"]: e["status"] for e in found.to_dict()["items"]} == {f"taskesen-{k}": v for k, v in RUN.items()}
    assert found.plots() == ("taskesen-figure-1", "taskesen-figure-3", "taskesen-figure-5")
    for name in found.plots():  # what a drawing refers to, such as the colours of a legend, is there
        svg = found.plot(name).to_svg("c1-")
        assert '"black"' not in svg  # which a dark page would not turn
        assert set(re.findall(r"url\(#([^)]*)\)", svg)) <= set(re.findall(r'id="(c1-[^"]*)"', svg))
    assert "stop-color" in found.plot("taskesen-figure-1").to_svg()
    (one,) = next(run.outcome for run in found.runs if run.item.id == "taskesen-figure-5").values  # type: ignore[union-attr]
    beta, x, omega = FIGURE_5["d"]
    low = cost_of(np.linspace(0, 1 / 8, 100_001), (one.found, beta[1]), x, omega)
    assert low[:40_000].min() == pytest.approx(low[40_000:].min(), abs=1e-6)  # both minima, at the β₁ that was found


def test_figure_4_on_compas(data_folder: Path) -> None:
    found = evenhand.reproduce("taskesen-figure-4", data=data_folder)
    (entry,) = found.to_dict()["items"]
    assert [c["holds"] for c in entry["claims"]] == [False, True, True, True]
    chart = found.plot()
    exact, short, critical = list(chart.columns.values())[1:4]
    rejected = [s > c for s, c in zip(exact, critical, strict=True)]
    assert rejected == sorted(rejected, reverse=True)
    assert short[39] == exact[39] > short[44]  # the limit on γ makes the statistic fall before β is 0
    assert exact[44] > exact[40]


def test_the_penalty_of_the_norm_leaves_nothing_of_weak_features() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = rng.random(300) < 1 / (1 + np.exp(-x @ [1.0, -1.0]))
    gradient = float(np.linalg.norm(x.T @ (y - 0.5))) / 2
    lengths = [np.linalg.norm(fitted(x, y, share * gradient)) for share in (0.0, 0.5, 0.99, 1.0)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[2] > 0 == lengths[3]
    linear = pytest.importorskip("sklearn.linear_model")
    plain = linear.LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10).fit(x, y)
    assert fitted(x, y, 0.0) == pytest.approx(plain.coef_[0], abs=1e-4)


def test_the_statistic_of_a_limited_multiplier_is_that_of_its_best_one() -> None:
    z, group = np.random.default_rng(1).normal(size=60), np.arange(60) < 20
    from evenhand.inference.wasserstein_projection import project

    found = project(z, np.ones(60), group, 100, 0.5)
    assert limited(z, group, 100, 0.5, abs(found.gamma)) == pytest.approx(found.statistic, rel=1e-3)
    assert limited(z, group, 100, 0.5, abs(found.gamma) / 3) < found.statistic


def test_the_projection_keeps_shares() -> None:
    """Lemma 3.2: as many people of each group and label as before."""
    rng = np.random.default_rng(2)
    people = {"p": rng.random(80), "y": rng.integers(0, 2, 80), "g": rng.choice(["f", "m"], 80)}
    s = projection_test(people, score="p", label="y", group="g", criterion="equalized_odds").shifts
    for group in "fm":
        for label, name in ((1, "favourable"), (0, "unfavourable")):
            own = (s["group"] == group) & (s["label"] == name)
            assert s["n"][own].sum() == ((people["g"] == group) & (people["y"] == label)).sum()


def test_equalized_odds_add_up() -> None:
    """Lemma 5.3: R of equalized odds is the sum of R of both labels."""
    rng = np.random.default_rng(3)
    people = {"p": rng.random(90), "y": rng.integers(0, 2, 90), "g": rng.choice(["f", "m"], 90)}
    opp, pred, odds = (
        projection_test(people, score="p", label="y", group="g", criterion=c).statistic
        for c in ("equal_opportunity", "predictive_equality", "equalized_odds")
    )
    assert odds == pytest.approx(opp + pred, rel=1e-12)


def test_few_people_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection_level, "SIZES", projection_level.SIZES[:1])
    monkeypatch.setattr(projection_level, "FEW_RUNS", 30)
    monkeypatch.setattr(projection_level, "FAIR", {"Beta(2, 2)": projection_level.FAIR["Beta(2, 2)"]})
    outcome = projection_level.few_people(Setting(None, None, False, 0))
    assert [c.holds for c in outcome.claims] == [True]
    assert [v.column for v in outcome.values] == ["the test", "its limit law alone"]
