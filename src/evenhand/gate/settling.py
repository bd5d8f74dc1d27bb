"""How many people would settle a rule that these people leave open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenhand.measures import Measure, RateMeasure, ScoreMeasure

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


def sample_needed(
    m: Measure, seen: float, end: float, limit: float, confidence: float, n: int, n_reference: int, value: float
) -> Sample | None:
    """The sample whose interval stays on its side of the limit 80 times of 100, if the true gap is the one seen.

    Intervals shrink with the root of the number of people, on the scale where they are about symmetric, and so does
    what chance alone adds. `end` is the end of the interval of `value` that faces the limit; `seen` is the value, or
    what of it is above chance. None if no number of people would do, because the gap lies on the limit.
    """
    from scipy.special import ndtri

    try:
        width = _even(m, end) - _even(m, value)
        chance = _even(m, value) - _even(m, seen)
        distance = abs(_even(m, limit) - _even(m, seen))
    except ValueError:  # the logarithm of a rate of 0
        return None
    if not math.isfinite(width) or not math.isfinite(distance) or distance < 1e-9:
        return None
    z = float(ndtri(0.5 + confidence / 2))
    reach = abs(width) * (1 + float(ndtri(POWER)) / z) + (abs(chance) if width * chance > 0 else 0.0)
    factor = max((reach / distance) ** 2, 1.0)
    if factor * max(n, n_reference) > MOST:
        return None
    return Sample(math.ceil(factor * n), math.ceil(factor * n_reference), factor)


def _even(m: Measure, value: float) -> float:
    """A number on the scale where its interval reaches about equally far to both sides."""
    value = max(value, 0.0)  # chance alone may show more
    if isinstance(m, ScoreMeasure):
        return m.inward(value)
    return math.log(value) if isinstance(m, RateMeasure) and m.scale == "ratio" else value
