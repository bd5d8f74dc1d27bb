"""Items of Taskesen, Blanchet, Kuhn & Nguyen 2021: the Wasserstein projection test of probabilistic fairness."""

from __future__ import annotations

from evenhand.datasets.justice import FILE
from evenhand.published.item import Item
from evenhand.published.projection_experiments import (
    equation_7,
    figure_1,
    figure_2,
    figure_3,
    figure_5,
    section_7,
    table_1,
)
from evenhand.published.projection_level import few_people
from evenhand.published.projection_penalty import figure_4

TEST = "evenhand projection-test people.csv --score p --label y --group g"
ODDS = f"{TEST} --criterion equalized_odds"
TESTS = "tests/analyses/test_projection.py"
CORE, INNER, MIXTURE = "inference.wasserstein_projection", "inference.cheapest_move", "inference.chi2_mixture"

ITEMS = (
    Item("taskesen-definition-2-1", "Definition 2.1", "equal opportunity of decisions at a threshold",
         "measures.rates", "evenhand audit people.csv --score p --label y --group g --measures equal_opportunity",
         test="tests/measures/test_oracles.py"),
    Item("taskesen-definition-2-2", "Definition 2.2", "equalized odds of decisions at a threshold",
         "measures.rates", "evenhand audit people.csv --score p --label y --group g --measures equalized_odds",
         test="tests/measures/test_oracles.py"),
    Item("taskesen-definition-3-1", "Definition 3.1", "the Wasserstein distance of the second kind", CORE, TEST,
         test=f"{TESTS}::test_the_cheapest_transport_by_linear_programming_costs_the_same"),
    Item("taskesen-equation-2", "Eq. (2)", "ground metric: nobody changes group or label", CORE, TEST,
         test=f"{TESTS}::test_only_the_label_of_the_criterion_moves_and_in_opposite_directions"),
    Item("taskesen-lemma-3-2", "Lemma 3.2", "the projection keeps the shares of groups and labels",
         "analyses.projection.shifts", f"{TEST} --shifts shifts.csv",
         test="tests/published/test_projection_items.py::test_the_projection_keeps_shares"),
    Item("taskesen-equation-4", "Eq. (4)", "λ, one over the share of a group and label", CORE, TEST,
         test=f"{TESTS}::test_statistic_equals_brute_force_on_200_random_tables"),
    Item("taskesen-definition-4-1", "Definition 4.1", "probabilistic equal opportunity",
         "analyses.projection.criteria", TEST,
         test=f"{TESTS}::test_the_criterion_holds_after_the_shift_on_random_tables"),
    Item("taskesen-proposition-4-2", "Proposition 4.2", "the dual problem of equal opportunity", CORE, TEST,
         test=f"{TESTS}::test_the_cheapest_transport_by_linear_programming_costs_the_same"),
    Item("taskesen-lemma-4-3", "Lemma 4.3", "the dual with one number k for each person", INNER, TEST,
         test=f"{TESTS}::test_statistic_equals_brute_force_on_200_random_tables"),
    Item("taskesen-theorem-4-4", "Theorem 4.4", "the limit law θχ²₁ of equal opportunity", MIXTURE, TEST,
         test=f"{TESTS}::test_table_1_at_reduced_size"),
    Item("taskesen-equation-7", "Eq. (7)", "the estimate of the variance", CORE, run=equation_7),
    Item("taskesen-lemma-4-5", "Lemma 4.5", "where everybody goes, for equal opportunity",
         "analyses.projection.shifts", f"{TEST} --shifts shifts.csv",
         test=f"{TESTS}::test_the_criterion_holds_after_the_shift_on_random_tables"),
    Item("taskesen-definition-5-1", "Definition 5.1", "probabilistic equalized odds",
         "analyses.projection.criteria", ODDS,
         test=f"{TESTS}::test_the_criterion_holds_after_the_shift_on_random_tables"),
    Item("taskesen-proposition-5-2", "Proposition 5.2", "the dual problem of equalized odds", CORE, ODDS,
         test="tests/published/test_projection_items.py::test_equalized_odds_add_up"),
    Item("taskesen-lemma-5-3", "Lemma 5.3", "equalized odds are the sum over both labels", CORE, ODDS,
         test="tests/published/test_projection_items.py::test_equalized_odds_add_up"),
    Item("taskesen-theorem-5-4", "Theorem 5.4", "the limit law of equalized odds, two squared normals", MIXTURE, ODDS,
         test=f"{TESTS}::test_equalized_odds_p_values_are_uniform_under_the_null"),
    Item("taskesen-lemma-5-5", "Lemma 5.5", "where everybody goes, for equalized odds",
         "analyses.projection.shifts", f"{ODDS} --shifts shifts.csv",
         test=f"{TESTS}::test_the_criterion_holds_after_the_shift_on_random_tables"),
    Item("taskesen-lemma-a-1", "Lemma A.1", "Slater's condition for equal opportunity: nothing but a proof", CORE,
         TEST, test=f"{TESTS}::test_the_cheapest_transport_by_linear_programming_costs_the_same"),
    Item("taskesen-lemma-a-2", "Lemma A.2", "Slater's condition for equalized odds: nothing but a proof", CORE,
         ODDS, test="tests/published/test_projection_items.py::test_equalized_odds_add_up"),
    Item("taskesen-lemma-b-1", "Lemma B.1", "the inner minimum has a k between 0 and 1/8", INNER, TEST,
         test=f"{TESTS}::test_the_inner_minimum_is_the_least_of_all"),
    Item("taskesen-table-1", "Table 1", "how often the test rejects a fair score", CORE, run=table_1),
    Item("taskesen-table-1-few-people", "Table 1, few people", "the same where people are few and scores skewed",
         "inference.permuted_means", run=few_people, slow=True),
    Item("taskesen-figure-1", "Figure 1", "gaps of decisions and of mean scores over the coefficients", CORE,
         run=figure_1),
    Item("taskesen-figure-2", "Figure 2", "the statistic against its limit law", MIXTURE, run=figure_2),
    Item("taskesen-figure-3", "Figure 3", "where 28 people would have to move", CORE, run=figure_3),
    Item("taskesen-figure-4", "Figure 4", "the test and the accuracy over the penalty, COMPAS", CORE, run=figure_4,
         data=(FILE,)),
    Item("taskesen-figure-5", "Figure 5", "the inner problem has two minima", INNER, run=figure_5),
    Item("taskesen-section-7-metric", "Section 7, metric", "whether the norm of the features changes the outcome",
         CORE, run=section_7),
    Item("taskesen-section-7-margin", "Section 7, outlook", "a test within a margin", "analyses.projection.criteria",
         f"{TEST} --margin 0.05", test=f"{TESTS}::test_both_hypotheses_of_a_margin_keep_the_level"),
)  # fmt: skip
