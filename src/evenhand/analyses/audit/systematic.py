"""What no larger sample would take away from an interval: two bandwidths, and scores known in ranges."""

from __future__ import annotations

from dataclasses import replace

from evenhand.analyses.audit.gaps import ScoreGap
from evenhand.inference import interval
from evenhand.inference.bootstrap_interval import Ordinary
from evenhand.measures.distribution import alike
from evenhand.measures.registry import ScoreMeasure, ScoreOptions
from evenhand.tables.scores import ScoreCounts


def smoothing(m: ScoreMeasure, pair: ScoreCounts, options: ScoreOptions) -> float:
    """How far apart two bandwidths alone put groups that are alike: the scores of both together, smoothed with either.

    0 of a measure that needs no densities.
    """
    if not m.smooth or m.grid is None:
        return 0.0
    return float(m.curve(alike(pair), options, m.grid(pair, options)).norm(m.order))


def beside(m: ScoreMeasure, ordinary: Ordinary, systematic: float) -> Ordinary:
    """An ordinary interval, made wider on the scale of the norm."""
    if ordinary.ci is None or not systematic:
        return ordinary
    lo, hi = (m.inward(max(end, 0.0)) for end in ordinary.ci)
    return replace(ordinary, ci=m.outward_interval(max(lo - systematic, 0.0), hi + systematic))


def with_resolution(m: ScoreMeasure, gap: ScoreGap, off: float, signed_off: float) -> ScoreGap:
    """All intervals wider by how far the value and its parts, and the signed sum, may be off."""
    if not off and not signed_off:
        return gap
    most, least = m.most, -float(m.classes)
    return replace(
        gap,
        resolution=min(off, most),
        ci=interval.widened(gap.ci, off, least if m.signed else 0.0, most),
        ci_bootstrap=interval.widened(gap.ci_bootstrap, off, least if m.signed else 0.0, most),
        ci_signed=interval.widened(gap.ci_signed, signed_off, least, -least),
        ci_positive=interval.widened(gap.ci_positive, off, 0.0, m.highest),
        ci_negative=interval.widened(gap.ci_negative, off, 0.0, m.highest),
    )
