"""Results of one causal model, and over several: small and frozen, made from figures and their spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.analyses.counterfactual.effects import CHANGED, FIGURES, MEAN, SIZE, Estimate, others_of, p_value
from evenhand.analyses.counterfactual.mechanism_choice import Judged
from evenhand.analyses.counterfactual.sensitivity import Confounding, Point, biases, correlation, tipping, within
from evenhand.analyses.counterfactual.simulation import Outcome, Simulator
from evenhand.analyses.counterfactual.structural_model import StructuralModel
from evenhand.inference.significance import holm
from evenhand.tables.arrays import Floats

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 30
NOTHING = Estimate(0.0, (0.0, 0.0))
ONE_PERSON = "nothing is known beyond one person"


@dataclass(frozen=True)
class Change:
    """What becomes of the scores of a group, had its people been of another; without a group: of everybody."""

    group: str | None
    other: str | None
    people: int
    mean: Estimate
    size: Estimate
    moved: Estimate
    changed: Estimate
    favoured: Estimate
    disfavoured: Estimate
    p_value: float | None
    p_adjusted: float | None
    quantiles: tuple[float, ...]
    histogram: tuple[int, ...]
    undefined: str | None = None
    """Why there is no interval."""


@dataclass(frozen=True)
class Answer:
    """The changes of everybody, and of each group towards each other one."""

    overall: Change
    changes: tuple[Change, ...]
    bins: tuple[float, ...]
    """Edges of the histograms, the same for all."""

    @property
    def largest(self) -> Change:
        return max(self.changes, key=lambda c: c.size.value)


@dataclass(frozen=True)
class Path:
    """The part of a change that takes one path: direct, through one variable, or the rest (they act together)."""

    via: str
    group: str
    other: str
    mean: Estimate
    because: str | None = None
    """Why it is exactly 0."""


class Alternative(NamedTuple):
    """What would be told of a pair, had all mechanisms that were left open this form."""

    form: str
    group: str
    other: str
    mean: float
    size: float


@dataclass(frozen=True)
class WorldAnswer:
    """What holds if this graph is true."""

    name: str
    edges: tuple[tuple[str, str], ...]
    answer: Answer
    paths: tuple[Path, ...]
    confounding: tuple[Confounding, ...]
    mechanisms: tuple[Judged, ...]
    alternatives: tuple[Alternative, ...]
    """What mechanisms of other forms give."""
    assumptions: tuple[str, ...]
    because: str | None
    """Why nothing can change, if so."""
    scores: Floats
    """Axes (other, person, draw)."""

    @property
    def explained(self) -> dict[str, float]:
        """How much of each variable its mechanism explains, in people it was not fitted to."""
        return {m.node: m.explained for m in self.mechanisms}

    @property
    def kinds(self) -> dict[str, str]:
        return {m.node: m.kind for m in self.mechanisms}


@dataclass(frozen=True)
class Range:
    """One figure over several causal models."""

    group: str | None
    other: str | None
    figure: str
    lowest: float
    highest: float
    ci: tuple[float, float] | None
    agree: bool
    """Whether they agree: in the direction, on which side of the tolerance, whether anybody is concerned."""


def answer_of(simulator: Simulator, outcome: Outcome, exact: bool = False) -> Answer:
    """The first scenario: figures with intervals, p-values, and how changes are distributed."""
    own = simulator.own
    change = outcome.scores - simulator.here[:, None]
    other, bins = others_of(own, simulator.groups), _bins(change)
    pairs = [(a, b, simulator.place(a, b), simulator.smaller(a, b)) for a, b in simulator.pairs]
    p_values = [None if exact else _p(outcome, place, least) for _, _, place, least in pairs]
    changes = []
    for (a, b, place, least), p, adjusted in zip(pairs, p_values, _adjust(p_values), strict=True):
        mine = change[(own == a) & (other == b)]
        changes.append(Change(
            simulator.names[a], simulator.names[b], len(mine), **_figures(outcome, place, least, exact),
            p_value=p, p_adjusted=adjusted, **_distribution(mine, bins),
            undefined=ONE_PERSON if least < 2 and outcome.spread.away is not None else None,
        ))  # fmt: skip
    everybody = _figures(outcome, simulator.groups**2, len(own), exact) | _distribution(change, bins)
    overall = Change(None, None, len(own), p_value=None, p_adjusted=None, **everybody)
    return Answer(overall, tuple(changes), tuple(bins.tolist()))


def _figures(outcome: Outcome, place: int, people: int, exact: bool) -> dict[str, Any]:
    if exact:
        return dict.fromkeys(FIGURES, NOTHING)
    return {name: outcome.estimate(i, (0, place), people) for i, name in enumerate(FIGURES)}


def _p(outcome: Outcome, place: int, people: int) -> float | None:
    away = outcome.spread.away
    if away is None or people < 2 or not np.isfinite(away[0, place, MEAN]):
        return None
    value = float(outcome.figures[0, place, MEAN])
    return p_value(value, float(away[0, place, MEAN]), people, outcome.spread.resamples)


def _adjust(p: list[float | None]) -> list[float | None]:
    known = [v for v in p if v is not None]
    adjusted = iter(holm(known)) if known else iter(())
    return [None if v is None else min(next(adjusted), 1.0) for v in p]


def _bins(change: Floats) -> Floats:
    lo, hi = float(change.min()), float(change.max())
    if hi - lo < 1e-9:
        lo, hi = lo - 0.05, hi + 0.05
    return np.linspace(lo, hi, BINS + 1)


def _distribution(change: Floats, bins: Floats) -> dict[str, Any]:
    """Of changes, axes (…, person, draw): draws count as parts of a person."""
    flat = change.ravel()
    counts = np.histogram(flat, bins)[0] / change.shape[-1]
    return {
        "quantiles": tuple(np.quantile(flat, QUANTILES).tolist()),
        "histogram": tuple(round(c) for c in counts.tolist()),
    }


def paths_of(simulator: Simulator, outcome: Outcome, vias: Sequence[tuple[str, int, str | None]]) -> tuple[Path, ...]:
    """`vias` are paths, their scenario, and why they are exactly 0 if so."""
    paths = []
    for a, b in simulator.pairs:
        place, least = simulator.place(a, b), simulator.smaller(a, b)
        for via, scenario, because in vias:
            mean = NOTHING if because is not None else outcome.estimate(MEAN, (scenario, place), least)
            paths.append(Path(via, simulator.names[a], simulator.names[b], mean, because))
    return tuple(paths)


def alternatives_of(simulator: Simulator, outcome: Outcome) -> tuple[Alternative, ...]:
    """Of every pair, by the forms that mechanisms do not have."""
    return tuple(
        Alternative(
            form, simulator.names[a], simulator.names[b], *figures[simulator.place(a, b), [MEAN, SIZE]].tolist()
        )
        for form, figures in sorted(outcome.others.items())
        for a, b in simulator.pairs
    )


def curves_of(
    simulator: Simulator, outcome: Outcome, shares: Sequence[tuple[float, int]], structure: StructuralModel
) -> tuple[Confounding, ...]:
    """`shares` are how much a hidden cause accounts for, and the scenario."""
    curves = []
    far = biases(structure, simulator.own, simulator.groups)
    for a, b in simulator.pairs:
        place, least = simulator.place(a, b), simulator.smaller(a, b)
        points = []
        for share, scenario in shares:
            mean, size, changed = (
                outcome.estimate(f, (scenario, place), least, abs(1 - share)) for f in (MEAN, SIZE, CHANGED)
            )
            strength = None if np.isnan(far[a, b]) else correlation(abs(share) * float(far[a, b]))
            points.append(Point(share, strength, mean, size, changed))
        ends = tipping(points), within(points, simulator.rule.tolerance)
        curves.append(Confounding(simulator.names[a], simulator.names[b], tuple(points), *ends))
    return tuple(curves)


def ranges_of(answers: Sequence[WorldAnswer], tolerance: float) -> tuple[Range, ...]:
    """The lowest and highest of each figure over all causal models; none for one of them."""
    if len(answers) < 2:
        return ()
    rows = [(a.answer.overall, *a.answer.changes) for a in answers]
    sides = {"mean": 0.0, "size": tolerance, "changed": 0.0}
    return tuple(_range(same, figure, least) for same in zip(*rows, strict=True) for figure, least in sides.items())


def _range(changes: Sequence[Change], figure: str, tolerance: float) -> Range:
    estimates: list[Estimate] = [getattr(c, figure) for c in changes]
    values = [e.value for e in estimates]
    known = [e.ci for e in estimates if e.ci is not None]
    ci = (min(lo for lo, _ in known), max(hi for _, hi in known)) if len(known) == len(estimates) else None
    agree = len({_side(e, tolerance) for e in estimates}) == 1
    return Range(changes[0].group, changes[0].other, figure, min(values), max(values), ci, agree)


def _side(e: Estimate, tolerance: float) -> int | None:
    """The side of a tolerance that is shown, 0 if none is."""
    if e.ci is None:
        return None
    return int(e.ci[0] > tolerance) - int(e.ci[1] < tolerance)
