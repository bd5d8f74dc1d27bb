"""The front door of an audit: the kind of data decides the kind of result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.audit.audit import Audit, audit_table
from evenhand.analyses.classes.audit import ClassAudit, audit_classes, checked_choices
from evenhand.analyses.options import (
    Progress,
    checked,
    checked_axes,
    chosen_measures,
    cuts_of,
)
from evenhand.errors import UsageError, listed
from evenhand.inference.resample import generator
from evenhand.ingest.columns import UNSAID, WeightKind
from evenhand.ingest.resolve import as_counts
from evenhand.ingest.tabulation import library_of
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable

if TYPE_CHECKING:
    from evenhand.analyses.models.models import CandidateAudit


def audit(
    data: Any = None,
    *,
    score: Any = None,
    label: Any = None,
    group: Any = None,
    prediction: Any = None,
    weight: Any = None,
    favorable: Any = UNSAID,
    risk: bool = False,
    score_range: tuple[float, float] | None = None,
    missing: str = "refuse",
    weight_kind: WeightKind = "auto",
    cluster: Any = None,
    threshold: float | None = None,
    reference: str | Mapping[str, str] | None = None,
    confidence: float = 0.95,
    bootstrap: int = 1000,
    rng: int | np.random.Generator | None = None,
    measures: Sequence[str] | None = None,
    ranks: str = "published",
    calibration_bins: int = 50,
    bandwidth: str | float = "scott",
    permutations: int = 1000,
    null: str = "concept",
    interval: str = "auto",
    stratified: bool = False,
    progress: Progress | None = None,
    where: Mapping[str, Any] | None = None,
    metric: str | None = None,
    unit: str | None = None,
    across_groups: Any = None,
    across_classes: Any = None,
    baseline: str | None = None,
    empty: float | None = None,
    performance: str | None = None,
    fairness: str | None = None,
) -> Audit | ClassAudit | CandidateAudit:
    """Compare how groups fare: every measure, with intervals and a verdict.

    `data` is a `Table`, a path to a saved one, or whatever `evenhand.tabulate` takes, with the same words.

    Parameters
    ----------
    threshold
        The decision is favourable at scores ≥ threshold (for a risk score, at scores < threshold). In the
        units of the data. By default 0.5 for scores in [0, 1], else the middle of the score range.
    reference
        The group all others are compared with (for several attributes, a dict by attribute); by default
        the largest.
    confidence, bootstrap, rng
        Level of the intervals, number of resamples (0 for none), and a seed or generator.
    measures
        The ids of the measures to compute; by default all. A score bias of independence or separation also has
        variants, such as `equal_opportunity_uniform_w2` (see docs/measures/score-bias.md).
    ranks, calibration_bins, bandwidth
        Conventions of measures of whole scores: how tied scores are ranked ("published" or "mid"), the number of
        calibration bins, and the bandwidth of densities ("scott", "silverman" or a share of the score range).
    permutations, null
        How many tables with exchanged groups show what chance alone would do (0 for no tests), and who exchanges:
        whom the "concept" of each measure calls alike, or everybody for every measure, as "published".
    interval, stratified
        Bootstrap intervals instead of the best known ones ("percentile", "basic", "bca"), and whether resamples keep
        the size of every group. See docs/reference/uncertainty.md.
    performance, fairness
        Of several scores (a list of names, or a dict of arrays by name; the first is the one that others are compared
        with): what the trade-off between models is about, one of accuracy, balanced_accuracy, auroc,
        average_precision, log_loss and brier, and the id of a measure. The result is then a `CandidateAudit`, and
        `threshold` may be a list, one for each score.
    metric, unit, across_groups, across_classes, baseline, empty
        Of labels and predictions with more than two classes: what is compared and how it becomes one number, as in
        `evenhand.aggregate`. The result is then a `ClassAudit`; measures of decisions and scores do not apply.

    Examples
    --------
    >>> import evenhand
    >>> a = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian")
    >>> gap = a.measure("equal_opportunity")
    >>> round(gap.signed, 3), [round(bound, 3) for bound in gap.ci], gap.passes
    (-0.214, [-0.245, -0.182], False)
    """
    words = {
        "score": score, "label": label, "group": group, "prediction": prediction, "weight": weight,
        "favorable": favorable, "risk": risk, "score_range": score_range, "missing": missing,
        "weight_kind": weight_kind, "cluster": cluster, "where": where,
    }  # fmt: skip
    defaults = {"favorable": UNSAID, "risk": False, "missing": "refuse", "weight_kind": "auto"}
    words = {k: v for k, v in words.items() if v is not defaults.get(k)}
    several = isinstance(threshold, list | tuple | np.ndarray | Mapping)
    options = checked(
        None if several else threshold, confidence, bootstrap, rng, ranks=ranks, calibration_bins=calibration_bins,
        bandwidth=bandwidth, permutations=permutations, null=null, interval=interval, stratified=stratified,
    )  # fmt: skip
    chosen = chosen_measures(measures)
    of_classes = {
        "metric": metric, "unit": unit, "across_groups": across_groups, "across_classes": across_classes,
        "baseline": baseline, "empty": empty,
    }  # fmt: skip
    of_classes = checked_choices({k: v for k, v in of_classes.items() if v is not None})
    if performance is not None or fairness is not None:
        checked_axes(performance, fairness)
    table = as_counts(data, words, cuts_of(options))
    if isinstance(table, JointTable):
        from evenhand.analyses.models.models import audit_candidates

        if of_classes:
            raise UsageError(f"{listed(of_classes)} are for classes, not for scores: leave them out")
        axes = checked_axes(performance, fairness, table.index.label is not None)
        return audit_candidates(
            table, options, threshold, axes, chosen, reference, rng, progress, library_of(data)
        )  # fmt: skip
    if several or performance is not None or fairness is not None:
        what = "several thresholds" if several else "performance and fairness"
        raise UsageError(f"{what} are for several models: name two or more scores (--score a,b)")
    if isinstance(table, Confusion):
        said = {
            "threshold": threshold, "reference": reference, "measures": measures, "ranks": ranks,
            "calibration_bins": calibration_bins, "bandwidth": bandwidth, "null": null, "interval": interval,
            "stratified": stratified,
        }  # fmt: skip
        return audit_classes(table, options, of_classes, said, generator(rng), progress, library_of(data))
    if of_classes:
        raise UsageError(
            f"{listed(of_classes)} are for labels and predictions of more than two classes: leave them out, or see "
            "evenhand.aggregate (evenhand aggregate)"
        )
    return audit_table(table, options, chosen, reference, generator(rng), progress, library_of(data))
