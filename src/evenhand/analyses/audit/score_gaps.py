"""One score-level measure on one pair of groups → the gap, with the interval of a norm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.analyses.audit import roc_parts
from evenhand.analyses.audit.gaps import Part, ScoreGap, judged, with_ordinary
from evenhand.analyses.audit.left_out import with_the_rest
from evenhand.analyses.audit.systematic import beside, smoothing, with_resolution
from evenhand.analyses.options import Options
from evenhand.errors import shown_name
from evenhand.inference import interval
from evenhand.inference.bootstrap_interval import Ordinary, ordinary_intervals, score_statistic
from evenhand.inference.null import Null, recentred
from evenhand.inference.resample import CELLS_AT_ONCE, bootstrap, smoothed
from evenhand.measures.curve import Curve, norm
from evenhand.measures.distribution import densities
from evenhand.measures.measure import SLACK
from evenhand.measures.registry import ScoreMeasure, ScoreOptions
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts

RESAMPLED_SCORES = 512
"""So many scores at most are resampled; more are put together to as many cells (values stay exact)."""
BORROWED = 4
"""So many people of both groups together are added to the rate of a calibration bin, before it is resampled."""


@dataclass(frozen=True)
class Moves:
    """How far a curve moves in resamples, arrays (draws,): as a whole, and its positive and negative part."""

    distance: Floats
    positive: Floats
    negative: Floats
    signed: Floats
    """The signed sum itself."""
    centre: float
    """The signed sum of the curve that resamples vary around."""
    split: Floats | None = None
    """By whose scores the thresholds are, axes (draw, kind), of a measure that is split so."""

    def beside(self, systematic: float) -> Moves:
        """All distances larger by what no sample would change."""
        return replace(self, distance=self.distance + systematic) if systematic else self

    def wider(self, factor: float) -> Moves:
        """All moves larger by a factor."""
        signed = self.centre + factor * (self.signed - self.centre)
        split = None if self.split is None else factor * self.split
        return Moves(factor * self.distance, factor * self.positive, factor * self.negative, signed, self.centre, split)


@dataclass(frozen=True)
class Compared:
    """A gap, and how far it moved in each resample."""

    gap: ScoreGap
    distance: Floats | None


def compare(
    measures: Sequence[ScoreMeasure],
    pair: ScoreCounts,
    options: Options,
    rng: np.random.Generator,
    most_scores: int = RESAMPLED_SCORES,
) -> list[Compared]:
    """Compare a group with its reference by every measure."""
    reasons = {m.id: _reason(m, pair) for m in measures}
    curves = {m.id: m.of(pair, options.scores) for m in measures if reasons[m.id] is None}
    off = {m.id: m.off(pair, options.scores) for m in measures if m.id in curves}
    for m in measures:
        if m.id in curves and not np.isfinite(curves[m.id].norm(m.order)):
            reasons[m.id] = _nowhere(m, pair, options.scores)
        elif off.get(m.id) == np.inf:
            reasons[m.id] = "because the scores are known in ranges too wide for it"
    defined = [m for m in measures if reasons[m.id] is None]
    streams = rng.spawn(4)
    moves: dict[str, Moves] = {}
    plain: dict[str, Ordinary] = {}
    if options.bootstrap:
        moves = _resampled(defined, pair, options, streams[:2], most_scores)
        if options.interval != "auto":
            plain = _ordinary(defined, pair, options, streams[2:], most_scores)
    group, reference = pair.groups
    compared = []
    for m in measures:
        because, moved = reasons[m.id], moves.get(m.id)
        if because is not None:
            compared.append(Compared(ScoreGap.without_value(m, group, reference, because), None))
            continue
        gap = _gap(m, pair, curves[m.id], options, moved)
        own = smoothing(m, pair.coarse(most_scores), options.scores) if m.smooth else None
        if own is not None:
            gap = replace(gap, smoothing=float(m.outward(np.asarray(own))))
        if m.id in plain:
            gap = with_ordinary(m, gap, beside(m, plain[m.id], own or 0.0))
            gap = replace(gap, ci_signed=gap.ci) if m.signed else gap
        gap = _with_rest(gap, float(curves[m.id].rest), m.order)
        gap = with_resolution(m, gap, off[m.id], m.signed_off(pair, options.scores))
        split = None if moved is None else moved.split
        gap = replace(gap, roc_parts=roc_parts.parts(m, pair, options.scores, options.confidence, split, off[m.id]))
        gap = replace(gap, interpretation=sentence(m, gap, options.confidence))
        compared.append(Compared(gap, None if moved is None else moved.distance))
    return compared


def _reason(m: ScoreMeasure, pair: ScoreCounts) -> str | None:
    """Why a measure does not exist for this pair, in words, or None."""
    if m.view is None and not m.ranked and not pair.has_length:
        return f"because the score is constant ({pair.scores[0]:g}) and no score range is stated"
    for label in m.labels:
        for g in (0, 1):
            if not pair.array[:, g, label].any():
                word = "favourable" if label else "unfavourable"
                return f"because group {shown_name(pair.groups[g])} has no row with the {word} label"
    return None


def _nowhere(m: ScoreMeasure, pair: ScoreCounts, options: ScoreOptions) -> str:
    """Why a curve has no number to show."""
    if m.smooth:
        without = [g for g, d in zip(pair.groups, densities(pair, options), strict=True) if np.isnan(d.bandwidth)]
        return f"because group {shown_name(without[0])} has no density: it is one person or has (nearly) one score"
    if m.view is not None:
        return "because no score bin holds people of both groups"
    return "because no threshold is expected to select five people of each group"


# ---- one comparison ----------------------------------------------------------------------------------------


def _gap(m: ScoreMeasure, pair: ScoreCounts, curve: Curve, options: Options, moves: Moves | None) -> ScoreGap:
    size = min(float(curve.norm(m.order)), m.highest)
    value, signed = float(m.outward(np.asarray(size))), float(curve.signed)
    ci, ci_bootstrap, method = _interval(m, pair, size, signed, options.confidence, moves)
    group, reference = pair.groups
    gap = ScoreGap(
        m.id, group, reference, m.tolerance_for(pair), value, signed if m.directed else None, ci, method, ci_bootstrap,
        parts=tuple(Part(*s, None) for s in m.summaries(pair, options.scores)) if m.summaries else (),
        left_out_share=_left_out(curve),
        resamples_undefined=None if moves is None else int(np.isnan(moves.distance).sum()),
    )  # fmt: skip
    return _with_sides(m, gap, curve, size, options.confidence, moves) if m.directed else gap


def _with_rest(gap: ScoreGap, weight: float, order: float) -> ScoreGap:
    """A gap that is known no better than bins of so much weight, which only one group is in, let it be."""
    if weight <= SLACK:
        return gap

    def widened(ci: Pair | None) -> Pair | None:
        return None if ci is None else (with_the_rest(ci[0], weight, order)[0], with_the_rest(ci[1], weight, order)[1])

    share = f"{100 * (gap.left_out_share or 0):.2g}% of people are in bins without both groups"
    return replace(
        gap, ci=widened(gap.ci), ci_bootstrap=widened(gap.ci_bootstrap),
        bounds=with_the_rest(gap.value, weight, order),
        lacking=f"because {share}, whose part may be up to {weight ** (1 / order):.2g}",
    )  # fmt: skip


def _left_out(curve: Curve) -> float | None:
    share = 1 - float(curve.people)
    return None if np.isnan(share) else max(share, 0.0)


def _with_sides(
    m: ScoreMeasure, gap: ScoreGap, curve: Curve, size: float, confidence: float, moves: Moves | None
) -> ScoreGap:
    """The positive and the negative part, as amounts and as shares of the whole."""
    positive, negative = (float(curve.favouring(group, m.order)) for group in (True, False))
    gap = replace(gap, positive=positive, negative=negative)
    if size > 0 and m.order < np.inf:  # of a largest gap there are no parts that add up
        gap = replace(gap, positive_share=min((positive / size) ** m.order, 1.0))
    if moves is None:
        return gap
    return replace(
        gap,
        ci_signed=gap.ci if m.signed else _around(float(curve.signed), moves, confidence, m.classes),
        # A part changes by no more than the whole curve does, so it has the interval of a norm too.
        ci_positive=interval.norm(positive, moves.positive, confidence, m.highest),
        ci_negative=interval.norm(negative, moves.negative, confidence, m.highest),
    )


def _around(observed: float, moves: Moves, confidence: float, highest: float) -> Pair | None:
    """Percentile interval of a signed sum, moved from what resamples vary around to what was observed."""
    if not interval.enough(moves.signed, confidence):
        return None
    lo, hi = (float(b) + observed - moves.centre for b in interval.percentile(moves.signed, confidence))
    return max(min(lo, highest), -highest), min(max(hi, -highest), highest)


def _interval(
    m: ScoreMeasure, pair: ScoreCounts, size: float, signed: float, confidence: float, moves: Moves | None
) -> tuple[Pair | None, Pair | None, str | None]:
    """Of the gap, by its own method and by the bootstrap."""
    if m.single:
        percentile = None if moves is None else _around(signed, moves, confidence, m.classes)
        if pair.units is not None:
            return percentile, percentile, None if percentile is None else "cluster bootstrap"
        if m.variances is not None:
            return _student(signed, *m.variances(pair), confidence), percentile, "DeLong"
        return _welch(pair, signed, confidence), percentile, "Welch"
    if moves is None:
        return None, None, None
    lo, hi = interval.norm(size, moves.distance, confidence, m.highest)
    ci = m.outward_interval(lo, hi)
    return ci, ci, "bootstrap of the norm"


def _welch(pair: ScoreCounts, difference: float, confidence: float) -> Pair | None:
    """Welch's interval for a difference of mean scores; None for a group of one."""
    anybody = pair.pooled / pair.pooled.sum()  # or a group with one score would be certain
    moments = []
    for g, one in enumerate(pair.weight_of_a_person):
        own = pair.of()[g]
        squares = own if pair.squares is None else pair.squares[:, g].sum(-1)
        n = own.sum() ** 2 / squares.sum()
        weight, square = own + one * anybody, squares + one**2 * anybody
        away = (pair.unit - (weight * pair.unit).sum() / weight.sum()) ** 2
        # Σw²(x − mean)²/(Σw)² is the linearised variance of a weighted mean
        moments.append((n, (square * away).sum() / weight.sum() ** 2 * n / max(n - 1, 1e-9)))
    n, variance = np.array(moments).T
    return _student(difference, variance, n, confidence)


def _student(difference: float, variance: Floats, n: Floats, confidence: float) -> Pair | None:
    """An interval by Student's t with Welch's degrees of freedom; None where a part of the variance is one person's."""
    from scipy.special import stdtrit

    if (n <= 1 + 1e-9).any():
        return None
    if variance.sum() == 0:
        return difference, difference
    df = variance.sum() ** 2 / (variance**2 / (n - 1)).sum()
    half = float(stdtrit(df, (1 + confidence) / 2) * np.sqrt(variance.sum()))
    return max(difference - half, -1.0), min(difference + half, 1.0)


def sentence(m: ScoreMeasure, gap: ScoreGap, confidence: float) -> str:
    group, reference = shown_name(gap.group), shown_name(gap.reference)
    share = gap.positive_share
    if gap.value == 0 or (m.scale == "ratio" and gap.value == 1):
        text = f"{group} and {reference} are alike"
    elif share is None:
        text = f"{group} and {reference} differ"
    elif share > 0.75 or share < 0.25:
        text = f"{group} {m.more if share > 0.5 else m.less} than {reference}"
    else:
        text = f"{group} and {reference} differ in both directions"
    if m.single:
        a, b = gap.parts[0].group, gap.parts[0].reference
        return judged(m, gap, f"{text}: {a:.3f} against {b:.3f}", confidence)
    text = f"{text}: {m.title} {gap.value:.3f}"
    if share is not None:
        text += f", {100 * share:.0f}% of it in favour of {group}"
    text = judged(m, gap, text, confidence, sized=True)
    if gap.left_out_share:
        what = "thresholds select too few people" if m.scale == "ratio" else "people are in bins without both groups"
        text += f" Left out: {100 * gap.left_out_share:.2g}% of {what}."
    return text


# ---- resampling ---------------------------------------------------------------------------------------------


def _resampled(
    measures: Sequence[ScoreMeasure],
    pair: ScoreCounts,
    options: Options,
    streams: Sequence[np.random.Generator],
    most_scores: int,
) -> dict[str, Moves]:
    """What resamples say about each measure. Measures on bins resample their bins, all others share their draws."""
    moves = {}
    draws, scores = options.bootstrap, options.scores
    whole = [m for m in measures if m.view is None]
    coarse = pair.coarse(most_scores)
    if whole:
        everybody = replace(coarse, array=smoothed(coarse, one_of_everybody(coarse), within=(-3, -1)))
        grids = {m.id: None if m.grid is None else m.grid(everybody, scores) for m in whole}
        centres = {m.id: m.curve(everybody, scores, grids[m.id]) for m in whole}
        splits = {m.id: m.split(everybody, scores) for m in whole if m.split is not None}
        pieces: dict[str, list[Moves]] = {m.id: [] for m in whole}
        for batch in bootstrap(coarse, draws, streams[0], everybody.array, options.stratified):
            for m in whole:
                moved = moves_of(m, m.curve(batch, scores, grids[m.id]), centres[m.id])
                if m.split is not None:
                    moved = replace(moved, split=roc_parts.moved(m.split(batch, scores), splits[m.id]))
                pieces[m.id].append(moved)
        moves.update({id_: joined_moves(p) for id_, p in pieces.items()})
    for m in measures:
        if m.view is not None:
            bins = m.view(pair, scores)
            rates = borrowed_rates(bins)
            centre = m.curve(with_rates(bins, rates), scores, None)
            batches = resampled_bins(bins, rates, draws, deepcopy(streams[1]))
            moves[m.id] = joined_moves([moves_of(m, m.curve(batch, scores, None), centre) for batch in batches])
    return {
        m.id: moves[m.id].wider(student(m, pair, options.confidence)).beside(smoothing(m, coarse, scores))
        for m in measures
    }


def _ordinary(
    measures: Sequence[ScoreMeasure],
    pair: ScoreCounts,
    options: Options,
    streams: Sequence[np.random.Generator],
    most_scores: int,
) -> dict[str, Ordinary]:
    """Ordinary bootstrap intervals."""

    def intervals_of(members: Sequence[ScoreMeasure], counts: Counts, rng: np.random.Generator) -> dict[str, Ordinary]:
        statistics = {m.id: score_statistic(m, counts, options.scores) for m in members}
        return ordinary_intervals(
            options.interval, statistics, counts, options.confidence, options.bootstrap, deepcopy(rng),
            options.stratified,
        )  # fmt: skip

    whole = [m for m in measures if m.view is None]
    intervals = intervals_of(whole, pair.coarse(most_scores), streams[0]) if whole else {}
    for m in measures:
        if m.view is not None:
            intervals |= intervals_of([m], m.view(pair, options.scores), streams[1])
    return intervals


def recentred_nulls(
    measures: Sequence[ScoreMeasure], pair: ScoreCounts, options: Options, draws: int, rng: np.random.Generator
) -> dict[str, Null]:
    """What chance alone shows when group labels cannot be permuted: how far each curve moves in resamples.

    A gap of more than that is not one of chance, by the same inequality that makes the intervals of norms.
    """
    drawn = replace(options, bootstrap=draws, stratified=False)
    moves = _resampled(measures, pair, drawn, rng.spawn(2), RESAMPLED_SCORES)
    return {
        m.id: recentred(
            float(m.of(pair, options.scores).norm(m.order)), moves[m.id].distance, options.confidence, m.highest,
            m.outward,
        )
        for m in measures
    }  # fmt: skip


def student(m: ScoreMeasure, pair: ScoreCounts, confidence: float) -> float:
    """By how much resamples of the smallest class move too little."""
    people = pair.people(by_label=True)[:, m.labels] if m.labels else pair.people()
    return interval.student(float(people.min()), confidence)


def one_of_everybody(pair: ScoreCounts) -> Floats:
    """One person more for each group, with anybody's score and either label: what six people happen to lack exists."""
    person = (pair.pooled / pair.pooled.sum())[:, None, None] / pair.array.shape[-1]
    return np.asarray(np.broadcast_to(person, pair.array.shape))


def borrowed_rates(bins: Counts) -> Floats:
    """The favourable rate of each bin and group with four people more, who have the rate of both groups together.

    A bin of one person has a rate of 0 or 1 and tells nothing about how far it may be off; a rate of many is kept.
    """
    n, people = _people(bins), bins.array.sum(-1)
    favourable = n * np.divide(bins.array[..., 1], people, out=np.zeros_like(n), where=people > 0)
    both = (favourable.sum(-1, keepdims=True) + 0.5) / (n.sum(-1, keepdims=True) + 1)
    return np.asarray((favourable + BORROWED * both) / (n + BORROWED))


def with_rates(bins: Counts, rates: Floats, factor: Any = 1.0) -> Counts:
    """The people of each bin and group, made more or fewer by a factor, with other favourable rates."""
    people = factor * bins.array.sum(-1)
    return Counts(np.stack([people * (1 - rates), people * rates], axis=-1), bins.groups)


def _people(bins: Counts) -> Floats:
    """People in each bin and group; with sampling weights as many as know a rate as well."""
    people = np.asarray(bins.array.sum(-1), np.float64)
    if bins.exchangeable:
        return people
    if bins.units is not None:
        kind = bins.units.place // bins.array.shape[-1]
        squares = bins.units.squares(kind, people.size, bins.units.mass).reshape(people.shape)
    else:
        assert bins.squares is not None
        squares = bins.squares.sum(-1)
    return np.asarray(np.divide(people**2, squares, out=np.zeros_like(people), where=people > 0))


def resampled_bins(bins: Counts, rates: Floats, draws: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Bins of the people there are, with new outcomes, and as much heavier or lighter as new samples would make them.

    Drawing the people of a bin anew as well would make a bin of one a bin of two as often, and so less noisy.
    """
    n = np.rint(_people(bins)).astype(np.int64).clip(1)
    # p(1 − p) of an estimated rate is too small on average, by its variance: that is put right here.
    both, k = n.sum(-1, keepdims=True), BORROWED
    known = 1 - (n + (k * k + 2 * k * n) / both) / (n + k) ** 2
    mass = bins.array.sum(-1).sum(-1)
    whole, share = int(np.rint(_people(bins).sum())), mass / mass.sum()
    at_once = max(1, CELLS_AT_ONCE // bins.array.size)
    outcomes, sizes = rng.spawn(2)
    for start in range(0, draws, at_once):
        batch = min(at_once, draws - start)
        rate = rates + (outcomes.binomial(n, rates, size=(batch, *n.shape)) / n - rates) / np.sqrt(known)
        factor = sizes.multinomial(whole, share, size=batch) / np.maximum(whole * share, 1e-300)
        yield with_rates(bins, rate, factor[..., None])


def moves_of(m: ScoreMeasure, curve: Curve, centre: Curve) -> Moves:
    """By the triangle inequality a norm changes by no more than this: gaps that moved, and weights that moved."""
    gaps = norm(curve.gap - centre.gap, curve.weight, m.order)

    def weights(gap: Floats) -> Floats:
        return np.abs(norm(gap, curve.weight, m.order) - norm(gap, centre.weight, m.order))

    up, down = np.maximum(centre.gap, 0.0), np.maximum(-centre.gap, 0.0)
    return Moves(
        gaps + weights(centre.gap), gaps + weights(up), gaps + weights(down), curve.signed, float(centre.signed)
    )


def joined_moves(pieces: list[Moves]) -> Moves:
    columns = (np.concatenate([getattr(p, c) for p in pieces]) for c in ("distance", "positive", "negative", "signed"))
    distance, positive, negative, signed = columns
    split = [p.split for p in pieces if p.split is not None]
    return Moves(distance, positive, negative, signed, pieces[0].centre, np.concatenate(split) if split else None)
