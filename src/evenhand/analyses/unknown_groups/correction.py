"""Rates of probable groups if the outcome depends on the group alone (or on group and cell), not on the proxies.

Then whoever has probabilities p is selected with probability Σ p_g θ_g, a mixture whose likelihood is concave in θ. It
is maximised by Newton's method; so would be the EM algorithm, more slowly. In each cell rates are drawn to those of all
cells by one person of each group, and these to the rate of everybody, so that a cell of few people has rates at all
(after Chen, Kallus, Mao, Svacha & Udell 2019 and McCartan, Fisher, Goldin, Ho & Imai 2025).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenhand.tables.arrays import Floats, Ints

PRIOR = 1.0
"""So many people of each group are added at the rate that rates are drawn to."""
_STEPS = 60
_NEAR, _NEAR_ENOUGH = 1e-10, 1e-6
"""When steps are small enough: of the rates themselves, and in a resample."""
_EDGE = 1e-9


def corrected(
    p: Floats, hit: Floats, cell: Ints, cells: int, weight: Floats, start: tuple[Floats, Floats] | None = None
) -> tuple[Floats, tuple[Floats, Floats]]:
    """The rate of each group, and the rates without and by cell from which a next fit may start.

    >>> import numpy as np
    >>> p = np.repeat([[.9, .1], [.1, .9]], 1000, axis=0)
    >>> hit = np.r_[np.arange(1000) < 740, np.arange(1000) < 260].astype(float)  # .9 × .8 + .1 × .2, and turned round
    >>> corrected(p, hit, np.zeros(2000, int), 1, np.ones(2000))[0].round(2).tolist()
    [0.8, 0.2]
    """
    near = _NEAR if start is None else _NEAR_ENOUGH
    overall = (weight * hit).sum() / weight.sum()
    groups = p.shape[1]
    first, by_cell = start if start is not None else (np.full((1, groups), overall), None)
    centre = np.full((1, groups), np.clip(overall, _EDGE, 1 - _EDGE))
    whole = _fitted(p, hit, np.zeros(len(p), np.int64), weight, centre, first, near)
    if cells == 1:
        return whole[0], (whole, whole)
    own = _fitted(p, hit, cell, weight, np.repeat(whole, cells, axis=0), by_cell, near)
    mass = np.stack([np.bincount(cell, weight * p[:, g], cells) for g in range(groups)], axis=1)
    return np.asarray((mass * own).sum(0) / mass.sum(0)), (whole, own)


def _fitted(
    p: Floats, hit: Floats, cell: Ints, weight: Floats, centre: Floats, start: Floats | None, near: float
) -> Floats:
    """Rates by cell and group, of the largest likelihood with people added at the centre."""
    theta = np.clip(centre if start is None else start, 1e-6, 1 - 1e-6)
    last = _height(p, hit, cell, weight, centre, theta)
    for _ in range(_STEPS):
        slope, bend = _derivatives(p, hit, cell, weight, centre, theta)
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, (1 - theta) / step, np.where(step < 0, -theta / step, np.inf)).min(1)
        length = np.minimum(1.0, 0.95 * room)[:, None]
        for _ in range(40):
            new = theta + length * step
            height = _height(p, hit, cell, weight, centre, new)
            worse = height < last - 1e-12 * np.abs(last)
            if not worse.any():
                break
            length = np.where(worse[:, None], length / 2, length)
        moved = np.abs(new - theta).max()
        theta, last = np.clip(new, _EDGE, 1 - _EDGE), height
        if moved < near:
            break
    return theta


def _height(p: Floats, hit: Floats, cell: Ints, weight: Floats, centre: Floats, theta: Floats) -> Floats:
    """The logarithm of the likelihood, by cell."""
    chance = np.clip((p * theta[cell]).sum(1), 1e-300, 1 - 1e-16)
    own = weight * np.log(np.where(hit > 0, chance, 1 - chance))
    prior = centre * np.log(theta) + (1 - centre) * np.log1p(-theta)
    return np.asarray(np.bincount(cell, own, len(theta)) + PRIOR * prior.sum(1))


def _derivatives(
    p: Floats, hit: Floats, cell: Ints, weight: Floats, centre: Floats, theta: Floats
) -> tuple[Floats, Floats]:
    """Its slope, and how much it bends down, by cell."""
    chance = np.clip((p * theta[cell]).sum(1), 1e-12, 1 - 1e-12)
    one = np.where(hit > 0, 1 / chance, -1 / (1 - chance))
    slope = _by_cell(cell, len(theta), p * (weight * one)[:, None])
    slope += PRIOR * (centre / theta - (1 - centre) / (1 - theta))
    if len(theta) == 1:
        bend = ((p * (weight * one**2)[:, None]).T @ p)[None]
    else:
        each = (p * (weight * one**2)[:, None])[:, :, None] * p[:, None, :]
        bend = _by_cell(cell, len(theta), each.reshape(len(p), -1)).reshape(len(theta), p.shape[1], -1)
    places = np.arange(p.shape[1])
    bend[:, places, places] += PRIOR * (centre / theta**2 + (1 - centre) / (1 - theta) ** 2)
    return slope, bend


def _by_cell(cell: Ints, cells: int, values: Floats) -> Floats:
    """Sums of rows by cell."""
    if cells == 1:
        return np.asarray(values.sum(0, keepdims=True))
    return np.stack([np.bincount(cell, column, cells) for column in values.T], axis=1)


def doubt(p: Floats, hit: Floats) -> float:
    """The largest standard error of a corrected rate; infinite if nothing tells the groups apart."""
    rate = np.clip(hit.mean(), 1 / len(hit), 1 - 1 / len(hit))
    known = p.T @ p / (rate * (1 - rate))
    if np.linalg.cond(known) > 1e12:
        return float("inf")
    return float(np.sqrt(np.diag(np.linalg.inv(known)).max()))


def resampled(people: int, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each person is drawn: as many people as there are, with replacement."""
    for _ in range(draws):
        yield np.bincount(rng.integers(0, people, people), minlength=people).astype(np.float64)
