"""How far a score-level measure may be from its exact value where scores are known in ranges only.

People of a range may stand anywhere in it, so every bound is about the worst places they can have. All bounds hold for
the signed sum, the positive and the negative part too, and are 0 where no score stands for several.
"""

from __future__ import annotations

import numpy as np

from evenhand.measures import score_bias
from evenhand.measures.curve import ScoreOptions, norm
from evenhand.measures.distribution import densities
from evenhand.measures.roc import Curves
from evenhand.tables.arrays import Floats
from evenhand.tables.scores import ScoreCounts

STEEPEST = 0.5632
"""The most that Σ p log² p of two shares can be; of more shares it is log² of their number."""


def _places(counts: ScoreCounts, ranked: bool, options: ScoreOptions) -> tuple[Floats, Floats, Floats]:
    """Where the people of each score are taken to stand, and between which places they do: scores, or ranks."""
    at = score_bias.thresholds(counts, ranked, options)
    low, high = counts.rank_ends(options.ranks) if ranked else counts.ends or (at, at)
    return at, low, high


def _steps(counts: ScoreCounts, label: int | None) -> Floats:
    """Share of each group at each score, axes (group, score)."""
    return np.asarray(counts.of(label) / np.maximum(counts.sizes(label)[:, None], 1e-300))


def of_quantiles(counts: ScoreCounts, label: int | None, ranked: bool, options: ScoreOptions, p: float = 1.0) -> float:
    """Of a Wasserstein-p distance, so of an area between CDFs and of a difference of means: everybody moves the most.

    A distance of two groups changes by no more than each of them moves, itself a Wasserstein-p distance.
    """
    at, low, high = _places(counts, ranked, options)
    off = np.maximum(at - low, high - at)
    return float(sum(norm(off, share, p) for share in _steps(counts, label)))


def of_cdfs(counts: ScoreCounts, label: int | None, ranked: bool, options: ScoreOptions, p: float) -> float:
    """Of an L_p distance of CDFs: inside a range either CDF is off by its step, in opposite directions at the worst.

    The largest gap is there at the ends of ranges already, so it grows by the smaller step only.
    """
    if p == 1:
        return of_quantiles(counts, label, ranked, options)
    steps = _steps(counts, label)
    if p == np.inf:
        wide = np.False_ if counts.wide is None else counts.wide
        return float(np.where(wide, steps.min(0), 0.0).max())
    _, low, high = _places(counts, ranked, options)
    return float(norm(steps.max(0), high - low, p))


def of_ratio(counts: ScoreCounts, label: int | None, ranked: bool, options: ScoreOptions) -> float:
    """Of a mean impact ratio: the worst corners of the two rates inside ranges, and where the mean ends.

    It is the mean up to the threshold that selects enough people, which may lie anywhere in its range.
    """
    _, low, high = _places(counts, ranked, options)
    last = int(np.count_nonzero(score_bias.select_enough(counts, label)))
    start, end = float(low[last]), float(high[last])
    if start <= 0:
        return np.inf if end > 0 else 0.0
    after = 1 - np.cumsum(_steps(counts, label), axis=-1).clip(0, 1)
    before = np.concatenate([np.ones((2, 1)), after[:, :-1]], axis=-1)

    def gap(a: Floats, b: Floats) -> Floats:
        return np.asarray((a - b) / np.maximum(np.maximum(a, b), 1e-300))

    inside = (high - low) * (gap(before[0], after[1]) - gap(after[0], before[1]))
    return float(inside[:last].sum()) / start + 4 * (end - start) / end


def of_roc(counts: ScoreCounts, which: Curves, p: float = 1.0) -> float:
    """Of an L_p distance of ROC curves: a range is a diagonal in a rectangle, through which any way up is possible.

    The farthest way goes along two sides: its distance from the diagonal rises evenly to the height of the rectangle.
    """
    wide = np.False_ if counts.wide is None else counts.wide
    steps = np.where(wide, counts.classes / np.maximum(counts.classes.sum(-1, keepdims=True), 1e-300), 0.0)
    rectangles = [(steps[favourable, 1], steps[other, 0]) for favourable, other in which]
    if p == np.inf:
        return float(sum(np.where(width > 0, height, 0.0).max() for height, width in rectangles))
    return float(sum(norm(height, width / (p + 1), p) for height, width in rectangles))


def of_densities(counts: ScoreCounts, options: ScoreOptions) -> float:
    """Of an area between densities.

    A kernel of width w moved by d changes by an area of 2 erf(d / √8 w); one made wider by a factor c by 4 φ(1) log c
    at most.
    """
    return float(_areas(*_density_moves(counts, options)).sum())


def of_information(counts: ScoreCounts, options: ScoreOptions) -> float:
    """Of mutual information, the smaller of two bounds on the change of H(group | score), and what leaves the range.

    A share δ of the people stands elsewhere: δ log G, all that they may tell of G groups, and h(δ), who they are. Or,
    because information is convex, its slope log P(group | score) times the change, by Cauchy and Schwarz: the mean
    square of the slope is at most Σ p log² p, that of the change a χ² distance of kernels.
    """
    from scipy.special import entr

    share = counts.sizes() / counts.sizes().sum()
    most = float(np.log(len(share)))
    steps, moved, wider = _density_moves(counts, options)
    areas = np.minimum(_areas(steps, moved, wider) / 2, 1.0)
    some = min(float((share * areas).sum()), 1.0)
    who = min(some, 0.5)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        by_moves = (steps * np.expm1(np.minimum(moved**2, 700.0))).sum(-1)
        ratio = (1 - wider) ** -2.0 - 1  # of variances, less 1
        by_width = np.where(ratio < 1, (1 - np.minimum(ratio, 1.0) ** 2) ** -0.5 - 1, np.inf)
    slope = np.sqrt(STEEPEST if len(share) == 2 else most**2)
    slope *= float(sum(np.sqrt((share * chi).sum()) for chi in (by_moves, by_width)))
    told = min(some * most + float(entr(who) + entr(1 - who)), slope)
    return float(told + (entr(share) * areas).sum())


def _areas(steps: Floats, moved: Floats, wider: Floats) -> Floats:
    """How far the density of each group may move, as an area: (group,)."""
    from scipy.special import erf

    with np.errstate(divide="ignore"):
        of_width = -4 * np.exp(-0.5) / np.sqrt(2 * np.pi) * np.log1p(-wider)
    return np.asarray(np.minimum(2 * (steps * erf(moved / np.sqrt(8))).sum(-1) + of_width, 2.0))


def _density_moves(counts: ScoreCounts, options: ScoreOptions) -> tuple[Floats, Floats, Floats]:
    """Shares of each group, how many bandwidths they may move, (group, score), and the share by which those may change.

    A bandwidth follows the standard deviation, which changes by no more than the root mean square of moves.
    """
    at, low, high = _places(counts, False, options)
    off = np.maximum(at - low, high - at)
    steps, size = _steps(counts, None), counts.sizes()
    width = np.array([[d.bandwidth] for d in densities(counts, options)])
    if not isinstance(options.bandwidth, str):
        return steps, off / width, np.zeros(len(size))
    spread = (steps * (at - (steps * at).sum(-1, keepdims=True)) ** 2).sum(-1)
    moves = (steps * off**2).sum(-1)
    if options.bandwidth == "common":
        spread, moves = (np.full(len(size), (size * x).sum()) for x in (spread, moves))
    with np.errstate(invalid="ignore", divide="ignore"):
        return steps, off / width, np.minimum(np.sqrt(moves / spread), 1.0)
