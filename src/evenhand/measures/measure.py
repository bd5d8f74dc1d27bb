"""What a measure is: of rates at a threshold, or at score level."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from evenhand.measures.curve import Curve, ScoreOptions
from evenhand.measures.rates import share, trials
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts
from evenhand.tables.table import Within

Family = Literal["independence", "separation", "sufficiency", "accuracy"]


class FamilyTitle(NamedTuple):
    """How a family of measures is headed: its name, what it asks, and both briefly for narrow tables."""

    name: str
    asks: str
    short: str

    @property
    def heading(self) -> str:
        return f"{self.name}: {self.asks}"


FAMILIES: dict[Family, FamilyTitle] = {
    "independence": FamilyTitle(
        "Independence", "are all people treated alike, whatever their outcome?", "Independence: all alike?"
    ),
    "separation": FamilyTitle(
        "Separation", "are people with the same outcome treated alike?", "Separation: same outcome?"
    ),
    "sufficiency": FamilyTitle(
        "Sufficiency", "does the same decision or score mean the same?", "Sufficiency: one meaning?"
    ),
    "accuracy": FamilyTitle("Accuracy", "is the model as good for everyone?", "Accuracy"),
}

_WITHIN: dict[Family, Within] = {
    "independence": "all", "separation": "label", "sufficiency": "level", "accuracy": "all",
}  # fmt: skip


_EITHER = re.compile(r"\{(\w+)\|(\w+)\}")


@dataclass(frozen=True)
class Measure:
    """A disparity between groups: what it asks, whom its sign favours, when it is small enough."""

    id: str
    family: Family
    asks: str
    formula: str
    fares: str
    """How a group with the {higher|lower} value fares: read by the interpretation."""
    title: str = ""
    """By default the id, with spaces."""
    short: str = ""
    """The title for narrow tables; by default the title."""
    page: str = "decisions"
    """The page of docs/measures about it."""
    use: str = ""
    """When to use it, as sentences."""
    limits: str = ""
    """What it does not see, and what else speaks against it."""
    scale: Literal["difference", "ratio"] = "difference"
    needs_label: bool = True
    tolerance: float = 0.1
    permuted_within: Within | None = None
    """Within what group labels may be permuted when there is no gap, where it is not what the family says."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.id.replace("_", " "))
        object.__setattr__(self, "short", self.short or self.title)

    @property
    def more(self) -> str:
        """How a group with the higher value fares."""
        return _EITHER.sub(r"\1", self.fares)

    @property
    def less(self) -> str:
        return _EITHER.sub(r"\2", self.fares)

    @property
    def within(self) -> Within:
        """Within what group labels may be permuted when there is no gap."""
        return self.permuted_within or _WITHIN[self.family]

    @property
    def documentation(self) -> str:
        """The page of the documentation about it."""
        return f"docs/measures/{self.page}.md"

    def titled(self, width: int) -> str:
        """The title if it fits into so many columns, else the short one."""
        return self.title if len(self.title) <= width else self.short

    @property
    def signed(self) -> bool:
        """Whether the gap is one signed number, so that its interval has a sign too."""
        return False

    @property
    def highest(self) -> float:
        """The most the gap can be."""
        return float("inf")

    @property
    def most(self) -> float:
        """The most the value can be."""
        return self.highest


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


def shares(counts: Counts, rates: Sequence[str]) -> Profile:
    """Rates of every group, one component each."""
    values, people = (np.stack([of(counts, rate) for rate in rates], axis=-2) for of in (share, trials))
    return Profile(values, people)


@dataclass(frozen=True, kw_only=True)
class RateMeasure(Measure):
    """A disparity between rates of a decision, or of score bins."""

    components: tuple[str, ...]
    """Names of what is compared: rates, unless `other` says what; empty for score bins."""
    other: Callable[[Counts], Profile] | None = None
    """What is compared, where it is not the rates named."""
    levels: Literal["decision", "bins"] = "decision"
    rests_on: tuple[str, ...] = ()
    """The rates that must exist, where they are not the components themselves."""

    def profile(self, counts: Counts) -> Profile:
        """What is compared, of every group."""
        return shares(counts, self.components) if self.other is None else self.other(counts)

    @property
    def signed(self) -> bool:
        return self.scale == "difference" and len(self.components) == 1

    @property
    def highest(self) -> float:
        return float("inf") if self.scale == "ratio" or self.rests_on else 1.0  # a ratio has no bound, a rate has


Summary = tuple[str, float, float, float]
"""A name, its value for the group and for the reference (NaN if it belongs to both), and the difference."""


@dataclass(frozen=True, kw_only=True)
class ScoreMeasure(Measure):
    """A disparity between the scores of two groups: the norm of a curve."""

    page: str = "score-bias"
    curve: Callable[[Any, ScoreOptions, Curve | None], Curve]
    """From counts at every score (or from `view` of them); the last argument is `grid` for resamples, else None."""
    view: Callable[[ScoreCounts, ScoreOptions], Counts] | None = None
    """Counts by calibration bin, for measures that work on these."""
    grid: Callable[[ScoreCounts, ScoreOptions], Curve] | None = None
    """Where resampled curves are compared, for curves whose own points depend on the counts."""
    labels: tuple[int, ...] = ()
    """Labels that people of both groups must have."""
    classes: int = 1
    """How many classes of people are compared, each on its own: the curves of all are joined."""
    ranked: bool = False
    """Whether only the order of scores matters."""
    smooth: bool = False
    """Whether it needs a density of each group."""
    order: float = 1.0
    """p of the norm."""
    information: bool = False
    """Whether it is information about the group: a squared norm, and no more than the shares of the groups allow."""
    groups: int = 2
    """How many groups it compares; only information is about more than two."""
    directed: bool = True
    """Whether the sign of the curve tells who is favoured."""
    single: bool = False
    """Whether the curve is one point, the difference of the first of its `summaries`."""
    variances: Callable[[ScoreCounts], tuple[Floats, Floats]] | None = None
    """Of such a point that is no difference of means: what its variance is the sum of, and the people of each part."""
    resolution: Callable[..., float] | None = None
    """How far the value may be from the exact one where scores are known in ranges; None if nobody can tell. From
    counts and options, and of ROC and calibration bias from the order `p` of the norm, too."""
    signed_resolution: Callable[[ScoreCounts, ScoreOptions], float] | None = None
    """The same of its signed sum, where that is not bounded by the one of the value."""
    summaries: Callable[[ScoreCounts, ScoreOptions], list[Summary]] | None = None
    """Means, mean ranks or areas: the signed lower bound and what it is the difference of."""
    split: Callable[[ScoreCounts, ScoreOptions], Curve] | None = None
    """The curve with its weights by whose scores the thresholds are, of separation biases by rank."""

    @property
    def signed(self) -> bool:
        return self.single

    @property
    def of_cdfs(self) -> bool:
        """Whether it is a distance of two CDFs over the score range, which no other group or weight enters."""
        own_points = self.view is not None or self.grid is not None
        return not (own_points or self.ranked or self.single)

    def of(self, counts: ScoreCounts, options: ScoreOptions) -> Curve:
        """The exact curve."""
        return self.curve(counts if self.view is None else self.view(counts, options), options, None)

    def value(self, curve: Curve) -> Floats:
        """The number, from the curve."""
        return self.outward(curve.norm(self.order))

    def tolerance_for(self, counts: ScoreCounts) -> float:
        """The tolerance for these groups; the one stated for information is for two groups of equal size.

        A group whose total variation from all others together is d tells at least 2d² P(g) (1 − P(g))².
        """
        if not self.information:
            return self.tolerance
        share = counts.sizes() / counts.sizes().sum()
        return float(4 * (share * (1 - share) ** 2).sum()) * self.tolerance

    def outward(self, size: Floats) -> Floats:
        """From the scale of the norm to that of the measure."""
        if self.scale == "ratio":
            return 1 - size
        return size * size if self.information else size

    def outward_interval(self, lo: float, hi: float) -> tuple[float, float]:
        """An interval on the scale of the measure; 1 minus a norm turns it round."""
        ends = sorted(float(self.outward(np.asarray(end))) for end in (lo, hi))
        return ends[0], ends[1]

    def off(self, counts: ScoreCounts, options: ScoreOptions) -> float:
        """How far the value may be from the exact one: 0 where all scores are, ∞ if nobody can tell."""
        if counts.wide is None or not counts.wide.any():
            return 0.0
        return np.inf if self.resolution is None else self.resolution(counts, options)

    def signed_off(self, counts: ScoreCounts, options: ScoreOptions) -> float:
        """How far the signed sum may be from the exact one."""
        of_sum = self.signed_resolution or self.resolution
        return replace(self, resolution=of_sum).off(counts, options)

    def inward(self, value: float) -> float:
        """From the measure back to the norm."""
        if self.scale == "ratio":
            return 1 - value
        return float(np.sqrt(value)) if self.information else value

    @property
    def most(self) -> float:
        return 1.0 if self.scale == "ratio" else float(self.outward(np.asarray(self.highest)))

    @property
    def highest(self) -> float:
        """The most the norm can be."""
        if self.smooth:
            return float(np.sqrt(np.log(self.groups))) if self.information else 2.0
        return float(self.classes ** (1 / self.order))


SLACK = 1e-12
"""0.4 − 0.3 is 0.10000000000000003 in a computer, and keeps to 0.1 for everybody else."""


def sized(m: Measure, value: Any) -> Floats:
    """A gap without its direction: its magnitude, of a ratio the lower rate over the higher.

    >>> from evenhand.measures.registry import MEASURES
    >>> sized(MEASURES["demographic_parity"], -0.25).tolist(), sized(MEASURES["disparate_impact"], [0.5, 2.0]).tolist()
    (0.25, [0.5, 0.5])
    """
    value = np.asarray(value, np.float64)
    if m.scale != "ratio":
        return np.asarray(np.abs(value))
    with np.errstate(divide="ignore"):
        return np.where(np.isnan(value), np.nan, np.minimum(value, 1 / np.maximum(value, 0.0)))


def worst_of_interval(m: Measure, ci: Pair) -> float:
    """The size furthest from parity that an interval holds."""
    ends = sized(m, ci)
    return float(ends.min() if m.scale == "ratio" else ends.max())
