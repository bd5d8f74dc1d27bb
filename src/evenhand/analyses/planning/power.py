"""How many people does it take? Power of a comparison of two rates, before there are data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenhand.errors import UsageError, is_whole, number, shown
from evenhand.inference.power import detectable, people_needed, power_of
from evenhand.report.result import Result


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """Two rates, the people who show them, and how likely a test distinguishes them. Print it for a sentence."""

    asked: Literal["power", "gap", "n"]
    """Which of the three was unknown."""
    n: int
    n_reference: int
    base_rate: float
    gap: float | None
    """Rate of the group minus rate of the reference; None if these people cannot show any gap."""
    power: float
    level: float
    below: float | None = None
    """Where the gap was asked for: the nearest lower and higher rates that are told from the base rate."""
    above: float | None = None

    def __str__(self) -> str:
        return str(self._drawn())  # a sentence is not broken into lines


def power(
    n: int | tuple[int, int] | None = None,
    *,
    base_rate: float,
    gap: float | None = None,
    ratio: float = 1.0,
    level: float = 0.05,
    power: float = 0.8,
) -> Plan:
    """Plan a comparison of two rates: of people, gap and power, say two and get the third.

    Parameters
    ----------
    n
        People of each group, or (of the group, of the reference).
    base_rate
        The rate of the reference: its selection rate, true positive rate, …
    gap
        Rate of the group minus rate of the reference.
    ratio
        People of the reference for each of the group, when n is asked for.
    level, power
        Of the two-sided test; the power is ignored when it is asked for. Small samples are planned for the exact test
        that an audit makes, by summing over all its tables, large ones by the arcsine method.

    Examples
    --------
    >>> import evenhand
    >>> print(evenhand.power(base_rate=0.5, gap=-0.1))
    To tell 0.4 against 0.5 with 80% power at level 0.05, it takes 407 people of the group and 407 of the reference.
    >>> round(evenhand.power(200, base_rate=0.5, gap=-0.1).power, 3)
    0.481
    >>> plan = evenhand.power((50, 1000), base_rate=0.1)
    >>> round(plan.below, 3), round(plan.above, 3)
    (0.004, 0.244)
    """
    base_rate = _within(base_rate, "base_rate", 0.0, 1.0, closed=True)
    level = _within(level, "level", 1e-12, 1.0)
    power = _within(power, "power", 0.0, 1.0)
    ratio = _within(ratio, "ratio", 1e-9, 1e9)
    if power <= level and (n is None or gap is None):
        raise UsageError(f"power must be above the level of the test ({level:g}), not {power:g}")
    if n is None and gap is None:
        raise UsageError("say n (how many people) or gap (how large a difference), or both")
    if gap is not None:
        gap = _within(gap, "gap", -1.0, 1.0, closed=True)
        if not -1e-12 <= base_rate + gap <= 1 + 1e-12 or gap == 0:
            raise UsageError(
                f"gap must lead from the base rate {base_rate:g} to another rate between 0 and 1, not to "
                f"{base_rate + gap:g}"
            )
    if n is None:
        assert gap is not None
        people = people_needed(_rate(base_rate, gap), base_rate, ratio, level, power)
        if people * max(ratio, 1) > 1e15:
            raise UsageError(f"a gap of {gap:g} is too small to plan for")
        return Plan("n", int(np.ceil(people)), int(np.ceil(people * ratio)), base_rate, gap, power, level)
    own, reference = _people(n)
    if gap is not None:
        found = power_of(_rate(base_rate, gap), base_rate, own, reference, level)
        return Plan("power", own, reference, base_rate, gap, found, level)
    reach = detectable(base_rate, own, reference, level, power)
    below, above = (None if np.isnan(end) else end for end in reach)
    size = reach.gap(base_rate)
    if np.isnan(size):
        return Plan("gap", own, reference, base_rate, None, power, level)
    down = below is not None and abs(base_rate - below - size) < 1e-12
    return Plan("gap", own, reference, base_rate, -size if down else size, power, level, below, above)


def _rate(base_rate: float, gap: float) -> float:
    return min(max(base_rate + gap, 0.0), 1.0)


def _people(n: Any) -> tuple[int, int]:
    numbers = n if isinstance(n, tuple | list) else (n, n)
    if len(numbers) != 2 or not all(is_whole(x) and 1 <= x <= 10**15 for x in numbers):
        raise UsageError(f"n is a number of people, or one for the group and one for the reference, not {shown(n)}")
    return int(numbers[0]), int(numbers[1])


def _within(value: Any, name: str, lo: float, hi: float, closed: bool = False) -> float:
    given = number(value)
    if not (lo <= given <= hi if closed else lo < given < hi):
        raise UsageError(f"{name} must be a number {'from' if closed else 'between'} {lo:g} "
                         f"{'to' if closed else 'and'} {hi:g}, not {shown(value)}")  # fmt: skip
    return given
