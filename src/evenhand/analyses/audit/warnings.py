"""What a reader of an audit should know before believing it: one small function for each warning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.analyses.audit.attribute import MANY_GROUPS, AttributeAudit
from evenhand.analyses.audit.score_pairs import MANY_SCORED, MOST_PAIRS
from evenhand.analyses.options import Options, least_resamples
from evenhand.errors import listed, shown
from evenhand.measures.rates import share
from evenhand.tables.dense import Counts
from evenhand.tables.scores import CELLS
from evenhand.tables.table import Table, far_off

FEW_CUTOFFS = 50
"""So many thresholds are listed where others are impossible."""


def warnings(table: Table, options: Options, attributes: Sequence[AttributeAudit]) -> list[str]:
    """About the table and the options, then about each attribute, then about what the table lacks."""
    found = [
        _constant_score(table), _few_resamples(options), _odd_decisions(table, options),
        _few_permutations(options, attributes),
    ]  # fmt: skip
    for a in attributes:
        found += [*_small_groups(a), _many_groups(table, a), _resolution(table, a), _many_pairs(table, a)]
    found += [far_off(table), _cutoffs(table), _groups_left_out(table)]
    return [text for text in found if text is not None]


def _constant_score(table: Table) -> str | None:
    if table.score is None or table.extremes[0] != table.extremes[1]:
        return None
    return f"the score is constant ({table.extremes[0]:.12g}): it cannot tell anyone apart"


def _few_resamples(options: Options) -> str | None:
    least = least_resamples(options.confidence)
    if not 0 < options.bootstrap < least:
        return None
    return (
        f"{options.bootstrap} resamples are too few to know an interval at {100 * options.confidence:g}%: those "
        f"that rest on them are as wide as can be, or missing; take at least {least}"
    )


def _odd_decisions(table: Table, options: Options) -> str | None:
    """Decisions that are the same for everybody, or favour the people with the unfavourable label."""
    selected = table.selected(options.threshold)
    if selected.all() or not selected.any():
        return (
            f"{'everyone' if selected.all() else 'nobody'} receives the favourable decision"
            + ("" if options.threshold is None else f" at the threshold {options.threshold:.12g}")
            + ": gaps between rates of a constant decision say nothing"
        )
    if table.label is None:
        return None
    overall = np.array([[table.mass[(selected == d) & (table.label == y)].sum() for y in (0, 1)] for d in (0, 1)])
    pooled = Counts(overall[:, None, :], ("everyone",))
    tpr, fpr = float(share(pooled, "tpr")[0]), float(share(pooled, "fpr")[0])
    if not tpr < fpr:
        return None
    return (
        f"people with the unfavourable label receive the favourable decision more often ({fpr:.3f}) than those "
        f"with the favourable one ({tpr:.3f}): check which value is favourable, and if this is a risk score"
    )


def _few_permutations(options: Options, attributes: Sequence[AttributeAudit]) -> str | None:
    nulls = [g.null for a in attributes for g in a.measures if g.null is not None]
    drawn = any(null.chance is None and "exact" not in null.method for null in nulls)
    if not drawn or len(nulls) / (1 + options.permutations) <= 1 - options.confidence:
        return None
    enough = int(np.ceil(len(nulls) / (1 - options.confidence) / 1000) * 1000)
    return (
        f"with {options.permutations:,} permutations and {len(nulls):,} comparisons, adjusted p-values of whole "
        f"scores may not get below {1 - options.confidence:.2g}: take {enough:,} permutations, or fewer measures"
    )


def _small_groups(a: AttributeAudit) -> Iterator[str]:
    if not a.too_small:
        return
    yield too_small_note(a.name, a.too_small)
    sizes = {g.name: g.n for g in a.groups}
    if any(sizes[group] > sizes[a.reference] for group in a.too_small):
        few = f"only {sizes[a.reference]:,} people of {shown(a.reference)}"
        yield f"the reference of {shown(a.name)} is itself small, {few}: choose a larger one (--reference)"


def too_small_note(attribute: str, groups: Sequence[str]) -> str:
    """Which groups nothing can be concluded about."""
    return f"too small to conclude anything, by {shown(attribute)}: {listed(groups)}"


def _many(a: AttributeAudit) -> str:
    return f"{shown(a.name)} has {len(a.groups):,} groups"


def _many_groups(table: Table, a: AttributeAudit) -> str | None:
    if len(a.groups) > MANY_GROUPS:
        return f"{_many(a)}: most bootstrap intervals were left out"
    if table.score is not None and len(a.groups) > MANY_SCORED:
        return f"{_many(a)}: measures of whole scores were not resampled, so they have no intervals"
    return None


def _resolution(table: Table, a: AttributeAudit) -> str | None:
    """How far values may be from exact ones where scores are known in ranges or cells."""
    if not a.resolution:
        return None
    if table.spans is None:
        return (
            f"{shown(a.name)} has so many distinct scores that measures of whole scores were computed on {CELLS:,} "
            f"cells: score, calibration and ROC biases are within {a.resolution:.1g} of their exact values"
        )
    worst = min(a.calibration_resolution, 1.0)
    ranks = f", calibration bias by rank within {worst:.1g}" if worst > a.resolution else ""
    return (
        f"scores of {shown(a.name)} are known in ranges: score and ROC biases are within "
        f"{min(a.resolution, 1.0):.1g} of their exact values{ranks}"
        f"{'' if table.noise is None else ', because of the ranges alone: noise comes on top'}"
    )


def _many_pairs(table: Table, a: AttributeAudit) -> str | None:
    if table.score is None or len(a.groups) * (len(a.groups) - 1) // 2 <= MOST_PAIRS:
        return None
    return f"{_many(a)}, too many pairs: whole scores were compared with the reference only"


def _cutoffs(table: Table) -> str | None:
    if table.spans is None or len(table.cutoffs) > FEW_CUTOFFS:
        return None
    return f"the score can be cut at {', '.join(f'{c:.12g}' for c in table.cutoffs)} only"


def _groups_left_out(table: Table) -> str | None:
    known = {a.name: a.groups for a in table.attributes}
    left_out = ((a, g) for a, tally in table.left_out_groups.items() for g in tally if g)
    gone = {f"{g} of {a}" for a, g in left_out if g not in known.get(a, g)}
    return f"every row of these groups was left out: {listed(sorted(gone))}" if gone else None
