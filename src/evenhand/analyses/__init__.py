"""One folder per question. Each has the same inner shape: the computation, `document` with its JSON schema, `text` for
a terminal, and where it has them `page` and `charts`.

    folder          question                                                  function                   command
    audit           how large is every gap, whom does it favour, how sure?    audit, curves              audit
    classes         the same for more than two classes                        audit, aggregate           aggregate
    models          which of several models of the same people?               audit                      audit
    thresholds      which threshold meets the requirements?                   thresholds                 thresholds
    check           does it keep to a policy?                                 check                      check
    monitor         does it stay fair?                                        monitor                    monitor
    compare         which debiasing method gives the best trade-off?          compare                    compare
    projection      is a logistic score fair, and who would have to move?     projection_test            projection-test
    individual      are similar people scored alike?                          individual_fairness        individual
    counterfactual  had people been of another group?                         counterfactual_fairness    counterfactual
    disclosure      what does a saved table tell about people?                table_info                 table info
    planning        how many people does it take, and which measure fits?     power, guide               power, guide

`docs/analyses/` has a page for each. `entry` is the front door: the kind of data decides the kind of result.
"""
