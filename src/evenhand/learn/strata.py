"""A batch of people in strata, and who of them is compared with whom.

A stratum is a group, or a group with one label. A comparison is two sets of strata, a group and its reference, as rows
of 0 and 1; all comparisons of a batch are computed together, with shapes that do not depend on the values in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """People with their scores, strata and weights."""

    raw: Tensor
    """Scores as they were given, in their own precision."""
    stratum: Tensor
    given: Tensor | None
    """Weights, or None where everybody counts once."""
    strata: int
    score_range: tuple[float, float]

    def unit(self, raw: Tensor) -> Tensor:
        """Scores as shares of the way through the score range, in double precision."""
        low, high = self.score_range
        wide = raw.double()
        return wide if (low, high) == (0.0, 1.0) else (wide - low) / (high - low)

    @cached_property
    def score(self) -> Tensor:
        return self.unit(self.raw)

    @cached_property
    def weight(self) -> Tensor:
        return torch.ones_like(self.raw, dtype=torch.float64) if self.given is None else self.given.detach().double()

    def sums(self, values: Tensor) -> Tensor:
        """Of values of people, the sum in each stratum."""
        own = torch.arange(self.strata, device=values.device)[:, None] == self.stratum
        return torch.where(own, values, 0.0).sum(1)

    @cached_property
    def total(self) -> Tensor:
        return self.sums(self.weight)

    def spread(self, table: Tensor) -> Tensor:
        """Numbers (…, stratum) times the weight of each person: axes (…, person)."""
        return table[..., self.stratum] if self.given is None else table[..., self.stratum] * self.weight

    @cached_property
    def squares(self) -> Tensor:
        """Σw² by stratum as far as weights are sampling weights; weights that are all whole count people, as in an audit."""
        if self.given is None:
            return self.total
        whole = (self.weight == self.weight.round()).all()
        return torch.where(whole, self.total, self.sums(self.weight**2))


@dataclass(frozen=True)
class Comparisons:
    """Rows of 0 and 1 over strata, axes (comparison, stratum)."""

    group: Tensor
    reference: Tensor
    pool: Tensor
    """Among whom ranks are taken: both groups, whatever their label."""

    def shares(self, total: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What a weight of 1 is of its group and of its reference, by stratum, and which comparisons can be made.

        A comparison that lacks one of the two has shares of 0 only, so that its distance and its gradient are 0.
        """
        sizes = self.group @ total, self.reference @ total
        known = (sizes[0] > 0) & (sizes[1] > 0)
        group, reference = (
            torch.where(known, 1 / size, 0.0)[:, None] * rows
            for rows, size in zip((self.group, self.reference), sizes, strict=True)
        )
        return group, reference, known

    def contrast(self, total: Tensor) -> tuple[Tensor, Tensor]:
        """Shares of the group minus shares of the reference, and which comparisons can be made."""
        group, reference, known = self.shares(total)
        return group - reference, known


def compared(n_groups: int, reference: int | None, labels: tuple[int | None, ...], like: Tensor) -> Comparisons:
    """Every pair of groups, or every group with one of them, for each label: axes (label × pair, group × label).

    Without labels a stratum is a group; with them it is 2 · group + label. Made on the device, without a transfer.
    """
    device = like.device
    codes = torch.arange(n_groups, device=device)
    if reference is None:
        first, second = torch.triu_indices(n_groups, n_groups, 1, device=device)
    else:
        first = torch.cat([codes[:reference], codes[reference + 1 :]])
        second = torch.full_like(first, reference)
    width = 1 if labels == (None,) else 2
    of_label = torch.arange(width, device=device)

    def rows(members: Tensor) -> Tensor:
        """Of the groups (pair, group) the strata with each label in turn."""
        picked = [members[..., None] & ((of_label == y) if y is not None else (of_label >= 0)) for y in labels]
        return torch.stack(picked).reshape(len(labels) * len(members), n_groups * width).double()

    one, other = (codes == side[:, None] for side in (first, second))
    pool = (one | other).double().repeat_interleave(width, dim=1).repeat(len(labels), 1)
    return Comparisons(rows(one), rows(other), pool)
