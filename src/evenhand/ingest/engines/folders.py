"""What the names of folders tell about the files in them, as in `g=x/part.parquet` (partitions of Hive)."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import PurePath, PurePosixPath
from urllib.parse import unquote

from evenhand.errors import DataError, shown
from evenhand.files.paths import shown_path
from evenhand.files.secrets import is_address
from evenhand.ingest.engines.addresses import without_query

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def told_by_folders(file: str, root: str, needed: Collection[str]) -> dict[str, str | None]:
    """Those of the needed columns that names of folders tell.

    >>> told_by_folders("data/day=5/g=New%20York/part.parquet", "data", ["g", "s"])
    {'g': 'New York'}
    """
    told: dict[str, str | None] = {}
    for name, value in statements(file, root):
        if name in needed and told.setdefault(name, value) != value:
            raise DataError(f"folders of {shown_path(file)} contradict each other about {shown(name)}: rename one")
    return told


def statements(file: str, root: str) -> list[tuple[str, str | None]]:
    """What folders tell: those below the root, and an unbroken run of them that ends there.

    So `x=1` counts in root/x=1/more/part.parquet and in x=1/y=2/part.parquet, but not somewhere above.

    >>> statements("/home/x=1/data/day=5/g=a/part.parquet", "/home/x=1/data/day=5")
    [('day', '5'), ('g', 'a')]
    """
    folders, top = _parts(file)[:-1], _parts(root)
    start = len(top) if folders[: len(top)] == top else len(folders)
    while start and "=" in folders[start - 1]:
        start -= 1
    pairs = [folder.partition("=")[::2] for folder in folders[start:] if folder.find("=") > 0]
    return [(_decoded(name), None if value == _NO_VALUE else _decoded(value)) for name, value in pairs]


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(without_query(path)).parts if is_address(path) else PurePath(os.path.abspath(path)).parts


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
