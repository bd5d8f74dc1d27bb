"""The few things that arrays of any library must do to be counted where they are.

`Space` speaks numpy, which CuPy understands too; `TorchSpace` says the same in torch.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import DataError, shown

HOST = (1, 3)
"""Devices whose memory the processor reads, as DLPack numbers them: its own, and that which a GPU can read too."""
GPU = (2, 10, 13)
"""CUDA, ROCm and managed memory."""


class Space:
    """Arrays that numpy, or a library that is used like it, works on."""

    chunk = 1 << 22
    """So many rows are worked on at a time."""

    def __init__(self, xp: Any = np) -> None:
        self.xp = xp
        self.floor, self.finite, self.where, self.distinct = xp.floor, xp.isfinite, xp.where, xp.unique

    def adopt(self, values: Any) -> Any:
        """An array of another library, not copied."""
        return self.xp.from_dlpack(values)

    def dense(self, array: Any) -> Any:
        """Without gaps in memory."""
        return self.xp.ascontiguousarray(array)

    def up(self, host: NDArray[Any]) -> Any:
        return self.xp.asarray(host)

    def down(self, array: Any) -> NDArray[Any]:
        return np.asarray(array if self.xp is np else array.get())

    def kind(self, array: Any) -> str:
        """One of numpy's letters: b, i, u, f, or another that is no number."""
        return str(array.dtype.kind)

    def width(self, array: Any) -> int:
        """Bytes of a number."""
        return int(array.dtype.itemsize)

    def cast(self, array: Any, kind: Any) -> Any:
        return array.astype(kind)

    def floats(self, array: Any) -> Any:
        return self.cast(array, self.xp.float64)

    def ints(self, array: Any) -> Any:
        return self.cast(array, self.xp.int64)

    def narrow(self, array: Any, size: int) -> Any:
        """Numbers below `size` in as few bytes as will do."""
        xp = self.xp
        return self.cast(array, xp.uint8 if size <= 1 << 8 else xp.int32 if size <= 1 << 31 else xp.int64)

    def ends(self, array: Any) -> tuple[Any, Any]:
        return array.min().item(), array.max().item()

    def full(self, size: int, value: float) -> Any:
        return self.xp.full(size, value, np.float64)

    def empty(self, like: Any, length: int) -> Any:
        return self.xp.empty(length, like.dtype)

    def join(self, arrays: list[Any]) -> Any:
        return self.xp.concatenate(arrays)

    def places(self, ordered: Any, array: Any, right: bool = False) -> Any:
        return self.xp.searchsorted(ordered, array, side="right" if right else "left")

    def counts(self, key: Any, size: int, weights: Any = None) -> Any:
        return self.xp.bincount(key, weights, minlength=size)

    def lower(self, into: Any, key: Any, array: Any) -> None:
        """Where a number is lower than what stands at its key, put it there."""
        bits = _ordered(self.xp, into)
        self.xp.minimum.at(bits, key, _ordered(self.xp, array))
        into[:] = _unordered(self.xp, bits)

    def higher(self, into: Any, key: Any, array: Any) -> None:
        bits = _ordered(self.xp, into)
        self.xp.maximum.at(bits, key, _ordered(self.xp, array))
        into[:] = _unordered(self.xp, bits)

    def truth(self, array: Any) -> Any:
        """Truth values as the numbers 0 and 1, not copied."""
        return array.view(self.xp.uint8)

    def found(self, condition: Any) -> Any:
        return self.xp.flatnonzero(condition)

    def kernels(self, array: Any) -> Any:
        """Faster counting of these, if there is any."""
        return None


class TorchSpace(Space):
    """The same for torch's tensors on one device."""

    chunk = 1 << 24

    def __init__(self, device: Any) -> None:
        super().__init__(import_module("torch"))
        self.device = device

    def adopt(self, values: Any) -> Any:
        if isinstance(values, self.xp.Tensor):
            return values.detach()
        return self.xp.from_dlpack(values)

    def dense(self, array: Any) -> Any:
        return array.contiguous()

    def up(self, host: NDArray[Any]) -> Any:
        return self.xp.from_numpy(np.ascontiguousarray(host)).to(self.device)

    def down(self, array: Any) -> NDArray[Any]:
        return np.asarray(array.cpu().numpy())

    def kind(self, array: Any) -> str:
        if array.dtype == self.xp.bool:
            return "b"
        if array.dtype.is_floating_point:
            return "f"
        name = str(array.dtype).removeprefix("torch.")
        return {"uint": "u", "int": "i", "complex": "c"}.get(name.rstrip("0123456789"), "V")

    def cast(self, array: Any, kind: Any) -> Any:
        return array.to(kind)

    def ends(self, array: Any) -> tuple[Any, Any]:
        low, high = self.xp.aminmax(array)
        return low.item(), high.item()

    def full(self, size: int, value: float) -> Any:
        return self.xp.full((size,), value, dtype=self.xp.float64, device=self.device)

    def empty(self, like: Any, length: int) -> Any:
        return self.xp.empty(length, dtype=like.dtype, device=self.device)

    def join(self, arrays: list[Any]) -> Any:
        return self.xp.cat(arrays)

    def places(self, ordered: Any, array: Any, right: bool = False) -> Any:
        return self.xp.searchsorted(ordered, array.contiguous(), right=right)

    def lower(self, into: Any, key: Any, array: Any) -> None:
        into.scatter_reduce_(0, key, array, "amin")

    def higher(self, into: Any, key: Any, array: Any) -> None:
        into.scatter_reduce_(0, key, array, "amax")

    def found(self, condition: Any) -> Any:
        return self.xp.nonzero(condition).flatten()

    def kernels(self, array: Any) -> Any:
        if not array.is_cuda or find_spec("triton") is None:
            return None
        from evenhand.ingest.engines import triton_kernels as kernels

        return kernels if kernels.usable(self.device) else None


_SIGN = np.uint64(1 << 63)
_ALL = np.uint64((1 << 64) - 1)


def _ordered(xp: Any, floats: Any) -> Any:
    """Whole numbers in the order of floats: CuPy compares float64 in float32 where it must not be disturbed."""
    bits = floats.view(np.uint64)
    return bits ^ xp.where(bits >= _SIGN, _ALL, _SIGN)


def _unordered(xp: Any, bits: Any) -> Any:
    return (bits ^ xp.where(bits >= _SIGN, _SIGN, _ALL)).view(np.float64)


def device_of(values: Any) -> tuple[int, int] | None:
    """Where a tensor is, as DLPack numbers it; None if it is none, or what numpy reads by itself."""
    if isinstance(values, np.ndarray | np.generic) or not hasattr(values, "__dlpack_device__"):
        return None
    if type(values).__module__.split(".")[0] in ("pyarrow", "pandas", "polars"):
        return None
    try:
        kind, number = values.__dlpack_device__()
    except (BufferError, RuntimeError, TypeError, ValueError):
        return -1, 0  # some device that does not share
    return int(kind), int(number)


def on_host(values: Any, name: str) -> NDArray[Any]:
    """The numbers of any tensor as numpy has them."""
    try:
        if type(values).__module__.split(".")[0] == "torch":
            values = values.detach().cpu()
            return np.asarray(_plain_torch(values).resolve_conj().resolve_neg().numpy())
        if str(values.dtype).startswith(("bfloat", "float8", "float4")):  # numpy has no such numbers
            return np.asarray(values.astype("float32"), np.float64)
        if hasattr(values, "get") and hasattr(values, "__cuda_array_interface__"):
            return np.asarray(values.get())
        return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise DataError(f"column {shown(name)} cannot be read as an array: {error}") from error


def _plain_torch(tensor: Any) -> Any:
    """Numbers of 8 or 16 bits that numpy does not have, as wider ones."""
    narrow = tensor.dtype.is_floating_point and not str(tensor.dtype).endswith(("float16", "float32", "float64"))
    return tensor.double() if narrow or str(tensor.dtype).endswith("bfloat16") else tensor


def space_on(kind: int, number: int) -> Space | None:
    """What counts the tensors of a device: torch if it is installed, else CuPy; None if neither can."""
    if kind not in GPU:
        return None
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            return TorchSpace(torch.device("cuda", number))
    if find_spec("cupy") is not None:
        return Space(import_module("cupy"))
    return None
