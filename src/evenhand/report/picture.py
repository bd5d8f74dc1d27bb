"""A logo: a PNG or a JPEG that somebody else made, checked before it is shown."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import UsageError
from evenhand.files.paths import read_small, shown_path

MOST_BYTES = 200_000
MOST_SIDE = 4000
"""Pixels: a small file can claim to be a picture of any size."""
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG after which its width and height stand."""
_ALONE = {0x01, *range(0xD0, 0xD9)}
"""Markers of a JPEG without a length."""
_SCAN, _END = 0xDA, b"\xff\xd9"


@dataclass(frozen=True)
class Picture:
    """A picture whose kind, size and parts are what they say."""

    kind: str
    """png, or jpeg."""
    width: int
    height: int
    content: bytes = field(repr=False)

    @property
    def uri(self) -> str:
        """The picture as an address that holds it, so that a page asks nobody for it."""
        return f"data:image/{self.kind};base64,{base64.b64encode(self.content).decode()}"


def read_picture(path: Any) -> Picture:
    """The picture in a file."""
    try:
        content = read_small(path, MOST_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read the logo {shown_path(path)}: {error.strerror or error}") from error
    try:
        if content is None:
            raise UsageError(f"it has more than {MOST_BYTES // 1000} kB: save it smaller")
        return picture_of(content)
    except UsageError as error:
        raise UsageError(f"the logo {shown_path(path)} cannot be shown: {error}") from error


def picture_of(content: bytes) -> Picture:
    """The picture that some bytes are, if they are a whole one.

    >>> picture_of(b"<svg/>")
    Traceback (most recent call last):
    evenhand.errors.UsageError: it is neither PNG nor JPEG: save it as one of them
    """
    kind = "png" if content.startswith(_PNG) else "jpeg" if content.startswith(_JPEG) else None
    if kind is None:
        raise UsageError("it is neither PNG nor JPEG: save it as one of them")
    try:
        width, height = (_png if kind == "png" else _jpeg)(content)
    except (ValueError, IndexError, StopIteration):
        raise UsageError(f"it is damaged, not a whole {kind.upper()}: save it again") from None
    if not (1 <= width <= MOST_SIDE and 1 <= height <= MOST_SIDE):
        raise UsageError(f"it is {width:,} by {height:,} pixels, and each side has 1 to {MOST_SIDE:,}: save it smaller")
    return Picture(kind, width, height, content)


def of_uri(uri: str) -> Picture:
    """The picture that an address holds.

    >>> of_uri("data:image/png;base64,AAAA")
    Traceback (most recent call last):
    evenhand.errors.UsageError: it is neither PNG nor JPEG: save it as one of them
    """
    return picture_of(base64.b64decode(uri.partition(",")[2]))


def _png(content: bytes) -> tuple[int, int]:
    """Width and height, once every part has been found whole."""
    names = []
    for name, part in _chunks(content):
        names.append(name)
        if name == b"IHDR":
            width, height = int.from_bytes(part[:4]), int.from_bytes(part[4:8])
    if names[0] != b"IHDR" or names.count(b"IHDR") != 1 or b"IDAT" not in names:
        raise ValueError
    return width, height


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    at, name = len(_PNG), b""
    while name != b"IEND":
        length = int.from_bytes(content[at : at + 4])
        name, part = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        check = content[at + 8 + length : at + 12 + length]
        if len(check) < 4 or int.from_bytes(check) != zlib.crc32(name + part):
            raise ValueError
        yield name, part
        at += 12 + length


def _jpeg(content: bytes) -> tuple[int, int]:
    """Width and height, which stand before the first scan."""
    if _END not in content[-16:]:  # some programs write a few bytes more
        raise ValueError
    at, size = 2, None
    while True:
        if content[at] != 0xFF:
            raise ValueError
        marker = content[at + 1]
        if marker == 0xFF:  # filling
            at += 1
        elif marker in _ALONE:
            at += 2
        elif marker == _SCAN:
            break
        else:
            if marker in _SIZES:
                size = int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7])
            at += 2 + int.from_bytes(content[at + 2 : at + 4])
    if size is None:
        raise ValueError
    return size
