"""Confusion tables as they might have been: drawn anew, or with permuted group labels.

Both give the sums that rates are made of (`confusion.Sums`) with a leading axis, block by block. They cost as much as
there are cells, however many people these hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.inference.permutation import MOST_EXACT
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.confusion import ClassCounts, Sums

AT_ONCE = 4_000_000
MOST_BLOCK = 500
STICKS = 8
"""A person is spread over so many cells: what is left then is under a hundredth."""
FEW_PER_CELL = 8
"""With fewer people per cell it is quicker to shuffle them."""


def blocks(draws: int, cells: int, rng: np.random.Generator) -> Iterator[tuple[int, np.random.Generator]]:
    """How many draws to make at once, each block from a stream of its own: memory stays bounded."""
    size = int(np.clip(AT_ONCE // max(cells, 1), 1, MOST_BLOCK))
    for random in rng.spawn(-(-draws // size)):
        yield min(size, draws), random
        draws -= size


# ---- drawn anew ----------------------------------------------------------------------------------------------------


def redrawn_hits(counts: ClassCounts, draws: int, rng: np.random.Generator, by: str) -> Iterator[Sums]:
    """Draws of who is predicted rightly among people of one true (or predicted) class: all that TPR (or PPV) needs.

    A Bayesian bootstrap: the mass of n people is a Gamma(n) variable. Half a person more on either side, Jeffreys'
    prior, keeps a share that is 0 or 1 among few people from being taken for certain.
    """
    sums = counts.sums()
    whole = sums.true if by == "true" else sums.predicted
    sides: list[tuple[Floats, Floats | None]] = [(sums.hits, None), (np.maximum(whole - sums.hits, 0.0), None)]
    person = np.ones_like(whole)
    if counts.squares is not None:
        squares = counts.sums(counts.squares)
        own = squares.true if by == "true" else squares.predicted
        sides = [(sums.hits, squares.hits), (sides[1][0], np.maximum(own - squares.hits, 0.0))]
        person = _person(whole, own)
    for size, random in blocks(draws, 2 * whole.size, rng):
        right, wrong = (
            _gamma(mass, square, size, random) + person * random.standard_gamma(0.5, (size, *whole.shape))
            for mass, square in sides
        )
        total = np.where(whole > 0, right + wrong, 0.0)
        hits = np.where(whole > 0, right, 0.0)
        nobody = np.zeros_like(total[..., :1, :])
        yield (
            Sums(hits, total, np.zeros_like(total), nobody)
            if by == "true"
            else Sums(hits, np.zeros_like(total), total, nobody)
        )


def redrawn_people(counts: ClassCounts, draws: int, rng: np.random.Generator) -> Iterator[Sums]:
    """Draws of all sums, for rates that rest on a whole group: one person more per group, however many classes.

    That person is spread over the cells of everybody (by sticks that are broken, which makes groups of n people
    Dirichlet with n + their share). One more per class would draw a small group to the whole.
    """
    layout = _Layout.of(counts)
    groups = np.arange(len(counts.groups))
    kinds, place = np.unique(counts.true * len(counts.classes) + counts.predicted, return_inverse=True)
    upto = np.cumsum(np.bincount(place.reshape(-1), counts.mass))
    total = counts.sums().total[0]
    person = np.ones_like(total) if counts.squares is None else _person(total, counts.sums(counts.squares).total[0])
    for size, random in blocks(draws, len(counts.mass) + 4 * counts.shape[0] * counts.shape[1], rng):
        sums = layout.sums(counts, _gamma(counts.mass, counts.squares, size, random))
        whole = np.where(total > 0, person, 0.0) * random.standard_gamma(1.0, (size, len(groups)))
        for stick in range(STICKS):
            part = whole * random.random(whole.shape) if stick < STICKS - 1 else whole
            whole = whole - part
            kind = kinds[
                np.minimum(np.searchsorted(upto, random.random(whole.shape) * upto[-1], "right"), len(kinds) - 1)
            ]
            _added(sums, kind // len(counts.classes), kind % len(counts.classes), groups, part)
        yield Sums(sums.hits, sums.true, sums.predicted, sums.true.sum(-2, keepdims=True))


def _added(sums: Sums, true: Ints, predicted: Ints, group: Ints, mass: Floats) -> None:
    """More people, one per draw and group: axes (draw, group)."""
    draw = np.arange(len(mass))[:, None]
    sums.true[draw, true, group] += mass
    sums.predicted[draw, predicted, group] += mass
    sums.hits[draw, true, group] += np.where(true == predicted, mass, 0.0)


def redrawn(counts: ClassCounts, draws: int, rng: np.random.Generator) -> Iterator[Sums]:
    """Draws of all sums, for rates that rest on the people of one class.

    Of the people of one group and true class, half a person more is predicted rightly and half a person to be of a
    class that people of this true class are taken for, drawn anew for each table.
    """
    classes, groups = counts.shape
    layout = _Layout.of(counts)
    rows = layout.row_group, layout.row_true
    person = np.ones(len(rows[0]))
    if counts.squares is not None:
        person = _person(counts.sums().true, counts.sums(counts.squares).true)[rows[1], rows[0]]
    for size, random in blocks(draws, len(counts.mass) + 4 * classes * groups, rng):
        sums = layout.sums(counts, _gamma(counts.mass, counts.squares, size, random))
        right = person * random.standard_gamma(0.5, (size, len(person)))
        wrong = person * random.standard_gamma(0.5, (size, len(person)))
        taken_for = layout.confused(random.random((size, len(person))))
        hits, true, predicted = sums.hits, sums.true, sums.predicted
        for array, more in ((hits, right), (true, right + wrong), (predicted, right)):
            array[:, rows[1], rows[0]] += more
        place = (np.arange(size)[:, None] * classes + taken_for) * groups + rows[0]
        predicted += np.bincount(place.ravel(), wrong.ravel(), predicted.size).reshape(predicted.shape)
        yield Sums(hits, true, predicted, true.sum(-2, keepdims=True))


def smoothed(counts: ClassCounts) -> ClassCounts:
    """A population that may have given these counts: half a person more predicted rightly and half a person wrongly.

    In each group and true class, which keeps its size. Errors are spread over those of all people of the true class.
    """
    classes = len(counts.classes)
    layout = _Layout.of(counts)
    of = layout.error_of
    first = np.searchsorted(of, np.arange(classes))
    share = np.diff(layout.errors, prepend=0.0)
    share[first] = layout.errors[first] - np.arange(classes)
    many = np.bincount(of, minlength=classes)[layout.row_true]
    row = np.repeat(np.arange(len(many)), many)
    place = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many) + first[layout.row_true[row]]
    g, t = layout.row_group, layout.row_true
    person = (
        np.ones(len(t))
        if counts.squares is None
        else _person(counts.sums().true, counts.sums(counts.squares).true)[t, g]
    )
    group = np.concatenate([counts.group, g, g[row]])
    true = np.concatenate([counts.true, t, t[row]])
    predicted = np.concatenate([counts.predicted, t, layout.error_class[place]])
    mass = np.concatenate([counts.mass, 0.5 * person, 0.5 * person[row] * share[place]])
    keys, where = np.unique((group * classes + true) * classes + predicted, return_inverse=True)
    mass = np.bincount(where.reshape(-1), mass)
    of_row = np.searchsorted(g * classes + t, keys // classes)
    rows = np.add.reduceat(counts.mass, layout.row_starts)
    mass = mass * (rows / (rows + person))[of_row]
    made = ClassCounts(
        counts.groups, counts.classes, keys // classes**2, keys // classes % classes, keys % classes,
        np.ones(len(keys), np.int64), mass,
    )  # fmt: skip
    return made if counts.squares is None else replace(made, squares=mass * person[of_row])


def alike(counts: ClassCounts, by_class: bool) -> ClassCounts:
    """A population in which groups of these sizes are alike: all, or (`by_class`) people of the same true class."""
    classes = len(counts.classes)
    kinds, place = np.unique(counts.true * classes + counts.predicted, return_inverse=True)
    pooled = np.bincount(place.reshape(-1), counts.mass)
    sums = counts.sums()
    size = sums.true if by_class else np.broadcast_to(sums.total, sums.true.shape)
    everybody = size.sum(-1, keepdims=True)
    share = size / np.where(everybody > 0, everybody, 1.0)
    mass = (share[kinds // classes] * pooled[:, None]).T
    group, kind = np.nonzero(mass)
    made = ClassCounts(
        counts.groups, counts.classes, group, kinds[kind] // classes, kinds[kind] % classes,
        np.ones(len(group), np.int64), mass[group, kind],
    )  # fmt: skip
    if counts.squares is None:
        return made
    person = _person(sums.total, counts.sums(counts.squares).total)[0]
    return replace(made, squares=made.mass * person[group])


def resampled(population: ClassCounts, draws: int, rng: np.random.Generator) -> Iterator[Sums]:
    """Samples from a population: every cell a Poisson number of people."""
    layout = _Layout.of(population)
    person = np.ones_like(population.mass) if population.squares is None else population.squares / population.mass
    for size, random in blocks(draws, len(person) + 4 * population.shape[0] * population.shape[1], rng):
        yield layout.sums(population, random.poisson(population.mass / person, (size, len(person))) * person)


def _gamma(mass: Floats, squares: Floats | None, size: int, rng: np.random.Generator) -> Floats:
    if squares is None:
        return rng.standard_gamma(mass, (size, *mass.shape))
    scale = _person(mass, squares)
    return rng.standard_gamma(np.where(mass > 0, mass / scale, 0.0), (size, *mass.shape)) * scale


def _person(mass: Floats, squares: Floats) -> Floats:
    """What a person weighs among people of this mass: Σw²/Σw."""
    return np.where((mass > 0) & (squares > 0), squares / np.where(mass > 0, mass, 1.0), 1.0)


@dataclass(frozen=True)
class _Layout:
    """Where the cells of rows (group, true class) and of columns (group, predicted class) stand."""

    row_starts: Ints
    row_group: Ints
    row_true: Ints
    diagonal: Ints
    by_column: Ints
    """The order of cells that brings columns together."""
    column_starts: Ints
    column_group: Ints
    column_class: Ints
    errors: Floats
    """For each class one after the other, the CDF of its errors: class + share of them."""
    error_class: Ints
    error_of: Ints

    @classmethod
    def of(cls, counts: ClassCounts) -> _Layout:
        classes, groups = counts.shape
        row = counts.group * classes + counts.true
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        column = counts.predicted * groups + counts.group
        order = np.argsort(column, kind="stable")
        column_starts = np.flatnonzero(np.diff(column[order], prepend=-1))
        first = order[column_starts]
        errors = _cumulative_errors(counts)
        return cls(
            starts, counts.group[starts], counts.true[starts], np.flatnonzero(counts.true == counts.predicted), order,
            column_starts, counts.group[first], counts.predicted[first], *errors,
        )  # fmt: skip

    def sums(self, counts: ClassCounts, mass: Floats) -> Sums:
        """The sums of masses of cells, axes (draw, cell)."""
        hits, true, predicted = (np.zeros((len(mass), *counts.shape)) for _ in range(3))
        hits[:, counts.true[self.diagonal], counts.group[self.diagonal]] = mass[:, self.diagonal]
        true[:, self.row_true, self.row_group] = np.add.reduceat(mass, self.row_starts, axis=1)
        columns = np.add.reduceat(mass[:, self.by_column], self.column_starts, axis=1)
        predicted[:, self.column_class, self.column_group] = columns
        return Sums(hits, true, predicted, true.sum(-2, keepdims=True))

    def confused(self, uniform: Floats) -> Ints:
        """For each row a class that people of its true class are taken for."""
        place = np.searchsorted(self.errors, self.row_true + uniform, side="right")
        return self.error_class[np.minimum(place, len(self.errors) - 1)]


def _cumulative_errors(counts: ClassCounts) -> tuple[Floats, Ints, Ints]:
    """What people of each class are taken for, all groups together; without errors, any class that is predicted."""
    classes = len(counts.classes)
    wrong = counts.true != counts.predicted
    pooled = np.bincount(counts.true[wrong] * classes + counts.predicted[wrong], counts.mass[wrong])
    keys = np.flatnonzero(pooled)
    known = np.zeros(classes, np.bool_)
    known[keys // classes] = True
    anything = np.bincount(counts.predicted, counts.mass, classes)
    more = np.flatnonzero(~known)
    guessed = np.flatnonzero(anything)
    # A class that is never mistaken may be taken for any other that is predicted at all, itself if there is none.
    for c in more.tolist():
        others = guessed[guessed != c]
        others = others if len(others) else np.array([c])
        keys = np.concatenate([keys, c * classes + others])
    keys = np.sort(keys)
    of, into = keys // classes, keys % classes
    mass = np.where(known[of], np.pad(pooled, (0, classes**2 - len(pooled)))[keys], anything[into])
    mass = np.maximum(mass, 1e-300)
    total = np.bincount(of, mass, classes)
    upto = np.cumsum(mass / total[of])
    before = np.concatenate([[0.0], upto])[np.searchsorted(of, of)]
    return of + np.minimum(upto - before, 1.0), into, of


# ---- group labels permuted -----------------------------------------------------------------------------------------


def permuted_hits(counts: ClassCounts, draws: int, rng: np.random.Generator, by: str) -> Iterator[Sums]:
    """Labels permuted among people of one true (or predicted) class: who is predicted rightly is split anew."""
    sums = counts.people.sums()
    whole = np.rint(sums.true if by == "true" else sums.predicted).astype(np.int64)
    right = np.rint(sums.hits).astype(np.int64).sum(-1)
    fixed = np.zeros_like(sums.total)
    for size, random in blocks(draws, whole.size, rng):
        hits = _shared(np.broadcast_to(right, (size, len(right))), np.broadcast_to(whole, (size, *whole.shape)), random)
        full, none = np.broadcast_to(whole, hits.shape).astype(np.float64), np.zeros(hits.shape)
        own = hits.astype(np.float64)
        yield Sums(own, full, none, fixed) if by == "true" else Sums(own, none, full, fixed)


def permuted_everybody(counts: ClassCounts, draws: int, rng: np.random.Generator) -> Iterator[Sums]:
    """Labels permuted among all people: only who is predicted to be what matters."""
    sums = counts.people.sums()
    columns = np.rint(sums.predicted.sum(-1)).astype(np.int64)
    sizes = np.rint(sums.total[0]).astype(np.int64)
    for size, random in blocks(draws, columns.size * len(sizes), rng):
        places = np.broadcast_to(sizes, (size, len(sizes))).copy()
        predicted = np.empty((size, len(columns), len(sizes)))
        for c, people in enumerate(columns.tolist()):
            drawn = _shared(np.full(size, people), places, random)
            predicted[:, c] = drawn
            places -= drawn
        none = np.zeros_like(predicted)
        yield Sums(none, none, predicted, np.broadcast_to(sums.total, (size, *sums.total.shape)))


def permuted(counts: ClassCounts, draws: int, rng: np.random.Generator, by: str) -> Iterator[Sums]:
    """Labels permuted among people of one true (or predicted) class, who keep their predicted (or true) class."""
    classes, groups = counts.shape
    own, other = (counts.true, counts.predicted) if by == "true" else (counts.predicted, counts.true)
    fixed = np.zeros((classes, groups))
    np.add.at(fixed, (own, counts.group), counts.n)
    pairs = len(np.unique(own * classes + other))
    way = _shuffled if counts.n.sum() < FEW_PER_CELL * pairs else _split
    for hits, across in way(counts, own, other, fixed, draws, rng):
        along = np.broadcast_to(fixed, across.shape)
        total = np.broadcast_to(fixed.sum(0, keepdims=True), (len(hits), 1, groups))
        yield Sums(hits, along, across, total) if by == "true" else Sums(hits, across, along, total)


def _split(
    counts: ClassCounts, own: Ints, other: Ints, fixed: Floats, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Cell after cell of a class, its people are shared out among the places that each group has left."""
    classes, groups = counts.shape
    keys, place = np.unique(own * classes + other, return_inverse=True)
    pooled = np.bincount(place.reshape(-1), counts.n).astype(np.int64)
    of, into = keys // classes, keys % classes
    rank = np.arange(len(keys)) - np.searchsorted(of, of)
    last = np.append(of[1:] != of[:-1], True)
    steps = [np.flatnonzero(rank == k) for k in range(int(rank.max()) + 1)]
    by_other = np.argsort(into, kind="stable")
    starts = np.flatnonzero(np.diff(into[by_other], prepend=-1))
    for size, random in blocks(draws, len(keys) * groups + 4 * classes * groups, rng):
        places = np.broadcast_to(fixed.astype(np.int64), (size, classes, groups)).copy()
        drawn = np.empty((size, len(keys), groups), np.int64)
        for cells in steps:
            free, end = cells[~last[cells]], cells[last[cells]]
            drawn[:, end] = places[:, of[end]]
            drawn[:, free] = _shared(np.broadcast_to(pooled[free], (size, len(free))), places[:, of[free]], random)
            places[:, of[free]] -= drawn[:, free]
        hits, across = np.zeros((size, classes, groups)), np.zeros((size, classes, groups))
        hits[:, of[of == into]] = drawn[:, of == into]
        across[:, into[by_other[starts]]] = np.add.reduceat(drawn[:, by_other], starts, axis=1)
        yield hits, across


def _shuffled(
    counts: ClassCounts, own: Ints, other: Ints, fixed: Floats, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """The same by shuffling people one by one, which is quicker where most cells hold hardly anybody."""
    classes, groups = counts.shape
    order = np.argsort(own, kind="stable")
    people = np.repeat(order, counts.n[order])
    stratum, kind, group = own[people], other[people], counts.group[people].astype(np.int32)
    ends = np.flatnonzero(np.append(stratum[1:] != stratum[:-1], True)) + 1
    right = np.flatnonzero(stratum == kind)
    for size, random in blocks(draws, len(people) + 4 * classes * groups, rng):
        shuffled = np.tile(group, (size, 1))
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            shuffled[:, start:end] = random.permuted(shuffled[:, start:end], axis=1)
        base = np.arange(size)[:, None] * classes
        hits, across = (
            np.bincount(((base + kind[who]) * groups + shuffled[:, who]).ravel(), minlength=size * classes * groups)
            .reshape(size, classes, groups)
            .astype(np.float64)
            for who in (right, slice(None))
        )
        yield hits, across


def _shared(people: Ints, places: Ints, rng: np.random.Generator) -> NDArray[np.int64]:
    """People (…) shared out among the places (…, group) of each group: multivariate hypergeometric.

    Of very many people binomial, which there is the same to the eye.
    """
    drawn = np.empty(places.shape, np.int64)
    left, others = np.asarray(people), places.sum(-1)
    many = bool(others.size and others.max() >= MOST_EXACT)
    for g in range(places.shape[-1] - 1):
        own = places[..., g]
        others = others - own
        if many:
            chance = own / np.maximum(own + others, 1)
            taken = np.clip(rng.binomial(left, chance), np.maximum(left - others, 0), np.minimum(left, own))
        else:
            taken = rng.hypergeometric(own, others, left)
        drawn[..., g] = taken
        left = left - taken
    drawn[..., -1] = left
    return drawn
