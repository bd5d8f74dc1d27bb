"""What somebody who has a shared table, and knows how it was made, can work out about single people."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from evenhand.tables import privacy
from evenhand.tables.steps import between, usable
from evenhand.tables.table import Table

WIDTHS = [w for e in range(4, -8, -1) for w in (Decimal(5).scaleb(e), Decimal(1).scaleb(e))]
"""The steps on which borders stand, widest first."""


def people(seed: int, n: int, digits: int = 5) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a, b = rng.uniform(0.5, 8, 2)
    scores = np.clip(rng.beta(a + y, b).round(digits), 10.0**-digits, 1 - 10.0**-digits)
    return {"s": scores, "y": y, "g": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])}


def counted(columns: dict[str, Any], **words: Any) -> Table:
    found = evenhand.tabulate(columns, **{"score": "s", "label": "y", "group": "g", **words})
    assert isinstance(found, Table)
    return found


def shared(t: Table, below: int, **words: Any) -> Table | None:
    try:
        return evenhand.suppressed(t, below=below, **words)
    except evenhand.DataError:
        return None


def told(t: Table) -> list[float]:
    """The borders that the table tells, without the ends of the score range."""
    assert t.spans is not None
    ends = {*t.spans.low.tolist(), *t.spans.high.tolist()}
    return sorted(ends - {*t.extremes, float(np.nextafter(t.extremes[1], np.inf))})


def kept(columns: dict[str, Any], found: Table) -> list[float]:
    """The scores of the people who are in the shared table."""
    return sorted(columns["s"][np.isin(columns["g"], found.attributes[0].groups)].tolist())


def step(score: float, width: Decimal) -> int:
    return int((Decimal(repr(score)) / width).to_integral_value(ROUND_FLOOR))


def nearest_sets(border: float, scores: list[float]) -> list[list[float]]:
    """Of each side of a border: in the step in which its nearest person is known to be, everybody on that side.

    Why a range ended here may tell that somebody of a group is in the last step, no more.
    """
    place = int(np.searchsorted(scores, border))
    before, after = scores[place - 1], scores[place]
    width = next(w for w in WIDTHS if step(before, w) < step(after, w))  # the widest with a border between these two
    return [
        [s for s in scores[:place] if step(s, width) == step(before, width)],
        [s for s in scores[place:] if step(s, width) == step(after, width)],
    ]


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.integers(40, 1500), st.sampled_from([3, 5, 10, 20]), st.sampled_from([2, 3, 5]))
def test_no_border_points_at_fewer_people_than_a_cell_holds(seed: int, n: int, below: int, digits: int) -> None:
    columns = people(seed, n, digits)
    found = shared(counted(columns), below)
    if found is None or found.spans is None:
        return
    scores = kept(columns, found)
    for border in told(found):
        assert all(len(group) >= below for group in nearest_sets(border, scores)), border
        before, after = (f(group) for f, group in zip((max, min), nearest_sets(border, scores), strict=True))
        width = next(w for w in WIDTHS if step(before, w) < step(after, w))
        assert Decimal(repr(border)) % width == 0, "a border that is on no step was chosen by somebody's score"


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(100, 1500), st.sampled_from([3, 5, 10]), st.sampled_from([20, 100, 1000]))
def test_fine_edges_point_at_no_fewer_people(seed: int, n: int, below: int, steps: int) -> None:
    columns = people(seed, n)
    edges = [k / steps for k in range(steps + 1)]
    found = shared(counted(columns), below, edges=edges)
    if found is None or found.spans is None:
        return
    assert set(told(found)) <= set(edges)
    scores = kept(columns, found)
    for border in told(found):
        assert all(len(group) >= below for group in nearest_sets(border, scores)), border


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(100, 1500), st.sampled_from([5, 10]))
def test_where_people_are_inside_their_steps_changes_nothing(seed: int, n: int, below: int) -> None:
    """Scores of five digits, moved by what a sixth and further ones would add: the same borders and the same counts."""
    columns = people(seed, n)
    moved = np.random.default_rng(seed + 1).uniform(0, 0.99e-5, n)
    tables = [shared(counted({**columns, "s": s}), below, ranges=1) for s in (columns["s"], columns["s"] + moved)]
    if tables[0] is None or tables[1] is None:
        assert tables == [None, None]
        return
    one, other = tables
    assert one.spans is not None
    assert other.spans is not None
    for name in ("low", "high"):
        assert getattr(one.spans, name).tolist() == getattr(other.spans, name).tolist()
    assert one.n.tolist() == other.n.tolist()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 600), st.integers(3, 20), st.floats(-1e6, 1e6), st.floats(1e-7, 1e6))
def test_between_borders_stand_enough_people(seed: int, n: int, below: int, shift: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    scores, n_of = np.unique(rng.beta(1, 4, n).round(int(rng.integers(1, 7))) * scale + shift, return_counts=True)
    cells = scores, np.nextafter(scores, np.inf)
    border = between(*cells)
    assert ((scores[:-1] < border) & (border <= scores[1:])).all()
    fine = usable(*cells, n_of, below)
    part = np.append(0, np.cumsum(fine))
    assert np.bincount(part, weights=n_of).min() >= below or not fine.any()


def test_scores_that_enough_people_share_stay_exact() -> None:
    rng = np.random.default_rng(0)
    values = np.array([0.1, 1 / 3, 0.334, 0.4, 0.40000001, 2 / 3, 1.0])
    columns = {"s": rng.choice(values, 2000), "y": rng.integers(0, 2, 2000), "g": rng.choice(["a", "b"], 2000)}
    found = evenhand.suppressed(counted(columns), below=20)
    assert found.scores.tolist() == values.tolist()
    assert found.spans is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(40, 400), st.sampled_from([3, 5, 10]))
def test_no_difference_of_totals_is_few_people(seed: int, n: int, below: int) -> None:
    """Everything that is told adds up to parts of nobody or of enough people, attribute by attribute."""
    columns = people(seed, n, 2)
    rng = np.random.default_rng(seed + 1)
    columns["h"] = rng.choice(["x", "y", "z"], n, p=[0.7, 0.25, 0.05])
    columns["s"][rng.random(n) < 0.03] = np.nan
    columns["g"] = np.where(rng.random(n) < 0.02, "", columns["g"])
    found = shared(counted({k: v.tolist() for k, v in columns.items()}, group=["g", "h"], missing="drop"), below)
    if found is None:
        return
    left_out = sum(found.left_out.values())
    for tally in found.left_out_groups.values():
        rest = left_out - sum(tally.values())
        assert rest <= 0 or rest >= below, (dict(found.left_out), dict(tally))
    for attribute, codes in zip(found.attributes, found.codes, strict=True):
        for label in (False, True):
            sizes = np.bincount(codes[found.label == label], found.n[found.label == label], len(attribute.groups))
            assert all(size == 0 or size >= below for size in sizes)


def test_private_tables_differ_in_nothing_but_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its noise a private table of other people has the same borders, range, names and notes."""
    monkeypatch.setattr(privacy, "noised", lambda counts, epsilon: counts + 5)
    rng = np.random.default_rng(0)
    columns = {"s": rng.beta(2, 3, 300), "y": rng.integers(0, 2, 300), "g": rng.choice(["a", "b"], 300)}
    others = {name: values[:-20] for name, values in columns.items()}
    others["s"] = np.append(rng.uniform(0.4, 0.41, 279), 0.123456789)
    for cells in (10, 7):
        one, other = (
            evenhand.privatized(counted(c, score_range=(0, 1)), epsilon=1, cells=cells, groups={"g": ["a", "b"]})
            for c in (columns, others)
        )
        for t in (one, other):
            assert t.extremes == t.score_range == (0.0, 1.0)
            assert t.spans is not None
        assert one.spans == other.spans
        assert (one.meaning, one.attributes, one.notes, one.provenance, one.noise) == (
            other.meaning, other.attributes, other.notes, other.provenance, other.noise,
        )  # fmt: skip
        assert (one.score == other.score).all()
