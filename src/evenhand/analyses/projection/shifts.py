"""The most favourable distribution: where people go until the criterion holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import DataError
from evenhand.ingest.engines.dataframes import as_values
from evenhand.ingest.values import encode
from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.ranges import Spans

LABELS: dict[int | None, str] = {1: "favourable", 0: "unfavourable", None: "any"}
"""People with one label, or all of them."""


@dataclass(frozen=True)
class Shifts:
    """Where the people of each cell go."""

    groups: tuple[str, ...]
    score: Floats
    logit: Floats
    which: Ints
    """Of each cell, its group."""
    label: Bools | None
    """None if the data have none."""
    cell: Ints
    n: Floats
    shifted: Floats
    k: Floats
    spans: Spans | None = None
    """Where scores are known in ranges; a cell stands at the middle of its own."""

    def of_rows(self, values: Floats, names: Any, favourable: Bools | None, logits: bool) -> Floats:
        """The shifted logit of each row. In a range everybody moves as far as its middle."""
        if self.label is None or favourable is None:
            alike = replace(self, label=np.zeros(len(self.logit), np.bool_))
            return alike.of_rows(values, names, np.zeros(len(values), np.bool_), logits)
        if self.spans is not None:
            middle = self.spans.moved(values)
            there = replace(self, spans=None).of_rows(middle, names, favourable, logits)
            inside = middle != values
            if not logits:
                values, middle = logit_of(values), logit_of(middle)
            there[inside] += values[inside] - middle[inside]
            return there
        found = np.full(len(values), np.nan)
        cells = self.logit if logits else self.score
        places = np.argsort(self.cell, kind="stable")  # where each cell's people go, one or two places a cell
        first = np.searchsorted(self.cell[places], np.arange(len(cells)))
        last = np.searchsorted(self.cell[places], np.arange(len(cells)), side="right") - 1
        for g, name in enumerate(self.groups):
            for y in (False, True):
                own = np.flatnonzero((self.which == g) & (self.label == y))
                own = own[np.argsort(cells[own], kind="stable")]
                rows = np.flatnonzero((names == name) & (favourable == y))
                place = np.minimum(np.searchsorted(cells[own], values[rows]), len(own) - 1)
                if len(rows) and (not len(own) or (cells[own[place]] != values[rows]).any()):
                    raise DataError("some of these rows were not among those tested: pass the same columns")
                cell = own[place]
                order = np.argsort(cell, kind="stable")
                rank = np.empty(len(rows))
                rank[order] = np.arange(len(rows)) - np.searchsorted(cell[order], cell[order])
                one = rank < np.rint(self.n[places[first[cell]]])
                found[rows] = self.shifted[places[np.where(one, first[cell], last[cell])]]
        return found

    def columns(self) -> dict[str, Any]:
        """One entry for each cell, two where its people are divided."""
        order = np.argsort(self.cell, kind="stable")
        cell, shifted = self.cell[order], self.shifted[order]
        return {
            "score": self.score[cell],
            "group": np.array(self.groups, object)[self.which[cell]],
            **(
                {} if self.label is None else {"label": np.where(self.label[cell], LABELS[1], LABELS[0]).astype(object)}
            ),
            "n": self.n[order],
            "logit": self.logit[cell],
            "shifted_logit": shifted,
            "shifted_score": sigma(shifted),
            "k": self.k[order],
        }


def each(values: Any, key: Callable[[Any], Any]) -> NDArray[Any]:
    """The key of every value of a column, each distinct one asked for once.

    >>> from evenhand.ingest.values import label_key
    >>> each([1, 0, None, 1], label_key).tolist()
    ['1', '0', None, '1']
    """
    codes, distinct = encode(as_values(values)[0])
    return np.array([*map(key, distinct), None], object)[codes]


def logit_of(p: Floats) -> Floats:
    """Probabilities → logits; those of 0 and 1 are infinitely far."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p) - np.log1p(-p))


def sigma(z: Floats) -> Floats:
    """Logits → probabilities."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-z)))
