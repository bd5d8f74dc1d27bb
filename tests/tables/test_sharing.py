"""Tables that are handed to somebody else: no small cells, or private counts; and what a table tells about people."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from conftest import called as run, check_schema, evenhand as process
from evenhand.tables import privacy
from evenhand.tables.noise import Noise
from evenhand.tables.ranges import Spans
from evenhand.tables.suppression import OTHERS, WITHHELD
from evenhand.tables.table import Table

WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}


def counted(columns: dict[str, Any], **words: Any) -> Table:
    found = evenhand.tabulate(columns, **{**WORDS, **words})
    assert isinstance(found, Table)
    return found


def some(n: int = 3000, seed: int = 0, shares: tuple[float, ...] = (0.6, 0.3, 0.1), **words: Any) -> Table:
    rng = np.random.default_rng(seed)
    g = rng.choice([f"g{i}" for i in range(len(shares))], n, p=shares)
    y = rng.integers(0, 2, n)
    return counted({"s": rng.beta(2 + y, 3), "y": y, "g": g}, **words)


def strata(t: Table) -> dict[tuple[Any, ...], int]:
    """People by joint group, label and decision."""
    found: dict[tuple[Any, ...], int] = defaultdict(int)
    for i, n in enumerate(t.n.tolist()):
        group = tuple(a.groups[c] for a, c in zip(t.attributes, t.codes[:, i], strict=True))
        flags = (None if f is None else bool(f[i]) for f in (t.label, t.decision))
        found[(*group, *flags)] += n
    return dict(found)


# ---- no small cells -----------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n = draw(st.integers(5, 80))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    levels = draw(st.sampled_from([2, 5, 1000]))
    scale, shift = draw(st.sampled_from([(1.0, 0.0), (9.0, 1.0), (1e-7, 0.0), (1e6, -5e5)]))
    columns: dict[str, Any] = {
        "s": rng.integers(0, levels + 1, n) / levels * scale + shift,
        "y": rng.integers(0, 2, n),
        "d": rng.integers(0, 2, n),
        "g": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        "h": rng.choice(["x", "y"], n, p=[0.8, 0.2]),
    }
    if draw(st.booleans()):
        columns["g"][0] = ""  # nobody knows
    words: dict[str, Any] = {"missing": "drop", "group": draw(st.sampled_from(["g", ["g", "h"]]))}
    words["score_range"] = (shift, shift + scale)
    for word, column in (("label", "y"), ("prediction", "d")):
        if draw(st.booleans()):
            words[word] = column
        else:
            words.pop(word, None)
    found = evenhand.tabulate({k: v.tolist() for k, v in columns.items()}, score="s", **words)
    assert isinstance(found, Table)
    return found


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(3, 12), st.integers(1, 8), st.booleans())
def test_every_cell_is_empty_or_large_and_kept_totals_are_true(t: Table, below: int, ranges: int, keep: bool) -> None:
    kept = [float(np.median(t.scores))] if keep else []
    try:
        shared = evenhand.suppressed(t, below=below, ranges=ranges, keep_thresholds=kept)
    except evenhand.DataError:
        assert min(strata(t).values()) < below or kept
        return
    assert shared.n.min() >= below
    before, after = strata(t), strata(shared)
    assert all(before[key] == n for key, n in after.items())
    whole = {key[: len(t.attributes)] for key in after}
    assert {key for key in before if key[: len(t.attributes)] in whole} == set(after)  # groups as a whole, or not
    tallies = [shared.left_out, *shared.left_out_groups.values()]
    assert all(n >= below for tally in tallies for n in tally.values())
    if shared.left_out:
        assert shared.rows + sum(shared.left_out.values()) <= t.rows + sum(t.left_out.values())
    for again in (t, shared):
        assert evenhand.suppressed(again, below=below, ranges=ranges, keep_thresholds=kept) == shared
    assert shared.scores[0] >= shared.score_range[0]
    for threshold in kept:
        groups = [g for g in t.groupings[-1].groups if g in shared.groupings[-1].groups]
        for exact, found in zip(*(_selected(a, groups, threshold) for a in (t, shared)), strict=True):
            assert exact == found


def _selected(t: Table, groups: list[str], threshold: float) -> list[int]:
    grouping = t.groupings[-1]
    assert t.score is not None
    chosen = t.score >= threshold
    assert t.spans is None or not t.spans.holding(np.array([threshold])).any()
    return [int(t.n[chosen & (grouping.codes == grouping.groups.index(g))].sum()) for g in groups]


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(3, 6))
def test_ranges_hold_their_people(t: Table, below: int) -> None:
    try:
        shared = evenhand.suppressed(t, below=below, ranges=1)
    except evenhand.DataError:
        return
    t = t.complete()
    grouping = t.groupings[-1]
    kept = np.isin(np.array(grouping.groups)[grouping.codes], shared.groupings[-1].groups)
    assert t.score is not None
    assert shared.score is not None
    spans = shared.spans or Spans(np.zeros(0), np.zeros(0), 0.0, 0.0)
    low, high = spans.ends(shared.scores)
    for score, n in zip(t.score[kept], t.n[kept], strict=True):
        at = (low <= score) & ((score < high) | (low == high) & (score == low))
        assert at.sum() >= 1, (score, n)
    assert sum(t.n[kept]) == shared.rows


@pytest.mark.parametrize("below", [1, 2])
def test_a_cell_of_two_people_hides_neither(below: int) -> None:
    with pytest.raises(evenhand.UsageError, match=r"whole number from 3, not \d: .* each knows the other"):
        evenhand.suppressed(some(200), below=below)


def test_more_than_everybody_is_refused() -> None:
    with pytest.raises(evenhand.DataError, match="no group has 10,000 people with every label"):
        evenhand.suppressed(some(200), below=10_000)


def test_a_group_is_withheld_as_a_whole() -> None:
    columns = {"s": [0.1, 0.9] * 50, "y": [0, 1] * 50, "g": ["a"] * 50 + ["b"] * 41 + ["c"] * 9}
    shared = evenhand.suppressed(counted(columns), below=5)
    assert [a.groups for a in shared.attributes] == [("a", "b")]  # of c 5 and 4 people have the labels
    assert dict(shared.left_out) == {WITHHELD: 9}
    assert {k: dict(v) for k, v in shared.left_out_groups.items()} == {"g": {"c": 9}}
    audit = evenhand.audit(shared, bootstrap=0, permutations=0)
    assert "Left out: 9 rows of groups too small to share" in repr(audit)
    assert any("every row of these groups was left out: 'c of g'" in note for note in audit.notes)


def test_fewer_than_k_withheld_people_are_not_counted_nor_named() -> None:
    columns = {"s": [0.1, 0.9] * 50, "y": [0, 1] * 50, "g": ["a"] * 50 + ["b"] * 47 + ["c"] * 3}
    shared = evenhand.suppressed(counted(columns), below=5)
    assert not shared.left_out
    assert not shared.left_out_groups
    assert "c" not in json.dumps([a.groups for a in shared.attributes])
    assert any("a few rows were left out or withheld: how many is not told" in note for note in shared.notes)


def test_small_tallies_are_put_together() -> None:
    columns = {
        "s": [0.1, 0.9, None] * 40 + [None] * 3,
        "y": [0, 1, 1] * 38 + [0, None, 1, 0, None, 1] + [1] * 3,
        "g": ["a", "b"] * 60 + [None] * 3,
    }
    t = counted(columns, missing="drop")
    assert min(t.left_out.values()) < 5
    shared = evenhand.suppressed(t, below=5)
    assert all(n >= 5 for n in shared.left_out.values())
    assert not shared.left_out_groups
    more = evenhand.suppressed(t, below=3)
    assert sum(more.left_out.values()) == sum(t.left_out.values()) or OTHERS not in more.left_out


def test_ranges_decide_how_many_small_groups_are_kept() -> None:
    t = some(20_000, shares=(0.5, 0.47, 0.028, 0.002))
    all_kept = evenhand.suppressed(t, below=10, ranges=1)
    finer = evenhand.suppressed(t, below=10)
    assert len(all_kept.attributes[0].groups) == 4
    assert len(all_kept.scores) < 5 <= len(finer.scores)
    assert finer.attributes[0].groups == ("g0", "g1", "g2")
    assert len(evenhand.suppressed(t, below=10, ranges=10**6).attributes[0].groups) == 2


def test_two_groups_of_every_attribute_stay() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    columns = {
        "s": rng.random(n),
        "y": rng.integers(0, 2, n),
        "g": rng.choice(["a", "b"], n),
        "h": ["x"] * 1900 + ["z"] * 100,
    }
    shared = evenhand.suppressed(counted(columns, group=["g", "h"]), below=5, ranges=10**6)
    assert [len(a.groups) for a in shared.attributes] == [2, 2]


def test_nobody_s_extreme_score_is_told() -> None:
    rng = np.random.default_rng(1)
    columns = {"s": rng.normal(50, 10, 1000), "y": rng.integers(0, 2, 1000), "g": rng.choice(["a", "b"], 1000)}
    with pytest.raises(evenhand.UsageError, match="state the one that is possible"):
        evenhand.suppressed(counted(columns), below=10)  # measures depend on a range that cannot be told
    shared = evenhand.suppressed(counted(columns, score_range=(-100, 200)), below=10)
    assert shared.spans is not None
    told = {*shared.extremes, *shared.score_range, *shared.spans.low, *shared.spans.high, *shared.scores}
    assert not told & set(columns["s"].tolist())
    assert shared.extremes == shared.score_range == (-100, 200)


def test_extremes_that_enough_people_share_are_kept() -> None:
    shared = evenhand.suppressed(evenhand.compas(), below=80)
    assert shared.extremes == (1.0, 10.0)
    assert shared.score_range == (1.0, 10.0)


def test_people_at_the_ends_of_a_stated_range() -> None:
    columns = {"s": [0.0, 0.01, 0.5, 0.6, 0.99, 1.0] * 8, "g": ["a", "b"] * 12 + ["b", "a"] * 12}
    shared = evenhand.suppressed(counted(columns, label=None), below=5, keep_thresholds=[0.5])
    assert shared.extremes == (0.0, 1.0)
    assert shared.selected(0.5).any()
    with pytest.raises(evenhand.UsageError, match=r"cannot be cut at 1\.0"):
        shared.selected(1.0)  # those who have exactly 1 are not told apart


def test_a_kept_threshold_is_exact_for_people_who_have_it() -> None:
    t = counted({"s": [0.4, 0.5, 0.6, 0.4] * 30, "g": ["a"] * 60 + ["b"] * 60}, label=None)
    shared = evenhand.suppressed(t, below=25, keep_thresholds=[0.5])
    exact, found = (evenhand.audit(a, threshold=0.5, bootstrap=0) for a in (t, shared))
    assert exact.measure("demographic_parity").value == found.measure("demographic_parity").value
    assert found.table.spans is not None
    assert 0.5 in found.table.cutoffs


def test_the_audit_says_what_it_cannot_see() -> None:
    shared = evenhand.suppressed(some(5000), below=40, keep_thresholds=[0.5])
    found = evenhand.audit(shared, bootstrap=0, permutations=0)
    notes = " ".join(found.notes)
    assert "every cell of this table holds at least 40 people" in notes
    assert "the score can be cut at 0" in notes
    assert f"within {found.attributes[0].resolution:.1g} of their exact values" in notes
    assert found.measure("calibration_gap").undefined == (
        "because the scores are known in ranges that go across the borders of its bins"
    )
    page = found.to_html()
    assert "holds at least 40 people" in page
    no_border = evenhand.suppressed(some(5000), below=200)
    assert any("are not distinguished" in note for note in evenhand.audit(no_border, bootstrap=0, permutations=0).notes)


def test_the_bound_holds_for_shared_tables() -> None:
    t = some(20_000)
    shared = evenhand.suppressed(t, below=10, keep_thresholds=[0.5])
    exact, found = (evenhand.audit(a, bootstrap=0, permutations=0) for a in (t, shared))
    resolution = found.attributes[0].resolution
    assert 0 < resolution < 0.1
    for a, b in zip(exact.attributes[0].measures, found.attributes[0].measures, strict=True):
        if a.id not in ("abpc", "mutual_information") and not a.id.startswith("calibration"):
            assert abs(a.value - b.value) <= resolution, a.id


def test_shared_tables_add_up(tmp_path: Path) -> None:
    first = evenhand.suppressed(some(3000, 0), below=10)
    parts = [first, evenhand.suppressed(some(3000, 1), below=10, like=first)]
    both = parts[0] + parts[1]
    assert both.rows == parts[0].rows + parts[1].rows
    assert both.n.min() >= 10
    both.save(tmp_path / "both.table")
    assert evenhand.load(tmp_path / "both.table") == both


def test_compas_keeps_its_deciles(data_folder: Path) -> None:
    words = {"score": "decile_score", "label": "two_year_recid", "group": "race", "favorable": "0", "risk": True}
    t = evenhand.tabulate(data_folder / "compas-scores-two-years.csv", **words)  # type: ignore[arg-type]
    assert isinstance(t, Table)
    shared = evenhand.suppressed(t, below=5, keep_thresholds=[5])
    assert shared.scores.tolist() == [1, 2, 3, 4, 5, 6, 7, 9]
    assert dict(shared.left_out_groups["race"]) == {"Asian": 32, "Native American": 18}
    assert len(evenhand.suppressed(t, below=10).scores) == 6


def test_no_group_is_withheld_for_nothing() -> None:
    rng = np.random.default_rng(1)
    g = np.repeat(["A", "B", "C", "D"], [1000, 800, 600, 500])
    columns = {
        "d": rng.integers(0, 2, len(g)),
        "s": rng.integers(1, 5, len(g)),
        "y": rng.integers(0, 2, len(g)),
        "g": g,
    }
    for words in ({"score": None, "label": None, "prediction": "d"}, {"score": "s"}):  # fewer levels than ranges
        t = counted(columns, **words)
        shared = evenhand.suppressed(t, below=5)
        assert shared.rows == t.rows
        assert shared.notes == (
            "every cell of this table holds at least 5 people: scores were put together where need be",
        )
        assert evenhand.suppressed(shared, below=5) == shared


def test_thresholds_that_nobody_reaches_are_kept() -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.uniform(0.2, 0.4, 1000), rng.uniform(0.6, 0.8, 1000)])
    t = counted({"s": scores, "g": rng.choice(["f", "m"], 2000)}, label=None)
    thresholds = [0.1, 0.45, 0.5, 0.9]
    shared = evenhand.suppressed(t, below=10, keep_thresholds=thresholds)
    for threshold in thresholds:
        assert _selected(shared, ["f", "m"], threshold) == _selected(t, ["f", "m"], threshold)


def test_tallies_do_not_give_away_what_is_not_told() -> None:
    """206 of x were withheld or lacked a score, 203 were withheld: 3 lacked a score."""
    g = np.array(["f"] * 300 + ["m"] * 300 + ["x"] * 50)
    s, y = np.tile([0.2, 0.8], 325), np.tile([0.0, 0.0, 1.0, 1.0, 1.0], 130)
    y[g == "x"] = 0
    y[np.flatnonzero(g == "x")[:3]] = 1
    s[np.flatnonzero(g == "x")[10:13]] = np.nan
    shared = evenhand.suppressed(counted({"s": s, "y": y, "g": g}, missing="drop"), below=10)
    assert dict(shared.left_out) == {WITHHELD: 47}
    assert {k: dict(v) for k, v in shared.left_out_groups.items()} == {"g": {"x": 47}}


@pytest.mark.usefixtures("seeded")
def test_notes_tell_no_number_of_rows() -> None:
    columns = {
        "s": [0.1, 0.9] * 250,
        "g": ["f", "m"] * 250,
        "kind": ["test"] * 497 + ["rare"] * 3,
        "y": [0, 1, 1, 0] * 125,
    }
    t = counted(columns, where={"kind": "test"}, score_range=(0, 1))
    assert "497 of 500" in t.notes[0]
    for shared in (evenhand.suppressed(t, below=5), evenhand.privatized(t, epsilon=1)):
        assert shared.notes[0] == "only rows with kind = 'test' were counted"
        assert "497" not in "".join(shared.notes)


@pytest.mark.usefixtures("seeded")
def test_notes_stay_true_when_tables_add_up(tmp_path: Path) -> None:
    t = some(3000, score_range=(0, 1))
    ten, five = (evenhand.suppressed(t, below=k) for k in (10, 5))
    assert [n for n in (ten + five).notes if "at least" in n] == [
        "every cell of this table holds at least 5 people: scores were put together where need be"
    ]
    mixed = ten + some(50, score_range=(0, 1))
    assert not any("at least 10" in n for n in mixed.notes)
    assert any("parts of this table were suppressed" in n for n in mixed.notes)
    mixed.save(tmp_path / "mixed.table")
    with pytest.raises(evenhand.UsageError, match="the table was suppressed"):
        evenhand.privatized(evenhand.load(tmp_path / "mixed.table"), epsilon=1)  # type: ignore[arg-type]
    a, b = (evenhand.privatized(t, epsilon=e, groups={"g": ["g0", "g1", "g2"]}) for e in (1, 0.5))
    assert [n for n in (a + b).notes if "ε" in n] == [Noise(1.0, 1.5, 2, True).note]


def test_groups_of_single_columns_that_lack_people_are_undefined() -> None:
    sex = ["f"] * 2000 + ["m"] * 2000 + ["f"] * 24 + ["m"] * 40
    race = ["a", "b"] * 2000 + ["c"] * 64
    d = [1, 0, 0, 1] * 1000 + [1] * 22 + [0] * 2 + [1, 0] * 20
    t = counted({"d": d, "sex": sex, "race": race}, score=None, label=None, prediction="d", group=["sex", "race"])
    shared = evenhand.suppressed(t, below=5)
    assert shared.provenance.incomplete == (("race", "c"), ("sex", "f"))
    found = evenhand.audit(shared, bootstrap=0, permutations=0)
    because = "because some of its people were withheld"
    by_race = next(a for a in found.attributes if a.name == "race")
    assert {gap.group: gap.undefined for gap in by_race.measures if gap.id == "demographic_parity"} == {
        "b": None, "c": because,
    }  # fmt: skip
    assert next(g for g in by_race.groups if g.name == "c").rates["selection_rate"].undefined == because
    by_sex = next(a for a in found.attributes if a.name == "sex")
    assert all(gap.undefined for gap in by_sex.measures)
    assert by_sex.impossibility.undefined
    product = found.attributes[-1]
    assert all(gap.undefined is None for gap in product.measures if gap.id == "demographic_parity")
    check_schema(found.to_dict(), evenhand.schema("audit"))
    assert because[8:] in " ".join(found.summary(full=True).split())
    assert found.to_html()
    for refused in (
        lambda: evenhand.curves(shared, attribute="sex"),
        lambda: evenhand.monitor({"a": shared, "b": shared}),
    ):
        with pytest.raises(evenhand.UsageError, match="were withheld when the table was suppressed"):
            refused()


BAD = (0, -1, 1.5, float("nan"), float("inf"), "5", None, True, 10**10)


@pytest.mark.parametrize("below", BAD)
def test_bad_sizes_are_refused(below: Any) -> None:
    with pytest.raises(evenhand.UsageError, match="must be a whole number from 3"):
        evenhand.suppressed(some(50), below=below)


def test_what_cannot_be_suppressed_is_refused() -> None:
    t = some(100)
    people = {
        "s": [0.1, 0.9] * 10,
        "y": [0, 1] * 10,
        "g": ["a"] * 10 + ["b"] * 10,
        "w": [0.5, 1.5] * 10,
        "c": [*range(10)] * 2,
    }
    classes = evenhand.tabulate(
        {"y": list("abc"), "p": list("abc"), "g": list("xyx")}, label="y", prediction="p", group="g"
    )
    for bad, words in (
        (counted(people, weight="w"), "sampling weights"),
        (counted(people, cluster="c"), "clusters"),
        (classes, r"of_class\(name\)"),
        ("file", "this takes a table"),
    ):
        with pytest.raises(evenhand.UsageError, match=words):
            evenhand.suppressed(bad, below=5)  # type: ignore[arg-type]
    for thresholds in ([float("nan")], ["x"], 5, [float("inf")]):
        with pytest.raises(evenhand.UsageError, match="threshold"):
            evenhand.suppressed(t, below=5, keep_thresholds=thresholds)  # type: ignore[arg-type]
    with pytest.raises(evenhand.UsageError, match="ranges"):
        evenhand.suppressed(t, below=5, ranges=0)
    decisions = counted({"d": [0, 1], "g": ["a", "b"]}, score=None, label=None, prediction="d")
    with pytest.raises(evenhand.UsageError, match="no scores"):
        evenhand.suppressed(decisions, below=3, keep_thresholds=[0.5])
    coarse = evenhand.suppressed(some(1000), below=100)
    assert coarse.spans is not None
    inside = float(coarse.spans.score[0])
    with pytest.raises(evenhand.UsageError, match="cannot keep that threshold"):
        evenhand.suppressed(coarse, below=100, keep_thresholds=[inside])


# ---- private counts ------------------------------------------------------------------------------------------------


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Discrete Laplace noise that comes out the same every time: for tests only, never for a release."""
    rng = np.random.default_rng(0)

    def noise(counts: Any, epsilon: float) -> Any:
        q = np.exp(-epsilon)
        return counts + rng.geometric(1 - q, counts.shape) - rng.geometric(1 - q, counts.shape)

    monkeypatch.setattr(privacy, "noised", noise)


def test_opendp_adds_the_noise_that_is_stated() -> None:
    pytest.importorskip("opendp")
    for epsilon in (0.5, 2.0):
        found = privacy.noised(np.full(4000, 2**40), epsilon) - 2**40
        variance = Noise(epsilon).variance
        assert abs(found.mean()) < 6 * np.sqrt(variance / 4000)  # six standard errors: not by chance
        assert abs(found.var() / variance - 1) < 6 * np.sqrt(5 / 4000)
    a, b = (privacy.noised(np.zeros(200, np.int64), 1.0) for _ in range(2))
    assert (a != b).any()


def test_every_cell_there_could_be_gets_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def noise(counts: Any, epsilon: float) -> Any:
        seen.append((counts.size, epsilon))
        return counts + 1

    monkeypatch.setattr(privacy, "noised", noise)
    t = some(3000, score_range=(0, 1))
    private = evenhand.privatized(t, epsilon=0.5, cells=20, groups={"g": ["g0", "g1", "g2", "nobody"]})
    assert seen == [(4 * 2 * 20, 0.5)]
    assert private.attributes[0].groups == ("g0", "g1", "g2", "nobody")
    assert private.cells == 4 * 2 * 20
    assert private.noise == Noise(0.5, stated=True)
    assert private.spans is not None
    assert private.cutoffs.tolist() == [k / 20 for k in range(20)]
    assert not private.left_out
    assert private.weight2 is not None
    assert (private.weight2 >= private.n + Noise(0.5).variance).all()


@pytest.mark.usefixtures("seeded")
def test_values_that_scores_can_have() -> None:
    t = evenhand.compas()
    with pytest.raises(evenhand.UsageError, match="need the range that scores can have"):
        evenhand.privatized(t, epsilon=1)
    stated = counted({"s": [1, 2, 3] * 200, "y": [0, 1] * 300, "g": ["a", "b"] * 300}, score_range=(1, 10))
    private = evenhand.privatized(stated, epsilon=1, cells=[1, 2, 3, 4])
    assert private.spans is None
    assert set(private.scores) <= {1.0, 2.0, 3.0, 4.0}
    with pytest.raises(evenhand.DataError, match="is not in the list of possible scores"):
        evenhand.privatized(stated, epsilon=1, cells=[1, 2])


@pytest.mark.usefixtures("seeded")
def test_rows_that_stand_for_many_people_cannot_be_private(tmp_path: Path) -> None:
    """One row of weight 100,000 would show through any noise."""
    columns = {"s": [0.1, 0.9] * 50, "y": [0, 1] * 50, "g": ["a"] * 50 + ["b"] * 50, "w": [1, 3] * 50}
    t = counted(columns, weight="w", weight_kind="frequency", score_range=(0, 1))
    t.save(tmp_path / "t.table")
    loaded = evenhand.load(tmp_path / "t.table")
    assert loaded == t
    plain = counted(columns, score_range=(0, 1))
    counts = {"weight": "w", "weight_kind": "frequency"}
    classes = evenhand.tabulate(columns, label="y", prediction="y", group="g", classes=True, **counts)
    for tallied in (t, loaded, plain + t, t + plain, classes.of_class("1")):  # type: ignore[operator,union-attr]
        with pytest.raises(evenhand.UsageError, match="count rows that are one person each"):
            evenhand.privatized(tallied, epsilon=1)  # type: ignore[arg-type]
    shared = evenhand.suppressed(t, below=5)
    assert any("rows stand for as many people as their weights say" in note for note in shared.notes)


@pytest.mark.usefixtures("seeded")
def test_large_data_can_be_private_if_cells_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.ingest import score_cells as counting

    monkeypatch.setattr(counting, "EXACT", 100)
    rng = np.random.default_rng(0)
    scores = np.append(rng.random(20_000), [1 / 7 - 1e-7, 1 / 7 + 1e-7])  # people on both sides of a border
    columns = {"s": scores, "g": rng.choice(["f", "m"], 20_002)}
    seven = [k / 7 for k in range(1, 7)]
    coarse = counted(columns, label=None, score_range=(0, 1))
    assert coarse.spans is not None
    with pytest.raises(evenhand.UsageError, match="cuts="):
        evenhand.privatized(coarse, epsilon=1, cells=7)
    with pytest.raises(evenhand.UsageError, match="cuts="):
        evenhand.suppressed(coarse, below=10, keep_thresholds=[1 / 7])
    t = counted(columns, label=None, score_range=(0, 1), cuts=seven)
    assert t.spans is not None
    seen = []
    monkeypatch.setattr(privacy, "noised", lambda counts, epsilon: seen.append(counts) or counts)
    evenhand.privatized(t, epsilon=1, cells=7)
    exact = np.histogram2d(columns["g"] == "m", columns["s"], [[-0.5, 0.5, 1.5], [0, *seven, 1]])[0]
    assert seen[0].tolist() == exact.ravel().tolist()


@pytest.mark.usefixtures("seeded")
def test_the_guarantee_says_whether_names_of_groups_are_public() -> None:
    t = some(500, score_range=(0, 1))
    free, stated = (evenhand.privatized(t, epsilon=1, groups=g) for g in (None, {"g": ["g0", "g1", "g2"]}))
    assert "the names of groups that occur are public" in free.notes[-1]
    assert "the names of groups that occur are public" in repr(free)
    assert "groups that occur" not in stated.notes[-1] + repr(stated)


@pytest.mark.usefixtures("seeded")
def test_decisions_alone_can_be_private() -> None:
    columns = {"d": [0, 1, 1, 1] * 300, "y": [0, 1, 1] * 400, "g": ["a", "b"] * 600}
    private = evenhand.privatized(counted(columns, score=None, prediction="d"), epsilon=1)
    assert private.score is None
    assert abs(private.rows - 1200) < 60
    assert evenhand.audit(private).measure("demographic_parity").ci is not None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_no_sum_of_counts_moves_more_than_the_noise(noisy: list[int]) -> None:
    counts = privacy.whole(np.array([noisy]))[0]
    assert counts.min() >= 0
    upto = np.cumsum(noisy)
    nearest_rise = np.maximum.accumulate(np.maximum(upto, 0))
    assert np.abs(np.cumsum(counts) - upto).max() <= np.abs(nearest_rise - upto).max() + 1
    if min(noisy) >= 0:
        assert counts.tolist() == noisy


def test_noise_of_empty_cells_is_not_forgotten() -> None:
    found = privacy.carried(np.array([[0, 3, 0, 0, 2, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]))
    assert found[0, 1] + found[0, 4] == 6
    assert found[1].sum() == 0
    assert found[2].tolist() == [1.0] * 6


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), 1e6, "1", None, True])
def test_bad_epsilons_are_refused(epsilon: Any) -> None:
    with pytest.raises(evenhand.UsageError, match="epsilon"):
        evenhand.privatized(some(50, score_range=(0, 1)), epsilon=epsilon)


@pytest.mark.usefixtures("seeded")
def test_what_cannot_be_private_is_refused() -> None:
    t = some(500, score_range=(0, 1))
    private = evenhand.privatized(t, epsilon=5, cells=10)
    people = {
        "s": [0.1, 0.9] * 10,
        "y": [0, 1] * 10,
        "g": ["a"] * 10 + ["b"] * 10,
        "w": [0.5, 1.5] * 10,
        "c": [*range(10)] * 2,
    }
    for bad, words in (
        (private, "private already"),
        (evenhand.suppressed(t, below=20), "the table was suppressed"),
        (
            evenhand.suppressed(
                counted({"d": [0, 1] * 20, "g": ["a", "b"] * 20}, score=None, label=None, prediction="d"), below=3
            ),
            "suppressed",
        ),
        (counted(people, weight="w"), "sampling weight"),
        (counted(people, cluster="c"), "clusters"),
        (5, "this takes a table"),
    ):
        with pytest.raises(evenhand.UsageError, match=words):
            evenhand.privatized(bad, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(evenhand.UsageError, match="private already"):
        evenhand.suppressed(private, below=5)
    for cells in (0, -3, 1.5, True, [], [float("nan")], [2.0], "x", 10**9):
        with pytest.raises(evenhand.UsageError, match="cells"):
            evenhand.privatized(t, epsilon=1, cells=cells)  # type: ignore[arg-type]
    for groups in ({"h": ["a"]}, {"g": "g0"}, 5):
        with pytest.raises(evenhand.UsageError):
            evenhand.privatized(t, epsilon=1, groups=groups)  # type: ignore[arg-type]
    with pytest.raises(evenhand.DataError, match="not among the groups that were stated"):
        evenhand.privatized(t, epsilon=1, groups={"g": ["g0"]})
    with pytest.raises(evenhand.UsageError, match="the privacy of the counts"):
        private + t
    with pytest.raises(evenhand.DataError, match="projection test"):
        evenhand.projection_test(private, criterion="equal_opportunity", reference="g0", compare="g1")
    with pytest.raises(evenhand.DataError, match="put together"):
        evenhand.projection_test(evenhand.suppressed(t, below=5), criterion="equal_opportunity", compare="g1")
    with pytest.raises(evenhand.UsageError, match="permutes group labels"):
        evenhand.audit(private, null="published")


@pytest.mark.usefixtures("seeded")
def test_private_tables_are_kept_and_add_up(tmp_path: Path) -> None:
    a, b = (
        evenhand.privatized(some(800, seed, score_range=(0, 1)), epsilon=e, cells=10) for seed, e in ((0, 1), (1, 0.5))
    )
    both = a + b
    assert both.noise == Noise(1.0, 1.5, 2)
    assert both.weight2 is not None
    assert a.weight2 is not None
    assert b.weight2 is not None
    assert both.weight2.sum() == pytest.approx(a.weight2.sum() + b.weight2.sum())
    both.save(tmp_path / "both.table")
    assert evenhand.load(tmp_path / "both.table") == both
    assert both.noise is not None
    assert "ε = 1.5 for what is in all of them" in both.noise.guarantee
    assert "private, ε = 1" in repr(both)
    assert a != b


@pytest.mark.usefixtures("seeded")
def test_intervals_are_wider_for_the_noise() -> None:
    t = some(8000, score_range=(0, 1))
    private = evenhand.privatized(t, epsilon=0.5)
    exact, noisy = (evenhand.audit(a, bootstrap=199, permutations=199, reference="g0") for a in (t, private))
    for id_ in ("demographic_parity", "equal_opportunity", "abcc", "roc"):
        widths = [a.measure(id_, group="g1").ci for a in (exact, noisy)]
        assert widths[1][1] - widths[1][0] > widths[0][1] - widths[0][0], id_
    gap = noisy.measure("demographic_parity", group="g1")
    assert [test.name for test in gap.tests] == [exact.measure("demographic_parity", group="g1").tests[0].name]


@pytest.mark.usefixtures("seeded")
def test_groups_that_drown_in_noise_are_undefined() -> None:
    t = some(4000, shares=(0.6, 0.38, 0.02), score_range=(0, 1))
    private = evenhand.privatized(t, epsilon=1, groups={"g": ["g0", "g1", "g2"]})
    assert private.attributes[0].groups == ("g0", "g1", "g2")
    found = evenhand.audit(private, bootstrap=99, permutations=99)
    because = "because it has too few people for the noise of the private table"
    noisy = ("abpc", "mutual_information", "calibration", "auroc_difference")
    for gap in found.attributes[0].measures:
        if gap.group == "g2":
            assert gap.undefined == because
        elif gap.id.startswith(noisy):
            assert gap.undefined == "because the counts hold noise, which this would take for people"
        else:
            assert gap.undefined is None
    lost = next(g for g in found.attributes[0].groups if g.name == "g2")
    assert {e.undefined for e in lost.rates.values()} == {because}
    assert any(note.startswith("too few people for the noise of the private table") for note in found.notes)
    check_schema(found.to_dict(), evenhand.schema("audit"))
    assert "g2" in repr(found)
    assert because[8:] in found.to_html()
    with pytest.raises(evenhand.DataError, match="of no group column are two groups larger than the noise"):
        evenhand.audit(evenhand.privatized(some(100, score_range=(0, 1)), epsilon=0.1))
    for refused in (lambda: evenhand.thresholds(private), lambda: evenhand.monitor({"a": private, "b": private})):
        with pytest.raises(evenhand.UsageError, match="private"):
            refused()


@pytest.mark.usefixtures("seeded")
def test_decisions_that_few_receive_are_undefined_in_noise() -> None:
    """Some 50 and 10 people of b are selected, by label; in a hundred cells each the noise is about 30."""
    rng = np.random.default_rng(5)
    s, g = rng.beta(2, 2, 20_000), rng.choice(["a", "b"], 20_000, p=[0.9, 0.1])
    columns = {"s": s, "y": (rng.random(20_000) < s).astype(int), "g": g, "d": (s > 0.9).astype(int)}
    private = evenhand.privatized(counted(columns, prediction="d", score_range=(0, 1)), epsilon=0.5)
    found = evenhand.audit(private, bootstrap=99, permutations=99).attributes[0]
    because = "because too few people can be expected with some decision for the noise of the private table"
    whole = {"delta_dp_c", "abcc", "roc", "xroc"} | {
        f"{concept}_{kind}"
        for concept in ("independence", "equal_opportunity", "predictive_equality", "equalized_odds")
        for kind in ("uniform", "standardized")
    }
    assert {gap.id for gap in found.measures if not gap.undefined} == whole
    assert {gap.undefined for gap in found.measures if gap.id in ("demographic_parity", "treatment_equality")} == {
        because
    }
    assert [test.rate for test in found.tests] == ["base_rate"]
    rates = next(group for group in found.groups if group.name == "b").rates
    assert {rate for rate, known in rates.items() if not known.undefined} == {"base_rate"}


def test_decisions_that_nobody_receives_are_undefined_in_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cell had noise too, though it has no variance to tell of it."""
    monkeypatch.setattr(privacy, "noised", lambda counts, epsilon: counts)
    columns = {"d": [0, 0, 1] * 1000, "y": [0, 1, 1] * 1000, "g": (["a"] * 3 + ["b"] * 3) * 500}
    private = evenhand.privatized(counted(columns, score=None, prediction="d"), epsilon=0.5)
    found = evenhand.audit(private, bootstrap=0, permutations=0).attributes[0]
    defined = {gap.id for gap in found.measures if not gap.undefined}
    assert defined == {"demographic_parity", "disparate_impact", "delta_dp_b"}
    assert all(group.rates["ppv"].undefined for group in found.groups)


@pytest.mark.usefixtures("seeded")
def test_an_attribute_that_drowns_leaves_the_others() -> None:
    rng = np.random.default_rng(2)
    n = 4000
    columns = {
        "s": rng.random(n),
        "sex": rng.choice(["f", "m"], n),
        "race": rng.choice([*"abcdefghijklmnopqrstuvwx"], n),
    }
    t = counted(columns, label=None, group=["sex", "race"], score_range=(0, 1))
    found = evenhand.audit(evenhand.privatized(t, epsilon=0.5, cells=50), bootstrap=99, permutations=99)
    sex, race, both = found.attributes
    assert sex.measures[0].ci is not None
    assert {gap.undefined for a in (race, both) for gap in a.measures} == {
        "because it has too few people for the noise of the private table"
    }
    check_schema(found.to_dict(), evenhand.schema("audit"))
    assert "race" in repr(found)
    assert found.to_html()
    assert found.plots("race") == ()


@pytest.mark.usefixtures("seeded")
def test_a_table_that_is_mostly_noise_says_so() -> None:
    private = evenhand.privatized(some(3000, score_range=(0, 1)), epsilon=0.02)
    assert "even the number of all people" in " ".join(evenhand.table_info(private).to_dict()["interpretation"])
    clear = evenhand.privatized(some(3000, score_range=(0, 1)), epsilon=5)
    notes = " ".join(evenhand.audit(clear, bootstrap=0, permutations=0).notes)
    assert "of their exact values, because of the ranges alone" in notes
    assert "even the number of all people" not in notes


IDS = ["demographic_parity", "equal_opportunity", "abcc", "equalized_odds_uniform"]
DISTANCES = ("abcc", "equalized_odds_uniform")


def drawn(n: int, parity: bool, rng: np.random.Generator) -> dict[str, Any]:
    g = (rng.random(n) < 0.4).astype(int)
    y = (rng.random(n) < (0.5 if parity else np.where(g, 0.55, 0.45))).astype(int)
    s = rng.beta(np.where(y, 3, 2) + (0 if parity else 0.5 * g), np.where(y, 2, 3))
    return {"s": s, "y": y, "g": g.astype(str)}


@pytest.mark.parametrize(
    "replications", [pytest.param(40, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("n", [2000, 20_000])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
@pytest.mark.usefixtures("seeded")
def test_intervals_of_private_tables_cover(epsilon: float, n: int, replications: int) -> None:
    rng = np.random.default_rng(5)
    for parity in (False, True):
        large = drawn(1_000_000, parity, rng)
        large["s"] = np.floor(large["s"] * 1000) / 1000
        words: dict[str, Any] = {"measures": IDS, "reference": "0", "permutations": 99}
        truth = evenhand.audit(counted(large, score_range=(0, 1)), bootstrap=0, **words)
        covered, rejected, defined = (dict.fromkeys(IDS, 0) for _ in range(3))
        for i in range(replications):
            private = evenhand.privatized(counted(drawn(n, parity, rng), score_range=(0, 1)), epsilon=epsilon)
            try:
                found = evenhand.audit(private, bootstrap=150, rng=i, **words)
            except evenhand.DataError:  # fewer than two groups are larger than the noise
                continue
            for id_ in IDS:
                gap, true = found.measure(id_), truth.measure(id_)
                if gap.undefined:  # of so few people, now and then
                    continue
                defined[id_] += 1
                value = true.value if id_ in DISTANCES else true.signed
                covered[id_] += gap.ci[0] <= value <= gap.ci[1]
                rejected[id_] += gap.p_value <= 0.05
        for id_, n_defined in defined.items():
            assert n_defined >= replications / 2, (id_, n_defined)
            least = n_defined * 0.95 - 2 * np.sqrt(n_defined * 0.95 * 0.05)
            assert covered[id_] >= least, (parity, covered, defined)
            assert not parity or rejected[id_] <= n_defined - least, (rejected, defined)


# ---- what a table tells ---------------------------------------------------------------------------------------------


def test_people_who_stand_alone_are_counted() -> None:
    columns = {"s": [0.1, 0.1, 0.2, 0.3, 0.3], "y": [0, 0, 1, 0, 1], "g": ["a", "a", "a", "b", "b"]}
    found = evenhand.table_info(counted(columns))
    d = found.disclosure
    assert d is not None
    assert (d.smallest, d.alone, d.below[5], d.below[10]) == (1, 3, (4, 5), (4, 5))
    assert d.label_told == 3  # a at 0.1, a at 0.2
    assert d.one_label == ()
    check_schema(found.to_dict(), evenhand.schema("table_info"))
    assert "3 people stand alone" in repr(found)
    assert json.loads(found.to_json())["format"] == "evenhand/table/1"
    assert "stand alone" in found.to_html()


def test_info_of_classes_and_of_decisions() -> None:
    classes = evenhand.tabulate(
        {"y": list("aabbc"), "p": list("aabcc"), "g": list("xxxxz")}, label="y", prediction="p", group="g"
    )
    found = evenhand.table_info(classes)
    check_schema(found.to_dict(), evenhand.schema("table_info"))
    assert found.disclosure is not None
    assert found.disclosure.one_label == (("z", 1),)
    assert found.to_dict()["columns"]["classes"] == ["a", "b", "c"]
    decisions = evenhand.table_info(counted({"d": [0, 1, 1], "g": list("aab")}, score=None, label=None, prediction="d"))
    check_schema(decisions.to_dict(), evenhand.schema("table_info"))
    assert decisions.to_dict()["scores"] is None


@pytest.mark.usefixtures("seeded")
def test_info_of_shared_tables() -> None:
    t = some(2000, score_range=(0, 1))
    shared = evenhand.table_info(evenhand.suppressed(t, below=10)).to_dict()
    assert shared["disclosure"]["alone"] == shared["disclosure"]["below"][1]["cells"] == 0
    assert shared["disclosure"]["smallest"] >= 10
    assert shared["scores"]["resolution"] > 0
    private = evenhand.table_info(evenhand.privatized(t, epsilon=1))
    document = private.to_dict()
    check_schema(document, evenhand.schema("table_info"))
    assert document["disclosure"] is None
    assert document["format"] == "evenhand/table/3"
    assert "pure differential privacy with ε = 1 for each row" in " ".join(repr(private).split())
    with pytest.raises(evenhand.UsageError, match="a table or the name of a saved one"):
        evenhand.table_info(5)


# ---- the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = [f"{rng.random():.3f},{rng.integers(0, 2)},{rng.choice(['f', 'm'])}" for _ in range(600)]
    (tmp_path / "rows.csv").write_text("s,y,g\n" + "\n".join(lines) + "\n")
    return tmp_path / "rows.csv"


COLUMNS = ["--score", "s", "--label", "y", "--group", "g"]


def test_the_command_line_shares_and_tells(rows: Path) -> None:
    shared = rows.with_name("shared.table")
    done = process("tabulate", rows, *COLUMNS, "--suppress-below", 10, "--keep-threshold", 0.5, "-o", shared)
    assert done.returncode == 0, done.stderr
    t = evenhand.load(shared)
    assert t.n.min() >= 10
    info = process("table", "info", shared)
    assert info.returncode == 0
    assert f"the smallest cell holds {t.n.min()} people" in info.stdout
    document = json.loads(run("table", "info", shared, "--json", "-").stdout)
    check_schema(document, evenhand.schema("table_info"))
    again = run("tabulate", shared, "--suppress-below", 40, "--ranges", 1, "-o", rows.with_name("again.table"))
    assert again.returncode == 0, again.stderr
    assert evenhand.load(rows.with_name("again.table")).n.min() >= 40


def test_the_command_line_makes_private_tables(rows: Path) -> None:
    pytest.importorskip("opendp")
    made = rows.with_name("private.table")
    words = [*COLUMNS, "--score-range", "0,1", "--privacy", "2", "--cells", "10", "--groups", "g=f,m,x"]
    done = process("tabulate", rows, *words, "-o", made)
    assert done.returncode == 0, done.stderr
    t = evenhand.load(made)
    assert isinstance(t, Table)
    assert t.noise == Noise(2.0, stated=True)
    assert "ε = 2" in run("table", "info", made).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--suppress-below", "0"], "whole number from 3"),
        (["--suppress-below", "2"], "each knows the other"),
        (["--suppress-below", "1.5"], "whole number"),
        (["--suppress-below", "nan"], "whole number"),
        (["--suppress-below", "100000"], "nothing could be shared"),
        (["--suppress-below", "5", "--privacy", "1"], "choose one"),
        (["--keep-threshold", "0.5"], "belongs to --suppress-below"),
        (["--suppress-below", "5", "--keep-threshold", "x"], "takes numbers"),
        (["--cells", "10"], "belongs to --privacy"),
        (["--privacy", "-1"], "epsilon (--privacy) must be a number"),
        (["--privacy", "inf"], "epsilon (--privacy) must be a number"),
        (["--privacy", "1"], "--score-range 0,1"),
    ],
)
def test_the_command_line_refuses(rows: Path, words: list[str], said: str) -> None:
    if words == ["--privacy", "1"]:
        pytest.importorskip("opendp")
    target = rows.with_name("never.table")
    done = run("tabulate", rows, *COLUMNS, *words, "-o", target)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not target.exists()
    assert sorted(p.name for p in rows.parent.iterdir()) == ["rows.csv"]


def test_the_command_line_counts_as_private_cells_and_thresholds_need(
    rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the grid of large data, neither is a border."""
    pytest.importorskip("opendp")
    from evenhand.cli import main
    from evenhand.ingest import score_cells as counting

    monkeypatch.setattr(counting, "EXACT", 10)
    rng = np.random.default_rng(0)
    lines = [f"{s!r},{i // 2 % 2},{'fm'[i % 2]}" for i, s in enumerate(rng.random(4000).tolist())]
    near = [f"{1 / 7 + shift!r},{y},{g}" for shift in (-1e-7, 1e-7) for y in (0, 1) for g in "fm"]
    rows.write_text("s,y,g\n" + "\n".join(lines + near) + "\n")
    made = rows.with_name("made.table")
    for words in (["--privacy", "1", "--cells", "7"], ["--suppress-below", "5", "--keep-threshold", repr(1 / 7)]):
        main(["tabulate", str(rows), *COLUMNS, "--score-range", "0,1", *words, "-o", str(made)])
        assert 1 / 7 in evenhand.load(made).cutoffs  # type: ignore[union-attr]


def test_a_saved_table_can_be_shared_with_a_range_said_now(rows: Path) -> None:
    pytest.importorskip("opendp")
    raw, made = rows.with_name("raw.table"), rows.with_name("made.table")
    assert run("tabulate", rows, *COLUMNS, "-o", raw).returncode == 0
    refused = run("tabulate", raw, "--privacy", "1", "-o", made)
    assert "--score-range 0,1" in refused.stderr
    done = run("tabulate", raw, "--privacy", "1", "--score-range", "0,1", "-o", made)
    assert done.returncode == 0, done.stderr
    assert "the names of groups that occur are public" in done.stderr


def test_table_alone_shows_its_help() -> None:
    done = run("table")
    assert done.returncode == 0
    assert "info" in done.stdout


def test_one_person_is_no_people() -> None:
    t = counted({"s": [0.1, 0.2, 0.2], "y": [0, 1, 1], "g": ["a", "b", "b"]})
    assert "1 person stands alone" in repr(evenhand.table_info(t))


def test_info_of_what_is_no_table(rows: Path) -> None:
    for file in (rows, rows.with_name("absent.table")):
        done = run("table", "info", file)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
