"""How numbers are written for people: one way each for numbers, intervals, p-values and shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MISSING = "–"


def sentence(text: str) -> str:
    """With a capital and a full stop.

    >>> sentence("calibration 0.1"), sentence("who differs is known."), sentence("")
    ('Calibration 0.1.', 'Who differs is known.', '')
    """
    return f"{text[0].upper()}{text[1:].removesuffix('.')}." if text else ""


def number(value: float | None, *, sign: bool = False, digits: int = 3, tiny: bool = False) -> str:
    """A number with so many decimals; a dash where there is none. Only with its sign may it read −0.000: it is below 0.

    `tiny` keeps two digits of a number that would seem to be 0.

    >>> number(0.1234), number(0.5, sign=True), number(-0.0001), number(-0.0001, sign=True), number(None)
    ('0.123', '+0.500', '0.000', '-0.000', '–')
    >>> number(0.007, tiny=True), number(0.00021, tiny=True), number(0.0, tiny=True)
    ('0.0070', '0.00021', '0.000')
    """
    if value is None:
        return MISSING
    plus = "+" if sign else ""
    if tiny and 0 < abs(value) < 10.0**-digits:
        return f"{value:{plus}.2g}"
    digits += tiny and 0 < abs(value) < 10.0 ** (1 - digits)
    return f"{(value if sign else round(value, digits)) + 0.0:{plus}.{digits}f}"


def interval(
    ends: Sequence[float | None] | None, *, sign: bool = False, digits: int = 3, tiny: bool = False,
    join: str = " to ", unbounded: str = "…",
) -> str:  # fmt: skip
    """Both ends of an interval; … where it has no end, a dash where there is no interval.

    >>> interval((0.1, 0.25)), interval([-0.1, None], sign=True, join=", "), interval(None)
    ('0.100 to 0.250', '-0.100, …', '–')
    """
    if ends is None:
        return MISSING
    return join.join(unbounded if end is None else number(end, sign=sign, digits=digits, tiny=tiny) for end in ends)


def p_value(p: float | None, *, at_most: bool = False) -> str:
    """A p-value with three decimals; `at_most` marks one that may be smaller than it is written.

    >>> p_value(0.0412), p_value(0.0007), p_value(0.0166, at_most=True), p_value(1.0), p_value(None)
    ('.041', '<.001', '≤.017', '1.000', '–')
    """
    if p is None:
        return MISSING
    if p < 0.001:
        return "<.001"
    return f"{'≤' if at_most else ''}{p:.3f}".replace("0.", ".", 1)


def p_values(shown: Mapping[str, Any]) -> tuple[str, str]:
    """The raw and the adjusted p-value of a document, side by side; of exact tests no key says that one is a bound.

    >>> p_values({"p_value": 0.0166, "p_value_at_most": True, "p_adjusted": 0.265, "p_adjusted_at_most": True})
    ('≤.017', '≤.265')
    >>> p_values({"p_value": 0.02, "p_adjusted": 0.04})
    ('.020', '.040')
    """
    raw, adjusted = (p_value(shown[p], at_most=bool(shown.get(f"{p}_at_most"))) for p in ("p_value", "p_adjusted"))
    return raw, adjusted


def p_words(p: float | None, *, at_most: bool = False) -> str:
    """A p-value in a sentence.

    >>> p_words(0.0412), p_words(0.0007), p_words(0.0166, at_most=True), p_words(None)
    ('p = .041', 'p < .001', 'p ≤ .017', 'no p-value')
    """
    if p is None:
        return "no p-value"
    text = p_value(p, at_most=at_most)
    return f"p {text[0]} {text[1:]}" if text[0] in "<≤" else f"p = {text}"


def percent(share: float | None, *, digits: int | None = None) -> str:
    """A share with so many decimals, or as few as it takes; never all or nobody where it is not so.

    >>> percent(0.5), percent(0.004), percent(0.9999), percent(1e-6)
    ('50%', '0.4%', '99.99%', '<0.01%')
    >>> percent(0.5, digits=1), percent(0.00042, digits=1), percent(0.997, digits=0), percent(0.0, digits=1)
    ('50.0%', '<0.1%', '>99%', '0%')
    """
    if share is None:
        return MISSING
    if share in (0.0, 1.0):
        return f"{100 * share:g}%"
    few = (d for d in (0, 1) if 0.5 <= float(f"{100 * share:.{d}f}") <= 99.5)
    places = next(few, 2) if digits is None else digits
    text, least = f"{100 * share:.{places}f}", 10.0**-places
    if float(text) in (0.0, 100.0):
        return f"<{least:g}%" if share < 0.5 else f">{100 - least:g}%"
    return f"{text if digits is not None else f'{float(text):g}'}%"
