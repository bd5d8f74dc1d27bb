"""Measures of practice: figures that rules and regulators ask for, computed where they are named.

They say in other units what another measure says too, so they are no part of an audit that nobody asked for them, and
count once with that one where p-values are adjusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.measures.measure import Measure

NO_TOLERANCE = "because no number is tolerable by itself: state one (--tolerance {}=5)"


@dataclass(frozen=True, kw_only=True)
class PracticeMeasure(Measure):
    """A disparity of a group and its reference in the units of practice."""

    base: str | None = None
    """The measure that says the same, whose test is its own."""
    scored: bool = False
    """Whether it is about scores; otherwise about decisions."""
    page: str = "practice"

    @property
    def signed(self) -> bool:
        return self.scale == "difference"


# fmt: off
PRACTICE: dict[str, PracticeMeasure] = {m.id: m for m in (
    PracticeMeasure("odds_ratio", "independence", "How do the odds of the favourable decision compare?",
                    "P(Ŷ=1 | group) / P(Ŷ=0 | group) ÷ P(Ŷ=1 | reference) / P(Ŷ=0 | reference)",
                    "receives the favourable decision {more|less} often", short="odds ratio",
                    base="demographic_parity", scale="ratio", needs_label=False, tolerance=0.8,
                    use="A case-control study or a logistic model speaks in odds, or strata are pooled by them.",
                    limits="It is read as a ratio of rates and is further from 1 than that. The tolerance is that of "
                    "the selection ratio, for want of one of its own."),
    PracticeMeasure("shortfall", "independence", "How many people of the group would have to be selected in addition?",
                    "people of the group × P(Ŷ=1 | both groups) − people selected of the group",
                    "is selected {less|more} often", base="demographic_parity",
                    needs_label=False, tolerance=np.inf,
                    use="A rule or a court counts people, and a gap of a few is not worth pursuing.",
                    limits="It grows with the number of people, so it has no tolerance until one is stated, and "
                    "nothing passes by it before."),
    PracticeMeasure("standardized_mean_difference", "independence",
                    "How far apart are the mean scores, in standard deviations?",
                    "100 · (E[S | group] − E[S | reference]) / SD[S]",
                    "has {more|less} favourable scores on average", short="SMD", base="delta_dp_c", scored=True,
                    needs_label=False, tolerance=30.0,
                    use="Scores without a natural scale are compared, as in US lending.",
                    limits="A score with few extreme values has a large SD, which hides gaps elsewhere. SD is that of "
                    "everybody, also of people who are not compared."),
    PracticeMeasure("residual_smd", "sufficiency",
                    "How far is one group scored above its outcomes, compared with the other, in standard deviations?",
                    "100 · (E[S − Y | group] − E[S − Y | reference]) / SD[S − Y]",
                    "is scored {more|less} favourably beside its outcomes", "residual SMD", scored=True, tolerance=30.0,
                    use="Probabilities are to be right on average in each group.",
                    limits="It is about averages: a group may be scored too high here and too low there."),
    PracticeMeasure("selection_ratio_by_quantile", "independence",
                    "Is the ratio of selection rates far from 1 at some decile of the score?",
                    "P(S > q | group) / P(S > q | reference), q the decile at which it is furthest from 1",
                    "is above that decile {more|less} often", short="ratio by decile", scored=True, scale="ratio",
                    needs_label=False, tolerance=0.8,
                    use="The threshold may change, or pricing differs all along the score.",
                    limits="At the highest deciles few are selected: a small group decides by chance there, which the "
                    "interval allows for."),
)}
# fmt: on
