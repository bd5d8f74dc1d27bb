"""A path and what has to be known to read it: encoding, separators, sheet. Whatever takes a path takes it."""

from __future__ import annotations

import codecs
import os
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict, Unpack, cast

from evenhand.errors import UsageError, listed, shown, whole_number
from evenhand.files.paths import as_path, shown_path

_NAMED = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "point": "."}
"""Characters that are hard to write on a command line, by name."""


_OF_ADDRESSES = ("idna", "punycode", "undefined")
"""Codecs that decode no files."""


def _fact(help_: str, metavar: str) -> Any:
    return field(default=None, metadata={"help": help_, "metavar": metavar, "choices": ()})


@dataclass(frozen=True)
class FileFormat:
    """What a file does not say about itself; None is what the reader finds, or the usual.

    >>> FileFormat(decimal=",", encoding="latin-1").said()
    {'encoding': 'latin-1', 'decimal': ','}
    """

    sheet: str | int | None = _fact("Workbooks: the sheet, by its name or number.", "NAME|N")
    header_row: int | None = _fact("CSV, workbooks: the row that names the columns.", "N")
    encoding: str | None = _fact("Text: such as cp1252 or utf-16.", "NAME")
    delimiter: str | None = _fact("CSV: what separates columns, such as ; or tab.", "CHAR")
    decimal: str | None = _fact("CSV: the decimal separator, . or ,", "CHAR")
    thousands: str | None = _fact("CSV: what separates thousands, such as . or space.", "CHAR")

    def __post_init__(self) -> None:
        for name in ("delimiter", "decimal", "thousands"):
            object.__setattr__(self, name, _character(name, getattr(self, name)))
        if self.decimal not in (None, ".", ","):
            raise UsageError(f"decimal is a point or a comma, not {shown(self.decimal)}")
        if self.thousands is not None and (self.thousands.isalnum() or self.thousands in "+-"):
            raise UsageError(f"thousands is a character such as . or ', not {shown(self.thousands)}")
        if self.thousands == (self.decimal or "."):
            other = "," if self.thousands == "." else "."
            raise UsageError(
                f"{shown(self.thousands)} cannot separate both thousands and decimals: name the decimal separator too, "
                f"as in --decimal {other} (decimal={other!r})"
            )
        if self.header_row is not None:
            object.__setattr__(self, "header_row", whole_number("header_row", self.header_row, 1))
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _codec(self.encoding))
        if isinstance(self.sheet, bool) or not isinstance(self.sheet, str | int | None):
            raise UsageError(f"sheet is the name of a sheet, or its number from 1 on, not {shown(self.sheet)}")

    def said(self) -> dict[str, Any]:
        """What was said: whatever is not None."""
        values = {f.name: getattr(self, f.name) for f in fields(FileFormat)}
        return {name: value for name, value in values.items() if value is not None}

    def check_only(self, known: Collection[str], path: Any, kind: str) -> None:
        """Refuse what makes no sense of a file of this kind."""
        for name in self.said():
            if name not in known:
                flag = f"--{name.replace('_', '-')}"
                why = f"{shown_path(path)} is {kind}, which has no {name.replace('_', ' ')} to state"
                raise UsageError(f"{why}: leave it out ({flag}, {name}=)")


def _character(name: str, given: Any) -> str | None:
    if given is None:
        return None
    found = _NAMED.get(given, given) if isinstance(given, str) else given
    if not isinstance(found, str) or len(found) != 1 or found in '"\r\n\0':
        raise UsageError(f"{name} is one character, such as a comma, not {shown(given)}")
    return found


def _codec(given: Any) -> str:
    try:
        found = codecs.lookup(given)
        if not getattr(found, "_is_text_encoding", True) or found.name in _OF_ADDRESSES:
            raise LookupError
    except (LookupError, TypeError, ValueError):
        raise UsageError(
            f"there is no encoding {shown(given)}: name one that Python knows, such as utf-8, cp1252, latin-1 or utf-16"
        ) from None
    return found.name if found.name in ("utf-8", "utf-8-sig") else str(given)


class FileArgs(TypedDict, total=False):
    """The options of `FileFormat`, for signatures."""

    sheet: str | int | None
    header_row: int | None
    encoding: str | None
    delimiter: str | None
    decimal: str | None
    thousands: str | None


class File(os.PathLike[str]):
    """A path with its `FileFormat`."""

    def __init__(self, path: str | os.PathLike[str], format: FileFormat) -> None:
        self.path, self.format = os.fspath(path), format

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"file({', '.join([repr(self.path), *(f'{k}={v!r}' for k, v in self.format.said().items())])})"


def file(path: str | os.PathLike[str], **format: Unpack[FileArgs]) -> File:
    """A file, folder or pattern with what has to be known to read it; every function that takes a path takes it.

    Parameters
    ----------
    path
        A file, a folder or a pattern, of which all files are alike.
    sheet
        Workbooks: the name or the number (from 1) of the sheet; by default the first.
    header_row
        CSV and workbooks: the number of the row (from 1) that names the columns, if it is not the first.
    encoding
        Text: any encoding that Python knows; by default UTF-8, or what a byte order mark says.
    delimiter
        CSV: the character between columns; by default whichever of , ; | and tab the first line has most.
    decimal, thousands
        CSV: the decimal separator, a point or a comma, and what separates thousands. By default decimals have a point,
        and numbers with separated thousands are refused where they could be read in two ways.

    Examples
    --------
    >>> import evenhand
    >>> people = evenhand.file("people.csv", encoding="cp1252", decimal=",")
    >>> people
    file('people.csv', encoding='cp1252', decimal=',')

    `evenhand.audit(people, score="p", group="sex")` reads it; on the command line say `--encoding cp1252 --decimal ,`.
    """
    for name in format:
        if name not in FileArgs.__annotations__:
            raise UsageError(f"a file has no {shown(name)} to state (it has: {listed(FileArgs.__annotations__, 10)})")
    as_path(path)
    said = stated_of(path).said()
    return File(path, FileFormat(**{**said, **format}))


def stated_of(path: Any) -> FileFormat:
    """What was said about a file; nothing of a plain path."""
    return path.format if isinstance(path, File) else FileFormat()


def with_format(data: Any, said: dict[str, Any]) -> Any:
    """Data with the facts about their file, which are taken out of what else was said.

    >>> options = {"score": "p", "decimal": ","}
    >>> with_format("people.csv", options), options
    (file('people.csv', decimal=','), {'score': 'p'})
    """
    facts = taken(said)
    if not facts:
        return data
    if not isinstance(data, str | os.PathLike):
        raise UsageError(f"{listed(facts)} is about a file, and these data are none: leave it out")
    return file(data, **facts)


def taken(said: dict[str, Any]) -> FileArgs:
    """What was said about a file, taken out of what else was said."""
    facts = {name: said.pop(name) for name in FileArgs.__annotations__ if name in said}
    return cast(FileArgs, {name: value for name, value in facts.items() if value is not None})
