"""Paths that the documentation once named still lead somewhere, and say where they lead now."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module

import pytest

import evenhand
from evenhand.files.names import MOVED, PUBLIC

KINDS = {old: new.strip("{}") for old, new in MOVED.items() if new.startswith("{")}


@pytest.fixture(autouse=True)
def _unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MOVED:
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.filterwarnings("ignore:evenhand.charts has moved")  # the parent of another
@pytest.mark.parametrize("old", MOVED)
def test_an_old_path_says_where_its_module_is_now(old: str) -> None:
    now = f'evenhand.schema("{KINDS[old]}")' if old in KINDS else PUBLIC.get(MOVED[old], MOVED[old])
    with pytest.warns(DeprecationWarning, match=re.escape(f"{old} has moved: use {now}")):
        import_module(old)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_old_path_has_the_names_it_had() -> None:
    from evenhand.analyses.projection.projection_test import ProjectionTest
    from evenhand.measures import pareto
    from evenhand.report.charts import theme

    projection, tradeoff, themes = map(
        import_module, ("evenhand.projection", "evenhand.tradeoff", "evenhand.charts.theme")
    )
    assert projection.projection_test is evenhand.projection_test
    assert projection.ProjectionTest is ProjectionTest
    assert themes.themed is theme.themed
    for name in ("pareto", "dto", "select", "curve", "area", "polar_area", "partial_area", "slopes", "winners"):
        assert getattr(tradeoff, name) is getattr(pareto, name)
    with pytest.raises(AttributeError, match="nonsense"):
        tradeoff.nonsense  # noqa: B018


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("old", KINDS)
def test_an_old_schema_is_the_new_one(old: str) -> None:
    assert import_module(old).schema() == evenhand.schema(KINDS[old])


def test_the_schema_of_an_audit_has_both_ways() -> None:
    from evenhand.report.document import schema

    assert schema() == schema("audit")


def test_modules_that_stayed_have_the_names_they_had() -> None:
    pytest.importorskip("torch")
    from evenhand.learn.losses import LOSSES, loss
    from evenhand.learn.methods import ADV, METHODS, REG

    assert {type(loss(name)).__name__ for name in LOSSES} == {"Loss"}
    assert (METHODS["reg"], METHODS["adv"]) == (REG, ADV)


def test_a_caller_is_told_in_his_own_file() -> None:
    script = "import evenhand.tradeoff as t; t.pareto"
    run = subprocess.run([sys.executable, "-W", "always", "-c", script], capture_output=True, text=True, check=True)
    assert run.stderr.startswith("<string>:1: DeprecationWarning: evenhand.tradeoff has moved")
