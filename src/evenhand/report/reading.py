"""What a report says about itself: the document in a page or a JSON file, and the table that it was made from."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from html import unescape
from io import BytesIO
from typing import Any

from evenhand.errors import DataError, UsageError, shown
from evenhand.files.json_text import parsed
from evenhand.files.paths import read_small, shown_path

MOST_BYTES = 50_000_000
MOST_PROPERTIES = 100_000
"""Bytes of the properties of a Word file: a small one can claim to hold any number."""
_BLOCK, _END = b'<script type="application/json" id="document">', b"</script>"
_IDENTIFIER = re.compile(r"<dc:identifier>([^<]*)</dc:identifier>")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Stated:
    """What a report says."""

    digest: str
    """Of the table that it was made from."""
    document: dict[str, Any] | None
    """None of a Word document, which has the digest alone."""


def stated(path: Any) -> Stated:
    """What a page, a JSON file or a Word document says that it was made from."""
    try:
        content = read_small(path, MOST_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read {shown_path(path)}: {error.strerror or error}") from error
    if content is None:
        raise UsageError(f"{shown_path(path)} has more than {MOST_BYTES // 10**6} MB, so it is no report of evenhand")
    try:
        return _of_word(content) if content.startswith(b"PK\x03\x04") else _of_document(_json(content))
    except DataError as error:
        raise UsageError(f"{shown_path(path)} does not say what it was made from: {error}") from error


def _json(content: bytes) -> Any:
    """The document, out of a page or as it is."""
    if not content.lstrip().startswith(b"<"):
        return parsed(content)
    _, *found = content.split(_BLOCK, 2)
    if not found:
        raise DataError("it is no page of evenhand, or one too large to hold its JSON: verify what --json wrote")
    if len(found) > 1:
        raise DataError("it holds several documents, and a page has one: it was changed")
    return parsed(found[0].partition(_END)[0])


def _of_document(document: Any) -> Stated:
    data = document.get("data") if isinstance(document, dict) else None
    digest = data.get("table") if isinstance(data, dict) else None
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        schema = document.get("schema") if isinstance(document, dict) else None
        kind = f"its schema is {shown(schema)}, which" if isinstance(schema, str) else "it"
        raise DataError(f"{kind} names no table; audits, classes and thresholds do")
    return Stated(digest, document)


def _of_word(content: bytes) -> Stated:
    try:
        with zipfile.ZipFile(BytesIO(content)) as parts, parts.open("docProps/core.xml") as part:
            said = part.read(MOST_PROPERTIES).decode("utf-8", "replace")
    except Exception as error:  # zip, zlib and lzma have errors of their own
        raise DataError(f"it is no Word document that can be read ({type(error).__name__})") from error
    named = _DIGEST.findall(unescape(" ".join(_IDENTIFIER.findall(said))))
    if len(named) != 1:
        raise DataError("its properties name no table, so evenhand did not write it, or another program saved it since")
    return Stated(named[0], None)
