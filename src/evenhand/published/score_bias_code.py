"""What the code published with Becker, Dumitrasc & Broelemann 2024 does otherwise than the paper says.

Two of its shortcuts reach the printed digits. ROC areas: both curves are interpolated at the corners of either, where a
vertical step has one height only, and pieces in which they cross are not split. Uniform calibration: the first bin
weighs its width minus the mean score in it, as if the range began there.
"""

from __future__ import annotations

import numpy as np

from evenhand.measures import calibration
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.roc import Curves
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts


def interpolated_area(counts: ScoreCounts, which: Curves) -> Pair:
    """The area between two ROC curves as the published code finds it, and the share of it in favour of the group.

    >>> import evenhand
    >>> from evenhand.measures.roc import WITHIN
    >>> from evenhand.tables.scores import ScoreView
    >>> table = evenhand.compas()
    >>> area, share = interpolated_area(ScoreView(table, table.grouping("race"))([0, 1]), WITHIN)
    >>> round(area, 3), round(share, 2)
    (0.016, 0.46)
    """
    (x, y), (u, v) = (_corners(counts, *curve) for curve in which)
    at = np.sort(np.concatenate([x, u]), kind="stable")
    gap = np.interp(at, x, y) - np.interp(at, u, v)
    return _with_share(*(float(np.trapezoid(np.maximum(side * gap, 0), at)) for side in (1, -1)))


def _corners(counts: ScoreCounts, favourable: int, unfavourable: int) -> tuple[Floats, Floats]:
    """A ROC curve from (0, 0), without scores that nobody has and without points on a straight line."""
    wins, other = counts.classes[favourable, 1, ::-1], counts.classes[unfavourable, 0, ::-1]
    there = wins + other > 0
    tpr, fpr = wins[there].cumsum(), other[there].cumsum()
    bend = (np.diff(tpr, 2) != 0) | (np.diff(fpr, 2) != 0)
    keep = np.concatenate([[True], bend, [True]]) if len(tpr) > 2 else np.ones(len(tpr), np.bool_)
    return np.append(0.0, fpr[keep] / fpr[-1]), np.append(0.0, tpr[keep] / tpr[-1])


def first_bin_lighter(counts: ScoreCounts) -> Pair:
    """Uniform calibration bias with the published weight of the first bin, and the share in favour of the group.

    >>> from evenhand.tables.scores import ScoreCounts
    >>> people = np.zeros((60, 2, 2))
    >>> people[:, :, 1] = 1
    >>> people[0, 0] = 1, 0  # the gap of the first bin is 1, that of all others 0
    >>> counts = ScoreCounts(array=people, groups=("a", "b"), scores=np.arange(60) / 59, score_range=(0.0, 1.0))
    >>> round(first_bin_lighter(counts)[0], 4), round(float(calibration.bias(_bins(counts), False).norm()), 4)
    (0.0058, 0.01)
    """
    curve, options = calibration.bias(_bins(counts), False), ScoreOptions()
    first = calibration.bins_of(counts, False, options) == 0
    weight = curve.weight.copy()
    if len(weight) == options.calibration_bins and counts.pooled[first].any():  # else every score is a bin
        mean = float(np.average(counts.unit[first], weights=counts.pooled[first]))
        weight[0] *= 1 - mean * options.calibration_bins
    return _with_share(*(float((np.maximum(side * curve.gap, 0) * weight).sum() / weight.sum()) for side in (1, -1)))


def _bins(counts: ScoreCounts) -> Counts:
    return calibration.binned(counts, False, ScoreOptions())


def _with_share(positive: float, negative: float) -> Pair:
    return positive + negative, positive / (positive + negative)
