"""The registry: one entry per measure. Report, command line, documentation and property tests read it.

Every measure compares a *profile* of each group: one rate, two rates, or a rate per score bin. The profile
is an array (…, component, group) of which leading axes are resamples; the gap between two groups is the
difference, the ratio, or the largest difference over components.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.cells import Floats
from evenhand.measures.calibration import observed
from evenhand.measures.rates import RATES, ratio, share, trials
from evenhand.table import Counts

Family = Literal["independence", "separation", "sufficiency", "accuracy"]
BINS = 10


@dataclass(frozen=True)
class Profile:
    """What is compared: values (…, component, group) and the people each rests on, if they are shares."""

    values: Floats
    trials: Floats | None = None
    quotient: tuple[Profile, Profile] | None = None
    """The two shares whose ratio the values are, if they are one."""

    def only(self, group: int) -> Profile:
        """The profile of one group."""
        parts = None if self.quotient is None else (self.quotient[0].only(group), self.quotient[1].only(group))
        return Profile(self.values[..., [group]], None if self.trials is None else self.trials[..., [group]], parts)


@dataclass(frozen=True)
class Measure:
    """A disparity between groups: what it asks, how it is computed, when it is small enough."""

    id: str
    title: str
    family: Family
    asks: str
    formula: str
    profile: Callable[[Counts], Profile]
    components: tuple[str, ...]
    """Names of what is compared; empty for score bins."""
    more: str
    """How a group with the higher value is treated, after 'is' or 'has': read by the interpretation."""
    less: str
    scale: Literal["difference", "ratio"] = "difference"
    levels: Literal["decision", "bins"] = "decision"
    needs_label: bool = True
    tolerance: float = 0.1
    rests_on: tuple[str, ...] = ()
    """The rates that must exist, where they are not the components themselves."""

    @property
    def signed(self) -> bool:
        """Whether a single signed difference exists."""
        return self.scale == "difference" and len(self.components) == 1


def _shares(*rates: str) -> Callable[[Counts], Profile]:
    def profile(counts: Counts) -> Profile:
        return Profile(
            np.stack([share(counts, r) for r in rates], axis=-2),
            np.stack([trials(counts, r) for r in rates], axis=-2),
        )

    return profile


def _treatment(counts: Counts) -> Profile:
    # FNR and FPR rest on different people (the deserving, the others), so they are independent.
    fnr, fpr = _shares("fnr")(counts), _shares("fpr")(counts)
    return Profile(ratio(fnr.values, fpr.values), quotient=(fnr, fpr))


def _calibration(counts: Counts) -> Profile:
    return Profile(*observed(counts))


# fmt: off
MEASURES = {m.id: m for m in (
    Measure("demographic_parity", "demographic parity", "independence",
            "Is the favourable decision given equally often?", "P(Ŷ=1 | group) − P(Ŷ=1 | reference)",
            _shares("selection_rate"), ("selection_rate",),
            "receives the favourable decision more often", "receives the favourable decision less often",
            needs_label=False),
    Measure("disparate_impact", "disparate impact", "independence",
            "Is the selection rate at least four fifths of the other's?", "P(Ŷ=1 | group) / P(Ŷ=1 | reference)",
            _shares("selection_rate"), ("selection_rate",),
            "receives the favourable decision more often", "receives the favourable decision less often",
            scale="ratio", needs_label=False, tolerance=0.8),
    Measure("equal_opportunity", "equal opportunity", "separation",
            "Do the deserving get the favourable decision equally often?", "TPR(group) − TPR(reference)",
            _shares("tpr"), ("tpr",),
            "is recognised more often when deserving", "is recognised less often when deserving"),
    Measure("predictive_equality", "predictive equality", "separation",
            "Do the undeserving get the favourable decision equally often?", "FPR(group) − FPR(reference)",
            _shares("fpr"), ("fpr",),
            "gets the benefit of an error more often", "gets the benefit of an error less often"),
    Measure("equalized_odds", "equalized odds", "separation",
            "Are both error rates equal?", "max(|ΔTPR|, |ΔFPR|)",
            _shares("tpr", "fpr"), ("tpr", "fpr"), "has higher rates", "has lower rates"),
    Measure("predictive_parity", "predictive parity", "sufficiency",
            "Does a favourable decision mean the same?", "PPV(group) − PPV(reference)",
            _shares("ppv"), ("ppv",),
            "turns out well more often once selected", "turns out well less often once selected"),
    Measure("negative_predictive_parity", "negative predictive parity", "sufficiency",
            "Does an unfavourable decision mean the same?", "NPV(group) − NPV(reference)",
            _shares("npv"), ("npv",),
            "is rightly rejected more often once rejected", "is rightly rejected less often once rejected"),
    Measure("calibration_gap", "calibration gap", "sufficiency",
            "Does the same score mean the same?", "max over bins |P(Y=1 | bin, group) − P(Y=1 | bin, reference)|",
            _calibration, (), "has higher favourable rates", "has lower favourable rates", levels="bins"),
    Measure("accuracy_parity", "accuracy parity", "accuracy",
            "Are decisions equally often right?", "accuracy(group) − accuracy(reference)",
            _shares("accuracy"), ("accuracy",),
            "is decided correctly more often", "is decided correctly less often"),
    Measure("treatment_equality", "treatment equality", "accuracy",
            "Do errors fall to the same side?", "FNR/FPR(group) − FNR/FPR(reference)",
            _treatment, ("fnr/fpr",),
            "has more harmful errors for each helpful one", "has fewer harmful errors for each helpful one",
            rests_on=("fnr", "fpr")),
)}
# fmt: on

__all__ = ["BINS", "MEASURES", "RATES", "Family", "Measure", "Profile"]
