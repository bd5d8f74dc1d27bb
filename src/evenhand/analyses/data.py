"""Data and the roles of their columns, said once: what questions are asked of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack, cast, overload

from evenhand.analyses.audit.audit import Audit
from evenhand.analyses.audit.curves import curves
from evenhand.analyses.check.check import check
from evenhand.analyses.classes.aggregate import aggregate
from evenhand.analyses.classes.audit import ClassAudit
from evenhand.analyses.entry import AuditArgs, Thresholds, audit
from evenhand.analyses.models.models import CandidateAudit
from evenhand.analyses.monitor.monitor import monitor
from evenhand.analyses.options import Watched
from evenhand.analyses.projection.projection_test import projection_test
from evenhand.analyses.thresholds.thresholds import thresholds
from evenhand.errors import UsageError, listed, shown
from evenhand.files.data_file import FileArgs, with_format
from evenhand.ingest.resolve import as_counts, as_table
from evenhand.ingest.roles import Roles, RolesArgs, check_known, picked
from evenhand.ingest.strata import Within
from evenhand.ingest.tabulation import RowsArgs, Score, Scores
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

P = ParamSpec("P")
Found = TypeVar("Found")
AnyTable = TypeVar("AnyTable", bound=Table | Confusion | JointTable)
AnyAudit = TypeVar("AnyAudit", bound=Audit | ClassAudit | CandidateAudit)


def _asking(
    question: Callable[Concatenate[Any, P], Found], of_table: bool = False
) -> Callable[Concatenate[Data[Any, Any], P], Found]:
    """A public function as a method of `Data`, with the same options; some take tables only."""

    @wraps(question)
    def ask(self: Data[Any, Any], /, *arguments: P.args, **options: P.kwargs) -> Found:
        if again := [word for word in options if word in RolesArgs.__optional_keys__]:
            raise UsageError(f"the data have their columns already: leave out {listed(again)}, or name them in data()")
        if question is aggregate and self.roles.score is not None:
            raise UsageError("an aggregate is about classes: name label and prediction in data(), and no score")
        if of_table:
            return question(as_table(self.data, self.roles), *arguments, **options)
        return question(self.data, *arguments, **self.roles.said(), **options)

    return ask


@dataclass(frozen=True, repr=False, eq=False)
class Data(Generic[AnyTable, AnyAudit]):
    """Data and the roles of their columns. Nothing is counted before a question is asked.

    Its methods are the public functions of the same names, without the columns.
    """

    data: Any
    roles: Roles

    def table(self, *, grid: Any = None, cuts: Any = ()) -> AnyTable:
        """People by score, group and label; by class; or by several scores. See `evenhand.tabulate`."""
        return cast(AnyTable, as_counts(self.data, self.roles, cuts, grid))

    def audit(
        self,
        *,
        threshold: Thresholds = None,
        reference: str | Mapping[str, str] | None = None,
        measures: Sequence[str] | None = None,
        performance: str | None = None,
        fairness: str | None = None,
        within: Within = None,
        progress: Watched = None,
        **options: Unpack[AuditArgs],
    ) -> AnyAudit:
        """Compare how groups fare: `evenhand.audit`."""
        how: dict[str, Any] = dict(
            threshold=threshold, reference=reference, measures=measures, performance=performance, fairness=fairness,
            within=within, progress=progress, **options,
        )  # fmt: skip
        return cast(AnyAudit, _asking(audit)(self, **how))

    aggregate = _asking(aggregate)
    check = _asking(check)
    curves = _asking(curves, of_table=True)
    monitor = _asking(monitor)
    projection_test = _asking(projection_test)
    thresholds = _asking(thresholds)

    def __repr__(self) -> str:
        roles = ", ".join(f"{role} {shown(column)}" for role, column in self.roles.said().items())
        return f"Data ({type(self.data).__name__}): {roles}"


@overload
def data(data: Table) -> Data[Table, Audit]: ...


@overload
def data(data: Confusion) -> Data[Confusion, ClassAudit]: ...


@overload
def data(data: JointTable) -> Data[JointTable, CandidateAudit]: ...


@overload
def data(data: Any = None, *, score: Score, **columns: Unpack[RowsArgs]) -> Data[Table, Audit]: ...


@overload
def data(data: Any = None, *, score: Scores, **columns: Unpack[RowsArgs]) -> Data[JointTable, CandidateAudit]: ...


@overload
def data(
    data: Any = None, *, score: None = None, **columns: Unpack[RowsArgs]
) -> Data[Table | Confusion, Audit | ClassAudit]: ...


@overload
def data(
    data: Any = None, *, score: Any, **columns: Unpack[RowsArgs]
) -> Data[Table | JointTable, Audit | CandidateAudit]: ...


def data(data: Any = None, *, score: Any = None, **columns: Unpack[RowsArgs]) -> Data[Any, Any]:
    """Say once what the data are and which column plays which role; then ask questions.

    Parameters
    ----------
    data
        A dataframe (pandas, Polars, Arrow, DuckDB, Dask, Spark, …), a dict of columns, the path of a file
        (CSV, Parquet, Arrow, JSON lines, Excel, SAS, SPSS, Stata, R), a folder or a glob; or None, with arrays for
        the columns.
    score, label, group, prediction, weight
        Names of columns, or arrays; tensors on a GPU are counted there. Several group columns (a list of names, or a
        dict of arrays) are counted jointly. Scores of several models are a list of names or a dict of arrays. At least
        a score or a prediction is needed; without labels only some measures exist.
    favorable, favorable_prediction
        The value of label and prediction that is good for the person, by default 1. Where the prediction has codes of
        its own, the value of each: favorable=1, favorable_prediction="approve", or
        favorable={"label": 1, "prediction": "approve"}.
    bands
        How numbers are put into groups: {"age": [25, 40, 60]}, or "decades", "quantiles:4" or "none" for them.
        By default numbers of more than 12 values are put into decades or quarters, with a note.
    risk
        Whether a high score is bad for the person.
    score_range
        The lowest and the highest possible score; by default [0, 1], or what is observed if scores leave it.
    missing
        "refuse" rows with a missing or infinite value, or "drop" and report them: who lacks a value of one group column
        is then counted by the others. "group" makes people without a group a group of their own.
    weight_kind
        "frequency": a row stands for that many people. "sampling": a survey weight. "auto" takes whole
        numbers for the former, and refuses them if they look like the latter.
    cluster
        A column, or an array, that tells which rows belong together, such as several rows of one person. Intervals and
        tests then take the cluster for the unit.
    where
        Count only rows with these values: {"split": "valid"}, or {"region": ["north", "south"]}.
    sheet, header_row, encoding, delimiter, decimal, thousands
        What is known about a file: see `evenhand.file`.

    Examples
    --------
    >>> import evenhand
    >>> rows = {"p": [0.1, 0.9, 0.4, 0.8, 0.3, 0.7], "repaid": [0, 1, 0, 1, 1, 0], "sex": list("ffmmfm")}
    >>> people = evenhand.data(rows, score="p", label="repaid", group="sex")
    >>> people
    Data (dict): score 'p', label 'repaid', group 'sex'
    >>> audit = people.audit(threshold=0.5, reference="m", bootstrap=0, permutations=0)
    >>> round(audit.measure("disparate_impact").value, 2)
    0.5
    >>> people.check(require="disparate_impact >= 0.8", threshold=0.5).passed
    False
    >>> people.table()
    Table: 6 rows in 6 cells; score 'p' (6 values, 0.1 to 0.9); label 'repaid' (favourable 1); sex: f 3, m 3
    """
    check_known(columns, {*RolesArgs.__optional_keys__, *FileArgs.__optional_keys__}, Roles, "data")
    said: dict[str, Any] = {**columns, "score": score}
    return Data(with_format(data, said), picked(Roles, said))
