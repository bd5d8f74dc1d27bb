"""Populations in which groups are more and more apart, and what samples of this size show of them.

A gap between small groups is mostly noise, and noise makes every norm of gaps larger. So the gaps that were seen say
where groups differ rather than by how much: a population of the family has s times their pattern, and which s could
have given the aggregate that was seen is found by simulation (docs/analyses/classes.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from evenhand.analyses.classes.intervals import Task
from evenhand.analyses.classes.matrix import Matrix
from evenhand.analyses.options import least_resamples
from evenhand.inference import class_resample as tables
from evenhand.inference.inversion import Inverted, inverted
from evenhand.measures.aggregation import Recipe
from evenhand.measures.rates import ratio
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.confusion import ClassCounts, Sums

STEPS = 8
"""Populations from parity to as far apart as groups can be."""
LEFT = 0.8
"""Of the chance to miss the truth, so much is for samples, and the rest for what patterns of gaps leave open."""
FOUND = 0.05
"""The level at which a test finds gaps in a class."""
IN_THE_TAILS = 15
"""So many samples of each lie outside of what an interval holds."""
_HALVINGS = 40
_DIGITS = 12
"""Of parity, which rounding errors would make a gap."""
Noise = Callable[[Floats], Floats]
"""Rates of populations (…, class, group) → rates of samples from them, axes (draw, class, group)."""


def inversions(
    tasks: Sequence[Task], counts: ClassCounts, confidence: float, draws: int, rng: np.random.Generator,
    further: Floats,
) -> list[Inverted | None]:  # fmt: skip
    """For each aggregate the truths that could have given it; None if it has no family, or there are too few draws.

    Aggregates of the same rates share their populations, and rates of the same source their samples.
    """
    found: list[Inverted | None] = [None] * len(tasks)
    draws = min(draws, int(np.ceil(IN_THE_TAILS / (1 - confidence))))
    together: dict[str, dict[tuple[int, int], list[int]]] = {}
    for k, task in enumerate(tasks):
        if task.uncorrected is None and draws >= least_resamples(confidence):
            of_source = together.setdefault(task.matrix.rate.needs, {})
            of_source.setdefault((id(task.matrix), task.only), []).append(k)
    for source, random in zip(("hits", "sums"), rng.spawn(2), strict=True):
        places = list(together.get(source, {}).values())
        series = [Series.of([tasks[k] for k in own]) for own in places]
        for block in _blocks(source, series, counts, draws, random):
            for one in series:
                one.add(block, counts, further)
        for own, one in zip(places, series, strict=True):
            for k, result in zip(own, one.results(confidence), strict=True):
                found[k] = result
    return found


@dataclass
class Series:
    """Aggregates of the same rates, simulated block by block."""

    matrix: Matrix
    chosen: slice
    recipes: list[Recipe]
    families: list[Family] = field(default_factory=list)
    blocks: list[list[Floats]] = field(default_factory=list)

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> Series:
        only = tasks[0].only
        chosen = slice(None) if only < 0 else slice(only, only + 1)
        recipes = [t.recipe if only < 0 else replace(t.recipe, positive=0) for t in tasks]
        return cls(tasks[0].matrix.of_classes(chosen), chosen, recipes)

    def add(self, block: Sums | tuple[int, int], counts: ClassCounts, further: Floats) -> None:
        if not np.isfinite(self.values).any():
            return
        noise = noise_of(self.matrix, self.chosen, block, counts, further)
        self.families = self.families or families_of(self.matrix, noise)
        self.blocks.append([family.aggregates(self.recipes, noise) for family in self.families])

    @property
    def values(self) -> list[float]:
        m = self.matrix
        return [float(np.squeeze(recipe.value(m.values, m.base))) for recipe in self.recipes]

    def results(self, confidence: float) -> list[Inverted | None]:
        simulated = [np.concatenate(own, axis=-1) for own in zip(*self.blocks, strict=True)]
        return [
            _joined([_inverted(recipe, value, aggregates[k], confidence) for aggregates in simulated])
            if simulated and np.isfinite(value)
            else None
            for k, (recipe, value) in enumerate(zip(self.recipes, self.values, strict=True))
        ]


def _joined(found: Sequence[Inverted]) -> Inverted:
    """What any family allows, and the middle between them.

    Gaps in few classes may not reach far enough, which says nothing against those in all, the first.
    """
    ends = np.array([(f.low, f.middle, f.high) for f in found])
    least, most = (np.where(np.isnan(ends[0]), np.nan, f.reduce(ends)).tolist() for f in (np.fmin, np.fmax))
    return Inverted(least[0], (least[1] + most[1]) / 2, most[2])


def _inverted(recipe: Recipe, value: float, simulated: Floats, confidence: float) -> Inverted:
    """From aggregates of populations, and of a sample from each, axes (step, draw)."""
    true, seen = simulated
    # Each draw has a pattern of its own; what counts is how far samples are from their population.
    middle = np.median(recipe.worse * true, axis=1)
    samples = middle[:, None] + recipe.worse * (seen - true)
    found = inverted(recipe.worse * value, middle, samples, 1 - LEFT * (1 - confidence))
    return found if recipe.worse > 0 else Inverted(-found.high, -found.middle, -found.low)


@dataclass(frozen=True)
class Family:
    """Rates around those of their classes, by how far groups are apart."""

    matrix: Matrix
    centre: Floats
    """The rate of each class, axes (class, 1)."""
    seen: Floats
    """Rates that may have given those that were seen."""
    signal: Floats
    """How far the groups of each class are apart, as far as noise lets tell, axes (class, 1)."""
    apart: Floats
    """How far they are apart in the population, axes (class, 1)."""
    variance: Floats
    """Of the noise of each gap, axes (class, group)."""
    steps: Floats
    common: bool = False
    """Whether a group may also be as far from the others in all classes."""
    power: float = 1.0
    """Of gaps, for their shape: 0 makes all of a class as large."""

    def aggregates(self, recipes: Sequence[Recipe], noise: Noise) -> Floats:
        """Of populations and of a sample from each, axes (recipe, population or sample, step, draw)."""
        patterns, m = self.patterns(noise), self.matrix
        made: list[list[list[Floats]]] = [[[], []] for _ in recipes]
        for s in self.steps:
            population = self.population(s, patterns)
            for which, rates in enumerate((population, noise(population))):
                base = m.base_of(rates)
                for recipe, both in zip(recipes, made, strict=True):
                    both[which].append(np.round(recipe.value(rates, base), _DIGITS))
        return np.array(made)

    def patterns(self, noise: Noise) -> Floats:
        """Where groups differ, axes (draw, class, group): each a pattern that may have given the one seen."""
        return self.pattern(np.where(self.matrix.vacant, 0.0, self.matrix.gaps_of(noise(self.seen))))

    def pattern(self, gaps: Floats) -> Floats:
        """Gaps without noise that may have given these: those of small cells as large as those of others."""
        total = self.signal**2 + self.variance
        common = _common(gaps, np.where(self.variance > 0, total, 0.0)) if self.common else np.zeros(1)
        unit = np.nan_to_num(ratio(gaps - common, np.sqrt(total)))
        made = common + self.apart * np.sign(unit) * np.abs(unit) ** self.power
        return np.where(self.variance > 0, made, 0.0)

    def population(self, s: float, patterns: Floats) -> Floats:
        """Rates whose groups are s times such a pattern apart. A rate that few people tell is neither 0 nor 1."""
        m = self.matrix
        margin = 0.5 / (m.people + 1)
        least, most = np.minimum(margin, self.centre), np.maximum(1 - margin, self.centre)
        return np.where(m.vacant, m.values, np.clip(self.centre + s * patterns, least, most))


def families_of(m: Matrix, noise: Noise) -> list[Family]:
    """Families that may have given these rates, for what noise leaves open about where groups differ.

    One whose groups are as far apart in every class, and two whose groups are apart in as few classes as can be: gaps
    in a few classes alone have the same quadratic mean and a smaller mean. In the last, all gaps of a class are as
    large, so that they have the smallest maximum. None if no rate could be another in another sample.
    """
    centre = _centre(m)
    variance = np.where(m.vacant, 0.0, m.gaps_of(noise(np.broadcast_to(centre, m.values.shape))) ** 2).mean(0)
    some = variance > 0
    if not some.any():
        return []
    gaps = np.where(m.vacant, 0.0, m.gaps_of(m.values))
    apart = float(np.sqrt(_signal(gaps**2, variance)))
    rest = gaps - _common(gaps, np.where(some, apart**2 + variance, 0.0))
    hidden = float(np.sqrt(variance[some].mean() * np.sqrt(2 / some.sum())))
    everywhere = np.full((len(gaps), 1), np.sqrt(_signal(rest**2, variance)))
    family = partial(_family, m, noise, centre, gaps, variance)
    found = [family(everywhere, np.maximum(everywhere, hidden), common=True)]
    if apart > 0 and len(gaps) > 1:
        few = _by_class(gaps, variance, apart)
        found += [family(few, few, power=power) for power in (1.0, 0.0)]
    return found


def _family(
    m: Matrix, noise: Noise, centre: Floats, gaps: Floats, variance: Floats, signal: Floats, apart: Floats,
    common: bool = False, power: float = 1.0,
) -> Family:  # fmt: skip
    family = Family(m, centre, centre, signal, apart, variance, np.zeros(1), common)
    family = replace(family, seen=family.population(1.0, family.pattern(gaps)), power=power)
    size = np.sqrt((family.patterns(noise) ** 2).mean())
    far = (np.sqrt((gaps**2).mean()) + 2 * np.sqrt(variance.mean())) / max(size, 1e-12)
    return replace(family, steps=far * np.linspace(0, 1, STEPS) ** 1.5)


def _common(gaps: Floats, variance: Floats) -> Floats:
    """How far each group is from the others in all classes, as far as noise lets tell, axes (…, 1, group)."""
    weight = np.nan_to_num(ratio(np.ones_like(variance), variance))
    total = weight.sum(0)
    mean = np.nan_to_num(ratio((weight * gaps).sum(-2, keepdims=True), total))
    noise = np.nan_to_num(ratio(np.ones_like(total), total))
    signal = np.maximum((mean**2 - noise).mean(-1, keepdims=True), 0.0)
    return np.asarray(mean * np.sqrt(np.nan_to_num(ratio(signal, signal + noise))))


def _centre(m: Matrix) -> Floats:
    """Rates of classes, drawn together so that they vary as much as they do without noise."""
    known = np.where(m.vacant, 0.0, m.shares)
    rate = ratio((known * np.where(m.vacant, 0.0, m.values)).sum(-1), known.sum(-1))
    people = np.maximum(m.base_people[:, 0], 1e-9)
    share = (rate * people + 0.5) / (people + 1)
    noise = share * (1 - share) / people
    middle = float(np.nanmean(rate))
    count = int(np.isfinite(rate).sum())
    signal = max(float(np.nanmean((rate - middle) ** 2 * count / max(count - 1, 1) - noise)), 0.0)
    drawn = middle + (rate - middle) * np.sqrt(signal / (signal + noise))
    return np.asarray(np.where(np.isnan(rate), middle, drawn)[:, None])


def _signal(squares: Floats, noise: Floats) -> float:
    """The variance of what has such squares, beyond that of noise (Paule and Mandel 1982)."""
    some = noise > 0
    low, high = 0.0, float(squares[some].max(initial=0.0) * some.sum())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        over = (squares[some] / (middle + noise[some])).sum() > some.sum()
        low, high = (middle, high) if over else (low, middle)
    return low


def _by_class(gaps: Floats, variance: Floats, apart: float) -> Floats:
    """How far groups of each class seem to be apart, axes (class, 1): not at all where a test finds no gap.

    Unless it finds none anywhere.
    """
    from scipy.special import chdtri

    weight = np.where(variance > 0, 1 / (apart**2 + variance) ** 2, 0.0)
    square = ratio((weight * (gaps**2 - variance)).sum(-1, keepdims=True), weight.sum(-1, keepdims=True))
    size = np.sqrt(np.maximum(np.nan_to_num(square), 0.0))
    groups = (variance > 0).sum(-1, keepdims=True)
    # Gaps of a class have one degree of freedom less than it has groups, and are as large as they are.
    squares = np.nan_to_num(ratio(gaps**2, variance)).sum(-1, keepdims=True) * (1 - ratio(np.ones(1), groups))
    found = (squares > chdtri(np.maximum(groups - 1, 1), FOUND)) & (groups > 1)
    return np.where(found, size, 0.0) if (found & (size > 0)).any() else size


# ---- what samples show ---------------------------------------------------------------------------------------------


def _blocks(
    source: str, series: Sequence[Series], counts: ClassCounts, draws: int, rng: np.random.Generator
) -> Iterator[Sums | tuple[int, int]]:
    """Samples in which groups are alike; of who is predicted rightly, so many draws and their seed."""
    if not series:
        return
    if source == "hits":
        cells = max(one.matrix.values.size for one in series)
        for size, random in tables.blocks(draws, cells, rng):
            yield size, int(random.integers(2**63))
        return
    yield from tables.resampled(tables.alike(counts, False), draws, rng)


def noise_of(
    m: Matrix, chosen: slice, block: Sums | tuple[int, int], counts: ClassCounts, further: Floats
) -> Noise:  # fmt: skip
    """What samples show of any population.

    Shares of the people of one class are binomial. Rates that rest on a whole group depend on each other: they move as
    in samples in which groups are alike, by as much as shares of that size vary.
    """
    if isinstance(block, tuple):
        people = np.maximum(np.rint(m.people / further**2), 1).astype(np.int64)
        return partial(_binomial, m, people, block[0], np.random.default_rng(block[1]))
    whole = np.where(m.vacant, np.nan, m.rate.values(tables.alike(counts, False).sums())[chosen])
    away = np.nan_to_num(m.rate.values(block)[:, chosen] - whole) * further
    return partial(_moved, m, away, whole)


def _binomial(m: Matrix, people: Ints, size: int, rng: np.random.Generator, rates: Floats) -> Floats:
    share = np.where(m.vacant, 0.5, rates)
    return np.where(m.vacant, m.values, rng.binomial(people, share, (size, *people.shape)) / people)


def _moved(m: Matrix, away: Floats, whole: Floats, rates: Floats) -> Floats:
    # The next draw for rates that were drawn themselves: a pattern and what samples show of it are independent.
    drawn = np.roll(away, 1, axis=0) if rates.ndim == away.ndim else away
    scale = np.sqrt(np.nan_to_num(ratio(_varies(m, rates), _varies(m, whole))))
    return np.where(m.vacant, m.values, np.clip(rates + scale * drawn, 0.0, 1.0))


def _varies(m: Matrix, rates: Floats) -> Floats:
    """The variance of a share of one person."""
    share = np.where(m.vacant, 0.5, rates)
    return np.asarray(share * (1 - share))
