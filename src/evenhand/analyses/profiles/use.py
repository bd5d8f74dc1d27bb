"""A profile as it is used for one audit: which of its options count, and whether the data have what it needs."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.analyses.options import checked_share
from evenhand.analyses.profiles.profile import Category, Profile
from evenhand.analyses.profiles.shipped import profile_named
from evenhand.errors import UsageError, listed, number, shown, unknown
from evenhand.tables.cells import NO_GROUP
from evenhand.tables.storage import is_table_file, load
from evenhand.tables.table import Table

FILE = "FILE"
"""Stands for the file of shares, whose path nobody knows any more."""
DECIDES = ("threshold", "top")
"""Who says one of these, says the other too."""
MOST_FACT = 400
SUM_SLACK = 1e-3
"""Shares that were rounded may add up to a little more than all."""


@dataclass(frozen=True)
class Use:
    """A profile, what was stated otherwise, and which attribute is which of its categories."""

    profile: Profile
    facts: Mapping[str, str] = field(default_factory=dict)
    scored: bool = False
    """Whether a score decides, by the options of the profile."""
    instead: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Options that were stated otherwise: what the profile says, and what was stated."""
    population: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By attribute, the share of each group in a population that was stated."""
    categories: Mapping[str, str] = field(default_factory=dict)
    """By category of the profile, the attribute that it is."""

    def filled(self, said: Mapping[str, Any], scored: bool, counted: bool) -> tuple[Use, dict[str, Any]]:
        """The options to add to those that were said.

        `scored` says that no prediction decides, `counted` that the rows are counted already.
        """
        wanted = dict(self.profile.options) | (dict(self.profile.options_of_scores) if scored else {})
        if counted:
            wanted.pop("missing", None)
        stated = {name: value for name, value in said.items() if value is not None}
        otherwise = {
            name: (value, stated[name]) for name, value in wanted.items() if _differs(name, value, stated.get(name))
        }
        decided = [name for name in DECIDES if name in stated]
        for name in DECIDES:
            if name in wanted and decided and name not in decided:
                otherwise[name] = (wanted[name], f"{decided[0]} {stated[decided[0]]}")
        added = {name: value for name, value in wanted.items() if name not in stated and name not in otherwise}
        by_rule = scored and not any(name in otherwise for name in self.profile.options_of_scores)
        return replace(self, scored=by_rule, instead=otherwise), added

    def fitted(self, table: Table) -> Use:
        """The same of data that have what the profile needs."""
        for need in self.profile.needs:
            if not need.met(table):
                raise UsageError(
                    f"the profile {shown(self.profile.name)} needs the {need.role} of people (--{need.role}), for "
                    f"{need.purpose}, and these data have none"
                )
        _check_population(self.population, table)
        found: dict[str, str] = {}
        for category in self.profile.categories:
            found[category.name] = _column(category, table, found.values(), self.profile)
        if len(found) > 1:
            _check_crossed(table, found, self.profile)
        for category in self.profile.categories:
            _check_groups(category, table, found[category.name], self.profile)
        return replace(self, categories=found)

    def words(self) -> tuple[str, ...]:
        """What a command says of it, flag by flag: its name, the facts, and what was stated otherwise."""
        named = self.profile.file or f"{self.profile.name}@{self.profile.date}"
        said: list[str] = ["--profile", named]
        for name, text in self.facts.items():
            said += ["--fact", f"{name}={text}"]
        if self.population:
            said += ["--population", FILE]
        for name, (_, value) in self.instead.items():
            flag = f"--{name.replace('_', '-')}"
            if name not in DECIDES and isinstance(value, str | float | int):
                said += [flag, f"{value}"]
        return tuple(said)


def use_of(profile: Any, facts: Mapping[str, str] | None = None, population: Any = None) -> Use:
    """The profile of that name, or in that file, with what it wants stated: facts, and shares of a population."""
    found = profile_named(profile)
    known = [fact.id for fact in found.facts]
    if facts is not None and not isinstance(facts, Mapping):
        raise UsageError(f"facts are texts by their id, not {shown(facts)}")
    for name, text in (facts or {}).items():
        if name not in known:
            raise unknown(f"the profile {shown(found.name)} asks for no fact", name, known)
        if not isinstance(text, str) or not 0 < len(text.strip()) <= MOST_FACT or len(text.splitlines()) > 1:
            raise UsageError(f"the fact {shown(name)} is one line of up to {MOST_FACT} characters, not {shown(text)}")
    shares = checked_population(population)
    if shares and not any(table.kind == "shares" for table in found.tables):
        raise UsageError(f"the profile {shown(found.name)} shows no shares of a population: leave them out")
    return Use(found, {name: text.strip() for name, text in (facts or {}).items()}, population=shares)


def checked_population(stated: Any) -> dict[str, dict[str, float]]:
    """Shares by column and group, if they are such.

    >>> checked_population({"sex": {"f": 0.51, "m": 0.49}})
    {'sex': {'f': 0.51, 'm': 0.49}}
    """
    if stated is None:
        return {}
    if not isinstance(stated, Mapping) or not all(isinstance(own, Mapping) and own for own in stated.values()):
        raise UsageError(f"population is a dict by column such as {{'sex': {{'f': 0.51}}}}, not {shown(stated)}")
    for column, own in stated.items():
        for name, share in own.items():
            if not 0 <= number(share) <= 1:
                raise UsageError(f"the share of {shown(name)} is a number from 0 to 1, not {shown(share)}")
        if (total := sum(own.values())) > 1 + SUM_SLACK:
            raise UsageError(f"the shares of {shown(column)} add up to {total:.6g}: state shares of one population")
    return {str(c): {str(name): float(share) for name, share in own.items()} for c, own in stated.items()}


def _check_population(stated: Mapping[str, Mapping[str, float]], table: Table) -> None:
    """Shares are of columns that there are, and of some of their groups."""
    names = [g.name for g in table.groupings]
    for column, own in stated.items():
        if column not in names:
            raise unknown("shares of a population are stated of what is no group column,", column, names)
        grouping = table.grouping(column)
        if not {*own} & {*grouping.groups}:
            raise UsageError(
                f"shares of a population are stated of {listed([*own])}, and none of them is a group of "
                f"{shown(column)} (there are: {listed(grouping.groups)})"
            )


def _differs(name: str, wanted: Any, stated: Any) -> bool:
    """Whether something else was stated."""
    if stated is None:
        return False
    if name == "exclude_below":
        return checked_share(wanted) != checked_share(stated)
    if name == "measures":
        return {*wanted} != {*stated}
    return bool(wanted != stated)


def _groups(table: Table, column: str) -> tuple[str, ...]:
    groups = next(a.groups for a in table.attributes if a.name == column)
    return tuple(g for g in groups if g != NO_GROUP)


def _column(category: Category, table: Table, taken: Collection[str], profile: Profile) -> str:
    """The attribute that is this category: by its name, else by its groups."""
    free = [a.name for a in table.attributes if a.name not in taken]
    named = [name for name in free if category.named(name)]
    fitting = [name for name in free if category.fits(_groups(table, name))]
    for found in (named, fitting):
        if found:
            return found[0]
    there = listed([a.name for a in table.attributes])
    raise UsageError(
        f"the profile {shown(profile.name)} needs the {category.name} of people, for its tables, and no group column "
        f"is called so or has its groups (there are: {there}): name its column (--group), and call it "
        f"{category.columns[0]}"
    )


def _check_crossed(table: Table, found: Mapping[str, str], profile: Profile) -> None:
    """The categories crossed are compared, too."""
    wanted = {*found.values()}
    if not any({*g.attributes} == wanted for g in table.groupings):
        raise UsageError(
            f"the profile {shown(profile.name)} compares the intersection of {listed(sorted(wanted))}, which is not "
            f"compared here: name these group columns alone, or say depth {len(wanted)} (--depth {len(wanted)})"
        )


def _check_groups(category: Category, table: Table, column: str, profile: Profile) -> None:
    """Groups that the rule does not know, or two that are one to it, are refused."""
    if not category.closed:
        return
    groups = _groups(table, column)
    places = {g: category.place(g) for g in groups}
    names = [*category.values]
    if stray := [g for g, place in places.items() if place is None]:
        raise UsageError(
            f"these values of {shown(column)} are no {category.name} of the profile {shown(profile.name)}: "
            f"{listed(stray, 40)} (it knows: {listed(names, 40)}): say which is which in a file of lines such as "
            f'{_key(stray[0])} = {shown(names[0])} (--map {column}=FILE), where "" stands for unknown'
        )
    for i, name in enumerate(names):
        same = [g for g, place in places.items() if place == i]
        if len(same) > 1:
            raise UsageError(
                f"{listed(same)} of {shown(column)} are one category of the profile {shown(profile.name)}, "
                f"{shown(name)}: make them one (--map {column}=FILE)"
            )


def _key(value: str) -> str:
    """A value as a key of TOML."""
    return value if value.isascii() and value.replace("_", "").isalnum() else f'"{value}"'


def taken(
    data: Any, profile: Any, facts: Any, population: Any, said: Mapping[str, Any]
) -> tuple[Any, Use, dict[str, Any]]:
    """The data (a saved table is read), the profile as it is used, and the options that it adds to those said."""
    if isinstance(profile, Use):  # its options were added by whoever made it
        return data, profile, {}
    use = use_of(profile, facts, population)
    if isinstance(data, str | os.PathLike) and is_table_file(data):
        data = load(data)
    if isinstance(data, Table):
        return data, *use.filled(said, data.decision is None, True)
    return data, *use.filled(said, said.get("prediction") is None, False)
