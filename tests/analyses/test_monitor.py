"""Fairness over time: periods alike from every engine, alarms that can be trusted, and verdicts that stay."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from scipy import stats

import evenhand
from conftest import benchmark_of, called as run, check_schema, evenhand as process
from evenhand.analyses.monitor.change_points import Series, _cuts, _grouped
from evenhand.analyses.monitor.rate_changes import _permuted, lower_limit, rate_changes
from evenhand.analyses.monitor.sequential import Yardstick
from evenhand.analyses.monitor.stream import Span, merged
from evenhand.analyses.monitor.tail_bounds import largest_spread
from evenhand.analyses.options import checked
from evenhand.ingest.periods import every_of, in_order, moment
from evenhand.ingest.roles import Roles
from evenhand.ingest.tabulation import tabulate_in_time
from evenhand.measures.registry import MEASURES, RateMeasure
from evenhand.report.format import p_words
from evenhand.tables.dense import Counts

WORDS: dict[str, Any] = {"score": "s", "label": "y", "group": "g"}
FEW = ["demographic_parity", "equal_opportunity", "independence_uniform", "calibration_standardized"]


def stream(periods: int, n: int = 400, shift: float = 0.0, at: int = 10**9, seed: int = 0) -> dict[str, np.ndarray]:
    """Rows of two groups; from period `at` the scores of group a are lower."""
    rng = np.random.default_rng(seed)
    t = np.repeat(np.arange(periods), n)
    g = rng.integers(0, 2, periods * n)
    s = np.clip(rng.beta(3, 3, periods * n) - shift * ((g == 0) & (t >= at)), 0, 1).round(2)
    return {"s": s, "y": (rng.random(periods * n) < s).astype(int), "g": np.array(["a", "b"])[g], "t": t}


def watch(data: Any, **words: Any) -> evenhand.Watch:
    return evenhand.monitor(data, time="t", every="value", **WORDS, **{"measures": FEW, "bootstrap": 99, **words})


# ---- periods ------------------------------------------------------------------------------------------------


def times(n: int, aware: bool) -> Any:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    moments = pd.Series(np.datetime64("2023-12-28", "us") + rng.integers(0, 80 * 86400, n).astype("m8[s]"))
    return moments.dt.tz_localize("UTC").dt.tz_convert("America/New_York") if aware else moments


@pytest.mark.parametrize("aware", [False, True])
@pytest.mark.parametrize("every", ["day", "week", "month", "quarter", "year", "150-rows"])
def test_every_engine_counts_the_same_periods(every: str, aware: bool, tmp_path: Path) -> None:
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pd.DataFrame(stream(4, 200)).assign(t=times(800, aware))
    text = frame.assign(t=frame["t"].astype(str))
    text.to_csv(tmp_path / "d.csv", index=False)
    text.to_json(tmp_path / "d.jsonl", orient="records", lines=True, double_precision=15)
    frame.to_parquet(tmp_path / "d.parquet", index=False)
    arrow = pa.Table.from_pandas(frame)
    sources = {
        "pandas": frame, "text": text, "polars": pl.from_pandas(frame), "lazy": pl.from_pandas(frame).lazy(),
        "arrow": arrow, "duckdb": duckdb.from_arrow(arrow), "lists": {c: frame[c].tolist() for c in frame},
        "arrays": {c: frame[c].to_numpy() for c in frame}, "csv": tmp_path / "d.csv", "jsonl": tmp_path / "d.jsonl",
        "parquet": tmp_path / "d.parquet",
    }  # fmt: skip
    found = {k: tabulate_in_time(d, "t", every_of(every), Roles(**WORDS)) for k, d in sources.items()}
    first = found["pandas"]
    assert len(first.names) > (1 if every in ("year", "quarter") else 3)
    for kind, other in found.items():
        assert other.names == first.names, kind
        assert other.table == first.table, kind


def test_a_zone_moves_a_moment_to_utc() -> None:
    late = moment("2024-01-31T23:30:00-05:00", "t")
    assert late is not None
    assert late.isoformat() == "2024-02-01T04:30:00"
    assert moment("2024-02-01T04:30:00Z", "t") == late
    assert moment("", "t") is None
    assert moment(float("nan"), "t") is None


def test_the_zone_of_a_file_is_told(tmp_path: Path) -> None:
    """The day is taken by the engine that reads the file, which must not forget the zone."""
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(stream(1, 40)).assign(
        t=pd.date_range("2024-01-01", periods=40, freq="6h", tz="America/New_York")
    )
    frame.to_parquet(tmp_path / "d.parquet", index=False)
    for data in (frame, tmp_path / "d.parquet"):
        found = tabulate_in_time(data, "t", every_of("day"), Roles(**WORDS))
        assert found.notes == ("times 't' are counted in UTC",)
        assert found.names[0] == "2024-01-01"
    text = {"s": [0.5, 0.6], "g": ["a", "b"], "t": ["2024-01-01 10Z"] * 2}
    assert tabulate_in_time(text, "t", every_of("day"), Roles(score="s", group="g")).notes[0].endswith("in UTC")


def test_no_moment_before_the_first_year() -> None:
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))
    for value in (first, first.isoformat()):
        with pytest.raises(evenhand.DataError, match="no time in UTC"):
            moment(value, "t")


def test_periods_of_pandas_are_dates() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(stream(1, 60)).assign(t=pd.period_range("2024-01", periods=6, freq="M").repeat(10))
    assert len(tabulate_in_time(frame, "t", every_of("month"), Roles(**WORDS)).names) == 6
    assert tabulate_in_time(frame, "t", every_of("quarter"), Roles(**WORDS)).names == ("2024-Q1", "2024-Q2")
    with pytest.raises(evenhand.DataError, match="longer than a day"):
        tabulate_in_time(frame, "t", every_of("day"), Roles(**WORDS))


@pytest.mark.parametrize("value", ["31/01/2024", "2024-13-01", "tomorrow", "20240131", 17, 2.5, True])
def test_what_is_no_date_is_refused(value: Any) -> None:
    with pytest.raises(evenhand.DataError, match="time column 't' holds"):
        moment(value, "t")


@pytest.mark.parametrize("stated", ["fortnight", "", "-5", "0", 0, 2.5, None, True, "1e3", "9" * 40])
def test_what_is_no_period_is_refused(stated: Any) -> None:
    with pytest.raises(evenhand.UsageError):
        every_of(stated)


def test_rows_of_one_time_stay_together() -> None:
    data = {"s": [0.5] * 10, "g": ["a", "b"] * 5, "t": [1, 1, 1, 1, 2, 3, 3, 4, 4, 5]}
    found = tabulate_in_time(data, "t", every_of(3), Roles(score="s", group="g"))
    assert found.names == ("rows 1-4", "rows 5-7", "rows 8-10")
    assert not found.unfinished
    shorter = {k: v[:9] for k, v in data.items()}
    assert tabulate_in_time(shorter, "t", every_of(3), Roles(score="s", group="g")).unfinished


def test_numbers_in_names_are_numbers() -> None:
    assert in_order({"w10", "w9", "w1"}) == ["w1", "w9", "w10"]
    assert in_order({"1e1", "9", "-3.5"}) == ["-3.5", "9", "1e1"]


def test_mixed_zones_and_missing_times() -> None:
    data: dict[str, Any] = {"s": [0.5, 0.6], "g": ["a", "b"], "t": ["2024-01-01", "2024-01-01T00:00:00+02:00"]}
    with pytest.raises(evenhand.DataError, match="mixes times with a zone"):
        tabulate_in_time(data, "t", every_of("day"), Roles(score="s", group="g"))
    data["t"][1] = None
    with pytest.raises(evenhand.DataError, match="1 rows without a time 't'"):
        tabulate_in_time(data, "t", every_of("day"), Roles(score="s", group="g"))
    kept = tabulate_in_time(data, "t", every_of("day"), Roles(score="s", group="g", missing="drop"))
    assert dict(kept.table.left_out) == {"without a time 't'": 1}


def test_small_periods_go_together_and_the_last_waits() -> None:
    one = evenhand.tabulate(score=[0.5] * 20, group=["a", "b"] * 10)
    spans = [Span(one, (str(k),)) for k in range(7)]
    found = merged(spans, 25)
    assert [s.name for s in found] == ["0 to 2", "3 to 5", "6"]
    assert [s.finished for s in found] == [True, True, False]
    assert merged(spans[:6], 25) == found[:2]  # what comes later changes nothing


# ---- tests of change ----------------------------------------------------------------------------------------


def test_the_exact_limit_is_the_one_of_clopper_and_pearson() -> None:
    for k, n in ((0, 5), (3, 10), (10, 10)):
        expected = stats.binomtest(k, n).proportion_ci(0.9).low
        assert lower_limit(np.array(k / n), np.array(float(n)), np.array(0.05)) == pytest.approx(expected)


@pytest.mark.parametrize("k", [(3, 1, 2, 4), (0, 3, 4, 0), (2, 2, 2, 2)])
def test_exchange_is_exact(k: tuple[int, ...]) -> None:
    """Against every way to hand the two periods to the people of each group."""
    n = (4, 3, 5, 4)
    found = _permuted(np.array(k) / np.array(n), np.array(n, float))
    seen = k[0] / n[0] - k[2] / n[2] - (k[1] / n[1] - k[3] / n[3])

    def moves(now: int, before: int) -> list[float]:
        people = [1] * (k[now] + k[before]) + [0] * (n[now] + n[before] - k[now] - k[before])
        return [
            sum(chosen) / n[now] - (sum(people) - sum(chosen)) / n[before]
            for chosen in itertools.combinations(people, n[now])
        ]

    sizes = [abs(a - b) for a in moves(0, 2) for b in moves(1, 3)]
    assert found == pytest.approx(np.mean([s >= abs(seen) - 1e-9 for s in sizes]))


def _rates(n: int, *rates: float) -> Counts:
    return Counts(np.array([[[n - round(n * r)] for r in rates], [[round(n * r)] for r in rates]]), ("a", "b"))


def test_a_change_of_rates_has_the_p_value_of_a_large_sample() -> None:
    measure = MEASURES["demographic_parity"]
    assert isinstance(measure, RateMeasure)
    n = 20_000
    profiles = [measure.profile(_rates(n, *r)) for r in ((0.4, 0.5), (0.425, 0.5))]
    (p,) = rate_changes([measure], profiles[:1], profiles[1:], 1)
    z = 0.025 / np.sqrt((0.4 * 0.6 + 0.425 * 0.575 + 2 * 0.25) / n)
    assert np.log10(p[0]) == pytest.approx(np.log10(2 * stats.norm.sf(z)), abs=0.1)
    (same,) = rate_changes([measure], profiles[:1], profiles[:1], 1)
    assert same[0] == 1


def test_the_largest_spread_is_found() -> None:
    """Of the L1 norm by trying every sign, of the L2 norm by the largest eigenvalue."""
    noise = np.random.default_rng(2).normal(size=(500, 6)) @ np.random.default_rng(3).normal(size=(6, 6))
    signs = np.array(list(itertools.product((-1, 1), repeat=6)))
    best = np.sqrt(((noise @ signs.T) ** 2).mean(0)).max()
    assert 0.9 * best <= largest_spread(noise, noise[0], 1.0) <= best * (1 + 1e-9)
    top = np.sqrt(np.linalg.eigvalsh(noise.T @ noise / len(noise))[-1])
    assert 0.9 * top <= largest_spread(noise, noise[0], 2.0) <= top * (1 + 1e-9)


# ---- the whole ----------------------------------------------------------------------------------------------


def test_a_shift_is_found_and_told() -> None:
    found = watch(stream(14, 500, 0.15, at=9), baseline=5)
    alarm = next(a for a in found.alarms if a.id == "independence_uniform")
    assert alarm.period in ("9", "10", "11")
    assert alarm.direction == "worse"
    assert alarm.p_adjusted <= 0.05
    assert alarm.before is not None
    assert alarm.after is not None
    assert alarm.before + 0.05 < alarm.after
    assert alarm.ci_change is not None
    assert alarm.ci_change[0] > 0
    assert "further from parity" in repr(found)
    nearer = watch({**stream(14, 500, 0.15, at=9), "t": -stream(14, 500)["t"]}, baseline=5)
    assert {a.direction for a in nearer.alarms} == {"better"}


def hired(falls: Any, periods: int, n: int = 500, seed: int = 0) -> dict[str, np.ndarray]:
    """As many of both groups in every period; `falls` says by how much the rate of group f is lower in each."""
    rng = np.random.default_rng(seed)
    t, g = np.repeat(np.arange(periods), 2 * n), np.tile(np.repeat(["f", "m"], n), periods)
    lower = np.array([falls(k) for k in range(periods)])[t] * (g == "f")
    return {"d": (rng.random(len(t)) < 0.5 - lower).astype(int), "g": g, "t": t}


def watch_hired(data: Any, **words: Any) -> evenhand.Watch:
    given = {"time": "t", "every": "value", "prediction": "d", "group": "g", "reference": "m", "bootstrap": 0}
    return evenhand.monitor(data, **given, **words)


def test_one_change_is_one_finding_with_its_date() -> None:
    found = watch_hired(hired(lambda k: 0.1 * (k >= 13), 22), baseline=8)
    assert len(found.alarms) > 1  # by several measures
    (change,) = found.changes
    assert (change.since, change.direction) == ("13", "worse")
    assert int(change.interval[0]) <= 13 <= int(change.interval[1])
    assert {s.id for s in change.shifts} == {a.id for a in found.alarms}
    assert {a.since for a in found.alarms} == {"13"}
    document = found.to_dict()
    check_schema(document, evenhand.schema("monitor"))
    assert document["changes"][0]["alarms"] == list(range(len(found.alarms)))
    assert f"1 change, by {len(found.alarms)} alarms" in repr(found)
    assert repr(found).count("! WORSE") == 1
    assert found.to_html().count('class="finding bad"') == 1


def test_a_date_is_not_where_a_window_or_a_look_happens_to_be() -> None:
    (alarm,) = (
        found := watch_hired(hired(lambda k: 0.09 * (k >= 13), 22), baseline=8, measures=["demographic_parity"])
    ).alarms
    assert (alarm.period, alarm.window_start) == ("14", "14")
    assert (alarm.since, found.changes[0].interval) == ("13", ("12", "13"))


def test_several_changes_are_told_once_each() -> None:
    def falls(k: int) -> float:
        return 0.15 * (10 <= k < 16) + 0.25 * (k >= 22)

    found = watch_hired(hired(falls, 30), baseline=8, measures=["demographic_parity"])
    assert [(c.since, c.direction) for c in found.changes] == [("10", "worse"), ("16", "better"), ("22", "worse")]
    assert found.changes[1].alarm is None  # back to what it was
    assert [(c.alarm, c.last) for c in found.changes[::2]] == [("10", "15"), ("22", "29")]
    assert found.changes[1].shifts[0].after == pytest.approx(0, abs=0.04)


def test_a_rate_that_falls_to_0_is_one_change() -> None:
    found = watch_hired(hired(lambda k: 0.5 * (k >= 10), 16), baseline=8)
    assert "disparate_impact" in {a.id for a in found.alarms}
    assert [(c.since, c.direction) for c in found.changes] == [("10", "worse")]


def test_a_change_within_the_baseline_is_said() -> None:
    steady = watch_hired(hired(lambda k: 0.2 * (k >= 10), 16), baseline=8)
    late = watch_hired(hired(lambda k: 0.2 * (k >= 6), 16), baseline=8)
    assert not [note for note in steady.notes if "within the baseline" in note]
    (note,) = (note for note in late.notes if "within the baseline" in note)
    assert "most likely in 6" in note


def test_no_alarm_no_change() -> None:
    found = watch_hired(hired(lambda k: 0.0, 14), baseline=6)
    assert (found.alarms, found.changes) == ((), ())


@pytest.mark.parametrize("step", [1.0, 1.5, 3.0])
def test_the_interval_of_a_date_covers_it(step: float) -> None:
    rng, covered, runs = np.random.default_rng(0), 0, 400
    for _ in range(runs):
        values = rng.normal(size=40) + step * (np.arange(40) >= 20)
        series = Series(np.arange(40), values, np.ones(40), 8)
        (cut, *_) = _cuts(("g", "demographic_parity", "f"), series, 30, 1e-9, (0.95, 0.95))
        covered += cut.first <= 20 <= cut.last
    assert covered / runs >= 0.935


def test_one_change_of_many_comparisons_is_one_finding() -> None:
    """Of 40 intervals that hold the date 95 times of 100 each, some miss it: that is no second change."""
    rng, several, runs, comparisons = np.random.default_rng(0), 0, 60, 40
    mean = np.where(np.arange(24) >= 13, 3.0, 0.0)
    levels = (0.95, 1 - 0.05 / comparisons)
    for _ in range(runs):
        series = [Series(np.arange(24), mean + rng.normal(0, 1, 24), np.ones(24), 6) for _ in range(comparisons)]
        cuts = [c for k, s in enumerate(series) for c in _cuts(("g", str(k), "f"), s, 18, 1e-9, levels)]
        several += len(_grouped(cuts)) > 1
    assert several <= 0.1 * runs  # 20 times of 100 where each interval stands alone


def test_later_periods_change_no_earlier_verdict() -> None:
    data = stream(12, 150, 0.2, at=7)
    short = {k: v[: 9 * 150] for k, v in data.items()}
    whole, part = watch(data, baseline=3).to_dict(), watch(short, baseline=3).to_dict()
    assert whole["periods"][:9] == part["periods"]
    assert whole["baseline"] == part["baseline"]


def test_saved_tables_say_what_rows_say(tmp_path: Path) -> None:
    data = stream(11, 200, 0.2, at=8)
    for k in range(11):
        rows = {c: v[data["t"] == k] for c, v in data.items()}
        evenhand.tabulate(rows, **WORDS).save(tmp_path / f"week {k}.table")
    (tmp_path / "README.txt").write_text("no table")
    words: dict[str, Any] = {"measures": FEW, "bootstrap": 99, "baseline": 4}
    found = evenhand.monitor(tmp_path, **words).to_dict()
    rows_of = watch(data, baseline=4).to_dict()
    assert [p["name"] for p in found["periods"]] == [f"week {k}" for k in range(11)]
    assert [p["comparisons"] for p in found["periods"]] == [p["comparisons"] for p in rows_of["periods"]]
    assert found["alarms"]
    assert any("README.txt" in note for note in found["notes"])
    tables = {f"week {k}": evenhand.load(tmp_path / f"week {k}.table") for k in range(11)}
    assert evenhand.monitor(tables, **words).to_dict()["periods"] == found["periods"]


def test_a_table_from_elsewhere_is_a_baseline(tmp_path: Path) -> None:
    old = evenhand.tabulate(stream(1, 3000, seed=9), **WORDS)
    old.save(tmp_path / "old.table")
    found = watch(stream(4, 400, 0.2, at=0), baseline=tmp_path / "old.table")
    assert {p.status for p in found.periods} == {"tested"}
    assert found.alarms
    other = evenhand.tabulate(stream(1), score="s", group="g")
    with pytest.raises(evenhand.UsageError, match="the baseline and the periods"):
        watch(stream(3), baseline=other)


@pytest.mark.parametrize(
    ("stated", "name"),
    [(None, "0 to 7"), (2, "0 to 1"), ("3..3", "3"), ("0", "0"), ("2..4", "2 to 4"), (("2", "4"), "2 to 4")],
)
def test_what_a_baseline_may_be(stated: Any, name: str) -> None:
    found = watch(stream(8, 400), baseline=stated, bootstrap=0, measures=FEW[:1])
    assert found.baseline_name == name


def test_the_default_baseline_is_large_and_stays() -> None:
    """Five thousand people of each group, or twelve periods; what comes later changes nothing."""
    words: dict[str, Any] = {"bootstrap": 0, "measures": FEW[:1]}
    assert watch(stream(16, 200), **words).baseline_name == "0 to 11"
    assert watch(stream(6, 5000), **words).baseline_name == watch(stream(4, 5000), **words).baseline_name == "0 to 2"


def test_a_baseline_that_hides_changes_is_said() -> None:
    hides = [
        any("may never be found" in n for n in watch(stream(4, n), baseline=1, bootstrap=0, measures=FEW[:1]).notes)
        for n in (500, 20_000)
    ]
    assert hides == [True, False]


def test_a_number_that_is_also_a_period_is_refused() -> None:
    with pytest.raises(evenhand.UsageError, match=r"say '3\.\.3' for the period, or '0\.\.2' for the first 3"):
        watch(stream(8, 400), baseline="3", bootstrap=0, measures=FEW[:1])
    named = {**stream(8, 400), "t": np.array([f"week {k}" for k in stream(8, 400)["t"]])}
    assert watch(named, baseline="3", bootstrap=0, measures=FEW[:1]).baseline_name == "week 0 to week 2"


@pytest.mark.parametrize("stated", [0, 9, "nine", "4..2", -1, 2.5, True])
def test_what_no_baseline_may_be(stated: Any) -> None:
    with pytest.raises(evenhand.UsageError):
        watch(stream(8, 400), baseline=stated, bootstrap=0, measures=FEW[:1])


def test_periods_that_cannot_be_compared_are_said() -> None:
    data = stream(6, 200)
    data["g"][data["t"] == 3] = "a"
    data["g"][data["t"] == 4] = "b"
    kept = watch(data, baseline=2, small="keep", reference="b", bootstrap=0)
    assert kept.periods[3].undefined == "because nobody is in b, the reference of g"
    assert kept.periods[4].missing == ("a",)
    together = watch(data, baseline=2, bootstrap=0)
    assert [p.name for p in together.periods] == ["0", "1", "2", "3 to 4", "5"]
    alone = watch(stream(1), bootstrap=0)
    assert not alone.alarms
    assert "no change was looked for" in repr(alone).replace("\n  ", " ")


def test_both_groups_drifting_alike_is_no_change_of_the_gap() -> None:
    rng = np.random.default_rng(4)
    n, t = 30_000, np.arange(30_000) // 1000
    g = rng.choice(["a", "b"], n)
    d = rng.random(n) < 0.1 + 0.02 * t + 0.1 * (g == "a")
    data = {"d": d.astype(int), "g": g, "t": t}
    found = evenhand.monitor(data, time="t", every="value", prediction="d", group="g", measures=FEW[:1], baseline=5)
    assert not found.alarms
    ratio = evenhand.monitor(
        data, time="t", every="value", prediction="d", group="g", measures=["disparate_impact"], baseline=5
    )
    assert {a.direction for a in ratio.alarms} == {"better"}  # the ratio of rates does change


def seasonal(move: Any, seed: int = 0) -> dict[str, np.ndarray]:
    """Scores of two groups that are 0.1 apart, and rise and fall together."""
    rng = np.random.default_rng(seed)
    t = np.repeat(np.arange(14), 600)
    g = rng.choice(["f", "m"], len(t))
    s = 0.45 + move(t) + rng.normal(0, 0.08, len(t)) - 0.1 * (g == "f")
    return {"s": np.clip(s, 0, 1).round(4), "g": g, "t": t}


SHARED = [lambda t: 0.1 * np.sin(2 * np.pi * t / 12), lambda t: 0.15 * (t >= 8)]


@pytest.mark.parametrize("move", SHARED, ids=["season", "step"])
def test_scores_that_rise_and_fall_together_are_no_change_of_the_gap(move: Any) -> None:
    ids = ["abcc", "abpc", "mutual_information", "independence_standardized"]
    found = evenhand.monitor(seasonal(move), time="t", every="value", score="s", group="g", measures=ids, baseline=4)
    assert not found.alarms


def test_a_small_period_beside_a_large_baseline_is_no_change() -> None:
    """Noise makes a norm larger, so that a small sample of two equal groups seems to have a larger gap."""
    data = stream(1, 20_000)
    few = stream(12, 60, seed=1)
    both = {k: np.concatenate([v, few[k] + (k == "t") if k == "t" else few[k]]) for k, v in data.items()}
    found = watch(both, baseline=1, measures=["abcc", "abpc", "roc", "calibration_standardized", "equalized_odds"])
    assert not found.alarms


def test_the_largest_of_several_gaps_must_change() -> None:
    """Equalized odds is the larger of two gaps: that the smaller one changes is no change of it."""
    m = MEASURES["equalized_odds"]
    assert isinstance(m, RateMeasure)

    def profile(tpr: float, fpr: float, n: int = 5000) -> Any:
        shares = ((fpr, tpr), (0.5, 0.5))  # of the group and its reference, by label
        chosen = np.array([[round(n * share) for share in group] for group in shares])
        return m.profile(Counts(np.stack([n - chosen, chosen]), ("a", "b")))

    before = profile(0.2, 0.5)
    (inside,), (outside,) = (rate_changes([m], [profile(*r)], [before], 1) for r in ((0.2, 0.4), (0.2, 0.05)))
    assert inside[0] == 1
    assert outside[0] < 1e-12
    (turned,) = rate_changes([m], [profile(0.8, 0.5)], [before], 1)
    assert turned[0] == 1


def test_an_alarm_names_a_change_whose_interval_does_not_hold_0() -> None:
    found = watch(stream(9, 500, 0.12, at=5), baseline=3, measures=[*FEW, "abpc", "xroc", "equalized_odds"])
    assert found.alarms
    for alarm in found.alarms:
        assert alarm.ci_change is None or not alarm.ci_change[0] <= 0 <= alarm.ci_change[1]
    raised = {(c.attribute, c.gap.id, c.gap.group) for p in found.periods for c in p.comparisons if c.alarm}
    assert raised == {(a.attribute, a.id, a.group) for a in found.alarms}


def two_attributes(falls: tuple[str, str], gone: tuple[str, str] | None = None) -> dict[str, list[Any]]:
    """The largest group of the product, f × n, is not that of the largest single groups, m × n."""
    rng = np.random.default_rng(0)
    data: dict[str, list[Any]] = {"t": [], "sex": [], "region": [], "y": []}
    for t, (cell, n) in itertools.product(
        range(12), {("f", "n"): 420, ("m", "n"): 200, ("m", "s"): 400, ("f", "s"): 100}.items()
    ):
        if cell == gone and t >= 8:
            continue
        rate = 0.5 - 0.3 * (cell == falls and t >= 8)
        for name, values in zip(data, ([t] * n, [cell[0]] * n, [cell[1]] * n, rng.random(n) < rate), strict=True):
            data[name] += [int(v) if name == "y" else v for v in values]
    return data


def watch_two(data: Any) -> evenhand.Watch:
    return evenhand.monitor(data, time="t", every="value", prediction="y", group=["sex", "region"], baseline=6,
                            measures=["demographic_parity"], bootstrap=0)  # fmt: skip


def test_products_have_one_reference() -> None:
    found = watch_two(two_attributes(("f", "n")))
    product = {(c.gap.group, c.gap.reference) for p in found.periods for c in p.comparisons if "×" in c.attribute}
    assert product == {("f × n", "m × n"), ("m × s", "m × n"), ("f × s", "m × n")}
    alarms = [a for a in found.alarms if "×" in a.attribute]
    assert [(a.group, a.reference, a.direction) for a in alarms] == [("f × n", "m × n", "worse")]
    assert alarms[0].after is not None
    assert alarms[0].after < -0.15


def test_a_reference_that_is_gone_leaves_comparisons_undefined() -> None:
    found = watch_two(two_attributes(("f", "n"), gone=("m", "n")))
    last = {(c.attribute, c.gap.group): c.gap for c in found.periods[-1].comparisons}
    gone = last["sex × region", "m × s"]
    assert gone.undefined == "because nobody is in m × n, the reference of sex × region"
    assert np.isnan(gone.value)
    assert last["sex", "f"].value is not None
    check_schema(json.loads(found.to_json()), evenhand.schema("monitor"))


def test_new_groups_are_shown_and_named() -> None:
    data = stream(12, 600)
    data["g"] = np.where((data["t"] >= 6) & (data["g"] == "a") & (np.arange(7200) % 2 == 0), "new one", data["g"])
    data["s"] = np.where(data["g"] == "new one", data["s"] / 4, data["s"])
    found = watch(data, baseline=4, measures=FEW[:1])
    assert found.periods[-1].new == ("new one",)
    text = repr(found)
    assert "new one against b" in text
    assert "not in the baseline" in text
    shown = text.split("new one against b")[1]
    assert " x\n" in shown
    assert any("newer baseline" in note for note in found.notes)
    assert found.plot(group="new one").columns["what"] == ["not tested"] * 6
    assert "new one" in found.to_html()
    check_schema(json.loads(found.to_json()), evenhand.schema("monitor"))


def test_weights_and_clusters_are_watched(tmp_path: Path) -> None:
    data = stream(8, 300, 0.25, at=5)
    weighted = watch({**data, "w": np.full(2400, 1.5)}, baseline=3, weight="w")
    assert weighted.alarms
    people = watch({**data, "c": np.arange(2400) // 2}, baseline=3, cluster="c")
    assert people.alarms
    assert any("cluster" in note for note in people.notes)


def test_a_weighted_period_without_the_rare_outcome_knows_little() -> None:
    """One in twenty has the outcome and weighs five: of 120 people nobody has it with a chance of 0.002."""

    def weighted(having: int, n: int) -> evenhand.Table:
        y = np.repeat((np.arange(n) < having).astype(int), 2)
        words: dict[str, Any] = {"prediction": y, "group": ["a", "b"] * n, "weight": np.where(y, 5.0, 1.0)}
        return evenhand.tabulate(**words, weight_kind="sampling")

    baseline = weighted(100, 2000)
    now = evenhand.tabulate(
        prediction=[0] * 120 + [1] * 100 + [0] * 1900, group=["a"] * 120 + ["b"] * 2000,
        weight=[1.0] * 120 + [5.0] * 100 + [1.0] * 1900, weight_kind="sampling",
    )  # fmt: skip
    measures = [MEASURES["demographic_parity"]]
    yardstick = Yardstick(
        baseline, baseline.groupings[0], 1, measures, checked(None, 0.95, 0, 0), np.random.default_rng(0)
    )
    (p,) = yardstick.tests([yardstick.slice(now, np.random.default_rng(0))], 30, np.random.default_rng(0)).values()
    assert p > 0.001


def test_the_document_is_what_its_schema_says() -> None:
    found = watch(stream(6, 200), baseline=2)
    document = json.loads(found.to_json())
    check_schema(document, evenhand.schema("monitor"))
    assert document["schema"] == "evenhand/monitor/1"
    assert document == json.loads(watch(stream(6, 200), baseline=2).to_json())
    pytest.importorskip("pandas")
    frame = found.to_frame("pandas")
    assert len(frame) == 6 * len(FEW)
    assert set(frame["status"]) == {"baseline", "tested"}


def test_the_chart_shows_the_numbers() -> None:
    found = watch(stream(10, 400, 0.2, at=6), baseline=3)
    chart = found.plot("independence_uniform", "a")
    expected = [c.gap.value for p in found.periods for c in p.comparisons if c.gap.id == "independence_uniform"]
    assert chart.columns["value"] == pytest.approx(expected, abs=1e-4)
    assert "changed" in chart.columns["what"]
    assert found.plots()[0] in {a.id for a in found.alarms}
    assert found.plot(found.plots()[0]) == found.plot()
    with pytest.raises(evenhand.UsageError, match="no chart 'nonsense'"):
        found.plot("nonsense")


def test_the_command(tmp_path: Path) -> None:
    data = stream(10, 300, 0.2, at=6)
    columns = ",".join(data)
    lines = [",".join(map(str, row)) for row in zip(*data.values(), strict=True)]
    file = tmp_path / "d.csv"
    file.write_text("\n".join([columns, *lines]))
    words = ("--time", "t", "--every", "value", "--score", "s", "--label", "y", "--group", "g", "--baseline", "0..2")
    few = ("--measures", ",".join(FEW[:2]), "--bootstrap", "0")
    plain = run("monitor", file, *words, *few)
    assert plain.returncode == 0
    assert "alarm" in plain.stdout
    failing = process("monitor", file, *words, *few, "--fail-on-alarm", "--json", "-")
    assert failing.returncode == 1
    assert json.loads(failing.stdout)["alarms"]
    calm = run("monitor", file, *words, *few, "--fail-on-alarm", "--where", "t=0,1,2,3,4,5")
    assert calm.returncode == 0
    for wrong in (("--time", "g"), ("--every", "fortnight"), ("--looks", "0"), ("--false-alarms", "1"),
                  ("--baseline", "x"), ("--small", "no"), ("--min-people", "1"), ("--time", "nope")):  # fmt: skip
        answer = run("monitor", file, *words, *few, *wrong)
        assert answer.returncode == 2, wrong
        assert answer.stderr.startswith("evenhand: ")
        assert answer.stderr.count("\n") == 1
    assert run("monitor", tmp_path).returncode == 2


def test_tables_that_do_not_fit(tmp_path: Path) -> None:
    evenhand.tabulate(stream(1), **WORDS).save(tmp_path / "a.table")
    evenhand.tabulate(stream(1), score="s", group="g").save(tmp_path / "b.table")
    with pytest.raises(evenhand.UsageError, match="periods 'a' and 'b'"):
        evenhand.monitor(tmp_path)
    (tmp_path / "b.table").write_bytes((tmp_path / "a.table").read_bytes()[:500])
    with pytest.raises(evenhand.TableFileError):
        evenhand.monitor(tmp_path)
    with pytest.raises(evenhand.UsageError, match="which column tells the time"):
        evenhand.monitor(42)


def test_the_flaw_of_the_compas_file_is_found(data_folder: Path) -> None:
    """From April 2014 on, 1,004 of 1,007 people in the file are labelled recidivists."""
    found = evenhand.monitor(
        data_folder / "compas-scores-two-years.csv", time="compas_screening_date", score="decile_score", risk=True,
        label="two_year_recid", favorable=0, group="race", where={"race": ["African-American", "Caucasian"]},
        reference="Caucasian", threshold=5, score_range=(1, 10), measures=["accuracy_parity", "demographic_parity"],
    )  # fmt: skip
    (alarm,) = found.alarms
    assert (alarm.id, alarm.direction) == ("accuracy_parity", "worse")
    assert alarm.since == "2014-04"
    assert alarm.period == "2014-06 to 2014-07"
    assert found.baseline_name == "2013-01 to 2014-01"


# ---- simulations --------------------------------------------------------------------------------------------

SIZES = [pytest.param((3, 30), id="reduced"), pytest.param((100, 200), id="full", marks=pytest.mark.full)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scenario", ["stable", "small baseline", "small group"])
def test_false_alarms_are_rare(scenario: str, size: tuple[int, int]) -> None:
    benchmark = benchmark_of("monitoring")
    runs, looks = size
    found = [benchmark.first_alarms(benchmark.SCENARIOS[scenario], looks, list(MEASURES), k) for k in range(runs)]
    alarmed = sum(bool(f) for f in found)
    assert alarmed <= max(1, 0.05 * runs)


@pytest.mark.parametrize("size", [pytest.param((1, 14), id="reduced"), SIZES[1]])
@pytest.mark.parametrize("scenario", ["shared season", "shared step"])
def test_what_both_groups_share_is_no_change(scenario: str, size: tuple[int, int]) -> None:
    benchmark = benchmark_of("monitoring")
    runs, looks = size
    ids = benchmark.chosen("scores")
    found = [benchmark.first_alarms(benchmark.SCENARIOS[scenario], looks, ids, k) for k in range(runs)]
    assert sum(bool(f) for f in found) <= 0.05 * runs


@pytest.mark.parametrize("size", [pytest.param(6, id="reduced"), pytest.param(200, id="full", marks=pytest.mark.full)])
@pytest.mark.parametrize("scenario", ["rate shift", "score shift"])
def test_a_shift_of_a_tenth_is_found_within_a_few_periods(scenario: str, size: int) -> None:
    benchmark = benchmark_of("monitoring")
    ids = benchmark.chosen("rates") if scenario == "rate shift" else ["independence_uniform", "demographic_parity"]
    described = benchmark.SCENARIOS[scenario]
    found = [benchmark.first_alarms(described, 16, ids, k) for k in range(size)]
    delays = [min(f.values(), default=99) - described.shift_at + 1 for f in found]
    assert min(delays) >= 1
    assert np.median(delays) <= 6


def test_an_alarm_says_its_p_value_and_that_over_all_looks() -> None:
    rng = np.random.default_rng(0)
    week = np.repeat(np.arange(12), 1000)
    sex = rng.choice(["f", "m"], len(week))
    hired = rng.random(len(week)) < 0.5 - 0.15 * ((week >= 9) & (sex == "f"))
    data = {"hired": hired.astype(int), "sex": sex, "week": week}
    report = evenhand.monitor(
        data, time="week", every="value", prediction="hired", group="sex", measures=["demographic_parity"], baseline=6
    )
    (alarm,) = report.alarms
    assert 0 < 200 * alarm.p_value <= alarm.p_adjusted
    assert report.to_dict()["alarms"][0]["p_value"] == alarm.p_value
    assert f"({p_words(alarm.p_value)}, over all looks {p_words(alarm.p_adjusted)})" in str(
        report.to_dict()["alarms"][0]["interpretation"]
    )
    check_schema(report.to_dict(), evenhand.schema("monitor"))
