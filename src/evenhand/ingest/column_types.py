"""What a column is, where its values do not agree: numbers with a stray text are refused, never taken for names."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from evenhand.errors import DataError, listed, shown
from evenhand.ingest.values import NO_VALUE, Encoded, encode, name_of
from evenhand.tables.arrays import Floats, Ints

NEARLY_ALL = 0.9
"""From this share of numbers on, other values are strays; below it they are names."""
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_SEPARATED = re.compile(r"[+-]?[0-9]{1,3}([,.' \u00a0\u202f][0-9]{3})+([.,][0-9]+)?|[+-]?[0-9]+,[0-9]+")

_DATE = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]([T ]|$)")


def refuse_mixed(name: str, values: Any) -> None:
    """Refuse a column of nearly all numbers, or of numbers and truth values: which of both is meant is not for us."""
    codes, distinct = encode(values)
    kinds = np.array([_kind(v) for v in distinct] or [""], object)[codes]
    types, numbers = set(map(type, distinct)), kinds == "number"
    if (bool in types and types & {int, float}) or ("truth" in kinds and numbers.any() and set(kinds) <= _OR_TRUTH):
        raise DataError(f"column {shown(name)} holds both truth values and numbers: make the column one type")
    like = numbers | (kinds == "infinite") | (kinds == "separated")
    odd = ~numbers & (kinds != "")
    there = (kinds != "") & (kinds != "gap")
    if odd.any() and there.any() and like.sum() >= NEARLY_ALL * there.sum():
        raise DataError(
            f"{_strays(name, codes, distinct, odd)}: repair them, or leave them empty and these rows out "
            "(missing='drop', --missing drop); if the numbers of this column are only names, say so (categories=, "
            "--categories)"
        )


def numbers_of(name: str, values: Encoded) -> Floats:
    """A column of a file that the user says are numbers; NaN where there is none. '007' is 7 then."""
    kinds = [_kind(v) for v in values.distinct]
    odd = np.array([k not in ("", "gap", "number") for k in kinds] or [False])
    if odd[values.codes].any():
        raise DataError(
            f"{_strays(name, values.codes, values.distinct, odd[values.codes])}: repair them, or leave them empty and "
            "these rows out (missing='drop', --missing drop)"
        )
    read = [float(v) if k == "number" else np.nan for v, k in zip(values.distinct, kinds, strict=True)]
    return np.asarray(np.array(read or [np.nan])[values.codes])


def holds_dates(categories: tuple[Any, ...]) -> bool:
    """Whether all values are days or moments, as such or as text."""
    there = [c for c in categories if name_of(c) is not None]
    return bool(there) and all(isinstance(c, date) or (isinstance(c, str) and _DATE.match(c)) for c in there)


def _strays(name: str, codes: Ints, distinct: list[Any], odd: Any) -> str:
    found = [distinct[c] for c in dict.fromkeys(codes[odd].tolist())]
    return (
        f"column {shown(name)} must hold numbers, but {int(odd.sum()):,} of {len(odd):,} rows hold {listed(found, 5)}"
    )


_OR_TRUTH = {"", "gap", "number", "truth"}


def _kind(value: Any) -> str:
    """What a value is: "" if there is none, a gap if a word says so."""
    if isinstance(value, str):
        return _kind_of_text(value.strip())
    if isinstance(value, bool | np.bool_):
        return "truth"
    if isinstance(value, float | np.floating) and np.isinf(value):
        return "infinite"
    if name_of(value) is None:
        return ""
    return "number" if isinstance(value, int | float | Decimal | np.number) else "other"


def _kind_of_text(text: str) -> str:
    if not text:
        return ""
    if text in NO_VALUE:
        return "gap"
    if text.lower() in ("true", "false"):
        return "truth"
    forms = {"number": _NUMBER, "infinite": _INFINITE, "separated": _SEPARATED}
    return next((kind for kind, form in forms.items() if form.fullmatch(text)), "other")
