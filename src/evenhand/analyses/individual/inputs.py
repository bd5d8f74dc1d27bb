"""People with a score, perhaps a group, and what they are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.analyses.individual.distance import Matrix, Space, asked, matrix, points
from evenhand.errors import DataError, UsageError, listed, nearest, shown
from evenhand.ingest.engines import names_of
from evenhand.ingest.people import People, as_columns, chosen_columns, joined, read_people
from evenhand.ingest.values import group_codes, name_of
from evenhand.tables.arrays import Floats, Ints


@dataclass(frozen=True)
class Compared:
    """People in a random order, so that the order of rows does not choose among those who are equally near."""

    people: People
    """With every column, for a person to read."""
    score: str
    group: str | None
    features: tuple[str, ...]
    """The columns that make up the distance; none if distances are given."""
    constant: tuple[str, ...]
    """Columns left out because they are the same for everybody."""

    @property
    def scores(self) -> Floats:
        return self.people[self.score].values.astype(np.float64)

    @property
    def beside(self) -> tuple[str, ...]:
        """Columns that are only shown."""
        return tuple(n for n in self.people.names if n not in (*self.features, self.score, self.group))

    def groups(self, reference: Any) -> tuple[Ints, tuple[str, ...], int]:
        """The group of each person, the names of the groups, and which is the reference (by default the largest)."""
        assert self.group is not None
        feature = self.people[self.group]
        codes, names = group_codes(np.array(feature.plain(), object), self.group)
        if len(names) < 2:
            raise DataError(
                f"groups are compared, but column {shown(self.group)} has only {shown(names[0])}: leave group out"
            )
        if reference is None:
            return codes, names, int(np.bincount(codes).argmax())
        name = name_of(reference)
        if name not in names:
            raise UsageError(
                f"group {shown(reference)} is not in column {shown(self.group)} (it has: {listed(names)})"
                f"{nearest(reference, names)}"
            )
        return codes, names, names.index(name)

    def space(self, metric: Any, X: Any) -> Space:
        """The distances between these people."""
        if metric == "precomputed":
            given = matrix(X)
            if given.n != self.people.rows:
                raise DataError(
                    f"the matrix has distances of {given.n:,} people, but there are {self.people.rows:,} scores"
                )
            return Matrix(given.distances[np.ix_(self.people.kept, self.people.kept)])
        by = self.people.only(self.features)
        return asked(metric, by) if callable(metric) else points(by, metric)


def compared(
    X: Any, score: Any, group: Any, metric: Any, columns: Any, exclude: Any, categories: Any, missing: str, rng: Any
) -> Compared:
    """Read people, whoever holds them."""
    if metric == "precomputed":
        if columns is not None or exclude or categories:
            raise UsageError("with metric='precomputed' X has distances, no columns: leave columns= and exclude= out")
        X = {}
    data = as_columns(X)
    arrays = {role: v for role, v in (("score", score), ("group", group)) if v is not None and not isinstance(v, str)}
    named = {role: v for role, v in (("score", score), ("group", group)) if isinstance(v, str)}
    if score is None:
        raise UsageError("individual fairness needs the score of each person: name its column or pass its values")
    data, added = joined(data, arrays)
    roles = {**named, **added}
    present = names_of(data)
    for role, name in named.items():
        if name not in present:
            raise UsageError(
                f"there is no {role} column {shown(name)} in the data (they have: {listed(present, 12)})"
                f"{nearest(name, present)}"
            )
    wanted = None if columns is None else _names(columns, "columns")
    features = chosen_columns(present, wanted, _names(exclude, "exclude"))
    if wanted is None:
        features = [name for name in features if name not in roles.values()]
    for name in _names(categories, "categories"):
        if name not in present:
            raise DataError(f"the data have no column {shown(name)} to be taken as names (categories=)")
    if not features and metric != "precomputed":
        raise DataError("no column is left to compare people by: name some with columns=, or exclude fewer")
    return _read(data, roles["score"], roles.get("group"), features, present, _names(categories, ""), missing, rng)


def _read(
    data: Any, score: str, group: str | None, features: list[str], present: Sequence[str], categories: list[str],
    missing: str, rng: Any,
) -> Compared:  # fmt: skip
    needed = list(dict.fromkeys([*features, score, *([group] if group is not None else [])]))
    beside = [name for name in present if name not in needed]
    names = [*categories, *([group] if group is not None and group not in features else [])]
    people = read_people(data, needed, numbers=[score], categories=names, beside=beside, missing=missing)
    constant = tuple(name for name in features if people[name].constant)
    if features and len(constant) == len(features):
        raise DataError(f"all people are the same in every column compared ({listed(features)}): there is no distance")
    order = rng.permutation(people.n)
    different = tuple(name for name in features if name not in constant)
    return Compared(people.taken(order), score, group, different, constant)


def _names(given: Any, option: str) -> list[str]:
    if isinstance(given, str):
        return [given]
    try:
        return [str(name) for name in given]
    except TypeError:
        raise UsageError(f"{option} takes the names of columns, not {shown(given)}") from None
