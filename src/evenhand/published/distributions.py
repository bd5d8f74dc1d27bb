"""Items of Han, Jiang et al. 2023: distribution-level demographic parity."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import stats

import evenhand
from evenhand.published.estimation_error import figure_3
from evenhand.published.faces import IMAGES, LABELS, celeba
from evenhand.published.fronts import figure_6, paying_for_abcc
from evenhand.published.item import Claim, Item, Outcome, Setting, Value, slug
from evenhand.published.score_panels import MODEL_2, bias_densities, three_models, two_models
from evenhand.published.table_one import (
    acs_employment,
    acs_income,
    adult_as_printed,
    adult_corrected,
    kdd_census,
    table,
)
from evenhand.tables.arrays import Floats

OUTLIER = ((0.4, 0.4, 0.4, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9), (0, 0, 0, 0, 1, 1, 1, 1, 1, 0))
FOUR = ((0.35, 0.45, 0.55, 0.65), (0, 1, 0, 1))
"""Scores and groups of the toy examples of section 3.1."""
ONE, OTHER = stats.beta(2, 3), stats.beta(6, 6)
"""Two densities on [0, 1] that cross twice, whose measures are integrals."""
GRID = np.linspace(0, 1, 100_001)
PEOPLE = 20_000
SMOOTHED = 0.01
"""How far kernel densities of so many people may be from the densities themselves."""


def gaps(one: Any, other: Any, *ids: str, threshold: float = 0.5) -> dict[str, float]:
    """Measures of two groups with these scores on [0, 1]."""
    audit = evenhand.audit(
        score=[*one, *other], group=["one"] * len(one) + ["other"] * len(other), reference="other", measures=list(ids),
        score_range=(0, 1), threshold=threshold, bootstrap=0, permutations=0,
    )  # fmt: skip
    assert isinstance(audit, evenhand.Audit)
    return {id_: audit.measure(id_).value for id_ in ids}


def toy(example: Any) -> tuple[list[float], list[float]]:
    """The scores of both groups."""
    first, second = ([s for s, g in zip(*example, strict=True) if g == group] for group in (0, 1))
    return first, second


def spread(distribution: Any) -> Floats:
    """People whose scores are spread exactly so."""
    return np.asarray(distribution.ppf((np.arange(PEOPLE) + 0.5) / PEOPLE))


def integral(values: Any) -> float:
    return float(np.trapezoid(values, GRID))


def exact() -> dict[str, float]:
    """ΔDP_c, ABCC and ABPC of the two densities, by integration."""
    return {
        "delta_dp_c": abs(ONE.mean() - OTHER.mean()),
        "abcc": integral(np.abs(ONE.cdf(GRID) - OTHER.cdf(GRID))),
        "abpc": integral(np.abs(ONE.pdf(GRID) - OTHER.pdf(GRID))),
    }


# ---- sections 2 and 3 ------------------------------------------------------------------------------------------------


def theorem_2_1(setting: Setting) -> Outcome:
    """ΔDP_c is at most the mean ΔDP_b over thresholds, and one of these if scores are continuous."""
    found, truth = gaps(spread(ONE), spread(OTHER), "delta_dp_c", "abcc"), exact()
    at = np.abs(ONE.cdf(GRID) - OTHER.cdf(GRID))
    compas = evenhand.audit(evenhand.compas(), reference="Caucasian", bootstrap=0, permutations=0)
    assert isinstance(compas, evenhand.Audit)
    mean, area = (compas.measure(id_).value for id_ in ("delta_dp_c", "abcc"))
    return Outcome(
        tuple(Value("Beta(2, 3) and Beta(6, 6)", title, truth[id_], found[id_], 1e-4)
              for id_, title in (("delta_dp_c", "ΔDP_c"), ("abcc", "mean ΔDP_b over thresholds"))),
        (
            Claim("ΔDP_c is at most the mean ΔDP_b over thresholds, also of COMPAS",
                  found["delta_dp_c"] <= found["abcc"] and mean <= area + 1e-12, f"COMPAS {mean:.4f}, {area:.4f}"),
            Claim("at some threshold ΔDP_b is ΔDP_c", bool(at.min() <= truth["delta_dp_c"] <= at.max()),
                  f"ΔDP_b goes from {at.min():.3f} to {at.max():.3f}"),
        ),
        notes=("scores of few different values have few ΔDP_b: one of them is at least ΔDP_c, none need be equal",),
    )  # fmt: skip


def argument_1(setting: Setting) -> Outcome:
    """A mean gap of zero between groups that are scored differently."""
    found = gaps(*toy(OUTLIER), "delta_dp_c", "abcc")
    return Outcome(
        (Value("toy example", "ΔDP_c", 0.0, found["delta_dp_c"], 0.005),
         Value("toy example", "ABCC", None, found["abcc"])),
        (Claim("ΔDP_c is 0 though groups are scored differently, which ABCC shows", found["abcc"] > 0.1),),
    )  # fmt: skip


def argument_2(setting: Setting) -> Outcome:
    """A gap of decisions that depends on the threshold."""
    at = {t: gaps(*toy(FOUR), "delta_dp_b", threshold=t)["delta_dp_b"] for t in (0.5, 0.6)}
    printed = {0.5: 0.0, 0.6: 0.67}
    return Outcome(
        tuple(Value("toy example", f"ΔDP_b at {t:g}", printed[t], found, 0.005) for t, found in at.items()),
        (Claim("ΔDP_b is 0 at one threshold and not at another", at[0.5] == 0 < at[0.6]),),
        notes=("nobody of one group and one of two people of the other score at least 0.6, which is 0.5: a misprint",),
    )


def proposition_b_1(setting: Setting) -> Outcome:
    """Alike groups have no gap; no gap does not make groups alike."""
    same = spread(ONE)
    alike = gaps(same, same, "delta_dp_c", "delta_dp_b", "abcc")
    toys = {**gaps(*toy(OUTLIER), "delta_dp_c", "abcc"), **gaps(*toy(FOUR), "delta_dp_b")}
    return Outcome(
        claims=(
            Claim("of groups with the same scores ΔDP_c and ΔDP_b are 0", not any(alike.values())),
            Claim("groups with different scores can have a ΔDP_c and a ΔDP_b of 0",
                  abs(toys["delta_dp_c"]) < 1e-12 and toys["delta_dp_b"] == 0 < toys["abcc"]),
        ),
    )  # fmt: skip


# ---- sections 4 and 5 ------------------------------------------------------------------------------------------------


def stretched(scores: Floats) -> Floats:
    """An invertible transformation of [0, 1]."""
    return np.asarray(np.expm1(scores) / np.expm1(1))


def invariance(setting: Setting) -> Outcome:
    """ABPC before and after scores are stretched; ABCC is another one."""
    plain, other = (gaps(how(spread(ONE)), how(spread(OTHER)), "abpc", "abcc") for how in (np.asarray, stretched))
    slope = np.gradient(stretched(GRID), GRID)
    densities = np.abs(ONE.pdf(GRID) - OTHER.pdf(GRID)) / slope  # of the stretched scores, at stretched points
    return Outcome(
        (Value("scores stretched, by integration", "ABPC", exact()["abpc"],
               float(np.trapezoid(densities, stretched(GRID))), 1e-6),),
        (Claim("estimates of ABPC are invariant up to the width of kernels",
               abs(other["abpc"] - plain["abpc"]) < SMOOTHED, f"{plain['abpc']:.4f}, {other['abpc']:.4f}"),
         Claim("ABCC is not invariant: it satisfies the second criterion only in part",
               abs(other["abcc"] - plain["abcc"]) > SMOOTHED, f"{plain['abcc']:.4f}, {other['abcc']:.4f}")),
    )  # fmt: skip


def theorem_5_1(setting: Setting) -> Outcome:
    """ABPC: 0 if and only if groups are alike, invariant, between 0 and 2."""
    same = spread(ONE)
    apart = gaps(spread(stats.norm(0.2, 0.02)), spread(stats.norm(0.8, 0.02)), "abpc")["abpc"]
    different = gaps(same, spread(OTHER), "abpc")["abpc"]
    return Outcome(
        (Value("groups alike", "ABPC", 0.0, gaps(same, same, "abpc")["abpc"], 1e-12),
         Value("groups without overlap", "ABPC", 2.0, apart, 1e-6), *invariance(setting).values),
        (Claim("groups that differ have an ABPC above 0", different > 0, f"{different:.4f}"),),
    )  # fmt: skip


def theorem_5_2(setting: Setting) -> Outcome:
    """ABCC: 0 if and only if groups are alike, continuous, between 0 and 1."""
    one, other = spread(ONE), spread(OTHER)
    before, moved = (gaps(np.clip(one + by, 0, 1), other, "abcc")["abcc"] for by in (0.0, 1e-4))
    return Outcome(
        (Value("groups alike", "ABCC", 0.0, gaps(one, one, "abcc")["abcc"], 1e-12),
         Value("scores of 0 against scores of 1", "ABCC", 1.0, gaps([0.0] * 9, [1.0] * 9, "abcc")["abcc"], 1e-12)),
        (Claim("groups that differ have an ABCC above 0", before > 0, f"{before:.4f}"),
         Claim("scores moved by 0.0001 move ABCC by no more", abs(moved - before) <= 1.0001e-4,
               f"{abs(moved - before):.1e}")),
    )  # fmt: skip


def appendix_d(setting: Setting) -> Outcome:
    """ABPC is at least ΔDP_c."""
    truth, found = exact(), gaps(spread(ONE), spread(OTHER), "abpc", "delta_dp_c")
    values = [Value("Beta(2, 3) and Beta(6, 6)", title, truth[id_], found[id_], SMOOTHED)
              for id_, title in (("abpc", "ABPC"), ("delta_dp_c", "ΔDP_c"))]  # fmt: skip
    return Outcome(tuple(values), (Claim("ABPC is at least ΔDP_c", found["abpc"] >= found["delta_dp_c"]),))


def appendix_e(setting: Setting) -> Outcome:
    """Both are costs of transport: ABPC of moving at all, ABCC of the way."""
    one, other = spread(ONE), spread(OTHER)
    found = gaps(one, other, "abpc", "abcc")
    overlap = integral(np.minimum(ONE.pdf(GRID), OTHER.pdf(GRID)))
    return Outcome((
        Value("equation 10", "ABPC, as 2 (1 − overlap)", 2 * (1 - overlap), found["abpc"], SMOOTHED),
        Value("equation 11", "ABCC, as a distance of scipy", float(stats.wasserstein_distance(one, other)),
              found["abcc"], 1e-9),
    ))  # fmt: skip


def algorithm_1(setting: Setting) -> Outcome:
    """ABPC by the printed code: kernel densities with Scott's bandwidth, 5 000 points, trapezoid rule."""
    one, other = _sample(setting)
    x = np.linspace(0, 1, 5000)
    theirs = float(np.trapezoid(np.abs(stats.gaussian_kde(one)(x) - stats.gaussian_kde(other)(x)), x))
    return Outcome((Value("2 000 people", "ABPC", theirs, gaps(one, other, "abpc")["abpc"], 1e-3),))


def algorithm_2(setting: Setting) -> Outcome:
    """ABCC by the printed code: empirical CDFs, 10 000 points, trapezoid rule."""
    one, other = _sample(setting)
    x = np.linspace(0, 1, 10_000)
    f, g = (np.searchsorted(np.sort(scores), x, side="right") / len(scores) for scores in (one, other))
    theirs = float(np.trapezoid(np.abs(f - g), x))
    note = "the printed code adds up heights at points; ours is the area of the steps themselves"
    return Outcome((Value("2 000 people", "ABCC", theirs, gaps(one, other, "abcc")["abcc"], 1e-4),), notes=(note,))


def _sample(setting: Setting) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(setting.seed)
    return rng.beta(2, 3, 900), rng.beta(6, 6, 1100)


# ---- the items -------------------------------------------------------------------------------------------------------

ORACLES, SCORES = "tests/measures/test_oracles.py", "tests/measures/test_scores.py"
PROPERTIES = "tests/measures/test_score_properties.py"
AUDIT = "evenhand audit scores.csv --score p --group sex --measures"
TRAINED = ("torch", "sklearn")
ADULT, KDD = ("adult.data", "adult.test"), ("kdd_census_train.csv.gz", "kdd_census_test.csv.gz")
ACS, FACES = ("2018/1-Year/psam_p*.csv",), (LABELS, f"{IMAGES}/*.jpg")


def _defined(label: str, says: str, place: str, test: str, command: str = "") -> Item:
    """What a test shows."""
    return Item(f"han-jiang-{slug(label)}", label, says, place, command, test=test)


def _shown(label: str, says: str, place: str, run: Any) -> Item:
    """What takes a moment."""
    return Item(f"han-jiang-{slug(label)}", label, says, place, run=run)


def _trained(label: str, more: str, says: str, run: Any, data: tuple[str, ...], *libraries: str) -> Item:
    """What takes networks; `more` tells items of one table or figure apart."""
    id_, needs = f"han-jiang-{slug(label)}{more}", (*TRAINED, *libraries)
    return Item(id_, label, says, "learn", run=run, data=data, libraries=needs, slow=True)


ITEMS = (
    _defined("Equation 1", "ΔDP_b: how far apart shares of favourable decisions are", "measures.rates",
             f"{ORACLES}::test_metric_functions_equal_fairlearn_for_two_groups", f"{AUDIT} demographic_parity"),
    _defined("Equation 2", "ΔDP_c: how far apart mean scores are", "measures.score_bias",
             f"{PROPERTIES}::test_theorem_2_1", f"{AUDIT} delta_dp_c"),
    _shown("Theorem 2.1", "ΔDP_c and the ΔDP_b of all thresholds", "measures.score_bias", theorem_2_1),
    _shown("Argument 1", "a ΔDP_c of 0 is necessary but not sufficient", "measures.score_bias", argument_1),
    _shown("Argument 2", "ΔDP_b depends on the threshold", "measures.rates", argument_2),
    _defined("Criterion 1", "sufficiency: 0 if and only if scores are independent of the group",
             "measures.distribution", f"{PROPERTIES}::test_identical_groups_are_fair"),
    _shown("Criterion 2", "fidelity: the same however scores are scaled (Definition 4.1, invariance)",
           "measures.distribution", invariance),
    _defined("Equation 3", "ABPC, the area between densities", "measures.distribution",
             f"{SCORES}::test_areas_agree_with_the_printed_algorithms", f"{AUDIT} abpc"),
    _defined("Equation 4", "ABCC, the area between CDFs", "measures.distribution",
             f"{SCORES}::test_areas_agree_with_the_printed_algorithms", f"{AUDIT} abcc"),
    _defined("Section 5.1", "more than two groups: the mean over all pairs", "analyses.audit.score_pairs",
             f"{SCORES}::test_largest_and_mean_pair"),
    _shown("Theorem 5.1", "properties of ABPC", "measures.distribution", theorem_5_1),
    _shown("Theorem 5.2", "properties of ABCC", "measures.distribution", theorem_5_2),
    _defined("Section 5.3", "estimates: kernel densities and empirical CDFs", "measures.density",
             f"{SCORES}::test_other_bandwidths", f"{AUDIT} abpc --bandwidth silverman"),
    _defined("Definition 5.3", "tractability: a mean squared error that falls with n", "published.estimation_error",
             "tests/published/test_estimation_error.py::test_errors_fall_as_the_lemma_says"),
    _defined("Lemma 5.4", "how fast errors of ABPC and ABCC fall", "published.estimation_error",
             "tests/published/test_estimation_error.py::test_errors_fall_as_the_lemma_says"),
    _defined("Section 5.5.1", "mutual information of score and group", "measures.distribution",
             f"{SCORES}::test_mutual_information_by_quadrature", f"{AUDIT} mutual_information"),
    _defined("Section 5.5.2", "bias density: where ABCC comes from", "measures.distribution",
             f"{SCORES}::test_the_bias_density_adds_up"),
    _trained("Figure 1", "", "densities of three models on ACS-Income, of which one is fair by ΔDP only",
             partial(three_models, cases=acs_income), ACS, "folktables"),
    _trained("Figure 2", "", "densities and CDFs of two models on ACS-Employment",
             partial(two_models, cases=acs_employment), ACS, "folktables"),
    _shown("Figure 3", "errors of estimates by number of people", "datasets", figure_3),
    _trained("Figure 4", "-acs-income", "where ABCC comes from, of two models on ACS-Income",
             partial(bias_densities, cases=acs_income), ACS, "folktables"),
    _trained("Figure 4", "-adult", "the same on Adult, by sex", partial(bias_densities, cases=adult_corrected), ADULT),
    _trained("Figure 5", "", "densities of three models on Adult, with the groups that its code really compares",
             partial(three_models, cases=adult_as_printed, printed=MODEL_2), ADULT),
    _trained("Figure 5", "-corrected", "the same by sex itself", partial(three_models, cases=adult_corrected), ADULT),
    _trained("Table 1", "-adult", "Adult, with the groups that its code really compares",
             partial(table, cases=adult_as_printed), ADULT),
    _trained("Table 1", "-adult-corrected", "Adult, by race and sex themselves",
             partial(table, cases=adult_corrected), ADULT),
    _trained("Table 1", "-kdd-census", "KDD census, by race and sex", partial(table, cases=kdd_census), KDD),
    _trained("Table 1", "-acs-income", "ACS-Income, by race and sex",
             partial(table, cases=acs_income), ACS, "folktables"),
    _trained("Table 1", "-acs-employment", "ACS-Employment, by sex",
             partial(table, cases=acs_employment), ACS, "folktables"),
    _trained("Figure 6", "-adult", "accuracy against ABCC of REG and ADV on Adult",
             partial(figure_6, cases=adult_corrected), ADULT),
    _trained("Figure 6", "-kdd-census", "accuracy against ABCC of REG and ADV on KDD census",
             partial(figure_6, cases=kdd_census), KDD),
    _trained("Figure 6", "-acs-income", "accuracy against ABCC of REG and ADV on ACS-Income",
             partial(figure_6, cases=acs_income), ACS, "folktables"),
    _trained("Figure 6", "-acs-employment", "accuracy against ABCC of REG and ADV on ACS-Employment",
             partial(figure_6, cases=acs_employment), ACS, "folktables"),
    _trained("Direct optimization", "", "a network that pays for ABCC itself, which section 5.3 leaves open",
             partial(paying_for_abcc, cases=adult_corrected), ADULT),
    _defined("Equation 7", "proof of Theorem 2.1 (equations 5 to 7)", "measures.score_bias",
             f"{PROPERTIES}::test_theorem_2_1"),
    _shown("Proposition B.1", "ΔDP of 0 is necessary but not sufficient", "measures.score_bias", proposition_b_1),
    _shown("Appendix C", "ABPC is invariant, ABPC and ABCC are 0 only if groups are alike", "measures.distribution",
           theorem_5_1),
    _shown("Appendix D", "ABPC is at least ΔDP_c (equations 8 and 9)", "measures.distribution", appendix_d),
    _shown("Appendix E", "ABPC and ABCC are costs of transport (equations 10 and 11)", "measures.distribution",
           appendix_e),
    _defined("Equation 12", "how many people an error takes (appendix F)", "published.estimation_error",
             "tests/published/test_estimation_error.py::test_errors_fall_as_the_lemma_says"),
    _trained("Figure 7", "", "densities and CDFs of two models on Adult, with the groups that its code really compares",
             partial(two_models, cases=adult_as_printed), ADULT),
    _trained("Table 2", "", "CelebA, who is called attractive, by age and sex", partial(table, cases=celeba), FACES,
             "PIL"),
    _defined("Equation 13", "Wasserstein distance of any order", "measures.score_bias",
             f"{SCORES}::test_wasserstein_distances_of_higher_order"),
    _shown("Algorithm 1", "the printed code of ABPC", "measures.distribution", algorithm_1),
    _shown("Algorithm 2", "the printed code of ABCC", "measures.distribution", algorithm_2),
)  # fmt: skip
