"""Items of the ExFairness metric specification: its metrics, theorems, guide, intersections and intervals."""

from __future__ import annotations

from evenhand.published import specification_metrics as metrics, specification_theorems as theorems
from evenhand.published.item import Item

AUDIT = "evenhand audit people.csv --score p --label y --group g --measures"
ORACLES = "tests/measures/test_oracles.py"

ITEMS = (
    Item("exfairness-notation", "Notation", "outcome, decision, group, features and score of a person", "ingest.roles",
         "evenhand audit people.csv --score p --label y --prediction d --group g",
         test="tests/analyses/test_data.py::test_columns_are_said_once"),
    Item("exfairness-metric-1", "Metric 1", "demographic parity, and that random decisions satisfy it",
         "measures.rates", f"{AUDIT} demographic_parity", metrics.demographic_parity),
    Item("exfairness-metric-2", "Metric 2", "equalized odds, and that it excludes demographic parity", "measures.rates",
         f"{AUDIT} equalized_odds", metrics.equalized_odds),
    Item("exfairness-metric-3", "Metric 3", "equal opportunity, and what it leaves open", "measures.rates",
         f"{AUDIT} equal_opportunity", metrics.equal_opportunity),
    Item("exfairness-metric-4", "Metric 4", "predictive parity, and what it leaves open", "measures.rates",
         f"{AUDIT} predictive_parity", metrics.predictive_parity),
    Item("exfairness-metric-5", "Metric 5", "calibration: the largest gap over ten bins", "measures.calibration",
         f"{AUDIT} calibration_gap", metrics.calibration),
    Item("exfairness-metric-6", "Metric 6", "individual fairness: similar people within ε, and the Lipschitz condition",
         "analyses.individual.treatment", "evenhand individual people.csv --score p --group g", theorems.individual),
    Item("exfairness-metric-7", "Metric 7", "counterfactual fairness: the same decision in another group",
         "analyses.counterfactual.simulation",
         "evenhand counterfactual people.csv --model model.skops --attribute g --graph 'g -> x -> p'",
         test="tests/analyses/test_counterfactual.py::test_a_fair_model_shows_nothing, "
         "tests/analyses/test_counterfactual.py::test_a_planted_direct_effect_and_the_split_by_ways_are_recovered",
         ),
    Item("exfairness-80-rule", "80% rule", "the four-fifths rule", "measures.rates", f"{AUDIT} disparate_impact",
         metrics.four_fifths),
    Item("exfairness-chouldechova", "Chouldechova's theorem", "PPV, FPR and FNR cannot all be equal",
         "measures.impossibility", f"{AUDIT} predictive_parity,equalized_odds", theorems.chouldechova),
    Item("exfairness-kleinberg", "Kleinberg et al. theorem", "calibration excludes balance of both classes",
         "measures.impossibility", f"{AUDIT} calibration_gap,equalized_odds", theorems.kleinberg),
    Item("exfairness-guide", "Metric selection guide", "the decision tree", "analyses.planning.guide",
         "evenhand guide --priority errors", theorems.guide),
    Item("exfairness-intersections", "Intersectional fairness", "additive and multiplicative", "tables.groups",
         "evenhand audit people.csv --prediction d --group gender,race", theorems.intersections),
    Item("exfairness-intervals", "Confidence intervals", "the bootstrap of a gap", "inference.bootstrap_interval",
         f"{AUDIT} demographic_parity --interval percentile", theorems.intervals),
)  # fmt: skip
