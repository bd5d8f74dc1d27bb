"""What a column holds, as far as its values tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.errors import shown_name
from evenhand.ingest.band_rules import number_of
from evenhand.ingest.column_types import holds_dates
from evenhand.ingest.values import NO_VALUE, encode, label_key, name_of
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.band_names import plain

SHOWN = 5


@dataclass(frozen=True)
class Profile:
    """One column: its distinct values, and which of them each row has."""

    name: str
    codes: Ints
    distinct: tuple[Any, ...]

    @property
    def rows(self) -> int:
        return len(self.codes)

    @cached_property
    def present(self) -> tuple[int, ...]:
        """The places of values that are there; words for nothing are none."""
        return tuple(i for i, v in enumerate(self.distinct) if (n := name_of(v)) is not None and n not in NO_VALUE)

    @cached_property
    def known(self) -> int:
        """Rows that have a value."""
        counts = np.bincount(self.codes, minlength=len(self.distinct))
        return int(counts[list(self.present)].sum()) if self.present else 0

    @cached_property
    def nameless(self) -> int:
        """Rows without anything, not even a word for nothing: as a group that is none."""
        none = [i for i, v in enumerate(self.distinct) if name_of(v) is None]
        return int(np.isin(self.codes, none).sum())

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The names of the values."""
        return tuple(sorted({str(name_of(self.distinct[i])) for i in self.present}))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The values as labels: 1, 1.0 and true are one."""
        return frozenset(k for i in self.present if (k := label_key(self.distinct[i])) is not None)

    @cached_property
    def numbers(self) -> tuple[Decimal, ...]:
        """The distinct numbers in their order, if all values are numbers; else none."""
        found = [number_of(self.distinct[i]) for i in self.present]
        numbers = [x for x in found if isinstance(x, Decimal)]
        return tuple(sorted(set(numbers))) if numbers and len(numbers) == len(found) else ()

    @cached_property
    def floats(self) -> Floats:
        """The number of each row; NaN where there is none."""
        found = [number_of(v) for v in self.distinct]
        own = np.array([float(x) if isinstance(x, Decimal) else np.nan for x in found] or [np.nan])
        return np.asarray(own[self.codes])

    @property
    def whole(self) -> bool:
        return bool(self.numbers) and all(x == x.to_integral_value() for x in self.numbers)

    @cached_property
    def dates(self) -> bool:
        return holds_dates(tuple(self.distinct[i] for i in self.present))

    @property
    def unit(self) -> bool:
        """Whether all are numbers from 0 to 1."""
        return bool(self.numbers) and self.numbers[0] >= 0 and self.numbers[-1] <= 1

    @property
    def own(self) -> bool:
        """Whether nearly every row has a value of its own."""
        return self.known > 1 and len(self.values) >= 0.9 * self.known

    def of(self, key: str) -> Any:
        """Which rows have this label."""
        return np.array([label_key(v) == key for v in self.distinct] or [False])[self.codes]

    def in_words(self) -> str:
        """What it holds: "numbers between 0 and 1 with 812 distinct values"."""
        if not self.values:
            return "no values"
        many = f"{len(self.values):,} distinct values"
        if len(self.values) == 1:
            return f"one value only, {shown_name(self.values[0])}"
        if len(self.values) <= SHOWN:
            return f"{len(self.values)} values: {', '.join(map(shown_name, _ordered(self)))}"
        if self.dates:
            return f"dates, {many}"
        if self.numbers:
            kind = "whole numbers" if self.whole else "numbers"
            ends = "between 0 and 1" if self.unit else f"from {plain(self.numbers[0])} to {plain(self.numbers[-1])}"
            return f"{kind} {ends} with {many}"
        return f"text with {many}"


def _ordered(profile: Profile) -> Sequence[str]:
    return [plain(x) for x in profile.numbers] or profile.values


def profiled(columns: dict[str, Any]) -> list[Profile]:
    """The columns of some data.

    >>> [p.in_words() for p in profiled({"p": [0.2, 0.7, 0.5, 0.1, 0.4, 0.9], "sex": list("fmfmff")})]
    ['numbers between 0 and 1 with 6 distinct values', '2 values: f, m']
    """
    found = []
    for name, values in columns.items():
        codes, distinct = encode(values)
        found.append(Profile(name, codes, tuple(distinct)))
    return found
