"""What a document that others wrote must look like, said once and checked before anything in it is believed.

A shape is called with a value and with what the value is called, and raises a `DataError` that names both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evenhand.errors import DataError, listed, shown

Shape = Callable[[Any, str], None]

MOST_TEXT = 100_000
"""Characters of a name or a sentence."""


MOST_DEPTH = 40
"""Documents of ours have a dozen levels; whatever walks over one or shows it must not run out of stack."""


def too_deep(document: Any) -> bool:
    """Whether dictionaries and lists lie in each other in more levels than anybody means.

    >>> too_deep({"a": [1]}), too_deep([[[]] * 2] * 2), too_deep(eval("[" * 41 + "]" * 41))
    (False, False, True)
    """
    level = _holders([document])
    for _ in range(MOST_DEPTH):
        if not level:
            return False
        level = _holders(one for holder in level for one in (holder.values() if isinstance(holder, dict) else holder))
    return bool(level)


def _holders(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]


def is_text(value: Any, most: int = MOST_TEXT) -> bool:
    """Whether a value is a text that any file can hold, and not a book."""
    if not isinstance(value, str) or len(value) > most:
        return False
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def text(value: Any, name: str) -> None:
    _needs(is_text(value), name, f"a text of at most {MOST_TEXT:,} characters", value)


def flag(value: Any, name: str) -> None:
    _needs(isinstance(value, bool), name, "true or false", value)


def anything(value: Any, name: str) -> None:
    """What is checked elsewhere."""


def whole(least: int, most: int) -> Shape:
    def shape(value: Any, name: str) -> None:
        _needs(type(value) is int and least <= value <= most, name, f"a whole number, {least:,} to {most:,}", value)

    return shape


def real(least: float = -math.inf, most: float = math.inf) -> Shape:
    """A finite number between two."""
    bounds = "" if (least, most) == (-math.inf, math.inf) else f", {least:g} to {most:g}"

    def shape(value: Any, name: str) -> None:
        ok = type(value) in (int, float) and math.isfinite(value) and least <= value <= most
        _needs(ok, name, f"a finite number{bounds}", value)

    return shape


def one_of(*names: str) -> Shape:
    def shape(value: Any, name: str) -> None:
        _needs(isinstance(value, str) and value in names, name, f"one of {listed(names)}", value)

    return shape


def maybe(inner: Shape) -> Shape:
    """That, or null."""

    def shape(value: Any, name: str) -> None:
        if value is not None:
            inner(value, name)

    return shape


def items(inner: Shape, least: int = 0, most: int = 2**31) -> Shape:
    """A list of these."""

    def shape(value: Any, name: str) -> None:
        fits = isinstance(value, list) and least <= len(value) <= most
        _needs(fits, name, f"a list of {least:,} to {most:,}" if (least, most) != (0, 2**31) else "a list", value)
        for i, one in enumerate(value):
            inner(one, f"{name}[{i}]")

    return shape


def tuple_of(*inner: Shape) -> Shape:
    """A list with one of each."""

    def shape(value: Any, name: str) -> None:
        _needs(isinstance(value, list) and len(value) == len(inner), name, f"a list of {len(inner)}", value)
        for i, (one, part) in enumerate(zip(value, inner, strict=True)):
            part(one, f"{name}[{i}]")

    return shape


def rising(value: Any, name: str) -> None:
    """A lower and an upper end."""
    tuple_of(real(), real())(value, name)
    _needs(value[0] <= value[1], name, "two numbers, the lower one first", value)


def by_name(inner: Shape) -> Shape:
    """Any texts, and one of these for each."""

    def shape(value: Any, name: str) -> None:
        _needs(isinstance(value, dict), name, "a dictionary", value)
        for key, one in value.items():
            text(key, f"a key of {name}")
            inner(one, f"{name}.{shown(key)}")

    return shape


def record(needed: Mapping[str, Shape], optional: Mapping[str, Shape] | None = None) -> Shape:
    """Just these keys."""
    known = {**needed, **(optional or {})}

    def shape(value: Any, name: str) -> None:
        _needs(isinstance(value, dict), name, "a dictionary", value)
        for key in needed:
            if key not in value:
                raise DataError(f"{name} lacks the key {shown(key)}")
        for key, one in value.items():
            if key not in known:
                raise DataError(f"{name} has the unknown key {shown(key)} (it may have {listed(known, 20)})")
            known[key](one, key if name == THE_WHOLE else f"{name}.{key}")

    return shape


THE_WHOLE = "the document"


def _needs(ok: bool, name: str, what: str, value: Any) -> None:
    if not ok:
        raise DataError(f"{name} must be {what}, not {shown(value)}")
