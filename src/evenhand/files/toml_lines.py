"""On which line each key of a TOML text stands, which `tomllib` does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]
"""The keys and places that lead to a value: ("rule", 0, "measure")."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'", re.DOTALL
)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\r\n]+")


def lines_of(text: str) -> dict[Path, int]:
    """The line, from 1, of every table, key and member of an array. The text must be one that `tomllib` reads.

    >>> lines_of('[audit]\\ngroup = ["sex",\\n"age"]\\n\\n[[rule]]\\nmeasure = "abcc"')[("rule", 0, "measure")]
    6
    """
    return dict(_Scanner(text).document())


class _Scanner:
    """Walks over a valid TOML text; it need not notice mistakes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.tables: dict[Path, int] = {}
        """How many tables each array of tables has so far."""
        self.told = (0, 1)

    def document(self) -> Iterator[tuple[Path, int]]:
        home: Path = ()
        while self._skip(_BLANK) < len(self.text):
            line = self._line()
            if self.text[self.at] == "[":
                home = self._header()
                yield home, line
            else:
                yield from self._pair(home)

    def _header(self) -> Path:
        several = self.text.startswith("[[", self.at)
        self.at += 2 if several else 1
        *first, last = self._key()
        self._skip(_SPACE)
        self.at += 2 if several else 1
        path: Path = ()
        for part in first:
            path = self._inside((*path, part))
        path = (*path, last)
        if several:
            self.tables[path] = self.tables.get(path, 0) + 1
            return self._inside(path)
        return path

    def _inside(self, path: Path) -> Path:
        """An array of tables stands for its last one."""
        return (*path, self.tables[path] - 1) if path in self.tables else path

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip(_SPACE)
            quoted = self.text[self.at] in "\"'"
            found = (_STRING if quoted else _BARE).match(self.text, self.at)
            assert found is not None
            self.at = found.end()
            parts.append(tomllib.loads(f"key = {found[0]}")["key"] if quoted else found[0])
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def _pair(self, home: Path) -> Iterator[tuple[Path, int]]:
        line = self._line()
        path = home
        for part in self._key():
            path = (*path, part)
            yield path, line
        self.at += 1  # the =
        self._skip(_SPACE)
        yield from self._value(path)

    def _value(self, path: Path) -> Iterator[tuple[Path, int]]:
        opening = self.text[self.at]
        if opening == "[":
            yield from self._members(path, "]")
        elif opening == "{":
            yield from self._members(path, "}")
        else:
            found = (_STRING if opening in "\"'" else _PLAIN).match(self.text, self.at)
            assert found is not None
            self.at = found.end()

    def _members(self, path: Path, closing: str) -> Iterator[tuple[Path, int]]:
        self.at += 1
        place = 0
        while self._skip(_BLANK) < len(self.text) and self.text[self.at] != closing:
            if closing == "}":
                yield from self._pair(path)
            else:
                yield (*path, place), self._line()
                yield from self._value((*path, place))
                place += 1
            self._skip(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1
        self.at += 1

    def _skip(self, what: Any) -> int:
        self.at = what.match(self.text, self.at).end()
        return self.at

    def _line(self) -> int:
        """Counted on from the last one asked for."""
        at, line = self.told
        line += self.text.count("\n", at, self.at)
        self.told = (self.at, line)
        return line
