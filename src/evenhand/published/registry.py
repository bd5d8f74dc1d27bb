"""Every item of the five documents, in their order; and the items that a user names."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from evenhand.errors import unknown
from evenhand.published.item import DOCUMENTS, Item

MODULES = {
    "han-jiang": "distributions",
    "exfairness": "specification",
    "becker": "score_bias",
    "han-baldwin": "aggregation",
    "taskesen": "projection",
}
"""The module with the items of a document."""


def items() -> tuple[Item, ...]:
    """All items, document by document.

    >>> [item.label for item in items() if item.id == "becker-table-1"]
    ['Table 1']
    """
    modules = (import_module(f"evenhand.published.{MODULES[key]}") for key in DOCUMENTS)
    return tuple(item for module in modules for item in module.ITEMS)


def chosen(names: Iterable[str]) -> tuple[Item, ...]:
    """The items of these names: ids, beginnings of ids that end at a hyphen (a document, its tables), or `all`.

    >>> [item.id for item in chosen(["becker-table"])][:2]
    ['becker-table-1', 'becker-table-2']
    """
    there = items()
    picked: set[str] = set()
    for name in names:
        found = {i.id for i in there if name == "all" or i.id == name or i.id.startswith(f"{name}-")}
        if not found:
            raise unknown("there is no item", name, ["all", *DOCUMENTS, *(i.id for i in there)])
        picked |= found
    return tuple(item for item in there if item.id in picked)


def missing(item: Item, data: Path | None) -> str:
    """Why an item cannot be run here, ending the sentence "not run: …"; nothing if it can."""
    if item.lacks:
        return item.lacks
    absent = [n for n in item.data if data is None or not any(any(data.glob(one)) for one in n.split("|"))]
    if absent:
        names = " and ".join(one.replace("|", " or ") for one in absent)
        return f"needs {names} in the folder of --data" if data is not None else f"needs {names}: say --data FOLDER"
    libraries = [name for name in item.libraries if find_spec(name) is None]
    return f"needs {' and '.join(libraries)}: pip install {' '.join(libraries)}" if libraries else ""
