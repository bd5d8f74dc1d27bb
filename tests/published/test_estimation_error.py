"""Figure 3 of Han, Jiang et al. (2023) at a reduced size, and that its page shows what is computed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from evenhand.published import estimation_error as estimation

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduced" / "estimation-error.md"


def table_rows(first: str) -> list[list[str]]:
    """The rows of tables of the page that begin so, cell by cell."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [[c.strip() for c in line.strip("| ").split(" | ")] for line in lines if line.startswith(f"| {first} |")]


def test_population_values() -> None:
    printed = table_rows("population value")
    assert len(printed) == len(estimation.SETTINGS)
    for (means, sd), row in zip(estimation.SETTINGS.values(), printed, strict=True):
        found = estimation.population(means, sd)
        # of two normal densities with one standard deviation that cross halfway
        assert np.isclose(found["abpc"], 2 * (2 * norm.cdf(abs(means[1] - means[0]) / (2 * sd)) - 1), atol=1e-7)
        # one group is everywhere above the other: ABCC is the difference of means of the mapped scores
        z, w = np.polynomial.hermite_e.hermegauss(60)
        a, b = (np.sum(w / (1 + np.exp(-(m + sd * z)))) / w.sum() for m in means)
        assert np.isclose(found["abcc"], b - a, atol=1e-8)
        assert row[1:] == [f"{v:.4f}" for v in found.values()]


@pytest.mark.parametrize(
    "replications", [pytest.param(40, id="reduced"), pytest.param(80, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("setting", range(4))
def test_errors_fall_as_the_lemma_says(setting: int, replications: int) -> None:
    """ABCC is known best and mutual information worst, and ten times as many people halve the error at least."""
    means, sd = list(estimation.SETTINGS.values())[setting]
    rng = np.random.default_rng(1)
    small, large = (np.abs(estimation.errors(means, sd, n, replications, rng)).mean(0) for n in (1000, 10_000))
    for abcc, abpc, information in (small, large):
        assert max(abcc, abpc) < information
        assert abcc < abpc or setting > 1  # with a variance of 0.1 the two are too near for so few replications
    assert (large < 0.6 * small).all()


@pytest.mark.full
def test_the_table_of_the_page() -> None:
    rows = table_rows("1 000")
    for (means, sd), row in zip(estimation.SETTINGS.values(), rows, strict=True):
        found = np.abs(estimation.errors(means, sd, 1000, 1000, np.random.default_rng([0, 1000]))).mean(0)
        assert row[1:] == [f"{100 * v:.1f} %" for v in found]


def test_the_powers_on_the_page_are_those_of_its_rows() -> None:
    shown = table_rows("falls as n to the power")
    every = [table_rows(f"{n:,}".replace(",", " ")) for n in estimation.SIZES]
    for place, row in enumerate(shown):
        errors = np.array([[float(re.sub(" %", "", c)) for c in rows[place][1:]] for rows in every])
        found = [f"{s:.2f}".replace("-", "−") for s in estimation.slopes(errors).values()]
        assert all(
            abs(float(a.replace("−", "-")) - float(b.replace("−", "-"))) < 0.015
            for a, b in zip(row[1:], found, strict=True)
        )
