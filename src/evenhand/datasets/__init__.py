"""Data sets that the literature on fairness uses, read from files that you name, and synthetic ones.

Nothing is bundled: a function says which file it needs and where that can be had. The names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.datasets.census import adult, kdd_census
    from evenhand.datasets.credit import german
    from evenhand.datasets.dataset import Dataset
    from evenhand.datasets.justice import compas
    from evenhand.datasets.survey import acs
    from evenhand.datasets.synthetic import four_normals, two_normals

# No module is called like a public function: importing the module would replace the function.
_HOME = {
    "Dataset": "dataset",
    "acs": "survey",
    "adult": "census",
    "compas": "justice",
    "four_normals": "synthetic",
    "german": "credit",
    "kdd_census": "census",
    "two_normals": "synthetic",
}

__all__ = ["Dataset", "acs", "adult", "compas", "four_normals", "german", "kdd_census", "two_normals"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"evenhand.datasets.{_HOME[name]}"), name)
    raise AttributeError(f"module 'evenhand.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
