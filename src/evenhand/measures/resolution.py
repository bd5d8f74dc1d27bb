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


def of_roc(counts: ScoreCounts, which: Curves) -> float:
    """Of an area between ROC curves: a range is a diagonal in a rectangle, through which any way up is possible."""
    wide = np.False_ if counts.wide is None else counts.wide
    steps = np.where(wide, counts.classes / np.maximum(counts.classes.sum(-1, keepdims=True), 1e-300), 0.0)
    return float(sum((steps[favourable, 1] * steps[other, 0]).sum() for favourable, other in which) / 2)


def of_densities(counts: ScoreCounts, options: ScoreOptions) -> float:
    """Of an area between densities."""
    return float(_density_moves(counts, options).sum())


def of_information(counts: ScoreCounts, options: ScoreOptions) -> float:
    """Of mutual information: a share δ of the people stands elsewhere at most, and nothing is known about them.

    H(group | score) changes by no more than δ log 2, all that these people may tell, and h(δ), who they are. The rest
    is what may leave the score range.
    """
    from scipy.special import entr

    n = counts.sizes()
    share, moved = n / n.sum(), np.minimum(_density_moves(counts, options) / 2, 1.0)
    some = min(float((share * moved).sum()), 1.0)
    who = min(some, 0.5)
    return float(some * np.log(2) + entr(who) + entr(1 - who) + (entr(share) * moved).sum())


def _density_moves(counts: ScoreCounts, options: ScoreOptions) -> Floats:
    """How far the density of each group may move, as an area: (group,).

    A kernel of width w moved by d changes by an area of 2 erf(d / √8 w); one made wider by a factor c by 4 φ(1) log c
    at most. The width follows the standard deviation, which changes by no more than the root mean square of moves.
    """
    from scipy.special import erf

    at, low, high = _places(counts, False, options)
    off = np.maximum(at - low, high - at)
    steps, size = _steps(counts, None), counts.sizes()
    spread = (steps * (at - (steps * at).sum(-1, keepdims=True)) ** 2).sum(-1)
    moves = (steps * off**2).sum(-1)
    if options.bandwidth == "common":
        spread, moves = (np.full(2, (size * x).sum()) for x in (spread, moves))
    width = np.array([d.bandwidth for d in densities(counts, options)])
    with np.errstate(invalid="ignore", divide="ignore"):
        elsewhere = 2 * (steps * erf(off / (np.sqrt(8) * width[:, None]))).sum(-1)
        other_width = -4 * np.exp(-0.5) / np.sqrt(2 * np.pi) * np.log1p(-np.minimum(np.sqrt(moves / spread), 1.0))
    by_rule = isinstance(options.bandwidth, str)
    return np.minimum(elsewhere + (other_width if by_rule else 0.0), 2.0)
