"""Evenhand tells whether a model treats groups of people alike.

The public names, and nothing else. They load on first use, so that ``import evenhand`` and
``evenhand --help`` cost no numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand import datasets, metrics
    from evenhand.advice import Advice, guide
    from evenhand.aggregation import Aggregate, aggregate
    from evenhand.auditing import Audit, audit
    from evenhand.candidates import CandidateAudit
    from evenhand.charts.chart import Chart
    from evenhand.classaudit import ClassAudit
    from evenhand.comparison import Comparison, compare
    from evenhand.confusion import Confusion
    from evenhand.cutoffs import Thresholds, thresholds
    from evenhand.disclosure import TableInfo, table_info
    from evenhand.errors import DataError, EvenhandError, MissingLibrary, TableFileError, UsageError
    from evenhand.examples import compas
    from evenhand.gate.judging import Verdict, check
    from evenhand.ingest import tabulate
    from evenhand.pairs.counterfactual import CounterfactualFairness, counterfactual_fairness
    from evenhand.pairs.individual import IndividualFairness, individual_fairness
    from evenhand.planning import Plan, power
    from evenhand.privacy import privatized
    from evenhand.projection import ProjectionTest, projection_test
    from evenhand.shapes import Curves, curves
    from evenhand.storage import load
    from evenhand.suppression import suppressed
    from evenhand.table import Table
    from evenhand.watch.watching import Watch, monitor

__version__ = "0.1.0"

# No module is called like a public function: importing the module would replace the function.
_HOME = {
    "Advice": "advice",
    "Aggregate": "aggregation",
    "Audit": "auditing",
    "CandidateAudit": "candidates",
    "Chart": "charts.chart",
    "ClassAudit": "classaudit",
    "Confusion": "confusion",
    "Comparison": "comparison",
    "CounterfactualFairness": "pairs.counterfactual",
    "Curves": "shapes",
    "DataError": "errors",
    "EvenhandError": "errors",
    "IndividualFairness": "pairs.individual",
    "MissingLibrary": "errors",
    "Plan": "planning",
    "ProjectionTest": "projection",
    "Table": "table",
    "TableFileError": "errors",
    "TableInfo": "disclosure",
    "Thresholds": "cutoffs",
    "UsageError": "errors",
    "Verdict": "gate.judging",
    "Watch": "watch.watching",
    "aggregate": "aggregation",
    "audit": "auditing",
    "check": "gate.judging",
    "compare": "comparison",
    "compas": "examples",
    "counterfactual_fairness": "pairs.counterfactual",
    "curves": "shapes",
    "guide": "advice",
    "individual_fairness": "pairs.individual",
    "load": "storage",
    "monitor": "watch.watching",
    "power": "planning",
    "privatized": "privacy",
    "projection_test": "projection",
    "suppressed": "suppression",
    "table_info": "disclosure",
    "tabulate": "ingest",
    "thresholds": "cutoffs",
}

__all__ = [
    "Advice",
    "Aggregate",
    "Audit",
    "CandidateAudit",
    "Chart",
    "ClassAudit",
    "Comparison",
    "Confusion",
    "CounterfactualFairness",
    "Curves",
    "DataError",
    "EvenhandError",
    "IndividualFairness",
    "MissingLibrary",
    "Plan",
    "ProjectionTest",
    "Table",
    "TableFileError",
    "TableInfo",
    "Thresholds",
    "UsageError",
    "Verdict",
    "Watch",
    "__version__",
    "aggregate",
    "audit",
    "check",
    "compare",
    "compas",
    "counterfactual_fairness",
    "curves",
    "datasets",
    "guide",
    "individual_fairness",
    "load",
    "metrics",
    "monitor",
    "power",
    "privatized",
    "projection_test",
    "suppressed",
    "table_info",
    "tabulate",
    "thresholds",
]


def __getattr__(name: str) -> object:
    if name in ("datasets", "metrics"):
        return import_module(f"evenhand.{name}")
    if name in _HOME:
        return getattr(import_module(f"evenhand.{_HOME[name]}"), name)
    raise AttributeError(f"module 'evenhand' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
