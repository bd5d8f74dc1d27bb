"""Table → a differentially private one: noise on every cell that there could be, then made a table again.

The grid of cells must not depend on the data: the score range, the number of cells and the names of the groups are
public. What follows the noise looks at nothing but the noised counts, so the guarantee holds for all that is done with
the table. The counts are noised by OpenDP, whose random numbers are those of the operating system: a private table
cannot be made twice, and must not be, since whoever knows the seed knows the counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import DataError, MissingLibrary, UsageError, is_whole, listed, number, shown, whole_number
from evenhand.tables.arrays import Floats, Ints
from evenhand.tables.cells import Attribute
from evenhand.tables.confusion import Confusion
from evenhand.tables.noise import EPSILONS, Noise, rising
from evenhand.tables.provenance import shareable
from evenhand.tables.ranges import Spans, middle
from evenhand.tables.table import Table, bin_edges

CELLS = 100
MOST_CELLS = 1_000_000
DRAWS, FEWEST_DRAWS = 20_000, (20, 200)
"""So many strata are noised again in all, and each so often at least and at most, to see how far they go astray."""
LEAST_SHARE = 0.2
"""Of the cells: how far fewer of them together are off is not asked."""


NO_RANGE = (
    "private counts need the range that scores can have, stated by you: that of the data would tell about people "
    "(--score-range 0,1)"
)


def privatized(
    table: Table,
    *,
    epsilon: float,
    cells: int | Sequence[float] = CELLS,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """The table with differentially private counts, made by OpenDP (`pip install evenhand[privacy]`).

    Pure ε-differential privacy for adding or removing one row. The audit of such a table has intervals and tests that
    account for the noise.

    Parameters
    ----------
    epsilon
        The privacy loss: at 1, whether or not a row is in the data changes the chance of any outcome by a factor of
        2.7 at most. From 0.001 to 20.
    cells
        How many ranges of equal width the score is counted in, over the range that was stated (`score_range`); or a
        list of all values that a score can have. Must not be chosen by looking at the data.
    groups
        By attribute, all groups that there can be. By default the names of those in the data, which are public then.

    Examples
    --------
    >>> import evenhand
    >>> people = {"s": [0.2, 0.4, 0.7, 0.9] * 500, "y": [0, 1, 0, 1] * 500, "g": ["f", "m"] * 1000}
    >>> table = evenhand.tabulate(people, score="s", label="y", group="g", score_range=(0, 1))
    >>> private = evenhand.privatized(table, epsilon=2, cells=10)  # doctest: +SKIP
    >>> private.rows, private.noise.epsilon  # doctest: +SKIP
    (2003, 2.0)
    """
    epsilon = check_epsilon(epsilon)
    _check_table(table)
    table = table.complete()
    attributes, codes = _public(table, groups)
    level, spans, scores = _levels(table, cells)
    shape = [len(a.groups) for a in attributes]
    shape += [2 for flag in (table.label, table.decision) if flag is not None]
    shape.append(len(scores))
    if math.prod(shape) > MOST_CELLS:
        raise UsageError(
            f"groups × labels × scores make {math.prod(shape):,} cells, and each of them gets noise: at most "
            f"{MOST_CELLS:,} are possible; take fewer group columns or fewer score cells (--cells)"
        )
    flags = [flag.astype(np.int64) for flag in (table.label, table.decision) if flag is not None]
    key = np.ravel_multi_index((*codes, *flags, level), shape)
    true = np.rint(np.bincount(key, weights=table.n, minlength=math.prod(shape))).astype(np.int64)
    noise = Noise(epsilon, stated=all(a.name in (groups or {}) for a in table.attributes))
    counts = whole(noised(true, epsilon).reshape(-1, shape[-1]))
    if not counts.any():
        raise DataError(f"after noise of ε = {epsilon:g} nobody is left: there are too few people for it")
    variance = noise.variance * astray(counts, noise)[:, None] * carried(counts) + counts
    held = np.flatnonzero(counts.ravel())
    *who, at = np.unravel_index(held, shape)
    return Table.of_cells(
        attributes=attributes,
        codes=np.array(who[: len(attributes)], np.int64),
        n=counts.ravel()[held],
        score=None if table.score is None else scores[at],
        label=None if table.label is None else who[len(attributes)] == 1,
        decision=None if table.decision is None else who[-1] == 1,
        weight2=variance.ravel()[held],
        spans=spans,
        noise=noise,
        meaning=table.meaning,
        depth=table.depth,
        notes=(*shareable(table.notes), noise.note),
    )


def check_epsilon(epsilon: Any) -> float:
    """ε, if it is one; better known before the data are counted."""
    if not EPSILONS[0] <= number(epsilon) <= EPSILONS[1]:
        raise UsageError(
            f"epsilon (--privacy) must be a number from {EPSILONS[0]:g} to {EPSILONS[1]:g}, such as 1 (more would "
            f"protect nobody), not {shown(epsilon)}"
        )
    return float(epsilon)


def check_library() -> Any:
    """OpenDP, if it is there."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise MissingLibrary("private counts are made by OpenDP: pip install 'evenhand[privacy]'") from error
    return dp


def _check_table(table: Any) -> None:
    if isinstance(table, Confusion):
        raise UsageError("private counts are for tables of decisions or scores: take one class, table.of_class(name)")
    if not isinstance(table, Table):
        raise UsageError(f"this takes a table (evenhand.tabulate makes one), not {shown(table)}")
    for present, what in (
        (table.weight, "a person may count for any sampling weight, so no noise could hide them"),
        (table.cluster, "private counts protect single rows, not clusters of them (take one row of each)"),
    ):
        if present is not None:
            raise UsageError(f"{what}: count the data without them")
    if table.noise is not None:
        raise UsageError("the table is private already: start from the data, or take it as it is")
    if table.provenance.tallied:
        raise UsageError(
            "rows were counted as often as their weights say, so one of them changes a count by more than the noise "
            "hides: count rows that are one person each, without weights"
        )
    if table.provenance.below is not None:
        raise UsageError(
            "the table was suppressed, and who is withheld depends on every row, which no noise hides: start from the "
            "data"
        )


def _public(table: Table, groups: Any) -> tuple[tuple[Attribute, ...], list[Ints]]:
    """Attributes with all groups there can be, and the codes of cells among them."""
    stated = dict(groups or {}) if isinstance(groups, Mapping | None) else None
    if stated is None or any(isinstance(names, str) or not isinstance(names, Sequence) for names in stated.values()):
        raise UsageError(f"groups is a dict of lists of names by attribute, not {shown(groups)}")
    known = [a.name for a in table.attributes]
    for name in stated:
        if name not in known:
            raise UsageError(f"{shown(name)} is not an attribute of the table (it has: {listed(known)})")
    attributes, codes = [], []
    for a, row in zip(table.attributes, table.codes, strict=True):
        names = tuple(dict.fromkeys(map(str, stated.get(a.name, a.groups))))
        missing = [g for g in a.groups if g not in names]
        if missing:
            raise DataError(
                f"people belong to {shown(missing[0])} of {shown(a.name)}, which is not among the groups that were "
                f"stated ({listed(names)}): state it too (--groups), or leave these people out (--where)"
            )
        place = np.array([names.index(g) for g in a.groups], np.int64)
        attributes.append(Attribute(a.name, names))
        codes.append(place[row])
    return tuple(attributes), codes


def _levels(table: Table, cells: Any) -> tuple[Ints, Spans | None, Floats]:
    """The place of each cell's score on a grid that does not depend on the data, the grid's ranges, and its scores."""
    if table.score is None:
        return np.zeros(table.cells, np.int64), None, np.zeros(1)
    if table.meaning.score_range is None:
        raise UsageError(NO_RANGE)
    if is_whole(cells):
        edges = cell_edges(table.meaning.score_range, cells)
        if table.spans is not None and table.spans.holding(edges[1:-1]).any():
            raise UsageError(
                "the table does not tell scores apart at the borders of the private cells: count the data again with "
                f"these as cuts=, as in tabulate(…, cuts=[{edges[1]:.12g}, …])"
            )
        low, high = edges[:-1], np.append(edges[1:-1], np.nextafter(edges[-1], np.inf))
        spans = Spans(low, high, *table.meaning.score_range)
        return np.searchsorted(edges[1:-1], table.score, side="right"), spans, spans.score
    if table.spans is not None:
        raise UsageError("the table does not tell all scores apart: count the data again with grid=False")
    return _listed(table.score, table.meaning.score_range, cells)


def cell_edges(score_range: tuple[float, float], cells: int) -> Floats:
    """The borders of the cells in which scores are counted, from the lowest possible score to the highest."""
    edges = bin_edges(score_range, whole_number("cells (--cells)", cells, 1, MOST_CELLS))
    if not (edges[1:] > edges[:-1]).all():
        raise UsageError(f"the score range is too short for {cells:,} cells: take fewer (--cells)")
    return edges


def _listed(score: Floats, score_range: tuple[float, float], cells: Any) -> tuple[Ints, None, Floats]:
    try:
        values = np.unique(np.array(list(cells), np.float64))
    except (TypeError, ValueError):
        raise UsageError(f"cells is a whole number or a list of all possible scores, not {shown(cells)}") from None
    lo, hi = score_range
    if not len(values) or not np.isfinite(values).all() or not lo <= values[0] <= values[-1] <= hi:
        raise UsageError(
            f"the list of possible scores (--cells) must lie in the stated range {lo:g} to {hi:g}, not {shown(cells)}"
        )
    place = np.searchsorted(values, score).clip(max=len(values) - 1)
    strays = score[values[place] != score]
    if len(strays):
        raise DataError(f"a score is {strays[0]:.15g}, which is not in the list of possible scores: list all (--cells)")
    return place, None, values


# ---- noise, and a table made of it ---------------------------------------------------------------------------------


def noised(counts: Ints, epsilon: float) -> Ints:
    """Counts with discrete Laplace noise: one row more or less changes one of them by one."""
    dp = check_library()
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=1.0 / epsilon)
    if mechanism.map(1) > epsilon * (1 + 1e-9):
        raise DataError(f"OpenDP cannot guarantee ε = {epsilon:g}: take another one")
    return np.array(mechanism(counts.tolist()), np.int64)


def whole(noisy: NDArray[Any]) -> Ints:
    """Whole, non-negative counts near noisy ones, axes (stratum, level)."""
    upto = np.rint(np.cumsum(rising(noisy), axis=-1))
    return np.asarray(np.diff(upto, axis=-1, prepend=0.0), np.int64)


def carried(counts: Ints) -> Floats:
    """How many cells' noise each cell answers for, axes (stratum, level): its own, and that of empty ones near it."""
    found = np.zeros(counts.shape)
    places = np.arange(counts.shape[1])
    for row, out in zip(counts, found, strict=True):
        held = np.flatnonzero(row)
        if len(held):
            nearest = np.searchsorted(middle(held[:-1], held[1:]), places)
            out[held] = np.bincount(nearest, minlength=len(held))
    return found


def astray(counts: Ints, noise: Noise) -> Floats:
    """Of each stratum, by how much cumulative counts are further off, squared, than noise on its own would put them.

    Making a table of noisy counts puts people where there are few or none. How far that leads is seen by doing it
    again to the table that came out; looking at nothing else, it costs no privacy, and needs no secret random numbers.
    """
    strata, levels = counts.shape
    draws = int(np.clip(DRAWS // strata, *FEWEST_DRAWS))
    rng, q = np.random.default_rng(0), math.exp(-noise.epsilon)
    upto, square = np.cumsum(counts, axis=1), np.zeros((2, *counts.shape))
    for _ in range(draws):
        added = rng.geometric(1 - q, counts.shape) - rng.geometric(1 - q, counts.shape)
        away = np.cumsum(whole(counts + added), axis=1) - upto
        square[0] += away**2
        square[1] += (away[:, -1:] - away) ** 2  # from the other end
    share = np.arange(1, levels + 1)
    far = share >= levels * LEAST_SHARE
    from_below = (square[0] / draws / share)[:, far].max(1)
    from_above = (square[1] / draws / np.maximum(levels - share, 1))[:, far[::-1]][:, :-1].max(1, initial=0.0)
    return np.asarray(np.maximum(np.maximum(from_below, from_above) / noise.variance, 1.0))
