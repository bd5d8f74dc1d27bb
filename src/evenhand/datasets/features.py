"""Columns as features of a model: kept as they are, and standardised only when it is known by whose values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.ingest.values import encode
from evenhand.tables.arrays import Floats, Ints

Matrix = NDArray[np.float32]


class Column(NamedTuple):
    """What a column becomes: a number, with a feature of its own for gaps, or a feature for each value of a text."""

    name: str
    values: tuple[str, ...] | None = None
    """Of a text; None for numbers."""
    gaps: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        if self.values is not None:
            return tuple(f"{self.name}={value}" for value in self.values)
        return (self.name, f"{self.name}=missing") if self.gaps else (self.name,)


@dataclass(frozen=True, eq=False)
class Features:
    """The features of people, in little space: a text column is one small number for each person until it is needed."""

    columns: tuple[Column, ...]
    numbers: Floats
    """People × columns of numbers, as the data set has them; NaN is a gap."""
    codes: NDArray[np.int32]
    """People × columns of text: the place of each person's value among those of the column."""

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]], people: int) -> Features:
        described, numbers, codes = [], [], []
        for name, values in columns.items():
            if values.dtype.kind in "iuf":
                plain = values.astype(np.float64)
                gap = np.isnan(plain)
                numbers.append(np.where(gap, np.nan, plain + 0.0))  # one NaN and one zero: equal people, equal bytes
                described.append(Column(name, gaps=bool(gap.any())))
            else:
                distinct, places = in_order(*encode(values))
                codes.append(places)
                described.append(Column(name, distinct))
        return cls(tuple(described), _side_by_side(numbers, people, np.float64), _side_by_side(codes, people, np.int32))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for column in self.columns for name in column.names)

    def scaled(self, by: Any, *others: Any) -> tuple[Matrix, ...]:
        """The features of the people at these places, numbers standardised by what the first ones show.

        A gap becomes the mean of the first ones; features of a text are 0 and 1.
        """
        standards = [_standard(values) for values in self.numbers[by].T]
        return tuple(self._matrix(rows, standards) for rows in (by, *others))

    def _matrix(self, rows: Any, standards: Iterable[tuple[float, float]]) -> Matrix:
        numbers, codes = iter(self.numbers[rows].T), iter(self.codes[rows].T)
        matrix = np.zeros((len(self.numbers[rows]), len(self.names)), np.float32)
        everybody, standard, start = np.arange(len(matrix)), iter(standards), 0
        for column in self.columns:
            if column.values is None:
                values, (mean, spread) = next(numbers), next(standard)
                gap = np.isnan(values)
                matrix[:, start] = np.where(gap, 0.0, (values - mean) / spread)
                if column.gaps:
                    matrix[:, start + 1] = gap
            else:
                matrix[everybody, start + next(codes)] = 1.0
            start += len(column.names)
        return matrix


def _standard(values: Floats) -> tuple[float, float]:
    """Mean and standard deviation of what is known."""
    known = values[~np.isnan(values)]
    if not known.size:
        return 0.0, 1.0
    if known.min() == known.max():  # the sum is rounded, and would leave a spread of about nothing
        return float(known[0]), 1.0
    return float(known.mean()), float(known.std()) or 1.0


def in_order(codes: NDArray[Any], distinct: list[Any]) -> tuple[tuple[str, ...], Ints]:
    """The distinct values in alphabetical order, and each person's place among them."""
    names = [str(value) for value in distinct]
    order = sorted(range(len(names)), key=names.__getitem__)
    return tuple(names[i] for i in order), np.argsort(order)[codes]


def _side_by_side(columns: list[Any], people: int, kind: Any) -> NDArray[Any]:
    matrix = np.empty((people, len(columns)), kind)
    for i, values in enumerate(columns):
        matrix[:, i] = values
    return matrix
