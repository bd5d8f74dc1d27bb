"""Fronts, distances, areas and crossings, against code that takes its time, and what must hold for any points."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from evenhand.measures.pareto import Curve, area, curve, dto, pareto, partial_area, polar_area, select, slopes, winners

Array = np.ndarray[Any, Any]

coordinate = st.one_of(
    st.integers(0, 10).map(lambda i: i / 10), st.floats(0, 1).map(lambda x: round(x, 6))
)  # fronts compare to 12 digits
points = st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=25)


def sides(some: list[tuple[float, float]]) -> tuple[Array, Array]:
    p, f = np.array(some, float).reshape(-1, 2).T
    return p, f


def dominates(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a[0] >= b[0] and a[1] >= b[1] and a != b


def slow_front(some: list[tuple[float, float]]) -> list[bool]:
    return [not any(dominates(other, own) for other in some) for own in some]


def slow_area(some: list[tuple[float, float]], start: tuple[float, float]) -> Fraction:
    """In exact arithmetic, without numpy."""
    ordered = sorted({*some, start}, key=lambda point: (point[0], -point[1]))
    exact = [(Fraction(p), Fraction(f)) for p, f in ordered]
    return sum(((q[0] - p[0]) * (p[1] + q[1]) / 2 for p, q in itertools.pairwise(exact)), Fraction(0))


@given(points)
def test_front_equals_comparing_all_pairs(some: list[tuple[float, float]]) -> None:
    assert pareto(*sides(some)).tolist() == slow_front(some)


@given(st.lists(points, min_size=1, max_size=4))
def test_leading_axes_pass_through_and_nan_is_no_point(rows: list[list[tuple[float, float]]]) -> None:
    most = max(map(len, rows))
    padded = np.full((2, len(rows), most), np.nan)
    for i, row in enumerate(rows):
        padded[:, i, : len(row)] = sides(row)
    p, f = padded
    on, line = pareto(p, f), curve(p, f, (0.25, 1.0))
    nearest, distances = select(p, f), dto(p, f)
    for i, row in enumerate(rows):
        one = curve(*sides(row), (0.25, 1.0))
        assert on[i, : len(row)].tolist() == slow_front(row)
        assert not on[i, len(row) :].any()
        assert area(line)[i] == pytest.approx(float(area(one)))
        assert polar_area(line)[i] == pytest.approx(float(polar_area(one)))
        parts = partial_area(line, fairness_from=0.4, dto_to=0.7), partial_area(one, fairness_from=0.4, dto_to=0.7)
        assert parts[0][i] == pytest.approx(float(parts[1]))
        assert distances[i, nearest[i]] == np.nanmin(distances[i])


@given(points)
def test_area_equals_exact_arithmetic(some: list[tuple[float, float]]) -> None:
    line = curve(*sides(some), (0.25, 1.0))
    assert float(area(line)) == pytest.approx(float(slow_area(some, (0.25, 1.0))), abs=1e-12)


@given(points)
def test_polar_and_cartesian_areas_agree(some: list[tuple[float, float]]) -> None:
    line = curve(*sides(some), (0.25, 1.0))
    (p0, f0), (p1, f1) = ((float(line.performance[i]), float(line.fairness[i])) for i in (0, -1))
    rectangle = p1 - p0
    triangles = ((1 - p1) * (1 - f1) - (1 - p0) * (1 - f0)) / 2
    assert float(polar_area(line)) == pytest.approx(rectangle - float(area(line)) + triangles, abs=1e-12)


def test_polar_area_is_half_the_integral_of_the_squared_distance_over_the_angle() -> None:
    line = curve([0.5, 0.62, 0.8], [0.9, 0.8, 0.6], (0.3, 1.0))
    p = np.linspace(0.3, 0.8, 200_001)
    f = np.interp(p, *line)
    angle = np.arctan2(1 - f, 1 - p)
    squares = (1 - p) ** 2 + (1 - f) ** 2
    assert float(polar_area(line)) == pytest.approx(np.trapezoid(squares, angle) / 2, abs=1e-8)


@given(points, st.floats(0, 1), st.floats(0, 1), st.floats(0.05, 1.4))
@settings(max_examples=60)
def test_partial_area_equals_a_fine_grid(some: list[tuple[float, float]], low: float, fair: float, far: float) -> None:
    line = curve(*sides(some), (0.25, 1.0))
    conditions = {"performance_from": low, "fairness_from": fair, "dto_to": far}
    t = (np.arange(2000) + 0.5) / 2000
    for chosen in [*({k: v} for k, v in conditions.items()), conditions]:
        total = 0.0
        for i in range(len(line.performance) - 1):
            p, f = (side[i] + t * (side[i + 1] - side[i]) for side in line)
            inside = (p >= chosen.get("performance_from", -1)) & (f >= chosen.get("fairness_from", -1))
            inside &= np.hypot(1 - p, 1 - f) <= chosen.get("dto_to", 9)
            total += float((f * inside).mean() * (line.performance[i + 1] - line.performance[i]))
        assert float(partial_area(line, **chosen)) == pytest.approx(total, abs=1e-3)


def test_partial_areas_end_exactly_where_the_condition_does() -> None:
    line = curve([0.9], [0.4], (0.3, 1.0))  # f = 1.3 − p
    assert float(partial_area(line, performance_from=0.5)) == pytest.approx(0.4 * (0.8 + 0.4) / 2, abs=1e-15)
    assert float(partial_area(line, fairness_from=0.5)) == pytest.approx(0.5 * (1 + 0.5) / 2, abs=1e-15)
    nearest = 0.7 / 2**0.5
    assert float(partial_area(line, dto_to=nearest - 1e-9)) == 0
    root = (0.5**2 - nearest**2) ** 0.5 / 2**0.5  # half the chord, in performance
    assert float(partial_area(line, dto_to=0.5)) == pytest.approx(2 * root * 0.65, abs=1e-12)
    assert float(partial_area(line)) == float(area(line))


@given(points, coordinate, coordinate)
def test_a_pareto_improvement_never_raises_the_distance(
    some: list[tuple[float, float]], better_p: float, better_f: float
) -> None:
    p, f = sides(some)
    best = float(dto(p, f).min())
    i = int(select(p, f))
    improved = np.maximum(p[i], better_p), np.maximum(f[i], better_f)
    assert float(dto(*improved)) <= best + 1e-15
    assert float(dto(np.append(p, improved[0]), np.append(f, improved[1])).min()) <= best
    assert pareto(p, f)[i]


@given(points, st.integers(0, 24), st.floats(0, 1), st.floats(0, 1))
def test_a_dominated_point_changes_nothing(some: list[tuple[float, float]], i: int, a: float, b: float) -> None:
    worse = some[i % len(some)][0] * a, some[i % len(some)][1] * b
    if worse in some:
        return
    more = [*some, worse]
    assert pareto(*sides(more)).tolist()[:-1] == pareto(*sides(some)).tolist()
    assert not pareto(*sides(more))[-1]
    assert select(*sides(more)) == select(*sides(some))


@given(points)
def test_equal_points_count_once(some: list[tuple[float, float]]) -> None:
    once, twice = curve(*sides(some), (0.1, 1.0)), curve(*sides(some + some[::-1]), (0.1, 1.0))
    assert float(area(twice)) == pytest.approx(float(area(once)), abs=1e-14)
    assert pareto(*sides(some + some)).tolist() == 2 * pareto(*sides(some)).tolist()


@given(points, st.floats(0, 1), st.sampled_from(["dto", "performance", "fairness"]))
def test_selection_equals_sorting(some: list[tuple[float, float]], floor: float, by: Any) -> None:
    p, f = sides(some)
    left = [i for i, (a, b) in enumerate(some) if (b if by == "performance" else a) >= floor - 1e-9]
    keys = {
        "dto": lambda i: (float(dto(p[i], f[i])), -p[i], -f[i], i),
        "performance": lambda i: (-p[i], -f[i], i),
        "fairness": lambda i: (-f[i], -p[i], i),
    }
    floors = {"fairness_floor" if by == "performance" else "performance_floor": floor}
    assert int(select(p, f, by, **floors)) == (min(left, key=keys[by]) if left else -1)


def test_floors_are_met_up_to_rounding() -> None:
    assert int(select(0.8, [1 - 0.9], fairness_floor=0.1)) == 0
    assert int(select(0.8, [0.6], fairness_floor=0.55 + 0.05)) == 0
    assert int(select([1 - 0.9], 0.8, performance_floor=0.1)) == 0
    assert int(select(0.8, [0.6], fairness_floor=0.6 + 1e-8)) == -1


def test_slopes_tell_what_an_area_does_when_points_move() -> None:
    line = curve([0.5, 0.7, 0.7, 0.9], [0.9, 0.8, 0.7, 0.3], (0.3, 1.0))

    def part(one: Curve) -> Any:
        return partial_area(one, performance_from=0.6, fairness_from=0.5)

    for size in (area, part):
        found = slopes(line, size)
        for axis in (0, 1):
            for i in range(5):
                ends = []
                for step in (-1e-7, 1e-7):
                    moved = np.stack(line)
                    moved[axis, i] += step
                    ends.append(float(size(Curve(*moved))))
                assert found[axis, i] == pytest.approx((ends[1] - ends[0]) / 2e-7, abs=1e-4)


def test_utopia_and_scale() -> None:
    assert float(dto(0.5, 0.6, utopia=(0.8, 1.0), scale=(0.3, 0.4))) == pytest.approx(2**0.5)
    far = dto([0.3, 0.9], [0.3, 0.9], scale=(2.0, 2.0))
    assert far == pytest.approx(np.array([0.7, 0.1]) * 2**0.5 / 2)


# ---- whose curve is highest ---------------------------------------------------------------------------------


def height(line: Curve, x: float) -> float:
    """By looking at every piece."""
    pieces = zip(*(side.tolist() for side in line), strict=True)
    ordered = list(pieces)
    for (x0, y0), (x1, y1) in itertools.pairwise(ordered):
        if x0 < x < x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return -1.0


@given(st.lists(points, min_size=1, max_size=7), st.booleans())
@settings(max_examples=150)
def test_winners_equal_looking_at_every_curve(methods: list[list[tuple[float, float]]], start: bool) -> None:
    lines = [curve(*sides(some), (0.05, 1.0) if start else None) for some in methods]
    found = winners(lines)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert all(a.highest != b.highest or a.end < b.start for a, b in itertools.pairwise(found))
    for x in np.random.default_rng(0).random(60).tolist():
        heights = [height(line, x) for line in lines]
        own = [s for s in found if s.start < x < s.end]
        if max(heights) < 0:
            assert not own
        elif own:
            assert all(heights[i] == pytest.approx(max(heights), abs=1e-9) for i in own[0].highest)
        else:  # exactly at a border
            assert any(abs(x - edge) < 1e-9 for line in lines for edge in line.performance.tolist())


def test_curves_that_run_together_share_the_stretch() -> None:
    a = curve([0.6, 0.8], [0.8, 0.5], (0.2, 1.0))
    b = curve([0.6, 0.9], [0.8, 0.1], (0.2, 1.0))
    assert [(round(s.start, 9), round(s.end, 9), s.highest) for s in winners([a, b])] == [
        (0.2, 0.6, (0, 1)), (0.6, 0.8, (0,)), (0.8, 0.9, (1,)),
    ]  # fmt: skip
    assert winners([a, a, a])[0].highest == (0, 1, 2)
    assert winners([]) == []
    assert winners([curve([0.5], [0.5])]) == []


def test_crossings_are_exact() -> None:
    a, b = curve([0.0, 1.0], [1.0, 0.0]), curve([0.0, 1.0], [0.7, 0.4])
    (first, second) = winners([a, b])
    assert first.end == pytest.approx(3 / 7, abs=1e-15)
    assert second == (first.end, 1.0, (1,))


def test_thousands_of_curves() -> None:
    rng = np.random.default_rng(1)
    lines = [curve(*rng.random((2, 3)), (0.0, 1.0)) for _ in range(1500)]
    found = winners(lines)
    x = [(s.start + s.end) / 2 for s in found]
    for place, s in zip(x, found, strict=True):
        assert height(lines[s.highest[0]], place) == pytest.approx(max(height(line, place) for line in lines))


def test_last_digits_put_no_point_on_the_front() -> None:
    assert pareto([0.6, 0.8], [0.5000000000000001, 0.5]).tolist() == [False, True]
