"""Numbers of fewer bits than a float64, as the shortest decimals that stand for them: 0.7 in 32 bits is 0.7.

Widened bit by bit it would be 0.699999988…, which is not at or above a threshold of 0.7, though 32-bit arithmetic says
so. Every number becomes the decimal with the fewest digits that is rounded to it, so their order is kept, and decimals
are compared as they were meant. A threshold of any other kind is first rounded to the narrow type itself.

Like the keys of a grid, decimals are computed alike by numpy, SQL and narwhals: with a rounded multiplication, a floor,
a correctly rounded division and a comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.tables.arrays import Floats
from evenhand.tables.grid import number

SMALLEST = -13
"""Numbers below ten to this power stay as they are: higher powers than their scale are no floats."""
STAGES = (1.0, 10.0, 100.0)
"""Every type is told by as many digits as it surely keeps, or by one or two more."""


@dataclass(frozen=True)
class Narrow:
    """A type of fewer than 64 bits.

    >>> FLOAT32.shortest(np.array([0.7, 0.1, 1 / 3, 650.25], np.float32)).tolist()
    [0.7, 0.1, 0.33333334, 650.25]
    >>> FLOAT32.compared(0.70000001)
    0.7
    """

    name: str
    digits: int
    """So many digits of any decimal are kept."""

    @cached_property
    def starts(self) -> Floats:
        """From each of these on, scores are tried with its scale; those beyond the last are whole numbers."""
        return np.array([float(f"1e{power}") for power in range(SMALLEST, self.digits + 1)])

    @cached_property
    def scales(self) -> Floats:
        """What makes the last digit a whole number, from each start on; 0 where numbers stay as they are."""
        return np.array([0.0, *(float(10 ** (self.digits - 1 - p)) for p in range(SMALLEST, self.digits)), 0.0])

    def rounded(self, values: Any) -> Floats:
        """The nearest numbers of this type, in 64 bits."""
        with np.errstate(over="ignore"):
            if self.name != "bfloat16":
                return np.asarray(values, np.float64).astype(self.name).astype(np.float64)
            bits = np.asarray(values, np.float32).view(np.uint32)  # the upper half of 32 bits, ties to even
        kept = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
        return np.asarray(kept, np.uint32).view(np.float32).astype(np.float64)

    def shortest(self, values: Any) -> Floats:
        """The shortest decimals of numbers of this type."""
        x = np.asarray(values).astype(np.float64)
        scale = self.scales[np.searchsorted(self.starts, np.abs(x), side="right")]  # NaN comes after the last
        found = x.copy()
        left = np.flatnonzero(scale)
        for stage in STAGES:
            own, up = x[left], scale[left] * stage
            decimal = np.floor(own * up + 0.5) / up
            fits = self.rounded(decimal) == own
            found[left[fits]] = decimal[fits]
            left = left[~fits]
        return found

    def compared(self, threshold: float) -> float:
        """What a threshold is compared as: the shortest decimal of its value in this type."""
        return float(self.shortest(self.rounded([threshold]))[0])

    def above(self, value: float) -> float:
        """A number of this type above this one."""
        return float(self.shortest(self.rounded([value + abs(value) * 10.0 ** (1 - self.digits) + 1e-7]))[0])

    def sql(self, column: str) -> str:
        """SQL for the shortest decimal of a column of 32-bit numbers."""
        x = f"CAST({column} AS DOUBLE)"
        starts, scales = map(np.ndarray.tolist, (self.starts, self.scales))
        cases = (f"WHEN abs({x}) < {number(a)} THEN {number(u)}" for a, u in zip(starts, scales, strict=False) if u)
        scale = f"(CASE WHEN abs({x}) < {number(starts[0])} THEN NULL {' '.join(cases)} END)"
        tried = (f"floor({x} * ({scale} * {number(s)}) + 0.5::DOUBLE) / ({scale} * {number(s)})" for s in STAGES)
        fits = " ".join(f"WHEN CAST({decimal} AS FLOAT) = {column} THEN {decimal}" for decimal in tried)
        return f"(CASE WHEN {scale} IS NULL THEN {x} {fits} ELSE {x} END)"


FLOAT32, FLOAT16, BFLOAT16 = Narrow("float32", 7), Narrow("float16", 3), Narrow("bfloat16", 2)
NARROW = {narrow.name: narrow for narrow in (FLOAT32, FLOAT16, BFLOAT16)}


_ARROW = {"float": "float32", "float[pyarrow]": "float32", "halffloat": "float16", "halffloat[pyarrow]": "float16"}


def narrow_of(column: Any) -> Narrow | None:
    """The type of a column of numbers of few bits, whichever library holds it; None of others."""
    if isinstance(column, list | tuple) and len(column) and isinstance(column[0], np.floating):
        column = np.asarray(column)
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).rpartition(".")[2].lower()
    return NARROW.get(_ARROW.get(kind, kind))
