"""Whole weights that nobody explained: do they count people, or are they survey weights?

A table of counts has every combination of score, group and label once. Rows of a survey are people, so combinations
repeat, or every row has a score of its own. All that is needed are rows, Σw and Σw² of each combination, which every
engine sums where the data are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import DataError, shown
from evenhand.tables.arrays import Bools, Floats
from evenhand.tables.cells import Attribute, tidy

ENOUGH_ROWS = 20
"""Of fewer rows nobody can tell whether it is chance that their weights are the same, or that their scores differ."""
OWN = 0.9
"""Nearly every row has a score of its own if there are so many distinct ones for each row,"""
HEAVY = 2.0
"""and weights are far above 1 if their mean is at least this."""
ROUNDING = 1e-12
"""Sums of squares of large weights are no more exact."""


@dataclass(frozen=True)
class Seen:
    """What an audit sees of rows: values such as groups and labels, each with the places of its names, and a score."""

    values: Sequence[tuple[Attribute, Any]]
    score: Floats | None = None

    def kept(self, kept: Callable[[Any], Any], **numbers: Any) -> dict[str, Any]:
        """The entries that are kept, with their numbers, as cells in canonical order."""
        codes = np.array([places for _, places in self.values]).reshape(len(self.values), -1)
        picked = {name: kept(array) for name, array in {"codes": codes, "score": self.score, **numbers}.items()}
        return tidy(attributes=tuple(attribute for attribute, _ in self.values), **picked)


def refuse_survey_weights(column: str, cells: dict[str, Any]) -> None:
    """Raise unless these cells, with rows `n` and sums of weights and of their squares, look like a table of counts.

    >>> sex = Seen([(Attribute("sex", ("f", "m")), [0, 1])])
    >>> cells = sex.kept(lambda all: all, n=np.ones(2, int), weight=np.array([3.0, 5.0]), weight2=np.array([9.0, 25.0]))
    >>> refuse_survey_weights("people", cells)
    """
    n, weight, score = cells["n"], cells["weight"], cells["score"]
    differ = n * cells["weight2"] - weight**2 > ROUNDING * weight**2  # 0 where all weights of a combination are one
    again = (n > 1) & (weight > n)
    if differ.any():
        raise _refusal(column, f"{_stand(differ)} in several rows with different weights ({_such(cells, differ)})")
    rows, people = int(n.sum()), float(weight.sum())
    if rows < ENOUGH_ROWS:
        return
    if again.any():
        raise _refusal(column, f"{_stand(again)} in several rows ({_such(cells, again)})")
    own = 0 if score is None else len(np.unique(score))
    if own >= OWN * rows and people >= HEAVY * rows:
        what = f"nearly every row has a score of its own ({own:,} scores in {rows:,} rows)"
        raise _refusal(
            column, f"{what} and would count for {people / rows:,.{2 if people < 100 * rows else 0}f} people on average"
        )


def _stand(which: Bools) -> str:
    some = int(which.sum())
    return "one combination stands" if some == 1 else f"{some:,} combinations stand"


def _such(cells: dict[str, Any], which: Bools) -> str:
    """The combination that stands in most rows, in words."""
    k = int(np.argmax(np.where(which, cells["n"], 0)))
    codes = cells["codes"][:, k].tolist()
    named = [f"{a.name} = {a.groups[c]}" for a, c in zip(cells["attributes"], codes, strict=True)]
    named += [] if cells["score"] is None else [f"score {cells['score'][k]:.6g}"]
    return f"{', '.join(named[-6:])}: {int(cells['n'][k]):,} rows, {cells['weight'][k]:,.0f} in all"


def _refusal(column: str, found: str) -> DataError:
    return DataError(
        f"whole weights count people where every combination of group, label and score stands once, but with the "
        f"weights {shown(column)} {found}: say weight_kind='sampling' (--weight-kind sampling) if these are survey "
        "weights, or weight_kind='frequency' (--weight-kind frequency) if each row counts so many people"
    )
