"""One measure on one grouping → the two groups that differ most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.cells import Floats
from evenhand.gaps import Pair, verdict
from evenhand.inference import interval
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.measures import Measure
from evenhand.table import Counts


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
            profile = m.profile(batch)
            with np.errstate(invalid="ignore"):
                move = _log(m, profile.values) - middle[m.id]
            # a group that lost the people of a rate may have moved as far as a rate can, a ratio without end
            worst = np.full_like(middle[m.id], np.inf)
            if m.scale == "difference" and profile.trials is not None:
                worst = np.where(middle[m.id] >= 0.5, -middle[m.id], 1 - middle[m.id])
            move = np.where(np.isnan(move), worst, move)
            out[m.id].append(_range(np.where(np.isnan(observed[m.id]), np.nan, move)).max(-1))
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


def _range(values: Floats, nothing: float = 0.0) -> Floats:
    """Highest minus lowest over groups, undefined ones aside; `nothing` where fewer than two are defined."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        spread = np.where(known, values, -np.inf).max(-1) - np.where(known, values, np.inf).min(-1)
    return np.where(known.sum(-1) >= 2, spread, nothing)


def largest_gap(m: Measure, counts: Counts, confidence: float, ranges: Floats | None) -> LargestGap:
    """The two groups that differ most, among those for which the measure is defined."""
    profile = m.profile(counts)
    values = _comparable(m, profile.values)
    gone = np.isnan(values).all(0)
    left_out = tuple(counts.groups[g] for g in np.flatnonzero(gone))
    if (~np.isnan(values)).sum(-1).max() < 2:
        because = "because fewer than two groups have the rates it compares"
        return LargestGap(m.id, None, np.nan, None, None, m.tolerance, None, because, left_out)
    spread = _range(values, nothing=-1.0)
    k = int(np.argmax(spread))
    high, low = int(np.nanargmax(values[k])), int(np.nanargmin(values[k]))
    pair = counts.groups[high], counts.groups[low]
    if m.scale == "ratio" and values[k, high] == 0:
        because = "because nobody receives the favourable decision"
        return LargestGap(m.id, None, np.nan, None, None, m.tolerance, None, because, left_out)
    value = float(values[k, low] / values[k, high]) if m.scale == "ratio" else float(spread[k])
    ci = None
    if ranges is not None and m.scale == "ratio":
        ci = _ratio_range(value, counts, m, ranges, confidence)
    elif ranges is not None:
        ci = interval.norm(value, ranges, confidence, highest=np.inf if profile.trials is None else 1.0)
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
