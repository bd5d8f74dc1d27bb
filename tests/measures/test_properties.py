"""What must hold for every measure of rates in the registry, on tables of any shape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import evenhand
from evenhand.analyses.audit.largest_gap import largest_gap
from evenhand.analyses.audit.rate_gaps import gaps
from evenhand.measures.registry import MEASURES, Measure, RateMeasure
from evenhand.tables.dense import Counts, ScoreBin

LEVELS = {"decision": 2, "bins": 10}
RATE_MEASURES = [m for m in MEASURES.values() if isinstance(m, RateMeasure)]
measures = st.sampled_from(RATE_MEASURES)


def counts_for(m: RateMeasure, groups: int = 3, low: int = 0) -> st.SearchStrategy[Counts]:
    shape = (LEVELS[m.levels], groups, 2)
    names = tuple(f"g{i}" for i in range(groups))
    each = range(LEVELS["bins"] if m.levels == "bins" else 0)
    bins = tuple(ScoreBin(f"({k}, {k + 1}]", float(k), k + 1.0) for k in each)
    return arrays(np.int64, shape, elements=st.integers(low, 30)).map(lambda a: Counts(a, names, bins=bins))


pairs = measures.flatmap(lambda m: st.tuples(st.just(m), counts_for(m)))
every = settings(max_examples=150, deadline=None)


def same(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-12, atol=1e-12, equal_nan=True))


@every
@given(pairs)
def test_identical_groups_are_fair(case: tuple[RateMeasure, Counts]) -> None:
    m, counts = case
    alike = replace(counts, array=np.repeat(counts.array[:, :1], 3, axis=1))
    for gap in gaps(m, alike, 0, 0.95, None):
        assert gap.undefined or gap.value == (1.0 if m.scale == "ratio" else 0.0)
        assert gap.undefined or gap.passes
        if gap.ci is not None:
            assert gap.ci[0] <= (1.0 if m.scale == "ratio" else 0.0) <= gap.ci[1]


@every
@given(pairs, st.integers(2, 50))
def test_copying_everyone_changes_no_value(case: tuple[RateMeasure, Counts], times: int) -> None:
    m, counts = case
    for a, b in zip(
        gaps(m, counts, 0, 0.95, None), gaps(m, replace(counts, array=counts.array * times), 0, 0.95, None), strict=True
    ):
        assert same(a.value, b.value)
        assert a.undefined == b.undefined
        if a.ci is not None and b.ci is not None and m.scale == "difference":
            assert b.ci[1] - b.ci[0] <= a.ci[1] - a.ci[0] + 1e-9  # more people, narrower interval


@every
@given(pairs, st.permutations(range(3)))
def test_renaming_groups_permutes_the_answer(case: tuple[RateMeasure, Counts], order: list[int]) -> None:
    m, counts = case
    renamed = replace(counts, array=counts.array[:, order], groups=tuple(counts.groups[i] for i in order))
    before = {(g.group, g.reference): g for g in gaps(m, counts, 0, 0.95, None)}
    after = {(g.group, g.reference): g for g in gaps(m, renamed, order.index(0), 0.95, None)}
    assert before.keys() == after.keys()
    for key in before:
        assert same(before[key].value, after[key].value)
        assert before[key].undefined == after[key].undefined
    assert same(largest_gap(m, counts, 0.95, None).value, largest_gap(m, renamed, 0.95, None).value)


@every
@given(pairs)
def test_swapping_group_and_reference_turns_the_sign(case: tuple[RateMeasure, Counts]) -> None:
    m, counts = case
    forth, back = gaps(m, counts, 0, 0.95, None)[0], gaps(m, counts, 1, 0.95, None)[0]
    if forth.undefined or back.undefined:
        return
    if m.scale == "ratio":
        assert same(forth.value * back.value, 1)
        assert forth.passes == back.passes
        return
    assert same(forth.value, back.value)
    assert forth.passes == back.passes
    if m.signed:
        assert same(forth.signed, -back.signed)  # type: ignore[operator]
        assert same(forth.ci, (-back.ci[1], -back.ci[0]))  # type: ignore[index]


@every
@given(pairs, st.integers(1, 4))
def test_leading_axes_pass_through(case: tuple[RateMeasure, Counts], n: int) -> None:
    m, counts = case
    rng = np.random.default_rng(n)
    many = rng.integers(0, 9, (n, 2, *counts.array.shape))
    stacked = m.profile(Counts(many, counts.groups)).values
    for i in np.ndindex(n, 2):
        assert same(stacked[i], m.profile(Counts(many[i], counts.groups)).values)


@pytest.mark.parametrize("m", [m for m in RATE_MEASURES if not m.needs_label], ids=lambda m: m.id)
def test_leading_axes_pass_through_without_labels(m: RateMeasure) -> None:
    many = np.random.default_rng(0).integers(1, 9, (3, 4, 2, 5, 1))
    stacked = m.profile(Counts(many, tuple("abcde")))
    assert stacked.values.shape == (3, 4, 1, 5)
    for i in np.ndindex(3, 4):
        alone = m.profile(Counts(many[i], tuple("abcde")))
        assert same(stacked.values[i], alone.values)
        assert stacked.trials is not None
        assert same(stacked.trials[i], many[i].sum((0, 2)))
        assert same(alone.values[0], many[i][1, :, 0] / many[i].sum((0, 2)))


@every
@given(pairs)
def test_values_intervals_and_reasons_are_consistent(case: tuple[RateMeasure, Counts]) -> None:
    m, counts = case
    for gap in gaps(m, counts, 0, 0.95, None):
        if gap.undefined:
            assert np.isnan(gap.value)
            assert gap.undefined.startswith("because ")
            assert (gap.ci, gap.passes, gap.signed) == (None, None, None)
            continue
        assert gap.value >= 0
        assert gap.ci is not None
        assert gap.ci[0] - 1e-9 <= (gap.value if gap.signed is None else gap.signed) <= gap.ci[1] + 1e-9
        if m.id != "treatment_equality" and m.scale == "difference":
            assert gap.value <= 1
            assert -1 <= gap.ci[0] <= gap.ci[1] <= 1
        assert gap.interpretation.endswith(".")


@every
@given(measures.flatmap(lambda m: st.tuples(st.just(m), counts_for(m, groups=5))))
def test_the_largest_gap_is_the_largest_of_all_pairs(case: tuple[RateMeasure, Counts]) -> None:
    m, counts = case
    largest = largest_gap(m, counts, 0.95, None)
    known = [i for i, g in enumerate(counts.groups) if g not in largest.left_out]
    values = [
        (min(g.value, 1 / g.value) if g.value else 0.0) if m.scale == "ratio" else g.value
        for r in known
        for g in gaps(m, counts, r, 0.95, None)
        if g.group not in largest.left_out and not g.undefined
    ]
    if largest.undefined:
        assert not values
        return
    assume(values)
    assert same(largest.value, min(values) if m.scale == "ratio" else max(values))
    assert largest.pair is not None
    assert set(largest.pair) <= {counts.groups[i] for i in known}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_the_order_of_rows_does_not_matter(seed: int, groups: int, risk: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 80
    s, y, g = rng.integers(0, 11, n) / 10, rng.integers(0, 2, n), rng.integers(0, groups, n)
    assume(len(set(g.tolist())) > 1)
    shuffled = rng.permutation(n)
    a = evenhand.audit(score=s, label=y, group=g, risk=risk, bootstrap=20, permutations=20)
    b = evenhand.audit(
        score=s[shuffled], label=y[shuffled], group=g[shuffled], risk=risk, bootstrap=20, permutations=20
    )
    assert a.to_json() == b.to_json()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_a_risk_score_is_the_reflected_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 90
    s, y, g = rng.integers(0, 11, n), rng.integers(0, 2, n), rng.integers(0, 2, n)
    words: dict[str, Any] = {"label": y, "group": g, "score_range": (0, 10), "bootstrap": 0, "permutations": 0}
    risk = evenhand.audit(score=s, risk=True, threshold=4.5, **words)
    plain = evenhand.audit(score=10 - s, threshold=5.5, **words)
    for m in MEASURES:
        assert same(risk.measure(m).value, plain.measure(m).value)


@pytest.mark.parametrize("m", MEASURES.values(), ids=list(MEASURES))
def test_the_registry_says_what_a_reader_needs(m: Measure) -> None:
    assert m.asks.endswith("?")
    assert m.formula
    assert m.more != m.less
    assert m.tolerance > 0
