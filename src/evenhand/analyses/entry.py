"""The front door of an audit: the kind of data decides the kind of result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack, overload

import numpy as np

from evenhand.analyses.audit.audit import Audit, audit_table
from evenhand.analyses.classes.aggregate import ClassArgs, class_choices
from evenhand.analyses.classes.audit import ClassAudit, audit_classes
from evenhand.analyses.models.models import CandidateAudit, audit_candidates
from evenhand.analyses.options import (
    ComparedArgs,
    MeasureArgs,
    Watched,
    checked_axes,
    chosen_measures,
    cuts_of,
    options_of,
    watching,
)
from evenhand.errors import UsageError, listed
from evenhand.files.data_file import FileArgs, with_format
from evenhand.inference.resample import generator
from evenhand.inference.settings import InferenceArgs
from evenhand.ingest.engines import library_of
from evenhand.ingest.resolve import as_counts
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked, renamed
from evenhand.ingest.tabulation import Score, Scores
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.table import Table

Thresholds = float | str | Sequence[float | str] | Mapping[str, float | str] | None
"""One threshold, or a rule; of several models one for each, in their order or by name."""


class TableArgs(InferenceArgs, MeasureArgs, ComparedArgs, total=False):
    """What an audit of scores takes, whatever the data."""


class RowsArgs(TableArgs, ColumnArgs, FileArgs, total=False):
    """The same of rows, whose columns are named."""


class AuditArgs(InferenceArgs, MeasureArgs, ClassArgs, total=False):
    """Options of intervals and tests, of scores, and of classes, for signatures."""


class _AnyArgs(AuditArgs, ColumnArgs, FileArgs, total=False):
    pass


@overload
def audit(data: Confusion, *, progress: Watched = None, **options: Unpack[AuditArgs]) -> ClassAudit: ...


@overload
def audit(data: Table, *, threshold: float | str | None = None, **options: Unpack[TableArgs]) -> Audit: ...


@overload
def audit(
    data: JointTable, *, threshold: Thresholds = None, performance: str | None = None, fairness: str | None = None,
    **options: Unpack[TableArgs],
) -> CandidateAudit: ...  # fmt: skip


@overload
def audit(
    data: Any = None, *, score: Score, threshold: float | str | None = None, **options: Unpack[RowsArgs]
) -> Audit: ...


@overload
def audit(
    data: Any = None, *, score: Scores, threshold: Thresholds = None, performance: str | None = None,
    fairness: str | None = None, **options: Unpack[RowsArgs],
) -> CandidateAudit: ...  # fmt: skip


@overload
def audit(
    data: Any = None, *, score: Any = None, threshold: Thresholds = None,
    reference: str | Mapping[str, str] | None = None, measures: Sequence[str] | None = None,
    performance: str | None = None, fairness: str | None = None, progress: Watched = None,
    **options: Unpack[_AnyArgs],
) -> Audit | ClassAudit | CandidateAudit: ...  # fmt: skip


def audit(
    data: Any = None,
    *,
    score: Any = None,
    threshold: Thresholds = None,
    reference: str | Mapping[str, str] | None = None,
    measures: Sequence[str] | None = None,
    performance: str | None = None,
    fairness: str | None = None,
    progress: Watched = None,
    **options: Unpack[_AnyArgs],
) -> Audit | ClassAudit | CandidateAudit:
    """Compare how groups fare: every measure, with intervals and a verdict.

    `data` is a `Table`, a path to a saved one, or rows with their columns, as in `evenhand.data`. Of scores or
    decisions the result is an `Audit`, of more than two classes a `ClassAudit`, of several scores a `CandidateAudit`.

    Parameters
    ----------
    threshold
        The decision is favourable at scores ≥ threshold (for a risk score, at scores < threshold). In the
        units of the data. By default 0.5 for scores in [0, 1], else the middle of the score range. Several models may
        have one each. "median" and "quantile:0.9" select whoever is strictly above that of all people (of a risk score
        below it).
    top
        Instead: select the best so many, 100 or "10%", and everybody who is tied with the last of them.
    reference
        The group all others are compared with (for several attributes, a dict by attribute); by default the largest.
        "highest" is the group that is selected most often (the largest of several): intervals of selection rates and
        all p-values then allow for that choice.
    measures
        The ids of the measures to compute; by default all. "all" among others stands for these, to add some of practice
        (see docs/measures/practice.md). A score bias of independence or separation also has
        variants, such as `equal_opportunity_uniform_w2` (see docs/measures/score-bias.md).
    performance, fairness
        Several models only (a list of names, or a dict of arrays by name; the first is the one that others are compared
        with): what the trade-off between models is about, one of accuracy, balanced_accuracy, auroc,
        average_precision, log_loss and brier, and the id of a measure.
    score and the other columns, sheet, encoding and what else is known about a file
        As in `evenhand.data` and `evenhand.file`.
    confidence, bootstrap, permutations, null, interval, stratified, rng
        Intervals and tests: see `evenhand.Inference`.
    ranks, calibration_bins, bandwidth
        Conventions of score-level measures: how tied scores are ranked ("published" or "mid"), the number of
        calibration bins, and the bandwidth of densities ("scott", "silverman", "common" to both, or a share).
    tolerance
        How large a gap may be, by the ids of measures: {"abcc": 0.05, "disparate_impact": 0.9}; of a ratio, how small.
        Others keep their defaults, which docs/measures has.
    exclude_below
        Groups with a smaller share of the people ("2%" or 0.02) are shown with their numbers and rates, not compared.
    metric, unit, across_groups, across_classes, average, empty
        Multi-class only: what is compared and how it becomes one number, as in `evenhand.aggregate`.

    Examples
    --------
    >>> import evenhand
    >>> a = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    >>> gap = a.measure("equal_opportunity")
    >>> round(gap.signed, 3), [round(bound, 3) for bound in gap.ci], gap.passes
    (-0.214, [-0.245, -0.182], False)
    """
    said: dict[str, Any] = dict(options)
    said["average"] = renamed(said, "baseline", "average", said.get("average"))
    check_known(said, _AnyArgs.__optional_keys__, audit)
    data = with_format(data, said)
    several = isinstance(threshold, list | tuple | np.ndarray | Mapping)
    settings = options_of(said, None if several else threshold)
    chosen = chosen_measures(measures)
    of_classes = {word: said[word] for word in ClassArgs.__annotations__ if said.get(word) is not None}
    choices = class_choices(**of_classes)  # known to make sense before the data are read
    if performance is not None or fairness is not None:
        checked_axes(performance, fairness)
    with watching(progress) as told:
        table = as_counts(data, picked(Roles, {**said, "score": score}), cuts_of(settings))
        rng, library = said.get("rng"), library_of(data)
        if isinstance(table, JointTable):
            if of_classes:
                raise UsageError(f"leave out {listed(of_classes)}: for classes, not for scores")
            axes = checked_axes(performance, fairness, table.index.label is not None)
            return audit_candidates(table, settings, threshold, axes, chosen, reference, rng, told, library)
        if several or performance is not None or fairness is not None:
            what = "several thresholds" if several else "performance and fairness"
            raise UsageError(f"{what} are for several models: name two or more scores (--score a,b)")
        if isinstance(table, Confusion):
            others = {"threshold": threshold, "reference": reference, "measures": measures, **said}
            return audit_classes(table, settings, choices, others, generator(rng), told, library)
        if of_classes:
            raise UsageError(
                f"leave out {listed(of_classes)}: for labels and predictions of more than two classes only, as in "
                "evenhand.aggregate (evenhand aggregate)"
            )
        return audit_table(table, settings, chosen, reference, generator(rng), told, library)
