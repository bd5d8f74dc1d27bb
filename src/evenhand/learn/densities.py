"""Densities of scores in a batch: a Gaussian kernel estimate on a grid, whose cost hardly depends on the people."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from evenhand.learn.strata import Batch, Comparisons, along

GRID = 2**13
"""Points from 0 to 1."""
STEP = 1 / (GRID - 1)
NARROWEST = 2 * STEP
"""A kernel cannot be narrower on the grid: about 0.0002 of the score range."""
LEAST_WIDTH = 1e-10
"""Below so small a bandwidth a group is constant, as in an audit (`measures.density`)."""


def density_gaps(batch: Batch, who: Comparisons, bandwidth: str | float = "scott") -> tuple[Tensor, Tensor]:
    """∫ |f_group − f_reference| over the score range (ABPC), and which comparisons can be made.

    The gradient is that of the value, bandwidths included: they are a function of the scores too. A group of one, or
    with a single score, has no density.
    """
    # strata are groups here: no concept that uses densities looks at labels
    f, defined = densities(batch, torch.eye(batch.strata, dtype=torch.float64, device=batch.raw.device), bandwidth)
    sides = who.group - who.reference
    known = sides.abs() @ (~defined).double() == 0
    gap = torch.where(known[:, None], sides @ f, 0.0).abs()
    return torch.trapezoid(gap, dx=STEP), known


def density_at(batch: Batch, members: Tensor, score: Tensor) -> Tensor:
    """The density of the members (row, stratum) at some scores: axes (row, score)."""
    f, _ = densities(batch, members, "scott")
    left, right = _places(score)
    return along(f, left) * (1 - right) + along(f, left + 1) * right


def densities(batch: Batch, members: Tensor, bandwidth: str | float) -> tuple[Tensor, Tensor]:
    """The density of the members (row, stratum) on the grid, axes (row, point), and for which rows there is one.

    People are shared out between the two nearest points, which is differentiable in their scores and widens the kernel
    by a known amount: it is made so much narrower first. Then one convolution by Fourier transform.
    """
    width, defined = _bandwidths(batch, members, bandwidth)
    total = torch.where(defined, members @ batch.total, 1.0)
    shares = members @ _shared_out(batch) / total[:, None]
    at = torch.arange(GRID, dtype=torch.float64, device=shares.device) * STEP
    variance = width[:, None] ** 2 - STEP**2 / 6
    half = torch.exp(-(at**2) / (2 * variance)) / torch.sqrt(2 * math.pi * variance)
    # both sides of the kernel in a circle twice as long as the grid, so that the ends do not meet
    kernel = torch.cat([half, torch.zeros_like(half[:, :1]), half[:, 1:].flip(1)], 1)
    spectrum = torch.fft.rfft(shares, 2 * GRID) * torch.fft.rfft(kernel)
    return torch.fft.irfft(spectrum, 2 * GRID)[:, :GRID], defined


def _places(score: Tensor) -> tuple[Tensor, Tensor]:
    """The grid point to the left, and how far on the way to the next one."""
    place = score.clamp(0, 1) / STEP
    left = place.detach().floor().clamp(max=GRID - 2)
    return left.long(), place - left


def _shared_out(batch: Batch) -> Tensor:
    """Weight of each stratum at each point: axes (stratum, point)."""
    left, right = _places(batch.unit(batch.raw))
    cell = batch.stratum * GRID + left
    grid = torch.zeros(batch.strata * GRID, dtype=torch.float64, device=right.device)
    grid = grid.index_add(0, cell, batch.weight * (1 - right)).index_add(0, cell + 1, batch.weight * right)
    return grid.view(batch.strata, GRID)


def _bandwidths(batch: Batch, members: Tensor, how: str | float) -> tuple[Tensor, Tensor]:
    """The standard deviation of each kernel, and which rows have one; the others get a width that does no harm."""
    total = members @ batch.total
    some = total > 0
    size = torch.where(some, total, 1.0)
    score = batch.unit(batch.raw)
    # about the mean of each stratum first: of a constant one nothing must be left
    own = batch.sums(batch.weight * score) / batch.total.clamp_min(1e-300)
    inner = batch.sums(batch.weight * (score - own.detach()[batch.stratum]) ** 2)  # least at the mean: no slope
    mean = members @ (batch.total * own) / size
    outer = (members * batch.total * (own - mean[:, None]) ** 2).sum(1)
    people = torch.where(some, total**2 / (members @ batch.squares()).clamp_min(1e-300), 0.0)
    spread = (members @ inner + outer) / size * people / (people - 1).clamp_min(1e-9)
    varied = some & (people > 1) & (spread > LEAST_WIDTH**2)
    deviation = torch.where(varied, spread, 1.0).sqrt()  # no root of 0, whose slope is infinite
    if isinstance(how, str):
        factor = people if how == "scott" else 0.75 * people
        width = deviation * torch.where(varied, factor, 1.0) ** -0.2
        varied = varied & (width > LEAST_WIDTH)
    else:
        width = torch.full_like(deviation, how)
    return width.clamp_min(NARROWEST), varied
