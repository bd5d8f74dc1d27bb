"""Measures of a batch as losses for PyTorch: differentiable in the scores, and equal to what an audit finds.

>>> import torch
>>> unfair = loss("abcc")
>>> score = torch.tensor([0.2, 0.6, 0.4, 0.8], requires_grad=True)
>>> value = unfair(score, torch.tensor([0, 0, 1, 1]))
>>> round(value.item(), 3)
0.2
>>> value.backward()
>>> score.grad.tolist()  # group 0 should rise, group 1 should fall
[-0.5, -0.5, 0.5, 0.5]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TypeGuard

from evenhand.errors import DataError, MissingLibrary, UsageError, listed, nearest, shown

try:
    import torch
except ImportError as error:
    raise MissingLibrary("losses are made of PyTorch's tensors: pip install 'evenhand[learn]'") from error

from torch import Tensor

from evenhand.learn.losses.areas import areas, mean_gaps, rank_areas, wasserstein
from evenhand.learn.losses.batch import Batch, check_shapes, check_values, compared
from evenhand.learn.losses.densities import density_gaps

GROUPS = ("mean", "largest")
COMBINE = ("max", "sum")
RULES = ("scott", "silverman")
MOST_GROUPS = 300
"""So many can be compared with each other: in 44 850 pairs, each with a number per person."""
MOST_REFERRED = 4000
"""So many can be compared with a reference."""


@dataclass(frozen=True)
class Kind:
    """What a loss compares, and how."""

    measures: tuple[str, ...]
    """The measure of an audit with the same value, or the two whose larger value it is."""
    distance: Callable[..., tuple[Tensor, Tensor]]
    """Of a batch and its comparisons: how far each pair is apart, and which pairs can be compared."""
    labels: tuple[int | None, ...] = (None,)
    """Among whom: those with this label, or everybody."""
    options: dict[str, Any] = field(default_factory=dict)
    """What `distance` can be told, with its defaults."""


LOSSES: dict[str, Kind] = {
    "mean_gap": Kind(("delta_dp_c",), mean_gaps),
    "abcc": Kind(("abcc",), areas),
    "abcc_standardized": Kind(("independence_standardized",), rank_areas),
    "abpc": Kind(("abpc",), density_gaps, options={"bandwidth": "scott"}),
    "wasserstein": Kind(("independence_uniform_w{p}",), wasserstein, options={"p": 2.0, "power": False}),
    "equal_opportunity": Kind(("equal_opportunity_uniform",), areas, (1,)),
    "equal_opportunity_standardized": Kind(("equal_opportunity_standardized",), rank_areas, (1,)),
    "predictive_equality": Kind(("predictive_equality_uniform",), areas, (0,)),
    "predictive_equality_standardized": Kind(("predictive_equality_standardized",), rank_areas, (0,)),
    "equalized_odds": Kind(("equal_opportunity_uniform", "predictive_equality_uniform"), areas, (1, 0)),
    "equalized_odds_standardized": Kind(
        ("equal_opportunity_standardized", "predictive_equality_standardized"), rank_areas, (1, 0)
    ),
}
"""Every loss by its name."""


def loss(name: str, **options: Any) -> Loss:
    """The loss of that name; `LOSSES` has them all, `Loss` describes the options.

    >>> import torch
    >>> odds = loss("equalized_odds", combine="sum", n_groups=3)
    >>> int(odds(torch.rand(8), torch.arange(8) % 2, label=torch.arange(8) // 4) > 0), odds.skipped  # nobody of group 2
    (1, 4)
    """
    return Loss(name, **options)


class Loss(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """How far the scores of groups are apart in a batch, in shares of the score range: 0 when all groups are alike.

    Call it with scores, group codes 0 … G−1, labels (1 = favourable) where the loss looks at them, and weights.
    Gradients flow to the scores. A pair of groups that cannot be compared, because the batch lacks one of them, adds
    nothing and is counted in `skipped`; if no pair can, the loss is 0.

    Parameters
    ----------
    groups
        Of more than two groups: "mean" of all pairs that can be compared (Han, Jiang et al. 2023), or the "largest".
    reference
        Compare every group with this one only, instead of all pairs.
    n_groups
        How many groups there are, at most 300, or 4 000 with a reference. Without it, the highest code seen so far
        tells: that waits for a GPU and breaks the graph of `torch.compile`.
    score_range
        The lowest and the highest possible score.
    combine
        Of the losses that look at both labels: the "max" of both distances, as in an audit, or their "sum".
    check
        Whether the values of a batch are checked; by default on the processor only, as it means to wait for a GPU.
    **options
        p (from 1) and power of "wasserstein": W_p, or W_p^p, whose gradient fades near 0. bandwidth of "abpc": "scott",
        "silverman" or a share of the score range.
    """

    _skipped: Tensor

    def __init__(
        self,
        name: str,
        *,
        groups: str = "mean",
        reference: int | None = None,
        n_groups: int | None = None,
        score_range: tuple[float, float] = (0.0, 1.0),
        combine: str = "max",
        check: bool | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        if not (isinstance(name, str) and name in LOSSES):
            raise UsageError(f"there is no loss {shown(name)} (there are: {listed(LOSSES, 20)}){nearest(name, LOSSES)}")
        self.name, self.kind = name, LOSSES[name]
        for option in options:
            if option not in self.kind.options:
                known = ["groups", "reference", "n_groups", "score_range", "combine", "check", *self.kind.options]
                raise UsageError(f"{name} has no option {option!r} (it has: {listed(known)}){nearest(option, known)}")
        self.options = {option: _setting(option, v) for option, v in {**self.kind.options, **options}.items()}
        self.groups, self.combine = _one_of("groups", groups, GROUPS), _one_of("combine", combine, COMBINE)
        self.n_groups = None if n_groups is None else _count(n_groups)
        self.reference = None if reference is None else _code(reference, self.n_groups)
        self.score_range, self.check = _rising(score_range), check
        self._seen = max(2, 0 if self.reference is None else self.reference + 1)
        if too_many := self._too_many(self.n_groups or self._seen):
            raise UsageError(too_many)
        self.register_buffer("_skipped", torch.zeros((), dtype=torch.int64), persistent=False)

    @property
    def skipped(self) -> int:
        """How many comparisons (pairs of groups, for each label the loss looks at) could not be made so far."""
        return int(self._skipped)

    def for_groups(self, n: int) -> Loss:
        """A fresh copy for so many groups, or for more if this one is: with the same options, and nothing skipped yet.

        >>> loss("wasserstein", p=3, reference=1).for_groups(4).n_groups
        4
        """
        return Loss(
            self.name, groups=self.groups, reference=self.reference, n_groups=max(_count(n), self.n_groups or 0),
            score_range=self.score_range, combine=self.combine, check=self.check, **self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The name and the options, for print."""
        return ", ".join([repr(self.name), *(f"{k}={v!r}" for k, v in self.options.items())])

    def forward(
        self, score: Tensor, group: Tensor, label: Tensor | None = None, weight: Tensor | None = None
    ) -> Tensor:
        """The loss of a batch, a scalar in the precision of the scores (but at least float32)."""
        if self.kind.labels == (None,):
            label = None
        elif label is None:
            raise UsageError(f"{self.name} looks at outcomes: pass label, 1 where the outcome is favourable, else 0")
        check_shapes(score, {"group": group, "label": label, "weight": weight})
        raw, group = score if score.dtype in (torch.float32, torch.float64) else score.float(), group.long()
        checked = score.device.type == "cpu" if self.check is None else self.check
        if checked and not torch.compiler.is_compiling():
            check_values(raw, group, label, weight, self.score_range, self.n_groups)
        n_groups = self._codes(group)
        with torch.autocast(score.device.type, enabled=False):  # sums of a whole batch need their digits
            return self._value(raw, group, label, weight, n_groups)

    def _value(self, raw: Tensor, group: Tensor, label: Tensor | None, weight: Tensor | None, n_groups: int) -> Tensor:
        who = compared(n_groups, self.reference, self.kind.labels, raw)
        if len(raw):
            stratum = group if label is None else 2 * group + label.long()
            batch = Batch(raw, stratum, weight, who.group.shape[1], self.score_range)
            distance, known = self.kind.distance(batch, who, **self.options)
        else:
            distance = raw.sum() * who.group[:, 0]
            known = distance.detach() > 0
        self._skipped = self._skipped.to(raw.device) + (~known).sum()
        return self._overall(distance, known).to(raw.dtype)

    def _codes(self, group: Tensor) -> int:
        if self.n_groups is not None:
            return self.n_groups
        if len(group):
            seen = max(self._seen, int(group.max()) + 1)
            if too_many := self._too_many(seen):
                raise DataError(too_many)
            self._seen = seen
        return self._seen

    def _too_many(self, n_groups: int) -> str:
        """Why so many groups cannot be meant, or nothing."""
        most, whom = (MOST_GROUPS, "each other") if self.reference is None else (MOST_REFERRED, "a reference")
        if n_groups <= most:
            return ""
        way_out = "number the groups 0 … G−1" + (", or name a reference" if self.reference is None else "")
        return f"at most {most:,} groups can be compared with {whom}, but there are {n_groups:,} codes: {way_out}"

    def _overall(self, distance: Tensor, known: Tensor) -> Tensor:
        """One number for all comparisons (label × pair)."""
        distance, known = (x.view(len(self.kind.labels), -1) for x in (distance, known))
        pairs = distance.amax(0) if self.combine == "max" else distance.sum(0)
        if self.groups == "largest":
            return pairs.amax()
        return pairs.sum() / known.any(0).sum().clamp_min(1)


# ---- what is refused -------------------------------------------------------------------------------------------------


def _one_of(option: str, value: object, values: tuple[str, ...]) -> str:
    if not (isinstance(value, str) and value in values):
        raise UsageError(f"{option} is one of {listed(values)}, but it is {shown(value)}{nearest(value, values)}")
    return value


def _count(n_groups: object) -> int:
    if not (_is_whole(n_groups) and n_groups >= 2):
        raise UsageError(
            f"n_groups is a whole number from 2, as it takes two groups to compare, but n_groups={shown(n_groups)}"
        )
    return int(n_groups)


def _code(reference: object, n_groups: int | None) -> int:
    if not (_is_whole(reference) and 0 <= reference < (n_groups or math.inf)):
        raise UsageError(f"reference={shown(reference)} is not the code of a group: codes are 0 … n_groups − 1")
    return int(reference)


def _rising(score_range: Any) -> tuple[float, float]:
    try:
        low, high = (float(_number(end)) for end in score_range)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0 < high - low < math.inf:
        raise UsageError(f"a score range is two finite numbers that rise, but it is {shown(score_range)}")
    return low, high


def _setting(option: str, value: object) -> Any:
    """An option of a distance; numbers of other libraries become Python's own."""
    number = _number(value)
    if option == "p" and not number >= 1:
        raise UsageError(f"p of a Wasserstein distance is a number from 1, but it is {shown(value)}")
    if option == "power" and not isinstance(value, bool):
        raise UsageError(f"power is True, for W_p^p, or False, for W_p, but it is {shown(value)}")
    if option == "bandwidth" and not (number > 0 or (isinstance(value, str) and value in RULES)):
        raise UsageError(
            f"bandwidth is 'scott', 'silverman' or a positive share of the score range, but it is {shown(value)}"
        )
    return value if math.isnan(number) else number


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _number(value: object) -> float:
    """A finite number as one of Python's own; of anything else, True and False among them, NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    if not math.isfinite(number):
        return math.nan
    return int(value) if isinstance(value, Integral) else number
