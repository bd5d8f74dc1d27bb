"""Items of Han, Baldwin & Cohn 2023: one number for many classes and groups, and comparing methods by a trade-off."""

from __future__ import annotations

from functools import partial

from evenhand.published.aggregation_matrix import (
    MODEL_1,
    MODEL_2,
    appendix_a_4,
    figure_1,
    figure_6,
    figure_7,
    generalised_mean,
    section_4_1,
    table_1,
    table_2,
    table_4_,
)
from evenhand.published.aggregation_tradeoff import (
    OF_THE_TEXT,
    RUNS,
    appendix_c_1,
    figure_3a,
    figure_3b,
    figure_4,
    figure_5,
    figure_8,
    lemma_c_1,
    table_3,
    table_5_,
)
from evenhand.published.item import Item

AGGREGATE = "evenhand aggregate epoch_9.00.csv --where split=valid --where group=0,1,2,3 --empty 0.5"
TWO = f"{AGGREGATE} --against epoch_5.00.csv --html models.html"
COMPARE = (
    "evenhand compare runs.csv --method method --performance test_performance --fairness test_fairness "
    "--dev-performance dev_performance --dev-fairness dev_fairness "
    "--settings adv_lambda,adv_num_subDiscriminator,adv_diverse_lambda,index_epoch --random-performance 0.3"
)
MATRIX, STEPS, FRONT = "analyses.classes.matrix", "measures.aggregation", "measures.pareto"
COMPARING = "analyses.compare.compare"
BRUTE = "tests/analyses/test_aggregate.py::test_every_aggregate_against_brute_force"
THEOREMS = "tests/measures/test_aggregation_theorems.py"
FRONTS, CLASSES = "tests/measures/test_pareto.py", "tests/analyses/test_class_audit.py"

ITEMS = (
    Item("han-baldwin-section-3-1", "Section 3.1", "M, the rate of every class and group", MATRIX, AGGREGATE,
         test=BRUTE),
    Item("han-baldwin-figure-1", "Figure 1", "TPR of two models in three professions", MATRIX, run=figure_1,
         data=(MODEL_1, MODEL_2)),
    Item("han-baldwin-table-1", "Table 1", "nine functions over groups, three over classes", STEPS, run=table_1,
         data=(MODEL_1,)),
    Item("han-baldwin-table-2", "Table 2", "generalised means by their exponents", STEPS, run=table_2),
    Item("han-baldwin-section-3-3", "Section 3.3", "generalised means: their inequality, variance, and weights", STEPS,
         run=generalised_mean),
    Item("han-baldwin-section-3-4", "Section 3.4", "the checklist of every report, which ticks what the user said",
         "analyses.classes.checklist", f"{AGGREGATE} --across-groups 'max gap' --why 'groups=the worst one decides'",
         test="tests/analyses/test_class_charts.py::test_the_checklist_ticks_what_was_said"),
    Item("han-baldwin-figure-2", "Figure 2", "which unit and exponent: the decision path", "analyses.planning.guide",
         "evenhand guide --classes", test=f"{CLASSES}::test_the_guide_follows_the_figure"),
    Item("han-baldwin-section-4-1", "Section 4.1", "accuracy, and fairness as 1 − the RMS of sums of gaps", STEPS,
         run=section_4_1, data=(MODEL_1, MODEL_2)),
    Item("han-baldwin-figure-3a", "Figure 3a", "performance and fairness of INLP over its iterations", COMPARING,
         run=figure_3a, data=RUNS[:1]),
    Item("han-baldwin-figure-3b", "Figure 3b", "Pareto frontiers and distances of four methods", COMPARING,
         run=figure_3b, data=RUNS),
    Item("han-baldwin-section-4-3-dto", "Section 4.3, DTO", "a Pareto improvement makes the distance smaller", FRONT,
         COMPARE, test=f"{FRONTS}::test_a_pareto_improvement_never_raises_the_distance"),
    Item("han-baldwin-section-4-3-loss", "Section 4.3, criteria", "selection by least loss, best performance, floors",
         COMPARING, f"{COMPARE} --loss dev_loss",
         test="tests/analyses/test_compare.py::test_the_least_loss_selects_among_all_settings"),
    Item("han-baldwin-section-4-4", "Section 4.4", "the area seen from utopia is what the curve leaves of it", FRONT,
         COMPARE, test=f"{THEOREMS}::test_the_area_seen_from_utopia_is_what_the_curve_leaves"),
    Item("han-baldwin-figure-4", "Figure 4", "AUC-PFC, and the area to utopia in polar coordinates", FRONT,
         run=figure_4, data=RUNS[:1]),
    Item("han-baldwin-figure-5", "Figure 5", "partial areas by performance, fairness and DTO", FRONT, run=figure_5,
         data=RUNS),
    Item("han-baldwin-table-3", "Table 3", "DTO of selected models and AUC of four methods", COMPARING, run=table_3,
         data=RUNS),
    Item("han-baldwin-table-3-without-leak", "Table 3, without its leak",
         "the same with the front of development results", COMPARING, run=partial(table_3, front="dev"), data=RUNS),
    Item("han-baldwin-table-3-floors", "Table 3, floors of the text",
         "the same with the floors that the text explains", COMPARING,
         run=partial(table_3, floors=OF_THE_TEXT), data=RUNS),
    Item("han-baldwin-section-4-5", "Section 4.5", "training the four methods on BIOS", "learn.methods.methods",
         lacks="the biographies are not published, nor are the trained models"),
    Item("han-baldwin-figure-6", "Figure 6", "TPR of two models in all professions", MATRIX, TWO, run=figure_6,
         data=(MODEL_1, MODEL_2)),
    Item("han-baldwin-table-4", "Table 4", "people by profession and group", MATRIX, run=table_4_, data=(MODEL_1,)),
    Item("han-baldwin-figure-7", "Figure 7", "confusion matrices of the four groups",
         "analyses.classes.confusion_chart", f"{AGGREGATE} --html model.html", run=figure_7, data=(MODEL_1,)),
    Item("han-baldwin-appendix-a-4", "Appendix A.4", "how many numbers confusion matrices are",
         "analyses.classes.confusion_chart", run=appendix_a_4, data=(MODEL_1,)),
    Item("han-baldwin-table-5", "Table 5", "selected models on the test and the development set", COMPARING,
         run=table_5_, data=RUNS),
    Item("han-baldwin-appendix-c-1", "Appendix C.1", "normalised distances", COMPARING, f"{COMPARE} --normalize range",
         run=appendix_c_1, data=RUNS),
    Item("han-baldwin-figure-8", "Figure 8", "areas to utopia at (1, 1)", FRONT, run=figure_8, data=RUNS),
    Item("han-baldwin-lemma-c-1", "Lemma C.1", "moving utopia prefers better performing models (equation 1, Figure 9)",
         FRONT, run=lemma_c_1),
    Item("han-baldwin-figure-9", "Figure 9", "the triangle of Lemma C.1: the law of cosines", FRONT, run=lemma_c_1),
)  # fmt: skip
