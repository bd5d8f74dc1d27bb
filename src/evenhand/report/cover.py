"""What somebody puts before a report to answer for it: title, names, date, logo, note, and where the data come from."""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from evenhand.errors import UsageError, shown, shown_name
from evenhand.files.paths import as_path, read_small, shown_path
from evenhand.report.picture import Picture, read_picture

MOST_CHARACTERS = 200
MOST_NOTE = 20_000
MOST_HASHED = 256_000_000
"""Bytes of a data file whose hash is taken: a second of work."""
LIMITS = "Limits and conditions of use"
SIGNED = ("Name", "Organisation", "Place and date", "Signature")
"""The lines of the box; the first three are filled in as far as they are known."""


@dataclass(frozen=True)
class DataFile:
    """Which file data were read from."""

    name: str
    sha256: str | None
    """None if it is too large for it to be read once more."""


@dataclass(frozen=True)
class Cover:
    """What a report is signed with; all of it may be left out, but not everything.

    Nothing here is looked up: without `date` a report has none, so that the same data give the same bytes.

    >>> Cover(title="Invitations in 2026", author="Ada King", date="2026-03-01").date
    '2026-03-01'
    """

    title: str | None = None
    author: str | None = None
    organisation: str | None = None
    date: Any = None
    """A day, as YYYY-MM-DD or a `datetime.date`."""
    source: str | None = None
    """Where the data come from, in words."""
    file: Any = None
    """The file of the data, whose name and SHA-256 are stated."""
    logo: Any = field(default=None, repr=False)
    """A PNG or JPEG file."""
    note: str | None = field(default=None, repr=False)
    """In Markdown: headings, paragraphs, lists, bold, italic, code."""

    def __post_init__(self) -> None:
        for name in ("title", "author", "organisation", "source"):
            self._set(name, _line(name, getattr(self, name)))
        self._set("note", _text("note", self.note, MOST_NOTE))
        self._set("date", _day(self.date))
        if self.file is not None and not isinstance(self.file, DataFile):
            self._set("file", data_file(self.file))
        if self.logo is not None and not isinstance(self.logo, Picture):
            self._set("logo", read_picture(self.logo))
        if all(getattr(self, one.name) is None for one in fields(self)):
            raise UsageError("a cover says nothing: give it a title, an author, or anything else")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the document of a result."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        file = None if self.file is None else {"name": self.file.name, "sha256": self.file.sha256}
        return {**told, "file": file, "logo": None if self.logo is None else self.logo.uri}


def said_by(cover: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Who answers for a report, when, and where its data come from: terms and what they are.

    >>> list(said_by({"author": "Ada King", "organisation": None, "date": None, "source": None}))
    [('Author', 'Ada King')]
    """
    for term, key in (("Author", "author"), ("Organisation", "organisation"), ("Date", "date"), ("Data", "source")):
        if cover[key] is not None:
            yield term, shown_name(cover[key], MOST_CHARACTERS)


def read_from(cover: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The file of the data, if it is known.

    >>> list(read_from({"file": {"name": "people.csv", "sha256": None}}))
    [('Data file', 'people.csv'), ('SHA-256 of the file', 'not computed: the file is large')]
    """
    if (file := cover["file"]) is not None:
        yield "Data file", shown_name(file["name"], MOST_CHARACTERS)
        yield "SHA-256 of the file", file["sha256"] or "not computed: the file is large"


def signed_lines(cover: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines to sign on, and what stands there already."""
    known = (cover["author"], cover["organisation"], cover["date"], None)
    return [(line, shown_name(text or "", MOST_CHARACTERS)) for line, text in zip(SIGNED, known, strict=True)]


def data_file(path: Any) -> DataFile:
    """Name and hash of a data file.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "people.csv"
    ...     _ = file.write_bytes(b"abc")
    ...     data_file(file).sha256[:8]
    'ba7816bf'
    """
    place = as_path(path)
    try:
        with place.open("rb") as file:
            small = os.fstat(file.fileno()).st_size <= MOST_HASHED
            return DataFile(place.name, hashlib.file_digest(file, "sha256").hexdigest() if small else None)
    except OSError as error:
        raise UsageError(f"cannot read the data file {shown_path(path)}: {error.strerror or error}") from error


def read_note(path: Any) -> str:
    """The Markdown in a file."""
    try:
        content = read_small(path, MOST_NOTE * 4)
    except OSError as error:
        raise UsageError(f"cannot read the note {shown_path(path)}: {error.strerror or error}") from error
    if content is None:
        raise UsageError(f"the note {shown_path(path)} has more than {MOST_NOTE:,} characters: shorten it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(
            f"the note {shown_path(path)} is no text in UTF-8 (byte {error.start + 1:,}, line {line:,}): save it as "
            "UTF-8"
        ) from None


def _line(name: str, value: Any) -> str | None:
    text = _text(name, value, MOST_CHARACTERS)
    if text is not None and len(text.splitlines()) > 1:
        raise UsageError(f"the {name} of a report is one line, not {shown(value)}: put more into the note")
    return text


def _text(name: str, value: Any, most: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"the {name} of a report is a text, not {shown(value)}: leave it out or say one")
    if len(value) > most:
        raise UsageError(f"the {name} of a report has at most {most:,} characters, not {len(value):,}: shorten it")
    return value.strip()


def _day(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    try:
        if datetime.date.fromisoformat(value).isoformat() != value:  # a week, or without hyphens
            raise ValueError
        return str(value)
    except (TypeError, ValueError):
        raise UsageError(f"the date of a report is a day such as 2026-03-01, not {shown(value)}") from None
