"""Columns on an accelerator, counted there: only cells come back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, cast

import numpy as np

from evenhand.errors import DataError
from evenhand.ingest.columns import TOO_MUCH, Columns, Weights, scales_of_weights
from evenhand.ingest.engines import tensor_passes as passes
from evenhand.ingest.engines.array_api import Space
from evenhand.ingest.engines.tensor_codes import Coded, Resident, coded, looked_up, narrow, numbers, or_else, states
from evenhand.ingest.engines.tensor_passes import SPAN
from evenhand.ingest.values import Encoded
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.decimals import Narrow
from evenhand.tables.exact_sums import Scales
from evenhand.tables.grid import Grid

SMALL = 100_000
"""So few rows are as soon counted by the processor."""


class Tensors:
    """Rows that a device counts, as `Counting` has them."""

    split = False

    def __init__(
        self, columns: Mapping[str, tuple[str, Any]], groups: Mapping[str, Any], narrow: Narrow | None = None
    ) -> None:
        self.names = {role: name for role, (name, _) in columns.items()}
        self.groups = list(groups)
        given = [values for _, values in [*columns.values(), *groups.items()]]
        self.space: Space = next(v.space for v in given if isinstance(v, Resident))
        self.length = len(given[0])
        roles = {role: values for role, (_, values) in columns.items()}
        self.score, self.weight = (
            cast(Any, numbers(self.space, roles[r], self.names[r], r) if r in roles else None)
            for r in ("score", "weight")
        )
        self.precision = {} if narrow is None else {"score": narrow.name}
        if narrow is not None:
            self.score = passes.shortest(self.space, self.score, narrow)
        self.parts: dict[str, Coded] = {
            role: coded(self.space, roles[role], self.names[role]) for role in ("prediction", "label") if role in roles
        }
        self.parts |= {f"group {name}": coded(self.space, values, name) for name, values in groups.items()}
        if self.weight is not None:
            self.parts["state"] = states(self.space, self.weight)
        self.stratum, self.strata = self._joined()

    # ---- strata --------------------------------------------------------------------------------------------

    def _joined(self) -> tuple[Any, Ints]:
        """Which rows differ in nothing but their score: the stratum of each, and the combination it stands for."""
        space = self.space
        columns = [(part.codes, part.low, max(len(part.values), 1)) for part in self.parts.values()]
        size = math.prod(span for _, _, span in columns)
        if size <= SPAN:
            return passes.joined(space, columns, size), np.arange(size)
        if size >= 2**62:
            raise DataError(
                f"the groups have {size:.0e} combinations, too many to be numbered on a device: pass fewer group "
                "columns at a time, or move the tensors to the processor first"
            )

        def number(piece: slice) -> Any:
            return passes.numbered(space, columns, piece)

        found = passes.distinct(space, self.length, number)
        return looked_up(space, self.length, found, number, []).codes, space.down(found)

    @cached_property
    def _totals(self) -> tuple[Ints, Floats, Floats]:
        return passes.extents(self.space, self.score, self.stratum, len(self.strata))

    @cached_property
    def _present(self) -> Bools:
        """Which strata have rows."""
        if self.score is not None:
            return np.asarray(self._totals[0].reshape(-1, 2).sum(1) > 0)
        found, _, _ = self._counted(len(self.strata), self._own)
        return np.isin(np.arange(len(self.strata)), found)

    @cached_property
    def _encoded(self) -> dict[str, Encoded]:
        """Each column of each stratum; of the values, those that occur."""
        out: dict[str, Encoded] = {}
        rest = self.strata
        for name, part in reversed(self.parts.items()):
            rest, codes = np.divmod(rest, max(len(part.values), 1))
            found = np.unique(codes[self._present])
            new = np.zeros(max(len(part.values), 1), np.int64)
            new[found] = np.arange(len(found))
            out[name] = Encoded(narrow(new, len(found))[codes], [part.values[k] for k in found.tolist()])
        return out

    def _own(self, piece: slice) -> Any:
        return self.space.ints(self.stratum[piece])

    # ---- counting ------------------------------------------------------------------------------------------

    def totals(self) -> Columns:
        n, lowest, highest = self._totals
        found = np.flatnonzero(n)
        weights = None
        if self.weight is not None:

            def key(piece: slice) -> Any:
                finite = self.space.finite(self.space.floats(self.score[piece]))
                return 2 * self._own(piece) + self.space.ints(finite)

            weights = self._weights(key, 2 * len(self.strata), found // 2)
        odd = found % 2 == 1
        ends = [np.where(odd, e[found], np.nan) for e in (lowest, highest)]
        return self._columns(found // 2, n[found], weights, ends[0], (ends[1],))

    def size(self) -> int:
        return self.length

    def exact(self) -> Columns:
        space, strata = self.space, len(self.strata)
        if self.score is None:
            found, n, _ = self._counted(strata, self._own)
            return self._columns(found, n, self._weights(self._own, strata, found))

        def score(piece: slice) -> Any:
            return or_else(space, space.floats(self.score[piece]) + 0.0, np.inf)

        ordered = passes.distinct(space, self.length, score)

        def key(piece: slice) -> Any:
            return space.places(ordered, score(piece)) * strata + self._own(piece)

        size = len(ordered) * strata
        found, n, _ = self._counted(size, key)
        values = space.down(ordered)[found // strata]
        return self._columns(found % strata, n, self._weights(key, size, found % strata), values)

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        rows = passes.inside(self.space, self.score, ranges)
        self._encoded  # noqa: B018 - known before, for labels and groups stay those of all rows
        if self.weight is not None:
            self._scales  # noqa: B018 - and so are parts of weights
        some = copy(self)
        some.length, some.score, some.stratum = len(rows), self.score[rows], self.stratum[rows]
        some.weight = None if self.weight is None else self.weight[rows]
        return some.exact()

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        low, width = self._span(grid)
        strata = len(self.strata)
        size = width * strata

        def key(piece: slice) -> Any:
            x = self.space.floats(self.score[piece])
            return passes.places(self.space, grid, x, low, width) * strata + self._own(piece)

        fused = self.space.kernels(self.score) if size <= passes.DENSE else None
        if fused is not None:
            place, stratum, n, ends = self._fused(fused, grid, low, width, extremes)
        else:
            found, n, _ = self._counted(size, key)
            place, stratum = np.divmod(found, strata)
            ends = passes.ends_of(self.space, self.length, key, found, self.score) if extremes else ()
        score = np.where(place == width - 1, np.nan, place + low)
        return self._columns(stratum, n, self._weights(key, size, stratum), score, ends)

    def _span(self, grid: Grid) -> tuple[float, int]:
        """The key of the lowest score, and how many keys there are, with one for scores that are not finite."""
        n, lowest, highest = self._totals
        finite = (np.arange(len(n)) % 2 == 1) & (n > 0)
        if not finite.any():
            return 0.0, 2
        low, high = grid.keys(np.array([lowest[finite].min(), highest[finite].max()]))
        return float(low), int(high - low) + 2

    def _fused(self, fused: Any, grid: Grid, low: float, width: int, extremes: bool) -> tuple[Ints, Ints, Ints, Any]:
        """Where people are on the grid, of which stratum and how many; and the ends of their scores."""
        space, strata = self.space, len(self.strata)
        n, lowest, highest = fused.cells(self.score, self.stratum, strata, grid, low, width, extremes)
        found = space.found(n)
        place = found // strata
        ends = tuple(space.down(space.floats(e[found])) for e in (lowest, highest)) if extremes else ()
        stratum = space.narrow(found - place * strata, strata)
        return space.down(space.narrow(place, width)), space.down(stratum), space.down(n[found]), ends

    def _counted(self, size: int, key: passes.Piecewise) -> Any:
        return passes.counted(self.space, self.length, key, size)

    # ---- weights -------------------------------------------------------------------------------------------

    @cached_property
    def _scales(self) -> dict[str, Scales]:
        """What cuts weights into parts."""
        space, rows = self.space, self.length
        smallest, largest = np.inf, 0.0
        for piece in passes.pieces(space, rows):
            w = or_else(space, space.floats(self.weight[piece]), 0.0)
            smallest = min(smallest, space.ends(space.where(w > 0, w, np.inf))[0])
            largest = max(largest, space.ends(w)[1])
        return scales_of_weights(min(smallest, largest), largest, rows)

    def _weights(self, key: passes.Piecewise, size: int, stratum: Ints) -> Weights | None:
        if self.weight is None:
            return None
        space, rows = self.space, self.length

        def w(piece: slice) -> Any:
            return or_else(space, space.floats(self.weight[piece]), 0.0)

        def fractional(piece: slice) -> Any:
            return space.floats(space.floor(w(piece)) != w(piece))

        def squared(piece: slice) -> Any:
            own = w(piece)
            own = space.where(own < TOO_MUCH, own, 0.0)
            return own * own

        total = passes.exact_sums(space, rows, key, size, w, self._scales["total"])
        squares = passes.exact_sums(space, rows, key, size, squared, self._scales["squares"])
        _, _, (parts,) = passes.counted(space, rows, key, size, [fractional])
        state = self._encoded["state"]
        known = np.array(state.distinct, np.int64)[state.codes][stratum]
        return Weights(total, squares, known, np.asarray(parts).astype(np.int64))

    # ---- cells ---------------------------------------------------------------------------------------------

    def _columns(
        self, stratum: Ints, n: Ints, weights: Weights | None, score: Any = None, further: tuple[Any, ...] = ()
    ) -> Columns:
        def of(name: str) -> Encoded | None:
            e = self._encoded.get(name)
            return None if e is None else Encoded(e.codes[stratum], e.distinct)

        more = {f"score_{i}": self.names["score"] for i in range(1, len(further) + 1)}
        return Columns(
            names={**self.names, **more},
            groups={name: of(f"group {name}") for name in self.groups},
            n=np.asarray(n, np.int64),
            score=score,
            label=of("label"),
            prediction=of("prediction"),
            weights=weights,
            further=further,
            precision=self.precision,
        )
