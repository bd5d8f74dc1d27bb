"""Several scores of the same people, counted together: resampling them apart would lose who is who."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.cells import Attribute
from evenhand.tables.table import Meaning, Table
from evenhand.tables.verbs import Asked


@dataclass(frozen=True)
class JointTable(Asked):
    """People by the scores of several models × group × label."""

    names: tuple[str, ...]
    scores: Floats
    """The combinations of scores that occur, one row each, in their order."""
    index: Table
    """The cells, with the number of a combination in place of a score."""
    meaning: Meaning
    """How to read each of the scores."""
    precision: tuple[str | None, ...] = ()
    """The type of fewer than 64 bits that each score had, if any."""

    @classmethod
    def of_cells(
        cls,
        scores: Sequence[Floats],
        names: Sequence[str],
        meaning: Meaning,
        precision: Sequence[str | None] = (),
        **cells: Any,
    ) -> JointTable:
        """From cells in any order, some of which may be the same."""
        combined, which = _distinct(np.stack(scores, axis=1) + 0.0)  # negative zero is zero
        index = Table.of_cells(score=which.astype(np.float64), meaning=replace(meaning, score_range=None), **cells)
        return cls(tuple(names), combined, index, meaning, tuple(precision) or (None,) * len(names))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.index.attributes

    def crossed(self, depth: int | None) -> JointTable:
        """The same people by the intersections of up to `depth` attributes."""
        return replace(self, index=self.index.crossed(depth))

    @property
    def combination(self) -> Ints:
        """Which combination of scores the people of each cell have."""
        assert self.index.score is not None
        return self.index.score.astype(np.int64)

    def score_of_cells(self, model: int) -> Floats:
        """What one model says of the people of each cell."""
        return np.asarray(self.scores[self.combination, model])

    def of(self, model: int) -> Table:
        """The table of one model alone."""
        t = self.index
        return Table.of_cells(
            **t._same_people() | {"provenance": replace(t.provenance, precision=self.precision[model])},
            score=self.score_of_cells(model),
            label=t.label,
            cluster=t.cluster,
            meaning=replace(self.meaning, score=self.names[model]),
        )


def _distinct(rows: Floats) -> tuple[Floats, Ints]:
    """The distinct rows in order, and which of them each row is."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(new) - 1
    return ordered[new], which
