"""One measure of whole scores on one pair of groups → the gap, with the interval of a norm."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from evenhand.cells import Floats
from evenhand.extremes import half_a_person
from evenhand.gaps import Gap, Pair, Part, judged, undefined_gap, verdict
from evenhand.inference import interval
from evenhand.inference.resample import bootstrap, smoothed
from evenhand.measures import ScoreMeasure, ScoreOptions
from evenhand.measures.curve import Curve, norm
from evenhand.measures.distribution import densities
from evenhand.scores import ScoreCounts
from evenhand.table import Counts, shown_name

RESAMPLED_SCORES = 512
"""So many scores at most are resampled; more are put together to as many cells (values stay exact)."""


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


@dataclass(frozen=True)
class Compared:
    """A gap, and how far it moved in each resample."""

    gap: Gap
    distance: Floats | None


def compare(
    measures: Sequence[ScoreMeasure],
    pair: ScoreCounts,
    options: ScoreOptions,
    confidence: float,
    draws: int,
    rng: np.random.Generator,
    most_scores: int = RESAMPLED_SCORES,
) -> list[Compared]:
    """Compare a group with its reference by every measure."""
    reasons = {m.id: _reason(m, pair) for m in measures}
    curves = {m.id: m.of(pair, options) for m in measures if reasons[m.id] is None}
    for m in measures:
        if m.id in curves and not np.isfinite(curves[m.id].norm(m.order)):
            reasons[m.id] = _nowhere(m, pair, options)
    defined = [m for m in measures if reasons[m.id] is None]
    moves = _resampled(defined, pair, options, draws, rng, most_scores) if draws else {}
    group, reference = pair.groups
    found = []
    for m in measures:
        because = reasons[m.id]
        if because is not None:
            found.append(Compared(undefined_gap(m, group, reference, because), None))
            continue
        moved = moves.get(m.id)
        gap = _gap(m, pair, curves[m.id], options, confidence, moved)
        found.append(Compared(gap, None if moved is None else moved.distance))
    return found


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


def _gap(
    m: ScoreMeasure, pair: ScoreCounts, curve: Curve, options: ScoreOptions, confidence: float, moves: Moves | None
) -> Gap:
    size = min(float(curve.norm(m.order)), m.highest)
    value, signed = float(m.outward(np.asarray(size))), float(curve.signed)
    ci, ci_bootstrap, method = _interval(m, pair, size, signed, confidence, moves)
    group, reference = pair.groups
    gap = Gap(
        m.id,
        group,
        reference,
        m.limit(pair),
        value=value,
        signed=signed if m.directed else None,
        ci=ci,
        method=method,
        ci_bootstrap=ci_bootstrap,
        parts=tuple(Part(*s, None) for s in m.summaries(pair, options)) if m.summaries else (),
        left_out_share=_left_out(curve),
    )
    gap = _with_parts(m, gap, curve, size, confidence, moves) if m.directed else gap
    passes, conclusive = verdict(m, value, ci, gap.tolerance)
    gap = replace(gap, passes=passes, conclusive=conclusive)
    return replace(gap, interpretation=_sentence(m, gap, confidence))


def _left_out(curve: Curve) -> float | None:
    share = 1 - float(curve.people)
    return None if np.isnan(share) else max(share, 0.0)


def _with_parts(m: ScoreMeasure, gap: Gap, curve: Curve, size: float, confidence: float, moves: Moves | None) -> Gap:
    """The positive and the negative part, as amounts and as shares of the whole."""
    parts = [float(curve.favouring(group, m.order)) for group in (True, False)]
    gap = replace(gap, positive=parts[0], negative=parts[1])
    if size > 0 and m.order < np.inf:  # of a largest gap there are no parts that add up
        share = min((parts[0] / size) ** m.order, 1.0)
        gap = replace(gap, positive_share=share, negative_share=1 - share)
    if moves is None:
        return gap
    # A part changes by no more than the whole curve does, so it has the interval of a norm too.
    of_parts = (
        interval.norm(part, moved, confidence, m.highest)
        for part, moved in zip(parts, (moves.positive, moves.negative), strict=True)
    )
    signed = gap.ci if m.signed else _around(float(curve.signed), moves, confidence, m.highest)
    return replace(gap, ci_signed=signed, ci_positive=next(of_parts), ci_negative=next(of_parts))


def _around(observed: float, moves: Moves, confidence: float, highest: float) -> Pair | None:
    """Percentile interval of a signed sum, moved from what resamples vary around to what was observed."""
    if np.isnan(moves.signed).mean() > (1 - confidence) / 2:
        return None
    lo, hi = (float(b) + observed - moves.centre for b in interval.percentile(moves.signed, confidence))
    return max(lo, -highest), min(hi, highest)


def _interval(
    m: ScoreMeasure, pair: ScoreCounts, size: float, signed: float, confidence: float, moves: Moves | None
) -> tuple[Pair | None, Pair | None, str | None]:
    """Of the gap, by its own method and by the bootstrap."""
    if m.single:
        percentile = None if moves is None else _around(signed, moves, confidence, m.highest)
        return _welch(pair, signed, confidence), percentile, "Welch"
    if moves is None:
        return None, None, None
    lo, hi = interval.norm(size, moves.distance, confidence, m.highest)
    ci = m.outward_interval(lo, hi)
    return ci, ci, "bootstrap of the norm"


def _welch(pair: ScoreCounts, difference: float, confidence: float) -> Pair | None:
    """Welch's interval for a difference of mean scores; None for a group of one."""
    from scipy.special import stdtrit

    anybody = pair.pooled / pair.pooled.sum()  # or a group with one score would be certain
    moments = []
    for g in (0, 1):
        own = pair.of()[g]
        squares = own if pair.squares is None else pair.squares[:, g].sum(-1)
        n = own.sum() ** 2 / squares.sum()
        weight, square = own + pair.person * anybody, squares + pair.person**2 * anybody
        away = (pair.unit - weight @ pair.unit / weight.sum()) ** 2
        # Σw²(x − mean)²/(Σw)² is the linearised variance of a weighted mean
        moments.append((n, square @ away / weight.sum() ** 2 * n / max(n - 1, 1e-9)))
    n, variance = np.array(moments).T
    if (n <= 1 + 1e-9).any():
        return None
    if variance.sum() == 0:
        return difference, difference
    df = variance.sum() ** 2 / (variance**2 / (n - 1)).sum()
    half = float(stdtrit(df, (1 + confidence) / 2) * np.sqrt(variance.sum()))
    return max(difference - half, -1.0), min(difference + half, 1.0)


def _sentence(m: ScoreMeasure, gap: Gap, confidence: float) -> str:
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
    options: ScoreOptions,
    draws: int,
    rng: np.random.Generator,
    most_scores: int,
) -> dict[str, Moves]:
    """What resamples say about each measure. Measures on bins resample their bins, all others share their draws."""
    found = {}
    draw_scores, draw_bins = rng.spawn(2)
    whole = [m for m in measures if m.view is None]
    if whole:
        coarse = pair.coarse(most_scores)
        extra = one_of_everybody(coarse)
        population = replace(coarse, array=smoothed(coarse, extra))
        grids = {m.id: None if m.grid is None else m.grid(population, options) for m in whole}
        centres = {m.id: m.curve(population, options, grids[m.id]) for m in whole}
        pieces: dict[str, list[Moves]] = {m.id: [] for m in whole}
        for batch in bootstrap(coarse, draws, draw_scores, extra):
            for m in whole:
                pieces[m.id].append(_moves(m, m.curve(batch, options, grids[m.id]), centres[m.id]))
        found.update({id_: _joined(p) for id_, p in pieces.items()})
    for m in measures:
        if m.view is not None:
            bins = m.view(pair, options)
            extra = half_a_person("bins", bins)
            centre = m.curve(Counts(smoothed(bins, extra), bins.groups), options, None)
            batches = bootstrap(bins, draws, deepcopy(draw_bins), extra)
            found[m.id] = _joined([_moves(m, m.curve(b, options, None), centre) for b in batches])
    return found


def one_of_everybody(pair: ScoreCounts) -> Floats:
    """One person more for each group, with anybody's score and either label: what six people happen to lack exists."""
    person = (pair.pooled / pair.pooled.sum())[:, None, None] / pair.array.shape[-1]
    return np.asarray(np.broadcast_to(person, pair.array.shape))


def _moves(m: ScoreMeasure, curve: Curve, centre: Curve) -> Moves:
    """By the triangle inequality a norm changes by no more than this: gaps that moved, and weights that moved."""
    gaps = norm(curve.gap - centre.gap, curve.weight, m.order)

    def weights(gap: Floats) -> Floats:
        return np.abs(norm(gap, curve.weight, m.order) - norm(gap, centre.weight, m.order))

    up, down = np.maximum(centre.gap, 0.0), np.maximum(-centre.gap, 0.0)
    return Moves(
        gaps + weights(centre.gap), gaps + weights(up), gaps + weights(down), curve.signed, float(centre.signed)
    )


def _joined(pieces: list[Moves]) -> Moves:
    def column(name: str) -> Floats:
        return np.concatenate([getattr(p, name) for p in pieces])

    return Moves(column("distance"), column("positive"), column("negative"), column("signed"), pieces[0].centre)
