"""How large a gap a sample can show: Cohen's arcsine method for two shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenhand.cells import Floats


class Reach(NamedTuple):
    """The nearest shares, below and above one, that a sample tells from it; NaN where even the last one is too near."""

    below: float
    above: float

    def gap(self, share: float) -> float:
        """A difference that is found in either direction: the larger of both, where there are two."""
        gaps = [abs(end - share) for end in self if not np.isnan(end)]
        return max(gaps, default=float("nan"))

    def ratio(self, share: float) -> float:
        """The same as a lower share over a higher one."""
        if not np.isnan(self.below):
            return self.below / share
        return share / self.above


def detectable(share: float, n: float, n_reference: float, level: float = 0.05, power: float = 0.8) -> Reach:
    """Which shares of n people would be told from a share of the reference, with this power at this level.

    >>> reach = detectable(0.5, 100, 100)
    >>> round(reach.below, 3), round(reach.above, 3)
    (0.307, 0.693)
    """
    distance = float(_reach(level, power) * np.sqrt(1 / n + 1 / n_reference)) / 2
    angle = float(np.arcsin(np.sqrt(share)))
    below, above = angle - distance, angle + distance
    # a rounding error beyond the end is the end
    return Reach(
        float(np.sin(max(below, 0.0)) ** 2) if below >= -1e-12 else float("nan"),
        float(np.sin(min(above, np.pi / 2)) ** 2) if above <= np.pi / 2 + 1e-12 else float("nan"),
    )


def power_of(effect: float, n: float, n_reference: float, level: float = 0.05) -> float:
    """How likely a two-sided test of two shares finds a gap of Cohen's h = effect.

    >>> round(power_of(0.2, 400, 400), 3)
    0.807
    """
    from scipy.special import ndtr, ndtri

    z = ndtri(1 - level / 2)
    shift = abs(effect) / np.sqrt(1 / n + 1 / n_reference)
    return float(ndtr(shift - z) + ndtr(-shift - z))


def people_needed(effect: float, ratio: float = 1.0, level: float = 0.05, power: float = 0.8) -> float:
    """How many people of the group are needed to find h = effect, with `ratio` times as many of the reference."""
    return float((1 + 1 / ratio) * (_reach(level, power) / effect) ** 2)


def _reach(level: float, power: float) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(1 - level / 2) + ndtri(power))
