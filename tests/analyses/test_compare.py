"""Comparing methods over runs: the tables of Han, Baldwin & Cohn (2023), slow code, properties, bad input."""

from __future__ import annotations

import csv
import itertools
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import evenhand
from conftest import called as run, check_schema, evenhand as process
from evenhand.errors import DataError, EvenhandError, UsageError
from evenhand.inference.seed_resample import could_matter, freedom, interval, resampled_means
from evenhand.measures.pareto import area, curve, dto, pareto, select

METHODS = ("INLP", "Adv", "DAdv", "BTGAdv")
WORDS: dict[str, Any] = {
    "method": "m", "performance": "p", "fairness": "f", "dev_performance": "dp", "dev_fairness": "df",
}  # fmt: skip
PLAIN: dict[str, Any] = {"method": "m", "performance": "p", "fairness": "f", "bootstrap": 0}


def some_runs(seed: int = 0, methods: int = 3, settings: int = 6, seeds: int = 4) -> dict[str, Any]:
    """Methods a, b, …, each with settings s (number) and t (text)."""
    rng = np.random.default_rng(seed)
    n = methods * settings * seeds
    m, s = np.repeat(np.arange(methods), settings * seeds), np.tile(np.repeat(np.arange(settings), seeds), methods)
    p = np.clip(0.5 + 0.06 * s + 0.02 * m + rng.normal(0, 0.02, n), 0, 1)
    f = np.clip(0.9 - 0.05 * s - 0.01 * m + rng.normal(0, 0.02, n), 0, 1)
    dp, df = (np.clip(v + rng.normal(0, 0.01, n), 0, 1) for v in (p, f))
    names = np.array([chr(97 + i) for i in range(methods)])
    return {"m": names[m], "s": s / 4, "t": np.array(["x", "y"])[s % 2], "p": p, "f": f, "dp": dp, "df": df}


def by_name(found: Any) -> dict[str, Any]:
    return {m["name"]: m for m in found.to_dict()["methods"]}


# ---- the tables of Han, Baldwin & Cohn (2023) -----------------------------------------------------------------------

CRITERIA = (
    "dto", "performance", "performance@fairness>=0.65", "performance@fairness>=0.7", "fairness",
    "fairness@performance>=0.78", "fairness@performance>=0.73",
)  # fmt: skip
WITHOUT_LEAK = {
    "INLP": (47.5, 45.3, 52.6, 52.6, 70.2, 45.1, 45.1, 39.8),
    "Adv": (39.0, 44.6, 43.3, 41.8, 49.4, 42.9, 45.0, 43.3),
    "DAdv": (37.9, 46.4, 41.0, 40.5, 39.9, 43.5, 41.9, 44.2),
    "BTGAdv": (36.9, 45.4, 39.5, 39.0, 62.1, 44.4, 42.8, 43.9),
}
"""Table 3 with the front of development results; as printed it is in tests/published/test_aggregation_items.py."""


def bios(folder: Path, *names: str) -> tuple[dict[str, list[Any]], list[str]]:
    """The published runs of some methods as columns, and their settings."""
    rows: list[dict[str, Any]] = []
    for name in names:
        with open(folder / "bios" / f"Bios_both_{name}.csv", newline="") as file:
            rows += [{"method": name, **row} for row in csv.DictReader(file)]
    keys = list(dict.fromkeys(k for row in rows for k in row))
    columns: dict[str, list[Any]] = {k: [row.get(k) or None for row in rows] for k in keys}
    for k in keys:
        if k.startswith(("test_", "dev_")):
            columns[k] = [float(v) for v in columns[k]]
    return columns, [k for k in keys if k.startswith(("adv_", "INLP_", "index_", "lr"))]


BIOS = {
    "method": "method", "performance": "test_performance", "fairness": "test_fairness",
    "dev_performance": "dev_performance", "dev_fairness": "dev_fairness", "random_performance": 0.3,
    "fairness_floor": (0.65, 0.70), "performance_floor": (0.78, 0.73),
}  # fmt: skip


def test_table_3_without_its_leak(data_folder: Path) -> None:
    columns, keys = bios(data_folder, *METHODS)
    found = by_name(evenhand.compare(columns, **BIOS, settings=keys, front="dev", bootstrap=0))
    for name, numbers in WITHOUT_LEAK.items():
        dtos = [100 * found[name]["selected"][c]["dto"] for c in CRITERIA]
        assert [*dtos, 100 * found[name]["auc_pfc"]] == pytest.approx(numbers, abs=0.0501)


def test_no_published_cell_dropped_its_constraint(data_folder: Path) -> None:
    columns, keys = bios(data_folder, *METHODS)
    found = by_name(evenhand.compare(columns, **BIOS, settings=keys, front="published", bootstrap=0))
    for m in found.values():
        for criterion in CRITERIA:
            best, _, floor = criterion.partition("@")
            if floor:
                other, bound = floor.split(">=")
                assert m["selected"][criterion]["dev"][other] >= float(bound)
                assert best != other


def test_a_baseline_of_the_runs(data_folder: Path) -> None:
    columns, keys = bios(data_folder, *METHODS, "Vanilla")
    words = {k: v for k, v in BIOS.items() if "floor" not in k}
    found = evenhand.compare(columns, **words, settings=keys, baseline="Vanilla", bootstrap=0).to_dict()
    assert found["options"]["base"] == pytest.approx([0.80747, 0.54074], abs=1e-5)
    floors = {k["id"]: k["floor"] for k in found["criteria"][3:]}
    assert floors == pytest.approx({
        "performance@fairness+0.05": 0.59074, "performance@fairness+0.1": 0.64074,
        "fairness@performance-0.05": 0.75747, "fairness@performance-0.1": 0.70747,
    }, abs=1e-5)  # fmt: skip
    vanilla = next(m for m in found["methods"] if m["name"] == "Vanilla")
    assert vanilla["selected"]["performance@fairness+0.1"]["undefined"] == (
        "because no setting of Vanilla reaches fairness 0.6407 on the development results; its best is 0.5407"
    )


def test_the_command_line_reads_the_published_files(data_folder: Path, tmp_path: Path) -> None:
    columns, keys = bios(data_folder, "INLP")
    path = tmp_path / "runs.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    words = [f"--{k.replace('_', '-')}={v}" for k, v in BIOS.items() if "floor" not in k]
    done = run("compare", path, *words, "--settings", ",".join(keys), "--json", "-")
    found = json.loads(done.stdout)["methods"][0]
    assert found["selected"]["dto"]["dto"] == pytest.approx(0.475, abs=5e-4)
    chosen = found["selected"]["dto"]["settings"]
    assert chosen["INLP_by_class"] == "True"
    assert chosen["INLP_discriminator_reweighting"] is None
    assert isinstance(chosen["index_epoch"], int)


# ---- against code that takes its time ----------------------------------------------------------------------------


def slowly(runs: dict[str, Any], keys: tuple[str, ...], random: float, front: str = "dev") -> dict[str, Any]:
    """Area, and distance of the model selected by distance, with dicts and loops."""
    groups: dict[Any, dict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for i in range(len(runs["m"])):
        groups[str(runs["m"][i])][tuple(str(runs[k][i]) for k in keys)].append(
            [runs[c][i] for c in ("p", "f", "dp", "df")]
        )
    out = {}
    for name, own in groups.items():
        means = [tuple(sum(v) / len(v) for v in zip(*seeds, strict=True)) for seeds in own.values()]
        on = slice(2, 4) if front == "dev" else slice(0, 2)
        kept = [
            a for a in means
            if not any(b[on][0] >= a[on][0] and b[on][1] >= a[on][1] and b[on] != a[on] for b in means)
        ]  # fmt: skip
        line = sorted({*((a[0], -a[1]) for a in kept), (random, -1.0)})
        total = sum((b[0] - a[0]) * -(a[1] + b[1]) / 2 for a, b in itertools.pairwise(line))
        best = min(kept, key=lambda a: (math.hypot(1 - a[2], 1 - a[3]), -a[2], -a[3]))
        out[name] = (total, math.hypot(1 - best[0], 1 - best[1]))
    return out


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("front", ["dev", "published"])
def test_equals_loops(seed: int, front: Any) -> None:
    runs = some_runs(seed, methods=4, settings=9, seeds=3)
    expected = slowly(runs, ("s", "t"), 0.3, front)
    found = evenhand.compare(runs, **WORDS, settings=["s", "t"], random_performance=0.3, front=front, bootstrap=0)
    assert {n: (m["auc_pfc"], m["selected"]["dto"]["dto"]) for n, m in by_name(found).items()} == {
        name: pytest.approx(values, abs=1e-12) for name, values in expected.items()
    }
    ranked = [m["auc_pfc"] for m in found.to_dict()["methods"]]
    assert ranked == sorted(ranked, reverse=True)


# ---- properties ---------------------------------------------------------------------------------------------------

coordinate = st.integers(0, 8).map(lambda i: i / 8)
rows = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), coordinate, coordinate), min_size=1, max_size=30)


def table(some: list[Any]) -> dict[str, list[Any]]:
    return dict(zip(("m", "s", "p", "f"), (list(column) for column in zip(*some, strict=True)), strict=True))


def core(found: Any) -> dict[str, Any]:
    """What must not depend on how the runs are written down, in eighths that are exact."""
    return {
        m["name"]: (
            m["auc_pfc"],
            m["dto_area"],
            [(x["performance"], x["fairness"]) for x in m["front"]],
            {k: (x["performance"], x["fairness"]) for k, x in m["selected"].items()},
        )
        for m in found.to_dict()["methods"]
    }


def compared(some: list[Any], **more: Any) -> Any:
    return evenhand.compare(table(some), **PLAIN, settings="s", random_performance=0.0, **more)


@given(rows, st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_does_not_matter(some: list[Any], random: Any) -> None:
    mixed = random.sample(some, len(some))
    one, other = (evenhand.compare(table(r), **{**PLAIN, "bootstrap": 20}, settings="s", random_performance=0.0)
                  for r in (some, mixed))  # fmt: skip
    assert one.to_json() == other.to_json()


@given(rows)
@settings(max_examples=60, deadline=None)
def test_duplicating_runs_changes_no_area(some: list[Any]) -> None:
    method, setting = some[0][:2]
    once, thrice = core(compared(some)), core(compared(some * 2))
    part = core(compared(some + [row for row in some if row[:2] == (method, setting)]))
    apart = core(evenhand.compare(table(some), **PLAIN, random_performance=0.0))
    doubled = core(evenhand.compare(table(some + some), **PLAIN, random_performance=0.0))
    for name, values in once.items():
        for other in (thrice, part):
            assert other[name][0] == (None if values[0] is None else pytest.approx(values[0], abs=1e-12))
        assert doubled[name][0] == (None if apart[name][0] is None else pytest.approx(apart[name][0], abs=1e-12))


@given(rows)
@settings(max_examples=60, deadline=None)
def test_renaming_methods_permutes(some: list[Any]) -> None:
    names = {"a": "z", "b": "q", "c": "b"}
    renamed = core(compared([(names[row[0]], *row[1:]) for row in some]))
    assert renamed == {names[name]: values for name, values in core(compared(some)).items()}


@given(rows, st.floats(0.1, 1), st.floats(0.1, 1))
@settings(max_examples=60, deadline=None)
def test_a_dominated_setting_changes_nothing(some: list[Any], a: float, b: float) -> None:
    found = core(compared(some))
    name, (_, _, front, _) = next(iter(found.items()))
    worse = (name, 99, front[0][0] * a * 0.9, front[0][1] * b * 0.9)
    if worse[2:] in front:
        return
    assert core(compared([*some, worse])) == found


@given(rows, coordinate, coordinate)
@settings(max_examples=60, deadline=None)
def test_a_better_setting_never_raises_the_distance(some: list[Any], p: float, f: float) -> None:
    before, after = (by_name(compared(r)) for r in (some, [*some, (some[0][0], 99, p, f)]))
    name = some[0][0]
    assert after[name]["selected"]["dto"]["dto"] <= before[name]["selected"]["dto"]["dto"] + 1e-15
    assert after[name]["selected"]["fairness"]["fairness"] >= before[name]["selected"]["fairness"]["fairness"]


def test_lower_is_better_turns_a_gap_round() -> None:
    runs = some_runs()
    gaps = {**runs, "f": 1 - runs["f"], "df": 1 - runs["df"]}
    words = {**WORDS, "settings": "s", "random_performance": 0.3}
    one, other = evenhand.compare(runs, **words), evenhand.compare(gaps, **words, lower_is_better="fairness")
    assert [m["auc_pfc"] for m in one.to_dict()["methods"]] == pytest.approx(
        [m["auc_pfc"] for m in other.to_dict()["methods"]]
    )
    assert "lower is better for fairness" in repr(other)
    assert "1 − f" in repr(other)


def test_normalised_distances() -> None:
    runs = {"m": ["a", "a", "b"], "p": [0.4, 0.8, 0.6], "f": [0.9, 0.7, 0.8]}
    found = evenhand.compare(runs, **PLAIN, normalize="range").to_dict()
    assert found["options"]["scale"] == pytest.approx([0.4, 0.2])
    dtos = {x["performance"]: x["dto"] for m in found["methods"] for x in m["front"]}
    expected = [math.hypot((1 - p) / 0.4, (1 - f) / 0.2) for p, f in zip(runs["p"], runs["f"], strict=True)]
    assert [dtos[p] for p in runs["p"]] == pytest.approx(expected)
    scaled = evenhand.compare(runs, **PLAIN, normalize=found["options"]["scale"]).to_dict()
    assert scaled["methods"] == found["methods"]


def test_partial_areas_and_utopia() -> None:
    runs = {"m": ["a"], "p": [0.9], "f": [0.4]}
    words = {**PLAIN, "random_performance": 0.3}
    found = [evenhand.compare(runs, **words, **part).to_dict()["methods"][0]["partial_auc_pfc"]
             for part in ({}, {"performance_from": 0.5}, {"fairness_from": 0.5}, {"dto_to": 0.5},
                          {"performance_from": 0.5, "fairness_from": 0.5})]  # fmt: skip
    chord = (0.5**2 - 0.7**2 / 2) ** 0.5 / 2**0.5
    assert found == [None, *map(pytest.approx, (0.24, 0.375, 2 * chord * 0.65, 0.3 * (0.8 + 0.5) / 2))]
    near = evenhand.compare(runs, **words, utopia=(0.9, 0.5)).to_dict()["methods"][0]
    assert near["selected"]["dto"]["dto"] == pytest.approx(0.1)


# ---- what the result offers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [
    {}, {"random_performance": 0.3}, {"random_performance": 0.3, "baseline": "a", "fairness_floor": 0.99},
    {"settings": ["s", "t"], "random_performance": 0.99}, {"settings": "s", "normalize": "range", "dto_to": 0.4},
    {"settings": "s", "front": "published", "random_performance": 0.3, "performance_from": 0.5},
])  # fmt: skip
def test_the_document_keeps_to_its_schema(more: dict[str, Any]) -> None:
    found = evenhand.compare(some_runs(), **WORDS, **more, bootstrap=50)
    document = json.loads(found.to_json(), parse_constant=lambda name: pytest.fail(name))
    check_schema(document, evenhand.schema("compare"))
    assert document == found.to_dict()


def test_the_same_seed_gives_the_same_bytes() -> None:
    words = {**WORDS, "settings": "s", "random_performance": 0.3}
    one, two = (evenhand.compare(some_runs(), **words, rng=3).to_json() for _ in range(2))
    assert one == two
    assert one != evenhand.compare(some_runs(), **words, rng=4).to_json()


def test_settings_keep_their_types_and_missing_is_a_value(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("m,a,b,c,p,f\n1.0,0.5,007,,.5,.9\n1.0,2,08,x,.6,.8\n1.0,2,08,,.7,.7\n1.0,2.0,08,,.7,.7\n")
    found = evenhand.compare(path, **PLAIN, settings=["a", "b", "c"]).to_dict()["methods"]
    assert [m["name"] for m in found] == ["1.0"]
    assert [(x["settings"], x["seeds"]) for x in found[0]["front"]] == [
        ({"a": 0.5, "b": "007", "c": None}, 1),
        ({"a": 2.0, "b": "08", "c": "x"}, 1),
        ({"a": 2.0, "b": "08", "c": None}, 2),
    ]
    typed = {"m": ["x"] * 3, "n": [1, 2, 2], "flag": [True, False, None], "p": [0.1, 0.5, 0.6], "f": [0.9, 0.8, 0.7]}
    found = evenhand.compare(typed, **PLAIN, settings=["n", "flag"]).to_dict()["methods"]
    assert [x["settings"] for x in found[0]["front"]] == [
        {"n": 1, "flag": True}, {"n": 2, "flag": False}, {"n": 2, "flag": None},
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "lazy", "pyarrow", "duckdb", "csv", "parquet", "jsonl"])
def test_every_kind_of_data_gives_the_same(kind: str, tmp_path: Path) -> None:
    import duckdb

    pandas, polars, _ = (pytest.importorskip(library) for library in ("pandas", "polars", "pyarrow"))
    runs = some_runs()
    frame = polars.DataFrame({k: v.tolist() for k, v in runs.items()})
    data: Any = {
        "dict": lambda: runs,
        "pandas": lambda: pandas.DataFrame(runs),
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pyarrow": frame.to_arrow,
        "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()),
        "csv": lambda: frame.write_csv(tmp_path / "r.csv") or tmp_path / "r.csv",
        "parquet": lambda: frame.write_parquet(tmp_path / "r.parquet") or tmp_path / "r.parquet",
        "jsonl": lambda: frame.write_ndjson(tmp_path / "r.jsonl") or tmp_path / "r.jsonl",
    }[kind]()
    words = {**WORDS, "settings": ["s", "t"], "random_performance": 0.3, "bootstrap": 30}
    assert evenhand.compare(data, **words).to_dict() == evenhand.compare(runs, **words).to_dict()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "duckdb"])
def test_points_as_a_frame(library: str) -> None:
    pytest.importorskip(library)
    found = evenhand.compare(some_runs(), **WORDS, settings=["s", "t"], bootstrap=0)
    frame = found.to_frame(library)
    columns = list(frame.column_names if library == "pyarrow" else frame.columns)
    assert columns == [
        "method", "s", "t", "performance", "fairness", "dev_performance", "dev_fairness", "seeds", "dto", "on_front",
    ]  # fmt: skip
    if library == "pandas":
        for name, own in frame.groupby("method"):
            assert own["on_front"].tolist() == pareto(own["dev_performance"], own["dev_fairness"]).tolist()
            assert len(by_name(found)[name]["front"]) == own["on_front"].sum()
        assert frame["dto"].to_numpy() == pytest.approx(dto(frame["performance"], frame["fairness"]))


def test_the_frame_is_in_the_library_of_the_data() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({k: v.tolist() for k, v in some_runs().items()})
    assert isinstance(evenhand.compare(frame, **WORDS, bootstrap=0).to_frame(), polars.DataFrame)
    clash = {**some_runs(), "dto": np.zeros(72)}
    with pytest.raises(UsageError, match="rename it"):
        evenhand.compare(clash, **WORDS, settings="dto", bootstrap=0).to_frame()


def test_curves_to_plot() -> None:
    found = evenhand.compare(some_runs(), **WORDS, settings="s", random_performance=0.3, bootstrap=0)
    line = found.curve("b")
    assert line.performance[0] == 0.3
    assert line.fairness[0] == 1.0
    assert float(area(line)) == pytest.approx(by_name(found)["b"]["auc_pfc"])
    with pytest.raises(UsageError, match="no method 'z'"):
        found.curve("z")


def test_text_and_html() -> None:
    found = evenhand.compare(
        some_runs(), **WORDS, settings="s", random_performance=0.3, fairness_floor=(0.8, 0.999), baseline="a",
        performance_from=0.4,
    )  # fmt: skip
    text = repr(found)
    assert max(map(len, text.splitlines())) <= 80
    assert "higher is better" in text
    undefined = "– undefined because no setting of a reaches fairness 0.999 on the development results; its best is 0.9"
    assert undefined in " ".join(text.split())
    assert "…" not in text.split("Notes")[0]
    assert "<pre" in found._repr_html_()


def test_notes_say_what_a_reader_must_know() -> None:
    runs = some_runs(seeds=1)
    bare = evenhand.compare({k: runs[k] for k in "mpf"}, method="m", performance="p", fairness="f")
    said = " ".join(bare.notes)
    for words in ("every row is a setting", "optimistic", "no performance of a random guess"):
        assert words in said
    assert bare.resamples == 0
    assert {m["ci"] for m in bare.to_dict()["methods"]} == {None}
    leak = evenhand.compare(runs, **WORDS, settings="s", front="published", random_performance=0.55)
    said = " ".join(leak.notes)
    for words in ("test results leak", "worse than a random guess", "with one run cannot vary"):
        assert words in said
    assert leak.to_dict()["methods"][0]["ci_undefined"] == "because every setting on the front has one run"
    rough = evenhand.compare(some_runs(), **WORDS, settings="s", bootstrap=10)
    assert "10 resamples are few" in " ".join(rough.notes)


# ---- bad input ----------------------------------------------------------------------------------------------------

GOOD = {"m": ["a", "b", "b"], "p": [0.8, 0.7, 0.6], "f": [0.5, 0.6, 0.7], "s": [1, 2, 3]}


@pytest.mark.parametrize(("change", "words", "message"), [
    ({"p": [0.8, float("nan"), 0.6]}, {}, "'p' is missing or infinite in 1 of 3 rows"),
    ({"p": [0.8, None, 0.6]}, {}, "'p' is missing or infinite in 1 of 3 rows"),
    ({"f": [0.8, float("inf"), 0.6]}, {}, "'f' is missing or infinite in 1 of 3 rows"),
    ({"p": ["x", "y", "z"]}, {}, "must hold numbers, but holds 'x'"),
    ({"p": [80, 70, 60.5]}, {}, "if these are percent, divide them by 100"),
    ({"f": [0.1, -0.2, 0.3]}, {}, "such as -0.2: bring them onto"),
    ({"m": ["a", "", "b"]}, {}, "column 'm' is empty in 1 of 3 rows"),
    ({"m": ["a", None, "b"]}, {}, "column 'm' is empty in 1 of 3 rows"),
    ({"m": [], "p": [], "f": [], "s": []}, {}, "the data hold no row"),
    ({"p": [float("nan")] * 3}, {"missing": "drop"}, "none of the rows has all its results"),
    ({"p": [0.8, 0.7]}, {}, "all columns need the same length"),
    ({"s": [[1], [2], [3]]}, {"settings": "s"}, "must hold plain values|one value per row"),
    ({}, {"performance": "P"}, "no column 'P'.*did you mean 'p'"),
    ({}, {"settings": "size"}, "no column 'size'"),
    ({}, {"settings": "p"}, "'p' cannot be both a result and a setting"),
    ({}, {"settings": 3}, "settings must be a name or a list of names"),
    ({}, {"method": None}, "method must be the name of a column"),
    ({}, {"dev_fairness": "f"}, "dev_fairness is named, dev_performance is not"),
    ({}, {"baseline": "c"}, "no method 'c' in the runs \\(there are: 'a', 'b'\\)"),
    ({}, {"baseline": ""}, "baseline must be the name"),
    ({}, {"random_performance": 1.5}, "random_performance must be a number from 0 to 1"),
    ({}, {"random_performance": "half"}, "random_performance must be a number from 0 to 1"),
    ({}, {"fairness_floor": 65}, "fairness_floor must be a number from 0 to 1"),
    ({}, {"performance_floor": "x"}, "performance_floor must be a number or a list"),
    ({}, {"margins": (0.1, float("nan")), "baseline": "a"}, "margins must be a number from 0 to 1"),
    ({}, {"utopia": (1,)}, "utopia must be two numbers"),
    ({}, {"utopia": (1, float("inf"))}, "utopia must be two numbers"),
    ({}, {"normalize": "max"}, "normalize must be 'range' or two positive numbers"),
    ({}, {"normalize": (0, 1)}, "normalize must be 'range' or two positive numbers"),
    ({"p": [0.5] * 3}, {"normalize": "range"}, "cannot normalise by the range of performance"),
    ({}, {"front": "test"}, "front must be one of 'dev', 'published'"),
    ({}, {"front": "published"}, "name their columns"),
    ({}, {"missing": "skip"}, "missing must be one of"),
    ({}, {"lower_is_better": "fair"}, "lower_is_better takes .* did you mean 'fairness'"),
    ({}, {"confidence": 95}, "confidence must be a number"),
    ({}, {"bootstrap": 1.5}, "bootstrap must be a whole number"),
    ({}, {"rng": -1}, "rng must be a seed"),
    ({}, {"dto_to": -1}, "dto_to must be a number"),
    ({"p": [0.8, 1.2, 0.6]}, {}, "such as 1.2: bring them onto"),
    ({"p": [True, False, True]}, {}, "'p' must hold numbers, but holds truth values"),
    ({"p": np.array([True, False, True])}, {}, "'p' must hold numbers, but holds truth values"),
    ({"f": [0.5, True, None]}, {}, "'f' must hold numbers, but holds truth values"),
    ({}, {"fairness": "p"}, "'p' cannot be both performance and fairness"),
    ({}, {"dev_performance": "p", "dev_fairness": "f"}, "cannot be both performance and dev_performance: if there are"),
    ({}, {"dev_performance": "f", "dev_fairness": "s"}, "cannot be both fairness and dev_performance"),
    ({}, {"margins": 0.1}, "margins add to the results of a baseline: name it"),
    ({}, {"utopia": (1, 1.5)}, r"utopia must lie in \[0, 1\]"),
    ({}, {"utopia": (-0.1, 1)}, r"utopia must lie in \[0, 1\]"),
    ({}, {"normalize": (1e-320, 1)}, "two positive numbers from 1e-06 to 1e\\+06"),
    ({"p": [0.5, 0.5, 0.5 + 1e-12]}, {"normalize": "range"}, "cannot normalise by the range of performance"),
    ({}, {"settings": "m"}, "the column of methods, cannot: name other columns, or none"),
    ({}, {"lower_is_better": "none"}, "takes 'performance', 'fairness' or 'both'"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(change: dict[str, Any], words: dict[str, Any], message: str) -> None:
    asked = {"method": "m", "performance": "p", "fairness": "f", **words}
    with pytest.raises(EvenhandError, match=message):
        evenhand.compare({**GOOD, **change}, **asked)


@pytest.mark.parametrize("data", [None, 3, [1, 2], np.zeros(3), "nowhere.csv", object()])
def test_what_is_no_table_is_refused(data: Any) -> None:
    with pytest.raises((UsageError, DataError)):
        evenhand.compare(data, **PLAIN)


def test_what_is_refused_is_not_recommended() -> None:
    for data in (None, 3, np.zeros(3)):
        with pytest.raises(UsageError, match="data must be a dataframe, a dict of columns, or the path of a file, not"):
            evenhand.compare(data, **PLAIN)
    with pytest.raises(UsageError, match="a path cannot be empty"):
        evenhand.compare("", **PLAIN)


def test_truth_values_of_files_are_refused(tmp_path: Path) -> None:
    import duckdb

    pytest.importorskip("polars")
    relation = duckdb.sql("SELECT 'a' AS m, true AS p, 0.5 AS f")
    (tmp_path / "r.csv").write_text("m,p,f\na,True,0.5\n")
    for data in (relation, relation.pl(), tmp_path / "r.csv"):
        with pytest.raises(DataError, match=r"column 'p' .*must hold numbers"):
            evenhand.compare(data, **PLAIN)


def test_a_record_array_is_a_table() -> None:
    rows = list(zip(GOOD["m"], GOOD["p"], GOOD["f"], GOOD["s"], strict=True))
    records = np.array(rows, [("m", "U1"), ("p", float), ("f", float), ("s", int)])
    expected = evenhand.compare(GOOD, **PLAIN, settings="s").to_dict()
    for data in (records, records.view(np.recarray)):
        assert evenhand.compare(data, **PLAIN, settings="s").to_dict() == expected


def test_floors_are_met_up_to_rounding() -> None:
    runs = {"m": ["V", "A"], "s": [0, 1], "p": [0.8, 0.78], "f": [0.55, 0.6]}
    found = by_name(evenhand.compare(runs, **PLAIN, baseline="V", margins=0.05))
    assert found["A"]["selected"]["performance@fairness+0.05"]["fairness"] == 0.6
    error = evenhand.compare(
        {"m": ["a"], "p": [0.5], "f": [0.9]}, **PLAIN, lower_is_better="fairness", fairness_floor=0.1
    )
    assert by_name(error)["a"]["selected"]["performance@fairness>=0.1"]["undefined"] is None


@pytest.mark.parametrize(("floor", "best", "said"), [
    (0.99999, 0.9, "reaches fairness 0.99999 on the results; its best is 0.9"),
    (0.6, 0.599999, "reaches fairness 0.6 on the results; its best is 0.599999"),
    (0.6, 0.59999997, "reaches fairness 0.6 on the results; its best is 0.59999997"),
    (2 / 3, 0.66666, "reaches fairness 0.66667 on the results; its best is 0.66666"),
])  # fmt: skip
def test_numbers_that_differ_are_printed_apart(floor: float, best: float, said: str) -> None:
    found = evenhand.compare({"m": ["a"], "p": [0.5], "f": [best]}, **PLAIN, fairness_floor=floor).to_dict()
    (chosen,) = (x for k, x in found["methods"][0]["selected"].items() if "@" in k)
    assert said in chosen["undefined"]


def test_both_may_be_lower_is_better() -> None:
    turned = {**GOOD, "p": [1 - v for v in GOOD["p"]], "f": [1 - v for v in GOOD["f"]]}
    one, other = evenhand.compare(GOOD, **PLAIN), evenhand.compare(turned, **PLAIN, lower_is_better="both")
    for name, m in by_name(one).items():
        assert by_name(other)[name]["selected"]["dto"]["dto"] == pytest.approx(m["selected"]["dto"]["dto"])


def test_notes_about_odd_runs() -> None:
    runs = some_runs()
    words = {**WORDS, "settings": "s", "bootstrap": 20}
    same = evenhand.compare({**runs, "dp": runs["p"], "df": runs["f"]}, **words)
    assert "development and test results are the same numbers" in " ".join(same.notes)
    low = evenhand.compare(runs, **words, utopia=(0.6, 1.0))
    assert "some settings are beyond the utopia point (0.6, 1)" in " ".join(low.notes)
    copied = {k: np.repeat(v[::4], 4) for k, v in runs.items()}
    assert "all runs of 18 of 18 settings with several are alike" in " ".join(evenhand.compare(copied, **words).notes)
    usual = " ".join(evenhand.compare(runs, **words).notes)
    for odd in ("the same numbers", "beyond the utopia", "alike to the last"):
        assert odd not in usual


def test_runs_without_results_can_be_dropped() -> None:
    broken = {**GOOD, "p": [0.8, float("nan"), 0.6]}
    found = evenhand.compare(broken, **PLAIN, missing="drop")
    assert found.to_dict()["data"]["left_out"] == 1
    assert "1 runs without all their results were left out" in " ".join(found.notes)


def test_rounding_beyond_the_limits_is_forgiven() -> None:
    found = evenhand.compare({"m": ["a", "a"], "p": [1 + 1e-12, 0.5], "f": [-1e-15, 1]}, **PLAIN).to_dict()
    assert [(x["performance"], x["fairness"]) for x in found["methods"][0]["front"]] == [(0.5, 1.0), (1.0, 0.0)]


def test_one_point() -> None:
    found = evenhand.compare({"m": ["a"], "p": [0.7], "f": [0.6]}, **PLAIN, random_performance=0.5).to_dict()
    m = found["methods"][0]
    assert m["auc_pfc"] == pytest.approx(0.2 * 0.8)
    assert {k: x["dto"] for k, x in m["selected"].items()} == dict.fromkeys(("dto", "performance", "fairness"), 0.5)
    assert "nothing to compare" in found["interpretation"]


def test_ties_and_weak_dominance() -> None:
    runs = {"m": ["a"] * 6, "p": [0.8, 0.8, 0.8, 0.6, 0.7, 0.8], "f": [0.5, 0.4, 0.5, 0.5, 0.3, 0.5]}
    m = evenhand.compare(runs, **PLAIN, random_performance=0.5).to_dict()["methods"][0]
    assert {(x["performance"], x["fairness"]) for x in m["front"]} == {(0.8, 0.5)}
    assert m["auc_pfc"] == pytest.approx(0.3 * 0.75)
    tied = {"m": ["a", "b"], "p": [0.8, 0.8], "f": [0.5, 0.5]}
    found = evenhand.compare(tied, **PLAIN, random_performance=0.5).to_dict()
    assert [m["rank"] for m in found["methods"]] == [1, 1]
    assert found["wins"] == [{"from": 0.5, "to": 0.8, "methods": ["a", "b"]}]
    assert "a, b share" in found["interpretation"]


def test_a_random_guess_better_than_a_method_leaves_no_area() -> None:
    found = by_name(evenhand.compare(GOOD, **PLAIN, random_performance=0.75))
    assert found["b"]["auc_pfc"] is None
    assert found["b"]["undefined"] == (
        "because no setting on the front of b performs better than a random guess (0.75); its best is 0.7"
    )
    assert found["a"]["rank"] == 1
    assert found["b"]["rank"] == 2


def test_hostile_names_and_thousands_of_methods(tmp_path: Path) -> None:
    names = ["[red]x[/red]", "new\nline", "z" * 10_000, "\x1b[31m", "日本語" * 20, "=1+1", "a,b", "\u202e", "\ud800"]
    runs = {"m": names * 2, "p": [0.5] * 9 + [0.6] * 9, "f": [0.9] * 9 + [0.8] * 9}
    found = evenhand.compare(runs, **PLAIN, random_performance=0.2, fairness_floor=0.95)
    text = repr(found)
    assert "[red]" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    found.to_json(tmp_path / "x.json")
    assert found._repr_html_()
    many = {"m": [f"m{i}" for i in range(3000)], "p": np.linspace(0.3, 0.9, 3000), "f": np.linspace(0.9, 0.3, 3000)}
    large = evenhand.compare(many, **PLAIN, random_performance=0.2)
    assert "2,980 more methods" in " ".join(repr(large).split())
    assert large.to_dict()["methods"][0]["rank"] == 1


@pytest.mark.parametrize(("text", "words", "message"), [
    ("", (), "is empty"),
    ("m,p,f\n", (), "the data hold no row"),
    ("m,p,f\na,0.5,x\n", (), "must hold numbers, but holds 'x'"),
    ("m,p,f\na,0.5,0.5\n", ("--fairness-floor", "a"), "--fairness-floor takes numbers"),
    ("m,p,f\na,0.5,0.5\n", ("--settings", "k"), "no column 'k'"),
    ("m,p,f\na,0.5,0.5\n", ("--front", "best"), "--front"),
    ("m,p,f\na,0.5,0.5\n", ("--json", "/no/such/folder/x"), "no folder"),
    ("m,p\na,0.5\n", (), "no column 'f'"),
    ("m,p,f\na,0.5,0.5\n", ("--settings", "set\nting"), "put a name with a line break in double quotes"),
    ("m,p,f\na,0.5,0.5\n", ("--settings", "m"), "the column of methods, cannot"),
    ("m,p,f\na,0.5,0.5\n", ("--normalize", "1e-320,1"), "two positive numbers from"),
    ("m,p,f\na,0.5,0.5\n", ("--margins", "0.1"), "margins add to the results of a baseline"),
])  # fmt: skip
def test_the_command_line_fails_in_one_sentence(tmp_path: Path, text: str, words: Any, message: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    done = run("compare", path, "--method", "m", "--performance", "p", "--fairness", "f", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_command_line_says_what_python_says(tmp_path: Path) -> None:
    runs = some_runs()
    path = tmp_path / "runs.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([runs, *zip(*(v.tolist() for v in runs.values()), strict=True)])
    words = {
        **WORDS, "settings": ["s", "t"], "random_performance": 0.3, "fairness_floor": (0.6, 0.7), "baseline": "a",
        "margins": (0.01,), "utopia": (0.9, 1.0), "normalize": (2.0, 1.0), "performance_from": 0.4, "bootstrap": 40,
    }  # fmt: skip
    flags = [
        f"--{k.replace('_', '-')}={','.join(map(str, v)) if isinstance(v, list | tuple) else v}"
        for k, v in words.items()
    ]
    expected = evenhand.compare(path, **words)
    done = process("compare", path, *flags, "--json", tmp_path / "out.json")
    assert done.stdout == repr(expected) + "\n"
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == expected.to_json()


def test_repeated_flags_are_united(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("m,s,t,p,f\na,1,1,0.5,0.9\na,1,2,0.6,0.8\n")
    words = ["compare", path, "--method", "m", "--performance", "p", "--fairness", "f", "--json", "-"]
    again = [
        "--fairness-floor",
        "0.7",
        "--fairness-floor",
        "0.8,0.9",
        "--performance-floor=.1",
        "--performance-floor=.2",
    ]
    found = json.loads(run(*words, *again, "--settings", "s", "--settings", "t").stdout)
    assert [k["floor"] for k in found["criteria"][3:]] == [0.7, 0.8, 0.9, 0.1, 0.2]
    assert found["data"]["setting_columns"] == ["s", "t"]


def test_the_terminal_explains_what_it_shows_and_no_more() -> None:
    plain = repr(evenhand.compare(some_runs(), **WORDS, settings="s"))
    assert "area" not in plain.split("Notes")[0]
    assert "first:" not in plain
    mixed = {"m": ["A", "A", "A "], "s": [0, 0, 0], "p": [0.8, 0.7, 0.6], "f": [0.5, 0.6, 0.7]}
    words = {**PLAIN, "settings": "s", "random_performance": 0.3}
    text = repr(evenhand.compare(mixed, **{**words, "bootstrap": 200}))
    assert "– no interval for 'A ' because every setting on the front has one run" in text
    assert "\n'A '" in text
    assert "\nA  " in text
    assert "– no interval because nothing was resampled" in repr(evenhand.compare(some_runs(), **words))


def test_few_resamples_are_no_shares() -> None:
    words = {**WORDS, "settings": "s", "random_performance": 0.3}
    said = [evenhand.compare(some_runs(), **words, bootstrap=n).to_dict()["interpretation"] for n in (1, 99, 100)]
    assert ["% of resamples" in text for text in said] == [False, False, True]
    one = evenhand.compare(some_runs(), **words, bootstrap=1).to_dict()["methods"][0]
    assert one["ci_undefined"] == "because one resample shows no spread"


# ---- intervals ------------------------------------------------------------------------------------------------------


def test_resampled_means_vary_as_means_of_new_seeds_would() -> None:
    rng = np.random.default_rng(0)
    values, seeds = rng.normal(size=(4, 13)), np.array([5, 1, 7])
    starts = np.array([0, 5, 6])
    means = resampled_means(values, starts, seeds, 40_000, rng)
    for i, (start, k) in enumerate(zip(starts, seeds, strict=True)):
        own = values[:, start : start + k]
        assert means[:, :, i].mean(1) == pytest.approx(own.mean(1), abs=0.01)
        expected = own.std(1, ddof=1) / np.sqrt(k) if k > 1 else np.zeros(4)
        assert means[:, :, i].std(1) == pytest.approx(expected, rel=0.02, abs=1e-12)


def test_settings_left_aside_are_never_on_a_front() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        centre = rng.random((2, 40, 1))
        values = (centre + rng.normal(0, 0.03, (2, 40, 4))).reshape(2, -1)
        starts, seeds = np.arange(0, 160, 4), np.full(40, 4)
        from evenhand.inference.seed_resample import extremes

        kept = could_matter(*extremes(values, starts, seeds))
        means = resampled_means(values, starts, seeds, 200, rng)
        assert not pareto(*means)[:, ~kept].any()
        assert kept.sum() < 40


def test_intervals_know_when_nothing_is_known() -> None:
    draws = np.random.default_rng(0).normal(0.5, 0.1, 500)
    assert interval(0.5, draws, 0.0, 0.95) is None
    assert interval(float("nan"), draws, 5.0, 0.95) is None
    assert interval(0.5, np.where(np.arange(500) < 50, np.nan, draws), 5.0, 0.95) is None
    found = interval(0.4, draws, 5.0, 0.95)
    assert found is not None
    assert found.bias == pytest.approx(0.1, abs=0.01)
    assert 0.4 - found.ci[0] > found.ci[1] - 0.4  # the value flatters, so the interval reaches further down


def test_degrees_of_freedom() -> None:
    same = np.full(3, 0.01)
    assert freedom(same, np.array([1, 1, 1])) == 0
    assert freedom(same, np.array([5, 5, 5])) == 4  # no more than settings have
    assert freedom(0 * same, np.array([5, 5, 5])) == 4
    assert freedom(np.array([0.01, 0, 0]), np.array([2, 30, 30])) == pytest.approx(1)
    assert 1 < freedom(np.array([0.01, 0.01, 0.01]), np.array([2, 30, 30])) < 2
    assert freedom(np.array([1e-9, 0.01, 0.01]), np.array([2, 30, 30])) == pytest.approx(59 / 3, rel=0.01)


@pytest.mark.parametrize(("seeds", "noise"), [
    ((2, 30, 30), (0.04, 0.005, 0.005)), ((30, 30, 2), (0.02, 0.02, 0.02)), ((2, 2, 30), (0.04, 0.04, 0.005)),
])  # fmt: skip
@pytest.mark.parametrize("replications", [
    pytest.param(150, id="reduced"), pytest.param(1000, id="full", marks=pytest.mark.full),
])  # fmt: skip
def test_intervals_of_unequal_numbers_of_seeds(seeds: Any, noise: Any, replications: int) -> None:
    p, f = np.array([0.5, 0.65, 0.8]), np.array([0.9, 0.8, 0.6])
    goal = float(area(curve(p, f, (0.3, 1.0))))
    s = np.repeat(np.arange(3), seeds)
    rng, hits = np.random.default_rng(5), 0
    for i in range(replications):
        moved = rng.normal(size=(2, len(s))) * np.array(noise)[s]
        runs = {"m": ["a"] * len(s), "s": s, "p": p[s] + moved[0], "f": np.minimum(f[s] + moved[1], 1)}
        words = {**PLAIN, "bootstrap": 200, "settings": "s", "random_performance": 0.3, "rng": i}
        low, high = evenhand.compare(runs, **words).to_dict()["methods"][0]["ci"]
        hits += low <= goal <= high
    assert hits / replications >= 0.93 - 1.3 * (0.065 / replications) ** 0.5


@pytest.mark.parametrize("settings", [1, 3])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_methods_with_the_same_runs_share_the_first_place(settings: int, noise: float) -> None:
    rng = np.random.default_rng(0)
    s = np.repeat(np.arange(settings), 2)
    p, f = 0.5 + 0.1 * s + rng.normal(0, 1, len(s)) * noise, 0.9 - 0.1 * s + rng.normal(0, 1, len(s)) * noise
    runs = {"m": ["a"] * len(s) + ["b"] * len(s), "s": [*s, *s], "p": [*p, *p], "f": [*f, *f]}
    words = {**PLAIN, "bootstrap": 1000, "settings": "s", "random_performance": 0.3}
    for rng_seed in range(3):
        found = by_name(evenhand.compare(runs, **words, rng=rng_seed))
        for share in (found["a"]["first_share"], found["a"]["selected"]["dto"]["first_share"]):
            assert share == pytest.approx(0.5, abs=0.05 if noise else 1e-12)


def test_intervals_of_distances_stay_where_distances_can_be() -> None:
    runs = {"m": ["a"] * 2, "s": [0, 0], "p": [0.05, 0.95], "f": [0.9, 0.1]}
    words = {**PLAIN, "bootstrap": 200, "settings": "s"}
    for more, most in (
        ({}, 2**0.5),
        ({"normalize": (0.5, 2.0)}, (4 + 0.25) ** 0.5),
        ({"utopia": (0.5, 1.0)}, 1.25**0.5),
    ):
        low, high = by_name(evenhand.compare(runs, **words, **more))["a"]["selected"]["dto"]["ci"]
        assert 0 <= low < high == pytest.approx(most)


SITUATIONS = {
    # settings, noise of a run, and how settings lie: a front, dominated ones among it, five alike each
    "few settings": (5, 0.02, "front"),
    "many settings": (40, 0.05, "front"),
    "dominated settings": (40, 0.02, "cloud"),
    "settings alike": (40, 0.02, "alike"),
}


def truth(count: int, shape: str) -> Any:
    t = np.linspace(0, 1, count // 5).repeat(5) if shape == "alike" else np.linspace(0, 1, count)
    p, f = 0.35 + 0.45 * t, 1 - 0.45 * t**2.5
    if shape == "cloud":
        away = np.random.default_rng(5).exponential(0.05, (2, count))
        p, f = p - away[0], f - away[1]
    return p, f


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("replications", [
    pytest.param(60, id="reduced"), pytest.param(400, id="full", marks=pytest.mark.full),
])  # fmt: skip
def test_intervals_contain_what_endless_seeds_would_show(situation: str, replications: int) -> None:
    """Development and test results of a run share most of their noise, which trades performance for fairness."""
    count, noise, shape = SITUATIONS[situation]
    rng = np.random.default_rng(11)
    p, f = truth(count, shape)
    on = pareto(p, f)
    goal = float(area(curve(p[on], f[on], (0.3, 1.0)))), float(dto(p, f)[select(p, f)])
    hits = np.zeros(2)
    k = 5
    s = np.repeat(np.arange(count), k)
    for i in range(replications):
        shared = rng.normal(0, noise, (3, count * k))
        moved = 0.8 * shared[0] + 0.6 * shared[1], -0.8 * shared[0] + 0.6 * shared[2]
        own = rng.normal(0, 0.3 * noise, (4, count * k))
        sides = [np.clip((p, f)[j % 2][s] + moved[j % 2] + own[j], 0, 1) for j in range(4)]
        runs = dict(zip(("m", "s", "p", "f", "dp", "df"), (np.full(count * k, "a"), s, *sides), strict=True))
        m = evenhand.compare(runs, **WORDS, settings="s", random_performance=0.3, bootstrap=200, rng=i).to_dict()[
            "methods"
        ][0]
        cis = m["ci"], m["selected"]["dto"]["ci"]
        hits += [lo <= value <= hi for value, (lo, hi) in zip(goal, cis, strict=True)]
    # 90 % at least, less what chance does to so few replications
    assert (hits / replications >= 0.90 - 2.5 * (0.09 / replications) ** 0.5).all(), hits / replications


def test_runs_of_one_data_set_only(tmp_path: Path) -> None:
    runs = {
        "dataset": ["a", "a", "b", "b", "b"], "method": ["m", "n", "m", "n", "n"], "p": [0.7, 0.8, 0.1, 0.2, 0.3],
        "f": [0.9, 0.8, 0.3, 0.2, 0.1], "strength": ["x", 1, 1, 1, 1],
    }  # fmt: skip
    words: dict[str, Any] = {"method": "method", "performance": "p", "fairness": "f", "settings": "strength"}
    alone = {name: values[:2] for name, values in runs.items()}
    found = evenhand.compare(runs, **words, where={"dataset": "a"})
    assert found.to_dict()["methods"] == evenhand.compare(alone, **words).to_dict()["methods"]
    assert "only runs with dataset = 'a' are compared (2 of 5)" in found.notes
    file = tmp_path / "runs.csv"
    file.write_text("\n".join(",".join(map(str, row)) for row in [runs, *zip(*runs.values(), strict=True)]))
    line = ("compare", file, "--method", "method", "--performance", "p", "--fairness", "f", "--settings", "strength")
    said = run(*line, "--where", "dataset=a", "--json", "-")
    assert json.loads(said.stdout)["data"]["runs"] == 2, said.stderr
    both = run(*line, "--where", "dataset=a,b", "--where", "strength=1", "--json", "-")
    assert json.loads(both.stdout)["data"]["runs"] == 4, both.stderr
    for where, message in (("dataset=c", "no row has 'c' in 'dataset'"), ("dataset", "--where takes COL=V"),
                           ("data=a", "no column 'data'")):  # fmt: skip
        said = run(*line, "--where", where)
        assert said.returncode == 2
        assert message in said.stderr, said.stderr
    with pytest.raises(UsageError, match="where is a dict"):
        evenhand.compare(runs, **words, where="a")


# ---- selection by loss, and results against a setting ---------------------------------------------------------------


def with_losses(seed: int = 0) -> dict[str, Any]:
    """Runs where a dominated setting of the first method has its least loss."""
    runs = some_runs(seed)
    worse = runs["s"] == 0.5
    runs |= {k: np.where(worse, runs[k] - 0.2, runs[k]) for k in ("p", "f", "dp", "df")}
    loss = np.random.default_rng(seed + 1).gamma(2, 3, len(worse)).round(2)
    return {**runs, "loss": np.where(worse & (runs["m"] == "a"), 0.01, loss)}


@pytest.mark.parametrize("front", ["dev", "published"])
def test_the_least_loss_selects_among_all_settings(front: str) -> None:
    runs = with_losses()
    found = evenhand.compare(runs, **WORDS, settings=["s", "t"], loss="loss", front=front, bootstrap=150)
    check_schema(found.to_dict(), evenhand.schema("compare"))
    off = 0
    for m in found.to_dict()["methods"]:
        by_setting = defaultdict(list)
        for i in np.flatnonzero(runs["m"] == m["name"]).tolist():
            by_setting[runs["s"][i]].append(i)
        loss = {s: np.mean(runs["loss"][rows]) for s, rows in by_setting.items()}
        best = min(loss, key=lambda s: loss[s])
        chosen = m["selected"]["loss"]
        p, f = (np.mean(runs[k][by_setting[best]]) for k in "pf")
        assert chosen["settings"]["s"] == best
        assert [chosen[k] for k in ("loss", "performance", "fairness", "dto")] == pytest.approx(
            [loss[best], p, f, np.hypot(1 - p, 1 - f)]
        )
        assert chosen["ci"][0] <= chosen["dto"] <= chosen["ci"][1]
        off += best not in [x["settings"]["s"] for x in m["front"]]
    assert found.to_dict()["criteria"][3] == {
        "id": "loss", "best": "loss", "floor": None, "meaning": "smallest loss, of all settings"
    }  # fmt: skip
    if front == "dev":
        plain = evenhand.compare(runs, **WORDS, settings=["s", "t"], bootstrap=0).to_dict()["methods"]
        assert [m["auc_pfc"] for m in plain] == [m["auc_pfc"] for m in found.to_dict()["methods"]]
        assert off


def loss_coverage(replications: int) -> float:
    """How often the interval of the model with the least loss contains the distance of the truly best one."""
    true_loss, p, f = np.array([0.7, 0.5, 0.45, 0.9]), np.array([0.6, 0.7, 0.75, 0.8]), np.array([0.9, 0.7, 0.65, 0.5])
    s = np.repeat(np.arange(4), 5)
    goal, hits = math.hypot(1 - p[2], 1 - f[2]), 0
    for seed in range(replications):
        noise = np.random.default_rng(seed).normal(0, 0.03, (3, len(s)))
        runs = {"m": ["a"] * len(s), "s": s, "p": p[s] + noise[0], "f": f[s] + noise[1], "l": true_loss[s] + noise[2]}
        found = evenhand.compare(runs, **{**PLAIN, "bootstrap": 100}, settings="s", loss="l", rng=seed)
        low, high = found.to_dict()["methods"][0]["selected"]["loss"]["ci"]
        hits += low <= goal <= high
    return hits / replications


def test_the_interval_of_the_least_loss_covers() -> None:
    assert loss_coverage(60) >= 0.88


@pytest.mark.full
def test_the_interval_of_the_least_loss_covers_at_full_size() -> None:
    assert 0.93 <= loss_coverage(600) <= 1


def test_a_tie_of_losses_goes_to_the_better_performance() -> None:
    runs = {"m": ["a"] * 3, "p": [0.6, 0.8, 0.8], "f": [0.9, 0.5, 0.7], "l": [2.0, 2.0, 2.0]}
    chosen = by_name(evenhand.compare(runs, **PLAIN, loss="l"))["a"]["selected"]["loss"]
    assert (chosen["performance"], chosen["fairness"]) == (0.8, 0.7)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"loss": "p"}, "column 'p' cannot be both performance and loss"),
        ({"loss": "nope"}, "nope"),
        ({"loss": 3}, "loss must be the name of a column"),
        ({"loss": "gap"}, "'gap' is missing or infinite in 1 of 2 rows"),
    ],
)
def test_a_loss_that_is_none_is_refused(words: dict[str, Any], message: str) -> None:
    runs = {"m": ["a", "b"], "p": [0.6, 0.8], "f": [0.9, 0.5], "gap": [1.0, math.nan]}
    with pytest.raises(EvenhandError, match=message):
        evenhand.compare(runs, **PLAIN, **words)


def test_results_are_drawn_against_a_setting() -> None:
    runs = some_runs()
    found = evenhand.compare(runs, **WORDS, settings=["s", "t"], bootstrap=0)
    chart = found.plot("settings", method="b")
    (panel,) = chart.spec["concat"]
    chosen = by_name(found)["b"]["selected"]["dto"]["settings"]
    drawn = {(row["x"], row["group"]): row for row in panel["data"]["values"]}
    own = sorted(set(runs["s"][runs["t"] == chosen["t"]].tolist()))
    assert sorted({x for x, _ in drawn}) == own
    for x in own:
        rows = (runs["m"] == "b") & (runs["s"] == x)
        for key, word in (("p", "performance"), ("f", "fairness")):
            row, values = drawn[x, word], runs[key][rows]
            assert row["y"] == pytest.approx(values.mean(), abs=1e-4)
            assert row["high"] - row["y"] == pytest.approx(values.std(ddof=1), abs=1e-4)
    assert "of b, 3 settings that differ in another column are not drawn" in str(chart.note)
    assert panel["layer"][-1]["data"]["values"] == [{"x": chosen["s"]}]
    assert len(found.plot("settings").spec["concat"]) == 3
    for words, message in (
        ({"setting": "t"}, "needs t to be one that holds numbers and varies"),
        ({"setting": "u"}, "there is no settings column 'u'"),
    ):
        with pytest.raises(UsageError, match=message):
            found.plot("settings", **words)
    assert "settings" not in evenhand.compare(runs, **WORDS, bootstrap=0).plots()


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1e-4, 1e-2, 1.0, 1e3], "log"),
        ([0.0, 1e-4, 1.0, 1e3], "symlog"),
        ([-1e3, -1.0, -1e-4], "symlog"),
        ([0.0, 1.0], "linear"),
        ([1, 2, 3], "linear"),
    ],
)
def test_small_settings_beside_large_ones_are_drawn(values: list[float], scale: str) -> None:
    """A hundred-thousandth of the largest would be 0, which has no logarithm."""
    p = np.linspace(0.8, 0.5, len(values))
    runs = {"m": ["a"] * len(values), "s": values, "p": p, "f": 1.3 - p}
    chart = evenhand.compare(runs, **PLAIN, settings="s").plot("settings")
    (panel,) = chart.spec["concat"]
    assert [row["x"] for row in panel["data"]["values"] if row["group"] == "fairness"] == values
    assert [float(v) for v in chart.columns["value"]] == values
    axis = panel["layer"][1]["encoding"]["x"]
    assert axis["scale"]["type"] == scale
    assert scale != "symlog" or set(axis["axis"]["values"]) >= {v for v in values if v and values[0] <= v}
    pytest.importorskip("vl_convert")
    assert "NaN" not in chart.to_svg()


def test_what_areas_say() -> None:
    found = evenhand.compare(
        some_runs(), **WORDS, settings="s", bootstrap=0, random_performance=0.3, performance_from=0.5, dto_to=0.9
    )
    chart = found.plot("area")
    best = found.to_dict()["methods"][0]
    assert f"The largest is that of {best['name']}: {best['auc_pfc']:.4f}." in chart.description
    assert "where performance ≥ 0.5 and DTO ≤ 0.9." in " ".join(chart.spec["title"]["subtitle"])
    assert f"The area of b is {by_name(found)['b']['auc_pfc']:.4f}." in found.plot("area", method="b").description


def test_a_loss_on_the_command_line(tmp_path: Path) -> None:
    runs = with_losses()
    file = tmp_path / "runs.csv"
    rows = [",".join(runs), *(",".join(map(str, row)) for row in zip(*runs.values(), strict=True))]
    file.write_text("\n".join(rows))
    result = run("compare", str(file), "--method", "m", "--performance", "p", "--fairness", "f", "--settings", "s",
                 "--loss", "loss", "--bootstrap", "0", "--html", str(tmp_path / "page.html"))  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "\nloss " in result.stdout
    assert 'data-chart="settings"' in (tmp_path / "page.html").read_text(encoding="utf-8")
