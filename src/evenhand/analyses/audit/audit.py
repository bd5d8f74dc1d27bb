"""Table → Audit: run the registry over every grouping and attach uncertainty."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.audit.attribute import (
    MANY_GROUPS,
    MANY_SCORED,
    MOST_PAIRS,
    STREAMS,
    AttributeAudit,
    audit_attribute,
)
from evenhand.analyses.audit.evidence import adjusted
from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.audit.unreliable import BECAUSE, lost, nothing, restored, settled, without
from evenhand.analyses.classes.audit import ClassAudit, audit_classes, checked_choices
from evenhand.analyses.options import (
    Options,
    Progress,
    checked,
    checked_axes,
    chosen_measures,
    least_resamples,
    with_threshold,
)
from evenhand.analyses.reference import reference_group
from evenhand.errors import DataError, TableFileError, UsageError, listed, nearest, shown
from evenhand.inference.resample import generator
from evenhand.ingest.columns import UNSAID, WeightKind
from evenhand.ingest.confusion_counts import wordless
from evenhand.ingest.score_cells import Cuts
from evenhand.ingest.tabulation import is_several, library_of, tabulate, tabulate_together
from evenhand.measures.rates import share
from evenhand.measures.registry import BINS, Measure
from evenhand.report.result import Result, kept
from evenhand.tables.confusion import Confusion
from evenhand.tables.joint import JointTable
from evenhand.tables.scores import CELLS
from evenhand.tables.table import Counts, Grouping, Table, far_off, shown_name

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.analyses.models.models import CandidateAudit
    from evenhand.report.charts.chart import Chart

MOST_PRODUCTS = 10_000
FEW_CUTOFFS = 50
"""So many thresholds are listed where others are impossible."""


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit found. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    table: Table
    options: Options
    attributes: tuple[AttributeAudit, ...]
    notes: tuple[str, ...]
    library: str | None = None
    """The dataframe library of the data, for `to_frame`."""

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values, in the form that docs/reference/json.md describes."""
        from evenhand.analyses.audit.document import document

        return document(self)

    def _repr_html_(self) -> str:
        from evenhand.report.page.shell import framed

        return framed(self.to_html())

    def to_frame(self, library: str | None = None) -> Any:
        """All comparisons as a dataframe, one row each, in the library of the data (or the one named)."""
        from evenhand.report.frame import frame

        return frame(self, library)

    def to_html(self, path: str | Path | None = None, *, also: Any = ()) -> str:
        """The audit as one self-contained page, also written to a file if a path is given.

        `also` are results of individual or counterfactual fairness, or their documents: the page gets their sections.
        """
        from evenhand.analyses.audit.page import audit_page

        return kept(audit_page(self, also), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The audit as Markdown, for a pull request or a model card, also written to a file if a path is given."""
        from evenhand.analyses.audit.markdown import audit_markdown

        return kept(audit_markdown(self.to_dict()), path)

    def plot(
        self, name: str, *, attribute: str | None = None, group: str | None = None, measure: str | None = None
    ) -> Chart:
        """A chart, to be shown in a notebook or saved; `plots()` tells which there are.

        By default of the first attribute, comparing with its reference the group that is furthest from it. `measure` is
        for the chart "null", the distribution behind a p-value. See docs/reference/charts.md.

        >>> import evenhand
        >>> chart = evenhand.audit(evenhand.compas()).plot("null", measure="equal_opportunity")
        >>> chart.title
        'What chance alone shows: equal opportunity'
        """
        from evenhand.analyses.audit.charts import plot

        return plot(self, name, attribute, group, measure)

    def plots(self, attribute: str | None = None, group: str | None = None) -> tuple[str, ...]:
        """The names of the charts that `plot` can draw of these data, with the same words.

        >>> import evenhand
        >>> decisions = {"d": [1, 0, 1, 1], "sex": ["f", "f", "m", "m"]}
        >>> evenhand.audit(decisions, prediction="d", group="sex").plots()
        ('forest', 'groups', 'null')
        """
        from evenhand.analyses.audit.charts import available

        return available(self, attribute, group)

    def measure(self, id: str, group: str | None = None, attribute: str | None = None) -> Gap:
        """One comparison.

        >>> import evenhand
        >>> round(evenhand.audit(evenhand.compas()).measure("demographic_parity").value, 3)
        0.24
        """
        found = [
            gap
            for a in self.attributes
            if attribute in (None, a.name)
            for gap in a.measures
            if gap.id == id and group in (None, gap.group)
        ]
        if not found:
            attributes = [a for a in self.attributes if attribute in (None, a.name)]
            there = {
                "attribute": (attribute, [a.name for a in self.attributes]),
                "measure": (id, list(dict.fromkeys(g.id for a in attributes for g in a.measures))),
                "group": (group, list(dict.fromkeys(g.group for a in attributes for g in a.measures))),
            }
            for what, (wanted, present) in there.items():
                if wanted is not None and wanted not in present:
                    close = nearest(str(wanted), present)
                    raise UsageError(f"this audit has no {what} {shown(wanted)} (it has: {listed(present)}){close}")
        return found[0]

    def __rich__(self) -> Any:
        from evenhand.analyses.audit.text import render

        return render(self.to_dict())


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
        None if several else threshold, confidence, bootstrap, rng, ranks, calibration_bins, bandwidth, permutations,
        null, interval, stratified,
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


def cuts_of(options: Options) -> Cuts:
    """Where scores must be told apart exactly for these options."""
    thresholds = () if options.threshold is None else (options.threshold,)
    return Cuts(thresholds, (BINS, options.scores.calibration_bins))


def audit_table(
    table: Table,
    options: Options,
    chosen: list[Measure] | Mapping[str, list[Measure]],
    reference: Any,
    random: np.random.Generator,
    progress: Progress | None = None,
    library: str | None = None,
) -> Audit:
    """Every measure of one table of scores or decisions; by attribute, those that are named for it only."""
    if options.null == "published" and options.permutations and not table.exchangeable:
        what = "clusters" if table.clustered else "sampling weights" if table.noise is None else "private counts"
        raise UsageError(f"null='published' exchanges rows, which {what} do not allow: leave it out")
    options, notes = with_threshold(options, table)
    attributes, compared = [], 0
    groupings, remarks = comparable(table)
    notes += remarks
    for i, grouping in enumerate(groupings):
        measures = chosen.get(grouping.name) if isinstance(chosen, Mapping) else chosen
        if measures is None:
            random.spawn(STREAMS)  # so that the others have the intervals they have in a whole audit
            continue
        what = f"comparing the groups of {shown_name(grouping.name)}"

        def tell(done: float, i: int = i, what: str = what) -> None:
            if progress:
                progress((i + done) / len(groupings), what)

        tell(0.0)
        unfit = lost(table, grouping)
        drowned = [grouping.groups[g] for g, because in unfit.items() if because == BECAUSE]
        if drowned:
            few = f"too few people for the noise of the private table, by {shown(grouping.name)}: {listed(drowned)}"
            notes.append(few)
        if unfit and len(grouping.groups) - len(unfit) < 2:
            random.spawn(STREAMS)
            attributes.append(nothing(table, grouping, reference_group(table, grouping, reference)[0], unfit, measures))
            continue
        some, own = without(table, grouping, [*unfit]) if unfit else (table, grouping)
        ref, remarks = reference_group(some, own, reference)
        notes += remarks
        found = audit_attribute(some, own, ref, measures, options, random, tell)
        compared += 1
        if table.noise is not None:
            found = settled(found, some, own, options.threshold, measures)
        attributes.append(restored(found, table, grouping, unfit, measures) if unfit else found)
    if attributes and not compared:
        raise DataError(
            "of no group column are two groups larger than the noise of the private table: share it with a larger ε, "
            "or with fewer score cells (--cells)"
        )
    measured = adjusted([a.measures for a in attributes])
    attributes = [replace(a, measures=gaps) for a, gaps in zip(attributes, measured, strict=True)]
    notes += _remarks(table, options, attributes)
    return Audit(table, options, tuple(attributes), (*table.notes, *notes), library)


def comparable(table: Table) -> tuple[list[Grouping], list[str]]:
    """What is compared: everything, but not a product of so many columns that nearly everybody is a group."""
    *single, last = table.groupings
    if not single or len(last.groups) <= MOST_PRODUCTS:
        return [*single, last], []
    remark = f"{shown(last.name)} has {len(last.groups):,} groups, too many to compare: name fewer group columns"
    return single, [remark]


def as_table(data: Any, words: Mapping[str, Any], cuts: Cuts = Cuts()) -> Table:  # noqa: B008 (immutable)
    """The table of scores or decisions given, saved, or counted from data with these words."""
    table = as_counts(data, words, cuts)
    if isinstance(table, JointTable):
        raise UsageError(f"this is about one score, not several ({listed(table.names)}): name one")
    if isinstance(table, Confusion):
        raise UsageError(
            f"this needs a label of two values, but {shown(table.meaning.label)} and {shown(table.meaning.prediction)} "
            f"have {len(table.classes)} classes ({listed(table.classes, 5)}): take one of them with "
            "Confusion.of_class(name), or audit all of them (evenhand audit)"
        )
    return table


def as_counts(data: Any, words: Mapping[str, Any], cuts: Cuts = Cuts()) -> Table | Confusion | JointTable:  # noqa: B008
    """The table given, saved, or counted from data with these words, exact at the cuts."""
    from evenhand.files.paths import as_path, is_file
    from evenhand.tables.storage import is_table_file, load

    table: Table | Confusion | JointTable
    if isinstance(data, Table | Confusion | JointTable):
        table = data
    elif isinstance(data, str | os.PathLike) and is_table_file(data):
        table = load(data)
    elif (counts := wordless(data, words)) is not None:
        return tabulate(data, **counts)
    elif words.get("group") is not None:
        score: Any = words.get("score")
        if not is_several(score, data):
            return tabulate(data, **words, cuts=cuts)
        if len(score) == 1 and not isinstance(score, Mapping):
            return tabulate(data, **{**words, "score": score[0]}, cuts=cuts)
        return tabulate_together(data, **words)
    elif isinstance(data, str | os.PathLike) and not words and is_file(as_path(data)):
        try:
            table = load(data)  # it fails, and says why
        except TableFileError as error:
            raise TableFileError(f"{error}; if it holds rows, name at least one group column (--group)") from error
    else:
        raise UsageError("name at least one group column (--group)")
    if words:
        raise UsageError(
            f"a table knows its columns already: leave out {listed(words)}, or audit the data it was made from"
        )
    return table


def too_small_note(attribute: str, groups: Sequence[str]) -> str:
    """Which groups nothing can be concluded about."""
    return f"too small to conclude anything, by {shown(attribute)}: {listed(groups)}"


def _about_ranks(a: AttributeAudit) -> str:
    worst = min(a.calibration_resolution, 1.0)
    return f", calibration bias by rank within {worst:.1g}" if worst > a.resolution else ""


def _remarks(table: Table, options: Options, attributes: list[AttributeAudit]) -> list[str]:
    """What a careful colleague would point out."""
    notes = []
    if table.score is not None and table.extremes[0] == table.extremes[1]:
        notes.append(f"the score is constant ({table.extremes[0]:.12g}): it cannot tell anyone apart")
    least = least_resamples(options.confidence)
    if 0 < options.bootstrap < least:
        notes.append(
            f"{options.bootstrap} resamples are too few to know an interval at {100 * options.confidence:g}%: those "
            f"that rest on them are as wide as can be, or missing; take at least {least}"
        )
    selected = table.selected(options.threshold)
    if selected.all() or not selected.any():
        notes.append(
            f"{'everyone' if selected.all() else 'nobody'} receives the favourable decision"
            + ("" if options.threshold is None else f" at the threshold {options.threshold:.12g}")
            + ": gaps between rates of a constant decision say nothing"
        )
    elif table.label is not None:
        overall = np.array([[table.mass[(selected == d) & (table.label == y)].sum() for y in (0, 1)] for d in (0, 1)])
        pooled = Counts(overall[:, None, :], ("everyone",))
        tpr, fpr = float(share(pooled, "tpr")[0]), float(share(pooled, "fpr")[0])
        if tpr < fpr:
            notes.append(
                f"people with the unfavourable label receive the favourable decision more often ({fpr:.3f}) than those "
                f"with the favourable one ({tpr:.3f}): check which value is favourable, and if this is a risk score"
            )
    tested = [g for a in attributes for g in a.measures if g.null is not None]
    drawn = any(g.null.chance is None and "exact" not in g.null.method for g in tested if g.null is not None)
    if drawn and len(tested) / (1 + options.permutations) > 1 - options.confidence:
        enough = int(np.ceil(len(tested) / (1 - options.confidence) / 1000) * 1000)
        notes.append(
            f"with {options.permutations:,} permutations and {len(tested):,} comparisons, adjusted p-values of whole "
            f"scores may not get below {1 - options.confidence:.2g}: take {enough:,} permutations, or fewer measures"
        )
    for a in attributes:
        if a.too_small:
            notes.append(too_small_note(a.name, a.too_small))
            sizes = {g.name: g.n for g in a.groups}
            if any(sizes[group] > sizes[a.reference] for group in a.too_small):
                few = f"only {sizes[a.reference]:,} people of {shown(a.reference)}"
                notes.append(
                    f"the reference of {shown(a.name)} is itself small, {few}: choose a larger one (--reference)"
                )
        many = f"{shown(a.name)} has {len(a.groups):,} groups"
        if len(a.groups) > MANY_GROUPS:
            notes.append(f"{many}: most bootstrap intervals were left out")
        elif table.score is not None and len(a.groups) > MANY_SCORED:
            notes.append(f"{many}: measures of whole scores were not resampled, so they have no intervals")
        if a.resolution and table.spans is not None:
            notes.append(
                f"scores of {shown(a.name)} are known in ranges: score and ROC biases are within "
                f"{min(a.resolution, 1.0):.1g} of their exact values{_about_ranks(a)}"
                f"{'' if table.noise is None else ', because of the ranges alone: noise comes on top'}"
            )
        elif a.resolution:
            notes.append(
                f"{shown(a.name)} has so many distinct scores that measures of whole scores were computed on {CELLS:,} "
                f"cells: score, calibration and ROC biases are within {a.resolution:.1g} of their exact values"
            )
        if table.score is not None and len(a.groups) * (len(a.groups) - 1) // 2 > MOST_PAIRS:
            notes.append(f"{many}, too many pairs: whole scores were compared with the reference only")
    if (doubt := far_off(table)) is not None:
        notes.append(doubt)
    if table.spans is not None and len(table.cutoffs) <= FEW_CUTOFFS:
        notes.append(f"the score can be cut at {', '.join(f'{c:.12g}' for c in table.cutoffs)} only")
    gone = {
        f"{g} of {a}" for a, tally in table.left_out_groups.items() for g in tally
        if g not in next((x.groups for x in table.attributes if x.name == a), g) and g
    }  # fmt: skip
    if gone:
        notes.append(f"every row of these groups was left out: {listed(sorted(gone))}")
    return notes
