"""Densities of scores: a Gaussian kernel estimate on a grid, by one Fourier transform whatever the number of people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.tables.arrays import Floats

PER_WIDTH = 32
"""Grid points per bandwidth."""
REACH = 8.0
"""Where a kernel ends, in bandwidths: beyond it has less than 1e-14 of its mass."""
MOST_POINTS = 2**22
"""Of a grid; a group whose scores spread over more bandwidths than that is as good as constant."""
LEAST_WIDTH = 1e-10
"""Below so small a share of the score range, a group is constant as far as numbers between 0 and 1 can tell."""


@dataclass(frozen=True)
class Density:
    """A density at increasing points; it is 0 outside them and straight between them."""

    x: Floats
    y: Floats
    bandwidth: float

    def __call__(self, x: Floats) -> Floats:
        return np.interp(x, self.x, self.y, left=0.0, right=0.0)


def estimate(x: Floats, mass: Floats, how: str | float, people: float | None = None) -> Density:
    """The density of people at x (increasing); of a group with one score, or nearly, one that is nowhere a number.

    `people` is how many they are as good as, with sampling weights or clusters.
    """
    present = np.flatnonzero(mass)
    x, mass = x[present], mass[present]
    width = bandwidth(x, mass, how, people)
    if np.isnan(width):
        return Density(np.array([0.0, 1.0]), np.full(2, np.nan), width)
    return density(x, mass, width)


def bandwidth(x: Floats, mass: Floats, how: str | float, people: float | None = None) -> float:
    """The standard deviation of the kernel: Scott's or Silverman's rule, or a number. NaN for a constant score.

    Scott: n^(−1/5) times the sample standard deviation; with sampling weights n is Kish's effective number.
    """
    if len(x) < 2:
        return float("nan")
    if not isinstance(how, str):
        return float(how)
    total = float(mass.sum())
    n = total if people is None else people
    if n <= 1:
        return float("nan")
    mean = float((mass * x).sum()) / total
    variance = float((mass * (x - mean) ** 2).sum()) / total * n / (n - 1)
    factor = 0.75 * n if how == "silverman" else n  # of a group alone, "common" is Scott's
    width = float(np.sqrt(variance) * factor**-0.2)
    narrow = width <= LEAST_WIDTH or (x[-1] - x[0]) / width * PER_WIDTH > MOST_POINTS
    return float("nan") if narrow else width


def density(x: Floats, mass: Floats, width: float) -> Density:
    """Gaussian kernel density of people at x (increasing), with a kernel of this width.

    People are shared out between the two nearest grid points, which widens the kernel by a known amount: it is made
    so much narrower first.

    >>> import numpy as np
    >>> d = density(np.array([0.2, 0.6]), np.array([3.0, 1.0]), 0.1)
    >>> round(float(d(np.array([0.2]))[0]), 3)  # 0.75 · 3.989 + a trace of the other
    2.993
    """
    step = width / PER_WIDTH
    start = x[0] - REACH * width
    places = (x - start) / step
    size = int(places[-1]) + int(REACH * PER_WIDTH) + 2
    left = places.astype(np.int64)
    right = places - left
    share = mass / mass.sum()
    grid = np.bincount(left, share * (1 - right), minlength=size)
    grid[1:] += np.bincount(left, share * right, minlength=size)[: size - 1]
    transformed = np.fft.rfft(grid, _fast_length(size))
    frequency = 2 * np.pi * np.arange(len(transformed)) / _fast_length(size)
    variance = PER_WIDTH**2 - 1 / 6  # of the kernel in grid steps; sharing out adds at most 1/4, on average 1/6
    smooth = np.fft.irfft(transformed * np.exp(-variance * frequency**2 / 2), _fast_length(size))[:size]
    return Density(start + step * np.arange(size), np.maximum(smooth, 0.0) / step, width)


def _fast_length(size: int) -> int:
    """A length that the Fourier transform likes: 2^a or 3·2^a."""
    power = 1 << (size - 1).bit_length()
    return 3 * power // 4 if 3 * power // 4 >= size else power


def common_grid(*every: Density) -> Floats:
    """Points of [0, 1] fine enough for all densities."""
    return np.unique(np.concatenate([[0.0], *(one.x[(one.x > 0) & (one.x < 1)] for one in every), [1.0]]))


def trapezoid_weights(x: Floats) -> Floats:
    """The weight of each point in the trapezoid rule."""
    step = np.diff(x)
    return np.asarray((np.r_[step, 0.0] + np.r_[0.0, step]) / 2)
