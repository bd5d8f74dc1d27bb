"""Counterfactual scores of every person, in several scenarios, and how sure they are by resamples of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from evenhand.analyses.counterfactual.effects import Estimate, Rule, Spread, average, others_of, tally
from evenhand.analyses.counterfactual.structural_model import StructuralModel, Values
from evenhand.analyses.options import Progress
from evenhand.ingest.model_inputs import Inputs
from evenhand.ingest.model_scores import Scorer
from evenhand.tables.arrays import Floats, Ints

MOST_RESAMPLED = 5_000
"""People of a resample: of more, m-out-of-n resamples tell the same at a bounded cost."""
AT_ONCE = 200_000
"""Rows that a model gets at a time."""
MOST_DRAWS, ENOUGH = 10, 10_000
"""Where noise is drawn, so many times for each person at most, and rows that need no second draw."""


class Scenario(NamedTuple):
    """How far the other value of the attribute reaches: to each variable it acts on, and to the model's own input."""

    weights: tuple[float, ...]
    direct: bool


@dataclass(frozen=True)
class Simulator:
    """The model, the people and their factual scores: all that stays while mechanisms are fitted again and again."""

    inputs: Inputs
    scorer: Scorer
    attribute: str
    names: tuple[str, ...]
    """Of the groups."""
    own: Ints
    """The group of each person."""
    rule: Rule
    here: Floats
    """The score of each person."""
    flips: Floats
    """Their scores with another value of the attribute and all else as it is: axes (other, person)."""

    @property
    def groups(self) -> int:
        return len(self.names)

    @property
    def takes(self) -> bool:
        """Whether the model takes the attribute as input."""
        return self.attribute in self.inputs.features

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(a, b) for a in range(self.groups) for b in range(self.groups) if a != b]

    def place(self, a: int, b: int) -> int:
        """Of a pair among the figures."""
        return a * self.groups + b

    def smaller(self, a: int, b: int) -> int:
        """The size of the smaller group of a pair."""
        return int(np.bincount(self.own, minlength=self.groups)[[a, b]].min())

    def scores_there(
        self, structure: StructuralModel | None, scenarios: Sequence[Scenario], rows: Ints, own: Ints, draws: int,
        rng: np.random.Generator,
    ) -> Floats:  # fmt: skip
        """Counterfactual scores: axes (scenario, other, person, draw); `own` may be permuted group labels."""
        scores = np.empty((len(scenarios), self.groups - 1, len(rows), draws))
        scores[:] = self.here[rows][:, None]
        computed = []
        for place, scenario in enumerate(scenarios):
            if any(scenario.weights):
                computed.append(place)
            elif scenario.direct and self.takes:
                scores[place] = self.flips[:, rows, None]
        if computed and structure is not None:
            scores[computed] = self._computed(structure, [scenarios[i] for i in computed], rows, own, draws, rng)
        return scores

    def _computed(
        self, structure: StructuralModel, scenarios: list[Scenario], rows: Ints, own: Ints, draws: int,
        rng: np.random.Generator,
    ) -> Floats:  # fmt: skip
        """All scenarios, others, people and draws in one long frame."""
        people = np.repeat(np.arange(len(rows)), draws)
        seen = structure.seen(rows[people], own[people])
        noise = structure.abduct(seen, rng)
        shape = len(scenarios), self.groups - 1, len(people)

        def long(values: Any) -> Any:
            return np.broadcast_to(values, shape).ravel()

        def by_scenario(values: list[Any]) -> Any:
            return long(np.array(values)[:, None, None])

        at, other = long(np.arange(len(people))), long(others_of(own, self.groups)[:, people])
        all_seen: Values = {name: values[at] for name, values in seen.items()}
        all_noise = {
            name: (e[0][at], e[1][at]) if isinstance(e, tuple) else e[at] for name, e in noise.items()
        }  # fmt: skip
        weights = {name: by_scenario([s.weights[i] for s in scenarios]) for i, name in enumerate(structure.part.first)}
        replaced = structure.act(all_seen, all_noise, other, weights)
        if self.takes:
            real = self.own[rows[people]][at]  # what the model sees of a person whose group label is permuted
            replaced[self.attribute] = np.where(by_scenario([s.direct for s in scenarios]), other, real)
        return self.scores(rows[people][at], replaced).reshape(*shape[:2], len(rows), draws)

    def scores(self, rows: Ints, replaced: Values) -> Floats:
        """The scores of people with some values replaced, in few long frames."""
        parts = []
        for start in range(0, len(rows), AT_ONCE):
            cut = slice(start, start + AT_ONCE)
            frame = self.inputs.rows(rows[cut], {name: values[cut] for name, values in replaced.items()})
            parts.append(self.scorer(frame, len(rows[cut]), f"people with another {self.attribute!r}"))
        return np.concatenate(parts) if parts else np.zeros(0)


class Outcome(NamedTuple):
    """Figures by scenario and pair (the last pair: everybody), and the first scenario person by person."""

    figures: Floats
    spread: Spread
    scores: Floats
    """Axes (other, person, draw)."""
    others: Mapping[str, Floats] = MappingProxyType({})
    """Figures of the first scenario by mechanisms of other forms."""

    def estimate(self, figure: int, place: tuple[int, int], people: float, share: float = 1.0) -> Estimate:
        """A figure at a place (scenario, pair), with its interval."""
        return self.spread.estimate(float(self.figures[(*place, figure)]), figure, place, people, share)


def with_rest(figures: Floats, parts: Sequence[int]) -> Floats:
    """One scenario more: what the first has beyond the sum of its parts. Only its mean means anything."""
    if not parts:
        return figures
    rest = figures[:1] - figures[list(parts)].sum(0, keepdims=True)
    return np.concatenate([figures, np.round(rest, 12)])  # without what rounding leaves


def draws_for(structure: StructuralModel | None, n: int) -> int:
    """How often noise is drawn for each person: the fewer people, the more often."""
    if structure is None or not structure.random:
        return 1
    return int(np.clip(-(-ENOUGH // n), 1, MOST_DRAWS))


def simulate(
    simulator: Simulator, structure: StructuralModel | None, scenarios: Sequence[Scenario], parts: Sequence[int] = (),
    others: Mapping[str, StructuralModel] = MappingProxyType({}), *, confidence: float, bootstrap: int,
    rng: np.random.Generator, progress: Progress,
) -> Outcome:  # fmt: skip
    """Every scenario for everybody, and how sure that is; `parts` are scenarios that split the first.

    `others` have mechanisms of other forms. Resamples are made with the flexible one if there is: which form is true is
    not known for sure either, and the flexible one holds whether it is or not.
    """
    draws = draws_for(structure, len(simulator.own))
    fitted = _fitted(structure)
    figures, scores = _everybody(simulator, fitted, scenarios, parts, draws, rng)
    flexible = _fitted(others.get("flexible"))
    beside = figures
    by_form: dict[str, Floats] = {}
    if flexible is not None:
        beside, _ = _everybody(simulator, flexible, scenarios, parts, draws, rng)
        by_form["flexible"] = beside[0]
    if "linear" in others:
        by_form["linear"] = _everybody(simulator, _fitted(others["linear"]), scenarios[:1], (), draws, rng)[0][0]
    spread = _spread(
        simulator, fitted, flexible or fitted, scenarios, parts, figures, beside, draws, confidence, bootstrap, rng,
        progress,
    )  # fmt: skip
    return Outcome(figures, spread, scores, by_form)


def _fitted(structure: StructuralModel | None) -> StructuralModel | None:
    return None if structure is None else structure.fit(structure.seen(np.arange(structure.people.n)))


def _everybody(
    simulator: Simulator, fitted: StructuralModel | None, scenarios: Sequence[Scenario], parts: Sequence[int],
    draws: int, rng: np.random.Generator,
) -> tuple[Floats, Floats]:  # fmt: skip
    """The figures of everybody, and the scores of the first scenario."""
    own, groups = simulator.own, simulator.groups
    n = len(own)
    sums: Any = 0.0
    people: Any = 0.0
    scores = []
    step = max(1, AT_ONCE // (len(scenarios) * max(groups - 1, 1) * draws))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        there = simulator.scores_there(fitted, scenarios, rows, own[rows], draws, rng)
        more, counted = tally(there, simulator.here[rows], own[rows], groups, simulator.rule)
        sums, people = sums + more, people + counted
        scores.append(there[0])
    return with_rest(average(sums, people), parts), np.concatenate(scores, axis=1)


def _spread(
    simulator: Simulator, fitted: StructuralModel | None, resampled: StructuralModel | None,
    scenarios: Sequence[Scenario], parts: Sequence[int], figures: Floats, beside: Floats, draws: int,
    confidence: float, bootstrap: int, rng: np.random.Generator, progress: Progress,
) -> Spread:  # fmt: skip
    """Resamples of people, mechanisms fitted to each; and, if any are, to people with permuted group labels.

    `beside` are the figures by the mechanisms that are `resampled`: how far they are from the others counts too.
    """
    if not bootstrap:
        return Spread(None, None, confidence, 0)
    n = len(simulator.own)
    size = min(n, MOST_RESAMPLED)
    members = [np.flatnonzero(simulator.own == g) for g in range(simulator.groups)]
    refits = fitted is not None and bool(fitted.mechanisms) and not fitted.fixed
    squares, counted = np.zeros_like(figures), np.zeros_like(figures)
    floors = []
    for i in range(bootstrap):
        progress(i / bootstrap, "resampling people")
        rows = np.concatenate([rng.choice(m, max(round(len(m) * size / n), 1)) for m in members])
        again = with_rest(_refit(simulator, resampled, scenarios, rows, simulator.own[rows], draws, rng), parts)
        known = np.isfinite(again) & np.isfinite(beside)
        squares += np.where(known, again - beside, 0) ** 2
        counted += known
        if refits:
            rows = rng.permutation(n)[:size]
            permuted = rng.permutation(simulator.own[rows])
            total = Scenario(scenarios[0].weights, direct=False)
            floors.append(_refit(simulator, fitted, [total], rows, permuted, draws, rng)[0])
    smaller = np.sqrt(size / n)
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.hypot(np.sqrt(squares / counted) * smaller, beside - figures)
    floor = None
    if floors:
        with np.errstate(invalid="ignore"):
            alone = np.stack(floors) * smaller
        floor = np.nan_to_num(alone).mean(0), np.nan_to_num(np.quantile(alone, 0.95, axis=0, method="weibull"))
    return Spread(away, floor, confidence, bootstrap)


def _refit(
    simulator: Simulator, fitted: StructuralModel | None, scenarios: Sequence[Scenario], rows: Ints, own: Ints,
    draws: int, rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """The figures of some people, by mechanisms fitted to them."""
    again = None if fitted is None else fitted.fit(fitted.seen(rows, own))
    there = simulator.scores_there(again, scenarios, rows, own, draws, rng)
    return average(*tally(there, simulator.here[rows], own, simulator.groups, simulator.rule))
