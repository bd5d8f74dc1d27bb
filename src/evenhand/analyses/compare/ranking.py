"""Means over seeds → where each method stands: its front, what is selected from it, its area, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from evenhand.analyses.compare.runs import Runs
from evenhand.inference.seed_resample import Resampled, could_matter, extremes, freedom, interval, resampled_means
from evenhand.measures.pareto import (
    PLAIN,
    SLACK,
    UTOPIA,
    By,
    Curve,
    Point,
    area,
    curve,
    dto,
    pareto,
    partial_area,
    polar_area,
    select,
    slopes,
)
from evenhand.tables.arrays import Bools, Floats, Ints

AT_ONCE = 500_000
"""Settings × resamples in memory at a time."""
MOST, LEAST, WORK = 1000, 100, 12_000_000
"""Resamples by default, at least, and runs that are drawn for them before they become fewer than the former."""
FEWEST = 2
"""Degrees of freedom of the distance of one model, at least."""


@dataclass(frozen=True)
class Criterion:
    """How one model is selected from a front."""

    id: str
    by: By | Literal["loss"]
    floor: float | None = None
    """What the other coordinate must reach."""

    @property
    def fairness_floor(self) -> float:
        return self.floor if self.floor is not None and self.by == "performance" else -np.inf

    @property
    def performance_floor(self) -> float:
        return self.floor if self.floor is not None and self.by == "fairness" else -np.inf


LEAST_LOSS = Criterion("loss", "loss")
PLAIN_CRITERIA = (Criterion("dto", "dto"), Criterion("performance", "performance"), Criterion("fairness", "fairness"))


@dataclass(frozen=True)
class Terms:
    """What methods are compared by."""

    criteria: tuple[Criterion, ...] = PLAIN_CRITERIA
    front: Literal["dev", "published"] = "dev"
    random_performance: float | None = None
    utopia: Point = UTOPIA
    scale: Point = PLAIN
    performance_from: float | None = None
    """With the next two, the conditions of the partial area."""
    fairness_from: float | None = None
    dto_to: float | None = None
    confidence: float = 0.95

    @property
    def start(self) -> Point | None:
        return None if self.random_performance is None else (self.random_performance, 1.0)

    @property
    def region(self) -> dict[str, float]:
        """The conditions of the partial area that were set."""
        named = {w: getattr(self, w) for w in ("performance_from", "fairness_from", "dto_to")}
        return {word: value for word, value in named.items() if value is not None}

    @property
    def furthest(self) -> float:
        """The most that a distance can be: that of a corner of the unit square."""
        return math.hypot(*(max(u, 1 - u) / scale for u, scale in zip(self.utopia, self.scale, strict=True)))

    def distance(self, performance: Floats, fairness: Floats) -> Floats:
        return dto(performance, fairness, self.utopia, self.scale)


class Outcome(NamedTuple):
    """What settings come to. Leading axes pass through; a last axis of criteria for `places` and `dtos`."""

    on: Bools
    line: Curve
    area: Floats
    partial: Floats
    places: Ints
    dtos: Floats


def outcome(means: Floats, terms: Terms) -> Outcome:
    """Front, curve, areas and selection. `means` has axes (role, …, setting)."""
    on = pareto(*(means[2:4] if terms.front == "dev" else means[:2]))
    order = np.argsort(~on, axis=-1, kind="stable")[..., : max(int(on.sum(-1).max(initial=0)), 1)]
    kept = np.take_along_axis(on, order, -1)
    p, f, dev_p, dev_f = (np.where(kept, np.take_along_axis(side, order, -1), np.nan) for side in means[:4])
    line = curve(p, f, terms.start)
    some = terms.start is not None and np.nanmax(p, -1) > terms.start[0]
    distance = terms.distance(p, f)
    places, dtos = [], []
    for c in terms.criteria:
        if c.by == "loss":
            place = _least_loss(means)[..., None]
            places.append(place)
            dtos.append(np.take_along_axis(terms.distance(*means[:2]), place, -1))
            continue
        place = select(
            dev_p, dev_f, c.by, performance_floor=c.performance_floor, fairness_floor=c.fairness_floor,
            utopia=terms.utopia, scale=terms.scale,
        )[..., None]  # fmt: skip
        places.append(np.where(place < 0, -1, np.take_along_axis(order, np.maximum(place, 0), -1)))
        dtos.append(np.where(place < 0, np.nan, np.take_along_axis(distance, np.maximum(place, 0), -1)))
    return Outcome(
        on,
        line,
        np.where(some, area(line), np.nan),
        np.broadcast_to(np.where(some, _partial(line, terms), np.nan), on.shape[:-1]),
        np.concatenate(places, -1),
        np.concatenate(dtos, -1),
    )


def _least_loss(means: Floats) -> Ints:
    """The setting with the least loss, on the front or not; of several the best performing one, then the fairest."""
    loss = np.where(np.isnan(means[4]), np.inf, means[4])
    tied = loss <= loss.min(-1, keepdims=True)
    for side in means[2:4]:
        best = np.where(tied, side, -np.inf)
        tied &= best >= best.max(-1, keepdims=True)
    return np.asarray(tied.argmax(-1))


def _partial(line: Curve, terms: Terms) -> Floats | float:
    if not terms.region:
        return np.nan
    return partial_area(
        line,
        performance_from=-np.inf if terms.performance_from is None else terms.performance_from,
        fairness_from=-np.inf if terms.fairness_from is None else terms.fairness_from,
        dto_to=np.inf if terms.dto_to is None else terms.dto_to,
        utopia=terms.utopia,
        scale=terms.scale,
    )


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a method stands. Places count the settings of all methods."""

    method: int
    settings: int
    runs: int
    front: Ints
    """Along the curve."""
    line: Curve
    area: float
    partial: float
    polar: float
    places: tuple[int, ...]
    """What each criterion selects; −1 for nothing."""
    dtos: tuple[float, ...]
    single: int
    """Settings on the front that have one run."""
    rank: int = 0
    area_ci: Resampled | None = None
    partial_ci: Resampled | None = None
    dto_cis: tuple[Resampled | None, ...] = ()
    area_first: float | None = None
    """In how many resamples, as a share, it has the largest area."""
    dto_first: float | None = None
    """In how many resamples, as a share, it has the least distance, selected by distance."""


def standings(runs: Runs, terms: Terms, draws: int | None, rng: np.random.Generator) -> tuple[list[Standing], int]:
    """Every method, the best first; and how many resamples were drawn."""
    found = _observed(runs, terms)
    kept = _kept(runs, terms)
    if draws is None:
        draws = int(np.clip(WORK // max(int(runs.seeds[kept & (runs.seeds > 1)].sum()), 1), LEAST, MOST))
    if draws and (runs.seeds > 1).any():
        found = _with_intervals(runs, found, kept, terms, draws, rng)
    else:
        draws = 0
    return _ranked(runs, found), draws


def _batches(runs: Runs, kept: Bools, draws: int) -> Iterator[tuple[Ints, Ints]]:
    """Methods with about as many settings together: their numbers, and the places of their settings, one row each.

    A thousand small methods are then no slower than a large one. Rows are filled up with −1.
    """
    places = np.flatnonzero(kept)
    starts = np.searchsorted(runs.method[places], np.arange(len(runs.methods) + 1))
    counts = np.diff(starts)
    sizes = np.ceil(np.log2(counts)).astype(np.int64)
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        at_once = max(1, AT_ONCE // (draws * 2 ** int(size)))
        for first in range(0, len(same), at_once):
            methods = same[first : first + at_once]
            steps = np.arange(counts[methods].max())
            filled = steps < counts[methods, None]
            yield methods, np.where(filled, places[np.where(filled, starts[methods, None] + steps, 0)], -1)


def _observed(runs: Runs, terms: Terms) -> list[Standing]:
    """Every method by the runs as they are, in the order of their numbers."""
    found = {}
    for methods, table in _batches(runs, np.ones(len(runs.seeds), np.bool_), 1):
        o = outcome(np.where(table >= 0, runs.means[:, table], np.nan), terms)
        polar = np.where(np.isfinite(o.area), polar_area(o.line, terms.utopia), np.nan)
        for i, m in enumerate(methods.tolist()):
            front = table[i][o.on[i]]
            front = front[np.lexsort((-runs.means[1, front], runs.means[0, front]))]
            own, there = table[i][table[i] >= 0], ~np.isnan(o.line.performance[i])
            found[m] = Standing(
                method=m,
                settings=len(own),
                runs=int(runs.seeds[own].sum()),
                front=front,
                line=Curve(o.line.performance[i][there], o.line.fairness[i][there]),
                area=float(o.area[i]),
                partial=float(o.partial[i]),
                polar=float(polar[i]),
                places=tuple(-1 if place < 0 else int(table[i, place]) for place in o.places[i]),
                dtos=tuple(o.dtos[i].tolist()),
                single=int((runs.seeds[front] == 1).sum()),
            )
    return [found[m] for m in range(len(runs.methods))]


def _kept(runs: Runs, terms: Terms) -> Bools:
    """Settings that some resample could put on a front, or could give the least loss."""
    ends = extremes(runs.values, runs.starts, runs.seeds)
    least, most = (side[2:4] if terms.front == "dev" else side[:2] for side in ends)
    kept = np.empty(len(runs.seeds), np.bool_)
    for m in range(len(runs.methods)):
        own = runs.of(m)
        kept[own] = could_matter(least[:, own], most[:, own])
        if LEAST_LOSS in terms.criteria:
            kept[own] |= ends[0][4, own] <= ends[1][4, own].min()
    return kept


def _with_intervals(
    runs: Runs, found: list[Standing], kept: Bools, terms: Terms, draws: int, rng: np.random.Generator
) -> list[Standing]:
    areas, nearest, done = np.empty((len(found), draws)), np.empty((len(found), draws)), {}
    alike = _alike(runs)
    for methods, table in _batches(runs, kept, draws):
        drawn = _drawn(runs, table, terms, draws, rng)
        for i, m in enumerate(methods.tolist()):
            s = _with_own(runs, found[m], drawn[:, :, i], terms)
            areas[m], nearest[m], done[m] = drawn[0, :, i], drawn[2, :, i], s
    own = [done[m] for m in range(len(found))]
    areas -= 2 * _shown_bias(areas, [s.area_ci for s in own], alike)[:, None]
    nearest -= 2 * _shown_bias(nearest, [s.dto_cis[0] for s in own], alike)[:, None]
    first = _first(areas), _first(-nearest)
    return [
        replace(s, area_first=None if np.isnan(s.area) else float(first[0][m]), dto_first=float(first[1][m]))
        for m, s in enumerate(own)
    ]


def _with_own(runs: Runs, s: Standing, drawn: Floats, terms: Terms) -> Standing:
    """A method with the intervals that its own resamples give."""
    of_area = _freedom(runs, s, terms, area) if np.isfinite(s.area) else 0.0
    of_partial = _freedom(runs, s, terms, lambda x: np.asarray(_partial(x, terms))) if np.isfinite(s.partial) else 0.0
    seeds = [0 if place < 0 else int(runs.seeds[place]) for place in s.places]
    return replace(
        s,
        area_ci=interval(s.area, drawn[0], of_area, terms.confidence),
        partial_ci=interval(s.partial, drawn[1], of_partial, terms.confidence),
        dto_cis=tuple(
            interval(value, column, max(k - 1, FEWEST) if k > 1 else 0, terms.confidence)
            for value, column, k in zip(s.dtos, drawn[2:], seeds, strict=True)
        ),
    )


def _freedom(runs: Runs, s: Standing, terms: Terms, size: Callable[[Curve], Floats]) -> float:
    """Degrees of freedom of an area, by how much of its variance is due to each setting on the front."""
    points = np.concatenate([runs.means[:2, s.front], np.reshape(terms.start or (), (2, -1))], axis=1)
    order = np.lexsort((-points[1], points[0]))
    slope = np.empty_like(points)
    slope[:, order] = slopes(Curve(points[0, order], points[1, order]), size)
    seeds = runs.seeds[s.front]
    own = np.repeat(runs.starts[s.front] - np.cumsum(seeds) + seeds, seeds) + np.arange(seeds.sum())
    setting = np.repeat(np.arange(len(seeds)), seeds)
    away = runs.values[:2, own] - runs.means[:2, s.front[setting]]
    effect = (slope[:, setting] * away).sum(0)
    squares = np.bincount(setting, effect * effect, minlength=len(seeds))
    return freedom(squares / (seeds * np.maximum(seeds - 1, 1)), seeds)


def _drawn(runs: Runs, table: Ints, terms: Terms, draws: int, rng: np.random.Generator) -> Floats:
    """The area, the partial area, and the distance of what each criterion selects; by resample, by row of the table."""
    there = table.ravel() >= 0
    settings = table.ravel()[there]
    parts = []
    at_once = max(1, AT_ONCE // table.size)
    for start in range(0, draws, at_once):
        batch = min(at_once, draws - start)
        means = np.full((len(runs.values), batch, table.size), np.nan)
        means[..., there] = resampled_means(runs.values, runs.starts[settings], runs.seeds[settings], batch, rng)
        o = outcome(means.reshape(*means.shape[:2], *table.shape), terms)
        parts.append(np.concatenate([o.area[None], o.partial[None], np.moveaxis(o.dtos, -1, 0)]))
    return np.concatenate(parts, 1)


def _alike(runs: Runs) -> Ints:
    """Of each method, the number of the first one with the same runs."""
    first: dict[tuple[bytes, bytes], int] = {}
    found = []
    for m in range(len(runs.methods)):
        own = runs.of(m)
        at = slice(int(runs.starts[own.start]), int(runs.starts[own.stop - 1] + runs.seeds[own.stop - 1]))
        found.append(first.setdefault((runs.seeds[own].tobytes(), runs.values[:, at].tobytes()), m))
    return np.array(found, np.int64)


def _shown_bias(draws: Floats, found: list[Resampled | None], alike: Ints) -> Floats:
    """The bias that resamples show of each method: none within their own chance, and one where runs are the same.

    Otherwise that chance would break ties, and set apart what is the same.
    """
    chance = 3 * draws.std(1, ddof=1) / np.sqrt(draws.shape[1]) if draws.shape[1] > 1 else np.full(len(draws), np.inf)
    bias = np.array([0.0 if f is None or abs(f.bias) <= c else f.bias for f, c in zip(found, chance, strict=True)])
    return np.asarray(np.bincount(alike, bias, len(bias)) / np.maximum(np.bincount(alike, minlength=len(bias)), 1))[
        alike
    ]


def _first(draws: Floats) -> Floats:
    """The share of resamples in which each row is the highest; rows that tie share."""
    draws = np.where(np.isnan(draws), -np.inf, draws)
    highest = draws >= draws.max(0) - SLACK
    return np.asarray((highest / highest.sum(0)).mean(1))


def _ranked(runs: Runs, found: list[Standing]) -> list[Standing]:
    """By area, without one by distance; equal values share a rank."""
    by = [(-s.area if np.isfinite(s.area) else np.inf, s.dtos[0] if s.places[0] >= 0 else np.inf) for s in found]
    key = [b[:1] if np.isfinite(b[0]) else b for b in by]
    order = sorted(range(len(found)), key=lambda i: (key[i], runs.methods[found[i].method]))
    rank: dict[tuple[float, ...], int] = {}
    for place, i in enumerate(order, start=1):
        rank.setdefault(key[i], place)
    return [replace(found[i], rank=rank[key[i]]) for i in order]
