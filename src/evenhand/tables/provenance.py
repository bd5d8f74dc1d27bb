"""What was done to the people of a table before it was handed on, as far as those who use it must know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

_WHERE = re.compile(r"(only rows with .* were counted) \([\d,]+ of [\d,]+\)", re.DOTALL)
_WEIGHTS = re.compile(r"the weights .* are whole numbers and are read as numbers of people .*", re.DOTALL)


@dataclass(frozen=True)
class Provenance:
    """What the counts of a table do not tell themselves.

    >>> (Provenance(below=10) + Provenance(below=5, tallied=True)).below, (Provenance(below=10) + Provenance()).below
    (5, 1)
    """

    tallied: bool = False
    """Whether rows stood for several people each (whole weights), so that one row changes a count by any number."""
    below: int | None = None
    """No cell was shared with fewer people; None if never suppressed, 1 if a table that was not has been added."""
    withheld: bool = False
    """Whether groups were withheld,"""
    untold: bool = False
    """whether it is not told how many rows were left out,"""
    untold_groups: bool = False
    """and whether it is not told of which groups."""
    incomplete: tuple[tuple[str, str], ...] = ()
    """Attribute and name of groups that lack people, since a group by several attributes was withheld."""
    unknown: bool = False
    """Whether people without a group were kept, so that it is known how they fared."""
    precision: str | None = None
    """The type of fewer than 64 bits that all scores had: they are its shortest decimals, as thresholds must be."""

    def __add__(self, other: Provenance) -> Provenance:
        sizes = [p.below for p in (self, other)]
        return Provenance(
            tallied=self.tallied or other.tallied,
            below=None if sizes == [None, None] else min(1 if k is None else k for k in sizes),
            withheld=self.withheld or other.withheld,
            untold=self.untold or other.untold,
            untold_groups=self.untold_groups or other.untold_groups,
            incomplete=tuple(sorted({*self.incomplete, *other.incomplete})),
            unknown=self.unknown or other.unknown,
            precision=self.precision if self.precision == other.precision else None,
        )

    @property
    def untallied(self) -> Provenance:
        """The same of rows that are one person each, their scores in 64 bits: the same counts make the same table."""
        return replace(self, tallied=False, precision=None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the table must know, as sentences."""
        found = []
        if self.below is not None and self.below > 1:
            found.append(
                f"every cell of this table holds at least {self.below:,} people: scores were put together where need be"
            )
        elif self.below is not None:
            found.append("parts of this table were suppressed, others not: it may have cells of few people")
        if self.withheld:
            found.append("groups were withheld as a whole, too small for that or for ranges of scores that tell enough")
        if self.below is not None and self.tallied:
            found.append("rows stand for as many people as their weights say, and these are what is counted as people")
        if self.untold:
            found.append("a few rows were left out or withheld: how many is not told")
        if self.untold_groups:
            found.append("of which groups rows were left out or withheld is not told, as some would be few")
        if self.incomplete:
            found.append("people were withheld, so groups of single columns lack some of theirs and are not compared")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """What is not as usual, for a file."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return said | ({"incomplete": [list(pair) for pair in self.incomplete]} if self.incomplete else {})

    @classmethod
    def of_dict(cls, said: dict[str, Any]) -> Provenance:
        """What a file says; nothing in those from before anybody asked."""
        incomplete = tuple((str(a), str(g)) for a, g in said.get("incomplete", ()))
        return cls(**{**said, "incomplete": incomplete})


NOTHING = Provenance()


def where_note(what: str, some: int, everybody: int) -> str:
    """That only some rows were counted, and how many."""
    return f"only rows with {what} were counted ({some:,} of {everybody:,})"


def shareable(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes that tell nothing about few people: what the user said, without numbers of rows.

    >>> shareable([where_note("split = 'test'", 497, 500), "the group 'nan' of 'sex' looks like a missing value"])
    ("only rows with split = 'test' were counted",)
    """
    where = [found[1] for note in notes if (found := _WHERE.fullmatch(note))]
    return (*where, *(note for note in notes if _WEIGHTS.fullmatch(note) or note in where))
