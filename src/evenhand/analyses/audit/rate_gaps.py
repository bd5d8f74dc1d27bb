"""One measure of rates on one grouping → the gap of every group to the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.analyses.audit.gaps import Part, RateGap, judged, with_ordinary
from evenhand.analyses.audit.left_out import left_out, with_left_out
from evenhand.errors import shown_name
from evenhand.inference import interval
from evenhand.inference.bootstrap_interval import Ordinary
from evenhand.inference.highest import against_highest
from evenhand.inference.null import Null, rate_size, recentred
from evenhand.inference.resample import bootstrap
from evenhand.measures.rates import share
from evenhand.measures.registry import RATES, Profile, RateMeasure
from evenhand.tables.arrays import Floats, Ints, Pair
from evenhand.tables.dense import Counts


def gaps(
    measure: RateMeasure,
    counts: Counts,
    reference: int,
    confidence: float,
    resampled: Floats | None,
    ordinary: Mapping[str, Ordinary] | None = None,
    chosen: bool = False,
) -> list[RateGap]:
    """Compare every group with the reference. `resampled` are the statistics of `resampled_gaps`.

    `ordinary` are intervals by group to take instead of the best known ones. `chosen` says that the reference is what
    it is by its selection rate.
    """
    profile = measure.profile(counts)
    reasons = _reasons(measure, counts, profile, reference)
    bins = counts.bins or (None,) * len(measure.components)
    components = measure.components or tuple(b.name for b in counts.bins)
    each, whole, method = _intervals(measure, profile, reference, confidence)
    plain = whole if chosen and of_selection(measure) else None
    if plain is not None:
        whole = _against_chosen(measure, profile, reference, confidence)
        method += ", against the highest of all"
    compared = []
    for g, group in enumerate(counts.groups):
        if g == reference:
            continue
        names = group, counts.groups[reference]
        a, b = profile.values[:, g].tolist(), profile.values[:, reference].tolist()
        empty = tuple(n for n, x, y in zip(components, a, b, strict=True) if counts.bins and (x != x or y != y))
        because = reasons[g]
        if because:
            compared.append(RateGap.without_value(measure, *names, because, empty_bins=empty))
            continue
        columns = zip(components, a, b, *(ends[:, g].tolist() for ends in each), bins, strict=True)
        parts = [Part(name, x, y, x - y, (lo, hi), one) for name, x, y, lo, hi, one in columns]
        gap = _gap(measure, names, parts, _ends(whole, g), method)
        if plain is not None:
            gap = replace(gap, ci_plain=_ends(plain, g))
        if resampled is not None:
            gap = replace(
                gap,
                ci_bootstrap=_resampled_interval(measure, gap.value, resampled[:, g], confidence),
                resamples_undefined=int(np.isnan(resampled[:, g]).sum()),
            )
        if ordinary is not None:
            gap = with_ordinary(measure, gap, ordinary[group])
        if empty:
            gap = with_left_out(replace(gap, empty_bins=empty), left_out(counts.only([g, reference])))
        compared.append(replace(gap, interpretation=_sentence(measure, gap, a, b, confidence)))
    return compared


def _intervals(
    m: RateMeasure, profile: Profile, r: int, confidence: float
) -> tuple[interval.Interval, interval.Interval, str]:
    """Intervals against the reference, of each component (component, group) and of the gap (group); their method."""
    a, b = profile.values, profile.values[:, [r]]
    if m.scale == "ratio":
        assert profile.trials is not None
        both = interval.ratio_of_shares(a, profile.trials, b, profile.trials[:, [r]], confidence)
        return both, (both[0][0], both[1][0]), "score, corrected for skewness"
    alone = _differences(profile, r, confidence, bounds)
    if len(a) == 1:
        method = "Newcombe" if profile.trials is not None else "score ratios, square-and-add"
        return alone, (alone[0][0], alone[1][0]), method
    # Simultaneous over components: these rest on different people, so their levels multiply. Exact limits, because in
    # one of ten bins there often is one person of a handful with a rare outcome, and Wilson's would leave 0 out.
    together = _differences(profile, r, confidence ** (1 / np.maximum(np.isfinite(a - b).sum(0), 1)), _exact)
    least, _ = interval.largest_difference(together[0].T, together[1].T)
    _, most = interval.largest_difference(alone[0].T, alone[1].T)
    return together, (least, most), "exact limits together, Newcombe alone"


def of_selection(m: RateMeasure) -> bool:
    """Whether it compares selection rates alone, by which the highest group is chosen."""
    return m.components == ("selection_rate",)


def _against_chosen(m: RateMeasure, profile: Profile, r: int, confidence: float) -> interval.Interval:
    """Intervals of the gap (group) to a reference that is the highest of these people."""
    assert profile.trials is not None
    p, n = profile.values[0], profile.trials[0]

    def limits(a: Ints, b: Ints, level: interval.Number) -> interval.Interval:
        if m.scale == "ratio":
            return interval.ratio_of_shares(p[a], n[a], p[b], n[b], level)
        own, other = (interval.wilson(p[g], n[g], level) for g in (a, b))
        return interval.difference(p[a], own, p[b], other)

    return against_highest(limits, p, n, r, confidence)


def _ends(limits: interval.Interval, group: int) -> Pair:
    return float(limits[0][group]), float(limits[1][group])


Limits = Callable[[Profile, interval.Number], interval.Interval]


def _differences(profile: Profile, r: int, confidence: interval.Number, limits: Limits) -> interval.Interval:
    """From the reference, of every component and group, whose values have these limits."""
    own, of_reference = limits(profile, confidence), limits(profile.only(r), confidence)
    return interval.difference(profile.values, own, profile.values[:, [r]], of_reference)


def _exact(profile: Profile, confidence: interval.Number) -> interval.Interval:
    assert profile.trials is not None
    return interval.exact(profile.values, profile.trials, confidence)


def _gap(m: RateMeasure, names: tuple[str, str], parts: Sequence[Part], ci: Pair, method: str) -> RateGap:
    known = tuple(p for p in parts if p.difference == p.difference)
    value, ratio, (first, *more) = max(abs(p.difference) for p in known), None, parts
    if not more and first.reference > 0:
        ratio = first.group / first.reference
    if m.scale == "ratio":
        assert ratio is not None
        value = ratio
    signed = first.difference if m.signed else None
    return RateGap(m.id, *names, m.tolerance, value, signed, ci, method, parts=known if more else (), ratio=ratio)


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


def bounds(profile: Profile, confidence: interval.Number) -> interval.Interval:
    """An interval for every value of a profile."""
    if profile.quotient is None:
        assert profile.trials is not None
        return interval.wilson(profile.values, profile.trials, confidence)
    part, whole = profile.quotient
    assert part.trials is not None
    assert whole.trials is not None
    return interval.ratio_of_shares(part.values, part.trials, whole.values, whole.trials, confidence)


def _sentence(m: RateMeasure, gap: RateGap, a: list[float], b: list[float], confidence: float) -> str:
    group, reference = shown_name(gap.group), shown_name(gap.reference)
    if len(a) == 1:
        direction = m.more if a[0] > b[0] else m.less
        alike = a[0] == b[0]
        text = f"{group} and {reference} are alike" if alike else f"{group} {direction} than {reference}"
        text += f": {a[0]:.3f} against {b[0]:.3f}"
    else:
        assert gap.worst is not None
        rates = f"{gap.worst.group:.3f} against {gap.worst.reference:.3f}"
        what = "favourable rates of " if m.levels == "bins" else ""
        text = f"{group} and {reference} differ most {gap.worst.where}: {what}{rates}"
    text = judged(m, gap, text, confidence)
    return text if gap.lacking is None or gap.unjudged else f"{text} Left out, {gap.lacking}."


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
    plain = replace(m, scale="difference")  # see null.rate_null
    if m.levels == "bins":
        return _recentred_bins(m, pair, draws, rng, confidence)
    moved = resampled_gaps([plain], pair, 1, draws, rng)[m.id][:, 0]
    values = m.profile(pair).values
    if len(values) == 1:
        moved = np.abs(moved - float(values[0, 0] - values[0, 1]))
    observed = float(rate_size(plain, values))
    return recentred(observed, moved, confidence, m.highest)


def _recentred_bins(m: RateMeasure, pair: Counts, draws: int, rng: np.random.Generator, confidence: float) -> Null:
    """The same of score bins, whose gaps count as much as they are known (see null.apart_by)."""
    profile = m.profile(pair)
    assert profile.trials is not None
    both = ~np.isnan(profile.values).any(-1)
    rate, n = profile.values[both], profile.trials[both]
    pooled = ((rate * n).sum(-1) + 0.5) / (n.sum(-1) + 1)
    known = 1 / (pooled * (1 - pooled) * (1 / n).sum(-1))
    gap = rate[:, 0] - rate[:, 1]
    moves = []
    for batch in bootstrap(pair, draws, rng):
        drawn = m.profile(batch).values[..., both, :]
        away = np.nan_to_num(np.abs(drawn[..., 0] - drawn[..., 1] - gap), nan=1.0)
        moves.append((known * away**2).sum(-1))
    return recentred(float((known * gap**2).sum()), np.concatenate(moves), confidence, np.inf)


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


def _resampled_interval(m: RateMeasure, value: float, resampled: Floats, confidence: float) -> Pair | None:
    """None if so many resamples are undefined that the bounds cannot be known."""
    if m.signed or m.scale == "ratio":
        if not interval.enough(resampled, confidence):
            return None
        lo, hi = interval.percentile(resampled, confidence)
        return float(lo), float(hi)
    return interval.norm(value, resampled, confidence, highest=1.0)
