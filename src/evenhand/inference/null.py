"""The null distribution of each measure, when the two groups are alike, and how the observed gap compares.

Every distance between two finite samples is positive. So a gap is compared with those of tables with permuted
group labels: within the label for separation, within the decision or the score bin for sufficiency, among
all people for independence. Rates need no draws, their distribution is hypergeometric. With sampling weights people
are not exchangeable: rates then count as many people as would know them as well, and score-level measures compare
the gap with how far it moves in resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenhand.inference.permutation import all_permuted, permuted
from evenhand.inference.settings import NullKind
from evenhand.inference.significance import LEAST_P, at_floor, splits
from evenhand.inference.studentised import studentised
from evenhand.measures.calibration import people_if_alike
from evenhand.measures.distribution import alike
from evenhand.measures.registry import Profile, RateMeasure, ScoreMeasure, ScoreOptions
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.dense import Counts
from evenhand.tables.scores import ScoreCounts
from evenhand.tables.table import Within

PERMUTED_SCORES = 256
"""So many scores at most are permuted; more are put together to as many cells."""
MOST_GRID = 250_000
STEPS = 8192
"""On so many steps up to the observed sum of independent sizes their distribution is added up, rounded to be safe."""


@dataclass(frozen=True)
class Null:
    """The distribution of a measure when groups are alike."""

    p_value: float
    """How often groups that are alike show a gap at least as large; never 0."""
    mean: float
    high: float
    """The null stays below it 95 times of 100; for a ratio, above."""
    detectable: float
    """A gap of this size would be found about 80 times of 100; NaN if none would. Of distances it is rough: more often
    than not, see docs/reference/uncertainty.md."""
    method: str
    sample: Floats = field(compare=False, repr=False)
    """The distribution itself, from the least gap to the largest: draw it."""
    chance: Floats | None = field(default=None, compare=False, repr=False)
    """The probability of each value, if they are all there are; None if they were drawn."""
    undefined: float = 0.0
    """The share of tables without a value. They count as the largest."""
    choices: float = 1.0
    """What the p-value was multiplied by, because the comparison was chosen by what was to be tested."""

    @property
    def at_most(self) -> bool:
        """Whether none of the tables drawn showed so large a gap: the p-value may be smaller than it is."""
        return at_floor(self.p_value / self.choices, self.method)

    def times(self, choices: float) -> Null:
        """The same where so many comparisons could have been the one that was made."""
        if choices == 1:
            return self
        method = f"{self.method}, times {choices:g} for the choice of the reference"
        return replace(self, p_value=min(self.p_value * choices, 1.0), choices=choices, method=method)


Outward = Callable[[Any], Any]


def null_of(
    observed: float,
    sizes: Floats,
    method: str,
    confidence: float,
    *,
    chance: Floats | None = None,
    p_value: float | None = None,
    outward: Outward = lambda size: size,
    highest: float = np.inf,
) -> Null:
    """From the sizes of gaps, on a scale where more is worse (`outward` leads to the one of the measure)."""
    order = np.argsort(sizes, kind="stable")  # NaN last
    sizes = np.where(np.isnan(sizes), np.inf, sizes)[order]
    unknown = ~np.isfinite(outward(sizes))
    chance = None if chance is None else chance[order]
    if p_value is None:
        p_value = share_at_least(sizes, observed, chance)

    def point(share: float) -> float:
        if chance is None:
            return float(sizes[min(int(np.ceil(share * (len(sizes) + 1) - 1e-9)), len(sizes)) - 1])
        return float(sizes[min(int(np.searchsorted(np.cumsum(chance), share - 1e-12)), len(sizes) - 1)])

    shown = np.asarray(outward(sizes), np.float64)
    known = ~unknown
    detectable = _detectable(sizes, chance, point(confidence))
    return Null(
        p_value=1.0 if p_value > 1 - 1e-12 else max(float(p_value), LEAST_P),
        mean=float(np.average(shown[known], weights=None if chance is None else chance[known]))
        if known.any()
        else np.nan,
        high=float(outward(point(0.95))),
        detectable=float(outward(detectable)) if detectable <= highest else np.nan,
        method=method,
        sample=shown[known],
        chance=None if chance is None else chance[known],
        undefined=min(float(unknown.mean() if chance is None else chance[unknown].sum()), 1.0),
    )


def share_at_least(sizes: Floats, observed: float, chance: Floats | None = None) -> float:
    """The p-value: how often sizes reach the observed one; a size without a value does."""
    far = at_least(np.where(np.isnan(sizes), np.inf, sizes), observed)
    return float((1 + far.sum()) / (1 + len(far)) if chance is None else chance[far].sum())


def recentred(
    observed: float, moves: Floats, confidence: float, highest: float, outward: Outward = lambda size: size
) -> Null:
    """From how far resamples moved, where group labels cannot be permuted; one without a value moved the farthest."""
    sizes = np.where(np.isnan(moves), highest, np.minimum(moves, highest))
    return null_of(observed, sizes, f"{len(moves)} resamples, recentred", confidence, outward=outward, highest=highest)


def _detectable(sizes: Floats, chance: Floats | None, threshold: float) -> float:
    """The true gap that makes a measure exceed a threshold about 80 times of 100, if it is alike everywhere.

    A rough estimate: in simulations with shifted scores it was found between 57 and 90 times of 100, and less often
    where few people have the label that counts.

    A gap d under normal noise of mean size m shows as E|d + ε| on average, with the mean m at d = 0; how much it varies
    around that is known from the null, where it varies least.
    """
    from scipy.special import ndtr, ndtri

    known = np.isfinite(sizes)
    if not known.any() or not np.isfinite(threshold):
        return np.inf
    weights = None if chance is None else chance[known]
    mean = float(np.average(sizes[known], weights=weights))
    spread = float(np.sqrt(np.average((sizes[known] - mean) ** 2, weights=weights)))
    noise = mean * np.sqrt(np.pi / 2)
    wanted = threshold + ndtri(0.8) * spread / np.sqrt(1 - 2 / np.pi)
    if noise == 0:
        return float(wanted)
    lo, hi = 0.0, wanted
    for _ in range(60):
        d = (lo + hi) / 2
        shows = noise * np.sqrt(2 / np.pi) * np.exp(-((d / noise) ** 2) / 2) + d * (1 - 2 * ndtr(-d / noise))
        lo, hi = (d, hi) if shows < wanted else (lo, d)
    return float(hi)


def at_least(sizes: Floats, observed: float) -> Bools:
    """Which sizes reach the observed one, rounding errors aside. An infinite one is reached by infinite ones."""
    return np.asarray(sizes >= observed * (1 - 1e-9) - 1e-12)


# ---- rates ---------------------------------------------------------------------------------------------------


def rate_null(
    m: RateMeasure, pair: Counts, kind: NullKind, draws: int, rng: np.random.Generator, confidence: float
) -> Null:
    """Of one rate measure on a group and its reference."""
    profile = m.profile(pair)
    outward, highest = rate_outward(m), m.highest
    # A ratio of 0 is infinitely far from 1 however few people show it: tables are compared by the difference of rates.
    plain = replace(m, scale="difference")
    if kind == "published":
        blocks, chance, method = _tables(pair, "all", rng)(draws)
        drawn = [m.profile(c) for c in blocks]
        sizes = np.concatenate([apart_by(plain, one) for one in drawn])
        p_value = share_at_least(sizes, float(apart_by(plain, profile)), chance)
        return null_of(
            0.0, np.concatenate([rate_size(m, one.values) for one in drawn]), method, confidence, chance=chance,
            p_value=p_value, outward=outward, highest=highest,
        )  # fmt: skip
    method = "exact" if pair.exchangeable else "exact, effective numbers"
    if profile.quotient is not None:
        observed, sizes, chance = _quotient(profile.quotient, draws, rng)
        method = method if chance is not None else f"{draws} permutations"
        p_value = max(share_at_least(sizes, observed, chance), 1e-14)  # the far ends are left out
        return null_of(observed, sizes, method, confidence, chance=chance, p_value=p_value)
    components = np.flatnonzero(~np.isnan(profile.values).any(-1)).tolist()
    profile = _fewer(profile, pair) if m.levels == "bins" else profile
    parts = [_component(plain, profile, c) for c in components]
    observed = max(own for own, _, _ in parts)
    tails = [np.exp(log_p[at_least(sizes, observed)]).sum() for _, sizes, log_p in parts]
    p_value = float(-np.expm1(np.log1p(-np.minimum(tails, 1.0)).sum())) if max(tails) < 1 else 1.0
    sizes, chance = _largest([(s, np.exp(log_p)) for _, s, log_p in (_component(m, profile, c) for c in components)])
    if m.levels == "bins":
        known = np.array([_information(profile, c) for c in components])
        squares = [(known_c * s**2, np.exp(log_p)) for known_c, (_, s, log_p) in zip(known, parts, strict=True)]
        # the gaps there are: with weights, those of whole people would be larger by rounding, in every bin a little
        seen = float((known * np.diff(profile.values[components])[:, 0] ** 2).sum())
        null = null_of(observed, sizes, method, confidence, chance=chance, p_value=_sum_at_least(squares, seen))
        return replace(null, detectable=_detectable_everywhere(known, confidence))
    return null_of(
        observed, sizes, method, confidence, chance=chance, p_value=p_value, outward=outward, highest=highest
    )


def widened(null: Null, other: Null) -> Null:
    """A null with the larger p-value of two: where neither knows everything."""
    return replace(null, p_value=max(null.p_value, other.p_value), method=f"{null.method}; {other.method}")


def rate_outward(m: RateMeasure) -> Outward:
    """From the size of a gap between rates to the measure; a ratio is the lower rate over the higher."""
    return (lambda size: np.exp(-np.asarray(size))) if m.scale == "ratio" else (lambda size: size)


def rate_size(m: RateMeasure, values: Floats) -> Floats:
    """How far two groups are apart, from profiles (…, component, group): more is worse. NaN if undefined."""
    a, b = values[..., 0], values[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(np.log(a / b)) if m.scale == "ratio" else np.abs(a - b)
    if m.levels == "decision":
        return np.asarray(apart.max(-1))
    known = ~np.isnan(apart)
    return np.where(known.any(-1), np.where(known, apart, 0.0).max(-1), np.nan)


def apart_by(m: RateMeasure, profile: Profile) -> Floats:
    """What tables are compared by: how far groups are apart or, of score bins, Σ of Pearson's χ² over the bins.

    A gap in a bin of few people is large by chance: the largest gap itself would be decided by such bins. In
    simulations the sum found more than the largest standardised gap did, unless only one or two bins were off.
    """
    if m.levels == "decision":
        return rate_size(m, profile.values)
    assert profile.trials is not None
    n = np.where(np.isnan(profile.values), 0.0, profile.trials)
    rate = np.nan_to_num(profile.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (n * rate).sum(-1, keepdims=True) / n.sum(-1, keepdims=True)
        term = n * (rate - pooled) ** 2 / (pooled * (1 - pooled))
    return np.asarray(np.where(np.isfinite(term), term, 0.0).sum((-2, -1)))


def _information(profile: Profile, component: int) -> float:
    """1 / the variance of a gap between two shares when they are alike; 0 where all outcomes are."""
    a, n_a, b, n_b = _whole(profile, component)
    pooled = (a + b) / (n_a + n_b)
    return n_a * n_b / (n_a + n_b) / (pooled * (1 - pooled)) if 0 < pooled < 1 else 0.0


def _sum_at_least(parts: Sequence[tuple[Floats, Floats]], observed: float) -> float:
    """How often a sum of independent sizes reaches the observed one: never too small, and too large by little."""
    if observed <= 1e-9:
        return 1.0
    step = observed * (1 - 1e-9) / STEPS
    below, reached = np.zeros(STEPS), 0.0
    below[0] = 1.0
    for sizes, chance in parts:
        place = np.minimum(np.ceil(sizes / step - 1e-6), STEPS).astype(np.int64)
        own = np.bincount(place, chance, STEPS + 1)
        reached += float(below @ np.cumsum(own[::-1])[:STEPS])
        both = np.fft.irfft(np.fft.rfft(below, 2 * STEPS) * np.fft.rfft(own[:STEPS], 2 * STEPS), 2 * STEPS)
        below = np.maximum(both[:STEPS], 0.0)
    return min(max(reached, 1e-14), 1.0)  # rounding errors of the sums are about as large


def _detectable_everywhere(known: Floats, confidence: float) -> float:
    """The gap, alike in all bins, that the sum of χ² shows 80 times of 100; NaN if none does."""
    from scipy.special import chdtri, chndtrinc

    told = int((known > 0).sum())
    if not told:
        return np.nan
    gap = float(np.sqrt(chndtrinc(chdtri(told, 1 - confidence), told, 0.2) / known.sum()))
    return gap if gap <= 1 else np.nan


def _fewer(profile: Profile, bins: Counts) -> Profile:
    """Effective numbers rounded down: a bin of 1.6 people taken for two would vary more than two do."""
    trials = profile.trials
    assert trials is not None
    if bins.squares is not None:
        trials = np.fmin(trials, people_if_alike(bins, profile.values))
    return replace(profile, trials=np.maximum(np.floor(trials + 1e-9), 1))


def _whole(profile: Profile, component: int) -> tuple[int, int, int, int]:
    """People with and among a share: of the group, of the reference. Effective numbers are rounded."""
    assert profile.trials is not None
    n = np.maximum(np.rint(profile.trials[component]), 1).astype(np.int64)
    k = np.rint(profile.values[component] * n).astype(np.int64)
    return int(k[0]), int(n[0]), int(k[1]), int(n[1])


def _component(m: RateMeasure, profile: Profile, component: int) -> tuple[float, Floats, Floats]:
    """A gap between two shares, those there are when labels are permuted, and the logarithm of their probabilities."""
    a, n_a, b, n_b = _whole(profile, component)
    k, log_p = splits(a + b, n_a, n_a + n_b)
    shares = np.stack([np.r_[a, k] / n_a, np.r_[b, a + b - k] / n_b], axis=-1)[:, None, :]
    sizes = rate_size(replace(m, levels="decision"), shares)
    sizes = np.where(np.isnan(sizes), 0.0, sizes)  # 0 against 0: alike
    return float(sizes[0]), sizes[1:], log_p


def _largest(parts: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The distribution of the largest of independent sizes."""
    likely = [(s[p > 1e-16], p[p > 1e-16]) for s, p in parts]
    values = np.unique(np.concatenate([s for s, _ in likely]))
    below = np.ones(len(values))
    for sizes, chance in likely:
        order = np.argsort(sizes, kind="stable")
        upto = np.concatenate([[0.0], np.cumsum(chance[order])])
        below *= upto[np.searchsorted(sizes[order], values, side="right")] / upto[-1]
    return values, np.diff(below, prepend=0.0)


def _quotient(
    profiles: tuple[Profile, Profile], draws: int, rng: np.random.Generator
) -> tuple[float, Floats, Floats | None]:
    """|ratio of the group − ratio of the reference| for a ratio of two independent shares: observed, and by chance."""
    shares, chances, seen = [], [], []
    for profile in profiles:
        a, n_a, b, n_b = _whole(profile, 0)
        k, log_p = splits(a + b, n_a, n_a + n_b)
        likely = log_p > -36
        k, own = k[likely], np.exp(log_p[likely])
        shares.append((k / n_a, (a + b - k) / n_b))
        seen.append((a / n_a, b / n_b))
        chances.append(own / own.sum())
    chance: Floats | None
    sides = len(chances[0]), len(chances[1])
    if sides[0] * sides[1] <= MOST_GRID:
        i, j = (axis.ravel() for axis in np.indices(sides))
        chance = np.multiply.outer(*chances).ravel()
    else:
        i, j = (rng.choice(len(p), size=draws, p=p) for p in chances)
        chance = None
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [shares[0][g][i] / shares[1][g][j] for g in (0, 1)]
        own = np.array(seen[0]) / np.array(seen[1])
        observed = abs(float(own[0] - own[1]))
        sizes = np.abs(ratios[0] - ratios[1])
    return np.inf if np.isnan(observed) else observed, sizes, chance


# ---- score level -----------------------------------------------------------------------------------------------


def score_nulls(
    measures: Sequence[ScoreMeasure],
    everyone: ScoreCounts,
    options: ScoreOptions,
    kind: NullKind,
    draws: int,
    rng: np.random.Generator,
    confidence: float,
    pairs: Sequence[tuple[int, ...]] = ((0, 1),),
) -> dict[str, Null]:
    """Of score-level measures, by id: of the largest gap over pairs of groups, all of whose labels are permuted.

    By default a group and its reference are the only pair. People must count one each.
    """
    found: dict[str, Null] = {}
    for tables, counts, members in _tasks(measures, everyone, options, kind, rng):
        sizes: dict[tuple[str, tuple[int, ...]], Callable[[Any], Floats]] = {}
        compared = {m.id: f"{m.id}, studentised" if m.single else m.id for m in members}
        for p in pairs:
            sizes |= {(m.id, p): _size(m, counts.only(p), options) for m in members}
            sizes |= {(compared[m.id], p): studentised(m) for m in members if m.single}
        seen = {key: float(size(counts.only(key[1]))) for key, size in sizes.items()}
        names = dict.fromkeys(name for name, _ in sizes)
        blocks, chance, method = tables(draws)
        pieces: dict[str, list[Floats]] = {name: [] for name in names}
        for block in blocks:
            most = {name: np.zeros(len(block.array)) for name in names}
            for p in pairs:
                two = block.only(p)
                for name in names:
                    if np.isfinite(seen[name, p]):
                        np.maximum(most[name], sizes[name, p](two), out=most[name])
            for name in names:
                pieces[name].append(most[name])
        for m in members:
            name = compared[m.id]
            observed = max((seen[name, p] for p in pairs if np.isfinite(seen[name, p])), default=np.nan)
            p_value = share_at_least(np.concatenate(pieces[name]), observed, chance)
            found[m.id] = null_of(
                observed, np.concatenate(pieces[m.id]), method, confidence, chance=chance, p_value=p_value,
                outward=m.outward, highest=m.highest,
            )  # fmt: skip
    return found


Tables = Callable[[int], tuple[Iterator[Any], Floats | None, str]]


def _tasks(
    measures: Sequence[ScoreMeasure], pair: ScoreCounts, options: ScoreOptions, kind: NullKind, rng: np.random.Generator
) -> Iterator[tuple[Tables, Any, list[ScoreMeasure]]]:
    """Measures that share permuted tables: how to make these, the observed table, and the measures."""
    coarse = pair.coarse(PERMUTED_SCORES)
    streams = rng.spawn(4)  # always, so that a measure alone has the p-value it has among others
    for within, random in (("all", streams[0]), ("label", streams[1])):
        members = [m for m in measures if m.view is None and permuted_within(m, kind) == within]
        if members:
            needs = kind == "published" or within == "label"
            counts = coarse if needs else replace(coarse, array=coarse.array.sum(-1, keepdims=True))
            yield _tables(counts, within, random), counts, members
    binned = [m for m in measures if m.view is not None]
    for m, random in zip(binned, (streams[2 + m.ranked] for m in binned), strict=True):
        assert m.view is not None
        bins = m.view(pair, options)
        yield _tables(bins, permuted_within(m, kind), random), bins, [m]


def permuted_within(m: ScoreMeasure | RateMeasure, kind: NullKind) -> Within:
    """Among whom group labels are permuted."""
    return "all" if kind == "published" else m.within


def _tables(counts: Any, within: Any, rng: np.random.Generator) -> Tables:
    """Permuted tables: all there are with their probabilities where they are few, else drawn ones."""

    def tables(draws: int) -> tuple[Iterator[Any], Floats | None, str]:
        listed = all_permuted(counts, within)
        if listed is not None:
            return iter([listed[0]]), listed[1], "exact"
        return permuted(counts, draws, rng, within), None, f"{draws} permutations"

    return tables


def _size(m: ScoreMeasure, counts: Any, options: ScoreOptions) -> Callable[[Any], Floats]:
    """The size of a gap as a function of permuted tables, and of the observed one.

    A density needs a bandwidth. That of both groups together stays the same whoever is in which.
    """
    grid = m.grid(alike(counts), options) if m.smooth and m.grid else None
    return lambda tables: m.curve(tables, options, grid).norm(m.order)
