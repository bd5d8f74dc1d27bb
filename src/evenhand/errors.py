"""What can go wrong, drawn as a tree.

    EvenhandError
    ├── DataError            the data break a rule            (also a ValueError)
    │   └── TableFileError   a saved table is damaged or foreign
    ├── UsageError           the call asks for something that makes no sense (also a ValueError)
    └── MissingLibrary       an optional library is needed    (also an ImportError)

Every message states the rule, the value that was found, and the way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any


class EvenhandError(Exception):
    """Anything Evenhand refuses to do, with its reason."""


class DataError(EvenhandError, ValueError):
    """The data break a rule."""


class TableFileError(DataError):
    """A file is not a table that Evenhand saved, or it was damaged since."""


class UsageError(EvenhandError, ValueError):
    """The arguments contradict each other or the data."""


class MissingLibrary(EvenhandError, ImportError):
    """Something optional has to be installed first."""


def shown(value: object, limit: int = 60) -> str:
    """A value as it may appear inside a message: quoted, printable and short.

    >>> shown("Female"), shown(1), shown("x" * 100, limit=5)
    ("'Female'", '1', "'xxxx…'")
    """
    try:
        text = repr(value)
    except Exception:  # of anybody's class, or a number of thousands of digits
        text = f"an object of type {type(value).__name__}"
    text = printable(" ".join(text.split()) if "\n" in text else text)
    if len(text) <= limit:
        return text
    return text[:limit] + "…" + (text[-1] if text[-1] in "'\"" else "")


def listed(values: Iterable[object], limit: int = 8) -> str:
    """The first few values of a list, and how many more there are.

    >>> listed(["b", "a"]), listed([]), listed(range(20), limit=3)
    ("'b', 'a'", 'nothing', '0, 1, 2 and 17 more')
    """
    items = list(values)
    more = f" and {len(items) - limit} more" if len(items) > limit else ""
    return (", ".join(shown(v) for v in items[:limit]) or "nothing") + more


def nearest(word: object, words: Iterable[str]) -> str:
    """A question that suggests the word the user may have meant, or nothing.

    >>> nearest("Femal", ["Female", "Male"])
    "; did you mean 'Female'?"
    >>> nearest("xyz", ["Female", "Male"])
    ''
    """
    if not isinstance(word, str):
        return ""
    candidates = {w.casefold(): w for w in words}
    # difflib compares every pair of characters: very long names would make a typo cost seconds.
    close = get_close_matches(word.casefold()[:200], [c for c in candidates if len(c) <= 200], n=1)
    return f"; did you mean {shown(candidates[close[0]])}?" if close else ""


def one_of(option: str, value: object, known: Iterable[str], limit: int = 20) -> None:
    """Refuse a value that an option does not know.

    >>> one_of("unit", "gaps", ("score", "gap"))
    Traceback (most recent call last):
    evenhand.errors.UsageError: unit must be one of 'score', 'gap', not 'gaps'; did you mean 'gap'?
    """
    there = list(known)
    if not isinstance(value, str) or value not in there:
        raise UsageError(f"{option} must be one of {listed(there, limit)}, not {shown(value)}{nearest(value, there)}")


def unknown(what: str, value: object, known: Iterable[str], limit: int = 20) -> UsageError:
    """The error that something named does not exist.

    >>> str(unknown("there is no chart", "cdff", ["cdf", "pdf"]))
    "there is no chart 'cdff' (there are: 'cdf', 'pdf'); did you mean 'cdf'?"
    """
    there = list(dict.fromkeys(known))
    return UsageError(f"{what} {shown(value)} (there are: {listed(there, limit)}){nearest(value, there)}")


def number(value: Any) -> float:
    """A number of Python or numpy, else NaN; a truth value is no number."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else float("nan")
    except OverflowError:
        return float("nan")


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or numpy; a truth value is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole_number(option: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number between two, or from one on; anything else is refused.

    >>> whole_number("points", 1.5, 2)
    Traceback (most recent call last):
    evenhand.errors.UsageError: points must be a whole number from 2, not 1.5
    """
    if not is_whole(value) or value < least or (most is not None and value > most):
        to = "" if most is None else f" to {most:,}"
        raise UsageError(f"{option} must be a whole number from {least}{to}, not {shown(value)}")
    return int(value)


def truth(option: str, value: Any) -> bool:
    """True or False, of Python or numpy; anything else is refused.

    >>> truth("force", 1)
    Traceback (most recent call last):
    evenhand.errors.UsageError: force is True or False, not 1
    """
    if type(value).__name__ not in ("bool", "bool_"):
        raise UsageError(f"{option} is True or False, not {shown(value)}")
    return bool(value)


def values_in(value: Any) -> list[Any] | None:
    """The values of a list or of anything else that holds some; of a text, a mapping or a single value None.

    >>> values_in((0, 1)), values_in("ab"), values_in(1)
    ([0, 1], None, None)
    """
    if isinstance(value, str | bytes | Mapping):
        return None
    try:
        return list(value)
    except Exception:  # an array without dimensions says so only when it is asked
        return None


def names_in(option: str, value: Any) -> list[str]:
    """A list of names; one name alone, or anything else, is refused.

    >>> names_in("features", "age")
    Traceback (most recent call last):
    evenhand.errors.UsageError: features is a list of columns, not 'age'
    """
    found = values_in(value)
    if found is None or not all(isinstance(name, str) for name in found):
        raise UsageError(f"{option} is a list of columns, not {shown(value)}")
    return found


def same(value: Any, other: Any) -> bool:
    """Whether two values are equal; an array, or what does not want to be compared, equals nothing.

    >>> same(1, 1.0), same([1], [1]), same("a", None)
    (True, True, False)
    """
    try:
        found = value == other
    except Exception:  # of anybody's class
        return False
    return type(found).__name__ in ("bool", "bool_") and bool(found)


def shown_name(name: object, limit: int = 40) -> str:
    """A name for the eye: printable, short, unquoted. A long one keeps its end too, which often tells it from others.

    >>> shown_name("a" * 50 + "1", 12)
    'aaaaaaaa…aa1'
    """
    given = str(name)
    if len(given) > 2 * limit:
        given = given[:limit] + given[-limit:]
    text = printable(given)
    tail = limit // 4
    return text if len(text) <= limit else f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def printable(text: str) -> str:
    """Text in which every character that does not show is spelt out: ends of lines, colours, turns of direction.

    >>> printable("a\\n\\x1b[31mb")
    'a\\\\n\\\\x1b[31mb'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


_COMMAND = re.compile(r"^\s*:(?=:)|#(?=#\w*\[)")
"""GitHub obeys lines that begin with two colons, and `##[…]` wherever it stands; Azure and TeamCity obey `##vso[…]`."""


def harmless(text: str) -> str:
    """Lines that neither a terminal nor a pipeline obeys: `printable`, with a blank in what would be a command.

    >>> print(harmless("::error::x\\n##[group]y of a::b"))
    : :error::x
    # #[group]y of a::b
    """
    return "\n".join(_COMMAND.sub(r"\g<0> ", printable(line)) for line in text.split("\n"))
