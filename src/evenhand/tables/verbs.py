"""Questions to a table as its methods: `table.audit()` is `evenhand.audit(table)`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def _verb(name: str) -> Callable[..., Any]:
    """A method that hands the table to the public function of that name, found when it is called.

    Tables stand below analyses and must not know them, not even by type: hence Any. `evenhand.audit(table)` has the
    true type.
    """

    def ask(self: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(import_module("evenhand"), name)(self, *arguments, **options)

    ask.__name__ = name
    ask.__doc__ = f"`evenhand.{name}` of this table, with its other options."
    return ask


class Asked:
    """The questions that any table can be asked; those that make no sense for its kind are refused with the reason."""

    aggregate = _verb("aggregate")
    audit = _verb("audit")
    check = _verb("check")
    curves = _verb("curves")
    monitor = _verb("monitor")
    projection_test = _verb("projection_test")
    thresholds = _verb("thresholds")
