"""R's own format of saved objects (saveRDS, save): vectors and lists with their attributes, and no code.

The format is described in "R Internals", 1.8 Serialization Formats. Read by hand, as it takes a page: readers that are
packages bring pandas with them, or a licence that their users may not want. Nothing that is read is ever run.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MOST_BYTES, _MOST_VALUES = 2 << 30, 100_000_000
"""What an unpacked file may hold, and a sequence that is stored as its ends."""
_DEEPEST = 200
"""So many objects inside one another: a data frame has a few."""
_PACKED: tuple[tuple[bytes, Any], ...] = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open))
_NUMBERS = {13: "i4", 14: "f8", 15: "c16", 24: "u1"}
_PLACES = (253, 252, 251, 250, 242, 241)
_TEXT, _LIST, _SYMBOL, _PAIRS, _ENVIRONMENT, _STRINGS, _REFERENCE, _NOTHING, _ALTREP = 9, 19, 1, 2, 4, 16, 255, 254, 238


class Unreadable(Exception):
    """What such a file cannot hold, or this does not read."""


@dataclass
class Item:
    """A vector or list with its attributes; other objects have no value."""

    value: Any = None
    attributes: dict[str, Item] = field(default_factory=dict)

    def texts(self, attribute: str) -> list[str | None]:
        """An attribute that is text."""
        found = self.attributes.get(attribute)
        return list(found.value) if found is not None and isinstance(found.value, list) else []


def objects_in(path: str) -> dict[str, Item]:
    """The objects of a file by name; that of a file of one object is called ""."""
    content = _unpacked(path)
    if content.startswith(b"RDA"):
        raise Unreadable("it is R's text format: save it as usual")
    several = content[:5] in (b"RDX2\n", b"RDX3\n")
    stream = _Stream(content[5:] if several else content)
    found = stream.item()
    if not several:
        return {"": found}
    return {name: item for name, item in _pairs(found) if name}


def _unpacked(path: str) -> bytes:
    with open(path, "rb") as file:
        start = file.read(6)
    open_ = next((opener for mark, opener in _PACKED if start.startswith(mark)), open)
    with open_(path, "rb") as stream:
        content: bytes = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise Unreadable(f"it is more than {_MOST_BYTES:,} bytes when unpacked: save it as CSV or Parquet")
    return content


def _pairs(item: Item) -> list[tuple[str, Item]]:
    return item.value if isinstance(item.value, list) and all(isinstance(p, tuple) for p in item.value) else []


class _Stream:
    def __init__(self, content: bytes) -> None:
        order = {b"X\n": ">", b"B\n": "<"}.get(content[:2])
        if order is None:
            text = content[:2] == b"A\n"
            raise Unreadable("it is R's text format: save it as usual" if text else "R has not written it")
        self.content, self.place, self.order = content, 2, order
        self.known: list[Item] = []
        self.depth = 0
        version = self.whole()
        self.take(8)
        if version == 3:
            self.take(self.whole())
        elif version != 2:
            raise Unreadable(f"its version is {version}, and 2 and 3 are known")

    def take(self, size: int) -> bytes:
        if size < 0 or self.place + size > len(self.content):
            raise Unreadable("it ends too early")
        self.place += size
        return self.content[self.place - size : self.place]

    def whole(self) -> int:
        return int.from_bytes(self.take(4), "big" if self.order == ">" else "little", signed=True)

    def length(self) -> int:
        found = self.whole()
        return (self.whole() << 32) + (self.whole() & 0xFFFFFFFF) if found == -1 else found

    def item(self) -> Item:
        """The next object, with all that is in it."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable("it is nested too deeply")
        found = self._item()
        self.depth -= 1
        return found

    def _item(self) -> Item:
        flags = self.whole()
        kind, attributed = flags & 0xFF, bool(flags & 0x200)
        if kind in (_NOTHING, *_PLACES):
            return Item()
        if kind == _REFERENCE:
            return self._again((flags >> 8) or self.whole())
        if kind == _SYMBOL:
            return self._kept(Item(self.item().value))
        if kind == _TEXT:
            return Item(self._text(flags >> 12))
        if kind in (_PAIRS, 6, 17, 239, 240):
            return self._list_of_pairs(flags)
        if kind == _ALTREP:
            return self._compact()
        if kind == _ENVIRONMENT:
            return self._environment()
        if kind == 22:  # a pointer outside of the file, as data.table has
            found = self._kept(Item())
            self.item(), self.item()
        else:
            found = Item(self._vector(kind))
        if attributed:
            found.attributes = dict(_pairs(self.item()))
        return found

    def _again(self, number: int) -> Item:
        if not 1 <= number <= len(self.known):
            raise Unreadable("a reference leads nowhere")
        return self.known[number - 1]

    def _kept(self, item: Item) -> Item:
        self.known.append(item)
        return item

    def _text(self, levels: int) -> str | None:
        size = self.whole()
        if size == -1:
            return None
        return self.take(size).decode("latin-1" if levels & 4 else "utf-8", "backslashreplace")

    def _vector(self, kind: int) -> Any:
        if kind == 10:  # truth values
            truth = np.frombuffer(self.take(self.length() * 4), self.order + "i4")
            return [None if v < 0 else v != 0 for v in truth.tolist()]
        if kind in _NUMBERS:
            type_ = np.dtype(self.order + _NUMBERS[kind])
            return np.frombuffer(self.take(self.length() * type_.itemsize), type_)
        if kind == _STRINGS:
            return [self.item().value for _ in range(self.length())]
        if kind in (_LIST, 20):
            return [self.item() for _ in range(self.length())]
        if kind == 25:  # S4: all that it has are attributes
            return None
        raise Unreadable("it holds code, such as a function: save the data frame alone, with saveRDS()")

    def _list_of_pairs(self, flags: int) -> Item:
        """A list of named values; its end is another kind of item."""
        pairs: list[tuple[str, Item]] = []
        attributes: dict[str, Item] = {}
        while True:
            if flags & 0x200 or flags & 0xFF in (239, 240):
                attributes = dict(_pairs(self.item()))
            name = self.item().value if flags & 0x400 else ""
            pairs.append((str(name or ""), self.item()))
            start = self.place
            flags = self.whole()
            if flags & 0xFF not in (_PAIRS, 6, 239, 240):
                self.place = start
                self.item()
                return Item(pairs, attributes)

    def _environment(self) -> Item:
        self.whole()
        found = self._kept(Item())
        for _ in range(4):
            self.item()
        return found

    def _compact(self) -> Item:
        """A vector that is stored as something shorter."""
        about, state, further = (self.item() for _ in range(3))
        kind = next((str(item.value) for _, item in _pairs(about)), "")
        inner = [item for _, item in _pairs(state)] or (state.value if isinstance(state.value, list) else [])
        attributes = dict(_pairs(further))
        if kind in ("compact_intseq", "compact_realseq"):
            n, start, step = (float(v) for v in state.value)
            if not 0 <= n <= _MOST_VALUES:
                raise Unreadable(f"a sequence of {n:g} values is too long")
            return Item(start + step * np.arange(int(n)), attributes)
        if kind == "deferred_string" and inner:
            return Item([None if v is None else _spelt(v) for v in plain(inner[0])], attributes)
        if kind.startswith("wrap_") and inner:
            return Item(inner[0].value, {**inner[0].attributes, **attributes})
        raise Unreadable(f"it stores a vector as {kind or 'something unknown'}: save it as CSV")


def _spelt(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def plain(item: Item) -> list[Any]:
    """The values of a vector, None where there is none."""
    values = item.value
    if isinstance(values, list):
        return values
    if values.dtype.kind == "i":
        return [None if v == -(2**31) else v for v in values.tolist()]
    return [None if v != v else v for v in values.tolist()]
