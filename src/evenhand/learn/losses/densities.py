"""Densities of scores in a batch: a Gaussian kernel estimate on a grid, whose cost hardly depends on the people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from evenhand.learn.losses.batch import NOBODY, Batch, Comparisons, along

GRID = 2**13
"""Points of a grid."""
REACH = 8.0
"""Where a kernel ends, in bandwidths: beyond it has less than 1e-14 of its mass."""
NARROWEST = 0.8
"""The least bandwidth in steps of the grid: of a narrower kernel, points so far apart do not add up to 1."""
LEAST_WIDTH = 1e-10
"""Below so small a bandwidth a group is constant, as in an audit (`measures.density`)."""


def density_gaps(batch: Batch, who: Comparisons, bandwidth: str | float = "scott") -> tuple[Tensor, Tensor]:
    """∫ |f_group − f_reference| over the score range (ABPC), and which comparisons can be made.

    The gradient is that of the value, bandwidths included: they are a function of the scores too. A group of one, or
    with a single score, has no density.
    """
    # strata are groups here: no concept that uses densities looks at labels
    each = torch.eye(batch.strata, dtype=torch.float64, device=batch.raw.device)
    f, defined, _ = densities(batch, each, bandwidth)
    sides = who.group - who.reference
    known = sides.abs() @ (~defined).double() == 0
    gap = torch.where(known[:, None], sides @ f, 0.0).abs()
    return torch.trapezoid(gap), known


def density_at(batch: Batch, members: Tensor, score: Tensor) -> Tensor:
    """The density of the members (row, stratum) at some scores: axes (row, score)."""
    f, _, grid = densities(batch, members, "scott")
    left, right = grid.places(score)
    return (along(f, left) * (1 - right) + along(f, left + 1) * right) / grid.step


@dataclass(frozen=True)
class Grid:
    """Points at equal distances over the part of the score range in which people have a density worth a number.

    It follows the batch, and so does its resolution; its number of points, which a compiled graph must know, is fixed.
    """

    low: Tensor
    high: Tensor

    @property
    def step(self) -> Tensor:
        """From one point to the next."""
        return (self.high - self.low) / (GRID - 1)

    def places(self, score: Tensor) -> tuple[Tensor, Tensor]:
        """The point to the left, and how far on the way to the next one."""
        place = (score.clamp(self.low, self.high) - self.low) / self.step
        left = place.detach().long().clamp(0, GRID - 2)
        return left, place - left


def densities(batch: Batch, members: Tensor, bandwidth: str | float) -> tuple[Tensor, Tensor, Grid]:
    """The density of the members (row, stratum) per step of a grid, for which rows there is one, and the grid.

    Axes are (row, point). People are shared out between the two nearest points, which is differentiable in their scores
    and widens the kernel by a known amount: it is made so much narrower first. Then they are convolved by Fourier
    transform.
    """
    score = batch.unit(batch.raw)
    width, defined = _bandwidths(batch, score, members, bandwidth)
    grid = _reached(batch, score.detach(), members, torch.where(defined, width.detach(), -torch.inf))
    total = torch.where(defined, members @ batch.total, 1.0)
    shares = members @ _shared_out(batch, score, grid) / total[:, None]
    at = torch.arange(GRID, dtype=torch.float64, device=shares.device)
    variance = (width / grid.step).clamp_min(NARROWEST)[:, None] ** 2 - 1 / 6
    half = torch.exp(-(at**2) / (2 * variance)) / torch.sqrt(2 * math.pi * variance)
    # both sides of the kernel in a circle twice as long as the grid, so that the ends do not meet
    kernel = torch.cat([half, torch.zeros_like(half[:, :1]), half[:, 1:].flip(1)], 1)
    spectrum = torch.fft.rfft(shares, 2 * GRID) * torch.fft.rfft(kernel)
    return torch.fft.irfft(spectrum, 2 * GRID)[:, :GRID], defined, grid


def _reached(batch: Batch, score: Tensor, members: Tensor, width: Tensor) -> Grid:
    """The part of the score range that kernels reach, of rows that have one: of the others the width is −∞."""
    has_density = ((members > 0) & (width > 0)[:, None]).any(0)[batch.stratum]
    counted = has_density & (batch.weight > 0) if batch.weighted else has_density
    inside, reach = score.clamp(0, 1), REACH * width.amax()
    low = (torch.where(counted, inside, torch.inf).amin() - reach).clamp(0, 1)
    high = (torch.where(counted, inside, -torch.inf).amax() + reach).clamp(0, 1)
    return Grid(low, torch.maximum(high, low + LEAST_WIDTH))  # of a batch without any density no use is made


def _shared_out(batch: Batch, score: Tensor, grid: Grid) -> Tensor:
    """Weight of each stratum at each point: axes (stratum, point)."""
    left, right = grid.places(score)
    cell = batch.stratum * GRID + left
    points = torch.zeros(batch.strata * GRID, dtype=torch.float64, device=right.device)
    points = points.index_add(0, cell, batch.weight * (1 - right)).index_add(0, cell + 1, batch.weight * right)
    return points.view(batch.strata, GRID)


def _bandwidths(batch: Batch, score: Tensor, members: Tensor, how: str | float) -> tuple[Tensor, Tensor]:
    """The standard deviation of each kernel, and which rows have one; the others get a width that does no harm."""
    total = members @ batch.total
    some = total > NOBODY
    size = torch.where(some, total, 1.0)
    # about the mean of each stratum first: of a constant one nothing must be left
    own = batch.sums(batch.weight * score) / batch.total.clamp_min(NOBODY)
    inner = batch.sums(batch.weight * (score - own.detach()[batch.stratum]) ** 2)  # least at the mean: no slope
    mean = members @ (batch.total * own) / size
    outer = (members * batch.total * (own - mean[:, None]) ** 2).sum(1)
    people = torch.where(some, total, 0.0) ** 2 / torch.where(some, members @ batch.squares(), 1.0)
    spread = (members @ inner + outer) / size * people / (people - 1).clamp_min(1e-9)
    varied = some & (people > 1) & (spread > LEAST_WIDTH**2)
    deviation = torch.where(varied, spread, 1.0).sqrt()  # no root of 0, whose slope is infinite
    if isinstance(how, str):
        factor = people if how == "scott" else 0.75 * people
        width = deviation * torch.where(varied, factor, 1.0) ** -0.2
        varied = varied & (width > LEAST_WIDTH)
    else:
        width = torch.full_like(deviation, how)
    return width, varied
