"""Whom to compare with: the group the user named, the one that is selected most often, else the largest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from evenhand.errors import UsageError, listed, nearest, shown
from evenhand.ingest.values import name_of
from evenhand.measures.rates import share
from evenhand.tables.arrays import Floats
from evenhand.tables.cells import NO_GROUP
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

HIGHEST = "highest"
"""Asks for the group that is selected most often, unless a group is called so."""

Rule = Literal["named", "largest", "highest"]


class Reference(NamedTuple):
    """The group that others are compared with, by which rule it is that, and what is to be said about it."""

    place: int
    rule: Rule
    remarks: list[str]


@dataclass(frozen=True)
class Pinned:
    """References that were decided before, of intersections too: the group by the name of the grouping.

    And the groups that were excluded then.
    """

    groups: Mapping[str, str]
    excluded: Mapping[str, Collection[str]] = field(default_factory=dict)


def reference_group(
    table: Table,
    grouping: Grouping,
    stated: Any,
    threshold: float | None = None,
    aside: Mapping[int, str] | None = None,
) -> Reference:
    """The largest (or the highest) group that agrees with what was stated, and a remark if none does.

    `stated` is a group, "highest", a mapping from attribute to one of these, None, or `Pinned`. Groups that stand
    `aside`, for these reasons, are not compared.
    """
    if isinstance(stated, Pinned):
        return Reference(group_named(grouping, stated.groups[grouping.name]), "named", [])
    if not grouping.groups:
        raise UsageError(f"a comparison needs two or more groups, but nobody has one in {shown(grouping.name)}")
    if len(grouping.groups) < 2:
        raise UsageError(
            f"a comparison needs two or more groups, but {shown(grouping.name)} has only {listed(grouping.groups)}"
        )
    wanted = _by_attribute(table, stated)
    wanted = {a: wanted[a] for a in grouping.attributes if a in wanted}
    fixed = {a: group for a, group in wanted.items() if group is not None}
    named = [dict(zip(grouping.attributes, members, strict=True)) for members in grouping.members]
    agrees = np.array([fixed.items() <= group.items() for group in named])
    sizes = np.where(compared := ~np.isin(np.arange(len(named)), [*(aside or {})]), table.sizes(grouping), -1)
    if aside and len(grouping.attributes) == 1 and agrees.any() and not (agrees & compared).any():
        place = int(np.argmax(agrees))
        raise UsageError(
            f"{shown(grouping.groups[place])} cannot be the reference {aside[place]}: name another, or none"
        )
    agrees &= compared
    remarks = [_a_group_called_so(a) for a, group in fixed.items() if group == HIGHEST]
    if agrees.any() and len(wanted) > len(fixed):
        rates = _selected(table, grouping, threshold)
        best = np.where(agrees & (rates == rates[agrees].max()), sizes, -1)
        return Reference(int(np.argmax(best)), "highest", remarks)
    if agrees.any() or not fixed:
        return Reference(int(np.argmax(np.where(agrees, sizes, -1))), "named" if fixed else "largest", remarks)
    largest = int(np.argmax(sizes))
    instead = f"{shown(grouping.groups[largest])} is the reference of {shown(grouping.name)}"
    names = shown(" × ".join(fixed.values()))
    return Reference(largest, "largest", [*remarks, f"nobody is in {names}, so {instead}"])


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


def _selected(table: Table, grouping: Grouping, threshold: float | None) -> Floats:
    """The selection rate of every group."""
    if table.decision is None and threshold is None:
        raise UsageError(
            f"reference={HIGHEST!r} is the group that is selected most often, and nothing is decided here: name a group"
        )
    return share(table.decisions(grouping, threshold), "selection_rate")


def _a_group_called_so(attribute: str) -> str:
    return f"{shown(attribute)} has a group called {HIGHEST!r}: that is its reference, not the highest of all"


def _by_attribute(table: Table, stated: Any) -> dict[str, str | None]:
    """References by attribute, None for the highest; every one of them must exist."""
    groups = {a.name: [g for g in a.groups if g != NO_GROUP] for a in table.attributes}
    if stated is None:
        return {}
    if not isinstance(stated, Mapping):
        homes = [a for a, present in groups.items() if name_of(stated) in present]
        if len(homes) > 1:
            raise UsageError(f"reference {shown(stated)} is a group of {listed(homes)}: say which attribute is meant")
        if not homes and stated == HIGHEST:
            return dict.fromkeys(groups)
        if not homes:
            everywhere = [g for present in groups.values() for g in present]
            raise UsageError(_unknown(stated, listed(groups), everywhere))
        return {homes[0]: str(name_of(stated))}
    for attribute, value in stated.items():
        if attribute not in groups:
            raise UsageError(f"there is no attribute {shown(attribute)} (there are: {listed(groups)})")
        if name_of(value) not in groups[attribute] and value != HIGHEST:
            raise UsageError(_unknown(value, shown(attribute), list(groups[attribute])))
    return {a: str(name_of(value)) if name_of(value) in groups[a] else None for a, value in stated.items()}


def _unknown(value: Any, where: str, present: list[str]) -> str:
    near = nearest(value, [*present, HIGHEST])
    return f"reference {shown(value)} is not a group of {where} (there are: {listed(present)}){near}"


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
