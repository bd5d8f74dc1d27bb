"""Area between densities, mutual information, and where the area between CDFs comes from (Han, Jiang et al. 2023).

ABCC and ΔDP_c need no function of their own: they are the independence bias with even weights and its signed sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.measures.curve import Curve, ScoreOptions, rowwise
from evenhand.measures.density import Density, bandwidth, common_grid, estimate, trapezoid_weights
from evenhand.tables.arrays import Floats
from evenhand.tables.scores import ScoreCounts
from evenhand.tables.table import bin_edges

GRID = 512
EXACT = 2.0**26


@dataclass(frozen=True)
class Densities(Curve):
    """A curve that remembers the bandwidths it was drawn with."""

    bandwidths: tuple[float, ...] = (np.nan, np.nan)


def densities(counts: ScoreCounts, options: ScoreOptions, people: Floats | None = None) -> tuple[Density, ...]:
    """The density of every group, the reference last, on the score range from 0 to 1."""
    people = counts.of() if people is None else people
    # resamples have no weights of their own: each of their people counts
    effective = [None] * len(people) if counts.exchangeable else counts.people().tolist()
    return _estimates([counts.unit] * len(people), list(people), effective, options)


def densities_of(alone: Sequence[ScoreCounts], options: ScoreOptions) -> tuple[Density, ...]:
    """The same of groups that were counted one by one, each at its own scores."""
    effective = [None if one.exchangeable else float(one.people()[0]) for one in alone]
    return _estimates([one.unit for one in alone], [one.of()[0] for one in alone], effective, options)


def _estimates(
    at: Sequence[Floats], people: Sequence[Floats], effective: Sequence[float | None], options: ScoreOptions
) -> tuple[Density, ...]:
    how = options.bandwidth
    if how == "common":
        how = _common_width(at, people, effective)
    return tuple(estimate(x, mass, how, n) for x, mass, n in zip(at, people, effective, strict=True))


def _common_width(at: Sequence[Floats], people: Sequence[Floats], effective: Sequence[float | None]) -> float | str:
    """Scott's rule for all groups: their standard deviation within groups, and the harmonic mean of their sizes.

    For groups alike in size and spread it is Scott's own. Where a group has no density by itself, Scott's rule says so.
    """
    each = zip(at, people, effective, strict=True)
    widths = [bandwidth(x[mass > 0], mass[mass > 0], "scott", n) for x, mass, n in each]
    if np.isnan(widths).any():
        return "scott"
    n = np.array([mass.sum() if known is None else known for mass, known in zip(people, effective, strict=True)])
    variance = (np.array(widths) * n**0.2) ** 2  # n − 1 in the denominator
    within = ((n - 1) * variance).sum() / (n.sum() - len(n))
    return float(np.sqrt(within) * (len(n) / (1 / n).sum()) ** -0.2)


def area(counts: ScoreCounts, options: ScoreOptions, like: Curve | None = None) -> Curve:
    """f_group − f_reference over the score range: its L1 norm is ABPC."""
    x, (a, b), weight, widths = _every(counts, options, like)
    return Densities(x, a - b, weight, bandwidths=widths)


def information(counts: ScoreCounts, options: ScoreOptions, like: Curve | None = None) -> Curve:
    """A curve whose squared L2 norm is the mutual information of score and group, in nats.

    H(score) − Σ P(g) H(score | g) = ∫ Σ P(g) f_g log(f_g / f) with f = Σ P(g) f_g. That integrand is nowhere
    negative; the curve is its root, of two groups with the sign of f_group − f_reference.
    """
    x, f, weight, widths = _every(counts, options, like)
    share, mixed = _mixture(counts, f)
    with np.errstate(invalid="ignore", divide="ignore"):
        # a density may be so small that its share of the mixture is none
        terms = (np.where(s * own > 0, s * own * np.log(own / mixed), 0.0) for s, own in zip(share, f, strict=True))
        integrand = np.maximum(sum(terms), 0.0)
    sign = np.sign(f[0] - f[1]) if len(f) == 2 else 1.0
    undefined = np.isnan(sum(f))
    return Densities(x, np.where(undefined, np.nan, sign * np.sqrt(integrand)), weight, bandwidths=widths)


def information_by_group(counts: ScoreCounts, options: ScoreOptions, like: Curve | None = None) -> Curve:
    """The same norm, told apart by group, so that differences of such curves know which group moved.

    P(g) (f_g log(f_g / f) − f_g + f) is nowhere negative, and what is added is 0 over all groups. Each group's part of
    the curve is the root of that, with the sign of f_g − f; near independence it is f_g − f times √(P(g) / 2f).
    """
    x, f, weight, widths = _every(counts, options, like)
    share, mixed = _mixture(counts, f)
    parts = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for s, own in zip(share, f, strict=True):
            told = np.where(own > 0, own * np.log(own / mixed), 0.0) - own + mixed
            parts.append(np.sign(own - mixed) * np.sqrt(np.maximum(s * told, 0.0)))
    many = len(f)
    return Densities(np.tile(x, many), np.concatenate(parts, -1), np.tile(weight, many), bandwidths=widths)


def _mixture(counts: ScoreCounts, f: Sequence[Floats]) -> tuple[list[Floats], Floats]:
    """The share of each group, axes (…, 1), and the density of everybody."""
    sizes = counts.sizes()
    with np.errstate(invalid="ignore", divide="ignore"):
        share = sizes / sizes.sum(-1, keepdims=True)
    each = [share[..., g : g + 1] for g in range(len(f))]
    return each, np.asarray(sum(s * own for s, own in zip(each, f, strict=True)))


def mutual_information(groups: Sequence[Density], sizes: Floats) -> float:
    """I(score; group) in nats of any number of groups, from their densities and sizes.

    >>> flat, steep = (Density(np.array([0.0, 1.0]), np.array(y), 0.1) for y in ([1.0, 1.0], [0.0, 2.0]))
    >>> round(mutual_information([flat, flat, flat], np.array([3, 2, 1])), 9)
    0.0
    >>> 0 < mutual_information([flat, flat, steep], np.array([3, 2, 1])) < float(np.log(2))
    True
    """
    x, share = common_grid(*groups), sizes / sizes.sum()
    mixed = np.asarray(sum(s * own(x) for s, own in zip(share, groups, strict=True)))
    integrand = np.zeros(len(x))
    with np.errstate(invalid="ignore", divide="ignore"):
        for s, own in zip(share, groups, strict=True):
            f = own(x)
            integrand += np.where(s * f > 0, s * f * np.log(f / mixed), 0.0)
    return float((np.maximum(integrand, 0.0) * trapezoid_weights(x)).sum())


def _every(
    counts: ScoreCounts, options: ScoreOptions, like: Curve | None
) -> tuple[Floats, Sequence[Floats], Floats, tuple[float, ...]]:
    """Points, the density of every group there, the weights of an integral, and the bandwidths."""
    people = counts.of()
    if isinstance(like, Densities):
        return like.at, densities_at(counts, like), like.weight, like.bandwidths
    if people.ndim > 2:
        x, weight, *f = rowwise(
            lambda row: _drawn(*densities(counts, options, row.reshape(people.shape[-2:]))),
            people.reshape(*people.shape[:-2], -1),
        )
        return x, f, weight, (np.nan,) * len(f)
    every = densities(counts, options)
    x, weight, *f = _drawn(*every)
    return x, f, weight, tuple(one.bandwidth for one in every)


def densities_at(counts: ScoreCounts, grid: Densities) -> list[Floats]:
    """The density of every group at the points of a grid, with its bandwidths: linear functions of the counts."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts.of() / counts.sizes()[..., None]
    return [_smoothed(shares[..., g, :], counts.unit, grid.at, w) for g, w in enumerate(grid.bandwidths)]


def _drawn(*every: Density) -> tuple[Floats, ...]:
    x = common_grid(*every)
    return x, trapezoid_weights(x), *(one(x) for one in every)


def _smoothed(shares: Floats, scores: Floats, x: Floats, width: float) -> Floats:
    """Kernel density at x of shares (…, score).

    Shares and kernel are rounded to whole numbers of 1/2²⁶, so that their product is exact: the same to the last digit
    however a library of linear algebra divides the work.
    """
    kernel = np.rint(np.exp(-0.5 * ((x - scores[:, None]) / width) ** 2) * EXACT)
    height = 1 / (width * np.sqrt(2 * np.pi))
    return np.asarray(np.rint(shares * EXACT) @ kernel * (height / EXACT**2))


def sparse_grid(counts: ScoreCounts, options: ScoreOptions) -> Densities:
    """Some hundred points of [0, 1], half of them spread evenly and half where the people are."""
    every = densities(counts, options)
    x = common_grid(*every)
    if len(x) > GRID:
        steps = np.diff(x)
        height = np.asarray(sum(one(x) for one in every))[1:] * steps
        place = np.cumsum(np.r_[0.0, steps + height / max(float(height.sum()), 1e-300)]) / 2
        wanted = np.linspace(0, place[-1], GRID)
        x = np.unique(np.interp(wanted, place, x))
    return Densities(x, np.zeros(len(x)), trapezoid_weights(x), bandwidths=tuple(one.bandwidth for one in every))


def alike(counts: ScoreCounts) -> ScoreCounts:
    """Groups with the scores of all together, each as large as it is."""
    size = counts.array.sum((-3, -1))
    share = counts.array.sum(-2, keepdims=True) / size.sum()
    return replace(counts, array=share * size[:, None])


@dataclass(frozen=True)
class BiasDensity:
    """Where ABCC comes from (Han, Jiang et al. 2023, §5.5.2): people of both groups matched in order of score.

    Axes are (bin of the group's score, bin of the reference's). The coupling sums to 1, the density to ABCC.
    """

    edges: Floats
    coupling: Floats
    density: Floats

    @property
    def group(self) -> Floats:
        """ABCC by the score of the group's people."""
        return np.asarray(self.density.sum(1))

    @property
    def reference(self) -> Floats:
        """ABCC by the score of the reference's people."""
        return np.asarray(self.density.sum(0))


def bias_density(counts: ScoreCounts, bins: int = 50) -> BiasDensity:
    """The monotone coupling of two groups, and how much of ABCC each of its cells holds.

    >>> import evenhand
    >>> from evenhand.tables.scores import ScoreView
    >>> table = evenhand.compas()
    >>> found = bias_density(ScoreView(table, table.grouping("race"))([0, 1]), bins=10)
    >>> round(float(found.coupling.sum()), 6), round(float(found.density.sum()), 3)
    (1.0, 0.182)
    """
    f = counts.cdf()
    shares = np.unique(f)
    mass = np.diff(shares, prepend=0.0)
    x, y = (np.minimum(np.searchsorted(f[g], shares - mass / 2), len(counts.unit) - 1) for g in (0, 1))
    bin_of = counts.bin_of_scores(bins)
    cell = bin_of[x] * bins + bin_of[y]
    distance = np.abs(counts.unit[x] - counts.unit[y])
    matrices = (np.bincount(cell, weights=w, minlength=bins * bins) for w in (mass, mass * distance))
    coupling, found = (np.asarray(m, np.float64).reshape(bins, bins) for m in matrices)
    edges = bin_edges(counts.score_range, bins)
    return BiasDensity(edges[::-1] if counts.risk else edges, coupling, found)
