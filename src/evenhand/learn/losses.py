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
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import DataError, MissingLibrary, UsageError, listed, nearest, shown

try:
    import torch
except ImportError as error:
    raise MissingLibrary("losses are made of PyTorch's tensors: pip install 'evenhand[learn]'") from error

from torch import Tensor

from evenhand.learn.areas import areas, mean_gaps, rank_areas, wasserstein
from evenhand.learn.densities import density_gaps
from evenhand.learn.strata import Batch, compared

GROUPS = ("mean", "largest")
COMBINE = ("max", "sum")
SLACK = 1e-6
"""How far beyond the score range, as a share of it, a score may be rounded."""


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
        Of more than two groups: "mean" of all pairs that can be compared (000 §5.1), or the "largest".
    reference
        Compare every group with this one only, instead of all pairs.
    n_groups
        How many groups there are. Without it, the highest code seen so far tells: that waits for a GPU and breaks the
        graph of `torch.compile`.
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
        if name not in LOSSES:
            raise UsageError(
                f"there is no loss {shown(name)} (there are: {listed(LOSSES, 20)}){nearest(str(name), LOSSES)}"
            )
        self.name, self.kind = name, LOSSES[name]
        _choose("groups", groups, GROUPS)
        _choose("combine", combine, COMBINE)
        for option in options:
            if option not in self.kind.options:
                known = ["groups", "reference", "n_groups", "score_range", "combine", "check", *self.kind.options]
                raise UsageError(f"{name} has no option {option!r} (it has: {listed(known)}){nearest(option, known)}")
        self.options = {**self.kind.options, **options}
        _check_options(self.options)
        low, high = score_range
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UsageError(f"a score range is two finite numbers that rise, but it is {shown(score_range)}")
        if n_groups is not None and n_groups < 2:
            raise UsageError(f"it takes two groups to compare, but n_groups={n_groups}")
        if reference is not None and not 0 <= reference < (n_groups or math.inf):
            raise UsageError(f"reference={reference} is not the code of a group: codes are 0 … n_groups − 1")
        self.groups, self.reference, self.combine, self.check = groups, reference, combine, check
        self.n_groups, self.score_range = n_groups, (float(low), float(high))
        self._seen = max(2, 0 if reference is None else reference + 1)
        self.register_buffer("_skipped", torch.zeros((), dtype=torch.int64), persistent=False)

    @property
    def skipped(self) -> int:
        """How many comparisons (pairs of groups, for each label the loss looks at) could not be made so far."""
        return int(self._skipped)

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
        _check_shapes(score, {"group": group, "label": label, "weight": weight})
        checked = score.device.type == "cpu" if self.check is None else self.check
        if checked and not torch.compiler.is_compiling():
            _check_values(score, group, label, weight, self.score_range, self.n_groups)
        n_groups = self._codes(group)
        with torch.autocast(score.device.type, enabled=False):  # sums of a whole batch need their digits
            return self._value(score, group, label, weight, n_groups)

    def _value(
        self, score: Tensor, group: Tensor, label: Tensor | None, weight: Tensor | None, n_groups: int
    ) -> Tensor:
        raw = score if score.dtype in (torch.float32, torch.float64) else score.float()
        who = compared(n_groups, self.reference, self.kind.labels, raw)
        if len(raw):
            stratum = group.long() if label is None else 2 * group.long() + label.long()
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
            self._seen = max(self._seen, int(group.max()) + 1)
        return self._seen

    def _overall(self, distance: Tensor, known: Tensor) -> Tensor:
        """One number for all comparisons (label × pair)."""
        distance, known = (x.view(len(self.kind.labels), -1) for x in (distance, known))
        pairs = distance.amax(0) if self.combine == "max" else distance.sum(0)
        if self.groups == "largest":
            return pairs.amax()
        return pairs.sum() / known.any(0).sum().clamp_min(1)


# ---- what is refused -------------------------------------------------------------------------------------------------


def _choose(option: str, value: object, values: tuple[str, ...]) -> None:
    if value not in values:
        raise UsageError(f"{option} is one of {listed(values)}, but it is {shown(value)}{nearest(str(value), values)}")


def _check_options(options: dict[str, Any]) -> None:
    p = options.get("p", 1.0)
    if not (isinstance(p, int | float) and 1 <= p < math.inf):
        raise UsageError(f"p of a Wasserstein distance is a number from 1, but it is {shown(p)}")
    width = options.get("bandwidth", "scott")
    if not (width in ("scott", "silverman") or (isinstance(width, int | float) and 0 < width < math.inf)):
        raise UsageError(
            f"bandwidth is 'scott', 'silverman' or a positive share of the score range, but it is {shown(width)}"
        )


def _check_shapes(score: Tensor, others: dict[str, Tensor | None]) -> None:
    """What can be told without looking at values."""
    if not (isinstance(score, Tensor) and score.is_floating_point()):
        raise DataError(f"scores are a tensor of floats, but found {_found(score)}: pass score.float()")
    for name, values in {"score": score, **others}.items():
        if values is None:
            continue
        if not isinstance(values, Tensor):
            raise DataError(f"{name} is a tensor, but found {_found(values)}: pass torch.as_tensor({name})")
        if values.ndim != 1:
            raise DataError(f"{name} has one dimension, but its shape is {tuple(values.shape)}: pass {name}.flatten()")
        if len(values) != len(score):
            raise DataError(f"{name} has one value per person, but there are {len(values)} for {len(score)} scores")
        if values.device != score.device:
            raise DataError(f"{name} is on {values.device}, but the scores are on {score.device}: move one of them")
    group = others["group"]
    if group is not None and (group.is_floating_point() or group.is_complex()):
        raise DataError(f"groups are whole numbers 0 … G−1, but found {_found(group)}: pass group.long()")


def _check_values(
    score: Tensor,
    group: Tensor,
    label: Tensor | None,
    weight: Tensor | None,
    score_range: tuple[float, float],
    n_groups: int | None,
) -> None:
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


def _found(values: object) -> str:
    return str(values.dtype) if isinstance(values, Tensor) else type(values).__name__
