"""Resampled tables: counts with a leading axis. They cost the same for ten thousand rows and for a billion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.cells import Floats
from evenhand.table import Counts

_CELLS_AT_ONCE = 4_000_000

AnyCounts = TypeVar("AnyCounts", bound=Counts)


def bootstrap(
    counts: AnyCounts, draws: int, rng: np.random.Generator, extra: NDArray[Any] | None = None
) -> Iterator[AnyCounts]:
    """Batches of counts with a leading axis, `draws` in all: rows drawn with replacement.

    Whole counts: a multinomial over the cells. Sampling weights: each row is weighed by an exponential
    variable (Rubin's Bayesian bootstrap), so a cell's total is close to a gamma variable with mean Σw and
    variance Σw².

    `extra` are people added to the population that is drawn from, so that what a small group happens to lack is not
    taken for impossible; resamples then vary around `smoothed`.
    """
    population = smoothed(counts, extra)
    size = population.size
    at_once = max(1, _CELLS_AT_ONCE // size)
    if counts.squares is not None:
        squares = counts.squares if extra is None else counts.squares + _unit(counts) ** 2 * extra
    for start in range(0, draws, at_once):
        batch = min(at_once, draws - start)
        if counts.squares is None:
            rows = int(counts.array.sum())
            flat = population.ravel() / population.sum()
            drawn: NDArray[Any] = rng.multinomial(rows, flat, size=batch)
        else:
            flat, square = population.ravel(), squares.ravel()
            with np.errstate(divide="ignore", invalid="ignore"):
                shape = np.where(square > 0, flat * flat / square, 0.0)
                scale = np.where(flat > 0, square / flat, 0.0)
            drawn = rng.gamma(shape, size=(batch, size)) * scale
        yield replace(counts, array=drawn.reshape(batch, *population.shape), squares=None)


def smoothed(counts: Counts, extra: NDArray[Any] | None) -> Floats:
    """The population resamples are drawn from: some people more."""
    population = counts.array.astype(np.float64)
    return population if extra is None else population + _unit(counts) * extra


def _unit(counts: Counts) -> float:
    """What a person weighs, so that intervals do not depend on the unit of the weights."""
    return 1.0 if counts.squares is None else float(counts.squares.sum() / counts.array.sum())


def generator(rng: Any) -> np.random.Generator:
    """A seed, a generator or None (seed 0: the same data give the same report) as a generator."""
    from evenhand.errors import UsageError, shown

    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng(0)
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise UsageError(f"rng must be a whole number from 0 or a numpy Generator, not {shown(rng)}")
    return np.random.default_rng(int(rng))
