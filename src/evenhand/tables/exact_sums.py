"""Sums of fractional numbers that are the same whatever the order of adding, and whoever adds.

A number is cut into parts that are whole multiples of a power of two, so few of them that a float holds every sum of
parts exactly; the sums of parts, added up, are rounded once. All engines cut alike: by multiplications with powers of
two, which lose nothing, and a floor.
"""

from __future__ import annotations

import numpy as np

from evenhand.tables.arrays import Floats, Ints

_BITS = 53
_LAST = 1022
"""No scale is beyond 2 to this power, nor makes so large a number of another."""
Scales = tuple[float, ...]


def scales(smallest: float, largest: float, rows: int) -> Scales:
    """What makes whole numbers of the parts of so many numbers that lie, but for zeros, between these two.

    There are as many parts as the last bit of the smallest needs.

    >>> scales(0.5, 0.75, 1000) == (2.0**43, 2.0**86)
    True
    """
    low, high, many = (int(np.frexp(x)[1]) for x in (smallest, largest, float(rows)))
    last = min(_BITS - low if smallest > 0 else _LAST, _LAST - max(high, 0))
    powers = [_BITS - many - high]
    while powers[-1] < last:
        powers.append(powers[-1] + _BITS - many)
    return tuple(2.0 ** min(power, _LAST - max(high, 0)) for power in powers)


def parts_of(values: Floats, by: Scales) -> Floats:
    """The parts of each number.

    >>> parts_of(np.array([0.75, 1.5]), (2.0, 4.0)).tolist()
    [[0.5, 1.5], [0.25, 0.0]]
    """
    parts, rest = [], values
    for scale in by:
        parts.append(np.floor(rest * scale) / scale)
        rest = rest - parts[-1]
    return np.array(parts)


def ends_of(values: Floats) -> tuple[float, float]:
    """The smallest of those numbers that are above zero, and the largest; zeros if there are none.

    >>> ends_of(np.array([0.0, 3.0, 0.5]))
    (0.5, 3.0)
    """
    largest = float(values.max(initial=0.0))
    return float(values.min(where=values > 0, initial=largest)), largest


def rounded(parts: Floats) -> Floats:
    """The sums of parts as single numbers, rounded once.

    >>> rounded(np.array([[0.5, 1.5], [0.25, 0.0]])).tolist()
    [0.75, 1.5]
    """
    total, rest = parts[0], np.zeros_like(parts[0])
    for part in parts[1:]:
        wide = total + part
        back = wide - total
        rest = rest + ((total - (wide - back)) + (part - back))
        total = wide
    return np.asarray(total + rest)


def sums_of_runs(values: Floats, starts: Ints) -> Floats:
    """The sum of each run of numbers, or of parts of numbers, that begin at these places."""
    if values.ndim == 1 and len(values):
        values = parts_of(values, scales(*ends_of(np.abs(values)), len(values)))
    return np.add.reduceat(values, starts, axis=-1)


def sums_by(key: Ints, values: Floats, size: int) -> Floats:
    """The sums of parts of numbers by key; a row of sums for a row of parts."""
    return np.array([np.bincount(key, weights=part, minlength=size) for part in values], np.float64)
