"""Columns on an accelerator, counted there: only cells come back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.cells import Bools, Floats, Ints
from evenhand.errors import DataError, UsageError, shown
from evenhand.ingest import passes, spaces
from evenhand.ingest.columns import NEGATIVE, NOT_FINITE, OK, ZERO, Columns, Weights
from evenhand.ingest.grid import Grid
from evenhand.ingest.spaces import Space
from evenhand.ingest.values import Encoded, encode, to_floats

SMALL = 100_000
"""So few rows are as soon counted by the processor."""
_SPAN = 1 << 16
"""Whole numbers that lie no further apart are codes as they are."""


@dataclass(frozen=True)
class Resident:
    """A column on a device."""

    array: Any
    space: Space
    device: tuple[int, int]

    def __len__(self) -> int:
        return int(self.array.shape[0])


def brought(values: Any) -> Any:
    """Values where numpy can count them. Narrow numbers that it does not have become wider ones."""
    if not isinstance(values, Resident):
        return values
    array, space = values.array, values.space
    return space.down(space.floats(array) if space.kind(array) == "f" else array)


def on_device(columns: Sequence[Any]) -> bool:
    """Whether some columns are on a device; it must be the same for all of those."""
    devices = list(dict.fromkeys(c.device for c in columns if isinstance(c, Resident)))
    if len(devices) > 1:
        where = " and ".join(str(number) for _, number in devices)
        raise UsageError(f"tensors are counted on one device, but these are on devices {where}: move them to one")
    return bool(devices)


def settled(values: Any, name: str) -> Any:
    """Tensors: those on a device stay there, others become numpy's arrays; what is no tensor is left as it is."""
    device = spaces.device_of(values)
    if device is None:
        return values
    space = None if device[0] in spaces.HOST else spaces.space_on(*device)
    if space is None:
        return spaces.on_host(values, name)
    try:
        array = space.adopt(values)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise DataError(f"column {shown(name)} cannot be read where it is: {error}") from error
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"column {shown(name)} must be one-dimensional, but has {array.ndim} dimensions")
    return Resident(array, space, device)


@dataclass(frozen=True)
class Coded:
    """A column of few values: whole numbers from `low` on, and what each stands for."""

    codes: Any
    low: int
    values: Sequence[Any]


class Tensors:
    """Rows that a device counts, as `Counting` has them."""

    def __init__(self, columns: Mapping[str, tuple[str, Any]], groups: Mapping[str, Any]) -> None:
        self.names = {role: name for role, (name, _) in columns.items()}
        self.groups = list(groups)
        given = {name: values for name, values in [*columns.values(), *groups.items()]}
        self.space: Space = next(v.space for v in given.values() if isinstance(v, Resident))
        self.length = len(next(iter(given.values())))
        roles = {role: values for role, (_, values) in columns.items()}
        self.score = self._number(roles["score"], "score") if "score" in roles else None
        self.weight = self._number(roles["weight"], "weight") if "weight" in roles else None
        parts = {r: self._coded(roles[r], self.names[r]) for r in ("prediction", "label") if r in roles}
        parts |= {f"group {name}": self._coded(values, name) for name, values in groups.items()}
        if self.weight is not None:
            parts["state"] = Coded(self._state(), 0, range(4))
        self.parts = parts
        self.stratum, self.strata = self._joined()

    # ---- columns to codes ----------------------------------------------------------------------------------

    def _number(self, values: Any, role: str) -> Any:
        if not isinstance(values, Resident):
            return self.space.up(to_floats(values, self.names[role], role))
        if self.space.kind(values.array) not in "biuf":
            raise DataError(f"{role} column {shown(self.names[role])} must hold numbers, but holds {values.array.dtype}")
        plain = self.space.kind(values.array) in "fi"
        return values.array if plain else self._made(lambda piece: self.space.floats(values.array[piece]))

    def _coded(self, values: Any, name: str) -> Coded:
        if not isinstance(values, Resident):
            codes, found = encode(values)
            return Coded(self.space.up(_narrow(codes, len(found))), 0, found)
        array, kind = values.array, self.space.kind(values.array)
        if kind not in "biuf":
            raise DataError(f"column {shown(name)} must hold plain values such as numbers, but holds {array.dtype}")
        if kind == "u" and self.space.width(array) > 1:
            return self._coded(brought(values), name)  # torch does not count with these
        if kind == "f":
            return self._coded_floats(array)
        if kind == "b":
            return Coded(self._made(lambda piece: self.space.narrow(array[piece], 2)), 0, [False, True])
        low, high = self.space.ends(array)
        if high - low < _SPAN:
            return Coded(array, low, range(low, high + 1))
        found = passes.distinct(self.space, self.length, lambda piece: array[piece])
        return self._looked_up(found, lambda piece: array[piece], self.space.down(found).tolist())

    def _coded_floats(self, array: Any) -> Coded:
        """Missing values are all alike; of the others, whole numbers are what they mostly are."""
        space, none = self.space, float(_SPAN)
        low = high = 0.0
        for piece in passes.pieces(space, self.length):
            x = space.floats(array[piece])
            x = space.where(space.finite(x), x, 0.0)
            a, b = space.ends(x)
            low, high = min(low, a), max(high, b)
            if high - low >= _SPAN - 1 or not bool((x == space.floor(x)).all()):
                break
        else:
            none = low - 1  # the first code is for missing values
            whole = self._made(
                lambda piece: space.narrow(_or(space, space.floats(array[piece]), none) - none, int(high - none) + 1)
            )
            return Coded(whole, 0, [None, *(float(v) for v in range(int(low), int(high) + 1))])
        found = passes.distinct(space, self.length, lambda piece: _or(space, space.floats(array[piece]), np.inf))
        values = [v if math.isfinite(v) else None for v in space.down(found).tolist()]
        return self._looked_up(found, lambda piece: _or(space, space.floats(array[piece]), np.inf), values)

    def _looked_up(self, ordered: Any, part: passes.Piecewise, values: list[Any]) -> Coded:
        size = len(ordered)
        codes = self._made(lambda piece: self.space.narrow(self.space.places(ordered, part(piece)), size))
        return Coded(codes, 0, values)

    def _state(self) -> Any:
        def part(piece: slice) -> Any:
            w = self.space.floats(self.weight[piece])
            state = (w == 0) * ZERO + (w < 0) * NEGATIVE + (w > 0) * OK
            return self.space.narrow(self.space.where(self.space.finite(w), state, NOT_FINITE), 4)

        return self._made(part)

    def _made(self, part: passes.Piecewise) -> Any:
        return passes.made(self.space, self.length, part)

    # ---- strata --------------------------------------------------------------------------------------------

    @cached_property
    def _strides(self) -> dict[str, int]:
        strides, span = {}, 1
        for name, part in reversed(self.parts.items()):
            strides[name] = span
            span *= max(len(part.values), 1)
        if span >= 2**62:
            raise DataError(
                f"the groups have {span:.0e} combinations, too many to be numbered on a device: pass fewer group "
                "columns at a time, or move the tensors to the processor first"
            )
        return strides

    def _joined(self) -> tuple[Any, Ints]:
        """Which rows differ in nothing but their score: the stratum of each, and the combination it stands for."""
        space = self.space
        size = math.prod(max(len(part.values), 1) for part in self.parts.values())

        def number(piece: slice) -> Any:
            total: Any = 0
            for name, stride in self._strides.items():
                part = self.parts[name]
                total = total + (space.ints(part.codes[piece]) - part.low) * stride
            return total

        if size <= _SPAN:
            return self._made(lambda piece: space.narrow(number(piece), size)), np.arange(size)
        found = passes.distinct(space, self.length, number)
        return self._looked_up(found, number, []).codes, space.down(found)

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
        out = {}
        for name, part in self.parts.items():
            codes = self.strata // self._strides[name] % max(len(part.values), 1)
            found = np.unique(codes[self._present])
            new = np.zeros(max(len(part.values), 1), np.int64)
            new[found] = np.arange(len(found))
            out[name] = Encoded(new[codes], [part.values[k] for k in found.tolist()])
        return out

    def _own(self, piece: slice) -> Any:
        return self.space.ints(self.stratum[piece])

    # ---- counting ------------------------------------------------------------------------------------------

    def totals(self) -> Columns:
        """Rows by everything but the score; their lowest score is `score`, their highest `further[0]`."""
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

    def exact(self) -> Columns:
        """Rows by score and everything else."""
        space, strata = self.space, len(self.strata)
        if self.score is None:
            found, n, _ = self._counted(strata, self._own)
            return self._columns(found, n, self._weights(self._own, strata, found))

        def score(piece: slice) -> Any:
            return _or(space, space.floats(self.score[piece]) + 0.0, np.inf)

        ordered = passes.distinct(space, self.length, score)

        def key(piece: slice) -> Any:
            return space.places(ordered, score(piece)) * strata + self._own(piece)

        size = len(ordered) * strata
        found, n, _ = self._counted(size, key)
        values = space.down(ordered)[found // strata]
        return self._columns(found % strata, n, self._weights(key, size, found % strata), values)

    def within(self, ranges: Sequence[tuple[float, float]]) -> Columns:
        """The same of those rows whose score lies strictly inside one of the ranges."""
        space = self.space
        rows = passes.inside(space, self.score, ranges)
        stratum, score = space.down(self.stratum[rows]), space.down(space.floats(self.score[rows]))
        weights = None
        if self.weight is not None:
            w = space.down(space.floats(self.weight[rows]))
            weights = self._weighed(stratum, np.where(np.isfinite(w), w, 0.0), w * w, np.floor(w) != w)
        return self._columns(stratum, np.ones(len(stratum), np.int64), weights, score)

    def keyed(self, grid: Grid, extremes: bool) -> Columns:
        """Rows by the cell of a grid: `score` is its key. With extremes, `further` has its lowest and highest score."""
        low, width = self._span(grid)
        strata = len(self.strata)
        size = width * strata

        def key(piece: slice) -> Any:
            x = self.space.floats(self.score[piece])
            return passes.places(self.space, grid, x, low, width) * strata + self._own(piece)

        fused = self.space.kernels(self.score) if size <= passes.DENSE else None
        if fused is not None:
            found, n, ends = self._fused(fused, grid, low, width, extremes)
        else:
            found, n, _ = self._counted(size, key)
            ends = passes.ends_of(self.space, self.length, key, found, self.score) if extremes else ()
        place = found // strata
        score = np.where(place == width - 1, np.nan, place + low)
        weights = self._weights(key, size, found % strata) if self.weight is not None else None
        return self._columns(found % strata, n, weights, score, ends)

    def _span(self, grid: Grid) -> tuple[float, int]:
        """The key of the lowest score, and how many keys there are, with one for scores that are not finite."""
        n, lowest, highest = self._totals
        finite = (np.arange(len(n)) % 2 == 1) & (n > 0)
        if not finite.any():
            return 0.0, 2
        low, high = grid.keys(np.array([lowest[finite].min(), highest[finite].max()]))
        return float(low), int(high - low) + 2

    def _fused(self, fused: Any, grid: Grid, low: float, width: int, extremes: bool) -> tuple[Ints, Ints, Any]:
        space = self.space
        n, lowest, highest = fused.cells(self.score, self.stratum, len(self.strata), grid, low, width, extremes)
        found = space.found(n)
        ends = tuple(space.down(space.floats(e[found])) for e in (lowest, highest)) if extremes else ()
        return space.down(found), space.down(n[found]).astype(np.int64), ends

    def _counted(self, size: int, key: passes.Piecewise) -> Any:
        return passes.counted(self.space, self.length, key, size)

    # ---- weights -------------------------------------------------------------------------------------------

    def _weights(self, key: passes.Piecewise, size: int, stratum: Ints) -> Weights | None:
        if self.weight is None:
            return None
        space, rows = self.space, self.length

        def w(piece: slice) -> Any:
            return _or(space, space.floats(self.weight[piece]), 0.0)

        def fractional(piece: slice) -> Any:
            return space.floats(space.floor(w(piece)) != w(piece))

        largest = max(space.ends(w(piece))[1] for piece in passes.pieces(space, rows))
        total = passes.exact_sums(space, rows, key, size, w, largest)[1]
        with np.errstate(over="ignore"):
            squares = passes.exact_sums(space, rows, key, size, lambda p: w(p) * w(p), float(np.square(largest)))[1]
        _, _, (parts,) = passes.counted(space, rows, key, size, [fractional])
        return self._weighed(stratum, total, squares, parts)

    def _weighed(self, stratum: Ints, total: Floats, squares: Floats, fractional: Any) -> Weights:
        state = self._encoded["state"]
        known = np.array(state.distinct, np.int64)[state.codes][stratum]
        return Weights(total, squares, known, np.asarray(fractional).astype(np.int64))

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
        )


def _or(space: Space, x: Any, other: float) -> Any:
    """Numbers, and another one where they are not finite."""
    return space.where(space.finite(x), x, other)


def _narrow(codes: Ints, size: int) -> Ints:
    return codes.astype(np.uint8 if size <= 1 << 8 else np.int32)
