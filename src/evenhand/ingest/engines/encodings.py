"""Text that is not UTF-8: as a copy that is, or as a sentence that says where it is not."""

from __future__ import annotations

import codecs
import gzip
import os
from collections.abc import Iterator
from typing import Any

from evenhand.errors import DataError, UsageError
from evenhand.files.paths import shown_path
from evenhand.files.secrets import is_address
from evenhand.ingest.progress import tell

_BLOCK = 1 << 20
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
          codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip


def opened_text(file: str) -> Any:
    """A file's bytes, unpacked."""
    return gzip.open(file) if file.lower().endswith(".gz") else open(file, "rb")


def in_utf8(file: str, encoding: str | None, folder: str) -> str:
    """The file itself if it is UTF-8, else a copy in the folder that is."""
    if is_address(file) or file.lower().endswith(".zst"):
        if encoding not in (None, "utf-8", "utf-8-sig"):
            kind = "an address" if is_address(file) else "compressed by Zstandard"
            raise UsageError(f"{shown_path(file)} is {kind}, which is read as UTF-8 only: make it a plain file first")
        return file
    with opened_text(file) as stream:
        start = stream.read(4)
    mark = next((own for mark, own in _MARKS.items() if start.startswith(mark)), None)
    encoding = encoding or mark or "utf-8"
    if encoding in ("utf-8", "utf-8-sig"):
        return file
    copy = os.path.join(folder, f"{len(os.listdir(folder))}-{os.path.basename(file).removesuffix('.gz')[-100:]}")
    with open(copy, "w", encoding="utf-8", newline="") as target:
        for text in _decoded(file, encoding):
            target.write(text)
    return copy


def _decoded(file: str, encoding: str) -> Iterator[str]:
    """The text of a file in pieces; raises a sentence that names the byte and the line that do not fit."""
    decoder = codecs.getincrementaldecoder(encoding)()
    size = os.path.getsize(file)
    place, line = 0, 1
    with opened_text(file) as stream:
        while True:
            block = stream.read(_BLOCK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                start = place + len(block) - len(error.object) + error.start
                before = error.object[: error.start].decode(encoding, "ignore")
                raise _misfit(file, encoding, error.object[error.start], start, line + before.count("\n")) from None
            except UnicodeError:
                raise DataError(
                    f"cannot read {shown_path(file)}: it is not {encoding} text; name its encoding (--encoding)"
                ) from None
            yield text
            if not block:
                return
            place, line = place + len(block), line + text.count("\n")
            tell(min(place / size, 1.0), f"checking {os.path.basename(file)}")


def misfit(file: str, encoding: str = "utf-8") -> DataError | None:
    """What is wrong with the encoding of a file, if anything is, and it can be looked into."""
    if file.lower().endswith(".zst"):
        return None
    try:
        for _ in _decoded(file, encoding):
            pass
    except DataError as error:
        return error
    return None


def _misfit(file: str, encoding: str, byte: int, place: int, line: int) -> DataError:
    found = "" if encoding != "utf-8" else _guess(file)
    shown_encoding = "UTF-8" if encoding == "utf-8" else encoding
    return DataError(
        f"cannot read {shown_path(file)}: it is not {shown_encoding} text, byte 0x{byte:02X} at place {place + 1:,} "
        f"(line {line:,}) does not fit; {found or 'name its encoding (--encoding, encoding=)'}"
    )


def _guess(file: str) -> str:
    """The encoding that a file may have, as far as its first bytes tell."""
    with opened_text(file) as stream:
        sample = stream.read(_BLOCK)
    gaps = [sample[parity::2].count(0) for parity in (0, 1)]
    if max(gaps) > len(sample) / 8:
        named = "utf-16-le" if gaps[1] > gaps[0] else "utf-16-be"
        return f"it may be {named}: --encoding {named} (encoding='{named}')"
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        return ""
    with_controls = any(0x80 <= byte < 0xA0 for byte in sample)
    which = "cp1252 (Windows, Western Europe)" if with_controls else "latin-1 or cp1252 (Western Europe)"
    return f"it may be {which}: --encoding cp1252 (encoding='cp1252')"
