"""A batch of people in strata, who of them is compared with whom, and what is refused as a batch.

A stratum is a group, or a group with one label. A comparison is two sets of strata, a group and its reference, as rows
of 0 and 1; all comparisons of a batch are computed together, with shapes that do not depend on the values in it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import torch
from torch import Tensor

from evenhand.errors import DataError

SLACK = 1e-6
"""How far beyond the score range, as a share of it, a score may be rounded."""
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
        if weight is None:
            self.total = self._own().sum(1).double()
        else:
            self.given = weight.detach().double()
            # only shares matter: of weights near 1 neither sums nor squares leave the range of numbers
            self.scale = power_of_two(self.given.amax())
            self.scaled = self.given / self.scale
            self.total = self.sums(self.scaled)

    @property
    def weight(self) -> Tensor:
        """Of each person; without weights only who needs it makes it, as memory is what takes time on a GPU."""
        return self.scaled if self.weighted else torch.ones_like(self.raw, dtype=torch.float64)

    def unit(self, raw: Tensor) -> Tensor:
        """Scores as shares of the way through the score range, in double precision."""
        return raw.double() if (self.low, self.span) == (0.0, 1.0) else (raw.double() - self.low) / self.span

    def _own(self) -> Tensor:
        return torch.arange(self.strata, device=self.stratum.device)[:, None] == self.stratum

    def sums(self, values: Tensor) -> Tensor:
        """Of values of people, the sum in each stratum."""
        return torch.where(self._own(), values, 0.0).sum(1)

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


# ---- what is refused -------------------------------------------------------------------------------------------------


def check_shapes(score: Tensor, others: dict[str, Tensor | None]) -> None:
    """What can be told without looking at values."""
    if not (isinstance(score, Tensor) and score.is_floating_point()):
        raise DataError(f"scores are a tensor of floats, but found {_type_of(score)}: pass score.float()")
    for name, values in {"score": score, **others}.items():
        if values is None and name != "group":
            continue
        if not isinstance(values, Tensor):
            raise DataError(f"{name} is a tensor, but found {_type_of(values)}: pass torch.as_tensor({name})")
        if values.is_complex():
            raise DataError(f"{name} has real numbers, but found {_type_of(values)}: pass {name}.real")
        if values.ndim != 1:
            raise DataError(f"{name} has one dimension, but its shape is {tuple(values.shape)}: pass {name}.flatten()")
        if len(values) != len(score):
            raise DataError(f"{name} has one value per person, but there are {len(values)} for {len(score)} scores")
        if values.device != score.device:
            raise DataError(f"{name} is on {values.device}, but the scores are on {score.device}: move one of them")
    group = others["group"]
    if group is not None and group.is_floating_point():
        raise DataError(f"groups are whole numbers 0 … G−1, but found {_type_of(group)}: pass group.long()")


def check_values(
    score: Tensor,
    group: Tensor,
    label: Tensor | None,
    weight: Tensor | None,
    score_range: tuple[float, float],
    n_groups: int | None,
) -> None:
    """What takes a look at them: a GPU has to be waited for."""
    if len(score) == 0:
        return
    low, high = score_range
    slack = SLACK * (high - low)
    _within(score, low - slack, high + slack, f"scores lie between {low:g} and {high:g}",
            "apply torch.sigmoid, or pass score_range=(low, high)")  # fmt: skip
    _within(group, 0, (n_groups or math.inf) - 1, "group codes are 0 … n_groups − 1",
            "number the groups from 0, and pass how many there are as n_groups")  # fmt: skip
    if weight is not None:
        _within(weight.double(), 0, sys.float_info.max, "weights are finite and not negative", "0 leaves a person out")
    if label is not None:
        _refuse((label != 0) & (label != 1), label, "labels are 0 and 1", "pass (label == favourable).long()")


def _within(values: Tensor, low: float, high: float, rule: str, way_out: str) -> None:
    least, most = torch.aminmax(values)  # NaN if there is one
    if not (low <= least.item() and most.item() <= high):
        _refuse(~((values >= low) & (values <= high)), values, rule, way_out)


def _refuse(bad: Tensor, values: Tensor, rule: str, way_out: str) -> None:
    if bool(bad.any()):
        row = int(bad.nonzero()[0])
        raise DataError(f"{rule}, but row {row} has {values[row].item():g} ({int(bad.sum()):,} such rows): {way_out}")


def _type_of(values: object) -> str:
    return str(values.dtype) if isinstance(values, Tensor) else type(values).__name__
