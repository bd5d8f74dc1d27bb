"""Items of Becker, Dumitrasc & Broelemann 2024: biases of scores, and what ROC curves tell of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from evenhand.published.adult_scores import AUROC, figure_1, figure_c, table_3
from evenhand.published.item import Item, slug
from evenhand.published.score_bias_tables import EVERY, FIRST, MAIN, compas, german
from evenhand.published.what_roc_misses import figure_2

SCORES, PROPERTIES = "tests/measures/test_scores.py", "tests/measures/test_score_properties.py"
PARTS, ORACLES = "tests/measures/test_roc_parts.py", "tests/measures/test_oracles.py"
BIAS, ROC, SPLIT = "measures.score_bias", "measures.roc", "measures.roc_parts"
AUDIT = "evenhand audit scores.csv --score p --label y --group sex"
BOTH = "equal_opportunity_{0},predictive_equality_{0}"
TABLE = ("adult.data",)


def _defined(label: str, says: str, place: str, test: str, measures: str = "") -> Item:
    """What a test shows, and the measures that a user names for it."""
    return Item(
        f"becker-{slug(label)}", label, says, place, f"{AUDIT} --measures {measures}" if measures else "", test=test
    )


def _run(label: str, says: str, place: str, run: Any, data: tuple[str, ...] = (), *libraries: str) -> Item:
    return Item(f"becker-{slug(label)}", label, says, place, run=run, data=data, libraries=libraries)


ITEMS = (
    _defined("Equation 1", "independence: gap of positive rates at a threshold", "measures.rates",
             f"{ORACLES}::test_metric_functions_equal_fairlearn_for_two_groups", "demographic_parity"),
    _defined("Equation 2", "equal opportunity: gap of true positive rates at a threshold", "measures.rates",
             f"{ORACLES}::test_metric_functions_equal_fairlearn_for_two_groups", "equal_opportunity"),
    _defined("Equation 3", "predictive equality: gap of false positive rates at a threshold", "measures.rates",
             f"{ORACLES}::test_metric_functions_equal_fairlearn_for_two_groups", "predictive_equality"),
    _defined("Equation 4", "calibration: gap of favourable rates at a score (its tables have the opposite sign)",
             "measures.calibration", f"{SCORES}::test_calibration_bias_row_by_row",
             "calibration_standardized,calibration_uniform"),
    _defined("Definition 3.1", "bias over all thresholds, weighted evenly", BIAS,
             f"{PROPERTIES}::test_becker_theorem_3_2", f"independence_uniform,{BOTH.format('uniform')}"),
    _defined("Theorem 3.2", "it is a Wasserstein distance; differences of means are lower bounds", BIAS,
             f"{PROPERTIES}::test_becker_theorem_3_2"),
    _defined("Definition 3.3", "bias over all thresholds, weighted by people", BIAS,
             f"{PROPERTIES}::test_ranked_measures_ignore_monotone_transforms",
             f"independence_standardized,{BOTH.format('standardized')}"),
    _defined("Theorem 3.4", "it is a Wasserstein distance of ranks; differences of mean ranks are lower bounds", BIAS,
             f"{PROPERTIES}::test_becker_theorem_3_4"),
    _defined("Section 3.4", "positive and negative parts (equations 11 and 12)", "measures.curve",
             f"{PROPERTIES}::test_a_gap_is_a_number_with_parts_or_has_a_reason"),
    _defined("Definition 4.1", "ROC curve, AUROC and Gini coefficient of two distributions", ROC,
             f"{SCORES}::test_areas_under_roc_curves"),
    _defined("Definition 4.2", "ROC bias, and the difference of AUROC as its lower bound", ROC,
             f"{SCORES}::test_roc_bias_is_the_exact_area", "roc"),
    _defined("Definition 4.3", "cross-ROC bias, and the difference of cross-AUROC as its lower bound", ROC,
             f"{PROPERTIES}::test_areas_are_lower_bounds_of_roc_biases", "xroc"),
    _defined("Theorem 4.4", "Wasserstein distances of ranks are areas between ROC curves", SPLIT,
             f"{PROPERTIES}::test_becker_theorems_4_4_and_4_8"),
    _defined("Proposition 4.5", "a mixture of people weighs their distances (equations 16 and 17)", SPLIT,
             f"{PARTS}::test_parts_equal_loops_over_people_and_add_up"),
    _defined("Lemma 4.6", "the parts of a separation bias as ROC curves", SPLIT,
             f"{PARTS}::test_areas_equal_those_of_roc_curves"),
    _defined("Lemma 4.7", "AUROC and Gini coefficient as lower bounds of these", SPLIT,
             f"{PARTS}::test_becker_theorem_4_8_with_ties"),
    _defined("Theorem 4.8", "a separation bias is the sum of four gaps between ROC curves", SPLIT,
             f"{PARTS}::test_becker_theorem_4_8_with_ties", BOTH.format("standardized")),
    _defined("Corollary 4.9", "upper bounds of separation biases", BIAS, f"{PROPERTIES}::test_becker_corollary_4_9"),
    _defined("Theorem 4.10", "both separation biases together bound both ROC biases and both Gini coefficients", SPLIT,
             f"{PARTS}::test_becker_theorem_4_10"),
    _defined("Corollary 4.11", "no separation bias, no ROC bias", ROC, f"{PROPERTIES}::test_becker_corollary_4_11"),
    _defined("Theorem 4.12", "if one separation bias is 0, ROC and cross-ROC bias are equal", ROC,
             f"{PROPERTIES}::test_becker_theorem_4_12"),
    Item("becker-table-1", "Table 1", "bias of the COMPAS score, African-American against Caucasian", BIAS,
         "evenhand demo", partial(compas, rows=MAIN)),
    _run("Table 2", "bias of two models of German credit, women against men", BIAS, partial(german, rows=FIRST),
         ("german_logr_predictions.csv",)),
    _run("Figure 1", "gaps at each threshold, by score and by rank, Adult", "analyses.audit.charts.biases", figure_1,
         TABLE, "sklearn"),
    _run("Figure 2", "biases of normal scores that move apart", ROC, figure_2),
    _run("Table 3", "bias of three models of Adult, women against men", BIAS, table_3, TABLE, "sklearn"),
    _defined("Section 6", "outlook: sums of rates, ratios of rates, other norms, Wasserstein-p", "measures.registry",
             f"{SCORES}::test_equalized_odds_biases_add_up_both_classes, {SCORES}::test_the_mean_impact_ratio_by_hand",
             "equalized_odds_standardized,equal_opportunity_uniform_ratio,roc_l2,independence_uniform_w2"),
    _defined("Definition A.1", "Wasserstein-p distance (equations 27 to 29, Corollaries A.2 and A.3)", BIAS,
             f"{SCORES}::test_wasserstein_distances_of_higher_order", "independence_uniform_w2"),
    _defined("Proposition A.4", "distances of scaled and moved scores", BIAS,
             "tests/published/test_score_bias_items.py::test_proposition_a_4_and_a_9"),
    _defined("Corollary A.5", "the Wasserstein-1 distance is the area between CDFs", BIAS,
             f"{PROPERTIES}::test_becker_theorem_3_2"),
    _defined("Theorem A.6", "it is at least the difference of means", BIAS, f"{PROPERTIES}::test_becker_theorem_3_2"),
    _defined("Theorem A.7", "it grows with its order", BIAS, f"{PROPERTIES}::test_norms_grow_with_their_order"),
    _defined("Definition A.8", "distance of ranks among other people", SPLIT,
             f"{PARTS}::test_areas_equal_those_of_roc_curves"),
    _defined("Proposition A.9", "it does not depend on scale and place", SPLIT,
             "tests/published/test_score_bias_items.py::test_proposition_a_4_and_a_9"),
    _defined("Definition A.10", "pushforward of a measure (Corollary A.11): nothing but a proof", BIAS,
             f"{PROPERTIES}::test_becker_theorem_3_4"),
    _defined("Lemma B.1", "ranks among one's own are uniform", SPLIT,
             "tests/published/test_score_bias_items.py::test_lemmas_b_1_to_b_3"),
    _defined("Lemma B.2", "the CDF of ranks among others", SPLIT,
             "tests/published/test_score_bias_items.py::test_lemmas_b_1_to_b_3"),
    _defined("Lemma B.3", "of continuous scores ranks among either group give the same distance", SPLIT,
             "tests/published/test_score_bias_items.py::test_lemmas_b_1_to_b_3"),
    _defined("Section C.1", "permutation tests with rows permuted over all people (`--null published`)",
             "inference.permutation", "tests/inference/test_inference.py::test_published_p_values_of_compas"),
    _run("Table C1", "all biases of the COMPAS score", BIAS, partial(compas, rows=EVERY)),
    _run("Table C2", "all biases of two models of German credit", BIAS, partial(german, rows=EVERY),
         ("german_logr_predictions.csv",)),
    *(
        _run(f"Figure C{place}", f"scores of the test set by sex and outcome, {model}",
             "analyses.audit.charts.distributions", partial(figure_c, model=model), TABLE, "sklearn")
        for place, model in enumerate(AUROC, 1)
    ),
)  # fmt: skip
