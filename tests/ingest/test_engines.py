"""The same rows give the same table, whichever library or file holds them."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import evenhand
from conftest import people
from evenhand.errors import DataError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

Frame = Any


def _arrow_backed(frame: Frame) -> Any:
    with np.errstate(invalid="ignore"):  # pandas 2 asks whether infinity is a whole number
        return frame.convert_dtypes(dtype_backend="pyarrow")


def _dask(frame: Frame) -> Any:
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(frame, npartitions=3)


def _duckdb(frame: Frame) -> Any:
    return duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


MEMORY: dict[str, Callable[[Frame], Any]] = {
    "pandas": lambda f: f,
    "pandas-arrow": lambda f: _arrow_backed(f),
    "polars": lambda f: pl.from_pandas(f),
    "polars-lazy": lambda f: pl.from_pandas(f).lazy(),
    "pyarrow": lambda f: pa.Table.from_pandas(f, preserve_index=False),
    "duckdb": _duckdb,
    "dask": _dask,
    "dict": lambda f: {c: f[c].to_numpy() for c in f},
    "lists": lambda f: {c: f[c].tolist() for c in f},
    "records": lambda f: f.to_records(index=False),
}


def _write_csv(frame: Frame, folder: Path) -> Path:
    frame.to_csv(folder / "d.csv", index=False)
    return folder / "d.csv"


def _write_tsv(frame: Frame, folder: Path) -> Path:
    frame.to_csv(folder / "d.tsv", index=False, sep="\t")
    return folder / "d.tsv"


def _write_semicolons(frame: Frame, folder: Path) -> Path:
    text = frame.to_csv(None, index=False, sep=";", lineterminator="\r\n")
    (folder / "d.csv").write_text("\ufeff" + text, encoding="utf-8", newline="")
    return folder / "d.csv"


def _write_gzip(frame: Frame, folder: Path) -> Path:
    with gzip.open(folder / "d.csv.gz", "wt", encoding="utf-8", newline="") as file:
        frame.to_csv(file, index=False)
    return folder / "d.csv.gz"


def _write_zstd(frame: Frame, folder: Path) -> Path:
    with pa.CompressedOutputStream(str(folder / "d.csv.zst"), "zstd") as file:
        file.write(frame.to_csv(None, index=False).encode())
    return folder / "d.csv.zst"


def _write_parquet(frame: Frame, folder: Path) -> Path:
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "d.parquet")
    return folder / "d.parquet"


def _write_jsonl(frame: Frame, folder: Path) -> Path:
    frame.to_json(folder / "d.jsonl", orient="records", lines=True, double_precision=15)
    return folder / "d.jsonl"


def _write_feather(frame: Frame, folder: Path) -> Path:
    feather.write_feather(frame, folder / "d.feather")
    return folder / "d.feather"


def _write_shards(frame: Frame, folder: Path) -> str:
    for i in range(3):
        frame.iloc[i::3].to_csv(folder / f"part-{i}.csv", index=False)
    return str(folder / "part-*.csv")


def _write_folder(frame: Frame, folder: Path) -> Path:
    for i in range(3):
        pq.write_table(pa.Table.from_pandas(frame.iloc[i::3], preserve_index=False), folder / f"{i}.parquet")
    return folder


FILES: dict[str, Callable[[Frame, Path], Any]] = {
    "csv": _write_csv,
    "tsv": _write_tsv,
    "semicolons": _write_semicolons,
    "gzip": _write_gzip,
    "zstd": _write_zstd,
    "parquet": _write_parquet,
    "jsonl": _write_jsonl,
    "feather": _write_feather,
    "glob": _write_shards,
    "folder": _write_folder,
}


def given(kind: str, frame: Frame, folder: Path) -> Any:
    return MEMORY[kind](frame) if kind in MEMORY else FILES[kind](frame, folder)


@pytest.fixture(params=[*MEMORY, *FILES])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_identical_cells(kind: str, tmp_path: Path) -> None:
    columns = people(800)
    words: dict[str, Any] = {"score": "s", "label": "y", "group": ["g", "h"], "prediction": "d"}
    expected = evenhand.tabulate(columns, **words)
    found = evenhand.tabulate(given(kind, pd.DataFrame(columns), tmp_path), **words)
    assert found == expected
    assert found.digest() == expected.digest()


def test_continuous_scores_are_exact(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = {"s": rng.random(300).round(15), "y": rng.integers(0, 2, 300), "g": rng.integers(0, 2, 300)}
    found = evenhand.tabulate(given(kind, pd.DataFrame(columns), tmp_path), score="s", label="y", group="g")
    assert found == evenhand.tabulate(columns, score="s", label="y", group="g")
    assert (np.repeat(found.score, found.n) == np.sort(columns["s"])).all()


def test_weights(kind: str, tmp_path: Path) -> None:
    columns = people(300)
    columns["w"][:5] = 0.0
    columns["k"] = np.arange(300) % 4
    source = given(kind, pd.DataFrame(columns), tmp_path)
    expected = evenhand.tabulate(columns, score="s", label="y", group="g", weight="w")
    found = evenhand.tabulate(source, score="s", label="y", group="g", weight="w")
    assert (found.n == expected.n).all()
    digits = 1e-12 if kind == "jsonl" else 0  # pandas writes 15 digits
    np.testing.assert_allclose(found.weight, expected.weight, rtol=digits)
    np.testing.assert_allclose(found.weight2, expected.weight2, rtol=digits)
    assert dict(found.left_out) == {"of weight zero in 'w'": 5}
    repeated = {c: np.repeat(v, columns["k"]) for c, v in columns.items()}
    people_counted = evenhand.tabulate(source, score="s", label="y", group="g", weight="k", weight_kind="frequency")
    rows = evenhand.tabulate(repeated, score="s", label="y", group="g")
    assert (people_counted.n == rows.n).all()
    assert (people_counted.score == rows.score).all()


def test_whole_survey_weights_are_refused_alike(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    s = rng.random(400)
    own = {"s": s, "y": (rng.random(400) < s).astype(int), "g": rng.choice(["a", "b"], 400)}
    alike = {**own, "s": s.round(1)}
    weight = rng.integers(1, 300, 400)
    words: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "weight": "w"}
    for name, columns, found in (("own", own, "a score of its own"), ("alike", alike, "with different weights")):
        columns["w"] = weight
        (tmp_path / name).mkdir()
        source = given(kind, pd.DataFrame(columns), tmp_path / name)
        with pytest.raises(DataError, match=found) as refused:
            evenhand.tabulate(source, **words)
        with pytest.raises(DataError) as expected:
            evenhand.tabulate(columns, **words)
        assert str(refused.value) == str(expected.value)
        assert evenhand.tabulate(source, **words, weight_kind="sampling").rows == 400
        assert evenhand.tabulate(source, **words, weight_kind="frequency").rows == weight.sum()


@pytest.mark.parametrize("kind", [k for k in (*MEMORY, *FILES) if k != "jsonl"])  # JSON has neither NaN nor infinity
def test_gaps_are_counted_alike(kind: str, tmp_path: Path) -> None:
    """NaN, null and infinity; a pyarrow-written Parquet file whose statistics hide NaN among them."""
    columns: dict[str, Any] = people(400)
    columns["s"][:6] = np.nan
    columns["s"][6:9] = np.inf
    columns["s"][9] = -np.inf
    frame = pd.DataFrame(columns)
    frame["g"] = frame["g"].astype(object)
    frame.loc[20:23, "g"] = None
    frame["y"] = frame["y"].astype("Int64")
    frame.loc[5:7, "y"] = None
    source = given(kind, frame, tmp_path)
    words: dict[str, Any] = {"score": "s", "label": "y", "group": ["g", "h"]}
    with pytest.raises(evenhand.DataError, match="10 rows without a finite score 's', 4 rows without a group 'g'"):
        evenhand.tabulate(source, **words)
    both = evenhand.tabulate(source, **words, missing="drop")
    assert dict(both.left_out) == {"without a finite score 's'": 10}
    assert both.rows == 390  # who has no g is counted by h
    words["group"] = "g"
    found = evenhand.tabulate(source, **words, missing="drop")
    assert dict(found.left_out) == {"without a finite score 's'": 10, "without a group 'g'": 4}
    assert found.rows == 386
    assert found.left_out_groups["g"][""] == 4
    assert found == evenhand.tabulate(MEMORY["dict"](frame), **words, missing="drop")


def test_parquet_with_nan_written_by_pyarrow(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"s": [0.1, float("nan"), 0.9, float("nan")], "w": [1.5, 1.5, float("nan"), 2.5], "g": list("abab")}),
        tmp_path / "nan.parquet",
    )
    with pytest.raises(evenhand.DataError, match="2 rows without a finite score"):
        evenhand.tabulate(tmp_path / "nan.parquet", score="s", group="g")
    t = evenhand.tabulate(tmp_path / "nan.parquet", score="s", group="g", weight="w", missing="drop")
    assert dict(t.left_out) == {"without a finite score 's'": 2, "without a finite weight 'w'": 1}
    assert t.rows == 1


GROUPS: dict[str, tuple[list[Any], set[str]]] = {
    "whole": ([1, 2, 10], {"1", "2", "10"}),
    "negative": ([-1, 0, 2**40], {"-1", "0", str(2**40)}),
    "truth": ([True, False, True], {"True", "False"}),
    "fractions": ([0.5, 2.0, 1e-3], {"0.5", "2", "0.001"}),
    "dates": ([dt.date(2024, 1, 2), dt.date(1999, 12, 31), dt.date(2024, 1, 2)], {"2024-01-02", "1999-12-31"}),
    "times": ([dt.datetime(2024, 1, 2, 3, 4, 5), dt.datetime(2024, 1, 2)] * 2, {"2024-01-02 03:04:05", "2024-01-02"}),
    "texts": (["a, b", "🦊", "</script>", "[red]x", "new\nline", "x" * 10_000], set()),
}


@pytest.mark.parametrize("case", GROUPS)
@pytest.mark.parametrize(
    "engine", ["pandas", "polars", "polars-lazy", "pyarrow", "duckdb", "dask", "dict", "parquet", "feather"]
)
def test_group_names_are_alike(case: str, engine: str, tmp_path: Path) -> None:
    values, names = GROUPS[case]
    frame = pd.DataFrame({"s": np.linspace(0, 1, len(values)), "g": values})
    t = evenhand.tabulate(given(engine, frame, tmp_path), score="s", group="g")
    assert set(t.attributes[0].groups) == (names or set(values))
    assert t.rows == len(values)


def test_csv_keeps_names_as_written(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(
        's,g\n0.1,007\n0.2,7\n0.3,true\n0.4," x"\n0.5,"a, ""b"""\n0.6,1e3\n0.7,2020-01-01\n'
    )
    t = evenhand.tabulate(tmp_path / "d.csv", score="s", group="g")
    assert set(t.attributes[0].groups) == {"007", "7", "true", " x", 'a, "b"', "1e3", "2020-01-01"}


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(lambda: pd.Categorical(["a", "b", "a"], categories=["z", "a", "b"]), id="categories"),
        pytest.param(lambda: pd.array(["a", "b", "a"], dtype="string"), id="string"),
        pytest.param(lambda: pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b"])), id="enum"),
        pytest.param(lambda: pa.array(["a", "b", "a"]).dictionary_encode(), id="dictionary"),
        pytest.param(lambda: np.array(["a", "b", "a"]), id="numpy"),
        pytest.param(lambda: ("a", "b", "a"), id="tuple"),
    ],
)
def test_group_columns_of_every_type(column: Callable[[], Any]) -> None:
    t = evenhand.tabulate(score=[0.1, 0.2, 0.3], group=column())
    assert dict(zip(t.attributes[0].groups, t.sizes(t.groupings[0]).tolist(), strict=True)) == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, 1, 1], np.float32),
        np.array([0, 1, 1], np.uint8),
        np.array([False, True, True]),
        [0, 1, 1],
        [decimal.Decimal("0.0"), decimal.Decimal(1), 1.0],
        pd.array([0, 1, 1], dtype="Int64"),
        pl.Series([0, 1, 1], dtype=pl.Decimal(10, 2)),
        np.ma.masked_array([0.0, 1, 1], mask=[False] * 3),
        np.array([[0], [1], [1]]),
    ],
)
def test_score_columns_of_every_type(values: Any) -> None:
    t = evenhand.tabulate(score=values, group=["a", "b", "b"])
    assert t.score is not None
    assert t.score.tolist() == [0.0, 1.0]
    assert t.n.tolist() == [1, 2]


def test_masked_entries_are_missing_not_question_marks() -> None:
    masked = np.ma.masked_array(["a", "b", "c"], mask=[False, False, True])
    with pytest.raises(evenhand.DataError, match="1 rows without a group"):
        evenhand.tabulate(score=[0.1, 0.2, 0.3], group=masked)
    assert evenhand.tabulate(score=[0.1, 0.2, 0.3], group=masked, missing="drop").attributes[0].groups == ("a", "b")


def test_negative_zero_and_tiny_scores() -> None:
    t = evenhand.tabulate(score=[0.0, -0.0, 5e-324, 1e-300], group=list("abab"))
    assert t.scores.tolist() == [0.0, 5e-324, 1e-300]
    t = evenhand.tabulate(score=[0.0, -0.0], group=["a", "a"])
    assert t.cells == 1


def test_a_column_twice_in_a_header(tmp_path: Path) -> None:
    (tmp_path / "same.csv").write_text("s,g,s\n0.1,a,0.1\n0.2,b,0.2\n")
    t = evenhand.tabulate(tmp_path / "same.csv", score="s", group="g")
    assert any("2 columns called 's'; they are identical" in note for note in t.notes)
    (tmp_path / "other.csv").write_text("s,g,s\n0.1,a,0.1\n0.2,b,0.9\n")
    with pytest.raises(evenhand.DataError, match="2 columns called 's' that differ"):
        evenhand.tabulate(tmp_path / "other.csv", score="s", group="g")


def test_columns_whose_names_the_engines_use_themselves() -> None:
    rng = np.random.default_rng(0)
    names = ["n", "state", "group_0", "total"]
    columns = {k: rng.integers(0, 2, 50) for k in names} | {"count": rng.random(50), "w": rng.random(50)}
    expected = evenhand.tabulate(columns, score="count", label="n", group=["state", "group_0", "total"], weight="w")
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), _duckdb(pd.DataFrame(columns))):
        found = evenhand.tabulate(frame, score="count", label="n", group=["state", "group_0", "total"], weight="w")
        assert (found.n == expected.n).all()
        assert found.attributes == expected.attributes


def test_reading_leaves_no_files_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    pd.DataFrame(people(100)).to_csv(tmp_path / "d.csv", index=False)
    evenhand.tabulate(tmp_path / "d.csv", score="s", group="g")
    with pytest.raises(evenhand.UsageError):
        evenhand.tabulate(tmp_path / "d.csv", score="zzz", group="g")
    assert list(scratch.iterdir()) == []


# ---- scores of 32 bits ------------------------------------------------------------------------------------------


def narrow_people(n: int = 900) -> dict[str, Any]:
    """Decimals and other numbers in 32 bits, with those that 64 bits put on the wrong side of a threshold."""
    rng = np.random.default_rng(11)
    s = np.where(rng.random(n) < 0.5, rng.random(n), rng.random(n).round(2)).astype(np.float32)
    s[:6] = 0.7, 0.1, 0.0, 1.0, 1e-9, 0.3
    part = rng.integers(1, 4, n).astype(np.float32) / np.float32(10)
    return {
        "s": s,
        "r": rng.random(n).round(1),
        "y": rng.integers(0, 2, n),
        "g": rng.choice(["f", "m"], n),
        "part": part,
    }


WIDENED = ("lists", "csv", "tsv", "semicolons", "gzip", "zstd", "jsonl", "glob")
"""Text has no bits, and Python's own numbers have 64."""


@pytest.mark.parametrize("kind", [kind for kind in [*MEMORY, *FILES] if kind not in WIDENED])
def test_32_bits_are_compared_in_32_bits(kind: str, tmp_path: Path) -> None:
    columns = narrow_people()
    data, s = given(kind, pd.DataFrame(columns), tmp_path), columns["s"]
    found = evenhand.tabulate(data, score="s", label="y", group="g")
    assert found == evenhand.tabulate(columns, score="s", label="y", group="g")
    shortest = np.array([float(str(x)) for x in s])
    assert (np.repeat(found.score, found.n) == np.sort(shortest)).all()
    for threshold in (0.7, 0.1, 0.3, float(np.float32(0.1)), float(s[40]), 0.123456789, 0.70000001):
        assert found.n[found.selected(threshold)].sum() == (s >= np.float32(threshold)).sum()
    wide = evenhand.tabulate({**columns, "s": shortest}, score="s", label="y", group="g")
    assert (found, found.digest()) == (wide, wide.digest())
    assert (found + wide).n.tolist() == (2 * wide.n).tolist()
    assert evenhand.tabulate(data, score="s", group="g", where={"part": 0.3}).rows == (columns["part"] > 0.25).sum()
    found.save(tmp_path / "saved.table")
    loaded = evenhand.load(tmp_path / "saved.table")
    assert loaded.selected(float(s[40])).tolist() == found.selected(float(s[40])).tolist()


@pytest.mark.parametrize("kind", ["polars", "duckdb", "parquet", "dict"])
def test_32_bits_of_several_models(kind: str, tmp_path: Path) -> None:
    columns = narrow_people()
    words: dict[str, Any] = {"score": ["r", "s"], "label": "y", "group": "g", "bootstrap": 99, "permutations": 0}
    result = evenhand.audit(given(kind, pd.DataFrame(columns), tmp_path), threshold=0.7, **words)
    rates = [[(columns[m] >= columns[m].dtype.type(0.7))[columns["g"] == g].mean() for g in "fm"] for m in ("r", "s")]
    for candidate, (f, m) in zip(result.candidates, rates, strict=True):
        gap = candidate.audit.measure("demographic_parity")
        assert abs(gap.signed) == pytest.approx(abs(f - m))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb", "dask", "dict", "parquet"])
def test_32_bits_on_a_grid(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where scores are many, a decimal of 32 bits is a cell of its own all the same."""
    monkeypatch.setattr("evenhand.ingest.score_cells.EXACT", 500)
    columns = narrow_people(6000)
    frame = pd.DataFrame(columns)
    cuts = [float(columns["s"][5000])]
    expected = evenhand.tabulate(columns, score="s", label="y", group="g", cuts=cuts)
    assert expected.spans is not None
    found = evenhand.tabulate(given(kind, frame, tmp_path), score="s", label="y", group="g", cuts=cuts)
    assert found == expected
    for threshold in (0.7, 0.1, 0.35, *cuts):
        assert found.n[found.selected(threshold)].sum() == (columns["s"] >= np.float32(threshold)).sum()


def test_16_bits_and_lists_of_narrow_numbers() -> None:
    for kind in (np.float16, np.float32):
        s = np.array([0.7] * 3 + [0.1] * 5 + [0.69], kind)
        for score in (s, list(s), np.ma.MaskedArray(s), pd.Series(s)):
            found = evenhand.tabulate(score=score, group=["f", "m", "m"] * 3)
            assert found.scores.tolist() == [0.1, 0.69, 0.7]
            assert found.n[found.selected(0.7)].sum() == 3


def test_thresholds_and_policies_of_32_bits() -> None:
    s = np.array([0.7] * 30 + [0.1] * 70 + [0.7] * 10 + [0.1] * 90, np.float32)
    words: dict[str, Any] = {"score": s, "label": np.tile([0, 1], 100), "group": ["a"] * 100 + ["b"] * 100}
    found = evenhand.thresholds(**words, threshold=0.7, fairness="demographic_parity")
    assert found.current.selection_rate == pytest.approx(0.2)
    assert found.sweep.thresholds[:2].tolist() == [0.1, 0.7]
    assert not found.table.selected(found.sweep.thresholds[-1]).any()
    verdict = evenhand.check(**words, threshold=0.7, require="demographic_parity <= 0.1", bootstrap=0)
    assert verdict.findings[0].value == pytest.approx(0.2)
    metric = evenhand.metrics.delta_dp_b(None, s, sensitive_features=words["group"], threshold=0.7)
    assert float(metric) == pytest.approx(0.2)


# ---- the range of scores ------------------------------------------------------------------------------------------


def test_scores_beyond_their_range_by_rounding(kind: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"s": [-1e-12, 0.25, 0.5, 1.0000001] * 20, "g": ["f", "m", "m", "f"] * 20}
    data = given(kind, pd.DataFrame(columns), tmp_path)
    for words in ({}, {"score_range": (0, 1)}):
        found = evenhand.tabulate(data, score="s", group="g", **words)
        assert found.scores.tolist() == [0.0, 0.25, 0.5, 1.0]
        assert found.score_range == (0.0, 1.0)
        assert any("rounding" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["polars", "duckdb", "dict"])
def test_rounding_on_a_grid(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.ingest.score_cells.EXACT", 500)
    rng = np.random.default_rng(2)
    s = np.r_[rng.random(5000), 1 + rng.random(300) * 9e-7, -rng.random(300) * 9e-7]
    columns = {"s": s, "g": rng.choice(["f", "m"], len(s))}
    found = evenhand.tabulate(given(kind, pd.DataFrame(columns), tmp_path), score="s", group="g")
    assert found.spans is not None
    assert found.extremes == (0.0, 1.0)
    assert found.score_range == (0.0, 1.0)
    assert [int(found.n[found.score == end].sum()) for end in (0.0, 1.0)] == [300, 300]
    assert any("rounding" in note for note in found.notes)


def test_an_observed_range_is_said_whatever_else_was_given() -> None:
    rng = np.random.default_rng(3)
    g = rng.choice(["f", "m"], 2000)
    s = np.clip(rng.normal(0.5, 0.15, 2000) - 0.1 * (g == "f"), 0, 1)
    words: dict[str, Any] = {"group": g, "threshold": 0.5, "bootstrap": 0, "permutations": 0}

    def notes(scores: Any, **more: Any) -> str:
        return "\n".join(evenhand.audit(score=scores, **words, **more).notes)

    assert "range" not in notes(s)
    assert "observed one is used" in notes(np.r_[1.00001, s[1:]])
    assert "outlying" not in notes(np.r_[1.00001, s[1:]])
    assert "(of m: independence (scores) 0.00" in notes(np.r_[60.0, s[1:]])
    alike = np.r_[60.0, s[1:] + 0.1 * (g == "f")[1:]]  # an outlier, but no gap that it could hide
    assert "observed one is used" in notes(alike)
    assert "outlying" not in notes(alike)
    assert "outlying" in notes(alike, measures=["abcc"])  # whether ranks differ is not known
    assert "outlying" not in notes(np.r_[60.0, s[1:]], measures=["independence_standardized"])  # nothing is hidden
    assert "99% of people lie between" in notes(np.r_[60.0, s[1:]])
    assert "range" not in notes(np.r_[60.0, s[1:]], score_range=(0, 100))
    table = evenhand.tabulate(score=s[:50], group=g[:50]) + evenhand.tabulate(score=[9.0], group=["f"])
    assert "outlying" in "\n".join(evenhand.audit(table, bootstrap=0, permutations=0).notes)  # one of 51 people
    with pytest.raises(evenhand.DataError, match="inside the stated range"):
        evenhand.audit(score=np.r_[1.00001, s[1:]], **words, score_range=(0, 1))
    assert "observed one is used" in "\n".join(
        evenhand.thresholds(score=300 + 500 * s, label=g == "f", group=g, favorable=True).notes
    )


def test_rounding_of_several_models_and_people_compared_one_by_one() -> None:
    columns = {"a": [0.1, 1.0000001, 0.4, 0.9] * 10, "b": [0.2, 0.3, -1e-9, 0.8] * 10, "g": ["f", "m", "m", "f"] * 10}
    found = evenhand.audit(columns, score=["a", "b"], group="g", bootstrap=0, permutations=0)
    assert all(c.audit.table.score_range == (0.0, 1.0) for c in found.candidates)
    people = {"x": np.arange(40.0), "s": columns["a"]}
    assert evenhand.individual_fairness(people, score="s").data["score_range"] == (0.0, 1.0)
