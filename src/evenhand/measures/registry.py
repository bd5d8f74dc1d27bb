"""The registry: one entry per measure. Report, command line, documentation and property tests read it.

There are two kinds. A `RateMeasure` compares a *profile* of each group: one rate, two rates, or a rate per score
bin. The profile is an array (…, component, group); the gap is the difference, the ratio, or the largest difference
over components. A `ScoreMeasure` compares two groups over the whole score: a *curve* of signed gaps and weights
(…, point), of which it takes the norm. Leading axes are resamples in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenhand.measures import calibration, distribution, roc, score_bias
from evenhand.measures.curve import Curve, ScoreOptions
from evenhand.measures.measure import Family, Measure, Profile, RateMeasure, ScoreMeasure, Summary
from evenhand.measures.rates import RATES, ratio, share, trials
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts

BINS = 10


def _shares(*rates: str) -> Callable[[Counts], Profile]:
    def profile(counts: Counts) -> Profile:
        return Profile(
            np.stack([share(counts, r) for r in rates], axis=-2),
            np.stack([trials(counts, r) for r in rates], axis=-2),
        )

    return profile


def _treatment(counts: Counts) -> Profile:
    # FNR and FPR rest on different people (the deserving, the others), so they are independent.
    fnr, fpr = _shares("fnr")(counts), _shares("fpr")(counts)
    return Profile(ratio(fnr.values, fpr.values), quotient=(fnr, fpr))


def _calibration(counts: Counts) -> Profile:
    return Profile(*calibration.observed(counts))


# ---- measures of whole scores -----------------------------------------------------------------------------

_FAMILY: dict[str, Family] = {
    "independence": "independence", "equal_opportunity": "separation", "predictive_equality": "separation",
}  # fmt: skip
_WHO = {"independence": "", "equal_opportunity": " when deserving", "predictive_equality": " when undeserving"}
_GIVEN = {"independence": "", "equal_opportunity": ", Y=1", "predictive_equality": ", Y=0"}
_ASKS = {
    "independence": "Are scores spread alike?",
    "equal_opportunity": "Are the scores of the deserving spread alike?",
    "predictive_equality": "Are the scores of the undeserving spread alike?",
}


def _bias(concept: str, standardized: bool) -> ScoreMeasure:
    label = score_bias.LABELS[concept]
    given = _GIVEN[concept]
    over, per = ("ranks", "dF(s)") if standardized else ("scores", "ds / |S|")
    thresholds = "weighted by people" if standardized else "evenly weighted"
    return ScoreMeasure(
        f"{concept}_{'standardized' if standardized else 'uniform'}",
        f"{concept.replace('_', ' ')} ({over})",
        _FAMILY[concept],
        f"{_ASKS[concept][:-1]}, at all thresholds {thresholds}?",
        f"∫ |P(S>s | group{given}) − P(S>s | reference{given})| {per}",
        f"is {'ranked' if standardized else 'scored'} more favourably{_WHO[concept]}",
        f"is {'ranked' if standardized else 'scored'} less favourably{_WHO[concept]}",
        needs_label=label is not None,
        curve=lambda counts, options, _: score_bias.bias(counts, label, standardized, options),
        labels=() if label is None else (label,),
        ranked=standardized,
        summaries=_means(label, standardized),
    )


def _means(label: int | None, standardized: bool) -> Callable[[ScoreCounts, ScoreOptions], list[Summary]]:
    name = "mean rank" if standardized else "mean score"

    def summaries(counts: ScoreCounts, options: ScoreOptions) -> list[Summary]:
        a, b = score_bias.means(counts, label, standardized, options).tolist()
        found: list[Summary] = [(name, a, b, a - b)]
        if label is not None and standardized:
            found.append(("Gini between groups", np.nan, np.nan, float(roc.gini_between(counts, label))))
        return found

    return summaries


def _areas(name: str, which: roc.Curves) -> Callable[[ScoreCounts, ScoreOptions], list[Summary]]:
    def summaries(counts: ScoreCounts, options: ScoreOptions) -> list[Summary]:
        a, b = (float(roc.auroc(counts, *curve)) for curve in which)
        return [(name, a, b, a - b)]

    return summaries


def _mean_gap(counts: ScoreCounts, options: ScoreOptions, like: Curve | None) -> Curve:
    mean = score_bias.means(counts, None, False, options)
    return Curve(np.zeros(1), mean[..., :1] - mean[..., 1:], np.ones(1))


def _calibration_bias(standardized: bool) -> ScoreMeasure:
    per = "people in the bin" if standardized else "1 / bins"
    return ScoreMeasure(
        f"calibration_{'standardized' if standardized else 'uniform'}",
        f"calibration ({'ranks' if standardized else 'scores'})",
        "sufficiency",
        f"Does the same {'rank' if standardized else 'score'} mean the same, over all bins?",
        f"Σ |P(Y=1 | bin, reference) − P(Y=1 | bin, group)| · {per}",
        "is scored more generously",
        "is scored less generously",
        curve=lambda bins, options, _: calibration.bias(bins, standardized),
        view=lambda counts, options: calibration.binned(counts, standardized, options),
        ranked=standardized,
    )


# fmt: off
MEASURES: dict[str, Measure] = {m.id: m for m in (
    RateMeasure("demographic_parity", "demographic parity", "independence",
                "Is the favourable decision given equally often?", "P(Ŷ=1 | group) − P(Ŷ=1 | reference)",
                "receives the favourable decision more often", "receives the favourable decision less often",
                profile=_shares("selection_rate"), components=("selection_rate",),
                needs_label=False),
    RateMeasure("disparate_impact", "disparate impact", "independence",
                "Is the selection rate at least four fifths of the other's?", "P(Ŷ=1 | group) / P(Ŷ=1 | reference)",
                "receives the favourable decision more often", "receives the favourable decision less often",
                profile=_shares("selection_rate"), components=("selection_rate",),
                scale="ratio", needs_label=False, tolerance=0.8),
    RateMeasure("delta_dp_b", "ΔDP of decisions", "independence",
                "How far apart are the shares of favourable decisions?", "|P(S≥t | group) − P(S≥t | reference)|",
                "receives the favourable decision more often", "receives the favourable decision less often",
                profile=_shares("selection_rate"), components=("selection_rate",), needs_label=False),
    ScoreMeasure("delta_dp_c", "ΔDP of mean scores", "independence",
                 "How far apart are the mean scores?", "|E[S | group] − E[S | reference]|",
                 "has more favourable scores on average", "has less favourable scores on average",
                 needs_label=False, curve=_mean_gap, single=True, summaries=_means(None, False)),
    ScoreMeasure("abcc", "area between CDFs (ABCC)", "independence",
                 "How far apart are decisions at all thresholds together?", "∫ |F(s | group) − F(s | reference)| ds",
                 "is scored more favourably", "is scored less favourably", needs_label=False,
                 curve=lambda counts, options, _: score_bias.bias(counts, None, False, options),
                 summaries=_means(None, False)),
    ScoreMeasure("abpc", "area between PDFs (ABPC)", "independence",
                 "How many people are scored differently?", "∫ |f(s | group) − f(s | reference)| ds",
                 "has more people at some scores", "has fewer people at some scores", needs_label=False,
                 tolerance=0.2, curve=distribution.area, grid=distribution.sparse_grid, smooth=True, directed=False),
    ScoreMeasure("mutual_information", "mutual information", "independence",
                 "How much does a score tell about the group?", "H(S) − Σ P(g) H(S | g)",
                 "has more people at some scores", "has fewer people at some scores", needs_label=False,
                 tolerance=0.005, curve=distribution.information, grid=distribution.sparse_grid, smooth=True,
                 order=2.0, information=True, directed=False),
    _bias("independence", standardized=False),
    _bias("independence", standardized=True),
    RateMeasure("equal_opportunity", "equal opportunity", "separation",
                "Do the deserving get the favourable decision equally often?", "TPR(group) − TPR(reference)",
                "is recognised more often when deserving", "is recognised less often when deserving",
                profile=_shares("tpr"), components=("tpr",)),
    RateMeasure("predictive_equality", "predictive equality", "separation",
                "Do the undeserving get the favourable decision equally often?", "FPR(group) − FPR(reference)",
                "gets the benefit of an error more often", "gets the benefit of an error less often",
                profile=_shares("fpr"), components=("fpr",)),
    RateMeasure("equalized_odds", "equalized odds", "separation",
                "Are both error rates equal?", "max(|ΔTPR|, |ΔFPR|)",
                "has higher rates", "has lower rates",
                profile=_shares("tpr", "fpr"), components=("tpr", "fpr")),
    _bias("equal_opportunity", standardized=False),
    _bias("equal_opportunity", standardized=True),
    _bias("predictive_equality", standardized=False),
    _bias("predictive_equality", standardized=True),
    ScoreMeasure("roc", "ROC bias", "separation",
                 "Does the score tell people apart equally well within each group?", "∫ |ROC(group) − ROC(reference)|",
                 "is told apart more reliably", "is told apart less reliably", labels=(0, 1), ranked=True,
                 curve=lambda counts, options, like: roc.bias(counts, roc.WITHIN, like),
                 grid=lambda counts, options: roc.even_rates(), summaries=_areas("AUROC", roc.WITHIN)),
    ScoreMeasure("xroc", "cross-ROC bias", "separation",
                 "Are people told apart equally well across groups?",
                 "∫ |ROC(Y=1 of group, Y=0 of reference) − ROC(Y=1 of reference, Y=0 of group)|",
                 "wins more comparisons across groups", "wins fewer comparisons across groups",
                 labels=(0, 1), ranked=True,
                 curve=lambda counts, options, like: roc.bias(counts, roc.ACROSS, like),
                 grid=lambda counts, options: roc.even_rates(), summaries=_areas("cross-AUROC", roc.ACROSS)),
    RateMeasure("predictive_parity", "predictive parity", "sufficiency",
                "Does a favourable decision mean the same?", "PPV(group) − PPV(reference)",
                "turns out well more often once selected", "turns out well less often once selected",
                profile=_shares("ppv"), components=("ppv",)),
    RateMeasure("negative_predictive_parity", "negative predictive parity", "sufficiency",
                "Does an unfavourable decision mean the same?", "NPV(group) − NPV(reference)",
                "is rightly rejected more often once rejected", "is rightly rejected less often once rejected",
                profile=_shares("npv"), components=("npv",)),
    RateMeasure("calibration_gap", "calibration gap", "sufficiency",
                "Does the same score mean the same?", "max over bins |P(Y=1 | bin, group) − P(Y=1 | bin, reference)|",
                "has higher favourable rates", "has lower favourable rates",
                profile=_calibration, components=(), levels="bins"),
    _calibration_bias(standardized=False),
    _calibration_bias(standardized=True),
    RateMeasure("accuracy_parity", "accuracy parity", "accuracy",
                "Are decisions equally often right?", "accuracy(group) − accuracy(reference)",
                "is decided correctly more often", "is decided correctly less often",
                profile=_shares("accuracy"), components=("accuracy",)),
    RateMeasure("treatment_equality", "treatment equality", "accuracy",
                "Do errors fall to the same side?", "FNR/FPR(group) − FNR/FPR(reference)",
                "has more harmful errors for each helpful one", "has fewer harmful errors for each helpful one",
                profile=_treatment, components=("fnr/fpr",),
                rests_on=("fnr", "fpr"), exchanges="label"),
)}
# fmt: on


_VARIANT = re.compile(r"(\w+)_(uniform|standardized)_(ratio|[wl](?:[0-9]+(?:\.[0-9]+)?|inf))", re.ASCII)


def find(id: str) -> Measure | None:
    """The measure of that name: one of the registry, or a variant of a score bias of independence or separation.

    `_w2` is the true Wasserstein-2 distance (any number from 1), `_l2` the L2 distance of cumulated shares (`_linf` the
    largest gap over all thresholds), `_ratio` the mean impact ratio, the lower positive rate over the higher.

    >>> find("equal_opportunity_uniform_w2").title
    'equal opportunity (scores, W2)'
    """
    if id in MEASURES:
        return MEASURES[id]
    match = _VARIANT.fullmatch(id)
    if match is None or match[1] not in score_bias.LABELS:
        return None
    plain = MEASURES[f"{match[1]}_{match[2]}"]
    assert isinstance(plain, ScoreMeasure)
    return _variant(plain, id, match[3], score_bias.LABELS[match[1]], match[2] == "standardized")


def _variant(plain: ScoreMeasure, id: str, name: str, label: int | None, standardized: bool) -> ScoreMeasure | None:
    over = "r" if standardized else "s"
    if name == "ratio":
        return replace(
            plain, id=id, title=f"{plain.title[:-1]}, ratio)",
            formula="∫ min(P(S>s | group), P(S>s | reference)) / max(…)", scale="ratio", tolerance=0.8, summaries=None,
            curve=lambda counts, options, like: score_bias.shortfall(counts, label, standardized, options, like),
            grid=lambda counts, options: score_bias.shortfall(counts, label, standardized, options),
        )  # fmt: skip
    p = float(name[1:])
    if p < 1 or f"{p:g}" != name[1:] or (name[0] == "w" and p == np.inf):
        return None
    if name[0] == "l":
        formula = (
            "sup |F(group) − F(reference)|" if p == np.inf else f"(∫ |F(group) − F(reference)|^{p:g} d{over})^(1/{p:g})"
        )
        return replace(plain, id=id, title=f"{plain.title[:-1]}, L{p:g})", formula=formula, order=p)
    return replace(
        plain, id=id, title=f"{plain.title[:-1]}, W{p:g})", order=p,
        formula=f"(∫ |Q(group) − Q(reference)|^{p:g} du)^(1/{p:g})",
        curve=lambda counts, options, like: score_bias.quantile_gap(counts, label, standardized, options, like),
        grid=lambda counts, options: score_bias.even_shares(),
    )  # fmt: skip


__all__ = [
    "BINS", "MEASURES", "RATES", "Family", "Measure", "Profile", "RateMeasure", "ScoreMeasure", "ScoreOptions", "find",
]  # fmt: skip
