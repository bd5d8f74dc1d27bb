"""Is a logistic score fair, and who would have to move how far? The Wasserstein-projection test.

Taskesen, Blanchet, Kuhn & Nguyen (2021).
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from evenhand.analyses.projection.inputs import NEEDS_LABEL, check_people, compared, labels_of, logits_of, scores_of
from evenhand.analyses.projection.logistic import LARGEST, linear_part
from evenhand.analyses.projection.results import LabelProjection, ProjectionTest
from evenhand.analyses.projection.sample import Sample, exceeding, in_ranges, law, mistaken_risk, within, within_ranges
from evenhand.analyses.projection.shifts import LABELS, Shifts, sigma
from evenhand.errors import DataError, UsageError, number, one_of, shown
from evenhand.inference.chi2_mixture import critical
from evenhand.inference.wasserstein_projection import TOO_NEAR, Projection
from evenhand.ingest.resolve import as_table
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked
from evenhand.report.document import fields
from evenhand.report.format import p_words
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.confusion import Confusion
from evenhand.tables.table import Table

CRITERIA: dict[str, tuple[int | None, ...]] = {
    "equal_opportunity": (1,),
    "predictive_equality": (0,),
    "equalized_odds": (1, 0),
    "demographic_parity": (None,),
}
"""Among people with which label means are compared; None: among all."""
Plans = dict[int | None, Projection]
"""The projection among people with each of these labels."""
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
        The group to compare with, by default the largest; and which group, if there are more than two.
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
    ) -> ProjectionTest:
        check_known(columns, ColumnArgs.__optional_keys__, projection_test)
        how = How.checked(criterion, margin, level)
        norm = None if beta_norm is None else _norm(beta_norm)
        table, logits = _table(data, score, logit, picked(Roles, columns), how)
        notes = [_NO_BETA] if norm is None else []
        return _tested(table, logits, norm, reference, compare, how, notes)

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
    ) -> ProjectionTest:
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
        table = as_table(None, picked(Roles, columns))
        return _tested(table, True, linear.norm, reference, compare, how, list(linear.notes))

    def __repr__(self) -> str:
        return "evenhand.projection_test(data, …), or .from_model(model, X, y, group); see help(projection_test)"


projection_test = _ProjectionTest()


@dataclass(frozen=True)
class How:
    """What is tested."""

    criterion: str
    margin: float
    level: float

    @classmethod
    def checked(cls, criterion: Any, margin: Any, level: Any) -> How:
        one_of("criterion", criterion, CRITERIA)
        if not 0 < number(level) < 1:
            raise UsageError(f"level must be a number between 0 and 1, such as 0.05, not {shown(level)}")
        if not 0 <= number(margin) < 1:
            raise UsageError(
                f"margin must be a gap of mean scores from 0 to less than 1, such as 0.05, not {shown(margin)}"
            )
        return cls(criterion, float(margin), float(level))

    @property
    def labels(self) -> tuple[int | None, ...]:
        return CRITERIA[self.criterion]


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


def _tested(
    table: Table,
    logits: bool,
    norm: float | None,
    reference: Any,
    compare: Any,
    how: How,
    notes: list[str],
) -> ProjectionTest:
    labels = labels_of(table, None not in how.labels)
    grouping, group, ref = compared(table, reference, compare)
    z = logits_of(table, scores_of(table), logits)
    pair = np.flatnonzero((grouping.codes == group) | (grouping.codes == ref))
    names = (grouping.groups[group], grouping.groups[ref])
    label = None if labels is None else labels[pair]
    sample = Sample.of(table, pair, z[pair], label, grouping.codes[pair] == group)
    people, beta_norm = int(table.n[pair].sum()), 1.0 if norm is None else norm
    plans = _projected(table, sample, names, how, beta_norm)
    parts = [_part(y, plan, sample, table.n[pair], table.meaning.risk) for y, plan in plans.items()]
    p_limit = exceeding(list(plans.values()), how.margin)
    permuted = None if how.margin else sample.permuted(how.labels)
    few = any(min(sample.effective(y)) < sample.few(y) for y in how.labels)
    by_permutation = permuted is not None and (few or (permuted <= how.level) != (p_limit <= how.level))
    p_value = permuted if by_permutation and permuted is not None else p_limit
    ranges = within_ranges(table, pair, sample, logits, how.labels, beta_norm, how.margin)
    return ProjectionTest(
        criterion=how.criterion,
        margin=how.margin,
        statistic=sum(p.statistic for p in parts),
        critical_value=critical(how.level, *law(list(plans.values()), how.margin)),
        p_value=p_value,
        p_method="permutation" if by_permutation else "limit law",
        p_limit=p_limit,
        p_permuted=permuted,
        p_within=within(list(plans.values()), how.margin),
        rejects=p_value <= how.level,
        level=how.level,
        attribute=grouping.name,
        group=names[0],
        reference=names[1],
        n=people,
        beta_norm=beta_norm,
        space="score" if norm is None else "features",
        labels=tuple(parts),
        data={
            "score": table.meaning.score,
            "logits": logits,
            **fields(table.meaning, "risk label favorable"),
            "left_out": dict(table.left_out),
        },
        notes=(
            *table.notes,
            *notes,
            *mistaken_risk(sample, table.meaning.risk),
            *in_ranges(ranges, how.level),
            *_remarks(plans, names, sample, p_limit, how, by_permutation),
        ),
        ranges=ranges,
        _plan=_shifts(sample, plans, names, scores_of(table)[pair], logits, table.meaning.risk),
    )


def _projected(table: Table, sample: Sample, names: tuple[str, str], how: How, beta_norm: float) -> Plans:
    """The projection among people with each label that the criterion is about; their cells counted among all."""
    plans = {}
    for y in how.labels:
        cells = sample.own(y)
        check_people(table, names, sample.in_group[cells], how.criterion, y)
        found = sample.projected(y, beta_norm, how.margin)
        if not math.isfinite(found.theta) or not math.isfinite(found.statistic):
            raise DataError(TOO_NEAR)
        plans[y] = replace(found, cell=cells[found.cell])
    return plans


def _shifts(sample: Sample, plans: Plans, names: tuple[str, str], score: Floats, logits: bool, risk: bool) -> Shifts:
    """Who goes where, in the units of the score as it was given; people the criterion is not about stay."""
    sign = -1.0 if risk else 1.0
    logit = sign * sample.z
    moved = [(p.cell, p.n, p.shifted, p.k) for p in plans.values()]
    rest = np.setdiff1d(np.arange(len(logit)), np.concatenate([cell for cell, *_ in moved]))
    moved.append((rest, sample.n[rest], sample.z[rest], np.zeros(len(rest))))
    cell, n, shifted, k = (np.concatenate(columns) for columns in zip(*moved, strict=True))
    return Shifts(
        groups=names,
        score=sigma(logit) if logits else score,
        logit=logit,
        which=(~sample.in_group).astype(np.int64),
        label=sample.label,
        cell=cell,
        n=n,
        shifted=sign * shifted,
        k=k,
    )


def _part(y: int | None, found: Projection, sample: Sample, rows: Ints, risk: bool) -> LabelProjection:
    own = sample.own(y)
    after, moves, sizes = [], [], []
    for side in (sample.in_group, ~sample.in_group):
        which = side[found.cell]
        n, z, x = found.n[which], sample.z[found.cell[which]], found.shifted[which]
        sizes.append(int(rows[own[side[own]]].sum()))
        after.append(float((n * sigma(x)).sum() / n.sum()))
        moved = x != z  # not where both are infinite
        moves.append(float((n[moved] * (x[moved] - z[moved])).sum() / n.sum()))
    return LabelProjection(
        LABELS[y], (sizes[0], sizes[1]), found.means, (after[0], after[1]), (moves[0], moves[1]), found.statistic,
        found.theta, found.gamma, risk,
    )  # fmt: skip


def _remarks(
    plans: Plans,
    names: tuple[str, str],
    sample: Sample,
    p_limit: float,
    how: How,
    permuted: bool,
) -> list[str]:
    notes = []
    far = float(sample.n[np.isinf(sample.z)].sum())
    if far:
        notes.append(
            f"{far:,.0f} people have a score of exactly 0 or 1: at this limit a score no longer responds to its "
            "features, so that they count in the means, but stay where they are"
        )
    for y, found in plans.items():
        whom = "people" if y is None else f"people with the {LABELS[y]} label"
        sizes, enough = zip(names, sample.effective(y), strict=True), sample.few(y)
        few = [f"{shown(g)} ({n:,.0f})" for g, n in sizes if n < enough]
        if few and not permuted:
            notes.append(
                f"few {whom} in {' and '.join(few)}: the p-value is for large samples; with so few people the test "
                "mostly rejects too rarely, but somewhat too often if scores are very skewed and one group is much "
                "smaller"
            )
        if few and permuted:
            notes.append(
                f"few {whom} in {' and '.join(few)}: the p-value comes from permuting group labels; the limit law for "
                f"large samples would give {p_words(p_limit)}"
            )
        if found.theta == 0:
            notes.append(f"the score is constant among {whom}")
    if permuted and not notes:
        notes.append(
            f"the limit law for large samples gives {p_words(p_limit)}; permuting group labels decides otherwise, and "
            "is what is reported"
        )
    wald = sum(p.wald for p in plans.values())
    plain = math.exp(-wald / 2) if len(plans) == 2 else math.erfc(math.sqrt(wald / 2))
    if p_limit >= how.level > 10 * plain and not how.margin and not notes:
        notes.append(
            f"the means themselves differ by more than chance explains (p = {plain:.2g} by their standard errors): "
            "the projection test has little power where scores are near 0 or 1 or gaps are large"
        )
    return notes
