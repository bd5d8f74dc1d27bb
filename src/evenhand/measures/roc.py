"""ROC bias and cross-ROC bias (002 §4): exact areas between piecewise linear curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.cells import Floats
from evenhand.measures.curve import Curve, rowwise
from evenhand.scores import ScoreCounts

RATES = 512

# A ROC curve is (whose favourable, whose unfavourable) people; 0 is the group, 1 its reference.
WITHIN = ((0, 0), (1, 1))
ACROSS = ((0, 1), (1, 0))
Curves = tuple[tuple[int, int], tuple[int, int]]


def rates(counts: ScoreCounts, favourable: int, unfavourable: int) -> tuple[Floats, Floats]:
    """The corners of a ROC curve from (0, 0) to (1, 1): false and true positive rates, axes (…, corner)."""
    people = counts.cumulative

    def above(group: int, label: int) -> Floats:
        upto = people[..., group, label]
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
    people, other = counts.array[..., group, label], counts.array[..., b[1], b[2]]
    upto = counts.cumulative[..., b[1], b[2]]
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
    people = [counts.array[..., g, y] for g, y in cells]
    upto = [counts.cumulative[..., g, y] for g, y in cells]
    return Curve(*rowwise(_between, *people, *upto))


def even_rates() -> Curve:
    """Evenly spread false positive rates, to compare curves at."""
    at = (np.arange(RATES) + 0.5) / RATES
    return Curve(at, np.zeros(RATES), np.full(RATES, 1 / RATES))


@dataclass(frozen=True)
class _Segments:
    """A ROC curve without its vertical steps: a straight piece for every score with unfavourable people."""

    x0: Floats
    y0: Floats
    x1: Floats
    y1: Floats

    def over(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Height just right of `left` and just left of `right`, ends of intervals that no piece ends inside of."""
        i = np.searchsorted(self.x0, left, side="right") - 1
        x0, y0, y1, x1 = self.x0[i], self.y0[i], self.y1[i], self.x1[i]
        slope = (y1 - y0) / (x1 - x0)
        return y0 + slope * (left - x0), np.where(right == x1, y1, y0 + slope * (right - x0))


def _segments(unfavourable: Floats, favourable: Floats, unf_upto: Floats, fav_upto: Floats) -> _Segments:
    """From the people at each score and those at or below it; from the highest score down."""
    score = np.flatnonzero(unfavourable)[::-1]
    total, wanted = unf_upto[-1], fav_upto[-1]
    if total == 0 or wanted == 0:
        return _Segments(*[np.zeros(0)] * 4)
    # Each rate is one division of whole numbers: rates of two groups that are equal are equal numbers too.
    x1 = (total - (unf_upto[score] - unfavourable[score])) / total
    y0 = (wanted - fav_upto[score]) / wanted
    y1 = (wanted - (fav_upto[score] - favourable[score])) / wanted
    return _Segments(np.r_[0.0, x1[:-1]], y0, x1, y1)


def _between(*people: Floats) -> tuple[Floats, Floats, Floats]:
    """Pieces of constant sign between two curves: middle, mean gap, width."""
    unf_a, fav_a, unf_b, fav_b, *upto = people
    a, b = _segments(unf_a, fav_a, *upto[:2]), _segments(unf_b, fav_b, *upto[2:])
    if len(a.x0) == 0 or len(b.x0) == 0:
        return np.zeros(1), np.full(1, np.nan), np.ones(1)
    x = np.r_[0.0, _union(a.x1, b.x1)]
    la, ra = a.over(x[:-1], x[1:])
    lb, rb = b.over(x[:-1], x[1:])
    left, right = la - lb, ra - rb
    width = np.diff(x)
    crossing = (left > 0) & (right < 0) | (left < 0) & (right > 0)
    t = left[crossing] / (left[crossing] - right[crossing])  # where the gap is 0, from the left end
    gap, size, start = (left + right) / 2, width.copy(), x[:-1]
    gap[crossing], size[crossing] = left[crossing] / 2, t * width[crossing]
    second = start[crossing] + size[crossing], right[crossing] / 2, (1 - t) * width[crossing]
    middle = np.concatenate([start + size / 2, second[0] + second[2] / 2])
    return middle, np.concatenate([gap, second[1]]), np.concatenate([size, second[2]])


def _union(a: Floats, b: Floats) -> Floats:
    """Distinct values of two sorted arrays; a stable sort merges two runs in one pass."""
    both = np.sort(np.concatenate([a, b]), kind="stable")
    return both[np.r_[True, both[1:] != both[:-1]]]
