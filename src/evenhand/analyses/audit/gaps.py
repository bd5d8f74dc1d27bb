"""What a gap is: how one group differs from the reference by one measure, of rates or of scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from evenhand.errors import shown_name
from evenhand.inference.bootstrap_interval import Ordinary
from evenhand.inference.null import Null
from evenhand.inference.significance import TestResult
from evenhand.measures.measure import SLACK, sized
from evenhand.measures.practice import NO_TOLERANCE
from evenhand.measures.rates import RATES
from evenhand.measures.registry import Measure, ScoreMeasure, find
from evenhand.report.format import interval, number
from evenhand.tables.arrays import Pair
from evenhand.tables.dense import ScoreBin

if TYPE_CHECKING:
    from evenhand.analyses.audit.roc_parts import RocPart

NOT_SHOWN = 0.05
"""Groups with a larger p-value may be alike."""
MISSED = 3.0
"""A comparison that may miss a gap of three times its tolerance cannot conclude anything."""


@dataclass(frozen=True)
class Part:
    """One component of a gap: a rate, a score bin, or a mean of scores."""

    name: str
    group: float
    reference: float
    difference: float
    ci: Pair | None
    bin: ScoreBin | None = None

    @property
    def where(self) -> str:
        """Of a rate, of a score bin, or of people in words: where it is."""
        if self.bin is not None:
            return str(self.bin)
        return f"in {RATES[self.name].short}" if self.name in RATES else self.name

    @property
    def log_ratio(self) -> float:
        """Of the group's number to that of the reference; infinite where one of them is 0."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.group) - np.log(self.reference))


class Known:
    """How well a value is known, however large the sample: scores may be known in ranges, people not be compared."""

    id: str
    value: float
    undefined: str | None
    null: Null | None
    resolution: float
    bounds: Pair | None
    lacking: str | None
    smoothing: float | None = None

    @property
    def measure(self) -> Measure:
        """The measure that found it."""
        entry = find(self.id)
        assert entry is not None
        return entry

    @property
    def systematic(self) -> float:
        """How much of the interval no larger sample would take away."""
        return self.resolution + (self.smoothing or 0.0)

    def possible(self, times: float = 1.0) -> Pair:
        """Between what the exact value lies, if it may be off by so many times its resolution."""
        low, high = self.bounds or (self.value, self.value)
        if not self.resolution:
            return low, high
        return max(low - times * self.resolution, 0.0), min(high + times * self.resolution, self.measure.most)

    @property
    def open_because(self) -> str | None:
        """Why the exact value may lie elsewhere."""
        if not self.resolution:
            return self.lacking
        ranges = f"because the scores are known in ranges: the value may be off by {self.resolution:.2g}"
        return ranges if self.bounds is None else f"{self.lacking}, and {ranges}"

    def by_size(self, limit: float) -> str | None:
        """Why a value beyond a limit says nothing: groups of these sizes that are alike may show as much.

        A test gives both groups one bandwidth. Where it finds no gap, their own bandwidths make the value.
        """
        if self.undefined or self.smoothing is None or self.value <= limit + SLACK:
            return None
        alike = self.smoothing if self.null is None else self.null.high
        if self.value <= alike:
            return f"because groups of these sizes that are alike show up to {alike:.3g}"
        if self.null is not None and self.null.p_value > NOT_SHOWN:
            return "because with one bandwidth for both groups they are no further apart than groups that are alike"
        return None


class Judged(Known):
    """A value that is held to a tolerance, and tested."""

    tolerance: float
    ci: Pair | None

    @property
    def unjudged(self) -> str | None:
        """Why a value is not held to its tolerance."""
        if self.undefined:
            return None
        if self.tolerance == np.inf:
            return NO_TOLERANCE.format(self.id)
        if passes(self.measure, self.value, self.possible(), self.tolerance) is None:
            return self.open_because
        return self.by_size(self.tolerance)

    @property
    def passes(self) -> bool | None:
        """Whether the value is within tolerance; None if there is none, or it is not known well enough to tell."""
        if self.undefined or self.unjudged:
            return None
        return within_tolerance(self.measure, self.value, self.tolerance)

    @property
    def conclusive(self) -> bool | None:
        """Whether the whole interval is on the side of the verdict."""
        if self.ci is None:
            return None
        if self.unjudged:
            return False
        low, high = tolerated_range(self.measure, self.tolerance)
        if self.passes:
            return low <= self.ci[0] and self.ci[1] <= high
        return self.ci[1] < low or self.ci[0] > high

    @property
    def p_value(self) -> float | None:
        """How often chance alone shows such a gap."""
        return None if self.null is None else self.null.p_value


@dataclass(frozen=True, repr=False)
class Gap(Judged):
    """How one group differs from the reference by one measure: a `RateGap` or a `ScoreGap`."""

    id: str
    group: str
    reference: str
    tolerance: float
    value: float = np.nan
    """The magnitude; for a ratio, group over reference."""
    signed: float | None = None
    """Group minus reference, where a single sign exists."""
    ci: Pair | None = None
    """Of `estimate`."""
    method: str | None = None
    ci_bootstrap: Pair | None = None
    undefined: str | None = None
    """Why there is no value."""
    interpretation: str = ""
    parts: tuple[Part, ...] = ()
    resamples_undefined: int | None = None
    """Resamples in which the gap had no value; they count as infinitely far where the interval can know."""
    null: Null | None = None
    """What chance alone shows, with its distribution."""
    p_adjusted: float | None = None
    """Holm's, of a key measure over all comparisons by key measures; measures that are one number count once."""
    p_adjusted_at_most: bool | None = None
    """Whether Holm's may be smaller than it is, because more permutations could make it so."""
    p_adjusted_bh: float | None = None
    """Benjamini and Hochberg's."""
    exploratory: bool = False
    """Whether it is no key measure of these data, so that its p-values are adjusted over all comparisons."""
    resolution: float = 0.0
    """How far the value may be from the exact one, because scores are known in ranges."""
    detectable: float | None = None
    """The smallest gap that these people would show 80 times of 100; NaN if they cannot show any, None if untested."""
    left_out_share: float | None = None
    """Share of the people in bins (of a ratio, of the thresholds) where the two groups cannot be compared."""
    bounds: Pair | None = None
    """Between what the value would lie if everybody could be compared; None if all who matter were."""
    lacking: str | None = None
    """Why there are such bounds."""
    ci_plain: Pair | None = None
    """The interval as if the reference had been named, where it was chosen as the highest and `ci` allows for that."""

    @classmethod
    def without_value(cls, m: Measure, group: str, reference: str, because: str, **known: Any) -> Self:
        """A comparison that does not exist is listed with its reason, not passed over."""
        sentence = f"{m.title} of {shown_name(group)} against {shown_name(reference)} is undefined {because}."
        return cls(m.id, group, reference, m.tolerance, undefined=because, interpretation=sentence, **known)

    def __repr__(self) -> str:
        """The comparison, the estimate and its interval, and whether it keeps to its tolerance, in a line."""
        whom = f"{self.id}, {shown_name(self.group)} against {shown_name(self.reference)}"
        return f"{whom}: {in_a_line(self, self.estimate, self.measure.signed)}"

    @property
    def scale(self) -> str:
        """difference, or ratio."""
        return self.measure.scale

    @property
    def estimate(self) -> float:
        """What `ci` is the interval of: the signed difference where the measure is one, else `value`."""
        return self.signed if self.signed is not None and self.measure.signed else self.value

    @property
    def size(self) -> float:
        """The value without direction; of a ratio, the lower rate over the higher."""
        return float(sized(self.measure, self.value))

    @property
    def excess(self) -> float | None:
        """The size minus what chance alone shows on average."""
        return None if self.null is None else self.size - self.null.mean

    @property
    def underpowered(self) -> bool | None:
        """Whether even a gap of three times the tolerance could go unnoticed."""
        if self.detectable is None:
            return None
        if self.scale == "ratio":
            return not 1 - self.detectable <= MISSED * (1 - self.tolerance)
        return not self.detectable <= MISSED * self.tolerance


@dataclass(frozen=True, repr=False)
class RateGap(Gap):
    """A gap between rates of a decision, or of score bins."""

    ratio: float | None = None
    """Group over reference, where the measure compares one rate."""
    empty_bins: tuple[str, ...] = ()
    """Score bins that hold nobody of one of the two groups."""
    left_out_bins: tuple[str, ...] = ()
    """Those of them that hold people of the other; `left_out_share` of a group's people are there."""
    tests: tuple[TestResult, ...] = ()
    """Classical tests, of measures that compare one rate."""
    cohens_h: float | None = None

    @property
    def standard_deviations(self) -> float | None:
        """By how many standard deviations two selection rates are apart: the z of the pooled test."""
        base = getattr(self.measure, "base", self.id)
        of = None if base is None else getattr(find(base), "components", None)
        z = next((t.statistic for t in self.tests if t.name == "two-proportion z"), None)
        return z if of == ("selection_rate",) else None

    @property
    def ci_signed(self) -> Pair | None:
        """Of `signed`."""
        return None if self.signed is None else self.ci

    @property
    def worst(self) -> Part | None:
        """Where the two groups differ most, of several rates or score bins: by the ratio, if the measure is one."""
        ratio = self.measure.scale == "ratio"
        return max(self.parts, key=lambda p: abs(p.log_ratio if ratio else p.difference), default=None)


@dataclass(frozen=True, repr=False)
class ScoreGap(Gap):
    """A gap between the scores of two groups, which may favour one group here and the other there."""

    positive: float | None = None
    """What favours the group; None where the measure cannot tell."""
    negative: float | None = None
    """What favours the reference."""
    positive_share: float | None = None
    ci_signed: Pair | None = None
    ci_positive: Pair | None = None
    ci_negative: Pair | None = None
    smoothing: float | None = None
    """What the two bandwidths alone would show of groups that are alike, of a measure of densities."""
    roc_parts: tuple[RocPart, ...] = ()
    """What a separation bias by rank adds up, by whose scores the thresholds are."""

    @property
    def negative_share(self) -> float | None:
        """What favours the reference, as a share of the whole."""
        return None if self.positive_share is None else 1 - self.positive_share


def in_a_line(found: Any, value: float, signed: bool) -> str:
    """A value, its interval, and whether it keeps to its tolerance, with a question mark if the interval does not."""
    if found.undefined:
        return f"undefined {found.undefined}"
    ends = "" if found.ci is None else f" ({interval(found.ci, sign=signed)})"
    word = {True: "within", False: "beyond", None: "not settled"}[found.passes]
    doubt = "" if found.passes is None or getattr(found, "conclusive", None) is not False else "?"
    return f"{number(value, sign=signed, tiny=True)}{ends}, {word}{doubt}"


AnyGap = TypeVar("AnyGap", bound=Gap)


def undefined_gap(m: Measure, group: str, reference: str, because: str) -> Gap:
    """A comparison that does not exist, by any measure."""
    kind = ScoreGap if isinstance(m, ScoreMeasure) else RateGap
    return kind.without_value(m, group, reference, because)


def within_tolerance(m: Measure, value: float, tolerance: float) -> bool:
    """Whether a value is within a tolerance."""
    low, high = tolerated_range(m, tolerance)
    return low - SLACK <= value <= high + SLACK


def passes(m: Measure, value: float, possible: Pair, tolerance: float) -> bool | None:
    """Whether a value is within a tolerance, wherever the exact one may lie; None if that decides."""
    answers = {within_tolerance(m, one, tolerance) for one in (value, *possible)}
    return answers.pop() if len(answers) == 1 else None


def tolerated_range(m: Measure, tolerance: float) -> Pair:
    """Between what values are within a tolerance."""
    return (tolerance, 1 / tolerance) if m.scale == "ratio" else (-tolerance, tolerance)


def with_ordinary(m: Measure, gap: AnyGap, ordinary: Ordinary) -> AnyGap:
    """The gap with an ordinary bootstrap interval, or with its own made wide enough to hold that."""
    ci = ordinary.ci
    if ci is not None:
        least = -m.highest if m.signed else 0.0
        ci = min(max(ci[0], least), m.highest), max(min(ci[1], m.highest), least)
    if not ordinary.hull:
        return replace(gap, ci=ci, ci_bootstrap=ci, method=ordinary.method, resamples_undefined=ordinary.undefined)
    own, other = gap.ci, ci or gap.ci_bootstrap
    if own is None or other is None:
        return gap
    ci = min(other[0], own[0]), max(other[1], own[1])
    return replace(gap, ci=ci, ci_bootstrap=other, method=f"{gap.method}, widened by the bootstrap")


def judged(m: Measure, gap: Gap, text: str, confidence: float, sized: bool = False) -> str:
    """A sentence about a gap, ended by its size, unless that was told, its interval and the verdict."""
    tolerance = f"{m.tolerance:g} to {1 / m.tolerance:g}" if m.scale == "ratio" else f"{gap.tolerance:.3g}"
    if not sized and m.scale == "ratio":
        text += f", a ratio of {gap.value:.3f}"
    elif not sized:
        text += f", a gap of {gap.value:.3f}" if gap.signed is None else f", a difference of {gap.signed:+.3f}"
    ends = "" if gap.ci is None else f" ({100 * confidence:g}% interval {gap.ci[0]:.3f} to {gap.ci[1]:.3f})"
    ends = ends.replace("inf)", "∞)")
    return f"{text}{ends}; {verdict(gap, tolerance)}."


def verdict(gap: Judged, tolerance: str) -> str:
    """On which side of its tolerance a value is, and whether its interval is."""
    if gap.unjudged and gap.tolerance == np.inf:
        return f"not held to a tolerance {gap.unjudged}"
    if gap.unjudged:
        return f"not held to the tolerance of {tolerance} {gap.unjudged}{'' if gap.ci else ', without interval'}"
    words = {
        True: "and so is the whole interval",
        False: "but the interval reaches across it",
        None: "without interval",
    }
    return f"{'within' if gap.passes else 'beyond'} the tolerance of {tolerance}, {words[gap.conclusive]}"
