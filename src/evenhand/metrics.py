"""Every measure as a function by the conventions of scikit-learn: `metrics.equal_opportunity(y_true, y_pred, …)`.

They run the same code as `evenhand.audit` and give the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from evenhand.analyses.audit.audit import Audit
from evenhand.analyses.audit.by_group import GroupValues, by_group
from evenhand.analyses.audit.gaps import Gap, ScoreGap
from evenhand.analyses.audit.largest_gap import LargestGap
from evenhand.analyses.entry import audit
from evenhand.analyses.options import ScoreArgs, chosen_measures
from evenhand.errors import DataError, UsageError, shown
from evenhand.inference.settings import InferenceArgs
from evenhand.ingest.values import encode, label_key
from evenhand.measures.registry import MEASURES, PRACTICE, PracticeMeasure, RateMeasure, ScoreMeasure, find
from evenhand.tables.arrays import Pair


@dataclass(frozen=True)
class MetricResult:
    """One number with what is needed to defend it; `float(result)` is the value."""

    id: str
    value: float
    signed: float | None
    ci: Pair | None
    pair: tuple[str, str] | None
    """The two groups compared: group and reference, or, of more than two, the most different ones."""
    passes: bool | None
    undefined: str | None
    gaps: tuple[Gap, ...]
    """Every group against the reference."""
    by_group: Mapping[str, GroupValues] = field(hash=False)
    """Every group by itself: `by_group["f"].n`, and in `by_group["f"].values` what the gap is between."""
    positive: float | None = None
    """What favours the group, and what its reference, of a score-level measure with two groups."""
    negative: float | None = None
    mean: float | None = None
    """The mean over all pairs of more than two groups."""
    p_value: float | None = None
    """How often groups that are alike show such a gap."""

    unjudged: str | None = None
    """Why the value is not held to its tolerance."""

    def __float__(self) -> float:
        return self.value


class MetricOptions(InferenceArgs, ScoreArgs, total=False):
    """What a metric hands to the audit."""

    reference: str | None
    cluster: Any
    missing: str
    weight_kind: str


@dataclass(frozen=True)
class Metric:
    """A measure that takes columns: call it with outcomes, decisions or scores, and groups.

    Parameters
    ----------
    y_true
        Outcomes; may be None for measures that need none.
    y_pred
        Decisions, in the values of `y_true`; or scores, which become decisions at `threshold`. Text, 0 and 1,
        values of `y_true`, and two whole numbers of which one is `favorable` are taken for decisions; a
        `threshold` or `risk` makes them scores. Score-level measures take numbers for scores always.
    sensitive_features
        The group of each person.
    sample_weight
        Weights; whole numbers count people, survey weights need `weight_kind="sampling"`.
    tolerance
        How large the gap may be to pass (of a ratio, how small): a number. What other libraries call the threshold of
        a metric is this; here a `threshold` is that of scores, and refused where there is nothing to decide.
    options
        What `evenhand.audit` takes: `reference`, `cluster`, `missing`, `weight_kind`, and how intervals and
        tests are made.

    With two groups the value is that of the group against the reference; with more, that of the most
    different pair (for a ratio the lower rate over the higher).

    >>> from evenhand.metrics import demographic_parity
    >>> r = demographic_parity(None, [1, 0, 1, 1], sensitive_features=["f", "f", "m", "m"], reference="m")
    >>> float(r), r.signed, r.pair
    (0.5, -0.5, ('f', 'm'))
    >>> {name: (group.n, group.values["selection_rate"].value) for name, group in r.by_group.items()}
    {'f': (2, 0.5), 'm': (2, 1.0)}
    """

    id: str

    @property
    def __name__(self) -> str:
        return self.id

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        favorable: Any = 1,
        risk: bool = False,
        score_range: tuple[float, float] | None = None,
        threshold: float | str | None = None,
        tolerance: float | Mapping[str, float] | None = None,
        **options: Unpack[MetricOptions],
    ) -> MetricResult:
        measure = chosen_measures([self.id])[0]
        if y_true is None and measure.needs_label:
            raise UsageError(f"{self.id} needs outcomes: pass y_true")
        whole = (
            isinstance(measure, ScoreMeasure)
            or (isinstance(measure, PracticeMeasure) and measure.scored)
            or (isinstance(measure, RateMeasure) and measure.levels == "bins")
        )
        if threshold is not None:
            _check_threshold(self.id, threshold, whole, y_pred)
        as_score = whole or threshold is not None or risk or not _are_decisions(y_true, y_pred, favorable)
        stated = tolerance if tolerance is None or isinstance(tolerance, Mapping) else {self.id: tolerance}
        if stated and set(stated) != {self.id}:
            raise UsageError(
                f"the tolerance of {self.id} is a number, or {{'{self.id}': number}}, not {shown(tolerance)}"
            )
        result = audit(
            label=y_true,
            group=sensitive_features,
            weight=sample_weight,
            favorable=favorable,
            risk=risk,
            score_range=score_range if as_score else None,
            threshold=threshold,
            bands="none",  # a number alone cannot say that groups were put together
            measures=[self.id],
            tolerance=stated,
            **{"score" if as_score else "prediction": y_pred},
            **options,
        )
        assert isinstance(result, Audit)  # a favourable value is named
        if len(result.attributes) > 1:
            raise UsageError("a metric compares one attribute: pass one column as sensitive_features, or use audit")
        attribute = result.attributes[0]
        gaps = tuple(g for g in attribute.measures if g.id == self.id)
        largest = next((g for g in attribute.largest if g.id == self.id), None)
        return _result(gaps, largest, by_group(result, gaps[0].measure))


def _result(gaps: Sequence[Gap], largest: LargestGap | None, groups: dict[str, GroupValues]) -> MetricResult:
    first = gaps[0]
    if largest is None:
        # of measures that are not taken over all pairs, the group furthest from the reference
        first = max(gaps, key=_distance)
        pair = (first.group, first.reference)
        sides = (first.positive, first.negative) if isinstance(first, ScoreGap) else (None, None)
        return MetricResult(
            first.id, first.value, first.signed, first.ci, pair, first.passes, first.undefined, tuple(gaps), groups,
            *sides, p_value=first.p_value, unjudged=first.unjudged,
        )  # fmt: skip
    return MetricResult(
        first.id, largest.value, None, largest.ci, largest.pair, largest.passes, largest.undefined, tuple(gaps), groups,
        mean=largest.mean, p_value=None if largest.null is None else largest.null.p_value, unjudged=largest.unjudged,
    )  # fmt: skip


def _distance(gap: Gap) -> float:
    """How far a gap is from parity, farther than all if it has no value."""
    if gap.undefined:
        return np.inf
    return 1 - gap.size if gap.scale == "ratio" else gap.size


def _check_threshold(id_: str, threshold: Any, whole: bool, y_pred: Any) -> None:
    """A threshold makes decisions of scores: refused where there are none to make, since a tolerance may be meant."""
    why = f"{id_} compares scores, whatever the threshold" if whole else None
    if why is None and {label_key(v) for v in _distinct(y_pred)} <= {"0", "1"}:
        why = "y_pred holds only 0 and 1, which are decisions already"
    if why is not None:
        raise UsageError(f"{why}: leave threshold={shown(threshold)} out, or if it is how large the gap may be, say "
                         f"tolerance={shown(threshold)}")  # fmt: skip


def _distinct(column: Any) -> list[Any]:
    """The first values that occur: enough to tell decisions from scores."""
    from evenhand.ingest.engines.dataframes import as_values

    values = as_values(column)[0]
    try:
        present = encode(values if isinstance(values, np.ndarray) else list(values))[1]
    except TypeError as error:
        raise DataError(f"y_true and y_pred must be one-dimensional columns of values ({error})") from error
    return [v for v in present[:10] if label_key(v) is not None]  # three are enough


def _are_decisions(y_true: Any, y_pred: Any, favorable: Any) -> bool:
    """Whether values are decisions rather than scores.

    Text always is. Numbers are if there are at most two of them and they are 0 and 1, or labels that occur,
    or whole numbers of which one is the favourable value.
    """
    values = _distinct(y_pred)
    if any(isinstance(v, str) for v in values):
        return True
    keys = {label_key(v) for v in values}
    if len(keys) > 2:
        return False
    labels = {label_key(v) for v in _distinct(y_true)} if y_true is not None else set()
    whole = all(isinstance(v, int | float | np.number) and float(v).is_integer() for v in values)
    return keys <= {"0", "1"} or keys <= labels or (whole and label_key(favorable) in keys)


def __getattr__(name: str) -> Metric:
    """A measure, or a variant, by its id, such as `metrics.equal_opportunity_uniform_w2`."""
    if find(name) is None:
        raise AttributeError(f"there is no measure {name!r}")
    return Metric(name)


def __dir__() -> list[str]:
    return sorted(["GroupValues", "Metric", "MetricResult", *MEASURES, *PRACTICE])


__all__ = __dir__()
