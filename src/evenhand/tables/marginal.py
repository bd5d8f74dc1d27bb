"""The same people by some of their attributes, as if the others had never been counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.errors import UsageError, listed, shown
from evenhand.tables.cells import NO_GROUP
from evenhand.tables.groups import added, added_groups, crossing_names, crossings, tally_key
from evenhand.tables.table import _ARRAYS, Table


def by_attributes(table: Table, names: Sequence[str]) -> Table:
    """The table that counting by these attributes alone gives.

    Whoever has none of them is left out, unless the table keeps people without a group.

    >>> import evenhand
    >>> people = {"d": [1, 0, 1], "sex": ["f", "m", "m"], "dept": ["a", "a", "b"]}
    >>> both = evenhand.tabulate(people, prediction="d", group=["sex", "dept"])
    >>> by_attributes(both, ["sex"]) == evenhand.tabulate(people, prediction="d", group="sex")
    True
    """
    kept = [i for i, a in enumerate(table.attributes) if a.name in names]
    if len(kept) == len(table.attributes):
        return table
    attributes, codes = tuple(table.attributes[i] for i in kept), table.codes[kept]
    named = [a.name for a in attributes]
    _refuse_withheld(table, named)
    lacking = [a.groups.index(NO_GROUP) if NO_GROUP in a.groups else -1 for a in attributes]
    nowhere = (codes == np.array(lacking)[:, None]).all(0) & (not table.provenance.unknown)
    reasons, tallies = _left_out(table, kept, int(table.n[nowhere].sum()))
    arrays = {name: None if (a := getattr(table, name)) is None else a[..., ~nowhere] for name in _ARRAYS}
    incomplete = tuple((a, g) for a, g in table.provenance.incomplete if {*a.split(" × ")} <= {*named})
    history = {
        "provenance": replace(table.provenance, incomplete=incomplete),
        "left_out": reasons,
        "left_out_groups": tallies,
    }
    return Table.of_cells(
        **{**table._same_people(), **arrays, "attributes": attributes, "codes": codes[:, ~nowhere], **history},
        spans=table.spans, noise=table.noise, meaning=table.meaning,
    )  # fmt: skip


def _refuse_withheld(table: Table, named: Sequence[str]) -> None:
    """Of a suppressed table it is known only of some groups whether they lack people."""
    columns = [a.name for a in table.attributes]
    known = {*crossing_names(columns, table.depth), " × ".join(columns)}
    new = [name for name in crossing_names(named, table.depth) if name not in known]
    if new and table.provenance.withheld:
        raise UsageError(
            f"groups were withheld when the table was suppressed, so it is not known whose people {listed(new)} "
            f"lacks: suppress a table that was counted by {listed(named)} alone"
        )


def _left_out(table: Table, kept: Sequence[int], nowhere: int) -> tuple[Mapping[str, int], dict[str, dict[str, int]]]:
    """What is left out, by reason and by group, if the people without any of the attributes kept are too."""
    every, names = [a.name for a in table.attributes], [table.attributes[i].name for i in kept]
    before, now = (f"without a group {' or '.join(map(shown, which))}" for which in (every, names))
    reasons = {now if reason == before else reason: n for reason, n in table.left_out.items()}
    tallies: dict[str, dict[str, int]] = {}
    if table.left_out_groups:
        for chosen in crossings(len(kept)):
            grouping = table._divided([kept[i] for i in chosen])
            found = table.left_out_by(grouping)
            tallies[grouping.name] = {tally_key(members): n for members, n in found.items()}
    if nowhere:
        reasons = added(reasons, {now: nowhere})
        tallies = added_groups(tallies, {name: {"": nowhere} for name in names})
        if len(names) > 1:
            tallies = added_groups(tallies, {" × ".join(names): {tally_key(("",) * len(names)): nowhere}})
    return dict(sorted(reasons.items())), {a: dict(sorted(tally.items())) for a, tally in tallies.items()}
