"""The list of measures."""

from __future__ import annotations

import json

import pytest

import evenhand
from conftest import evenhand as run
from evenhand.analyses.planning.catalogue import catalogue
from evenhand.measures.registry import MEASURES, PRACTICE


def test_every_measure_is_listed_with_its_question_formula_and_needs() -> None:
    document = json.loads(catalogue().to_json())
    pytest.importorskip("jsonschema").validate(document, evenhand.schema("measures"))
    assert [m["id"] for m in document["measures"]] == [*MEASURES, *PRACTICE]
    by_id = {m["id"]: m for m in document["measures"]}
    assert by_id["abcc"]["needs"] == ["score"]
    assert by_id["equal_opportunity"]["needs"] == ["decision", "outcome"]
    text, markdown = " ".join(repr(catalogue()).split()), catalogue().to_markdown()
    for m in (*MEASURES.values(), *PRACTICE.values()):
        assert f"{m.id} · {m.title} {m.asks}" in text
        assert f"| `{m.id}` | {m.asks}" in markdown


def test_the_command_lists_all_or_some() -> None:
    assert run("measures").stdout == f"{catalogue()!r}\n"
    assert json.loads(run("measures", "roc_linf", "--json", "-").stdout)["measures"][0]["formula"].startswith("sup")
    refused = run("measures", "abc")
    assert refused.returncode == 2
    assert "there is no measure 'abc' (there are: 'demographic_parity'," in refused.stderr
