"""Is a logistic score fair, and who would have to move how far? The Wasserstein-projection test of 004."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from evenhand.analyses.projection.logistic import LARGEST, linear_part
from evenhand.analyses.reference import group_named, reference_group
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.inference.chi2_mixture import critical, tail
from evenhand.inference.settings import number
from evenhand.inference.wasserstein_projection import TOO_NEAR, Projection, project
from evenhand.ingest.engines.dataframes import as_values
from evenhand.ingest.resolve import as_table
from evenhand.ingest.roles import ColumnArgs, Roles, check_known, picked
from evenhand.ingest.values import label_key, name_of, to_floats
from evenhand.report.document import header
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.confusion import Confusion
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

CRITERIA = {"equal_opportunity": (1,), "equalized_odds": (1, 0)}
LABELS = ("unfavourable", "favourable")
FEW = 30
"""With fewer people of a label in a group, the limit law is not to be relied on."""
_TYPES = {
    "score": "float", "group": "str", "label": "str", "n": "float", "logit": "float", "shifted_logit": "float",
    "k": "float", "shifted_score": "float",
}  # fmt: skip
_NO_BETA = (
    "no ‖β‖ was given, so distances are in logits (score space, ‖β‖ = 1): this is not the distance in the model's "
    "feature space; the p-value and the moves are the same for any ‖β‖"
)


@dataclass(frozen=True)
class LabelProjection:
    """What makes the mean scores of both groups equal, among people with one label. Pairs are (group, reference)."""

    label: str
    """"favourable" or "unfavourable"."""
    people: tuple[int, int]
    means: tuple[float, float]
    """Mean score; for a risk score, of 1 − score: higher is better."""
    means_after: tuple[float, float]
    """The same under the most favourable distribution."""
    moves: tuple[float, float]
    """Mean move in logits; positive is for the better."""
    statistic: float
    theta: float
    gamma: float
    """The multiplier of the projection; positive if the group has the higher mean."""

    @property
    def gap(self) -> float:
        """Mean score of the group minus that of its reference."""
        return self.means[0] - self.means[1]


@dataclass(frozen=True)
class _Plan:
    """The most favourable distribution: where the people of each cell go."""

    groups: tuple[str, ...]
    score: Floats
    logit: Floats
    which: Ints
    """Of each cell, its group."""
    label: Bools
    cell: Ints
    n: Floats
    shifted: Floats
    k: Floats

    def of_rows(self, values: Floats, names: Any, favourable: Bools, logits: bool) -> Floats:
        """The shifted logit of each row."""
        found = np.full(len(values), np.nan)
        cells = self.logit if logits else self.score
        places = np.argsort(self.cell, kind="stable")  # where each cell's people go, one or two places a cell
        first = np.searchsorted(self.cell[places], np.arange(len(cells)))
        last = np.searchsorted(self.cell[places], np.arange(len(cells)), side="right") - 1
        for g, name in enumerate(self.groups):
            for y in (False, True):
                own = np.flatnonzero((self.which == g) & (self.label == y))
                own = own[np.argsort(cells[own], kind="stable")]
                rows = np.flatnonzero((names == name) & (favourable == y))
                place = np.minimum(np.searchsorted(cells[own], values[rows]), len(own) - 1)
                if len(rows) and (not len(own) or (cells[own[place]] != values[rows]).any()):
                    raise DataError("some of these rows were not among those tested: pass the same columns")
                cell = own[place]
                order = np.argsort(cell, kind="stable")
                rank = np.empty(len(rows))
                rank[order] = np.arange(len(rows)) - np.searchsorted(cell[order], cell[order])
                one = rank < np.rint(self.n[places[first[cell]]])
                found[rows] = self.shifted[places[np.where(one, first[cell], last[cell])]]
        return found

    def columns(self) -> dict[str, Any]:
        order = np.argsort(self.cell, kind="stable")
        cell, shifted = self.cell[order], self.shifted[order]
        return {
            "score": self.score[cell],
            "group": np.array(self.groups, object)[self.which[cell]],
            "label": np.array(LABELS, object)[self.label[cell].astype(np.int64)],
            "n": self.n[order],
            "logit": self.logit[cell],
            "shifted_logit": shifted,
            "k": self.k[order],
            "shifted_score": _sigma(shifted),
        }


@dataclass(frozen=True, repr=False)
class ProjectionTest:
    """What a projection test found. Print it, or take `to_dict`, `to_json`, `shifts`, `to_frame`."""

    criterion: str
    statistic: float
    """N times the squared distance to the nearest distribution under which the criterion holds."""
    critical_value: float
    p_value: float
    rejects: bool
    level: float
    attribute: str
    group: str
    reference: str
    n: int
    """People of both groups, with either label."""
    beta_norm: float
    space: str
    """"features", or "score" if no ‖β‖ was given: then distances are in logits."""
    labels: tuple[LabelProjection, ...]
    """One per label that the criterion is about, the favourable one first."""
    data: Mapping[str, Any]
    notes: tuple[str, ...]
    _plan: _Plan = field(compare=False)

    @property
    def theta(self) -> tuple[float, ...]:
        """Weights of the limit law Σ θχ²₁, one per label, the favourable one first."""
        return tuple(part.theta for part in self.labels)

    @property
    def gamma(self) -> tuple[float, ...]:
        """Multipliers, one per label, the favourable one first."""
        return tuple(part.gamma for part in self.labels)

    @property
    def distance(self) -> float:
        """The Wasserstein distance to the most favourable distribution, √R."""
        return math.sqrt(self.statistic / self.n)

    @property
    def shifts(self) -> dict[str, Any]:
        """The most favourable distribution as columns: where the people of each cell go.

        `score` and `logit` are as they were given, `shifted_score` and `shifted_logit` where they go, `k` is 004's
        k in [0, 1/8]. All people with the same score, group and label go the same way, except at most a few who stand
        where two ways are equally good: these have two entries, and `n` says how many go each way.
        """
        return self._plan.columns()

    def shifted_logits(self, score: Any, group: Any, label: Any) -> Floats:
        """Where each person goes, in the order of rows: `score` (or logit), group and label as they were tested.

        NaN for people of other groups. Of a cell that is split, the first rows go one way and the rest the other.

        >>> people = {"p": [0.7, 0.4, 0.6], "y": [1, 1, 1], "sex": ["m", "f", "m"]}
        >>> test = projection_test(people, score="p", label="y", group="sex", reference="m")
        >>> test.shifted_logits(people["p"], people["sex"], people["y"]).round(2).tolist()
        [0.52, 0.28, 0.05]
        """
        columns = to_floats(score, "score", "score"), *(as_values(c)[0] for c in (group, label))
        if len({len(c) for c in columns}) > 1:
            raise DataError(f"score, group and label need the same length, not {[len(c) for c in columns]}")
        names = np.array([name_of(g) for g in columns[1]], object)
        favourable = np.array([label_key(y) == self.data["favorable"] for y in columns[2]], np.bool_)
        return self._plan.of_rows(columns[0], names, favourable, self.data["logits"])

    @property
    def interpretation(self) -> str:
        """The finding in a sentence."""
        from evenhand.analyses.projection.sentences import sentence

        return sentence(self)

    def to_frame(self, library: str | None = None) -> Any:
        """The shifts as a dataframe of the library named, by default the first of those installed."""
        from evenhand.report.frame import plain_frame

        return plain_frame({k: list(v) for k, v in self.shifts.items()}, _TYPES, library)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""

        return {
            **header("projection"),
            "criterion": self.criterion,
            "statistic": self.statistic,
            "theta": list(self.theta),
            "critical_value": self.critical_value,
            "p_value": self.p_value,
            "gamma": list(self.gamma),
            "rejects": self.rejects,
            "level": self.level,
            "attribute": self.attribute,
            "group": self.group,
            "reference": self.reference,
            "n": self.n,
            "beta_norm": self.beta_norm,
            "space": self.space,
            "distance": self.distance,
            "labels": [
                {
                    "label": part.label,
                    "gap": part.gap,
                    "statistic": part.statistic,
                    "theta": part.theta,
                    "gamma": part.gamma,
                    "groups": [
                        {"name": name, "n": n, "mean": mean, "mean_after": after, "move": move}
                        for name, n, mean, after, move in zip(
                            (self.group, self.reference), part.people, part.means, part.means_after, part.moves,
                            strict=True,
                        )
                    ],
                }
                for part in self.labels
            ],
            "data": dict(self.data),
            "interpretation": self.interpretation,
            "notes": list(self.notes),
        }  # fmt: skip

    def to_json(self, path: str | Path | None = None) -> str:
        """The result as JSON text, also written to a file if a path is given."""
        from evenhand.report.document import as_json

        text = as_json(self.to_dict())
        if path is not None:
            from evenhand.files.paths import write_text

            write_text(path, text)
        return text

    def __repr__(self) -> str:
        from evenhand.analyses.projection.sentences import as_text

        return as_text(self.to_dict())


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
        The column of probabilities in (0, 1), or that of logits β'x (+ intercept): one of both. A table holds its
        score already; if these are logits, say `logit=True`.
    beta_norm
        ‖β‖₂ of the model, without the intercept. Without it distances are in logits, not in the feature space; the
        p-value is the same.
    label, group and the other columns
        As in `evenhand.data`: one group column; whole weights count people. Of a risk score, 1 − score is compared.
    reference, compare
        The group to compare with, by default the largest; and which group, if there are more than two.
    criterion
        "equal_opportunity": equal means among people with the favourable label. "equalized_odds": with either label.
    level
        The test rejects at this level.

    Examples
    --------
    >>> people = {"p": [0.9, 0.7, 0.6, 0.4, 0.2, 0.8], "y": [1, 1, 1, 1, 1, 0], "sex": ["m", "m", "m", "f", "f", "f"]}
    >>> test = projection_test(people, score="p", label="y", group="sex", reference="m", beta_norm=2.0)
    >>> round(test.statistic, 3), round(test.p_value, 3), test.rejects
    (1.177, 0.334, False)
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
        level: float = 0.05,
        **columns: Unpack[ColumnArgs],
    ) -> ProjectionTest:
        check_known(columns, ColumnArgs.__optional_keys__, "projection_test")
        how = _checked(criterion, level)
        norm = None if beta_norm is None else _norm(beta_norm)
        table, logits = _table(data, score, logit, picked(Roles, columns))
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
        ('features', 6, 0.423)
        """
        how = _checked(criterion, level)
        linear = linear_part(model, X, favorable)
        if y is None or group is None:
            raise UsageError(f"from_model needs {'y, the outcomes' if y is None else 'the group of each person'}")
        columns = {"score": linear.z, "label": y, "group": group, "favorable": favorable, "missing": missing}
        table = as_table(None, picked(Roles, columns))
        return _tested(table, True, linear.norm, reference, compare, how, list(linear.notes))

    def __repr__(self) -> str:
        return "evenhand.projection_test(data, …), or .from_model(model, X, y, group); see help(projection_test)"


projection_test = _ProjectionTest()


# ---- what was asked --------------------------------------------------------------------------------------


def _checked(criterion: Any, level: Any) -> tuple[str, float]:
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        raise UsageError(
            f"criterion must be one of {listed(CRITERIA)}, not {shown(criterion)}{nearest(str(criterion), CRITERIA)}"
        )
    if not 0 < number(level) < 1:
        raise UsageError(f"level must be a number between 0 and 1, such as 0.05, not {shown(level)}")
    return criterion, float(level)


def _norm(beta_norm: Any) -> float:
    if not 1 / LARGEST <= number(beta_norm) <= LARGEST:
        raise UsageError(
            f"beta_norm must be the positive length ‖β‖ of the coefficients without the intercept, not "
            f"{shown(beta_norm)}; leave it out to measure in logits"
        )
    return float(beta_norm)


def _table(data: Any, score: Any, logit: Any, roles: Roles) -> tuple[Table, bool]:
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
    if roles.label is None:
        raise UsageError(f"{_NEEDS_LABEL}: name the column of outcomes (label=)")
    return as_table(data, replace(roles, score=column)), given[1]


_NEEDS_LABEL = "the projection test compares people with the same label"


# ---- the test ---------------------------------------------------------------------------------------------


def _tested(
    table: Table,
    logits: bool,
    norm: float | None,
    reference: Any,
    compare: Any,
    how: tuple[str, float],
    notes: list[str],
) -> ProjectionTest:
    criterion, level = how
    if table.label is None:
        raise UsageError(f"{_NEEDS_LABEL}, but the table has none: count it again with label=")
    if table.weight is not None:
        raise DataError(
            f"the limit law of the projection test is for people who count once, not for sampling weights "
            f"({shown(table.meaning.weight)}): leave the weights out"
        )
    if table.noise is not None:
        raise DataError(
            "the limit law of the projection test is for true counts, and the table is private: it has noise"
        )
    if table.provenance.below is not None:
        raise DataError(
            "the projection test is about single scores, which a suppressed table has put together: test the data "
            "themselves"
        )
    if table.cluster is not None:
        raise DataError("the limit law of the projection test is for independent rows, not for clusters of them")
    grouping, group, ref = _pair(table, reference, compare)
    z = _logits(table, logits)
    pair = np.flatnonzero((grouping.codes == group) | (grouping.codes == ref))
    z, n, label, in_group = z[pair], table.n[pair].astype(np.float64), table.label[pair], grouping.codes[pair] == group
    names = (grouping.groups[group], grouping.groups[ref])
    people, beta_norm = float(n.sum()), 1.0 if norm is None else norm
    parts, plans, wald = [], [], []
    for y in (1, 0):
        cells = np.flatnonzero(label == y)
        if y not in CRITERIA[criterion]:
            zeros = np.zeros(len(cells))
            plans.append(Projection(0, 0, 0, (0, 0), 0, cells, n[cells], z[cells], zeros))
            continue
        _check_people(table, names, in_group[cells], criterion, y)
        found = project(z[cells], n[cells], in_group[cells], people, beta_norm)
        if not math.isfinite(found.theta) or not math.isfinite(found.statistic):
            raise DataError(TOO_NEAR)
        parts.append(_part(found, z[cells], in_group[cells], y))
        wald.append(found.wald)
        plans.append(_of_cells(found, cells))
    theta, statistic = tuple(p.theta for p in parts), sum(p.statistic for p in parts)
    limit, p_value = critical(level, theta), tail(statistic, theta)
    sign = -1.0 if table.meaning.risk else 1.0
    logit = sign * z
    plan = _Plan(
        groups=names,
        score=_sigma(logit) if logits else _scores(table)[pair],
        logit=logit,
        which=(~in_group).astype(np.int64),
        label=label,
        cell=np.concatenate([p.cell for p in plans]),
        n=np.concatenate([p.n for p in plans]),
        shifted=sign * np.concatenate([p.shifted for p in plans]),
        k=np.concatenate([p.k for p in plans]),
    )
    return ProjectionTest(
        criterion=criterion,
        statistic=statistic,
        critical_value=limit,
        p_value=p_value,
        rejects=statistic > limit,
        level=level,
        attribute=grouping.name,
        group=names[0],
        reference=names[1],
        n=int(people),
        beta_norm=beta_norm,
        space="score" if norm is None else "features",
        labels=tuple(parts),
        data={
            "score": table.meaning.score,
            "logits": logits,
            "risk": table.meaning.risk,
            "label": table.meaning.label,
            "favorable": table.meaning.favorable,
            "left_out": dict(table.left_out),
        },
        notes=(*table.notes, *notes, *_remarks(parts, names, p_value, level, sum(wald))),
        _plan=plan,
    )


def _pair(table: Table, reference: Any, compare: Any) -> tuple[Grouping, int, int]:
    """The grouping, and the two groups that are compared."""
    if len(table.attributes) > 1:
        raise UsageError(
            "the projection test compares two groups of one column, but there are "
            f"{listed([a.name for a in table.attributes])}: count the people by one of them (group=)"
        )
    grouping = table.groupings[0]
    ref, _ = reference_group(table, grouping, reference)
    if compare is None:
        others = [g for g in range(len(grouping.groups)) if g != ref]
        if len(others) > 1:
            raise UsageError(
                f"the projection test compares two groups, but {shown(grouping.name)} has "
                f"{listed(grouping.groups)}: say which one to compare with {shown(grouping.groups[ref])} (compare=)"
            )
        return grouping, others[0], ref
    group = group_named(grouping, compare)
    if reference is None and group == ref:  # the largest of the others
        sizes = table.sizes(grouping).copy()
        sizes[group] = -1
        ref = int(np.argmax(sizes))
    if group == ref:
        raise UsageError(f"{shown(compare)} is the reference: name another group, or another reference")
    return grouping, group, ref


def _scores(table: Table) -> Floats:
    if table.score is None:
        raise UsageError("the projection test needs scores, but the table has none: count it again with score=")
    return table.score


def _logits(table: Table, logits: bool) -> Floats:
    """Logit of each cell, higher = more favourable."""
    score = _scores(table)
    name = shown(table.meaning.score)
    if logits:
        if np.abs(score).max() > LARGEST:
            raise DataError(f"logits {name} beyond ±{LARGEST:g} cannot be computed with: check that they are logits")
        z = score
    else:
        lo, hi = float(score[0]), float(score[-1])
        if lo < 0 or hi > 1:
            raise DataError(
                f"the score {name} must be a probability between 0 and 1, but goes from {lo:g} to {hi:g}: pass logits "
                "as logit= (for a table logit=True), or turn the score into the model's probability"
            )
        extreme = int(table.n[(score == 0) | (score == 1)].sum())
        if extreme:
            raise DataError(
                f"a score of exactly 0 or 1 has no logit, and {extreme:,} people have one in {name}: pass the logits "
                "themselves as logit=, or clip the scores, such as to 1e-6 … 1 − 1e-6"
            )
        z = np.log(score) - np.log1p(-score)
    return -z if table.meaning.risk else z


def _check_people(table: Table, names: tuple[str, str], in_group: Bools, criterion: str, y: int) -> None:
    for name, some in zip(names, (in_group.any(), (~in_group).any()), strict=True):
        if not some:
            m = table.meaning
            raise DataError(
                f"{criterion.replace('_', ' ')} compares people with the {LABELS[y]} label ({shown(m.label)} is "
                f"{'' if y else 'not '}{m.favorable}), but {shown(name)} has none: the test is undefined; compare "
                "groups that have such people"
            )


def _part(found: Projection, z: Floats, in_group: Bools, y: int) -> LabelProjection:
    after, moves, sizes = [], [], []
    for which in (in_group[found.cell], ~in_group[found.cell]):
        n, cell, x = found.n[which], found.cell[which], found.shifted[which]
        sizes.append(round(float(n.sum())))
        after.append(float((n * _sigma(x)).sum() / n.sum()))
        moves.append(float((n * (x - z[cell])).sum() / n.sum()))
    return LabelProjection(
        LABELS[y],
        (sizes[0], sizes[1]),
        found.means,
        (after[0], after[1]),
        (moves[0], moves[1]),
        found.statistic,
        found.theta,
        found.gamma,
    )


def _of_cells(found: Projection, cells: Ints) -> Projection:
    """The same, its cells counted among all of them."""
    return replace(found, cell=cells[found.cell])


def _sigma(z: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-z)))


def _remarks(
    parts: list[LabelProjection], names: tuple[str, str], p_value: float, level: float, wald: float
) -> list[str]:
    notes = []
    for part in parts:
        few = [f"{shown(g)} ({n:,})" for g, n in zip(names, part.people, strict=True) if n < FEW]
        if few:
            notes.append(
                f"few people have the {part.label} label in {' and '.join(few)}: the p-value is for large samples, and "
                "with so few people the test rejects too rarely"
            )
        if part.theta == 0:
            notes.append(f"the score is constant among people with the {part.label} label")
    plain = math.exp(-wald / 2) if len(parts) == 2 else math.erfc(math.sqrt(wald / 2))
    if p_value >= level > 10 * plain and not notes:
        notes.append(
            f"the means themselves differ by more than chance explains (p = {plain:.2g} by their standard errors): "
            "the projection test has little power where scores are near 0 or 1 or gaps are large"
        )
    return notes
