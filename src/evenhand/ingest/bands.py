"""Numbers such as ages as groups: which bands they are put into, so that 53 ages are not 53 groups.

Bands are settled once, from all rows, by comparing decimals: every engine names a number alike, so all of them end with
the same bands. What is counted is put into bands before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.ingest.band_rules import MOST_BANDS, Bands, Rule, number_of, quantiles
from evenhand.ingest.columns import Columns, people_in
from evenhand.ingest.roles import WeightKind
from evenhand.ingest.values import Encoded, encode
from evenhand.tables.arrays import Ints
from evenhand.tables.band_names import plain

MOST_GROUPS = 12
"""A number of more values is put into bands, unless the user says otherwise."""
AGES = (0, 120)
"""Whole numbers between these look like ages, or numbers of years; decades tell something if there are so many:"""
DECADES = 3
NEARLY_ALL = 0.9
"""From this share of values of their own on, rows have ids"""
ENOUGH = 100
"""if there are at least so many of them."""


@dataclass
class Banding:
    """Puts the numbers of group columns into bands; which, is settled when all rows are seen for the first time."""

    stated: Mapping[str, Rule] | str | None
    weight_kind: WeightKind
    time: str | None = None
    """Which of the groups is the time, and never in bands."""
    settled: dict[str, Bands] | None = None
    tens: dict[str, tuple[Decimal, ...]] = field(default_factory=dict)
    """The borders of decades, by column."""
    told: bool = False
    """Whether the engine knows."""
    notes: list[str] = field(default_factory=list)

    def check(self, groups: Sequence[str]) -> None:
        """Bands of a column that is no group are a mistake."""
        known = [name for name in groups if name != self.time]
        for name in self.stated if isinstance(self.stated, Mapping) else ():
            if name not in known:
                raise UsageError(
                    f"bands are of group columns, but {shown(name)} is none (there are: {listed(known)})"
                    f"{nearest(name, known)}"
                )

    def __call__(self, columns: Columns, part: bool) -> Columns:
        """The columns in bands; a `part` of the rows does not settle them."""
        groups = {name: Encoded(*encode(values)) for name, values in columns.groups.items() if name != self.time}
        if self.settled is None:
            assert not part  # somebody looks at all rows first
            self.check([*groups])
            people = people_in(columns, self.weight_kind)
            found = {name: self._bands(name, values, people) for name, values in groups.items()}
            self.settled = {name: bands for name, bands in found.items() if bands is not None}
        banded = {name: _banded(groups[name], bands.name) for name, bands in self.settled.items()}
        return replace(
            columns,
            groups={**columns.groups, **groups, **banded},
            finer={name: groups[name] for name in banded},
            notes=columns.notes if part else (*columns.notes, *self.notes),
        )

    def tell(self, rows: Any, columns: Columns) -> None:
        """Let an engine that can do so count by bands from now on: cells are fewer then.

        Not where weights must be looked at row by row, for which the numbers themselves tell rows apart.
        """
        if self.told or not self.settled or columns.weights is not None or not hasattr(rows, "coarsen"):
            return
        self.told = True
        edges = {name: bands.edges or self.tens[name] for name, bands in self.settled.items()}
        rows.coarsen({name: found for name, borders in edges.items() if (found := _as_floats(borders)) is not None})

    @property
    def changes(self) -> bool:
        """Whether numbers were put together."""
        return bool(self.settled)

    def _bands(self, name: str, values: Encoded, people: Ints) -> Bands | None:
        """The bands of a column, or none."""
        rule = self.stated if isinstance(self.stated, str) else (self.stated or {}).get(name)
        if rule == "none":
            return None
        asked = rule is not None
        numbers = _numbers(values.distinct, name if asked else None)
        if numbers is None:
            _refuse_ids(name, values, people)
            return None
        there = {x for x in numbers if x is not None}
        if not asked and len(there) <= MOST_GROUPS:
            return None
        whole = all(x == x.to_integral_value() for x in there)
        if not asked and whole:
            _refuse_ids(name, values, people)
        return self._of_rule(name, rule, numbers, np.bincount(values.codes, people, len(numbers)), whole)

    def _of_rule(
        self, name: str, rule: Rule | None, numbers: list[Decimal | None], people: Any, whole: bool
    ) -> Bands | None:
        found = {x: 0 for x in numbers if x is not None}
        if not found:
            return None
        for x, n in zip(numbers, people.astype(np.int64).tolist(), strict=True):
            if x is not None:
                found[x] += n
        how = _usual(found, whole) if rule is None else rule
        bands = _bands_of(name, how, found, whole)
        if bands.edges is None:
            first, last = (int((x // 10).to_integral_value()) for x in (min(found), max(found)))
            self.tens[name] = tuple(Decimal(10 * k) for k in range(first, last + 2))
        names = {bands.name(x) for x in found}
        if rule is None:
            what = "bands of ten" if how == "decades" else "its quarters"
            self.notes.append(
                f"{shown(name)} has {len(found):,} values and was put into {what}: say which (bands=, --bands "
                f"{name}=25,40,60), or keep every value as a group (--bands {name}=none)"
            )
        elif isinstance(how, str) and how != "decades" and len(names) < (parts := int(how.partition(":")[2])):
            many = f"{len(names)} bands of {shown(name)} and not {parts}"
            self.notes.append(f"so many people share a value that there are {many}")
        if len(names) == 1 and len(found) > 1:
            span = f"{plain(min(found))} to {plain(max(found))}"
            raise DataError(
                f"the bands of {shown(name)} put all its values ({span}) into one, {shown(next(iter(names)))}: choose "
                "borders between them"
            )
        return bands


def _usual(values: Mapping[Decimal, int], whole: bool) -> str:
    """Decades of what looks like ages, else quarters."""
    low, high = min(values), max(values)
    ages = whole and AGES[0] <= low and high <= AGES[1] and high // 10 - low // 10 >= DECADES - 1
    return "decades" if ages else "quantiles:4"


def _bands_of(name: str, rule: Rule, values: Mapping[Decimal, int], whole: bool) -> Bands:
    if rule == "decades":
        bands = Bands(None, whole)
        many = len({bands.name(x) for x in values})
        if many > MOST_BANDS:
            raise DataError(
                f"tens of {shown(name)} would be {many:,} bands, more than {MOST_BANDS}: name their borders, or say "
                "'quantiles:4'"
            )
        return bands
    if isinstance(rule, str):
        edges = quantiles([*values], [*values.values()], int(rule.partition(":")[2]))
        if not edges:
            raise DataError(f"all people have one value of {shown(name)}, so it has no quantiles: leave its bands out")
    else:
        edges = rule
    return Bands(edges, whole and all(e == e.to_integral_value() for e in edges))


def _numbers(distinct: Sequence[Any], asked: str | None) -> list[Decimal | None] | None:
    """The numbers that values are, None where there is none; None altogether if they are no numbers.

    Where bands are `asked` for, by the name of their column, that is refused.
    """
    found: list[Decimal | None] = []
    for value in distinct:
        x = number_of(value)
        if isinstance(x, bool):
            if asked is None:
                return None
            raise DataError(
                f"bands are of numbers, but column {shown(asked)} holds {shown(value)}: repair it, or leave its bands "
                "out"
            )
        found.append(x)
    return found


def _refuse_ids(name: str, values: Encoded, people: Ints) -> None:
    """Refuse a column in which nearly every row has a value of its own."""
    there = np.array([v is not None for v in values.distinct] or [False], np.bool_)[values.codes]
    known = int(people[there].sum())
    own = len(values.distinct) - (None in values.distinct)
    if own >= ENOUGH and own >= NEARLY_ALL * known:
        raise DataError(
            f"a group has several people, but {shown(name)} has {own:,} values in {known:,} rows, like an id: name "
            f"another column (--group), or if these are numbers such as amounts, say bands (--bands {name}=quantiles:4)"
        )


def _as_floats(edges: Sequence[Decimal]) -> list[float] | None:
    """Borders as engines compare with them; None if floats would not do."""
    found = [float(e) for e in edges]
    return found if all(Decimal(repr(x)) == e and abs(x) < 2**53 for x, e in zip(found, edges, strict=True)) else None


def _banded(values: Encoded, name: Callable[[Decimal], str]) -> Encoded:
    """The names of bands in place of numbers."""
    names = [None if not isinstance(x := number_of(v), Decimal) else name(x) for v in values.distinct]
    place: dict[Any, int] = {}
    new = np.array([place.setdefault(n, len(place)) for n in names] or [0], np.int64)
    return Encoded(new[values.codes], list(place))
