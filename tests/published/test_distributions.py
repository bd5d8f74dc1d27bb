"""What Han, Jiang et al. (2023) define and prove, run as a user would."""

from __future__ import annotations

import pytest

import evenhand
from evenhand.published.distributions import ITEMS

QUICK = [i.id for i in ITEMS if i.run is not None and not i.slow and i.id != "han-jiang-figure-3"]
MISPRINTS = {"han-jiang-argument-2"}


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, object]]:
    return {entry["id"]: entry for entry in evenhand.reproduce(QUICK).to_dict()["items"]}


@pytest.mark.parametrize("id_", QUICK)
def test_it_is_as_printed(id_: str, found: dict[str, dict[str, object]]) -> None:
    entry = found[id_]
    assert entry["status"] == ("differs" if id_ in MISPRINTS else "agrees"), entry


def test_what_is_misprinted(found: dict[str, dict[str, object]]) -> None:
    wrong = [v for v in found["han-jiang-argument-2"]["values"] if not v["agrees"]]  # type: ignore[attr-defined]
    assert [(v["published"], v["found"]) for v in wrong] == [(0.67, 0.5)]


def test_every_numbered_thing_has_an_item() -> None:
    labels = {item.label for item in ITEMS}
    numbered = [
        *(f"Figure {n}" for n in range(1, 8)), "Table 1", "Table 2", "Theorem 2.1", "Theorem 5.1", "Theorem 5.2",
        "Definition 5.3", "Lemma 5.4", "Proposition B.1", "Algorithm 1", "Algorithm 2", "Criterion 1", "Criterion 2",
        *(f"Equation {n}" for n in (1, 2, 3, 4, 7, 12, 13)),
    ]  # fmt: skip
    assert labels >= set(numbered)
    said = " ".join(item.says for item in ITEMS)
    for other in ("Definition 4.1", "equations 5 to 7", "equations 8 and 9", "equations 10 and 11"):
        assert other in said, other
