"""Groups of a private table that are lost in its noise: set aside, and listed as undefined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.attributes import AttributeAudit
from evenhand.cells import Ints
from evenhand.errors import DataError, shown
from evenhand.gaps import undefined_gap
from evenhand.groupings import sum_by
from evenhand.measures import Measure
from evenhand.summaries import Estimate, GroupSummary
from evenhand.table import Grouping, Table

CLEAR = 10.0
"""So many times its noise a group must count with each label: below that, intervals were seen to be too narrow."""
BECAUSE = "because it has too few people for the noise of the private table"


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


def without(table: Table, grouping: Grouping, groups: Ints) -> tuple[Table, Grouping]:
    """The people of the other groups, of whom there must be two."""
    if len(grouping.groups) - len(groups) < 2:
        raise DataError(
            f"fewer than two groups of {shown(grouping.name)} are larger than the noise of the private table: share it "
            "with a larger ε, or with fewer score cells (--cells)"
        )
    cells = ~np.isin(grouping.codes, groups)
    arrays = ("n", "score", "decision", "label", "weight2")
    parts: dict[str, Any] = {name: None if (a := getattr(table, name)) is None else a[cells] for name in arrays}
    some = Table.of_cells(
        attributes=table.attributes, codes=table.codes[:, cells], meaning=table.meaning, spans=table.spans,
        noise=table.noise, provenance=table.provenance, left_out=table.left_out, **parts,
    )  # fmt: skip
    return some, some.grouping(grouping.name)


def restored(found: AttributeAudit, table: Table, grouping: Grouping, groups: Ints, chosen: Sequence[Measure]) -> Any:
    """The audit of the others, in which these groups are listed too, without numbers."""
    sizes, rates = table.sizes(grouping), found.groups[0].rates
    summaries = {g.name: g for g in found.groups}
    for g in groups.tolist():
        unknown = {rate: Estimate(np.nan, None, BECAUSE) for rate in rates}
        summaries[grouping.groups[g]] = GroupSummary(grouping.groups[g], grouping.members[g], int(sizes[g]), 0, unknown)
    gaps = list(found.measures)
    for m in chosen:
        gaps += [undefined_gap(m, grouping.groups[g], found.reference, BECAUSE) for g in groups.tolist()]
    order = {m.id: i for i, m in enumerate(chosen)}
    place = {name: i for i, name in enumerate(grouping.groups)}
    return replace(
        found,
        groups=tuple(summaries[name] for name in grouping.groups),
        measures=tuple(sorted(gaps, key=lambda gap: (order[gap.id], place[gap.group]))),
    )
