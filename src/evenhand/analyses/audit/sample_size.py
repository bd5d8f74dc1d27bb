"""How many people would settle a rule that these people leave open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenhand.analyses.audit.gaps import Gap
from evenhand.analyses.audit.information import Information
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.measures.registry import Measure, PracticeMeasure, RateMeasure, ScoreMeasure

POWER = 0.8
MOST = 1e12


@dataclass(frozen=True)
class Sample:
    """People who would probably show on which side of a limit a gap is, if it is what it seems."""

    n: int
    n_reference: int
    factor: float
    """How many times the people there are."""
    power: float = POWER


NOBODY = Sample(0, 0, math.inf)
"""No number of people would do, because the gap lies on the limit."""


@dataclass(frozen=True)
class Reach:
    """How far an interval reaches from its gap, on the scale where both are about the same."""

    away: float
    """Away from parity."""
    back: float
    """Towards parity, and beyond."""
    beyond: bool
    """Whether it has another side of parity, which its far end may be on."""


def reach_of(m: Measure, gap: Gap | LargestGap | Information, shift: float = 0.0) -> Reach | None:
    """The reach of a gap's interval, before its direction is taken away; None without an interval.

    `shift` leads from the value to what of it is above chance.
    """
    if gap.ci is None or isinstance(m, PracticeMeasure):
        return None
    if isinstance(gap, Gap) and (m.signed or _logarithmic(m)):
        ends = gap.estimate, *gap.ci
        value, low, high = (_log(end) for end in ends) if _logarithmic(m) else ends
        return Reach(high - value, value - low, True) if value > 0 else Reach(value - low, high - value, True)
    value, one, other = (parted(m, end + shift) for end in (gap.value, *gap.ci))
    near, far = min(one, other), max(one, other)
    return Reach(far - value, value - near if near > 0 else far - value, False)  # it is cut off at parity


def settling(gap: Gap, n: tuple[int, int], confidence: float) -> Sample | None:
    """Who would settle on which side of its tolerance a gap is; None if that is settled, or if nobody can tell.

    >>> import evenhand
    >>> gap = evenhand.compas().audit(measures=["predictive_parity"]).measure("predictive_parity")
    >>> gap.conclusive, settling(gap, (3696, 2454), 0.95)
    (True, None)
    """
    if isinstance(gap.measure, PracticeMeasure):
        return None  # what more people would do to a number of people, or to odds, is another question
    if gap.conclusive is not False or gap.lacking or (reach := reach_of(gap.measure, gap)) is None:
        return None
    seen, limit = gap.size, gap.tolerance
    return sample_needed(gap.measure, reach, seen + math.copysign(gap.resolution, limit - seen), limit, confidence, n)


def sample_needed(
    m: Measure, reach: Reach, seen: float, limit: float, confidence: float, n: tuple[int, int]
) -> Sample | None:
    """The sample whose interval stays on its side of the limit 80 times of 100, if the true gap is the one seen.

    Intervals shrink with the root of the number of people, on the scale where they are about symmetric. `seen` is the
    value, or what of it is above chance; `n` are the people of both groups. None if it cannot be computed, as of a
    ratio of 0, which has no logarithm.
    """
    from scipy.special import ndtr, ndtri

    at, bound = parted(m, seen), parted(m, limit)
    if abs(at - bound) < 1e-9:
        return NOBODY
    if at > bound:
        sides = [(at - bound, reach.back)]
    else:
        sides = [(bound - at, reach.away), *([(bound + at, reach.back)] if reach.beyond else [])]
    if not all(math.isfinite(d) and 0 < w < math.inf for d, w in sides):
        return None
    z = float(ndtri(0.5 + confidence / 2))

    def misses(root: float) -> float:
        """How often an end lies across the limit, with root² times as many people."""
        return float(sum(ndtr(-(root * d - w) * z / w) for d, w in sides))

    most = math.sqrt(MOST / max(n))
    if misses(most) > 1 - POWER:
        return NOBODY
    low, high = 1.0, most
    while misses(low) > 1 - POWER and high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if misses(middle) > 1 - POWER else (low, middle)
    factor = low**2
    return Sample(math.ceil(factor * n[0]), math.ceil(factor * n[1]), factor)


def parted(m: Measure, value: float) -> float:
    """How far from parity, on the scale where an interval reaches about equally far to both sides."""
    if _logarithmic(m):
        return abs(_log(min(value, 1.0)))  # chance alone may show more
    return m.inward(max(value, 0.0)) if isinstance(m, ScoreMeasure) else max(value, 0.0)


def _logarithmic(m: Measure) -> bool:
    return isinstance(m, RateMeasure) and m.scale == "ratio"


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
