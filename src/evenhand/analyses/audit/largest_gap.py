"""One measure on one grouping → the two groups that differ most, and the mean over all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.audit.gaps import Gap, Known, RateGap, ScoreGap, in_a_line, passes
from evenhand.analyses.audit.left_out import left_out as people_left_out
from evenhand.errors import shown_name
from evenhand.inference import interval
from evenhand.inference.null import Null, apart_by, null_of, permuted_within, rate_outward, recentred, share_at_least
from evenhand.inference.permutation import permuted
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.inference.settings import NullKind
from evenhand.measures.registry import Profile, RateMeasure, ScoreMeasure
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.dense import Counts

MOST_INCOMPARABLE = 100
NORM = "bootstrap of the norm"
PAIRS = "exact intervals of all pairs"


@dataclass(frozen=True, repr=False)
class LargestGap(Known):
    """The pair of groups that differ most by one measure."""

    id: str
    tolerance: float
    pair: tuple[str, str] | None = None
    """The group with the higher rate first; of a score-level measure, the one its sign favours."""
    value: float = np.nan
    ci: Pair | None = None
    method: str | None = None
    passes: bool | None = None
    undefined: str | None = None
    left_out: tuple[str, ...] = ()
    """Groups for which the measure is undefined."""
    mean: float | None = None
    """The mean gap over all pairs of groups, where a gap is one number."""
    ci_mean: Pair | None = None
    null: Null | None = None
    """What chance alone shows of the largest gap, when all groups are alike."""
    signed: float | None = None
    """First of the pair minus second, where a single sign exists."""
    positive_share: float | None = None
    """How much of the gap favours the first of the pair, of a score-level measure."""
    resolution: float = 0.0
    """How far the value may be from the exact one, because scores are known in ranges."""
    smoothing: float | None = None
    """What the two bandwidths alone would show of groups that are alike, of a measure of densities."""
    unjudged: str | None = None
    """Why a value is not held to its tolerance."""
    incomparable: tuple[Gap, ...] = ()
    """Pairs that cannot be compared though both groups have the measure; the first hundred of them."""
    bounds: Pair | None = None
    """Between what the value would lie if everybody could be compared; None if all who matter were."""
    lacking: str | None = None
    """Why there are such bounds."""

    def __repr__(self) -> str:
        """The pair, the value and its interval, and whether it keeps to its tolerance, in a line."""
        pair = "" if self.pair is None else f", {' and '.join(map(shown_name, self.pair))}"
        return f"{self.id}{pair}: {in_a_line(self, self.value, False)}"

    @property
    def excess(self) -> float | None:
        """The value minus what chance alone shows on average."""
        return None if self.null is None else self.value - self.null.mean


def with_nulls(largest: Mapping[str, LargestGap], nulls: Mapping[str, Null]) -> dict[str, LargestGap]:
    """Every largest gap that has a value with what chance alone shows of it."""
    return {id_: one if one.undefined else _with_null(one, nulls[id_]) for id_, one in largest.items()}


def _with_null(one: LargestGap, null: Null) -> LargestGap:
    """With what chance alone shows; of densities that may keep a value from being held to its tolerance."""
    one = replace(one, null=null)
    because = one.by_size(one.tolerance)
    return one if because is None else replace(one, passes=None, unjudged=because)


def smoothed_rates(levels: str, counts: Counts) -> Floats:
    """Half a person more in each cell of a group, or of a bin, so that a rate of 0 or 1 is not taken for certain."""
    return smoothed(counts, np.full(counts.array.shape, 0.5), within=(-3, -1) if levels == "decision" else (-1,))


def resampled_ranges(
    measures: list[RateMeasure], counts: Counts, draws: int, rng: np.random.Generator, stratified: bool = False
) -> dict[str, Floats]:
    """For each measure how far the profiles of all groups moved apart in each resample, at most and on average.

    Arrays (draws, 2).
    """
    population = smoothed_rates(measures[0].levels, counts)
    centre = Counts(population, counts.groups)
    observed = {m.id: _comparable(m, m.profile(counts).values) for m in measures}
    middle = {m.id: _log(m, m.profile(centre).values) for m in measures}
    out: dict[str, list[Floats]] = {m.id: [] for m in measures}
    for batch in bootstrap(counts, draws, rng, population, stratified):
        for m in measures:
            profile = m.profile(batch)
            with np.errstate(invalid="ignore"):
                move = _log(m, profile.values) - middle[m.id]
            # a group that lost the people of a rate may have moved as far as a rate can, a ratio without end
            worst = np.full_like(middle[m.id], np.inf)
            if m.scale == "difference" and profile.trials is not None:
                worst = np.where(middle[m.id] >= 0.5, -middle[m.id], 1 - middle[m.id])
            move = np.where(np.isnan(move), worst, move)
            move = np.where(np.isnan(observed[m.id]), np.nan, move)
            out[m.id].append(np.stack([_range(move).max(-1), mean_gap(move[..., 0, :])], axis=-1))
    return {id_: np.concatenate(pieces) for id_, pieces in out.items()}


def range_nulls(
    measures: Sequence[RateMeasure],
    counts: Counts,
    kind: NullKind,
    draws: int,
    rng: np.random.Generator,
    confidence: float,
) -> dict[str, Null]:
    """What chance alone shows of the largest gap between several groups, whose labels are permuted among all people."""
    nulls = {}
    for within in ("all", "label", "level"):
        members = [m for m in measures if permuted_within(m, kind) == within]
        random = deepcopy(rng)  # so that a measure alone has the p-value it has among others
        pieces: dict[str, list[Profile]] = {m.id: [] for m in members}
        for block in permuted(counts, draws, random, within) if members else ():
            for m in members:
                pieces[m.id].append(m.profile(block))
        for m in members:
            plain = replace(m, scale="difference")  # see null.rate_null
            sizes = np.concatenate([_tested(plain, counts, one) for one in pieces[m.id]])
            spread = np.concatenate([_spread(m, counts, one.values) for one in pieces[m.id]])
            observed = float(_tested(plain, counts, m.profile(counts)))
            nulls[m.id] = null_of(
                observed, spread, f"{draws} permutations", confidence, outward=rate_outward(m),
                p_value=share_at_least(sizes, observed), highest=m.highest,
            )  # fmt: skip
    return nulls


def _tested(m: RateMeasure, counts: Counts, profile: Profile) -> Floats:
    """What permuted tables are compared by."""
    return apart_by(m, profile) if m.levels == "bins" else _spread(m, counts, profile.values)


def recentred_range(m: RateMeasure, counts: Counts, moved: Floats, confidence: float) -> Null:
    """The same where group labels cannot be permuted: how far rates move apart in resamples."""
    observed = float(_spread(m, counts, m.profile(counts).values))
    moved = moved * interval.student(_fewest(m, counts), confidence)
    return recentred(observed, moved, confidence, m.highest, rate_outward(m))


def _fewest(m: RateMeasure, counts: Counts) -> float:
    """The people that the least known rate rests on: of predictive values, only those selected."""
    fewest, profile = float(counts.people().min()), m.profile(counts)
    for one in (profile.quotient or (profile,)) if m.levels == "decision" else ():
        assert one.trials is not None
        fewest = float(one.trials.min(where=~np.isnan(one.values), initial=fewest))
    return fewest


def _spread(m: RateMeasure, counts: Counts, values: Floats) -> Floats:
    """How far the profiles of all groups are apart; groups for which the measure is undefined stand aside."""
    gone = np.isnan(_comparable(m, m.profile(counts).values))
    with np.errstate(invalid="ignore"):
        spread = _range(_log(m, np.where(gone, np.nan, values))).max(-1)
    lost = (np.isnan(values) & ~gone).any((-2, -1))
    return np.where(lost, np.nan, spread) if m.levels == "decision" else spread


def _comparable(m: RateMeasure, values: Floats) -> Floats:
    """Profiles with a group blanked out entirely when one of its rates is undefined (but not for bins)."""
    if m.levels == "bins":
        return values
    return np.where(np.isnan(values).any(-2, keepdims=True), np.nan, values)


def _log(m: RateMeasure, values: Floats) -> Floats:
    if m.scale == "difference":
        return values
    with np.errstate(divide="ignore"):
        return np.log(values)


def _range(values: Floats, nothing: float = 0.0) -> Floats:
    """Highest minus lowest over groups, undefined ones aside; `nothing` where fewer than two are defined."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        spread = np.where(known, values, -np.inf).max(-1) - np.where(known, values, np.inf).min(-1)
    return np.where(known.sum(-1) >= 2, spread, nothing)


def mean_gap(values: Floats) -> Floats:
    """Mean |difference| over all pairs of groups, undefined ones aside: a sum over sorted values."""
    ordered = np.sort(values, axis=-1)  # NaN last
    n = (~np.isnan(values)).sum(-1, keepdims=True)
    place = np.arange(values.shape[-1])
    factor = np.where(place < n, 2 * place - n + 1, 0)
    with np.errstate(invalid="ignore"):
        total = np.where(factor != 0, ordered * factor, 0.0).sum(-1)
    return np.asarray(total / np.maximum(n * (n - 1) / 2, 1)[..., 0])


def largest_gap(
    m: RateMeasure, counts: Counts, confidence: float, ranges: Floats | None, spanning: bool = False
) -> LargestGap:
    """The two groups that differ most, among those for which the measure is defined.

    `ranges` are those of `resampled_ranges`. With `spanning` some cluster has people of several groups; the interval
    takes groups for independent, and is then widened by that of the resamples.
    """
    profile = m.profile(counts)
    values = _comparable(m, profile.values)
    gone = np.isnan(values).all(0)
    left_out = tuple(counts.groups[g] for g in np.flatnonzero(gone))
    if (~np.isnan(values)).sum(-1).max() < 2:
        because = "because fewer than two groups have the rates it compares"
        return LargestGap(m.id, m.tolerance, undefined=because, left_out=left_out)
    spread = _range(values, nothing=-1.0)
    k = int(np.argmax(spread))
    high, low = _ends(values[k])
    pair = counts.groups[high], counts.groups[low]
    if m.scale == "ratio" and values[k, high] == 0:
        because = "because nobody receives the favourable decision"
        return LargestGap(m.id, m.tolerance, undefined=because, left_out=left_out)
    value = float(values[k, low] / values[k, high]) if m.scale == "ratio" else float(spread[k])
    ci, method = _all_pairs(m, profile, values, confidence), PAIRS
    highest = np.inf if profile.trials is None else 1.0
    if ranges is not None and spanning:
        other = _resampled_pair(m, value, ranges[:, 0], confidence, highest)
        ci, method = (min(ci[0], other[0]), max(ci[1], other[1])), f"{PAIRS}, widened by the bootstrap"
    out = people_left_out(counts) if m.levels == "bins" else None
    bounds, lacking = None, None
    if out is not None:
        ci, bounds, lacking = (ci[0], 1.0), out.bounds(value), out.because
    within = passes(m, value, bounds or (value, value), m.tolerance)
    mean, ci_mean = None, None
    if m.signed:
        mean = float(mean_gap(values[0]))
        ci_mean = None if ranges is None else interval.norm(mean, ranges[:, 1], confidence, highest)
    return LargestGap(
        m.id, m.tolerance, pair, value, ci, method, within,
        left_out=left_out, mean=mean, ci_mean=ci_mean,
        signed=float(values[k, high] - values[k, low]) if len(values) == 1 else None,
        incomparable=_incomparable(m, values, counts.groups), bounds=bounds, lacking=lacking,
        unjudged=lacking if within is None else None,
    )  # fmt: skip


def _ends(values: Floats) -> tuple[int, int]:
    """The groups with the highest and the lowest value; two different ones even if all are alike."""
    high, low = int(np.nanargmax(values)), int(np.nanargmin(values))
    return high, low if low != high else int(np.flatnonzero(~np.isnan(values))[-1])


def _incomparable(m: RateMeasure, values: Floats, groups: Sequence[str]) -> tuple[Gap, ...]:
    """Pairs of groups, each with people in some score bin, that share none."""
    known = ~np.isnan(values)
    pairs: list[Gap] = []
    for g in np.flatnonzero(known.any(0)).tolist():
        apart = np.flatnonzero(known[:, :g].any(0) & ~known[known[:, g], :g].any(0))
        because = "because no score bin holds people of both groups"
        pairs += [RateGap.without_value(m, groups[g], groups[other], because) for other in apart.tolist()]
        if len(pairs) >= MOST_INCOMPARABLE:
            break
    return tuple(pairs[:MOST_INCOMPARABLE])


def _all_pairs(m: RateMeasure, profile: Profile, values: Floats, confidence: float) -> Pair:
    """The interval of the largest gap, from an interval of every group's values."""
    compared = (~np.isnan(values)).sum(-1)
    alone = _limits(m, profile, confidence)
    # components rest on different people, so their levels multiply
    each = confidence ** (1 / max(int((compared >= 2).sum()), 1))
    together = _limits(m, profile, interval.of_all_pairs(int(compared.max()), each))
    rows = range(len(values))
    on_scale = _log(m, values)
    least = max(interval.largest_pair(on_scale[k], together[0][k], together[1][k])[0] for k in rows)
    most = max(interval.largest_pair(on_scale[k], alone[0][k], alone[1][k])[1] for k in rows)
    if m.scale == "ratio":
        return float(np.exp(-most)), float(np.exp(-least))
    return least, min(most, m.highest)


def _limits(m: RateMeasure, profile: Profile, confidence: float) -> interval.Interval:
    """Exact limits, because Wilson's are too narrow for the rare errors of a handful of people."""
    if profile.quotient is not None:
        part, whole = profile.quotient
        assert part.trials is not None
        assert whole.trials is not None
        return interval.ratio_of_shares(part.values, part.trials, whole.values, whole.trials, confidence)
    assert profile.trials is not None
    lo, hi = interval.exact(profile.values, profile.trials, confidence)
    return _log(m, lo), _log(m, hi)


def _resampled_pair(m: RateMeasure, value: float, moved: Floats, confidence: float, highest: float) -> Pair:
    """The same from how far groups moved apart in resamples. On the log scale the smallest ratio is a range too."""
    if m.scale == "difference":
        return interval.norm(value, moved, confidence, highest)
    if value == 0:
        return 0.0, 1.0
    least, most = interval.norm(-np.log(value), moved, confidence)
    return float(np.exp(-most)), float(np.exp(-least))


def largest_distance(
    m: ScoreMeasure,
    gaps: Sequence[ScoreGap],
    distances: Sequence[Floats | None],
    confidence: float,
    tested: bool = False,
) -> LargestGap:
    """The two groups whose scores differ most, and the mean over pairs, from the comparison of every pair.

    A maximum of norms changes by no more than the largest change of one; pairs were resampled apart, which makes that
    a little larger than it is. A mean of norms changes by no more than the mean of the changes, here at their worst.
    `tested` asks for a p-value from these changes, where group labels cannot be permuted.
    """
    pair = _largest_pair(m, gaps)
    moved = [d for gap, d in zip(gaps, distances, strict=True) if gap.undefined is None and d is not None]
    if not moved:
        return pair
    largest, draws = m.inward(pair.value), min(map(len, moved))
    farthest = np.max([d[:draws] for d in moved], axis=0)
    ci = m.outward_interval(*interval.norm(largest, farthest, confidence, m.highest))
    if pair.bounds is not None:
        low, high = (end - pair.value for end in pair.bounds)
        ci = max(ci[0] + low, 0.0), min(ci[1] + high, m.highest)
    if pair.resolution:
        ci = interval.widened(ci, pair.resolution, 0.0, m.most) or ci
    p = 2 if m.information else 1  # a mean of squares is the square of a norm
    size, move = (
        float(np.mean(np.power(numbers, p)) ** (1 / p))
        for numbers in (
            [m.inward(gap.value) for gap in gaps if gap.undefined is None],
            [interval.upper_quantile(d, confidence) for d in moved],
        )
    )
    ci_mean = m.outward_interval(max(size - move, 0.0), min(size + move, m.highest))
    if pair.resolution:
        off = float(np.mean([gap.resolution for gap in gaps if gap.undefined is None]))
        ci_mean = interval.widened(ci_mean, off, 0.0, m.most) or ci_mean
    pair = replace(pair, ci=ci, method=NORM, ci_mean=ci_mean)
    return _with_null(pair, recentred(largest, farthest, confidence, m.highest, m.outward)) if tested else pair


def _all_pass(gaps: Sequence[Gap]) -> bool | None:
    """Whether all gaps are within their tolerances; None if that is not known."""
    words = [gap.passes for gap in gaps]
    return False if False in words else None if None in words else True


def _largest_pair(m: ScoreMeasure, gaps: Sequence[ScoreGap]) -> LargestGap:
    """The largest of gaps, without an interval."""
    defined = [gap for gap in gaps if gap.undefined is None]
    present = {name for gap in defined for name in (gap.group, gap.reference)}
    names = dict.fromkeys(name for gap in gaps for name in (gap.group, gap.reference))
    left_out = tuple(name for name in names if name not in present)
    if not defined:
        return LargestGap(m.id, m.tolerance, undefined="because no two groups can be compared", left_out=left_out)
    worst = max(defined, key=lambda gap: m.inward(gap.value))
    pair, favoured = (worst.group, worst.reference), worst.positive_share
    if (worst.signed or 0) < 0:
        pair, favoured = pair[::-1], worst.negative_share
    return LargestGap(
        m.id, worst.tolerance, pair, worst.value,
        passes=_all_pass(defined),  # the tolerance of information differs from pair to pair
        unjudged=next((gap.unjudged for gap in defined if gap.unjudged), None) if _all_pass(defined) is None else None,
        smoothing=worst.smoothing,
        # a maximum is off by no more than one of them
        resolution=max(gap.resolution for gap in defined),
        left_out=left_out,
        mean=float(np.mean([gap.value for gap in defined])),
        signed=None if worst.signed is None else abs(worst.signed),
        positive_share=favoured,
        incomparable=tuple(g for g in gaps if g.undefined and present >= {g.group, g.reference})[:MOST_INCOMPARABLE],
        **_of_any(defined),
    )  # fmt: skip


def _of_any(gaps: Sequence[ScoreGap]) -> dict[str, Any]:
    """Between what the largest of gaps would lie if everybody could be compared, and why."""
    known = [gap for gap in gaps if gap.bounds is not None]
    if not known:
        return {}
    ends = np.array([gap.bounds or (gap.value, gap.value) for gap in gaps])
    return {
        "bounds": tuple(ends.max(0).tolist()),
        "lacking": max(known, key=lambda gap: gap.left_out_share or 0).lacking,
    }
