"""Ordinary bootstrap intervals, for those who ask for them: percentile, basic, BCa.

Near parity they fail for distances (measured in docs/reference/uncertainty.md), so they are never the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.inference import interval
from evenhand.inference.resample import CELLS_AT_ONCE, bootstrap
from evenhand.measures.registry import RateMeasure, ScoreMeasure, ScoreOptions
from evenhand.tables.arrays import Floats
from evenhand.tables.dense import Counts, Units

Statistic = Callable[[Any], Floats]
"""From counts of a group and its reference, with leading axes for resamples, to a number each."""


@dataclass(frozen=True)
class Ordinary:
    """An interval, and in how many resamples there was no value."""

    ci: tuple[float, float] | None
    undefined: int
    method: str
    hull: bool = False
    """Whether it only widens the interval there is."""


def ordinary_intervals(
    kind: str,
    statistics: Mapping[str, Statistic],
    counts: Counts,
    confidence: float,
    draws: int,
    rng: np.random.Generator,
    stratified: bool = False,
) -> dict[str, Ordinary]:
    """An interval for each statistic of a pair of groups.

    Resamples without a value (a group lost its people) stand aside and are counted. When there are so many of them
    that they could move a bound out of the others, or too few resamples to know one, there is no interval.
    """
    pieces: dict[str, list[Floats]] = {id_: [] for id_ in statistics}
    for batch in bootstrap(counts, draws, rng, stratified=stratified):
        for id_, statistic in statistics.items():
            pieces[id_].append(statistic(batch))
    found = {}
    for id_, statistic in statistics.items():
        values = np.concatenate(pieces[id_])
        lost = int(np.isnan(values).sum())
        ci = None
        if interval.enough(values, confidence):
            ci = _bounds(kind, float(statistic(counts)), values[~np.isnan(values)], confidence, statistic, counts)
        found[id_] = Ordinary(ci, lost, f"{'BCa' if kind == 'bca' else kind} bootstrap")
    return found


def _bounds(
    kind: str, observed: float, values: Floats, confidence: float, statistic: Statistic, counts: Counts
) -> tuple[float, float] | None:
    if kind == "bca":
        left_out, people = _left_one_out(statistic, counts)
        return interval.bca(observed, values, left_out, people, confidence) if np.isfinite(left_out).any() else None
    low, high = (float(bound) for bound in interval.percentile(values, confidence))
    return (low, high) if kind == "percentile" else (2 * observed - high, 2 * observed - low)


def _left_one_out(statistic: Statistic, counts: Counts) -> tuple[Floats, Floats]:
    """The statistic without one person of each cell, and how many people each cell holds."""
    array = np.asarray(counts.array, np.float64)
    if counts.units is not None:
        return _left_clusters_out(statistic, counts, counts.units)
    place = np.flatnonzero(array)
    person = (
        np.ones(array.size) if counts.squares is None else counts.squares.ravel() / np.maximum(array.ravel(), 1e-300)
    )
    at_once = max(1, CELLS_AT_ONCE // array.size)

    def batches() -> Iterator[Floats]:
        for start in range(0, len(place), at_once):
            cells = place[start : start + at_once]
            without = np.repeat(array.reshape(1, -1), len(cells), axis=0)
            rows = np.arange(len(cells))
            without[rows, cells] = np.maximum(without[rows, cells] - person[cells], 0.0)
            yield statistic(replace(counts, array=without.reshape(-1, *array.shape), squares=None, units=None))

    return np.concatenate([*batches()]), array.ravel()[place] / person[place]


def _left_clusters_out(statistic: Statistic, counts: Counts, units: Units) -> tuple[Floats, Floats]:
    """The same without one of some hundred sets of clusters."""
    sets = min(units.count, 500)
    values = []
    for k in range(sets):
        gone = units.cluster % sets == k
        mass = np.bincount(units.place[gone], weights=units.mass[gone], minlength=counts.array.size)
        left = np.maximum(counts.array - mass.reshape(counts.array.shape), 0.0)
        values.append(statistic(replace(counts, array=left[None], squares=None, units=None))[0])
    return np.array(values), np.ones(sets)


def rate_statistic(m: RateMeasure) -> Statistic:
    """The signed difference, the ratio or the largest difference of rates."""

    def statistic(counts: Counts) -> Floats:
        values = m.profile(counts).values
        a, b = values[..., 0], values[..., 1]
        if m.scale == "ratio":
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(b > 0, a / b, np.nan)[..., 0]
        if m.signed:
            return np.asarray((a - b)[..., 0])
        apart = np.abs(a - b)
        known = ~np.isnan(apart)
        return np.where(known.any(-1), np.where(known, apart, 0.0).max(-1), np.nan)

    return statistic


def score_statistic(m: ScoreMeasure, counts: Any, options: ScoreOptions) -> Statistic:
    """The number of a score-level measure; its sign where it has one. Densities keep their bandwidths."""
    grid = m.grid(counts, options) if m.smooth and m.grid else None

    def statistic(resampled: Any) -> Floats:
        curve = m.curve(resampled, options, grid)
        return curve.signed if m.single else m.value(curve)

    return statistic
