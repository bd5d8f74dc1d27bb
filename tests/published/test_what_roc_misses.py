"""What the page on Figure 2 of Becker et al. (2024) claims, at a reduced size; and its table is what the audits say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import evenhand
from evenhand.published import what_roc_misses
from evenhand.published.what_roc_misses import FACTORS, IDS, audited, population

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduced" / "what-roc-misses.md"


def table_rows(first: str) -> list[list[str]]:
    """The rows of the tables of the page that begin so, cell by cell."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    return [[c.strip() for c in line.strip("| ").split(" | ")] for line in lines if line.startswith(f"| {first} |")]


def test_the_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_roc_misses, "FACTORS", (0.5, 6.0))
    found = evenhand.reproduce("becker-figure-2", rng=3)
    (entry,) = found.to_dict()["items"]
    assert entry["status"] == "agrees", entry
    assert len(entry["values"]) == 12
    assert found.plot().columns is not None
    opportunity = [v["found"] for v in entry["values"] if v["column"] == "EO bias (ranks)"]
    assert opportunity == sorted(opportunity)
    assert all(v["found"] < 0.001 for v in entry["values"] if v["row"] == "r = 6" and "ROC" in v["column"])


def test_population_values() -> None:
    for r in FACTORS:
        (row,) = table_rows(f"{r:g}")
        printed = [re.findall(r"\[(.*)\]", cell)[0] for cell in row[1:]]
        assert printed == [f"{v:.4f}" for v in population(r).values()], r
    # a large sample without resampling gives the same
    people = evenhand.datasets.four_normals(400_000, 1.0, rng=0)
    audit = evenhand.audit(people, score="score", label="label", group="group", reference="a", measures=list(IDS),
                           bootstrap=0, permutations=0)  # fmt: skip
    assert isinstance(audit, evenhand.Audit)
    for id_, goal in population(1.0).items():
        assert np.isclose(audit.measure(id_).value, goal, atol=0.003), id_


def test_the_table_of_the_page() -> None:
    audit = audited(4.0, 20_000, 0)
    for cell, id_ in zip(table_rows("4")[0][1:], IDS, strict=True):
        gap = audit.measure(id_)
        assert gap.ci is not None
        told = f"{gap.value:.4f} ({gap.ci[0]:.4f} to {gap.ci[1]:.4f}), p {gap.p_value:.3f}"
        assert cell.startswith(told)
