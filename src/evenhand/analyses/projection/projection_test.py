"""Is a logistic score fair, and who would have to move how far? The Wasserstein-projection test.

Taskesen, Blanchet, Kuhn & Nguyen (2021).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Unpack

from evenhand.analyses.projection.criteria import How
from evenhand.analyses.projection.inputs import NEEDS_LABEL, compared, has_people
from evenhand.analyses.projection.logistic import LARGEST, linear_part
from evenhand.analyses.projection.pair_test import Scored, pair_test
from evenhand.analyses.projection.results import ProjectionTest
from evenhand.analyses.projection.several import ProjectionTests
from evenhand.errors import UsageError, number, shown
from evenhand.ingest.resolve import as_table
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked
from evenhand.tables.confusion import Confusion
from evenhand.tables.table import Table

_NO_BETA = (
    "no ‖β‖ was given, so distances are in logits (score space, ‖β‖ = 1): this is not the distance in the model's "
    "feature space; the p-value and the moves are the same for any ‖β‖"
)


class _ProjectionTest:
    """Test whether a logistic score gives two groups the same mean, among people with the same label.

    `projection_test(data, …)` takes a `Table`, a path to a saved one, or whatever `evenhand.tabulate` takes;
    `projection_test.from_model(model, X, y, group)` takes a fitted logistic regression.

    The null hypothesis is that the criterion holds for the people the data were drawn from. The statistic is the
    number of people times the squared Wasserstein distance to the nearest distribution under which it holds exactly:
    nobody changes group or label, and features move as little as possible.

    Parameters
    ----------
    data
        People, or their counts.
    score, logit
        The column of probabilities, or that of logits β'x (+ intercept): one of both. A table holds its
        score already; if these are logits, say `logit=True`.
    beta_norm
        ‖β‖₂ of the model, without the intercept. Without it distances are in logits, not in the feature space; the
        p-value is the same.
    label, group and the other columns
        As in `evenhand.data`: one group column; weights count people, or are survey weights. Of a risk score, 1 − score
        is compared.
    reference, compare
        The group to compare with, by default the largest; and which group. Without `compare`, all others are: of more
        than two groups, or several scores (names in a list), the result is a `ProjectionTests`, adjusted by Holm.
    criterion
        "equal_opportunity": equal means among people with the favourable label. "predictive_equality": with the
        unfavourable one. "equalized_odds": with either label. "demographic_parity": among all; it needs no label.
    margin
        The largest gap of means that is none: the hypothesis is that no gap is larger. `p_within` then tests whether
        the gaps are shown to be smaller.
    level
        The test rejects at this level.

    Examples
    --------
    >>> people = {"p": [0.9, 0.7, 0.6, 0.4, 0.2, 0.8], "y": [1, 1, 1, 1, 1, 0], "sex": ["m", "m", "m", "f", "f", "f"]}
    >>> test = projection_test(people, score="p", label="y", group="sex", reference="m", beta_norm=2.0)
    >>> round(test.statistic, 3), round(test.p_value, 3), test.rejects
    (1.177, 0.1, False)
    >>> [round(mean, 3) for mean in test.labels[0].means], [round(mean, 3) for mean in test.labels[0].means_after]
    ([0.3, 0.733], [0.58, 0.58])
    """

    __name__ = "projection_test"

    def __call__(
        self,
        data: Any = None,
        *,
        score: Any = None,
        logit: Any = None,
        beta_norm: float | None = None,
        reference: Any = None,
        compare: Any = None,
        criterion: str = "equal_opportunity",
        margin: float = 0.0,
        level: float = 0.05,
        **columns: Unpack[ColumnArgs],
    ) -> ProjectionTest | Any:
        check_known(columns, ColumnArgs.__optional_keys__, projection_test)
        how = How.checked(criterion, margin, level)
        norm = None if beta_norm is None else _norm(beta_norm)
        notes = (_NO_BETA,) if norm is None else ()
        roles = picked(Roles, columns)
        tests: list[ProjectionTest] = []
        for one, other in _columns(score, logit, norm):
            table, logits = _table(data, one, other, roles, how)
            tests += _pairs(Scored(table, logits, norm, notes), reference, compare, how)
        return _one_or_all(tests)

    def from_model(
        self,
        model: Any,
        X: Any,
        y: Any,
        group: Any,
        *,
        reference: Any = None,
        compare: Any = None,
        criterion: str = "equal_opportunity",
        margin: float = 0.0,
        level: float = 0.05,
        favorable: Any = 1,
        missing: str = "refuse",
    ) -> ProjectionTest | Any:
        """Test a fitted logistic regression: logits and ‖β‖ are read from it.

        `model` is scikit-learn's LogisticRegression, LogisticRegressionCV or SGDClassifier(loss="log_loss"), with two
        classes, also at the end of a pipeline (distances are then in the features that the pipeline hands to it); or
        the fitted results of statsmodels' Logit or of its binomial GLM with a logit link (X with the columns of the
        fit, the constant among them). `favorable` is one of its two classes.

        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 0, 1, 1]
        >>> test = projection_test.from_model(LogisticRegression().fit(X, y), X, y, ["f", "m", "f", "f", "m", "m"])
        >>> test.space, test.n, round(test.p_value, 3)
        ('features', 6, 0.333)
        """
        how = How.checked(criterion, margin, level)
        linear = linear_part(model, X, favorable)
        if y is None or group is None:
            raise UsageError(f"from_model needs {'y, the outcomes' if y is None else 'the group of each person'}")
        columns = {"score": linear.z, "label": y, "group": group, "favorable": favorable, "missing": missing}
        scored = Scored(as_table(None, picked(Roles, columns)), True, linear.norm, linear.notes)
        return _one_or_all(_pairs(scored, reference, compare, how))

    def __repr__(self) -> str:
        return "evenhand.projection_test(data, …), or .from_model(model, X, y, group); see help(projection_test)"


projection_test = _ProjectionTest()


def _columns(score: Any, logit: Any, norm: float | None) -> list[tuple[Any, Any]]:
    """Each score or logit that is to be tested."""
    if not (_several(score) or _several(logit)):
        return [(score, logit)]
    named = [(one, None) for one in score] if _several(score) else [(None, one) for one in logit]
    if score is not None and logit is not None:
        raise UsageError("pass score= (probabilities) or logit=, not both")
    if norm is not None and len(named) > 1:
        raise UsageError("beta_norm is the length ‖β‖ of one model: test the scores one by one, or leave it out")
    return named


def _several(columns: Any) -> bool:
    """Whether these are names of columns, not the numbers of one."""
    return isinstance(columns, list | tuple) and len(columns) > 0 and all(isinstance(c, str) for c in columns)


def _pairs(scored: Scored, reference: Any, compare: Any, how: How) -> list[ProjectionTest]:
    grouping, groups, ref = compared(scored.table, reference, compare)
    there = [g for g in groups if len(groups) == 1 or has_people(scored.table, grouping, g, how.labels)]
    left = [f"{shown(grouping.groups[g])} is not compared: nobody has the label" for g in groups if g not in there]
    scored = replace(scored, notes=(*scored.notes, *left))
    return [pair_test(scored, grouping, group, ref, how) for group in there or groups]


def _one_or_all(tests: list[ProjectionTest]) -> ProjectionTest | Any:
    return tests[0] if len(tests) == 1 else ProjectionTests(tuple(tests))


def _norm(beta_norm: Any) -> float:
    if not 1 / LARGEST <= number(beta_norm) <= LARGEST:
        raise UsageError(
            f"beta_norm must be the positive length ‖β‖ of the coefficients without the intercept, not "
            f"{shown(beta_norm)}; leave it out to measure in logits"
        )
    return float(beta_norm)


def _table(data: Any, score: Any, logit: Any, roles: Roles, how: How) -> tuple[Table, bool]:
    """The table, and whether its score holds logits."""
    from evenhand.tables.storage import is_table_file

    given = [c is not None and c is not False for c in (score, logit)]
    if all(given):
        raise UsageError("pass score= (probabilities) or logit=, not both")
    column = logit if given[1] else score
    if isinstance(data, Table | Confusion) or (isinstance(data, str | os.PathLike) and is_table_file(data)):
        table = as_table(data, roles)
        if any(given) and column is not True and not (isinstance(column, str) and column == table.meaning.score):
            raise UsageError(
                f"the score of the table is {shown(table.meaning.score)}: name that one, not {shown(column)}; if it "
                "holds logits, say logit=True"
            )
        return table, given[1]
    if not any(given):
        raise UsageError("name the column of probabilities (score=) or that of logits (logit=)")
    if column is True:
        raise UsageError(f"{'logit' if given[1] else 'score'}=True is for tables: name the column")
    if roles.label is None and None not in how.labels:
        raise UsageError(f"{NEEDS_LABEL}: name the column of outcomes (label=)")
    return as_table(data, replace(roles, score=column)), given[1]
