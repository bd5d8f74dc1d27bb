"""Resampled tables: counts with a leading axis. They cost the same for ten thousand rows and for a billion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError, is_whole, shown
from evenhand.tables.arrays import Floats
from evenhand.tables.dense import Counts, Units
from evenhand.tables.noise import rising

CELLS_AT_ONCE = 4_000_000

AnyCounts = TypeVar("AnyCounts", bound=Counts)


def bootstrap(
    counts: AnyCounts, draws: int, rng: np.random.Generator, population: Floats | None = None, stratified: bool = False
) -> Iterator[AnyCounts]:
    """Batches of counts with a leading axis, `draws` in all: rows drawn with replacement.

    Whole counts: a multinomial over the cells. Sampling weights: each row is drawn a Poisson number of times, so a
    cell's total is close to a Poisson variable, scaled to have mean Σw and variance Σw². Clusters: whole clusters are
    drawn, which takes time in proportion to the rows.

    `population` is what is drawn from, if it is not the counts themselves but, say, `smoothed` ones. `stratified`
    keeps the size of every group.
    """
    if counts.units is not None:
        yield from _clusters(counts, counts.units, draws, rng, population, stratified)
        return
    drawn_from = counts.array.astype(np.float64) if population is None else population
    if counts.noisy and counts.squares is not None:
        yield from _noised(counts, drawn_from, draws, rng, stratified)
        return
    at_once = max(1, CELLS_AT_ONCE // drawn_from.size)
    flat = drawn_from.ravel()
    weight = (drawn_from > 0) * _weight_in_cells(counts)
    size = drawn_from.sum((-3, -1), keepdims=True)
    streams = rng.spawn(len(counts.groups)) if stratified else []
    for start in range(0, draws, at_once):
        batch = min(at_once, draws - start)
        if stratified and counts.squares is None:
            of_groups = (_group(drawn_from, g, batch, random) for g, random in enumerate(streams))
            yield replace(counts, array=np.stack([*of_groups], axis=-2), squares=None)
            continue
        if counts.squares is None:
            drawn: NDArray[Any] = rng.multinomial(int(counts.array.sum()), flat / flat.sum(), size=batch)
        else:
            people = np.divide(flat, weight.ravel(), out=np.zeros_like(flat), where=flat > 0)
            drawn = rng.poisson(people, size=(batch, flat.size)) * weight.ravel()
        drawn = drawn.reshape(batch, *drawn_from.shape)
        if stratified:
            drawn = _scaled(drawn, size)
        yield replace(counts, array=drawn, squares=None)


def _noised(
    counts: AnyCounts, population: Floats, draws: int, rng: np.random.Generator, stratified: bool
) -> Iterator[AnyCounts]:
    """Rows drawn with replacement, with noise anew, made a table again: as a private table comes about."""
    assert counts.squares is not None
    spread = np.sqrt(np.maximum(counts.squares - counts.array, 0.0))
    size = np.asarray(counts.array, np.float64).sum((-3, -1), keepdims=True)
    at_once = max(1, CELLS_AT_ONCE // population.size)
    for start in range(0, draws, at_once):
        shape = (min(at_once, draws - start), *population.shape)
        drawn = rising(rng.poisson(population, size=shape) + spread * rng.standard_normal(shape), axis=-3)
        yield replace(counts, array=_scaled(drawn, size) if stratified else drawn, squares=None, noisy=False)


def spread_noise(counts: AnyCounts, position: Floats) -> AnyCounts:
    """Counts of a private table whose noise is spread evenly over the scores, at these places between 0 and 1.

    Cells that turned out empty had noise too, and a table has no cells without people to tell.
    """
    assert counts.squares is not None
    order = np.argsort(position)
    between = (position[order][1:] + position[order][:-1]) / 2
    share = np.empty(len(position))
    share[order] = np.diff(np.concatenate([[0.0], between, [1.0]]))
    noise = np.maximum(counts.squares - counts.array, 0.0).sum(-3, keepdims=True)
    return replace(counts, squares=counts.array + share[:, None, None] * noise, noisy=True)


def _clusters(
    counts: AnyCounts, units: Units, draws: int, rng: np.random.Generator, population: Floats | None, stratified: bool
) -> Iterator[AnyCounts]:
    """Clusters drawn with replacement. A `population` shifts what they add up to, nowhere below 0."""
    from scipy.sparse import csr_array

    shape = counts.array.shape
    holds = csr_array((units.mass, (units.place, units.cluster)), shape=(counts.array.size, units.count))
    shift = 0.0 if population is None else population - counts.array
    size = np.asarray(counts.array, np.float64).sum((-3, -1), keepdims=True)
    at_once = max(1, CELLS_AT_ONCE // max(counts.array.size, units.count))
    for start in range(0, draws, at_once):
        batch = min(at_once, draws - start)
        times = rng.multinomial(units.count, np.full(units.count, 1 / units.count), size=batch)
        drawn = np.ascontiguousarray((holds @ times.T.astype(np.float64)).T).reshape(batch, *shape)
        drawn = np.maximum(drawn + shift, 0.0)
        if stratified:
            drawn = _scaled(drawn, size)
        yield replace(counts, array=drawn, squares=None, units=None)


def _scaled(drawn: NDArray[Any], size: Floats) -> Floats:
    """Every group as large as it is."""
    total = drawn.sum((-3, -1), keepdims=True)
    return np.asarray(drawn * np.divide(size, total, out=np.zeros(total.shape), where=total > 0))


def _group(population: Floats, group: int, draws: int, rng: np.random.Generator) -> NDArray[Any]:
    """One group, redrawn as large as it is: axes (draw, level, label)."""
    own = population[:, group]
    drawn = rng.multinomial(int(np.rint(own.sum())), own.ravel() / max(own.sum(), 1e-300), size=draws)
    return drawn.reshape(draws, *own.shape)


def smoothed(counts: Counts, extra: NDArray[Any], within: tuple[int, ...]) -> Floats:
    """The counts with some people more, scaled back so that sums over the axes `within` stay what they are.

    What a small group happens to lack is then not taken for impossible, and the group is no larger than it is.
    """
    more = counts.array + counts.weight_of_a_person[:, None] * extra
    whole = counts.array.sum(within, keepdims=True)
    total = more.sum(within, keepdims=True)
    return np.asarray(more * np.divide(whole, total, out=np.zeros(total.shape), where=total > 0))


def _weight_in_cells(counts: Counts) -> Floats:
    """What a person weighs in each cell; where nobody is, what one of the group does."""
    group = np.broadcast_to(counts.weight_of_a_person[:, None], counts.array.shape)
    if counts.squares is None:
        return group
    return np.asarray(np.divide(counts.squares, counts.array, out=group.copy(), where=counts.array > 0))


def generator(rng: Any) -> np.random.Generator:
    """A seed, a generator or None (seed 0: the same data give the same report) as a generator."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng(0)
    if not is_whole(rng) or rng < 0:
        raise UsageError(f"rng must be a seed (--seed), a whole number from 0, or a numpy Generator, not {shown(rng)}")
    return np.random.default_rng(int(rng))
