"""What a reader of an audit should know before believing it: one small function for each warning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evenhand.analyses.audit.attribute import MANY_GROUPS, AttributeAudit
from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.audit.score_pairs import MANY_SCORED, MOST_PAIRS
from evenhand.analyses.audit.strata.words import remarks, reversals
from evenhand.analyses.audit.unknown import caveat, remark
from evenhand.analyses.options import Options, least_resamples, one_number
from evenhand.errors import listed, shown, shown_name
from evenhand.measures.rates import share
from evenhand.measures.registry import Measure, find, hypothesis
from evenhand.tables.dense import Counts
from evenhand.tables.scores import CELLS
from evenhand.tables.table import Table, far_off, observed_range

MOST_UNJUDGED = 4
"""So many reasons why something is not judged are notes; the comparisons themselves have all."""
FEW_CUTOFFS = 50
"""So many thresholds are listed where others are impossible."""


CENTRAL = 0.99
"""If so many of the people"""
NARROW = 0.2
"""fill less than this share of the observed range, a few outlying scores set the scale of uniform measures."""
HIDDEN = 2.0
"""So many times as large is a bias by rank that its uniform one hides."""


def caveats(table: Table, options: Options, attributes: Sequence[AttributeAudit]) -> list[str]:
    """What changes how a verdict is read: about the decisions, and groups that tell nothing."""
    notes = [*_decisions(table, options)]
    notes += [*_permutations(options, attributes, exploratory=False), *_untested(options, attributes)]
    for a in attributes:
        notes += [*reversals(a), *_small_groups(a), *unjudged_notes(a)]
        notes += [] if a.unknown is None else [*caveat(a.name, a.unknown, a.measures)]
    return notes


def warnings(table: Table, options: Options, attributes: Sequence[AttributeAudit]) -> list[str]:
    """About the scores and the options, then about each attribute, then about what the table lacks."""
    notes = [*_range(table, attributes), *_score_and_resamples(table, options)]
    notes += _permutations(options, attributes, exploratory=True)
    for a in attributes:
        notes += [*_many_groups(table, a), *_resolution(table, a), *_many_pairs(table, a)]
        notes += [*unjudged_notes(a, exploratory=True), *remarks(a, options.confidence)]
        notes += [] if a.unknown is None else [*remark(a.name, a.unknown, a.measures)]
    return [*notes, *_lacking(table)]


def _range(table: Table, attributes: Sequence[AttributeAudit]) -> Iterator[str]:
    """Which range was observed, and whether a few scores that made it hide a gap."""
    observed = observed_range(table)
    if observed is None or table.extremes[0] == table.extremes[1]:
        return
    yield observed
    low, high = central(table, CENTRAL)
    share = (high - low) / (table.extremes[1] - table.extremes[0])
    if share < NARROW and (seen := _hidden(attributes)) is not None:
        yield (
            f"a few outlying scores set that range: {CENTRAL:.0%} of people lie between {low:.6g} and {high:.6g}, "
            f"{100 * share:.2g}% of it, so uniform measures such as ABCC are small whatever the gap{seen}: read those "
            "by rank, or state a range without the outliers and leave them out"
        )


def _hidden(attributes: Sequence[AttributeAudit]) -> str | None:
    """A gap that ranks show and the uniform measure does not, the largest of them; None if no gap is hidden.

    Where the one by rank was not asked for, nobody can tell whether a gap is hidden, and nothing is named.
    """
    hidden: list[tuple[float, str]] = []
    for a in attributes:
        there = {(g.id, g.group): g for g in a.measures if not g.undefined}
        for (id_, group), uniform in there.items():
            of_scores = id_ == "abcc" or (id_.endswith("_uniform") and uniform.measure.page == "score-bias")
            if not of_scores:
                continue
            ranked = there.get((_BY_RANK.get(id_, id_.replace("_uniform", "_standardized")), group))
            if ranked is None:
                hidden.append((0.0, ""))
            elif _shown(ranked) and ranked.value >= HIDDEN * uniform.value:
                both = f"{uniform.measure.title} {uniform.value:.2g}, {ranked.measure.title} {ranked.value:.2g}"
                hidden.append((ranked.value, f" (of {shown_name(group)}: {both})"))
    return max(hidden)[1] if hidden else None


_BY_RANK = {"abcc": "independence_standardized"}


def _shown(gap: Gap) -> bool:
    """Whether a gap is more than is tolerated, and more than chance shows."""
    return gap.value > gap.tolerance and (gap.null is None or gap.value > gap.null.high)


def central(table: Table, share: float) -> tuple[float, float]:
    """Between which scores the central people lie, at least one being left out on each side."""
    assert table.score is not None
    upto = np.cumsum(table.mass, dtype=np.float64)  # cells are sorted by score
    aside = max((1 - share) / 2 * upto[-1], upto[-1] / table.rows)
    places = np.searchsorted(upto, [aside * (1 + 1e-9), upto[-1] - aside * (1 + 1e-9)])
    low, high = table.score[np.minimum(places, len(upto) - 1)]
    return float(low), max(float(low), float(high))


def _score_and_resamples(table: Table, options: Options) -> Iterator[str]:
    if table.score is not None and table.extremes[0] == table.extremes[1]:
        yield f"the score is constant ({table.extremes[0]:.12g}): it cannot tell anyone apart"
    least = least_resamples(options.confidence)
    if 0 < options.bootstrap < least:
        yield (
            f"{options.bootstrap} resamples are too few to know an interval at {100 * options.confidence:g}%: those "
            f"that rest on them are as wide as can be, or missing; take at least {least}"
        )


def _decisions(table: Table, options: Options) -> Iterator[str]:
    """Whether they are the same for everybody, or favour the people with the unfavourable label."""
    selected = table.selected(options.threshold)
    if selected.all() or not selected.any():
        yield (
            f"{'everyone' if selected.all() else 'nobody'} receives the favourable decision"
            + ("" if options.threshold is None else f" at the threshold {options.threshold:.12g}")
            + ": gaps between rates of a constant decision say nothing"
        )
    elif table.label is not None:
        overall = np.array([[table.mass[(selected == d) & (table.label == y)].sum() for y in (0, 1)] for d in (0, 1)])
        pooled = Counts(overall[:, None, :], ("everyone",))
        tpr, fpr = float(share(pooled, "tpr")[0]), float(share(pooled, "fpr")[0])
        if tpr < fpr:
            yield (
                f"people with the unfavourable label receive the favourable decision more often ({fpr:.3f}) than those "
                f"with the favourable one ({tpr:.3f}): check which value is favourable, and if this is a risk score"
            )


def _permutations(options: Options, attributes: Sequence[AttributeAudit], exploratory: bool) -> Iterator[str]:
    """Whether there are too few for the comparisons by key measures, or for all with those that are exploratory."""
    level, tests = 1 - options.confidence, _tests(attributes, exploratory)
    if tests / (1 + options.permutations) <= level or (exploratory and tests == _tests(attributes, False)):
        return
    enough = int(np.ceil(tests / level / 1000) * 1000)
    yield (
        f"with {options.permutations:,} permutations and {tests:,} comparisons, adjusted p-values of scores "
        f"{'that are exploratory ' if exploratory else ''}may not get below {level:.2g}: take {enough:,} permutations, "
        "or fewer measures"
    )


def _tests(attributes: Sequence[AttributeAudit], exploratory: bool) -> int:
    """Over how many comparisons p-values are adjusted, by key measures or by all; 0 if none of them was drawn."""
    tested = [
        (a.name, g.group, hypothesis(g.measure), g.null) for a in attributes for g in a.measures
        if g.null is not None and (exploratory or not g.exploratory)
    ]  # fmt: skip
    drawn = any(null.chance is None and "exact" not in null.method for *_, null in tested)
    return len({tuple(about) for *about, _ in tested}) if drawn else 0


def _untested(options: Options, attributes: Sequence[AttributeAudit]) -> Iterator[str]:
    """That intervals stand in for tests, each for itself."""
    compared = {
        (a.name, g.group, hypothesis(g.measure)) for a in attributes for g in a.measures
        if not g.exploratory and g.ci is not None
    }  # fmt: skip
    if not options.permutations and len(compared) > 1:
        yield (
            "without permutations nothing is tested: whether a gap is more than chance is read from the interval of "
            f"each of {len(compared):,} comparisons alone, of which {1 - options.confidence:.2g} may be off by chance"
        )


def _small_groups(a: AttributeAudit) -> Iterator[str]:
    if a.too_small:
        yield too_small_note(a.name, a.too_small)
    sizes = {g.name: g.n for g in a.groups}
    if any(sizes[group] > sizes[a.reference] for group in a.too_small):
        few = f"only {sizes[a.reference]:,} people of {shown(a.reference)}"
        yield f"the reference of {shown(a.name)} is itself small, {few}: choose a larger one (--reference)"


def too_small_note(attribute: str, groups: Sequence[str]) -> str:
    """Which groups nothing can be concluded about."""
    return f"too small to conclude anything, by {shown(attribute)}: {listed(groups)}"


def _many_groups(table: Table, a: AttributeAudit) -> Iterator[str]:
    many = f"{shown(a.name)} has {len(a.groups):,} groups"
    if len(a.groups) > MANY_GROUPS:
        yield f"{many}: most bootstrap intervals were left out"
    elif table.score is not None and len(a.groups) > MANY_SCORED:
        yield f"{many}: score-level measures were not resampled, so they have no intervals"


def _resolution(table: Table, a: AttributeAudit) -> Iterator[str]:
    """How far values may be from exact ones where scores are known in ranges or cells."""
    if a.resolution and table.spans is not None:
        worst = min(a.calibration_resolution, 1.0)
        ranks = f", calibration bias by rank within {worst:.1g}" if worst > a.resolution else ""
        yield (
            f"scores of {shown(a.name)} are known in ranges: score and ROC biases are within "
            f"{min(a.resolution, 1.0):.1g} of their exact values{ranks}"
            f"{'' if table.noise is None else ', because of the ranges alone: noise comes on top'}"
        )
    elif a.resolution:
        yield (
            f"{shown(a.name)} has so many distinct scores that score-level measures were computed on {CELLS:,} "
            f"cells: score, calibration and ROC biases are within {a.resolution:.1g} of their exact values"
        )


def stray_tolerances(tolerance: Mapping[str, float], chosen: Sequence[Measure]) -> Iterator[str]:
    """Which tolerances were stated, though nothing is held to them."""
    asked = {one_number(m) for m in chosen}
    stray = [id_ for id_ in tolerance if one_number(find(id_)) not in asked]
    if stray:
        yield f"nothing is held to the tolerance of {listed(stray)}: not among the measures asked for (--measures)"


def unjudged_notes(a: AttributeAudit, exploratory: bool = False) -> Iterator[str]:
    """Which values are not held to their tolerance, because people who cannot be compared would decide it.

    Of key measures, or of those that are exploratory.
    """
    reasons: dict[tuple[str, str], list[str]] = {}
    for gap in a.measures:
        if gap.unjudged and gap.exploratory is exploratory:
            reasons.setdefault((gap.group, gap.unjudged), []).append(gap.measure.title)
    for number, ((group, because), titles) in enumerate(reasons.items()):
        if number == MOST_UNJUDGED:
            yield f"{len(reasons) - number:,} more measures by {shown(a.name)} are not judged for such reasons"
            return
        verb = "is" if len(titles) == 1 else "are"
        yield f"{', '.join(titles)} of {shown_name(group)} {verb} not judged {because}"


def _many_pairs(table: Table, a: AttributeAudit) -> Iterator[str]:
    count = len(a.groups) - len(a.excluded)
    if table.score is not None and a.largest and (pairs := count * (count - 1) // 2) > MOST_PAIRS:
        many = f"{shown(a.name)} has {count:,} groups, too many pairs to resample ({pairs:,})"
        some = ", and an interval only by differences of means and distances of CDFs and of densities"
        how = some if count <= MANY_SCORED else " and no interval"
        yield f"{many}: the most different pair by a score-level measure has no p-value{how}"


def _lacking(table: Table) -> Iterator[str]:
    """What a table cannot tell: thresholds and groups it does not have."""
    if (doubt := far_off(table)) is not None:
        yield doubt
    if table.spans is not None and len(table.cutoffs) <= FEW_CUTOFFS:
        yield f"the score can be cut at {', '.join(f'{c:.12g}' for c in table.cutoffs)} only"
    known = {a.name: a.groups for a in table.attributes}
    left_out = ((a, g) for a, tally in table.left_out_groups.items() for g in tally if g)
    if gone := {f"{g} of {a}" for a, g in left_out if g not in known.get(a, g)}:
        yield f"every row of these groups was left out: {listed(sorted(gone))}"
