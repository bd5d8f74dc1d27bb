"""The registry: one entry per measure. Report, command line, documentation and property tests read it.

There are two kinds. A `RateMeasure` compares a *profile* of each group: one rate, two rates, or a rate per score
bin. The profile is an array (…, component, group); the gap is the difference, the ratio, or the largest difference
over components. A `ScoreMeasure` compares two groups at all scores: a *curve* of signed gaps and weights
(…, point), of which it takes the norm. Leading axes are resamples in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from evenhand.measures import calibration, distribution, resolution, roc, roc_parts, score_bias
from evenhand.measures.curve import Curve, ScoreOptions, even_points, joined, norm, parted
from evenhand.measures.measure import Family, Measure, Profile, RateMeasure, ScoreMeasure, Summary, shares
from evenhand.measures.rates import RATES, ratio
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts


def _treatment(counts: Counts) -> Profile:
    # FNR and FPR rest on different people (actual positives, actual negatives), so they are independent.
    fnr, fpr = shares(counts, ["fnr"]), shares(counts, ["fpr"])
    return Profile(ratio(fnr.values, fpr.values), quotient=(fnr, fpr))


# ---- score-level measures ----------------------------------------------------------------------------------

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
_WEIGHTINGS = {"uniform": "scores", "standardized": "ranks"}
Labels = tuple[int | None, ...]
"""The classes of people a score bias compares, by label; None is everybody."""


def _biases(concept: str) -> Iterator[ScoreMeasure]:
    """Score bias at all thresholds, once weighted evenly and once by people."""
    family, asks, given, when, short = _CONCEPTS[concept]
    both = concept == "equalized_odds"
    labels: Labels = (1, 0) if both else (score_bias.LABELS[concept],)
    for weighting, over in _WEIGHTINGS.items():
        ranked = over == "ranks"
        yield ScoreMeasure(
            f"{concept}_{weighting}", family,
            f"{asks}, at all thresholds {'weighted by people' if ranked else 'evenly weighted'}?",
            f"{'Σ over y of ' if both else ''}∫ |P(S>s | group{given}) − P(S>s | reference{given})| "
            f"{'dF(s)' if ranked else 'ds / |S|'}",
            f"is {'ranked' if ranked else 'scored'} {{more|less}} favourably{when}",
            f"{concept.replace('_', ' ')} ({over})", f"{short} ({over})",
            needs_label=labels != (None,), labels=tuple(y for y in labels if y is not None), classes=len(labels),
            tolerance=0.1 * len(labels), curve=_distance(labels, ranked), ranked=ranked,
            summaries=_means(labels, ranked), resolution=_moved(labels, ranked),
            use=f"{_GUIDANCE[concept][0]} {_WEIGHED[weighting][0]}",
            limits=f"{_GUIDANCE[concept][1]} {_WEIGHED[weighting][1]}",
            split=_split(labels[0]) if ranked and len(labels) == 1 else None,
        )  # fmt: skip


def _split(label: int | None) -> Callable[[ScoreCounts, ScoreOptions], Curve] | None:
    return None if label is None else lambda counts, options: roc_parts.split(counts, label, options)


def _calibration_bias(weighting: str) -> ScoreMeasure:
    over = _WEIGHTINGS[weighting]
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


def _distance(labels: Labels, ranked: bool) -> Callable[[ScoreCounts, ScoreOptions, Curve | None], Curve]:
    return lambda counts, options, _: joined([score_bias.bias(counts, y, ranked, options) for y in labels])


def _moved(labels: Labels, ranked: bool, p: float = 1.0) -> Callable[[ScoreCounts, ScoreOptions], float]:
    return _off(labels, p, lambda counts, y, options: resolution.of_quantiles(counts, y, ranked, options, p))


def _off(
    labels: Labels, p: float, of: Callable[[ScoreCounts, int | None, ScoreOptions], float]
) -> Callable[[ScoreCounts, ScoreOptions], float]:
    """How far the norm of joined curves may be off: the norm of how far each is."""
    ones = np.ones(len(labels))
    return lambda counts, options: float(norm(np.array([of(counts, y, options) for y in labels]), ones, p))


def _means(labels: Labels, ranked: bool) -> Callable[[ScoreCounts, ScoreOptions], list[Summary]]:
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


def _mean_gap(counts: ScoreCounts, options: ScoreOptions, like: Curve | None) -> Curve:
    mean = score_bias.means(counts, None, False, options)
    return Curve(np.zeros(1), mean[..., :1] - mean[..., 1:], np.ones(1))


def _roc_bias(
    id: str, asks: str, formula: str, fares: str, short: str, which: roc.Curves, use: str, limits: str
) -> ScoreMeasure:
    def areas(counts: ScoreCounts, options: ScoreOptions) -> list[Summary]:
        a, b = (float(roc.auroc(counts, *curve)) for curve in which)
        area, (positives, negatives) = short.replace("ROC", "AUROC"), roc_parts.sources(counts)
        negatives = negatives if which == roc.WITHIN else -negatives
        parts = ((f"{area}, from actual positives", positives), (f"{area}, from actual negatives", negatives))
        return [(area, a, b, a - b), *((name, np.nan, np.nan, part) for name, part in parts)]

    return ScoreMeasure(
        id, "separation", asks, formula, fares, f"{short} bias", short, page="roc-bias", labels=(0, 1), ranked=True,
        curve=lambda counts, options, like: roc.bias(counts, which, like),
        grid=lambda counts, options: even_points(), summaries=areas,
        resolution=lambda counts, options, p=1.0: resolution.of_roc(counts, which, p), use=use, limits=limits,
    )  # fmt: skip


# fmt: off
MEASURES: dict[str, Measure] = {m.id: m for m in (
    RateMeasure("demographic_parity", "independence", "Is the favourable decision given equally often?",
                "P(Ŷ=1 | group) − P(Ŷ=1 | reference)", "receives the favourable decision {more|less} often",
                short="dem. parity", components=("selection_rate",), needs_label=False,
                use="Equal shares of favourable decisions are the aim, as in advertising or outreach, or no outcomes "
                "are known.",
                limits="It ignores outcomes: a random decision satisfies it, and a perfect one does not where base "
                "rates differ, so it may cost accuracy."),
    RateMeasure("disparate_impact", "independence", "Is the selection rate at least four fifths of the other's?",
                "P(Ŷ=1 | group) / P(Ŷ=1 | reference)", "receives the favourable decision {more|less} often",
                short="impact", components=("selection_rate",), scale="ratio", needs_label=False, tolerance=0.8,
                use="A rule asks for it, such as the four-fifths rule of US employment practice, or selection is "
                "rare and a difference of rates looks small.",
                limits="As demographic parity it ignores outcomes. Where few are selected the ratio is uncertain, "
                "and where most are it hides large differences among the rejected."),
    RateMeasure("delta_dp_b", "independence", "How far apart are the shares of favourable decisions?",
                "|P(S≥t | group) − P(S≥t | reference)|", "receives the favourable decision {more|less} often",
                "ΔDP of decisions", page="distributions", components=("selection_rate",), needs_label=False,
                use="A published value of ΔDP at a threshold is to be compared.",
                limits="It is demographic parity under another name: it depends on the threshold, and 0 at one says "
                "nothing about the others."),
    ScoreMeasure("delta_dp_c", "independence", "How far apart are the mean scores?",
                 "|E[S | group] − E[S | reference]|", "has {more|less} favourable scores on average",
                 "ΔDP of mean scores", page="distributions", needs_label=False, curve=_mean_gap, single=True,
                 summaries=_means((None,), False), resolution=_moved((None,), False),
                 use="Scores themselves are used, as prices or amounts are, and their average matters.",
                 limits="Groups with equal means may still be scored differently: gaps in opposite directions "
                 "cancel."),
    ScoreMeasure("abcc", "independence", "How far apart are decisions at all thresholds together?",
                 "∫ |F(s | group) − F(s | reference)| ds", "is scored {more|less} favourably",
                 "area between CDFs (ABCC)", "ABCC", page="distributions", needs_label=False,
                 curve=_distance((None,), False), summaries=_means((None,), False), resolution=_moved((None,), False),
                 use="Scores are used without a fixed threshold, and how far people are apart matters.",
                 limits="It ignores outcomes, and depends on the scale: scores turned into logits have another value."),
    ScoreMeasure("abpc", "independence", "How many people are scored differently?",
                 "∫ |f(s | group) − f(s | reference)| ds", "has {more|fewer} people at some scores",
                 "area between PDFs (ABPC)", "ABPC", page="distributions", needs_label=False, tolerance=0.2,
                 curve=distribution.area, grid=distribution.sparse_grid, smooth=True, directed=False,
                 resolution=resolution.of_densities,
                 use="Scores should be distributed identically, however small the way between two of them.",
                 limits="It ignores outcomes, does not say who is favoured, and depends on the bandwidth. Below about "
                 "100 people, or where scores are few, it is mostly noise, which is never small."),
    ScoreMeasure("mutual_information", "independence", "How much does a score tell about the group?",
                 "H(S) − Σ P(g) H(S | g)", "has {more|fewer} people at some scores", page="distributions",
                 needs_label=False, tolerance=0.005, curve=distribution.information, grid=distribution.sparse_grid,
                 smooth=True, order=2.0, information=True, directed=False, resolution=resolution.of_information,
                 use="A score should tell nothing about the group, whoever is favoured.",
                 limits="It ignores outcomes, does not say who is favoured, depends on the bandwidth, and is in no "
                 "unit that people can picture."),
    *_biases("independence"),
    RateMeasure("equal_opportunity", "separation", "Are actual positives given the favourable decision equally often?",
                "TPR(group) − TPR(reference)", "has a {higher|lower} true positive rate",
                short="eq. opp.", components=("tpr",),
                use="Overlooking people with the favourable outcome is the harm: hiring, admission, treatment.",
                limits="It ignores false positives, which may differ freely. It needs outcomes and takes them for "
                "true."),
    RateMeasure("predictive_equality", "separation",
                "Are actual negatives given the favourable decision equally often?", "FPR(group) − FPR(reference)",
                "has a {higher|lower} false positive rate", short="pred. eq.", components=("fpr",),
                use="A favourable decision for people with the unfavourable outcome is the harm, or, turned round, a "
                "wrong accusation.",
                limits="It ignores people with the favourable outcome. It needs outcomes and takes them for true."),
    RateMeasure("equalized_odds", "separation", "Are both error rates equal?", "max(|ΔTPR|, |ΔFPR|)",
                "has {higher|lower} rates", short="odds", components=("tpr", "fpr"),
                use="Both kinds of error do harm: justice, medical diagnosis.",
                limits="Where base rates differ it excludes demographic parity, unless decisions ignore the outcome, "
                "and it may cost accuracy. It needs outcomes and takes them for true."),
    *_biases("equal_opportunity"),
    *_biases("predictive_equality"),
    *_biases("equalized_odds"),
    _roc_bias("roc", "Does the score rank people equally well within each group?",
              "∫ |ROC(group) − ROC(reference)|", "is ranked {more|less} reliably", "ROC", roc.WITHIN,
              use="Each group is ranked on its own, and who is ranked well should not depend on the group.",
              limits="It compares people within their group only: a whole group can be shifted up or down without "
              "changing it."),
    _roc_bias("xroc", "Are people ranked equally well across groups?",
              "∫ |ROC(Y=1 of group, Y=0 of reference) − ROC(Y=1 of reference, Y=0 of group)|",
              "wins {more|fewer} comparisons across groups", "cross-ROC", roc.ACROSS,
              use="People of different groups compete in one list.",
              limits="It shows who wins comparisons across groups, not why: different means do it, and so does a "
              "score that is worse for one group."),
    RateMeasure("predictive_parity", "sufficiency", "Does a favourable decision mean the same?",
                "PPV(group) − PPV(reference)", "turns out well {more|less} often once selected", components=("ppv",),
                use="A favourable decision should mean the same for everybody: credit, risk assessment.",
                limits="Where base rates differ it excludes equalized odds, unless everybody selected turns out well. "
                "Selection rates may differ freely, and it needs outcomes."),
    RateMeasure("negative_predictive_parity", "sufficiency", "Does an unfavourable decision mean the same?",
                "NPV(group) − NPV(reference)", "is rightly rejected {more|less} often once rejected",
                short="neg. predictive parity", components=("npv",),
                use="An unfavourable decision should mean the same for everybody.",
                limits="Where base rates differ it excludes equalized odds, unless nobody is wrongly rejected. "
                "Outcomes of the rejected are often unknown."),
    RateMeasure("calibration_gap", "sufficiency", "Does the same score mean the same?",
                "max over bins |P(Y=1 | bin, group) − P(Y=1 | bin, reference)|", "has {higher|lower} favourable rates",
                components=(), other=lambda counts: Profile(*calibration.observed(counts)), levels="bins",
                use="Scores are read as chances: medical risk, forecasts, prices that follow from a risk.",
                limits="It is the largest gap over bins, so bins of few people decide its value. Both groups may be "
                "equally wrong. Where base rates differ, scores that are chances cannot also have equal means among "
                "people with the same outcome, unless prediction is perfect."),
    *map(_calibration_bias, _WEIGHTINGS),
    RateMeasure("accuracy_parity", "accuracy", "Are decisions equally often right?",
                "accuracy(group) − accuracy(reference)", "is decided correctly {more|less} often",
                components=("accuracy",),
                use="As a first look at whether the model is as good for every group.",
                limits="It counts both kinds of error as one: groups with opposite errors can be equal."),
    RateMeasure("treatment_equality", "accuracy", "Do errors fall to the same side?",
                "FNR/FPR(group) − FNR/FPR(reference)", "has {more|fewer} harmful errors for each helpful one",
                components=("fnr/fpr",), other=_treatment, rests_on=("fnr", "fpr"), permuted_within="label",
                use="The question is on which side the errors of each group fall.",
                limits="Where false positives are rare the ratio explodes, and equal ratios can hide different "
                "numbers of errors."),
)}
# fmt: on


def documentation_row(m: Measure) -> str:
    """Its row in the table of its page of the documentation.

    >>> documentation_row(MEASURES["equalized_odds"])
    '| `equalized_odds` | Are both error rates equal? | max(\\\\|ΔTPR\\\\|, \\\\|ΔFPR\\\\|) | 0.1 |'
    """
    ratio = m.scale == "ratio"
    tolerance = f"{m.tolerance:g} to {1 / m.tolerance:g}" if ratio else f"{'±' if m.signed else ''}{m.tolerance:g}"
    return " | ".join((f"| `{m.id}`", m.asks, m.formula.replace("|", "\\|"), tolerance)) + " |"


def guidance_row(m: Measure) -> str:
    """Its row in the table of its page that says when to use it.

    >>> guidance_row(MEASURES["equalized_odds"]).partition(" | ")[2][:27]
    'Both kinds of error do harm'
    """
    return f"| `{m.id}` | {m.use} | {m.limits} |"


def hypothesis(m: Measure) -> str:
    """What its test is about: measures that are one number, or whose p-value is another's, have the same.

    The p-value of a ratio of rates is that of their difference, ABCC is the independence bias by score, and W1 and L1
    are the bias itself.

    >>> hypothesis(MEASURES["disparate_impact"]) == hypothesis(MEASURES["delta_dp_b"])
    True
    """
    if isinstance(m, RateMeasure) and m.other is None:
        return "+".join(m.components)
    plain = re.sub("_[wl]1$", "", m.id)
    return "independence_uniform" if plain == "abcc" else plain


_VARIANT = re.compile(r"(\w+)_(ratio|[wl](?:[0-9]+(?:\.[0-9]+)?|inf))", re.ASCII)
_VARIED = ("score-bias", "calibration-bias", "roc-bias")
_LARGER = " Large gaps count for more than many small ones."
_LARGEST = " Only the largest gap counts, which is mostly noise where people are few."


def find(id: str) -> Measure | None:
    """The measure of that name: one of the registry, or a variant of a score, calibration or ROC bias.

    `_l2` is the L2 norm of the gaps (`_linf` the largest of them). Of score biases there are two more: `_w2`, the true
    Wasserstein-2 distance (any number from 1), and, of one class of people, `_ratio`, the mean impact ratio, the lower
    positive rate over the higher.

    >>> find("equal_opportunity_uniform_w2").title, find("roc_linf").title
    ('equal opportunity (scores, W2)', 'ROC bias (Linf)')
    """
    if id in MEASURES:
        return MEASURES[id]
    match = _VARIANT.fullmatch(id)
    plain = None if match is None else MEASURES.get(match[1])
    if match is None or not isinstance(plain, ScoreMeasure) or plain.page not in _VARIED:
        return None
    suffix = match[2] if match[2] == "ratio" else match[2].capitalize()
    title, short = (_with_suffix(name, suffix) for name in (plain.title, plain.short))
    return _variant(replace(plain, id=id, title=title, short=short), match[2])


def _with_suffix(title: str, suffix: str) -> str:
    return f"{title[:-1]}, {suffix})" if title.endswith(")") else f"{title} ({suffix})"


def _variant(plain: ScoreMeasure, name: str) -> ScoreMeasure | None:
    of_scores, labels, ranked = plain.page == "score-bias", plain.labels or (None,), plain.ranked
    if name == "ratio":
        return _mean_ratio(plain, labels[0], ranked) if of_scores and len(labels) == 1 else None
    p = float(name[1:])
    if p < 1 or f"{p:g}" != name[1:] or (name[0] == "w" and (p == np.inf or not of_scores)):
        return None
    # norms of two classes that are each as large as they may be
    tolerance = round(plain.tolerance / plain.classes * plain.classes ** (1 / p), 3)
    more = _LARGEST if p == np.inf else _LARGER if p > 1 else ""
    plain = replace(plain, order=p, tolerance=tolerance, split=None, limits=plain.limits + more)
    if not of_scores:
        return replace(
            plain, formula=_of_order(plain.formula, p), signed_resolution=plain.resolution,
            resolution=plain.resolution and partial(plain.resolution, p=p),
        )  # fmt: skip
    each = "" if len(labels) == 1 else "Σ over y of "
    if name[0] == "w":
        return replace(
            plain, formula=f"({each}∫ |Q(group) − Q(reference)|^{p:g} du)^(1/{p:g})",
            curve=lambda counts, options, like: joined([
                score_bias.quantile_gap(counts, y, ranked, options, part)
                for y, part in zip(labels, parted(like, len(labels)), strict=True)
            ]),
            grid=lambda counts, options: joined([even_points()] * len(labels)), resolution=_moved(labels, ranked, p),
            signed_resolution=_moved(labels, ranked),
        )  # fmt: skip
    return replace(
        plain, formula=_of_order(f"{each}∫ |F(group) − F(reference)| d{'r' if ranked else 's'}", p),
        resolution=_off(labels, p, lambda counts, y, options: resolution.of_cdfs(counts, y, ranked, options, p)),
        signed_resolution=_moved(labels, ranked),  # no gap may be larger, and all of them may have grown
    )  # fmt: skip


def _mean_ratio(plain: ScoreMeasure, label: int | None, ranked: bool) -> ScoreMeasure:
    return replace(
        plain, formula="∫ min(P(S>s | group), P(S>s | reference)) / max(…)", scale="ratio", tolerance=0.8,
        summaries=None, split=None,
        curve=lambda counts, options, like: score_bias.shortfall(counts, label, ranked, options, like),
        grid=lambda counts, options: score_bias.shortfall(counts, label, ranked, options),
        resolution=lambda counts, options: resolution.of_ratio(counts, label, ranked, options),
    )  # fmt: skip


def _of_order(formula: str, p: float) -> str:
    """The formula of a sum or an integral of absolute gaps with its L_p norm, or the largest gap."""
    match = re.fullmatch(r"(Σ over y of |)([∫Σ]) (\|.*\|)(.*)", formula)
    assert match is not None
    each, adds, gap, weight = match.groups()
    if p == np.inf:
        return f"{'max over bins' if adds == 'Σ' else 'sup over s and y' if each else 'sup'} {gap}"
    return f"({each}{adds} {gap}^{p:g}{weight})^(1/{p:g})"


__all__ = [
    "MEASURES", "RATES", "Family", "Measure", "Profile", "RateMeasure", "ScoreMeasure", "ScoreOptions", "find",
]  # fmt: skip
