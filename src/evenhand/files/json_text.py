"""JSON that others wrote: every number is one, every key stands once, and nothing is nested without end."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, NoReturn

from evenhand.errors import DataError, shown
from evenhand.files.shapes import MOST_DEPTH, too_deep

TOO_DEEP = f"it is nested in more than {MOST_DEPTH} levels"


def parsed(text: str | bytes) -> Any:
    """What a JSON text holds; the error says what is wrong in it, not where it comes from.

    >>> parsed('{"n": [1, 2.5]}')
    {'n': [1, 2.5]}
    >>> parsed('{"n": NaN}')
    Traceback (most recent call last):
    evenhand.errors.DataError: NaN is no number of JSON
    """
    try:
        found = json.loads(
            text.decode("utf-8-sig") if isinstance(text, bytes) else text,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=_whole,
            object_pairs_hook=_each_once,
        )
    except RecursionError:
        raise DataError(TOO_DEEP) from None
    except UnicodeDecodeError as error:
        raise DataError(f"it is no text in UTF-8 (byte {error.start + 1:,})") from None
    except json.JSONDecodeError as error:
        raise DataError(f"it is no JSON ({error.msg}, line {error.lineno}, column {error.colno})") from None
    if too_deep(found):
        raise DataError(TOO_DEEP)
    return found


def _no_number(name: str) -> NoReturn:
    raise DataError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(shown(text))


def _whole(text: str) -> int:
    # Python itself refuses to read thousands of digits; a number that no float can hold breaks arithmetic later on.
    return int(text) if len(text) <= 300 else _no_number(shown(text))


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise DataError(f"the key {shown(twice)} is there twice")
    return found
