"""Each group on its own: size and rates, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.audit.largest_gap import smoothed_rates
from evenhand.analyses.options import Options
from evenhand.inference import interval
from evenhand.inference.resample import bootstrap
from evenhand.measures.calibration import errors, observed, range_errors
from evenhand.measures.rates import jaccard, share, trials
from evenhand.measures.registry import RATES
from evenhand.tables.arrays import Floats, Pair
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, or the reason why there is none."""

    value: float
    ci: Pair | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class GroupSummary:
    """One group."""

    name: str
    members: tuple[str, ...]
    """The group's value of each attribute."""
    n: int
    left_out: int
    rates: Mapping[str, Estimate]


def summarise(
    table: Table,
    grouping: Grouping,
    decisions: Counts,
    bins: Counts | None,
    options: Options,
    rng: np.random.Generator,
) -> tuple[GroupSummary, ...]:
    """Every group's size and rates."""
    confidence = options.confidence
    columns = {r: _rate(decisions, r, confidence) for r in RATES if decisions.has_label or not RATES[r].needs_label}
    if decisions.has_label:
        columns["balanced_accuracy"] = _balanced_accuracy(decisions, confidence)
        columns["f1"] = _f1(decisions, confidence)
    if bins is not None:
        columns["ece"], columns["mce"] = _calibration_errors(table, grouping, bins, options, rng)
    sizes, gone = table.sizes(grouping), table.left_out_of(grouping)
    return tuple(
        GroupSummary(
            name=name,
            members=members,
            n=int(n),
            left_out=gone[i],
            rates={r: column[i] for r, column in columns.items()},
        )
        for i, (name, members, n) in enumerate(zip(grouping.groups, grouping.members, sizes, strict=True))
    )


def _rate(decisions: Counts, rate: str, confidence: float) -> list[Estimate]:
    values = share(decisions, rate)
    return _estimates(values, interval.wilson(values, trials(decisions, rate), confidence), RATES[rate].empty)


def _balanced_accuracy(decisions: Counts, confidence: float) -> list[Estimate]:
    tpr, tnr = share(decisions, "tpr"), share(decisions, "tnr")
    a = interval.wilson(tpr, trials(decisions, "tpr"), confidence)
    b = interval.wilson(tnr, trials(decisions, "tnr"), confidence)
    lo, hi = interval.difference(tpr, a, -tnr, (-b[1], -b[0]))  # TPR + TNR
    return _estimates((tpr + tnr) / 2, (lo / 2, hi / 2), "lacks one of the two labels")


def _f1(decisions: Counts, confidence: float) -> list[Estimate]:
    j, n = jaccard(decisions)
    lo, hi = interval.wilson(j, n, confidence)
    return _estimates(
        2 * j / (1 + j), (2 * lo / (1 + lo), 2 * hi / (1 + hi)), "has neither a favourable label nor decision"
    )


def _calibration_errors(
    table: Table, grouping: Grouping, bins: Counts, options: Options, rng: np.random.Generator
) -> tuple[list[Estimate], list[Estimate]]:
    confidence = options.confidence
    if table.score_range != (0.0, 1.0):
        because = "because the score runs from {:g} to {:g} and is no probability".format(*table.score_range)
        nothing = [Estimate(np.nan, undefined=because) for _ in grouping.groups]
        return nothing, nothing
    ece, mce, gap = errors(table, grouping, bins)
    rate, n = observed(bins)
    each = confidence ** (1 / np.maximum((n > 0).sum(0), 1))
    predicted = rate - gap
    together, alone = (
        interval.largest_difference(*((end - predicted).T for end in limits(rate, n, level)))
        for limits, level in ((interval.exact, each), (interval.wilson, confidence))
    )
    each_off, most_off = range_errors(table, grouping, len(rate))
    low, high = np.maximum(together[0] - most_off, 0.0), np.minimum(alone[1] + most_off, 1.0)
    mce_column = _estimates(mce, (low, high), "has no rows")
    if not options.bootstrap:
        return [Estimate(float(v)) for v in ece], mce_column
    # ECE is the L1 norm of (favourable people − sum of scores) per bin, over all people: an interval of a norm.
    population = smoothed_rates("bins", bins)
    mean = np.nan_to_num(predicted)

    def excess(array: Any) -> Any:
        people = array.sum(-1)
        return (array[..., 1] - people * mean) / np.maximum(people.sum(-2, keepdims=True), 1e-300)

    centre = excess(population)
    batches = bootstrap(bins, options.bootstrap, rng, population, options.stratified)
    deviations = np.concatenate([np.abs(excess(batch.array) - centre).sum(-2) for batch in batches])
    ece_column = [
        Estimate(
            float(v),
            interval.widened(interval.norm(float(v), deviations[:, g], confidence, 1.0), each_off[g], 0.0, 1.0),
        )
        for g, v in enumerate(ece)
    ]
    return ece_column, mce_column


def _estimates(values: Floats, bounds: interval.Interval, empty: str) -> list[Estimate]:
    return [
        Estimate(float(v), (float(lo), float(hi)))
        if np.isfinite(v)
        else Estimate(np.nan, undefined=f"because the group {empty}")
        for v, lo, hi in zip(values, *bounds, strict=True)
    ]
