"""Continuous scores counted on a grid: the same cells from every engine, and measures within the bound that is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import evenhand
from conftest import called as run, evenhand as process
from evenhand.ingest import score_cells as counting
from evenhand.ingest.engines.arrays import Rows
from evenhand.ingest.where import taken
from evenhand.tables.grid import Change, Grid, are_ranges, base_grid
from evenhand.tables.table import Table

Floats = np.ndarray[Any, np.dtype[np.float64]]
WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
QUICK: dict[str, Any] = {"bootstrap": 0, "permutations": 0}


def logistic(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-z)))


def shapes(rng: np.random.Generator, g: Floats) -> Iterator[tuple[str, Floats]]:
    """Scores of many shapes, group 1 a little better off than group 0 in most of them."""
    n = len(g)
    u, z = rng.random(n), rng.standard_normal(n)
    yield "uniform", u
    yield "uniform, apart", np.where(g == 1, 0.9 * u + 0.1 * u * u, u)
    yield "beta", rng.beta(2 + g, 5)
    yield "beta, sharp", rng.beta(200 + 5 * g, 300)
    yield "piled up at 0", rng.beta(0.05 + 0.01 * g, 5)
    yield "piled up at 1", 1 - rng.beta(0.05 + 0.01 * g, 5)
    yield "both ends", rng.beta(0.1 + 0.02 * g, 0.1)
    yield "saturated logits", logistic(20 * z - 2 + g)
    yield "rare event", logistic(2 * z - 9 + g)
    yield "next to 1", 1 - 1e-9 * rng.beta(2 + g, 3)
    yield "lognormal, 12 magnitudes", np.exp(2.3 * z + 0.3 * g)
    yield "12 magnitudes alike", 10 ** (12 * rng.beta(2 + 0.1 * g, 2) - 6)
    yield "normal", 100 + 15 * z + 3 * g
    yield "credit", np.clip(650 + 80 * z + 20 * g, 300, 850)
    yield "spikes", np.where(rng.random(n) < 0.5, rng.choice([0.1, 0.2, 0.7, 0.9123456789], n), u)
    yield "two atoms", np.where(u < 0.3 + 0.1 * g, 1 / 3, np.where(u < 0.6, 2 / 3, rng.random(n)))
    yield "narrow spikes", np.clip(rng.choice(np.linspace(0.05, 0.95, 40), n) + 1e-7 * z + 1e-8 * g, 0, 1)
    yield "float32", u.astype(np.float32).astype(np.float64)
    yield "tree", (rng.integers(0, 500, n) * 0.0001234567) ** (1 + 0.1 * g)
    yield "sorted, groups take turns", np.clip(np.sort(u) - np.where(np.arange(n) % 2 == 0, 0, 1e-9 * (g + 1)), 0, 1)
    yield "groups at opposite ends of cells", np.floor(u * 5000) / 5000 + 1e-9 * (1 + rng.random(n)) + 9e-6 * g
    yield "a default for 40 %", np.where(rng.random(n) < 0.4 - 0.05 * g, 0.123456789012345, logistic(3 * z))
    yield "signed", z**3 + 0.1 * g
    yield "tiny", 1e-12 * rng.beta(2 + g, 3)


NAMES = [name for name, _ in shapes(np.random.default_rng(0), np.zeros(4))]


def people(name: str, rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(NAMES.index(name))
    g = (rng.random(rows) < 0.3).astype(np.float64)
    s = dict(shapes(rng, g))[name]
    rank = np.argsort(np.argsort(s)) / rows
    return {"s": s, "y": (rng.random(rows) < 0.2 + 0.5 * rank + 0.1 * g * (rank > 0.5)).astype(int), "g": g.astype(int)}


def tabulated(data: Any, **words: Any) -> Table:
    found = evenhand.tabulate(data, **WORDS, **words)
    assert isinstance(found, Table)
    return found


def close(a: Any, b: Any, resolution: float) -> bool:
    """Whether two gaps are; or both undefined."""
    return bool(abs(a.value - b.value) <= resolution or np.isnan([a.value, b.value]).all())


def check_bound(name: str, rows: int, target: float) -> None:
    columns = people(name, rows)
    exact, found = tabulated(columns, grid=False), tabulated(columns)
    assert (exact.extremes, exact.rows) == (found.extremes, found.rows)
    if name != "tree":
        assert found.spans is not None
    else:
        assert found == exact
    one, other = (evenhand.audit(t, **QUICK).attributes[0] for t in (exact, found))
    assert other.resolution <= target
    for a, b in zip(one.measures, other.measures, strict=True):
        assert a.id == b.id
        assert close(a, b, max(other.resolution, 1e-12)), a.id


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same decisions for a tenth of the people."""
    for name, value in {"EXACT": 5_000, "STEP": 4e-4, "LIGHT": 5e-4, "HEAVY": 1.6e-3, "DEAR": 8e-4}.items():
        monkeypatch.setattr(counting, name, value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("small")
def test_measures_are_within_the_bound(name: str) -> None:
    check_bound(name, 50_000, 2e-3)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_measures_of_a_million_people_are_within_the_bound(name: str) -> None:
    check_bound(name, 1_000_000, 1e-4)


# ---- one grid for all engines ---------------------------------------------------------------------------------


def grids() -> dict[str, tuple[Grid, Floats]]:
    rng = np.random.default_rng(0)
    scores = np.concatenate([
        rng.random(300), rng.random(300) * 1e-3, 1 - rng.random(300) * 1e-5, np.round(rng.random(2000), 5),
        np.round(rng.random(2000), 5) * (1 + 2.3e-16), 10 ** (-320 * rng.random(500)),
        [0.5, 0.500004321, 0.500004, 0.0, -0.0, 1.0, 5e-324, -1e-7, 7.77, 0.001, 1 - 1e-16, np.nan, np.inf, -np.inf],
    ])  # fmt: skip
    flat = base_grid(0.0, 5)
    deep = flat.refined([Change(0.0, 1e-5, 9), Change(0.99999, 1.0, 10)]).refined([Change(0.0, 1e-9, 13)])
    deep = deep.refined([Change(0.0, 1e-13, 27)]).refined([Change(0.0, 1e-27, 40)]).cut([0.500004321, 3.3e-33, 0.7])
    wide = base_grid(-1e12, -8).refined([Change(-1e8, 0.0, -3), Change(0.0, 1e8, -3)]).refined([Change(0.0, 1e3, 2)])
    money = np.concatenate([10 ** (12 * rng.random(800)), -(10 ** (12 * rng.random(800))), [1e8, 1e3, 0.0, 123.45]])
    return {"flat": (flat, scores), "deep": (deep, scores), "wide": (wide.cut([12345.678]), money)}


@pytest.mark.parametrize("name", grids())
def test_every_engine_finds_the_same_cells(name: str) -> None:
    from evenhand.ingest.engines.dataframes import key_of

    nw, pd, pl, pa = (pytest.importorskip(module) for module in ("narwhals", "pandas", "polars", "pyarrow"))
    grid, x = grids()[name]
    keys = grid.keys(x)
    table = pa.table({"x": x})
    found = duckdb.from_arrow(table).project(f"{grid.sql('x')} AS k").fetchnumpy()["k"]
    np.testing.assert_array_equal(np.ma.filled(found.astype(np.float64), np.nan), keys)
    for frame in (pd.DataFrame({"x": x}), pl.DataFrame({"x": x}), pl.LazyFrame({"x": x}), table):
        lazy = nw.from_native(frame).lazy().select(k=key_of(grid, nw.col("x"))).collect()
        found = np.asarray(lazy["k"].to_numpy(), np.float64)
        np.testing.assert_array_equal(np.where(np.isneginf(found), np.nan, found), keys)


@pytest.mark.parametrize("name", grids())
def test_a_cell_holds_the_scores_between_its_ends(name: str) -> None:
    grid, x = grids()[name]
    x = np.sort(x[np.isfinite(x)])
    keys = grid.keys(x)
    assert (np.diff(keys) >= 0).all()
    low, high = grid.ends(keys)
    single = low == high
    assert (single == ~are_ranges(keys)).all()
    assert (x[single] == low[single]).all()
    assert ((low < x) & (x < high))[~single].all()
    apart = np.unique(np.stack([low, high])[:, ~single], axis=1)
    assert (apart[0, 1:] >= apart[1, :-1]).all()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["beta, sharp", "both ends", "lognormal, 12 magnitudes", "a default for 40 %", "tree"])
def test_every_engine_ends_with_the_same_table(name: str, tmp_path: Path) -> None:
    pd, pl, pq = (pytest.importorskip(module) for module in ("pandas", "polars", "pyarrow.parquet"))
    pa = pytest.importorskip("pyarrow")
    columns = people(name, 20_000)
    columns["s"][:3] = np.nan, np.inf, -np.inf
    columns["g"] = np.array(["a", "b"], dtype=object)[columns["g"]]
    columns["g"][5:8] = None  # in rows with the lowest and the highest score, which are left out
    columns["s"][5:7] = -1e9, 1e9
    frame = pd.DataFrame(columns)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(arrow, tmp_path / "d.parquet")
    expected = tabulated(columns, missing="drop")
    same: list[Any] = [frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), arrow, duckdb.from_arrow(arrow)]
    for data in (*same, tmp_path / "d.parquet"):
        found = tabulated(data, missing="drop")
        assert found == expected, type(data)
        assert found.digest() == expected.digest()


def test_a_file_with_more_cells_than_a_thread_reads(tmp_path: Path) -> None:
    """Each column once came in the order of its own threads."""
    rng = np.random.default_rng(0)
    columns = {"s": rng.random(400_000).round(6), "y": rng.integers(0, 2, 400_000), "g": rng.integers(0, 3, 400_000)}
    with duckdb.connect() as connection:
        connection.register("people", columns)
        connection.execute(f"COPY (SELECT s, y, 'group ' || g AS g FROM people) TO '{tmp_path}/d.parquet'")
    columns["g"] = np.array(["group 0", "group 1", "group 2"])[columns["g"]]
    for grid in (None, False):
        assert tabulated(tmp_path / "d.parquet", grid=grid) == tabulated(columns, grid=grid)


# ---- shards, thresholds, weights ------------------------------------------------------------------------------


@pytest.mark.usefixtures("small")
def test_shards_add_up(tmp_path: Path) -> None:
    columns = people("beta, sharp", 60_000)
    shards = [{name: values[i::3] for name, values in columns.items()} for i in range(3)]
    whole = tabulated(columns)
    whole.save(tmp_path / "whole.table")
    same = [tabulated(shard, grid=tmp_path / "whole.table") for shard in shards]
    assert same[0] + same[1] + same[2] == whole
    assert (same[2] + same[0] + same[1]).digest() == whole.digest()
    assert (same[0] + same[1]).spans.grid == whole.spans.grid  # type: ignore[union-attr]
    own = [tabulated(shard) for shard in shards]  # each with the grid it needs: decimals nest
    total = own[0] + own[1] + own[2]
    assert total == own[0] + (own[1] + own[2])
    assert total.rows == whole.rows
    exact = evenhand.audit(tabulated(columns, grid=False), **QUICK).attributes[0]
    found = evenhand.audit(total, **QUICK).attributes[0]
    assert found.resolution < 5e-3
    for a, b in zip(exact.measures, found.measures, strict=True):
        assert close(a, b, found.resolution), a.id
    with pytest.raises(evenhand.UsageError, match="not those of one grid"):
        tabulated(columns, grid=own[0] + same[1])


@pytest.mark.usefixtures("small")
def test_thresholds_stay_exact() -> None:
    columns = people("normal", 30_000)
    odd = float(np.sort(columns["s"])[12_345])
    exact = tabulated(columns, grid=False)
    found = evenhand.audit(columns, **WORDS, threshold=odd, **QUICK).table

    def same(found: Table) -> bool:
        a, b = (t.decisions(t.groupings[0], odd).array for t in (found, exact))
        return bool((a == b).all())

    assert found.spans is not None
    assert same(found)
    low, high = exact.score_range
    usual = low + (high - low) / 2  # the threshold of those who name none
    assert evenhand.audit(columns, **WORDS, **QUICK).options.threshold == usual
    bins = [t.binned(t.groupings[0], 10).array for t in (found, exact)]
    assert (bins[0] == bins[1]).all()
    kept = tabulated(columns, cuts=[odd])
    assert same(kept)
    with pytest.raises(evenhand.UsageError, match="cannot be cut at"):
        evenhand.audit(kept, threshold=float(np.sort(columns["s"])[54]), **QUICK)


@pytest.mark.usefixtures("small")
def test_sampling_weights_and_some_rows_only() -> None:
    columns = people("beta", 40_000)
    columns["w"] = np.random.default_rng(1).random(40_000) + 0.5
    columns["part"] = np.arange(40_000) % 2
    exact, found = tabulated(columns, grid=False, weight="w"), tabulated(columns, weight="w")
    assert found.spans is not None
    np.testing.assert_allclose(found.weight.sum(), exact.weight.sum(), rtol=1e-12)  # type: ignore[union-attr]
    one, other = (evenhand.audit(t, **QUICK).attributes[0] for t in (exact, found))
    for a, b in zip(one.measures, other.measures, strict=True):
        assert close(a, b, other.resolution), a.id
    half = {name: values[::2] for name, values in columns.items()}
    assert tabulated(columns, where={"part": 0}) == tabulated(half)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"cuts": "0.5"}, "cuts are thresholds"),
        ({"cuts": [np.nan]}, "cuts are finite numbers"),
        ({"cuts": 0.5}, "cuts are thresholds"),
        ({"grid": "nowhere.table"}, "no table to load"),
        ({"grid": 5}, "a path must be a text"),
    ],
)
def test_bad_words(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(evenhand.EvenhandError, match=problem):
        tabulated({"s": [0.1, 0.2], "y": [0, 1], "g": [0, 1]}, **words)


@pytest.mark.usefixtures("small")
def test_labels_that_some_cells_lack() -> None:
    """Looking into a few cells must not take their labels for all there are."""
    columns = people("saturated logits", 50_000)
    columns["y"] = np.where(columns["s"] > 0.5, "good", "bad")
    exact, found = (tabulated(columns, grid=grid, favorable="good") for grid in (False, None))
    assert found.spans is not None
    assert (found.rows, found.n[found.label].sum()) == (exact.rows, exact.n[exact.label].sum())


def test_many_groups_do_not_explode(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    columns = {"s": rng.beta(200, 300, 60_000), "y": rng.integers(0, 2, 60_000)}
    columns["g"] = np.array([f"g{i}" for i in range(26)])[rng.integers(0, 26, 60_000)]
    monkeypatch.setattr(counting, "EXACT", 100)
    monkeypatch.setattr(counting, "MOST_CELLS", 20_000)
    found = tabulated(columns)
    assert found.cells <= 20_000
    exact, coarse = (evenhand.audit(t, **QUICK).attributes[0] for t in (tabulated(columns, grid=False), found))
    assert coarse.resolution > 1e-4
    for a, b in zip(exact.measures, coarse.measures, strict=True):
        if a.id == "calibration_uniform" and b.undefined:  # no more ranges than bins: a range may be any number of them
            assert "ranges too wide for it" in b.undefined
        elif not a.id.startswith("calibration_s"):  # ranks of few people go across the borders of bins
            assert close(a, b, coarse.resolution), a.id


@pytest.mark.usefixtures("small")
def test_some_rows_only_are_counted_like_those_rows() -> None:
    columns = people("saturated logits", 60_000)
    columns["r"] = np.array(["north", "south", "west"])[(columns["s"] > 0.5).astype(int) + (np.arange(60_000) % 7 == 0)]
    columns["w"] = np.where(columns["s"] > 0.9, 2.0, 1.5)
    for words in ({}, {"weight": "w"}):
        everything = tabulated(columns, where={"r": ["north", "south", "west"]}, **words)
        assert everything == tabulated(columns, **words)
        assert len(everything.notes) == 1
        some = np.isin(columns["r"], ["north", "south"])
        part = {name: values[some] for name, values in columns.items()}
        assert tabulated(columns, where={"r": ["north", "south"]}, **words) == tabulated(part, **words)


@pytest.mark.usefixtures("small")
def test_calibration_by_rank_has_its_own_bound() -> None:
    """A few people at the very borders of its bins, which lie inside of cells."""
    rng = np.random.default_rng(0)
    rows = 40_000
    s = np.sort(rng.random(rows))
    borders = [(s[int(b * rows)] + s[int(b * rows) + 1]) / 2 for b in np.arange(1, 50) / 50]
    columns = {
        "s": np.r_[s, borders],
        "y": np.r_[(rng.random(rows) < 0.5).astype(int), np.arange(49) % 2],
        "g": np.r_[np.zeros(rows, int), np.ones(49, int)],
    }
    exact, found = (evenhand.audit(tabulated(columns, grid=grid), **QUICK).attributes[0] for grid in (False, None))
    a, b = (next(m for m in x.measures if m.id == "calibration_standardized") for x in (exact, found))
    assert exact.calibration_resolution == 0
    assert abs(a.value - b.value) > found.resolution
    assert abs(a.value - b.value) <= found.calibration_resolution


@pytest.mark.usefixtures("small")
def test_bins_whose_borders_are_not_known_are_undefined() -> None:
    columns = people("uniform", 40_000)
    saved = tabulated(columns)
    direct = evenhand.audit(columns, **WORDS, calibration_bins=37, **QUICK)
    exact = evenhand.audit(tabulated(columns, grid=False), calibration_bins=37, **QUICK)
    assert direct.measure("calibration_uniform").value == exact.measure("calibration_uniform").value
    assert evenhand.audit(saved, calibration_bins=37, **QUICK).measure("calibration_uniform").undefined
    assert not evenhand.audit(saved, **QUICK).measure("calibration_uniform").undefined


def test_scores_without_a_finite_range() -> None:
    n = 150_000
    columns = {"s": np.array([-1.7e308, 0.3, 1.7e308])[np.arange(n) % 3], "y": np.arange(n) % 2, "g": np.arange(n) % 5}
    with pytest.raises(evenhand.DataError, match="range is a finite number"):
        tabulated(columns)


# ---- the command line -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose scores are too many to keep, with a folder of its own."""
    file = tmp_path_factory.mktemp("crowd") / "people.parquet"
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            "COPY (SELECT random() AS s, (random() < 0.5)::INT AS y, 'a' AS g, range % 2 AS half FROM range(500000) "
            f"UNION ALL SELECT random(), 1, 'b', range % 2 FROM range(1000)) TO '{file}'"
        )
    return file


COLUMNS = ("--score", "s", "--label", "y", "--group", "g")
ODD = "0.1234567890123"


def test_tables_of_one_grid_add_up_on_the_command_line(crowd: Path) -> None:
    folder = crowd.parent
    assert process("tabulate", crowd, *COLUMNS, "-o", folder / "all.table").returncode == 0
    for half in (0, 1):
        words = (*COLUMNS, "--where", f"half={half}", "--grid", folder / "all.table", "-o", folder / f"{half}.table")
        assert run("tabulate", crowd, *words).returncode == 0
    assert run("merge", folder / "0.table", folder / "1.table", "-o", folder / "sum.table").returncode == 0
    one, other = (evenhand.load(folder / name) for name in ("all.table", "sum.table"))
    assert one == other
    assert one.spans is not None


def test_exact_and_cuts_on_the_command_line(crowd: Path) -> None:
    cut, exact = crowd.parent / "cut.table", crowd.parent / "exact.table"
    assert run("tabulate", crowd, *COLUMNS, "--cut", f"{ODD},0.2", "--cut", "0.3", "-o", cut).returncode == 0
    assert run("tabulate", crowd, *COLUMNS, "--exact", "-o", exact).returncode == 0
    kept, every = evenhand.load(cut), evenhand.load(exact)
    assert every.spans is None
    assert every.cells > 500_000 > kept.cells
    a, b = (t.decisions(t.groupings[0], float(ODD)).array for t in (kept, every))
    assert (a == b).all()


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "--bootstrap", "0", "--permutations", "0", "--threshold", ODD),
        ("check", "--threshold", ODD, "--require", "demographic_parity <= 0.5"),
        ("thresholds", "--threshold", ODD, "--bootstrap", "0"),
        ("tabulate", "--suppress-below", "10", "--keep-threshold", ODD, "-o", "shared.table"),
    ],
)
def test_thresholds_of_many_decimals_on_the_command_line(command: tuple[str, ...], crowd: Path) -> None:
    done = run(command[0], crowd, *COLUMNS, *command[1:], cwd=crowd.parent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((*COLUMNS, "--grid", "nowhere.table"), "no table to load"),
        ((*COLUMNS, "--grid", "people.parquet"), "people.parquet"),
        ((*COLUMNS, "--exact", "--cut", "0.5"), "no use for --cut"),
        ((*COLUMNS, "--exact", "--grid", "x"), "no use for --grid"),
        ((*COLUMNS, "--grid", "x", "--cut", "0.5"), "leave --cut out"),
        ((*COLUMNS, "--cut", "half"), "--cut takes numbers"),
        ((*COLUMNS, "--cut", "nan"), "cuts are finite numbers"),
        (("--prediction", "y", "--group", "g", "--cut", "0.5"), "--cut is about scores"),
        (("--prediction", "y", "--group", "g", "--exact"), "--exact is about scores"),
    ],
)
def test_bad_cells_on_the_command_line(words: tuple[str, ...], problem: str, crowd: Path) -> None:
    done = run("tabulate", crowd, *words, "-o", crowd.parent / "never.table", cwd=crowd.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (crowd.parent / "never.table").exists()


@pytest.mark.usefixtures("small")
def test_rows_that_get_lost_on_any_pass_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neighbouring floats are counted in a pass of their own."""
    columns = people("piled up at 1", 50_000)
    inside = Rows.within

    def losing(self: Rows, ranges: Any) -> Any:
        found = inside(self, ranges)
        return taken(found, np.arange(len(found.n)) > 0)

    monkeypatch.setattr(Rows, "within", losing)
    with pytest.raises(evenhand.DataError, match="the data changed while they were counted"):
        tabulated(columns)
