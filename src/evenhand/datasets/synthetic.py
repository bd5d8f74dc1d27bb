"""Synthetic scores of the published experiments, as columns that `evenhand.audit` takes."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import UsageError, shown
from evenhand.tables.arrays import Pair


def two_normals(
    n: int,
    means: Pair = (0.3, 0.4),
    sd: float = 0.1,
    *,
    squash: bool = True,
    rng: int | np.random.Generator | None = None,
) -> dict[str, NDArray[np.generic]]:
    """Scores of two groups from normal distributions: Figure 3 of Han, Jiang et al. (2023), on errors of estimates.

    Of `n` people half are in group a and half in group b, with these means and this standard deviation; `squash` maps
    them into (0, 1) by the logistic function, as they do. Their two settings are means of 0.3 and 0.4, and 0.2 and 0.4.

    >>> people = two_normals(1000, rng=0)
    >>> sorted(people), len(people["score"]), float(people["score"].mean().round(3))
    (['group', 'score'], 1000, 0.585)
    """
    sizes = _sizes(n, 2)
    if not 0 < _number(sd) < np.inf:
        raise UsageError(f"a standard deviation is positive and finite, not {shown(sd)}")
    if not isinstance(means, Sequence | np.ndarray) or len(means) != 2 or not np.isfinite([*map(_number, means)]).all():
        raise UsageError(f"means are two finite numbers, one for each group, such as (0.3, 0.4), not {shown(means)}")
    generator = _generator(rng)
    score = np.concatenate([generator.normal(m, sd, size) for m, size in zip(means, sizes, strict=True)])
    return {
        "score": 1 / (1 + np.exp(-score)) if squash else score,
        "group": np.repeat(np.array(["a", "b"]), sizes),
    }


def four_normals(
    n: int, r: float = 1.0, *, rng: int | np.random.Generator | None = None
) -> dict[str, NDArray[np.generic]]:
    """Scores of two groups and two outcomes from normal distributions: Figure 2 of Becker et al. (2024).

    A quarter of `n` people each. With a favourable outcome (label 1) scores are N(r, 0.36·r) in group a and
    N(1.2·r, 0.5625·r) in group b; otherwise N(−1, 0.5) and N(−1.3, 0.6), whatever `r`; the second number is a
    variance. The larger `r`, the farther the groups are apart among people with the favourable outcome, and the farther
    these are from all others.

    >>> people = four_normals(1000, r=4, rng=0)
    >>> sorted(people), len(people["score"]), int(people["label"].sum())
    (['group', 'label', 'score'], 1000, 500)
    """
    sizes = _sizes(n, 4)
    if not 0 < _number(r) < np.inf:
        raise UsageError(f"the scaling factor r is positive and finite, not {shown(r)}")
    generator = _generator(rng)
    drawn = [
        generator.normal(mean, np.sqrt(variance), size)
        for (mean, variance), size in zip(normals_of(r).values(), sizes, strict=True)
    ]
    return {
        "score": np.concatenate(drawn),
        "group": np.repeat(np.array(["a", "a", "b", "b"]), sizes),
        "label": np.repeat(np.array([1, 0, 1, 0]), sizes),
    }


def normals_of(r: float) -> dict[tuple[str, int], Pair]:
    """Mean and variance by group and label in that experiment."""
    return {
        ("a", 1): (r, 0.36 * r),
        ("a", 0): (-1.0, 0.5),
        ("b", 1): (1.2 * r, 0.5625 * r),
        ("b", 0): (-1.3, 0.6),
    }


def _sizes(n: int, parts: int) -> list[int]:
    """As equal as can be; the first get what is left over."""
    if not isinstance(n, int | np.integer) or n < parts:
        raise UsageError(f"n must be a whole number of people, at least {parts}, not {shown(n)}")
    return [n // parts + (i < n % parts) for i in range(parts)]


def _number(value: Any) -> float:
    """As a number; NaN if it is none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _generator(rng: Any) -> np.random.Generator:
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0):
        raise UsageError(f"rng is a seed, a whole number from 0, or a numpy Generator, not {shown(rng)}")
    return np.random.default_rng(rng)
