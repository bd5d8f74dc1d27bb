"""How far apart two people are: people as points whose distances can be told block by block, never all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import DataError, UsageError, shown
from evenhand.ingest.people import People
from evenhand.tables.arrays import Floats, Ints

METRICS = ("gower", "euclidean", "mahalanobis", "precomputed")
MOST_CALLED = 3_000
"""People whose every pair is asked of a function of the user's."""
FLAT = 1e-10
"""A direction of less than this share of the largest variance is told by the others."""
_TILE, _FEW = 256, 64
"""Columns of a block whose sums stay in the cache, and categories that are few."""


class Space(Protocol):
    """People and the distances between them."""

    @property
    def n(self) -> int: ...

    def block(self, rows: Ints) -> Floats:
        """For each of these people a row that ranks everybody by distance (not always the distance itself)."""

    def between(self, one: Ints, other: Ints) -> Floats:
        """The distances of pairs, exactly 0 for people who are alike in everything."""


@dataclass(frozen=True)
class Points:
    """People as numbers and categories: differences of numbers add up, and so does every other category."""

    numbers: Floats
    """Features × people, in units of distance."""
    codes: Ints
    """Features × people."""
    mismatch: float
    """What one other category adds."""
    exponent: int
    """1: differences add up; 2: their squares do, and the distance is the root."""

    @property
    def n(self) -> int:
        return int(self.numbers.shape[1])

    @cached_property
    def _hot(self) -> NDArray[np.float32]:
        """The categories of all columns that have few, as 0 and 1: dot products of people count how many they share."""
        few = [codes for codes in self.codes if codes.max() < _FEW]
        hot = [codes == np.arange(codes.max() + 1)[:, None] for codes in few]
        return np.vstack(hot).astype(np.float32) if hot else np.zeros((0, self.n), np.float32)

    def block(self, rows: Ints) -> Floats:
        many = [codes for codes in self.codes if codes.max() >= _FEW]
        shared = self._hot[:, rows].T @ self._hot
        total = np.multiply(len(self.codes) - len(many) - shared, self.mismatch, dtype=np.float64)
        if self.exponent == 2:
            squares = np.einsum("pn,pn->n", self.numbers, self.numbers)
            total += squares[rows, None] + squares - 2.0 * (self.numbers[:, rows].T @ self.numbers)
        for start in range(0, self.n, _TILE):
            part = slice(start, start + _TILE)
            apart = np.empty_like(total[:, part])
            for values in self.numbers if self.exponent == 1 else ():
                np.subtract(values[rows, None], values[part], out=apart)
                total[:, part] += np.abs(apart, out=apart)
            for codes in many:
                total[:, part] += self.mismatch * (codes[rows, None] != codes[part])
        return np.asarray(total)

    def between(self, one: Ints, other: Ints) -> Floats:
        total = np.zeros(one.shape)
        for values in self.numbers:
            apart = np.abs(values[one] - values[other])
            total += apart if self.exponent == 1 else apart * apart
        for codes in self.codes:
            total += self.mismatch * (codes[one] != codes[other])
        return total if self.exponent == 1 else np.sqrt(total)


@dataclass(frozen=True)
class Matrix:
    """Distances that are known already."""

    distances: Floats

    @property
    def n(self) -> int:
        return len(self.distances)

    def block(self, rows: Ints) -> Floats:
        return self.distances[rows]

    def between(self, one: Ints, other: Ints) -> Floats:
        return self.distances[one, other]


def points(people: People, metric: str) -> Points:
    """People as points. Columns that are the same for everybody must be gone already.

    >>> from evenhand.ingest.people import read_people
    >>> people = read_people({"age": [20, 40, 60], "job": ["cook", "cook", "smith"]}, ["age", "job"])
    >>> space = points(people, "gower")
    >>> space.between(np.array([0, 0]), np.array([1, 2])).tolist()  # a quarter; far apart in both
    [0.25, 1.0]
    """
    numeric = [f for f in people.features if f.numeric]
    named = [f for f in people.features if not f.numeric]
    numbers = np.array([_moderate(f.values) for f in numeric]).reshape(len(numeric), people.n)
    codes = np.array([f.values for f in named], np.int32).reshape(len(named), people.n)
    if metric == "gower":
        share = 1.0 / len(people.features)
        low, high = numbers.min(axis=1, keepdims=True), numbers.max(axis=1, keepdims=True)
        return Points((numbers - low) / (high - low) * share, codes, share, 1)
    centred = numbers - numbers.mean(axis=1, keepdims=True)
    if metric == "euclidean":
        return Points(centred / centred.std(axis=1, keepdims=True), codes, 1.0, 2)
    return _whitened(np.vstack([centred, *map(_indicators, codes)]))


def _moderate(values: Floats | Ints) -> Floats:
    """Divided by a power of 2, which changes no digit, so that the range of very large numbers is one."""
    return np.asarray(np.ldexp(values, -int(np.frexp(np.abs(values).max())[1])))


def _indicators(codes: Ints) -> Floats:
    """A row of 0 and 1 for each category, centred."""
    hot = (codes == np.arange(int(codes.max()) + 1)[:, None]).astype(np.float64)
    return np.asarray(hot - hot.mean(axis=1, keepdims=True))


def _whitened(numbers: Floats) -> Points:
    """Directions of unit variance, uncorrelated; those without variance of their own are left out."""
    scale = numbers.std(axis=1, keepdims=True)
    numbers = numbers / scale
    variance, directions = np.linalg.eigh(numbers @ numbers.T / numbers.shape[1])
    kept = variance > FLAT * variance[-1]
    white = (directions[:, kept] / np.sqrt(variance[kept])).T @ numbers
    return Points(white, np.zeros((0, numbers.shape[1]), np.int32), 0.0, 2)


def matrix(distances: Any) -> Matrix:
    """A matrix of distances, checked."""
    try:
        given = np.asarray(distances, np.float64)
    except (TypeError, ValueError):
        raise DataError("metric='precomputed' takes a square matrix of numbers as X") from None
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise DataError(f"metric='precomputed' takes a square matrix of distances as X, not one of {given.shape}")
    if not np.isfinite(given).all() or (given < 0).any():
        raise DataError("distances must be finite and not negative: repair the matrix given as X")
    if np.diagonal(given).any():
        raise DataError("everybody is at distance 0 of oneself, but the matrix given as X has other numbers there")
    if not np.allclose(given, given.T, rtol=1e-9, atol=0):
        i, j = np.argwhere(~np.isclose(given, given.T, rtol=1e-9, atol=0))[0].tolist()
        raise DataError(
            f"distances must be the same both ways, but X[{i}, {j}] is {given[i, j]:g} and X[{j}, {i}] {given[j, i]:g}"
        )
    return Matrix(given)


def asked(metric: Callable[[dict[str, Any], dict[str, Any]], float], people: People) -> Matrix:
    """Every pair of people, asked of a function that takes two of them as dicts of their columns."""
    if people.n > MOST_CALLED:
        raise UsageError(
            f"a metric of your own is asked about every pair of people, which takes too long for {people.n:,} (at most "
            f"{MOST_CALLED:,}): use a named metric, or pass distances as a matrix with metric='precomputed'"
        )
    columns = [f.plain() for f in people.features]
    rows = [dict(zip(people.names, values, strict=True)) for values in zip(*columns, strict=True)]
    distances = np.zeros((people.n, people.n))
    for i, one in enumerate(rows):
        for j in range(i):
            distances[i, j] = distances[j, i] = _asked(metric, one, rows[j])
    return Matrix(distances)


def _asked(metric: Callable[[Any, Any], Any], one: dict[str, Any], other: dict[str, Any]) -> float:
    try:
        distance = float(metric(one, other))
    except Exception as error:
        raise UsageError(
            f"metric(…) takes two people as dicts, but it failed: {type(error).__name__}: {error}"
        ) from error
    if not 0 <= distance < np.inf:
        raise DataError(f"metric(…) must return a finite distance that is not negative, not {shown(distance)}")
    return distance
