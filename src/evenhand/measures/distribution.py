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

    bandwidths: tuple[float, float] = (np.nan, np.nan)


def densities(counts: ScoreCounts, options: ScoreOptions, people: Floats | None = None) -> tuple[Density, Density]:
    """The density of the group and of its reference, on the score range from 0 to 1."""
    people = counts.of() if people is None else people
    # resamples have no weights of their own: each of their people counts
    effective = [None, None] if counts.exchangeable else counts.people().tolist()
    how = options.bandwidth
    if how == "common":
        how = _common_width(counts.unit, people, effective)
    a, b = (estimate(counts.unit, people[g], how, effective[g]) for g in (0, 1))
    return a, b


def _common_width(x: Floats, people: Floats, effective: Sequence[float | None]) -> float | str:
    """Scott's rule for both groups: their standard deviation within groups, and the harmonic mean of their sizes.

    For groups alike in size and spread it is Scott's own. Where a group has no density by itself, Scott's rule says so.
    """
    widths = [bandwidth(x[mass > 0], mass[mass > 0], "scott", n) for mass, n in zip(people, effective, strict=True)]
    if np.isnan(widths).any():
        return "scott"
    n = np.array([mass.sum() if known is None else known for mass, known in zip(people, effective, strict=True)])
    variance = (np.array(widths) * n**0.2) ** 2  # n − 1 in the denominator
    within = ((n - 1) * variance).sum() / (n.sum() - 2)
    return float(np.sqrt(within) * (2 / (1 / n).sum()) ** -0.2)


def area(counts: ScoreCounts, options: ScoreOptions, like: Curve | None = None) -> Curve:
    """f_group − f_reference over the score range: its L1 norm is ABPC."""
    x, a, b, weight, widths = _both(counts, options, like)
    return Densities(x, a - b, weight, bandwidths=widths)


def information(counts: ScoreCounts, options: ScoreOptions, like: Curve | None = None) -> Curve:
    """A curve whose squared L2 norm is the mutual information of score and group, in nats.

    H(score) − Σ P(g) H(score | g) = ∫ Σ P(g) f_g log(f_g / f) with f = Σ P(g) f_g. That integrand is nowhere
    negative; the curve is its root, with the sign of f_group − f_reference.
    """
    x, a, b, weight, widths = _both(counts, options, like)
    sizes = counts.sizes()
    with np.errstate(invalid="ignore", divide="ignore"):
        share = sizes / sizes.sum(-1, keepdims=True)
    p, q = share[..., :1], share[..., 1:]
    mixed = p * a + q * b
    with np.errstate(invalid="ignore", divide="ignore"):
        # a density may be so small that its share of the mixture is none
        terms = (np.where(s * f > 0, s * f * np.log(f / mixed), 0.0) for s, f in ((p, a), (q, b)))
        integrand = np.maximum(sum(terms), 0.0)
    undefined = np.isnan(a + b)
    return Densities(x, np.where(undefined, np.nan, np.sign(a - b) * np.sqrt(integrand)), weight, bandwidths=widths)


def _both(
    counts: ScoreCounts, options: ScoreOptions, like: Curve | None
) -> tuple[Floats, Floats, Floats, Floats, tuple[float, float]]:
    """Points, the two densities there, the weights of an integral, and the bandwidths."""
    people = counts.of()
    if isinstance(like, Densities):
        # The bandwidths stay, so a density is a linear function of the counts.
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = people / counts.sizes()[..., None]
        a, b = (_smoothed(shares[..., g, :], counts.unit, like.at, w) for g, w in enumerate(like.bandwidths))
        return like.at, a, b, like.weight, like.bandwidths
    if people.ndim > 2:
        x, a, b, weight = rowwise(
            lambda row: _drawn(*densities(counts, options, row.reshape(people.shape[-2:])))[:4],
            people.reshape(*people.shape[:-2], -1),
        )
        return x, a, b, weight, (np.nan, np.nan)
    return _drawn(*densities(counts, options))


def _drawn(a: Density, b: Density) -> tuple[Floats, Floats, Floats, Floats, tuple[float, float]]:
    x = common_grid(a, b)
    return x, a(x), b(x), trapezoid_weights(x), (a.bandwidth, b.bandwidth)


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
    a, b = densities(counts, options)
    x = common_grid(a, b)
    if len(x) > GRID:
        steps = np.diff(x)
        height = (a(x) + b(x))[1:] * steps
        place = np.cumsum(np.r_[0.0, steps + height / max(float(height.sum()), 1e-300)]) / 2
        wanted = np.linspace(0, place[-1], GRID)
        x = np.unique(np.interp(wanted, place, x))
    return Densities(x, np.zeros(len(x)), trapezoid_weights(x), bandwidths=(a.bandwidth, b.bandwidth))


def alike(counts: ScoreCounts) -> ScoreCounts:
    """Two groups with the scores of both together, each as large as it is."""
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
