"""What a projection test is given: a table of people, two groups, and their logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.analyses.projection.logistic import LARGEST
from evenhand.analyses.projection.shifts import LABELS, logit_of
from evenhand.analyses.reference import group_named, reference_group
from evenhand.errors import DataError, UsageError, listed, shown
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

NEEDS_LABEL = "the projection test compares people with the same label"


def labels_of(table: Table, needed: bool) -> Bools | None:
    """Label of each cell, of a table that the limit law is for."""
    if needed and table.label is None:
        raise UsageError(f"{NEEDS_LABEL}, but the table has none: count it again with label=")
    if table.noise is not None:
        raise DataError(
            "the limit law of the projection test is for true counts, and the table is private: it has noise"
        )
    if table.provenance.below is not None:
        raise DataError(
            "the projection test is about single scores, which a suppressed table has put together: test the data "
            "themselves"
        )
    if table.cluster is not None:
        raise DataError("the limit law of the projection test is for independent rows, not for clusters of them")
    return table.label


def compared(table: Table, reference: Any, compare: Any) -> tuple[Grouping, list[int], int]:
    """The grouping, the groups that are compared, and what with."""
    if len(table.attributes) > 1:
        raise UsageError(
            "the projection test compares groups of one column, but there are "
            f"{listed([a.name for a in table.attributes])}: count the people by one of them (group=)"
        )
    grouping = table.groupings[0]
    ref = reference_group(table, grouping, reference).place
    if compare is None:
        return grouping, [g for g in range(len(grouping.groups)) if g != ref], ref
    group = group_named(grouping, compare)
    if reference is None and group == ref:  # the largest of the others
        sizes = table.sizes(grouping).copy()
        sizes[group] = -1
        ref = int(np.argmax(sizes))
    if group == ref:
        raise UsageError(f"{shown(compare)} is the reference: name another group, or another reference")
    return grouping, [group], ref


def scores_of(table: Table) -> Floats:
    """Score of each cell."""
    if table.score is None:
        raise UsageError("the projection test needs scores, but the table has none: count it again with score=")
    return table.score


def logits_of(table: Table, score: Floats, logits: bool) -> Floats:
    """Logits of scores that the cells have, higher = more favourable."""
    name = shown(table.meaning.score)
    if logits:
        if np.abs(score).max() > LARGEST:
            raise DataError(f"logits {name} beyond ±{LARGEST:g} cannot be computed with: check that they are logits")
        z = score
    else:
        lo, hi = float(score.min()), float(score.max())
        if lo < 0 or hi > 1:
            raise DataError(
                f"the score {name} must be a probability between 0 and 1, but goes from {lo:g} to {hi:g}: pass logits "
                "as logit= (for a table logit=True), or turn the score into the model's probability"
            )
        z = logit_of(score)
    return -z if table.meaning.risk else z


def has_people(table: Table, grouping: Grouping, group: int, labels: Sequence[int | None]) -> bool:
    """Whether a group has people with each of the labels."""
    own = grouping.codes == group
    return all(y is None or table.label is None or bool((own & (table.label == y)).any()) for y in labels)


def check_people(table: Table, names: tuple[str, str], in_group: Bools, criterion: str, y: int | None) -> None:
    """Refuse a group that has nobody to be compared."""
    for name, some in zip(names, (in_group.any(), (~in_group).any()), strict=True):
        if not some:
            m = table.meaning
            raise DataError(
                f"{criterion.replace('_', ' ')} compares people with the {LABELS[y]} label ({shown(m.label)} is "
                f"{'' if y else 'not '}{m.favorable}), but {shown(name)} has none: the test is undefined; compare "
                "groups that have such people"
            )
