"""Evenhand tells whether a model treats groups of people alike.

The public names, and nothing else. They load on first use, so that ``import evenhand`` and
``evenhand --help`` cost no numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand import datasets, metrics
    from evenhand.analyses.audit.audit import Audit
    from evenhand.analyses.audit.curves import Curves, curves
    from evenhand.analyses.check.check import Verdict, check
    from evenhand.analyses.classes.aggregate import Aggregate, aggregate
    from evenhand.analyses.classes.audit import ClassAudit
    from evenhand.analyses.compare.compare import Comparison, compare
    from evenhand.analyses.counterfactual.counterfactual import CounterfactualFairness, counterfactual_fairness
    from evenhand.analyses.disclosure.disclosure import TableInfo, table_info
    from evenhand.analyses.entry import audit
    from evenhand.analyses.individual.individual import IndividualFairness, individual_fairness
    from evenhand.analyses.models.models import CandidateAudit
    from evenhand.analyses.monitor.monitor import Watch, monitor
    from evenhand.analyses.planning.guide import Advice, guide
    from evenhand.analyses.planning.power import Plan, power
    from evenhand.analyses.projection.projection_test import projection_test
    from evenhand.analyses.projection.results import ProjectionTest
    from evenhand.analyses.thresholds.thresholds import Thresholds, thresholds
    from evenhand.datasets.example import compas
    from evenhand.errors import DataError, EvenhandError, MissingLibrary, TableFileError, UsageError
    from evenhand.ingest.tabulation import tabulate
    from evenhand.report.charts.chart import Chart
    from evenhand.report.document import schema
    from evenhand.tables.confusion import Confusion
    from evenhand.tables.privacy import privatized
    from evenhand.tables.storage import load
    from evenhand.tables.suppression import suppressed
    from evenhand.tables.table import Table

__version__ = "0.1.0"

# No module is called like a public function: importing the module would replace the function.
_HOME = {
    "Advice": "analyses.planning.guide",
    "Aggregate": "analyses.classes.aggregate",
    "Audit": "analyses.audit.audit",
    "CandidateAudit": "analyses.models.models",
    "Chart": "report.charts.chart",
    "ClassAudit": "analyses.classes.audit",
    "Confusion": "tables.confusion",
    "Comparison": "analyses.compare.compare",
    "CounterfactualFairness": "analyses.counterfactual.counterfactual",
    "Curves": "analyses.audit.curves",
    "DataError": "errors",
    "EvenhandError": "errors",
    "IndividualFairness": "analyses.individual.individual",
    "MissingLibrary": "errors",
    "Plan": "analyses.planning.power",
    "ProjectionTest": "analyses.projection.results",
    "Table": "tables.table",
    "TableFileError": "errors",
    "TableInfo": "analyses.disclosure.disclosure",
    "Thresholds": "analyses.thresholds.thresholds",
    "UsageError": "errors",
    "Verdict": "analyses.check.check",
    "Watch": "analyses.monitor.monitor",
    "aggregate": "analyses.classes.aggregate",
    "audit": "analyses.entry",
    "check": "analyses.check.check",
    "compare": "analyses.compare.compare",
    "compas": "datasets.example",
    "counterfactual_fairness": "analyses.counterfactual.counterfactual",
    "curves": "analyses.audit.curves",
    "guide": "analyses.planning.guide",
    "individual_fairness": "analyses.individual.individual",
    "load": "tables.storage",
    "monitor": "analyses.monitor.monitor",
    "power": "analyses.planning.power",
    "privatized": "tables.privacy",
    "schema": "report.document",
    "projection_test": "analyses.projection.projection_test",
    "suppressed": "tables.suppression",
    "table_info": "analyses.disclosure.disclosure",
    "tabulate": "ingest.tabulation",
    "thresholds": "analyses.thresholds.thresholds",
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
    "schema",
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
