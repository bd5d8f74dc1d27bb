"""One measure on one grouping → the gap of every group to the reference, and the largest gap of all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.inference import interval
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.measures import BINS, RATES, Measure, Profile
from evenhand.measures.rates import share, trials
from evenhand.table import Counts, Floats, shown_name

Pair = tuple[float, float]


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
    value: float
    """The magnitude; for a ratio, group over reference."""
    signed: float | None
    """Group minus reference, where a single sign exists."""
    ratio: float | None
    """Group over reference, where the measure compares one rate."""
    ci: Pair | None
    """Belongs to `signed` where there is one, else to `value`."""
    method: str | None
    ci_bootstrap: Pair | None
    tolerance: float
    passes: bool | None
    conclusive: bool | None
    """Whether the whole interval is on the side of the verdict."""
    undefined: str | None
    interpretation: str
    parts: tuple[Part, ...] = ()
    empty_bins: tuple[str, ...] = ()


@dataclass(frozen=True)
class LargestGap:
    """The pair of groups that differ most by one measure."""

    id: str
    pair: tuple[str, str] | None
    """The group with the higher rate first."""
    value: float
    ci: Pair | None
    method: str | None
    tolerance: float
    passes: bool | None
    undefined: str | None
    left_out: tuple[str, ...] = ()
    """Groups for which the measure is undefined."""


# ---- gaps to the reference -----------------------------------------------------------------------------


def gaps(measure: Measure, counts: Counts, reference: int, confidence: float, resampled: Floats | None) -> list[Gap]:
    """Compare every group with the reference. `resampled` are the statistics of `resampled_gaps`."""
    profile = measure.profile(counts)
    return [
        _gap(measure, counts, profile, g, reference, confidence, None if resampled is None else resampled[:, g])
        for g in range(len(counts.groups))
        if g != reference
    ]


def _gap(
    m: Measure,
    counts: Counts,
    profile: Profile,
    g: int,
    r: int,
    confidence: float,
    resampled: Floats | None,
) -> Gap:
    a, b = profile.values[:, g], profile.values[:, r]
    because = _undefined(m, counts, profile, (g, r))
    names = counts.groups[g], counts.groups[r]
    common = {"id": m.id, "group": names[0], "reference": names[1], "tolerance": m.tolerance}
    empty = tuple(component_names(m)[k] for k in np.flatnonzero(np.isnan(a - b))) if m.levels == "bins" else ()
    if because:
        sentence = f"{m.title} of {shown_name(names[0])} against {shown_name(names[1])} is undefined {because}."
        return Gap(**common, value=np.nan, signed=None, ratio=None, ci=None, method=None, ci_bootstrap=None, passes=None,
                   conclusive=None, undefined=because, interpretation=sentence, empty_bins=empty)  # fmt: skip
    ci, method, parts = _closed_form(m, counts, profile, g, r, confidence)
    ratio = float(a[0] / b[0]) if len(a) == 1 and b[0] > 0 else None
    signed = float(a[0] - b[0]) if m.signed else None
    value = ratio if m.scale == "ratio" else float(np.nanmax(np.abs(a - b)))
    assert value is not None
    passes, conclusive = verdict(m, value, ci)
    return Gap(
        **common,
        value=value,
        signed=signed,
        ratio=ratio,
        ci=ci,
        method=method,
        ci_bootstrap=_resampled_interval(m, value, resampled, confidence),
        passes=passes,
        conclusive=conclusive,
        undefined=None,
        interpretation=_sentence(m, names, a, b, value, ci, passes, conclusive, parts, confidence),
        parts=parts,
        empty_bins=empty,
    )


def _undefined(m: Measure, counts: Counts, profile: Profile, groups: Iterable[int]) -> str | None:
    """Why a comparison of these groups does not exist, in words."""
    groups = tuple(groups)
    values = profile.values
    if m.levels == "bins":
        if np.isnan(values[:, list(groups)]).any(1).all():
            return "because no score bin holds people of both groups"
        return None
    for g in groups:
        name = shown_name(counts.groups[g])
        if m.id == "treatment_equality":
            for rate in ("fnr", "fpr"):
                if np.isnan(share(counts, rate)[g]):
                    return f"because group {name} {RATES[rate].empty}"
            if np.isnan(values[0, g]):
                return f"because group {name} has a false positive rate of 0"
        for k, rate in enumerate(m.components):
            if np.isnan(values[k, g]):
                return f"because group {name} {RATES[rate].empty}"
    if m.scale == "ratio" and values[0, groups[-1]] == 0:
        return f"because the selection rate of {shown_name(counts.groups[groups[-1]])} is 0"
    return None


def _closed_form(
    m: Measure, counts: Counts, profile: Profile, g: int, r: int, confidence: float
) -> tuple[Pair | None, str, tuple[Part, ...]]:
    a, b = profile.values[:, g], profile.values[:, r]
    if m.id == "treatment_equality":
        # FNR and FPR rest on different people, so their ratio has the interval of two independent shares.
        limits = interval.ratio_of_shares(
            share(counts, "fnr"), trials(counts, "fnr"), share(counts, "fpr"), trials(counts, "fpr"), confidence
        )
        lo, hi = interval.difference(a, (limits[0][[g]], limits[1][[g]]), b, (limits[0][[r]], limits[1][[r]]))
        return (float(lo[0]), float(hi[0])), "log ratios, square-and-add", ()
    assert profile.trials is not None
    n_a, n_b = profile.trials[:, g], profile.trials[:, r]
    if m.scale == "ratio":
        lo, hi = interval.ratio_of_shares(a, n_a, b, n_b, confidence)
        return (float(lo[0]), float(hi[0])), "log ratio", ()
    defined = np.isfinite(a - b)
    # Simultaneous over components: these rest on different people, so levels multiply.
    each = confidence ** (1 / defined.sum())
    lo, hi = interval.newcombe(a, n_a, b, n_b, each)
    if len(a) == 1:
        return (float(lo[0]), float(hi[0])), "Newcombe", ()
    names = component_names(m)
    parts = tuple(
        Part(names[k], float(a[k]), float(b[k]), float(a[k] - b[k]), (float(lo[k]), float(hi[k])))
        for k in np.flatnonzero(defined)
    )
    low, high = interval.largest_difference(lo, hi)
    return (float(low), float(high)), "simultaneous Newcombe", parts


def component_names(m: Measure) -> tuple[str, ...]:
    return m.components or tuple(f"bin {k + 1}" for k in range(BINS))


def verdict(m: Measure, value: float, ci: Pair | None) -> tuple[bool, bool | None]:
    """Whether the value is within tolerance, and whether all of its interval agrees."""
    if m.scale == "ratio":
        inside = (m.tolerance, 1 / m.tolerance)
        passes = inside[0] <= value <= inside[1]
    else:
        inside = (-m.tolerance, m.tolerance)
        passes = abs(value) <= m.tolerance
    if ci is None:
        return passes, None
    if passes:
        return passes, inside[0] <= ci[0] and ci[1] <= inside[1]
    return passes, ci[1] < inside[0] or ci[0] > inside[1]


def _sentence(
    m: Measure,
    names: tuple[str, str],
    a: Floats,
    b: Floats,
    value: float,
    ci: Pair | None,
    passes: bool,
    conclusive: bool | None,
    parts: tuple[Part, ...],
    confidence: float,
) -> str:
    group, reference = (shown_name(n) for n in names)
    if len(a) == 1:
        rates = f"{a[0]:.3f} against {b[0]:.3f}"
        if a[0] == b[0]:
            text = f"{group} and {reference} are alike: {rates}"
        else:
            text = f"{group} {m.more if a[0] > b[0] else m.less} than {reference}: {rates}"
        size = f"a ratio of {value:.3f}" if m.scale == "ratio" else f"a difference of {a[0] - b[0]:+.3f}"
    else:
        worst = max(parts, key=lambda p: abs(p.difference))
        what = worst.name.upper() if m.levels == "decision" else f"score {worst.name}"
        text = f"{group} and {reference} differ most in {what}: {worst.group:.3f} against {worst.reference:.3f}"
        size = f"a gap of {value:.3f}"
    limit = f"{m.tolerance:g} to {1 / m.tolerance:g}" if m.scale == "ratio" else f"{m.tolerance:g}"
    judged = f"{'within' if passes else 'beyond'} the tolerance of {limit}"
    if ci is None:
        return f"{text}, {size}; {judged}."
    sure = "and so is the whole interval" if conclusive else "but the interval reaches across it"
    return f"{text}, {size} ({confidence:.0%} interval {ci[0]:.3f} to {ci[1]:.3f}); {judged}, {sure}."


# ---- resampling ------------------------------------------------------------------------------------------


def resampled_gaps(
    measures: list[Measure], counts: Counts, reference: int, draws: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """For each measure an array (draws, group): what `_resampled_interval` turns into an interval."""
    observed = {m.id: _against(m, m.profile(counts).values, reference) for m in measures}
    out: dict[str, list[Floats]] = {m.id: [] for m in measures}
    for batch in bootstrap(counts, draws, rng):
        for m in measures:
            gap = _against(m, m.profile(batch).values, reference)
            if len(observed[m.id]) == 1:
                out[m.id].append(gap[:, 0])
            else:  # a maximum: how far the whole profile moved (see interval.norm)
                out[m.id].append(_largest_move(gap - observed[m.id]))
    return {id_: np.concatenate(pieces) for id_, pieces in out.items()}


def _against(m: Measure, values: Floats, reference: int) -> Floats:
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


def _resampled_interval(m: Measure, value: float, resampled: Floats | None, confidence: float) -> Pair | None:
    """None if resampling is off, or if so many resamples are undefined that the bounds cannot be known."""
    if resampled is None or np.isnan(resampled).mean() > (1 - confidence) / 2:
        return None
    if m.signed or m.scale == "ratio":
        lo, hi = interval.percentile(resampled, confidence)
        return float(lo), float(hi)
    return interval.norm(value, resampled, confidence, highest=1.0)


# ---- the largest gap --------------------------------------------------------------------------------------


def support(m_levels: str, counts: Counts) -> NDArray[Any]:
    """Cells that could hold people: for decisions all of a group, for bins those of a bin with people in it."""
    axes = (-3, -1) if m_levels == "decision" else (-1,)
    return np.broadcast_to(counts.array.sum(axes, keepdims=True) > 0, counts.array.shape)


def resampled_ranges(
    measures: list[Measure], counts: Counts, draws: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """For each measure, how far the profiles of all groups moved apart in each resample: an array (draws,)."""
    where = support(measures[0].levels, counts)
    centre = Counts(smoothed(counts, where), counts.groups)
    observed = {m.id: _comparable(m, m.profile(counts).values) for m in measures}
    middle = {m.id: _log(m, m.profile(centre).values) for m in measures}
    out: dict[str, list[Floats]] = {m.id: [] for m in measures}
    for batch in bootstrap(counts, draws, rng, where):
        for m in measures:
            values = _log(m, m.profile(batch).values)
            with np.errstate(invalid="ignore"):
                move = values - middle[m.id]
            if m.scale == "difference" and m.id != "treatment_equality":
                # a group that lost the people of a rate may have moved as far as a rate can
                worst = np.where(middle[m.id] >= 0.5, -middle[m.id], 1 - middle[m.id])
                move = np.where(np.isnan(move), worst, move)
            move = np.where(np.isnan(observed[m.id]), np.nan, move)
            out[m.id].append(_range(move).max(-1))
    return {id_: np.concatenate(pieces) for id_, pieces in out.items()}


def _comparable(m: Measure, values: Floats) -> Floats:
    """Profiles with a group blanked out entirely when one of its rates is undefined (but not for bins)."""
    if m.levels == "bins":
        return values
    return np.where(np.isnan(values).any(-2, keepdims=True), np.nan, values)


def _log(m: Measure, values: Floats) -> Floats:
    if m.scale == "difference":
        return values
    with np.errstate(divide="ignore"):
        return np.log(values)


def _range(values: Floats) -> Floats:
    """Highest minus lowest over groups, undefined ones aside; 0 where fewer than two are defined."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        spread = np.where(known, values, -np.inf).max(-1) - np.where(known, values, np.inf).min(-1)
    return np.where(known.sum(-1) >= 2, spread, 0.0)


def largest_gap(m: Measure, counts: Counts, confidence: float, ranges: Floats | None) -> LargestGap:
    """The two groups that differ most, among those for which the measure is defined."""
    values = _comparable(m, m.profile(counts).values)
    gone = np.isnan(values).all(0)
    left_out = tuple(counts.groups[g] for g in np.flatnonzero(gone))
    if (~np.isnan(values)).sum(-1).max() < 2:
        because = "because fewer than two groups have the rates it compares"
        return LargestGap(m.id, None, np.nan, None, None, m.tolerance, None, because, left_out)
    spread = _range(values)
    k = int(np.argmax(spread))
    high, low = int(np.nanargmax(values[k])), int(np.nanargmin(values[k]))
    pair = counts.groups[high], counts.groups[low]
    if m.scale == "ratio" and values[k, high] == 0:
        because = "because nobody receives the favourable decision"
        return LargestGap(m.id, None, np.nan, None, None, m.tolerance, None, because, left_out)
    value = float(values[k, low] / values[k, high]) if m.scale == "ratio" else float(spread[k])
    ci = None
    if ranges is not None and (m.scale == "ratio" or np.isfinite(interval.upper_quantile(ranges, confidence))):
        if m.scale == "ratio":
            ci = _ratio_range(value, counts, m, ranges, confidence)
        else:
            top = np.inf if m.id == "treatment_equality" else 1.0
            ci = interval.norm(value, ranges, confidence, highest=top)
    method = None if ci is None else "bootstrap of the norm"
    passes, _ = verdict(m, value, None)
    return LargestGap(m.id, pair, value, ci, method, m.tolerance, passes, None, left_out)


def _ratio_range(value: float, counts: Counts, m: Measure, ranges: Floats, confidence: float) -> Pair:
    """On the log scale the smallest ratio is a range too. A rate of 0 has no logarithm: its smoothed rate has."""
    q = interval.upper_quantile(ranges, confidence)
    centre = Counts(smoothed(counts, support(m.levels, counts)), counts.groups)
    middle = float(_range(_log(m, m.profile(centre).values)).max())
    observed = min(-np.log(value), middle) if value > 0 else middle
    return min(value, float(np.exp(-observed - q))), min(float(np.exp(q - observed)), 1.0)
