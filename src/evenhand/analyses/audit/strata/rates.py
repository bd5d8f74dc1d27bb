"""Rates of one attribute's groups in strata → what is pooled over them, against the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.inference.highest import times
from evenhand.inference.interval import together
from evenhand.inference.significance import TestResult
from evenhand.inference.stratified_rates import (
    Homogeneity,
    Pooled,
    Strata,
    association,
    homogeneity,
    odds_ratio,
    risk_difference,
    standardised,
)
from evenhand.measures.measure import SLACK
from evenhand.measures.rates import RATES, total
from evenhand.measures.registry import Measure, RateMeasure
from evenhand.tables.arrays import Floats, Ints

WEIGHTS = ("everybody", "group", "reference")
"""Whose shares of the strata a standardised gap has."""
_REJECTED, _SELECTED = ((0, 1), (0, 0)), ((1, 1), (1, 0))


@dataclass(frozen=True)
class PooledRate:
    """How one rate of a group differs from the reference's within strata."""

    rate: str
    group: str
    reference: str
    crude: float | None
    """The difference for everybody, whatever their stratum."""
    differences: tuple[float, ...]
    """In each stratum, NaN where a group lacks such people."""
    lacking: tuple[str, ...]
    """The strata that contribute nothing, because a group has no such people there."""
    people: float | None = None
    """What share of both groups' people the rate is about are in the other strata."""
    undefined: str | None = None
    risk_difference: Pooled | None = None
    odds_ratio: Pooled | None = None
    tests: tuple[TestResult, ...] = ()
    homogeneity: Homogeneity | None = None
    standardised: tuple[Pooled, ...] = ()
    """With the shares of `WEIGHTS`."""
    disparity: Pooled | None = None
    """Conditional demographic disparity."""
    disparities: tuple[float, ...] = ()
    """That of each stratum, NaN where nobody is selected or nobody is not."""
    choices: float = 1.0
    """How many comparisons could have been this one, because its reference was chosen as the highest."""

    @property
    def p_value(self) -> float | None:
        """The exact one, if there is one."""
        return min(self.tests[-1].p_value * self.choices, 1.0) if self.tests else None

    @property
    def reversed(self) -> bool:
        """Whether the pooled difference has the other sign than the crude one."""
        if self.crude is None or self.risk_difference is None:
            return False
        return self.crude * self.risk_difference.value < 0 and min(abs(self.crude), abs(self.risk_difference.value)) > (
            SLACK
        )


def rates_of(measures: Sequence[Measure]) -> list[str]:
    """The rates that these measures compare."""
    used = {rate for m in measures if isinstance(m, RateMeasure) and m.other is None for rate in m.components}
    return [rate for rate in RATES if rate in used]


def counted(decisions: Floats, rate: str) -> tuple[Floats, Floats]:
    """People whom a rate counts, and is about, axes (stratum, group), from counts (stratum, decision, group, label)."""
    r = RATES[rate]
    return tuple(np.asarray(total(decisions, cells), np.float64) for cells in (r.part, r.whole))  # type: ignore[return-value]


def pooled_rate(
    decisions: Floats,
    rate: str,
    pair: tuple[int, int],
    names: tuple[str, str],
    strata: Sequence[str],
    crude: float | None,
    confidence: float,
    chosen_of: int = 2,
) -> PooledRate:
    """One rate of a group and its reference, pooled over strata.

    If the reference was chosen as the highest of so many groups, intervals of selection rates are those that hold
    together for all that could have been it, as those of an audit without strata do.
    """
    part, whole = counted(decisions, rate)
    g, r = pair
    s = Strata(part[:, g], whole[:, g], part[:, r], whole[:, r])
    there: Ints = s.there
    lacking = tuple(strata[k] for k in np.setdiff1d(np.arange(len(strata)), there).tolist())
    differences = tuple(s.differences.tolist())
    if not len(there):
        which = "people" if rate in ("selection_rate", "accuracy") else f"people that the {RATES[rate].title} is about"
        because = f"because no stratum has {which} of both groups"
        return PooledRate(rate, *names, crude, differences, lacking, 0.0, because)
    everybody = whole.sum(1)
    if rate == "selection_rate":
        confidence = together(confidence, chosen_of - 1)
    test, exact = association(s)
    disparity, disparities = _disparity(decisions, g, confidence) if rate == "selection_rate" else (None, ())
    return PooledRate(
        rate, *names, crude, differences, lacking,
        float((s.n + s.m)[there].sum() / (s.n + s.m).sum()),
        risk_difference=risk_difference(s, confidence),
        odds_ratio=odds_ratio(s, confidence),
        tests=(test,) if exact is None else (test, exact),
        homogeneity=homogeneity(s),
        standardised=tuple(standardised(s, people, confidence) for people in (everybody, s.n, s.m)),
        disparity=disparity,
        disparities=disparities,
        choices=times(chosen_of),
    )  # fmt: skip


def _disparity(decisions: Floats, g: int, confidence: float) -> tuple[Pooled | None, tuple[float, ...]]:
    """Σ (n_i / n) DD_i, DD being the group's share of the rejected minus its share of the selected."""
    labels = decisions.shape[-1]
    sides = [
        np.asarray(total(decisions, cells if labels == 2 else cells[:1]), np.float64)
        for cells in (_REJECTED, _SELECTED)
    ]
    rejected, selected = sides
    s = Strata(rejected[:, g], rejected.sum(1), selected[:, g], selected.sum(1))
    found = standardised(s, rejected.sum(1) + selected.sum(1), confidence) if len(s.there) else None
    return found, tuple(s.differences.tolist())
