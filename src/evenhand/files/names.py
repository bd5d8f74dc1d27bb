"""Names that load on first use, and old paths of modules that have moved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from warnings import warn

TYPE_CHECKING = False  # that of typing takes longer to load than all the rest
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

# Paths that the documentation once named; what is in curly brackets is a kind of document, for `evenhand.schema`.
MOVED = {
    "evenhand.charts": "evenhand.report.charts",
    "evenhand.charts.theme": "evenhand.report.charts.theme",
    "evenhand.projection": "evenhand.analyses.projection.projection_test",
    "evenhand.tradeoff": "evenhand.measures.pareto",
    "evenhand.report.aggregation": "{aggregate}", "evenhand.report.candidates": "{candidates}",
    "evenhand.report.classes": "{classes}", "evenhand.report.comparison_document": "{compare}",
    "evenhand.report.counterfactual": "{counterfactual}", "evenhand.report.cutoffs": "{thresholds}",
    "evenhand.report.disclosure": "{table_info}", "evenhand.report.experiment": "{experiment}",
    "evenhand.report.individual": "{individual}", "evenhand.report.verdict": "{check}",
    "evenhand.report.watch": "{monitor}",
}  # fmt: skip


PUBLIC = {"evenhand.analyses.projection.projection_test": "evenhand.projection_test"}


def lazy(package: str, home: Mapping[str, str], *more: str) -> tuple[Callable[[str], Any], Any, list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package: the names of each of its modules, which load on first use.

    >>> load, names, _ = lazy("evenhand", {"errors": "DataError UsageError"})
    >>> names(), load("DataError")
    (['DataError', 'UsageError'], <class 'evenhand.errors.DataError'>)
    """
    modules = {name: module for module, names in home.items() for name in names.split()}
    known = sorted([*modules, *more])

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{modules[name]}")
        return module if name == modules[name] else getattr(module, name)

    return load, lambda: known, known


class Moved:
    """Imports a module from where it is now, and says so."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        loader: Any = self  # a base class of importlib would take longer to load than all of this
        return ModuleSpec(name, loader, is_package=name == "evenhand.charts") if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """As Python makes it."""

    def exec_module(self, module: ModuleType) -> None:
        old, new = module.__name__, MOVED[module.__name__]
        kind = new.strip("{}")
        now = PUBLIC.get(new, new) if kind == new else f'evenhand.schema("{kind}")'
        warn(f"{old} has moved: use {now}", DeprecationWarning, stacklevel=2)
        if kind == new:
            module.__dict__["__getattr__"] = partial(getattr, import_module(new))
        else:
            module.__dict__["schema"] = partial(import_module("evenhand.report.document").schema, kind)


def install() -> None:
    """Have old paths found after all others."""
    if not any(isinstance(finder, Moved) for finder in sys.meta_path):
        sys.meta_path.append(Moved())
