"""Results as JSON documents: one header, one loader of schemas, one way to write numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from evenhand import __version__
from evenhand.errors import UsageError, listed, nearest, shown

_SUFFIX = ".schema.json"


def header(kind: str) -> dict[str, Any]:
    """How every document begins.

    >>> header("audit")["schema"]
    'evenhand/audit/1'
    """
    return {"schema": f"evenhand/{kind}/1", "version": __version__}


def schema(kind: str = "audit") -> dict[str, Any]:
    """The JSON Schema of a kind of document; it stands beside the code that makes such documents.

    >>> import evenhand
    >>> evenhand.schema("audit")["$id"]
    'evenhand/audit/1'
    """
    found = {place.name.removesuffix(_SUFFIX): place for place in _schemas(files("evenhand"))}
    if not isinstance(kind, str) or kind not in found:
        known = sorted(found)
        raise UsageError(
            f"there is no schema {shown(kind)} (there are: {listed(known, 20)}){nearest(str(kind), known)}"
        )
    loaded: dict[str, Any] = json.loads(found[kind].read_text(encoding="utf-8"))
    return loaded


def _schemas(folder: Traversable) -> Iterator[Traversable]:
    for place in folder.iterdir():
        if place.name.endswith(_SUFFIX):
            yield place
        elif place.is_dir():
            yield from _schemas(place)


def as_json(document: dict[str, Any]) -> str:
    """JSON text; NaN and infinity cannot occur in it."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def number(value: float | None) -> float | None:
    """A number, or nothing where it is undefined or infinite."""
    return None if value is None or not math.isfinite(value) else float(value)


def plain(value: Any) -> Any:
    """A value as JSON has it: numbers by `number`, tuples as lists."""
    if isinstance(value, float):
        return number(value)
    return [plain(one) for one in value] if isinstance(value, tuple) else value


def fields(found: Any, names: str) -> dict[str, Any]:
    """Attributes by their names, in this order; what this kind of thing has not is None.

    >>> fields(1 + 2j, "imag real color")
    {'imag': 2.0, 'real': 1.0, 'color': None}
    """
    return {name: plain(getattr(found, name, None)) for name in names.split()}


def pair(ends: tuple[float, float] | None) -> list[float | None] | None:
    """Both ends of an interval, if there is one."""
    return None if ends is None else [number(ends[0]), number(ends[1])]
