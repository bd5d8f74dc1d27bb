"""What the pages on published experiments claim, at a reduced size; and their tables are what the scripts print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from conftest import benchmark_of

DOCS = Path(__file__).resolve().parents[1] / "docs" / "reproduced"


def table_rows(page: str, first: str) -> list[list[str]]:
    """The rows of tables of a page that begin so, cell by cell."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return [[c.strip() for c in line.strip("| ").split(" | ")] for line in lines if line.startswith(f"| {first} |")]


@pytest.fixture(scope="module")
def estimation() -> Any:
    return benchmark_of("estimation_error")


@pytest.fixture(scope="module")
def roc() -> Any:
    return benchmark_of("what_roc_misses")


def test_population_values_of_the_estimation_experiment(estimation: Any) -> None:
    printed = table_rows("estimation-error.md", "population value")
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


@pytest.mark.parametrize("setting", range(4))
def test_abcc_is_known_best_and_mutual_information_worst(estimation: Any, setting: int) -> None:
    means, sd = list(estimation.SETTINGS.values())[setting]
    rng = np.random.default_rng(1)
    small, large = (np.abs(estimation.errors(means, sd, n, 80, rng)).mean(0) for n in (1000, 10_000))
    for abcc, abpc, information in (small, large):
        assert max(abcc, abpc) < information
        assert abcc < abpc or setting > 1  # with a variance of 0.1 the two are too near for so few replications
    assert (large < 0.6 * small).all()


@pytest.mark.full
def test_the_table_of_the_estimation_page(estimation: Any) -> None:
    rows = table_rows("estimation-error.md", "1 000")
    for (means, sd), row in zip(estimation.SETTINGS.values(), rows, strict=True):
        found = np.abs(estimation.errors(means, sd, 1000, 1000, np.random.default_rng([0, 1000]))).mean(0)
        assert row[1:] == [f"{100 * v:.1f} %" for v in found]


def test_roc_misses_what_equal_opportunity_sees(roc: Any) -> None:
    biases = {r: [roc.audited(r, 4000, 3).measure(id_) for id_ in roc.IDS] for r in (0.5, 2.0, 6.0)}
    opportunity = [b[0] for b in biases.values()]
    assert opportunity[0].value < opportunity[1].value < opportunity[2].value
    assert all(gap.p_value < 0.01 for gap in opportunity)
    for gap in biases[6.0][1:]:
        assert gap.value < 0.001
    for r, gaps in biases.items():
        for gap, goal in zip(gaps, roc.population(r).values(), strict=True):
            assert gap.ci[0] - 1e-4 <= goal <= gap.ci[1] + 1e-4, (r, gap.id)


def test_population_values_of_the_roc_experiment(roc: Any) -> None:
    for r in roc.FACTORS:
        (row,) = table_rows("what-roc-misses.md", f"{r:g}")
        printed = [re.findall(r"\[(.*)\]", cell)[0] for cell in row[1:]]
        assert printed == [f"{v:.4f}" for v in roc.population(r).values()], r
    # a large sample without resampling gives the same
    import evenhand

    people = evenhand.datasets.four_normals(400_000, 1.0, rng=0)
    audit = evenhand.audit(people, score="score", label="label", group="group", reference="a", measures=list(roc.IDS),
                           bootstrap=0, permutations=0)  # fmt: skip
    assert isinstance(audit, evenhand.Audit)
    for id_, goal in roc.population(1.0).items():
        assert np.isclose(audit.measure(id_).value, goal, atol=0.003), id_


def test_the_table_of_the_roc_page(roc: Any, capsys: pytest.CaptureFixture[str]) -> None:
    roc.show({4.0: roc.audited(4.0, 20_000, 0)})
    assert capsys.readouterr().out.splitlines()[-1] in (DOCS / "what-roc-misses.md").read_text(encoding="utf-8")
