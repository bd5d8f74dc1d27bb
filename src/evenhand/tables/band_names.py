"""What bands of numbers are called, such as "25–39", and where a band of such a name begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise

_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
_WHOLE = r"-?(?:0|[1-9][0-9]*)"
_BAND = re.compile(
    rf"under (?P<below>{_NUMBER})|(?P<from>{_NUMBER}) and over|(?P<low>{_NUMBER}) to <(?P<high>{_NUMBER})"
    rf"|(?P<first>{_WHOLE})(?:–| to )(?P<last>{_WHOLE})"
)
INFINITE = Decimal("Infinity")
Ends = tuple[Decimal, Decimal]
"""From the first up to, but without, the second."""


def band_name(low: Decimal | None, high: Decimal | None, whole: bool) -> str:
    """The name of the numbers from `low` to below `high`, of which one may be open; `whole` ones name their last.

    >>> band_name(None, Decimal(25), True), band_name(Decimal(25), Decimal(40), True), band_name(Decimal(9), None, True)
    ('under 25', '25–39', '9 and over')
    >>> band_name(Decimal("0.5"), Decimal(2), False), band_name(Decimal(-5), Decimal(5), True)
    ('0.5 to <2', '-5 to 4')
    """
    if low is None or high is None:
        return f"under {plain(high)}" if high is not None else f"{plain(low or Decimal(0))} and over"
    if not whole:
        return f"{plain(low)} to <{plain(high)}"
    if high - low == 1:
        return plain(low)
    return f"{plain(low)}{'–' if low >= 0 else ' to '}{plain(high - 1)}"


def plain(x: Decimal) -> str:
    """A number without an exponent.

    >>> plain(Decimal("1E+3")), plain(Decimal("0.50")), plain(Decimal("-0"))
    ('1000', '0.5', '0')
    """
    text = format(x.normalize() + 0, "f")
    return "0" if text == "-0" else text


def band_of(name: str) -> Ends | None:
    """Between what the numbers of a group lie, if it is called like a band.

    >>> band_of("25–39"), band_of("under 25"), band_of("young")
    ((Decimal('25'), Decimal('40')), (Decimal('-Infinity'), Decimal('25')), None)
    """
    match = _BAND.fullmatch(name)
    if match is None:
        return None
    found = {part: Decimal(text) for part, text in match.groupdict().items() if text is not None}
    low = found.get("from", found.get("low", found.get("first", -INFINITE)))
    high = found["last"] + 1 if "last" in found else found.get("below", found.get("high", INFINITE))
    return low, high


def clash(names: Iterable[str]) -> tuple[str, str] | None:
    """Two bands that overlap without being the same, and so cannot be groups of one attribute.

    >>> clash(["25–39", "40–59", "(missing)"]), clash(["25–39", "30 and over"])
    (None, ('25–39', '30 and over'))
    """
    bands = sorted((ends, name) for name in names if (ends := band_of(name)) is not None)
    return next(((a, b) for ((_, end), a), ((start, _), b) in pairwise(bands) if start < end), None)


def are_of(names: Sequence[str], edges: Sequence[Decimal]) -> bool:
    """Whether groups are called like the bands between these borders.

    >>> are_of(["under 25", "25–39"], [Decimal(25), Decimal(40)]), are_of(["under 30"], [Decimal(25)])
    (True, False)
    """
    borders = [None, *edges, None]
    return {*names} <= {band_name(a, b, whole) for a, b in pairwise(borders) for whole in (True, False)}
