"""Columns in memory, counted by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.cells import Floats, Ints
from evenhand.ingest.columns import Columns, Weights
from evenhand.ingest.grid import Grid
from evenhand.ingest.values import Encoded, encode, to_floats
from evenhand.ingest.where import taken

_DENSE = 50_000_000


class Rows:
    """Entries of columns, each a row (or a cell of rows), as `Counting` has them."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    @property
    def length(self) -> int:
        return len(self.columns.n)

    @cached_property
    def score(self) -> Floats:
        return to_floats(self.columns.score, self.columns.names["score"], "score")

    @cached_property
    def _strata(self) -> tuple[Ints, Columns]:
        """Entries that differ in nothing but their score: the number of each, and one of each."""
        c = self.columns
        groups = {name: Encoded(*encode(values)) for name, values in c.groups.items()}
        label, prediction = (None if v is None else Encoded(*encode(v)) for v in (c.label, c.prediction))
        encoded = [e for e in (*groups.values(), label, prediction) if e is not None]
        parts: list[tuple[int, Ints]] = [(len(e.distinct), e.codes) for e in encoded]
        if c.weights is not None:
            parts.append((4, c.weights.state))
        key = np.zeros(len(c.n), np.int64)
        span = 1
        for size, codes in parts:
            if span * max(size, 1) >= 2**62:
                distinct, key = np.unique(key, return_inverse=True)
                key, span = key.reshape(-1), len(distinct)
            key = key * max(size, 1) + codes
            span *= max(size, 1)
        first, stratum = _compact(key, span)
        one = replace(c, groups=groups, score=None, label=label, prediction=prediction, n=first)
        return stratum, _picked(one, first)

    def totals(self) -> Columns:
        """Rows by everything but the score; their lowest score is `score`, their highest `further[0]`."""
        stratum, one = self._strata
        finite = np.isfinite(self.score)
        names = {**self.columns.names, "score_1": self.columns.names["score"]}
        key = 2 * stratum + finite
        size = 2 * len(one.n)
        lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(lowest, key, np.where(finite, self.score, np.nan))
        np.maximum.at(highest, key, np.where(finite, self.score, np.nan))
        found, totals = self._entries(key, size, 2)
        return replace(totals, names=names, score=lowest[found], further=(highest[found],))

    def exact(self) -> Columns:
        """Rows by score: as they are."""
        return self.columns

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        """Those rows whose score lies strictly inside one of the ranges."""
        chosen = np.zeros(len(self.score), np.bool_)
        for low, high in ranges:
            chosen |= (self.score > low) & (self.score < high)
        return taken(self.columns, chosen)

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        """Rows by the cell of a grid: `score` is its key."""
        keys = grid.keys(self.score)
        stratum, one = self._strata
        finite = ~np.isnan(keys)
        low, high = (float(keys[finite].min()), float(keys[finite].max())) if finite.any() else (0.0, 0.0)
        width = int(high - low) + 2
        place = np.where(finite, keys - low, width - 1).astype(np.int64)
        found, columns = self._entries(stratum * width + place, len(one.n) * width, width)
        place = found % width
        columns = replace(columns, score=np.where(place == width - 1, np.nan, place + low))
        if not extremes:
            return columns
        where = np.searchsorted(found, stratum * width + np.where(finite, keys - low, width - 1).astype(np.int64))
        lowest, highest = np.full(len(found), np.inf), np.full(len(found), -np.inf)
        np.minimum.at(lowest, where, np.where(finite, self.score, np.nan))
        np.maximum.at(highest, where, np.where(finite, self.score, np.nan))
        score = self.columns.names["score"]
        names = {**columns.names, "score_1": score, "score_2": score}
        return replace(columns, names=names, further=(lowest, highest))

    def _entries(self, key: Ints, size: int, width: int) -> tuple[Ints, Columns]:
        """The keys that occur, and rows by key; `key // width` is the stratum."""
        _, one = self._strata
        c = self.columns
        if size <= _DENSE:
            n = np.bincount(key, weights=c.n, minlength=size)
            found = np.flatnonzero(n)
            place, n = key, n[found]
        else:
            found, place = np.unique(key, return_inverse=True)
            place = place.reshape(-1)
            n = np.bincount(place, weights=c.n)

        def total(values: Any) -> Floats:
            sums = np.bincount(place, weights=values, minlength=size if place is key else len(found))
            return np.asarray(sums[found] if place is key else sums)

        w = c.weights
        if w is not None:
            state, fractional = w.state[one.n[found // width]], total(w.fractional).astype(np.int64)
            w = Weights(total(w.total), total(w.squares), state, fractional)
        return found, replace(_picked(one, found // width), n=np.rint(n).astype(np.int64), weights=w)


def _picked(columns: Columns, places: Ints) -> Columns:
    """Groups, label and prediction, all encoded, of these entries."""

    def of(e: Encoded | None) -> Encoded | None:
        return None if e is None else Encoded(e.codes[places], e.distinct)

    groups = {name: of(e) for name, e in columns.groups.items()}
    return replace(columns, groups=groups, label=of(columns.label), prediction=of(columns.prediction))


def _compact(key: Ints, span: int) -> tuple[Ints, Ints]:
    """Of numbers below `span`: where each that occurs stands first, and all of them as places among those."""
    if span > _DENSE:
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return first, place.reshape(-1)
    seen = np.full(span, -1, np.int64)
    seen[key[::-1]] = np.arange(len(key) - 1, -1, -1)
    present = np.flatnonzero(seen >= 0)
    new = np.zeros(span, np.int64)
    new[present] = np.arange(len(present))
    return seen[present], new[key]
