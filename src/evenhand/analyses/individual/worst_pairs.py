"""The pairs of people that stand out, side by side, and a sketch of all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.individual.inputs import Compared
from evenhand.analyses.individual.treatment import SLACK, Scored
from evenhand.tables.arrays import Floats, Ints

BINS = 24


@dataclass(frozen=True)
class Person:
    """One of two people who are compared."""

    row: int
    """Their place in the data, from 0."""
    score: float
    group: str | None
    values: Mapping[str, Any]
    """Every column, also those that were left out of the distance."""


@dataclass(frozen=True)
class WorstPair:
    """Two people near to each other, and how differently they are scored."""

    people: tuple[Person, Person]
    """The one scored higher first."""
    distance: float
    difference: float
    slope: float | None
    """Difference over distance; None for people at distance 0: there is nothing to divide by."""
    beyond: float | None
    """By how much the difference exceeds lipschitz × distance; None if lipschitz was not given."""


def worst_pairs(scored: Scored, lipschitz: float | None, compared: Compared, most: int) -> tuple[WorstPair, ...]:
    """Violations by how much they exceed lipschitz × distance; without it, by slope, those at distance 0 first."""
    near, difference = scored.near, np.abs(scored.gap)
    if lipschitz is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            rank = np.where(difference > SLACK, difference / near.distance, 0.0)
    else:
        rank = np.maximum(scored.apart(lipschitz), 0.0)
    places = _largest(rank, difference, near.one, near.other, most)
    return tuple(_pair(scored, place, lipschitz, compared) for place in places)


def _largest(rank: Floats, difference: Floats, one: Ints, other: Ints, most: int) -> list[int]:
    """Places of the pairs that rank highest, each pair once, and first such as have no person in two of them."""
    there = np.flatnonzero(rank > SLACK)
    many = 100 * most + 1000
    if len(there) > many:
        there = there[np.lexsort((-difference[there], -rank[there]))[:many]]
    there = there[np.lexsort((one[there], -difference[there], -rank[there]))]
    pairs: dict[tuple[int, int], int] = {}
    for place in there.tolist():
        a, b = int(one[place]), int(other[place])
        pairs.setdefault((min(a, b), max(a, b)), place)
    seen: set[int] = set()
    new: list[int] = []
    for pair, place in pairs.items():
        if not seen & set(pair):
            new.append(place)
            seen |= set(pair)
    ranked = {place: i for i, place in enumerate(pairs.values())}
    again = [place for place in ranked if place not in set(new)]
    return sorted([*new, *again][:most], key=ranked.__getitem__)


def _pair(scored: Scored, place: int, lipschitz: float | None, compared: Compared) -> WorstPair:
    near = scored.near
    two = [int(near.one[place]), int(near.other[place])]
    two.sort(key=lambda row: (-scored.score[row], compared.people.kept[row]))
    distance, difference = float(near.distance[place]), float(abs(scored.gap[place]))
    return WorstPair(
        (_person(compared, two[0]), _person(compared, two[1])),
        distance,
        difference,
        difference / distance if distance > 0 else None,
        None if lipschitz is None else difference - lipschitz * distance,
    )


def _person(compared: Compared, row: int) -> Person:
    values = {name: compared.people[name].plain([row])[0] for name in (*compared.features, *compared.beside)}
    own = None if compared.group is None else compared.people[compared.group].plain([row])[0]
    from evenhand.ingest.values import name_of

    return Person(int(compared.people.kept[row]), float(compared.scores[row]), name_of(own), values)


def sketch(scored: Scored) -> dict[str, Any]:
    """How many near pairs there are by distance and by difference of scores: the edges and the numbers."""
    distance, difference = scored.near.distance, np.abs(scored.gap)
    if not len(distance):
        return {"distance": [], "difference": [], "pairs": []}
    top = [float(v.max()) or 1.0 for v in (distance, difference)]
    numbers, x, y = np.histogram2d(distance, difference, bins=BINS, range=[[0, top[0]], [0, top[1]]])
    return {"distance": x.tolist(), "difference": y.tolist(), "pairs": numbers.astype(int).tolist()}
