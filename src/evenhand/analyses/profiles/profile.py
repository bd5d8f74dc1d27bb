"""What a profile is: options of an audit, and the tables and words of a rule. Profiles are read from TOML files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.tables.table import Table

_ASIDE = re.compile(r"\([^)]*\)|[^0-9a-z+]+")


@dataclass(frozen=True)
class Category:
    """An attribute that a rule asks for, and the order and the names of its groups."""

    name: str
    columns: tuple[str, ...]
    """Words that the name of its column holds."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Groups in the order of the rule, and what else they are called."""
    closed: bool = False
    """Whether there are no other groups."""

    def place(self, group: str) -> int | None:
        """Which of the groups of the rule that is.

        >>> Category("sex", ("sex",), {"Male": ("m",), "Female": ("f",)}).place("FEMALE")
        1
        """
        known = (
            i for i, (name, others) in enumerate(self.values.items()) if _plain(group) in map(_plain, (name, *others))
        )
        return next(known, None)

    def fits(self, groups: tuple[str, ...]) -> bool:
        """Whether all of these are groups of the rule."""
        return bool(self.values) and all(self.place(g) is not None for g in groups)

    def named(self, column: str) -> bool:
        """Whether a column is called like it."""
        wanted, plain = {*map(_plain, self.columns)}, _plain(column)
        return not wanted.isdisjoint({plain, *plain.split()})


@dataclass(frozen=True)
class Need:
    """What the data must hold, and what for."""

    role: str
    purpose: str

    def met(self, table: Table) -> bool:
        """Whether a table has it."""
        return {"score": table.score, "label": table.label}[self.role] is not None


@dataclass(frozen=True)
class Fact:
    """Something a rule wants stated that no data hold."""

    id: str
    title: str
    cover: str | None = None
    """What of the cover says the same."""


@dataclass(frozen=True)
class RuleTable:
    """One kind of table, as a rule has it."""

    title: str
    kind: str = "groups"
    columns: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    """The categories it divides people by, all of them crossed; by default there is one for every attribute."""
    annex: bool = False
    unknown: bool = False
    """Whether it says how many people are in none of its groups."""
    notes: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    """Of a table that is the same whatever the data."""


@dataclass(frozen=True)
class Profile:
    """Options, tables and words of a rule."""

    name: str
    title: str
    date: str
    """The day from which this version holds."""
    source: tuple[str, ...]
    states: str
    not_covered: tuple[str, ...]
    unsure: tuple[str, ...] = ()
    """Where whoever wrote it was not sure what the rule says."""
    options: Mapping[str, Any] = field(default_factory=dict)
    options_of_scores: Mapping[str, Any] = field(default_factory=dict)
    """Further ones where scores decide, and not a prediction."""
    heads: Mapping[str, str] = field(default_factory=dict)
    heads_of_scores: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[Category, ...] = ()
    needs: tuple[Need, ...] = ()
    facts: tuple[Fact, ...] = ()
    tables: tuple[RuleTable, ...] = ()
    signing: bool = False
    """Whether the page ends with a box to sign in any case."""
    file: str | None = None
    """Where it was read from, if it is not in the package."""

    def about(self, *names: str) -> Profile:
        """The same for some of its categories alone, such as one table that somebody published.

        >>> from evenhand.analyses.profiles.shipped import profile_named
        >>> [table.title for table in profile_named("nyc-ll144").about("sex").tables]
        ['Sex', 'How sure the ratios by {attribute} are']
        """
        return replace(
            self,
            categories=tuple(c for c in self.categories if c.name in names),
            tables=tuple(t for t in self.tables if {*t.of} <= {*names}),
        )


def _plain(text: str) -> str:
    """A name without what is in parentheses, case, or punctuation."""
    return _ASIDE.sub(" ", text.casefold()).strip()
