"""ROC bias and cross-ROC bias (002 §4): exact areas between piecewise linear curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.cells import Floats, Ints
from evenhand.measures.curve import Curve, rowwise
from evenhand.scores import ScoreCounts

RATES = 512

# A ROC curve is (whose favourable, whose unfavourable) people; 0 is the group, 1 its reference.
WITHIN = ((0, 0), (1, 1))
ACROSS = ((0, 1), (1, 0))
Curves = tuple[tuple[int, int], tuple[int, int]]


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
    """The area under a ROC curve: the chance that a favourable person outranks an unfavourable one, ties half."""
    return _wins((counts, favourable, 1), (counts, unfavourable, 0))


def gini_between(counts: ScoreCounts, label: int) -> Floats:
    """P(group higher) − P(reference higher) among the people with one label."""
    return 2 * _wins((counts, 0, label), (counts, 1, label)) - 1


def _wins(a: tuple[ScoreCounts, int, int], b: tuple[ScoreCounts, int, int]) -> Floats:
    """The chance that a person of one kind (group, label) outranks one of another, ties half."""
    counts, group, label = a
    people, other = counts.classes[..., group, label, :], counts.classes[..., b[1], b[2], :]
    upto = counts.cumulative[..., b[1], b[2], :]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((people * (upto - other / 2)).sum(-1) / (people.sum(-1) * upto[..., -1]))


def bias(counts: ScoreCounts, which: Curves, like: Curve | None = None) -> Curve:
    """First curve minus second, over false positive rates; pieces are split where the curves cross.

    >>> import evenhand
    >>> from evenhand.scores import ScoreView
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
    cells = [(g, y) for favourable, unfavourable in which for g, y in ((unfavourable, 0), (favourable, 1))]
    rows = [array[..., g, y, :] for array in (counts.classes, counts.cumulative) for g, y in cells]
    return Curve(*rowwise(_between, *rows, pieces=4))


def even_rates() -> Curve:
    """Evenly spread false positive rates, to compare curves at."""
    at = (np.arange(RATES) + 0.5) / RATES
    return Curve(at, np.zeros(RATES), np.full(RATES, 1 / RATES))


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
        """Heights at the ends of an interval, which lies in one piece."""
        start, height, slope = self.start[piece], self.height[piece], self.slope[piece]
        return height + slope * (left - start), height + slope * (right - start)


def _segments(unfavourable: Floats, favourable: Floats, unf_upto: Floats, fav_upto: Floats) -> _Segments:
    score = np.flatnonzero(unfavourable)
    total, wanted = unf_upto[-1], fav_upto[-1]
    if total == 0 or wanted == 0:
        return _Segments(*[np.zeros(0)] * 4)
    # Each rate is one division of whole numbers: rates of two groups that are equal are equal numbers too.
    end = unf_upto[score] / total
    start = np.concatenate([[0.0], end[:-1]])
    tied = favourable[score]
    length = np.maximum(end - start, np.finfo(np.float64).tiny)  # a weight may be too small to move a share
    slope = np.where(end > start, tied / wanted / length, 0.0)
    return _Segments(start, end, (fav_upto[score] - tied) / wanted, slope)


def _between(*rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Pieces of constant sign between two curves: middle, mean gap, width.

    Rows are the unfavourable and favourable people of both curves at each score, then at or below each.
    """
    a, b = _segments(*rows[0:2], *rows[4:6]), _segments(*rows[2:4], *rows[6:8])
    if len(a.end) == 0 or len(b.end) == 0:
        return np.zeros(1), np.full(1, np.nan), np.ones(1)
    # Intervals between the ends of pieces of either curve; a stable sort merges two rising runs in one pass.
    ends = np.concatenate([a.end, b.end])
    order = np.argsort(ends, kind="stable")
    x = np.concatenate([[0.0], ends[order]])
    of_a = order < len(a.end)
    piece: Ints = np.cumsum(of_a) - of_a  # of the first curve: how many ended before
    la, ra = a.over(np.minimum(piece, len(a.end) - 1), x[:-1], x[1:])
    lb, rb = b.over(np.minimum(np.arange(len(order)) - piece, len(b.end) - 1), x[:-1], x[1:])
    left, right = lb - la, rb - ra  # shares above, not below: the other way round
    width = np.diff(x)
    crossing = np.flatnonzero(left * right < 0)
    t = left[crossing] / (left[crossing] - right[crossing])  # where the gap is 0, from the left end
    gap, size, start = (left + right) / 2, width.copy(), x[:-1]
    gap[crossing], size[crossing] = left[crossing] / 2, t * width[crossing]
    second = start[crossing] + size[crossing], right[crossing] / 2, (1 - t) * width[crossing]
    middle = 1 - np.concatenate([start + size / 2, second[0] + second[2] / 2])
    return middle, np.concatenate([gap, second[1]]), np.concatenate([size, second[2]])
