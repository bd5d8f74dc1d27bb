"""What Han, Baldwin & Cohn 2023 say of aggregates, distances and areas, for any rates and any points."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from evenhand.measures.aggregation import GROUPWISE, power_mean
from evenhand.measures.aggregation_spec import recipe
from evenhand.measures.pareto import area, curve, dto, pareto, polar_area, select

Array = np.ndarray[Any, Any]

rate = st.floats(0, 1).map(lambda x: round(x, 6))
matrices = st.integers(2, 5).flatmap(
    lambda groups: st.lists(st.lists(rate, min_size=groups, max_size=groups), min_size=1, max_size=5)
)
inside = st.floats(0.01, 0.99).map(lambda x: round(x, 6))
points = st.lists(st.tuples(inside, inside), min_size=1, max_size=20)
positive = st.floats(0.01, 100)


def sides(some: list[tuple[float, float]]) -> tuple[Array, Array]:
    p, f = np.array(some, float).reshape(-1, 2).T
    return p, f


# ---- Table 1, section 3.3 --------------------------------------------------------------------------------------------


def row_by_hand(name: str, m: list[float], mean: float, gamma: float) -> float:
    """A row of Table 1, without numpy."""
    total, most, least = 0.0, -math.inf, math.inf
    for v in m:
        gap, off = abs(v - mean), abs(v / mean - 1) if mean > 0 else math.nan
        total += {"mean gap": gap, "variance": gap * gap, "difference threshold": float(gap <= gamma),
                  "ratio threshold": float(off <= gamma)}.get(name, 0.0)  # fmt: skip
        value = {"max gap": gap, "min ratio": v / mean if mean > 0 else math.nan}.get(name, v)
        most, least = max(most, value), min(least, value)
    if name == "variance":
        return total / (len(m) - 1)
    if name in ("mean gap", "difference threshold", "ratio threshold"):
        return total / len(m)
    return {"max gap": most, "min score": least, "min ratio": least, "max difference": most - least,
            "max ratio": most / least if least > 0 else math.inf}[name]  # fmt: skip


@pytest.mark.parametrize("name", [n for n, step in GROUPWISE.items() if step.unit and step.kind != "sum"])
@settings(max_examples=40, deadline=None)
@given(matrices, st.floats(0.001, 1).map(lambda x: round(x, 3) + 0.0005))
def test_table_1_is_a_loop_over_groups_and_classes(name: str, rows: list[list[float]], gamma: float) -> None:
    how = recipe(None, name, 2, gamma if "threshold" in name else None)
    base = [sum(m) / len(m) for m in rows]
    by_hand = [row_by_hand(name, m, b, gamma) for m, b in zip(rows, base, strict=True)]
    beta = how.beta(np.array(rows), np.array(base)[:, None])
    for own, theirs, m, b in zip(beta.tolist(), by_hand, rows, base, strict=True):
        if name in ("min ratio", "ratio threshold", "max ratio") and b < 1e-3:
            continue  # nobody is ever right: there is no ratio, or one of rounding errors
        near = "threshold" in name and any(abs(abs(v - b) / (b if "ratio" in name else 1) - gamma) < 1e-9 for v in m)
        assert near or own == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    known = [b for b in beta.tolist() if math.isfinite(b)]
    if len(known) == len(rows):
        root = math.sqrt(sum(b * b for b in known) / len(known))
        assert float(how.over_classes(beta)) == pytest.approx(root, rel=1e-9, abs=1e-12)


@given(st.lists(st.integers(1, 1000).map(lambda i: i / 1000), min_size=2, max_size=6), st.data())
def test_generalised_means_grow_strictly_unless_all_are_alike(values: list[float], data: st.DataObject) -> None:
    low, high = sorted(data.draw(st.lists(st.integers(-8, 8), min_size=2, max_size=2, unique=True)))
    v = np.array(values)
    less, more = float(power_mean(v, low)), float(power_mean(v, high))
    if len(set(values)) == 1:
        assert less == pytest.approx(more, rel=1e-12)
    else:
        assert less < more
    weights = np.array([data.draw(st.integers(1, 9)) for _ in values], float)
    repeated = np.repeat(v, weights.astype(int))  # what a weight means
    assert float(power_mean(v, low, weights)) == pytest.approx(float(power_mean(repeated, low)), rel=1e-9)


@given(st.lists(rate, min_size=2, max_size=6))
def test_the_variance_is_the_squared_quadratic_mean_of_gaps_and_that_the_deviation_of_scores(m: list[float]) -> None:
    v, mean = np.array([m]), np.array([[sum(m) / len(m)]])
    variance = float(recipe(None, "variance").beta(v, mean)[0])
    quadratic = float(recipe("gap", 2).beta(v, mean)[0])
    assert variance == pytest.approx(len(m) / (len(m) - 1) * quadratic**2, rel=1e-9, abs=1e-15)
    assert quadratic == pytest.approx(np.std(m), rel=1e-9, abs=1e-12)


# ---- sections 4.3 and 4.4, Appendix C --------------------------------------------------------------------------------


@given(points)
def test_the_smallest_distance_is_that_of_a_point_on_the_front(some: list[tuple[float, float]]) -> None:
    p, f = sides(some)
    nearest = dto(p, f)
    assert nearest[pareto(p, f)].min() == nearest.min()


@given(points, positive, positive)
def test_distances_of_normalised_axes_do_not_know_their_units(
    some: list[tuple[float, float]], a: float, b: float
) -> None:
    """C.1: results in other units, with utopia and scales in these units, are as far."""
    p, f = sides(some)
    plain = dto(p, f, scale=(0.4, 0.2))
    other = dto(a * p, b * f, utopia=(a, b), scale=(0.4 * a, 0.2 * b))
    assert other == pytest.approx(plain, rel=1e-9)
    assert dto(p, f, scale=(a, a)) == pytest.approx(dto(p, f) / a)
    assert int(select(p, f, scale=(a, a))) == int(select(p, f)) or len({*np.round(dto(p, f), 9)}) < len(p)


@given(points, st.floats(0, 0.5))
def test_moving_utopia_follows_the_law_of_cosines(some: list[tuple[float, float]], b: float) -> None:
    """C.2: r′² = r² + b² + 2 r b cos α′, so of models as far as each other the worse performing one is further."""
    p, f = sides(some)
    p = p * (1 - b)
    r, moved = dto(p, f, utopia=(1 - b, 1.0)), dto(p, f)
    away = 1 - b - p  # r cos α′
    assert moved**2 == pytest.approx(r**2 + b**2 + 2 * b * away, abs=1e-12)
    for i, j in itertools.combinations(range(len(p)), 2):
        turned = (1 - b - np.sqrt(max(r[i] ** 2 - (1 - f[j]) ** 2, 0.0)), f[j])  # as far as i, as fair as j
        if b > 0.01 and abs(turned[0] - p[i]) > 1e-6 and r[i] ** 2 > (1 - f[j]) ** 2:
            assert (float(dto(*turned)) > moved[i]) == (turned[0] < p[i])


@given(points, inside, st.floats(0.0, 0.3), st.floats(0.0, 0.3))
def test_the_area_seen_from_utopia_is_what_the_curve_leaves(
    some: list[tuple[float, float]], random: float, right: float, up: float
) -> None:
    """Section 4.4: below utopia, above the curve, and the triangles at both ends, wherever utopia is."""
    p, f = sides(some)
    line, utopia = curve(p, f, (random, 1.0)), (1 + right, 1 + up)
    (p0, f0), (p1, f1) = ((float(line.performance[i]), float(line.fairness[i])) for i in (0, -1))
    left = (p1 - p0) * utopia[1] - float(area(line))
    ends = ((utopia[0] - p1) * (utopia[1] - f1) - (utopia[0] - p0) * (utopia[1] - f0)) / 2
    assert float(polar_area(line, utopia)) == pytest.approx(left + ends, abs=1e-12)


@given(points, points, inside, st.floats(0.01, 0.5))
def test_moving_utopia_adds_the_same_to_curves_with_the_same_ends(
    one: list[tuple[float, float]], other: list[tuple[float, float]], least: float, more: float
) -> None:
    """C.2: then, and only then, it is irrelevant to who is better."""
    last = (1.0, least)
    lines = [curve(*sides([*some, last]), (0.0, 1.0)) for some in (one, other)]
    near, far = ([float(polar_area(line, (u, 1.0))) for line in lines] for u in (1.0, 1.0 + more))
    assert far[0] - near[0] == pytest.approx(far[1] - near[1], abs=1e-12)
    assert near[1] - near[0] == pytest.approx(float(area(lines[0]) - area(lines[1])), abs=1e-12)
