"""The table: what it refuses, adding, keeping, comparing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from conftest import people
from evenhand.tables.cells import Attribute
from evenhand.tables.table import Meaning, Table


def table(columns: dict[str, np.ndarray], **words: object) -> Table:
    return evenhand.tabulate(columns, **{"score": "s", "label": "y", "group": ["g", "h"], **words})  # type: ignore[arg-type]


def test_compas_has_the_published_sizes() -> None:
    t = evenhand.compas()
    assert t.rows == 6150
    assert t.cells == 40
    assert dict(zip(t.attributes[0].groups, t.sizes(t.groupings[0]).tolist(), strict=True)) == {
        "African-American": 3696,
        "Caucasian": 2454,
    }


def test_compas_counts_are_those_of_the_file(data_folder: Path) -> None:
    rows = evenhand.tabulate(
        data_folder / "compas_decile_counts.csv",
        score="decile_score",
        label="two_year_recid",
        group=["subset", "race"],
        weight="count",
        favorable=0,
        risk=True,
    )
    mine = rows.decisions(rows.grouping("subset × race"), 5).array
    built_in = evenhand.compas()
    theirs = built_in.decisions(built_in.groupings[0], 5).array
    wanted = [rows.grouping("subset × race").groups.index(f"all7214 × {r}") for r in built_in.attributes[0].groups]
    assert (mine[:, wanted] == theirs).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 200), st.sampled_from([None, "w"]))
def test_adding_shards_is_counting_their_union(seed: int, cut: int, weight: str | None) -> None:
    columns = people(200, seed=seed)
    cut = min(max(cut, 1), 199)
    parts = [{k: v[:cut] for k, v in columns.items()}, {k: v[cut:] for k, v in columns.items()}]
    whole = table(columns, weight=weight)
    total = sum(table(p, weight=weight) for p in parts)
    assert isinstance(total, Table)
    if weight is None:
        assert total == whole
        assert total.digest() == whole.digest()
    else:  # sums of fractions depend on their order in the last bit
        assert (total.n == whole.n).all()
        np.testing.assert_allclose(total.weight, whole.weight, rtol=1e-12)
        np.testing.assert_allclose(total.weight2, whole.weight2, rtol=1e-12)


def test_adding_keeps_what_was_left_out() -> None:
    columns = people(100)
    columns["s"][:7] = np.nan
    parts = [{k: v[i] for k, v in columns.items()} for i in (slice(0, 50), slice(50, 100))]
    total = table(parts[0], missing="drop") + table(parts[1], missing="drop")
    assert dict(total.left_out) == {"without a finite score 's'": 7}
    assert total == table(columns, missing="drop")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ({"risk": True}, "risk"),
        ({"favorable": 0}, "favorable"),
        ({"score_range": (0, 2)}, "score range"),
        ({"group": "g"}, "attributes"),
        ({"label": None}, "label"),
        ({"weight": "w"}, "weight"),
        ({"score": "w"}, "score"),
        ({"prediction": "d"}, "prediction"),
    ],
)
def test_tables_of_different_meaning_do_not_add(words: dict[str, object], what: str) -> None:
    columns = people()
    with pytest.raises(evenhand.UsageError, match=f"add up only if they mean the same: the .*{what}"):
        table(columns) + table(columns, **words)


def test_adding_something_else_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        evenhand.compas() + 1  # type: ignore[operator]
    assert evenhand.compas() != 1
    with pytest.raises(TypeError):
        hash(evenhand.compas())


def test_a_table_cannot_be_changed() -> None:
    t = evenhand.compas()
    with pytest.raises(ValueError, match="read-only"):
        t.n[0] = 5
    with pytest.raises(AttributeError):
        t.n = t.n  # type: ignore[misc]
    with pytest.raises(TypeError):
        t.left_out["x"] = 1  # type: ignore[index]


def test_tabulating_leaves_the_users_arrays_alone() -> None:
    columns = people(50, levels=None)
    order = np.argsort(columns["s"])
    columns = {k: np.ascontiguousarray(v[order]) for k, v in columns.items()}
    before = {k: v.copy() for k, v in columns.items()}
    table(columns, weight="w")
    for k, v in columns.items():
        assert v.flags.writeable
        assert (v == before[k]).all()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"n": np.array([1, 0])}, "positive counts"),
        ({"n": np.array([1.5, 2.0])}, "whole"),
        ({"n": np.array([1])}, "one group per attribute"),
        ({"score": np.array([0.5, np.nan])}, "finite scores"),
        ({"score": np.array([0.5, 0.1])}, "sorted"),
        ({"score": None}, "a score or a prediction"),
        ({"score": np.array([-1e308, 1.7e308])}, "range is a finite number"),
        ({"codes": np.array([[0, 2]])}, "codes that exist"),
        ({"codes": np.array([[0, -1]])}, "codes that exist"),
        ({"attributes": (Attribute("g", ("a", "a")),)}, "different group names"),
        ({"attributes": ()}, "at least one group column"),
        ({"label": np.array([True])}, "one label per cell"),
        ({"weight": np.array([1.0, 2.0])}, "weights together with their squares"),
        ({"weight": np.array([1.0, 0.0]), "weight2": np.array([1.0, 1.0])}, "positive weights"),
        ({"meaning": Meaning(score_range=(0.3, 1.0))}, "inside the stated range"),
    ],
)
def test_a_table_checks_itself(change: dict[str, object], rule: str) -> None:
    good = Table((Attribute("g", ("a", "b")),), np.array([[0, 1]]), np.array([1, 2]), score=np.array([0.2, 0.4]))
    with pytest.raises(evenhand.DataError, match=rule):
        replace(good, **change)


def test_many_attributes_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    columns = {f"a{i}": rng.integers(0, 900, 1000) for i in range(9)}  # 900⁹ > 2⁶³
    t = evenhand.tabulate(score=rng.random(1000), group=columns, bands="none")
    assert len(t.groupings[-1].groups) == 1000
    assert t.rows == 1000


# ---- files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [{}, {"weight": "w"}, {"prediction": "d"}, {"label": None}, {"score_range": (-1, 3)}])
def test_saving_and_loading_gives_the_same_table(tmp_path: Path, words: dict[str, object]) -> None:
    t = table(people(), **words)
    file = tmp_path / "any name.table"
    t.save(file)
    again = evenhand.load(file)
    assert again == t
    assert again.digest() == t.digest()
    assert [p.name for p in tmp_path.iterdir()] == ["any name.table"]
    first = file.read_bytes()
    t.save(file)
    assert file.read_bytes() == first


def test_names_of_any_kind_survive_a_file(tmp_path: Path) -> None:
    names = [
        "a, b",
        "</script>",
        "‏עברית",
        "🦊",
        "new\nline",
        "tab\t",
        "'quo\"ted'",
        "x" * 10_000,
        "[bold]",
        "nul\x00l",
        " pad ",
    ]
    t = evenhand.tabulate(score=np.linspace(0, 1, len(names)), group={"a × b;'": names})
    t.save(tmp_path / "t")
    again = evenhand.load(tmp_path / "t")
    assert again == t
    assert set(again.attributes[0].groups) == set(names)


def test_any_reader_can_use_the_file(tmp_path: Path) -> None:
    evenhand.compas().save(tmp_path / "t.parquet")
    rows = duckdb.connect().execute(
        f"SELECT group_0, sum(n), sum(n) FILTER (label) FROM '{tmp_path / 't.parquet'}' GROUP BY 1 ORDER BY 1"
    )
    assert rows.fetchall() == [("African-American", 3696, 1795), ("Caucasian", 2454, 1488)]


def _saved(tmp_path: Path, edit: object = None) -> Path:
    """A table file whose description was changed by hand."""
    evenhand.compas().save(tmp_path / "t")
    con = duckdb.connect()
    [(text,)] = con.execute(
        f"SELECT value FROM parquet_kv_metadata('{tmp_path / 't'}') WHERE key = 'evenhand'::BLOB"
    ).fetchall()
    about = json.loads(bytes(text))
    about.update(edit)  # type: ignore[call-overload]
    quoted = json.dumps(about).replace("'", "''")
    out = tmp_path / "edited"
    con.execute(
        f"COPY (FROM read_parquet('{tmp_path / 't'}')) TO '{out}' "
        f"(FORMAT parquet, KV_METADATA {{evenhand: '{quoted}'}})"
    )
    return out


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        ({"schema": "evenhand/table/9"}, "newer than this evenhand reads"),
        ({"schema": "other"}, "unknown table format 'other'"),
        ({"digest": "0" * 64}, "do not match its digest"),
        ({"attributes": [{"name": "race", "groups": ["Caucasian"]}]}, "damaged"),
        ({"meaning": {"surprise": 1}}, "damaged"),
        ({"left_out": {"x": "many"}}, "damaged"),
    ],
)
def test_a_file_changed_by_hand_is_refused(tmp_path: Path, edit: dict[str, object], reason: str) -> None:
    with pytest.raises(evenhand.TableFileError, match=reason):
        evenhand.load(_saved(tmp_path, edit))


def test_a_writer_need_not_give_a_digest(tmp_path: Path) -> None:
    assert evenhand.load(_saved(tmp_path, {"digest": None})) == evenhand.compas()


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "t"
    evenhand.compas().save(file)
    good = file.read_bytes()
    refused = 0
    for cut in (0, 3, 4, len(good) // 2, len(good) - 1):
        file.write_bytes(good[:cut])
        with pytest.raises(evenhand.TableFileError):
            evenhand.load(file)
    rng = np.random.default_rng(0)
    for place in rng.integers(4, len(good) - 8, 60):
        damaged = bytearray(good)
        damaged[place] ^= 0xFF
        file.write_bytes(bytes(damaged))
        try:
            assert evenhand.load(file) == evenhand.compas()  # a byte that says nothing, such as a statistic
        except evenhand.TableFileError:
            refused += 1
    assert refused > 20
    duckdb.connect().execute(f"COPY (SELECT 1 AS a) TO '{tmp_path / 'rows.parquet'}' (FORMAT parquet)")
    with pytest.raises(evenhand.TableFileError, match="not a table saved by evenhand"):
        evenhand.load(tmp_path / "rows.parquet")
    (tmp_path / "t.json").write_text('{"schema": "evenhand/table/1"}')
    with pytest.raises(evenhand.TableFileError, match="not a Parquet file"):
        evenhand.load(tmp_path / "t.json")
    with pytest.raises(evenhand.TableFileError, match="not a file"):
        evenhand.load(tmp_path / "absent")


def test_a_failed_save_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(evenhand.UsageError, match="cannot write"):
        evenhand.compas().save(tmp_path / "no such folder" / "t")
    with pytest.raises(evenhand.UsageError, match="it is a folder"):
        evenhand.compas().save(tmp_path)
    assert list(tmp_path.iterdir()) == []
