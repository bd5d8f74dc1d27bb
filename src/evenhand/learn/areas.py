"""Distances between two groups from one sort of the batch: areas between cumulated shares, by score or rank, and W_p.

Shares depend on the order of scores only, so a distance is a sum over neighbours in that order of a constant times how
far they are apart: its value and its slope come from one cumulated sum, without a loop.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from evenhand.learn.densities import density_at
from evenhand.learn.strata import Batch, Comparisons


class Order:
    """People in the order of their scores."""

    def __init__(self, batch: Batch) -> None:
        # as given: double precision would take twice as long to sort on a GPU
        values, self.index = torch.sort(batch.raw.detach(), stable=True)
        self.score = batch.unit(values)

    @cached_property
    def ties(self) -> tuple[Tensor, Tensor]:
        """The places of the first and the last person with the same score."""
        place = torch.arange(len(self.score), device=self.score.device)
        new = torch.cat([place[:1] == 0, self.score[1:] != self.score[:-1]])
        number = new.cumsum(0)
        # the first place of tie 1, 2, …; whoever is not first writes to 0, where nobody looks
        firsts = place.new_full((len(place) + 2,), len(place)).scatter(0, torch.where(new, number, 0), place)
        return firsts[number], firsts[number + 1] - 1


def mean_gaps(batch: Batch, who: Comparisons) -> tuple[Tensor, Tensor]:
    """|difference of means| (ΔDP_c), and which comparisons can be made."""
    contrast, known = who.contrast(batch.total)
    return (batch.spread(contrast) @ batch.score).abs(), known


def areas(batch: Batch, who: Comparisons, standardized: bool = False) -> tuple[Tensor, Tensor]:
    """∫ |F_group − F_reference| over the score range (ABCC) or over pooled ranks, and which comparisons can be made.

    The gradient is the symmetric derivative, the mean of those to the left and to the right. Without ties they are one.
    Among people who share a score, it does not depend on the order of rows, and it is 0 for groups that are alike.

    Ranks are constant as long as nobody overtakes. There the gradient is that of ∫ |F_group − F_reference| f(s) ds, with
    the density f of the pooled scores held constant: what people gain by moving, weighed by how many they would meet.
    """
    contrast, known = who.contrast(batch.total)
    with torch.no_grad():
        order = Order(batch)
        own = batch.spread(contrast)[:, order.index]
        gap = own.cumsum(1)
        first, last = order.ties
        before, after = (gap - own)[:, first], gap[:, last]
        # one person moves right: behind them their share is missing; left: before them it is there already
        slope = ((after - own).abs() - after.abs() + before.abs() - (before + own).abs()) / 2
        if standardized:
            steps = _ranks(batch, who, order).diff(dim=1)
            value = (gap[:, :-1].abs() * steps).sum(1)
            slope = slope * density_at(batch, who.pool, order.score)
        else:
            value = gap[:, :-1].abs() @ order.score.diff()
        slope = torch.empty_like(slope).index_copy_(1, order.index, slope)
    return value + slope @ (batch.score - batch.score.detach()), known


def _ranks(batch: Batch, who: Comparisons, order: Order) -> Tensor:
    """Ranks among the people of both groups, as published: mid-ranks from 0 to 1, the ends pinned (`ScoreCounts.ranks`)."""
    first, last = order.ties
    mass = batch.spread(who.pool)[:, order.index]
    upto = mass.cumsum(1)
    below, upto = (upto - mass)[:, first], upto[:, last]
    total = upto[:, -1:]
    person = ((who.pool @ batch.squares) / (who.pool @ batch.total).clamp_min(1e-300))[:, None]
    middle = ((below + upto - person) / (2 * (total - person)).clamp_min(1e-300)).clamp(0, 1)
    return torch.where(below <= 0, 0.0, torch.where(upto >= total, 1.0, middle))


def wasserstein(batch: Batch, who: Comparisons, p: float = 1.0, power: bool = False) -> tuple[Tensor, Tensor]:
    """(∫ |Q_group − Q_reference|^p du)^(1/p), or without the root; and which comparisons can be made.

    People are matched in the order of their scores; the gradient moves each towards those they are matched with.
    """
    group, reference, known = who.shares(batch.total)
    with torch.no_grad():
        order = Order(batch)
        mine = batch.spread(group)[:, order.index]
        f, g = mine.cumsum(1), batch.spread(reference)[:, order.index].cumsum(1)
        shares = torch.where(mine > 0, f, g).sort(dim=1).values
        width = shares.diff(dim=1, prepend=torch.zeros_like(shares[:, :1]))
        middle = shares - width / 2
        a, b = (order.index[torch.searchsorted(c, middle).clamp(max=len(order.index) - 1)] for c in (f, g))
    apart = (batch.score[a] - batch.score[b]).abs()
    if p == 1 or power:
        return (apart**p * width).sum(1), known
    # the largest distance is taken out first, so that no power vanishes; at 0 the slope of a root is not asked for
    most = torch.where(width > 0, apart, 0.0).amax(1).detach()
    scale = torch.where(most > 0, most, 1.0)
    mean = ((apart / scale[:, None]) ** p * width).sum(1)
    some = mean > 0
    return torch.where(some, scale * torch.where(some, mean, 1.0) ** (1 / p), 0.0), known
