"""Every item of the five documents, in their order; and the items that a user names."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from evenhand.errors import UsageError, nearest, shown
from evenhand.published.item import DOCUMENTS, Item, slug

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
    """The items of these names: ids, labels as they are printed, beginnings of both (a document, its tables), or `all`.

    >>> [item.id for item in chosen(["becker-table"])][:2]
    ['becker-table-1', 'becker-table-2']
    >>> [item.id for item in chosen(["Fig. 5"]) if item.document == "taskesen"]
    ['taskesen-figure-5']
    """
    there = items()
    picked: set[str] = set()
    for name in names:
        found = {item.id for item in there if slug(item.id) == slug(name)}  # not those whose ids go on from there
        found = found or {item.id for item in there if _is_meant(item, slug(name))}
        if not found:
            near = nearest(slug(name), ["all", *DOCUMENTS, *(i.id for i in there)])
            raise UsageError(
                f"there is no item {shown(name)}: items are named like 'taskesen-figure-4', 'Figure 4' or 'taskesen', "
                f"and evenhand reproduce --list shows them all{near}"
            )
        picked |= found
    return tuple(item for item in there if item.id in picked)


def _is_meant(item: Item, name: str) -> bool:
    own = slug(item.id)
    names = (own, own.removeprefix(f"{item.document}-"), slug(item.label))
    return name == "all" or any(f"{one}-".startswith(f"{name}-") for one in names)


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
