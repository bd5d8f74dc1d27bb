"""Is a logistic score fair, and who would have to move how far? The Wasserstein-projection test.

Taskesen, Blanchet, Kuhn & Nguyen (2021).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from evenhand.analyses.projection.criteria import How
from evenhand.analyses.projection.inputs import NEEDS_LABEL, compared, has_people
from evenhand.analyses.projection.logistic import LARGEST, scored_by
from evenhand.analyses.projection.modelled import modelled, of_model
from evenhand.analyses.projection.pair_test import Scored, pair_test
from evenhand.analyses.projection.results import ProjectionTest
from evenhand.analyses.projection.several import Along, ProjectionTests
from evenhand.errors import DataError, UsageError, number, shown
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
    along
        A number for each of several scores, such as the penalty of its model: {"penalty": [0.1, 1, 10]}. The chart
        "landscape" shows the tests over it.
    model, features
        Instead of a score, the model that gives it, as `from_model` takes it, or the path of a .skops or .onnx file, or
        "package.module:name"; and the columns it takes, by default those it was fitted on, else all without a role.
    trust, unsafe_pickle
        Types of a .skops file that are known to be harmless; whether a pickle may be loaded, which can run any code.

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
        along: Mapping[str, Sequence[float]] | None = None,
        model: Any = None,
        features: Sequence[str] | None = None,
        trust: Sequence[str] = (),
        unsafe_pickle: bool = False,
        **columns: Unpack[ColumnArgs],
    ) -> ProjectionTest | Any:
        check_known(columns, ColumnArgs.__optional_keys__, projection_test)
        how = How.checked(criterion, margin, level)
        norm = None if beta_norm is None else _norm(beta_norm)
        notes = (_NO_BETA,) if norm is None else ()
        roles = picked(Roles, columns)
        if model is not None:
            if score is not None or logit is not None or beta_norm is not None:
                raise UsageError("the model gives score and ‖β‖: leave out score=, logit= and beta_norm=, or model=")
            if along is not None:
                raise UsageError("along is about several scores, but the model is one: test models with from_models")
            scored = of_model(model, data, roles, features, trust, unsafe_pickle, how)
            return _one_or_all(_pairs(scored, reference, compare, how))
        if features is not None or trust or unsafe_pickle:
            raise UsageError("features, trust and unsafe_pickle are about a model: name it (model=)")
        tests: list[list[ProjectionTest]] = []
        named = _columns(score, logit, norm)
        path = None if along is None else _path(along, len(named))
        for one, other in named:
            table, logits = _table(data, one, other, roles, how)
            tests.append(_pairs(Scored(table, logits, norm, notes), reference, compare, how))
        return _one_or_all([test for one in tests for test in one]) if path is None else _along(path, tests)

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
        """Test a fitted model: of a logistic regression, logits and β are read.

        That is scikit-learn's LogisticRegression, LogisticRegressionCV or SGDClassifier(loss="log_loss"), with two
        classes, also at the end of a pipeline (distances are then in the features that the pipeline hands to it), found
        by a search (GridSearchCV), with a threshold of its own, or calibrated by one sigmoid; or the fitted results of
        statsmodels' Logit or of its binomial GLM with a logit link (X with the columns of the fit, the constant among
        them). `favorable` is one of its two classes. Any other model with predict_proba, or function that returns
        probabilities, is tested in score space. `y` may be None for demographic parity.

        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 0, 1, 1]
        >>> test = projection_test.from_model(LogisticRegression().fit(X, y), X, y, ["f", "m", "f", "f", "m", "m"])
        >>> test.space, test.n, round(test.p_value, 3)
        ('features', 6, 0.333)
        """
        how = How.checked(criterion, margin, level)
        if group is None or (y is None and None not in how.labels):
            raise UsageError(f"from_model needs {'the group of each person' if group is None else 'y, the outcomes'}")
        found = scored_by(model, X, favorable)
        columns = {"label": y, "group": group, "favorable": favorable, "missing": missing}
        return _one_or_all(_pairs(modelled(found, None, picked(Roles, columns), group, y), reference, compare, how))

    def from_models(
        self, models: Mapping[float, Any], X: Any, y: Any, group: Any, *, along: str = "parameter", **options: Any
    ) -> ProjectionTests:
        """Test models that a number tells apart, such as a penalty: each by `from_model`, with its options.

        `along` is what that number is called. The chart "landscape" shows the tests over it.

        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 0, 1, 1]
        >>> models = {C: LogisticRegression(C=C).fit(X, y) for C in (0.1, 1, 10)}
        >>> found = projection_test.from_models(models, X, y, ["f", "m", "f", "f", "m", "m"], along="C")
        >>> [(C, round(test.gamma[0], 1)) for C, test in zip(found.along.values, found)]
        [(0.1, 9.2), (1.0, 3.5), (10.0, 2.7)]
        """
        if not isinstance(models, Mapping):
            raise UsageError(f"models are a mapping from a number to each of them, not {shown(type(models).__name__)}")
        path = _path({along: list(models)}, len(models))
        tests = [self.from_model(model, X, y, group, **options) for model in models.values()]
        return _along(path, [list(found) if isinstance(found, ProjectionTests) else [found] for found in tests])

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
    if len(groups) == 1:
        return [pair_test(scored, grouping, groups[0], ref, how)]
    tests, left, reason = [], [], DataError("there is no other group")
    for group in groups:
        try:
            tests.append(pair_test(scored, grouping, group, ref, how))
        except DataError as error:  # not all groups have a test
            reason = error
            why = error if has_people(scored.table, grouping, group, how.labels) else "nobody has the label"
            left.append(f"{shown(grouping.groups[group])} is not compared: {why}")
    if not tests:
        raise reason
    return [replace(test, notes=(*test.notes, *left)) for test in tests]


def _one_or_all(tests: list[ProjectionTest]) -> ProjectionTest | Any:
    return tests[0] if len(tests) == 1 else ProjectionTests(tuple(tests))


def _path(along: Any, scores: int) -> Along:
    """What tells the scores apart."""
    how = 'a name and a number for each score, such as {"penalty": [0.1, 1, 10]}'
    if not isinstance(along, Mapping) or len(along) != 1:
        raise UsageError(f"along is {how}, not {shown(along)}")
    ((name, values),) = along.items()
    if not isinstance(name, str) or not name:
        raise UsageError(f"along is {how}; what the numbers are called is a text, not {shown(name)}")
    if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != scores:
        raise UsageError(f"along is {how}: there are {scores}, not {shown(values)}")
    if scores < 2:
        raise UsageError("along is about several scores, but there is one: name more, or leave it out")
    numbers = [number(value) for value in values]
    if not np.isfinite(numbers).all():
        raise UsageError(f"along is {how}, not {shown(values)}")
    if len(set(numbers)) < scores:
        raise UsageError(f"along tells the scores apart by different numbers, but there are {shown(values)}")
    return Along(name, tuple(numbers))


def _along(path: Along, tests: list[list[ProjectionTest]]) -> ProjectionTests:
    """The tests of each score, with the number of each."""
    values = [value for value, own in zip(path.values, tests, strict=True) for _ in own]
    return ProjectionTests(tuple(test for own in tests for test in own), Along(path.name, tuple(values)))


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
