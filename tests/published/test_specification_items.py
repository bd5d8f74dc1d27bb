"""The items of the ExFairness metric specification: all are there, and all but one theorem are as the document says."""

from __future__ import annotations

from typing import Any

import pytest

import evenhand
from evenhand.published import specification_metrics as metrics
from evenhand.published.specification import ITEMS

MISPRINTS = {"exfairness-kleinberg"}
SECTIONS = {f"Metric {n}" for n in range(1, 8)} | {
    "Notation", "80% rule", "Chouldechova's theorem", "Kleinberg et al. theorem", "Metric selection guide",
    "Intersectional fairness", "Confidence intervals",
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in evenhand.reproduce("exfairness").to_dict()["items"]}


def test_every_section_of_the_specification_has_an_item() -> None:
    assert {item.label for item in ITEMS} == SECTIONS


def test_what_came_of_each(found: dict[str, dict[str, Any]]) -> None:
    for item in ITEMS:
        expected = "defined" if item.run is None else "differs" if item.id in MISPRINTS else "agrees"
        assert found[item.id]["status"] == expected, found[item.id]
    assert found["exfairness-metric-5"]["values"][0]["row"] == "[0, 0.1]"
    assert len(found["exfairness-metric-5"]["values"]) == 13


def test_the_theorem_of_kleinberg_is_about_mean_scores(found: dict[str, dict[str, Any]]) -> None:
    entry = found["exfairness-kleinberg"]
    assert [c["holds"] for c in entry["claims"]] == [False, True]
    assert [v["agrees"] for v in entry["values"]] == [True, True]
    assert "mean scores" in entry["notes"][0]


@pytest.mark.parametrize("id_", ["demographic_parity", "equal_opportunity", "predictive_parity"])
def test_an_item_would_differ_if_the_measure_did(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "measured", lambda rows, *ids: dict.fromkeys(ids, 0.5))
    outcome = next(i.run for i in ITEMS if i.run is not None and i.run.__name__ == id_)
    values = outcome(metrics.Setting(None, None, False, 0)).values
    assert [v.agrees for v in values if v.column == "disparity"] == [False]
