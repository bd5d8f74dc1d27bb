"""Groups that are listed but not compared.

The figures of some would mislead, lost in the noise of a private table or withheld in part: they are undefined. Others
are so small a share of the people that the user excludes them: their own rates are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.analyses.audit.attribute import NOISY, AttributeAudit, Impossibility
from evenhand.analyses.audit.gaps import undefined_gap
from evenhand.analyses.audit.groups import Estimate, GroupSummary, summarise
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.options import Options
from evenhand.measures.registry import RATES, Measure, RateMeasure
from evenhand.tables.arrays import Ints
from evenhand.tables.groups import Grouping, sum_by
from evenhand.tables.table import Table

CLEAR = 10.0
"""So many times its noise a group must count with each label: below that, intervals were seen to be too narrow."""
EXPECTED = 5.0
"""So many times the noise people must be expected with each decision (and label): intervals hold from about 3."""
BECAUSE = "because it has too few people for the noise of the private table"
UNSETTLED = "because too few people can be expected with some decision for the noise of the private table"
WITHHELD = "because some of its people were withheld"
NOTHING = "because fewer than two groups can be compared"


def lost(table: Table, grouping: Grouping) -> dict[int, str]:
    """The groups that cannot be compared, and why."""
    lacking = {g for a, g in table.provenance.incomplete if a == grouping.name}
    return {
        **dict.fromkeys(drowned(table, grouping).tolist(), BECAUSE),
        **{i: WITHHELD for i, name in enumerate(grouping.groups) if name in lacking},
    }


def excluded(table: Table, grouping: Grouping, below: float) -> dict[int, str]:
    """The groups with a smaller share of all people, and what that share is."""
    if not below:
        return {}
    share = table.people_in(grouping) / table.people
    return {
        int(g): f"because it has {share[g]:.2%} of the people, and groups below {100 * below:g}% are excluded"
        for g in np.flatnonzero(share < below)
    }


def drowned(table: Table, grouping: Grouping) -> Ints:
    """The groups that have fewer people, of some label, than ten times the noise on their number."""
    if table.noise is None or table.weight2 is None:
        return np.zeros(0, np.int64)
    labels = 1 if table.label is None else 2
    size = len(grouping.groups) * labels
    key = grouping.codes * labels + (0 if table.label is None else table.label)
    people = sum_by(key, table.n, size)
    noise = np.sqrt(sum_by(key, table.weight2 - table.n, size))
    clear = (people > 0) & (people >= CLEAR * noise)
    return np.flatnonzero(~clear.reshape(-1, labels).all(1))


def unsettled(table: Table, grouping: Grouping, threshold: float | None, by_label: bool) -> frozenset[str]:
    """The groups of which, with some decision (and label), few are expected beside the noise on their number.

    Expected if all groups had the same rates: whoever looked at the number itself would keep those groups of which
    noise happens to make many.
    """
    assert table.weight2 is not None
    counts = table.decisions(grouping, threshold)
    assert counts.squares is not None
    people, squares = np.asarray(counts.array, np.float64), counts.squares
    if not by_label:
        people, squares = people.sum(-1, keepdims=True), squares.sum(-1, keepdims=True)
    noise = np.sqrt(np.maximum(squares - people, 0.0))
    told = noise.max(1, keepdims=True)  # an empty cell does not tell its own: that of other groups, else the largest
    noise = np.where(told > 0, told, noise.max())
    pooled, own = people.sum(1, keepdims=True), people.sum(0, keepdims=True)
    expected = own * pooled / np.maximum(pooled.sum(0, keepdims=True), 1.0)
    few = (expected < EXPECTED * noise).any((0, 2))
    return frozenset(grouping.groups[g] for g in np.flatnonzero(few).tolist())


def settled(
    audit: AttributeAudit, table: Table, grouping: Grouping, threshold: float | None, chosen: Sequence[Measure]
) -> AttributeAudit:
    """The audit of a private table without rates of decisions that rest on too few people for its noise."""
    kinds = (False,) if table.label is None else (False, True)
    few = {by_label: unsettled(table, grouping, threshold, by_label) for by_label in kinds}
    measures = {m.id: m for m in chosen}

    def names(id_: str) -> frozenset[str]:
        m = measures[id_]
        return few[m.needs_label] if isinstance(m, RateMeasure) else frozenset()

    gaps = tuple(
        undefined_gap(measures[gap.id], gap.group, gap.reference, UNSETTLED)
        if not gap.undefined and names(gap.id) & {gap.group, gap.reference}
        else gap
        for gap in audit.measures
    )
    return replace(
        audit,
        groups=tuple(_without_few(group, few) for group in audit.groups),
        measures=gaps,
        largest=tuple(
            LargestGap(one.id, one.tolerance, undefined=UNSETTLED) if names(one.id) else one for one in audit.largest
        ),
        impossibility=replace(audit.impossibility, statements=(), forced=()) if few[kinds[-1]] else audit.impossibility,
        tests=tuple(test for test in audit.tests if test.rate == "base_rate" or not few[RATES[test.rate].needs_label]),
    )


def _without_few(group: GroupSummary, few: Mapping[bool, frozenset[str]]) -> GroupSummary:
    def estimate(rate: str, known: Estimate) -> Estimate:
        if rate in ("ece", "mce"):
            return Estimate(np.nan, undefined=NOISY)
        by_label = rate not in RATES or RATES[rate].needs_label
        return Estimate(np.nan, undefined=UNSETTLED) if rate != "base_rate" and group.name in few[by_label] else known

    return replace(group, rates={rate: estimate(rate, known) for rate, known in group.rates.items()})


def without(table: Table, grouping: Grouping, groups: Sequence[int]) -> tuple[Table, Grouping]:
    """The people of the other groups."""
    some = table.of_some(~np.isin(grouping.codes, groups))
    return some, some.grouping(grouping.name)


def restored(
    audit: AttributeAudit,
    table: Table,
    grouping: Grouping,
    groups: Mapping[int, str],
    shown: Collection[int],
    chosen: Sequence[Measure],
    options: Options,
) -> AttributeAudit:
    """The audit of the others, in which these groups are listed too: those only to be shown with their rates."""
    summaries = {g.name: g for g in audit.groups}
    rates = tuple(audit.groups[0].rates)
    summaries |= {grouping.groups[g]: _unknown(table, grouping, g, because, rates) for g, because in groups.items()}
    summaries |= _alone(table, grouping, shown, rates, options)
    gaps = list(audit.measures)
    for m in chosen:
        gaps += [
            undefined_gap(m, grouping.groups[g], audit.reference, because)
            for g, because in groups.items()
            if g not in shown
        ]
    order = {m.id: i for i, m in enumerate(chosen)}
    place = {name: i for i, name in enumerate(grouping.groups)}
    return replace(
        audit,
        groups=tuple(summaries[name] for name in grouping.groups),
        measures=tuple(sorted(gaps, key=lambda gap: (order[gap.id], place[gap.group]))),
        excluded=tuple(grouping.groups[g] for g in shown),
    )


def _alone(
    table: Table, grouping: Grouping, groups: Collection[int], rates: Sequence[str], options: Options
) -> dict[str, GroupSummary]:
    """Groups that are shown and not compared: their rates, with intervals that need no resamples."""
    if not groups:
        return {}
    some, own = without(table, grouping, [g for g in range(len(grouping.groups)) if g not in groups])
    bins = some.binned(own, options.scores.gap_bins) if "ece" in rates else None
    quiet = replace(options, bootstrap=0)
    found = summarise(some, own, some.decisions(own, options.threshold), bins, quiet, np.random.default_rng(0))
    return {g.name: g for g in found}


def nothing(
    table: Table,
    grouping: Grouping,
    reference: int,
    groups: Mapping[int, str],
    shown: Collection[int],
    chosen: Sequence[Measure],
    options: Options,
) -> AttributeAudit:
    """The audit of an attribute of which fewer than two groups can be compared: their names, and why not."""
    ref = grouping.groups[reference]
    rates = tuple(r for r in RATES if table.label is not None or not RATES[r].needs_label)
    because = {g: groups.get(g, NOTHING) for g in range(len(grouping.groups))}
    left = [g for g in range(len(grouping.groups)) if g not in groups]  # nobody is there to compare it with
    own = _alone(table, grouping, [*shown, *left] if shown else (), rates, options)
    return AttributeAudit(
        grouping.name,
        ref,
        tuple(own.get(grouping.groups[g]) or _unknown(table, grouping, g, why, rates) for g, why in because.items()),
        tuple(undefined_gap(m, grouping.groups[g], ref, because[g]) for m in chosen for g in because if g != reference),
        (),
        Impossibility(False, np.nan, (), (), NOTHING),
        excluded=tuple(grouping.groups[g] for g in shown),
    )


def _unknown(table: Table, grouping: Grouping, group: int, because: str, rates: Sequence[str]) -> GroupSummary:
    size = int(table.sizes(grouping)[group])
    unknown = {rate: Estimate(np.nan, undefined=because) for rate in rates}
    return GroupSummary(grouping.groups[group], grouping.members[group], size, 0, unknown)
