"""Table → Audit: run the registry over every grouping and attach uncertainty."""

from __future__ import annotations

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
from evenhand.analyses.options import (
    Options,
    Progress,
    least_resamples,
    with_threshold,
)
from evenhand.analyses.reference import comparable, reference_group
from evenhand.errors import DataError, UsageError, listed, nearest, shown, shown_name
from evenhand.measures.rates import share
from evenhand.measures.registry import Measure
from evenhand.report.result import Result, kept
from evenhand.tables.dense import Counts
from evenhand.tables.scores import CELLS
from evenhand.tables.table import Table, far_off

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.charts.chart import Chart

FEW_CUTOFFS = 50
"""So many thresholds are listed where others are impossible."""


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit found. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    drawn_by = "evenhand.analyses.audit.charts"

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
        from evenhand.analyses.audit.document import frame

        return frame(self, library)

    def to_html(self, path: str | Path | None = None, *, also: Any = ()) -> str:
        """The audit as one self-contained page, also written to a file if a path is given.

        `also` are results of individual or counterfactual fairness, or their documents: the page gets their sections.
        """
        from evenhand.analyses.audit.page import audit_page, drawings

        return kept(audit_page(self.to_dict(), drawings(self), self.table, also), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The audit as Markdown, for a pull request or a model card, also written to a file if a path is given."""
        from evenhand.analyses.audit.markdown import audit_markdown

        return kept(audit_markdown(self.to_dict()), path)

    def plot(
        self,
        name: str | None = None,
        *,
        attribute: str | None = None,
        group: str | None = None,
        measure: str | None = None,
    ) -> Chart:
        """A chart, to be shown in a notebook or saved; `plots()` tells which there are.

        By default of the first attribute, comparing with its reference the group that is furthest from it. `measure` is
        for the chart "null", the distribution behind a p-value. See docs/reference/charts.md.

        >>> import evenhand
        >>> chart = evenhand.audit(evenhand.compas()).plot("null", measure="equal_opportunity")
        >>> chart.title
        'What chance alone shows: equal opportunity'
        """
        return self.charts(attribute=attribute, group=group, measure=measure).draw(name)

    def plots(self, attribute: str | None = None, group: str | None = None) -> tuple[str, ...]:
        """The names of the charts that `plot` can draw of these data, with the same words.

        >>> import evenhand
        >>> decisions = {"d": [1, 0, 1, 1], "sex": ["f", "f", "m", "m"]}
        >>> evenhand.audit(decisions, prediction="d", group="sex").plots()
        ('forest', 'groups', 'null')
        """
        return self.charts(attribute=attribute, group=group).names()

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
