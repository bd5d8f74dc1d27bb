"""What was tried: every candidate with its numbers where it was selected and where it was confirmed, and the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from evenhand.errors import shown_name
from evenhand.measures.measure import SLACK
from evenhand.report.format import number

Status = Literal["in use", "alternative", "rejected"]
Reason = Literal["undefined", "constant", "performance", "gap", "not_confirmed", "performance_not_held", "not_tested"]


@dataclass(frozen=True)
class Standing:
    """A candidate on the data that select: its performance, its gap, and whose it is."""

    performance: float
    gap: float
    group: str | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class Confirmation:
    """A candidate on the data that confirm, beside the model in use and the one that performed best."""

    performance: float
    gap: float
    group: str | None
    baseline_gap: float
    """That of the group which fared worst by the model in use on the data that select."""
    reduction: float
    reduction_at_least: float | None
    """The lower end of its one-sided interval."""
    loss: float
    """How much lower its performance is than that of the one that performed best or of the model in use, whichever is
    the better one."""
    loss_at_most: float | None
    unknown: str | None = None
    """Why there is no interval."""


@dataclass(frozen=True)
class Tried:
    """One candidate, and what became of it."""

    name: str
    selection: Standing
    status: Status = "rejected"
    reason: Reason | None = None
    because: str = ""
    tested: int | None = None
    """As the how-manieth it was tested."""
    confirmation: Confirmation | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def rejected(self, reason: Reason, because: str, confirmation: Confirmation | None = None) -> Tried:
        return replace(self, reason=reason, because=because, confirmation=confirmation)


@dataclass(frozen=True)
class Bar:
    """What a candidate is held to where it is selected."""

    within: float
    best: int
    """The candidate that performs best."""
    sign: float = 1.0
    """−1 where a lower performance is the better one."""

    def loss(self, candidates: Sequence[Tried], place: int) -> float:
        """How much lower the performance is than that of the best."""
        return self.sign * (candidates[self.best].selection.performance - candidates[place].selection.performance)


def bar(candidates: Sequence[Tried], within: float, sign: float) -> Bar:
    """The best performance there is."""
    known = [np.nan if c.selection.undefined else sign * c.selection.performance for c in candidates]
    return Bar(within, int(np.nanargmax(known)), sign)


def sifted(candidates: Sequence[Tried], baseline: int, held: Bar) -> tuple[list[Tried], list[int]]:
    """Who is rejected before anything is confirmed, and the places of the others: the smallest gap first.

    Of equal gaps the better performance is first, then the one that was named first.
    """
    found, left = list(candidates), []
    most = candidates[baseline].selection.gap
    for k, c in enumerate(candidates):
        if k == baseline or c.reason is not None:
            continue
        at, loss = c.selection, held.loss(candidates, k)
        if at.undefined:
            found[k] = c.rejected("undefined", f"it cannot be compared {at.undefined}")
        elif loss > held.within + SLACK:
            best = shown_name(candidates[held.best].name)
            found[k] = c.rejected(
                "performance",
                f"its performance, {number(at.performance)}, is {number(loss, tiny=True)} below that of {best}, more "
                f"than {held.within:g}",
            )
        elif at.gap >= most - SLACK:
            found[k] = c.rejected(
                "gap", f"its gap, {number(at.gap)}, is not smaller than that of the model in use, {number(most)}"
            )
        else:
            left.append(k)
    return found, sorted(left, key=lambda k: (found[k].selection.gap, held.loss(candidates, k), k))


def level(confidence: float) -> str:
    return f"{100 * confidence:.10g}%"


def weighed(c: Tried, held: Confirmation, within: float, confidence: float, where: str) -> Tried:
    """What the data that confirm say of a candidate."""
    at_least = held.reduction_at_least
    smaller = f"{where} its gap is {number(held.gap)}, that of the model in use {number(held.baseline_gap)}"
    if at_least is None:
        return c.rejected("not_confirmed", f"not confirmed {held.unknown}: {smaller}", held)
    if at_least <= 0:
        return c.rejected(
            "not_confirmed",
            f"not confirmed: {smaller}, and how much smaller it is reaches down to {number(at_least, sign=True)} "
            f"({level(confidence)})",
            held,
        )
    if held.loss > within + SLACK:
        return c.rejected(
            "performance_not_held",
            f"{where} its performance, {number(held.performance)}, is {number(held.loss, tiny=True)} below that of the "
            f"best or of the model in use, more than {within:g}",
            held,
        )
    said = f"{smaller}: smaller by {number(held.reduction)}, at least {number(at_least)} ({level(confidence)})"
    return replace(c, status="alternative", because=said, confirmation=held)


def in_use_there(at: Standing, loss: float) -> Confirmation:
    """The model in use on the data that confirm."""
    return Confirmation(at.performance, at.gap, at.group, at.gap, np.nan, None, loss, None, at.undefined)


NOT_TESTED = "not tested, as the candidate before it was not confirmed"
