"""What was found in one world, and over several: small frozen results, made from figures and their spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.counterfactual.effects import CHANGED, FIGURES, MEAN, SIZE, Estimate, others_of, p_value
from evenhand.analyses.counterfactual.sensitivity import Confounding, Point, biases, correlation, tipping, within
from evenhand.analyses.counterfactual.simulation import Outcome
from evenhand.analyses.counterfactual.structural_model import Structure
from evenhand.inference.significance import holm
from evenhand.tables.arrays import Floats, Ints

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 30
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
    """The part of a change that takes one way: direct, through one variable, or the rest (they act together)."""

    via: str
    group: str
    other: str
    mean: Estimate
    because: str | None = None
    """Why it is exactly 0."""


@dataclass(frozen=True)
class WorldAnswer:
    """What holds if this graph is true."""

    name: str
    edges: tuple[tuple[str, str], ...]
    answer: Answer
    paths: tuple[Path, ...]
    confounding: tuple[Confounding, ...]
    explained: dict[str, float]
    """How much of each variable its mechanism explains, in people it was not fitted to."""
    kinds: dict[str, str]
    assumptions: tuple[str, ...]
    because: str | None
    """Why nothing can change, if so."""
    scores: Floats
    """Axes (other, person, draw)."""


@dataclass(frozen=True)
class Range:
    """One figure over several worlds."""

    group: str | None
    other: str | None
    figure: str
    lowest: float
    highest: float
    ci: tuple[float, float] | None
    agree: bool
    """Whether the worlds agree: in the direction, on which side of the tolerance, whether anybody is concerned."""


@dataclass(frozen=True)
class Setting:
    """Who is compared, in figures: names of groups, their sizes, everybody's group and score."""

    names: tuple[str, ...]
    own: Ints
    here: Floats

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(a, b) for a in range(len(self.names)) for b in range(len(self.names)) if a != b]

    def place(self, a: int, b: int) -> int:
        return a * len(self.names) + b

    def smaller(self, a: int, b: int) -> int:
        sizes = np.bincount(self.own, minlength=len(self.names))
        return int(min(sizes[a], sizes[b]))


def answer_of(setting: Setting, outcome: Outcome, exact: bool = False) -> Answer:
    """The first scenario: figures with intervals, p-values, and how changes are distributed."""
    groups = len(setting.names)
    change = outcome.scores - setting.here[:, None]
    other = others_of(setting.own, groups)
    bins = _bins(change)
    made: list[dict[str, Any]] = []
    everybody: dict[str, Any] = {
        "group": None,
        "other": None,
        "people": len(setting.own),
        "p_value": None,
        "p_adjusted": None,
    }
    for a, b in setting.pairs:
        mine = change[(setting.own == a) & (other == b)]
        least = setting.smaller(a, b)
        made.append({
            "group": setting.names[a], "other": setting.names[b], "people": len(mine),
            **_figures(outcome, setting.place(a, b), least, exact), **_distribution(mine, bins),
            "undefined": ONE_PERSON if least < 2 and outcome.spread.away is not None else None,
        })  # fmt: skip
        made[-1]["p_value"] = None if exact else _p(outcome, setting.place(a, b), least)
    for one, adjusted in zip(made, _adjusted([one["p_value"] for one in made]), strict=True):
        one["p_adjusted"] = adjusted
    everybody |= {**_figures(outcome, groups * groups, len(setting.own), exact), **_distribution(change, bins)}
    return Answer(Change(**everybody), tuple(Change(**one) for one in made), tuple(bins.tolist()))


def _figures(outcome: Outcome, place: int, people: int, exact: bool) -> dict[str, Any]:
    if exact:
        return {name: Estimate(0.0, (0.0, 0.0)) for name in FIGURES}
    values = outcome.figures[0, place]
    return {
        name: outcome.spread.estimate(float(values[i]), i, (0, place), people) for i, name in enumerate(FIGURES)
    }  # fmt: skip


def _p(outcome: Outcome, place: int, people: int) -> float | None:
    away = outcome.spread.away
    if away is None or people < 2 or not np.isfinite(away[0, place, MEAN]):
        return None
    value = float(outcome.figures[0, place, MEAN])
    return p_value(value, float(away[0, place, MEAN]), people, outcome.spread.resamples)


def _adjusted(p: list[float | None]) -> list[float | None]:
    known = [v for v in p if v is not None]
    adjusted = iter(holm(known)) if known else iter(())
    return [None if v is None else min(next(adjusted), 1.0) for v in p]


def _bins(change: Floats) -> Floats:
    lo, hi = float(change.min()), float(change.max())
    if hi - lo < 1e-9:
        lo, hi = lo - 0.05, hi + 0.05
    return np.linspace(lo, hi, BINS + 1)


def _distribution(change: Floats, bins: Floats) -> dict[str, Any]:
    draws = change.shape[-1] if change.ndim > 1 else 1
    flat = change.ravel()
    counts = np.histogram(flat, bins)[0] / draws
    return {
        "quantiles": tuple(np.quantile(flat, QUANTILES).tolist()),
        "histogram": tuple(round(c) for c in counts.tolist()),
    }


def paths_of(setting: Setting, outcome: Outcome, vias: Sequence[tuple[str, int, str | None]]) -> tuple[Path, ...]:
    """`vias` are ways, their scenario, and why they are exactly 0 if so."""
    found = []
    for a, b in setting.pairs:
        place, least = setting.place(a, b), setting.smaller(a, b)
        for via, scenario, because in vias:
            mean = Estimate(0.0, (0.0, 0.0))
            if because is None:
                value = float(outcome.figures[scenario, place, MEAN])
                mean = outcome.spread.estimate(value, MEAN, (scenario, place), least)
            found.append(Path(via, setting.names[a], setting.names[b], mean, because))
    return tuple(found)


def curves_of(
    setting: Setting, outcome: Outcome, shares: Sequence[tuple[float, int]], structure: Structure, tolerance: float
) -> tuple[Confounding, ...]:
    """`shares` are how much a hidden cause accounts for, and the scenario."""
    found = []
    far = biases(structure, setting.own, len(setting.names))
    for a, b in setting.pairs:
        place, least = setting.place(a, b), setting.smaller(a, b)
        points = []
        for share, scenario in shares:
            mean, size, changed = (
                outcome.spread.estimate(
                    float(outcome.figures[scenario, place, f]), f, (scenario, place), least, abs(1 - share)
                )
                for f in (MEAN, SIZE, CHANGED)
            )
            strength = None if np.isnan(far[a, b]) else correlation(abs(share) * float(far[a, b]))
            points.append(Point(share, strength, mean, size, changed))
        names = setting.names[a], setting.names[b]
        found.append(Confounding(*names, tuple(points), tipping(points), within(points, tolerance)))
    return tuple(found)


def ranges_of(worlds: Sequence[WorldAnswer], tolerance: float) -> tuple[Range, ...]:
    """The lowest and highest of each figure over all worlds; none for one world."""
    if len(worlds) < 2:
        return ()
    rows = [(w.answer.overall, *w.answer.changes) for w in worlds]
    limits = {"mean": 0.0, "size": tolerance, "changed": 0.0}
    return tuple(_range(same, figure, limit) for same in zip(*rows, strict=True) for figure, limit in limits.items())


def _range(changes: Sequence[Change], figure: str, limit: float) -> Range:
    found: list[Estimate] = [getattr(c, figure) for c in changes]
    values = [e.value for e in found]
    known = [e.ci for e in found if e.ci is not None]
    ci = (min(lo for lo, _ in known), max(hi for _, hi in known)) if len(known) == len(found) else None
    agree = len({_side(e, limit) for e in found}) == 1
    return Range(changes[0].group, changes[0].other, figure, min(values), max(values), ci, agree)


def _side(e: Estimate, limit: float) -> int | None:
    """The side of a limit that is shown, 0 if none is."""
    if e.ci is None:
        return None
    return int(e.ci[0] > limit) - int(e.ci[1] < limit)
