"""What people without a group could change: who they are, and between what every measure lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.analyses.audit.gaps import Gap, tolerated_range
from evenhand.errors import shown_name
from evenhand.measures.measure import SLACK, Measure
from evenhand.report.format import number
from evenhand.tables.arrays import Pair


@dataclass(frozen=True)
class Decided:
    """How many people there are, and how they were decided."""

    n: int
    selected: int
    rejected: int


@dataclass(frozen=True)
class Bounds:
    """Between what a number lies, whoever the unknown are."""

    value: float
    """As if they were like the known;"""
    bounds: Pair | None = None
    """the least and the most it can be among these people;"""
    ci: Pair | None = None
    """and an interval for it among those they were drawn from."""
    undefined: str | None = None


@dataclass(frozen=True)
class GapBounds(Bounds):
    """Bounds of how a group differs from the reference."""

    id: str = ""
    group: str = ""
    reference: str = ""
    crosses: bool | None = None
    """Whether some assignments are within the tolerance and others beyond."""


@dataclass(frozen=True)
class Unknown:
    """The people without a group of one attribute."""

    people: Decided
    share: float
    """Of everybody."""
    by_label: tuple[Decided, Decided] | None
    """Those with the unfavourable and with the favourable outcome."""
    rates: dict[str, dict[str, Bounds]]
    """By group and rate."""
    measures: tuple[GapBounds, ...]
    undefined: str | None = None
    """Why nothing is known about what they could change."""


def crosses(m: Measure, bounds: Pair, tolerance: float) -> bool:
    """Whether some of these values are within the tolerance and others are beyond."""
    low, high = tolerated_range(m, tolerance)
    inside = low - SLACK <= bounds[0] and bounds[1] <= high + SLACK
    return not inside and not (bounds[1] < low - SLACK or bounds[0] > high + SLACK)


def caveat(attribute: str, unknown: Unknown, gaps: Sequence[Gap]) -> Iterator[str]:
    """That bounds of key measures reach across the tolerance, with the ratio if it does."""
    key = {(g.id, g.group): g for g in gaps if not g.exploratory and not g.undefined}
    there = [b for b in unknown.measures if b.crosses and (b.id, b.group) in key]
    if not there:
        return
    first = min(there, key=lambda b: (b.id != "disparate_impact", key[b.id, b.group].measure.id, b.value))
    gap = key[first.id, first.group]
    what, to = ("ratio", "to") if gap.scale == "ratio" else (gap.measure.title, "against")
    more = len(there) - 1
    also = f"; {more:,} more key comparison{'s reach' if more > 1 else ' reaches'} across" if more else ""
    yield (
        f"{_without(attribute, unknown)}: depending on who they are, the {what} of {shown_name(first.group)} {to} "
        f"{shown_name(first.reference)} could be {between(first.bounds, gap.measure.signed)}, across its tolerance "
        f"({number(first.value, sign=gap.measure.signed)} if they are like the others){also}"
    )


def remark(attribute: str, unknown: Unknown, gaps: Sequence[Gap]) -> Iterator[str]:
    """What else there is to say: that they change nothing, or that nobody knows."""
    if unknown.undefined:
        yield f"what people without {shown_name(attribute)} could change is not known {unknown.undefined}"
    elif unknown.people.n and not [*caveat(attribute, unknown, gaps)]:
        yield f"{_without(attribute, unknown)}: whoever they are, every key measure stays on its side of the tolerance"


def between(bounds: Pair | None, signed: bool) -> str:
    """Both ends, in words."""
    if bounds is None:
        return "anything"
    return f"between {number(bounds[0], sign=signed)} and {number(bounds[1], sign=signed)}"


def _without(attribute: str, unknown: Unknown) -> str:
    one = unknown.people.n == 1
    return f"{unknown.people.n:,} {'person has' if one else 'people have'} no {shown_name(attribute)}"
