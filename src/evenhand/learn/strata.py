"""A batch of people in strata, and who of them is compared with whom.

A stratum is a group, or a group with one label. A comparison is two sets of strata, a group and its reference, as rows
of 0 and 1; all comparisons of a batch are computed together, with shapes that do not depend on the values in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

COUNTABLE = 2**53
"""Beyond, sums of whole numbers are not exact."""
NOBODY = 1e-140
"""A group that weighs so little beside the heaviest person is not there: of its weights squares would vanish."""


def along(rows: Tensor, index: Tensor) -> Tensor:
    """`rows[:, index]`; torch is several times faster at it if it is written like this."""
    return rows.gather(1, index.expand(len(rows), -1))


class Batch:
    """People with their scores, strata and weights."""

    def __init__(
        self, raw: Tensor, stratum: Tensor, weight: Tensor | None, strata: int, score_range: tuple[float, float]
    ) -> None:
        self.raw, self.stratum, self.strata = raw, stratum, strata
        self.low, self.span = score_range[0], score_range[1] - score_range[0]
        self.weighted = weight is not None
        self.given = torch.ones_like(raw, dtype=torch.float64) if weight is None else weight.detach().double()
        # only shares matter: of weights near 1 neither sums nor squares leave the range of numbers
        self.scale = power_of_two(self.given.amax()) if self.weighted else 1.0
        self.weight = self.given / self.scale if self.weighted else self.given
        self.total = self.sums(self.weight)

    def unit(self, raw: Tensor) -> Tensor:
        """Scores as shares of the way through the score range, in double precision."""
        return (raw.double() - self.low) / self.span

    def sums(self, values: Tensor) -> Tensor:
        """Of values of people, the sum in each stratum."""
        own = torch.arange(self.strata, device=values.device)[:, None] == self.stratum
        return torch.where(own, values, 0.0).sum(1)

    def spread(self, table: Tensor) -> Tensor:
        """Numbers (row, stratum) times the weight of each person: axes (row, person)."""
        each = along(table, self.stratum)
        return each * self.weight if self.weighted else each

    def squares(self) -> Tensor:
        """Σw² in each stratum; of weights that count people, as in an audit, the sum over people of 1²."""
        if not self.weighted:
            return self.total
        # every large number is whole: an audit counts no further than this
        counts = (self.given == self.given.round()).all() & (self.given.sum() < COUNTABLE)
        return torch.where(counts, self.total / self.scale, self.sums(self.weight**2))


def power_of_two(largest: Tensor) -> Tensor:
    """One near a number that is not negative: dividing by it keeps every digit."""
    mantissa, _ = torch.frexp(largest)  # from 1/2 to 1
    return torch.where(largest > 0, largest / (2 * mantissa), 1.0)


@dataclass(frozen=True)
class Comparisons:
    """Rows of 0 and 1 over strata, axes (comparison, stratum)."""

    group: Tensor
    reference: Tensor
    pool: Tensor
    """Among whom ranks are taken: both groups, whatever their label."""

    def contrast(self, total: Tensor) -> tuple[Tensor, Tensor]:
        """A person's share of the group minus their share of the reference, and which comparisons can be made."""
        group, reference, known = sized(self.group @ total, self.reference @ total)
        return self.group / group[:, None] - self.reference / reference[:, None], known


def sized(group: Tensor, reference: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The sizes of each group and its reference to divide by, and which comparisons can be made.

    Where one of the two is missing both are infinite: nobody is a share of them, so that distance and gradient are 0.
    """
    known = (group > NOBODY) & (reference > NOBODY)
    return torch.where(known, group, torch.inf), torch.where(known, reference, torch.inf), known


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
