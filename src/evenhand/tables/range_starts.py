"""Where ranges of scores start so that no stratum (group, label and decision) has few people in any of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evenhand.tables.arrays import Bools, Ints
from evenhand.tables.groups import sum_by


def halved(level: Ints, stratum: Ints, n: Ints, segment: Ints, allowed: Bools, below: int) -> Ints:
    """Where ranges start if all of them are halved, as near to the middle as leaves no small stratum on either side.

    Only at levels where that is allowed, and between segments.

    Where people are many, halves and quarters are the same in every table, so that what two tables put together is
    nested. Neighbours joined one after the other would differ, and chain up to one range in the sum of tables.
    """
    strata, who = np.unique(stratum, return_inverse=True)
    people = sum_by(who.reshape(-1) * len(segment) + level, n, len(strata) * len(segment))
    upto = np.cumsum(np.pad(people.reshape(len(strata), -1), ((0, 0), (1, 0))), axis=1)

    def fit(held: Ints) -> Bools:
        return np.asarray(((held == 0) | (held >= below)).all(0))

    def starts(first: int, last: int) -> list[int]:
        inner = upto[:, first + 1 : last]
        large = fit(inner - upto[:, [first]]) & fit(upto[:, [last]] - inner)
        fits = np.flatnonzero(large & allowed[first + 1 : last]) + first + 1
        if len(fits):
            nearest = int(fits[np.abs(2 * fits - first - last).argmin()])
            return starts(first, nearest) + starts(nearest, last)
        return [first] if (upto[:, last] > upto[:, first]).any() else []

    ends = np.flatnonzero(np.diff(segment, prepend=-1, append=-1))
    return np.array([start for first, last in pairwise(ends.tolist()) for start in starts(first, last)])


def joined(level: Ints, stratum: Ints, n: Ints, below: int) -> Ints:
    """Where ranges start if neighbours are joined, from below or from above, whichever makes more of them."""
    up = _walk(level.tolist(), stratum.tolist(), n.tolist(), below)
    down = _walk((-level[::-1]).tolist(), stratum[::-1].tolist(), n[::-1].tolist(), below)
    if len(up) >= len(down):
        return np.array(up)
    tops = -np.array(down)[::-1]  # of each range but the last, the next one starts after it
    present = np.unique(level)
    return np.append(present[0], present[np.searchsorted(present, tops[:-1]) + 1])


def _walk(level: list[int], stratum: list[int], n: list[int], below: int) -> list[int]:
    """Each range ends as soon as no stratum in it is small; what is left over at the end joins the ones before."""
    closed: list[tuple[int, dict[int, int]]] = []  # where each range starts, and the people of each stratum in it
    held: dict[int, int] = {}
    begin = now = level[0]
    short = 0  # how many strata are small
    for where, who, people in zip(level, stratum, n, strict=True):
        if where != now:
            if not short:
                closed.append((begin, held))
                held, begin = {}, where
            now = where
        before = held.get(who, 0)
        after = held[who] = before + people
        short += (after < below) - (0 < before < below)
    while short and closed:
        begin, earlier = closed.pop()
        for who, people in earlier.items():
            held[who] = held.get(who, 0) + people
        short = sum(people < below for people in held.values())
    return [first for first, _ in closed] + [begin]
