"""Options that name files. What a command writes is never what it reads, by whatever name; this is checked here.

An option or argument that names a file says so by its type: READ, ONE_FILE, PERIODS, MODEL, FOLDER and
MAPPED are read, WRITTEN and SHOWN are written. `_Command` of `options.py` calls `check_places` before any work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.types import StringParamType

from evenhand.errors import UsageError
from evenhand.files.paths import as_path, check_target, shown_path

STANDARD_OUTPUT = "-"


class Read(StringParamType):
    """What names files that are read, or may do so; `files` finds them, given all options."""

    def __init__(self, files: Callable[[Any, Mapping[str, Any]], Iterable[str]]) -> None:
        self.files = files


class Written(StringParamType):
    """What names a file that is written; - may stand for standard output."""

    def __init__(self, or_standard_output: bool = False) -> None:
        self.standard_output = STANDARD_OUTPUT if or_standard_output else None


def _data(given: str, options: Mapping[str, Any]) -> list[str]:
    from evenhand.ingest.engines.found import files_of

    return files_of(given)


def _itself(given: str, options: Mapping[str, Any]) -> list[str]:
    return [given]


def _periods(given: str, options: Mapping[str, Any]) -> list[str]:
    """Rows with a time, or saved tables, which may have any name."""
    from evenhand.analyses.monitor.stream import table_files
    from evenhand.errors import EvenhandError

    if options["time"] is not None:
        return _data(given, options)
    try:
        return list(map(str, table_files(given)[0].values()))
    except EvenhandError:  # which ends the command
        return []


def _model(given: str, options: Mapping[str, Any]) -> list[str]:
    """A file, or the module of package.module:name where it lies in the current directory."""
    place = given.partition(":")[0].replace(".", "/")
    return [*_data(given, options), *filter(os.path.isfile, (f"{place}.py", f"{place}/__init__.py"))]


def _mapped(given: Mapping[str, str], options: Mapping[str, Any]) -> list[str]:
    """The files of COL=FILE."""
    return [*given.values()]


def _folder(given: str, options: Mapping[str, Any]) -> list[str]:
    """All files of a folder of data sets; what is a file is refused later, and not overwritten before."""
    place = as_path(given)
    return [str(path) for path in (place, *place.rglob("*")) if path.is_file()]


READ, ONE_FILE = Read(_data), Read(_itself)
PERIODS, MODEL, FOLDER, MAPPED = Read(_periods), Read(_model), Read(_folder), Read(_mapped)
WRITTEN, SHOWN = Written(), Written(or_standard_output=True)


def check_places(context: click.Context, further: Iterable[Path] = ()) -> None:
    """Refuse what cannot be written, what is written twice, and what is read: by the command, or as `further` files."""
    places: dict[str, str] = {}
    for param in _of_type(context, Written):
        flag, path = max(param.opts, key=len), context.params[param.name]
        if not path:
            raise UsageError(f"{flag} takes the name of a file, and it is empty")
        if path == STANDARD_OUTPUT and not param.type.standard_output:
            raise UsageError(f"{flag} saves to a file, not to standard output: name one")
        place = path
        if path != param.type.standard_output:
            check_target(path)
            place = os.path.realpath(as_path(path))
        if place in places:
            raise UsageError(f"{places[place]} and {flag} name the same place: give each its own file")
        places[place] = flag
        if os.path.isfile(place) and path != param.type.standard_output and _is_read(place, context, further):
            raise UsageError(f"{flag} would overwrite {shown_path(path)}, which is read: name another file")


def _of_type(context: click.Context, kind: type[StringParamType]) -> Iterator[Any]:
    """The options of a kind that were given."""
    said = context.params
    yield from (p for p in context.command.params if isinstance(p.type, kind) and said.get(p.name or "") is not None)


def _is_read(place: str, context: click.Context, further: Iterable[Path]) -> bool:
    """Whether a file, under whatever name, is one of those that are read."""
    if any(_same(file, place) for file in further):
        return True
    for param in _of_type(context, Read):
        stated = context.params[param.name]
        for one in stated if isinstance(stated, tuple) else (stated,):
            if any(_same(file, place) for file in param.type.files(one, context.params)):
                return True
    return False


def _same(one: str | Path, other: str) -> bool:
    return os.path.isfile(one) and os.path.samefile(one, other)
