"""What the pages on published experiments claim, at a reduced size; and their tables are what the scripts print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import benchmark_of

DOCS = Path(__file__).resolve().parents[1] / "docs" / "reproduced"


def table_rows(page: str, first: str) -> list[list[str]]:
    """The rows of tables of a page that begin so, cell by cell."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return [[c.strip() for c in line.strip("| ").split(" | ")] for line in lines if line.startswith(f"| {first} |")]


@pytest.fixture(scope="module")
def roc() -> Any:
    return benchmark_of("what_roc_misses")


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
