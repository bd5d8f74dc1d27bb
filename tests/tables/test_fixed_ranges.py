"""Ranges of scores that are fixed beforehand, so that tables shared quarter by quarter add up."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from conftest import called as run
from evenhand.tables.merging import loss, resolution_of
from evenhand.tables.table import Table

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "sharing.md"
TENTHS = [k / 10 for k in range(11)]


def quarter(seed: int, n: int = 1500) -> list[tuple[float, int, str]]:
    r = random.Random(seed)
    rows = []
    for _ in range(n):
        g = r.choice("fm")
        p = 1 / (1 + np.exp(-(r.gauss(0, 1) - 0.5 * (g == "f"))))
        rows.append((round(float(p), 5), int(r.random() < p), g))
    return rows


def counted(rows: list[tuple[float, int, str]], label: str | None = "y", **words: Any) -> Table:
    p, y, g = zip(*rows, strict=True)
    found = evenhand.tabulate({"p": p, "y": y, "sex": g}, score="p", label=label, group="sex", **words)
    assert isinstance(found, Table)
    return found


def borders(t: Table) -> set[float]:
    assert t.spans is not None
    return {*t.spans.low.tolist(), *t.spans.high.tolist()}


@given(st.integers(0, 10**6), st.integers(3, 30), st.integers(30, 400), st.integers(1, 25))
@settings(max_examples=60, deadline=None)
def test_no_small_cell_and_no_other_border(seed: int, below: int, n: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    columns = {
        "s": rng.beta(1, 3, n).round(int(rng.integers(1, 4))),
        "y": rng.integers(0, 2, n),
        "g": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
    }
    t = evenhand.tabulate(columns, score="s", label="y", group="g")
    edges = np.linspace(0, 1, steps + 1).round(6).tolist()
    strata = [t.n[(t.codes[0] == g) & (t.label == y)].sum() for g in range(len(t.attributes[0].groups)) for y in (0, 1)]
    pairs = np.reshape(strata, (-1, 2))
    if not ((pairs == 0) | (pairs >= below)).all(1).any():
        with pytest.raises(evenhand.DataError, match="nothing could be shared"):
            evenhand.suppressed(t, below=below, edges=edges)
        return
    found = evenhand.suppressed(t, below=below, edges=edges)
    assert found.n.min() >= below
    assert found.rows + sum(found.left_out.values()) <= t.rows
    if found.spans is not None:
        allowed = {*edges, float(np.nextafter(1.0, 2))}
        assert borders(found) <= allowed
        inside = found.spans.ends(found.score)
        held = [t.score == lo if lo == hi else (t.score >= lo) & (t.score < hi) for lo, hi in zip(*inside, strict=True)]
        names = np.array(t.attributes[0].groups)[t.codes[0]]
        own = np.array(found.attributes[0].groups)[found.codes[0]]
        for i, cells in enumerate(held):  # counts are those of the people between the borders
            mine = cells & (names == own[i]) & (t.label == found.label[i])
            assert t.n[mine].sum() == found.n[i]


def test_the_recipe_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = GUIDE.read_text().split("## Quarter by quarter")[1].split("\n## ")[0]
    commands = re.findall(r"^evenhand (.+)$", section, re.MULTILINE)
    assert len(commands) == 6
    monkeypatch.chdir(tmp_path)
    people = [quarter(q) for q in range(4)]
    for q, rows in enumerate(people, 1):
        lines = [f"{p},{y},{g}" for p, y, g in rows]
        Path(f"q{q}.csv").write_text("\n".join(["p,y,sex", *lines]) + "\n")
    *making, merging, checking = [shlex.split(command) for command in commands]
    for command in making:
        done = run(*command)
        assert done.returncode == 0, done.stderr
    merged = run(*merging)
    assert merged.returncode == 0, merged.stderr
    assert re.search(r"known in 20 ranges in each table, in 20 in their sum; resolution 0\.1", merged.stderr)
    year = evenhand.load("year.table")
    assert isinstance(year, Table)
    assert year.n.min() >= 10
    assert year.rows == 6000
    exact = evenhand.audit(sum(map(counted, people)), bootstrap=0, permutations=0).measure("abcc").value
    found = evenhand.audit(year, bootstrap=0, permutations=0).measure("abcc").value
    resolution = resolution_of(year)
    assert resolution is not None
    assert resolution < 0.12
    assert abs(found - exact) <= resolution
    assert run(*checking).returncode == 1  # violated, or not shown: never a pass


def test_without_the_recipe_nothing_is_left(tmp_path: Path) -> None:
    shared = [evenhand.suppressed(counted(quarter(q)), below=10) for q in range(4)]
    for q, t in enumerate(shared):
        t.save(tmp_path / f"{q}.table")
    paths = [tmp_path / f"{q}.table" for q in range(4)]
    refused = run("merge", *paths, "-o", tmp_path / "year.table")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "in 1 in their sum; resolution 0.21 to 0.29 before, 1 after" in refused.stderr
    assert "--like" in refused.stderr
    assert not (tmp_path / "year.table").exists()
    forced = run("merge", *paths, "--force", "-o", tmp_path / "year.table")
    assert forced.returncode == 0
    assert len(evenhand.load(tmp_path / "year.table").scores) == 1  # type: ignore[union-attr]
    with pytest.raises(evenhand.UsageError, match=r"force=True"):
        sum(shared)
    with pytest.raises(evenhand.UsageError, match=r"too little to tell anything"):
        evenhand.merge(shared)
    assert evenhand.merge(shared, force=True).rows == 6000


def test_equal_ranges_are_merged_without_loss() -> None:
    tables = [counted(quarter(q, 6000), label=None) for q in range(3)]
    shared = [evenhand.suppressed(t, below=10, edges=TENTHS) for t in tables]
    whole = evenhand.merge(shared)
    assert isinstance(whole, Table)
    assert whole == evenhand.suppressed(sum(tables), below=10, edges=TENTHS)
    found = loss(shared, whole)
    assert found is not None
    assert (found.ranges, found.left, found.refused) == ((10, 10, 10), 10, False)


def test_decisions_that_were_never_more_than_two_ranges_add_up() -> None:
    tables = [counted(quarter(q, 600)) for q in range(3)]
    shared = [evenhand.suppressed(t, below=10, keep_thresholds=[0.5], edges=[0, 0.5, 1]) for t in tables]
    whole = evenhand.merge(shared)
    assert isinstance(whole, Table)
    assert resolution_of(whole) > 0.5  # type: ignore[operator]
    exact = sum(tables)
    assert whole.n[whole.selected(0.5)].sum() == exact.n[exact.selected(0.5)].sum()  # type: ignore[attr-defined]


def test_like_takes_ranges_and_least_number() -> None:
    first = evenhand.suppressed(counted(quarter(0)), below=15)
    other = evenhand.suppressed(counted(quarter(1)), like=first)
    assert other.provenance.below == 15
    assert borders(other) <= borders(first)
    deciles = evenhand.suppressed(evenhand.compas(), below=50, keep_thresholds=[5])
    again = evenhand.suppressed(evenhand.compas(), below=50, keep_thresholds=[5], like=deciles)
    assert again.scores.tolist() == deciles.scores.tolist()


def test_edges_of_a_risk_score_are_in_its_own_units() -> None:
    rng = np.random.default_rng(5)
    people = {"s": rng.normal(600, 60, 4000).round(1), "g": rng.choice(["f", "m"], 4000), "y": rng.integers(0, 2, 4000)}
    words: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "risk": True}
    t = evenhand.tabulate(people, **words)
    found = evenhand.suppressed(t, below=10, edges=[300, 500, 560, 600, 640, 700, 900], keep_thresholds=[600])
    assert found.cutoffs.tolist() == [300, 500, 560, 600, 640, 700]
    assert found.score_range == (300, 900)
    assert found.n[found.selected(600)].sum() == (people["s"] < 600).sum()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"edges": [0, 0.5, 0.2, 1]}, "must rise"),
        ({"edges": [0, 0.5, 0.5, 1]}, "must rise"),
        ({"edges": [0, float("nan"), 1]}, "finite"),
        ({"edges": [0.5]}, "two edges"),
        ({"edges": []}, "two edges"),
        ({"edges": "0,1"}, "a list of numbers"),
        ({"edges": [0, "x"]}, "a list of numbers"),
        ({"edges": [0, 0.5, 2]}, r"inside the score range \[0, 1\]"),
        ({"edges": [0, 0.5, 1], "keep_thresholds": [0.3]}, "cannot be kept"),
        ({"edges": [0, 0.5, 1], "below": 1}, "whole number from 3"),
        ({"edges": [0, 0.5, 1], "below": None}, "whole number"),
        ({"like": 7}, "path"),
        ({"like": "/nowhere/q0.table"}, "no table to load"),
        ({"like": "\0"}, "is not a path"),
    ],
)
def test_bad_ranges_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(evenhand.EvenhandError, match=said):
        evenhand.suppressed(counted(quarter(0, 300)), **{"below": 10, **options})


def test_tables_that_have_no_ranges_to_share() -> None:
    t = counted(quarter(0, 300))
    decided = evenhand.tabulate({"d": [0, 1] * 50, "g": ["f", "m"] * 50}, prediction="d", group="g")
    scored = evenhand.suppressed(t, below=10)
    for like, said in (
        (t, "keeps every score"),
        (decided, "this one has none"),
        (evenhand.suppressed(counted(quarter(0, 300), score_range=(0, 2)), below=10), "with the same options"),
        (evenhand.suppressed(counted(quarter(0, 300), risk=True), below=10), "with the same options"),
    ):
        with pytest.raises(evenhand.UsageError, match=said):
            evenhand.suppressed(t, below=10, like=like)
    with pytest.raises(evenhand.UsageError, match="choose one"):
        evenhand.suppressed(t, below=10, like=scored, edges=[0, 1])
    with pytest.raises(evenhand.UsageError, match="no scores"):
        evenhand.suppressed(decided, below=10, edges=[0, 1])
    beyond = evenhand.tabulate({"p": [1, 2, 3, 4] * 30, "sex": ["f", "m", "m"] * 40}, score="p", group="sex")
    with pytest.raises(evenhand.UsageError, match="do not hold all scores"):
        evenhand.suppressed(beyond, below=5, edges=[1, 2, 3])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--edges", "0,0.5,1"], "belongs to --suppress-below"),
        (["--suppress-below", "10", "--edges", "1,0"], "must rise"),
        (["--suppress-below", "10", "--edges", "0.5"], "two edges"),
        (["--suppress-below", "10", "--edges", "0,nan"], "finite"),
        (["--suppress-below", "10", "--like", "rows.csv"], "not a table saved by evenhand"),
        (["--like", "missing.table"], "no table to load"),
        (["--like", "exact.table"], "say how many people"),
        (["--suppress-below", "10", "--like", "exact.table"], "keeps every score"),
        (["--suppress-below", "10", "--like", "shared.table", "--edges", "0,1"], "choose one"),
        (["--privacy", "1", "--like", "shared.table"], "belongs to --suppress-below"),
    ],
)
def test_the_command_line_refuses(words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = quarter(0, 300)
    Path("rows.csv").write_text("p,y,sex\n" + "".join(f"{p},{y},{g}\n" for p, y, g in rows))
    counted(rows).save("exact.table")
    evenhand.suppressed(counted(rows), below=10).save("shared.table")
    done = run("tabulate", "rows.csv", "--score", "p", "--label", "y", "--group", "sex", *words, "-o", "never.table")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("never.table").exists()


def test_a_table_does_not_overwrite_the_one_it_is_like(tmp_path: Path) -> None:
    shared = tmp_path / "shared.table"
    evenhand.suppressed(counted(quarter(0)), below=10).save(shared)
    before = shared.read_bytes()
    counted(quarter(1)).save(tmp_path / "q1.table")
    assert run("tabulate", tmp_path / "q1.table", "--like", shared, "-o", shared).returncode == 2
    assert shared.read_bytes() == before


def test_edges_of_large_data_are_counted_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the grid of large data an edge of many digits is no border unless the command asks for it."""
    from evenhand.cli import main
    from evenhand.ingest import score_cells as counting

    monkeypatch.setattr(counting, "EXACT", 10)
    rng = np.random.default_rng(0)
    near = [1 / 7 + shift for shift in (-1e-7, 1e-7)] * 4
    rows = [f"{s!r},{i // 2 % 2},{'fm'[i % 2]}" for i, s in enumerate([*rng.random(4000).tolist(), *near])]
    (tmp_path / "rows.csv").write_text("p,y,sex\n" + "\n".join(rows) + "\n")
    words = ["--score", "p", "--label", "y", "--group", "sex", "--suppress-below", "5", "--edges", f"0,{1 / 7!r},0.5,1"]
    main(["tabulate", str(tmp_path / "rows.csv"), *words, "-o", str(tmp_path / "made.table")])
    assert evenhand.load(tmp_path / "made.table").cutoffs.tolist() == [0, 1 / 7, 0.5]  # type: ignore[union-attr]


def test_analyses_of_tables_in_ranges_say_that_they_are() -> None:
    shared = [evenhand.suppressed(counted(quarter(seed)), below=10) for seed in (1, 2, 3)]
    assert "over 1 " in str(evenhand.thresholds(shared[0], bootstrap=0))
    merged = evenhand.merge(shared, force=True)
    assert "all scores are known in one range" in str(evenhand.thresholds(merged, bootstrap=0))
    periods = {f"q{k}": table for k, table in enumerate(shared)}
    with pytest.raises(evenhand.errors.UsageError, match=r"same ranges .* or tables of decisions"):
        evenhand.monitor(periods, baseline=1)


def test_a_check_without_intervals_says_so() -> None:
    verdict = evenhand.check(counted(quarter(1)), ["abcc <= 0.5", "demographic_parity <= 0.9"], bootstrap=0)
    assert "2 comparisons, 1 of them without interval." in str(verdict).replace("\n", " ")
    assert "keeps to the limit of 0.5 (without interval)" in verdict.findings[0].interpretation
