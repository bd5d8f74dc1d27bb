"""The rules every table keeps: what a measure may rely on without looking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import DataError, listed, shown
from evenhand.tables.decimals import NARROW

if TYPE_CHECKING:
    from evenhand.tables.confusion import Confusion
    from evenhand.tables.table import Table


Rule = Callable[[Any, str], None]


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
    rule(classes > 0 and all(isinstance(c, str) and c for c in t.classes), "classes whose names are text")
    rule(len(set(t.classes)) == classes, "different names for its classes")
    for codes, what in ((t.true, "true"), (t.predicted, "predicted")):
        rule(codes.shape == (cells,), f"one {what} class per cell")
        rule(codes.dtype.kind == "i" and codes.min() >= 0 and codes.max() < classes, f"{what} classes that exist")
    _check_lengths(t, rule, "weight", "weight2")
    rule(isinstance(t.meaning.label, str) and isinstance(t.meaning.prediction, str), "names of label and prediction")
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
    _check_provenance(t, rule)
    names = [a.name for a in t.attributes]
    rule(len(set(names)) == len(names), f"different names for its group columns, not {listed(names)}")
    rule(t.codes.shape == (len(t.attributes), cells), "one group per attribute and cell")
    rule(t.n.dtype.kind == "i" and (t.n > 0).all(), "whole, positive counts")
    for a, row in zip(t.attributes, t.codes, strict=True):
        rule(row.min() >= 0 and row.max() < len(a.groups), f"group codes that exist in {shown(a.name)}")
        rule(len(set(a.groups)) == len(a.groups), f"different group names in {shown(a.name)}")


def _check_provenance(t: Table | Confusion, rule: Rule) -> None:
    p = t.provenance
    flags = (p.tallied, p.withheld, p.untold, p.untold_groups)
    rule(all(isinstance(flag, bool) for flag in flags), "a provenance that says yes or no")
    rule(p.precision is None or p.precision in NARROW, f"scores of a type that it knows ({listed(NARROW)})")
    rule(p.below is None or (type(p.below) is int and p.below >= 1), "a whole number of people that no cell is below")


def _check_weights(t: Table | Confusion, rule: Rule) -> None:
    noise = getattr(t, "noise", None)
    if noise is None:
        rule((t.weight is None) == (t.weight2 is None), "weights together with their squares")
    else:
        rule(0 < noise.epsilon <= noise.total < np.inf and noise.tables >= 1, "noise of a positive, finite ε")
        rule(t.weight is None and t.weight2 is not None, "variances of its counts, and no weights, if it is private")
    for sums in (t.weight, t.weight2):
        rule(sums is None or (np.isfinite(sums) & (sums > 0)).all(), "finite, positive weights")


def _check_meaning(t: Table, rule: Rule) -> None:
    """What a file from elsewhere may get wrong beside the numbers."""
    m = t.meaning
    texts = (m.score, m.label, m.prediction, m.weight, m.favorable, m.cluster)
    rule(all(x is None or isinstance(x, str) for x in texts), "names that are text")
    rule(isinstance(m.risk, bool), "risk to be true or false")
    rule((t.label is None and t.decision is None) or m.favorable is not None, "a favourable value for its labels")
    _check_tallies(t, rule)


def _check_tallies(t: Table | Confusion, rule: Rule) -> None:
    tallies = [t.left_out, *t.left_out_groups.values()]
    counts = [n for tally in tallies for n in tally.values()]
    rule(all(isinstance(n, int) and n > 0 for n in counts), "whole, positive numbers of rows left out")
    known = {a.name for a in t.attributes} | {" × ".join(a.name for a in t.attributes)}
    rule(set(t.left_out_groups) <= known, f"rows left out by its own attributes, not {listed(t.left_out_groups)}")
