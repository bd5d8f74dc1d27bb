"""What a projection test found: a frozen result, and its part for each label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.analyses.projection.sample import Ranges
from evenhand.analyses.projection.shifts import Shifts, each, sigma
from evenhand.analyses.projection.steps import Step
from evenhand.errors import DataError, UsageError
from evenhand.ingest.values import label_key, name_of, to_floats
from evenhand.report.result import Result, write
from evenhand.tables.arrays import Floats

if TYPE_CHECKING:
    from evenhand.analyses.projection.logistic import Linear


@dataclass(frozen=True)
class LabelProjection:
    """What makes the mean scores of both groups equal, among people with one label. Pairs are (group, reference)."""

    label: str
    """"favourable" or "unfavourable"; "any" where everybody is compared."""
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
    largest: tuple[float, float]
    """The largest move of a score, whichever way."""
    slack: float
    """The margin, in standard errors of the gap."""
    steps: tuple[tuple[Step, ...], tuple[Step, ...]]
    """Scores as they were given, before and after, in steps of some people."""
    risk: bool = False
    """Whether the score given is a risk, which is high where these means are low."""

    @property
    def gap(self) -> float:
        """Mean score of the group minus that of its reference; for a risk score, of 1 − score: positive is favoured."""
        return self.means[0] - self.means[1]

    def as_given(self) -> list[tuple[float, float, float]]:
        """For the group and its reference: mean, mean after and mean move of the score as it was given."""
        own = zip(self.means, self.means_after, self.moves, strict=True)
        return [(1 - mean, 1 - after, -move) if self.risk else (mean, after, move) for mean, after, move in own]


@dataclass(frozen=True, repr=False)
class ProjectionTest(Result):
    """What a projection test found. Print it, or take `to_dict`, `to_json`, `to_html`, `plot`, `shifts`, `to_frame`."""

    drawn_by = "evenhand.analyses.projection.charts"

    criterion: str
    margin: float
    """The largest gap of means that is none."""
    statistic: float
    """N times the squared distance to the nearest distribution under which the criterion holds."""
    critical_value: float
    """Of the limit law."""
    p_value: float
    p_method: str
    """"limit law", or "permutation" where a group has few people or the two would decide otherwise."""
    p_limit: float
    p_permuted: float | None
    """By permuting group labels among those who are compared; None of survey weights, margins and large groups."""
    p_within: float | None
    """The p-value of the opposite hypothesis, that a gap is as large as the margin or larger."""
    rejects: bool
    level: float
    attribute: str
    group: str
    reference: str
    n: int
    """People of both groups, with either label."""
    accuracy: float | None
    """Share of these people whose label the score tells at one half; None without labels."""
    beta_norm: float
    space: str
    """"features", or "score" if no ‖β‖ was given: then distances are in logits."""
    labels: tuple[LabelProjection, ...]
    """One per label that the criterion is about, the favourable one first."""
    data: Mapping[str, Any]
    notes: tuple[str, ...]
    _plan: Shifts = field(compare=False)
    ranges: Ranges | None = None
    """What scores known in ranges leave open; None if they are exact."""
    _model: Linear | None = field(default=None, compare=False)

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

        `score` and `logit` are as they were given, `shifted_score` and `shifted_logit` where they go, `k` is
        the paper's k in [0, 1/8]. All people with the same score, group and label go the same way, except at most a few
        who stand where two ways are equally good: these have two entries, and `n` says how many go each way.
        """
        return self._plan.columns()

    @property
    def is_within(self) -> bool:
        """Whether all gaps are shown to be smaller than the margin, with 1 − level confidence."""
        return self.p_within is not None and self.p_within <= self.level

    def shifted_probabilities(self, score: Any, group: Any, label: Any = None) -> Floats:
        """As `shifted_logits`, as probabilities.

        >>> from evenhand import projection_test
        >>> people = {"p": [0.7, 0.4, 0.6], "y": [1, 1, 1], "sex": ["m", "f", "m"]}
        >>> test = projection_test(people, score="p", label="y", group="sex", reference="m")
        >>> test.shifted_probabilities(people["p"], people["sex"], people["y"]).round(2).tolist()
        [0.63, 0.57, 0.51]
        """
        return sigma(self.shifted_logits(score, group, label))

    def shifted_logits(self, score: Any, group: Any, label: Any = None) -> Floats:
        """Where each person goes, in the order of rows: `score` (or logit), group and label as they were tested.

        NaN for people of other groups, and without a label. Of a cell that is split, the first rows go one way and the
        rest the other.

        >>> from evenhand import projection_test
        >>> people = {"p": [0.7, 0.4, 0.6], "y": [1, 1, 1], "sex": ["m", "f", "m"]}
        >>> test = projection_test(people, score="p", label="y", group="sex", reference="m")
        >>> test.shifted_logits(people["p"], people["sex"], people["y"]).round(2).tolist()
        [0.52, 0.28, 0.05]
        """
        if label is None and self._plan.label is not None:
            raise UsageError("the people were tested with their labels: pass label, too")
        scores, names = to_floats(score, "score", "score"), each(group, name_of)
        keys = names if label is None else each(label, label_key)
        lengths = [len(scores), len(names), len(keys)]
        if len(set(lengths)) > 1:
            raise DataError(f"score, group and label need the same length, not {lengths}")
        names[~keys.astype(np.bool_)] = None  # people without a label
        return self._plan.of_rows(scores, names, keys == self.data["favorable"], self.data["logits"])

    def shifted_features(self, X: Any = None) -> Floats:
        """Where the people that a logistic regression scored go in its features: a matrix, in the order of their rows.

        `X` are those people, as they were tested; it may be left out. Everybody moves along the coefficients. After a
        pipeline these are the features that it hands to its classifier. NaN for people who were not compared.

        >>> import numpy as np
        >>> from sklearn.linear_model import LogisticRegression
        >>> from evenhand import projection_test
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 0, 1, 1]
        >>> test = projection_test.from_model(LogisticRegression().fit(X, y), X, y, ["f", "m", "f", "f", "m", "m"])
        >>> test.shifted_features(X).ravel().round(2).tolist()
        [0.0, 1.0, 3.65, 3.0, 3.05, 4.39]
        """
        found = self._model
        if found is None:
            raise UsageError(
                "these scores come without a model's features: use projection_test.from_model(model, X, y, group), or "
                "shifted_logits"
            )
        if X is not None and np.shape(X)[0] != len(found.z):
            raise DataError(f"X has {np.shape(X)[0]:,} rows, but {len(found.z):,} people were tested: pass these")
        features = found.features.toarray() if hasattr(found.features, "toarray") else found.features
        moved = self.shifted_logits(found.z, found.group, found.label) - found.z
        length = found.norm**2
        return np.asarray(features, np.float64) + (moved / length if length else 0 * moved)[:, None] * found.beta

    def save_shifts(self, path: str | Path) -> None:
        """Write the shifts, one row each: a .csv or .parquet file, which appears only when it is complete."""
        from evenhand.analyses.projection.shifts_file import save

        save(self._plan, path)

    @property
    def interpretation(self) -> str:
        """The finding in a sentence."""
        from evenhand.analyses.projection.document import sentence

        return sentence(self)

    def to_html(self, path: str | Path | None = None) -> str:
        """The result as one self-contained page, also written to a file if a path is given."""
        from evenhand.analyses.projection.page import projection_page

        return write(projection_page(self.to_dict()), path)

    def to_frame(self, library: str | None = None) -> Any:
        """The shifts as a dataframe of the library named, by default the first of those installed."""
        from evenhand.analyses.projection.document import frame

        return frame(self, library)
