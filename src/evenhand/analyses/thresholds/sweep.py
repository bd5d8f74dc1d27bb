"""Every threshold of a score at once: who is selected, how good the decisions are, how far groups are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError, listed, nearest, shown, values_in
from evenhand.measures.measure import sized
from evenhand.measures.performance import PERFORMANCES
from evenhand.measures.rates import ratio
from evenhand.measures.registry import MEASURES, Measure, RateMeasure, find, of_decisions
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.dense import Counts
from evenhand.tables.groups import Grouping
from evenhand.tables.table import Table

CHUNK = 2_000_000
"""Numbers in the counts of the thresholds that are looked at together."""
MOST = 300_000_000
"""Thresholds × groups beyond which nobody would wait."""
SHOWN_GROUPS = 50
KEPT = 20_000_000
"""Selection rates by group are kept of so many groups, and so many thresholds × groups."""


@dataclass(frozen=True)
class Goal:
    """What makes decisions good: (a·TN + b·TP) / scale, so that groups add up."""

    id: str
    title: str
    weights: tuple[float, float] = (1.0, 1.0)
    """Of people rightly rejected and rightly selected."""
    scale: float = 1.0
    undefined: str | None = None

    def points(self, decisions: NDArray[Any]) -> Floats:
        """What each group adds, from counts (…, decision, group, label), before it is divided by `scale`."""
        if self.undefined:
            return np.full((*decisions.shape[:-3], decisions.shape[-2]), np.nan)
        return np.asarray(
            self.weights[0] * decisions[..., 0, :, 0] + self.weights[1] * decisions[..., 1, :, 1], np.float64
        )


DECIDED = tuple(p.id for p in PERFORMANCES.values() if p.rests_on == "decision")


def checked_goal(performance: Any, cost: Any) -> tuple[str, tuple[float, float] | None]:
    """The performance asked for, and the costs of a false favourable and a false unfavourable decision."""
    if cost is None:
        if isinstance(performance, str) and performance == "cost":
            raise UsageError("performance 'cost' needs the costs of both errors: cost=(1, 5) (--cost 1,5)")
        if not isinstance(performance, str) or performance not in DECIDED:
            known = isinstance(performance, str) and performance in PERFORMANCES
            why = ": it does not depend on a threshold" if known else ""
            raise UsageError(
                f"performance must be one of {listed(DECIDED)}, or say cost=, not {shown(performance)}{why}"
                f"{'' if why else nearest(performance, DECIDED)}"
            )
        return performance, None
    if not isinstance(performance, str) or performance not in ("accuracy", "cost"):
        raise UsageError(f"cost is a performance of its own: leave out cost, or performance={shown(performance)}")
    pair = values_in(cost) or []
    good = [isinstance(c, int | float | np.number) and not isinstance(c, bool) and 0 <= c <= 1e100 for c in pair]
    if len(pair) != 2 or not all(good) or not sum(pair) > 0:
        raise UsageError(
            "cost is two numbers from 0, not both 0: what a false favourable and what a false unfavourable decision "
            f"costs, such as (1, 5), not {shown(cost)}"
        )
    return "cost", (float(pair[0]), float(pair[1]))


def goal_of(table: Table, performance: str, cost: tuple[float, float] | None) -> Goal:
    """What is to be large, for the people of this table."""
    title = "1 − expected cost / worst cost" if cost else PERFORMANCES[performance].title
    if table.label is None:
        return Goal(performance, title, undefined="because there are no labels")
    bad, good = (float(table.mass[table.label == y].sum()) for y in (False, True))
    if cost is not None:
        # shares of the larger, so that tiny and huge costs mean the same
        weights = (cost[0] / max(cost), cost[1] / max(cost))
        scale = weights[0] * bad + weights[1] * good
        why = None if scale > 0 else "because nobody has the label that an error would cost"
        return Goal(performance, title, weights, scale, why)
    if performance == "balanced_accuracy":
        # whole numbers for numbers of people: equal performances are equal to the last digit
        why = None if bad > 0 and good > 0 else "because only one label occurs"
        return Goal(performance, title, (good, bad), 2 * good * bad, why)
    return Goal(performance, title, (1.0, 1.0), bad + good)


def decided_measure(stated: Any, word: str = "fairness") -> RateMeasure:
    """A measure of decisions, by its id or as it is."""
    m = stated if isinstance(stated, Measure) else find(stated) if isinstance(stated, str) else None
    known = [m.id for m in MEASURES.values() if isinstance(m, RateMeasure) and m.levels == "decision"]
    if m is None:
        raise UsageError(
            f"{word} must be a measure of decisions ({listed(known, 40)}), not {shown(stated)}{nearest(stated, known)}"
        )
    if not isinstance(m, RateMeasure) or m.levels != "decision":
        why = "is not what thresholds are chosen by" if of_decisions(m) else "does not depend on a threshold"
        raise UsageError(f"{m.id} {why}: take a measure of decisions ({listed(known, 40)})")
    return m


@dataclass(frozen=True)
class Swept:
    """One measure at every threshold: the group furthest from parity with the reference."""

    measure: RateMeasure
    size: Floats
    """As `sized`; NaN if any group cannot be compared."""
    group: Ints
    """Which group that is, −1 where there is none."""

    @property
    def fairness(self) -> Floats:
        """1 at parity."""
        return self.size if self.measure.scale == "ratio" else 1 - self.size


@dataclass(frozen=True)
class Sweep:
    """All thresholds, increasing; the last is above every score."""

    thresholds: Floats
    selection_rate: Floats
    trivial: Bools
    """Everybody or nobody is selected."""
    performance: Floats
    measures: Mapping[str, Swept]
    selection_rates: Floats | None = None
    """By group, axes (threshold, group); None if there are too many."""

    def index(self, threshold: float) -> int:
        """The place of the listed threshold that decides like this one."""
        return min(int(np.searchsorted(self.thresholds, threshold, side="left")), len(self.thresholds) - 1)


def sweep(table: Table, grouping: Grouping, reference: int, goal: Goal, measures: Sequence[RateMeasure]) -> Sweep:
    """Look at every threshold that makes a difference."""
    count, groups = len(table.cutoffs) + 1, len(grouping.groups)
    if count * groups > MOST:
        raise UsageError(
            f"{count:,} thresholds × {groups:,} groups are too many: round the scores, or name fewer group columns"
        )
    kept = groups <= SHOWN_GROUPS and count * groups <= KEPT
    pieces = [_looked(counts, reference, goal, measures, kept) for counts in counted(table, grouping)]
    whole = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    return Sweep(
        listed_thresholds(table),
        whole["selection_rate"],
        whole["trivial"],
        whole["performance"],
        {m.id: Swept(m, whole["size", m.id], whole["group", m.id]) for m in measures},
        whole.get("selection_rates"),
    )


def listed_thresholds(table: Table) -> Floats:
    """Every threshold that makes a difference: each score, and the next number above all of them."""
    highest = float(table.scores[-1] if table.spans is None else table.spans.ends(table.scores[-1:])[1][0])
    if highest == np.finfo(np.float64).max:
        raise UsageError(f"a threshold above every score is needed, but no number is above {highest:g}: rescale them")
    return np.append(table.cutoffs, table.above(highest))


def counted(table: Table, grouping: Grouping) -> Iterator[Counts]:
    """Counts at every threshold, axes (threshold, decision, group, label), so many thresholds at a time.

    Those below and those above are added up from their own ends: a difference of sums would leave crumbs of
    people where there are none.
    """
    assert table.score is not None
    scores, labels = table.cutoffs, 1 if table.label is None else 2
    kinds = len(grouping.groups) * labels
    inside = grouping.inside
    kind = (grouping.codes * labels + (0 if table.label is None else table.label))[inside]
    place = np.searchsorted(scores, table.cutoff_of_cells)[inside]
    mass = np.asarray(table.mass, np.float64)[inside]
    size = max(1, CHUNK // (2 * kinds))
    count = -(-(len(scores) + 1) // size)
    totals = np.bincount(place // size * kinds + kind, weights=mass, minlength=count * kinds).reshape(count, kinds)
    none = np.zeros((1, kinds))
    before = np.concatenate([none, np.cumsum(totals, axis=0)])
    after = np.concatenate([np.cumsum(totals[::-1], axis=0)[::-1], none])
    for i in range(count):
        start, end = i * size, min((i + 1) * size, len(scores) + 1)
        cells = slice(*np.searchsorted(place, [start, end]))  # cells are sorted by score
        key = (place[cells] - start) * kinds + kind[cells]
        own = np.bincount(key, weights=mass[cells], minlength=(end - start) * kinds).reshape(end - start, kinds)
        below = before[i] + np.concatenate([none, np.cumsum(own[:-1], axis=0)])
        above = after[i + 1] + np.cumsum(own[::-1], axis=0)[::-1]
        both = (above, below) if table.meaning.risk else (below, above)
        array = np.stack(both, axis=1).reshape(end - start, 2, len(grouping.groups), labels)
        yield Counts(array, grouping.groups)


def _looked(
    counts: Counts, reference: int, goal: Goal, measures: Sequence[RateMeasure], kept: bool
) -> dict[Any, NDArray[Any]]:
    by_group = counts.array.sum(-1)
    rejected, selected = np.moveaxis(by_group.sum(-1), -1, 0)
    found: dict[Any, NDArray[Any]] = {
        "selection_rate": ratio(selected, selected + rejected),
        "trivial": (selected == 0) | (rejected == 0),
        "performance": goal.points(counts.array).sum(-1) / goal.scale,
    }
    if kept:
        found["selection_rates"] = ratio(by_group[:, 1], by_group.sum(1))
    for m in measures:
        found["size", m.id], found["group", m.id] = worst(m, counts, reference)
    return found


def worst(m: RateMeasure, counts: Counts, reference: int) -> tuple[Floats, Ints]:
    """The size of the gap furthest from parity and whose it is, at each threshold; NaN and −1 if one is undefined."""
    values = m.profile(counts).values
    others = [g for g in range(len(counts.groups)) if g != reference]
    base = values[..., [reference]]
    if m.scale == "ratio":
        sizes = sized(m, ratio(values, base))[..., 0, :]
        away = -sizes[..., others]
    else:
        sizes = np.abs(values - base).max(-2)
        away = sizes[..., others]
    known = ~np.isnan(away).any(-1)
    at = np.where(known, np.array(others)[np.argmax(np.where(np.isnan(away), -np.inf, away), -1)], -1)
    size = np.take_along_axis(sizes, np.maximum(at, 0)[:, None], -1)[:, 0]
    return np.where(known, size, np.nan), at
