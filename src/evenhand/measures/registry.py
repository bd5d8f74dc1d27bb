"""The registry: one entry per measure. Report, command line, documentation and property tests read it.

There are two kinds. A `RateMeasure` compares a *profile* of each group: one rate, two rates, or a rate per score
bin. The profile is an array (…, component, group); the gap is the difference, the ratio, or the largest difference
over components. A `ScoreMeasure` compares two groups at all scores: a *curve* of signed gaps and weights
(…, point), of which it takes the norm. Leading axes are resamples in both.
"""

from __future__ import annotations

import re

from evenhand.measures import calibration, distribution, resolution, roc
from evenhand.measures.curve import ScoreOptions
from evenhand.measures.measure import Family, Measure, Profile, RateMeasure, ScoreMeasure, shares
from evenhand.measures.practice import PRACTICE, PracticeMeasure
from evenhand.measures.rates import RATES, ratio
from evenhand.measures.score_measures import (
    WEIGHTINGS,
    areas,
    biases,
    calibration_bias,
    distance,
    mean_gap,
    means,
    moved,
    roc_bias,
)
from evenhand.measures.variants import variant
from evenhand.tables.dense import Counts


def _treatment(counts: Counts) -> Profile:
    # FNR and FPR rest on different people (actual positives, actual negatives), so they are independent.
    fnr, fpr = shares(counts, ["fnr"]), shares(counts, ["fpr"])
    return Profile(ratio(fnr.values, fpr.values), quotient=(fnr, fpr))


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
                 "ΔDP of mean scores", page="distributions", needs_label=False, curve=mean_gap, single=True,
                 summaries=means((None,), False), resolution=moved((None,), False),
                 use="Scores themselves are used, as prices or amounts are, and their average matters.",
                 limits="Groups with equal means may still be scored differently: gaps in opposite directions "
                 "cancel."),
    ScoreMeasure("abcc", "independence", "How far apart are decisions at all thresholds together?",
                 "∫ |F(s | group) − F(s | reference)| ds", "is scored {more|less} favourably",
                 "area between CDFs (ABCC)", "ABCC", page="distributions", needs_label=False,
                 curve=distance((None,), False), summaries=means((None,), False), resolution=moved((None,), False),
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
    *biases("independence"),
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
    *biases("equal_opportunity"),
    *biases("predictive_equality"),
    *biases("equalized_odds"),
    roc_bias("roc", "Does the score rank people equally well within each group?",
              "∫ |ROC(group) − ROC(reference)|", "is ranked {more|less} reliably", "ROC", roc.WITHIN,
              use="Each group is ranked on its own, and who is ranked well should not depend on the group.",
              limits="It compares people within their group only: a whole group can be shifted up or down without "
              "changing it."),
    ScoreMeasure("auroc_difference", "separation",
                 "Does the score rank people equally well within each group, on the whole?",
                 "AUROC(group) − AUROC(reference)", "is ranked {more|less} reliably", "AUROC difference", "AUROC",
                 page="roc-bias", labels=(0, 1), ranked=True, single=True, variances=roc.area_variances,
                 curve=lambda counts, options, like: roc.area_gap(counts), summaries=areas("AUROC", roc.WITHIN),
                 resolution=lambda counts, options: resolution.of_roc(counts, roc.WITHIN),
                 use="One number for how reliably a score tells people with the favourable outcome from others, as a "
                 "model is often accepted or rejected by its AUROC.",
                 limits="Curves that cross can have the same area: ROC bias sees that. It says nothing about where "
                 "scores lie, or about decisions at a threshold."),
    roc_bias("xroc", "Are people ranked equally well across groups?",
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
    *map(calibration_bias, WEIGHTINGS),
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
    tolerance = "none" if m.tolerance == float("inf") else tolerance
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
    if isinstance(m, PracticeMeasure) and m.base is not None:
        return hypothesis(MEASURES[m.base])
    if isinstance(m, RateMeasure) and m.other is None:
        return "+".join(m.components)
    plain = re.sub("_[wl]1$", "", m.id)
    return "independence_uniform" if plain == "abcc" else plain


def of_decisions(m: Measure) -> bool:
    """Whether it is about who is decided how; else it needs a score.

    >>> [of_decisions(find(id)) for id in ("disparate_impact", "abcc", "shortfall", "residual_smd")]
    [True, False, True, False]
    """
    if isinstance(m, RateMeasure):
        return m.levels == "decision"
    return isinstance(m, PracticeMeasure) and not m.scored


def find(id: str) -> Measure | None:
    """The measure of that name: one of the registry, one of practice, or a variant of a score bias and its like.

    `_l2` is the L2 norm of the gaps (`_linf` the largest of them). Of score biases there are two more: `_w2`, the true
    Wasserstein-2 distance (any number from 1), and, of one class of people, `_ratio`, the mean impact ratio, the lower
    positive rate over the higher.

    >>> find("equal_opportunity_uniform_w2").title, find("roc_linf").title
    ('equal opportunity (scores, W2)', 'ROC bias (Linf)')
    """
    if id in MEASURES or id in PRACTICE:
        return MEASURES.get(id) or PRACTICE[id]
    plain, _, name = id.rpartition("_")
    measure = MEASURES.get(plain)
    return variant(measure, name) if isinstance(measure, ScoreMeasure) else None


__all__ = [
    "MEASURES", "PRACTICE", "RATES", "Family", "Measure", "PracticeMeasure", "Profile", "RateMeasure", "ScoreMeasure",
    "ScoreOptions", "find", "of_decisions",
]  # fmt: skip
