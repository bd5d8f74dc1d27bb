"""The groups of a table under other names: codes become categories, and groups of the same name are added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.errors import UsageError, listed, nearest, shown, shown_name
from evenhand.tables.cells import NO_GROUP, Attribute
from evenhand.tables.groups import tally_key, tally_members
from evenhand.tables.table import _ARRAYS, Table

Names = Mapping[str, Mapping[str, str]]
"""By attribute, what its groups are called now."""


def with_names(table: Table, names: Names) -> Table:
    """The table with other names of its groups; "" puts people among those of unknown group.

    >>> import evenhand
    >>> people = {"d": [1, 0, 1], "race": [1, 2, 9]}
    >>> table = evenhand.tabulate(people, prediction="d", group="race", missing="bounds")
    >>> with_names(table, {"race": {"1": "White", "2": "Asian", "9": ""}})
    Table: 3 rows in 3 cells; prediction 'd'; race: Asian 1, White 1
    """
    if not names:
        return table
    there = [a.name for a in table.attributes]
    for name in names:
        if name not in there:
            raise UsageError(f"{shown(name)} is no group column (there are: {listed(there)}){nearest(name, there)}")
    if table.provenance.withheld:
        raise UsageError("groups were withheld when the table was suppressed: map the groups of its rows before that")
    arrays = {name: getattr(table, name) for name in _ARRAYS}
    attributes, codes = [], arrays["codes"].copy()
    for i, attribute in enumerate(table.attributes):
        called = _called(attribute, names.get(attribute.name), table)
        distinct = tuple(dict.fromkeys(called))
        codes[i] = np.array([distinct.index(name) for name in called])[codes[i]]
        attributes.append(Attribute(attribute.name, distinct))
    said = [f"the values of {shown(name)} were mapped: {_mapping(own)}" for name, own in names.items()]
    history = {"left_out_groups": _tallies(table, names), "notes": (*table.notes, *said)}
    return Table.of_cells(
        **{**table._same_people(), **arrays, "attributes": tuple(attributes), "codes": codes, **history},
        spans=table.spans, noise=table.noise, meaning=table.meaning,
    )  # fmt: skip


def _called(attribute: Attribute, own: Mapping[str, str] | None, table: Table) -> list[str]:
    """What the groups of an attribute are called now; every one of them must be told."""
    if own is None:
        return list(attribute.groups)
    stray = [g for g in attribute.groups if g not in own and g != NO_GROUP]
    if stray:
        raise UsageError(
            f"the map of {shown(attribute.name)} does not say what {listed(stray, 40)} "
            f'{"is" if len(stray) == 1 else "are"} (it has: {listed(own, 40)}): add a line for each, or "" for people '
            "whose group is not known"
        )
    called = [g if g == NO_GROUP else own[g] for g in attribute.groups]
    gone = [g for g, new in zip(attribute.groups, called, strict=True) if new == NO_GROUP != g]
    if gone and not table.provenance.unknown:
        raise UsageError(
            f"the map of {shown(attribute.name)} says that the group of {listed(gone)} is not known: say what to do "
            "with such people (missing='bounds', --missing bounds)"
        )
    return called


def _tallies(table: Table, names: Names) -> dict[str, dict[str, int]]:
    """Rows left out, by the new names."""
    found: dict[str, dict[str, int]] = {}
    for name, tally in table.left_out_groups.items():
        columns = name.split(" × ") if name not in names else [name]
        for key, n in tally.items():
            members = tally_members(key, len(columns))
            new = tuple(names.get(c, {}).get(m, m) for c, m in zip(columns, members, strict=True))
            own = found.setdefault(name, {})
            own[tally_key(new)] = own.get(tally_key(new), 0) + n
    return found


def _mapping(own: Mapping[str, str]) -> str:
    return ", ".join(f"{shown_name(old)} is {shown_name(new) or 'unknown'}" for old, new in own.items())


def checked_names(stated: Any) -> dict[str, dict[str, str]]:
    """Names by attribute, if they are such; values of data may be numbers.

    >>> checked_names({"race": {1: "White"}})
    {'race': {'1': 'White'}}
    """
    if not isinstance(stated, Mapping) or not all(isinstance(own, Mapping) and own for own in stated.values()):
        raise UsageError(f"map is a dict by column such as {{'race': {{1: 'White'}}}}, not {shown(stated)}")
    for own in stated.values():
        for value, name in own.items():
            if not isinstance(name, str):
                raise UsageError(f"map says the name of {shown(value)} as a text, not {shown(name)}")
    return {str(column): {str(value): name for value, name in own.items()} for column, own in stated.items()}
