"""What is new is added in few places: a measure in two, an engine in two. Everything else finds it there."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand import metrics
from evenhand.ingest import engines
from evenhand.ingest.engines import arrays
from evenhand.ingest.people import read_people
from evenhand.measures.curve import Curve, ScoreOptions
from evenhand.measures.measure import Measure, Profile, RateMeasure, ScoreMeasure
from evenhand.measures.rates import jaccard
from evenhand.measures.registry import MEASURES, documentation_row
from evenhand.measures.score_bias import bias
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts

# ---- a measure: a function and an entry of the registry ----------------------------------------------------


def overlap(counts: Counts) -> Profile:
    """How much those selected and those with the favourable label are the same people."""
    value, people = jaccard(counts)
    return Profile(value[..., None, :], people[..., None, :])


def upper_gap(counts: ScoreCounts, options: ScoreOptions, like: Curve | None) -> Curve:
    """How far decisions are apart at thresholds in the upper half of the score range."""
    curve = bias(counts, None, False, options)
    return Curve(curve.at, curve.gap, np.where(curve.at >= 0.5, curve.weight, 0.0))


ENTRIES = (
    RateMeasure("overlap_parity", "accuracy", "Do selection and outcome overlap alike?", "J(group) − J(reference)",
                "is selected {more|less} aptly", components=("overlap",), other=overlap, rests_on=("tpr",)),
    ScoreMeasure("upper_parity", "independence", "Are high thresholds alike?", "∫ |F(group) − F(reference)|, s ≥ ½",
                 "is scored {more|less} highly", tolerance=0.2, needs_label=False, curve=upper_gap),
)  # fmt: skip
ROWS = {
    "overlap_parity": "| `overlap_parity` | Do selection and outcome overlap alike? | J(group) − J(reference) | ±0.1 |",
    "upper_parity": "| `upper_parity` | Are high thresholds alike? | ∫ \\|F(group) − F(reference)\\|, s ≥ ½ | 0.2 |",
}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda m: m.id)
def test_a_measure_is_added_in_two_places(entry: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, entry.id, entry)
    columns = people(300, groups=2)
    few: dict[str, Any] = {"bootstrap": 20, "permutations": 20, "rng": 0}
    audit = evenhand.audit(score=columns["s"], label=columns["y"], group=columns["g"], **few)

    document = audit.to_dict()
    (found,) = (m for m in document["attributes"][0]["measures"] if m["id"] == entry.id)
    assert found["value"] is not None
    assert found["ci"] is not None
    assert found["p_value"] is not None
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(document, evenhand.schema("audit"))

    title = entry.id.replace("_", " ")
    assert title in audit.summary(full=True)
    assert title in audit.to_markdown()
    page = audit.to_html()
    assert f"about-{entry.id}" in page
    assert entry.asks in page

    metric = getattr(metrics, entry.id)(columns["y"], columns["s"], sensitive_features=columns["g"], **few)
    assert float(metric) == audit.measure(entry.id).value
    assert entry.id in dir(metrics)

    assert documentation_row(entry) == ROWS[entry.id]
    assert entry.documentation == f"docs/measures/{entry.page}.md"


# ---- an engine: a module and a line of the table -----------------------------------------------------------


class Sheet:
    """Rows as a library of tomorrow may hold them."""

    def __init__(self, **columns: Any) -> None:
        self.columns = columns


def sheets() -> ModuleType:
    """What the module of the new engine would hold."""
    module = ModuleType("evenhand.ingest.engines.sheets")

    def counting(data: Sheet, names: dict[str, str], groups: list[str], by_day: str | None) -> Any:
        picked = {role: (name, np.asarray(data.columns[name])) for role, name in names.items()}
        return nullcontext(arrays.rows_in(picked, {name: data.columns[name] for name in groups}))

    module.__dict__.update(
        names=lambda data: list(data.columns),
        columns=lambda data: data.columns,
        values=lambda data, names: {name: data.columns[name] for name in names},
        counting=counting,
    )
    return module


def test_an_engine_is_added_in_two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "evenhand.ingest.engines.sheets", sheets())
    line = engines.Engine("sheets", lambda data: isinstance(data, Sheet), "sheets", "pandas")
    monkeypatch.setattr(engines, "ENGINES", (line, *engines.ENGINES))
    columns = people(300, groups=2)
    roles: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
    sheet = Sheet(**columns)
    assert evenhand.tabulate(sheet, **roles) == evenhand.tabulate(columns, **roles)
    beside = {**roles, "group": columns["g"]}
    assert evenhand.tabulate(sheet, **beside).rows == 300
    assert (engines.names_of(sheet), engines.library_of(sheet)) == (list(columns), "pandas")
    assert read_people(sheet, ["y"]).n == 300
