"""Two groups with the same mix of strata: their counts, resamples of them, and tables with labels permuted in strata.

Standardisation by cells: the people of a group in a stratum count so much that every stratum has the share that it has
among everybody. A distance of such counts is one distance of two mixtures. The mean of a distance per stratum is none:
each is positive by chance, and in strata of ten people that is most of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.tables.arrays import Floats, Ints

ENTRIES_AT_ONCE = 3_000_000


@dataclass(frozen=True)
class Layers:
    """People of a group and its reference in layers: a stratum, or its people with one label, or in one score bin.

    Of each kind of layer (everybody; one label; one bin) the shares of both groups are the same. Layers that lack a
    group are not here.
    """

    layer: Ints
    """Of each entry, in order;"""
    place: Ints
    """where it stands among (level, label), as one number;"""
    counts: Floats
    """its people, axes (entry, group)."""
    kind: Ints
    """Of each layer;"""
    share: Floats
    """what share of its kind it is given."""
    shape: tuple[int, int]
    """Levels and labels."""

    @classmethod
    def of(cls, layer: Ints, place: Ints, group: Ints, n: Any, kinds: Ints, people: Floats, shape: tuple[int, int]) -> (
        Layers
    ):  # fmt: skip
        """From cells in any order: the layer, place, group (0 or 1) and people of each; of each layer its kind and how
        many people say what share it has."""
        size = len(kinds)
        both = np.bincount(2 * layer + group, n, 2 * size).reshape(-1, 2).min(1) > 0
        kept = both[layer]
        layer, place, group, n = ((np.cumsum(both) - 1)[layer[kept]], place[kept], group[kept], n[kept])
        key, own = np.unique(layer * (shape[0] * shape[1]) + place, return_inverse=True)
        counts: Floats = np.bincount(2 * own.reshape(-1) + group, n, 2 * len(key)).reshape(-1, 2).astype(np.float64)
        kind, people = kinds[both], people[both]
        share = people / np.bincount(kind, people, int(kinds.max(initial=0)) + 1)[kind]
        return cls(key // (shape[0] * shape[1]), key % (shape[0] * shape[1]), counts, kind, share, shape)

    @cached_property
    def sizes(self) -> Floats:
        """People by layer and group."""
        return np.stack([np.bincount(self.layer, self.counts[:, g], len(self.kind)) for g in (0, 1)], axis=-1)

    @cached_property
    def of_kind(self) -> Floats:
        """People by kind of layer and group."""
        kinds = int(self.kind.max(initial=-1)) + 1
        return np.stack([np.bincount(self.kind, self.sizes[:, g], kinds) for g in (0, 1)], axis=-1)

    @cached_property
    def weight(self) -> Floats:
        """What a person of a layer and group counts: each group has as many people of a kind as before."""
        return self.share[:, None] * self.of_kind[self.kind] / self.sizes

    def standardised(self) -> Floats:
        """The counts, axes (level, group, label)."""
        return self._dense(np.stack([self._total(self.counts[:, g], g) for g in (0, 1)], axis=-1))

    @cached_property
    def known(self) -> Floats:
        """How many people of one stratum would know as much, by kind of layer and group."""
        kinds = len(self.of_kind)
        squares = [np.bincount(self.kind, self.share**2 / self.sizes[:, g], kinds) for g in (0, 1)]
        with np.errstate(divide="ignore"):
            return 1 / np.stack(squares, axis=-1)

    def permuted(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Counts when the group is drawn anew among the people of each layer, axes (draw, level, group, label)."""
        people = np.rint(self.counts.sum(1)).astype(np.int64)
        sizes = np.rint(self.sizes).astype(np.int64)
        for batch in self._batches(draws):
            own, others = (np.broadcast_to(sizes[:, g], (batch, len(sizes))).copy() for g in (0, 1))
            taken = np.empty((batch, len(people)))
            for entries in self._rounds:
                at = self.layer[entries]
                found = rng.hypergeometric(own[:, at], others[:, at], people[entries])
                own[:, at] -= found
                others[:, at] -= people[entries] - found
                taken[:, entries] = found
            both = [self._total(taken, 0), self._total(people - taken, 1)]
            yield self._dense(np.stack(both, axis=-1))

    @property
    def centre(self) -> Floats:
        """What resamples vary around: one person more in each layer and group, who may have anybody's place."""
        own = self.sizes / (self.sizes + 1)
        parts = []
        for g in (0, 1):
            pool = np.bincount(self.kind, own[:, g] * self.weight[:, g], len(self._pool[g]))
            parts.append(self._total(self.counts[:, g] * own[self.layer, g], g) + pool @ self._pool[g])
        return self._dense(np.stack(parts, axis=-1))

    def resampled(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """People of each layer and group drawn anew, as many as there are, axes (draw, level, group, label)."""
        for batch in self._batches(draws):
            yield self._dense(np.stack([self._redrawn(g, batch, rng) for g in (0, 1)], axis=-1))

    @property
    def narrow(self) -> float:
        """By how much such resamples move too little: of n people n² + n + 1 over (n + 1)² of the variance is left."""
        n, kinds = self.sizes, len(self.of_kind)
        spread = self.share[:, None] ** 2 / n
        left = spread * (n * n + n + 1) / (n + 1) ** 2
        whole, seen = (np.bincount(self.kind, part.sum(1), kinds) for part in (spread, left))
        return float(np.sqrt((whole[seen > 0] / seen[seen > 0]).max(initial=1.0)))

    # ---- parts -------------------------------------------------------------------------------------------------------

    @cached_property
    def _pool(self) -> tuple[Floats, Floats]:
        """By group, axes (kind, place): where one more person may stand, as the group does or one of both."""
        whole = self.standardised().transpose(0, 2, 1).reshape(-1, 2)
        kinds = np.zeros((len(self.of_kind), len(whole)), np.bool_)
        kinds[self.kind[self.layer], self.place] = True
        found = []
        for g in (0, 1):
            own = np.where(kinds, whole[:, g], 0.0)
            both = np.where(kinds, whole.sum(1), 0.0)
            mixed = own + both / np.maximum(both.sum(1, keepdims=True), 1e-300)
            found.append(mixed / np.maximum(mixed.sum(1, keepdims=True), 1e-300))
        return found[0], found[1]

    def _redrawn(self, g: int, batch: int, rng: np.random.Generator) -> Floats:
        """One group, by (draw, place): most people with a place of their own layer, about one with one of the pool."""
        n = np.rint(self.sizes[:, g]).astype(np.int64)
        pooled = rng.binomial(n, 1 / (n + 1), size=(batch, len(n)))
        left, rest = n - pooled, self.sizes[:, g].copy()
        taken = np.zeros((batch, len(self.layer)))
        for entries in self._rounds:
            at, own = self.layer[entries], self.counts[entries, g]
            chance = np.where(rest[at] > 0, own / np.maximum(rest[at], 1e-300), 0.0)
            found = rng.binomial(left[:, at], np.minimum(chance, 1.0))
            left[:, at] -= found
            rest[at] -= own
            taken[:, entries] = found
        return self._total(taken, g) + self._from_pool(g, pooled, rng)

    def _from_pool(self, g: int, pooled: Ints, rng: np.random.Generator) -> Floats:
        batch, places = len(pooled), self.shape[0] * self.shape[1]
        draw, layer = (np.repeat(index.ravel(), pooled.ravel()) for index in np.indices(pooled.shape))
        out = np.zeros(batch * places)
        for kind, chance in enumerate(self._pool[g]):
            some = self.kind[layer] == kind
            upto = np.cumsum(chance)
            at = np.searchsorted(upto, rng.random(int(some.sum())) * upto[-1], side="right")
            at = np.minimum(at, places - 1)
            out += np.bincount(draw[some] * places + at, self.weight[layer[some], g], batch * places)
        return out.reshape(batch, places)

    @cached_property
    def _rounds(self) -> list[Ints]:
        """The entries in so many rounds that each has at most one of a layer."""
        first = np.searchsorted(self.layer, np.arange(len(self.kind)))
        rank = np.arange(len(self.layer)) - first[self.layer]
        order = np.argsort(rank, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(rank[order])) + 1)

    @cached_property
    def _sums(self) -> tuple[Any, Any]:
        from scipy.sparse import csr_array

        shape = self.shape[0] * self.shape[1], len(self.layer)
        entries = np.arange(len(self.layer))
        weights = (self.weight[self.layer, g] for g in (0, 1))
        first, second = (csr_array((w, (self.place, entries)), shape=shape) for w in weights)
        return first, second

    def _total(self, counts: Floats, g: int) -> Floats:
        """Weighted people of a group by (…, place)."""
        return np.asarray((self._sums[g] @ counts.T).T)

    def _dense(self, by_place: Floats) -> Floats:
        """From axes (…, place, group) to (…, level, group, label)."""
        return np.swapaxes(by_place.reshape(*by_place.shape[:-2], *self.shape, 2), -1, -2)

    def _batches(self, draws: int) -> Iterator[int]:
        at_once = max(1, ENTRIES_AT_ONCE // max(len(self.layer), 2 * self.shape[0] * self.shape[1], 1))
        for start in range(0, draws, at_once):
            yield min(at_once, draws - start)
