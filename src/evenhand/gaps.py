"""One measure on one grouping → the gap of every group to the reference."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenhand.inference import interval
from evenhand.inference.resample import bootstrap
from evenhand.measures import BINS, RATES, Measure, Profile
from evenhand.measures.rates import share
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
    group, reference = counts.groups[g], counts.groups[r]
    empty = tuple(component_names(m)[k] for k in np.flatnonzero(np.isnan(a - b))) if m.levels == "bins" else ()
    because = _undefined(m, counts, profile, g, r)
    if because:
        return undefined_gap(m, group, reference, because, empty)
    ci, method, parts = _closed_form(m, profile, g, r, confidence)
    ratio = float(a[0] / b[0]) if len(a) == 1 and b[0] > 0 else None
    value = float(a[0] / b[0]) if m.scale == "ratio" else float(np.nanmax(np.abs(a - b)))
    passes, conclusive = verdict(m, value, ci)
    gap = Gap(
        id=m.id,
        group=group,
        reference=reference,
        value=value,
        signed=float(a[0] - b[0]) if m.signed else None,
        ratio=ratio,
        ci=ci,
        method=method,
        ci_bootstrap=_resampled_interval(m, value, resampled, confidence),
        tolerance=m.tolerance,
        passes=passes,
        conclusive=conclusive,
        undefined=None,
        interpretation="",
        parts=parts,
        empty_bins=empty,
    )
    return replace(gap, interpretation=_sentence(m, gap, a, b, confidence))


def undefined_gap(m: Measure, group: str, reference: str, because: str, empty: tuple[str, ...] = ()) -> Gap:
    """A comparison that does not exist is listed with its reason, not passed over."""
    sentence = f"{m.title} of {shown_name(group)} against {shown_name(reference)} is undefined {because}."
    return Gap(
        id=m.id,
        group=group,
        reference=reference,
        value=np.nan,
        signed=None,
        ratio=None,
        ci=None,
        method=None,
        ci_bootstrap=None,
        tolerance=m.tolerance,
        passes=None,
        conclusive=None,
        undefined=because,
        interpretation=sentence,
        empty_bins=empty,
    )


def _undefined(m: Measure, counts: Counts, profile: Profile, group: int, reference: int) -> str | None:
    """Why a comparison of two groups does not exist, in words."""
    values = profile.values
    if m.levels == "bins":
        shared = np.isfinite(values[:, group] - values[:, reference])
        return None if shared.any() else "because no score bin holds people of both groups"
    rates = m.rests_on or m.components
    for g in (group, reference):
        name = shown_name(counts.groups[g])
        for rate in rates:
            if np.isnan(share(counts, rate)[g]):
                return f"because group {name} {RATES[rate].empty}"
        if np.isnan(values[:, g]).any():
            return f"because group {name} has a {RATES[rates[-1]].title} of 0"
    if m.scale == "ratio" and values[0, reference] == 0:
        return f"because the {RATES[rates[0]].title} of {shown_name(counts.groups[reference])} is 0"
    return None


def _closed_form(m: Measure, profile: Profile, g: int, r: int, confidence: float) -> tuple[Pair, str, tuple[Part, ...]]:
    a, b = profile.values[:, g], profile.values[:, r]
    if m.scale == "ratio":
        assert profile.trials is not None
        lo, hi = interval.ratio_of_shares(a, profile.trials[:, g], b, profile.trials[:, r], confidence)
        return (float(lo[0]), float(hi[0])), "log ratio", ()
    defined = np.isfinite(a - b)
    # Simultaneous over components: these rest on different people, so their levels multiply.
    limits = _limits(profile, confidence ** (1 / defined.sum()))
    lo, hi = interval.difference(a, (limits[0][:, g], limits[1][:, g]), b, (limits[0][:, r], limits[1][:, r]))
    if len(a) == 1:
        method = "Newcombe" if profile.trials is not None else "log ratios, square-and-add"
        return (float(lo[0]), float(hi[0])), method, ()
    names = component_names(m)
    parts = tuple(
        Part(names[k], float(a[k]), float(b[k]), float(a[k] - b[k]), (float(lo[k]), float(hi[k])))
        for k in np.flatnonzero(defined)
    )
    low, high = interval.largest_difference(lo, hi)
    return (float(low), float(high)), "simultaneous Newcombe", parts


def _limits(profile: Profile, confidence: float) -> interval.Interval:
    """An interval for every value of a profile."""
    if profile.quotient is None:
        assert profile.trials is not None
        return interval.wilson(profile.values, profile.trials, confidence)
    part, whole = profile.quotient
    assert part.trials is not None
    assert whole.trials is not None
    return interval.ratio_of_shares(part.values, part.trials, whole.values, whole.trials, confidence)


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


def _sentence(m: Measure, gap: Gap, a: Floats, b: Floats, confidence: float) -> str:
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
    if m.scale == "ratio":
        size, limit = f"a ratio of {gap.value:.3f}", f"{m.tolerance:g} to {1 / m.tolerance:g}"
    else:
        size = f"a gap of {gap.value:.3f}" if gap.signed is None else f"a difference of {gap.signed:+.3f}"
        limit = f"{m.tolerance:g}"
    judged = f"{'within' if gap.passes else 'beyond'} the tolerance of {limit}"
    if gap.ci is None:
        return f"{text}, {size}; {judged}."
    sure = "and so is the whole interval" if gap.conclusive else "but the interval reaches across it"
    return f"{text}, {size} ({confidence:.0%} interval {gap.ci[0]:.3f} to {gap.ci[1]:.3f}); {judged}, {sure}."


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
