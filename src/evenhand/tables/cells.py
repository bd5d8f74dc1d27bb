"""Cells in canonical order, so that equal counts make equal tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.tables.arrays import Bools, Floats, Ints
from evenhand.tables.band_names import band_of
from evenhand.tables.exact_sums import rounded, sums_of_runs

NO_GROUP = ""
"""Where people stand who have no value in a column, but one in another: they are in none of its groups."""
MISSING_GROUP = "(missing)"
"""What they are called where they are a group of their own."""


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
    cluster: Ints | None = None,
) -> dict[str, Any]:
    """Cells in canonical order: sorted, those that are the same added up, groups without people forgotten.

    Weights may be given in parts (a row for each), so that sums of sums are still rounded once.
    """
    attributes, codes = _without_empty(attributes, codes)
    if score is not None and (np.signbit(score) & (score == 0)).any():
        score = score + 0.0  # negative zero is zero
    order, starts = _runs(combined(attributes, codes, decision, label), score, cluster)

    def first(array: Any) -> Any:
        if array is None:
            return None
        array = array if order is None else array[..., order]
        return array if starts is None else array[..., starts]

    def total(array: Any) -> Any:
        if array is None:
            return None
        array = array if order is None else array[..., order]
        if array.dtype.kind != "f":
            return array if starts is None else np.add.reduceat(array, starts)
        sums = array if starts is None else sums_of_runs(array, starts)
        return sums if sums.ndim == 1 else rounded(sums)

    cells: dict[str, Any] = {
        "codes": first(codes),
        "n": total(n),
        "score": first(score),
        "decision": first(decision),
        "label": first(label),
        "weight": total(weight),
        "weight2": total(weight2),
        "cluster": first(cluster),
    }
    if cluster is not None:
        small = combined(attributes, cells["codes"], cells["decision"], cells["label"])
        cells["cluster"] = _by_content(cells["cluster"], small, cells)
        order = np.lexsort([key for key in (cells["cluster"], small, cells["score"]) if key is not None])
        cells = {name: None if array is None else array[..., order] for name, array in cells.items()}
    return {"attributes": attributes, **cells}


def _by_content(cluster: Ints, small: Ints, cells: dict[str, Any]) -> Ints:
    """Clusters numbered by what they hold, so that neither their names nor the order of tables that add up matters.

    By two sums of scrambled bits; clusters that agree in both hold the same, or as good as certainly so.
    """
    found = np.unique(cluster, return_inverse=True)[1].reshape(-1)
    sums = []
    for seed in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F):
        bits = np.full(len(found), seed, np.uint64)
        for part in (small, *(cells[name] for name in ("n", "score", "weight", "weight2"))):
            if part is not None:
                own = np.ascontiguousarray(part, np.float64).view(np.uint64)
                bits = (bits ^ own) * np.uint64(0xBF58476D1CE4E5B9)
                bits ^= bits >> np.uint64(29)
        total = np.zeros(int(found.max()) + 1, np.uint64)
        np.add.at(total, found, bits)
        sums.append(total)
    place = np.empty(len(sums[0]), np.int64)
    place[np.lexsort(sums)] = np.arange(len(place))
    return np.asarray(place[found])


def combined(attributes: tuple[Attribute, ...], codes: Ints, *flags: Bools | None) -> Ints:
    """Decision, label and groups of each cell as one number, of the smallest type: numpy sorts those fastest."""
    factors: list[tuple[int, Any]] = [(2, f) for f in flags if f is not None]
    factors += [(len(a.groups), row) for a, row in zip(attributes, codes, strict=True)]
    fits = math.prod(size for size, _ in factors) < 2**15
    key: Ints = np.zeros(codes.shape[1], np.int16 if fits else np.int64)
    span = 1
    for size, part in factors:
        if span * size >= 2**62:
            distinct, places = np.unique(key, return_inverse=True)
            key, span = places.reshape(-1), len(distinct)
        key = key * key.dtype.type(size) + part.astype(key.dtype)
        span *= size
    return key


def _runs(small: Ints, score: Floats | None, cluster: Ints | None) -> tuple[Ints | None, Ints | None]:
    """The order that sorts cells (None if they are sorted) and where each distinct one starts (None if all are)."""
    keys: list[Any] = [key for key in (cluster, small, score) if key is not None]
    if len(small) == 0:
        return None, None
    in_order = small[1:] >= small[:-1]
    if score is not None:
        in_order = (score[1:] > score[:-1]) | ((score[1:] == score[:-1]) & in_order)
    order = None if in_order.all() and cluster is None else np.lexsort(keys)
    new = np.ones(len(small), np.bool_)
    new[1:] = False
    for key in keys:
        ordered = key if order is None else key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    return order, None if new.all() else np.flatnonzero(new)


def _without_empty(attributes: tuple[Attribute, ...], codes: Ints) -> tuple[tuple[Attribute, ...], Ints]:
    """Keep the groups that have people, sorted by name, so that equal counts are equal tables."""
    names, rows = [], []
    for attribute, row in zip(attributes, codes, strict=True):
        present = np.flatnonzero(np.bincount(row, minlength=len(attribute.groups)))
        ranked = sorted(present.tolist(), key=lambda c: natural(attribute.groups[c]))
        new = np.zeros(max(len(attribute.groups), 1), np.int32)
        new[ranked] = np.arange(len(ranked))
        names.append(Attribute(attribute.name, tuple(attribute.groups[c] for c in ranked)))
        rows.append(new[row])
    return tuple(names), np.array(rows, np.int32).reshape(len(attributes), -1)


def natural(name: str) -> tuple[int, float, str]:
    """Numbers and bands of numbers in the order of numbers, then text in the order of text, then missing values.

    >>> sorted(["old", "60 and over", "25–39", "9", "under 25"], key=natural)
    ['under 25', '9', '25–39', '60 and over', 'old']
    """
    if name in (NO_GROUP, MISSING_GROUP):
        return (2, 0.0, name)
    if (ends := band_of(name)) is not None:
        return (0, float(ends[0]), name)
    try:
        return (0, float(name), name) if name.strip() == name and name != "nan" else (1, 0.0, name)
    except ValueError:
        return (1, 0.0, name)
