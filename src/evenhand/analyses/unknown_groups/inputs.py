"""People with the probabilities of their groups, a decision, and perhaps an outcome and a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.errors import DataError, UsageError, listed, names_in, nearest, number, shown
from evenhand.ingest.engines import names_of
from evenhand.ingest.people import People, as_columns, read_people
from evenhand.ingest.roles import Roles
from evenhand.ingest.values import Encoded, Outcomes, outcomes
from evenhand.tables.arrays import Bools, Floats, Ints

SUM = 1e-6
"""So far from 1 may the probabilities of a person add up."""
LEAST_PEOPLE = 2
ALONE = (
    "the probabilities of the groups of a person add up to 1, so they take two columns or more, not "
    "{}: of one group alone, add a column of 1 minus it"
)


@dataclass(frozen=True)
class Probable:
    """People of whose groups the probabilities are known."""

    groups: tuple[str, ...]
    p: Floats
    """Of each person (row) and group (column); rows add up to 1."""
    decision: Bools
    label: Bools | None
    cell: Ints
    """Within what probabilities say nothing more once the group is known; 0 for everybody if nothing was named."""
    cells: int
    rule: str
    """What a favourable decision is, in words."""
    threshold: float | None
    left_out: Mapping[str, int]
    favorable: str | None = None
    notes: tuple[str, ...] = ()


def probable_people(data: Any, roles: Roles, columns: Any, proxy_cell: Any, threshold: float | None) -> Probable:
    """Read them, whoever holds the data."""
    names = _names(columns)
    _refuse(roles, proxy_cell, threshold)
    data = as_columns(data)
    categories = [c for c in (roles.label, roles.prediction, proxy_cell) if c is not None]
    scores = [] if roles.score is None else [roles.score]
    _check_there(data, [*names, *scores, *categories])
    wanted = list(dict.fromkeys([*names, *scores, *categories]))
    if len(wanted) < len(names) + len(scores) + len(categories):
        twice = next(c for c in wanted if [*names, *scores, *categories].count(c) > 1)
        raise UsageError(f"column {shown(twice)} is named for two roles: name each column once")
    missing = "drop" if roles.missing == "drop" else "refuse"
    people = read_people(data, wanted, numbers=[*names, *scores], categories=categories, missing=missing)
    p = _checked(np.stack([people[c].values for c in names], axis=1).astype(np.float64), names, people)
    label = None if roles.label is None else _outcome(people, roles.label, roles.favorable, "label")
    decision, rule, threshold, notes = _decided(people, roles, label, threshold)
    cell = np.zeros(people.n, np.int64) if proxy_cell is None else people[proxy_cell].values.astype(np.int64)
    left_out = {f"without a value of {shown(c)}": n for c, n in people.left_out.items()}
    return Probable(
        names, p, decision, None if label is None else label.favourable, cell, int(cell.max()) + 1, rule, threshold,
        left_out, None if label is None else label.wanted, (*people.notes, *notes),
    )  # fmt: skip


def _names(columns: Any) -> tuple[str, ...]:
    if isinstance(columns, str):
        raise UsageError(ALONE.format(shown(columns)))
    names = tuple(names_in("group_probability", columns))
    if len(names) < 2:
        raise UsageError(ALONE.format(listed(names) if names else "none"))
    twice = [c for c in names if names.count(c) > 1]
    if twice:
        raise UsageError(f"group_probability names {shown(twice[0])} twice: name the column of each group once")
    return names


def _refuse(roles: Roles, proxy_cell: Any, threshold: float | None) -> None:
    """Options that mean nothing here, and columns that are not named."""
    for option in ("weight", "cluster", "bands", "depth", "where"):
        if getattr(roles, option) is not None:
            raise UsageError(
                f"groups as probabilities are known of people who count alike: leave out {option}= "
                f"(--{option}), or prepare the data without it"
            )
    if roles.group is not None:
        raise UsageError("group= and group_probability= both say who belongs to which group: say one of them")
    if roles.missing not in ("refuse", "drop"):
        raise UsageError("with group probabilities missing= (--missing) is refuse or drop: nobody is without a group")
    if (roles.score is None) == (roles.prediction is None):
        raise UsageError("say how people were decided: a score with a threshold, or a prediction, and not both")
    if roles.prediction is not None and threshold is not None:
        raise UsageError("the prediction column decides already: leave the threshold out, or the prediction")
    for role in ("score", "label", "prediction"):
        if getattr(roles, role) is not None and not isinstance(getattr(roles, role), str):
            raise UsageError(f"with group probabilities {role}= is the name of a column")
    if proxy_cell is not None and not isinstance(proxy_cell, str):
        raise UsageError(f"proxy_cell= (--proxy-cell) is the name of a column, not {shown(proxy_cell)}")


def _check_there(data: Any, columns: Sequence[str]) -> None:
    present = names_of(data)
    for name in columns:
        if name not in present:
            raise UsageError(
                f"there is no column {shown(name)} in the data (it has: {listed(present, 12)}){nearest(name, present)}"
            )


def _checked(p: Floats, names: Sequence[str], people: People) -> Floats:
    """Probabilities, if they are some."""
    if people.n < LEAST_PEOPLE:
        raise DataError(f"rates of groups need at least {LEAST_PEOPLE} people, but there is {people.n}")

    def row(bad: Bools) -> int:
        return int(people.kept[np.flatnonzero(bad)[0]]) + 1

    outside = np.asarray((p < 0) | (p > 1 + SUM), np.bool_)
    anywhere: Bools = np.asarray(outside.any(1), np.bool_)
    if anywhere.any():
        at = int(np.flatnonzero(anywhere)[0])
        column = int(np.flatnonzero(outside[at])[0])
        raise DataError(
            f"probabilities are between 0 and 1, but row {row(anywhere):,} has {p[at, column]:g} in "
            f"{shown(names[column])}: repair it, or name the columns of probabilities"
        )
    off = np.asarray(np.abs(p.sum(1) - 1) > SUM, np.bool_)
    if off.any():
        raise DataError(
            f"the probabilities of a person add up to 1, but those of row {row(off):,} ({listed(names)}) add up to "
            f"{p[off][0].sum():.6g}, and {int(off.sum()):,} of {len(p):,} rows do not: name the columns of all groups"
        )
    empty = [name for name, mass in zip(names, p.sum(0).tolist(), strict=True) if mass == 0]
    if empty:
        raise DataError(
            f"nobody has a chance to belong to {listed(empty)}: there is nothing to compare, leave the column out"
            if len(names) - len(empty) >= 2
            else f"all probability is in {listed(n for n in names if n not in empty)}: nothing can be compared"
        )
    return np.asarray(p / p.sum(1, keepdims=True))


def _outcome(people: People, column: str, favorable: Any, role: str, known: frozenset[str] = frozenset()) -> Outcomes:
    feature = people[column]
    assert feature.categories is not None
    return outcomes(Encoded(feature.values.astype(np.int64), list(feature.categories)), favorable, column, role, known)


def _decided(
    people: People, roles: Roles, label: Outcomes | None, threshold: float | None
) -> tuple[Bools, str, float | None, tuple[str, ...]]:
    """Who is decided favourably, by what rule, and what is to be said about it."""
    if roles.prediction is not None:
        alone = roles.favorable_prediction is not None
        wanted = roles.favorable_prediction if alone else roles.favorable
        known = frozenset(label.present) if label and not alone else frozenset()
        found = _outcome(people, roles.prediction, wanted, "prediction", known)
        return found.favourable, f"{roles.prediction} is {found.wanted}", None, ()
    score = people[roles.score].values.astype(np.float64)
    notes: tuple[str, ...] = ()
    if threshold is None:
        low, high = roles.score_range or (float(score.min()), float(score.max()))
        low, high = (0.0, 1.0) if roles.score_range is None and low >= 0 and high <= 1 else (low, high)
        threshold = low + (high - low) / 2
        if (low, high) != (0.0, 1.0):
            notes = (
                f"no threshold was given, so the middle of the score range [{low:.12g}, {high:.12g}] is used: "
                f"{threshold:.12g}",
            )
    sign = "<" if roles.risk else "≥"
    selected = score < threshold if roles.risk else score >= threshold
    return selected, f"{roles.score} {sign} {threshold:.15g}", float(number(threshold)), notes
