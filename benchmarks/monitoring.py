"""How often does monitoring raise a false alarm, how soon does it find a change, and does it date it right?

    python benchmarks/monitoring.py [SCENARIO …] [--runs N] [--looks N] [--measures all|rates|scores] [--seed N]
    python benchmarks/monitoring.py --dates [SCENARIO …] [--runs N] [--seed N]

Every run draws a baseline and as many periods as there are looks, with two groups, and looks at each of them as
`evenhand.monitor` does. A run of a stable stream with any alarm at all, by any measure at any look, counts as one with
a false alarm. Of a stream with a shift the figures are how many periods it takes, from the first shifted one.

With --dates every run is a whole report (`evenhand.monitor`), after all periods: how many alarms and changes it has,
how many of the true changes have their exact date, or lie in the interval of a date, and how many periods that has.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import evenhand
from evenhand import Table
from evenhand.analyses.monitor.sequential import WINDOWS, Rule, Yardstick, findings
from evenhand.analyses.options import checked
from evenhand.measures.registry import MEASURES, RateMeasure
from evenhand.tables.cells import Attribute
from evenhand.tables.table import Meaning

SCORES = (np.arange(40) + 0.5) / 40
MANY = 10**9
DIFFERENCES = ["demographic_parity", "equal_opportunity", "predictive_equality", "equalized_odds", "accuracy_parity"]
"""What does not change when both groups drift alike; ratios do."""


def beta(a: float, b: float) -> Any:
    p = SCORES ** (a - 1) * (1 - SCORES) ** (b - 1)
    return p / p.sum()


def with_labels(p: Any, rate: Any) -> Any:
    """P(score, label) from P(score) and the favourable rate at each score."""
    return np.stack([p * (1 - rate), p * rate], axis=-1)


def lower(p: Any, cells: int) -> Any:
    """Scores as many cells of 0.025 lower."""
    return np.concatenate([p[: cells + 1].sum(keepdims=True), p[cells + 1 :], np.zeros(cells)])


@dataclass(frozen=True)
class Scenario:
    """Two groups in a period: how many people, what the baseline is, and what happens when."""

    sizes: tuple[int, int]
    baseline: int
    """In periods."""
    before: tuple[Any, Any]
    after: tuple[Any, Any] | None = None
    shift_at: int = MANY
    back_at: int = MANY
    """When all is as it was before."""
    drift: float = 0.0
    """By how much the selection rates of both groups rise with each period."""
    season: int = 0
    """By how many cells of 0.025 the scores of both groups rise and fall within twelve periods."""
    step: int = 0
    """By how many cells they rise for good, at `shift_at`."""
    windows: tuple[int, ...] = field(default=WINDOWS)

    def at(self, period: int) -> tuple[Any, Any]:
        if self.drift:
            risen = self.drift * max(period + 1, 0)
            return decided(0.2 + risen), decided(0.3 + risen)
        if self.season or self.step:
            risen = round(self.season * np.sin(2 * np.pi * period / 12)) + self.step * (period >= self.shift_at)
            a, b = (np.roll(p, risen, axis=0) for p in self.before)
            return a, b
        shifted = self.shift_at <= period < self.back_at
        return self.after if self.after is not None and shifted else self.before


def decided(rate: float) -> Any:
    """A score of 0.1 or 0.9, that says no more than the decision; half of both have the favourable outcome."""
    p = np.zeros(40)
    p[3], p[36] = 1 - rate, rate
    return with_labels(p, 0.5)


def bell(middle: float) -> Any:
    """Scores around a middle, far from both ends; what they say about the label moves along with them."""
    p = np.exp(-((np.arange(40) - middle) ** 2) / (2 * 3.0**2)) * (np.abs(np.arange(40) - middle) < 10)
    return with_labels(p / p.sum(), np.clip(0.5 + 0.05 * (np.arange(40) - 18), 0.02, 0.98))


USUAL = (with_labels(beta(2, 3), SCORES), with_labels(beta(2.4, 3), SCORES))
SCENARIOS = {
    "stable": Scenario((500, 500), 8, USUAL),
    "small baseline": Scenario((60, 90), 1, USUAL),
    "small group": Scenario((40, 960), 4, USUAL),
    "drift alike": Scenario((500, 500), 8, USUAL, drift=0.002),
    "shared season": Scenario((300, 300), 4, (bell(16), bell(20)), season=4),
    "shared step": Scenario((300, 300), 4, (bell(16), bell(20)), step=6, shift_at=4),
    "rate shift": Scenario((500, 500), 8, (decided(0.5), decided(0.5)), (decided(0.4), decided(0.5)), 4),
    "score shift": Scenario((500, 500), 8, USUAL, (with_labels(lower(beta(2, 3), 4), SCORES), USUAL[1]), 4),
    "small score shift": Scenario((500, 500), 8, USUAL, (with_labels(lower(beta(2, 3), 2), SCORES), USUAL[1]), 4),
}


def falling(by: float, **how: int) -> Scenario:
    """The selection rate of one group falls from 0.5."""
    even, lowered = decided(0.5), decided(0.5 - by)
    return Scenario((500, 500), 8, (even, even), (lowered, even), **{"shift_at": 6, **how})


def scored(cells: int) -> Scenario:
    """All scores of one group fall by so many cells of 0.025."""
    return Scenario((500, 500), 8, USUAL, (with_labels(lower(beta(2, 3), cells), SCORES), USUAL[1]), 6)


DATED: dict[str, tuple[Scenario, list[str] | str, int]] = {
    "a rate falls by 0.15": (falling(0.15), ["demographic_parity"], 24),
    "a rate falls by 0.10": (falling(0.10), ["demographic_parity"], 24),
    "a rate falls by 0.07": (falling(0.07), ["demographic_parity"], 40),
    "a rate falls by 0.15 for five periods": (falling(0.15, back_at=11), ["demographic_parity"], 24),
    "a rate falls by 0.15, all of decisions": (falling(0.15), "rates", 24),
    "scores fall by 0.075": (scored(3), ["abcc"], 24),
    "scores fall by 0.10, all": (scored(4), "all", 24),
}
"""What happens, the measures, and how many periods there are, those of the baseline among them."""


def drawn(rng: np.random.Generator, people: tuple[Any, Any], sizes: tuple[int, ...]) -> Table:
    counts = np.stack([rng.multinomial(n, p.ravel()).reshape(p.shape) for n, p in zip(sizes, people, strict=True)], 1)
    level, g, y = np.nonzero(counts)
    return Table.of_cells(
        attributes=(Attribute("g", ("a", "b")),),
        codes=g[None],
        n=counts[level, g, y].astype(np.int64),
        score=SCORES[level],
        label=y.astype(np.bool_),
        meaning=Meaning(score="s", label="y", favorable="1"),
    )


def first_alarms(scenario: Scenario, looks: int, ids: list[str], seed: int) -> dict[str, int]:
    """By measure, the look at which it first raised an alarm."""
    rng = np.random.default_rng(seed)
    parts = [drawn(rng, scenario.at(k), scenario.sizes) for k in range(-scenario.baseline, 0)]
    start = sum(parts[1:], parts[0])
    options = checked(0.5, 0.95, 199, seed, permutations=0)
    measures = [MEASURES[id_] for id_ in ids]
    yardstick = Yardstick(start, start.groupings[0], 1, measures, options, np.random.default_rng([seed, 1]), parts)

    def tables() -> Iterator[Table]:
        for period in range(looks):
            yield drawn(rng, scenario.at(period), scenario.sizes)

    found: dict[str, int] = {}
    rule = Rule(windows=scenario.windows)
    for look, finding in enumerate(findings([yardstick], tables(), rule, np.random.default_rng([seed, 2]))):
        for (_, id_, _), one in finding.items():
            if one.p_adjusted <= rule.false_alarms:
                found.setdefault(id_, look)
    return found


def dated(scenario: Scenario, ids: list[str], periods: int, seed: list[int]) -> tuple[int, list[int], list[range]]:
    """How many alarms a report has, and for each change its most likely date and the periods in its interval."""
    rng = np.random.default_rng(seed)
    first = scenario.baseline
    tables = {str(k): drawn(rng, scenario.at(k - first), scenario.sizes) for k in range(periods)}
    report = evenhand.monitor(tables, baseline=f"0..{first - 1}", reference="b", measures=ids, threshold=0.5, rng=0)
    intervals = [range(int(c.interval[0]), int(c.interval[1]) + 1) for c in report.changes]
    return len(report.alarms), [int(c.since) for c in report.changes], intervals


def report_dates(name: str, runs: int, seed: int) -> None:
    scenario, measures, periods = DATED[name]
    ids = chosen(measures) if isinstance(measures, str) else measures
    truth = [scenario.baseline + at for at in (scenario.shift_at, scenario.back_at) if at < MANY]
    found = [dated(scenario, ids, periods, [seed, run]) for run in range(runs)]
    told = [len(dates) / len(truth) for _, dates, _ in found]
    exact = [at in dates for _, dates, _ in found for at in truth]
    covered = [any(at in one for one in intervals) for _, _, intervals in found for at in truth]
    lengths = [len(one) for _, _, intervals in found for one in intervals]
    alarms = np.mean([n for n, _, _ in found])
    shares = " | ".join(f"{100 * np.mean(share):.0f} %" for share in (exact, covered))
    print(f"| {name} | {runs} | {alarms:.1f} | {np.mean(told):.2f} | {shares} | {np.mean(lengths):.1f} |", flush=True)


def chosen(kind: str) -> list[str]:
    """Some of the measures; score-level ones are the same when the scores of both groups rise alike."""
    rates = [id_ for id_, m in MEASURES.items() if isinstance(m, RateMeasure)]
    return {"all": list(MEASURES), "rates": rates, "scores": [id_ for id_ in MEASURES if id_ not in rates]}[kind]


def report(name: str, scenario: Scenario, runs: int, looks: int, ids: list[str], first: int = 0) -> None:
    found = [first_alarms(scenario, looks, ids, seed) for seed in range(first, first + runs)]
    if scenario.after is None:
        alarmed = sum(bool(f) for f in found)
        by: dict[str, int] = {}
        for f in found:
            for id_ in f:
                by[id_] = by.get(id_, 0) + 1
        print(f"| {name} | {runs} | {alarmed} | {100 * alarmed / runs:.1f} % | {by} |", flush=True)
        return
    delays = [min(f.values()) - scenario.shift_at + 1 if f else np.inf for f in found]
    early = sum(d < 1 for d in delays)
    spread = " | ".join(f"{np.quantile(delays, q, method='higher'):g}" for q in (0.5, 0.9, 1.0))
    print(f"| {name}, windows {scenario.windows} | {runs} | {spread} | {early} too early |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*")
    parser.add_argument("--dates", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--looks", type=int, default=200)
    parser.add_argument("--measures", default="all")
    how = parser.parse_args()
    if how.dates:
        print("| change | runs | alarms | changes told | exact date | interval covers | its periods |")
        for name in how.scenarios or DATED:
            report_dates(name, how.runs, how.seed)
        return
    for name in how.scenarios or SCENARIOS:
        scenario = SCENARIOS[name]
        kind = {"rate shift": "rates", "shared season": "scores", "shared step": "scores"}.get(name, how.measures)
        ids = DIFFERENCES if name == "drift alike" else chosen(kind)
        for windows in dict.fromkeys((WINDOWS, WINDOWS if scenario.after is None else (1,))):
            report(name, replace(scenario, windows=windows), how.runs, how.looks, ids, how.seed)


if __name__ == "__main__":
    main()
