"""Several rows of one person: the person is the unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import called as run, evenhand as process, people
from evenhand.errors import DataError, UsageError
from evenhand.inference.resample import bootstrap
from evenhand.measures.rates import trials

IDS = [
    "demographic_parity", "disparate_impact", "equal_opportunity", "equalized_odds", "delta_dp_c", "abcc",
    "equal_opportunity_standardized", "roc", "calibration_standardized", "calibration_gap",
]  # fmt: skip


def visits(persons: int, rng: np.random.Generator, kind: str = "many") -> dict[str, Any]:
    """Persons with one to seven rows each, who share a trait; with `same`, all rows of a person are alike."""
    trait = rng.normal(size=persons)
    group = (rng.random(persons) < 0.35).astype(int)
    who = np.repeat(np.arange(persons), rng.integers(1, 8, persons))
    if kind == "same":
        s = (1 / (1 + np.exp(-trait - 0.3 * rng.normal(size=persons))))[who]
        y = (rng.random(persons) < 1 / (1 + np.exp(-trait)))[who]
    else:
        s = 1 / (1 + np.exp(-trait[who] - 0.5 * rng.normal(size=len(who))))
        y = rng.random(len(who)) < 1 / (1 + np.exp(-trait[who]))
    g = group[who] if kind != "spanning" else (rng.random(len(who)) < 0.35).astype(int)
    return {"s": np.round(s, 2), "y": y.astype(int), "g": g, "who": who}


@pytest.mark.parametrize(
    "replications", [pytest.param(60, id="reduced"), pytest.param(500, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("kind", ["many", "same", "spanning"])
def test_intervals_cover_and_tests_keep_their_level(kind: str, replications: int) -> None:
    rng = np.random.default_rng(11)
    covered, rejected, seen = (dict.fromkeys(IDS, 0) for _ in range(3))
    for i in range(replications):
        a = evenhand.audit(
            visits(200, rng, kind), score="s", label="y", group="g", cluster="who", reference="0", bootstrap=150,
            permutations=99, rng=i, measures=IDS,
        )  # fmt: skip
        for id_ in IDS:
            gap = a.measure(id_)
            if gap.undefined:
                continue
            assert gap.ci is not None
            assert gap.p_value is not None
            alike = 1.0 if id_ == "disparate_impact" else 0.0
            seen[id_] += 1
            covered[id_] += gap.ci[0] <= alike <= gap.ci[1]
            rejected[id_] += gap.p_value <= 0.05
    for id_ in IDS:
        assert seen[id_] > 0.8 * replications
        assert stats.binomtest(covered[id_], seen[id_], 0.93, alternative="less").pvalue > 1e-3, id_
        assert stats.binomtest(rejected[id_], seen[id_], 0.07, alternative="greater").pvalue > 1e-3, id_


def test_rows_that_are_ignored_as_clusters_are_far_too_sure() -> None:
    """What the cluster column is for."""
    rng = np.random.default_rng(1)
    sure = 0
    for i in range(40):
        data = visits(200, rng, "same")
        a = evenhand.audit(
            data, score="s", label="y", group="g", bootstrap=0, permutations=99, rng=i, measures=["abcc"]
        )
        sure += a.measure("abcc").p_value <= 0.05  # type: ignore[operator]
    assert sure > 10


def test_a_cluster_per_row_is_as_no_clusters() -> None:
    columns: dict[str, Any] = {**people(400, 2), "who": np.arange(400)}
    words: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "permutations": 0}
    a, b = (evenhand.audit(columns, cluster=c, **words) for c in (None, "who"))
    for gap, other in zip(a.attributes[0].measures, b.attributes[0].measures, strict=True):
        assert gap.value == other.value
        assert gap.ci is not None
        assert other.ci is not None
        width = gap.ci[1] - gap.ci[0]
        assert other.ci == pytest.approx(gap.ci, abs=0.2 * width), gap.id


def test_rows_repeated_k_times_in_their_clusters_change_no_interval() -> None:
    """Ten copies of everybody tell nothing new."""
    columns: dict[str, Any] = {**people(300, 2), "who": np.arange(300)}
    many = {k: np.tile(v, 10) for k, v in columns.items()}
    words: dict[str, Any] = {
        "score": "s",
        "label": "y",
        "group": "g",
        "cluster": "who",
        "permutations": 0,
        "bootstrap": 300,
    }
    a, b = (evenhand.audit(data, **words) for data in (columns, many))
    for gap, other in zip(a.attributes[0].measures, b.attributes[0].measures, strict=True):
        if gap.id not in ("abpc", "mutual_information"):  # their bandwidth counts rows
            assert gap.value == pytest.approx(other.value, abs=1e-3)
            assert gap.ci is not None
            assert other.ci is not None
            assert other.ci == pytest.approx(gap.ci, abs=0.1 * (gap.ci[1] - gap.ci[0]) + 1e-3), gap.id


def test_effective_numbers_by_hand() -> None:
    """Two persons of two rows who agree with themselves, two of one row: as if all rows of a person were one."""
    columns = {"d": [1, 1, 0, 0, 1, 0, 1, 0], "g": list("aaaaaabb"), "who": [1, 1, 2, 2, 3, 4, 5, 6]}
    t = evenhand.tabulate(columns, prediction="d", group="g", cluster="who")
    n = trials(t.decisions(t.groupings[0], None), "selection_rate")
    # variance (1 + 1 + ¼ + ¼)/6², and 3.6 = (2 + 2 + 1 + 1)²/(4 + 4 + 1 + 1) clusters: times 3.6/2.6
    assert n[0] == pytest.approx(0.25 / (2.5 / 36 * 3.6 / 2.6))
    assert n[1] == pytest.approx(1)  # two clusters: ¼/(2·¼/4 · 2/1)


def test_resamples_draw_whole_clusters() -> None:
    columns = {"d": [1, 0] * 6, "g": list("ab") * 6, "who": np.repeat(np.arange(6), 2)}
    t = evenhand.tabulate(columns, prediction="d", group="g", cluster="who")
    (batch,) = bootstrap(t.decisions(t.groupings[0], None), 50, np.random.default_rng(0))
    assert batch.array.shape == (50, 2, 2, 1)
    assert (batch.array[:, 1, 0, 0] == batch.array[:, 0, 1, 0]).all()  # every person has one row of each kind
    assert (batch.array.sum((1, 2, 3)) == 12).all()


def test_tables_with_clusters_are_saved_added_and_shown(tmp_path: Path) -> None:
    columns: dict[str, Any] = {**people(90, 2), "who": [f"p{i // 3}" for i in range(90)]}
    t = evenhand.tabulate(columns, score="s", label="y", group="g", cluster="who")
    assert "30 clusters 'who'" in repr(t)
    t.save(tmp_path / "t.table")
    assert evenhand.load(tmp_path / "t.table") == t
    both = t + t  # the clusters of two tables are different people
    assert both.cluster is not None
    assert both.cluster.max() == 59
    plain = evenhand.tabulate(columns, score="s", label="y", group="g")
    with pytest.raises(UsageError, match="the cluster is"):
        t + plain
    assert t != plain
    a = evenhand.audit(t, bootstrap=50, permutations=50)
    assert a.to_dict()["data"]["clusters"] == 30
    assert "30 clusters who" in repr(a)


def test_every_engine_counts_the_same_clusters() -> None:
    columns: dict[str, Any] = {**people(60, 2), "who": [f"p{i % 17}" for i in range(60)]}
    words: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "cluster": "who"}
    expected = evenhand.tabulate(columns, **words)
    pandas, polars, duckdb = (pytest.importorskip(name) for name in ("pandas", "polars", "duckdb"))
    frame = pandas.DataFrame(columns)
    for data in (
        frame,
        polars.DataFrame(columns),
        polars.LazyFrame(columns),
        duckdb.from_df(frame),
        frame.sample(frac=1),
    ):
        assert evenhand.tabulate(data, **words) == expected
    named = {k: columns[v] for k, v in words.items()}
    assert evenhand.tabulate(**named).digest() != expected.digest()  # other names
    assert (evenhand.tabulate(**named).cluster == expected.cluster).all()


@pytest.mark.parametrize(
    ("cluster", "error"),
    [("nobody", "no column 'nobody'"), ("g", "both a group and the cluster"), (3, "cluster|one-dimensional|column")],
)
def test_bad_clusters_are_refused(cluster: Any, error: str) -> None:
    with pytest.raises((UsageError, DataError), match=error):
        evenhand.tabulate(pytest.importorskip("pandas").DataFrame(people(20, 2)), score="s", group="g", cluster=cluster)


def test_missing_clusters_are_refused_or_left_out() -> None:
    columns: dict[str, Any] = {**people(20, 2), "who": [None, *range(19)]}
    with pytest.raises(DataError, match="1 rows without a cluster 'who'"):
        evenhand.tabulate(columns, score="s", group="g", cluster="who")
    t = evenhand.tabulate(columns, score="s", group="g", cluster="who", missing="drop")
    assert t.rows == 19


def test_the_command_line_takes_clusters(tmp_path: Path) -> None:
    lines = ["s,y,g,who", *(f"{0.1 + 0.2 * (i % 4):.1f},{i % 2},{'ab'[i % 3 > 0]},{i // 2}" for i in range(60))]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(lines))
    words = [
        "--score",
        "s",
        "--label",
        "y",
        "--group",
        "g",
        "--cluster",
        "who",
        "--bootstrap",
        "50",
        "--permutations",
        "50",
    ]
    done = process("audit", file, *words)
    assert done.returncode == 0, done.stderr
    assert "30 clusters who" in done.stdout
    done = run("audit", file, *words[:-6], "--cluster", "whom")
    assert done.returncode == 2
    assert "did you mean 'who'" in done.stderr


def test_one_of_each_pair_is_tested_as_pairs() -> None:
    """Groups that are drawn together are not independent: rejected 12 to 19 % of true hypotheses, where 5 was asked."""
    rng = np.random.default_rng(0)
    rejected, covered, runs = 0, 0, 150
    for i in range(runs):
        s = rng.integers(0, 2, 100)
        columns = {
            "p": np.stack([s, 1 - s], 1).ravel(), "g": np.tile(["a", "b"], 100), "c": np.repeat(np.arange(100), 2),
        }  # fmt: skip
        a = evenhand.audit(
            columns, prediction="p", group="g", cluster="c", bootstrap=199, permutations=199, rng=i,
            measures=["demographic_parity"],
        )  # fmt: skip
        gap = a.measure("demographic_parity")
        assert gap.ci is not None
        covered += gap.ci[0] <= 0 <= gap.ci[1]
        rejected += gap.p_value <= 0.05  # type: ignore[operator]
        assert gap.tests == a.attributes[0].tests == ()
    assert stats.binomtest(rejected, runs, 0.05, alternative="greater").pvalue > 1e-3
    assert stats.binomtest(covered, runs, 0.93, alternative="less").pvalue > 1e-3


def test_three_clusters_that_span_groups_are_no_certainty() -> None:
    columns = {"p": [1, 0] * 3, "g": ["a", "b"] * 3, "c": [1, 1, 2, 2, 3, 3]}
    gap = evenhand.audit(columns, prediction="p", group="g", cluster="c", bootstrap=199).measure("demographic_parity")
    assert gap.ci is not None
    assert gap.ci[1] - gap.ci[0] > 0.5
    assert gap.p_value is not None
    assert gap.p_value > 0.05


@pytest.mark.parametrize(("clusters", "size", "alike"), [(50, 20, 0.001), (15, 8, 0.2), (12, 10, 0.98)])
def test_intervals_fit_how_alike_the_rows_of_a_cluster_are(clusters: int, size: int, alike: float) -> None:
    rng = np.random.default_rng(3)
    covered, runs = 0, 150
    for _ in range(runs):
        p = rng.beta(0.3 * (1 / alike - 1), 0.7 * (1 / alike - 1), (2 * clusters, 1))
        columns = {
            "p": (rng.random((2 * clusters, size)) < p).astype(int).ravel(),
            "g": np.repeat(["a", "b"], clusters * size),
            "c": np.repeat(np.arange(2 * clusters), size),
        }
        a = evenhand.audit(
            columns,
            prediction="p",
            group="g",
            cluster="c",
            bootstrap=0,
            permutations=0,
            measures=["demographic_parity"],
        )
        ci = a.measure("demographic_parity").ci
        assert ci is not None
        covered += ci[0] <= 0 <= ci[1]
    assert stats.binomtest(covered, runs, 0.94, alternative="less").pvalue > 1e-3
    assert covered / runs < 0.995


def test_names_of_clusters_and_the_order_of_tables_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {**people(90, 3), "c": rng.integers(0, 30, 90)}
    words: dict[str, Any] = {"score": "s", "label": "y", "group": "g", "cluster": "c"}
    t = evenhand.tabulate(columns, **words)
    renamed = {**columns, "c": [f"x{(i * 7919) % 31}" for i in columns["c"]]}
    assert evenhand.tabulate(renamed, **words) == t
    first, second = (
        evenhand.tabulate({k: v[part] for k, v in columns.items()}, **words) for part in (slice(50), slice(50, 90))
    )
    assert first + second == second + first


def test_an_array_of_clusters_beside_a_frame() -> None:
    frame = pytest.importorskip("pandas").DataFrame(people(24, 2))
    t = evenhand.tabulate(frame, score="s", label="y", group="g", cluster=np.arange(24) // 2)
    assert t.cluster is not None
    assert t.cluster.max() == 11
    with pytest.raises(UsageError, match="both a group and the cluster"):
        evenhand.tabulate(people(24, 2), score="s", group="g", cluster="g")


def test_metrics_take_clusters() -> None:
    columns = people(60, 2)
    who = np.arange(60) // 3
    found = evenhand.metrics.abcc(
        columns["y"], columns["s"], sensitive_features=columns["g"], cluster=who, bootstrap=99, permutations=99
    )
    assert found.gaps[0].null is not None
    assert found.gaps[0].null.method == "99 resamples, recentred"


def test_few_resamples_of_clusters_know_no_interval() -> None:
    """One resample gave an interval of one point beside the value, and called it conclusive."""
    columns: dict[str, Any] = {**people(60, 2), "who": np.arange(60) // 3}
    a = evenhand.audit(columns, score="s", label="y", group="g", cluster="who", bootstrap=1, permutations=0)
    gap = a.measure("delta_dp_c")
    assert (gap.ci, gap.conclusive) == (None, None)


def test_tables_add_up_in_any_order_also_with_weights() -> None:
    words: dict[str, Any] = {"score": "s", "group": "g", "weight": "w", "cluster": "c", "weight_kind": "sampling"}
    a, b = (
        evenhand.tabulate({"s": [0.5, 0.5], "g": ["a", "a"], "w": w, "c": [0, 0]}, **words)
        for w in ([1.5, 1.5], [1.25, 1.75])
    )
    assert a + b == b + a


def test_clusters_that_span_groups_widen_all_intervals() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "s": rng.random(60).round(2), "y": rng.integers(0, 2, 60), "g": np.tile(["a", "b"], 30),
        "c": np.repeat(np.arange(30), 2),
    }  # fmt: skip
    a = evenhand.audit(columns, score="s", label="y", group="g", cluster="c", bootstrap=99, permutations=0)
    for id_ in ("demographic_parity", "equalized_odds", "disparate_impact"):
        gap = a.measure(id_)
        assert gap.method is not None
        assert gap.method.endswith(", widened by the bootstrap")
        assert gap.ci is not None
        assert gap.ci_bootstrap is not None
        assert gap.ci[0] <= gap.ci_bootstrap[0] <= gap.ci_bootstrap[1] <= gap.ci[1]
    few = evenhand.audit(columns, score="s", label="y", group="g", cluster="c", bootstrap=19, permutations=0)
    assert few.measure("demographic_parity").method == "Newcombe"
    assert few.measure("demographic_parity").ci_bootstrap is None
