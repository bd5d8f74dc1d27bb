"""Score-level measures of each family as entries: score bias by concept, calibration bias, ROC bias."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from evenhand.measures import calibration, resolution, roc, roc_parts, score_bias
from evenhand.measures.curve import Curve, ScoreOptions, even_points, joined, norm
from evenhand.measures.measure import Family, ScoreMeasure, Summary
from evenhand.tables.scores import ScoreCounts

# A concept of score bias: its family, question, of whom the formula speaks, how they fare, and its short title.
_CONCEPTS: dict[str, tuple[Family, str, str, str, str]] = {
    "independence": ("independence", "Are scores spread alike", "", "", "independence"),
    "equal_opportunity": ("separation", "Are the scores of actual positives spread alike", ", Y=1",
                          " among actual positives", "equal opport."),
    "predictive_equality": ("separation", "Are the scores of actual negatives spread alike", ", Y=0",
                            " among actual negatives", "pred. equality"),
    "equalized_odds": ("separation", "Are the scores of people with the same outcome spread alike", ", Y=y",
                       " among people with the same outcome", "odds"),
}  # fmt: skip
# When to use a concept of score bias, and what it does not see.
_GUIDANCE: dict[str, tuple[str, str]] = {
    "independence": (
        "No outcomes are known, or equal shares of favourable decisions are the aim whatever the threshold will be.",
        "It ignores outcomes: random scores satisfy it, and perfect ones do not where base rates differ.",
    ),
    "equal_opportunity": (
        "Overlooking people with the favourable outcome is the harm, and the threshold may still change.",
        "It says nothing about people with the unfavourable outcome, and takes the outcomes for true.",
    ),
    "predictive_equality": (
        "Favouring people with the unfavourable outcome is the harm, and the threshold may still change.",
        "It says nothing about people with the favourable outcome, and takes the outcomes for true.",
    ),
    "equalized_odds": (
        "Both kinds of error do harm, and the threshold may still change.",
        "It adds up both outcomes, so look at each too. It takes the outcomes for true, and scores that are chances "
        "satisfy it only if base rates are equal or prediction is perfect.",
    ),
}
# The same of how thresholds are weighted.
_WEIGHED: dict[str, tuple[str, str]] = {
    "uniform": (
        "Scores are chances or prices, whose size matters.",
        "Every threshold counts the same, also where nobody's score is: scores turned into logits have another value.",
    ),
    "standardized": (
        "People are ranked, or scores on different scales are compared.",
        "The size of a score does not matter, and how ties are ranked does.",
    ),
}
_CLASSES = {None: "", 1: " of actual positives", 0: " of actual negatives"}
WEIGHTINGS = {"uniform": "scores", "standardized": "ranks"}
Labels = tuple[int | None, ...]
"""The classes of people a score bias compares, by label; None is everybody."""


def biases(concept: str) -> Iterator[ScoreMeasure]:
    """Score bias at all thresholds, once weighted evenly and once by people.

    >>> [m.id for m in biases("independence")]
    ['independence_uniform', 'independence_standardized']
    """
    family, asks, given, when, short = _CONCEPTS[concept]
    both = concept == "equalized_odds"
    labels: Labels = (1, 0) if both else (score_bias.LABELS[concept],)
    for weighting, over in WEIGHTINGS.items():
        ranked = over == "ranks"
        yield ScoreMeasure(
            f"{concept}_{weighting}", family,
            f"{asks}, at all thresholds {'weighted by people' if ranked else 'evenly weighted'}?",
            f"{'Σ over y of ' if both else ''}∫ |P(S>s | group{given}) − P(S>s | reference{given})| "
            f"{'dF(s)' if ranked else 'ds / |S|'}",
            f"is {'ranked' if ranked else 'scored'} {{more|less}} favourably{when}",
            f"{concept.replace('_', ' ')} ({over})", f"{short} ({over})",
            needs_label=labels != (None,), labels=tuple(y for y in labels if y is not None), classes=len(labels),
            tolerance=0.1 * len(labels), curve=distance(labels, ranked), ranked=ranked,
            summaries=means(labels, ranked), resolution=moved(labels, ranked),
            use=f"{_GUIDANCE[concept][0]} {_WEIGHED[weighting][0]}",
            limits=f"{_GUIDANCE[concept][1]} {_WEIGHED[weighting][1]}",
            split=_split(labels[0]) if ranked and len(labels) == 1 else None,
        )  # fmt: skip


def _split(label: int | None) -> Callable[[ScoreCounts, ScoreOptions], Curve] | None:
    return None if label is None else lambda counts, options: roc_parts.split(counts, label, options)


def calibration_bias(weighting: str) -> ScoreMeasure:
    """The mean gap of favourable rates over bins of scores, or of ranks."""
    over = WEIGHTINGS[weighting]
    ranked = over == "ranks"
    return ScoreMeasure(
        f"calibration_{weighting}", "sufficiency", f"Does the same {over[:-1]} mean the same, over all bins?",
        f"Σ |P(Y=1 | bin, reference) − P(Y=1 | bin, group)| · {'people in the bin' if ranked else '1 / bins'}",
        "is scored {more|less} generously", f"calibration ({over})", page="calibration-bias", ranked=ranked,
        curve=lambda bins, options, _: calibration.bias(bins, ranked),
        view=lambda counts, options: calibration.binned(counts, ranked, options),
        resolution=lambda counts, options, p=1.0: calibration.blur(counts, ranked, options, p),
        use="Somebody acts on what a score means, at any score.",
        limits="It depends on the bins, leaves out those without both groups, and says nothing about errors of "
        "decisions." + ("" if ranked else " A bin of few people counts as much as any."),
    )  # fmt: skip


def distance(labels: Labels, ranked: bool) -> Callable[[ScoreCounts, ScoreOptions, Curve | None], Curve]:
    """The gaps of CDFs of these classes of people."""
    return lambda counts, options, _: joined([score_bias.bias(counts, y, ranked, options) for y in labels])


def moved(labels: Labels, ranked: bool, p: float = 1.0) -> Callable[[ScoreCounts, ScoreOptions], float]:
    """How far a distance of order p may be off where scores are known in ranges."""
    return off(labels, p, lambda counts, y, options: resolution.of_quantiles(counts, y, ranked, options, p))


def off(
    labels: Labels, p: float, of: Callable[[ScoreCounts, int | None, ScoreOptions], float]
) -> Callable[[ScoreCounts, ScoreOptions], float]:
    """How far the norm of joined curves may be off: the norm of how far each is."""
    ones = np.ones(len(labels))
    return lambda counts, options: float(norm(np.array([of(counts, y, options) for y in labels]), ones, p))


def means(labels: Labels, ranked: bool) -> Callable[[ScoreCounts, ScoreOptions], list[Summary]]:
    """Mean scores or mean ranks of each class, whose differences are lower bounds."""

    def summaries(counts: ScoreCounts, options: ScoreOptions) -> list[Summary]:
        found: list[Summary] = []
        for label in labels:
            of = _CLASSES[label] if len(labels) > 1 else ""
            a, b = score_bias.means(counts, label, ranked, options).tolist()
            found.append((f"mean {'rank' if ranked else 'score'}{of}", a, b, a - b))
            if label is not None and ranked:
                found.append((f"Gini between groups{of}", np.nan, np.nan, float(roc.gini_between(counts, label))))
        return found

    return summaries


def mean_gap(counts: ScoreCounts, options: ScoreOptions, like: Curve | None) -> Curve:
    """The difference of mean scores, as a curve of one point."""
    mean = score_bias.means(counts, None, False, options)
    return Curve(np.zeros(1), mean[..., :1] - mean[..., 1:], np.ones(1))


def areas(name: str, which: roc.Curves) -> Callable[[ScoreCounts, ScoreOptions], list[Summary]]:
    """Areas under two ROC curves, and which part of their difference comes from whom."""

    def summaries(counts: ScoreCounts, options: ScoreOptions) -> list[Summary]:
        a, b = (float(roc.auroc(counts, *curve)) for curve in which)
        positives, negatives = roc_parts.sources(counts)
        negatives = negatives if which == roc.WITHIN else -negatives
        parts = ((f"{name}, from actual positives", positives), (f"{name}, from actual negatives", negatives))
        return [(name, a, b, a - b), *((of, np.nan, np.nan, part) for of, part in parts)]

    return summaries


def roc_bias(
    id: str, asks: str, formula: str, fares: str, short: str, which: roc.Curves, use: str, limits: str
) -> ScoreMeasure:
    return ScoreMeasure(
        id, "separation", asks, formula, fares, f"{short} bias", short, page="roc-bias", labels=(0, 1), ranked=True,
        curve=lambda counts, options, like: roc.bias(counts, which, like),
        grid=lambda counts, options: even_points(), summaries=areas(short.replace("ROC", "AUROC"), which),
        resolution=lambda counts, options, p=1.0: resolution.of_roc(counts, which, p), use=use, limits=limits,
    )  # fmt: skip
