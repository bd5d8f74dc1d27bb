"""What was added to the counts of a private table, and what that guarantees."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILONS = (0.001, 20.0)
"""Less would leave nothing, more would protect nobody."""


@dataclass(frozen=True)
class Noise:
    """Discrete Laplace noise on every cell of a grid that was fixed without looking at the data.

    >>> Noise(1.0).variance.__round__(3), (Noise(1.0) + Noise(0.5))
    (1.841, Noise(epsilon=1.0, total=1.5, tables=2, stated=False))
    """

    epsilon: float
    """The guarantee for a person who is in one of the tables that were added up: the weakest of them."""
    total: float = 0.0
    """The guarantee for a person who is in all of them: their sum."""
    tables: int = 1
    stated: bool = False
    """Whether all groups there can be were stated, so that not even their names come from the data."""

    def __post_init__(self) -> None:
        if not self.total:
            object.__setattr__(self, "total", self.epsilon)

    def __add__(self, other: Noise) -> Noise:
        return Noise(
            max(self.epsilon, other.epsilon),
            self.total + other.total,
            self.tables + other.tables,
            self.stated and other.stated,
        )

    @property
    def variance(self) -> float:
        """Of the noise on one cell of one table."""
        q = exp(-self.epsilon)
        return 2 * q / (1 - q) ** 2

    @property
    def guarantee(self) -> str:
        """As a sentence."""
        text = (
            f"pure differential privacy with ε = {self.epsilon:g} for each row: whether or not a row is in the data "
            f"changes the chance of any table by a factor of at most e^ε = {exp(self.epsilon):.3g}"
        )
        if not self.stated:
            text += ", as long as it does not bring a group of its own: the names of groups that occur are public"
        if self.tables > 1:
            text += (
                f"; {self.tables:,} tables were added up, so this holds if every row is in one of them only, and "
                f"ε = {self.total:g} for what is in all of them"
            )
        return text

    @property
    def note(self) -> str:
        """What a reader of the table must know."""
        names = "columns" if self.stated else "columns and of groups that occur"
        return (
            f"the counts hold noise, so that nobody can tell whether a row is in the data ({self.guarantee}); the "
            f"names of {names} and the grid of scores are public, and further tables of the same people add to ε"
        )

    def to_dict(self) -> dict[str, Any]:
        """For a file; those from before groups could be stated do not say so."""
        found = {"epsilon": self.epsilon, "total": self.total, "tables": self.tables}
        return found | ({"stated": True} if self.stated else {})


def rising(noisy: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    """Non-negative counts near noisy ones: of cumulative counts that never fall, those least far from the noisy ones.

    Rates and curves are made of cumulative counts. Cutting negative counts off instead would add people wherever there
    are none; this moves no cumulative count by more than the noise moved one of them.

    >>> rising(np.array([5, -2, 1, 4])).tolist()
    [4.0, 0.0, 0.5, 3.5]
    """
    upto = np.cumsum(np.moveaxis(noisy, axis, -1), axis=-1, dtype=np.float64)
    highest = np.maximum.accumulate(upto, axis=-1)
    lowest = np.minimum.accumulate(upto[..., ::-1], axis=-1)[..., ::-1]
    nearest = np.maximum((highest + lowest) / 2, 0.0)
    return np.moveaxis(np.diff(nearest, axis=-1, prepend=0.0), -1, axis)
