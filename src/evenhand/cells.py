"""Cells in canonical order, so that equal counts make equal tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Attribute:
    """A column that divides people into groups, and the names of its groups."""

    name: str
    groups: tuple[str, ...]


def tidy(
    *,
    attributes: tuple[Attribute, ...],
    codes: Ints,
    n: Ints,
    score: Floats | None = None,
    decision: Bools | None = None,
    label: Bools | None = None,
    weight: Floats | None = None,
    weight2: Floats | None = None,
) -> dict[str, Any]:
    """Cells in canonical order: sorted, those that are the same added up, groups without people forgotten."""
    attributes, codes = _without_empty(attributes, codes)
    small = np.zeros(len(n), np.int64)
    for part in (decision, label):
        if part is not None:
            small = small * 2 + part
    for attribute, row in zip(attributes, codes, strict=True):
        if small.size and int(small.max()) > 2**62 // max(len(attribute.groups), 1):
            small = np.unique(small, return_inverse=True)[1].reshape(-1)
        small = small * len(attribute.groups) + row
    if score is not None:
        score = score + 0.0  # negative zero is zero
    order, starts = _runs(small, score)

    def first(array: Any) -> Any:
        return None if array is None else (array if order is None else array[order])[starts]

    def total(array: Any) -> Any:
        if array is None or not len(starts):
            return array
        return np.add.reduceat(array if order is None else array[order], starts)

    return {
        "attributes": attributes,
        "codes": np.array([first(row) for row in codes], np.int64).reshape(len(attributes), -1),
        "n": total(n),
        "score": first(score),
        "decision": first(decision),
        "label": first(label),
        "weight": total(weight),
        "weight2": total(weight2),
    }


def _runs(small: Ints, score: Floats | None) -> tuple[Ints | None, Ints]:
    """The order that sorts cells by score and the rest (None if they are sorted), and where each cell starts."""
    keys = [small] if score is None else [small, score]
    if len(small) == 0:
        return None, np.zeros(0, np.int64)

    def ascending(step: Any) -> bool:
        return bool(step.all())

    if score is None:
        in_order = ascending(small[1:] >= small[:-1])
    else:
        in_order = ascending(score[1:] >= score[:-1]) and ascending(
            (score[1:] > score[:-1]) | (small[1:] >= small[:-1])
        )
    order = None if in_order else np.lexsort(keys)
    ordered = keys if order is None else [k[order] for k in keys]
    new = np.zeros(len(small) - 1, np.bool_)
    for k in ordered:
        new |= k[1:] != k[:-1]
    return order, np.flatnonzero(np.concatenate([[True], new]))


def _without_empty(attributes: tuple[Attribute, ...], codes: Ints) -> tuple[tuple[Attribute, ...], Ints]:
    """Keep the groups that have people, sorted by name, so that equal counts are equal tables."""
    names, rows = [], []
    for attribute, row in zip(attributes, codes, strict=True):
        present = np.flatnonzero(np.bincount(row, minlength=len(attribute.groups)))
        ranked = sorted(present.tolist(), key=lambda c: _natural(attribute.groups[c]))
        new = np.zeros(len(attribute.groups), np.int64)
        new[ranked] = np.arange(len(ranked))
        names.append(Attribute(attribute.name, tuple(attribute.groups[c] for c in ranked)))
        rows.append(new[row])
    return tuple(names), np.array(rows, np.int64).reshape(len(attributes), -1)


def _natural(name: str) -> tuple[int, float, str]:
    """Numbers in the order of numbers, before words in the order of words."""
    try:
        return (0, float(name), name) if name.strip() == name and name != "nan" else (1, 0.0, name)
    except ValueError:
        return (1, 0.0, name)
