"""Results as JSON documents: one header, one loader of schemas, one way to write numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from evenhand import __version__
from evenhand.errors import unknown

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
    places = {place.name.removesuffix(_SUFFIX): place for place in _schemas(files("evenhand"))}
    if not isinstance(kind, str) or kind not in places:
        raise unknown("there is no schema", kind, sorted(places))
    loaded: dict[str, Any] = json.loads(places[kind].read_text(encoding="utf-8"))
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


def fields(thing: Any, names: str) -> dict[str, Any]:
    """Attributes by their names, in this order; what this kind of thing has not is None.

    >>> fields(1 + 2j, "imag real color")
    {'imag': 2.0, 'real': 1.0, 'color': None}
    """
    return {name: plain(getattr(thing, name, None)) for name in names.split()}


def null_fields(null: Any, excess: float | None) -> dict[str, Any]:
    """The p-value of a null distribution, if there is one, its mean and 95 % point, and the excess over the mean."""
    known = fields(null, "p_value mean high method")
    return {"p_value": known["p_value"], "null_mean": known["mean"], "null_95": known["high"],
            "excess": number(excess), "null_method": known["method"]}  # fmt: skip


def least(m: dict[str, Any]) -> bool:
    """Whether no permutation of group labels showed so large a gap: the p-value may be smaller than it is written.

    >>> least({"null_method": "99 permutations", "p_value": 0.01}), least({"null_method": "exact", "p_value": 0.01})
    (True, False)
    """
    draws = (m["null_method"] or "").split(" ")[0]
    return draws.isdigit() and m["p_value"] <= 1 / (int(draws) + 1)


def pair(ends: tuple[float, float] | None) -> list[float | None] | None:
    """Both ends of an interval, if there is one."""
    return None if ends is None else [number(ends[0]), number(ends[1])]
