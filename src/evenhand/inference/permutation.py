"""Tables with permuted group labels: what counts look like when groups are alike.

Labels are permuted within a stratum: everybody, those with one label, or those at one level (a decision, a score
bin). In a table that is a hypergeometric split of what each cell holds, whatever the number of people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.dense import Counts
from evenhand.tables.table import Within

BLOCK = 500
"""So many tables are made at once, each block from a stream of its own: results do not depend on how they are used."""

MOST_TABLES = 10_000
"""Up to so many tables are listed all instead of drawn."""

MOST_EXACT = 10**9
"""Above so many people the draws are multinomial: there the two distributions are the same to the eye."""

AnyCounts = TypeVar("AnyCounts", bound=Counts)


def permuted(counts: AnyCounts, draws: int, rng: np.random.Generator, within: Within) -> Iterator[AnyCounts]:
    """Blocks of counts with a leading axis, `draws` in all, each with the groups and strata as large as they are."""
    strata = _strata(counts, within)
    for random in rng.spawn(-(-draws // BLOCK)):
        size = min(BLOCK, draws)
        draws -= size
        drawn = _multinomial(strata, size, random) if strata.sum() >= MOST_EXACT else _split(strata, size, random)
        yield replace(counts, array=_unstratified(drawn, counts, within), squares=None, units=None)


def all_permuted(counts: AnyCounts, within: Within) -> tuple[AnyCounts, Floats] | None:
    """Every table of two groups there can be, with its probability; None if there are too many.

    >>> import numpy as np
    >>> tables, probability = all_permuted(Counts(np.array([[[1], [0]], [[1], [2]]]), ("a", "b")), "all")
    >>> tables.array[:, 0, 0, 0].tolist(), probability.round(3).tolist()  # 1 of 4 people is below, 2 of 4 are of a
    ([0, 1], [0.5, 0.5])
    """
    if len(counts.groups) != 2:
        return None
    strata = _strata(counts, within)
    tables = np.zeros((1, 0, strata.shape[1]), np.int64)
    chance = np.zeros(1)
    for stratum in strata:
        found = _all_splits(stratum.sum(1), int(stratum[:, 0].sum()))
        if found is None or len(found[0]) * len(tables) > MOST_TABLES:
            return None
        rows, log_chance = found
        tables = np.concatenate(
            [np.repeat(tables, len(rows), axis=0), np.tile(rows, (len(tables), 1))[:, None, :]], axis=1
        )
        chance = (chance[:, None] + log_chance).ravel()
    both = np.stack([tables, strata.sum(-1) - tables], axis=-1)
    probability = np.exp(chance - chance.max())
    array = _unstratified(both, counts, within)
    return replace(counts, array=array, squares=None, units=None), probability / probability.sum()


def _strata(counts: Counts, within: Within) -> Ints:
    """Whole counts by axes (stratum, cell, group)."""
    array: Ints = np.rint(counts.array).astype(np.int64)
    levels, groups, labels = array.shape
    if within == "label":
        return np.asarray(array.transpose(2, 0, 1))
    by_cell: Ints = array.transpose(0, 2, 1)
    return by_cell if within == "level" else by_cell.reshape(1, levels * labels, groups)


def _unstratified(drawn: NDArray[Any], counts: Counts, within: Within) -> NDArray[Any]:
    """Back to axes (draw, level, group, label)."""
    levels, groups, labels = counts.array.shape
    if within == "label":
        return drawn.transpose(0, 2, 3, 1)
    return drawn.reshape(len(drawn), levels, labels, groups).transpose(0, 1, 3, 2)


def _split(strata: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Cell after cell, its people are shared out among the places that each group has left."""
    count, cells, groups = strata.shape
    drawn = np.empty((draws, count, cells, groups), np.int64)
    places = np.broadcast_to(strata.sum(1), (draws, count, groups)).copy()
    for cell in range(cells - 1):
        left = np.broadcast_to(strata[:, cell].sum(-1), (draws, count))
        others = places.sum(-1)
        for g in range(groups - 1):
            others = others - places[..., g]
            taken = rng.hypergeometric(places[..., g], others, left)
            drawn[:, :, cell, g] = taken
            left = left - taken
        drawn[:, :, cell, -1] = left
        places -= drawn[:, :, cell]
    drawn[:, :, -1] = places
    return drawn


def _multinomial(strata: Ints, draws: int, rng: np.random.Generator) -> Ints:
    count, cells, groups = strata.shape
    drawn = np.zeros((draws, count, cells, groups), np.int64)
    for s, stratum in enumerate(strata):
        people = stratum.sum(1)
        if people.any():
            for g, size in enumerate(stratum.sum(0)):
                drawn[:, s, :, g] = rng.multinomial(size, people / people.sum(), size=draws)
    return drawn


def _all_splits(people: Ints, wanted: int) -> tuple[Ints, Floats] | None:
    """All ways to take `wanted` people from cells, and the logarithm of how often each occurs."""
    from scipy.special import gammaln

    rows = np.zeros((1, 0), np.int64)
    left = np.array([wanted])
    chance = np.zeros(1)
    rest = int(people.sum())
    for n in people.tolist():
        rest -= n
        low, high = np.maximum(0, left - rest), np.minimum(n, left)
        choices = high - low + 1
        if choices.sum() > MOST_TABLES:
            return None
        parent = np.repeat(np.arange(len(rows)), choices)
        taken = np.arange(len(parent)) - np.repeat(np.cumsum(choices) - choices, choices) + low[parent]
        rows = np.concatenate([rows[parent], taken[:, None]], axis=1)
        left = left[parent] - taken
        chance = chance[parent] + gammaln(n + 1) - gammaln(taken + 1) - gammaln(n - taken + 1)
    return rows, chance
