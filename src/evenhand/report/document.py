"""Results as JSON documents: one header, one loader of schemas, one way to write numbers."""

from __future__ import annotations

import json
import math
import re
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
    """JSON text; NaN and infinity cannot occur in it.

    Characters that do not show are escaped, and so is what a pipeline would take for a command: values stay the same.
    """
    return _UNSEEN.sub(_escape, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


# Controls, what turns or hides text, halves of surrogate pairs; and what pipelines obey, which only a name can hold.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
    r"|#(?=#\w*\[)"
)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


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


def pair(ends: tuple[float, float] | None) -> list[float | None] | None:
    """Both ends of an interval, if there is one."""
    return None if ends is None else [number(ends[0]), number(ends[1])]
