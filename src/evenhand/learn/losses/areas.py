"""Distances between two groups from one sort of the batch: areas between their CDFs, by score or rank, and W_p.

Shares depend on the order of scores only, so a distance is a sum over neighbours in that order of a constant times how
far they are apart: its value and its slope come from one cumulative sum, without a loop.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from evenhand.learn.losses.batch import NOBODY, Batch, Comparisons, along, sized
from evenhand.learn.losses.densities import density_at


def mean_gaps(batch: Batch, who: Comparisons) -> tuple[Tensor, Tensor]:
    """|difference of means| (ΔDP_c), and which comparisons can be made."""
    contrast, known = who.contrast(batch.total)
    return (batch.spread(contrast) @ batch.unit(batch.raw)).abs(), known


def areas(batch: Batch, who: Comparisons, standardized: bool = False) -> tuple[Tensor, Tensor]:
    """∫ |F_group − F_reference| over the score range (ABCC) or over pooled ranks, and which comparisons can be made.

    The gradient is the symmetric derivative, the mean of those to the left and to the right. Without ties they are one.
    Among people who share a score, it does not depend on the order of rows, and it is 0 for groups that are alike.

    Ranks are constant as long as nobody overtakes. So by rank the gradient is that of ∫ |F_group − F_reference| f(s) ds
    with the density f of the pooled scores held constant: what a move changes, weighed by how many people are there.
    """
    contrast, known = who.contrast(batch.total)
    with torch.no_grad():
        raw, order = torch.sort(batch.raw.detach())  # as given: a GPU takes twice as long to sort in double precision
        ties = _ties(raw)
        score = batch.unit(raw)
        own = along(batch.spread(contrast), order)
        gap = own.cumsum(1)  # F_group − F_reference just behind each person
        if standardized:
            value = (gap[:, :-1].abs() * _ranks(batch, who, order, ties).diff(dim=1)).sum(1)
        else:
            value = gap[:, :-1].abs() @ score.diff()
        slope = _slopes(own, gap, ties, raw.dtype).div_(-batch.span)
        if standardized:
            slope *= density_at(batch, who.pool, score)
        slope = torch.empty_like(slope).scatter_(1, order.expand(len(slope), -1), slope)
    return value + slope @ (batch.raw - batch.raw.detach()), known


rank_areas = partial(areas, standardized=True)


def _slopes(own: Tensor, gap: Tensor, ties: tuple[Tensor, Tensor], kind: torch.dtype) -> Tensor:
    """Minus the symmetric derivative of the area for each person, in order, with a share c = `own` of the gap.

    Who moves right from a tie leaves a gap of A − c instead of A behind it; who moves left brings B + c instead of B
    before it. The mean of both slopes, (|A − c| − |A| + |B| − |B + c|) / 2, is −|c| times the sum of A/c, cut to 0 … 1,
    and B/c, cut to −1 … 0. Nothing cancels there, so that half the digits, and half the memory, will do.
    """
    before, after = _ends(gap.to(kind), ties)
    own = own.to(kind)
    share = torch.where(own == 0, 1.0, own)
    slope = after.div_(share).clamp_(0, 1).add_(before.div_(share).clamp_(-1, 0))
    return slope.mul_(own.abs())


def _ties(score: Tensor) -> tuple[Tensor, Tensor]:
    """For each of increasing scores, the number of its tie, and that number again for the last of a tie, else n."""
    changes = score[1:] != score[:-1]
    number = torch.nn.functional.pad(changes.cumsum(0), (1, 0))
    last = torch.nn.functional.pad(changes, (0, 1), value=True)
    return number, torch.where(last, number, len(score))


def _ends(cumulative: Tensor, ties: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Cumulative sums before and after the whole tie that each person belongs to."""
    number, slot = ties
    rows = len(cumulative)
    # the sum after each tie, in a row that begins with 0; what is not the end of a tie is written where nobody looks
    ends = cumulative.new_zeros(rows, len(number) + 2)
    ends[:, 1:].scatter_(1, slot.expand(rows, -1), cumulative)
    return along(ends, number), along(ends[:, 1:], number)


def _ranks(batch: Batch, who: Comparisons, order: Tensor, ties: tuple[Tensor, Tensor]) -> Tensor:
    """Ranks among people of both groups, as published (Becker et al. 2024): mid-ranks, the ends pinned to 0 and 1."""
    below, upto = _ends(along(batch.spread(who.pool), order).cumsum(1), ties)
    total = upto[:, -1:]
    person = ((who.pool @ batch.squares()) / (who.pool @ batch.total).clamp_min(NOBODY))[:, None]
    middle = ((below + upto - person) / (2 * (total - person)).clamp_min(NOBODY)).clamp(0, 1)
    return torch.where(below <= 0, 0.0, torch.where(upto >= total, 1.0, middle))


def wasserstein(batch: Batch, who: Comparisons, p: float = 1.0, power: bool = False) -> tuple[Tensor, Tensor]:
    """(∫ |Q_group − Q_reference|^p du)^(1/p), or without the root; and which comparisons can be made.

    People are matched in the order of their scores; the gradient moves each towards those they are matched with.
    """
    with torch.no_grad():
        order = torch.argsort(batch.raw.detach())
        mine, theirs = (along(batch.spread(rows), order) for rows in (who.group, who.reference))
        f, g = mine.cumsum(1), theirs.cumsum(1)
        a, b, known = sized(f[:, -1], g[:, -1])
        # divided last: equal shares of two groups are equal to the last digit, which a root would bring to light
        f, g = f / a[:, None], g / b[:, None]
        shares = torch.where(mine > 0, f, g).sort(dim=1).values
        width = shares.diff(dim=1, prepend=torch.zeros_like(shares[:, :1]))
        middle = shares - width / 2
        a, b = (order[torch.searchsorted(c, middle).clamp(max=len(order) - 1)] for c in (f, g))
    score = batch.unit(batch.raw)
    apart = (score[a] - score[b]).abs()
    if p == 1 or power:
        return (apart**p * width).sum(1), known
    # the largest distance is taken out first, so that no power vanishes; at 0 the slope of a root is not asked for
    most = torch.where(width > 0, apart, 0.0).amax(1).detach()
    scale = torch.where(most > 0, most, 1.0)
    mean = ((apart / scale[:, None]) ** p * width).sum(1)
    some = mean > 0
    return torch.where(some, scale * torch.where(some, mean, 1.0) ** (1 / p), 0.0), known
