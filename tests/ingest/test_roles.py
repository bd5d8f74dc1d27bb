"""What columns mean to a user: own codes of decisions, bands, missing groups; alike in all engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_engines import FILES, MEMORY, given

import evenhand
from conftest import people
from evenhand.analyses.check.check import check
from evenhand.errors import DataError, UsageError

pd = pytest.importorskip("pandas")

ENGINES = [*MEMORY, *FILES]


# ---- label and decision in codes of their own ------------------------------------------------------------------------


def decided(n: int = 400) -> Any:
    """Labels 1/0 beside decisions approve/deny, and the same decisions as 1/0."""
    columns = people(n)
    return pd.DataFrame(columns | {"own": np.where(columns["d"] == 1, "approve", "deny")})


WORDS: dict[str, Any] = {"label": "y", "group": ["g", "h"]}


@pytest.mark.parametrize("kind", ENGINES)
def test_own_codes_everywhere(kind: str, tmp_path: Path) -> None:
    frame = decided()
    usual = evenhand.tabulate(frame, **WORDS, prediction="d")
    found = evenhand.tabulate(given(kind, frame, tmp_path), **WORDS, prediction="own", favorable_prediction="approve")
    assert (found.n == usual.n).all()
    assert (found.decision == usual.decision).all()
    assert (found.label == usual.label).all()
    assert (found.meaning.favorable, found.meaning.favorable_prediction) == ("1", "approve")


def test_own_codes_in_every_view(tmp_path: Path) -> None:
    frame = decided()
    words = {**WORDS, "prediction": "own", "bootstrap": 0, "permutations": 0}
    named = evenhand.audit(frame, **words, favorable={"label": 1, "prediction": "approve"})
    usual = evenhand.audit(frame, **{**words, "prediction": "d"})
    found, other = named.to_dict(), usual.to_dict()
    for mine, theirs in zip(found["attributes"], other["attributes"], strict=True):
        del mine["verdict"]["sentence"], theirs["verdict"]["sentence"]  # it names the decision
        assert mine == theirs
    assert found["data"]["favorable"] == "1"
    assert found["data"]["favorable_prediction"] == "approve"
    assert found["data"]["decision_rule"] == "own is approve"
    assert other["data"]["favorable_prediction"] is None
    named.table.save(tmp_path / "t")
    loaded = evenhand.load(tmp_path / "t")
    assert loaded == named.table
    assert loaded.digest() == named.table.digest()
    policy = {"rule": [{"measure": "disparate_impact", "at_least": 0.8}],
              "audit": {"favorable_prediction": "approve"}}  # fmt: skip
    check(loaded, policy=policy)
    policy["audit"] = {"favorable_prediction": "deny"}
    with pytest.raises(UsageError, match="favorable_prediction is said to be 'deny'"):
        check(loaded, policy=policy)
    json.dumps(found)


def test_own_codes_without_a_label() -> None:
    table = evenhand.tabulate(decided(), prediction="own", group="g", favorable_prediction="approve")
    assert (table.meaning.favorable, table.meaning.favorable_prediction) == ("approve", None)


def test_the_way_to_own_codes_is_told() -> None:
    frame = decided()
    with pytest.raises(DataError, match="--favorable-prediction"):
        evenhand.tabulate(frame, **WORDS, prediction="own", favorable=1)
    with pytest.raises(DataError, match="--favorable-prediction"):
        evenhand.tabulate(frame, **WORDS, prediction="own")
    with pytest.raises(DataError, match="did you mean 'approve'"):
        evenhand.tabulate(frame, **WORDS, prediction="own", favorable_prediction="aprove")
    with pytest.raises(UsageError, match="name that"):
        evenhand.tabulate(frame, **WORDS, score="s", favorable_prediction="approve")
    with pytest.raises(UsageError, match="favorable is a value, or a dict"):
        evenhand.tabulate(frame, **WORDS, prediction="own", favorable={"decision": "approve"})


# ---- bands of numbers ------------------------------------------------------------------------------------------------


def aged(n: int = 600) -> Any:
    rng = np.random.default_rng(4)
    age, income = rng.integers(17, 91, n), rng.lognormal(8, 1, n).round(2)
    return pd.DataFrame(people(n) | {"age": age, "income": income})


RULES: dict[str, Any] = {
    "borders": {"age": [25, 40, 60], "income": "quantiles:3"},
    "decades": {"age": "decades", "income": [1000, 2500.5]},
    "quantiles": {"age": "quantiles:4", "income": "quantiles:2"},
    "unsaid": None,
}
AGED: dict[str, Any] = {"score": "s", "label": "y", "group": ["age", "income"]}


@pytest.mark.parametrize("kind", ENGINES)
def test_bands_everywhere(kind: str, tmp_path: Path) -> None:
    frame = aged()
    source = given(kind, frame, tmp_path)
    for bands in RULES.values():
        expected = evenhand.tabulate(frame.to_dict("list"), **AGED, bands=bands)
        found = evenhand.tabulate(source, **AGED, bands=bands)
        assert found == expected
        assert found.digest() == expected.digest()
        assert found.notes == expected.notes


def _by_hand(age: int) -> str:
    if age < 25:
        return "under 25"
    return "25–39" if age < 40 else "40–59" if age < 60 else "60 and over"


def test_bands_are_what_a_loop_makes() -> None:
    frame = aged()
    by_hand = frame.assign(age=[_by_hand(a) for a in frame["age"]])
    words: dict[str, Any] = {**AGED, "group": "age"}
    found = evenhand.tabulate(frame, **words, bands={"age": [25, 40, 60]})
    assert found == evenhand.tabulate(by_hand, **words)
    assert found.attributes[0].groups == ("under 25", "25–39", "40–59", "60 and over")
    quarters = evenhand.tabulate(frame, **words, bands={"age": "quantiles:4"})
    sizes = quarters.sizes(quarters.groupings[0])
    assert len(sizes) == 4
    assert max(abs(sizes - 150)) < 15  # at most the people of one age


def test_grid_counts_and_days_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.ingest import score_cells

    frame = aged(3000)
    exact = {**AGED, "bands": {"age": [40]}}
    expected = evenhand.tabulate(frame, **exact)
    monkeypatch.setattr(score_cells, "EXACT", 50)  # so that engines are asked piece by piece
    found = evenhand.tabulate(frame, **exact, grid=False)
    assert found == expected
    on_grid = evenhand.tabulate(frame, **exact)
    for ours, theirs in zip(on_grid.groupings, expected.groupings, strict=True):
        assert ours.groups == theirs.groups
        assert (on_grid.sizes(ours) == expected.sizes(theirs)).all()


@pytest.mark.parametrize(
    "kind",
    ["pandas", "pandas-arrow", "polars", "polars-lazy", "pyarrow", "duckdb", "dask", "dict", "csv", "parquet", "jsonl"],
)
def test_engines_count_by_bands_once_these_are_settled(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenhand.ingest import score_cells
    from evenhand.ingest.bands import Banding

    monkeypatch.setattr(score_cells, "EXACT", 50)
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(people(3000, levels=None))
    frame["s"] = frame["s"].round(12)
    frame["age"] = np.where(
        rng.random(3000) < 0.02, np.nan, rng.integers(-3, 91, 3000) + 0.5 * (rng.random(3000) < 0.1)
    )
    frame["years"] = rng.integers(0, 60, 3000)
    words: dict[str, Any] = {
        "score": "s", "label": "y", "group": ["age", "years"], "missing": "drop",
        "bands": {"age": [0, 24.5, 40.1], "years": "decades"},
    }  # fmt: skip
    expected = evenhand.tabulate(frame.to_dict("list"), **words)
    seen: list[int] = []
    tell = Banding.tell

    def told(self: Banding, rows: Any, columns: Any) -> None:
        seen.append(len({*map(str, columns.finer["years"].distinct)}))
        tell(self, rows, columns)

    monkeypatch.setattr(Banding, "tell", told)
    found = evenhand.tabulate(given(kind, frame, tmp_path), **words)
    assert found == expected
    assert found.digest() == expected.digest()
    in_memory = kind in ("dict", "jsonl")  # JSON lines are counted as they are, too
    assert seen[0] == 60
    assert (max(seen[1:]) == 60) if in_memory else (max(seen[1:]) <= 7)


def test_usual_bands_and_their_notes() -> None:
    frame = aged()
    frame["few"] = frame["age"] % 12
    frame["grade"] = frame["age"] % 16
    table = evenhand.tabulate(frame, score="s", group=["age", "income", "few", "grade"], depth=1)
    ages, income, few, grades = (a.groups for a in table.attributes)
    assert ages[:3] == ("10–19", "20–29", "30–39")
    assert len(income) == 4
    assert income[0].startswith("under")
    assert len(few) == 12
    assert len(grades) == 4
    assert [("--bands" in note and "=none" in note) for note in table.notes] == [True] * 3
    kept = evenhand.tabulate(frame, score="s", group="age", bands={"age": "none"})
    assert len(kept.attributes[0].groups) == len(set(frame["age"]))
    assert not kept.notes


def test_ties_make_fewer_bands() -> None:
    rows = {"s": np.linspace(0, 1, 40), "debt": [0] * 30 + [*range(1, 11)]}
    table = evenhand.tabulate(rows, score="s", group="debt", bands={"debt": "quantiles:4"})
    assert table.attributes[0].groups == ("under 1", "1 and over")
    assert "there are 2 bands of 'debt' and not 4" in table.notes[0]


def test_counts_by_age_are_no_survey_weights() -> None:
    frame = pd.DataFrame({"age": list(range(20, 60)) * 2, "d": [0] * 40 + [1] * 40, "n": range(1, 81)})
    table = evenhand.tabulate(frame, prediction="d", group="age", weight="n", bands={"age": [40]})
    assert table.rows == sum(range(1, 81))
    assert table.weight is None
    quartered = evenhand.tabulate(frame, prediction="d", group="age", weight="n", bands={"age": "quantiles:2"})
    rows = frame.loc[frame.index.repeat(frame["n"])]
    assert quartered == evenhand.tabulate(rows, prediction="d", group="age", bands={"age": "quantiles:2"})


def test_missing_numbers_stay_missing() -> None:
    frame = aged()
    frame["age"] = frame["age"].astype(float)
    frame.loc[:9, "age"] = np.nan
    table = evenhand.tabulate(frame, score="s", group="age", bands={"age": [40.5]}, missing="drop")
    assert table.rows == len(frame) - 10
    assert table.attributes[0].groups == ("under 40.5", "40.5 and over")


def test_tables_in_other_bands_do_not_add_up() -> None:
    frame, words = aged(), {"score": "s", "group": "age"}
    first = evenhand.tabulate(frame, **words, bands={"age": [25, 40]})
    assert (first + evenhand.tabulate(frame, **words, bands={"age": [25, 40]})).rows == 1200
    with pytest.raises(UsageError, match="different bands, which overlap"):
        first + evenhand.tabulate(frame, **words, bands={"age": [30, 40]})


def test_bands_and_policies(tmp_path: Path) -> None:
    frame = aged()
    policy = {
        "audit": {"score": "s", "group": "age", "bands": {"age": [40]}, "bootstrap": 0, "permutations": 0},
        "rule": [{"measure": "disparate_impact", "at_least": 0.01}],
    }
    assert check(frame, policy=policy).passed
    table = evenhand.tabulate(frame, score="s", group="age", bands={"age": [40]})
    assert check(table, policy=policy).passed
    with pytest.raises(UsageError, match=r"bands is said to be .*but the table was counted with"):
        check(table, policy={**policy, "audit": {**policy["audit"], "bands": {"age": [50]}}})
    with pytest.raises(UsageError, match="bands is a table of columns and borders"):
        check(frame, policy={**policy, "audit": {**policy["audit"], "bands": {"age": [50, 40]}}})


def test_several_models_classes_and_periods_in_bands() -> None:
    frame = aged()
    frame["s2"], frame["job"], frame["guess"] = frame["s"] ** 2, frame["g"], np.roll(frame["g"], 1)
    frame["day"] = ["2024-01-15", "2024-02-15", "2024-03-15"] * 200
    options: dict[str, Any] = {"group": "age", "bands": {"age": [40]}}
    models = evenhand.audit(frame, score=["s", "s2"], label="y", **options, bootstrap=20, permutations=0)
    assert [g["name"] for g in models.to_dict()["candidates"][0]["audit"]["attributes"][0]["groups"]] == [
        "under 40", "40 and over"
    ]  # fmt: skip
    classes = evenhand.tabulate(frame, label="job", prediction="guess", **options)
    assert classes.attributes[0].groups == ("under 40", "40 and over")
    report = evenhand.monitor(frame, score="s", label="y", time="day", **options, bootstrap=0)
    assert report.to_dict()["data"]["rows"] == 600


@pytest.mark.parametrize(
    ("words", "refusal"),
    {
        "descending": ({"bands": {"age": [40, 25]}}, "the borders of bands rise, but those of 'age' name 25 after 40"),
        "twice": ({"bands": {"age": [25, 25]}}, "name 25 twice"),
        "not a number": ({"bands": {"age": [float("nan")]}}, "bands of 'age' are borders such as"),
        "another rule": ({"bands": {"age": "thirds"}}, "bands of 'age' are borders such as"),
        "too many": ({"bands": {"age": "quantiles:500"}}, "quantiles make 2 to 100 bands"),
        "no dict": ({"bands": [1, 2]}, "bands is a dict from group column"),
        "no group": ({"bands": {"aeg": [25]}}, "bands are of group columns, but 'aeg' is none.*did you mean 'age'"),
        "text": ({"group": "g", "bands": {"g": [25]}}, "bands are of numbers, but column 'g' holds"),
        "all in one": ({"bands": {"age": [200]}}, "put all its values .17 to 90. into one, 'under 200'"),
        "many tens": ({"group": "income", "bands": {"income": "decades"}}, "tens of 'income' would be"),
        "an id": ({"group": "id"}, "'id' has 600 values in 600 rows, like an id"),
        "a name": ({"group": "name"}, "'name' has 600 values in 600 rows, like an id"),
    }.values(),
)
def test_bands_that_make_no_sense(words: dict[str, Any], refusal: str) -> None:
    frame = aged()
    frame["id"] = np.arange(600)
    frame["name"] = [f"person {i}" for i in range(600)]
    with pytest.raises((UsageError, DataError), match=refusal):
        evenhand.tabulate(frame, **{"score": "s", "group": "age", **words})


# ---- people without a group ------------------------------------------------------------------------------------------


def gappy(n: int = 600) -> Any:
    frame = pd.DataFrame(people(n))
    frame["t"] = np.sqrt(frame["s"])
    frame["g"], frame["h"] = frame["g"].astype(object), frame["h"].astype(object)
    frame.loc[::7, "g"] = None
    frame.loc[::10, "h"] = None
    return frame


GAPPY: dict[str, Any] = {"score": "s", "label": "y", "group": ["g", "h"]}


@pytest.mark.parametrize("kind", ENGINES)
def test_people_without_a_group_everywhere(kind: str, tmp_path: Path) -> None:
    frame = gappy()
    source = given(kind, frame, tmp_path)
    lost = int((frame["g"].isna() & frame["h"].isna()).sum())
    for missing, gone in (("drop", lost), ("group", 0)):
        expected = evenhand.tabulate(frame.to_dict("list"), **GAPPY, missing=missing)
        found = evenhand.tabulate(source, **GAPPY, missing=missing)
        assert found == expected
        assert found.notes == expected.notes
        assert found.rows == len(frame) - gone


def _of(document: dict[str, Any], name: str) -> dict[str, Any]:
    attribute = next(a for a in document["attributes"] if a["name"] == name)
    return {"groups": [(g["name"], g["n"], g["rates"]) for g in attribute["groups"]],
            "measures": [{k: v for k, v in m.items() if "adjusted" not in k} for m in attribute["measures"]],
            "largest": attribute["largest"], "impossibility": attribute["impossibility"],
            "tests": attribute["tests"]}  # fmt: skip


def _assert_alike(a: Any, b: Any) -> None:
    """Equal but for the last digit of sums that were added up in another order."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
    if isinstance(a, dict | list | tuple):
        assert len(a) == len(b)
        for one, other in zip(*((x.values() if isinstance(x, dict) else x) for x in (a, b)), strict=True):
            _assert_alike(one, other)
    else:
        assert a == (pytest.approx(b, rel=1e-9) if isinstance(b, float) else b)


@pytest.mark.parametrize("prediction", [False, True])
def test_an_attribute_is_compared_as_if_it_were_alone(prediction: bool) -> None:
    frame = gappy()
    words: dict[str, Any] = {**GAPPY, "missing": "drop", "bootstrap": 0, "permutations": 0}
    if prediction:
        words |= {"score": None, "prediction": "d"}
    both = evenhand.audit(frame, **words).to_dict()
    for column in ("g", "h"):
        alone = evenhand.audit(frame, **{**words, "group": column}).to_dict()
        _assert_alike(_of(both, column), _of(alone, column))
    complete = evenhand.audit(frame.dropna(subset=["g", "h"]), **{**words, "missing": "refuse"}).to_dict()
    _assert_alike(_of(both, "g × h"), _of(complete, "g × h"))


def test_gaps_in_other_questions(tmp_path: Path) -> None:
    frame = gappy()
    frame["day"] = ["2024-01-15", "2024-02-15", "2024-03-15"] * 200
    frame["job"], frame["guess"] = frame["s"].round(1) * 10 // 4, frame["s"].round(1) * 10 // 3
    words: dict[str, Any] = {**GAPPY, "missing": "drop", "bootstrap": 39}
    alone = {**words, "group": "g"}
    rule = "demographic_parity <= 0.9 for g"
    assert check(frame, require=[rule], **words).to_dict()["findings"][0]["value"] == pytest.approx(
        check(frame, require=["demographic_parity <= 0.9"], **alone).to_dict()["findings"][0]["value"]
    )
    found = evenhand.thresholds(evenhand.tabulate(frame, **GAPPY, missing="drop"), attribute="g", bootstrap=0)
    own = evenhand.thresholds(evenhand.tabulate(frame, **{**GAPPY, "group": "g"}, missing="drop"), bootstrap=0)
    _assert_alike(found.to_dict()["curve"], own.to_dict()["curve"])
    _assert_alike(found.to_dict()["best"], own.to_dict()["best"])
    models = evenhand.audit(frame, **{**words, "score": ["s", "t"]}, permutations=0).to_dict()
    single = evenhand.audit(frame, **{**alone, "score": ["s", "t"]}, permutations=0).to_dict()
    values = [
        {(d["id"], d["group"]): d["difference"] for d in one["differences"] if d["attribute"] == "g"}
        for one in (models, single)
    ]
    assert values[0] == values[1]
    classes = {**words, "score": None, "label": "job", "prediction": "guess", "permutations": 0}
    together, apart = (
        evenhand.audit(frame, **{**classes, "group": group}).to_dict()["attributes"][0] for group in (["g", "h"], "g")
    )
    together, apart = ({k: v for k, v in a.items() if k != "name"} for a in (together, apart))
    assert together == apart
    report = evenhand.monitor(frame, time="day", **words).to_dict()
    assert report["data"]["rows"] == evenhand.tabulate(frame, **GAPPY, missing="drop").rows
    assert not [note for note in report["notes"] if "new group" in note]


def test_a_table_with_gaps_is_kept_and_added(tmp_path: Path) -> None:
    frame = gappy()
    table = evenhand.tabulate(frame, **GAPPY, missing="drop")
    assert table.lacking() == ["g", "h"]
    assert any("rows without 'g' are left out of its groups, but counted by 'h'" in note for note in table.notes)
    table.save(tmp_path / "t")
    loaded = evenhand.load(tmp_path / "t")
    assert loaded == table
    parts = [evenhand.tabulate(frame.iloc[k::2], **GAPPY, missing="drop") for k in range(2)]
    assert sum(parts) == table
    document = evenhand.table_info(loaded).to_dict()
    assert [g["name"] for g in document["attributes"][0]["groups"]] == ["g0", "g1", "g2"]
    shared = evenhand.suppressed(table, below=5)
    assert shared == evenhand.suppressed(table.complete(), below=5)
    assert table.complete().rows == len(frame.dropna(subset=["g", "h"]))
    assert sum(table.complete().left_out.values()) == len(frame) - table.complete().rows
    assert evenhand.suppressed(evenhand.tabulate(frame, **GAPPY, missing="group"), below=5).rows


def test_missing_is_a_group_when_asked() -> None:
    frame = gappy()
    table = evenhand.tabulate(frame, **GAPPY, missing="group")
    assert table.attributes[0].groups == ("g0", "g1", "g2", "(missing)")
    assert int(table.sizes(table.groupings[0])[-1]) == int(frame["g"].isna().sum())
    assert not table.left_out
    named = frame.fillna({"g": "(missing)"})
    with pytest.raises(DataError, match="column 'g' has that as a value"):
        evenhand.tabulate(named.assign(g=named["g"].where(named.index > 0)), **GAPPY, missing="group")
    with pytest.raises(DataError, match="without a finite score"):
        evenhand.tabulate(frame.assign(s=frame["s"].where(frame.index > 0)), **GAPPY, missing="group")
    with pytest.raises(DataError, match="--missing group"):
        evenhand.tabulate(frame, **GAPPY)
    banded = aged()
    banded["age"] = banded["age"].astype(float).where(banded.index > 20)
    table = evenhand.tabulate(banded, score="s", group="age", bands={"age": [40]}, missing="group")
    assert table.attributes[0].groups == ("under 40", "40 and over", "(missing)")


def test_pages_and_charts_of_people_without_a_group() -> None:
    audit = evenhand.audit(gappy(), **GAPPY, missing="drop", bootstrap=20, permutations=0)
    assert "rows without" in audit.to_html()
    for attribute in ("g", "h", "g × h"):
        for name in audit.plots(attribute=attribute):
            audit.plot(name, attribute=attribute)


# ---- outcomes that sound bad -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "default", "bad", "recid", "fraud", "churn", "defaulted", "two_year_recid", "delinquent", "arrest",
        "isFraud", "SeriousDelinquency2yrs", "rearrested", "default.payment.next.month",
    ],
)  # fmt: skip
def test_a_bad_outcome_taken_for_good_is_noted(name: str) -> None:
    frame = pd.DataFrame(people(60)).rename(columns={"y": name})
    table = evenhand.tabulate(frame, score="s", label=name, group="g")
    assert any("sounds like something bad" in note for note in table.notes)
    assert not evenhand.tabulate(frame, score="s", label=name, group="g", favorable=0).notes


@pytest.mark.parametrize("name", ["y", "repaid", "hired", "no_default", "not_arrested", "label", "badge", "outcome"])
def test_other_outcomes_are_not(name: str) -> None:
    frame = pd.DataFrame(people(60)).rename(columns={"y": name})
    assert not evenhand.tabulate(frame, score="s", label=name, group="g").notes
