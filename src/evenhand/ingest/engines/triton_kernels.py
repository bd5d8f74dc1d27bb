"""The passes over rows that take longest, fused for GPUs with Triton, which comes with torch.

They give what the plain passes of `passes` give, to the last bit: contraction of multiplication and addition, which
would round once instead of twice, is switched off, and float64 division is correctly rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from evenhand.ingest.engines.tensor_passes import tables
from evenhand.tables.grid import Grid

_EXACT = {"enable_fp_fusion": False}
_BLOCK = 512
_WIDE_BLOCK = 2048
_FEW = 128
"""So many strata are counted in registers."""
_COPIES = 1 << 23
"""So many counters fit in the cache: if all cells need fewer, several copies are counted in, which get in each
other's way less if many people have one score."""


@triton.jit
def _extents(score, stratum, rows, n, lowest, highest, strata: tl.constexpr, bins: tl.constexpr, wide: tl.constexpr,
             block: tl.constexpr):  # fmt: skip
    lanes = tl.arange(0, block)
    seen = tl.zeros([bins], tl.int32)
    step = tl.num_programs(0).to(tl.int64) * block
    for start in range(tl.program_id(0).to(tl.int64) * block, rows, step):
        at = start + lanes
        there = at < rows
        x = tl.load(score + at, there, 0.0)
        x = x.to(tl.float64) if wide else x.to(tl.float32)
        x = tl.where(x == 0.0, 0.0, x)  # negative zero is zero
        finite = there & ((x - x) == 0.0)
        key = 2 * tl.load(stratum + at, there, 0).to(tl.int32) + finite.to(tl.int32)
        if bins > 1:
            seen += tl.histogram(tl.where(there, key, bins - 1), bins)
        else:
            tl.atomic_add(n + key, 1, there, sem="relaxed")
        # What is read may be old: then a number is handed in that does no harm.
        tl.atomic_min(lowest + key, x, finite & (x < tl.load(lowest + key)), sem="relaxed")
        tl.atomic_max(highest + key, x, finite & (x > tl.load(highest + key)), sem="relaxed")
    if bins > 1:
        own = tl.arange(0, bins)
        tl.atomic_add(n + own, seen.to(n.dtype.element_ty), own < 2 * strata, sem="relaxed")


@triton.jit
def _fold(codes, before, out, rows, low, span, first: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = at < rows
    found = tl.load(codes + at, there, 0).to(tl.int64) - low
    if not first:
        found += tl.load(before + at, there, 0).to(tl.int64) * span
    tl.store(out + at, found.to(out.dtype.element_ty), there)


@triton.jit
def _keys(x, starts, ups, downs, shifts, pins, offsets, levels: tl.constexpr, down: tl.constexpr):
    """`Grid.keys`, operation by operation."""
    if levels == 0:
        up, shift = tl.load(ups), tl.load(shifts)
        if down:
            place = tl.floor(x / tl.load(downs) + 0.5)
            near = place * tl.load(downs)
        else:
            place = tl.floor(x * up + 0.5)
            near = place / up
        return 2.0 * place + ((x > near).to(tl.float64) - (x < near).to(tl.float64)) + shift
    own = tl.zeros_like(x).to(tl.int32)
    for level in tl.static_range(levels):
        further = own + (1 << (levels - 1 - level))
        own = tl.where(x >= tl.load(starts + further), further, own)
    up, below, shift = tl.load(ups + own), tl.load(downs + own), tl.load(shifts + own)
    place = tl.floor(x * up / below + 0.5)
    near = place * below / up
    found = 2.0 * place + ((x > near).to(tl.float64) - (x < near).to(tl.float64)) + shift
    return tl.where(x == tl.load(pins + own), tl.load(offsets + own), found)


@triton.jit
def _cells(score, stratum, rows, starts, ups, downs, shifts, pins, offsets, n, lowest, highest, strata, width, copies,
           levels: tl.constexpr, down: tl.constexpr, ends: tl.constexpr, wide: tl.constexpr,
           block: tl.constexpr):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = at < rows
    given = tl.load(score + at, there, 0.0)
    x = given.to(tl.float64)
    finite = (x - x) == 0.0
    key = _keys(tl.where(finite, x, 0.0), starts, ups, downs, shifts, pins, offsets, levels, down)
    place = tl.where(finite, key.to(tl.int64), width - 1)
    there = there & (place >= 0) & (place < width)
    cell = place * strata + tl.load(stratum + at, there, 0).to(tl.int64)
    copy = (tl.program_id(0) % copies).to(tl.int64) * (width.to(tl.int64) * strata)
    tl.atomic_add(n + copy + cell, 1, there, sem="relaxed")
    if ends:
        y = x if wide else given.to(tl.float32)
        y = tl.where(y == 0.0, 0.0, y)
        inside = there & finite
        tl.atomic_min(lowest + cell, y, inside & (y < tl.load(lowest + cell, inside, 0.0)), sem="relaxed")
        tl.atomic_max(highest + cell, y, inside & (y > tl.load(highest + cell, inside, 0.0)), sem="relaxed")


@triton.jit
def _inside(score, rows, lows, highs, count, room, found, found_room, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = at < rows
    x = tl.load(score + at, there, 0.0).to(tl.float64)
    chosen = tl.zeros([block], tl.int1)
    for i in range(count):
        chosen |= (x > tl.load(lows + i)) & (x < tl.load(highs + i))
    chosen = chosen & there
    many = tl.sum(chosen.to(tl.int32))
    if many > 0:
        first = tl.atomic_add(room, many.to(tl.int64), sem="relaxed")
        to = first + tl.cumsum(chosen.to(tl.int32), 0) - 1
        tl.store(found + to, at, chosen & (to < found_room))


def joined(columns: Sequence[tuple[Any, int, int]], size: int) -> Any:
    """Codes that count from some number on, each with how many there are, as one number below `size`."""
    first = columns[0][0]
    out = torch.empty(len(first), dtype=torch.uint8 if size <= 1 << 8 else torch.int32, device=first.device)
    with torch.cuda.device(first.device):
        for i, (codes, low, span) in enumerate(columns):
            _fold[(triton.cdiv(len(out), _WIDE_BLOCK),)](codes, out, out, len(out), low, span, i == 0, _WIDE_BLOCK)
    return out


def extents(score: Any, stratum: Any, strata: int) -> tuple[Any, Any, Any]:
    """By stratum and whether the score is finite: how many rows, the lowest and the highest score."""
    rows, device = len(score), score.device
    wide = _is_wide(score)
    n = torch.zeros(2 * strata, dtype=_counter(rows), device=device)
    lowest, highest = _ends(2 * strata, wide, device)
    bins = triton.next_power_of_2(2 * strata + 1) if strata <= _FEW else 1
    programs = (min(triton.cdiv(rows, _BLOCK), 32 * torch.cuda.get_device_properties(device).multi_processor_count),)
    with torch.cuda.device(device):
        _extents[programs](score, stratum, rows, n, lowest, highest, strata, bins, wide, _BLOCK, **_EXACT)
    return n, lowest, highest


def cells(score: Any, stratum: Any, strata: int, grid: Grid, low: float, width: int, ends: bool) -> Any:
    """By cell of a grid and stratum: how many rows and, if asked for, the lowest and the highest score."""
    rows, device, size = len(score), score.device, width * strata
    wide = _is_wide(score)
    copies = max(1, min(32, _COPIES // size))
    n = torch.zeros(copies * size, dtype=_counter(rows), device=device)
    lowest, highest = _ends(size if ends else 1, wide, device)
    levels, tables = _pieces(grid, low, device)
    down = any(p.down > 1 for p in grid.pieces)
    with torch.cuda.device(device):
        _cells[(triton.cdiv(rows, _BLOCK),)](
            score, stratum, rows, *tables, n, lowest, highest, strata, width, copies,
            levels, down, ends, wide, _BLOCK, **_EXACT,
        )  # fmt: skip
    return n.view(copies, size).sum(0) if copies > 1 else n, lowest, highest


def inside(score: Any, ranges: Any) -> Any:
    """The numbers of those rows whose score lies strictly inside one of the ranges."""
    rows, device = len(score), score.device
    lows, highs = torch.tensor(ranges, dtype=torch.float64, device=device).T.contiguous()
    size = 1 << 20
    while True:
        room = torch.zeros(1, dtype=torch.int64, device=device)
        found = torch.empty(size, dtype=torch.int64, device=device)
        with torch.cuda.device(device):
            grid = (triton.cdiv(rows, _BLOCK),)
            _inside[grid](score, rows, lows, highs, len(ranges), room, found, size, _BLOCK, **_EXACT)
        many = int(room.item())
        if many <= size:
            return found[:many].sort().values
        size = many


def _pieces(grid: Grid, low: float, device: Any) -> tuple[int, list[Any]]:
    """The pieces of a grid as tables whose size is a power of two; keys count from `low` on."""
    levels = (len(grid.pieces) - 1).bit_length()
    starts, ups, downs, shifts, pins, offsets = tables(grid)
    more = 2**levels - len(grid.pieces)
    padded = [
        np.pad(values, (0, more), constant_values=filling)
        for values, filling in (
            (starts, np.inf), (ups, 1.0), (downs, 1.0), (shifts - low, 0.0), (pins, np.nan), (offsets - low, 0.0)
        )
    ]  # fmt: skip
    return levels, [torch.from_numpy(table).to(device) for table in padded]


def _ends(size: int, wide: bool, device: Any) -> tuple[Any, Any]:
    kind = torch.float64 if wide else torch.float32
    return torch.full((size,), np.inf, dtype=kind, device=device), torch.full(
        (size,), -np.inf, dtype=kind, device=device
    )


def _is_wide(score: Any) -> bool:
    return not (score.dtype.is_floating_point and score.dtype != torch.float64)


def _counter(rows: int) -> Any:
    return torch.int32 if rows < 1 << 31 else torch.int64


@cache
def usable(device: Any) -> bool:
    """Whether kernels can be built here at all: that takes a C compiler, for one."""
    try:
        score, stratum = (torch.zeros(4, dtype=kind, device=device) for kind in (torch.float32, torch.uint8))
        return list(extents(score, stratum, 1)[0].tolist()) == [0, 4]
    except Exception:
        return False
