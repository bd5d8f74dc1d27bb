"""Rules by which numbers are put into bands, and the bands that they make: "25–39" and the like."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from evenhand.errors import UsageError, shown, values_in
from evenhand.ingest.values import NO_VALUE, name_of
from evenhand.tables.band_names import are_of, band_name, band_of, plain

MOST_BANDS = 100
_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")
_QUANTILES = re.compile(r"quantiles:([0-9]{1,3})")
_RULES = "borders such as [25, 40, 60], 'decades', 'quantiles:4' or 'none'"

Rule = tuple[Decimal, ...] | str
"""Borders; or decades, quantiles:N, none."""


def checked_bands(stated: Any) -> dict[str, Rule] | str | None:
    """What was said about bands, by column, if it makes sense; "none" is said of all columns.

    >>> checked_bands({"age": [25, 40], "income": "quantiles:4"})
    {'age': (Decimal('25'), Decimal('40')), 'income': 'quantiles:4'}
    """
    if stated is None or (isinstance(stated, str) and stated == "none"):
        return stated
    if not isinstance(stated, Mapping) or not all(isinstance(name, str) and name for name in stated):
        raise UsageError(
            f"bands is a dict from group column to {_RULES}, or 'none' for all of them, not {shown(stated)}"
        )
    return {name: _rule(name, value) for name, value in stated.items()}


def _rule(name: str, stated: Any) -> Rule:
    if isinstance(stated, str) and stated in ("none", "decades"):
        return stated
    if isinstance(stated, str) and (match := _QUANTILES.fullmatch(stated)):
        if not 2 <= int(match[1]) <= MOST_BANDS:
            raise UsageError(f"quantiles make 2 to {MOST_BANDS} bands, but those of {shown(name)} are {shown(stated)}")
        return stated
    values = values_in(stated)
    edges = [number_of(v) for v in values or ()]
    if not edges or not all(isinstance(e, Decimal) for e in edges):
        raise UsageError(f"bands of {shown(name)} are {_RULES}, not {shown(stated)}")
    found = tuple(e for e in edges if isinstance(e, Decimal))
    for low, high in pairwise(found):
        if not low < high:
            what = "twice" if low == high else f"after {plain(low)}"
            raise UsageError(
                f"the borders of bands rise, but those of {shown(name)} name {plain(high)} {what}: say each once, the "
                "lowest first"
            )
    return found


def number_of(value: Any) -> Decimal | bool | None:
    """A number, from every engine the same; None where there is none, False if it is something else."""
    name = name_of(value)
    if name is None or name.strip() in NO_VALUE:
        return None
    if isinstance(value, bool | np.bool_) or not _NUMBER.fullmatch(name.strip()):
        return False
    return Decimal(name.strip())


@dataclass(frozen=True)
class Bands:
    """Bands of one column: between borders, or as many as there are tens."""

    edges: tuple[Decimal, ...] | None
    whole: bool
    """Whether all borders and all values are whole numbers."""

    def name(self, x: Decimal) -> str:
        """The band that a number is in.

        >>> Bands((Decimal(25), Decimal(40)), True).name(Decimal(25)), Bands(None, True).name(Decimal(25))
        ('25–39', '20–29')
        """
        if self.edges is None:
            low = 10 * (x / 10).to_integral_value(ROUND_FLOOR)
            return band_name(low, low + 10, self.whole)
        borders = (None, *self.edges, None)
        place = bisect_right(self.edges, x)
        return band_name(borders[place], borders[place + 1], self.whole)


def quantiles(values: Sequence[Decimal], people: Sequence[int], parts: int) -> tuple[Decimal, ...]:
    """Borders between parts of as many people as can be.

    The k-th is the lowest value up to which more than k/N of them stand, the least one not counted: below it is nobody.
    People of one value stay together, so that there may be fewer parts.

    >>> quantiles([Decimal(v) for v in (1, 2, 3, 4)], [1, 1, 1, 1], 2), quantiles([Decimal(0), Decimal(1)], [9, 1], 4)
    ((Decimal('3'),), (Decimal('1'),))
    """
    order = sorted(range(len(values)), key=values.__getitem__)
    upto = np.cumsum([int(people[i]) for i in order], dtype=object)
    total, last = int(upto[-1]), len(order) - 1
    places = [next(i for i, n in enumerate(upto) if parts * n > k * total) for k in range(1, parts)]
    return tuple(values[order[i]] for i in dict.fromkeys(max(i, 1) for i in places) if i <= last)


def fits(rule: Rule, groups: Sequence[str]) -> bool:
    """Whether groups may have been made by a rule, as far as their names tell.

    >>> fits((Decimal(25),), ["under 25", "25 and over"]), fits("decades", ["f", "m"]), fits("none", ["17", "18"])
    (True, False, True)
    """
    if not isinstance(rule, str):
        return are_of(groups, rule)
    if rule == "none":
        return not any(any(c in g for c in "–<u ") and band_of(g) for g in groups)
    return all(band_of(g) is not None or number_of(g) for g in groups)
