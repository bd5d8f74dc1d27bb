"""Whom to compare with: the group the user named, else the largest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.ingest.values import name_of
from evenhand.tables.cells import NO_GROUP
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table


@dataclass(frozen=True)
class Pinned:
    """References that were decided before, of intersections too: the group by the name of the grouping."""

    groups: Mapping[str, str]


def reference_group(table: Table, grouping: Grouping, stated: Any) -> tuple[int, list[str]]:
    """The largest group that agrees with what was stated, and a remark if none does.

    `stated` is a group, a mapping from attribute to group, None, or `Pinned`.
    """
    if isinstance(stated, Pinned):
        return group_named(grouping, stated.groups[grouping.name]), []
    if not grouping.groups:
        raise UsageError(f"a comparison needs two or more groups, but nobody has one in {shown(grouping.name)}")
    if len(grouping.groups) < 2:
        raise UsageError(
            f"a comparison needs two or more groups, but {shown(grouping.name)} has only {listed(grouping.groups)}"
        )
    wanted = _by_attribute(table, stated)
    wanted = {a: wanted[a] for a in grouping.attributes if a in wanted}
    named = [dict(zip(grouping.attributes, members, strict=True)) for members in grouping.members]
    agrees = np.array([wanted.items() <= group.items() for group in named])
    sizes = table.sizes(grouping)
    if agrees.any():
        return int(np.argmax(np.where(agrees, sizes, -1))), []
    largest = int(np.argmax(sizes))
    instead = f"{shown(grouping.groups[largest])} is the reference of {shown(grouping.name)}"
    return largest, [f"nobody is in {shown(' × '.join(wanted.values()))}, so {instead}"]


def grouping_named(table: Table, attribute: Any) -> Grouping:
    """The grouping of that name, or the only one."""
    if attribute is not None:
        return table.refuse_incomplete(table.grouping(attribute))
    if len(table.attributes) > 1:
        raise UsageError(f"say which attribute: {listed([g.name for g in table.groupings])}")
    return table.groupings[0]


def group_named(grouping: Grouping, stated: Any) -> int:
    """The place of a group, by its name."""
    name = str(name_of(stated))
    if name not in grouping.groups:
        raise UsageError(
            f"{shown(stated)} is not a group of {shown(grouping.name)} (there are: {listed(grouping.groups)})"
            f"{nearest(name, grouping.groups)}"
        )
    return grouping.groups.index(name)


def _by_attribute(table: Table, stated: Any) -> dict[str, str]:
    """References by attribute; every one of them must exist."""
    groups = {a.name: [g for g in a.groups if g != NO_GROUP] for a in table.attributes}
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        homes = [a for a, present in groups.items() if name_of(stated) in present]
        if len(homes) > 1:
            raise UsageError(f"reference {shown(stated)} is a group of {listed(homes)}: say which attribute is meant")
        if not homes:
            everywhere = [g for present in groups.values() for g in present]
            raise UsageError(_unknown(stated, listed(groups), everywhere))
        return {homes[0]: str(name_of(stated))}
    for attribute, value in stated.items():
        if attribute not in groups:
            raise UsageError(f"there is no attribute {shown(attribute)} (there are: {listed(groups)})")
        if name_of(value) not in groups[attribute]:
            raise UsageError(_unknown(value, shown(attribute), list(groups[attribute])))
    return {attribute: str(name_of(value)) for attribute, value in stated.items()}


def _unknown(value: Any, where: str, present: list[str]) -> str:
    return f"reference {shown(value)} is not a group of {where} (there are: {listed(present)}){nearest(value, present)}"


MOST_INTERSECTIONAL = 10_000


def comparable(table: Table) -> tuple[list[Grouping], list[str]]:
    """What is compared: everything, but not an intersection of so many columns that nearly everybody is a group."""
    found, remarks = [], []
    for grouping in table.groupings:
        if len(grouping.attributes) == 1 or len(grouping.groups) <= MOST_INTERSECTIONAL:
            found.append(grouping)
        else:
            what = f"{shown(grouping.name)} has {len(grouping.groups):,} groups"
            remarks.append(f"{what}, too many to compare: name fewer group columns")
    return found, remarks
