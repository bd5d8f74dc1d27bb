"""Table → Audit: run the registry over every grouping and attach uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.audit.attribute import STREAMS, AttributeAudit, audit_attribute
from evenhand.analyses.audit.evidence import adjusted, too_small
from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.audit.key_measures import key_measures
from evenhand.analyses.audit.strata.compared import Within, compared_within, refuse_empty, refuse_unfit
from evenhand.analyses.audit.unknown_bounds import with_unknown
from evenhand.analyses.audit.unreliable import BECAUSE, excluded, lost, nothing, restored, settled, without
from evenhand.analyses.audit.warnings import caveats, stray_tolerances, warnings
from evenhand.analyses.options import Options, Progress, tolerating, with_threshold
from evenhand.analyses.profiles.use import Use
from evenhand.analyses.reference import HIGHEST, Pinned, Reference, comparable, reference_group
from evenhand.errors import DataError, UsageError, listed, same, shown, shown_name, truth, unknown
from evenhand.ingest.strata import compared_names
from evenhand.measures.registry import Measure
from evenhand.report.result import Result, write
from evenhand.tables.groups import Grouping
from evenhand.tables.marginal import by_attributes
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.charts.chart import Chart
    from evenhand.report.cover import Cover


NOISE_ALONE = (
    "of no group column are two groups larger than the noise of the private table: share it with a larger ε, or with "
    "fewer score cells (--cells)"
)
ALL_EXCLUDED = (
    "of no group column do two groups have {:g}% of the people each, so all would be excluded: take a lower "
    "exclude_below (--exclude-below)"
)
WITHHELD_EVERYWHERE = (
    "of no group column, and of no intersection that is compared, do two groups have all of their people, since some "
    "were withheld when the table was suppressed: compare the groups of all columns together (a larger depth, or none)"
)


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What an audit found. Print it, or take `to_dict`, `to_json`, `to_frame`."""

    drawn_by = "evenhand.analyses.audit.charts"

    table: Table
    options: Options
    attributes: tuple[AttributeAudit, ...]
    caveats: tuple[str, ...]
    """Notes that change how the verdict is read."""
    notes: tuple[str, ...]
    """These, and what else there is to know."""
    library: str | None = None
    """The dataframe library of the data, for `to_frame`."""
    cover: Cover | None = None
    """What the report is signed with."""
    reading: tuple[str, ...] = ()
    """What was said of the rows that the table does not know, as words of a command."""
    profile: Use | None = None
    """The rule whose tables it shows."""

    def _repr_html_(self) -> str:
        from evenhand.analyses.audit.page import glance
        from evenhand.report.page.shell import framed

        return framed(glance(self.to_dict()))

    def to_frame(self, library: str | None = None) -> Any:
        """All comparisons as a dataframe, one row each, in the library of the data (or the one named)."""
        from evenhand.analyses.audit.document import frame

        return frame(self, library)

    def summary(self, *, full: bool = False) -> str:
        """What `print` shows: the verdict, the groups and the key measures; a full one has every measure.

        >>> import evenhand
        >>> short = evenhand.compas().audit(threshold=5, bootstrap=0, permutations=0).summary()
        >>> "UNEQUAL. 41% of African-American and 65% of Caucasian" in short
        True
        """
        from evenhand.analyses.audit.text import render
        from evenhand.report.console import Harmless, as_text

        return as_text(Harmless(render(self.to_dict(), "full" if truth("full", full) else "key")))

    def with_cover(self, cover: Cover) -> Audit:
        """The same audit with a cover, which JSON, page, Markdown and Word document show.

        >>> import evenhand
        >>> audit = evenhand.compas().audit(threshold=5, bootstrap=0, permutations=0)
        >>> signed = audit.with_cover(evenhand.Cover(title="Recidivism scores", author="Ada King"))
        >>> signed.to_markdown().splitlines()[0]
        '## Recidivism scores'
        """
        from evenhand.report.cover import Cover

        if not isinstance(cover, Cover):
            raise UsageError(f"a cover is an evenhand.Cover, not {shown(cover)}")
        return replace(self, cover=cover)

    def to_html(self, path: str | Path | None = None, *, also: Any = (), embed: str = "coarse") -> str:
        """The audit as one self-contained page, also written to a file if a path is given.

        `also` are results of individual or counterfactual fairness, or their documents: the page gets their sections.
        The threshold explorer and the charts know scores in steps of at least five people of each group and outcome;
        with `embed="exact"` they know every score, with "none" there is no explorer.

        >>> import evenhand
        >>> page = evenhand.audit(evenhand.compas(), bootstrap=0, permutations=0).to_html(embed="none")
        >>> "Try another threshold" in page
        False
        """
        from evenhand.analyses.audit.page import audit_page, drawings

        return write(audit_page(self.to_dict(), drawings(self), self.table, also, embed), path)

    def to_markdown(self, path: str | Path | None = None) -> str:
        """The audit as Markdown, for a pull request or a model card, also written to a file if a path is given."""
        from evenhand.analyses.audit.markdown import audit_markdown

        return write(audit_markdown(self.to_dict()), path)

    def to_latex(self, path: str | Path | None = None, *, booktabs: bool = False) -> str:
        r"""Groups and key measures as tables in LaTeX, also written to a file if a path is given.

        They need no package; with `booktabs=True` they have the rules of that one.

        >>> import evenhand
        >>> audit = evenhand.audit(evenhand.compas(), threshold=5, reference="Caucasian", permutations=0)
        >>> print(audit.to_latex(booktabs=True).splitlines()[6])
        African-American & 3,696 & 41.2\% & 0.63 & 55.2\% & 28.0\% \\
        """
        from evenhand.analyses.audit.latex import audit_latex

        return write(audit_latex(self.to_dict(), truth("booktabs", booktabs)), path)

    def to_docx(self, path: str | Path | None = None) -> bytes:
        """The audit as a Word document, also written to a file if a path is given. Needs `evenhand[word]`."""
        from evenhand.analyses.audit.word import audit_word

        return write(audit_word(self), path)

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
        """The names of the charts that `plot` can draw of these data, with the same arguments.

        >>> import evenhand
        >>> decisions = {"d": [1, 0, 1, 1], "sex": ["f", "f", "m", "m"]}
        >>> evenhand.audit(decisions, prediction="d", group="sex").plots()
        ('forest', 'groups', 'null')
        """
        return self.charts(attribute=attribute, group=group).names()

    def measure(self, id: str, group: str | None = None, attribute: str | None = None) -> Gap:
        """One comparison: a `RateGap` or a `ScoreGap`, whose own columns `to_frame` has for all measures.

        >>> import evenhand
        >>> round(evenhand.audit(evenhand.compas()).measure("demographic_parity").value, 3)
        0.24
        """
        attributes = [a for a in self.attributes if attribute is None or same(attribute, a.name)]
        gaps = [gap for a in attributes for gap in a.measures]
        matching = [gap for gap in gaps if same(id, gap.id) and (group is None or same(group, gap.group))]
        if matching:
            return matching[0]
        for what, wanted, there in (
            ("attribute", attribute, [a.name for a in self.attributes]),
            ("measure", id, [gap.id for gap in gaps]),
        ):
            if wanted is not None and not any(same(wanted, one) for one in there):
                raise unknown(f"this audit has no {what}", wanted, there)
        raise unknown("this audit has no group", group, [gap.group for gap in gaps])


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
        raise UsageError(f"null='published' permutes group labels, which {what} do not allow: leave it out")
    whole = table
    if options.within:
        refuse_unfit(table)
        table = by_attributes(table, compared_names(table, options.within))
    options, first = with_threshold(options, table)
    groupings, remarks = comparable(table)
    first += remarks
    attributes, compared = [], 0
    for i, grouping in enumerate(groupings):
        measures = chosen.get(grouping.name) if isinstance(chosen, Mapping) else chosen
        if measures is None:
            random.spawn(STREAMS)  # so that the others have the intervals they have in a whole audit
            continue
        measures = tolerating(measures, options.tolerance)
        what = f"comparing the groups of {shown_name(grouping.name)}"

        def tell(done: float, i: int = i, what: str = what) -> None:
            if progress:
                progress((i + done) / len(groupings), what)

        tell(0.0)
        unfit = lost(table, grouping)
        shown_only = {g: why for g, why in _excluded(table, grouping, options, reference).items() if g not in unfit}
        unfit |= shown_only
        compared += len(grouping.groups) - len(unfit) >= 2 or not unfit
        attribute, remarks = _audited(table, grouping, unfit, shown_only, reference, measures, options, random, tell)
        attributes.append(attribute)
        first += remarks
    if attributes and not compared and options.exclude_below:
        raise UsageError(ALL_EXCLUDED.format(100 * options.exclude_below))
    if attributes and not compared and not options.within:
        raise DataError(NOISE_ALONE if table.noise is not None else WITHHELD_EVERYWHERE)
    held = table.score is not None, table.label is not None
    key = [key_measures([g.measure for g in a.measures], *held) for a in attributes]
    measured = adjusted([a.measures for a in attributes], key)
    attributes = [
        replace(a, measures=g, key=ids, too_small=too_small(g, options.confidence))
        for a, g, ids in zip(attributes, measured, key, strict=True)
    ]
    if options.within:
        attributes = _within(whole, table, attributes, chosen, options, random)
    first += caveats(table, options, attributes)
    notes = [*first, *table.notes, *warnings(table, options, attributes)]
    if not isinstance(chosen, Mapping):
        notes += stray_tolerances(options.tolerance, chosen)
    return Audit(table, options, tuple(attributes), tuple(first), tuple(notes), library)


def _within(
    whole: Table,
    table: Table,
    attributes: Sequence[AttributeAudit],
    chosen: list[Measure] | Mapping[str, list[Measure]],
    options: Options,
    random: np.random.Generator,
) -> list[AttributeAudit]:
    """Every attribute compared within strata, too; the random numbers are drawn after all others."""
    found: list[Within | None] = []
    for a, rng in zip(attributes, random.spawn(len(attributes)), strict=True):
        measures = chosen[a.name] if isinstance(chosen, Mapping) else chosen
        measures = tolerating(measures, options.tolerance)
        grouping = table.grouping(a.name)
        alone = len(a.groups) - len(a.excluded) < 2
        found.append(
            None if alone else compared_within(
                whole, table, grouping, a.reference, measures, a.measures, options, rng, a.excluded, a.rule == HIGHEST
            )
        )  # fmt: skip
    refuse_empty([one for one in found if one is not None])
    return [replace(a, within=w) for a, w in zip(attributes, found, strict=True)]


def _audited(
    table: Table,
    grouping: Grouping,
    unfit: Mapping[int, str],
    shown_only: Collection[int],
    reference: Any,
    measures: list[Measure],
    options: Options,
    random: np.random.Generator,
    tell: Callable[[float], None],
) -> tuple[AttributeAudit, list[str]]:
    """One attribute, its unfit groups listed without numbers; and what is to be said about it."""
    few = [grouping.groups[g] for g, because in unfit.items() if because == BECAUSE]
    name = shown(grouping.name)
    notes = [f"too few people for the noise of the private table, by {name}: {listed(few)}"] if few else []
    if shown_only:
        what = f"{100 * options.exclude_below:g}% of the people"
        small = listed([grouping.groups[g] for g in shown_only])
        notes.append(f"below {what}, so shown and not compared, by {name}: {small}")
    if unfit and len(grouping.groups) - len(unfit) < 2:
        random.spawn(STREAMS)
        ref = reference_group(table, grouping, reference, options.threshold)
        attribute = nothing(table, grouping, ref.place, unfit, shown_only, measures, options)
        return replace(attribute, rule=ref.rule), notes
    some, own = without(table, grouping, [*unfit]) if unfit else (table, grouping)
    ref = reference_group(table, grouping, reference, options.threshold, unfit)
    _check_choice(ref, options)
    ref = ref._replace(place=own.groups.index(grouping.groups[ref.place]))
    attribute = audit_attribute(some, own, ref, measures, options, random, tell, table)
    attribute = with_unknown(attribute, some, own, options, random, bool(unfit))
    notes += _about_choice(ref, own, attribute, options)
    if table.noise is not None:
        attribute = settled(attribute, some, own, options.threshold, measures)
    return restored(
        attribute, table, grouping, unfit, shown_only, measures, options
    ) if unfit else attribute, notes + ref.remarks


def _excluded(table: Table, grouping: Grouping, options: Options, reference: Any) -> dict[int, str]:
    """The groups that are shown and not compared, and why: those that were so before, or the small ones."""
    if not isinstance(reference, Pinned):
        return excluded(table, grouping, options.exclude_below)
    names = reference.excluded.get(grouping.name, ())
    return {g: "because it was excluded" for g, name in enumerate(grouping.groups) if name in names}


def _check_choice(reference: Reference, options: Options) -> None:
    """Intervals that allow for the choice of a reference are of their own kind."""
    if reference.rule == HIGHEST and options.interval != "auto":
        raise UsageError(
            f"interval={options.interval!r} would not allow for the choice of the highest group as reference: leave it "
            "out, or name the reference"
        )


def _about_choice(reference: Reference, grouping: Grouping, audit: AttributeAudit, options: Options) -> list[str]:
    """What is to be said of a reference that was chosen as the highest."""
    if reference.rule != HIGHEST:
        return []
    others = len({gap.id for gap in audit.measures if gap.ci is not None and gap.ci_plain is None})
    text = (
        f"{shown(grouping.name)} is compared with {shown(audit.reference)}, the group that is selected most often; "
        "p-values, and intervals of selection rates, allow for that choice"
    )
    return [f"{text}, those of other measures do not" if others and len(grouping.groups) > 2 else text]
