"""The files that a folder or a pattern means. One file is one file, by however many names it can be reached."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from glob import glob, has_magic
from pathlib import Path

from evenhand.errors import DataError, shown
from evenhand.files.paths import shown_path

_ANY_DEPTH = "**"
Again = tuple[tuple[str, str], ...]
"""Further names of files, each with the name by which its file is read."""


def below(folder: Path, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[tuple[str, ...]]:
    """Whatever is no folder below a folder, by the names that lead there; only through names that are `wanted`.

    A link to a folder is followed, but not in a circle.
    """
    yield from _below(str(folder), (), frozenset(), wanted)


def _below(
    folder: str, names: tuple[str, ...], above: frozenset[tuple[int, int] | str], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, ...]]:
    here = _identity(folder)
    if here in above:
        return
    for name in sorted(os.listdir(folder)):
        if not wanted(name):
            continue
        if os.path.isdir(place := os.path.join(folder, name)):
            yield from _below(place, (*names, name), above | {here}, wanted)
        else:
            yield (*names, name)


def matching(pattern: Path) -> list[str]:
    """The names that fit a pattern, in which ** stands for any folders."""
    parts = pattern.parts
    if _ANY_DEPTH not in parts:
        return glob(str(pattern))
    start = parts.index(_ANY_DEPTH)
    tops = [Path(top) for top in glob(str(Path(*parts[:start])))] if start else [Path()]
    folders = [top for top in tops if top.is_dir()]
    return [str(top.joinpath(*names)) for top in folders for names in below(top) if _fits(names, parts[start:])]


def _fits(names: Sequence[str], parts: Sequence[str]) -> bool:
    """As `glob` has it: a hidden name fits only where a part begins with a dot too."""
    if not parts or not names:
        return not names and all(part == _ANY_DEPTH for part in parts)
    first, hidden = parts[0], names[0].startswith(".")
    if first == _ANY_DEPTH:
        return _fits(names, parts[1:]) or (not hidden and _fits(names[1:], parts))
    return (not hidden or first.startswith(".")) and fnmatch(names[0], first) and _fits(names[1:], parts[1:])


def beginning(pattern: Path) -> Path:
    """The folder that a pattern names outright."""
    plain: list[str] = []
    for part in pattern.parts:
        if has_magic(part):
            break
        plain.append(part)
    return Path(*plain)


def whole_files(names: Iterable[str]) -> list[str]:
    """Those that are files, not folders; a link to nothing or a pipe among them would be a part that nobody counts."""
    found = []
    for name in names:
        if os.path.isfile(name):
            found.append(name)
        elif not os.path.isdir(name):
            raise DataError(f"cannot read {shown_path(name)}: {_why_no_file(name)}")
    return found


def _why_no_file(name: str) -> str:
    if os.path.islink(name) and not os.path.exists(name):
        return f"it is a link to {shown_path(os.readlink(name))}, which is not there: repair the link or remove it"
    return "it is no regular file but a pipe or a device: save what it holds to a file first"


def once(names: Iterable[str]) -> tuple[list[str], Again]:
    """The first name of every file, and every further one."""
    first: dict[tuple[int, int] | str, str] = {}
    again: list[tuple[str, str]] = []
    for name in names:
        file = _identity(name)
        if file in first:
            again.append((name, first[file]))
        first.setdefault(file, name)
    return list(first.values()), tuple(again)


def _identity(name: str) -> tuple[int, int] | str:
    """What tells a file or folder from all others, whatever it is called; some file systems do not number them."""
    try:
        about = os.stat(name)
    except OSError:
        return name
    return (about.st_dev, about.st_ino) if about.st_ino else os.path.realpath(name)


def said_of(again: Again, short: Callable[[str], str] = str) -> list[str]:
    """What a result says about files of several names, which it shortens.

    >>> said_of((("may/latest.csv", "may/2024-05.csv"), ("may/2024-04.csv", "may/2024-04.csv")), os.path.basename)
    ["a file of several names is read once: 'latest.csv' is '2024-05.csv', '2024-04.csv' is named again"]
    """
    pairs = [(short(name), short(kept)) for name, kept in again]
    texts = [f"{shown(name)} is {'named again' if name == kept else shown(kept)}" for name, kept in pairs]
    more = f" and {len(pairs) - 3:,} more" if len(pairs) > 3 else ""
    return [f"a file of several names is read once: {', '.join(texts[:3])}{more}"] if pairs else []
