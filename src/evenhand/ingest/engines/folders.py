"""What the names of folders tell about the files in them, as in `g=x/part.parquet` (partitions of Hive)."""

from __future__ import annotations

import os
from pathlib import PurePath, PurePosixPath
from urllib.parse import unquote

from evenhand.errors import DataError, shown
from evenhand.files.paths import shown_path
from evenhand.files.secrets import is_address
from evenhand.ingest.engines.addresses import without_query

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def told_by_folders(file: str, root: str) -> dict[str, str | None]:
    """The columns that names of folders tell: those below the root, and an unbroken run of them that ends there.

    So `x=1` counts in root/x=1/more/part.parquet and in x=1/y=2/part.parquet, but not somewhere above.

    >>> told_by_folders("data/day=5/g=New%20York/part.parquet", "data")
    {'day': '5', 'g': 'New York'}
    >>> told_by_folders("/home/x=1/data/g=a/part.parquet", "/home/x=1/data/g=a")
    {'g': 'a'}
    """
    folders, top = _parts(file)[:-1], _parts(root)
    depth = len(top) if folders[: len(top)] == top else len(folders)
    start = depth
    while start and "=" in folders[start - 1]:
        start -= 1
    told: dict[str, str | None] = {}
    for folder in folders[start:]:
        name, equals, value = folder.partition("=")
        if not name or not equals:
            continue
        name, stated = _decoded(name), None if value == _NO_VALUE else _decoded(value)
        if told.setdefault(name, stated) != stated:
            raise DataError(f"folders of {shown_path(file)} contradict each other about {shown(name)}: rename one")
    return told


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(without_query(path)).parts if is_address(path) else PurePath(os.path.abspath(path)).parts


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
