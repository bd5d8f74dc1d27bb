"""Tensors → numbers and codes on the device that holds them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, shown
from evenhand.ingest.columns import NEGATIVE, NOT_FINITE, OK, ZERO
from evenhand.ingest.engines import array_api as spaces, tensor_passes as passes
from evenhand.ingest.engines.array_api import Space
from evenhand.ingest.engines.tensor_passes import SPAN
from evenhand.ingest.values import encode, group_codes, to_floats
from evenhand.tables.arrays import Ints
from evenhand.tables.decimals import narrow_of


@dataclass(frozen=True)
class Resident:
    """A column on a device."""

    array: Any
    space: Space
    device: tuple[int, int]

    def __len__(self) -> int:
        return int(self.array.shape[0])


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
    return Resident(space.dense(array), space, device)


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


@dataclass(frozen=True)
class Coded:
    """A column of few values: whole numbers from `low` on, and what each stands for."""

    codes: Any
    low: int
    values: Sequence[Any]


def numbers(space: Space, values: Any, name: str, role: str) -> Any:
    """A score or weight on the device."""
    if not isinstance(values, Resident):
        return space.up(to_floats(values, name, role))
    array, kind = values.array, space.kind(values.array)
    if kind not in "biuf":
        raise DataError(f"{role} column {shown(name)} must hold numbers, but holds {array.dtype}: convert it")
    if kind in "fi":
        return array
    return passes.made(space, len(array), lambda piece: space.floats(array[piece]))


def coded(space: Space, values: Any, name: str) -> Coded:
    """A group, label or prediction. What numpy holds is encoded by numpy, and only its codes are moved."""
    if not isinstance(values, Resident):
        if isinstance(values, list):
            group_codes(values, name)  # refuses what has no name, or the name of another
        codes, found = encode(values)
        return Coded(space.up(narrow(codes, len(found))), 0, found)
    array, kind = values.array, space.kind(values.array)
    if kind not in "biuf":
        raise DataError(f"column {shown(name)} must hold plain values such as numbers, but holds {array.dtype}")
    if kind == "b":
        return Coded(space.truth(array), 0, [False, True])
    if kind == "f":
        return _whole_floats(space, array) or _floats(space, array)
    if kind == "u" and space.width(array) > 1:
        return coded(space, brought(values), name)  # torch does not count with these
    return _ints(space, array)


def _ints(space: Space, array: Any) -> Coded:
    low, high = space.ends(array)
    if high - low < SPAN:
        return Coded(array, low, range(low, high + 1))
    found = passes.distinct(space, len(array), lambda piece: array[piece])
    return looked_up(space, len(array), found, lambda piece: array[piece], space.down(found).tolist())


def _whole_floats(space: Space, array: Any) -> Coded | None:
    """Floats that are whole numbers, as labels mostly are. The first code is for missing values."""
    low = high = 0.0
    for piece in passes.pieces(space, len(array)):
        x = or_else(space, space.floats(array[piece]), 0.0)
        a, b = space.ends(x)
        low, high = min(low, a), max(high, b)
        if high - low >= SPAN - 1 or not bool((x == space.floor(x)).all()):
            return None
    none, size = low - 1, int(high - low) + 2

    def part(piece: slice) -> Any:
        return space.narrow(or_else(space, space.floats(array[piece]), none) - none, size)

    return Coded(passes.made(space, len(array), part), 0, [None, *(low + k for k in range(size - 1))])


def _floats(space: Space, array: Any) -> Coded:
    """Any floats; those that are not finite are all missing."""

    def part(piece: slice) -> Any:
        return or_else(space, space.floats(array[piece]), np.inf)

    found = passes.distinct(space, len(array), part)
    narrow, wide = narrow_of(array), space.down(found)
    values = [v if math.isfinite(v) else None for v in (narrow.shortest(wide) if narrow else wide).tolist()]
    return looked_up(space, len(array), found, part, values)


def looked_up(space: Space, rows: int, ordered: Any, part: passes.Piecewise, values: list[Any]) -> Coded:
    """Values as their places among those that occur."""
    size = len(ordered)
    codes = passes.made(space, rows, lambda piece: space.narrow(space.places(ordered, part(piece)), size))
    return Coded(codes, 0, values)


def states(space: Space, weight: Any) -> Coded:
    """Which weights can be counted with."""

    def part(piece: slice) -> Any:
        w = space.floats(weight[piece])
        state = (w == 0) * ZERO + (w < 0) * NEGATIVE + (w > 0) * OK
        return space.narrow(space.where(space.finite(w), state, NOT_FINITE), 4)

    return Coded(passes.made(space, len(weight), part), 0, range(4))


def or_else(space: Space, x: Any, other: float) -> Any:
    """Numbers, and another one where they are not finite."""
    return space.where(space.finite(x), x, other)


def narrow(codes: Ints, size: int) -> Ints:
    return codes.astype(np.uint8 if size <= 1 << 8 else np.int32)
