"""What columns mean to a user: own codes of decisions, bands, missing groups; alike in all engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_engines import FILES, MEMORY, given

import evenhand
from conftest import people
from evenhand.analyses.check.check import check
from evenhand.errors import DataError, UsageError

pd = pytest.importorskip("pandas")

ENGINES = [*MEMORY, *FILES]


# ---- label and decision in codes of their own ------------------------------------------------------------------------


def decided(n: int = 400) -> Any:
    """Labels 1/0 beside decisions approve/deny, and the same decisions as 1/0."""
    columns = people(n)
    return pd.DataFrame(columns | {"own": np.where(columns["d"] == 1, "approve", "deny")})


WORDS: dict[str, Any] = {"label": "y", "group": ["g", "h"]}


@pytest.mark.parametrize("kind", ENGINES)
def test_own_codes_everywhere(kind: str, tmp_path: Path) -> None:
    frame = decided()
    usual = evenhand.tabulate(frame, **WORDS, prediction="d")
    found = evenhand.tabulate(given(kind, frame, tmp_path), **WORDS, prediction="own", favorable_prediction="approve")
    assert (found.n == usual.n).all()
    assert (found.decision == usual.decision).all()
    assert (found.label == usual.label).all()
    assert (found.meaning.favorable, found.meaning.favorable_prediction) == ("1", "approve")


def test_own_codes_in_every_view(tmp_path: Path) -> None:
    frame = decided()
    words = {**WORDS, "prediction": "own", "bootstrap": 0, "permutations": 0}
    named = evenhand.audit(frame, **words, favorable={"label": 1, "prediction": "approve"})
    usual = evenhand.audit(frame, **{**words, "prediction": "d"})
    found, other = named.to_dict(), usual.to_dict()
    assert found["attributes"] == other["attributes"]
    assert found["data"]["favorable"] == "1"
    assert found["data"]["favorable_prediction"] == "approve"
    assert found["data"]["decision_rule"] == "own is approve"
    assert other["data"]["favorable_prediction"] is None
    named.table.save(tmp_path / "t")
    loaded = evenhand.load(tmp_path / "t")
    assert loaded == named.table
    assert loaded.digest() == named.table.digest()
    policy = {"rule": [{"measure": "disparate_impact", "at_least": 0.8}],
              "audit": {"favorable_prediction": "approve"}}  # fmt: skip
    check(loaded, policy=policy)
    policy["audit"] = {"favorable_prediction": "deny"}
    with pytest.raises(UsageError, match="favorable_prediction is said to be 'deny'"):
        check(loaded, policy=policy)
    json.dumps(found)


def test_own_codes_without_a_label() -> None:
    table = evenhand.tabulate(decided(), prediction="own", group="g", favorable_prediction="approve")
    assert (table.meaning.favorable, table.meaning.favorable_prediction) == ("approve", None)


def test_the_way_to_own_codes_is_told() -> None:
    frame = decided()
    with pytest.raises(DataError, match="--favorable-prediction"):
        evenhand.tabulate(frame, **WORDS, prediction="own", favorable=1)
    with pytest.raises(DataError, match="--favorable-prediction"):
        evenhand.tabulate(frame, **WORDS, prediction="own")
    with pytest.raises(DataError, match="did you mean 'approve'"):
        evenhand.tabulate(frame, **WORDS, prediction="own", favorable_prediction="aprove")
    with pytest.raises(UsageError, match="name that"):
        evenhand.tabulate(frame, **WORDS, score="s", favorable_prediction="approve")
    with pytest.raises(UsageError, match="favorable is a value, or a dict"):
        evenhand.tabulate(frame, **WORDS, prediction="own", favorable={"decision": "approve"})
