"""Every kind of result reads in a notebook as it does in a terminal, and a cell shows it once."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from conftest import jobs, people
from evenhand.analyses.planning.catalogue import catalogue
from evenhand.analyses.profiles.profiles import profiles
from evenhand.report.result import Result

FAST: dict[str, Any] = {"bootstrap": 0, "permutations": 0}
ROWS = people(120, 2)
SCORED: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
RUNS = {"m": ["a", "a", "b"], "acc": [0.6, 0.8, 0.7], "fair": [0.9, 0.7, 0.6]}


def _model(rows: Any) -> Any:
    return np.asarray(rows["s"], float)


def _experiment(folder: Path) -> Any:
    pytest.importorskip("sklearn")
    from evenhand.datasets import Dataset
    from evenhand.learn import Method, experiment

    data = Dataset(
        "toy", columns={"s": ROWS["s"]}, label=ROWS["y"], label_name="y", favorable="1", groups={"g": ROWS["g"]}
    )
    return experiment(data, [Method("stub_methods:Shrunk", strengths=(0.0, 0.5))], folder=folder, group="g", seeds=1)


MAKERS: dict[str, Callable[[Path], Any]] = {
    "Audit": lambda _: evenhand.audit(ROWS, **SCORED, **FAST),
    "ClassAudit": lambda _: evenhand.audit(jobs(120), label="y", prediction="p", group="g", **FAST),
    "ProbableAudit": lambda _: evenhand.audit(
        {"d": [1, 0, 1, 1] * 9, "p": [0.2, 0.8, 0.5, 0.9] * 9, "q": [0.8, 0.2, 0.5, 0.1] * 9},
        prediction="d",
        group_probability=["p", "q"],
        bootstrap=0,
    ),
    "CandidateAudit": lambda _: evenhand.audit(ROWS, **{**SCORED, "score": ["s", "w"]}, score_range=(0, 2), **FAST),
    "Alternatives": lambda _: evenhand.alternatives(
        RUNS, method="m", performance="acc", fairness="fair", baseline="b", within_best=0.2
    ),
    "Aggregate": lambda _: evenhand.aggregate(jobs(120), label="y", prediction="p", group="g", bootstrap=0),
    "Verdict": lambda _: evenhand.check(ROWS, "abcc <= 0.1", **SCORED),
    "Watch": lambda _: evenhand.monitor(
        dict.fromkeys(("2024-01", "2024-02"), evenhand.compas()), measures=["demographic_parity"], baseline=1
    ),
    "Thresholds": lambda _: evenhand.thresholds(ROWS, require="disparate_impact >= 0.8", **SCORED, bootstrap=0),
    "Comparison": lambda _: evenhand.compare(
        RUNS, method="m", performance="acc", fairness="fair", random_performance=0.5
    ),
    "ProjectionTest": lambda _: evenhand.projection_test(ROWS, **SCORED),
    "ProjectionTests": lambda _: evenhand.projection_test(ROWS, logit=["s", "w"], label="y", group="g"),
    "IndividualFairness": lambda _: evenhand.individual_fairness(ROWS, "s", group="g", columns=["w"]),
    "CounterfactualFairness": lambda _: evenhand.counterfactual_fairness(
        _model, {"g": ROWS["g"], "s": ROWS["s"]}, attribute="g"
    ),
    "Plan": lambda _: evenhand.power(base_rate=0.5, gap=0.1),
    "Advice": lambda _: evenhand.guide(ground_truth=False),
    "AggregateAdvice": lambda _: evenhand.guide(classes=True, focus="between-groups", scale="absolute", extremes=True),
    "TableInfo": lambda _: evenhand.table_info(evenhand.tabulate(ROWS, **SCORED)),
    "Experiment": _experiment,
    "Catalogue": lambda _: catalogue(["abcc"]),
    "Profiles": lambda _: profiles(["nyc-ll144"]),
    "Proposal": lambda _: evenhand.propose(ROWS),
    "Reproduction": lambda _: evenhand.reproduce("becker-table-1"),
}


def _kinds(of: type[Any] = Result) -> set[str]:
    home = "evenhand."
    return {kind.__name__ for kind in of.__subclasses__() if kind.__module__.startswith(home)}.union(
        *(_kinds(kind) for kind in of.__subclasses__())
    )


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Any]]:
    """What rich takes for a notebook: call it to enter one; it gives back what is displayed from then on."""

    def enter() -> list[Any]:
        displayed: list[Any] = []
        shell = type("ZMQInteractiveShell", (), {})
        display = types.ModuleType("IPython.display")
        display.display = displayed.append  # type: ignore[attr-defined]
        monkeypatch.setattr(builtins, "get_ipython", shell, raising=False)
        monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        return displayed

    return enter


def test_every_kind_is_tested() -> None:
    for module in ("analyses.data", "analyses.planning.guide", "learn.experiments.result"):
        import_module(f"evenhand.{module}")
    for name in evenhand.__all__:
        getattr(evenhand, name)
    assert _kinds() == set(MAKERS)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_notebook_shows_once_what_a_terminal_shows(
    kind: str, notebook: Callable[[], list[Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = MAKERS[kind](tmp_path)
    assert type(result).__name__ == kind
    before = str(result), repr(result), result.to_markdown()
    displayed = notebook()
    from rich.console import Console

    assert Console().is_jupyter  # or nothing is tested here
    assert (str(result), repr(result), result.to_markdown()) == before
    assert len(str(result).strip()) > 20
    assert len(result._repr_html_()) > 100
    assert displayed == []
    assert capsys.readouterr() == ("", "")
