"""The gap of two means with group labels permuted: all ways there are of few people, some drawn of more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.inference.permutation import MOST_TABLES
from evenhand.tables.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class PermutedGap:
    """The squared gap of two means over its variance about the other mean, and what it is with labels permuted."""

    here: float
    null: Floats
    chance: Floats | None
    """How probable each is, where these are all there are; None if they were drawn."""

    def drawn(self, draws: int, rng: np.random.Generator) -> Floats:
        return self.null if self.chance is None else rng.choice(self.null, draws, p=self.chance)


def permuted_p_value(gaps: Sequence[PermutedGap], large: float | None, draws: int, rng: np.random.Generator) -> float:
    """How often the sum of one or two independent gaps is as large as here; `large` is one whose law is χ²₁.

    >>> few = PermutedGap(1.0, np.array([0.0, 1.0]), np.array([0.75, 0.25]))
    >>> rng = np.random.default_rng(0)
    >>> permuted_p_value([few], None, 99, rng), permuted_p_value([few, few], None, 99, rng)
    (0.25, 0.0625)
    >>> round(permuted_p_value([few], 3.84, 99, rng), 3)  # 0.75 P(χ² ≥ 4.84) + 0.25 P(χ² ≥ 3.84)
    0.033
    """
    here = (sum(g.here for g in gaps) + (large or 0.0)) * (1 - 1e-9)
    one, *others = gaps
    if others and one.chance is not None and others[0].chance is not None:
        order = np.argsort(others[0].null)
        least = np.searchsorted(others[0].null[order], here - one.null)
        above = np.append(np.cumsum(others[0].chance[order][::-1])[::-1], 0.0)
        return _whole(float((one.chance * above[least]).sum()))
    null = one.null if not others else one.drawn(draws, rng) + others[0].drawn(draws, rng)
    beyond = np.where(null >= here, 1.0, 0.0) if large is None else _chi2_tail(here - null)
    if one.chance is not None and not others:
        return _whole(float((one.chance * beyond).sum()))
    return float((1 + beyond.sum()) / (1 + len(null)))


def _whole(p: float) -> float:
    """A sum of all probabilities is 1 but for rounding."""
    return p if p < 1 - 1e-12 else 1.0


def _chi2_tail(x: Floats) -> Floats:
    from scipy.special import erfc

    return np.asarray(erfc(np.sqrt(np.maximum(x, 0.0) / 2)))


def permuted_means(values: Floats, n: Ints, group: Bools, permutations: int, rng: np.random.Generator) -> PermutedGap:
    """The gap here, and with group labels permuted: in all ways there are if these are few, or in some.

    >>> values, n, group = np.array([0.1, 0.2, 0.8, 0.9]), np.ones(4, int), np.array([True, True, False, False])
    >>> gap = permuted_means(values, n, group, 999, np.random.default_rng(0))
    >>> p = permuted_p_value([gap], None, 999, np.random.default_rng(0))
    >>> round(gap.here, 2), round(p, 3)  # one of three ways to part four people in pairs
    (0.99, 0.333)
    """
    least = min(True, False, key=lambda which: n[group == which].sum())  # whom to draw: the fewer people
    some = group == least
    sizes = np.array([n[some].sum(), n[~some].sum()], np.float64)
    total, squares = float((n * values).sum()), float((n * values**2).sum())

    def ratio(sums: Floats, sums_of_squares: Floats) -> Floats:
        mean = [sums / sizes[0], (total - sums) / sizes[1]]
        square = [sums_of_squares / sizes[0], (squares - sums_of_squares) / sizes[1]]
        gap2 = (mean[0] - mean[1]) ** 2
        noise = sum((square[i] - mean[i] ** 2 + gap2) / sizes[i] for i in (0, 1))
        return np.asarray(np.divide(gap2, noise, out=np.zeros_like(gap2), where=noise > 0))

    own = np.array([(n * values)[some].sum()]), np.array([(n * values**2)[some].sum()])
    # Cells in an order that is the same whatever the rows' order, and for 1 − values: so are the draws.
    rising = own[0][0] / sizes[0] >= (total - own[0][0]) / sizes[1]
    order = np.argsort(values if rising else -values, kind="stable")
    here, size = float(ratio(*own)[0]), int(sizes[0])
    splits = _all_sums(values[order], n[order], size)
    if splits is not None:
        *sums, chance = splits
        return PermutedGap(here, ratio(*sums), chance)
    people, last = int(sizes.sum()), np.cumsum(n[order])
    drawn = [rng.choice(people, size, replace=False, shuffle=False) for _ in range(permutations)]
    x = values[order][np.searchsorted(last, np.array(drawn).reshape(permutations, size), side="right")]
    return PermutedGap(here, ratio(x.sum(1), (x * x).sum(1)), None)


def _all_sums(values: Floats, n: Ints, wanted: int) -> tuple[Floats, Floats, Floats] | None:
    """Of all ways to take `wanted` people from cells: the sums, the sums of squares, and how probable each is."""
    from scipy.special import gammaln

    if math.comb(len(n), min(wanted, len(n) // 2, 14)) > MOST_TABLES:  # there are so many at least: one of a cell
        return None
    left, rest = np.array([wanted]), int(n.sum())
    sums, squares, chance = np.zeros(1), np.zeros(1), np.zeros(1)
    for value, people in zip(values.tolist(), n.tolist(), strict=True):
        rest -= people
        low, high = np.maximum(0, left - rest), np.minimum(people, left)
        choices = high - low + 1
        if choices.sum() > MOST_TABLES:
            return None
        parent = np.repeat(np.arange(len(left)), choices)
        taken = np.arange(len(parent)) - np.repeat(np.cumsum(choices) - choices, choices) + low[parent]
        left = left[parent] - taken
        sums, squares = sums[parent] + taken * value, squares[parent] + taken * value**2
        chance = chance[parent] + gammaln(people + 1) - gammaln(taken + 1) - gammaln(people - taken + 1)
    probability = np.exp(chance - chance.max())
    return sums, squares, probability / probability.sum()
