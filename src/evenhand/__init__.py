"""Evenhand tells whether a model treats groups of people alike.

The public names, and nothing else. They load on first use, so that ``import evenhand`` and
``evenhand --help`` cost no numpy.
"""

from __future__ import annotations

from evenhand.files.names import install, lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from evenhand import datasets as datasets, metrics as metrics
    from evenhand.analyses.alternatives.alternatives import Alternatives as Alternatives, alternatives as alternatives
    from evenhand.analyses.audit.audit import Audit as Audit
    from evenhand.analyses.audit.beside import SideBySide as SideBySide, side_by_side as side_by_side
    from evenhand.analyses.audit.curves import Curves as Curves, curves as curves
    from evenhand.analyses.check.check import Verdict as Verdict, check as check
    from evenhand.analyses.classes.aggregate import aggregate as aggregate
    from evenhand.analyses.classes.audit import ClassAudit as ClassAudit
    from evenhand.analyses.classes.result import Aggregate as Aggregate
    from evenhand.analyses.compare.compare import Comparison as Comparison, compare as compare
    from evenhand.analyses.counterfactual.counterfactual import (
        CounterfactualFairness as CounterfactualFairness,
        counterfactual_fairness as counterfactual_fairness,
    )
    from evenhand.analyses.data import Data as Data, data as data
    from evenhand.analyses.disclosure.disclosure import TableInfo as TableInfo, table_info as table_info
    from evenhand.analyses.entry import audit as audit
    from evenhand.analyses.individual.individual import (
        IndividualFairness as IndividualFairness,
        individual_fairness as individual_fairness,
    )
    from evenhand.analyses.models.models import CandidateAudit as CandidateAudit
    from evenhand.analyses.monitor.monitor import Watch as Watch, monitor as monitor
    from evenhand.analyses.origin import verify as verify
    from evenhand.analyses.planning.guide import Advice as Advice, guide as guide
    from evenhand.analyses.planning.power import Plan as Plan, power as power
    from evenhand.analyses.projection.projection_test import projection_test as projection_test
    from evenhand.analyses.projection.results import ProjectionTest as ProjectionTest
    from evenhand.analyses.projection.several import ProjectionTests as ProjectionTests
    from evenhand.analyses.proposal.proposal import Proposal as Proposal, propose as propose
    from evenhand.analyses.thresholds.thresholds import Thresholds as Thresholds, thresholds as thresholds
    from evenhand.analyses.unknown_groups.probable import ProbableAudit as ProbableAudit
    from evenhand.datasets.example import compas as compas
    from evenhand.errors import (
        DataError as DataError,
        EvenhandError as EvenhandError,
        MissingLibrary as MissingLibrary,
        TableFileError as TableFileError,
        UsageError as UsageError,
    )
    from evenhand.files.data_file import File as File, file as file
    from evenhand.inference.settings import Inference as Inference
    from evenhand.ingest.roles import Roles as Roles
    from evenhand.ingest.tabulation import tabulate as tabulate
    from evenhand.published.reproduce import Reproduction as Reproduction, reproduce as reproduce
    from evenhand.report.charts.chart import Chart as Chart
    from evenhand.report.cover import Cover as Cover
    from evenhand.report.document import schema as schema
    from evenhand.tables.confusion import Confusion as Confusion
    from evenhand.tables.merging import merge as merge
    from evenhand.tables.privacy import privatized as privatized
    from evenhand.tables.storage import load as load
    from evenhand.tables.suppression import suppressed as suppressed
    from evenhand.tables.table import Table as Table

__version__ = "0.1.0"

# No module is called like a public function: importing the module would replace the function.
if not TYPE_CHECKING:  # for whom an unknown name is an error
    __getattr__, __dir__, __all__ = lazy(
        __name__,
        {
            "analyses.alternatives.alternatives": "Alternatives alternatives",
            "analyses.audit.audit": "Audit",
            "analyses.audit.beside": "SideBySide side_by_side",
            "analyses.audit.curves": "Curves curves",
            "analyses.check.check": "Verdict check",
            "analyses.classes.aggregate": "aggregate",
            "analyses.classes.audit": "ClassAudit",
            "analyses.classes.result": "Aggregate",
            "analyses.compare.compare": "Comparison compare",
            "analyses.counterfactual.counterfactual": "CounterfactualFairness counterfactual_fairness",
            "analyses.data": "Data data",
            "analyses.disclosure.disclosure": "TableInfo table_info",
            "analyses.entry": "audit",
            "analyses.individual.individual": "IndividualFairness individual_fairness",
            "analyses.models.models": "CandidateAudit",
            "analyses.monitor.monitor": "Watch monitor",
            "analyses.origin": "verify",
            "analyses.planning.guide": "Advice guide",
            "analyses.planning.power": "Plan power",
            "analyses.proposal.proposal": "Proposal propose",
            "analyses.projection.projection_test": "projection_test",
            "analyses.projection.results": "ProjectionTest",
            "analyses.projection.several": "ProjectionTests",
            "analyses.unknown_groups.probable": "ProbableAudit",
            "analyses.thresholds.thresholds": "Thresholds thresholds",
            "datasets": "datasets",
            "datasets.example": "compas",
            "errors": "DataError EvenhandError MissingLibrary TableFileError UsageError",
            "files.data_file": "File file",
            "inference.settings": "Inference",
            "ingest.roles": "Roles",
            "ingest.tabulation": "tabulate",
            "metrics": "metrics",
            "published.reproduce": "Reproduction reproduce",
            "report.charts.chart": "Chart",
            "report.cover": "Cover",
            "report.document": "schema",
            "tables.confusion": "Confusion",
            "tables.merging": "merge",
            "tables.privacy": "privatized",
            "tables.storage": "load",
            "tables.suppression": "suppressed",
            "tables.table": "Table",
        },
        "__version__",
    )
install()
