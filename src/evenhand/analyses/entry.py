"""The front door of an audit: the kind of data decides the kind of result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from evenhand.analyses.audit.audit import Audit, audit_table
from evenhand.analyses.audit.repeated import reading_of
from evenhand.analyses.classes.aggregate import ClassArgs, class_choices
from evenhand.analyses.classes.audit import ClassAudit, audit_classes
from evenhand.analyses.models.models import CandidateAudit, audit_candidates
from evenhand.analyses.options import (
    ComparedArgs,
    MeasureArgs,
    Options,
    Watched,
    checked_axes,
    chosen_measures,
    cuts_of,
    options_of,
    watching,
)
from evenhand.analyses.profiles.use import taken
from evenhand.analyses.unknown_groups.probable import ProbableAudit, audit_probable
from evenhand.errors import UsageError, listed, shown
from evenhand.files.data_file import FileArgs, with_format
from evenhand.inference.resample import generator
from evenhand.inference.settings import InferenceArgs
from evenhand.ingest.engines import library_of
from evenhand.ingest.resolve import as_counts
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked, renamed
from evenhand.ingest.strata import Within, strata_names, with_strata
from evenhand.ingest.tabulation import Score, Scores
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.renaming import checked_names, with_names
from evenhand.tables.table import Table

MAP = "FILE"
"""Stands for the file of a map, whose path nobody knows any more."""
Thresholds = float | str | Sequence[float | str] | Mapping[str, float | str] | None
"""One threshold, or a rule; of several models one for each, in their order or by name."""


class ProfileArgs(TypedDict, total=False):
    """A rule whose tables are wanted, what it wants stated, and what groups are called."""

    profile: Any
    facts: Mapping[str, str] | None
    population: Mapping[str, Mapping[str, float]] | None
    map: Mapping[str, Mapping[Any, str]] | None


class TableArgs(InferenceArgs, MeasureArgs, ComparedArgs, ProfileArgs, total=False):
    """What an audit of scores takes, whatever the data."""


class RowsArgs(TableArgs, ColumnArgs, FileArgs, total=False):
    """The same of rows, whose columns are named."""


class AuditArgs(InferenceArgs, MeasureArgs, ClassArgs, ProfileArgs, total=False):
    """Options of intervals and tests, of scores, and of classes, for signatures."""


class _AnyArgs(AuditArgs, ColumnArgs, FileArgs, total=False):
    pass


class _EveryArgs(_AnyArgs, total=False):
    """These, and those of groups as probabilities."""

    group_probability: Sequence[str] | None
    proxy_cell: str | None


@overload
def audit(data: Confusion, *, progress: Watched = None, **options: Unpack[AuditArgs]) -> ClassAudit: ...


@overload
def audit(
    data: Any = None, *, group_probability: Sequence[str], proxy_cell: str | None = None, score: str | None = None,
    threshold: float | None = None, **options: Unpack[RowsArgs],
) -> ProbableAudit: ...  # fmt: skip


@overload
def audit(
    data: Table, *, threshold: float | str | None = None, within: Within = None, **options: Unpack[TableArgs]
) -> Audit: ...


@overload
def audit(
    data: JointTable, *, threshold: Thresholds = None, performance: str | None = None, fairness: str | None = None,
    **options: Unpack[TableArgs],
) -> CandidateAudit: ...  # fmt: skip


@overload
def audit(
    data: Any = None, *, score: Score, threshold: float | str | None = None, within: Within = None,
    **options: Unpack[RowsArgs],
) -> Audit: ...  # fmt: skip


@overload
def audit(
    data: Any = None, *, score: Scores, threshold: Thresholds = None, performance: str | None = None,
    fairness: str | None = None, **options: Unpack[RowsArgs],
) -> CandidateAudit: ...  # fmt: skip


@overload
def audit(
    data: Any = None, *, score: Any = None, threshold: Thresholds = None,
    reference: str | Mapping[str, str] | None = None, measures: Sequence[str] | None = None,
    performance: str | None = None, fairness: str | None = None, within: Within = None, progress: Watched = None,
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
    within: Within = None,
    progress: Watched = None,
    **options: Unpack[_EveryArgs],
) -> Audit | ClassAudit | CandidateAudit | ProbableAudit:
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
    within
        Compare the groups within the strata of these columns too (`within=["dept"]`), and pooled over them, as in
        docs/analyses/strata.md. Of a table they are attributes; they are not compared themselves.
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
    profile, facts, population
        A rule whose options and tables are wanted: its name ("nyc-ll144", "lending@2025-06-01") or the path of a file;
        what it wants stated beside the tables, by id; and shares of a population, by column and group. Options that are
        said here win over those of the profile. See docs/analyses/profiles.md.
    map
        What the groups of a column are called: {"race": {1: "White", 9: ""}}; "" is for people of unknown group.
    group_probability, proxy_cell
        In place of `group`: the columns with the probability of each group, which add up to 1 in every row, and
        perhaps the column of the place within which they say nothing more. The result is a `ProbableAudit` (see
        docs/analyses/unknown-groups.md).
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
    check_known(said, _EveryArgs.__optional_keys__, audit)
    data = with_format(data, said)
    profile, facts, population, names = (said.pop(word, None) for word in ProfileArgs.__annotations__)
    use = None
    if profile is not None:
        stated = {**said, "score": score, "threshold": threshold, "reference": reference, "measures": measures}
        data, use, added = taken(data, profile, facts, population, stated)
        threshold, reference, measures = (
            added.pop(word, stated[word]) for word in ("threshold", "reference", "measures")
        )
        said |= added
    elif facts is not None or population is not None:
        raise UsageError("facts and a population are stated for a profile: name one (profile=, --profile)")
    several = isinstance(threshold, list | tuple | np.ndarray | Mapping)
    settings = options_of(said, None if several else threshold)
    chosen = chosen_measures(measures)
    of_classes = {word: said[word] for word in ClassArgs.__annotations__ if said.get(word) is not None}
    choices = class_choices(**of_classes)  # known to make sense before the data are read
    settings = replace(settings, within=strata_names(within))
    if performance is not None or fairness is not None:
        checked_axes(performance, fairness)
    if (probabilities := said.pop("group_probability", None)) is not None:
        if use is not None or names is not None:
            raise UsageError("groups as probabilities have neither a profile nor a map: leave them out")
        if several:
            raise UsageError("groups as probabilities are audited at one threshold: give one")
        said |= {"score": score, "performance": performance, "fairness": fairness, "within": within, **of_classes}
        roles = _probable_roles(data, said, settings)
        with watching(progress) as told:
            return audit_probable(
                data, roles, probabilities, said.get("proxy_cell"), settings, chosen, reference,
                generator(said.get("rng")), told, _beyond(said, measures),
            )  # fmt: skip
    if said.pop("proxy_cell", None) is not None:
        raise UsageError("proxy_cell= (--proxy-cell) goes with group_probability= (--group-probability): name both")
    with watching(progress) as told:
        roles = with_strata(picked(Roles, {**said, "score": score}), within)
        table = as_counts(data, roles, cuts_of(settings))
        rng, library = said.get("rng"), library_of(data)
        if settings.within and not isinstance(table, Table):
            raise UsageError(
                "within (--within) compares groups by one score or decision: leave it out of an audit of several "
                "models or of classes"
            )
        if (use is not None or names is not None) and not isinstance(table, Table):
            raise UsageError(
                "a profile and a map (--profile, --map) are for the audit of one score or decision: leave them out of "
                "an audit of several models or of classes"
            )
        if names is not None and isinstance(table, Table):
            table = with_names(table, checked_names(names))
        if use is not None and isinstance(table, Table):
            use = use.fitted(table)
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
        found = audit_table(table, settings, chosen, reference, generator(rng), told, library)
        mapped = tuple(word for column in names or () for word in ("--map", f"{column}={MAP}"))
        return replace(found, reading=(*reading_of(roles), *mapped), profile=use)


def _probable_roles(data: Any, said: Mapping[str, Any], settings: Options) -> Roles:
    """The columns of an audit of probable groups, if nothing was said that it does not take."""
    if isinstance(data, Table | JointTable | Confusion):
        raise UsageError("a table has counted its groups already: groups as probabilities need the rows")
    if settings.cutoff is not None:
        raise UsageError(
            f"groups as probabilities are audited at a threshold that is a number, not at {settings.cutoff}: "
            "compute it and give that (--threshold 0.5)"
        )
    taken = {*ColumnArgs.__annotations__, *_BEYOND, "group_probability", "proxy_cell", "score", "rng"}
    stray = [word for word, value in said.items() if value is not None and word not in taken]
    usual = Options()
    stray = [word for word in stray if said[word] != getattr(usual, word, getattr(usual.scores, word, None))]
    if stray:
        raise UsageError(f"groups as probabilities are audited without {listed(stray)}: leave that out")
    if isinstance(said["score"], list | tuple | Mapping):
        raise UsageError(f"groups as probabilities are audited for one score, not {shown(said['score'])}: name one")
    return picked(Roles, said)


_BEYOND = ("confidence", "bootstrap", "tolerance")


def _beyond(said: Mapping[str, Any], measures: Sequence[str] | None) -> dict[str, Any]:
    """What was said that a command repeats."""
    usual = Options()
    plain = {word: said[word] for word in _BEYOND[:2] if word in said and said[word] != getattr(usual, word)}
    stated = said.get("tolerance") or {}
    return {
        **plain,
        **({} if measures is None else {"measures": ",".join(measures)}),
        **({"tolerance": [f"{id_}={value!r}" for id_, value in stated.items()]} if stated else {}),
    }
