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
