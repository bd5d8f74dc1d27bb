"""ROC bias and cross-ROC bias (Becker et al. 2024, §4): exact areas between piecewise linear curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.measures.curve import Curve, rowwise
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.scores import ScoreCounts

# A ROC curve is (whose favourable, whose unfavourable) people; 0 is the group, 1 its reference.
WITHIN = ((0, 0), (1, 1))
ACROSS = ((0, 1), (1, 0))
Curves = tuple[tuple[int, int], tuple[int, int]]
NOWHERE = 1e-13
"""Pieces no wider than this are steps of a curve, or rounding."""


def rates(counts: ScoreCounts, favourable: int, unfavourable: int) -> tuple[Floats, Floats]:
    """The corners of a ROC curve from (0, 0) to (1, 1): false and true positive rates, axes (…, corner)."""

    def above(group: int, label: int) -> Floats:
        upto = counts.cumulative[..., group, label, :]
        total = upto[..., -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = (total - upto[..., ::-1]) / total
        return np.concatenate([rate, rate[..., :1] + 1], axis=-1)

    return above(unfavourable, 0), above(favourable, 1)


def auroc(counts: ScoreCounts, favourable: int, unfavourable: int) -> Floats:
    """The area under a ROC curve: the probability that an actual positive outranks an actual negative, ties half."""
    return _wins((counts, favourable, 1), (counts, unfavourable, 0))


def area_gap(counts: ScoreCounts) -> Curve:
    """How much larger the area under the group's own ROC curve is than under the reference's."""
    gap = auroc(counts, *WITHIN[0]) - auroc(counts, *WITHIN[1])
    return Curve(np.zeros(1), np.asarray(gap)[..., None], np.ones(1))


def area_variances(counts: ScoreCounts) -> tuple[Floats, Floats]:
    """What the variance of that gap is the sum of (DeLong, DeLong & Clarke-Pearson 1988), and the people of each piece.

    Axes (…, piece): positives and negatives of both groups. One of everybody is added to each, as in Welch's interval
    of means, so that a handful that are ranked without a fault are not certain.
    """
    one = counts.weight_of_a_person[..., None, None]
    anybody = (counts.pooled / counts.pooled.sum(-1, keepdims=True))[..., None, None, :]
    squares = counts.classes if counts.squares is None else np.moveaxis(counts.squares, -3, -1)
    weight, square = counts.classes + one * anybody, squares + one**2 * anybody
    total = weight.sum(-1, keepdims=True)
    below = (np.cumsum(weight, axis=-1) - weight / 2) / total
    wins = np.stack([1 - below[..., 1, :], below[..., 0, :]], axis=-2)  # of negatives, and of positives
    away = wins - (weight * wins).sum(-1, keepdims=True) / total
    n = counts.people(by_label=True)
    shrunk = (n / np.maximum(n - 1, 0.5))[..., None]
    variance = (square * away**2).sum(-1, keepdims=True) / total**2 * shrunk
    shape = (*variance.shape[:-3], -1)
    return variance.reshape(shape), n.reshape(shape)


def gini_between(counts: ScoreCounts, label: int) -> Floats:
    """P(group higher) − P(reference higher) among the people with one label."""
    return 2 * _wins((counts, 0, label), (counts, 1, label)) - 1


def _wins(a: tuple[ScoreCounts, int, int], b: tuple[ScoreCounts, int, int]) -> Floats:
    """The probability that a person of one kind (group, label) outranks one of another, ties half."""
    counts, group, label = a
    people, other = counts.classes[..., group, label, :], counts.classes[..., b[1], b[2], :]
    upto = counts.cumulative[..., b[1], b[2], :]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((people * (upto - other / 2)).sum(-1) / (people.sum(-1) * upto[..., -1]))


def bias(counts: ScoreCounts, which: Curves, like: Curve | None = None) -> Curve:
    """First curve minus second, over false positive rates; pieces are split where the curves cross.

    >>> import evenhand
    >>> from evenhand.tables.scores import ScoreView
    >>> table = evenhand.compas()
    >>> pair = ScoreView(table, table.grouping("race"))([0, 1])
    >>> round(float(bias(pair, WITHIN).norm()), 3), round(float(bias(pair, ACROSS).norm()), 3)
    (0.016, 0.273)
    """
    if like is not None:
        corners = [corner for curve in which for corner in rates(counts, *curve)]
        (gap,) = rowwise(lambda a, b, c, d: [np.interp(like.at, a, b) - np.interp(like.at, c, d)], *corners)
        known = np.isfinite(corners[0][..., -1] + corners[1][..., -1] + corners[2][..., -1] + corners[3][..., -1])
        return Curve(like.at, np.where(known[..., None], gap, np.nan), like.weight)
    return _between(*(_segments(counts, *curve) for curve in which))


@dataclass(frozen=True)
class _Segments:
    """A ROC curve without its vertical steps: a straight piece for every score with unfavourable people.

    From the lowest score up, as shares *below*: the curve turned by half a turn.
    """

    start: Floats
    end: Floats
    height: Floats
    """At the start."""
    slope: Floats

    def over(self, piece: Ints, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Heights at the ends of intervals, each of which lies in one piece."""
        piece = np.minimum(piece, self.end.shape[-1] - 1)
        start, height, slope = (np.take_along_axis(a, piece, -1) for a in (self.start, self.height, self.slope))
        return height + slope * (left - start), height + slope * (right - start)


def _segments(counts: ScoreCounts, favourable: int, unfavourable: int) -> _Segments:
    people = [
        (counts.classes[..., g, y, :], counts.cumulative[..., g, y, :]) for g, y in ((unfavourable, 0), (favourable, 1))
    ]
    (own, upto), (wanted, wanted_upto) = people
    if own.ndim == 1:  # scores without unfavourable people make no piece; resamples keep them, to stay rectangular
        kept = np.flatnonzero(own)
        upto, wanted, wanted_upto = upto[kept], wanted[kept], wanted_upto[kept]
    total, all_wanted = counts.sizes(0)[..., unfavourable, None], counts.sizes(1)[..., favourable, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        # Each rate is one division of whole numbers: rates of two groups that are equal are equal numbers too.
        end = upto / total
        start = np.concatenate([np.zeros_like(end[..., :1]), end[..., :-1]], axis=-1)
        length = np.maximum(end - start, np.finfo(np.float64).tiny)  # a weight may be too small to move a share
        slope = np.where(end > start, wanted / all_wanted / length, 0.0)
        return _Segments(start, end, (wanted_upto - wanted) / all_wanted, slope)


def _between(a: _Segments, b: _Segments) -> Curve:
    """Straight pieces of constant sign between two curves: middle, mean gap, width."""
    if not a.end.shape[-1] or not b.end.shape[-1]:
        return Curve(np.zeros(1), np.full(1, np.nan), np.ones(1))
    # Intervals between the ends of pieces of either curve; a stable sort merges two rising runs in one pass.
    ends = np.concatenate([a.end, b.end], axis=-1)
    order = np.argsort(ends, axis=-1, kind="stable")
    x = np.concatenate([np.zeros_like(ends[..., :1]), np.take_along_axis(ends, order, -1)], axis=-1)
    of_a = order < a.end.shape[-1]
    piece: Ints = np.cumsum(of_a, axis=-1) - of_a  # of the first curve: how many ended before
    la, ra = a.over(piece, x[..., :-1], x[..., 1:])
    lb, rb = b.over(np.arange(order.shape[-1]) - piece, x[..., :-1], x[..., 1:])
    left, right = lb - la, rb - ra  # shares above, not below: the other way round
    width, start = np.diff(x, axis=-1), x[..., :-1]
    crossing = left * right < 0
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(crossing, left / (left - right), 1.0)  # where the gap is 0, from the left end
    first, second = t * width, (1 - t) * width
    gap = np.where(crossing, left / 2, (left + right) / 2)
    middle = np.concatenate([start + first / 2, start + first + second / 2], axis=-1)
    gaps = np.concatenate([gap, np.where(crossing, right / 2, 0.0)], axis=-1)
    rise = np.concatenate([np.where(crossing, left, right - left), np.where(crossing, right, 0.0)], axis=-1)
    unknown = np.isnan(a.end[..., -1:] + b.end[..., -1:] + a.height[..., -1:] + b.height[..., -1:])
    widths = np.concatenate([first, second], axis=-1)
    there = widths > NOWHERE
    return Curve(
        1 - middle, np.where(unknown, np.nan, np.where(there, gaps, 0.0)), np.where(unknown, 1.0, widths),
        slant=np.where(there & ~unknown, np.abs(rise) / 2, 0.0),
    )  # fmt: skip
