"""Other worlds on trial: scenarios for every person, for the fitted mechanisms and for those of resampled people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evenhand.analyses.counterfactual.effects import Rule, Spread, averaged, others_of, tallied
from evenhand.analyses.counterfactual.model_inputs import Inputs
from evenhand.analyses.counterfactual.scoring import Scorer
from evenhand.analyses.counterfactual.structural_model import Structure, Values
from evenhand.analyses.options import Progress
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
class Bench:
    """All that stays the same while mechanisms are fitted again and again."""

    inputs: Inputs
    scorer: Scorer
    attribute: str
    own: Ints
    """The group of each person."""
    groups: int
    rule: Rule
    here: Floats
    """The score of each person."""
    flips: Floats
    """Their scores with another value of the attribute and all else as it is: axes (other, person)."""
    takes: bool
    """Whether the model takes the attribute as input."""

    def there(
        self, structure: Structure | None, scenarios: Sequence[Scenario], rows: Ints, own: Ints, draws: int,
        rng: np.random.Generator,
    ) -> Floats:  # fmt: skip
        """Scores in other worlds: axes (scenario, other, person, draw); `own` may exchange their groups."""
        shape = len(scenarios), self.groups - 1, len(rows), draws
        found = np.empty(shape)
        found[:] = self.here[rows][:, None]
        computed = []
        for place, scenario in enumerate(scenarios):
            if any(scenario.weights):
                computed.append(place)
            elif scenario.direct and self.takes:
                found[place] = self.flips[:, rows, None]
        if computed and structure is not None:
            found[computed] = self._computed(structure, [scenarios[i] for i in computed], rows, own, draws, rng)
        return found

    def _computed(
        self, structure: Structure, scenarios: list[Scenario], rows: Ints, own: Ints, draws: int,
        rng: np.random.Generator,
    ) -> Floats:  # fmt: skip
        """All scenarios, others, people and draws in one long frame."""
        people = np.repeat(np.arange(len(rows)), draws)
        seen = structure.seen(rows[people], own[people])
        noise = structure.abduct(seen, rng)
        shape = len(scenarios), self.groups - 1, len(people)
        at = np.broadcast_to(np.arange(len(people)), shape).ravel()
        other = np.broadcast_to(others_of(own, self.groups)[:, people], shape).ravel()
        all_seen: Values = {name: values[at] for name, values in seen.items()}
        all_noise = {
            name: (e[0][at], e[1][at]) if isinstance(e, tuple) else e[at] for name, e in noise.items()
        }  # fmt: skip
        weights = {
            name: np.broadcast_to(np.array([s.weights[i] for s in scenarios])[:, None, None], shape).ravel()
            for i, name in enumerate(structure.part.first)
        }
        replaced = structure.act(all_seen, all_noise, other, weights)
        if self.takes:
            direct = np.broadcast_to(np.array([s.direct for s in scenarios])[:, None, None], shape).ravel()
            real = self.own[rows[people]][at]  # what the model sees of a person whose group is only exchanged
            replaced[self.attribute] = np.where(direct, other, real)
        found = self.scores(rows[people][at], replaced)
        return found.reshape(len(scenarios), self.groups - 1, len(rows), draws)

    def scores(self, rows: Ints, replaced: Values) -> Floats:
        """The scores of people with some values replaced, in few long frames."""
        parts = []
        for start in range(0, len(rows), AT_ONCE):
            cut = slice(start, start + AT_ONCE)
            frame = self.inputs.rows(rows[cut], {name: values[cut] for name, values in replaced.items()})
            parts.append(self.scorer(frame, len(rows[cut]), f"people in another world of {self.attribute!r}"))
        return np.concatenate(parts) if parts else np.zeros(0)


class Outcome(NamedTuple):
    """Figures by scenario and pair (the last pair: everybody), and the first scenario person by person."""

    figures: Floats
    people: Floats
    spread: Spread
    scores: Floats
    """Axes (other, person, draw)."""


def with_rest(figures: Floats, parts: Sequence[int]) -> Floats:
    """One scenario more: what the first has beyond the sum of its parts. Only its mean means anything."""
    if not parts:
        return figures
    rest = figures[:1] - figures[list(parts)].sum(0, keepdims=True)
    return np.concatenate([figures, np.round(rest, 12)])  # without what rounding leaves


def draws_for(structure: Structure | None, n: int) -> int:
    """How often noise is drawn for each person: the fewer people, the more often."""
    if structure is None or not structure.random:
        return 1
    return int(np.clip(-(-ENOUGH // n), 1, MOST_DRAWS))


def tried(
    bench: Bench, structure: Structure | None, scenarios: Sequence[Scenario], parts: Sequence[int] = (), *,
    confidence: float, bootstrap: int, rng: np.random.Generator, progress: Progress,
) -> Outcome:  # fmt: skip
    """Every scenario for everybody, and how sure that is; `parts` are scenarios that split the first."""
    n = len(bench.own)
    draws = draws_for(structure, n)
    fitted = None if structure is None else structure.fitted(structure.seen(np.arange(n)))
    sums: Any = 0.0
    scores = []
    step = max(1, AT_ONCE // (len(scenarios) * max(bench.groups - 1, 1) * draws))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        there = bench.there(fitted, scenarios, rows, bench.own[rows], draws, rng)
        more, _ = tallied(there, bench.here[rows], bench.own[rows], bench.groups, bench.rule)
        sums = sums + more
        scores.append(there[0])
    sizes = np.bincount(bench.own, minlength=bench.groups).astype(np.float64)
    people = np.repeat(sizes, bench.groups) * (1 - np.eye(bench.groups).ravel())
    figures = with_rest(averaged(np.asarray(sums), people), parts)
    spread = _spread(bench, fitted, scenarios, parts, figures, draws, confidence, bootstrap, rng, progress)
    return Outcome(figures, np.append(people, n), spread, np.concatenate(scores, axis=1))


def _spread(
    bench: Bench, fitted: Structure | None, scenarios: Sequence[Scenario], parts: Sequence[int], figures: Floats,
    draws: int, confidence: float, bootstrap: int, rng: np.random.Generator, progress: Progress,
) -> Spread:  # fmt: skip
    """Resamples of people, mechanisms fitted anew to each; and, if any are, to people whose attribute is exchanged."""
    if not bootstrap:
        return Spread(None, None, confidence, 0)
    n = len(bench.own)
    size = min(n, MOST_RESAMPLED)
    members = [np.flatnonzero(bench.own == g) for g in range(bench.groups)]
    refits = fitted is not None and bool(fitted.mechanisms) and not fitted.fixed
    squares, counted = np.zeros_like(figures), np.zeros_like(figures)
    floors = []
    for i in range(bootstrap):
        progress(i / bootstrap, "resampling people")
        rows = np.concatenate([rng.choice(m, max(round(len(m) * size / n), 1)) for m in members])
        found = with_rest(_one(bench, fitted, scenarios, rows, bench.own[rows], draws, rng), parts)
        known = np.isfinite(found) & np.isfinite(figures)
        squares += np.where(known, found - figures, 0) ** 2
        counted += known
        if refits:
            rows = rng.permutation(n)[:size]
            own = rng.permutation(bench.own[rows])
            total = Scenario(scenarios[0].weights, direct=False)
            floors.append(_one(bench, fitted, [total], rows, own, draws, rng)[0])
    smaller = np.sqrt(size / n)
    with np.errstate(invalid="ignore", divide="ignore"):
        away = np.sqrt(squares / counted) * smaller
    floor = None
    if floors:
        with np.errstate(invalid="ignore"):
            alone = np.stack(floors) * smaller
        floor = np.nan_to_num(alone).mean(0), np.nan_to_num(np.quantile(alone, 0.95, axis=0, method="weibull"))
    return Spread(away, floor, confidence, bootstrap)


def _one(
    bench: Bench, fitted: Structure | None, scenarios: Sequence[Scenario], rows: Ints, own: Ints, draws: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    again = None if fitted is None else fitted.fitted(fitted.seen(rows, own))
    there = bench.there(again, scenarios, rows, own, draws, rng)
    return averaged(*tallied(there, bench.here[rows], own, bench.groups, bench.rule))
