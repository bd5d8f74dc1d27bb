"""What people write in TOML files, such as policies and experiments, with the line of whatever is wrong in them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import UsageError, nearest, printable, shown
from evenhand.files.paths import read_small
from evenhand.files.secrets import masked
from evenhand.files.shapes import MOST_DEPTH, too_deep
from evenhand.files.toml_lines import Path, lines_of

MOST_BYTES = 256_000

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MOST_DEPTH},}}")

Refuse = Callable[[str], UsageError]
"""Makes the error, which says where, from what is wrong there."""


@dataclass(frozen=True)
class Places:
    """Where a file says what, for messages."""

    file: str | None = None
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int | None:
        """Of that key, or of what it is part of."""
        for size in range(len(path), 0, -1):
            found = [line for key, line in self.lines.items() if key[:size] == path[:size]]
            if found:
                return min(found)
        return None

    def refuse(self, path: Path, message: object) -> UsageError:
        """The error, to be raised: where, and what is wrong there."""
        line = self.line(path)
        rule = f", rule {int(path[1]) + 1}" if path[:1] == ("rule",) and len(path) > 1 else ""
        where = f"{self.file}, line {line}" if self.file and line else (self.file or "policy") + rule
        return UsageError(f"{where}: {message}")

    def refusal(self, path: Path) -> Refuse:
        """What refuses that key, by its message."""
        return lambda message: self.refuse(path, message)


def read_toml(path: Any, what: str) -> tuple[dict[str, Any], Places]:
    """What a file holds and where; `what` it should be is said if it cannot be read."""
    text, file = _text(path, what)
    if found := _LONG_KEY.search(text):  # the time that tomllib takes grows with the square of its parts
        line = text.count("\n", 0, found.start()) + 1
        raise UsageError(f"{file}, line {line}: a key of more than {MOST_DEPTH} parts is too deep for {_a(what)}")
    try:
        document = tomllib.loads(text)
        deep = too_deep(document)
        places = Places(file) if deep else Places(file, lines_of(text))
    except RecursionError:
        deep = True
    except ValueError as error:  # a number of ten thousand digits is one too
        raise _syntax(file, text, str(error)) from None
    if deep:
        raise UsageError(f"{file} is nested too deeply to be {_a(what)}")
    return document, places


def known(table: Mapping[str, Any], keys: Iterable[str], path: Path, places: Places, there_are: str) -> None:
    """Refuse a key that means nothing."""
    for key in table:
        if key not in keys:
            raise places.refuse((*path, key), f"unknown key {shown(key)} ({there_are}){nearest(key, keys)}")


def _text(path: Any, what: str) -> tuple[str, str]:
    """The text of a file, and how to call it."""
    file = printable(masked(os.fspath(path)))
    try:
        content = read_small(path, MOST_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read the {what} {shown(file, 200)}: {error.strerror or error}") from error
    if content is None:
        raise UsageError(f"{shown(file, 200)} is no {what}: a TOML file of more than {MOST_BYTES // 1000} kB")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n"), file
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{file}, line {line}: {_a(what)} is a text in UTF-8, and this is none") from None


def _a(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def _syntax(file: str, text: str, message: str) -> UsageError:
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if found is None:
        return UsageError(f"{file} is no valid TOML: {message.partition(': value has')[0]}")
    line = found[2] or str(text.rstrip("\n").count("\n") + 1)
    return UsageError(f"{file}, line {line}: no valid TOML: {found[1]}" + (f" (column {found[3]})" if found[3] else ""))
