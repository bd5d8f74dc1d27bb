"""One measure on one grouping → the gap of every group to the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evenhand.errors import shown_name
from evenhand.inference import interval
from evenhand.inference.bootstrap_interval import Ordinary
from evenhand.inference.null import Null, bounded, null_of, rate_size
from evenhand.inference.resample import bootstrap
from evenhand.inference.significance import TestResult
from evenhand.measures.rates import share
from evenhand.measures.registry import BINS, RATES, Measure, Profile, RateMeasure
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.dense import Counts


@dataclass(frozen=True)
class Part:
    """One component of a gap: a rate, or a score bin."""

    name: str
    group: float
    reference: float
    difference: float
    ci: Pair | None


@dataclass(frozen=True)
class Gap:
    """How one group differs from the reference by one measure."""

    id: str
    group: str
    reference: str
    tolerance: float
    scale: str = "difference"
    value: float = np.nan
    """The magnitude; for a ratio, group over reference."""
    signed: float | None = None
    """Group minus reference, where a single sign exists."""
    ratio: float | None = None
    """Group over reference, where the measure compares one rate."""
    ci: Pair | None = None
    """Of the signed difference where the measure is one (`Measure.signed`), else of `value`."""
    method: str | None = None
    ci_bootstrap: Pair | None = None
    ci_signed: Pair | None = None
    positive: float | None = None
    """What favours the group, of a measure of whole scores."""
    negative: float | None = None
    """What favours the reference."""
    positive_share: float | None = None
    negative_share: float | None = None
    ci_positive: Pair | None = None
    ci_negative: Pair | None = None
    passes: bool | None = None
    conclusive: bool | None = None
    """Whether the whole interval is on the side of the verdict."""
    undefined: str | None = None
    interpretation: str = ""
    parts: tuple[Part, ...] = ()
    empty_bins: tuple[str, ...] = ()
    left_out_share: float | None = None
    """Share of the people in bins (of a ratio, of the thresholds) where the two groups cannot be compared."""
    resamples_undefined: int | None = None
    """Resamples in which the gap had no value; they count as infinitely far where the interval can know."""
    null: Null | None = None
    """What chance alone shows, with its distribution."""
    p_adjusted: float | None = None
    """Holm's, over all comparisons of the audit."""
    p_adjusted_bh: float | None = None
    """Benjamini and Hochberg's."""
    detectable: float | None = None
    """The smallest gap that these people would show 80 times of 100; None if they cannot show any."""
    underpowered: bool | None = None
    """Whether even a gap of three times the tolerance could go unnoticed."""
    tests: tuple[TestResult, ...] = ()
    """Classical tests, of measures that compare one rate."""
    cohens_h: float | None = None

    @property
    def p_value(self) -> float | None:
        """How often chance alone shows such a gap."""
        return None if self.null is None else self.null.p_value

    @property
    def excess(self) -> float | None:
        """The value minus what chance alone shows on average; of a ratio, the lower rate over the higher."""
        if self.null is None:
            return None
        lower = min(self.value, 1 / self.value) if self.scale == "ratio" and self.value > 0 else self.value
        return lower - self.null.mean


def gaps(
    measure: RateMeasure,
    counts: Counts,
    reference: int,
    confidence: float,
    resampled: Floats | None,
    ordinary: Mapping[str, Ordinary] | None = None,
) -> list[Gap]:
    """Compare every group with the reference. `resampled` are the statistics of `resampled_gaps`.

    `ordinary` are intervals by group to take instead of the best known ones.
    """
    profile = measure.profile(counts)
    reasons = _reasons(measure, counts, profile, reference)
    intervals = _intervals(measure, profile, reference, confidence)
    found = []
    for g, group in enumerate(counts.groups):
        if g == reference:
            continue
        a, b = profile.values[:, g].tolist(), profile.values[:, reference].tolist()
        empty: tuple[str, ...] = ()
        if measure.levels == "bins":
            empty = tuple(n for n, x, y in zip(component_names(measure), a, b, strict=True) if x != x or y != y)
        because = reasons[g]
        if because:
            found.append(undefined_gap(measure, group, counts.groups[reference], because, empty))
            continue
        gap = _gap(measure, (group, counts.groups[reference]), a, b, intervals.of(g), empty)
        if resampled is not None:
            gap = replace(
                gap,
                ci_bootstrap=_resampled_interval(measure, gap.value, resampled[:, g], confidence),
                resamples_undefined=int(np.isnan(resampled[:, g]).sum()),
            )
        if ordinary is not None:
            gap = with_ordinary(measure, gap, ordinary[group])
        found.append(replace(gap, interpretation=_sentence(measure, gap, a, b, confidence)))
    return found


def with_ordinary(m: Measure, gap: Gap, found: Ordinary) -> Gap:
    """The gap with an ordinary bootstrap interval, and the verdict that it gives."""
    ci = found.ci
    if ci is not None:
        least = -m.highest if m.signed else 0.0
        ci = min(max(ci[0], least), m.highest), max(min(ci[1], m.highest), least)
    if found.hull:
        return _widened(m, gap, ci or gap.ci_bootstrap)
    passes, conclusive = verdict(m, gap.value, ci, gap.tolerance)
    return replace(
        gap,
        ci=ci,
        ci_bootstrap=ci,
        ci_signed=ci if m.signed else gap.ci_signed,
        method=found.method,
        resamples_undefined=found.undefined,
        passes=passes,
        conclusive=conclusive,
    )


def _widened(m: Measure, gap: Gap, by: Pair | None) -> Gap:
    """The gap with an interval that also holds another one."""
    if by is None or gap.ci is None:
        return gap
    ci = min(by[0], gap.ci[0]), max(by[1], gap.ci[1])
    passes, conclusive = verdict(m, gap.value, ci, gap.tolerance)
    signed = ci if m.signed else gap.ci_signed
    method = f"{gap.method}, widened by the bootstrap"
    return replace(gap, ci=ci, ci_bootstrap=by, ci_signed=signed, method=method, passes=passes, conclusive=conclusive)


@dataclass(frozen=True)
class _Intervals:
    """Intervals against the reference: of each component (component, group), and of the gap (group)."""

    components: interval.Interval
    gap: interval.Interval
    method: str

    def of(self, g: int) -> tuple[list[Pair], Pair, str]:
        lo, hi = (limits[:, g].tolist() for limits in self.components)
        return list(zip(lo, hi, strict=True)), (float(self.gap[0][g]), float(self.gap[1][g])), self.method


def _intervals(m: RateMeasure, profile: Profile, r: int, confidence: float) -> _Intervals:
    a, b = profile.values, profile.values[:, [r]]
    if m.scale == "ratio":
        assert profile.trials is not None
        both = interval.ratio_of_shares(a, profile.trials, b, profile.trials[:, [r]], confidence)
        return _Intervals(both, (both[0][0], both[1][0]), "log ratio")
    # Simultaneous over components: these rest on different people, so their levels multiply.
    defined = np.isfinite(a - b).sum(0)
    each = confidence ** (1 / np.maximum(defined, 1))
    lo, hi = _limits(profile, each)
    ref_lo, ref_hi = _limits(profile.only(r), each)
    both = interval.difference(a, (lo, hi), b, (ref_lo, ref_hi))
    if len(a) > 1:
        largest = interval.largest_difference(both[0].T, both[1].T)
        return _Intervals(both, largest, "simultaneous Newcombe")
    method = "Newcombe" if profile.trials is not None else "log ratios, square-and-add"
    return _Intervals(both, (both[0][0], both[1][0]), method)


def _gap(
    m: RateMeasure,
    names: tuple[str, str],
    a: list[float],
    b: list[float],
    intervals: tuple[list[Pair], Pair, str],
    empty: tuple[str, ...],
) -> Gap:
    each, ci, method = intervals
    differences = [x - y for x, y in zip(a, b, strict=True)]
    ratio = a[0] / b[0] if len(a) == 1 and b[0] > 0 else None
    value = max(abs(d) for d in differences if d == d)
    if m.scale == "ratio":
        assert ratio is not None
        value = ratio
    passes, conclusive = verdict(m, value, ci)
    parts: tuple[Part, ...] = ()
    if len(a) > 1:
        columns = zip(component_names(m), a, b, differences, each, strict=True)
        parts = tuple(Part(*column) for column in columns if column[3] == column[3])
    return Gap(
        m.id,
        *names,
        m.tolerance,
        m.scale,
        value=value,
        signed=differences[0] if m.signed else None,
        ratio=ratio,
        ci=ci,
        ci_signed=ci if m.signed else None,
        method=method,
        passes=passes,
        conclusive=conclusive,
        parts=parts,
        empty_bins=empty,
    )


def undefined_gap(m: Measure, group: str, reference: str, because: str, empty: tuple[str, ...] = ()) -> Gap:
    """A comparison that does not exist is listed with its reason, not passed over."""
    sentence = f"{m.title} of {shown_name(group)} against {shown_name(reference)} is undefined {because}."
    return Gap(
        m.id, group, reference, m.tolerance, m.scale, undefined=because, interpretation=sentence, empty_bins=empty
    )


def _reasons(m: RateMeasure, counts: Counts, profile: Profile, reference: int) -> list[str | None]:
    """For each group why its comparison with the reference does not exist, in words, or None."""
    values = profile.values
    if m.levels == "bins":
        apart = np.isnan(values - values[:, [reference]]).all(0)
        return ["because no score bin holds people of both groups" if a else None for a in np.asarray(apart)]
    own: list[str | None] = [None] * len(counts.groups)
    rates = m.rests_on or m.components
    for rate in reversed(rates):
        for g in np.flatnonzero(np.isnan(share(counts, rate))):
            own[g] = f"because group {shown_name(counts.groups[g])} {RATES[rate].empty}"
    for g in np.flatnonzero(np.isnan(values).any(0)):
        own[g] = own[g] or f"because group {shown_name(counts.groups[g])} has a {RATES[rates[-1]].title} of 0"
    if m.scale == "ratio" and values[0, reference] == 0:
        own[reference] = f"because the {RATES[rates[0]].title} of {shown_name(counts.groups[reference])} is 0"
    return [reason or own[reference] for reason in own]


def _limits(profile: Profile, confidence: interval.Number) -> interval.Interval:
    """An interval for every value of a profile."""
    if profile.quotient is None:
        assert profile.trials is not None
        return interval.wilson(profile.values, profile.trials, confidence)
    part, whole = profile.quotient
    assert part.trials is not None
    assert whole.trials is not None
    return interval.ratio_of_shares(part.values, part.trials, whole.values, whole.trials, confidence)


def component_names(m: RateMeasure) -> tuple[str, ...]:
    return m.components or tuple(f"bin {k + 1}" for k in range(BINS))


def verdict(m: Measure, value: float, ci: Pair | None, tolerance: float | None = None) -> tuple[bool, bool | None]:
    """Whether the value is within tolerance, and whether all of its interval agrees."""
    limit = m.tolerance if tolerance is None else tolerance
    inside = (limit, 1 / limit) if m.scale == "ratio" else (-limit, limit)
    # 0.4 − 0.3 is 0.10000000000000003 in a computer, and within a tolerance of 0.1 for everybody else
    passes = inside[0] - 1e-12 <= value <= inside[1] + 1e-12
    if ci is None:
        return passes, None
    if passes:
        return passes, inside[0] <= ci[0] and ci[1] <= inside[1]
    return passes, ci[1] < inside[0] or ci[0] > inside[1]


def _sentence(m: RateMeasure, gap: Gap, a: list[float], b: list[float], confidence: float) -> str:
    group, reference = shown_name(gap.group), shown_name(gap.reference)
    if len(a) == 1:
        direction = m.more if a[0] > b[0] else m.less
        alike = a[0] == b[0]
        text = f"{group} and {reference} are alike" if alike else f"{group} {direction} than {reference}"
        text += f": {a[0]:.3f} against {b[0]:.3f}"
    else:
        worst = max(gap.parts, key=lambda p: abs(p.difference))
        what = worst.name.upper() if m.levels == "decision" else f"score {worst.name}"
        text = f"{group} and {reference} differ most in {what}: {worst.group:.3f} against {worst.reference:.3f}"
    return judged(m, gap, text, confidence)


def judged(m: Measure, gap: Gap, text: str, confidence: float, sized: bool = False) -> str:
    """A sentence about a gap, ended by its size, unless that was told, its interval and the verdict."""
    limit = f"{m.tolerance:g} to {1 / m.tolerance:g}" if m.scale == "ratio" else f"{gap.tolerance:.3g}"
    if not sized and m.scale == "ratio":
        text += f", a ratio of {gap.value:.3f}"
    elif not sized:
        text += f", a gap of {gap.value:.3f}" if gap.signed is None else f", a difference of {gap.signed:+.3f}"
    verdict = f"{'within' if gap.passes else 'beyond'} the tolerance of {limit}"
    if gap.ci is None:
        return f"{text}; {verdict}."
    sure = "and so is the whole interval" if gap.conclusive else "but the interval reaches across it"
    return f"{text} ({100 * confidence:g}% interval {gap.ci[0]:.3f} to {gap.ci[1]:.3f}); {verdict}, {sure}."


def resampled_gaps(
    measures: list[RateMeasure],
    counts: Counts,
    reference: int,
    draws: int,
    rng: np.random.Generator,
    stratified: bool = False,
) -> dict[str, Floats]:
    """For each measure an array (draws, group): what `_resampled_interval` turns into an interval."""
    observed = {m.id: _against(m, m.profile(counts).values, reference) for m in measures}
    out: dict[str, list[Floats]] = {m.id: [] for m in measures}
    for batch in bootstrap(counts, draws, rng, stratified=stratified):
        for m in measures:
            gap = _against(m, m.profile(batch).values, reference)
            if len(observed[m.id]) == 1:
                out[m.id].append(gap[:, 0])
            else:  # a maximum: how far the whole profile moved (see interval.norm)
                out[m.id].append(_largest_move(gap - observed[m.id]))
    return {id_: np.concatenate(pieces) for id_, pieces in out.items()}


def recentred_rate(m: RateMeasure, pair: Counts, draws: int, rng: np.random.Generator, confidence: float) -> Null:
    """What chance alone shows by how far a gap between two groups moves in resamples."""
    plain = replace(m, scale="difference")  # see nulls.rate_null
    moved = resampled_gaps([plain], pair, 1, draws, rng)[m.id][:, 0]
    values = m.profile(pair).values
    if len(values) == 1:
        moved = np.abs(moved - float(values[0, 0] - values[0, 1]))
    observed = float(rate_size(plain, values))
    return null_of(observed, bounded(moved, m.highest), f"{draws} resamples, recentred", confidence, highest=m.highest)


def _against(m: RateMeasure, values: Floats, reference: int) -> Floats:
    base = values[..., [reference]]
    if m.scale == "difference":
        return values - base
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(base > 0, values / base, np.nan)


def _largest_move(moves: Floats) -> Floats:
    """max |move| over components (axis −2), skipping those undefined; NaN if all are."""
    sizes = np.abs(moves)
    known = ~np.isnan(sizes)
    return np.where(known.any(-2), np.where(known, sizes, 0.0).max(-2), np.nan)


def _resampled_interval(m: RateMeasure, value: float, resampled: Floats | None, confidence: float) -> Pair | None:
    """None if resampling is off, or if so many resamples are undefined that the bounds cannot be known."""
    if resampled is None:
        return None
    if m.signed or m.scale == "ratio":
        if not interval.enough(resampled, confidence):
            return None
        lo, hi = interval.percentile(resampled, confidence)
        return float(lo), float(hi)
    return interval.norm(value, resampled, confidence, highest=1.0)
