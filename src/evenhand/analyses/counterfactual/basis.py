"""Splines of causes and products of pairs of them: a regression on these is flexible, and as quick as a linear one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.tables.arrays import Floats

PEOPLE_PER_COLUMN, MOST_COLUMNS = 10, 64
"""People that a column needs, and columns at most: a long frame of them must fit into memory."""
ENDS = 0.05, 0.95
"""Quantiles beyond which a spline is straight: few people are there, and fewer of any one group."""


@dataclass(frozen=True)
class Basis:
    """How blocks of columns, one for each cause, become the columns of a flexible regression."""

    knots: tuple[Floats | None, ...]
    """Of the spline of each cause; None where it stays as it is."""
    pairs: tuple[tuple[int, int], ...]
    """Causes that act together."""

    def __call__(self, blocks: Sequence[Floats]) -> Floats:
        wide = [b if k is None else spline(b[:, 0], k) for b, k in zip(blocks, self.knots, strict=True)]
        return np.concatenate([*wide, *(_product(wide[i], wide[j]) for i, j in self.pairs)], axis=1)


def basis_of(blocks: Sequence[Floats], numeric: Sequence[bool], touched: Sequence[bool]) -> Basis | None:
    """As flexible as so many people allow; None if that is no more than linear.

    Pairs with a cause that the attribute touches come first: what only other causes do together stays in another world.
    """
    n = len(blocks[0])
    left = min(n // PEOPLE_PER_COLUMN, MOST_COLUMNS) - sum(b.shape[1] for b in blocks)
    widths = [b.shape[1] for b in blocks]
    knots: list[Floats | None] = [None] * len(blocks)
    for i, block in enumerate(blocks):
        found = _knots(block[:, 0]) if numeric[i] else None
        if found is not None and len(found) - 1 <= left:
            knots[i], widths[i] = found, len(found)
            left -= len(found) - 1
    pairs = []
    for i, j in _in_order(touched):
        if widths[i] * widths[j] <= left:
            pairs.append((i, j))
            left -= widths[i] * widths[j]
    return Basis(tuple(knots), tuple(pairs)) if pairs or any(k is not None for k in knots) else None


def spline(values: Floats, knots: Floats) -> Floats:
    """A quadratic spline that is straight beyond its first and last knot: one column for each knot.

    >>> spline(np.array([-1.0, 0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0]))[:, 1].tolist()
    [0.0, 0.0, 0.25, 1.0, 2.0]
    """
    end = knots[-1]
    beyond = np.maximum(values - end, 0) ** 2
    bends = [(np.maximum(values - k, 0) ** 2 - beyond) / (2 * (end - k)) for k in knots[:-1]]
    return np.column_stack([values, *bends])


def _knots(values: Floats) -> Floats | None:
    """At quantiles, the more the more people there are, so that the bias of a spline stays below its noise."""
    pieces = int(np.clip(round(0.6 * len(values) ** (1 / 3)), 3, 8))
    knots = np.unique(np.quantile(values, np.linspace(*ENDS, pieces + 1)))
    return knots if len(knots) > 1 else None


def _in_order(touched: Sequence[bool]) -> Iterator[tuple[int, int]]:
    pairs = [(i, j) for i in range(len(touched)) for j in range(i + 1, len(touched))]
    return iter(sorted(pairs, key=lambda pair: -touched[pair[0]] - touched[pair[1]]))


def _product(a: Floats, b: Floats) -> Floats:
    return np.asarray((a[:, :, None] * b[:, None, :]).reshape(len(a), -1))
