"""The rules every table keeps: what a measure may rely on without looking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import DataError, listed, shown
from evenhand.files.shapes import MOST_TEXT, is_text
from evenhand.tables.decimals import NARROW
from evenhand.tables.groups import are_tally_keys, crossing_count, crossing_names
from evenhand.tables.noise import EPSILONS

if TYPE_CHECKING:
    from evenhand.tables.confusion import Confusion
    from evenhand.tables.table import Table


Rule = Callable[[Any, str], None]

_TEXT = f"text of at most {MOST_TEXT:,} characters: shorten longer ones"

MOST_PEOPLE = 2**53
"""Up to here every whole number is a float, so sums of counts are exact."""
MOST_CLASSES = 10_000
MOST_CROSSINGS = 1_000
"""Ways to divide people, each of which is compared."""
ROUNDING = 1e-6
"""Sums of weights and of their squares may be off by this share: engines add up in different orders."""
EXACT_SQUARES = 1e-290
"""Smaller sums of squares are no more known that well."""


def _rule(what: str) -> Rule:
    def rule(ok: Any, text: str) -> None:
        if not ok:
            raise DataError(f"{what} needs {text}")

    return rule


def check(t: Table) -> None:
    """Everything a measure may rely on."""
    rule = _rule("a table")
    _check_groups(t, rule)
    rule(t.score is not None or t.decision is not None, "a score or a prediction")
    _check_lengths(t, rule, "score", "decision", "label", "weight", "weight2", "cluster")
    if t.score is not None:
        rule(np.isfinite(t.score).all(), "finite scores")
        rule((t.score[1:] >= t.score[:-1]).all(), "cells sorted by score")
        lo, hi = t.score_range
        rule(np.isfinite(hi - lo), "scores whose range is a finite number: rescale them")
        lowest, highest = t.extremes
        rule(
            lo <= lowest and highest <= hi,
            f"scores inside the stated range [{lo:g}, {hi:g}], not {lowest:g} to {highest:g}: "
            "state a wider range or leave it out",
        )
        if t.spans is not None:
            _check_spans(t, rule)
    rule(t.score is not None or t.spans is None, "scores where it has ranges of them")
    _check_meaning(t, rule)
    rule((t.cluster is None) == (t.meaning.cluster is None), "a name for its clusters")
    rule(t.cluster is None or t.cluster.min() >= 0, "clusters that count from 0")
    _check_weights(t, rule)


def check_confusion(t: Confusion) -> None:
    """Everything that rates of classes may rely on."""
    cells, classes, rule = len(t.n), len(t.classes), _rule("a confusion table")
    _check_groups(t, rule)
    rule(classes > 0 and all(is_text(c) and c for c in t.classes), f"classes whose names are {_TEXT}")
    rule(len(set(t.classes)) == classes, "different names for its classes")
    rule(classes <= MOST_CLASSES, f"at most {MOST_CLASSES:,} classes, not {classes:,}")
    for codes, what in ((t.true, "true"), (t.predicted, "predicted")):
        rule(codes.shape == (cells,), f"one {what} class per cell")
        rule(codes.dtype.kind == "i" and codes.min() >= 0 and codes.max() < classes, f"{what} classes that exist")
    _check_lengths(t, rule, "weight", "weight2")
    rule(is_text(t.meaning.label) and is_text(t.meaning.prediction), "names of label and prediction")
    _check_named(t, rule, "weight", "favorable")
    _check_tallies(t, rule)
    _check_weights(t, rule)


def _check_lengths(t: Table | Confusion, rule: Rule, *names: str) -> None:
    for name in names:
        array = getattr(t, name)
        rule(array is None or array.shape == (len(t.n),), f"one {name} per cell")


def _check_spans(t: Table, rule: Rule) -> None:
    s = t.spans
    assert s is not None
    assert t.score is not None
    rule(np.isfinite(s.low).all() and np.isfinite(s.high).all() and (s.low < s.high).all(), "ranges with a length")
    rule((s.low[1:] >= s.high[:-1]).all(), "ranges of scores that do not overlap")
    own = s.place(t.score)
    rule((t.score == s.score[own])[own >= 0].all() if len(s.low) else True, "people in the middle of their range")
    lo, hi = s.ends(t.score)
    rule(s.lowest <= s.highest and hi.min() >= s.lowest and lo.max() <= s.highest, "scores between its extremes")


def _check_groups(t: Table | Confusion, rule: Rule) -> None:
    cells = len(t.n)
    rule(cells > 0, "at least one row")
    rule(t.attributes, "at least one group column")
    names = [a.name for a in t.attributes]
    rule(all(map(is_text, names)), f"group columns whose names are {_TEXT}")
    rule(len(set(names)) == len(names), f"different names for its group columns, not {listed(names)}")
    _check_depth(t, rule)
    _check_provenance(t, rule)
    rule(t.codes.shape == (len(t.attributes), cells), "one group per attribute and cell")
    rule(t.n.dtype.kind == "i" and (t.n > 0).all(), "whole, positive counts")
    rule(t.n.sum(dtype=np.float64) < MOST_PEOPLE, "fewer than 2**53 people, or sums would not be exact")
    for a, row in zip(t.attributes, t.codes, strict=True):
        rule(row.min() >= 0 and row.max() < len(a.groups), f"group codes that exist in {shown(a.name)}")
        rule(all(map(is_text, a.groups)), f"groups of {shown(a.name)} whose names are {_TEXT}")
        rule(len(set(a.groups)) == len(a.groups), f"different group names in {shown(a.name)}")


def _check_depth(t: Table | Confusion, rule: Rule) -> None:
    if t.depth is None:
        return
    rule(type(t.depth) is int and t.depth >= 1, "a whole number of columns that are crossed (depth), from 1")
    columns = len(t.attributes)
    many = crossing_count(columns, min(t.depth, columns))
    rule(
        many <= MOST_CROSSINGS,
        f"at most {MOST_CROSSINGS:,} ways to divide people: up to {t.depth} of {columns} group columns make {many:,}; "
        "take a smaller depth or fewer columns",
    )
    names = crossing_names([a.name for a in t.attributes], t.depth)
    twice = [name for name in names if names.count(name) > 1]
    rule(not twice, f"different names for its intersections: rename columns, since two make {listed(twice[:1])}")


def _check_provenance(t: Table | Confusion, rule: Rule) -> None:
    p = t.provenance
    flags = (p.tallied, p.withheld, p.untold, p.untold_groups, p.unknown)
    rule(all(isinstance(flag, bool) for flag in flags), "a provenance that says yes or no")
    rule(p.precision is None or p.precision in NARROW, f"scores of a type that it knows ({listed(NARROW)})")
    rule(p.below is None or (type(p.below) is int and p.below >= 1), "a whole number of people that no cell is below")
    rule(p.below is None or t.n.min() >= p.below, f"no cell of fewer people than it says, {p.below}")
    own = {*crossing_names([a.name for a in t.attributes], t.depth)}
    rule(
        all(is_text(a) and is_text(g) and a in own for a, g in p.incomplete), "incomplete groups of its own attributes"
    )


def _check_weights(t: Table | Confusion, rule: Rule) -> None:
    noise = getattr(t, "noise", None)
    if noise is None:
        rule((t.weight is None) == (t.weight2 is None), "weights together with their squares")
    else:
        rule(t.weight is None and t.weight2 is not None, "variances of its counts, and no weights, if it is private")
        least, most = EPSILONS
        rule(least <= noise.epsilon <= most, f"noise of an ε from {least:g} to {most:g}")
        rule(noise.tables >= 1 and noise.epsilon <= noise.total < np.inf, "a finite sum of the ε of its noise")
    for sums in (t.weight, t.weight2):
        rule(sums is None or (np.isfinite(sums) & (sums > 0)).all(), "finite, positive weights")
        with np.errstate(over="ignore"):
            rule(sums is None or np.isfinite(sums.sum()), "weights whose sum is a finite number: rescale them")
    if t.weight2 is not None and t.weight is not None:
        rule(t.weight.sum() < MOST_PEOPLE, "weights that add up to less than 2**53: rescale them")
        rule(_are_squares(t), "sums of squared weights that belong to its sums of weights")
    elif t.weight2 is not None:
        rule((t.weight2 >= t.n * (1 - ROUNDING)).all(), "counts that vary by chance at least")


def _are_squares(t: Table | Confusion) -> bool:
    """Of n positive weights, the sum of squares lies between the n-th part of the squared sum and all of it."""
    assert t.weight is not None
    assert t.weight2 is not None
    with np.errstate(over="ignore", under="ignore"):
        share = t.weight2 / t.weight / t.weight
    inside = (share <= 1 + ROUNDING) & (share >= (1 - ROUNDING) / t.n)
    return bool((inside | (t.weight2 < EXACT_SQUARES)).all())


def _check_meaning(t: Table, rule: Rule) -> None:
    """What a file from elsewhere may get wrong beside the numbers."""
    m = t.meaning
    _check_named(t, rule, "score", "label", "prediction", "weight", "favorable", "cluster", "favorable_prediction")
    rule(isinstance(m.risk, bool), "risk to be true or false")
    rule((t.label is None and t.decision is None) or m.favorable is not None, "a favourable value for its labels")
    _check_tallies(t, rule)


def _check_named(t: Table | Confusion, rule: Rule, *names: str) -> None:
    said = (getattr(t.meaning, name) for name in names)
    rule(all(x is None or is_text(x) for x in said), f"names that are {_TEXT}")
    rule(all(map(is_text, t.notes)), f"notes that are {_TEXT}")


def _check_tallies(t: Table | Confusion, rule: Rule) -> None:
    tallies = [t.left_out, *t.left_out_groups.values()]
    counts = [n for tally in tallies for n in tally.values()]
    rule(all(isinstance(n, int) and n > 0 for n in counts), "whole, positive numbers of rows left out")
    rule(sum(counts) < MOST_PEOPLE, "fewer than 2**53 rows left out")
    rule(all(is_text(key) for tally in tallies for key in tally), f"reasons and groups that are {_TEXT}")
    alone, together = [a.name for a in t.attributes], " × ".join(a.name for a in t.attributes)
    rule(
        set(t.left_out_groups) <= {*alone, together},
        f"rows left out by its own attributes, not {listed(t.left_out_groups)}",
    )
    if together not in alone:
        names = t.left_out_groups.get(together, ())
        rule(are_tally_keys(names, len(alone)), "rows left out by groups with a name in each column")
