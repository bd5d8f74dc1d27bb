"""Tables in which some cells stand for a range of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.tables.ranges import Spans
from evenhand.tables.table import Table

WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}


def coarse(table: Table, low: list[float], high: list[float]) -> Table:
    """The same people, scores between low and high no longer told apart."""
    names = ("attributes", "codes", "n", "score", "label", "meaning")
    spans = Spans(np.array(low), np.array(high), *table.extremes)
    return Table.of_cells(spans=spans, **{name: getattr(table, name) for name in names})


@pytest.fixture
def table() -> Table:
    rng = np.random.default_rng(0)
    columns = {"s": rng.integers(0, 21, 400) / 20, "y": rng.integers(0, 2, 400), "g": rng.integers(0, 2, 400)}
    found = evenhand.tabulate(columns, **WORDS)
    assert isinstance(found, Table)
    return found


def test_a_threshold_inside_a_range_is_refused(table: Table) -> None:
    t = coarse(table, [0.3], [0.6])
    for threshold in (0.3, 0.6, 0.65, 0.1):  # no people of the range are cut
        exact, found = (a.decisions(a.groupings[0], threshold).array for a in (table, t))
        if threshold != 0.3:
            assert (exact == found).all()
    with pytest.raises(evenhand.UsageError, match=r"between 0\.3 and 0\.6 apart, so it cannot be cut at 0\.45"):
        t.decisions(t.groupings[0], 0.45)
    with pytest.raises(evenhand.UsageError, match="cannot be cut at"):
        evenhand.audit(t, threshold=0.5)


def test_the_bound_holds(table: Table) -> None:
    t = coarse(table, [0.11, 0.3, 0.81], [0.19, 0.5, 0.89])
    exact, found = (evenhand.audit(a, threshold=0.6, bootstrap=0, permutations=0) for a in (table, t))
    resolution = found.attributes[0].resolution
    assert 0 < resolution < 0.2
    assert exact.attributes[0].resolution == 0
    for one, other in zip(exact.attributes[0].measures, found.attributes[0].measures, strict=True):
        if one.id not in ("abpc", "mutual_information") and not one.id.startswith("calibration"):  # binned or smoothed
            assert abs(one.value - other.value) <= resolution, one.id


def test_ranges_add_up(table: Table) -> None:
    a, b = coarse(table, [0.3], [0.5]), coarse(table, [0.4], [0.6])
    both = a + b
    assert both.spans is not None
    assert (both.spans.low.tolist(), both.spans.high.tolist()) == ([0.3], [0.6])
    assert both == b + a
    assert both == coarse(table + table, [0.3], [0.6])
    assert table + a == coarse(table + table, [0.3], [0.5])  # exact scores are absorbed
    assert (a + a).digest() == coarse(table + table, [0.3], [0.5]).digest()
    assert a != table


def test_saved_and_loaded(table: Table, tmp_path: Path) -> None:
    t = coarse(table, [0.3, 0.7], [0.5, 1.0])
    t.save(tmp_path / "t.table")
    found = evenhand.load(tmp_path / "t.table")
    assert found == t
    assert found.extremes == table.extremes
    assert "2 of them ranges of scores" in repr(found)


def test_thresholds_are_those_that_tell_people_apart(table: Table) -> None:
    t = coarse(table, [0.3], [0.6])
    assert 0.45 not in t.cutoffs
    found = evenhand.thresholds(t)
    assert found.sweep.thresholds.tolist() == [*t.cutoffs.tolist(), np.nextafter(1.0, 2.0)]


@pytest.mark.parametrize(
    ("low", "high", "rule"),
    [([0.5], [0.3], "ranges with a length"), ([0.1, 0.2], [0.3, 0.4], "do not overlap"), ([0.1], [np.inf], "length")],
)
def test_bad_ranges(table: Table, low: list[float], high: list[float], rule: str) -> None:
    with pytest.raises(evenhand.DataError, match=rule):
        Table(**{**vars(table), "spans": Spans(np.array(low), np.array(high), 0.0, 1.0)})
